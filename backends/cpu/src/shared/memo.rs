//! Value numbering: each distinct expression is emitted once where its value is still visible and still right.
//!
//! Visible: entries live in scopes that follow the dominance of blocks. Right: a value that depends on a load is
//! forgotten when the loaded buffer may have been stored to since.

use halide_ir::hash::{Map, Set};
use halide_ir::visit::for_each_child;
use halide_ir::{BufId, Expr, ExprKind, Sym};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Values of expressions, by scope.
pub(crate) struct Memo<V> {
    values: Map<Expr, Vec<Entry<V>>>,
    /// The expressions entered in each open scope; the outermost is not listed, it never ends.
    scopes: Vec<Vec<Expr>>,
    /// Counts events: every entry and store gets a later number.
    now: u64,
    stored: Map<BufId, u64>,
    /// Entries before this are not right any more, whatever they are.
    floor: u64,
    bound: Set<Sym>,
    loads: Map<Expr, Rc<BTreeSet<BufId>>>,
}

struct Entry<V> {
    value: V,
    depth: usize,
    made: u64,
}

impl<V> Default for Memo<V> {
    fn default() -> Memo<V> {
        Memo {
            values: Map::default(),
            scopes: Vec::new(),
            now: 0,
            stored: Map::default(),
            floor: 0,
            bound: Set::default(),
            loads: Map::default(),
        }
    }
}

impl<V: Clone> Memo<V> {
    /// The value of `e`, if it is known here.
    pub(crate) fn get(&mut self, e: &Expr) -> Option<V> {
        self.find(e).map(|(value, _)| value)
    }
    /// The value of `e`, if it is known here, and how many scopes were open where it was computed.
    pub(crate) fn find(&mut self, e: &Expr) -> Option<(V, usize)> {
        let entry = self.values.get(e)?.last()?;
        let (value, depth, made) = (entry.value.clone(), entry.depth, entry.made);
        let latest = self.loads(e).iter().filter_map(|b| self.stored.get(b)).max().copied().unwrap_or(0);
        (made > latest.max(self.floor)).then_some((value, depth))
    }
    /// Remembers the value of `e` until the innermost scope ends.
    pub(crate) fn put(&mut self, e: &Expr, value: V) {
        self.put_at(e, value, self.scopes.len());
    }
    /// Remembers the value of `e`, which was computed where `depth` scopes were open, until the last of these ends.
    pub(crate) fn put_at(&mut self, e: &Expr, value: V, depth: usize) {
        self.now += 1;
        let entry = Entry { value, depth, made: self.now };
        self.values.entry(e.clone()).or_default().push(entry);
        if let Some(scope) = depth.checked_sub(1).and_then(|last| self.scopes.get_mut(last)) {
            scope.push(e.clone());
        }
    }
    /// From here on values are only visible until [`Memo::close`]: a block that does not dominate what follows.
    pub(crate) fn open(&mut self) {
        self.scopes.push(Vec::new());
    }
    /// Ends the innermost scope.
    pub(crate) fn close(&mut self) {
        let depth = self.scopes.len();
        for e in self.scopes.pop().unwrap_or_default() {
            if let Some(entries) = self.values.get_mut(&e) {
                entries.retain(|entry| entry.depth < depth);
                if entries.is_empty() {
                    self.values.remove(&e);
                }
            }
        }
    }
    /// `buf` may have been written.
    pub(crate) fn stored(&mut self, buf: BufId) {
        self.now += 1;
        self.stored.insert(buf, self.now);
    }
    /// `symbol` gets a value, its first? One that had another before makes all values of that time unusable.
    pub(crate) fn bind(&mut self, symbol: Sym) -> bool {
        let first = self.bound.insert(symbol);
        if !first {
            self.now += 1;
            self.floor = self.now;
        }
        first
    }
    /// Returns the buffers that the value of `e` depends on.
    fn loads(&mut self, e: &Expr) -> Rc<BTreeSet<BufId>> {
        if let Some(known) = self.loads.get(e) {
            return known.clone();
        }
        let mut all = BTreeSet::new();
        for_each_child(e, |c| all.extend(self.loads(c).iter()));
        if let ExprKind::Load { buf, .. } = e.kind() {
            all.insert(*buf);
        }
        let all = Rc::new(all);
        self.loads.insert(e.clone(), all.clone());
        all
    }
}
