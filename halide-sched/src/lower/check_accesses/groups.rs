//! Inequalities of accesses, grouped where hoisting took them.
//!
//! Accesses of one loop mostly ask for the same at its outside, but for a constant: each such group is decided once, for
//! its least constant, with what is known at the place that it came to.

use super::Place;
use crate::access::{Frame, Hoisted, Poly, Prover, Reader, Terms, condition};
use crate::ir::hash::Map;

/// The number of a group.
pub(super) type GroupId = usize;

/// Inequalities `0 <= p + constant` of accesses under the same conditions, to be asked at one place.
pub(super) struct Group {
    pub(super) place: Place,
    pub(super) p: Poly,
    pub(super) guards: Vec<Poly>,
    /// True if it can be asked there at all.
    pub(super) is_askable: bool,
    constants: Vec<i128>,
    /// The least of the constants from which on all are proved.
    proved_from: Option<i128>,
}

/// All groups of a program.
#[derive(Default)]
pub(super) struct Groups {
    list: Vec<Group>,
    index: Map<(u32, Poly, Vec<Poly>), GroupId>,
    /// The groups of each frame that is open.
    open: Vec<Vec<GroupId>>,
}

impl Groups {
    /// Notes that a frame begins.
    pub(super) fn begin(&mut self) {
        self.open.push(Vec::new());
    }

    /// Takes in an inequality at the frame it came to.
    pub(super) fn add(&mut self, h: &Hoisted, frames: &[Frame], terms: &Terms) -> (GroupId, i128) {
        let frame = &frames[h.frame];
        let constant = h.p.constant_term();
        let key = (frame.id, h.p.without_constant(), h.guards.clone());
        let id = match self.index.get(&key) {
            Some(id) => *id,
            None => {
                let (_, p, guards) = key.clone();
                let in_memory = |p: &Poly| terms.level_of(p) >= Reader::IN_MEMORY;
                let is_askable =
                    !in_memory(&p) && !guards.iter().any(in_memory) && condition(terms, &h.p, &guards).is_some();
                let (place, constants) = (frame.place, Vec::new());
                self.list.push(Group { place, p, guards, is_askable, constants, proved_from: None });
                let id = self.list.len() - 1;
                self.open[h.frame].push(id);
                self.index.insert(key, id);
                id
            }
        };
        let constants = &mut self.list[id].constants;
        if let Err(at) = constants.binary_search(&constant) {
            constants.insert(at, constant);
        }
        (id, constant)
    }

    /// Decides the groups of the innermost frame, which ends, by the first `facts` facts.
    pub(super) fn end(&mut self, reader: &mut Reader<'_>, prover: &mut Prover, facts: usize) {
        for id in self.open.pop().unwrap_or_default() {
            let group = &mut self.list[id];
            let mut holds = |c: i128| prover.holds(reader, &group.p.offset(c), &group.guards, facts);
            // Most groups are proved as a whole, or not at all.
            let (mut from, mut to) = (0, group.constants.len());
            if holds(group.constants[0]) {
                to = 0;
            } else if to == 1 || !holds(group.constants[to - 1]) {
                from = to;
            } else {
                (from, to) = (1, to - 1);
            }
            while from < to {
                let middle = (from + to) / 2;
                match holds(group.constants[middle]) {
                    true => to = middle,
                    false => from = middle + 1,
                }
            }
            group.proved_from = group.constants.get(from).copied();
        }
    }

    /// True if `0 <= p + constant` is proved of a group that was decided.
    pub(super) fn is_proved(&self, id: GroupId, constant: i128) -> bool {
        self.list[id].proved_from.is_some_and(|from| from <= constant)
    }

    /// The group of a number.
    pub(super) fn get(&self, id: GroupId) -> &Group {
        &self.list[id]
    }
}
