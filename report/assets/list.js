/* A long list of which only what is visible is drawn, with a ruler beside it that shows where a selection lies. */

const OVERSCAN = 12;

/**
 * Makes a list. `options`: `count`, `height` of a row, `width` of the longest row in characters, `row(i, node)` fills a
 * row, `item(i)` says what it belongs to, `label`, `key(event, i)` handles keys and returns true if it did.
 */
function longList(model, select, options) {
  const sizer = h("div", { class: "sizer" });
  const view = h("div", { class: "scroll" }, sizer);
  const ruler = h("canvas", { class: "ruler", "aria-hidden": "true" });
  const box = h("div", { class: "list", tabindex: "0", role: "listbox", "aria-label": options.label }, view, ruler);
  const id = "list" + (longList.made = (longList.made || 0) + 1);
  let rows = new Map(),
    steps = [],
    cursor = -1,
    total = 0;
  const self = { box, cursor: () => cursor };

  function fill(i) {
    const node = h("div", { class: "line", role: "option", id: id + "-" + i });
    const one = options.item(i);
    node.style.setProperty("--c", hueOf(model, one.f));
    node.style.top = i * options.height + "px";
    node.dataset.i = i;
    if (one.f >= 0 || one.l >= 0) select.tag(node, one);
    options.row(i, node);
    paint(i, node, select.now());
    return node;
  }

  function paint(i, node, now) {
    const level = belongs(options.item(i), now);
    node.classList.toggle("lit", level === 2);
    node.classList.toggle("near", level === 1);
    node.classList.toggle("cursor", i === cursor);
    node.classList.toggle("current", Boolean(options.isCurrent && options.isCurrent(i)));
  }

  function draw() {
    const from = Math.max(0, Math.floor(view.scrollTop / options.height) - OVERSCAN);
    const to = Math.min(total, Math.ceil((view.scrollTop + view.clientHeight) / options.height) + OVERSCAN);
    for (const [i, node] of rows) {
      if (i >= from && i < to) continue;
      node.remove();
      rows.delete(i);
    }
    const made = document.createDocumentFragment();
    for (let i = from; i < to; i++) {
      if (rows.has(i)) continue;
      const node = fill(i);
      rows.set(i, node);
      made.append(node);
    }
    sizer.append(made);
  }

  /** Draws all anew, after the rows have changed. */
  self.reset = () => {
    total = options.count();
    for (const node of rows.values()) node.remove();
    rows = new Map();
    cursor = Math.min(cursor, total - 1);
    sizer.style.height = total * options.height + "px";
    sizer.style.minWidth = options.width ? options.width() + "ch" : "";
    ruler.hidden = total * options.height <= view.clientHeight;
    draw();
    measure();
    drawRuler();
  };
  self.repaint = () => {
    const now = select.now();
    for (const [i, node] of rows) paint(i, node, now);
  };
  /** Scrolls a row into sight, to the middle where it was not in sight before. */
  self.show = (i) => {
    const top = i * options.height,
      space = view.clientHeight;
    if (top >= view.scrollTop + options.height && top <= view.scrollTop + space - 2 * options.height) return;
    view.scrollTop = Math.max(0, top - space / 3);
    draw();
  };
  self.move = (to) => {
    if (total === 0) return;
    cursor = Math.max(0, Math.min(total - 1, to));
    const top = cursor * options.height;
    if (top < view.scrollTop) view.scrollTop = top;
    const over = top + options.height - view.clientHeight;
    if (over > view.scrollTop) view.scrollTop = over;
    draw();
    select.hover(options.item(cursor));
    self.repaint();
    box.setAttribute("aria-activedescendant", id + "-" + cursor);
  };

  function keys(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (options.key && options.key(event, cursor)) return event.preventDefault();
    const page = Math.max(1, Math.floor(view.clientHeight / options.height) - 2);
    const first = Math.ceil(view.scrollTop / options.height);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key];
    if (by) self.move(cursor < 0 ? first : cursor + by);
    else if (event.key === "Home") self.move(0);
    else if (event.key === "End") self.move(total - 1);
    else if (event.key === "Enter" && cursor >= 0) {
      const one = options.item(cursor);
      select.pin(same(one, select.pinned) ? NOWHERE : one, box.closest(".pane"));
    } else return;
    event.preventDefault();
  }

  /** Sizes the ruler and keeps the items of each of its steps, so that a selection asks neither style nor rows. */
  function measure() {
    const height = ruler.clientHeight,
      scale = window.devicePixelRatio || 1;
    steps = [];
    if (!height || !total) return;
    ruler.width = ruler.clientWidth * scale;
    ruler.height = height * scale;
    ruler.getContext("2d").scale(scale, scale);
    const whole = Math.min(height, total * options.height);
    const size = Math.max(1, Math.min(options.height, height / total));
    for (let y = 0; y < whole - 0.01; y += size) {
      const from = Math.floor((y / whole) * total);
      const to = Math.max(from + 1, Math.floor(((y + size) / whole) * total));
      const items = [];
      for (let i = from; i < to && i < total; i++) {
        const one = options.item(i);
        if (one.f >= 0 && one !== items[items.length - 1]) items.push(one);
      }
      if (items.length) steps.push({ y, size, items });
    }
  }

  function drawRuler() {
    const context = ruler.getContext("2d"),
      width = 12;
    context.clearRect(0, 0, width, ruler.height);
    const now = select.now(),
      isLit = now !== NOWHERE;
    for (const { y, size, items } of steps) {
      let { f } = items[0],
        most = 0;
      for (const one of isLit ? items : []) {
        const level = belongs(one, now);
        if (level > most) [f, most] = [one.f, level];
      }
      context.globalAlpha = isLit ? [0.12, 0.45, 1][most] : 0.5;
      context.fillStyle = colour(model.colours[f].slice(4, -1));
      context.fillRect(isLit && most === 2 ? 0 : 2, y, width, Math.max(size - (size > 3 ? 1 : 0), 0.7));
    }
  }

  const rulerSoon = soon(drawRuler);
  select.watch(() => {
    self.repaint();
    rulerSoon();
  });
  ruler.addEventListener("pointerdown", (event) => {
    const to = (y) => {
      const whole = Math.min(ruler.clientHeight, total * options.height);
      view.scrollTop = (y / Math.max(1, whole)) * total * options.height - view.clientHeight / 2;
    };
    to(event.offsetY);
    ruler.setPointerCapture(event.pointerId);
    ruler.onpointermove = (move) => to(move.offsetY);
    ruler.onpointerup = () => (ruler.onpointermove = null);
  });
  view.addEventListener("scroll", soon(draw), { passive: true });
  box.addEventListener("keydown", keys);
  new ResizeObserver(() => {
    ruler.hidden = total * options.height <= view.clientHeight;
    draw();
    measure();
    drawRuler();
  }).observe(view);
  onScheme(drawRuler);
  return self;
}
