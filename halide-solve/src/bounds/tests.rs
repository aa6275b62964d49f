//! Bounds against brute force on random expressions, and the pyramids that they were made for.

use super::*;
use crate::simplify::testing::*;
use crate::simplify::{BoundQuery, Facts, simplify};
use halide_core::ids::ParamId;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_ir::build::*;
use halide_ir::{BufId, Expr, LoopId, Sym};
use std::collections::BTreeMap;

fn x() -> Expr {
    loop_var(LoopId(0))
}
fn y() -> Expr {
    loop_var(LoopId(1))
}
fn t(n: u32) -> Expr {
    sym(Sym::Temp(n))
}
fn value(e: &Expr, env: &Env) -> i128 {
    eval(e, env)[0].index()
}

/// Every value of a random expression lies in its interval.
#[test]
fn intervals_hold_every_value() {
    let ranging = [Sym::Loop(LoopId(0)), Sym::Loop(LoopId(1))];
    for seed in 0..6000 {
        let mut r = Random(seed);
        let depth = 1 + r.below(4) as u32;
        let e = random_index(&mut r, depth, 1);
        let ends: BTreeMap<Sym, Interval> = ranging.into_iter().map(|s| (s, random_interval(&mut r))).collect();
        let facts = Facts::new();
        let interval = interval_of(&e, &|s| ends.get(&s).cloned(), &facts);
        for _ in 0..20 {
            let mut env = random_env(&mut r);
            let inside = ranging.into_iter().all(|s| {
                let (min, max) = (ends[&s].min.as_ref(), ends[&s].max.as_ref());
                let min = min.map_or(-50, |m| value(m, &env) as i64);
                let max = max.map_or(50, |m| value(m, &env) as i64);
                if min <= max {
                    env.insert(s, r.between(min, max));
                }
                min <= max
            });
            if !inside {
                continue;
            }
            let v = value(&e, &env);
            let above = interval.min.as_ref().is_none_or(|m| value(m, &env) <= v);
            let below = interval.max.as_ref().is_none_or(|m| value(m, &env) >= v);
            assert!(above && below, "seed {seed}: {v} of {e:?}\nunder {env:?} with {ends:?}\nis not in {interval:?}");
        }
    }
}

/// Floats on their way to integers: with values that are no numbers, too.
#[test]
fn intervals_of_floats_hold_every_value() {
    let ranging = [Sym::Loop(LoopId(0)), Sym::Loop(LoopId(1))];
    let mut bounded = 0;
    for seed in 0..6000 {
        let mut r = Random(seed);
        let depth = 1 + r.below(4) as u32;
        let float = random_float(&mut r, depth);
        let integer = match r.below(3) {
            0 => saturating_cast(ScalarType::I16, float),
            1 => cast_data(ScalarType::U8, float),
            _ => cast_data(ScalarType::I32, float),
        };
        let e = to_index(integer);
        let ends: BTreeMap<Sym, Interval> = ranging
            .into_iter()
            .map(|s| {
                let low = r.between(-6, 6);
                (s, Interval::new(int(low), int(low + r.between(0, 8))))
            })
            .collect();
        let interval = interval_of(&e, &|s| ends.get(&s).cloned(), &Facts::new());
        bounded += usize::from(interval.min.is_some() && interval.max.is_some());
        for _ in 0..20 {
            let mut env = random_env(&mut r);
            for s in ranging {
                let at = |e: &Option<Expr>| as_int(e.as_ref().unwrap()).unwrap();
                env.insert(s, r.between(at(&ends[&s].min), at(&ends[&s].max)));
            }
            let v = value(&e, &env);
            let above = interval.min.as_ref().is_none_or(|m| value(m, &env) <= v);
            let below = interval.max.as_ref().is_none_or(|m| value(m, &env) >= v);
            assert!(above && below, "seed {seed}: {v} of {e:?}\nunder {env:?} with {ends:?}\nis not in {interval:?}");
        }
    }
    assert!(bounded > 2000, "{bounded}");
}

