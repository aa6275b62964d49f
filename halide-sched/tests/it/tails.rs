//! Tails of splits of splits, of fused loops, and after splits that change nothing.

use crate::matrix::{check, random_image};
use crate::support::{count_stmts, lowered, stencil, sweep};
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};
use halide_ir::Stmt;

/// A point of a fused loop that is one in an iteration of an outer loop is one in the loops inside as well.
#[test]
fn a_point_of_a_fused_loop_stays_one_inside_of_guards() {
    let schedule = "g: fuse(x, y, t) split(t, o, i, 1) split(i, a, b, 2)\n f: store_at(g, o) compute_at(g, a)";
    sweep(&stencil(), &[schedule], &[(1, 1), (4, 3), (5, 2)]);
}

#[test]
fn parts_of_fused_loops_lie_in_the_whole() {
    let splits = [
        "split(t, o, i, 1) split(i, a, b, 2)",
        "split(t, o, i, 1, GuardWithIf) split(i, a, c, 3) split(c, b, d, 2)",
        "split(t, o, i, 4) split(i, a, b, 3)",
        "split(t, o, i, 5, GuardWithIf) split(i, a, b, 2)",
        "split(t, u, i, 1) split(u, o, a, 2) rename(i, b)",
        "split(t, u, b, 3) split(u, o, a, 2)",
        "split(t, o, i, 1) split(i, j, b, 1) split(j, a, k, 4)",
        "split(t, o, i, 6) split(i, j, b, 4) split(j, a, k, 3)",
    ];
    let places = [
        "store_at(g, o) compute_at(g, a)",
        "store_at(g, o) compute_at(g, b)",
        "store_root() compute_at(g, b)",
        "store_root() compute_at(g, a)",
        "store_at(g, a) compute_at(g, b)",
    ];
    let mut schedules = Vec::new();
    for split in splits {
        for place in places {
            for tail in ["", "vectorize(x, 4)", "split(y, y, yi, 2, RoundUp)"] {
                schedules.push(format!("g: fuse(x, y, t) {split}\n f: {place} {tail}"));
            }
        }
    }
    let schedules: Vec<&str> = schedules.iter().map(String::as_str).collect();
    sweep(&stencil(), &schedules, &[(1, 1), (4, 3), (5, 2)]);
}

#[test]
fn parts_of_fused_parts_lie_in_the_whole() {
    let mut schedules = Vec::new();
    for split in [
        "tile(x, y, xo, yo, xi, yi, 3, 2, GuardWithIf) fuse(xo, yo, t) split(t, o, i, 1) split(i, a, b, 2)",
        "tile(x, y, xo, yo, xi, yi, 3, 2, GuardWithIf) fuse(xi, yi, t) split(t, o, i, 1) split(i, a, b, 2)",
        "tile(x, y, xo, yo, xi, yi, 3, 2, GuardWithIf) fuse(xi, yi, t) split(t, o, i, 4) split(i, a, b, 3)",
        "tile(x, y, xo, yo, xi, yi, 4, 2) fuse(xo, yo, t) split(t, o, i, 2) split(i, a, b, 2)",
        "split(x, x, xi, 1) fuse(x, y, t) fuse(xi, t, t) split(t, o, i, 1) split(i, a, b, 2)",
    ] {
        for place in
            ["store_at(g, o) compute_at(g, a)", "store_at(g, a) compute_at(g, b)", "store_root() compute_at(g, b)"]
        {
            schedules.push(format!("g: {split}\n f: {place}"));
        }
    }
    let schedules: Vec<&str> = schedules.iter().map(String::as_str).collect();
    sweep(&stencil(), &schedules, &[(1, 1), (4, 3), (5, 2), (7, 5)]);
}

/// A loop that is made of two dimensions in which guards leave an iteration nothing has nothing to do.
#[test]
fn fused_loops_of_nothing_do_nothing() {
    let mut schedules = Vec::new();
    for fused in ["fuse(x, y, t)", "fuse(x, y, t) vectorize(t, 4)", "fuse(x, y, t) split(t, t, u, 3, GuardWithIf)"] {
        for place in ["compute_at(g, xi)", "store_root() compute_at(g, xi)", "compute_at(g, yi)"] {
            let tiles = "tile(x, y, xo, yo, xi, yi, 8, 9, GuardWithIf) reorder(xo, yo, xi, yi)";
            schedules.push(format!("g: {tiles}\n f: {place} {fused}"));
        }
    }
    let schedules: Vec<&str> = schedules.iter().map(String::as_str).collect();
    sweep(&stencil(), &schedules, &[(1, 1), (2, 9), (9, 2)]);
    // And where a predicate does.
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 4), (0, 4)]);
    r.where_(r.x.lt(-5) & r.y.lt(-5));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] + 1;
    g[(x, y)] = input[(x, y)];
    g[(x, y)] += f[(r.x, r.y)];
    let p = Pipeline::new([&g]).unwrap();
    sweep(
        &p,
        &["f: compute_root() fuse(x, y, t)", "f: compute_at(g.update(0), y) fuse(x, y, t) vectorize(t, 4)"],
        &[(3, 2)],
    );
}

