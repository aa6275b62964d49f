/* Tables: the profile, findings, storage, and the decisions of passes. */

/** Rows of a part of a table: a browser paints a part anew when a row of it is lit, and no others. */
const PART = 24;

function profilePane(model, select) {
  const { profile } = model.data;
  if (!profile || !(model.rows.length || model.counts.size)) return null;
  const all = model.rows.map((row) => [row, itemOfName(model, row.func, row.func ? row.update || 0 : undefined)]);
  for (const counts of model.counts.values()) {
    if (!model.rows.some((row) => row.func === counts.func)) {
      all.push([{ activity: counts.func, func: counts.func }, itemOfName(model, counts.func)]);
    }
  }
  const most = Math.max(...all.map(([row]) => row.share || 0), 1e-9);
  const counted = new Set();
  const columns = [
    [
      "",
      "activity",
      ([row, one]) =>
        one.f >= 0 ? chip(model, select, one, row.activity) : h("span", { class: "other" }, bdi(row.activity)),
    ],
    [
      "n share",
      "share",
      ([row, one]) => isNumber(row.share) && [percent(row.share), bar(row.share / most, hueOf(model, one.f))],
    ],
    ["n", "time", ([row]) => millis(row.self_ms)],
    ["n", "threads", ([row]) => (isNumber(row.threads) ? row.threads.toFixed(1) : "")],
    ["n", "points", (_, of) => of && count(of.points)],
    ["n", "\u00d7 needed", (_, of) => of && isNumber(of.needed) && of.needed > 0 && factor(of.points / of.needed)],
    ["n", "loaded", (_, of) => of && bytes(of.loaded_bytes)],
    ["n", "stored", (_, of) => of && bytes(of.stored_bytes)],
    ["n", "ops/byte", (_, of) => of && perByte(of)],
    ["n", "allocations", (_, of) => of && count(of.allocations)],
    ["place", "place", ([row]) => row.place && h("span", { title: row.place }, bdi(shortName(row.place)))],
  ];
  const body = all.map((entry) => {
    const [row, one] = entry;
    const of = row.func && !counted.has(row.func) ? model.counts.get(row.func) : null;
    counted.add(row.func);
    return select.link(
      h(
        "tr",
        {},
        columns.map(([cls, , cell]) => h("td", { class: cls }, cell(entry, of) || "")),
      ),
      one,
    );
  });
  const isUsed = columns.map((_, i) => body.some((row) => row.cells[i].textContent !== ""));
  for (const row of body) [...row.cells].forEach((cell, i) => isUsed[i] || cell.remove());
  const head = columns
    .filter((_, i) => isUsed[i])
    .map(([cls, name]) => h("th", { class: cls.split(" ")[0], scope: "col" }, name));
  const parts = [];
  for (let at = 0; at < body.length; at += PART) parts.push(h("tbody", {}, body.slice(at, at + PART)));
  const table = h("table", {}, h("thead", {}, h("tr", {}, head)), parts);
  const note = [
    isNumber(profile.runs) && count(profile.runs) + " runs",
    isNumber(profile.run_ms) && millis(profile.run_ms) + " each",
    isNumber(profile.samples) && count(profile.samples) + " samples",
    profile.cut && "timeline is cut",
  ]
    .filter(Boolean)
    .join(", ");
  const box = h("div", { class: "table" }, table);
  const made = pane("profile", "Profile", box, { note });
  follow(select, made, box);
  return made;
}

/** A factor, loud where it is far from 1. */
function factor(value) {
  return h("span", { class: value > 1.5 ? "loud" : "" }, value.toFixed(2));
}

function perByte(of) {
  const moved = (of.loaded_bytes || 0) + (of.stored_bytes || 0);
  return moved > 0 && isNumber(of.operations) ? digits(of.operations / moved) : "";
}

function findingsPane(model, select) {
  const findings = model.data.findings || [];
  if (!findings.length) return null;
  const list = h(
    "ol",
    { class: "findings" },
    findings.map((finding) => {
      const one = itemOfNames(model, finding.func, finding.loop);
      const numbers = Object.entries(finding.numbers || {});
      return h(
        "li",
        {},
        h("p", { class: "rule" }, h("b", {}, finding.rule), " ", one.f >= 0 && chip(model, select, one)),
        h("p", {}, visible(finding.text || "")),
        numbers.length > 0 &&
          h(
            "dl",
            { class: "numbers" },
            numbers.map(([name, value]) =>
              h("div", {}, h("dt", {}, name), h("dd", {}, isNumber(value) ? count(value) : String(value))),
            ),
          ),
        finding.edit && finding.edit.length > 0 && editOf(finding.edit),
      );
    }),
  );
  return pane("findings", "Findings", h("div", { class: "scroll" }, list), { note: String(findings.length) });
}

