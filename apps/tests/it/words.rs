//! Words of the command line: help, completions, colours, and speeds in the unit of an app.

use crate::bad_input::{check, check_usage};
use crate::{Workplace, write_grey};
use halide::schedule::rows;
use serde_json::Value;

const COMMANDS: [&str; 13] = [
    "list",
    "run",
    "compare",
    "check",
    "auto",
    "tune",
    "watch",
    "why",
    "bench",
    "new",
    "machine",
    "completions",
    "help",
];

#[test]
fn help_of_every_command_ends_with_examples() {
    let place = Workplace::new();
    for command in COMMANDS {
        let help = place.succeed(&format!("{command} --help")).stdout;
        let examples = help.split_once("Examples:\n").unwrap_or_else(|| panic!("{command}\n{help}")).1;
        assert!(examples.contains(&format!("halide {command}")), "{command}\n{examples}");
    }
    assert!(place.succeed("--help").stdout.contains("Examples:\n  halide list"));
}

#[test]
fn help_of_a_command_is_that_behind_it() {
    let place = Workplace::new();
    for command in COMMANDS {
        let behind = place.succeed(&format!("{command} --help")).stdout;
        assert_eq!(place.succeed(&format!("help {command}")).stdout, behind, "{command}");
    }
    assert_eq!(place.succeed("help").stdout, place.succeed("--help").stdout);
    check_usage("help walk", "unrecognized subcommand");
}

#[test]
fn help_explains_the_words_of_schedules() {
    let place = Workplace::new();
    let page = include_str!("../../../docs/schedule.md");
    assert_eq!(place.succeed("help schedule").stdout, page);
    for row in rows() {
        let section = place.succeed(&format!("help schedule {}", row.word)).stdout;
        let (title, text) = section.split_once('\n').expect("lines");
        assert!(title.starts_with("### ") && title.contains(&format!("`{}`", row.word)), "{}\n{section}", row.word);
        assert!(!text.contains("\n##"), "only its section\n{section}");
        let last = "\n\nThe examples are schedules of one algorithm: `halide help schedule algorithm`.\n";
        assert!(page.contains(section.strip_suffix(last).expect("where the algorithm is")), "{section}");
    }
    let topic = place.succeed("help schedule Places").stdout;
    assert!(topic.starts_with("## Places\n") && topic.contains("\n### `compute_at`\n"), "{topic}");
    let algorithm = place.succeed("help schedule algorithm").stdout;
    assert!(algorithm.contains("fn algorithm()") && !algorithm.contains("## Text"), "{algorithm}");
    let text = "the language of schedules has no word `vectorise`; did you mean `vectorize`?";
    check(&place, "help schedule vectorise", &[text]);
    check(&place, "help schedule parralel", &["did you mean `parallel`?"]);
    check(&place, "help schedule qqqqqqqq", &["`halide help schedule` shows all of them"]);
}

#[test]
fn shells_complete_the_commands() {
    let place = Workplace::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.succeed(&format!("completions {shell}")).stdout;
        for word in COMMANDS {
            assert!(script.contains(word), "{shell}: {word}");
        }
        assert!(script.contains("memory-cap"), "{shell}");
    }
    assert_eq!(place.run("completions basic").status, 2);
}

#[test]
fn colours_are_for_terminals_and_can_be_turned_off() {
    let place = Workplace::new();
    let escape = '\u{1b}';
    let forced = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "")];
    let error = place.run_with("run blr", &forced).stderr;
    assert!(error.contains(escape) && error.contains("error:"), "{error:?}");
    let list = place.run_with("list", &forced).stdout;
    assert!(list.contains("\u{1b}[1mblur\u{1b}[0m: "), "{list:?}");
    for variables in [&[][..], &[("NO_COLOR", "1")]] {
        assert!(!place.run_with("run blr", variables).stderr.contains(escape));
        assert!(!place.run_with("list", variables).stdout.contains(escape));
    }
    // What comes from a file stays escaped where colours are.
    let error = place.run_with("run blur \u{1b}[31m.png", &forced).stderr;
    assert!(error.contains("\\u{1b}[31m.png"), "{error:?}");
}

#[test]
fn speeds_of_products_are_in_operations() {
    let place = Workplace::new();
    let json = |args: &str| serde_json::from_str::<Value>(&place.succeed(args).stdout).expect("JSON");
    for (app, operations) in [("matmul", 2.0 * 64.0 * 64.0 * 32.0), ("conv_layer", 2.0 * 9.0 * 128.0 * 128.0 * 10240.0)]
    {
        let text = place.succeed(&format!("run {app} --size 64x32 --bench 2")).stdout;
        assert!(text.contains(" GFLOP/s") && !text.contains("Mpix/s"), "{text}");
        let run = json(&format!("run {app} --size 64x32 --bench 2 --json"));
        let expected = operations / run["median_ms"].as_f64().unwrap() / 1e6;
        let told = run["gflop_per_s"].as_f64().unwrap();
        assert!((told / expected - 1.0).abs() < 1e-9, "{app}: {told} {expected}");
        assert!(run["mpix_per_s"].as_f64() > Some(0.0));
    }
    let table = place.succeed("compare matmul --size 32x32 --bench 1").stdout;
    assert!(table.contains("GFLOP/s") && !table.contains("Mpix/s"), "{table}");
    assert!(json("compare matmul --size 32x32 --bench 1 --json")[0]["gflop_per_s"].as_f64() > Some(0.0));
    assert_eq!(json("run blur --size 32x32 --json")["gflop_per_s"], Value::Null);
}

#[test]
fn a_parameter_that_is_given_twice_is_named() {
    let place = Workplace::new();
    let text = "parameter `sigma` is given twice, as `1` and as `2`; give it once";
    check(&place, "run unsharp --size 8x8 --param sigma=1 --param sigma=2", &[text]);
    let text = "parameter `scale` is given twice, as `2` and as `2`";
    check(&place, "run resize --size 8x8 --param scale=2 --param scale=2", &[text]);
    check(&place, "compare unsharp --size 8x8 --param sigma=1 --param sigma=2", &["`sigma` is given twice"]);
}

/// The run would take minutes.
#[test]
fn reports_that_cannot_be_written_are_found_before_the_run() {
    let place = Workplace::new();
    write_grey(&place.path("a.png"), 8, 8);
    let run = "run local_laplacian --size 3000x3000 --backend interp --html";
    check(&place, &format!("{run} nowhere/report.html"), &["nowhere", "No such file"]);
    check(&place, &format!("{run} a.png/report.html"), &["a.png", "Not a directory"]);
}

#[test]
fn schedules_for_a_gpu_are_refused_in_one_line() {
    let place = Workplace::new();
    let remedy = if cfg!(feature = "gpu") { "add --backend gpu\n" } else { "build halide with `--features gpu`" };
    std::fs::write(place.path("mine.sched"), "blur_y: gpu_tile(x, y, xo, yo, xi, yi, 8, 8)").unwrap();
    for schedule in ["gpu", "gpu_tiles", "gpu_slide", "mine.sched"] {
        let args = format!("run blur --size 8x8 --schedule {schedule}");
        check(&place, &args, &["the schedule gives work to a GPU, and the CPU runs all", remedy]);
        assert_eq!(place.run(&args).stderr.lines().count(), 1);
    }
}
