//! The loops of one definition while directives are applied to them, one after the other.

use super::cases;
use super::dependence::{Conflict, Nest};
use super::diagnostics::{OrderReason, Problem, StepReason};
use super::facts::Facts;
use super::known;
use super::labels::Labels;
use super::options::StageOptions;
use super::query;
use crate::plan::access::Collision;
use crate::plan::types::{
    InstructionCall, KnownSpan, Prefetch, StagePlan, StageVar, StageVarInfo, Transform, Used, VarOrigin,
};
use crate::schedule::{Align, Condition, FloatMode, LoopKind, Partition, closest};
use halide_core::error::Location;
use halide_core::ids::{FuncId, IdVec};
use halide_ir::Expr;
use std::collections::{BTreeMap, BTreeSet};

/// A variant of a stage as far as it is scheduled.
#[derive(Clone, Debug)]
pub(super) struct StageDraft {
    /// The subject as text, for messages.
    pub(super) subject: String,
    pub(super) facts: Facts,
    pub(super) vars: IdVec<StageVar, StageVarInfo>,
    pub(super) transforms: Vec<Transform>,
    /// Outermost first.
    pub(super) loops: Vec<LoopDraft>,
    pub(super) float: FloatMode,
    /// Set if elements are changed in one step.
    pub(super) atomic: Option<Atomic>,
    pub(super) prefetches: Vec<Prefetch>,
    pub(super) options: StageOptions,
    pub(super) uses: Vec<UseDraft>,
    /// The stage whose outer loops run as one with its own.
    pub(super) with: Option<WithDraft>,
    /// Condition, its text, and the variant.
    pub(super) variants: Vec<(Expr, String, StageDraft)>,
    pub(super) fail: Option<(String, Option<Location>)>,
    /// Constants of the region of an output by the conditions of a specialisation, dimension by dimension.
    pub(super) known: Vec<KnownSpan>,
    /// The loops whose order among themselves the result depends on, in the order of the definition, outermost first.
    pub(super) natural: Vec<StageVar>,
    /// The directive of each split, by the variable that it replaced.
    pub(super) split_by: BTreeMap<StageVar, usize>,
    /// The constant extents of the definition's variables.
    extents: Vec<Option<i64>>,
    /// Names that were replaced, and by what directive.
    pub(super) replaced: BTreeMap<String, String>,
    /// Names that a directive with an error would have made: no more errors about them.
    broken: BTreeSet<String>,
}

/// The arguments of `atomic`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Atomic {
    /// The schedule vouches that the order does not matter.
    pub(super) any_order: bool,
}

/// An instruction that the schedule names, and the directive that does.
#[derive(Clone, Debug)]
pub(super) struct UseDraft {
    pub(super) plan: Used,
    pub(super) directive: usize,
}

/// The arguments of `compute_with`.
#[derive(Clone, Debug)]
pub(super) struct WithDraft {
    /// The stage that it is computed with.
    pub(super) leader: (FuncId, usize),
    /// The innermost loop that runs as one.
    pub(super) var: String,
    pub(super) align: Align,
    /// Alignments of loops by name.
    pub(super) each: Vec<(String, Align)>,
    pub(super) directive: usize,
}

/// A loop, and the directive that chose its kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoopDraft {
    pub(super) var: StageVar,
    pub(super) kind: LoopKind,
    pub(super) partition: Partition,
    pub(super) mark: Option<usize>,
    /// The place at which its kind or partition was chosen.
    pub(super) at: Option<Location>,
}

/// The number, place and text of a directive, for splits and messages.
pub(super) struct Source<'d> {
    pub(super) number: usize,
    pub(super) at: Option<Location>,
    pub(super) text: &'d str,
}

/// The outcome of applying a directive. `Err(None)` is a mistake that follows from one reported before.
pub(super) type Applied<T = ()> = Result<T, Option<Problem>>;

pub(super) fn wrong<T>(problem: Problem) -> Applied<T> {
    Err(Some(problem))
}

