//! Cases of Halide's own tests restated: splits that do not divide, splits of splits with other tails, fused loops, and
//! names that are used again.

use crate::matrix::{check, random_image};
use crate::support::{hold, hold_at, why_not_taken};
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};

/// `g` of `f`, which reads the input.
fn two_stages() -> Pipeline {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 5 - y;
    g[(x, y)] = f[(x + 1, y)] - f[(x, y - 2)] * 3;
    Pipeline::new([&g]).unwrap()
}

const TAILS: [&str; 10] = [
    "Auto",
    "RoundUp",
    "GuardWithIf",
    "Predicate",
    "PredicateLoads",
    "PredicateStores",
    "ShiftInwards",
    "ShiftInwardsAndBlend",
    "RoundUpAndBlend",
    "Balanced",
];

/// Factors that do not divide, of a pure definition, an update and its reduction.
#[test]
fn factors_that_do_not_divide() {
    let input = ImageParam::new("in", I32, 1);
    let (x, r) = (vars!(x), RDom::named("r", [(-1, 11)]));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = input[x] + 2;
    f[x] += input[x + r.x] * (r.x + 3);
    g[x] = f[x] * 7 + f[x + 1];
    let p = Pipeline::new([&g]).unwrap();
    let mut schedules = Vec::new();
    for place in ["compute_root()", "compute_at(g, xo)", "store_root() compute_at(g, xo)"] {
        for factor in [2, 5, 6, 31] {
            let split = format!("split(x, xo, xi, {factor}, GuardWithIf)");
            let inner = format!("f.update(0): split(r.x, ro, ri, {factor}) {split} reorder(xi, ri, ro, xo)");
            schedules.push(format!("g: {split}\n f: {place} {split}\n {inner}"));
            schedules.push(format!("g: {split} vectorize(xi)\n f: {place} {split} unroll(xi)\n {inner}"));
        }
    }
    hold(&p, &schedules);
}

/// Every tail of a split inside of every tail of another, along one dimension.
#[test]
fn tails_inside_of_tails() {
    let p = two_stages();
    let mut schedules = Vec::new();
    for outer in TAILS {
        for inner in TAILS {
            let f = format!("split(x, xo, xi, 6, {outer}) split(xi, xm, xl, 4, {inner})");
            let g = format!("split(x, xo, xi, 3, {outer}) split(xo, xa, xb, 2, {inner})");
            schedules.push(format!("f: compute_root() {f} vectorize(xl)"));
            if outer == inner {
                schedules.push(format!("f: compute_at(g, y) {g}"));
            }
            if ![outer, inner].iter().all(|t| ["Auto", "GuardWithIf", "Predicate", "Balanced"].contains(t)) {
                continue;
            }
            for tail in ["Auto", "RoundUp", "ShiftInwards", "PredicateStores"] {
                schedules.push(format!("g: {f} unroll(xl)\n f: compute_at(g, xo) vectorize(x, 4, {tail})"));
                schedules.push(format!("g: {g} vectorize(xi)\n f: compute_at(g, xb) split(y, y, yi, 2, {tail})"));
            }
        }
    }
    let legal: Vec<String> = schedules.into_iter().filter(|s| why_not_taken(&p, s).is_none()).collect();
    assert!(legal.len() > 90, "{}", legal.len());
    hold_at(&p, &legal, &[&[(2, 3), (-5, 2)], &[(0, 7), (0, 5)], &[(-4, 13), (1, 6)]]);
}

/// A loop that is rounded up and then guarded: the guard is of the rounded loop.
#[test]
fn guards_of_outer_parts_that_are_rounded() {
    let input = ImageParam::new("in", U8, 3);
    let (x, y, c) = vars!(x, y, c);
    let mut f = Func::new("f");
    f[(x, y, c)] = input[(x, y, c)] * 3 + cast::<u8>(c);
    let p = Pipeline::new([&f]).unwrap();
    let mut schedules = Vec::new();
    for first in ["RoundUp", "GuardWithIf", "ShiftInwards"] {
        for second in ["RoundUp", "GuardWithIf", "ShiftInwards"] {
            let splits = format!("split(y, yo, yi, 2, {first}) split(yo, ya, yb, 8, {second})");
            schedules.push(format!("f: reorder(c, x, y) {splits}"));
            schedules.push(format!("f: {splits} reorder(yi, x, c, yb, ya) parallel(ya) unroll(yi)"));
        }
    }
    // Of an output, rounding up and moving inwards promise that it fits.
    hold_at(&p, &schedules, &[&[(-3, 1), (2, 16), (0, 1)], &[(0, 5), (-7, 32), (1, 3)]]);
}

/// Three levels that all move inwards, also where the outermost is already too short.
#[test]
fn levels_that_all_move_inwards() {
    let p = two_stages();
    let three = |d: &str, a: i32, b: i32, c: i32| {
        format!(
            "split({d}, {d}o, {d}i, {a}, ShiftInwards) split({d}i, {d}a, {d}b, {b}, ShiftInwards) \
             split({d}b, {d}c, {d}d, {c}, ShiftInwards)"
        )
    };
    let (x, y) = (three("x", 10, 6, 4), three("y", 7, 5, 3));
    hold(
        &p,
        &[
            format!("f: compute_root() {x} {y} vectorize(xd)"),
            format!("g: split(y, ya, yb, 4)\n f: compute_at(g, ya) {x} vectorize(xd)"),
            format!("f: store_root() compute_at(g, y) {x}"),
            format!("f: compute_at(g, x) {x} {y}"),
        ],
    );
    hold_at(
        &p,
        &[
            format!("g: {x}"),
            format!("g: {x} {y}"),
            format!("g: {x} vectorize(xd)\n f: compute_at(g, xc)"),
            format!("g: {y}\n f: compute_at(g, ya) {x} vectorize(xd)"),
            format!("g: {y}\n f: store_root() compute_at(g, yc)"),
        ],
        &[&[(-3, 10), (2, 7)], &[(0, 11), (-4, 13)], &[(5, 23), (1, 8)]],
    );
}

