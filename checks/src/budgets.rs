//! Schedules that multiply code by far more than anybody could use, under a small budget: lowering and code generation
//! end with an error, or what they make is within the budget, after each pass.

use crate::case::{Case, TARGET};
use crate::class::refused_by_lowering;
use crate::failure::{Failure, Outcome, failure};
use crate::funcs::{func, var};
use halide::ir::{Program, Stmt, visit};
use halide::lower::{LowerError, LowerOptions, Snapshots, lower};
use halide::plan;
use halide::prelude::*;
use halide_cpu::{CodeUnit, CpuError, CpuOptions};
use halide_ir::target::Budget;
use halide_testing::pipelines::Random;

/// The most copies that a schedule asks for, so that a compiler without a budget ends as well.
const MOST_COPIES: i64 = 1 << 15;

/// Passes that count before they copy may be wrong by so much, since what they copy is simplified or given names later.
const SLACK: u64 = 2;

/// A pipeline whose schedule multiplies code, and a budget that is far below it or not far above.
fn draw(random: &mut Random) -> (Pipeline, Schedule, Budget) {
    let (output, stages) = match random.below(4) {
        0 => product(random),
        1 => convolution(random),
        2 => chain(random),
        _ => pointwise(random),
    };
    let pipeline = Pipeline::new([&output]).unwrap_or_else(|e| panic!("a pipeline has mistakes: {e}"));
    let (mut copies, mut schedule) = (1i64, Schedule::new());
    let mut add = |line: String| {
        let longer = format!("{schedule}\n{line}").parse::<Schedule>().unwrap_or_else(|e| panic!("`{line}`: {e:?}"));
        let legal = plan::resolve(&pipeline, &longer, &TARGET).is_ok();
        if legal {
            schedule = longer;
        }
        legal
    };
    for name in &stages {
        let place = random.pick(&["compute_root()", "compute_root()", "compute_at(f, y)", "compute_at(f, xo)"]);
        if !name.contains("update") && name != "f" {
            add(format!("{name}: {place}"));
        }
    }
    for number in 0..2 + random.below(4) {
        let name = &stages[random.below(stages.len())];
        let factor = random.pick(&[2, 8, 32, 64, 255, 256, 1000, 4096]);
        if copies * factor > MOST_COPIES {
            continue;
        }
        let dim = random.pick(&["x", "y", "x", "y", "r.x", "r.y", "r.z", "xo", "yo"]);
        let (outer, inner) = (format!("o{number}"), format!("i{number}"));
        let tail = random.pick(&["", "", ", GuardWithIf"]);
        let added = match random.below(7) {
            0 => add(format!("{name}: split({dim}, {outer}, {inner}, {factor}{tail}) unroll({inner})")),
            1 => add(format!("{name}: split({dim}, {dim}o, {inner}, {factor}{tail}) unroll({inner})")),
            2 => add(format!("{name}: unroll({dim}, {factor}{tail})")),
            3 => add(format!("{name}: vectorize({dim}, {factor}{tail})")),
            4 => add(format!("{name}: atomic() vectorize({dim}, {factor}{tail})")),
            5 => add(format!("{name}: unroll({dim})")),
            _ => {
                let mut any = false;
                for n in 1..=factor.min(64) {
                    any |= add(format!("{name}: specialize(f.extent(0) == {n})"));
                }
                any
            }
        };
        if added {
            copies *= factor;
        }
    }
    let nodes = random.pick(&[200, 1000, 4000]);
    let instructions = random.pick(&[50, 400, 3000]);
    let budget = Budget { nodes, instructions, code_bytes: 16 * instructions, ..Budget::DEFAULT };
    (pipeline, schedule, budget)
}

/// The product of two matrices.
fn product(random: &mut Random) -> (Func, Vec<String>) {
    let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
    let (x, y) = (var("x"), var("y"));
    let r = RDom::named("r", [(0, random.pick(&[4, 64, 255]))]);
    let mut g = func("g", &[x, y], 0.0f32.expr());
    g[[x, y]] = g.read([x, y]) + a.read([r.x.expr(), y]) * b.read([x, r.x.expr()]);
    let f = func("f", &[x, y], g.read([x, y]));
    (f, vec!["g".into(), "g.update(0)".into(), "g.update(0)".into(), "f".into()])
}

/// A sum over windows of several channels.
fn convolution(random: &mut Random) -> (Func, Vec<String>) {
    let (a, w) = (ImageParam::new("a", I16, 3), ImageParam::new("w", I16, 3));
    let (x, y) = (var("x"), var("y"));
    let r = RDom::named("r", [(0, 3), (0, random.pick(&[3, 5])), (0, random.pick(&[4, 16, 300]))]);
    let (u, v, c) = (r.dim(0).expr(), r.dim(1).expr(), r.dim(2).expr());
    let mut g = func("g", &[x, y], 0.expr());
    g[[x, y]] = g.read([x, y]) + cast_to(I32, a.read([x + u, y + v, c])) * cast_to(I32, w.read([u, v, c]));
    let f = func("f", &[x, y], max(g.read([x, y]), 0));
    (f, vec!["g".into(), "g.update(0)".into(), "g.update(0)".into(), "f".into()])
}

