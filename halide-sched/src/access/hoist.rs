//! Inequalities moved out of the loops around an access.
//!
//! In `for x from a extent n` the inequality `0 <= k * x + r` with `k > 0` holds for every iteration if it holds for
//! the first one, so `0 <= k * a + r` is asked in front of the loop, where `n > 0`. Names are replaced by what they
//! stand for where an inequality leaves their scope. What was moved so holds if and only if it holds at every
//! iteration, as long as it never falls or never rises with a loop variable (`exact.rs`); else more may be asked than
//! is needed, and an inequality remembers the last place at which that was not so.

use super::atoms::Atom;
use super::conditions::split_minima;
use super::exact::Exact;
use super::mono::AtomId;
use super::poly::Poly;
use super::read::{LaneOf, Reader};
use crate::tuning::{MOST_HOISTED_GUARDS, MOST_HOISTED_TERMS, MOST_PARTS};
use halide_ir::Sym;
use halide_ir::visit::deep;
use smallvec::SmallVec;

/// A statement around the access.
#[derive(Clone, Debug)]
pub(crate) struct Frame<'p> {
    /// The effect on an inequality that leaves it.
    pub(crate) kind: FrameKind<'p>,
    /// Its number among all frames of the program.
    pub(crate) id: u32,
    /// The number of the first binding that is made in it.
    pub(crate) level: u32,
    /// The number of facts that hold in all of it.
    pub(crate) facts: usize,
    /// The function, the statement in it, and how many of its bindings, behind which is its inside.
    pub(crate) place: (u32, u32, u32),
}

/// The kind of statement around an access.
#[derive(Clone, Debug)]
pub(crate) enum FrameKind<'p> {
    /// The start of the program.
    Root,
    /// One binding; several of one `Let` are a frame each.
    Let(Sym),
    /// A loop or the launch of a task.
    Loop(Sym),
    /// A condition that holds inside: polynomials that are at least 0, and true if these are all of it.
    If(Vec<Poly<'p>>, bool),
    /// Behind assertions: nothing is asked before them.
    Checked,
    /// The start of a kernel: nothing in it can be checked.
    Kernel,
}

/// An inequality where it came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hoisted<'p> {
    /// `0 <= p`.
    pub(crate) p: Poly<'p>,
    /// It is needed where these are all at least 0.
    pub(crate) guards: &'p [Poly<'p>],
    /// The frame that it came to, by its number.
    pub(crate) frame: usize,
    /// The last place at which it asked for no more than its access needs.
    pub(crate) exact: Exact<'p>,
    /// Further polynomials that must be at least 0, at the same frame, for `p` to be enough.
    pub(super) needs: &'p [Poly<'p>],
    /// True if it came from such a polynomial, which no constant of an access is added to.
    pub(super) is_need: bool,
}

/// The inequalities that one becomes: mostly one.
pub(super) type Parts<'p> = SmallVec<[Hoisted<'p>; 2]>;

