//! Strided stores of neighbouring columns as dense stores of rows, transposed.

use super::strided_store::Part;
use super::tiles::Tile;
use halide_core::types::ScalarType;
use halide_ir::{Expr, Stmt, build};

/// The first of the stores `parts`, which follow each other, as stores of rows that do not go across a multiple of
/// `strides`, and how many of `parts` these are; `None` if they are too few.
pub(super) fn rows(parts: &[Part], strides: &[i64]) -> Option<(Stmt, usize)> {
    let Part { first, rest, family, value, .. } = parts.first()?;
    let elem = value.ty().scalar().filter(|ty| *ty != ScalarType::Bool)?;
    let left = strides.iter().map(|s| s - first.rem_euclid(*s)).fold(parts.len() as i64, i64::min);
    let tile = Tile::of(family.lanes, elem.bytes(), left)?;
    let columns = usize::from(tile.columns);
    let vectors = tile.to_rows(parts[..columns].iter().map(|p| p.value.clone()).collect());
    let store = |vector: &Expr, from: u16, row: u16, lanes: u16| {
        let offset = first + i64::from(row) * family.stride;
        let index = build::ramp(build::offset(rest.clone(), offset), build::int(1), lanes);
        let value = build::shuffle(vec![vector.clone()], (from..from + lanes).collect());
        Stmt::Store { buf: family.buf, index, value, mask: None }
    };
    let dense = family.stride == i64::from(tile.columns) && strides.is_empty();
    let mut stores = Vec::new();
    for chunk in 0..tile.chunks() {
        for (vector, v) in vectors.iter().zip(0..) {
            let (row, from) = (tile.first_row(v, chunk), chunk * tile.block);
            match dense {
                true => stores.push(store(vector, from, row, tile.block)),
                false => stores
                    .extend((0..tile.rows()).map(|r| store(vector, from + r * tile.columns, row + r, tile.columns))),
            }
        }
    }
    Some((build::block(stores), columns))
}
