//! Products of 64-bit lanes of which something is known: AVX2 has no instruction for the product of any two, and that
//! of AVX-512 is slow. Indices are such lanes.

use super::super::instruction_table::Op;
use super::super::interface::Emitted;
use super::kernel::Emit;
use super::value::Parts;
use crate::shared::range::int_range;
use halide_backend::Interval;
use halide_core::types::ScalarType;
use halide_ir::{Elem, Expr, build};

const SIGNED: Interval = Interval { low: i32::MIN as i128, high: i32::MAX as i128 };
const UNSIGNED: Interval = Interval { low: 0, high: u32::MAX as i128 };

impl Emit<'_> {
    /// The product of lanes, where less than a multiplication of any two lanes will do.
    pub(super) fn known_product(&mut self, a: &Expr, b: &Expr) -> Emitted<Option<Parts>> {
        let bits = match a.ty().elem {
            Elem::Index => 64,
            Elem::Data(ty) if ty.is_int() && ty != ScalarType::Bool => ty.bits(),
            Elem::Data(_) => return Ok(None),
        };
        for (x, factor) in [(a, b), (b, a)] {
            if let Some(power) = power_of(factor) {
                let x = self.lanes(x)?;
                return Ok(Some(self.shift_const(true, &x, power)?));
            }
        }
        if bits < 64 {
            return Ok(None);
        }
        let (a_range, b_range) = (int_range(a), int_range(b));
        for (limits, op) in [(SIGNED, Op::MulWideD), (UNSIGNED, Op::MulWideUD)] {
            if a_range.within(limits) && b_range.within(limits) {
                let (x, y) = (self.lanes(a)?, self.lanes(b)?);
                return Ok(Some(self.zip_op(op, &x, &y)?));
            }
        }
        let small = match (a_range.within(UNSIGNED), b_range.within(UNSIGNED)) {
            (true, _) => Some((a, b)),
            (_, true) => Some((b, a)),
            _ => None,
        };
        let Some((small, other)) = small.filter(|_| !self.body.evex) else { return Ok(None) };
        let (x, y) = (self.lanes(small)?, self.lanes(other)?);
        let upper = self.map_imm(Op::ShrQ, &y, 32)?;
        let (low, high) = (self.zip_op(Op::MulWideUD, &x, &y)?, self.zip_op(Op::MulWideUD, &x, &upper)?);
        let high = self.map_imm(Op::ShlQ, &high, 32)?;
        Ok(Some(self.zip_op(Op::AddQ, &low, &high)?))
    }
}

/// The exponent of a constant that is a power of two.
fn power_of(e: &Expr) -> Option<i64> {
    let value = build::as_const(e).map(|v| v.as_i128()).or(build::as_int(e).map(i128::from))?;
    (value.count_ones() == 1 && value > 0).then(|| i64::from(value.trailing_zeros()))
}
