//! Sums that registers hold: the definitions of general registers, read as linear forms modulo 2^64.

use super::block_order::reverse_postorder;
use super::inst::{Arg, Base, BlockId, Body, Inst, Mem, View};
use super::simple_loop::{Param, SimpleLoop};
use super::value::{Sum, Value};
use iced_x86::Code;
use regalloc2::{RegClass, VReg};
use std::collections::BTreeMap;

/// The definitions of the registers of a function, as it is before any loop is rewritten. A loop's instructions stay
/// where they are until it is rewritten itself.
pub(super) struct Definitions {
    /// The number of registers.
    count: usize,
    /// The block and the position in it.
    places: Vec<Option<(usize, usize)>>,
    /// The sum that each register holds of others at its definition, of which none is such a sum; None if it is none.
    sums: Vec<Option<Sum>>,
    /// The factors of products of two registers.
    products: BTreeMap<VReg, (VReg, VReg)>,
    /// The sums around the function that registers have the values of; values around it have numbers of registers
    /// that no function has.
    captured: BTreeMap<VReg, Sum>,
}

impl Definitions {
    /// Finds the definitions of all registers.
    pub(super) fn new(body: &Body) -> Definitions {
        let mut places = vec![None; body.registers];
        let mut sums: Vec<Option<Sum>> = vec![None; body.registers];
        let mut products = BTreeMap::new();
        // A definition comes before all that it dominates.
        for id in reverse_postorder(body) {
            for (at, inst) in body.blocks[id.0].insts.iter().enumerate() {
                for v in inst.results() {
                    places[v.vreg()] = Some((id.0, at));
                    sums[v.vreg()] = linear(inst, |v| sums[v.vreg()].clone().unwrap_or_else(|| Sum::of(v)));
                }
                if let (Code::Imul_r64_rm64, [Arg::Mod { to, from, .. }, Arg::Use(by, _)]) = (inst.code, &inst.args[..])
                {
                    products.insert(*to, (*from, *by));
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
        Definitions { count: body.registers, places, sums, products, captured: captured.collect() }
    }
    /// A sum in terms of values around the function, where they are known. Such a sum cannot be computed.
    fn opened(&self, sum: &Sum) -> Option<Sum> {
        let constant = Sum::constant(sum.constant);
        sum.terms.iter().try_fold(constant, |made, (register, factor)| match self.captured.get(register) {
            Some(known) => made.plus(known, *factor),
            None => made.plus(&Sum::of(*register), *factor),
        })
    }
    /// Returns true if a sum is of registers of the function, and so can be computed.
    pub(super) fn is_computable(&self, sum: &Sum) -> bool {
        sum.terms.iter().all(|(register, _)| register.vreg() < self.count)
    }
    /// A value in terms of values around the function, where they are known.
    pub(super) fn opened_value(&self, value: &Value) -> Option<Value> {
        Some(Value {
            start: self.opened(&value.start)?,
            step: self.opened(&value.step)?,
            varying: value.varying.clone(),
        })
    }
    /// The value of a register in each iteration of a loop.
    pub(super) fn value(&self, l: &SimpleLoop, register: VReg) -> Value {
        self.value_by(l, register, |term| {
            let (a, b) = self.products.get(&term)?;
            let [a, b] = [a, b].map(|v| self.value_by(l, *v, |_| None));
            match (a.as_register(), b.as_register()) {
                (_, Some(register)) => a.times_register(register),
                (Some(register), _) => b.times_register(register),
                _ => None,
            }
        })
    }
    /// The same, where `inside` tells the values of what the loop defines and is no sum.
    fn value_by(&self, l: &SimpleLoop, register: VReg, inside: impl Fn(VReg) -> Option<Value>) -> Value {
        let sum = self.sum(register);
        let constant = Value::invariant(Sum::constant(sum.constant));
        let of_term = |term: VReg| match l.param(term) {
            Some(param) => match self.step(l, param) {
                Some(step) => Value { step, ..Value::invariant(self.sum(param.first)) },
                None => Value::varying(term),
            },
            None if self.is_inside(l, term) => inside(term).unwrap_or_else(|| Value::varying(term)),
            None => Value::invariant(Sum::of(term)),
        };
        let made = sum.terms.iter().try_fold(constant, |made, (v, factor)| made.plus(&of_term(*v), *factor));
        made.unwrap_or_else(|| Value::varying(register))
    }
    /// The block and the position in it of a definition.
    fn place(&self, register: VReg) -> Option<(usize, usize)> {
        self.places.get(register.vreg()).copied().flatten()
    }
    fn sum(&self, register: VReg) -> Sum {
        self.sums.get(register.vreg()).cloned().flatten().unwrap_or_else(|| Sum::of(register))
    }
    /// The difference of a parameter from one iteration to the next, if the loop does not change it.
    fn step(&self, l: &SimpleLoop, param: &Param) -> Option<Sum> {
        let step = self.sum(param.next).plus(&Sum::of(param.register), -1)?;
        (!step.terms.iter().any(|(v, _)| self.is_inside(l, *v))).then_some(step)
    }
    fn is_inside(&self, l: &SimpleLoop, register: VReg) -> bool {
        l.defines(register) || self.place(register).is_some_and(|(block, _)| l.contains(block))
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
        match self.place(register) {
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
