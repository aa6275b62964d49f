//! The page in use: hovering, pinning, keys, folding, playing, and the choice between two reports.

use super::chromium::Chromium;
use super::samples::{large, sample, small_order};
use halide_report::html::html;

/// The texts of what a selector finds.
#[track_caller]
fn texts(chromium: &mut Chromium, selector: &str) -> Vec<String> {
    let found = chromium.ask(&format!("[...document.querySelectorAll('{selector}')].map((node) => node.textContent)"));
    let found = found.as_array().expect("a list").clone();
    found.iter().map(|text| text.as_str().unwrap_or_default().to_string()).collect()
}

#[test]
fn hovering_lights_all_panes() {
    let Some(mut chromium) = Chromium::start() else { return };
    chromium.open(&html(&sample("blur")), "");
    let (x, y) = chromium.middle("#dag .node:nth-of-type(3)");
    assert!(texts(&mut chromium, ".lit").is_empty());
    let name = chromium.ask("document.querySelector('#dag .node:nth-of-type(3) title').textContent");
    assert_eq!(name, "blur_x");
    chromium.point(x, y, false);
    chromium.wait("document.querySelector('.node.lit')");
    for pane in ["dag", "algorithm", "schedule", "loops", "profile", "findings", "order", "storage", "decisions"] {
        let lit = chromium.ask(&format!("document.querySelectorAll('#{pane} .lit, #{pane} .near').length"));
        assert!(lit.as_u64() > Some(0), "{pane} is not lit");
    }
    assert!(texts(&mut chromium, "#loops .lit").iter().all(|row| row.contains("blur_x")));
    assert!(texts(&mut chromium, "#selected")[0].contains("48.6"));
    chromium.point(1390.0, 5.0, false);
    chromium.wait("!document.querySelector('.node.lit')");
}

/// Elements that look the same are left alone: along the loops of a definition, only rows of loops and code change.
#[test]
fn hovering_along_a_definition_changes_its_rows_alone() {
    let Some(mut chromium) = Chromium::start() else { return };
    chromium.open(&html(&large(3000)), "");
    let (x, y) = chromium.middle("#loops .line");
    let hover = |chromium: &mut Chromium, row: f64| {
        let seen = chromium.ask("hovers.count");
        chromium.point(x + 40.0, y + 21.0 * row, false);
        chromium.wait(&format!("hovers.count > {seen}"));
    };
    hover(&mut chromium, 2.0);
    chromium.wait("document.querySelector('#dag .node.lit')");
    chromium.ask(
        "void new MutationObserver((all) => (window.changed = [...window.changed || [], ...all.map((one) => \
         one.target.closest('.pane').id)])).observe(document.querySelector('main'), \
         { subtree: true, attributeFilter: ['class'] })",
    );
    hover(&mut chromium, 3.0);
    let touched = chromium.ask("hovers.touched").as_f64().unwrap_or_default();
    assert!((1.0..60.0).contains(&touched), "{touched} elements");
    let panes = chromium.ask("[...new Set(window.changed)].sort()");
    assert_eq!(panes, serde_json::json!(["code", "loops"]));
}

#[test]
fn overlays_colour_the_order_of_evaluation() {
    let Some(mut chromium) = Chromium::start() else { return };
    let mut data = sample("blur");
    data["order"] = small_order();
    chromium.open(&html(&data), "");
    let buttons = "[...document.querySelectorAll('#order .player .choice:last-child button')]";
    let names = chromium.ask(&format!("{buttons}.map((node) => node.textContent)"));
    assert_eq!(names, serde_json::json!(["fresh", "computed", "read", "reuse", "tasks"]));
    let end = "(() => { const at = document.querySelector('.player input'); at.value = at.max; \
               at.dispatchEvent(new Event('input')); })()";
    chromium.ask(end);
    // The colour of the middle of each cell of the last canvas.
    let cells = "(() => { const node = [...document.querySelectorAll('#order .canvases canvas')].at(-1); \
                 const at = (i) => [...node.getContext('2d').getImageData(i * 12 + 5, 5, 1, 1).data].join(' '); \
                 return [0, 1, 2, 3].map(at); })()";
    let mut seen = std::collections::BTreeMap::new();
    for (at, name) in ["fresh", "computed", "read", "reuse", "tasks"].into_iter().enumerate() {
        chromium.ask(&format!("{buttons}[{at}].click()"));
        let colours = chromium.ask(cells);
        let colours: Vec<String> = colours.as_array().into_iter().flatten().map(|colour| colour.to_string()).collect();
        let alike: Vec<usize> =
            colours.iter().map(|one| colours.iter().position(|other| other == one).unwrap_or_default()).collect();
        seen.insert(name, alike);
    }
    // Cell 1 is computed twice; cells 0 and 1 are read once, 2 and 3 never; reuse is of 0 and 1, nearer of 0; the first
    // two cells are of one task, the others of another.
    assert_eq!(seen["computed"], [0, 1, 0, 0]);
    assert_eq!(seen["read"], [0, 0, 2, 2]);
    assert_eq!(seen["reuse"], [0, 1, 2, 2]);
    assert_eq!(seen["tasks"], [0, 0, 2, 2]);
    let legend = texts(&mut chromium, "#order .legend");
    assert!(legend[0].contains("2 tasks"), "{legend:?}");
    chromium.ask(&format!("{buttons}[3].click()"));
    let legend = texts(&mut chromium, "#order .legend");
    assert!(legend[0].contains("at most 1 other points") && legend[0].contains("all at most 5"), "{legend:?}");
}

