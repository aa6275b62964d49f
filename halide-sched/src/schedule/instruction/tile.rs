//! Tiles that closures compute in place of loops.

use halide_core::buffer::AnyBuffer;
use halide_core::externs::ExternResult;
use std::fmt;
use std::sync::Arc;

type Compute = dyn Fn(&mut Tile<'_>) -> ExternResult<()> + Send + Sync;

/// The closure that computes an instruction.
#[derive(Clone)]
pub(crate) struct TileFn(Arc<Compute>);

impl TileFn {
    pub(super) fn new(f: impl Fn(&mut Tile<'_>) -> ExternResult<()> + Send + Sync + 'static) -> TileFn {
        TileFn(Arc::new(f))
    }
    pub(crate) fn call(&self, tile: &mut Tile<'_>) -> ExternResult<()> {
        (self.0)(tile)
    }
}

impl fmt::Debug for TileFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TileFn")
    }
}

/// A tile that a closure computes in place of the loops of an instruction: buffers of its own, with the coordinates
/// that the instruction's meaning has where each axis begins at its first value.
pub struct Tile<'a> {
    operands: &'a [(String, AnyBuffer)],
    result: AnyBuffer,
}

impl<'a> Tile<'a> {
    pub(crate) fn new(operands: &'a [(String, AnyBuffer)], result: AnyBuffer) -> Tile<'a> {
        Tile { operands, result }
    }
    /// The elements of an image of the meaning.
    ///
    /// # Errors
    /// The meaning has no image of that name.
    pub fn operand(&self, name: &str) -> ExternResult<&'a AnyBuffer> {
        let found = self.operands.iter().find(|(operand, _)| operand == name);
        let names = || self.operands.iter().map(|(operand, _)| operand.as_str()).collect::<Vec<_>>().join(", ");
        Ok(found.map(|(_, buffer)| buffer).ok_or_else(|| format!("there is no operand `{name}`, but {}", names()))?)
    }
    /// The elements of the result: what they hold so far where the meaning is an update, else zeros.
    pub fn result(&self) -> &AnyBuffer {
        &self.result
    }
    /// The elements of the result, to be written.
    pub fn result_mut(&mut self) -> &mut AnyBuffer {
        &mut self.result
    }
    pub(crate) fn into_result(self) -> AnyBuffer {
        self.result
    }
}
