//! Loop unswitching (Allen and Cocke, A Catalogue of Optimizing Transformations, 1972) of the tests for non-temporal
//! stores.
//!
//! A store past the caches needs an aligned address and a large buffer. The addresses of an innermost loop mostly go on
//! by whole registers, and so the answer is the same in all iterations: it is found in front of the loop, of which
//! there are two. One stores past the caches where all its stores may, the other through them.
//!
//! Before: `loop: lea a,[p+i]; and a,mask; jne far; vmovntdq [p+i],zmm0; next: .. far: vmovdqu64 [p+i],zmm0; jmp next`
//! After: `lea a,[p+i]; and a,mask; jne plain; streamed: vmovntdq [p+i],zmm0; ..; plain: vmovdqu64 [p+i],zmm0; ..`
//! Example: `the_test_of_a_stream_is_made_once` in this file.

use super::block_order::successors;
use super::counted_loop::{CountedLoop, closed, counted};
use super::definitions::Definitions;
use super::inst::{Arg, Block, BlockId, Body, Condition, End, Inst, Right, View};
use super::loop_copies::Copies;
use super::preheader::Preheader;
use super::simple_loop::{SimpleLoop, simple_loops};
use super::value::{Sum, Value};
use crate::tuning::UNSWITCHED_INSTRUCTIONS;
use iced_x86::Code;
use regalloc2::VReg;
use std::cell::LazyCell;

