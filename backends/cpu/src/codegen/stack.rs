//! Emission recurses into expressions and statements. Programs can be deep (a sum of thousands of terms), so where the
//! depth asks for more stack than the thread has left, a new piece is used.

use crate::tuning::{COMPILER_STACK, COMPILER_STACK_PER_LEVEL};
use halide_ir::hash::Map;
use halide_ir::visit::{Pending, deep, for_each_child, for_each_expr, for_each_stmt, is_leaf, push_children};
use halide_ir::{Expr, Program, Stmt};

/// Runs `work` with enough stack to recurse through `program`.
pub(super) fn with_room_for<T>(program: &Program, work: impl FnOnce() -> T) -> T {
    let mut seen = Map::default();
    let bodies = std::iter::once(&program.body).chain(program.tasks.iter().map(|t| &t.body));
    let depth = bodies.map(|s| stmt_depth(s, &mut seen)).max().unwrap_or(0);
    let size = COMPILER_STACK + depth * COMPILER_STACK_PER_LEVEL;
    stacker::maybe_grow(size, size, work)
}

fn stmt_depth(s: &Stmt, seen: &mut Map<usize, usize>) -> usize {
    deep(|| {
        let mut deepest = 0;
        for_each_expr(s, |e| deepest = deepest.max(expr_depth(e, seen)));
        for_each_stmt(s, |inner| deepest = deepest.max(stmt_depth(inner, seen)));
        deepest + 1
    })
}

/// The depth of a DAG; iterative, because it is what decides about recursion.
fn expr_depth(root: &Expr, seen: &mut Map<usize, usize>) -> usize {
    let depth =
        |e: &Expr, seen: &Map<usize, usize>| if is_leaf(e) { 1 } else { seen.get(&e.id()).copied().unwrap_or(0) };
    let mut open = Pending::new();
    open.push((root, false));
    while let Some((e, ready)) = open.pop() {
        if ready {
            let mut deepest = 0;
            for_each_child(e, |c| deepest = deepest.max(depth(c, seen)));
            seen.insert(e.id(), deepest + 1);
        } else if !is_leaf(e) && !seen.contains_key(&e.id()) {
            open.push((e, true));
            push_children(e, &mut open);
        }
    }
    depth(root, seen)
}
