//! Ranges of numbers: the values that an expression may have at given sizes.
//!
//! Ranges serve estimates only. No bound and no proof rests on them, so floats are computed in 64 bits and bits of
//! integers are known where both operands are numbers.

use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_core::value::{self, Scalar};
use halide_ir::{Elem, Type};

/// The values between two ends, both of which are among them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// Integers; truth values are 0 and 1.
    Int(i64, i64),
    /// Floats.
    Float(f64, f64),
    /// Any value.
    Any,
}

impl Range {
    /// One integer.
    pub fn point(value: i64) -> Range {
        Range::Int(value, value)
    }

    /// One value of a parameter.
    pub fn of_scalar(value: Scalar) -> Range {
        match value.ty().is_float() {
            true => floats(&[value.as_f64()]),
            false => Range::point(clamp(value.as_i128())),
        }
    }

    /// All values of a type.
    pub fn of_type(elem: Elem) -> Range {
        match elem {
            Elem::Data(ty) => match (ty.int_min(), ty.int_max()) {
                (Some(min), Some(max)) => Range::Int(clamp(min), clamp(max)),
                _ => Range::Any,
            },
            Elem::Index => Range::Any,
        }
    }

    /// The ends, of integers.
    pub fn ends(self) -> Option<(i64, i64)> {
        match self {
            Range::Int(min, max) => Some((min, max)),
            _ => None,
        }
    }

    /// The only value, of integers.
    pub fn value(self) -> Option<i64> {
        self.ends().filter(|(min, max)| min == max).map(|(min, _)| min)
    }

    /// The values of either.
    pub fn or(self, other: Range) -> Range {
        match (self, other) {
            (Range::Int(a, b), Range::Int(c, d)) => Range::Int(a.min(c), b.max(d)),
            (Range::Float(a, b), Range::Float(c, d)) => Range::Float(a.min(c), b.max(d)),
            _ => Range::Any,
        }
    }

    /// The values that are left in a type of which these are computed: all of it, where some wrap.
    fn within(self, elem: Elem) -> Range {
        match (self, Range::of_type(elem)) {
            (Range::Int(a, b), Range::Int(min, max)) if a < min || b > max => Range::Int(min, max),
            (Range::Any, all) => all,
            (range, _) => range,
        }
    }

    /// The values of a conversion to a type.
    pub fn cast(self, to: Elem, saturating: bool) -> Range {
        let is_float = matches!(to, Elem::Data(ty) if ty.is_float());
        match (self, is_float) {
            (Range::Int(a, b), true) => floats(&[a as f64, b as f64]),
            // Conversions of floats cut off, and `as` saturates as they do.
            (Range::Float(a, b), false) => Range::Int(a as i64, b as i64).held(to, saturating),
            (Range::Any, true) => Range::Any,
            (range, true) => range,
            (range, false) => range.held(to, saturating),
        }
    }

    fn held(self, to: Elem, saturating: bool) -> Range {
        match (self, Range::of_type(to)) {
            (Range::Int(a, b), Range::Int(min, max)) if saturating => Range::Int(a.clamp(min, max), b.clamp(min, max)),
            _ => self.within(to),
        }
    }
}

