//! `halide auto`: schedules that are chosen and written, prices, and steps to faster schedules.

use crate::Workplace;
use crate::bad_input::{check, check_usage};
use halide::machine::Machine;
use halide::prelude::*;
use halide_apps::app::APPS;
use halide_apps::job::{Job, Source};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn a_chosen_schedule_is_printed_or_written_and_runs() {
    let place = Workplace::new();
    let printed = place.succeed("auto blur --size 640x480 --threads 1 --explain").stdout;
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].starts_with("# Chosen for blur by halide "), "{printed}");
    assert_eq!(lines[2], "# sizes blur_y[0..640, 0..480] input[0..642, 0..482]");
    assert!(lines[4].starts_with("# predicted ") && lines[4].ends_with(" with every Func at the root"), "{printed}");
    assert!(lines[5].contains(" ms for blur_y <- blur_x"), "{printed}");
    Schedule::parse(&printed, "printed").unwrap();
    let ran = place.succeed("auto blur --size 640x480 --threads 1 -o a.sched").stdout;
    assert!(ran.starts_with("blur: predicted ") && ran.ends_with("\nwrote a.sched\n"), "{ran}");
    let text = fs::read_to_string(place.path("a.sched")).unwrap();
    let directives = |text: &str| text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    assert_eq!(directives(&text), directives(&printed));
    let chosen = place.succeed("run blur --size 640x480 --threads 1 --schedule auto --print schedule").stdout;
    assert_eq!(directives(&text), chosen.trim_end());
    let checked = json(&place.succeed("run blur --size 640x480 --schedule a.sched --check --json").stdout);
    assert_eq!(checked["checked"], 0);
}

/// Kernels are chosen for devices that are not here, and run where there is one (`gpu.rs`).
#[test]
fn kernels_are_chosen_without_a_device() {
    let place = Workplace::new();
    for (app, part) in [("blur", "vectorize("), ("hist", "hist.update(0): "), ("matmul", "product.update(0): ")] {
        let text = place.succeed(&format!("auto {app} --gpu discrete --size 1600x1200")).stdout;
        assert!(text.contains("gpu_blocks(") && text.contains("gpu_threads(") && text.contains(part), "{text}");
        Schedule::parse(&text, "printed").unwrap_or_else(|e| panic!("{e}"));
    }
    let text = place.succeed("auto blur --gpu software --size 64x48").stdout;
    assert!(!text.contains("gpu_"), "the host is faster: {text}");
    let ran = place.run("auto blur --gpu huge");
    assert!(
        ran.status == 2 && ran.stderr.contains("[possible values: discrete, integrated, software]"),
        "{}",
        ran.stderr
    );
    assert_eq!(place.run("auto blur --gpu discrete --price root").status, 2);
}

#[test]
fn the_price_of_what_is_chosen_is_what_was_predicted() {
    let place = Workplace::new();
    let chosen = json(&place.succeed("auto unsharp --size 640x480 --threads 1 -o a.sched --json").stdout);
    let priced = json(&place.succeed("auto unsharp --size 640x480 --threads 1 --price a.sched --json").stdout);
    let ms = |of: &Value| of["predicted_ms"].as_f64().unwrap();
    assert!((ms(&chosen) / ms(&priced) - 1.0).abs() < 0.01, "{chosen} {priced}");
    assert_eq!(priced["approximations"], Value::Array(Vec::new()));
    assert!(ms(&chosen) <= chosen["at_root_ms"].as_f64().unwrap(), "{chosen}");
    let text = place.succeed("auto blur --size 640x480 --price columns").stdout;
    assert!(text.starts_with("blur with schedule `columns`, 640x480: predicted "), "{text}");
    assert!(text.ends_with("\nnote: prefetches are not priced: `blur_y`\n"), "{text}");
}

#[test]
fn advice_is_text_and_a_schedule() {
    let place = Workplace::new();
    let text = place.succeed("auto blur --size 640x480 --threads 1 --advise root -o better.sched").stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].starts_with("predicted ") && lines[1].ends_with(" times as fast:"), "{text}");
    assert!(lines[2].starts_with("  - blur_") && lines[3].starts_with("  + blur_"), "{text}");
    assert_eq!(lines.last(), Some(&"wrote better.sched"));
    let told = json(&place.succeed("auto blur --size 640x480 --threads 1 --advise root --json").stdout);
    let best = &told["advice"][0];
    let [before, after] = ["before_ms", "after_ms"].map(|key| best[key].as_f64().unwrap());
    assert!(after < before && Some(before) == told["predicted_ms"].as_f64(), "{told}");
    let checked = json(&place.succeed("run blur --size 640x480 --schedule better.sched --check --json").stdout);
    assert_eq!(checked["checked"], 0);
    let priced = json(&place.succeed("auto blur --size 640x480 --threads 1 --price better.sched --json").stdout);
    assert!((priced["predicted_ms"].as_f64().unwrap() / after - 1.0).abs() < 0.01, "{priced}");
}

