//! Statements keep what they store, in order, under random symbols; and a table of what must go.

use super::testing::*;
use super::{Facts, Proofs, simplify_stmt};
use expect_test::{Expect, expect};
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::build::*;
use halide_ir::{BufId, Expr, FaultId, ForKind, LoopId, Stmt, Sym};

/// Runs `s` and appends its stores, in order; returns `false` if an assertion ended it.
fn run(s: &Stmt, env: &mut Env, stores: &mut Vec<(i128, Lane)>) -> bool {
    let index = |e: &Expr, env: &Env| eval(e, env)[0].index();
    match s {
        Stmt::Block(list) => list.iter().all(|s| run(s, env, stores)),
        Stmt::Let { bindings, body } => {
            for (symbol, e) in bindings {
                let v = index(e, env) as i64;
                env.insert(*symbol, v);
            }
            run(body, env, stores)
        }
        Stmt::For(l) => {
            let (min, extent) = (index(&l.min, env) as i64, index(&l.extent, env) as i64);
            (min..min.saturating_add(extent)).all(|v| {
                env.insert(Sym::Loop(l.id), v);
                run(&l.body, env, stores)
            })
        }
        Stmt::If { cond, then, otherwise } => {
            if index(cond, env) == 1 {
                run(then, env, stores)
            } else {
                run(otherwise, env, stores)
            }
        }
        Stmt::Assert { cond, .. } => index(cond, env) == 1,
        Stmt::Store { index: at, value, mask, .. } => {
            let kept = mask.as_ref().map(|m| eval(m, env));
            for (i, (at, value)) in eval(at, env).into_iter().zip(eval(value, env)).enumerate() {
                if kept.as_ref().is_none_or(|k| k[i].index() == 1) {
                    stores.push((at.index(), value));
                }
            }
            true
        }
        other => panic!("not generated: {other:?}"),
    }
}

/// A random statement; `next` numbers the loops and temporaries so that each is bound once.
fn random_stmt(r: &mut Random, depth: u32, scope: &mut Vec<Sym>, next: &mut u32) -> Stmt {
    let index = |r: &mut Random, scope: &[Sym], depth| {
        let e = random_index(r, depth, 1);
        let symbols = symbols();
        let replaced = *r.pick(&symbols);
        let by = (!scope.is_empty()).then(|| sym(*r.pick(scope)));
        halide_ir::visit::substitute(&e, &|s| if s == replaced { by.clone() } else { None })
    };
    let store = |r: &mut Random, scope: &[Sym]| Stmt::Store {
        buf: BufId(2),
        index: index(r, scope, 2),
        value: random_data(r, ScalarType::I32, 2, 1),
        mask: (r.below(4) == 0).then(|| lt(index(r, scope, 1), index(r, scope, 2))),
    };
    if depth == 0 {
        return store(r, scope);
    }
    *next += 1;
    let id = *next;
    match r.below(6) {
        0 => block((0..3).map(|_| random_stmt(r, depth - 1, scope, next)).collect::<Vec<_>>()),
        1 => {
            let bindings = vec![(Sym::Temp(id), index(r, scope, 2))];
            scope.push(Sym::Temp(id));
            let body = random_stmt(r, depth - 1, scope, next);
            scope.pop();
            let_in(bindings, body)
        }
        2 | 3 => {
            let (min, extent) = (index(r, scope, 1), rem(index(r, scope, 1), int(r.between(1, 6))));
            let extent = if r.below(3) == 0 { int(r.between(0, 3)) } else { extent };
            scope.push(Sym::Loop(LoopId(id)));
            let body = random_stmt(r, depth - 1, scope, next);
            scope.pop();
            for_loop(LoopId(id), ForKind::Serial, min, extent, body)
        }
        4 => {
            let cond = lt(index(r, scope, 2), index(r, scope, 2));
            let (a, b) = (random_stmt(r, depth - 1, scope, next), random_stmt(r, depth - 1, scope, next));
            if_else(cond, a, if r.below(2) == 0 { nothing() } else { b })
        }
        _ => {
            let cond = le(index(r, scope, 1), offset(index(r, scope, 2), 20));
            let check = Stmt::Assert { cond, fault: FaultId(0), args: vec![] };
            block([check, random_stmt(r, depth - 1, scope, next)])
        }
    }
}

