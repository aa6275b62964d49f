//! Events of a run of a program of stage `Bounded`: for looking at the order of computation under a schedule.
//!
//! Loops run one iteration after the other here, so the order is that of the text. Loads of a statement come in the
//! order in which its values are computed, before its stores; what is computed and then not chosen is loaded too.

use super::code::Instr;
use super::machine::{Machine, Stop};
use crate::sym::{BufId, LoopId};
use halide_core::ids::FuncId;
use halide_core::value::Scalar;

/// One thing that a run does. Coordinates are those of the Func or image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Storage of a Func begins: the least coordinate and the number of coordinates of each dimension.
    Allocate {
        /// The Func that is stored.
        func: FuncId,
        /// Least coordinate and number of coordinates.
        region: Vec<(i64, i64)>,
    },
    /// It ends.
    Free {
        /// The Func whose storage ends.
        func: FuncId,
    },
    /// Computation of a Func begins, for the region that its place needs.
    Produce {
        /// The Func that is computed.
        func: FuncId,
    },
    /// The computation has ended.
    Produced {
        /// The Func that was computed.
        func: FuncId,
    },
    /// An element is loaded.
    Load {
        /// The buffer that is loaded from.
        buf: BufId,
        /// Its coordinates.
        at: Vec<i64>,
        /// Its value; `None` if nobody has written it, so that nobody needs it.
        value: Option<Scalar>,
    },
    /// An element is stored.
    Store {
        /// The buffer that is stored to.
        buf: BufId,
        /// Its coordinates.
        at: Vec<i64>,
        /// Its value; `None` if it was computed from what nobody has written.
        value: Option<Scalar>,
    },
    /// An iteration of a loop begins. Told to those who ask for loops.
    Iterate {
        /// The loop.
        id: LoopId,
        /// True if its iterations may run at the same time, on threads.
        parallel: bool,
        /// The value of its variable.
        value: i64,
    },
    /// The iteration that began last and has not ended, has ended.
    Iterated,
}

/// The listener, and the loads of the statement at hand.
pub(super) struct Watch<'w> {
    pub(super) tell: &'w mut dyn FnMut(Event),
    /// True if it asks for iterations of loops, too.
    loops: bool,
    loads: Vec<Event>,
}

impl<'w> Watch<'w> {
    pub(super) fn new(tell: &'w mut dyn FnMut(Event), loops: bool) -> Watch<'w> {
        Watch { tell, loops, loads: Vec::new() }
    }
}

impl Machine<'_> {
    /// Tells of an event, if anybody listens.
    pub(super) fn tell(&mut self, event: impl FnOnce() -> Event) {
        if let Some(watch) = &mut self.watch {
            (watch.tell)(event());
        }
    }

    /// Tells of an iteration, if anybody listens to these.
    pub(super) fn tell_loop(&mut self, event: impl FnOnce() -> Event) {
        if let Some(watch) = self.watch.as_mut().filter(|watch| watch.loops) {
            (watch.tell)(event());
        }
    }

    /// Remembers a load; the code may be run again to track holes, and then loads it again.
    pub(super) fn loaded(&mut self, buf: BufId, at: impl FnOnce(&Self) -> Vec<i64>, bits: Option<u64>) {
        // The coordinates are made of the rest of the machine.
        let Some(mut watch) = self.watch.take() else { return };
        let ty = self.program.buffers[buf].elem;
        let value = bits.map(|bits| Scalar::from_bits(ty, bits));
        watch.loads.push(Event::Load { buf, at: at(self), value });
        self.watch = Some(watch);
    }

    /// Runs `code` and tells of its loads once it has succeeded.
    pub(super) fn exec_watched<const TRACK: bool>(&mut self, code: &[Instr]) -> Result<(), Stop> {
        let outcome = self.exec::<TRACK>(code);
        if let Some(watch) = &mut self.watch {
            let loads = watch.loads.drain(..);
            if outcome.is_ok() {
                loads.for_each(|event| (watch.tell)(event));
            }
        }
        outcome
    }
}
