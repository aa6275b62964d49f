//! Values of inputs and parameters that nobody gave: functions of coordinates, so that inputs of any size agree.

use super::outcome::Cause;
use crate::error::Error;
use crate::input_requirements::InputNeed;
use halide_core::buffer::{AnyBuffer, BufferError, Region};
use halide_core::pipeline::ParamDef;
use halide_core::promise::ValuePromise;
use halide_core::shape::dense_strides;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;

/// The largest random integer of wide types: coordinates that are data stay in tables of usual sizes.
const MOST: i128 = 65_535;

/// The largest parameter that is drawn where it has no range: often a size.
const MOST_PARAM: i128 = 8;

/// An input over `region` with random values that keep the algorithm's promise.
pub(super) fn input(
    need: &InputNeed,
    region: &Region,
    promise: ValuePromise,
    seed: u64,
) -> Result<AnyBuffer, BufferError> {
    // Strides suit the region that is needed, which may be smaller.
    let dense = dense_strides(need.region.spans(), &|_| None, &|_| 1) == need.strides;
    let mut buffer = match dense {
        true => AnyBuffer::with_region(need.ty, region)?,
        false => AnyBuffer::with_strides(need.ty, &need.region, &need.strides)?,
    };
    let (low, high) = range(need.ty, promise);
    let coords = buffer.region().coords();
    let mut view = buffer.view_mut()?;
    for at in coords {
        let value = match promise.grows {
            Some(dim) => i128::from(at[dim]).clamp(low, high),
            None => low + (i128::from(hash(&at, seed)) % (high - low + 1)),
        };
        view.set(&at, scalar(need.ty, value, promise.range.is_some()))?;
    }
    drop(view);
    Ok(buffer)
}

/// The range of the integers that become elements.
fn range(ty: ScalarType, promise: ValuePromise) -> (i128, i128) {
    if ty.is_float() && promise.range.is_none() {
        return (0, MOST);
    }
    let (least, most) = match ty.is_float() {
        true => (i128::MIN, i128::MAX),
        false => (Scalar::lowest(ty).as_i128(), Scalar::highest(ty).as_i128()),
    };
    let said = promise.range.map_or((least.max(-MOST), most.min(MOST)), |(a, b)| (i128::from(a), i128::from(b)));
    let low = if promise.range.is_none() && ty.bits() > 16 { 0 } else { said.0.max(least) };
    (low, said.1.min(most).max(low))
}

/// Floats without a promise are from 0 to 1.
fn scalar(ty: ScalarType, value: i128, promised: bool) -> Scalar {
    match ty.is_float() {
        true if promised => Scalar::float(ty, value as f64),
        true => Scalar::float(ty, value as f64 / MOST as f64),
        false => Scalar::int(ty, value),
    }
}

/// A value for a parameter: its default, or one in its range.
pub(super) fn drawn(param: &ParamDef, seed: u64) -> Scalar {
    if let Some(default) = param.default {
        return default;
    }
    let number = f64::from((hash(&[], seed) >> 48) as u16) / 65_536.0;
    if param.ty.is_float() {
        let (low, high) = (param.min.map_or(0.0, Scalar::as_f64), param.max.map_or(1.0, Scalar::as_f64));
        return Scalar::float(param.ty, low + (high - low).max(0.0) * number);
    }
    let least = param.min.map_or(1.min(Scalar::highest(param.ty).as_i128()), Scalar::as_i128);
    let most = param.max.map_or(least.saturating_add(MOST_PARAM), Scalar::as_i128);
    let most = most.min(Scalar::highest(param.ty).as_i128()).min(least.saturating_add(MOST));
    Scalar::int(param.ty, least + ((most - least).max(0) as f64 * number).round() as i128)
}

/// Mixes coordinates and a seed to 63 bits (the finalizer of SplitMix64; Steele, Lea and Flood, 2014).
fn hash(at: &[i32], seed: u64) -> u64 {
    let mix = |z: u64| {
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let step = |state: u64, n: u64| mix(state.wrapping_add(0x9E37_79B9_7F4A_7C15) ^ n);
    at.iter().fold(step(seed, 0), |state, &n| step(state, u64::from(n as u32))) >> 1
}

/// Converts an error of an input.
impl From<BufferError> for Cause {
    fn from(error: BufferError) -> Cause {
        Cause::Error(Error::from(error))
    }
}
