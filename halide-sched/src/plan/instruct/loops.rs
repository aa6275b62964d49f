//! Rules for the loops of an instruction: innermost, of its extents, without a guard inside.

use super::meaning::{Axes, Multiple};
use crate::plan::affine::Atom;
use crate::plan::diagnostics::Problem;
use crate::plan::stage::{StageDraft, UseDraft};
use crate::plan::types::{PlanTail, StageVar, Transform, VarOrigin};
use crate::schedule::{Axis, Instruction, LoopKind};
use halide_core::ids::FuncId;
use halide_core::pipeline::PipelineData;
use halide_ir::build;

/// The first loop that does not fit an instruction.
pub(super) fn problem(stage: &StageDraft, used: &UseDraft, instruction: &Instruction) -> Option<Problem> {
    let (of, name) = (stage.subject.clone(), used.plan.instruction.clone());
    if stage.loops.iter().any(|l| l.kind.is_gpu()) {
        return Some(Problem::InstructionOnGpu { of, instruction: name });
    }
    if stage.float < instruction.float_mode() {
        let (needs, has) = (instruction.float_mode(), stage.float);
        return Some(Problem::InstructionFloat { of, instruction: name, needs, has });
    }
    let innermost = &stage.loops[stage.loops.len().saturating_sub(used.plan.vars.len())..];
    if !innermost.iter().all(|l| used.plan.vars.contains(&l.var)) {
        let names = |vars: &mut dyn Iterator<Item = StageVar>| vars.map(|v| stage.name(v).to_string()).collect();
        let loops = names(&mut used.plan.vars.iter().copied());
        let inner = names(&mut innermost.iter().map(|l| l.var));
        return Some(Problem::InstructionLoops { instruction: name, loops, inner });
    }
    if stage.facts.has_predicate {
        return Some(Problem::InstructionPredicate { of, instruction: name });
    }
    let axes = instruction.axes().iter().zip(&used.plan.vars);
    axes.filter_map(|(axis, var)| of_axis(stage, used, axis, (*var, instruction.is_call()))).next()
}

/// The reason that a loop cannot be that of an axis.
fn of_axis(stage: &StageDraft, used: &UseDraft, axis: &Axis, (var, is_call): (StageVar, bool)) -> Option<Problem> {
    let (instruction, name) = (used.plan.instruction.clone(), stage.name(var).to_string());
    let extent = stage.extent(var);
    if !extent.is_some_and(|extent| axis.extents.allow(extent)) {
        let (axis, needs) = (axis.name.clone(), axis.extents);
        return Some(Problem::InstructionExtent { instruction, axis, var: name, needs, extent });
    }
    let l = stage.loops.iter().find(|l| l.var == var)?;
    if l.kind != axis.runs {
        let (runs, kind) = (axis.runs, l.kind);
        return Some(Problem::InstructionKind { instruction, var: name, runs, kind });
    }
    let of = guard(stage, var, (l.kind, is_call))?;
    Some(Problem::InstructionGuard { instruction, var: name, of: stage.name(of).to_string() })
}

/// The variable whose split needs a guard inside of loop `var`, if there is one.
fn guard(stage: &StageDraft, var: StageVar, (kind, is_call): (LoopKind, bool)) -> Option<StageVar> {
    let mut at = var;
    while let Some(Transform::Split { var: parent, factor, tail, .. }) = stage.maker(at) {
        let divides = || {
            let (extent, factor) = (stage.extent(*parent), build::as_int(factor));
            extent.zip(factor).is_some_and(|(extent, factor)| factor > 0 && extent % factor == 0)
        };
        let guarded = match tail {
            // Where the region is less than the factor, loops end early, and a call has whole tiles only.
            PlanTail::AutoShift => is_call && !divides(),
            PlanTail::ShiftInwards | PlanTail::RoundUp => false,
            // Lanes are masked, or those of the last chunk are, in code of its own.
            PlanTail::GuardWithIf | PlanTail::Predicate | PlanTail::PredicateLoads | PlanTail::PredicateStores => {
                kind != LoopKind::Vectorized && !divides()
            }
            PlanTail::ShiftInwardsAndBlend | PlanTail::RoundUpAndBlend => true,
        };
        if guarded {
            return Some(*parent);
        }
        at = *parent;
    }
    None
}

/// The variables of the definition that the loops count, each with the distance that an iteration makes.
pub(super) fn axes(
    pipeline: &PipelineData,
    func: FuncId,
    stage: &StageDraft,
    used: &UseDraft,
) -> Result<Axes, Problem> {
    let axis = |var: &StageVar| {
        let fused = || Problem::InstructionFused {
            instruction: used.plan.instruction.clone(),
            var: stage.name(*var).to_string(),
        };
        let (mut at, mut by) = (*var, 1i128);
        // A step of what another loop is skewed by moves that one's variable as well.
        let moves_others =
            |at: StageVar| stage.transforms.iter().any(|t| matches!(t, Transform::Skew { along, .. } if *along == at));
        loop {
            if moves_others(at) {
                return Err(fused());
            }
            let Some(made) = stage.maker(at) else { break };
            let Transform::Split { var: parent, outer, factor, .. } = made else { return Err(fused()) };
            if *outer == at {
                let factor = build::as_int(factor).ok_or_else(fused)?;
                by = by.checked_mul(i128::from(factor)).ok_or_else(fused)?;
            }
            at = *parent;
        }
        let atom = match stage.vars[at].origin {
            VarOrigin::Pure { dim } => Atom::Var(pipeline.funcs[func].args[dim]),
            VarOrigin::Reduction { rdom, dim } => Atom::RVar(rdom, u8::try_from(dim).map_err(|_| fused())?),
            VarOrigin::Derived | VarOrigin::One => return Err(fused()),
        };
        Ok(Multiple { atom, by })
    };
    let all = used.plan.vars.iter().map(axis).collect::<Result<_, _>>()?;
    let names = used.plan.vars.iter().map(|var| stage.name(*var).to_string()).collect();
    Ok(Axes { all, names })
}
