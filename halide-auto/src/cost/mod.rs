//! The predicted time of a group: a Func outside of all loops with everything that is computed in its loops.
//!
//! An execution-cache-memory model. From the innermost loop outwards: instructions add up, and lines that a loop's
//! iterations need come from the cache behind once for the loop if they stay from one iteration to the next, and once
//! for each iteration if they do not. Memory that is allocated inside of a loop is the same in each iteration.

mod conflicts;
mod fixed;
mod parts;
mod slow;
#[cfg(test)]
pub(crate) mod tests;
mod traffic;
mod walk;

pub use parts::Parts;

use crate::boxes::{Boxes, needed};
use crate::dag::{Box, Dag, Source, Work};
use crate::kernel::Kernel;
use crate::state::{Choice, LoopSpec, Place, Shape, State};
use crate::tuning::{FORK_NS, HIDDEN_FAR, HIDDEN_NEAR};
use halide_core::ids::{FuncId, ImageId};
use halide_ir::machine::Machine;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The cost of running a part of a nest once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    pub(crate) cycles: f64,
    /// Bytes that are moved into each cache from behind.
    pub(crate) moved: Vec<f64>,
    /// Instructions that are written out one after the other, without a loop around them.
    pub(crate) written: f64,
    /// Instructions of all that it is made of.
    pub(crate) code: f64,
    /// Points of each Func that are computed.
    pub(crate) points: BTreeMap<FuncId, f64>,
}

impl Cost {
    fn add(&mut self, other: &Cost, times: f64) {
        self.cycles += other.cycles * times;
        self.code += other.code;
        self.moved.resize(self.moved.len().max(other.moved.len()), 0.0);
        self.moved.iter_mut().zip(&other.moved).for_each(|(own, moved)| *own += moved * times);
        other.points.iter().for_each(|(func, points)| *self.points.entry(*func).or_default() += points * times);
    }
}

/// The values of an iteration in the middle of a loop.
fn restrict(domain: &mut Box, l: &LoopSpec) {
    let (first, last) = domain[l.var];
    let at = first + l.step * (((l.trip - 1.0) / 2.0) as i64);
    domain[l.var] = (at, (at + l.step - 1).min(last.max(at)));
}

/// Choices about some Funcs.
pub(crate) type Choices = Vec<(FuncId, Rc<Choice>)>;

/// The choices about the groups of a Func and of all that reads it.
pub(crate) fn around(dag: &Dag<'_>, state: &State, func: FuncId) -> Choices {
    let roots = state.roots_near(dag, func);
    let is_near = |id: FuncId| roots.contains(&state.root(id));
    state.choices.enumerate().filter(|(id, _)| is_near(*id)).map(|(id, c)| (id, c.clone())).collect()
}

/// A definition of which the compiler made slow code.
struct SlowCode {
    of: (FuncId, usize),
    /// The variable along which vectors lay.
    along: Option<usize>,
    /// The Funcs that were substituted in it, beside those that always are.
    inlined: BTreeSet<FuncId>,
    /// The Funcs that were computed in its innermost loop.
    members: Vec<FuncId>,
}

type KernelKey = (FuncId, usize, Shape, Option<(usize, i64, i64)>, Vec<FuncId>, u32, bool);

/// Answers that hold for a set of Funcs that are substituted.
#[derive(Default)]
struct Memo {
    kernels: BTreeMap<KernelKey, Kernel>,
    works: BTreeMap<(FuncId, usize), Rc<Work>>,
    inner_work: BTreeMap<FuncId, Rc<Work>>,
    /// The members of a host that are read at other lanes than stored, by dimension of vectors and lanes.
    shifted: BTreeMap<(FuncId, usize, i64, (FuncId, usize)), bool>,
    groups: BTreeMap<(FuncId, Choices), f64>,
}

