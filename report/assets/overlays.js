/* Ways to colour the canvases of the evaluation order: by how fresh points are, how often they are computed or read,
   how far apart two uses of one are, and by the tasks that touch them. */

const FRESH = "fresh";

/** The ways that there are data for. */
function overlaysOf(order) {
  const hasReuse = order.canvases.some((canvas) => typeof canvas.reuse === "string");
  return [FRESH, "computed", "read", hasReuse && "reuse", (order.tasks || 0) > 1 && "tasks"].filter(Boolean);
}

/** The most that any point reaches, for the ends of scales; asked of a player at the end of the run. */
function mostOf(player) {
  const most = { computed: 1, read: 1, reuse: 1 };
  for (const { times, reads, reuse } of player.states) {
    for (const value of times) if (value > most.computed) most.computed = value;
    for (const value of reads) if (value > most.read) most.read = value;
    for (const value of reuse || []) if (value > most.reuse) most.reuse = value;
  }
  return most;
}

/** The classes of reuse distances: -1 for points that are used once or never. */
function classesOf(text) {
  return typeof text === "string" ? Int8Array.from(text, (c) => (c === "." ? -1 : c.charCodeAt(0) - 97)) : null;
}

/** The colour of a point by the overlay; `null` leaves it to the freshness. */
function overlaid(state, i, { overlay, most }, palette) {
  if (overlay === FRESH) return null;
  const isTouched = state.stored[i] > 0 || state.loaded[i] > 0;
  if (!isTouched) return palette.paper;
  if (overlay === "tasks") return state.task[i] > 0 ? hueOfTask(state.task[i], palette) : palette.image;
  const of = { computed: state.times, read: state.reads, reuse: state.reuse }[overlay];
  const least = overlay === "reuse" ? 0 : 1;
  const value = of ? of[i] : -1;
  if (value < least) return palette.image;
  return mixed(palette.low, palette.high, (value - least) / Math.max(1, most[overlay] - least));
}

/** A colour for each task: neighbours are far apart on the wheel, by the golden angle. */
function hueOfTask(task, { isDark, tasks }) {
  let known = tasks.get(task);
  if (!known) {
    const hue = (task * 137.508) % 360;
    const light = isDark ? 0.6 : 0.52;
    const of = (n) => {
      const k = (n + hue / 30) % 12;
      return 255 * (light - 0.55 * Math.min(light, 1 - light) * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
    };
    tasks.set(task, (known = [of(0), of(8), of(4)]));
  }
  return known;
}

/** What colours mean, below the canvases. */
function overlayLegend(order, player) {
  const { overlay, most } = player;
  const scale = (low, high) => [
    h("span", {}, low),
    h("i", { class: "scale" }),
    h("span", {}, high),
    h("span", {}, h("i", { class: "swatch image" }), overlay === "reuse" ? "used once" : "not " + overlay),
  ];
  if (overlay === "computed" || overlay === "read") return scale(overlay + " once", "\u00d7" + count(most[overlay]));
  if (overlay === "reuse") {
    const { half, most: far } = order.reuse || {};
    const words = isNumber(half) && [
      "half of all uses find at most " + count(half) + " other points touched since the one before, all at most ",
      count(far),
    ];
    return [...scale("0 points between two uses", "2" + superscript(most.reuse)), words && h("span", {}, words)];
  }
  if (overlay === "tasks") {
    return [h("span", {}, "a colour for each of " + count(order.tasks) + " tasks, which may run at the same time")];
  }
  return [
    ["fresh", "stored now"],
    ["kept", "stored"],
    ["again", "computed again"],
    ["load", "loaded now"],
    ["freed", "freed"],
  ].map(([cls, text]) => h("span", {}, h("i", { class: "swatch " + cls }), text));
}

function superscript(number) {
  const raised = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
  return [...String(number)].map((digit) => raised[digit]).join("");
}
