//! The classic two-stage example on 3072x2048: how often the producer is evaluated, and how much of it is stored.

use halide::prelude::*;
use halide_cpu::{CpuOptions, RunArgs, compile};
use halide_sched::lower::{Counted, LowerOptions, lower};

/// Points of `blur_x` computed, and elements of it per allocation, on one thread.
fn counts(schedule: &str) -> (i64, i64) {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut blur_x, mut blur_y) = (Func::new("blur_x"), Func::new("blur_y"));
    blur_x[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
    blur_y[(x, y)] = (blur_x[(x, y)] + blur_x[(x, y + 1)] + blur_x[(x, y + 2)]) / 3;
    let pipeline = Pipeline::new([&blur_y]).unwrap();
    let plan = halide::plan::resolve(&pipeline, &schedule.parse().unwrap(), &Target::host()).unwrap();
    let options = LowerOptions { count: true, ..LowerOptions::default() };
    let program = lower(&plan, &options).unwrap().program;
    let code = compile(&program, &CpuOptions::default()).unwrap();
    let image = AnyBuffer::new(U16, [3074, 2048]).unwrap();
    let mut out = AnyBuffer::new(U16, [3072, 2046]).unwrap();
    let mut view = out.view_mut().unwrap();
    let buffers = [image.raw(), view.raw_mut()];
    let stats = code.run(&RunArgs { buffers: &buffers, threads: Some(1), ..RunArgs::default() }).unwrap();
    let counter = |what: Counted| {
        let name = what.counter("blur_x");
        let at = program.counters.iter().position(|c| *c == name).expect("a counter of this name");
        stats.counters[at]
    };
    (counter(Counted::Points), counter(Counted::Elements) / counter(Counted::Allocations))
}

#[test]
fn breadth_first() {
    assert_eq!(counts("blur_x: compute_root()"), (6_291_456, 2048 * 3072));
}

#[test]
fn sliding_window() {
    assert_eq!(counts("blur_x: store_root() compute_at(blur_y, y)"), (6_291_456, 3 * 3072));
}

#[test]
fn full_fusion() {
    assert_eq!(counts("blur_x: compute_at(blur_y, x)"), (18_855_936, 3));
}

#[test]
fn tiles() {
    let schedule = "blur_y: tile(x, y, xo, yo, xi, yi, 32, 32)\n blur_x: compute_at(blur_y, xo)";
    assert_eq!(counts(schedule), (6_684_672, 34 * 32));
}

#[test]
fn strips() {
    let schedule = "blur_y: split(y, yo, yi, 8)\n blur_x: store_at(blur_y, yo) compute_at(blur_y, yi)";
    assert_eq!(counts(schedule), (7_864_320, 3 * 3072));
}
