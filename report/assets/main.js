/* The beginning: unpack the data, build the panes, and let them listen. */

/** Unpacks the data that stands in the page. */
async function unpacked() {
  const text = atob(document.getElementById("data").textContent.trim());
  const packed = Uint8Array.from(text, (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).json();
}

/** The panes in rows; a row without panes is left out. */
function rowsOf(model, select, player, reports) {
  const of = (name, ...panes) => {
    const there = panes.filter(Boolean);
    return there.length ? h("div", { class: "row " + name + " has" + there.length }, there) : null;
  };
  const text = [algorithmPane(model, select), schedulePane(model, select)].filter(Boolean);
  const stack = text.length ? h("div", { class: "stack" }, text) : null;
  return [
    of("tall", graphPane(model, select), stack, nestPane(model, select, player), codePane(model, select)),
    of("whole", comparePane(model, select, reports)),
    of("main", profilePane(model, select), findingsPane(model, select)),
    of("plots", rooflinePane(model, select), memoryPane(model, select), threadsPane(model, select)),
    of("whole", orderPane(model, select, player)),
    of("even", storagePane(model, select), decisionsPane(model, select)),
  ].filter(Boolean);
}

/** Builds the page of one of the reports; returns what takes its listeners away. */
function show(reports, at, switchTo) {
  const model = indexed(reports[at]);
  const select = selection(model);
  const player = orderPlayer(model);
  const rows = rowsOf(model, select, player, reports);
  const page = h(
    "div",
    { id: "page" },
    topBar(model, select, reports, at, switchTo),
    headOf(model),
    h("main", {}, rows),
    h("footer", {}, bdi(model.data.made_by || "")),
  );
  document.body.replaceChildren(page, ...document.querySelectorAll("#data"));
  if (model.data.title) document.title = model.data.title;
  const panes = [...page.querySelectorAll(".pane")];
  const quiet = [listen(model, select), keys(select, panes, player)];
  const one = itemOfAddress(model, location.hash);
  // Panes know their sizes after the first picture, and can scroll then.
  if (one !== NOWHERE) requestAnimationFrame(() => setTimeout(() => select.pin(one, null), 0));
  return () => {
    if (player) {
      keepPlayed(player);
      player.pause();
    }
    for (const end of quiet) end();
  };
}

/** The data that is shown, the place of the report in it, and what takes the listeners of its page away. */
const shown = { data: null, at: 0, end: null };

/** Shows data in place of what was shown before. */
function present(data) {
  const reports = data.compare && data.compare.b ? [data, data.compare.b] : [data];
  const switchTo = (at) => {
    if (shown.end) shown.end();
    shown.at = at;
    shown.end = show(reports, at, switchTo);
  };
  shown.data = data;
  switchTo(Math.min(shown.at, reports.length - 1));
}

async function begin() {
  const root = document.documentElement;
  try {
    present(await unpacked());
    requestAnimationFrame(() => setTimeout(() => (root.dataset.ready = performance.now().toFixed(1)), 0));
  } catch (error) {
    // What stands in the page without a program stays to be read.
    root.classList.remove("live");
    root.dataset.failed = String(error);
    console.error(error);
  }
}
const begun = begin();
