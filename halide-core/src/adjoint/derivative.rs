//! Derivatives of one operation by its operands.

use super::builder::Builder;
use crate::ids::ExprId;
use crate::ops::{BinOp, MathFn, UnOp};
use crate::pipeline::Kind;
use std::f64::consts::PI;

/// The share of an operation's adjoint that one operand gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// All of it.
    Same,
    /// All of it with the other sign.
    Negated,
    /// All of it, converted to the operand's type.
    Converted,
    /// A multiple.
    Times(ExprId),
    /// A fraction.
    Over(ExprId),
}

/// An operand, its share, and the condition under which it gets one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partial {
    pub(super) operand: ExprId,
    pub(super) share: Share,
    pub(super) guard: Option<ExprId>,
}

fn partial(operand: ExprId, share: Share) -> Partial {
    Partial { operand, share, guard: None }
}

/// Returns the operands that the value of an operation depends on, unless that is constant almost everywhere.
pub(super) fn operands(kind: &Kind) -> Vec<ExprId> {
    match kind {
        Kind::Unary(UnOp::Neg | UnOp::Abs | UnOp::Sqrt, a) => vec![*a],
        Kind::Binary(_, a, b) => vec![*a, *b],
        Kind::Select(_, a, b) => vec![*a, *b],
        Kind::Cast(a) | Kind::SaturatingCast(a) | Kind::Reinterpret(a) => vec![*a],
        Kind::Likely(a) | Kind::LikelyIfInnermost(a) | Kind::Strict(a) => vec![*a],
        Kind::Note { value, .. } => vec![*value],
        Kind::Math(_, args) | Kind::Sites(args) => args.clone(),
        _ => Vec::new(),
    }
}

/// Returns the share of each operand of the operation `y`; `None` if it has no derivative.
pub(super) fn partials(b: &mut Builder, y: ExprId) -> Option<Vec<Partial>> {
    let node = b.data.exprs[y].clone();
    Some(match node.kind {
        Kind::Unary(op, a) => unary(b, op, a, y),
        Kind::Binary(op, p, q) => binary(b, op, p, q, y),
        Kind::Select(c, p, q) => chosen(b, c, p, q),
        Kind::Cast(a) | Kind::SaturatingCast(a) => vec![partial(a, Share::Converted)],
        Kind::Likely(a) | Kind::LikelyIfInnermost(a) | Kind::Strict(a) => vec![partial(a, Share::Same)],
        Kind::Note { value, .. } => vec![partial(value, Share::Same)],
        Kind::Math(function, args) => match args[..] {
            [a] => vec![partial(a, math(b, function, a, y))],
            [p, q] => math_of_two(b, function, p, q, y),
            [p, q, c] => vec![partial(p, Share::Times(q)), partial(q, Share::Times(p)), partial(c, Share::Same)],
            _ => Vec::new(),
        },
        Kind::Reinterpret(_) | Kind::Sites(_) => return None,
        _ => Vec::new(),
    })
}

/// The arms of a choice: `p` where `c` holds, else `q`.
fn chosen(b: &mut Builder, c: ExprId, p: ExprId, q: ExprId) -> Vec<Partial> {
    let not = b.unary(UnOp::Not, c);
    let arm = |operand, guard| Partial { operand, share: Share::Same, guard: Some(guard) };
    vec![arm(p, c), arm(q, not)]
}

/// 1 of positive numbers, -1 of negative ones, else 0.
fn sign(b: &mut Builder, a: ExprId) -> ExprId {
    let ty = b.ty(a);
    let (zero, one, minus) = (b.float(ty, 0.0), b.float(ty, 1.0), b.float(ty, -1.0));
    let (is_negative, is_positive) = (b.binary(BinOp::Lt, a, zero), b.binary(BinOp::Gt, a, zero));
    let rest = b.select(is_positive, one, zero);
    b.select(is_negative, minus, rest)
}

fn unary(b: &mut Builder, op: UnOp, a: ExprId, y: ExprId) -> Vec<Partial> {
    let share = match op {
        UnOp::Neg => Share::Negated,
        UnOp::Abs => Share::Times(sign(b, a)),
        UnOp::Sqrt => {
            let two = b.float(b.ty(y), 2.0);
            Share::Over(b.times(two, y))
        }
        _ => return Vec::new(),
    };
    vec![partial(a, share)]
}

fn binary(b: &mut Builder, op: BinOp, p: ExprId, q: ExprId, y: ExprId) -> Vec<Partial> {
    let shares = match op {
        BinOp::Add => (Share::Same, Share::Same),
        BinOp::Sub => (Share::Same, Share::Negated),
        BinOp::Mul => (Share::Times(q), Share::Times(p)),
        BinOp::Div => {
            let quotient = b.binary(BinOp::Div, y, q);
            (Share::Over(q), Share::Times(b.unary(UnOp::Neg, quotient)))
        }
        BinOp::Mod => {
            let quotient = b.binary(BinOp::Div, p, q);
            let whole = b.unary(UnOp::Floor, quotient);
            (Share::Same, Share::Times(b.unary(UnOp::Neg, whole)))
        }
        BinOp::Min | BinOp::Max => {
            let first = b.binary(if op == BinOp::Min { BinOp::Le } else { BinOp::Ge }, p, q);
            return chosen(b, first, p, q);
        }
        BinOp::Absd => {
            let difference = b.binary(BinOp::Sub, p, q);
            let sign = sign(b, difference);
            (Share::Times(sign), Share::Times(b.unary(UnOp::Neg, sign)))
        }
        _ => return Vec::new(),
    };
    vec![partial(p, shares.0), partial(q, shares.1)]
}

