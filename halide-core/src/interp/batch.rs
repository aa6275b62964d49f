//! Evaluating one stage for many lanes at once, as far as what is known allows.
//!
//! Evaluation is lazy per lane: an operation is computed where the stage's results need it and its operands are known.
//! `select` needs its condition, then the arm chosen; values and targets are needed where the predicate holds. Reads of
//! Funcs whose values are not known yet become requests. Rounds of "what is needed" (backwards) and "what can be
//! computed" (forwards) go on until the results are known or something was requested.

use super::error::{RunError, required};
use super::lanes;
use super::mask::Mask;
use super::op::{Note, Op, Program, Reg};
use super::read::{Reader, Source};
use super::world::{Requests, World};
use crate::ids::FuncId;
use crate::pipeline::NoteKind;

/// A stage being evaluated at some lanes.
pub(super) struct Batch {
    pub(super) func: FuncId,
    pub(super) stage: usize,
    lanes: usize,
    /// Per dimension of the Func, the coordinate of each lane; empty for a dimension that the stage does not name.
    vars: Vec<Vec<i32>>,
    /// Per dimension of the reduction domain.
    rvars: Vec<Vec<i32>>,
    /// Registers one after the other, a value per lane.
    values: Vec<u64>,
    known: Vec<Mask>,
}

/// One operation to be computed, where it is needed and not known.
struct PendingOp<'a> {
    program: &'a Program,
    world: &'a World<'a>,
    now: Mask,
    reg: Reg,
    todo: Mask,
}

impl Batch {
    pub(super) fn new(func: FuncId, stage: usize, lanes: usize, vars: Vec<Vec<i32>>, rvars: Vec<Vec<i32>>) -> Batch {
        Batch { func, stage, lanes, vars, rvars, values: Vec::new(), known: Vec::new() }
    }
    /// The bits of a register in a lane.
    pub(super) fn value(&self, reg: Reg, lane: usize) -> u64 {
        self.register(reg)[lane]
    }
    fn register(&self, reg: Reg) -> &[u64] {
        &self.values[reg * self.lanes..(reg + 1) * self.lanes]
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
    /// Returns true if the update is done in a lane: nothing that follows in it can be stored.
    pub(super) fn is_done(&self, program: &Program, lane: usize) -> bool {
        program.settled.iter().any(|part| self.known[*part].contains(lane) && self.value(*part, lane) == 0)
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
            self.values = vec![0; program.ops.len() * self.lanes];
            self.known = vec![Mask::NONE; program.ops.len()];
        }
        loop {
            if self.is_complete(program, now) {
                return Ok(true);
            }
            let needed = self.needed(program);
            let before = self.known.clone();
            for (reg, needed) in needed.iter().enumerate() {
                let todo = needed.minus(self.known[reg]);
                if !todo.is_empty() {
                    self.step(&PendingOp { program, world, now, reg, todo }, requests)?;
                }
            }
            if !requests.is_empty() {
                return Ok(false);
            }
            if self.known == before {
                return Err(self.reader(world).malformed("evaluation makes no progress"));
            }
        }
    }

    fn is_complete(&self, program: &Program, now: Mask) -> bool {
        let guarded = program.guard.is_none_or(|g| now.minus(self.known[g]).is_empty());
        let active = self.active(program).and(now);
        guarded && program.results().all(|r| active.minus(self.known[r]).is_empty())
    }

