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
      this.total += Math.max(1, span[4]);
      this.ends[i] = this.total;
    });
    // `at` counts points; `done` spans are played, and `part` of the next.
    Object.assign(this, { at: 0, done: 0, part: 0, now: -1, speed: 2, isPlaying: false, isUsed: false });
    Object.assign(this, { frame: 0, loopCalls: [], drawCalls: [], overlay: FRESH, most: null });
  }

  /** Colours the canvases in another way. */
  paint(overlay) {
    if (!this.most) {
      const { at } = this;
      this.seek(this.total);
      this.most = mostOf(this);
      this.seek(at);
    }
    this.overlay = overlay;
    this.tell();
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
      const [canvas, kind, x, y, n, task] = spans[this.done];
      if (states[canvas]) apply(states[canvas], kind, x, y, this.part, n, ends[this.done] - n, task);
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
    const [canvas, kind, x, y, , task] = this.spans[this.done];
    const part = Math.floor(points);
    if (part <= this.part || kind === FREE || !this.states[canvas]) return;
    apply(this.states[canvas], kind, x, y, this.part, part, to - part, task);
    this.part = part;
  }

  /** One span on or back; where a loop is given, to the next span that begins an iteration of it. `around` has the loop
      around each loop. */
  step(by, loop = -1, around = []) {
    this.isUsed = true;
    this.pause();
    const { spans, ends } = this;
    let i = this.at <= 0 ? -1 : this.spanAt(this.at - 1e-6);
    const isWhole = i < 0 || ends[i] <= this.at + 1e-6;
    if (by < 0 && !isWhole) return this.seek(i > 0 ? ends[i - 1] : 0);
    if (by > 0 && !isWhole && loop < 0) return this.seek(ends[i]);
    const isBegin = (i) => {
      const [, , , , , , within, fresh] = spans[i];
      if (fresh === undefined) return within === loop && spans[i - by][6] !== loop;
      return fresh >= 0 && isWithin(within, loop, around) && isWithin(loop, fresh, around);
    };
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

/** True if a loop is another one or inside of it. */
function isWithin(loop, outer, around) {
  for (let at = loop, steps = 0; at >= 0 && steps < 1000; at = around[at] ?? -1, steps++) if (at === outer) return true;
  return false;
}

/** Where a player was left, for the next version of its report: the part of its time, and if it played. */
let lastPlayed = null;

/** Keeps where a player is, if anybody has moved its time. */
function keepPlayed(player) {
  if (player.isUsed) lastPlayed = { part: player.at / player.total, isPlaying: player.isPlaying };
}

/** The player of a report; `null` where nothing was traced. */
function orderPlayer(model) {
  const { order } = model.data;
  const isTraced = order && (order.spans || []).length > 0 && (order.canvases || []).length > 0;
  return isTraced ? new Player(order) : null;
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
  const around = model.loops.map((loop) => loop.parent ?? -1);
  const step = (by) => () => player.step(by, select.pinned.l, around);
  const ways = overlaysOf(order);
  const colouring = choice("Colours", ways, 0, (i) => player.paint(ways[i]));
  const speeds = choice(
    "Speed",
    SPEEDS.map((speed) => "\u00d7" + speed),
    player.speed,
    (i) => (player.speed = i),
  );
  const legend = h("p", { class: "legend" });
  let shown = null;
  const show = () => {
    cards.forEach((card) => card.draw());
    play.textContent = player.isPlaying ? "\u275a\u275a" : "\u25b6";
    play.setAttribute("aria-label", player.isPlaying ? "Pause" : "Play");
    scrub.value = player.at;
    scrub.style.setProperty("--done", (player.at / player.total) * 100 + "%");
    if (player.overlay !== shown) {
      shown = player.overlay;
      legend.replaceChildren(...overlayLegend(order, player).filter(Boolean));
    }
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
    colouring,
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
  player.seek(Math.floor(player.total * (lastPlayed ? lastPlayed.part : 1 / 3)));
  if (lastPlayed) player.isUsed = true;
  if (lastPlayed && lastPlayed.isPlaying) player.play();
  return made;
}

function doingNow(model, player) {
  const span = player.current();
  if (!span) return ["\u00a0"];
  const [canvas, kind, x, y, n, task, l] = span;
  const verb = ["stores", "loads", "stores again", "frees"][kind];
  const where = kind === FREE ? "" : "(" + x + (n > 1 ? ".." + (x + n - 1) : "") + ", " + y + ")";
  const loop = l >= 0 && model.loops[l] ? [" in ", bdi(model.loops[l].name, "mono")] : [];
  const who = task > 0 ? "task " + task + " " : "";
  return [who + verb + " ", bdi((player.states[canvas] || {}).name || ""), where, ...loop];
}