/// Prices of groups. It remembers what it was asked.
pub(crate) struct Pricer<'q> {
    pub(crate) dag: &'q Dag<'q>,
    pub(crate) machine: &'q Machine,
    threads: u32,
    /// True if an operation on a vector is one for each lane, and only memory has whole words.
    lanes_apart: bool,
    /// The factors by which the instructions of definitions take longer.
    pub(crate) waits: BTreeMap<(FuncId, usize), f64>,
    /// The regions of Funcs outside of all loops.
    pub(crate) roots: &'q BTreeMap<FuncId, Box>,
    /// The Funcs that are computed in loops of the group that is priced: depths and Funcs, by definition.
    hosted: BTreeMap<(FuncId, usize), Vec<(usize, FuncId)>>,
    /// Bytes of Funcs that are in registers where the walk is.
    resident: BTreeMap<FuncId, f64>,
    /// The Funcs that are computed in an iteration of an innermost loop where the walk is.
    innermost: BTreeSet<FuncId>,
    /// Bytes that regions of inputs occupy of caches beyond their size, by source, cache and extents.
    conflicts: BTreeMap<(Source, usize, Box), f64>,
    /// An input of which rows are taken not to share sets of caches.
    apart: Option<ImageId>,
    /// The Funcs that are substituted, of which the memories below speak.
    inlined: Vec<FuncId>,
    memo: Memo,
    /// The memories of other sets of Funcs that are substituted.
    others: BTreeMap<Vec<FuncId>, Memo>,
    /// The definitions of which the compiler made slow code.
    slow: Vec<SlowCode>,
    /// The number of groups that were priced.
    pub(crate) priced: usize,
}

