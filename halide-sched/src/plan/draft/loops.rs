//! Directives about the loops of a stage or of one of its specialisations.

use super::Drafter;
use crate::ir::{Expr, build};
use crate::plan::convert;
use crate::plan::error::Problem;
use crate::plan::stage::{Applied, Atomic, Source, StageDraft};
use crate::schedule::{Condition, Directive, FloatMode, LoopKind, Schedule, Subject, Tail, Verb};
use halide_core::ids::FuncId;

impl Drafter<'_, '_, '_> {
    pub(super) fn stage_directive(
        &mut self,
        number: usize,
        directive: &Directive,
        func: FuncId,
        stage: &mut StageDraft,
    ) {
        let text = directive.verb.to_string();
        let source = Source { number, at: directive.at, text: &text };
        let result = match &directive.verb {
            Verb::Specialize(condition) => self.specialize(&directive.subject, condition, stage),
            Verb::Atomic { any_order } => {
                stage.atomic = Some(Atomic { any_order: *any_order });
                Ok(())
            }
            Verb::AllowRaceConditions => {
                stage.races_allowed = true;
                Ok(())
            }
            Verb::SpecializeFail(message) => {
                stage.fail = Some((message.clone(), directive.at));
                Ok(())
            }
            verb => self.loop_directive(verb, func, stage, &source),
        };
        if let Err(problem) = result {
            problem.into_iter().for_each(|p| self.errors.report(number, p));
            match &directive.verb {
                Verb::Split { outer, inner, .. } => stage.break_names(&[outer, inner]),
                Verb::Fuse { fused, .. } => stage.break_names(&[fused]),
                Verb::Rename { to, .. } => stage.break_names(&[to]),
                _ => {}
            }
        }
    }

    fn loop_directive(&self, verb: &Verb, func: FuncId, stage: &mut StageDraft, source: &Source<'_>) -> Applied {
        match verb {
            Verb::Split { var, outer, inner, factor, tail } => {
                stage.find(var)?;
                let factor = self.amount(func, "factor", 1, factor).map_err(Some)?;
                stage.split([var, outer, inner], factor, *tail, source)?;
            }
            Verb::Fuse { inner, outer, fused } => stage.fuse(inner, outer, fused, source)?,
            Verb::Rename { from, to } => stage.rename(from, to, source)?,
            Verb::Reorder(vars) => stage.reorder(vars)?,
            Verb::Mark { kind, var, factor: None, .. } => stage.mark(var, *kind, source.number)?,
            Verb::Mark { kind, var, factor: Some(factor), tail } => {
                stage.find(var)?;
                let factor = self.amount(func, "factor", 1, factor).map_err(Some)?;
                mark_part(stage, *kind, var, factor, *tail, source)?;
            }
            Verb::GpuSingleThread => stage.single_thread(source.number),
            Verb::Partition { var, how } => {
                let position = stage.find(var)?;
                stage.loops[position].partition = *how;
            }
            _ => {}
        }
        Ok(())
    }

    /// Opens a variant. A condition that makes no sense opens one all the same, so that the others keep their numbers.
    fn specialize(&mut self, subject: &Subject, condition: &Condition, stage: &mut StageDraft) -> Applied {
        let mut path = subject.clone();
        path.specializations.push(stage.variants.len());
        let mut variant = stage.variant(self.schedule.subject_text(&path));
        variant.float = float_mode(self.schedule, &path, self.schedule.len());
        let made = convert::condition(self.pipeline, condition);
        let text = condition.to_string();
        let repeated = stage.variants.iter().any(|(_, t, _)| *t == text);
        let cond = made.as_ref().map_or_else(|_| build::boolean(true), Expr::clone);
        stage.variants.push((cond, text.clone(), variant));
        match made {
            Err(problem) => Err(Some(problem)),
            Ok(_) if stage.fail.is_some() => Err(Some(Problem::AfterFail)),
            Ok(_) if repeated => Err(Some(Problem::RepeatedCondition { condition: text })),
            Ok(_) => Ok(()),
        }
    }
}

/// Splits a loop and gives one part a kind: the inner part, or the outer one if it is to be parallel. The outer part
/// keeps the name.
fn mark_part(
    stage: &mut StageDraft,
    kind: LoopKind,
    var: &str,
    factor: Expr,
    tail: Tail,
    source: &Source<'_>,
) -> Applied {
    let letter = match kind {
        LoopKind::Serial => 's',
        LoopKind::Parallel => 'p',
        LoopKind::Vectorized => 'v',
        LoopKind::Unrolled => 'u',
        LoopKind::GpuBlocks => 'b',
        LoopKind::GpuThreads => 't',
        LoopKind::GpuLanes => 'l',
    };
    let inner = stage.unused_name(&format!("{var}${letter}"));
    let outer_at = stage.split([var, var, &inner], factor, tail, source)?;
    let marked = &mut stage.loops
        [if matches!(kind, LoopKind::Parallel | LoopKind::GpuBlocks) { outer_at } else { outer_at + 1 }];
    (marked.kind, marked.mark) = (kind, Some(source.number));
    Ok(())
}

/// How floats of a stage may be treated when all directives up to number `limit` have been applied: as the last one
/// says, or as the stage's general case did when the specialisation was opened.
pub(in crate::plan) fn float_mode(schedule: &Schedule, subject: &Subject, limit: usize) -> FloatMode {
    let before = &schedule.directives()[..limit];
    let said = before.iter().rev().filter(|d| d.subject == *subject).find_map(|d| match d.verb {
        Verb::Float(mode) => Some(mode),
        _ => None,
    });
    let Some((&index, outer)) = subject.specializations.split_last() else { return said.unwrap_or_default() };
    let outer = Subject { specializations: outer.to_vec(), ..subject.clone() };
    let opens = |(_, d): &(usize, &Directive)| d.subject == outer && matches!(d.verb, Verb::Specialize(_));
    let opened = before.iter().enumerate().filter(opens).nth(index).map_or(0, |(number, _)| number);
    said.unwrap_or_else(|| float_mode(schedule, &outer, opened))
}
