//! Checks of the regions that steps determine.

use super::bind::BoundStep;
use super::error::{ProgramError, ProgramErrorKind};
use super::slots::{Extent, Slot, SlotId, SlotSize};

/// Finds slots whose regions cannot be found: that no step reads, or that are as large as they themselves are.
pub(super) fn impossible(slots: &[Slot], steps: &[BoundStep]) -> Vec<ProgramError> {
    let mut mistakes = Vec::new();
    for (i, slot) in slots.iter().enumerate().filter(|(_, slot)| matches!(slot.size, SlotSize::Readers)) {
        let id = SlotId(i);
        let kind = match readers(steps, id).next() {
            None => ProgramErrorKind::NoReader { slot: slot.name.clone() },
            Some(_) if depends(slots, steps, id) => ProgramErrorKind::CircularRegion { slot: slot.name.clone() },
            Some(_) => continue,
        };
        mistakes.push(ProgramError { at: slot.at, step: None, kind });
    }
    mistakes
}

/// The steps that read a slot as an image.
fn readers(steps: &[BoundStep], id: SlotId) -> impl Iterator<Item = &BoundStep> {
    steps.iter().filter(move |step| step.images.iter().any(|(_, image)| *image == id))
}

/// Returns true if the region of a slot depends on itself.
fn depends(slots: &[Slot], steps: &[BoundStep], id: SlotId) -> bool {
    let (mut todo, mut seen) = (vec![id], vec![false; slots.len()]);
    while let Some(next) = todo.pop() {
        let on: Vec<SlotId> = match &slots[next.0].size {
            // Extents are slots of one region.
            SlotSize::Given | SlotSize::Fixed(_) | SlotSize::Sized(_) => Vec::new(),
            SlotSize::Like(other) => vec![*other],
            SlotSize::Readers => {
                readers(steps, next).flat_map(|step| step.outputs.iter().map(|output| output.slot)).collect()
            }
        };
        for other in on {
            if other == id {
                return true;
            }
            if !std::mem::replace(&mut seen[other.0], true) {
                todo.push(other);
            }
        }
    }
    false
}

/// For each slot, the slots whose values its region depends on, in the order of their numbers.
pub(super) fn sizers(slots: &[Slot], steps: &[BoundStep]) -> Vec<Vec<SlotId>> {
    (0..slots.len()).map(|i| sizers_of(slots, steps, SlotId(i))).collect()
}

fn sizers_of(slots: &[Slot], steps: &[BoundStep], id: SlotId) -> Vec<SlotId> {
    let (mut todo, mut seen, mut found) = (vec![id], vec![false; slots.len()], Vec::new());
    while let Some(next) = todo.pop() {
        if std::mem::replace(&mut seen[next.0], true) {
            continue;
        }
        match &slots[next.0].size {
            SlotSize::Given | SlotSize::Fixed(_) => {}
            SlotSize::Like(other) => todo.push(*other),
            SlotSize::Readers => {
                todo.extend(readers(steps, next).flat_map(|step| step.outputs.iter().map(|output| output.slot)));
            }
            SlotSize::Sized(extents) => found.extend(extents.iter().filter_map(|extent| match extent {
                Extent::Fixed(_) => None,
                Extent::Slot(slot) => Some(*slot),
            })),
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Finds outputs that keep elements of slots whose size is data.
pub(super) fn kept(slots: &[Slot], steps: &[BoundStep], sizers: &[Vec<SlotId>]) -> Vec<ProgramError> {
    let mut mistakes = Vec::new();
    for step in steps {
        for output in step.outputs.iter().filter(|output| output.keeps && !sizers[output.slot.0].is_empty()) {
            let kind = ProgramErrorKind::KeepsAndChanges { slot: slots[output.slot.0].name.clone() };
            mistakes.push(ProgramError { at: step.step.at, step: Some(step.step.name()), kind });
        }
    }
    mistakes
}
