//! Code that counts, and its runs.

use crate::aliases::Aliases;
use crate::counts::{FuncCounts, SourceCount};
use crate::engine::Machine;
use crate::error::Error;
use crate::failure::Failure;
use crate::run_options::How;
use crate::variant_code::Variant;
use crate::variant_key::{VariantKey, fault_error};
use halide_core::Pipeline;
use halide_core::buffer::AnyBufferMut;
use halide_core::interp::Bound;
use halide_ir::{BufId, Program};
use halide_sched::lower::counting::{Counting, lower_counting};
use halide_sched::lower::{Counted, Counter};
use halide_sched::plan::{self, Plan};
use halide_sched::schedule::Schedule;

/// Code that counts.
pub(crate) struct CountingCode {
    variant: Variant,
    counters: Vec<Counter>,
    /// True if it does nothing but count.
    pub(crate) alone: bool,
}

impl CountingCode {
    /// Compiles what counts for calls of this variant.
    pub(crate) fn new(plan: &Plan, machine: &Machine, key: VariantKey) -> Result<CountingCode, Error> {
        let Counting { program, counters, alone } = lower_counting(plan, &key.options()).map_err(Error::Lower)?;
        // There are no kernels in what counts alone.
        let machine = if alone { machine.host() } else { machine };
        Ok(CountingCode { variant: Variant::of_program(plan, machine, program)?.counting(alone), counters, alone })
    }
    /// Compiles what counts points if each is computed once.
    fn of_needs(pipeline: &Pipeline, plan: &Plan, machine: &Machine) -> Result<Needs, Error> {
        let mut target = plan.target;
        target.gpu = None;
        let plan = plan::resolve(pipeline, &Schedule::all_at_root(pipeline), &target).map_err(Error::Schedule)?;
        let main = VariantKey::default();
        let exact =
            VariantKey { exact_tails: true, generic_strides: true, may_be_empty: true, unchecked: true, ..main };
        let code = CountingCode::new(&plan, machine.host(), exact)?;
        Ok(Needs { plan, code })
    }

    /// Runs it for a call, and returns the values of its counters. What it does not only count it stores to `outputs`.
    pub(crate) fn run(
        &self,
        plan: &Plan,
        bound: &Bound,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
    ) -> Result<Vec<i64>, Error> {
        match self.variant.run(plan, bound, outputs, how, &Aliases::default()) {
            Ok(stats) => Ok(stats.counters),
            Err(Failure::Other(error)) => Err(error),
            Err(Failure::Fault(fault, args)) => Err(fault_error(&self.variant.program, fault, &args)),
        }
    }

    /// The counts of each Func, of the values that counters have after a run.
    pub(crate) fn counts(&self, values: &[i64]) -> Vec<FuncCounts> {
        let mut all: Vec<FuncCounts> = Vec::new();
        let program = &self.variant.program;
        for (Counter { func, what, from }, value) in self.counters.iter().zip(values) {
            let func = program.func_name(*func);
            let place = all.iter().position(|counts| counts.func == func).unwrap_or_else(|| {
                all.push(FuncCounts { func: func.to_string(), ..FuncCounts::default() });
                all.len() - 1
            });
            let (counts, value) = (&mut all[place], (*value).max(0) as u64);
            if let Some(buf) = from {
                add_source(&mut counts.sources, program, *buf, value);
                continue;
            }
            match what {
                Counted::Points => counts.points = value,
                Counted::Elements => counts.elements = value,
                Counted::Allocations => counts.allocations = value,
                Counted::Loaded => counts.loaded = value,
                Counted::Stored => counts.stored = value,
                Counted::Operations => counts.operations = value,
            }
        }
        all
    }
}

/// Adds bytes that were read from a buffer to those of its Func or image.
fn add_source(sources: &mut Vec<SourceCount>, program: &Program, buf: BufId, bytes: u64) {
    let func = program.func_buffers.enumerate().find_map(|(func, all)| all.contains(&buf).then_some(func));
    let of = func.map_or(program.buffers[buf].name.as_str(), |func| program.func_name(func));
    match sources.iter_mut().find(|source| source.of == of && source.is_image == func.is_none()) {
        Some(source) => source.loaded += bytes,
        None => sources.push(SourceCount { of: of.to_string(), is_image: func.is_none(), loaded: bytes }),
    }
}

/// Code that counts the points that are needed, and the plan that it is of.
pub(crate) struct Needs {
    pub(crate) plan: Plan,
    pub(crate) code: CountingCode,
}

impl Needs {
    /// Compiles what counts the points that are needed; `None` where that depends on data, or a Func has no bounds of
    /// its own.
    pub(crate) fn new(pipeline: &Pipeline, plan: &Plan, machine: &Machine) -> Option<Needs> {
        CountingCode::of_needs(pipeline, plan, machine).ok().filter(|needs| needs.code.alone)
    }
}
