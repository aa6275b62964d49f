//! Register promotion: an element that a loop reads and writes at the same place in each iteration is kept in a register
//! (Cooper and Lu, Register Promotion in C Programs, 1997).
//!
//! Before: `Stage::Shaped`, every symbol bound once. After: the same.
//!
//! An accumulator is loaded in front of the loop and stored behind it. That is right where the loop accesses a buffer
//! only at places that do not change in it, each two of them equal or apart, and each place is read before it is stored
//! and is stored in every iteration: then nothing is read or written that was not before, and nothing more often. The
//! outermost such loop is taken. Buffers beyond [`PROMOTED_BYTES`] stay in memory, as do those that are accessed at
//! constants alone, which code generators keep in registers as they are.
//!
//! Example:
//! ```text
//! for y#L1 from 0 extent 8 {
//!   for x#L0 from 0 extent in#b0.extent0 {
//!     out#b2[ramp(y#L1 * 4, 1, 4)] = out#b2[ramp(y#L1 * 4, 1, 4)] + x4(in#b0[x#L0])
//!   }
//! }
//! ```
//! becomes
//! ```text
//! for y#L1 from 0 extent 8 {
//!   if 0 < in#b0.extent0 {
//!     alloc out$r6#b6[4] at_most 4 {
//!       out$r6#b6[ramp(0, 1, 4)] = out#b2[ramp(y#L1 * 4, 1, 4)]
//!       for x#L0 from 0 extent in#b0.extent0 {
//!         out$r6#b6[ramp(0, 1, 4)] = out$r6#b6[ramp(0, 1, 4)] + x4(in#b0[x#L0])
//!       }
//!       out#b2[ramp(y#L1 * 4, 1, 4)] = out$r6#b6[ramp(0, 1, 4)]
//!     }
//!   }
//! }
//! ```

mod survey;

use crate::lower::walk;
use crate::tuning::PROMOTED_BYTES;
use halide_core::ops::BinOp;
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{self, Memo};
use halide_ir::{
    BufId, BufferInfo, BufferRole, Expr, ExprKind, For, ForKind, Memory, Program, Side, Stmt, Stream, build,
};
use survey::{Access, Survey};

/// Keeps in registers what loops accumulate.
pub fn promote_registers(program: Program) -> Program {
    walk::map_body(program, |body, program| {
        let in_registers = at_constants(program, &body);
        statement(&mut Promotion { program, in_registers }, body)
    })
}

struct Promotion<'p> {
    program: &'p mut Program,
    /// The buffers that are in registers without more, and those that this pass made.
    in_registers: Set<BufId>,
}

/// Returns the stages' buffers that are accessed at constants only.
fn at_constants(program: &Program, body: &Stmt) -> Set<BufId> {
    let mut elsewhere: Set<BufId> = Set::default();
    note_elsewhere(body, &mut elsewhere);
    let internal = program.buffers.enumerate().filter(|(_, info)| info.role == BufferRole::Internal);
    internal.map(|(buf, _)| buf).filter(|buf| !elsewhere.contains(buf)).collect()
}

/// Notes the buffers that `s` accesses at places that are no constants.
fn note_elsewhere(s: &Stmt, elsewhere: &mut Set<BufId>) {
    if let Stmt::Store { buf, index, .. } = s
        && !is_constant(index)
    {
        elsewhere.insert(*buf);
    }
    visit::for_each_expr(s, |e| {
        visit::for_each_node(e, &mut |n| {
            if let ExprKind::Load { buf, index, .. } = n.kind()
                && !is_constant(index)
            {
                elsewhere.insert(*buf);
            }
        });
    });
    visit::for_each_stmt(s, |inner| note_elsewhere(inner, elsewhere));
}

fn is_constant(index: &Expr) -> bool {
    !visit::any_node(index, |n| matches!(n.kind(), ExprKind::Sym(_) | ExprKind::Load { .. } | ExprKind::Read { .. }))
}

fn statement(cx: &mut Promotion<'_>, s: Stmt) -> Stmt {
    match s {
        Stmt::For(l) if l.kind == ForKind::Serial && build::as_int(&l.extent) != Some(1) => {
            let mut registers = Registers::default();
            for access in promoted(cx, &l) {
                let buf = new_buffer(cx.program, &access);
                cx.in_registers.insert(buf);
                registers.insert((access.buf, access.index), buf);
            }
            let For { id, kind, min, extent, body } = *l;
            let body = statement(cx, replace(cx.program, body, &registers));
            let made = build::for_loop(id, kind, min, extent.clone(), body);
            around(cx.program, registers, &extent, made)
        }
        // Threads have registers of their own, and loops over them stay directly in each other.
        Stmt::For(l) if l.kind.is_gpu() => Stmt::For(l),
        other => visit::map_stmt(other, Expr::clone, |inner| statement(cx, inner)),
    }
}

