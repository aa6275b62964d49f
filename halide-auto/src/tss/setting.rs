//! A question that was checked: a nest, a machine, threads and options, with what follows from them.

use super::error::TssError;
use super::nest::{LoopKind, Nest};
use super::reuse::{Reuse, Subscripts, subscripts};
use super::space::Sizes;
use crate::tuning::{MOST_LINE, MOST_TILINGS};
use halide_ir::machine::Machine;

/// The quantity that a choice optimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fidelity {
    /// The paper's: the vector loop by NUM_VEC alone, then the other loops by reuse.
    Paper,
    /// Predicted cycles per point, over all loops at once.
    #[default]
    Corrected,
}

/// The cache that must hold the working set of a tile. The reuse distance always fits the tile's own level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum FitRule {
    /// The same one.
    #[default]
    ThisLevel,
    /// The next one, or memory behind the last.
    NextLevel,
}

/// A part of a tile that is written out, so that what it stores stays in registers while reductions go on.
///
/// In a tile with blocks, loops of reductions are the innermost ones, then come blocks along rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The number of the loop beside the vector loop of which some iterations are written out, if one is.
    pub along: Option<usize>,
    /// The iterations of it, at least 1.
    pub rows: u64,
    /// The vectors of each, at least 1.
    pub vectors: u64,
}

/// Wishes for a choice of tiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TssOptions {
    /// The quantity to optimise.
    pub fidelity: Fidelity,
    /// The reading of the paper's fit rule, which its prose leaves open.
    pub fit: FitRule,
    /// The lanes of a vector; `None` for a register of the widest elements.
    pub lanes: Option<u16>,
    /// The vector instructions of arithmetic for each vector of points.
    pub operations: f64,
    /// The part of a tile that is written out; `None` for rows of vectors, as in the paper.
    pub block: Option<Block>,
    /// The most tilings to price before the search goes on from the best one.
    pub tilings: usize,
}

impl Default for TssOptions {
    fn default() -> TssOptions {
        TssOptions {
            fidelity: Fidelity::default(),
            fit: FitRule::default(),
            lanes: None,
            operations: 1.0,
            block: None,
            tilings: MOST_TILINGS,
        }
    }
}

/// A question that can be answered.
#[derive(Clone, Debug)]
pub(super) struct Setting<'q> {
    pub(super) nest: &'q Nest,
    pub(super) machine: &'q Machine,
    /// At least 1.
    pub(super) threads: u32,
    pub(super) options: &'q TssOptions,
    /// The lanes of a vector, at least 1.
    pub(super) lanes: u16,
    /// The bytes of a line of the first cache.
    pub(super) line: u64,
    /// The subscripts of the nest's arrays.
    pub(super) subscripts: Vec<Subscripts>,
}

