//! Preconditions of a run: checks of the caller's buffers, before anything is written.
//!
//! Before and after: the definitions of `infer_bounds`. Adds assertions: inputs cover what is read of them, strides
//! are what the code was compiled for, outputs suit the tails of their loops and the promises of the schedule,
//! coordinates are i32, and regions that the schedule or the caller fixes hold what is needed of them.
//!
//! Example of `f(x) = in(x) + 1`, `g(x) = f(x) + f(x + 2)`:
//! ```text
//! g: split(x, xo, xi, 8, RoundUp)
//! ```
//! becomes
//! ```text
//! fault fault0 = stride b0 dim 0
//! fault fault1 = stride b1 dim 0
//! fault fault2 = output_region b1 dim 0 "the split of `x` at schedule:1:4 needs a multiple of 8"
//! fault fault3 = input_too_small b0 dim 0
//! assert in#b0.stride0 == 1 || in#b0.extent0 <= 1 else fault0(1, in#b0.stride0)
//! assert g#b1.stride0 == 1 || g#b1.extent0 <= 1 else fault1(1, g#b1.stride0)
//! assert g#b1.extent0 == (g#b1.extent0 + 7) / 8 * 8 else fault2(g#b1.min0, g#b1.min0 + (g#b1.extent0 + 7) / 8 * 8 + -1, g#b1.min0, g#b1.min0 + g#b1.extent0 + -1)
//! assert in#b0.min0 <= g#b1.min0 && g#f1.s0.d0.max@root + 3 <= in#b0.min0 + in#b0.extent0 else fault3(g#b1.min0, g#f1.s0.d0.max@root + 2, in#b0.min0, in#b0.min0 + in#b0.extent0 + -1)
//! ```

use crate::lower::checks::check_coordinates::check_coordinates;
use crate::lower::checks::check_factors::check_factors;
use crate::lower::nests::ctx::Ctx;
use crate::lower::nests::effects;
use crate::lower::nests::reached_factors::{reached_variants, where_reached};
use crate::lower::nests::vars::{Vars, extent_between};
use crate::lower::regions::region_table::Regions;
use crate::lower::storage::bound_storage::check_room;
use crate::plan::{PlanTail, StagePlan, Transform, VarOrigin};
use halide_core::ids::FuncId;
use halide_ir::visit::any_node;
use halide_ir::{BufId, BufferRole, DimField, Expr, ExprKind, Fault, FaultId, Scope, Stmt, Sym, build};
use halide_solve::simplify::{Facts, simplify};
use std::collections::BTreeMap;

/// Assertions and where they stand.
#[derive(Default)]
pub(crate) struct Checks {
    /// At the start of a scope, after the definitions there.
    pub(crate) at: BTreeMap<Scope, Vec<Stmt>>,
    /// Before a definition at the root that could not be computed otherwise.
    pub(crate) before: BTreeMap<Sym, Vec<Stmt>>,
    /// The fault where storage of a dimension of a Func has not enough room.
    pub(crate) room: BTreeMap<(FuncId, usize), FaultId>,
}

/// The assertions that a program needs.
pub(crate) fn check_arguments(ctx: &mut Ctx<'_>, regions: &Regions, facts: &Facts) -> Checks {
    let (mut given, mut root, mut strides) = (effects::at_start(ctx), Vec::new(), Vec::new());
    check_factors(ctx, facts, &mut given);
    check_rules(ctx, &mut given);
    check_strides(ctx, &mut strides);
    let early = first_read(regions);
    if early.is_none() {
        root.append(&mut strides);
    }
    check_output_shapes(ctx, facts, &mut root);
    // The facts assume what these assertions establish.
    check_output_tails(ctx, &Facts::new(), &mut root);
    let mut before = check_coordinates(ctx, regions, facts, &mut root);
    if let Some(s) = early {
        let list = before.entry(s).or_default();
        list.splice(0..0, strides);
    }
    // These are about nothing but what the caller gives, and say best what is wrong with it.
    match regions.defs.get(&Scope::Root).and_then(|defs| defs.first()) {
        Some((first, _)) => drop(before.entry(*first).or_default().splice(0..0, given)),
        None => drop(root.splice(0..0, given)),
    }
    let mut all = BTreeMap::from([(Scope::Root, root)]);
    check_demands(ctx, regions, facts, &mut all);
    check_inputs(ctx, regions, facts, all.entry(Scope::Root).or_default());
    let room = check_room(ctx);
    Checks { at: all, before, room }
}

