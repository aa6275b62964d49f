//! Counters that count in multiples (linear function test replacement; Cocke and Kennedy, An Algorithm for Reduction of
//! Operator Strength, 1977).
//!
//! A loop over vectors counts vectors, and its addresses are of elements: each iteration shifts a copy of the counter.
//! Where nothing else uses the counter, it counts elements.
//!
//! Before: `loop: mov r,i; shl r,4; vmovups zmm0,[a+r*4]; ..; lea i,[i+1]; cmp i,n; jl loop`
//! After: `shl i,4; shl n,4; loop: vmovups zmm0,[a+i*4]; ..; lea i,[i+16]; cmp i,n; jl loop`
//! Example: `counters_count_elements` in this file.

use super::clean::count;
use super::inst::{Arg, Base, Body, End, Inst, Mem, Right, View};
use super::simple_loop::{SimpleLoop, simple_loops};
use iced_x86::Code;
use regalloc2::VReg;

/// Scales counters of innermost loops. Returns true if any changed.
pub(super) fn scale_counters(body: &mut Body) -> bool {
    let loops = simple_loops(body);
    if loops.is_empty() {
        return false;
    }
    let mut uses = None;
    let found: Vec<Scaling> = loops.iter().filter_map(|l| scaling(body, l, &mut uses)).collect();
    found.iter().for_each(|scaling| apply(body, scaling));
    !found.is_empty()
}

/// A counter that is used shifted only.
struct Scaling<'a> {
    l: &'a SimpleLoop,
    /// The number of the head's parameter.
    param: usize,
    bits: i64,
    /// The register of each shift, with its place.
    shifted: Vec<(VReg, (usize, usize))>,
    /// The counter's step.
    step: i32,
    /// The place of the instruction that adds it.
    next: (usize, usize),
}

/// The scaling of a loop's counter; `None` if it is used unshifted, or has no end that can be scaled. Counts uses of
/// registers if it has to.
fn scaling<'a>(body: &Body, l: &'a SimpleLoop, uses: &mut Option<Vec<u32>>) -> Option<Scaling<'a>> {
    let (_, End::Branch { left, right, .. }) = l.test(body)? else { return None };
    let param = l.params().iter().position(|p| p.next == *left)?;
    let counter = l.params()[param].register;
    let (mut shifted, mut bits, mut next) = (Vec::new(), None, None);
    for (block, dominates) in &l.blocks {
        for (at, inst) in body.blocks[block.0].insts.iter().enumerate() {
            match (inst.code, &inst.args[..]) {
                (Code::Shl_rm64_imm8, [Arg::Mod { to, from, .. }, Arg::Imm(n)]) if *from == counter => {
                    // Each iteration shifts its counter to an index of elements. So the counter has bits to spare, and
                    // the limit too, which is at most a step beyond the last counter: neither overflows when it is
                    // shifted in front of the loop. Behind a branch, only some iterations do: those that do not may
                    // have counters without bits to spare, which the test must still compare rightly.
                    if !dominates || bits.is_some_and(|bits| bits != *n) {
                        return None;
                    }
                    bits = Some(*n);
                    shifted.push((*to, (block.0, at)));
                }
                _ => {
                    if let Some((to, step)) = step(inst, counter)
                        && to == *left
                    {
                        next = Some(((block.0, at), step));
                    }
                }
            }
        }
    }
    let (bits, (next, step)) = (bits?, next?);
    let step = step.checked_mul(i32::try_from(1i64.checked_shl(bits as u32)?).ok()?)?;
    // One use is that of the step; the next value is for the test and for the next iteration.
    let uses = uses.get_or_insert_with(|| count(body));
    let is_only_shifted = uses[counter.vreg()] as usize == shifted.len() + 1 && uses[left.vreg()] == 2;
    let is_fixed = || match right {
        Right::Reg(limit) => !l.defines(*limit) && !defined_in(body, l, *limit),
        Right::Const(limit) => i64::from(*limit).checked_shl(bits as u32).is_some_and(|n| i32::try_from(n).is_ok()),
    };
    (is_only_shifted && is_fixed()).then_some(Scaling { l, param, bits, shifted, step, next })
}

