//! What was already found out under the facts of a scope, and the table of shared nodes.

use super::known::Known;
use crate::ir::Expr;
use std::collections::{HashMap, HashSet};

/// The memory of one [`super::Facts`]: a layer of results per scope. Results of outer scopes hold in inner ones, where
/// new symbols are bound; where an inner scope learns more of old symbols, it starts afresh.
#[derive(Default)]
pub(super) struct Cache {
    /// Results by the address of the node, which the entry keeps alive.
    layers: Vec<Layer>,
    /// One node for all equal ones that were made here, so that comparing and hashing them is cheap.
    shared: HashSet<Expr>,
    /// For each node, which symbols may occur in it: a set of hash bits.
    support: HashMap<usize, (Expr, u64)>,
}

#[derive(Default)]
struct Layer {
    simple: HashMap<usize, (Expr, Expr)>,
    known: HashMap<usize, (Expr, Known)>,
    /// Whether what outer layers know is out of date here.
    hides: bool,
}

impl Cache {
    pub(super) fn with_layers(scopes: usize) -> Cache {
        Cache { layers: (0..scopes).map(|_| Layer::default()).collect(), ..Cache::default() }
    }
    pub(super) fn push_layer(&mut self) {
        self.layers.push(Layer::default());
    }
    pub(super) fn pop_layer(&mut self) {
        self.layers.pop();
    }
    /// More is known now of symbols that were seen before.
    pub(super) fn hide(&mut self) {
        let top = self.top();
        *top = Layer { hides: true, ..Layer::default() };
    }
    pub(super) fn simple(&self, e: &Expr) -> Option<&Expr> {
        self.visible().find_map(|l| l.simple.get(&e.id())).map(|(_, simple)| simple)
    }
    pub(super) fn set_simple(&mut self, e: &Expr, simple: Expr) {
        self.top().simple.insert(e.id(), (e.clone(), simple));
    }
    pub(super) fn known(&self, e: &Expr) -> Option<Known> {
        self.visible().find_map(|l| l.known.get(&e.id())).map(|(_, known)| *known)
    }
    pub(super) fn set_known(&mut self, e: &Expr, known: Known) {
        self.top().known.insert(e.id(), (e.clone(), known));
    }
    pub(super) fn support(&self, e: &Expr) -> Option<u64> {
        self.support.get(&e.id()).map(|(_, bits)| *bits)
    }
    pub(super) fn set_support(&mut self, e: &Expr, bits: u64) {
        self.support.insert(e.id(), (e.clone(), bits));
    }
    /// The node that stands for all equal to `e`.
    pub(super) fn share(&mut self, e: Expr) -> Expr {
        if let Some(known) = self.shared.get(&e) {
            return known.clone();
        }
        self.shared.insert(e.clone());
        e
    }

    fn top(&mut self) -> &mut Layer {
        if self.layers.is_empty() {
            self.layers.push(Layer::default());
        }
        self.layers.last_mut().expect("a layer")
    }
    fn visible(&self) -> impl Iterator<Item = &Layer> {
        let start = self.layers.iter().rposition(|l| l.hides).unwrap_or(0);
        self.layers[start..].iter().rev()
    }
}
