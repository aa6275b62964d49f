//! Paired gathers: `a[i]` and `a[i + 1]` become one load of 64 bits for each lane, as interpolations have them.
//!
//! ```text
//! a[v] * w + a[v + 1] * u   with an address for each lane:   one load of 64 bits for each lane, then even and odd halves
//! ```
//!
//! A pair must be loaded in any case: both loads are in code that runs from its start to its end, with no store between
//! them. Nothing else is touched.

use super::super::interface::Emitted;
use super::super::machine::{Mem, View};
use super::kernel::Emit;
use super::load_table::Load;
use super::neighbours::{Found, Neighbour};
use super::value::{Parts, Val};
use crate::shared::lane::Lane;
use halide_ir::Stmt;

impl Emit<'_> {
    /// Emits a statement, of which the code that runs from its start to its end has neighbours of its own: what is
    /// loaded in a branch is not loaded outside of it.
    pub(super) fn with_neighbours(&mut self, body: &Stmt) -> Emitted<()> {
        let outside = std::mem::take(&mut self.neighbours);
        self.note_neighbours(body);
        let made = self.stmt(body);
        self.neighbours = outside;
        made
    }
    fn note_neighbours(&mut self, body: &Stmt) {
        let mut found = Found::default();
        found.stmt(body);
        for group in found.groups.into_values() {
            let mut rest = group.into_iter().peekable();
            while let Some((at, low)) = rest.next() {
                if let Some((_, high)) = rest.next_if(|(next, _)| *next == at + 1) {
                    let below = Neighbour { load: low.clone(), above: false };
                    self.neighbours.0.insert(low, Neighbour { load: high.clone(), above: true });
                    self.neighbours.0.insert(high, below);
                }
            }
        }
    }
    /// Both loads of two neighbours, of which `e` is one; `None` if it has none here.
    pub(super) fn load_pair(&mut self, of: &Load<'_>) -> Emitted<Option<Parts>> {
        let Load { e, lanes, ref index, .. } = *of;
        let Some(Neighbour { load, above }) = self.neighbours.0.get(e).cloned() else { return Ok(None) };
        let (here, home) = (self.cursor, self.home(&load));
        let Some(elem) = e.ty().scalar().map(Lane::of_data) else { return Ok(None) };
        // The neighbour's level is that of `e`: were it further in, it would be loaded where it need not be.
        if home != here || self.memo.get(&load).is_some() {
            return Ok(None);
        }
        let first = self.start_of(of)?;
        let lowest = if above { first } else { first.plus(-(elem.bytes() as i32)) };
        let (mut each, table) = self.lane_indices(lanes, lowest, index)?;
        let both = self.collect_by(Lane::I64, lanes, |e, i| {
            let index = e.index_of(&mut each, i)?;
            Ok(Mem { index: Some((index, View::G64, elem.bytes() as u8)), ..table })
        })?;
        let mut half = |odd: usize| {
            let picks: Vec<usize> = (0..lanes).map(|i| 2 * i + odd).collect();
            self.pick(elem, &both.regs, both.view, &picks)
        };
        let (low, high) = (half(0)?, half(1)?);
        let (this, other) = if above { (low, high) } else { (high, low) };
        self.memo.put_at(&load, Val::Lanes(other), home);
        Ok(Some(this))
    }
}
