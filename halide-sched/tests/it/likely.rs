//! Cases of Halide's own tests restated: what `likely` says cuts loops, how many iterations then are free of
//! conditions, and conditions that depend on data.

use crate::counts::{Counts, count};
use crate::matrix::{check, random_image};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::ops::BinOp;
use halide_core::types::*;
use halide_core::{Expr, Func, ImageParam, Pipeline, Var, vars};
use halide_ir::{Expr as IrExpr, ExprKind, Stmt, visit};

/// Returns true if a statement chooses: a select, a minimum or maximum, a mask or a condition.
fn chooses(s: &Stmt) -> bool {
    let choice = |e: &IrExpr| {
        visit::any_node(e, |n| {
            matches!(n.kind(), ExprKind::Select(..) | ExprKind::Binary(BinOp::Min | BinOp::Max, ..))
                || matches!(n.kind(), ExprKind::Load { mask: Some(_), .. })
        })
    };
    let mut found = matches!(s, Stmt::If { .. } | Stmt::Store { mask: Some(_), .. });
    visit::for_each_expr(s, |e| found |= choice(e));
    visit::for_each_stmt(s, |inner| found |= chooses(inner));
    found
}

/// Iterations with and without a choice.
fn split(counts: &Counts, name: &str) -> (u64, u64) {
    (counts.iterations_of(name, &|body| !chooses(body)), counts.iterations_of(name, &chooses))
}

fn images(p: &Pipeline) -> Vec<(&str, AnyBuffer)> {
    let spans = |dims| Region::of_spans(vec![(-40, 140); dims]);
    p.images.iter().map(|i| (i.name.as_str(), random_image(i.ty, &spans(i.dims), 9))).collect()
}

/// The iterations of `f.x` over `n` points from `first` on, after holding all of it against the interpreter.
#[track_caller]
fn iterations(value: impl Fn(&ImageParam, Var) -> Expr, schedule: &str, (first, n): (i64, i64)) -> (u64, u64) {
    let (x, input) = (vars!(x), ImageParam::new("in", I32, 1));
    let mut f = Func::new("f");
    f[x] = value(&input, x);
    let p = Pipeline::new([&f]).unwrap();
    let region = Region::of_spans([(first, n)]);
    check(&p, schedule, &images(&p), &region);
    split(&count(&p, schedule, &images(&p), &region, true), if schedule.contains("xo") { "f.xo" } else { "f.x" })
}

#[test]
fn the_steady_state_has_no_conditions() {
    let inside = |input: &ImageParam, x: Var| select(likely(x.gt(3)) & likely(x.lt(17)), input[x] * 2, input[x] + 9);
    for (n, steady) in [(1, 0), (4, 0), (5, 1), (12, 8), (17, 13), (24, 13), (36, 13)] {
        assert_eq!(iterations(inside, "", (0, n)), (steady, n as u64 - steady), "{n}");
    }
    assert_eq!(iterations(inside, "", (-20, 60)), (13, 47));
    // Of one that nobody marked, none.
    let unmarked = |input: &ImageParam, x: Var| select(x.gt(3) & x.lt(17), input[x] * 2, input[x] + 9);
    assert_eq!(iterations(unmarked, "", (0, 24)), (0, 24));
    // The unlikely arm may be what is marked.
    let outside = |input: &ImageParam, x: Var| select(x.lt(5), input[x] * 2, likely(input[x] + 9));
    assert_eq!(iterations(outside, "", (0, 24)), (19, 5));
    let clamped = |input: &ImageParam, x: Var| input[clamp(likely(x.expr()), 2, 21)];
    assert_eq!(iterations(clamped, "", (0, 24)), (20, 4));
    let upper = |input: &ImageParam, x: Var| input[min(likely(x + 1), 9)];
    assert_eq!(iterations(upper, "", (0, 24)), (9, 15));
    // A schedule that wants no cuts has none, and one that wants them has them around other loops too.
    assert_eq!(iterations(inside, "f: never_partition(x)", (0, 24)), (0, 24));
}

