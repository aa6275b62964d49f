//! The work of an iteration, and the number of copies of a body that pays.

use super::super::counted_loop::CountedLoop;
use super::super::inst::{Arg, Body, Inst, Right, View};
use crate::tuning::{ISSUE_WIDTH, MOST_COPIES, UNROLLED_INSTRUCTIONS};
use iced_x86::Code;
use regalloc2::{RegClass, VReg};

/// Cycles of an iteration on a core that starts six instructions a cycle, in sixths: as many as each kind needs.
#[derive(Default)]
struct Work {
    instructions: usize,
    loads: usize,
    stores: usize,
    vectors: usize,
}

/// Returns how many copies of a loop's body follow each other; `None` for one that is left as it is.
///
/// More copies save instructions only, so the loop must be limited by their number, and be short.
pub(super) fn factor(body: &Body, r: &CountedLoop<'_>) -> Option<usize> {
    let work = work(body, r);
    let ports = work.loads.max(work.stores).max(work.vectors);
    if work.instructions <= ports {
        return None;
    }
    let iterations = iterations(body, r);
    let fits = |copies: &usize| {
        work.instructions * copies <= UNROLLED_INSTRUCTIONS && iterations.is_none_or(|n| n >= 2 * *copies as i64)
    };
    [MOST_COPIES, 2].into_iter().find(fits)
}

fn work(body: &Body, r: &CountedLoop<'_>) -> Work {
    let positions = |b| body.order.iter().position(|other| *other == b);
    let last = positions(r.test);
    let mut work = Work { instructions: 1, ..Work::default() };
    for (b, _) in r.l.blocks.iter().filter(|(b, _)| positions(*b) <= last) {
        for inst in &body.blocks[b.0].insts {
            add(&mut work, inst);
        }
    }
    work
}

/// Adds an instruction. Vectors of 512 bits have two ports, and one that stores; others have three, and two.
fn add(work: &mut Work, inst: &Inst) {
    let is_wide = inst.args.iter().any(|a| matches!(a, Arg::Def(_, View::Z) | Arg::Use(_, View::Z)));
    let is_vector = |v: VReg| v.class() == RegClass::Float;
    let port = if is_wide { ISSUE_WIDTH / 2 } else { ISSUE_WIDTH / 3 };
    work.instructions += 1;
    let has_memory = inst.args.iter().any(|a| matches!(a, Arg::Mem(_)));
    if inst.stores() {
        work.stores += if is_wide { ISSUE_WIDTH } else { ISSUE_WIDTH / 2 };
    } else if has_memory && inst.code != Code::Lea_r64_m {
        work.loads += port;
    }
    if !inst.loads_whole && !inst.stores() && inst.results().any(is_vector) {
        work.vectors += port;
    }
}

/// The number of iterations, where it is known.
fn iterations(body: &Body, r: &CountedLoop<'_>) -> Option<i64> {
    let limit = match r.limit {
        Right::Const(limit) => i64::from(limit),
        Right::Reg(limit) => known(body, limit)?,
    };
    let span = limit.checked_sub(known(body, r.l.params()[r.counter].first)?)?;
    Some(span.div_euclid(i64::from(r.step)) + i64::from(span.rem_euclid(i64::from(r.step)) > 0))
}

/// The value of a register that is a constant, shifted or not.
fn known(body: &Body, register: VReg) -> Option<i64> {
    let inst = body.blocks.iter().flat_map(|block| &block.insts).find(|inst| inst.defines(register))?;
    match (inst.code, &inst.args[..]) {
        (Code::Mov_r32_imm32 | Code::Mov_r64_imm64, [_, Arg::Imm(n)]) => Some(*n),
        (Code::Shl_rm64_imm8, [Arg::Mod { from, .. }, Arg::Imm(bits)]) => {
            known(body, *from)?.checked_shl(u32::try_from(*bits).ok()?)
        }
        _ => None,
    }
}
