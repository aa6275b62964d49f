//! Scalar replacement: an element that a loop reads where the iteration before stored it stays in a register (Callahan,
//! Carr and Kennedy, Improving Register Allocation for Subscripted Variables, 1990).
//!
//! Before: `Stage::Shaped`, every symbol bound once. After: the same; memory is written as before, and read less.
//!
//! A store to memory that is read again needs many cycles before the load has it, all the more where the store is of a
//! vector and the load of one of its lanes. The loops are serial ones whose body is a list of stores, each in every
//! iteration; of the stores to one buffer, each may read what the one before it stored, the first what the last stored
//! in the iteration before, at places that no data decide. Nothing else in the loop stores to the buffer. The first
//! iteration's element is loaded in front of the loop.
//!
//! Example:
//! ```text
//! for x#L0 from 1 extent in#b0.extent0 {
//!   out#b2[x#L0] = out#b2[x#L0 + -1] + in#b0[x#L0]
//! }
//! ```
//! becomes
//! ```text
//! if 0 < in#b0.extent0 {
//!   alloc out$r6#b6[1] at_most 1 {
//!     out$r6#b6[0] = out#b2[0]
//!     for x#L0 from 1 extent in#b0.extent0 {
//!       let t4 = out$r6#b6[0] + in#b0[x#L0]
//!       out#b2[x#L0] = t4
//!       out$r6#b6[0] = t4
//!     }
//!   }
//! }
//! ```

use super::register::new_register;
use crate::lower::loops::copy::fresh_temp;
use crate::lower::vectors::lanes;
use crate::lower::walk;
use halide_ir::visit::{self, Memo, any_node};
use halide_ir::{BufId, Expr, ExprKind, For, ForKind, Memory, Program, Stmt, Sym, build};
use halide_solve::simplify::Linear;

/// Keeps in registers what the iteration before stored.
pub fn scalar_replacement(program: Program) -> Program {
    walk::map_body(program, |body, program| statement(program, body))
}

fn statement(program: &mut Program, s: Stmt) -> Stmt {
    match walk::map_stmt(s, program, |_, e| e.clone(), statement) {
        Stmt::For(l) if l.kind == ForKind::Serial && l.condition.is_none() && build::as_int(&l.extent) != Some(1) => {
            serial(program, *l)
        }
        other => other,
    }
}

/// One of the stores to a buffer, and the lane of the one before it that it reads.
struct Link {
    /// Its number in the list.
    at: usize,
    load: Expr,
    lane: u16,
}

fn serial(program: &mut Program, l: For) -> Stmt {
    let list: Vec<&Stmt> = match &l.body {
        Stmt::Block(list) => list.iter().collect(),
        one => vec![one],
    };
    let mut bufs: Vec<BufId> = Vec::new();
    for s in &list {
        match s {
            Stmt::Store { buf, .. } if !bufs.contains(buf) => bufs.push(*buf),
            Stmt::Store { .. } => {}
            _ => return Stmt::For(Box::new(l)),
        }
    }
    let mut chosen = Vec::new();
    for buf in bufs.into_iter().filter(|buf| program.buffers[*buf].memory != Memory::Register) {
        let links = links(&l, &list, buf);
        // What links to the iteration before pays alone; the rest goes with it.
        if links.first().is_some_and(|link| is_first(&list, buf, link.at)) {
            chosen.push((buf, links));
        }
    }
    if chosen.is_empty() {
        return Stmt::For(Box::new(l));
    }
    let list: Vec<Stmt> = list.into_iter().cloned().collect();
    rewritten(program, l, list, chosen)
}

/// The numbers of the stores to `buf`.
fn stores_to<'l>(list: &'l [&Stmt], buf: BufId) -> impl Iterator<Item = usize> + 'l {
    let is_to = move |s: &Stmt| matches!(s, Stmt::Store { buf: to, .. } if *to == buf);
    list.iter().enumerate().filter(move |(_, s)| is_to(s)).map(|(at, _)| at)
}

fn is_first(list: &[&Stmt], buf: BufId, at: usize) -> bool {
    stores_to(list, buf).next() == Some(at)
}

/// The stores to `buf` that read what the one before each stored; empty if one has a mask.
fn links(l: &For, list: &[&Stmt], buf: BufId) -> Vec<Link> {
    let all: Vec<usize> = stores_to(list, buf).collect();
    let Some(&last) = all.last() else { return Vec::new() };
    let mut links = Vec::new();
    let mut before = last;
    for (number, &at) in all.iter().enumerate() {
        let (Stmt::Store { index: stored, mask: None, .. }, Stmt::Store { value, mask: None, .. }) =
            (list[before], list[at])
        else {
            return Vec::new();
        };
        let mut found = None;
        visit::for_each_node(value, &mut |n| {
            if let ExprKind::Load { buf: from, index, mask: None } = n.kind()
                && *from == buf
                && index.lanes() == 1
            {
                // The first store reads what the last one stored an iteration before.
                let index = if number == 0 { later(index, l) } else { index.clone() };
                found = found.take().or_else(|| lane_at(&index, stored).map(|lane| (n.clone(), lane)));
            }
        });
        links.extend(found.map(|(load, lane)| Link { at, load, lane }));
        before = at;
    }
    links
}

