//! Directives about the dimensions of a Func's storage: their order, their parts, circles and multiples.

use super::drafter::Drafter;
use super::func_draft::FuncDraft;
use crate::plan::diagnostics::Problem;
use crate::plan::types::{StorageDim, StoragePart};
use crate::schedule::closest;
use halide_core::error::Location;
use halide_core::ids::FuncId;

impl Drafter<'_, '_, '_> {
    /// Puts dimensions of storage in the order of `names`, in the places that they have.
    pub(super) fn reorder_storage(&self, func: FuncId, names: &[String], draft: &mut FuncDraft) -> Result<(), Problem> {
        let mut places = Vec::new();
        for name in names {
            let place = self.stored(func, name, &draft.storage)?;
            if places.contains(&place) {
                return Err(Problem::Repeated { name: name.clone() });
            }
            places.push(place);
        }
        let listed: Vec<StorageDim> = places.iter().map(|&p| draft.storage[p].clone()).collect();
        places.sort_unstable();
        places.into_iter().zip(listed).for_each(|(p, s)| draft.storage[p] = s);
        Ok(())
    }

    /// Puts the two parts of a dimension in its place.
    pub(super) fn split_storage(
        &self,
        func: FuncId,
        name: &str,
        [outer, inner]: [&String; 2],
        factor: i64,
        draft: &mut FuncDraft,
    ) -> Result<(), Problem> {
        if let Some(part) = draft.storage.iter().find(|s| s.name == name && s.part != StoragePart::Whole) {
            return Err(self.is_split(func, part.dim, &draft.storage));
        }
        let dim = self.dim(func, name)?;
        let Some(place) = draft.storage.iter().position(|s| s.dim == dim && s.part == StoragePart::Whole) else {
            return Err(self.is_split(func, dim, &draft.storage));
        };
        storage_amount("factor", factor)?;
        let whole = &draft.storage[place];
        if whole.fold.is_some() {
            return Err(Problem::SplitAndFolded { func: self.name(func), dim: name.to_string() });
        }
        if whole.align > 1 {
            return Err(Problem::AlignedBeforeSplit { dim: name.to_string(), inner: inner.clone() });
        }
        for name in [outer, inner] {
            if self.dim(func, name).is_ok() || draft.storage.iter().any(|s| s.name == *name) {
                return Err(Problem::DimTaken { func: self.name(func), name: name.clone() });
            }
        }
        if outer == inner {
            return Err(Problem::Repeated { name: inner.clone() });
        }
        let part = |name: &String, part| StorageDim { name: name.clone(), part, ..whole.clone() };
        let parts = [part(inner, StoragePart::Inner(factor)), part(outer, StoragePart::Outer(factor))];
        draft.storage.splice(place..=place, parts);
        Ok(())
    }

    /// Keeps so many coordinates of a dimension, in a circle.
    pub(super) fn fold_storage(
        &self,
        func: FuncId,
        name: &str,
        fold: (i64, bool),
        at: Option<Location>,
        draft: &mut FuncDraft,
    ) -> Result<(), Problem> {
        let part = draft.storage.iter().find(|s| s.name == name).map(|s| s.dim);
        let dim = part.map_or_else(|| self.dim(func, name), Ok)?;
        storage_amount("factor", fold.0)?;
        let Some(whole) = draft.storage.iter_mut().find(|s| s.dim == dim && s.part == StoragePart::Whole) else {
            return Err(Problem::SplitAndFolded { func: self.name(func), dim: self.dim_name(func, dim) });
        };
        (whole.fold, whole.at) = (Some(fold), at);
        Ok(())
    }

    /// The place in the order of storage of the dimension, or part of one, of this name.
    pub(super) fn stored(&self, func: FuncId, name: &str, storage: &[StorageDim]) -> Result<usize, Problem> {
        if let Some(place) = storage.iter().position(|s| s.name == name) {
            return Ok(place);
        }
        if let Ok(dim) = self.dim(func, name) {
            return Err(self.is_split(func, dim, storage));
        }
        // In the order of the Func's dimensions, whatever the order of the storage.
        let mut stored: Vec<&StorageDim> = storage.iter().collect();
        stored.sort_by_key(|s| s.dim);
        Err(Problem::UnknownDim {
            func: self.name(func),
            name: name.to_string(),
            dims: stored.iter().map(|s| s.name.clone()).collect(),
            near: closest(name, stored.iter().map(|s| s.name.as_str())).map(str::to_string),
        })
    }

    /// The error that the storage of a dimension is split.
    fn is_split(&self, func: FuncId, dim: usize, storage: &[StorageDim]) -> Problem {
        let mut parts: Vec<&StorageDim> = storage.iter().filter(|s| s.dim == dim).collect();
        parts.sort_by_key(|s| matches!(s.part, StoragePart::Inner(_)));
        let parts = parts.iter().map(|s| s.name.clone()).collect();
        Problem::StorageIsSplit { func: self.name(func), dim: self.dim_name(func, dim), parts }
    }

    fn name(&self, func: FuncId) -> String {
        self.pipeline.funcs[func].name.clone()
    }

    fn dim_name(&self, func: FuncId, dim: usize) -> String {
        self.pipeline.vars[self.pipeline.funcs[func].args[dim]].clone()
    }
}

/// Checks that a number of coordinates is at least one and at most as many as there are.
pub(super) fn storage_amount(what: &'static str, value: i64) -> Result<(), Problem> {
    match value {
        ..1 => Err(Problem::TooSmall { what, value, least: 1 }),
        _ if value > i32::MAX.into() => Err(Problem::TooLarge { what, value, most: i32::MAX.into() }),
        _ => Ok(()),
    }
}
