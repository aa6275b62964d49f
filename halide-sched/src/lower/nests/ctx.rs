//! State that the early passes share: the program's tables while they grow, one template per definition, and one
//! instance per place where a definition's loops stand.

use crate::lower::nests::call::{Needs, callees};
use crate::lower::nests::effects::{self, Row, Told};
use crate::lower::nests::handed;
use crate::lower::nests::likely_if_innermost;
use crate::lower::nests::translate::{Env, Translator};
use crate::lower::options::LowerOptions;
use crate::lower::regions::rules::{Rule, dense_dim, rules, rules_of_pixels};
pub(crate) use crate::plan::Source;
use crate::plan::{Level, Plan, StagePlan, StageVar, StorageDim, StoragePart};
use halide_core::ids::{FuncId, IdVec, NoteId};
use halide_core::shape::BufferOf;
use halide_ir::hash::Set;
use halide_ir::{
    BufId, BufferInfo, BufferRole, DimField, Expr, ExprKind, LoopId, Memory, Program, Scope, Side, Stage, Stream, Sym,
    build,
};
use halide_solve::simplify::walk::nodes;
use std::collections::{BTreeMap, BTreeSet};

/// A definition in loop IR over placeholders: what one point of it computes.
pub(crate) struct Template {
    /// One placeholder (a `Temp`) per dimension of the Func, for its pure variables.
    pub(crate) dims: Vec<Sym>,
    /// One placeholder per dimension of the reduction domain, with its first value and extent.
    pub(crate) rvars: Vec<(Sym, Expr, Expr)>,
    /// For each dimension of the Func: whether the left-hand side is the Func's own variable there.
    pub(crate) pure: Vec<bool>,
    /// The sites that it stores to, in order; all that this reads is read before. At least one.
    pub(crate) sites: Vec<TemplateSite>,
    /// The domain's predicate.
    pub(crate) predicate: Option<Expr>,
    /// Every distinct read of a Func or an image.
    pub(crate) reads: Vec<ReadSite>,
    /// Every distinct call of a Func that is inlined: which, and at what coordinates.
    pub(crate) calls: Vec<(FuncId, Vec<Expr>)>,
    /// Effects: requirements and prints at each point, or once for the ranges of the domain.
    pub(crate) told: Vec<Told>,
    /// The needs of the closure that computes it, if one does.
    pub(crate) needs: Option<Needs>,
    /// The Func, if this is its first definition: what that reads of its own Func is there before the run.
    first_of: Option<FuncId>,
}

/// A point that a definition stores to.
pub(crate) struct TemplateSite {
    /// Left-hand side coordinates.
    pub(crate) lhs: Vec<Expr>,
    /// One value per tuple element.
    pub(crate) values: Vec<Expr>,
    /// Names for the coordinates and then the values, if the definition has several sites.
    pub(crate) names: Vec<Sym>,
}

impl TemplateSite {
    /// The coordinates and the values.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.lhs.iter().chain(&self.values)
    }
}

impl Template {
    /// Every expression with what rewrites it, but for the ranges of the domain, which read nothing.
    pub(crate) fn roots_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let told = self.told.iter_mut().flat_map(Told::exprs_mut);
        let stored = self.sites.iter_mut().flat_map(|s| s.lhs.iter_mut().chain(&mut s.values));
        stored.chain(&mut self.predicate).chain(told)
    }
    /// Finds the reads anew.
    pub(crate) fn collect_reads(&mut self, sources: &IdVec<BufId, Source>) {
        // A read of the predicate is done at every point, so it comes first.
        let ranges = self.rvars.iter().flat_map(|(_, a, b)| [a, b]);
        let corners = self.needs.iter().flat_map(|needs| &needs.reads);
        let always = self.predicate.iter().chain(ranges).chain(corners).map(|e| (e, false));
        let guarded = self.sites.iter().flat_map(TemplateSite::exprs).map(|e| (e, true));
        let told = self.told.iter().flat_map(|t| t.exprs().map(|e| (e, t.guarded)));
        self.reads = collect_reads(sources, always.chain(guarded).chain(told));
        self.reads.retain(|read| self.first_of.is_none_or(|f| read.source != Source::Func(f)));
    }
}

/// A read in a template.
pub(crate) struct ReadSite {
    /// The Func or image that is read.
    pub(crate) source: Source,
    /// The coordinates of the read.
    pub(crate) args: Vec<Expr>,
    /// True if it is read only where the domain's predicate holds, if there is one.
    pub(crate) guarded: bool,
}