#[test]
fn random_statements_store_the_same() {
    for seed in 0..2000 {
        let mut r = Random(seed);
        let depth = 1 + r.below(5) as u32;
        let s = random_stmt(&mut r, depth, &mut Vec::new(), &mut 100);
        let simple = simplify_stmt(s.clone(), &Facts::new(), Proofs::All);
        for _ in 0..6 {
            let env = random_env(&mut r);
            let (mut before, mut after) = (Vec::new(), Vec::new());
            let ends = (run(&s, &mut env.clone(), &mut before), run(&simple, &mut env.clone(), &mut after));
            let same =
                before.len() == after.len() && before.iter().zip(&after).all(|((i, v), (j, w))| i == j && v.same(*w));
            assert!(same && ends.0 == ends.1, "seed {seed} under {env:?}:\n{s:?}\n{simple:?}");
        }
    }
}

fn store(index: Expr) -> Stmt {
    let value = constant(Scalar::int(ScalarType::U8, 1));
    Stmt::Store { buf: BufId(0), index, value, mask: None }
}
fn t(n: u32) -> Expr {
    sym(Sym::Temp(n))
}
fn over(id: u32, min: Expr, extent: Expr, body: Stmt) -> Stmt {
    for_loop(LoopId(id), ForKind::Serial, min, extent, body)
}
fn x(id: u32) -> Expr {
    loop_var(LoopId(id))
}

fn check(s: Stmt, expected: Expect) {
    expected.assert_eq(&simplify_stmt(s, &Facts::new(), Proofs::All).to_string());
}

