//! The choice of a schedule for a host with a GPU.

use super::price::{Prices, thread};
use super::search::{Candidate, Search};
use crate::chooser::{Chooser, allow_floats, points};
use crate::chosen::{Auto, Inspect};
use crate::cost::Pricer;
use crate::dag::Dag;
use crate::emit;
use crate::error::AutoError;
use crate::ground::Ground;
use crate::group::groups_by;
use crate::inline::inlined;
use crate::kept::Kept;
use crate::role::Role;
use crate::state::{Place, State};
use crate::tuning::INSPECTIONS;
use halide_core::ids::FuncId;
use halide_ir::target::{Gpu, Target};
use halide_sched::lower::{LowerError, LowerOptions, lower};
use halide_sched::plan::resolve;
use halide_sched::schedule::{FloatMode, Schedule};
use std::collections::BTreeSet;

/// Chooses a schedule with kernels, or one for the host alone where that is predicted to be faster.
///
/// # Errors
/// Algorithms that no schedule can lower, directives with mistakes, and those that make kernels.
pub(crate) fn choose(chooser: &Chooser<'_>, gpu: Gpu, inspect: &mut Inspect<'_>) -> Result<Auto, AutoError> {
    let given = &chooser.options.keep;
    let (on_host, _) = chooser.answer(given, inspect)?;
    let (begins, _, plan) = chooser.begins(given)?;
    let rewritten = plan.as_ref().map_or(chooser.pipeline, |plan| &plan.pipeline).clone();
    let ground = Ground::new(rewritten, chooser.target, chooser.complete)?;
    let dag = ground.dag(chooser.options.floats != FloatMode::Strict);
    let roots = ground.roots(&dag);
    let inlined = inlined(&ground.pipeline, &points(&dag, &roots));
    let first = State::first(&dag, &roots, &|func| inlined[func], chooser.target);
    let host = Pricer::new(&dag, chooser.machine, chooser.target.threads, &roots);
    let (first, kept) = match &plan {
        Some(plan) => chooser.with_kept(first, given, plan, &host)?,
        None => (first, Kept::default()),
    };
    let speed = chooser.options.gpu_speed();
    let machine = thread(&speed);
    let threads = Pricer::new(&dag, &machine, 1, &roots).of_lanes_apart();
    let in_steps = in_steps(&dag, chooser.target);
    let prices = Prices { threads, host, speed: &speed, limits: gpu };
    let mut search = Search::new(prices, chooser.target, kept, in_steps);
    let first = search.first(first);
    let breadth_first_ns = first.ns();
    let best = search.run(first);
    let writer = Writer { chooser, begins: &begins };
    let (best, reasons) = writer.legal(&mut search, best, inspect);
    let (priced, mut refused) = (on_host.priced + search.priced(), on_host.refused.clone());
    refused.extend(reasons);
    match best.filter(|best| best.ns() < on_host.predicted_ns) {
        Some(best) => {
            let schedule = writer.schedule(&search, &best);
            let (predicted_ns, groups) = {
                let (dag, hybrid) = (search.prices.host.dag, &best.hybrid);
                let price = &mut |of| search.prices.stage(hybrid, of);
                (best.ns(), groups_by(dag, &hybrid.state, &best.groups, price))
            };
            Ok(Auto { schedule, predicted_ns, breadth_first_ns, groups, priced, refused })
        }
        None => Ok(Auto { priced, refused, ..on_host }),
    }
}

struct Writer<'w> {
    chooser: &'w Chooser<'w>,
    begins: &'w Schedule,
}