/// The loops of one variant of one definition at one place.
pub(crate) struct Instance<'a> {
    /// The Func that the loops compute.
    pub(crate) func: FuncId,
    /// Index of the definition among those of the Func.
    pub(crate) stage: usize,
    /// Its loops and transforms.
    pub(crate) plan: &'a StagePlan,
    /// The scope in which the Func is computed.
    pub(crate) at: Scope,
    /// The loop of each leaf variable.
    pub(crate) leaves: BTreeMap<StageVar, LoopId>,
    /// The leaf variables whose loops are shared with other definitions, with their values in this one.
    pub(crate) shared: BTreeMap<StageVar, SharedLeaf>,
}

/// A loop variable of a definition whose loop runs for other definitions as well.
#[derive(Clone)]
pub(crate) struct SharedLeaf {
    /// The variable: that of the loop and the offset.
    pub(crate) value: Expr,
    /// The distance that alignment adds to the loop's variable.
    pub(crate) offset: Expr,
    /// The first and the number of its own values, if the loop may run for longer than this definition.
    pub(crate) own: Option<(Expr, Expr)>,
    /// The nearest of its own values, in terms of the nearest ones outside; what is computed in an iteration that is
    /// none of this definition's is for that one. `None` if it is made of data or of other variables.
    pub(crate) within: Option<Expr>,
    /// The first and the last of its own values, of which `within` is one if there are any: the last may be less than
    /// the first.
    pub(crate) ends: Option<(Expr, Expr)>,
}

impl Instance<'_> {
    /// The value of a leaf variable in the statements of this definition.
    pub(crate) fn leaf(&self, var: StageVar) -> Expr {
        self.shared.get(&var).map_or_else(|| build::loop_var(self.leaves[&var]), |s| s.value.clone())
    }

    /// The value of a leaf variable anywhere in its loop, which may run for others as well.
    pub(crate) fn leaf_within(&self, var: StageVar) -> Expr {
        let within = self.shared.get(&var).and_then(|s| s.within.clone());
        within.unwrap_or_else(|| self.leaf(var))
    }

    /// Returns true if the value of a leaf variable is known outside of this definition's statements.
    pub(crate) fn is_known(&self, var: StageVar) -> bool {
        self.shared.get(&var).is_none_or(|s| s.within.is_some())
    }
}

/// The place of a loop among the nests; what a schedule says of it is in its row of the program.
pub(crate) struct NestLoop {
    /// The instance it belongs to: an index into [`Ctx::instances`].
    pub(crate) instance: usize,
    /// The other instances that share it, in the order in which they come.
    pub(crate) others: Vec<usize>,
    /// The first value and the extent, if the loop is shared.
    pub(crate) bounds: Option<(Expr, Expr)>,
    /// The scope that holds it.
    pub(crate) parent: Scope,
}

/// The shared state.
pub(crate) struct Ctx<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) options: &'a LowerOptions,
    pub(crate) program: Program,
    pub(crate) templates: BTreeMap<(FuncId, usize), Template>,
    pub(crate) instances: Vec<Instance<'a>>,
    pub(crate) loops: IdVec<LoopId, NestLoop>,
    /// The definitions that read a Func or an image, in realization order. Only of Funcs that are used.
    pub(crate) consumers: BTreeMap<Source, Vec<(FuncId, usize)>>,
    /// The Funcs whose values reach an output. A Func may be called and yet not be used: an argument that an inlined
    /// Func ignores is read by nobody.
    pub(crate) used: BTreeSet<FuncId>,
    /// The scopes in which each Func is computed; several where its consumer is specialised.
    pub(crate) computed: BTreeMap<FuncId, Vec<Scope>>,
    /// The row of each note in the program's tables.
    pub(crate) notes: IdVec<NoteId, Row>,
    /// The scopes in which each Func is stored.
    pub(crate) stored: BTreeMap<FuncId, Vec<Scope>>,
    /// The Funcs that were stored, in order, once for each scope.
    pub(crate) stores: Vec<FuncId>,
    /// The number of scopes in which Funcs are computed, over all Funcs.
    pub(crate) computations: usize,
    /// The rules that the caller's buffers must follow.
    pub(crate) rules: Vec<Rule>,
}

