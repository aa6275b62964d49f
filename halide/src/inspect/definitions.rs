//! The definitions of a plan, and the images that they read.

use super::rows::{DefinitionId, DefinitionRow, ImageRow, ReadRow};
use halide_core::ids::{ExprId, FuncId};
use halide_core::pipeline::{FuncDef, Kind, StageDef};
use halide_core::print;
use halide_sched::plan::{Level, Plan};
use std::collections::{BTreeMap, BTreeSet};

/// A row for each definition, producers before consumers, and for each image.
pub(super) fn rows(plan: &Plan) -> (Vec<DefinitionRow>, Vec<ImageRow>) {
    let data = &plan.pipeline;
    let mut rows = Vec::new();
    let mut readers: BTreeMap<FuncId, BTreeSet<DefinitionId>> = BTreeMap::new();
    let mut inline = Vec::new();
    let numbers = numbers(plan);
    for (func, update) in order(plan) {
        let (def, id) = (&data.funcs[func], DefinitionId(rows.len()));
        let stage = &def.stages[update];
        for read in data.reads(stage) {
            if let Kind::Call { func, .. } = data.exprs[read].kind {
                readers.entry(func).or_default().insert(id);
            }
        }
        if plan.funcs[func].compute == Level::Inline {
            inline.push((func, id));
        }
        let mut row = row(plan, func, def, update, stage);
        if let Level::At { func, stage, .. } = &plan.funcs[func].compute {
            row.computed_in = numbers.get(&(*func, *stage)).copied();
        }
        rows.push(row);
    }
    for (func, id) in inline {
        rows[id.0].inlined_into = readers.remove(&func).unwrap_or_default().into_iter().collect();
    }
    let image = |image: &halide_core::pipeline::ImageDef| ImageRow {
        name: image.name.clone(),
        ty: image.ty.name().to_string(),
        dims: image.dims,
    };
    (rows, data.images.iter().map(image).collect())
}

/// The definitions in the order of their rows.
pub(super) fn order(plan: &Plan) -> impl Iterator<Item = (FuncId, usize)> {
    let data = &plan.pipeline;
    data.order.iter().flat_map(|func| (0..data.funcs[*func].stages.len()).map(|update| (*func, update)))
}

/// The row of each definition.
pub(super) fn numbers(plan: &Plan) -> BTreeMap<(FuncId, usize), DefinitionId> {
    order(plan).enumerate().map(|(i, definition)| (definition, DefinitionId(i))).collect()
}

fn row(plan: &Plan, func: FuncId, def: &FuncDef, update: usize, stage: &StageDef) -> DefinitionRow {
    let data = &plan.pipeline;
    DefinitionRow {
        func: def.name.clone(),
        update,
        text: print::definition(data, def, stage),
        at: stage.at,
        types: def.types.clone(),
        dims: def.args.iter().map(|var| data.vars[*var].clone()).collect(),
        compute: level(plan, &plan.funcs[func].compute),
        computed_in: None,
        store: level(plan, &plan.funcs[func].store),
        is_output: data.outputs.contains(&func),
        inlined_into: Vec::new(),
        reads: data.reads(stage).into_iter().filter_map(|read| read_row(plan, read)).collect(),
    }
}

fn read_row(plan: &Plan, read: ExprId) -> Option<ReadRow> {
    let data = &plan.pipeline;
    let text = || print::expr(data, read);
    match data.exprs[read].kind {
        Kind::Call { func, .. } => Some(ReadRow { of: data.funcs[func].name.clone(), is_image: false, text: text() }),
        Kind::Image { image, .. } => {
            Some(ReadRow { of: data.images[image].name.clone(), is_image: true, text: text() })
        }
        _ => None,
    }
}

/// A place in the loop nest in words.
fn level(plan: &Plan, level: &Level) -> String {
    match level {
        Level::Inline => "inline".to_string(),
        Level::Root => "at the root".to_string(),
        Level::At { func, stage, label } => {
            let (func, name) = (&plan.pipeline.funcs[*func].name, &plan.labels[*label]);
            match stage.checked_sub(1) {
                None => format!("at {func}.{name}"),
                Some(update) => format!("at {func}.update({update}).{name}"),
            }
        }
    }
}