/// The name of a loop that a split has used up names what another split makes.
#[test]
fn names_used_again() {
    let p = two_stages();
    hold(
        &p,
        &[
            "g: split(x, x, xi, 6) split(xi, xi, xj, 4) split(x, x, xk, 2) vectorize(xj)",
            "g: split(x, x, xi, 8) rename(xi, u) split(x, x, xi, 2, GuardWithIf) split(u, u, v, 4)",
            "g: split(x, xo, x, 8) split(x, xm, x, 4) vectorize(x)\n f: compute_at(g, xm) split(x, xm, x, 2)",
            "f: compute_root() tile(x, y, xo, yo, x, y, 4, 3) fuse(x, y, x) split(x, u, x, 5, GuardWithIf)",
            "g: fuse(x, y, x) split(x, u, x, 7, GuardWithIf)\n f: compute_at(g, u) fuse(x, y, y)",
        ],
    );
}

/// Tiles whose loops are fused in every order, pure and of updates, with the producer in the fused loop.
#[test]
fn fused_loops() {
    let input = ImageParam::new("in", I32, 3);
    let (x, y, z) = vars!(x, y, z);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y, z)] = input[(x, y, z)] ^ (x + z);
    g[(x, y, z)] = f[(x, y, z)] + f[(x + 1, y - 1, z)];
    g[(x, y, z)] = g[(x, y, z)] * 2 - z;
    let p = Pipeline::new([&g]).unwrap();
    let mut schedules = Vec::new();
    for fused in [
        "fuse(x, y, t) fuse(t, z, t)",
        "fuse(y, z, t) fuse(x, t, t)",
        "reorder(z, x, y) fuse(z, x, t)",
        "reorder(y, z, x) fuse(z, x, t) fuse(y, t, t)",
        "split(x, xo, x, 4, GuardWithIf) fuse(xo, y, t) vectorize(x)",
        "tile(x, y, xo, yo, x, y, 3, 2, GuardWithIf) fuse(xo, yo, t) fuse(t, z, t)",
    ] {
        for more in ["", "parallel(t)", "split(t, t, ti, 4, GuardWithIf)"] {
            schedules.push(format!("g: {fused} {more}\n g.update(0): {fused} {more}\n f: compute_root() {fused}"));
            schedules.push(format!("g: {fused} {more}\n f: compute_at(g, t)"));
        }
    }
    hold(&p, &schedules);
}

/// A fused loop of which one part has no iterations does nothing, and nothing is divided by its extent.
#[test]
fn fused_loops_of_no_iterations() {
    let input = ImageParam::new("in", I32, 2);
    let x = vars!(x);
    for (first, second) in [("r.x", "r.y"), ("r.y", "r.x")] {
        let (none, six) = ((0.expr(), input.dim(1).extent() - 5), (0.expr(), 6.expr()));
        let r = RDom::named("r", if first == "r.x" { [none, six] } else { [six, none] });
        let mut f = Func::new("f");
        f[x] = x + 3;
        f[x] += input[(r.x + r.y, 0)] - x * r.y;
        let p = Pipeline::new([&f]).unwrap();
        let schedules = [
            "f.update(0): fuse(r.x, r.y, t)".to_string(),
            format!("f.update(0): fuse({first}, {second}, t) split(t, to, ti, 4)"),
            "f.update(0): reorder(r.y, r.x, x) fuse(r.y, r.x, t) vectorize(x, 4, GuardWithIf)".to_string(),
            format!("f.update(0): reorder({first}, x, {second}) fuse({first}, x, t)"),
        ];
        for (rows, schedule) in [4, 5, 6, 9].into_iter().flat_map(|rows| schedules.iter().map(move |s| (rows, s))) {
            let image = random_image(I32, &Region::of_extents([30, rows]), 4);
            for w in [1, 4, 7] {
                check(&p, schedule, &[("in", image.clone())], &Region::of_spans([(-2, w)]));
            }
        }
    }
}

/// A producer in the chunks of a split whose tail is a guard reads no more of the input than the output needs.
#[test]
fn guards_keep_what_producers_read() {
    let input = ImageParam::new("in", U8, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] + 1;
    g[(x, y)] = f[(x, y)] * 2;
    let p = Pipeline::new([&g]).unwrap();
    for place in ["compute_at(g, yi)", "compute_at(g, yo)", "store_at(g, yo) compute_at(g, yi)", "compute_at(g, x)"] {
        for split in ["split(y, yo, yi, 16, GuardWithIf)", "split(y, yo, yi, 5, Predicate)"] {
            let schedule = format!("g: {split}\n f: {place}");
            for (w, h) in [(1, 1), (3, 16), (4, 17), (9, 23)] {
                let region = Region::of_spans([(0, w), (-4, h)]);
                let image = random_image(U8, &region, 3);
                check(&p, &schedule, &[("in", image)], &region);
            }
        }
    }
}
