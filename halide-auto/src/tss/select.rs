//! The choice of tiles.

use super::error::TssError;
use super::nest::Nest;
use super::num_vec::num_vec;
use super::price::{Price, traffic};
use super::reuse::{Reuse, reuse_of};
use super::row::array_rows;
use super::setting::{Fidelity, Setting, TssOptions};
use super::space::{Candidates, Sizes, thin};
use crate::tuning::{LEAST_GAIN, MOST_SIZES, MOST_STEPS};
use halide_ir::machine::Machine;
use std::cmp::Ordering;

/// Tiles of a nest, with what is predicted of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Tiles {
    /// The iterations of each loop in a tile, outermost first, from 1 up to all.
    pub sizes: Vec<u64>,
    /// The cache that a tile fits, 0 next to the core; the number of caches if it fits none.
    pub level: usize,
    /// The elements of the rows that aligned vectors within tiles reach.
    pub num_vec: u64,
    /// Their share of all elements of the rows.
    pub efficiency: f64,
    /// The reuse distance of each array in elements; `None` without reuse.
    pub rd: Vec<Option<u64>>,
    /// The elements of all arrays in a tile: W.
    pub working_set: u64,
    /// The accesses to the dominating array in a tile that reuse an element: RC.
    pub reuse: u64,
    /// The array of the longest reuse distance.
    pub dominating: Option<usize>,
    /// The sizes of the vector loop that have the same [`Tiles::num_vec`], this one included. In long loops only some
    /// sizes are looked at.
    pub ties: Vec<u64>,
    /// The tasks that tiles make for threads.
    pub tasks: u64,
    /// Predicted cycles per point of each thread.
    pub cycles: f64,
    /// Predicted bytes per point between each cache and the one behind it, from the one next to the core on.
    pub traffic: Vec<f64>,
    /// Advice on leading dimensions, where a better one pays.
    pub padding: Option<Padding>,
    /// True if an array stands in the nest more than once, so working set and distances may be less than they say.
    pub is_upper_bound: bool,
}

/// Advice to lengthen the rows of arrays to whole lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Padding {
    /// The arrays and what their leading dimensions should be.
    pub leading: Vec<Leading>,
    /// The predicted time without padding over that with it, at the same tiles.
    pub gain: f64,
}

/// A leading dimension for an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leading {
    /// The number of the array in the nest.
    pub array: usize,
    /// The elements from a row to the next.
    pub ld: i64,
}

/// Chooses sizes of tiles by vectorisation efficiency and reuse distance: VEC-TSS.
///
/// Tiles fit a cache by [`FitRule`](super::FitRule), are more than two a thread of several where the loops allow it,
/// and are whole lines in middle loops. Among these, [`Fidelity`] says what is optimised; equal ones differ by more
/// reuse, then by longer rows. Equal questions have equal answers.
///
/// The paper (Chai, Liu, Qu, Wang, Wu; Computer Engineering and Applications, 2020) has its formulas as images. They
/// are reconstructed from its prose.
///
/// # Errors
///
/// [`TssError`] if the nest is not well formed, its innermost loop cannot be one of vectors, the machine has no caches,
/// or not even the smallest tiles fit one.
pub fn select(nest: &Nest, machine: &Machine, threads: u32, options: &TssOptions) -> Result<Tiles, TssError> {
    let setting = Setting::new(nest, machine, threads, options)?;
    let space = setting.space();
    let mut lists = thin(&space, options.tilings, MOST_SIZES);
    let by_vectors = by_num_vec(&setting, &space[space.len() - 1]);
    let least_tasks = setting.least_tasks(&space);
    let mut fixed = 0;
    if options.fidelity == Fidelity::Paper {
        let is_enough = |size: u64| setting.tasks(&setting.smallest(&space, size)) >= least_tasks;
        let allowed = by_vectors.iter().filter(|(size, _)| is_enough(*size));
        let most = allowed.max_by_key(|(size, count)| (*count, *size));
        if let (Some(last), Some((size, _))) = (lists.last_mut(), most) {
            *last = vec![*size];
        }
        fixed = 1;
    }
    let mut search = Search { setting: &setting, price: Price::new(&setting), least_tasks };
    let smallest: Vec<u64> = lists.iter().map(|sizes| sizes[0]).collect();
    let mut best: Option<Found> = None;
    for sizes in Candidates::of(lists) {
        best = search.better(best.as_ref(), sizes).or(best);
    }
    let Some(best) = best else { return Err(nothing_fits(&setting, &smallest)) };
    let best = search.refine(best, &space[..space.len() - fixed]);
    Ok(search.tiles(best.sizes, &by_vectors))
}

