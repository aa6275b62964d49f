//! Inequalities moved out of the loops around an access.
//!
//! In `for x from a extent n` the inequality `0 <= k * x + r` with `k > 0` holds for every iteration if it holds for the
//! first one, so `0 <= k * a + r` is asked in front of the loop, where `n > 0`. Names are replaced by what they stand for
//! where an inequality leaves their scope. What was moved so holds if and only if it holds at every iteration, as long as
//! a loop variable occurs once; where it occurs more often, more may be asked than is needed.

use super::atoms::{Atom, Terms};
use super::mono::AtomId;
use super::poly::Poly;
use super::read::{LaneOf, Reader};
use crate::ir::visit::deep;
use crate::ir::{Expr, Sym};

/// The most monomials of an inequality that is moved further.
const MOST_TERMS: usize = 40;
/// The most conditions that an inequality keeps.
const MOST_GUARDS: usize = 6;
/// The most inequalities that one becomes where it speaks of the smaller of two.
const MOST_PARTS: usize = 16;

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
    /// A condition that holds inside: polynomials that are at least 0.
    If(Vec<Poly>),
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
    /// Further polynomials that must be at least 0, at the same frame, for `p` to be enough.
    needs: Vec<Poly>,
}

/// The range of a loop variable.
struct Range {
    /// Its number among all that were met.
    id: u32,
    atom: AtomId,
    low: Poly,
    high: Poly,
}