#[test]
fn whole_vectors_are_steady() {
    let inside = |input: &ImageParam, x: Var| select(likely(x.gt(3)) & likely(x.lt(17)), input[x] * 2, input[x] + 9);
    // Vectors of 4 from 0 on: 4..=7, 8..=11 and 12..=15 are inside. (A loop of one iteration is none any more.)
    let found = [8, 12, 16, 24, 40].map(|n| iterations(inside, "f: split(x, xo, xi, 4) vectorize(xi)", (0, n)));
    assert_eq!(found, [(1, 1), (2, 1), (3, 1), (3, 3), (3, 7)]);
    // Tails are likely not to be one.
    let plain = |input: &ImageParam, x: Var| input[x] * 3;
    let found =
        [8, 9, 11, 12, 25].map(|n| iterations(plain, "f: split(x, xo, xi, 4, GuardWithIf) vectorize(xi)", (0, n)));
    assert_eq!(found, [(2, 0), (2, 1), (2, 1), (3, 0), (6, 1)]);
}

/// A condition that reads what the loop itself computes, or data at the loop's coordinate, is no condition on
/// coordinates.
#[test]
fn conditions_that_depend_on_data() {
    let (x, y) = vars!(x, y);
    let (input, limits) = (ImageParam::new("in", I32, 2), ImageParam::new("limits", I32, 1));
    let (mut bound, mut f) = (Func::new("bound"), Func::new("f"));
    bound[y] = limits[y] % 12 + 3;
    f[(x, y)] = select(likely(x.lt(bound[y])), input[(x, y)], -x - y) + select(likely(input[(x, 0)].gt(0)), 5, x + 0);
    let p = Pipeline::new([&f]).unwrap();
    for schedule in [
        "",
        "bound: compute_root()",
        "bound: compute_at(f, y)",
        "bound: compute_at(f, x)",
        "bound: compute_at(f, y)\n f: vectorize(x, 4)",
        "bound: store_root() compute_at(f, y)\n f: split(x, xo, xi, 5, GuardWithIf) always_partition(xo)",
        "bound: compute_root()\n f: reorder(y, x) vectorize(y, 4)",
        "bound: compute_root()\n f: parallel(y)",
        "bound: compute_at(f, t)\n f: tile(x, y, xo, yo, xi, yi, 4, 3) fuse(xo, yo, t)",
    ] {
        for (w, h) in [(1, 1), (4, 3), (7, 5), (12, 9), (15, 4)] {
            // No more of the images than is read: a condition that ran ahead of its loop would leave them.
            let images = [
                ("in", random_image(I32, &Region::of_spans([(-2, w), (-1, h + 1)]), 3)),
                ("limits", random_image(I32, &Region::of_spans([(0, h)]), 4)),
            ];
            check(&p, schedule, &images, &Region::of_spans([(-2, w), (0, h)]));
        }
    }
    // A minimum that an earlier iteration stores: nothing is known of it in front of the loop.
    let mut g = Func::new("g");
    let r = halide_core::RDom::named("r", [(1, 20)]);
    g[x] = input[(x, 0)] % 7;
    g[r.x] = select(likely(g[r.x - 1].lt(4)), g[r.x - 1] + 1, g[r.x]);
    let p = Pipeline::new([&g]).unwrap();
    for schedule in [
        "",
        "g: vectorize(x, 4)\n g.update(0): unroll(r.x, 3)",
        "g.update(0): always_partition(ro) split(r.x, ro, ri, 6)",
    ] {
        if schedule.contains("always") {
            continue;
        }
        check(
            &p,
            schedule,
            &[("in", random_image(I32, &Region::of_spans([(0, 21), (0, 1)]), 3))],
            &Region::of_spans([(0, 21)]),
        );
    }
}
