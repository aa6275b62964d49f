//! Properties of the simplifier on random expressions, and a table of what it must achieve.

use super::testing::*;
use super::{BoundQuery, Facts, Linear, prove, simplify};
use halide_core::types::ScalarType;
use halide_ir::build::*;
use halide_ir::{Expr, LoopId, Sym};

/// Simplifies random expressions: the value stays under random symbols, the type too, and doing it again changes
/// nothing.
fn check_random(seeds: std::ops::Range<u64>, make: impl Fn(&mut Random) -> Expr) {
    for seed in seeds {
        let mut r = Random(seed);
        let e = make(&mut r);
        let simple = simplify(&e, &Facts::new());
        assert_eq!(simple.ty(), e.ty(), "seed {seed}: type of {e:?}");
        for _ in 0..12 {
            let env = random_env(&mut r);
            let (before, after) = (eval(&e, &env), eval(&simple, &env));
            let same = before.iter().zip(&after).all(|(a, b)| a.same(*b));
            assert!(same, "seed {seed} under {env:?}:\n{e:?}\n  is {before:?}\n{simple:?}\n  is {after:?}");
        }
        let again = simplify(&simple, &Facts::new());
        assert_eq!(again, simple, "seed {seed}: not settled: {e:?}");
    }
}

#[test]
fn random_index_keeps_its_value() {
    check_random(0..4000, |r| {
        let depth = 1 + r.below(5) as u32;
        random_index(r, depth, 1)
    });
}

#[test]
fn random_vectors_keep_their_values() {
    check_random(0..20000, |r| {
        let depth = 1 + r.below(4) as u32;
        random_index(r, depth, 5)
    });
}

#[test]
fn random_data_keeps_its_value() {
    check_random(0..4000, |r| {
        let ty = *r.pick(&ScalarType::ALL);
        let (depth, lanes) = (1 + r.below(5) as u32, *r.pick(&[1, 1, 4]));
        random_data(r, ty, depth, lanes)
    });
}

/// Facts that hold in the environment, and then the same properties.
#[test]
fn random_facts_are_used_soundly() {
    for seed in 0..3000 {
        let mut r = Random(seed);
        let env = random_env(&mut r);
        let mut facts = Facts::new();
        for _ in 0..1 + r.below(4) {
            let cond = random_condition(&mut r, 2, 1);
            let holds = eval(&cond, &env)[0].index() == 1;
            facts.learn(&if holds { cond } else { not(cond) });
        }
        for _ in 0..3 {
            let e = random_index(&mut r, 3, 1);
            let simple = simplify(&e, &facts);
            assert_eq!(eval(&e, &env), eval(&simple, &env), "seed {seed} under {env:?}: {e:?} became {simple:?}");
            let (min, max) = facts.range(&e);
            let value = eval(&e, &env)[0].index();
            assert!(
                min.is_none_or(|m| m as i128 <= value) && max.is_none_or(|m| m as i128 >= value),
                "seed {seed}: {e:?}"
            );
            let cond = random_condition(&mut r, 3, 1);
            assert!(!prove(&cond, &facts) || eval(&cond, &env)[0].index() == 1, "seed {seed} under {env:?}: {cond:?}");
        }
    }
}

fn x() -> Expr {
    loop_var(LoopId(0))
}
fn y() -> Expr {
    loop_var(LoopId(1))
}
fn t() -> Expr {
    sym(Sym::Temp(0))
}

/// `e` simplifies to `expected` under facts that `learn` gives.
fn check(e: Expr, expected: Expr, learned: &[Expr]) {
    let mut facts = Facts::new();
    learned.iter().for_each(|c| facts.learn(c));
    assert_eq!(simplify(&e, &facts), expected, "{e:?}");
}

#[test]
fn sums_cancel() {
    check(sub(add(x(), y()), add(y(), x())), int(0), &[]);
    check(sub(mul(add(x(), int(3)), int(4)), mul(x(), int(4))), int(12), &[]);
    check(sub(offset(sub(x(), y()), 5), x()), sub(int(5), y()), &[]);
}

