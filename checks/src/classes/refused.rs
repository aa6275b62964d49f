//! Kinds of classes that cannot be served, and why.

use crate::coverage::Product;

/// The reason that no case of a class can be served, if there is one.
pub(super) fn kind(class: &Product) -> Option<&'static str> {
    let _ = class;
    None
}
