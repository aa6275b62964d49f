/* The canvases of the evaluation order: a cell for each point. */

/** A canvas with its name and counts. */
function canvasOf(model, select, player, state) {
  const one = itemOfName(model, state.name);
  const hue = state.isImage || one.f < 0 ? "--image" : model.colours[one.f].slice(4, -1);
  const cell = Math.max(
    1,
    Math.min(12, Math.floor(340 / Math.max(1, state.w)), Math.floor(260 / Math.max(1, state.h))),
  );
  const gap = cell >= 5 ? 1 : 0;
  const scale = window.devicePixelRatio > 1 ? 2 : 1;
  const canvas = h("canvas", {
    width: Math.max(1, state.w * cell * scale),
    height: Math.max(1, state.h * cell * scale),
    role: "img",
    "aria-label": "Points of " + state.name,
    style: { width: state.w * cell + "px", height: state.h * cell + "px" },
  });
  const context = canvas.getContext("2d");
  const counts = h("span", { class: "counts" });
  let palette = null;
  onScheme(() => {
    palette = null;
    draw();
  });
  const draw = () => {
    palette = palette || paletteOf(hue);
    paintCells(context, state, player, palette, cell * scale, gap * scale);
    const needed = state.stores - state.again;
    counts.textContent = state.isImage
      ? count(state.loads) + " loads"
      : count(state.stores) +
        " stores" +
        (state.again > 0 && needed > 0 ? ", \u00d7" + (state.stores / needed).toFixed(2) : "");
  };
  const size = state.w + " \u00d7 " + state.h;
  const node = select.link(
    h(
      "figure",
      {},
      h("figcaption", {}, chip(model, select, one, state.name), h("span", { class: "size" }, size), counts),
      canvas,
    ),
    one,
  );
  return { node, draw };
}

/** The colours of cells: numbers, so that mixing them is cheap. */
function paletteOf(hue) {
  const of = (name) => {
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = colour(name);
    const text = probe.fillStyle;
    return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  };
  const paper = of("--cell"),
    base = of(hue);
  const again = of("--again");
  return {
    paper,
    image: mixed(paper, base, 0.35),
    kept: mixed(paper, base, 0.55),
    fresh: mixed(base, of("--glow"), 0.65),
    again,
    keptAgain: mixed(paper, again, 0.7),
    load: of("--load"),
    freed: of("--freed"),
    low: mixed(paper, of("--accent"), 0.25),
    high: mixed(of("--accent"), again, 0.75),
    tasks: new Map(),
    isDark: paper[0] < 128,
  };
}

function mixed(a, b, share) {
  return a.map((value, i) => value + (b[i] - value) * share);
}

/** Paints the cells through one small picture of a pixel each, which is then drawn larger; gaps are wiped out of it. */
function paintCells(context, state, player, palette, cell, gap) {
  if (state.w === 0 || state.h === 0) return;
  state.picture = state.picture || new ImageData(state.w, state.h);
  const { data } = state.picture;
  for (let i = 0; i < state.stored.length; i++) {
    const shade = shadeOf(state, i, player, palette);
    [data[i * 4], data[i * 4 + 1], data[i * 4 + 2], data[i * 4 + 3]] = [shade[0], shade[1], shade[2], 255];
  }
  if (!state.small) state.small = h("canvas", { width: state.w, height: state.h });
  state.small.getContext("2d").putImageData(state.picture, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(state.small, 0, 0, state.w * cell, state.h * cell);
  if (gap === 0) return;
  for (let x = 1; x <= state.w; x++) context.clearRect(x * cell - gap, 0, gap, state.h * cell);
  for (let y = 1; y <= state.h; y++) context.clearRect(0, y * cell - gap, state.w * cell, gap);
}

/** The colour of a point: how long ago it was stored and loaded, how often, and if its memory is freed. */
function shadeOf(state, i, player, palette) {
  const { at, total } = player;
  const other = overlaid(state, i, player, palette);
  if (other) return other;
  const glow = Math.max(24, Math.min(total / 40, 3000));
  const isAgain = state.times[i] > 1;
  let shade = palette.paper;
  if (state.isImage) shade = palette.image;
  else if (state.stored[i] > 0) {
    const age = (at - state.stored[i]) / glow;
    const kept = isAgain ? palette.keptAgain : palette.kept;
    if (Math.max(state.freed, state.gone[i]) > state.stored[i]) shade = palette.freed;
    else shade = age >= 1 ? kept : mixed(isAgain ? palette.again : palette.fresh, kept, Math.max(0, age));
  }
  const age = state.loaded[i] > 0 ? (at - state.loaded[i]) / (glow * 0.7) : 1;
  return age < 1 ? mixed(palette.load, shade, Math.max(0, age)) : shade;
}