/// The register that holds another one's value and a constant.
pub(super) fn step(inst: &Inst, of: VReg) -> Option<(VReg, i32)> {
    if inst.code != Code::Lea_r64_m {
        return None;
    }
    match inst.args[..] {
        [Arg::Def(to, _), Arg::Mem(Mem { base: Base::Reg(base), index: None, offset, .. })] if base == of => {
            Some((to, offset))
        }
        _ => None,
    }
}

/// Returns true if an instruction of a loop defines a register.
fn defined_in(body: &Body, l: &SimpleLoop, register: VReg) -> bool {
    l.blocks.iter().any(|(b, _)| body.blocks[b.0].insts.iter().any(|i| i.defines(register)))
}

fn apply(body: &mut Body, scaling: &Scaling<'_>) {
    let Scaling { l, param, bits, shifted, step, next } = scaling;
    let (param, bits) = (*param, *bits);
    let counter = l.params()[param].register;
    // The parameter becomes the shifted counter, and so what adds the step has its multiple.
    body.blocks[next.0].insts[next.1].args[1] = Arg::Mem(Mem::at(counter, *step));
    for (to, (block, at)) in shifted {
        let args = vec![Arg::Def(*to, View::G64), Arg::Mem(Mem::at(counter, 0))];
        body.blocks[*block].insts[*at] = Inst::new(Code::Lea_r64_m, args);
    }
    replace(body, l, &shifted.iter().map(|(to, _)| *to).collect::<Vec<_>>(), counter);
    let first = shift(body, l, l.params()[param].first, bits);
    if let Some(End::Jump(_, values)) = &mut body.blocks[l.preheader.0].end {
        values[param] = first;
    }
    let Some((test, End::Branch { right, .. })) = l.test(body) else { return };
    let right = match *right {
        Right::Reg(limit) => Right::Reg(shift(body, l, limit, bits)),
        Right::Const(limit) => Right::Const(limit << bits),
    };
    if let Some(End::Branch { right: limit, .. }) = &mut body.blocks[test.0].end {
        *limit = right;
    }
}

/// A register shifted in front of a loop.
fn shift(body: &mut Body, l: &SimpleLoop, from: VReg, bits: i64) -> VReg {
    let to = body.register(View::G64);
    let args = vec![Arg::Mod { to, from, view: View::G64 }, Arg::Imm(bits)];
    let inst = Inst::new(Code::Shl_rm64_imm8, args);
    body.blocks[l.preheader.0].insts.push(inst);
    to
}

/// Uses another register in place of some, in the instructions of a loop.
fn replace(body: &mut Body, l: &SimpleLoop, old: &[VReg], new: VReg) {
    let renamed = |v: VReg| if old.contains(&v) { new } else { v };
    for (block, _) in &l.blocks {
        body.blocks[block.0].insts.iter_mut().for_each(|inst| inst.rename_uses(&renamed));
        if let Some(end) = &mut body.blocks[block.0].end {
            end.rename_uses(&renamed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finish;
    use super::super::loop_for_tests::{Loop, counting, text_of};

    /// The text of a loop that copies 32 bytes an iteration, and stores its counter if that is used otherwise too.
    fn copy(limit: Option<i32>, is_used: bool) -> String {
        let Loop { mut body, head, .. } = counting(3, limit, |l, index| {
            let value = l.load(0, index);
            l.store(0, index, value);
            if is_used {
                let counter = l.counter;
                l.store_general(64, counter);
            }
        });
        body.kept_rolled.push(head);
        text_of(&finish(body).unwrap())
    }

    #[test]
    fn counters_count_elements() {
        let text = copy(None, false);
        // The first value and the limit are shifted in front of the loop.
        let (before, inside) = text.split_at(text.find("vmovups").unwrap());
        assert!(before.matches("shl").count() == 2 && !inside.contains("shl"), "{text}");
        assert!(inside.contains("+8]"), "{text}");
        let text = copy(Some(100), false);
        assert!(text.contains(",320h"), "{text}");
    }

    #[test]
    fn counters_that_are_used_unshifted_stay() {
        let text = copy(None, true);
        let inside = &text[text.find("shl").unwrap()..];
        assert!(inside.contains("shl") && inside.contains("+1]"), "{text}");
    }
}
