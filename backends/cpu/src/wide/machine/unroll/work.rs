//! The work of an iteration, and the number of copies of a body that pays.

use super::super::counted_loop::CountedLoop;
use super::super::inst::{Arg, BlockId, Body, Inst, Right, View};
use super::super::simple_loop::SimpleLoop;
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

/// Returns true if two copies of a loop's body are no more instructions than an unrolled loop may have. `positions` are
/// those of blocks in the code.
pub(super) fn is_short(body: &Body, l: &SimpleLoop, positions: &[usize]) -> bool {
    let Some((test, _)) = l.test(body) else { return false };
    2 * (1 + iteration(body, l, test, positions).map(<[Inst]>::len).sum::<usize>()) <= UNROLLED_INSTRUCTIONS
}

/// Returns how many copies of a loop's body follow each other; `None` for one that is left as it is.
///
/// More copies save instructions only, so the loop must be limited by their number, and be short.
pub(super) fn factor(body: &Body, r: &CountedLoop<'_>, positions: &[usize]) -> Option<usize> {
    let mut work = Work { instructions: 1, ..Work::default() };
    iteration(body, r.l, r.test, positions).flatten().for_each(|inst| add(&mut work, inst));
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

/// The instructions of an iteration, by blocks: of all that do not stand behind the test in the code, where those do
/// that rarely run.
fn iteration<'a>(
    body: &'a Body,
    l: &'a SimpleLoop,
    test: BlockId,
    positions: &'a [usize],
) -> impl Iterator<Item = &'a [Inst]> {
    let blocks = l.blocks.iter().filter(move |(b, _)| positions[b.0] <= positions[test.0]);
    blocks.map(|(b, _)| &body.blocks[b.0].insts[..])
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
