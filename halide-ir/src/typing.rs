//! The type of every kind of expression: what the smart constructors establish, stated once more so that `verify` can
//! re-check a program and `parse` can refuse text before it builds a node.

use super::expr::{Elem, Expr, ExprKind, Intrinsic, Type};
use super::sym::Sym;
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_core::value::{binary_type, unary_type};

/// The type that a node of `kind` has; `claimed` supplies what the operands do not determine (the target of a cast, the
/// element of a load, the lanes of a ramp). The error says what is wrong in one clause.
pub(super) fn type_of(kind: &ExprKind, claimed: Type) -> Result<Type, String> {
    use ExprKind::*;
    match kind {
        Const(v) => Ok(Type::data(v.ty())),
        Int(_) => Ok(Type::INDEX),
        Sym(s) => symbol(*s, claimed),
        Param(_) => scalar_data(claimed),
        Unary(op, a) => unary(*op, a.ty()),
        Binary(op, a, b) => binary(*op, a.ty(), b.ty()),
        Select(c, a, b) => select(c.ty(), a.ty(), b.ty()),
        Cast(a) => cast(a.ty(), claimed),
        SaturatingCast(a) => data_to_data(a.ty(), claimed),
        Reinterpret(a) => reinterpret(a.ty(), claimed),
        Math(f, args) => float_call(f.arity(), args),
        Intrinsic(op, args) => intrinsic(*op, args),
        Likely(a) => Ok(a.ty()),
        Read { args, .. } => read(args, claimed),
        Load { index, mask, .. } => load(index.ty(), mask.as_ref().map(Expr::ty), claimed),
        Ramp { base, stride } => ramp(base.ty(), stride.ty(), claimed),
        Broadcast(a) => broadcast(a.ty(), claimed),
        Shuffle(vectors, lanes) => shuffle(vectors, lanes),
    }
}

/// `int` for Index, the scalar type's name for data, and `x8` behind it for 8 lanes.
pub(super) fn type_name(ty: Type) -> String {
    let elem = match ty.elem {
        Elem::Index => "int",
        Elem::Data(t) => t.name(),
    };
    if ty.lanes == 1 { elem.to_string() } else { format!("{elem}x{}", ty.lanes) }
}

/// The inverse of [`type_name`].
pub(super) fn parse_type(text: &str) -> Option<Type> {
    let (elem, lanes) = match text.rsplit_once('x') {
        Some((elem, lanes)) => (elem, lanes.parse().ok().filter(|&n: &u16| n > 1)?),
        None => (text, 1),
    };
    let elem = if elem == "int" { Elem::Index } else { Elem::Data(ScalarType::parse(elem)?) };
    Some(Type { elem, lanes })
}

fn symbol(s: Sym, claimed: Type) -> Result<Type, String> {
    if matches!(s, Sym::Temp(_)) { Ok(claimed) } else { Ok(Type::INDEX) }
}

fn scalar_data(claimed: Type) -> Result<Type, String> {
    match claimed {
        Type { elem: Elem::Data(_), lanes: 1 } => Ok(claimed),
        _ => Err(format!("a parameter is a data scalar, not {}", type_name(claimed))),
    }
}

fn unary(op: UnOp, a: Type) -> Result<Type, String> {
    let elem = match a.elem {
        Elem::Index => (op == UnOp::Neg).then_some(Elem::Index),
        Elem::Data(t) => unary_type(op, t).map(Elem::Data),
    };
    elem.map(|e| a.with_elem(e)).ok_or_else(|| format!("{op:?} of {}", type_name(a)))
}

fn binary(op: BinOp, a: Type, b: Type) -> Result<Type, String> {
    use BinOp::*;
    let wanted = match (op, a.elem) {
        (Shl | Shr, Elem::Data(t)) => a.with_elem(Elem::Data(ScalarType::signed(t.bits()))),
        _ => a,
    };
    let elem = match a.elem {
        _ if b != wanted => None,
        Elem::Index if op.is_comparison() => Some(Elem::Data(ScalarType::Bool)),
        Elem::Index => matches!(op, Add | Sub | Mul | Div | Mod | Min | Max).then_some(Elem::Index),
        Elem::Data(t) => binary_type(op, t).map(Elem::Data),
    };
    elem.map(|e| a.with_elem(e)).ok_or_else(|| format!("{op:?} of {} and {}", type_name(a), type_name(b)))
}

fn select(c: Type, a: Type, b: Type) -> Result<Type, String> {
    if c.is_bool() && c.lanes == a.lanes && a == b {
        return Ok(a);
    }
    Err(format!("select of {}, {} and {}", type_name(c), type_name(a), type_name(b)))
}

fn cast(a: Type, to: Type) -> Result<Type, String> {
    let from_ok = match (to.elem, a.elem) {
        (Elem::Index, Elem::Data(t)) => t.is_int(),
        _ => true,
    };
    if from_ok && a.lanes == to.lanes {
        return Ok(to);
    }
    Err(format!("a cast of {} to {}", type_name(a), type_name(to)))
}

