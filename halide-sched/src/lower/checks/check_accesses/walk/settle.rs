//! Verdicts on accesses whose inequalities were gathered and decided, and the questions of those that are open.

use super::super::groups::GroupId;
use super::super::question::{IndexQuestion, Place, Question};
use super::super::tally::Verdict;
use super::{Found, KERNEL, Part, Walk};
use crate::access::{Exact, FrameKind, LaneOf, Reader, conditions};
use halide_ir::{Expr, ExprKind, LoopId, Sym, visit};

/// A group with the constant that is asked of it, and what that costs.
struct Asking {
    group: GroupId,
    constant: i128,
    cost: Verdict,
}

impl<'p> Walk<'p> {
    /// The verdict on an access whose groups are decided; what is open is asked.
    pub(super) fn settle(&mut self, found: Found<'p>, place: Place) -> Verdict {
        let is_open = |p: &&Part<'p>| !self.groups.is_proved(p.group, p.constant);
        let mut open: Vec<&Part<'p>> = found.parts.iter().filter(is_open).collect();
        self.leave_out_known(&found, &mut open);
        if !found.unknown && open.is_empty() {
            return Verdict::Proved;
        }
        let open: Vec<Asking> = open.into_iter().map(|p| self.asking(p)).collect();
        let cost = open.iter().map(|p| p.cost).max().filter(|_| !found.unknown).unwrap_or(Verdict::Inner);
        if cost == Verdict::Inner || self.exact {
            return match self.function != KERNEL && self.ask_here(&found, place) {
                true => cost,
                false => Verdict::Trusted,
            };
        }
        for Asking { group, constant, .. } in open {
            let least = self.asked.entry(group).or_insert(constant);
            *least = (*least).min(constant);
        }
        cost
    }

    /// The question of an open part: as far outside as it asks for no more than the access needs, if that is outside of
    /// the innermost loop; else as far outside as it came.
    fn asking(&mut self, part: &Part<'p>) -> Asking {
        let outside = Asking { group: part.group, constant: part.constant, cost: part.cost };
        let Exact::At(asked, more) = &part.exact else { return outside };
        let (group, constant) = self.groups.name(asked, *more, &self.frames, &mut self.reader);
        match self.cost(group, asked.frame) {
            Verdict::Inner => outside,
            cost => Asking { group, constant, cost },
        }
    }

    /// Leaves out parts of inequalities that are proved where the access stands: what asks for too much outside may be
    /// known inside. A question that is asked once, in front of all loops, costs less than a search for its proof.
    fn leave_out_known(&mut self, found: &Found<'p>, open: &mut Vec<&Part<'p>>) {
        let in_place = self.exact;
        let is_cheap = |p: &Part<'p>| p.cost == Verdict::Before && p.exact.is_here() && !in_place;
        if open.iter().all(|p| is_cheap(p)) {
            return;
        }
        let Some(asked) = self.inequalities(found) else { return };
        let facts = self.prover.len();
        let mut known: Vec<Option<bool>> = vec![None; asked.list.len()];
        open.retain(|part| {
            let p = &asked.list[part.of];
            let mut proves = || self.prover.holds(&mut self.reader, p, &asked.masks, facts);
            is_cheap(part) || !*known[part.of].get_or_insert_with(&mut proves)
        });
    }

    /// Returns true if a condition on what does not change is sure to hold here.
    pub(super) fn is_certain(&mut self, cond: &Expr) -> bool {
        if self.reader.level_of_expr(cond) >= Reader::IN_MEMORY {
            return false;
        }
        let mut open = Vec::new();
        let by_branches = self.certain.holds(cond, true, &self.reader.defs, &mut |e, value| {
            open.push((e.clone(), value));
            false
        });
        if by_branches {
            return true;
        }
        let facts = self.prover.len();
        open.retain(|(e, value)| {
            let mut list = Vec::new();
            conditions(&mut self.reader, e, *value, &LaneOf::default(), &mut list);
            !list.is_empty() && list.iter().all(|p| self.prover.holds(&mut self.reader, p, &[], facts))
        });
        let proved = |e: &Expr, value| open.contains(&(e.clone(), value));
        self.certain.holds(cond, true, &self.reader.defs, &mut |e, value| proved(e, value))
    }

    pub(super) fn innermost(&self) -> Option<LoopId> {
        match self.frames.get(*self.loops.last()?)?.kind {
            FrameKind::Loop(Sym::Loop(id)) => Some(id),
            _ => None,
        }
    }

    /// The cost of asking a group at the frame that it came to.
    pub(super) fn cost(&self, group: GroupId, at: usize) -> Verdict {
        let is_in = |positions: &[usize]| positions.first().is_some_and(|first| *first <= at);
        let in_step = self.step.as_ref().is_some_and(|step| at >= step.depth);
        if !self.groups.get(group).is_askable || in_step || is_in(&self.kernels) {
            return Verdict::Inner;
        }
        match is_in(&self.loops) {
            false => Verdict::Before,
            true if self.loops.last().is_some_and(|last| *last > at) => Verdict::Outer,
            true => Verdict::Inner,
        }
    }

    /// Asks directly before the statement at `place`, or before the atomic step that it is in; `false` if the answer
    /// may change until then.
    fn ask_here(&mut self, found: &Found<'p>, place: Place) -> bool {
        let (mut index, mut mask, mut place) = (found.index.clone(), found.mask.clone(), place);
        if let Some(step) = &self.step {
            let outside = |e: &Expr| visit::substitute(e, &|s| step.names.get(&s).cloned());
            (index, mask, place) = (outside(&index), mask.as_ref().map(outside), step.place);
            let changes = |e: &Expr| {
                visit::any_node(e, |n| matches!(n.kind(), ExprKind::Load { buf, .. } if step.stores.contains(buf)))
            };
            if changes(&index) || mask.as_ref().is_some_and(changes) {
                return false;
            }
        }
        let count = self.extents.count(found.buf).cloned();
        let question = IndexQuestion { buf: found.buf, index, mask, count, innermost: self.innermost() };
        self.questions.entry(place).or_default().push(Question::Index(question));
        true
    }
}
