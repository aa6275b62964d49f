//! Checked construction: types, literals and promotion.

use super::Expr;
use crate::arena::{self, Kind, Literal, Ty};
use crate::error::{AlgorithmErrorKind, Location};
use crate::ops::{BinOp, MathFn, UnOp};
use crate::types::{ScalarType, promote};
use crate::value::{self, Scalar};
use std::rc::Rc;

/// The scalar type of a node, or the poisoned node that stands for what uses it.
pub(crate) fn scalar(e: Expr, operator: &str, at: Location) -> Result<ScalarType, Expr> {
    match arena::node(e).ty {
        Ty::One(ty) => Ok(ty),
        Ty::Many(types) => {
            let kind = AlgorithmErrorKind::NotAScalar { operator: operator.into(), elements: types.len() };
            Err(arena::poison(kind, at))
        }
        Ty::None => Err(arena::poisoned(at, &[e])),
    }
}

/// The types of two scalars, or a poisoned node with the mistakes of both.
fn both_scalar(a: Expr, b: Expr, operator: &str, at: Location) -> Result<(ScalarType, ScalarType), Expr> {
    match (scalar(a, operator, at), scalar(b, operator, at)) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(a), Err(b)) => Err(arena::poisoned(at, &[a, b])),
        (Err(poison), Ok(_)) => Err(arena::poisoned(at, &[poison, b])),
        (Ok(_), Err(poison)) => Err(arena::poisoned(at, &[a, poison])),
    }
}

fn literal(e: Expr) -> Option<Literal> {
    match arena::node(e).kind {
        Kind::Literal(l) => Some(l),
        _ => None,
    }
}

/// A literal as a constant of type `ty`, in which it must be representable.
fn convert_literal(l: Literal, ty: ScalarType, at: Location) -> Expr {
    let constant = |value: Scalar| arena::add(Kind::Const(value), Ty::One(ty), at);
    match l {
        Literal::Int(v) if ty.is_float() => constant(Scalar::float(ty, v as f64)),
        Literal::Int(v) => match (ty.int_min(), ty.int_max()) {
            (Some(low), Some(high)) if ty != ScalarType::Bool && (low..=high).contains(&v) => {
                constant(Scalar::int(ty, v))
            }
            _ => arena::poison(AlgorithmErrorKind::LiteralRange { literal: v.to_string(), ty }, at),
        },
        Literal::Float(v) if ty.is_float() => {
            let value = Scalar::float(ty, v);
            if v.is_finite() && !value.as_f64().is_finite() {
                return arena::poison(AlgorithmErrorKind::LiteralRange { literal: format!("{v:?}"), ty }, at);
            }
            constant(value)
        }
        Literal::Float(v) => arena::poison(AlgorithmErrorKind::LiteralFraction { literal: format!("{v:?}"), ty }, at),
    }
}

/// `e` in type `ty`, by an implicit conversion: a literal must be representable, anything else is cast.
pub(crate) fn as_type(e: Expr, ty: ScalarType, at: Location) -> Expr {
    match (literal(e), arena::node(e).ty) {
        (Some(l), _) => convert_literal(l, ty, at),
        (None, Ty::One(own)) if own == ty => e,
        _ => arena::add(Kind::Cast(e), Ty::One(ty), at),
    }
}

/// Two operands in one type.
fn matched(operator: &'static str, a: Expr, b: Expr, at: Location) -> Result<(Expr, Expr, ScalarType), Expr> {
    let (ta, tb) = both_scalar(a, b, operator, at)?;
    let ty = match (literal(a), literal(b)) {
        (Some(_), None) => tb,
        (None, Some(_)) => ta,
        _ => promote(ta, tb).ok_or_else(|| {
            let other = if ta == ScalarType::Bool { tb } else { ta };
            arena::poison(AlgorithmErrorKind::BoolMix { operator, other }, at)
        })?,
    };
    if ty == ScalarType::Bool && (literal(a).is_some() || literal(b).is_some()) {
        let other = if ta == ScalarType::Bool { tb } else { ta };
        return Err(arena::poison(AlgorithmErrorKind::BoolMix { operator, other }, at));
    }
    let (a, b) = (as_type(a, ty, at), as_type(b, ty, at));
    for e in [a, b] {
        if arena::node(e).ty == Ty::None {
            return Err(arena::poisoned(at, &[e]));
        }
    }
    Ok((a, b, ty))
}

fn symbol(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Mod => "%",
        BinOp::DivToZero => "div_round_to_zero",
        BinOp::ModToZero => "mod_round_to_zero",
        BinOp::Min => "min",
        BinOp::Max => "max",
        BinOp::BitAnd => "&",
        BinOp::BitOr => "|",
        BinOp::BitXor => "^",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
        BinOp::Absd => "absd",
        BinOp::Eq => "eq",
        BinOp::Ne => "ne",
        BinOp::Lt => "lt",
        BinOp::Le => "le",
        BinOp::Gt => "gt",
        BinOp::Ge => "ge",
    }
}

