//! Random numbers for proposals.

/// The generator splitmix64: equal seeds give equal numbers everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 below `count`; 0 if there is none.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        // The bias is below 2^-32 for all counts that occur.
        ((u128::from(self.next()) * count as u128) >> 64) as usize
    }

    /// True in `part` of a hundred cases.
    pub(crate) fn percent(&mut self, part: usize) -> bool {
        self.below(100) < part
    }

    /// One of the items, if there are any.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// The index of an item by its weight, at least 0; `None` if all are 0.
    pub(crate) fn weighted(&mut self, weights: &[f64]) -> Option<usize> {
        let sum: f64 = weights.iter().sum();
        // The 53 bits of an f64 between 0 and 1.
        let mut at = (self.next() >> 11) as f64 / (1u64 << 53) as f64 * sum;
        let last = weights.iter().rposition(|weight| *weight > 0.0)?;
        for (i, weight) in weights.iter().enumerate() {
            if *weight > at {
                return Some(i);
            }
            at -= weight;
        }
        Some(last)
    }
}
