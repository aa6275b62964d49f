//! Operations of a definition, by what they depend on and how wide they are.

use halide_core::ids::{ExprId, FuncId};
use halide_core::ops::{BinOp, UnOp};
use halide_core::pipeline::{Kind, Pipeline};
use halide_core::types::ScalarType;
use std::collections::{BTreeMap, BTreeSet};

/// Instructions that operations take for each vector of so wide elements, by the variables that they depend on: a bit
/// for each variable of a definition.
pub(crate) type Work = BTreeMap<(u32, u8), f64>;

/// A place where a definition reads another Func, with the variables that each coordinate depends on.
#[derive(Clone, Debug)]
pub(crate) struct CallSite {
    pub(crate) func: FuncId,
    pub(crate) masks: Vec<u32>,
}

/// The operations and the calls of values and of what decides about them. `mask` tells the variables of a leaf.
pub(crate) fn of_values(
    pipeline: &Pipeline,
    roots: &[ExprId],
    contracts: bool,
    mask: &dyn Fn(&Kind) -> u32,
) -> (Work, Vec<CallSite>) {
    let all = halide_sched::plan::reachable(pipeline, roots);
    let mut masks: BTreeMap<ExprId, u32> = BTreeMap::new();
    // Coordinates cost nothing, unless they are data.
    let mut loads: BTreeSet<ExprId> = BTreeSet::new();
    for e in all {
        let kind = &pipeline.exprs[e].kind;
        let children = kind.children();
        let of_children = children.iter().fold(0, |all, c| all | masks.get(c).copied().unwrap_or(0));
        masks.insert(e, mask(kind) | of_children);
        if matches!(kind, Kind::Call { .. } | Kind::Image { .. }) || children.iter().any(|c| loads.contains(c)) {
            loads.insert(e);
        }
    }
    let (mut work, mut calls) = (Work::new(), Vec::new());
    let (mut seen, mut todo) = (BTreeSet::new(), roots.to_vec());
    while let Some(e) = todo.pop() {
        if !seen.insert(e) {
            continue;
        }
        let node = &pipeline.exprs[e];
        match &node.kind {
            Kind::Call { func, args, .. } => {
                let masks = args.iter().map(|arg| masks.get(arg).copied().unwrap_or(0)).collect();
                calls.push(CallSite { func: *func, masks });
                todo.extend(args.iter().filter(|arg| loads.contains(arg)));
            }
            Kind::Image { args, .. } => todo.extend(args.iter().filter(|arg| loads.contains(arg))),
            // In the steady state of a loop such a condition holds.
            Kind::Select(condition, a, b) if is_likely(pipeline, *condition) => todo.extend([*a, *b]),
            kind => {
                let weight = weight(pipeline, kind, node.ty, contracts);
                if weight > 0.0 {
                    let bytes = widest(pipeline, e).bytes() as u8;
                    *work.entry((masks.get(&e).copied().unwrap_or(0), bytes)).or_default() += weight;
                }
                todo.extend(kind.children());
            }
        }
    }
    (work, calls)
}

/// Returns true if expressions load data.
pub(crate) fn has_loads(pipeline: &Pipeline, roots: &[ExprId]) -> bool {
    let is_load = |e: ExprId| matches!(pipeline.exprs[e].kind, Kind::Call { .. } | Kind::Image { .. });
    halide_sched::plan::reachable(pipeline, roots).into_iter().any(is_load)
}

/// The wider one of the types of a node and of its operands: what its instructions work on.
fn widest(pipeline: &Pipeline, e: ExprId) -> ScalarType {
    let own = pipeline.exprs[e].ty;
    let operands = pipeline.exprs[e].kind.children().into_iter().map(|c| pipeline.exprs[c].ty);
    operands.fold(own, |widest, ty| if ty.bytes() > widest.bytes() { ty } else { widest })
}

fn is_likely(pipeline: &Pipeline, condition: ExprId) -> bool {
    let all = halide_sched::plan::reachable(pipeline, &[condition]);
    all.into_iter().any(|e| matches!(pipeline.exprs[e].kind, Kind::Likely(_) | Kind::LikelyIfInnermost(_)))
}

/// Returns true if a float is no NaN at first sight: a constant, an integer, or what one of these limits.
fn is_number(pipeline: &Pipeline, e: ExprId) -> bool {
    let is_plain = |e: ExprId| match &pipeline.exprs[e].kind {
        Kind::Const(value) => !value.as_f64().is_nan(),
        Kind::Cast(of) => !pipeline.exprs[*of].ty.is_float(),
        _ => false,
    };
    match &pipeline.exprs[e].kind {
        Kind::Binary(BinOp::Min | BinOp::Max, a, b) => is_plain(*a) || is_plain(*b),
        _ => is_plain(e),
    }
}

/// Instructions of an operation on a vector.
fn weight(pipeline: &Pipeline, kind: &Kind, ty: ScalarType, contracts: bool) -> f64 {
    let is_product = |e: &ExprId| matches!(pipeline.exprs[*e].kind, Kind::Binary(BinOp::Mul, ..));
    match kind {
        Kind::Unary(UnOp::Sqrt, _) => 6.0,
        Kind::Unary(UnOp::Popcount | UnOp::Clz | UnOp::Ctz, _) => 4.0,
        Kind::Binary(BinOp::Mul, ..) if ty.is_float() || ty.bytes() == 2 => 1.0,
        Kind::Binary(BinOp::Mul, ..) => 2.0,
        Kind::Binary(BinOp::Add | BinOp::Sub, a, b)
            if contracts && ty.is_float() && (is_product(a) || is_product(b)) =>
        {
            0.0
        }
        Kind::Binary(BinOp::Div, ..) if ty.is_float() => 5.0,
        Kind::Binary(BinOp::Mod | BinOp::ModToZero, ..) if ty.is_float() => 8.0,
        Kind::Binary(BinOp::Div | BinOp::Mod | BinOp::DivToZero | BinOp::ModToZero, _, b) => {
            match &pipeline.exprs[*b].kind {
                Kind::Const(value) if value.as_i128().unsigned_abs().is_power_of_two() => 1.0,
                Kind::Const(_) => 5.0,
                _ => 30.0,
            }
        }
        // A NaN loses, which instructions do not do by themselves.
        Kind::Binary(BinOp::Min | BinOp::Max, a, b)
            if ty.is_float() && !is_number(pipeline, *a) && !is_number(pipeline, *b) =>
        {
            3.0
        }
        Kind::Unary(..) | Kind::Binary(..) | Kind::Select(..) | Kind::Cast(_) => 1.0,
        Kind::SaturatingCast(_) => 2.0,
        Kind::Math(..) => 20.0,
        _ => 0.0,
    }
}
