/* The graph of Funcs and images, laid out when the report was made. */

const ROOM = 14;
/** The height of the pieces that a graph is drawn in. */
const BAND = 1000;
/** The width of the widest pane of a graph; wider graphs are made smaller. */
const MOST_WIDTH = 330;

function graphPane(model, select) {
  const graph = model.data.graph;
  if (!graph || !(graph.nodes || []).length) return null;
  const width = graph.width + 2 * ROOM,
    height = graph.height + 2 * ROOM;
  const label = "Graph of " + graph.nodes.length + " Funcs and images";
  const root = h("div", { role: "img", "aria-label": label }, bandsOf(width, height));
  const bandAt = (y) => root.children[Math.max(0, Math.min(root.children.length - 1, Math.floor((y + ROOM) / BAND)))];
  bandAt(0).append(
    s(
      "defs",
      {},
      s(
        "marker",
        {
          id: "tip",
          viewBox: "0 0 8 8",
          refX: "7",
          refY: "4",
          markerWidth: "7",
          markerHeight: "7",
          orient: "auto-start-reverse",
        },
        s("path", { d: "M1 1 7 4 1 7", class: "tip" }),
      ),
    ),
  );
  for (const nest of graph.nests || []) bandAt(nest.y).append(nestOf(nest));
  const taken = new Map();
  const labels = [];
  for (const edge of graph.edges || []) {
    const { path, label } = edgeOf(model, select, graph, edge, taken);
    bandAt(edge.points[0][1]).append(path);
    if (label) labels.push([edge.points[0][1], label]);
  }
  for (const [y, label] of labels) bandAt(y).append(label);
  for (const node of graph.nodes) bandAt(node.y).append(nodeOf(model, select, node));
  const box = h("div", { class: "scroll graph" }, root);
  const zoom = zoomed(box, root, width, height, graph.nodes[0].x + graph.nodes[0].w / 2 + ROOM);
  const tools = [button("\u2212", "Smaller", () => zoom(0.8)), button("+", "Larger", () => zoom(1.25))];
  const made = pane("dag", "Graph", box, { note: legendOf(graph), tools: width > MOST_WIDTH ? tools : [] });
  made.style.setProperty("--wide", Math.round(Math.max(215, Math.min(MOST_WIDTH, width * 0.8))) + "px");
  select.onPin((one, origin) => {
    const node = origin !== made && one.f >= 0 && select.first(root, one);
    if (node) intoSight(box, node);
  });
  return made;
}

/** The bands of a graph, from top to bottom: a browser paints a band anew when something in it is lit, and no other. */
function bandsOf(width, height) {
  const bands = [];
  for (let y = 0; y < height; y += BAND) {
    bands.push(s("svg", { viewBox: [-ROOM, y - ROOM, width, Math.min(BAND, height - y)].join(" ") }));
  }
  return bands;
}

function legendOf(graph) {
  const words = [
    graph.nodes.some((node) => node.inline) && "dashed: inlined",
    (graph.nests || []).length > 0 && "boxes: loop nests",
  ];
  return words.filter(Boolean).join("; ");
}

/** The box of a loop nest, with the name of the Func whose loops it is. */
function nestOf({ name, x, y, w, h: tall }) {
  const box = s("rect", { class: "nest", x, y, width: w, height: tall, rx: 8 });
  const text = s("text", { class: "nestname", x: x + 8, y: y + 12 }, shortened("in " + (name || "?"), w + 10));
  return s("g", {}, s("title", {}, "computed in the loops of " + (name || "?")), box, text);
}

/** Fits the graph to the width of its pane, but not so that names cannot be read; returns what zooms. */
function zoomed(box, root, width, height, middle) {
  let scale = 0,
    isChosen = false;
  const set = (to) => {
    const x = scale > 0 ? (box.scrollLeft + box.clientWidth / 2) / scale : middle;
    const y = scale > 0 ? (box.scrollTop + box.clientHeight / 2) / scale : 0;
    scale = to;
    root.style.width = width * scale + "px";
    root.style.height = height * scale + "px";
    [...root.children].forEach((band, i) => {
      band.style.top = i * BAND * scale + "px";
      band.style.width = width * scale + "px";
      band.style.height = band.viewBox.baseVal.height * scale + "px";
    });
    box.scrollLeft = x * scale - box.clientWidth / 2;
    box.scrollTop = y * scale - box.clientHeight / 2;
  };
  new ResizeObserver(() => {
    if (!isChosen && box.clientWidth > 0) set(Math.max(0.7, Math.min(1, (box.clientWidth - 14) / width)));
  }).observe(box);
  return (by) => {
    isChosen = true;
    set(Math.max(0.15, Math.min(2, scale * by)));
  };
}

