//! Fixed-point arithmetic: functions of integers that are defined by exact arithmetic, whatever the width.
//!
//! Operands are brought to one type as by `+` (a literal takes the type of the other). "Exact" means: in integers
//! without a width, and only the result is brought to its type, as each function says. Up to 32 bits they are made of
//! casts, sums, products and shifts in twice the width, which the CPU backend recognises; 64-bit operands, which have
//! no wider type, are made of their bits.

use super::functions::cast;
use super::into::IntoExpr;
use super::make::{as_type, binary, is_literal, scalars, select as select_at, unary};
use crate::arena::{self, Expr, Kind, Ty};
use crate::error::{AlgorithmErrorKind, Location};
use crate::ops::{BinOp, UnOp};
use crate::types::ScalarType;
use crate::value::{Element, Scalar};

macro_rules! of_two {
    ($($(#[$doc:meta])* $name:ident $by:path;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name(a: impl IntoExpr, b: impl IntoExpr) -> Expr {
            let at = Location::caller();
            let made = operands(stringify!($name), a.expr(), b.expr(), at).and_then(|both| $by(both, at));
            made.unwrap_or_else(|poison| poison)
        }
    )*};
}

of_two! {
    /// `a + b` exactly, in twice the width: signed if an operand is. Operands of up to 32 bits.
    widening_add wide_sum;
    /// `a - b` exactly, in twice the width, signed. Operands of up to 32 bits.
    widening_sub wide_difference;
    /// `a * b` exactly, in twice the width: signed if an operand is. Operands of up to 32 bits.
    widening_mul wide_product;
    /// `a + b` exactly, clamped to the type of the operands.
    saturating_add clamped_sum;
    /// `a - b` exactly, clamped to the type of the operands.
    saturating_sub clamped_difference;
    /// `floor((a + b) / 2)` exactly.
    halving_add half_sum;
    /// `floor((a + b + 1) / 2)` exactly.
    rounding_halving_add rounded_half_sum;
    /// `floor((a - b) / 2)` exactly, wrapped to the type of the operands (an unsigned one may be negative before that).
    halving_sub half_difference;
}

/// `a * 2^b` in twice the width of `a`, which wraps only there; a negative `b` shifts right. `a` of up to 32 bits.
#[track_caller]
pub fn widening_shift_left(a: impl IntoExpr, b: impl IntoExpr) -> Expr {
    let at = Location::caller();
    widened("widening_shift_left", a.expr(), at).map_or_else(|poison| poison, |a| binary(BinOp::Shl, a, b.expr(), at))
}

/// `floor(a / 2^b)` in twice the width of `a`; a negative `b` shifts left. `a` of up to 32 bits.
#[track_caller]
pub fn widening_shift_right(a: impl IntoExpr, b: impl IntoExpr) -> Expr {
    let at = Location::caller();
    widened("widening_shift_right", a.expr(), at).map_or_else(|poison| poison, |a| binary(BinOp::Shr, a, b.expr(), at))
}

/// `floor(a / 2^b + 1/2)` exactly, wrapped to the type of `a`; a negative `b` shifts left, without rounding.
#[track_caller]
pub fn rounding_shift_right(a: impl IntoExpr, b: impl IntoExpr) -> Expr {
    let at = Location::caller();
    rounded_shift("rounding_shift_right", a.expr(), b.expr(), at).unwrap_or_else(|poison| poison)
}

/// `a * 2^b` wrapped to the type of `a`; a negative `b` shifts right and rounds, as [`rounding_shift_right`].
#[track_caller]
pub fn rounding_shift_left(a: impl IntoExpr, b: impl IntoExpr) -> Expr {
    let at = Location::caller();
    let shifted = signed_amount("rounding_shift_left", a.expr(), b.expr(), at)
        .and_then(|b| rounded_shift("rounding_shift_left", a.expr(), unary(UnOp::Neg, b, at), at));
    shifted.unwrap_or_else(|poison| poison)
}

/// `floor(a * b / 2^bits)` exactly, clamped to the type of the operands. `bits` is at least 0; operands of up to 32
/// bits.
#[track_caller]
pub fn mul_shift_right(a: impl IntoExpr, b: impl IntoExpr, bits: impl IntoExpr) -> Expr {
    let at = Location::caller();
    let scaled = operands("mul_shift_right", a.expr(), b.expr(), at).and_then(|both| {
        let product = wide_product(both, at)?;
        Ok(clamp_to(both.2, binary(BinOp::Shr, product, bits.expr(), at), at))
    });
    scaled.unwrap_or_else(|poison| poison)
}

