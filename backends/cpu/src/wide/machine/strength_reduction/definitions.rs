//! Sums that registers hold: the definitions of general registers, read as linear forms modulo 2^64.

use super::super::block_order::reverse_postorder;
use super::super::inst::{Arg, Base, BlockId, Body, Inst, Mem, View};
use super::plan::Group;
use super::row::Row;
use super::simple_loop::{Param, SimpleLoop};
use super::value::{Sum, Value};
use iced_x86::Code;
use regalloc2::{RegClass, VReg};
use std::collections::BTreeMap;

/// The instruction that defines each register.
pub(super) struct Definitions<'a> {
    body: &'a Body,
    /// The block and the position in it.
    places: Vec<Option<(usize, usize)>>,
    /// The sum that each register holds of others at its definition, of which none is such a sum; None if it is none.
    sums: Vec<Option<Sum>>,
    /// The sums around the function that registers have the values of; values around it have numbers of registers
    /// that no function has.
    captured: BTreeMap<VReg, Sum>,
}

impl<'a> Definitions<'a> {
    /// Finds the definitions of all registers.
    pub(super) fn new(body: &'a Body) -> Definitions<'a> {
        let mut places = vec![None; body.registers];
        let mut sums: Vec<Option<Sum>> = vec![None; body.registers];
        // A definition comes before all that it dominates.
        for id in reverse_postorder(body) {
            for (at, inst) in body.blocks[id.0].insts.iter().enumerate() {
                for v in inst.results() {
                    places[v.vreg()] = Some((id.0, at));
                    sums[v.vreg()] = linear(inst, |v| sums[v.vreg()].clone().unwrap_or_else(|| Sum::of(v)));
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
        Definitions { body, places, sums, captured: captured.collect() }
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
    /// The value of a register in each iteration of a loop.
    fn value(&self, l: &SimpleLoop, register: VReg) -> Value {
        let terms = self.sums[register.vreg()].as_ref();
        let Some(sum) = terms else { return self.value_of_term(l, register) };
        let constant = Value::invariant(Sum::constant(sum.constant));
        let mut terms = sum.terms.iter();
        let made = terms.try_fold(constant, |made, (v, factor)| made.plus(&self.value_of_term(l, *v), *factor));
        made.unwrap_or_else(|| Value::varying(register))
    }
    /// The value of a register that is no sum.
    fn value_of_term(&self, l: &SimpleLoop, register: VReg) -> Value {
        if let Some(param) = l.param(register) {
            return match self.step(l, param) {
                Some(step) => Value { step, ..Value::invariant(self.sum(param.first)) },
                None => Value::varying(register),
            };
        }
        if !self.is_inside(l, register) {
            return Value::invariant(Sum::of(register));
        }
        let product = self.inst(register).and_then(|(_, inst)| match (inst.code, &inst.args[..]) {
            (Code::Imul_r64_rm64, [Arg::Mod { from, .. }, Arg::Use(other, _)]) => {
                let (a, b) = (self.value(l, *from), self.value(l, *other));
                match (a.as_register(), b.as_register()) {
                    (_, Some(register)) => a.times_register(register),
                    (Some(register), _) => b.times_register(register),
                    _ => None,
                }
            }
            _ => None,
        });
        product.unwrap_or_else(|| Value::varying(register))
    }
    fn sum(&self, register: VReg) -> Sum {
        self.sums[register.vreg()].clone().unwrap_or_else(|| Sum::of(register))
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
                        constant.plus(&self.sum(index), i64::from(scale))
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
        let Base::Reg(base) = mem.base else { return None };
        let mut made = self.value(l, base);
        match mem.index {
            None => {}
            Some((index, View::G64, scale)) => made = made.plus(&self.value(l, index), i64::from(scale))?,
            Some(_) => return None,
        }
        made.start.constant = made.start.constant.wrapping_add(i64::from(mem.offset));
        Some(made)
    }
    /// Returns the base of an address, if the loop does not change it, and the value of its scaled index.
    pub(super) fn scaled_index(&self, l: &SimpleLoop, mem: &Mem) -> Option<(VReg, Value)> {
        let Base::Reg(base) = mem.base else { return None };
        let index = match mem.index {
            None => Value::default(),
            Some((v, View::G64, scale)) => self.value(l, v).times(i64::from(scale))?,
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

/// The sum that an instruction's result is by those of its operands; None if it is none.
fn linear(inst: &Inst, sum: impl Fn(VReg) -> Sum) -> Option<Sum> {
    match (inst.code, &inst.args[..]) {
        (Code::Lea_r64_m, [Arg::Def(..), Arg::Mem(mem)]) => {
            let Base::Reg(base) = mem.base else { return None };
            let made = Sum::constant(i64::from(mem.offset)).plus(&sum(base), 1)?;
            match mem.index {
                None => Some(made),
                Some((index, _, scale)) => made.plus(&sum(index), i64::from(scale)),
            }
        }
        (Code::Mov_r32_imm32, [Arg::Def(..), Arg::Imm(v @ 0..)])
        | (Code::Mov_r64_imm64, [Arg::Def(..), Arg::Imm(v)]) => Some(Sum::constant(*v)),
        (Code::Shl_rm64_imm8, [Arg::Mod { from, .. }, Arg::Imm(bits @ 0..63)]) => {
            Sum::default().plus(&sum(*from), 1 << bits)
        }
        (Code::Imul_r64_rm64_imm32, [Arg::Def(..), Arg::Use(from, _), Arg::Imm(factor)]) => {
            Sum::default().plus(&sum(*from), *factor)
        }
        (Code::Add_r64_rm64, [Arg::Mod { from, .. }, Arg::Use(other, _)]) => sum(*from).plus(&sum(*other), 1),
        (Code::Sub_r64_rm64, [Arg::Mod { from, .. }, Arg::Use(other, _)]) => sum(*from).plus(&sum(*other), -1),
        (Code::Neg_rm64, [Arg::Mod { from, .. }]) => Sum::default().plus(&sum(*from), -1),
        _ => None,
    }
}
