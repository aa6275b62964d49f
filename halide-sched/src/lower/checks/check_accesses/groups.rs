//! Inequalities of accesses, grouped where hoisting took them.
//!
//! Accesses of one loop mostly ask for the same at its outside, but for a constant: each such group is decided once,
//! for its least constant, with what is known at the place that it came to.

use super::question::Place;
use crate::access::{Asked, Frame, Hoisted, Poly, Prover, Reader, is_expressible};
use halide_ir::hash::Map;

/// The number of a group.
pub(super) type GroupId = usize;

/// Inequalities `0 <= p + constant` of accesses under the same conditions, to be asked at one place.
pub(super) struct Group<'p> {
    pub(super) place: Place,
    pub(super) p: Poly<'p>,
    pub(super) guards: &'p [Poly<'p>],
    /// The conditions under which it is asked: no question can name a choice.
    pub(super) asked_where: Vec<Poly<'p>>,
    /// True if it can be asked there at all.
    pub(super) is_askable: bool,
    constants: Vec<i128>,
    /// The least of the constants from which on all are proved.
    proved_from: Option<i128>,
}

/// All groups of a program.
#[derive(Default)]
pub(super) struct Groups<'p> {
    list: Vec<Group<'p>>,
    index: Map<(u32, Poly<'p>, &'p [Poly<'p>]), GroupId>,
    /// The groups of each frame that is open.
    open: Vec<Vec<GroupId>>,
}

impl<'p> Groups<'p> {
    /// Notes that a frame begins.
    pub(super) fn begin(&mut self) {
        self.open.push(Vec::new());
    }

    /// Takes in an inequality at the frame it came to.
    pub(super) fn add(&mut self, h: &Hoisted<'p>, frames: &[Frame<'p>], reader: &mut Reader<'p>) -> (GroupId, i128) {
        let (id, constant) = self.find((&h.p, h.guards), &frames[h.frame], reader);
        if self.list[id].constants.is_empty() {
            self.open[h.frame].push(id);
        }
        let constants = &mut self.list[id].constants;
        if let Err(at) = constants.binary_search(&constant) {
            constants.insert(at, constant);
        }
        (id, constant)
    }

    /// Takes in an inequality that is asked without an attempt to prove it.
    pub(super) fn name(
        &mut self,
        asked: &Asked<'p>,
        more: i64,
        frames: &[Frame<'p>],
        reader: &mut Reader<'p>,
    ) -> (GroupId, i128) {
        self.find((&asked.p.offset(more.into()), asked.guards), &frames[asked.frame], reader)
    }

    fn find(
        &mut self,
        (p, guards): (&Poly<'p>, &'p [Poly<'p>]),
        frame: &Frame<'p>,
        reader: &mut Reader<'p>,
    ) -> (GroupId, i128) {
        let constant = p.constant_term();
        let key = (frame.id, p.without_constant(), guards);
        if let Some(id) = self.index.get(&key) {
            return (*id, constant);
        }
        let asked_where: Vec<Poly<'p>> = guards.iter().map(|guard| reader.by_some_choice(*guard)).collect();
        let in_memory = |p: &Poly<'p>| reader.terms.level_of(p) >= Reader::IN_MEMORY;
        let can_ask = |p: &Poly<'p>| !in_memory(p) && is_expressible(&reader.terms, p);
        let is_askable = can_ask(p) && asked_where.iter().all(can_ask);
        let (_, p, guards) = key;
        let (place, constants) = (frame.place, Vec::new());
        self.list.push(Group { place, p, guards, asked_where, is_askable, constants, proved_from: None });
        self.index.insert(key, self.list.len() - 1);
        (self.list.len() - 1, constant)
    }

    /// Decides the groups of the innermost frame, which ends, by the first `facts` facts.
    pub(super) fn end(&mut self, reader: &mut Reader<'p>, prover: &mut Prover<'p>, facts: usize) {
        for id in self.open.pop().unwrap_or_default() {
            let group = &mut self.list[id];
            let mut holds = |c: i128| prover.holds(reader, &group.p.offset(c), group.guards, facts);
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
    pub(super) fn get(&self, id: GroupId) -> &Group<'p> {
        &self.list[id]
    }
}
