//! Smaller pipelines: what to try when a pipeline fails a test.
//!
//! Every step works on the frozen tables, so it applies to any pipeline, and names stay, so a schedule still fits what
//! is left of it.

use halide_core::ids::{ExprId, FuncId, ImageId, RDomId};
use halide_core::pipeline::{Kind, Pipeline, PipelineData};
use halide_core::promise::ValuePromise;
use halide_core::value::Scalar;

/// Pipelines that are a step smaller, those that lose most first: without an output, without updates, with a
/// constant for each value of a Func, without a predicate, with an operand or a constant in place of an expression.
///
/// Not every one means something that lowering must accept: a coordinate may have lost its clamp.
pub fn smaller(pipeline: &Pipeline) -> impl Iterator<Item = Pipeline> + use<> {
    let data = PipelineData::clone(pipeline);
    steps(&data).into_iter().map(move |step| Pipeline::from_data(apply(&data, step)).part(None))
}

#[derive(Clone, Copy)]
enum Step {
    DropOutput(usize),
    /// Stages from this one to that one (excluded).
    DropStages(FuncId, usize, usize),
    /// Every call of it becomes a constant.
    DropFunc(FuncId),
    DropPredicate(RDomId),
    DropRule(usize),
    DropAlignments,
    DropPromise(ImageId),
    Replace(ExprId, ExprId),
    Constant(ExprId),
}

fn steps(data: &PipelineData) -> Vec<Step> {
    let mut steps = Vec::new();
    if data.outputs.len() > 1 {
        steps.extend((0..data.outputs.len()).map(Step::DropOutput));
    }
    for (id, def) in data.funcs.enumerate() {
        if !data.outputs.contains(&id) {
            steps.push(Step::DropFunc(id));
        }
        let stages = def.stages.len();
        if stages > 2 {
            steps.push(Step::DropStages(id, 1, stages));
        }
        steps.extend((1..stages).map(|s| Step::DropStages(id, s, s + 1)));
    }
    steps.extend(data.rdoms.enumerate().filter(|(_, r)| r.predicate.is_some()).map(|(id, _)| Step::DropPredicate(id)));
    steps.extend((0..data.shapes.len()).map(Step::DropRule));
    if !data.alignments.is_empty() {
        steps.push(Step::DropAlignments);
    }
    let promising = data.images.enumerate().filter(|(_, i)| i.is_promised());
    steps.extend(promising.map(|(id, _)| Step::DropPromise(id)));
    for (id, node) in data.exprs.enumerate().collect::<Vec<_>>().into_iter().rev() {
        if !matches!(node.kind, Kind::Const(_) | Kind::Var(_) | Kind::RVar { .. }) {
            steps.push(Step::Constant(id));
            let same = node.kind.children().into_iter().filter(|c| data.exprs[*c].ty == node.ty);
            steps.extend(same.map(|c| Step::Replace(id, c)));
        }
    }
    steps
}

fn apply(data: &PipelineData, step: Step) -> PipelineData {
    let mut data = data.clone();
    let one = |ty| Kind::Const(Scalar::int(ty, 1));
    match step {
        Step::DropOutput(n) => drop(data.outputs.remove(n)),
        Step::DropStages(func, from, to) => drop(data.funcs[func].stages.drain(from..to)),
        Step::DropFunc(func) => {
            for node in data.exprs.iter_mut() {
                if matches!(&node.kind, Kind::Call { func: f, .. } if *f == func) {
                    node.kind = one(node.ty);
                }
            }
        }
        Step::DropPredicate(rdom) => data.rdoms[rdom].predicate = None,
        Step::DropRule(n) => drop(data.shapes.remove(n)),
        Step::DropAlignments => data.alignments.clear(),
        Step::DropPromise(image) => {
            data.images[image].values = ValuePromise::default();
            data.images[image].coordinates.clear();
        }
        Step::Replace(e, by) => data.exprs[e].kind = data.exprs[by].kind.clone(),
        Step::Constant(e) => data.exprs[e].kind = one(data.exprs[e].ty),
    }
    data
}
