//! Calls of closures in place of the loops of an instruction. Part of `build_nests`.
//!
//! The innermost loops of a definition that uses an instruction which a closure computes are one `Call`, which is
//! handed the boxes that all their iterations read and write. What the loops need of others is found from the
//! definition and its loops, as if they were there.

use crate::lower::nests::ctx::{Ctx, Instance};
use crate::lower::nests::handed::buffer;
use crate::lower::nests::translate::{Env, Translator};
use crate::lower::nests::vars::Vars;
use crate::plan::{BoxDim, BoxTerm, InstructionCall, StageVar};
use crate::schedule::FloatMode;
use halide_ir::{BufId, CallArg, CalleeId, Expr, Stmt, Sym, build, visit};
use std::collections::BTreeMap;

/// The call that stands in place of the loops `axes` of a definition, whose placeholders have the values `around`.
pub(super) fn call(
    ctx: &Ctx<'_>,
    inst: &Instance<'_>,
    (axes, call): (&[StageVar], &InstructionCall),
    around: &BTreeMap<Sym, Expr>,
) -> Stmt {
    let vars = Vars::of(ctx, inst);
    let outside = |e: &Expr| visit::substitute(e, &|s: Sym| around.get(&s).cloned());
    // The values of the first iteration of all axes.
    let leaf = |var: StageVar| match axes.contains(&var) {
        true => outside(&vars.min(var)),
        false => inst.leaf(var),
    };
    let (funcs, images) = (&ctx.program.func_buffers, &ctx.program.image_buffers);
    let mut translator = Translator::new(ctx.plan, funcs, images);
    let mut env = Env::inlined(BTreeMap::new(), Vec::new(), FloatMode::Strict);
    let mut term = |term: &BoxTerm| match *term {
        BoxTerm::Pure(dim) => vars.pure_var(dim).map(|var| vars.value(var, &leaf)),
        BoxTerm::Reduction(dim) => vars.reduction_var(dim).map(|var| vars.value(var, &leaf)),
        BoxTerm::Uniform(e) => Some(translator.index(e, &mut env)),
    };
    let mut first = |dim: &BoxDim| {
        let terms = dim.terms.iter().filter_map(|(of, factor)| Some(build::mul(build::int(*factor), term(of)?)));
        terms.fold(build::int(dim.offset), build::add)
    };
    let mut arg = |buf: BufId, dims: &[BoxDim]| {
        let bounds = dims.iter().map(|dim| (outside(&first(dim)), build::int(dim.extent))).collect();
        CallArg { buf, bounds, memory: Vec::new() }
    };
    let mut args: Vec<CallArg> = funcs[inst.func].iter().map(|buf| arg(*buf, &call.result)).collect();
    for (source, element, dims) in &call.operands {
        args.push(arg(buffer(funcs, images, *source, *element), dims));
    }
    Stmt::Call { callee: CalleeId(call.callee as u32), args }
}
