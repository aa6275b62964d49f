//! The search for kernels: from consumers to producers, the place of each Func with the best numbers of threads, then
//! each choice again given all others.

use super::hybrid::Hybrid;
use super::price::Prices;
use super::shapes;
use crate::cost::{Choices, around};
use crate::dag::{Box, Dag, extent};
use crate::inline::{may_inline, reached};
use crate::kept::Kept;
use crate::moves;
use crate::role::Role;
use crate::state::{Place, Shape, State};
use crate::tuning::{
    LEAST_PART, LEAST_PART_OF_KERNEL, MOST_ASKED, MOST_MEMBERS, MOST_PRICED, NEVER_NS, PLACES, PRICED_PER_FUNC, SWEEPS,
};
use halide_core::ids::{FuncId, IdVec};
use halide_core::pipeline::Pipeline;
use halide_core::types::ScalarType;
use halide_ir::target::{Gpu, Target};
use std::collections::{BTreeMap, BTreeSet};

/// A state with the predicted time of each of its groups, and of copies.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) hybrid: Hybrid,
    pub(super) groups: IdVec<FuncId, Option<f64>>,
    copies: f64,
}

impl Candidate {
    pub(super) fn ns(&self) -> f64 {
        self.groups.iter().flatten().sum::<f64>() + self.copies
    }
}

/// A search for kernels.
pub(super) struct Search<'q> {
    pub(super) prices: Prices<'q>,
    target: &'q Target,
    pub(super) kept: Kept,
    /// Definitions whose terms threads may add in single steps.
    in_steps: BTreeSet<(FuncId, usize)>,
    /// Funcs that compute in types that the device lacks.
    wide: BTreeSet<FuncId>,
    known: BTreeMap<(FuncId, bool, Choices), f64>,
    /// The groups around each Func when its place was chosen last.
    chosen: BTreeMap<FuncId, (Vec<FuncId>, Choices)>,
    /// Funcs that cannot be computed in the blocks, or the threads, of the kernels of others.
    refused: BTreeSet<(FuncId, Role)>,
    priced: usize,
    most: (usize, u64),
}

