//! Simplifying statements: what is known grows on the way in, and what turns out to do nothing goes.

use super::dead::drop_dead_lets;
use super::expr::{is_name, simplify};
use super::facts::Facts;
use super::prove::prove;
use halide_ir::hash::Map;
use halide_ir::visit::{any_node, for_each_stmt, map_stmt};
use halide_ir::{Expr, ExprKind, For, ForKind, LoopId, Stmt, Sym, Type, build, loops_in};
use std::collections::BTreeSet;

/// The branches for which [`simplify_stmt`] searches for a proof that one side is never taken. Searches that fail are
/// what simplifying a branch costs most, and they fail again where nothing more is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proofs {
    /// No branches: their conditions are only simplified.
    None,
    /// Branches without a `likely` marker in their conditions: loop partitioning resolves those with one.
    Unmarked,
    /// All branches.
    All,
}

/// `s` with every expression simplified under what holds at its place: loop variables are in their ranges, and the
/// conditions of branches and passed assertions hold. Lets of constants, of other symbols and of sums of loop variables
/// are put in place, as is the first of the symbols that are bound to one value (regions of stages that are computed
/// together often are); dead lets go; branches and assertions that are decided go, as do loops that run never, stores
/// that store nothing, and statements around nothing; a loop that runs once is its body.
///
/// A let that only a later pass would look for by its symbol is dead too: simplify after that pass. Where `s` launches
/// outlined tasks, which use symbols unseen here, all lets stay.
pub fn simplify_stmt(s: Stmt, facts: &Facts, proofs: Proofs) -> Stmt {
    simplify_noting_dead(s, facts, proofs).0
}

/// Simplifies as [`simplify_stmt`] does, and returns the loops as well that went as dead code.
pub fn simplify_noting_dead(s: Stmt, facts: &Facts, proofs: Proofs) -> (Stmt, BTreeSet<LoopId>) {
    let keep_lets = launches(&s);
    let (names, dead) = (Map::default(), BTreeSet::new());
    let mut pass = Pass { facts: facts.clone(), keep_lets, proofs, names, dead };
    let s = pass.stmt(s);
    (if keep_lets { s } else { drop_dead_lets(s) }, pass.dead)
}

fn launches(s: &Stmt) -> bool {
    let mut found = matches!(s, Stmt::Launch { .. });
    for_each_stmt(s, |inner| found = found || launches(inner));
    found
}

struct Pass {
    facts: Facts,
    keep_lets: bool,
    proofs: Proofs,
    /// The symbol in scope that is bound to a coordinate which reads nothing.
    names: Map<Expr, Sym>,
    /// The loops that no run comes to.
    dead: BTreeSet<LoopId>,
}

impl Pass {
    fn simple(&self, e: &Expr) -> Expr {
        simplify(e, &self.facts)
    }
    /// `cond` simplified; also decided by what only a proof finds.
    fn decided(&self, cond: &Expr) -> Expr {
        let cond = self.simple(cond);
        match () {
            _ if build::as_bool(&cond).is_some() => cond,
            _ if self.proofs == Proofs::None => cond,
            _ if self.proofs == Proofs::Unmarked && any_node(&cond, |n| matches!(n.kind(), ExprKind::Likely(_))) => {
                cond
            }
            _ if prove(&cond, &self.facts) => build::boolean(true),
            _ if prove(&build::not(cond.clone()), &self.facts) => build::boolean(false),
            _ => cond,
        }
    }
    /// `f` in a scope in which `cond` holds.
    fn under(&mut self, cond: &Expr, s: Stmt) -> Stmt {
        self.facts.push_scope();
        self.facts.learn(cond);
        let s = self.stmt(s);
        self.facts.pop_scope();
        s
    }

