//! Scalar parameters under construction.

use crate::location::Location;
use crate::types::ScalarType;
use crate::value::Scalar;
use std::rc::Rc;

/// A parameter without its Rust type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ParamData {
    pub(crate) name: Rc<str>,
    pub(crate) ty: ScalarType,
    pub(crate) default: Option<Scalar>,
    pub(crate) min: Option<Scalar>,
    pub(crate) max: Option<Scalar>,
    pub(crate) at: Location,
}
