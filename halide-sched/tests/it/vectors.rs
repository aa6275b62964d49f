//! Cases of Halide's own tests restated: lanes of all kinds, what they load and store at strides, and what of two lanes
//! is put beside each other.

use crate::support::{hold, hold_at, images_of};
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Expr, Func, ImageParam, IntoExpr, Pipeline, RDom, Var, boundary, vars};

/// An output in one dimension of an image.
fn line(ty: ScalarType, value: impl Fn(&ImageParam, Var) -> Expr) -> Pipeline {
    let (input, x, mut f) = (ImageParam::new("in", ty, 1), vars!(x), Func::new("f"));
    f[x] = value(&input, x);
    Pipeline::new([&f]).unwrap()
}

/// Clusters of loads at one stride, near and far, in one statement or in several.
#[test]
fn loads_at_strides() {
    let vectors = [
        "f: vectorize(x, 4)",
        "f: vectorize(x, 8, GuardWithIf)",
        "f: vectorize(x, 8, Predicate)",
        "f: split(x, xo, xi, 4) unroll(xi) vectorize(xo, 4)",
    ];
    for stride in [2, 3, 4, 7, -1, -2] {
        for offsets in [&[0][..], &[0, 1], &[0, 1, 2], &[1, 0, 3, 2], &[-6, 5]] {
            let p = line(I16, |input, x| {
                let load = |o: i32| if stride < 4 { input[x * stride + o] } else { input[x % 8 * stride + x / 8 + o] };
                offsets[1..].iter().fold(load(offsets[0]), |sum, &o| sum * 3 - load(o))
            });
            hold_small(&p, &vectors);
        }
    }
    for (stride, ty) in [(2, F32), (2, U8), (2, I64), (3, U16), (4, U8)] {
        let p = line(ty, |input, x| input[x * stride - 1] + input[x * stride]);
        hold_small(&p, &vectors);
    }
}

/// As [`hold`], over regions of which images hold so many strides.
fn hold_small(p: &Pipeline, schedules: &[&str]) {
    let images = images_of(p);
    for schedule in schedules {
        for (min, n) in [(-3, 1), (2, 3), (0, 7), (-6, 8), (1, 13)] {
            crate::matrix::check(p, schedule, &images, &halide_core::buffer::Region::of_spans([(min, n)]));
        }
    }
}

/// Lanes further apart than vectors are long, several columns of them in one loop: tiles of every type, by rows that
/// follow each other or not, with columns left out.
#[test]
fn columns_of_tiles() {
    let (x, y, c) = vars!(x, y, c);
    for ty in [U8, I16, F32, F64, Bool] {
        let (input, mut out) = (ImageParam::new("in", ty, 2), Func::new("out"));
        out[(x, y)] = input[(y - 2, x)];
        let p = Pipeline::new([&out]).unwrap();
        let tile = |n: i32, m: i32, tail: &str| {
            format!(
                "out: split(y, y, yi, {m}) split(x, x, xi, {n}{tail}) reorder(xi, yi, x, y) vectorize(xi) unroll(yi)"
            )
        };
        hold(&p, &[tile(4, 4, ""), tile(8, 3, ", GuardWithIf"), tile(6, 8, ""), tile(16, 16, ", Predicate")]);
    }
    for (ty, stride) in [(U8, 5), (U16, 8), (I8, 16), (I32, 6), (U64, 7), (F32, 1 << 20), (U8, -9)] {
        for offsets in [&[0, 1, 2, 3][..], &[1, 0, 3, 2, 4, 4], &[-1, 6, 5], &[0, 40, 41, 42, 43, 44, 3], &[7]] {
            let near = i32::abs(stride) < 100;
            let p = line(ty, |input, x| {
                let at = |o: i32| if near { x * stride + o } else { x % 2 * stride + o };
                offsets.iter().map(|&o| input[at(o)]).reduce(|sum, v| sum * 3 - v).unwrap()
            });
            let image = Region::of_spans([(-300, if near { 900 } else { i64::from(stride) + 900 })]);
            let images = [("in", crate::matrix::random_image(ty, &image, 3))];
            for (min, n) in [(-3, 1), (2, 3), (0, 16), (-6, 13)] {
                for schedule in
                    ["f: vectorize(x, 8)", "f: vectorize(x, 12, GuardWithIf)", "f: vectorize(x, 4, Predicate)"]
                {
                    crate::matrix::check(&p, schedule, &images, &Region::of_spans([(min, n)]));
                }
            }
        }
    }
    for (ty, channels) in [(U8, 5), (U8, 16), (I16, 8), (F32, 7), (I64, 6)] {
        let (input, mut f, mut g) = (ImageParam::new("in", ty, 2), Func::new("f"), Func::new("g"));
        f[(c, x)] = input[(x, c)] + 5;
        g[(x, c)] = f[(c, x)] * 3;
        let p = Pipeline::new([&g]).unwrap();
        let loops = |n: i32, at: &str| {
            let f = format!("f: {at} bound_extent(c, {channels}) reorder(c, x) vectorize(x, {n}) unroll(c)");
            let split = "split(x, x, xi, 16) reorder(xi, c, x) vectorize(xi) unroll(c)";
            format!("{f}\n g: bound(c, 0, {channels}) {split}")
        };
        let regions = [(0, 1), (-5, 16), (3, 37)].map(|x| [x, (0, channels)]);
        let schedules = [loops(8, "compute_root()"), loops(16, "compute_at(g, x)"), loops(6, "compute_root()")];
        hold_at(&p, &schedules, &regions.each_ref().map(|spans| &spans[..]));
    }
}

