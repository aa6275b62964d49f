//! Cases of Halide's own tests restated: where producers are computed and stored, how often, and that every consumer
//! finds what it reads.

use crate::matrix::{check, random_image};
use crate::sliding::{around, slides};
use crate::support::hold;
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};

/// Per row, per column of tiles, per tile, per point of a tile: each has its own, no more and no less.
#[test]
fn in_rows_tiles_and_points() {
    let p = around(|f, x, y| f[(x, y)] * f[(x + 2, y)] + f[(x, y + 1)]);
    slides(&p, "f: compute_at(g, y)", "f", |w, h| ((w + 2) * 2 * h, (w + 2) * 2 * h));
    slides(&p, "f: compute_at(g, x)", "f", |w, h| (6 * w * h, 6 * w * h));
    slides(&p, "f: compute_root()", "f", |w, h| ((w + 2) * (h + 1), (w + 2) * (h + 1)));
    let tile = "g: tile(x, y, xo, yo, xi, yi, 4, 3, GuardWithIf)";
    let sum = |n: i64, size: i64, more: i64| n + (n + size - 1) / size * more;
    slides(&p, &format!("{tile}\n f: compute_at(g, xo)"), "f", |w, h| {
        let all = sum(w, 4, 2) * sum(h, 3, 1);
        (all, all)
    });
    slides(&p, &format!("{tile}\n f: compute_at(g, yo)"), "f", |w, h| {
        let all = (w + 2) * sum(h, 3, 1);
        (all, all)
    });
    // The guard around a point leaves what the point needs, which is a constant number.
    slides(&p, &format!("{tile}\n f: compute_at(g, xi)"), "f", |w, h| (6 * w * h, 6 * w * h));
}

/// The outermost loop of the consumer, serial and parallel, is inside of nothing and yet a loop.
#[test]
fn in_the_outermost_loop() {
    let p = around(|f, x, y| f[(x, y)] + f[(x + 1, y + 3)]);
    for kind in ["", "parallel(yo)"] {
        let one = format!("g: split(y, yo, yi, 64, GuardWithIf) {kind}\n f: compute_at(g, yo)");
        slides(&p, &one, "f", |w, h| ((w + 1) * (h + 3), (w + 1) * (h + 3)));
        let several = format!("g: split(y, yo, yi, 4, GuardWithIf) {kind}\n f: compute_at(g, yo)");
        slides(&p, &several, "f", |w, h| {
            let all = (w + 1) * (h + (h + 3) / 4 * 3);
            (all, all)
        });
    }
}

/// Two consumers, both computed in one loop of a third, share what they read.
#[test]
fn consumers_in_one_loop_share_a_producer() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut a, mut b, mut g) = (Func::new("f"), Func::new("a"), Func::new("b"), Func::new("g"));
    f[(x, y)] = input[(x, y)] + y;
    a[(x, y)] = f[(x, y)] * 3;
    b[(x, y)] = f[(x + 1, y)] - x;
    g[(x, y)] = a[(x, y)] + b[(x, y)];
    let p = Pipeline::new([&g]).unwrap();
    let shared = "f: compute_at(g, y)\n a: compute_at(g, y)\n b: compute_at(g, y)";
    slides(&p, shared, "f", |w, h| ((w + 1) * h, (w + 1) * h));
    slides(&p, &format!("{shared} compute_with(a, x)"), "f", |w, h| ((w + 1) * h, (w + 1) * h));
    slides(&p, "f: compute_at(g, y)\n a: compute_at(g, x)\n b: compute_at(g, y)", "f", |w, h| {
        ((w + 1) * h, (w + 1) * h)
    });
}

/// An update whose loops stand in another order than those of the definition before it.
#[test]
fn in_loops_of_reordered_updates() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 3)]);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 2;
    g[(x, y)] = x - y;
    g[(x, y)] += f[(x, y + r.x)];
    let p = Pipeline::new([&g]).unwrap();
    let mut schedules = Vec::new();
    for order in ["y, x, r.x", "r.x, y, x", "y, r.x, x", "r.x, x, y"] {
        let names: Vec<&str> = order.split(", ").collect();
        for (inner, outer) in [(0, 1), (0, 2), (1, 2), (1, 1), (2, 2)] {
            schedules.push(format!(
                "g.update(0): reorder({order})\n f: store_at(g.update(0), {}) compute_at(g.update(0), {})",
                names[outer], names[inner]
            ));
        }
        schedules
            .push(format!("g.update(0): reorder({order})\n f: store_root() compute_at(g.update(0), {})", names[0]));
    }
    hold(&p, &schedules);
    // One column after the other: each keeps the window of its own.
    let columns = "g.update(0): reorder(r.x, y, x)\n f: store_at(g.update(0), x) compute_at(g.update(0), y)";
    slides(&p, columns, "f", |w, h| (w * (h + 2), w * (h + 2).min(3)));
}

