//! Parts of frozen pipelines: the tables with nothing in them but what some Funcs need.

use crate::externs::ExternCallee;
use crate::ids::{ExprId, FuncId, Id, IdVec, ImageId, NoteId, ParamId, RDomId, VarId};
use crate::pipeline::{FuncDef, ImageDef, Kind, Pipeline, PipelineData, RDomDef, RVarDef, StageDef};
use crate::promise::ValuePromise;
use crate::shape::{AlignmentRule, BufferOf, Estimate, Law};
use std::collections::{BTreeMap, BTreeSet};

impl Pipeline {
    /// The pipeline that computes its outputs alone, or the Funcs `part`, whose buffers then have no rules. Funcs,
    /// images and parameters keep their names; results of extern stages are images like any other.
    pub fn part(&self, part: Option<&[FuncId]>) -> Pipeline {
        self.part_without(part, &[])
    }
    /// [`Pipeline::part`], in which images stand for the elements of the Funcs `cut`, unless these are outputs. They
    /// are called as [`FuncDef::cut_image`] says.
    pub fn part_without(&self, part: Option<&[FuncId]>, cut: &[FuncId]) -> Pipeline {
        Pipeline::from_data(compact_without(self, part, cut))
    }
}

/// The tables without what the outputs do not reach; those of `part`, if it is given, without rules for their buffers.
pub(crate) fn compact(data: &PipelineData, part: Option<&[FuncId]>) -> PipelineData {
    compact_without(data, part, &[])
}

fn compact_without(data: &PipelineData, part: Option<&[FuncId]>, cut: &[FuncId]) -> PipelineData {
    let outputs = part.unwrap_or(&data.outputs);
    let mut c = Compactor { old: data, new: PipelineData::default(), ids: Ids::default() };
    // Calls are followed by number, so every Func has its number before any expression is copied.
    let reached = reached(data, outputs, cut);
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
    c.new.outputs = outputs.iter().map(|f| c.ids.funcs[f]).collect();
    c.rules(part.is_none());
    // Rules may have brought more images.
    c.promises();
    c.callees();
    c.new
}

