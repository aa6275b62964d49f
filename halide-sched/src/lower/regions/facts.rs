//! Facts about arguments that hold once `check_arguments` let a run begin.

use crate::lower::nests::ctx::Ctx;
use crate::lower::nests::cut::Cut;
use crate::lower::nests::vars::Vars;
use crate::lower::options::LowerOptions;
use crate::plan::{Transform, VarOrigin};
use halide_core::pipeline::Pipeline;
use halide_ir::{BufferRole, DimField, Program, Scope, Sym, build};
use halide_solve::simplify::{Facts, Range};

/// Facts about buffers and parameters that every pass may use.
pub(crate) fn of_arguments(ctx: &Ctx<'_>) -> Facts {
    let mut facts = of_program(&ctx.program, &ctx.plan.pipeline, ctx.options);
    output_tails(ctx, &mut facts);
    ctx.rules.iter().for_each(|rule| facts.learn(&rule.holds()));
    facts
}

/// Returns the facts about buffers and parameters that hold whatever the schedule.
pub(crate) fn of_program(program: &Program, pipeline: &Pipeline, options: &LowerOptions) -> Facts {
    let mut facts = of_buffers(program, options);
    for (image, def) in pipeline.images.enumerate() {
        let buf = program.image_buffers[image];
        if def.dims == 0 {
            facts.assume_scalar(buf);
        }
        if let Some((min, max)) = def.promised_range() {
            facts.assume_elements(buf, Range::new(Some(min.into()), Some(max.into())));
        }
        for promise in &def.coordinates {
            facts.assume_coordinates(buf, program.image_buffers[promise.image], promise.dim);
        }
        if let Some(dim) = def.values.grows {
            facts.assume_growing(buf, dim);
        }
    }
    for (id, param) in pipeline.params.enumerate() {
        if let (Some(min), Some(max)) = (param.min, param.max)
            && param.ty.is_float()
        {
            facts.assume_float_range(&build::param(id, param.ty), min.as_f64(), max.as_f64());
        }
        let edge = |v: Option<halide_core::value::Scalar>| v.and_then(|v| i64::try_from(v.as_i128()).ok());
        if param.ty.is_int() && (param.min.is_some() || param.max.is_some()) {
            facts.assume_range(&build::param(id, param.ty), edge(param.min), edge(param.max));
        }
    }
    facts
}

/// Returns the facts about the caller's buffers that hold whatever the schedule.
fn of_buffers(program: &Program, options: &LowerOptions) -> Facts {
    let mut facts = Facts::new();
    let shortest = if options.may_be_empty { 0 } else { 1 };
    for (buf, info) in program.buffers.enumerate() {
        if info.role == BufferRole::Internal {
            continue;
        }
        for dim in 0..info.dims as u16 {
            let field = |field| build::sym(Sym::Buffer { buf, dim, field });
            // Coordinates are i32, and calls with an empty buffer have a variant of their own.
            facts.assume_range(&field(DimField::Min), Some(i32::MIN.into()), Some(i32::MAX.into()));
            facts.assume_range(&field(DimField::Extent), Some(shortest), Some(1 << 32));
            let end = build::add(field(DimField::Min), field(DimField::Extent));
            facts.assume_range(&build::offset(end, -1), Some(i32::MIN.into()), Some(i32::MAX.into()));
        }
    }
    facts
}

/// An output without specialisations has an extent that suits its tails.
fn output_tails(ctx: &Ctx<'_>, facts: &mut Facts) {
    for &func in &ctx.plan.pipeline.outputs {
        let buf = ctx.program.func_buffers[func][0];
        for (stage, plan) in ctx.plan.funcs[func].stages.iter().enumerate() {
            if !plan.variants.is_empty() || plan.fail.is_some() {
                continue;
            }
            let vars = Vars::of_plan(ctx, func, stage, plan, Scope::Root);
            for t in &plan.transforms {
                let Transform::Split { var, factor, .. } = t else { continue };
                let (VarOrigin::Pure { dim }, Some(f)) = (plan.vars[*var].origin, build::as_int(factor)) else {
                    continue;
                };
                let extent = build::sym(Sym::Buffer { buf, dim: dim as u16, field: DimField::Extent });
                let shortest = vars.growing(*var).filter(|t| vars.cut(t) == Cut::Shift).and_then(|_| vars.slack(*var));
                if let Some(slack) = shortest.and_then(|slack| build::as_int(&slack)) {
                    facts.assume_range(&extent, slack.checked_add(1), None);
                }
                match vars.cut(t) {
                    Cut::Plain if vars.slack(*var).is_some() => facts.assume_congruence(&extent, f, 0),
                    _ => {}
                }
            }
        }
    }
}
