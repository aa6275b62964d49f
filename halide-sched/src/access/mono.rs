//! Products of atoms.

use crate::tuning::MOST_FACTORS;

/// The number of an atom in [`super::Terms`], below [`AtomId::MOST`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct AtomId(pub(crate) u32);

impl AtomId {
    /// The number of atoms that there can be.
    pub(crate) const MOST: usize = (1 << BITS) - 1;
}

/// The bits of a factor.
const BITS: u32 = 21;

/// A product of up to six atoms in ascending order; the empty product is 1. A word of 21 bits each, the first lowest,
/// holds the number of its atom plus 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Mono {
    high: u64,
    low: u64,
}

impl Mono {
    /// The atom itself.
    pub(crate) fn atom(atom: AtomId) -> Mono {
        Mono { high: 0, low: u64::from(atom.0) + 1 }
    }
    /// Returns true of the empty product.
    pub(crate) fn is_empty(self) -> bool {
        self.low == 0
    }
    /// The number of factors.
    pub(crate) fn len(self) -> usize {
        if self.low >> BITS == 0 {
            return usize::from(self.low != 0);
        }
        (u128::BITS - self.word().leading_zeros()).div_ceil(BITS) as usize
    }
    /// The factors in ascending order.
    pub(crate) fn iter(self) -> impl Iterator<Item = AtomId> {
        let mut rest = self.word();
        std::iter::from_fn(move || {
            let word = rest as u32 & ((1 << BITS) - 1);
            rest >>= BITS;
            word.checked_sub(1).map(AtomId)
        })
    }
    /// Returns true if `atom` is a factor.
    pub(crate) fn contains(self, atom: AtomId) -> bool {
        if self.low >> BITS == 0 {
            return self.low == u64::from(atom.0) + 1;
        }
        self.iter().any(|a| a == atom)
    }
    /// The atom, if it is the only factor.
    pub(crate) fn as_atom(self) -> Option<AtomId> {
        self.iter().next().filter(|_| self.low >> BITS == 0)
    }
    /// The product without its factors `atom`.
    pub(crate) fn without(self, atom: AtomId) -> Mono {
        Mono::of(self.iter().filter(|a| *a != atom))
    }
    /// The product of two; `None` if it has too many factors.
    pub(crate) fn times(self, other: Mono) -> Option<Mono> {
        if self.len() + other.len() > MOST_FACTORS {
            return None;
        }
        let (mut a, mut b) = (self.iter().peekable(), other.iter().peekable());
        Some(Mono::of(std::iter::from_fn(|| match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if y < x => b.next(),
            (Some(_), _) => a.next(),
            (None, _) => b.next(),
        })))
    }
    /// The product of at most [`MOST_FACTORS`] atoms in ascending order.
    fn of(atoms: impl Iterator<Item = AtomId>) -> Mono {
        let word = atoms.zip(0..).fold(0, |all, (a, n)| all | (u128::from(a.0) + 1) << (BITS * n));
        Mono { high: (word >> u64::BITS) as u64, low: word as u64 }
    }
    fn word(self) -> u128 {
        u128::from(self.high) << u64::BITS | u128::from(self.low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_stay_in_order() {
        let of = |list: &[u32]| list.iter().try_fold(Mono::default(), |m, a| m.times(Mono::atom(AtomId(*a))));
        let atoms = |m: Mono| m.iter().map(|a| a.0).collect::<Vec<_>>();
        let most = AtomId::MOST as u32 - 1;
        let product = of(&[7, 0, most, 7, 3]).unwrap();
        assert_eq!((atoms(product), product.len()), (vec![0, 3, 7, 7, most], 5));
        assert_eq!(atoms(product.without(AtomId(7))), [0, 3, most]);
        assert!(product.contains(AtomId(most)) && !product.contains(AtomId(1)));
        assert_eq!(of(&[most; 6]).map(Mono::len), Some(6));
        assert_eq!(of(&[0; 7]), None);
        assert!(Mono::default().is_empty() && of(&[0]).is_some_and(|m| !m.is_empty()));
    }
}
