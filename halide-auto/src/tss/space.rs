//! The sizes that tiles may have, and all combinations of them.

/// The sizes that one loop's tiles may have: multiples of a step, and perhaps the whole loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    step: u64,
    trips: u64,
    /// The number of sizes, at least 1.
    count: u64,
}

impl Sizes {
    /// The multiples of `step` up to `trips`, or `trips` alone if there is none. Neither is 0.
    pub(super) fn multiples(step: u64, trips: u64) -> Sizes {
        Sizes { step, trips, count: (trips / step).max(1) }
    }

    /// The multiples of `step` below `trips`, and `trips`. Neither is 0.
    pub(super) fn multiples_or_all(step: u64, trips: u64) -> Sizes {
        Sizes { step, trips, count: trips.div_ceil(step) }
    }

    /// Returns the number of sizes.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns a size by its number, from the smallest on; the largest beyond the last.
    pub(super) fn get(&self, number: u64) -> u64 {
        number.min(self.count - 1).saturating_add(1).saturating_mul(self.step).min(self.trips)
    }

    /// Returns the number of the largest size that is no larger than `size`, or of the smallest.
    pub(super) fn number(&self, size: u64) -> u64 {
        if size >= self.trips { self.count - 1 } else { (size / self.step).saturating_sub(1).min(self.count - 1) }
    }

    /// Returns at most `most` of the sizes, and at least one, in order: all small ones, then each larger by a share of
    /// itself, and the largest.
    pub(super) fn thinned(&self, most: usize) -> Vec<u64> {
        if most <= 1 {
            return vec![self.get(0)];
        }
        if self.count <= most as u64 {
            return (0..self.count).map(|number| self.get(number)).collect();
        }
        // Shares from a sixty-fourth up to doubling, then leaps by powers of two.
        let shares = [64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1]
            .map(|part| ladder(self.count, |x| x.saturating_add((x / part).max(1))));
        let leaps = (2..63)
            .map(|shift| ladder(self.count, |x| x.checked_shl(shift).filter(|y| y >> shift == x).unwrap_or(u64::MAX)));
        let fitting = shares.into_iter().chain(leaps).find(|numbers| numbers.len() <= most);
        let numbers = fitting.unwrap_or_else(|| vec![1, self.count]);
        numbers.into_iter().map(|number| self.get(number - 1)).collect()
    }
}

/// The numbers from 1 on, each made of the one before, up to `count` and with `count`.
fn ladder(count: u64, next: impl Fn(u64) -> u64) -> Vec<u64> {
    let below = std::iter::successors(Some(1), |x| Some(next(*x))).take_while(|x| *x < count);
    below.chain([count]).collect()
}

/// All combinations of sizes, one for each loop, the last loop's changing fastest.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// The sizes of each loop, none of them without any.
    sizes: Vec<Vec<u64>>,
    /// The number of the size that each loop has next; `None` behind the last combination.
    next: Option<Vec<usize>>,
}

impl Candidates {
    /// All combinations of the given sizes.
    pub(super) fn of(sizes: Vec<Vec<u64>>) -> Candidates {
        let next = Some(vec![0; sizes.len()]);
        Candidates { sizes, next }
    }

    /// Returns the number of combinations in all, which saturates.
    pub fn total(&self) -> u64 {
        self.sizes.iter().fold(1, |all: u64, sizes| all.saturating_mul(sizes.len() as u64))
    }
}

impl Iterator for Candidates {
    type Item = Vec<u64>;

    fn next(&mut self) -> Option<Vec<u64>> {
        let numbers = self.next.as_mut()?;
        let found = self.sizes.iter().zip(&*numbers).map(|(sizes, number)| sizes[*number]).collect();
        let turns = numbers.iter().zip(&self.sizes).rposition(|(number, sizes)| *number + 1 < sizes.len());
        match turns {
            Some(turns) => {
                numbers[turns] += 1;
                numbers[turns + 1..].fill(0);
            }
            None => self.next = None,
        }
        Some(found)
    }
}

/// Returns at most `tilings` combinations of the sizes of all loops: as many sizes of each as that allows. Where loops
/// are many, outer ones have the smallest size only.
pub(super) fn thin(space: &[Sizes], tilings: usize, most: usize) -> Vec<Vec<u64>> {
    let (mut left, mut all) = (tilings.max(1), Vec::new());
    for (done, sizes) in space.iter().rev().enumerate() {
        let loops = (space.len() - done) as u32;
        let own = sizes.thinned(root(left, loops, most).max(usize::from(left > 1) + 1).min(most.max(1)));
        left = (left / own.len()).max(1);
        all.push(own);
    }
    all.reverse();
    all
}

/// The largest number up to `most` whose power is no larger than `of`.
fn root(of: usize, power: u32, most: usize) -> usize {
    let fits = |x: usize| x.checked_pow(power).is_some_and(|y| y <= of);
    (2..=most).take_while(|x| fits(*x)).last().unwrap_or(1)
}
