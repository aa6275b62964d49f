//! A schedule as its plan shows it: the loops and Funcs that a change may speak of.

use halide_core::ids::FuncId;
use halide_core::pipeline::{Kind, Pipeline, StageDef};
use halide_core::types::ScalarType;
use halide_ir::target::Target;
use halide_sched::plan::{Level, LoopPlan, Plan, StageVarInfo, StoragePart, VarOrigin, reachable, resolve};
use halide_sched::schedule::{LoopKind, Schedule, Subject};
use std::collections::{BTreeMap, BTreeSet};

/// The loops and Funcs of a legal schedule.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    /// Stages that have loops, producers first.
    pub(crate) stages: Vec<StageView>,
    /// Funcs that need not be computed at the root, producers first.
    pub(crate) movable: Vec<FuncView>,
    /// The names of inputs.
    pub(crate) images: Vec<String>,
    /// The number of threads of the target.
    pub(crate) threads: u32,
}

/// The loops of a stage.
#[derive(Clone, Debug)]
pub(crate) struct StageView {
    /// The general case of the stage.
    pub(crate) subject: Subject,
    /// Its loops, outermost first.
    pub(crate) loops: Vec<LoopView>,
    /// Names of variables that there are already.
    pub(crate) names: BTreeSet<String>,
    /// The dimensions of the Func by name, of the smallest stride first.
    pub(crate) dims: Vec<String>,
    /// The variables that its loops are over before any directive, and for each, whether it is one of a reduction.
    pub(crate) roots: Vec<(String, bool)>,
    /// Lanes of a vector register, of its type.
    pub(crate) lanes: i64,
    /// True for a stage of an output.
    pub(crate) is_output: bool,
}

/// A loop.
#[derive(Clone, Debug)]
pub(crate) struct LoopView {
    /// Its name.
    pub(crate) name: String,
    /// The way in which it runs.
    pub(crate) kind: LoopKind,
}

/// A Func that need not be computed at the root.
#[derive(Clone, Debug)]
pub(crate) struct FuncView {
    /// Its name.
    pub(crate) name: String,
    /// The names of its dimensions.
    pub(crate) dims: Vec<String>,
    /// True if it has no updates.
    pub(crate) is_pure: bool,
    /// The place at which it is computed.
    pub(crate) at: Place,
    /// The Funcs in whose loops it may be computed, the nearest consumers first.
    pub(crate) hosts: Vec<String>,
}

/// The place at which a Func is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The point at which it is used.
    Inline,
    /// Outside of all loops.
    Root,
    /// In a loop of a stage.
    In(String, usize, String),
}

impl Scene {
    /// The scene of a schedule, if that is legal.
    pub(crate) fn new(pipeline: &Pipeline, schedule: &Schedule, target: &Target) -> Option<Scene> {
        let plan = resolve(pipeline, schedule, target).ok()?;
        let own = &plan.pipeline;
        let readers = readers(&plan);
        let stages = own.order.iter().filter(|id| plan.funcs[**id].compute != Level::Inline);
        let stages = stages.flat_map(|id| (0..plan.funcs[*id].stages.len()).map(|stage| stage_view(&plan, *id, stage)));
        let movable = own.order.iter().filter(|id| !own.outputs.contains(id));
        let movable = movable.map(|id| func_view(&plan, *id, &readers));
        Some(Scene {
            stages: stages.collect(),
            movable: movable.collect(),
            images: own.images.iter().map(|image| image.name.clone()).collect(),
            threads: target.threads,
        })
    }

    /// The stages of a Func.
    pub(crate) fn stages_of<'s>(&'s self, func: &'s str) -> impl Iterator<Item = &'s StageView> {
        self.stages.iter().filter(move |stage| stage.subject.func == func)
    }
}

impl StageView {
    /// Loops that a directive may speak of: no vectors, which stay innermost.
    pub(crate) fn open_loops(&self) -> Vec<&LoopView> {
        self.loops.iter().filter(|l| l.kind != LoopKind::Vectorized).collect()
    }

    /// A name that the stage does not have: `base` with a number where it is taken.
    pub(crate) fn new_name(&self, base: &str) -> String {
        let free = |name: &String| !self.names.contains(name);
        let numbered = (2..).map(|n| format!("{base}{n}"));
        std::iter::once(base.to_string()).chain(numbered).find(free).unwrap_or_default()
    }
}

