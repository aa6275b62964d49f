//! Proof that an output may be computed in the memory of an input.
//!
//! What is wanted is that the result is the same as with a copy of the input. That is so if nothing reads an element of
//! the input after the output's element at that place was written. Two readers keep to it under every schedule:
//! definitions of Funcs that are computed whole, outside of all loops, before the output is; and the output's own first
//! definition where it reads the input at the coordinates that it writes, and computes no point twice. Everything else
//! is refused, though some schedules would do.

use crate::lower::nests::ctx::{Ctx, Source, Template};
use crate::lower::options::LowerOptions;
use crate::plan::{Level, Plan, PlanTail, StagePlan, Transform};
use halide_core::error::Location;
use halide_core::ids::{FuncId, ImageId};
use halide_core::pipeline::NoteKind;
use halide_core::types::ScalarType;
use halide_ir::{BufId, Expr, ExprKind, build};
use std::fmt;

/// An output that cannot be computed in the memory of an input, with the reason.
#[derive(Clone, PartialEq, Eq)]
pub struct InPlaceError {
    /// The input.
    pub image: String,
    /// The output.
    pub output: String,
    /// The reason.
    pub problem: InPlaceProblem,
}

/// A reason that an output cannot be computed in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InPlaceProblem {
    /// Elements of two types.
    Type {
        /// The input's.
        image: ScalarType,
        /// The output's.
        output: ScalarType,
    },
    /// Two numbers of dimensions.
    Dims {
        /// The input's.
        image: usize,
        /// The output's.
        output: usize,
    },
    /// The output's first definition reads the input at other coordinates than it writes.
    Elsewhere {
        /// The definition.
        at: Location,
    },
    /// An update of the output reads the input, which its first definition has overwritten.
    Update {
        /// Number of the update, from 0.
        number: usize,
        /// The definition.
        at: Location,
    },
    /// Another Func reads the input while the output is being computed, or later.
    Reader {
        /// Name of that Func.
        func: String,
        /// The definition that reads.
        at: Location,
    },
    /// A split computes points twice.
    Twice {
        /// The variable that is split.
        var: String,
        /// Location of the split in the schedule, if it has one.
        at: Option<Location>,
    },
    /// The algorithm requires something of its values, which is found out while the output is being written.
    Requires,
    /// An extern stage may read the input.
    Extern {
        /// The stage.
        stage: String,
    },
    /// Values of the input are kept beyond the run.
    Memoized {
        /// The memoized Func.
        func: String,
    },
    /// A point of the output has several elements, which are stored one after the other.
    Tuple,
}

impl InPlaceError {
    /// One clause: the reason.
    pub fn reason(&self) -> String {
        let InPlaceError { image, output, problem } = self;
        match problem {
            InPlaceProblem::Type { image, output } => {
                format!("one has elements of {output}, the other of {image}")
            }
            InPlaceProblem::Dims { image, output } => format!("one has {output} dimensions, the other {image}"),
            InPlaceProblem::Elsewhere { at } => format!(
                "the definition at {at} reads `{image}` at other coordinates than it writes, so it may read what it has \
                 overwritten"
            ),
            InPlaceProblem::Update { number, at } => {
                format!("update {number}, at {at}, reads `{image}`, which the first definition has overwritten by then")
            }
            InPlaceProblem::Reader { func, at } => {
                format!("`{func}` reads `{image}`, at {at}, and is not computed whole before `{output}` is")
            }
            InPlaceProblem::Twice { var, at } => {
                let at = at.map_or(String::new(), |at| format!(" at {at}"));
                format!(
                    "the split of `{var}`{at} computes some points twice, the second time of what the first has overwritten"
                )
            }
            InPlaceProblem::Extern { stage } => {
                format!("the extern stage `{stage}` may read that memory at any time")
            }
            InPlaceProblem::Memoized { func } => {
                format!("`{func}` is memoized, so its values stay with a memory that nobody writes")
            }
            InPlaceProblem::Requires => {
                "the algorithm requires something of its values, and a run that fails must not have changed its input"
                    .into()
            }
            InPlaceProblem::Tuple => "it is a tuple, whose elements are stored one after the other".into(),
        }
    }

    /// The remedy.
    pub fn help(&self) -> String {
        let InPlaceError { output, problem, .. } = self;
        let or = match problem {
            InPlaceProblem::Type { .. }
            | InPlaceProblem::Dims { .. }
            | InPlaceProblem::Extern { .. }
            | InPlaceProblem::Memoized { .. }
            | InPlaceProblem::Requires => return "give two buffers".into(),
            InPlaceProblem::Elsewhere { .. } => {
                "read it in a Func that is computed before, with compute_root()".to_string()
            }
            InPlaceProblem::Update { .. } => format!("read `{output}` itself in the update"),
            InPlaceProblem::Reader { func, .. } => format!("compute `{func}` by itself: `{func}: compute_root()`"),
            InPlaceProblem::Twice { .. } => "split with another tail, as GuardWithIf".into(),
            InPlaceProblem::Tuple => "make it several Funcs".into(),
        };
        format!("give two buffers, or {or}")
    }
}

