//! The fluent builder: one method per directive, named by the directive's word in the text form.
//!
//! A method that takes a factor has a sibling `..._tail` that also takes the tail strategy; in the text form that is one
//! more argument. Nothing here can fail: what makes no sense is reported by `plan::resolve`, at the place of the call.

use super::directive::*;
use super::list::Schedule;
use super::names::{FuncName, FuncNames, LoopName, LoopNames, StageName};
use super::print::{clone_name, rfactor_name, wrapper_name};
use super::tiling::Tiling;
use halide_core::error::Location;

/// Speaks of one stage of one Func, or one of its specialisations. Made by [`Schedule::func`].
#[derive(Debug)]
pub struct StageSchedule<'s> {
    schedule: &'s mut Schedule,
    subject: Subject,
}

/// A stage of a Func by the number of its update, for `compute_at` and its kin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateOf {
    func: String,
    update: usize,
}

/// The update number `k`, from 0, of `func`: where `compute_at` and its kin take a Func, its pure definition is meant
/// unless this is given.
pub fn update(func: impl FuncName, k: usize) -> UpdateOf {
    UpdateOf { func: func.func_name(), update: k }
}

impl StageName for UpdateOf {
    fn stage_name(&self) -> (String, usize) {
        (self.func.clone(), self.update.saturating_add(1))
    }
}

fn name(of: impl LoopName) -> String {
    of.loop_name()
}

fn site(stage: impl StageName, var: impl LoopName) -> Site {
    let (func, stage) = stage.stage_name();
    Site { func, stage, var: var.loop_name() }
}

