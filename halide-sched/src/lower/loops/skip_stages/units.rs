//! Units: the statements that are made twice, once for either value of a condition.

use super::condition::Condition;
use super::uniform::Uniform;
use crate::lower::loops::copy::fresh_copy;
use crate::lower::walk;
use crate::tuning::{MOST_SPLITS, MOST_UNIT_NODES};
use halide_core::ids::FuncId;
use halide_core::ops::{BinOp, UnOp};
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{self, Memo};
use halide_ir::{BufId, Expr, ExprKind, ForKind, Program, Stmt, build};

/// Returns true if `s` may be split as a whole: it computes and stores no other Func, calls no closure, and is of a
/// fair size. Loops over blocks of a GPU are split outside of all of them or not at all, so that the host decides.
pub(super) fn is_unit(s: &Stmt) -> bool {
    let splits = match s {
        Stmt::For(l) => !l.kind.is_gpu_threads(),
        Stmt::Provide { .. } | Stmt::Atomic { .. } | Stmt::Let { .. } | Stmt::If { .. } => true,
        _ => false,
    };
    let mut room = MOST_UNIT_NODES;
    splits && fits(s, &mut room)
}

/// Returns true if `s` computes and stores nothing else, calls nothing, and has no more than `room` nodes, which are
/// taken away.
fn fits(s: &Stmt, room: &mut usize) -> bool {
    if matches!(s, Stmt::Produce { .. } | Stmt::Realize { .. } | Stmt::Call { .. }) {
        return false;
    }
    let mut within = true;
    visit::for_each_expr(s, |e| visit::for_each_node(e, &mut |_| take(room, &mut within)));
    take(room, &mut within);
    within && visit::nested(s).all(|inner| visit::deep(|| fits(inner, room)))
}

fn take(room: &mut usize, within: &mut bool) {
    *within &= *room > 0;
    *room = room.saturating_sub(1);
}

/// Returns true if `s` is a loop in whose body nothing may be split.
pub(super) fn is_kernel(s: &Stmt) -> bool {
    matches!(s, Stmt::For(l) if l.kind == ForKind::GpuBlocks || l.kind.is_gpu_threads())
}

/// A condition of selects that is the same for the whole run.
pub(super) struct Split {
    /// As selects of the unit have it.
    pub(super) cond: Expr,
    /// The Funcs that an arm reads.
    pub(super) funcs: Set<FuncId>,
}

/// The conditions that a unit may be split by, the first ones that are met.
pub(super) fn splits_of(unit: &Stmt, uniform: &Uniform, owner: &Map<BufId, FuncId>) -> Vec<Split> {
    let mut found: Vec<Split> = Vec::new();
    visit::for_each_expr_deep(unit, &mut |e| {
        visit::for_each_node(e, &mut |n| {
            let ExprKind::Select(cond, a, b) = n.kind() else { return };
            let mut funcs = Set::default();
            for_each_part(cond, uniform, &mut |part| {
                if funcs.is_empty() {
                    [a, b].into_iter().for_each(|arm| funcs.extend(funcs_read(arm, owner)));
                }
                let full = found.len() == MOST_SPLITS;
                match found.iter_mut().find(|s| s.cond == *part) {
                    Some(known) => known.funcs.extend(funcs.iter().copied()),
                    None if funcs.is_empty() || full => {}
                    None => found.push(Split { cond: part.clone(), funcs: funcs.clone() }),
                }
            });
        });
    });
    found
}

/// The Funcs that `e` reads, some of them several times.
pub(super) fn funcs_read(e: &Expr, owner: &Map<BufId, FuncId>) -> Vec<FuncId> {
    let mut found = Vec::new();
    visit::for_each_node(e, &mut |n| {
        if let ExprKind::Read { buf, .. } = n.kind() {
            found.extend(owner.get(buf).copied());
        }
    });
    found
}

/// Calls `f` on the largest parts of a condition that are the same for the whole run, without negations.
fn for_each_part(cond: &Expr, uniform: &Uniform, f: &mut dyn FnMut(&Expr)) {
    match cond.kind() {
        ExprKind::Likely(a) | ExprKind::Unary(UnOp::Not, a) => for_each_part(a, uniform, f),
        _ if uniform.of(cond).is_some() => f(cond),
        ExprKind::Binary(BinOp::BitAnd | BinOp::BitOr, a, b) if cond.ty().is_bool() => {
            for_each_part(a, uniform, f);
            for_each_part(b, uniform, f);
        }
        _ => {}
    }
}

