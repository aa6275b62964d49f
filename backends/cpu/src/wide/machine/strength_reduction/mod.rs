//! Loop strength reduction of addresses (Cocke and Kennedy, An Algorithm for Reduction of Operator Strength, 1977).
//!
//! The generator gives each row that a loop reads or writes a register outside of it, and adds the loop's counter in
//! the address: at no cost as long as there are registers. Where an innermost loop needs more than there are, rows that
//! differ by multiples of one stride share a pointer that goes along with the loop: each is `pointer + multiple *
//! scale`, where registers hold the stride, and 3, 5 or 7 times the stride, and the scale is 1, 2, 4 or 8.
//!
//! Before:
//! ```text
//! loop: vmovups ymm0, [row0 + x*4]; vaddps ymm0, ymm0, [row1 + x*4]; vaddps ymm0, ymm0, [row2 + x*4]; ..
//! ```
//! After:
//! ```text
//! loop: vmovups ymm0, [row]; vaddps ymm0, ymm0, [row + stride]; vaddps ymm0, ymm0, [row + stride*2]; ..; add row, 4
//! ```
//! Example: `rows_beyond_the_registers_share_a_pointer` in this file.

mod plan;
mod pressure;
mod rewrite;
mod row;

use super::allocate::registers;
use super::definitions::Definitions;
use super::inst::{BlockId, Body};
use super::simple_loop::{SimpleLoop, simple_loops};
use super::value::{Sum, Value};
use iced_x86::Code;
use plan::{Group, groups};
use pressure::Pressure;
use regalloc2::RegClass;
use rewrite::rewrite;
use row::{Row, Site, as_memory};
use std::collections::BTreeMap;

/// Reduces the strength of addresses in loops that need more general registers than there are. Returns true if any
/// changed.
pub(super) fn reduce(body: &mut Body) -> bool {
    let available = registers(body, RegClass::Int).len();
    let mut changed = false;
    let mut pressure = Pressure::new(body);
    let mut definitions = None;
    for l in simple_loops(body) {
        let needed = pressure.of(body, &l);
        if needed > available {
            let definitions = definitions.get_or_insert_with(|| Definitions::new(body));
            changed |= reduce_loop(body, &l, definitions, needed - available);
        }
    }
    changed
}

/// Groups the rows of a loop until it needs `excess` registers less.
fn reduce_loop(body: &mut Body, l: &SimpleLoop, definitions: &Definitions, excess: usize) -> bool {
    let rows = rows(body, l, definitions);
    let values: Vec<Value> = rows.iter().map(|r| r.opened.clone()).collect();
    let mut chosen = Vec::new();
    let mut saved = 0;
    for mut group in groups(&values) {
        if group.saved > 0
            && saved < excess as i64
            && let Some(stride) = known_stride(definitions, &group, &rows)
        {
            group.stride = stride;
            saved += group.saved;
            chosen.push(group);
        }
    }
    let before = cfg!(debug_assertions).then(|| addresses(body, l));
    let changed = rewrite(body, l, definitions, &rows, &chosen);
    if let Some(before) = before.filter(|_| changed) {
        let after = simple_loops(body).into_iter().find(|other| other.head() == l.head());
        assert_eq!(after.map(|l| addresses(body, &l)), Some(before), "addresses changed");
    }
    changed
}

/// The stride of a group as a sum that can be computed: as it is, or the difference of two rows.
fn known_stride(definitions: &Definitions, group: &Group, rows: &[Row]) -> Option<Sum> {
    if definitions.is_computable(&group.stride) {
        return Some(group.stride.clone());
    }
    let next = group.rows.windows(2).find(|pair| pair[1].1 - pair[0].1 == 1)?;
    let [from, to] = [&rows[next[0].0], &rows[next[1].0]];
    let mut stride = to.value.start.plus(&from.value.start, -1)?;
    stride.constant = from.opened.start.constant.wrapping_sub(to.opened.start.constant);
    Some(stride)
}