/// `floor(a * b / 2^bits + 1/2)` exactly, clamped to the type of the operands. `bits` is at least 0; operands of up to
/// 32 bits.
#[track_caller]
pub fn rounding_mul_shift_right(a: impl IntoExpr, b: impl IntoExpr, bits: impl IntoExpr) -> Expr {
    let at = Location::caller();
    let scaled = operands("rounding_mul_shift_right", a.expr(), b.expr(), at).and_then(|both| {
        let product = wide_product(both, at)?;
        Ok(clamp_to(both.2, rounded_shift("rounding_mul_shift_right", product, bits.expr(), at)?, at))
    });
    scaled.unwrap_or_else(|poison| poison)
}

/// The bits of `a` from bit `first` (0 is the lowest) as a `T`, an integer type; bits beyond the width are 0, or copies
/// of the sign.
#[track_caller]
pub fn extract_bits<T: Element>(a: impl IntoExpr, first: impl IntoExpr) -> Expr {
    let (at, operator) = (Location::caller(), "extract_bits");
    let bits = scalars([a.expr()], operator, at).and_then(|[ty]| integer(operator, ty, at));
    match bits.and_then(|_| integer(operator, T::TYPE, at)) {
        Ok(_) => cast::<T>(binary(BinOp::Shr, a.expr(), first.expr(), at)),
        Err(poison) => poison,
    }
}

/// The bits of `parts` in one unsigned integer, those of the first lowest. The parts are 2, 4 or 8 integers of one
/// type, and have 64 bits at most in all.
#[track_caller]
pub fn concat_bits<E: IntoExpr>(parts: impl AsRef<[E]>) -> Expr {
    let at = Location::caller();
    let mut all = Vec::new();
    for part in parts.as_ref() {
        all.push(part.expr());
    }
    joined(&all, at).unwrap_or_else(|poison| poison)
}

/// The value at `index` of `values`, the last one for any other index. All are evaluated. Values may be tuples.
#[track_caller]
pub fn mux<V: IntoExpr>(index: impl IntoExpr, values: impl AsRef<[V]>) -> Expr {
    let at = Location::caller();
    let mut all = Vec::new();
    for value in values.as_ref() {
        all.push(value.expr());
    }
    let Some((&last, rest)) = all.split_last() else {
        return arena::poison(AlgorithmErrorKind::NoElement { element: 0, elements: 0 }, at);
    };
    let index = index.expr();
    let ty = match scalars([index], "mux", at).and_then(|[ty]| integer("mux", ty, at)) {
        Ok(ty) => ty,
        Err(poison) => return poison,
    };
    // An index of a narrow type cannot be that of the other values.
    let most = ty.int_max().map_or(usize::MAX, |max| usize::try_from(max).unwrap_or(usize::MAX));
    let pick = |(i, value): (usize, &Expr)| (binary(BinOp::Eq, index, constant(i as i128, ty, at), at), *value);
    let pairs: Vec<(Expr, Expr)> = rest.iter().enumerate().take_while(|(i, _)| *i <= most).map(pick).collect();
    super::make::select_first(&pairs, last, at)
}

/// Two operands in one integer type.
type Operands = (Expr, Expr, ScalarType);
type Made = Result<Expr, Expr>;

fn operands(operator: &'static str, a: Expr, b: Expr, at: Location) -> Result<Operands, Expr> {
    let [own_a, own_b] = scalars([a, b], operator, at)?;
    let common = match (is_literal(a), is_literal(b)) {
        (true, false) => Some(own_b),
        (false, true) => Some(own_a),
        _ => crate::types::promote(own_a, own_b),
    };
    let ty = integer(operator, common.unwrap_or(own_a), at)?;
    let (a, b) = (as_type(a, ty, at), as_type(b, ty, at));
    scalars([a, b], operator, at)?;
    Ok((a, b, ty))
}

fn integer(operator: &'static str, ty: ScalarType, at: Location) -> Result<ScalarType, Expr> {
    if ty.is_int() {
        return Ok(ty);
    }
    Err(arena::poison(AlgorithmErrorKind::WrongOperand { operator, ty, wants: "integers" }, at))
}

