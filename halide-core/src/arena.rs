//! The expressions under construction: one arena per thread, the only global of the crate.
//!
//! `Expr` is a copyable handle (slot and generation), so nobody tells when the last one is gone. The arena therefore
//! sweeps: when it has grown well beyond what was alive after the last sweep, everything that no live `Func` or `RDom`
//! reaches is freed, except the youngest nodes, which a user may still hold. A handle whose slot was freed is found out
//! by its generation and becomes a diagnostic.

use crate::error::{AlgorithmError, AlgorithmErrorKind, Location};
use crate::func::FuncBody;
use crate::ops::{BinOp, MathFn, UnOp};
use crate::param::{ImageBody, ParamData};
use crate::pipeline::DimField;
use crate::rdom::RDomBody;
use crate::types::ScalarType;
use crate::value::Scalar;
use std::cell::RefCell;
use std::collections::HashSet;
use std::marker::PhantomData;
use std::rc::{Rc, Weak};

/// An expression: a copyable handle into this thread's arena.
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
    /// An interned name.
    Var(u32),
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
    /// A read of a Func, or of all its elements if it is a tuple.
    Call(Rc<FuncBody>, Vec<Expr>),
    Element(Expr, usize),
    Image(Rc<ImageBody>, Vec<Expr>),
    Likely(Expr),
    Tuple(Vec<Expr>),
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
    names: Vec<Rc<str>>,
    funcs: Vec<Weak<crate::func::FuncHandle>>,
    rdoms: Vec<Weak<crate::rdom::RDomHandle>>,
}

/// Nodes younger than this many creations are never swept.
const YOUNG: u64 = 200_000;
/// An arena smaller than this is never swept.
const SMALL: usize = 400_000;

