/* Memory over time, and what canvases of time share. */

const AXIS = 20;
const MOST_NAMES = 10;

/** An axis of time at the bottom of a canvas. */
function timeAxis(context, left, width, height, end) {
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "alphabetic";
  context.fillStyle = colour("--faint");
  context.strokeStyle = colour("--line");
  context.lineWidth = 1;
  context.textAlign = "center";
  const all = ticks(end, Math.max(2, Math.floor(width / 90)));
  for (const value of all) {
    const x = Math.round(left + (value / end) * width) + 0.5;
    context.beginPath();
    context.moveTo(x, height - AXIS);
    context.lineTo(x, height - AXIS + 4);
    context.stroke();
    context.textAlign = value === 0 ? "left" : x > left + width - 20 ? "right" : "center";
    context.fillText(millis(value), x, height - 4);
  }
}

/** Steps of memory by name: for each, times and bytes that are live from then on. */
function memorySteps(events) {
  const of = new Map();
  for (const [ms, name, delta] of events) {
    if (!of.has(name)) of.set(name, { times: [], live: [] });
    const steps = of.get(name);
    steps.times.push(ms);
    steps.live.push((steps.live[steps.live.length - 1] || 0) + delta);
  }
  return of;
}

function memoryPane(model, select) {
  const events = (model.data.profile && model.data.profile.memory) || [];
  if (!events.length) return null;
  const steps = memorySteps(events);
  const names = [...steps.keys()];
  const spans = model.data.profile.timeline || [];
  let end = events[events.length - 1][0];
  for (const span of spans) end = Math.max(end, span[3]);
  let peak = 0,
    peakAt = 0,
    isLive = 0;
  for (const [ms, , delta, live] of events) {
    isLive = isNumber(live) ? live : isLive + delta;
    if (isLive > peak) [peak, peakAt] = [isLive, ms];
  }
  const items = names.map((name) => itemOfName(model, name));
  const left = 58,
    top = 18,
    height = 200;
  const layers = (width) => {
    // The most that each name holds in each column of pixels; a column without events keeps what was live before.
    const columns = Math.max(1, Math.floor(width));
    return names.map((name) => {
      const { times, live } = steps.get(name);
      const all = new Float64Array(columns);
      let at = 0,
        now = 0;
      for (let x = 0; x < columns; x++) {
        const until = ((x + 1) / columns) * (end || 1);
        all[x] = now;
        while (at < times.length && (times[at] < until || x === columns - 1)) {
          now = live[at++];
          all[x] = Math.max(all[x], now);
        }
      }
      return all;
    });
  };
  let made = [];
  const draw = (context, width, height) => {
    const wide = width - left - 8,
      tall = height - AXIS - top;
    if (wide < 20) return;
    made = layers(wide);
    const now = select.now();
    const y = (value) => top + tall - (value / (peak || 1)) * tall;
    grid(context, left, wide, y, peak);
    const base = new Float64Array(made[0].length);
    names.forEach((_, n) => {
      const isLit = now === NOWHERE || belongs(items[n], now) > 0 || (now.f >= 0 && items[n].f === now.f);
      context.globalAlpha = isLit ? 0.85 : 0.2;
      context.fillStyle = items[n].f >= 0 ? colour(model.colours[items[n].f].slice(4, -1)) : colour("--none");
      for (let x = 0; x < base.length; x++) {
        const value = made[n][x];
        if (value <= 0) continue;
        const from = y(base[x]),
          to = y(Math.min(peak, base[x] + value));
        context.fillRect(left + x, to, 1.02, Math.max(from - to, 0.5));
        base[x] += value;
      }
    });
    context.globalAlpha = 1;
    mark(context, left + (peakAt / (end || 1)) * wide, top, tall, "peak " + bytes(peak), left + wide);
    timeAxis(context, left, wide, height, end || 1);
  };
  const { canvas, redraw } = chart(height, draw, "Memory over time, peak " + bytes(peak));
  select.watch(redraw);
  pick(select, canvas, (x, y, width) => {
    const column = Math.floor(x - left),
      tall = height - AXIS - top;
    if (!made.length || column < 0 || column >= made[0].length) return NOWHERE;
    let value = ((top + tall - y) / tall) * peak;
    for (let n = 0; n < names.length; n++) {
      if (value >= 0 && value < made[n][column]) return items[n];
      value -= made[n][column];
    }
    return NOWHERE;
  });
  const legend = memoryLegend(model, select, steps, items);
  return pane("memory", "Memory", h("div", { class: "figure" }, canvas, legend), {
    note: "peak " + bytes(model.data.profile.peak_bytes || peak),
  });
}

function grid(context, left, wide, y, peak) {
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "right";
  for (const value of ticks(peak, 4)) {
    if (value > peak) continue;
    context.strokeStyle = colour("--line");
    context.beginPath();
    context.moveTo(left, Math.round(y(value)) + 0.5);
    context.lineTo(left + wide, Math.round(y(value)) + 0.5);
    context.stroke();
    context.fillStyle = colour("--faint");
    context.fillText(bytes(value), left - 6, y(value) + 4);
  }
}

function mark(context, x, top, tall, text, end) {
  context.strokeStyle = context.fillStyle = colour("--ink");
  context.setLineDash([2, 3]);
  context.beginPath();
  context.moveTo(Math.round(x) + 0.5, top - 6);
  context.lineTo(Math.round(x) + 0.5, top + tall);
  context.stroke();
  context.setLineDash([]);
  const isLeft = x + 110 > end;
  context.textAlign = isLeft ? "right" : "left";
  context.fillText(text, x + (isLeft ? -5 : 5), top - 5);
}

/** Lets a canvas select: `at(x, y)` is what is drawn at a point. */
function pick(select, canvas, at) {
  const of = (event) => at(event.offsetX, event.offsetY);
  canvas.addEventListener("pointermove", (event) => select.hover(of(event)));
  canvas.addEventListener("pointerleave", () => select.hover(NOWHERE));
  canvas.addEventListener("click", (event) => {
    const one = of(event);
    select.pin(same(one, select.pinned) ? NOWHERE : one, canvas.closest(".pane"));
  });
}

/** The names that hold the most memory. */
function memoryLegend(model, select, steps, items) {
  const most = [...steps].map(([name, { live }], n) => ({
    name,
    one: items[n],
    most: live.reduce((a, b) => Math.max(a, b), 0),
  }));
  most.sort((a, b) => b.most - a.most);
  const shown = most.slice(0, MOST_NAMES).map(({ name, one, most }) => {
    const known = one.f >= 0 ? chip(model, select, one) : h("span", { class: "chip" }, swatch("var(--none)"));
    if (one.f < 0) known.append(bdi(name || "others"));
    known.title = "at most " + bytes(most);
    return known;
  });
  const more = most.length - shown.length;
  return h("p", { class: "legend" }, shown, more > 0 && h("span", { class: "note" }, "and " + more + " more"));
}
