//! The Funcs whose places and loops are given, which a search leaves as they are.

use halide_core::ids::FuncId;
use halide_core::pipeline::Pipeline;
use halide_sched::plan::{Level, Plan};
use halide_sched::schedule::{Schedule, Scope, Verb, made_names, rfactor_name};
use std::collections::{BTreeMap, BTreeSet};

/// The names of a definition's loops, outermost first, where they have one.
pub(crate) type LoopNames = Vec<Option<String>>;

/// The Funcs whose places and loops are given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    funcs: BTreeSet<FuncId>,
    /// The names of their loops, outermost first.
    loops: BTreeMap<(FuncId, usize), LoopNames>,
}

impl Kept {
    /// The Funcs of a plan that `given` directives place or give loops, and those in whose loops these are; and copies
    /// of Funcs that no schedule can name. A schedule that `begins` so can name what that makes.
    pub(crate) fn new(
        given: &Schedule,
        begins: &Schedule,
        pipeline: &Pipeline,
        plan: &Plan,
        loops: BTreeMap<(FuncId, usize), LoopNames>,
    ) -> Kept {
        let (names, known) = (told(given), known(begins, pipeline));
        let is_told = |id: &FuncId| {
            let name = plan.pipeline.funcs[*id].name.as_str();
            names.contains(name) || !known.contains(name)
        };
        let mut todo: Vec<FuncId> = plan.pipeline.order.iter().copied().filter(is_told).collect();
        let mut funcs = BTreeSet::new();
        while let Some(func) = todo.pop() {
            if funcs.insert(func) {
                let of = &plan.funcs[func];
                let levels = [&of.compute, &of.store].into_iter();
                todo.extend(levels.filter_map(|l| if let Level::At { func, .. } = l { Some(*func) } else { None }));
                todo.extend(of.stages.iter().filter_map(|stage| stage.with.as_ref()).map(|with| with.leader.0));
            }
        }
        Kept { funcs, loops }
    }

    /// Returns true if the place and the loops of a Func are given.
    pub(crate) fn has(&self, func: FuncId) -> bool {
        self.funcs.contains(&func)
    }

    /// The Funcs.
    pub(crate) fn funcs(&self) -> impl Iterator<Item = FuncId> {
        self.funcs.iter().copied()
    }

    /// The name of the loop of a definition that has `depth - 1` loops around it.
    pub(crate) fn name(&self, of: (FuncId, usize), depth: usize) -> Option<&str> {
        self.loops.get(&of)?.get(depth.checked_sub(1)?)?.as_deref()
    }
}

/// The names of Funcs that directives place or give loops, and of those in whose loops they place them.
pub(crate) fn told(given: &Schedule) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for directive in given.directives().iter().filter(|d| is_about_loops(&d.verb)) {
        names.insert(directive.subject.func.as_str());
        if let Verb::ComputeAt(site) | Verb::StoreAt(site) | Verb::ComputeWith { site, .. } = &directive.verb {
            names.insert(site.func.as_str());
        }
    }
    names
}

/// Returns true if a directive says something about the place or the loops of its Func.
pub(crate) fn is_about_loops(verb: &Verb) -> bool {
    match verb {
        Verb::ReorderStorage(_) | Verb::AlignStorage { .. } | Verb::Bound { .. } | Verb::BoundExtent { .. } => false,
        Verb::AlignBounds { .. } | Verb::AlignExtent { .. } | Verb::SplitStorage { .. } | Verb::Float(_) => false,
        Verb::SetEstimate { .. } | Verb::SetEstimates(_) => false,
        verb => verb.scope() != Scope::Graph,
    }
}

/// The names of Funcs that a schedule can say.
fn known(begins: &Schedule, pipeline: &Pipeline) -> BTreeSet<String> {
    let own = pipeline.funcs.iter().map(|func| func.name.clone());
    own.chain(begins.directives().iter().flat_map(made_names)).collect()
}

/// Directives, with Funcs outside of all loops that these give loops and no place; with `with_parts`, parts of
/// reductions that have none, too.
pub(crate) fn placed(given: &Schedule, pipeline: &Pipeline, with_parts: bool) -> Schedule {
    let places = given.directives().iter().filter(|d| {
        use Verb::{ComputeAt, ComputeInline, ComputeRoot, Memoize};
        matches!(d.verb, ComputeRoot | Memoize | ComputeAt(_) | ComputeInline)
    });
    let places: BTreeSet<&str> = places.map(|d| d.subject.func.as_str()).collect();
    let mut all = given.clone();
    let parts = given.directives().iter().filter_map(|d| match &d.verb {
        Verb::Rfactor { vars, .. } if with_parts => Some(rfactor_name(&d.subject.func, vars)),
        _ => None,
    });
    let names: BTreeSet<String> = told(given).into_iter().map(str::to_string).chain(parts).collect();
    for name in names.iter().filter(|name| !places.contains(name.as_str())) {
        let is_output = pipeline.outputs.iter().any(|id| pipeline.funcs[*id].name == *name);
        if !is_output {
            all.func(name.as_str()).compute_root();
        }
    }
    all
}

/// Directives, with all Funcs outside of all loops that they say nothing about; with `pure`, only those with updates.
pub(crate) fn completed(given: &Schedule, pipeline: &Pipeline, with_pure: bool) -> Schedule {
    let names = told(given);
    let mut all = given.clone();
    for func in pipeline.order.iter().map(|id| &pipeline.funcs[*id]) {
        if !names.contains(func.name.as_str()) && (with_pure || !func.is_pure()) {
            all.func(func.name.as_str()).compute_root();
        }
    }
    all
}
