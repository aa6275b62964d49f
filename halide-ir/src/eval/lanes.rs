//! Values that the lanes of a subgroup hold for each other: each lane stores its own, and loads of those of other lanes
//! are shuffles.
//!
//! Lanes run one after the other here and in step on a device. So within a phase no lane may load what another one
//! stores.

use super::error::{Check, EvalError};
use super::machine::{Machine, Outcome};
use crate::hash::Map;
use crate::lanes::Held;
use crate::sym::BufId;

/// The last accesses of an element that a block's lanes hold.
#[derive(Clone, Copy)]
struct Mark {
    /// The row whose element it is: the other two positions of the thread that touched it first.
    row: [i64; 2],
    /// The phases in which it was stored, and loaded by a lane that does not hold it, last.
    stored: u32,
    loaded: u32,
}

/// The buffers that the lanes of the current block hold.
#[derive(Default)]
pub(super) struct LanesOfBlock {
    held: Map<BufId, Held>,
    lanes: u32,
    /// The phase that runs, from 1, and how many loops over threads are around.
    phase: u32,
    depth: u32,
    marks: Map<(BufId, usize), Mark>,
}

impl LanesOfBlock {
    pub(super) fn new(held: &[Held], lanes: u32) -> LanesOfBlock {
        LanesOfBlock { held: held.iter().map(|h| (h.buf, *h)).collect(), lanes, ..LanesOfBlock::default() }
    }
    pub(super) fn enter(&mut self) {
        self.phase += u32::from(self.depth == 0);
        self.depth += 1;
    }
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }
    /// An allocation begins again.
    pub(super) fn begin(&mut self, buf: BufId) {
        self.marks.retain(|(b, _), _| *b != buf);
    }
    /// Notes what the thread at `position` does to an element, and says what is wrong with that.
    fn touch(&mut self, held: Held, at: usize, position: [i64; 3], stores: bool) -> Option<&'static str> {
        let (phase, [lane, y, z]) = (self.phase, position);
        let own = held.holder(at as u64, self.lanes).0 as i64 == lane;
        let mark = self.marks.entry((held.buf, at)).or_insert(Mark { row: [y, z], stored: 0, loaded: 0 });
        match (stores, own) {
            _ if mark.row != [y, z] => return Some("another row's"),
            (true, false) => return Some("to be stored by the lane that holds it"),
            (true, true) if mark.loaded == phase => return Some("loaded by another lane in this phase"),
            (false, false) if mark.stored == phase => return Some("stored by another lane in this phase"),
            (true, true) => mark.stored = phase,
            (false, false) => mark.loaded = phase,
            (false, true) => {}
        }
        None
    }
}

impl Machine<'_> {
    /// Notes that the thread stores or loads an element that lanes hold; `None` if they do not hold it.
    pub(super) fn touch_held(&mut self, buf: BufId, at: usize, stores: bool) -> Option<Outcome> {
        let block = self.block.as_mut()?;
        let held = block.lanes.held.get(&buf).copied()?;
        let wrong = block.lanes.touch(held, at, block.position, stores);
        Some(wrong.map_or(Ok(()), |what| {
            let message = format!("element {at} of `{}`, which lanes hold, is {what}", self.program.buffers[buf].name);
            Err(EvalError::failed(Check::Race, message))
        }))
    }
}