impl StageDraft {
    /// The default loops: reduction variables innermost, dimension 0 innermost among its kind, all serial.
    pub(super) fn new(subject: String, facts: Facts, dim_extent: &dyn Fn(usize) -> Option<i64>) -> StageDraft {
        let mut vars = IdVec::new();
        let (mut pure, mut reduction) = (Vec::new(), Vec::new());
        let mut extents = Vec::new();
        for root in &facts.roots {
            let is_reduction = matches!(root.origin, VarOrigin::Reduction { .. });
            let var = vars.push(StageVarInfo { name: root.name.clone(), origin: root.origin, reduction: is_reduction });
            extents.push(match root.origin {
                VarOrigin::Pure { dim } => dim_extent(dim),
                _ => root.extent,
            });
            if is_reduction { reduction.push(var) } else { pure.push(var) }
        }
        let order = pure.into_iter().rev().chain(reduction.into_iter().rev());
        let loop_of = |var| LoopDraft { var, kind: LoopKind::Serial, partition: Partition::Auto, mark: None, at: None };
        let loops: Vec<LoopDraft> = order.map(loop_of).collect();
        let dependent = |l: &&LoopDraft| !facts.roots[l.var.0 as usize].independent;
        let natural = loops.iter().filter(dependent).map(|l| l.var).collect();
        StageDraft {
            subject,
            vars,
            transforms: Vec::new(),
            loops,
            float: FloatMode::Strict,
            atomic: None,
            with: None,
            prefetches: Vec::new(),
            options: StageOptions::default(),
            uses: Vec::new(),
            variants: Vec::new(),
            fail: None,
            known: Vec::new(),
            natural,
            split_by: BTreeMap::new(),
            extents,
            replaced: BTreeMap::new(),
            broken: BTreeSet::new(),
            facts,
        }
    }

    /// A copy of the loops so far, for a specialisation.
    pub(super) fn variant(&self, subject: String) -> StageDraft {
        StageDraft { subject, variants: Vec::new(), fail: None, with: None, ..self.clone() }
    }

    /// Notes what holds of the region of an output with so many dimensions, in a variant that runs under a condition.
    pub(super) fn learn(&mut self, condition: &Condition, func: &str, dims: usize) {
        self.known.resize(dims, KnownSpan::default());
        known::learn(condition, func, &mut self.known);
        for (root, extent) in self.facts.roots.iter().zip(&mut self.extents) {
            let VarOrigin::Pure { dim } = root.origin else { continue };
            *extent = extent.or(self.known[dim].extent);
        }
    }

    /// The checked form.
    pub(super) fn finish(self, labels: &mut Labels) -> StagePlan {
        self.finish_case(labels, "")
    }

    /// The checked form of what runs in a case of other specialisations, which is empty if there are none.
    fn finish_case(self, labels: &mut Labels, outer: &str) -> StagePlan {
        let rest = if self.variants.is_empty() { outer.to_string() } else { cases::otherwise(outer) };
        let conditions: Vec<&str> = self.variants.iter().map(|(_, text, _)| text.as_str()).collect();
        let runs = match conditions.is_empty() {
            true => format!("`{}` is compiled for no case at all", self.subject),
            false => format!("`{}` runs only where {}", self.subject, conditions.join(", or ")),
        };
        let fail = self.fail.as_ref().map(|(message, at)| (format!("{runs}: {message}"), *at));
        let loops = self.planned_loops();
        let atomic = self.can_step() && (0..self.loops.len()).any(|p| self.needs_steps(p));
        StagePlan {
            variants: (self.variants.into_iter())
                .map(|(cond, text, draft)| (cond, draft.finish_case(labels, &cases::holds(outer, &text))))
                .collect(),
            fail,
            labels: self.vars.iter().map(|v| labels.label(&v.name)).collect(),
            vars: self.vars,
            transforms: self.transforms,
            loops,
            float: self.float,
            atomic,
            prefetches: self.prefetches,
            options: self.options,
            uses: self.uses.into_iter().map(|used| used.plan).collect(),
            known: self.known,
            with: None,
            agreements: Vec::new(),
            needs: Vec::new(),
            case: rest,
        }
    }

    /// Makes a call of the loops of the instruction that a directive names, in each variant.
    pub(super) fn give_call(&mut self, directive: usize, call: &InstructionCall) {
        let named = self.uses.iter_mut().filter(|used| used.directive == directive);
        named.for_each(|used| used.plan.call = Some(call.clone()));
        self.variants.iter_mut().for_each(|(_, _, variant)| variant.give_call(directive, call));
    }

    /// Returns true if elements can be, and shall be, changed in one step.
    fn can_step(&self) -> bool {
        self.atomic.is_some() && self.facts.changes_one_element
    }

