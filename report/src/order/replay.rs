//! A trace as a value: canvases of points, and the steps of the run.

use super::canvas::{Canvas, Fold, Step};
use super::error::OrderError;
use super::recorder::replayed;
use halide::buffer::Region;
use halide::trace::TraceEvent;
use halide::{Call, Error};
use std::ops::ControlFlow;

/// The most events that a replay keeps: some hundred megabytes of them.
pub const MOST_EVENTS: usize = 2_000_000;

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
        let (canvases, steps) = replayed(events, folds)?;
        Ok(Replay { canvases, steps })
    }

    /// Returns the canvas of this name.
    pub fn canvas(&self, name: &str) -> Option<&Canvas> {
        self.canvases.iter().find(|canvas| canvas.name == name)
    }
}