/// A two-operand node.
pub(crate) fn binary(op: BinOp, a: Expr, b: Expr, at: Location) -> Expr {
    binary_or_poison(op, a, b, at).unwrap_or_else(|poison| poison)
}

fn binary_or_poison(op: BinOp, a: Expr, b: Expr, at: Location) -> Result<Expr, Expr> {
    let operator = symbol(op);
    if let Kind::Undefined(_) = arena::node(a).kind {
        // `f[x] += e` on a Func without a definition: its type is that of `e`.
        let ty = scalar(b, operator, at)?;
        return Ok(arena::add(Kind::Binary(op, a, b), Ty::One(ty), at));
    }
    if matches!(op, BinOp::Shl | BinOp::Shr) {
        return shift(op, a, b, at);
    }
    let bitwise = matches!(op, BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor);
    if bitwise && literal(a).is_none() && literal(b).is_none() {
        let (left, right) = both_scalar(a, b, operator, at)?;
        if left.is_int() && right.is_int() && left.is_signed_int() != right.is_signed_int() {
            return Err(arena::poison(AlgorithmErrorKind::SignMix { operator, left, right }, at));
        }
    }
    let (a, b, ty) = matched(operator, a, b, at)?;
    let Some(result) = value::binary_type(op, ty) else {
        let wants = if bitwise { "integers or bools" } else { "numbers" };
        return Err(arena::poison(AlgorithmErrorKind::WrongOperand { operator: operator.into(), ty, wants }, at));
    };
    Ok(arena::add(Kind::Binary(op, a, b), Ty::One(result), at))
}

/// A shift: the amount becomes a signed integer of the left operand's width, clamped so that it keeps its meaning.
fn shift(op: BinOp, a: Expr, b: Expr, at: Location) -> Result<Expr, Expr> {
    let operator = symbol(op);
    let (ty, amount) = both_scalar(a, b, operator, at)?;
    for t in [ty, amount] {
        if !t.is_int() {
            let kind = AlgorithmErrorKind::WrongOperand { operator: operator.into(), ty: t, wants: "integers" };
            return Err(arena::poison(kind, at));
        }
    }
    let bits = i128::from(ty.bits());
    let target = ScalarType::signed(ty.bits());
    let b = match literal(b) {
        Some(Literal::Int(v)) => convert_literal(Literal::Int(v.clamp(-bits, bits)), target, at),
        _ if amount == target => b,
        _ => {
            let limit = |v: i128| convert_literal(Literal::Int(v), amount, at);
            let mut clamped = binary_or_poison(BinOp::Min, b, limit(bits), at)?;
            if amount.is_signed_int() {
                clamped = binary_or_poison(BinOp::Max, clamped, limit(-bits), at)?;
            }
            as_type(clamped, target, at)
        }
    };
    Ok(arena::add(Kind::Binary(op, a, b), Ty::One(ty), at))
}

/// A one-operand node.
pub(crate) fn unary(op: UnOp, a: Expr, at: Location) -> Expr {
    let operator = format!("{op:?}").to_lowercase();
    let ty = match scalar(a, &operator, at) {
        Ok(ty) => ty,
        Err(poison) => return poison,
    };
    if let (UnOp::Neg, Some(l)) = (op, literal(a)) {
        let negated = match l {
            Literal::Int(v) => Literal::Int(-v),
            Literal::Float(v) => Literal::Float(-v),
        };
        return arena::add(Kind::Literal(negated), Ty::One(ty), at);
    }
    match value::unary_type(op, ty) {
        Some(result) => arena::add(Kind::Unary(op, as_type(a, ty, at)), Ty::One(result), at),
        None => {
            let wants = match op {
                UnOp::Neg | UnOp::Abs => "numbers",
                UnOp::Not => "integers or bools",
                UnOp::Popcount | UnOp::Clz | UnOp::Ctz => "integers",
                _ => "floats",
            };
            arena::poison(AlgorithmErrorKind::WrongOperand { operator, ty, wants }, at)
        }
    }
}

/// `if c { a } else { b }`, both evaluated.
pub(crate) fn select(c: Expr, a: Expr, b: Expr, at: Location) -> Expr {
    let made = || {
        let ct = scalar(c, "select", at)?;
        if ct != ScalarType::Bool {
            let kind =
                AlgorithmErrorKind::WrongOperand { operator: "select".into(), ty: ct, wants: "a bool condition" };
            return Err(arena::poison(kind, at));
        }
        if let (Ty::Many(x), Ty::Many(y)) = (arena::node(a).ty, arena::node(b).ty)
            && x.len() == y.len()
        {
            let parts = (0..x.len()).map(|i| select(c, element(a, i, at), element(b, i, at), at)).collect();
            return Ok(tuple(parts, at));
        }
        let (a, b, ty) = matched("select", a, b, at)?;
        Ok(arena::add(Kind::Select(c, a, b), Ty::One(ty), at))
    };
    made().unwrap_or_else(|poison| poison)
}

