//! Images and outputs of steps as slots.

use super::describe::Step;
use super::error::{ProgramError, ProgramErrorKind};
use super::slots::{Slot, SlotId, find};
use halide_core::types::ScalarType;

/// A step whose images and outputs are slots.
#[derive(Clone, Debug)]
pub(super) struct BoundStep {
    pub(super) step: Step,
    /// The images that it reads, with the names that the pipeline has for them.
    pub(super) images: Vec<(String, SlotId)>,
    /// The elements of its outputs, in order.
    pub(super) outputs: Vec<BoundOutput>,
}

/// One element of an output of a step.
#[derive(Clone, Debug)]
pub(super) struct BoundOutput {
    pub(super) slot: SlotId,
    /// True if some elements stay as the slot holds them (`undef`).
    pub(super) keeps: bool,
}

/// An image or an element of an output, by the name that a slot of it has.
struct Port {
    kind: &'static str,
    name: String,
    ty: ScalarType,
    dims: usize,
    keeps: bool,
}

impl BoundStep {
    /// Finds the slots of a step; mistakes are added to `mistakes`.
    pub(super) fn new(step: &Step, slots: &[Slot], mistakes: &mut Vec<ProgramError>) -> BoundStep {
        let (images, outputs) = (images_of(step), outputs_of(step));
        let mut found = Vec::new();
        let mut known: Vec<&str> = images.iter().chain(&outputs).map(|port| port.name.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        for (name, _) in step.renamed.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
            let known = known.iter().map(|name| name.to_string()).collect();
            found.push(ProgramErrorKind::UnknownName { name: name.clone(), known });
        }
        let image = |port: Port| slot_of(step, &port, slots, &mut found).map(|slot| (port.name, slot));
        let images: Vec<(String, SlotId)> = images.into_iter().filter_map(image).collect();
        let output = |port: Port| {
            let slot = slot_of(step, &port, slots, &mut found)?;
            Some(BoundOutput { slot, keeps: port.keeps })
        };
        let outputs: Vec<BoundOutput> = outputs.into_iter().filter_map(output).collect();
        for (i, output) in outputs.iter().enumerate() {
            if outputs[..i].iter().any(|earlier| earlier.slot == output.slot) {
                found.push(ProgramErrorKind::WrittenTwice { slot: slots[output.slot.0].name.clone() });
            }
        }
        for param in step.pipeline.params.iter().filter(|param| find(slots, &param.name).is_some()) {
            found.push(ProgramErrorKind::SlotAsParam { param: param.name.clone(), ty: param.ty });
        }
        let name = step.name();
        mistakes.extend(found.into_iter().map(|kind| ProgramError { at: step.at, step: Some(name.clone()), kind }));
        BoundStep { step: step.clone(), images, outputs }
    }
    /// Returns true if it reads what a slot held before.
    pub(super) fn reads(&self, slot: SlotId) -> bool {
        let keeps = self.outputs.iter().any(|output| output.slot == slot && output.keeps);
        keeps || self.images.iter().any(|(_, image)| *image == slot)
    }
}

/// The images of a pipeline that a call gives.
fn images_of(step: &Step) -> Vec<Port> {
    let data = &step.pipeline;
    let given = data.images.enumerate().filter(|(id, _)| !data.is_result(*id));
    given.map(|(_, i)| Port { kind: "image", name: i.name.clone(), ty: i.ty, dims: i.dims, keeps: false }).collect()
}

/// The elements of the outputs of a pipeline.
fn outputs_of(step: &Step) -> Vec<Port> {
    let data = &step.pipeline;
    let mut all = Vec::new();
    for &id in &data.outputs {
        let func = &data.funcs[id];
        for (i, &ty) in func.types.iter().enumerate() {
            let name = if func.types.len() == 1 { func.name.clone() } else { format!("{}.{i}", func.name) };
            all.push(Port { kind: "output", name, ty, dims: func.dims(), keeps: data.keeps(id) });
        }
    }
    all
}

/// The slot of an image or an output, if there is one that suits it.
fn slot_of(step: &Step, port: &Port, slots: &[Slot], mistakes: &mut Vec<ProgramErrorKind>) -> Option<SlotId> {
    let renamed = step.renamed.iter().find(|(name, _)| *name == port.name);
    let wanted = renamed.map_or(&port.name, |(_, slot)| slot);
    let Some(id) = find(slots, wanted) else {
        let known = slots.iter().map(|slot| slot.name.clone()).collect();
        mistakes.push(ProgramErrorKind::UnknownSlot { slot: wanted.clone(), known });
        return None;
    };
    let (slot, name) = (wanted.clone(), format!("{} `{}`", port.kind, port.name));
    let own = &slots[id.0];
    if own.ty != port.ty {
        mistakes.push(ProgramErrorKind::Type { slot, found: own.ty, name, expected: port.ty });
        return None;
    }
    if own.dims != port.dims {
        mistakes.push(ProgramErrorKind::Dims { slot, found: own.dims, name, expected: port.dims });
        return None;
    }
    Some(id)
}