impl Reader<'_> {
    /// Moves `0 <= p`, of lane `lane` at an access inside of `frames`, out of as many frames as possible.
    pub(crate) fn hoist(&mut self, p: Poly, lane: &LaneOf, mask: &[Poly], frames: &[Frame]) -> Vec<Hoisted> {
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
        made.into_iter().map(|m| Hoisted { p: m.p.offset(constant), ..m }).collect()
    }

    fn hoist_new(&mut self, p: Poly, lane: &LaneOf, mask: &[Poly], frames: &[Frame]) -> Vec<Hoisted> {
        let mut done = Vec::new();
        for part in split_minima(&self.terms, p) {
            let start = Hoisted { p: part, guards: mask.to_vec(), needs: Vec::new(), frame: frames.len() - 1 };
            let mut start = self.out_of_memory(start);
            // Shuffled vectors have lanes of their own.
            let mut lanes = self.terms.lanes_of(&start.p);
            lanes.extend(lane.1.atoms().first().copied().filter(|a| !lanes.contains(a)));
            for atom in lanes {
                start = self.eliminate(start.clone(), atom, None).unwrap_or(start);
            }
            for p in split_minima(&self.terms, start.p.clone()) {
                self.leave_all(Hoisted { p, ..start.clone() }, frames, &mut done);
            }
        }
        done
    }

    /// The inequality with what is in memory replaced by its ends.
    fn out_of_memory(&mut self, h: Hoisted) -> Hoisted {
        match self.without_memory(&h.p) {
            Some((p, needs)) if p != h.p => Hoisted { p, needs, ..h },
            _ => h,
        }
    }

    /// Moves `h` as far out as possible. Accesses of one loop mostly differ by a constant, which goes along unchanged, and
    /// loops that stand side by side lead to the same questions around them: each is moved once.
    fn leave_all(&mut self, mut h: Hoisted, frames: &[Frame], done: &mut Vec<Hoisted>) {
        for p in std::mem::take(&mut h.needs) {
            self.leave_all(Hoisted { p, guards: Vec::new(), needs: Vec::new(), frame: h.frame }, frames, done);
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
                let made = self.leave_and_on(Hoisted { p, guards, needs: Vec::new(), frame: h.frame }, frames);
                self.hoists.insert(key, made.clone());
                made
            }
        };
        done.extend(made.into_iter().map(|m| Hoisted { p: m.p.offset(constant), ..m }));
    }

    fn leave_and_on(&mut self, h: Hoisted, frames: &[Frame]) -> Vec<Hoisted> {
        let next = if h.frame == 0 { None } else { self.leave(&h, &frames[h.frame]) };
        let Some(next) = next.filter(|next| !next.p.is_broken() && !next.guards.iter().any(Poly::is_broken)) else {
            return vec![h];
        };
        let mut made = Vec::new();
        let parts = split_minima(&self.terms, next.p.clone());
        for (i, p) in parts.into_iter().enumerate() {
            let needs = if i == 0 { next.needs.clone() } else { Vec::new() };
            let part = Hoisted { p, guards: next.guards.clone(), needs, frame: h.frame - 1 };
            deep(|| self.leave_all(part, frames, &mut made));
        }
        if made.len() > MOST_PARTS { vec![h] } else { made }
    }

    /// The inequality outside of `frame`; `None` if it has to stay.
    fn leave(&mut self, h: &Hoisted, frame: &Frame) -> Option<Hoisted> {
        match &frame.kind {
            FrameKind::Root | FrameKind::Checked => None,
            FrameKind::Kernel => Some(h.clone()),
            FrameKind::If(conditions) => {
                let mut next = h.clone();
                next.guards.extend(conditions.iter().filter(|c| !c.is_broken()).cloned());
                Some(next)
            }
            FrameKind::Let(s) => self.leave_name(h, *s, frame.level),
            FrameKind::Loop(s) => {
                let atom = self.terms.find(*s);
                let range = atom.and_then(|atom| self.loop_of(atom));
                match (atom, range) {
                    (Some(atom), Some(range)) => self.eliminate(h.clone(), atom, Some(range)),
                    // Nothing speaks of the variable; that the loop may be empty is left out.
                    _ => Some(h.clone()),
                }
            }
        }
        .filter(|next| [&next.p].into_iter().chain(&next.needs).all(|p| self.terms.level_of(p) < frame.level))
        .map(|mut next| {
            next.guards.retain(|g| self.terms.level_of(g) < frame.level);
            next.guards.dedup();
            next.guards.truncate(MOST_GUARDS);
            next
        })
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

    /// The inequality for all values of a loop variable, or of the number of a lane if there is no range.
    fn eliminate(&mut self, h: Hoisted, atom: AtomId, range: Option<(Poly, Poly)>) -> Option<Hoisted> {
        let inside = self.terms.depends(&h.p, atom);
        let concerned: Vec<Poly> = h.guards.iter().filter(|g| self.terms.depends(g, atom)).cloned().collect();
        let mut guards: Vec<Poly> = h.guards.iter().filter(|g| !self.terms.depends(g, atom)).cloned().collect();
        let lane = range.is_none();
        let (mut low, mut high) = match range {
            Some(range) => range,
            None => {
                let (low, high) = self.terms.span(atom);
                (Poly::constant(low?), Poly::constant(high?))
            }
        };
        for guard in concerned {
            match guard.linear_in(atom).and_then(|(k, rest)| Some((k.as_constant()?, rest))) {
                Some((1, rest)) if !self.terms.depends(&rest, atom) => low = self.terms.max(low, rest.scaled(-1)),
                Some((-1, rest)) if !self.terms.depends(&rest, atom) => high = self.terms.min(high, rest),
                _ => {}
            }
        }
        let some = high.minus(&low);
        if (inside || !lane) && self.terms.span_of(&some).0.is_none_or(|d| d < 0) {
            guards.push(some);
        }
        if !inside {
            return Some(Hoisted { guards, ..h });
        }
        let ids = self.ranges_met.len() as u32;
        let id = *self.ranges_met.entry((atom, low.clone(), high.clone())).or_insert(ids);
        let p = self.least(&h.p, &Range { id, atom, low, high })?;
        Some(Hoisted { p, guards, ..h })
    }

    /// A lower bound of `p` over a range.
    fn least(&mut self, p: &Poly, of: &Range) -> Option<Poly> {
        let atom = of.atom;
        let mut sum = Poly::default();
        // All monomials with one atom together: those of the variable itself have one coefficient.
        for a in p.atoms().into_iter().filter(|a| self.terms.atom_depends(*a, atom)).collect::<Vec<_>>() {
            let (factor, _) = p.linear_in(a)?;
            if self.terms.depends(&factor, atom) {
                return None;
            }
            let up = match self.terms.span_of(&factor) {
                (Some(least), _) if least >= 0 => false,
                (_, Some(most)) if most <= 0 => true,
                _ => return None,
            };
            let end = self.end(a, of, up)?;
            sum = sum.add_scaled(&factor.times(&end), 1);
        }
        let mut rest = p.clone();
        for a in p.atoms().into_iter().filter(|a| self.terms.atom_depends(*a, atom)).collect::<Vec<_>>() {
            rest = rest.linear_in(a)?.1;
        }
        Some(sum.add_scaled(&rest, 1))
    }

    /// The end of the values of `p`: the least, or with `up` the greatest.
    fn end_of(&mut self, p: &Poly, of: &Range, up: bool) -> Option<Poly> {
        if !self.terms.depends(p, of.atom) {
            return Some(p.clone());
        }
        if !up {
            return self.least(p, of);
        }
        Some(self.least(&p.scaled(-1), of)?.scaled(-1))
    }

    fn end(&mut self, a: AtomId, of: &Range, up: bool) -> Option<Poly> {
        if a == of.atom {
            return Some(if up { of.high.clone() } else { of.low.clone() });
        }
        if let Some(known) = self.ends_met.get(&(a, of.id, up)) {
            return known.clone();
        }
        let end = self.end_of_operation(a, of, up);
        self.ends_met.insert((a, of.id, up), end.clone());
        end
    }

    fn end_of_operation(&mut self, a: AtomId, of: &Range, up: bool) -> Option<Poly> {
        let atom = of.atom;
        match self.terms.atom(a).clone() {
            Atom::Min(x, y) => {
                let (x, y) = (self.end_of(&x, of, up)?, self.end_of(&y, of, up)?);
                Some(self.terms.min(x, y))
            }
            Atom::Div(x, k) => {
                let x = self.end_of(&x, of, up)?;
                Some(self.terms.div(x, k))
            }
            Atom::Mod(_, k) => Some(Poly::constant(if up { k - 1 } else { 0 })),
            Atom::Quotient(x, n) => {
                if self.terms.depends(&n, atom) {
                    return None;
                }
                let x = self.end_of(&x, of, up)?;
                Some(self.terms.quotient(x, n))
            }
            Atom::Remainder(_, n) if up => (!self.terms.depends(&n, atom)).then(|| n.offset(-1)),
            Atom::Remainder(..) => Some(Poly::constant(0)),
            Atom::Either(list) => {
                let mut ends = Vec::new();
                for p in &list {
                    ends.push(self.end_of(p, of, up)?);
                }
                let pick = |a, b| if up { self.terms.max(a, b) } else { self.terms.min(a, b) };
                ends.into_iter().reduce(pick)
            }
            Atom::Sym(_) | Atom::Lane(_) | Atom::Opaque(..) => {
                let (least, most) = self.terms.span(a);
                Some(Poly::constant(if up { most? } else { least? }))
            }
        }
    }
}

