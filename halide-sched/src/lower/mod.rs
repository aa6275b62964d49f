//! From a plan to a program: the table of contents of lowering. One pass, one file, one function.

pub mod bound_loops;
pub mod bound_small_allocations;
pub mod budget;
mod build_nests;
pub mod check_accesses;
mod check_arguments;
mod check_coordinates;
mod check_factors;
pub(crate) mod constrain;
mod copy;
mod ctx;
mod cut;
mod error;
mod expansions;
pub mod explain_bounds;
mod facts;
pub mod find_intrinsics;
pub mod flatten_storage;
mod fold_storage;
pub mod free_early;
mod guards;
pub mod hoist;
pub mod hoist_storage;
pub mod in_place;
mod infer_bounds;
pub mod inject_prefetches;
mod inlined_calls;
mod innermost;
pub mod instrument;
pub mod interleave;
pub mod join_sums;
mod joined;
pub(crate) mod lanes;
mod narrow;
mod nested_regions;
mod notes;
pub mod offload;
pub mod outline_tasks;
pub mod partition_loops;
pub mod place_copies;
pub mod query;
mod reached_factors;
mod regions;
mod room;
mod rules;
mod seen_from;
pub mod share;
pub mod skip_stages;
mod slack;
mod slide_windows;
pub mod split_functions;
mod start_early;
pub(crate) mod terms;
pub mod trace;
mod translate;
pub mod trim_no_ops;
pub mod trust;
pub mod uniquify;
pub mod unroll;
mod value_bounds;
mod vars;
pub mod vectorize;
pub(crate) mod walk;
mod whole;

mod exact_indices;
#[cfg(test)]
mod example;
#[cfg(test)]
mod tests;

pub use error::LowerError;
pub use offload::KernelProblem;
pub use trace::{Clock, Decision, LoweringTrace, Outcome, PassTrace};

pub use budget::{Cause, Multiplies};

use crate::ir::{LoopId, LoopInfo, Program, Stage};
use crate::plan::Plan;
use crate::simplify::{Facts, Proofs};
use crate::target::Gpu;
use ctx::Ctx;
use std::collections::BTreeSet;

/// Which of the variants of the code to make, and what to add to it. The default is the main variant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct LowerOptions {
    /// Compile `Auto` tails as guards, so that regions are exact for every shape: for outputs smaller than a factor and
    /// inputs that hold no more than what the algorithm itself reads.
    pub exact_tails: bool,
    /// Take any stride in every dimension of inputs and outputs.
    pub generic_strides: bool,
    /// Leave out what the algorithm requires: for a call in which the requirements that are needed are known to hold.
    pub unchecked: bool,
    /// Outputs, by position, whose first definition is left out: its values are in the output's memory already, as
    /// [`in_place::in_place`] found.
    pub in_memory: BTreeSet<usize>,
    /// The accesses that are checked to be in bounds.
    pub accesses: Accesses,
    /// Count the elements computed and allocated of each Func.
    pub count: bool,
    /// Keep a copy of the program after every pass in the trace.
    pub keep_programs: bool,
    /// Measure every pass by this clock.
    pub clock: Option<Clock>,
}

/// The accesses that a program checks to be in bounds, of those that are not proved to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Accesses {
    /// None, and nothing is proved: what bounds inference found is relied on.
    #[default]
    Trusted,
    /// All, before the loops around them. A check may ask for more than its accesses need, and end a run that is right with
    /// [`crate::ir::Fault::Unproved`].
    BeforeLoops,
    /// All, each directly before it: slow, and exact.
    InPlace,
}

/// A lowered program with the record of how it came about.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program.
    pub program: Program,
    /// What each pass did and did not do.
    pub trace: LoweringTrace,
    /// The directives that multiply code the most, if loops have been unrolled and vectorized.
    pub causes: Vec<Cause>,
}