impl<'p> Hoisted<'p> {
    pub(super) fn new(p: Poly<'p>, guards: &'p [Poly<'p>], frame: usize) -> Hoisted<'p> {
        Hoisted { p, guards, frame, exact: Exact::Here, needs: &[], is_need: false }
    }

    /// The inequality of an access that is greater by `constant`.
    fn offset(self, constant: i128) -> Hoisted<'p> {
        if self.is_need || constant == 0 {
            return self;
        }
        Hoisted { p: self.p.offset(constant), exact: self.exact.offset(constant), ..self }
    }
}

impl<'p> Reader<'p> {
    /// Moves `0 <= p`, of lane `lane` at an access inside of `frames`, out of as many frames as possible. It is needed
    /// where all of `mask` are at least 0, or less often if that is not all of the mask.
    pub(crate) fn hoist(
        &mut self,
        p: Poly<'p>,
        lane: &LaneOf<'p>,
        (mask, is_whole): (&[Poly<'p>], bool),
        frames: &[Frame<'p>],
    ) -> impl Iterator<Item = Hoisted<'p>> + use<'p> {
        let constant = p.constant_term();
        let (p, frame) = (p.without_constant(), frames.len() - 1);
        let made = match self.moved.get(&(p, mask, frames[frame].id, lane.0)) {
            Some(known) => *known,
            None => {
                let mut guards = Vec::new();
                mask.iter().for_each(|m| self.guard(&mut guards, *m));
                let made = self.hoist_new(Hoisted::new(p, self.terms.list(&guards), frame), lane, frames);
                let (mask, made) = (self.terms.list(mask), self.terms.list(&made));
                self.moved.insert((p, mask, frames[frame].id, lane.0), made);
                made
            }
        };
        let exact = move |h: Hoisted<'p>| if is_whole { h } else { Hoisted { exact: Exact::Nowhere, ..h } };
        made.iter().map(move |m| exact(m.offset(constant)))
    }

    fn hoist_new(&mut self, h: Hoisted<'p>, lane: &LaneOf<'p>, frames: &[Frame<'p>]) -> Vec<Hoisted<'p>> {
        let mut done = Vec::new();
        for part in self.split(h) {
            let start = self.out_of_memory(part);
            // Shuffled vectors have lanes of their own.
            let mut lanes = self.terms.lanes_of(&start.p);
            lanes.extend(lane.1.atoms().first().copied().filter(|a| !lanes.contains(a)));
            let mut parts = Parts::from_elem(start, 1);
            for atom in lanes {
                let each = |h| self.eliminate(h, atom, None).unwrap_or(Parts::from_elem(h, 1));
                parts = parts.into_iter().flat_map(each).collect();
            }
            for part in parts {
                for part in self.split(part) {
                    let first = done.len();
                    self.leave_all(part, frames, &mut done);
                    if !part.exact.is_here() {
                        done[first..].iter_mut().for_each(|h| h.exact = Exact::Nowhere);
                    }
                }
            }
        }
        done
    }

    /// `h` as inequalities without minima; what it needs goes along with the first.
    fn split(&self, mut h: Hoisted<'p>) -> Parts<'p> {
        let mut parts = Parts::new();
        let may_split = |a: &AtomId| matches!(self.terms.atom(*a), Atom::Min(..) | Atom::Either(..));
        if !h.p.atoms().iter().any(may_split) {
            parts.push(h);
            return parts;
        }
        if h.p.atoms().iter().any(|a| matches!(self.terms.atom(*a), Atom::Either(..))) {
            h.exact = Exact::Nowhere;
        }
        for p in split_minima(&self.terms, h.p) {
            parts.push(Hoisted { p, ..h });
            h.needs = &[];
        }
        parts
    }

    /// The inequality with what is in memory replaced by its ends.
    fn out_of_memory(&mut self, h: Hoisted<'p>) -> Hoisted<'p> {
        match self.without_memory(&h.p) {
            Some((p, needs)) if p != h.p => Hoisted { p, needs: self.terms.list(&needs), exact: Exact::Nowhere, ..h },
            _ => h,
        }
    }

    /// Moves `h` as far out as possible. Accesses of one loop mostly differ by a constant, which goes along unchanged,
    /// and loops that stand side by side lead to the same questions around them: each is moved once.
    fn leave_all(&mut self, mut h: Hoisted<'p>, frames: &[Frame<'p>], done: &mut Vec<Hoisted<'p>>) {
        for p in std::mem::take(&mut h.needs) {
            let first = done.len();
            self.leave_all(Hoisted::new(*p, &[], h.frame), frames, done);
            done[first..].iter_mut().for_each(|need| (need.is_need, need.exact) = (true, Exact::Nowhere));
        }
        let level = [&h.p].into_iter().chain(h.guards).map(|p| self.terms.level_of(p)).max().unwrap_or(0);
        let unconcerned = |f: &Frame<'p>| matches!(f.kind, FrameKind::Let(_)) && level < f.level;
        while unconcerned(&frames[h.frame]) {
            h.frame -= 1;
        }
        let constant = h.p.constant_term();
        let key = (h.p.without_constant(), h.guards, frames[h.frame].id);
        let made = match self.hoists.get(&key) {
            Some(known) => *known,
            None => {
                let made = self.leave_and_on(Hoisted::new(key.0, key.1, h.frame), frames);
                let made = self.terms.list(&made);
                self.hoists.insert(key, made);
                made
            }
        };
        done.extend(made.iter().map(|m| m.offset(constant)));
    }

    fn leave_and_on(&mut self, h: Hoisted<'p>, frames: &[Frame<'p>]) -> Vec<Hoisted<'p>> {
        let next = if h.frame == 0 { None } else { self.leave(&h, &frames[h.frame]) };
        let is_broken = |next: &Hoisted<'p>| next.p.is_broken() || next.guards.iter().any(Poly::is_broken);
        let Some(next) = next.filter(|next| !next.iter().any(is_broken)) else {
            // What stays is asked here, for whatever is chosen.
            return self.each_choice(h).unwrap_or(vec![h]);
        };
        let mut made = Vec::new();
        for next in next {
            for part in self.split(Hoisted { frame: h.frame - 1, ..next }) {
                let first = made.len();
                deep(|| self.leave_all(part, frames, &mut made));
                if !part.exact.is_here() {
                    let exact = self.terms.exact_at(&h);
                    made[first..].iter_mut().filter(|m| !m.is_need).for_each(|m| m.exact = exact);
                }
            }
        }
        if made.len() > MOST_PARTS { vec![h] } else { made }
    }

    /// The inequality outside of `frame`; `None` if it has to stay.
    fn leave(&mut self, h: &Hoisted<'p>, frame: &Frame<'p>) -> Option<Parts<'p>> {
        let mut list = match &frame.kind {
            FrameKind::Root | FrameKind::Checked => None,
            FrameKind::Kernel => Some(Parts::from_elem(*h, 1)),
            FrameKind::If(conditions, is_whole) => {
                let mut guards = h.guards.to_vec();
                for condition in conditions.iter().filter(|c| !c.is_broken()) {
                    self.guard(&mut guards, *condition);
                }
                let is_exact = *is_whole && !conditions.iter().any(Poly::is_broken);
                let exact = if is_exact { h.exact } else { Exact::Nowhere };
                Some(Parts::from_elem(Hoisted { guards: self.terms.list_as(h.guards, &guards), exact, ..*h }, 1))
            }
            FrameKind::Let(s) => self.leave_name(h, *s, frame.level).map(|next| Parts::from_elem(next, 1)),
            FrameKind::Loop(s) => {
                let atom = self.terms.find(*s);
                let range = atom.and_then(|atom| self.loop_of(atom));
                match (atom, range) {
                    (Some(atom), Some(range)) => self.eliminate(*h, atom, Some(range)),
                    // Nothing speaks of the variable; that the loop may be empty is left out.
                    _ => Some(Parts::from_elem(Hoisted { exact: Exact::Nowhere, ..*h }, 1)),
                }
            }
        }?;
        let is_outside = |p: &Poly<'p>| self.terms.level_of(p) < frame.level;
        if !list.iter().flat_map(|next| [&next.p].into_iter().chain(next.needs)).all(is_outside) {
            return None;
        }
        for next in &mut list {
            let mut guards: SmallVec<[Poly<'p>; MOST_HOISTED_GUARDS]> = next.guards.into();
            guards.dedup();
            let all = guards.len();
            guards.retain(|guard| is_outside(guard));
            guards.truncate(MOST_HOISTED_GUARDS);
            if guards.len() < all {
                next.exact = Exact::Nowhere;
            }
            next.guards = self.terms.list_as(next.guards, &guards);
        }
        Some(list)
    }

    fn leave_name(&mut self, h: &Hoisted<'p>, s: Sym, level: u32) -> Option<Hoisted<'p>> {
        if self.terms.level_of(&h.p) < level && h.guards.iter().all(|g| self.terms.level_of(g) < level) {
            return Some(*h);
        }
        let atom = self.terms.find(s)?;
        let value = self.value_of(atom)?;
        let value = self.expanded(&value);
        // Accesses share the atoms that names occur in.
        let mut memo = self.renamed.remove(&atom).unwrap_or_default();
        let p = self.terms.replaced(&h.p, atom, &value, &mut memo);
        let list: Vec<_> = h.guards.iter().map(|g| self.terms.replaced(g, atom, &value, &mut memo)).collect();
        let guards = self.terms.list_as(h.guards, &list);
        self.renamed.insert(atom, memo);
        if p.is_broken() || p.len() > MOST_HOISTED_TERMS {
            return None;
        }
        Some(self.out_of_memory(Hoisted { p, guards, ..*h }))
    }
}