    /// Returns the lanes in which each operation is needed, as far as conditions are known.
    fn needed(&self, program: &Program) -> Vec<Mask> {
        let mut needed = vec![Mask::NONE; program.ops.len()];
        let add = |needed: &mut Vec<Mask>, reg: Reg, mask: Mask| needed[reg] = needed[reg].or(mask);
        if let Some(guard) = program.guard {
            add(&mut needed, guard, Mask::range(0..self.lanes));
        }
        let active = self.active(program);
        for reg in program.results() {
            add(&mut needed, reg, active);
        }
        for (reg, op) in program.ops.iter().enumerate().rev() {
            let todo = needed[reg].minus(self.known[reg]);
            if todo.is_empty() {
                continue;
            }
            match op {
                Op::Const(_) | Op::Var { .. } | Op::RVar { .. } | Op::Before { .. } => {}
                Op::Unary(_, _, a) | Op::Copy(a) | Op::IndexNeg(a) | Op::ToIndex(a) => add(&mut needed, *a, todo),
                Op::Cast { a, .. } | Op::SaturatingCast { a, .. } => add(&mut needed, *a, todo),
                Op::Binary(_, _, a, b) | Op::IndexBinary(_, a, b) | Op::IndexCompare(_, a, b) => {
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
                Op::Note(note) => {
                    add(&mut needed, note.condition, todo);
                    let holds = self.lanes_where(todo, note.condition, true);
                    add(&mut needed, note.value, if note.kind == NoteKind::Print { todo } else { holds });
                    let told = self.lanes_where(todo, note.condition, note.tells());
                    note.parts.iter().for_each(|(part, _)| add(&mut needed, *part, told));
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
        let values = self.register(reg);
        for lane in candidates.span() {
            if candidates.contains(lane) && (values[lane] != 0) == side {
                out.insert(lane);
            }
        }
        out
    }

    /// Computes one operation where it is needed and its operands are known.
    fn step(&mut self, step: &PendingOp, requests: &mut Requests) -> Result<(), RunError> {
        let PendingOp { program, world, now, reg, todo } = *step;
        let op = &program.ops[reg];
        let ready = todo.and(self.operands_known(program, op, todo));
        if let Op::Note(note) = op {
            self.tell(note, world, ready)?;
        }
        let place = self.reader(world);
        // Operands have smaller registers.
        let (operands, rest) = self.values.split_at_mut(reg * self.lanes);
        let out = &mut rest[..self.lanes];
        let lanes = self.lanes;
        let operand = |r: Reg| &operands[r * lanes..(r + 1) * lanes];
        let known = match op {
            Op::Var { dim, index } => fill(out, ready, &self.vars[*dim], *index),
            Op::RVar { dim, index } => fill(out, ready, &self.rvars[*dim], *index),
            Op::Before { element } => place.read_before(*element, &self.vars, out, ready)?,
            Op::Image { image, args } => place.read_image(*image, &columns(args, operand), out, ready)?,
            Op::Call { func, element, args } => {
                let stages = world.pipeline.funcs[*func].stages.len() as u32;
                let from = Source { func: *func, stages, element: *element };
                place.read_func(from, &columns(args, operand), out, ready, requests)?
            }
            Op::SelfCall { element, args } => {
                let from = Source { func: self.func, stages: self.stage as u32, element: *element };
                place.read_func(from, &columns(args, operand), out, ready.and(now), requests)?
            }
            _ => match lanes::compute(op, operand, out, ready.span(), |lane| ready.contains(lane)) {
                Some(_) => return Err(place.overflow()),
                None => ready,
            },
        };
        self.known[reg] = self.known[reg].or(known);
        Ok(())
    }

    /// Prints a line for each lane that says one; the first lane that does not hold what is required is an error.
    fn tell(&self, note: &Note, world: &World, ready: Mask) -> Result<(), RunError> {
        for lane in self.lanes_where(ready, note.condition, note.tells()).lanes() {
            let text = note.text(world.pipeline, |r| self.value(r, lane));
            match (note.kind, world.print) {
                (NoteKind::Print, Some(print)) => print(&text),
                (NoteKind::Print, None) => {}
                (NoteKind::Require, _) => {
                    let at = self.coordinates(world, lane);
                    let place = (self.func, self.stage);
                    return Err(required(world.pipeline, place, note.note, at, text));
                }
            }
        }
        Ok(())
    }

    /// The variables of the definition in a lane, by name.
    fn coordinates(&self, world: &World, lane: usize) -> Vec<(String, i32)> {
        let p = world.pipeline;
        let def = &p.funcs[self.func];
        let vars = def.args.iter().map(|v| p.vars[*v].clone());
        let rdom = def.stages[self.stage].rdom.map(|r| &p.rdoms[r]);
        let rvars = rdom.iter().flat_map(|r| &r.dims).map(|d| d.name.clone());
        let columns = self.vars.iter().chain(&self.rvars);
        vars.chain(rvars).zip(columns).filter_map(|(name, column)| Some((name, *column.get(lane)?))).collect()
    }

    /// The lanes of `todo` in which every operand that counts is known.
    fn operands_known(&self, program: &Program, op: &Op, todo: Mask) -> Mask {
        let known = |r: &Reg| self.known[*r];
        match op {
            Op::Const(_) | Op::Var { .. } | Op::RVar { .. } | Op::Before { .. } => todo,
            Op::Unary(_, _, a) | Op::Copy(a) | Op::IndexNeg(a) | Op::ToIndex(a) => known(a),
            Op::Cast { a, .. } | Op::SaturatingCast { a, .. } => known(a),
            Op::Binary(_, _, a, b) | Op::IndexBinary(_, a, b) | Op::IndexCompare(_, a, b) => known(a).and(known(b)),
            Op::Select(c, a, b) if program.total[*a] && program.total[*b] => known(c).and(known(a)).and(known(b)),
            Op::Select(c, a, b) => {
                let first = self.lanes_where(todo, *c, true).and(known(a));
                first.or(self.lanes_where(todo, *c, false).and(known(b)))
            }
            Op::Note(note) => {
                let side = |side| self.lanes_where(todo, note.condition, side);
                let value = known(&note.value);
                let parts = note.parts.iter().fold(todo, |mask, (part, _)| mask.and(known(part)));
                match note.kind {
                    NoteKind::Require => side(true).and(value).or(side(false).and(parts)),
                    NoteKind::Print => value.and(side(false).or(side(true).and(parts))),
                }
            }
            Op::Math(_, _, args) | Op::Call { args, .. } | Op::SelfCall { args, .. } | Op::Image { args, .. } => {
                args.iter().fold(todo, |mask, a| mask.and(known(a)))
            }
        }
    }

    pub(super) fn reader<'a>(&self, world: &'a World<'a>) -> Reader<'a> {
        Reader { world, func: self.func, stage: self.stage }
    }
}

fn columns<'a>(args: &[Reg], operand: impl Fn(Reg) -> &'a [u64]) -> Vec<&'a [u64]> {
    args.iter().map(|a| operand(*a)).collect()
}

fn fill(out: &mut [u64], ready: Mask, coordinates: &[i32], index: bool) -> Mask {
    for lane in ready.span() {
        let c = coordinates[lane];
        out[lane] = if index { c as i64 as u64 } else { c as u32 as u64 };
    }
    ready
}
