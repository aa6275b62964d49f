//! Random images that anyone can make again: the bench's peers in other languages do.
//!
//! Value number `i` (x fastest, then y, then channel) is the 16-bit slice `i % 4`, lowest first, of output number `i / 4`
//! of the splitmix64 generator after the seed.

use halide::buffer::{Buffer, BufferError, Region};

/// Rows start at multiples of this many values, a cache line, which suits every engine.
const LINE: i64 = 32;

/// A buffer of these extents, with mins 0, filled from the stream of `seed`.
pub fn random_u16(seed: u64, extents: &[i64]) -> Result<Buffer<u16>, BufferError> {
    let width = extents.first().copied().unwrap_or(1);
    let mut padded = extents.to_vec();
    if let Some(first) = padded.first_mut() {
        *first = if width > 0 { width.saturating_add(LINE - 1) / LINE * LINE } else { width };
    }
    let pitch = padded.first().copied().unwrap_or(1).max(1) as usize;
    let mut buffer = Buffer::<u16>::new(&padded)?;
    let mut view = buffer.view_mut()?;
    if let Some(values) = view.as_mut_slice() {
        let rows = values.chunks_mut(pitch).flat_map(|row| row.iter_mut().take(width as usize));
        let mut bits = 0;
        for (i, value) in rows.enumerate() {
            if i % 4 == 0 {
                bits = splitmix64(seed, i as u64 / 4);
            }
            *value = bits as u16;
            bits >>= 16;
        }
    }
    buffer.crop(&Region::of_extents(extents))
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
    fn values_are_slices_in_the_order_of_coordinates() {
        let image = random_u16(1, &[3, 2]).unwrap();
        let first = splitmix64(1, 0);
        assert_eq!(image.get([0, 0]), Some(first as u16));
        assert_eq!(image.get([2, 0]), Some((first >> 32) as u16));
        assert_eq!(image.get([0, 1]), Some((first >> 48) as u16));
        assert_eq!(image.get([1, 1]), Some(splitmix64(1, 1) as u16));
    }
}
