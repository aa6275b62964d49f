//! A plan as text.

use crate::plan::{Level, Plan, StagePlan, StoragePart, Transform};
use halide_ir::{Expr, ExprKind};
use std::fmt::Write;

/// One paragraph per Func in the order of realization.
pub(super) fn plan(plan: &Plan) -> String {
    let mut text = String::new();
    for &func in plan.order() {
        let (def, row) = (&plan.pipeline.funcs[func], &plan.funcs[func]);
        let (compute, store, hoist) = (level(plan, &row.compute), level(plan, &row.store), level(plan, &row.hoist));
        write!(text, "{}: {compute}", def.name).unwrap();
        if store != compute {
            write!(text, ", stored {store}").unwrap();
        }
        if hoist != store {
            write!(text, ", hoisted {hoist}").unwrap();
        }
        for s in row.storage.iter().filter(|s| s.align != 1 || s.fold.is_some()) {
            write!(text, ", storage of {}: align {}, fold {:?}", s.dim, s.align, s.fold).unwrap();
        }
        for s in row.storage.iter().filter(|s| s.part != StoragePart::Whole) {
            write!(text, ", {} is {:?} of {}", s.name, s.part, s.dim).unwrap();
        }
        let order: Vec<usize> = row.storage.iter().map(|s| s.dim).collect();
        if !order.is_sorted() {
            write!(text, ", storage order {order:?}").unwrap();
        }
        for (dim, b) in row.bounds.iter().enumerate().filter(|(_, b)| b.at.is_some()) {
            write!(text, ", bound {dim}").unwrap();
            b.min.iter().for_each(|m| write!(text, " min {}", expr(m)).unwrap());
            b.extent.iter().for_each(|e| write!(text, " extent {}", expr(e)).unwrap());
            b.align.iter().for_each(|a| write!(text, " align {a:?}").unwrap());
            b.align_extent.iter().for_each(|a| write!(text, " align extent {a}").unwrap());
        }
        text.push('\n');
        if row.compute != Level::Inline {
            for (number, s) in row.stages.iter().enumerate() {
                stage(&mut text, &format!("  {number}"), s);
            }
        }
    }
    text
}

fn level(plan: &Plan, level: &Level) -> String {
    match level {
        Level::Inline => "inline".to_string(),
        Level::Root => "root".to_string(),
        Level::At { func, stage, label } => {
            format!("at {}.{stage}.{}", plan.pipeline.funcs[*func].name, plan.labels[*label])
        }
    }
}

fn stage(text: &mut String, label: &str, s: &StagePlan) {
    for (i, (cond, variant)) in s.variants.iter().enumerate() {
        writeln!(text, "{label}.{i} if {}:", expr(cond)).unwrap();
        stage(text, &format!("{label}.{i}"), variant);
    }
    let name = |v| s.vars[v].name.as_str();
    let kind = |l: &crate::plan::LoopPlan| format!("{:?}", l.kind).to_lowercase();
    let loops: Vec<String> = s.loops.iter().map(|l| format!("{} {}", kind(l), name(l.var))).collect();
    write!(text, "{label}: {}", loops.join(", ")).unwrap();
    for t in &s.transforms {
        match t {
            Transform::Split { var, outer, inner, factor, tail, .. } => {
                write!(text, "; {} = {} * {} + {} {tail:?}", name(*var), name(*outer), expr(factor), name(*inner))
            }
            Transform::Balance { var, outer, inner, count, .. } => {
                write!(text, "; {} = {} of {} + {}", name(*var), name(*outer), expr(count), name(*inner))
            }
            Transform::Skew { var, by, along, skewed } => {
                write!(text, "; {} = {} + {by} * {}", name(*skewed), name(*var), name(*along))
            }
            Transform::Fuse { inner, outer, fused } => {
                write!(text, "; {} = {} x {}", name(*fused), name(*outer), name(*inner))
            }
        }
        .unwrap();
    }
    let parts = s.loops.iter().filter(|l| l.partition != Default::default());
    parts.for_each(|l| write!(text, "; {:?} partition {}", l.partition, name(l.var)).unwrap());
    if s.float != Default::default() {
        write!(text, "; float {:?}", s.float).unwrap();
    }
    s.fail.iter().for_each(|(message, _)| write!(text, "; fail {message:?}").unwrap());
    text.push('\n');
}

fn expr(e: &Expr) -> String {
    match e.kind() {
        ExprKind::Int(v) => v.to_string(),
        kind => format!("{kind:?}"),
    }
}
