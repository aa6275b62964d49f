//! Pages that are opened: nothing is wrong, nothing is asked for, and what there is of data has its pane.

use super::chromium::Chromium;
use super::samples::{SAMPLES, chain, large, sample};
use halide_report::html::html;
use serde_json::json;

/// The panes of a page, by the keys of the data that they need.
const PANES: [(&str, &str); 14] = [
    ("dag", "/graph/nodes/0"),
    ("algorithm", "/definitions/0"),
    ("schedule", "/schedule/text"),
    ("loops", "/nest/0"),
    ("code", "/code/0"),
    ("compare", "/compare/b"),
    ("profile", "/profile/rows/0"),
    ("findings", "/findings/0"),
    ("roofline", "/roofline/0"),
    ("memory", "/profile/memory/0"),
    ("threads", "/profile/timeline/0"),
    ("order", "/order/spans/0"),
    ("storage", "/storage/0"),
    ("decisions", "/decisions/0"),
];

/// Budgets in milliseconds, of which the tests allow three times: other tests run beside them.
const INTERACTIVE: f64 = 1500.0;
const CHAIN: f64 = 5000.0;
const HOVER: f64 = 50.0;
const SLACK: f64 = 3.0;

#[test]
fn each_sample_has_the_panes_of_its_data_at_each_width() {
    let Some(mut chromium) = Chromium::start() else { return };
    for (name, _) in SAMPLES {
        let data = sample(name);
        let page = html(&data);
        for width in [1400, 800, 400] {
            chromium.size(width, 900);
            let ready = chromium.open(&page, "");
            println!("{name} at {width}: ready after {ready} ms, {} bytes", page.len());
            assert!(ready < INTERACTIVE * SLACK, "{name}: {ready} ms");
            for (pane, key) in PANES {
                let is_there = chromium.ask(&format!("Boolean(document.getElementById('{pane}'))"));
                let has_data = data.pointer(key).is_some_and(|value| *value != json!(null) && *value != json!(""));
                assert_eq!(is_there, has_data, "{name}: {pane}");
            }
            let over = chromium.ask("document.documentElement.scrollWidth - innerWidth").as_f64();
            assert!(over.is_some_and(|over| over <= 0.0), "{name} is {over:?} px wider than {width}");
        }
    }
}

#[test]
fn pages_are_small() {
    let page = html(&sample("blur"));
    assert!(page.len() < 250_000, "{}", page.len());
    let bare = html(&json!({})).len();
    assert!(bare < 140_000, "program and style: {bare}");
}

#[test]
fn long_chains_open_in_time() {
    let Some(mut chromium) = Chromium::start() else { return };
    let begun = std::time::Instant::now();
    let page = html(&chain(500));
    println!("chain: made in {:?}, {} bytes", begun.elapsed(), page.len());
    let ready = chromium.open(&page, "#f=stage_400");
    println!("chain: ready after {ready} ms");
    assert!(ready < CHAIN * SLACK, "{ready} ms");
    assert_eq!(chromium.ask("document.querySelectorAll('.node').length"), 500);
    let lit = chromium.ask("document.querySelector('.node.lit .name').textContent");
    assert_eq!(lit, "\u{2068}stage_400\u{2069}");
}

#[test]
fn large_reports_open_and_light_up_in_time() {
    let Some(mut chromium) = Chromium::start() else { return };
    let ready = chromium.open(&html(&large(3000)), "");
    println!("large: ready after {ready} ms");
    assert!(ready < INTERACTIVE * SLACK, "{ready} ms");
    let (x, y) = chromium.middle("#loops .line");
    let mut times = Vec::new();
    for step in 0..20 {
        let seen = chromium.ask("hovers.count");
        chromium.point(x + 40.0, y + 21.0 * f64::from(step), false);
        chromium.wait(&format!("hovers.count > {seen}"));
        let took = chromium.ask("hovers.last").as_f64().unwrap_or(f64::MAX);
        times.push(took);
    }
    times.sort_by(f64::total_cmp);
    println!("large: hovers take {times:?} ms");
    let median = times[times.len() / 2];
    assert!(median < HOVER * SLACK, "{median} ms");
    let lines = chromium.ask("document.querySelectorAll('#code .line').length").as_u64();
    assert!(lines.is_some_and(|lines| lines > 10 && lines < 200), "only lines in sight are drawn: {lines:?}");
}

#[test]
fn tables_stand_without_a_program() {
    let Some(mut chromium) = Chromium::start() else { return };
    chromium.call("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    let path = chromium.navigate(&html(&sample("blur")), "");
    chromium.wait("document.readyState === 'complete' && document.getElementById('static')");
    let text = chromium.ask("document.getElementById('static').innerText");
    let text = text.as_str().unwrap_or_default();
    for word in ["blur · tiles", "same bits as the interpreter", "48.6 %", "197,318,400", "computed again", "8,704"] {
        assert!(text.contains(word), "{word} is missing: {text}");
    }
    assert_eq!(chromium.ask("getComputedStyle(document.getElementById('static')).display"), "block");
    chromium.check_quiet(&path);
}

#[test]
fn the_policy_stops_requests_and_foreign_programs() {
    let Some(mut chromium) = Chromium::start() else { return };
    chromium.open(&html(&sample("hostile")), "");
    assert_eq!(chromium.ask("document.querySelectorAll('#page img, #page b[onclick]').length"), 0);
    assert_eq!(chromium.ask("window.harmed"), json!(null));
    let said = chromium.ask("fetch('data:text/plain,x').then(() => 'allowed', () => 'stopped')");
    assert_eq!(said, "stopped");
    chromium.ask(
        "(() => { const node = document.createElement('script'); node.textContent = 'window.harmed = 1'; \
                  document.body.append(node); })()",
    );
    assert_eq!(chromium.ask("window.harmed"), json!(null));
}

#[test]
fn colours_follow_the_system() {
    let Some(mut chromium) = Chromium::start() else { return };
    let page = html(&sample("blur"));
    let mut seen = Vec::new();
    for scheme in ["light", "dark"] {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        chromium.call("Emulation.setEmulatedMedia", features);
        chromium.open(&page, "");
        seen.push(chromium.ask("getComputedStyle(document.body).backgroundColor"));
    }
    assert_eq!(seen[0], "rgb(255, 255, 255)");
    assert_ne!(seen[0], seen[1]);
}
