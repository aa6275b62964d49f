//! The check of the views that a call gives for the outputs, which every engine makes before it starts.

use super::error::RunError;
use crate::buffer::{AnyBufferMut, BufferError};
use crate::pipeline::PipelineData;
use crate::types::ScalarType;

impl PipelineData {
    /// Checks that there is one view per tuple element of each output, of its type and dimensions, over the region of
    /// the other elements.
    ///
    /// # Errors
    /// Another number of views, or the first that is wrong.
    pub fn check_output_views(&self, views: &[AnyBufferMut<'_>]) -> Result<(), RunError> {
        let expected = self.outputs.iter().map(|f| self.funcs[*f].types.len()).sum();
        if views.len() != expected {
            return Err(RunError::OutputBuffers { expected, found: views.len() });
        }
        let mut rest = views;
        for func in self.outputs.iter().map(|f| &self.funcs[*f]) {
            let (own, others) = rest.split_at(func.types.len());
            for (view, &expected) in own.iter().zip(&func.types) {
                let checked = check_view(view, own, expected, func.dims());
                checked.map_err(|error| RunError::Output { func: func.name.clone(), error })?;
            }
            rest = others;
        }
        Ok(())
    }
}

/// A view has the type and dimensions of its output, and the region of the other tuple elements.
fn check_view(
    view: &AnyBufferMut<'_>,
    own: &[AnyBufferMut<'_>],
    expected: ScalarType,
    dims: usize,
) -> Result<(), BufferError> {
    let found = view.dims().len();
    if found != dims {
        return Err(BufferError::WrongDims { expected: dims, found });
    }
    if view.ty() != expected {
        return Err(BufferError::WrongType { expected, found: view.ty() });
    }
    let (region, first) = (view.region(), own[0].region());
    for (dim, (a, b)) in region.spans().iter().zip(first.spans()).enumerate() {
        if a != b {
            let (min, extent, buffer_min, buffer_extent) = (b.min, b.extent, a.min, a.extent);
            return Err(BufferError::Outside { dim, min, extent, buffer_min, buffer_extent });
        }
    }
    Ok(())
}
