//! Freezing requirements and lines to print.
//!
//! The condition of a requirement says something about its value: `require(i < n, i, ..)` is below `n` wherever it is
//! used. That becomes part of the frozen value, as a minimum and a maximum that change nothing where the condition
//! holds, so that whoever needs bounds finds them; and a value that was computed but that nobody asked for stays inside
//! them.

use super::Freezer;
use crate::ids::{ExprId, Id, NoteId};
use crate::ops::BinOp;
use crate::pipeline::{Kind, NoteDef, NoteKind};
use crate::value::{self, Scalar};
use std::rc::Rc;

impl Freezer {
    pub(super) fn note(&mut self, def: &Rc<NoteDef>, condition: ExprId, value: ExprId, parts: Vec<ExprId>) -> Kind {
        // The definitions are kept alive by the expressions that are frozen.
        let key = Rc::as_ptr(def) as usize;
        let next = NoteId::new(self.data.notes.len());
        let note = *self.notes.entry(key).or_insert(next);
        if note == next {
            self.data.notes.push((**def).clone());
        }
        let value = match def.kind {
            NoteKind::Require => self.bounded_by(condition, value),
            NoteKind::Print => value,
        };
        Kind::Note { note, condition, value, parts }
    }

    /// `value`, held to what `condition` says of it.
    fn bounded_by(&mut self, condition: ExprId, value: ExprId) -> ExprId {
        let ty = self.data.exprs[value].ty;
        if !ty.is_int() {
            return value;
        }
        let (mut todo, mut limits) = (vec![condition], Vec::new());
        while let Some(c) = todo.pop() {
            match self.data.exprs[c].kind {
                Kind::Binary(BinOp::BitAnd, a, b) => todo.extend([b, a]),
                Kind::Binary(op, a, b) if a == value => limits.push((op, b)),
                Kind::Binary(op, a, b) if b == value => limits.extend(mirrored(op).map(|op| (op, a))),
                _ => {}
            }
        }
        let one = Scalar::int(ty, 1);
        let mut bounded = value;
        for (op, limit) in limits {
            // One less than the smallest value wraps, but then the condition holds nowhere.
            let ways: &[(BinOp, Option<BinOp>)] = match op {
                BinOp::Le => &[(BinOp::Min, None)],
                BinOp::Lt => &[(BinOp::Min, Some(BinOp::Sub))],
                BinOp::Ge => &[(BinOp::Max, None)],
                BinOp::Gt => &[(BinOp::Max, Some(BinOp::Add))],
                BinOp::Eq => &[(BinOp::Max, None), (BinOp::Min, None)],
                _ => &[],
            };
            for (clamp, step) in ways {
                let limit = match (step, self.data.exprs[limit].kind.clone()) {
                    (None, _) => limit,
                    (Some(step), Kind::Const(c)) => self.constant(value::binary(*step, c, one)),
                    (Some(step), _) => {
                        let one = self.constant(one);
                        self.intern(Kind::Binary(*step, limit, one), ty)
                    }
                };
                bounded = self.intern(Kind::Binary(*clamp, bounded, limit), ty);
            }
        }
        bounded
    }
}

/// The comparison with its operands exchanged.
fn mirrored(op: BinOp) -> Option<BinOp> {
    Some(match op {
        BinOp::Lt => BinOp::Gt,
        BinOp::Gt => BinOp::Lt,
        BinOp::Le => BinOp::Ge,
        BinOp::Ge => BinOp::Le,
        BinOp::Eq => BinOp::Eq,
        _ => return None,
    })
}
