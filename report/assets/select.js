/* What is hovered and what is pinned. Elements are found by the name that they belong to, lists and canvases ask. */

/** Makes the selection of a report: panes `link` their elements to it, or `watch` it. */
function selection(model) {
  const byName = model.names.map(() => []);
  const items = new WeakMap();
  const watchers = [];
  const pinWatchers = [];
  let lit = new Map();
  // `touched` counts the elements whose classes change, for tests.
  const self = { hovered: NOWHERE, pinned: NOWHERE, touched: 0 };

  /** Links an element to items; hovering and clicking it selects the first. */
  self.link = (node, ...all) => {
    const known = all.filter((one) => one.f >= 0 || one.l >= 0);
    if (!known.length) return node;
    node.dataset.link = "";
    items.set(node, known);
    for (const f of new Set(known.map((one) => one.f))) if (f >= 0) byName[f].push(node);
    node.style.setProperty("--c", hueOf(model, known[0].f));
    return node;
  };
  /** Gives an element of a list its item; the list lights it itself. */
  self.tag = (node, one) => {
    node.dataset.link = "";
    items.set(node, [one]);
  };
  self.itemsOf = (node) => items.get(node);
  self.watch = (call) => watchers.push(call);
  self.onPin = (call) => pinWatchers.push(call);
  self.now = () => (self.hovered === NOWHERE ? self.pinned : self.hovered);

  self.hover = (one) => {
    if (same(one, self.hovered)) return;
    self.hovered = one.f < 0 && one.l < 0 ? NOWHERE : one;
    lightSoon();
  };
  self.pin = (one, origin) => {
    self.pinned = one.f < 0 && one.l < 0 ? NOWHERE : one;
    light();
    for (const call of pinWatchers) call(self.pinned, origin);
  };

  /** Changes the elements that are to look otherwise than they do, and no others: each costs the browser a look at its
      style. */
  function light() {
    const now = self.now();
    const next = new Map();
    for (const node of byName[now.f] || []) {
      let most = 0;
      for (const one of items.get(node)) most = Math.max(most, belongs(one, now));
      if (most > 0) next.set(node, most);
    }
    for (const node of lit.keys()) if (!next.has(node)) change(node, 0);
    for (const [node, level] of next) if (lit.get(node) !== level) change(node, level);
    lit = next;
    for (const call of watchers) call(now);
  }
  // Several moves of the pointer between two pictures are one.
  const lightSoon = soon(light);

  function change(node, level) {
    node.classList.toggle("lit", level === 2);
    node.classList.toggle("near", level === 1);
    self.touched++;
  }

  /** The first element of a box that belongs to a selection wholly, else in part. */
  self.first = (box, one) => {
    const inside = (byName[one.f] || []).filter((node) => box.contains(node));
    const at = (level) => inside.find((node) => items.get(node).some((of) => belongs(of, one) >= level));
    return at(2) || at(1);
  };
  return self;
}

/** The selection as the end of an address: `#f=blur_x&u=1&l=blur_y.yo`. */
function addressOf(model, one) {
  const parts = [];
  if (one.f >= 0) parts.push("f=" + encodeURIComponent(model.names[one.f]));
  if (one.d >= 0) parts.push("u=" + (model.defs[one.d].update || 0));
  if (one.l >= 0) parts.push("l=" + encodeURIComponent(model.loops[one.l].name));
  return parts.length ? "#" + parts.join("&") : "";
}

function itemOfAddress(model, text) {
  const parts = new URLSearchParams(text.replace(/^#/, ""));
  const update = parts.get("u");
  const loop = parts.get("l");
  const of = itemOfName(model, parts.get("f"), update === null ? undefined : Number(update));
  const l = loop === null ? undefined : model.loopOf.get(loop);
  if (l === undefined) return of;
  const known = item(model, -1, l);
  return known.f === of.f || of.f < 0 ? known : { ...of, l };
}

/** Listens to the whole page once: pointers over linked elements, clicks on them, and the address. */
function listen(model, select) {
  const linked = (event) => {
    const node = event.target instanceof Element ? event.target.closest("[data-link]") : null;
    return node && select.itemsOf(node) ? node : null;
  };
  const over = (event) => {
    const node = linked(event);
    const begun = performance.now();
    const before = select.hovered;
    const touched = select.touched;
    select.hover(node ? select.itemsOf(node)[0] : NOWHERE);
    if (select.hovered !== before) timeHover(event.timeStamp || begun, () => select.touched - touched);
  };
  const click = (event) => {
    const node = linked(event);
    if (!node || event.target.closest("button, input, select, a, summary")) return;
    if (String(getSelection()).length) return;
    const one = select.itemsOf(node)[0];
    select.pin(same(one, select.pinned) ? NOWHERE : one, node.closest(".pane"));
  };
  const leave = () => select.hover(NOWHERE);
  const address = () => {
    const one = itemOfAddress(model, location.hash);
    if (!same(one, select.pinned)) select.pin(one, null);
  };
  document.addEventListener("pointerover", over);
  document.addEventListener("click", click);
  document.documentElement.addEventListener("pointerleave", leave);
  addEventListener("hashchange", address);
  select.onPin((one) => {
    const end = addressOf(model, one);
    if (end !== location.hash) history.replaceState(null, "", end || location.pathname + location.search);
  });
  return () => {
    document.removeEventListener("pointerover", over);
    document.removeEventListener("click", click);
    document.documentElement.removeEventListener("pointerleave", leave);
    removeEventListener("hashchange", address);
  };
}

/** Hovers so far: the milliseconds of the last and of the longest one, from a pointer's move to the picture after it,
    and the elements that the last one changed. For tests and the curious; an attribute would cost one more picture. */
const hovers = { count: 0, last: 0, most: 0, touched: 0 };

function timeHover(begun, touched) {
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      hovers.last = performance.now() - begun;
      hovers.most = Math.max(hovers.most, hovers.last);
      hovers.touched = touched();
      hovers.count++;
    };
    channel.port2.postMessage(0);
  });
}