/// The type of twice the width.
fn wider(operator: &'static str, ty: ScalarType, signed: bool, at: Location) -> Result<ScalarType, Expr> {
    match ty.bits() {
        64 => {
            let wants = "integers of at most 32 bits";
            Err(arena::poison(AlgorithmErrorKind::WrongOperand { operator, ty, wants }, at))
        }
        bits if signed => Ok(ScalarType::signed(2 * bits)),
        bits => Ok(ScalarType::unsigned(2 * bits)),
    }
}

fn widened(operator: &'static str, a: Expr, at: Location) -> Made {
    let [ty] = scalars([a], operator, at)?;
    let wide = wider(operator, integer(operator, ty, at)?, ty.is_signed_int(), at)?;
    Ok(as_type(as_type(a, ty, at), wide, at))
}

fn wide(op: BinOp, operator: &'static str, (a, b, ty): Operands, signed: bool, at: Location) -> Made {
    let wide = wider(operator, ty, signed, at)?;
    Ok(binary(op, as_type(a, wide, at), as_type(b, wide, at), at))
}

fn wide_sum(both: Operands, at: Location) -> Made {
    wide(BinOp::Add, "widening_add", both, both.2.is_signed_int(), at)
}

fn wide_difference(both: Operands, at: Location) -> Made {
    wide(BinOp::Sub, "widening_sub", both, true, at)
}

fn wide_product(both: Operands, at: Location) -> Made {
    wide(BinOp::Mul, "widening_mul", both, both.2.is_signed_int(), at)
}

fn clamped_sum(both: Operands, at: Location) -> Made {
    match both.2.bits() {
        64 => Ok(clamped_in_64(BinOp::Add, both, at)),
        _ => Ok(clamp_to(both.2, wide_sum(both, at)?, at)),
    }
}

fn clamped_difference(both: Operands, at: Location) -> Made {
    match both.2.bits() {
        64 => Ok(clamped_in_64(BinOp::Sub, both, at)),
        _ => Ok(clamp_to(both.2, wide_difference(both, at)?, at)),
    }
}

/// The sum or difference wraps exactly where its sign is not what the operands' signs make it; unsigned, where it is on
/// the wrong side of the left operand.
fn clamped_in_64(op: BinOp, (a, b, ty): Operands, at: Location) -> Expr {
    let result = binary(op, a, b, at);
    let limit = |v: Option<i128>| constant(v.unwrap_or(0), ty, at);
    let (min, max, zero) = (limit(ty.int_min()), limit(ty.int_max()), constant(0, ty, at));
    if ty.is_unsigned_int() {
        let (wrapped, end) = match op {
            BinOp::Add => (binary(BinOp::Lt, result, a, at), max),
            _ => (binary(BinOp::Gt, result, a, at), min),
        };
        return select_at(wrapped, end, result, at);
    }
    let differs = |x, y| binary(BinOp::BitXor, x, y, at);
    let moved = differs(result, a);
    let wrapped = match op {
        BinOp::Add => binary(BinOp::BitAnd, moved, differs(result, b), at),
        _ => binary(BinOp::BitAnd, moved, differs(a, b), at),
    };
    let end = select_at(binary(BinOp::Lt, a, zero, at), min, max, at);
    select_at(binary(BinOp::Lt, wrapped, zero, at), end, result, at)
}

/// The average, rounded down: `(a & b) + ((a ^ b) >> 1)`, as common bits count twice in the sum and others once.
fn half_sum((a, b, ty): Operands, at: Location) -> Made {
    if ty.bits() < 64 {
        return average((a, b, ty), 0, at);
    }
    let (common, half) = (binary(BinOp::BitAnd, a, b, at), half_where_different(a, b, ty, at));
    Ok(binary(BinOp::Add, common, half, at))
}

fn rounded_half_sum((a, b, ty): Operands, at: Location) -> Made {
    if ty.bits() < 64 {
        return average((a, b, ty), 1, at);
    }
    let (any, half) = (binary(BinOp::BitOr, a, b, at), half_where_different(a, b, ty, at));
    Ok(binary(BinOp::Sub, any, half, at))
}

fn half_where_different(a: Expr, b: Expr, ty: ScalarType, at: Location) -> Expr {
    binary(BinOp::Shr, binary(BinOp::BitXor, a, b, at), constant(1, ty, at), at)
}

fn average(both: Operands, more: i128, at: Location) -> Made {
    let sum = wide_sum(both, at)?;
    let wide = ScalarType::signed(2 * both.2.bits());
    let wide = if both.2.is_signed_int() { wide } else { ScalarType::unsigned(wide.bits()) };
    let sum = if more == 0 { sum } else { binary(BinOp::Add, sum, constant(more, wide, at), at) };
    Ok(as_type(binary(BinOp::Div, sum, constant(2, wide, at), at), both.2, at))
}