fn random_float(r: &mut Random, depth: u32) -> Expr {
    use halide_core::ops::UnOp;
    use halide_core::value::Scalar;
    const VALUES: [f64; 12] =
        [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.75, 300.0, 1e38, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    if depth == 0 || r.below(5) == 0 {
        return match r.below(3) {
            0 => constant(Scalar::float(ScalarType::F32, VALUES[r.below(12)])),
            1 => cast_data(ScalarType::F32, cast_data(ScalarType::I32, x())),
            _ => cast_data(ScalarType::F32, cast_data(ScalarType::I32, y())),
        };
    }
    let a = random_float(r, depth - 1);
    let unary_ops = [UnOp::Neg, UnOp::Floor, UnOp::Ceil, UnOp::Round, UnOp::Trunc, UnOp::Abs, UnOp::Sqrt];
    let binary_ops = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Div, BinOp::Min, BinOp::Max];
    match r.below(3) {
        0 => halide_ir::build::unary(unary_ops[r.below(7)], a),
        _ => halide_ir::build::binary(binary_ops[r.below(6)], a, random_float(r, depth - 1)),
    }
}

fn random_interval(r: &mut Random) -> Interval {
    let low = r.between(-6, 6);
    match r.below(4) {
        0 => Interval::new(int(low), int(low + r.between(0, 8))),
        1 => Interval { min: Some(int(low)), max: None },
        2 => Interval::new(t(0), offset(t(0), r.between(0, 9))),
        _ => Interval::new(int(low), t(0)),
    }
}

/// The difference of random expressions lies in its constant bounds, also through definitions.
#[test]
fn differences_hold() {
    for seed in 0..4000 {
        let mut r = Random(seed);
        let depth = 1 + r.below(4) as u32;
        let (a, b) = (random_index(&mut r, depth, 1), random_index(&mut r, depth, 1));
        let definition = random_index(&mut r, 2, 1);
        let defined = Sym::Loop(LoopId(1));
        let circular = halide_ir::visit::uses(&definition, defined);
        let facts = Facts::new();
        let defs = |s: Sym| (s == defined && !circular).then(|| definition.clone());
        let (min, max) = BoundQuery::difference(&a, &b, &facts).through(&|s, _| defs(s)).range().ends();
        let limit = r.between(-20, 60);
        let upper = BoundQuery::difference(&a, &b, &facts).through(&|s, _| defs(s)).upper(limit);
        let found = max.filter(|m| *m <= limit);
        let as_good = upper.is_none_or(|u| u <= limit) && found.is_none_or(|m| upper.is_some_and(|u| u <= m));
        assert!(as_good, "seed {seed}: {upper:?} instead of {max:?}, at most {limit}: {a:?} - {b:?}");
        for _ in 0..20 {
            let mut env = random_env(&mut r);
            if !circular {
                let v = value(&definition, &env) as i64;
                env.insert(defined, v);
            }
            let d = value(&a, &env) - value(&b, &env);
            let below = |most: Option<i64>| most.is_none_or(|m| m as i128 >= d);
            let inside = min.is_none_or(|m| m as i128 <= d) && below(max) && below(upper);
            assert!(inside, "seed {seed}: {d} is not in {min:?}..={max:?}, {upper:?}: {a:?} - {b:?} under {env:?}");
        }
    }
}

#[test]
fn monotone_expressions_are() {
    for seed in 0..4000 {
        let mut r = Random(seed);
        let depth = 1 + r.below(4) as u32;
        let e = random_index(&mut r, depth, 1);
        let var = Sym::Loop(LoopId(0));
        let direction = monotone(&e, var, &|_| None);
        if direction == Monotone::Unknown {
            continue;
        }
        for _ in 0..20 {
            let mut env = random_env(&mut r);
            let before = value(&e, &env);
            *env.get_mut(&var).expect("the symbol") += 1;
            let after = value(&e, &env);
            let holds = match direction {
                Monotone::Constant => before == after,
                Monotone::Increasing => before <= after,
                _ => before >= after,
            };
            assert!(holds, "seed {seed}: {direction:?} but {before} then {after}: {e:?} under {env:?}");
        }
    }
}

