/* The loop nest as a tree that folds, and the code. */

const ROW = 21;
const CODE_ROW = 18;

/** The words of a row: what it does, and the rest of its text. */
function wordsOf(model, [, kind, text, , l]) {
  const loop = l >= 0 ? model.loops[l] : null;
  let word = loop ? (loop.kind === "serial" ? "for" : loop.kind) : kind;
  if (kind !== "loop" && kind !== "compute" && kind !== "store" && kind !== "if") word = kind;
  let rest = text;
  for (const known of [word, kind, "for", "produce", "let"]) {
    if (rest.startsWith(known + " ")) {
      if (known !== word && known !== "for") word = known;
      rest = rest.slice(known.length + 1);
      break;
    }
  }
  if (rest.startsWith("for ")) rest = rest.slice(4);
  return [word, rest];
}

function nestPane(model, select, player) {
  if (!model.nest.length) return null;
  const total = model.nest.length;
  const folded = new Uint8Array(total);
  const isTimed = model.rows.length > 0;
  let shown = [];
  const update = () => {
    shown = [];
    for (let i = 0; i < total; i++) {
      shown.push(i);
      if (!folded[i]) continue;
      const depth = model.nest[i][0];
      while (i + 1 < total && model.nest[i + 1][0] > depth) i++;
    }
  };
  update();
  const itemAt = (at) => item(model, model.nest[shown[at]][3], model.nest[shown[at]][4]);
  const fold = (at, how) => {
    const i = shown[at];
    if (!model.children[i] || Boolean(folded[i]) === how) return false;
    folded[i] = how ? 1 : 0;
    update();
    list.reset();
    return true;
  };
  const list = longList(model, select, {
    label: "Loop nest", count: () => shown.length, height: ROW, item: itemAt,
    isCurrent: (at) => Boolean(player && player.loop() >= 0 && model.nest[shown[at]][4] === player.loop()),
    row: (at, node) => nestRow(model, node, shown[at], folded[shown[at]], isTimed, () => fold(at, !folded[shown[at]])),
    key: (event, at) => {
      if (at < 0) return false;
      if (event.key === "ArrowRight") return fold(at, false) || (list.move(at + 1), true);
      if (event.key !== "ArrowLeft") return false;
      if (fold(at, true)) return true;
      const depth = model.nest[shown[at]][0];
      let up = at - 1;
      while (up > 0 && model.nest[shown[up]][0] >= depth) up--;
      list.move(Math.max(up, 0));
      return true;
    },
  });
  if (player) player.onLoop(list.repaint);
  const made = pane("loops", "Loops", list.box, { note: isTimed ? "time with all that is inside" : count(total) + " rows",
    focus: list.box });
  select.onPin((one, origin) => {
    if (origin === made || one === NOWHERE) return;
    const find = (level) => shown.findIndex((_, at) => belongs(itemAt(at), one) >= level);
    const at = find(2) >= 0 ? find(2) : find(1);
    if (at >= 0) list.show(at);
  });
  list.reset();
  return made;
}

function nestRow(model, node, i, isFolded, isTimed, fold) {
  const [depth, kind, , d, l] = model.nest[i];
  const [word, rest] = wordsOf(model, model.nest[i]);
  const share = model.inside[i];
  node.setAttribute("aria-level", depth + 1);
  node.dataset.depth = depth;
  node.style.setProperty("--depth", Math.min(depth, 24));
  if (model.children[i]) {
    node.append(h("button", { type: "button", class: "fold", tabindex: "-1", "aria-label": isFolded ? "Unfold" : "Fold",
      onclick: fold }, isFolded ? "\u25b8" : "\u25be"));
  } else node.append(h("span", { class: "fold" }));
  const loop = l >= 0 ? model.loops[l] : null;
  const mark = loop && loop.kind !== "serial" ? " special" : kind === "loop" ? "" : " " + kind;
  const says = visible(word + " " + rest);
  node.append(h("span", { class: "words", title: says }, h("b", { class: "word" + mark }, word), " ",
    h("span", {}, visible(rest))));
  if (!isTimed) return;
  const isKnown = isNumber(share);
  const isSame = i > 0 && model.inside[i - 1] === share && model.nest[i - 1][0] < depth;
  node.append(h("span", { class: "time" + (isSame ? " again" : "") }, isKnown ? percent(share) : "",
    isKnown && bar(share, hueOf(model, d >= 0 ? model.defOf[d] : -1))));
}