/// The first bound at the root that reads an input: strides are checked before that.
fn first_read(regions: &Regions) -> Option<Sym> {
    let reads = |e: &Expr| any_node(e, |n| matches!(n.kind(), ExprKind::Read { .. }));
    regions.defs.get(&Scope::Root)?.iter().find(|(_, value)| reads(value)).map(|(s, _)| *s)
}

fn field(buf: BufId, dim: usize, field: DimField) -> Expr {
    build::sym(Sym::Buffer { buf, dim: dim as u16, field })
}

/// An assertion that is not known to hold.
pub(crate) fn assert(
    ctx: &mut Ctx<'_>,
    facts: &Facts,
    list: &mut Vec<Stmt>,
    cond: Expr,
    fault: Fault,
    args: Vec<Expr>,
) {
    let cond = simplify(&cond, facts);
    if build::as_bool(&cond) != Some(true) {
        let fault = ctx.program.faults.push(fault);
        list.push(Stmt::Assert { cond, fault, args });
    }
}

fn is_within(inner: &(Expr, Expr), outer: &(Expr, Expr)) -> Expr {
    build::and(build::ge(inner.0.clone(), outer.0.clone()), build::le(inner.1.clone(), outer.1.clone()))
}

/// The rules of the algorithm, which the facts assume.
fn check_rules(ctx: &mut Ctx<'_>, list: &mut Vec<Stmt>) {
    for rule in &ctx.rules {
        let (buf, dim, field) = rule.property;
        let fault = match rule.at {
            Some(at) => Fault::Rule { buf, dim, field, multiple: rule.multiple, at: at.to_string() },
            // Another variant takes other strides.
            None => Fault::Stride { buf, dim },
        };
        let fault = ctx.program.faults.push(fault);
        let cond = simplify(&rule.holds(), &Facts::new());
        list.push(Stmt::Assert { cond, fault, args: vec![rule.value.clone(), rule.found()] });
    }
}

fn check_strides(ctx: &mut Ctx<'_>, list: &mut Vec<Stmt>) {
    let fixed: Vec<(BufId, usize)> =
        ctx.program.buffers.enumerate().filter_map(|(buf, b)| Some((buf, b.unit_stride?))).collect();
    for (buf, dim) in fixed {
        // A rule that says so is checked by itself.
        if ctx.rules.iter().any(|r| r.property == (buf, dim, DimField::Stride) && !r.multiple) {
            continue;
        }
        let stride = field(buf, dim, DimField::Stride);
        // A dimension of one coordinate is never stepped along, so its stride does not matter.
        let single = build::le(field(buf, dim, DimField::Extent), build::int(1));
        let fault = ctx.program.faults.push(Fault::Stride { buf, dim });
        let cond = build::or(build::eq(stride.clone(), build::int(1)), single);
        list.push(Stmt::Assert { cond, fault, args: vec![build::int(1), stride] });
    }
}

