//! Walking loop IR: the children of a node, and a node rebuilt with other children. There are no visitor objects; a
//! pass matches what it changes and hands the rest to these functions.
//!
//! Walks are compiled once: functions that take a closure hand it on as `dyn`, since a walk for each of the hundreds of
//! closures in the passes was a fifth of the time that building them takes (147 of core-seconds, now 115).

use super::build;
use super::callee::CallArg;
use super::expr::{Expr, ExprKind};
use super::stmt::{For, Stmt};
use super::sym::Sym;
use crate::hash::{Map, Set, begin};
use smallvec::{SmallVec, smallvec};
use std::cell::RefCell;

/// The bytes of stack that a step of a walk must find free, and those by which the stack grows otherwise.
const STACK: (usize, usize) = (256 << 10, 4 << 20);

/// `f()`, on a new piece of stack if little of the old one is left: for each step of a walk that recurses into nested
/// statements, which are as deep as a pipeline is long.
pub fn deep<R>(f: impl FnOnce() -> R) -> R {
    let (mut f, mut result) = (Some(f), None);
    on_stack(&mut || result = f.take().map(|f| f()));
    result.expect("the function has run")
}

fn on_stack(f: &mut dyn FnMut()) {
    stacker::maybe_grow(STACK.0, STACK.1, f);
}

/// Calls `f` on every direct child expression, in evaluation order.
pub fn for_each_child<'e>(e: &'e Expr, f: impl FnMut(&'e Expr)) {
    e.kind().for_each_child(f);
}

/// The node with every direct child replaced by `f(child)`, remade by the smart constructors; lanes may change.
/// A node whose children all stay the same is returned as it is, so that sharing survives.
pub fn map_children(e: &Expr, mut f: impl FnMut(&Expr) -> Expr) -> Expr {
    use ExprKind::*;
    let mut same = true;
    let mut g = |x: &Expr| {
        let y = f(x);
        same &= y.id() == x.id();
        y
    };
    let new = match e.kind() {
        Const(_) | Int(_) | Sym(_) | Param(_) => return e.clone(),
        Unary(op, a) => Unary(*op, g(a)),
        Cast(a) => Cast(g(a)),
        SaturatingCast(a) => SaturatingCast(g(a)),
        Reinterpret(a) => Reinterpret(g(a)),
        Likely(a) => Likely(g(a)),
        Broadcast(a) => Broadcast(g(a)),
        Binary(op, a, b) => Binary(*op, g(a), g(b)),
        Ramp { base, stride } => Ramp { base: g(base), stride: g(stride) },
        Select(c, a, b) => Select(g(c), g(a), g(b)),
        Math(m, args) => Math(*m, args.iter().map(&mut g).collect()),
        Intrinsic(i, args) => Intrinsic(*i, args.iter().map(&mut g).collect()),
        Read { buf, args } => Read { buf: *buf, args: args.iter().map(&mut g).collect() },
        Shuffle(args, lanes) => Shuffle(args.iter().map(&mut g).collect(), lanes.clone()),
        Load { buf, index, mask } => Load { buf: *buf, index: g(index), mask: mask.as_ref().map(&mut g) },
    };
    if same { e.clone() } else { build::remake(new, e.ty()) }
}

/// A memo table for rewriting a DAG: each shared node is rewritten once.
#[derive(Default)]
pub struct Memo {
    done: Map<Expr, Expr>,
}

impl Memo {
    /// An empty table. Use one per environment: a result must depend on the node alone.
    pub fn new() -> Memo {
        Memo::default()
    }
    /// The remembered result for `e`, or that of `make`, remembered.
    pub fn get(&mut self, e: &Expr, make: impl FnOnce(&mut Memo) -> Expr) -> Expr {
        if let Some(known) = self.done.get(e) {
            return known.clone();
        }
        let made = make(self);
        self.done.insert(e.clone(), made.clone());
        made
    }
    /// The result for `root` when `make` gives the result for every node, from the results of its children: its second
    /// argument looks those up.
    pub fn rewrite(&mut self, root: &Expr, mut make: impl FnMut(&Expr, &dyn Fn(&Expr) -> Expr) -> Expr) -> Expr {
        // For a leaf, no table is made.
        if self.done.is_empty() && is_leaf(root) {
            return make(root, &Expr::clone);
        }
        fold(root, &mut self.done, &mut make)
    }
}

/// Returns true if `e` has no children.
pub fn is_leaf(e: &Expr) -> bool {
    matches!(e.kind(), ExprKind::Const(_) | ExprKind::Int(_) | ExprKind::Sym(_) | ExprKind::Param(_))
}

