/* Threads over time: a track for each, zoomed by the wheel and moved by dragging. */

const TRACK = 26;

function threadsPane(model, select) {
  const spans = (model.data.profile && model.data.profile.timeline) || [];
  if (!spans.length) return null;
  const threads = [...new Set(spans.map(([thread]) => thread))].sort((a, b) => a - b);
  const tracks = new Map(threads.map((thread) => [thread, []]));
  let end = 0;
  for (const span of spans) {
    tracks.get(span[0]).push(span);
    end = Math.max(end, span[3]);
  }
  for (const track of tracks.values()) track.sort((a, b) => a[2] - b[2]);
  const items = model.rows.map((row) => itemOfName(model, row.func, row.func ? row.update || 0 : undefined));
  const left = 34,
    top = 6;
  const height = top + threads.length * TRACK + AXIS + 4;
  let from = 0,
    to = end,
    wide = 1;
  const x = (ms) => left + ((ms - from) / (to - from || 1)) * wide;
  const draw = (context, width, height) => {
    wide = Math.max(20, width - left - 8);
    const now = select.now();
    const hues = items.map((one) => colour(one.f >= 0 ? model.colours[one.f].slice(4, -1) : "--none"));
    const lights = items.map((one) => now === NOWHERE || belongs(one, now) > 0);
    const names = model.rows.map((row) => row.activity);
    threads.forEach((thread, n) => {
      const y = top + n * TRACK;
      context.globalAlpha = 1;
      context.fillStyle = colour("--band");
      context.fillRect(left, y, wide, TRACK - 4);
      drawTrack(context, tracks.get(thread), y);
      context.globalAlpha = 1;
      context.fillStyle = colour("--faint");
      context.font = "11px system-ui, sans-serif";
      context.textAlign = "right";
      context.textBaseline = "middle";
      context.fillText("T" + thread, left - 8, y + TRACK / 2 - 2);
    });
    context.globalAlpha = 1;
    axis(context, width, height);

    function drawTrack(context, track, y) {
      let last = -1,
        lastRow = -1;
      for (const [, row, begin, stop] of track) {
        if (stop < from || begin > to) continue;
        const a = Math.max(x(begin), left),
          b = Math.min(x(stop), left + wide);
        // Neighbours of the same activity in one pixel are drawn once.
        if (row === lastRow && b <= last) continue;
        [last, lastRow] = [Math.ceil(a + 0.01), row];
        context.globalAlpha = lights[row] === false ? 0.18 : 1;
        context.fillStyle = hues[row] || colour("--none");
        context.fillRect(a, y, Math.max(b - a - (b - a > 4 ? 1 : 0), 0.6), TRACK - 4);
        if (b - a < 44 || !names[row]) continue;
        context.save();
        context.beginPath();
        context.rect(a + 4, y, b - a - 9, TRACK);
        context.clip();
        context.fillStyle = colour("--on");
        context.font = "11px system-ui, sans-serif";
        context.textAlign = "left";
        context.textBaseline = "middle";
        context.fillText(names[row], a + 6, y + TRACK / 2 - 2);
        context.restore();
      }
    }
  };
  const axis = (context, width, height) => {
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "alphabetic";
    context.fillStyle = colour("--faint");
    const span = to - from,
      step = ticks(span, Math.max(2, Math.floor(wide / 90)))[1] || span || 1;
    for (let value = Math.ceil(from / step) * step; value <= to + step * 1e-6; value += step) {
      const at = x(value);
      context.fillRect(Math.round(at), height - AXIS, 1, 4);
      context.textAlign = at > left + wide - 24 ? "right" : at < left + 12 ? "left" : "center";
      context.fillText(millis(Math.abs(value) < step * 1e-6 ? 0 : value), at, height - 4);
    }
  };
  const { canvas, redraw } = chart(height, draw, "Activity of " + threads.length + " threads over " + millis(end));
  canvas.classList.add("zoom");
  select.watch(redraw);
  const spanAt = (px, py) => {
    const track = tracks.get(threads[Math.floor((py - top) / TRACK)]);
    if (!track || px < left) return null;
    const ms = from + ((px - left) / wide) * (to - from);
    return track.findLast((span) => span[2] <= ms && ms <= span[3]) || null;
  };
  const says = h("p", { class: "caption", role: "status" }, "\u00a0");
  pick(select, canvas, (px, py) => {
    const span = spanAt(px, py);
    const row = span && model.rows[span[1]];
    says.replaceChildren(
      row ? bdi(row.activity) : "\u00a0",
      row ? " for " + millis(span[3] - span[2]) + ", from " + millis(span[2]) : "",
    );
    return span ? items[span[1]] || NOWHERE : NOWHERE;
  });
  const view = (a, b) => {
    const span = Math.min(end, Math.max(b - a, end / 1e5));
    from = Math.max(0, Math.min(a, end - span));
    to = from + span;
    back.hidden = span >= end * 0.9999;
    redraw();
  };
  const back = button("Whole run", "Show the whole run", () => view(0, end), { hidden: true });
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
      event.preventDefault();
      const at = from + ((event.offsetX - left) / wide) * (to - from);
      const by = Math.exp((event.deltaY || event.deltaX) * 0.002);
      view(at - (at - from) * by, at + (to - at) * by);
    },
    { passive: false },
  );
  canvas.addEventListener("pointerdown", (event) => {
    const begun = event.clientX,
      old = [from, to];
    if (old[1] - old[0] >= end) return;
    canvas.setPointerCapture(event.pointerId);
    canvas.onpointermove = (move) => {
      const by = ((begun - move.clientX) / wide) * (old[1] - old[0]);
      view(old[0] + by, old[1] + by);
    };
    canvas.onpointerup = () => (canvas.onpointermove = null);
  });
  const zoom = (by) => () => {
    const middle = (from + to) / 2,
      half = ((to - from) / 2) * by;
    view(middle - half, middle + half);
  };
  const tools = [back, button("\u2212", "Zoom out", zoom(2)), button("+", "Zoom in", zoom(0.5))];
  return pane("threads", "Threads", h("div", { class: "figure" }, h("div", { class: "tracks" }, canvas), says), {
    tools,
  });
}
