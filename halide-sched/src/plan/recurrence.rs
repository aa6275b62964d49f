//! Finds the coordinate along which an update is a recurrence: each iteration reads the element that the one before it
//! stored.

use crate::plan::affine::{Affine, Atom, affine};
use crate::plan::expressions::reachable;
use halide_core::ids::{ExprId, FuncId, RDomId};
use halide_core::pipeline::{Kind, PipelineData, StageDef};
use std::collections::BTreeSet;

/// A recurrence along one coordinate of a Func.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recurrence {
    /// The coordinate.
    pub(super) dim: usize,
    /// The domain of the update.
    pub(super) rdom: RDomId,
    /// The number of the reduction variable that the coordinate follows.
    pub(super) rvar: usize,
    /// The coordinates of the element before: those of the store but for one.
    pub(super) before: Vec<ExprId>,
    /// The coordinate in terms of the variable.
    pub(super) line: Line,
}

/// `start + variable`, or `start - variable` if it falls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) start: Affine,
    pub(super) falls: bool,
}

impl Recurrence {
    /// The coordinates of the element before.
    pub(super) fn before(&self) -> &[ExprId] {
        &self.before
    }

    /// The number of the reduction variable that it goes along.
    pub(super) fn rvar(&self) -> usize {
        self.rvar
    }
}

/// Returns the recurrence that an update is, if all that it reads of its Func is the element that it stores to and the
/// one that the iteration before stored to, along one reduction variable.
pub(super) fn recurrence(pipeline: &PipelineData, func: FuncId, stage: &StageDef) -> Option<Recurrence> {
    let rdom = stage.rdom?;
    if pipeline.sites(stage) > 1 || !reads(pipeline, func, &stage.args).is_empty() {
        return None;
    }
    let mut elsewhere = reads(pipeline, func, &stage.values);
    elsewhere.remove(&stage.args);
    let before = elsewhere.pop_first().filter(|_| elsewhere.is_empty())?;
    let mut found = None;
    for (dim, (&at, &from)) in stage.args.iter().zip(&before).enumerate() {
        if at == from {
            continue;
        }
        let (at, from) = (affine(pipeline, at)?, affine(pipeline, from)?);
        let step = at.minus(&from, 0)?;
        if !step.terms.is_empty() || (step.offset != 0 && found.is_some()) {
            return None;
        }
        if step.offset != 0 {
            let (rvar, line) = line(&at, rdom)?;
            let forward = if line.falls { -1 } else { 1 };
            (step.offset == forward).then_some(())?;
            found = Some((dim, rvar, line));
        }
    }
    let (dim, rvar, line) = found?;
    Some(Recurrence { dim, rdom, rvar, before, line })
}

/// The variable of `rdom` that a coordinate follows step by step, beside what is constant for the run, and how.
pub(super) fn line(form: &Affine, rdom: RDomId) -> Option<(usize, Line)> {
    let mut start = form.clone();
    let mut found = None;
    start.terms.retain(|atom, factor| match *atom {
        Atom::RVar(of, rvar) if of == rdom && found.is_none() => {
            found = Some((usize::from(rvar), *factor));
            false
        }
        _ => true,
    });
    let (rvar, factor) = found.filter(|(_, factor)| matches!(factor, 1 | -1))?;
    let is_uniform = start.terms.keys().all(|atom| matches!(atom, Atom::Uniform(_)));
    is_uniform.then_some((rvar, Line { start, falls: factor < 0 }))
}

/// The coordinates of every read of `func` in `from`.
fn reads(pipeline: &PipelineData, func: FuncId, from: &[ExprId]) -> BTreeSet<Vec<ExprId>> {
    let read = |e: ExprId| match &pipeline.exprs[e].kind {
        Kind::Call { func: f, args, .. } if *f == func => Some(args.clone()),
        _ => None,
    };
    reachable(pipeline, from).into_iter().filter_map(read).collect()
}
