//! Counts of a run: iterations of loops, points computed, elements allocated.

use crate::matrix::TARGET;
use halide_core::Pipeline;
use halide_core::buffer::{AnyBuffer, Region};
use halide_ir::eval::{self, EvalStats};
use halide_ir::{Program, Stmt, visit};
use halide_sched::lower::{Counted, LowerOptions, lower};

/// The counts of two runs of the finished program: as it is, and made to count.
pub(crate) struct Counts {
    plain: (Program, EvalStats),
    counted: (Program, EvalStats),
}

/// Runs the pipeline by the evaluator; `exact` is the variant whose tails are guards.
pub(crate) fn count(
    pipeline: &Pipeline,
    schedule: &str,
    images: &[(&str, AnyBuffer)],
    region: &Region,
    exact: bool,
) -> Counts {
    let parsed = schedule.parse().unwrap_or_else(|e| panic!("{schedule}\n{e}"));
    let plan = halide_sched::plan::resolve(pipeline, &parsed, &TARGET).unwrap_or_else(|e| panic!("{schedule}\n{e:?}"));
    let given = |name: &str| images.iter().find(|(n, _)| *n == name).expect("every image is given").1.clone();
    let inputs: Vec<AnyBuffer> = pipeline.images.iter().map(|i| given(&i.name)).collect();
    let types = pipeline.outputs.iter().flat_map(|&f| &pipeline.funcs[f].types);
    let run = |count: bool| {
        let options = LowerOptions { exact_tails: exact, count, ..Default::default() };
        let program = lower(&plan, &options).unwrap().program;
        let mut outputs: Vec<AnyBuffer> =
            types.clone().map(|&ty| AnyBuffer::with_region(ty, region).unwrap()).collect();
        match eval::run(&program, &[], &inputs, &mut outputs) {
            Ok(stats) => (program, stats),
            Err(e) => panic!("{schedule}\n{e}\n{program}"),
        }
    };
    Counts { plain: run(false), counted: run(true) }
}

impl Counts {
    /// Returns the number of runs of the body of the loop, such as `f.update(0).r.x`, over all variants and pieces of
    /// it.
    pub(crate) fn iterations(&self, name: &str) -> u64 {
        let (program, stats) = &self.plain;
        let named: Vec<_> = program.loops.enumerate().filter(|(_, l)| l.name == name).map(|(id, _)| id).collect();
        assert!(!named.is_empty(), "no loop {name}\n{program}");
        named.into_iter().map(|id| stats.iterations[id]).sum()
    }

    /// Returns the number of runs of the bodies of those loops of the name for which `test` of the body says so.
    pub(crate) fn iterations_of(&self, name: &str, test: &dyn Fn(&Stmt) -> bool) -> u64 {
        let (program, stats) = &self.plain;
        let bodies = std::iter::once(&program.body).chain(program.tasks.iter().map(|t| &t.body));
        bodies.map(|body| sum_of(program, stats, name, test, body)).sum()
    }

    /// Returns true if there still is a loop of this name: those that run once dissolve.
    pub(crate) fn has_loop(&self, name: &str) -> bool {
        let text = self.text();
        text.contains(&format!("for \"{name}\"#")) || text.contains(&format!("for {name}#"))
    }

    fn counter(&self, func: &str, what: Counted) -> i64 {
        let name = what.counter(func);
        let (program, stats) = &self.counted;
        let at = program.counters.iter().position(|c| *c == name);
        stats.counters[at.unwrap_or_else(|| panic!("no counter {name}\n{program}"))]
    }

    /// Points computed of a Func.
    pub(crate) fn points(&self, func: &str) -> i64 {
        self.counter(func, Counted::Points)
    }

    /// Elements allocated for a Func, over all its allocations.
    pub(crate) fn elements(&self, func: &str) -> i64 {
        self.counter(func, Counted::Elements)
    }

    /// The finished program as text.
    pub(crate) fn text(&self) -> String {
        self.plain.0.to_string()
    }
}

fn sum_of(program: &Program, stats: &EvalStats, name: &str, test: &dyn Fn(&Stmt) -> bool, s: &Stmt) -> u64 {
    let mut sum = match s {
        Stmt::For(l) if program.loops[l.id].name == name && test(&l.body) => stats.iterations[l.id],
        _ => 0,
    };
    visit::for_each_stmt(s, |inner| sum += sum_of(program, stats, name, test, inner));
    sum
}
