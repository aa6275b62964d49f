//! Promises of schedules about a run, and about what is computed: held exactly.

use super::edge::{Edge, Expected};
use crate::case::{Case, TARGET};
use crate::funcs::{func, var};
use halide::buffer::Span;
use halide::ir::Fault;
use halide::prelude::*;
use halide::schedule::{CompareOp, Condition, Term};
use halide_testing::pipelines::Random;

fn is_promise(fault: &Fault) -> bool {
    matches!(fault, Fault::Promise { .. } | Fault::OutputRegion { .. })
}

fn is_any(fault: &Fault) -> bool {
    is_promise(fault) || matches!(fault, Fault::NotThisVariant | Fault::Require { .. })
}

fn span(random: &mut Random) -> Span {
    Span { min: random.between(-9, 9), extent: random.between(1, 24) }
}

/// A parameter that a factor is, with its value in the run of a seed: no factor, or a small one.
fn factor(random: &mut Random, pipeline_of: impl Fn(&str, ScalarType) -> Func) -> (Func, String, u64, bool) {
    loop {
        let ty = random.pick(&[I32, I64, U8, I16]);
        let name = random.pick(&["n", "factor", "p", "q"]);
        let (f, seed) = (pipeline_of(name, ty), random.bits());
        let Ok(pipeline) = Pipeline::new([&f]) else { panic!("a pipeline has mistakes") };
        let Some(def) = pipeline.params.iter().find(|p| p.name == name) else { panic!("`{name}` is not used") };
        let any = Case {
            schedule: Schedule::new(),
            target: TARGET,
            regions: Vec::new(),
            seed,
            roomy: false,
            far: true,
            pipeline: pipeline.clone(),
        };
        let value = any.param(def).as_i64();
        let is_factor = (1..=i64::from(i32::MAX)).contains(&value);
        // Loops of a large factor run for ever.
        if !is_factor || value <= 64 {
            return (f, name.to_string(), seed, is_factor);
        }
    }
}

fn of_param(name: &str, ty: ScalarType) -> Expr {
    match ty {
        I64 => cast::<i32>(Param::<i64>::new(name)),
        U8 => cast::<i32>(Param::<u8>::new(name)),
        I16 => cast::<i32>(Param::<i16>::new(name)),
        _ => Param::<i32>::new(name).expr(),
    }
}

/// Factors that are parameters: at least 1 and at most the largest `i32`.
pub(super) fn factors(random: &mut Random) -> Edge {
    let x = var("x");
    let (f, name, seed, is_factor) = factor(random, |name, ty| {
        let g = func("g", &[x], x * 2);
        func("f", &[x], g.read([x]) + of_param(name, ty))
    });
    let schedule =
        random.pick(&["f: split(x, xo, xi, {}, GuardWithIf)", "g: compute_root() split(x, xo, xi, {}, GuardWithIf)"]);
    let region = Region::new(vec![span(random)]);
    let expected = Expected::Known { served: is_factor, fault: is_promise };
    Edge::new(&f, &schedule.replace("{}", &name), region, seed, expected)
}

/// A factor counts where its variant runs, and of the stages that have loops.
pub(super) fn factors_of_variants(random: &mut Random) -> Edge {
    let x = var("x");
    let (f, name, seed, is_factor) = factor(random, |name, ty| {
        let g = func("g", &[x], x * 2);
        func("f", &[x], g.read([x]) + of_param(name, ty))
    });
    let region = Region::new(vec![span(random)]);
    let extent = region.spans()[0].extent;
    let limit = random.between(1, 24);
    let split = format!("split(x, xo, xi, {name}, GuardWithIf)");
    let (schedule, counts) = match random.below(3) {
        0 => (format!("f.specialize(f.extent(0) > {limit}): {split}"), extent > limit),
        1 => (format!("f: {split}\nf.specialize(f.extent(0) > {limit}): unroll(xi, 2)"), true),
        _ => (format!("g: compute_at(f, x) {split}"), true),
    };
    let expected = Expected::Known { served: is_factor || !counts, fault: is_promise };
    Edge::new(&f, &schedule, region, seed, expected)
}

/// Promises about the region of an output.
pub(super) fn aligned(random: &mut Random) -> Edge {
    let x = var("x");
    let f = func("f", &[x], x * 3);
    let Span { min, extent } = span(random);
    // As promised half of the time.
    let held = random.one_in(2);
    let m = random.between(2, 6);
    let extent = if held { (extent / m + 1) * m } else { extent };
    let remainder = if held { min.rem_euclid(m) } else { random.between(0, m - 1) };
    let (verb, holds) = match random.below(4) {
        0 => (format!("align_extent(x, {m})"), extent % m == 0),
        1 => {
            let holds = extent % m == 0 && (min - remainder).rem_euclid(m) == 0;
            (format!("align_bounds(x, {m}, {remainder})"), holds)
        }
        2 => {
            let (first, n) = if held { (min, extent) } else { (random.between(-2, 2), random.between(1, 24)) };
            (format!("bound(x, {first}, {n})"), (first, n) == (min, extent))
        }
        _ => {
            let n = if held { extent } else { random.between(1, 24) };
            (format!("bound_extent(x, {n})"), n == extent)
        }
    };
    let tail = random.pick(&["", " split(x, xo, xi, 2)", " vectorize(x, 2)", " unroll(x, 3)"]);
    let region = Region::new(vec![Span { min, extent }]);
    let expected = Expected::Known { served: holds, fault: is_promise };
    Edge::new(&f, &format!("f: {verb}{tail}"), region, random.bits(), expected)
}

