//! Quotients of 64-bit lanes, which the machine lacks.
//!
//! A quotient is guessed as a float, a little too
//! low; what is left is then less than 2^16 divisors, is divided in the same way, and what is left of that once more by
//! taking the divisor away. Nothing of it wraps around, so the guesses need not be exact, only low enough.

use super::super::instruction_table::Op;
use super::super::interface::Emitted;
use super::kernel::Emit;
use super::value::Parts;
use crate::shared::lane::Lane;
use halide_backend::{Divide, Division};
use halide_core::ops::{BinOp, UnOp};

/// 1 - 2^-50: more than makes up for the roundings of two conversions and a division.
const A_LITTLE_LESS: u64 = 0x3fef_ffff_ffff_fff8;
/// The bits of 2^52 as a double: below it, the lowest bits of a double are an integer.
const TWO_52: u64 = 0x4330_0000_0000_0000;

impl Emit<'_> {
    /// 64-bit lanes by lanes of any value.
    pub(super) fn divide_lanes_64(&mut self, d: Division, lanes: usize, x: &Parts, y: &Parts) -> Emitted<Parts> {
        let result =
            if d.signed { self.divide_signed_64(d, x, y)? } else { self.divide_unsigned_64(d.remainder, x, y)? };
        self.integers(lanes).zero_where_zero(y, &result)
    }
    /// By magnitudes; nothing that makes sense where a divisor is 0.
    fn divide_signed_64(&mut self, d: Division, x: &Parts, y: &Parts) -> Emitted<Parts> {
        let (x_sign, y_sign) = (self.shift_const(true, x, -63)?, self.shift_const(true, y, -63)?);
        let (most, divisor) = (self.signed_as(x, &x_sign)?, self.signed_as(y, &y_sign)?);
        if !d.remainder {
            let mut quotient = self.divide_unsigned_64(false, &most, &divisor)?;
            if d.euclidean {
                // A negative remainder becomes positive, which the quotient makes up for.
                let product = self.zip_op(Op::MulQ, &quotient, &divisor)?;
                let rest = self.zip_op(Op::SubQ, &most, &product)?;
                let negative = self.where_not_zero(&rest, &x_sign)?;
                quotient = self.zip_op(Op::SubQ, &quotient, &negative)?;
            }
            let sign = self.zip_op(Op::Xor, &x_sign, &y_sign)?;
            return self.signed_as(&quotient, &sign);
        }
        let rest = self.divide_unsigned_64(true, &most, &divisor)?;
        if !d.euclidean {
            return self.signed_as(&rest, &x_sign);
        }
        let negative = self.where_not_zero(&rest, &x_sign)?;
        let rest = self.signed_as(&rest, &negative)?;
        let more = self.zip_op(Op::And, &divisor, &negative)?;
        self.zip_op(Op::AddQ, &rest, &more)
    }
    /// Negated where `sign` is all ones, the same where it is 0.
    fn signed_as(&mut self, x: &Parts, sign: &Parts) -> Emitted<Parts> {
        let flipped = self.zip_op(Op::Xor, x, sign)?;
        self.zip_op(Op::SubQ, &flipped, sign)
    }
    /// Lanes of `mask` where `x` is not 0, and 0 elsewhere.
    fn where_not_zero(&mut self, x: &Parts, mask: &Parts) -> Emitted<Parts> {
        let zero = self.splat_like(x, 0)?;
        let any = self.compare_ints(BinOp::Ne, false, x, &zero)?;
        self.choose(&any, mask, &zero)
    }
    /// The quotient or the remainder of unsigned lanes; nothing that makes sense where a divisor is 0.
    fn divide_unsigned_64(&mut self, remainder: bool, x: &Parts, y: &Parts) -> Emitted<Parts> {
        let divisor = self.map_op(Op::U64ToF64, y)?.as_lane(Lane::F64);
        let guess = self.guess(x, &divisor)?;
        let first = match self.body.evex {
            true => self.map_op(Op::F64ToU64, &guess)?.as_lane(Lane::I64),
            false => self.large_double_to_int(&guess)?,
        };
        let product = self.zip_op(Op::MulQ, &first, y)?;
        let rest = self.zip_op(Op::SubQ, x, &product)?;
        let guess = self.guess(&rest, &divisor)?;
        let second = self.small_double_to_int(&guess)?;
        let product = self.zip_op(Op::MulQ, &second, y)?;
        let rest = self.zip_op(Op::SubQ, &rest, &product)?;
        let once_more = self.compare_ints(BinOp::Ge, false, &rest, y)?;
        if remainder {
            let less = self.zip_op(Op::SubQ, &rest, y)?;
            return self.choose(&once_more, &less, &rest);
        }
        let quotient = self.zip_op(Op::AddQ, &first, &second)?;
        let one = self.splat_like(x, 1)?;
        let more = self.zip_op(Op::AddQ, &quotient, &one)?;
        self.choose(&once_more, &more, &quotient)
    }
    /// A quotient as a float, not above what it is.
    fn guess(&mut self, x: &Parts, divisor: &Parts) -> Emitted<Parts> {
        let x = self.map_op(Op::U64ToF64, x)?.as_lane(Lane::F64);
        let quotient = self.zip_op(Op::DivF64, &x, divisor)?;
        let less = self.splat_like(&quotient, A_LITTLE_LESS)?;
        self.zip_op(Op::MulF64, &quotient, &less)
    }
    /// A double of at least 0 and less than 2^64 as an integer: its upper and its lower half one after the other.
    fn large_double_to_int(&mut self, x: &Parts) -> Emitted<Parts> {
        let scale = |power: i32| 2f64.powi(power).to_bits();
        let (down, up) = (self.splat_like(x, scale(-32))?, self.splat_like(x, scale(32))?);
        let upper = self.zip_op(Op::MulF64, x, &down)?;
        let upper = self.round(UnOp::Floor, &upper)?;
        let taken = self.zip_op(Op::MulF64, &upper, &up)?;
        let lower = self.zip_op(Op::SubF64, x, &taken)?;
        let (upper, lower) = (self.small_double_to_int(&upper)?, self.small_double_to_int(&lower)?);
        let upper = self.map_imm(Op::ShlQ, &upper, 32)?;
        self.zip_op(Op::AddQ, &upper, &lower)
    }
    /// A double of at least 0 and less than 2^52 as an integer.
    fn small_double_to_int(&mut self, x: &Parts) -> Emitted<Parts> {
        let whole = self.round(UnOp::Floor, x)?;
        let magic = self.splat_like(x, TWO_52)?;
        let placed = self.zip_op(Op::AddF64, &whole, &magic)?.as_lane(Lane::I64);
        let bits = self.splat_like(&placed, TWO_52)?;
        self.zip_op(Op::Xor, &placed, &bits)
    }
}