/// `e` with every symbol for which `lookup` has a value replaced by it. Values are not searched again.
pub fn substitute(e: &Expr, lookup: &dyn Fn(Sym) -> Option<Expr>) -> Expr {
    match e.kind() {
        ExprKind::Const(_) | ExprKind::Int(_) | ExprKind::Param(_) => return e.clone(),
        ExprKind::Sym(s) => return lookup(*s).unwrap_or_else(|| e.clone()),
        _ => {}
    }
    // Most have nothing to replace, which a look finds out for less than a rewrite.
    if !any_node(e, |n| matches!(n.kind(), ExprKind::Sym(s) if lookup(*s).is_some())) {
        return e.clone();
    }
    substitute_with(e, lookup, &mut Memo::new())
}

/// As [`substitute`], sharing a memo table between calls with the same `lookup`.
pub fn substitute_with(e: &Expr, lookup: &dyn Fn(Sym) -> Option<Expr>, memo: &mut Memo) -> Expr {
    memo.rewrite(e, |e, done| match e.kind() {
        ExprKind::Sym(s) => lookup(*s).unwrap_or_else(|| e.clone()),
        _ => map_children(e, done),
    })
}

/// `e` without marks of what is likely.
pub fn without_likely(e: &Expr) -> Expr {
    Memo::new().rewrite(e, |n, done| match n.kind() {
        ExprKind::Likely(inner) => done(inner),
        _ => map_children(n, done),
    })
}

/// Calls `f` once on every distinct node of the DAG, children before parents.
pub fn for_each_node(e: &Expr, f: &mut impl FnMut(&Expr)) {
    let mut seen = Seen::default();
    walk(e, &mut |n| seen.insert(n), f);
}

/// The value of every node of `e` that `table` does not have yet, from those of its children; the result is that of
/// `e`. The third argument of `make` looks up children.
pub fn fold<T: Clone>(e: &Expr, table: &mut Map<Expr, T>, make: &mut impl FnMut(&Expr, &dyn Fn(&Expr) -> T) -> T) -> T {
    let shared = RefCell::new(&mut *table);
    walk(e, &mut |n| !shared.borrow().contains_key(n), &mut |n| {
        let made = make(n, &|c| shared.borrow()[c].clone());
        let table = &mut *shared.borrow_mut();
        begin(table, 24);
        table.insert(n.clone(), made);
    });
    table[e].clone()
}

/// Visits nodes for which `enter` holds, children before parents. Does not recurse, since expressions grow as deep as a
/// pipeline is long.
fn walk(e: &Expr, enter: &mut dyn FnMut(&Expr) -> bool, leave: &mut dyn FnMut(&Expr)) {
    let mut stack: Pending<'_> = smallvec![(e, false)];
    while let Some((e, ready)) = stack.pop() {
        if ready {
            leave(e);
        } else if enter(e) {
            if is_leaf(e) {
                leave(e);
                continue;
            }
            stack.push((e, true));
            push_children(e, &mut stack);
        }
    }
}

/// Nodes that a walk has yet to visit, each with true once its children were.
pub type Pending<'e> = SmallVec<[(&'e Expr, bool); 16]>;

/// Pushes the children of `e`, the first one last, so that they are popped in their order.
#[inline]
pub fn push_children<'e>(e: &'e Expr, stack: &mut Pending<'e>) {
    // Most nodes have two.
    if let ExprKind::Binary(_, a, b) = e.kind() {
        stack.push((b, false));
        stack.push((a, false));
        return;
    }
    let first = stack.len();
    for_each_child(e, |c| stack.push((c, false)));
    stack[first..].reverse();
}

/// Returns true if any node of `e` satisfies `test`, which is asked of each node at most once.
pub fn any_node(e: &Expr, mut test: impl FnMut(&Expr) -> bool) -> bool {
    any_of(e, &mut test)
}

fn any_of(e: &Expr, test: &mut dyn FnMut(&Expr) -> bool) -> bool {
    let mut seen = Seen::default();
    let mut stack: SmallVec<[&Expr; 16]> = smallvec![e];
    while let Some(e) = stack.pop() {
        if !seen.insert(e) {
            continue;
        }
        if test(e) {
            return true;
        }
        for_each_child(e, |c| stack.push(c));
    }
    false
}

/// Addresses of shared nodes, which a walk may come to again; as long as they are few in a list, which costs less than
/// a table.
#[derive(Default)]
struct Seen {
    few: SmallVec<[usize; 24]>,
    /// Hash bits of those in the list: most nodes are new, and this tells without a search.
    bits: u64,
    many: Set<usize>,
}

