//! The predicted cycles per point of a tiled nest but for misses of caches: its vectors with those at the ends of
//! tiles, straddled lines, and entries of rows or of blocks.

use super::nest::{AccessKind, Array};
use super::num_vec::{Rows, straddled};
use super::setting::Setting;
use crate::tuning::{
    BLOCK_CYCLES, BROADCAST_LOADS, LATENCY, MASKED_BLOCK, MOST_SHUFFLED, ROW_CYCLES, STRADDLED_LOAD, STRADDLED_STORE,
};
use halide_ir::machine::Vector;

/// The time of a point but for misses of caches.
#[derive(Clone, Copy)]
pub(super) struct RowPrice {
    /// Cycles of arithmetic.
    pub(super) compute: f64,
    /// Cycles of accesses to the first cache, and of entries.
    pub(super) access: f64,
}

/// The shares of accesses to an array that touch two lines.
#[derive(Clone, Copy, Default)]
pub(super) struct Straddled {
    loads: f64,
    stores: f64,
}

/// The size of a block, in units that accesses are shared by.
struct Written {
    /// The loop beside the vector loop, with its iterations.
    along: Option<(usize, f64)>,
    vectors: f64,
    /// The iterations of reductions for which stored elements stay in registers.
    terms: f64,
}

impl Written {
    /// The part of the accesses to an array that are left.
    fn share(&self, setting: &Setting, array: &Array) -> f64 {
        let last = setting.nest.loops.len() - 1;
        let is_kept = (0..last).all(|index| !setting.nest.loops[index].is_reduction() || !array.uses(index));
        let rows = self.along.filter(|(along, _)| !array.uses(*along)).map_or(1.0, |(_, rows)| rows);
        let vectors = if array.uses(last) { 1.0 } else { self.vectors };
        let terms = if is_kept { self.terms } else { 1.0 };
        1.0 / (rows * vectors * terms)
    }
}

/// Returns the price of rows of a size, or of blocks. `straddled` has the shares of each array.
pub(super) fn row_price(setting: &Setting, sizes: &[u64], straddled: &[Straddled]) -> RowPrice {
    let (nest, vector) = (setting.nest, &setting.machine.vector);
    let (n, last) = (nest.loops.last().map_or(1, |l| l.trips), nest.loops.len() - 1);
    let size = sizes.last().copied().unwrap_or(1).max(1);
    let lanes = u64::from(setting.lanes);
    let written = written(setting, sizes);
    let per_point = match setting.options.block {
        None => ((n / size) as f64 * size.div_ceil(lanes) as f64 + (n % size).div_ceil(lanes) as f64) / n as f64,
        Some(_) => masked(setting, sizes) / lanes as f64,
    };
    let (mut loads, mut stores) = (0.0, 0.0);
    for (array, straddled) in nest.arrays.iter().zip(straddled) {
        let share = written.as_ref().map_or(1.0, |written| written.share(setting, array));
        let accesses = registers(setting, array) * per_point * share;
        if array.access != AccessKind::Write {
            loads += load_cost(setting, array) * accesses * array.references() as f64;
        }
        if array.is_written() {
            stores += accesses;
        }
        if array.step(last) == Some(1) {
            loads += STRADDLED_LOAD * straddled.loads * share;
            stores += STRADDLED_STORE * straddled.stores * share;
        }
    }
    let operations = setting.options.operations.max(0.0) * per_point;
    let (compute, entries) = match &written {
        None => (0.0, ROW_CYCLES * n.div_ceil(size) as f64 / n as f64),
        Some(Written { along, vectors, terms }) => {
            // Sums wait for the ones before them, and blocks for their first terms.
            let sums = along.map_or(1.0, |(_, rows)| rows) * vectors;
            (LATENCY * per_point / sums, BLOCK_CYCLES * per_point / (sums * terms))
        }
    };
    let issued = over(loads + stores + operations, vector.issue);
    let access = over(loads, vector.loads).max(over(stores, vector.stores)).max(issued);
    RowPrice { compute: compute.max(over(operations, vector.fmas)), access: access + entries }
}

/// Returns the time of blocks over that of as many points in whole ones: of blocks at the ends of tiles, and on the
/// lines where conditions begin to hold, masks leave points out.
fn masked(setting: &Setting, sizes: &[u64]) -> f64 {
    let blocks = setting.written_out(sizes);
    let trips = setting.nest.trips();
    let at_ends = |index: usize| {
        let (size, block) = (sizes[index].max(1), blocks[index].max(1));
        let of = |size: u64| (size / block) as f64 + if size.is_multiple_of(block) { 0.0 } else { MASKED_BLOCK };
        let (tiles, rest) = (trips[index] / size, trips[index] % size);
        (tiles as f64 * of(size) + of(rest)) * block as f64 / trips[index] as f64
    };
    let ends: f64 = (0..sizes.len()).filter(|index| blocks[*index] > 1).map(at_ends).product();
    let slants = setting.nest.slants.iter();
    slants.fold(ends, |all, (a, b)| all * slanted((trips[*a], trips[*b]), (blocks[*a], blocks[*b])))
}