function nodeOf(model, select, node) {
  const f = model.byName.get(node.name);
  const isImage = node.kind === "image";
  const one = { f: f === undefined ? -1 : f, d: -1, l: -1 };
  const share = one.f >= 0 ? model.shareOfName[one.f] : undefined;
  const place = "translate(" + node.x + " " + node.y + ")";
  const cls = "node" + (node.inline ? " inline" : "") + (isImage ? " image" : "") + (node.output ? " output" : "");
  const below = isImage
    ? "image"
    : node.inline
      ? "inlined"
      : isNumber(share)
        ? percent(share)
        : node.output
          ? "output"
          : "";
  const text = s(
    "text",
    { x: 14, y: below ? node.h / 2 - 3 : node.h / 2 + 4, class: "name" },
    shortened(node.name, node.w),
  );
  const made = s(
    "g",
    { class: cls, transform: place, role: "listitem" },
    s("title", {}, node.name),
    s("rect", { width: node.w, height: node.h, rx: isImage ? node.h / 2 : 5 }),
    !isImage && s("path", { class: "edge", d: "M0 5a5 5 0 0 1 4-4.9V" + (node.h - 0.1) + "a5 5 0 0 1-4-4.9z" }),
    text,
    below && s("text", { x: 14, y: node.h / 2 + 12, class: "below" }, below),
    isNumber(share) &&
      s("rect", {
        class: "share",
        x: 4,
        y: node.h - 3,
        height: 3,
        rx: 0,
        width: Math.max(0, Math.min(1, share)) * (node.w - 4),
      }),
  );
  return select.link(made, one);
}

/** A name that fits into a node: isolated by the characters that do for SVG what `<bdi>` does for HTML. */
function shortened(name, width) {
  const most = Math.max(4, Math.floor((width - 20) / 7));
  const chars = [...name];
  return "\u2068" + (chars.length > most ? chars.slice(0, most - 1).join("") + "\u2026" : name) + "\u2069";
}

function edgeOf(model, select, graph, edge, taken) {
  const from = graph.nodes[edge.from];
  const path = s("path", {
    class: "flow" + (from.inline ? " inline" : ""),
    d: curve(edge.points),
    "marker-end": "url(#tip)",
  });
  const f = model.byName.get(from.name);
  const to = model.byName.get(graph.nodes[edge.to].name);
  const ends = [f, to].filter((f) => f !== undefined).map((f) => ({ f, d: -1, l: -1 }));
  const says = [
    isNumber(edge.bytes) && bytes(edge.bytes),
    isNumber(edge.times) && edge.times !== 1 && "\u00d7" + digits(edge.times).replace(/\.0+$/, ""),
  ]
    .filter(Boolean)
    .join("  ");
  const label = says ? select.link(labelOf(says, edge.points, taken), ...ends) : null;
  return { path: select.link(path, ...ends), label };
}

/** A smooth line through points, of which each end is reached from above. */
function curve(points) {
  let text = "M" + points[0].join(" ");
  for (let i = 1; i < points.length; i++) {
    const [x0, y0] = points[i - 1],
      [x1, y1] = points[i];
    const middle = (y0 + y1) / 2;
    text += "C" + [x0, middle, x1, middle, x1, y1].join(" ");
  }
  return text;
}

/**
 * A label in the middle of a piece of an edge, the last one first; where others have taken all places, it is shown
 * while the edge is lit. `taken` has the ends of labels by their height.
 */
function labelOf(says, points, taken) {
  const long = says.length * 6 + 6;
  let found = null;
  for (let i = points.length - 1; i > 0 && !found; i -= 2) {
    const x = (points[i - 1][0] + points[i][0]) / 2 + 5,
      y = Math.round((points[i - 1][1] + points[i][1]) / 2) + 4;
    const others = taken.get(y) || [];
    if (others.some(([from, to]) => x < to && x + long > from)) continue;
    taken.set(y, [...others, [x, x + long]]);
    found = [x, y];
  }
  const [a, b] = points.slice(-2);
  const [x, y] = found || [(a[0] + b[0]) / 2 + 5, (a[1] + b[1]) / 2 + 4];
  return s("text", { x, y, class: found ? "says" : "says far" }, says);
}

/** Scrolls a box so that an element in it is in sight; the page stays. */
function intoSight(box, node) {
  const inner = node.getBoundingClientRect(),
    outer = box.getBoundingClientRect();
  if (inner.top < outer.top + 4 || inner.bottom > outer.bottom - 4) {
    box.scrollTop += inner.top - outer.top - outer.height / 3;
  }
  if (inner.left < outer.left || inner.right > outer.right) {
    box.scrollLeft += inner.left - outer.left - outer.width / 3;
  }
}
