/* The report with its indices: names, definitions and loops as numbers, so that nothing is searched for on a hover. */

const COLOURS = 10;
const NOWHERE = Object.freeze({ f: -1, d: -1, l: -1 });

/** Builds the indices of a report. An item is `{f, d, l}`: name, definition and loop, -1 for none. */
function indexed(data) {
  const list = (value) => (Array.isArray(value) ? value : []);
  const model = {
    data,
    defs: list(data.definitions),
    loops: list(data.loops),
    images: list(data.images),
    nest: list(data.nest),
    names: [],
    byName: new Map(),
    items: new Map(),
    defsOf: [],
    colours: [],
    rows: list(data.profile && data.profile.rows),
    counts: new Map(),
  };
  const add = (name, hue) => {
    const known = model.byName.get(name);
    if (known !== undefined) return known;
    model.byName.set(name, model.names.length);
    model.names.push(name);
    model.defsOf.push([]);
    model.colours.push(hue);
    return model.names.length - 1;
  };
  let hue = 0;
  model.defOf = model.defs.map((def, d) => {
    const isNew = !model.byName.has(def.func);
    const f = add(def.func, "var(--f" + (hue % COLOURS) + ")");
    if (isNew) hue++;
    model.defsOf[f].push(d);
    return f;
  });
  for (const image of model.images) add(image.name, "var(--image)");
  const graph = data.graph && list(data.graph.nodes);
  for (const node of graph || []) add(node.name, node.kind === "image" ? "var(--image)" : "var(--none)");
  model.loopOf = new Map(model.loops.map((loop, l) => [loop.name, l]));
  for (const row of list(data.profile && data.profile.counts)) model.counts.set(row.func, row);
  shares(model);
  return model;
}

/** Adds the share of the time of each definition, and of the rows of the nest with all that is inside of them. */
function shares(model) {
  model.share = model.defs.map(() => undefined);
  for (const row of model.rows) {
    const { d } = itemOfName(model, row.func, row.update || 0);
    if (d >= 0) model.share[d] = (model.share[d] || 0) + (row.share || 0);
  }
  model.shareOfName = model.names.map((_, f) => {
    const known = model.defsOf[f].map((d) => model.share[d]).filter(isNumber);
    return known.length ? known.reduce((a, b) => a + b, 0) : undefined;
  });
  const open = [];
  model.inside = new Array(model.nest.length);
  model.children = new Uint8Array(model.nest.length);
  for (let i = model.nest.length - 1; i >= 0; i--) {
    const [depth, , , d] = model.nest[i];
    let all = null;
    for (let deeper = depth + 1; deeper < open.length; deeper++) {
      if (!open[deeper]) continue;
      if (all) for (const other of open[deeper]) all.add(other);
      else all = open[deeper];
    }
    open.length = Math.min(open.length, depth + 1);
    model.children[i] = all ? 1 : 0;
    all = all || new Set();
    if (d >= 0) all.add(d);
    let sum;
    for (const other of all) if (isNumber(model.share[other])) sum = (sum || 0) + model.share[other];
    model.inside[i] = sum;
    if (open[depth]) for (const other of all) open[depth].add(other);
    else open[depth] = all;
  }
}

/** The item of a definition and a loop; the same one for the same numbers. */
function item(model, d, l = -1) {
  const key = d * 0x100000 + l;
  let known = model.items.get(key);
  if (!known) model.items.set(key, (known = newItem(model, d, l)));
  return known;
}

function newItem(model, d, l) {
  if (d >= 0 && d < model.defs.length) return { f: model.defOf[d], d, l };
  if (l >= 0 && l < model.loops.length) {
    const of = model.loops[l].definition;
    return isNumber(of) && of >= 0 ? { f: model.defOf[of], d: of, l } : { f: -1, d: -1, l };
  }
  return NOWHERE;
}

/** The item of a name: of one of its definitions where `update` says which. */
function itemOfName(model, name, update) {
  const f = name === undefined || name === null ? undefined : model.byName.get(name);
  if (f === undefined) return NOWHERE;
  if (!isNumber(update)) return { f, d: -1, l: -1 };
  const d = model.defsOf[f].find((d) => (model.defs[d].update || 0) === update);
  return { f, d: d === undefined ? -1 : d, l: -1 };
}

/** The item of a name and a loop, each of which may be missing. */
function itemOfNames(model, func, loop) {
  const l = loop ? model.loopOf.get(loop) : undefined;
  return l === undefined ? itemOfName(model, func) : item(model, -1, l);
}

function hueOf(model, f) {
  return f >= 0 ? model.colours[f] : "var(--none)";
}

/** `blur_x`, or `blur_x update 1`. */
function titleOf(model, { f, d }) {
  const update = d >= 0 ? model.defs[d].update : 0;
  return f < 0 ? "" : model.names[f] + (update ? " update " + update : "");
}

/** How much an item belongs to a selection: 2 wholly, 1 to its definition, 0 not at all. */
function belongs(of, to) {
  if (to.l >= 0 && of.l === to.l) return 2;
  if (to.d >= 0 && of.d >= 0) {
    if (of.d !== to.d) return 0;
    return to.l >= 0 && of.l >= 0 ? 1 : 2;
  }
  return to.f >= 0 && of.f === to.f ? 2 : 0;
}

const same = (a, b) => a.f === b.f && a.d === b.d && a.l === b.l;