/// All elements of a tuple have one shape; `bound` and `align` promises hold.
fn check_output_shapes(ctx: &mut Ctx<'_>, facts: &Facts, list: &mut Vec<Stmt>) {
    for func in ctx.plan.pipeline.outputs.clone() {
        let bufs = ctx.program.func_buffers[func].clone();
        for dim in 0..ctx.plan.pipeline.funcs[func].dims() {
            let first = build::coordinates(bufs[0], dim);
            for &buf in &bufs[1..] {
                let own = build::coordinates(buf, dim);
                let same =
                    build::and(build::eq(own.0.clone(), first.0.clone()), build::eq(own.1.clone(), first.1.clone()));
                let reason = "all elements of a tuple must have one region".to_string();
                let args = vec![first.0.clone(), first.1.clone(), own.0, own.1];
                assert(ctx, facts, list, same, Fault::OutputRegion { buf, dim, reason }, args);
            }
            let constraint = ctx.plan.funcs[func].bounds[dim].clone();
            let place = constraint.at.map(|at| format!(" at {at}")).unwrap_or_default();
            let extent = extent_between(&first.0, &first.1);
            let mut promise = |ctx: &mut Ctx<'_>, cond: Expr, needed: (Expr, Expr), what: String| {
                let args = vec![needed.0, needed.1, first.0.clone(), first.1.clone()];
                let reason = format!("the schedule promises {what}{place}");
                assert(ctx, facts, list, cond, Fault::OutputRegion { buf: bufs[0], dim, reason }, args);
            };
            if let Some(promised) = constraint.extent {
                let min = constraint.min.unwrap_or(first.0.clone());
                let last = build::offset(build::add(min.clone(), promised.clone()), -1);
                let cond = build::and(build::eq(first.0.clone(), min.clone()), build::eq(extent.clone(), promised));
                promise(ctx, cond, (min, last), "a fixed region".into());
            }
            for (modulus, remainder, aligns_min) in constraint
                .align
                .map(|(m, r)| (m, r, true))
                .into_iter()
                .chain(constraint.align_extent.map(|m| (m, 0, false)))
            {
                let m = build::int(modulus);
                let fits = build::eq(build::rem(extent.clone(), m.clone()), build::int(0));
                let beyond = build::rem(build::offset(first.0.clone(), -remainder), m.clone());
                let start = build::eq(beyond.clone(), build::int(0));
                let cond = if aligns_min { build::and(fits, start) } else { fits };
                // The smallest region that would do, of those that hold this one.
                let min = if aligns_min { build::sub(first.0.clone(), beyond) } else { first.0.clone() };
                let reached = extent_between(&min, &first.1);
                let whole = build::mul(build::div(build::offset(reached, modulus - 1), m.clone()), m);
                let last = build::offset(build::add(min.clone(), whole), -1);
                promise(ctx, cond, (min, last), format!("multiples of {modulus}"));
            }
        }
    }
}

/// Emits checks that the regions of outputs suit the tails of their own loops. What all variants of a stage ask for is
/// asked under no condition: later passes then know it.
fn check_output_tails(ctx: &mut Ctx<'_>, facts: &Facts, list: &mut Vec<Stmt>) {
    for func in ctx.plan.pipeline.outputs.clone() {
        let all_stages = &ctx.plan.funcs[func].stages;
        for (stage, plan) in all_stages.iter().enumerate() {
            let variants = reached_variants(plan);
            let mut all: Vec<(TailDemand, Vec<&Expr>)> = Vec::new();
            for (reached, variant) in &variants {
                for demand in tail_demands(ctx, facts, (func, stage), variant, reached) {
                    match all.iter_mut().find(|(known, _)| *known == demand) {
                        Some((_, wanting)) if wanting.last() == Some(&reached) => {}
                        Some((_, wanting)) => wanting.push(reached),
                        None => all.push((demand, vec![reached])),
                    }
                }
            }
            for (demand, wanting) in all {
                let by_all = wanting.len() == variants.len() && always_runs(plan);
                let none = wanting.into_iter().map(|reached| build::not(reached.clone()));
                let none = none.reduce(build::and).filter(|_| !by_all);
                let cond = none.into_iter().fold(demand.fits, |fits, none| build::or(none, fits));
                assert(ctx, facts, list, cond, demand.fault, demand.args);
            }
        }
    }
}

/// Returns true if some variant of a stage runs, whatever holds.
fn always_runs(plan: &StagePlan) -> bool {
    plan.fail.is_none() && plan.variants.iter().all(|(_, variant)| always_runs(variant))
}

/// A condition on the region of an output that the tail of a split asks for.
#[derive(PartialEq)]
struct TailDemand {
    fits: Expr,
    fault: Fault,
    args: Vec<Expr>,
}

