//! Checked construction: types, literals and promotion.

use crate::arena::{self, Expr, Kind, Literal, Ty};
use crate::error::{AlgorithmErrorKind, Location};
use crate::graph::func::FuncBody;
use crate::ops::{BinOp, MathFn, UnOp};
use crate::types::{ScalarType, promote};
use crate::value::{self, Scalar};
use std::rc::Rc;

/// The scalar type of a node, or the poisoned node that stands for what uses it.
pub(crate) fn scalar(e: Expr, operator: &str, at: Location) -> Result<ScalarType, Expr> {
    match arena::ty(e) {
        Ty::One(ty) => Ok(ty),
        Ty::Many(types) => {
            let kind = AlgorithmErrorKind::NotAScalar { operator: operator.into(), elements: types.len() };
            Err(arena::poison(kind, at))
        }
        Ty::None => Err(arena::poisoned(at, &[e])),
    }
}

/// The scalar types of several nodes; or a poisoned node that keeps the mistakes of all of them, and what they reach.
pub(crate) fn scalars<const N: usize>(all: [Expr; N], operator: &str, at: Location) -> Result<[ScalarType; N], Expr> {
    let mut types = [ScalarType::Bool; N];
    let mut mistakes = Vec::new();
    for (ty, e) in types.iter_mut().zip(all) {
        match scalar(e, operator, at) {
            Ok(found) => *ty = found,
            Err(poison) => mistakes.push(poison),
        }
    }
    if mistakes.is_empty() { Ok(types) } else { Err(arena::poisoned(at, &[&mistakes[..], &all[..]].concat())) }
}

/// Returns true for a literal of Rust, whose type is that of the operand that it meets.
pub(crate) fn is_literal(e: Expr) -> bool {
    literal(e).is_some()
}

fn is_poisoned(e: Expr) -> bool {
    arena::ty(e) == Ty::None
}

fn literal(e: Expr) -> Option<Literal> {
    match arena::node(e).kind {
        Kind::Literal(l) => Some(l),
        _ => None,
    }
}

/// A literal as a constant of type `ty`, in which it must be representable.
fn convert_literal(l: Literal, ty: ScalarType, at: Location) -> Expr {
    let mistake = match l {
        Literal::Int(v) => {
            let value = Scalar::int(ty, v);
            // A float that is too large became an infinity, which saturates to another integer, but for one value.
            if ty != ScalarType::Bool && value.as_i128() == v && (!ty.is_float() || value.as_f64().is_finite()) {
                return arena::add(Kind::Const(value), Ty::One(ty), at);
            }
            AlgorithmErrorKind::LiteralRange { literal: v.to_string(), ty }
        }
        Literal::Float(v) if ty.is_float() => {
            let value = Scalar::float(ty, v);
            if value.as_f64().is_finite() || !v.is_finite() {
                return arena::add(Kind::Const(value), Ty::One(ty), at);
            }
            AlgorithmErrorKind::LiteralRange { literal: format!("{v:?}"), ty }
        }
        Literal::Float(v) => AlgorithmErrorKind::LiteralFloat { literal: format!("{v:?}"), ty },
    };
    arena::poison(mistake, at)
}

/// `e` in type `ty`, by an implicit conversion: a literal must be representable, any other scalar is cast.
pub(crate) fn as_type(e: Expr, ty: ScalarType, at: Location) -> Expr {
    match (literal(e), arena::ty(e)) {
        (Some(l), _) => convert_literal(l, ty, at),
        (None, Ty::One(own)) if own == ty => e,
        (None, Ty::One(_)) => arena::add(Kind::Cast(e), Ty::One(ty), at),
        (None, Ty::Many(_) | Ty::None) => e,
    }
}

/// Two operands in one type.
fn matched(operator: &'static str, a: Expr, b: Expr, at: Location) -> Result<(Expr, Expr, ScalarType), Expr> {
    let ty = common(operator, a, b, at)?;
    let (a, b) = (as_type(a, ty, at), as_type(b, ty, at));
    scalars([a, b], operator, at)?;
    Ok((a, b, ty))
}

