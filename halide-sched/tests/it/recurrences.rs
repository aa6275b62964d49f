//! Updates that read what they stored before: loops in any order, in tiles and at once where every dependence allows
//! it.

use crate::matrix::{TARGET, check, random_image};
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};

fn sweep(pipeline: &Pipeline, schedules: &[&str], n: i32) {
    for schedule in schedules {
        let image = random_image(I32, &Region::of_spans([(-1, n + 2), (-1, n + 2)]), 7);
        check(pipeline, schedule, &[("in", image)], &Region::of_spans([(0, n), (0, n)]));
    }
}

/// Returns the errors of `resolve` for the schedule, without the places in this file.
fn refusal(pipeline: &Pipeline, schedule: &str) -> String {
    let errors = halide_sched::plan::resolve(pipeline, &schedule.parse().unwrap(), &TARGET).unwrap_err();
    let text: Vec<String> = errors.iter().map(|e| e.to_string()).collect();
    let file = file!();
    let mut plain = text.join("\n");
    while let Some(start) = plain.find(&format!(", at {file}")) {
        let rest = start + 5 + file.len();
        let end = plain[rest..].find(|c: char| c != ':' && !c.is_ascii_digit()).map_or(plain.len(), |n| rest + n);
        plain.replace_range(start..end, " HERE");
    }
    plain
}

fn grid(n: i32, inset: i32, dims: usize) -> RDom {
    RDom::named("r", vec![(inset, n - 2 * inset); dims])
}

/// Gauss-Seidel: each point from its neighbours, of which two are new already.
fn seidel(n: i32, corners: bool) -> Pipeline {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = input[(x, y)];
    let r = grid(n, 1, 2);
    let sides = f[(r.x - 1, r.y)] + f[(r.x, r.y - 1)] * 3 + f[(r.x + 1, r.y)] * 5 + f[(r.x, r.y + 1)] * 7;
    f[(r.x, r.y)] = if corners { sides + f[(r.x - 1, r.y + 1)] * 11 } else { sides };
    Pipeline::new([&f]).unwrap()
}

#[test]
fn points_from_their_neighbours() {
    for n in [3, 5, 8, 11] {
        let p = seidel(n, false);
        sweep(
            &p,
            &[
                "f.update(0): reorder(r.y, r.x)",
                "f.update(0): split(r.x, xo, xi, 3) split(r.y, yo, yi, 2) reorder(xi, yi, xo, yo)",
                "f.update(0): split(r.x, xo, xi, 4) split(r.y, yo, yi, 4) reorder(yi, xi, xo, yo) unroll(yi)",
                "f.update(0): split(r.y, yo, yi, 3) reorder(yi, r.x, yo)",
                "f.update(0): reorder(r.y, r.x) fuse(r.y, r.x, t)",
            ],
            n,
        );
    }
    let sides = seidel(9, false);
    assert_eq!(
        refusal(&sides, "f.update(0): vectorize(r.x, 4)"),
        "schedule:1:14: f.update(0): vectorize(r.x, 4)
  `r.x$v` cannot be vectorized: one of its iterations may load an element of `f.update(0)` that another one stores to; \
  one stores to `f(r.x, r.y)` and another one loads `f(r.x - 1, r.y)` HERE
  help: vectorize or parallelise another loop, or say atomic()"
            .replace(
                "vectorize or parallelise another loop, or say atomic()",
                &help(&sides, "f.update(0): vectorize(r.x, 4)")
            )
    );
    let corners = seidel(9, true);
    let text = refusal(&corners, "f.update(0): reorder(r.y, r.x)");
    assert!(
        text.contains(
            "this changes the order of the reduction over `r.x`, `r.y`, but the update of `f.update(0)` is no \
             associative and commutative operation on the old value alone, and two iterations would change places: \
             one stores to `f(r.x, r.y)` and another one loads `f(r.x - 1, r.y + 1)` HERE"
        ),
        "{text}"
    );
    sweep(&corners, &["f.update(0): split(r.y, yo, yi, 3) split(r.x, xo, xi, 2)"], 9);
    assert!(
        refusal(&corners, "f.update(0): split(r.x, xo, xi, 2) split(r.y, yo, yi, 2) reorder(xi, yi, xo, yo)")
            .contains("places")
    );
}

fn help(pipeline: &Pipeline, schedule: &str) -> String {
    refusal(pipeline, schedule).rsplit("help: ").next().unwrap_or_default().to_string()
}

/// A factorization in place: the predicate alone says that steps leave alone what they read.
#[test]
fn factorization_in_place() {
    for n in [2, 5, 8] {
        let input = ImageParam::new("in", I32, 2);
        let (x, y) = vars!(x, y);
        let mut f = Func::new("f");
        f[(x, y)] = input[(x, y)];
        let r = RDom::named("r", [(0, n), (0, n), (0, n)]);
        r.where_(r.x.gt(r.z) & r.y.gt(r.z));
        f[(r.x, r.y)] = f[(r.x, r.y)] - f[(r.z, r.y)] * f[(r.x, r.z)];
        let p = Pipeline::new([&f]).unwrap();
        sweep(
            &p,
            &[
                "f.update(0): vectorize(r.x, 4)",
                "f.update(0): parallel(r.y)",
                "f.update(0): reorder(r.y, r.x) parallel(r.x)",
                "f.update(0): split(r.x, xo, xi, 4) split(r.y, yo, yi, 2) reorder(xi, yi, xo, yo, r.z) parallel(yo) vectorize(xi)",
                "f.update(0): reorder(r.z, r.x, r.y)",
                "f.update(0): split(r.z, zo, zi, 2) reorder(zi, r.x, r.y, zo)",
            ],
            n,
        );
        if n == 2 {
            // One step of one point needs no order.
            continue;
        }
        assert!(refusal(&p, "f.update(0): parallel(r.z)").contains("both store to `f(r.x, r.y)` HERE"));
    }
}