/// Returns the places that may be in registers while a loop runs, in the order in which the loop meets them.
fn promoted(cx: &Promotion<'_>, l: &For) -> Vec<Access> {
    let Some(survey) = Survey::of(l) else { return Vec::new() };
    let mut by_buffer: Map<BufId, Vec<&Access>> = Map::default();
    let mut order = Vec::new();
    for access in survey.accesses.iter().filter(|a| !cx.in_registers.contains(&a.buf)) {
        let all = by_buffer.entry(access.buf).or_default();
        if all.is_empty() {
            order.push(access.buf);
        }
        all.push(access);
    }
    let mut left = PROMOTED_BYTES;
    let mut chosen = Vec::new();
    for buf in order {
        let all = &by_buffer[&buf];
        let size = cx.program.buffers[buf].elem.bytes() as u64;
        let bytes: u64 = all.iter().map(|a| u64::from(a.index.lanes()) * size).sum();
        if bytes <= left && survey.stay(buf, all) && are_apart(all) {
            left -= bytes;
            chosen.extend(all.iter().map(|a| (*a).clone()));
        }
    }
    chosen
}

/// Returns true if places are different whatever names stand for: they differ by constants that are large enough.
fn are_apart(places: &[&Access]) -> bool {
    let mut lanes: Vec<(Option<&Expr>, i64, i64)> = places
        .iter()
        .map(|a| {
            let (base, from) = first_lane(&a.index);
            (base, from, from.saturating_add(i64::from(a.index.lanes())))
        })
        .collect();
    lanes.sort_by_key(|(_, from, _)| *from);
    lanes.windows(2).all(|pair| pair[0].0 == pair[1].0 && pair[0].2 <= pair[1].1)
}

/// The first lane of a place, but for a constant; and the constant.
fn first_lane(index: &Expr) -> (Option<&Expr>, i64) {
    let base = match index.kind() {
        ExprKind::Ramp { base, .. } => base,
        _ => index,
    };
    if let Some(constant) = build::as_int(base) {
        return (None, constant);
    }
    match base.kind() {
        ExprKind::Binary(BinOp::Add, rest, constant) if build::as_int(constant).is_some() => {
            (Some(rest), build::as_int(constant).unwrap_or(0))
        }
        _ => (Some(base), 0),
    }
}

/// A buffer in registers for what is at a place.
fn new_buffer(program: &mut Program, access: &Access) -> BufId {
    let of = &program.buffers[access.buf];
    let info = BufferInfo {
        name: format!("{}$r{}", of.name, program.buffers.len()),
        elem: of.elem,
        dims: 1,
        role: BufferRole::Internal,
        order: vec![0],
        align: vec![1],
        fold: vec![None],
        unit_stride: None,
        memory: Memory::Register,
        keeps: false,
        stream: Stream::Never,
        side: Side::Host,
    };
    program.buffers.push(info)
}

/// The buffers in registers, by place.
type Registers = Map<(BufId, Expr), BufId>;

/// The index of all of a buffer in registers.
fn whole(lanes: u16) -> Expr {
    if lanes == 1 { build::int(0) } else { build::ramp(build::int(0), build::int(1), lanes) }
}

/// A loop's body with registers in the place of memory.
fn replace(program: &Program, s: Stmt, registers: &Registers) -> Stmt {
    if registers.is_empty() {
        return s;
    }
    let expression = |e: &Expr| {
        Memo::new().rewrite(e, |n, done| match n.kind() {
            ExprKind::Load { buf, index, mask: None } => match registers.get(&(*buf, index.clone())) {
                Some(register) => build::load(*register, program.buffers[*buf].elem, whole(index.lanes()), None),
                None => visit::map_children(n, done),
            },
            _ => visit::map_children(n, done),
        })
    };
    match visit::map_stmt(s, expression, |inner| replace(program, inner, registers)) {
        Stmt::Store { buf, index, value, mask: None } => {
            let lanes = index.lanes();
            match registers.get(&(buf, index.clone())) {
                Some(register) => Stmt::Store { buf: *register, index: whole(lanes), value, mask: None },
                None => Stmt::Store { buf, index, value, mask: None },
            }
        }
        other => other,
    }
}

/// A loop with loads in front of it and stores behind it, if it runs at all.
fn around(program: &Program, registers: Registers, extent: &Expr, l: Stmt) -> Stmt {
    if registers.is_empty() {
        return l;
    }
    let mut all: Vec<((BufId, Expr), BufId)> = registers.into_iter().collect();
    all.sort_by_key(|(_, register)| *register);
    let load = |buf: BufId, index: Expr| build::load(buf, program.buffers[buf].elem, index, None);
    let store = |buf: BufId, index: Expr, value: Expr| Stmt::Store { buf, index, value, mask: None };
    let before = all.iter().map(|((buf, index), r)| store(*r, whole(index.lanes()), load(*buf, index.clone())));
    let after = all.iter().map(|((buf, index), r)| store(*buf, index.clone(), load(*r, whole(index.lanes()))));
    let code = build::block(before.chain(std::iter::once(l)).chain(after));
    let made = all.iter().rev().fold(code, |body, ((_, index), register)| {
        let lanes = i64::from(index.lanes());
        let (buf, count) = (*register, build::int(lanes));
        Stmt::Alloc { buf, count, constant: Some(lanes as u64), body: Box::new(body) }
    });
    build::if_else(build::lt(build::int(0), extent.clone()), made, build::nothing())
}
