//! Loops that end on random programs in which stores are repeated until their elements are settled.

use super::stop_early;
use crate::lower::code::cse::cse;
use crate::lower::code::licm::licm;
use crate::lower::code::register_promotion::register_promotion;
use crate::lower::loops::uniquify::uniquify;
use crate::lower::tests::{SEEDS, check_on};
use crate::lower::trace::LoweringTrace;
use crate::lower::walk::any_stmt;
use halide_core::ids::{Id, IdVec};
use halide_core::ops::BinOp;
use halide_core::pipeline::DimField;
use halide_core::types::ScalarType;
use halide_core::value::{self, Scalar};
use halide_ir::{Elem, Expr, ExprKind, ForKind, LoopId, LoopInfo, Program, Stage, Stmt, Sym, build, visit};
use halide_solve::simplify::{Facts, Proofs, simplify_stmt};
use halide_testing::programs::{self, Random};
use std::cell::Cell;

/// Stops loops early and counts those that got a condition.
fn stopped(program: Program, made: &Cell<u32>) -> Program {
    let program = stop_early(uniquify(program), &Default::default(), &mut LoweringTrace::new());
    any_stmt(&program.body, &mut |s| {
        made.set(made.get() + u32::from(matches!(s, Stmt::For(l) if l.condition.is_some())));
        false
    });
    program
}

fn repeated(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let mut made = programs::program(&mut random, Stage::Shaped, 2 + (seed % 24) as u32);
    let body = std::mem::replace(&mut made.body, build::block([]));
    let mut temps = made.next_temp;
    made.body = until_settled(body, &mut made.loops, &mut temps, &mut random);
    made.next_temp = temps;
    made
}

#[test]
fn loops_that_end_keep_their_meaning() {
    let made = Cell::new(0);
    assert!(check_on(repeated, &[], SEEDS, |p| stopped(p, &made)) > SEEDS as u32 / 4);
    assert!(made.get() > 1000, "{} loops end", made.get());
}

#[test]
fn later_passes_keep_what_loops_ask_for() {
    let made = Cell::new(0);
    let passes = |p: Program| cse(licm(register_promotion(stopped(p, &made))));
    assert!(check_on(repeated, &[], SEEDS, passes) > SEEDS as u32 / 4);
    let simplified = |p: Program| {
        let mut p = stopped(p, &made);
        p.body = simplify_stmt(p.body, &Facts::new(), Proofs::All);
        register_promotion(p)
    };
    assert!(check_on(repeated, &[], SEEDS, simplified) > SEEDS as u32 / 4);
}

/// Statements with a loop behind each store that changes the element until a condition on it does not hold, among
/// conditions that change with the iteration and some that do not, names, and loops inside.
fn until_settled(s: Stmt, loops: &mut IdVec<LoopId, LoopInfo>, temps: &mut u32, random: &mut Random) -> Stmt {
    let s = visit::map_stmt(s, Expr::clone, |inner| until_settled(inner, loops, temps, random));
    let Stmt::Store { buf, index, value, mask } = &s else { return s };
    let reads_own = |n: &Expr| matches!(n.kind(), ExprKind::Load { buf: of, .. } if of == buf);
    let Elem::Data(ty) = value.ty().elem else { return s };
    if ty == ScalarType::Bool || [index, value].into_iter().chain(mask).any(|e| visit::any_node(e, reads_own)) {
        return s;
    }
    let lanes = index.lanes();
    let constant = |n: i64| build::broadcast(build::constant(value::cast(ty, Scalar::from(n as i32))), lanes);
    let old = |mask: Option<Expr>| build::load(*buf, ty, index.clone(), mask);
    let settled = build::binary(BinOp::Lt, old(mask.clone()), constant(random.between(3, 90)));
    let id = loops.push(LoopInfo::new("until"));
    let (ri, inner) = (loops.push(LoopInfo::new("inner")), random.below(4) == 0);
    let extent = build::sym(Sym::Buffer { buf: Id::new(0), dim: 0, field: DimField::Extent });
    let early = build::broadcast(build::lt(build::loop_var(id), build::int(random.between(1, 4))), lanes);
    let always = build::broadcast(build::ge(extent, build::int(random.between(3, 5))), lanes);
    let mut terms = vec![settled];
    terms.extend((random.below(3) == 0).then_some(early.clone()));
    terms.extend((random.below(3) == 0).then_some(always.clone()));
    let of_inner = build::broadcast(build::lt(build::loop_var(ri), build::int(random.between(1, 3))), lanes);
    terms.extend((inner && random.below(2) == 0).then_some(of_inner));
    terms.extend(mask.clone());
    let name = Sym::Temp(*temps);
    *temps += 1;
    let all = terms.into_iter().reduce(|a, b| build::binary(BinOp::BitAnd, a, b)).expect("one");
    let named = random.below(2) == 0;
    let on = if named { build::typed_sym(name, all.ty()) } else { all.clone() };
    let step = build::binary(BinOp::Add, old(Some(on.clone())), constant(random.between(1, 40)));
    let step = if random.below(3) == 0 { build::binary(BinOp::Mul, step, constant(2)) } else { step };
    let again =
        |on: &Expr| Stmt::Store { buf: *buf, index: index.clone(), value: step.clone(), mask: Some(on.clone()) };
    let once = match lanes {
        1 if random.below(2) == 0 => {
            let store = Stmt::Store { buf: *buf, index: index.clone(), value: step.clone(), mask: None };
            build::if_else(on.clone(), store, build::nothing())
        }
        _ => again(&on),
    };
    let bound = |s: Stmt| if named { build::let_in(vec![(name, all.clone())], s) } else { s };
    let mut body = bound(once.clone());
    if random.below(4) == 0 && !named {
        body = build::block([body, once]);
    }
    if inner {
        body = build::for_loop(ri, ForKind::Serial, build::int(0), build::int(random.between(1, 3)), body);
    }
    if lanes == 1 && random.below(4) == 0 {
        body = build::if_else(if random.below(2) == 0 { early } else { always }, body, build::nothing());
    }
    build::block([s, build::for_loop(id, ForKind::Serial, build::int(random.between(-2, 2)), build::int(6), body)])
}