thread_local! {
    static ARENA: RefCell<Arena> = RefCell::default();
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

/// A node that stands for an operation on a mistake that is already recorded.
pub(crate) fn poisoned(at: Location, operands: &[Expr]) -> Expr {
    add(Kind::Poison(None, operands.to_vec()), Ty::None, at)
}

/// The node of a handle; a stale handle gives a poisoned node.
pub(crate) fn node(e: Expr) -> Node {
    let found = ARENA.with_borrow(|a| {
        a.slots.get(e.slot as usize).filter(|s| s.generation == e.generation).and_then(|s| s.node.clone())
    });
    found.unwrap_or_else(|| {
        let at = Location { file: "", line: 0, column: 0 };
        let error = AlgorithmError { at, kind: AlgorithmErrorKind::Stale };
        Node { kind: Kind::Poison(Some(Rc::new(error)), Vec::new()), ty: Ty::None, at }
    })
}

/// The id of a name; equal names have one id.
pub(crate) fn intern(name: &str) -> u32 {
    ARENA.with_borrow_mut(|a| match a.names.iter().position(|n| &**n == name) {
        Some(i) => i as u32,
        None => {
            a.names.push(name.into());
            (a.names.len() - 1) as u32
        }
    })
}

/// The name of an id.
pub(crate) fn name_of(id: u32) -> Rc<str> {
    ARENA.with_borrow(|a| a.names[id as usize].clone())
}

/// Keeps what a Func reaches alive while its handle lives.
pub(crate) fn register_func(f: &Rc<crate::func::FuncHandle>) {
    ARENA.with_borrow_mut(|a| a.funcs.push(Rc::downgrade(f)));
}

/// Keeps what a reduction domain reaches alive while its handle lives.
pub(crate) fn register_rdom(r: &Rc<crate::rdom::RDomHandle>) {
    ARENA.with_borrow_mut(|a| a.rdoms.push(Rc::downgrade(r)));
}

/// The number of nodes alive: for tests and curiosity.
pub fn live_nodes() -> usize {
    ARENA.with_borrow(|a| a.slots.len() - a.free.len())
}

impl Expr {
    /// The identity of the handle.
    pub(crate) fn key(self) -> (u32, u32) {
        (self.slot, self.generation)
    }
}

/// The operands of a node; not what the Funcs and domains it mentions reach.
pub(crate) fn operands(kind: &Kind, out: &mut Vec<Expr>) {
    match kind {
        Kind::Call(_, args) => out.extend(args),
        Kind::RVar(..) | Kind::Undefined(_) => {}
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
        Kind::Call(body, args) => Kind::Call(body, all(args)),
        Kind::Image(body, args) => Kind::Image(body, all(args)),
        Kind::Tuple(args) => Kind::Tuple(all(args)),
        Kind::Poison(error, args) => Kind::Poison(error, all(args)),
        Kind::Unary(op, a) => Kind::Unary(op, f(a)),
        Kind::Cast(a) => Kind::Cast(f(a)),
        Kind::SaturatingCast(a) => Kind::SaturatingCast(f(a)),
        Kind::Reinterpret(a) => Kind::Reinterpret(f(a)),
        Kind::Likely(a) => Kind::Likely(f(a)),
        Kind::Element(a, i) => Kind::Element(f(a), i),
        Kind::Binary(op, a, b) => Kind::Binary(op, f(a), f(b)),
        Kind::Select(c, a, b) => Kind::Select(f(c), f(a), f(b)),
        leaf @ (Kind::Const(_)
        | Kind::Literal(_)
        | Kind::Var(_)
        | Kind::RVar(..)
        | Kind::Param(_)
        | Kind::ImageDim(..)
        | Kind::Undefined(_)) => leaf,
    }
}

/// Direct children of a node, and the definitions that it reaches.
fn children(kind: &Kind, out: &mut Vec<Expr>) {
    match kind {
        Kind::Const(_) | Kind::Literal(_) | Kind::Var(_) | Kind::Param(_) | Kind::ImageDim(..) => {}
        Kind::RVar(body, _) => body.exprs(out),
        Kind::Unary(_, a) | Kind::Cast(a) | Kind::SaturatingCast(a) | Kind::Reinterpret(a) => out.push(*a),
        Kind::Likely(a) | Kind::Element(a, _) => out.push(*a),
        Kind::Binary(_, a, b) => out.extend([*a, *b]),
        Kind::Select(c, a, b) => out.extend([*c, *a, *b]),
        Kind::Math(_, args) | Kind::Tuple(args) | Kind::Image(_, args) | Kind::Poison(_, args) => out.extend(args),
        Kind::Call(body, args) => {
            out.extend(args);
            body.exprs(out);
        }
        Kind::Undefined(body) => body.exprs(out),
    }
}

/// Frees what nothing reaches and is not young.
fn sweep() {
    // Dropping nodes drops Func bodies, whose drop must be free to use the arena: so they leave it first.
    let dead: Vec<Node> = ARENA.with_borrow_mut(|a| {
        a.funcs.retain(|f| f.strong_count() > 0);
        a.rdoms.retain(|r| r.strong_count() > 0);
        let mut todo = Vec::new();
        a.funcs.iter().filter_map(Weak::upgrade).for_each(|f| f.body.exprs(&mut todo));
        a.rdoms.iter().filter_map(Weak::upgrade).for_each(|r| r.roots(&mut todo));
        let youngest = a.created.saturating_sub(YOUNG);
        let mut marked = vec![false; a.slots.len()];
        for (i, s) in a.slots.iter().enumerate() {
            if s.node.is_some() && s.born > youngest {
                todo.push(Expr { slot: i as u32, generation: s.generation, here: PhantomData });
            }
        }
        while let Some(e) = todo.pop() {
            let Some(slot) = a.slots.get(e.slot as usize).filter(|s| s.generation == e.generation) else { continue };
            if !std::mem::replace(&mut marked[e.slot as usize], true)
                && let Some(n) = &slot.node
            {
                children(&n.kind, &mut todo);
            }
        }
        let mut dead = Vec::new();
        for (i, keep) in marked.iter().enumerate() {
            if !keep && let Some(n) = a.slots[i].node.take() {
                a.slots[i].generation = a.slots[i].generation.wrapping_add(1);
                a.free.push(i as u32);
                dead.push(n);
            }
        }
        a.next_sweep = 2 * (a.slots.len() - a.free.len()) + SMALL / 2;
        dead
    });
    drop(dead);
}
