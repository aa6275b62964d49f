//! The expressions under construction: one arena per thread, the only global of the crate.
//!
//! `Expr` is a copyable handle (slot and generation), so nobody tells when the last one is gone. The arena therefore
//! sweeps: when it has grown well beyond what was alive after the last sweep, everything that no live `Func` or `RDom`
//! reaches is freed, except the youngest nodes, which a user may still hold, and those that were the youngest when a
//! left side was written whose value is not known yet. A handle whose slot was freed is found out by its generation and
//! becomes a diagnostic.

use crate::error::{AlgorithmError, AlgorithmErrorKind, Location};
use crate::func::FuncBody;
use crate::names::{Name, Names};
use crate::ops::{BinOp, MathFn, UnOp};
use crate::param::{ImageBody, ParamData};
use crate::pipeline::{DimField, NoteDef};
use crate::rdom::RDomBody;
use crate::types::ScalarType;
use crate::value::Scalar;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;
use std::rc::{Rc, Weak};

/// An expression: a copyable handle into this thread's arena.
///
/// Made by operators and functions of variables, numbers, calls of Funcs and other expressions. A mistake is recorded
/// with its place, and reported by `Pipeline::new`.
///
/// ```
/// use halide_core::expr::{cast, clamp, select};
/// use halide_core::{Expr, Pipeline, Func, vars};
/// let (x, y) = vars!(x, y);
/// let distance: Expr = x * x + y * y;
/// let mut disc = Func::new("disc");
/// disc[(x, y)] = select(distance.le(100), cast::<u8>(clamp(distance, 0, 255)), 0u8);
/// assert!(Pipeline::new([&disc]).is_ok());
/// ```
#[derive(Clone, Copy)]
pub struct Expr {
    slot: u32,
    generation: u32,
    /// Handles mean nothing on another thread, so they cannot be sent there.
    here: PhantomData<*const ()>,
}

/// The type of a node's value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ty {
    One(ScalarType),
    /// A tuple.
    Many(Rc<[ScalarType]>),
    /// Poisoned, or not known yet.
    None,
}

/// A literal of Rust, which takes the type of the other operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Literal {
    Int(i128),
    Float(f64),
}

#[derive(Clone)]
pub(crate) enum Kind {
    Const(Scalar),
    Literal(Literal),
    Var(Name),
    RVar(Rc<RDomBody>, u8),
    Param(Rc<ParamData>),
    ImageDim(Rc<ImageBody>, u8, DimField),
    Unary(UnOp, Expr),
    Binary(BinOp, Expr, Expr),
    Select(Expr, Expr, Expr),
    Cast(Expr),
    SaturatingCast(Expr),
    Reinterpret(Expr),
    Math(MathFn, Vec<Expr>),
    /// A read of a Func, or of all its elements if it is a tuple; and how many definitions it had then.
    Call(Rc<FuncBody>, Vec<Expr>, usize),
    Element(Expr, usize),
    Image(Rc<ImageBody>, Vec<Expr>),
    Likely(Expr),
    /// As `Likely`, if the innermost loop runs over it.
    LikelyIfInnermost(Expr),
    /// Its operand, whose float operations stay as they are.
    Strict(Expr),
    /// Nothing is to be stored here.
    Undef,
    /// The contents of an output's buffer before the run, of tuple element `.0`; made when `Undef` is frozen.
    Before(u8),
    /// The second operand; a requirement that the first holds, or a line printed where it does. The parts are shown.
    Note(Rc<NoteDef>, Expr, Expr, Vec<Expr>),
    /// 32 random bits, the same for the same seed, place and coordinates.
    Random(Expr),
    Tuple(Vec<Expr>),
    /// One value for each site of an update: `scatter` and `gather`.
    Sites(Vec<Expr>),
    /// The old value on a left side of a Func that has no definition yet: the identity of the operator.
    Undefined(Rc<FuncBody>),
    /// A mistake, its own or those of its operands, all of which it keeps so that theirs are reported too.
    Poison(Option<Rc<AlgorithmError>>, Vec<Expr>),
}

#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) ty: Ty,
    pub(crate) at: Location,
}

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
    funcs: Registry<crate::func::FuncHandle>,
    rdoms: Registry<crate::rdom::RDomHandle>,
    images: Registry<crate::shape::ImageHandle>,
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

