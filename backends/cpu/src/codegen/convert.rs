//! Conversions between types.

use super::func::Func;
use super::value::{Parts, Val};
use crate::shared::lane::{Lane, data};
use crate::shared::range::{float_range, int_range};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use halide_backend::{Arithmetic, Interval};
use halide_core::types::ScalarType::{self, *};
use halide_ir::{Elem, Expr};

impl Func<'_> {
    /// `ExprKind::Cast` to `elem`.
    pub(super) fn cast(&mut self, a: &Expr, elem: Elem) -> Val {
        let (from, to, lanes) = (data(a.ty().elem), data(elem), a.lanes());
        if from == to {
            return self.eval(a);
        }
        if from == Bool {
            return Val::Data(self.bool_to(a, to));
        }
        if to == Bool {
            let parts = self.data(a);
            return self.as_truth(from, &parts, lanes);
        }
        if !from.is_float() && !to.is_float() {
            let fits = int_range(a).within(Interval::of_type(to));
            let (source, target) = (Lane::of_data(from).bits(), Lane::of_data(to).bits());
            let signed = if target > source { from.is_signed_int() } else { to.is_signed_int() };
            if let Some(wide) = self.widening_load(a, from, to) {
                return Val::Data(wide);
            }
            let parts = self.data(a);
            return Val::Data(self.resize_ints(&parts, lanes, source, target, signed, fits));
        }
        if !from.is_float()
            && from.bits() <= 16
            && matches!(to, F32 | F64)
            && let Some(wide) = self.load_widened_once(a, from)
        {
            let wider = if from.is_signed_int() { ScalarType::signed } else { ScalarType::unsigned };
            return Val::Data(self.ints_to(&wide, lanes, wider(2 * from.bits()), to));
        }
        let range = float_range(a);
        let parts = self.data(a);
        Val::Data(match (from.is_float(), to.is_float()) {
            (true, true) => self.floats_to(&parts, lanes, from, to),
            (true, false) => self.floats_to_ints(&parts, lanes, from, to, range),
            _ => self.ints_to(&parts, lanes, from, to),
        })
    }
    /// `ExprKind::SaturatingCast` to `to`.
    pub(super) fn saturating_cast(&mut self, a: &Expr, to: ScalarType) -> Val {
        let (from, lanes) = (data(a.ty().elem), a.lanes());
        if to == Bool && from != Bool {
            // From 1 on, after truncation.
            let parts = self.data(a);
            let lane = Lane::of_data(from);
            let (parts, lane) = if from.bits() == 16 && from.is_float() {
                (self.half_to_f32(from, lanes, &parts), Lane::F32)
            } else {
                (parts, lane)
            };
            let truth = self.map(&parts, |f, v| {
                let ty = f.ty(v);
                if from.is_float() {
                    let one = f.float(ty, 1.0);
                    return f.fcmp(FloatCC::GreaterThanOrEqual, v, one);
                }
                let cc = if from.is_signed_int() { IntCC::SignedGreaterThan } else { IntCC::UnsignedGreaterThan };
                f.icmp_const(cc, v, 0)
            });
            return self.truth_val(lane, truth, lanes);
        }
        if from.is_float() || to.is_float() || from == Bool || int_range(a).within(Interval::of_type(to)) {
            return self.cast(a, Elem::Data(to));
        }
        let parts = self.data(a);
        Val::Data(self.saturate_ints(&parts, lanes, from, to))
    }
    fn as_truth(&mut self, from: ScalarType, parts: &Parts, lanes: u16) -> Val {
        let lane = Lane::of_data(from);
        if !from.is_float() {
            return self.nonzero(lane, parts, lanes);
        }
        let (parts, lane) =
            if from.bits() == 16 { (self.half_to_f32(from, lanes, parts), Lane::F32) } else { (parts.clone(), lane) };
        let truth = self.map(&parts, |f, v| {
            let ty = f.ty(v);
            let zero = f.float(ty, 0.0);
            f.fcmp(FloatCC::NotEqual, v, zero)
        });
        self.truth_val(lane, truth, lanes)
    }

    // Integers.

    /// Integer lanes of another width: sign or zero extended, or cut. `fits` promises that cutting changes no value of
    /// the target's signedness, which `signed` then says.
    pub(super) fn resize_ints(&mut self, x: &Parts, lanes: u16, from: u32, to: u32, signed: bool, fits: bool) -> Parts {
        if lanes == 1 {
            let ty = Lane::int(to).scalar();
            return Func::single(match from.cmp(&to) {
                std::cmp::Ordering::Equal => x[0],
                std::cmp::Ordering::Greater => self.ins().ireduce(ty, x[0]),
                std::cmp::Ordering::Less if signed => self.ins().sextend(ty, x[0]),
                std::cmp::Ordering::Less => self.ins().uextend(ty, x[0]),
            });
        }
        let (mut lane, mut parts) = (Lane::int(from), x.clone());
        while lane.bits() < to {
            lane = Lane::int(2 * lane.bits());
            parts = (0..lane.parts(lanes)).map(|i| self.widen_half(parts[i / 2], i % 2 == 1, signed)).collect();
        }
        if lane == Lane::I64 && to < 64 {
            parts = self.pairs(&parts, Lane::I32.parts(lanes), |f, a, b| f.even_halves(a, b));
            lane = Lane::I32;
        }
        if lane.bits() > to && !fits {
            // Packing saturates; what is cut first it leaves alone.
            let keep = self.constant(lane.vector(), (1u64 << to) - 1);
            parts = self.map(&parts, |f, v| f.ins().band(v, keep));
        }
        while lane.bits() > to {
            lane = Lane::int(lane.bits() / 2);
            let signed = signed && fits;
            parts = self.pairs(&parts, lane.parts(lanes), |f, a, b| match signed {
                true => f.ins().snarrow(a, b),
                false => f.ins().unarrow(a, b),
            });
        }
        parts
    }
    fn widen_half(&mut self, v: Value, high: bool, signed: bool) -> Value {
        match (high, signed) {
            (false, true) => self.ins().swiden_low(v),
            (true, true) => self.ins().swiden_high(v),
            (false, false) => self.ins().uwiden_low(v),
            (true, false) => self.ins().uwiden_high(v),
        }
    }
    /// `count` parts, each made of two neighbours (of the last one twice where there is no second).
    fn pairs(&mut self, x: &Parts, count: usize, mut f: impl FnMut(&mut Self, Value, Value) -> Value) -> Parts {
        (0..count).map(|i| f(self, x[2 * i], *x.get(2 * i + 1).unwrap_or(&x[2 * i]))).collect()
    }
    /// A dense load that is extended: the load itself does a step, unless its lanes are there already.
    fn widening_load(&mut self, a: &Expr, from: ScalarType, to: ScalarType) -> Option<Parts> {
        if to.bits() <= from.bits() {
            return None;
        }
        let parts = self.load_widened_once(a, from)?;
        Some(self.resize_ints(&parts, a.lanes(), 2 * from.bits(), to.bits(), from.is_signed_int(), true))
    }
    fn load_widened_once(&mut self, a: &Expr, from: ScalarType) -> Option<Parts> {
        if self.memo.get(a).is_some() {
            return None;
        }
        self.load_widened(a, from.is_signed_int())
    }
    /// Integers clamped to the range of `to`.
    fn saturate_ints(&mut self, x: &Parts, lanes: u16, from: ScalarType, to: ScalarType) -> Parts {
        let (source, target) = (from.bits(), to.bits());
        let packs = lanes > 1 && from.is_signed_int() && source <= 32 && target < source;
        if packs {
            let mut parts = x.clone();
            let mut lane = Lane::int(source);
            while lane.bits() > target {
                lane = Lane::int(lane.bits() / 2);
                // The last step decides the sign; steps before it only keep what is out of range out of range.
                let signed = to.is_signed_int() || lane.bits() > target;
                parts = self.pairs(&parts, lane.parts(lanes), |f, a, b| match signed {
                    true => f.ins().snarrow(a, b),
                    false => f.ins().unarrow(a, b),
                });
            }
            return parts;
        }
        let (range, to_range) = (Interval::of_type(from), Interval::of_type(to));
        let clamped = self.each_part(&[x], |f, part| {
            f.integers(Lane::of_data(from), lanes).clamp_to(from.is_signed_int(), &part[0], range, to_range)
        });
        let signed = if target > source { from.is_signed_int() } else { to.is_signed_int() };
        self.resize_ints(&clamped, lanes, source, target, signed, true)
    }

    // Integers to floats.

    /// Integers (not `Bool`) as another integer or float type; to a float rounded once.
    pub(super) fn ints_to(&mut self, x: &Parts, lanes: u16, from: ScalarType, to: ScalarType) -> Parts {
        let (signed, bits) = (from.is_signed_int(), from.bits());
        match to {
            F32 if bits <= 32 && lanes > 1 => {
                let wide = self.resize_ints(x, lanes, bits, 32, signed, true);
                let exact = signed || bits < 32;
                self.map(&wide, |f, v| match exact {
                    true => f.ins().fcvt_from_sint(types::F32X4, v),
                    false => f.ins().fcvt_from_uint(types::F32X4, v),
                })
            }
            F64 if bits <= 32 && lanes > 1 => {
                let wide = self.resize_ints(x, lanes, bits, 32, signed, true);
                let exact = signed || bits < 32;
                (0..Lane::F64.parts(lanes))
                    .map(|i| {
                        let half = self.low_half(wide[i / 2], i % 2 == 1);
                        if exact {
                            let wide = self.ins().swiden_low(half);
                            self.ins().fcvt_from_sint(types::F64X2, wide)
                        } else {
                            let wide = self.ins().uwiden_low(half);
                            self.ins().fcvt_from_uint(types::F64X2, wide)
                        }
                    })
                    .collect()
            }
            F32 | F64 => {
                let (source, target) = (Lane::of_data(from), Lane::of_data(to));
                self.per_lane(lanes, &[(source, x)], target, |f, v| f.int_to_float(v[0], signed, target))
            }
            F16 | BF16 if bits <= 16 => {
                let wide = self.ints_to(x, lanes, from, F32);
                self.f32_to_half(to, lanes, &wide)
            }
            F16 | BF16 => {
                self.per_lane(lanes, &[(Lane::of_data(from), x)], Lane::I16, |f, v| f.half_from_int(to, v[0], signed))
            }
            _ => self.resize_ints(x, lanes, bits, to.bits(), signed, false),
        }
    }
    fn int_to_float(&mut self, v: Value, signed: bool, target: Lane) -> Value {
        let narrow = self.ty(v).bits() < 64;
        let wide = match (narrow, signed) {
            (false, _) => v,
            (true, true) => self.ins().sextend(types::I64, v),
            (true, false) => self.ins().uextend(types::I64, v),
        };
        match narrow || signed {
            true => self.ins().fcvt_from_sint(target.scalar(), wide),
            false => self.ins().fcvt_from_uint(target.scalar(), wide),
        }
    }
    /// The low or high half of a part, in the low half.
    fn low_half(&mut self, v: Value, high: bool) -> Value {
        if !high {
            return v;
        }
        let ty = self.ty(v);
        let moved = self.shuffle_bytes(v, v, (8..16).chain(8..16).collect());
        self.bitcast(ty, moved)
    }

    // Floats.

    /// Floats as another float type, rounded once.
    fn floats_to(&mut self, x: &Parts, lanes: u16, from: ScalarType, to: ScalarType) -> Parts {
        match (from, to) {
            (F16 | BF16, _) => {
                let wide = self.half_to_f32(from, lanes, x);
                if to == F32 { wide } else { self.floats_to(&wide, lanes, F32, to) }
            }
            (F32, F16 | BF16) => self.f32_to_half(to, lanes, x),
            (F64, F16 | BF16) => self.per_lane(lanes, &[(Lane::F64, x)], Lane::I16, |f, v| f.half_from_f64(to, v[0])),
            (F32, F64) if lanes == 1 => Func::single(self.ins().fpromote(types::F64, x[0])),
            (F64, F32) if lanes == 1 => Func::single(self.ins().fdemote(types::F32, x[0])),
            (F32, F64) => (0..Lane::F64.parts(lanes))
                .map(|i| {
                    let half = self.low_half(x[i / 2], i % 2 == 1);
                    self.ins().fvpromote_low(half)
                })
                .collect(),
            (F64, F32) => self.pairs(x, Lane::F32.parts(lanes), |f, a, b| {
                let (a, b) = (f.ins().fvdemote(a), f.ins().fvdemote(b));
                let made = f.shuffle_bytes(a, b, (0..8).chain(16..24).collect());
                f.bitcast(types::F32X4, made)
            }),
            _ => x.clone(),
        }
    }

    /// Floats as integers: truncated, saturated, NaN gives 0. `range` is what is known of values that are not NaN.
    pub(super) fn floats_to_ints(
        &mut self,
        x: &Parts,
        lanes: u16,
        from: ScalarType,
        to: ScalarType,
        range: Option<(f64, f64)>,
    ) -> Parts {
        if from.bits() == 16 {
            let wide = self.half_to_f32(from, lanes, x);
            return self.floats_to_ints(&wide, lanes, F32, to, range);
        }
        let lane = Lane::of_data(to);
        if lanes == 1 || from == F64 || to.bits() == 64 {
            return self.per_lane(lanes, &[(Lane::of_data(from), x)], lane, |f, v| f.float_to_int(v[0], to));
        }
        if to == U32 && !range.is_some_and(|(lo, hi)| lo > -1.0 && hi < 2147483648.0) {
            return self.map(x, |f, v| f.ins().fcvt_to_uint_sat(types::I32X4, v));
        }
        let inside = |low: f64, high: f64| range.is_some_and(|(lo, hi)| low <= lo && hi <= high);
        let small = to.bits() < 32;
        let wide = self.map(x, |f, v| {
            if !f.x64 {
                f.ins().fcvt_to_sint_sat(types::I32X4, v)
            } else if inside(-2147483648.0, 2147483520.0) {
                f.ins().x86_cvtt2dq(types::I32X4, v)
            } else if small && to.is_unsigned_int() {
                f.truncate_clamped(v, to)
            } else {
                f.truncate_saturating(v)
            }
        });
        if !small {
            return wide;
        }
        if to.int_max().is_some_and(|max| inside(-0.5, max as f64)) {
            return self.resize_ints(&wide, lanes, 32, to.bits(), to.is_signed_int(), true);
        }
        self.saturate_ints(&wide, lanes, I32, to)
    }
    /// To i32 after clamping to what a small unsigned type holds; a NaN becomes the lower end, 0.
    fn truncate_clamped(&mut self, v: Value, to: ScalarType) -> Value {
        let zero = self.float(types::F32X4, 0.0);
        let most = self.float(types::F32X4, to.int_max().unwrap_or(0) as f64);
        let above = self.fcmp(FloatCC::LessThan, zero, v);
        let v = self.choose(above, v, zero);
        let below = self.fcmp(FloatCC::LessThan, v, most);
        let v = self.choose(below, v, most);
        self.ins().x86_cvtt2dq(types::I32X4, v)
    }
    /// To i32, saturating. The machine gives the most negative integer for everything out of range and for NaN.
    fn truncate_saturating(&mut self, v: Value) -> Value {
        let raw = self.ins().x86_cvtt2dq(types::I32X4, v);
        let limit = self.float(types::F32X4, 2147483648.0);
        let over = self.fcmp(FloatCC::GreaterThanOrEqual, v, limit);
        let saturated = self.ins().bxor(raw, over);
        let ordered = self.fcmp(FloatCC::Ordered, v, v);
        self.ins().band(saturated, ordered)
    }
    fn float_to_int(&mut self, v: Value, to: ScalarType) -> Value {
        let signed = to.is_signed_int();
        let wide = if to.bits() == 64 { types::I64 } else { types::I32 };
        let v = match signed {
            true => self.ins().fcvt_to_sint_sat(wide, v),
            false => self.ins().fcvt_to_uint_sat(wide, v),
        };
        if to.bits() >= 32 {
            return v;
        }
        let most = self.constant(wide, to.int_max().unwrap_or(0) as u64);
        let v = match signed {
            true => {
                let least = self.constant(wide, to.int_min().unwrap_or(0) as u64);
                let v = self.ins().smax(v, least);
                self.ins().smin(v, most)
            }
            false => self.ins().umin(v, most),
        };
        self.ins().ireduce(Lane::of_data(to).scalar(), v)
    }
}
