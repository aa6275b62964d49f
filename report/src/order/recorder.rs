//! The making of a replay: boxes around what a trace touches, and then its events one after the other.

use super::canvas::{Canvas, Cell, Fold, MOST_CELLS, Place, Step};
use super::error::OrderError;
use halide::trace::TraceEvent;
use std::collections::HashMap;

/// A replay's parts.
pub(super) struct Recorded {
    pub(super) canvases: Vec<Canvas>,
    pub(super) steps: Vec<Step>,
    pub(super) loops: Vec<String>,
    pub(super) tasks: u32,
}

/// Replays events.
///
/// # Errors
/// A trace that is too large to draw, or stores nothing.
pub(super) fn replayed(events: &[TraceEvent], folds: &[Fold]) -> Result<Recorded, OrderError> {
    let frames = frames(events);
    if frames.iter().all(|frame| !frame.is_stored) {
        return Err(OrderError::Empty);
    }
    let canvases: Vec<Canvas> = frames.iter().map(Frame::canvas).collect::<Result<_, _>>()?;
    let mut recorder = Recorder::new(&frames, canvases, folds);
    events.iter().for_each(|event| recorder.record(event));
    Ok(recorder.end())
}

/// The name of a canvas: that of the Func or image, and coordinates from the third dimension on.
type Key<'e> = (&'e str, &'e [i64]);

fn key<'e>(of: &'e str, at: &'e [i64]) -> Key<'e> {
    (of, at.get(2..).unwrap_or_default())
}

/// The first two coordinates; those that lack are 0.
pub(super) fn point(at: &[i64]) -> [i64; 2] {
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
    loops: Loops,
}

impl<'e> Recorder<'e> {
    fn new(frames: &[Frame<'e>], canvases: Vec<Canvas>, folds: &'e [Fold]) -> Recorder<'e> {
        let known = frames.iter().zip(0..).map(|(frame, n)| (frame.key, n)).collect();
        let funcs = frames.iter().map(|frame| frame.key.0).collect();
        let live = canvases.iter().map(|canvas| vec![false; canvas.cells.len()]).collect();
        let loops = Loops::default();
        Recorder { canvases, known, funcs, folds, live, loads: Vec::new(), steps: Vec::new(), loops }
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
            TraceEvent::Iterate { of, parallel, .. } => self.loops.begin(of, *parallel),
            TraceEvent::Iterated => self.loops.end(),
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
        self.push(Some(place), ended);
    }

    fn push(&mut self, store: Option<Place>, ended: Vec<Place>) {
        let loads = std::mem::take(&mut self.loads);
        let (task, within) = (self.loops.task, self.loops.open.last().map(|open| open.0));
        let fresh = self.loops.fresh.take().map(|(_, number)| number);
        self.steps.push(Step { loads, store, ended, task, within, fresh });
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

    fn end(mut self) -> Recorded {
        if !self.loads.is_empty() {
            self.push(None, Vec::new());
        }
        let Recorder { canvases, steps, loops, .. } = self;
        Recorded { canvases, steps, loops: loops.names, tasks: loops.tasks }
    }
}

/// The loops of a run, and those that it is in.
#[derive(Default)]
struct Loops {
    names: Vec<String>,
    known: HashMap<String, usize>,
    /// The loops around what comes next: the number of each, and true for the one whose iterations are tasks.
    open: Vec<(usize, bool)>,
    tasks: u32,
    /// The task that is at work; 0 for none.
    task: u32,
    /// The outermost loop of which an iteration began since the last step, with the number of loops around it.
    fresh: Option<(usize, usize)>,
}

impl Loops {
    fn begin(&mut self, name: &str, parallel: bool) {
        let number = match self.known.get(name) {
            Some(number) => *number,
            None => {
                self.names.push(name.to_string());
                self.known.insert(name.to_string(), self.names.len() - 1);
                self.names.len() - 1
            }
        };
        let depth = self.open.len();
        if self.fresh.is_none_or(|(outermost, _)| depth < outermost) {
            self.fresh = Some((depth, number));
        }
        let is_task = parallel && self.task == 0;
        if is_task {
            self.tasks += 1;
            self.task = self.tasks;
        }
        self.open.push((number, is_task));
    }

    fn end(&mut self) {
        if let Some((_, true)) = self.open.pop() {
            self.task = 0;
        }
    }
}
