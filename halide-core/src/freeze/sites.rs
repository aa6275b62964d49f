//! Checks of the sites of a definition: `scatter` and `gather` stand in updates only, all with as many values.

use super::{DefinitionScope, Freezer};
use crate::error::AlgorithmErrorKind;
use crate::ids::ExprId;
use crate::pipeline::Kind;

impl Freezer {
    /// Checks that all sites below the roots of an update are as many, and that nothing in it is required or printed,
    /// which is once per point, if there are several.
    pub(super) fn check_sites(&mut self, scope: &DefinitionScope<'_>, roots: &[ExprId]) {
        let nodes = self.data.reachable(roots);
        let count = |id: &ExprId| match &self.data.exprs[*id].kind {
            Kind::Sites(values) => Some(values.len()),
            _ => None,
        };
        let mut counts = nodes.iter().filter_map(count);
        let Some(first) = counts.next() else { return };
        let func = scope.body.name.clone();
        if let Some(second) = counts.find(|n| *n != first) {
            self.mistake(scope.written.at, AlgorithmErrorKind::SiteCounts { func, first, second });
        } else if nodes.iter().any(|id| matches!(self.data.exprs[*id].kind, Kind::Note { .. })) {
            self.mistake(scope.written.at, AlgorithmErrorKind::NoteOfSites { func });
        }
    }

    /// Checks that no sites stand below the roots of a first definition, or in the predicate of a domain.
    pub(super) fn check_no_sites(&mut self, scope: &DefinitionScope<'_>, roots: &[ExprId]) {
        let is_sites = |id: &ExprId| matches!(self.data.exprs[*id].kind, Kind::Sites(_));
        if self.data.reachable(roots).iter().any(is_sites) {
            let func = scope.body.name.clone();
            self.mistake(scope.written.at, AlgorithmErrorKind::SitesOutsideUpdate { func });
        }
    }
}
