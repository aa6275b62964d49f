//! Arguments as values.

use super::images::{Images, length};
use super::size::Size;
use super::state::{At, Domain, Element, Leaf, Lower, Pull, Result, Sym};
use crate::signature::{Form, SeqForm};
use halide::prelude::{Expr, ImageParam};
use halide_core::types::ScalarType::{self, I32};
use std::rc::Rc;

/// The value of a parameter of the proc.
pub(crate) fn argument(images: &Images, form: &Form) -> Sym {
    match form {
        Form::Scalar(ty, scalar) => {
            let size = (*ty == I32).then_some(Size::Scalar(*scalar));
            Sym::Scalar(Leaf::constant(images.scalars[*scalar], *ty, size))
        }
        Form::Tuple(parts) => Sym::Tuple(parts.iter().map(|part| argument(images, part)).collect()),
        Form::Seq(seq) => Sym::Seq(sequence(images, seq, Domain::Flat(length(seq)))),
    }
}

fn sequence(images: &Images, seq: &SeqForm, domain: Domain) -> Rc<Pull> {
    let depths = domain.depths();
    Rc::new(Pull { domain, depths, element: element(images, seq) })
}

fn element(images: &Images, seq: &SeqForm) -> Element {
    match seq {
        SeqForm::Values(ty, buffer) => {
            let (image, ty, buffer) = (images.images[*buffer].clone(), *ty, *buffer);
            Rc::new(move |lower, position| Ok(Sym::Scalar(read(lower, &image, ty, buffer, position))))
        }
        SeqForm::Zipped(parts) => {
            let parts: Vec<Element> = parts.iter().map(|part| element(images, part)).collect();
            Rc::new(move |lower, position| {
                let parts: Result<Vec<Sym>> = parts.iter().map(|part| part(lower, position)).collect();
                Ok(Sym::Tuple(parts?))
            })
        }
        SeqForm::Rows(offsets, rows) => {
            let (images, offsets, rows) = (images.clone(), *offsets, rows.clone());
            Rc::new(move |_, position| {
                let domain = Domain::Rows { descriptor: offsets, row: position.clone() };
                Ok(Sym::Seq(sequence(&images, &rows, domain)))
            })
        }
    }
}
/// The element of an image at a position.
fn read(lower: &Lower, image: &ImageParam, ty: ScalarType, buffer: usize, position: &Leaf) -> Leaf {
    let mut leaf = match &position.at {
        Some(place) => {
            let (image, place) = (image.clone(), place.clone());
            let at: At = Rc::new(move |coordinates: &[Expr]| image.read(place(coordinates)));
            Leaf::stored(at, &lower.vars, ty, position.depths)
        }
        None => Leaf::computed(image.read(position.expr), ty, &[position]),
    };
    // A position that is bound elsewhere, as that of a reduction domain.
    leaf.expr = image.read(position.expr);
    leaf.input = Some(buffer);
    leaf
}