impl Writer<'_> {
    /// The schedule that a candidate stands for.
    fn schedule(&self, search: &Search<'_>, candidate: &Candidate) -> Schedule {
        let (pricer, state, floats) = (&search.prices.host, &candidate.hybrid.state, self.chooser.options.floats);
        let role = |func: FuncId| candidate.hybrid.role(func);
        let mut schedule = self.begins.clone();
        schedule.append(&emit::schedule(pricer, state, self.chooser.target, &search.kept, &role));
        if floats != FloatMode::Strict {
            allow_floats(&mut schedule, pricer.dag, floats, state, &search.kept);
        }
        emit::specialize(&mut schedule, pricer, state, &search.kept);
        schedule
    }

    /// The best candidate that the compiler takes, with its reasons against kernels that the host computes instead:
    /// where it refuses one with others in it, the search goes on without one of these there.
    fn legal(
        &self,
        search: &mut Search<'_>,
        mut best: Candidate,
        inspect: &mut Inspect<'_>,
    ) -> (Option<Candidate>, Vec<String>) {
        let mut legal: Option<Candidate> = None;
        for _ in 0..INSPECTIONS {
            if self.takes(search, &best, inspect).is_ok() {
                let best = legal.filter(|legal| legal.ns() < best.ns()).unwrap_or(best);
                return (Some(best), Vec::new());
            }
            // Most reasons name a Func; others are looked for.
            loop {
                let culprits = self.named(search, &best);
                if culprits.is_empty() {
                    break;
                }
                culprits.iter().for_each(|culprit| search.refuse(&best, *culprit));
                best = search.apart(&best, &culprits);
            }
            if self.takes(search, &best, inspect).is_err() {
                for root in kernels(&best) {
                    while let Some(culprit) = self.culprit(search, &best, root, inspect) {
                        search.refuse(&best, culprit);
                        best = search.apart(&best, &[culprit]);
                    }
                }
            } else if legal.as_ref().is_none_or(|legal| best.ns() < legal.ns()) {
                legal = Some(best.clone());
            }
            best = search.run(best);
        }
        if legal.is_some() {
            return (legal, Vec::new());
        }
        let mut reasons = Vec::new();
        for root in kernels(&best) {
            if self.takes_alone(search, &best, root, inspect).is_ok() {
                continue;
            }
            let members = search.members(&best, root);
            best = search.apart(&best, &members);
            for func in members.into_iter().chain([root]) {
                if let Err(reason) = self.takes_alone(search, &best, func, inspect) {
                    reasons.push(reason.to_string());
                    best = search.on_host(&best, &[func]);
                }
            }
        }
        let taken = self.takes(search, &best, inspect);
        reasons.extend(taken.as_ref().err().map(ToString::to_string));
        (taken.is_ok().then_some(best), reasons)
    }

    /// The Funcs in other ones' kernels at which reasons against lowering a candidate point.
    fn named(&self, search: &Search<'_>, best: &Candidate) -> Vec<FuncId> {
        let funcs = &search.prices.host.dag.pipeline.funcs;
        let schedule = self.schedule(search, best);
        let Ok(plan) = resolve(self.chooser.pipeline, &schedule, self.chooser.target) else { return Vec::new() };
        let Err(errors) = lower(&plan, &LowerOptions::default()) else { return Vec::new() };
        let names: BTreeSet<&str> = errors
            .iter()
            .filter_map(|error| match error {
                LowerError::Kernel { problem, .. } => problem.func(),
                _ => None,
            })
            .collect();
        let is_member = |id: &FuncId| {
            !best.hybrid.state.is_inlined(*id) && matches!(best.hybrid.role(*id), Role::Block | Role::Thread)
        };
        funcs.ids().filter(|id| names.contains(funcs[*id].name.as_str())).filter(is_member).collect()
    }

    /// A Func that a kernel must not compute, if it is taken without it and those before it; none if it is taken as it
    /// is, or not even without any.
    fn culprit(
        &self,
        search: &mut Search<'_>,
        best: &Candidate,
        root: FuncId,
        inspect: &mut Inspect<'_>,
    ) -> Option<FuncId> {
        let members = search.members(best, root);
        if members.is_empty() || self.takes_alone(search, best, root, inspect).is_ok() {
            return None;
        }
        (1..=members.len()).find_map(|count| {
            let fewer = search.apart(best, &members[..count]);
            self.takes_alone(search, &fewer, root, inspect).is_ok().then(|| members[count - 1])
        })
    }

    /// Asks the compiler for one of the kernels of a candidate, where the host computes all else.
    fn takes_alone(
        &self,
        search: &mut Search<'_>,
        candidate: &Candidate,
        root: FuncId,
        inspect: &mut Inspect<'_>,
    ) -> Result<(), AutoError> {
        let mut others = kernels(candidate);
        others.retain(|other| *other != root);
        let alone = search.on_host(candidate, &others);
        self.takes(search, &alone, inspect)
    }

    /// Asks the compiler for a candidate.
    fn takes(&self, search: &Search<'_>, candidate: &Candidate, inspect: &mut Inspect<'_>) -> Result<(), AutoError> {
        self.chooser.compiles(&self.schedule(search, candidate), inspect)
    }
}

/// The definitions without points that threads may compute apart whose terms they may add in single steps.
fn in_steps(dag: &Dag<'_>, target: &Target) -> BTreeSet<(FuncId, usize)> {
    let mut found = BTreeSet::new();
    for (func, node) in dag.funcs.enumerate() {
        for (n, stage) in node.stages.iter().enumerate().skip(1) {
            let is_apart = stage.vars.iter().any(|v| v.dim.is_some() && v.tells_apart);
            let term = stage.vars.iter().find(|v| v.dim.is_none());
            let (false, true, Some(term)) = (is_apart, stage.any_order, term) else { continue };
            let mut trial = Schedule::all_at_root(dag.pipeline);
            let definition = trial.func(dag.pipeline.funcs[func].name.as_str()).update(n - 1).atomic();
            drop(definition.gpu_tile([term.name.as_str()], ["halide_blocks"], ["halide_threads"], [64]));
            if resolve(dag.pipeline, &trial, target).is_ok() {
                found.insert((func, n));
            }
        }
    }
    found
}

/// The Funcs with a kernel of their own.
fn kernels(candidate: &Candidate) -> Vec<FuncId> {
    let hybrid = &candidate.hybrid;
    let is_kernel = |id: &FuncId| hybrid.state.place(*id) == Place::Root && hybrid.role(*id) == Role::Kernel;
    hybrid.state.choices.ids().filter(is_kernel).collect()
}
