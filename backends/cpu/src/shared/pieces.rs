//! The pieces that a small buffer falls into whose every access is at constants.

use halide_core::ids::Id;
use halide_ir::visit::{for_each_expr, for_each_node, for_each_stmt};
use halide_ir::{BufId, Expr, ExprKind, Program, Stmt, build};
use std::collections::BTreeSet;

/// Elements `first .. first + lanes` of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Piece {
    pub(crate) first: i64,
    pub(crate) lanes: u16,
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
    pub(crate) fn at_index(index: &Expr, load: bool) -> Option<Piece> {
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
}

/// Collects every access to `buf`; false when one has no constant, dense index or is in another function.
fn collect(program: &Program, buf: BufId, s: &Stmt, into: &mut BTreeSet<Piece>) -> bool {
    let mut fine = true;
    for_each_expr(s, |e| {
        for_each_node(e, &mut |n| {
            if let ExprKind::Load { buf: b, index, .. } = n.kind()
                && *b == buf
            {
                match Piece::at_index(index, true) {
                    Some(piece) => _ = into.insert(piece),
                    None => fine = false,
                }
            }
        });
    });
    match s {
        Stmt::Store { buf: b, index, .. } if *b == buf => match Piece::at_index(index, false) {
            Some(piece) => _ = into.insert(piece),
            None => return false,
        },
        Stmt::Call { args, .. } => fine &= args.iter().all(|arg| arg.buf != buf),
        Stmt::Launch { task, .. } if task.index() < program.tasks.len() => {
            fine &= !program.tasks[*task].buffers.contains(&buf);
        }
        _ => {}
    }
    for_each_stmt(s, |inner| fine = fine && collect(program, buf, inner, into));
    fine
}
