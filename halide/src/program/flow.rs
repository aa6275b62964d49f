//! The order of reads and writes: definite assignment of slots, as compilers check it of variables.

use super::bind::BoundStep;
use super::describe::When;
use super::error::{ProgramError, ProgramErrorKind};
use super::node::{Count, Node};
use super::slots::{Slot, SlotId, SlotSize};
use halide_core::error::Location;

/// Finds slots that are read where no step is sure to have written them: each once, at its first such read.
pub(super) fn read_before_written(
    slots: &[Slot],
    steps: &[BoundStep],
    sizers: &[Vec<SlotId>],
    body: &[Node],
) -> Vec<ProgramError> {
    let given = slots.iter().map(|slot| matches!(slot.size, SlotSize::Given)).collect();
    let (told, last) = (vec![false; slots.len()], vec![false; slots.len()]);
    let mut flow = Flow { slots, steps, sizers, last, in_once: false, told, mistakes: Vec::new() };
    flow.nodes(body, given);
    flow.mistakes
}

struct Flow<'p> {
    slots: &'p [Slot],
    steps: &'p [BoundStep],
    /// The slots whose values the region of each depends on: whoever writes it reads them.
    sizers: &'p [Vec<SlotId>],
    /// The slots that the last iteration of the innermost loop writes, and others need not.
    last: Vec<bool>,
    /// True in parts for one iteration: whether such parts of these run depends on the number of iterations.
    in_once: bool,
    /// The slots that a mistake is told of.
    told: Vec<bool>,
    mistakes: Vec<ProgramError>,
}

impl Flow<'_> {
    /// Returns the slots that are written behind `nodes`, given those before.
    fn nodes(&mut self, nodes: &[Node], mut written: Vec<bool>) -> Vec<bool> {
        for node in nodes {
            match node {
                Node::Step(number) => {
                    let bound = &self.steps[*number];
                    let sizes = |id: &SlotId| bound.outputs.iter().any(|out| self.sizers[out.slot.0].contains(id));
                    let read: Vec<SlotId> =
                        (0..self.slots.len()).map(SlotId).filter(|id| bound.reads(*id) || sizes(id)).collect();
                    for id in read {
                        self.read(id, &written, bound.step.at, Some(bound.step.name()));
                    }
                    bound.outputs.iter().for_each(|output| written[output.slot.0] = true);
                }
                Node::Repeat { times, body, at } => {
                    if let Count::While { slot, .. } = times {
                        self.read(*slot, &written, *at, None);
                    }
                    let around = std::mem::replace(&mut self.last, vec![false; self.slots.len()]);
                    let in_once = std::mem::replace(&mut self.in_once, false);
                    let behind = self.nodes(body, written.clone());
                    self.in_once = in_once;
                    let last = std::mem::replace(&mut self.last, around);
                    if matches!(times, Count::Constant(1..)) {
                        written = behind.iter().zip(last).map(|(behind, last)| *behind || last).collect();
                    }
                }
                Node::Once { body, .. } if self.in_once => drop(self.nodes(body, written.clone())),
                // Every iteration is behind the first.
                Node::Once { when: When::First, body } => written = self.once(body, &written),
                Node::Once { when: When::Last, body } => {
                    let behind = self.once(body, &written);
                    self.last.iter_mut().zip(behind).for_each(|(last, behind)| *last |= behind);
                }
            }
        }
        written
    }
    /// Returns the slots that are written behind parts for one iteration.
    fn once(&mut self, body: &[Node], written: &[bool]) -> Vec<bool> {
        self.in_once = true;
        let behind = self.nodes(body, written.to_vec());
        self.in_once = false;
        behind
    }
    fn read(&mut self, id: SlotId, written: &[bool], at: Location, step: Option<String>) {
        if written[id.0] || self.told[id.0] {
            return;
        }
        self.told[id.0] = true;
        let kind = ProgramErrorKind::ReadBeforeWritten { slot: self.slots[id.0].name.clone() };
        self.mistakes.push(ProgramError { at, step, kind });
    }
}
