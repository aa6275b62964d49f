//! Random coordinates made of every kind of expression: narrow integers that wrap, floats, products of data, shifts,
//! choices by data, reductions. Clamped, unless the pipeline's coordinates may reach far.

use super::constant::constant;
use super::draw::{Draw, Scope};
use super::structure::Coordinate;
use super::value::operate;
use halide_core::expr::*;
use halide_core::ops::{BinOp, MathFn, UnOp};
use halide_core::types::ScalarType::{self, *};

const FLOATS: [ScalarType; 6] = [F32, F32, F32, F64, F64, F16];
const WHOLE: [ScalarType; 10] = [I32, I32, I32, U32, I16, U16, U8, I8, I64, U64];

impl Draw {
    /// A coordinate of a kind that need not stay near `base`.
    pub(super) fn far_coordinate(&mut self, kind: Coordinate, base: Expr, scope: &Scope<'_>) -> Expr {
        // No reads of a Func inside its own coordinates.
        let outside = Scope { vars: scope.vars.clone(), rvars: scope.rvars.clone(), own: None };
        let scope = &outside;
        let coordinate = match kind {
            Coordinate::Wrapped => self.wrapped(base, scope),
            Coordinate::Float => self.through_float(base, scope),
            Coordinate::Quotient => self.quotient(base, scope),
            Coordinate::WrappedFloat => {
                let wrapped = self.wrapped(base, scope);
                self.through_float(wrapped, scope)
            }
            Coordinate::Product => self.product(scope),
            Coordinate::Element => {
                let element = self.whole(scope);
                if self.random.one_in(2) { element + base } else { element }
            }
            Coordinate::Shift => self.shift(base, scope),
            Coordinate::ChosenByData => {
                let condition = self.value(Bool, scope, 1);
                let other = if self.random.one_in(2) { self.whole(scope) } else { base - 2 };
                select(condition, base + 1, other)
            }
            Coordinate::Reduction => {
                let ty = self.random.pick(&[I32, I16, U8]);
                cast_to(I32, self.reduction(ty, scope, 1))
            }
            _ => self.value(I32, scope, 2),
        };
        self.kept_near(kind, coordinate)
    }

    /// The coordinate, clamped unless it may be anything.
    fn kept_near(&mut self, kind: Coordinate, coordinate: Expr) -> Expr {
        // Bytes that wrap stay within a few hundred points by themselves.
        let most = if matches!(kind, Coordinate::Wrapped | Coordinate::WrappedFloat) { 5 } else { 2 };
        if self.options.far && !self.random.one_in(most) {
            return coordinate;
        }
        let low = self.random.between(-2, 1) as i32;
        clamp(coordinate, low, low + self.random.between(0, 7) as i32)
    }

    /// A variable in a type that is too narrow for some of its values.
    fn wrapped(&mut self, base: Expr, scope: &Scope<'_>) -> Expr {
        let ty = self.random.pick(&[U8, U8, U8, I8, I8, U16, I16, U32]);
        let inner = match self.random.below(5) {
            0 => base * self.random.between(-3, 50) as i32,
            1 if !scope.vars.is_empty() => base + self.random.pick(&scope.vars),
            2 => self.random.between(-3, 300) as i32 - base,
            _ => base + self.random.between(-3, 3) as i32,
        };
        let narrow = cast_to(ty, inner);
        let narrow = match self.random.below(6) {
            0 => narrow + constant(&mut self.random, ty),
            1 => narrow * constant(&mut self.random, ty),
            2 => cast_to(self.random.pick(&[U8, I8, I16]), narrow),
            _ => narrow,
        };
        cast_to(I32, narrow)
    }

    /// `whole` as a float, with some float arithmetic, as an integer again.
    fn through_float(&mut self, whole: Expr, scope: &Scope<'_>) -> Expr {
        let ty = self.random.pick(&FLOATS);
        let mut float = cast_to(ty, whole);
        for _ in 0..1 + self.random.below(2) {
            float = match self.random.below(10) {
                0..=2 => float * self.quarters(ty, 1, 10),
                3 => float + self.quarters(ty, -9, 9),
                4 => float * self.float_of_unknown_sign(ty, scope),
                5 => float / self.quarters(ty, 1, 10),
                6 => min(float, self.quarters(ty, 0, 40)),
                7 => {
                    let function = self.random.pick(&[MathFn::Sin, MathFn::Exp, MathFn::Log, MathFn::Atan]);
                    dynamic::math(function, [float; 3]) * 4
                }
                _ => {
                    use UnOp::*;
                    dynamic::unary(self.random.pick(&[Floor, Ceil, Round, Trunc, Abs, Neg]), float)
                }
            };
        }
        match self.random.one_in(4) {
            true => float.saturating_cast(self.random.pick(&[I32, I16, U8])).cast(I32),
            false => cast_to(I32, float),
        }
    }

    /// A quotient of floats or integers whose divisor may have either sign, or be zero.
    fn quotient(&mut self, base: Expr, scope: &Scope<'_>) -> Expr {
        if self.random.one_in(3) {
            let divisor = if self.random.one_in(2) { self.offset.expr() } else { self.whole(scope) };
            let op = self.random.pick(&[BinOp::Div, BinOp::Mod, BinOp::DivToZero, BinOp::ModToZero]);
            return operate(op, base, divisor);
        }
        let ty = self.random.pick(&FLOATS);
        let above = cast_to(ty, base) + self.quarters(ty, -4, 4);
        let below = self.float_of_unknown_sign(ty, scope);
        cast_to(I32, above / below)
    }

    /// A product of two to four elements.
    fn product(&mut self, scope: &Scope<'_>) -> Expr {
        let mut product = self.whole(scope);
        for _ in 0..1 + self.random.below(3) {
            product *= self.whole(scope);
        }
        let factor = self.random.pick(&[1, 1, 4, -3]);
        if factor == 1 { product } else { product * factor }
    }

    /// Bits of a variable or an element, moved.
    fn shift(&mut self, base: Expr, scope: &Scope<'_>) -> Expr {
        let moved = if self.random.one_in(3) { self.whole(scope) } else { base };
        let amount = match self.random.below(4) {
            0 => self.count.expr(),
            1 => clamp(self.whole(scope), 0, 3),
            _ => (self.random.between(-1, 3) as i32).expr(),
        };
        operate(self.random.pick(&[BinOp::Shl, BinOp::Shr]), moved, amount)
    }

    /// An element of something as an `i32`.
    fn whole(&mut self, scope: &Scope<'_>) -> Expr {
        let ty = self.random.pick(&WHOLE);
        let read = self.read(scope);
        if self.random.one_in(2) { cast_to(I32, read) } else { cast_to(I32, cast_to(ty, read)) }
    }

    fn float_of_unknown_sign(&mut self, ty: ScalarType, scope: &Scope<'_>) -> Expr {
        match self.random.below(3) {
            0 => cast_to(ty, self.read(scope)),
            1 => cast_to(ty, self.offset.expr()),
            _ => cast_to(ty, self.real.expr()),
        }
    }

    /// A constant of `low` to `high` quarters.
    fn quarters(&mut self, ty: ScalarType, low: i64, high: i64) -> Expr {
        cast_to(ty, (self.random.between(low, high) as f32 / 4.0).expr())
    }
}
