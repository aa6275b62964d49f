//! Kinds of coordinates, by the place of what they read and by the loops that read it.

use super::class::{Class, KINDS, PLACES, kinds, place};
use halide::plan::Plan;
use halide_core::ids::{ExprId, FuncId};
use halide_core::ops::BinOp;
use halide_core::pipeline::{Kind, PipelineData, StageDef};
use std::collections::BTreeSet;

const SOURCES: &str = "coordinates by place of what is read";
const LOOPS: &str = "coordinates by loops of the reader";

/// The operands that coordinates are made of.
pub(super) const PARTS: [&str; 19] = [
    "variable",
    "constant",
    "product with a constant",
    "quotient by a constant",
    "quotient by anything",
    "smaller or larger one",
    "choice",
    "parameter",
    "reduction variable",
    "several variables",
    "narrow integer",
    "float",
    "float of a narrow integer",
    "element",
    "element of 32 bits or more",
    "product of elements",
    "shift",
    "reduction",
    "hint",
];

pub(super) fn classes(plan: &Plan, found: &mut Vec<Class>) {
    let p = &plan.pipeline;
    for (id, func) in p.funcs.enumerate() {
        for (stage, planned) in func.stages.iter().zip(&plan.funcs[id].stages) {
            let loops = kinds(planned);
            for (source, args) in reads(p, stage) {
                let place = match source {
                    Some(func) => place(plan, &plan.funcs[func]),
                    None => "an input",
                };
                for part in args.iter().flat_map(|arg| parts(p, *arg)) {
                    found.push((SOURCES, format!("{part}, {place}")));
                    found.extend(loops.iter().map(|kind| (LOOPS, format!("{part}, {kind}"))));
                }
            }
        }
    }
}

pub(super) fn listed(all: &mut Vec<Class>) {
    for part in PARTS {
        for place in PLACES.into_iter().chain(["an input"]) {
            all.push((SOURCES, format!("{part}, {place}")));
        }
        all.extend(KINDS.map(|kind| (LOOPS, format!("{part}, {kind}"))));
    }
}

/// The operands that the coordinates of a definition's reads are made of.
pub(super) fn parts_read(p: &PipelineData, stage: &StageDef) -> BTreeSet<&'static str> {
    reads(p, stage).into_iter().flat_map(|(_, args)| args).flat_map(|arg| parts(p, arg)).collect()
}

/// The reads of a definition, with their coordinates; `None` is an input.
fn reads(p: &PipelineData, stage: &StageDef) -> Vec<(Option<FuncId>, Vec<ExprId>)> {
    let predicate = stage.rdom.and_then(|r| p.rdoms[r].predicate);
    let roots = stage.args.iter().chain(&stage.values).copied().chain(predicate);
    let read = |e: ExprId| match &p.exprs[e].kind {
        Kind::Call { func, args, .. } => Some((Some(*func), args.clone())),
        Kind::Image { args, .. } => Some((None, args.clone())),
        _ => None,
    };
    inside(p, roots.collect(), |_| true).into_iter().filter_map(read).collect()
}

/// The nodes reachable from some, without the operands of those that `enters` is false of.
pub(super) fn inside(p: &PipelineData, mut todo: Vec<ExprId>, enters: impl Fn(&Kind) -> bool) -> BTreeSet<ExprId> {
    let mut found = BTreeSet::new();
    while let Some(e) = todo.pop() {
        if found.insert(e) && enters(&p.exprs[e].kind) {
            todo.extend(p.exprs[e].kind.children());
        }
    }
    found
}

fn is_read(kind: &Kind) -> bool {
    matches!(kind, Kind::Call { .. } | Kind::Image { .. })
}

/// The operands that one coordinate is made of; elements that it reads are not looked into.
fn parts(p: &PipelineData, coordinate: ExprId) -> BTreeSet<&'static str> {
    let below = |e: ExprId| inside(p, vec![e], |kind| !is_read(kind));
    let has = |e: ExprId, test: &dyn Fn(&Kind) -> bool| below(e).iter().any(|e| test(&p.exprs[*e].kind));
    let is_constant = |e: ExprId| matches!(p.exprs[e].kind, Kind::Const(_));
    let is_narrow = |e: &ExprId| p.exprs[*e].ty.is_int() && p.exprs[*e].ty.bits() < 32;
    let mut found = BTreeSet::new();
    let mut variables = 0;
    for e in below(coordinate) {
        let node = &p.exprs[e];
        found.extend(match &node.kind {
            Kind::Var(_) => {
                variables += 1;
                Some("variable")
            }
            Kind::RVar { .. } => Some("reduction variable"),
            Kind::Param(_) => Some("parameter"),
            Kind::Likely(_) | Kind::LikelyIfInnermost(_) | Kind::Note { .. } => Some("hint"),
            Kind::Select(..) => Some("choice"),
            Kind::Call { func, .. } if p.funcs[*func].stages.len() > 1 => Some("reduction"),
            Kind::Call { .. } | Kind::Image { .. } => Some("element"),
            Kind::Binary(BinOp::Min | BinOp::Max, ..) => Some("smaller or larger one"),
            Kind::Binary(BinOp::Shl | BinOp::Shr, ..) => Some("shift"),
            Kind::Binary(BinOp::Mul, a, b) if has(*a, &is_read) && has(*b, &is_read) => Some("product of elements"),
            Kind::Binary(BinOp::Mul, a, b) if is_constant(*a) || is_constant(*b) => Some("product with a constant"),
            Kind::Binary(op, _, b) if is_quotient(*op) && is_constant(*b) => Some("quotient by a constant"),
            Kind::Binary(op, ..) if is_quotient(*op) => Some("quotient by anything"),
            Kind::Cast(a) | Kind::SaturatingCast(a) if is_narrow(&e) && !is_read(&p.exprs[*a].kind) => {
                Some("narrow integer")
            }
            _ => None,
        });
        if is_read(&node.kind) && node.ty.bits() >= 32 {
            found.insert("element of 32 bits or more");
        }
        if node.ty.is_float() && !is_read(&node.kind) {
            found.insert("float");
            if below(e).iter().any(is_narrow) {
                found.insert("float of a narrow integer");
            }
        }
    }
    if variables > 1 {
        found.insert("several variables");
    }
    if is_constant(coordinate) {
        found.insert("constant");
    }
    found
}

fn is_quotient(op: BinOp) -> bool {
    matches!(op, BinOp::Div | BinOp::Mod | BinOp::DivToZero | BinOp::ModToZero)
}
