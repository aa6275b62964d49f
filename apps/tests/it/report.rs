//! `halide report`: the page, its data, and what it says of odd input.

use crate::Workplace;
use crate::bad_input::{check, check_usage};
use crate::schema::violations;
use serde_json::Value;
use std::fs;

/// The data of a report.
fn data(place: &Workplace, args: &str) -> Value {
    let ran = place.succeed(&format!("report {args} --json"));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.stdout))
}

/// The names of the definitions of a report.
fn funcs(data: &Value) -> Vec<String> {
    let rows = data["definitions"].as_array().unwrap();
    rows.iter().map(|row| row["func"].as_str().unwrap().to_string()).collect()
}

#[test]
fn a_report_is_one_file_that_asks_for_nothing() {
    let place = Workplace::new();
    let ran = place.succeed("report blur --schedule tiles --size 640x480 --threads 1");
    assert!(ran.stdout.starts_with("wrote out/blur.html (") && ran.stdout.contains("ms a run"), "{}", ran.stdout);
    let page = fs::read_to_string(place.path("out/blur.html")).unwrap();
    assert!(page.len() <= 250_000, "{} bytes", page.len());
    assert!(page.starts_with("<!doctype html>") && page.contains("default-src 'none'"));
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"), "a request");
    assert!(page.contains("blur_x") && page.contains("blur.rs:4"), "the tables stand without a program");
}

#[test]
fn rows_of_a_report_refer_to_each_other() {
    let place = Workplace::new();
    let data = data(&place, "blur --schedule tiles --size 640x480 --threads 1 --check");
    let (definitions, loops) = (funcs(&data), data["loops"].as_array().unwrap().len() as i64);
    assert_eq!(&definitions[definitions.len() - 2..], ["blur_x", "blur_y"]);
    let in_range = |n: &Value, most: i64| (-1..most).contains(&n.as_i64().unwrap());
    for row in data["nest"].as_array().unwrap() {
        assert!(in_range(&row[3], definitions.len() as i64) && in_range(&row[4], loops), "{row}");
    }
    let mut of_each = vec![0; definitions.len()];
    for unit in data["code"].as_array().unwrap() {
        let mapped: u64 = unit["map"].as_array().unwrap().iter().map(|run| run[0].as_u64().unwrap()).sum();
        assert_eq!(mapped, unit["text"].as_str().unwrap().lines().count() as u64, "{}", unit["name"]);
        for run in unit["map"].as_array().unwrap() {
            assert!(in_range(&run[1], definitions.len() as i64) && in_range(&run[2], loops), "{run}");
            if let Ok(definition) = usize::try_from(run[1].as_i64().unwrap()) {
                of_each[definition] += run[0].as_u64().unwrap();
            }
        }
    }
    if cfg!(target_arch = "x86_64") {
        assert!(of_each[of_each.len() - 2..].iter().all(|lines| *lines > 10), "{of_each:?}");
    }
    // Directives of loops are lines of the schedule.
    let lines = data["schedule"]["text"].as_str().unwrap().lines().count() as u64;
    let directives = data["loops"].as_array().unwrap().iter().filter_map(|row| row["directive"].as_u64());
    assert!(directives.clone().count() >= 2 && directives.clone().all(|line| (1..=lines).contains(&line)));
    let facts = data["facts"].to_string();
    assert!(facts.contains("640x480") && facts.contains("agrees with the interpreter"), "{facts}");
    let shares: f64 =
        data["profile"]["rows"].as_array().unwrap().iter().map(|row| row["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 0.005 || data["profile"]["samples"] == 0, "{shares}");
    assert!(data["roofline"].as_array().is_some());
    // Every point of the traced part is stored, the last ones last.
    let canvas = |name: &str| data["order"]["canvases"].as_array().unwrap().iter().position(|c| c["name"] == name);
    let output = canvas("blur_y").unwrap() as u64;
    let stored: u64 = data["order"]["spans"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|s| s[0] == output && s[1] == 0)
        .map(|s| s[4].as_u64().unwrap())
        .sum();
    let extent = &data["order"]["canvases"][output as usize]["extent"];
    assert_eq!(stored, extent[0].as_u64().unwrap() * extent[1].as_u64().unwrap());
}

#[test]
fn two_schedules_are_compared() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), "blur_x: compute_root()").unwrap();
    let data = data(&place, "blur --schedule mine.sched,strips --size 320x240 --threads 1");
    assert!(data["title"].as_str().unwrap().contains("mine.sched"));
    assert!(data["compare"]["b"]["title"].as_str().unwrap().contains("strips"));
    let differences = data["compare"]["differences"].as_array().unwrap();
    let row = |what: &str| differences.iter().find(|row| row["what"] == what).unwrap_or_else(|| panic!("{what}"));
    assert_eq!(row("points computed")["a"].as_str().unwrap().parse::<u64>().unwrap(), 320 * 242 + 320 * 240);
    assert!(row("loops")["ratio"].as_f64().is_some());
    let result = &data["compare"]["result"];
    assert_eq!((&result["differing"], &result["first"]), (&Value::from(0), &Value::Null), "{result}");
    assert_eq!((result["compared"].as_u64(), &result["allowed"]), (Some(320 * 240), &Value::from(true)), "{result}");
    assert_eq!(violations(&data, true), Vec::<String>::new());
}

