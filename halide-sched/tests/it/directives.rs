//! Every directive changes how values are computed, never which.

use crate::matrix::{TARGET, check, random_image};
use crate::support::{stencil, sweep};
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Expr, Func, ImageParam, Pipeline, RDom, vars};
use halide_sched::lower::{LowerOptions, lower};

const SIZES: [(i32, i32); 7] = [(1, 1), (2, 5), (4, 4), (7, 3), (8, 12), (13, 8), (24, 9)];

#[test]
fn tails_of_pure_definitions() {
    let tails = ["GuardWithIf", "Predicate", "PredicateLoads", "PredicateStores", "Auto"];
    let schedules: Vec<String> = tails
        .iter()
        .flat_map(|tail| {
            [
                format!("g: split(x, xo, xi, 4, {tail}) vectorize(xi)"),
                format!("g: split(x, xo, xi, 4, {tail}) reorder(xo, xi, y)\n f: compute_at(g, xi)"),
                format!("f: compute_root() split(x, xo, xi, 8, {tail}) vectorize(xi) split(y, yo, yi, 2, {tail})"),
                format!("f: compute_at(g, y) split(x, xo, xi, 4, {tail}) vectorize(xi)"),
            ]
        })
        .collect();
    sweep(&stencil(), &schedules.iter().map(String::as_str).collect::<Vec<_>>(), &SIZES);
    let nested: Vec<String> = ["GuardWithIf", "Predicate", "Auto"]
        .iter()
        .flat_map(|tail| {
            [
                format!("g: split(y, yo, yi, 3, {tail}) split(yo, yoo, yoi, 2) unroll(yi)\n f: compute_at(g, yoo)"),
                format!(
                    "g: split(x, xo, xi, 6, {tail}) split(xi, xio, xii, 4, {tail}) vectorize(xii)\n f: compute_root()"
                ),
            ]
        })
        .collect();
    sweep(&stencil(), &nested.iter().map(String::as_str).collect::<Vec<_>>(), &SIZES);
}

#[test]
fn growing_tails_of_inner_stages() {
    let schedules: Vec<String> = ["RoundUp", "ShiftInwards", "RoundUpAndBlend"]
        .iter()
        .flat_map(|tail| {
            [
                format!("f: compute_root() split(x, xo, xi, 8, {tail}) vectorize(xi)"),
                format!("f: compute_at(g, y) split(x, xo, xi, 4, {tail}) split(xo, xoo, xoi, 3, {tail})"),
                format!("g: split(y, yo, yi, 2, GuardWithIf)\n f: store_at(g, yo) compute_at(g, yi) split(x, xo, xi, 4, {tail})"),
                format!("f: store_root() compute_at(g, y) split(y, yo, yi, 2, {tail})"),
            ]
        })
        .collect();
    sweep(&stencil(), &schedules.iter().map(String::as_str).collect::<Vec<_>>(), &SIZES);
}

#[test]
fn constraints_and_storage() {
    let schedules = [
        "f: compute_root() align_bounds(x, 4, 1) align_extent(y, 3)",
        "f: compute_root() reorder_storage(y, x) align_storage(y, 8)",
        "f: store_root() compute_at(g, y) fold_storage(y, 4)",
        "f: hoist_storage_root() store_at(g, y) compute_at(g, x)",
        "f: compute_root() store_in(Heap)",
        "f: compute_at(g, x) store_in(Stack)",
        "f: compute_root() never_partition(x)\n g: partition(x, Never)",
    ];
    sweep(&stencil(), &schedules, &SIZES);
}

#[test]
fn fused_and_renamed_loops() {
    let schedules = [
        "g: fuse(x, y, t) split(t, to, ti, 5)",
        "g: split(x, xo, xi, 4) split(y, yo, yi, 2) reorder(xi, yi, xo, yo) fuse(xo, yo, tile) parallel(tile)\n f: compute_at(g, tile)",
        "g: rename(x, u) split(u, uo, ui, 4) vectorize(ui)",
        "g: reorder(y, x)\n f: compute_at(g, x)",
    ];
    sweep(&stencil(), &schedules, &SIZES);
}

#[test]
fn updates_have_schedules_of_their_own() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    let r = RDom::new([(0, 5), (-1, 3)]);
    f[(x, y)] = input[(x, y)];
    f[(x, y)] += input[(x + r.x, y + r.y + 1)] * cast::<i16>(r.x - r.y);
    f[(x, y)] ^= 21;
    let s = RDom::named("s", [(0, 6)]);
    f[(s.x, y)] += 1;
    g[(x, y)] = f[(x, y)] + f[(x + 1, y)];
    let p = Pipeline::new([&g]).unwrap();
    let schedules = [
        "f: compute_root()",
        "",
        "f: compute_at(g, y)\n f.update(0): vectorize(x, 4)\n f.update(1): vectorize(x, 4)",
        "f: compute_root() vectorize(x, 8)\n f.update(0): reorder(x, r.x, r.y, y) vectorize(x, 4) unroll(r.x)\n f.update(2): split(s.x, so, si, 4) parallel(y)",
        "f: store_root() compute_at(g, y)",
        "f: compute_root()\n f.update(0): split(x, xo, xi, 4, ShiftInwardsAndBlend)\n f.update(1): split(x, xo, xi, 4, RoundUp)",
        "f: compute_root()\n f.update(0): split(x, xo, xi, 4, GuardWithIf) split(y, yo, yi, 2, GuardWithIf) reorder(xi, r.x, yi, xo, r.y, yo)",
    ];
    for schedule in schedules {
        for (w, h) in [(1, 1), (5, 4), (8, 3), (11, 6)] {
            let input = random_image(I16, &Region::of_spans([(-30, 90), (-30, 90)]), 5);
            check(&p, schedule, &[("in", input)], &Region::of_spans([(-1, w), (2, h)]));
        }
    }
}

