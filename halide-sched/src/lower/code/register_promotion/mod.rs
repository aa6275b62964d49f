//! Register promotion: an element that a loop reads and writes at the same place in each iteration is kept in a
//! register (Cooper and Lu, Register Promotion in C Programs, 1997).
//!
//! Before: `Stage::Shaped`, every symbol bound once. After: the same.
//!
//! An accumulator is loaded in front of the loop and stored behind it. That is right where the loop accesses a buffer
//! only at places that do not change in it, each two of them equal or apart, and each place is stored in every
//! iteration, and read before that or not at all: then nothing is read or written that was not before, and nothing more
//! often. Conditions around all accesses of a place, and masks, that do not change in the loop are asked in front of it
//! and behind it again: the block of a product at the edge of a matrix. The outermost such loop is taken. A loop's body
//! that stores one place several times is treated like a loop that runs once. Buffers beyond `PROMOTED_BYTES` stay in
//! memory, as do those that are accessed at constants alone, which code generators keep in registers as they are.
//!
//! Places are apart where they differ by a constant that is large enough, or by multiples of the buffer's strides: two
//! elements with other coordinates are never at one place.
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
//! and, since places whose coordinates differ are apart,
//! ```text
//! for x#L0 from 0 extent 8 {
//!   result#b5[x#L0] = 1u16
//!   result#b5[x#L0 + result#b5.stride1] = 2u16
//!   result#b5[x#L0] = result#b5[x#L0] + image#b3[x#L0]
//! }
//! ```
//! becomes
//! ```text
//! for x#L0 from 0 extent 8 {
//!   alloc result$r6#b6[1] at_most 1 {
//!     result$r6#b6[0] = 1u16
//!     result#b5[x#L0 + result#b5.stride1] = 2u16
//!     result$r6#b6[0] = result$r6#b6[0] + image#b3[x#L0]
//!     result#b5[x#L0] = result$r6#b6[0]
//!   }
//! }
//! ```
//! and, at the edge of a matrix,
//! ```text
//! for y#L1 from 0 extent 8 {
//!   for x#L0 from 0 extent 16 {
//!     if likely(y#L1) < in#b0.extent0 {
//!       out#b2[y#L1 where y#L1 < out#b2.extent0] = out#b2[y#L1 where y#L1 < out#b2.extent0] + in#b0[x#L0]
//!     }
//!   }
//! }
//! ```
//! becomes
//! ```text
//! for y#L1 from 0 extent 8 {
//!   alloc out$r6#b6[1] at_most 1 {
//!     if likely(y#L1) < in#b0.extent0 {
//!       out$r6#b6[0] = out#b2[y#L1 where y#L1 < out#b2.extent0]
//!     } else {
//!       out$r6#b6[0] = 0u8
//!     }
//!     for x#L0 from 0 extent 16 {
//!       if likely(y#L1) < in#b0.extent0 {
//!         out$r6#b6[0] = out$r6#b6[0] + in#b0[x#L0]
//!       }
//!     }
//!     if likely(y#L1) < in#b0.extent0 {
//!       out#b2[y#L1 where y#L1 < out#b2.extent0] = out$r6#b6[0]
//!     }
//!   }
//! }
//! ```

mod apart;
mod guards;
mod survey;
#[cfg(test)]
mod tests;

use crate::lower::code::register::new_register;
use crate::lower::walk;
use crate::tuning::PROMOTED_BYTES;
use guards::Condition;
use halide_core::value::Scalar;
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{self, Memo};
use halide_ir::{BufId, BufferRole, Expr, ExprKind, For, ForKind, Program, Stmt, Sym, build};
use survey::{Access, Place, Promoted, Survey};

/// Keeps in registers what loops accumulate.
pub fn register_promotion(program: Program) -> Program {
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
    !visit::any_node(index, |n| matches!(n.kind(), ExprKind::Sym(_) | ExprKind::Param(_) | ExprKind::Load { .. }))
}

