/* A long list of which only what is visible is drawn. */

const OVERSCAN = 12;
let listsMade = 0;

/**
 * A list. `options`: `count`, `height` of a row, `width` of the longest row in characters, `row(i, node)` fills a row,
 * `item(i)` says what it belongs to, `label`, `key(event, i)` handles keys and returns true if it did.
 */
class LongList {
  constructor(model, select, options) {
    Object.assign(this, { model, select, options, rows: new Map(), total: 0, cursor: -1 });
    this.id = "list" + ++listsMade;
    this.sizer = h("div", { class: "sizer" });
    this.view = h("div", { class: "scroll" }, this.sizer);
    this.ruler = new Ruler(model, select, (share) => this.scrollTo(share));
    const label = { "aria-label": options.label };
    this.box = h("div", { class: "list", tabindex: "0", role: "listbox", ...label }, this.view, this.ruler.canvas);
    this.view.addEventListener(
      "scroll",
      soon(() => this.draw()),
      { passive: true },
    );
    this.box.addEventListener("keydown", (event) => this.press(event));
    select.watch(() => this.repaint());
    new ResizeObserver(() => this.drawAll()).observe(this.view);
  }

  /** Draws all anew, after the rows have changed. */
  reset() {
    const { count, height, width } = this.options;
    this.total = count();
    for (const node of this.rows.values()) node.remove();
    this.rows = new Map();
    this.cursor = Math.min(this.cursor, this.total - 1);
    this.sizer.style.height = this.total * height + "px";
    this.sizer.style.minWidth = width ? width() + "ch" : "";
    this.drawAll();
  }

  drawAll() {
    const { height, item } = this.options;
    this.ruler.canvas.hidden = this.total * height <= this.view.clientHeight;
    this.draw();
    this.ruler.measure(this.total, height, item);
    this.ruler.draw();
  }

  /** Makes the rows that came into sight and drops those that left it. */
  draw() {
    const { height } = this.options;
    const { scrollTop, clientHeight } = this.view;
    const from = Math.max(0, Math.floor(scrollTop / height) - OVERSCAN);
    const to = Math.min(this.total, Math.ceil((scrollTop + clientHeight) / height) + OVERSCAN);
    for (const [i, node] of this.rows) {
      if (i >= from && i < to) continue;
      node.remove();
      this.rows.delete(i);
    }
    const made = document.createDocumentFragment();
    for (let i = from; i < to; i++) {
      if (this.rows.has(i)) continue;
      const node = this.make(i);
      this.rows.set(i, node);
      made.append(node);
    }
    this.sizer.append(made);
  }

  make(i) {
    const one = this.options.item(i);
    const node = h("div", { class: "line", role: "option", id: this.id + "-" + i });
    node.style.setProperty("--c", hueOf(this.model, one.f));
    node.style.top = i * this.options.height + "px";
    node.dataset.i = i;
    if (one.f >= 0 || one.l >= 0) this.select.tag(node, one);
    node.looks = 0;
    this.options.row(i, node);
    this.paint(i, node, this.select.now());
    return node;
  }

  /** Gives a row its classes, if they are others than it has. */
  paint(i, node, now) {
    const { item, isCurrent } = this.options;
    const level = belongs(item(i), now);
    const isNow = Boolean(isCurrent && isCurrent(i));
    const looks = level + (i === this.cursor ? 4 : 0) + (isNow ? 8 : 0);
    if (node.looks === looks) return;
    node.looks = looks;
    this.select.touched++;
    node.classList.toggle("lit", level === 2);
    node.classList.toggle("near", level === 1);
    node.classList.toggle("cursor", i === this.cursor);
    node.classList.toggle("current", isNow);
  }

  /** Lights the rows in sight anew. */
  repaint() {
    const now = this.select.now();
    for (const [i, node] of this.rows) this.paint(i, node, now);
  }

  /** Scrolls a row into sight, to the upper part where it was not in sight before. */
  show(i) {
    const { height } = this.options;
    const { scrollTop, clientHeight } = this.view;
    const top = i * height;
    if (top >= scrollTop + height && top <= scrollTop + clientHeight - 2 * height) return;
    this.view.scrollTop = Math.max(0, top - clientHeight / 3);
    this.draw();
  }

  /** Scrolls so that a share of all rows is above the middle. */
  scrollTo(share) {
    this.view.scrollTop = share * this.total * this.options.height - this.view.clientHeight / 2;
  }

  /** Moves the cursor to a row, or to the nearest that there is. */
  move(to) {
    if (this.total === 0) return;
    const { height, item } = this.options;
    this.cursor = Math.max(0, Math.min(this.total - 1, to));
    const top = this.cursor * height;
    const over = top + height - this.view.clientHeight;
    if (top < this.view.scrollTop) this.view.scrollTop = top;
    if (over > this.view.scrollTop) this.view.scrollTop = over;
    this.draw();
    this.select.hover(item(this.cursor));
    this.repaint();
    this.box.setAttribute("aria-activedescendant", this.id + "-" + this.cursor);
  }

  press(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { height, item, key } = this.options;
    if (key && key(event, this.cursor)) return event.preventDefault();
    const page = Math.max(1, Math.floor(this.view.clientHeight / height) - 2);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key];
    if (by) this.move(this.cursor < 0 ? Math.ceil(this.view.scrollTop / height) : this.cursor + by);
    else if (event.key === "Home") this.move(0);
    else if (event.key === "End") this.move(this.total - 1);
    else if (event.key === "Enter" && this.cursor >= 0) this.pin(item(this.cursor));
    else return;
    event.preventDefault();
  }

  pin(one) {
    this.select.pin(same(one, this.select.pinned) ? NOWHERE : one, this.box.closest(".pane"));
  }
}
