//! NUM_VEC: the elements of a matrix that vectors from aligned places reach, when its rows are cut in tiles.
//!
//! A row begins at some phase, its place modulo the width of vectors, and so does each tile of it. Only phases matter,
//! and these repeat: by row after `vf / gcd(ld, vf)` rows, by tile after `vf / gcd(j, vf)` tiles. So a sum over rows,
//! tiles and blocks becomes a sum over few classes of tiles, with a count of rows by phase in each.

/// The rows of a matrix that a loop over vectors goes along. Places are in elements, from an aligned one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The elements of a row.
    pub n: u64,
    /// The number of rows.
    pub rows: u64,
    /// The distance from a row to the next, the leading dimension. In a triangle whose rows begin one later each, it is
    /// one more.
    pub ld: i64,
    /// The place of the first element.
    pub base: i64,
    /// The elements of a vector.
    pub vf: u16,
}

/// Returns the number of elements that lie in a block of `vf` elements which begins at a multiple of `vf` and is within
/// one tile of a row, where each row is cut in tiles of `j` elements from its start.
///
/// This is equation (1) of VEC-TSS (Chai, Liu, Qu, Wang, Wu; Computer Engineering and Applications, 2020), which is an
/// image there. It is reconstructed from the prose, for any leading dimension and base:
///
/// ```text
/// sum_p c_p sum_t vf * max(0, floor((p + min((t + 1) j, n)) / vf) - ceil((p + t j) / vf))
/// ```
///
/// with `c_p` the number of rows that begin at phase `p`. The paper's numbers hold where rows begin aligned.
///
/// Exact, in `O(vf + min(vf, n / j))`, and at most `u64::MAX`. Tiles or vectors of no elements hold none: it is 0 then.
///
/// ```
/// use halide_auto::tss::{Rows, num_vec};
///
/// let padded = Rows { n: 13, rows: 13, ld: 16, base: 0, vf: 4 };
/// assert_eq!(num_vec(&padded, 6), 104);
/// assert_eq!(num_vec(&Rows { ld: 13, ..padded }, 6), 80);
/// ```
pub fn num_vec(row: &Rows, j: u64) -> u64 {
    let vf = u64::from(row.vf);
    let j = j.min(row.n);
    // No block fits in a tile, or there is none.
    if j == 0 || j < vf || vf == 0 {
        return 0;
    }
    let phases = Phases::new(row, row.vf);
    let (tiles, rest) = (row.n / j, row.n % j);
    let mut blocks = 0;
    for (shift, count) in shifts(tiles, j, vf) {
        blocks += u128::from(count) * phases.blocks(shift, j);
    }
    if rest >= vf {
        blocks += phases.blocks(residue(tiles, j, vf), rest);
    }
    u64::try_from(blocks * u128::from(vf)).unwrap_or(u64::MAX)
}

/// Returns the number of accesses that touch two lines of `line` elements, where tiles of `j` elements are accessed in
/// vectors of `vf` from the start of each tile on, and the last vector of a tile reaches to its end only.
///
/// Vectors here need not begin aligned, so all elements are accessed by vectors, and the price of a start out of step
/// is paid by every vector of the tile. Vectors wider than a line count as vectors of a line. At most `u64::MAX`.
pub fn straddled(row: &Rows, line: u16, j: u64) -> u64 {
    let vf = u64::from(row.vf.min(line));
    let j = j.min(row.n);
    if j == 0 || vf == 0 {
        return 0;
    }
    let phases = Phases::new(row, line);
    let (tiles, rest) = (row.n / j, row.n % j);
    let mut found = 0;
    for (shift, count) in shifts(tiles, j, u64::from(line)) {
        found += u128::from(count) * phases.straddled(shift, j, vf);
    }
    found += phases.straddled(residue(tiles, j, u64::from(line)), rest, vf);
    u64::try_from(found).unwrap_or(u64::MAX)
}

/// The rows of a matrix by the phase at which they begin.
struct Phases {
    /// The number of rows of a smaller phase, for each phase and for the modulus itself.
    below: Vec<u64>,
}

impl Phases {
    /// Counts the rows by phase modulo `modulus`, which is not 0.
    fn new(row: &Rows, modulus: u16) -> Phases {
        let m = i64::from(modulus);
        let (step, base) = (row.ld.rem_euclid(m).unsigned_abs(), row.base.rem_euclid(m).unsigned_abs());
        let m = u64::from(modulus);
        let mut below = vec![0; usize::from(modulus) + 1];
        let mut phase = base;
        let period = m / gcd(step, m);
        for i in 0..period {
            below[phase as usize + 1] += row.rows / period + u64::from(i < row.rows % period);
            phase = (phase + step) % m;
        }
        for p in 1..below.len() {
            below[p] += below[p - 1];
        }
        Phases { below }
    }

    fn modulus(&self) -> u64 {
        self.below.len() as u64 - 1
    }

    fn rows(&self) -> u64 {
        self.below[self.below.len() - 1]
    }

    /// Returns the number of rows whose phase, moved on by `shift`, is at least `from`. Both are at most the modulus.
    fn at_least(&self, from: u64, shift: u64) -> u64 {
        let (m, below) = (self.modulus(), |p: u64| self.below[p as usize]);
        // Phases from `from - shift` up to `m - shift`, around the end.
        match from >= shift {
            true => below(m - shift) - below(from - shift),
            false => below(m - shift) + (self.rows() - below(m + from - shift)),
        }
    }

    /// Returns the number of aligned blocks in parts of all rows, each of `length` elements from `shift` on. The part
    /// is no shorter than a block, so one that is cut at its start ends behind the next block's start.
    fn blocks(&self, shift: u64, length: u64) -> u128 {
        let m = self.modulus();
        let cut = self.at_least(1, shift);
        let more = self.at_least(m - length % m, shift);
        u128::from(self.rows()) * u128::from(length / m) + u128::from(more) - u128::from(cut)
    }

    /// Returns the number of accesses of `vf` elements that touch two lines, in parts of all rows of `length` elements
    /// from `shift` on.
    fn straddled(&self, shift: u64, length: u64, vf: u64) -> u128 {
        let m = self.modulus();
        let accesses = length / vf;
        let mut found = 0;
        for (on, count) in shifts(accesses, vf, m) {
            // Those that begin in the last `vf - 1` elements of a line.
            found += u128::from(count) * u128::from(self.at_least(m - vf + 1, (shift + on) % m));
        }
        let (on, last) = (residue(accesses, vf, m), length % vf);
        if last > 1 {
            found += u128::from(self.at_least(m - last + 1, (shift + on) % m));
        }
        found
    }
}

/// Returns the places of `count` parts of `length` elements modulo `modulus`, each with the number of parts there.
fn shifts(count: u64, length: u64, modulus: u64) -> impl Iterator<Item = (u64, u64)> {
    let period = modulus / gcd(length, modulus);
    let place = move |part| (residue(part, length, modulus), count / period + u64::from(part < count % period));
    (0..period.min(count)).map(place)
}

/// Returns `a * b` modulo `modulus`.
fn residue(a: u64, b: u64, modulus: u64) -> u64 {
    (a % modulus) * (b % modulus) % modulus
}

/// Returns the greatest common divisor; of a number and 0 it is the number.
pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
