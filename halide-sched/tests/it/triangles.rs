//! Domains with an edge that depends on another loop: no iteration is spent on what a predicate rules out.

use crate::counts::count;
use crate::matrix::{check, random_image};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};

fn square(n: i32) -> AnyBuffer {
    random_image(I32, &Region::of_spans([(0, n), (0, n)]), 3)
}

fn region(n: i32) -> Region {
    Region::of_spans([(0, n), (0, n)])
}

/// `c(i, j) += a(k, i) * a(k, j)` for `j <= i`: the symmetric product's lower half.
fn symmetric_product(n: i32) -> Pipeline {
    let a = ImageParam::new("a", I32, 2);
    let (i, j) = vars!(i, j);
    let mut c = Func::new("c");
    c[(i, j)] = 0.expr();
    let r = RDom::named("r", [(0, n)]);
    r.where_(j.le(i));
    c[(i, j)] += a[(r.x, i)] * a[(r.x, j)];
    Pipeline::new([&c]).unwrap()
}

/// `c(x, y) += a(x + u, y + v)` where `u <= v`.
fn triangle_of_reduction(n: i32) -> Pipeline {
    let a = ImageParam::new("a", I32, 2);
    let x = vars!(x);
    let mut c = Func::new("c");
    c[x] = 0.expr();
    let r = RDom::named("r", [(0, n), (0, n)]);
    r.where_(r.x.le(r.y));
    c[x] += a[(r.x, r.y)] * (x + 1);
    Pipeline::new([&c]).unwrap()
}

fn total(n: i32, row: impl Fn(i32) -> i32) -> u64 {
    (0..n).map(row).sum::<i32>() as u64
}

fn up(n: i32, by: i32) -> i32 {
    (n + by - 1) / by
}

const SIZES: [i32; 7] = [1, 3, 4, 7, 8, 16, 19];

#[test]
fn reduction_loops_end_where_the_predicate_does() {
    for n in SIZES {
        let p = triangle_of_reduction(n);
        let images = [("a", square(n))];
        let out = Region::of_spans([(0, 5)]);
        let triangle = total(n, |y| y + 1);
        let pieces = total(n, |y| up(y + 1, 4));
        let inner_counts = [
            ("", "r.x", 5 * triangle),
            ("c.update(0): reorder(r.y, r.x)", "r.y", 5 * triangle),
            ("c.update(0): reorder(x, r.x, r.y) vectorize(x, 4)", "r.x", triangle),
            ("c.update(0): reorder(x, r.y, r.x) vectorize(x, 4) unroll(r.y, 1)", "r.x", n as u64),
            ("c.update(0): reorder(r.x, r.y, x) parallel(x)", "r.x", 5 * triangle),
            ("c.update(0): split(r.x, ro, ri, 4)", "ri", 5 * triangle),
            ("c.update(0): split(r.x, ro, ri, 4)", "ro", 5 * pieces),
            ("c.update(0): split(r.x, ro, ri, 4) unroll(ri)", "ro", 5 * pieces),
            ("c.update(0): split(r.x, ro, ri, 4) reorder(x, ri, ro, r.y) vectorize(x, 4)", "ri", triangle),
            ("c.update(0): split(r.y, ro, ri, 4) reorder(ri, r.x, ro, x)", "ri", 5 * triangle),
            ("c.update(0): split(r.y, ro, ri, 4) reorder(ri, r.x, ro, x) unroll(ri)", "r.x", {
                let rows = |o: i32| n.min(4 * o + 4);
                5 * total(up(n, 4), rows)
            }),
        ];
        for (schedule, name, expected) in inner_counts {
            check(&p, schedule, &images, &out);
            let counts = count(&p, schedule, &images, &out, true);
            let name = format!("c.update(0).{name}");
            if n < 5 && !counts.has_loop(&name) {
                continue;
            }
            assert_eq!(counts.iterations(&name), expected, "{name} of {schedule}, n {n}\n{}", counts.text());
        }
    }
}

#[test]
fn pure_loops_end_where_the_predicate_does() {
    for n in SIZES {
        let p = symmetric_product(n);
        let images = [("a", square(n))];
        let all = n as u64;
        let triangle = total(n, |i| i + 1);
        let tiles = total(up(n, 4), |o| o + 1);
        let tiled = "tile(i, j, io, jo, ii, ji, 4, 4) reorder(ii, ji, r.x, io, jo)";
        let columns = "split(i, io, ii, 4) reorder(ii, r.x, j, io) vectorize(ii)";
        for (schedule, name, expected) in [
            ("", "r.x", all * triangle),
            ("reorder(r.x, j, i)", "j", triangle),
            ("reorder(r.x, j, i) parallel(i)", "r.x", all * triangle),
            ("reorder(r.x, j, i) parallel(j)", "j", triangle),
            ("reorder(j, r.x, i)", "j", all * triangle),
            ("reorder(j, r.x, i) vectorize(j, 4)", "j", all * total(n, |i| up(i + 1, 4))),
            (columns, "j", total(up(n, 4), |io| n.min(4 * io + 4))),
            (tiled, "io", tiles),
            (tiled, "r.x", all * tiles),
            (&format!("{tiled} vectorize(ii)"), "r.x", all * tiles),
            (&format!("{tiled} vectorize(ii) unroll(ji)"), "r.x", all * tiles),
            (&format!("{tiled} parallel(jo)"), "r.x", all * tiles),
        ] {
            let schedule = format!("c.update(0): {schedule}");
            check(&p, &schedule, &images, &region(n));
            let counts = count(&p, &schedule, &images, &region(n), true);
            let name = format!("c.update(0).{name}");
            if n < 5 && !counts.has_loop(&name) {
                continue;
            }
            assert_eq!(counts.iterations(&name), expected, "{name} of {schedule}, n {n}\n{}", counts.text());
        }
    }
}

