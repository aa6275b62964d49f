/* The frame: panes with titles, the bar at the top, choices, and the keys. */

/** Makes a pane. `tools` stand right of its title; `focus` takes the keyboard where the pane is a list. */
function pane(id, title, body, { tools = [], note, wide, focus } = {}) {
  const head = h(
    "header",
    {},
    h("h2", { id: id + "-title" }, title),
    note && h("span", { class: "note" }, note),
    h("span", { class: "tools" }, tools),
  );
  const node = h(
    "section",
    {
      class: "pane" + (wide ? " wide" : ""),
      id,
      role: "region",
      "aria-labelledby": id + "-title",
      tabindex: focus ? "-1" : "0",
    },
    head,
    body,
  );
  node.focusIn = () => (focus || node).focus({ preventScroll: true });
  return node;
}

/** Buttons of which one is pressed. */
function choice(label, names, chosen, call) {
  const buttons = names.map((name, i) =>
    h(
      "button",
      {
        type: "button",
        "aria-pressed": String(i === chosen),
        onclick: () => {
          buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === i)));
          call(i);
        },
      },
      bdi(name),
    ),
  );
  return h("span", { class: "choice", role: "group", "aria-label": label }, buttons);
}

function button(text, label, call, props) {
  return h("button", { type: "button", "aria-label": label, title: label, onclick: call, ...props }, text);
}

function swatch(hue) {
  return h("i", { class: "swatch", style: { "--c": hue } });
}

/** A name with its colour, linked to all that belongs to it. */
function chip(model, select, one, text) {
  return select.link(
    h("span", { class: "chip" }, swatch(hueOf(model, one.f)), bdi(text || titleOf(model, one))),
    one,
  );
}

/** A bar of a share. */
function bar(share, hue) {
  const width = Math.max(0, Math.min(1, share || 0)) * 100;
  return h("span", { class: "bar", "aria-hidden": "true" }, h("i", { style: { width: width + "%", "--c": hue } }));
}

/** The bar at the top: the title, the choice between two reports, and what is selected. */
function topBar(model, select, reports, at, switchTo) {
  const about = h("p", { id: "selected", role: "status", "aria-live": "polite" });
  const tell = () => {
    const now = select.now();
    about.replaceChildren(...sentence(model, select, now));
    about.classList.toggle("pinned", select.pinned !== NOWHERE && same(now, select.pinned));
  };
  select.watch(tell);
  tell();
  const names = reports.map((report, i) => (i === 0 ? "A " : "B ") + (report.title || "report"));
  const title = reports.length > 1 ? choice("Report", names, at, switchTo) : null;
  return h(
    "div",
    { id: "top" },
    h("h1", {}, bdi(model.data.title || "report")),
    title,
    about,
    button("?", "Keys", showKeys, { id: "help" }),
  );
}

/** A selection in words. */
function sentence(model, select, now) {
  if (now === NOWHERE)
    return [h("span", { class: "hint" }, "Point at anything to see what belongs to it; click to pin")];
  const parts = [];
  if (now.f >= 0) parts.push(h("strong", {}, swatch(hueOf(model, now.f)), bdi(titleOf(model, now))));
  if (now.l >= 0) {
    const loop = model.loops[now.l];
    parts.push(
      h(
        "span",
        {},
        (loop.kind === "serial" ? "for" : loop.kind) + " ",
        bdi(loop.name, "mono"),
        isNumber(loop.extent) ? " of " + count(loop.extent) : "",
      ),
    );
  }
  const share = now.d >= 0 ? model.share[now.d] : now.f >= 0 ? model.shareOfName[now.f] : undefined;
  if (isNumber(share)) parts.push(h("span", {}, percent(share) + " of the time"));
  const d = now.d >= 0 ? now.d : now.f >= 0 ? model.defsOf[now.f][0] : undefined;
  const def = d === undefined ? null : model.defs[d];
  if (def)
    parts.push(h("span", { class: "more" }, computed(def)), def.type && h("span", { class: "more mono" }, def.type));
  if (same(now, select.pinned)) {
    parts.push(button("\u2715", "Unpin (Escape)", () => select.pin(NOWHERE, null), { class: "close" }));
  }
  return parts.filter(Boolean);
}

/** The place at which a definition is computed, in words. */
function computed(def) {
  if (def.compute === "inline") return "inlined";
  return (
    (def.compute ? "computed " + def.compute : "computed") +
    (def.store && def.store !== def.compute ? ", stored " + def.store : "")
  );
}

/** Facts and a fault, below the bar. */
function headOf(model) {
  const { data } = model;
  const facts = (data.facts || []).map(([name, value]) =>
    h("div", {}, h("dt", {}, bdi(name)), h("dd", {}, bdi(value))),
  );
  return h(
    "div",
    { id: "head" },
    data.fault &&
      h(
        "div",
        { id: "fault", role: "alert" },
        h("strong", {}, "The run ended with an error"),
        h("pre", {}, visible(data.fault)),
      ),
    facts.length > 0 && h("dl", { id: "facts" }, facts),
  );
}

const KEYS = [
  ["[ ]", "previous and next pane"],
  ["1 \u2026 9", "the pane of that number"],
  ["\u2191 \u2193", "move in loops and code"],
  ["\u2190 \u2192", "fold and unfold loops"],
  ["Page, Home, End", "move far"],
  ["Enter", "pin what the cursor is on"],
  ["Escape", "unpin"],
  ["/", "find in the code"],
  ["Space", "play the evaluation order"],
  [", .", "one step back and on"],
  ["?", "these keys"],
];

function showKeys() {
  const known = document.getElementById("keys");
  if (known) return known.open ? known.close() : known.showModal();
  const rows = KEYS.map(([key, text]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)));
  const dialog = h(
    "dialog",
    { id: "keys", "aria-label": "Keys" },
    h("h2", {}, "Keys"),
    h("dl", {}, rows),
    h("form", { method: "dialog" }, h("button", {}, "Close")),
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}

/** The keys of the whole page. */
function keys(select, panes, player) {
  const go = (to) => {
    const next = panes[(to + panes.length) % panes.length];
    if (!next) return;
    next.scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
    next.focusIn();
  };
  const here = () => panes.findIndex((one) => one.contains(document.activeElement));
  const press = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const dialog = document.getElementById("keys");
    if (dialog && dialog.open) {
      if (event.key !== "Escape" && event.key !== "?") return;
      event.preventDefault();
      return dialog.close();
    }
    const isTyping = event.target.matches("input, select, textarea");
    if (event.key === "Escape") {
      if (isTyping) event.target.blur();
      select.hover(NOWHERE);
      return select.pin(NOWHERE, null);
    }
    if (isTyping) return;
    if (event.key === "?") showKeys();
    else if (event.key === "]") go(here() + 1);
    else if (event.key === "[") go(here() < 0 ? -1 : here() - 1);
    else if (event.key >= "1" && event.key <= "9") go(Math.min(Number(event.key), panes.length) - 1);
    else if (event.key === "/" && document.getElementById("find")) document.getElementById("find").focus();
    else if (player && event.key === " " && !event.target.matches("button, summary")) player.toggle();
    else if (player && event.key === ".") player.step(1);
    else if (player && event.key === ",") player.step(-1);
    else return;
    event.preventDefault();
  };
  document.addEventListener("keydown", press);
  return () => document.removeEventListener("keydown", press);
}
