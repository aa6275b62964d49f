//! Sums of registers modulo 2^64, and values that change by such sums from one iteration of a loop to the next.

use crate::tuning::ADDRESS_TERMS;
use regalloc2::VReg;

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

impl Sum {
    pub(super) fn of(register: VReg) -> Sum {
        Sum { terms: vec![(register, 1)], constant: 0 }
    }
    pub(super) fn constant(constant: i64) -> Sum {
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
    pub(super) fn invariant(start: Sum) -> Value {
        Value { start, ..Value::default() }
    }
    pub(super) fn varying(register: VReg) -> Value {
        Value { varying: Sum::of(register), ..Value::default() }
    }
    /// Returns true if it is the same in all iterations.
    pub(super) fn is_invariant(&self) -> bool {
        self.step == Sum::default() && self.varying == Sum::default()
    }
    pub(super) fn plus(&self, other: &Value, factor: i64) -> Option<Value> {
        Some(Value {
            start: self.start.plus(&other.start, factor)?,
            step: self.step.plus(&other.step, factor)?,
            varying: self.varying.plus(&other.varying, factor)?,
        })
    }
    pub(super) fn times(&self, factor: i64) -> Option<Value> {
        Value::default().plus(self, factor)
    }
    /// The product with a register that the loop does not change; None unless all parts are constants.
    pub(super) fn times_register(&self, register: VReg) -> Option<Value> {
        let part = |sum: &Sum| match sum.terms.is_empty() {
            true => Sum::default().plus(&Sum::of(register), sum.constant),
            false => None,
        };
        Some(Value { start: part(&self.start)?, step: part(&self.step)?, varying: part(&self.varying)? })
    }
    /// The only register of a value that is one without a factor, and that the loop does not change.
    pub(super) fn as_register(&self) -> Option<VReg> {
        match (&self.start.terms[..], self.start.constant, self.is_invariant()) {
            ([(register, 1)], 0, true) => Some(*register),
            _ => None,
        }
    }
}
