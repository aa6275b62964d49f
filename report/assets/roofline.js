/* The roofline. */

/** The size of the plot and the space around it. */
const PLOT = { width: 460, height: 270, left: 46, right: 12, top: 12, bottom: 36 };

function rooflinePane(model, select) {
  const points = (model.data.roofline || []).filter((one) => one.intensity > 0 && one.gops > 0);
  const machine = model.data.machine || {};
  if (!points.length) return null;
  const roofs = roofsOf(machine);
  const { left, right, top, bottom, width, height } = PLOT;
  const xs = points.map((one) => one.intensity).concat(roofs ? [roofs.top / roofs.levels[0].gbs] : []);
  const ys = points.map((one) => one.gops);
  const across = decades(xs, left, width - right);
  const up = decades(roofs ? ys.concat([roofs.top]) : ys, height - bottom, top);
  const viewBox = "0 0 " + width + " " + height;
  const root = s("svg", { viewBox, class: "plot", role: "img", "aria-label": "Roofline" });
  root.append(...axesOf(across, up));
  if (roofs) root.append(...slopes(roofs, across, up), ...ceilings(roofs, across, up));
  root.append(...rooflinePoints(model, select, points, across.of, up.of));
  const says = machine.text && h("p", { class: "caption" }, bdi(machine.text));
  return pane("roofline", "Roofline", h("div", { class: "figure" }, root, says));
}

/** A logarithmic axis from one place to another, over whole decades with room at both ends. */
function decades(values, begin, end) {
  const logs = values.map(Math.log10);
  const from = Math.floor(Math.min(...logs) - 0.15);
  const to = Math.ceil(Math.max(...logs) + 0.15);
  return { from, to, of: (value) => begin + ((Math.log10(value) - from) / (to - from)) * (end - begin) };
}

/** The name of a power of ten. */
function decade(e) {
  if (e >= 0 && e < 4) return String(10 ** e);
  return e < 0 && e > -4 ? (10 ** e).toFixed(-e) : "1e" + e;
}

/** Lines and names of both axes. */
function axesOf(across, up) {
  const { left, right, top, bottom, width, height } = PLOT;
  const all = [];
  for (let e = across.from; e <= across.to; e++) {
    const x = across.of(10 ** e);
    all.push(s("path", { class: "grid", d: `M${x} ${top}V${height - bottom}` }));
    all.push(s("text", { x, y: height - bottom + 14, class: "tick", "text-anchor": "middle" }, decade(e)));
  }
  for (let e = up.from; e <= up.to; e++) {
    const y = up.of(10 ** e);
    all.push(s("path", { class: "grid", d: `M${left} ${y}H${width - right}` }));
    all.push(s("text", { x: left - 6, y: y + 4, class: "tick", "text-anchor": "end" }, decade(e)));
  }
  const below = { x: (left + width - right) / 2, y: height - 4, class: "axis", "text-anchor": "middle" };
  const turned = `translate(11 ${(top + height - bottom) / 2}) rotate(-90)`;
  all.push(s("text", below, "operations per byte"));
  all.push(s("text", { class: "axis", "text-anchor": "middle", transform: turned }, "10\u2079 operations / s"));
  return all;
}

/** The roofs of a machine with the speed of its fastest operations; null where nothing is known. */
function roofsOf(machine) {
  const levels = (machine.levels || []).filter((one) => one.gbs > 0);
  const units = (machine.units || []).filter((one) => one.gops > 0).sort((a, b) => b.gops - a.gops);
  return levels.length && units.length ? { levels, units, top: units[0].gops } : null;
}

/** The distance below which the name of a line would lie on the line beside it. */
const APART = 11;

/** A line for what memory gives, and one for each cache, up to the fastest operations. */
function slopes({ levels, top }, across, up) {
  const all = [];
  let free = Infinity;
  for (const { name, gbs } of levels) {
    const low = Math.max(10 ** across.from, 10 ** up.from / gbs);
    const [x0, y0, x1, y1] = [across.of(low), up.of(low * gbs), across.of(top / gbs), up.of(top)];
    if (!(x1 > x0)) continue;
    const says = name + " " + digits(gbs) + " GB/s";
    const d = `M${x0} ${y0}L${x1} ${y1}`;
    all.push(s("path", { class: all.length ? "roof minor" : "roof", d }, s("title", {}, says)));
    const angle = Math.atan2(y1 - y0, x1 - x0);
    const away = (free - x1) * Math.sin(-angle);
    if (away < APART) continue;
    free = x1;
    const [x, y] = [x0 + 0.55 * (x1 - x0) + 5 * Math.sin(angle), y0 + 0.55 * (y1 - y0) - 5 * Math.cos(angle)];
    const transform = `translate(${x} ${y}) rotate(${(angle * 180) / Math.PI})`;
    all.push(s("text", { class: "roofname", "text-anchor": "middle", transform }, says));
  }
  return all;
}

/** A line for each kind of operation, from where memory is fast enough for it. */
function ceilings({ levels, units }, across, up) {
  const end = PLOT.width - PLOT.right;
  const all = [];
  let free = -Infinity;
  for (const { name, gops } of units) {
    const y = up.of(gops);
    const says = digits(gops) + " G/s " + name;
    const begin = Math.max(PLOT.left, across.of(gops / levels[0].gbs));
    const d = `M${begin} ${y}H${end}`;
    all.push(s("path", { class: all.length ? "roof minor" : "roof", d }, s("title", {}, says)));
    if (y - free < APART) continue;
    free = y;
    const place = { "text-anchor": "end", x: end, y: y - 4 };
    all.push(s("text", { class: "roofname", ...place }, "\u2068" + says + "\u2069"));
  }
  return all;
}

/** The points, with their names beside them; a name that finds no room is shown while its point is lit. */
function rooflinePoints(model, select, points, x, y) {
  const places = points.map((one) => [x(one.intensity), y(one.gops)]);
  const taken = places.map(([px, py]) => [px - 6, px + 6, py - 6, py + 6]);
  const isFree = (box) =>
    !taken.some((other) => box[0] < other[1] && box[1] > other[0] && box[2] < other[3] && box[3] > other[2]);
  return points.map((one, i) => {
    const of = itemOfName(model, one.func);
    const [px, py] = places[i];
    const long = [...one.func].length * 6.6 + 4;
    const spots = [
      [px + 9, py + 4, "start", 0],
      [px - 9, py + 4, "end", long],
      [px, py + 18, "middle", long / 2],
      [px, py - 10, "middle", long / 2],
    ].map(([tx, ty, anchor, back]) => ({ tx, ty, anchor, box: [tx - back, tx - back + long, ty - 10, ty + 3] }));
    const isIn = ({ box }) => box[0] > 40 && box[1] < PLOT.width - PLOT.right + 6;
    const spot = spots.find((spot) => isIn(spot) && isFree(spot.box));
    if (spot) taken.push(spot.box);
    const { tx, ty, anchor } = spot || spots.find(isIn) || spots[0];
    const says = [one.func + ": " + digits(one.intensity) + " operations per byte", digits(one.gops) + " G/s"];
    if (one.roof) says.push("nearest roof: " + one.roof);
    const name = s("text", { x: tx, y: ty, "text-anchor": anchor }, "\u2068" + one.func + "\u2069");
    const circle = s("circle", { cx: px, cy: py, r: 5 });
    return select.link(
      s("g", { class: spot ? "point" : "point far" }, s("title", {}, says.join(", ")), circle, name),
      of,
    );
  });
}
