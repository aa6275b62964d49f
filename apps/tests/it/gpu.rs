//! GPUs on the command line: what works with one, and what is said without.

use crate::Workplace;
use halide::gpu::{Choice, Gpu};
use halide_skips::{Need, skip};

/// Returns true if there is a device; otherwise the test is skipped.
fn has_device() -> bool {
    Gpu::open(&Choice::from_env()).inspect_err(|error| skip(Need::Device, error)).is_ok()
}

#[test]
fn apps_have_the_same_pixels_on_a_device() {
    if !has_device() {
        return;
    }
    let place = Workplace::new();
    for args in ["blur --size 37x21", "blur --schedule gpu_tiles --size 131x67", "local_laplacian --size 45x38"] {
        let ran = place.succeed(&format!("run {args} --backend gpu --check --json"));
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!((&json["checked"], &json["backend"]), (&0.into(), &"gpu".into()), "{args}: {json}");
    }
}

/// The photograph has the size at which a bound of iterations, over all blocks at once, was above what llvmpipe allows.
#[test]
fn the_photograph_under_every_schedule_for_devices() {
    if !has_device() {
        return;
    }
    let place = Workplace::new();
    for schedule in ["gpu", "gpu_words", "gpu_tiles", "gpu_slide", "gpu_inline"] {
        let ran = place.succeed(&format!("run blur --schedule {schedule} --backend gpu --json"));
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(json["backend"], "gpu", "{schedule}: {json}");
    }
}

#[test]
fn apps_without_kernels_say_that_the_host_runs_them() {
    if !has_device() {
        return;
    }
    let ran = Workplace::new().succeed("run harris --size 40x30 --backend gpu");
    assert!(
        ran.stderr.contains("note: harris has no schedule with kernels, so `cpu` runs on the host"),
        "{}",
        ran.stderr
    );
}

/// Kernels for a card run on any device; a device that the host is faster than gets none, which is said.
#[test]
fn kernels_that_are_chosen_have_the_same_pixels() {
    if !has_device() {
        return;
    }
    let place = Workplace::new();
    for app in ["blur", "unsharp", "hist", "harris"] {
        place.succeed(&format!("auto {app} --gpu discrete --size 800x600 -o {app}.sched"));
        let ran = place.succeed(&format!("run {app} --schedule {app}.sched --backend gpu --size 45x38 --check --json"));
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!((&json["checked"], &json["backend"]), (&0.into(), &"gpu".into()), "{app}: {json}");
    }
    let ran = place.succeed("run blur --schedule auto --backend gpu --size 40x30 --check");
    let has_kernels = place.succeed("run blur --schedule auto --backend gpu --size 40x30 --print schedule");
    assert_eq!(
        ran.stderr.contains("note: the host alone is predicted to be faster than this device"),
        !has_kernels.stdout.contains("gpu_blocks"),
        "{}",
        ran.stderr
    );
}

#[test]
fn kernels_are_printed_and_timed() {
    if !has_device() {
        return;
    }
    let place = Workplace::new();
    let wgsl = place.succeed("run blur --backend gpu --print wgsl").stdout;
    assert!(wgsl.contains("@compute @workgroup_size(16, 8, 1)"), "{wgsl}");
    let spirv = place.succeed("run blur --backend gpu --print spirv").stdout;
    assert!(spirv.lines().any(|line| line.starts_with("07230203 ")), "{spirv}");
    let profile = place.succeed("run blur --size 40x30 --backend gpu --bench 1 --profile").stdout;
    assert!(profile.contains("1 kernels started in 1 batches"), "{profile}");
    assert!(place.succeed("list").stdout.contains("device 0: "));
}

#[test]
fn what_there_is_not_is_said() {
    let place = Workplace::new();
    let ran = place.run("run blur --backend gpu --device no_such_device --size 8x8");
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("a device whose name contains \"no_such_device\" was asked for"), "{}", ran.stderr);
    let ran = place.run("run blur --schedule gpu --size 8x8");
    assert_eq!(ran.status, 1);
    assert_eq!(ran.stderr, "error: the schedule gives work to a GPU, and the CPU runs all; add --backend gpu\n");
    let ran = place.run("run blur --size 8x8 --profile --backend interp");
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("needs --backend cpu"), "{}", ran.stderr);
}