/// Lowers all the way to `Stage::Final`.
///
/// # Errors
/// Everything that cannot be lowered (see [`LowerError`]).
pub fn lower(plan: &Plan, options: &LowerOptions) -> Result<Lowered, Vec<LowerError>> {
    let Lowered { mut program, mut trace, .. } = lower_to_bounded(plan, options)?;
    let most = plan.target.budget.nodes;
    let facts = facts::of_program(&program, &plan.pipeline);
    let mut pass = |name: &'static str, f: &mut dyn FnMut(Program, &mut LoweringTrace) -> Program| {
        trace.begin(name);
        let before = std::mem::replace(&mut program, Program::empty(Stage::Nest));
        program = f(before, &mut trace);
        trace.finish(Some(&program));
        debug_verify(name, &program);
    };
    pass("uniquify", &mut |p, _| uniquify::uniquify(p));
    pass("simplify", &mut |p, _| simplified(p, &facts, Proofs::All));
    pass("skip_stages", &mut |p, t| skip_stages::skip_stages(p, &facts, t));
    pass("hoist_storage", &mut |p, t| hoist_storage::hoist_storage(p, &facts, t));
    pass("inject_prefetches", &mut |p, t| inject_prefetches::inject_prefetches(p, &facts, t));
    if options.count {
        // Before storage is flattened: later, one statement may compute several points.
        pass("instrument", &mut |p, _| instrument::instrument(p));
    }
    let mut errors = Vec::new();
    pass("bound_loops", &mut |p, t| kept(bound_loops::bound_loops(p, &facts, t), &mut errors));
    if !errors.is_empty() {
        return Err(errors);
    }
    pass("bound_small_allocations", &mut |p, t| bound_small_allocations::bound_small_allocations(p, &facts, t));
    pass("flatten_storage", &mut |p, _| flatten_storage::flatten_storage(p));
    let mut causes = Vec::new();
    pass("unroll", &mut |p, t| {
        let counted = budget::check_copies(&p, most).map(|found| causes = found).map_err(|e| vec![e]);
        kept(counted.map(|()| unroll::unroll(p, t)), &mut errors)
    });
    if !errors.is_empty() {
        return Err(errors);
    }
    pass("vectorize", &mut vectorize::vectorize);
    pass("simplify", &mut |p, _| simplified(p, &facts, Proofs::None));
    // While the likely conditions still stand where the algorithm and the tails put them.
    let mut whole = Vec::new();
    pass("partition_loops", &mut |p, t| {
        let made = budget::check_size(&p, most, &causes).and_then(|size| {
            let made = partition_loops::partition_loops(p, &facts, most - size, t);
            budget::check_cuts(&made, most, &causes)?;
            whole = made.whole;
            Ok(made.program)
        });
        kept(made.map_err(|e| vec![e]), &mut errors)
    });
    if !errors.is_empty() {
        return Err(errors);
    }
    // What other variants guard, this one may compute without any condition; the main one counts.
    if !whole.is_empty() && !options.exact_tails {
        let error = |l: &LoopId| {
            let LoopInfo { name, at, .. } = program.loops[*l].clone();
            LowerError::NothingToPartition { name, at }
        };
        return Err(whole.iter().map(error).collect());
    }
    pass("trim_no_ops", &mut |p, t| trim_no_ops::trim_no_ops(p, &facts, t));
    pass("simplify", &mut |p, _| simplified(p, &facts, Proofs::Unmarked));
    pass("join_sums", &mut |p, _| join_sums::join_sums(p));
    pass("interleave", &mut |p, _| interleave::interleave(p));
    // After the last simplification, which would widen again.
    pass("find_intrinsics", &mut |p, _| find_intrinsics::find_intrinsics(p, &facts));
    pass("hoist", &mut |p, _| hoist::hoist(p));
    pass("share", &mut |p, _| share::share(p));
    let gpu = plan.target.gpu.unwrap_or(Gpu::LEAST);
    pass("offload", &mut |p, t| kept(offload::offload(p, &facts, &gpu, t), &mut errors));
    if !errors.is_empty() {
        return Err(errors);
    }
    let copies = plan.funcs.enumerate().filter(|(_, f)| !f.copies.is_empty());
    let asked: place_copies::Asked = copies.map(|(id, f)| (id, f.copies.clone())).collect();
    pass("place_copies", &mut |p, t| place_copies::place_copies(p, &asked, t));
    if options.accesses != Accesses::Trusted {
        let exact = options.accesses == Accesses::InPlace;
        pass("check_accesses", &mut |p, t| check_accesses::check_accesses(p, Some(&plan.pipeline), exact, t));
    }
    pass("outline_tasks", &mut |p, _| outline_tasks::outline_tasks(p));
    pass("split_functions", &mut split_functions::split_functions);
    pass("free_early", &mut |p, _| free_early::free_early(p));
    Ok(Lowered { program, trace, causes })
}

