//! Strided loads of neighbouring columns as dense loads of rows, transposed.

use super::tiles::Tile;
use crate::lower::code::polynomial::{Factors, Sum, sum_of};
use crate::lower::vectors::lanes::{self, Shape};
use crate::tuning::MOST_STRIDE;
use halide_core::types::ScalarType;
use halide_ir::hash::Map;
use halide_ir::{BufId, Expr, ExprKind, build};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Columns of memory that straight code reads: loads of lanes that are any distance apart. Those that differ by a
/// constant offset have one entry.
#[derive(Default)]
pub(super) struct Columns {
    offsets: Map<Family, BTreeSet<i64>>,
    /// The columns of tiles that were made, by the offset of the first.
    made: RefCell<Map<(Family, i64), Vec<Expr>>>,
}

/// The common key of loads that differ by a constant offset.
#[derive(PartialEq, Eq, Hash, Clone)]
struct Family {
    buf: BufId,
    lanes: u16,
    /// The terms of the distance of lanes, and its constant.
    stride: (Terms, i64),
    /// The base without its constant.
    base: Terms,
}

type Terms = Vec<(Factors, i64)>;

/// A load of lanes that are not close together.
struct Column {
    family: Family,
    stride: Expr,
    base: Sum,
    elem: ScalarType,
}

impl Columns {
    /// Adds `e` if it is a load of a column.
    pub(super) fn add(&mut self, e: &Expr) {
        if let Some(Column { family, base, .. }) = column(e) {
            self.offsets.entry(family).or_default().insert(base.constant);
        }
    }

    /// `e`, a load of a column, as a column of the tile of rows that it is part of; `None` if there is none. Rows have
    /// no elements but those that are loaded anyway, and do not go across the strides of the buffer in `rows`.
    pub(super) fn of_tile(&self, e: &Expr, rows: &Map<BufId, Vec<i64>>) -> Option<Expr> {
        let column = column(e)?;
        let strides = rows.get(&column.family.buf).map_or(&[][..], Vec::as_slice);
        let offsets = self.offsets.get(&column.family)?;
        let own = column.base.constant;
        let (first, last) = run_around(offsets, own, strides);
        let tile = Tile::of(e.lanes(), column.elem.bytes(), last - first + 1)?;
        let n = i64::from(tile.columns);
        // The tile that would go beyond the last element ends with it, and shares columns with the one before.
        let group = first + (own - first) / n * n;
        if last == group {
            return None;
        }
        let start = group.min(last + 1 - n);
        let mut made = self.made.borrow_mut();
        let columns = made.entry((column.family.clone(), start)).or_insert_with(|| {
            let is_dense = build::as_int(&column.stride) == Some(n) && strides.is_empty();
            tile.to_columns(blocks(tile, &column, start, is_dense))
        });
        columns.get((own - start) as usize).cloned()
    }
}

/// The first and the last of the consecutive `offsets` around `own`, in the same rows of all `strides`.
fn run_around(offsets: &BTreeSet<i64>, own: i64, strides: &[i64]) -> (i64, i64) {
    let is_along = |a: i64, b: i64| strides.iter().all(|s| a.div_euclid(*s) == b.div_euclid(*s));
    let end = |list: &mut dyn Iterator<Item = i64>| {
        let mut last = own;
        while let Some(o) = list.next().filter(|o| last.abs_diff(*o) == 1 && is_along(own, *o)) {
            last = o;
        }
        last
    };
    (end(&mut offsets.range(..own).rev().copied()), end(&mut offsets.range(own..).skip(1).copied()))
}

/// The blocks of rows of a tile whose first column is at `start`.
fn blocks(tile: Tile, column: &Column, start: i64, is_dense: bool) -> Vec<Expr> {
    let rest = sum_of(column.base.terms());
    let load = |row: u16, lanes: u16| {
        let distance = build::mul(column.stride.clone(), build::int(row.into()));
        let first = build::offset(build::add(rest.clone(), distance), start);
        build::load(column.family.buf, column.elem, build::ramp(first, build::int(1), lanes), None)
    };
    let vector = |v: u16| {
        let pieces = (0..tile.chunks()).flat_map(|chunk| {
            let first = tile.first_row(v, chunk);
            match is_dense {
                true => vec![load(first, tile.block)],
                false => (first..first + tile.rows()).map(|row| load(row, tile.columns)).collect(),
            }
        });
        build::shuffle(pieces.collect(), (0..tile.lanes).collect())
    };
    (0..tile.columns).map(vector).collect()
}

fn column(e: &Expr) -> Option<Column> {
    let ExprKind::Load { buf, index, mask: None } = e.kind() else { return None };
    let Shape::Ramp(base, stride) = lanes::shape(index) else { return None };
    if build::as_int(&stride).is_some_and(|s| s.unsigned_abs() <= MOST_STRIDE.unsigned_abs()) {
        return None;
    }
    let elem = e.ty().scalar().filter(|ty| *ty != ScalarType::Bool)?;
    let (base, distance) = (Sum::of(&base)?, Sum::of(&stride)?);
    let family = Family { buf: *buf, lanes: e.lanes(), stride: (distance.key(), distance.constant), base: base.key() };
    Some(Column { family, stride, base, elem })
}
