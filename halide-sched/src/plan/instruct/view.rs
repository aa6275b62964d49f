//! Boxes of buffers as the meaning of an instruction sees them.
//!
//! A closure that computes an instruction is handed boxes in the coordinates of the stage. An access of the stage and
//! one of the meaning have the same rows but for those that are zero ([`super::meaning`]), so that a box is the
//! meaning's image with its dimensions in another order, without those that the axes do not move along.

use super::meaning::Axes;
use crate::plan::affine::Affine;
use crate::schedule::Form;
use halide_core::buffer::{AnyBuffer, BufferError};

/// The change from the coordinates of a stage to those of a meaning.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// Dimensions of the box that no axis moves along, last one first.
    dropped: Vec<usize>,
    /// For each dimension of the meaning that axes move along, the dimension of what is left of the box.
    order: Vec<usize>,
    /// Dimensions of the meaning that no axis moves along, first one first.
    added: Vec<usize>,
    /// The first coordinates in the meaning.
    mins: Vec<i64>,
}

impl View {
    /// The view of an access; `None` if numbers are too large.
    pub(super) fn new(
        (form, meant, own): (&Form, &Axes, &Axes),
        wanted: &[Affine],
        found: &[Affine],
        extents: &[i64],
    ) -> Option<View> {
        let moves = |row: &Vec<i128>| row.iter().any(|step| *step != 0);
        let rows = |axes: &Axes, forms: &[Affine]| forms.iter().map(|form| axes.row(form)).collect::<Vec<_>>();
        let (wanted_rows, found_rows) = (rows(meant, wanted), rows(own, found));
        let left: Vec<usize> = (0..found.len()).filter(|dim| moves(&found_rows[*dim])).collect();
        let dropped = (0..found.len()).rev().filter(|dim| !moves(&found_rows[*dim])).collect();
        let added = (0..wanted.len()).filter(|dim| !moves(&wanted_rows[*dim])).collect();
        let mut order = Vec::new();
        for row in wanted_rows.iter().filter(|row| moves(row)) {
            let is_free = |at: &usize| !order.contains(at) && found_rows[left[*at]] == *row;
            order.push((0..left.len()).find(is_free)?);
        }
        let first = |(coordinate, row): (&Affine, &Vec<i128>)| {
            let starts = row.iter().zip(&form.starts).map(|(step, start)| step.checked_mul(i128::from(*start)));
            let (below, _) = span(row, extents)?;
            let at = starts.chain([Some(coordinate.offset), Some(below)]).try_fold(0i128, |a, b| a.checked_add(b?))?;
            i64::try_from(at).ok()
        };
        let mins = wanted.iter().zip(&wanted_rows).map(first).collect::<Option<_>>()?;
        Some(View { dropped, order, added, mins })
    }

    /// The elements of a box in the coordinates of the meaning.
    pub(super) fn to_meaning(&self, mut buffer: AnyBuffer) -> Result<AnyBuffer, BufferError> {
        for dim in &self.dropped {
            buffer = buffer.slice(*dim, buffer.min(*dim))?;
        }
        buffer = buffer.transpose(&self.order)?;
        for dim in &self.added {
            buffer = buffer.embed(*dim, 0)?;
        }
        buffer.with_mins(&self.mins)
    }

    /// The elements of the meaning's image as a box that begins at `mins`.
    pub(super) fn to_box(&self, mut buffer: AnyBuffer, mins: &[i64]) -> Result<AnyBuffer, BufferError> {
        for dim in self.added.iter().rev() {
            buffer = buffer.slice(*dim, buffer.min(*dim))?;
        }
        let position = |at: usize| self.order.iter().position(|from| *from == at).unwrap_or(at);
        buffer = buffer.transpose(&(0..self.order.len()).map(position).collect::<Vec<_>>())?;
        for dim in self.dropped.iter().rev() {
            buffer = buffer.embed(*dim, 0)?;
        }
        buffer.with_mins(mins)
    }
}

/// The least distance of a coordinate from that of the first iteration of all axes, which is not above 0, and the
/// number of coordinates from there to the greatest one.
pub(super) fn span(row: &[i128], extents: &[i64]) -> Option<(i128, i128)> {
    let (mut below, mut extent) = (0i128, 1i128);
    for (step, count) in row.iter().zip(extents) {
        let last = step.checked_mul(i128::from(count - 1))?;
        below = below.checked_add(last.min(0))?;
        extent = extent.checked_add(last.checked_abs()?)?;
    }
    Some((below, extent))
}
