//! The checked form of an instruction: names are resolved to what they stand for in its meaning.

use super::super::values::LoopKind;
use super::error::InstructionError;
use super::value::{Axis, Instruction};
use crate::tuning::MOST_MEANING;
use halide_core::ids::{ExprId, FuncId, Id, ImageId, RDomId, VarId};
use halide_core::pipeline::{Kind, Pipeline, PipelineData, StageDef};
use std::collections::BTreeMap;

/// A variable of a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisVar {
    /// A pure variable of the output.
    Pure(VarId),
    /// A dimension of the reduction domain.
    Reduction(RDomId, u8),
}

/// The parts of one way of writing an instruction's meaning.
#[derive(Clone, Debug)]
pub struct Form {
    /// The meaning.
    pub pipeline: Pipeline,
    /// The output.
    pub func: FuncId,
    /// The definition: its first, or its only update.
    pub stage: usize,
    /// The variable of each axis.
    pub vars: Vec<AxisVar>,
    /// The first value of each axis; 0 where that is no constant, which no closure computes.
    pub starts: Vec<i64>,
    /// Images and axes, by their numbers, whose neighbours are neighbours in memory.
    pub dense: Vec<(ImageId, usize)>,
}

impl Form {
    /// The forms of an instruction, one for each way of writing it.
    pub(super) fn all(instruction: &Instruction) -> Result<Vec<Form>, InstructionError> {
        if let Some(what) = without_loops(instruction) {
            return Err(InstructionError::Called { name: instruction.name.clone(), what });
        }
        instruction.meanings.iter().map(|meaning| Form::of(instruction, meaning)).collect()
    }
    fn of(instruction: &Instruction, meaning: &Pipeline) -> Result<Form, InstructionError> {
        let p: &PipelineData = meaning;
        let name = || instruction.name.clone();
        let more = |what: &str| Err(InstructionError::Meaning { name: name(), what: what.to_string() });
        let [func] = p.outputs[..] else { return more("several outputs") };
        let def = &p.funcs[func];
        if def.types.len() != 1 {
            return more("a tuple");
        }
        if !p.params.iter().as_slice().is_empty() || !p.externs.is_empty() {
            return more("parameters or extern stages");
        }
        if p.funcs.iter().any(|other| other.name != def.name && !other.is_pure()) {
            return more("other Funcs with updates");
        }
        let stage = def.stages.len() - 1;
        let keeps = |stage: &StageDef| matches!(p.exprs[stage.values[0]].kind, Kind::Before { .. });
        if stage > 1 || (stage == 1 && !keeps(&def.stages[0])) || (stage == 0 && keeps(&def.stages[0])) {
            return more("other definitions");
        }
        if def.stages[stage].rdom.is_some_and(|rdom| p.rdoms[rdom].predicate.is_some()) {
            return more("a domain with a condition");
        }
        if size(p, &def.stages[stage]) > MOST_MEANING {
            return more(&format!("more than {MOST_MEANING} operations"));
        }
        let variables = variables(p, func, stage);
        let vars = vars(instruction, &variables)?;
        let starts: Vec<Option<i64>> = vars.iter().map(|var| start(p, *var)).collect();
        if instruction.call.is_some() && starts.contains(&None) {
            return more("a domain whose first value is no constant");
        }
        let starts = starts.into_iter().map(Option::unwrap_or_default).collect();
        let dense = instruction.dense.iter().map(|(operand, axis)| {
            let image = p.images.enumerate().find(|(_, image)| image.name == *operand).map(|(id, _)| id);
            let axis_at = instruction.axes.iter().position(|a| a.name == *axis);
            let missing = || InstructionError::Dense { name: name(), operand: operand.clone(), axis: axis.clone() };
            image.zip(axis_at).ok_or_else(missing)
        });
        Ok(Form { pipeline: meaning.clone(), func, stage, vars, starts, dense: dense.collect::<Result<_, _>>()? })
    }
}

