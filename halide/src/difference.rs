//! Differences of results from those that are right.

use halide_core::buffer::AnyBuffer;
use halide_core::value::Scalar;

/// The share of the largest value by which floats may differ where a schedule may round them otherwise.
const ROUNDED: f64 = 1e-4;

/// The first point at which `found` is not `right`, with the right value and the other one. Floats may be rounded
/// otherwise if they are `loose`.
pub(crate) fn first(right: &AnyBuffer, found: &AnyBuffer, loose: bool) -> Option<(Vec<i32>, Scalar, Scalar)> {
    let allowed = if loose { allowed(right) } else { 0.0 };
    if allowed == 0.0 {
        return found.first_difference(right).map(|(at, found, right)| (at, right, found));
    }
    right.coords().find_map(|at| {
        let (a, b) = (right.get(&at)?, found.get(&at)?);
        let near = (a.as_f64() - b.as_f64()).abs() <= allowed;
        (!near && !a.same(b)).then_some((at, a, b))
    })
}

/// The difference that rounding may make.
fn allowed(right: &AnyBuffer) -> f64 {
    if !right.ty().is_float() {
        return 1.0;
    }
    let sizes = right.coords().filter_map(|at| right.get(&at)).map(|value| value.as_f64().abs());
    ROUNDED * sizes.filter(|size| size.is_finite()).fold(0.0, f64::max)
}
