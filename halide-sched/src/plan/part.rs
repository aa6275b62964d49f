//! Pipelines with extern stages or memoized Funcs in parts: what reads the results of stages, and what computes their
//! inputs; what reads memoized Funcs, and what computes each of them.
//!
//! Each part is a pipeline of its own, with those directives of the schedule that speak of its Funcs. A Func that two
//! parts need is in both.

use super::diagnostics::Problem;
use super::diagnostics::ScheduleError;
use super::resolve::resolve;
use super::types::Plan;
use crate::schedule::{Directive, Schedule, Subject, Verb};
use halide_core::ids::FuncId;
use halide_core::pipeline::{FuncDef, Kind, Node, Pipeline, PipelineData, StageDef};
use halide_core::types::ScalarType;
use halide_ir::target::Target;
use std::collections::BTreeSet;

/// A part of a pipeline with its part of the schedule.
#[derive(Clone, Debug)]
pub struct Part {
    /// The Funcs of the part; results of extern stages are input images.
    pub pipeline: Pipeline,
    /// The directives about these Funcs.
    pub schedule: Schedule,
}

impl Part {
    /// The plan of the part.
    ///
    /// # Errors
    /// As of [`resolve`]; where a directive names a Func of `whole` that is in another part, it says so.
    pub fn resolve(&self, whole: &Pipeline, target: &Target) -> Result<Plan, Vec<ScheduleError>> {
        resolve(&self.pipeline, &self.schedule, target).map_err(|mut errors| {
            for error in &mut errors {
                let elsewhere = match &error.problem {
                    Problem::UnknownFunc { name, .. } if whole.funcs.iter().any(|f| f.name == *name) => {
                        Problem::BesideExtern { name: name.clone() }
                    }
                    Problem::UnknownBuffer { name, .. } if has_buffer(whole, name) => {
                        Problem::InAnotherPart { name: name.clone() }
                    }
                    _ => continue,
                };
                error.problem = elsewhere;
            }
            errors
        })
    }
}

/// The Funcs that a schedule memoizes, in the order of the pipeline.
pub fn memoized(whole: &Pipeline, schedule: &Schedule) -> Vec<FuncId> {
    let said = |func: &FuncId| {
        let is_own = |d: &Directive| matches!(d.verb, Verb::Memoize) && d.subject.func == whole.funcs[*func].name;
        schedule.directives().iter().any(is_own)
    };
    whole.order.iter().copied().filter(said).collect()
}

/// The part that computes the pipeline's own outputs, of images that stand for the `memoized` Funcs:
/// [`FuncDef::cut_image`]. Directives that suit no part at all are in this one.
pub fn part_behind(whole: &Pipeline, schedule: &Schedule, memoized: &[FuncId]) -> Part {
    let pipeline = whole.part_without(None, memoized);
    let mut keep = kept(whole, &pipeline, schedule);
    let mut elsewhere = vec![false; keep.len()];
    for func in memoized {
        let others: Vec<FuncId> = memoized.iter().copied().filter(|other| other != func).collect();
        let there = kept(whole, &whole.part_without(Some(&[*func]), &others), schedule);
        elsewhere.iter_mut().zip(there).for_each(|(e, t)| *e |= t);
    }
    keep.iter_mut().zip(elsewhere).for_each(|(keep, elsewhere)| *keep |= !elsewhere);
    Part { pipeline, schedule: without_memoize(&schedule.kept(&keep)) }
}

/// The part that computes one of the `memoized` Funcs, of images that stand for the others.
pub fn memoized_part(whole: &Pipeline, schedule: &Schedule, func: FuncId, memoized: &[FuncId]) -> Part {
    let others: Vec<FuncId> = memoized.iter().copied().filter(|other| *other != func).collect();
    part_without(whole, &without_memoize(schedule), &[func], &others)
}

/// The schedule for parts in which no Func is memoized.
fn without_memoize(schedule: &Schedule) -> Schedule {
    let keep: Vec<bool> = schedule.directives().iter().map(|d| !matches!(d.verb, Verb::Memoize)).collect();
    schedule.kept(&keep)
}

