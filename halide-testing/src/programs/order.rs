//! Programs whose iterations come in another order: for tests of what finds iterations that disturb each other.

use super::vocabulary::Random;
use halide_ir::visit::{map_stmt, substitute};
use halide_ir::{For, ForKind, Program, Stmt, Sym, build};

/// `program` with one serial loop made parallel, whether its iterations may run at the same time or not. `None` if all
/// loops are parallel.
pub fn parallelised(program: &Program, random: &mut Random) -> Option<Program> {
    fn walk(s: Stmt, left: &mut usize) -> Stmt {
        let s = match s {
            Stmt::For(l) if l.kind == ForKind::Serial && l.condition.is_none() => {
                let here = *left == 0;
                *left = left.wrapping_sub(1);
                Stmt::For(Box::new(For { kind: if here { ForKind::Parallel } else { l.kind }, ..*l }))
            }
            other => other,
        };
        map_stmt(s, Clone::clone, |inner| walk(inner, left))
    }
    let mut left = usize::MAX;
    walk(program.body.clone(), &mut left);
    let loops = usize::MAX - left;
    let mut chosen = random.below(loops);
    (loops > 0).then(|| Program { body: walk(program.body.clone(), &mut chosen), ..program.clone() })
}

/// `program` with the iterations of all parallel loops in the opposite order. Its symbols are bound once each.
pub fn reversed(program: &Program) -> Program {
    fn walk(s: Stmt, next_temp: &mut u32) -> Stmt {
        let s = match s {
            Stmt::For(l) if l.kind == ForKind::Parallel => {
                let For { id, kind, min, extent, body, .. } = *l;
                let ends = Sym::Temp(*next_temp);
                *next_temp += 1;
                let sum = build::offset(build::add(build::add(min.clone(), min.clone()), extent.clone()), -1);
                let var = build::sub(build::sym(ends), build::loop_var(id));
                let body = renamed(body, &|s| (s == Sym::Loop(id)).then(|| var.clone()));
                return build::let_in(vec![(ends, sum)], build::for_loop(id, kind, min, extent, walk(body, next_temp)));
            }
            other => other,
        };
        map_stmt(s, Clone::clone, |inner| walk(inner, next_temp))
    }
    let mut made = program.clone();
    made.body = walk(made.body, &mut made.next_temp);
    made
}

/// A statement with symbols replaced.
fn renamed(s: Stmt, value: &dyn Fn(Sym) -> Option<halide_ir::Expr>) -> Stmt {
    map_stmt(s, |e| substitute(e, value), |inner| renamed(inner, value))
}
