//! Loads of neighbouring elements in code that runs from its start to its end.

use crate::shared::linear::{Linear, Sums};
use halide_ir::hash::{Map, Set};
use halide_ir::visit::for_each_child;
use halide_ir::{BufId, Expr, ExprKind, Stmt};
use std::collections::BTreeMap;

/// Loads and their neighbours.
#[derive(Default)]
pub(super) struct Neighbours(pub(super) Map<Expr, Neighbour>);

/// The other load of two, and where its element is.
#[derive(Clone)]
pub(super) struct Neighbour {
    pub(super) load: Expr,
    pub(super) above: bool,
}

/// The key of loads whose elements are a constant number of elements apart: the common part of their indices, and the
/// number of stores before them, each of which could change an index, too.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Group {
    pub(super) buf: BufId,
    pub(super) stores: u32,
    pub(super) step: i64,
    pub(super) terms: Vec<(Expr, i64)>,
    pub(super) steps: Vec<(Expr, i64)>,
    pub(super) vectors: Vec<(Expr, i64)>,
}

#[derive(Default)]
pub(super) struct Found {
    pub(super) groups: Map<Group, BTreeMap<i64, Expr>>,
    pub(super) stores: u32,
    pub(super) seen: Set<Expr>,
}

impl Found {
    pub(super) fn stmt(&mut self, s: &Stmt) {
        match s {
            Stmt::Block(list) => list.iter().for_each(|s| self.stmt(s)),
            Stmt::Let { bindings, body } => {
                bindings.iter().for_each(|(_, value)| self.expression(value));
                self.stmt(body);
            }
            Stmt::Produce { body, .. } | Stmt::Alloc { body, .. } => self.stmt(body),
            Stmt::Store { value, .. } => {
                self.expression(value);
                self.store();
            }
            Stmt::Prefetch { .. } => {}
            // These have code of their own.
            _ => self.store(),
        }
    }
    fn store(&mut self) {
        self.stores += 1;
        // The same load is another one now.
        self.seen.clear();
    }
    fn expression(&mut self, e: &Expr) {
        if e.lanes() == 1 || !self.seen.insert(e.clone()) {
            return;
        }
        for_each_child(e, |c| self.expression(c));
        let ExprKind::Load { buf, index, mask: None } = e.kind() else { return };
        if !matches!(e.ty().scalar(), Some(t) if t.bits() == 32) {
            return;
        }
        let Linear { constant, step, terms, steps, vectors } = Linear::of_index(index, &Sums::default());
        if vectors.is_empty() {
            return;
        }
        let group = Group { buf: *buf, stores: self.stores, step, terms, steps, vectors };
        self.groups.entry(group).or_default().insert(constant, e.clone());
    }
}