/// Sums in another order are told with the first point where they show, and with who allowed them.
#[test]
fn results_that_differ_are_told() {
    let place = Workplace::new();
    let text = "product: compute_root()\nproduct.update(0): float(relaxed) split(k.x, ko, ki, 4) reorder(ko, ki)";
    fs::write(place.path("mine.sched"), text).unwrap();
    let data = data(&place, "matmul --schedule root,mine.sched --size 64x48 --threads 1");
    let result = &data["compare"]["result"];
    assert_eq!((result["compared"].as_u64(), &result["allowed"]), (Some(64 * 48), &Value::from(true)), "{result}");
    assert!(result["differing"].as_u64() > Some(0), "{result}");
    let first = &result["first"];
    assert!(first["a"].is_string() && first["a"] != first["b"] && first["at"].as_array().map(Vec::len) == Some(2));
    let text = result["text"].as_str().unwrap();
    assert!(text.ends_with("float(...) in mine.sched allows it"), "{text}");
    assert!(data["facts"].to_string().contains("A beside B"), "{}", data["facts"]);
    assert_eq!(violations(&data, true), Vec::<String>::new());
}

#[test]
fn runs_that_fail_have_no_results_to_compare() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), "blur_y: bound(x, 0, 7)").unwrap();
    let data = data(&place, "blur --schedule mine.sched,strips --size 64x48");
    assert!(data["fault"].is_string() && data["compare"]["b"].is_object());
    assert_eq!(data["compare"]["result"], Value::Null);
    assert_eq!(violations(&data, true), Vec::<String>::new());
}

/// An animation in place of the page; the run that it shows is the one on the page.
#[test]
fn the_order_of_evaluation_becomes_a_file() {
    let place = Workplace::new();
    let ran = place.succeed("report blur --schedule tiles --size 640x480 --gif tiles.gif");
    let said = ran.stdout;
    assert!(said.starts_with("wrote tiles.gif (") && said.contains("points of the output"), "{said}");
    assert!(fs::read(place.path("tiles.gif")).unwrap().starts_with(b"GIF89a"));
    assert_eq!(place.files(), ["tiles.gif"]);
    check(&place, "report blur --schedule tiles,strips --gif a.gif", &["--gif draws one schedule", "names 2"]);
    check(&place, "report blur --gif nowhere/a.gif", &["nowhere"]);
    fs::write(place.path("mine.sched"), "blur_y: bound(x, 0, 7)").unwrap();
    check(&place, "report blur --schedule mine.sched --size 64x48 --gif a.gif", &["order of evaluation is not drawn"]);
    check_usage("report blur --gif a.gif --json", "cannot be used with");
    assert_eq!(place.files(), ["mine.sched", "tiles.gif"]);
}

/// The spans of a report name tasks and loops, and the counts on the page are those of the profile.
#[test]
fn orders_of_evaluation_have_tasks_and_loops() {
    let place = Workplace::new();
    let text = "blur_y: split(y, yo, yi, 8) parallel(yo)\nblur_x: compute_at(blur_y, yo)";
    fs::write(place.path("mine.sched"), text).unwrap();
    let data = data(&place, "blur --schedule mine.sched --size 64x48 --threads 1");
    let (order, loops) = (&data["order"], data["loops"].as_array().unwrap());
    let spans = order["spans"].as_array().unwrap();
    let number = |name: &str| loops.iter().position(|row| row["name"] == name).unwrap() as u64;
    let tasks = order["tasks"].as_u64().unwrap();
    assert!(tasks > 1 && spans.iter().all(|span| (1..=tasks).contains(&span[5].as_u64().unwrap())), "{tasks}");
    let begun = spans.iter().filter(|span| span[7] == number("blur_y.yo")).count();
    assert_eq!(begun as u64, tasks);
    let within: std::collections::BTreeSet<u64> = spans.iter().filter_map(|span| span[6].as_u64()).collect();
    assert_eq!(within, ["blur_x.x", "blur_y.x"].map(number).into());
    for canvas in order["canvases"].as_array().unwrap() {
        let points: i64 = canvas["extent"].as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).product();
        assert_eq!(canvas["reuse"].as_str().unwrap().len() as i64, points, "{}", canvas["name"]);
    }
    let edges = data["graph"]["edges"].as_array().unwrap();
    let bytes: u64 = edges.iter().filter_map(|edge| edge["bytes"].as_u64()).sum();
    let counts = data["profile"]["counts"].as_array().unwrap();
    assert_eq!(bytes, counts.iter().map(|of| of["loaded_bytes"].as_u64().unwrap()).sum::<u64>());
    assert_eq!(data["graph"]["nests"][0]["name"], "blur_y");
}

