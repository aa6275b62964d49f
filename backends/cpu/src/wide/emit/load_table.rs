//! The ways to load lanes from memory: the indices, masks and widths that each is for, and its cost.

use super::kernel::Emit;
use super::places::Place;
use super::value::Parts;
use crate::shared::lane::Lane;
use crate::shared::linear::Linear;
use crate::tuning::DENSE_STRIDE;
use crate::wide::interface::Emitted;
use halide_ir::{BufId, Expr};

/// A load from memory.
pub(super) struct Load<'e> {
    pub(super) e: &'e Expr,
    pub(super) buf: BufId,
    pub(super) place: Place,
    pub(super) lane: Lane,
    pub(super) lanes: usize,
    pub(super) index: Linear,
    pub(super) mask: Option<&'e Expr>,
}

/// The elements of lanes: how they follow from the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    /// There is one lane.
    One,
    /// Each is the next one.
    Dense,
    /// All are the same.
    Same,
    /// Each is a few elements from the one before.
    Near,
    /// Each is at one distance from the one before, which is long or not known.
    Far,
    /// Each is where data says, or limits.
    Data,
}

impl Load<'_> {
    fn follow(&self) -> Follow {
        let step = self.index.step;
        match (self.lanes, self.index.is_affine(), step) {
            (1, ..) => Follow::One,
            (_, true, 1) => Follow::Dense,
            (_, true, 0) => Follow::Same,
            (_, true, _) if step.unsigned_abs() <= DENSE_STRIDE => Follow::Near,
            _ if self.index.vectors.is_empty() => Follow::Far,
            _ => Follow::Data,
        }
    }
}

/// Widths of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Widths {
    /// 8 and 16 bits: the machine gathers nothing so narrow.
    Small,
    /// 32 and 64 bits.
    Large,
    All,
}

/// A way to load lanes.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) follow: &'static [Follow],
    /// True if it is for loads with a mask, else for those without.
    pub(super) masked: bool,
    pub(super) widths: Widths,
    /// The operations of the machine for a register of eight lanes, by reasoning: loads, and what brings their elements
    /// and their indices into place.
    pub(super) cost: usize,
    pub(super) emit: Way,
}

/// The rows for a load, the cheapest first.
pub(super) fn rows(load: &Load<'_>) -> impl Iterator<Item = &'static Row> + use<> {
    let (follow, masked, bits) = (load.follow(), load.mask.is_some(), load.lane.bits());
    ROWS.iter().filter(move |row| row.is_for(follow, masked, bits))
}

impl Row {
    fn is_for(&self, follow: Follow, masked: bool, bits: u32) -> bool {
        let width = match self.widths {
            Widths::Small => bits < 32,
            Widths::Large => bits >= 32,
            Widths::All => true,
        };
        width && self.masked == masked && self.follow.contains(&follow)
    }
}

use Follow::*;
use Widths::*;

/// The ways, those of less cost first.
static ROWS: &[Row] = &[
    row("one element", &[One], 1, |e, load| {
        let mem = e.start_of(load)?;
        Ok(Some(Parts::single(load.lane, e.load_one(load.lane, mem)?)))
    }),
    row("whole registers", &[Dense], 1, |e, load| {
        let mem = e.start_of(load)?;
        let (view, count) = e.shape(load.lane, load.lanes);
        e.load_dense(load.lane, load.lanes, view, count, mem).map(Some)
    }),
    row("one element in all lanes", &[Same], 1, |e, load| e.load_same(load).map(Some)),
    row("registers under a mask", &[One, Dense], 1, |e, load| {
        let mem = e.start_of(load)?;
        let Some(mask) = e.mask_of(load)? else { return Ok(None) };
        e.load_masked(load.lane, load.lanes, mem, &mask).map(Some)
    })
    .masked(),
    row("table in registers", &[Data], 2, |e, load| e.look_up_in_registers(load)).of(Small),
    row("lanes picked from whole registers", &[Near], 6, |e, load| {
        let mem = e.start_of(load)?;
        e.load_span(load.lane, load.lanes, mem, load.index.step).map(Some)
    }),
    row("boundary", &[Data], 9, |e, load| e.load_clamped(load, None)),
    row("boundary under a mask", &[Data], 10, |e, load| {
        let live = load.mask.and_then(|mask| e.first_of_mask(mask, load.lanes));
        let Some(live) = live else { return Ok(None) };
        let Some(parts) = e.load_clamped(load, Some(&live))? else { return Ok(None) };
        e.zero_elsewhere(parts, load.mask, load.lanes).map(Some)
    })
    .masked(),
    row("two neighbours for each lane", &[Far, Data], 12, |e, load| e.load_pair(load)).of(Large),
    row("table in memory", &[Far, Data], 18, |e, load| e.look_up(load)).of(Small),
    row("scalarised gather", &[Far, Data], 21, |e, load| e.load_scalarised(load).map(Some)).of(Large),
    row("gather", &[Same, Near, Far, Data], 30, |e, load| {
        let (mem, mask) = (e.start_of(load)?, e.mask_of(load)?);
        e.gather(load.lane, load.lanes, mem, &load.index, mask.as_ref()).map(Some)
    })
    .masked()
    .of(Large),
    row("element by element", &[Far, Data], 32, |e, load| e.load_each(load).map(Some)).of(Small),
    row("element by element under a mask", &[Same, Near, Far, Data], 48, |e, load| e.load_each(load).map(Some))
        .masked()
        .of(Small),
];

/// The emission of a load; `None` if the index is of another kind than the way is for.
type Way = fn(&mut Emit<'_>, &Load<'_>) -> Emitted<Option<Parts>>;

const fn row(name: &'static str, follow: &'static [Follow], cost: usize, emit: Way) -> Row {
    Row { name, follow, masked: false, widths: All, cost, emit }
}

impl Row {
    const fn masked(mut self) -> Row {
        self.masked = true;
        self
    }
    const fn of(mut self, widths: Widths) -> Row {
        self.widths = widths;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every load has a way that takes it whatever its index is, which is the dearest.
    #[test]
    fn every_load_has_a_row_and_the_cheapest_is_tried_first() {
        assert!(ROWS.is_sorted_by_key(|row| row.cost));
        let sometimes = ["table in registers", "boundary", "boundary under a mask", "two neighbours for each lane"];
        let fails = |row: &Row| sometimes.contains(&row.name) || row.name == "table in memory";
        for follow in [One, Dense, Same, Near, Far, Data] {
            for (masked, bits) in [(false, 8), (false, 16), (false, 32), (true, 8), (true, 64)] {
                let rows: Vec<&Row> = ROWS.iter().filter(|row| row.is_for(follow, masked, bits)).collect();
                let Some(last) = rows.last() else { panic!("nothing loads {follow:?}, {masked}, {bits} bits") };
                assert!(!fails(last), "{follow:?}: {}", last.name);
                assert_eq!(rows.iter().filter(|row| !fails(row)).count(), 1, "{follow:?}, {masked}, {bits} bits");
            }
        }
    }
}
