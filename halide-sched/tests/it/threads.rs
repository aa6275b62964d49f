//! Cases of Halide's own tests restated: parallel loops in parallel loops, of updates and of reductions, with memory of
//! their own, and races that are none.

use crate::matrix::{check, random_image};
use crate::support::{hold, hold_legal, illegal};
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, IntoExpr, Pipeline, RDom, vars};

/// Every level of a nest of three, and each with memory inside.
#[test]
fn nests_of_parallel_loops() {
    let input = ImageParam::new("in", I16, 3);
    let (x, y, z) = vars!(x, y, z);
    let (mut f, mut g, mut out) = (Func::new("f"), Func::new("g"), Func::new("out"));
    f[(x, y, z)] = input[(x, y, z)] * 3 + cast::<i16>(z);
    g[(x, y, z)] = f[(x, y, z)] - f[(x, y + 2, z)];
    out[(x, y, z)] = g[(x, y, z)] ^ g[(x + 1, y, z)];
    let p = Pipeline::new([&out]).unwrap();
    let mut schedules = Vec::new();
    for loops in
        ["parallel(z) parallel(y)", "parallel(z) parallel(y) parallel(x)", "fuse(y, z, y) parallel(y)", "parallel(y)"]
    {
        for places in [
            "f: compute_at(g, x)\n g: compute_at(out, y)",
            "f: compute_at(g, y)\n g: compute_at(out, y) parallel(y) parallel(x)",
            "f: store_root() compute_at(out, y) parallel(y)\n g: compute_at(out, y)",
            "f: compute_root() parallel(z) parallel(y)\n g: store_at(out, y) compute_at(out, x)",
            "f: store_root() compute_at(out, y)\n g: store_root() compute_at(out, y) parallel(z)",
        ] {
            schedules.push(format!("out: {loops}\n {places}"));
        }
    }
    assert_eq!(hold_legal(&p, &schedules), 20);
}

/// A table that each row makes for itself, indexed by the values of the image.
#[test]
fn memory_of_each_task() {
    let input = ImageParam::new("in", U8, 2);
    let (x, y, i) = vars!(x, y, i);
    let (mut table, mut out) = (Func::new("table"), Func::new("out"));
    table[(i, y)] = cast::<u16>(i * i) + cast::<u16>(y);
    out[(x, y)] = table[(cast::<i32>(input[(x, y)]), y)];
    let p = Pipeline::new([&out]).unwrap();
    hold(
        &p,
        &[
            "out: parallel(y)\n table: compute_at(out, y) parallel(i)",
            "out: parallel(y) parallel(x)\n table: compute_at(out, y)",
            "out: split(y, yo, yi, 4) parallel(yo)\n table: store_at(out, yo) compute_at(out, yi) vectorize(i, 8)",
            "out: parallel(y) vectorize(x, 4)\n table: compute_at(out, y) store_in(Heap)",
            "out: fuse(x, y, t) split(t, t, ti, 8, GuardWithIf) parallel(t)\n table: compute_at(out, ti)",
        ],
    );
}

/// Pure loops of updates, reduction loops of which no two iterations meet, and rows that an update fills one by one.
#[test]
fn updates_and_reductions_at_once() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (r, s) = (RDom::named("r", [(0, 6), (0, 5)]), RDom::named("s", [(1, 7)]));
    let (mut f, mut out) = (Func::new("f"), Func::new("out"));
    f[(x, y)] = input[(x, y)];
    f[(r.x * 2, r.y)] += input[(r.y, r.x)] * 3;
    f[(x, s.x)] = f[(x, s.x - 1)] * 2 - input[(s.x, x)];
    out[(x, y)] = f[(x, y)] + f[(x, y / 2)];
    let p = Pipeline::new([&out]).unwrap();
    hold(
        &p,
        &[
            "f: compute_root() parallel(y)\n f.update(0): parallel(r.y) parallel(r.x)\n f.update(1): parallel(x)",
            "f: compute_root()\n f.update(0): vectorize(r.x, 3) parallel(r.y)\n f.update(1): vectorize(x, 4) reorder(x, s.x)",
            "f: compute_root()\n f.update(0): split(r.x, ro, ri, 4) reorder(ro, r.y, ri) parallel(ri)\n f.update(1): split(x, xo, xi, 4) parallel(xo)",
            "f: compute_root()\n f.update(0): fuse(r.x, r.y, t) split(t, t, ti, 4) parallel(t) vectorize(ti)",
            "f: compute_at(out, yo)\n f.update(0): unroll(r.x) parallel(r.y)\n out: split(y, yo, yi, 4, GuardWithIf) parallel(yo)",
        ],
    );
}

/// Predicates that read other elements than the update changes, the same one, or those of the other parity.
#[test]
fn predicates_that_do_not_race() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    type Reads = fn(&RDom) -> (halide_core::Expr, halide_core::Expr);
    let cases: [(Reads, bool); 5] = [
        (|r| (r.x.expr(), 0.expr()), true),
        (|r| (r.x.expr(), r.x.expr()), true),
        (|r| (r.x * 2 + 1, r.x * 2), true),
        (|r| (r.x.expr(), r.x + 1), false),
        (|r| (r.x.expr(), 12 - r.x), false),
    ];
    for (case, (reads, free)) in cases.into_iter().enumerate() {
        let r = RDom::named("r", [(1, 11)]);
        let mut f = Func::new("f");
        f[x] = input[x] % 3;
        let (to, from) = reads(&r);
        r.where_(f[from].eq(1));
        f[to] = 7.expr() + r.x;
        let p = Pipeline::new([&f]).unwrap();
        for schedule in [
            "f.update(0): parallel(r.x)",
            "f.update(0): vectorize(r.x, 4)",
            "f.update(0): split(r.x, a, b, 4) reorder(a, b) parallel(b)",
        ] {
            if !free {
                assert!(!illegal(&p, schedule).is_empty(), "{case}");
                continue;
            }
            for seed in 1..6 {
                let images = [("in", random_image(I32, &Region::of_spans([(-9, 60)]), seed))];
                check(&p, schedule, &images, &Region::of_spans([(0, 24)]));
            }
        }
    }
}

/// Scatters that collide with the same value, and one that the schedule lets race since it does.
#[test]
fn scatters_of_one_value() {
    let input = ImageParam::new("in", U8, 1);
    let (b, x) = vars!(b, x);
    let r = RDom::named("r", [(0, 30)]);
    let mut hits = Func::new("hits");
    hits[(b, x)] = 0.expr();
    hits[(cast::<i32>(input[r.x]) % 8, x)] = x * x + 1;
    let p = Pipeline::new([&hits]).unwrap();
    let races = "hits.update(0): split(r.x, ro, ri, 8) reorder(ro, x, ri) parallel(ri) parallel(x)";
    let images = [("in", random_image(U8, &Region::of_spans([(0, 30)]), 5))];
    let schedules = [
        "hits.update(0): parallel(x)",
        "hits.update(0): reorder(x, r.x) vectorize(x, 4)",
        "hits.update(0): split(r.x, ro, ri, 8) parallel(x) unroll(ri)",
    ];
    for schedule in schedules {
        for n in [1, 4, 9] {
            check(&p, schedule, &images, &Region::of_spans([(0, 8), (-1, n)]));
        }
    }
    assert!(!illegal(&p, races).is_empty());
}
