//! The choice of a schedule for the host that begins with some directives: a search, and what code the compiler makes
//! of what it finds.

use crate::begin::beginnings;
use crate::chosen::{Auto, AutoOptions, Inspect};
use crate::cost::Pricer;
use crate::dag::{Box as Spans, Dag, volume};
use crate::emit;
use crate::error::AutoError;
use crate::estimate::Complete;
use crate::ground::Ground;
use crate::group::groups_of;
use crate::import::state_of;
use crate::inline::inlined;
use crate::kept::{Kept, completed, placed};
use crate::legal::lowers;
use crate::role::Role;
use crate::search::{Candidate, Search};
use crate::sizes::{asks_for_more, needs};
use crate::state::{Place, State};
use crate::tuning::INSPECTIONS;
use halide_core::ids::{FuncId, IdVec, ImageId};
use halide_core::pipeline::Pipeline;
use halide_ir::machine::Machine;
use halide_ir::target::Target;
use halide_sched::lower::regions::query::Need;
use halide_sched::plan::{Plan, resolve};
use halide_sched::schedule::{FloatMode, Schedule};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A question for a schedule.
pub(crate) struct Chooser<'q> {
    pub(crate) pipeline: &'q Pipeline,
    pub(crate) target: &'q Target,
    pub(crate) machine: &'q Machine,
    pub(crate) complete: &'q Complete,
    pub(crate) options: &'q AutoOptions,
}

