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
    is_stored: bool,
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
        let (point, is_stored) = (point(at), matches!(event, TraceEvent::Store { .. }));
        let Some(touched) = self.boxes.get_mut(of) else {
            self.boxes.insert(of.clone(), Touched { low: point, high: point, is_stored, is_large: false });
            return None;
        };
        touched.is_stored |= is_stored;
        if touched.is_large {
            return None;
        }
        touched.low = [0, 1].map(|d| touched.low[d].min(point[d]));
        touched.high = [0, 1].map(|d| touched.high[d].max(point[d]));
        touched.is_large = touched.cells() > MOST_CELLS as u128;
        touched.is_large.then(|| of.clone())
    }

    /// Takes the largest of what is not large for large, too, and returns its name; `None` where nothing else is left
    /// than the last Func that is stored.
    pub(super) fn leave_out_largest(&mut self) -> Option<String> {
        let funcs = self.boxes.values().filter(|touched| touched.is_stored && !touched.is_large).count();
        let may_go = |touched: &Touched| !touched.is_large && (!touched.is_stored || funcs > 1);
        let small = self.boxes.iter_mut().filter(|(_, touched)| may_go(touched));
        let (name, touched) = small.max_by_key(|(_, touched)| touched.cells())?;
        touched.is_large = true;
        Some(name.clone())
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
