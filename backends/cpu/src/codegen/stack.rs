//! Emission recurses into expressions and statements. Programs can be deep (a sum of thousands of terms), so where the
//! depth asks for more stack than a thread has, a thread with more is used.

use crate::CpuError;
use halide_sched::ir::hash::Map;
use halide_sched::ir::visit::{for_each_child, for_each_expr, for_each_stmt};
use halide_sched::ir::{Expr, Program, Stmt};

/// A generous bound of the stack that one level of nesting takes.
const BYTES_PER_LEVEL: usize = 4 << 10;
/// What every thread is taken to have left.
const USUAL_DEPTH: usize = 128;

/// Runs `work` with enough stack to recurse through `program`.
pub(super) fn with_room_for<T: Send>(
    program: &Program,
    work: impl FnOnce() -> Result<T, CpuError> + Send,
) -> Result<T, CpuError> {
    let mut seen = Map::default();
    let bodies = std::iter::once(&program.body).chain(program.tasks.iter().map(|t| &t.body));
    let depth = bodies.map(|s| stmt_depth(s, &mut seen)).max().unwrap_or(0);
    if depth <= USUAL_DEPTH {
        return work();
    }
    let size = (depth * BYTES_PER_LEVEL).max(2 << 20);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(size).spawn_scoped(scope, work);
        let thread = thread.map_err(|e| CpuError::Memory(format!("a thread with {size} bytes of stack: {e}")))?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn stmt_depth(s: &Stmt, seen: &mut Map<usize, usize>) -> usize {
    let mut deepest = 0;
    for_each_expr(s, |e| deepest = deepest.max(expr_depth(e, seen)));
    for_each_stmt(s, |inner| deepest = deepest.max(stmt_depth(inner, seen)));
    deepest + 1
}

/// The depth of a DAG; iterative, because it is what decides about recursion.
fn expr_depth(root: &Expr, seen: &mut Map<usize, usize>) -> usize {
    let mut open = vec![(root.clone(), false)];
    while let Some((e, ready)) = open.pop() {
        if seen.contains_key(&e.id()) {
            continue;
        }
        if ready {
            let mut deepest = 0;
            for_each_child(&e, |c| deepest = deepest.max(seen.get(&c.id()).copied().unwrap_or(0)));
            seen.insert(e.id(), deepest + 1);
        } else {
            open.push((e.clone(), true));
            for_each_child(&e, |c| open.push((c.clone(), false)));
        }
    }
    seen.get(&root.id()).copied().unwrap_or(0)
}
