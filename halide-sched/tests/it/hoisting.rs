//! `hoist_storage`: memory is allocated once for many uses of storage, and no value changes.

use crate::matrix::{TARGET, check, random_image};
use halide_core::Pipeline;
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::types::*;
use halide_core::{Func, ImageParam, vars};
use halide_ir::eval::{self, BufferStats};
use halide_sched::lower::{LowerOptions, lower};

fn stencil() -> Pipeline {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 3 - input[(x + 1, y)];
    g[(x, y)] = f[(x - 1, y)] + f[(x + 1, y + 1)] * 5;
    Pipeline::new([&g]).unwrap()
}

/// Returns the memory that `f` takes on an output of `w` by `h`, and the decisions of the lowering on it.
fn measure(schedule: &str, w: i32, h: i32) -> (BufferStats, String) {
    let pipeline = stencil();
    let plan = halide_sched::plan::resolve(&pipeline, &schedule.parse().unwrap(), &TARGET).unwrap();
    let lowered = lower(&plan, &LowerOptions::default()).unwrap();
    let image = random_image(I16, &Region::of_spans([(-9, w + 60), (-6, h + 60)]), 5);
    let mut out = [AnyBuffer::new(I16, [w, h]).unwrap()];
    let stats =
        eval::run(&lowered.program, &[], &[image], &mut out).unwrap_or_else(|e| panic!("{e}\n{}", lowered.program));
    let f = lowered.program.buffers.enumerate().find(|(_, b)| b.name == "f").expect("f is stored").0;
    let pass = lowered.trace.passes.iter().filter(|p| ["build_nests", "hoist_storage"].contains(&p.name));
    let text: Vec<String> = pass.flat_map(|p| &p.decisions).map(|d| d.to_string()).collect();
    (stats.buffers[f].clone(), text.join("\n"))
}

#[test]
fn one_allocation_as_large_as_the_largest_use() {
    let (per_row, said) = measure("f: compute_at(g, y)", 21, 12);
    assert_eq!((per_row.allocations, said.as_str()), (12, ""));
    let (once, said) = measure("f: compute_at(g, y) hoist_storage_root()", 21, 12);
    assert_eq!((once.allocations, once.peak_elements), (1, per_row.peak_elements));
    assert_eq!(said, "f: allocated once at the root, ? x 2 elements");
}

#[test]
fn between_the_loops() {
    let split = "g: split(y, yo, yi, 4, GuardWithIf)\n f: compute_at(g, yi) store_at(g, yo)";
    let (per_strip, _) = measure(split, 21, 11);
    assert_eq!(per_strip.allocations, 3);
    let (hoisted, said) = measure(&format!("{split} hoist_storage_root()"), 21, 11);
    assert_eq!((hoisted.allocations, hoisted.peak_elements), (1, per_strip.peak_elements));
    assert!(said.contains("at the root"), "{said}");
    let inner = "g: split(y, yo, yi, 4, GuardWithIf)\n f: compute_at(g, x) hoist_storage(g, yo)";
    let (hoisted, said) = measure(inner, 21, 11);
    assert_eq!((hoisted.allocations, hoisted.peak_elements), (3, 6));
    assert_eq!(said, "f: allocated once per iteration of g.yo, 3 x 2 elements");
}

#[test]
fn never_out_of_a_parallel_loop() {
    let schedule = "g: split(y, yo, yi, 4) parallel(yo)\n f: compute_at(g, yi) store_root() hoist_storage_root()";
    let (stats, said) = measure(schedule, 21, 12);
    assert_eq!((stats.allocations, said.as_str()), (3, ""), "storage moved into the loop, and memory with it");
    let schedule = "g: split(y, yo, yi, 4) parallel(yo)\n f: compute_at(g, x) store_at(g, yi) hoist_storage(g, yo)";
    let (stats, _) = measure(schedule, 21, 12);
    assert_eq!(stats.allocations, 3);
}

const SCHEDULES: [&str; 9] = [
    "f: compute_at(g, x) hoist_storage_root()",
    "f: compute_at(g, y) hoist_storage_root() vectorize(x, 4)\n g: vectorize(x, 4)",
    "g: split(y, yo, yi, 3)\n f: compute_at(g, yi) store_at(g, yo) hoist_storage_root()",
    "g: split(y, yo, yi, 3, GuardWithIf) split(x, xo, xi, 4, GuardWithIf) reorder(xi, yi, xo, yo)\n f: compute_at(g, xo) hoist_storage(g, yo)",
    "g: tile(x, y, xo, yo, xi, yi, 8, 4) parallel(yo)\n f: compute_at(g, xo) hoist_storage(g, yo) vectorize(x, 4)",
    "g: split(x, xo, xi, 8) unroll(xi)\n f: compute_at(g, xo) hoist_storage(g, y) reorder_storage(y, x)",
    "g: specialize(g.extent(0) >= 8)\n g.specialize(g.extent(0) >= 8): vectorize(x, 4)\n f: compute_at(g, y) hoist_storage_root()",
    "g: specialize(g.extent(0) >= 8)\n g.specialize(g.extent(0) >= 8): split(x, xo, x, 4)\n f: compute_at(g, x) hoist_storage(g, y)",
    "f: compute_at(g, x) store_at(g, y) hoist_storage_root() store_in(Heap)",
];

#[test]
fn keeps_every_value() {
    for schedule in SCHEDULES {
        for (w, h) in [(1, 1), (2, 5), (4, 4), (7, 3), (8, 12), (13, 8), (24, 9)] {
            let input = random_image(I16, &Region::of_spans([(-9, w + 60), (-6, h + 60)]), 5);
            check(&stencil(), schedule, &[("in", input)], &Region::of_spans([(-1, w), (2, h)]));
        }
    }
}

#[test]
fn memory_without_a_bound_stays_inside() {
    let (x, y) = vars!(x, y);
    let index = ImageParam::new("index", I32, 1);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = x + y;
    g[(x, y)] = f[(0, y)] + f[(index[y], y)] + x;
    let p = Pipeline::new([&g]).unwrap();
    let schedule = "f: compute_at(g, y) hoist_storage_root()";
    let plan = halide_sched::plan::resolve(&p, &schedule.parse().unwrap(), &TARGET).unwrap();
    let text = lower(&plan, &LowerOptions::default()).unwrap().trace.to_string();
    assert!(text.contains("f: not hoisted, because nothing known at the root bounds its extent"), "{text}");
}

/// Rows between two coordinates, one of which moves with the loop: what is known of any coordinate bounds their number,
/// and the loop's own ends bound it better.
#[test]
fn as_large_as_the_loop_makes_it() {
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = x + y;
    g[x] = f[(x, 1)] + f[(x, x / 3)];
    let p = Pipeline::new([&g]).unwrap();
    let schedule = "f: compute_at(g, x) hoist_storage_root()";
    let plan = halide_sched::plan::resolve(&p, &schedule.parse().unwrap(), &TARGET).unwrap();
    let program = lower(&plan, &LowerOptions::default()).unwrap().program;
    let mut outputs = [AnyBuffer::with_region(I32, &Region::of_spans([(-6, 20)])).unwrap()];
    let stats = eval::run(&program, &[], &[], &mut outputs).unwrap();
    let (own, _) = program.buffers.enumerate().find(|(_, b)| b.name == "f").unwrap();
    // From -2 to 1 in the first iteration, and from 1 to 4 in the last.
    assert_eq!(stats.buffers[own].peak_elements, 4);
    check(&p, schedule, &[], &Region::of_spans([(-6, 20)]));
}