/** Lines of the schedule that go and come, with a button that copies the new ones. */
function editOf(edit) {
  const lines = [];
  for (const { from, to } of edit) {
    if (from) lines.push(h("div", { class: "gone" }, h("span", {}, "\u2212 "), visible(from)));
    if (to) lines.push(h("div", { class: "come" }, h("span", {}, "+ "), visible(to)));
  }
  const text = edit
    .map(({ to }) => to)
    .filter(Boolean)
    .join("\n");
  const copy = button("Copy", "Copy the new lines", async () => {
    copy.textContent = (await copied(text)) ? "Copied" : "Not allowed";
    setTimeout(() => (copy.textContent = "Copy"), 1500);
  });
  return h("div", { class: "edit" }, h("pre", {}, lines), text && copy);
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = h("textarea", { class: "unseen" }, text);
    document.body.append(field);
    field.select();
    const isDone = document.execCommand("copy");
    field.remove();
    return isDone;
  }
}

function storagePane(model, select) {
  const storage = model.data.storage || [];
  if (!storage.length) return null;
  const rows = storage.map((one) => {
    const of = itemOfName(model, one.name);
    const folds = (one.folds || []).map(([dim, n]) => dim + " to " + n).join(", ");
    return select.link(
      h(
        "tr",
        {},
        h("td", {}, of.f >= 0 ? chip(model, select, of, one.name) : bdi(one.name)),
        h("td", { class: "mono" }, one.type),
        h("td", {}, bdi(one.place || "")),
        h("td", { class: "n" }, count(one.elements)),
        h("td", {}, bdi(folds)),
      ),
      of,
    );
  });
  const head = [
    ["", "buffer"],
    ["", "type"],
    ["", "place"],
    ["n", "elements"],
    ["", "folded"],
  ];
  const isFolded = storage.some((one) => (one.folds || []).length);
  if (!isFolded) rows.forEach((row) => row.lastChild.remove());
  const table = h(
    "table",
    {},
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        head.slice(0, isFolded ? 5 : 4).map(([cls, name]) => h("th", { class: cls, scope: "col" }, name)),
      ),
    ),
    h("tbody", {}, rows),
  );
  const box = h("div", { class: "table" }, table);
  const made = pane("storage", "Storage", box);
  follow(select, made, box);
  return made;
}

function decisionsPane(model, select) {
  const all = model.data.decisions || [];
  if (!all.length) return null;
  const box = h("div", { class: "scroll decisions" });
  const draw = (keep) => {
    const rows = [];
    let pass = null;
    for (const one of all.filter(keep)) {
      const of = itemOfNames(model, one.func, one.loop);
      const row = h(
        "div",
        { class: "decision " + (one.did ? "did" : "not") },
        h("span", { class: "pass" }, one.pass === pass ? "" : one.pass),
        h("span", { class: "sign", "aria-label": one.did ? "did" : "did not" }, one.did ? "+" : "\u2212"),
        h(
          "span",
          { class: "what" },
          one.subject && [bdi(one.subject, "mono"), " "],
          bdi(one.text),
          one.copies > 1 && h("span", { class: "copies" }, " \u00d7" + one.copies),
          one.because && h("span", { class: "because" }, " \u2014 ", bdi(one.because)),
        ),
      );
      pass = one.pass;
      rows.push(select.link(row, of));
    }
    box.replaceChildren(...(rows.length ? rows : [h("p", { class: "none" }, "None.")]));
  };
  const refusals = all.filter((one) => !one.did).length;
  const kinds = ["all " + all.length, "refused " + refusals];
  const tools =
    refusals > 0 && refusals < all.length
      ? [choice("Decisions", kinds, 0, (i) => draw((one) => i === 0 || !one.did))]
      : [];
  draw(() => true);
  const made = pane("decisions", "Decisions", box, { tools });
  follow(select, made, box);
  return made;
}
