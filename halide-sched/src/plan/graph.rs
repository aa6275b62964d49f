//! The algorithm's graph while a plan changes it: new Funcs, and calls that go to them instead.

use super::expressions::{children, expressions, reachable};
use super::func_order::{placed, producers_first};
use halide_core::error::Location;
use halide_core::ids::{ExprId, FuncId, IdVec, ImageId, RDomId, VarId};
use halide_core::ops::BinOp;
use halide_core::pipeline::{FuncDef, Kind, Node, Pipeline, PipelineData, RDomDef, RVarDef, StageDef};
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A stage of a Func.
pub(super) type Stage = (FuncId, usize);

/// The Func or image that an expression reads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Callee {
    Func(FuncId),
    Image(ImageId),
}

/// The Func that is to be read instead.
#[derive(Clone, Copy)]
pub(super) struct Detour {
    func: FuncId,
    /// True if its elements are coordinates of its first dimension.
    joined: bool,
}

/// Reads the elements that were read before.
impl From<FuncId> for Detour {
    fn from(func: FuncId) -> Detour {
        Detour { func, joined: false }
    }
}

/// The Funcs that are to be read instead.
pub(super) type Detours = BTreeMap<Callee, Detour>;

/// A pipeline, possibly changed, and who calls whom in it.
pub(super) struct Graph {
    original: Pipeline,
    /// A copy of the tables, made when the first change is.
    changed: Option<Changed>,
    /// For each Func, the stages of other Funcs that call it.
    callers: IdVec<FuncId, BTreeSet<Stage>>,
    /// New Funcs to stand in the order behind the one they were made from.
    behind: BTreeMap<FuncId, Vec<FuncId>>,
    /// New Funcs to stand in the order before the one they were made from.
    ahead: BTreeMap<FuncId, Vec<FuncId>>,
}

struct Changed {
    data: PipelineData,
    known: HashMap<Node, ExprId>,
}

impl Graph {
    pub(super) fn new(pipeline: &Pipeline) -> Graph {
        let mut callers: IdVec<FuncId, BTreeSet<Stage>> = pipeline.funcs.iter().map(|_| BTreeSet::new()).collect();
        for (func, def) in pipeline.funcs.enumerate() {
            for (number, stage) in def.stages.iter().enumerate() {
                for callee in calls(pipeline, func, stage) {
                    callers[callee].insert((func, number));
                }
            }
        }
        for callee in &pipeline.callees {
            callee.inputs.iter().for_each(|&input| _ = callers[input].insert((callee.func, 0)));
        }
        Graph { original: pipeline.clone(), changed: None, callers, behind: BTreeMap::new(), ahead: BTreeMap::new() }
    }

    /// The tables as they are now; `order` does not list new Funcs yet.
    pub(super) fn data(&self) -> &PipelineData {
        self.changed.as_ref().map_or(&self.original, |c| &c.data)
    }

    /// The stages of other Funcs that call `func`.
    pub(super) fn callers(&self, func: FuncId) -> &BTreeSet<Stage> {
        &self.callers[func]
    }

    /// For each Func, the stages of other Funcs that call it.
    pub(super) fn all_callers(&self) -> &IdVec<FuncId, BTreeSet<Stage>> {
        &self.callers
    }

    /// The given Funcs, producers before consumers.
    pub(super) fn in_order(&self, mut funcs: BTreeSet<FuncId>) -> Vec<FuncId> {
        let mut list = Vec::new();
        while !funcs.is_empty() {
            let callees = |f: FuncId| funcs.iter().any(|&g| self.callers[g].iter().any(|&(c, _)| c == f));
            let Some(next) = funcs.iter().copied().find(|&f| !callees(f)) else { break };
            funcs.remove(&next);
            list.push(next);
        }
        list
    }

