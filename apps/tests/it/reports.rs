//! Printed reports: JSON and nothing else if JSON is asked for, texts otherwise.

use crate::Workplace;
use serde_json::Value;

fn json(text: &str) -> Value {
    assert_eq!(text.trim_end().lines().count(), 1, "one line of JSON:\n{text}");
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn list_names_every_app() {
    let place = Workplace::new();
    let text = place.succeed("list").stdout;
    for word in ["blur", "local_laplacian", "strips", "levels: i32 = 8", "processor: "] {
        assert!(text.contains(word), "{word} in\n{text}");
    }
    // Not every machine has a driver.
    assert!(text.contains("\ndevice 0: ") || text.contains("\nno GPU: "), "no word of devices in\n{text}");
    let list = json(&place.succeed("list --json").stdout);
    let apps: Vec<&str> = list.as_array().unwrap().iter().map(|a| a["app"].as_str().unwrap()).collect();
    let all: Vec<&str> = halide_apps::app::APPS.iter().map(|a| a.name).collect();
    assert_eq!(apps, all);
    assert_eq!(apps[..2], ["local_laplacian", "blur"]);
    let schedules = |app: usize| list[app]["schedules"].as_array().unwrap();
    for name in ["breadth_first", "full_fusion", "sliding_window", "tiles", "strips"] {
        assert!(schedules(1).contains(&Value::from(name)), "{name}");
    }
    for name in ["root", "cpu", "single_thread"] {
        assert!(schedules(0).contains(&Value::from(name)), "{name}");
    }
    let params = list[0]["params"].as_array().unwrap();
    let levels = params.iter().find(|p| p["name"] == "levels").unwrap();
    assert_eq!((&levels["default"], &levels["min"]), (&Value::from(8), &Value::from(2)));
}

#[test]
fn bench_gives_every_field() {
    let place = Workplace::new();
    let run = json(&place.succeed("run blur --size 40x30 --random 3 --bench 3 --check --threads 1 --json").stdout);
    assert_eq!(run["app"], "blur");
    let best = if halide::prelude::Target::host().vector_bits > 256 { "columns" } else { "columns_avx2" };
    assert_eq!(run["schedule"], best);
    assert_eq!(run["threads"], 1);
    assert_eq!(run["size"], serde_json::json!([40, 30]));
    assert_eq!(run["runs"], 3);
    assert_eq!(run["checked"], 0);
    for field in ["compile_ms", "next_compile_ms", "min_ms", "median_ms", "mpix_per_s"] {
        assert!(run[field].as_f64().unwrap() > 0.0, "{field}: {run}");
    }
    assert!(run["min_ms"].as_f64() <= run["median_ms"].as_f64());
    assert!(run["backend"].is_string() && run["device"].is_string());
    let run = json(&place.succeed("run blur --size 40x30 --bench 1 --json --backend interp").stdout);
    assert!(run["next_compile_ms"].is_number());
    assert_eq!((&run["checked"], &run["backend"]), (&Value::Null, &Value::from("interp")));
    assert_eq!(place.files(), Vec::<String>::new(), "a bench writes nothing");
}

#[test]
fn profiles_name_every_func_with_its_place() {
    let place = Workplace::new();
    let text = place.succeed("run blur --size 600x400 --schedule tiles --profile").stdout;
    for word in ["samples", "x needed", "blur_x", "blur_y", "blur.rs:"] {
        assert!(text.contains(word), "{word} in\n{text}");
    }
    let run = json(&place.succeed("run blur --size 600x400 --schedule tiles --profile --json").stdout);
    let profile = &run["profile"][0];
    let shares = profile["rows"].as_array().unwrap().iter().map(|row| row["share"].as_f64().unwrap());
    assert!((shares.sum::<f64>() - 1.0).abs() < 0.005, "{profile}");
    let count =
        |func: &str| profile["counts"].as_array().unwrap().iter().find(|of| of["func"] == func).unwrap().clone();
    assert_eq!(count("blur_y")["needed"], 600 * 400);
    assert!(count("blur_x")["points"].as_u64() > count("blur_x")["needed"].as_u64());
    let refused = place.run("run blur --size 60x40 --profile --backend interp");
    assert_ne!(refused.status, 0);
    assert!(refused.stderr.contains("--backend cpu"), "{}", refused.stderr);
}

/// A schedule that is chosen gives the same pixels, and its costs are told without a run.
#[test]
fn schedules_are_chosen_and_costs_told() {
    let place = Workplace::new();
    let run = json(&place.succeed("run unsharp --schedule auto --size 40x30 --check --threads 2 --json").stdout);
    assert_eq!((&run["schedule"], &run["checked"]), (&Value::from("auto"), &Value::from(0)));
    let shown = place.succeed("run unsharp --schedule auto --size 400x300 --threads 2 --print schedule --explain-nest");
    for part in ["output: compute_root()", "parallel", "iterations, each touches", "\nwork: ", "\nmemory: "] {
        assert!(shown.stdout.contains(part), "no {part} in\n{}", shown.stdout);
    }
    assert!(shown.stderr.contains("ms with every Func at the root"), "{}", shown.stderr);
    let text = json(&place.succeed("run blur --size 40x30 --explain-nest --json").stdout);
    assert!(text["text"].as_str().is_some_and(|text| text.contains("blur_y: ")), "{text}");
    assert_eq!(place.files(), Vec::<String>::new(), "nothing was written");
}

/// Random inputs of no size that anybody asked for are as large as the schedule estimates.
#[test]
fn sizes_that_schedules_estimate() {
    let place = Workplace::new();
    std::fs::write(place.path("a.sched"), "blur_y: set_estimates([0, 48], [0, 20])").unwrap();
    let size = |args: &str| json(&place.succeed(args).stdout)["size"].clone();
    assert_eq!(size("run blur --random 3 --schedule a.sched --json"), serde_json::json!([48, 20]));
    assert_eq!(size("run blur --random 3 --size 8x9 --schedule a.sched --json"), serde_json::json!([8, 9]));
}

#[test]
fn a_bench_in_words() {
    let place = Workplace::new();
    let ran = place.succeed("run blur --size 40x30 --bench 2 --check");
    assert!(ran.stdout.contains("2 runs: min") && ran.stdout.contains("Mpix/s"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nagrees with the interpreter\n"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "", "no progress bar in a pipe");
}

#[test]
fn compare_shows_every_schedule() {
    let place = Workplace::new();
    let text = place.succeed("compare blur --size 30x20 --bench 1").stdout;
    for name in ["columns", "columns_avx2", "strips", "tiles", "sliding_window", "full_fusion", "breadth_first", "root"]
    {
        let is_own = |l: &&str| l.split_whitespace().next() == Some(name);
        let line = text.lines().find(is_own).unwrap_or_else(|| panic!("{name}\n{text}"));
        assert!(line.ends_with("agrees"), "{line}");
    }
    let rows = json(&place.succeed("compare blur --size 30x20 --bench 2 --json").stdout);
    let of_cpu = rows.as_array().unwrap().iter().filter(|r| r["backend"] == "cpu");
    assert_eq!(of_cpu.count(), 8);
    assert!(rows.as_array().unwrap().iter().all(|r| r["checked"] == 0));
}

#[test]
fn a_printed_schedule_can_be_run() {
    let place = Workplace::new();
    let printed = place.succeed("run blur --size 30x20 --schedule strips --print schedule").stdout;
    assert!(printed.contains("blur_x: store_at(blur_y, yo)"), "{printed}");
    std::fs::write(place.path("mine.sched"), &printed).unwrap();
    let ran = place.succeed("run blur --size 30x20 --schedule mine.sched --check");
    assert!(ran.stdout.contains("agrees with the interpreter"), "{}", ran.stdout);
    assert_eq!(place.files(), ["mine.sched"]);
}

/// One page that needs nothing else: that of `halide report`, of what the run knows.
#[test]
fn a_report_as_html() {
    let place = Workplace::new();
    place.succeed("run blur --size 40x30 --bench 1 --schedule sliding_window --html report.html");
    let page = std::fs::read_to_string(place.path("report.html")).expect("the report is there");
    for text in ["<title>blur \u{b7} sliding_window</title>", "default-src 'none'", "40x30", "blur_x"] {
        assert!(page.contains(text), "{text}");
    }
    let failed = place.run("run blur --size 40x30 --html nowhere/report.html");
    assert_eq!(failed.status, 1);
    assert!(failed.stderr.contains("nowhere/report.html"), "{}", failed.stderr);
}

#[test]
fn edges_of_regions_name_who_demanded_them() {
    let place = Workplace::new();
    let text = place.succeed("run blur --schedule breadth_first --explain-bounds blur_x").stdout;
    assert!(
        text.starts_with(
            "`blur_x` over the whole run\n  x from blur_y.x.min: the definition of `blur_y` at apps/src/filters/blur.rs:"
        ),
        "{text}"
    );
    assert!(
        text.contains("  y to blur_y.y.max + 2: the definition of `blur_y` at apps/src/filters/blur.rs:"),
        "{text}"
    );
    assert!(text.contains(" reads blur_x(x, y + 2)\n"), "{text}");
    assert_eq!(place.files(), Vec::<String>::new(), "nothing is run");
    let wrong = place.run("run blur --explain-bounds blur_z");
    assert_eq!(wrong.status, 1);
    assert!(wrong.stderr.contains("the pipeline has no Func `blur_z`; its Funcs are"), "{}", wrong.stderr);
}

/// The declared machine as a table, as JSON, and as a file that is read back.
#[test]
fn machine_says_who_told_each_figure() {
    let place = Workplace::new();
    let text = place.succeed("machine").stdout;
    for word in ["cores", "clock", "vector registers", "cache 1 size", "memory bandwidth", "system", "typical"] {
        assert!(text.contains(word), "{word} in\n{text}");
    }
    assert!(!text.contains("measured"), "{text}");
    assert_eq!(place.files(), Vec::<String>::new(), "nothing is kept");
    let all = json(&place.succeed("machine --json").stdout);
    assert_eq!((&all["sources"]["speeds"], &all["bandwidths"]), (&Value::from("typical"), &Value::Null));
    let caches = all["machine"]["caches"].as_array().unwrap();
    assert_eq!(all["sources"]["caches"].as_array().unwrap().len(), caches.len());
    let written = place.succeed("machine -o machine.json").stdout;
    assert!(written.ends_with("wrote machine.json\n"), "{written}");
    let file = std::fs::read(place.path("machine.json")).unwrap();
    let machine = halide::machine_file::read(&file).unwrap();
    assert_eq!(machine, halide::machine::Machine::host());
    assert_eq!(serde_json::from_slice::<Value>(&file).unwrap(), all["machine"]);
}

/// Figures that are measured are numbers of any size, since others use the machine, too.
#[test]
fn machine_is_measured_when_asked() {
    let place = Workplace::new();
    let all = json(&place.succeed("machine --measure --json -o machine.json").stdout);
    assert_eq!(
        (all["sources"]["speeds"].as_str(), all["sources"]["latencies"].as_str()),
        (Some("measured"), Some("typical"))
    );
    let machine = halide::machine_file::read(&std::fs::read(place.path("machine.json")).unwrap()).unwrap();
    assert_eq!(machine.ghz, all["machine"]["ghz"].as_f64().unwrap());
    assert_eq!(place.files(), ["machine.json"]);
    let bandwidths = all["bandwidths"].as_array().unwrap();
    assert_eq!(bandwidths[0]["bytes"], 16 << 10);
    assert!(bandwidths.iter().all(|row| row["sum"].as_f64() > Some(0.0) && row["copy"].as_f64() > Some(0.0)));
}
