//! The images and parameters of a pipeline.

use super::size::Size;
use crate::signature::{Form, SeqForm, Signature};
use halide::prelude::{Expr, ImageParam, IntoExpr, Param, max};
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;
use std::collections::HashMap;

/// The parameter that says how many elements of a buffer count. No name of a text has a point in it.
pub(crate) fn length_name(buffer: &str) -> String {
    format!("{buffer}.length")
}

/// The images and parameters of a pipeline.
#[derive(Clone)]
pub(crate) struct Images {
    pub(crate) images: Vec<ImageParam>,
    /// The number of elements of each image that count: an empty sequence is an image of one element.
    lengths: Vec<Expr>,
    pub(crate) scalars: Vec<Expr>,
    /// The number of elements of all rows, by the buffer of offsets.
    elements: HashMap<usize, Size>,
}

/// A parameter of a type.
fn parameter(name: &str, ty: ScalarType) -> Expr {
    match ty {
        Bool => Param::<bool>::new(name).expr(),
        I8 => Param::<i8>::new(name).expr(),
        I16 => Param::<i16>::new(name).expr(),
        I32 => Param::<i32>::new(name).expr(),
        I64 => Param::<i64>::new(name).expr(),
        U8 => Param::<u8>::new(name).expr(),
        U16 => Param::<u16>::new(name).expr(),
        U32 => Param::<u32>::new(name).expr(),
        U64 => Param::<u64>::new(name).expr(),
        F16 => Param::<halide_core::value::f16>::new(name).expr(),
        BF16 => Param::<halide_core::value::bf16>::new(name).expr(),
        F32 => Param::<f32>::new(name).expr(),
        F64 => Param::<f64>::new(name).expr(),
    }
}

impl Images {
    pub(crate) fn new(signature: &Signature) -> Images {
        let image = |(name, ty, is_offsets): &(String, ScalarType, bool)| {
            let image = ImageParam::new(name, *ty, 1);
            image.dim(0).set_min(0);
            if *is_offsets {
                image.promise_growing(0);
                image.promise_values(0, i64::from(i32::MAX));
            }
            image
        };
        let images: Vec<ImageParam> = signature.buffers.iter().map(image).collect();
        let rows = RowElements::of(signature);
        // Buffers in the same rows have as many elements: code that reads both knows it.
        let length = |buffer: usize| match &signature.buffers[rows.first_like(buffer)] {
            (_, _, true) => images[buffer].width(),
            (name, _, false) => Param::<i32>::new(&length_name(name)).with_range(0, i32::MAX).expr(),
        };
        let lengths: Vec<Expr> = (0..images.len()).map(length).collect();
        for ((image, length), (_, _, is_offsets)) in images.iter().zip(&lengths).zip(&signature.buffers) {
            if !is_offsets {
                image.dim(0).set_extent(max(*length, 1));
            }
        }
        let scalars = signature.scalars.iter().map(|(name, ty)| parameter(name, *ty)).collect();
        Images { images, lengths, scalars, elements: rows.sizes }
    }

    /// The number of elements of all rows of a descriptor.
    pub(crate) fn elements_of(&self, descriptor: usize) -> Option<Size> {
        self.elements.get(&descriptor).cloned()
    }

    /// A size as an expression.
    pub(crate) fn size(&self, size: &Size) -> Expr {
        size.expr(&|image| self.lengths[image], &|scalar| self.scalars[scalar])
    }
}

/// The number of elements of a sequence that is an argument.
pub(crate) fn length(seq: &SeqForm) -> Size {
    match seq {
        SeqForm::Values(_, buffer) => Size::Extent(*buffer),
        SeqForm::Zipped(parts) => parts.first().map_or(Size::Constant(0), length),
        SeqForm::Rows(offsets, _) => {
            Size::binary(halide_core::ops::BinOp::Sub, Size::Extent(*offsets), Size::Constant(1))
        }
    }
}

/// The elements of the rows of descriptors.
#[derive(Default)]
struct RowElements {
    /// The number of elements of all rows, by descriptor.
    sizes: HashMap<usize, Size>,
    /// Buffers of elements, each with the descriptor of the rows.
    buffers: Vec<(usize, usize)>,
}

impl RowElements {
    fn of(signature: &Signature) -> RowElements {
        let mut found = RowElements::default();
        signature.arguments.iter().for_each(|form| found.argument(form));
        found
    }

    fn argument(&mut self, form: &Form) {
        match form {
            Form::Scalar(..) => {}
            Form::Tuple(parts) => parts.iter().for_each(|part| self.argument(part)),
            Form::Seq(seq) => self.sequence(seq, None),
        }
    }

    fn sequence(&mut self, seq: &SeqForm, around: Option<usize>) {
        match seq {
            SeqForm::Values(_, buffer) => self.buffers.extend(around.map(|descriptor| (descriptor, *buffer))),
            SeqForm::Zipped(parts) => parts.iter().for_each(|part| self.sequence(part, around)),
            SeqForm::Rows(offsets, rows) => {
                self.sizes.entry(*offsets).or_insert_with(|| length(rows));
                self.sequence(rows, Some(*offsets));
            }
        }
    }

    /// The first buffer that has as many elements as this one, as far as descriptors say.
    fn first_like(&self, buffer: usize) -> usize {
        let Some((own, _)) = self.buffers.iter().find(|(_, other)| *other == buffer) else { return buffer };
        self.buffers.iter().filter(|(other, _)| other == own).map(|(_, other)| *other).min().unwrap_or(buffer)
    }
}

/// The constant 0, or `False`.
pub(crate) fn zero(ty: ScalarType) -> Expr {
    halide_core::expr::dynamic::constant(Scalar::zero(ty))
}
