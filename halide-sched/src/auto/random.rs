//! Random legal schedules, for tests and fuzzing: directives are proposed at random and kept where
//! [`crate::plan::resolve`] accepts them.

use crate::plan::{Level, Plan, StagePlan, resolve};
use crate::schedule::{
    Amount, CompareOp, Condition, Directive, LoopKind, Memory, Partition, Schedule, Site, Subject, Tail, Term, Verb,
};
use crate::target::Target;
use halide_core::ids::FuncId;
use halide_core::pipeline::{DimField, Pipeline};
use halide_core::types::ScalarType;

/// What may be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RandomOptions {
    /// Also what serves only some shapes, or needs larger inputs than the algorithm reads: tails that round up or
    /// shift, promises about bounds, explicit folds, memory of constant size, the order of an output's dimensions. A
    /// run may then end with a fault that says so; where it does not, the values are the same.
    pub any_shape: bool,
    /// Loops of more directives.
    pub long: bool,
}

/// The legal schedule of `pipeline` that belongs to `seed`.
pub fn random_schedule(pipeline: &Pipeline, target: &Target, seed: u64, options: RandomOptions) -> Schedule {
    draw(pipeline, target, seed, options, false)
}

/// The legal schedule of `pipeline` that belongs to `seed`, with kernels for the graphics processor of `target`.
pub fn random_gpu_schedule(pipeline: &Pipeline, target: &Target, seed: u64, options: RandomOptions) -> Schedule {
    draw(pipeline, target, seed, options, true)
}

fn draw(pipeline: &Pipeline, target: &Target, seed: u64, options: RandomOptions, gpu: bool) -> Schedule {
    let schedule = Schedule::new();
    // Only Funcs with updates that are left inline in great numbers make nothing at all illegal.
    let plan = resolve(pipeline, &schedule, target).or_else(|_| {
        let roots = pipeline.funcs.iter().filter(|f| !f.is_pure()).map(|f| directive(&f.name, Verb::ComputeRoot));
        resolve(pipeline, &Schedule::from(roots.collect::<Vec<_>>()), target)
    });
    let Ok(plan) = plan else { return schedule };
    let mut draw = Draw { pipeline, target, options, gpu, random: Random(seed), schedule, plan, names: 0 };
    if draw.one_in(4) {
        draw.rewrite_graph();
    }
    if draw.one_in(3) {
        draw.reduce_in_parts();
    }
    let order: Vec<String> =
        draw.plan.order().iter().rev().map(|&f| draw.plan.pipeline.funcs[f].name.clone()).collect();
    for func in order {
        draw.place(&func);
        draw.shape(&func);
    }
    if draw.one_in(2) {
        draw.join();
    }
    if draw.one_in(3) {
        draw.hint();
    }
    draw.schedule
}

pub(super) fn directive(func: &str, verb: Verb) -> Directive {
    Directive { subject: Subject::func(func), verb, at: None }
}

pub(super) struct Draw<'p> {
    pub(super) pipeline: &'p Pipeline,
    target: &'p Target,
    pub(super) options: RandomOptions,
    /// Whether kernels are drawn too.
    gpu: bool,
    random: Random,
    /// What has been accepted, and its plan.
    schedule: Schedule,
    pub(super) plan: Plan,
    /// The number of names made.
    names: usize,
}

