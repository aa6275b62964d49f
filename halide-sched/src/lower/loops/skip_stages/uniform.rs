//! Expressions that have one value in a whole run: of parameters and of sizes of the caller's buffers.

use super::condition::Condition;
use crate::tuning::MOST_UNIFORM_NODES;
use halide_ir::hash::Map;
use halide_ir::visit;
use halide_ir::{BufferRole, Expr, ExprKind, Program, Stmt, Sym};

/// The names and the properties of buffers that are the same for the whole run.
pub(super) struct Uniform {
    /// Names of values that are the same for the whole run, in terms of what the caller gives.
    names: Map<Sym, Expr>,
    /// Properties of buffers that the caller gives.
    given: Vec<bool>,
}

impl Uniform {
    /// The names of a program whose symbols are bound once.
    pub(super) fn new(program: &Program) -> Uniform {
        let given = program.buffers.iter().map(|b| b.role != BufferRole::Internal).collect();
        let mut made = Uniform { names: Map::default(), given };
        made.collect(&program.body);
        made
    }

    fn collect(&mut self, s: &Stmt) {
        if let Stmt::Let { bindings, .. } = s {
            for (name, value) in bindings {
                if let Some(value) = self.of(value) {
                    self.names.insert(*name, value);
                }
            }
        }
        visit::for_each_stmt(s, |inner| self.collect(inner));
    }

    /// `e` in terms of what the caller gives, if that is all that it depends on.
    pub(super) fn of(&self, e: &Expr) -> Option<Expr> {
        let mut nodes = 0;
        let varies = |n: &Expr| {
            nodes += 1;
            nodes > MOST_UNIFORM_NODES
                || n.lanes() != 1
                || match n.kind() {
                    ExprKind::Sym(s) => !self.is_given(*s) && !self.names.contains_key(s),
                    ExprKind::Read { .. } | ExprKind::Load { .. } => true,
                    _ => false,
                }
        };
        if visit::any_node(e, varies) {
            return None;
        }
        let e = visit::substitute(e, &|s| self.names.get(&s).cloned());
        let mut nodes = 0;
        visit::for_each_node(&e, &mut |_| nodes += 1);
        (nodes <= MOST_UNIFORM_NODES).then(|| visit::without_likely(&e))
    }

    fn is_given(&self, s: Sym) -> bool {
        matches!(s, Sym::Buffer { buf, .. } if self.given.get(buf.0 as usize) == Some(&true))
    }

    /// Returns the part of `cond` being `value` that is the same for the whole run.
    pub(super) fn condition(&self, cond: &Expr, value: bool) -> Condition {
        // Names stand for conjunctions as well.
        match self.of(cond) {
            Some(cond) => Condition::of(&cond, value, &|e| Some(e.clone())),
            None => Condition::of(cond, value, &|e| self.of(e)),
        }
    }
}
