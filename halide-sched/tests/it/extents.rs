//! Amounts that are computed and allocated, against what was found by hand: no stage more than it needs.

use crate::counts::count;
use crate::matrix::{check, random_image};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Expr, Func, ImageParam, Pipeline, RDom, Var, vars};

/// The stage whose size is asked about, and its input.
struct Stage {
    f: Func,
    input: ImageParam,
    x: Var,
}

impl Stage {
    fn new() -> Stage {
        let (input, x) = (ImageParam::new("in", I32, 1), Var::new("x"));
        let mut f = Func::new("f");
        f[x] = input[x] * 2 + 1;
        Stage { f, input, x }
    }
}

fn images(p: &Pipeline) -> Vec<(&str, AnyBuffer)> {
    let spans = |dims| Region::of_spans(vec![(-60, 700); dims]);
    p.images.iter().map(|i| (i.name.as_str(), random_image(i.ty, &spans(i.dims), 5))).collect()
}

/// Holds `f` to the points and elements; `g` is computed over `spans`.
#[track_caller]
fn sized(g: &Func, schedule: &str, spans: &[(i32, i32)], points: i64, elements: i64) {
    let p = Pipeline::new([g]).unwrap();
    let region = Region::of_spans(spans);
    check(&p, schedule, &images(&p), &region);
    let counts = count(&p, schedule, &images(&p), &region, true);
    let got = (counts.points("f"), counts.elements("f"));
    assert_eq!(got, (points, elements), "{schedule} {spans:?}\n{}", counts.text());
}

/// `g(x)` of `read(f, x)` over `0 .. 10`, where `f` is computed before.
#[track_caller]
fn needs(elements: i64, read: impl Fn(&Func, Var) -> Expr) {
    let s = Stage::new();
    let mut g = Func::new("g");
    g[s.x] = read(&s.f, s.x);
    sized(&g, "f: compute_root()", &[(0, 10)], elements, elements);
    sized(&g, "f: compute_root() vectorize(x, 4, GuardWithIf)\n g: vectorize(x, 4)", &[(0, 10)], elements, elements);
}

#[test]
fn stencils_and_other_scales() {
    needs(12, |f, x| f[x - 1] + f[x + 1]);
    needs(5, |f, x| f[x / 2]);
    needs(6, |f, x| f[(x + 1) / 2]);
    needs(20, |f, x| f[x * 2] + f[x * 2 + 1]);
    needs(19, |f, x| f[x * 2]);
    needs(10, |f, x| f[9 - x]);
    needs(10, |f, x| f[x] + f[9 - x]);
    needs(4, |f, x| f[clamp(x, 2, 5)]);
    needs(4, |f, x| f[min(x, 3)]);
    needs(4, |f, x| f[x % 4]);
    needs(256, |f, x| f[cast::<u8>(x)]);
    needs(3, |f, x| f[x / 4]);
    needs(1, |f, x| f[x * 0 + 3] + x);
    needs(7, |f, x| f[x / 2 + x % 2] + f[x / 2 + 1 + x % 2]);
}

/// Rounding turns no two floats around, so the ends of the coordinates say what is read.
#[test]
fn coordinates_that_were_floats() {
    needs(3, |f, x| f[cast::<i32>(cast::<f32>(x) * 0.3)]);
    needs(19, |f, x| f[cast::<i32>(floor((cast::<f32>(x) + 0.5) / 0.5 - 1.0)) + 2]);
    needs(5, |f, x| f[cast::<i32>(round(4.0 - cast::<f32>(x) * 0.5))]);
    needs(11, |f, x| f[cast::<i32>(clamp(cast::<f32>(f[x * 0]) * 0.1, 0.0, 1.0) * 10.0)]);
}

#[test]
fn coordinates_that_are_choices_ask_for_what_each_arm_takes() {
    needs(5, |f, x| f[select(x.lt(5), x, 9 - x)]);
    needs(5, |f, x| f[select(x.lt(5), x, 4)]);
    needs(7, |f, x| f[select(x.lt(3), x, select(x.lt(6), x + 1, x - 6))] + f[5 - x % 6]);
    needs(4, |f, x| f[select(x.ge(3) & x.le(6), x, 3)]);
    needs(2, |f, x| f[select(x.eq(7), x, 6)]);
    needs(5, |f, x| f[select((x + 2).gt(6), 9 - x, 4)]);
}

/// Both arms of a choice of values are computed, so both are asked for, as in Halide.
#[test]
fn values_that_are_choices_ask_for_both_arms() {
    needs(10, |f, x| select(x.lt(5), f[x], 0));
    needs(12, |f, x| select(x.lt(5), f[x + 2], f[x]));
}

