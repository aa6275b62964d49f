//! Runs of programs.

use super::compile::{CompiledStep, Memory, Parts};
use super::describe::When;
use super::error::{ProgramErrorKind, ProgramErrors};
use super::node::{Count, Node};
use super::regions;
use super::resident::{self, Resident, Taken};
use super::result::{ProgramResult, ProgramStats, SlotResult};
use super::slots::{Slot, SlotId};
use crate::aliases::InPlace;
use crate::error::Error;
use crate::run_options::{How, RunStats};
use halide_core::buffer::{AnyBuffer, AnyBufferMut, Region};
use halide_core::error::Location;
use halide_core::interp::{Inputs, RunError};
use halide_core::limits::Limits;
use halide_core::shape::dense_strides;
use halide_core::value::Scalar;
use std::sync::Arc;

/// A run of a program.
pub(super) struct Runner<'r> {
    parts: &'r Parts,
    how: &'r How,
    /// The parameters of each step.
    params: Vec<Inputs>,
    /// The values of the parameters of loops.
    given: &'r Inputs,
    /// The region of each slot, by now; those of slots whose size is data with the values that they came from.
    regions: Vec<Option<Region>>,
    values: Vec<Vec<(SlotId, i128)>>,
    slots: Vec<SlotBuffers>,
    /// The iterations of the loops that are running, the outermost first, each with true if it is the last.
    iterations: Vec<(u64, bool)>,
    stats: ProgramStats,
    /// The place of the call.
    at: Location,
}

/// The buffers of a slot.
#[derive(Default)]
struct SlotBuffers {
    /// The buffer that the slot holds, once it was given or written.
    held: Option<AnyBuffer>,
    /// Its contents, if a device has them: what is held is then a buffer of its type and region.
    resident: Option<Resident>,
    /// Others over its region: what is written next where a step reads the slot meanwhile.
    spare: Vec<AnyBuffer>,
    /// A buffer that stands for the held one where that is an image and an output at once.
    stand_in: Option<AnyBuffer>,
}

impl<'r> Runner<'r> {
    /// Runs a program whose inputs were checked, on memory of an earlier result where it suits.
    pub(super) fn run(
        parts: &Parts,
        given: &Inputs,
        how: &How,
        at: Location,
        earlier: ProgramResult,
    ) -> Result<ProgramResult, Error> {
        let regions = regions::find(parts, given)?;
        let mut slots = Vec::with_capacity(regions.len());
        let mut spare = earlier.into_buffers();
        for (slot, region) in parts.slots.iter().zip(&regions) {
            // The sizes of others come up when they are written.
            let suits = |buffer: &AnyBuffer| region.as_ref().is_none_or(|region| suits(buffer, slot, region));
            let own: Vec<AnyBuffer> = spare.remove(&slot.name).unwrap_or_default().into_iter().filter(suits).collect();
            if region.is_none() {
                own.iter().try_for_each(|buffer| how.charge(bytes(buffer), &slot.name))?;
            }
            slots.push(SlotBuffers { held: given.get(&slot.name).cloned(), spare: own, ..Default::default() });
        }
        // Images have the names of slots, which a pipeline may use for others: the step's own are added when it runs.
        let params = parts.steps.iter().map(|step| given.without_images().restricted(step.compiled.whole())).collect();
        let (iterations, stats, values) = (Vec::new(), ProgramStats::default(), vec![Vec::new(); slots.len()]);
        let mut runner = Runner { parts, how, params, given, regions, values, slots, iterations, stats, at };
        runner.nodes(&parts.body)?;
        let Runner { slots, stats, .. } = runner;
        let result = |(slot, buffers): (&Slot, SlotBuffers)| SlotResult {
            name: slot.name.clone(),
            buffer: buffers.held,
            resident: buffers.resident,
            spare: buffers.spare,
        };
        Ok(ProgramResult { slots: parts.slots.iter().zip(slots).map(result).collect(), stats })
    }

