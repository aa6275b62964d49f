//! Results of programs.

use super::error::{ProgramErrorKind, ProgramErrors};
use super::resident::Resident;
use crate::error::Error;
use halide_core::buffer::{AnyBuffer, Buffer};
use halide_core::error::Location;
use halide_core::value::Element;
use std::collections::BTreeMap;

/// The slots of a program when it has run.
#[derive(Clone, Debug, Default)]
pub struct ProgramResult {
    pub(super) slots: Vec<SlotResult>,
    pub(super) stats: ProgramStats,
}

/// A slot of a program that has run.
#[derive(Clone, Debug)]
pub(super) struct SlotResult {
    pub(super) name: String,
    /// The buffer that it holds, if it was given or written.
    pub(super) buffer: Option<AnyBuffer>,
    /// The contents, if they are on a device: the buffer is then one over the same region.
    pub(super) resident: Option<Resident>,
    /// Memory that was used meanwhile.
    pub(super) spare: Vec<AnyBuffer>,
}

/// Statistics of a run of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramStats {
    /// Steps that ran.
    pub steps: u64,
    /// Buffers that were made for slots.
    pub buffers: u64,
    /// Blocks of memory that the code of steps took from the system, which later steps use again.
    pub blocks: u64,
    /// Copies of slots, and of inputs before a step writes them.
    pub copies: u64,
    /// Bytes that were copied to a device.
    pub upload_bytes: u64,
    /// Bytes that were copied back, without those of slots that are on the device when the run ends: these are copied
    /// when somebody asks for them.
    pub download_bytes: u64,
}

impl ProgramResult {
    /// The buffer of the slot called `name`, of elements of type `T`.
    ///
    /// # Errors
    /// There is no such slot, or no step has written it; it holds another type; or a device fails that it is copied
    /// from.
    #[track_caller]
    pub fn state<T: Element>(&self, name: &str) -> Result<Buffer<T>, Error> {
        Ok(self.find(name, Location::caller())?.typed()?)
    }
    /// The buffer of the slot called `name`.
    ///
    /// # Errors
    /// There is no such slot, or no step has written it.
    #[track_caller]
    pub fn any_state(&self, name: &str) -> Result<AnyBuffer, Error> {
        self.find(name, Location::caller())
    }
    /// The value of the slot without dimensions called `name`.
    ///
    /// # Errors
    /// As of [`ProgramResult::state`], and a slot with dimensions.
    #[track_caller]
    pub fn scalar<T: Element>(&self, name: &str) -> Result<T, Error> {
        let buffer = self.find(name, Location::caller())?.typed::<T>()?;
        let found = buffer.dims().len();
        buffer.get([0i32; 0]).ok_or(Error::Buffer(halide_core::buffer::BufferError::WrongDims { expected: 0, found }))
    }
    /// Returns what the run did.
    pub fn stats(&self) -> ProgramStats {
        self.stats
    }

    /// All buffers of each slot.
    pub(super) fn into_buffers(self) -> BTreeMap<String, Vec<AnyBuffer>> {
        let all = |slot: SlotResult| (slot.name, slot.spare.into_iter().chain(slot.buffer).collect());
        self.slots.into_iter().map(all).collect()
    }
    /// Gives memory back that holds no slot.
    pub(super) fn without_spare(mut self) -> ProgramResult {
        self.slots.iter_mut().for_each(|slot| slot.spare.clear());
        self
    }

    fn find(&self, name: &str, at: Location) -> Result<AnyBuffer, Error> {
        let slot = name.to_string();
        let kind = match self.slots.iter().find(|slot| slot.name == name) {
            Some(SlotResult { resident: Some(resident), .. }) => return Ok(resident.to_host()?.0),
            Some(SlotResult { buffer: Some(buffer), .. }) => return Ok(buffer.clone()),
            Some(_) => ProgramErrorKind::Unwritten { slot },
            None => {
                let known = self.slots.iter().map(|slot| slot.name.clone()).collect();
                ProgramErrorKind::UnknownSlot { slot, known }
            }
        };
        Err(ProgramErrors::one(at, None, kind).into())
    }
}
