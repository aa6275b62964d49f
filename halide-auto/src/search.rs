//! The search for a schedule: places of Funcs from consumers to producers, with the numbers of the loops that they
//! share, then each choice again given all others.

use crate::cost::{Choices, Pricer, around};
use crate::dag::{StageVar, extent, pieces};
use crate::inline::{may_inline, passed_on};
use crate::kept::Kept;
use crate::moves;
use crate::state::{Choice, Place, Shape, State};
use crate::tuning::{
    FEW_FUNCS, LEAST_PART, MOST_ASKED, MOST_MEMBERS, MOST_PRICED, MOST_REGISTERS, PRICED_PER_FUNC, SWEEPS,
};
use halide_core::ids::{FuncId, IdVec};
use halide_ir::target::Target;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A state with the predicted time of each of its groups.
#[derive(Clone)]
pub(crate) struct Candidate {
    pub(crate) state: State,
    /// Nanoseconds of Funcs outside of all loops.
    pub(crate) groups: IdVec<FuncId, Option<f64>>,
}

impl Candidate {
    pub(crate) fn ns(&self) -> f64 {
        self.groups.iter().flatten().sum()
    }
}

/// A search.
pub(crate) struct Search<'q> {
    pub(crate) pricer: Pricer<'q>,
    /// The Funcs that may be substituted where they are used.
    pub(crate) may_inline: BTreeSet<FuncId>,
    /// The Funcs that stay substituted where they are, if there are many: to store what reads them is no worse.
    pub(crate) passed_on: BTreeSet<FuncId>,
    pub(crate) target: &'q Target,
    /// The Funcs that stay as they are.
    pub(crate) kept: Rc<Kept>,
    /// The groups around each Func when its place was chosen last.
    pub(crate) chosen: BTreeMap<FuncId, Choices>,
    /// The number of prices, and that of definitions that were looked at for them, at which the search ends.
    pub(crate) most: (usize, u64),
}

