//! Extern stages that a schedule computes in loops: in place of an image of results, Funcs whose values closures
//! compute.
//!
//! A stage `s` with `compute_at` that says its needs by index expressions becomes
//! - `s$in0`, `s$in1`, .. : copies of its inputs, which nothing else reads, over the boxes that it needs;
//! - `s$out`: the Func whose values the closure computes of these ([`ExternCallee`]), whose definition says that they
//!   are what its memory holds;
//! - `s` itself, which copies `s$out`, in loops and storage as the schedule says.
//!
//! All of them are computed where `s` is (`levels/called`). Closures so see buffers of their own, whatever a schedule
//! does with the memory of others.

use super::func_order::producers_first;
use super::graph::Graph;
use crate::schedule::{Directive, Schedule, Subject, Verb};
use halide_core::error::Location;
use halide_core::externs::{Boxes, ExternCallee, ExternDef, ExternInput};
use halide_core::ids::{ExprId, FuncId, VarId};
use halide_core::pipeline::{FuncDef, Kind, Node, Pipeline, PipelineData, StageDef};
use halide_core::types::ScalarType;

/// The pipeline in which the stages that the schedule computes in loops are Funcs. Other Funcs keep their numbers.
pub fn with_callees(whole: &Pipeline, schedule: &Schedule) -> Pipeline {
    let called: Vec<(FuncId, Called)> = whole.externs.iter().filter_map(|s| called(whole, schedule, s)).collect();
    if called.is_empty() {
        return whole.clone();
    }
    let mut data = PipelineData::clone(whole);
    for (func, Called { stage, boxes }) in called {
        add_callee(&mut data, func, stage, boxes);
    }
    let graph = Graph::new(&Pipeline::from_data(data.clone()));
    data.order = producers_first(&data.order, graph.all_callers());
    Pipeline::from_data(data)
}

/// A stage that is called in loops, with the boxes that it needs.
struct Called<'w> {
    stage: &'w ExternDef,
    boxes: Boxes,
}

/// The Func of a stage that the schedule computes in a loop, if the closure can be called there.
fn called<'w>(whole: &Pipeline, schedule: &Schedule, stage: &'w ExternDef) -> Option<(FuncId, Called<'w>)> {
    let func = func_of(whole, stage)?;
    let own = Subject::func(&whole.funcs[func].name);
    let is_place = |d: &&Directive| matches!(d.verb, Verb::ComputeRoot | Verb::ComputeAt(_) | Verb::ComputeInline);
    let site = schedule.directives().iter().filter(|d| d.subject == own).rfind(is_place)?;
    let boxes = stage.boxes().filter(|_| matches!(site.verb, Verb::ComputeAt(_)))?;
    // Boxes of another number of dimensions are an error of the run.
    let fits = stage.inputs.iter().zip(&boxes).all(|(input, ends)| input.dims(whole) == ends.len());
    fits.then_some((func, Called { stage, boxes }))
}

/// The Func whose first definition is the results of a stage.
fn func_of(data: &PipelineData, stage: &ExternDef) -> Option<FuncId> {
    let is_result = |(value, image): (&ExprId, &Option<_>)| match &data.exprs[*value].kind {
        Kind::Image { image: read, .. } => *image == Some(*read),
        _ => false,
    };
    let is_of = |def: &FuncDef| {
        let values = &def.stages[0].values;
        values.len() == stage.images.len() && values.iter().zip(&stage.images).all(is_result)
    };
    data.funcs.enumerate().find(|(_, def)| is_of(def)).map(|(func, _)| func)
}

/// Adds the Funcs of a stage, and makes `func` a copy of its values.
fn add_callee(data: &mut PipelineData, func: FuncId, stage: &ExternDef, boxes: Boxes) {
    let name = data.funcs[func].name.clone();
    let inputs = stage.inputs.iter().enumerate();
    let inputs = inputs.map(|(n, input)| add_input(data, &format!("{name}$in{n}"), *input, stage.at)).collect();
    let (args, types) = (data.funcs[func].args.clone(), stage.types.clone());
    let held = (0..types.len() as u8).map(|element| Kind::Before { element });
    let values = held.zip(&types).map(|(kind, ty)| data.exprs.push(Node { kind, ty: *ty })).collect();
    let callee = add_func(data, format!("{name}$out"), args, types, values, stage.at);
    let coordinates = data.funcs[callee].stages[0].args.clone();
    let values = calls(data, callee, &coordinates);
    data.funcs[func].stages[0].values = values;
    let params = stage.params.clone();
    data.callees.push(ExternCallee { stage: stage.clone(), func: callee, inputs, boxes, params });
}

/// Adds a Func with the values of an input.
fn add_input(data: &mut PipelineData, name: &str, input: ExternInput, at: Location) -> FuncId {
    let args: Vec<VarId> = match input {
        ExternInput::Func(func) => data.funcs[func].args.clone(),
        ExternInput::Image(image) => (0..data.images[image].dims).map(|dim| var(data, &format!("_{dim}"))).collect(),
    };
    let coordinates = variables(data, &args);
    let (values, types) = match input {
        ExternInput::Func(func) => (calls(data, func, &coordinates), data.funcs[func].types.clone()),
        ExternInput::Image(image) => {
            let ty = data.images[image].ty;
            (vec![data.exprs.push(Node { kind: Kind::Image { image, args: coordinates }, ty })], vec![ty])
        }
    };
    add_func(data, name.to_string(), args, types, values, at)
}

fn add_func(
    data: &mut PipelineData,
    name: String,
    args: Vec<VarId>,
    types: Vec<ScalarType>,
    values: Vec<ExprId>,
    at: Location,
) -> FuncId {
    let stages = vec![StageDef { args: variables(data, &args), values, rdom: None, at }];
    let func = data.funcs.push(FuncDef { said: name.clone(), name, args, types, stages, at });
    data.order.push(func);
    func
}

/// Reads of all elements of a Func.
fn calls(data: &mut PipelineData, func: FuncId, args: &[ExprId]) -> Vec<ExprId> {
    let types = data.funcs[func].types.clone();
    let call = |(element, ty): (usize, &ScalarType)| Node {
        kind: Kind::Call { func, element: element as u8, args: args.to_vec() },
        ty: *ty,
    };
    types.iter().enumerate().map(call).map(|node| data.exprs.push(node)).collect()
}

fn variables(data: &mut PipelineData, vars: &[VarId]) -> Vec<ExprId> {
    vars.iter().map(|&v| data.exprs.push(Node { kind: Kind::Var(v), ty: ScalarType::I32 })).collect()
}

fn var(data: &mut PipelineData, name: &str) -> VarId {
    let known = data.vars.enumerate().find(|(_, known)| *known == name).map(|(id, _)| id);
    known.unwrap_or_else(|| data.vars.push(name.to_string()))
}
