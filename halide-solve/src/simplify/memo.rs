//! Memo: results found under the facts of a scope, and the table of shared nodes.

use super::abstract_value::Known;
use super::counterexamples::Values;
use super::linear::{Term, Terms};
use super::relational_bounds::Tried;
use halide_ir::Expr;
use halide_ir::hash::{Map, begin};
use std::borrow::Borrow;
use std::hash::Hash;

/// The memory of one [`super::Facts`]. Results of outer scopes hold in inner ones, where new symbols are bound; where
/// an inner scope learns more of old symbols, it starts afresh. What a scope found out is forgotten with it.
#[derive(Default)]
pub(super) struct Cache {
    /// By the addresses of nodes, which `kept` holds: what is equal is one node once it is shared, so that nobody need
    /// compare.
    simple: Table<usize, Expr>,
    /// The nodes of `simple`, in the order of their insertion.
    kept: Vec<Expr>,
    known: Table<Expr, Known>,
    /// The results of searches for upper bounds of sums.
    bounds: Table<Terms, Tried>,
    /// The values of expressions at the points of `counterexamples`.
    values: Table<Expr, Values>,
    /// One node for all equal ones that were made here, so that comparing and hashing them is cheap.
    shared: Map<Expr, Expr>,
    scopes: Vec<Scope>,
    /// Counts insertions.
    clock: u64,
    /// Results that are older say too little.
    oldest: u64,
}

/// The state to restore when a scope ends.
#[derive(Default)]
struct Scope {
    oldest: u64,
    simple: usize,
    known: usize,
    bounds: usize,
    values: usize,
}

/// Results by expression: what a substitution makes anew, equal to what was seen before, is not looked at again.
struct Table<K, T> {
    entries: Map<K, Entry<T>>,
    /// The keys in the order of their insertion.
    log: Vec<K>,
}

struct Entry<T> {
    result: T,
    time: u64,
}

impl<K, T> Default for Table<K, T> {
    fn default() -> Table<K, T> {
        Table { entries: Map::default(), log: Vec::new() }
    }
}

impl<K: Clone + Eq + Hash, T> Table<K, T> {
    fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q, oldest: u64) -> Option<&T>
    where
        K: Borrow<Q>,
    {
        self.entries.get(key).filter(|entry| entry.time >= oldest).map(|entry| &entry.result)
    }
    fn set(&mut self, key: K, result: T, time: u64) {
        begin(&mut self.entries, 200);
        self.entries.insert(key.clone(), Entry { result, time });
        self.log.push(key);
    }
    fn forget(&mut self, start: usize) {
        for key in self.log.drain(start..) {
            self.entries.remove(&key);
        }
    }
}

impl Cache {
    /// An empty memory inside of as many scopes.
    pub(super) fn with_scopes(scopes: usize) -> Cache {
        Cache { scopes: (0..scopes).map(|_| Scope::default()).collect(), ..Cache::default() }
    }
    pub(super) fn push_scope(&mut self) {
        self.scopes.push(Scope {
            oldest: self.oldest,
            simple: self.simple.log.len(),
            known: self.known.log.len(),
            bounds: self.bounds.log.len(),
            values: self.values.log.len(),
        });
    }
    pub(super) fn pop_scope(&mut self) {
        let scope = self.scopes.pop().expect("a scope is open");
        self.simple.forget(scope.simple);
        self.kept.truncate(scope.simple);
        self.known.forget(scope.known);
        self.bounds.forget(scope.bounds);
        self.values.forget(scope.values);
        self.oldest = scope.oldest;
    }
    /// More is known now of symbols that were seen before.
    pub(super) fn hide(&mut self) {
        self.clock += 1;
        self.oldest = self.clock;
    }
    pub(super) fn simple(&self, e: &Expr) -> Option<&Expr> {
        self.simple.get(&e.id(), self.oldest)
    }
    pub(super) fn set_simple(&mut self, e: &Expr, simple: Expr) {
        self.simple.set(e.id(), simple, self.clock);
        self.kept.push(e.clone());
    }
    pub(super) fn known(&self, e: &Expr) -> Option<Known> {
        self.known.get(e, self.oldest).copied()
    }
    pub(super) fn set_known(&mut self, e: &Expr, known: Known) {
        self.known.set(e.clone(), known, self.clock);
    }
    pub(super) fn bound(&self, terms: &[Term]) -> Option<Tried> {
        self.bounds.get(terms, self.oldest).copied()
    }
    pub(super) fn set_bound(&mut self, terms: Terms, tried: Tried) {
        self.bounds.set(terms, tried, self.clock);
    }
    pub(super) fn values(&self, e: &Expr) -> Option<Values> {
        // What is learned of symbols does not move them.
        self.values.get(e, 0).copied()
    }
    pub(super) fn set_values(&mut self, e: &Expr, values: Values) {
        self.values.set(e.clone(), values, self.clock);
    }
    /// Symbols or opaque expressions of this [support](Expr::support) were moved.
    pub(super) fn forget_values(&mut self, support: u64) {
        match support {
            0 => self.values.entries.clear(),
            _ => self.values.entries.retain(|e, _| e.support() & support == 0),
        }
    }
    /// The node that stands for all equal to `e`.
    pub(super) fn share(&mut self, e: Expr) -> Expr {
        begin(&mut self.shared, 200);
        self.shared.entry(e).or_insert_with_key(Expr::clone).clone()
    }
}