/// A stage whose region is aligned reads just as much of its input as that region needs: more or less than what the
/// input holds.
pub(super) fn aligned_stages(random: &mut Random) -> Edge {
    let (image, x) = (ImageParam::new("in", I32, 1), var("x"));
    let g = func("g", &[x], image.read([x]) * 2);
    let offsets = [random.between(-2, 2), random.between(-2, 2)];
    let f = func("f", &[x], g.read([x + offsets[0] as i32]) + g.read([x + offsets[1] as i32]));
    let Span { min, extent } = Span { min: random.between(-2, 5), extent: random.between(1, 7) };
    let m = random.between(2, 6);
    let remainder = random.between(0, m - 1);
    let (first, last) = (min + offsets[0].min(offsets[1]), min + extent - 1 + offsets[0].max(offsets[1]));
    let round_up = |n: i64| (n + m - 1).div_euclid(m) * m;
    let (verb, first, extent_of) = match random.below(2) {
        0 => {
            let first = first - (first - remainder).rem_euclid(m);
            (format!("align_bounds(x, {m}, {remainder})"), first, round_up(last - first + 1))
        }
        _ => (format!("align_extent(x, {m})"), first, round_up(last - first + 1)),
    };
    // What inputs hold at first: see `Sizes`.
    let holds = first >= -1 && first + extent_of <= 8;
    let schedule = format!("g: compute_root() {verb}");
    let region = Region::new(vec![Span { min, extent }]);
    let expected = Expected::Known { served: holds, fault: is_too_small };
    Edge::new(&f, &schedule, region, random.bits(), expected)
}

pub(super) fn is_too_small(fault: &Fault) -> bool {
    matches!(fault, Fault::InputTooSmall { .. })
}

/// Runs that no specialisation serves end.
pub(super) fn conditions(random: &mut Random) -> Edge {
    let (x, y) = (var("x"), var("y"));
    let f = func("f", &[x, y], x + y);
    let spans = [span(random), span(random)];
    let sizes = [spans[0].extent, spans[1].extent];
    let (condition, holds) = condition(random, sizes, 2);
    let schedule = format!("f.specialize({condition}): unroll(x, 2)\nf: specialize_fail(\"of no such shape\")");
    let region = Region::new(spans.to_vec());
    let expected = Expected::Known { served: holds, fault: is_any };
    Edge::new(&f, &schedule, region, random.bits(), expected)
}

/// A condition on the extents of the output, and whether it holds of these.
fn condition(random: &mut Random, sizes: [i64; 2], depth: usize) -> (Condition, bool) {
    if depth > 0 && random.one_in(2) {
        let ((a, x), (b, y)) = (condition(random, sizes, depth - 1), condition(random, sizes, depth - 1));
        return match random.below(3) {
            0 => (Condition::And(Box::new(a), Box::new(b)), x && y),
            1 => (Condition::Or(Box::new(a), Box::new(b)), x || y),
            _ => (Condition::Not(Box::new(a)), !x),
        };
    }
    let ((a, x), (b, y)) = (term(random, sizes, 2), term(random, sizes, 1));
    let (op, holds) = match random.below(6) {
        0 => (CompareOp::Eq, x == y),
        1 => (CompareOp::Ne, x != y),
        2 => (CompareOp::Lt, x < y),
        3 => (CompareOp::Le, x <= y),
        4 => (CompareOp::Gt, x > y),
        _ => (CompareOp::Ge, x >= y),
    };
    (Condition::Compare(op, a, b), holds)
}

fn term(random: &mut Random, sizes: [i64; 2], depth: usize) -> (Term, i64) {
    if depth == 0 || random.one_in(4) {
        return match random.below(3) {
            0 => {
                let n = random.between(0, 12);
                (Term::Const(n), n)
            }
            _ => {
                let d = random.below(2);
                (Term::Dim("f".into(), halide_core::pipeline::DimField::Extent, d), sizes[d])
            }
        };
    }
    let (a, x) = term(random, sizes, depth - 1);
    if random.one_in(2) {
        let n = random.between(1, 5);
        let (op, value) = if random.one_in(2) { ('/', x.div_euclid(n)) } else { ('%', x.rem_euclid(n)) };
        return (Term::Binary(op, Box::new(a), Box::new(Term::Const(n))), value);
    }
    let (b, y) = term(random, sizes, depth - 1);
    let (op, value) = random.pick(&[('+', x + y), ('-', x - y), ('*', x * y)]);
    (Term::Binary(op, Box::new(a), Box::new(b)), value)
}
