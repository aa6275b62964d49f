//! The code of a kernel while it is made, and the reasons that there is none.

use super::align::Residue;
use super::builder::{Builder, V};
use super::memo::{Lanes, Memo};
use super::options::Options;
use super::places::Place;
use crate::error::{Feature, GpuError};
use halide_core::ids::ParamId;
use halide_core::types::ScalarType;
use halide_ir::code_place::PlaceTable;
use halide_ir::hash::Map;
use halide_ir::{BufId, Kernel, Program, Sym};

/// A reason that a kernel has no shader; the kernel's name is added at the end.
pub(super) enum Stop {
    Feature(ScalarType, Feature),
    Subgroups(u32, Option<u32>),
    Unsupported(String, &'static str),
    Malformed(String),
}

impl Stop {
    pub(super) fn in_kernel(self, kernel: &str) -> GpuError {
        let kernel = kernel.to_string();
        match self {
            Stop::Feature(ty, feature) => GpuError::Feature { kernel, ty, feature },
            Stop::Subgroups(lanes, has) => GpuError::Subgroups { kernel, lanes, has },
            Stop::Unsupported(what, hint) => GpuError::Unsupported { kernel, what, hint },
            Stop::Malformed(what) => GpuError::Malformed { kernel, what },
        }
    }
}

pub(super) type Emitted<T> = Result<T, Stop>;

/// A subgroup of the device, for a kernel whose threads are lanes.
#[derive(Clone, Copy)]
pub(super) struct Subgroup {
    /// The number of its lanes.
    pub(super) size: u32,
    /// The number of the thread's lane in it, a U32.
    pub(super) lane: V,
}

/// The code of a kernel while it is made.
pub(super) struct Gen<'a> {
    pub(super) code: Builder<'a>,
    pub(super) program: &'a Program,
    pub(super) kernel: &'a Kernel,
    pub(super) options: Options,
    pub(super) memo: Memo,
    pub(super) symbols: Map<Sym, Lanes>,
    pub(super) residues: Map<Sym, Residue>,
    pub(super) params: Map<ParamId, V>,
    pub(super) places: Map<BufId, Place>,
    /// The position of the thread in its block, as an I32 per dimension.
    pub(super) thread: [V; 3],
    /// A Bool that is true in the threads of the kernel; `None` if all threads are.
    pub(super) runs: Option<V>,
    /// The thread's place in its subgroup, if threads are lanes.
    pub(super) subgroup: Option<Subgroup>,
    /// True if the code at hand is that of one thread, not of the whole block.
    pub(super) in_phase: bool,
    /// The number of atomic steps so far.
    pub(super) steps: u32,
    /// The places of statements.
    pub(super) code_places: PlaceTable,
}