/// A split by 1 changes nothing: what is left of the variable is shifted as the variable itself would be.
#[test]
fn splits_by_one_leave_nothing_to_guard() {
    let p = stencil();
    for schedule in [
        "g: split(x, x, xi, 1) vectorize(x, 4)",
        "g: unroll(x, 1) unroll(x$u, 1) split(x, x, xi, 8) vectorize(xi)",
        "f: compute_root() split(x, x, xi, 1) vectorize(x, 4)",
        "f: compute_at(g, y) split(x, x, xi, 1) split(x, x, xj, 1) vectorize(x, 4)",
        "f: compute_at(g, y) split(x, x, xi, 1) vectorize(x, 4) unroll(x, 2)",
    ] {
        let guards = |s: &Stmt| matches!(s, Stmt::If { .. } | Stmt::Store { mask: Some(_), .. });
        let program = lowered(&p, schedule);
        assert_eq!(count_stmts(&program.body, &guards), 0, "{schedule}\n{program}");
        sweep(&p, &[schedule], &[(1, 1), (3, 2), (4, 3), (13, 5), (16, 4)]);
    }
}

/// The same of splits that are known to divide.
#[test]
fn splits_that_divide_leave_nothing_to_guard() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] + 1;
    g[(x, y)] = f[(x, y)] * f[(x + 1, y)];
    let out = g.output();
    out.dim(0).set_extent(24);
    let p = Pipeline::new([&g]).unwrap();
    for split in [
        "split(x, x, xi, 2) vectorize(x, 5)",
        "split(x, x, xi, 4) split(x, xo, xm, 4)",
        "split(x, x, xi, 8) split(x, xo, xm, 4)",
        "split(x, x, xi, 8) split(x, xo, xm, 2) split(xm, xa, xb, 3)",
        "split(x, x, xi, 1) split(x, xo, xm, 8) split(xo, xa, xb, 2)",
        "split(x, x, xi, 1) split(x, xo, xm, 7) split(xo, xa, xb, 2)",
        "split(x, x, xi, 2, RoundUp) split(x, xo, xm, 3, RoundUp)",
        "split(x, x, xi, 1) split(x, xo, xm, 5, ShiftInwardsAndBlend)",
        "split(x, x, xi, 1) split(x, xo, xm, 5, ShiftInwards)",
    ] {
        for place in ["", "f: compute_root()", "f: compute_at(g, y)", "f: store_root() compute_at(g, y)"] {
            for h in [1, 3] {
                let input = random_image(I16, &Region::of_spans([(-40, 120), (-5, 20)]), 4);
                check(&p, &format!("g: {split}\n {place}"), &[("in", input)], &Region::of_spans([(3, 24), (0, h)]));
            }
        }
    }
}

/// Nothing is computed for a consumer whose iteration computes nothing.
#[test]
fn producers_of_skipped_iterations_compute_nothing() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    let [mut product, mut f, mut g, mut h] = ["product", "f", "g", "h"].map(Func::new);
    product[x] = input[x] * 3;
    f[x] = product[x] + product[x + 1];
    g[x] = f[x] - x;
    h[x] = g[x] + g[x + 2];
    let pipeline = Pipeline::new([&h]).unwrap();
    for split in ["split(x,x,t2,2,Predicate) split(x,x,t3,2)", "split(x,x,t2,2,Predicate) split(x,x,t3,3,RoundUp)"] {
        for tail in ["vectorize(x, 2)", "vectorize(x, 4)", "unroll(x, 2)", "vectorize(x, 2, RoundUp)"] {
            let schedule = format!(
                "g: compute_root() {split}\n f: compute_at(g, t3) {tail}\n product: compute_at(g, t3) store_at(g, x)"
            );
            for width in 1..8 {
                let image = random_image(I32, &Region::of_extents([width + 40]), 1);
                check(&pipeline, &schedule, &[("in", image)], &Region::of_extents([width]));
            }
        }
    }
}

/// The same in loops that several stages share, in which each of them has iterations that others do not have.
#[test]
fn producers_of_skipped_shared_iterations_stay_in_their_storage() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    let [mut product, mut f, mut g, mut k, mut h] = ["product", "f", "g", "k", "h"].map(Func::new);
    product[x] = input[x] * 3;
    f[x] = product[x] + product[x + 1];
    g[x] = f[x] - x;
    k[x] = input[x] + x;
    h[x] = g[x] + g[x + 2] + k[x + 3] + k[x - 2];
    let pipeline = Pipeline::new([&h]).unwrap();
    let split = "split(x,x,t2,2,Predicate) split(x,x,t3,2)";
    for (leader, member) in [("g", "k"), ("k", "g")] {
        for tail in ["vectorize(x, 2)", "vectorize(x, 4)", "unroll(x, 2)", "vectorize(x, 2, RoundUp)"] {
            for shared in ["x", "t3", "t2"] {
                let schedule = format!(
                    "{leader}: compute_root() {split}\n {member}: compute_root() {split} compute_with({leader}, {shared})\n \
                     f: compute_at(g, t3) {tail}\n product: compute_at(g, t3) store_at(g, x)"
                );
                for width in 1..8 {
                    let image = random_image(I32, &Region::of_spans([(-4, width + 40)]), 1);
                    check(&pipeline, &schedule, &[("in", image)], &Region::of_extents([width]));
                }
            }
        }
    }
}