    fn nodes(&mut self, nodes: &[Node]) -> Result<(), Error> {
        nodes.iter().try_for_each(|node| match node {
            Node::Step(number) => self.step(*number),
            Node::Repeat { times, body, at } => self.repeat(times, body, *at),
            Node::Once { when, body } => {
                let is_it = |(iteration, is_last): &(u64, bool)| match when {
                    When::First => *iteration == 0,
                    When::Last => *is_last,
                };
                if self.iterations.last().is_some_and(is_it) { self.nodes(body) } else { Ok(()) }
            }
        })
    }
    fn repeat(&mut self, times: &Count, body: &[Node], at: Location) -> Result<(), Error> {
        let times_given = match times {
            Count::Constant(times) => *times,
            Count::Param(param) => self.times(param)?,
            Count::While { most, .. } => most.saturating_add(1),
        };
        let is_counted = !matches!(times, Count::While { .. });
        self.iterations.push((0, false));
        for iteration in 0..times_given {
            if let Count::While { slot, every, most } = times {
                // At its most, a loop goes on only if the condition says so.
                if (iteration % every == 0 || iteration == *most) && !self.holds(*slot)? {
                    break;
                }
                if iteration == *most {
                    let (slot, most) = (self.parts.slots[slot.0].name.clone(), *most);
                    return Err(ProgramErrors::one(at, None, ProgramErrorKind::Endless { slot, most }).into());
                }
            }
            // Also where no step does so.
            if let Some(stop) = self.how.limits().and_then(Limits::stopped) {
                return Err(RunError::Stopped(stop).into());
            }
            let now = (iteration, is_counted && iteration + 1 == times_given);
            self.iterations.iter_mut().last().into_iter().for_each(|innermost| *innermost = now);
            self.nodes(body)?;
        }
        self.iterations.pop();
        Ok(())
    }
    /// The value of a parameter that says how often a loop runs.
    fn times(&self, param: &str) -> Result<u64, Error> {
        let param = param.to_string();
        let kind = match self.given.get_param(&param).filter(|value| value.ty().is_int()) {
            None => ProgramErrorKind::NoTimes { param },
            Some(value) => match u64::try_from(value.as_i64()) {
                Ok(times) => return Ok(times),
                Err(_) => ProgramErrorKind::NegativeTimes { param, times: value.as_i64() },
            },
        };
        Err(ProgramErrors::one(self.at, None, kind).into())
    }
    /// The value of the condition of a loop.
    fn holds(&mut self, slot: SlotId) -> Result<bool, Error> {
        self.bring_to_host(slot)?;
        let value = self.slots[slot.0].held.as_ref().and_then(|buffer| buffer.get([0i32; 0]));
        Ok(value.is_some_and(Scalar::as_bool))
    }
    /// Copies the contents of a slot to the host, if a device has them.
    fn bring_to_host(&mut self, slot: SlotId) -> Result<(), Error> {
        let own = &mut self.slots[slot.0];
        if let Some(resident) = own.resident.take() {
            let (host, is_new) = resident.to_host()?;
            self.stats.download_bytes += if is_new { bytes(&host) } else { 0 };
            own.spare.extend(own.held.replace(host));
        }
        Ok(())
    }

