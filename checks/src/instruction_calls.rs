//! Instructions that closures compute: a meaning is drawn, and a definition that has it under a map of axes to
//! variables in another order, with other steps, offsets and coordinates. The closure interprets the meaning.

use crate::case::{Case, TARGET};
use crate::facade;
use crate::failure::{Failure, Outcome, failure};
use crate::funcs::{func, var};
use halide::externs::ExternResult;
use halide::prelude::*;
use halide::schedule::{Extents, Instruction, InstructionSet, LoopKind, Tile};
use halide_core::interp::{self, Options};
use halide_testing::pipelines::Random;

/// An axis: its variable in the meaning and in the definition, and what a tile has of it.
struct Axis {
    meant: Expr,
    own: Expr,
    /// The name of the loop, and that of the axis.
    names: (String, String),
    tile: i64,
    is_reduction: bool,
}

/// A drawn case: the output, the instruction, and lines of a schedule.
struct Drawn {
    output: Func,
    instruction: Instruction,
    /// The splits by tiles, the order and `use`.
    using: String,
    lines: Vec<String>,
}

fn draw(random: &mut Random) -> Drawn {
    let updates = random.one_in(2);
    let (pure, reduced) = (1 + random.below(2), if updates { random.below(3) } else { 0 });
    let sizes: Vec<i64> = (0..pure + reduced).map(|_| random.between(1, 5)).collect();
    let domain = |of: &str, more: i64| {
        let dims: Vec<(Expr, Expr)> =
            sizes[pure..].iter().map(|n| (Expr::from(0), Expr::from((n * more) as i32))).collect();
        (!dims.is_empty()).then(|| RDom::named(of, dims))
    };
    let (chunks, from) = (random.between(1, 3), random.between(-2, 2) as i32);
    let (meant, own) = (domain("k", 1), domain("r", chunks));
    let axis = |n: usize| match n < pure {
        true => Axis {
            meant: var(["j", "i"][n]),
            own: var(["x", "y"][n]),
            names: (["x", "y"][n].into(), ["j", "i"][n].into()),
            tile: sizes[n],
            is_reduction: false,
        },
        false => {
            let of = |domain: &Option<RDom>| domain.as_ref().map_or(0.expr(), |d| d.dim(n - pure).expr());
            let letter = ["x", "y"][n - pure];
            let names = (format!("r.{letter}"), format!("k.{letter}"));
            Axis { meant: of(&meant), own: of(&own), names, tile: sizes[n], is_reduction: true }
        }
    };
    let axes: Vec<Axis> = (0..sizes.len()).map(axis).collect();
    let other = random.one_in(3).then(|| var("z"));
    let (operands, has_other) = (operands(random, &axes, other.as_ref(), from), other.is_some());
    let value = |read: &dyn Fn(&Operand) -> Expr| {
        let mut parts = operands.iter().map(read);
        let first = parts.next().unwrap_or_else(|| 1.expr());
        parts.enumerate().fold(first, |all, (n, part)| if n % 2 == 0 { all * part } else { all - part })
    };
    let sites = |random: &mut Random, all: Vec<Expr>| {
        let mut all = all;
        random.shuffle(&mut all);
        all
    };
    let pure_of = |own: bool| axes[..pure].iter().map(move |a| if own { a.own } else { a.meant });
    let site = sites(random, pure_of(false).collect());
    let mut meaning = Func::new("c");
    let of_meaning = value(&|o| o.image.read(o.meant.clone()));
    if updates {
        meaning[&site[..]] = undef::<i32>();
        let before = meaning.read(&site[..]);
        meaning[&site[..]] = before + of_meaning;
    } else {
        meaning[&site[..]] = of_meaning;
    }
    let site = sites(random, pure_of(true).chain(other).collect());
    let mut f = Func::new("f");
    let of_own = value(&|o| o.source.read(&o.own[..]));
    if updates {
        f[&site[..]] = site[0] * 3 - 1;
        let before = f.read(&site[..]);
        f[&site[..]] = before + of_own;
    } else {
        f[&site[..]] = of_own;
    }
    let output = func("out", &site, f.read(&site[..]) * 2 - f.read(&site[..]));
    let instruction = instruction(&meaning, &axes);
    let (using, lines) = schedule(random, (&axes, updates, has_other), &operands);
    Drawn { output, instruction, using, lines }
}