#[test]
fn data_asks_for_no_more_than_it_can_hold() {
    let table = |index: &dyn Fn(Expr) -> Expr| {
        let bytes = ImageParam::new("bytes", U8, 1);
        let read = |f: &Func, x: Var| f[index(bytes[x])];
        let s = Stage::new();
        let mut g = Func::new("g");
        g[s.x] = read(&s.f, s.x);
        g
    };
    let all = |g: Func, n: i64| sized(&g, "f: compute_root()", &[(0, 10)], n, n);
    all(table(&|b| b), 256);
    all(table(&|b| b / 2), 128);
    all(table(&|b| b >> 4), 16);
    all(table(&|b| b % 10), 10);
    all(table(&|b| b & 15), 16);
    all(table(&|b| min(b, 9)), 10);
    all(table(&|b| cast::<i32>(b) + 5), 256);
    all(table(&|b| cast::<i32>(b) * 2 - 3), 511);
    all(table(&|b| select(b.gt(100), 7, cast::<i32>(b % 4))), 8);
    // Where a choice compares the data itself, each arm is kept to what that says.
    all(table(&|b| select(b.lt(50), b, 50)), 51);
    all(table(&|b| select(b.gt(50), 50, cast::<i32>(b))), 51);
    all(table(&|b| select(b.ge(10) & b.lt(30), cast::<i32>(b) - 10, 3)), 20);
    all(table(&|b| select(cast::<i32>(b).eq(9) | cast::<i32>(b).lt(3), cast::<i32>(b), 5)), 256);
    all(table(&|b| select(!(b.ge(10) | b.lt(4)), b, 4)), 6);
    all(table(&|b| select(b.lt(20), cast::<i32>(b), select(b.lt(60), cast::<i32>(b) - 20, 0))), 40);
    all(table(&|b| clamp(cast::<i32>(b), 20, 29)), 10);
    all(table(&|b| cast::<i32>(cast::<i8>(b)) + 128), 256);
}

#[test]
fn reductions_ask_for_where_their_domain_is() {
    let sums =
        |domain: &[(i32, i32)], n: i64, limit: &dyn Fn(&RDom) -> Option<Expr>, at: &dyn Fn(Var, &RDom) -> Expr| {
            let s = Stage::new();
            let mut g = Func::new("g");
            g[s.x] = 0.expr();
            let r = RDom::named("r", domain.to_vec());
            if let Some(limit) = limit(&r) {
                r.where_(limit);
            }
            g[s.x] += s.f[at(s.x, &r)] * (r.x + 1);
            sized(&g, "f: compute_root()", &[(0, 10)], n, n);
        };
    sums(&[(0, 3)], 12, &|_| None, &|x, r| x + r.x);
    sums(&[(0, 9)], 12, &|r| Some(r.x.lt(3)), &|x, r| x + r.x);
    sums(&[(0, 9)], 13, &|r| Some(r.x.gt(4)), &|x, r| x + r.x);
    sums(&[(0, 5), (0, 5)], 4, &|r| Some((r.x + r.y).lt(4)), &|_, r| r.x + r.y);
    sums(&[(0, 5), (0, 5)], 5, &|r| Some(r.x.le(r.y)), &|_, r| r.y - r.x);
    sums(&[(0, 8)], 4, &|r| Some((r.x * 2).le(7)), &|_, r| r.x.expr());
}

/// Points that a stage of a Func writes beyond what consumers read are a part of its region, in both directions.
#[test]
fn updates_grow_the_region_by_what_they_write() {
    for (first, extent, elements) in [(2, 5, 10), (-3, 20, 20), (4, 30, 34), (-7, 3, 17)] {
        let mut s = Stage::new();
        let r = RDom::named("r", [(first, extent)]);
        s.f[r.x] += 5;
        let mut g = Func::new("g");
        g[s.x] = s.f[s.x];
        // The first definition over the whole region, the update over its domain.
        sized(&g, "f: compute_root()", &[(0, 10)], elements + extent as i64, elements);
    }
}

#[test]
fn places_in_loops() {
    let stencil = || {
        let s = Stage::new();
        let mut g = Func::new("g");
        g[s.x] = s.f[s.x - 1] + s.f[s.x + 1];
        (g, s.input)
    };
    let (g, _input) = stencil();
    sized(&g, "g: split(x, xo, xi, 4)\n f: compute_at(g, xo)", &[(0, 16)], 24, 24);
    sized(&g, "g: split(x, xo, xi, 4)\n f: compute_at(g, xo)", &[(0, 18)], 24 + 4, 24 + 4);
    sized(&g, "g: split(x, xo, xi, 4, GuardWithIf)\n f: compute_at(g, xi)", &[(0, 18)], 54, 54);
    sized(&g, "f: store_root() compute_at(g, x)", &[(0, 10)], 12, 3);
    sized(&g, "f: compute_at(g, x)", &[(0, 10)], 30, 30);
    sized(&g, "g: split(x, xo, xi, 5)\n f: store_at(g, xo) compute_at(g, xi)", &[(0, 10)], 14, 6);
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("in", U16, 2);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] / 2;
    g[(x, y)] = f[(x - 1, y)] + f[(x + 1, y + 1)] + f[(x, y - 1)];
    let tiles = "g: tile(x, y, xo, yo, xi, yi, 8, 4)\n f: compute_at(g, xo)";
    sized(&g, tiles, &[(0, 16), (0, 8)], 4 * 60, 4 * 60);
    sized(&g, "f: store_root() compute_at(g, y)", &[(0, 16), (0, 8)], 18 * 10, 18 * 3);
    sized(&g, "f: compute_at(g, y)", &[(0, 16), (0, 8)], 8 * 18 * 3, 8 * 18 * 3);
}