    fn step(&mut self, number: usize) -> Result<(), Error> {
        let parts = self.parts;
        let step = &parts.steps[number];
        self.stats.steps += 1;
        self.run_step(step, number).map_err(|error| match error {
            // Limits are those of the run.
            Error::Cancelled | Error::GaveUp { .. } | Error::Run(RunError::Stopped(_)) | Error::Print { .. } => error,
            error => {
                let iterations = self.iterations.iter().map(|(iteration, _)| *iteration).collect();
                let kind = ProgramErrorKind::Failed { iterations, error: Arc::new(error) };
                Error::Program(ProgramErrors::one(step.bound.step.at, Some(step.bound.step.name()), kind))
            }
        })
    }
    fn run_step(&mut self, step: &CompiledStep, number: usize) -> Result<(), Error> {
        let on_host = |id: &SlotId| !step.resides && step.bound.reads(*id);
        for id in (0..self.slots.len()).map(SlotId).filter(on_host) {
            self.bring_to_host(id)?;
        }
        let (mut inputs, mut residents) = (self.params[number].clone(), Vec::new());
        for (image, slot) in &step.bound.images {
            if let Some(resident) = &self.slots[slot.0].resident {
                residents.push((image.clone(), resident.clone()));
            }
        }
        // Before any of them is taken: one may hold the extent of another.
        step.bound.outputs.iter().try_for_each(|output| self.resize(output.slot))?;
        let mut outputs = Vec::with_capacity(step.memory.len());
        for i in 0..step.memory.len() {
            outputs.push(self.output(step, i)?);
        }
        for (image, slot) in &step.bound.images {
            // What is not held is in the memory of an output.
            if let Some(buffer) = &self.slots[slot.0].held {
                inputs = inputs.image(image.clone(), buffer.clone());
            }
        }
        let (on_device, taken) = match step.resides {
            true => {
                let (how, taken) = resident::with_residents(self.how, residents);
                (Some(how), taken)
            }
            false => (None, Taken::default()),
        };
        let how = on_device.as_ref().unwrap_or(self.how);
        let mut call = step.compiled.inputs().with_given(&inputs).within(how);
        for (buffer, memory) in step.memory.iter().enumerate() {
            if let Memory::InPlace(image) = memory {
                let stand_in = self.slots[step.bound.outputs[buffer].slot.0].stand_in.clone();
                call = call.shared(InPlace { image: image.clone(), buffer, stand_in });
            }
        }
        let views = outputs.iter_mut().map(AnyBuffer::view_mut);
        let mut views: Vec<AnyBufferMut<'_>> = views.collect::<Result<_, _>>()?;
        let stats = call.realize_all_into(&mut views)?;
        // Inputs share the memory of slots.
        drop((views, call, inputs));
        self.count(&stats);
        for ((output, memory), buffer) in step.bound.outputs.iter().zip(&step.memory).zip(outputs) {
            let own = &mut self.slots[output.slot.0];
            let before = own.held.replace(buffer);
            own.resident = None;
            if matches!(memory, Memory::Second { .. }) {
                let before = before.filter(AnyBuffer::is_unique);
                let before = before.and_then(|buffer| self.of_its_size(output.slot, buffer));
                self.slots[output.slot.0].spare.extend(before);
            }
        }
        for (number, resident) in taken.take() {
            self.slots[step.bound.outputs[number].slot.0].resident = Some(resident);
        }
        Ok(())
    }
    fn count(&mut self, stats: &RunStats) {
        self.stats.blocks += stats.blocks;
        #[cfg(feature = "gpu")]
        if let Some(gpu) = &stats.gpu {
            self.stats.upload_bytes += gpu.upload_bytes;
            self.stats.download_bytes += gpu.download_bytes;
        }
    }
    /// The buffer for element `i` of the outputs of a step, taken from its slot.
    fn output(&mut self, step: &CompiledStep, i: usize) -> Result<AnyBuffer, Error> {
        let (id, keeps) = (step.bound.outputs[i].slot, step.bound.outputs[i].keeps);
        let in_place = matches!(step.memory[i], Memory::InPlace(_));
        let held = match &step.memory[i] {
            Memory::Second { .. } => None,
            Memory::Own | Memory::InPlace(_) => self.slots[id.0].held.take(),
        };
        let held = held.and_then(|buffer| self.of_its_size(id, buffer));
        let buffer = match held {
            Some(buffer) if buffer.is_unique() => buffer,
            // The caller's memory stays as it is.
            Some(given) if in_place || keeps => {
                let mut own = self.unwritten(id)?;
                own.view_mut()?.copy_from(&given)?;
                self.stats.copies += 1;
                own
            }
            _ => self.unwritten(id)?,
        };
        let stand_in = &mut self.slots[id.0].stand_in;
        if in_place && stand_in.as_ref().is_none_or(|stand_in| stand_in.dims() != buffer.dims()) {
            *stand_in = Some(AnyBuffer::untouched_like(buffer.ty(), buffer.dims())?);
        }
        Ok(buffer)
    }
    /// Finds the region over which a slot is written now, if its size is data.
    fn resize(&mut self, id: SlotId) -> Result<(), Error> {
        let parts = self.parts;
        let sizers = &parts.sizers[id.0];
        if sizers.is_empty() {
            return Ok(());
        }
        let mut values = Vec::with_capacity(sizers.len());
        for &sizer in sizers {
            self.bring_to_host(sizer)?;
            let value = self.slots[sizer.0].held.as_ref().and_then(|buffer| buffer.get([0i32; 0]));
            values.push((sizer, value.map_or(0, Scalar::as_i128)));
        }
        if self.values[id.0] != values {
            let region = regions::find_sized(parts, self.given, &self.regions, &values, id)?;
            (self.regions[id.0], self.values[id.0]) = (Some(region), values);
            let spare = std::mem::take(&mut self.slots[id.0].spare);
            self.slots[id.0].spare = spare.into_iter().filter_map(|buffer| self.of_its_size(id, buffer)).collect();
        }
        Ok(())
    }
    /// The buffer, unless it is of another size than the slot has by now: then its memory is given back.
    fn of_its_size(&self, id: SlotId, buffer: AnyBuffer) -> Option<AnyBuffer> {
        let is_sized = !self.parts.sizers[id.0].is_empty();
        let suits = |region: &Region| suits(&buffer, &self.parts.slots[id.0], region);
        if !is_sized || self.regions[id.0].as_ref().is_some_and(suits) {
            return Some(buffer);
        }
        self.how.limits().into_iter().for_each(|limits| limits.release(bytes(&buffer)));
        None
    }
    /// A buffer over the region of a slot, whatever it holds: a spare one, or a new one.
    fn unwritten(&mut self, id: SlotId) -> Result<AnyBuffer, Error> {
        if let Some(spare) = self.slots[id.0].spare.pop() {
            return Ok(spare);
        }
        let slot = &self.parts.slots[id.0];
        let region = self.regions[id.0].clone().unwrap_or_default();
        let buffer = AnyBuffer::with_region(slot.ty, &region)?;
        self.how.charge(bytes(&buffer), &slot.name)?;
        self.stats.buffers += 1;
        Ok(buffer)
    }
}

/// The bytes of a buffer without gaps.
fn bytes(buffer: &AnyBuffer) -> u64 {
    buffer.len().saturating_mul(buffer.ty().bytes() as u64)
}

/// Returns true if a slot may be written over a region in a buffer. One that a call gave may have gaps, or another
/// order in memory.
fn suits(buffer: &AnyBuffer, slot: &Slot, region: &Region) -> bool {
    let strides = dense_strides(region.spans(), &|_| None, &|_| 1);
    let is_dense = buffer.dims().iter().map(|d| d.stride).eq(strides.iter().copied());
    buffer.ty() == slot.ty && buffer.region() == *region && is_dense && buffer.is_unique()
}