/// Splits innermost loops by their tests for non-temporal stores. Returns true if there are any.
pub(super) fn unswitch(body: &mut Body) -> bool {
    if body.stream_tests.is_empty() {
        return false;
    }
    let loops = simple_loops(body);
    let definitions = LazyCell::new(|| Definitions::new(body));
    let size = |l: &SimpleLoop| l.blocks.iter().map(|(b, _)| body.blocks[b.0].insts.len()).sum::<usize>();
    let short = loops.iter().filter(|l| size(l) <= UNSWITCHED_INSTRUCTIONS);
    let found = short.filter_map(|l| counted(body, l)).map(|r| (tests(body, &definitions, &r), r));
    let found: Vec<(Vec<Test>, CountedLoop<'_>)> = found.filter(|(tests, _)| !tests.is_empty()).collect();
    let closed = closed(body, &found.iter().map(|(_, r)| r).collect::<Vec<_>>());
    let mut changed = false;
    for ((tests, r), _) in found.iter().zip(closed).filter(|(_, closed)| *closed) {
        split(body, r, tests);
        changed = true;
    }
    changed
}

/// A test with the same answer in all iterations.
struct Test {
    /// The register that is 0 where the store is to be non-temporal.
    register: VReg,
    /// The address in the first iteration.
    first: Sum,
    /// The bytes by whose multiples the address may change without an effect on the answer.
    bytes: i64,
    /// The instruction that masks the address.
    masks: Inst,
}

impl Test {
    /// Returns true if both have the same answer.
    fn is_like(&self, other: &Test) -> bool {
        let same_mask = match (&self.masks.args[..], &other.masks.args[..]) {
            ([_, Arg::Imm(a)], [_, Arg::Imm(b)]) => a == b,
            ([_, Arg::Use(a, _)], [_, Arg::Use(b, _)]) => a == b,
            _ => false,
        };
        let distance = self.first.constant.wrapping_sub(other.first.constant);
        let same_address = self.first.terms == other.first.terms && distance % self.bytes == 0;
        same_mask && same_address && self.masks.code == other.masks.code && self.bytes == other.bytes
    }
}

/// Returns the tests of a loop that have the same answer in all iterations.
fn tests(body: &Body, definitions: &Definitions, r: &CountedLoop<'_>) -> Vec<Test> {
    let mut found = Vec::new();
    for (block, _) in r.l.blocks.iter().filter(|(_, dominates)| *dominates) {
        let insts = &body.blocks[block.0].insts;
        let Some(End::Branch { left, right: Right::Const(0), .. }) = &body.blocks[block.0].end else { continue };
        let Some(&(_, bytes)) = body.stream_tests.iter().find(|(register, _)| register == left) else { continue };
        let Some(masks) = insts.iter().find(|inst| inst.defines(*left)) else { continue };
        let [Arg::Mod { from, .. }, mask] = masks.args[..] else { continue };
        let is_fixed = match mask {
            Arg::Imm(_) => true,
            Arg::Use(v, _) => definitions.value(r.l, v).is_invariant(),
            _ => false,
        };
        let Value { start, step, varying } = definitions.value(r.l, from);
        let goes_on = step.terms.is_empty() && step.constant % bytes == 0 && varying == Sum::default();
        if is_fixed && goes_on {
            found.push(Test { register: *left, first: start, bytes, masks: masks.clone() });
        }
    }
    found
}

/// Makes two loops of one.
fn split(body: &mut Body, r: &CountedLoop<'_>, tests: &[Test]) {
    let answer = answer(body, r, tests);
    let [entered, streamed, again, leave, plain] = [(); 5].map(|()| body.block());
    let copies = Copies::new(body, r);
    body.blocks[streamed.0].params = copies.carried.clone();
    let made = copies.make(body, streamed, 1);
    let name = |v: VReg| made.names.get(&v).copied().unwrap_or(v);
    let (condition, left) = (Condition::Less, made.next[r.counter]);
    body.blocks[made.last.0].end = Some(End::Branch { condition, left, right: r.limit, yes: again, no: leave });
    body.blocks[again.0].end = Some(End::Jump(streamed, made.next.clone()));
    let mut left_by = body.blocks[r.leave.0].end.clone();
    left_by.iter_mut().for_each(|end| end.rename_uses(&name));
    body.blocks[leave.0].end = left_by;

    let first: Vec<VReg> = r.l.params().iter().map(|p| p.first).collect();
    body.blocks[entered.0].end = Some(End::Jump(streamed, first.clone()));
    body.blocks[plain.0].end = Some(End::Jump(r.l.head(), first));
    let (condition, right) = (Condition::Equal, Right::Const(0));
    body.blocks[r.l.preheader.0].end = Some(End::Branch { condition, left: answer, right, yes: entered, no: plain });
    let at = body.order.iter().position(|b| *b == r.l.head()).unwrap_or(body.order.len());
    let blocks = [entered].into_iter().chain(made.blocks).chain([again, leave, plain]);
    body.order.splice(at..at, blocks);
    body.order.extend(made.rare);
    for test in tests {
        resolve(body, name(test.register), true);
        resolve(body, test.register, false);
    }
}

/// A register that is 0 if all tests are passed, computed in front of the loop. Tests with the same answer are made
/// once: those of the rows of a tile, for one, where its strides are constants.
fn answer(body: &mut Body, r: &CountedLoop<'_>, tests: &[Test]) -> VReg {
    let mut answers = Vec::new();
    let is_first = |(i, test): &(usize, &Test)| !tests[..*i].iter().any(|earlier| earlier.is_like(test));
    for (_, Test { first, masks, .. }) in tests.iter().enumerate().filter(is_first) {
        let address = Preheader::new(body, r.l.preheader).sum(first, None);
        let to = body.register(View::G64);
        let mut inst = masks.clone();
        inst.args[0] = Arg::Mod { to, from: address, view: View::G64 };
        body.blocks[r.l.preheader.0].insts.push(inst);
        answers.push(to);
    }
    let any = |body: &mut Body, from, other| {
        let to = body.register(View::G64);
        let args = vec![Arg::Mod { to, from, view: View::G64 }, Arg::Use(other, View::G64)];
        let inst = Inst::new(Code::Or_r64_rm64, args);
        body.blocks[r.l.preheader.0].insts.push(inst);
        to
    };
    let first = answers[0];
    answers[1..].iter().fold(first, |all, answer| any(body, all, *answer))
}

/// Goes on in one of the blocks behind a test, and takes out the other one.
fn resolve(body: &mut Body, test: VReg, passed: bool) {
    let is_of = |end: &Option<End>| matches!(end, Some(End::Branch { left, .. }) if *left == test);
    let Some(block) = body.order.iter().copied().find(|b| is_of(&body.blocks[b.0].end)) else { return };
    let Some(End::Branch { yes, no, .. }) = body.blocks[block.0].end else { return };
    let (taken, other) = if passed { (yes, no) } else { (no, yes) };
    merge(body, block, taken);
    body.order.retain(|b| *b != other);
    body.blocks[other.0] = Block::default();
    // What both went on in has one block in front of it now.
    if let Some(End::Jump(join, values)) = &body.blocks[block.0].end
        && values.is_empty()
        && body.order.iter().filter(|b| successors(body, **b).contains(join)).count() == 1
    {
        merge(body, block, *join);
    }
}

/// Puts what a block does at the end of the only one in front of it.
fn merge(body: &mut Body, block: BlockId, next: BlockId) {
    let Block { insts, end, .. } = std::mem::take(&mut body.blocks[next.0]);
    body.blocks[block.0].insts.extend(insts);
    body.blocks[block.0].end = end;
    body.order.retain(|b| *b != next);
}

#[cfg(test)]
mod tests {
    use super::super::finish;
    use super::super::loop_for_tests::{Loop, counting, text_of};
    use crate::tuning::UNSWITCHED_INSTRUCTIONS;
    use iced_x86::Code;

    /// The text of a loop of two stores of `8 << shift` bytes an iteration, with a test each, at these offsets.
    fn copy(shift: i64, offsets: [i32; 2]) -> String {
        let Loop { mut body, head, .. } = counting(shift, None, |l, index| {
            let value = l.load(0, index);
            offsets.into_iter().for_each(|offset| l.stream(offset, index, value));
        });
        body.kept_rolled.push(head);
        text_of(&finish(body).unwrap())
    }

    #[test]
    fn the_test_of_a_stream_is_made_once() {
        // Addresses that differ by a multiple of a register share an answer.
        for (offsets, answers) in [([64, 128], 1), ([64, 132], 2)] {
            let text = copy(3, offsets);
            let [before, streamed, plain] = {
                let (before, rest) = text.split_at(text.find("vmovups ymm").unwrap());
                let (streamed, plain) = rest.split_at(rest.find("jl").unwrap());
                [before, streamed, plain]
            };
            assert_eq!(before.matches("and r").count(), answers, "{text}");
            assert!(!streamed.contains("and ") && streamed.matches("vmovntdq").count() == 2, "{text}");
            assert!(!plain.contains("and ") && !plain.contains("vmovntdq"), "{text}");
            assert_eq!(plain.matches("vmovups [").count(), 2, "{text}");
        }
    }

    #[test]
    fn tests_of_addresses_that_go_on_by_less_stay() {
        let text = copy(1, [64, 128]);
        let inside = &text[text.find("vmovups ymm").unwrap()..];
        assert_eq!(inside.matches("and r").count(), 2, "{text}");
    }

    #[test]
    fn long_loops_are_not_doubled() {
        let additions = |count| {
            let Loop { body, .. } = counting(3, None, |l, index| {
                let mut value = l.load(0, index);
                for _ in 0..count {
                    value = l.vector(Code::VEX_Vaddps_ymm_ymm_ymmm256, value, value);
                }
                l.stream(64, index, value);
            });
            text_of(&finish(body).unwrap()).matches("vaddps").count()
        };
        let (short, long) = (UNSWITCHED_INSTRUCTIONS - 16, UNSWITCHED_INSTRUCTIONS);
        assert_eq!([additions(short), additions(long)], [2 * short, long]);
    }
}