    /// Returns true if threads that run the loop at `position` may change the same element.
    fn needs_steps(&self, position: usize) -> bool {
        let l = &self.loops[position];
        let threads = l.kind == LoopKind::Parallel || l.kind.is_gpu();
        threads && !self.is_one(l) && self.collision(position).is_some()
    }

    /// Returns the reason that the GPU that runs the loop at `position` cannot take the steps that it needs, if it
    /// cannot.
    pub(super) fn no_gpu_step(&self, position: usize) -> Option<StepReason> {
        let gpu = self.loops[position].kind.is_gpu();
        let needed = gpu && self.can_step() && self.needs_steps(position);
        self.facts.no_gpu_step.filter(|_| needed)
    }

    /// Returns the dependence that two iterations of the loop at `position`, from the outermost, may have. Variables of
    /// the definition that only the loops outside determine are the same for both.
    pub(super) fn collision(&self, position: usize) -> Option<Collision> {
        let varies = |root: &StageVar| self.loops[position..].iter().any(|l| self.roots(l.var).contains(root));
        let roots = (0..self.facts.roots.len()).map(|r| StageVar(r as u32));
        let equal = roots.filter(|r| !varies(r)).map(|r| r.0 as usize).collect();
        let apart = self.facts.accesses.told_apart(&equal);
        let may = self.roots(self.loops[position].var).into_iter().find_map(|r| apart[r.0 as usize].err())?;
        // Predicates and the sizes of parts may tell more.
        let never = self.nest().at_once(self.position_in_nest(position)) == Ok(None);
        (!never).then_some(may)
    }

    /// Two accesses that iterations of the loop at `position` may make of one element.
    pub(super) fn conflict(&self, position: usize) -> Option<Conflict> {
        self.nest().at_once(self.position_in_nest(position)).ok().flatten()
    }

