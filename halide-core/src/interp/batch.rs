//! Evaluating one stage for many lanes at once, as far as what is known allows.
//!
//! Evaluation is lazy per lane: an operation is computed where the stage's results need it and its operands are known.
//! `select` needs its condition, then the arm chosen; values and targets are needed where the predicate holds. Reads of
//! Funcs whose values are not known yet become requests. Rounds of "what is needed" (backwards) and "what can be
//! computed" (forwards) go on until the results are known or something was requested.

use super::lanes;
use super::program::{Op, Program, Reg};
use super::store::{Points, Store};
use super::{Bound, RunError};
use crate::buffer::AnyBuffer;
use crate::ids::{FuncId, IdVec};
use crate::pipeline::PipelineData;
use std::collections::BTreeMap;
use std::ops::Range;

/// The most lanes of a batch.
pub(super) const LANES: usize = 256;

/// A set of lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mask([u64; LANES / 64]);

impl Mask {
    pub(super) const NONE: Mask = Mask([0; LANES / 64]);

    /// The lanes of a range.
    pub(super) fn range(lanes: Range<usize>) -> Mask {
        let below = |n: usize, word: usize| match n.saturating_sub(word * 64) {
            64.. => u64::MAX,
            bits => (1u64 << bits) - 1,
        };
        Mask(std::array::from_fn(|w| below(lanes.end, w) & !below(lanes.start, w)))
    }
    pub(super) fn contains(self, lane: usize) -> bool {
        self.0[lane / 64] >> (lane % 64) & 1 == 1
    }
    pub(super) fn and(self, other: Mask) -> Mask {
        Mask(std::array::from_fn(|w| self.0[w] & other.0[w]))
    }
    pub(super) fn or(self, other: Mask) -> Mask {
        Mask(std::array::from_fn(|w| self.0[w] | other.0[w]))
    }
    pub(super) fn minus(self, other: Mask) -> Mask {
        Mask(std::array::from_fn(|w| self.0[w] & !other.0[w]))
    }
    pub(super) fn is_empty(self) -> bool {
        self == Mask::NONE
    }
    fn insert(&mut self, lane: usize) {
        self.0[lane / 64] |= 1 << (lane % 64);
    }
    /// The lanes, ascending.
    pub(super) fn lanes(self) -> impl Iterator<Item = usize> {
        (0..LANES).filter(move |lane| self.contains(*lane))
    }
    /// From the first to the last lane.
    fn span(self) -> Range<usize> {
        let first = self.0.iter().position(|w| *w != 0);
        let last = self.0.iter().rposition(|w| *w != 0);
        match (first, last) {
            (Some(f), Some(l)) => {
                f * 64 + self.0[f].trailing_zeros() as usize..l * 64 + 64 - self.0[l].leading_zeros() as usize
            }
            _ => 0..0,
        }
    }
}

/// Points whose values somebody needs: of a Func, with so many stages applied.
pub(super) type Requests = BTreeMap<(FuncId, u16), Points>;

/// What evaluation reads.
pub(super) struct World<'a> {
    pub(super) pipeline: &'a PipelineData,
    pub(super) bound: &'a Bound,
    pub(super) stores: IdVec<FuncId, Store>,
}

/// A stage being evaluated at some lanes.
pub(super) struct Batch {
    pub(super) func: FuncId,
    pub(super) stage: usize,
    lanes: usize,
    /// Per dimension of the Func, the coordinate of each lane; empty for a dimension that the stage does not name.
    vars: Vec<Vec<i32>>,
    /// Per dimension of the reduction domain.
    rvars: Vec<Vec<i32>>,
    values: Vec<Vec<u64>>,
    known: Vec<Mask>,
}

impl Batch {
    pub(super) fn new(func: FuncId, stage: usize, lanes: usize, vars: Vec<Vec<i32>>, rvars: Vec<Vec<i32>>) -> Batch {
        Batch { func, stage, lanes, vars, rvars, values: Vec::new(), known: Vec::new() }
    }
    /// The bits of a register in a lane.
    pub(super) fn value(&self, reg: Reg, lane: usize) -> u64 {
        self.values[reg][lane]
    }
    pub(super) fn known(&self, reg: Reg) -> Mask {
        self.known[reg]
    }
    /// The lanes in which the predicate is known to hold.
    pub(super) fn active(&self, program: &Program) -> Mask {
        match program.guard {
            None => Mask::range(0..self.lanes),
            Some(guard) => self.lanes_where(self.known[guard], guard, true),
        }
    }
    /// Evaluates until all results in the lanes `now` are known (true) or something had to be requested (false).
    /// Only in those lanes are reads of the Func itself answered.
    pub(super) fn advance(
        &mut self,
        program: &Program,
        world: &World,
        now: Mask,
        requests: &mut Requests,
    ) -> Result<bool, RunError> {
        if self.values.is_empty() {
            // Also of what may never be needed: a select copies the arm chosen and looks at both.
            self.values.resize_with(program.ops.len(), || vec![0; self.lanes]);
            self.known.resize(program.ops.len(), Mask::NONE);
        }
        loop {
            if self.is_complete(program, now) {
                return Ok(true);
            }
            let needed = self.needed(program);
            let before = self.known.clone();
            for (reg, op) in program.ops.iter().enumerate() {
                let todo = needed[reg].minus(self.known[reg]);
                if !todo.is_empty() {
                    self.step(program, world, now, requests, reg, op, todo)?;
                }
            }
            if !requests.is_empty() {
                return Ok(false);
            }
            if self.known == before {
                return Err(self.malformed(world, "evaluation makes no progress"));
            }
        }
    }