fn statement(cx: &mut Promotion<'_>, s: Stmt) -> Stmt {
    match s {
        Stmt::For(l) if l.kind == ForKind::Serial && build::as_int(&l.extent) != Some(1) => {
            let accumulated = Survey::of_loop(&l).map_or(Vec::new(), |s| promoted(cx, &s, Some(Sym::Loop(l.id))));
            let registers = registers(cx, accumulated);
            let condition = l.condition.as_ref().map(|e| in_registers(cx.program, e, &registers));
            let body = replace(cx.program, l.body, &registers);
            let survey = Survey::of(&body);
            let body = body_of(cx, body, survey);
            let (extent, at_first) = (l.extent.clone(), l.condition.clone());
            let made = build::loop_of(For { condition, body, ..*l });
            if registers.is_empty() {
                return made;
            }
            let made = around(cx.program, registers, made);
            let made = build::if_else(at_first.unwrap_or(build::boolean(true)), made, build::nothing());
            build::if_else(build::lt(build::int(0), extent), made, build::nothing())
        }
        // Threads have registers of their own, and loops over them stay directly in each other.
        Stmt::For(l) if l.kind.is_gpu() => Stmt::For(l),
        Stmt::For(l) => {
            let survey = Survey::of(&l.body);
            let body = body_of(cx, l.body, survey);
            build::loop_of(For { body, ..*l })
        }
        other => visit::map_stmt(other, Expr::clone, |inner| statement(cx, inner)),
    }
}

/// The body of a loop, with its survey; places that it stores several times are in registers while it runs.
fn body_of(cx: &mut Promotion<'_>, body: Stmt, survey: Option<Survey>) -> Stmt {
    let repeated = match survey {
        Some(survey) if survey.accesses.iter().any(Access::is_repeated) => promoted(cx, &survey, None),
        _ => Vec::new(),
    };
    let repeated: Vec<Promoted> = repeated.into_iter().filter(|p| p.is_repeated).collect();
    let registers = registers(cx, repeated);
    let body = statement(cx, replace(cx.program, body, &registers));
    around(cx.program, registers, body)
}

/// Makes a buffer in registers for each place.
fn registers(cx: &mut Promotion<'_>, places: Vec<Promoted>) -> Registers {
    let make = |promoted: Promoted| {
        let buf = new_register(cx.program, promoted.place.buf);
        cx.in_registers.insert(buf);
        (promoted.place.clone(), Register { buf, promoted })
    };
    places.into_iter().map(make).collect()
}

/// Returns the places that may be in registers while code runs, in the order in which it meets them; with a `counter`,
/// while the loop that has it runs.
fn promoted(cx: &Promotion<'_>, survey: &Survey, counter: Option<Sym>) -> Vec<Promoted> {
    let mut by_buffer: Map<BufId, Vec<&Access>> = Map::default();
    let mut order = Vec::new();
    for access in survey.accesses.iter().filter(|a| !cx.in_registers.contains(&a.place.buf)) {
        let all = by_buffer.entry(access.place.buf).or_default();
        if all.is_empty() {
            order.push(access.place.buf);
        }
        all.push(access);
    }
    let mut left = PROMOTED_BYTES;
    let mut chosen = Vec::new();
    for buf in order {
        let all = &by_buffer[&buf];
        let size = cx.program.buffers[buf].elem.bytes() as u64;
        let bytes: u64 = all.iter().map(|a| u64::from(a.place.index.lanes()) * size).sum();
        if bytes <= left
            && let Some(stay) = survey.stay(buf, all, counter)
            && apart::are_apart(&cx.program.buffers[buf], buf, all)
        {
            left -= bytes;
            chosen.extend(stay);
        }
    }
    chosen
}

/// A buffer in registers, and what it holds.
struct Register {
    buf: BufId,
    promoted: Promoted,
}

/// The buffers in registers, by place.
type Registers = Map<Place, Register>;

/// The index of all of a buffer in registers.
fn whole(lanes: u16) -> Expr {
    if lanes == 1 { build::int(0) } else { build::ramp(build::int(0), build::int(1), lanes) }
}

/// The register of a place, if it has one.
fn register(registers: &Registers, buf: BufId, index: &Expr, mask: &Option<Expr>) -> Option<BufId> {
    registers.get(&Place { buf, index: index.clone(), mask: mask.clone() }).map(|register| register.buf)
}

