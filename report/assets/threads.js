/* Threads over time: a track for each, zoomed by the wheel and moved by dragging. */

const TRACK = 26;
const TRACKS_LEFT = 34;
const TRACKS_TOP = 6;

/** The spans of each thread in order of time, with the end of the last. */
function tracksOf(spans) {
  const tracks = new Map();
  let end = 0;
  for (const span of spans) {
    if (!tracks.has(span[0])) tracks.set(span[0], []);
    tracks.get(span[0]).push(span);
    end = Math.max(end, span[3]);
  }
  const threads = [...tracks.keys()].sort((a, b) => a - b);
  for (const track of tracks.values()) track.sort((a, b) => a[2] - b[2]);
  return { threads, tracks, end };
}

/** What is seen of a track as boxes `[x, width, row]`: spans of less than a pixel become one, of what lasts longest. */
function boxesOf(track, view) {
  const boxes = [];
  const { from, to, wide } = view;
  const by = wide / (to - from || 1);
  let pixel = -1;
  let held = new Map();
  const flush = () => {
    let best = -1;
    for (const [row, time] of held) if (best < 0 || time > held.get(best)) best = row;
    if (best >= 0) boxes.push([TRACKS_LEFT + pixel, 1, best]);
    held = new Map();
  };
  for (const [, row, begin, stop] of track) {
    if (stop < from || begin > to) continue;
    const a = Math.max(0, (begin - from) * by);
    const b = Math.min(wide, (stop - from) * by);
    if (Math.floor(a) !== pixel) flush();
    pixel = Math.floor(a);
    if (b - a < 1) held.set(row, (held.get(row) || 0) + (b - a));
    else boxes.push([TRACKS_LEFT + a, b - a, row]);
  }
  flush();
  return boxes;
}

/** Draws the boxes of a track, with names where they fit. */
function drawTrack(context, boxes, y, { hues, lights, names }) {
  for (const [x, width, row] of boxes) {
    context.globalAlpha = lights[row] === false ? 0.18 : 1;
    context.fillStyle = hues[row] || colour("--none");
    context.fillRect(x, y, width - (width > 4 ? 1 : 0), TRACK - 4);
    if (width < 44 || !names[row]) continue;
    context.save();
    context.beginPath();
    context.rect(x + 4, y, width - 9, TRACK);
    context.clip();
    context.fillStyle = colour("--on");
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillText(names[row], x + 6, y + TRACK / 2 - 2);
    context.restore();
  }
}

/** Draws an axis of the time that is in view. */
function drawTimes(context, height, { from, to, wide }) {
  context.globalAlpha = 1;
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "alphabetic";
  context.fillStyle = colour("--faint");
  const span = to - from || 1;
  const step = ticks(span, Math.max(2, Math.floor(wide / 90)))[1] || span;
  for (let value = Math.ceil(from / step) * step; value <= to + step * 1e-6; value += step) {
    const at = TRACKS_LEFT + ((value - from) / span) * wide;
    context.fillRect(Math.round(at), height - AXIS, 1, 4);
    context.textAlign = at > TRACKS_LEFT + wide - 24 ? "right" : at < TRACKS_LEFT + 12 ? "left" : "center";
    context.fillText(millis(Math.abs(value) < step * 1e-6 ? 0 : value), at, height - 4);
  }
}