impl<'s> StageSchedule<'s> {
    pub(super) fn new(schedule: &'s mut Schedule, subject: Subject) -> StageSchedule<'s> {
        StageSchedule { schedule, subject }
    }

    #[track_caller]
    pub(super) fn push(self, verb: Verb) -> Self {
        let at = Some(Location::caller());
        self.schedule.push(Directive { subject: self.subject.clone(), verb, at });
        self
    }

    #[track_caller]
    fn mark(self, kind: LoopKind, var: impl LoopName, factor: Option<Amount>, tail: Tail) -> Self {
        self.push(Verb::Mark { kind, var: var.loop_name(), factor, tail })
    }

    /// Goes on with update number `k`, from 0, of the same Func.
    pub fn update(mut self, k: usize) -> Self {
        self.subject.stage = k.saturating_add(1);
        self.subject.specializations.clear();
        self
    }

    /// Replaces loop `var` by `outer` and `inner`: chunks of `factor` iterations.
    #[track_caller]
    pub fn split(
        self,
        var: impl LoopName,
        outer: impl LoopName,
        inner: impl LoopName,
        factor: impl Into<Amount>,
    ) -> Self {
        self.split_tail(var, outer, inner, factor, Tail::Auto)
    }

    /// As `split`, and says what happens where the factor does not divide the extent.
    #[track_caller]
    pub fn split_tail(
        self,
        var: impl LoopName,
        outer: impl LoopName,
        inner: impl LoopName,
        factor: impl Into<Amount>,
        tail: Tail,
    ) -> Self {
        let (var, outer, inner) = (name(var), name(outer), name(inner));
        self.push(Verb::Split { var, outer, inner, factor: factor.into(), tail })
    }

    /// Splits each of `vars` (innermost first) by its factor and runs all inner loops inside all outer ones.
    #[track_caller]
    pub fn tile<A: Into<Amount>, const N: usize>(
        self,
        vars: impl LoopNames,
        outer: impl LoopNames,
        inner: impl LoopNames,
        factors: [A; N],
    ) -> Self {
        self.tile_tail(vars, outer, inner, factors, Tail::Auto)
    }

    /// As `tile`, and says what happens where a factor does not divide an extent.
    #[track_caller]
    pub fn tile_tail<A: Into<Amount>, const N: usize>(
        mut self,
        vars: impl LoopNames,
        outer: impl LoopNames,
        inner: impl LoopNames,
        factors: [A; N],
        tail: Tail,
    ) -> Self {
        let factors = factors.into_iter().map(Into::into).collect();
        let (vars, outer, inner) = (vars.loop_names(), outer.loop_names(), inner.loop_names());
        for verb in (Tiling { vars, outer, inner, factors, tail }).verbs() {
            self = self.push(verb);
        }
        self
    }

    /// Replaces two loops by one over all pairs, `inner` running fastest.
    #[track_caller]
    pub fn fuse(self, inner: impl LoopName, outer: impl LoopName, fused: impl LoopName) -> Self {
        self.push(Verb::Fuse { inner: name(inner), outer: name(outer), fused: name(fused) })
    }

    /// Gives a loop another name.
    #[track_caller]
    pub fn rename(self, from: impl LoopName, to: impl LoopName) -> Self {
        self.push(Verb::Rename { from: name(from), to: name(to) })
    }

    /// Puts loops in this order, innermost first, in the places that they have now.
    #[track_caller]
    pub fn reorder(self, vars: impl LoopNames) -> Self {
        self.push(Verb::Reorder(vars.loop_names()))
    }

    /// Runs a loop's iterations one after the other.
    #[track_caller]
    pub fn serial(self, var: impl LoopName) -> Self {
        self.mark(LoopKind::Serial, var, None, Tail::Auto)
    }

    /// Runs a loop's iterations on several threads.
    #[track_caller]
    pub fn parallel(self, var: impl LoopName) -> Self {
        self.mark(LoopKind::Parallel, var, None, Tail::Auto)
    }

    /// Runs chunks of `size` iterations on several threads: `parallel(var, size)` in text.
    #[track_caller]
    pub fn parallel_chunks(self, var: impl LoopName, size: impl Into<Amount>) -> Self {
        self.mark(LoopKind::Parallel, var, Some(size.into()), Tail::Auto)
    }

    /// As `parallel_chunks`, and says what happens where the size does not divide the extent.
    #[track_caller]
    pub fn parallel_tail(self, var: impl LoopName, size: impl Into<Amount>, tail: Tail) -> Self {
        self.mark(LoopKind::Parallel, var, Some(size.into()), tail)
    }

    /// Computes chunks of `lanes` iterations as vectors; the loop over chunks keeps the name.
    /// `Amount::Natural` takes as many lanes as the target's registers have.
    #[track_caller]
    pub fn vectorize(self, var: impl LoopName, lanes: impl Into<Amount>) -> Self {
        self.mark(LoopKind::Vectorized, var, Some(lanes.into()), Tail::Auto)
    }

    /// As `vectorize`, and says what happens where `lanes` does not divide the extent.
    #[track_caller]
    pub fn vectorize_tail(self, var: impl LoopName, lanes: impl Into<Amount>, tail: Tail) -> Self {
        self.mark(LoopKind::Vectorized, var, Some(lanes.into()), tail)
    }

    /// Computes all iterations of a loop of constant extent as one vector: `vectorize(var)` in text.
    #[track_caller]
    pub fn vectorize_all(self, var: impl LoopName) -> Self {
        self.mark(LoopKind::Vectorized, var, None, Tail::Auto)
    }

    /// Writes chunks of `copies` iterations out one after the other; the loop over chunks keeps the name.
    #[track_caller]
    pub fn unroll(self, var: impl LoopName, copies: impl Into<Amount>) -> Self {
        self.mark(LoopKind::Unrolled, var, Some(copies.into()), Tail::Auto)
    }

    /// As `unroll`, and says what happens where `copies` does not divide the extent.
    #[track_caller]
    pub fn unroll_tail(self, var: impl LoopName, copies: impl Into<Amount>, tail: Tail) -> Self {
        self.mark(LoopKind::Unrolled, var, Some(copies.into()), tail)
    }

    /// Writes all iterations of a loop of constant extent out: `unroll(var)` in text.
    #[track_caller]
    pub fn unroll_all(self, var: impl LoopName) -> Self {
        self.mark(LoopKind::Unrolled, var, None, Tail::Auto)
    }

    /// Cuts a loop into prologue, steady state and epilogue where that pays.
    #[track_caller]
    pub fn auto_partition(self, var: impl LoopName) -> Self {
        self.push(Verb::Partition { var: name(var), how: Partition::Auto })
    }

    /// Keeps a loop whole.
    #[track_caller]
    pub fn never_partition(self, var: impl LoopName) -> Self {
        self.push(Verb::Partition { var: name(var), how: Partition::Never })
    }

    /// Cuts a loop into prologue, steady state and epilogue.
    #[track_caller]
    pub fn always_partition(self, var: impl LoopName) -> Self {
        self.push(Verb::Partition { var: name(var), how: Partition::Always })
    }

    /// Cuts a loop into prologue, steady state and epilogue, or not.
    #[track_caller]
    pub fn partition(self, var: impl LoopName, how: Partition) -> Self {
        self.push(Verb::Partition { var: name(var), how })
    }

    /// Computes all that is needed of the Func before its consumers.
    #[track_caller]
    pub fn compute_root(self) -> Self {
        self.push(Verb::ComputeRoot)
    }

    /// Computes what is needed of the Func in each iteration of loop `var` of `stage`.
    #[track_caller]
    pub fn compute_at(self, stage: impl StageName, var: impl LoopName) -> Self {
        self.push(Verb::ComputeAt(site(stage, var)))
    }

    /// Computes the Func where it is used, each time.
    #[track_caller]
    pub fn compute_inline(self) -> Self {
        self.push(Verb::ComputeInline)
    }

    /// Runs loop `var` of `stage` and all loops around it as one with the loops of the same names of this stage. In each
    /// iteration comes what `stage` does, then what this one does. Both are computed at the same place, and neither
    /// needs values of the other.
    #[track_caller]
    pub fn compute_with(self, stage: impl StageName, var: impl LoopName) -> Self {
        self.compute_with_aligned(stage, var, Align::NoAlign)
    }

    /// As `compute_with`, and says which iterations come together.
    #[track_caller]
    pub fn compute_with_aligned(self, stage: impl StageName, var: impl LoopName, align: Align) -> Self {
        self.push(Verb::ComputeWith { site: site(stage, var), align, each: Vec::new() })
    }

    /// As `compute_with`, and says which iterations come together, loop by loop; `NoAlign` for loops not listed.
    #[track_caller]
    pub fn compute_with_each<L: LoopName>(
        self,
        stage: impl StageName,
        var: impl LoopName,
        each: impl IntoIterator<Item = (L, Align)>,
    ) -> Self {
        let each = each.into_iter().map(|(l, align)| (l.loop_name(), align)).collect();
        self.push(Verb::ComputeWith { site: site(stage, var), align: Align::NoAlign, each })
    }

    /// Keeps the Func's values for the whole run.
    #[track_caller]
    pub fn store_root(self) -> Self {
        self.push(Verb::StoreRoot)
    }

    /// Keeps the Func's values for one iteration of loop `var` of `stage`.
    #[track_caller]
    pub fn store_at(self, stage: impl StageName, var: impl LoopName) -> Self {
        self.push(Verb::StoreAt(site(stage, var)))
    }

    /// Allocates the Func's memory once per run.
    #[track_caller]
    pub fn hoist_storage_root(self) -> Self {
        self.push(Verb::HoistStorageRoot)
    }

    /// Allocates the Func's memory once per iteration of loop `var` of `stage`.
    #[track_caller]
    pub fn hoist_storage(self, stage: impl StageName, var: impl LoopName) -> Self {
        self.push(Verb::HoistStorage(site(stage, var)))
    }

    /// Puts dimensions of the storage in this order, smallest stride first, in the places that they have now.
    #[track_caller]
    pub fn reorder_storage(self, dims: impl LoopNames) -> Self {
        self.push(Verb::ReorderStorage(dims.loop_names()))
    }

    /// Rounds the extent of a dimension in memory up to a multiple.
    #[track_caller]
    pub fn align_storage(self, dim: impl LoopName, multiple: i64) -> Self {
        self.push(Verb::AlignStorage { var: name(dim), multiple })
    }

    /// Keeps only `factor` coordinates of a dimension, in a circle; they are computed in growing order.
    #[track_caller]
    pub fn fold_storage(self, dim: impl LoopName, factor: i64) -> Self {
        self.push(Verb::FoldStorage { var: name(dim), factor, forward: true })
    }

    /// As `fold_storage` for coordinates computed in falling order: `fold_storage(dim, factor, backward)` in text.
    #[track_caller]
    pub fn fold_storage_backward(self, dim: impl LoopName, factor: i64) -> Self {
        self.push(Verb::FoldStorage { var: name(dim), factor, forward: false })
    }

    /// Chooses the kind of memory.
    #[track_caller]
    pub fn store_in(self, memory: Memory) -> Self {
        self.push(Verb::StoreIn(memory))
    }

    /// Promises the first coordinate and the extent of a dimension.
    #[track_caller]
    pub fn bound(self, dim: impl LoopName, min: impl Into<Amount>, extent: impl Into<Amount>) -> Self {
        self.push(Verb::Bound { var: name(dim), min: min.into(), extent: extent.into() })
    }

    /// Promises the extent of a dimension.
    #[track_caller]
    pub fn bound_extent(self, dim: impl LoopName, extent: impl Into<Amount>) -> Self {
        self.push(Verb::BoundExtent { var: name(dim), extent: extent.into() })
    }

    /// Grows the region of a dimension so that it starts at `remainder` modulo `modulus` and its extent is a multiple.
    #[track_caller]
    pub fn align_bounds(self, dim: impl LoopName, modulus: i64, remainder: i64) -> Self {
        self.push(Verb::AlignBounds { var: name(dim), modulus, remainder })
    }

    /// Grows the extent of a dimension to a multiple.
    #[track_caller]
    pub fn align_extent(self, dim: impl LoopName, modulus: i64) -> Self {
        self.push(Verb::AlignExtent { var: name(dim), modulus })
    }

    /// Puts a wrapper between the Func and its `consumers` and goes on with the wrapper.
    #[track_caller]
    pub fn in_(self, consumers: impl FuncNames) -> Self {
        let consumers = consumers.func_names();
        let wrapper = wrapper_name(&self.subject.func, &consumers);
        self.make_func(Verb::In { consumers }, wrapper)
    }

    /// Puts one wrapper between the Func and all its consumers and goes on with the wrapper: `in()` in text.
    #[track_caller]
    pub fn in_all(self) -> Self {
        let wrapper = wrapper_name(&self.subject.func, &[]);
        self.make_func(Verb::In { consumers: Vec::new() }, wrapper)
    }

    /// Makes a copy of the Func for `consumers` and goes on with the copy.
    #[track_caller]
    pub fn clone_in(self, consumers: impl FuncNames) -> Self {
        let consumers = consumers.func_names();
        let copy = clone_name(&self.subject.func, &consumers);
        self.make_func(Verb::CloneIn { consumers }, copy)
    }

    /// Does the reduction of this update in parts and goes on with the new Func that holds them, whose pure definition
    /// is the identity of the reduction and whose update 0 reduces over the variables that are left: the variables
    /// `rvars` (of the update's loops, split, fused or renamed before) become new dimensions `vars` of it. What is left
    /// of this update puts the parts together, over loops of the names `rvars`. In text: `rfactor(r, u)`, or
    /// `rfactor([r, s], [u, v])`; the new Func is `f.rfactor(u)`.
    #[track_caller]
    pub fn rfactor(self, rvars: impl LoopNames, vars: impl LoopNames) -> Self {
        let (rvars, vars) = (rvars.loop_names(), vars.loop_names());
        let made = rfactor_name(&self.subject.func, &vars);
        self.make_func(Verb::Rfactor { rvars, vars }, made)
    }

    #[track_caller]
    fn make_func(self, verb: Verb, made: String) -> Self {
        let same = |d: &Directive| d.verb == verb && d.subject == self.subject;
        let known = match verb {
            Verb::Rfactor { .. } => self.schedule.directives().iter().any(same),
            _ => self.schedule.makes_func(&made),
        };
        let mut next = if known { self } else { self.push(verb) };
        next.subject = Subject::func(made);
        next
    }

    /// Opens a variant for the case that `condition` holds, a copy of the stage as scheduled so far, and goes on with
    /// it. If the same condition was opened before, goes on with that one.
    #[track_caller]
    pub fn specialize(self, condition: impl Into<Condition>) -> Self {
        let condition = condition.into();
        let opened = self.schedule.conditions(&self.subject).position(|c| *c == condition);
        let count = self.schedule.conditions(&self.subject).count();
        let mut next = if opened.is_some() { self } else { self.push(Verb::Specialize(condition)) };
        next.subject.specializations.push(opened.unwrap_or(count));
        next
    }

    /// Ends the run with `message` where no specialisation of the stage applies.
    #[track_caller]
    pub fn specialize_fail(self, message: impl Into<String>) -> Self {
        self.push(Verb::SpecializeFail(message.into()))
    }

    /// Reads, computes and stores an element in one step, so that loops may run at once whose iterations change the same
    /// element. The order of the iterations is then left to chance: the update must be a known associative and
    /// commutative operation (of floats: with `float(relaxed)`). On a graphics processor, elements have one value of at most
    /// 32 bits.
    #[track_caller]
    pub fn atomic(self) -> Self {
        self.push(Verb::Atomic { any_order: false })
    }

    /// As `atomic`, where the schedule vouches that the order of the iterations does not matter: `atomic(any_order)` in
    /// text.
    #[track_caller]
    pub fn atomic_in_any_order(self) -> Self {
        self.push(Verb::Atomic { any_order: true })
    }

    /// Lets loops run at once whose iterations may touch the same element: which of them comes first, and whether what
    /// one stores is seen by another, is then left to chance, and the schedule vouches that no result depends on it.
    /// Whole elements are stored, so memory stays in order.
    #[track_caller]
    pub fn allow_race_conditions(self) -> Self {
        self.push(Verb::AllowRaceConditions)
    }

    /// Says how the floats of the stage may be treated.
    #[track_caller]
    pub fn float(self, mode: FloatMode) -> Self {
        self.push(Verb::Float(mode))
    }
}

macro_rules! amounts_from {
    ($($ty:ty)*) => {$(
        impl From<$ty> for Amount {
            fn from(value: $ty) -> Amount {
                Amount::Const(i64::try_from(value).unwrap_or(i64::MAX))
            }
        }
    )*};
}

amounts_from!(i32 i64 u32 u64 usize u16 u8);

impl From<&str> for Amount {
    /// A scalar integer parameter by name.
    fn from(param: &str) -> Amount {
        Amount::Param(param.to_string())
    }
}

impl From<&str> for Condition {
    /// A condition as text: `p > 3 && in.extent(0) >= 128`.
    fn from(text: &str) -> Condition {
        text.parse().unwrap_or_else(|error| Condition::Invalid(format!("`{text}`: {error}")))
    }
}