/// Apps with reductions, three dimensions, no image, tables, several definitions and settings.
const APPS: [&str; 5] = ["hist", "camera_pipe", "matmul", "iir_blur", "resize"];

/// Every Func is in the report of its app, and a run that cannot be drawn says why.
#[test]
fn apps_of_each_kind_have_reports() {
    let place = Workplace::new();
    for app in APPS {
        let data = data(&place, &format!("{app} --size 96x64 --threads 1"));
        assert_eq!(data["fault"], Value::Null, "{app}");
        let facts = data["facts"].to_string();
        assert!(data["order"].is_object() || facts.contains("left out"), "{app}: {facts}");
        let graph = data["graph"]["nodes"].as_array().unwrap();
        for func in funcs(&data) {
            assert!(graph.iter().any(|node| node["name"] == *func), "{app}: {func}");
        }
        assert_eq!(violations(&data, true), Vec::<String>::new(), "{app}");
    }
}

#[test]
fn a_run_that_fails_is_told_on_the_page() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), "blur_y: bound(x, 0, 7)").unwrap();
    let ran = place.succeed("report blur --schedule mine.sched --size 64x48 -o mine.html");
    assert!(ran.stdout.contains("the run failed, and the page says why"), "{}", ran.stdout);
    let page = fs::read_to_string(place.path("mine.html")).unwrap();
    assert!(page.contains("promises a fixed region"), "{page}");
}

/// Only the first report measures the machine; a later one, or another program, reads what it kept.
#[test]
fn figures_of_the_machine_are_kept() {
    let place = Workplace::new();
    let report = "report blur --schedule tiles --size 640x480 --threads 1 --json";
    let home = [("XDG_CACHE_HOME", place.path("cache"))];
    let home = home.each_ref().map(|(name, path)| (*name, path.to_str().unwrap()));
    let [first, second] = [(); 2].map(|()| place.run_with(report, &home));
    assert_eq!((first.status, second.status), (0, 0), "{}{}", first.stderr, second.stderr);
    assert!(first.stderr.contains("/cache/halide/machine-"), "{}", first.stderr);
    assert!(!second.stderr.contains("measured"), "{}", second.stderr);
    let data: Value = serde_json::from_str(&second.stdout).unwrap();
    assert!(data["machine"]["text"].as_str().unwrap().contains("measured figures"), "{}", data["machine"]);
    for roofs in ["levels", "units"] {
        let roofs = data["machine"][roofs].as_array().unwrap();
        assert!(!roofs.is_empty() && roofs.iter().all(|roof| roof["name"].is_string()), "{roofs:?}");
    }
    assert_eq!(data["machine"]["units"][0]["name"], "16-bit integers");

    let kept = fs::read_dir(place.path("cache/halide")).unwrap().next().unwrap().unwrap().path();
    let named = place.run_with(&format!("{report} --machine {}", kept.display()), &[]);
    assert!(named.stdout.contains("figures of ") && named.stdout.contains("machine-"), "{}", named.stderr);
    check(&place, "report blur --size 8x8 --machine none.json", &["none.json"]);
}

#[test]
fn mistakes_are_found_before_anything_runs() {
    let place = Workplace::new();
    check(&place, "report blr", &["no app `blr`"]);
    check(&place, "report blur --schedule none", &["no schedule `none`"]);
    check(&place, "report blur --schedule a,b,c", &["names 3 schedules"]);
    check(&place, "report blur --size 8x8 -o nowhere/blur.html", &["nowhere"]);
    check(&place, "report blur --size 0x8", &["must be at least 1"]);
    check_usage("report blur --backend fast", "possible values");
    fs::write(place.path("wrong.sched"), "blur_x: compute_at(blur_z, x)").unwrap();
    check(&place, "report blur --schedule wrong.sched --size 8x8", &["no Func `blur_z`"]);
}
