//! Small improvements of finished code: instructions whose results nobody uses go, and a load that one instruction uses
//! becomes its memory operand.

use super::inst::{Arg, Base, Block, Body, End, Inst, Mem, Right, View};
use iced_x86::Code;
use regalloc2::VReg;

/// Cleans a function up. Loads are taken for free of effects: the generator only makes such as touch nothing they must
/// not.
pub(super) fn clean(body: &mut Body) {
    let uses = eliminate(body);
    for block in &mut body.blocks {
        fold(block, &uses);
    }
}

/// Takes out instructions whose results nobody uses; returns how often each register is used.
pub(super) fn eliminate(body: &mut Body) -> Vec<u32> {
    let mut uses = count(body);
    sweep(body, &mut uses);
    uses
}

/// Counts the uses of each register.
fn count(body: &Body) -> Vec<u32> {
    let mut uses = vec![0; body.registers];
    for id in &body.order {
        let block = &body.blocks[id.0];
        for inst in &block.insts {
            inst.used(&mut |v| uses[v.vreg()] += 1);
        }
        match &block.end {
            Some(End::Jump(_, values)) => values.iter().for_each(|v| uses[v.vreg()] += 1),
            Some(End::Branch { left, right, .. }) => {
                uses[left.vreg()] += 1;
                if let Right::Reg(v) = right {
                    uses[v.vreg()] += 1;
                }
            }
            _ => {}
        }
    }
    uses
}

/// Takes out what nobody uses. A use comes after its definition in the order of blocks, but for those of jumps back.
fn sweep(body: &mut Body, uses: &mut [u32]) {
    for id in body.order.clone().into_iter().rev() {
        let insts = &mut body.blocks[id.0].insts;
        let mut kept = Vec::with_capacity(insts.len());
        while let Some(inst) = insts.pop() {
            let results = inst.results();
            if !results.is_empty() && results.iter().all(|v| uses[v.vreg()] == 0) {
                inst.used(&mut |v| uses[v.vreg()] -= 1);
            } else {
                kept.push(inst);
            }
        }
        kept.reverse();
        *insts = kept;
    }
}

/// Makes loads memory operands of the only instruction that uses them, where nothing is stored in between.
fn fold(block: &mut Block, uses: &[u32]) {
    // Loads since the last store: what they define, how much of it, where they are, from where.
    let mut loads: Vec<(VReg, View, usize, Mem)> = Vec::new();
    let mut gone = vec![false; block.insts.len()];
    for i in 0..block.insts.len() {
        let inst = &mut block.insts[i];
        if inst.folds
            && let Some(last) = inst.args.iter().rposition(|a| matches!(a, Arg::Use(..)))
            && let Arg::Use(v, used) = inst.args[last]
            // Who uses more of a register than was loaded would read more memory.
            && let Some(at) = loads.iter().position(|(load, view, ..)| *load == v && used <= *view)
        {
            let (_, _, load, mem) = loads.swap_remove(at);
            inst.args[last] = Arg::Mem(mem);
            inst.folds = false;
            gone[load] = true;
            continue;
        }
        let stores = !matches!(inst.code, Code::Prefetcht0_m8 | Code::Prefetcht1_m8);
        if stores && inst.results().is_empty() && inst.args.iter().any(|a| matches!(a, Arg::Mem(_))) {
            loads.clear();
        }
        if let [Arg::Def(v, view), Arg::Mem(mem)] = inst.args[..]
            && inst.loads_whole
            && uses[v.vreg()] == 1
            && mem.base != Base::Pool
        {
            loads.push((v, view, i, mem));
        }
    }
    let mut gone = gone.into_iter();
    block.insts.retain(|_| !gone.next().unwrap_or(false));
}

impl Inst {
    /// Calls `f` with every register that is read.
    pub(super) fn used(&self, f: &mut impl FnMut(VReg)) {
        for arg in &self.args {
            match *arg {
                Arg::Use(v, _) | Arg::UseIn(v, _) | Arg::Mask(v) | Arg::ZeroMask(v) => f(v),
                Arg::Mod { from, .. } | Arg::SpentMask { from, .. } => f(from),
                Arg::Mem(mem) => {
                    if let Base::Reg(v) = mem.base {
                        f(v);
                    }
                    if let Some((v, ..)) = mem.index {
                        f(v);
                    }
                }
                Arg::Def(..) | Arg::Imm(_) => {}
            }
        }
    }
    /// The registers that are written; none for an instruction that is there for its effect. A spent mask is no result,
    /// and a store has no others.
    pub(super) fn results(&self) -> Vec<VReg> {
        let of = |a: &Arg| match *a {
            Arg::Def(v, _) | Arg::Mod { to: v, .. } => Some(v),
            _ => None,
        };
        self.args.iter().filter_map(of).collect()
    }
}