fn stage_view(plan: &Plan, id: FuncId, stage: usize) -> StageView {
    let (own, def) = (&plan.funcs[id], &plan.pipeline.funcs[id]);
    let row = &own.stages[stage];
    let view = |l: &LoopPlan| LoopView { name: row.vars[l.var].name.clone(), kind: l.kind };
    let is_loop = |l: &&LoopPlan| row.vars[l.var].origin != VarOrigin::One;
    let root = |var: &StageVarInfo| match var.origin {
        // Splits of chunks give the variable itself another name.
        VarOrigin::Pure { dim } => Some((dim_name(plan, id, dim), false)),
        VarOrigin::Reduction { rdom, dim } => {
            let dim = plan.pipeline.rdoms[rdom].dims.get(dim)?;
            Some((dim.said.clone(), true))
        }
        VarOrigin::Derived | VarOrigin::One => None,
    };
    let ty = def.types.first().copied().unwrap_or(ScalarType::U8);
    StageView {
        subject: Subject { stage, ..Subject::func(def.name.as_str()) },
        loops: row.loops.iter().filter(is_loop).map(view).collect(),
        names: row.vars.iter().map(|var| var.name.clone()).collect(),
        dims: own
            .storage
            .iter()
            .filter(|dim| !matches!(dim.part, StoragePart::Outer(_)))
            .map(|dim| dim_name(plan, id, dim.dim))
            .collect(),
        roots: row.vars.iter().filter_map(root).collect(),
        lanes: plan.target.natural_lanes(ty),
        is_output: plan.pipeline.outputs.contains(&id),
    }
}

fn dim_name(plan: &Plan, id: FuncId, dim: usize) -> String {
    let args = &plan.pipeline.funcs[id].args;
    args.get(dim).map_or(String::new(), |var| plan.pipeline.vars[*var].as_str().to_string())
}

fn func_view(plan: &Plan, id: FuncId, readers: &BTreeMap<FuncId, Vec<FuncId>>) -> FuncView {
    let name = |id: FuncId| plan.pipeline.funcs[id].name.clone();
    let at = match plan.funcs[id].compute {
        Level::Inline => Place::Inline,
        Level::Root => Place::Root,
        Level::At { func, stage, label } => Place::In(name(func), stage, plan.labels[label].clone()),
    };
    // Breadth first over consumers of consumers: nearer ones come first.
    let (mut hosts, mut next) = (Vec::new(), 0);
    let mut found: Vec<FuncId> = readers.get(&id).cloned().unwrap_or_default();
    while let Some(host) = found.get(next).copied() {
        next += 1;
        for further in readers.get(&host).into_iter().flatten() {
            if !found.contains(further) {
                found.push(*further);
            }
        }
        if plan.funcs[host].compute != Level::Inline {
            hosts.push(name(host));
        }
    }
    let def = &plan.pipeline.funcs[id];
    let dims = (0..def.dims()).map(|dim| dim_name(plan, id, dim)).collect();
    FuncView { name: name(id), dims, is_pure: def.is_pure(), at, hosts }
}

/// The Funcs that read each Func.
fn readers(plan: &Plan) -> BTreeMap<FuncId, Vec<FuncId>> {
    let pipeline = &plan.pipeline;
    let mut readers: BTreeMap<FuncId, Vec<FuncId>> = BTreeMap::new();
    for &id in &pipeline.order {
        for e in pipeline.funcs[id].stages.iter().flat_map(|stage| reachable(pipeline, &roots(pipeline, stage))) {
            match pipeline.exprs[e].kind {
                Kind::Call { func, .. } if func != id => {
                    let own = readers.entry(func).or_default();
                    if !own.contains(&id) {
                        own.push(id);
                    }
                }
                _ => {}
            }
        }
    }
    readers
}

fn roots(pipeline: &Pipeline, stage: &StageDef) -> Vec<halide_core::ids::ExprId> {
    let domain = stage.rdom.map(|r| &pipeline.rdoms[r]);
    let bounds = domain.into_iter().flat_map(|r| &r.dims).flat_map(|dim| [dim.min, dim.extent]);
    stage.args.iter().chain(&stage.values).copied().chain(domain.and_then(|r| r.predicate)).chain(bounds).collect()
}
