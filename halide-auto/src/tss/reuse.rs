//! Reuse distances of the arrays of a tile, and what of them a cache has to hold.
//!
//! An array is reused from one iteration of a loop to the next if no subscript uses that loop. Between the two lies all
//! that the loops inside touch: the reuse distance. Equations (4), (6), (7) and (8) of VEC-TSS (Chai, Liu, Qu, Wang,
//! Wu; Computer Engineering and Applications, 2020) are images there, and reconstructed from the prose.
//!
//! The paper counts elements as products of tile sizes, one loop a subscript. Here a subscript may be a sum of several,
//! such as `x + r`, and an array may have several references; both take the number of different elements, which is the
//! product where the paper's case is given. Counts saturate.

use super::nest::{Array, Nest, Subscript};
use super::num_vec::gcd;
use std::collections::BTreeSet;

/// The reuse in one tile of a nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reuse {
    /// The reuse distance of each array in elements: RD_a. `None` if every loop goes to other elements.
    pub distances: Vec<Option<u64>>,
    /// The array of the longest distance, the first of equal ones.
    pub dominating: Option<usize>,
    /// The longest distance in elements, 0 without reuse: RD.
    pub distance: u64,
    /// The longest distance in bytes.
    pub distance_bytes: u64,
    /// The elements of all arrays together: W.
    pub working_set: u64,
    /// The bytes of all arrays together.
    pub working_bytes: u64,
    /// The accesses of the dominating array that find their element in a cache: RC.
    pub count: u64,
}

/// Returns for each array and each loop if the loop carries reuse of the array: the ACC matrix.
pub fn acc(nest: &Nest) -> Vec<Vec<bool>> {
    let row = |array: &Array| (0..nest.loops.len()).map(|index| !array.uses(index)).collect();
    nest.arrays.iter().map(row).collect()
}

/// Returns the number of different elements of an array that a part of the nest touches, at most: `sizes` are the
/// iterations of each loop, 1 for a loop that stands still.
pub fn footprint(array: &Array, sizes: &[u64]) -> u64 {
    Subscripts::new(array, sizes.len()).footprint(sizes)
}

/// Returns the reuse in a tile with `sizes` iterations of each loop. A loop without a size stands still.
pub fn reuse(nest: &Nest, sizes: &[u64]) -> Reuse {
    let arrays: Vec<Subscripts> = nest.arrays.iter().map(|array| Subscripts::new(array, sizes.len())).collect();
    reuse_of(&arrays, sizes)
}

/// Returns the subscripts of each array of a nest.
pub(super) fn subscripts(nest: &Nest) -> Vec<Subscripts> {
    nest.arrays.iter().map(|array| Subscripts::new(array, nest.loops.len())).collect()
}

/// Returns the reuse of arrays with these subscripts.
pub(super) fn reuse_of(arrays: &[Subscripts], sizes: &[u64]) -> Reuse {
    let mut distances = Vec::with_capacity(arrays.len());
    let (mut dominating, mut distance, mut distance_bytes) = (None, 0, 0);
    let mut inner = Vec::with_capacity(sizes.len());
    for (index, array) in arrays.iter().enumerate() {
        let Some(carrier) = (0..sizes.len()).find(|index| !array.uses(*index)) else {
            distances.push(None);
            continue;
        };
        // Loops up to the carrier stand still.
        inner.clear();
        inner.extend(sizes.iter().enumerate().map(|(index, size)| if index > carrier { *size } else { 1 }));
        let (elements, bytes) = total(arrays, &inner);
        // The element that is reused is not between its uses.
        let own = elements.saturating_sub(1);
        distances.push(Some(own));
        if dominating.is_none() || own > distance {
            dominating = Some(index);
        }
        distance = distance.max(own);
        distance_bytes = distance_bytes.max(bytes.saturating_sub(array.bytes));
    }
    let (working_set, working_bytes) = total(arrays, sizes);
    let count = dominating.map_or(0, |index| arrays[index].reuse_count(sizes));
    Reuse { distances, dominating, distance, distance_bytes, working_set, working_bytes, count }
}

/// Returns the accesses to an array in a tile that are not the first to their element.
pub fn reuse_count(array: &Array, sizes: &[u64]) -> u64 {
    Subscripts::new(array, sizes.len()).reuse_count(sizes)
}

/// The elements and the bytes of all arrays together.
fn total(arrays: &[Subscripts], sizes: &[u64]) -> (u64, u64) {
    let add = |(elements, bytes): (u64, u64), array: &Subscripts| {
        let own = array.footprint(sizes);
        (elements.saturating_add(own), bytes.saturating_add(own.saturating_mul(array.bytes)))
    };
    arrays.iter().fold((0, 0), add)
}

