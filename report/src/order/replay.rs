//! A trace as a value: canvases of points, and the steps of the run.

use super::canvas::{Canvas, Fold, Step};
use super::error::OrderError;
use super::extent::Extents;
use super::recorder::{Recorded, replayed};
use halide::buffer::Region;
use halide::trace::TraceEvent;
use halide::{Call, Error};
use std::ops::ControlFlow;

/// The most loads and stores that a replay keeps: some hundred megabytes of them.
pub const MOST_EVENTS: usize = 2_000_000;

/// The most loads and stores of a run of which a replay leaves some out.
pub const MOST_SEEN: usize = 40_000_000;

/// A run step by step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Images in the order of their first loads, then Funcs in the order of their first stores.
    pub canvases: Vec<Canvas>,
    /// The steps in order.
    pub steps: Vec<Step>,
    /// The names of the loops, in the order in which they begin.
    pub loops: Vec<String>,
    /// The number of tasks.
    pub tasks: u32,
    /// The Funcs and images that are left out, as too large to draw.
    pub left_out: Vec<String>,
}

impl Replay {
    /// Runs a call as [`Call::trace_loops`] does, and replays it.
    ///
    /// # Errors
    /// Errors of the run; a run that is too large to draw, or stores nothing.
    pub fn of_call(call: &Call<'_>, regions: &[Region], folds: &[Fold]) -> Result<Replay, OrderError> {
        let (mut events, mut accesses) = (Vec::new(), 0);
        let traced = call.trace_loops(regions, |event| {
            accesses += usize::from(is_access(&event));
            events.push(event);
            if accesses > MOST_EVENTS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match traced {
            Err(Error::Cancelled) if accesses > MOST_EVENTS => Err(OrderError::TooManyEvents { most: MOST_EVENTS }),
            Err(error) => Err(OrderError::Run(Box::new(error))),
            Ok(_) => Replay::of(&events, folds),
        }
    }

    /// [`Replay::of_call`] without the Funcs and images that have more points than a canvas, such as the fine levels of
    /// a pyramid whose coarse ones are small; and without the largest of the others, one after the other, until what is
    /// left `fits` or is one Func alone.
    ///
    /// # Errors
    /// Errors of the run; a run of which too much is left to draw, or nothing that is stored.
    pub fn of_what_fits(
        call: &Call<'_>,
        regions: &[Region],
        folds: &[Fold],
        fits: impl Fn(&Replay) -> bool,
    ) -> Result<Replay, OrderError> {
        let (mut events, mut extents, mut seen) = (Vec::new(), Extents::default(), 0);
        let mut most = None;
        let traced = call.trace_loops(regions, |event| {
            seen += usize::from(is_access(&event));
            if let Some(name) = extents.outgrown(&event) {
                events = without(std::mem::take(&mut events), &name);
            }
            if accessed(&event).is_none_or(|name| !extents.is_large(name)) {
                keep(&mut events, event);
            }
            most = [(seen, MOST_SEEN), (events.len(), 2 * MOST_EVENTS)].into_iter().find(|(n, most)| n > most);
            if most.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match (traced, most) {
            (Err(Error::Cancelled), Some((_, most))) => Err(OrderError::TooManyEvents { most }),
            (Err(error), _) => Err(OrderError::Run(Box::new(error))),
            (Ok(_), _) => loop {
                let replay = Replay { left_out: extents.large(), ..Replay::of(&events, folds)? };
                if fits(&replay) {
                    return Ok(replay);
                }
                let Some(name) = extents.leave_out_largest() else { return Ok(replay) };
                events = without(events, &name);
            },
        }
    }

    /// Replays a trace. A step stores one element of a tuple, the first; the others are stored with it.
    ///
    /// # Errors
    /// A trace that is too large to draw, or stores nothing.
    pub fn of(events: &[TraceEvent], folds: &[Fold]) -> Result<Replay, OrderError> {
        if events.iter().filter(|event| is_access(event)).count() > MOST_EVENTS {
            return Err(OrderError::TooManyEvents { most: MOST_EVENTS });
        }
        let Recorded { canvases, steps, loops, tasks } = replayed(events, folds)?;
        Ok(Replay { canvases, steps, loops, tasks, left_out: Vec::new() })
    }

    /// Returns the canvas of this name.
    pub fn canvas(&self, name: &str) -> Option<&Canvas> {
        self.canvases.iter().find(|canvas| canvas.name == name)
    }
}

/// The events without those of a Func or image.
fn without(events: Vec<TraceEvent>, name: &str) -> Vec<TraceEvent> {
    let mut kept = Vec::new();
    events.into_iter().filter(|event| accessed(event) != Some(name)).for_each(|event| keep(&mut kept, event));
    kept
}

/// Adds an event; an iteration in which nothing was done is taken back where it ends.
fn keep(events: &mut Vec<TraceEvent>, event: TraceEvent) {
    match (events.last(), &event) {
        (Some(TraceEvent::Iterate { .. }), TraceEvent::Iterated) => drop(events.pop()),
        _ => events.push(event),
    }
}

/// Returns true for loads and stores.
fn is_access(event: &TraceEvent) -> bool {
    accessed(event).is_some()
}

/// The Func or image that an event loads or stores.
fn accessed(event: &TraceEvent) -> Option<&str> {
    match event {
        TraceEvent::Load { of, .. } | TraceEvent::Store { of, .. } => Some(of),
        _ => None,
    }
}
