//! Sums that registers hold: the definitions of general registers, read as linear forms modulo 2^64.

use super::super::inst::{Arg, Base, BlockId, Body, Inst, Mem, View};
use super::Row;
use super::plan::Group;
use super::simple_loop::{Param, SimpleLoop};
use crate::tuning::{ADDRESS_DEPTH, ADDRESS_TERMS};
use iced_x86::Code;
use regalloc2::{RegClass, VReg};
use std::collections::BTreeMap;

/// Registers, each with a factor, and a constant. The registers are in the order of their numbers, no factor is 0.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Sum {
    pub(super) terms: Vec<(VReg, i64)>,
    pub(super) constant: i64,
}

/// A value of each iteration of a loop: `start` in the first one, `step` more in each further one, and `varying`, whose
/// registers the loop defines and which are no such sums themselves.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Value {
    pub(super) start: Sum,
    pub(super) step: Sum,
    pub(super) varying: Sum,
}

/// The instruction that defines each register.
pub(super) struct Definitions<'a> {
    body: &'a Body,
    /// The block and the position in it.
    places: Vec<Option<(usize, usize)>>,
    /// The sums around the function that registers have the values of; values around it have numbers of registers
    /// that no function has.
    captured: BTreeMap<VReg, Sum>,
}

impl Sum {
    pub(super) fn of(register: VReg) -> Sum {
        Sum { terms: vec![(register, 1)], constant: 0 }
    }
    fn constant(constant: i64) -> Sum {
        Sum { terms: Vec::new(), constant }
    }
    /// Adds a multiple of another sum; None where there are too many terms.
    pub(super) fn plus(&self, other: &Sum, factor: i64) -> Option<Sum> {
        let mut made = self.clone();
        made.constant = made.constant.wrapping_add(other.constant.wrapping_mul(factor));
        for (register, times) in &other.terms {
            let times = times.wrapping_mul(factor);
            match made.terms.binary_search_by_key(&register.vreg(), |(r, _)| r.vreg()) {
                Ok(at) => {
                    made.terms[at].1 = made.terms[at].1.wrapping_add(times);
                    if made.terms[at].1 == 0 {
                        made.terms.remove(at);
                    }
                }
                Err(at) if times != 0 => made.terms.insert(at, (*register, times)),
                Err(_) => {}
            }
        }
        (made.terms.len() <= ADDRESS_TERMS).then_some(made)
    }
}

impl Value {
    fn invariant(start: Sum) -> Value {
        Value { start, ..Value::default() }
    }
    fn varying(register: VReg) -> Value {
        Value { varying: Sum::of(register), ..Value::default() }
    }
    /// Returns true if it is the same in all iterations.
    pub(super) fn is_invariant(&self) -> bool {
        self.step == Sum::default() && self.varying == Sum::default()
    }
    fn plus(&self, other: &Value, factor: i64) -> Option<Value> {
        Some(Value {
            start: self.start.plus(&other.start, factor)?,
            step: self.step.plus(&other.step, factor)?,
            varying: self.varying.plus(&other.varying, factor)?,
        })
    }
    fn times(&self, factor: i64) -> Option<Value> {
        Value::default().plus(self, factor)
    }
    /// The product with a register that the loop does not change; None unless all parts are constants.
    fn times_register(&self, register: VReg) -> Option<Value> {
        let part = |sum: &Sum| match sum.terms.is_empty() {
            true => Sum::default().plus(&Sum::of(register), sum.constant),
            false => None,
        };
        Some(Value { start: part(&self.start)?, step: part(&self.step)?, varying: part(&self.varying)? })
    }
    /// The only register of a value that is one without a factor, and that the loop does not change.
    fn as_register(&self) -> Option<VReg> {
        match (&self.start.terms[..], self.start.constant, self.is_invariant()) {
            ([(register, 1)], 0, true) => Some(*register),
            _ => None,
        }
    }
}