/// The share of the only operand of a function.
fn math(b: &mut Builder, function: MathFn, a: ExprId, y: ExprId) -> Share {
    let ty = b.ty(y);
    let one = b.float(ty, 1.0);
    let square = |b: &mut Builder, e: ExprId| b.binary(BinOp::Mul, e, e);
    let of = |b: &mut Builder, function: MathFn| b.node(Kind::Math(function, vec![a]), ty);
    match function {
        MathFn::Exp | MathFn::FastExp => Share::Times(y),
        MathFn::Log | MathFn::FastLog => Share::Over(a),
        MathFn::Sin => Share::Times(of(b, MathFn::Cos)),
        MathFn::FastSin => Share::Times(of(b, MathFn::FastCos)),
        MathFn::Cos | MathFn::FastCos => {
            let sine = of(b, if function == MathFn::Cos { MathFn::Sin } else { MathFn::FastSin });
            Share::Times(b.unary(UnOp::Neg, sine))
        }
        MathFn::Sinh => Share::Times(of(b, MathFn::Cosh)),
        MathFn::Cosh => Share::Times(of(b, MathFn::Sinh)),
        MathFn::Tan | MathFn::Tanh => {
            let (y2, op) = (square(b, y), if function == MathFn::Tan { BinOp::Add } else { BinOp::Sub });
            Share::Times(b.binary(op, one, y2))
        }
        MathFn::Atan | MathFn::Atanh => {
            let (a2, op) = (square(b, a), if function == MathFn::Atan { BinOp::Add } else { BinOp::Sub });
            Share::Over(b.binary(op, one, a2))
        }
        MathFn::Asin | MathFn::Acos | MathFn::Asinh | MathFn::Acosh => {
            let a2 = square(b, a);
            let inside = match function {
                MathFn::Asinh => b.binary(BinOp::Add, a2, one),
                MathFn::Acosh => b.binary(BinOp::Sub, a2, one),
                _ => b.binary(BinOp::Sub, one, a2),
            };
            let root = b.unary(UnOp::Sqrt, inside);
            Share::Over(if function == MathFn::Acos { b.unary(UnOp::Neg, root) } else { root })
        }
        MathFn::Erf => {
            let a2 = square(b, a);
            let power = b.unary(UnOp::Neg, a2);
            let (bell, scale) = (b.node(Kind::Math(MathFn::Exp, vec![power]), ty), b.float(ty, 2.0 / PI.sqrt()));
            Share::Times(b.times(scale, bell))
        }
        MathFn::FastInverse => {
            let y2 = square(b, y);
            Share::Times(b.unary(UnOp::Neg, y2))
        }
        MathFn::FastInverseSqrt => {
            let (y2, half) = (square(b, y), b.float(ty, -0.5));
            let y3 = b.times(y2, y);
            Share::Times(b.times(half, y3))
        }
        // The functions of more operands.
        MathFn::Pow | MathFn::FastPow | MathFn::Atan2 | MathFn::Hypot | MathFn::Fma | MathFn::MulAdd => Share::Same,
    }
}

/// The shares of the operands of a function of two.
fn math_of_two(b: &mut Builder, function: MathFn, p: ExprId, q: ExprId, y: ExprId) -> Vec<Partial> {
    let ty = b.ty(y);
    match function {
        MathFn::Atan2 => {
            let (p2, q2) = (b.binary(BinOp::Mul, p, p), b.binary(BinOp::Mul, q, q));
            let sum = b.binary(BinOp::Add, p2, q2);
            let (by_p, back) = (b.binary(BinOp::Div, q, sum), b.binary(BinOp::Div, p, sum));
            vec![partial(p, Share::Times(by_p)), partial(q, Share::Times(b.unary(UnOp::Neg, back)))]
        }
        MathFn::Hypot => {
            let (by_p, by_q) = (b.binary(BinOp::Div, p, y), b.binary(BinOp::Div, q, y));
            vec![partial(p, Share::Times(by_p)), partial(q, Share::Times(by_q))]
        }
        // A power: without slope by its base where the exponent is zero, by its exponent where the base is not
        // positive.
        _ => {
            let log = if function == MathFn::FastPow { MathFn::FastLog } else { MathFn::Log };
            let (zero, one) = (b.float(ty, 0.0), b.float(ty, 1.0));
            let less = match b.value(q) {
                Some(c) => b.float(ty, c.as_f64() - 1.0),
                None => b.binary(BinOp::Sub, q, one),
            };
            let lower = if b.value(less) == b.value(one) { p } else { b.node(Kind::Math(function, vec![p, less]), ty) };
            let by_base = b.times(q, lower);
            let logarithm = b.node(Kind::Math(log, vec![p]), ty);
            let by_exponent = b.times(y, logarithm);
            let guards = [(q, BinOp::Ne), (p, BinOp::Gt)].map(|(e, op)| match b.value(e) {
                Some(c) if op == BinOp::Ne && c.as_f64() != 0.0 => None,
                _ => Some(b.binary(op, e, zero)),
            });
            vec![
                Partial { operand: p, share: Share::Times(by_base), guard: guards[0] },
                Partial { operand: q, share: Share::Times(by_exponent), guard: guards[1] },
            ]
        }
    }
}
