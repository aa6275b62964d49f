//! Liveness: gives memory back after its last use.
//!
//! Before and after: `Stage::Final`. There is a `Free` behind the last statement that uses an allocation, where others
//! follow that one before the allocation ends. An allocation begins where its Func is first computed, but as
//! allocations nest, all those of a chain of stages end together: without this pass, a chain would hold all its stages
//! at once, with it two at a time. A task frees what it allocates itself; what it uses of others lives on until it
//! ends.
//!
//! Allocations that are known to be small are left alone: what they hold is not worth a call.
//!
//! Example:
//! ```text
//! alloc f#b1[out#b2.extent0] {
//!   for x#L0 from 0 extent out#b2.extent0 {
//!     f#b1[x#L0] = in#b0[x#L0]
//!   }
//!   alloc g#b4[out#b2.extent0] {
//!     for y#L1 from 0 extent out#b2.extent0 {
//!       g#b4[y#L1] = u16(f#b1[y#L1])
//!     }
//!     for xi#L2 from 0 extent out#b2.extent0 {
//!       result#b5[xi#L2] = g#b4[xi#L2]
//!     }
//!   }
//! }
//! ```
//! becomes
//! ```text
//! alloc f#b1[out#b2.extent0] {
//!   for x#L0 from 0 extent out#b2.extent0 {
//!     f#b1[x#L0] = in#b0[x#L0]
//!   }
//!   alloc g#b4[out#b2.extent0] {
//!     for y#L1 from 0 extent out#b2.extent0 {
//!       g#b4[y#L1] = u16(f#b1[y#L1])
//!     }
//!     free f#b1
//!     for xi#L2 from 0 extent out#b2.extent0 {
//!       result#b5[xi#L2] = g#b4[xi#L2]
//!     }
//!   }
//! }
//! ```

use crate::lower::walk;
use crate::tuning::KEPT_BYTES;
use halide_ir::hash::{Map, Set};
use halide_ir::visit;
use halide_ir::{BufId, ExprKind, Program, Stmt, build};

/// Frees every large allocation after its last use.
pub fn last_use(program: Program) -> Program {
    let mut program = walk::map_body(program, function);
    for id in program.tasks.ids().collect::<Vec<_>>() {
        let body = std::mem::replace(&mut program.tasks[id].body, build::nothing());
        program.tasks[id].body = function(body, &mut program);
    }
    program
}

fn function(body: Stmt, program: &mut Program) -> Stmt {
    let mut uses = Uses { program, next: 0, last: Map::default() };
    uses.collect(&body);
    let mut ends: Map<u32, Set<BufId>> = Map::default();
    for (buf, at) in uses.last {
        ends.entry(at).or_default().insert(buf);
    }
    statement(&mut Frees { program, ends, next: 0, around: Map::default(), nesting: 0 }, body).0
}

/// The last statement that uses each buffer, by its number in the order in which statements begin.
struct Uses<'p> {
    program: &'p Program,
    next: u32,
    last: Map<BufId, u32>,
}

impl Uses<'_> {
    fn collect(&mut self, s: &Stmt) {
        let at = self.next;
        self.next += 1;
        let last = &mut self.last;
        match s {
            Stmt::Store { buf, .. } | Stmt::Prefetch { buf, .. } => _ = last.insert(*buf, at),
            Stmt::Call { args, .. } => last.extend(args.iter().map(|arg| (arg.buf, at))),
            Stmt::Launch { task, .. } => last.extend(self.program.tasks[*task].buffers.iter().map(|b| (*b, at))),
            Stmt::Dispatch { kernel, .. } => {
                last.extend(self.program.kernels[*kernel].buffers.iter().map(|b| (b.buf, at)));
            }
            Stmt::Reside { buf, .. } => _ = last.insert(*buf, at),
            _ => {}
        }
        let mut seen = Set::default();
        visit::for_each_expr(s, |e| {
            visit::for_each_node(e, &mut |n| {
                if let ExprKind::Load { buf, .. } = n.kind()
                    && seen.insert(*buf)
                {
                    last.insert(*buf, at);
                }
            });
        });
        visit::for_each_stmt(s, |inner| self.collect(inner));
    }
}

struct Frees<'p> {
    program: &'p Program,
    /// The buffers whose last use a statement is, by its number.
    ends: Map<u32, Set<BufId>>,
    next: u32,
    /// The allocations around that are freed early, with the loops and branches around each.
    around: Map<BufId, u32>,
    nesting: u32,
}

/// `s`, and the buffers that are used in it for the last time and were allocated outside of it.
fn statement(cx: &mut Frees<'_>, s: Stmt) -> (Stmt, Vec<BufId>) {
    let at = cx.next;
    cx.next += 1;
    let mut ended: Vec<BufId> =
        cx.ends.remove(&at).into_iter().flatten().filter(|b| cx.around.contains_key(b)).collect();
    ended.sort_unstable();
    match s {
        Stmt::Block(list) => {
            let mut made = Vec::with_capacity(list.len());
            let count = list.len();
            for (i, s) in list.into_iter().enumerate() {
                let (s, inner) = visit::deep(|| statement(cx, s));
                made.push(s);
                for buf in inner {
                    // In a loop or a branch, what is allocated outside of it lives on; at the end, it ends soon anyway.
                    if i + 1 < count && cx.around[&buf] == cx.nesting {
                        made.push(Stmt::Free { buf });
                    } else {
                        ended.push(buf);
                    }
                }
            }
            (build::block(made), ended)
        }
        Stmt::Alloc { buf, count, constant, body } => {
            let bytes = constant.map(|n| n.saturating_mul(cx.program.buffers[buf].elem.bytes() as u64));
            if bytes.is_none_or(|n| n > KEPT_BYTES) {
                cx.around.insert(buf, cx.nesting);
            }
            let (body, inner) = visit::deep(|| statement(cx, *body));
            cx.around.remove(&buf);
            ended.extend(inner.into_iter().filter(|b| *b != buf));
            (Stmt::Alloc { buf, count, constant, body: Box::new(body) }, ended)
        }
        other => {
            let nests = matches!(other, Stmt::For(_) | Stmt::If { .. }) as u32;
            cx.nesting += nests;
            let inner = std::cell::RefCell::new((cx, Vec::new()));
            let made = visit::map_stmt(
                other,
                |e| e.clone(),
                |s| {
                    let (cx, all) = &mut *inner.borrow_mut();
                    let (made, more) = statement(cx, s);
                    all.extend(more);
                    made
                },
            );
            let (cx, inner) = inner.into_inner();
            cx.nesting -= nests;
            ended.extend(inner);
            (made, ended)
        }
    }
}
