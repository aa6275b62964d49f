//! Random values of a given type.

use super::constant::constant;
use super::draw::{Draw, Scope};
use halide_core::expr::*;
use halide_core::ops::{BinOp, MathFn, UnOp};
use halide_core::reduce;
use halide_core::types::ScalarType::{self, *};

const ARITHMETIC: [BinOp; 13] = {
    use BinOp::*;
    [Add, Add, Add, Sub, Sub, Mul, Mul, Min, Max, Div, Mod, DivToZero, ModToZero]
};
const BITS: [BinOp; 5] = [BinOp::BitAnd, BinOp::BitOr, BinOp::BitXor, BinOp::Shl, BinOp::Shr];
const COMPARISONS: [BinOp; 6] = [BinOp::Eq, BinOp::Ne, BinOp::Lt, BinOp::Le, BinOp::Gt, BinOp::Ge];
impl Draw {
    /// A value of `ty`, of at most `depth` operators one inside the other.
    pub(super) fn value(&mut self, ty: ScalarType, scope: &Scope<'_>, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf(ty, scope);
        }
        let operand = |draw: &mut Draw, ty| draw.value(ty, scope, depth - 1);
        if !self.options.exact && self.random.one_in(40) {
            return self.noted(ty, scope, depth - 1);
        }
        match self.random.below(16) {
            0 | 1 => self.leaf(ty, scope),
            2 => {
                let from = self.any_type();
                let a = operand(self, from);
                if self.random.one_in(3) { a.saturating_cast(ty) } else { cast_to(ty, a) }
            }
            3 if !self.options.exact => {
                let condition = self.condition(scope, depth - 1);
                let (a, b) = (operand(self, ty), operand(self, ty));
                select(condition, a, b)
            }
            4 => self.unary_value(ty, scope, depth - 1),
            5 => self.reduction(ty, scope, depth - 1),
            6 if ty.is_int() => {
                let (a, b) = (operand(self, ty), operand(self, ty));
                let op = self.random.pick(&BITS);
                // A shift amount is small, mostly.
                let shift = matches!(op, BinOp::Shl | BinOp::Shr) && !self.random.one_in(8);
                let b = if shift { cast_to(ScalarType::signed(ty.bits()), b) % 9 } else { b };
                operate(op, a, b)
            }
            7 if ty == Bool => {
                let of = self.random.pick(&[F32, F64, F16]);
                let float = operand(self, of);
                unary_of(self.random.pick(&[UnOp::IsNan, UnOp::IsInf, UnOp::IsFinite]), float)
            }
            8 if ty.bits() == 32 => {
                let from = self.random.pick(&[I32, U32, F32]);
                let bits = operand(self, from);
                if from == ty { bits } else { bits.reinterpret(ty) }
            }
            _ if ty == Bool => {
                let of = self.any_type();
                let (a, b) = (operand(self, of), operand(self, of));
                operate(self.random.pick(&COMPARISONS), a, b)
            }
            _ => {
                let (a, b) = (operand(self, ty), operand(self, ty));
                match self.random.pick(&ARITHMETIC) {
                    BinOp::DivToZero | BinOp::ModToZero if ty.is_float() => operate(BinOp::Sub, a, b),
                    BinOp::Div | BinOp::Mod if self.random.one_in(2) => {
                        let by = constant(&mut self.random, ty);
                        operate(BinOp::Div, a, by)
                    }
                    op => operate(op, a, b),
                }
            }
        }
    }

    /// A value that is printed, or of which something is required that holds.
    fn noted(&mut self, ty: ScalarType, scope: &Scope<'_>, depth: usize) -> Expr {
        let value = self.value(ty, scope, depth);
        match self.random.below(6) {
            0 => return likely_if_innermost(value),
            1 if ty.is_float() => return strict_float(value),
            2 if ty.is_float() => return fma(value, self.value(ty, scope, depth), self.leaf(ty, scope)),
            _ => {}
        }
        if self.random.one_in(3) {
            return print_when(self.condition(scope, depth), value, ("is a value of", ty.name()));
        }
        let number = cast::<u16>(self.leaf(I32, scope));
        let holds = match self.random.below(3) {
            0 => popcount(number).le(16),
            1 => (number % 5).lt(5),
            _ => max(number, 3).ge(number),
        };
        require(holds, value, ("a law of numbers does not hold for", number))
    }

    fn unary_value(&mut self, ty: ScalarType, scope: &Scope<'_>, depth: usize) -> Expr {
        let a = self.value(ty, scope, depth);
        if ty == Bool {
            return unary_of(UnOp::Not, a);
        }
        if ty.is_float() {
            use UnOp::*;
            if self.random.one_in(2) {
                // Only lowering makes `mul_add`.
                let function = self.random.pick(&MathFn::ALL);
                let function = if function == MathFn::MulAdd { MathFn::Fma } else { function };
                let mut args = vec![a];
                while args.len() < function.arity() {
                    args.push(self.value(ty, scope, depth));
                }
                return dynamic::math(function, std::array::from_fn(|i| args[i.min(args.len() - 1)]));
            }
            return unary_of(self.random.pick(&[Neg, Abs, Floor, Ceil, Round, Trunc, Sqrt]), a);
        }
        match self.random.below(7) {
            0 => unary_of(UnOp::Neg, a),
            1 => unary_of(UnOp::Not, a),
            2 => cast_to(ty, unary_of(UnOp::Abs, a)),
            3 => unary_of(self.random.pick(&[UnOp::Popcount, UnOp::Clz, UnOp::Ctz]), a),
            4 => {
                let b = self.value(ty, scope, depth);
                cast_to(ty, absd(a, b))
            }
            5 if ty.bits() <= 32 => {
                let (b, weight) = (self.value(ty, scope, depth), self.value(U8, scope, 0));
                lerp(a, b, weight)
            }
            _ => self.average(a, ty, scope, depth),
        }
    }

    /// Draws a typical use of narrow integers: an average or a product in a wider type, or a sum that saturates.
    fn average(&mut self, a: Expr, ty: ScalarType, scope: &Scope<'_>, depth: usize) -> Expr {
        let b = self.value(ty, scope, depth);
        let wide = match ty {
            _ if ty.bits() == 64 => ty,
            _ if ty.is_signed_int() => ScalarType::signed(2 * ty.bits()),
            _ => ScalarType::unsigned(2 * ty.bits()),
        };
        let (a, b) = (cast_to(wide, a), cast_to(wide, b));
        match self.random.below(4) {
            0 => cast_to(ty, (a + b) / 2),
            1 => cast_to(ty, (a + b + 1) / 2),
            2 => (a + b).saturating_cast(ty),
            _ => cast_to(ty, (a * b) >> (ty.bits() as i32 / 2)),
        }
    }

    /// A condition on coordinates or on data.
    pub(super) fn condition(&mut self, scope: &Scope<'_>, depth: usize) -> Expr {
        let variables: Vec<Expr> = scope.vars.iter().chain(&scope.rvars).copied().collect();
        if variables.is_empty() || self.random.one_in(3) {
            return self.value(Bool, scope, depth.min(1));
        }
        let x = self.random.pick(&variables);
        let limit = self.random.between(-1, 9);
        let c = match self.random.below(4) {
            0 => (x % 2).eq(limit as i32 & 1),
            1 => operate(self.random.pick(&COMPARISONS), x, self.random.pick(&variables) + limit as i32),
            2 => operate(self.random.pick(&COMPARISONS), x + self.offset, limit.expr()),
            _ => operate(self.random.pick(&COMPARISONS), x, limit.expr()),
        };
        if self.random.one_in(4) {
            let other = self.random.pick(&variables).gt(self.random.between(-1, 9));
            return if self.random.one_in(2) { c.and(other) } else { c.or(other) };
        }
        c
    }

    /// A reduction that is written in place.
    pub(super) fn reduction(&mut self, ty: ScalarType, scope: &Scope<'_>, depth: usize) -> Expr {
        let domain = self.domain(scope);
        let mut inner = Scope { vars: scope.vars.clone(), rvars: scope.rvars.clone(), own: None };
        inner.rvars.extend((0..domain.dims()).map(|d| domain.dim(d).expr()));
        let e = self.value(ty, &inner, depth.min(1));
        let coordinate = |e: Expr, ty| cast_to(ty, e.at(0));
        match self.random.below(6) {
            _ if ty == Bool => reduce::maximum_over(&domain, e),
            0 if ty.is_int() && self.random.one_in(2) => reduce::saturating_sum_over(&domain, e),
            0 => reduce::product_over(&domain, e),
            1 => reduce::minimum_over(&domain, e),
            2 => reduce::maximum_over(&domain, e),
            3 => coordinate(reduce::argmin_over(&domain, e), ty),
            4 => coordinate(reduce::argmax_over(&domain, e), ty),
            _ => reduce::sum_over(&domain, e),
        }
    }

    /// A read mostly, else a constant, a coordinate or a parameter.
    fn leaf(&mut self, ty: ScalarType, scope: &Scope<'_>) -> Expr {
        let variables: Vec<Expr> = scope.vars.iter().chain(&scope.rvars).copied().collect();
        match self.random.below(12) {
            0 => constant(&mut self.random, ty),
            1 | 2 if !variables.is_empty() => cast_to(ty, self.random.pick(&variables)),
            3 => cast_to(ty, self.param()),
            4 if scope.own.is_some() => self.own_value(ty, scope),
            _ => cast_to(ty, self.read(scope)),
        }
    }
}

pub(super) fn operate(op: BinOp, a: Expr, b: Expr) -> Expr {
    dynamic::binary(op, a, b)
}

fn unary_of(op: UnOp, a: Expr) -> Expr {
    dynamic::unary(op, a)
}
