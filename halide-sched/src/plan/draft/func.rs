//! Directives about a Func as a whole: its region, its place, its storage.

use super::drafter::{Drafter, unknown_func};
use super::func_draft::{FuncDraft, Request};
use super::storage::storage_amount;
use crate::plan::convert::in_range;
use crate::plan::diagnostics::Problem;
use crate::plan::stage::Source;
use crate::plan::types::Room;
use crate::schedule::{Directive, LoopKind, Site, Verb};
use halide_core::ids::FuncId;
use halide_ir::{Residency, build};

impl Drafter<'_, '_, '_> {
    /// Applies a directive about the region of a Func.
    pub(super) fn bound(&mut self, number: usize, directive: &Directive, func: FuncId, draft: &mut FuncDraft) {
        let result = self.bound_constraint(directive, func, draft);
        if let Some(Some(dim)) = self.errors.keep(number, result) {
            draft.bounds[dim].at = directive.at;
        }
    }

    fn bound_constraint(
        &self,
        directive: &Directive,
        func: FuncId,
        draft: &mut FuncDraft,
    ) -> Result<Option<usize>, Problem> {
        let positive = |what, value: i64| match value {
            1.. => Ok(()),
            _ => Err(Problem::TooSmall { what, value, least: 1 }),
        };
        Ok(Some(match &directive.verb {
            Verb::Bound { var, min, extent } => {
                let dim = self.dim(func, var)?;
                let min = self.amount(func, "minimum", i32::MIN.into(), min)?;
                let extent = self.amount(func, "extent", 1, extent)?;
                (draft.bounds[dim].min, draft.bounds[dim].extent) = (Some(min), Some(extent));
                dim
            }
            Verb::BoundExtent { var, extent } => {
                let dim = self.dim(func, var)?;
                draft.bounds[dim].extent = Some(self.amount(func, "extent", 1, extent)?);
                dim
            }
            Verb::AlignBounds { var, modulus, remainder } => {
                let dim = self.dim(func, var)?;
                positive("modulus", *modulus)?;
                draft.bounds[dim].align = Some((*modulus, remainder.rem_euclid(*modulus)));
                dim
            }
            Verb::AlignExtent { var, modulus } => {
                let dim = self.dim(func, var)?;
                positive("modulus", *modulus)?;
                draft.bounds[dim].align_extent = Some(*modulus);
                dim
            }
            Verb::TupleStorage { .. } => match self.joined.get(&func) {
                Some(elements) => {
                    (draft.bounds[0].min, draft.bounds[0].extent) = (Some(build::int(0)), Some(build::int(*elements)));
                    0
                }
                // The rewrite was refused.
                None => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }

    pub(super) fn func_directive(
        &mut self,
        number: usize,
        directive: &Directive,
        func: FuncId,
        draft: &mut FuncDraft,
    ) -> Result<(), Problem> {
        match &directive.verb {
            Verb::ComputeInline => draft.compute = Some((Request::Inline, number)),
            Verb::ComputeRoot => draft.compute = Some((Request::Root, number)),
            Verb::Memoize => {
                self.memoizable(func)?;
                (draft.compute, draft.memoized) = (Some((Request::Root, number)), Some(number));
            }
            Verb::ComputeAt(site) => draft.compute = Some((self.site(func, site)?, number)),
            Verb::StoreRoot => draft.store = Some((Request::Root, number)),
            Verb::StoreAt(site) => draft.store = Some((self.site(func, site)?, number)),
            Verb::HoistStorageRoot => draft.hoist = Some((Request::Root, number)),
            Verb::HoistStorage(site) => draft.hoist = Some((self.site(func, site)?, number)),
            Verb::Bound { .. } | Verb::BoundExtent { .. } | Verb::AlignBounds { .. } | Verb::AlignExtent { .. } => {
                draft.needs_loops.get_or_insert(number);
            }
            Verb::SetEstimate { var, min, extent } => {
                let dim = self.dim(func, var)?;
                draft.estimates[dim] = Some(estimate(*min, *extent)?);
            }
            Verb::SetEstimates(region) => {
                let (dims, given) = (draft.estimates.len(), region.len());
                if dims != given {
                    return Err(Problem::EstimateDims { func: self.pipeline.funcs[func].name.clone(), given, dims });
                }
                let all: Result<Vec<(i64, i64)>, Problem> = region.iter().map(|(m, e)| estimate(*m, *e)).collect();
                draft.estimates = all?.into_iter().map(Some).collect();
            }
            Verb::RingBuffer(_) | Verb::Async | Verb::StoreIn(_) | Verb::Copy { .. } | Verb::ReorderStorage(_) => {
                self.storage_directive(number, directive, func, draft)?;
            }
            Verb::SplitStorage { .. }
            | Verb::AlignStorage { .. }
            | Verb::FoldStorage { .. }
            | Verb::BoundStorage { .. } => self.storage_directive(number, directive, func, draft)?,
            Verb::TupleStorage { dim } => self.joined_loop(dim, number, directive, func, draft),
            // Of stages and of the graph: these do not come here.
            Verb::Split { .. } | Verb::Fuse { .. } | Verb::Rename { .. } | Verb::Reorder(_) | Verb::Mark { .. } => {}
            Verb::Skew { .. } => {}
            Verb::GpuSingleThread | Verb::Partition { .. } | Verb::ComputeWith { .. } | Verb::Prefetch { .. } => {}
            Verb::StreamStores
            | Verb::StreamLoads
            | Verb::CacheStores
            | Verb::NeverUnroll
            | Verb::Monoid { .. }
            | Verb::Use { .. } => {}
            Verb::Specialize(_) | Verb::SpecializeFail(_) => {}
            Verb::Float(_) | Verb::AllowRaceConditions | Verb::Atomic { .. } => {}
            Verb::In { .. } | Verb::CloneIn { .. } | Verb::Rfactor { .. } => {}
        }
        Ok(())
    }

    /// Applies a directive about the storage of a Func.
    fn storage_directive(
        &mut self,
        number: usize,
        directive: &Directive,
        func: FuncId,
        draft: &mut FuncDraft,
    ) -> Result<(), Problem> {
        match &directive.verb {
            Verb::RingBuffer(copies) => {
                self.own_storage(number, draft);
                in_range("copies", 2, *copies)?;
                draft.ring = Some((*copies, number));
            }
            Verb::Async => {
                self.own_storage(number, draft);
                draft.ahead = Some(number);
            }
            Verb::ReorderStorage(dims) => {
                draft.needs_loops.get_or_insert(number);
                self.reorder_storage(func, dims, draft)?;
            }
            Verb::SplitStorage { dim, outer, inner, factor } => {
                self.own_storage(number, draft);
                self.split_storage(func, dim, [outer, inner], *factor, draft)?;
            }
            Verb::AlignStorage { var, multiple } => {
                self.own_storage(number, draft);
                let place = self.stored(func, var, &draft.storage)?;
                storage_amount("multiple", *multiple)?;
                draft.storage[place].align = *multiple;
            }
            Verb::FoldStorage { var, factor, forward } => {
                self.own_storage(number, draft);
                draft.folded = Some(number);
                self.fold_storage(func, var, (*factor, *forward), directive.at, draft)?;
            }
            Verb::BoundStorage { var, extent } => {
                self.own_storage(number, draft);
                let dim = self.dim(func, var)?;
                storage_amount("extent", *extent)?;
                draft.room[dim] = Some(Room { extent: *extent, at: directive.at });
            }
            Verb::StoreIn(memory) => {
                self.own_storage(number, draft);
                draft.memory = *memory;
                draft.memory_by = Some(number);
            }
            Verb::Copy { to_device } => {
                draft.needs_loops.get_or_insert(number);
                let to = if *to_device { Residency::OnDevice } else { Residency::OnHost };
                draft.copies.insert(to, number);
            }
            _ => {}
        }
        Ok(())
    }

    /// Unrolls the loop of the dimension that `tuple_storage` made, unless that was refused.
    fn joined_loop(&self, dim: &str, number: usize, directive: &Directive, func: FuncId, draft: &mut FuncDraft) {
        if self.joined.contains_key(&func) {
            self.own_storage(number, draft);
            let text = directive.verb.to_string();
            let source = Source { number, at: directive.at, text: &text };
            // A split before may have taken the loop's name; its parts are then as they were said to be.
            let _ = draft.stages[0].mark(dim, LoopKind::Unrolled, &source);
        }
    }

    fn own_storage(&self, number: usize, draft: &mut FuncDraft) {
        draft.needs_loops.get_or_insert(number);
        draft.needs_storage.get_or_insert(number);
    }

    /// The loop that a site names; whether it exists is checked when all loops are known.
    pub(super) fn site(&self, func: FuncId, site: &Site) -> Result<Request, Problem> {
        let Some(host) = self.known_func(&site.func) else { return Err(unknown_func(self.pipeline, &site.func)) };
        if host == func {
            return Err(Problem::SiteItself { func: site.func.clone() });
        }
        let updates = self.pipeline.funcs[host].stages.len() - 1;
        if site.stage > updates {
            return Err(Problem::UnknownUpdate { func: site.func.clone(), updates });
        }
        Ok(Request::At { func: host, stage: site.stage, var: site.var.clone() })
    }
}

/// A region of one dimension that is inside the coordinates.
fn estimate(min: i64, extent: i64) -> Result<(i64, i64), Problem> {
    let least = i32::MIN.into();
    if min < least {
        return Err(Problem::TooSmall { what: "minimum", value: min, least });
    }
    storage_amount("extent", extent)?;
    let last = min.saturating_add(extent - 1);
    match last > i32::MAX.into() {
        true => Err(Problem::TooLarge { what: "last coordinate", value: last, most: i32::MAX.into() }),
        false => Ok((min, extent)),
    }
}