/// Inside the inner interval the condition holds; outside the outer one it does not.
#[test]
fn solutions_hold() {
    for seed in 0..6000 {
        let mut r = Random(seed);
        let (depth, lanes) = (1 + r.below(4) as u32, *r.pick(&[1, 1, 1, 4]));
        let cond = random_condition(&mut r, depth, lanes);
        let var = Sym::Loop(LoopId(0));
        let facts = Facts::new();
        let (inner, outer) = (solve_for(&cond, var, &facts), solve_outer(&cond, var, &facts));
        for _ in 0..20 {
            let mut env = random_env(&mut r);
            env.insert(var, r.between(-20, 20));
            let lanes: Vec<bool> = eval(&cond, &env).iter().map(|l| l.index() == 1).collect();
            let v = env[&var] as i128;
            let inside = |i: &Interval| {
                i.min.as_ref().is_none_or(|m| value(m, &env) <= v) && i.max.as_ref().is_none_or(|m| value(m, &env) >= v)
            };
            let (all, any) = (lanes.iter().all(|l| *l), lanes.iter().any(|l| *l));
            assert!(
                inner.as_ref().is_none_or(|i| !inside(i)) || all,
                "seed {seed}: inner {inner:?} of {cond:?} under {env:?}"
            );
            assert!(
                outer.as_ref().is_none_or(inside) || !any,
                "seed {seed}: outer {outer:?} of {cond:?} under {env:?}"
            );
        }
    }
}

fn check_difference(a: Expr, b: Expr, expected: (Option<i64>, Option<i64>)) {
    assert_eq!(BoundQuery::difference(&a, &b, &Facts::new()).range().ends(), expected, "{a:?} - {b:?}");
}

#[test]
fn differences_of_quotients() {
    let half = |e: Expr| div(e, int(2));
    let two_x = || mul(x(), int(2));
    check_difference(offset(half(offset(two_x(), 35)), 1), half(offset(two_x(), -1)), (Some(19), Some(19)));
    check_difference(half(offset(x(), 35)), half(offset(x(), -1)), (Some(18), Some(18)));
    check_difference(half(offset(x(), 2)), half(offset(x(), -1)), (Some(1), Some(2)));
    check_difference(mul(div(offset(x(), 7), int(8)), int(8)), x(), (Some(0), Some(7)));
    check_difference(min(offset(x(), 7), y()), min(x(), y()), (Some(0), Some(7)));
    check_difference(max(min(offset(x(), 3), y()), t(0)), max(min(offset(x(), -1), y()), t(0)), (Some(0), Some(4)));
    let pick = |e: Expr| select(lt(y(), int(3)), e.clone(), offset(e, 1));
    check_difference(pick(offset(x(), 5)), pick(x()), (Some(5), Some(5)));
}

/// A pyramid: level k reads level k + 1 at (x + 1) / 2 and (x - 1) / 2, and level k + 1 reads level k at 2x - 1 .. 2x +
/// 2; every level clamped to the size of its Func.
#[test]
fn nested_pyramids_stay_small() {
    let mut ends: BTreeMap<Sym, Expr> = BTreeMap::new();
    let strip = 64;
    let (mut low, mut high) = (mul(x(), int(strip)), offset(mul(x(), int(strip)), strip - 1));
    let mut next = 100;
    let name = |e: Expr, next: &mut u32, ends: &mut BTreeMap<Sym, Expr>| {
        *next += 1;
        ends.insert(Sym::Temp(*next), e);
        t(*next)
    };
    let facts = Facts::new();
    let mut widths = Vec::new();
    for level in 0..8 {
        low = div(offset(low, -1), int(2));
        high = div(offset(high, 1), int(2));
        let (first, last) = (t(2 * level), t(2 * level + 1));
        low = name(max(min(low, last.clone()), first.clone()), &mut next, &mut ends);
        high = name(max(min(high, last), first), &mut next, &mut ends);
        let defs = |s: Sym| ends.get(&s).cloned();
        let (_, width) = BoundQuery::difference(&high, &low, &facts).through(&|s, _| defs(s)).range().ends();
        widths.push(width.unwrap_or(i64::MAX));
    }
    for level in (0..8).rev() {
        low = offset(mul(low, int(2)), -1);
        high = offset(mul(high, int(2)), 2);
        let (first, last) = (t(2 * level), t(2 * level + 1));
        low = name(max(low, first), &mut next, &mut ends);
        high = name(min(high, last), &mut next, &mut ends);
        let defs = |s: Sym| ends.get(&s).cloned();
        let (_, width) = BoundQuery::difference(&high, &low, &facts).through(&|s, _| defs(s)).range().ends();
        widths.push(width.unwrap_or(i64::MAX));
    }
    assert_eq!(widths, [33, 18, 10, 6, 4, 3, 3, 3, 9, 21, 45, 93, 189, 381, 765, 1533]);
}

