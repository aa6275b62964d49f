/* The loop nest as a tree that folds. */

const ROW = 21;

/** The rows that are folded, by name, also in the next version of a report. */
const foldedRows = new Set();

/** Names of rows that another version has, too: of loops and definitions, with the number of rows so called before. */
function rowNames(model) {
  const seen = new Map();
  return model.nest.map(([, kind, text, d, l]) => {
    const loop = model.loops[l];
    const name = loop ? loop.name : kind + " " + (model.names[model.defOf[d]] || text);
    seen.set(name, (seen.get(name) || 0) + 1);
    return name + " " + seen.get(name);
  });
}

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
  const names = rowNames(model);
  const folded = Uint8Array.from(names, (name, i) => (model.children[i] && foldedRows.has(name) ? 1 : 0));
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
    if (how) foldedRows.add(names[i]);
    else foldedRows.delete(names[i]);
    update();
    list.reset();
    return true;
  };
  const list = new LongList(model, select, {
    label: "Loop nest",
    count: () => shown.length,
    height: ROW,
    item: itemAt,
    isCurrent: (at) => Boolean(player && player.loop() >= 0 && model.nest[shown[at]][4] === player.loop()),
    row: (at, node) =>
      nestRow(model, node, shown[at], folded[shown[at]], isTimed, () => fold(at, !folded[shown[at]])),
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
  if (player) player.onLoop(() => list.repaint());
  const made = pane("loops", "Loops", list.box, {
    note: isTimed ? "time with all that is inside" : count(total) + " rows",
    focus: list.box,
  });
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
    node.append(
      h(
        "button",
        { type: "button", class: "fold", tabindex: "-1", "aria-label": isFolded ? "Unfold" : "Fold", onclick: fold },
        isFolded ? "\u25b8" : "\u25be",
      ),
    );
  } else node.append(h("span", { class: "fold" }));
  const loop = l >= 0 ? model.loops[l] : null;
  const mark = loop && loop.kind !== "serial" ? " special" : kind === "loop" ? "" : " " + kind;
  const says = visible(word + " " + rest);
  node.append(
    h(
      "span",
      { class: "words", title: says },
      h("b", { class: "word" + mark }, word),
      " ",
      h("span", {}, visible(rest)),
    ),
  );
  if (!isTimed) return;
  const isKnown = isNumber(share);
  const isSame = i > 0 && model.inside[i - 1] === share && model.nest[i - 1][0] < depth;
  node.append(
    h(
      "span",
      { class: "time" + (isSame ? " again" : "") },
      isKnown ? percent(share) : "",
      isKnown && bar(share, hueOf(model, d >= 0 ? model.defOf[d] : -1)),
    ),
  );
}
