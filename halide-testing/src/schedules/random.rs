//! Random legal schedules, for tests and fuzzing: directives are proposed at random and kept where
//! [`halide_sched::plan::resolve`] accepts them.

use super::aim::{Aim, LoopWord, row};
use halide_core::ids::FuncId;
use halide_core::pipeline::Pipeline;
use halide_ir::target::Target;
use halide_sched::plan::{Level, Plan, StagePlan, resolve};
use halide_sched::schedule::{Directive, Schedule, Subject, Verb};

/// The options of random schedules: optional kinds of directives, length, and structure.
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
    /// The structure that the schedule is drawn for.
    pub aim: Aim,
}

/// The most that resolving may cost in all: a schedule whose drawing takes longer stays as it is by then.
const EFFORT: usize = 6_000;

/// The cost of a directive of an update, whose iterations are asked for what they share; that of others is 1.
const UPDATE: usize = 8;

/// The legal schedule of `pipeline` that belongs to `seed`.
pub fn random_schedule(pipeline: &Pipeline, target: &Target, seed: u64, options: RandomOptions) -> Schedule {
    draw(pipeline, target, seed, options, false)
}

/// The legal schedule of `pipeline` that belongs to `seed`, with kernels for the GPU of `target`.
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
    let at = if let Aim::Loops(n) | Aim::Folds(n) = options.aim { n as usize * STEP } else { seed as usize % 1000 };
    let (random, row) = (Random(seed), row());
    let mut draw = Draw { pipeline, target, options, gpu, random, schedule, plan, names: 0, row, at, effort: EFFORT };
    draw.everything();
    draw.schedule
}

/// The distance between the places in the row at which two numbers begin.
const STEP: usize = 9;

pub(super) fn directive(func: &str, verb: Verb) -> Directive {
    Directive { subject: Subject::func(func), verb, at: None }
}

pub(super) struct Draw<'p> {
    pub(super) pipeline: &'p Pipeline,
    target: &'p Target,
    pub(super) options: RandomOptions,
    /// True if kernels are drawn too.
    pub(super) gpu: bool,
    random: Random,
    /// The directives accepted so far; `plan` is their plan.
    schedule: Schedule,
    pub(super) plan: Plan,
    /// The number of names made.
    names: usize,
    /// A row of directives with every triple, and the place in it.
    pub(super) row: Vec<LoopWord>,
    pub(super) at: usize,
    /// The rest of what resolving may cost.
    effort: usize,
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
    fn everything(&mut self) {
        if self.options.aim == Aim::Rows {
            return self.any_rows();
        }
        if self.options.aim == Aim::Wrappers {
            self.wrappers();
        } else if self.one_in(4) {
            self.rewrite_graph();
        }
        if self.one_in(3) {
            self.reduce_in_parts();
        }
        self.join_elements();
        let order: Vec<String> =
            self.plan.order().iter().rev().map(|&f| self.plan.pipeline.funcs[f].name.clone()).collect();
        for func in order {
            self.place(&func);
            self.shape(&func);
        }
        if self.options.aim == Aim::Groups || self.one_in(2) {
            self.join();
        }
        if self.one_in(3) {
            self.hint();
        }
        if self.one_in(8) {
            self.races();
        }
    }

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
        let said = self.schedule.directives().iter().chain(&directives);
        let cost = said.map(|d| if d.subject.stage > 0 { UPDATE } else { 1 }).sum::<usize>() + self.plan.funcs.len();
        if self.effort < cost {
            return false;
        }
        self.effort -= cost;
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

    /// The directives accepted so far.
    pub(super) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    pub(super) fn say(&mut self, subject: &Subject, verb: Verb) -> bool {
        self.propose(vec![Directive { subject: subject.clone(), verb, at: None }])
    }

    pub(super) fn func(&self, name: &str) -> Option<FuncId> {
        self.plan.pipeline.funcs.enumerate().find(|(_, f)| f.name == name).map(|(id, _)| id)
    }

    /// Draws loops and storage for a Func that is not inlined.
    fn shape(&mut self, func: &str) {
        let Some(id) = self.func(func) else { return };
        if self.plan.funcs[id].compute == Level::Inline {
            return;
        }
        if self.options.any_shape && (self.options.aim == Aim::Promises || self.one_in(5)) {
            self.bounds(func);
        }
        for stage in 0..self.plan.funcs[id].stages.len() {
            let subject = Subject { stage, ..Subject::func(func) };
            self.floats(&subject);
            if stage > 0 {
                self.operation(&subject);
            }
            let kernel = self.gpu && !self.one_in(5);
            // Loops that are left alone run as one with others more often.
            let plain = self.options.aim == Aim::Groups && !self.one_in(3);
            let instruction = !kernel && self.one_in(3) && self.instruction(&subject);
            match self.options.aim {
                _ if instruction => {}
                _ if kernel => self.kernel(&subject),
                Aim::Loops(_) => self.chain(&subject, 5),
                Aim::Folds(_) => self.fold_loops(&subject),
                Aim::Far => self.far(&subject),
                _ if plain => {}
                _ => self.loops(&subject),
            }
            let rarely = if self.options.aim == Aim::Arms { 2 } else { 6 };
            if self.one_in(rarely) {
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
}

pub(super) fn loop_names(stage: &StagePlan) -> Vec<String> {
    stage.loops.iter().map(|l| stage.loop_name(l).to_string()).collect()
}