impl fmt::Display for InPlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InPlaceError { image, output, .. } = self;
        write!(
            f,
            "`{output}` cannot be computed in the memory of `{image}`: {}\n  help: {}",
            self.reason(),
            self.help()
        )
    }
}

halide_core::debug_is_display!(InPlaceError);

impl std::error::Error for InPlaceError {}

/// The proof that an output may be computed in the memory of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InPlaceProof {
    /// True if the output's first definition copies the memory to itself, so that it can be left out.
    pub is_copy: bool,
    /// True if the proof is for code with exact tails alone: other code may compute points of the output twice, since a
    /// last chunk is shifted inwards, or its loops are those of others.
    pub needs_exact_tails: bool,
}

/// Proves that element `element` of an output may be computed in the memory of `image`.
///
/// # Errors
/// See [`InPlaceProblem`]: the first reason found.
pub fn in_place(plan: &Plan, image: ImageId, output: FuncId, element: usize) -> Result<InPlaceProof, InPlaceError> {
    let problem = |problem| {
        let (image, output) = (plan.pipeline.images[image].name.clone(), plan.pipeline.funcs[output].name.clone());
        InPlaceError { image, output, problem }
    };
    let is_copy = prove(plan, image, output, element).map_err(problem)?;
    Ok(InPlaceProof { is_copy, needs_exact_tails: overlaps(plan, output) })
}

fn overlaps(plan: &Plan, output: FuncId) -> bool {
    let shifts = |t: &Transform| matches!(t, Transform::Split { tail: PlanTail::AutoShift, .. });
    let stages = plan.funcs[output].stages.iter().flat_map(|stage| stage.with_loops());
    plan.groups.iter().any(|group| group.contains(&output)) || stages.flat_map(|stage| &stage.transforms).any(shifts)
}

fn prove(plan: &Plan, image: ImageId, output: FuncId, element: usize) -> Result<bool, InPlaceProblem> {
    let (input, def) = (&plan.pipeline.images[image], &plan.pipeline.funcs[output]);
    if input.ty != def.types[element] {
        return Err(InPlaceProblem::Type { image: input.ty, output: def.types[element] });
    }
    if input.dims != def.dims() {
        return Err(InPlaceProblem::Dims { image: input.dims, output: def.dims() });
    }
    if plan.pipeline.notes.iter().any(|note| note.kind == NoteKind::Require) {
        return Err(InPlaceProblem::Requires);
    }
    let options = LowerOptions { exact_tails: true, ..LowerOptions::default() };
    let ctx = Ctx::new(plan, &options);
    // Stages that are computed together stand where the last of them does (`build_nests`).
    let place = |func: FuncId| {
        let with = plan.groups.iter().find(|g| g.contains(&func));
        plan.pipeline.order.iter().rposition(|f| *f == func || with.is_some_and(|g| g.contains(f)))
    };
    for (&(func, stage), template) in ctx.templates.iter().filter(|((func, _), _)| ctx.used.contains(func)) {
        if !template.reads.iter().any(|r| r.source == Source::Image(image)) {
            continue;
        }
        let at = plan.pipeline.funcs[func].stages[stage].at;
        if func != output {
            if plan.funcs[func].compute != Level::Root || place(func) >= place(output) {
                return Err(InPlaceProblem::Reader { func: plan.pipeline.funcs[func].name.clone(), at });
            }
            continue;
        }
        if stage > 0 {
            return Err(InPlaceProblem::Update { number: stage - 1, at });
        }
        if def.types.len() > 1 {
            return Err(InPlaceProblem::Tuple);
        }
        if !template.reads.iter().all(|r| r.source != Source::Image(image) || is_own_point(template, &r.args)) {
            return Err(InPlaceProblem::Elsewhere { at });
        }
        computes_once(&plan.funcs[func].stages[0])?;
    }
    let first = &ctx.templates[&(output, 0)];
    Ok(is_copy(first, ctx.program.image_buffers[image]))
}

fn is_own_point(template: &Template, args: &[Expr]) -> bool {
    args.len() == template.dims.len() && args.iter().zip(&template.dims).all(|(arg, dim)| *arg == build::sym(*dim))
}

/// Returns true if a definition is nothing but a read of `image` at its own coordinates.
fn is_copy(template: &Template, image: BufId) -> bool {
    let [site] = &template.sites[..] else { return false };
    match &site.values[..] {
        [value] => {
            matches!(value.kind(), ExprKind::Read { buf, args } if *buf == image && is_own_point(template, args))
        }
        _ => false,
    }
}

/// Refuses tails that compute points twice, in every variant of a stage.
fn computes_once(plan: &StagePlan) -> Result<(), InPlaceProblem> {
    for variant in plan.with_loops() {
        for t in &variant.transforms {
            let Transform::Split { var, tail, at, .. } = t else { continue };
            match tail {
                PlanTail::ShiftInwards | PlanTail::ShiftInwardsAndBlend | PlanTail::RoundUpAndBlend => {
                    return Err(InPlaceProblem::Twice { var: variant.vars[*var].name.clone(), at: *at });
                }
                PlanTail::AutoShift
                | PlanTail::RoundUp
                | PlanTail::GuardWithIf
                | PlanTail::Predicate
                | PlanTail::PredicateLoads
                | PlanTail::PredicateStores => {}
            }
        }
    }
    Ok(())
}