/// A conversion; `make` chooses which.
pub(super) fn convert(a: Expr, ty: ScalarType, at: Location, make: fn(Expr) -> Kind) -> Expr {
    match scalar(a, "cast", at) {
        Ok(own) if own == ty && literal(a).is_none() => a,
        Ok(own) => {
            let a = as_type(a, own, at);
            let width = own.bits() == ty.bits() || !matches!(make(a), Kind::Reinterpret(_));
            if !width {
                return arena::poison(AlgorithmErrorKind::ReinterpretWidth { from: own, to: ty }, at);
            }
            arena::add(make(a), Ty::One(ty), at)
        }
        Err(poison) => poison,
    }
}

/// A transcendental function; integers become f32.
pub(super) fn math(f: MathFn, args: &[Expr], at: Location) -> Expr {
    let operator = format!("{f:?}").to_lowercase();
    let made = || {
        let mut ty = scalar(args[0], &operator, at)?;
        let mut args = args.to_vec();
        if let [a, b] = args[..] {
            let (a, b, common) = matched("pow", a, b, at)?;
            ty = common;
            args = vec![a, b];
        }
        if ty == ScalarType::Bool {
            let wants = "numbers";
            return Err(arena::poison(AlgorithmErrorKind::WrongOperand { operator, ty, wants }, at));
        }
        let float = if ty.is_float() { ty } else { ScalarType::F32 };
        let args = args.into_iter().map(|a| as_type(a, float, at)).collect();
        Ok(arena::add(Kind::Math(f, args), Ty::One(float), at))
    };
    made().unwrap_or_else(|poison| poison)
}

/// A steady-state marker.
pub(super) fn likely(a: Expr, at: Location) -> Expr {
    match arena::node(a).ty {
        Ty::One(ty) => arena::add(Kind::Likely(as_type(a, ty, at)), Ty::One(ty), at),
        _ => a,
    }
}

/// A tuple value.
pub(crate) fn tuple(values: Vec<Expr>, at: Location) -> Expr {
    let mut types = Vec::new();
    let mut fixed = Vec::new();
    for v in values {
        match scalar(v, "tuple", at) {
            Ok(ty) => {
                types.push(ty);
                fixed.push(as_type(v, ty, at));
            }
            Err(poison) => return poison,
        }
    }
    match fixed[..] {
        [one] => one,
        _ => arena::add(Kind::Tuple(fixed), Ty::Many(Rc::from(types)), at),
    }
}

/// One element of a tuple value; a scalar is its own element 0.
pub(crate) fn element(e: Expr, i: usize, at: Location) -> Expr {
    let node = arena::node(e);
    match (&node.ty, node.kind) {
        (Ty::Many(types), kind) if i < types.len() => match kind {
            Kind::Tuple(values) => values[i],
            _ => arena::add(Kind::Element(e, i), Ty::One(types[i]), at),
        },
        (Ty::Many(types), _) => arena::poison(AlgorithmErrorKind::NoElement { element: i, elements: types.len() }, at),
        (Ty::One(_), _) if i == 0 => e,
        (Ty::One(_), _) => arena::poison(AlgorithmErrorKind::NoElement { element: i, elements: 1 }, at),
        (Ty::None, _) => arena::poisoned(at, &[e]),
    }
}

/// Coordinates as `I32`, of the right number; or the poisoned node of a mistake in them.
pub(crate) fn check_coords(callee: &str, dims: usize, args: &[Expr], at: Location) -> Result<Vec<Expr>, Expr> {
    if args.len() != dims {
        let kind = AlgorithmErrorKind::WrongArity { callee: callee.into(), dims, given: args.len() };
        return Err(arena::poison(kind, at));
    }
    let mut fixed = Vec::new();
    for (dim, &a) in args.iter().enumerate() {
        let ty = scalar(a, callee, at)?;
        if !ty.is_int() {
            let kind = AlgorithmErrorKind::CoordinateType { callee: callee.into(), dim, ty };
            return Err(arena::poison(kind, at));
        }
        let fixed_arg = as_type(a, ScalarType::I32, at);
        if arena::node(fixed_arg).ty == Ty::None {
            return Err(arena::poisoned(at, &[fixed_arg]));
        }
        fixed.push(fixed_arg);
    }
    Ok(fixed)
}