/// Returns the part of `cond` being `value` that is the same for the whole run, if only parts in `splits` are known.
fn known_part(cond: &Expr, value: bool, splits: &[Split], uniform: &Uniform) -> Condition {
    match cond.kind() {
        ExprKind::Likely(a) => known_part(a, value, splits, uniform),
        ExprKind::Unary(UnOp::Not, a) => known_part(a, !value, splits, uniform),
        _ if splits.iter().any(|s| s.cond == *cond) => uniform.condition(cond, value),
        ExprKind::Binary(op @ (BinOp::BitAnd | BinOp::BitOr), a, b) if cond.ty().is_bool() => {
            let (a, b) = (known_part(a, value, splits, uniform), known_part(b, value, splits, uniform));
            if (*op == BinOp::BitAnd) == value { a.and(&b) } else { a.or(&b) }
        }
        _ => Condition::always(),
    }
}

/// The condition under which `e` comes to each of the Funcs that it reads, where selects by `splits` are branches.
pub(super) fn reads_of(
    e: &Expr,
    splits: &[Split],
    uniform: &Uniform,
    owner: &Map<BufId, FuncId>,
) -> Vec<(FuncId, Condition)> {
    if splits.is_empty() {
        return funcs_read(e, owner).into_iter().map(|f| (f, Condition::always())).collect();
    }
    let mut nodes = Vec::new();
    visit::for_each_node(e, &mut |n| nodes.push(n.clone()));
    let mut reached: Map<usize, Condition> = Map::default();
    reached.insert(e.id(), Condition::always());
    let mut found = Vec::new();
    // Parents come before children, so what is known of a node is complete when it is met.
    for n in nodes.iter().rev() {
        let Some(here) = reached.remove(&n.id()) else { continue };
        let mut reach = |child: &Expr, when: &Condition| {
            let known = reached.remove(&child.id()).unwrap_or_else(Condition::never);
            reached.insert(child.id(), known.or(when));
        };
        if let ExprKind::Select(cond, a, b) = n.kind() {
            reach(cond, &here);
            reach(a, &here.and(&known_part(cond, true, splits, uniform)));
            reach(b, &here.and(&known_part(cond, false, splits, uniform)));
        } else {
            visit::for_each_child(n, |child| reach(child, &here));
        }
        if let ExprKind::Read { buf, .. } = n.kind()
            && let Some(func) = owner.get(buf)
        {
            found.push((*func, here));
        }
    }
    found
}

/// The unit with a branch for each value of the conditions. Copies have loops and names of their own.
pub(super) fn split(unit: Stmt, conds: &[Expr], uniform: &Uniform, program: &mut Program) -> Stmt {
    branches(unit, conds, uniform, program, &mut true)
}

fn branches(unit: Stmt, conds: &[Expr], uniform: &Uniform, program: &mut Program, first: &mut bool) -> Stmt {
    let Some((cond, rest)) = conds.split_first() else {
        // The names that conditions use are those of the original until all are decided.
        return if std::mem::take(first) { unit } else { fresh_copy(&unit, &[], program) };
    };
    let asked = uniform.of(cond).expect("a condition of a split is the same for the whole run");
    let then = branches(decided(unit.clone(), cond, true), rest, uniform, program, first);
    let otherwise = branches(decided(unit, cond, false), rest, uniform, program, first);
    build::if_else(asked, then, otherwise)
}

/// `s` where the conditions of selects take `cond` to be `value`.
fn decided(s: Stmt, cond: &Expr, value: bool) -> Stmt {
    let mut memo = Memo::new();
    visit::map_exprs(s, &mut |e| {
        memo.rewrite(e, |n, done| match n.kind() {
            ExprKind::Select(c, a, b) => build::select(decided_condition(&done(c), cond, value), done(a), done(b)),
            _ => visit::map_children(n, done),
        })
    })
}

fn decided_condition(c: &Expr, cond: &Expr, value: bool) -> Expr {
    if c == cond {
        return build::boolean(value);
    }
    let inner = |e: &Expr| decided_condition(e, cond, value);
    match c.kind() {
        ExprKind::Likely(a) => build::likely(inner(a)),
        ExprKind::Unary(UnOp::Not, a) => build::not(inner(a)),
        ExprKind::Binary(op @ (BinOp::BitAnd | BinOp::BitOr), a, b) if c.ty().is_bool() => {
            let (a, b, all) = (inner(a), inner(b), *op == BinOp::BitAnd);
            match (build::as_bool(&a), build::as_bool(&b)) {
                (Some(known), _) => {
                    if known == all {
                        b
                    } else {
                        a
                    }
                }
                (_, Some(known)) => {
                    if known == all {
                        a
                    } else {
                        b
                    }
                }
                _ if all => build::and(a, b),
                _ => build::or(a, b),
            }
        }
        _ => c.clone(),
    }
}

/// Returns true if `s` holds a statement that is seen from outside of the program even if nobody needs its values.
pub(super) fn has_effects(s: &Stmt) -> bool {
    walk::any_stmt(s, &mut |s| matches!(s, Stmt::Print { .. } | Stmt::Assert { .. } | Stmt::Count { .. }))
}
