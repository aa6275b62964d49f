//! The right output, which all others are held against.

use crate::difference;
use crate::error::Error;
use halide_core::buffer::AnyBuffer;
use halide_core::pipeline::Pipeline;

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
        let name = &self.names[i];
        let found = difference::first(expected, output, loose);
        found.map(|(at, right, found)| format!("`{name}` at {at:?} is {found} and should be {right}"))
    }
}
