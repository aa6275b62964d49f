//! Canvases of a replay, and the steps of its run.

/// The most points of a canvas: 64 by 64, which are told apart in a picture of a page's width.
pub const MOST_CELLS: usize = 4096;

/// A point of a canvas: the numbers of the canvas and of the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Index in [`Replay::canvases`](super::replay::Replay::canvases).
    pub canvas: usize,
    /// Index in [`Canvas::cells`].
    pub cell: usize,
}

/// A point's history over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The times that it was stored.
    pub stores: u32,
    /// The times that it was loaded.
    pub loads: u32,
    /// The step of its first store.
    pub first: Option<u32>,
    /// The step of its last store.
    pub last: Option<u32>,
}

/// The points of a Func or an image that the run touched: the box around them, first dimension across, second one
/// down. A Func of more dimensions has a canvas for each value of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canvas {
    /// The name of the Func or image, with the coordinates from the third dimension on: `sharp(_, _, 2)`.
    pub name: String,
    /// The smallest coordinates.
    pub min: [i64; 2],
    /// Columns and rows.
    pub extent: [usize; 2],
    /// The points, row by row.
    pub cells: Vec<Cell>,
}

impl Canvas {
    /// Returns the point at these coordinates.
    pub fn cell(&self, x: i64, y: i64) -> Option<&Cell> {
        let inside = |at: i64, dim: usize| {
            let from_first = usize::try_from(at.checked_sub(self.min[dim])?).ok()?;
            (from_first < self.extent[dim]).then_some(from_first)
        };
        let (column, row) = (inside(x, 0)?, inside(y, 1)?);
        self.cells.get(row * self.extent[0] + column)
    }

    /// The number of stores of all points.
    pub fn stores(&self) -> u64 {
        self.cells.iter().map(|cell| u64::from(cell.stores)).sum()
    }

    /// The number of loads of all points.
    pub fn loads(&self) -> u64 {
        self.cells.iter().map(|cell| u64::from(cell.loads)).sum()
    }

    /// Returns true if the run stores nothing to it.
    pub fn is_input(&self) -> bool {
        self.stores() == 0
    }

    /// The largest number of stores of a point.
    pub fn most_stores(&self) -> u32 {
        self.cells.iter().map(|cell| cell.stores).max().unwrap_or(0)
    }
}

/// A step of a run: a store with the loads before it, and the points whose storage ends after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The points that are loaded, in order.
    pub loads: Vec<Place>,
    /// The point that is stored; `None` for loads behind the last store.
    pub store: Option<Place>,
    /// The points whose storage ends or is taken by another point.
    pub ended: Vec<Place>,
    /// The task that does it: iterations of the outermost parallel loops, numbered from 1 in the order of one thread. 0
    /// outside of all tasks.
    pub task: u32,
    /// The innermost loop around it: an index in [`Replay::loops`](super::replay::Replay::loops).
    pub within: Option<usize>,
    /// The outermost loop of which an iteration began since the step before.
    pub fresh: Option<usize>,
}

/// A fold of storage, which a trace does not tell: coordinates of dimension 0 or 1 share storage modulo `factor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The Func.
    pub func: String,
    /// The dimension.
    pub dim: usize,
    /// The coordinates that are kept.
    pub factor: i64,
}