/// Even and odd places from two images, three channels one after the other, and four planes out of one.
#[test]
fn interleaved_and_taken_apart() {
    let (input, other) = (ImageParam::new("in", U8, 2), ImageParam::new("other", U8, 2));
    let (x, y, c) = vars!(x, y, c);
    let (mut a, mut b, mut out) = (Func::new("a"), Func::new("b"), Func::new("out"));
    a[(x, y)] = input[(x, y)] * 3;
    b[(x, y)] = other[(x, y)] ^ 85;
    out[(x, y)] = select((x % 2).eq(0), a[(x / 2, y)], b[(x / 2 + 1, y)]);
    let p = Pipeline::new([&out]).unwrap();
    let mut schedules = Vec::new();
    for n in [2, 4, 8, 16] {
        for places in [
            "",
            "a: compute_root()\n b: compute_root()",
            "a: compute_at(out, y) vectorize(x, 4)\n b: compute_at(out, y) vectorize(x, 8)",
        ] {
            schedules.push(format!("out: vectorize(x, {n})\n {places}"));
            schedules.push(format!("out: vectorize(y, {n})\n {places}"));
        }
    }
    hold(&p, &schedules);
    let mut rgb = Func::new("rgb");
    rgb[(c, x, y)] = mux(c, [input[(x, y)], other[(x, y)] * 2, input[(x + 1, y)] + 7]);
    let p = Pipeline::new([&rgb]).unwrap();
    let regions = [(0, 3), (-5, 9), (2, 3)];
    for schedule in [
        "rgb: bound(c, 0, 3) unroll(c) vectorize(x, 8)",
        "rgb: bound(c, 0, 3) reorder(c, x, y) vectorize(x, 4) unroll(c)",
        "rgb: bound(c, 0, 3) vectorize(c) unroll(x, 4)",
        "rgb: bound(c, 0, 3) fuse(c, x, t) vectorize(t, 6)",
    ] {
        let images = images_of(&p);
        for w in [1, 3, 8, 19] {
            let region = halide_core::buffer::Region::of_spans([regions[0], (regions[1].0, w), regions[2]]);
            crate::matrix::check(&p, schedule, &images, &region);
        }
    }
    let (mut cells, mut planes) = (Func::new("cells"), Func::new("planes"));
    cells[x] = input[(x, 0)] + 1;
    planes[(x, c)] = cells[x * 4 + c % 4] - cells[x * 4 + (c + 1) % 4];
    let p = Pipeline::new([&planes]).unwrap();
    for schedule in ["cells: compute_root()", "cells: compute_at(planes, xo) vectorize(x, 8)"] {
        for planes in [
            "split(x, xo, xi, 8) vectorize(xi) reorder(xi, c, xo)",
            "split(x, xo, xi, 4) reorder(c, xi, xo) vectorize(c, 4) unroll(xi)",
        ] {
            let schedule = format!("{schedule}\n planes: {planes}");
            for w in [1, 3, 4, 9, 17] {
                let region = halide_core::buffer::Region::of_spans([(-2, w), (0, 4)]);
                crate::matrix::check(&p, &schedule, &images_of(&p), &region);
            }
        }
    }
}