    fn stmt(&mut self, s: Stmt) -> Stmt {
        match s {
            Stmt::Block(list) => self.block(list),
            Stmt::Let { bindings, body } => self.bind(bindings, *body),
            Stmt::For(l) => self.repeat(*l),
            Stmt::If { cond, then, otherwise } => self.branch(&cond, *then, *otherwise),
            Stmt::Assert { cond, fault, args } => {
                // What a run is asked with decides checks, so a search for a proof is nearly always in vain.
                let cond = self.simple(&cond);
                if build::as_bool(&cond) == Some(true) {
                    return build::nothing();
                }
                Stmt::Assert { cond, fault, args: args.iter().map(|a| self.simple(a)).collect() }
            }
            Stmt::Store { mask: Some(_), .. } | Stmt::Provide { mask: Some(_), .. } => self.masked(s),
            other => {
                let pass = std::cell::RefCell::new(self);
                let simple = map_stmt(other, |e| pass.borrow().simple(e), |inner| pass.borrow_mut().stmt(inner));
                if does_nothing(&simple) { build::nothing() } else { simple }
            }
        }
    }
    /// In order; after an assertion its condition holds.
    fn block(&mut self, list: Vec<Stmt>) -> Stmt {
        self.facts.push_scope();
        let mut done = Vec::with_capacity(list.len());
        for s in list {
            let s = self.stmt(s);
            if let Stmt::Assert { cond, .. } = &s {
                self.facts.learn(cond);
            }
            done.push(s);
        }
        self.facts.pop_scope();
        build::block(done)
    }
    fn bind(&mut self, bindings: Vec<(Sym, Expr)>, body: Stmt) -> Stmt {
        self.facts.push_scope();
        let mut kept = Vec::with_capacity(bindings.len());
        let mut named = Vec::new();
        for (symbol, value) in bindings {
            let value = self.simple(&value);
            let value = self.names.get(&value).map_or(value, |first| build::sym(*first));
            self.facts.bind_let(symbol, &value);
            let known = is_name(&value);
            if !known && value.ty() == Type::INDEX && !reads(&value) {
                self.names.insert(value.clone(), symbol);
                named.push(value.clone());
            }
            if self.keep_lets || !known {
                kept.push((symbol, value));
            }
        }
        let body = self.stmt(body);
        named.iter().for_each(|value| {
            self.names.remove(value);
        });
        self.facts.pop_scope();
        build::let_in(kept, body)
    }
    fn repeat(&mut self, l: For) -> Stmt {
        let (min, extent) = (self.simple(&l.min), self.simple(&l.extent));
        if self.facts.range(&extent).1.is_some_and(|n| n <= 0) {
            loops_in(&Stmt::For(Box::new(l)), &mut self.dead);
            return build::nothing();
        }
        let condition = l.condition.as_ref().map(|e| self.simple(e));
        if condition.as_ref().and_then(build::as_bool) == Some(false) {
            loops_in(&Stmt::For(Box::new(l)), &mut self.dead);
            return build::nothing();
        }
        // A kernel of one block is still a kernel.
        if build::as_int(&extent) == Some(1) && l.kind != ForKind::GpuBlocks {
            let body = self.bind(vec![(Sym::Loop(l.id), min)], l.body);
            return build::if_else(condition.unwrap_or(build::boolean(true)), body, build::nothing());
        }
        self.facts.push_scope();
        self.facts.bind_loop(l.id, &min, &extent);
        let body = self.stmt(l.body);
        self.facts.pop_scope();
        build::loop_of(For { id: l.id, kind: l.kind, min, extent, condition, body })
    }
    fn branch(&mut self, cond: &Expr, then: Stmt, otherwise: Stmt) -> Stmt {
        let cond = self.decided(cond);
        if let Some(holds) = build::as_bool(&cond) {
            let (taken, dead) = if holds { (then, otherwise) } else { (otherwise, then) };
            loops_in(&dead, &mut self.dead);
            return self.stmt(taken);
        }
        let opposite = build::not(cond.clone());
        let then = self.under(&cond, then);
        let otherwise = self.under(&opposite, otherwise);
        if build::is_nothing(&then) {
            return build::if_else(self.simple(&opposite), otherwise, then);
        }
        build::if_else(cond, then, otherwise)
    }
    /// A store under a mask: one that is the same in all lanes is a branch.
    fn masked(&mut self, s: Stmt) -> Stmt {
        let (Stmt::Store { mask: Some(mask), .. } | Stmt::Provide { mask: Some(mask), .. }) = &s else { return s };
        let mask = self.simple(mask);
        let uniform = match mask.kind() {
            _ if mask.lanes() == 1 => Some(mask.clone()),
            ExprKind::Broadcast(cond) => Some(cond.clone()),
            ExprKind::Const(_) => Some(mask.clone()),
            _ => None,
        };
        if let Some(cond) = uniform {
            return self.branch(&cond, with_mask(s, None), build::nothing());
        }
        let pass = std::cell::RefCell::new(self);
        map_stmt(with_mask(s, Some(mask)), |e| pass.borrow().simple(e), |inner| inner)
    }
}

/// Returns true if memory decides what `e` is: then it may be something else at another place.
fn reads(e: &Expr) -> bool {
    any_node(e, |n| matches!(n.kind(), ExprKind::Read { .. } | ExprKind::Load { .. }))
}

fn with_mask(s: Stmt, new: Option<Expr>) -> Stmt {
    match s {
        Stmt::Store { buf, index, value, .. } => Stmt::Store { buf, index, value, mask: new },
        Stmt::Provide { func, args, values, .. } => Stmt::Provide { func, args, values, mask: new },
        other => other,
    }
}

/// Returns true if a statement that is left has no effect.
fn does_nothing(s: &Stmt) -> bool {
    match s {
        Stmt::Produce { body, .. } | Stmt::Realize { body, .. } | Stmt::Alloc { body, .. } => build::is_nothing(body),
        Stmt::Count { amount, .. } => build::as_int(amount) == Some(0),
        Stmt::Launch { extent, .. } => build::as_int(extent).is_some_and(|n| n <= 0),
        Stmt::Provide { values, .. } => values.is_empty(),
        _ => false,
    }
}
