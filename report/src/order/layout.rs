//! The places of canvases in a picture: side by side, equal coordinates of the second dimension at the same height.

use super::canvas::Canvas;
use super::colour::Colour;
use super::raster::{Raster, Rect, text_height, text_width};
use super::replay::Replay;

/// The width that pictures aim at, in pixels: the column of text of a page.
const WIDTH: usize = 600;

/// The sides of a cell, in pixels, smallest and largest.
const CELL: [usize; 2] = [5, 26];

/// Pixels around everything.
const MARGIN: usize = 12;

/// Pixels between canvases.
const GAP: usize = 22;

/// The size of letters, in pixels a dot.
pub(super) const SCALE: usize = 2;

/// Pixels between lines of text.
const LEADING: usize = 6;

/// The places of all canvases.
pub(super) struct Layout {
    cell: usize,
    /// The left column of each canvas, and the row of its first cells.
    corners: Vec<[usize; 2]>,
    width: usize,
    /// The row of the line of text below all canvases.
    footer: usize,
}

impl Layout {
    /// Lays out the canvases of a replay below two lines of text, with one line below them.
    pub(super) fn of(replay: &Replay) -> Layout {
        let canvases = &replay.canvases;
        let columns: usize = canvases.iter().map(|canvas| canvas.extent[0]).sum();
        let between = 2 * MARGIN + GAP * canvases.len().saturating_sub(1);
        let cell = (WIDTH.saturating_sub(between) / columns.max(1)).clamp(CELL[0], CELL[1]);
        let top = canvases.iter().map(|canvas| canvas.min[1]).min().unwrap_or(0);
        let head = MARGIN + 2 * (text_height(SCALE) + LEADING) + LEADING;
        let (mut left, mut bottom, mut corners) = (MARGIN, head, Vec::new());
        for canvas in canvases {
            let row = head + (canvas.min[1] - top) as usize * cell;
            corners.push([left, row]);
            let texts = lines(canvas).map(|line| text_width(&line, SCALE));
            left += texts.into_iter().fold(canvas.extent[0] * cell + 1, usize::max) + GAP;
            bottom = bottom.max(row + canvas.extent[1] * cell + 1);
        }
        Layout { cell, corners, width: (left - GAP + MARGIN).max(WIDTH / 2), footer: bottom + 2 * LEADING }
    }

    /// A picture with the names of canvases and their grids.
    pub(super) fn paper(&self, replay: &Replay) -> Raster {
        let mut raster = Raster::new(self.width, self.footer + text_height(SCALE) + MARGIN);
        for (n, canvas) in replay.canvases.iter().enumerate() {
            let [left, top] = self.corners[n];
            let [name, count] = lines(canvas);
            raster.text(left, MARGIN, &name, SCALE, Colour::Ink);
            raster.text(left, MARGIN + text_height(SCALE) + LEADING, &count, SCALE, Colour::Faint);
            let [width, height] = canvas.extent.map(|n| n * self.cell + 1);
            raster.fill(Rect { x: left, y: top, width, height }, Colour::Grid);
            (0..canvas.cells.len()).for_each(|cell| raster.fill(self.inside(replay, n, cell), Colour::Empty));
        }
        raster
    }

    /// The pixels of a cell without its lines.
    pub(super) fn inside(&self, replay: &Replay, canvas: usize, cell: usize) -> Rect {
        let columns = replay.canvases[canvas].extent[0];
        let [left, top] = self.corners[canvas];
        let side = self.cell - 1;
        let (x, y) = (left + cell % columns * self.cell + 1, top + cell / columns * self.cell + 1);
        Rect { x, y, width: side, height: side }
    }

    /// The first pixel of the line of text below all canvases.
    pub(super) fn legend(&self) -> [usize; 2] {
        [MARGIN, self.footer]
    }
}

/// The two lines of text above a canvas.
fn lines(canvas: &Canvas) -> [String; 2] {
    let (count, word) = match canvas.is_input() {
        true => (canvas.loads(), "load"),
        false => (canvas.stores(), "store"),
    };
    let count = format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    [canvas.name.clone(), count]
}
