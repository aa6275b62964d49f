//! Updates that end before their reduction domain does.
//!
//! A part of a predicate that uses no reduction variable depends on what is stored alone. Where it is false in one
//! turn, that turn stores nothing, so it is false in the next turn, too, and in all that follow.

use super::op::{Op, Reg};
use crate::ops::BinOp;
use crate::types::ScalarType;

/// The parts of the predicate `guard` that use no reduction variable. None, if evaluating it can be seen from outside.
pub(super) fn settled_parts(ops: &[Op], guard: Option<Reg>) -> Vec<Reg> {
    let Some(guard) = guard else { return Vec::new() };
    let mut varies = vec![false; ops.len()];
    let mut used = vec![false; ops.len()];
    used[guard] = true;
    for (reg, op) in ops.iter().enumerate() {
        varies[reg] = matches!(op, Op::RVar { .. }) || operands(op).iter().any(|a| varies[*a]);
    }
    for (reg, op) in ops.iter().enumerate().rev().filter(|(reg, _)| *reg <= guard) {
        if used[reg] {
            operands(op).into_iter().for_each(|a| used[a] = true);
        }
    }
    if ops.iter().zip(&used).any(|(op, used)| *used && matches!(op, Op::Note(_))) {
        return Vec::new();
    }
    let (mut parts, mut pending) = (Vec::new(), vec![guard]);
    while let Some(reg) = pending.pop() {
        match &ops[reg] {
            Op::Binary(BinOp::BitAnd, ty, a, b) if *ty == ScalarType::Bool => pending.extend([*b, *a]),
            Op::Copy(a) => pending.push(*a),
            _ if varies[reg] => {}
            _ => parts.push(reg),
        }
    }
    parts
}

fn operands(op: &Op) -> Vec<Reg> {
    match op {
        Op::Const(_) | Op::Var { .. } | Op::RVar { .. } | Op::Before { .. } => Vec::new(),
        Op::Unary(_, _, a) | Op::Copy(a) | Op::IndexNeg(a) | Op::ToIndex(a) => vec![*a],
        Op::Cast { a, .. } | Op::SaturatingCast { a, .. } => vec![*a],
        Op::Binary(_, _, a, b) | Op::IndexBinary(_, a, b) | Op::IndexCompare(_, a, b) => vec![*a, *b],
        Op::Select(c, a, b) => vec![*c, *a, *b],
        Op::Note(note) => note.parts.iter().map(|(part, _)| *part).chain([note.condition, note.value]).collect(),
        Op::Math(_, _, args) | Op::Call { args, .. } | Op::SelfCall { args, .. } | Op::Image { args, .. } => {
            args.clone()
        }
    }
}