/// A chain of many stages, each one wider by a stencil than the next, is followed to its end.
#[test]
fn long_chains_are_followed() {
    let mut ends: BTreeMap<Sym, Expr> = BTreeMap::new();
    let (mut low, mut high) = (mul(x(), int(8)), offset(mul(x(), int(8)), 7));
    for k in 0..300u32 {
        ends.insert(Sym::Temp(2 * k), max(offset(low, -1), t(10_000)));
        ends.insert(Sym::Temp(2 * k + 1), min(offset(high, 1), t(10_001)));
        (low, high) = (t(2 * k), t(2 * k + 1));
    }
    let (_, width) =
        BoundQuery::difference(&high, &low, &Facts::new()).through(&|s, _| ends.get(&s).cloned()).range().ends();
    assert_eq!(width, Some(607));
    let known = |s, _| ends.get(&s).cloned();
    let facts = Facts::new();
    let query = BoundQuery::difference(&high, &low, &facts).through(&known);
    let upper = |limit| query.upper(limit);
    assert_eq!((upper(607), upper(606)), (Some(607), None));
}

/// Definitions in facts are looked through as well, and a bound that a point refutes is not searched for.
#[test]
fn upper_differences_are_within_limits() {
    let mut facts = Facts::new();
    facts.bind_let(Sym::Temp(0), &max(x(), y()));
    facts.bind_let(Sym::Temp(1), &offset(t(0), 7));
    facts.bind_loop(LoopId(2), &int(3), &int(10));
    let z = loop_var(LoopId(2));
    let upper = |a: &Expr, b: &Expr, limit| BoundQuery::difference(a, b, &facts).upper(limit);
    assert_eq!((upper(&t(1), &x(), 1000), upper(&t(1), &t(0), 7), upper(&t(1), &t(0), 6)), (None, Some(7), None));
    assert_eq!((upper(&x(), &t(1), 0), upper(&x(), &t(1), -8)), (Some(-7), None));
    assert_eq!((upper(&z, &int(0), 12), upper(&z, &int(0), 11)), (Some(12), None));
}

fn check_interval(e: Expr, expected: (Option<Expr>, Option<Expr>)) {
    let env = |s: Sym| (s == Sym::Loop(LoopId(0))).then(|| Interval::new(t(0), offset(t(0), 9)));
    let facts = Facts::new();
    let found = interval_of(&e, &env, &facts);
    let simple = |e: Option<Expr>| e.map(|e| simplify(&e, &facts));
    assert_eq!((found.min, found.max), (simple(expected.0), simple(expected.1)), "{e:?}");
}

#[test]
fn intervals_of_common_coordinates() {
    check_interval(
        offset(mul(x(), int(2)), 1),
        (Some(offset(mul(t(0), int(2)), 1)), Some(offset(mul(t(0), int(2)), 19))),
    );
    check_interval(sub(int(3), x()), (Some(sub(int(-6), t(0))), Some(sub(int(3), t(0)))));
    check_interval(sub(x(), mul(div(x(), int(2)), int(2))), (Some(int(0)), Some(int(1))));
    check_interval(
        max(min(x(), y()), int(0)),
        (Some(max(min(t(0), y()), int(0))), Some(max(min(offset(t(0), 9), y()), int(0)))),
    );
    // One that grows with its only symbol, although its terms disagree.
    check_interval(
        sub(x(), div(x(), int(2))),
        (Some(sub(t(0), div(t(0), int(2)))), Some(sub(offset(t(0), 9), div(offset(t(0), 9), int(2))))),
    );
    // A condition keeps the arm inside.
    let safe = select(and(ge(x(), int(0)), lt(x(), y())), x(), int(0));
    check_interval(safe, (Some(int(0)), Some(max(min(offset(t(0), 9), offset(y(), -1)), int(0)))));
    check_interval(
        mul(x(), y()),
        (Some(min(mul(t(0), y()), mul(offset(t(0), 9), y()))), Some(max(mul(t(0), y()), mul(offset(t(0), 9), y())))),
    );
}