fn data_to_data(a: Type, to: Type) -> Result<Type, String> {
    if a.scalar().is_some() && to.scalar().is_some() && a.lanes == to.lanes {
        return Ok(to);
    }
    Err(format!("a saturating cast of {} to {}", type_name(a), type_name(to)))
}

fn reinterpret(a: Type, to: Type) -> Result<Type, String> {
    match (a.scalar(), to.scalar()) {
        (Some(x), Some(y)) if x.bits() == y.bits() && a.lanes == to.lanes => Ok(to),
        _ => Err(format!("{} reinterpreted as {}", type_name(a), type_name(to))),
    }
}

/// The common type of the operands of a call.
fn common(arity: usize, args: &[Expr]) -> Result<Type, String> {
    if args.len() != arity {
        return Err(format!("{} operands instead of {arity}", args.len()));
    }
    let ty = args[0].ty();
    match args.iter().find(|a| a.ty() != ty) {
        Some(other) => Err(format!("operands of {} and {}", type_name(ty), type_name(other.ty()))),
        None => Ok(ty),
    }
}

fn float_call(arity: usize, args: &[Expr]) -> Result<Type, String> {
    let ty = common(arity, args)?;
    if ty.scalar().is_some_and(ScalarType::is_float) {
        return Ok(ty);
    }
    Err(format!("a function of floats on {}", type_name(ty)))
}

fn intrinsic(op: Intrinsic, args: &[Expr]) -> Result<Type, String> {
    let ty = common(2, args)?;
    match ty.scalar().filter(|t| t.is_int()) {
        Some(t) if op == Intrinsic::WideningMul && t.bits() == 64 => Err(format!("{op:?} of 64-bit {}", type_name(ty))),
        Some(t) if op == Intrinsic::MulRounded && t != ScalarType::I16 => Err(format!("{op:?} of {}", type_name(ty))),
        Some(t) if op == Intrinsic::WideningMul => {
            let wide =
                if t.is_signed_int() { ScalarType::signed(2 * t.bits()) } else { ScalarType::unsigned(2 * t.bits()) };
            Ok(ty.with_elem(Elem::Data(wide)))
        }
        Some(_) => Ok(ty),
        None => Err(format!("{op:?} of {}", type_name(ty))),
    }
}

fn read(args: &[Expr], claimed: Type) -> Result<Type, String> {
    let lanes = args.first().map_or(1, Expr::lanes);
    if let Some(bad) = args.iter().find(|a| !a.ty().is_index() || a.lanes() != lanes) {
        return Err(format!("a coordinate of {} in a read of {lanes} lanes", type_name(bad.ty())));
    }
    match claimed.scalar() {
        Some(_) => Ok(claimed.with_lanes(lanes)),
        None => Err("a read of Index elements".to_string()),
    }
}

fn load(index: Type, mask: Option<Type>, claimed: Type) -> Result<Type, String> {
    if !index.is_index() || claimed.scalar().is_none() {
        return Err(format!("a load of {} at {}", type_name(claimed), type_name(index)));
    }
    match mask {
        Some(m) if !m.is_bool() || m.lanes != index.lanes => {
            Err(format!("a mask of {} for {} lanes", type_name(m), index.lanes))
        }
        _ => Ok(claimed.with_lanes(index.lanes)),
    }
}

fn ramp(base: Type, stride: Type, claimed: Type) -> Result<Type, String> {
    if base == Type::INDEX && stride == Type::INDEX && claimed.lanes > 1 {
        return Ok(Type::INDEX.with_lanes(claimed.lanes));
    }
    Err(format!("a ramp of {} by {} in {} lanes", type_name(base), type_name(stride), claimed.lanes))
}

fn broadcast(a: Type, claimed: Type) -> Result<Type, String> {
    if a.lanes == 1 && claimed.lanes > 1 {
        return Ok(a.with_lanes(claimed.lanes));
    }
    Err(format!("a broadcast of {} to {} lanes", type_name(a), claimed.lanes))
}

fn shuffle(vectors: &[Expr], lanes: &[u16]) -> Result<Type, String> {
    let Some(first) = vectors.first() else {
        return Err("a shuffle of nothing".to_string());
    };
    if let Some(other) = vectors.iter().find(|v| v.ty().elem != first.ty().elem) {
        return Err(format!("a shuffle of {} with {}", type_name(first.ty()), type_name(other.ty())));
    }
    let total: usize = vectors.iter().map(|v| v.lanes() as usize).sum();
    if lanes.is_empty() || lanes.len() > u16::MAX as usize {
        return Err(format!("a shuffle to {} lanes", lanes.len()));
    }
    match lanes.iter().find(|&&l| l as usize >= total) {
        Some(l) => Err(format!("lane {l} of a shuffle of {total} lanes")),
        None => Ok(first.ty().with_lanes(lanes.len() as u16)),
    }
}
