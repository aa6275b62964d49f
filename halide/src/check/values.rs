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
    // Of no elements every step is as good, and none is prime to 0.
    let count = (coords.clone().count() as i128).max(1);
    let step = (7..).step_by(2).find(|step| gcd(*step, count) == 1).unwrap_or(1);
    for (number, at) in coords.enumerate() {
        let value = match promise.grows {
            _ if promise.distinct => low + number as i128 * step % count,
            Some(dim) => i128::from(at[dim]).clamp(low, high),
            None => low + (i128::from(hash(&at, seed)) % (high - low + 1)),
        };
        view.set(&at, scalar(need.ty, value, promise.range.is_some()))?;
    }
    drop(view);
    Ok(buffer)
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
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
    // The upper 16 of 63 bits.
    let number = f64::from((hash(&[], seed) >> 47) as u16) / 65_536.0;
    if param.ty.is_float() {
        let (low, high) = (param.min.map_or(0.0, Scalar::as_f64), param.max.map_or(1.0, Scalar::as_f64));
        return Scalar::float(param.ty, low + (high - low).max(0.0) * number);
    }
    // A size is at least 1, where the range allows that; a switch is either.
    let highest = Scalar::highest(param.ty).as_i128();
    let most = param.max.map_or(highest, Scalar::as_i128);
    let usual = if param.ty == ScalarType::Bool { 0 } else { 1 };
    let least = param.min.map_or(usual.min(most), Scalar::as_i128);
    let most = if param.max.is_some() { most } else { most.min(least.saturating_add(MOST_PARAM)) };
    let most = most.min(least.saturating_add(MOST)).max(least);
    Scalar::int(param.ty, least + ((most - least) as f64 * number).round() as i128)
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

#[cfg(test)]
mod tests {
    use super::*;
    use halide_core::pipeline::Pipeline;
    use halide_core::types::ScalarType::I32;
    use halide_core::{Func, IntoExpr, Param, Var};

    /// Values that are drawn for the one parameter of a pipeline.
    fn drawn_values(value: impl IntoExpr) -> Vec<i128> {
        let x = Var::new("x");
        let mut f = Func::new("f");
        f[x] = halide_core::expr::cast::<i32>(value) + x;
        let pipeline = Pipeline::new([&f]).unwrap_or_else(|errors| panic!("{errors}"));
        let param = pipeline.params.iter().next().unwrap_or_else(|| panic!("it reads a parameter"));
        (0..200).map(|seed| drawn(param, seed).as_i128()).collect()
    }

    #[test]
    fn parameters_are_drawn_from_all_of_their_ranges() {
        let ends = |values: Vec<i128>| (values.iter().min().copied(), values.iter().max().copied());
        assert_eq!(ends(drawn_values(Param::<i32>::new("n").with_range(-9, -3))), (Some(-9), Some(-3)));
        assert_eq!(ends(drawn_values(Param::<i32>::new("n"))), (Some(1), Some(9)));
        assert_eq!(ends(drawn_values(Param::<bool>::new("b"))), (Some(0), Some(1)));
        assert_eq!(drawn_values(Param::<i32>::new("n").with_default(7)), vec![7; 200]);
    }

    #[test]
    fn elements_keep_what_is_promised_of_them() {
        let promised = ValuePromise { range: Some((-2, 5)), ..ValuePromise::default() };
        assert_eq!(range(I32, promised), (-2, 5));
        assert_eq!(range(ScalarType::Bool, ValuePromise::default()), (0, 1));
        assert_eq!(range(ScalarType::I8, ValuePromise::default()), (-128, 127));
    }

    #[test]
    fn distinct_elements_of_any_region() {
        let promise = ValuePromise { distinct: true, ..ValuePromise::default() };
        for (needed, given) in [([0, 3], [0, 3]), ([2, 1], [9, 5]), ([7, 9], [7, 9])] {
            let (region, given) = (Region::of_extents(needed), Region::of_extents(given));
            let strides = dense_strides(region.spans(), &|_| None, &|_| 1);
            let need = InputNeed { name: "in".into(), ty: I32, roomy: region.clone(), region, strides, alignment: 1 };
            let buffer = input(&need, &given, promise, 5).unwrap();
            let mut all = buffer.typed::<i32>().unwrap().to_vec();
            all.sort_unstable();
            assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
        }
    }
}
