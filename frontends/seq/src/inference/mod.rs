//! The inference of types (Hindley and Milner's, with classes of scalar types).

mod data;
mod fit;
mod infer;
mod text;
mod unify;

pub(crate) use fit::at;
pub(crate) use infer::{Typed, infer};
