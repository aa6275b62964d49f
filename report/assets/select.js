/* What is hovered and what is pinned. Elements are found by the name that they belong to, lists and canvases ask. */

/** Makes the selection of a report: panes `link` their elements to it, or `watch` it. */
function selection(model) {
  const byName = model.names.map(() => []);
  const items = new WeakMap();
  const watchers = [];
  const pinWatchers = [];
  let lit = [];
  const self = { hovered: NOWHERE, pinned: NOWHERE };

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
    light();
  };
  self.pin = (one, origin) => {
    self.pinned = one.f < 0 && one.l < 0 ? NOWHERE : one;
    light();
    for (const call of pinWatchers) call(self.pinned, origin);
  };

  function light() {
    const now = self.now();
    for (const node of lit) node.classList.remove("lit", "near");
    lit = [];
    for (const node of byName[now.f] || []) {
      const most = Math.max(...items.get(node).map((one) => belongs(one, now)));
      if (most === 0) continue;
      node.classList.add(most === 2 ? "lit" : "near");
      lit.push(node);
    }
    for (const call of watchers) call(now);
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
    select.hover(node ? select.itemsOf(node)[0] : NOWHERE);
    if (select.hovered !== before) timeHover(event.timeStamp || begun);
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

/** Keeps the longest time from a pointer's move to the picture after it, for tests and the curious. */
function timeHover(begun) {
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      const root = document.documentElement;
      const took = performance.now() - begun;
      root.dataset.hover = took.toFixed(1);
      root.dataset.hoverMost = Math.max(took, Number(root.dataset.hoverMost || 0)).toFixed(1);
      root.dataset.hovers = Number(root.dataset.hovers || 0) + 1;
    };
    channel.port2.postMessage(0);
  });
}