/// One variable that is both coordinates, and loads that each lane makes elsewhere.
#[test]
fn both_coordinates_change_by_lane() {
    let (input, index) = (ImageParam::new("in", I32, 2), ImageParam::new("index", U8, 2));
    let (x, y) = vars!(x, y);
    let (mut f, mut g, mut h) = (Func::new("f"), Func::new("g"), Func::new("h"));
    f[(x, y)] = input[(x, y)] * 3;
    g[(x, y)] = f[(x, x)] - f[(x, y)] + f[(y, x - y)];
    h[(x, y)] = g[(x, y)] ^ f[(cast::<i32>(index[(x, y)]) % 16 - 3, index[(y, x)] % 8)];
    let p = Pipeline::new([&h]).unwrap();
    hold(
        &p,
        &[
            "h: vectorize(x, 4)",
            "h: vectorize(y, 4) vectorize(x, 2)",
            "f: compute_root() vectorize(x, 8)\n h: vectorize(x, 8, Predicate)",
            "f: compute_root()\n g: compute_at(h, y) vectorize(x, 4)\n h: vectorize(x, 8)",
            "g: compute_at(h, xo) vectorize(x, 4, RoundUp)\n h: split(x, xo, xi, 8) vectorize(xi, 4)",
        ],
    );
}

/// A producer in vectors twice as wide, half as wide, split and unrolled, and of bytes beside words.
#[test]
fn vectors_of_several_widths() {
    let (small, wide) = (ImageParam::new("small", U8, 2), ImageParam::new("wide", I64, 2));
    let (x, y) = vars!(x, y);
    let (mut f, mut g, mut h) = (Func::new("f"), Func::new("g"), Func::new("h"));
    f[(x, y)] = cast::<i16>(small[(x, y)]) - cast::<i16>(small[(x + 1, y)]);
    g[(x, y)] = cast::<i64>(f[(x, y)]) * wide[(x, y)] + cast::<i64>(f[(x + 3, y)]);
    h[(x, y)] = cast::<u8>(g[(x, y)] / 3) ^ small[(x, y)];
    let p = Pipeline::new([&h]).unwrap();
    let mut schedules = Vec::new();
    for outer in [4, 16] {
        for f in
            ["vectorize(x, 16)", "split(x, xo, xi, 16) vectorize(xi, 8) unroll(xi)", "vectorize(x, 4) unroll(x, 2)"]
        {
            for g in ["", "vectorize(x, 2)", "vectorize(x, 8)"] {
                schedules.push(format!("h: vectorize(x, {outer})\n f: compute_at(h, x) {f}\n g: compute_at(h, x) {g}"));
            }
            schedules
                .push(format!("h: vectorize(x, {outer})\n f: compute_root() {f}\n g: compute_root() vectorize(x, 2)"));
        }
    }
    hold(&p, &schedules);
}

/// Storage whose size each lane of the consumer makes another.
#[test]
fn storage_that_varies_by_lane() {
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = x * 3 - 1;
    g[x] = f[x] + f[x * x - 11] * 2;
    let p = Pipeline::new([&g]).unwrap();
    hold(
        &p,
        &[
            "g: split(x, xo, xi, 4) vectorize(xi)\n f: compute_at(g, xi)",
            "g: split(x, xo, xi, 4, GuardWithIf) vectorize(xi)\n f: compute_at(g, xi) vectorize(x, 4)",
            "g: split(x, xo, xi, 3) unroll(xi)\n f: compute_at(g, xi)",
            "g: split(x, xo, xi, 4) vectorize(xi)\n f: compute_at(g, xo)",
        ],
    );
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = x - y * 5;
    g[(x, y)] = f[(x / 3, y)] + f[(y, x)] + f[(x % 3, y)];
    let p = Pipeline::new([&g]).unwrap();
    hold(
        &p,
        &[
            "g: split(x, xo, xi, 4) vectorize(xi)\n f: compute_at(g, xi)",
            "g: tile(x, y, xo, yo, xi, yi, 4, 2) vectorize(xi)\n f: compute_at(g, yi) vectorize(x, 4)",
        ],
    );
}