/// Returns the demands of one variant's tails.
fn tail_demands(
    ctx: &Ctx<'_>,
    facts: &Facts,
    (func, stage): (FuncId, usize),
    plan: &StagePlan,
    reached: &Expr,
) -> Vec<TailDemand> {
    let buf = ctx.program.func_buffers[func][0];
    let plan = &*where_reached(plan, reached);
    let mut all = Vec::new();
    for t in &plan.transforms {
        let Transform::Split { var: root, .. } = t else { continue };
        let VarOrigin::Pure { dim } = plan.vars[*root].origin else { continue };
        let vars = Vars::of_plan(ctx, func, stage, plan, Scope::Root);
        let Some(Transform::Split { var, factor, tail, at, .. }) = vars.growing(*root) else { continue };
        let (min, max) = build::coordinates(buf, dim);
        let extent = extent_between(&min, &max);
        let covered = simplify(&vars.cover(*root, extent.clone()), facts);
        let fits = build::eq(covered.clone(), extent.clone());
        let fault = match tail {
            PlanTail::AutoShift => Fault::NotThisVariant,
            _ => {
                let place = at.map(|at| format!(" at {at}")).unwrap_or_default();
                let factor = build::as_int(factor).map_or("its factor".to_string(), |f| f.to_string());
                let need = if *tail == PlanTail::RoundUp { "a multiple of" } else { "an extent of at least" };
                let name = &plan.vars[*var].name;
                Fault::OutputRegion { buf, dim, reason: format!("the split of `{name}`{place} needs {need} {factor}") }
            }
        };
        let last = build::offset(build::add(min.clone(), covered), -1);
        let args = if fault == Fault::NotThisVariant { vec![] } else { vec![min.clone(), last, min, max] };
        all.push(TailDemand { fits, fault, args });
    }
    all
}

/// Regions that are fixed from outside hold what is needed of them.
fn check_demands(ctx: &mut Ctx<'_>, regions: &Regions, facts: &Facts, all: &mut BTreeMap<Scope, Vec<Stmt>>) {
    for demand in &regions.demands {
        let buf = ctx.program.func_buffers[demand.func][0];
        let constraint = ctx.plan.funcs[demand.func].bounds[demand.dim].clone();
        let (given, reason) = match constraint.extent {
            Some(extent) if !ctx.is_output(demand.func) => {
                let min = constraint.min.unwrap_or(demand.needed.0.clone());
                let last = build::offset(build::add(min.clone(), extent), -1);
                let place = constraint.at.map(|at| format!(" at {at}")).unwrap_or_default();
                ((min, last), format!("the schedule promises a fixed region{place}"))
            }
            _ => (build::coordinates(buf, demand.dim), "the pipeline itself reads or writes more of it".to_string()),
        };
        let fault = match ctx.program.buffers[buf].role {
            BufferRole::Internal => Fault::Promise {
                what: format!(
                    "dimension {} of `{}` is not inside its bound: {reason}",
                    demand.dim,
                    ctx.name(demand.func)
                ),
            },
            _ => Fault::OutputRegion { buf, dim: demand.dim, reason },
        };
        let args = vec![demand.needed.0.clone(), demand.needed.1.clone(), given.0.clone(), given.1.clone()];
        let cond = is_within(&demand.needed, &given);
        assert(ctx, facts, all.entry(demand.at).or_default(), cond, fault, args);
    }
}

fn check_inputs(ctx: &mut Ctx<'_>, regions: &Regions, facts: &Facts, list: &mut Vec<Stmt>) {
    for (&image, region) in &regions.images {
        let buf = ctx.program.image_buffers[image];
        for (dim, needed) in region.iter().enumerate() {
            let have = build::coordinates(buf, dim);
            let args = vec![needed.0.clone(), needed.1.clone(), have.0.clone(), have.1.clone()];
            let mut cond = is_within(needed, &have);
            if regions.perhaps_unread.contains(&image) {
                let empty = region.iter().map(|(min, max)| build::lt(max.clone(), min.clone()));
                cond = empty.map(|e| simplify(&e, facts)).fold(cond, build::or);
            }
            assert(ctx, facts, list, cond, Fault::InputTooSmall { buf, dim }, args);
        }
    }
}