    /// The changed pipeline: new Funcs stand behind those they were made from, or before them, and behind what they
    /// call; Funcs that nothing calls any more are not in the order.
    pub(super) fn finish(self) -> Pipeline {
        let Some(Changed { mut data, .. }) = self.changed else { return self.original };
        let order = producers_first(&placed(&data.order, &self.ahead, &self.behind), &self.callers);
        // Consumers first, so that a Func is dropped after all that call it were.
        let mut used: BTreeSet<FuncId> = data.outputs.iter().copied().collect();
        for &func in order.iter().rev() {
            if self.callers[func].iter().any(|(caller, _)| used.contains(caller)) {
                used.insert(func);
            }
        }
        data.order = order.into_iter().filter(|f| used.contains(f)).collect();
        Pipeline::from_data(data)
    }

    fn change(&mut self) -> &mut Changed {
        let original = &self.original;
        self.changed.get_or_insert_with(|| {
            let data = PipelineData::clone(original);
            let known = data.exprs.enumerate().map(|(id, node)| (node.clone(), id)).collect();
            Changed { data, known }
        })
    }

    /// `name`, or `name` with a number where another Func has it.
    fn unused_name(&self, name: &str) -> String {
        let taken = |n: &str| self.data().funcs.iter().any(|f| f.name == n);
        let numbered = (1..).map(|n| format!("{name}${n}"));
        std::iter::once(name.to_string()).chain(numbered).find(|n| !taken(n)).expect("some number is unused")
    }

    /// Adds a Func that copies the values of `base`.
    pub(super) fn add_wrapper(&mut self, base: FuncId, name: &str, at: Option<Location>) -> FuncId {
        let name = self.unused_name(name);
        let def = self.data().funcs[base].clone();
        let at = at.unwrap_or(def.at);
        let changed = self.change();
        let args: Vec<ExprId> = def.args.iter().map(|&v| changed.intern(Kind::Var(v), ScalarType::I32)).collect();
        let value = |(element, &ty): (usize, &ScalarType)| {
            changed.intern(Kind::Call { func: base, element: element as u8, args: args.clone() }, ty)
        };
        let values = def.types.iter().enumerate().map(value).collect();
        let stages = vec![StageDef { args, values, rdom: None, at }];
        self.add(base, FuncDef { said: name.clone(), name, args: def.args, types: def.types, stages, at })
    }

    /// Adds a Func of the elements of an image, which all that read the image read instead; `None` if nothing does.
    pub(super) fn add_image(&mut self, image: ImageId, at: Option<Location>) -> Option<FuncId> {
        let reads = |data: &PipelineData, stage: &StageDef| {
            let is_read = |e: ExprId| matches!(&data.exprs[e].kind, Kind::Image { image: i, .. } if *i == image);
            reachable(data, &expressions(data, stage)).into_iter().any(is_read)
        };
        let stages = |func: FuncId| (0..self.data().funcs[func].stages.len()).map(move |number| (func, number));
        let all =
            self.data().order.iter().copied().chain(self.behind.values().chain(self.ahead.values()).flatten().copied());
        let readers: Vec<Stage> = all.flat_map(stages).collect();
        let readers: Vec<Stage> =
            readers.into_iter().filter(|&(f, n)| reads(self.data(), &self.data().funcs[f].stages[n])).collect();
        let first = self.data().order.iter().copied().find(|f| readers.iter().any(|(reader, _)| reader == f))?;
        let (def, at) = (self.data().images[image].clone(), at.unwrap_or(self.data().funcs[first].at));
        let args: Vec<VarId> = (0..def.dims).map(|dim| self.var(&format!("_{dim}"))).collect();
        let coordinates: Vec<ExprId> = args.iter().map(|&v| self.node(Kind::Var(v), ScalarType::I32)).collect();
        let value = self.node(Kind::Image { image, args: coordinates.clone() }, def.ty);
        let stages = vec![StageDef { args: coordinates, values: vec![value], rdom: None, at }];
        let name = self.unused_name(&format!("{}$image", def.name));
        let func = self.next_func();
        self.add_ahead(first, FuncDef { said: name.clone(), name, args, types: vec![def.ty], stages, at });
        for stage in readers {
            self.redirect(stage, &Detours::from([(Callee::Image(image), func.into())]));
        }
        Some(func)
    }

