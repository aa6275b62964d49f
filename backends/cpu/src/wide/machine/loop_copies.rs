//! Copies of a loop's body behind each other.

use super::counted_loop::CountedLoop;
use super::inst::{Arg, Base, BlockId, Body, End, Inst, Mem, View};
use super::scale_counters::step;
use halide_ir::hash::Map;
use regalloc2::VReg;

/// A body under copying.
pub(super) struct Copies<'a> {
    r: &'a CountedLoop<'a>,
    /// The parameters of the unrolled loop's head.
    pub(super) carried: Vec<VReg>,
    /// The values of parameters in the next iteration.
    again: Vec<VReg>,
    /// The blocks of an iteration in reverse postorder; true for those that rarely run.
    blocks: Vec<(BlockId, bool)>,
    /// Registers that hold a parameter and a constant.
    sums: Map<VReg, (VReg, i32)>,
}

/// Copies of a body.
pub(super) struct Made {
    pub(super) blocks: Vec<BlockId>,
    pub(super) rare: Vec<BlockId>,
    /// The block that the last copy ends in.
    pub(super) last: BlockId,
    /// The values of parameters behind it.
    pub(super) next: Vec<VReg>,
    /// The registers of the last copy, by those of the loop.
    pub(super) names: Map<VReg, VReg>,
}

impl<'a> Copies<'a> {
    pub(super) fn new(body: &mut Body, r: &'a CountedLoop<'a>) -> Copies<'a> {
        let position = |b: BlockId| body.order.iter().position(|other| *other == b);
        let last = position(r.test);
        let blocks = r.l.blocks.iter().filter(|(b, _)| *b != r.l.latch);
        let blocks = blocks.map(|(b, _)| (*b, position(*b) > last)).collect();
        let carried: Vec<VReg> = r.l.params().iter().map(|p| like(body, p.register)).collect();
        let again = r.l.params().iter().map(|p| p.next).collect();
        let sums = carried.iter().map(|v| (*v, (*v, 0))).collect();
        Copies { r, carried, again, blocks, sums }
    }
    /// Makes the copies, the first one from the start of a block.
    pub(super) fn make(mut self, body: &mut Body, first: BlockId, factor: usize) -> Made {
        let next = self.carried.clone();
        let mut made = Made { blocks: vec![first], rare: Vec::new(), last: first, next, names: Map::default() };
        for _ in 0..factor {
            self.copy(body, &mut made);
        }
        made
    }
    /// Makes a copy behind the last one.
    fn copy(&mut self, body: &mut Body, made: &mut Made) {
        let params = self.r.l.params().iter().map(|p| p.register);
        made.names = params.zip(made.next.iter().copied()).collect();
        let mut places: Map<BlockId, BlockId> = Map::default();
        for (i, (block, is_rare)) in self.blocks.iter().enumerate() {
            let place = if i == 0 { made.last } else { body.block() };
            places.insert(*block, place);
            match (i, is_rare) {
                (0, _) => {}
                (_, false) => made.blocks.push(place),
                (_, true) => made.rare.push(place),
            }
        }
        for (i, (block, _)) in self.blocks.clone().into_iter().enumerate() {
            let place = places[&block];
            if i > 0 {
                let params = body.blocks[block.0].params.clone();
                let params = params.into_iter().map(|v| fresh(body, &mut made.names, v)).collect();
                body.blocks[place.0].params = params;
            }
            for inst in body.blocks[block.0].insts.clone() {
                let inst = self.inst(body, &mut made.names, inst);
                body.blocks[place.0].insts.push(inst);
            }
            if block == self.r.test {
                made.last = place;
                continue;
            }
            let name = |v: VReg| made.names.get(&v).copied().unwrap_or(v);
            let place_of = |b: BlockId| places.get(&b).copied().unwrap_or(b);
            let mut end = body.blocks[block.0].end.clone();
            if let Some(end) = &mut end {
                end.rename_uses(&name);
                match end {
                    End::Jump(to, _) => *to = place_of(*to),
                    End::Branch { yes, no, .. } => (*yes, *no) = (place_of(*yes), place_of(*no)),
                    End::Return => {}
                }
            }
            body.blocks[place.0].end = end;
        }
        made.next = self.again.iter().map(|v| made.names.get(v).copied().unwrap_or(*v)).collect();
    }
    /// An instruction of a copy. Addresses relative to the sum of a parameter and a constant become relative to the
    /// parameter.
    fn inst(&mut self, body: &mut Body, names: &mut Map<VReg, VReg>, mut inst: Inst) -> Inst {
        inst.rename_uses(&|v| names.get(&v).copied().unwrap_or(v));
        inst.args.iter_mut().for_each(|arg| {
            if let Arg::Mem(mem) = arg {
                *mem = self.relative(*mem).unwrap_or(*mem);
            }
        });
        inst.rename_definitions(|v| fresh(body, names, v));
        if let Some((param, sum)) = self.carried.iter().find_map(|v| Some((*v, step(&inst, *v)?))) {
            self.sums.insert(sum.0, (param, sum.1));
        }
        inst
    }
    fn relative(&self, mem: Mem) -> Option<Mem> {
        let mut changed = mem;
        if let Base::Reg(v) = mem.base
            && let Some((param, constant)) = self.sums.get(&v)
        {
            changed.base = Base::Reg(*param);
            changed.offset = changed.offset.checked_add(*constant)?;
        }
        if let Some((v, View::G64, scale)) = mem.index
            && let Some((param, constant)) = self.sums.get(&v)
        {
            changed.index = Some((*param, View::G64, scale));
            changed.offset = changed.offset.checked_add(constant.checked_mul(i32::from(scale))?)?;
        }
        Some(changed)
    }
}

/// A new name for a register that a copy writes.
fn fresh(body: &mut Body, names: &mut Map<VReg, VReg>, of: VReg) -> VReg {
    let new = like(body, of);
    names.insert(of, new);
    new
}

/// A new register of the same class.
fn like(body: &mut Body, of: VReg) -> VReg {
    body.registers += 1;
    VReg::new(body.registers - 1, of.class())
}
