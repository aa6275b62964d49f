//! Bounds inside of a loop's body in terms of what is fixed while the body runs, for `slide_windows` and
//! `fold_storage`.

use crate::lower::nests::ctx::Ctx;
use crate::lower::regions::region_table::Regions;
use crate::lower::regions::slide_windows::first_iteration;
use halide_core::ids::FuncId;
use halide_ir::hash::Map;
use halide_ir::visit::{self, deep};
use halide_ir::{Expr, ExprKind, LoopId, Scope, Sym};
use halide_solve::simplify::{Facts, simplify};

/// Expanded bounds, remembered: each is found once from those of its consumers.
pub(crate) struct Expansions<'f> {
    facts: &'f Facts,
    found: Map<FuncId, Map<(Sym, LoopId, bool), Expr>>,
}

/// In which iterations of which loop.
struct Iteration {
    of: LoopId,
    /// The condition that it is the first.
    start: Expr,
    first: bool,
}

impl Expansions<'_> {
    pub(crate) fn new(facts: &Facts) -> Expansions<'_> {
        Expansions { facts, found: Map::default() }
    }

    /// `e` simplified, with every bound that is defined inside the body of `v` expanded, in the first or a later
    /// iteration of `v`.
    pub(crate) fn of(&mut self, ctx: &Ctx<'_>, regions: &Regions, e: &Expr, v: LoopId, first: bool) -> Expr {
        let iteration = Iteration { of: v, start: first_iteration(ctx, v), first };
        self.simple(ctx, regions, e, &iteration)
    }

    /// The bounds of `func` have changed. Those of its consumers do not depend on them.
    pub(crate) fn forget(&mut self, func: FuncId) {
        self.found.remove(&func);
    }

    fn simple(&mut self, ctx: &Ctx<'_>, regions: &Regions, e: &Expr, iteration: &Iteration) -> Expr {
        let expanded = self.expand(ctx, regions, e, iteration, &mut visit::Memo::new());
        simplify(&expanded, self.facts)
    }

    fn expand(
        &mut self,
        ctx: &Ctx<'_>,
        regions: &Regions,
        e: &Expr,
        iteration: &Iteration,
        memo: &mut visit::Memo,
    ) -> Expr {
        match e.kind() {
            ExprKind::Sym(s @ Sym::Bound { func, at, .. }) if ctx.is_inside(*at, Scope::Body(iteration.of)) => {
                let key = (*s, iteration.of, iteration.first);
                if let Some(known) = self.found.get(func).and_then(|bounds| bounds.get(&key)) {
                    return known.clone();
                }
                let Some(value) = regions.value(*s) else { return e.clone() };
                let made = deep(|| self.simple(ctx, regions, value, iteration));
                self.found.entry(*func).or_default().insert(key, made.clone());
                made
            }
            ExprKind::Select(c, a, b) if *c == iteration.start => {
                self.expand(ctx, regions, if iteration.first { a } else { b }, iteration, memo)
            }
            ExprKind::Likely(a) => self.expand(ctx, regions, a, iteration, memo),
            ExprKind::Sym(_) | ExprKind::Const(_) | ExprKind::Int(_) | ExprKind::Param(_) => e.clone(),
            _ => memo.get(e, |memo| visit::map_children(e, |c| deep(|| self.expand(ctx, regions, c, iteration, memo)))),
        }
    }
}