    /// Adds a copy of `base`, whose calls go where `to` says.
    pub(super) fn add_copy(&mut self, base: FuncId, name: &str, to: &Detours) -> FuncId {
        let name = self.unused_name(name);
        let mut def = self.data().funcs[base].clone();
        def.name = name;
        let copy = self.data().funcs.next_id();
        let mut to = to.clone();
        to.insert(Callee::Func(base), copy.into());
        let changed = self.change();
        def.stages = def.stages.iter().map(|s| changed.redirected(s, &to)).collect();
        self.add(base, def)
    }

    fn add(&mut self, base: FuncId, def: FuncDef) -> FuncId {
        let func = self.push_func(def);
        self.behind.entry(base).or_default().push(func);
        func
    }

    /// Adds a Func that `base` is to call; its number is [`Graph::next_func`].
    pub(super) fn add_ahead(&mut self, base: FuncId, def: FuncDef) {
        let func = self.push_func(def);
        self.ahead.entry(base).or_default().push(func);
    }

    /// The number of the next Func that is added.
    pub(super) fn next_func(&self) -> FuncId {
        self.data().funcs.next_id()
    }

    fn push_func(&mut self, def: FuncDef) -> FuncId {
        let changed = self.change();
        let stages = def.stages.len();
        let func = changed.data.funcs.push(def);
        self.callers.push(BTreeSet::new());
        for stage in 0..stages {
            self.note_calls((func, stage));
        }
        func
    }

    /// An expression; its operands are nodes already.
    pub(super) fn node(&mut self, kind: Kind, ty: ScalarType) -> ExprId {
        self.change().intern(kind, ty)
    }

    /// The pure variable called `name`.
    pub(super) fn var(&mut self, name: &str) -> VarId {
        let known = self.data().vars.enumerate().find(|(_, n)| *n == name).map(|(id, _)| id);
        known.unwrap_or_else(|| self.change().data.vars.push(name.to_string()))
    }

    /// Adds a reduction domain, named after `like`.
    pub(super) fn add_rdom(&mut self, like: RDomId, dims: Vec<RVarDef>, predicate: Option<ExprId>) -> RDomId {
        let name = self.data().rdoms[like].name.clone();
        let taken = |name: &str| self.data().rdoms.iter().any(|r| r.name == name);
        let name = (1..).map(|n| format!("{name}${n}")).find(|n| !taken(n)).expect("some number is unused");
        self.change().data.rdoms.push(RDomDef { name, dims, predicate })
    }

    /// Gives a domain another predicate.
    pub(super) fn set_predicate(&mut self, rdom: RDomId, predicate: Option<ExprId>) {
        self.change().data.rdoms[rdom].predicate = predicate;
    }

    /// `e` with the variables of `rdom` replaced; `made` holds what is known to become what.
    pub(super) fn with_rvars(
        &mut self,
        e: ExprId,
        rdom: RDomId,
        values: &[ExprId],
        made: &mut BTreeMap<ExprId, ExprId>,
    ) -> ExprId {
        for (dim, &value) in values.iter().enumerate() {
            let variable = self.node(Kind::RVar { rdom, dim: dim as u8 }, ScalarType::I32);
            made.insert(variable, value);
        }
        self.with(e, made)
    }

    /// `e` with some nodes replaced; `made` holds what is known to become what.
    pub(super) fn with(&mut self, e: ExprId, made: &mut BTreeMap<ExprId, ExprId>) -> ExprId {
        let changed = self.change();
        for old in reachable(&changed.data, &[e]) {
            if made.contains_key(&old) {
                continue;
            }
            let Node { kind, ty } = changed.data.exprs[old].clone();
            let new = match children(&kind).iter().all(|c| made[c] == *c) {
                true => old,
                false => changed.intern(with_children(kind, |c| made[&c]), ty),
            };
            made.insert(old, new);
        }
        made[&e]
    }

