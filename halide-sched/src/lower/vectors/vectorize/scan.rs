//! Lanes that carry on a scan: each combines what the one before it stored.
//!
//! `log2(lanes)` steps combine every lane with the one 1, 2, 4 .. before it (Hillis and Steele, Data Parallel
//! Algorithms, 1986), and the element before the first lane goes into all of them.

use super::step::{self, Step};
use crate::lower::vectors::lanes::{self, Shape};
use crate::lower::vectors::some_lane::some_lane;
use halide_core::value;
use halide_ir::{BufId, Expr, ExprKind, Stmt, build};
use halide_solve::simplify::Linear;

/// `buf[index] = buf[index - stride] op value` of all lanes, which follow each other along a scan; or why that cannot
/// be. `stored` is as it was before anything was widened, which `widen` does.
pub(super) fn lanes_of_scan(
    (buf, index): (BufId, &Expr),
    stored: &Expr,
    lanes: u16,
    mask: Option<Expr>,
    widen: &mut dyn FnMut(&Expr) -> Expr,
) -> Result<Stmt, &'static str> {
    const OTHER: &str = "the step of its scan is of no form that lanes can share";
    let Shape::Ramp(base, stride) = lanes::shape(index) else { return Err(OTHER) };
    let before = build::sub(base.clone(), stride.clone());
    let ty = stored.ty().scalar().ok_or(OTHER)?;
    let mut places = Vec::new();
    halide_ir::visit::for_each_node(stored, &mut |n| {
        if let ExprKind::Load { buf: from, index, mask: None } = n.kind()
            && *from == buf
        {
            places.push((n.clone(), index.clone()));
        }
    });
    let mut is_before = |index: &Expr| match lanes::shape(&widen(index)) {
        Shape::Ramp(b, s) => same(&b, &before) && same(&s, &stride),
        _ => false,
    };
    let olds: Vec<Expr> = places.into_iter().filter(|(_, index)| is_before(index)).map(|(load, _)| load).collect();
    let Step { op, new, old_first, .. } = step::chain(stored, &|e| olds.contains(e)).ok_or(OTHER)?;
    let idle = build::constant(value::identity(op, ty).ok_or(OTHER)?);
    let join = |old: Expr, new: Expr| if old_first { build::binary(op, old, new) } else { build::binary(op, new, old) };
    let mut all = build::broadcast(widen(&new), lanes);
    let mask = mask.map(|m| build::broadcast(m, lanes));
    if let Some(mask) = &mask {
        // Behind a lane that rests the scan would go on from another element.
        if !lanes::holds_first(mask) {
            return Err("lanes that its scan leaves out come before others");
        }
        all = build::select(mask.clone(), all, build::broadcast(idle.clone(), lanes));
    }
    let mut distance = 1;
    while distance < lanes {
        // A window over both vectors, which is one instruction on many machines.
        let shifted: Vec<u16> = (lanes - distance..2 * lanes - distance).collect();
        let earlier = build::shuffle(vec![build::broadcast(idle.clone(), lanes), all.clone()], shifted);
        all = join(earlier, all);
        distance *= 2;
    }
    let carried = build::load(buf, ty, before, mask.as_ref().map(some_lane));
    let value = join(build::broadcast(carried, lanes), all);
    Ok(Stmt::Store { buf, index: index.clone(), value, mask })
}

/// Returns true if two indices are one number.
fn same(a: &Expr, b: &Expr) -> bool {
    let difference = Linear::of(&build::sub(a.clone(), b.clone()));
    difference.constant == 0 && difference.terms.iter().all(|(_, factor)| *factor == 0)
}