/// The part of an instruction that asks for code, where a closure computes it.
fn without_loops(instruction: &Instruction) -> Option<String> {
    instruction.call.as_ref()?;
    let mnemonic = instruction.emits.as_ref().map(|mnemonic| format!("`{mnemonic}`"));
    let is_serial = |axis: &&Axis| axis.runs == LoopKind::Serial;
    let axis = instruction.axes.iter().find(|axis| !is_serial(axis));
    mnemonic.or_else(|| axis.map(|axis| format!("loop over axis `{}` to be {:?}", axis.name, axis.runs)))
}

/// The number of operations of a definition that is written out whole: what it uses twice counts twice.
fn size(p: &PipelineData, stage: &StageDef) -> u64 {
    let mut sizes: BTreeMap<ExprId, u64> = BTreeMap::new();
    let of = |sizes: &BTreeMap<ExprId, u64>, e: &ExprId| sizes.get(e).copied().unwrap_or(1);
    // Once for each Func: those that others read have their sizes by then, wherever their expressions stand.
    for (e, node) in p.funcs.ids().flat_map(|_| p.exprs.enumerate()) {
        let own = match &node.kind {
            Kind::Call { func, element, .. } if p.funcs[*func].is_pure() => {
                p.funcs[*func].stages[0].values.get(usize::from(*element)).map_or(1, |value| of(&sizes, value))
            }
            _ => 1,
        };
        let parts = node.kind.children().iter().map(|child| of(&sizes, child)).fold(own, u64::saturating_add);
        sizes.insert(e, parts);
    }
    stage.values.iter().map(|value| of(&sizes, value)).fold(0, u64::saturating_add)
}

/// The first value of a variable; `None` if it is no constant.
fn start(p: &PipelineData, var: AxisVar) -> Option<i64> {
    match var {
        AxisVar::Pure(_) => Some(0),
        AxisVar::Reduction(rdom, dim) => match p.exprs[p.rdoms[rdom].dims[usize::from(dim)].min].kind {
            Kind::Const(value) => i64::try_from(value.as_i128()).ok(),
            _ => None,
        },
    }
}

/// The variables of a definition, each with its name.
fn variables(p: &PipelineData, func: FuncId, stage: usize) -> Vec<(String, AxisVar)> {
    let def = &p.funcs[func];
    let pure = def.args.iter().map(|var| (p.vars[*var].clone(), AxisVar::Pure(*var)));
    let mut all: Vec<(String, AxisVar)> = pure.collect();
    if let Some(rdom) = def.stages[stage].rdom {
        let dims = p.rdoms[rdom].dims.iter().zip(0..);
        all.extend(dims.map(|(dim, n)| (dim.said.clone(), AxisVar::Reduction(RDomId::new(rdom.index()), n))));
    }
    all
}

/// The variable of each axis, each once.
fn vars(instruction: &Instruction, variables: &[(String, AxisVar)]) -> Result<Vec<AxisVar>, InstructionError> {
    let name = || instruction.name.clone();
    for (variable, _) in variables {
        let count = instruction.axes.iter().filter(|axis| axis.name == *variable).count();
        if count != 1 {
            return Err(InstructionError::Axes { name: name(), variable: variable.clone(), count });
        }
    }
    let var = |axis: &Axis| {
        if !matches!(axis.runs, LoopKind::Serial | LoopKind::Vectorized | LoopKind::Unrolled) {
            return Err(InstructionError::Runs { name: name(), axis: axis.name.clone(), runs: axis.runs });
        }
        let found = variables.iter().find(|(variable, _)| *variable == axis.name).map(|(_, var)| *var);
        let names = || variables.iter().map(|(variable, _)| variable.clone()).collect();
        found.ok_or_else(|| InstructionError::UnknownAxis { name: name(), axis: axis.name.clone(), variables: names() })
    };
    instruction.axes.iter().map(var).collect()
}
