//! Rules for tiles beside VEC-TSS, to compare with, and all tiles that there are, to search in.
//!
//! Each rule gives a size for each loop, from 1 up to the loop's trips, all of them where tiles would change an order;
//! [`assess`](super::assess) says what is predicted of it. None of them looks at the number of tasks.

use super::error::TssError;
use super::nest::Nest;
use super::reuse::reuse_of;
use super::setting::{Setting, TssOptions};
use super::space::Candidates;
use crate::tuning::MOST_LISTED;
use halide_ir::machine::Machine;

/// Returns the nest as one tile.
pub fn untiled(nest: &Nest) -> Vec<u64> {
    nest.trips()
}

/// Returns tiles of `size` iterations of each loop: 32 is what compilers take that do not choose.
pub fn cube(nest: &Nest, size: u64) -> Vec<u64> {
    nest.loops.iter().map(|l| l.allowed(size)).collect()
}

/// Returns tiles in the manner of SICA: the vector loop by whole vectors, and all loops as long as the first cache
/// holds a tile.
///
/// After Feld, Soddemann, Jünger, Mallach (*Facilitate SIMD-code-generation in the polyhedral model by hardware-aware
/// automatic code-transformation*, 2013), as the design of this crate sums it up: equal sizes, of which the last one is
/// rounded down to vectors.
///
/// # Errors
///
/// [`TssError`] as [`select`](super::select).
pub fn sica(nest: &Nest, machine: &Machine, threads: u32, options: &TssOptions) -> Result<Vec<u64>, TssError> {
    let setting = Setting::new(nest, machine, threads, options)?;
    let lanes = u64::from(setting.lanes);
    let sizes = |side: u64| {
        let mut sizes = cube(nest, side);
        if let (Some(last), Some(l)) = (sizes.last_mut(), nest.loops.last()) {
            *last = l.allowed((side / lanes).max(1).saturating_mul(lanes));
        }
        sizes
    };
    Ok(sizes(largest_side(&setting, machine.caches[0].usable(threads), sizes)))
}

/// Returns tiles in the manner of TTS: the vector loop is whole, and the other loops are as long as the last cache
/// holds a tile.
///
/// After Mehta, Garg, Trivedi, Yew (*TurboTiling: leveraging prefetching to boost performance of tiled codes*, 2016),
/// as the design of this crate sums it up: equal sizes of all loops but the last.
///
/// # Errors
///
/// [`TssError`] as [`select`](super::select).
pub fn tts(nest: &Nest, machine: &Machine, threads: u32, options: &TssOptions) -> Result<Vec<u64>, TssError> {
    let setting = Setting::new(nest, machine, threads, options)?;
    let sizes = |side: u64| {
        let mut sizes = cube(nest, side);
        if let (Some(last), Some(l)) = (sizes.last_mut(), nest.loops.last()) {
            *last = l.trips;
        }
        sizes
    };
    let usable = machine.caches.last().map_or(0, |cache| cache.usable(threads));
    Ok(sizes(largest_side(&setting, usable, sizes)))
}

/// Returns the combinations of sizes that [`select`](super::select) chooses from, with at most `most` sizes of each
/// loop, and at most a million: all if there are no more, or else ever sparser ones. They are neither tested for fit
/// nor for tasks, so an exhaustive search can measure what the rules leave out.
///
/// # Errors
///
/// [`TssError`] as [`select`](super::select).
pub fn candidates(
    nest: &Nest,
    machine: &Machine,
    threads: u32,
    options: &TssOptions,
    most: usize,
) -> Result<Candidates, TssError> {
    let setting = Setting::new(nest, machine, threads, options)?;
    Ok(Candidates::of(setting.space().iter().map(|sizes| sizes.thinned(most.min(MOST_LISTED))).collect()))
}

/// The largest side of which a tile's working set is within some bytes, or 1.
fn largest_side(setting: &Setting, usable: u64, sizes: impl Fn(u64) -> Vec<u64>) -> u64 {
    let longest = setting.nest.trips().into_iter().max().unwrap_or(1);
    let fits = |side: u64| reuse_of(&setting.subscripts, &sizes(side)).working_bytes <= usable;
    let (mut low, mut high) = (1, longest);
    while low < high {
        let middle = high - (high - low) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}
