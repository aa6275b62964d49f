//! Lanes of a subgroup: who holds which element of a buffer, and where the lanes of a row are together.
//!
//! The threads of a block that differ in their first position only are a *row*. In a kernel of lanes, a row is a
//! subgroup or an equal part of one, and a buffer may be *held* by rows: each lane keeps some elements in registers,
//! and gets those of others by a shuffle, in which all lanes of the row must take part.

use super::hash::Set;
use super::visit;
use crate::build;
use crate::expr::{Expr, ExprKind};
use crate::stmt::{For, ForKind, Stmt};
use crate::sym::{BufId, Sym};

/// A buffer of block code that the lanes of each row hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Held {
    /// The allocation. Every row has `each * lanes` elements of it for itself.
    pub buf: BufId,
    /// The number of elements side by side that one lane holds, before the next lane's.
    pub run: u32,
    /// The number of elements that each lane holds in all: a multiple of `run`.
    pub each: u32,
}

impl Held {
    /// Returns the one of `lanes` lanes that holds an element, and the element's place in that lane.
    pub fn holder(&self, element: u64, lanes: u32) -> (u64, u64) {
        let (run, each, lanes) = (u64::from(self.run), u64::from(self.each), u64::from(lanes));
        let (turn, lane) = (element / (run * lanes), element / run % lanes);
        (lane, (turn * run + element % run) % each.max(1))
    }
}

/// The first of the buffers `held` that `body`, code of blocks of rows of `lanes` lanes, loads where some lanes of a
/// row may be elsewhere: outside of phases, in a phase that not all lanes run, or under conditions and in loops that
/// may differ from lane to lane.
pub fn loaded_apart(body: &Stmt, lanes: u32, held: &Set<BufId>) -> Option<BufId> {
    if held.is_empty() {
        return None;
    }
    Apart { lanes, held, vary: Set::default(), found: None }.block(body)
}

struct Apart<'h> {
    lanes: u32,
    held: &'h Set<BufId>,
    /// Symbols whose values may differ from lane to lane.
    vary: Set<Sym>,
    found: Option<BufId>,
}

impl Apart<'_> {
    fn block(mut self, body: &Stmt) -> Option<BufId> {
        self.code(body);
        self.found
    }
    /// Code of the block.
    fn code(&mut self, s: &Stmt) {
        match s {
            Stmt::For(l) if l.kind == ForKind::GpuThreads => self.phase(l),
            _ => {
                self.own(s, false);
                visit::for_each_stmt(s, |inner| self.code(inner));
            }
        }
    }
    /// Loops over threads, the innermost of which is over lanes.
    fn phase(&mut self, l: &For) {
        for e in [&l.min, &l.extent] {
            self.found = self.found.or_else(|| held_in(e, self.held));
        }
        if let Stmt::For(inner) = &l.body
            && inner.kind == ForKind::GpuThreads
        {
            return self.phase(inner);
        }
        self.vary = Set::from_iter([Sym::Loop(l.id)]);
        let all = build::as_int(&l.extent) == Some(self.lanes.into());
        self.thread(&l.body, all);
    }
    /// Code of a thread, which all lanes of a row run if they are `together`.
    fn thread(&mut self, s: &Stmt, together: bool) {
        self.own(s, together);
        let inside = match s {
            Stmt::If { cond, .. } => together && !varies(cond, &self.vary),
            Stmt::For(l) => {
                let differs = [&l.min, &l.extent].into_iter().any(|e| varies(e, &self.vary));
                if differs {
                    self.vary.insert(Sym::Loop(l.id));
                }
                // Lanes that leave a loop by its condition are not there for those that go on.
                together && !differs && !l.condition.as_ref().is_some_and(|e| varies(e, &self.vary))
            }
            // A step may be tried again by those lanes that others came between.
            Stmt::Atomic { .. } => false,
            Stmt::Let { bindings, .. } => {
                for (s, value) in bindings {
                    if varies(value, &self.vary) {
                        self.vary.insert(*s);
                    }
                }
                together
            }
            _ => together,
        };
        visit::for_each_stmt(s, |inner| self.thread(inner, inside));
    }
    /// The expressions of `s` itself.
    fn own(&mut self, s: &Stmt, together: bool) {
        if !together {
            visit::for_each_expr(s, |e| self.found = self.found.or_else(|| held_in(e, self.held)));
        }
    }
}

/// Returns true if a value may differ from lane to lane, given that the symbols `vary` do.
pub fn varies(e: &Expr, vary: &Set<Sym>) -> bool {
    visit::any_node(e, |n| match n.kind() {
        ExprKind::Sym(s) => vary.contains(s),
        // What is loaded may be another thread's doing.
        ExprKind::Load { .. } => true,
        _ => false,
    })
}

/// The first of the buffers `held` that `e` loads.
pub fn held_in(e: &Expr, held: &Set<BufId>) -> Option<BufId> {
    let mut found = None;
    visit::for_each_node(e, &mut |n| {
        if let ExprKind::Load { buf, .. } = n.kind()
            && held.contains(buf)
        {
            found = found.or(Some(*buf));
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_core::ids::Id;

    #[test]
    fn runs_of_elements_go_round_the_lanes() {
        let held = Held { buf: BufId::new(0), run: 2, each: 4 };
        let holders: Vec<(u64, u64)> = (0..8).map(|e| held.holder(e, 2)).collect();
        assert_eq!(holders, [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (0, 3), (1, 2), (1, 3)]);
        assert_eq!(held.holder(8, 2), (0, 0), "the next row's first element");
    }
}