/// The common type of two operands: that of the other for a literal, else the promoted one.
fn common(operator: &'static str, a: Expr, b: Expr, at: Location) -> Result<ScalarType, Expr> {
    let [ta, tb] = scalars([a, b], operator, at)?;
    let (literal_a, literal_b) = (literal(a).is_some(), literal(b).is_some());
    let common = match (literal_a, literal_b) {
        _ if (ta == ScalarType::Bool) != (tb == ScalarType::Bool) => None,
        (true, false) => Some(tb),
        (false, true) => Some(ta),
        _ => promote(ta, tb),
    };
    common.ok_or_else(|| {
        let other = if ta == ScalarType::Bool { tb } else { ta };
        arena::poison(AlgorithmErrorKind::BoolMix { operator, other }, at)
    })
}

/// As [`common`]: literals among them take the type of the others.
fn common_of_three(operator: &'static str, [a, b, c]: [Expr; 3], at: Location) -> Result<ScalarType, Expr> {
    let ty = common(operator, a, b, at)?;
    match literal(a).and(literal(b)) {
        Some(_) => common(operator, a, c, at),
        None => {
            let both = if literal(a).is_none() { as_type(a, ty, at) } else { as_type(b, ty, at) };
            common(operator, both, c, at)
        }
    }
}

/// A two-operand node.
pub(crate) fn binary(op: BinOp, a: Expr, b: Expr, at: Location) -> Expr {
    binary_or_poison(op, a, b, at).unwrap_or_else(|poison| poison)
}

fn binary_or_poison(op: BinOp, a: Expr, b: Expr, at: Location) -> Result<Expr, Expr> {
    let operator = op.name();
    if let Kind::Undefined(body) = arena::node(a).kind {
        return first_update(op, &body, a, b, at);
    }
    if matches!(op, BinOp::Shl | BinOp::Shr) {
        return shift(op, a, b, at);
    }
    let bitwise = matches!(op, BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor);
    if bitwise && literal(a).is_none() && literal(b).is_none() {
        let [left, right] = scalars([a, b], operator, at)?;
        if left.is_int() && right.is_int() && left.is_signed_int() != right.is_signed_int() {
            return Err(arena::poison(AlgorithmErrorKind::SignMix { operator, left, right }, at));
        }
    }
    let (a, b, ty) = matched(operator, a, b, at)?;
    let Some(result) = value::binary_type(op, ty) else {
        let wants = match op {
            _ if bitwise => "integers or bools",
            BinOp::DivToZero | BinOp::ModToZero => "integers",
            _ => "numbers",
        };
        return Err(arena::poison(AlgorithmErrorKind::WrongOperand { operator, ty, wants }, at));
    };
    Ok(arena::add(Kind::Binary(op, a, b), Ty::One(result), at))
}

/// `f[x] += e` on a Func without a definition, whose old value is the operator's identity and of the type of `e`.
fn first_update(op: BinOp, body: &Rc<FuncBody>, old: Expr, e: Expr, at: Location) -> Result<Expr, Expr> {
    if !matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div) {
        return Err(arena::poison(AlgorithmErrorKind::UndefinedFunc { func: body.name.clone() }, at));
    }
    let operator = op.name();
    let ty = scalar(e, operator, at)?;
    if value::binary_type(op, ty).is_none() {
        let wants = "numbers";
        return Err(arena::poison(AlgorithmErrorKind::WrongOperand { operator, ty, wants }, at));
    }
    Ok(arena::add(Kind::Binary(op, old, as_type(e, ty, at)), Ty::One(ty), at))
}

