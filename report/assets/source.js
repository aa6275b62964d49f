/* The algorithm, as its source and as its definitions, and the text of the schedule. */

function algorithmPane(model, select) {
  if (!model.defs.length) return null;
  const excerpts = (model.data.files || []).map((file, i) => excerpt(model, select, file, i)).filter(Boolean);
  const list = h(
    "div",
    { class: "definitions" },
    model.defs.map((_, d) => definition(model, select, d)),
  );
  const box = h("div", { class: "scroll" }, excerpts, excerpts.length > 0 && h("h3", {}, "Definitions"), list);
  const made = pane("algorithm", "Algorithm", box, { note: model.defs.length > 12 ? count(model.defs.length) : "" });
  follow(select, made, box);
  return made;
}

/** Scrolls to what was pinned in another pane. */
function follow(select, made, box) {
  select.onPin((one, origin) => {
    const node = origin !== made && select.first(box, one);
    if (node) intoSight(box, node);
  });
}

function shortName(path) {
  return path.split(/[\\/]/).pop();
}

/** Lines of a file around the places of definitions. */
function excerpt(model, select, file, index) {
  const lines = file.lines || [];
  const at = new Map();
  model.defs.forEach((def, d) => {
    if (!def.at || def.at[0] !== index) return;
    at.set(def.at[1], [...(at.get(def.at[1]) || []), item(model, d)]);
  });
  if (!lines.length) return at.size ? h("p", { class: "path" }, bdi(file.name), " (its text is not here)") : null;
  const rows = [];
  let before = lines[0][0] - 1;
  const least = Math.min(...lines.map(([, text]) => (text.trim() ? text.search(/\S/) : 99)));
  for (const [number, text] of lines) {
    if (number !== before + 1) rows.push(h("div", { class: "gap" }, "\u22ef"));
    before = number;
    const row = h(
      "div",
      { class: "source" },
      h("span", { class: "no" }, number),
      h("code", {}, highlighted(visible(text.slice(least)), "rust")),
    );
    if (at.has(number)) select.link(row, ...at.get(number)).classList.add("of");
    rows.push(row);
  }
  return h("div", { class: "file" }, h("p", { class: "path", title: file.name }, bdi(file.name)), rows);
}

function definition(model, select, d) {
  const def = model.defs[d];
  const file = def.at && (model.data.files || [])[def.at[0]];
  const place = file ? shortName(file.name) + ":" + def.at[1] : "";
  const into = (def.inlined_into || [])
    .map((other) => model.defs[other])
    .filter(Boolean)
    .map((other) => other.func);
  const facts = [
    def.is_output && h("span", { class: "tag" }, "output"),
    h("span", {}, computed(def), into.length > 0 && [" into ", bdi([...new Set(into)].slice(0, 4).join(", "))]),
    def.type && h("span", { class: "mono" }, def.type),
    def.made_by && h("span", {}, "made by ", h("code", {}, def.made_by)),
    place && h("span", { class: "place", title: file.name + ":" + def.at.slice(1).join(":") }, bdi(place)),
  ];
  const share = model.share[d];
  return select.link(
    h(
      "div",
      { class: "definition of" },
      h("code", { class: "text" }, highlighted(visible(def.text || def.func), "algorithm")),
      h("p", {}, facts.filter(Boolean), isNumber(share) && h("span", { class: "share" }, percent(share))),
    ),
    item(model, d),
  );
}

function schedulePane(model, select) {
  const { schedule } = model.data;
  if (!schedule || !schedule.text) return null;
  const of = new Map();
  model.loops.forEach((loop, l) => {
    if (!isNumber(loop.directive)) return;
    of.set(loop.directive, [...(of.get(loop.directive) || []), item(model, -1, l)]);
  });
  const rows = schedule.text
    .replace(/\n$/, "")
    .split("\n")
    .map((text, i) => {
      const row = h(
        "div",
        { class: "source" },
        h("span", { class: "no" }, i + 1),
        h("code", {}, highlighted(visible(text), "schedule")),
      );
      const items = (of.get(i + 1) || []).filter((one) => one.d >= 0 || one.l >= 0);
      if (!items.length) return row;
      // Hovering the line selects the definition; each of its loops lights the line.
      const whole = items[0].d >= 0 && items.length > 1 ? [{ ...items[0], l: -1 }] : [];
      return (select.link(row, ...whole, ...items), row.classList.add("of"), row);
    });
  const box = h("div", { class: "scroll file wrapped" }, rows);
  const made = pane("schedule", "Schedule", box, { note: bdi(schedule.file || schedule.name || "") });
  follow(select, made, box);
  return made;
}

const words = (text) => new Set(text.split(" "));

/** Words by language that carry the structure of a line. */
const WORDS = {
  rust: words("let mut fn pub use for in if else match return struct impl const as self"),
  algorithm: words("select cast min max sum if else"),
  schedule: words("let"),
  ir: words(
    "for let if else alloc produce scope store load parallel vectorized unrolled loop buffer extent from free atomic " +
      "select ramp broadcast",
  ),
  wgsl: words(
    "fn let var if else loop for while break continue return struct switch case default const workgroup storage " +
      "uniform private continuing",
  ),
  asm: words(""),
};

const TOKENS =
  /(\/\/.*|;.*|#(?![\w[]).*|# .*)|("(?:[^"\\]|\\.)*")|(\b0x[\da-fA-F]+\b|\b\d[\w.]*\b)|([A-Za-z_][\w$]*)/g;

/** Splits a line into text and marked words. Cheap, since only lines in sight are drawn. */
function highlighted(text, language) {
  const parts = [];
  const known = WORDS[language] || WORDS.ir;
  let at = 0,
    isFirst = true;
  for (const match of text.matchAll(TOKENS)) {
    const [all, comment, quoted, number, word] = match;
    if (comment && comment[0] === ";" && (language === "wgsl" || language === "rust")) continue;
    let cls = null;
    if (comment) cls = "c";
    else if (quoted) cls = "q";
    else if (number) cls = "n";
    else if (known.has(word) || (language === "schedule" && text[match.index + all.length] === "(")) cls = "w";
    else if (language === "asm" && isFirst) cls = "w";
    if (word) isFirst = false;
    if (!cls) continue;
    parts.push(text.slice(at, match.index), h("span", { class: cls }, all));
    at = match.index + all.length;
  }
  parts.push(text.slice(at));
  return parts.filter((part) => part !== "");
}