/// Returns what is predicted of given sizes, which are brought into the range from 1 to the loop's trips. They need
/// neither fit a cache nor be as [`select`] chooses.
///
/// # Errors
///
/// [`TssError`] as [`select`], and if the number of sizes is not that of the loops.
pub fn assess(
    nest: &Nest,
    machine: &Machine,
    threads: u32,
    options: &TssOptions,
    sizes: &[u64],
) -> Result<Tiles, TssError> {
    let setting = Setting::new(nest, machine, threads, options)?;
    let sizes = setting.sizes(sizes)?;
    let space = setting.space();
    let by_vectors = by_num_vec(&setting, &space[space.len() - 1]);
    let mut search = Search { setting: &setting, price: Price::new(&setting), least_tasks: 0 };
    Ok(search.tiles(sizes, &by_vectors))
}

/// The sizes of the vector loop with their NUM_VEC.
fn by_num_vec(setting: &Setting, sizes: &Sizes) -> Vec<(u64, u64)> {
    let Some(array) = setting.nest.row_array() else { return Vec::new() };
    let rows = array_rows(setting, array);
    sizes.thinned(MOST_SIZES).into_iter().map(|size| (size, num_vec(&rows, size))).collect()
}

/// The error of a nest whose smallest tiles fit no cache.
fn nothing_fits(setting: &Setting, smallest: &[u64]) -> TssError {
    let bytes = reuse_of(&setting.subscripts, smallest).working_bytes;
    let usable = setting.machine.caches.iter().map(|c| c.usable(setting.threads)).max().unwrap_or(0);
    let has_whole_rows = setting.options.fidelity == Fidelity::Paper;
    TssError::NothingFits { bytes, usable, has_whole_rows }
}

/// Sizes that are allowed, with what decides between them.
struct Found {
    /// The smaller the better: cycles, or the level.
    cost: f64,
    reuse: u64,
    sizes: Vec<u64>,
}

impl Found {
    /// Orders the better one first.
    fn compare(&self, other: &Found) -> Ordering {
        let cost = self.cost.total_cmp(&other.cost);
        let longer = || other.sizes.iter().rev().cmp(self.sizes.iter().rev());
        cost.then_with(|| other.reuse.cmp(&self.reuse)).then_with(longer)
    }
}

/// A search for sizes.
struct Search<'q> {
    setting: &'q Setting<'q>,
    price: Price<'q>,
    least_tasks: u64,
}