/** Kinds of instructions that are shown beside their line. */
const ODD = { spill: "spill", call: "call", check: "check" };

/** A unit of code with the definition, loop and kind of each line, spread out for look-up. */
function spread(unit) {
  const lines = unit.text.replace(/\n$/, "").split("\n");
  const defs = new Int32Array(lines.length).fill(-1), loops = new Int32Array(lines.length).fill(-1);
  const kinds = new Array(lines.length).fill("outside");
  let at = 0;
  for (const [many, d, l, kind] of unit.map || []) {
    const end = Math.min(lines.length, at + many);
    defs.fill(d, at, end);
    loops.fill(l, at, end);
    kinds.fill(kind, at, end);
    at = end;
  }
  let longest = 0;
  for (const line of lines) longest = Math.max(longest, line.length);
  return { unit, lines, defs, loops, kinds, longest };
}

function codePane(model, select) {
  const units = (model.data.code || []).filter((unit) => unit && typeof unit.text === "string");
  if (!units.length) return null;
  const languages = [...new Set(units.map((unit) => unit.language))];
  const known = new Map();
  let language = languages[0], unit = null;
  const choose = h("select", { "aria-label": "Unit of code", onchange: () => open(units[Number(choose.value)]) });
  const find = h("input", { type: "search", id: "find", placeholder: "Find", "aria-label": "Find in the code" });
  const found = h("span", { class: "found", role: "status" });
  const itemAt = (i) => item(model, unit.defs[i], unit.loops[i]);
  const list = longList(model, select, {
    label: "Code", count: () => (unit ? unit.lines.length : 0), height: CODE_ROW, item: itemAt,
    width: () => unit.longest + 10,
    row: (i, node) => {
      const kind = unit.kinds[i];
      node.classList.add("code", "k-" + kind);
      node.append(h("span", { class: "no" }, i + 1), h("code", {}, highlighted(visible(unit.lines[i]), language)));
      if (ODD[kind] && (i === 0 || unit.kinds[i - 1] !== kind)) node.append(h("span", { class: "odd" }, ODD[kind]));
    },
  });
  const open = (next) => {
    if (!known.has(next)) known.set(next, spread(next));
    unit = known.get(next);
    language = next.language;
    choose.value = String(units.indexOf(next));
    list.box.querySelector(".scroll").scrollTop = 0;
    list.reset();
  };
  const offer = () => {
    const of = units.map((one, i) => [one, i]).filter(([one]) => one.language === language);
    choose.replaceChildren(...of.map(([one, i]) => h("option", { value: i }, one.name)));
    open(of[0][0]);
  };
  const search = (by) => {
    const text = find.value.toLowerCase(), total = unit.lines.length;
    if (!text) return (found.textContent = "");
    const from = list.cursor() < 0 ? 0 : list.cursor() + by;
    for (let n = 0; n < total; n++) {
      const i = (((from + n * (by || 1)) % total) + total) % total;
      if (!unit.lines[i].toLowerCase().includes(text)) continue;
      list.move(i);
      list.show(i);
      return (found.textContent = "");
    }
    found.textContent = "none";
  };
  find.addEventListener("input", () => search(0));
  find.addEventListener("keydown", (event) => event.key === "Enter" && search(event.shiftKey ? -1 : 1));
  const tools = [found, find, languages.length > 1 && choice("Language", languages, 0, (i) => {
    language = languages[i];
    offer();
  }), choose];
  const made = pane("code", "Code", list.box, { tools: tools.filter(Boolean), focus: list.box });
  offer();
  select.onPin((one, origin) => origin === made || one === NOWHERE || showCode(one));
  /** Shows the first line of a selection: in this unit, or in the first unit of the language that has it. */
  const showCode = (one) => {
    for (const level of [2, 1]) {
      for (const next of [unit.unit, ...units.filter((other) => other.language === language)]) {
        const line = firstLine(model, next, one, level);
        if (line < 0) continue;
        if (next !== unit.unit) open(next);
        return list.show(line);
      }
    }
  };
  return made;
}

/** The first line of a unit that belongs to a selection; its runs are asked, not its lines. */
function firstLine(model, unit, one, level) {
  let at = 0;
  for (const [many, d, l] of unit.map || []) {
    if (belongs(item(model, d, l), one) >= level) return at;
    at += many;
  }
  return -1;
}
