//! Coordinates as the algorithm writes them, for messages and reports.

use crate::tuning::SHOWN_NODES;
use halide_ir::print::expr_by_names;
use halide_ir::visit::{Pending, push_children, substitute};
use halide_ir::{Expr, LoopId, Program, Sym, build};
use std::collections::BTreeMap;

/// Returns coordinates as text, with `names` in place of the placeholders of a definition.
pub(crate) fn coordinates(program: &Program, names: &BTreeMap<Sym, String>, args: &[Expr]) -> Vec<String> {
    let mut loops = Names::new(program);
    let values: BTreeMap<Sym, Expr> = names.iter().map(|(s, name)| (*s, loops.expr(name.clone()))).collect();
    args.iter().map(|a| loops.print(&substitute(a, &|s| values.get(&s).cloned()))).collect()
}

/// Returns one coordinate as text; `None` if that would be too long for a message.
pub(crate) fn coordinate(program: &Program, names: &BTreeMap<Sym, String>, arg: &Expr) -> Option<String> {
    is_short(arg).then(|| coordinates(program, names, std::slice::from_ref(arg)).remove(0))
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
