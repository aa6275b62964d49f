//! Demands for each edge of a Func's region: which consumer makes them, by which read.
//!
//! A region is the union of the boxes that consumers read, per iteration of the loop inside which the Func is computed
//! and over the whole run. Here the boxes are found one by one, and those that cannot be the edge are left out, as far
//! as that can be proved.

use crate::lower::error::LowerError;
use crate::lower::nests::build_nests;
use crate::lower::nests::ctx::{Ctx, ReadSite, Source};
use crate::lower::options::LowerOptions;
use crate::lower::regions::as_written::{Names, coordinates};
use crate::lower::regions::facts;
use crate::lower::regions::infer_bounds::{Finder, find_regions};
use crate::lower::regions::predicate_refinement::where_predicate_holds;
use crate::lower::regions::region_table::Regions;
use crate::lower::regions::rules::given_region;
use crate::lower::regions::union::Region;
use crate::lower::regions::value_bounds;
use crate::plan::{Level, Plan};
use halide_core::error::Location;
use halide_core::ids::FuncId;
use halide_ir::visit::substitute;
use halide_ir::{DimField, Edge, Expr, Scope, Sym, build};
use halide_solve::simplify::{Facts, prove, simplify};
use std::fmt;

/// One edge of a region, with what demanded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeReason {
    /// The loop per iteration of which the region is meant; `None` is the whole run.
    pub per: Option<String>,
    /// The name of the dimension.
    pub var: String,
    /// The edge: the first or the last coordinate.
    pub edge: Edge,
    /// The demands that can be the edge; several where the larger one is known only when the pipeline runs.
    pub demands: Vec<EdgeDemand>,
}

/// One demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeDemand {
    /// The coordinate demanded.
    pub value: String,
    /// A description of who demands it, where and how: ``the definition of `g` at FILE:3:5 reads f(x + 1)``.
    pub by: String,
}

impl fmt::Display for EdgeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.edge == Edge::Min { "from" } else { "to" };
        for (i, EdgeDemand { value, by }) in self.demands.iter().enumerate() {
            match i {
                0 => write!(f, "  {} {end} {value}: {by}", self.var)?,
                _ => write!(f, "\n    or {value}: {by}")?,
            }
        }
        Ok(())
    }
}

/// A reason that a Func is not explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotExplained {
    /// It is substituted where it is used.
    Inline,
    /// Lowering refuses the plan.
    Lower(Vec<LowerError>),
}

/// Every edge of the region of `func`: over the run, and per iteration of each loop that it is computed in.
///
/// # Errors
/// See [`NotExplained`].
pub fn explain_bounds(plan: &Plan, options: &LowerOptions, func: FuncId) -> Result<Vec<EdgeReason>, NotExplained> {
    if plan.funcs[func].compute == Level::Inline {
        return Err(NotExplained::Inline);
    }
    let mut ctx = Ctx::new(plan, options);
    let known = facts::of_program(&ctx.program, &plan.pipeline, options);
    let values = value_bounds::value_bounds(&mut ctx, &known);
    build_nests::build_nests(&mut ctx);
    let mut facts = facts::of_arguments(&ctx);
    let regions = find_regions(&ctx, &values, &mut facts).map_err(NotExplained::Lower)?;
    let mut scopes = vec![Scope::Root];
    scopes.extend(ctx.computed.get(&func).into_iter().flatten().filter(|s| **s != Scope::Root));
    let mut finder = Finder::new(&ctx, &values, &mut facts, regions);
    let mut all = Vec::new();
    for scope in scopes {
        let demands = finder.demands(func, scope);
        all.extend(edges(&ctx, &finder, func, scope, &demands));
    }
    Ok(all)
}

/// One box that somebody needs of a Func.
struct Demanded {
    region: Region,
    by: String,
}

impl Finder<'_> {
    /// Every box that is needed of `func` per iteration of `scope`, one by one.
    fn demands(&mut self, func: FuncId, scope: Scope) -> Vec<Demanded> {
        let ctx = self.ctx;
        let mut all = Vec::new();
        if ctx.is_output(func) && scope == Scope::Root {
            let region = given_region(ctx, func);
            let name = ctx.name(func);
            all.push(Demanded { region, by: format!("the caller asks for it: `{name}` is an output") });
        }
        let source = Source::Func(func);
        for &(consumer, stage) in ctx.consumers.get(&source).into_iter().flatten() {
            let Some(ranges) = self.consumer_ranges(scope, consumer, stage) else { continue };
            let ranges = where_predicate_holds(ctx, self.facts, scope, source, (consumer, stage), ranges);
            let sites: Vec<&ReadSite> =
                ctx.templates[&(consumer, stage)].reads.iter().filter(|r| r.source == source).collect();
            for read in sites {
                let region = match read.guarded {
                    true => self.box_of(&read.args, source, (consumer, stage), &ranges.admitted, &ranges.slacks),
                    false => self.box_of(&read.args, source, (consumer, stage), &ranges.all, &[]),
                };
                let by = format!(
                    "{} reads {}",
                    definition(ctx, consumer, stage),
                    access(ctx, func, (consumer, stage), &read.args)
                );
                all.push(Demanded { region, by });
            }
        }
        // What updates write is computed before.
        for stage in 1..ctx.plan.funcs[func].stages.len() {
            let template = &ctx.templates[&(func, stage)];
            let ranges = self.own_ranges(func, stage, scope);
            let ranges = where_predicate_holds(ctx, self.facts, scope, source, (func, stage), ranges);
            if !template.pure.iter().all(|p| *p) {
                for site in &template.sites {
                    let region = self.box_of(&site.lhs, source, (func, stage), &ranges.admitted, &ranges.slacks);
                    let by = format!(
                        "{} writes {}",
                        definition(ctx, func, stage),
                        access(ctx, func, (func, stage), &site.lhs)
                    );
                    all.push(Demanded { region, by });
                }
            }
        }
        all
    }
}