/// Returns the part that computes the pipeline's own outputs. Directives that suit no part at all are in this one,
/// where `resolve` reports them.
pub fn main_part(whole: &Pipeline, schedule: &Schedule) -> Part {
    if whole.externs.is_empty() {
        return Part { pipeline: whole.clone(), schedule: schedule.clone() };
    }
    let pipeline = whole.part(None);
    let mut keep = kept(whole, &pipeline, schedule);
    let mut elsewhere = vec![false; keep.len()];
    for stage in &whole.externs {
        let there = kept(whole, &whole.part(Some(&stage.funcs())), schedule);
        elsewhere.iter_mut().zip(there).for_each(|(e, t)| *e |= t);
    }
    keep.iter_mut().zip(elsewhere).for_each(|(keep, elsewhere)| *keep |= !elsewhere);
    Part { pipeline, schedule: schedule.kept(&keep) }
}

/// Returns the part that computes the Funcs `outputs`, inputs of an extern stage.
pub fn part(whole: &Pipeline, schedule: &Schedule, outputs: &[FuncId]) -> Part {
    part_without(whole, schedule, outputs, &[])
}

fn part_without(whole: &Pipeline, schedule: &Schedule, outputs: &[FuncId], cut: &[FuncId]) -> Part {
    let (copied, given) = with_copies(whole, schedule, outputs);
    let pipeline = copied.part_without(Some(&given), cut);
    let keep = kept(whole, &pipeline, schedule);
    let kept = schedule.kept(&keep);
    // What is copied is no output any more, so it is not computed as one by itself.
    let is_placed = |name: &str| kept.directives().iter().any(|d| d.subject.func == name && places(&d.verb));
    let copies = outputs.iter().zip(&given).filter(|(func, given)| func != given);
    let names = copies.map(|(func, _)| &whole.funcs[*func].name).filter(|name| !is_placed(name));
    let root = |name: &String| Directive { subject: Subject::func(name), verb: Verb::ComputeRoot, at: None };
    let directives: Vec<Directive> = names.map(root).chain(kept.directives().iter().cloned()).collect();
    Part { pipeline, schedule: directives.into() }
}

/// Returns true if an image or an output is called `name`.
fn has_buffer(whole: &Pipeline, name: &str) -> bool {
    let is_output = |func: &FuncId| whole.funcs[*func].name == name;
    whole.images.iter().any(|image| image.name == name) || whole.outputs.iter().any(is_output)
}

fn places(verb: &Verb) -> bool {
    matches!(verb, Verb::ComputeRoot | Verb::Memoize | Verb::ComputeAt(_) | Verb::ComputeInline)
}

/// Returns true if a directive is about the region of a Func, or about its memory, which must be ours.
fn shapes(verb: &Verb) -> bool {
    matches!(verb, Verb::Bound { .. } | Verb::BoundExtent { .. } | Verb::AlignBounds { .. } | Verb::AlignExtent { .. })
        || matches!(verb, Verb::AlignStorage { .. } | Verb::FoldStorage { .. } | Verb::BoundStorage { .. })
        || matches!(verb, Verb::StoreIn(_) | Verb::SplitStorage { .. } | Verb::TupleStorage { .. })
}

/// The pipeline with a copy of each of `outputs` that has updates or directives about its region or memory, and what is
/// to be computed: those that have none, and the copies. An update may read and write more of its Func than is asked
/// for, and a region may be rounded up, which the buffer of an output would have to hold.
fn with_copies(whole: &Pipeline, schedule: &Schedule, outputs: &[FuncId]) -> (Pipeline, Vec<FuncId>) {
    let mut data = PipelineData::clone(whole);
    let mut given = Vec::new();
    for &func in outputs {
        let def = data.funcs[func].clone();
        let has_region = schedule.directives().iter().any(|d| d.subject.func == def.name && shapes(&d.verb));
        if def.is_pure() && !has_region {
            given.push(func);
            continue;
        }
        let args = def.stages[0].args.clone();
        let call = |(element, ty): (usize, &ScalarType)| Node {
            kind: Kind::Call { func, element: element as u8, args: args.clone() },
            ty: *ty,
        };
        let calls: Vec<Node> = def.types.iter().enumerate().map(call).collect();
        let values = calls.into_iter().map(|node| data.exprs.push(node)).collect();
        let stages = vec![StageDef { args, values, rdom: None, at: def.at }];
        let name = format!("{}$given", def.name);
        let copy = data.funcs.push(FuncDef { said: name.clone(), name, stages, ..def });
        data.order.push(copy);
        given.push(copy);
    }
    (Pipeline::from_data(data), given)
}

fn kept(whole: &Pipeline, part: &Pipeline, schedule: &Schedule) -> Vec<bool> {
    let names = |p: &Pipeline| p.funcs.iter().map(|f| f.name.clone()).collect::<BTreeSet<String>>();
    schedule.part(&names(part), &names(whole))
}