#[test]
fn pins_go_to_the_address_and_come_from_it() {
    let Some(mut chromium) = Chromium::start() else { return };
    let page = html(&sample("blur"));
    chromium.open(&page, "");
    let (x, y) = chromium.middle("#loops .line:nth-child(1)");
    chromium.point(x + 40.0, y, true);
    chromium.wait("location.hash === '#f=blur_y&u=0&l=blur_y.yo'");
    chromium.point(1390.0, 5.0, false);
    assert!(texts(&mut chromium, "#selected.pinned")[0].contains("blur_y.yo"));
    chromium.key("Escape");
    chromium.wait("location.hash === '' && !document.querySelector('.lit')");
    chromium.ask("(location.hash = '#f=blur_x&u=0&l=blur_x.x')");
    chromium.wait("document.querySelector('#code .lit')");
    assert!(chromium.ask("document.querySelector('#code .scroll').scrollTop").as_f64() > Some(0.0));
    // What names nothing selects nothing.
    chromium.ask("(location.hash = '#f=%3Cb%3E&l=none')");
    chromium.wait("!document.querySelector('.lit')");
    chromium.open(&page, "#f=blur_x&l=blur_y.yo");
    chromium.wait("document.querySelector('.node.lit')");
}

#[test]
fn keys_reach_everything() {
    let Some(mut chromium) = Chromium::start() else { return };
    chromium.open(&html(&sample("blur")), "");
    let panes = texts(&mut chromium, ".pane h2").len();
    let mut reached = std::collections::BTreeSet::new();
    for _ in 0..panes {
        chromium.key("]");
        reached.insert(chromium.ask("document.activeElement.closest('.pane').id").to_string());
    }
    assert_eq!(reached.len(), panes);
    chromium.key("4");
    assert_eq!(chromium.ask("document.activeElement.closest('.pane').id"), "loops");
    for _ in 0..4 {
        chromium.key("ArrowDown");
    }
    let row = |chromium: &mut Chromium| texts(chromium, "#loops .cursor").join("");
    assert!(row(&mut chromium).contains("compute blur_x"), "{}", row(&mut chromium));
    let count = texts(&mut chromium, "#loops .line").len();
    chromium.key("ArrowLeft");
    chromium.wait(&format!("document.querySelectorAll('#loops .line').length < {count}"));
    chromium.key("ArrowRight");
    chromium.wait(&format!("document.querySelectorAll('#loops .line').length === {count}"));
    chromium.key("Enter");
    chromium.wait("location.hash === '#f=blur_x&u=0'");
    chromium.key("5");
    chromium.key("End");
    let last = chromium.ask("Number(document.querySelector('#code .cursor').dataset.i)");
    assert!(last.as_u64() > Some(100), "{last}");
    chromium.key("?");
    chromium.wait("document.getElementById('keys').open");
    chromium.key("?");
    chromium.wait("!document.getElementById('keys').open");
    chromium.key("?");
    chromium.key("Escape");
    chromium.wait("!document.getElementById('keys').open");
    chromium.key("Escape");
    chromium.wait("location.hash === ''");
}

#[test]
fn the_order_plays_steps_and_ends() {
    let Some(mut chromium) = Chromium::start() else { return };
    chromium.open(&html(&sample("blur")), "");
    let at = "Number(document.querySelector('.player input').value)";
    let begin = chromium.ask(at).as_f64();
    chromium.key(".");
    assert!(chromium.ask(at).as_f64() > begin);
    chromium.key(",");
    assert_eq!(chromium.ask(at).as_f64(), begin);
    chromium.key(" ");
    chromium.wait(&format!("{at} > {} + 20", begin.unwrap_or_default()));
    chromium.key(" ");
    let paused = chromium.ask(at);
    std::thread::sleep(std::time::Duration::from_millis(60));
    assert_eq!(chromium.ask(at), paused);
    let end = "(() => { const at = document.querySelector('.player input'); at.value = at.max; \
               at.dispatchEvent(new Event('input')); })()";
    chromium.ask(end);
    let counts = texts(&mut chromium, "#order .counts");
    assert_eq!(counts, ["1,800 loads", "1,440 stores, ×1.15", "1,152 stores"]);
}

#[test]
fn both_reports_of_a_comparison_can_be_seen() {
    let Some(mut chromium) = Chromium::start() else { return };
    chromium.open(&html(&sample("compare")), "");
    assert!(texts(&mut chromium, "#schedule")[0].contains("256, 32"));
    let sides = texts(&mut chromium, "#compare .line:first-child .side");
    assert_eq!(sides[0], sides[1]);
    let (x, y) = chromium.middle("#top .choice button:last-child");
    chromium.point(x, y, true);
    chromium.wait("document.querySelector('#schedule').textContent.includes('rows = 32')");
    assert_eq!(chromium.ask("document.querySelectorAll('#compare, #top').length"), 2);
    // The page of the other report listens, and that of the first no longer does.
    let (x, y) = chromium.middle("#dag .node:nth-of-type(3)");
    chromium.point(x, y, true);
    chromium.wait("location.hash === '#f=blur_x'");
}
