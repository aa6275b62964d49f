/* Two reports against each other: numbers that differ, and both loop nests side by side. */

const MOST_CELLS = 2.5e7;

function comparePane(model, select, reports) {
  const { compare } = reports[0];
  if (!compare) return null;
  const differences = compare.differences || [];
  const rows = differences.map(({ what, a, b, ratio }) =>
    h(
      "tr",
      {},
      h("td", {}, bdi(what)),
      h("td", { class: "n" }, String(a)),
      h("td", { class: "n" }, String(b)),
      h("td", { class: "n" }, ratioOf(ratio)),
    ),
  );
  const titles = reports.map((report) => report.title || "report");
  const table =
    rows.length > 0 &&
    h(
      "div",
      { class: "table" },
      h(
        "table",
        { class: "compact" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            [
              ["", "difference"],
              ["n", "A"],
              ["n", "B"],
              ["n", "B / A"],
            ].map(([cls, name]) => h("th", { class: cls, scope: "col" }, name)),
          ),
        ),
        h("tbody", {}, rows),
      ),
    );
  const nests = bothNests(model, select, reports);
  const result = resultOf(compare.result);
  if (!table && !nests && !result) return null;
  return pane("compare", "Compare", h("div", { class: "comparison" }, result, table, nests && nests.node), {
    note: h("span", {}, "A ", bdi(titles[0]), ", B ", bdi(titles[1] || "")),
    wide: true,
    focus: nests && nests.focus,
  });
}

/** The values of both results, in words. */
function resultOf(result) {
  if (!result) return null;
  const cls = result.differing > 0 ? (result.allowed ? "result" : "result worse") : "result better";
  return h("p", { class: cls, role: "status" }, visible(result.text));
}

function ratioOf(ratio) {
  if (!isNumber(ratio)) return "";
  return h("span", { class: ratio > 1.005 ? "worse" : ratio < 0.995 ? "better" : "" }, "\u00d7" + ratio.toFixed(2));
}

/** Both loop nests, aligned by definition; a row stands alone where the other nest has none like it. */
function bothNests(model, select, reports) {
  const models = reports.map((report) => (report === model.data ? model : indexed(report)));
  if (models.length < 2 || models.every((one) => !one.nest.length)) return null;
  const keys = models.map((one) =>
    one.nest.map(
      ([, kind, , d, l]) =>
        kind +
        "\t" +
        (d >= 0 && one.defs[d] ? one.defs[d].func + "#" + (one.defs[d].update || 0) : "") +
        (kind === "loop" && l >= 0 && one.loops[l] ? "\t" + one.loops[l].name : ""),
    ),
  );
  const pairs = aligned(keys[0], keys[1]);
  const side = (one, i) => {
    if (i < 0) return h("span", { class: "side none" });
    const [depth] = one.nest[i];
    const [word, rest] = wordsOf(one, one.nest[i]);
    return h(
      "span",
      { class: "side", style: { "--depth": Math.min(depth, 24) }, title: visible(word + " " + rest) },
      h("b", { class: "word" }, word),
      " ",
      visible(rest),
    );
  };
  const itemAt = (i) => {
    const [a, b] = pairs[i];
    const [one, row] = a >= 0 ? [models[0], models[0].nest[a]] : [models[1], models[1].nest[b]];
    if (one === model) return item(model, row[3], row[4]);
    const def = row[3] >= 0 ? one.defs[row[3]] : null;
    const of = def ? itemOfName(model, def.func, def.update || 0) : NOWHERE;
    const l = row[4] >= 0 ? model.loopOf.get(one.loops[row[4]].name) : undefined;
    return l === undefined ? of : item(model, of.d, l);
  };
  const list = new LongList(model, select, {
    label: "Both loop nests",
    count: () => pairs.length,
    height: ROW,
    item: itemAt,
    row: (i, node) => {
      const [a, b] = pairs[i];
      const isSame = a >= 0 && b >= 0 && models[0].nest[a][2] === models[1].nest[b][2];
      node.classList.add("pair");
      if (!isSame) node.classList.add(a < 0 ? "only-b" : b < 0 ? "only-a" : "changed");
      node.append(side(models[0], a), side(models[1], b));
    },
  });
  list.reset();
  list.box.style.height = Math.min(420, Math.max(3, pairs.length) * ROW + 12) + "px";
  return { node: list.box, focus: list.box };
}

/** Pairs of indices of two lists, by their longest common subsequence; -1 where one has no partner. */
function aligned(a, b) {
  const pairs = [];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) pairs.push([start, start++]);
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - start && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const n = a.length - start - tail,
    m = b.length - start - tail;
  if (n * m > MOST_CELLS) {
    for (let i = 0; i < n; i++) pairs.push([start + i, -1]);
    for (let j = 0; j < m; j++) pairs.push([-1, start + j]);
  } else {
    const width = m + 1,
      best = new Uint16Array((n + 1) * width);
    for (let i = n - 1; i >= 0; i--) {
      for (let j = m - 1; j >= 0; j--) {
        best[i * width + j] =
          a[start + i] === b[start + j]
            ? best[(i + 1) * width + j + 1] + 1
            : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
      }
    }
    let i = 0,
      j = 0;
    while (i < n || j < m) {
      if (i < n && j < m && a[start + i] === b[start + j]) pairs.push([start + i++, start + j++]);
      else if (j >= m || (i < n && best[(i + 1) * width + j] >= best[i * width + j + 1]))
        pairs.push([start + i++, -1]);
      else pairs.push([-1, start + j++]);
    }
  }
  for (let t = tail; t > 0; t--) pairs.push([a.length - t, b.length - t]);
  return pairs;
}
