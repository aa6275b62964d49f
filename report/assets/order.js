/* The order of evaluation, played: its spans, the state of each canvas, and its controls. */

const STORE = 0,
  LOAD = 1,
  AGAIN = 2,
  FREE = 3;
const SPEEDS = [0.1, 0.25, 1, 4, 16];
const SECONDS = 14;

/** Makes the player of the traced spans; panes ask it which loop is at work. `null` where nothing was traced. */
function orderPlayer(model) {
  const { order } = model.data;
  if (!order || !(order.spans || []).length || !(order.canvases || []).length) return null;
  const { spans } = order;
  const ends = new Float64Array(spans.length);
  let all = 0;
  spans.forEach((span, i) => {
    all += Math.max(1, span[4]);
    ends[i] = all;
  });
  const states = order.canvases.map((canvas) => emptyState(canvas));
  const self = { at: 0, total: all, spans, states, isPlaying: false, isUsed: false, speed: 2 };
  const loopCalls = [],
    drawCalls = [];
  let done = 0,
    before = 0,
    now = -1;
  self.onLoop = (call) => loopCalls.push(call);
  self.onDraw = (call) => drawCalls.push(call);
  self.spanAt = (at) => Math.min(spans.length - 1, lastAtMost(ends, at) + 1);
  /** The loop at work, once somebody has moved the time. */
  self.loop = () => (self.isUsed ? now : -1);
  /** The span that is at work; `null` before the first. */
  self.current = () => (self.at > 0 ? spans[self.spanAt(self.at - 1e-6)] : null);

  /** Brings all canvases to a time, counted in points; back in time all is played anew. */
  self.seek = (to) => {
    to = Math.max(0, Math.min(all, to));
    if (to < self.at) {
      states.forEach(clear);
      [done, before] = [0, 0];
    }
    self.at = to;
    while (done < spans.length && ends[done] <= to) {
      const [canvas, kind, x, y, n] = spans[done];
      apply(states[canvas], kind, x, y, before, n, ends[done] - n);
      before = 0;
      done++;
    }
    if (done < spans.length) {
      const part = Math.floor(to - (done ? ends[done - 1] : 0));
      const [canvas, kind, x, y] = spans[done];
      if (part > before && kind !== FREE) {
        apply(states[canvas], kind, x, y, before, part, to - part);
        before = part;
      }
    }
    const current = self.current();
    const loop = current && current[6] >= 0 && to < all ? current[6] : -1;
    const isNew = loop !== now;
    now = loop;
    for (const call of drawCalls) call();
    if (isNew) for (const call of loopCalls) call();
  };
  /** One span on or back; where a loop is pinned, to the next span that begins an iteration of it. */
  self.step = (by, loop = -1) => {
    self.isUsed = true;
    self.pause();
    let i = self.at <= 0 ? -1 : self.spanAt(self.at - 1e-6);
    const isFull = i < 0 || ends[i] <= self.at + 1e-6;
    if (by < 0 && !isFull) return self.seek(i > 0 ? ends[i - 1] : 0);
    if (by > 0 && !isFull && loop < 0) return self.seek(ends[i]);
    i += by;
    while (loop >= 0 && i > 0 && i < spans.length - 1 && !(spans[i][6] === loop && spans[i - by][6] !== loop))
      i += by;
    self.seek(i < 0 ? 0 : ends[Math.min(i, spans.length - 1)]);
  };
  let frame = 0,
    last = 0;
  const tick = (time) => {
    const by = Math.min(0.1, Math.max(0, time - last) / 1000);
    last = time;
    self.seek(self.at + (all / SECONDS) * SPEEDS[self.speed] * by);
    if (self.at >= all) self.pause();
    else if (self.isPlaying) frame = requestAnimationFrame(tick);
  };
  self.play = () => {
    self.isUsed = true;
    if (self.at >= all) self.seek(0);
    self.isPlaying = true;
    last = performance.now();
    frame = requestAnimationFrame(tick);
    for (const call of drawCalls) call();
  };
  self.pause = () => {
    self.isPlaying = false;
    cancelAnimationFrame(frame);
    for (const call of drawCalls) call();
  };
  self.toggle = () => (self.isPlaying ? self.pause() : self.play());
  return self;
}

