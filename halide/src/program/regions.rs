//! The regions of slots.

use super::compile::{CompiledStep, Parts};
use super::error::{ProgramErrorKind, ProgramErrors};
use super::slots::{Extent, SlotId, SlotSize};
use crate::error::Error;
use halide_core::buffer::Region;
use halide_core::interp::Inputs;
use std::sync::Arc;

/// Finds the region of each slot whose size is no data, given the inputs of the call, of which each slot that the call
/// gives is one.
///
/// # Errors
/// The step that cannot say what it needs, with its reason.
pub(super) fn find(parts: &Parts, inputs: &Inputs) -> Result<Vec<Option<Region>>, Error> {
    let mut finder = Finder { parts, inputs, found: vec![None; parts.slots.len()], values: &[] };
    for i in (0..parts.slots.len()).filter(|i| parts.sizers[*i].is_empty()) {
        finder.region(SlotId(i))?;
    }
    Ok(finder.found)
}

/// Finds the region of a slot whose size is data, given the `values` that it depends on.
///
/// # Errors
/// As of [`find`]; a value that is no extent.
pub(super) fn find_sized(
    parts: &Parts,
    inputs: &Inputs,
    known: &[Option<Region>],
    values: &[(SlotId, i128)],
    id: SlotId,
) -> Result<Region, Error> {
    let is_sized = |(i, region): (usize, &Option<Region>)| region.clone().filter(|_| parts.sizers[i].is_empty());
    let found = known.iter().enumerate().map(is_sized).collect();
    Finder { parts, inputs, found, values }.region(id)
}

struct Finder<'p> {
    parts: &'p Parts,
    inputs: &'p Inputs,
    found: Vec<Option<Region>>,
    /// The values of slots that are extents.
    values: &'p [(SlotId, i128)],
}

impl Finder<'_> {
    /// The region of a slot. Slots do not depend on themselves: [`sizes`](super::sizes) found none.
    fn region(&mut self, id: SlotId) -> Result<Region, Error> {
        if let Some(found) = &self.found[id.0] {
            return Ok(found.clone());
        }
        let slot = &self.parts.slots[id.0];
        let region = match &slot.size {
            SlotSize::Fixed(region) => region.clone(),
            SlotSize::Given => self.inputs.get(&slot.name).map_or_else(Region::default, |buffer| buffer.region()),
            SlotSize::Like(other) => self.region(*other)?,
            SlotSize::Readers => self.needed(id)?,
            SlotSize::Sized(extents) => {
                let spans = extents.iter().map(|extent| Ok((0, self.extent(id, *extent)?)));
                Region::of_spans(spans.collect::<Result<Vec<(i64, i64)>, Error>>()?)
            }
        };
        self.found[id.0] = Some(region.clone());
        Ok(region)
    }
    /// The extent of a dimension of the slot `of`.
    fn extent(&self, of: SlotId, extent: Extent) -> Result<i64, Error> {
        let slot = match extent {
            Extent::Fixed(extent) => return Ok(extent),
            Extent::Slot(slot) => slot,
        };
        let value = self.values.iter().find(|(id, _)| *id == slot).map_or(0, |(_, value)| *value);
        match i32::try_from(value) {
            Ok(extent @ 0..) => Ok(extent.into()),
            _ => {
                let of = &self.parts.slots[of.0];
                let slot = self.parts.slots[slot.0].name.clone();
                let kind = ProgramErrorKind::Extent { of: of.name.clone(), slot, value };
                Err(Error::Program(ProgramErrors::one(of.at, None, kind)))
            }
        }
    }
    /// The region that all steps need that read a slot.
    fn needed(&mut self, id: SlotId) -> Result<Region, Error> {
        let parts = self.parts;
        let mut all: Option<Region> = None;
        for step in parts.steps.iter().filter(|step| step.bound.images.iter().any(|(_, image)| *image == id)) {
            for region in self.needed_by(step, id)? {
                all = Some(all.map_or(region.clone(), |all| all.around(&region)));
            }
        }
        Ok(all.unwrap_or_default())
    }
    /// The regions that a step needs of the images that are a slot.
    fn needed_by(&mut self, step: &CompiledStep, id: SlotId) -> Result<Vec<Region>, Error> {
        let pipeline = step.compiled.whole();
        let (mut regions, mut element) = (Vec::new(), 0);
        for func in &pipeline.outputs {
            regions.push(self.region(step.bound.outputs[element].slot)?);
            element += pipeline.funcs[*func].types.len();
        }
        // Values count where they decide what is read, so only buffers are given whose values stay.
        let mut inputs = self.inputs.restricted(pipeline);
        for (image, slot) in &step.bound.images {
            if matches!(self.parts.slots[slot.0].size, SlotSize::Given)
                && let Some(buffer) = self.inputs.get(&self.parts.slots[slot.0].name)
                && !self.is_written(*slot)
            {
                inputs = inputs.image(image.clone(), buffer.clone());
            }
        }
        let failed = |error| {
            let kind = ProgramErrorKind::Failed { iterations: Vec::new(), error: Arc::new(error) };
            Error::Program(ProgramErrors::one(step.bound.step.at, Some(step.bound.step.name()), kind))
        };
        let needs = step.compiled.inputs().with_given(&inputs).infer_input_bounds(&regions).map_err(failed)?;
        let names: Vec<&String> =
            step.bound.images.iter().filter(|(_, image)| *image == id).map(|(name, _)| name).collect();
        Ok(needs.into_iter().filter(|need| names.contains(&&need.name)).map(|need| need.region).collect())
    }
    fn is_written(&self, id: SlotId) -> bool {
        self.parts.steps.iter().any(|step| step.bound.outputs.iter().any(|output| output.slot == id))
    }
}
