//! Small allocations that live in registers: every access has a constant index, so each piece of the buffer that is
//! always accessed as a whole becomes SSA variables. The accumulators of inline reductions live here.

use super::func::Func;
use super::places::RegisterBuffer;
use super::value::Parts;
use crate::shared::lane::Lane;
use crate::shared::pieces::{Piece, pieces};
use crate::tuning::REGISTER_VARIABLES;
use cranelift_codegen::ir::Value;
use cranelift_frontend::Variable;
use halide_ir::{BufId, Expr, ExprKind, Program, Stmt};

/// The pieces of `buf` under `body`; `None` when it must be in memory.
pub(super) fn plan(program: &Program, buf: BufId, lane: Lane, body: &Stmt) -> Option<Vec<Piece>> {
    let pieces = pieces(program, buf, body, |a, all| is_made_of_parts(a, lane, all))?;
    let variables: usize = pieces.iter().map(|p| lane.parts(p.lanes)).sum();
    (variables <= REGISTER_VARIABLES).then_some(pieces)
}

/// Returns true if the parts of the pieces in this range, one after the other, are the parts of the range.
fn is_made_of_parts(range: Piece, lane: Lane, pieces: &[Piece]) -> bool {
    let inside: Vec<&Piece> = pieces.iter().filter(|p| range.covers(**p)).collect();
    match inside.split_last() {
        Some((_, [])) => true,
        Some((last, rest)) => {
            last.lanes > 1 && rest.iter().all(|p| p.lanes > 1 && (p.lanes as usize).is_multiple_of(lane.per_part()))
        }
        None => false,
    }
}

impl RegisterBuffer {
    /// Declares the variables of `pieces`. They start as zeros.
    pub(super) fn declare(f: &mut Func<'_>, lane: Lane, pieces: Vec<Piece>) -> RegisterBuffer {
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
        RegisterBuffer { lane, pieces: declared.collect() }
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
        let Some(range) = Piece::at_index(index, true) else { return Vec::new() };
        self.pieces.iter().filter(|(p, _)| range.covers(*p)).flat_map(|(_, v)| v.iter().copied()).collect()
    }
}
