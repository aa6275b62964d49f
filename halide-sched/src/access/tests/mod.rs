//! Inequalities over loops against all iterations of these.

mod prove;

use super::atoms::Atom;
use super::data::Elements;
use super::hoist::{Frame, FrameKind, Hoisted};
use super::poly::{Poly, Sums};
use super::read::{Definition, Definitions, LaneOf, Reader};
use halide_core::ids::Id;
use halide_core::ops::BinOp;
use halide_ir::{Expr, ExprKind, LoopId, Sym, Type, build};
use halide_testing::programs::Random;

const FIRST: Sym = Sym::Temp(0);
const COUNT: Sym = Sym::Temp(1);
const LIMIT: Sym = Sym::Temp(2);

fn sym(s: Sym) -> Expr {
    build::typed_sym(s, Type::INDEX)
}

fn variable() -> Sym {
    Sym::Loop(LoopId::new(0))
}

/// The value of `p` where symbols have those of `env`.
fn value<'p>(reader: &Reader<'p>, p: &Poly<'p>, env: &dyn Fn(Sym) -> i128) -> i128 {
    let of = |p: &Poly<'p>| value(reader, p, env);
    let atom = |a| match reader.terms.atom(a) {
        Atom::Sym(s) => env(*s),
        Atom::Min(x, y) => of(x).min(of(y)),
        Atom::Div(x, k) => of(x).div_euclid(*k),
        Atom::Mod(x, k) => of(x).rem_euclid(*k),
        Atom::Either(list, (choice, ..)) => of(&list[usize::from(!is_chosen(choice, env))]),
        other => panic!("{other:?}"),
    };
    let sum: i128 = p.terms().iter().map(|(mono, k)| i128::from(*k) * mono.iter().map(atom).product::<i128>()).sum();
    sum + p.constant_term()
}

/// True if the first value of a choice is taken.
fn is_chosen(choice: &Expr, env: &dyn Fn(Sym) -> i128) -> bool {
    let ExprKind::Select(cond, ..) = choice.kind() else { panic!("{choice:?} is no choice") };
    let ExprKind::Binary(BinOp::Lt, a, b) = cond.kind() else { panic!("{cond:?} compares nothing") };
    let of = |e: &Expr| if let ExprKind::Sym(s) = e.kind() { env(*s) } else { panic!("{e:?} is no symbol") };
    of(a) < of(b)
}

/// A sum with a choice at times, which may be inside of a quotient.
fn random_chosen(random: &mut Random, terms: usize) -> Expr {
    let sum = random_sum(random, terms);
    let over = if random.one_in(2) { variable() } else { COUNT };
    let [a, b] = [random_sum(random, 1), random_sum(random, 1)];
    let choice = build::select(build::lt(sym(over), sym(LIMIT)), a, b);
    match random.below(10) {
        0 => build::add(sum, choice),
        1 => build::add(sum, build::div(build::offset(choice, 1), build::int(2))),
        2 => build::sub(random_sum(random, 1), build::div(build::add(sum, choice), build::int(3))),
        _ => sum,
    }
}

/// A sum of some terms in the variable of the loop.
fn random_sum(random: &mut Random, terms: usize) -> Expr {
    let x = || sym(variable());
    let mut sum = build::int(random.below(9) as i64 - 4);
    for _ in 0..=random.below(terms) {
        let c = random.below(5) as i64 - 2;
        let inner = build::offset(build::mul(x(), build::int([1, 1, -1, 2][random.below(4)])), c);
        let k = build::int(2 + random.below(3) as i64);
        let term = match random.below(6) {
            0 | 1 => inner,
            2 => build::div(inner, k),
            3 => build::rem(inner, k),
            4 => build::min(inner, sym(LIMIT)),
            _ => build::max(build::div(inner, k), sym(LIMIT)),
        };
        sum = build::add(sum, build::mul(term, build::int([1, -1, 2, -2][random.below(4)])));
    }
    sum
}