/** For each point of a canvas: when it was stored and loaded last (0: never), and how often it was stored. */
function emptyState({ name, kind, min, extent }) {
  const [w, hgt] = [Math.max(0, extent[0] || 0), Math.max(0, extent.length > 1 ? extent[1] : 1)];
  const size = w * hgt;
<<<<<<< HEAD
  return { name, isImage: kind === "image", x0: min[0] || 0, y0: min.length > 1 ? min[1] : 0, w, h: hgt, freed: 0,
    stored: new Float64Array(size), loaded: new Float64Array(size), gone: new Float64Array(size), times: new Uint16Array(size),
    stores: 0, loads: 0, again: 0 };
=======
  return {
    name,
    isImage: kind === "image",
    x0: min[0] || 0,
    y0: min.length > 1 ? min[1] : 0,
    w,
    h: hgt,
    freed: 0,
    stored: new Float64Array(size),
    loaded: new Float64Array(size),
    times: new Uint16Array(size),
    stores: 0,
    loads: 0,
    again: 0,
  };
>>>>>>> page
}

function clear(state) {
  state.stored.fill(0);
  state.loaded.fill(0);
  state.gone.fill(0);
  state.times.fill(0);
  state.freed = state.stores = state.loads = state.again = 0;
}

/** Plays the points `from..to` of a span that began at `time`. */
function apply(state, kind, x, y, from, to, time) {
  if (kind === FREE && !(to > from)) {
    state.freed = time + 1;
    return;
  }
  const row = (y - state.y0) * state.w,
    first = x - state.x0;
  const isIn = y >= state.y0 && y < state.y0 + state.h;
  for (let i = from; i < to; i++) {
    const at = first + i;
    if (!isIn || at < 0 || at >= state.w) continue;
    if (kind === LOAD || kind === FREE) {
      (kind === LOAD ? state.loaded : state.gone)[row + at] = time + i + 1;
      continue;
    }
    state.stored[row + at] = time + i + 1;
    state.times[row + at] = kind === AGAIN ? Math.max(2, state.times[row + at] + 1) : 1;
  }
  if (kind === LOAD) state.loads += to - from;
  else if (kind !== FREE) state.stores += to - from;
  if (kind === AGAIN) state.again += to - from;
}

function orderPane(model, select, player) {
  if (!player) return null;
  const { order } = model.data;
  const cards = player.states.map((state) => canvasOf(model, select, player, state));
  const play = button("\u25b6", "Play", () => player.toggle(), { class: "play" });
  const scrub = h("input", {
    type: "range",
    min: 0,
    max: player.total,
    step: 1,
    value: 0,
    "aria-label": "Time in points",
  });
  scrub.addEventListener("input", () => {
    const to = Number(scrub.value);
    player.isUsed = true;
    player.pause();
    player.seek(to);
  });
  const where = h("output", { class: "where" });
  const doing = h("p", { class: "caption" }, "\u00a0");
  const step = (by) => () => player.step(by, select.pinned.l);
  const speeds = choice(
    "Speed",
    SPEEDS.map((speed) => "\u00d7" + speed),
    player.speed,
    (i) => (player.speed = i),
  );
  const show = () => {
    cards.forEach((card) => card.draw());
    play.textContent = player.isPlaying ? "\u275a\u275a" : "\u25b6";
    play.setAttribute("aria-label", player.isPlaying ? "Pause" : "Play");
    scrub.value = player.at;
    scrub.style.setProperty("--done", (player.at / player.total) * 100 + "%");
    where.textContent = plain.format(Math.floor(player.at)) + " / " + plain.format(player.total);
    doing.replaceChildren(...doingNow(model, player));
  };
  player.onDraw(show);
  const controls = h(
    "div",
    { class: "player" },
    play,
    button("\u2039", "One step back (,)", step(-1)),
    button("\u203a", "One step on (.); with a loop pinned, to its next iteration", step(1)),
    scrub,
    where,
    speeds,
  );
  const legend = h(
    "p",
    { class: "legend" },
    [
      ["fresh", "stored now"],
      ["kept", "stored"],
      ["again", "computed again"],
      ["load", "loaded now"],
      ["freed", "freed"],
    ].map(([cls, text]) => h("span", {}, h("i", { class: "swatch " + cls }), text)),
  );
  const made = pane(
    "order",
    "Evaluation order",
    h(
      "div",
      { class: "order" },
      controls,
      doing,
      h(
        "div",
        { class: "canvases" },
        cards.map((card) => card.node),
      ),
      legend,
    ),
    { note: order.schematic, wide: true },
  );
  // Something to see before anybody plays: a third of the way.
  player.seek(Math.floor(player.total / 3));
  return made;
}

