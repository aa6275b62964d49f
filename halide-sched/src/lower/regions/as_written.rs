//! Coordinates as the algorithm writes them, for messages and reports.

use crate::lower::nests::ctx::Ctx;
use crate::tuning::SHOWN_NODES;
use halide_core::ids::FuncId;
use halide_ir::print::expr_by_names;
use halide_ir::visit::{Pending, push_children, substitute};
use halide_ir::{Expr, LoopId, Program, Sym, build};
use std::collections::BTreeMap;

/// Returns `args`, coordinates in the definition number `stage` of `consumer`, with the names of its variables in place
/// of placeholders.
pub(crate) fn coordinates(ctx: &Ctx<'_>, (consumer, stage): (FuncId, usize), args: &[Expr]) -> Vec<String> {
    let pipeline = &ctx.plan.pipeline;
    let template = &ctx.templates[&(consumer, stage)];
    let def = &pipeline.funcs[consumer];
    let mut names = Names::new(&ctx.program);
    let mut values: BTreeMap<Sym, Expr> = BTreeMap::new();
    for (s, var) in template.dims.iter().zip(&def.args) {
        values.insert(*s, names.expr(pipeline.vars[*var].clone()));
    }
    if let Some(rdom) = def.stages[stage].rdom {
        for ((s, ..), dim) in template.rvars.iter().zip(&pipeline.rdoms[rdom].dims) {
            values.insert(*s, names.expr(dim.name.clone()));
        }
    }
    args.iter().map(|a| names.print(&substitute(a, &|s| values.get(&s).cloned()))).collect()
}

/// Returns one of [`coordinates`]; `None` if its text would be too long for a message.
pub(crate) fn coordinate(ctx: &Ctx<'_>, consumer: (FuncId, usize), arg: &Expr) -> Option<String> {
    is_short(arg).then(|| coordinates(ctx, consumer, std::slice::from_ref(arg)).remove(0))
}

/// Returns true if an expression that is written out has few nodes. What is shared counts at each use.
fn is_short(e: &Expr) -> bool {
    let mut stack = Pending::new();
    stack.push((e, false));
    let mut nodes = 0;
    while let Some((e, _)) = stack.pop() {
        nodes += 1;
        if nodes > SHOWN_NODES {
            return false;
        }
        push_children(e, &mut stack);
    }
    true
}

/// A program whose loops have the names that a text needs.
pub(crate) struct Names {
    program: Program,
    known: BTreeMap<String, LoopId>,
}

impl Names {
    pub(crate) fn new(program: &Program) -> Names {
        Names { program: program.clone(), known: BTreeMap::new() }
    }
    /// Returns an expression that prints as `name`.
    pub(crate) fn expr(&mut self, name: String) -> Expr {
        let loops = &mut self.program.loops;
        build::loop_var(*self.known.entry(name).or_insert_with_key(|name| loops.push(name.clone().into())))
    }
    pub(crate) fn print(&self, e: &Expr) -> String {
        expr_by_names(e, &self.program)
    }
}
