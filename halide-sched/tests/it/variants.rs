//! Cases of Halide's own tests restated: specialisations, wrappers and clones that have loops of their own, stages
//! computed together, and loops cut where conditions end.

use crate::counts::count;
use crate::matrix::{check, random_image};
use crate::support::{fault, hold, hold_legal, illegal, stencil};
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, boundary, vars};

/// A wrapper computed in the tiles of two specialisations of which each makes its own, and a run that none suits.
#[test]
fn wrappers_in_tiles_of_specialisations() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = input[(x, 0)] * 3;
    g[(x, y)] = f[x] + select(input.dim(0).extent().gt(100), input[(x, y)], cast::<i16>(y));
    let p = Pipeline::new([&g]).unwrap();
    let tiles = "tile(x, y, xo, yo, xi, yi, 8, 4, GuardWithIf)";
    let schedule = format!(
        "g: {tiles} specialize(g.extent(0) > 8) specialize(g.extent(0) <= 8 && g.extent(1) < 12) specialize_fail(\"too tall\")\n \
         g.specialize(0): vectorize(xi)\n g.specialize(1): parallel(yo)\n f: in() compute_root()\n f.in(): compute_at(g, xo)"
    );
    let (images, sizes) =
        (random_image(I16, &Region::of_spans([(-30, 90), (-30, 90)]), 5), [(1, 1), (8, 11), (9, 12), (29, 17)]);
    for (w, h) in sizes {
        check(&p, &schedule, &[("in", images.clone())], &Region::of_spans([(-3, w), (2, h)]));
    }
    assert!(fault(&p, &schedule, &Region::of_spans([(0, 7), (0, 12)])).is_some_and(|text| text.contains("too tall")));
    for special in [
        "specialize(g.extent(0) == 1)",
        "specialize(g.min(0) == 0 && g.extent(0) == 7)",
        "specialize(g.stride(0) == 1) specialize(g.extent(1) % 4 == 1)",
    ] {
        hold(
            &p,
            &[
                format!("g: split(x, xo, xi, 4) {special} vectorize(xi)\n f: compute_at(g, xo)"),
                format!("f: compute_root() {special} vectorize(x, 4)\n g: {special} parallel(y)"),
            ],
        );
    }
}

/// A producer that a specialisation has no need of, whose region is empty there.
#[test]
fn regions_that_a_specialisation_empties() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut a, mut b, mut out) = (Func::new("a"), Func::new("b"), Func::new("out"));
    a[(x, y)] = input[(x, y)] + x;
    b[(x, y)] = input[(x, y)] * y;
    out[(x, y)] = select(x.gt(9), a[(x, y)], b[(x + 1, y)]);
    let p = Pipeline::new([&out]).unwrap();
    let mut schedules = Vec::new();
    for when in ["out.min(0) == 0 && out.extent(0) == 7", "out.min(0) > 9", "out.extent(0) < 4"] {
        for place in ["compute_at(out, y)", "store_root() compute_at(out, y)", "compute_at(out, x)", "compute_root()"] {
            let lanes = if place.contains("x)") { "" } else { "vectorize(x, 4, GuardWithIf)" };
            schedules.push(format!("out: specialize({when}) {lanes}\n a: {place}\n b: {place}"));
        }
    }
    hold(&p, &schedules);
}

/// Clones and wrappers for some consumers, each computed somewhere else, of a Func with updates.
#[test]
fn clones_and_wrappers_with_places_of_their_own() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 3)]);
    let (mut f, mut a, mut b, mut out) = (Func::new("f"), Func::new("a"), Func::new("b"), Func::new("out"));
    f[(x, y)] = input[(x, y)];
    f[(x, y)] += input[(x + r.x, y)] * (r.x + 2);
    a[(x, y)] = f[(x, y)] - f[(x, y + 2)];
    b[(x, y)] = f[(x + 1, y)] * 3;
    b[(x, y)] += f[(x, y - r.x)];
    out[(x, y)] = a[(x, y)] ^ (b[(x, y + 1)] + f[(x, y)]);
    let p = Pipeline::new([&out]).unwrap();
    let mut schedules = Vec::new();
    for kind in ["in", "clone_in"] {
        for (for_a, for_b) in [
            ("compute_at(a, y)", "compute_at(b.update(0), r.x)"),
            ("compute_root() vectorize(x, 4)", "store_root() compute_at(out, y)"),
            ("store_root() compute_at(a, y)", "compute_at(out, y)"),
        ] {
            schedules.push(format!(
                "f: {kind}(a) {kind}(b) compute_root()\n f.{kind}(a): {for_a}\n f.{kind}(b): {for_b}\n a: compute_root()\n b: compute_at(out, y)"
            ));
            schedules.push(format!("f: {kind}(a, b) compute_root()\n f.{kind}(a, b): compute_root() reorder_storage(y, x)\n a: compute_at(out, y)"));
        }
    }
    assert!(hold_legal(&p, &schedules) >= 7);
}

/// Stages that are computed together with what wrappers and clones made, and with inlined ones.
#[test]
fn together_with_wrappers() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut s, mut f, mut g, mut out) = (Func::new("s"), Func::new("f"), Func::new("g"), Func::new("out"));
    s[(x, y)] = input[(x, y)] - 3;
    f[(x, y)] = s[(x, y)] * 5;
    g[(x, y)] = s[(x + 1, y - 1)] + 2;
    out[(x, y)] = f[(x, y)] + g[(x, y)] - g[(x, y + 1)];
    let p = Pipeline::new([&out]).unwrap();
    hold(
        &p,
        &[
            "f: compute_root()\n g: in(out) compute_root() compute_with(f, y)\n g.in(out): compute_at(out, y)",
            "f: in(out) compute_root()\n g: in(out) compute_root()\n f.in(out): compute_root()\n g.in(out): compute_root() compute_with(f.in(out), x)",
            "s: clone_in(f)\n s: compute_root()\n s.clone_in(f): compute_root() compute_with(s, x)\n f: compute_root()",
            "in: in(s)\n in.in(s): compute_root()\n f: compute_root()\n g: compute_root() compute_with(f, x, AlignEnd)",
        ],
    );
}

