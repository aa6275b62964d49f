//! Inequalities moved out of the loops around an access.
//!
//! In `for x from a extent n` the inequality `0 <= k * x + r` with `k > 0` holds for every iteration if it holds for the
//! first one, so `0 <= k * a + r` is asked in front of the loop, where `n > 0`. Names are replaced by what they stand for
//! where an inequality leaves their scope. What was moved so holds if and only if it holds at every iteration, as long as
//! it never falls or never rises with a loop variable (`exact.rs`); else more may be asked
//! than is needed, and an inequality remembers the last place at which that was not so.

use super::atoms::Atom;
use super::conditions::split_minima;
use super::exact::Exact;
use super::poly::Poly;
use super::read::{LaneOf, Reader};
use crate::ir::Sym;
use crate::ir::visit::deep;

/// The most monomials of an inequality that is moved further.
const MOST_TERMS: usize = 40;
/// The most conditions that an inequality keeps.
const MOST_GUARDS: usize = 6;
/// The most inequalities that one becomes where it speaks of the smaller of two.
pub(super) const MOST_PARTS: usize = 16;

/// A statement around the access.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The effect on an inequality that leaves it.
    pub(crate) kind: FrameKind,
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
pub(crate) enum FrameKind {
    /// The start of the program.
    Root,
    /// One binding; several of one `Let` are a frame each.
    Let(Sym),
    /// A loop or the launch of a task.
    Loop(Sym),
    /// A condition that holds inside: polynomials that are at least 0, and true if these are all of it.
    If(Vec<Poly>, bool),
    /// Behind assertions: nothing is asked before them.
    Checked,
    /// The start of a kernel: nothing in it can be checked.
    Kernel,
}

/// An inequality where it came to.
#[derive(Clone, Debug)]
pub(crate) struct Hoisted {
    /// `0 <= p`.
    pub(crate) p: Poly,
    /// It is needed where these are all at least 0.
    pub(crate) guards: Vec<Poly>,
    /// The frame that it came to, by its number.
    pub(crate) frame: usize,
    /// The last place at which it asked for no more than its access needs.
    pub(crate) exact: Exact,
    /// Further polynomials that must be at least 0, at the same frame, for `p` to be enough.
    pub(super) needs: Vec<Poly>,
    /// True if it came from such a polynomial, which no constant of an access is added to.
    pub(super) is_need: bool,
}

impl Hoisted {
    pub(super) fn new(p: Poly, guards: Vec<Poly>, frame: usize) -> Hoisted {
        Hoisted { p, guards, frame, exact: Exact::Here, needs: Vec::new(), is_need: false }
    }

    /// The inequality of an access that is greater by `constant`.
    fn offset(self, constant: i128) -> Hoisted {
        if self.is_need || constant == 0 {
            return self;
        }
        Hoisted { p: self.p.offset(constant), exact: self.exact.offset(constant), ..self }
    }
}

