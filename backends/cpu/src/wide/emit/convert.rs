//! Conversions between types.

use super::super::instruction_table::Op;
use super::super::interface::{Emitted, refuse};
use super::index::is_general;
use super::kernel::Emit;
use super::narrow::Cut;
use super::value::{Order, Parts, Val};
use crate::shared::lane::Lane;
use crate::shared::lane::data;
use crate::shared::range::{float_range, int_range};
use halide_backend::Interval;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;
use halide_ir::{Elem, Expr};

impl Emit<'_> {
    /// `ExprKind::Cast` to `elem`.
    pub(super) fn cast(&mut self, a: &Expr, elem: Elem) -> Emitted<Val> {
        let (from, to, lanes) = (data(a.ty().elem), data(elem), a.lanes() as usize);
        if a.ty().elem == elem {
            return self.eval(a);
        }
        if from == Bool {
            return self.bool_to(a, elem, lanes);
        }
        let half = |ty: ScalarType| ty.is_float() && ty.bits() == 16;
        let picked = match from.is_unsigned_int() && !half(to) && to != Bool {
            true => self.widened_picks(a, if to.is_float() { 32 } else { to.bits() })?,
            false => None,
        };
        let (parts, from) = match picked {
            // Unsigned lanes are positive ones where there are more bits.
            Some(parts) => (parts, if to.is_float() { I32 } else { to }),
            None if half(from) => (self.floats(from, a)?, F32),
            None => (self.lanes(a)?, from),
        };
        if half(to) {
            let wide = match from {
                F32 => parts,
                // Twice rounded is not what once rounded is.
                _ if from.is_float() || from.bits() > 16 => self.floats_for_halves(&parts, lanes, from)?,
                _ => self.ints_to_floats(&parts, lanes, from, F32)?,
            };
            return Ok(Val::Lanes(self.f32_to_half(to, lanes, &wide)?));
        }
        let made = match (from.is_float(), to.is_float()) {
            _ if to == Bool => {
                let zero = self.splat_like(&parts, 0)?;
                let mask = match from.is_float() {
                    true => self.compare_floats(Order::NotEqual, &parts, &zero)?,
                    false => self.compare_ints(BinOp::Ne, false, &parts, &zero)?,
                };
                return self.mask_value(mask, a.lanes());
            }
            (false, false) if int_range(a).within(Interval::of_type(to)) && to.bits() < from.bits() => {
                self.fit(&parts, lanes, to)?.as_lane(Lane::of_data(to))
            }
            (false, false) => self.resize(&parts, lanes, to.bits(), from.is_signed_int())?.as_lane(Lane::of_data(to)),
            (false, true) => self.ints_to_floats(&parts, lanes, from, to)?,
            (true, false) => self.floats_to_ints(&parts, lanes, from, to, float_range(a))?,
            (true, true) => self.floats_to_floats(&parts, lanes, from, to)?,
        };
        if lanes == 1 && elem == Elem::Index {
            return Ok(Val::Scalar(self.general_of_lane(made.regs[0])?));
        }
        Ok(Val::Lanes(made))
    }
    /// `ExprKind::SaturatingCast` to `to`.
    pub(super) fn saturating_cast(&mut self, a: &Expr, to: ScalarType) -> Emitted<Val> {
        let from = data(a.ty().elem);
        if to == Bool && from != Bool {
            return refuse("a saturating conversion to truth");
        }
        if from.is_float() || to.is_float() || from == Bool || int_range(a).within(Interval::of_type(to)) {
            return self.cast(a, Elem::Data(to));
        }
        let parts = self.lanes(a)?;
        Ok(Val::Lanes(self.saturate(&parts, a.lanes() as usize, from, to)?))
    }
    fn bool_to(&mut self, a: &Expr, elem: Elem, lanes: usize) -> Emitted<Val> {
        let to = data(elem);
        let one = if to.is_float() { Scalar::float(to, 1.0) } else { Scalar::int(to, 1) };
        if !is_general(a) {
            let Val::Mask(mask) = self.eval(a)? else { return refuse("truth in data lanes") };
            return Ok(Val::Lanes(self.mask_to_lanes(&mask, Lane::of_data(to), lanes, one.bits())?));
        }
        let truth = self.scalar(a)?;
        if elem == Elem::Index {
            return Ok(Val::Scalar(truth));
        }
        let mask = self.mask_of_truth(truth, Lane::of_data(to), 1)?;
        Ok(Val::Lanes(self.mask_to_lanes(&mask, Lane::of_data(to), 1, one.bits())?))
    }

    // Floats.

    /// Integers as floats, rounded once.
    pub(super) fn ints_to_floats(
        &mut self,
        x: &Parts,
        lanes: usize,
        from: ScalarType,
        to: ScalarType,
    ) -> Emitted<Parts> {
        let signed = from.is_signed_int();
        let lane = Lane::of_data(to);
        if from.bits() == 64 {
            if to == F32 && self.lacks(Op::I64ToF32, x.view) {
                let odd = self.rounded_to_odd(x, signed)?;
                let wide = self.map_op(if signed { Op::I64ToF64 } else { Op::U64ToF64 }, &odd)?;
                return self.narrow(Op::F64ToF32, &wide.as_lane(Lane::F64), lanes, lane);
            }
            return match (to == F32, signed) {
                (true, true) => self.narrow(Op::I64ToF32, x, lanes, lane),
                (true, false) => self.narrow(Op::U64ToF32, x, lanes, lane),
                (false, true) => Ok(self.map_op(Op::I64ToF64, x)?.as_lane(lane)),
                (false, false) => Ok(self.map_op(Op::U64ToF64, x)?.as_lane(lane)),
            };
        }
        let wide = self.resize(x, lanes, 32, signed)?;
        // Smaller unsigned integers are positive ones now.
        let signed = signed || from.bits() < 32;
        match (to == F32, signed) {
            (true, true) => Ok(self.map_op(Op::I32ToF32, &wide)?.as_lane(lane)),
            (true, false) => Ok(self.map_op(Op::U32ToF32, &wide)?.as_lane(lane)),
            (false, true) => self.widen(Op::I32ToF64, &wide, lanes, lane),
            (false, false) => self.u32_to_doubles(&wide, lanes),
        }
    }
    fn floats_to_floats(&mut self, x: &Parts, lanes: usize, from: ScalarType, to: ScalarType) -> Emitted<Parts> {
        match (from, to) {
            (F32, F64) => self.widen(Op::F32ToF64, x, lanes, Lane::F64),
            (F64, F32) => self.narrow(Op::F64ToF32, x, lanes, Lane::F32),
            _ => Ok(x.clone()),
        }
    }
    /// Floats as integers: truncated, saturated, NaN gives 0. `range` is what is known of values that are not NaN.
    fn floats_to_ints(
        &mut self,
        x: &Parts,
        lanes: usize,
        from: ScalarType,
        to: ScalarType,
        range: Option<(f64, f64)>,
    ) -> Emitted<Parts> {
        if from == F64 || to.bits() == 64 {
            let x = if from == F32 { self.floats_to_floats(x, lanes, F32, F64)? } else { x.clone() };
            return self.doubles_to_ints(&x, lanes, to);
        }
        let inside = |low: f64, high: f64| range.is_some_and(|(lo, hi)| low <= lo && hi <= high);
        if to == U32 {
            // The machine gives all ones for what is too large.
            let positive = self.positive(x, Op::MaxF32)?;
            return Ok(self.map_op(Op::F32ToU32, &positive)?.as_lane(Lane::I32));
        }
        let low = if to.is_unsigned_int() { -0.5 } else { to.int_min().unwrap_or(0) as f64 };
        // The largest float below 2^31.
        let high = if to == I32 { 2147483520.0 } else { to.int_max().unwrap_or(0) as f64 };
        if inside(low, high) {
            let wide = self.map_op(Op::F32ToI32, x)?.as_lane(Lane::I32);
            return self.fit(&wide, lanes, to);
        }
        if to.is_unsigned_int() {
            let most = self.splat_like(x, u64::from((to.int_max().unwrap_or(0) as f32).to_bits()))?;
            let positive = self.positive(x, Op::MaxF32)?;
            let clamped = self.zip_op(Op::MinF32, &positive, &most)?;
            let wide = self.map_op(Op::F32ToI32, &clamped)?.as_lane(Lane::I32);
            return self.fit(&wide, lanes, to);
        }
        let wide = self.saturating_truncation(x, Op::F32ToI32)?;
        if to.bits() == 32 {
            return Ok(wide);
        }
        self.cut_lanes(&wide, lanes, to.bits(), Cut::Signed)
    }
    fn doubles_to_ints(&mut self, x: &Parts, lanes: usize, to: ScalarType) -> Emitted<Parts> {
        let signed = to.is_signed_int();
        if to.bits() < 64 && self.lacks(Op::F64ToI64, x.view) {
            return self.doubles_to_small_ints(x, lanes, to);
        }
        let wide = if signed {
            self.saturating_truncation(x, Op::F64ToI64)?
        } else {
            let positive = self.positive(x, Op::MaxF64)?;
            self.map_op(Op::F64ToU64, &positive)?.as_lane(Lane::I64)
        };
        if to.bits() == 64 {
            return Ok(wide);
        }
        let cut = if signed { Cut::Signed } else { Cut::Unsigned };
        self.cut_lanes(&wide, lanes, to.bits(), cut)
    }
    /// Negative numbers and NaN as 0: the machine's maximum is its second operand where one is a NaN.
    pub(super) fn positive(&mut self, x: &Parts, row: Op) -> Emitted<Parts> {
        let zero = self.splat_like(x, 0)?;
        self.zip_op(row, x, &zero)
    }
    /// To signed integers of the same width. The machine gives the most negative one for everything out of range and
    /// for NaN.
    fn saturating_truncation(&mut self, x: &Parts, row: Op) -> Emitted<Parts> {
        let lane = x.lane.as_int();
        let top = lane.bits() - 1;
        let limit = if lane == Lane::I32 { u64::from(2f32.powi(31).to_bits()) } else { 2f64.powi(63).to_bits() };
        let limit = self.splat_like(x, limit)?;
        let raw = self.map_op(row, x)?.as_lane(lane);
        let over = self.compare_floats(Order::LessOrEqual, &limit, x)?;
        let most = self.splat_like(&raw, (1u64 << top) - 1)?;
        let saturated = self.choose(&over, &most, &raw)?;
        let nan = self.compare_floats(Order::Unordered, x, x)?;
        let zero = self.splat_like(&raw, 0)?;
        self.choose(&nan, &zero, &saturated)
    }
}
