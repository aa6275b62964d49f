//! Random images that anyone can make again: the bench's peers in other languages do.
//!
//! Value number `i` (x fastest, then y, then channel) is made of the 16-bit slice `i % 4`, lowest first, of output
//! number `i / 4` of the splitmix64 generator after the seed: a slice `s` of an image whose brightest value is `w`
//! becomes `s (w + 1) / 65536`, rounded down, where values are integers, and `s w / 65536` where they are floats.

use halide::buffer::{BufferError, Region, Span};
use halide::prelude::*;
use halide::value::Element;

/// Rows start at multiples of this many bytes, a cache line, which suits every engine.
const LINE: i64 = 64;

/// A buffer over `region` of values from 0 to `white` from the stream of `seed`.
///
/// # Errors
/// Too large a region.
pub fn random(seed: u64, ty: ScalarType, region: &Region, white: u32) -> Result<AnyBuffer, BufferError> {
    let scale = u64::from(white) + 1;
    let integer = |s: u16| (u64::from(s) * scale) >> 16;
    let float = |s: u16| f64::from(s) / 65536.0 * f64::from(white);
    match ty {
        U8 => filled(seed, region, |s| integer(s) as u8),
        U16 => filled(seed, region, |s| integer(s) as u16),
        I16 => filled(seed, region, |s| integer(s) as i16),
        F32 => filled(seed, region, |s| float(s) as f32),
        F64 => filled(seed, region, float),
        ty if ty.is_float() => of_type(ty, region, &filled(seed, region, float)?),
        ty => {
            let values = Scalar::highest(ty).as_f64() + 1.0;
            of_type(ty, region, &filled(seed, region, |s| integer(s) as f64 % values)?)
        }
    }
}

/// A buffer of type `ty` over `region` with the numbers of another one.
///
/// # Errors
/// Too large a region.
pub(crate) fn of_type(ty: ScalarType, region: &Region, numbers: &AnyBuffer) -> Result<AnyBuffer, BufferError> {
    let mut buffer = AnyBuffer::with_region(ty, region)?;
    let mut view = buffer.view_mut()?;
    for at in region.coords() {
        let number = numbers.get(&at).map_or(0.0, Scalar::as_f64);
        let value = if ty.is_float() { Scalar::float(ty, number) } else { Scalar::int(ty, number as i128) };
        view.set(&at, value)?;
    }
    drop(view);
    Ok(buffer)
}

fn filled<T: Element>(seed: u64, region: &Region, of: impl Fn(u16) -> T) -> Result<AnyBuffer, BufferError> {
    let lanes = LINE / size_of::<T>() as i64;
    let mut padded: Vec<Span> = region.spans().to_vec();
    let width = padded.first().map_or(1, |s| s.extent);
    if let Some(first) = padded.first_mut()
        && width > 0
    {
        first.extent = width.saturating_add(lanes - 1) / lanes * lanes;
    }
    let pitch = padded.first().map_or(1, |s| s.extent).max(1) as usize;
    let mut buffer = Buffer::<T>::with_region(&Region::new(padded))?;
    let mut view = buffer.view_mut()?;
    if let Some(values) = view.as_mut_slice() {
        let rows = values.chunks_mut(pitch).flat_map(|row| row.iter_mut().take(width as usize));
        let mut bits = 0;
        for (i, value) in rows.enumerate() {
            if i % 4 == 0 {
                bits = splitmix64(seed, i as u64 / 4);
            }
            *value = of(bits as u16);
            bits >>= 16;
        }
    }
    Ok(buffer.crop(region)?.into_any())
}

/// Output number `index`, from 0, of splitmix64 seeded with `seed`.
fn splitmix64(seed: u64, index: u64) -> u64 {
    let z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        // The first outputs of the reference generator seeded with 1234567.
        let expected = [6457827717110365317u64, 3203168211198807973, 9817491932198370423, 4593380528125082431];
        assert_eq!([0, 1, 2, 3].map(|i| splitmix64(1234567, i)), expected);
    }

    #[test]
    fn every_type_has_its_values() -> Result<(), BufferError> {
        let region = Region::of_extents([5, 3]);
        for ty in [Bool, U8, I8, U16, I16, U32, I32, U64, I64, F16, BF16, F32, F64] {
            let image = random(1, ty, &region, 65535)?;
            assert_eq!(image.ty(), ty);
            let numbers: Vec<f64> = region.coords().filter_map(|at| image.get(&at)).map(Scalar::as_f64).collect();
            assert_eq!(numbers.len(), 15, "{ty}");
            assert!(numbers.iter().any(|n| *n != numbers[0]), "{ty}: {numbers:?}");
        }
        Ok(())
    }

    #[test]
    fn values_are_slices_in_the_order_of_coordinates() {
        let image = random(1, U16, &Region::of_extents([3, 2]), 65535).unwrap().typed::<u16>().unwrap();
        let first = splitmix64(1, 0);
        assert_eq!(image.get([0, 0]), Some(first as u16));
        assert_eq!(image.get([2, 0]), Some((first >> 32) as u16));
        assert_eq!(image.get([0, 1]), Some((first >> 48) as u16));
        assert_eq!(image.get([1, 1]), Some(splitmix64(1, 1) as u16));
    }
}