    /// Makes the elements of a tuple one Func's, along a new first dimension `dim`: all that read element `i` read the
    /// Func at coordinate `i` of it.
    pub(super) fn join_elements(&mut self, func: FuncId, dim: &str) {
        let def = self.data().funcs[func].clone();
        let (var, ty, stage) = (self.var(dim), def.types[0], def.stages[0].clone());
        let at = self.node(Kind::Var(var), ScalarType::I32);
        let mut values = stage.values.iter().copied().enumerate().rev();
        let Some((_, mut value)) = values.next() else { return };
        for (element, own) in values {
            let number = self.change().number(element as i128);
            let is_it = self.node(Kind::Binary(BinOp::Eq, at, number), ScalarType::Bool);
            value = self.node(Kind::Select(is_it, own, value), ty);
        }
        let args = std::iter::once(at).chain(stage.args).collect();
        self.replace((func, 0), StageDef { args, values: vec![value], rdom: None, at: stage.at });
        let joined = &mut self.change().data.funcs[func];
        joined.args.insert(0, var);
        joined.types = vec![ty];
        let detour = Detour { func, joined: true };
        for caller in self.callers[func].clone() {
            self.redirect(caller, &Detours::from([(Callee::Func(func), detour)]));
        }
    }

    /// Gives a Func one definition in place of all that it has.
    pub(super) fn define(&mut self, func: FuncId, def: StageDef) {
        for number in 0..self.data().funcs[func].stages.len() {
            self.forget_calls((func, number));
        }
        self.change().data.funcs[func].stages = vec![def];
        self.note_calls((func, 0));
    }

    /// Puts another definition in the place of one.
    pub(super) fn replace(&mut self, stage: Stage, def: StageDef) {
        self.forget_calls(stage);
        self.change().data.funcs[stage.0].stages[stage.1] = def;
        self.note_calls(stage);
    }

    fn forget_calls(&mut self, stage: Stage) {
        for callee in calls(self.data(), stage.0, &self.data().funcs[stage.0].stages[stage.1]) {
            self.callers[callee].remove(&stage);
        }
    }

    /// Sends the calls of one stage where `to` says.
    pub(super) fn redirect(&mut self, stage: Stage, to: &Detours) {
        let (func, number) = stage;
        self.forget_calls(stage);
        let changed = self.change();
        let old = changed.data.funcs[func].stages[number].clone();
        changed.data.funcs[func].stages[number] = changed.redirected(&old, to);
        self.note_calls(stage);
    }

    fn note_calls(&mut self, stage: Stage) {
        for callee in calls(self.data(), stage.0, &self.data().funcs[stage.0].stages[stage.1]) {
            self.callers[callee].insert(stage);
        }
    }
}

/// The other Funcs that a stage calls.
fn calls(data: &PipelineData, func: FuncId, stage: &StageDef) -> BTreeSet<FuncId> {
    let called = |e: ExprId| match &data.exprs[e].kind {
        Kind::Call { func: f, .. } if *f != func => Some(*f),
        _ => None,
    };
    reachable(data, &expressions(data, stage)).into_iter().filter_map(called).collect()
}

impl Changed {
    fn intern(&mut self, kind: Kind, ty: ScalarType) -> ExprId {
        let node = Node { kind, ty };
        if let Some(&known) = self.known.get(&node) {
            return known;
        }
        let id = self.data.exprs.push(node.clone());
        self.known.insert(node, id);
        id
    }

    /// A constant coordinate.
    fn number(&mut self, value: i128) -> ExprId {
        self.intern(Kind::Const(Scalar::int(ScalarType::I32, value)), ScalarType::I32)
    }

    /// A stage whose calls go where `to` says.
    fn redirected(&mut self, stage: &StageDef, to: &Detours) -> StageDef {
        let rdom = stage.rdom.map(|r| (r, self.redirected_rdom(r, to)));
        let mut made = BTreeMap::new();
        let args = stage.args.iter().map(|&e| self.rewritten(e, to, rdom, &mut made)).collect();
        let values = stage.values.iter().map(|&e| self.rewritten(e, to, rdom, &mut made)).collect();
        StageDef { args, values, rdom: rdom.map(|(_, new)| new), at: stage.at }
    }

