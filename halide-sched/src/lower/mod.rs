//! From a plan to a program: the table of contents of lowering. A pass is a function in the file of its name.
//!
//! `build_nests` puts each stage's loops, productions and realizations where the plan says. Bounds of loops are symbols
//! `Bound { func, stage, dim, edge, at }`: the region of this stage per iteration of that loop. `infer_bounds` defines
//! each symbol by the consumers' bounds at the same place, so text grows with the number of stages, not of paths
//! between them.
//!
//! Before that, `value_bounds` finds the integers that Funcs hold and that become coordinates of others, and clamps
//! coordinates that could be garbage. `slide_windows` shrinks a region to the part that the previous iteration left
//! out, and to no less than its tails need, consumers first. `start_early` moves the beginning of such loops back, so
//! their first windows are computed bit by bit as well. `fold_storage` makes circular what stays live in a constant
//! window. `check_arguments` asserts what inputs, outputs and promises must satisfy, before anything is written;
//! `check_coordinates` asserts that every region, over the whole run, lies inside i32.
//!
//! From `Stage::Bounded` on, statements stand alone.
//!
//! **Scale.** Time to lower grows with the number of stages. Definitions are expanded once and remembered
//! (`regions/bound_expansion`, and `transitive_definitions` of the simplifier). Statements nest as deep as a pipeline
//! is long, so walks take `visit::deep` steps, which grow the stack.
//!
//! **Storage and threads.** Storage that a schedule keeps outside of a parallel loop, while values are computed inside,
//! moves into the loop's body, so iterations share nothing.

mod cause;
pub mod checks;
pub mod code;
pub mod counting;
mod error;
pub mod gpu;
pub mod loops;
pub mod nests;
mod options;
mod outer_scope_values;
mod pixels;
pub mod regions;
pub mod storage;
pub mod trace;
pub mod vectors;
pub(crate) mod walk;

#[cfg(test)]
mod example;
#[cfg(test)]
mod tests;

pub use error::{Access, LowerError};
pub use gpu::offload::KernelProblem;
pub use loops::instrument::{Counted, Counter};
pub use options::{Accesses, LowerOptions};
pub use pixels::Pixels;
pub use trace::{Clock, Decision, LoweringTrace, Outcome, PassTrace, Snapshots};

pub use cause::{Cause, Multiplies};

use crate::plan::Plan;
use halide_ir::target::Gpu;
use halide_ir::{LoopInfo, Program, Stage};
use halide_solve::simplify::{Facts, Proofs};
use nests::ctx::Ctx;
use storage::bound_small_allocations::bound_small_allocations;
use storage::split_storage::{split_storage, splits};

/// A lowered program with the record of how it came about.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program.
    pub program: Program,
    /// The record of what each pass did and did not do.
    pub trace: LoweringTrace,
    /// The directives that multiply code the most, if loops have been unrolled and vectorized.
    pub causes: Vec<Cause>,
    /// The meaning of the program's counters, in their order.
    pub counters: Vec<Counter>,
}

/// Lowers as far as storage stands where it is allocated, still at `Stage::Bounded`: the last program whose loops and
/// definitions are those of the schedule. Returns what is known of its symbols, too.
pub(crate) fn lower_to_hoisted(plan: &Plan, options: &LowerOptions) -> Result<(Lowered, Facts), Vec<LowerError>> {
    let mut lowered = lower_to_bounded(plan, options)?;
    let facts = regions::facts::of_program(&lowered.program, &plan.pipeline, options);
    let Lowered { program, trace, .. } = &mut lowered;
    let mut pass = |name: &'static str, f: &mut dyn FnMut(Program, &mut LoweringTrace) -> Program| {
        run_pass(program, trace, name, f);
    };
    pass("uniquify", &mut |p, _| loops::uniquify::uniquify(p));
    pass("simplify", &mut |p, _| simplified(p, &facts, Proofs::All));
    pass("skip_stages", &mut |p, t| loops::skip_stages::skip_stages(p, &facts, t));
    pass("ring_buffer", &mut |p, _| storage::ring_buffer::ring_buffer(p, &storage::ring_buffer::rings(plan)));
    pass("hoist_storage", &mut |p, t| storage::hoist_storage::hoist_storage(p, &facts, t));
    Ok((lowered, facts))
}

/// Lowers all the way to `Stage::Final`.
///
/// # Errors
/// Everything that cannot be lowered (see [`LowerError`]).
pub fn lower(plan: &Plan, options: &LowerOptions) -> Result<Lowered, Vec<LowerError>> {
    lower_hoisted(lower_to_hoisted(plan, options)?, plan, options)
}

