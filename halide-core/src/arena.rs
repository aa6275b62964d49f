//! The expressions under construction: one arena per thread, the only global of the crate beside the
//! names of source files.
//!
//! `Expr` is a copyable handle (slot and generation), so nobody tells when the last one is gone. The arena therefore
//! sweeps: when it has twice the nodes that were alive after the last sweep, everything that no live `Func` or `RDom`
//! reaches is freed, except the youngest nodes, which a user may still hold, and those that were the youngest when a
//! left side was written whose value is not known yet. A handle whose slot was freed is found out by its generation and
//! becomes a diagnostic.

pub use crate::graph::expr::Expr;
pub(crate) use crate::graph::node::{Kind, Literal, Node, Ty, map_operands, operands};

use crate::error::{AlgorithmError, AlgorithmErrorKind, Location};
use crate::graph::func::FuncHandle;
use crate::graph::image::ImageHandle;
use crate::graph::node::children;
use crate::graph::rdom::RDomHandle;
use crate::names::{Name, Names};
use crate::tuning::SMALL_ARENA;
use crate::tuning::YOUNG_NODES;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;
use std::rc::{Rc, Weak};

#[derive(Default)]
struct Slot {
    generation: u32,
    /// The number of the creation; young nodes survive a sweep.
    born: u64,
    node: Option<Node>,
}

#[derive(Default)]
struct Arena {
    slots: Vec<Slot>,
    free: Vec<u32>,
    created: u64,
    next_sweep: usize,
    next_names_sweep: usize,
    names: Names,
    funcs: Registry<FuncHandle>,
    rdoms: Registry<RDomHandle>,
    images: Registry<ImageHandle>,
}

/// The owners of roots. Forgets the dead whenever it has doubled.
struct Registry<T> {
    owners: Vec<Weak<T>>,
    next_cleaning: usize,
}

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Registry { owners: Vec::new(), next_cleaning: 0 }
    }
}

impl<T> Registry<T> {
    fn add(&mut self, owner: &Rc<T>) {
        if self.owners.len() >= self.next_cleaning {
            self.owners.retain(|o| o.strong_count() > 0);
            self.next_cleaning = 2 * self.owners.len() + 64;
        }
        self.owners.push(Rc::downgrade(owner));
    }
    fn live(&self) -> impl Iterator<Item = Rc<T>> {
        self.owners.iter().filter_map(Weak::upgrade)
    }
}

thread_local! {
    static ARENA: RefCell<Arena> = RefCell::default();
}

/// Adds a node.
pub(crate) fn add(kind: Kind, ty: Ty, at: Location) -> Expr {
    if ARENA.with_borrow(|a| a.live() >= a.next_sweep.max(SMALL_ARENA)) {
        sweep();
    }
    ARENA.with_borrow_mut(|a| {
        let slot = a.free.pop().unwrap_or_else(|| {
            a.slots.push(Slot::default());
            (a.slots.len() - 1) as u32
        });
        a.created += 1;
        let born = a.created;
        let place = &mut a.slots[slot as usize];
        place.born = born;
        place.node = Some(Node { kind, ty, at });
        Expr { slot, generation: place.generation, here: PhantomData }
    })
}

/// A node that stands for a mistake.
pub(crate) fn poison(kind: AlgorithmErrorKind, at: Location) -> Expr {
    add(Kind::Poison(Some(Rc::new(AlgorithmError { at, kind })), Vec::new()), Ty::None, at)
}

/// A node that stands for an operation on mistakes that are already recorded, or on a stale handle.
pub(crate) fn poisoned(at: Location, operands: &[Expr]) -> Expr {
    let stale = operands.iter().any(|&e| is_stale(e));
    let error = stale.then(|| Rc::new(AlgorithmError { at, kind: AlgorithmErrorKind::Stale }));
    add(Kind::Poison(error, operands.to_vec()), Ty::None, at)
}

/// The node of a handle; a stale handle gives a poisoned node that says nothing (see [`is_stale`]).
pub(crate) fn node(e: Expr) -> Node {
    let found = ARENA.with_borrow(|a| a.get(e).cloned());
    found.unwrap_or_else(|| {
        let at = Location { file: "", line: 0, column: 0 };
        Node { kind: Kind::Poison(None, Vec::new()), ty: Ty::None, at }
    })
}

/// The type of a handle's value.
pub(crate) fn ty(e: Expr) -> Ty {
    ARENA.with_borrow(|a| a.get(e).map_or(Ty::None, |n| n.ty.clone()))
}

/// Returns true if the handle's node was swept.
pub(crate) fn is_stale(e: Expr) -> bool {
    ARENA.with_borrow(|a| a.get(e).is_none())
}

/// The number of nodes ever made: a clock.
pub(crate) fn now() -> u64 {
    ARENA.with_borrow(|a| a.created)
}

impl Arena {
    /// The number of nodes.
    fn live(&self) -> usize {
        self.slots.len() - self.free.len()
    }
    fn get(&self, e: Expr) -> Option<&Node> {
        self.slots.get(e.slot as usize).filter(|s| s.generation == e.generation)?.node.as_ref()
    }
}

