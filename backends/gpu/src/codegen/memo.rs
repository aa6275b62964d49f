//! Value numbering: each distinct expression is computed once where its value is still visible and still right.
//!
//! Visible: entries live in scopes that follow the blocks of the shader. Right: a value that depends on a load is not
//! used any more when the loaded buffer may have been stored to since.

use super::builder::V;
use halide_ir::hash::Map;
use halide_ir::visit::{deep, for_each_child};
use halide_ir::{BufId, Expr, ExprKind};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The lanes of a value, at least one.
pub(super) type Lanes = Rc<[V]>;

/// Values of expressions, by scope.
pub(super) struct Memo {
    scopes: Vec<Map<Expr, (Lanes, u64)>>,
    /// Counts events: every entry and store gets a later number.
    now: u64,
    stored: Map<BufId, u64>,
    loads: Map<Expr, Rc<BTreeSet<BufId>>>,
}

impl Memo {
    pub(super) fn new() -> Memo {
        Memo { scopes: vec![Map::default()], now: 0, stored: Map::default(), loads: Map::default() }
    }
    /// The value of `e`, if it is known here.
    pub(super) fn get(&mut self, e: &Expr) -> Option<Lanes> {
        let (value, made) = self.scopes.iter().rev().find_map(|scope| scope.get(e))?.clone();
        let latest = self.loads(e).iter().filter_map(|b| self.stored.get(b)).max().copied();
        latest.is_none_or(|stored| made > stored).then_some(value)
    }
    /// Remembers the value of `e` until the innermost scope ends.
    pub(super) fn put(&mut self, e: &Expr, value: Lanes) {
        self.now += 1;
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(e.clone(), (value, self.now));
        }
    }
    pub(super) fn open(&mut self) {
        self.scopes.push(Map::default());
    }
    pub(super) fn close(&mut self) {
        self.scopes.pop();
    }
    /// `buf` may have been written.
    pub(super) fn stored(&mut self, buf: BufId) {
        self.now += 1;
        self.stored.insert(buf, self.now);
    }
    /// Returns the buffers that the value of `e` depends on.
    fn loads(&mut self, e: &Expr) -> Rc<BTreeSet<BufId>> {
        if let Some(known) = self.loads.get(e) {
            return known.clone();
        }
        let mut all = BTreeSet::new();
        for_each_child(e, |c| all.extend(deep(|| self.loads(c)).iter()));
        if let ExprKind::Load { buf, .. } = e.kind() {
            all.insert(*buf);
        }
        let all = Rc::new(all);
        self.loads.insert(e.clone(), all.clone());
        all
    }
}
