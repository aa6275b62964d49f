//! Every app under every schedule for the CPU against the interpreter, at sizes around its vectors and tiles.

use halide::prelude::*;
use halide_apps::app;
use halide_apps::job::{Difference, Job, Source};
use halide_skips::{Need, skip};

/// One pixel, less than a vector, primes, and more than a tile or a strip.
const SIZES: [(i64, i64); 5] = [(1, 1), (5, 3), (17, 13), (37, 23), (67, 71)];

/// The families of vector instructions that this machine has. The ledger of skips gets the others.
fn tiers() -> impl Iterator<Item = halide::Tier> {
    halide::Tier::ALL.into_iter().filter(|tier| {
        let has = tier.vector_bits() <= Target::host().vector_bits;
        if !has {
            skip(Need::Cpu(&tier.needs().to_string()), "");
        }
        has
    })
}

#[track_caller]
fn check(name: &str, sizes: &[(i64, i64)], settings: &[(&str, &str)]) {
    let app = app::find(name).expect("the app is there");
    let given: Vec<(String, String)> = settings.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    let random = |(seed, &(width, height)): (usize, &(i64, i64))| {
        let job = Job::new(app, Source::Random { seed: seed as u64, width, height }, &given).unwrap();
        (format!("{width}x{height}"), job)
    };
    let jobs: Vec<(String, Job)> = sizes.iter().enumerate().map(random).collect();
    let run = |(size, job): &(String, Job), compiled: &Compiled| {
        let mut outputs = job.outputs().unwrap();
        job.run(compiled, None, &mut outputs).unwrap_or_else(|e| panic!("{name} {size}: {e}"));
        outputs.swap_remove(0)
    };
    // What is compiled runs for every size.
    let largest = &jobs[jobs.len() - 1].1;
    let pipeline = &largest.pipeline;
    let reference = Compiler::new(pipeline).engine(Engine::Interp).compile().unwrap();
    let expected: Vec<AnyBuffer> = jobs.iter().map(|job| run(job, &reference)).collect();
    // The schedule that is chosen for one size is right at all of them.
    let auto =
        largest.auto_schedule(&Target::host(), &AutoOptions::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(auto.refused, Vec::<String>::new(), "{name}");
    let chosen = pipeline.compile(&auto.schedule, &Target::host()).unwrap_or_else(|e| panic!("{name}: {e}"));
    for (job, expected) in jobs.iter().zip(&expected) {
        assert!(run(job, &chosen) == *expected, "{name} by a chosen schedule, {}:\n{}", job.0, auto.schedule);
    }
    for named in app.schedules.iter().filter(|s| !s.is_for_gpu()) {
        let (schedule, what) = (named.parse().unwrap(), named.name);
        for tier in tiers() {
            let target = Target { vector_bits: tier.vector_bits(), ..Target::host() };
            let compiled = pipeline.compile(&schedule, &target).unwrap_or_else(|e| panic!("{name}: {e}"));
            let explained = compiled.explain().unwrap().to_string();
            let serial: Vec<&str> = explained.lines().filter(|line| line.contains("not vectorized")).collect();
            assert!(serial.is_empty(), "{name} by `{what}` at {}: {serial:#?}", tier.name());
            for (job, expected) in jobs.iter().zip(&expected) {
                let place = format!("{name} by `{what}` at {}, {}", tier.name(), job.0);
                let mut difference = Difference::default();
                difference.add(expected, &run(job, &compiled));
                let by = difference.largest;
                assert!(difference.is_allowed(schedule.reassociates()), "{place}: differs by {by}");
                // With the schedule for this tier, no question in front of loops asks for more than accesses need.
                let slow = compiled.variants().iter().any(|v| v.checks_in_place);
                let best = app.best(false, tier.vector_bits()).name == what;
                assert!(!slow || !best, "{place}: checks in place");
            }
        }
    }
}

#[test]
fn blur() {
    check("blur", &SIZES, &[]);
}

#[test]
fn local_laplacian() {
    check("local_laplacian", &[(1, 1), (13, 7), (35, 67)], &[]);
}

#[test]
fn unsharp() {
    check("unsharp", &SIZES, &[]);
}

#[test]
fn mandelbrot() {
    check("mandelbrot", &SIZES, &[]);
    check("mandelbrot", &SIZES, &[("view", "valley")]);
}

#[test]
fn cg_step() {
    check("cg_step", &SIZES, &[]);
}

#[test]
fn collatz() {
    check("collatz", &SIZES, &[]);
}

#[test]
fn harris() {
    check("harris", &SIZES, &[]);
}

#[test]
fn hist() {
    check("hist", &SIZES, &[]);
}

#[test]
fn max_filter() {
    check("max_filter", &SIZES[..3], &[]);
}

#[test]
fn stencil_chain() {
    check("stencil_chain", &SIZES[..2], &[]);
}

#[test]
fn box_filter() {
    check("box_filter", &SIZES, &[]);
    check("box_filter", &SIZES[1..], &[("radius", "0")]);
    check("box_filter", &SIZES[..4], &[("radius", "7")]);
}

#[test]
fn cumsum() {
    for ty in ["f32", "f64", "i32"] {
        check("cumsum", &[(1, 1), (3, 1), (17, 1), (4096, 1), (4097, 3)], &[("type", ty)]);
    }
}

#[test]
fn iir_blur() {
    check("iir_blur", &SIZES, &[]);
}

#[test]
fn interpolate() {
    check("interpolate", &[(1, 1), (13, 7), (33, 35)], &[]);
}

#[test]
fn matmul() {
    check("matmul", &[(1, 1), (5, 3), (37, 23)], &[]);
    check("matmul", &[(17, 13)], &[("type", "f64")]);
}

#[test]
fn conv_layer() {
    check("conv_layer", &[(1, 1), (7, 2)], &[]);
}

#[test]
fn features() {
    check("features", &[(1, 1), (7, 2), (19, 21)], &[]);
}

#[test]
fn bilateral_grid() {
    check("bilateral_grid", &SIZES, &[]);
}

#[test]
fn resize() {
    check("resize", &SIZES, &[]);
    for (filter, ty, scale) in
        [("box", "u8", "1/3"), ("linear", "u16", "2"), ("lanczos", "f32", "3/4"), ("cubic", "u8", "4/3")]
    {
        check("resize", &SIZES[1..3], &[("filter", filter), ("type", ty), ("scale", scale)]);
    }
}

#[test]
fn camera_pipe() {
    check("camera_pipe", &SIZES, &[]);
}

#[test]
fn nl_means() {
    check("nl_means", &SIZES[..3], &[]);
}

#[test]
fn lens_blur() {
    check("lens_blur", &[(1, 1), (9, 5)], &[("slices", "6"), ("focus", "2"), ("samples", "3")]);
}