#[test]
fn intervals_of_data() {
    let byte = || read(BufId(1), ScalarType::U8, vec![x()]);
    let wide = || read(BufId(1), ScalarType::I32, vec![x()]);
    let k = |v: i128| constant(halide_core::value::Scalar::int(ScalarType::I32, v));
    check_interval(to_index(byte()), (Some(int(0)), Some(int(255))));
    check_interval(to_index(max(min(wide(), k(7)), k(0))), (Some(int(0)), Some(int(7))));
    check_interval(to_index(rem(wide(), k(16))), (Some(int(0)), Some(int(15))));
    check_interval(to_index(div(cast_data(ScalarType::I32, byte()), k(16))), (Some(int(0)), Some(int(15))));
    check_interval(to_index(add(cast_data(ScalarType::I32, byte()), k(3))), (Some(int(3)), Some(int(258))));
    let p = || param(ParamId(0), ScalarType::I32);
    let clamped = max(min(wide(), p()), k(0));
    check_interval(to_index(clamped), (Some(int(0)), Some(max(to_index(p()), int(0)))));
    let found =
        interval_with_values(&to_index(wide()), &|_| None, &|_| Some(Interval::new(int(2), int(5))), &Facts::new());
    assert_eq!(found, Interval::new(int(2), int(5)));
}

/// A coordinate that becomes a float keeps its ends where it cannot wrap, and has those of its type where it may have.
#[test]
fn floats_of_what_may_wrap_are_as_wide_as_the_type() {
    use ScalarType::{F32, I32, U8, U16};
    let env = |s: Sym| (s == Sym::Loop(LoopId(0))).then(|| Interval::new(t(0), t(1)));
    let half = |e: Expr| {
        let half = constant(halide_core::value::Scalar::float(F32, 0.5));
        to_index(cast_data(I32, halide_ir::build::binary(BinOp::Mul, cast_data(F32, e), half)))
    };
    let interval = |e: &Expr| interval_of(e, &env, &Facts::new());
    let constants = |e: &Expr| {
        let Interval { min, max } = interval(e);
        (min.and_then(|e| as_int(&e)), max.and_then(|e| as_int(&e)))
    };
    assert_eq!(constants(&half(cast_data(U8, x()))), (Some(0), Some(127)));
    assert_eq!(constants(&half(cast_data(U16, x()))), (Some(0), Some(32767)));
    assert_eq!(constants(&half(cast_data(I32, x()))), (None, None));
    assert!(interval(&half(cast_data(I32, x()))).min.is_some_and(|e| halide_ir::visit::uses(&e, Sym::Temp(0))));
    // The coordinate of an inlined call that is made of data is not checked before a run.
    let far = |by| half(cast_data(I32, mul(to_index(read(BufId(0), U16, vec![x()])), int(by))));
    assert_eq!(constants(&far(30_000)), (Some(0), Some(983_025_024)));
    assert_eq!(constants(&far(70_000)), (Some(-(1 << 30)), Some(1 << 30)));
}

fn check_solution(cond: Expr, inner: Interval, learned: &[Expr]) {
    let mut facts = Facts::new();
    learned.iter().for_each(|c| facts.learn(c));
    let simple = |e: Option<Expr>| e.map(|e| simplify(&e, &facts));
    let inner = Interval { min: simple(inner.min), max: simple(inner.max) };
    assert_eq!(solve_for(&cond, Sym::Loop(LoopId(0)), &facts), Some(inner), "{cond:?}");
}

#[test]
fn solutions_of_common_conditions() {
    let below = |e: Expr| Interval { min: None, max: Some(e) };
    let above = |e: Expr| Interval { min: Some(e), max: None };
    check_solution(lt(x(), t(0)), below(offset(t(0), -1)), &[]);
    check_solution(and(ge(x(), int(0)), lt(x(), t(0))), Interval::new(int(0), offset(t(0), -1)), &[]);
    check_solution(le(offset(mul(x(), int(8)), 7), t(0)), below(div(offset(t(0), -7), int(8))), &[]);
    check_solution(ge(div(x(), int(2)), t(0)), above(mul(t(0), int(2))), &[]);
    check_solution(eq(max(min(x(), t(0)), int(0)), x()), Interval::new(int(0), t(0)), &[ge(t(0), int(0))]);
    let lanes = ramp(mul(x(), int(4)), int(1), 4);
    check_solution(lt(lanes, broadcast(t(0), 4)), below(div(offset(t(0), -4), int(4))), &[]);
    check_solution(
        halide_ir::build::binary(BinOp::Ge, mul(x(), t(1)), t(0)),
        above(div(offset(add(t(0), t(1)), -1), t(1))),
        &[gt(t(1), int(0))],
    );
}
