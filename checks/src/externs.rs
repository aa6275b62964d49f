//! Extern stages whose inputs are sums: what computes an input of a stage is a pipeline of its own, in which a Func
//! that has updates, or a region that is rounded up, is given as a copy.

use crate::case::{Case, TARGET};
use crate::facade;
use crate::failure::{Failure, Outcome, failure};
use crate::funcs::{func, var};
use halide::buffer::Span;
use halide::prelude::*;
use halide_core::externs::{End, Extern, RegionEnds};
use halide_testing::pipelines::Random;

/// Draws a pipeline with one or two extern stages.
fn draw(random: &mut Random) -> (Func, Vec<String>) {
    let image = ImageParam::new("in", I32, 1);
    let x = var("x");
    let h = func("h", &[x], image.read([x]) * 3 - x);
    let mut g = func("g", &[x], h.read([x]) + h.read([x + 1]));
    let r = RDom::named("r", [(0, random.between(1, 4) as i32)]);
    for _ in 0..random.below(3) {
        g[[x]] = g.read([x]) * 2 + h.read([x + r.x]);
    }
    let stage = of(random, "s", &g, None);
    let second = random.one_in(3).then(|| of(random, "t", &stage, Some(&g)));
    let near = second.as_ref().unwrap_or(&stage).read([x + random.between(-1, 1) as i32]);
    let f = func("f", &[x], stage.read([x]) - near + g.read([x]));
    let lines = [
        "h: compute_root()",
        "h: compute_at(g, x)",
        "g: compute_root()",
        "g: vectorize(x, 4)",
        "g.update(0): vectorize(x, 4)",
        "g.update(0): reorder(x, r.x)",
        "g: align_extent(x, 4)",
        "g: align_bounds(x, 4, 0)",
        "f: vectorize(x, 4)",
        "g: split(x, xo, xi, 3) unroll(xi)",
        "f: split(x, xo, xi, 4)",
        "f: split(x, xo, xi, 4, GuardWithIf)",
        "f: parallel(xo)",
        "s: compute_at(f, xo)",
        "s: compute_at(f, x) store_root()",
        "s: compute_at(f, xi) store_at(f, xo)",
        "s: hoist_storage_root() ring_buffer(2)",
        "s: async()",
        "g: async()",
        "s: vectorize(x, 4)",
        "t: compute_at(f, xo)",
        "t: compute_at(f, xi)",
        "g: compute_at(f, xo)",
        "s$in0: vectorize(x, 4, RoundUp)",
        "t$in0: split(x, xo, xi, 3, GuardWithIf)",
    ];
    (f, lines.iter().filter(|_| random.one_in(3)).map(|line| line.to_string()).collect())
}

/// A stage that adds neighbours of its first input, and its second one if there is one.
fn of(random: &mut Random, name: &str, first: &Func, second: Option<&Func>) -> Func {
    let reach = random.between(0, 2);
    let stage = Extern::new(name, [I32], 1).input(first);
    let stage = second.iter().fold(stage, |stage, func| stage.input(func));
    let count = 1 + second.iter().count();
    let grown = move |region: &Region| -> Region {
        region.spans().iter().map(|s| Span { min: s.min - reach, extent: s.extent + 2 * reach }).collect()
    };
    let kind = random.below(7);
    let stage = match random.one_in(3) {
        true if kind < MIRRORED => stage.needs(move |query| Ok(vec![grown(query.region()); count])),
        _ => stage.needs_box(move |region| vec![vec![box_around(region, reach, kind)]; count]),
    };
    stage.compute(move |call| {
        for at in call.region().clone().coords() {
            let mut sum = 0i64;
            for (n, input) in call.inputs().iter().enumerate() {
                let middle = match kind {
                    MIRRORED => -at[0],
                    SCALED => 2 * at[0],
                    _ => at[0],
                };
                let there = [middle + if n == 0 { reach as i32 } else { -(reach as i32) }];
                sum = sum * 3 + input.get(there).ok_or("less was given than was asked for")?.as_i64();
            }
            call.output(0).set(&at, Scalar::int(I32, (sum as i32).into()))?;
        }
        Ok(())
    })
}

/// The kinds of stages that read their inputs the other way round, and at every other coordinate.
const MIRRORED: usize = 5;
const SCALED: usize = 6;

/// A box that has `reach` coordinates around what a region needs, and perhaps some more: whole blocks, or no fewer than
/// some.
fn box_around(region: &RegionEnds, reach: i64, kind: usize) -> (End, End) {
    let (first, last) = (region.min(0) - reach, region.max(0) + reach);
    match kind {
        0 => (first / 4 * 4, last + 3),
        1 => (first.clone().min(region.max(0) - 7), last.max(first + 5)),
        2 => (first.clone(), first.max(last)),
        MIRRORED => (-last, -first),
        SCALED => (region.min(0) * 2 - reach, region.max(0) * 2 + reach),
        _ => (first, last),
    }
}

/// The lines that are legal, each after those before it that are.
fn legal(pipeline: &Pipeline, lines: &[String]) -> Schedule {
    let mut schedule = Schedule::new();
    for line in lines {
        let text = format!("{schedule}\n{line}");
        let Ok(longer) = text.parse::<Schedule>() else { panic!("`{line}` is no schedule") };
        // Compiled, since only there closures are called in loops.
        let compiler = Compiler::new(pipeline).engine(Engine::Interp).target(&TARGET);
        if compiler.schedule(&longer).compile().is_ok() {
            schedule = longer;
        }
    }
    schedule
}

/// Runs the case of a number on all engines.
pub fn check(number: u64) -> Result<Outcome, Failure> {
    let mut random = Random::new(number);
    let (output, lines) = draw(&mut random);
    let pipeline = Pipeline::new([&output]).unwrap_or_else(|e| panic!("a pipeline has mistakes: {e}"));
    let of = |lines: &[String]| {
        let schedule = legal(&pipeline, lines);
        let outcome = facade::with_externs(&Case::with(pipeline.clone(), schedule.clone(), TARGET, random.clone()));
        outcome.map_err(|failed| failure(failed.kind, format!("{}\n{schedule}", failed.text)))
    };
    of(&lines).map_err(|failed| with_fewer_lines(failed, lines, of))
}

/// The failure of as few lines as fail alike.
pub(crate) fn with_fewer_lines(
    mut failed: Failure,
    mut lines: Vec<String>,
    of: impl Fn(&[String]) -> Result<Outcome, Failure>,
) -> Failure {
    for n in (0..lines.len()).rev() {
        let mut fewer = lines.clone();
        fewer.remove(n);
        if let Err(same) = of(&fewer)
            && same.kind == failed.kind
        {
            (failed, lines) = (same, fewer);
        }
    }
    failed
}
