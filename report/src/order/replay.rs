//! A trace as a value: canvases of points, and the steps of the run.

use super::error::OrderError;
use halide::buffer::Region;
use halide::trace::TraceEvent;
use halide::{Call, Error};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// The most events that a replay keeps: some hundred megabytes of them.
pub const MOST_EVENTS: usize = 2_000_000;

/// The most points of a canvas: 64 by 64, which are told apart in a picture of a page's width.
pub const MOST_CELLS: usize = 4096;

/// A point of a canvas: the numbers of the canvas and of the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Index in [`Replay::canvases`].
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
        let column = usize::try_from(x - self.min[0]).ok().filter(|x| *x < self.extent[0])?;
        let row = usize::try_from(y - self.min[1]).ok().filter(|y| *y < self.extent[1])?;
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

/// A run step by step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Images in the order of their first loads, then Funcs in the order of their first stores.
    pub canvases: Vec<Canvas>,
    /// The steps in order.
    pub steps: Vec<Step>,
}

impl Replay {
    /// Runs a call as [`Call::trace`] does, and replays it.
    ///
    /// # Errors
    /// Errors of the run; a run that is too large to draw, or stores nothing.
    pub fn of_call(call: &Call<'_>, regions: &[Region], folds: &[Fold]) -> Result<Replay, OrderError> {
        let mut events = Vec::new();
        let traced = call.trace(regions, |event| {
            events.push(event);
            if events.len() > MOST_EVENTS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match traced {
            Err(Error::Cancelled) if events.len() > MOST_EVENTS => Err(OrderError::TooManyEvents { most: MOST_EVENTS }),
            Err(error) => Err(OrderError::Run(Box::new(error))),
            Ok(_) => Replay::of(&events, folds),
        }
    }

    /// Replays a trace. A step stores one element of a tuple, the first; the others are stored with it.
    ///
    /// # Errors
    /// A trace that is too large to draw, or stores nothing.
    pub fn of(events: &[TraceEvent], folds: &[Fold]) -> Result<Replay, OrderError> {
        if events.len() > MOST_EVENTS {
            return Err(OrderError::TooManyEvents { most: MOST_EVENTS });
        }
        let frames = frames(events);
        if frames.iter().all(|frame| !frame.is_stored) {
            return Err(OrderError::Empty);
        }
        let canvases: Vec<Canvas> = frames.iter().map(Frame::canvas).collect::<Result<_, _>>()?;
        let mut recorder = Recorder::new(&frames, canvases, folds);
        events.iter().for_each(|event| recorder.record(event));
        Ok(recorder.end())
    }

    /// Returns the canvas of this name.
    pub fn canvas(&self, name: &str) -> Option<&Canvas> {
        self.canvases.iter().find(|canvas| canvas.name == name)
    }
}

/// The name of a canvas: that of the Func or image, and coordinates from the third dimension on.
type Key<'e> = (&'e str, &'e [i64]);

fn key<'e>(of: &'e str, at: &'e [i64]) -> Key<'e> {
    (of, at.get(2..).unwrap_or_default())
}

/// The first two coordinates; those that lack are 0.
fn point(at: &[i64]) -> [i64; 2] {
    [0, 1].map(|d| at.get(d).copied().unwrap_or(0))
}

/// The box of a canvas while it is looked for.
struct Frame<'e> {
    key: Key<'e>,
    low: [i64; 2],
    high: [i64; 2],
    is_stored: bool,
}

impl Frame<'_> {
    fn canvas(&self) -> Result<Canvas, OrderError> {
        let (of, others) = self.key;
        let others: String = others.iter().map(|at| format!(", {at}")).collect();
        let name = if others.is_empty() { of.to_string() } else { format!("{of}(_, _{others})") };
        let extent = [0, 1].map(|d| self.high[d].abs_diff(self.low[d]) as u128 + 1);
        let cells = extent[0].saturating_mul(extent[1]);
        if cells > MOST_CELLS as u128 {
            return Err(OrderError::TooManyCells { name, cells, most: MOST_CELLS });
        }
        let extent = extent.map(|n| n as usize);
        Ok(Canvas { name, min: self.low, extent, cells: vec![Cell::default(); cells as usize] })
    }
}