function threadsPane(model, select) {
  const spans = (model.data.profile && model.data.profile.timeline) || [];
  if (!spans.length) return null;
  const { threads, tracks, end } = tracksOf(spans);
  const items = model.rows.map((row) => itemOfName(model, row.func, row.func ? row.update || 0 : undefined));
  const names = model.rows.map((row) => row.activity);
  const view = { from: 0, to: end, wide: 1 };
  let boxes = null;
  const draw = (context, width, height) => {
    const wide = Math.max(20, width - TRACKS_LEFT - 8);
    if (wide !== view.wide) boxes = null;
    view.wide = wide;
    boxes = boxes || threads.map((thread) => boxesOf(tracks.get(thread), view));
    const now = select.now();
    const hues = items.map((one) => colour(one.f >= 0 ? model.colours[one.f].slice(4, -1) : "--none"));
    const lights = items.map((one) => now === NOWHERE || belongs(one, now) > 0);
    threads.forEach((thread, n) => {
      const y = TRACKS_TOP + n * TRACK;
      context.globalAlpha = 1;
      context.fillStyle = colour("--band");
      context.fillRect(TRACKS_LEFT, y, wide, TRACK - 4);
      context.fillStyle = colour("--faint");
      context.font = "11px system-ui, sans-serif";
      context.textAlign = "right";
      context.textBaseline = "middle";
      context.fillText("T" + thread, TRACKS_LEFT - 8, y + TRACK / 2 - 2);
      drawTrack(context, boxes[n], y, { hues, lights, names });
    });
    drawTimes(context, height, view);
  };
  const tall = TRACKS_TOP + threads.length * TRACK + AXIS + 4;
  const label = "Activity of " + threads.length + " threads over " + millis(end);
  const { canvas, redraw } = chart(tall, draw, label);
  select.watch(redraw);
  const says = h("p", { class: "caption", role: "status" }, "\u00a0");
  pick(select, canvas, (px, py) => {
    const span = spanAt(tracks.get(threads[Math.floor((py - TRACKS_TOP) / TRACK)]), px, view);
    const row = span && model.rows[span[1]];
    const times = row && " for " + millis(span[3] - span[2]) + ", from " + millis(span[2]);
    says.replaceChildren(...(row ? [bdi(row.activity), times] : ["\u00a0"]));
    return span ? items[span[1]] || NOWHERE : NOWHERE;
  });
  const tools = zooming(canvas, view, end, () => {
    boxes = null;
    redraw();
  });
  return pane("threads", "Threads", h("div", { class: "figure" }, h("div", { class: "tracks" }, canvas), says), {
    tools,
  });
}

/** The last span of a track that began before a place and has not ended there. */
function spanAt(track, px, { from, to, wide }) {
  if (!track || px < TRACKS_LEFT) return null;
  const ms = from + ((px - TRACKS_LEFT) / wide) * (to - from);
  return track.findLast((span) => span[2] <= ms && ms <= span[3]) || null;
}

/** Lets the wheel, drags and buttons change the view; returns the buttons. */
function zooming(canvas, view, end, redraw) {
  const look = (a, b) => {
    const span = Math.min(end, Math.max(b - a, end / 1e5));
    view.from = Math.max(0, Math.min(a, end - span));
    view.to = view.from + span;
    back.hidden = span >= end * 0.9999;
    redraw();
  };
  const back = button("Whole run", "Show the whole run", () => look(0, end), { hidden: true });
  const around = (at, by) => look(at - (at - view.from) * by, at + (view.to - at) * by);
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
      event.preventDefault();
      const at = view.from + ((event.offsetX - TRACKS_LEFT) / view.wide) * (view.to - view.from);
      around(at, Math.exp((event.deltaY || event.deltaX) * 0.002));
    },
    { passive: false },
  );
  canvas.addEventListener("pointerdown", (event) => {
    const begun = event.clientX;
    const old = [view.from, view.to];
    if (old[1] - old[0] >= end) return;
    canvas.setPointerCapture(event.pointerId);
    canvas.onpointermove = (move) => {
      const by = ((begun - move.clientX) / view.wide) * (old[1] - old[0]);
      look(old[0] + by, old[1] + by);
    };
    canvas.onpointerup = () => (canvas.onpointermove = null);
  });
  const zoom = (by) => () => around((view.from + view.to) / 2, by);
  return [back, button("\u2212", "Zoom out", zoom(2)), button("+", "Zoom in", zoom(0.5))];
}
