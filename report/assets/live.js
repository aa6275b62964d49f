/* A report that a watch serves: events tell of new versions, and their numbers come in place of the old ones. */

/** The state of following: the newest row, the connection, and what is asked for. */
const live = { row: null, source: null, isOn: false, wasLost: false, again: false, isAsking: false, text: "" };

/** Follows the watch that serves the page, while somebody looks at it. */
function follow() {
  const about = shown.data && shown.data.live;
  if (!about) return;
  tell();
  const look = () => (document.visibilityState === "visible" ? connect() : disconnect());
  document.addEventListener("visibilitychange", look);
  look();
}

function connect() {
  if (live.source) return;
  live.source = new EventSource("/events");
  live.source.addEventListener("start", () => {
    // Another watch may count its versions from one again.
    if (live.wasLost) live.row = null;
    live.again = live.wasLost;
    live.wasLost = false;
    state(true, "");
  });
  live.source.addEventListener("row", (event) => heard(JSON.parse(event.data)));
  live.source.addEventListener("end", (event) => {
    disconnect();
    state(false, "the watch has ended: " + JSON.parse(event.data).text);
  });
  live.source.addEventListener("error", () => {
    live.wasLost = true;
    state(false, "the watch is not running; trying again");
  });
}

function disconnect() {
  if (live.source) live.source.close();
  live.source = null;
}

function state(isOn, text) {
  live.isOn = isOn;
  live.text = text;
  tell();
}

/** Takes a row of the watch; a version that ran and is done has a report of its own. */
function heard(row) {
  if (live.row && row.version < live.row.version) return;
  live.row = row;
  tell();
  const isNewer = live.again || row.version > Math.max(...shown.data.live.versions, 0);
  if (shown.data.live.follows && row.done && row.kind === "timed" && isNewer) ask();
}

/** Asks for the data of the newest version, and shows it where the old one was. */
async function ask() {
  if (live.isAsking) return;
  live.isAsking = true;
  const wanted = live.row.version;
  try {
    const answer = await fetch(shown.data.live.data);
    if (!answer.ok) throw new Error(await answer.text());
    const data = await answer.json();
    live.again = false;
    live.text = "";
    replace(data);
  } catch (error) {
    live.text = String(error.message || error);
  }
  live.isAsking = false;
  tell();
  const { row } = live;
  if (row.version > wanted && row.done && row.kind === "timed") ask();
}

/** The boxes of panes that scroll, by pane and place in it. */
function boxes() {
  const all = new Map();
  for (const pane of document.querySelectorAll(".pane")) {
    [...pane.querySelectorAll(".scroll")].forEach((box, i) => all.set(pane.id + " " + i, box));
  }
  return all;
}

/** The choices of panes by label: what is pressed or chosen, and the folds that are open. */
function choices() {
  const all = new Map();
  for (const group of document.querySelectorAll(".pane .choice")) {
    const pressed = group.querySelector("[aria-pressed=true]");
    if (pressed) all.set(group.getAttribute("aria-label"), pressed.textContent);
  }
  return all;
}

/** Shows other data; the selection, choices, folds, the time of the player and what is scrolled stay. */
function replace(data) {
  const [x, y] = [scrollX, scrollY];
  const scrolled = new Map([...boxes()].map(([key, box]) => [key, [box.scrollLeft, box.scrollTop]]));
  const chosen = choices();
  const focused = document.activeElement && document.activeElement.closest(".pane");
  const height = document.body.scrollHeight;
  // The page must not become shorter for a moment, or it scrolls.
  document.body.style.minHeight = height + "px";
  present(data);
  tell();
  for (const group of document.querySelectorAll(".pane .choice")) {
    const text = chosen.get(group.getAttribute("aria-label"));
    const before = [...group.children].find((button) => button.textContent === text);
    if (before && before.getAttribute("aria-pressed") !== "true") before.click();
  }
  const restore = () => {
    document.body.style.minHeight = "";
    scrollTo(x, y);
    for (const [key, box] of boxes()) {
      const [left, top] = scrolled.get(key) || [0, 0];
      box.scrollTo(left, top);
    }
    const pane = focused && document.getElementById(focused.id);
    if (pane && pane.focusIn) pane.focusIn();
    document.documentElement.dataset.version = String(data.live && data.live.versions);
  };
  // After what a selection scrolls to.
  requestAnimationFrame(() => setTimeout(restore, 0));
}

/** Says which version is shown, and what is known of a newer one. */
function tell() {
  const about = shown.data.live;
  const versions = about.versions.map(String).join(" and ");
  const parts = [
    h("span", {}, about.versions.length > 1 ? "Versions " : "Version ", h("strong", {}, versions || "none"), " of ",
      bdi(about.of)),
    live.text && h("span", {}, live.text),
    ...news(about),
    h("nav", {}, h("a", { href: "/" }, "all versions"), !about.follows && h("a", { href: "/report" }, "the newest")),
  ];
  const line = document.getElementById("live") || h("div", { id: "live", role: "status" });
  line.className = live.isOn ? "on" : "";
  line.replaceChildren(...parts.filter(Boolean));
  const top = document.getElementById("top");
  if (top && line.previousElementSibling !== top) top.after(line);
}

/** The newest row in words, where it is not what the page shows. */
function news(about) {
  const { row } = live;
  if (!row) return about.notice ? [h("span", { class: "bad" }, about.notice)] : [];
  if (about.versions.includes(row.version)) return [];
  if (row.kind !== "timed") {
    const text = "Version " + row.version + (row.kind === "error" ? " is an error: " : ": ") + row.error;
    return [h("span", { class: "bad" }, text)];
  }
  if (!about.follows) return [h("span", {}, "the newest is " + row.version)];
  return [h("span", {}, "version " + row.version + (row.done ? " comes" : " is timed"))];
}

begun.then(follow);
