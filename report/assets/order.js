/* The order of evaluation, played: its spans, the state of each canvas, and its controls. */

const STORE = 0,
  LOAD = 1,
  AGAIN = 2,
  FREE = 3;
const SPEEDS = [0.1, 0.25, 1, 4, 16];
const SECONDS = 14;

/** The player of the traced spans; panes ask it which loop is at work. */
class Player {
  constructor({ spans, canvases }) {
    this.spans = spans;
    this.states = canvases.map(emptyState);
    this.ends = new Float64Array(spans.length);
    this.total = 0;
    spans.forEach((span, i) => {
      this.total += span[1] === FREE ? 1 : Math.max(1, span[4]);
      this.ends[i] = this.total;
    });
    // `at` counts points; `done` spans are played, and `part` of the next.
    Object.assign(this, { at: 0, done: 0, part: 0, now: -1, speed: 2, isPlaying: false, isUsed: false });
    Object.assign(this, { frame: 0, loopCalls: [], drawCalls: [] });
  }

  onLoop(call) {
    this.loopCalls.push(call);
  }

  onDraw(call) {
    this.drawCalls.push(call);
  }

  tell() {
    for (const call of this.drawCalls) call();
  }

  /** The loop at work, once somebody has moved the time. */
  loop() {
    return this.isUsed ? this.now : -1;
  }

  spanAt(at) {
    return Math.min(this.spans.length - 1, lastAtMost(this.ends, at) + 1);
  }

  /** The span that is at work; `null` before the first. */
  current() {
    return this.at > 0 ? this.spans[this.spanAt(this.at - 1e-6)] : null;
  }

  /** Brings all canvases to a time, counted in points; back in time all is played anew. */
  seek(to) {
    to = Math.max(0, Math.min(this.total, to));
    if (to < this.at) {
      this.states.forEach(clear);
      [this.done, this.part] = [0, 0];
    }
    this.at = to;
    const { spans, ends, states } = this;
    while (this.done < spans.length && ends[this.done] <= to) {
      const [canvas, kind, x, y, n] = spans[this.done];
      if (states[canvas]) apply(states[canvas], kind, x, y, this.part, n, ends[this.done] - n);
      this.part = 0;
      this.done++;
    }
    if (this.done < spans.length) this.playPart(to - (this.done ? ends[this.done - 1] : 0), to);
    const current = this.current();
    const loop = current && current[6] >= 0 && to < this.total ? current[6] : -1;
    const isNew = loop !== this.now;
    this.now = loop;
    this.tell();
    if (isNew) for (const call of this.loopCalls) call();
  }

  /** Plays the next span as far as the time has come. */
  playPart(points, to) {
    const [canvas, kind, x, y] = this.spans[this.done];
    const part = Math.floor(points);
    if (part <= this.part || kind === FREE || !this.states[canvas]) return;
    apply(this.states[canvas], kind, x, y, this.part, part, to - part);
    this.part = part;
  }

  /** One span on or back; where a loop is given, to the next span that begins an iteration of it. */
  step(by, loop = -1) {
    this.isUsed = true;
    this.pause();
    const { spans, ends } = this;
    let i = this.at <= 0 ? -1 : this.spanAt(this.at - 1e-6);
    const isWhole = i < 0 || ends[i] <= this.at + 1e-6;
    if (by < 0 && !isWhole) return this.seek(i > 0 ? ends[i - 1] : 0);
    if (by > 0 && !isWhole && loop < 0) return this.seek(ends[i]);
    const isBegin = (i) => spans[i][6] === loop && spans[i - by][6] !== loop;
    i += by;
    while (loop >= 0 && i > 0 && i < spans.length - 1 && !isBegin(i)) i += by;
    this.seek(i < 0 ? 0 : ends[Math.min(i, spans.length - 1)]);
  }

  play() {
    this.isUsed = true;
    if (this.at >= this.total) this.seek(0);
    this.isPlaying = true;
    let last = performance.now();
    const tick = (time) => {
      const by = Math.min(0.1, Math.max(0, time - last) / 1000);
      last = time;
      this.seek(this.at + (this.total / SECONDS) * SPEEDS[this.speed] * by);
      if (this.at >= this.total) this.pause();
      else if (this.isPlaying) this.frame = requestAnimationFrame(tick);
    };
    this.frame = requestAnimationFrame(tick);
    this.tell();
  }

  pause() {
    this.isPlaying = false;
    cancelAnimationFrame(this.frame);
    this.tell();
  }

  toggle() {
    if (this.isPlaying) this.pause();
    else this.play();
  }
}

/** The player of a report; `null` where nothing was traced. */
function orderPlayer(model) {
  const { order } = model.data;
  const isTraced = order && (order.spans || []).length > 0 && (order.canvases || []).length > 0;
  return isTraced ? new Player(order) : null;
}

/** For each point of a canvas: when it was stored and loaded last (0: never), and how often it was stored. */
function emptyState({ name, kind, min, extent }) {
  const [w, hgt] = [Math.max(0, extent[0] || 0), Math.max(0, extent.length > 1 ? extent[1] : 1)];
  const size = w * hgt;
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
}

function clear(state) {
  state.stored.fill(0);
  state.loaded.fill(0);
  state.times.fill(0);
  state.freed = state.stores = state.loads = state.again = 0;
}

/** Plays the points `from..to` of a span that began at `time`. */
function apply(state, kind, x, y, from, to, time) {
  if (kind === FREE) {
    state.freed = time + 1;
    return;
  }
  const row = (y - state.y0) * state.w,
    first = x - state.x0;
  const isIn = y >= state.y0 && y < state.y0 + state.h;
  for (let i = from; i < to; i++) {
    const at = first + i;
    if (!isIn || at < 0 || at >= state.w) continue;
    if (kind === LOAD) {
      state.loaded[row + at] = time + i + 1;
      continue;
    }
    state.stored[row + at] = time + i + 1;
    state.times[row + at] = kind === AGAIN ? Math.max(2, state.times[row + at] + 1) : 1;
  }
  if (kind === LOAD) state.loads += to - from;
  else state.stores += to - from;
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
  return ["thread " + thread + " " + verb + " ", bdi((player.states[canvas] || {}).name || ""), where, ...loop];
}