/// The nine pieces of two loops at a border: the middle has no conditions, and no piece is computed twice.
#[test]
fn borders_in_pieces() {
    let input = ImageParam::new("in", U8, 2);
    let (x, y) = vars!(x, y);
    let around = boundary::repeat_edge(&input);
    let (mut rows, mut out) = (Func::new("rows"), Func::new("out"));
    rows[(x, y)] = max(max(around[(x - 1, y)], around[(x, y)]), around[(x + 1, y)]);
    out[(x, y)] = max(max(rows[(x, y - 1)], rows[(x, y)]), rows[(x, y + 1)]);
    let p = Pipeline::new([&out]).unwrap();
    for (w, h) in [(1, 1), (2, 7), (13, 5), (24, 11)] {
        let region = Region::of_extents([w, h]);
        let image = random_image(U8, &region, 4);
        for schedule in [
            "",
            "out: always_partition(x) always_partition(y)",
            "out: always_partition(x) never_partition(y)",
            "out: vectorize(x, 8, GuardWithIf)",
            "out: vectorize(y, 4, GuardWithIf)",
            "out: tile(x, y, xo, yo, xi, yi, 8, 4, GuardWithIf) vectorize(xi) always_partition(xo)",
            "rows: compute_at(out, y) vectorize(x, 8)\n out: parallel(y)",
            "rows: store_root() compute_at(out, y)",
        ] {
            check(&p, schedule, &[("in", image.clone())], &region);
            if !schedule.contains("vectorize") {
                let counts = count(&p, schedule, &[("in", image.clone())], &region, true);
                assert_eq!(counts.points("out"), w as i64 * h as i64, "{schedule}");
            }
        }
    }
    let mut summed = Func::new("summed");
    let (k, single) = (RDom::named("k", [(-1, 3), (-1, 3)]), ImageParam::new("single", F64, 2));
    let padded = boundary::constant_exterior(&single, cast::<f64>(100));
    summed[(x, y)] = halide_core::reduce::sum(padded[(x + k.x, y + k.y)]);
    let p = Pipeline::new([&summed]).unwrap();
    for (w, h) in [(1, 1), (4, 4), (5, 9)] {
        let image = random_image(F64, &Region::of_extents([w, h]), 4);
        for schedule in ["", "summed: vectorize(y, 4)", "summed: vectorize(x, 4) parallel(y)"] {
            check(
                &p,
                schedule,
                &[("single", image.clone())],
                &Region::of_spans([(-2, w as i64 + 4), (-1, h as i64 + 3)]),
            );
        }
    }
}

/// Iterations of an update that change nothing are not run: inside of an interval, on a diagonal, in a triangle of
/// tiles.
#[test]
fn iterations_that_change_nothing() {
    let p = {
        let (x, mut f) = (vars!(x), Func::new("f"));
        f[x] = x * 3;
        f[x] = select(x.gt(4) & x.lt(9), f[x] + 1, undef::<i32>());
        f[x] = select(x.lt(6), undef::<i32>(), f[x] * 2);
        Pipeline::new([&f]).unwrap()
    };
    hold(
        &p,
        &[
            "",
            "f.update(0): vectorize(x, 4)\n f.update(1): unroll(x, 3)",
            "f.update(0): split(x, xo, xi, 5)\n f.update(1): parallel(x)",
        ],
    );
    let p = {
        let ((x, y), mut f) = (vars!(x, y), Func::new("f"));
        let r = RDom::named("r", [(0, 12), (0, 12)]);
        r.where_(r.x.eq(7) & r.x.lt(r.y));
        f[(x, y)] = x + y;
        f[(r.x, r.y)] += 1;
        Pipeline::new([&f]).unwrap()
    };
    let region = Region::of_extents([12, 12]);
    for schedule in
        ["", "f.update(0): tile(r.x, r.y, a, b, c, d, 4, 4)", "f.update(0): reorder(r.y, r.x) vectorize(r.y, 4)"]
    {
        check(&p, schedule, &[], &region);
    }
    let counts = count(&p, "f.update(0): reorder(r.y, r.x)", &[], &region, true);
    assert_eq!((counts.points("f"), counts.iterations("f.update(0).r.y")), (144 + 4, 4));
}

/// Demands that a schedule cannot make, each with the Func that it is about.
#[test]
fn schedules_that_are_refused() {
    let p = stencil();
    for (schedule, about) in [
        ("f: compute_at(g, z)", "`g` has no loop `z`"),
        ("f: store_at(g, x) compute_at(g, y)", "not around compute"),
        ("f: store_root()", "nothing is stored"),
        ("f: compute_at(g, x) hoist_storage(g, x) store_at(g, y)", "not around store"),
        ("g: compute_at(f, y)", "is an output"),
        ("g: reorder(x, x)", "twice"),
        ("g: reorder(x, q)", "`q`"),
        ("f: compute_root() reorder_storage(x, z)", "`z`"),
        ("g: split(x, y, xi, 4)", "already"),
        ("f: compute_root() bound_storage(z, 4)", "`z`"),
        ("g: compute_with(f, y)", "`f`"),
        ("g: prefetch(nobody, y, y, 2)", "`nobody`"),
        ("g: vectorize(y) parallel(x)", "`x`"),
    ] {
        let text = illegal(&p, schedule);
        assert!(text.contains(about), "{schedule}\n{text}");
    }
}