/// The addresses in a loop, by what they are but for constants; a `lea` counts where it has the address of memory.
fn rows(body: &Body, l: &SimpleLoop, definitions: &Definitions) -> Vec<Row> {
    let mut rows: BTreeMap<Value, Vec<(Site, i64)>> = BTreeMap::new();
    for is_memory in [true, false] {
        for (block, _) in &l.blocks {
            for (at, inst) in body.blocks[block.0].insts.iter().enumerate() {
                if (inst.code != Code::Lea_r64_m) != is_memory {
                    continue;
                }
                let Some((arg, mem)) = inst.args.iter().enumerate().find_map(|(i, a)| Some((i, as_memory(a)?))) else {
                    continue;
                };
                let Some(mut value) = definitions.address(l, mem) else { continue };
                let site = ((*block, at, arg), std::mem::take(&mut value.start.constant));
                match rows.get_mut(&value) {
                    Some(sites) => sites.push(site),
                    None if is_memory => _ = rows.insert(value, vec![site]),
                    None => {}
                }
            }
        }
    }
    let near = |sites: &[(Site, i64)]| {
        let constants = sites.iter().map(|(_, c)| i128::from(*c));
        constants.clone().max().zip(constants.min()).is_some_and(|(most, least)| most - least < 1 << 30)
    };
    let all = rows.into_iter().filter(|(_, sites)| near(sites));
    let all = all.filter_map(|(value, sites)| Some((definitions.opened_value(&value)?, value, sites)));
    all.map(|(opened, value, mut sites)| {
        let order = |block: BlockId| l.blocks.iter().position(|(b, _)| *b == block);
        sites.sort_by_key(|((block, at, arg), _)| (order(*block), *at, *arg));
        Row { value, opened, sites }
    })
    .collect()
}

