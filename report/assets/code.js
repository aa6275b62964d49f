/* The code: units, languages, and a search. */

const CODE_ROW = 18;

/** Kinds of instructions that are shown beside their line. */
const ODD = { move: "move", check: "check" };

/** A unit of code with the definition, loop and kind of each line, spread out for look-up. */
function spread(unit) {
  const lines = unit.text.replace(/\n$/, "").split("\n");
  const defs = new Int32Array(lines.length).fill(-1),
    loops = new Int32Array(lines.length).fill(-1);
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
  let language = languages[0],
    unit = null;
  const choose = h("select", { "aria-label": "Unit of code", onchange: () => open(units[Number(choose.value)]) });
  const find = h("input", { type: "search", id: "find", placeholder: "Find", "aria-label": "Find in the code" });
  const found = h("span", { class: "found", role: "status" });
  const itemAt = (i) => item(model, unit.defs[i], unit.loops[i]);
  const list = new LongList(model, select, {
    label: "Code",
    count: () => (unit ? unit.lines.length : 0),
    height: CODE_ROW,
    item: itemAt,
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
    list.view.scrollTop = 0;
    list.reset();
  };
  const offer = () => {
    const of = units.map((one, i) => [one, i]).filter(([one]) => one.language === language);
    choose.replaceChildren(...of.map(([one, i]) => h("option", { value: i }, one.name)));
    // What runs most often is what is looked for.
    open(of.reduce((best, [one]) => (linesInLoops(one) > linesInLoops(best) ? one : best), of[0][0]));
  };
  const search = (by) => {
    const from = list.cursor < 0 ? 0 : list.cursor + by;
    const line = find.value ? lineWith(unit.lines, find.value.toLowerCase(), from, by || 1) : -1;
    found.textContent = find.value && line < 0 ? "none" : "";
    if (line < 0) return;
    list.move(line);
    list.show(line);
  };
  find.addEventListener("input", () => search(0));
  find.addEventListener("keydown", (event) => event.key === "Enter" && search(event.shiftKey ? -1 : 1));
  const tools = [
    found,
    find,
    languages.length > 1 &&
      choice("Language", languages, 0, (i) => {
        language = languages[i];
        offer();
      }),
    choose,
  ];
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

/** How many lines of a unit are in loops. */
function linesInLoops(unit) {
  return (unit.map || []).reduce((sum, [many, , l]) => sum + (l >= 0 ? many : 0), 0);
}

/** The first line from one on, forwards or backwards and around, that has a text. */
function lineWith(lines, text, from, by) {
  const total = lines.length;
  for (let n = 0; n < total; n++) {
    const i = (((from + n * by) % total) + total) % total;
    if (lines[i].toLowerCase().includes(text)) return i;
  }
  return -1;
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
