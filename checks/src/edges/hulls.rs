//! Inputs that hold just what coordinates of data and conditions can reach, which all values of both tell: neither more
//! nor less is asked of them.

use super::edge::{Edge, Expected};
use super::promises::is_too_small;
use crate::case::{Case, TARGET};
use crate::funcs::{func, var};
use halide::buffer::Span;
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// The first and the last coordinate that an input holds at first: see `Sizes`.
const HELD: (i64, i64) = (-1, 7);

/// `f(x) = in(e)`, where every value that `e` can have is known here.
pub(super) fn hulls(random: &mut Random) -> Edge {
    match random.below(5) {
        0 => guarded(random),
        1 => of_values(random),
        2 => of_long_limits(random),
        _ => of_data(random),
    }
}

fn edge(f: &Func, schedule: &str, span: Span, seed: u64, served: bool) -> Edge {
    Edge::new(f, schedule, Region::new(vec![span]), seed, Expected::Known { served, fault: is_too_small })
}

/// The hull of what `of` gives for coordinates in `span` and data from `low` to `high`.
fn hull(span: Span, (low, high): (i64, i64), of: impl Fn(i64, i64) -> i64) -> (i64, i64) {
    let all = (span.min..span.end()).flat_map(|x| (low..=high).map(move |d| (x, d)));
    all.map(|(x, d)| of(x, d)).fold((i64::MAX, i64::MIN), |(low, high), v| (low.min(v), high.max(v)))
}

fn small_span(random: &mut Random) -> Span {
    Span { min: random.between(-3, 4), extent: random.between(1, 5) }
}

/// The value of the only parameter of a Func in a run.
fn param_of(f: &Func, seed: u64) -> i64 {
    let Ok(pipeline) = Pipeline::new([f]) else { panic!("a pipeline has mistakes") };
    let (target, regions) = (TARGET, Vec::new());
    let case = Case { pipeline, schedule: Schedule::new(), target, regions, seed, roomy: false, far: true };
    let def = case.pipeline.params.iter().next().cloned();
    def.map_or(0, |def| case.param(&def).as_i64())
}

/// Coordinates made of an element between limits, which are constants or begin at a parameter.
fn of_data(random: &mut Random) -> Edge {
    let (image, a, x) = (ImageParam::new("in", I32, 1), ImageParam::new("a", I8, 1), var("x"));
    let span = small_span(random);
    let (least, length, seed) = (random.between(-6, 4), random.between(0, 6), random.bits());
    let start = Param::<i32>::new("start").with_range(least as i32 - 2, least as i32 + 2).expr();
    let given = random.one_in(2);
    let low = if given { param_of(&func("limit", &[x], start), seed) } else { least };
    let limit = if given { start } else { (least as i32).expr() };
    let d = clamp(cast_to(I32, a.read([clamp(x, 0, 7)])), limit, limit + length as i32);
    let magnitude = cast_to(I32, abs(d));
    let (c, k) = (random.between(-3, 4), random.between(2, 3));
    let (ci, ki) = (c as i32, k as i32);
    let (e, of): (Expr, Box<dyn Fn(i64, i64) -> i64>) = match random.below(9) {
        0 => (magnitude + ci, Box::new(move |_, d| d.abs() + c)),
        1 => (magnitude - 1, Box::new(move |_, d| d.abs() - 1)),
        2 => (x - magnitude, Box::new(move |x, d| x - d.abs())),
        3 => (d * ki + ci, Box::new(move |_, d| d * k + c)),
        4 => (ci - d, Box::new(move |_, d| c - d)),
        5 => (min(d, ci) + x, Box::new(move |x, d| d.min(c) + x)),
        6 => (max(d, x), Box::new(move |x, d| d.max(x))),
        7 => (d / ki + ci, Box::new(move |_, d| d.div_euclid(k) + c)),
        _ => (x + d, Box::new(move |x, d| x + d)),
    };
    let f = func("f", &[x], image.read([e]));
    let (first, last) = hull(span, (low, low + length), of);
    edge(&f, "", span, seed, first >= HELD.0 && last <= HELD.1)
}

/// Coordinates that are values of another stage, which is between constants at any point.
fn of_values(random: &mut Random) -> Edge {
    let (image, a, x) = (ImageParam::new("in", I32, 1), ImageParam::new("a", I32, 1), var("x"));
    let span = small_span(random);
    let low = random.between(-3, 3);
    let high = low + random.between(0, 6);
    let data = a.read([clamp(x, 0, 7)]);
    let inner = [x * 100 - 7, data, x * 3 + data % 5][random.below(3)];
    let g = func("g", &[x], clamp(inner, low as i32, high as i32));
    let c = random.between(-2, 2);
    let f = func("f", &[x], image.read([g.read([x]) + c as i32]));
    edge(&f, "g: compute_root()", span, random.bits(), low + c >= HELD.0 && high + c <= HELD.1)
}

/// Coordinates that are values of another stage, between limits of so many parameters that their constants count.
fn of_long_limits(random: &mut Random) -> Edge {
    let (image, a, x) = (ImageParam::new("in", I32, 1), ImageParam::new("a", I32, 1), var("x"));
    let span = small_span(random);
    let low = random.between(-3, 3);
    let high = low + random.between(1, 6);
    let param = |i: i64| Param::<i32>::new(&format!("p{i}")).with_range(low as i32, high as i32).expr();
    let mut limit = |first: i64| {
        let n = random.between(14, 20);
        (first + 1..first + n).fold(param(first), |all, i| match i % 2 {
            0 => min(all, param(i)),
            _ => max(param(i), all),
        })
    };
    let (least, most) = (limit(0), limit(100));
    let inner = [x * 100 - 7, a.read([clamp(x, 0, 7)])][random.below(2)];
    let g = func("g", &[x], clamp(inner, least, most));
    let c = random.between(-2, 2);
    let f = func("f", &[x], image.read([g.read([x]) + c as i32]));
    edge(&f, "g: compute_root()", span, random.bits(), low + c >= HELD.0 && high + c <= HELD.1)
}

/// Coordinates that a condition chooses, in which a parameter multiplies a coordinate.
fn guarded(random: &mut Random) -> Edge {
    let (image, x) = (ImageParam::new("in", I32, 1), var("x"));
    let scale = Param::<i32>::new("scale").with_range(1, 3);
    let limit = random.between(-4, 20);
    let below = random.one_in(2);
    let condition = if below { (x * scale.expr()).le(limit as i32) } else { (x * scale.expr()).ge(limit as i32) };
    let other = random.between(HELD.0, HELD.1);
    let f = func("f", &[x], image.read([select(condition, x, other as i32)]));
    loop {
        let (span, seed) = (Span { min: random.between(-9, 5), extent: random.between(3, 14) }, random.bits());
        let by = param_of(&f, seed);
        let holds = |x: &i64| if below { x * by <= limit } else { x * by >= limit };
        let read: Vec<i64> = (span.min..span.end()).filter(holds).collect();
        if let (Some(first), Some(last)) = (read.first(), read.last())
            && read.len() < span.extent as usize
        {
            return edge(&f, "", span, seed, *first >= HELD.0 && *last <= HELD.1);
        }
    }
}
