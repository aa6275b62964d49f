//! Promotion on random programs that have sums under guards and masks.

use super::register_promotion;
use crate::lower::tests::{SEEDS, check_on};
use halide_core::ids::{Id, IdVec};
use halide_core::pipeline::DimField;
use halide_ir::{Elem, Expr, ExprKind, ForKind, LoopId, LoopInfo, Program, Stage, Stmt, Sym, build, visit};
use halide_testing::programs::{self, Random};
use std::cell::Cell;

#[test]
fn sums_under_guards_keep_their_meaning() {
    let made = Cell::new(0);
    let pass = |p: Program| {
        let before = p.buffers.len();
        let p = register_promotion(p);
        made.set(made.get() + p.buffers.len() - before);
        p
    };
    let sums = |seed| {
        let mut random = Random::new(seed);
        let mut made = programs::program(&mut random, Stage::Shaped, 2 + (seed % 24) as u32);
        let body = std::mem::replace(&mut made.body, build::block([]));
        made.body = sums_under_guards(body, &mut made.loops, &mut random);
        made
    };
    assert!(check_on(sums, &[], SEEDS, pass) > SEEDS as u32 / 4);
    assert!(made.get() > 1000, "{} registers", made.get());
}

/// Statements with a loop behind each store that adds to what was stored, under masks and conditions of which some do
/// not change in the loop.
fn sums_under_guards(s: Stmt, loops: &mut IdVec<LoopId, LoopInfo>, random: &mut Random) -> Stmt {
    let s = visit::map_stmt(s, Expr::clone, |inner| sums_under_guards(inner, loops, random));
    let Stmt::Store { buf, index, value, mask } = &s else { return s };
    let reads_own = |n: &Expr| matches!(n.kind(), ExprKind::Load { buf: of, .. } if of == buf);
    let Elem::Data(ty) = value.ty().elem else { return s };
    if value.ty().is_bool() || [index, value].into_iter().chain(mask).any(|e| visit::any_node(e, reads_own)) {
        return s;
    }
    let extent = build::sym(Sym::Buffer { buf: Id::new(0), dim: 0, field: DimField::Extent });
    let id = loops.push(LoopInfo::new("again"));
    let lanes = index.lanes();
    let first_lanes = build::lt(
        if lanes == 1 { build::int(0) } else { build::ramp(build::int(0), build::int(1), lanes) },
        build::broadcast(build::offset(extent.clone(), random.between(-4, 1)), lanes),
    );
    let mask = match random.below(3) {
        0 => mask.clone(),
        _ => Some(mask.iter().fold(first_lanes, |all, mask| build::and(all, mask.clone()))),
    };
    let changes = random.below(4) == 0;
    let truth = |least: i64| {
        let known = build::ge(extent.clone(), build::int(least));
        if changes { build::or(known, build::gt(build::loop_var(id), build::int(0))) } else { known }
    };
    let (a, b) = (truth(random.between(2, 6)), truth(random.between(2, 6)));
    // Perhaps it is outside of the buffer where `a` fails.
    let index = match (random.below(2), index.kind()) {
        (0, _) => index.clone(),
        (_, ExprKind::Ramp { base, stride }) => {
            let base = build::select(a.clone(), base.clone(), build::int(1 << 20));
            build::ramp(base, stride.clone(), lanes)
        }
        _ => build::select(a.clone(), index.clone(), build::broadcast(build::int(1 << 20), lanes)),
    };
    let load = build::load(*buf, ty, index.clone(), mask.clone());
    let sum = Stmt::Store { buf: *buf, index, value: build::add(load, value.clone()), mask };
    let under = |cond: &Expr, s: Stmt| build::if_else(cond.clone(), s, build::block([]));
    let body = match random.below(5) {
        0 => sum,
        1 => under(&a, sum),
        2 => under(&a, under(&b, sum)),
        3 => build::block([under(&a, sum.clone()), under(&a, under(&b, sum))]),
        _ => build::if_else(a, sum.clone(), under(&b, sum)),
    };
    let extent = if random.below(2) == 0 { build::int(3) } else { build::offset(extent, -2) };
    build::block([s, build::for_loop(id, ForKind::Serial, build::int(0), extent, body)])
}
