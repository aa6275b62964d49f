//! A trace as a value: canvases of points, and the steps of the run.

use super::canvas::{Canvas, Fold, Step};
use super::error::OrderError;
use super::recorder::{Recorded, replayed};
use halide::buffer::Region;
use halide::trace::TraceEvent;
use halide::{Call, Error};
use std::ops::ControlFlow;

/// The most loads and stores that a replay keeps: some hundred megabytes of them.
pub const MOST_EVENTS: usize = 2_000_000;

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

    /// Replays a trace. A step stores one element of a tuple, the first; the others are stored with it.
    ///
    /// # Errors
    /// A trace that is too large to draw, or stores nothing.
    pub fn of(events: &[TraceEvent], folds: &[Fold]) -> Result<Replay, OrderError> {
        if events.iter().filter(|event| is_access(event)).count() > MOST_EVENTS {
            return Err(OrderError::TooManyEvents { most: MOST_EVENTS });
        }
        let Recorded { canvases, steps, loops, tasks } = replayed(events, folds)?;
        Ok(Replay { canvases, steps, loops, tasks })
    }

    /// Returns the canvas of this name.
    pub fn canvas(&self, name: &str) -> Option<&Canvas> {
        self.canvases.iter().find(|canvas| canvas.name == name)
    }
}

/// Returns true for loads and stores.
fn is_access(event: &TraceEvent) -> bool {
    matches!(event, TraceEvent::Load { .. } | TraceEvent::Store { .. })
}