/// An expression with registers in the place of memory.
fn in_registers(program: &Program, e: &Expr, registers: &Registers) -> Expr {
    Memo::new().rewrite(e, |n, done| match n.kind() {
        ExprKind::Load { buf, index, mask } => match register(registers, *buf, index, mask) {
            Some(register) => build::load(register, program.buffers[*buf].elem, whole(index.lanes()), None),
            None => visit::map_children(n, done),
        },
        _ => visit::map_children(n, done),
    })
}

/// A loop's body with registers in the place of memory.
fn replace(program: &Program, s: Stmt, registers: &Registers) -> Stmt {
    if registers.is_empty() {
        return s;
    }
    let expression = |e: &Expr| in_registers(program, e, registers);
    match visit::map_stmt(s, expression, |inner| replace(program, inner, registers)) {
        Stmt::Store { buf, index, value, mask } => match register(registers, buf, &index, &mask) {
            Some(register) => Stmt::Store { buf: register, index: whole(index.lanes()), value, mask: None },
            None => Stmt::Store { buf, index, value, mask },
        },
        other => other,
    }
}

/// Code with loads in front of it and stores behind it.
fn around(program: &Program, registers: Registers, code: Stmt) -> Stmt {
    if registers.is_empty() {
        return code;
    }
    let mut all: Vec<Register> = registers.into_values().collect();
    all.sort_by_key(|register| register.buf);
    let before = together(all.iter().filter_map(|register| load_before(program, register)));
    let after = together(all.iter().map(|register| store_behind(program, register)));
    let code = build::block(before.into_iter().chain([code]).chain(after));
    all.iter().rev().fold(code, |body, Register { buf, promoted }| {
        let lanes = i64::from(promoted.place.index.lanes());
        Stmt::Alloc { buf: *buf, count: build::int(lanes), constant: Some(lanes as u64), body: Box::new(body) }
    })
}

/// A statement for where a guard holds, and one for where it does not; without a guard, the first one alone.
struct Guarded {
    guard: Option<Expr>,
    then: Stmt,
    otherwise: Stmt,
}

/// Statements, those in a row that have one guard under one condition.
fn together(all: impl Iterator<Item = Guarded>) -> Vec<Stmt> {
    let mut list: Vec<(Option<Expr>, Vec<Stmt>, Vec<Stmt>)> = Vec::new();
    for Guarded { guard, then, otherwise } in all {
        match list.last_mut().filter(|last| last.0 == guard) {
            Some((_, thens, others)) => {
                thens.push(then);
                others.push(otherwise);
            }
            None => list.push((guard, vec![then], vec![otherwise])),
        }
    }
    let statement = |(guard, then, otherwise): (Option<Expr>, Vec<Stmt>, Vec<Stmt>)| match guard {
        Some(guard) => build::if_else(guard, build::block(then), build::block(otherwise)),
        None => build::block(then),
    };
    list.into_iter().map(statement).collect()
}

/// Gives a register its first value: zero where nothing accesses the place in memory.
fn load_before(program: &Program, Register { buf, promoted }: &Register) -> Option<Guarded> {
    let Place { buf: of, index, mask } = &promoted.place;
    let elem = program.buffers[*of].elem;
    let set = |value: Expr| Stmt::Store { buf: *buf, index: whole(index.lanes()), value, mask: None };
    let zero = || set(build::broadcast(build::constant(Scalar::zero(elem)), index.lanes()));
    let guard = truth(&promoted.guards);
    match promoted.is_loaded {
        true => {
            let then = set(build::load(*of, elem, index.clone(), mask.clone()));
            Some(Guarded { guard, then, otherwise: zero() })
        }
        false => guard.map(|_| Guarded { guard: None, then: zero(), otherwise: build::nothing() }),
    }
}

/// Stores what a register holds in the end.
fn store_behind(program: &Program, Register { buf, promoted }: &Register) -> Guarded {
    let Place { buf: of, index, mask } = promoted.place.clone();
    let value = build::load(*buf, program.buffers[of].elem, whole(index.lanes()), None);
    let then = Stmt::Store { buf: of, index, value, mask };
    Guarded { guard: truth(&promoted.guards), then, otherwise: build::nothing() }
}

/// True where all conditions hold; none if there are none.
fn truth(guards: &[Condition]) -> Option<Expr> {
    guards.iter().map(Condition::truth).reduce(build::and)
}
