//! The way in which lanes of a vector lie in memory, and what that takes to load and to store.

use crate::tuning::{CROSSING_STEPS, GATHERED_LANE, GATHERED_LOADS, LONGEST_SHUFFLE, LONGEST_WINDOW, REPEATING_STEPS};

/// The way in which lanes of a vector lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lanes {
    /// All are one element.
    Same,
    /// Neighbours at a distance, in elements.
    Strided(i64),
    /// Fewer elements than lanes, each as often as its neighbour.
    Repeated,
    /// Anywhere.
    Scattered,
}

impl Lanes {
    /// The way of so many lanes of which the first, the one in the middle and the last are at these positions.
    pub(crate) fn of([first, middle, last]: [i64; 3], lanes: i64) -> Lanes {
        let (half, whole, steps) = (middle.wrapping_sub(first), last.wrapping_sub(first), (lanes - 1).max(1));
        let by = whole / steps;
        match whole {
            0 if half == 0 => Lanes::Same,
            _ if whole % steps == 0 && half == by * (lanes / 2) && by != 0 && by.abs() <= LONGEST_WINDOW => {
                Lanes::Strided(by)
            }
            _ if whole.abs() < lanes && (half * 2 - whole).abs() <= 2 => Lanes::Repeated,
            _ => Lanes::Scattered,
        }
    }

    /// The number of the window of neighbours from which a vector is taken that begins at a position.
    pub(crate) fn window(self, first: i64) -> i64 {
        match self {
            Lanes::Strided(by) if by.abs() > 1 => first.div_euclid(by.abs()),
            _ => first,
        }
    }

    /// Loads and shuffles of as many vectors of one window, each of which fills so many registers. Instructions of
    /// vectors of 512 bits take lanes from anywhere: one `crosses` the halves of two registers.
    pub(crate) fn loads(self, vectors: f64, registers: f64, lanes: f64, crosses: bool) -> (f64, f64) {
        match self {
            Lanes::Same => (vectors, 0.0),
            Lanes::Strided(1 | -1) => (vectors * registers, 0.0),
            Lanes::Strided(by) if by.abs() <= LONGEST_SHUFFLE || 2.0 * vectors >= by.abs() as f64 => {
                (registers * by.abs() as f64, registers * shuffles(by.abs(), vectors, crosses))
            }
            Lanes::Repeated if crosses => (vectors * registers, vectors * registers),
            Lanes::Repeated => (vectors * registers, vectors * registers * REPEATING_STEPS),
            Lanes::Strided(_) | Lanes::Scattered => (vectors * lanes * GATHERED_LOADS, vectors * lanes * GATHERED_LANE),
        }
    }

    /// Stores and shuffles of as many vectors of one window, each of which fills so many registers: all of a window are
    /// stored as neighbours.
    pub(crate) fn stores(self, vectors: f64, registers: f64, lanes: f64, crosses: bool) -> (f64, f64) {
        match self {
            Lanes::Same => (vectors, 0.0),
            Lanes::Strided(1 | -1) => (vectors * registers, 0.0),
            Lanes::Strided(by) if vectors >= by.abs() as f64 => {
                (vectors * registers, registers * shuffles(by.abs(), vectors, crosses))
            }
            _ => (vectors * lanes, vectors * lanes * GATHERED_LANE),
        }
    }
}

/// Instructions that take some vectors out of as many registers as neighbours are apart, or all in stages that halve.
/// Where none `crosses` the halves of registers, these are put in order at the end.
fn shuffles(by: i64, vectors: f64, crosses: bool) -> f64 {
    let stages = f64::from(64 - (by - 1).max(1).leading_zeros());
    let (one, all) = if crosses { (1.0, stages) } else { (CROSSING_STEPS, stages + 1.0) };
    (vectors * (by - 1) as f64 * one).min(by as f64 * all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways() {
        assert_eq!(Lanes::of([5, 5, 5], 8), Lanes::Same);
        assert_eq!(Lanes::of([5, 9, 12], 8), Lanes::Strided(1));
        assert_eq!(Lanes::of([0, 16, 28], 8), Lanes::Strided(4));
        assert_eq!(Lanes::of([0, 2, 3], 8), Lanes::Repeated);
        // The edge of a row, again and again.
        assert_eq!(Lanes::of([4, 7, 7], 8), Lanes::Scattered);
        assert_eq!(Lanes::of([0, 4000, 7000], 8), Lanes::Scattered);
    }

    #[test]
    fn whole_windows_are_loaded_once() {
        let pixels = Lanes::Strided(4);
        assert_eq!(pixels.loads(1.0, 1.0, 16.0, true), (4.0, 3.0));
        assert_eq!(pixels.loads(4.0, 1.0, 16.0, true), (4.0, 8.0));
        assert_eq!(pixels.loads(1.0, 1.0, 8.0, false), (4.0, 6.0));
        assert_eq!(pixels.loads(4.0, 1.0, 8.0, false), (4.0, 12.0));
        assert_eq!(pixels.stores(4.0, 1.0, 16.0, true), (4.0, 8.0));
        assert_eq!(pixels.stores(3.0, 1.0, 16.0, true).0, 48.0);
    }
}