impl<'q> Search<'q> {
    pub(super) fn new(
        prices: Prices<'q>,
        target: &'q Target,
        kept: Kept,
        in_steps: BTreeSet<(FuncId, usize)>,
    ) -> Search<'q> {
        let dag = prices.threads.dag;
        let wide = wide(dag.pipeline, &prices.limits);
        Search {
            prices,
            target,
            kept,
            in_steps,
            wide,
            known: BTreeMap::new(),
            chosen: BTreeMap::new(),
            refused: BTreeSet::new(),
            priced: 0,
            most: (0, dag.asked.get() + MOST_ASKED),
        }
    }

    /// The number of groups that were priced.
    pub(super) fn priced(&self) -> usize {
        self.priced
    }

    fn dag(&self) -> &'q Dag<'q> {
        self.prices.threads.dag
    }

    fn is_over(&self) -> bool {
        self.priced >= self.most.0 || self.dag().asked.get() >= self.most.1
    }

    /// A state in which every Func that is not kept is a kernel, or substituted as it is.
    pub(super) fn first(&mut self, state: State) -> Candidate {
        let mut hybrid = Hybrid { state, host: BTreeSet::new() };
        let funcs: Vec<FuncId> = hybrid.state.choices.ids().collect();
        for func in funcs {
            if self.kept.has(func) {
                hybrid.host.insert(hybrid.state.root(func));
            } else if hybrid.state.place(func) != Place::Inline {
                self.put_on_device(&mut hybrid, func);
            }
        }
        for func in self.dag().pipeline.order.clone() {
            if hybrid.state.place(func) == Place::Root && self.lacks_types(&hybrid, func) {
                self.put_on_host(&mut hybrid, func);
            }
        }
        self.candidate(hybrid)
    }

    /// Makes a Func a kernel of its own, with its first loops.
    fn put_on_device(&self, hybrid: &mut Hybrid, func: FuncId) {
        let choice = hybrid.state.choice_mut(func);
        choice.place = Place::Root;
        for (stage, shape) in choice.shapes.iter_mut().enumerate() {
            let in_steps = self.in_steps.contains(&(func, stage));
            let domain = self.domain((func, stage));
            *shape = shapes::first(self.dag(), (func, stage), &domain, &self.prices.limits, in_steps);
        }
        hybrid.host.remove(&func);
    }

    /// Makes a Func loops of the host.
    fn put_on_host(&self, hybrid: &mut Hybrid, func: FuncId) {
        let choice = hybrid.state.choice_mut(func);
        choice.place = Place::Root;
        let region = self.region(func);
        for (stage, shape) in choice.shapes.iter_mut().enumerate() {
            *shape = Shape::first(self.dag(), (func, stage), &region, self.target);
        }
        hybrid.host.insert(func);
    }

    /// The region of a Func outside of all loops.
    fn region(&self, func: FuncId) -> Box {
        let known = self.prices.threads.roots.get(&func).cloned();
        known.unwrap_or_else(|| self.dag().funcs[func].assumed.clone())
    }

    fn domain(&self, of: (FuncId, usize)) -> Box {
        self.dag().domain(of, &self.region(of.0))
    }

    pub(super) fn candidate(&mut self, hybrid: Hybrid) -> Candidate {
        let roots: Vec<FuncId> = hybrid.state.choices.ids().collect();
        let groups = roots.iter().map(|_| None).collect();
        self.with_prices(Candidate { hybrid, groups, copies: 0.0 }, &roots)
    }

    /// A candidate of which the groups of some Funcs are priced anew.
    fn with_prices(&mut self, mut candidate: Candidate, funcs: &[FuncId]) -> Candidate {
        for &root in funcs {
            let is_root = candidate.hybrid.state.place(root) == Place::Root;
            candidate.groups[root] = is_root.then(|| self.group(&candidate.hybrid, root));
        }
        candidate.copies = self.prices.copies(&candidate.hybrid);
        candidate
    }

    fn group(&mut self, hybrid: &Hybrid, root: FuncId) -> f64 {
        // What is substituted is a part of all groups that read it.
        let is_part = |id: FuncId| hybrid.state.is_inlined(id) || hybrid.state.root(id) == root;
        let choices = hybrid.state.choices.enumerate().filter(|(id, _)| is_part(*id));
        let key = (root, hybrid.host.contains(&root), choices.map(|(id, c)| (id, c.clone())).collect());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        self.priced += 1;
        let ns = match self.fits(hybrid, root) {
            true => self.prices.group(hybrid, root).ns(),
            false => NEVER_NS,
        };
        self.known.insert(key, ns);
        ns
    }

    /// Returns true if the kernel of a Func would compute in types that the device lacks.
    fn lacks_types(&self, hybrid: &Hybrid, root: FuncId) -> bool {
        let state = &hybrid.state;
        let is_part = |func: FuncId| match state.is_inlined(func) {
            true => state.readers(self.dag(), func).iter().any(|reader| state.root(reader.0) == root),
            false => state.root(func) == root,
        };
        !hybrid.host.contains(&root) && self.wide.iter().any(|func| is_part(*func))
    }

    /// Returns true if blocks share no more memory than there is, and compute in types of the device.
    fn fits(&self, hybrid: &Hybrid, root: FuncId) -> bool {
        let stages = 0..self.dag().funcs[root].stages.len();
        let most = f64::from(self.prices.limits.shared_bytes);
        hybrid.host.contains(&root)
            || !self.lacks_types(hybrid, root)
                && stages.into_iter().all(|stage| self.prices.shared(hybrid, (root, stage)) <= most)
    }

    /// A candidate after a change, with members that fit their hosts again.
    fn changed(&mut self, from: &Candidate, mut hybrid: Hybrid, funcs: &[FuncId]) -> Candidate {
        let mut affected: BTreeSet<FuncId> =
            funcs.iter().flat_map(|func| [from.hybrid.state.root(*func), hybrid.state.root(*func)]).collect();
        while let Some(wrong) = self.misplaced(&hybrid, &affected) {
            affected.insert(wrong);
            self.put_on_device(&mut hybrid, wrong);
        }
        let kernels: Vec<FuncId> = affected.iter().copied().filter(|root| !hybrid.host.contains(root)).collect();
        kernels.into_iter().for_each(|root| self.settle(&mut hybrid, root));
        let candidate = Candidate { hybrid, groups: from.groups.clone(), copies: 0.0 };
        self.with_prices(candidate, &affected.into_iter().collect::<Vec<_>>())
    }

    /// A Func of some groups that is computed where not all that reads it is.
    fn misplaced(&self, hybrid: &Hybrid, groups: &BTreeSet<FuncId>) -> Option<FuncId> {
        let state = &hybrid.state;
        state.choices.enumerate().find_map(|(id, choice)| match choice.place {
            Place::At { host, depth, .. } if groups.contains(&state.root(id)) && !self.kept.has(id) => {
                let is_kernel = state.place(host.0) == Place::Root && !hybrid.host.contains(&host.0);
                let is_level = |shape: &Shape| {
                    let vars = &self.dag().funcs[host.0].stages[host.1].vars;
                    depth > 0 && (depth == shapes::blocks(shape) || depth == shapes::of_points(vars, shape))
                };
                let is_there = is_kernel && state.shape(host).is_some_and(is_level);
                (!is_there || !state.encloses(self.dag(), id, host, depth)).then_some(id)
            }
            _ => None,
        })
    }

    /// Gives members of a kernel the loops of their role.
    fn settle(&self, hybrid: &mut Hybrid, root: FuncId) {
        let dag = self.dag();
        let mut members: Vec<FuncId> =
            hybrid.state.choices.ids().filter(|id| *id != root && hybrid.state.root(*id) == root).collect();
        members.sort_by_key(|id| std::cmp::Reverse(dag.rank[*id]));
        for member in members {
            let Some(host) = hybrid.state.host(member).and_then(|host| hybrid.state.shape(host)).cloned() else {
                continue;
            };
            let Some(region) = self.prices.threads.region(&hybrid.state, member, 0) else { continue };
            let role = hybrid.role(member);
            for (stage, shape) in hybrid.state.choice_mut(member).shapes.iter_mut().enumerate() {
                let domain = dag.domain((member, stage), &region);
                *shape = match role {
                    Role::Block => shapes::of_block(dag, (member, stage), &domain, &host),
                    _ => shapes::of_thread(dag, (member, stage), &domain),
                };
            }
        }
    }

    /// The best candidate that is found from a first one.
    pub(super) fn run(&mut self, first: Candidate) -> Candidate {
        let mut best = first;
        self.most.0 = self.priced + MOST_PRICED.max(PRICED_PER_FUNC * self.dag().funcs.len());
        let order: Vec<FuncId> = self.dag().pipeline.order.iter().rev().copied().collect();
        for _ in 0..SWEEPS {
            let before = best.ns();
            for &func in &order {
                if self.is_over() {
                    return best;
                }
                if self.chosen.get(&func) == Some(&self.around(&best.hybrid, func)) {
                    continue;
                }
                self.place(&mut best, func);
                self.numbers(&mut best, func);
                let around = self.around(&best.hybrid, func);
                self.chosen.insert(func, around);
            }
            if best.ns() > before * (1.0 - LEAST_PART) {
                break;
            }
        }
        best
    }

    /// The choices about the groups of a Func and of all that reads it, and those that the host computes.
    fn around(&self, hybrid: &Hybrid, func: FuncId) -> (Vec<FuncId>, Choices) {
        let roots = hybrid.state.roots_near(self.dag(), func);
        let host = roots.into_iter().filter(|root| hybrid.host.contains(root));
        (host.collect(), around(self.dag(), &hybrid.state, func))
    }

    /// Takes the best place of a Func.
    fn place(&mut self, best: &mut Candidate, func: FuncId) {
        let is_unused = best.hybrid.state.is_inlined(func) && best.hybrid.state.readers(self.dag(), func).is_empty();
        if self.kept.has(func) || is_unused {
            return;
        }
        let mut tried = self.places(best, func);
        tried.sort_by(|a, b| a.ns().total_cmp(&b.ns()));
        tried.truncate(PLACES);
        let mut least: Option<Candidate> = None;
        for mut candidate in tried {
            let state = &candidate.hybrid.state;
            let roots: Vec<FuncId> = match state.is_inlined(func) {
                true => state.readers(self.dag(), func).into_iter().map(|r| state.root(r.0)).collect(),
                false => vec![state.root(func)],
            };
            for root in roots {
                self.numbers(&mut candidate, root);
            }
            if least.as_ref().is_none_or(|least| candidate.ns() < least.ns()) {
                least = Some(candidate);
            }
        }
        if let Some(least) = least.filter(|c| c.ns() < best.ns() * (1.0 - LEAST_PART_OF_KERNEL)) {
            *best = least;
        }
    }

    /// A Func at each other place.
    fn places(&mut self, best: &Candidate, func: FuncId) -> Vec<Candidate> {
        let dag = self.dag();
        let state = &best.hybrid.state;
        let readers: Vec<FuncId> = state.readers(dag, func).into_iter().map(|r| r.0).collect();
        let near: Vec<FuncId> = readers.iter().copied().chain([func]).collect();
        let mut tried = Vec::new();
        if may_inline(dag.pipeline, func)
            && let Some(state) = moves::inlined(state, func)
        {
            tried.push(Hybrid { state, host: &best.hybrid.host - &BTreeSet::from([func]) });
        }
        let mut device = best.hybrid.clone();
        self.put_on_device(&mut device, func);
        tried.push(device);
        let mut host = best.hybrid.clone();
        self.put_on_host(&mut host, func);
        tried.push(host);
        for place in self.places_in_kernels(&best.hybrid, func) {
            let mut next = best.hybrid.clone();
            next.state.choice_mut(func).place = place;
            next.host.remove(&func);
            tried.push(next);
        }
        let is_other = |hybrid: &Hybrid| {
            hybrid.state.place(func) != state.place(func)
                || hybrid.host.contains(&func) != best.hybrid.host.contains(&func)
        };
        let tried: Vec<Hybrid> = tried.into_iter().filter(is_other).collect();
        tried.into_iter().map(|hybrid| self.changed(best, hybrid, &near)).collect()
    }

    /// The places of a Func in the kernel that computes all that reads it: in its blocks, and in its threads.
    fn places_in_kernels(&self, hybrid: &Hybrid, func: FuncId) -> Vec<Place> {
        let (dag, state) = (self.dag(), &hybrid.state);
        let readers = state.readers(dag, func);
        let roots: BTreeSet<FuncId> = readers.iter().map(|reader| state.root(reader.0)).collect();
        let Some(root) = roots.first().copied().filter(|_| roots.len() == 1) else { return Vec::new() };
        let members = state.choices.ids().filter(|id| !state.is_inlined(*id) && state.root(*id) == root).count();
        let is_free = !dag.funcs[func].is_output && root != func && !hybrid.host.contains(&root);
        if !is_free || members > MOST_MEMBERS || state.has_members(func) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for stage in 0..dag.funcs[root].stages.len() {
            let (host, Some(shape)) = ((root, stage), state.shape((root, stage))) else { continue };
            if self.in_steps.contains(&host) {
                continue;
            }
            let inner = shapes::of_points(&dag.funcs[root].stages[stage].vars, shape);
            for (depth, role) in [(shapes::blocks(shape), Role::Block), (inner, Role::Thread)] {
                let is_there = depth > 0
                    && !self.refused.contains(&(func, role))
                    && (role != Role::Block || self.is_for_threads(func));
                if is_there && state.encloses(dag, func, host, depth) {
                    found.push(Place::At { host, depth, slides: false });
                }
            }
        }
        found
    }

    /// Returns true if threads can share each definition of a Func.
    fn is_for_threads(&self, func: FuncId) -> bool {
        let stages = self.dag().funcs[func].stages.iter().enumerate();
        stages.into_iter().all(|(n, stage)| !shapes::grid(&stage.vars, &self.domain((func, n)), false).is_empty())
    }

    /// Changes the loops of a kernel, one number at a time, as long as that gains.
    fn numbers(&mut self, best: &mut Candidate, func: FuncId) {
        let is_kernel = |c: &Candidate| {
            c.hybrid.state.place(func) == Place::Root && !c.hybrid.host.contains(&func) && !self.kept.has(func)
        };
        if !is_kernel(best) {
            return;
        }
        for stage in 0..self.dag().funcs[func].stages.len() {
            let domain = self.domain((func, stage));
            if domain.iter().any(|span| extent(*span) == 0) {
                continue;
            }
            while let Some(shape) = best.hybrid.state.shape((func, stage)).cloned() {
                let mut least: Option<Candidate> = None;
                let enough = best.ns() * (1.0 - LEAST_PART_OF_KERNEL);
                for next in shapes::next(self.dag(), (func, stage), &shape, &domain, &self.prices.limits) {
                    if self.is_over() {
                        return;
                    }
                    let mut hybrid = best.hybrid.clone();
                    hybrid.state.choice_mut(func).shapes[stage] = next;
                    let candidate = self.changed(best, hybrid, &[func]);
                    if candidate.ns() < least.as_ref().map_or(enough, Candidate::ns) {
                        least = Some(candidate);
                    }
                }
                match least {
                    Some(candidate) => *best = candidate,
                    None => break,
                }
            }
        }
    }

    /// The Funcs that the kernel of another one computes, producers first.
    pub(super) fn members(&self, of: &Candidate, root: FuncId) -> Vec<FuncId> {
        let state = &of.hybrid.state;
        let order = self.dag().pipeline.order.iter().copied();
        order.filter(|id| *id != root && !state.is_inlined(*id) && state.root(*id) == root).collect()
    }

    /// A candidate in which Funcs have kernels of their own.
    pub(super) fn apart(&mut self, from: &Candidate, funcs: &[FuncId]) -> Candidate {
        let mut hybrid = from.hybrid.clone();
        funcs.iter().for_each(|func| self.put_on_device(&mut hybrid, *func));
        self.changed(from, hybrid, funcs)
    }

    /// Notes that a Func cannot be where a candidate has it.
    pub(super) fn refuse(&mut self, of: &Candidate, func: FuncId) {
        self.refused.insert((func, of.hybrid.role(func)));
        self.chosen.remove(&func);
    }

    /// A candidate in which the host computes some Funcs, and all that is in their loops.
    pub(super) fn on_host(&mut self, from: &Candidate, roots: &[FuncId]) -> Candidate {
        let mut hybrid = from.hybrid.clone();
        let all: Vec<FuncId> = hybrid.state.choices.ids().collect();
        for func in all.into_iter().filter(|id| !from.hybrid.state.is_inlined(*id)) {
            if roots.contains(&from.hybrid.state.root(func)) && !self.kept.has(func) {
                self.put_on_host(&mut hybrid, func);
            }
        }
        self.candidate(hybrid)
    }
}

/// The Funcs that compute in types of 64 bits that a device lacks.
fn wide(pipeline: &Pipeline, gpu: &Gpu) -> BTreeSet<FuncId> {
    let is_lacking = |ty: ScalarType| ty.bits() == 64 && !(if ty.is_float() { gpu.float64 } else { gpu.int64 });
    let is_wide = |func: &FuncId| {
        let mut reached = pipeline.funcs[*func].stages.iter().flat_map(|stage| reached(pipeline, stage));
        reached.any(|e| is_lacking(pipeline.exprs[e].ty))
    };
    pipeline.funcs.ids().filter(is_wide).collect()
}
