//! The form of a call's arguments: which buffers there are, and which of them describe the same rows.

use crate::types::Type;
use halide_core::types::ScalarType;

/// An argument, or a part of one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Form {
    /// A scalar, by its number among the scalars of the call.
    Scalar(ScalarType, usize),
    Tuple(Vec<Form>),
    Seq(SeqForm),
}

/// A sequence.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum SeqForm {
    /// Scalars, by the number of their buffer.
    Values(ScalarType, usize),
    /// Tuples, as one sequence for each part.
    Zipped(Vec<SeqForm>),
    /// Sequences, by the number of the buffer of their offsets, with the elements of all of them.
    Rows(usize, Box<SeqForm>),
}

impl SeqForm {
    /// The type of the sequence.
    pub(crate) fn ty(&self) -> Type {
        Type::seq(match self {
            SeqForm::Values(ty, _) => Type::Scalar(*ty),
            SeqForm::Zipped(parts) => {
                let element = |part: &SeqForm| match part.ty() {
                    Type::Seq(element) => (*element).clone(),
                    other => other,
                };
                Type::Tuple(parts.iter().map(element).collect())
            }
            SeqForm::Rows(_, rows) => rows.ty(),
        })
    }
}

impl Form {
    /// The type of the argument.
    pub(crate) fn ty(&self) -> Type {
        match self {
            Form::Scalar(ty, _) => Type::Scalar(*ty),
            Form::Tuple(parts) => Type::Tuple(parts.iter().map(Form::ty).collect()),
            Form::Seq(seq) => seq.ty(),
        }
    }
}

/// The form of a whole call.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Signature {
    pub(crate) arguments: Vec<Form>,
    /// Names of buffers, in order; those of offsets are marked.
    pub(crate) buffers: Vec<(String, ScalarType, bool)>,
    /// Names of scalars, in order.
    pub(crate) scalars: Vec<(String, ScalarType)>,
}