#[test]
fn lets_of_names_and_constants_go() {
    let lets = vec![
        (Sym::Temp(1), int(4)),
        (Sym::Temp(2), t(0)),
        (Sym::Temp(3), add(t(2), t(1))),
        (Sym::Temp(4), mul(t(3), t(3))),
    ];
    check(
        let_in(lets, store(add(t(3), t(1)))),
        expect![[r#"
        let t3 = t0 + 4
        b0[t3 + 4] = 1u8
    "#]],
    );
}

/// The first coordinate of a tile that divides a known extent: distributed over a stride on one side, named on the
/// other.
#[test]
fn lets_of_sums_of_loops_go() {
    let (tile, chunk) = (mul(x(0), int(4)), offset(add(mul(x(0), int(64)), mul(x(1), int(16))), -1));
    let index = sub(mul(t(1), int(64)), mul(x(0), int(256)));
    let inner = let_in(vec![(Sym::Temp(2), chunk)], store(add(index, t(2))));
    let body = let_in(vec![(Sym::Temp(1), tile), (Sym::Temp(3), mul(t(0), x(0)))], over(1, t(3), int(4), inner));
    check(
        over(0, int(0), int(8), body),
        expect![[r#"
        for L0 from 0 extent 8 {
          let t3 = t0 * L0
          for L1 from t3 extent 4 {
            b0[L0 * 64 + L1 * 16 - 1] = 1u8
          }
        }
    "#]],
    );
}

/// As the regions of stages that are computed together: what is asked of the one is known of the other.
#[test]
fn lets_of_one_value_are_one() {
    let lets = |body| let_in(vec![(Sym::Temp(1), offset(t(0), 1)), (Sym::Temp(2), add(int(1), t(0)))], body);
    check(
        lets(if_else(le(t(1), t(2)), store(add(t(1), t(2))), nothing())),
        expect![[r#"
        let t1 = t0 + 1
        b0[t1 * 2] = 1u8
    "#]],
    );
    // Only where the first is in scope, and not where memory may have changed.
    check(
        block(vec![lets(store(mul(t(1), t(1)))), let_in(vec![(Sym::Temp(3), offset(t(0), 1))], store(t(3)))]),
        expect![[r#"
        scope {
          let t1 = t0 + 1
          b0[t1 * t1] = 1u8
        }
        let t3 = t0 + 1
        b0[t3] = 1u8
    "#]],
    );
    let read = to_index(load(BufId(0), ScalarType::U8, int(0), None));
    let again = let_in(vec![(Sym::Temp(2), read.clone())], store(add(t(1), t(2))));
    check(
        let_in(vec![(Sym::Temp(1), read)], block(vec![store(t(1)), again])),
        expect![[r#"
            let t1 = int(b0:u8[0])
            b0[t1] = 1u8
            let t2 = int(b0:u8[0])
            b0[t1 + t2] = 1u8
        "#]],
    );
}

/// A branch that only a proof decides stays if none is searched for: no branch is, or it has a steady-state marker.
#[test]
fn proofs_are_searched_for_where_asked() {
    let decided = |limit: Expr, proofs| {
        let body = if_else(lt(limit, t(1)), store(t(1)), nothing());
        let s = let_in(vec![(Sym::Temp(1), offset(t(0), 7))], body);
        !simplify_stmt(s, &Facts::new(), proofs).to_string().contains("if ")
    };
    for (proofs, plain, marked) in
        [(Proofs::None, false, false), (Proofs::Unmarked, true, false), (Proofs::All, true, true)]
    {
        assert_eq!((decided(t(0), proofs), decided(likely(t(0)), proofs)), (plain, marked), "{proofs:?}");
    }
}

#[test]
fn loops_that_run_once_or_never() {
    check(
        over(0, t(0), int(1), store(x(0))),
        expect![[r#"
        b0[t0] = 1u8
    "#]],
    );
    check(
        over(0, int(0), max(min(t(0), int(5)), int(7)), store(x(0))),
        expect![[r#"
        for L0 from 0 extent 7 {
          b0[L0] = 1u8
        }
    "#]],
    );
    check(over(0, int(0), min(t(0), int(0)), store(x(0))), expect![[r#""#]]);
    check(
        over(0, mul(t(0), t(0)), int(1), store(add(x(0), x(0)))),
        expect![[r#"
        let L0 = t0 * t0
        b0[L0 * 2] = 1u8
    "#]],
    );
}

#[test]
fn decided_branches_go() {
    let body = if_else(lt(x(0), add(t(0), t(1))), store(x(0)), store(int(0)));
    check(
        over(0, t(0), t(1), body),
        expect![[r#"
        for L0 from t0 extent t1 {
          b0[L0] = 1u8
        }
    "#]],
    );
    let inner = if_else(lt(x(0), offset(t(0), 1)), store(x(0)), nothing());
    check(
        if_else(lt(x(0), t(0)), inner, nothing()),
        expect![[r#"
        if L0 < t0 {
          b0[L0] = 1u8
        }
    "#]],
    );
    let checked = Stmt::Assert { cond: ge(t(0), int(8)), fault: FaultId(0), args: vec![t(0)] };
    check(
        block([checked.clone(), checked, store(min(t(0), int(8)))]),
        expect![[r#"
        assert t0 >= 8 else fault0(t0)
        b0[8] = 1u8
    "#]],
    );
    check(
        if_else(lt(t(0), t(1)), nothing(), store(int(0))),
        expect![[r#"
        if t1 <= t0 {
          b0[0] = 1u8
        }
    "#]],
    );
}

#[test]
fn masks_that_do_not_vary_are_branches() {
    let masked = |mask: Expr| Stmt::Store {
        buf: BufId(0),
        index: ramp(x(0), int(1), 4),
        value: broadcast(constant(Scalar::int(ScalarType::U8, 1)), 4),
        mask: Some(mask),
    };
    let lanes = || ramp(mul(x(0), int(4)), int(1), 4);
    check(
        masked(broadcast(lt(x(0), t(0)), 4)),
        expect![[r#"
        if L0 < t0 {
          b0[ramp(L0, 1, 4)] = x4(1u8)
        }
    "#]],
    );
    check(
        over(0, int(0), int(10), masked(lt(lanes(), broadcast(int(40), 4)))),
        expect![[r#"
        for L0 from 0 extent 10 {
          b0[ramp(L0, 1, 4)] = x4(1u8)
        }
    "#]],
    );
    check(over(0, int(0), int(10), masked(ge(lanes(), broadcast(int(40), 4)))), expect![[r#""#]]);
    check(
        over(0, int(0), int(10), masked(lt(lanes(), broadcast(int(39), 4)))),
        expect![[r#"
        for L0 from 0 extent 10 {
          b0[ramp(L0, 1, 4) where ramp(L0 * 4, 1, 4) <= x4(38)] = x4(1u8)
        }
    "#]],
    );
}