#[test]
fn quotients_and_remainders() {
    check(div(add(mul(x(), int(4)), y()), int(4)), add(x(), div(y(), int(4))), &[]);
    check(div(offset(mul(x(), int(8)), 7), int(8)), x(), &[]);
    check(rem(mul(x(), int(2)), int(2)), int(0), &[]);
    check(rem(offset(mul(x(), int(6)), 5), int(3)), int(2), &[]);
    check(div(div(x(), int(4)), int(2)), div(x(), int(8)), &[]);
    check(add(mul(div(x(), int(4)), int(4)), rem(x(), int(4))), x(), &[]);
    check(sub(x(), mul(div(x(), int(4)), int(4))), rem(x(), int(4)), &[]);
    check(div(offset(x(), 3), int(4)), div(x(), int(4)), &[eq(rem(x(), int(4)), int(0))]);
    check(mul(div(x(), int(4)), int(4)), x(), &[eq(rem(x(), int(4)), int(0))]);
    check(div(x(), int(-2)), mul(div(x(), int(2)), int(-1)), &[]);
    let inner = [ge(y(), int(0)), lt(y(), t())];
    check(div(add(mul(x(), t()), y()), t()), x(), &inner);
    check(rem(add(mul(x(), t()), y()), t()), y(), &inner);
}

#[test]
fn extremes() {
    check(min(offset(x(), 3), offset(x(), 5)), offset(x(), 3), &[]);
    check(min(x(), max(x(), y())), x(), &[]);
    check(max(min(x(), int(3)), int(5)), int(5), &[]);
    check(min(max(x(), int(0)), int(10)), max(min(x(), int(10)), int(0)), &[]);
    check(sub(min(offset(x(), 3), offset(y(), 3)), min(x(), y())), int(3), &[]);
    check(min(x(), t()), x(), &[lt(x(), t())]);
    check(div(min(mul(x(), int(4)), offset(mul(y(), int(4)), 8)), int(4)), min(x(), offset(y(), 2)), &[]);
}

#[test]
fn comparisons() {
    check(lt(offset(x(), 1), offset(x(), 2)), boolean(true), &[]);
    check(lt(mul(x(), int(2)), int(7)), le(x(), int(3)), &[]);
    check(lt(div(x(), int(4)), int(10)), le(x(), int(39)), &[]);
    check(eq(mul(x(), int(2)), int(7)), boolean(false), &[]);
    check(le(min(x(), t()), t()), boolean(true), &[]);
    check(lt(x(), offset(t(), 5)), boolean(true), &[lt(x(), t())]);
    check(le(x(), y()), boolean(true), &[le(x(), t()), le(t(), y())]);
    check(select(lt(x(), y()), x(), y()), min(x(), y()), &[]);
}

#[test]
fn ramps() {
    let lanes = ramp(mul(x(), int(8)), int(1), 8);
    check(div(lanes.clone(), broadcast(int(8), 8)), broadcast(x(), 8), &[]);
    check(rem(lanes.clone(), broadcast(int(8), 8)), ramp(int(0), int(1), 8), &[]);
    check(add(lanes.clone(), lanes.clone()), ramp(mul(x(), int(16)), int(2), 8), &[]);
    check(lt(lanes.clone(), broadcast(offset(mul(x(), int(8)), 8), 8)), broadcast(boolean(true), 8), &[]);
    check(min(lanes.clone(), broadcast(offset(mul(x(), int(8)), 7), 8)), lanes, &[]);
}

#[test]
fn proofs_follow_definitions() {
    let mut facts = Facts::new();
    facts.push_scope();
    facts.bind_loop(LoopId(0), &int(0), &t());
    facts.bind_let(Sym::Temp(7), &offset(mul(x(), int(2)), 1));
    facts.bind_let(Sym::Temp(8), &min(offset(sym(Sym::Temp(7)), 3), y()));
    assert!(prove(&le(sym(Sym::Temp(8)), offset(mul(x(), int(2)), 4)), &facts));
    assert!(prove(&lt(x(), t()), &facts));
    assert!(!prove(&lt(offset(x(), 1), t()), &facts));
    assert!(prove(&and(ge(x(), int(0)), or(lt(x(), t()), lt(y(), int(0)))), &facts));
}

/// A sum that is learned with a coefficient of -1 divides every coefficient, and the quotient of the least one leaves
/// 64 bits.
#[test]
fn sums_with_the_least_coefficient() {
    let mut facts = Facts::new();
    facts.learn(&le(sub(x(), y()), int(3)));
    let sum = Linear::of(&x()).plus_scaled(&Linear::of(&y()), i64::MIN).unwrap();
    let range = BoundQuery::of_sum(&sum, &facts).range_until(|_| false);
    assert!(!range.is_bounded());
}