/// Producers of a row of a triangle are computed over as many points as the row is long.
#[test]
fn producers_are_as_long_as_rows() {
    for n in SIZES {
        let a = ImageParam::new("a", I32, 2);
        let (x, y) = vars!(x, y);
        let (mut p, mut c) = (Func::new("p"), Func::new("c"));
        p[(x, y)] = a[(x, y)] * 3;
        c[x] = 0.expr();
        let r = RDom::named("r", [(0, n), (0, n)]);
        r.where_(r.x.le(r.y));
        c[x] += p[(r.x, r.y)] * (x + 1);
        let pipeline = Pipeline::new([&c]).unwrap();
        let images = [("a", square(n))];
        let out = Region::of_spans([(0, 2)]);
        for schedule in [
            "c.update(0): reorder(x, r.x, r.y)\n p: compute_at(c.update(0), r.y)",
            "c.update(0): reorder(x, r.x, r.y)\n p: compute_at(c.update(0), r.y) vectorize(x, 4, GuardWithIf)",
        ] {
            check(&pipeline, schedule, &images, &out);
            let counts = count(&pipeline, schedule, &images, &out, true);
            assert_eq!(counts.points("p") as u64, total(n, |y| y + 1), "{schedule}\n{}", counts.text());
            assert_eq!(counts.elements("p") as u64, total(n, |y| y + 1), "{schedule}\n{}", counts.text());
        }
    }
}

/// The inner loops of a factorization shrink with every step.
#[test]
fn factorization() {
    for n in SIZES {
        let a = ImageParam::new("a", I32, 2);
        let (x, y) = vars!(x, y);
        let mut f = Func::new("f");
        f[(x, y)] = a[(x, y)];
        let r = RDom::named("r", [(0, n), (0, n), (0, n)]);
        r.where_(r.x.gt(r.z) & r.y.gt(r.z));
        f[(r.x, r.y)] = f[(r.x, r.y)] - f[(r.z, r.y)] * f[(r.x, r.z)];
        let p = Pipeline::new([&f]).unwrap();
        let images = [("a", square(n))];
        check(&p, "", &images, &region(n));
        let counts = count(&p, "", &images, &region(n), true);
        if n == 1 {
            continue;
        }
        assert_eq!(counts.iterations("f.update(0).r.y"), total(n, |k| n - 1 - k), "{}", counts.text());
        assert_eq!(counts.iterations("f.update(0).r.x"), total(n, |k| (n - 1 - k) * (n - 1 - k)), "{}", counts.text());
    }
}

/// The edge of a loop that its own iterations move is where it is in each of them.
#[test]
fn edges_that_iterations_move() {
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = 3.expr();
    let r = RDom::named("r", [(0, 10)]);
    r.where_(r.x.le(f[0]));
    f[0] += r.x / 100 + 1;
    let p = Pipeline::new([&f]).unwrap();
    check(&p, "", &[], &Region::of_spans([(0, 2)]));
    check(&p, "f.update(0): unroll(r.x, 2)", &[], &Region::of_spans([(0, 2)]));
}

/// An edge that is data is read only where its row is one.
#[test]
fn edges_that_are_data() {
    let a = ImageParam::new("a", U8, 1);
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = 3.expr();
    let r = RDom::named("r", [(0, 10)]);
    r.where_(r.x.lt(cast::<i32>(a[y])));
    f[(x, y)] += r.x;
    let p = Pipeline::new([&f]).unwrap();
    for h in [1, 3, 4, 7, 8] {
        let image = random_image(U8, &Region::of_spans([(0, h)]), 4);
        for schedule in [
            "",
            "f.update(0): reorder(y, x, r.x) vectorize(y, 4, GuardWithIf)",
            "f.update(0): reorder(y, r.x, x) vectorize(y, 4)",
            "f.update(0): split(y, yo, yi, 4, GuardWithIf) reorder(r.x, yi, x, yo) unroll(yi)",
            "f.update(0): split(y, yo, yi, 4, GuardWithIf) reorder(yi, r.x, x, yo) unroll(yi)",
        ] {
            check(&p, schedule, &[("a", image.clone())], &Region::of_spans([(0, 3), (0, h)]));
            let region = Region::of_spans([(0, 3), (0, h)]);
            let counts = count(&p, schedule, &[("a", image.clone())], &region, true);
            if schedule.is_empty() {
                let row = |y| image.get([y]).unwrap().as_i128().clamp(0, 10) as i32;
                assert_eq!(counts.iterations("f.update(0).r.x"), 3 * total(h, row), "{}", counts.text());
            }
        }
    }
}
