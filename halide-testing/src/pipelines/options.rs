//! Options of random pipelines.

use super::structure::Structure;

/// Options for the pipelines that are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineOptions {
    /// The most Funcs, not counting those of boundary conditions and inline reductions.
    pub stages: usize,
    /// Only what needs all of the region that boxes can say it needs: no coordinate that depends on data or on several
    /// variables, no choice between reads, no updates of single points. Bounds inference must then be exact.
    pub exact: bool,
    /// Also what asks something of the caller: rules for the shapes of buffers, promises of the elements of inputs,
    /// rows whose offsets are such elements, an output that may be in an input's memory; and extern stages. A run must
    /// then give buffers and elements as the pipeline says.
    pub given: bool,
    /// Also coordinates that nothing keeps near: narrow integers that wrap, quotients of floats, products of data. A
    /// run may then end because regions are too large, or leave 32 bits.
    pub far: bool,
    /// A structure that the pipeline is to have.
    pub structure: Option<Structure>,
}

impl Default for PipelineOptions {
    fn default() -> Self {
        PipelineOptions { stages: 10, exact: false, given: false, far: false, structure: None }
    }
}
