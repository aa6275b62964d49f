//! Smaller pipelines: what to try when a pipeline fails a test.
//!
//! Every step works on the frozen tables, so it applies to any pipeline, and names stay, so a schedule still fits what is
//! left of it.

use crate::ids::{ExprId, FuncId, Id, IdVec, ImageId, NoteId, ParamId, RDomId, VarId};
use crate::pipeline::{FuncDef, Kind, Pipeline, PipelineData, RDomDef, RVarDef, StageDef};
use crate::value::Scalar;
use std::collections::{BTreeMap, BTreeSet};

/// Pipelines that are a step smaller, those that lose most first: without an output, without updates, with a
/// constant for each value of a Func, without a predicate, with an operand or a constant in place of an expression.
///
/// Not every one means something that lowering must accept: a coordinate may have lost its clamp.
pub fn smaller(pipeline: &Pipeline) -> impl Iterator<Item = Pipeline> + use<> {
    let data = PipelineData::clone(pipeline);
    steps(&data).into_iter().map(move |step| Pipeline::from_data(compact(&apply(&data, step))))
}

#[derive(Clone, Copy)]
enum Step {
    DropOutput(usize),
    /// Stages from this one to that one (excluded).
    DropStages(FuncId, usize, usize),
    /// Every call of it becomes a constant.
    DropFunc(FuncId),
    DropPredicate(RDomId),
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
        Step::Replace(e, by) => data.exprs[e].kind = data.exprs[by].kind.clone(),
        Step::Constant(e) => data.exprs[e].kind = one(data.exprs[e].ty),
    }
    data
}

/// The tables without what the outputs do not reach.
fn compact(data: &PipelineData) -> PipelineData {
    let mut c = Compactor { old: data, new: PipelineData::default(), ids: Ids::default() };
    // Calls are followed by number, so every Func has its number before any expression is copied.
    let reached = reached(data);
    for func in data.order.iter().copied().filter(|f| reached.contains(f)) {
        let def = &data.funcs[func];
        let id = c.new.funcs.push(FuncDef { args: Vec::new(), stages: Vec::new(), ..def.clone() });
        c.ids.funcs.insert(func, id);
    }
    for (old, new) in c.ids.funcs.clone() {
        let def = &data.funcs[old];
        c.new.funcs[new].args = def.args.iter().map(|&v| c.var(v)).collect();
        for stage in &def.stages {
            let args = stage.args.iter().map(|&e| c.expr(e)).collect();
            let values = stage.values.iter().map(|&e| c.expr(e)).collect();
            let rdom = stage.rdom.map(|r| c.rdom(r));
            c.new.funcs[new].stages.push(StageDef { args, values, rdom, at: stage.at });
        }
    }
    c.new.order = c.new.funcs.ids().collect();
    c.new.outputs = data.outputs.iter().map(|f| c.ids.funcs[f]).collect();
    c.new
}

/// The Funcs that the outputs need.
fn reached(data: &PipelineData) -> BTreeSet<FuncId> {
    let (mut funcs, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut todo = data.outputs.clone();
    while let Some(func) = todo.pop() {
        if !funcs.insert(func) {
            continue;
        }
        let mut below: Vec<ExprId> = Vec::new();
        for stage in &data.funcs[func].stages {
            below.extend(stage.args.iter().chain(&stage.values));
            below.extend(stage.rdom.iter().flat_map(|&r| of_rdom(data, r)));
        }
        while let Some(e) = below.pop() {
            if seen.insert(e) {
                below.extend(data.exprs[e].kind.children());
                match data.exprs[e].kind {
                    Kind::Call { func, .. } => todo.push(func),
                    Kind::RVar { rdom, .. } => below.extend(of_rdom(data, rdom)),
                    _ => {}
                }
            }
        }
    }
    funcs
}

fn of_rdom(data: &PipelineData, rdom: RDomId) -> Vec<ExprId> {
    let def = &data.rdoms[rdom];
    def.dims.iter().flat_map(|d| [d.min, d.extent]).chain(def.predicate).collect()
}

/// The new number of each thing that has been copied.
#[derive(Default)]
struct Ids {
    exprs: BTreeMap<ExprId, ExprId>,
    funcs: BTreeMap<FuncId, FuncId>,
    images: BTreeMap<ImageId, ImageId>,
    params: BTreeMap<ParamId, ParamId>,
    vars: BTreeMap<VarId, VarId>,
    notes: BTreeMap<NoteId, NoteId>,
    rdoms: BTreeMap<RDomId, RDomId>,
}

struct Compactor<'d> {
    old: &'d PipelineData,
    new: PipelineData,
    ids: Ids,
}

