//! The extents of what a trace touches, while it goes on.

use super::canvas::MOST_CELLS;
use super::recorder::point;
use halide::trace::TraceEvent;
use std::collections::BTreeMap;

/// The box around the points of each Func and image: the lowest and the highest coordinates.
#[derive(Default)]
pub(super) struct Extents {
    boxes: BTreeMap<String, Touched>,
}

struct Touched {
    low: [i64; 2],
    high: [i64; 2],
    is_large: bool,
}

impl Touched {
    fn cells(&self) -> u128 {
        let extent = [0, 1].map(|d| self.high[d].abs_diff(self.low[d]) as u128 + 1);
        extent[0].saturating_mul(extent[1])
    }
}

impl Extents {
    /// Takes an event into account; returns the name of what has more points than a canvas from this event on.
    pub(super) fn outgrown(&mut self, event: &TraceEvent) -> Option<String> {
        let (TraceEvent::Load { of, at, .. } | TraceEvent::Store { of, at, .. }) = event else { return None };
        let point = point(at);
        let Some(touched) = self.boxes.get_mut(of) else {
            self.boxes.insert(of.clone(), Touched { low: point, high: point, is_large: false });
            return None;
        };
        if touched.is_large {
            return None;
        }
        touched.low = [0, 1].map(|d| touched.low[d].min(point[d]));
        touched.high = [0, 1].map(|d| touched.high[d].max(point[d]));
        touched.is_large = touched.cells() > MOST_CELLS as u128;
        touched.is_large.then(|| of.clone())
    }

    /// Takes the largest of what is not large for large, too, and returns its name; `None` where one alone is left.
    pub(super) fn leave_out_largest(&mut self) -> Option<String> {
        let small = self.boxes.iter_mut().filter(|(_, touched)| !touched.is_large);
        let mut small: Vec<_> = small.collect();
        if small.len() < 2 {
            return None;
        }
        let (name, touched) = small.iter_mut().max_by_key(|(_, touched)| touched.cells())?;
        touched.is_large = true;
        Some(name.to_string())
    }

    /// Returns true for a Func or image of more points than a canvas has.
    pub(super) fn is_large(&self, name: &str) -> bool {
        self.boxes.get(name).is_some_and(|touched| touched.is_large)
    }

    /// The names of those.
    pub(super) fn large(&self) -> Vec<String> {
        self.boxes.iter().filter(|(_, touched)| touched.is_large).map(|(name, _)| name.clone()).collect()
    }
}