/// The subscripts of an array in the form in which its elements are counted many times.
#[derive(Clone, Debug)]
pub(super) struct Subscripts {
    /// The bytes of an element.
    pub(super) bytes: u64,
    references: u64,
    /// The loops that subscripts use, by number.
    used: Vec<bool>,
    dims: Vec<SubscriptRange>,
}

/// A subscript over all references.
#[derive(Clone, Debug)]
struct SubscriptRange {
    /// The loops it uses, each with the size of its factor.
    factors: Vec<(usize, u64)>,
    /// The number of different constants.
    constants: u64,
    /// The distance from the smallest constant to the largest.
    spread: u64,
}

impl Subscripts {
    /// The subscripts of an array, of which those of the first `loops` loops count.
    fn new(array: &Array, loops: usize) -> Subscripts {
        let dim = |(dim, subscript): (usize, &Subscript)| {
            let factors = (0..loops).map(|index| (index, subscript.factor(index).unsigned_abs()));
            let constants: BTreeSet<i64> = array.constants(dim).collect();
            let ends = constants.first().zip(constants.last());
            SubscriptRange {
                factors: factors.filter(|(_, factor)| *factor != 0).collect(),
                constants: constants.len() as u64,
                spread: ends.map_or(0, |(low, high)| high.abs_diff(*low)),
            }
        };
        Subscripts {
            bytes: array.bytes(),
            references: array.references(),
            used: (0..loops).map(|index| array.uses(index)).collect(),
            dims: array.subscripts.iter().enumerate().map(dim).collect(),
        }
    }

    /// Returns true if some subscript uses a loop.
    pub(super) fn uses(&self, index: usize) -> bool {
        self.used[index]
    }

    /// Returns the number of different elements, at most.
    pub(super) fn footprint(&self, sizes: &[u64]) -> u64 {
        let boxed = self.dims.iter().fold(1, |all: u64, dim| all.saturating_mul(dim.elements(sizes)));
        // No more than one element an iteration and reference: tighter for diagonals and for stars.
        let used = sizes.iter().zip(&self.used).filter(|(_, used)| **used);
        let iterations = used.fold(1, |all: u64, (size, _)| all.saturating_mul(*size));
        boxed.min(iterations.saturating_mul(self.references))
    }

    /// Returns the accesses that are not the first to their element.
    fn reuse_count(&self, sizes: &[u64]) -> u64 {
        let carriers = sizes.iter().zip(&self.used).filter(|(_, used)| !**used);
        let times = carriers.fold(1, |all: u64, (size, _)| all.saturating_mul(*size));
        self.footprint(sizes).saturating_mul(times.saturating_sub(1))
    }

    /// Returns the number of rows that a part of the nest touches, at most.
    pub(super) fn rows(&self, sizes: &[u64]) -> u64 {
        let outer = self.dims.split_last().map_or(&[][..], |(_, outer)| outer);
        outer.iter().fold(1, |all: u64, dim| all.saturating_mul(dim.elements(sizes)))
    }

    /// Returns the elements of a row that a part of the nest touches, at most, and the distance from the first to the
    /// last of them, both counted. A scalar is a row of one.
    pub(super) fn row(&self, sizes: &[u64]) -> (u64, u64) {
        self.dims.last().map_or((1, 1), |dim| (dim.elements(sizes), dim.span(sizes)))
    }

    /// Returns the elements that parts of these sizes begin multiples of after another in a row; 0 if all begin at one.
    pub(super) fn grain(&self, sizes: &[u64]) -> u64 {
        let factors = self.dims.last().map_or(&[][..], |dim| &dim.factors);
        factors.iter().fold(0, |all, (index, factor)| gcd(all, factor.saturating_mul(sizes[*index])))
    }
}

impl SubscriptRange {
    /// Returns the number of different values over all references, at most.
    fn elements(&self, sizes: &[u64]) -> u64 {
        let values = self.factors.iter().fold(1, |all: u64, (index, _)| all.saturating_mul(sizes[*index].max(1)));
        values.saturating_mul(self.constants).min(self.span(sizes))
    }

    /// Returns the distance from the smallest to the largest value over all references, both counted.
    fn span(&self, sizes: &[u64]) -> u64 {
        let reach = |(index, factor): &(usize, u64)| factor.saturating_mul(sizes[*index].saturating_sub(1));
        self.factors.iter().map(reach).fold(1, u64::saturating_add).saturating_add(self.spread)
    }
}