/// Returns the time of a triangle in blocks over that of as many points in whole ones. Its line meets a block for each
/// that there are along either loop; half of such a block is in the triangle.
pub(crate) fn slanted(trips: (u64, u64), block: (u64, u64)) -> f64 {
    if block.0.max(block.1) <= 1 {
        return 1.0;
    }
    let (trips, block) = ((trips.0 as f64, trips.1 as f64), (block.0 as f64, block.1 as f64));
    let met = trips.0 * block.1 + trips.1 * block.0;
    1.0 + (MASKED_BLOCK - 0.5) * met / (trips.0 * trips.1 / 2.0)
}

/// Returns the block of tiles of these sizes; `None` without blocks.
fn written(setting: &Setting, sizes: &[u64]) -> Option<Written> {
    let block = setting.options.block?;
    let out = setting.written_out(sizes);
    let vectors = out.last().map_or(1, |elements| elements.div_ceil(u64::from(setting.lanes))) as f64;
    let along = block.along.map(|along| (along, out[along] as f64));
    let reductions = (0..sizes.len()).filter(|index| setting.nest.loops[*index].is_reduction());
    Some(Written { along, vectors, terms: reductions.map(|index| sizes[index] as f64).product() })
}

/// Returns the registers that a vector of an array's elements takes.
fn registers(setting: &Setting, array: &Array) -> f64 {
    let bits = u64::from(setting.lanes) * array.bytes() * 8;
    bits.div_ceil(u64::from(setting.machine.vector.bits).max(8)) as f64
}

/// Returns the loads of a register's elements of an array by their distance along the vector loop. One element for all
/// lanes is loaded once a row, but for blocks, in which rows are short.
fn load_cost(setting: &Setting, array: &Array) -> f64 {
    match array.step(setting.nest.loops.len() - 1).map(i64::unsigned_abs) {
        Some(0) if setting.options.block.is_none() => 0.0,
        Some(0) => broadcast(&setting.machine.vector) / registers(setting, array),
        Some(step) if step <= MOST_SHUFFLED => step as f64,
        _ => f64::from(setting.lanes) / registers(setting, array),
    }
}

/// Returns the time of a load of one element for all lanes over that of a vector.
pub(crate) fn broadcast(vector: &Vector) -> f64 {
    (vector.loads / BROADCAST_LOADS).clamp(0.0, 1.0)
}

/// Returns the loads and the stores per point of each array that touch two lines: of dense ones.
pub(super) fn straddled_shares(setting: &Setting, size: u64) -> Vec<Straddled> {
    let last = setting.nest.loops.len() - 1;
    let is_dense = |array: &Array| array.step(last) == Some(1);
    let of =
        |(index, array)| if is_dense(array) { straddled_share(setting, index, size) } else { Straddled::default() };
    setting.nest.arrays.iter().enumerate().map(of).collect()
}

fn straddled_share(setting: &Setting, index: usize, size: u64) -> Straddled {
    let array = &setting.nest.arrays[index];
    let line = u16::try_from(setting.line / array.bytes().max(1)).unwrap_or(u16::MAX).max(1);
    let in_register = u64::from(setting.machine.vector.bits) / 8 / array.bytes().max(1);
    let vf = u16::try_from(in_register).unwrap_or(u16::MAX).clamp(1, setting.lanes);
    let last = array.subscripts.len().saturating_sub(1);
    let share = |constant: i64| {
        let rows = Rows { base: array.base.saturating_add(constant), vf, ..array_rows(setting, index) };
        straddled(&rows, line, size) as f64 / (rows.n as f64 * rows.rows as f64)
    };
    let shares: Vec<f64> = array.constants(last).map(share).collect();
    let loads = if array.access == AccessKind::Write { 0.0 } else { shares.iter().sum() };
    let stores = if array.is_written() { shares[0] } else { 0.0 };
    Straddled { loads, stores }
}

/// Returns the rows of a dense array along the vector loop, as many as can be counted with all their elements.
pub(super) fn array_rows(setting: &Setting, array: usize) -> Rows {
    let trips = setting.nest.trips();
    let rows = setting.subscripts[array].rows(&trips);
    let n = trips.last().copied().unwrap_or(1);
    let Array { ld, base, .. } = setting.nest.arrays[array];
    Rows { n, rows: rows.min((u64::MAX / n.max(1)).max(1)), ld, base, vf: setting.lanes }
}

/// Returns `amount / rate`, where no rate is too small to divide by.
pub(super) fn over(amount: f64, rate: f64) -> f64 {
    amount / rate.max(1e-3)
}