/// The boxes of all that a trace touches, images first.
fn frames(events: &[TraceEvent]) -> Vec<Frame<'_>> {
    let (mut all, mut stored): (Vec<Frame<'_>>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut known: HashMap<Key<'_>, usize> = HashMap::new();
    for event in events {
        let (of, at, is_store) = match event {
            TraceEvent::Load { of, at, .. } => (of, at, false),
            TraceEvent::Store { of, at, .. } => (of, at, true),
            _ => continue,
        };
        let (key, point) = (key(of, at), point(at));
        let n = *known.entry(key).or_insert_with(|| {
            all.push(Frame { key, low: point, high: point, is_stored: false });
            all.len() - 1
        });
        let frame = &mut all[n];
        frame.low = [0, 1].map(|d| frame.low[d].min(point[d]));
        frame.high = [0, 1].map(|d| frame.high[d].max(point[d]));
        if is_store && !frame.is_stored {
            frame.is_stored = true;
            stored.push(n);
        }
    }
    let rank = |n: usize| stored.iter().position(|s| *s == n).map_or(0, |at| at + 1);
    let mut ranked: Vec<(usize, Frame<'_>)> = all.into_iter().enumerate().map(|(n, f)| (rank(n), f)).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, frame)| frame).collect()
}

/// A replay that is being made.
struct Recorder<'e> {
    canvases: Vec<Canvas>,
    known: HashMap<Key<'e>, usize>,
    /// The Func of each canvas.
    funcs: Vec<&'e str>,
    folds: &'e [Fold],
    /// The cells of each canvas that hold a value.
    live: Vec<Vec<bool>>,
    loads: Vec<Place>,
    steps: Vec<Step>,
}

impl<'e> Recorder<'e> {
    fn new(frames: &[Frame<'e>], canvases: Vec<Canvas>, folds: &'e [Fold]) -> Recorder<'e> {
        let known = frames.iter().zip(0..).map(|(frame, n)| (frame.key, n)).collect();
        let funcs = frames.iter().map(|frame| frame.key.0).collect();
        let live = canvases.iter().map(|canvas| vec![false; canvas.cells.len()]).collect();
        Recorder { canvases, known, funcs, folds, live, loads: Vec::new(), steps: Vec::new() }
    }

    fn place(&self, of: &str, at: &[i64]) -> Option<Place> {
        let canvas = *self.known.get(&key(of, at))?;
        let Canvas { min, extent, .. } = &self.canvases[canvas];
        let [x, y] = point(at);
        Some(Place { canvas, cell: (y - min[1]) as usize * extent[0] + (x - min[0]) as usize })
    }

    fn record(&mut self, event: &TraceEvent) {
        match event {
            TraceEvent::Load { of, at, .. } => {
                if let Some(place) = self.place(of, at) {
                    self.canvases[place.canvas].cells[place.cell].loads += 1;
                    self.loads.push(place);
                }
            }
            TraceEvent::Store { of, element: 0, at, .. } => {
                if let Some(place) = self.place(of, at) {
                    self.store(place);
                }
            }
            TraceEvent::Free { func } => self.free(func),
            _ => {}
        }
    }

    fn store(&mut self, place: Place) {
        let step = self.steps.len() as u32;
        let cell = &mut self.canvases[place.canvas].cells[place.cell];
        cell.stores += 1;
        cell.first = cell.first.or(Some(step));
        cell.last = Some(step);
        self.live[place.canvas][place.cell] = true;
        let ended = self.replaced(place);
        self.end_all(&ended);
        self.steps.push(Step { loads: std::mem::take(&mut self.loads), store: Some(place), ended });
    }

    /// The points whose storage the point at `place` takes.
    fn replaced(&self, place: Place) -> Vec<Place> {
        let canvas = &self.canvases[place.canvas];
        let func = self.funcs[place.canvas];
        let Some(fold) = self.folds.iter().find(|fold| fold.func == func) else { return Vec::new() };
        let columns = canvas.extent[0];
        let at = |cell: usize| [(cell % columns) as i64, (cell / columns) as i64];
        let (own, dim) = (at(place.cell), fold.dim.min(1));
        let shares = |cell: &usize| {
            let other = at(*cell);
            let apart = own[dim] - other[dim];
            apart != 0 && apart % fold.factor.max(1) == 0 && own[1 - dim] == other[1 - dim]
        };
        let live = (0..canvas.cells.len()).filter(|cell| self.live[place.canvas][*cell]);
        live.filter(shares).map(|cell| Place { cell, ..place }).collect()
    }

    fn free(&mut self, func: &str) {
        let of_func = (0..self.funcs.len()).filter(|n| self.funcs[*n] == func);
        let cells = of_func.flat_map(|canvas| (0..self.live[canvas].len()).map(move |cell| Place { canvas, cell }));
        let ended: Vec<Place> = cells.filter(|place| self.live[place.canvas][place.cell]).collect();
        self.end_all(&ended);
        if let Some(last) = self.steps.last_mut() {
            last.ended.extend(ended);
        }
    }

    fn end_all(&mut self, places: &[Place]) {
        places.iter().for_each(|place| self.live[place.canvas][place.cell] = false);
    }

    fn end(mut self) -> Replay {
        if !self.loads.is_empty() {
            self.steps.push(Step { loads: std::mem::take(&mut self.loads), ..Step::default() });
        }
        Replay { canvases: self.canvases, steps: self.steps }
    }
}
