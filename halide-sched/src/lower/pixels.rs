//! Interleaved buffers of the caller: the values of a pixel, as its colours, lie beside each other in memory.

/// The caller's buffers in which the values of a pixel lie beside each other: the first dimension has as large a stride
/// as the last one has coordinates, and the last one has stride 1. The others are dense along their first dimension.
///
/// Buffers are numbered as in programs: images, then the elements of outputs. Of later ones than the first sixteen, and
/// of pixels of more than fifteen values, nothing is said.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Pixels(u64);

/// Bits for each buffer.
const BITS: usize = 4;

impl Pixels {
    /// Adds that a buffer has pixels of so many values; the same if that cannot be said.
    #[must_use]
    pub fn with(self, buffer: usize, values: i64) -> Pixels {
        let is_free = buffer < 64 / BITS && self.of(buffer).is_none();
        match u64::try_from(values) {
            Ok(values @ 2..=15) if is_free => Pixels(self.0 | values << (BITS * buffer)),
            _ => self,
        }
    }
    /// Returns the number of values of a pixel of a buffer; `None` if nothing is said of it.
    pub fn of(self, buffer: usize) -> Option<i64> {
        let shifted = self.0.checked_shr(u32::try_from(BITS * buffer).ok()?)?;
        Some((shifted & 15) as i64).filter(|values| *values != 0)
    }
    /// Returns true if nothing is said of any buffer.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_few_values_of_few_buffers_are_said() {
        let some = Pixels::default().with(0, 3).with(15, 15).with(15, 4).with(16, 3).with(2, 1).with(3, 16);
        let all: Vec<_> = (0..20).filter_map(|n| Some((n, some.of(n)?))).collect();
        assert_eq!(all, [(0, 3), (15, 15)]);
        assert!(Pixels::default().with(1, 1).is_empty());
    }
}