    fn is_complete(&self, program: &Program, now: Mask) -> bool {
        let guarded = program.guard.is_none_or(|g| now.minus(self.known[g]).is_empty());
        let active = self.active(program).and(now);
        let mut results = program.targets.iter().chain(&program.values);
        guarded && results.all(|r| active.minus(self.known[*r]).is_empty())
    }

    /// For each operation, the lanes in which it is needed, as far as conditions are known.
    fn needed(&self, program: &Program) -> Vec<Mask> {
        let mut needed = vec![Mask::NONE; program.ops.len()];
        let add = |needed: &mut Vec<Mask>, reg: Reg, mask: Mask| needed[reg] = needed[reg].or(mask);
        if let Some(guard) = program.guard {
            add(&mut needed, guard, Mask::range(0..self.lanes));
        }
        let active = self.active(program);
        for reg in program.targets.iter().chain(&program.values) {
            add(&mut needed, *reg, active);
        }
        for (reg, op) in program.ops.iter().enumerate().rev() {
            let todo = needed[reg].minus(self.known[reg]);
            if todo.is_empty() {
                continue;
            }
            match op {
                Op::Const(_) | Op::Var { .. } | Op::RVar { .. } => {}
                Op::Unary(_, _, a) | Op::Copy(a) | Op::IndexNeg(a) | Op::ToIndex(a) => add(&mut needed, *a, todo),
                Op::Cast { a, .. } | Op::SaturatingCast { a, .. } => add(&mut needed, *a, todo),
                Op::Binary(_, _, a, b) | Op::IndexBinary(_, a, b) => {
                    add(&mut needed, *a, todo);
                    add(&mut needed, *b, todo);
                }
                Op::Select(c, a, b) => {
                    add(&mut needed, *c, todo);
                    for (arm, side) in [(a, true), (b, false)] {
                        let all = program.total[*arm];
                        add(&mut needed, *arm, if all { todo } else { self.lanes_where(todo, *c, side) });
                    }
                }
                Op::Math(_, _, args) | Op::Call { args, .. } | Op::SelfCall { args, .. } | Op::Image { args, .. } => {
                    for a in args {
                        add(&mut needed, *a, todo);
                    }
                }
            }
        }
        needed
    }

    /// The lanes of `mask` in which the truth value `reg` is known to be `side`.
    fn lanes_where(&self, mask: Mask, reg: Reg, side: bool) -> Mask {
        let (mut out, candidates) = (Mask::NONE, mask.and(self.known[reg]));
        for lane in candidates.span() {
            if candidates.contains(lane) && (self.values[reg][lane] != 0) == side {
                out.insert(lane);
            }
        }
        out
    }

    /// Computes one operation where it is needed and its operands are known.
    #[allow(clippy::too_many_arguments)]
    fn step(
        &mut self,
        program: &Program,
        world: &World,
        now: Mask,
        requests: &mut Requests,
        reg: Reg,
        op: &Op,
        todo: Mask,
    ) -> Result<(), RunError> {
        let mut out = std::mem::take(&mut self.values[reg]);
        let ready = todo.and(self.operands_known(program, op, todo));
        let known = match op {
            Op::Var { dim, index } => fill(&mut out, ready, &self.vars[*dim], *index),
            Op::RVar { dim, index } => fill(&mut out, ready, &self.rvars[*dim], *index),
            Op::Image { image, args } => self.read_image(world, &mut out, ready, *image, args)?,
            Op::Call { func, element, args } => {
                let stages = world.pipeline.funcs[*func].stages.len() as u16;
                self.read_func(world, &mut out, ready, (*func, stages), *element, args, ready, requests)?
            }
            Op::SelfCall { element, args } => {
                let wanted = (self.func, self.stage as u16);
                self.read_func(world, &mut out, ready, wanted, *element, args, ready.and(now), requests)?
            }
            _ => {
                let reg = |r: Reg| self.values[r].as_slice();
                let overflow = lanes::compute(op, reg, &mut out, ready.span(), |lane| ready.contains(lane));
                if overflow.is_some() {
                    return Err(self.overflow(world));
                }
                ready
            }
        };
        self.values[reg] = out;
        self.known[reg] = self.known[reg].or(known);
        Ok(())
    }

