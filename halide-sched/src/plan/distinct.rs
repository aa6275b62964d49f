//! Coordinates that are elements of an image whose elements are promised to be distinct: equal if their own coordinates
//! are.

use super::affine::{Affine, affine};
use halide_core::ids::{ExprId, ImageId};
use halide_core::ops::BinOp;
use halide_core::pipeline::{Kind, PipelineData};
use halide_core::types::ScalarType;

/// The widest elements that are told apart by coordinates, which are of 32 bits.
const COORDINATE_BITS: u32 = 32;

/// For each of several accesses to one Func, forms that are equal where the elements are: its coordinates, `None` where
/// one is not affine. Where all have, in one dimension, an element of one image plus the same number, and no two
/// elements of the image are equal, the coordinates of the image stand in the place of that dimension.
pub(super) fn places(pipeline: &PipelineData, accesses: Vec<&[ExprId]>) -> Vec<Vec<Option<Affine>>> {
    let mut forms = vec![Vec::new(); accesses.len()];
    for dim in 0..accesses.first().map_or(0, |access| access.len()) {
        let elements: Vec<_> = accesses.iter().map(|access| element(pipeline, access[dim])).collect();
        let same = |e: &Option<Element<'_>>| e.as_ref().map(|e| (e.image, e.more));
        let of_one = elements.iter().all(|e| e.is_some() && same(e) == same(&elements[0]));
        for ((form, access), element) in forms.iter_mut().zip(&accesses).zip(elements) {
            let args = element.filter(|_| of_one).map_or(&access[dim..=dim], |e| e.args);
            form.extend(args.iter().map(|&a| affine(pipeline, a)));
        }
    }
    forms
}

/// An element of an image without equal elements, and what is added to it.
struct Element<'p> {
    image: ImageId,
    args: &'p [ExprId],
    more: i128,
}

fn element(pipeline: &PipelineData, mut e: ExprId) -> Option<Element<'_>> {
    let mut more: i128 = 0;
    loop {
        match &pipeline.exprs[e].kind {
            Kind::Image { image, args } => {
                let def = &pipeline.images[*image];
                let is_told = def.values.distinct && def.ty.bits() <= COORDINATE_BITS;
                return is_told.then_some(Element { image: *image, args, more });
            }
            // No two integers become one in a type that is as wide.
            Kind::Cast(of) if as_wide(pipeline.exprs[e].ty, pipeline.exprs[*of].ty) => e = *of,
            Kind::Likely(of) | Kind::Note { value: of, .. } => e = *of,
            Kind::Binary(op @ (BinOp::Add | BinOp::Sub), of, number) => {
                let Kind::Const(number) = &pipeline.exprs[*number].kind else { return None };
                let number = if number.ty().is_float() { return None } else { number.as_i128() };
                more = more.checked_add(if *op == BinOp::Add { number } else { -number })?;
                e = *of;
            }
            _ => return None,
        }
    }
}

fn as_wide(ty: ScalarType, of: ScalarType) -> bool {
    ty.is_int() && of.is_int() && ty.bits() >= of.bits()
}
