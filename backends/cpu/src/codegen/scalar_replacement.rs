//! Small allocations that live in registers: every access has a constant index, so each piece of the buffer that is
//! always accessed as a whole becomes SSA variables. The accumulators of inline reductions live here.

use super::func::Func;
use super::value::{Lane, Parts};
use cranelift_codegen::ir::Value;
use cranelift_frontend::Variable;
use halide_core::ids::Id;
use halide_ir::visit::{for_each_expr, for_each_node, for_each_stmt};
use halide_ir::{BufId, Expr, ExprKind, Program, Stmt, build};
use std::collections::BTreeSet;

/// A buffer that would need more variables than this stays in memory.
const MOST_VARIABLES: usize = 64;

/// A buffer in registers.
pub(super) struct Registers {
    lane: Lane,
    pieces: Vec<(Piece, Vec<Variable>)>,
}

/// Elements `first .. first + lanes` of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Piece {
    pub(crate) first: i64,
    pub(crate) lanes: u16,
}

/// The pieces of `buf` under `body`; `None` when it must be in memory.
pub(super) fn plan(program: &Program, buf: BufId, lane: Lane, body: &Stmt) -> Option<Vec<Piece>> {
    let pieces = pieces(program, buf, body, |a, all| a.is_made_of_parts(lane, all))?;
    let variables: usize = pieces.iter().map(|p| lane.parts(p.lanes)).sum();
    (variables <= MOST_VARIABLES).then_some(pieces)
}

/// The pieces that `buf` falls into under `body`, if every access to it is at a constant and `whole` of the pieces.
pub(crate) fn pieces(
    program: &Program,
    buf: BufId,
    body: &Stmt,
    whole: impl Fn(Piece, &[Piece]) -> bool,
) -> Option<Vec<Piece>> {
    let mut accesses = BTreeSet::new();
    if !collect(program, buf, body, &mut accesses) {
        return None;
    }
    let mut cuts: BTreeSet<i64> = BTreeSet::new();
    for a in &accesses {
        cuts.insert(a.first);
        cuts.insert(a.first + i64::from(a.lanes));
    }
    let cuts: Vec<i64> = cuts.into_iter().collect();
    let pieces: Vec<Piece> = cuts
        .windows(2)
        .filter(|w| accesses.iter().any(|a| a.first <= w[0] && w[1] <= a.first + i64::from(a.lanes)))
        .map(|w| Piece { first: w[0], lanes: (w[1] - w[0]) as u16 })
        .collect();
    accesses.iter().all(|a| whole(*a, &pieces)).then_some(pieces)
}

impl Piece {
    /// The elements at a constant, dense index; of a load also one that is the same for all lanes.
    pub(crate) fn at(index: &Expr, load: bool) -> Option<Piece> {
        let piece = match index.kind() {
            ExprKind::Int(first) => Piece { first: *first, lanes: 1 },
            ExprKind::Ramp { base, stride } if build::as_int(stride) == Some(1) => {
                Piece { first: build::as_int(base)?, lanes: index.lanes() }
            }
            ExprKind::Broadcast(inner) if load => Piece { first: build::as_int(inner)?, lanes: 1 },
            _ => return None,
        };
        piece.first.checked_add(i64::from(piece.lanes)).map(|_| piece)
    }
    /// Returns true if another piece lies in this one.
    pub(crate) fn covers(self, p: Piece) -> bool {
        self.first <= p.first && p.first + i64::from(p.lanes) <= self.first + i64::from(self.lanes)
    }
    /// Returns true if the parts of the pieces in this range, one after the other, are the parts of the range.
    fn is_made_of_parts(self, lane: Lane, pieces: &[Piece]) -> bool {
        let inside: Vec<&Piece> = pieces.iter().filter(|p| self.covers(**p)).collect();
        match inside.split_last() {
            Some((_, [])) => true,
            Some((last, rest)) => {
                last.lanes > 1 && rest.iter().all(|p| p.lanes > 1 && (p.lanes as usize).is_multiple_of(lane.per_part()))
            }
            None => false,
        }
    }
}

/// Collects every access to `buf`; false when one has no constant, dense index or is in another function.
fn collect(program: &Program, buf: BufId, s: &Stmt, into: &mut BTreeSet<Piece>) -> bool {
    let mut fine = true;
    for_each_expr(s, |e| {
        for_each_node(e, &mut |n| {
            if let ExprKind::Load { buf: b, index, .. } = n.kind()
                && *b == buf
            {
                match Piece::at(index, true) {
                    Some(piece) => _ = into.insert(piece),
                    None => fine = false,
                }
            }
        });
    });
    match s {
        Stmt::Store { buf: b, index, .. } if *b == buf => match Piece::at(index, false) {
            Some(piece) => _ = into.insert(piece),
            None => return false,
        },
        Stmt::Launch { task, .. } if task.index() < program.tasks.len() => {
            fine &= !program.tasks[*task].buffers.contains(&buf);
        }
        _ => {}
    }
    for_each_stmt(s, |inner| fine = fine && collect(program, buf, inner, into));
    fine
}

impl Registers {
    /// Declares the variables of `pieces`. They start as zeros.
    pub(super) fn declare(f: &mut Func<'_>, lane: Lane, pieces: Vec<Piece>) -> Registers {
        let declared = pieces.into_iter().map(|piece| {
            let ty = lane.part(piece.lanes);
            let zero = f.constant(ty, 0);
            let variables = (0..lane.parts(piece.lanes)).map(|_| {
                let variable = f.b.declare_var(ty);
                f.b.def_var(variable, zero);
                variable
            });
            let variables = variables.collect();
            (piece, variables)
        });
        Registers { lane, pieces: declared.collect() }
    }
    /// The parts at a constant index.
    pub(super) fn load(&self, f: &mut Func<'_>, index: &Expr) -> Parts {
        let variables = self.variables(index);
        let parts: Parts = variables.iter().map(|v| f.b.use_var(*v)).collect();
        match index.kind() {
            ExprKind::Broadcast(_) => f.broadcast(self.lane, parts[0], index.lanes()),
            _ => parts,
        }
    }
    /// Stores parts at a constant index; where `mask` is false the old value stays.
    pub(super) fn store(&self, f: &mut Func<'_>, index: &Expr, parts: &Parts, mask: Option<&[Value]>) {
        for (i, variable) in self.variables(index).into_iter().enumerate() {
            let value = match mask {
                None => parts[i],
                Some(mask) => {
                    let old = f.b.use_var(variable);
                    f.choose(mask[i], parts[i], old)
                }
            };
            f.b.def_var(variable, value);
        }
    }
    fn variables(&self, index: &Expr) -> Vec<Variable> {
        let Some(range) = Piece::at(index, true) else { return Vec::new() };
        self.pieces.iter().filter(|(p, _)| range.covers(*p)).flat_map(|(_, v)| v.iter().copied()).collect()
    }
}
