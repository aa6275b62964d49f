//! Operations on one lane or a run of lanes: the functions of [`crate::value`], and exact index arithmetic.

use super::op::Op;
use crate::ops::BinOp;
use crate::types::ScalarType;
use crate::value::{self, Scalar};
use std::ops::Range;

/// Computes an operation that reads nothing but registers, for the lanes of a range; `reg` gives registers.
/// The index of the first lane whose index arithmetic overflows i64, among those that `counts` says matter.
pub(super) fn compute<'a>(
    op: &Op,
    reg: impl Fn(usize) -> &'a [u64],
    out: &mut [u64],
    lanes: Range<usize>,
    counts: impl Fn(usize) -> bool,
) -> Option<usize> {
    let scalar = |ty: ScalarType, bits: u64| Scalar::from_bits(ty, bits);
    match op {
        Op::Const(bits) => out[lanes].fill(*bits),
        Op::Unary(op, ty, a) => {
            let a = reg(*a);
            for i in lanes {
                out[i] = value::unary(*op, scalar(*ty, a[i])).bits();
            }
        }
        Op::Binary(op, ty, a, b) => binary(*op, *ty, reg(*a), reg(*b), out, lanes),
        Op::Select(c, a, b) => {
            let (c, a, b) = (reg(*c), reg(*a), reg(*b));
            for i in lanes {
                out[i] = if c[i] != 0 { a[i] } else { b[i] };
            }
        }
        Op::Cast { from, to, a } => {
            let a = reg(*a);
            for i in lanes {
                out[i] = value::cast(*to, scalar(*from, a[i])).bits();
            }
        }
        Op::SaturatingCast { from, to, a } => {
            let a = reg(*a);
            for i in lanes {
                out[i] = value::saturating_cast(*to, scalar(*from, a[i])).bits();
            }
        }
        Op::Copy(a) => out[lanes.clone()].copy_from_slice(&reg(*a)[lanes]),
        Op::Math(function, ty, args) => {
            let args: Vec<&[u64]> = args.iter().map(|a| reg(*a)).collect();
            let mut values = Vec::with_capacity(args.len());
            for i in lanes {
                values.clear();
                values.extend(args.iter().map(|a| scalar(*ty, a[i])));
                out[i] = value::math(*function, &values).bits();
            }
        }
        Op::ToIndex(a) => {
            let a = reg(*a);
            for i in lanes {
                out[i] = a[i] as i32 as i64 as u64;
            }
        }
        Op::IndexNeg(a) => {
            let a = reg(*a);
            return index_lanes(out, lanes, counts, |i| (a[i] as i64).checked_neg());
        }
        Op::IndexBinary(op, a, b) => {
            let (a, b) = (reg(*a), reg(*b));
            return index_lanes(out, lanes, counts, |i| index_binary(*op, a[i] as i64, b[i] as i64));
        }
        Op::IndexCompare(op, a, b) => {
            let (a, b) = (reg(*a), reg(*b));
            for i in lanes {
                out[i] = index_compare(*op, a[i] as i64, b[i] as i64) as u64;
            }
        }
        Op::Note(note) => out[lanes.clone()].copy_from_slice(&reg(note.value)[lanes]),
        Op::Var { .. }
        | Op::RVar { .. }
        | Op::Call { .. }
        | Op::SelfCall { .. }
        | Op::Image { .. }
        | Op::Before { .. } => {}
    }
    None
}

/// The value of an operation on constant registers: `None` if it is none, `Some(None)` if it overflows.
pub(super) fn constant(op: &Op, values: &[u64]) -> Option<Option<u64>> {
    use Op::*;
    if matches!(op, Var { .. } | RVar { .. } | Call { .. } | SelfCall { .. } | Image { .. } | Before { .. }) {
        return None;
    }
    let mut out = [0];
    let overflow = compute(op, |r| std::slice::from_ref(&values[r]), &mut out, 0..1, |_| true);
    Some(overflow.is_none().then_some(out[0]))
}

fn binary(op: BinOp, ty: ScalarType, a: &[u64], b: &[u64], out: &mut [u64], lanes: Range<usize>) {
    // A shift's amount is signed, of the same width.
    let other = if matches!(op, BinOp::Shl | BinOp::Shr) { ScalarType::signed(ty.bits()) } else { ty };
    for i in lanes {
        out[i] = value::binary(op, Scalar::from_bits(ty, a[i]), Scalar::from_bits(other, b[i])).bits();
    }
}

fn index_binary(op: BinOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinOp::Add => a.checked_add(b),
        BinOp::Sub => a.checked_sub(b),
        BinOp::Mul => a.checked_mul(b),
        BinOp::Div if b == 0 => Some(0),
        BinOp::Div => a.checked_div_euclid(b),
        BinOp::Mod if b == 0 => Some(0),
        BinOp::Mod => Some(a.wrapping_rem_euclid(b)),
        BinOp::Min => Some(a.min(b)),
        _ => Some(a.max(b)),
    }
}

fn index_compare(op: BinOp, a: i64, b: i64) -> bool {
    value::binary(op, Scalar::from(a), Scalar::from(b)).as_bool()
}

fn index_lanes(
    out: &mut [u64],
    lanes: Range<usize>,
    counts: impl Fn(usize) -> bool,
    f: impl Fn(usize) -> Option<i64>,
) -> Option<usize> {
    for i in lanes {
        match f(i) {
            Some(value) => out[i] = value as u64,
            None if counts(i) => return Some(i),
            None => out[i] = 0,
        }
    }
    None
}