/// `index` in the iteration after.
fn later(index: &Expr, l: &For) -> Expr {
    let next = build::offset(build::loop_var(l.id), 1);
    visit::substitute(index, &|s| (s == Sym::Loop(l.id)).then(|| next.clone()))
}

/// The lane of `stored` that `index` is; `None` if that cannot be seen.
fn lane_at(index: &Expr, stored: &Expr) -> Option<u16> {
    // What is loaded may be something else in the next iteration.
    if [index, stored].into_iter().any(|e| any_node(e, |n| matches!(n.kind(), ExprKind::Load { .. }))) {
        return None;
    }
    let (base, stride) = match lanes::shape(stored) {
        lanes::Shape::Ramp(base, stride) => (base, build::as_int(&stride)?),
        _ if stored.lanes() == 1 => (stored.clone(), 1),
        _ => return None,
    };
    let distance = Linear::of(&build::sub(index.clone(), base));
    if distance.terms.iter().any(|(_, factor)| *factor != 0) || stride == 0 || distance.constant % stride != 0 {
        return None;
    }
    u16::try_from(distance.constant / stride).ok().filter(|lane| *lane < stored.lanes())
}

fn rewritten(program: &mut Program, l: For, mut list: Vec<Stmt>, chosen: Vec<(BufId, Vec<Link>)>) -> Stmt {
    let mut registers = Vec::new();
    for (buf, links) in chosen {
        let register = new_register(program, buf);
        let ty = program.buffers[buf].elem;
        let held = build::load(register, ty, build::int(0), None);
        let all: Vec<usize> = stores_to(&list.iter().collect::<Vec<_>>(), buf).collect();
        for link in &links {
            if let Stmt::Store { value, .. } = &mut list[link.at] {
                *value = Memo::new().rewrite(value, |n, done| match *n == link.load {
                    true => held.clone(),
                    false => visit::map_children(n, done),
                });
            }
        }
        for (number, &at) in all.iter().enumerate() {
            let next = all[(number + 1) % all.len()];
            let Some(link) = links.iter().find(|link| link.at == next) else { continue };
            keep(program, &mut list[at], register, link.lane);
        }
        let first = visit::substitute(&links[0].load, &|s| (s == Sym::Loop(l.id)).then(|| l.min.clone()));
        registers.push((register, first));
    }
    let For { id, kind, min, extent, .. } = l;
    let whole = build::for_loop(id, kind, min, extent.clone(), build::block(list));
    let loads = registers.iter().map(|(register, first)| Stmt::Store {
        buf: *register,
        index: build::int(0),
        value: first.clone(),
        mask: None,
    });
    let code = build::block(loads.chain([whole]).collect::<Vec<_>>());
    let code = registers.iter().rev().fold(code, |body, (register, _)| Stmt::Alloc {
        buf: *register,
        count: build::int(1),
        constant: Some(1),
        body: Box::new(body),
    });
    build::if_else(build::lt(build::int(0), extent), code, build::nothing())
}

/// Puts lane `lane` of what a statement stores into a register, too.
fn keep(program: &mut Program, s: &mut Stmt, register: BufId, lane: u16) {
    let Stmt::Store { buf, index, value, mask } = s.clone() else { return };
    let temp = fresh_temp(program);
    let (named, stored, kept) = match value.kind() {
        // One scalar step: what is in the register waits for no lane to be taken out of a vector.
        ExprKind::Binary(op, a, b) if value.lanes() > 1 => match (a.kind(), b.kind()) {
            (ExprKind::Broadcast(one), _) => {
                let rest = build::typed_sym(temp, b.ty());
                let kept = build::binary(*op, one.clone(), lanes::lane(&rest, lane));
                (b.clone(), build::binary(*op, a.clone(), rest), kept)
            }
            (_, ExprKind::Broadcast(one)) => {
                let rest = build::typed_sym(temp, a.ty());
                let kept = build::binary(*op, lanes::lane(&rest, lane), one.clone());
                (a.clone(), build::binary(*op, rest, b.clone()), kept)
            }
            _ => whole(&value, temp, lane),
        },
        _ => whole(&value, temp, lane),
    };
    let both = [
        Stmt::Store { buf, index, value: stored, mask },
        Stmt::Store { buf: register, index: build::int(0), value: kept, mask: None },
    ];
    *s = build::let_in(vec![(temp, named)], build::block(both));
}

/// A value, its name, and one of its lanes.
fn whole(value: &Expr, temp: Sym, lane: u16) -> (Expr, Expr, Expr) {
    let stored = build::typed_sym(temp, value.ty());
    (value.clone(), stored.clone(), lanes::lane(&stored, lane))
}