impl Chooser<'_> {
    /// The best schedule that begins with some directives, and other beginnings that may be better.
    pub(crate) fn answer(
        &self,
        given: &Schedule,
        inspect: &mut Inspect<'_>,
    ) -> Result<(Auto, Vec<Schedule>), AutoError> {
        let (begins, simple, plan) = self.begins(given)?;
        let rewritten = plan.as_ref().map_or(self.pipeline, |plan| &plan.pipeline).clone();
        let ground = Ground::new(rewritten, self.target, self.complete)?;
        let dag = ground.dag(self.options.floats != FloatMode::Strict);
        let roots = ground.roots(&dag);
        let inlined = inlined(&ground.pipeline, &points(&dag, &roots));
        let first = State::first(&dag, &roots, &|func| inlined[func], self.target);
        let pricer = Pricer::new(&dag, self.machine, self.target.threads, &roots);
        let (first, kept) = match &plan {
            Some(plan) => self.with_kept(first, given, plan, &pricer)?,
            None => (first, Kept::default()),
        };
        let mut search = Search::new(pricer, self.target);
        search.kept = Rc::new(kept);
        let breadth_first = search.candidate(first);
        let mut best = search.run(breadth_first.clone());
        let is_long = search.is_over();
        let mut refused = Vec::new();
        let mut inspected: Vec<Candidate> = Vec::new();
        for _ in 0..INSPECTIONS {
            let schedule = self.schedule(&search, &best, &begins);
            let slow = match self.slow_stages(&search, &best, &schedule, &ground.needs, inspect) {
                Ok(Some(slow)) => slow,
                Ok(None) => break,
                // What compiled before is taken.
                Err(reasons) => {
                    refused.push(reasons.to_string());
                    best = inspected.last().unwrap_or(&breadth_first).clone();
                    break;
                }
            };
            inspected.push(best.clone());
            if slow.is_empty() {
                break;
            }
            let funcs: Vec<FuncId> = slow.iter().map(|of| of.0).collect();
            search.pricer.note_slow(&breadth_first.state, &best.state, slow);
            let again = search.candidate(best.state);
            best = search.go_on(again, &funcs);
        }
        // Those that were looked at, with what is known of all of them now.
        let known: Vec<Candidate> = inspected.into_iter().map(|c| search.candidate(c.state)).collect();
        best = known.into_iter().min_by(|a, b| a.ns().total_cmp(&b.ns())).unwrap_or(best);
        let breadth_first_ns = breadth_first.ns();
        // A search that ended early is not begun again for copies.
        let copies = if is_long { Vec::new() } else { beginnings(&best, given, &search.kept, &search.pricer) };
        for candidate in [best, breadth_first] {
            let schedule = self.schedule(&search, &candidate, &begins);
            let compiles = match refused.is_empty() {
                true => lowers(self.pipeline, &schedule, self.target),
                false => self.compiles(&schedule, inspect),
            };
            match compiles {
                Ok(()) => {
                    let (predicted_ns, groups) = (candidate.ns(), groups_of(&candidate, &mut search.pricer));
                    let priced = search.pricer.priced;
                    return Ok((Auto { schedule, predicted_ns, breadth_first_ns, groups, priced, refused }, copies));
                }
                Err(reasons) => refused.push(reasons.to_string()),
            }
        }
        // Then what is given may be at fault.
        self.compiles(&simple, inspect)?;
        let (schedule, priced) = (simple, search.pricer.priced);
        let groups = Vec::new();
        Ok((Auto { schedule, predicted_ns: breadth_first_ns, breadth_first_ns, groups, priced, refused }, Vec::new()))
    }

    /// Directives that a schedule begins with, a whole schedule that does, and its plan if there are any.
    pub(crate) fn begins(&self, given: &Schedule) -> Result<(Schedule, Schedule, Option<Plan>), AutoError> {
        match given.is_empty() {
            true => Ok((Schedule::new(), Schedule::all_at_root(self.pipeline), None)),
            false => self.begun(given).map(|(begins, simple, plan)| (begins, simple, Some(plan))),
        }
    }

    /// Directives that a schedule begins with, a whole schedule that does, and its plan. Funcs that are given no place
    /// are outside of all loops, or substituted where Funcs that are placed would not be where these are.
    fn begun(&self, given: &Schedule) -> Result<(Schedule, Schedule, Plan), AutoError> {
        let plan = |schedule: &Schedule| resolve(self.pipeline, schedule, self.target);
        let begins = placed(given, self.pipeline, true);
        // What a search thinks of, which follows what is kept, is placed by it.
        let mut first = placed(&self.options.keep, self.pipeline, false);
        given.directives().iter().skip(self.options.keep.directives().len()).for_each(|d| first.push(d.clone()));
        for whole in [true, false].map(|with_pure| completed(&begins, self.pipeline, with_pure)) {
            if let Ok(plan) = plan(&whole) {
                return Ok((first, whole, plan));
            }
        }
        Ok((given.clone(), given.clone(), plan(given).map_err(AutoError::Schedule)?))
    }

    /// A first state with the Funcs that are kept as they are, and these.
    pub(crate) fn with_kept(
        &self,
        first: State,
        given: &Schedule,
        plan: &Plan,
        pricer: &Pricer<'_>,
    ) -> Result<(State, Kept), AutoError> {
        if self.options.keep.is_empty() {
            return Ok((first, Kept::default()));
        }
        let read = state_of(plan, pricer, &self.complete.params, self.target)?;
        let kept = Kept::new(&self.options.keep, given, self.pipeline, plan, read.loops);
        let mut state = first;
        kept.funcs().for_each(|func| state.choices[func] = read.state.choices[func].clone());
        let is_placed = |func: FuncId| match state.place(func) {
            Place::At { host, depth, .. } => state.encloses(pricer.dag, func, host, depth),
            Place::Inline | Place::Root => true,
        };
        Ok(if kept.funcs().all(is_placed) { (state, kept) } else { (read.state, kept) })
    }

    fn schedule(&self, search: &Search<'_>, candidate: &Candidate, begins: &Schedule) -> Schedule {
        let dag = search.pricer.dag;
        let mut schedule = begins.clone();
        schedule.append(&emit::schedule(&search.pricer, &candidate.state, self.target, &search.kept, &|_| Role::Host));
        if self.options.floats != FloatMode::Strict {
            allow_floats(&mut schedule, dag, self.options.floats, &candidate.state, &search.kept);
        }
        emit::specialize(&mut schedule, &search.pricer, &candidate.state, &search.kept);
        schedule
    }

    /// Asks the compiler for a schedule that others were refused beside.
    pub(crate) fn compiles(&self, schedule: &Schedule, inspect: &mut Inspect<'_>) -> Result<(), AutoError> {
        lowers(self.pipeline, schedule, self.target)?;
        let plan = resolve(self.pipeline, schedule, self.target).map_err(AutoError::Schedule)?;
        inspect(&plan).map(drop)
    }

    /// The definitions whose innermost loops have no code with vectors, or else those with others in their innermost
    /// loops, if code asks for more of the inputs than `plain` loops do: then code runs that guards each point.
    /// `None` if nobody tells.
    fn slow_stages(
        &self,
        search: &Search<'_>,
        candidate: &Candidate,
        schedule: &Schedule,
        plain: &IdVec<ImageId, Need>,
        inspect: &mut Inspect<'_>,
    ) -> Result<Option<Vec<(FuncId, usize)>>, AutoError> {
        let plan = resolve(self.pipeline, schedule, self.target).map_err(AutoError::Schedule)?;
        let Some(facts) = inspect(&plan)? else { return Ok(None) };
        let dag = search.pricer.dag;
        let mut slow = Vec::new();
        for (id, choice) in candidate.state.choices.enumerate() {
            if choice.place == Place::Inline || search.kept.has(id) {
                continue;
            }
            for (n, shape) in choice.shapes.iter().enumerate() {
                let name = emit::innermost_loop(dag, (id, n), shape);
                let is_vector = shape.vector.is_some();
                slow.extend(Some((id, n)).filter(|_| is_vector && facts.refused.contains(&name)));
            }
        }
        let asks_for_more = || needs(&plan, self.complete).is_ok_and(|needs| asks_for_more(&needs, plain));
        if slow.is_empty() && asks_for_more() {
            let state = &candidate.state;
            let inner = state.choices.ids().filter(|func| state.is_innermost(*func));
            let hosts: BTreeSet<(FuncId, usize)> = inner.filter_map(|func| state.host(func)).collect();
            slow.extend(hosts.into_iter().filter(|host| !search.kept.has(host.0)));
        }
        Ok(Some(slow))
    }
}

/// The points of each Func that are computed, and those that its updates go over.
pub(crate) fn points(dag: &Dag<'_>, roots: &BTreeMap<FuncId, Spans>) -> BTreeMap<FuncId, f64> {
    let all = |func: FuncId, region: &Spans| {
        (0..dag.funcs[func].stages.len()).map(|n| volume(&dag.domain((func, n), region))).sum::<f64>()
    };
    roots.iter().map(|(func, region)| (*func, all(*func, region))).collect()
}

/// Lets definitions of floats use them so.
pub(crate) fn allow_floats(schedule: &mut Schedule, dag: &Dag<'_>, floats: FloatMode, state: &State, kept: &Kept) {
    for (id, choice) in state.choices.enumerate().filter(|(id, _)| !kept.has(*id)) {
        let def = &dag.pipeline.funcs[id];
        if choice.place == Place::Inline || !def.types.iter().any(|ty| ty.is_float()) {
            continue;
        }
        for n in 0..def.stages.len() {
            let stage = schedule.func(def.name.as_str());
            drop(if n == 0 { stage.float(floats) } else { stage.update(n - 1).float(floats) });
        }
    }
}