impl<'q> Pricer<'q> {
    pub(crate) fn new(
        dag: &'q Dag<'q>,
        machine: &'q Machine,
        threads: u32,
        roots: &'q BTreeMap<FuncId, Box>,
    ) -> Pricer<'q> {
        Pricer {
            dag,
            machine,
            threads: threads.max(1),
            lanes_apart: false,
            waits: BTreeMap::new(),
            roots,
            inlined: Vec::new(),
            memo: Memo::default(),
            others: BTreeMap::new(),
            hosted: BTreeMap::new(),
            resident: BTreeMap::new(),
            innermost: BTreeSet::new(),
            conflicts: BTreeMap::new(),
            apart: None,
            slow: Vec::new(),
            priced: 0,
        }
    }

    /// Prices of the same that remember nothing, and take rows of an input not to share sets of caches.
    pub(crate) fn afresh(&self, apart: Option<ImageId>) -> Pricer<'q> {
        Pricer { apart, ..Pricer::new(self.dag, self.machine, self.threads, self.roots) }
    }

    /// Prices of machines whose vectors are words in memory only.
    pub(crate) fn of_lanes_apart(self) -> Pricer<'q> {
        Pricer { lanes_apart: true, ..self }
    }

    pub(crate) fn threads(&self) -> u32 {
        self.threads
    }

    /// The predicted nanoseconds of the group of `root`.
    pub(crate) fn group(&mut self, state: &State, root: FuncId) -> f64 {
        self.speak_of(state);
        let own = |id: &FuncId| state.root(*id) == root;
        let key: Choices = state.choices.enumerate().filter(|(id, _)| own(id)).map(|(id, c)| (id, c.clone())).collect();
        if let Some(known) = self.memo.groups.get(&(root, key.clone())) {
            return *known;
        }
        self.priced += 1;
        let ns = (0..self.dag.funcs[root].stages.len()).map(|stage| self.root_stage(state, (root, stage))).sum();
        self.memo.groups.insert((root, key), ns);
        ns
    }

    /// Takes the memory of the Funcs that are substituted in a state.
    fn speak_of(&mut self, state: &State) {
        let same = {
            let mut own = self.inlined.iter();
            state.inlined().all(|id| own.next() == Some(&id)) && own.next().is_none()
        };
        if !same {
            let next: Vec<FuncId> = state.inlined().collect();
            let memo = self.others.remove(&next).unwrap_or_default();
            let before = std::mem::replace(&mut self.memo, memo);
            self.others.insert(std::mem::replace(&mut self.inlined, next), before);
        }
    }

    /// The cost of a definition outside of all loops.
    pub(crate) fn root_cost(&mut self, state: &State, of: (FuncId, usize)) -> Cost {
        self.speak_of(state);
        let Some(region) = self.roots.get(&of.0).cloned() else { return Cost::default() };
        let Some(shape) = state.shape(of) else { return Cost::default() };
        let domain = self.dag.domain(of, &region);
        let loops = shape.loops(&domain);
        self.hosted.clear();
        for (id, choice) in state.choices.enumerate().filter(|(id, _)| state.root(*id) == of.0) {
            if let Place::At { host, depth, .. } = choice.place {
                self.hosted.entry(host).or_default().push((depth, id));
            }
        }
        self.level(state, of, &loops, 0, &domain).0
    }

    /// The Funcs that are computed directly inside of so many loops of a definition, consumers first.
    pub(super) fn members(&self, of: (FuncId, usize), depth: usize) -> Vec<FuncId> {
        let all = self.hosted.get(&of).into_iter().flatten();
        let mut found: Vec<FuncId> = all.filter(|(own, _)| *own == depth).map(|(_, id)| *id).collect();
        found.sort_by_key(|id| std::cmp::Reverse(self.dag.rank[*id]));
        found
    }

    fn root_stage(&mut self, state: &State, of: (FuncId, usize)) -> f64 {
        let cost = self.root_cost(state, of);
        self.parts(state, of, &cost).ns()
    }

    /// The parts of the time of a definition outside of all loops that has a cost.
    pub(crate) fn parts(&self, state: &State, of: (FuncId, usize), cost: &Cost) -> Parts {
        let (at_once, forks) = self.at_once(state, of);
        let mut parts = Parts { instructions_ns: cost.cycles / self.machine.ghz / at_once, ..Parts::default() };
        for (level, moved) in cost.moved.iter().enumerate() {
            let hidden = if level == 0 { HIDDEN_NEAR } else { HIDDEN_FAR };
            match self.machine.caches.get(level + 1) {
                Some(next) => {
                    let rate = next.bytes_per_cycle * self.machine.ghz * at_once;
                    parts.caches_ns.push((1.0 - hidden) * moved / rate);
                }
                None => {
                    // The last round of tasks may leave some of the threads without work.
                    let threads = at_once.ceil();
                    let rate = self.machine.memory.bandwidth(threads as u32) * at_once / threads;
                    parts.memory_ns = moved * self.row_factor(state, of) / rate;
                }
            }
        }
        parts.tasks_ns = forks * FORK_NS;
        parts
    }

    /// The threads that share the work of a definition outside of all loops, and how often they are called together.
    fn at_once(&self, state: &State, of: (FuncId, usize)) -> (f64, f64) {
        let (Some(region), Some(shape)) = (self.roots.get(&of.0), state.shape(of)) else { return (1.0, 0.0) };
        let loops = shape.loops(&self.dag.domain(of, region));
        let shared = self.shared(of, shape, &loops);
        let Some(innermost) = shared.last() else { return (1.0, 0.0) };
        let tasks: f64 = shared.iter().map(|n| loops[*n].trip).product();
        let serial = (0..*innermost).filter(|n| !shared.contains(n));
        let forks: f64 = serial.map(|n| loops[n].trip.max(1.0)).product();
        // The last round of tasks may not keep all of them busy.
        (tasks / (tasks / f64::from(self.threads)).ceil().max(1.0), forks)
    }

    /// The loops of a definition whose iterations several threads take, outermost first.
    pub(crate) fn shared(&self, of: (FuncId, usize), shape: &Shape, loops: &[LoopSpec]) -> Vec<usize> {
        let vars = &self.dag.funcs[of.0].stages[of.1].vars;
        let is_shared = |n: &usize| {
            let l = &loops[*n];
            self.threads > 1 && shape.shares(*n) && vars[l.var].tells_apart && l.trip > 1.0
        };
        (0..loops.len()).filter(is_shared).collect()
    }

    /// The region of a Func in an iteration in the middle of the loops around it, where those outside of all loops are
    /// larger by so much.
    pub(crate) fn region(&self, state: &State, func: FuncId, larger: i64) -> Option<Box> {
        self.region_with(state, func, larger, &mut BTreeMap::new())
    }

    /// The same as [`Pricer::region`], where `known` has what is needed inside of loops, which are so many of a
    /// definition: it is found once for all that is computed there.
    pub(crate) fn region_with(
        &self,
        state: &State,
        func: FuncId,
        larger: i64,
        known: &mut BTreeMap<((FuncId, usize), usize), Boxes>,
    ) -> Option<Box> {
        match state.place(func) {
            Place::Inline => None,
            Place::Root => {
                let region = self.roots.get(&func)?;
                Some(region.iter().map(|(first, last)| (*first, last + larger)).collect())
            }
            Place::At { host, depth, .. } => {
                if !known.contains_key(&(host, depth)) {
                    let region = self.region_with(state, host.0, larger, known)?;
                    let mut domain = self.dag.domain(host, &region);
                    let loops = state.shape(host)?.loops(&domain);
                    loops.iter().take(depth).for_each(|l| restrict(&mut domain, l));
                    let inside = |func: FuncId| state.is_inlined(func) || state.is_inside(func, host, depth);
                    known.insert((host, depth), needed(self.dag, host, &domain, &inside));
                }
                known.get(&(host, depth))?.get(Source::Func(func)).cloned()
            }
        }
    }
}