impl<'q> Search<'q> {
    /// A search that has not begun.
    pub(crate) fn new(pricer: Pricer<'q>, target: &'q Target) -> Search<'q> {
        let pipeline = pricer.dag.pipeline;
        let may_inline = pipeline.order.iter().copied().filter(|id| may_inline(pipeline, *id)).collect();
        let passed_on = passed_on(pipeline);
        let (kept, chosen) = (Rc::default(), BTreeMap::new());
        Search { pricer, may_inline, passed_on, target, kept, chosen, most: (0, 0) }
    }

    pub(crate) fn candidate(&mut self, state: State) -> Candidate {
        let is_root = |id: FuncId| state.place(id) == Place::Root;
        let groups = state.choices.ids().map(|id| is_root(id).then(|| self.pricer.group(&state, id))).collect();
        Candidate { state, groups }
    }

    /// A state with other choices about some Funcs, where members that are written out fit their hosts again.
    pub(crate) fn changed(&mut self, from: &Candidate, state: State, funcs: &[FuncId]) -> Candidate {
        let mut state = state;
        let mut affected: BTreeSet<FuncId> =
            funcs.iter().flat_map(|func| [from.state.root(*func), state.root(*func)]).collect();
        let moved = self.repair(&mut state, &affected);
        if moved.iter().any(|func| self.kept.has(*func)) {
            return Candidate {
                state: from.state.clone(),
                groups: from.groups.iter().map(|_| Some(f64::MAX)).collect(),
            };
        }
        affected.extend(moved);
        for root in &affected {
            self.settle(&mut state, *root);
        }
        let mut groups = from.groups.clone();
        for root in affected {
            groups[root] = (state.place(root) == Place::Root).then(|| self.pricer.group(&state, root));
        }
        Candidate { state, groups }
    }

    /// Takes Funcs of groups to the outside of all loops that are computed where not all that reads them is; returns
    /// these.
    fn repair(&self, state: &mut State, groups: &BTreeSet<FuncId>) -> Vec<FuncId> {
        let dag = self.pricer.dag;
        let mut moved = Vec::new();
        loop {
            let is_wrong = |(id, choice): (FuncId, &Rc<Choice>)| match choice.place {
                Place::At { host, depth, .. } if groups.contains(&state.root(id)) => {
                    let is_there =
                        state.shape(host).is_some_and(|shape| shape.depth() >= depth) && !state.is_inlined(host.0);
                    (!is_there || !state.encloses(dag, id, host, depth)).then_some(id)
                }
                _ => None,
            };
            let wrong: Vec<FuncId> = state.choices.enumerate().filter_map(is_wrong).collect();
            if wrong.is_empty() {
                return moved;
            }
            for id in wrong {
                state.choice_mut(id).place = Place::Root;
                moved.push(id);
            }
        }
    }

    /// Writes out the loops of Funcs that are computed in the innermost loop of another one.
    fn settle(&self, state: &mut State, root: FuncId) {
        let dag = self.pricer.dag;
        self.pricer.note_fixed(state, root);
        let mut members: Vec<FuncId> =
            state.choices.ids().filter(|id| *id != root && state.root(*id) == root).collect();
        members.retain(|id| !self.kept.has(*id));
        members.sort_by_key(|id| std::cmp::Reverse(dag.rank[*id]));
        // Hosts come before what is in their loops, so that what is needed there is known once their loops are.
        let (mut known, mut larger) = (BTreeMap::new(), BTreeMap::new());
        for member in members {
            let Some(host) = state.host(member) else { continue };
            let is_innermost = state.is_innermost(member);
            let lanes = state.shape(host).and_then(|shape| shape.vector).map_or(1, |(_, lanes)| lanes);
            let updates = dag.funcs[member].stages.len() > 1;
            let Some(region) = self.pricer.region_with(state, member, 0, &mut known) else { continue };
            for (stage, shape) in state.choice_mut(member).shapes.iter_mut().enumerate() {
                let vars = &dag.funcs[member].stages[stage].vars;
                let domain = dag.domain((member, stage), &region);
                if is_innermost {
                    align_vector(shape, vars, &domain, lanes);
                }
                fit_vector(shape, &domain);
                if is_innermost {
                    write_out(shape, vars, &domain);
                }
            }
            if updates {
                let other = self.pricer.region_with(state, member, 1, &mut larger);
                self.pricer.note_fixed_in(state, member, Some(&region), other.as_deref());
            }
        }
    }

    /// The best state that is found from a first one.
    pub(crate) fn run(&mut self, first: Candidate) -> Candidate {
        let mut best = first;
        self.chosen.clear();
        let order: Vec<FuncId> = self.pricer.dag.pipeline.order.iter().rev().copied().collect();
        self.end_after(MOST_PRICED.max(PRICED_PER_FUNC * order.len()), MOST_ASKED);
        // Of many Funcs, numbers wait for places, on which they depend.
        for &func in order.iter().filter(|_| order.len() <= FEW_FUNCS) {
            self.numbers(&mut best, func);
        }
        self.sweeps(best, &order)
    }

    /// The best state that is found from one that is good but for what is near some Funcs.
    pub(crate) fn go_on(&mut self, first: Candidate, near: &[FuncId]) -> Candidate {
        let dag = self.pricer.dag;
        let groups: BTreeSet<FuncId> = near.iter().map(|func| first.state.root(*func)).collect();
        let order: Vec<FuncId> = dag.pipeline.order.iter().rev().copied().collect();
        for &func in &order {
            let around = around(dag, &first.state, func);
            let is_near = |func: FuncId| groups.contains(&first.state.root(func));
            if is_near(func) || first.state.readers(dag, func).iter().any(|r| is_near(r.0)) {
                self.chosen.remove(&func);
            } else {
                self.chosen.insert(func, around);
            }
        }
        self.end_after(MOST_PRICED / 2, MOST_ASKED / 8);
        self.sweeps(first, &order)
    }

    fn sweeps(&mut self, mut best: Candidate, order: &[FuncId]) -> Candidate {
        for _ in 0..SWEEPS {
            let before = best.ns();
            let is_many = order.len() > FEW_FUNCS;
            for &func in order {
                if is_many && best.state.is_inlined(func) && self.passed_on.contains(&func) {
                    continue;
                }
                if self.chosen.get(&func) == Some(&around(self.pricer.dag, &best.state, func)) {
                    continue;
                }
                self.place(&mut best, func);
                self.numbers(&mut best, func);
                let around = around(self.pricer.dag, &best.state, func);
                self.chosen.insert(func, around);
            }
            if best.ns() > before * (1.0 - LEAST_PART) {
                break;
            }
        }
        best
    }

    /// The predicted time that gains are measured by: the whole one, or, of so many Funcs that none takes much of it,
    /// that of the groups of a Func and of all that reads it.
    pub(crate) fn near_ns(&self, candidate: &Candidate, func: FuncId) -> f64 {
        let state = &candidate.state;
        if state.choices.len() <= FEW_FUNCS {
            return candidate.ns();
        }
        let roots = state.roots_near(self.pricer.dag, func);
        roots.iter().filter_map(|root| candidate.groups[*root]).sum()
    }

    /// Ends the search after so many more prices, and definitions that are looked at for them.
    pub(crate) fn end_after(&mut self, prices: usize, asked: u64) {
        self.most = (self.pricer.priced + prices, self.pricer.dag.asked.get() + asked);
    }

    /// Returns true if the search has taken as much effort as it may.
    pub(crate) fn is_over(&self) -> bool {
        self.pricer.priced >= self.most.0 || self.pricer.dag.asked.get() >= self.most.1
    }

    /// A Func at each other place, and substituted, without other numbers of loops.
    pub(crate) fn places(&mut self, best: &Candidate, func: FuncId) -> Vec<Candidate> {
        let (dag, roots, threads) = (self.pricer.dag, self.pricer.roots, self.target.threads);
        let kept = self.kept.clone();
        let is_kept = |func: FuncId| kept.has(func);
        let tiles = |host: FuncId| match (roots.get(&host), best.state.shape((host, 0))) {
            (Some(region), Some(shape)) if dag.funcs[host].is_pure && !is_kept(host) => {
                moves::tilings(dag, (host, 0), shape, &dag.domain((host, 0), region), !dag.funcs[func].is_pure)
            }
            _ => Vec::new(),
        };
        let mut tried: Vec<Candidate> = Vec::new();
        if let Some(state) = moves::inlined(&best.state, func).filter(|_| self.may_inline.contains(&func)) {
            let readers = best.state.readers(dag, func).into_iter().map(|r| r.0);
            let funcs: Vec<FuncId> = readers.chain([func]).collect();
            tried.push(self.changed(best, state, &funcs));
        }
        for state in moves::places(dag, &best.state, func, threads, &tiles) {
            if self.is_over() {
                break;
            }
            let is_nameless = matches!(state.place(func), Place::At { host, depth, .. }
                if is_kept(host.0) && kept.name(host, depth).is_none());
            if is_nameless || self.runs_once(&state, func) || self.is_crowded(&state, func) {
                continue;
            }
            let mut funcs = vec![func];
            if best.state.is_inlined(func) {
                funcs.extend(best.state.readers(dag, func).into_iter().map(|r| r.0));
            }
            tried.push(self.changed(best, state, &funcs));
        }
        tried
    }

    /// Takes the best place of a Func, each tried with the best numbers of the loops around it.
    fn place(&mut self, best: &mut Candidate, func: FuncId) {
        let is_unused = best.state.is_inlined(func) && best.state.readers(self.pricer.dag, func).is_empty();
        if self.is_over() || self.kept.has(func) || is_unused {
            return;
        }
        let dag = self.pricer.dag;
        let mut tried = self.places(best, func);
        tried.sort_by(|a, b| a.ns().total_cmp(&b.ns()));
        // Sums in registers are good with other orders of the loops around them only.
        let in_registers = tried.iter().skip(3).position(|c| c.state.is_innermost(func)).map(|n| tried[n + 3].clone());
        tried.truncate(3);
        tried.extend(in_registers.filter(|_| !dag.funcs[func].is_pure));
        let mut least: Option<Candidate> = None;
        for mut candidate in tried {
            let root = candidate.state.root(func);
            if candidate.state.is_inlined(func) {
                least = Some(candidate).filter(|c| least.as_ref().is_none_or(|l| c.ns() < l.ns())).or(least);
                continue;
            }
            self.numbers(&mut candidate, root);
            if least.as_ref().is_none_or(|least| candidate.ns() < least.ns()) {
                least = Some(candidate);
            }
        }
        let enough = best.ns() - LEAST_PART * self.near_ns(best, func);
        if let Some(least) = least.filter(|c| c.ns() < enough) {
            *best = least;
        }
    }

    /// Returns true if a Func is computed in loops of another one, but not in all of them.
    fn has_outer_members(&self, state: &State, host: FuncId) -> bool {
        let is_outer = |func| state.place(func) != Place::Root && !state.is_innermost(func);
        state
            .choices
            .ids()
            .any(|id| is_outer(id) && matches!(state.place(id), Place::At { host: of, .. } if of.0 == host))
    }

    /// Returns true if a Func is in loops of one iteration, which are outside of all others: it may as well be outside
    /// of these.
    fn runs_once(&self, state: &State, func: FuncId) -> bool {
        let Place::At { host, depth, .. } = state.place(func) else { return false };
        let (Some(region), Some(shape)) = (self.pricer.roots.get(&host.0), state.shape(host)) else { return false };
        let loops = shape.loops(&self.pricer.dag.domain(host, region));
        state.place(host.0) == Place::Root && loops.iter().take(depth).all(|l| l.trip <= 1.0)
    }

    /// Returns true if the group of a Func has more members than code is good for.
    fn is_crowded(&self, state: &State, func: FuncId) -> bool {
        let root = state.root(func);
        let members = state.choices.ids().filter(|id| !state.is_inlined(*id) && state.root(*id) == root).count();
        root != func && members > MOST_MEMBERS
    }

    /// Changes the loops of a Func's definitions, one number at a time, as long as that gains.
    fn numbers(&mut self, best: &mut Candidate, func: FuncId) {
        let dag = self.pricer.dag;
        if best.state.is_inlined(func) || self.kept.has(func) {
            return;
        }
        for stage in 0..dag.funcs[func].stages.len() {
            loop {
                let Some(region) = self.pricer.region(&best.state, func, 0) else { return };
                let domain = dag.domain((func, stage), &region);
                let Some(shape) = best.state.shape((func, stage)).cloned() else { return };
                let is_root = best.state.place(func) == Place::Root;
                let most_lanes = i64::from(self.target.vector_bits) / 8 / dag.funcs[func].widths.1.max(1);
                let enough = best.ns() - LEAST_PART * self.near_ns(best, func);
                let mut least: Option<Candidate> = None;
                for next in moves::shapes(dag, (func, stage), &shape, &domain, is_root, most_lanes) {
                    if self.is_over() {
                        return;
                    }
                    let writes_terms = (0..next.regs.len()).any(|n| {
                        let is_term = dag.funcs[func].stages[stage].vars[n].dim.is_none();
                        is_term && next.regs[n] != shape.regs[n]
                    });
                    if (next.order != shape.order && self.has_outer_members(&best.state, func))
                        || writes_terms && best.state.has_members(func)
                    {
                        continue;
                    }
                    let mut state = best.state.clone();
                    state.choice_mut(func).shapes[stage] = next;
                    let candidate = self.changed(best, state, &[func]);
                    if candidate.ns() < least.as_ref().map_or(enough, |l| l.ns()) {
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
}

/// Turns vectors that are shorter than those around them along the first variable that has as many elements.
fn align_vector(shape: &mut Shape, vars: &[StageVar], domain: &[(i64, i64)], lanes: i64) {
    let Some((along, _)) = shape.vector.filter(|(along, _)| extent(domain[*along]) < lanes) else { return };
    let fits = |n: &usize| vars[*n].dim.is_some() && vars[*n].tells_apart && extent(domain[*n]) >= lanes;
    if let Some(n) = (0..vars.len()).find(fits) {
        shape.vector = Some((n, lanes));
        shape.order.retain(|m| *m != n);
        let at = shape.order.iter().position(|m| *m == along).unwrap_or(0);
        shape.order.insert(at, n);
    }
}

/// Narrows vectors that are wider than what they go along.
fn fit_vector(shape: &mut Shape, domain: &[(i64, i64)]) {
    let Some((along, lanes)) = shape.vector else { return };
    let most = extent(domain[along]).max(1);
    if most < lanes {
        shape.vector = Some((along, 1 << most.ilog2())).filter(|(_, lanes)| *lanes > 1);
    }
}

/// Writes out all loops over elements, if they are few.
fn write_out(shape: &mut Shape, vars: &[StageVar], domain: &[(i64, i64)]) {
    let mut regs = shape.regs.clone();
    for n in (0..vars.len()).filter(|n| vars[*n].tells_apart && vars[*n].dim.is_some()) {
        let lanes = shape.vector.filter(|(v, _)| *v == n).map_or(1, |(_, lanes)| lanes);
        regs[n] = pieces(extent(domain[n]).max(1), lanes);
    }
    if regs.iter().product::<i64>() <= MOST_REGISTERS {
        shape.regs = regs;
    }
}
