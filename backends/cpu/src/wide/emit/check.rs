//! Checks inside of a nest: they are made before the kernel is called.
//!
//! That is no sooner than anything bad could happen, and says the same: what a check asks must be known outside of the
//! nest, and so must be whether the nest ever comes to it.

use super::super::{Check, Made, refuse};
use super::Emit;
use halide_sched::ir::{Expr, FaultId, build};

impl Emit<'_> {
    /// `Stmt::Assert`.
    pub(super) fn check(&mut self, cond: &Expr, fault: FaultId, args: &[Expr]) -> Made<()> {
        let Some(reached) = self.heap.reached().into_iter().collect::<Option<Vec<Expr>>>() else {
            return refuse("a check, and whether it is ever made is only known inside");
        };
        let outside: Option<Vec<Expr>> = args.iter().map(|a| self.heap.outside(a)).collect();
        let (Some(cond), Some(args)) = (self.heap.outside(cond), outside) else {
            return refuse("a check of what is only known inside");
        };
        let when = reached.into_iter().filter(|c| build::as_bool(c) != Some(true)).reduce(build::and);
        self.checks.push(Check { when, cond, fault, args });
        Ok(())
    }
}