/// A shift: the amount becomes a signed integer of the left operand's width, clamped so that it keeps its meaning.
fn shift(op: BinOp, a: Expr, b: Expr, at: Location) -> Result<Expr, Expr> {
    let operator = op.name();
    let [ty, amount] = scalars([a, b], operator, at)?;
    for t in [ty, amount] {
        if !t.is_int() {
            let kind = AlgorithmErrorKind::WrongOperand { operator, ty: t, wants: "integers" };
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
    let operator = op.name();
    let ty = match scalar(a, operator, at) {
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
    // A square root, like every function of real numbers, takes an integer as an f32.
    let ty = if op == UnOp::Sqrt && ty.is_int() { ScalarType::F32 } else { ty };
    match value::unary_type(op, ty) {
        Some(result) => arena::add(Kind::Unary(op, as_type(a, ty, at)), Ty::One(result), at),
        None => {
            let wants = match op {
                UnOp::Neg | UnOp::Abs | UnOp::Sqrt => "numbers",
                UnOp::Not => "integers or bools",
                UnOp::Popcount | UnOp::Clz | UnOp::Ctz => "integers",
                _ => "floats",
            };
            arena::poison(AlgorithmErrorKind::WrongOperand { operator, ty, wants }, at)
        }
    }
}

/// `if c { a } else { b }`, both evaluated; of two tuples, element by element.
pub(crate) fn select(c: Expr, a: Expr, b: Expr, at: Location) -> Expr {
    if let (Ty::Many(x), Ty::Many(y)) = (arena::ty(a), arena::ty(b))
        && x.len() == y.len()
    {
        let parts = (0..x.len()).map(|i| select(c, element(a, i, at), element(b, i, at), at)).collect();
        return tuple(parts, at);
    }
    select_scalar(c, a, b, at).unwrap_or_else(|poison| poison)
}

fn select_scalar(c: Expr, a: Expr, b: Expr, at: Location) -> Result<Expr, Expr> {
    let [condition, _, _] = scalars([c, a, b], "select", at)?;
    if condition != ScalarType::Bool {
        let (operator, wants) = ("select", "a bool condition");
        return Err(arena::poison(AlgorithmErrorKind::WrongOperand { operator, ty: condition, wants }, at));
    }
    let (a, b, ty) = matched("select", a, b, at)?;
    Ok(arena::add(Kind::Select(c, a, b), Ty::One(ty), at))
}

/// The value of the first pair whose condition holds, else `otherwise`. All are of one type, that of no literal alone.
pub(super) fn select_first(pairs: &[(Expr, Expr)], otherwise: Expr, at: Location) -> Expr {
    let strong = |&e: &Expr| if literal(e).is_none() { scalar_type(e) } else { None };
    let values = pairs.iter().map(|(_, v)| v).chain([&otherwise]);
    let common = values.filter_map(strong).reduce(|a, b| promote(a, b).unwrap_or(a));
    let fixed = |e: Expr| match (common, scalar_type(e)) {
        (Some(ty), Some(own)) if (own == ScalarType::Bool) == (ty == ScalarType::Bool) => as_type(e, ty, at),
        _ => e,
    };
    pairs.iter().rev().fold(fixed(otherwise), |rest, &(c, v)| select(c, fixed(v), rest, at))
}

/// One value for each site of an update, all of one type.
pub(super) fn sites(function: &'static str, values: &[Expr], at: Location) -> Expr {
    sites_or_poison(function, values, at).unwrap_or_else(|poison| poison)
}

fn sites_or_poison(function: &'static str, values: &[Expr], at: Location) -> Result<Expr, Expr> {
    let typed = values.iter().find(|e| literal(**e).is_none()).or(values.first());
    let Some(&typed) = typed else { return Err(arena::poison(AlgorithmErrorKind::NoSites { function }, at)) };
    let [mut ty] = scalars([typed], function, at)?;
    let mut all = typed;
    for &value in values {
        ty = common(function, all, value, at)?;
        all = as_type(all, ty, at);
    }
    let values: Vec<Expr> = values.iter().map(|e| as_type(*e, ty, at)).collect();
    values.iter().try_for_each(|e| scalars([*e], function, at).map(drop))?;
    Ok(arena::add(Kind::Sites(values), Ty::One(ty), at))
}

fn scalar_type(e: Expr) -> Option<ScalarType> {
    if let Ty::One(ty) = arena::ty(e) { Some(ty) } else { None }
}

/// A conversion; `make` chooses which.
pub(super) fn convert(a: Expr, ty: ScalarType, at: Location, make: fn(Expr) -> Kind) -> Expr {
    let own = match scalar(a, "cast", at) {
        Ok(own) => own,
        Err(poison) => return poison,
    };
    if own == ty && literal(a).is_none() {
        return a;
    }
    let kind = make(as_type(a, own, at));
    if own.bits() != ty.bits() && matches!(kind, Kind::Reinterpret(_)) {
        return arena::poison(AlgorithmErrorKind::ReinterpretWidth { from: own, to: ty }, at);
    }
    arena::add(kind, Ty::One(ty), at)
}

/// A transcendental function; integers become f32.
pub(super) fn math(f: MathFn, args: &[Expr], at: Location) -> Expr {
    math_or_poison(f, args, at).unwrap_or_else(|poison| poison)
}

fn math_or_poison(f: MathFn, args: &[Expr], at: Location) -> Result<Expr, Expr> {
    let operator = f.name();
    let ty = match *args {
        [a, b] => common(operator, a, b, at)?,
        [a, b, c] => common_of_three(operator, [a, b, c], at)?,
        _ => scalar(args[0], operator, at)?,
    };
    if ty == ScalarType::Bool {
        return Err(arena::poison(AlgorithmErrorKind::WrongOperand { operator, ty, wants: "numbers" }, at));
    }
    let float = if ty.is_float() { ty } else { ScalarType::F32 };
    let args: Vec<Expr> = args.iter().map(|&a| as_type(a, float, at)).collect();
    match args.iter().any(|&a| is_poisoned(a)) {
        true => Err(arena::poisoned(at, &args)),
        false => Ok(arena::add(Kind::Math(f, args), Ty::One(float), at)),
    }
}

/// A steady-state marker.
pub(crate) fn likely(a: Expr, at: Location) -> Expr {
    marked(a, "likely", Kind::Likely, at)
}

/// A scalar with something said about it.
pub(crate) fn marked(a: Expr, operator: &'static str, make: fn(Expr) -> Kind, at: Location) -> Expr {
    match scalar(a, operator, at) {
        Ok(ty) => arena::add(make(as_type(a, ty, at)), Ty::One(ty), at),
        Err(poison) => poison,
    }
}

/// A tuple value; literals in it stay so, until they meet the type of an element.
pub(crate) fn tuple(values: Vec<Expr>, at: Location) -> Expr {
    let types: Vec<Result<ScalarType, Expr>> = values.iter().map(|&v| scalar(v, "tuple", at)).collect();
    let mistakes: Vec<Expr> = types.iter().filter_map(|t| t.err()).collect();
    match (&values[..], &mistakes[..]) {
        ([], _) => arena::poison(AlgorithmErrorKind::NoElement { element: 0, elements: 0 }, at),
        (_, [_, ..]) => arena::poisoned(at, &[&mistakes[..], &values[..]].concat()),
        ([one], _) => *one,
        _ => arena::add(Kind::Tuple(values), Ty::Many(types.into_iter().flatten().collect()), at),
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

/// Coordinates as `I32`, of the right number; or a poisoned node that keeps every mistake in them.
pub(crate) fn check_coords(callee: &str, dims: usize, args: &[Expr], at: Location) -> Result<Vec<Expr>, Expr> {
    let mut mistakes = Vec::new();
    if args.len() != dims {
        let kind = AlgorithmErrorKind::WrongArity { callee: callee.into(), dims, given: args.len() };
        mistakes.push(arena::poison(kind, at));
    }
    let mut fixed = Vec::new();
    for (dim, &a) in args.iter().enumerate() {
        let fixed_arg = match scalar(a, callee, at) {
            Ok(ty) if ty.is_int() => as_type(a, ScalarType::I32, at),
            Ok(ty) => arena::poison(AlgorithmErrorKind::CoordinateType { callee: callee.into(), dim, ty }, at),
            Err(poison) => poison,
        };
        if is_poisoned(fixed_arg) {
            mistakes.push(fixed_arg);
        }
        fixed.push(fixed_arg);
    }
    if mistakes.is_empty() { Ok(fixed) } else { Err(arena::poisoned(at, &[&mistakes[..], args].concat())) }
}
