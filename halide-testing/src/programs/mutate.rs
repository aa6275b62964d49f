//! Programs broken in one place, as a mistake of lowering would: for tests of what finds such mistakes.

use super::vocabulary::Random;
use halide_core::ops::BinOp;
use halide_ir::visit::{self, Memo, map_children};
use halide_ir::{Expr, ExprKind, For, Program, Stmt, build};

/// `program` with one thing changed: an end of a loop, a condition, a mask, a size, or a constant, minimum or maximum
/// in an index. `None` if there is nothing to change.
pub fn mutant(program: &Program, random: &mut Random) -> Option<Program> {
    let mut count = Mutate { left: u32::MAX, change: 0 };
    count.stmt(program.body.clone());
    let sites = u32::MAX - count.left;
    if sites == 0 {
        return None;
    }
    let mut made = program.clone();
    let mut mutate = Mutate { left: random.below(sites as usize) as u32, change: random.below(4) };
    made.body = mutate.stmt(made.body);
    (made.body != program.body).then_some(made)
}

struct Mutate {
    /// Sites before the one that is changed.
    left: u32,
    /// The number of the change, of those that a site allows.
    change: usize,
}

impl Mutate {
    /// Returns true at the site that is changed, and counts this one.
    fn here(&mut self) -> bool {
        let here = self.left == 0;
        self.left = self.left.wrapping_sub(1);
        here
    }

    fn stmt(&mut self, s: Stmt) -> Stmt {
        let s = match s {
            Stmt::For(l) if self.here() => {
                let For { min, extent, .. } = *l.clone();
                let (first, more) = [(0, 1), (-1, 1), (1, 0), (0, 7)][self.change];
                let (min, extent) = (build::offset(min, first), build::offset(extent, more));
                build::loop_of(For { min, extent, ..*l })
            }
            Stmt::If { then, .. } if self.here() => *then,
            Stmt::Store { buf, index, value, mask: Some(_) } if self.here() => {
                Stmt::Store { buf, index, value, mask: None }
            }
            Stmt::Store { buf, index, value, mask } if self.here() => {
                let by = build::broadcast(build::int([1, -1, 16, -3][self.change]), index.lanes());
                Stmt::Store { buf, index: build::add(index, by), value, mask }
            }
            Stmt::Alloc { buf, count, constant, body } if self.here() => {
                let less = [1, 2, 16, 1][self.change];
                let constant = constant.map(|n| n.saturating_sub(less));
                let count = build::offset(count, -(less as i64));
                Stmt::Alloc { buf, count: build::max(count, build::int(0)), constant, body }
            }
            // An assertion keeps what it asks: what is broken lies behind it.
            Stmt::Assert { .. } => return s,
            other => other,
        };
        // Elsewhere, an end of a loop may depend on it: runs would not end.
        let stores = matches!(s, Stmt::Store { .. });
        let me = std::cell::RefCell::new(self);
        visit::map_stmt(s, |e| me.borrow_mut().expr(e, stores), |inner| me.borrow_mut().stmt(inner))
    }

    fn expr(&mut self, e: &Expr, any: bool) -> Expr {
        Memo::new().rewrite(e, |n, done| {
            let n = map_children(n, done);
            let site = match n.kind() {
                ExprKind::Int(_) => any,
                ExprKind::Binary(BinOp::Min | BinOp::Max | BinOp::Mod, ..) => any && n.ty().is_index(),
                ExprKind::Binary(BinOp::Add | BinOp::Sub, ..) => n.ty().is_index(),
                ExprKind::Load { .. } => true,
                _ => false,
            };
            if site && self.here() { self.changed(&n) } else { n }
        })
    }

    fn changed(&self, n: &Expr) -> Expr {
        let lanes = n.lanes();
        match n.kind() {
            ExprKind::Binary(BinOp::Min, a, b) => build::max(a.clone(), b.clone()),
            ExprKind::Binary(BinOp::Max, a, b) => build::min(a.clone(), b.clone()),
            ExprKind::Binary(BinOp::Mod, a, _) => a.clone(),
            ExprKind::Load { buf, index, mask: Some(_) } => {
                n.ty().scalar().map_or(n.clone(), |ty| build::load(*buf, ty, index.clone(), None))
            }
            ExprKind::Load { buf, index, mask } => n.ty().scalar().map_or(n.clone(), |ty| {
                let by = build::broadcast(build::int([1, -1, 16, -3][self.change]), index.lanes());
                build::load(*buf, ty, build::add(index.clone(), by), mask.clone())
            }),
            _ => build::add(n.clone(), build::broadcast(build::int([1, -1, 8, -2][self.change]), lanes)),
        }
    }
}
