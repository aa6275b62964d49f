//! Pipelines with extern stages in parts: what reads the results of stages, and what computes their inputs.
//!
//! Each part is a pipeline of its own, with those directives of the schedule that speak of its Funcs. A Func that two
//! parts need is in both.

use super::error::Problem;
use super::{Plan, ScheduleError, resolve};
use crate::schedule::Schedule;
use crate::target::Target;
use halide_core::ids::FuncId;
use halide_core::pipeline::Pipeline;
use std::collections::BTreeSet;

/// A part of a pipeline with its part of the schedule.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it computes; results of extern stages are input images.
    pub pipeline: Pipeline,
    /// What is said of that.
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
                    Problem::UnknownFunc { name, .. } => whole.funcs.iter().find(|f| f.name == *name),
                    _ => None,
                };
                if let Some(func) = elsewhere {
                    error.problem = Problem::BesideExtern { name: func.name.clone() };
                }
            }
            errors
        })
    }
}

/// What computes the pipeline's own outputs. Directives that suit no part at all are in this one, where `resolve` reports
/// them.
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

/// What computes the Funcs `outputs`, inputs of an extern stage.
pub fn part(whole: &Pipeline, schedule: &Schedule, outputs: &[FuncId]) -> Part {
    let pipeline = whole.part(Some(outputs));
    let keep = kept(whole, &pipeline, schedule);
    Part { pipeline, schedule: schedule.kept(&keep) }
}

fn kept(whole: &Pipeline, part: &Pipeline, schedule: &Schedule) -> Vec<bool> {
    let names = |p: &Pipeline| p.funcs.iter().map(|f| f.name.clone()).collect::<BTreeSet<String>>();
    schedule.part(&names(part), &names(whole))
}