impl<'a> Ctx<'a> {
    /// Tables and templates for `plan`; no statements yet.
    pub(crate) fn new(plan: &'a Plan, options: &'a LowerOptions) -> Ctx<'a> {
        let mut program = empty_program(plan, options);
        let mut templates = BTreeMap::new();
        let mut next_temp = 0;
        let sources = sources_of(&program);
        let mut translator = Translator::new(plan, &program.func_buffers, &program.image_buffers);
        for &func in &plan.pipeline.order {
            if plan.funcs[func].compute == Level::Inline {
                continue;
            }
            for stage in 0..plan.pipeline.funcs[func].stages.len() {
                let made = template(plan, &sources, &mut translator, func, stage, &mut next_temp);
                templates.insert((func, stage), made);
            }
        }
        program.next_temp = next_temp;
        let mut rules = rules(plan, &program, &mut translator);
        let of_pixels = rules_of_pixels(plan, &program, options.pixels);
        for (buf, dim, _) in of_pixels.iter().map(|rule| rule.property).filter(|(.., field)| *field == DimField::Extent)
        {
            // The last dimension, whose extent is that of a pixel, is the one whose neighbours lie beside each other.
            program.buffers[buf].unit_stride = Some(dim);
        }
        rules.extend(of_pixels);
        let notes = effects::rows(&plan.pipeline, &mut program);
        let used = used(&plan.pipeline.outputs, &templates);
        let mut consumers: BTreeMap<Source, Vec<(FuncId, usize)>> = BTreeMap::new();
        for (&at, t) in templates.iter().filter(|((func, _), _)| used.contains(func)) {
            for read in &t.reads {
                let list = consumers.entry(read.source).or_default();
                if list.last() != Some(&at) {
                    list.push(at);
                }
            }
        }
        for (func, buffers) in program.func_buffers.enumerate() {
            let stream = streams(plan, func, !consumers.contains_key(&Source::Func(func)));
            buffers.iter().for_each(|b| program.buffers[*b].stream = stream);
        }
        Ctx {
            plan,
            options,
            program,
            templates,
            notes,
            consumers,
            used,
            instances: Vec::new(),
            loops: IdVec::new(),
            rules,
            computed: BTreeMap::new(),
            stored: BTreeMap::new(),
            stores: Vec::new(),
            computations: 0,
        }
    }

    /// The scopes around `scope`, innermost first, itself first, `Root` last.
    pub(crate) fn enclosing(&self, scope: Scope) -> impl Iterator<Item = Scope> + use<'_, 'a> {
        std::iter::successors(Some(scope), |s| match s {
            Scope::Root => None,
            Scope::Body(l) => Some(self.loops[*l].parent),
        })
    }

    /// Returns true if `inner` is `outer` or lies inside it.
    pub(crate) fn is_inside(&self, inner: Scope, outer: Scope) -> bool {
        self.enclosing(inner).any(|s| s == outer)
    }

    /// The scope in which `func` is stored that is computed at `place`; `None` of an output.
    pub(crate) fn storage_of(&self, func: FuncId, place: Scope) -> Option<Scope> {
        let stored = self.stored.get(&func)?;
        self.enclosing(place).find(|s| stored.contains(s))
    }

    /// The loops between `outer` (exclusive) and `inner` (inclusive), outermost first.
    pub(crate) fn loops_between(&self, outer: Scope, inner: Scope) -> Vec<LoopId> {
        let mut list = Vec::new();
        for s in self.enclosing(inner) {
            match s {
                Scope::Body(l) if s != outer => list.push(l),
                _ => break,
            }
        }
        list.reverse();
        list
    }

    /// Returns true if `func` is an output of the pipeline.
    pub(crate) fn is_output(&self, func: FuncId) -> bool {
        self.plan.pipeline.outputs.contains(&func)
    }

    /// The name of a definition.
    pub(crate) fn stage_name(&self, func: FuncId, stage: usize) -> String {
        let suffix = if stage == 0 { String::new() } else { format!(".update({})", stage - 1) };
        format!("{}{suffix}", self.name(func))
    }

    /// The names that the algorithm has for the placeholders of a definition.
    pub(crate) fn placeholder_names(&self, (func, stage): (FuncId, usize)) -> BTreeMap<Sym, String> {
        let pipeline = &self.plan.pipeline;
        let (template, def) = (&self.templates[&(func, stage)], &pipeline.funcs[func]);
        let vars = template.dims.iter().zip(def.args.iter().map(|&v| pipeline.vars[v].clone()));
        let mut names: BTreeMap<Sym, String> = vars.map(|(s, name)| (*s, name)).collect();
        let args: Vec<String> = def.args.iter().map(|&v| pipeline.vars[v].clone()).collect();
        names.extend(template.needs.iter().flat_map(|needs| needs.names(&args)));
        if let Some(rdom) = def.stages[stage].rdom {
            let dims = template.rvars.iter().zip(&pipeline.rdoms[rdom].dims);
            names.extend(dims.map(|((s, ..), dim)| (*s, dim.name.clone())));
        }
        names
    }

    /// The name of a Func.
    pub(crate) fn name(&self, func: FuncId) -> &'a str {
        &self.plan.pipeline.funcs[func].name
    }
}

