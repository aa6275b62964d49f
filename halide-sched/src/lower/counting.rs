//! The counts of a run without its work.

use super::checks::check_accesses::check_accesses;
use super::loops::{instrument, only_counts, sum_counts};
use super::storage::flatten_storage::flatten_storage;
use super::trace::LoweringTrace;
use super::vectors::vectorize::vectorize;
use super::{Counter, LowerError, LowerOptions, Lowered, finish, lower_hoisted, lower_to_hoisted, simplified, walk};
use crate::plan::Plan;
use halide_ir::visit::map_stmt;
use halide_ir::{Expr, ForKind, Program, Stmt};
use halide_solve::simplify::Proofs;

/// A program whose counters, at its end, say what a run of the plan computes and allocates.
#[derive(Clone, Debug)]
pub struct Counting {
    /// The program, of `Stage::Final`.
    pub program: Program,
    /// The meaning of its counters, in their order.
    pub counters: Vec<Counter>,
    /// True if it only counts; otherwise counts depend on values that definitions store, and it computes all outputs.
    pub alone: bool,
}

/// Lowers a plan to a program that counts. It takes the inputs and outputs of the plan.
///
/// # Errors
/// Errors of [`lower`](super::lower).
pub fn lower_counting(plan: &Plan, options: &LowerOptions) -> Result<Counting, Vec<LowerError>> {
    let (mut lowered, facts) = lower_to_hoisted(plan, options)?;
    let (program, counters) = instrument::instrument(lowered.program.clone());
    let Some(program) = only_counts::only_counts(program) else {
        let options = LowerOptions { count: true, ..options.clone() };
        lowered.program = walk::map_body(lowered.program, |body, _| on_host(body));
        let Lowered { program, counters, .. } = lower_hoisted((lowered, facts), plan, &options)?;
        return Ok(Counting { program, counters, alone: false });
    };
    let mut trace = LoweringTrace::new();
    let program = simplified(sum_counts::sum_counts(program), &facts, Proofs::All);
    let program = vectorize(flatten_storage(program), &mut trace);
    let program = simplified(program, &facts, Proofs::Unmarked);
    let program = check_accesses(program, Some(&plan.pipeline), true, &mut trace);
    Ok(Counting { program: finish(program), counters, alone: true })
}

/// Loops of kernels as loops of the host, since kernels do not count.
fn on_host(s: Stmt) -> Stmt {
    match s {
        Stmt::For(mut l) if l.kind.is_gpu() => {
            l.kind = ForKind::Serial;
            on_host(Stmt::For(l))
        }
        other => map_stmt(other, Expr::clone, on_host),
    }
}