/// An operand: an image of the meaning, and what the definition reads for it.
struct Operand {
    image: ImageParam,
    meant: Vec<Expr>,
    source: Func,
    own: Vec<Expr>,
}

fn operands(random: &mut Random, axes: &[Axis], other: Option<&Expr>, from: i32) -> Vec<Operand> {
    let input = ImageParam::new("in", I32, 3);
    (0..2)
        .map(|n| {
            let (mut meant, mut own): (Vec<Expr>, Vec<Expr>) = (Vec::new(), Vec::new());
            for _ in 0..1 + random.below(2) {
                let (mut theirs, mut mine) = (Expr::from(random.between(-1, 1) as i32), Expr::from(from + n));
                for axis in axes {
                    let drawn = random.pick(&[0, 0, 0, 1, 1, 1, -1, 2]);
                    // A meaning has no axis that nothing reads along.
                    let step = if n == 0 && meant.is_empty() && axis.is_reduction { 1 } else { drawn };
                    if step == 0 {
                        continue;
                    }
                    theirs += axis.meant * step;
                    mine += axis.own * step;
                }
                meant.push(theirs);
                own.push(mine);
            }
            if let Some(other) = other.filter(|_| own.len() < 3 && random.one_in(2)) {
                own.push(*other + 1);
            }
            if random.one_in(3) && own.len() < 3 {
                own.insert(0, Expr::from(2));
            }
            let mut order: Vec<usize> = (0..own.len()).collect();
            random.shuffle(&mut order);
            let own: Vec<Expr> = order.iter().map(|from| own[*from]).collect();
            let vars: Vec<Expr> = ["u", "v", "w"][..own.len()].iter().map(|name| var(name)).collect();
            let mut at = vars.clone();
            at.resize(3, 1.expr());
            let source = func(&format!("g{n}"), &vars, input.read(&at[..]) * 3 - n);
            let image = ImageParam::new(&format!("a{n}"), I32, meant.len());
            Operand { image, meant, source, own }
        })
        .collect()
}

/// The instruction whose closure interprets its meaning.
fn instruction(meaning: &Func, axes: &[Axis]) -> Instruction {
    let pipeline = Pipeline::new([meaning]).unwrap_or_else(|e| panic!("a meaning has mistakes: {e}"));
    let made = axes.iter().fold(Instruction::new("drawn", &pipeline), |made, axis| {
        made.axis(axis.names.1.as_str(), Extents::Exactly(axis.tile), LoopKind::Serial)
    });
    made.calls(move |tile| interpreted(&pipeline, tile))
}

fn interpreted(meaning: &Pipeline, tile: &mut Tile<'_>) -> ExternResult<()> {
    let mut inputs = interp::Inputs::new();
    for image in meaning.images.iter() {
        inputs = inputs.image(&image.name, tile.operand(&image.name)?.clone());
    }
    let before = [tile.result().clone()];
    let options = Options { before: Some(&before), ..Options::default() };
    let results = interp::run_with(meaning, &inputs, &[tile.result().region()], &options)?;
    // Memory that somebody else has cannot be written.
    drop(before);
    tile.result_mut().view_mut()?.copy_from(&results[0])?;
    Ok(())
}