#[test]
fn wrappers_clones_and_specialisations() {
    let schedules = [
        "f: in() compute_root()\n f.in(): compute_at(g, y)",
        "f: in(g)\n f.in(g): compute_at(g, y) vectorize(x, 4)\n f: compute_root()",
        "f: clone_in(g)\n f.clone_in(g): compute_at(g, x)",
        "in: in(f)\n in.in(f): compute_at(g, y) vectorize(_0, 4)\n f: compute_at(g, x)",
        "g: split(x, xo, xi, 8) vectorize(xi, 4)\n in.in(): compute_at(g, xo) reorder_storage(_1, _0)\n f: compute_at(g, xi)",
        "g: specialize(g.extent(0) >= 8)\n g.specialize(g.extent(0) >= 8): vectorize(x, 4)\n f: compute_at(g, y)",
    ];
    sweep(&stencil(), &schedules, &SIZES);
}

#[test]
fn tuples_and_several_outputs() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g, mut h) = (Func::new("f"), Func::new("g"), Func::new("h"));
    f[(x, y)] = (input[(x, y)], cast::<f32>(input[(x + 1, y)]) * 0.25).into();
    let r = RDom::new([(1, 3)]);
    f[(x, y)] = (f[(x, y)].at(0) + cast::<i16>(r.x), f[(x, y)].at(1) - cast::<f32>(f[(x, y)].at(0))).into();
    g[(x, y)] = (f[(x, y)].at(1), f[(x, y + 1)].at(0)).into();
    h[(x, y)] = g[(x, y)].at(0) * 2.0;
    let p = Pipeline::new([&g, &h]).unwrap();
    for schedule in [
        "f: compute_root()",
        "f: compute_at(g, y)\n g: vectorize(x, 4)\n h: vectorize(x, 4)",
        "f: store_root() compute_at(g, x)",
    ] {
        for (w, h) in [(1, 1), (6, 4), (9, 3)] {
            let input = random_image(I16, &Region::of_spans([(-30, 90), (-30, 90)]), 5);
            check(&p, schedule, &[("in", input)], &Region::of_spans([(-1, w), (2, h)]));
        }
    }
}

/// Loops over blocks and threads, as the evaluator runs them: any order within a block, storage of the block shared.
#[test]
fn blocks_and_threads() {
    let schedules = [
        "g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)",
        "g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n f: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 4, 4)",
        "g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n f: compute_at(g, xo) split(x, xo, xi, 4, RoundUp) gpu_threads(xi)",
        "g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n f: compute_at(g, xi)",
        "g: split(x, xo, xi, 8) reorder(y, xi, xo) gpu_blocks(xo) gpu_threads(xi)\n f: store_at(g, xi) compute_at(g, y)",
        "g: split(x, xo, xi, 16) gpu_blocks(xo, y) split(xi, xio, xii, 4) gpu_threads(xio) vectorize(xii)",
    ];
    sweep(&stencil(), &schedules, &SIZES);
}

#[test]
fn likely_if_innermost_is_likely_in_innermost_loops() {
    let program = |mark: &dyn Fn(Expr) -> Expr, schedule: &str| {
        let (x, y) = vars!(x, y);
        let input = ImageParam::new("in", I16, 2);
        let mut f = Func::new("f");
        f[(x, y)] = input[(x, clamp(mark(y - 1), 0, 29))];
        let p = Pipeline::new([&f]).unwrap();
        let image = random_image(I16, &Region::of_extents([9, 30]), 3);
        check(&p, schedule, &[("in", image)], &Region::of_extents([9, 34]));
        let plan = halide_sched::plan::resolve(&p, &schedule.parse().unwrap(), &TARGET).unwrap();
        lower(&plan, &LowerOptions::default()).unwrap().program.to_string()
    };
    let innermost = |e: Expr| likely_if_innermost(e);
    for (schedule, y_is_innermost) in [
        ("", false),
        ("f: reorder(y, x)", true),
        ("f: split(y, yo, yi, 8) reorder(yi, x, yo)", true),
        ("f: split(y, yo, yi, 8) reorder(x, yi, yo)", false),
        ("f: fuse(x, y, t)", true),
    ] {
        let plain = program(&|e| e, schedule);
        let marked = program(&|e| likely(e), schedule);
        let expected = if y_is_innermost { &marked } else { &plain };
        assert_eq!(program(&innermost, schedule), *expected, "{schedule}");
        // So that this shows something.
        assert!(plain != marked || schedule.contains("fuse"), "{schedule}");
    }
}

/// Vectors of very many lanes are made in equal parts, or not at all where there are none.
#[test]
fn vectors_of_very_many_lanes() {
    let p = stencil();
    let said = "257 lanes are too many and have no divisor to go by";
    for lanes in [300, 257] {
        let schedule = format!("g: vectorize(x, {lanes})\n f: compute_root()");
        for size in [(1, 1), (lanes, 2), (2 * lanes + 5, 1)] {
            let image = random_image(I16, &Region::of_spans([(-3, size.0 + 9), (-3, 12)]), 3);
            check(&p, &schedule, &[("in", image)], &Region::of_extents([size.0, size.1]));
        }
        let trace = crate::support::lowered_whole(&p, &schedule).trace;
        let decisions: Vec<String> = trace.passes.iter().flat_map(|p| &p.decisions).map(|d| d.to_string()).collect();
        assert_eq!(decisions.iter().any(|d| d.contains(said)), lanes == 257, "{decisions:#?}");
    }
}
