//! The walk through a group's loops, innermost ones first.

use super::{Cost, Pricer, restrict};
use crate::boxes::{Boxes, needed};
use crate::dag::{Box, Dag, Source, StageVar, Work, extent, volume};
use crate::kernel::{Question, elements, kernel};
use crate::state::{LoopSpec, Place, Shape, State};
use crate::substitution::with_inlined;
use crate::tuning::{
    CYCLES_OF_ENTRY, CYCLES_OF_ITERATION, FORWARDING_STALL, MOST_FIXED, MOST_WRITTEN, SLOW_CODE, TOO_LONG,
};
use halide_core::ids::FuncId;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

impl Pricer<'_> {
    /// The cost of what is inside of the outermost `depth` loops, in an iteration of average cost of the innermost one
    /// of these, and what it needs.
    pub(super) fn level(
        &mut self,
        state: &State,
        of: (FuncId, usize),
        loops: &[LoopSpec],
        depth: usize,
        domain: &[(i64, i64)],
    ) -> (Cost, Boxes) {
        let dag = self.dag;
        let inside = |func: FuncId| state.is_inlined(func) || state.is_inside(func, of, depth);
        let boxes = needed(dag, of, domain, &inside);
        let members = self.members(of, depth);
        let is_innermost = loops[depth..].iter().all(|l| l.trip <= 1.0);
        let (mut cost, mut written) = (Cost::default(), 0.0);
        let mut resident = Vec::new();
        for &member in &members {
            let Some(region) = boxes.get(Source::Func(member)) else { continue };
            if !is_innermost || !self.is_written_out(state, member, region) {
                continue;
            }
            if self.is_shifted(state, member, of, domain, &boxes) {
                cost.cycles += FORWARDING_STALL;
                continue;
            }
            let bytes = volume(region) * dag.funcs[member].bytes;
            let others: f64 = self.resident.values().sum();
            if others + bytes <= self.register_bytes() && !self.resident.contains_key(&member) {
                self.resident.insert(member, bytes);
                resident.push(member);
            }
        }
        if is_innermost {
            self.innermost.extend(&members);
        }
        for &member in &members {
            let Some(region) = boxes.get(Source::Func(member)) else { continue };
            let (region, times) = self.computed(state, member, region, loops, depth, domain);
            for stage in 0..dag.funcs[member].stages.len() {
                let of = (member, stage);
                let Some(shape) = state.shape(of) else { continue };
                let domain = dag.domain(of, &region);
                let loops = shape.loops(&domain);
                let mut member = self.level(state, of, &loops, 0, &domain).0;
                member.cycles *= self.waits.get(&of).copied().unwrap_or(1.0);
                cost.add(&member, times);
                written += member.written;
            }
        }
        self.innermost.retain(|func| !members.contains(func));
        let own = if depth < loops.len() {
            self.for_loop(state, of, loops, depth, domain, &boxes)
        } else {
            self.innermost(state, of, loops, domain, &boxes)
        };
        cost.add(&own, 1.0);
        cost.written = if is_innermost { written + own.written } else { own.written };
        if is_innermost && own.written <= MOST_WRITTEN && cost.written > MOST_WRITTEN && depth == loops.len() {
            cost.cycles *= TOO_LONG;
        }
        self.resident.retain(|func, _| !resident.contains(func));
        (cost, boxes)
    }

    /// The region of a member that one iteration computes, and how often that makes up for an iteration: one that
    /// slides computes what the iteration before it did not, and all of it in the first one.
    fn computed(
        &self,
        state: &State,
        member: FuncId,
        region: &Box,
        loops: &[LoopSpec],
        depth: usize,
        domain: &[(i64, i64)],
    ) -> (Box, f64) {
        let Place::At { host, slides: true, .. } = state.place(member) else { return (region.clone(), 1.0) };
        let Some(around) = depth.checked_sub(1).and_then(|d| loops.get(d)).filter(|l| l.trip > 1.0) else {
            return (region.clone(), 1.0);
        };
        let mut next = Box::from_slice(domain);
        next[around.var].0 += around.step;
        next[around.var].1 += around.step;
        let inside = |func: FuncId| state.is_inlined(func) || state.is_inside(func, host, depth);
        let boxes = needed(self.dag, host, &next, &inside);
        let Some(next) = boxes.get(Source::Func(member)) else { return (region.clone(), 1.0) };
        let moves: Vec<usize> = (0..region.len()).filter(|d| region[*d] != next[*d]).collect();
        match moves[..] {
            [d] if next[d].1 > region[d].1 && next[d].0 >= region[d].0 && next[d].0 <= region[d].1 => {
                let mut new = region.clone();
                new[d] = (region[d].1 + 1, next[d].1);
                let first = volume(region) / volume(&new).max(1.0);
                (new, (first + around.trip - 1.0) / around.trip)
            }
            _ => (region.clone(), 1.0),
        }
    }

    /// Returns true if all loops of a member over its elements are written out, and each of its elements is known where
    /// it is used, so that registers may hold it.
    fn is_written_out(&self, state: &State, member: FuncId, region: &Box) -> bool {
        let func = &self.dag.funcs[member];
        !func.is_indexed
            && (0..func.stages.len()).all(|stage| {
                let domain = self.dag.domain((member, stage), region);
                let Some(shape) = state.shape((member, stage)) else { return false };
                let vars = &func.stages[stage].vars;
                shape.loops(&domain).iter().all(|l| l.trip <= 1.0 || vars[l.var].dim.is_none())
            })
    }

    /// Returns true if vectors of a member that is written out are read at other places than they are stored to: then
    /// registers do not hold them, and each waits until the stores that it has a part of are in the cache.
    fn is_shifted(
        &mut self,
        state: &State,
        member: FuncId,
        host: (FuncId, usize),
        domain: &[(i64, i64)],
        boxes: &Boxes,
    ) -> bool {
        let Some((along, lanes)) = state.shape((member, 0)).and_then(|shape| shape.vector) else { return false };
        let Some(dim) = self.dag.funcs[member].stages[0].vars[along].dim else { return false };
        let key = (member, dim, lanes, host);
        if let Some(known) = self.memo.shifted.get(&key) {
            return *known;
        }
        let (mut phases, mut visits) = (BTreeSet::new(), 0);
        for reader in state.readers(self.dag, member) {
            let domain = match boxes.get(Source::Func(reader.0)) {
                _ if reader == host => Box::from_slice(domain),
                Some(region) => self.dag.domain(reader, region),
                None => continue,
            };
            let first: Vec<i64> = domain.iter().map(|span| span.0).collect();
            let read = elements(self.dag, reader, &first, &|func| state.is_inlined(func), &mut visits);
            let of_member = read.iter().filter(|element| element.source == Source::Func(member));
            phases.extend(of_member.map(|element| element.at[dim].0.rem_euclid(lanes)));
        }
        self.memo.shifted.insert(key, phases.len() > 1);
        phases.len() > 1
    }

    /// Bytes of Funcs that registers hold, beside operands.
    fn register_bytes(&self) -> f64 {
        let vector = &self.machine.vector;
        f64::from(vector.registers) / 2.0 * f64::from(vector.bits) / 8.0
    }

    fn for_loop(
        &mut self,
        state: &State,
        of: (FuncId, usize),
        loops: &[LoopSpec],
        depth: usize,
        domain: &[(i64, i64)],
        around: &Boxes,
    ) -> Cost {
        let l = loops[depth];
        let mut middle = Box::from_slice(domain);
        restrict(&mut middle, &l);
        let (body, boxes) = self.level(state, of, loops, depth + 1, &middle);
        let mut cost = Cost::default();
        cost.add(&body, l.trip);
        if l.trip <= 1.0 {
            cost.written = body.written;
            return cost;
        }
        cost.cycles += l.trip * CYCLES_OF_ITERATION + CYCLES_OF_ENTRY;
        let inside = |func: FuncId| state.is_inside(func, of, depth + 1);
        let needs_more = state.has_members(of.0);
        let all = match needs_more {
            true => &needed(self.dag, of, domain, &|func| state.is_inlined(func) || inside(func)),
            false => around,
        };
        let points = body.points.values().sum();
        let touched = self.bytes(state, boxes.iter(), None, points) + self.own(state, of, &middle, None);
        for level in 0..self.machine.caches.len() {
            let holds = self.machine.caches[level].usable(self.threads) as f64;
            if touched > holds || touched + self.evicted(&boxes, level) > holds {
                continue;
            }
            // What is allocated in the loop is the same memory in each iteration.
            let is_inner = |source: &Source| matches!(source, Source::Func(func) if inside(*func));
            let once = all.iter().filter(|(source, _)| !is_inner(source));
            let once = once.chain(boxes.iter().filter(|(source, _)| is_inner(source)));
            let footprint =
                self.bytes(state, once, Some(level), points * l.trip) + self.own(state, of, domain, Some(level));
            cost.moved[level] = cost.moved[level].min(footprint);
        }
        cost
    }

    fn innermost(
        &mut self,
        state: &State,
        of: (FuncId, usize),
        loops: &[LoopSpec],
        domain: &[(i64, i64)],
        boxes: &Boxes,
    ) -> Cost {
        let Some(shape) = state.shape(of) else { return Cost::default() };
        let innermost = loops.iter().rev().find(|l| l.trip > 1.0).map(|l| (l.var, l.step, l.trip));
        let resident: Vec<FuncId> = self.resident.keys().copied().collect();
        let constants = constants(self.dag, state, of, loops, shape);
        let innermost_key = innermost.map(|(v, step, trip)| (v, step, trip as i64));
        let is_cut = self.is_cut(state, of, loops, shape);
        let mut asked = shape.clone();
        // Threads along tiles make no other instructions.
        asked.tile.iter_mut().filter(|_| self.lanes_apart).for_each(|tile| *tile = 0);
        let key = (of.0, of.1, asked, innermost_key, resident, constants, is_cut);
        let made = match self.memo.kernels.get(&key) {
            Some(known) => *known,
            None => {
                let work = self.work(state, of);
                let at: Vec<i64> = domain.iter().map(|span| span.0).collect();
                let question = Question {
                    of,
                    shape,
                    at: &at,
                    innermost,
                    is_inlined: &|func| state.is_inlined(func),
                    is_resident: &|func| self.resident.contains_key(&func),
                    work: &work,
                    constants,
                    is_cut,
                    lanes_apart: self.lanes_apart,
                };
                let made = kernel(self.dag, &question, &self.machine.vector);
                self.memo.kernels.insert(key, made);
                made
            }
        };
        let computed: f64 = domain.iter().map(|span| extent(*span) as f64).product();
        let moved = (0..self.machine.caches.len()).map(|level| {
            self.bytes(state, boxes.iter(), Some(level), computed) + self.own(state, of, domain, Some(level))
        });
        let slower = if self.is_slow(state, of) { SLOW_CODE } else { 1.0 };
        Cost {
            cycles: slower * made.cycles(&self.machine.vector),
            moved: moved.collect(),
            written: made.written,
            code: made.written,
            points: BTreeMap::from([(of.0, computed)]),
        }
    }

    /// Returns true if some loop along the vectors of a definition is small enough to be cut where clamps of
    /// coordinates begin: its own one, or the innermost one around it.
    fn is_cut(&self, state: &State, of: (FuncId, usize), loops: &[LoopSpec], shape: &Shape) -> bool {
        let Some((along, _)) = shape.vector else { return true };
        loops.iter().any(|l| l.var == along && l.trip > 1.0)
            || self.innermost.contains(&of.0)
            || !matches!(state.place(of.0), Place::At { .. })
    }

    fn work(&mut self, state: &State, of: (FuncId, usize)) -> Rc<Work> {
        if let Some(known) = self.memo.works.get(&of) {
            return known.clone();
        }
        let stage = &self.dag.funcs[of.0].stages[of.1];
        let made = with_inlined(self.dag, stage, &|func| state.is_inlined(func), &mut self.memo.inner_work);
        self.memo.works.entry(of).or_insert(Rc::new(made)).clone()
    }
}

/// The variables, a bit each, whose values are constants in all that is written out: reductions with a constant number
/// of terms, and the few elements of an output for which there is code by itself, and of what is computed with them.
fn constants(dag: &Dag<'_>, state: &State, of: (FuncId, usize), loops: &[LoopSpec], shape: &Shape) -> u32 {
    let by_output = dag.funcs[state.root(of.0)].is_output;
    let is_few = |whole, n| extent(whole) <= MOST_FIXED.min(shape.block(n));
    let is_constant = |n: usize, var: &StageVar| {
        let is_whole = loops.iter().all(|l| l.var != n || l.trip <= 1.0);
        is_whole
            && shape.block(n) > 1
            && match var.dim {
                Some(d) => by_output && dag.whole(Source::Func(of.0)).get(d).is_some_and(|whole| is_few(*whole, n)),
                None => var.extent.is_some(),
            }
    };
    let vars = dag.funcs[of.0].stages[of.1].vars.iter().enumerate().take(32);
    vars.filter(|(n, var)| is_constant(*n, var)).fold(0, |all, (n, _)| all | 1 << n)
}
