//! Constant strides of buffers between whose rows there may be a gap.

use halide_core::ops::BinOp;
use halide_ir::hash::Map;
use halide_ir::visit;
use halide_ir::{BufId, DimField, Expr, ExprKind, Program, Stmt, Sym, build};

/// The constant strides of each buffer that rows of known length do not fill: what follows a row is no element, or of
/// the row behind. The proof of accesses tells coordinates apart by these strides, so no access goes across a multiple.
pub(super) fn open_rows(program: &Program) -> Map<BufId, Vec<i64>> {
    let mut known: Map<(BufId, u16, DimField), i64> = Map::default();
    asserted(&program.body, &mut known);
    let mut open: Map<BufId, Vec<i64>> = Map::default();
    for (buf, info) in program.buffers.enumerate() {
        let extent = |dim: usize| known.get(&(buf, dim as u16, DimField::Extent)).copied();
        let stride = |dim: usize| known.get(&(buf, dim as u16, DimField::Stride)).copied();
        let mut rows: Vec<(i64, usize)> = (0..info.dims)
            .filter_map(|dim| Some((if info.unit_stride == Some(dim) { 1 } else { stride(dim)? }, dim)))
            .collect();
        rows.sort_unstable();
        // The length of all that is inside of the next dimension, without a gap.
        let mut length = Some(1);
        for (stride, dim) in rows {
            if stride > 1 && length != Some(stride) {
                open.entry(buf).or_default().push(stride);
            }
            length = extent(dim).and_then(|n| n.checked_mul(stride));
        }
    }
    open
}

/// Collects what the first assertions say to be constant; returns false where they end.
fn asserted(s: &Stmt, known: &mut Map<(BufId, u16, DimField), i64>) -> bool {
    visit::deep(|| match s {
        Stmt::Let { body, .. } | Stmt::Produce { body, .. } | Stmt::Alloc { body, .. } => asserted(body, known),
        Stmt::Block(list) => list.iter().all(|s| asserted(s, known)),
        Stmt::Assert { cond, .. } => {
            constants(cond, known);
            true
        }
        _ => false,
    })
}

fn constants(cond: &Expr, known: &mut Map<(BufId, u16, DimField), i64>) {
    match cond.kind() {
        ExprKind::Binary(BinOp::BitAnd, a, b) => [a, b].into_iter().for_each(|e| constants(e, known)),
        ExprKind::Binary(BinOp::Eq, a, b) => {
            if let (ExprKind::Sym(Sym::Buffer { buf, dim, field }), Some(value)) = (a.kind(), build::as_int(b)) {
                known.insert((*buf, *dim, *field), value);
            }
        }
        _ => {}
    }
}
