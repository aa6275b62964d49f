//! Small improvements of finished code: instructions that others have computed ([`local_values`](super::local_values))
//! or whose results nobody uses go, and a load that one instruction uses becomes its memory operand, as do the pieces
//! of one that [`slice_loads`] finds.

use super::broadcast_loads::element_bytes;
use super::inst::{Arg, Base, Block, Body, Inst, Mem, View};
use super::local_values::number_values;
use super::slice_loads::slice_loads;
use iced_x86::Code;
use regalloc2::VReg;

/// Cleans a function up. Loads are taken for free of effects: the generator only makes such as touch nothing they must
/// not.
pub(super) fn clean(body: &mut Body) {
    number_values(body);
    let uses = eliminate(body);
    for block in &mut body.blocks {
        slice_loads(block, &uses);
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
pub(super) fn count(body: &Body) -> Vec<u32> {
    let mut uses = vec![0; body.registers];
    for id in &body.order {
        let block = &body.blocks[id.0];
        for inst in &block.insts {
            inst.used(&mut |v| uses[v.vreg()] += 1);
        }
        if let Some(end) = &block.end {
            end.used(&mut |v| uses[v.vreg()] += 1);
        }
    }
    uses
}

/// Takes out what nobody uses. A use comes after its definition in the order of blocks, but for those of jumps back.
fn sweep(body: &mut Body, uses: &mut [u32]) {
    let mut gone = Vec::new();
    for id in body.order.iter().rev() {
        let insts = &mut body.blocks[id.0].insts;
        for (at, inst) in insts.iter().enumerate().rev() {
            if inst.has_result() && inst.results().all(|v| uses[v.vreg()] == 0) {
                inst.used(&mut |v| uses[v.vreg()] -= 1);
                gone.push(at);
            }
        }
        if !gone.is_empty() {
            let mut at = 0..;
            insts.retain(|_| gone.pop_if(|gone| Some(*gone) == at.next()).is_none());
        }
    }
}

/// A load that may become a memory operand.
struct Load {
    to: VReg,
    view: View,
    /// Its position in the block.
    at: usize,
    mem: Mem,
    /// The bytes of the element that it puts into all lanes, if it does.
    element: Option<u8>,
}

impl Load {
    /// Returns true if an instruction that uses the register as its last one can read memory instead.
    fn suits(&self, inst: &Inst, used: View) -> bool {
        match self.element {
            Some(bytes) => used == self.view && element_bytes(inst.code) == Some(bytes),
            // Who uses more of a register than was loaded would read more memory.
            None => usize::from(inst.memory_bytes) <= self.view.bytes(),
        }
    }
}

/// Makes loads memory operands of the only instruction that uses them, where nothing is stored in between.
fn fold(block: &mut Block, uses: &[u32]) {
    // Those since the last store.
    let mut loads: Vec<Load> = Vec::new();
    let mut gone = vec![false; block.insts.len()];
    for i in 0..block.insts.len() {
        let inst = &mut block.insts[i];
        if inst.memory_bytes > 0
            && let Some(last) = inst.args.iter().rposition(|a| matches!(a, Arg::Use(..)))
            && let Arg::Use(v, used) = inst.args[last]
            && let Some(at) = loads.iter().position(|load| load.to == v && load.suits(inst, used))
        {
            let load = loads.swap_remove(at);
            inst.args[last] = Arg::Mem(load.mem);
            inst.memory_bytes = 0;
            gone[load.at] = true;
            continue;
        }
        if inst.stores() {
            loads.clear();
        }
        let load = match (inst.whole_load(), inst.broadcast_load()) {
            (Some((to, view, mem)), _) => Some(Load { to, view, at: i, mem, element: None }),
            (_, Some((to, view, mem, bytes))) => Some(Load { to, view, at: i, mem, element: Some(bytes) }),
            _ => None,
        };
        loads.extend(load.filter(|load| uses[load.to.vreg()] == 1));
    }
    let mut gone = gone.into_iter();
    block.insts.retain(|_| !gone.next().unwrap_or(false));
}

impl Inst {
    /// Returns true if it stores to memory.
    pub(super) fn stores(&self) -> bool {
        let prefetches = matches!(self.code, Code::Prefetcht0_m8 | Code::Prefetcht1_m8);
        !prefetches && self.args.iter().any(|a| matches!(a, Arg::Mem(_))) && !self.has_result()
    }
    /// The register that it loads whole, how wide that is, and from where; not of a constant, which stays in a
    /// register.
    pub(super) fn whole_load(&self) -> Option<(VReg, View, Mem)> {
        match self.args[..] {
            [Arg::Def(v, view), Arg::Mem(mem)] if self.loads_whole && mem.base != Base::Pool => Some((v, view, mem)),
            _ => None,
        }
    }
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
    pub(super) fn results(&self) -> impl Iterator<Item = VReg> {
        self.args.iter().filter_map(|a| match *a {
            Arg::Def(v, _) | Arg::Mod { to: v, .. } => Some(v),
            _ => None,
        })
    }
    /// Returns true if it writes a register.
    pub(super) fn has_result(&self) -> bool {
        self.results().next().is_some()
    }
    /// Returns true if it writes this register.
    pub(super) fn defines(&self, register: VReg) -> bool {
        self.results().any(|v| v == register)
    }
}