/// `a - b = (a ^ b) - 2 (!a & b)`.
fn half_difference((a, b, ty): Operands, at: Location) -> Made {
    if ty.bits() < 64 {
        let difference = wide_difference((a, b, ty), at)?;
        return Ok(as_type(binary(BinOp::Shr, difference, 1.expr(), at), ty, at));
    }
    let half = half_where_different(a, b, ty, at);
    let borrowed = binary(BinOp::BitAnd, unary(UnOp::Not, a, at), b, at);
    Ok(binary(BinOp::Sub, half, borrowed, at))
}

/// `(a >> b) + ((a >> (b - 1)) & 1)` for `b > 0`: the second term is the half that is rounded up.
fn rounded_shift(operator: &'static str, a: Expr, b: Expr, at: Location) -> Made {
    let amount = signed_amount(operator, a, b, at)?;
    let [ty, by] = scalars([a, amount], operator, at)?;
    let a = as_type(a, ty, at);
    let one_less = binary(BinOp::Sub, amount, constant(1, by, at), at);
    let half = binary(BinOp::BitAnd, binary(BinOp::Shr, a, one_less, at), constant(1, ty, at), at);
    let positive = binary(BinOp::Gt, amount, constant(0, by, at), at);
    let half = select_at(positive, half, constant(0, ty, at), at);
    Ok(binary(BinOp::Add, binary(BinOp::Shr, a, amount, at), half, at))
}

/// A shift amount as a signed integer that can be negated and decreased: within twice the width of `a`.
fn signed_amount(operator: &'static str, a: Expr, b: Expr, at: Location) -> Made {
    let [ty, by] = scalars([a, b], operator, at)?;
    integer(operator, ty, at)?;
    integer(operator, by, at)?;
    let target = ScalarType::signed(ty.bits().max(16));
    let far = i128::from(2 * ty.bits());
    // A literal may be of any size; another amount is clamped in its own type, if that can hold the limits.
    let own = if is_literal(b) { ScalarType::I64 } else { by };
    let mut clamped = as_type(b, own, at);
    if own.int_max().is_some_and(|max| max >= far) {
        clamped = binary(BinOp::Min, clamped, constant(far, own, at), at);
    }
    if own.int_min().is_some_and(|min| min <= -far) {
        clamped = binary(BinOp::Max, clamped, constant(-far, own, at), at);
    }
    Ok(as_type(clamped, target, at))
}

fn joined(parts: &[Expr], at: Location) -> Made {
    let operator = "concat_bits";
    let Some(&first) = parts.first() else {
        return Err(arena::poison(AlgorithmErrorKind::ConcatBits { operands: 0, bits: 0 }, at));
    };
    let [ty] = scalars([first], operator, at)?;
    let (each, operands) = (integer(operator, ty, at)?.bits(), parts.len());
    let bits = each.saturating_mul(u32::try_from(operands).unwrap_or(u32::MAX));
    if !bits.is_power_of_two() || bits > 64 || bits == each {
        return Err(arena::poison(AlgorithmErrorKind::ConcatBits { operands, bits: each }, at));
    }
    let (narrow, whole) = (ScalarType::unsigned(ty.bits()), ScalarType::unsigned(bits));
    let mut all = constant(0, whole, at);
    for (i, &part) in parts.iter().enumerate() {
        let [own] = scalars([part], operator, at)?;
        if own != ty && !is_literal(part) {
            let wants = "integers of one type";
            return Err(arena::poison(AlgorithmErrorKind::WrongOperand { operator, ty: own, wants }, at));
        }
        let bits = as_type(as_type(as_type(part, ty, at), narrow, at), whole, at);
        let place = constant(i as i128 * i128::from(ty.bits()), whole, at);
        all = binary(BinOp::BitOr, all, binary(BinOp::Shl, bits, place, at), at);
    }
    Ok(all)
}

fn clamp_to(ty: ScalarType, e: Expr, at: Location) -> Expr {
    super::make::convert(e, ty, at, Kind::SaturatingCast)
}

fn constant(value: i128, ty: ScalarType, at: Location) -> Expr {
    arena::add(Kind::Const(Scalar::int(ty, value)), Ty::One(ty), at)
}
