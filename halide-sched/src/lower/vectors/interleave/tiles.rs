//! Transposes of tiles of registers: blocks of rows become columns, and columns blocks of rows, by stages of shuffles
//! of two vectors each.
//!
//! All vectors have `lanes` lanes, which are cut into chunks of `block` lanes; no lane leaves its chunk, so that a
//! processor that permutes inside of 128 bits only does a stage by one instruction for each register. A stage is a
//! perfect shuffle of all `columns` vectors: lanes of the vector `i` and of the one half of all further take turns.
//! With the number of a vector before the number of a lane in its chunk, it rotates the bits of both numbers together
//! by one place to the left. In blocks of rows these bits are the row's and then the column's; in columns it is the
//! other way round, so as many stages as the row has bits go there, and as many as the column has bits back (Stone,
//! Parallel Processing with the Perfect Shuffle, 1971).

use halide_ir::{Expr, build};

/// The form of a tile. All three are powers of two, but for the number of chunks in `lanes`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tile {
    /// Rows, which are lanes of a column.
    pub(super) lanes: u16,
    /// Lanes of a chunk.
    pub(super) block: u16,
    /// Columns, at most as many as `block`.
    pub(super) columns: u16,
}

impl Tile {
    /// The form of the largest tile for vectors of `lanes` lanes of `bytes` bytes, of up to `columns` columns; `None`
    /// if these are too few for one, or the lanes of two vectors too many to be counted.
    pub(super) fn of(lanes: u16, bytes: usize, columns: i64) -> Option<Tile> {
        let block = (16 / bytes.max(1) as u16).min(1 << lanes.trailing_zeros().min(4));
        if block < 2 || columns < 2 || lanes.checked_mul(2).is_none() {
            return None;
        }
        let columns = columns.min(i64::from(block)) as u16;
        Some(Tile { lanes, block, columns: 1 << columns.ilog2() })
    }

    /// Rows of one vector in each of its chunks.
    pub(super) fn rows(self) -> u16 {
        self.block / self.columns
    }

    /// The row of lane 0 of chunk `chunk` of the vector `vector` of blocks of rows.
    pub(super) fn first_row(self, vector: u16, chunk: u16) -> u16 {
        chunk * self.block + vector * self.rows()
    }

    /// The number of chunks of a vector.
    pub(super) fn chunks(self) -> u16 {
        self.lanes / self.block
    }

    /// The columns of a tile that is given by blocks of rows.
    pub(super) fn to_columns(self, blocks: Vec<Expr>) -> Vec<Expr> {
        (0..self.block.ilog2()).fold(blocks, |vectors, _| self.stage(&vectors))
    }

    /// The blocks of rows of a tile that is given by columns.
    pub(super) fn to_rows(self, columns: Vec<Expr>) -> Vec<Expr> {
        (0..self.columns.ilog2()).fold(columns, |vectors, _| self.stage(&vectors))
    }

    fn stage(self, vectors: &[Expr]) -> Vec<Expr> {
        let (low, high) = vectors.split_at(vectors.len() / 2);
        let turns = |a: &Expr, b: &Expr, first: u16| {
            let pick = |i: u16| i / self.block * self.block + first + i % self.block / 2 + i % 2 * self.lanes;
            build::shuffle(vec![a.clone(), b.clone()], (0..self.lanes).map(pick).collect())
        };
        low.iter().zip(high).flat_map(|(a, b)| [turns(a, b, 0), turns(a, b, self.block / 2)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_ir::ExprKind;

    /// The elements that a vector's lanes are, of those that `names` numbers.
    fn lanes_of(e: &Expr, names: &[Expr], numbers: &[Vec<u32>]) -> Vec<u32> {
        if let Some(at) = names.iter().position(|n| n == e) {
            return numbers[at].clone();
        }
        let ExprKind::Shuffle(vectors, picks) = e.kind() else { panic!("{e:?}") };
        let all: Vec<u32> = vectors.iter().flat_map(|v| lanes_of(v, names, numbers)).collect();
        picks.iter().map(|p| all[*p as usize]).collect()
    }

    #[test]
    fn tiles_are_transposed_and_back() {
        let name = |i: u16, lanes| {
            build::typed_sym(
                halide_ir::Sym::Temp(i.into()),
                halide_ir::Type::data(halide_core::types::U8).with_lanes(lanes),
            )
        };
        let mut forms = 0;
        for (lanes, bytes) in
            [(16, 1), (32, 1), (8, 1), (4, 1), (24, 1), (8, 2), (16, 2), (6, 2), (4, 4), (12, 4), (8, 8)]
        {
            for most in 2..=17 {
                let tile = Tile::of(lanes, bytes, most).unwrap();
                assert!(i64::from(tile.columns) <= most && lanes % tile.block == 0, "{tile:?}");
                let number = |row: u16, column: u16| u32::from(row) << 16 | u32::from(column);
                let names: Vec<Expr> = (0..tile.columns).map(|i| name(i, lanes)).collect();
                let blocks: Vec<Vec<u32>> = (0..tile.columns)
                    .map(|v| {
                        let chunk = |c| {
                            let first = tile.first_row(v, c);
                            (first..first + tile.rows()).flat_map(move |r| (0..tile.columns).map(move |k| (r, k)))
                        };
                        (0..tile.chunks()).flat_map(chunk).map(|(r, k)| number(r, k)).collect()
                    })
                    .collect();
                let columns: Vec<Vec<u32>> =
                    (0..tile.columns).map(|k| (0..lanes).map(|r| number(r, k)).collect()).collect();
                let made = tile.to_columns(names.clone());
                let made: Vec<Vec<u32>> = made.iter().map(|e| lanes_of(e, &names, &blocks)).collect();
                assert_eq!(made, columns, "{tile:?}");
                let made = tile.to_rows(names.clone());
                let made: Vec<Vec<u32>> = made.iter().map(|e| lanes_of(e, &names, &columns)).collect();
                assert_eq!(made, blocks, "{tile:?}");
                forms += 1;
            }
        }
        assert_eq!(forms, 11 * 16);
        assert_eq!(Tile::of(7, 4, 8), None);
        assert_eq!(Tile::of(8, 4, 1), None);
        assert_eq!(Tile::of(1 << 15, 4, 8), None);
    }
}
