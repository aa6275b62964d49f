//! Innermost loops with a counter that is tested at the end, and that are left there only.

use super::inst::{BlockId, Body, End, Right};
use super::scale_counters::step;
use super::simple_loop::SimpleLoop;
use regalloc2::VReg;

/// A loop with a counter.
pub(super) struct CountedLoop<'a> {
    pub(super) l: &'a SimpleLoop,
    /// The block with the test, which stands behind all that each iteration does.
    pub(super) test: BlockId,
    pub(super) limit: Right,
    /// The number of the head's parameter that is the counter.
    pub(super) counter: usize,
    pub(super) step: i32,
    /// The block behind the test that leaves the loop, which does nothing.
    pub(super) leave: BlockId,
}

/// A loop's parts; `None` if it is of another form.
pub(super) fn counted<'a>(body: &Body, l: &'a SimpleLoop) -> Option<CountedLoop<'a>> {
    let (test, End::Branch { left, right, no, .. }) = l.test(body)? else { return None };
    let is_last = l.blocks.iter().any(|(b, dominates)| *b == test && *dominates);
    let is_empty = |b: BlockId| body.blocks[b.0].insts.is_empty();
    let leaves = matches!(body.blocks[no.0].end, Some(End::Jump(..))) && is_empty(*no) && !l.contains(no.0);
    if !is_last || !is_empty(l.latch) || !leaves {
        return None;
    }
    let counter = l.params().iter().position(|p| p.next == *left)?;
    let of = l.params()[counter].register;
    let insts = || l.blocks.iter().flat_map(|(b, _)| &body.blocks[b.0].insts);
    let (_, step) = insts().find_map(|inst| step(inst, of).filter(|(to, _)| to == left))?;
    let is_fixed = || match right {
        Right::Reg(v) => !l.defines(*v) && !insts().any(|inst| inst.defines(*v)),
        Right::Const(_) => true,
    };
    (step > 0 && is_fixed()).then_some(CountedLoop { l, test, limit: *right, counter, step, leave: *no })
}

/// Tells for each loop if nothing outside reads what it defines, but for the jump behind its test.
pub(super) fn closed(body: &Body, loops: &[&CountedLoop<'_>]) -> Vec<bool> {
    let mut owners = vec![usize::MAX; body.registers];
    for (i, r) in loops.iter().enumerate() {
        for (b, _) in &r.l.blocks {
            let block = &body.blocks[b.0];
            let defined = block.insts.iter().flat_map(|inst| inst.results());
            block.params.iter().copied().chain(defined).for_each(|v| owners[v.vreg()] = i);
        }
    }
    let mut closed = vec![true; loops.len()];
    for (number, block) in body.blocks.iter().enumerate() {
        let mut used = |v: VReg| {
            if let Some(r) = loops.get(owners[v.vreg()])
                && !r.l.contains(number)
                && r.leave.0 != number
            {
                closed[owners[v.vreg()]] = false;
            }
        };
        block.insts.iter().for_each(|inst| inst.used(&mut used));
        if let Some(end) = &block.end {
            end.used(&mut used);
        }
    }
    closed
}
