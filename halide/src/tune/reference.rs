//! The right output, which all others are held against.

use crate::error::Error;
use halide_core::buffer::AnyBuffer;
use halide_core::pipeline::Pipeline;

/// The share of the largest value by which floats may differ where a schedule may round them otherwise.
const ROUNDED: f64 = 1e-4;

/// The outputs of the pick.
pub(super) struct Reference {
    names: Vec<String>,
    outputs: Vec<AnyBuffer>,
    /// The memory of each, for comparisons at its speed; `None` where it cannot be looked at.
    bytes: Vec<Option<Vec<u8>>>,
}

impl Reference {
    /// A copy of the outputs of a pipeline.
    pub(super) fn new(pipeline: &Pipeline, outputs: &mut [AnyBuffer]) -> Result<Reference, Error> {
        let funcs = pipeline.outputs.iter().map(|id| &pipeline.funcs[*id]);
        let names = funcs.flat_map(|func| func.types.iter().map(|_| func.name.clone())).collect();
        let (mut copies, mut bytes) = (Vec::new(), Vec::new());
        for output in outputs {
            bytes.push(output.view_mut()?.bytes_mut().map(|bytes| bytes.to_vec()));
            copies.push(output.compact()?);
        }
        Ok(Reference { names, outputs: copies, bytes })
    }

    /// The first difference of whole outputs, as text. Floats may be rounded otherwise if they are `loose`.
    pub(super) fn difference(&self, outputs: &mut [AnyBuffer], loose: bool) -> Result<Option<String>, Error> {
        for (i, output) in outputs.iter_mut().enumerate() {
            let found = output.view_mut()?.bytes_mut().map(|bytes| &*bytes) == self.bytes[i].as_deref();
            if found && self.bytes[i].is_some() {
                continue;
            }
            if let Some(text) = self.difference_of(i, output, loose) {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// The first difference of parts of the outputs.
    pub(super) fn difference_of_parts(&self, parts: &[AnyBuffer]) -> Option<String> {
        parts.iter().enumerate().find_map(|(i, part)| self.difference_of(i, part, false))
    }

    /// The first difference of an output or a part of it.
    fn difference_of(&self, i: usize, output: &AnyBuffer, loose: bool) -> Option<String> {
        let expected = self.outputs.get(i)?;
        let allowed = if loose { allowed(expected) } else { 0.0 };
        let name = &self.names[i];
        let text = |at: &[i32], a, b| format!("`{name}` at {at:?} is {b} and should be {a}");
        if allowed == 0.0 {
            return output.first_difference(expected).map(|(at, b, a)| text(&at, a, b));
        }
        let mut all = expected.coords();
        all.find_map(|at| {
            let (a, b) = (expected.get(&at)?, output.get(&at)?);
            let near = (a.as_f64() - b.as_f64()).abs() <= allowed;
            (!near && !a.same(b)).then(|| text(&at, a, b))
        })
    }
}

/// The difference that rounding may make.
fn allowed(expected: &AnyBuffer) -> f64 {
    if !expected.ty().is_float() {
        return 1.0;
    }
    let sizes = expected.coords().filter_map(|at| expected.get(&at)).map(|value| value.as_f64().abs());
    ROUNDED * sizes.filter(|size| size.is_finite()).fold(0.0, f64::max)
}
