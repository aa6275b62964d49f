//! Inputs that nobody gave: random numbers.

use crate::error::Error;
use crate::input_requirements::InputNeed;
use halide_core::buffer::{AnyBuffer, Buffer, BufferError, Region};
use halide_core::shape::dense_strides;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;

/// The largest random integer, where the type has it: coordinates that are data stay in tables of usual sizes.
const MOST: u64 = 65_535;

/// An input as it is needed, of random values: integers from 0 to 65535 or the largest of the type, floats from 0 to 1.
pub(super) fn random(need: &InputNeed, region: &Region, seed: u64) -> Result<AnyBuffer, Error> {
    let mut next = seed;
    let mut number = move || {
        next = next.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (next ^ (next >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) >> 48
    };
    // The usual types of large images are filled without a value of unknown type for each element.
    let dense: Result<AnyBuffer, BufferError> = match need.ty {
        U8 => Buffer::from_fn(region, |_| (number() >> 8) as u8).map(Buffer::into_any),
        U16 => Buffer::from_fn(region, |_| number() as u16).map(Buffer::into_any),
        F32 => Buffer::from_fn(region, |_| number() as f32 / 65536.0).map(Buffer::into_any),
        F64 => Buffer::from_fn(region, |_| number() as f64 / 65536.0).map(Buffer::into_any),
        ty => any(ty, region, &mut number),
    };
    let dense = dense?;
    // Strides suit the region that is needed, which may be smaller.
    if dense_strides(need.region.spans(), &|_| None, &|_| 1) == need.strides {
        return Ok(dense);
    }
    // A rule of the algorithm asks for other strides.
    let mut ruled = AnyBuffer::with_strides(need.ty, region, &need.strides)?;
    ruled.view_mut()?.copy_from(&dense)?;
    Ok(ruled)
}

fn any(ty: ScalarType, region: &Region, number: &mut impl FnMut() -> u64) -> Result<AnyBuffer, BufferError> {
    let mut buffer = AnyBuffer::with_region(ty, region)?;
    let most = Scalar::highest(ty).as_f64().min(MOST as f64) as u64;
    let mut view = buffer.view_mut()?;
    for at in region.coords() {
        let value = match ty {
            Bool => Scalar::int(ty, i128::from(number() & 1)),
            ty if ty.is_float() => Scalar::float(ty, number() as f64 / 65536.0),
            ty => Scalar::int(ty, i128::from((number() * (most + 1)) >> 16)),
        };
        view.set(&at, value)?;
    }
    drop(view);
    Ok(buffer)
}