/// Truth values that are stored, in lanes and by one, and read as masks.
#[test]
fn truth_values_are_stored() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut pos, mut both, mut out) = (Func::new("pos"), Func::new("both"), Func::new("out"));
    pos[(x, y)] = input[(x, y)].gt(0);
    both[(x, y)] = pos[(x, y)] & !pos[(x + 1, y)] | pos[(x, y - 1)];
    out[(x, y)] = select(both[(x, y)], input[(x, y)], cast::<i16>(pos[(x + 2, y)]) - 9);
    let p = Pipeline::new([&out]).unwrap();
    let mut schedules = Vec::new();
    for pos in ["compute_root()", "compute_at(out, y)", "store_root() compute_at(out, y)"] {
        for (a, b) in [("", "vectorize(x, 8)"), ("vectorize(x, 4)", ""), ("vectorize(x, 8)", "vectorize(x, 4)")] {
            schedules.push(format!("pos: {pos} {a}\n both: compute_at(out, y) {b}\n out: vectorize(x, 8)"));
            schedules.push(format!("pos: {pos} {a}\n out: vectorize(x, 4, GuardWithIf)"));
        }
    }
    hold(&p, &schedules);
}

/// A sum that lanes share with a condition on the lane, an update of one row that is transposed, and starts in lanes.
#[test]
fn reductions_under_lanes() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y, c) = vars!(x, y, c);
    let r = RDom::named("r", [(1, 5)]);
    let (mut sum, mut out) = (Func::new("sum"), Func::new("out"));
    sum[(x, y)] = 0.expr();
    sum[(x, y)] += input[(x + r.x, y)] * r.x;
    out[(c, x, y)] = select(c.eq(3), 255, sum[(x, y)] + c);
    let p = Pipeline::new([&out]).unwrap();
    hold(
        &p,
        &[
            "out: vectorize(c, 4)",
            "out: vectorize(c, 4)\n sum: compute_at(out, x)",
            "out: reorder(x, c, y) vectorize(x, 4)\n sum: compute_at(out, y) vectorize(x, 8)\n sum.update(0): vectorize(x, 4)",
            "sum: compute_root() vectorize(x, 8)\n sum.update(0): reorder(x, r.x, y) vectorize(x, 8)",
        ],
    );
    let (mut h, mut g, mut f) = (Func::new("h"), Func::new("g"), Func::new("f"));
    h[(x, y)] = input[(x, y)] - y;
    g[(x, y)] = cast::<i32>(0);
    g[(x, 0)] = sum_of(&h, x);
    f[(x, y)] = g[(y, x)];
    let p = Pipeline::new([&f]).unwrap();
    hold(
        &p,
        &[
            "f: split(x, xo, xi, 8)\n h: compute_root()\n g: compute_at(f, xo)\n g.update(0): vectorize(x, 4)",
            "f: split(y, yo, yi, 4, GuardWithIf)\n h: compute_root()\n g: compute_at(f, yo) vectorize(x, 4)\n g.update(0): vectorize(x, 4, GuardWithIf)",
        ],
    );
}

fn sum_of(h: &Func, x: Var) -> Expr {
    let k = RDom::named("k", [(0, 20)]);
    halide_core::reduce::sum(h[(x, k.x)])
}

/// The middle and the greatest of nine, in tiles of vectors of bytes, at the edges of an image.
#[test]
fn networks_of_bytes() {
    let input = ImageParam::new("in", U8, 2);
    let (x, y) = vars!(x, y);
    let around = boundary::repeat_edge(&input);
    let (mut rows, mut median, mut wide) = (Func::new("rows"), Func::new("median"), Func::new("wide"));
    let three = |a: Expr, b: Expr, c: Expr| max(min(a, b), min(max(a, b), c));
    rows[(x, y)] = three(around[(x - 1, y)], around[(x, y)], around[(x + 1, y)]);
    median[(x, y)] = three(rows[(x, y - 1)], rows[(x, y)], rows[(x, y + 1)]);
    wide[(x, y)] = max(max(median[(x - 1, y)], median[(x, y)]), median[(x + 1, y + 1)]);
    let p = Pipeline::new([&wide]).unwrap();
    let mut schedules = Vec::new();
    for n in [8, 16] {
        for place in
            ["compute_root()", "compute_at(wide, y)", "store_root() compute_at(wide, y)", "compute_at(wide, xo)"]
        {
            let out = format!("wide: split(x, xo, xi, {n}) vectorize(xi)");
            schedules.push(format!("{out}\n median: {place} vectorize(x, 8)\n rows: {place} vectorize(x, 16)"));
        }
    }
    let regions: [&[(i64, i64)]; 4] =
        [&[(-50, 1), (-50, 3)], &[(-50, 13), (60, 14)], &[(60, 20), (0, 4)], &[(-2, 33), (-4, 5)]];
    crate::support::hold_at(&p, &schedules, &regions);
}