/// The Funcs that the outputs need, those left out that are cut.
fn reached(data: &PipelineData, outputs: &[FuncId], cut: &[FuncId]) -> BTreeSet<FuncId> {
    let (mut funcs, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut todo = outputs.to_vec();
    while let Some(func) = todo.pop() {
        if !funcs.insert(func) {
            continue;
        }
        let callee = data.callees.iter().find(|callee| callee.func == func);
        todo.extend(callee.iter().flat_map(|callee| &callee.inputs));
        let mut below: Vec<ExprId> = Vec::new();
        for stage in &data.funcs[func].stages {
            below.extend(stage.args.iter().chain(&stage.values));
            below.extend(stage.rdom.iter().flat_map(|&r| of_rdom(data, r)));
        }
        while let Some(e) = below.pop() {
            if seen.insert(e) {
                below.extend(data.exprs[e].kind.children());
                match data.exprs[e].kind {
                    Kind::Call { func, .. } if !cut.contains(&func) => todo.push(func),
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
    /// The images that stand for elements of Funcs that are not here.
    cut: BTreeMap<(FuncId, u8), ImageId>,
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
    /// The image that stands for an element of a Func.
    fn cut(&mut self, func: FuncId, element: u8) -> ImageId {
        let def = &self.old.funcs[func];
        let images = &mut self.new.images;
        *self.ids.cut.entry((func, element)).or_insert_with(|| {
            let (ty, values) = (def.types[usize::from(element)], ValuePromise::default());
            let (name, coordinates) = (def.cut_image(element.into()), Vec::new());
            images.push(ImageDef { name, ty, dims: def.dims(), values, coordinates, at: def.at })
        })
    }
    fn param(&mut self, param: ParamId) -> ParamId {
        copied(&mut self.ids.params, param, &self.old.params, &mut self.new.params)
    }

    /// The buffer by its new number; `None` if it is not here, or is an output and these are not to have rules.
    fn buffer(&self, of: BufferOf, outputs: bool) -> Option<BufferOf> {
        match of {
            BufferOf::Image(image) => self.ids.images.get(&image).map(|id| BufferOf::Image(*id)),
            BufferOf::Output(func) => self.ids.funcs.get(&func).filter(|_| outputs).map(|id| BufferOf::Output(*id)),
        }
    }

    /// Numbers anew the images whose coordinates are promised; of one that is not here nothing is read.
    fn promises(&mut self) {
        for def in self.new.images.iter_mut() {
            def.coordinates.retain_mut(|promise| match self.ids.images.get(&promise.image) {
                Some(id) => {
                    promise.image = *id;
                    true
                }
                None => false,
            });
        }
    }

    /// The rules for the buffers that are left, and for those that these rules mention.
    fn rules(&mut self, outputs: bool) {
        let mut done = vec![false; self.old.shapes.len()];
        while let Some(next) =
            (0..done.len()).find(|&i| !done[i] && self.buffer(self.old.shapes[i].of, outputs).is_some())
        {
            done[next] = true;
            let mut rule = self.old.shapes[next].clone();
            let Some(of) = self.buffer(rule.of, outputs) else { continue };
            rule.of = of;
            if let Law::Is(e) = rule.law {
                rule.law = Law::Is(self.expr(e));
            }
            self.new.shapes.push(rule);
        }
        for rule in &self.old.alignments {
            if let Some(of) = self.buffer(rule.of, outputs) {
                self.new.alignments.push(AlignmentRule { of, ..rule.clone() });
            }
        }
        for estimate in &self.old.estimates {
            if let Some(of) = self.buffer(estimate.of, outputs) {
                self.new.estimates.push(Estimate { of, ..estimate.clone() });
            }
        }
    }

    /// The Funcs that are here and whose values closures compute.
    fn callees(&mut self) {
        for callee in &self.old.callees {
            let Some(&func) = self.ids.funcs.get(&callee.func) else { continue };
            let inputs = callee.inputs.iter().map(|input| self.ids.funcs[input]).collect();
            let params = callee.params.iter().map(|&param| self.param(param)).collect();
            self.new.callees.push(ExternCallee { func, inputs, params, ..callee.clone() });
        }
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
            self.new.rdoms[id].dims.push(RVarDef { min, extent, ..dim.clone() });
        }
        self.new.rdoms[id].predicate = def.predicate.map(|p| self.expr(p));
        id
    }

    fn expr(&mut self, e: ExprId) -> ExprId {
        // Expressions may be deep, so operands are copied ahead of what uses them: they have smaller ids.
        let (mut missing, mut todo) = (BTreeSet::new(), vec![e]);
        while let Some(e) = todo.pop() {
            if !self.ids.exprs.contains_key(&e) && missing.insert(e) {
                todo.extend(self.old.exprs[e].kind.children());
            }
        }
        missing.into_iter().for_each(|e| self.node(e));
        self.ids.exprs[&e]
    }

    /// Copies a node whose operands have been copied.
    fn node(&mut self, e: ExprId) {
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
            Kind::Math(_, args) | Kind::Sites(args) => self.all(args),
            Kind::Note { note, condition, value, parts } => {
                *note = copied(&mut self.ids.notes, *note, &self.old.notes, &mut self.new.notes);
                (*condition, *value) = (self.expr(*condition), self.expr(*value));
                self.all(parts);
            }
            Kind::Call { func, element, args } => {
                self.all(args);
                match self.ids.funcs.get(func) {
                    Some(known) => *func = *known,
                    None => {
                        let (image, args) = (self.cut(*func, *element), std::mem::take(args));
                        node.kind = Kind::Image { image, args };
                    }
                }
            }
            Kind::Image { image, args } => {
                *image = self.image(*image);
                self.all(args);
            }
        }
        // The predicate of its own domain may have brought a variable here meanwhile.
        let new = &mut self.new.exprs;
        self.ids.exprs.entry(e).or_insert_with(|| new.push(node));
    }

    fn all(&mut self, args: &mut [ExprId]) {
        args.iter_mut().for_each(|a| *a = self.expr(*a));
    }
}

/// The new number of `id`, whose row is copied when it is first met.
fn copied<I: Id + Ord, T: Clone>(ids: &mut BTreeMap<I, I>, id: I, old: &IdVec<I, T>, new: &mut IdVec<I, T>) -> I {
    *ids.entry(id).or_insert_with(|| new.push(old[id].clone()))
}