/// The address of each instruction of a loop, but for those of a `lea`.
fn addresses(body: &Body, l: &SimpleLoop) -> Vec<Option<Value>> {
    let definitions = Definitions::new(body);
    let insts = l.blocks.iter().flat_map(|(b, _)| &body.blocks[b.0].insts).filter(|i| i.code != Code::Lea_r64_m);
    insts
        .flat_map(|i| i.args.iter().filter_map(as_memory))
        .map(|mem| definitions.opened_value(&definitions.address(l, mem)?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::finish;
    use super::super::inst::{Arg, Base, Block, BlockId, Body, CapturedSum, Condition, End, Inst, Mem, Right, View};
    use super::super::loop_for_tests::text_of;
    use iced_x86::Code;
    use regalloc2::VReg;

    /// A function that adds up `rows` rows of 4-byte elements that are a stride apart, from the argument on: the text
    /// of its loop. The loop counts to the stride, in steps of `1 << shift` elements that end at a limit if there is
    /// one. Captured rows are loaded.
    fn sum_of_rows(rows: usize, shift: i64, is_limited: bool, is_captured: bool) -> String {
        let mut body = Body::new(View::Y, false);
        let [head, latch, leave] = [(); 3].map(|()| body.block());
        body.order.extend([head, latch, leave]);
        let push = |body: &mut Body, block: BlockId, code, args| {
            body.blocks[block.0].insts.push(Inst::new(code, args));
        };
        let general = |body: &mut Body| body.register(View::G64);
        let [zero, stride] = [(); 2].map(|()| general(&mut body));
        push(&mut body, BlockId(0), Code::Mov_r32_imm32, vec![Arg::Def(zero, View::G32), Arg::Imm(0)]);
        let word = Mem::at(body.argument, 0);
        push(&mut body, BlockId(0), Code::Mov_r64_rm64, vec![Arg::Def(stride, View::G64), Arg::Mem(word)]);
        let mut bases = vec![body.argument];
        for row in 1..rows as i64 {
            let (scaled, base) = (general(&mut body), general(&mut body));
            let args = match is_captured {
                true => (Code::Mov_r64_rm64, vec![Arg::Def(scaled, View::G64), Arg::Mem(word.plus(8 * row as i32))]),
                false => {
                    let args = vec![Arg::Def(scaled, View::G64), Arg::Use(stride, View::G64), Arg::Imm(4 * row)];
                    (Code::Imul_r64_rm64_imm32, args)
                }
            };
            push(&mut body, BlockId(0), args.0, args.1);
            if is_captured {
                body.captured.push((scaled, CapturedSum { terms: vec![(7, 3), (9, 4 * row)], constant: row % 5 }));
            }
            let sum = Mem { index: Some((scaled, View::G64, 1)), ..Mem::at(body.argument, 0) };
            push(&mut body, BlockId(0), Code::Lea_r64_m, vec![Arg::Def(base, View::G64), Arg::Mem(sum)]);
            bases.push(base);
        }
        let counter = general(&mut body);
        body.blocks[0].end = Some(End::Jump(head, vec![zero]));
        body.blocks[head.0] = Block { params: vec![counter], ..Block::default() };
        let mut index = general(&mut body);
        let args = vec![Arg::Mod { to: index, from: counter, view: View::G64 }, Arg::Imm(shift)];
        push(&mut body, head, Code::Shl_rm64_imm8, args);
        if is_limited {
            let clamped = general(&mut body);
            push(&mut body, head, Code::Cmp_r64_rm64, vec![Arg::Use(index, View::G64), Arg::Use(stride, View::G64)]);
            let args = vec![Arg::Mod { to: clamped, from: index, view: View::G64 }, Arg::Use(stride, View::G64)];
            push(&mut body, head, Code::Cmovg_r64_rm64, args);
            index = clamped;
        }
        let mut sum: Option<VReg> = None;
        for base in &bases {
            let mem = Mem { base: Base::Reg(*base), index: Some((index, View::G64, 4)), offset: 8, broadcast: false };
            let to = body.register(View::Y);
            match sum {
                None => {
                    push(&mut body, head, Code::VEX_Vmovups_ymm_ymmm256, vec![Arg::Def(to, View::Y), Arg::Mem(mem)])
                }
                Some(sum) => {
                    let args = vec![Arg::Def(to, View::Y), Arg::Use(sum, View::Y), Arg::Mem(mem)];
                    push(&mut body, head, Code::VEX_Vaddps_ymm_ymm_ymmm256, args);
                }
            }
            sum = Some(to);
        }
        let stored = Mem { index: Some((index, View::G64, 4)), ..Mem::at(body.argument, 0) };
        let sum = sum.unwrap_or(body.argument);
        push(&mut body, head, Code::VEX_Vmovups_ymmm256_ymm, vec![Arg::Mem(stored), Arg::Use(sum, View::Y)]);
        let next = general(&mut body);
        push(&mut body, head, Code::Lea_r64_m, vec![Arg::Def(next, View::G64), Arg::Mem(Mem::at(counter, 1))]);
        let (condition, right) = (Condition::Less, Right::Reg(stride));
        body.blocks[head.0].end = Some(End::Branch { condition, left: next, right, yes: latch, no: leave });
        body.blocks[latch.0].end = Some(End::Jump(head, vec![next]));
        body.blocks[leave.0].end = Some(End::Return);
        let text = text_of(&finish(body).unwrap());
        let lines = text
            .lines()
            .skip_while(|l| !l.contains(" shl r") && !l.contains("vmovups"))
            .take_while(|l| !l.contains(" j"));
        lines.map(|l| format!("{l}\n")).collect()
    }

    #[test]
    fn rows_beyond_the_registers_share_a_pointer() {
        for (rows, shift, is_limited) in [(20, 0, false), (20, 3, false), (40, 3, true), (17, 4, true)] {
            for is_captured in [false, true] {
                let text = sum_of_rows(rows, shift, is_limited, is_captured);
                assert!(!text.contains("rsp"), "{rows} rows:\n{text}");
                assert_eq!(text.matches("vaddps").count(), rows - 1, "{text}");
            }
        }
    }

    #[test]
    fn rows_that_fit_keep_a_pointer_each() {
        let text = sum_of_rows(6, 3, false, false);
        assert!(text.contains("lea") && !text.contains("*2+8]"), "{text}");
        assert_eq!(text.matches("*4+8]").count(), 6, "{text}");
    }
}
