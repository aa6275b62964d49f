//! A loop of several copies of a body, in front of the loop as it was.

use super::super::counted_loop::CountedLoop;
use super::super::inst::{Arg, BlockId, Body, Condition, End, Inst, Mem, Right, View};
use super::super::loop_copies::Copies;

use regalloc2::VReg;

/// Puts a loop of `factor` copies in front of one, which does the iterations that are left over. Returns the latter's
/// head.
pub(super) fn expand(body: &mut Body, r: &CountedLoop<'_>, factor: usize) -> BlockId {
    let (entered, unrolled, copies) = (body.block(), body.block(), Copies::new(body, r));
    let carried = copies.carried.clone();
    body.blocks[unrolled.0].params = carried;
    let made = copies.make(body, unrolled, factor);
    let [again, rest, go_on, leave, skipped] = [(); 5].map(|()| body.block());
    let head = r.l.head();
    let limit = earlier(body, r, factor);
    let next = made.next[r.counter];
    let less = |right, yes, no| Some(End::Branch { condition: Condition::Less, left: next, right, yes, no });
    body.blocks[made.last.0].end = less(limit, again, rest);
    body.blocks[again.0].end = Some(End::Jump(unrolled, made.next.clone()));
    body.blocks[rest.0].end = less(r.limit, go_on, leave);
    body.blocks[go_on.0].end = Some(End::Jump(head, made.next));
    if let Some(End::Jump(to, values)) = &body.blocks[r.leave.0].end {
        let values = values.iter().map(|v| made.names.get(v).copied().unwrap_or(*v)).collect();
        body.blocks[leave.0].end = Some(End::Jump(*to, values));
    }
    let first: Vec<VReg> = r.l.params().iter().map(|p| p.first).collect();
    body.blocks[entered.0].end = Some(End::Jump(unrolled, first.clone()));
    body.blocks[skipped.0].end = Some(End::Jump(head, first.clone()));
    let (left, condition) = (first[r.counter], Condition::Less);
    body.blocks[r.l.preheader.0].end = Some(End::Branch { condition, left, right: limit, yes: entered, no: skipped });
    let at = body.order.iter().position(|b| *b == head).unwrap_or(body.order.len());
    let blocks = [entered].into_iter().chain(made.blocks).chain([again, rest, leave, go_on, skipped]);
    body.order.splice(at..at, blocks);
    body.order.extend(made.rare);
    head
}

/// The limit for the counter at the start of the first of some copies.
fn earlier(body: &mut Body, r: &CountedLoop<'_>, factor: usize) -> Right {
    let back = (factor as i32 - 1) * r.step;
    match r.limit {
        Right::Const(limit) if limit.checked_sub(back).is_some() => Right::Const(limit - back),
        Right::Const(limit) => {
            let to = body.register(View::G64);
            let args = vec![Arg::Def(to, View::G64), Arg::Imm(i64::from(limit) - i64::from(back))];
            let code = iced_x86::Code::Mov_r64_imm64;
            body.blocks[r.l.preheader.0].insts.push(Inst::new(code, args));
            Right::Reg(to)
        }
        Right::Reg(limit) => {
            let (to, inst) = body.lea(Mem::at(limit, -back));
            body.blocks[r.l.preheader.0].insts.push(inst);
            Right::Reg(to)
        }
    }
}
