//! The places of canvases in a picture: side by side, equal coordinates of the second dimension at the same height, in
//! as many rows as it takes.

use super::canvas::Canvas;
use super::colour::Colour;
use super::raster::{Raster, Rect, text_height, text_width};
use super::replay::Replay;

/// The width that pictures aim at, in pixels: the column of text of a page.
const WIDTH: usize = 600;

/// The sides of a cell, in pixels, smallest and largest.
const CELL: [usize; 2] = [5, 26];

/// The width from which on canvases stand in several rows, in pixels: what a screen shows.
const MOST_WIDTH: usize = 1000;

/// The height from which on the canvases of the fewest touches are left out, in pixels.
const MOST_HEIGHT: usize = 1400;

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
    /// The place of each canvas; `None` of one that is left out.
    places: Vec<Option<Spot>>,
    width: usize,
    /// The row of the line of text below all canvases.
    footer: usize,
}

/// The place of a canvas.
#[derive(Clone, Copy)]
struct Spot {
    left: usize,
    /// The row of its name.
    name: usize,
    /// The row of its first cells.
    top: usize,
}

/// The height of a title and the line below it, in pixels.
const TITLE: usize = 2 * (text_height(SCALE) + LEADING) + 2 * LEADING;

impl Layout {
    /// Lays out the canvases of a replay, each below two lines of text, with one line below all of them; and below a
    /// title with a line of its own, if there is one.
    pub(super) fn of(replay: &Replay, title: Option<&str>) -> Layout {
        let canvases = &replay.canvases;
        let columns: usize = canvases.iter().map(|canvas| canvas.extent[0]).sum();
        let between = 2 * MARGIN + GAP * canvases.len().saturating_sub(1);
        let cell = (WIDTH.saturating_sub(between) / columns.max(1)).clamp(CELL[0], CELL[1]);
        let mut shown: Vec<usize> = (0..canvases.len()).collect();
        let head = MARGIN + if title.is_some() { TITLE } else { 0 };
        let mut layout = Layout::with(replay, &shown, cell, head);
        while layout.footer > MOST_HEIGHT && shown.len() > 1 {
            let touches = |n: usize| canvases[n].stores() + canvases[n].loads();
            let least = (0..shown.len()).min_by_key(|at| touches(shown[*at])).unwrap_or(0);
            shown.remove(least);
            layout = Layout::with(replay, &shown, cell, head);
        }
        if let Some(title) = title {
            layout.width = layout.width.max(WIDTH).max(text_width(title, SCALE) + 2 * MARGIN);
        }
        layout
    }

    /// Places some of the canvases in rows from a row of pixels on.
    fn with(replay: &Replay, shown: &[usize], cell: usize, mut head: usize) -> Layout {
        let canvases = &replay.canvases;
        let mut layout = Layout { cell, places: vec![None; canvases.len()], width: WIDTH / 2, footer: head };
        let mut rest = shown;
        while !rest.is_empty() {
            let (mut left, mut count) = (MARGIN, 0);
            for n in rest {
                let end = left + width(&canvases[*n], cell);
                if count > 0 && end + MARGIN > MOST_WIDTH {
                    break;
                }
                (left, count) = (end + GAP, count + 1);
            }
            layout.width = layout.width.max(left - GAP + MARGIN);
            let (row, others) = rest.split_at(count);
            layout.place_row(replay, row, head);
            rest = others;
            head = layout.footer + LEADING;
        }
        layout
    }

    /// Places a row of canvases whose names are at `name`.
    fn place_row(&mut self, replay: &Replay, row: &[usize], name: usize) {
        let canvases = || row.iter().map(|n| &replay.canvases[*n]);
        let least = canvases().map(|canvas| canvas.min[1]).min().unwrap_or(0);
        let cells = name + 2 * (text_height(SCALE) + LEADING) + LEADING;
        let (mut left, mut bottom) = (MARGIN, cells);
        for (n, canvas) in row.iter().zip(canvases()) {
            let top = cells + (canvas.min[1] - least) as usize * self.cell;
            self.places[*n] = Some(Spot { left, name, top });
            left += width(canvas, self.cell) + GAP;
            bottom = bottom.max(top + canvas.extent[1] * self.cell + 1);
        }
        self.footer = bottom + 2 * LEADING;
    }

    /// A picture with the names of canvases and their grids.
    pub(super) fn paper(&self, replay: &Replay) -> Raster {
        let mut raster = Raster::new(self.width, self.footer + text_height(SCALE) + MARGIN);
        for (n, canvas) in replay.canvases.iter().enumerate() {
            let Some(Spot { left, name: row, top }) = self.places[n] else { continue };
            let [name, count] = lines(canvas);
            raster.text(left, row, &name, SCALE, Colour::Ink);
            raster.text(left, row + text_height(SCALE) + LEADING, &count, SCALE, Colour::Faint);
            let [width, height] = canvas.extent.map(|n| n * self.cell + 1);
            raster.fill(Rect { x: left, y: top, width, height }, Colour::Grid);
            for rect in (0..canvas.cells.len()).filter_map(|cell| self.inside(replay, n, cell)) {
                raster.fill(rect, Colour::Empty);
            }
        }
        raster
    }

    /// The pixels of a cell without its lines; `None` where its canvas is left out.
    pub(super) fn inside(&self, replay: &Replay, canvas: usize, cell: usize) -> Option<Rect> {
        let columns = replay.canvases[canvas].extent[0];
        let Spot { left, top, .. } = self.places[canvas]?;
        let side = self.cell - 1;
        let (x, y) = (left + cell % columns * self.cell + 1, top + cell / columns * self.cell + 1);
        Some(Rect { x, y, width: side, height: side })
    }

    /// The number of canvases that are left out.
    pub(super) fn left_out(&self) -> usize {
        self.places.iter().filter(|place| place.is_none()).count()
    }

    /// The first pixel of the title, and of the line below it.
    pub(super) fn title(&self) -> [[usize; 2]; 2] {
        [[MARGIN, MARGIN], [MARGIN, MARGIN + text_height(SCALE) + LEADING]]
    }

    /// The first pixel of the line of text below all canvases.
    pub(super) fn legend(&self) -> [usize; 2] {
        [MARGIN, self.footer]
    }
}

/// The pixels across that a canvas takes with the text above it.
fn width(canvas: &Canvas, cell: usize) -> usize {
    lines(canvas).iter().fold(canvas.extent[0] * cell + 1, |most, line| most.max(text_width(line, SCALE)))
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
