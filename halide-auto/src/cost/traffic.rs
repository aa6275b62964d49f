//! Bytes that parts of a nest move, and how fast memory moves them.

use super::{Pricer, restrict};
use crate::boxes::needed;
use crate::dag::{Box, Source, extent, volume};
use crate::state::{LoopSpec, Place, Shape, State};
use crate::tuning::{
    BYTES_OF_POINT, BYTES_OF_ROW, FEW_STREAMS, HALVING_STREAMS, LINE, LINES_OF_TURN, MOST_OPEN_LINES, MOST_STREAMS,
    PAGE, STREAMED_BYTES,
};
use halide_core::ids::FuncId;

impl Pricer<'_> {
    /// The factor by which memory is slower where rows are touched in short pieces, each of which begins with a miss
    /// that nothing foresees, and where more rows are touched at once than are foreseen.
    pub(super) fn row_factor(&self, state: &State, of: (FuncId, usize)) -> f64 {
        let (Some(region), Some(shape)) = (self.roots.get(&of.0), state.shape(of)) else { return 1.0 };
        if shape.vector.is_none() {
            return 1.0;
        }
        let mut domain = self.dag.domain(of, region);
        let loops = shape.loops(&domain);
        let piece = self.piece(of, shape, &loops, &domain);
        loops.iter().for_each(|l| restrict(&mut domain, l));
        let inside = |func: FuncId| state.is_inlined(func) || state.is_inside(func, of, loops.len());
        let rows = |region: &Box| volume(region) / region.first().map_or(1.0, |span| extent(*span).max(1) as f64);
        let boxes = needed(self.dag, of, &domain, &inside);
        let is_far = |source: &Source| match source {
            Source::Func(func) => state.place(*func) == Place::Root,
            Source::Image(_) => true,
        };
        let read: f64 = boxes.iter().filter(|(source, _)| is_far(source)).map(|(_, region)| rows(region)).sum();
        let streams = (read + rows(&domain)).min(MOST_STREAMS);
        1.0 + BYTES_OF_ROW / (piece * self.dag.funcs[of.0].bytes) + (streams - FEW_STREAMS).max(0.0) / HALVING_STREAMS
    }

    /// The elements of a definition's own Func that follow each other in memory, of those that its innermost loops go
    /// over before they go on elsewhere.
    fn piece(&self, of: (FuncId, usize), shape: &Shape, loops: &[LoopSpec], domain: &[(i64, i64)]) -> f64 {
        let (whole, vars) = (self.dag.whole(Source::Func(of.0)), &self.dag.funcs[of.0].stages[of.1].vars);
        let mut covered = vec![1.0f64; self.dag.pipeline.funcs[of.0].dims()];
        let cover = |n: usize, times: f64, covered: &mut [f64]| {
            if let Some(d) = vars[n].dim {
                covered[d] = (covered[d] * times).min(extent(domain[n]).max(1) as f64);
            }
        };
        (0..vars.len()).for_each(|n| cover(n, shape.block(n) as f64, &mut covered));
        let run = |covered: &[f64]| {
            let mut run = 1.0;
            for (d, covered) in covered.iter().enumerate() {
                run *= covered;
                if whole.get(d).is_none_or(|span| *covered < extent(*span) as f64) {
                    break;
                }
            }
            run
        };
        let mut piece = run(&covered);
        for l in loops.iter().rev().filter(|l| l.trip > 1.0) {
            cover(l.var, l.trip, &mut covered);
            let longer = run(&covered);
            if longer <= piece {
                break;
            }
            piece = longer;
        }
        piece
    }

    /// Bytes of what so many points read, as far as it comes from behind a cache, if one is named. Where data decide
    /// about coordinates, these may be anywhere, but points read no more lines than they have elements.
    pub(super) fn bytes<'b>(
        &self,
        state: &State,
        boxes: impl Iterator<Item = &'b (Source, Box)>,
        level: Option<usize>,
        points: f64,
    ) -> f64 {
        let last = self.machine.caches.len().saturating_sub(1);
        let holds = self.machine.caches.last().map_or(0.0, |cache| cache.usable(self.threads) as f64);
        let counts = |source: &Source| match source {
            Source::Func(func) if state.is_inlined(*func) || self.resident.contains_key(func) => false,
            // A Func that was computed just before is still in the last cache, if it is small.
            Source::Func(func) if level == Some(last) && state.place(*func) == Place::Root => {
                self.roots.get(func).is_none_or(|r| volume(r) * self.dag.bytes(*source) * 2.0 > holds)
            }
            _ => true,
        };
        let read = boxes.filter(|(source, _)| counts(source));
        let most = points * BYTES_OF_POINT;
        read.map(|(source, region)| (volume(region) * self.dag.bytes(*source)).min(most)).sum()
    }

    /// Returns true if the compiler stores an output past the caches where lines fill fast enough.
    pub(super) fn is_large(&self, func: FuncId) -> bool {
        let node = &self.dag.funcs[func];
        let whole = self.roots.get(&func).map_or(0.0, |r| volume(r)) * node.bytes;
        node.is_output && node.is_pure && whole > STREAMED_BYTES
    }

    /// Returns true if a definition fills lines fast enough for stores past the caches: what collects the parts of a
    /// line has room for a few lines, and for fewer of those that are whole pages apart.
    pub(super) fn may_stream(&self, state: &State, of: (FuncId, usize)) -> bool {
        let Some(shape) = state.shape(of) else { return true };
        let (func, whole) = (&self.dag.funcs[of.0], self.dag.whole(Source::Func(of.0)));
        let (mut bytes, mut piece, mut rows, mut aliases) = (func.bytes, func.bytes, 1.0, false);
        let mut follows = true;
        for (d, span) in whole.iter().enumerate() {
            let own = func.stages[of.1].vars.iter().position(|var| var.dim == Some(d));
            let block = own.map_or(1, |n| shape.block(n)).min(extent(*span).max(1));
            if follows {
                piece *= block as f64;
            } else if block > 1 {
                rows *= block as f64;
                aliases |= bytes % PAGE == 0.0;
            }
            follows &= block == extent(*span);
            bytes *= extent(*span) as f64;
        }
        // Rows that are whole pages apart take turns by several lines.
        rows <= 1.0 || if aliases { piece >= LINES_OF_TURN * LINE } else { piece >= LINE || rows <= MOST_OPEN_LINES }
    }

    /// Bytes of what a definition stores: a line comes before it is written, and goes, unless it is stored past the
    /// caches.
    pub(super) fn own(&self, state: &State, of: (FuncId, usize), domain: &[(i64, i64)], level: Option<usize>) -> f64 {
        if self.resident.contains_key(&of.0) {
            return 0.0;
        }
        let func = &self.dag.funcs[of.0];
        let vars = &func.stages[of.1].vars;
        let pure = vars.iter().zip(domain).filter(|(v, _)| v.dim.is_some());
        let mut points: f64 = pure.map(|(_, span)| extent(*span) as f64).product();
        let missing = func.assumed.len() > vars.iter().filter(|v| v.dim.is_some()).count();
        if missing {
            // Where data decide, all of it may be stored to.
            let whole = self.roots.get(&of.0).map_or(1.0, |r| volume(r));
            points = volume(domain).min(whole).max(points);
        }
        let streams = self.is_large(of.0) && self.may_stream(state, of);
        let ways = if level.is_none() || streams { 1.0 } else { 2.0 };
        points * func.bytes * ways
    }
}