/// `0 <= p` as inequalities that together imply it: `0 <= min(a, b) + r` is one for `a` and one for `b`.
pub(crate) fn split_minima(terms: &Terms, p: Poly) -> Vec<Poly> {
    let mut done = Vec::new();
    let mut open = vec![p];
    while let Some(p) = open.pop() {
        let parts = p.atoms().into_iter().find_map(|a| {
            let (factor, rest) = p.linear_in(a)?;
            let k = factor.as_constant()?;
            let with = |x: &Poly| rest.add_scaled(x, k);
            match terms.atom(a) {
                Atom::Min(x, y) if k > 0 => Some(vec![with(x), with(y)]),
                Atom::Either(list) => Some(list.iter().map(with).collect()),
                _ => None,
            }
        });
        match parts {
            Some(parts) if done.len() + open.len() + parts.len() <= MOST_PARTS => open.extend(parts),
            _ => done.push(p),
        }
    }
    done
}

/// The inequalities that a condition means, where it is a conjunction of comparisons of indices; others are left out.
pub(crate) fn conditions(reader: &mut Reader<'_>, cond: &Expr, holds: bool, lane: &LaneOf, list: &mut Vec<Poly>) {
    use crate::ir::ExprKind;
    use halide_core::ops::{BinOp, UnOp};
    match cond.kind() {
        ExprKind::Likely(a) | ExprKind::Broadcast(a) => conditions(reader, a, holds, lane, list),
        ExprKind::Unary(UnOp::Not, a) => conditions(reader, a, !holds, lane, list),
        ExprKind::Binary(BinOp::BitAnd, a, b) if holds => {
            conditions(reader, a, holds, lane, list);
            conditions(reader, b, holds, lane, list);
        }
        ExprKind::Binary(BinOp::BitOr, a, b) if !holds => {
            conditions(reader, a, holds, lane, list);
            conditions(reader, b, holds, lane, list);
        }
        ExprKind::Sym(s) if cond.ty().is_bool() => {
            if let Some(super::read::Definition::Let(value)) = reader.defs.get(*s).cloned() {
                conditions(reader, &value, holds, lane, list);
            }
        }
        ExprKind::Binary(op, a, b) if a.ty().is_index() => {
            let (a, b) = (reader.read(a, lane), reader.read(b, lane));
            let (a, b) = (reader.expanded(&a), reader.expanded(&b));
            let less = |x: &Poly, y: &Poly| y.minus(x).offset(-1);
            let at_most = |x: &Poly, y: &Poly| y.minus(x);
            match (op, holds) {
                (BinOp::Lt, true) | (BinOp::Ge, false) => list.push(less(&a, &b)),
                (BinOp::Le, true) | (BinOp::Gt, false) => list.push(at_most(&a, &b)),
                (BinOp::Gt, true) | (BinOp::Le, false) => list.push(less(&b, &a)),
                (BinOp::Ge, true) | (BinOp::Lt, false) => list.push(at_most(&b, &a)),
                (BinOp::Eq, true) | (BinOp::Ne, false) => list.extend([at_most(&a, &b), at_most(&b, &a)]),
                _ => {}
            }
        }
        _ => {}
    }
}
