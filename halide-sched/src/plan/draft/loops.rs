//! Directives about the loops of a stage or of one of its specialisations.

use super::drafter::Drafter;
use super::func_draft::Request;
use super::said::float_mode;
use crate::plan::convert;
use crate::plan::diagnostics::Problem;
use crate::plan::expressions::{expressions, reachable};
use crate::plan::stage::{Applied, Atomic, Source, StageDraft, UseDraft, WithDraft};
use crate::plan::types::{Prefetch, Source as Read, StageVar, Used};
use crate::schedule::{Condition, Directive, Identity, LoopKind, Site, Subject, Tail, Verb, closest};
use crate::tuning::{MOST_AHEAD, SHOWN_NAMES};
use halide_core::ids::FuncId;
use halide_core::pipeline::{Kind, Pipeline};
use halide_ir::{Expr, build};
use std::cmp::Reverse;
use std::collections::BTreeSet;

impl Drafter<'_, '_, '_> {
    /// Applies a directive to a stage; returns what is wrong with it, if that is new.
    pub(super) fn stage_directive(
        &mut self,
        number: usize,
        directive: &Directive,
        func: FuncId,
        stage: &mut StageDraft,
    ) -> Option<Problem> {
        let text = directive.verb.to_string();
        let source = Source { number, at: directive.at, text: &text };
        let result = match &directive.verb {
            Verb::Specialize(condition) => self.specialize(&directive.subject, condition, func, stage),
            Verb::ComputeWith { site, align, each } => self.with(&directive.subject, func, site).map(|leader| {
                let var = site.var.clone();
                stage.with = Some(WithDraft { leader, var, align: *align, each: each.clone(), directive: number });
            }),
            Verb::Atomic { .. } if !stage.facts.is_update => {
                Err(Some(Problem::AtomicOfPure { of: stage.subject.clone() }))
            }
            Verb::Atomic { any_order } => {
                stage.atomic = Some(Atomic { any_order: *any_order });
                Ok(())
            }
            Verb::Prefetch { what, at, from, offset, bound } => {
                let near = match offset.saturating_abs() {
                    value if value > MOST_AHEAD => {
                        Err(Some(Problem::TooLarge { what: "distance of a prefetch", value, most: MOST_AHEAD }))
                    }
                    _ => self.prefetch(func, stage, what, at, from),
                };
                near.map(|(what, at, from)| {
                    stage.prefetches.push(Prefetch { what, at, from, offset: *offset, bound: *bound });
                })
            }
            Verb::Monoid { identity, commutes } => self.check_monoid(&directive.subject, func, identity, *commutes),
            Verb::SpecializeFail(message) => {
                stage.fail = Some((message.clone(), directive.at));
                Ok(())
            }
            verb if stage.options.set(verb) => Ok(()),
            verb => self.loop_directive(verb, func, stage, &source),
        };
        let problem = result.err()?;
        match &directive.verb {
            Verb::Split { outer, inner, .. } => stage.break_names(&[outer, inner]),
            Verb::Fuse { fused, .. } => stage.break_names(&[fused]),
            Verb::Skew { skewed, .. } => stage.break_names(&[skewed]),
            Verb::Rename { to, .. } => stage.break_names(&[to]),
            _ => {}
        }
        problem
    }

    /// The stage that `compute_with` names.
    fn with(&self, subject: &Subject, func: FuncId, site: &Site) -> Applied<(FuncId, usize)> {
        if !subject.specializations.is_empty() {
            return Err(Some(Problem::WholeStage { of: self.schedule.subject_text(subject) }));
        }
        if site.func == subject.func {
            return Err(Some(Problem::WithItself { func: site.func.clone() }));
        }
        match self.site(func, site).map_err(Some)? {
            Request::At { func, stage, .. } => Ok((func, stage)),
            Request::Inline | Request::Root => Err(None),
        }
    }

    /// Resolves the names in a `prefetch`: a source that the stage reads, and loops of the stage.
    fn prefetch(
        &self,
        func: FuncId,
        stage: &StageDraft,
        what: &str,
        at: &str,
        from: &str,
    ) -> Applied<(Read, StageVar, StageVar)> {
        let p = self.pipeline;
        let source = match self.known_func(what) {
            Some(source) => Read::Func(source),
            None => match p.images.enumerate().find(|(_, i)| i.name == what) {
                Some((image, _)) => Read::Image(image),
                None => {
                    let names = p.funcs.iter().map(|f| f.name.as_str()).chain(p.images.iter().map(|i| i.name.as_str()));
                    let near = closest(what, names).map(str::to_string);
                    return Err(Some(Problem::UnknownSource { name: what.to_string(), near }));
                }
            },
        };
        if !reads(p, func, source) {
            return Err(Some(Problem::PrefetchNotRead { of: stage.subject.clone(), what: what.to_string() }));
        }
        let (inner, outer) = (stage.find(at)?, stage.find(from)?);
        match outer <= inner {
            true => Ok((source, stage.loops[inner].var, stage.loops[outer].var)),
            false => Err(Some(Problem::PrefetchFrom { at: at.to_string(), from: from.to_string() })),
        }
    }

    fn check_monoid(&self, subject: &Subject, func: FuncId, identity: &[Identity], commutes: bool) -> Applied {
        let of = self.schedule.subject_text(subject);
        if !subject.specializations.is_empty() {
            return Err(Some(Problem::WholeStage { of }));
        }
        if subject.stage == 0 {
            return Err(Some(Problem::MonoidOfPure { of }));
        }
        let made = self.monoid(func, subject.stage, identity, commutes);
        made.map(|_| ()).map_err(|why| Some(Problem::NoMonoid { of, why }))
    }

    fn loop_directive(&self, verb: &Verb, func: FuncId, stage: &mut StageDraft, source: &Source<'_>) -> Applied {
        match verb {
            Verb::Split { var, outer, inner, factor, tail } => {
                stage.find(var)?;
                let factor = self.amount(func, "factor", 1, factor).map_err(Some)?;
                stage.split([var, outer, inner], factor, *tail, source)?;
            }
            Verb::Fuse { inner, outer, fused } => stage.fuse(inner, outer, fused, source)?,
            Verb::Skew { var, by, along, skewed } => stage.skew(var, *by, along, skewed, source)?,
            Verb::Rename { from, to } => stage.rename(from, to, source)?,
            Verb::Reorder(vars) => stage.reorder(vars)?,
            Verb::Mark { kind, var, factor: None, .. } => stage.mark(var, *kind, source)?,
            Verb::Mark { kind, var, factor: Some(factor), tail } => {
                stage.find(var)?;
                let factor = self.amount(func, "factor", 1, factor).map_err(Some)?;
                mark_part(stage, *kind, var, factor, *tail, source)?;
            }
            Verb::Use { instruction, axes } => self.use_instruction(instruction, axes, stage, source)?,
            Verb::GpuSingleThread => stage.single_thread(source.number),
            Verb::Partition { var, how } => {
                let position = stage.find(var)?;
                stage.loops[position].partition = *how;
                stage.loops[position].at = source.at;
            }
            // `said` reads it.
            Verb::Float(_) => {}
            // About a stage, but not its loops: `stage_directive` and the options of the stage take them.
            Verb::Specialize(_) | Verb::SpecializeFail(_) | Verb::ComputeWith { .. } | Verb::Atomic { .. } => {}
            Verb::Prefetch { .. } | Verb::Monoid { .. } | Verb::AllowRaceConditions => {}
            Verb::StreamStores | Verb::StreamLoads | Verb::CacheStores | Verb::NeverUnroll => {}
            // Of Funcs and of the graph: these do not come here.
            Verb::ComputeRoot
            | Verb::Memoize
            | Verb::ComputeAt(_)
            | Verb::ComputeInline
            | Verb::StoreRoot
            | Verb::StoreAt(_)
            | Verb::RingBuffer(_)
            | Verb::Async => {}
            Verb::HoistStorageRoot | Verb::HoistStorage(_) | Verb::ReorderStorage(_) | Verb::AlignStorage { .. } => {}
            Verb::FoldStorage { .. } | Verb::BoundStorage { .. } | Verb::StoreIn(_) | Verb::Copy { .. } => {}
            Verb::SetEstimate { .. } | Verb::SetEstimates(_) | Verb::Bound { .. } | Verb::BoundExtent { .. } => {}
            Verb::AlignBounds { .. } | Verb::AlignExtent { .. } | Verb::SplitStorage { .. } => {}
            Verb::In { .. } | Verb::CloneIn { .. } | Verb::Rfactor { .. } | Verb::TupleStorage { .. } => {}
        }
        Ok(())
    }

    /// Makes loops those of the axes of an instruction.
    fn use_instruction(
        &self,
        name: &str,
        axes: &[(String, String)],
        stage: &mut StageDraft,
        source: &Source<'_>,
    ) -> Applied {
        let set = self.instructions.get();
        let Some(instruction) = set.find(name) else {
            let near = closest(name, set.names()).map(str::to_string);
            let mut known: Vec<String> = set.names().map(str::to_string).collect();
            // Those that begin as the name does come first.
            known.sort_by_key(|known| Reverse(common_beginning(known, name)));
            let others = known.len().saturating_sub(SHOWN_NAMES);
            known.truncate(SHOWN_NAMES);
            return Err(Some(Problem::UnknownInstruction { name: name.to_string(), known, others, near }));
        };
        let names = || instruction.axes().iter().map(|axis| axis.name.clone()).collect::<Vec<_>>();
        let mut vars = Vec::new();
        for axis in instruction.axes() {
            let given: Vec<&String> = axes.iter().filter(|(name, _)| *name == axis.name).map(|(_, var)| var).collect();
            let [var] = given[..] else {
                let (instruction, axis) = (name.to_string(), axis.name.clone());
                return Err(Some(Problem::InstructionAxis { instruction, axis, count: given.len() }));
            };
            vars.push(stage.loops[stage.find(var)?].var);
        }
        if let Some((axis, _)) = axes.iter().find(|(axis, _)| !names().contains(axis)) {
            let (instruction, axis) = (name.to_string(), axis.clone());
            return Err(Some(Problem::UnknownInstructionAxis { instruction, axis, axes: names() }));
        }
        if let Some((n, var)) = vars.iter().enumerate().find(|(n, var)| vars[..*n].contains(var)) {
            let (var, axis) = (stage.name(*var).to_string(), names()[n].clone());
            return Err(Some(Problem::InstructionLoopTwice { instruction: name.to_string(), axis, var }));
        }
        for (axis, var) in instruction.axes().iter().zip(&vars) {
            let loop_name = stage.name(*var).to_string();
            stage.mark(&loop_name, axis.runs, source)?;
        }
        let (instruction, emits) = (name.to_string(), instruction.mnemonic().map(str::to_string));
        let plan = Used { instruction, vars, emits, call: None, at: source.at };
        stage.uses.push(UseDraft { plan, directive: source.number });
        Ok(())
    }

    /// Opens a variant. A condition that makes no sense opens one all the same, so that the others keep their numbers.
    fn specialize(
        &mut self,
        subject: &Subject,
        condition: &Condition,
        func: FuncId,
        stage: &mut StageDraft,
    ) -> Applied {
        let mut path = subject.clone();
        path.specializations.push(stage.variants.len());
        let mut variant = stage.variant(self.schedule.subject_text(&path));
        variant.float = float_mode(self.schedule, &path, self.schedule.len());
        if self.pipeline.outputs.contains(&func) {
            let def = &self.pipeline.funcs[func];
            variant.learn(condition, &def.name, def.dims());
        }
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

/// Returns true if a Func reads a source, itself or through Funcs that it calls.
fn reads(p: &Pipeline, func: FuncId, source: Read) -> bool {
    let (mut seen, mut todo) = (BTreeSet::from([func]), vec![func]);
    while let Some(f) = todo.pop() {
        for stage in &p.funcs[f].stages {
            for e in reachable(p, &expressions(p, stage)) {
                match (&p.exprs[e].kind, source) {
                    (Kind::Image { image, .. }, Read::Image(wanted)) if *image == wanted => return true,
                    (Kind::Call { func: f, .. }, Read::Func(wanted)) if *f == wanted => return true,
                    (Kind::Call { func: f, .. }, _) if seen.insert(*f) => todo.push(*f),
                    _ => {}
                }
            }
        }
    }
    false
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
    (marked.kind, marked.mark, marked.at) = (kind, Some(source.number), source.at);
    Ok(())
}

/// The number of characters that two names have in common in front.
fn common_beginning(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}