/// Inside of a split reduction: as often as the loop runs, as many as its chunk needs.
#[test]
fn in_loops_of_split_reductions() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    let r = RDom::named("r", [(0, 12)]);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = input[x] - 4;
    g[x] = x + 0;
    g[x] += f[r.x] * (x + r.x);
    let p = Pipeline::new([&g]).unwrap();
    let split = "g.update(0): split(r.x, ro, ri, 4) reorder(x, ri, ro)";
    slides(&p, &format!("{split}\n f: compute_at(g.update(0), ro)"), "f", |_, _| (12, 12));
    slides(&p, &format!("{split}\n f: compute_at(g.update(0), ri)"), "f", |_, _| (12, 12));
    slides(&p, &format!("{split}\n f: store_root() compute_at(g.update(0), ri)"), "f", |_, _| (12, 4));
    slides(&p, &format!("{split}\n f: compute_at(g.update(0), x)"), "f", |_, n| (12 * n, 12 * n));
    let inside = "g.update(0): split(r.x, ro, ri, 4) reorder(ri, ro, x)\n f: compute_at(g.update(0), ro)";
    slides(&p, inside, "f", |_, n| (12 * n, 12 * n));
}

/// A producer with updates, each with its own splits, per chunk of the consumer.
#[test]
fn updates_in_chunks() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)];
    f[(x, y)] = f[(x, y)] * 3 + y;
    f[(x, y)] = max(f[(x, y)], x * 1000);
    g[(x, y)] = f[(x, y)] + f[(x + 3, y)];
    let p = Pipeline::new([&g]).unwrap();
    slides(&p, "f: compute_at(g, y)", "f", |w, h| (3 * (w + 3) * h, (w + 3) * h));
    let mut schedules = Vec::new();
    for place in
        ["compute_at(g, xo)", "store_at(g, y) compute_at(g, xo)", "store_root() compute_at(g, xo)", "compute_root()"]
    {
        for (a, b, c) in
            [("", "vectorize(x, 4)", "unroll(x, 3)"), ("vectorize(x, 8)", "", "vectorize(x, 4, GuardWithIf)")]
        {
            schedules.push(format!(
                "g: split(x, xo, xi, 8)\n f: {place} {a}\n f.update(0): {b}\n f.update(1): reorder(y, x) {c}"
            ));
        }
    }
    hold(&p, &schedules);
}

/// Stages of which a condition on the inputs says that nobody needs their values, and a window of which one point is
/// not needed.
#[test]
fn stages_that_conditions_leave_unneeded() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    let (mut f, mut a, mut b, mut g) = (Func::new("f"), Func::new("a"), Func::new("b"), Func::new("g"));
    f[x] = input[x] * 2;
    a[x] = f[x] + 1;
    b[x] = f[x] - 5;
    let wide = |n: i32| input.dim(0).extent().gt(n);
    g[x] = select(wide(40), a[x], 0) + select(wide(80), b[x], 0);
    let p = Pipeline::new([&g]).unwrap();
    let special = "g: specialize(in.extent(0) > 80) specialize(in.extent(0) <= 40)";
    for places in [
        "f: compute_root()\n a: compute_root()\n b: compute_root()".to_string(),
        format!("{special}\n f: compute_at(g, x)\n a: compute_at(g, x)\n b: compute_at(g, x)"),
        format!(
            "g: split(x, xo, xi, 5)\n {special}\n f: compute_at(g, xo)\n a: store_root() compute_at(g, xo)\n \
             b: store_at(g, xo) compute_at(g, xi)"
        ),
    ] {
        for extent in [30, 60, 100] {
            for n in [1, 4, 7, 20] {
                let image = random_image(I32, &Region::of_spans([(-5, extent)]), 3);
                check(&p, &places, &[("in", image)], &Region::of_spans([(0, n)]));
            }
        }
    }
    let (mut f, mut g, mut h) = (Func::new("f"), Func::new("g"), Func::new("h"));
    f[x] = input[x] + x;
    g[x] = f[x] * f[x - 2];
    h[x] = select(x.eq(5), 3, g[x]);
    let p = Pipeline::new([&h]).unwrap();
    hold(
        &p,
        &[
            "f: store_root() compute_at(g, x)\n g: compute_at(h, x)",
            "f: store_root() compute_at(h, x)\n g: compute_at(h, x)",
            "f: store_root() compute_at(h, x)\n g: store_root() compute_at(h, x)",
            "h: vectorize(x, 4)\n f: store_root() compute_at(h, x) vectorize(x, 4)",
        ],
    );
}