impl Search<'_> {
    /// Returns what decides about sizes; `None` if they are not allowed.
    fn found(&mut self, sizes: Vec<u64>) -> Option<Found> {
        if self.setting.tasks(&sizes) < self.least_tasks {
            return None;
        }
        let reuse = reuse_of(&self.setting.subscripts, &sizes);
        let level = self.setting.level(&reuse)?;
        let cost = match self.setting.options.fidelity {
            Fidelity::Paper => level as f64,
            Fidelity::Corrected => self.price.cycles(&sizes),
        };
        Some(Found { cost, reuse: reuse.count, sizes })
    }

    /// Returns sizes with what decides about them if they are allowed and better than others.
    fn better(&mut self, than: Option<&Found>, sizes: Vec<u64>) -> Option<Found> {
        let found = self.found(sizes)?;
        than.is_none_or(|than| found.compare(than) == Ordering::Less).then_some(found)
    }

    /// Moves one size at a time up or down by steps of a power of two, as long as that is better. Loops without a list
    /// in `space` stay.
    fn refine(&mut self, mut best: Found, space: &[Sizes]) -> Found {
        let mut left = MOST_STEPS;
        loop {
            let from = best.sizes.clone();
            for (index, sizes) in space.iter().enumerate() {
                for size in steps(sizes, sizes.number(from[index])).take(left) {
                    left -= 1;
                    let mut to = from.clone();
                    to[index] = size;
                    best = self.better(Some(&best), to).unwrap_or(best);
                }
            }
            if best.sizes == from || left == 0 {
                return best;
            }
        }
    }

    /// Returns tiles of the given sizes.
    fn tiles(&mut self, sizes: Vec<u64>, by_vectors: &[(u64, u64)]) -> Tiles {
        let setting = self.setting;
        let reuse = reuse_of(&setting.subscripts, &sizes);
        let level = setting.level(&reuse).unwrap_or(setting.machine.caches.len());
        let Reuse { distances, dominating, working_set, count, .. } = reuse;
        let innermost = sizes.last().copied().unwrap_or(1);
        let (mut reached, mut efficiency) = (0, 0.0);
        if let Some(array) = setting.nest.row_array() {
            let rows = array_rows(setting, array);
            reached = num_vec(&rows, innermost);
            efficiency = reached as f64 / (rows.n as f64 * rows.rows as f64);
        }
        let mut ties: Vec<u64> = by_vectors
            .iter()
            .filter(|(_, count)| *count == reached)
            .map(|(size, _)| *size)
            .chain([innermost])
            .collect();
        ties.sort_unstable();
        ties.dedup();
        let cycles = self.price.cycles(&sizes);
        Tiles {
            level,
            num_vec: reached,
            efficiency,
            rd: distances,
            working_set,
            reuse: count,
            dominating,
            ties,
            tasks: setting.tasks(&sizes),
            cycles,
            traffic: traffic(setting, &sizes),
            padding: padding(setting, &sizes, cycles),
            is_upper_bound: setting.nest.has_shared_arrays(),
            sizes,
        }
    }
}

/// The sizes beside one, by its number: at distances of powers of two, upwards and downwards.
fn steps(sizes: &Sizes, number: u64) -> impl Iterator<Item = u64> {
    let distances = (0..u64::BITS).map(|shift| 1 << shift).take_while(|d| *d < sizes.count().max(2));
    let sides = distances.flat_map(move |d| [number.checked_add(d), number.checked_sub(d)]);
    let (sizes, last) = (*sizes, sizes.count() - 1);
    sides.flatten().filter(move |to| *to <= last).map(move |to| sizes.get(to))
}

/// Advises on leading dimensions at given sizes, if the gain is worth it: whole lines, and one line more where rows
/// would meet in the same sets of the first cache.
fn padding(setting: &Setting, sizes: &[u64], cycles: f64) -> Option<Padding> {
    let innermost = sizes.len() - 1;
    let (mut nest, mut leading) = (setting.nest.clone(), Vec::new());
    for (index, array) in nest.arrays.iter_mut().enumerate() {
        let in_line = i64::try_from(setting.line / array.bytes().max(1)).unwrap_or(1).max(1);
        // Rows shorter than a line are better left side by side.
        let has_rows = array.subscripts.len() > 1 && array.ld >= in_line && array.step(innermost).is_some();
        let Some(ld) = whole_lines(setting, array.ld, in_line).filter(|ld| has_rows && *ld != array.ld) else {
            continue;
        };
        array.ld = ld;
        leading.push(Leading { array: index, ld });
    }
    if leading.is_empty() {
        return None;
    }
    let padded = Price::new(&Setting { nest: &nest, ..setting.clone() }).cycles(sizes);
    let gain = cycles / padded;
    (gain >= LEAST_GAIN).then_some(Padding { leading, gain })
}

/// The smallest leading dimension that is no smaller than `ld`, of whole lines, and no multiple of the bytes of a way.
fn whole_lines(setting: &Setting, ld: i64, in_line: i64) -> Option<i64> {
    let up = ld.checked_add(in_line - 1)? / in_line * in_line;
    let cache = setting.machine.caches.first()?;
    let lines = u64::try_from(up / in_line).ok()?;
    let in_way = (cache.bytes / u64::from(cache.ways.max(1)) / setting.line).max(1);
    let meets = in_way > 1 && lines.is_multiple_of(in_way);
    if meets { up.checked_add(in_line) } else { Some(up) }
}