/// Stencils of stencils, which may be computed inside of each other.
fn chain(random: &mut Random) -> (Func, Vec<String>) {
    let image = ImageParam::new("in", U16, 2);
    let (x, y) = (var("x"), var("y"));
    let mut last = func("s0", &[x, y], image.read([x, y]) + image.read([x + 1, y]));
    let mut stages = vec!["s0".to_string()];
    for n in 1..1 + random.below(4) {
        let name = format!("s{n}");
        last = func(&name, &[x, y], (last.read([x, y]) + last.read([x, y + 1]) + last.read([x + 1, y])) / 3);
        stages.push(name);
    }
    stages.push("f".into());
    (func("f", &[x, y], last.read([x, y]) + last.read([x + 1, y])), stages)
}

/// One definition, at the edges of whose input loops are cut.
fn pointwise(random: &mut Random) -> (Func, Vec<String>) {
    let image = ImageParam::new("in", I32, 2);
    let (x, y) = (var("x"), var("y"));
    let near = halide::boundary::repeat_edge(&image);
    let sum = near.read([x - 1, y]) + near.read([x + random.between(0, 2) as i32, y + 1]);
    (func("f", &[x, y], sum), vec!["f".into()])
}

/// Lowers the case of a number and compiles what comes of it.
pub fn check(number: u64) -> Result<Outcome, Failure> {
    let mut random = Random::new(number);
    let (pipeline, schedule, budget) = draw(&mut random);
    let target = Target { budget, ..TARGET };
    let case = Case::with(pipeline, schedule, target, random);
    if std::env::var_os("HALIDE_FUZZ_SHOW").is_some() {
        println!("{case}\n{budget:?}");
    }
    let Ok(plan) = plan::resolve(&case.pipeline, &case.schedule, &target) else {
        return Ok(Outcome::Refused("illegal schedule".into()));
    };
    let options =
        LowerOptions { exact_tails: number.is_multiple_of(2), snapshots: Snapshots::All, ..LowerOptions::default() };
    let lowered = match lower(&plan, &options) {
        Ok(lowered) => lowered,
        Err(errors) => {
            if let Some(LowerError::TooLarge { nodes, most, .. }) = errors.first()
                && (nodes <= most || *most != budget.nodes)
            {
                return Err(failure("refused within the budget", format!("{errors:?}\n{case}\n{budget:?}")));
            }
            return refused_by_lowering(&errors);
        }
    };
    for pass in &lowered.trace.passes {
        let Some(program) = &pass.after else { continue };
        let size = nodes(program);
        if size > SLACK * budget.nodes {
            let text = format!("{size} nodes after {}, and {} are allowed\n{case}", pass.name, budget.nodes);
            return Err(failure("more nodes than the budget", text));
        }
    }
    let code = match halide_cpu::compile(&lowered.program, &CpuOptions::for_target(&target)) {
        Ok(code) => code,
        Err(CpuError::TooLarge { unit, count, most, .. }) => {
            let allowed = if let CodeUnit::Bytes = unit { budget.code_bytes } else { budget.instructions };
            return match count > most && most == allowed {
                true => Ok(Outcome::Refused("too much code".into())),
                false => Err(failure("refused within the budget", format!("{count} of {most}\n{case}\n{budget:?}"))),
            };
        }
        Err(CpuError::Stack { .. }) => return Ok(Outcome::Refused("deep frames".into())),
        Err(e) => return Err(failure("cpu refuses", format!("{e}\n{case}"))),
    };
    let made = code.stats();
    for (unit, count, most) in
        [("instructions", made.instructions, budget.instructions), ("bytes of code", made.bytes, budget.code_bytes)]
    {
        if count as u64 > most {
            return Err(failure(format!("more {unit} than the budget"), format!("{count} of {most}\n{case}")));
        }
    }
    Ok(Outcome::Compared)
}

/// The nodes of a program as a budget counts them: statements and nodes of their expressions.
fn nodes(program: &Program) -> u64 {
    let bodies = std::iter::once(&program.body)
        .chain(program.tasks.iter().map(|task| &task.body))
        .chain(program.kernels.iter().map(|kernel| &kernel.body));
    bodies.map(size).sum()
}

fn size(s: &Stmt) -> u64 {
    let mut size = 1;
    visit::for_each_expr(s, |e| visit::for_each_node(e, &mut |_| size += 1));
    visit::for_each_stmt(s, |inner| size += self::size(inner));
    size
}