/// True if `0 <= h.p` where the guards hold.
fn holds<'p>(reader: &Reader<'p>, h: &Hoisted<'p>, env: &dyn Fn(Sym) -> i128) -> bool {
    h.guards.iter().any(|g| value(reader, g, env) < 0) || value(reader, &h.p, env) >= 0
}

/// An inequality in front of a loop implies it in all iterations; it holds whenever these do if it is said to be exact.
#[test]
fn inequalities_in_front_of_loops_are_those_of_all_iterations() {
    let (mut exact, mut loose) = (0, 0);
    for seed in 0..2500 {
        let mut random = Random::new(seed);
        let mut defs = Definitions::default();
        defs.bind(variable(), Definition::Loop(sym(FIRST), sym(COUNT)));
        let sums = Sums::default();
        let mut reader = Reader::new(defs, Elements::default(), &sums);
        let p = reader.scalar(&random_chosen(&mut random, 3));
        let mut mask = |_| reader.scalar(&random_chosen(&mut random, 1));
        let masks: Vec<Poly<'_>> = (0..seed % 3).map(&mut mask).collect();
        let level = reader.defs.level(variable());
        let frame = |kind, id, level| Frame { kind, id, level, facts: 0, place: (0, id, 0) };
        let frames = [frame(FrameKind::Root, 0, Reader::IN_MEMORY), frame(FrameKind::Loop(variable()), 1, level)];
        let moved: Vec<_> = reader.hoist(p, &LaneOf::default(), (&masks, true), &frames).collect();
        if moved.iter().any(|h| h.frame > 0) {
            continue;
        }
        let is_exact = moved.iter().all(|h| h.exact.is_here());
        exact += u32::from(is_exact);
        loose += u32::from(!is_exact);
        for (first, count, limit) in (0..9 * 8 * 3).map(|i| (i % 9 - 4, i / 9 % 8, i / 72 * 3 - 3)) {
            let at = |x: i128| {
                move |s| match s {
                    FIRST => first,
                    COUNT => count,
                    LIMIT => limit,
                    _ => x,
                }
            };
            let one = Hoisted::new(p, &masks, 0);
            let all = (first..first + count).all(|x| holds(&reader, &one, &at(x)));
            let asked = moved.iter().all(|h| holds(&reader, h, &at(i128::MIN)));
            assert!(all || !asked, "seed {seed}: from {first} extent {count}, limit {limit}: asks too little");
            assert!(asked || !all || !is_exact, "seed {seed}: from {first} extent {count}, limit {limit}: not exact");
        }
    }
    assert!(exact > 500 && loose > 50, "{exact} exact, {loose} loose");
}

/// Arithmetic of data that stays inside of its type is that of indices; what may wrap is not looked into.
#[test]
fn data_that_does_not_wrap_is_an_index() {
    use halide_core::ops::UnOp;
    use halide_core::types::ScalarType;
    let mut elements = Elements::default();
    let (small, wide) = (Id::new(0), Id::new(1));
    elements.param(small, (Some(0), Some(64)));
    let sums = Sums::default();
    let mut reader = Reader::new(Definitions::default(), elements, &sums);
    let data = |id| build::param(id, ScalarType::I32);
    let negated = |e: Expr| build::unary(UnOp::Neg, e);
    let mut read = |e: Expr| reader.scalar(&build::to_index(e));
    let p = read(data(small));
    assert_eq!(read(negated(data(small))), p.scaled(-1));
    assert_eq!(read(build::binary(BinOp::Min, negated(data(small)), data(small))), p.scaled(-1));
    assert_eq!(read(build::binary(BinOp::Add, data(small), data(small))), p.scaled(2));
    assert_eq!(read(build::cast_data(ScalarType::U8, data(small))), p);
    let q = read(data(wide));
    assert_ne!(read(negated(data(wide))), q.scaled(-1));
    assert_ne!(read(build::cast_data(ScalarType::U8, data(wide))), q);
}