/// Returns the stores of a Func that are non-temporal: all, those to a large buffer, or none. Updates of it read, or
/// change in part, what came before.
fn streams(plan: &Plan, func: FuncId, unread: bool) -> Stream {
    let stages = &plan.funcs[func].stages;
    let mut asked = stages.iter().flat_map(|s| std::iter::once(s).chain(s.variants.iter().map(|(_, v)| v)));
    if asked.clone().all(|s| s.options.stream == Some(true)) {
        return Stream::Always;
    }
    if asked.any(|s| s.options.stream == Some(false)) {
        return Stream::Never;
    }
    let output = plan.pipeline.outputs.contains(&func);
    if output && unread && stages.len() == 1 { Stream::IfLarge } else { Stream::Never }
}

/// The outputs and all that their definitions read, over any number of others.
fn used(outputs: &[FuncId], templates: &BTreeMap<(FuncId, usize), Template>) -> BTreeSet<FuncId> {
    let mut used = BTreeSet::new();
    let mut todo = outputs.to_vec();
    while let Some(func) = todo.pop() {
        if !used.insert(func) {
            continue;
        }
        for t in templates.range((func, 0)..=(func, usize::MAX)).map(|(_, t)| t) {
            todo.extend(t.reads.iter().filter_map(|r| match r.source {
                Source::Func(f) => Some(f),
                Source::Image(_) => None,
            }));
        }
    }
    used
}

fn empty_program(plan: &Plan, options: &LowerOptions) -> Program {
    let pipeline = &plan.pipeline;
    let mut buffers: IdVec<BufId, BufferInfo> = IdVec::new();
    let mut image_buffers = IdVec::new();
    for (id, image) in pipeline.images.enumerate() {
        image_buffers.push(buffers.push(BufferInfo {
            name: image.name.clone(),
            elem: image.ty,
            dims: image.dims,
            role: BufferRole::Input(id),
            order: (0..image.dims).collect(),
            align: vec![1; image.dims],
            fold: vec![None; image.dims],
            unit_stride: dense_dim(
                pipeline,
                BufferOf::Image(id),
                (image.dims > 0 && !options.generic_strides).then_some(0),
            ),
            memory: Memory::Auto,
            keeps: false,
            stream: Stream::Never,
            side: Side::Host,
        }));
    }
    let mut func_buffers: IdVec<FuncId, Vec<BufId>> = pipeline.funcs.iter().map(|_| Vec::new()).collect();
    let mut outputs = 0;
    // Output buffers are numbered in the order of the outputs, so those come first.
    for func in pipeline.outputs.iter().chain(&pipeline.order).copied() {
        if !func_buffers[func].is_empty() {
            continue;
        }
        let (def, func_plan) = (&pipeline.funcs[func], &plan.funcs[func]);
        let is_output = pipeline.outputs.contains(&func);
        // Parts of dimensions come with `split_storage`; until then a dimension is where its inner part will be.
        let whole = |s: &&StorageDim| s.part == StoragePart::Whole;
        let mut align = vec![1; def.dims()];
        func_plan.storage.iter().filter(whole).for_each(|s| align[s.dim] = s.align);
        let is_outer = |s: &&StorageDim| matches!(s.part, StoragePart::Outer(_));
        let order: Vec<usize> = func_plan.storage.iter().filter(|s| !is_outer(s)).map(|s| s.dim).collect();
        for (element, &elem) in def.types.iter().enumerate() {
            let name = if def.types.len() == 1 { def.name.clone() } else { format!("{}.{element}", def.name) };
            let role = if is_output { BufferRole::Output(outputs) } else { BufferRole::Internal };
            outputs += is_output as u32;
            func_buffers[func].push(
                buffers.push(BufferInfo {
                    name,
                    elem,
                    dims: def.dims(),
                    role,
                    order: order.clone(),
                    align: align.clone(),
                    fold: vec![None; def.dims()],
                    unit_stride: order
                        .first()
                        .copied()
                        .filter(|_| !options.generic_strides)
                        .and_then(|usual| dense_dim(pipeline, BufferOf::Output(func), Some(usual)))
                        .filter(|_| is_output),
                    memory: func_plan.memory,
                    keeps: pipeline.keeps(func),
                    stream: Stream::Never,
                    side: Side::Host,
                }),
            );
        }
    }
    let of_instructions = handed::callees(plan, &func_buffers, &image_buffers);
    let callees = callees(plan, &func_buffers).into_iter().chain(of_instructions).collect();
    Program {
        func_names: pipeline.funcs.iter().map(|f| f.name.clone()).collect(),
        buffers,
        image_buffers,
        func_buffers,
        params: pipeline.params.iter().map(|p| (p.name.clone(), p.ty)).collect(),
        callees,
        ..Program::empty(Stage::Nest)
    }
}

