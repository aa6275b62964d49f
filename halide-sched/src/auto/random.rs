//! Random legal schedules, for tests and fuzzing: directives are proposed at random and kept where
//! [`crate::plan::resolve`] accepts them.

use crate::plan::{Level, Plan, StagePlan, resolve};
use crate::schedule::{Amount, Directive, LoopKind, Partition, Schedule, Site, Subject, Tail, Verb};
use crate::target::Target;
use halide_core::ids::FuncId;
use halide_core::pipeline::Pipeline;

/// What may be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RandomOptions {
    /// Also what serves only some shapes, or needs larger inputs than the algorithm reads: tails that round up or
    /// shift, promises about bounds, explicit folds, memory of constant size, the order of an output's dimensions. A
    /// run may then end with a fault that says so; where it does not, the values are the same.
    pub any_shape: bool,
    /// Loops of more directives.
    pub long: bool,
    /// Also floats that are contracted or put in another order, so that values are not those of the interpreter.
    pub floats: bool,
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
    if draw.one_in(8) {
        draw.races();
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
    pub(super) gpu: bool,
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

    pub(super) fn say(&mut self, subject: &Subject, verb: Verb) -> bool {
        self.propose(vec![Directive { subject: subject.clone(), verb, at: None }])
    }

    pub(super) fn func(&self, name: &str) -> Option<FuncId> {
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
            self.floats(&subject);
            if stage > 0 {
                self.operation(&subject);
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

    /// The loops of a stage or specialisation as they are now, outermost first.
    pub(super) fn current_loops(&self, subject: &Subject) -> Vec<String> {
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

    pub(super) fn loops(&mut self, subject: &Subject) {
        let most = if self.options.long { 9 } else { 5 };
        for _ in 0..self.below(most) {
            let loops = self.current_loops(subject);
            let Some(var) = self.pick(&loops) else { return };
            let verb = self.loop_verb(var, &loops);
            self.say(subject, verb);
        }
    }

    pub(super) fn loop_verb(&mut self, var: String, loops: &[String]) -> Verb {
        let mark = |kind, factor| (kind, factor);
        let (kind, factor) = match self.below(17) {
            0..=3 => {
                let outer = if self.one_in(3) { var.clone() } else { self.new_name() };
                let inner = self.new_name();
                let constant = Amount::Const(self.one_of([1, 2, 3, 4, 5, 7, 8, 16]));
                let given = if self.options.any_shape && self.one_in(6) { self.parameter() } else { None };
                let factor = given.map_or(constant, Amount::Param);
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
                // Where there is nothing to cut off, `Always` is an error.
                let most = if self.one_in(3) { Partition::Always } else { Partition::Never };
                let how = self.one_of([Partition::Never, most, Partition::Auto]);
                return Verb::Partition { var, how };
            }
            9 | 10 => mark(LoopKind::Vectorized, Some(self.one_of([2, 3, 4, 8, 16]))),
            11 => mark(LoopKind::Vectorized, None),
            12 => mark(LoopKind::Unrolled, Some(self.one_of([2, 3, 4]))),
            13 => mark(LoopKind::Unrolled, None),
            14 => mark(LoopKind::Parallel, None),
            15 => mark(LoopKind::Serial, None),
            _ => mark(LoopKind::Parallel, Some(self.one_of([1, 2, 5]))),
        };
        let natural = kind == LoopKind::Vectorized && self.one_in(4);
        let factor = factor.map(|n| if natural { Amount::Natural } else { Amount::Const(n) });
        let tail = if factor.is_some() { self.tail() } else { Tail::Auto };
        Verb::Mark { kind, var, factor, tail }
    }

    pub(super) fn tail(&mut self) -> Tail {
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
}

pub(super) fn loop_names(stage: &StagePlan) -> Vec<String> {
    stage.loops.iter().map(|l| stage.loop_name(l).to_string()).collect()
}
