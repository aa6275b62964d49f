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

/** The most that each name holds in each column of pixels; one without events keeps what was live before. */
function memoryLayers(steps, columns, end) {
  return [...steps.values()].map(({ times, live }) => {
    const all = new Float64Array(columns);
    let at = 0;
    let now = 0;
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
}

/** The most bytes that were live, and when. */
function peakOf(events) {
  let peak = 0;
  let peakAt = 0;
  let sum = 0;
  for (const [ms, , delta, live] of events) {
    sum = isNumber(live) ? live : sum + delta;
    if (sum > peak) [peak, peakAt] = [sum, ms];
  }
  return [peak, peakAt];
}

/** Fills the area between a base and what a layer adds to it, and raises the base. */
function fillLayer(context, left, layer, base, y, peak) {
  const path = new Path2D();
  for (let x = 0; x < layer.length; x++) {
    if (layer[x] <= 0) continue;
    const low = y(base[x]);
    base[x] += layer[x];
    let end = x + 1;
    // Columns that are alike are one box.
    while (end < layer.length && layer[end] === layer[x] && base[end] + layer[end] === base[x]) {
      base[end] += layer[end];
      end++;
    }
    const high = y(Math.min(peak, base[x]));
    path.rect(left + x, high, end - x, Math.max(low - high, 0.5));
    x = end - 1;
  }
  context.fill(path);
}

function memoryPane(model, select) {
  const { profile } = model.data;
  const events = (profile && profile.memory) || [];
  if (!events.length) return null;
  const steps = memorySteps(events);
  const [peak, peakAt] = peakOf(events);
  const end = (profile.timeline || []).reduce((most, span) => Math.max(most, span[3]), events[events.length - 1][0]);
  const items = [...steps.keys()].map((name) => itemOfName(model, name));
  const left = 58;
  const top = 18;
  const height = 200;
  const tall = height - AXIS - top;
  const y = (value) => top + tall - (value / (peak || 1)) * tall;
  let layers = [];
  const draw = (context, width) => {
    const wide = Math.max(20, width - left - 8);
    if (!layers.length || layers[0].length !== wide) layers = memoryLayers(steps, wide, end);
    const now = select.now();
    grid(context, left, wide, y, peak);
    const base = new Float64Array(wide);
    items.forEach((one, n) => {
      context.globalAlpha = now === NOWHERE || belongs(one, now) > 0 || (now.f >= 0 && one.f === now.f) ? 0.85 : 0.2;
      context.fillStyle = colour(one.f >= 0 ? model.colours[one.f].slice(4, -1) : "--none");
      fillLayer(context, left, layers[n], base, y, peak);
    });
    context.globalAlpha = 1;
    mark(context, left + (peakAt / (end || 1)) * wide, top, tall, "peak " + bytes(peak), left + wide);
    timeAxis(context, left, wide, height, end || 1);
  };
  const { canvas, redraw } = chart(height, draw, "Memory over time, peak " + bytes(peak));
  select.watch(redraw);
  pick(select, canvas, (px, py) => {
    const column = Math.floor(px - left);
    let value = ((top + tall - py) / tall) * peak;
    const at = layers.findIndex((layer) => {
      const isHere = value >= 0 && value < layer[column];
      value -= layer[column];
      return isHere;
    });
    return at < 0 ? NOWHERE : items[at];
  });
  const body = h("div", { class: "figure" }, canvas, memoryLegend(model, select, steps, items));
  return pane("memory", "Memory", body, { note: "peak " + bytes(profile.peak_bytes || peak) });
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