/// Returns the Func or image that multi-dimensional reads of each buffer read.
pub(crate) fn sources_of(program: &Program) -> IdVec<BufId, Source> {
    let mut owner: BTreeMap<BufId, FuncId> = BTreeMap::new();
    for (func, bufs) in program.func_buffers.enumerate() {
        owner.extend(bufs.iter().map(|&b| (b, func)));
    }
    program
        .buffers
        .enumerate()
        .map(|(buf, info)| match info.role {
            BufferRole::Input(image) => Source::Image(image),
            BufferRole::Output(_) | BufferRole::Internal => Source::Func(owner[&buf]),
        })
        .collect()
}

fn template(
    plan: &Plan,
    sources: &IdVec<BufId, Source>,
    translator: &mut Translator<'_>,
    func: FuncId,
    stage: usize,
    next_temp: &mut u32,
) -> Template {
    let pipeline = &plan.pipeline;
    let def = &pipeline.funcs[func];
    let stage_def = &def.stages[stage];
    let mut placeholder = || {
        *next_temp += 1;
        Sym::Temp(*next_temp - 1)
    };
    let dims: Vec<Sym> = def.args.iter().map(|_| placeholder()).collect();
    let rdom = stage_def.rdom.map(|r| &pipeline.rdoms[r]);
    let rvar_syms: Vec<Sym> = rdom.iter().flat_map(|r| &r.dims).map(|_| placeholder()).collect();
    let vars = def.args.iter().copied().zip(dims.iter().map(|&s| build::sym(s))).collect();
    let in_scope = stage_def.rdom.map(|r| (r, rvar_syms.iter().map(|&s| build::sym(s)).collect()));
    let innermost = likely_if_innermost::placeholders(plan, func, stage, &dims, &rvar_syms);
    let mut env = Env::of_stage(vars, in_scope, func, innermost, plan.funcs[func].stages[stage].float);
    let count = pipeline.sites(stage_def);
    let (mut sites, mut told) = (Vec::new(), Vec::new());
    for site in 0..count {
        env.set_site(site);
        let lhs: Vec<Expr> = stage_def.args.iter().map(|&a| translator.index(a, &mut env)).collect();
        let values: Vec<Expr> = stage_def.values.iter().map(|&v| translator.data(v, &mut env)).collect();
        let named = if count > 1 { lhs.len() + values.len() } else { 0 };
        sites.push(TemplateSite { lhs, values, names: (0..named).map(|_| placeholder()).collect() });
        effects::of_stage(translator, stage_def, &mut env, &mut told);
    }
    let predicate = rdom.and_then(|r| r.predicate).map(|p| translator.data(p, &mut env));
    let mut rvars = Vec::new();
    for (s, d) in rvar_syms.iter().zip(rdom.iter().flat_map(|r| &r.dims)) {
        rvars.push((*s, translator.index(d.min, &mut env), translator.index(d.extent, &mut env)));
    }
    let is_own = |(d, s): (usize, &Sym)| sites.iter().all(|site| site.lhs[d] == build::sym(*s));
    let pure = dims.iter().enumerate().map(is_own).collect();
    let calls = translator.take_calls();
    let (reads, first_of) = (Vec::new(), (stage == 0).then_some(func));
    let needs = Needs::of(plan, func, translator.funcs, &mut placeholder);
    let mut template = Template { dims, rvars, pure, sites, predicate, reads, calls, told, needs, first_of };
    template.collect_reads(sources);
    template
}

fn collect_reads<'e>(sources: &IdVec<BufId, Source>, roots: impl Iterator<Item = (&'e Expr, bool)>) -> Vec<ReadSite> {
    let mut reads = Vec::new();
    let (mut seen, mut distinct) = (Set::default(), Set::default());
    for (root, guarded) in roots {
        for e in nodes(root, |e| seen.contains(&e.id())) {
            seen.insert(e.id());
            if let ExprKind::Read { buf, args } = e.kind()
                && distinct.insert((sources[*buf], args.clone()))
            {
                reads.push(ReadSite { source: sources[*buf], args: args.to_vec(), guarded });
            }
        }
    }
    reads
}