/// A splitmix64 generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Draw<'_> {
    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.random.next() % n.max(1) as u64) as usize
    }

    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(super) fn pick<T: Clone>(&mut self, list: &[T]) -> Option<T> {
        if list.is_empty() { None } else { Some(list[self.below(list.len())].clone()) }
    }

    /// One of a few; `list` is not empty.
    pub(super) fn one_of<T: Copy, const N: usize>(&mut self, list: [T; N]) -> T {
        list[self.below(N)]
    }

    pub(super) fn new_name(&mut self) -> String {
        self.names += 1;
        format!("t{}", self.names)
    }

    /// Keeps the directives if they are legal all together.
    pub(super) fn propose(&mut self, directives: Vec<Directive>) -> bool {
        let mut longer = self.schedule.clone();
        directives.into_iter().for_each(|d| longer.push(d));
        match resolve(self.pipeline, &longer, self.target) {
            Ok(plan) => {
                (self.schedule, self.plan) = (longer, plan);
                true
            }
            Err(_) => false,
        }
    }

    fn say(&mut self, subject: &Subject, verb: Verb) -> bool {
        self.propose(vec![Directive { subject: subject.clone(), verb, at: None }])
    }

    fn func(&self, name: &str) -> Option<FuncId> {
        self.plan.pipeline.funcs.enumerate().find(|(_, f)| f.name == name).map(|(id, _)| id)
    }

    /// Chooses where a Func is computed and stored.
    fn place(&mut self, func: &str) {
        let subject = Subject::func(func);
        match self.below(8) {
            0 => return,
            1 => drop(self.say(&subject, Verb::ComputeInline)),
            2 | 3 => drop(self.say(&subject, Verb::ComputeRoot)),
            _ => {
                let placed = (0..6).any(|_| match self.site() {
                    Some(site) => self.say(&subject, Verb::ComputeAt(site)),
                    None => false,
                });
                if !placed && !self.say(&subject, Verb::ComputeRoot) {
                    return;
                }
            }
        }
        if self.one_in(2) {
            let verb = self.outer_site(func).map_or(Verb::StoreRoot, Verb::StoreAt);
            self.say(&subject, verb);
        }
        if self.one_in(5) {
            let verb = self.outer_site(func).map_or(Verb::HoistStorageRoot, Verb::HoistStorage);
            self.say(&subject, verb);
        }
    }

    /// Any loop of any Func that has loops.
    fn site(&mut self) -> Option<Site> {
        let hosts: Vec<FuncId> =
            self.plan.order().iter().copied().filter(|&f| self.plan.funcs[f].compute != Level::Inline).collect();
        let host = self.pick(&hosts)?;
        let stage = self.below(self.plan.funcs[host].stages.len());
        let names = loop_names(&self.plan.funcs[host].stages[stage]);
        let var = self.pick(&names)?;
        Some(Site { func: self.plan.pipeline.funcs[host].name.clone(), stage, var })
    }

    /// A loop around the place where a Func is computed; `None` is the root.
    fn outer_site(&mut self, func: &str) -> Option<Site> {
        let mut level = self.plan.funcs[self.func(func)?].compute.clone();
        loop {
            let Level::At { func, stage, var } = level else { return None };
            if self.one_in(3) {
                let next = self.plan.funcs[func].compute.clone();
                level = next;
                continue;
            }
            let names = loop_names(&self.plan.funcs[func].stages[stage]);
            let inner = names.iter().position(|n| *n == var)?;
            let var = names[self.below(inner + 1)].clone();
            return Some(Site { func: self.plan.pipeline.funcs[func].name.clone(), stage, var });
        }
    }

    /// Draws loops and storage for a Func that is not inlined.
    fn shape(&mut self, func: &str) {
        let Some(id) = self.func(func) else { return };
        if self.plan.funcs[id].compute == Level::Inline {
            return;
        }
        if self.options.any_shape {
            self.bounds(func);
        }
        for stage in 0..self.plan.funcs[id].stages.len() {
            let subject = Subject { stage, ..Subject::func(func) };
            if stage > 0 && self.one_in(2) {
                self.say(&subject, Verb::Atomic { any_order: false });
            }
            if self.gpu && !self.one_in(5) {
                self.kernel(&subject);
            } else {
                self.loops(&subject);
            }
            if self.one_in(6) {
                self.specialize(&subject);
            }
        }
        self.storage(func);
    }

    /// Loops over blocks and threads, where they may be.
    fn kernel(&mut self, subject: &Subject) {
        if self.one_in(8) && self.say(subject, Verb::GpuSingleThread) {
            return;
        }
        for _ in 0..3 {
            let tiled = self.tiles(subject);
            if !tiled.is_empty() && self.propose(tiled) {
                break;
            }
        }
        for _ in 0..self.below(4) {
            let loops = self.current_loops(subject);
            let Some(var) = self.pick(&loops) else { return };
            let verb = match self.below(5) {
                0 => Verb::Mark { kind: LoopKind::GpuThreads, var, factor: None, tail: Tail::Auto },
                1 => {
                    let kind = self.one_of([LoopKind::GpuThreads, LoopKind::GpuLanes]);
                    Verb::Mark { kind, var, factor: None, tail: Tail::Auto }
                }
                2 => Verb::Mark { kind: LoopKind::GpuBlocks, var, factor: None, tail: Tail::Auto },
                _ => self.loop_verb(var, &loops),
            };
            self.say(subject, verb);
        }
    }

    /// Tiles of one to three loops as blocks, the points of a tile as threads. What is not tiled goes inside of all, or
    /// between blocks and threads.
    fn tiles(&mut self, subject: &Subject) -> Vec<Directive> {
        let mut rest = self.current_loops(subject);
        let (mut outer, mut inner, mut verbs) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..1 + self.below(3) {
            if rest.is_empty() {
                break;
            }
            let var = rest.remove(self.below(rest.len()));
            let (o, i) = (self.new_name(), self.new_name());
            let factor = Amount::Const(self.one_of([1, 2, 3, 4, 8]));
            verbs.push(Verb::Split { var, outer: o.clone(), inner: i.clone(), factor, tail: self.tail() });
            outer.push(o);
            inner.push(i);
        }
        let threads: Vec<String> = inner.clone();
        let inside = if self.one_in(3) { inner.into_iter().chain(rest) } else { rest.into_iter().chain(inner) };
        verbs.push(Verb::Reorder(inside.chain(outer.clone()).collect()));
        let mark = |kind, var| Verb::Mark { kind, var, factor: None, tail: Tail::Auto };
        verbs.extend(outer.into_iter().map(|var| mark(LoopKind::GpuBlocks, var)));
        let most = self.below(threads.len() + 1);
        // The innermost may be lanes of a subgroup.
        let lanes = self.one_in(3);
        for (i, var) in threads.into_iter().take(most + 1).enumerate() {
            verbs.push(mark(if lanes && i == 0 { LoopKind::GpuLanes } else { LoopKind::GpuThreads }, var));
        }
        verbs.into_iter().map(|verb| Directive { subject: subject.clone(), verb, at: None }).collect()
    }

    fn specialize(&mut self, subject: &Subject) {
        let condition = self.condition();
        if self.say(subject, Verb::Specialize(condition)) {
            let mut variant = subject.clone();
            variant.specializations.push(0);
            self.loops(&variant);
        }
    }

    fn condition(&mut self) -> Condition {
        let mut terms: Vec<Term> = Vec::new();
        for image in self.pipeline.images.iter() {
            terms.extend((0..image.dims).map(|d| Term::Dim(image.name.clone(), DimField::Extent, d)));
        }
        for &output in &self.pipeline.outputs {
            let def = &self.pipeline.funcs[output];
            terms.extend((0..def.dims()).map(|d| Term::Dim(def.name.clone(), DimField::Extent, d)));
        }
        terms.extend(self.pipeline.params.iter().filter(|p| p.ty.is_int()).map(|p| Term::Param(p.name.clone())));
        let bools: Vec<String> =
            self.pipeline.params.iter().filter(|p| p.ty == ScalarType::Bool).map(|p| p.name.clone()).collect();
        if self.one_in(3)
            && let Some(name) = self.pick(&bools)
        {
            return Condition::Param(name);
        }
        let term = self.pick(&terms).unwrap_or(Term::Const(0));
        let limit = Term::Const(self.one_of([0, 1, 4, 7, 8, 16]));
        if self.one_in(3) {
            let rest = Term::Binary('%', Box::new(term), Box::new(Term::Const(2)));
            return Condition::Compare(CompareOp::Eq, rest, Term::Const(0));
        }
        let op = self.one_of([CompareOp::Ge, CompareOp::Gt, CompareOp::Lt, CompareOp::Ne]);
        Condition::Compare(op, term, limit)
    }

    /// The loops of a stage or specialisation as they are now, outermost first.
    fn current_loops(&self, subject: &Subject) -> Vec<String> {
        let Some(func) = self.func(&subject.func) else { return Vec::new() };
        let mut stage = &self.plan.funcs[func].stages[subject.stage];
        for &index in &subject.specializations {
            match stage.variants.get(index) {
                Some((_, variant)) => stage = variant,
                None => return Vec::new(),
            }
        }
        loop_names(stage)
    }

    fn loops(&mut self, subject: &Subject) {
        let most = if self.options.long { 9 } else { 5 };
        for _ in 0..self.below(most) {
            let loops = self.current_loops(subject);
            let Some(var) = self.pick(&loops) else { return };
            let verb = self.loop_verb(var, &loops);
            self.say(subject, verb);
        }
    }

    fn loop_verb(&mut self, var: String, loops: &[String]) -> Verb {
        let mark = |kind, factor| (kind, factor);
        let (kind, factor) = match self.below(16) {
            0..=3 => {
                let outer = if self.one_in(3) { var.clone() } else { self.new_name() };
                let inner = self.new_name();
                let factor = Amount::Const(self.one_of([1, 2, 3, 4, 5, 7, 8, 16]));
                return Verb::Split { var, outer, inner, factor, tail: self.tail() };
            }
            4 | 5 => {
                let mut some = loops.to_vec();
                for i in (1..some.len()).rev() {
                    let other = self.below(i + 1);
                    some.swap(i, other);
                }
                some.truncate(2 + self.below(some.len()));
                return Verb::Reorder(some);
            }
            6 => {
                let outer = self.pick(loops).unwrap_or_else(|| var.clone());
                return Verb::Fuse { inner: var, outer, fused: self.new_name() };
            }
            7 => return Verb::Rename { from: var, to: self.new_name() },
            8 => {
                let how = self.one_of([Partition::Never, Partition::Always, Partition::Auto]);
                return Verb::Partition { var, how };
            }
            9 | 10 => mark(LoopKind::Vectorized, Some(self.one_of([2, 3, 4, 8, 16]))),
            11 => mark(LoopKind::Vectorized, None),
            12 => mark(LoopKind::Unrolled, Some(self.one_of([2, 3, 4]))),
            13 => mark(LoopKind::Unrolled, None),
            14 => mark(LoopKind::Parallel, None),
            _ => mark(LoopKind::Parallel, Some(self.one_of([1, 2, 5]))),
        };
        let natural = kind == LoopKind::Vectorized && self.one_in(4);
        let factor = factor.map(|n| if natural { Amount::Natural } else { Amount::Const(n) });
        let tail = if factor.is_some() { self.tail() } else { Tail::Auto };
        Verb::Mark { kind, var, factor, tail }
    }

    fn tail(&mut self) -> Tail {
        use Tail::*;
        if self.options.any_shape {
            self.one_of([
                Auto,
                Auto,
                RoundUp,
                GuardWithIf,
                Predicate,
                PredicateLoads,
                PredicateStores,
                ShiftInwards,
                ShiftInwardsAndBlend,
                RoundUpAndBlend,
            ])
        } else {
            self.one_of([Auto, Auto, Auto, GuardWithIf, Predicate])
        }
    }

    fn dims(&self, func: &str) -> Vec<String> {
        let Some(id) = self.func(func) else { return Vec::new() };
        let p = &self.plan.pipeline;
        p.funcs[id].args.iter().map(|&v| p.vars[v].clone()).collect()
    }

    fn bounds(&mut self, func: &str) {
        if !self.one_in(5) {
            return;
        }
        let dims = self.dims(func);
        let Some(var) = self.pick(&dims) else { return };
        let verb = match self.below(4) {
            0 => Verb::Bound { var, min: Amount::Const(0), extent: Amount::Const(self.one_of([1, 4, 16])) },
            1 => Verb::BoundExtent { var, extent: Amount::Const(self.one_of([3, 8])) },
            2 => Verb::AlignBounds { var, modulus: self.one_of([2, 3, 8]), remainder: self.one_of([0, 1, -1]) },
            _ => Verb::AlignExtent { var, modulus: self.one_of([2, 5]) },
        };
        self.say(&Subject::func(func), verb);
    }

    fn storage(&mut self, func: &str) {
        let subject = Subject::func(func);
        let mut dims = self.dims(func);
        // An output's order asks for a caller who keeps it so.
        let ours = self.func(func).is_some_and(|f| !self.plan.is_output(f));
        if (ours || self.options.any_shape) && self.one_in(4) {
            for i in (1..dims.len()).rev() {
                let other = self.below(i + 1);
                dims.swap(i, other);
            }
            self.say(&subject, Verb::ReorderStorage(dims.clone()));
        }
        let Some(var) = self.pick(&dims) else { return };
        if self.one_in(4) {
            let multiple = self.one_of([2, 5, 16]);
            self.say(&subject, Verb::AlignStorage { var: var.clone(), multiple });
        }
        if self.gpu && self.one_in(4) {
            let memory = self.one_of([
                Memory::Shared,
                Memory::Shared,
                Memory::Global,
                Memory::Stack,
                Memory::Register,
                Memory::Register,
            ]);
            self.say(&subject, Verb::StoreIn(memory));
        }
        if self.gpu && self.one_in(8) {
            let to_device = self.one_in(2);
            self.say(&subject, Verb::Copy { to_device });
        }
        if self.one_in(6) {
            let memory = match self.options.any_shape {
                true => self.one_of([Memory::Heap, Memory::Stack, Memory::Register, Memory::Auto]),
                false => self.one_of([Memory::Heap, Memory::Auto]),
            };
            self.say(&subject, Verb::StoreIn(memory));
        }
        if self.options.any_shape && self.one_in(6) {
            let (factor, forward) = (self.one_of([1, 2, 4, 8]), !self.one_in(4));
            self.say(&subject, Verb::FoldStorage { var, factor, forward });
        }
    }
}

pub(super) fn loop_names(stage: &StagePlan) -> Vec<String> {
    stage.loops.iter().map(|l| stage.loop_name(l).to_string()).collect()
}