/// A function that runs a pass of a name.
type RunPass<'r> = &'r mut dyn FnMut(&'static str, &mut dyn FnMut(Program, &mut LoweringTrace) -> Program);

/// Makes tasks of what is asked to be computed ahead, or beside others.
fn fork_tasks(plan: &Plan, facts: &Facts, pass: RunPass<'_>) {
    let asked = loops::fork_producers::asked(plan);
    pass("fork_producers", &mut |p, t| loops::fork_producers::fork_producers(p, &asked, facts, t));
    let asked = loops::fork_siblings::asked(plan);
    pass("fork_siblings", &mut |p, t| loops::fork_siblings::fork_siblings(p, &asked, t));
}

/// Lowers what [`lower_to_hoisted`] gave.
fn lower_hoisted(
    (Lowered { mut program, mut trace, .. }, facts): (Lowered, Facts),
    plan: &Plan,
    options: &LowerOptions,
) -> Result<Lowered, Vec<LowerError>> {
    let (most, mut counters) = (plan.target.budget.nodes, Vec::new());
    let mut pass = |name: &'static str, f: &mut dyn FnMut(Program, &mut LoweringTrace) -> Program| {
        run_pass(&mut program, &mut trace, name, f);
    };
    fork_tasks(plan, &facts, &mut pass);
    if options.count {
        // Before storage is split and flattened: later, there is padding, and one statement may compute several points.
        pass("instrument", &mut |p, _| {
            let (program, counted) = loops::instrument::instrument(p);
            counters = counted;
            program
        });
        pass("sum_counts", &mut |p, _| loops::sum_counts::sum_counts(p));
    }
    pass("split_storage", &mut |p, t| split_storage(p, &splits(plan), &facts, t));
    pass("inject_prefetches", &mut |p, t| loops::inject_prefetches::inject_prefetches(p, &facts, t));
    let mut errors = Vec::new();
    pass("bound_loops", &mut |p, t| kept(loops::bound_loops::bound_loops(p, &facts, t), &mut errors));
    if !errors.is_empty() {
        return Err(errors);
    }
    pass("bound_small_allocations", &mut |p, t| bound_small_allocations(p, &facts, t));
    pass("flatten_storage", &mut |p, _| storage::flatten_storage::flatten_storage(p));
    let mut causes = Vec::new();
    pass("unroll", &mut |p, t| {
        let counted = checks::budget::check_copies(&p, most).map(|found| causes = found).map_err(|e| vec![e]);
        kept(counted.map(|()| loops::unroll::unroll(p, t)), &mut errors)
    });
    if !errors.is_empty() {
        return Err(errors);
    }
    pass("privatize", &mut vectors::privatize::privatize);
    pass("vectorize", &mut vectors::vectorize::vectorize);
    pass("simplify", &mut |p, _| simplified(p, &facts, Proofs::None));
    // While the likely conditions still stand where the algorithm and the tails put them.
    let mut whole = Vec::new();
    pass("partition_loops", &mut |p, t| {
        let made = checks::budget::check_size(&p, most, &causes).and_then(|size| {
            let made = loops::partition_loops::partition_loops(p, &facts, most - size, t);
            checks::budget::check_cuts(&made, most, &causes)?;
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
        return Err(whole.iter().map(|l| nothing_to_partition(&program.loops[*l])).collect());
    }
    pass("loop_trimming", &mut |p, t| loops::loop_trimming::loop_trimming(p, &facts, t));
    pass("simplify", &mut |p, _| simplified(p, &facts, Proofs::Unmarked));
    pass("stop_early", &mut |p, t| loops::stop_early::stop_early(p, &loops::stop_early::marked(plan), t));
    pass("join_sums", &mut |p, _| vectors::join_sums::join_sums(p));
    pass("interleave", &mut |p, _| vectors::interleave::interleave(p));
    // After the last simplification, which would widen again.
    pass("find_intrinsics", &mut |p, _| vectors::find_intrinsics::find_intrinsics(p, &facts));
    pass("register_promotion", &mut |p, _| code::register_promotion::register_promotion(p));
    pass("scalar_replacement", &mut |p, _| code::scalar_replacement::scalar_replacement(p));
    pass("licm", &mut |p, _| code::licm::licm(p));
    pass("cse", &mut |p, _| code::cse::cse(p));
    let gpu = plan.target.gpu.unwrap_or(Gpu::LEAST);
    pass("offload", &mut |p, t| kept(gpu::offload::offload(p, &facts, &gpu, t), &mut errors));
    if !errors.is_empty() {
        return Err(errors);
    }
    let copies = plan.funcs.enumerate().filter(|(_, f)| !f.copies.is_empty());
    let asked: gpu::place_copies::Asked = copies.map(|(id, f)| (id, f.copies.clone())).collect();
    pass("place_copies", &mut |p, t| gpu::place_copies::place_copies(p, &asked, t));
    if options.accesses != Accesses::Trusted {
        let exact = options.accesses == Accesses::InPlace;
        pass("check_accesses", &mut |p, t| checks::check_accesses::check_accesses(p, Some(&plan.pipeline), exact, t));
    }
    last_passes(pass);
    trace.visits += facts.visits();
    Ok(Lowered { program, trace, causes, counters })
}

/// Runs a pass, and records what it did.
fn run_pass(
    program: &mut Program,
    trace: &mut LoweringTrace,
    name: &'static str,
    f: &mut dyn FnMut(Program, &mut LoweringTrace) -> Program,
) {
    trace.begin(name);
    let before = std::mem::replace(program, Program::empty(Stage::Nest));
    *program = f(before, trace);
    trace.finish(Some(program));
    debug_verify(name, program);
}

/// Runs the passes behind `check_accesses`, from `Stage::Shaped` to `Stage::Final`, by `pass`.
fn last_passes(mut pass: impl FnMut(&'static str, &mut dyn FnMut(Program, &mut LoweringTrace) -> Program)) {
    pass("outline_tasks", &mut |p, _| code::outline_tasks::outline_tasks(p));
    pass("split_functions", &mut code::split_functions::split_functions);
    pass("last_use", &mut |p, _| storage::last_use::last_use(p));
}

/// Lowers a program of `Stage::Shaped` whose accesses are checked, or trusted, to `Stage::Final`.
pub fn finish(mut program: Program) -> Program {
    let mut trace = LoweringTrace::new();
    last_passes(|_, f| {
        let before = std::mem::replace(&mut program, Program::empty(Stage::Nest));
        program = f(before, &mut trace);
    });
    program
}

fn nothing_to_partition(l: &LoopInfo) -> LowerError {
    LowerError::NothingToPartition { name: l.name.clone(), at: l.at }
}

/// The program of a pass, or its errors for `all`.
fn kept(result: Result<Program, Vec<LowerError>>, all: &mut Vec<LowerError>) -> Program {
    result.unwrap_or_else(|errors| {
        all.extend(errors);
        Program::empty(Stage::Nest)
    })
}

fn simplified(mut program: Program, facts: &Facts, proofs: Proofs) -> Program {
    let (body, dead) = halide_solve::simplify::simplify_noting_dead(program.body, facts, proofs);
    program.body = body;
    dead.into_iter().for_each(|l| program.loops[l].is_dead = true);
    program
}

/// In debug and test builds: what each stage promises holds after each pass.
fn debug_verify(pass: &str, program: &Program) {
    if cfg!(debug_assertions)
        && let Err(errors) = halide_ir::verify::verify(program)
    {
        panic!("after {pass}: {errors:?}\n{program}");
    }
}

/// Lowers as far as `Stage::Bounded`: loops with every bound defined, multi-dimensional storage, checks in front.
pub fn lower_to_bounded(plan: &Plan, options: &LowerOptions) -> Result<Lowered, Vec<LowerError>> {
    let mut trace = LoweringTrace::recording(options.snapshots, options.clock);
    let mut ctx = Ctx::new(plan, options);
    trace.begin("value_bounds");
    let known = regions::facts::of_program(&ctx.program, &plan.pipeline, options);
    let values = regions::value_bounds::value_bounds(&mut ctx, &known);
    trace.finish(None);
    trace.begin("build_nests");
    checks::budget::check_variants(&ctx).map_err(|e| vec![e])?;
    let nest = nests::build_nests::build_nests(&mut ctx);
    nests::compute_with::explain(&ctx, &mut trace);
    nests::hints::explain_calls(&ctx, &mut trace);
    nests::hints::explain_hints(&ctx, &mut trace);
    nests::build_nests::hoist_levels(&mut ctx, &mut trace);
    nests::hints::prefetches(&mut ctx, &mut trace);
    trace.finish(None);
    trace.begin("find_regions");
    let mut facts = regions::facts::of_arguments(&ctx);
    let mut regions = regions::infer_bounds::find_regions(&ctx, &values, &mut facts)?;
    trace.finish(None);
    trace.begin("slide_windows");
    let slid = regions::slide_windows::slide_windows(&ctx, &mut regions, &facts, &mut trace);
    trace.finish(None);
    trace.begin("start_early");
    regions::start_early::start_early(&ctx, &mut regions, &facts, slid, &mut trace);
    trace.finish(None);
    trace.begin("fold_storage");
    let errors = storage::fold_storage::fold_storage(&mut ctx, &regions, &facts, &mut trace);
    if !errors.is_empty() {
        return Err(errors);
    }
    trace.finish(None);
    trace.begin("check_arguments");
    let checks = checks::check_arguments::check_arguments(&mut ctx, &regions, &facts);
    trace.finish(None);
    trace.begin("infer_bounds");
    let body = regions::infer_bounds::infer_bounds(&ctx, &regions, &facts, checks, nest);
    trace.visits += known.visits() + facts.visits();
    let mut program = ctx.program;
    program.body = body;
    program.mark_dropped_loops();
    program.stage = Stage::Bounded;
    trace.finish(Some(&program));
    let causes = Vec::new();
    checks::budget::check_size(&program, plan.target.budget.nodes, &causes).map_err(|e| vec![e])?;
    Ok(Lowered { program, trace, causes, counters: Vec::new() })
}
