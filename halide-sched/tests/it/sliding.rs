//! Cases of Halide's own tests restated: windows that slide. Every value is computed once, and as many are kept as are
//! alive, whatever asks for them and however the loops run.

use crate::counts::count;
use crate::matrix::{check, random_image};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};

pub(crate) fn images(p: &Pipeline) -> Vec<(&str, AnyBuffer)> {
    let spans = |dims| Region::of_spans(vec![(-60, 200); dims]);
    p.images.iter().map(|i| (i.name.as_str(), random_image(i.ty, &spans(i.dims), 9))).collect()
}

/// Holds a schedule against the interpreter over sizes, and `func` to points and elements at each, as `expected` says.
#[track_caller]
pub(crate) fn slides(p: &Pipeline, schedule: &str, func: &str, expected: impl Fn(i64, i64) -> (i64, i64)) {
    let dims = p.funcs[p.outputs[0]].dims();
    let mut wrong = Vec::new();
    for (w, h) in [(1, 1), (4, 2), (5, 7), (8, 6), (11, 8), (12, 12)] {
        let region = Region::of_spans(&[(-3, w), (2, h)][2 - dims..]);
        check(p, schedule, &images(p), &region);
        let counts = count(p, schedule, &images(p), &region, true);
        let got = (counts.points(func), counts.elements(func));
        if got != expected(w, h) {
            wrong.push(format!("{w} x {h}: {got:?} is not {:?}", expected(w, h)));
        }
    }
    assert!(
        wrong.is_empty(),
        "{schedule}
{}",
        wrong.join(
            "
"
        )
    );
}

/// `g(x, y)` of `f` around it, where `f` reads the input.
pub(crate) fn around(read: impl Fn(&Func, halide_core::Var, halide_core::Var) -> halide_core::Expr) -> Pipeline {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 3 - x;
    g[(x, y)] = read(&f, x, y);
    Pipeline::new([&g]).unwrap()
}

#[test]
fn rows_of_stencils_and_other_scales() {
    let p = around(|f, x, y| f[(x, y - 1)] + f[(x + 2, y + 1)]);
    let rows = "f: store_root() compute_at(g, y)";
    slides(&p, rows, "f", |w, h| ((w + 2) * (h + 2), (w + 2) * (h + 2).min(3)));
    slides(&p, &format!("{rows} vectorize(x, 4, GuardWithIf)\n g: vectorize(x, 4, GuardWithIf)"), "f", |w, h| {
        ((w + 2) * (h + 2), (w + 2) * (h + 2).min(3))
    });
    slides(&p, "g: reorder(y, x)\n f: store_root() compute_at(g, x)", "f", |w, h| {
        ((w + 2) * (h + 2), (w + 2).min(3) * (h + 2))
    });
    // Downwards, twice as fine, and twice as coarse.
    let p = around(|f, x, y| f[(x, 1 - y)] - f[(x, -y)]);
    slides(&p, rows, "f", |w, h| (w * (h + 1), w * 2));
    let p = around(|f, x, y| f[(x, 2 * y)] + f[(x, 2 * y + 1)] + f[(x, 2 * y + 2)]);
    slides(&p, rows, "f", |w, h| (w * (2 * h + 1), w * 3));
    let p = around(|f, x, y| f[(x, y / 2)] + f[(x, y / 2 + 1)]);
    // Rows 2 .. 2 + h.
    slides(&p, rows, "f", |w, h| (w * ((h + 1) / 2 + 1), w * ((h + 1) / 2 + 1).min(2)));
}

#[test]
fn several_consumers() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut a, mut b, mut g) = (Func::new("f"), Func::new("a"), Func::new("b"), Func::new("g"));
    f[(x, y)] = input[(x, y)] + y;
    a[(x, y)] = f[(x, y)] * f[(x, y + 1)];
    b[(x, y)] = f[(x, y - 2)] ^ 5;
    g[(x, y)] = a[(x, y)] + a[(x, y - 1)] - b[(x + 1, y)];
    let p = Pipeline::new([&g]).unwrap();
    // Rows y - 2 to y + 1 are alive.
    let expected = |w: i64, h: i64| ((w + 1) * (h + 3), (w + 1) * (h + 3).min(4));
    slides(&p, "f: store_root() compute_at(g, y)", "f", expected);
    slides(&p, "f: store_root() compute_at(g, y)\n a: compute_at(g, y)\n b: compute_at(g, y)", "f", expected);
    slides(
        &p,
        "f: store_root() compute_at(g, y)\n a: store_root() compute_at(g, y)\n b: compute_at(g, x)",
        "f",
        expected,
    );
    slides(&p, "f: store_root() compute_at(g, y)\n a: store_root() compute_at(g, y)", "a", |w, h| {
        (w * (h + 1), w * (h + 1).min(2))
    });
}

