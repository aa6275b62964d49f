//! Integer division: Euclidean or rounded to zero, where x / 0 and x % 0 are 0 and MIN / -1 is MIN.
//!
//! naga gives division by zero and MIN / -1 some meaning on every device (it divides by 1 instead), so they may be
//! computed; only the quotient and remainder by zero are then replaced.

use super::builder::{Builder, V};
use super::helper::Helper;
use super::types::Reg;
use halide_backend::{Divide, Division};
use halide_core::ops::BinOp;
use naga::{BinaryOperator, Literal};

impl Builder<'_> {
    /// A quotient or remainder of registers; narrow ones may be one off their range (-128 / -1).
    pub(super) fn divide(&mut self, op: BinOp, reg: Reg, a: V, b: V) -> V {
        match self.divisor(b) {
            Some(0) => self.int(reg, 0),
            Some(divisor) => self.divide_by(op, reg, a, divisor),
            None => {
                let name = match op {
                    BinOp::Div => "div",
                    BinOp::Mod => "mod",
                    BinOp::DivToZero => "div_to_zero",
                    _ => "mod_to_zero",
                };
                let helper = Helper { name: format!("{name}_{}", reg.name()), args: &[reg, reg], result: reg };
                self.helper(helper, &[a, b], |c, args| {
                    let made = c.quotient_or_rest(op, reg, args[0], args[1]);
                    let Ok(total) = c.integers(reg).zero_where_zero(&args[1], &made);
                    total
                })
            }
        }
    }
    /// The number that an integer literal is.
    pub(super) fn divisor(&self, v: V) -> Option<i128> {
        match self.as_literal(v)? {
            Literal::I32(d) => Some(d.into()),
            Literal::U32(d) => Some(d.into()),
            Literal::I64(d) => Some(d.into()),
            Literal::U64(d) => Some(d.into()),
            _ => None,
        }
    }
    /// Division by a literal other than 0: by powers of two without dividing, where rounding is down.
    fn divide_by(&mut self, op: BinOp, reg: Reg, a: V, divisor: i128) -> V {
        let power = divisor > 0 && divisor & (divisor - 1) == 0;
        let down = !reg.is_signed() || matches!(op, BinOp::Div | BinOp::Mod);
        if power && down {
            let d = Division::new(op, reg.is_signed(), false);
            let Ok(made) = self.integers(reg).divide_by_power(d, &a, divisor.trailing_zeros(), false);
            return made;
        }
        let b = self.int(reg, divisor as i64);
        self.quotient_or_rest(op, reg, a, b)
    }
    /// Division where the divisor is not 0; anything where it is.
    fn quotient_or_rest(&mut self, op: BinOp, reg: Reg, a: V, b: V) -> V {
        let wants_quotient = matches!(op, BinOp::Div | BinOp::DivToZero);
        if !reg.is_signed() {
            let operator = if wants_quotient { BinaryOperator::Divide } else { BinaryOperator::Modulo };
            return self.op(operator, a, b);
        }
        let quotient = self.op(BinaryOperator::Divide, a, b);
        let Ok(made) = self.integers(reg).of_truncated(Division::new(op, true, false), &a, &b, &quotient);
        made
    }
}
