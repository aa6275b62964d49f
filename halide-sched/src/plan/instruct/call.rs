//! Calls of closures in place of the loops of an instruction: the boxes that each call is handed.

use super::meaning::{Axes, Operand, Operands};
use super::view::{View, span};
use crate::plan::affine::{Affine, Atom};
use crate::plan::types::{BoxDim, BoxTerm, InstructionCall};
use crate::schedule::{Form, Instruction, Tile, TileFn};
use halide_core::buffer::AnyBuffer;
use halide_core::error::Location;
use halide_core::externs::{ExternCall, ExternDef, ExternResult};
use halide_core::ids::{ExprId, FuncId};
use halide_core::pipeline::PipelineData;

/// A match of a stage with a form of an instruction that a closure computes.
pub(super) struct Matched<'a> {
    pub(super) pipeline: &'a PipelineData,
    pub(super) at: (FuncId, usize),
    pub(super) form: &'a Form,
    pub(super) meant: &'a Axes,
    pub(super) axes: &'a Axes,
    /// The number of iterations of each axis.
    pub(super) extents: &'a [i64],
}

impl Matched<'_> {
    /// The call, and its closure; `None` if coordinates are too large for numbers.
    pub(super) fn call(
        &self,
        instruction: &Instruction,
        f: &TileFn,
        operands: &Operands,
        place: Option<Location>,
    ) -> Option<(InstructionCall, ExternDef)> {
        let forms = |pipeline: &PipelineData, args: &[ExprId]| {
            args.iter().map(|arg| crate::plan::affine::affine(pipeline, *arg)).collect::<Option<Vec<Affine>>>()
        };
        let (func, stage) = self.at;
        let meaning: &PipelineData = &self.form.pipeline;
        let stored = forms(self.pipeline, &self.pipeline.funcs[func].stages[stage].args)?;
        let meant = forms(meaning, &meaning.funcs[self.form.func].stages[self.form.stage].args)?;
        let result = self.whole_box(&stored)?;
        let result_view = self.view(&meant, &stored)?;
        let (mut boxes, mut views) = (Vec::new(), Vec::new());
        for (image, operand) in operands {
            let Operand { source, element, at, meant } = operand;
            boxes.push((*source, *element, self.whole_box(at)?));
            views.push((meaning.images[*image].name.clone(), self.view(meant, at)?));
        }
        let updates = self.form.stage > 0;
        let def = &self.pipeline.funcs[func];
        let closure = Closure { f: f.clone(), operands: views, result: result_view };
        let at = place.unwrap_or(def.stages[stage].at);
        let of = (def.types[0], def.dims());
        let callee = ExternDef::of_boxes(instruction.name(), of, at, move |call| closure.compute(call));
        Some((InstructionCall { callee: 0, updates, result, operands: boxes }, callee))
    }

    fn view(&self, wanted: &[Affine], found: &[Affine]) -> Option<View> {
        View::new((self.form, self.meant, self.axes), wanted, found, self.extents)
    }

    fn whole_box(&self, coordinates: &[Affine]) -> Option<Vec<BoxDim>> {
        coordinates.iter().map(|coordinate| self.box_dim(coordinate)).collect()
    }

    fn box_dim(&self, coordinate: &Affine) -> Option<BoxDim> {
        let (below, extent) = span(&self.axes.row(coordinate), self.extents)?;
        let number = |n: i128| i64::try_from(n).ok();
        let args = &self.pipeline.funcs[self.at.0].args;
        let term = |(atom, factor): (&Atom, &i128)| {
            let term = match atom {
                Atom::Var(var) => BoxTerm::Pure(args.iter().position(|arg| arg == var)?),
                Atom::RVar(_, dim) => BoxTerm::Reduction(usize::from(*dim)),
                Atom::Uniform(e) => BoxTerm::Uniform(*e),
            };
            Some((term, number(*factor)?))
        };
        let terms = coordinate.terms.iter().map(term).collect::<Option<_>>()?;
        let offset = number(coordinate.offset.checked_add(below)?)?;
        Some(BoxDim { terms, offset, extent: number(extent)? })
    }
}

/// The closure of an instruction with the views of what it is handed.
struct Closure {
    f: TileFn,
    operands: Vec<(String, View)>,
    result: View,
}

impl Closure {
    fn compute(&self, call: &mut ExternCall<'_>) -> ExternResult<()> {
        let named = self.operands.iter().zip(call.inputs());
        let operand = |((name, view), buffer): (&(String, View), &AnyBuffer)| {
            view.to_meaning(buffer.clone()).map(|buffer| (name.clone(), buffer))
        };
        let operands = named.map(operand).collect::<Result<Vec<_>, _>>()?;
        let mins: Vec<i64> = call.region().spans().iter().map(|span| span.min).collect();
        let ty = call.output(0).ty();
        // The only owner of its memory, so that it can be written.
        let output = std::mem::replace(call.output(0), AnyBuffer::new::<i64>(ty, [])?);
        let mut tile = Tile::new(&operands, self.result.to_meaning(output)?);
        self.f.call(&mut tile)?;
        *call.output(0) = self.result.to_box(tile.into_result(), &mins)?;
        Ok(())
    }
}
