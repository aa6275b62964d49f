//! Storage of a size that the schedule says (`bound_storage`). Part of `check_arguments` and `infer_bounds`.

use crate::lower::nests::ctx::Ctx;
use halide_core::ids::FuncId;
use halide_ir::{Expr, Fault, FaultId, Stmt, build};
use halide_solve::simplify::{Facts, simplify};
use std::collections::BTreeMap;

/// The faults of `bound_storage`. What it asserts stands where the storage begins.
pub(crate) fn check_room(ctx: &mut Ctx<'_>) -> BTreeMap<(FuncId, usize), FaultId> {
    let plan = ctx.plan;
    let mut faults = BTreeMap::new();
    for func in ctx.stored.keys() {
        for (dim, room) in plan.funcs[*func].room.iter().enumerate() {
            let Some(room) = room else { continue };
            let place = room.at.map(|at| format!("{at}: ")).unwrap_or_default();
            let var = &plan.pipeline.vars[plan.pipeline.funcs[*func].args[dim]];
            let (name, extent) = (ctx.name(*func), room.extent);
            let what =
                format!("{place}storage of `{name}` has room for {extent} coordinates of `{var}`, and more are needed");
            faults.insert((*func, dim), ctx.program.faults.push(Fault::Promise { what }));
        }
    }
    faults
}

/// The extents of a realization where `bound_storage` says them, and what asserts that they suffice.
pub(crate) fn in_room(
    ctx: &Ctx<'_>,
    facts: &Facts,
    room: &BTreeMap<(FuncId, usize), FaultId>,
    func: FuncId,
    mut bounds: Vec<(Expr, Expr)>,
) -> (Vec<(Expr, Expr)>, Vec<Stmt>) {
    let mut checks = Vec::new();
    for (dim, (_, extent)) in bounds.iter_mut().enumerate() {
        let (Some(given), Some(&fault)) = (&ctx.plan.funcs[func].room[dim], room.get(&(func, dim))) else { continue };
        let given = build::int(given.extent);
        // Of a folded dimension, only as much as the fold is kept.
        let fold = ctx.program.buffers[ctx.program.func_buffers[func][0]].fold[dim];
        let kept = fold.map_or(extent.clone(), |fold| build::min(extent.clone(), build::int(fold)));
        let cond = simplify(&build::le(kept.clone(), given.clone()), facts);
        checks.push(Stmt::Assert { cond, fault, args: vec![kept] });
        if fold.is_none() {
            *extent = given;
        }
    }
    (bounds, checks)
}