/// The line with the instruction, and other lines.
fn schedule(
    random: &mut Random,
    (axes, updates, has_other): (&[Axis], bool, bool),
    operands: &[Operand],
) -> (String, Vec<String>) {
    let stage = if updates { "f.update(0)" } else { "f" };
    let inner = |axis: &Axis| format!("{}_t", axis.names.0.replace("r.", "r"));
    let outer = |axis: &Axis| format!("{}_o", axis.names.0.replace("r.", "r"));
    let tail = |random: &mut Random, axis: &Axis| match axis.is_reduction {
        true => "",
        false if updates => ", RoundUp",
        false => random.pick(&[", RoundUp", ", ShiftInwards", ", ShiftInwards", ", RoundUp", ""]),
    };
    let mut splits = String::new();
    for axis in axes {
        let (var, outer, inner) = (&axis.names.0, outer(axis), inner(axis));
        splits += &format!(" split({var}, {outer}, {inner}, {}{})", axis.tile, tail(random, axis));
    }
    let mut inside: Vec<String> = axes.iter().map(inner).collect();
    random.shuffle(&mut inside);
    let outside = axes.iter().rev().map(outer);
    let order: Vec<String> = inside.into_iter().chain(outside).chain(has_other.then(|| "z".into())).collect();
    let map: Vec<String> = axes.iter().map(|axis| format!("{}={}", axis.names.1, inner(axis))).collect();
    let using = format!("{stage}:{splits} reorder({}) use(drawn, {})", order.join(", "), map.join(", "));
    let place = outer(&axes[0]);
    let mut lines: Vec<String> = [
        "f: compute_root()",
        "f: compute_root() align_extent(x, 8)",
        "f: compute_root() align_bounds(x, 4, 1)",
        "f: compute_at(out, x)",
        "out: split(x, xo, xi, 8)\nf: compute_at(out, xo)",
        "out: split(x, xo, xi, 4) parallel(xo)\nf: compute_at(out, xo)",
        "f: store_root() compute_at(out, x)",
        "f: compute_at(out, x) hoist_storage_root()",
        "f: async()",
    ]
    .map(str::to_string)
    .to_vec();
    lines.push(format!("{stage}: parallel({place})"));
    lines.push(format!("{stage}: unroll({place})"));
    lines.push(format!("{stage}.specialize(in.extent(0) > {}): parallel({place})", random.between(1, 9)));
    for n in 0..operands.len() {
        lines.extend([
            format!("g{n}: compute_root()"),
            format!("g{n}: compute_root() reorder_storage(v, u)"),
            format!("g{n}: compute_at({stage}, {place})"),
            format!("g{n}: compute_at({stage}, {place}) store_root()"),
            format!("g{n}: hoist_storage_root() async()"),
            format!("g{n}: align_storage(u, 8)"),
        ]);
    }
    (using, lines.into_iter().filter(|_| random.one_in(3)).collect())
}

/// The lines that are legal, each after those before it that are; and if the instruction's line is one of them.
fn legal(pipeline: &Pipeline, set: &InstructionSet, lines: &[String]) -> (Schedule, bool) {
    let (mut schedule, mut uses) = (Schedule::new().with_instructions(set), false);
    for line in lines {
        let text = format!("{schedule}\n{line}");
        let Ok(longer) = text.parse::<Schedule>() else { panic!("`{line}` is no schedule") };
        let longer = longer.with_instructions(set);
        if halide::plan::resolve(pipeline, &longer, &TARGET).is_ok() {
            schedule = longer;
            uses |= line.contains("use(");
        }
    }
    (schedule, uses)
}

/// Runs the case of a number on all engines.
pub fn check(number: u64) -> Result<Outcome, Failure> {
    let mut random = Random::new(number);
    let Drawn { output, instruction, using, mut lines } = draw(&mut random);
    let pipeline = Pipeline::new([&output]).unwrap_or_else(|e| panic!("a pipeline has mistakes: {e}"));
    let set = InstructionSet::new().with(instruction).unwrap_or_else(|e| panic!("an instruction has mistakes: {e}"));
    // In front of what has its place in loops that it makes.
    lines.insert(0, using);
    lines.insert(0, "f: compute_root()\ng0: compute_root()\ng1: compute_root()".into());
    let of = |lines: &[String]| {
        let (schedule, uses) = legal(&pipeline, &set, lines);
        if !uses {
            return Ok(Outcome::Refused("instructions in these loops".into()));
        }
        let outcome = facade::with_externs(&Case::with(pipeline.clone(), schedule.clone(), TARGET, random.clone()));
        outcome.map_err(|failed| failure(failed.kind, format!("{}\n{pipeline}\n{schedule}", failed.text)))
    };
    of(&lines).map_err(|failed| crate::externs::with_fewer_lines(failed, lines, of))
}
