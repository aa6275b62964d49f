//! The loops that a definition may have, without a schedule to try: for who chooses one.

use super::diagnostics::OrderReason;
use super::facts::{Root, facts};
use super::types::VarOrigin;
use halide_core::ids::FuncId;
use halide_core::pipeline::Pipeline;

/// The loops that a definition may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Possible {
    /// Its variables: pure dimensions in order, then those of its reduction domain, innermost first.
    pub vars: Vec<PossibleVar>,
    /// `Ok` if its iterations may come in any order; else the reason that they may not. Iterations that differ in a
    /// variable that tells them apart may, whatever this says.
    pub order: Result<(), OrderReason>,
    /// True if a point must not be computed twice: what is stored depends on what the element held, so tails may not
    /// overlap.
    pub once: bool,
}

/// A variable of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PossibleVar {
    /// The name that a schedule says for it.
    pub name: String,
    /// Its origin in the definition.
    pub origin: VarOrigin,
    /// The number of its values, if the algorithm makes that a constant.
    pub extent: Option<i64>,
    /// True if iterations with different values of it never touch the same element of the Func: its loop may be
    /// parallel, vectorized, and anywhere in the order.
    pub tells_apart: bool,
}

/// Returns the loops that definition `stage` of `func` may have; 0 is the first one.
///
/// ```
/// use halide_core::expr::cast_to;
/// use halide_core::types::{I32, U8};
/// use halide_core::{Func, ImageParam, Pipeline, RDom, vars};
/// use halide_sched::plan::possible;
/// let input = ImageParam::new("input", U8, 2);
/// let x = vars!(x);
/// let mut rows = Func::new("rows");
/// let r = RDom::named("r", [(0, 100)]);
/// rows[x] = x * 0;
/// rows[x] += cast_to(I32, input[(r.x, x)]);
/// let pipeline = Pipeline::new([&rows]).unwrap();
/// let loops = possible(&pipeline, pipeline.outputs[0], 1);
/// let apart: Vec<(&str, bool)> = loops.vars.iter().map(|v| (v.name.as_str(), v.tells_apart)).collect();
/// assert_eq!(apart, [("x", true), ("r.x", false)]);
/// assert!(loops.once && loops.order.is_ok());
/// ```
pub fn possible(pipeline: &Pipeline, func: FuncId, stage: usize) -> Possible {
    let facts = facts(pipeline, func, stage);
    let var = |root: Root| PossibleVar {
        name: root.name,
        origin: root.origin,
        extent: root.extent,
        tells_apart: root.independent,
    };
    Possible { vars: facts.roots.into_iter().map(var).collect(), order: facts.order, once: facts.once }
}