function doingNow(model, player) {
  const span = player.current();
  if (!span) return ["\u00a0"];
  const [canvas, kind, x, y, n, thread, l] = span;
  const verb = ["stores", "loads", "stores again", "frees"][kind];
  const where = kind === FREE ? "" : "(" + x + (n > 1 ? ".." + (x + n - 1) : "") + ", " + y + ")";
  const loop = l >= 0 && model.loops[l] ? [" in ", bdi(model.loops[l].name, "mono")] : [];
  return ["thread " + thread + " " + verb + " ", bdi(player.states[canvas].name), where, ...loop];
}
<<<<<<< HEAD

/** A canvas with its name and counts. */
function canvasOf(model, select, player, state) {
  const one = itemOfName(model, state.name);
  const hue = state.isImage || one.f < 0 ? "--image" : model.colours[one.f].slice(4, -1);
  const cell = Math.max(1, Math.min(12, Math.floor(340 / Math.max(1, state.w)), Math.floor(260 / Math.max(1, state.h))));
  const gap = cell >= 5 ? 1 : 0;
  const scale = window.devicePixelRatio > 1 ? 2 : 1;
  const canvas = h("canvas", { width: Math.max(1, state.w * cell * scale), height: Math.max(1, state.h * cell * scale),
    role: "img", "aria-label": "Points of " + state.name, style: { width: state.w * cell + "px", height: state.h * cell + "px" } });
  const context = canvas.getContext("2d");
  const counts = h("span", { class: "counts" });
  let palette = null;
  onScheme(() => {
    palette = null;
    draw();
  });
  const draw = () => {
    palette = palette || paletteOf(hue);
    paintCells(context, state, player, palette, cell * scale, gap * scale);
    const needed = state.stores - state.again;
    counts.textContent = state.isImage ? count(state.loads) + " loads" : count(state.stores) + " stores" +
      (state.again > 0 && needed > 0 ? ", \u00d7" + (state.stores / needed).toFixed(2) : "");
  };
  const size = state.w + " \u00d7 " + state.h;
  const node = select.link(h("figure", {}, h("figcaption", {}, chip(model, select, one, state.name),
    h("span", { class: "size" }, size), counts), canvas), one);
  return { node, draw };
}

/** The colours of cells: numbers, so that mixing them is cheap. */
function paletteOf(hue) {
  const of = (name) => {
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = colour(name);
    const text = probe.fillStyle;
    return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  };
  const paper = of("--cell"), base = of(hue);
  const again = of("--again");
  return { paper, image: mixed(paper, base, 0.35), kept: mixed(paper, base, 0.55), fresh: mixed(base, of("--glow"), 0.65), again,
    keptAgain: mixed(paper, again, 0.7), load: of("--load"), freed: of("--freed") };
}

function mixed(a, b, share) {
  return a.map((value, i) => value + (b[i] - value) * share);
}

/** Paints the cells through one small picture of a pixel each, which is then drawn larger; gaps are wiped out of it. */
function paintCells(context, state, player, palette, cell, gap) {
  if (state.w === 0 || state.h === 0) return;
  state.picture = state.picture || new ImageData(state.w, state.h);
  const { data } = state.picture;
  for (let i = 0; i < state.stored.length; i++) {
    const shade = shadeOf(state, i, player, palette);
    [data[i * 4], data[i * 4 + 1], data[i * 4 + 2], data[i * 4 + 3]] = [shade[0], shade[1], shade[2], 255];
  }
  if (!state.small) state.small = h("canvas", { width: state.w, height: state.h });
  state.small.getContext("2d").putImageData(state.picture, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(state.small, 0, 0, state.w * cell, state.h * cell);
  if (gap === 0) return;
  for (let x = 1; x <= state.w; x++) context.clearRect(x * cell - gap, 0, gap, state.h * cell);
  for (let y = 1; y <= state.h; y++) context.clearRect(0, y * cell - gap, state.w * cell, gap);
}

/** The colour of a point: how long ago it was stored and loaded, how often, and if its memory is freed. */
function shadeOf(state, i, { at, total }, palette) {
  const glow = Math.max(24, Math.min(total / 40, 3000));
  const isAgain = state.times[i] > 1;
  let shade = palette.paper;
  if (state.isImage) shade = palette.image;
  else if (state.stored[i] > 0) {
    const age = (at - state.stored[i]) / glow;
    const kept = isAgain ? palette.keptAgain : palette.kept;
    if (Math.max(state.freed, state.gone[i]) > state.stored[i]) shade = palette.freed;
    else shade = age >= 1 ? kept : mixed(isAgain ? palette.again : palette.fresh, kept, Math.max(0, age));
  }
  const age = state.loaded[i] > 0 ? (at - state.loaded[i]) / (glow * 0.7) : 1;
  return age < 1 ? mixed(palette.load, shade, Math.max(0, age)) : shade;
}
=======
>>>>>>> page