/// Forward substitution by rows or by columns.
#[test]
fn triangular_solve() {
    for n in [2, 5, 9] {
        let input = ImageParam::new("in", I32, 2);
        let i = vars!(i);
        let mut s = Func::new("s");
        s[i] = input[(i, 0)];
        let r = RDom::named("r", [(0, n), (0, n)]);
        r.where_(r.x.lt(r.y));
        s[r.y] = s[r.y] - input[(r.x, r.y)] * s[r.x];
        let p = Pipeline::new([&s]).unwrap();
        for schedule in [
            "",
            "s.update(0): reorder(r.y, r.x)",
            "s.update(0): reorder(r.y, r.x) vectorize(r.y, 4)",
            "s.update(0): reorder(r.y, r.x) parallel(r.y)",
            "s.update(0): split(r.x, xo, xi, 2) split(r.y, yo, yi, 4) reorder(yi, xi, xo, yo)",
        ] {
            let image = random_image(I32, &Region::of_spans([(0, n), (0, n)]), 7);
            check(&p, schedule, &[("in", image)], &Region::of_spans([(0, n)]));
        }
        if n == 2 {
            continue;
        }
        assert!(refusal(&p, "s.update(0): parallel(r.y)").contains("loads `s(r.x)`"));
        assert!(refusal(&p, "s.update(0): reorder(r.y, r.x) parallel(r.x)").contains("both store to `s(r.y)`"));
    }
}

/// A recursive filter runs along one dimension, forth and back; the other is free.
#[test]
fn recursive_filters() {
    for n in [2, 5, 12] {
        let input = ImageParam::new("in", I32, 2);
        let (x, y) = vars!(x, y);
        let mut f = Func::new("f");
        f[(x, y)] = input[(x, y)];
        let r = RDom::named("r", [(1, n - 1)]);
        f[(x, r.x)] = f[(x, r.x)] * 3 + f[(x, r.x - 1)];
        f[(x, n - 1 - r.x)] = f[(x, n - 1 - r.x)] * 3 + f[(x, n - r.x)];
        let s = RDom::named("s", [(1, n - 1), (0, n)]);
        f[(s.x, s.y)] = f[(s.x, s.y)] * 3 + f[(s.x - 1, s.y)];
        f[(n - 1 - s.x, s.y)] = f[(n - 1 - s.x, s.y)] * 3 + f[(n - s.x, s.y)];
        let p = Pipeline::new([&f]).unwrap();
        sweep(
            &p,
            &[
                "f.update(0): vectorize(x, 4)\n f.update(1): vectorize(x, 4)",
                "f.update(2): reorder(s.y, s.x) vectorize(s.y, 4)\n f.update(3): reorder(s.y, s.x) vectorize(s.y, 4)",
                "f.update(2): split(s.y, yo, yi, 4) reorder(yi, s.x, yo) parallel(yo) vectorize(yi)",
                "f.update(3): split(s.y, yo, yi, 4) reorder(yi, s.x, yo) parallel(yo) unroll(yi)",
                "f.update(1): vectorize(r.x, 4)\n f.update(2): vectorize(s.x, 4)\n f.update(3): vectorize(s.x, 2)",
            ],
            n,
        );
        if n > 2 {
            assert!(refusal(&p, "f.update(0): parallel(r.x)").contains("loads `f(x, r.x - 1)`"));
            assert!(refusal(&p, "f.update(3): parallel(s.x)").contains("stores to"));
        }
    }
}

/// Shortest paths: a step stores to what it reads, so coordinates alone allow no order but the one written.
#[test]
fn shortest_paths_keep_their_order() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let mut d = Func::new("d");
    d[(x, y)] = input[(x, y)];
    let r = RDom::named("r", [(0, 6), (0, 6), (0, 6)]);
    d[(r.x, r.y)] = min(d[(r.x, r.y)], d[(r.x, r.z)] / 2 + d[(r.z, r.y)] / 2);
    let p = Pipeline::new([&d]).unwrap();
    for schedule in [
        "d.update(0): reorder(r.z, r.x, r.y)",
        "d.update(0): reorder(r.x, r.z, r.y)",
        "d.update(0): parallel(r.y)",
        "d.update(0): vectorize(r.x, 2)",
        "d.update(0): split(r.z, zo, zi, 2) reorder(r.x, r.y, zi, zo) reorder(zi, r.x)",
    ] {
        assert!(refusal(&p, schedule).contains("one stores to `d(r.x, r.y)` and another one loads `d("), "{schedule}");
    }
}
