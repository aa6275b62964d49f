//! Loads of which instructions use pieces: each piece becomes the memory operand of the instruction that uses it, and
//! the load and what took the pieces out of its register go. As many bytes are read, and the ports of shuffles are
//! free.
//!
//! Example: `vmovdqu zmm1,[m]; vpmovzxbd zmm2,xmm1; vextracti32x4 xmm3,zmm1,1; vpmovzxbd zmm4,xmm3` becomes
//! `vpmovzxbd zmm2,[m]; vpmovzxbd zmm4,[m+16]`, if these two quarters are all that is used.

use super::inst::{Arg, Block, Inst, Mem};
use halide_ir::hash::Map;
use iced_x86::Code;
use regalloc2::VReg;

/// A load whose uses are looked at.
struct Load {
    mem: Mem,
    bytes: usize,
    /// Its instruction, and those that take pieces out of its register.
    gone: Vec<usize>,
    /// The instructions that use pieces: where these are, and how long.
    users: Vec<(usize, usize, usize)>,
    /// Uses of the register and of pieces that have not been met.
    left: u32,
    /// True if something needs it in a register.
    stays: bool,
}

/// A piece of a load: the number of the load, its place in bytes, and its length.
type Piece = (usize, usize, usize);

/// Makes the pieces of loads memory operands, where every use of a load is of a piece that can be one and nothing is
/// stored in between. `uses` says how often each register is used.
pub(super) fn slice_loads(block: &mut Block, uses: &[u32]) {
    let mut loads: Vec<Load> = Vec::new();
    let mut pieces: Map<VReg, Piece> = Map::default();
    for (i, inst) in block.insts.iter().enumerate() {
        if let Some((to, from, at, length)) = taken_out(inst)
            && let Some(&(load, start, bytes)) = pieces.get(&from)
        {
            loads[load].left -= 1;
            loads[load].left += uses[to.vreg()];
            loads[load].gone.push(i);
            pieces.insert(to, (load, start + at, length.min(bytes - at)));
            continue;
        }
        let folded = memory_operand(inst);
        inst.used(&mut |v| {
            let Some(&(load, start, bytes)) = pieces.get(&v) else { return };
            let length = usize::from(inst.memory_bytes);
            loads[load].left -= 1;
            match folded.is_some_and(|at| matches!(inst.args[at], Arg::Use(last, _) if last == v)) && length <= bytes {
                true => loads[load].users.push((i, start, length)),
                false => loads[load].stays = true,
            }
        });
        if inst.stores() {
            pieces.clear();
        }
        if let Some((v, view, mem)) = inst.whole_load()
            && uses[v.vreg()] > 0
        {
            let bytes = view.bytes();
            pieces.insert(v, (loads.len(), 0, bytes));
            let gone = vec![i];
            loads.push(Load { mem, bytes, gone, users: Vec::new(), left: uses[v.vreg()], stays: false });
        }
    }
    let mut gone = vec![false; block.insts.len()];
    for load in loads.iter().filter(|l| l.is_sliced()) {
        load.gone.iter().for_each(|i| gone[*i] = true);
        for &(user, start, _) in &load.users {
            let inst = &mut block.insts[user];
            if let (Some(at), Some(mem)) = (memory_operand(inst), load.piece(start)) {
                inst.args[at] = Arg::Mem(mem);
                inst.memory_bytes = 0;
            }
        }
    }
    let mut gone = gone.into_iter();
    block.insts.retain(|_| !gone.next().unwrap_or(false));
}

impl Load {
    /// Returns true if all uses are known and of pieces, which are no more than what was loaded.
    fn is_sliced(&self) -> bool {
        let read: usize = self.users.iter().map(|(.., length)| length).sum();
        let in_reach = self.users.iter().all(|(_, start, _)| self.piece(*start).is_some());
        !self.stays && self.left == 0 && self.gone.len() > 1 && read <= self.bytes && in_reach
    }
    /// The address of a piece.
    fn piece(&self, start: usize) -> Option<Mem> {
        let offset = self.mem.offset.checked_add(start as i32)?;
        (!self.mem.broadcast).then_some(Mem { offset, ..self.mem })
    }
}

/// The position among the arguments of the last register, if it may be memory.
fn memory_operand(inst: &Inst) -> Option<usize> {
    let last = inst.args.iter().rposition(|a| matches!(a, Arg::Use(..)))?;
    (inst.memory_bytes > 0).then_some(last)
}