impl Seen {
    /// Adds a node of the walk; returns true if it is new.
    fn insert(&mut self, e: &Expr) -> bool {
        const FEW: usize = 24;
        if !e.is_shared() {
            return true;
        }
        let id = e.id();
        if !self.many.is_empty() {
            return self.many.insert(id);
        }
        let bit = 1 << ((id as u64).wrapping_mul(crate::hash::FACTOR) >> 58);
        if self.bits & bit != 0 && self.few.contains(&id) {
            return false;
        }
        self.bits |= bit;
        if self.few.len() < FEW {
            self.few.push(id);
            return true;
        }
        self.many.reserve(100);
        self.many.extend(self.few.drain(..));
        self.many.insert(id)
    }
}

/// Returns true if `e` uses the symbol `s`.
pub fn uses(e: &Expr, s: Sym) -> bool {
    any_node(e, |n| matches!(n.kind(), ExprKind::Sym(t) if *t == s))
}

/// Calls `f` on every expression directly in `s` (not in nested statements), in evaluation order.
pub fn for_each_expr(s: &Stmt, mut f: impl FnMut(&Expr)) {
    each_expr(s, &mut f);
}

fn each_expr(s: &Stmt, f: &mut dyn FnMut(&Expr)) {
    match s {
        Stmt::Block(_) | Stmt::Produce { .. } | Stmt::Atomic { .. } => {}
        Stmt::Let { bindings, .. } => bindings.iter().for_each(|(_, e)| f(e)),
        Stmt::For(l) => {
            f(&l.min);
            f(&l.extent);
            l.condition.iter().for_each(f);
        }
        Stmt::If { cond, .. } => f(cond),
        Stmt::Assert { cond, args, .. } => {
            f(cond);
            args.iter().for_each(f);
        }
        Stmt::Print { when, args, .. } => {
            f(when);
            args.iter().for_each(f);
        }
        Stmt::Realize { bounds, when, .. } => {
            bounds.iter().for_each(|(min, extent)| {
                f(min);
                f(extent);
            });
            when.iter().for_each(f);
        }
        Stmt::Provide { args, values, mask, .. } => {
            args.iter().for_each(&mut *f);
            values.iter().for_each(|(_, v)| f(v));
            mask.iter().for_each(f);
        }
        Stmt::Alloc { count, .. } => f(count),
        Stmt::Store { index, value, mask, .. } => {
            f(index);
            f(value);
            mask.iter().for_each(f);
        }
        Stmt::Free { .. } | Stmt::Reside { .. } | Stmt::Barrier => {}
        Stmt::Prefetch { at, .. } => at.iter().for_each(f),
        Stmt::Call { args, .. } => args.iter().flat_map(CallArg::exprs).for_each(f),
        Stmt::Dispatch { grid, .. } => grid.iter().for_each(f),
        Stmt::Count { amount, .. } => f(amount),
        Stmt::Launch { min, extent, .. } => {
            f(min);
            f(extent);
        }
    }
}

/// The statements directly in `s`.
pub fn nested(s: &Stmt) -> impl Iterator<Item = &Stmt> {
    let (list, one, two): (&[Stmt], Option<&Stmt>, Option<&Stmt>) = match s {
        Stmt::Block(list) => (list, None, None),
        Stmt::For(l) => (&[], Some(&l.body), None),
        Stmt::If { then, otherwise, .. } => (&[], Some(then), Some(otherwise)),
        Stmt::Let { body, .. }
        | Stmt::Produce { body, .. }
        | Stmt::Atomic { body, .. }
        | Stmt::Realize { body, .. }
        | Stmt::Alloc { body, .. } => (&[], Some(body), None),
        Stmt::Assert { .. }
        | Stmt::Print { .. }
        | Stmt::Provide { .. }
        | Stmt::Free { .. }
        | Stmt::Prefetch { .. }
        | Stmt::Store { .. }
        | Stmt::Call { .. }
        | Stmt::Count { .. }
        | Stmt::Launch { .. }
        | Stmt::Dispatch { .. }
        | Stmt::Reside { .. }
        | Stmt::Barrier => (&[], None, None),
    };
    list.iter().chain(one).chain(two)
}

/// Calls `f` on every statement directly in `s`, with stack enough to go on into it.
pub fn for_each_stmt(s: &Stmt, mut f: impl FnMut(&Stmt)) {
    each_stmt(s, &mut f);
}