/// Nodes younger than this many creations are never swept.
const YOUNG: u64 = 200_000;
/// An arena smaller than this is never swept.
const SMALL: usize = 400_000;

thread_local! {
    static ARENA: RefCell<Arena> = RefCell::default();
    static FILES: RefCell<HashSet<&'static str>> = RefCell::default();
}

/// The name of a text, as long-lived as places in it may be: for ever, once in each thread that reads texts.
pub(crate) fn file_name(name: &str) -> &'static str {
    FILES.with_borrow_mut(|files| match files.get(name) {
        Some(known) => *known,
        None => {
            let name: &'static str = Box::leak(name.into());
            files.insert(name);
            name
        }
    })
}

/// Adds a node.
pub(crate) fn add(kind: Kind, ty: Ty, at: Location) -> Expr {
    if ARENA.with_borrow(|a| a.slots.len() - a.free.len() >= a.next_sweep.max(SMALL)) {
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
    fn get(&self, e: Expr) -> Option<&Node> {
        self.slots.get(e.slot as usize).filter(|s| s.generation == e.generation)?.node.as_ref()
    }
}

/// The name of a text. One that is long and that nobody uses any more goes stale like an expression.
pub(crate) fn intern(text: &str) -> Name {
    if ARENA.with_borrow(|a| a.names.len() >= a.next_names_sweep.max(SMALL)) {
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
pub(crate) fn register_func(f: &Rc<crate::func::FuncHandle>) {
    ARENA.with_borrow_mut(|a| a.funcs.add(f));
}

/// Keeps what a reduction domain reaches alive while its handle lives.
pub(crate) fn register_rdom(r: &Rc<crate::rdom::RDomHandle>) {
    ARENA.with_borrow_mut(|a| a.rdoms.add(r));
}

/// Keeps what an image's rules hold alive while its handle lives.
pub(crate) fn register_image(i: &Rc<crate::shape::ImageHandle>) {
    ARENA.with_borrow_mut(|a| a.images.add(i));
}

/// The number of nodes alive: for tests and curiosity.
pub fn live_nodes() -> usize {
    ARENA.with_borrow(|a| a.slots.len() - a.free.len())
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

impl Expr {
    /// The identity of the handle.
    pub(crate) fn key(self) -> (u32, u32) {
        (self.slot, self.generation)
    }
    /// Returns true if both are the same node; equal expressions that were written twice are two nodes.
    pub fn is_node(self, other: Expr) -> bool {
        self.key() == other.key()
    }
}

/// The operands of a node; not what the Funcs and domains it mentions reach.
pub(crate) fn operands(kind: &Kind, out: &mut Vec<Expr>) {
    match kind {
        Kind::Call(_, args, _) | Kind::Image(_, args) => out.extend(args),
        Kind::RVar(..) | Kind::ImageDim(..) | Kind::Undefined(_) => {}
        other => children(other, out),
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

/// The node's kind with each operand replaced.
pub(crate) fn map_operands(kind: Kind, mut f: impl FnMut(Expr) -> Expr) -> Kind {
    let mut all = |args: Vec<Expr>| args.into_iter().map(&mut f).collect::<Vec<_>>();
    match kind {
        Kind::Math(op, args) => Kind::Math(op, all(args)),
        Kind::Call(body, args, defs) => Kind::Call(body, all(args), defs),
        Kind::Image(body, args) => Kind::Image(body, all(args)),
        Kind::Tuple(args) => Kind::Tuple(all(args)),
        Kind::Sites(args) => Kind::Sites(all(args)),
        Kind::Poison(error, args) => Kind::Poison(error, all(args)),
        Kind::Unary(op, a) => Kind::Unary(op, f(a)),
        Kind::Cast(a) => Kind::Cast(f(a)),
        Kind::SaturatingCast(a) => Kind::SaturatingCast(f(a)),
        Kind::Reinterpret(a) => Kind::Reinterpret(f(a)),
        Kind::Likely(a) => Kind::Likely(f(a)),
        Kind::LikelyIfInnermost(a) => Kind::LikelyIfInnermost(f(a)),
        Kind::Strict(a) => Kind::Strict(f(a)),
        Kind::Random(a) => Kind::Random(f(a)),
        Kind::Element(a, i) => Kind::Element(f(a), i),
        Kind::Binary(op, a, b) => Kind::Binary(op, f(a), f(b)),
        Kind::Select(c, a, b) => Kind::Select(f(c), f(a), f(b)),
        Kind::Note(note, c, a, parts) => Kind::Note(note, f(c), f(a), parts.into_iter().map(f).collect()),
        leaf @ (Kind::Const(_)
        | Kind::Literal(_)
        | Kind::Var(_)
        | Kind::RVar(..)
        | Kind::Param(_)
        | Kind::ImageDim(..)
        | Kind::Undef
        | Kind::Before(_)
        | Kind::Undefined(_)) => leaf,
    }
}

/// Direct children of a node, and the definitions that it reaches.
fn children(kind: &Kind, out: &mut Vec<Expr>) {
    match kind {
        Kind::Undef | Kind::Before(_) => {}
        Kind::Const(_) | Kind::Literal(_) | Kind::Var(_) | Kind::Param(_) => {}
        Kind::ImageDim(body, ..) => body.exprs(out),
        Kind::RVar(body, _) => body.exprs(out),
        Kind::Unary(_, a) | Kind::Cast(a) | Kind::SaturatingCast(a) | Kind::Reinterpret(a) => out.push(*a),
        Kind::LikelyIfInnermost(a) | Kind::Strict(a) => out.push(*a),
        Kind::Likely(a) | Kind::Random(a) | Kind::Element(a, _) => out.push(*a),
        Kind::Binary(_, a, b) => out.extend([*a, *b]),
        Kind::Select(c, a, b) => out.extend([*c, *a, *b]),
        Kind::Note(_, c, a, parts) => {
            out.extend([*c, *a]);
            out.extend(parts);
        }
        Kind::Math(_, args) | Kind::Tuple(args) | Kind::Sites(args) | Kind::Poison(_, args) => out.extend(args),
        Kind::Image(body, args) => {
            out.extend(args);
            body.exprs(out);
        }
        Kind::Call(body, args, _) => {
            out.extend(args);
            body.exprs(out);
        }
        Kind::Undefined(body) => body.exprs(out),
    }
}

/// Frees what nothing reaches and is not young. What nodes own does not look at the arena when it is dropped.
fn sweep() {
    ARENA.with_borrow_mut(|a| {
        let marked = a.mark();
        for (i, keep) in marked.into_iter().enumerate() {
            if !keep && a.slots[i].node.take().is_some() {
                a.slots[i].generation = a.slots[i].generation.wrapping_add(1);
                a.free.push(i as u32);
            }
        }
        a.next_sweep = 2 * (a.slots.len() - a.free.len()) + SMALL / 2;
        let used = a.slots.iter().filter_map(|s| match s.node.as_ref()?.kind {
            Kind::Var(name) => Some(name),
            _ => None,
        });
        let used: Vec<Name> = used.collect();
        a.names.sweep(&used, a.created.saturating_sub(YOUNG));
        a.next_names_sweep = 2 * a.names.len() + SMALL / 2;
    });
}

impl Arena {
    /// Returns for each slot whether to keep it: slots that live Funcs and domains reach, and those that are young, or
    /// were when a left side was written whose value is still out of sight.
    fn mark(&self) -> Vec<bool> {
        let mut todo = Vec::new();
        let mut moments = vec![self.created];
        for f in self.funcs.live() {
            f.body.exprs(&mut todo);
            moments.extend(f.body.open.get().map(|open| open.born));
        }
        self.rdoms.live().for_each(|r| r.roots(&mut todo));
        self.images.live().for_each(|i| i.body.exprs(&mut todo));
        moments.sort_unstable();
        for (i, s) in self.slots.iter().enumerate() {
            let next = moments.partition_point(|m| m + YOUNG < s.born);
            if s.node.is_some() && moments.get(next).is_some_and(|m| *m <= s.born + YOUNG) {
                todo.push(Expr { slot: i as u32, generation: s.generation, here: PhantomData });
            }
        }
        let mut marked = vec![false; self.slots.len()];
        while let Some(e) = todo.pop() {
            if let Some(n) = self.get(e)
                && !std::mem::replace(&mut marked[e.slot as usize], true)
            {
                children(&n.kind, &mut todo);
            }
        }
        marked
    }
}
