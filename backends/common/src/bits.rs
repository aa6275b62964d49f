//! Counts of bits, from the counts in each byte.

use crate::lanes::{Emitted, IntLanes};

/// Counts of bits of integers.
pub trait BitCounts: IntLanes {
    /// Emits the number of ones in each byte, in place.
    fn ones_in_bytes(&mut self, x: &Self::Value) -> Emitted<Self>;

    /// Emits the number of ones.
    fn ones(&mut self, x: &Self::Value) -> Emitted<Self> {
        let bits = self.width(x);
        let mut sum = self.ones_in_bytes(x)?;
        if bits == 8 {
            return Ok(sum);
        }
        let mut width = 8;
        while width < bits {
            let higher = self.shift_right(false, &sum, width)?;
            sum = self.add(&sum, &higher)?;
            width *= 2;
        }
        // The count is in the lowest byte; above it are partial sums.
        let lowest = self.constant(&sum, 0xff)?;
        self.and(&sum, &lowest)
    }
    /// Emits the number of zeros above the highest one.
    fn leading_zeros(&mut self, x: &Self::Value) -> Emitted<Self> {
        // Ones below the highest one; what is left is leading.
        let mut filled = x.clone();
        let mut distance = 1;
        while distance < self.width(x) {
            let shifted = self.shift_right(false, &filled, distance)?;
            filled = self.or(&filled, &shifted)?;
            distance *= 2;
        }
        let leading = self.not(&filled)?;
        self.ones(&leading)
    }
    /// Emits the number of zeros below the lowest one.
    fn trailing_zeros(&mut self, x: &Self::Value) -> Emitted<Self> {
        // Ones just where the trailing zeros are.
        let one = self.constant(x, 1)?;
        let below = self.sub(x, &one)?;
        let trailing = self.and_not(&below, x)?;
        self.ones(&trailing)
    }
}
