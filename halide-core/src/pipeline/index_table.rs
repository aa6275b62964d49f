//! The classification of expressions as index arithmetic.

use super::data::PipelineData;
use super::node::Kind;
use crate::ids::{ExprId, Id};
use crate::ops::{BinOp, UnOp};
use crate::types::ScalarType;

/// The expressions of a pipeline that are index arithmetic wherever they stand. Made by [`PipelineData::index_table`].
#[derive(Clone, Debug)]
pub struct IndexTable {
    /// Per node: whether it is index arithmetic, and whether it mentions a variable or an image dimension.
    rows: Vec<(bool, bool)>,
}

impl IndexTable {
    /// Returns true if `e` is built by the grammar of index arithmetic (see [`Kind`]) from variables, image dimensions,
    /// `I32` parameters and constants alone.
    pub fn is_index(&self, e: ExprId) -> bool {
        self.rows[e.index()].0
    }

    /// Returns true if a comparison of `a` and `b` is one of exact index values: both are index expressions and at
    /// least one mentions a variable or an image dimension.
    pub fn is_comparison(&self, a: ExprId, b: ExprId) -> bool {
        let (a, b) = (self.rows[a.index()], self.rows[b.index()]);
        a.0 && b.0 && (a.1 || b.1)
    }
}

impl PipelineData {
    /// Classifies every expression; children stand before parents, so one pass does.
    pub fn index_table(&self) -> IndexTable {
        let mut rows: Vec<(bool, bool)> = Vec::with_capacity(self.exprs.len());
        for node in self.exprs.iter() {
            let of = |e: &ExprId| rows[e.index()];
            let both = |a: &ExprId, b: &ExprId| (of(a).0 && of(b).0, of(a).1 || of(b).1);
            let (index, coordinate) = match &node.kind {
                Kind::Const(_) | Kind::Param(_) => (true, false),
                Kind::Var(_) | Kind::RVar { .. } | Kind::ImageDim { .. } => (true, true),
                Kind::Unary(UnOp::Neg, a) | Kind::Likely(a) | Kind::LikelyIfInnermost(a) => of(a),
                Kind::Note { value: a, .. } => of(a),
                Kind::Binary(op, a, b) => {
                    use BinOp::*;
                    let (index, coordinate) = both(a, b);
                    (index && matches!(op, Add | Sub | Mul | Div | Mod | Min | Max), coordinate)
                }
                Kind::Select(_, a, b) => both(a, b),
                Kind::Sites(values) => {
                    values.iter().map(of).fold((true, false), |all, one| (all.0 && one.0, all.1 || one.1))
                }
                _ => (false, false),
            };
            rows.push((index && node.ty == ScalarType::I32, coordinate));
        }
        IndexTable { rows }
    }
}
