/* The ruler beside a long list: where the definitions are in it, and where what is selected lies. */

const RULER_WIDTH = 12;

class Ruler {
  constructor(model, select, scrollTo) {
    Object.assign(this, { model, select, steps: [], whole: 1 });
    this.canvas = h("canvas", { class: "ruler", "aria-hidden": "true" });
    select.watch(soon(() => this.draw()));
    onScheme(() => this.draw());
    const to = (event) => scrollTo(event.offsetY / this.whole);
    this.canvas.addEventListener("pointerdown", (event) => {
      to(event);
      this.canvas.setPointerCapture(event.pointerId);
      this.canvas.onpointermove = to;
      this.canvas.onpointerup = () => (this.canvas.onpointermove = null);
    });
  }

  /** Sizes the ruler and keeps the items of each of its steps, so that a selection asks neither style nor rows. */
  measure(total, rowHeight, item) {
    const height = this.canvas.clientHeight;
    const scale = window.devicePixelRatio || 1;
    this.steps = [];
    if (!height || !total) return;
    this.canvas.width = this.canvas.clientWidth * scale;
    this.canvas.height = height * scale;
    this.canvas.getContext("2d").scale(scale, scale);
    this.whole = Math.min(height, total * rowHeight);
    const size = Math.max(1, Math.min(rowHeight, height / total));
    for (let y = 0; y < this.whole - 0.01; y += size) {
      const from = Math.floor((y / this.whole) * total);
      const to = Math.max(from + 1, Math.floor(((y + size) / this.whole) * total));
      const items = [];
      for (let i = from; i < to && i < total; i++) {
        const one = item(i);
        if (one.f >= 0 && one !== items[items.length - 1]) items.push(one);
      }
      if (items.length) this.steps.push({ y, size, items });
    }
  }

  draw() {
    const context = this.canvas.getContext("2d");
    context.clearRect(0, 0, RULER_WIDTH, this.canvas.height);
    const now = this.select.now();
    const isLit = now !== NOWHERE;
    for (const { y, size, items } of this.steps) {
      let { f } = items[0];
      let most = 0;
      for (const one of isLit ? items : []) {
        const level = belongs(one, now);
        if (level > most) [f, most] = [one.f, level];
      }
      context.globalAlpha = isLit ? [0.12, 0.45, 1][most] : 0.5;
      context.fillStyle = colour(this.model.colours[f].slice(4, -1));
      const tall = Math.max(size - (size > 3 ? 1 : 0), 0.7);
      context.fillRect(isLit && most === 2 ? 0 : 2, y, RULER_WIDTH, tall);
    }
  }
}