/// `the definition of `g` at FILE:3:5`.
fn definition(ctx: &Ctx<'_>, func: FuncId, stage: usize) -> String {
    let def = &ctx.plan.pipeline.funcs[func];
    let what = if stage == 0 { "the definition".to_string() } else { format!("update {}", stage - 1) };
    let at: Location = def.stages[stage].at;
    format!("{what} of `{}` at {at}", def.name)
}

/// The reasons of every edge in one scope.
fn edges(ctx: &Ctx<'_>, finder: &Finder<'_>, func: FuncId, scope: Scope, demands: &[Demanded]) -> Vec<EdgeReason> {
    let per = match scope {
        Scope::Root => None,
        Scope::Body(l) => Some(ctx.program.loops[l].name.clone()),
    };
    let def = &ctx.plan.pipeline.funcs[func];
    let mut all = Vec::new();
    for (dim, var) in def.args.iter().enumerate() {
        for edge in [Edge::Min, Edge::Max] {
            let end = |d: &Demanded| if edge == Edge::Min { d.region[dim].0.clone() } else { d.region[dim].1.clone() };
            let reaching = reaching(demands, &end, edge, finder.facts);
            let demand = |d: &&Demanded| EdgeDemand { value: shown(ctx, &finder.found, &end(d)), by: d.by.clone() };
            let demands: Vec<EdgeDemand> = reaching.iter().map(demand).collect();
            if !demands.is_empty() {
                all.push(EdgeReason { per: per.clone(), var: ctx.plan.pipeline.vars[*var].clone(), edge, demands });
            }
        }
    }
    all
}

/// The demands that are not known to be within another one.
fn reaching<'d>(
    demands: &'d [Demanded],
    end: &dyn Fn(&Demanded) -> Expr,
    edge: Edge,
    facts: &Facts,
) -> Vec<&'d Demanded> {
    let covers = |a: &Demanded, b: &Demanded| {
        let cond = if edge == Edge::Min { build::le(end(a), end(b)) } else { build::ge(end(a), end(b)) };
        prove(&cond, facts)
    };
    let mut kept: Vec<&Demanded> = Vec::new();
    for d in demands {
        if kept.iter().any(|k| covers(k, d)) {
            continue;
        }
        kept.retain(|k| !covers(d, k));
        kept.push(d);
    }
    kept
}

/// A coordinate for people: bounds of consumers are `g.x.min` and `g.x.max`.
fn shown(ctx: &Ctx<'_>, regions: &Regions, e: &Expr) -> String {
    let program = &ctx.program;
    // What the caller's buffers say is the last word; other bounds are explained by their own Funcs.
    let given = |s: Sym| match s {
        Sym::Bound { func, at: Scope::Root, .. } if ctx.is_output(func) => None,
        Sym::Bound { .. } => regions.value(s).filter(|v| build::as_int(v).is_some()).cloned(),
        _ => None,
    };
    let e = simplify(&substitute(e, &given), &Facts::new());
    let mut names = Names::new(program);
    let var = |func: FuncId, dim: u16| {
        let def = &ctx.plan.pipeline.funcs[func];
        ctx.plan.pipeline.vars[def.args[usize::from(dim)]].clone()
    };
    let named = |s: Sym, names: &mut Names| -> Option<Expr> {
        let text = match s {
            Sym::Bound { func, dim, edge, at, .. } => {
                let edge = if edge == Edge::Min { "min" } else { "max" };
                let per = match at {
                    Scope::Root => String::new(),
                    Scope::Body(l) => format!("_per_{}", program.loops[l]),
                };
                format!("{}.{}.{edge}{per}", ctx.name(func), var(func, dim))
            }
            Sym::Buffer { buf, dim, field } => {
                let field = match field {
                    DimField::Min => "min",
                    DimField::Extent => "extent",
                    DimField::Stride => "stride",
                };
                format!("{}.dim{dim}.{field}", program.buffers[buf].name)
            }
            _ => return None,
        };
        Some(names.expr(text))
    };
    let names_cell = std::cell::RefCell::new(&mut names);
    let e = substitute(&e, &|s| named(s, &mut names_cell.borrow_mut()));
    names.print(&e)
}

/// A read or a store as the algorithm writes it: `f(x, y + 1)`.
fn access(ctx: &Ctx<'_>, func: FuncId, consumer: (FuncId, usize), args: &[Expr]) -> String {
    format!("{}({})", ctx.name(func), coordinates(&ctx.program, &ctx.placeholder_names(consumer), args).join(", "))
}
