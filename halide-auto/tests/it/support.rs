//! Random numbers for tests.

/// Random numbers by xorshift.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number from `low` to `high`.
    pub(crate) fn from(&mut self, low: u64, high: u64) -> u64 {
        low + (self.next() >> 11) % (high - low + 1)
    }

    pub(crate) fn signed(&mut self, most: i64) -> i64 {
        self.from(0, 2 * most as u64) as i64 - most
    }
}
