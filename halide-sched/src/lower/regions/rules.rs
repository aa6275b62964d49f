//! Rules of the algorithm for the caller's buffers, in loop IR: what `check_arguments` asserts, and what everything
//! else may take for granted.
//!
//! Constants and multiples are written into expressions themselves, so tails that they rule out are never made. `query`
//! evaluates inferred bounds for given outputs, until regions of inputs need no more than themselves; `explain_bounds`
//! says which read demanded an edge. An output may be in an input's memory (`lower/storage/in_place` proves it): the
//! CPU then runs code with exact tails and leaves out a first definition that copies the memory to itself.

use crate::lower::nests::ctx::Ctx;
use crate::lower::nests::translate::{Env, Translator};
use crate::lower::pixels::Pixels;
use crate::lower::regions::union::Region;
use crate::plan::Plan;
use crate::schedule::FloatMode;
use halide_core::error::Location;
use halide_core::ids::{FuncId, Id};
use halide_core::pipeline::{Kind, Pipeline};
use halide_core::shape::{BufferOf, Law};
use halide_ir::{BufId, BufferInfo, BufferRole, DimField, Expr, Program, Sym, build};
use std::collections::BTreeMap;

/// A rule of the algorithm for a property of a caller's buffer.
pub(crate) struct Rule {
    /// The buffer's property.
    pub(crate) property: (BufId, usize, DimField),
    /// The value that it must have, or be a multiple of; scalar Index.
    pub(crate) value: Expr,
    /// True if multiples of the value will do.
    pub(crate) multiple: bool,
    /// Location of the rule; `None` of what only this variant of the code assumes.
    pub(crate) at: Option<Location>,
}

impl Rule {
    /// The condition.
    pub(crate) fn holds(&self) -> Expr {
        let (found, value) = (self.found(), self.value.clone());
        if self.multiple { build::eq(build::rem(found, value), build::int(0)) } else { build::eq(found, value) }
    }
    /// The property.
    pub(crate) fn found(&self) -> Expr {
        let (buf, dim, field) = self.property;
        build::sym(Sym::Buffer { buf, dim: dim as u16, field })
    }
}

/// The rules for each buffer of the caller's: all elements of an output have the same.
pub(crate) fn rules(plan: &Plan, program: &Program, translator: &mut Translator<'_>) -> Vec<Rule> {
    let mut all = Vec::new();
    for rule in &plan.pipeline.shapes {
        let bufs = match rule.of {
            BufferOf::Image(image) => vec![program.image_buffers[image]],
            BufferOf::Output(func) => program.func_buffers[func].clone(),
        };
        let (value, multiple) = match rule.law {
            Law::MultipleOf(n) => (build::int(n), true),
            Law::Is(e) => {
                (translator.index(e, &mut Env::inlined(BTreeMap::new(), Vec::new(), FloatMode::Strict)), false)
            }
        };
        for buf in bufs {
            all.push(Rule { property: (buf, rule.dim, rule.field), value: value.clone(), multiple, at: Some(rule.at) });
        }
    }
    all
}

/// Assumptions of a variant about interleaved buffers: constant strides, and as many values of a pixel as these leave
/// room for.
pub(crate) fn rules_of_pixels(plan: &Plan, program: &Program, pixels: Pixels) -> Vec<Rule> {
    let rules = |(buf, info): (BufId, &BufferInfo)| {
        let values = values_of_pixels(&plan.pipeline, pixels, buf, info)?;
        let rule =
            |dim, field| Rule { property: (buf, dim, field), value: build::int(values), multiple: false, at: None };
        Some([rule(0, DimField::Stride), rule(info.dims - 1, DimField::Extent)])
    };
    program.buffers.enumerate().filter_map(rules).flatten().collect()
}

/// The number of values of a pixel of a buffer that a variant takes to be interleaved: one of which the algorithm says
/// nothing else.
fn values_of_pixels(pipeline: &Pipeline, pixels: Pixels, buf: BufId, info: &BufferInfo) -> Option<i64> {
    let values = pixels.of(buf.index())?;
    let of = match info.role {
        BufferRole::Input(image) => BufferOf::Image(image),
        BufferRole::Output(_) => BufferOf::Output(owner(pipeline, buf.index() - pipeline.images.len())?),
        BufferRole::Internal => return None,
    };
    let in_order = info.order.iter().copied().eq(0..info.dims) && info.align.iter().all(|n| *n == 1);
    let is_said = pipeline.shapes.iter().any(|rule| {
        let last = rule.dim == info.dims - 1 && rule.field == DimField::Extent;
        rule.of == of && (rule.field == DimField::Stride || last)
    });
    (info.dims > 1 && in_order && !is_said).then_some(values)
}

/// The output that has the element of this number.
fn owner(pipeline: &Pipeline, element: usize) -> Option<FuncId> {
    let mut owners = pipeline.outputs.iter().flat_map(|func| vec![*func; pipeline.funcs[*func].types.len()]);
    owners.nth(element)
}

/// The dimension along which neighbours are neighbours in memory: the one that a rule says, or else `usual`, unless a
/// rule says otherwise of it.
pub(crate) fn dense_dim(pipeline: &Pipeline, of: BufferOf, usual: Option<usize>) -> Option<usize> {
    let stride = |dim: usize| {
        pipeline.shapes.iter().find_map(|r| match r.law {
            Law::Is(e) if (r.of, r.dim, r.field) == (of, dim, DimField::Stride) => match pipeline.exprs[e].kind {
                Kind::Const(value) => Some(Some(value.as_i64())),
                _ => Some(None),
            },
            _ => None,
        })
    };
    let ruled = pipeline.shapes.iter().filter(|r| r.of == of).find(|r| stride(r.dim) == Some(Some(1)));
    ruled.map(|r| r.dim).or(usual.filter(|&dim| stride(dim).is_none()))
}

/// The region that the caller's buffer gives an output.
pub(crate) fn given_region(ctx: &Ctx<'_>, func: FuncId) -> Region {
    let buf = ctx.program.func_buffers[func][0];
    let field = |dim: usize, field| {
        let found = build::sym(Sym::Buffer { buf, dim: dim as u16, field });
        ruled(&ctx.plan.pipeline, BufferOf::Output(func), dim, field, found)
    };
    let span = |d: usize| {
        let min = field(d, DimField::Min);
        (min.clone(), build::offset(build::add(min, field(d, DimField::Extent)), -1))
    };
    (0..ctx.plan.pipeline.funcs[func].dims()).map(span).collect()
}

/// A property of a caller's buffer, `found`, written so that what rules say of it can be seen: a constant, or a
/// product.
pub(crate) fn ruled(pipeline: &Pipeline, of: BufferOf, dim: usize, field: DimField, found: Expr) -> Expr {
    let mut multiple = 1;
    for rule in pipeline.shapes.iter().filter(|r| (r.of, r.dim, r.field) == (of, dim, field)) {
        match rule.law {
            Law::MultipleOf(n) => multiple = multiple.max(n),
            Law::Is(e) => {
                if let Kind::Const(value) = pipeline.exprs[e].kind {
                    return build::int(value.as_i64());
                }
            }
        }
    }
    match multiple {
        1 => found,
        n => build::mul(build::div(found, build::int(n)), build::int(n)),
    }
}
