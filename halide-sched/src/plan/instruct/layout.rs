//! Operands in memory: neighbours along an axis are neighbours there, where an instruction asks for that.

use super::funcs::Funcs;
use super::meaning::{Axes, Operand, Operands};
use crate::plan::diagnostics::Problem;
use crate::plan::types::Source;
use crate::schedule::{Form, Instruction};
use halide_core::ids::ImageId;
use halide_core::pipeline::{DimField, Kind};
use halide_core::shape::{BufferOf, Law};

/// The first operand that does not lie as the instruction reads it.
pub(super) fn problem(
    of: &Funcs<'_>,
    instruction: &Instruction,
    form: &Form,
    operands: &Operands,
    axes: &Axes,
) -> Option<Problem> {
    form.dense.iter().find_map(|(image, axis)| {
        let operand = operands.get(image)?;
        let moved = moved(operand, axes, *axis);
        let densest = densest(of, operand.source);
        let names = || match operand.source {
            Source::Func(func) => of.pipeline.funcs[func].name.clone(),
            Source::Image(image) => of.pipeline.images[image].name.clone(),
        };
        (moved.is_none() || moved != densest).then(|| Problem::InstructionLayout {
            instruction: instruction.name().to_string(),
            operand: form.pipeline.images[*image].name.clone(),
            source: names(),
            var: axes.names[*axis].clone(),
            moved: moved.map(|dim| dim as u32),
            densest: densest.map(|dim| dim as u32),
        })
    })
}

/// The one coordinate that a step along an axis moves by 1.
fn moved(operand: &Operand, axes: &Axes, axis: usize) -> Option<usize> {
    let steps: Vec<i128> = operand.at.iter().map(|form| axes.row(form)[axis]).collect();
    let dim = steps.iter().position(|step| *step != 0)?;
    let alone = steps.iter().filter(|step| **step != 0).count() == 1;
    (alone && steps[dim] == 1).then_some(dim)
}

/// The dimension whose neighbours are neighbours in memory.
fn densest(of: &Funcs<'_>, source: Source) -> Option<usize> {
    match source {
        Source::Func(func) => of.drafts[func].storage.first().map(|stored| stored.dim),
        Source::Image(image) => (0..of.pipeline.images[image].dims).find(|dim| is_dense(of, image, *dim)),
    }
}

/// Returns true if a dimension of an image has the stride 1: by a rule, or as the first one has it without a rule.
fn is_dense(of: &Funcs<'_>, image: ImageId, dim: usize) -> bool {
    let mut rules = of
        .pipeline
        .shapes
        .iter()
        .filter(|rule| rule.of == BufferOf::Image(image) && rule.dim == dim && rule.field == DimField::Stride);
    match rules.next().map(|rule| rule.law) {
        Some(Law::Is(e)) => {
            matches!(of.pipeline.exprs[e].kind, Kind::Const(value) if value.as_i128() == 1)
        }
        Some(Law::MultipleOf(_)) => false,
        None => dim == 0,
    }
}