/// The name of a text. One that is long and that nobody uses any more goes stale like an expression.
pub(crate) fn intern(text: &str) -> Name {
    if ARENA.with_borrow(|a| a.names.len() >= a.next_names_sweep.max(SMALL_ARENA)) {
        sweep();
    }
    ARENA.with_borrow_mut(|a| {
        // Names are part of the clock: a thread may make nothing else.
        a.created += 1;
        a.names.intern(text, a.created)
    })
}

/// Returns true if a name is not stale, and marks it as used.
pub(crate) fn touch(name: Name) -> bool {
    ARENA.with_borrow_mut(|a| a.names.touch(name, a.created))
}

/// The text of a name; a stale one is `?`.
pub(crate) fn name_of(name: Name) -> Rc<str> {
    ARENA.with_borrow(|a| a.names.text(name)).unwrap_or_else(|| "?".into())
}

/// Keeps what a Func reaches alive while its handle lives.
pub(crate) fn register_func(f: &Rc<FuncHandle>) {
    ARENA.with_borrow_mut(|a| a.funcs.add(f));
}

/// Keeps what a reduction domain reaches alive while its handle lives.
pub(crate) fn register_rdom(r: &Rc<RDomHandle>) {
    ARENA.with_borrow_mut(|a| a.rdoms.add(r));
}

/// Keeps what an image's rules hold alive while its handle lives.
pub(crate) fn register_image(i: &Rc<ImageHandle>) {
    ARENA.with_borrow_mut(|a| a.images.add(i));
}

/// The number of nodes alive: for tests and curiosity.
pub fn live_nodes() -> usize {
    ARENA.with_borrow(Arena::live)
}

/// The number of names in this thread's table: for tests and curiosity.
pub fn live_names() -> usize {
    ARENA.with_borrow(|a| a.names.len())
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let node = node(*self);
        match node.ty {
            Ty::One(ty) => write!(f, "Expr({ty} at {})", node.at),
            Ty::Many(types) => write!(f, "Expr({types:?} at {})", node.at),
            Ty::None => write!(f, "Expr(mistake at {})", node.at),
        }
    }
}

/// Calls `visit` with every node below `roots`, each once, in reading order; it may add expressions to visit.
/// Uses a stack of its own: expressions may be deep.
pub(crate) fn walk(roots: &[Expr], mut visit: impl FnMut(Expr, &Kind, &mut Vec<Expr>)) {
    let mut seen = HashSet::new();
    let mut todo: Vec<Expr> = roots.iter().rev().copied().collect();
    let mut below = Vec::new();
    while let Some(e) = todo.pop() {
        if !seen.insert(e.key()) {
            continue;
        }
        let node = node(e);
        visit(e, &node.kind, &mut below);
        operands(&node.kind, &mut below);
        todo.extend(below.drain(..).rev());
    }
}

/// Frees what nothing reaches and is not young. What nodes own does not look at the arena when it is dropped.
fn sweep() {
    ARENA.with_borrow_mut(|a| {
        let (marked, young) = a.mark();
        for (i, keep) in marked.into_iter().enumerate() {
            if !keep && a.slots[i].node.take().is_some() {
                a.slots[i].generation = a.slots[i].generation.wrapping_add(1);
                a.free.push(i as u32);
            }
        }
        a.next_sweep = 2 * a.live();
        let used = a.slots.iter().filter_map(|s| match s.node.as_ref()?.kind {
            Kind::Var(name) => Some(name),
            _ => None,
        });
        let used: Vec<Name> = used.collect();
        a.names.sweep(&used, a.created.saturating_sub(young));
        a.next_names_sweep = 2 * a.names.len();
    });
}

impl Arena {
    /// Returns for each slot whether to keep it, and the age up to which a node is young. Slots are kept that live
    /// Funcs and domains reach, those that are young, and those that were when a left side was written whose value is
    /// still out of sight.
    fn mark(&self) -> (Vec<bool>, u64) {
        let mut todo = Vec::new();
        let mut moments = vec![self.created];
        for f in self.funcs.live() {
            f.body.exprs(&mut todo);
            moments.extend(f.body.open.get().map(|open| open.born));
        }
        self.rdoms.live().for_each(|r| r.roots(&mut todo));
        self.images.live().for_each(|i| i.body.exprs(&mut todo));
        let mut marked = vec![false; self.slots.len()];
        let reached = self.mark_below(todo, &mut marked);
        let young = YOUNG_NODES.max(reached);
        moments.sort_unstable();
        let is_young = |born: u64| {
            let next = moments.partition_point(|m| m + young < born);
            moments.get(next).is_some_and(|m| *m <= born + young)
        };
        let expr = |(i, s): (usize, &Slot)| Expr { slot: i as u32, generation: s.generation, here: PhantomData };
        let alive = self.slots.iter().enumerate().filter(|(_, s)| s.node.is_some() && is_young(s.born));
        self.mark_below(alive.map(expr).collect(), &mut marked);
        (marked, young)
    }

    /// Marks what expressions reach, and returns how many slots that were not marked.
    fn mark_below(&self, mut todo: Vec<Expr>, marked: &mut [bool]) -> u64 {
        let mut reached = 0;
        while let Some(e) = todo.pop() {
            if let Some(n) = self.get(e)
                && !std::mem::replace(&mut marked[e.slot as usize], true)
            {
                reached += 1;
                children(&n.kind, &mut todo);
            }
        }
        reached
    }
}