/// The program of a pass, or its errors for `all`.
fn kept(result: Result<Program, Vec<LowerError>>, all: &mut Vec<LowerError>) -> Program {
    result.unwrap_or_else(|errors| {
        all.extend(errors);
        Program::empty(Stage::Nest)
    })
}

fn simplified(mut program: Program, facts: &Facts, proofs: Proofs) -> Program {
    let (body, dead) = crate::simplify::simplify_noting_dead(program.body, facts, proofs);
    program.body = body;
    dead.into_iter().for_each(|l| program.loops[l].is_dead = true);
    program
}

/// In debug and test builds: what each stage promises holds after each pass.
fn debug_verify(pass: &str, program: &Program) {
    if cfg!(debug_assertions)
        && let Err(errors) = crate::ir::verify::verify(program)
    {
        panic!("after {pass}: {errors:?}\n{program}");
    }
}

/// Lowers as far as `Stage::Bounded`: loops with every bound defined, multi-dimensional storage, checks in front.
pub fn lower_to_bounded(plan: &Plan, options: &LowerOptions) -> Result<Lowered, Vec<LowerError>> {
    let mut trace = LoweringTrace::recording(options.keep_programs, options.clock);
    let mut ctx = Ctx::new(plan, options);
    trace.begin("value_bounds");
    let known = facts::of_program(&ctx.program, &plan.pipeline);
    let values = value_bounds::value_bounds(&mut ctx, &known);
    trace.finish(None);
    trace.begin("build_nests");
    budget::check_variants(&ctx).map_err(|e| vec![e])?;
    let nest = build_nests::build_nests(&mut ctx);
    joined::explain(&ctx, &mut trace);
    build_nests::explain_hints(&ctx, &mut trace);
    build_nests::hoist_levels(&mut ctx, &mut trace);
    build_nests::prefetches(&mut ctx, &mut trace);
    trace.finish(None);
    trace.begin("find_regions");
    let mut facts = facts::of_arguments(&ctx);
    let mut regions = infer_bounds::find_regions(&ctx, &values, &mut facts)?;
    trace.finish(None);
    trace.begin("slide_windows");
    let slid = slide_windows::slide_windows(&ctx, &mut regions, &facts, &mut trace);
    trace.finish(None);
    trace.begin("start_early");
    start_early::start_early(&ctx, &mut regions, &facts, slid, &mut trace);
    trace.finish(None);
    trace.begin("fold_storage");
    let errors = fold_storage::fold_storage(&mut ctx, &regions, &facts, &mut trace);
    if !errors.is_empty() {
        return Err(errors);
    }
    trace.finish(None);
    trace.begin("check_arguments");
    let checks = check_arguments::check_arguments(&mut ctx, &regions, &facts);
    trace.finish(None);
    trace.begin("infer_bounds");
    let body = infer_bounds::infer_bounds(&ctx, &regions, &facts, checks, nest);
    let mut program = ctx.program;
    program.body = body;
    program.mark_dropped_loops();
    program.stage = Stage::Bounded;
    trace.finish(Some(&program));
    let causes = Vec::new();
    budget::check_size(&program, plan.target.budget.nodes, &causes).map_err(|e| vec![e])?;
    Ok(Lowered { program, trace, causes })
}
