/* The state of each canvas of the evaluation order at a moment, and what a span changes of it. */

/** For each point of a canvas: when it was stored, loaded and freed last (0: never), and how often it was stored. */
function emptyState({ name, kind, min, extent, reuse }) {
  const [w, hgt] = [Math.max(0, extent[0] || 0), Math.max(0, extent.length > 1 ? extent[1] : 1)];
  const size = w * hgt;
  return {
    name,
    isImage: kind === "image",
    x0: min[0] || 0,
    y0: min.length > 1 ? min[1] : 0,
    w,
    h: hgt,
    freed: 0,
    gone: new Float64Array(size),
    stored: new Float64Array(size),
    loaded: new Float64Array(size),
    times: new Uint16Array(size),
    reads: new Uint32Array(size),
    task: new Uint32Array(size),
    reuse: classesOf(reuse),
    stores: 0,
    loads: 0,
    again: 0,
  };
}

function clear(state) {
  state.stored.fill(0);
  state.loaded.fill(0);
  state.gone.fill(0);
  state.times.fill(0);
  state.reads.fill(0);
  state.task.fill(0);
  state.freed = state.stores = state.loads = state.again = 0;
}

/** Plays the points `from..to` of a span that began at `time`. One that frees no points frees the whole canvas. */
function apply(state, kind, x, y, from, to, time, task) {
  if (kind === FREE && !(to > from)) {
    state.freed = time + 1;
    return;
  }
  const row = (y - state.y0) * state.w,
    first = x - state.x0;
  const isIn = y >= state.y0 && y < state.y0 + state.h;
  for (let i = from; i < to; i++) {
    const at = first + i;
    if (!isIn || at < 0 || at >= state.w) continue;
    if (kind === FREE) {
      state.gone[row + at] = time + i + 1;
      continue;
    }
    state.task[row + at] = task || 0;
    if (kind === LOAD) {
      state.loaded[row + at] = time + i + 1;
      state.reads[row + at]++;
      continue;
    }
    state.stored[row + at] = time + i + 1;
    state.times[row + at] = kind === AGAIN ? Math.max(2, state.times[row + at] + 1) : 1;
  }
  if (kind === LOAD) state.loads += to - from;
  else if (kind !== FREE) state.stores += to - from;
  if (kind === AGAIN) state.again += to - from;
}