fn each_stmt(s: &Stmt, f: &mut dyn FnMut(&Stmt)) {
    nested(s).for_each(|inner| deep(|| f(inner)));
}

/// Calls `f` on every expression root in `s` and all nested statements.
pub fn for_each_expr_deep(s: &Stmt, f: &mut impl FnMut(&Expr)) {
    for_each_expr(s, &mut *f);
    for_each_stmt(s, |inner| for_each_expr_deep(inner, f));
}

/// `s` with every direct expression replaced by `fe(expression)` and every direct statement by `fs(statement)`,
/// which has stack enough to go on into it.
pub fn map_stmt(s: Stmt, mut fe: impl FnMut(&Expr) -> Expr, mut fs: impl FnMut(Stmt) -> Stmt) -> Stmt {
    map_parts(s, &mut fe, &mut fs)
}

fn map_parts(s: Stmt, fe: &mut dyn FnMut(&Expr) -> Expr, fs: &mut dyn FnMut(Stmt) -> Stmt) -> Stmt {
    let mut fs = |s: Stmt| deep(|| fs(s));
    match s {
        Stmt::Block(list) => build::block(list.into_iter().map(fs)),
        Stmt::Let { bindings, body } => {
            let bindings = bindings.into_iter().map(|(s, e)| (s, fe(&e))).collect();
            build::let_in(bindings, fs(*body))
        }
        Stmt::For(l) => {
            let For { id, kind, min, extent, condition, body } = *l;
            let (min, extent) = (fe(&min), fe(&extent));
            let condition = condition.as_ref().map(fe);
            build::loop_of(For { id, kind, min, extent, condition, body: fs(body) })
        }
        Stmt::If { cond, then, otherwise } => {
            let cond = fe(&cond);
            build::if_else(cond, fs(*then), fs(*otherwise))
        }
        Stmt::Assert { cond, fault, args } => {
            Stmt::Assert { cond: fe(&cond), fault, args: args.iter().map(fe).collect() }
        }
        Stmt::Print { line, when, args } => Stmt::Print { line, when: fe(&when), args: args.iter().map(fe).collect() },
        Stmt::Produce { func, body } => Stmt::Produce { func, body: Box::new(fs(*body)) },
        Stmt::Atomic { func, body } => Stmt::Atomic { func, body: Box::new(fs(*body)) },
        Stmt::Realize { func, bounds, when, body } => {
            let bounds = bounds.iter().map(|(min, extent)| (fe(min), fe(extent))).collect();
            let when = when.as_ref().map(fe).filter(|w| build::as_bool(w) != Some(true));
            Stmt::Realize { func, bounds, when, body: Box::new(fs(*body)) }
        }
        Stmt::Provide { func, args, values, mask } => Stmt::Provide {
            func,
            args: args.iter().map(&mut *fe).collect(),
            values: values.iter().map(|(b, v)| (*b, fe(v))).collect(),
            mask: mask.as_ref().map(fe),
        },
        Stmt::Alloc { buf, count, constant, body } => {
            Stmt::Alloc { buf, count: fe(&count), constant, body: Box::new(fs(*body)) }
        }
        Stmt::Store { buf, index, value, mask } => {
            Stmt::Store { buf, index: fe(&index), value: fe(&value), mask: mask.as_ref().map(fe) }
        }
        Stmt::Free { .. } | Stmt::Reside { .. } | Stmt::Barrier => s,
        Stmt::Prefetch { buf, at, cache } => Stmt::Prefetch { buf, at: at.iter().map(fe).collect(), cache },
        Stmt::Call { callee, args } => Stmt::Call { callee, args: args.iter().map(|arg| arg.map(fe)).collect() },
        Stmt::Dispatch { kernel, grid } => Stmt::Dispatch { kernel, grid: grid.iter().map(fe).collect() },
        Stmt::Count { counter, amount } => Stmt::Count { counter, amount: fe(&amount) },
        Stmt::Launch { task, min, extent } => Stmt::Launch { task, min: fe(&min), extent: fe(&extent) },
    }
}

/// `s` with every expression in it and below replaced by `fe(expression)`.
pub fn map_exprs(s: Stmt, fe: &mut impl FnMut(&Expr) -> Expr) -> Stmt {
    fn go(s: Stmt, fe: &mut dyn FnMut(&Expr) -> Expr) -> Stmt {
        let fe = RefCell::new(fe);
        map_stmt(s, |e| (fe.borrow_mut())(e), |inner| go(inner, &mut **fe.borrow_mut()))
    }
    go(s, fe)
}
