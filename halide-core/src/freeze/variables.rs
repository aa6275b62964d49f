//! Checks of what a definition uses: variables, domains, and the Func itself.

use super::address::address;
use super::{DefinitionScope, Freezer};
use crate::error::AlgorithmErrorKind;
use crate::ids::{ExprId, RDomId, VarId};
use crate::pipeline::{FuncDef, Kind};

impl Freezer {
    /// The one reduction domain that `roots` use.
    pub(super) fn find_rdom(&mut self, scope: &DefinitionScope<'_>, roots: &[ExprId]) -> Option<RDomId> {
        let found = self.data.reachable(roots).into_iter().find_map(|id| match self.data.exprs[id].kind {
            Kind::RVar { rdom, .. } => Some(rdom),
            _ => None,
        })?;
        let restricted = self.rdom_bodies[found].restricted();
        if let Some(restricted) = restricted.filter(|r| r.born > scope.written.born) {
            let (rdom, func) = (self.data.rdoms[found].name.clone(), scope.body.name.clone());
            self.mistake(restricted.at, AlgorithmErrorKind::WhereAfterUse { rdom, func });
        }
        Some(found)
    }

    /// Reports the variables below `roots` that may not stand there: all but those in `allowed` and of the domain.
    pub(super) fn check_variables(
        &mut self,
        scope: &DefinitionScope<'_>,
        allowed: &[VarId],
        roots: &[ExprId],
        rdom: Option<RDomId>,
    ) {
        let name = || scope.body.name.clone();
        let mut free = Vec::new();
        for id in self.data.reachable(roots) {
            let kind = match (&self.data.exprs[id].kind, rdom) {
                (Kind::Var(v), _) if !allowed.contains(v) => {
                    free.push(self.data.vars[*v].clone());
                    continue;
                }
                (Kind::RVar { rdom, dim }, None) => {
                    let rvar = self.data.rdoms[*rdom].dims[*dim as usize].name.clone();
                    AlgorithmErrorKind::RVarInPure { func: name(), rvar }
                }
                (Kind::RVar { rdom, .. }, Some(own)) if *rdom != own => {
                    let (first, second) = (self.data.rdoms[own].name.clone(), self.data.rdoms[*rdom].name.clone());
                    AlgorithmErrorKind::TwoRDoms { func: name(), first, second }
                }
                _ => continue,
            };
            self.mistake(scope.written.at, kind);
        }
        if !free.is_empty() {
            let args = allowed.iter().map(|&a| self.data.vars[a].clone()).collect();
            self.mistake(scope.written.at, AlgorithmErrorKind::FreeVars { func: name(), vars: free, args });
        }
    }

    /// Checks that an update reads its own Func only at the point it writes, in each dimension that it runs over whole.
    pub(super) fn check_self_reads(
        &mut self,
        scope: &DefinitionScope<'_>,
        func: &FuncDef,
        lhs: &[ExprId],
        roots: &[ExprId],
    ) {
        let own = self.funcs[&address(scope.body)];
        for id in self.data.reachable(roots) {
            let Kind::Call { func: callee, args, .. } = &self.data.exprs[id].kind else { continue };
            if *callee != own {
                continue;
            }
            let is_own = |e: ExprId, v: VarId| self.data.exprs[e].kind == Kind::Var(v);
            let moved = func.args.iter().enumerate().filter(|&(d, &v)| is_own(lhs[d], v) && !is_own(args[d], v));
            let vars: Vec<String> = moved.map(|(_, &v)| self.data.vars[v].clone()).collect();
            for var in vars {
                let func = func.name.clone();
                self.mistake(scope.written.at, AlgorithmErrorKind::ImpureSelfRead { func, var });
            }
        }
    }
}