impl<'q> Setting<'q> {
    /// Checks a question. No threads count as one.
    pub(super) fn new(
        nest: &'q Nest,
        machine: &'q Machine,
        threads: u32,
        options: &'q TssOptions,
    ) -> Result<Setting<'q>, TssError> {
        nest.check()?;
        let Some(first) = machine.caches.first() else { return Err(TssError::NoCache) };
        if let Some(cache) = machine.caches.iter().find(|c| c.line == 0 || c.line > MOST_LINE) {
            return Err(TssError::Line { bytes: cache.line, most: MOST_LINE });
        }
        let register = u64::from(machine.vector.bits) / 8 / nest.widest();
        let lanes = options.lanes.unwrap_or(u16::try_from(register.max(1)).unwrap_or(u16::MAX));
        if lanes == 0 {
            return Err(TssError::NoLanes);
        }
        if options.block.and_then(|block| block.along).is_some_and(|along| along >= nest.loops.len() - 1) {
            return Err(TssError::Block { loops: nest.loops.len() });
        }
        let (threads, line) = (threads.max(1), u64::from(first.line));
        Ok(Setting { nest, machine, threads, options, lanes, line, subscripts: subscripts(nest) })
    }

    /// Checks that there is a size for each loop, and brings sizes into the range from 1 to the loop's trips.
    pub(super) fn sizes(&self, sizes: &[u64]) -> Result<Vec<u64>, TssError> {
        let loops = &self.nest.loops;
        if sizes.len() != loops.len() {
            return Err(TssError::Sizes { sizes: sizes.len(), loops: loops.len() });
        }
        Ok(loops.iter().zip(sizes).map(|(l, size)| l.allowed(*size)).collect())
    }

    /// Returns the sizes that each loop may have: any of the first loop, whole lines of those in the middle, and whole
    /// vectors of the last one. A loop may always be left whole if it is shorter, and the last one however long. Loops
    /// whose order tiles would change are whole. With blocks, sizes are whole blocks, and loops of reductions may be
    /// whole, too.
    ///
    /// Lines are a reason in loops along rows of some array. The paper's kernels have no other ones in the middle, so
    /// it asks it of all; by cycles, the others may have any size.
    pub(super) fn space(&self) -> Vec<Sizes> {
        let last = self.nest.loops.len() - 1;
        let in_line = (self.line / self.nest.widest()).max(1);
        let is_along_rows = |index| self.nest.arrays.iter().any(|a| a.step(index).is_some_and(|step| step != 0));
        let is_whole = |index: usize| self.nest.loops[index].kind == LoopKind::Ordered;
        let written = self.written_out(&self.nest.trips());
        let sizes = |(index, trips): (usize, u64)| match index {
            _ if is_whole(index) => Sizes::multiples(trips, trips),
            _ if index == last => Sizes::multiples_or_all(written[last].max(u64::from(self.lanes)), trips),
            _ if self.options.block.is_some() && self.nest.loops[index].is_reduction() => {
                Sizes::multiples_or_all(in_line, trips)
            }
            _ if written[index] > 1 => Sizes::multiples(written[index], trips),
            0 => Sizes::multiples(1, trips),
            _ if self.options.fidelity == Fidelity::Paper || is_along_rows(index) => Sizes::multiples(in_line, trips),
            _ => Sizes::multiples(1, trips),
        };
        (0..).zip(self.nest.trips()).map(sizes).collect()
    }

    /// Returns the part of a tile that is written out: the iterations of each loop. Without blocks it is one iteration.
    pub(super) fn written_out(&self, sizes: &[u64]) -> Vec<u64> {
        let mut block = vec![1; sizes.len()];
        let Some(Block { along, rows, vectors }) = self.options.block else { return block };
        if let Some(along) = along {
            block[along] = rows.clamp(1, sizes[along].max(1));
        }
        if let (Some(block), Some(size)) = (block.last_mut(), sizes.last()) {
            *block = vectors.max(1).saturating_mul(u64::from(self.lanes)).min(*size);
        }
        block
    }

    /// Returns the loops in a tile, innermost first.
    pub(super) fn inwards(&self) -> Vec<usize> {
        let all = (0..self.nest.loops.len()).rev();
        if self.options.block.is_none() {
            return all.collect();
        }
        let (reductions, others): (Vec<usize>, Vec<usize>) =
            all.partition(|index| self.nest.loops[*index].is_reduction());
        reductions.into_iter().chain(others).collect()
    }

    /// Returns the number of tasks that tiles of these sizes make.
    pub(super) fn tasks(&self, sizes: &[u64]) -> u64 {
        let parallel = self.nest.loops.iter().zip(sizes).filter(|(l, _)| l.kind == LoopKind::Parallel);
        parallel.fold(1, |all: u64, (l, size)| all.saturating_mul(l.trips.div_ceil((*size).max(1))))
    }

    /// Returns the number of tasks that tiles must make at least: more than two a thread, or all that the smallest
    /// tiles make. By cycles, one thread needs no tasks.
    pub(super) fn least_tasks(&self, space: &[Sizes]) -> u64 {
        if self.threads == 1 && self.options.fidelity == Fidelity::Corrected {
            return 1;
        }
        (2 * u64::from(self.threads) + 1).min(self.tasks(&self.smallest(space, 1)))
    }

    /// Returns the smallest size of each loop, but no smaller than `last` of the last loop.
    pub(super) fn smallest(&self, space: &[Sizes], last: u64) -> Vec<u64> {
        let mut smallest: Vec<u64> = space.iter().map(|sizes| sizes.get(0)).collect();
        if let Some(size) = smallest.last_mut() {
            *size = last.max(*size);
        }
        smallest
    }

    /// Returns the first level, 0 next to the core, whose cache a tile fits. Its longest reuse distance must be shorter
    /// than what a thread may use there, and its working set as [`FitRule`] says.
    pub(super) fn level(&self, reuse: &Reuse) -> Option<usize> {
        let caches = &self.machine.caches;
        let usable = |level: usize| caches.get(level).map_or(u64::MAX, |c| c.usable(self.threads));
        let behind = match self.options.fit {
            FitRule::ThisLevel => 0,
            FitRule::NextLevel => 1,
        };
        (0..caches.len())
            .find(|x| reuse.distance_bytes < usable(*x) && reuse.working_bytes <= usable(x.saturating_add(behind)))
    }
}