fn clamp(value: i128) -> i64 {
    value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

fn ints(values: &[i128]) -> Range {
    let (min, max) = (values.iter().min().copied(), values.iter().max().copied());
    Range::Int(clamp(min.unwrap_or(0)), clamp(max.unwrap_or(0)))
}

fn floats(values: &[f64]) -> Range {
    let (min, max) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
    match values.iter().any(|v| v.is_nan()) {
        true => Range::Any,
        false => Range::Float(min, max),
    }
}

/// The values of an operation.
pub fn unary(op: UnOp, a: Range, ty: Type) -> Range {
    let whole = |f: fn(f64) -> f64| match a {
        Range::Float(min, max) => floats(&[f(min), f(max)]),
        other => other,
    };
    let range = match (op, a) {
        (UnOp::Neg, Range::Int(min, max)) => ints(&[-i128::from(min), -i128::from(max)]),
        (UnOp::Neg, Range::Float(min, max)) => Range::Float(-max, -min),
        (UnOp::Not, Range::Int(min, max)) if ty.is_bool() => Range::Int(1 - max, 1 - min),
        (UnOp::Abs, Range::Int(min, max)) => {
            let (a, b) = (i128::from(min), i128::from(max));
            ints(&[a.abs(), b.abs(), if a <= 0 && b >= 0 { 0 } else { a.abs() }])
        }
        (UnOp::Abs, Range::Float(min, max)) => {
            floats(&[min.abs(), max.abs(), if min <= 0.0 && max >= 0.0 { 0.0 } else { min.abs() }])
        }
        (UnOp::Floor, _) => whole(f64::floor),
        (UnOp::Ceil, _) => whole(f64::ceil),
        (UnOp::Round, _) => whole(f64::round_ties_even),
        (UnOp::Trunc, _) => whole(f64::trunc),
        (UnOp::Sqrt, _) => whole(f64::sqrt),
        _ => Range::Any,
    };
    range.within(ty.elem)
}

/// The values of an operation on two operands, whose type is `of`.
pub fn binary(op: BinOp, a: Range, b: Range, of: Type, ty: Type) -> Range {
    let range = match (a, b) {
        (Range::Int(..), Range::Int(..)) => of_ints(op, a, b, of),
        (Range::Float(a, b), Range::Float(c, d)) => of_floats(op, (a, b), (c, d)),
        _ => Range::Any,
    };
    range.within(ty.elem)
}

fn of_floats(op: BinOp, (a, b): (f64, f64), (c, d): (f64, f64)) -> Range {
    match op {
        BinOp::Add => floats(&[a + c, b + d]),
        BinOp::Sub => floats(&[a - d, b - c]),
        BinOp::Mul => floats(&[a * c, a * d, b * c, b * d]),
        BinOp::Div if c > 0.0 || d < 0.0 => floats(&[a / c, a / d, b / c, b / d]),
        BinOp::Min => floats(&[a.min(c), b.min(d)]),
        BinOp::Max => floats(&[a.max(c), b.max(d)]),
        BinOp::Lt => truth(b < c, a >= d),
        BinOp::Le => truth(b <= c, a > d),
        BinOp::Gt => truth(a > d, b <= c),
        BinOp::Ge => truth(a >= d, b < c),
        _ => Range::Any,
    }
}

fn truth(holds: bool, fails: bool) -> Range {
    Range::Int(holds.into(), (!fails).into())
}

fn of_ints(op: BinOp, a: Range, b: Range, of: Type) -> Range {
    let (Some((a, b)), Some((c, d))) = (a.ends(), b.ends()) else { return Range::Any };
    let corners = |f: &dyn Fn(i128, i128) -> i128| {
        let [a, b, c, d] = [a, b, c, d].map(i128::from);
        ints(&[f(a, c), f(a, d), f(b, c), f(b, d)])
    };
    // Quotients are largest at the ends of the dividend, by the divisors next to 0 on either side and the last ones.
    let quotients = |f: &dyn Fn(i128, i128) -> i128| {
        let divisors = [c, d, -1, 1, 0].into_iter().filter(|v| (c..=d).contains(v));
        let all = divisors.flat_map(|v| [f(a.into(), v.into()), f(b.into(), v.into())]);
        ints(&all.collect::<Vec<_>>())
    };
    match op {
        BinOp::Add => corners(&|x, y| x + y),
        BinOp::Sub => corners(&|x, y| x - y),
        BinOp::Mul => corners(&|x, y| x.saturating_mul(y)),
        BinOp::Div => quotients(&|x, y| x.checked_div_euclid(y).unwrap_or(0)),
        BinOp::DivToZero => quotients(&|x, y| x.checked_div(y).unwrap_or(0)),
        BinOp::Mod => remainders((a, b), (c, d)),
        BinOp::Min => Range::Int(a.min(c), b.min(d)),
        BinOp::Max => Range::Int(a.max(c), b.max(d)),
        BinOp::Lt => truth(b < c, a >= d),
        BinOp::Le => truth(b <= c, a > d),
        BinOp::Gt => truth(a > d, b <= c),
        BinOp::Ge => truth(a >= d, b < c),
        BinOp::Eq => truth(a == b && (a, b) == (c, d), b < c || d < a),
        BinOp::Ne => truth(b < c || d < a, a == b && (a, b) == (c, d)),
        BinOp::BitAnd if of.is_bool() || (a >= 0 && c >= 0 && (a < b || c < d)) => {
            Range::Int(if of.is_bool() { a.min(c) } else { 0 }, b.min(d))
        }
        BinOp::BitOr if of.is_bool() => Range::Int(a.max(c), b.max(d)),
        BinOp::Shl if (0..63).contains(&c) && (0..63).contains(&d) => corners(&|x, y| x << y.min(62)),
        BinOp::Shr if (0..63).contains(&c) && (0..63).contains(&d) => corners(&|x, y| x >> y),
        BinOp::Absd => {
            let apart = [i128::from(a) - i128::from(d), i128::from(b) - i128::from(c)];
            let least = if apart[0] <= 0 && apart[1] >= 0 { 0 } else { apart[0].abs().min(apart[1].abs()) };
            ints(&[least, apart[0].abs(), apart[1].abs()])
        }
        _ => of_points(op, (a, b), (c, d), of),
    }
}

fn remainders((a, b): (i64, i64), (c, d): (i64, i64)) -> Range {
    let chunk = |v: i64| v.checked_div_euclid(c);
    match chunk(a).zip(chunk(b)) {
        Some((first, last)) if c == d && first == last => {
            Range::Int(a.checked_rem_euclid(c).unwrap_or(0), b.checked_rem_euclid(c).unwrap_or(0))
        }
        // x % 0 is 0.
        _ => ints(&[0, i128::from(c).abs().max(i128::from(d).abs()).max(1) - 1]),
    }
}

/// The value of an operation that is known for numbers only.
fn of_points(op: BinOp, (a, b): (i64, i64), (c, d): (i64, i64), of: Type) -> Range {
    match of.elem {
        Elem::Data(ty) if a == b && c == d && !ty.is_float() => {
            let scalar = |ty: ScalarType, v: i64| Scalar::int(ty, v.into());
            let amount = if matches!(op, BinOp::Shl | BinOp::Shr) { ScalarType::signed(ty.bits()) } else { ty };
            Range::of_scalar(value::binary(op, scalar(ty, a), scalar(amount, c)))
        }
        _ => Range::Any,
    }
}