impl<'a> Definitions<'a> {
    /// Finds the definitions of all registers.
    pub(super) fn new(body: &'a Body) -> Definitions<'a> {
        let mut places = vec![None; body.registers];
        for id in &body.order {
            for (at, inst) in body.blocks[id.0].insts.iter().enumerate() {
                for arg in &inst.args {
                    if let Arg::Def(v, _) | Arg::Mod { to: v, .. } = arg {
                        places[v.vreg()] = Some((id.0, at));
                    }
                }
            }
        }
        let value = |number: usize| VReg::new(VReg::MAX - number, RegClass::Int);
        let captured = body.captured.iter().map(|(register, sum)| {
            let mut terms: Vec<_> = sum.terms.iter().map(|(number, factor)| (value(*number), *factor)).collect();
            terms.retain(|(_, factor)| *factor != 0);
            terms.sort();
            (*register, Sum { terms, constant: sum.constant })
        });
        Definitions { body, places, captured: captured.collect() }
    }
    /// A sum in terms of values around the function, where they are known. Such a sum cannot be computed.
    fn opened(&self, sum: &Sum) -> Option<Sum> {
        let constant = Sum::constant(sum.constant);
        sum.terms.iter().try_fold(constant, |made, (register, factor)| match self.captured.get(register) {
            Some(known) => made.plus(known, *factor),
            None => made.plus(&Sum::of(*register), *factor),
        })
    }
    /// The stride of a group as a sum that can be computed: as it is, or the difference of two rows.
    pub(super) fn known_stride(&self, group: &Group, rows: &[Row]) -> Option<Sum> {
        if group.stride.terms.iter().all(|(register, _)| register.vreg() < self.body.registers) {
            return Some(group.stride.clone());
        }
        let next = group.rows.windows(2).find(|pair| pair[1].1 - pair[0].1 == 1)?;
        let [from, to] = [&rows[next[0].0], &rows[next[1].0]];
        let mut stride = to.value.start.plus(&from.value.start, -1)?;
        stride.constant = from.opened.start.constant.wrapping_sub(to.opened.start.constant);
        Some(stride)
    }
    /// A value in terms of values around the function, where they are known.
    pub(super) fn opened_value(&self, value: &Value) -> Option<Value> {
        Some(Value {
            start: self.opened(&value.start)?,
            step: self.opened(&value.step)?,
            varying: value.varying.clone(),
        })
    }
    fn inst(&self, register: VReg) -> Option<(usize, &'a Inst)> {
        let (block, at) = self.places[register.vreg()]?;
        Some((block, &self.body.blocks[block].insts[at]))
    }
    /// The sum that a register holds which is defined outside of all loops in question. What is no sum is a term.
    fn sum(&self, register: VReg, depth: usize) -> Sum {
        let known = self.inst(register).filter(|_| depth > 0);
        let read = known.and_then(|(_, inst)| linear(inst, |v| Some(Value::invariant(self.sum(v, depth - 1)))));
        read.map_or_else(|| Sum::of(register), |made| made.start)
    }
    /// The value of a register in each iteration of a loop.
    fn value(&self, l: &SimpleLoop, register: VReg, depth: usize) -> Value {
        if let Some(param) = l.param(register) {
            let first = self.sum(param.first, ADDRESS_DEPTH);
            return match self.step(l, param) {
                Some(step) => Value { step, ..Value::invariant(first) },
                None => Value::varying(register),
            };
        }
        match self.inst(register) {
            Some((block, inst)) if l.contains(block) => {
                let read = depth.checked_sub(1).and_then(|d| linear(inst, |v| Some(self.value(l, v, d))));
                read.unwrap_or_else(|| Value::varying(register))
            }
            None if l.defines(register) => Value::varying(register),
            _ => Value::invariant(self.sum(register, ADDRESS_DEPTH)),
        }
    }
    /// The difference of a parameter from one iteration to the next, if the loop does not change it.
    fn step(&self, l: &SimpleLoop, param: &Param) -> Option<Sum> {
        let (_, next) = self.inst(param.next)?;
        match next.args[..] {
            [Arg::Def(..), Arg::Mem(mem)] if next.code == Code::Lea_r64_m && mem.base == Base::Reg(param.register) => {
                let constant = Sum::constant(i64::from(mem.offset));
                match mem.index {
                    None => Some(constant),
                    Some((index, _, scale)) if !self.is_inside(l, index) => {
                        constant.plus(&self.sum(index, ADDRESS_DEPTH), i64::from(scale))
                    }
                    Some(_) => None,
                }
            }
            _ => None,
        }
    }
    fn is_inside(&self, l: &SimpleLoop, register: VReg) -> bool {
        l.defines(register) || self.places[register.vreg()].is_some_and(|(block, _)| l.contains(block))
    }
    /// The address in each iteration of a loop.
    pub(super) fn address(&self, l: &SimpleLoop, mem: &Mem) -> Option<Value> {
        address(mem, |v| Some(self.value(l, v, ADDRESS_DEPTH)))
    }
    /// Returns the base of an address, if the loop does not change it, and the value of its scaled index.
    pub(super) fn scaled_index(&self, l: &SimpleLoop, mem: &Mem) -> Option<(VReg, Value)> {
        let Base::Reg(base) = mem.base else { return None };
        let index = match mem.index {
            None => Value::default(),
            Some((v, View::G64, scale)) => self.value(l, v, ADDRESS_DEPTH).times(i64::from(scale))?,
            Some(_) => return None,
        };
        (!self.is_inside(l, base)).then_some((base, index))
    }
    /// Returns true if a register has its value in front of an instruction of a loop, or at the end of a block.
    pub(super) fn is_known(&self, l: &SimpleLoop, register: VReg, (block, at): (BlockId, Option<usize>)) -> bool {
        let order = |b: usize| l.blocks.iter().position(|(other, _)| other.0 == b);
        match self.places[register.vreg()] {
            Some((defined, by)) if l.contains(defined) => match defined == block.0 {
                true => at.is_none_or(|at| by < at),
                false => order(defined) < order(block.0) && l.blocks.iter().any(|(b, spine)| b.0 == defined && *spine),
            },
            Some(_) => true,
            // A parameter of another block than the head is not looked for.
            None => l.param(register).is_some() || !l.defines(register),
        }
    }
}

/// The address of memory whose registers have these values.
fn address(mem: &Mem, value: impl Fn(VReg) -> Option<Value>) -> Option<Value> {
    let Base::Reg(base) = mem.base else { return None };
    let mut made = value(base)?;
    match mem.index {
        None => {}
        Some((index, View::G64, scale)) => made = made.plus(&value(index)?, i64::from(scale))?,
        Some(_) => return None,
    }
    made.start.constant = made.start.constant.wrapping_add(i64::from(mem.offset));
    Some(made)
}

/// The value of an instruction's result by those of its operands; None if it is no linear function of them. The
/// registers of sums stay the same in the loop, so one of them may be a factor.
fn linear(inst: &Inst, value: impl Fn(VReg) -> Option<Value>) -> Option<Value> {
    match (inst.code, &inst.args[..]) {
        (Code::Lea_r64_m, [Arg::Def(..), Arg::Mem(mem)]) => address(mem, value),
        (Code::Mov_r32_imm32, [Arg::Def(..), Arg::Imm(v @ 0..)])
        | (Code::Mov_r64_imm64, [Arg::Def(..), Arg::Imm(v)]) => Some(Value::invariant(Sum::constant(*v))),
        (Code::Shl_rm64_imm8, [Arg::Mod { from, .. }, Arg::Imm(bits @ 0..63)]) => value(*from)?.times(1 << bits),
        (Code::Imul_r64_rm64_imm32, [Arg::Def(..), Arg::Use(from, _), Arg::Imm(factor)]) => {
            value(*from)?.times(*factor)
        }
        (Code::Add_r64_rm64, [Arg::Mod { from, .. }, Arg::Use(other, _)]) => value(*from)?.plus(&value(*other)?, 1),
        (Code::Sub_r64_rm64, [Arg::Mod { from, .. }, Arg::Use(other, _)]) => value(*from)?.plus(&value(*other)?, -1),
        (Code::Neg_rm64, [Arg::Mod { from, .. }]) => value(*from)?.times(-1),
        (Code::Imul_r64_rm64, [Arg::Mod { from, .. }, Arg::Use(other, _)]) => {
            let (a, b) = (value(*from)?, value(*other)?);
            match (a.as_register(), b.as_register()) {
                (_, Some(register)) => a.times_register(register),
                (Some(register), _) => b.times_register(register),
                _ => None,
            }
        }
        _ => None,
    }
}