/// The register that an instruction fills with a piece of another one, that one, and the piece's place and length in
/// bytes.
fn taken_out(inst: &Inst) -> Option<(VReg, VReg, usize, usize)> {
    use Code::*;
    let [Arg::Def(to, _), Arg::Use(from, view), Arg::Imm(n)] = inst.args[..] else { return None };
    let n = usize::try_from(n).ok()?;
    match inst.code {
        VEX_Vextracti128_xmmm128_ymm_imm8
        | EVEX_Vextracti32x4_xmmm128_k1z_ymm_imm8
        | EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8 => Some((to, from, 16 * n, 16)),
        EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8 => Some((to, from, 32 * n, 32)),
        // What it shifts in from above is 0, and no part of the piece.
        VEX_Vpsrldq_xmm_xmm_imm8 | EVEX_Vpsrldq_xmm_xmmm128_imm8 if n < 16 => Some((to, from, n, 16 - n)),
        _ => None,
    }
    .filter(|(.., at, length)| at + length <= view.bytes())
}

#[cfg(test)]
mod tests {
    use super::super::finish;
    use super::super::inst::{Arg, Body, End, Inst, Mem, View};
    use super::super::loop_for_tests::text_of;
    use iced_x86::Code;
    use regalloc2::VReg;

    fn push(body: &mut Body, code: Code, args: Vec<Arg>, memory_bytes: u8, loads_whole: bool) {
        body.blocks[0].insts.push(Inst { memory_bytes, loads_whole, ..Inst::new(code, args) });
    }
    fn store(body: &mut Body, to: VReg, offset: i32, from: VReg) {
        let args = vec![Arg::Mem(Mem::at(to, offset)), Arg::Use(from, View::Z)];
        push(body, Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm, args, 0, false);
    }

    /// The text of a function that loads 64 bytes, widens the first and the second quarter of these, and stores the
    /// results; `before` the first is widened, or before the second.
    fn quarters(before: [bool; 2], what: impl Fn(&mut Body, VReg, VReg)) -> String {
        let mut body = Body::new(View::Z, true);
        let [from, to] = [0, 1].map(|number| {
            let register = body.register(View::G64);
            let args = vec![Arg::Def(register, View::G64), Arg::Mem(Mem::at(body.argument, 8 * number))];
            push(&mut body, Code::Mov_r64_rm64, args, 0, false);
            register
        });
        let all = body.register(View::Z);
        let load = vec![Arg::Def(all, View::Z), Arg::Mem(Mem::at(from, 0))];
        push(&mut body, Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512, load, 0, true);
        let wide = [0, 1].map(|i| {
            if before[i] {
                what(&mut body, to, all);
            }
            let mut piece = all;
            if i > 0 {
                piece = body.register(View::X);
                let args = vec![Arg::Def(piece, View::X), Arg::Use(all, View::Z), Arg::Imm(1)];
                push(&mut body, Code::EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8, args, 0, false);
            }
            let wide = body.register(View::Z);
            let args = vec![Arg::Def(wide, View::Z), Arg::Use(piece, View::X)];
            push(&mut body, Code::EVEX_Vpmovzxbd_zmm_k1z_xmmm128, args, 16, false);
            wide
        });
        store(&mut body, to, 0, wide[0]);
        store(&mut body, to, 64, wide[1]);
        body.blocks[0].end = Some(End::Return);
        text_of(&finish(body).unwrap())
    }

    #[test]
    fn pieces_are_read_from_memory() {
        let text = quarters([false, false], |_, _, _| {});
        assert!(text.matches("vpmovzxbd").count() == 2 && !text.contains("vextracti32x4"), "{text}");
        assert!(text.contains("+10h]"), "{text}");
    }

    #[test]
    fn pieces_behind_a_store_stay() {
        let text = quarters([false, true], |body, to, _| {
            let value = to_store(body);
            store(body, to, 128, value);
        });
        assert!(text.contains("vextracti32x4"), "{text}");
    }

    #[test]
    fn a_register_that_something_needs_whole_stays() {
        let text = quarters([true, false], |body, to, all| store(body, to, 128, all));
        assert!(text.contains("vextracti32x4"), "{text}");
    }

    /// A register with something in it.
    fn to_store(body: &mut Body) -> VReg {
        let register = body.register(View::Z);
        let load = vec![Arg::Def(register, View::Z), Arg::Mem(Mem::at(body.argument, 0))];
        push(body, Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512, load, 0, true);
        register
    }
}