#[test]
fn times_are_those_of_the_machine_in_a_file() {
    let place = Workplace::new();
    place.succeed("machine -o machine.json");
    let text = fs::read_to_string(place.path("machine.json")).unwrap();
    let ghz = text.lines().find(|line| line.contains("\"ghz\"")).unwrap();
    fs::write(place.path("slow.json"), text.replace(ghz, "  \"ghz\": 0.5,")).unwrap();
    let ms = |file: &str| {
        let priced =
            place.succeed(&format!("auto harris --size 640x480 --threads 1 --price root --machine {file} --json"));
        json(&priced.stdout)["predicted_ms"].as_f64().unwrap()
    };
    assert!(ms("slow.json") > 2.0 * ms("machine.json"));
    place.succeed("auto blur --size 64x48 --machine slow.json");
}

/// Every schedule for the host has a price; what it does not know of them is as few as it is.
#[test]
fn every_schedule_of_the_apps_has_a_price() {
    let target = Target { vector_bits: 256, threads: 2, ..Target::host() };
    let machine = Machine::typical(&target);
    let mut noted: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for app in APPS {
        let job = Job::new(app, Source::Random { seed: 0, width: 640, height: 480 }, &[]).unwrap();
        for named in app.schedules.iter().filter(|named| !named.is_for_gpu()) {
            let priced = job.price(&machine, &named.parse().unwrap(), &target);
            let priced = priced.unwrap_or_else(|e| panic!("{} {}: {e}", app.name, named.name));
            assert!(priced.predicted_ns > 0.0 && priced.predicted_ns < 1e12, "{} {}: {priced:?}", app.name, named.name);
            for approximation in priced.approximations {
                noted.entry(format!("{:?}", approximation.part)).or_default().push(app.name);
            }
        }
    }
    noted.values_mut().for_each(Vec::dedup);
    let expected = [
        ("ComputedWith", vec!["harris", "cg_step"]),
        ("InsideUnrolled", vec!["camera_pipe", "nl_means", "lens_blur"]),
        ("LanesApart", vec!["camera_pipe"]),
        ("Prefetch", vec!["blur", "max_filter"]),
        // Arms for interleaved buffers, which run on no planes.
        ("Specialisations", vec!["unsharp", "iir_blur", "resize"]),
        ("Storage", vec!["local_laplacian", "bilateral_grid", "features"]),
    ];
    assert_eq!(noted, expected.map(|(part, apps)| (part.to_string(), apps)).into());
}

/// Schedules that the compiler refuses have no price, and nothing is chosen around them.
#[test]
fn what_the_compiler_refuses_has_no_price() {
    let place = Workplace::new();
    fs::write(place.path("long.sched"), "blur_y: unroll(y, 4096) unroll(x, 4096)").unwrap();
    for how in ["--price", "--advise", "--keep"] {
        check(&place, &format!("auto blur --size 64x48 {how} long.sched"), &["blur_y"]);
    }
}

#[test]
fn given_directives_stay() {
    let place = Workplace::new();
    fs::write(place.path("rows.sched"), "blur_y: split(y, band, row, 24) vectorize(x, 8)").unwrap();
    place.succeed("auto blur --size 640x480 --keep rows.sched -o a.sched");
    let text = fs::read_to_string(place.path("a.sched")).unwrap();
    assert!(text.contains("\nblur_y: split(y, band, row, 24) vectorize(x, 8)\n"), "{text}");
    assert!(text.contains("compute_at(blur_y, row)") || text.contains("compute_at(blur_y, band)"), "{text}");
    let checked = json(&place.succeed("run blur --size 640x480 --schedule a.sched --check --json").stdout);
    assert_eq!(checked["checked"], 0);
}

#[test]
fn mistakes_are_found_before_anything_is_chosen() {
    let place = Workplace::new();
    fs::create_dir(place.path("folder")).unwrap();
    fs::write(place.path("bad.sched"), "blur_x: vectorize(z, 8)").unwrap();
    check(&place, "auto blr", &["no app `blr`", "did you mean `blur`?"]);
    check(&place, "auto blur --size 8x8 --price strps", &["no schedule `strps`", "did you mean `strips`?"]);
    check(&place, "auto blur --size 8x8 --price bad.sched", &["bad.sched:1:9", "`z`"]);
    check(&place, "auto blur --size 8x8 --advise bad.sched", &["bad.sched:1:9", "`z`"]);
    fs::write(place.path("torn.json"), "{\n  \"halide_machine\": 2,\n").unwrap();
    check(&place, "auto blur --size 8x8 --machine torn.json", &["torn.json: line 3", "ends within a value"]);
    check(&place, "auto blur --size 8x8 --machine none.json", &["none.json: No such file"]);
    check(&place, "auto blur --size 8x8 --keep bad.sched", &["bad.sched:1:9", "`z`"]);
    check(&place, "auto blur --size 8x8 --keep strps", &["no schedule `strps`", "did you mean `strips`?"]);
    check(&place, "auto blur --size 8x8 -o folder", &["folder: "]);
    check(&place, "auto blur --size 8x8 -o none/a.sched", &["none"]);
    check(&place, "auto blur --size 0x8", &["width and height must be at least 1"]);
    check_usage("auto blur --price cpu --advise cpu", "cannot be used with");
    check_usage("auto blur --price cpu --keep cpu", "cannot be used with");
    check_usage("auto blur --price cpu -o a.sched", "cannot be used with");
    check_usage("auto blur --advise cpu --allow contract", "cannot be used with");
    check_usage("auto blur in.png --size 8x8", "there is no image to read");
}
