//! Atomic steps that change one element: machines have instructions for them, or can try until nobody came between.

use super::visit::{Memo, any_node, map_children, substitute};
use crate::build;
use crate::expr::{Expr, ExprKind};
use crate::stmt::Stmt;
use crate::sym::{BufId, Sym};
use halide_core::ops::BinOp;
use std::collections::HashMap;
use std::fmt;

/// A step that changes one element, or one per lane.
#[derive(Clone, Debug)]
pub struct Step {
    /// Bindings that precede the step and do not depend on the element.
    pub bindings: Vec<(Sym, Expr)>,
    /// The buffer of the element.
    pub buf: BufId,
    /// Index of the element; several lanes are changed one after the other.
    pub index: Expr,
    /// The new value in terms of the old one.
    pub value: Expr,
    /// `Bool` lanes: where false, nothing happens.
    pub mask: Option<Expr>,
}

/// A reason for which a step does more than change one element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotOne {
    /// It stores to several, as those of tuples do.
    Stores,
    /// It loads other elements of what it stores to.
    Loads,
}

impl fmt::Display for NotOne {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotOne::Stores => "stores several values at once",
            NotOne::Loads => "reads other elements than the one that it stores",
        })
    }
}

impl Step {
    /// The step `body` (of a [`Stmt::Atomic`]), where `old` is to stand for what the element holds.
    ///
    /// # Errors
    /// Why it is more than to change one element.
    pub fn of(body: &Stmt, old: Sym) -> Result<Step, NotOne> {
        let mut names: Vec<&(Sym, Expr)> = Vec::new();
        let mut at = body;
        let (buf, index, value, mask) = loop {
            at = match at {
                Stmt::Let { bindings, body } => {
                    names.extend(bindings);
                    body
                }
                Stmt::Block(list) if list.len() == 1 => &list[0],
                Stmt::Store { buf, index, value, mask } => break (*buf, index, value, mask),
                _ => return Err(NotOne::Stores),
            };
        };
        let loads = |e: &Expr| any_node(e, |n| matches!(n.kind(), ExprKind::Load { buf: b, .. } if *b == buf));
        let mut depends: HashMap<Sym, Expr> = HashMap::new();
        let mut bindings = Vec::new();
        for (s, e) in names {
            let e = substitute(e, &|s| depends.get(&s).cloned());
            if loads(&e) {
                depends.insert(*s, e);
            } else {
                bindings.push((*s, e));
            }
        }
        let put = |e: &Expr| substitute(e, &|s| depends.get(&s).cloned());
        let (index, value, mask) = (put(index), put(value), mask.as_ref().map(put));
        if loads(&index) || mask.as_ref().is_some_and(&loads) {
            return Err(NotOne::Loads);
        }
        let mut others = false;
        let value = Memo::new().rewrite(&value, |n, done| match n.kind() {
            ExprKind::Load { buf: from, index: i, mask: m } if *from == buf => {
                others |= *i != index || m.is_some() && *m != mask;
                build::typed_sym(old, n.ty())
            }
            _ => map_children(n, done),
        });
        if others { Err(NotOne::Loads) } else { Ok(Step { bindings, buf, index, value, mask }) }
    }

    /// The operator and its operand, if the new value is `old op operand`, or is so after the two were exchanged.
    pub fn operation(&self, old: Sym) -> Option<(BinOp, &Expr)> {
        let ExprKind::Binary(op, a, b) = self.value.kind() else { return None };
        let is_old = |e: &Expr| matches!(e.kind(), ExprKind::Sym(s) if *s == old);
        let commutes = match op {
            BinOp::Add | BinOp::Min | BinOp::Max | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => true,
            BinOp::Sub => false,
            _ => return None,
        };
        let operand = match (is_old(a), is_old(b)) {
            (true, _) => b,
            (_, true) if commutes => a,
            _ => return None,
        };
        (!any_node(operand, is_old)).then_some((*op, operand))
    }
}