    pub(super) fn nest(&self) -> Nest<'_> {
        let loops = self.loops.iter().filter(|l| !self.is_one(l)).map(|l| l.var).collect();
        Nest { space: &self.facts.space, transforms: &self.transforms, loops }
    }

    fn position_in_nest(&self, position: usize) -> usize {
        self.loops[..position].iter().filter(|l| !self.is_one(l)).count()
    }

    /// Returns the reason that the iterations cannot come in any order, if they cannot.
    pub(super) fn order_matters(&self) -> Option<OrderReason> {
        match self.facts.order {
            Ok(()) => None,
            Err(OrderReason::Floats) if self.float == FloatMode::Relaxed => None,
            Err(why) => Some(why),
        }
    }

    /// The name of a variable.
    pub(super) fn name(&self, var: StageVar) -> &str {
        &self.vars[var].name
    }

    /// The position of the loop called `name`, from the outermost.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.loops.iter().position(|l| self.name(l.var) == name && !self.is_one(l))
    }

    /// Returns true if a loop is the one block of a single thread, which no directive speaks of.
    pub(super) fn is_one(&self, l: &LoopDraft) -> bool {
        self.vars[l.var].origin == VarOrigin::One
    }

    /// Makes the stage a kernel of one thread.
    pub(super) fn single_thread(&mut self, directive: usize) {
        if self.loops.iter().any(|l| self.is_one(l)) {
            return;
        }
        let name = self.unused_name("gpu_single_thread");
        let var = self.vars.push(StageVarInfo { name, origin: VarOrigin::One, reduction: false });
        let (kind, partition) = (LoopKind::GpuBlocks, Partition::Auto);
        self.loops.insert(0, LoopDraft { var, kind, partition, mark: Some(directive), at: None });
    }

    /// The position of the loop over a reduction variable that the frozen pipeline calls `name`.
    pub(super) fn frozen(&self, name: &str) -> Option<usize> {
        let root = self.facts.roots.iter().find(|root| root.frozen.as_deref() == Some(name))?;
        self.position(&root.name)
    }

    /// The names of the loops, outermost first.
    pub(super) fn loop_names(&self) -> Vec<String> {
        self.loops.iter().filter(|l| !self.is_one(l)).map(|l| self.name(l.var).to_string()).collect()
    }

    /// The constant extent of a variable, if it has one.
    pub(super) fn extent(&self, var: StageVar) -> Option<i64> {
        query::const_extent(&self.transforms, var, &|root| match self.vars[root].origin {
            VarOrigin::One => Some(1),
            _ => self.extents.get(root.0 as usize).copied().flatten(),
        })
    }

    /// Returns true if a name was left undefined by a mistake that has been reported.
    pub(super) fn is_broken(&self, name: &str) -> bool {
        self.broken.contains(name)
    }

    /// Says that a directive with an error would have made these names.
    pub(super) fn break_names(&mut self, names: &[&String]) {
        self.broken.extend(names.iter().map(|n| n.to_string()));
    }

    /// The position of a loop that a directive names.
    pub(super) fn find(&self, name: &str) -> Applied<usize> {
        if let Some(position) = self.position(name).or_else(|| self.frozen(name)) {
            return Ok(position);
        }
        if self.broken.contains(name) {
            return Err(None);
        }
        let of = self.subject.clone();
        if let Some(by) = self.replaced.get(name) {
            return wrong(Problem::LoopReplaced { of, name: name.to_string(), by: by.clone() });
        }
        let loops = self.loop_names();
        let near = closest(name, loops.iter().map(String::as_str)).map(str::to_string);
        wrong(Problem::UnknownLoop { of, name: name.to_string(), loops, near, owner: None })
    }

    /// Checks that `name` can be given to a new variable, when the variable at hand gives up its own name.
    pub(super) fn check_new(&self, name: &str, given_up: &[StageVar]) -> Applied {
        if name.is_empty() {
            return wrong(Problem::EmptyName);
        }
        let taken = self.vars.enumerate().any(|(v, info)| info.name == name && !given_up.contains(&v));
        if taken {
            return wrong(Problem::NameTaken { of: self.subject.clone(), name: name.to_string() });
        }
        Ok(())
    }

    /// Makes a variable. A replaced variable of the same name gets another one, which only reports show.
    pub(super) fn new_var(&mut self, name: &str, reduction: bool) -> StageVar {
        let old = self.vars.enumerate().find(|(_, v)| v.name == name).map(|(old, _)| old);
        if let Some(old) = old {
            let renamed = self.unused_name(&format!("{name}$whole"));
            self.vars[old].name = renamed;
        }
        self.replaced.remove(name);
        self.vars.push(StageVarInfo { name: name.to_string(), origin: VarOrigin::Derived, reduction })
    }

    /// `wanted`, or `wanted` with a number.
    pub(super) fn unused_name(&self, wanted: &str) -> String {
        let taken = |name: &str| self.vars.iter().any(|v| v.name == name);
        let numbered = (1..).map(|n| format!("{wanted}{n}"));
        std::iter::once(wanted.to_string()).chain(numbered).find(|n| !taken(n)).expect("some number is unused")
    }

    /// Sets the kind of a loop.
    pub(super) fn mark(&mut self, name: &str, kind: LoopKind, source: &Source<'_>) -> Applied {
        let position = self.find(name)?;
        let l = &mut self.loops[position];
        (l.kind, l.mark, l.at) = (kind, Some(source.number), source.at);
        Ok(())
    }

    /// The definition's variables that change with `var`: those that it is made of, and those that are skewed by it.
    pub(super) fn roots(&self, var: StageVar) -> BTreeSet<StageVar> {
        let (mut roots, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let mut todo = vec![var];
        while let Some(v) = todo.pop() {
            // A loop that is skewed by another one twice and that other one lead to each other.
            if !seen.insert(v) {
                continue;
            }
            todo.extend(self.transforms.iter().filter_map(|t| match t {
                Transform::Skew { var, along, .. } if *along == v => Some(*var),
                _ => None,
            }));
            match self.maker(v) {
                None => drop(roots.insert(v)),
                Some(Transform::Split { var, .. } | Transform::Balance { var, .. }) => todo.push(*var),
                // An iteration of it may be one of any of the other variable.
                Some(Transform::Skew { var, along, .. }) => todo.extend([*var, *along]),
                Some(Transform::Fuse { inner, outer, .. }) => todo.extend([*inner, *outer]),
            }
        }
        roots
    }

    /// The transform that made `var`, if one did.
    pub(super) fn maker(&self, var: StageVar) -> Option<&Transform> {
        self.transforms.iter().find(|t| match t {
            Transform::Split { outer, inner, .. } | Transform::Balance { outer, inner, .. } => {
                *outer == var || *inner == var
            }
            Transform::Skew { skewed, .. } => *skewed == var,
            Transform::Fuse { fused, .. } => *fused == var,
        })
    }
}