    /// The lanes of `todo` in which every operand that counts is known.
    fn operands_known(&self, program: &Program, op: &Op, todo: Mask) -> Mask {
        let known = |r: &Reg| self.known[*r];
        match op {
            Op::Const(_) | Op::Var { .. } | Op::RVar { .. } => todo,
            Op::Unary(_, _, a) | Op::Copy(a) | Op::IndexNeg(a) | Op::ToIndex(a) => known(a),
            Op::Cast { a, .. } | Op::SaturatingCast { a, .. } => known(a),
            Op::Binary(_, _, a, b) | Op::IndexBinary(_, a, b) => known(a).and(known(b)),
            Op::Select(c, a, b) if program.total[*a] && program.total[*b] => known(c).and(known(a)).and(known(b)),
            Op::Select(c, a, b) => {
                let first = self.lanes_where(todo, *c, true).and(known(a));
                first.or(self.lanes_where(todo, *c, false).and(known(b)))
            }
            Op::Math(_, _, args) | Op::Call { args, .. } | Op::SelfCall { args, .. } | Op::Image { args, .. } => {
                args.iter().fold(todo, |mask, a| mask.and(known(a)))
            }
        }
    }

    fn read_image(
        &self,
        world: &World,
        out: &mut [u64],
        ready: Mask,
        image: crate::ids::ImageId,
        args: &[Reg],
    ) -> Result<Mask, RunError> {
        let buffer: &AnyBuffer = &world.bound.images[image];
        let mut at = vec![0i64; args.len()];
        for lane in ready.span().filter(|lane| ready.contains(*lane)) {
            for (c, arg) in at.iter_mut().zip(args) {
                *c = self.values[*arg][lane] as i64;
            }
            match buffer.get(&at) {
                Some(value) => out[lane] = value.bits(),
                None => return Err(self.outside(world, image, &at)),
            }
        }
        Ok(ready)
    }

    /// Reads the known values, and requests the others. `readable` are the lanes in which a value may be read now.
    #[allow(clippy::too_many_arguments)]
    fn read_func(
        &self,
        world: &World,
        out: &mut [u64],
        ready: Mask,
        (func, stages): (FuncId, u16),
        element: usize,
        args: &[Reg],
        readable: Mask,
        requests: &mut Requests,
    ) -> Result<Mask, RunError> {
        let (store, mut known) = (&world.stores[func], Mask::NONE);
        let mut at = vec![0i32; args.len()];
        for lane in ready.span().filter(|lane| ready.contains(*lane)) {
            for (c, arg) in at.iter_mut().zip(args) {
                *c = i32::try_from(self.values[*arg][lane] as i64).map_err(|_| self.overflow(world))?;
            }
            match store.find(&at).filter(|place| store.applied_at(*place) >= stages) {
                Some(place) if readable.contains(lane) => {
                    out[lane] = store.value(place, element);
                    known.insert(lane);
                }
                Some(_) => {}
                None => {
                    let points = requests.entry((func, stages)).or_insert_with(|| Points::new(at.len()));
                    points.push(at.iter().copied());
                }
            }
        }
        Ok(known)
    }

    fn outside(&self, world: &World, image: crate::ids::ImageId, at: &[i64]) -> RunError {
        let buffer = &world.bound.images[image];
        let dim = buffer.dims().iter().zip(at).position(|(d, c)| !d.span().contains(*c)).unwrap_or(0);
        RunError::ReadOutside {
            func: world.pipeline.funcs[self.func].name.clone(),
            image: world.pipeline.images[image].name.clone(),
            dim,
            at: at.get(dim).copied().unwrap_or(0),
            min: buffer.min(dim),
            extent: buffer.extent(dim),
        }
    }
    pub(super) fn overflow(&self, world: &World) -> RunError {
        RunError::IndexOverflow { func: world.pipeline.funcs[self.func].name.clone(), stage: self.stage }
    }
    fn malformed(&self, world: &World, reason: &str) -> RunError {
        let func = world.pipeline.funcs[self.func].name.clone();
        RunError::Malformed { func, stage: self.stage, reason: reason.to_string() }
    }
}

fn fill(out: &mut [u64], ready: Mask, coordinates: &[i32], index: bool) -> Mask {
    for lane in ready.span() {
        let c = coordinates[lane];
        out[lane] = if index { c as i64 as u64 } else { c as u32 as u64 };
    }
    ready
}
