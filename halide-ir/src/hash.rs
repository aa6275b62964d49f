//! Hash tables for keys that are ids, symbols and expressions: made by us, so no one can choose them to collide.
//!
//! An [`super::Expr`] hands its structural hash to the hasher; what is left to do is to spread the bits.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A hash map for small keys and expressions. Made with `Map::default()`.
pub type Map<K, V> = HashMap<K, V, BuildHasherDefault<Spread>>;
/// A hash set of small keys and expressions. Made with `Set::default()`.
pub type Set<K> = HashSet<K, BuildHasherDefault<Spread>>;

/// Room for as many entries, in a table that has none yet: most tables that are begun get about so many, and would be
/// moved to a larger place again and again on the way there.
pub fn begin<K: Eq + Hash, V>(table: &mut Map<K, V>, entries: usize) {
    if table.capacity() == 0 {
        table.reserve(entries);
    }
}

/// Multiplies each word of a key into the ones before.
#[derive(Clone, Copy, Default, Debug)]
pub struct Spread(u64);

/// Odd, with its bits in no pattern.
pub(crate) const FACTOR: u64 = 0xf135_7aea_2e62_a9c5;

impl Spread {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        // The high bits of a product depend on all bits of its factors; tables look at the low ones too.
        self.0 ^ (self.0 >> 32)
    }
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
        self.add(bytes.len() as u64);
    }
    fn write_u8(&mut self, v: u8) {
        self.add(v.into());
    }
    fn write_u16(&mut self, v: u16) {
        self.add(v.into());
    }
    fn write_u32(&mut self, v: u32) {
        self.add(v.into());
    }
    fn write_u64(&mut self, v: u64) {
        self.add(v);
    }
    fn write_usize(&mut self, v: usize) {
        self.add(v as u64);
    }
    fn write_isize(&mut self, v: isize) {
        self.add(v as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::BuildHasher;

    /// In the bits that a table uses, neighbouring and aligned keys fall apart.
    #[test]
    fn spreads_keys_that_differ_little() {
        let of = |k: &dyn Fn(&mut Spread)| {
            let mut h = BuildHasherDefault::<Spread>::default().build_hasher();
            k(&mut h);
            h.finish()
        };
        for (low, high) in [(0xfff, 0), (0, 57)] {
            let bits = |h: u64| if low != 0 { h & low } else { h >> high };
            let room = if low != 0 { 4096 } else { 128 };
            let numbers: HashSet<u64> = (0..room).map(|i: u64| bits(of(&|h| i.hash(h)))).collect();
            let addresses: HashSet<u64> =
                (0..room).map(|i| bits(of(&|h| (0x7f00_0000_1000 + 64 * i as usize).hash(h)))).collect();
            let pairs: HashSet<u64> =
                (0..room).map(|i| bits(of(&|h| ((i / 64) as u16, (i % 64) as u32).hash(h)))).collect();
            for found in [numbers, addresses, pairs] {
                assert!(found.len() as u64 > room / 2, "{} of {room}", found.len());
            }
        }
    }
}