    /// The reduction domain with its predicate redirected: a new one if that changes it, because other stages may use
    /// the old one.
    fn redirected_rdom(&mut self, rdom: RDomId, to: &Detours) -> RDomId {
        let Some(predicate) = self.data.rdoms[rdom].predicate else { return rdom };
        let is_sent = |e: ExprId| match &self.data.exprs[e].kind {
            Kind::Call { func, .. } => to.contains_key(&Callee::Func(*func)),
            Kind::Image { image, .. } => to.contains_key(&Callee::Image(*image)),
            _ => false,
        };
        if !reachable(&self.data, &[predicate]).into_iter().any(is_sent) {
            return rdom;
        }
        let mut def = self.data.rdoms[rdom].clone();
        let taken = |name: &str| self.data.rdoms.iter().any(|r| r.name == name);
        def.name = (1..).map(|n| format!("{}${n}", def.name)).find(|n| !taken(n)).expect("some number is unused");
        let new = self.data.rdoms.push(def);
        let predicate = self.rewritten(predicate, to, Some((rdom, new)), &mut BTreeMap::new());
        self.data.rdoms[new].predicate = Some(predicate);
        new
    }

    fn rewritten(
        &mut self,
        e: ExprId,
        to: &Detours,
        rdom: Option<(RDomId, RDomId)>,
        made: &mut BTreeMap<ExprId, ExprId>,
    ) -> ExprId {
        for old in reachable(&self.data, &[e]) {
            if made.contains_key(&old) {
                continue;
            }
            let Node { kind, ty } = self.data.exprs[old].clone();
            let unchanged = children(&kind).iter().all(|c| made[c] == *c);
            let kind = match kind {
                Kind::Call { func, element, args } => {
                    let Detour { func, joined } = to.get(&Callee::Func(func)).copied().unwrap_or(func.into());
                    let mut args: Vec<ExprId> = args.iter().map(|a| made[a]).collect();
                    if joined {
                        args.insert(0, self.number(element.into()));
                    }
                    Kind::Call { func, element: if joined { 0 } else { element }, args }
                }
                Kind::Image { image, args } if to.contains_key(&Callee::Image(image)) => Kind::Call {
                    func: to[&Callee::Image(image)].func,
                    element: 0,
                    args: args.iter().map(|a| made[a]).collect(),
                },
                Kind::RVar { rdom: r, dim } if rdom.is_some_and(|(from, _)| from == r) => {
                    Kind::RVar { rdom: rdom.map_or(r, |(_, new)| new), dim }
                }
                kind if unchanged => kind,
                kind => with_children(kind, |c| made[&c]),
            };
            let new = self.intern(kind, ty);
            made.insert(old, new);
        }
        made[&e]
    }
}

/// The same kind of node over other operands.
fn with_children(kind: Kind, to: impl Fn(ExprId) -> ExprId) -> Kind {
    let all = |args: Vec<ExprId>| args.into_iter().map(&to).collect::<Vec<_>>();
    match kind {
        Kind::Const(_) | Kind::Var(_) | Kind::RVar { .. } | Kind::Param(_) | Kind::ImageDim { .. } => kind,
        Kind::Before { .. } => kind,
        Kind::Unary(op, a) => Kind::Unary(op, to(a)),
        Kind::Cast(a) => Kind::Cast(to(a)),
        Kind::SaturatingCast(a) => Kind::SaturatingCast(to(a)),
        Kind::Reinterpret(a) => Kind::Reinterpret(to(a)),
        Kind::Likely(a) => Kind::Likely(to(a)),
        Kind::LikelyIfInnermost(a) => Kind::LikelyIfInnermost(to(a)),
        Kind::Strict(a) => Kind::Strict(to(a)),
        Kind::Binary(op, a, b) => Kind::Binary(op, to(a), to(b)),
        Kind::Select(c, a, b) => Kind::Select(to(c), to(a), to(b)),
        Kind::Note { note, condition, value, parts } => {
            Kind::Note { note, condition: to(condition), value: to(value), parts: all(parts) }
        }
        Kind::Math(f, args) => Kind::Math(f, all(args)),
        Kind::Sites(values) => Kind::Sites(all(values)),
        Kind::Call { func, element, args } => Kind::Call { func, element, args: all(args) },
        Kind::Image { image, args } => Kind::Image { image, args: all(args) },
    }
}