impl Compactor<'_> {
    fn var(&mut self, v: VarId) -> VarId {
        copied(&mut self.ids.vars, v, &self.old.vars, &mut self.new.vars)
    }
    fn image(&mut self, image: ImageId) -> ImageId {
        copied(&mut self.ids.images, image, &self.old.images, &mut self.new.images)
    }
    fn param(&mut self, param: ParamId) -> ParamId {
        copied(&mut self.ids.params, param, &self.old.params, &mut self.new.params)
    }

    fn rdom(&mut self, r: RDomId) -> RDomId {
        if let Some(&id) = self.ids.rdoms.get(&r) {
            return id;
        }
        let def = &self.old.rdoms[r];
        let id = self.new.rdoms.push(RDomDef { name: def.name.clone(), dims: Vec::new(), predicate: None });
        self.ids.rdoms.insert(r, id);
        for dim in &def.dims {
            let (min, extent) = (self.expr(dim.min), self.expr(dim.extent));
            self.new.rdoms[id].dims.push(RVarDef { name: dim.name.clone(), min, extent });
        }
        self.new.rdoms[id].predicate = def.predicate.map(|p| self.expr(p));
        id
    }

    fn expr(&mut self, e: ExprId) -> ExprId {
        if let Some(&id) = self.ids.exprs.get(&e) {
            return id;
        }
        let mut node = self.old.exprs[e].clone();
        match &mut node.kind {
            Kind::Const(_) | Kind::Before { .. } => {}
            Kind::LikelyIfInnermost(a) | Kind::Strict(a) => *a = self.expr(*a),
            Kind::Var(v) => *v = self.var(*v),
            Kind::RVar { rdom, .. } => *rdom = self.rdom(*rdom),
            Kind::Param(p) => *p = self.param(*p),
            Kind::ImageDim { image, .. } => *image = self.image(*image),
            Kind::Unary(_, a) | Kind::Cast(a) | Kind::SaturatingCast(a) | Kind::Reinterpret(a) | Kind::Likely(a) => {
                *a = self.expr(*a);
            }
            Kind::Binary(_, a, b) => (*a, *b) = (self.expr(*a), self.expr(*b)),
            Kind::Select(c, a, b) => (*c, *a, *b) = (self.expr(*c), self.expr(*a), self.expr(*b)),
            Kind::Math(_, args) => self.all(args),
            Kind::Note { note, condition, value, parts } => {
                *note = copied(&mut self.ids.notes, *note, &self.old.notes, &mut self.new.notes);
                (*condition, *value) = (self.expr(*condition), self.expr(*value));
                self.all(parts);
            }
            Kind::Call { func, args, .. } => {
                *func = self.ids.funcs[func];
                self.all(args);
            }
            Kind::Image { image, args } => {
                *image = self.image(*image);
                self.all(args);
            }
        }
        // The predicate of its own domain may have brought a variable here meanwhile.
        let new = &mut self.new.exprs;
        *self.ids.exprs.entry(e).or_insert_with(|| new.push(node))
    }

    fn all(&mut self, args: &mut [ExprId]) {
        args.iter_mut().for_each(|a| *a = self.expr(*a));
    }
}

/// The new number of `id`, whose row is copied when it is first met.
fn copied<I: Id + Ord, T: Clone>(ids: &mut BTreeMap<I, I>, id: I, old: &IdVec<I, T>, new: &mut IdVec<I, T>) -> I {
    *ids.entry(id).or_insert_with(|| new.push(old[id].clone()))
}