impl Reader<'_> {
    /// Moves `0 <= p`, of lane `lane` at an access inside of `frames`, out of as many frames as possible. It is needed where
    /// all of `mask` are at least 0, or less often if that is not all of the mask.
    pub(crate) fn hoist(&mut self, p: Poly, lane: &LaneOf, mask: (&[Poly], bool), frames: &[Frame]) -> Vec<Hoisted> {
        let (mask, is_whole) = mask;
        let constant = p.constant_term();
        let key = (p.without_constant(), mask.to_vec(), frames[frames.len() - 1].id, lane.0);
        let made = match self.moved.get(&key) {
            Some(known) => known.clone(),
            None => {
                let made = self.hoist_new(key.0.clone(), lane, mask, frames);
                self.moved.insert(key, made.clone());
                made
            }
        };
        let exact = |h: Hoisted| if is_whole { h } else { Hoisted { exact: Exact::Nowhere, ..h } };
        made.into_iter().map(|m| exact(m.offset(constant))).collect()
    }

    fn hoist_new(&mut self, p: Poly, lane: &LaneOf, mask: &[Poly], frames: &[Frame]) -> Vec<Hoisted> {
        let (mut done, mut guards) = (Vec::new(), Vec::new());
        mask.iter().for_each(|m| self.guard(&mut guards, m.clone()));
        for part in self.split(Hoisted::new(p, guards, frames.len() - 1)) {
            let start = self.out_of_memory(part);
            // Shuffled vectors have lanes of their own.
            let mut lanes = self.terms.lanes_of(&start.p);
            lanes.extend(lane.1.atoms().first().copied().filter(|a| !lanes.contains(a)));
            let mut parts = vec![start];
            for atom in lanes {
                let each = |reader: &mut Self, h: Hoisted| reader.eliminate(h.clone(), atom, None).unwrap_or(vec![h]);
                parts = parts.into_iter().flat_map(|h| each(self, h)).collect();
            }
            for part in parts.into_iter().flat_map(|h| self.split(h)).collect::<Vec<_>>() {
                let (whole, first) = (part.exact.is_here(), done.len());
                self.leave_all(part, frames, &mut done);
                if !whole {
                    done[first..].iter_mut().for_each(|h| h.exact = Exact::Nowhere);
                }
            }
        }
        done
    }

    /// `h` as inequalities without minima; what it needs goes along with the first.
    fn split(&self, mut h: Hoisted) -> Vec<Hoisted> {
        let parts = split_minima(&self.terms, h.p.clone());
        let either = h.p.atoms().iter().any(|a| matches!(self.terms.atom(*a), Atom::Either(..)));
        if either {
            h.exact = Exact::Nowhere;
        }
        let mut needs = std::mem::take(&mut h.needs);
        parts.into_iter().map(|p| Hoisted { p, needs: std::mem::take(&mut needs), ..h.clone() }).collect()
    }

    /// The inequality with what is in memory replaced by its ends.
    fn out_of_memory(&mut self, h: Hoisted) -> Hoisted {
        match self.without_memory(&h.p) {
            Some((p, needs)) if p != h.p => Hoisted { p, needs, exact: Exact::Nowhere, ..h },
            _ => h,
        }
    }

    /// Moves `h` as far out as possible. Accesses of one loop mostly differ by a constant, which goes along unchanged, and
    /// loops that stand side by side lead to the same questions around them: each is moved once.
    fn leave_all(&mut self, mut h: Hoisted, frames: &[Frame], done: &mut Vec<Hoisted>) {
        for p in std::mem::take(&mut h.needs) {
            let first = done.len();
            self.leave_all(Hoisted::new(p, Vec::new(), h.frame), frames, done);
            done[first..].iter_mut().for_each(|need| (need.is_need, need.exact) = (true, Exact::Nowhere));
        }
        let level = [&h.p].into_iter().chain(&h.guards).map(|p| self.terms.level_of(p)).max().unwrap_or(0);
        let unconcerned = |f: &Frame| matches!(f.kind, FrameKind::Let(_)) && level < f.level;
        while unconcerned(&frames[h.frame]) {
            h.frame -= 1;
        }
        let constant = h.p.constant_term();
        let key = (h.p.without_constant(), h.guards, frames[h.frame].id);
        let made = match self.hoists.get(&key) {
            Some(known) => known.clone(),
            None => {
                let (p, guards, _) = key.clone();
                let made = self.leave_and_on(Hoisted::new(p, guards, h.frame), frames);
                self.hoists.insert(key, made.clone());
                made
            }
        };
        done.extend(made.into_iter().map(|m| m.offset(constant)));
    }

    fn leave_and_on(&mut self, h: Hoisted, frames: &[Frame]) -> Vec<Hoisted> {
        let next = if h.frame == 0 { None } else { self.leave(&h, &frames[h.frame]) };
        let is_broken = |next: &Hoisted| next.p.is_broken() || next.guards.iter().any(Poly::is_broken);
        let Some(next) = next.filter(|next| !next.iter().any(is_broken)) else { return vec![h] };
        let mut made = Vec::new();
        let parts = next.into_iter().flat_map(|next| self.split(Hoisted { frame: h.frame - 1, ..next }));
        for part in parts.collect::<Vec<_>>() {
            let (whole, first) = (part.exact.is_here(), made.len());
            deep(|| self.leave_all(part, frames, &mut made));
            if !whole {
                let own = made[first..].iter_mut().filter(|m| !m.is_need);
                own.for_each(|m| m.exact = Exact::at(&h));
            }
        }
        if made.len() > MOST_PARTS { vec![h] } else { made }
    }

    /// The inequality outside of `frame`; `None` if it has to stay.
    fn leave(&mut self, h: &Hoisted, frame: &Frame) -> Option<Vec<Hoisted>> {
        let list = match &frame.kind {
            FrameKind::Root | FrameKind::Checked => None,
            FrameKind::Kernel => Some(vec![h.clone()]),
            FrameKind::If(conditions, is_whole) => {
                let mut next = h.clone();
                for condition in conditions.iter().filter(|c| !c.is_broken()) {
                    self.guard(&mut next.guards, condition.clone());
                }
                if !is_whole || conditions.iter().any(Poly::is_broken) {
                    next.exact = Exact::Nowhere;
                }
                Some(vec![next])
            }
            FrameKind::Let(s) => self.leave_name(h, *s, frame.level).map(|next| vec![next]),
            FrameKind::Loop(s) => {
                let atom = self.terms.find(*s);
                let range = atom.and_then(|atom| self.loop_of(atom));
                match (atom, range) {
                    (Some(atom), Some(range)) => self.eliminate(h.clone(), atom, Some(range)),
                    // Nothing speaks of the variable; that the loop may be empty is left out.
                    _ => Some(vec![Hoisted { exact: Exact::Nowhere, ..h.clone() }]),
                }
            }
        }
        .filter(|list: &Vec<Hoisted>| {
            let mut all = list.iter().flat_map(|next| [&next.p].into_iter().chain(&next.needs));
            all.all(|p| self.terms.level_of(p) < frame.level)
        });
        let mut list = list?;
        for next in &mut list {
            next.guards.dedup();
            let all = next.guards.len();
            next.guards.retain(|g| self.terms.level_of(g) < frame.level);
            next.guards.truncate(MOST_GUARDS);
            if next.guards.len() < all {
                next.exact = Exact::Nowhere;
            }
        }
        Some(list)
    }

    fn leave_name(&mut self, h: &Hoisted, s: Sym, level: u32) -> Option<Hoisted> {
        if self.terms.level_of(&h.p) < level && h.guards.iter().all(|g| self.terms.level_of(g) < level) {
            return Some(h.clone());
        }
        let atom = self.terms.find(s)?;
        let value = self.value_of(atom)?;
        let value = self.expanded(&value);
        // Accesses share the atoms that names occur in.
        let mut memo = self.renamed.remove(&atom).unwrap_or_default();
        let p = self.terms.replaced(&h.p, atom, &value, &mut memo);
        let guards = h.guards.iter().map(|g| self.terms.replaced(g, atom, &value, &mut memo)).collect();
        self.renamed.insert(atom, memo);
        if p.is_broken() || p.len() > MOST_TERMS {
            return None;
        }
        Some(self.out_of_memory(Hoisted { p, guards, ..h.clone() }))
    }
}
