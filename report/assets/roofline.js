/* The roofline. */

function rooflinePane(model, select) {
  const points = (model.data.roofline || []).filter((one) => one.intensity > 0 && one.gops > 0);
  const machine = model.data.machine || {};
  if (!points.length) return null;
  const hasRoofs = machine.gflops > 0 && machine.memory_gbs > 0;
  const width = 460,
    height = 270,
    left = 46,
    right = 12,
    top = 12,
    bottom = 36;
  const xs = points.map((one) => one.intensity),
    ys = points.map((one) => one.gops);
  const ridge = hasRoofs ? machine.gflops / machine.memory_gbs : xs[0];
  const power = (value, round) => round(Math.log10(value) + (round === Math.floor ? -0.15 : 0.15));
  const x0 = power(Math.min(...xs, ridge), Math.floor),
    x1 = power(Math.max(...xs, ridge), Math.ceil);
  const y0 = power(Math.min(...ys), Math.floor),
    y1 = power(Math.max(...ys, hasRoofs ? machine.gflops : 0), Math.ceil);
  const x = (value) => left + ((Math.log10(value) - x0) / (x1 - x0)) * (width - left - right);
  const y = (value) => height - bottom - ((Math.log10(value) - y0) / (y1 - y0)) * (height - top - bottom);
  const root = s("svg", {
    viewBox: "0 0 " + width + " " + height,
    class: "plot",
    role: "img",
    "aria-label": "Roofline",
  });
  const tick = (e) => (e >= 0 && e < 4 ? String(10 ** e) : e < 0 && e > -4 ? (10 ** e).toFixed(-e) : "1e" + e);
  for (let e = x0; e <= x1; e++) {
    root.append(
      s("path", { class: "grid", d: "M" + x(10 ** e) + " " + top + "V" + (height - bottom) }),
      s("text", { x: x(10 ** e), y: height - bottom + 14, class: "tick", "text-anchor": "middle" }, tick(e)),
    );
  }
  for (let e = y0; e <= y1; e++) {
    root.append(
      s("path", { class: "grid", d: "M" + left + " " + y(10 ** e) + "H" + (width - right) }),
      s("text", { x: left - 6, y: y(10 ** e) + 4, class: "tick", "text-anchor": "end" }, tick(e)),
    );
  }
  root.append(
    s(
      "text",
      { x: (left + width - right) / 2, y: height - 4, class: "axis", "text-anchor": "middle" },
      "operations per byte",
    ),
    s(
      "text",
      {
        class: "axis",
        "text-anchor": "middle",
        transform: "translate(11 " + (top + height - bottom) / 2 + ") rotate(-90)",
      },
      "10\u2079 operations / s",
    ),
  );
  if (hasRoofs) {
    const low = Math.max(10 ** x0, 10 ** y0 / machine.memory_gbs);
    root.append(
      s("path", {
        class: "roof",
        d:
          "M" +
          x(low) +
          " " +
          y(low * machine.memory_gbs) +
          "L" +
          x(ridge) +
          " " +
          y(machine.gflops) +
          "H" +
          (width - right),
      }),
    );
    const at = Math.sqrt(low * ridge),
      slope = Math.atan2(y(low * machine.memory_gbs) - y(machine.gflops), x(ridge) - x(low));
    root.append(
      s(
        "text",
        {
          class: "roofname",
          "text-anchor": "middle",
          transform:
            "translate(" +
            (x(at) - 5) +
            " " +
            (y(at * machine.memory_gbs) - 5) +
            ") rotate(" +
            (-slope * 180) / Math.PI +
            ")",
        },
        digits(machine.memory_gbs) + " GB/s",
      ),
      s(
        "text",
        { class: "roofname", "text-anchor": "end", x: width - right, y: y(machine.gflops) - 5 },
        digits(machine.gflops) + " Gop/s",
      ),
    );
  }
  root.append(...rooflinePoints(model, select, points, x, y, width, right));
  const says = machine.text && h("p", { class: "caption" }, bdi(machine.text));
  return pane("roofline", "Roofline", h("div", { class: "figure" }, root, says));
}

/** The points, with their names beside them; a name that finds no room is shown while its point is lit. */
function rooflinePoints(model, select, points, x, y, width, right) {
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
    const isIn = ({ box }) => box[0] > 40 && box[1] < width - right + 6;
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