#[test]
fn chains_of_windows() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g, mut h) = (Func::new("f"), Func::new("g"), Func::new("h"));
    f[(x, y)] = input[(x, y)] + y;
    g[(x, y)] = f[(x, y - 1)] + f[(x, y + 1)];
    h[(x, y)] = g[(x, y)] - g[(x, y + 3)];
    let p = Pipeline::new([&h]).unwrap();
    let both = "f: store_root() compute_at(h, y)\n g: store_root() compute_at(h, y)";
    slides(&p, both, "g", |w, n| (w * (n + 3), w * (n + 3).min(4)));
    // The loop starts early enough to fill the window of `g` row by row, each of which needs three of `f`.
    slides(&p, both, "f", |w, n| (w * (n + 5), w * 3));
}

#[test]
fn strips_tiles_and_specialisations() {
    let p = around(|f, x, y| f[(x, y)] + f[(x, y + 2)]);
    // In strips of 4 rows, each has 2 rows more.
    let strips = "g: split(y, yo, yi, 4, GuardWithIf)\n f: store_at(g, yo) compute_at(g, yi)";
    slides(&p, strips, "f", |w, h| {
        let strips = (h + 3) / 4;
        (w * (h + 2 * strips), (0..strips).map(|s| w * ((h - 4 * s).min(4) + 2).min(3)).sum())
    });
    let split = "g: split(y, yo, yi, 4, GuardWithIf)\n f: store_root() compute_at(g, yi)";
    // The first row of a chunk begins a window of its own, beside the one that the chunk before left.
    slides(&p, split, "f", |w, h| (w * (h + 2 * ((h + 3) / 4)), w * 6));
    let special = "g: specialize(g.extent(0) >= 5)\n g.specialize(g.extent(0) >= 5): vectorize(x, 4)\n f: store_root() compute_at(g, y)";
    slides(&p, special, "f", |w, h| (w * (h + 2), w * 3));
    let unrolled = "g: unroll(y, 2, GuardWithIf)\n f: store_root() compute_at(g, y)";
    slides(&p, unrolled, "f", |w, h| (w * (h + 2), w * 4));
    // Each thread has rows of its own.
    let parallel = "g: split(y, yo, yi, 4, GuardWithIf) parallel(yo)\n f: store_root() compute_at(g, yi)";
    slides(&p, parallel, "f", |w, h| {
        let strips = (h + 3) / 4;
        (w * (h + 2 * strips), (0..strips).map(|s| w * ((h - 4 * s).min(4) + 2).min(3)).sum())
    });
}

#[test]
fn updates_and_tuples() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 3)]);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)];
    f[(x, y)] += input[(x + r.x, y)];
    g[(x, y)] = f[(x, y)] + f[(x, y + 1)];
    let p = Pipeline::new([&g]).unwrap();
    // Both definitions of each point, the second three times.
    slides(&p, "f: store_root() compute_at(g, y)", "f", |w, h| (w * (h + 1) * 4, w * (h + 1).min(2)));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = (input[(x, y)], cast::<i16>(x + y)).into();
    g[(x, y)] = f[(x, y)].at(0) + f[(x, y + 1)].at(0) * cast::<i32>(f[(x, y - 1)].at(1));
    let p = Pipeline::new([&g]).unwrap();
    slides(&p, "f: store_root() compute_at(g, y)", "f", |w, h| (w * (h + 2), w * (h + 2).min(3)));
}

/// In the innermost loop: a window in one dimension, and one in each of two.
#[test]
fn points_of_a_window() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = input[x] * 5;
    g[x] = f[x - 2] + f[x + 2];
    let p = Pipeline::new([&g]).unwrap();
    slides(&p, "f: store_root() compute_at(g, x)", "f", |_, n| (n + 4, 5));
    // Windows of five overlap those of the chunk before by one.
    slides(&p, "g: split(x, xo, xi, 4, GuardWithIf)\n f: store_root() compute_at(g, xi)", "f", |_, n| {
        (n + 4 + 3 * ((n + 3) / 4 - 1), 8)
    });
    let p = around(|f, x, y| f[(x - 1, y)] + f[(x + 1, y)]);
    slides(&p, "f: store_at(g, y) compute_at(g, x)", "f", |w, h| ((w + 2) * h, 3 * h));
}

/// Inputs are asked to hold what tails compute over whole windows: a window slides only if no tail computes more of
/// what is new.
#[test]
fn tails_of_producers_stay_in_the_window_that_inputs_hold() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    let (mut p, mut f, mut g) = (Func::new("p"), Func::new("f"), Func::new("g"));
    p[x] = input[x] * 3;
    f[x] = p[x] + x;
    g[x] = f[x] - f[x + 7];
    let pipeline = Pipeline::new([&g]).unwrap();
    for tail in ["vectorize(x, 8)", "unroll(x, 4)", "vectorize(x, 4, GuardWithIf)"] {
        let schedule =
            format!("g: split(x, xo, xi, 8)\n f: store_root() compute_at(g, xo)\n p: compute_at(g, xo) {tail}");
        for width in [1, 8, 9, 17, 18, 31] {
            let image = random_image(I32, &Region::of_extents([width + 7]), 1);
            check(&pipeline, &schedule, &[("in", image)], &Region::of_extents([width]));
        }
    }
}
