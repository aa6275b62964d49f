//! Answers of the prover and of samples against all values of the symbols.

use super::super::mono::AtomId;
use super::super::prove::Prover;
use super::super::samples::Samples;
use super::*;

/// Values of the loop variable and of the symbols that the caller gives.
#[derive(Clone, Copy, Debug)]
struct Values {
    first: i128,
    count: i128,
    limit: i128,
    x: i128,
    named: i128,
}

impl Values {
    fn of(self, s: Sym) -> i128 {
        match s {
            FIRST => self.first,
            COUNT => self.count,
            LIMIT => self.limit,
            NAMED => self.named,
            _ => self.x,
        }
    }
}

const NAMED: Sym = Sym::Temp(3);

/// A question: the goal, facts for all, facts for this one.
struct Question<'p> {
    goal: Poly<'p>,
    facts: Vec<Poly<'p>>,
    guards: Vec<Poly<'p>>,
    /// The value of `NAMED`.
    named: Poly<'p>,
}

/// The facts that bound the symbols to values that can be tried.
fn bounds() -> Vec<Expr> {
    let ends = [(FIRST, -3, 3), (COUNT, 0, 5), (LIMIT, -2, 4)];
    let both = |(s, low, high): (Sym, i64, i64)| [build::offset(sym(s), -low), build::sub(build::int(high), sym(s))];
    ends.into_iter().flat_map(both).collect()
}

/// All values that satisfy [`bounds`].
fn everywhere<'p>(reader: &Reader<'p>, named: &Poly<'p>) -> Vec<Values> {
    let mut all = Vec::new();
    for i in 0..7 * 6 * 7 {
        let (first, count, limit) = (i % 7 - 3, i / 7 % 6, i / 42 - 2);
        for x in first..first + count {
            let mut values = Values { first, count, limit, x, named: 0 };
            values.named = value(reader, named, &|s| values.of(s));
            all.push(values);
        }
    }
    all
}

/// A sum that has the name at times.
fn random_named(random: &mut Random, terms: usize) -> Expr {
    let sum = random_sum(random, terms);
    match random.below(3) {
        0 => build::add(sum, build::mul(sym(NAMED), build::int([1, -1, 2][random.below(3)]))),
        1 => build::add(sum, build::div(build::offset(sym(NAMED), 1), build::int(2))),
        _ => sum,
    }
}

/// Nested quotients and minima of one sum.
fn random_tower(random: &mut Random) -> Expr {
    let mut e = random_named(random, 1);
    for _ in 0..=random.below(3) {
        let other = random_sum(random, 1);
        e = match random.below(4) {
            0 => build::min(e, other),
            1 => build::max(e, other),
            2 => build::div(e, build::int(2 + random.below(3) as i64)),
            _ => build::mul(e, build::int([-1, 2][random.below(2)])),
        };
    }
    e
}

/// A question whose goal is near to what its facts say.
fn question<'p>(random: &mut Random, reader: &mut Reader<'p>, named: &Expr) -> Question<'p> {
    let mut facts: Vec<Poly> = bounds().iter().map(|e| reader.scalar(e)).collect();
    facts.extend((0..random.below(3)).map(|_| reader.scalar(&random_named(random, 2))));
    let guards: Vec<Poly> = (0..random.below(2)).map(|_| reader.scalar(&random_named(random, 1))).collect();
    let mut goal = match random.one_in(2) {
        true => reader.scalar(&random_tower(random)),
        false => reader.scalar(&random_named(random, 2)),
    };
    if random.one_in(3) {
        goal = goal.add_scaled(&facts[random.below(facts.len())], 1);
    }
    Question { goal: goal.offset(random.below(24) as i128 - 4), facts, guards, named: reader.scalar(named) }
}

fn reader_of<'p>(named: &Expr, sums: &'p Sums<'p>) -> Reader<'p> {
    let mut defs = Definitions::default();
    defs.bind(variable(), Definition::Loop(sym(FIRST), sym(COUNT)));
    defs.bind(NAMED, Definition::Let(named.clone()));
    Reader::new(defs, Elements::default(), sums)
}

fn at<'p>(reader: &Reader<'p>, p: &Poly<'p>, values: &Values) -> i128 {
    value(reader, p, &|s| values.of(s))
}

/// Holds both the prover and the samples to the values of one question; the answers of the two.
fn both(seed: u64) -> (bool, bool) {
    let mut random = Random::new(seed);
    let named = random_sum(&mut random, 2);
    let sums = Sums::default();
    let mut reader = reader_of(&named, &sums);
    // Some facts are read as intervals from the start.
    for e in bounds().iter().filter(|_| random.one_in(3)) {
        let p = reader.scalar(e);
        reader.refine(&p);
        reader.forget_forms();
    }
    let Question { goal, facts, guards, named } = question(&mut random, &mut reader, &named);
    let mut prover = Prover::default();
    facts.iter().for_each(|p| prover.assume(&reader, *p));
    let (answer, count) = (prover.holds(&mut reader, &goal, &guards, prover.len()), prover.len());
    let again = prover.holds(&mut reader, &goal.offset(1), &guards, count);
    assert!(again || !answer, "seed {seed}: not of one more");
    let known = |values: &&Values| facts.iter().chain(&guards).all(|p| at(&reader, p, values) >= 0);
    let wrong = everywhere(&reader, &named).iter().filter(known).find(|values| at(&reader, &goal, values) < 0).copied();
    assert!(!answer || wrong.is_none(), "seed {seed}: proved, and false at {wrong:?}");
    let refuted = refuted(seed, &mut reader, &Question { goal, facts, guards, named });
    assert!(!answer || !refuted, "seed {seed}: both proved and refuted");
    (answer, refuted)
}

/// True if a sample refutes the question; values of samples are held to the definitions and facts.
fn refuted<'p>(seed: u64, reader: &mut Reader<'p>, q: &Question<'p>) -> bool {
    let mut samples = Samples::default();
    let mut at = samples.where_all(reader, &q.facts);
    q.guards.iter().for_each(|p| at &= samples.holding(reader, p));
    at &= samples.refuting(reader, &q.goal);
    for s in (0..u8::BITS).filter(|s| at >> s & 1 == 1) {
        let mut of = |name| i128::from(samples.values_of(reader, &sym(name))[s as usize]);
        let values =
            Values { first: of(FIRST), count: of(COUNT), limit: of(LIMIT), x: of(variable()), named: of(NAMED) };
        let at = |p: &Poly<'p>| value(reader, p, &|s| values.of(s));
        assert!((values.first..values.first + values.count).contains(&values.x), "seed {seed}: {values:?}");
        assert_eq!(values.named, at(&q.named), "seed {seed}: {values:?}");
        assert!(q.facts.iter().chain(&q.guards).all(|p| at(p) >= 0), "seed {seed}: a fact is false at {values:?}");
        assert!(at(&q.goal) < 0, "seed {seed}: true at {values:?}");
    }
    at != 0
}

#[test]
fn answers_are_those_of_all_values() {
    let (mut proved, mut refuted, mut open) = (0, 0, 0);
    for seed in 0..4000 {
        match both(seed) {
            (true, _) => proved += 1,
            (_, true) => refuted += 1,
            _ => open += 1,
        }
    }
    assert!(proved > 500 && refuted > 500, "{proved} proved, {refuted} refuted, {open} open");
}

/// Facts that no number chosen at first satisfies leave the samples something to say.
#[test]
fn samples_satisfy_facts_that_ask_for_large_numbers() {
    let sums = Sums::default();
    let mut reader = reader_of(&build::int(0), &sums);
    let fact = reader.scalar(&build::offset(sym(LIMIT), -500_000));
    let goal = reader.scalar(&build::sub(build::int(400_000), sym(LIMIT)));
    let mut samples = Samples::default();
    assert_ne!(samples.where_all(&mut reader, std::slice::from_ref(&fact)) & samples.refuting(&mut reader, &goal), 0);
}

/// An assertion in front of all loops narrows what is read before and after it.
#[test]
fn intervals_of_symbols_are_narrowed() {
    let sums = Sums::default();
    let mut reader = reader_of(&build::int(0), &sums);
    let sum = build::add(sym(FIRST), sym(LIMIT));
    let before = reader.scalar(&sum);
    assert_eq!(reader.terms.span_of(&before), (None, None));
    for e in bounds() {
        let p = reader.scalar(&build::mul(e, build::int(3)));
        assert!(reader.refine(&p.offset(2)));
    }
    reader.forget_forms();
    assert_eq!(reader.terms.span_of(&before), (Some(-5), Some(7)));
    let half = reader.scalar(&build::div(sum, build::int(16)));
    assert_eq!(reader.terms.span_of(&half), (Some(-1), Some(0)));
    // Of two loops at once nothing follows for one.
    let product = reader.scalar(&build::mul(sym(COUNT), sym(variable())));
    assert!(!reader.refine(&product));
    assert_eq!(reader.terms.span(AtomId(0)), (Some(-3), Some(3)));
}

/// Quotients of minima and of quotients have one form.
#[test]
fn quotients_are_pushed_to_what_they_are_made_of() {
    let sums = Sums::default();
    let mut reader = reader_of(&build::int(0), &sums);
    let (x, y) = (sym(FIRST), sym(LIMIT));
    let quotient = |e: Expr, k| build::div(e, build::int(k));
    let forms = [
        (quotient(quotient(x.clone(), 3), 4), quotient(x.clone(), 12)),
        (quotient(build::offset(quotient(x.clone(), 3), 2), 4), quotient(build::offset(x.clone(), 6), 12)),
        (quotient(build::min(x.clone(), y.clone()), 4), build::min(quotient(x.clone(), 4), quotient(y.clone(), 4))),
    ];
    for (left, right) in forms {
        let (a, b) = (reader.scalar(&left), reader.scalar(&right));
        assert_eq!(a, b, "{left} and {right}");
    }
}

/// The number of whole vectors between the tails of a loop is a minimum of maxima of quotients; which of them it is
/// follows from a guard and a fact together.
#[test]
fn guards_that_are_towers_of_minima_decide() {
    let sums = Sums::default();
    let mut reader = reader_of(&build::int(0), &sums);
    let size = sym(FIRST);
    let vectors = |by: i64| build::max(build::div(build::offset(size.clone(), by), build::int(16)), build::int(1));
    let whole = build::min(vectors(3), build::offset(vectors(4), -1));
    let rest = build::sub(build::offset(size.clone(), 4), build::mul(build::offset(whole.clone(), 1), build::int(16)));
    let (guard, rest) = (reader.scalar(&whole), reader.scalar(&rest));
    let mut prover = Prover::default();
    assert!(!prover.holds(&mut reader, &rest, std::slice::from_ref(&guard), 0));
    let fact = reader.scalar(&build::offset(size, -12));
    prover.assume(&reader, fact);
    assert!(prover.holds(&mut reader, &rest, std::slice::from_ref(&guard), 1));
    assert!(!prover.holds(&mut reader, &rest.offset(-1), &[guard], 1));
}

/// A fact about one name and a chain of definitions of others meet in symbols that neither mentions.
#[test]
fn facts_and_definitions_meet() {
    let mut defs = Definitions::default();
    let names: Vec<Sym> = (10..18).map(Sym::Temp).collect();
    let mut last = sym(FIRST);
    for name in &names {
        defs.bind(*name, Definition::Let(build::max(build::offset(last, -2), sym(LIMIT))));
        last = sym(*name);
    }
    let sums = Sums::default();
    let mut reader = Reader::new(defs, Elements::default(), &sums);
    let mut prover = Prover::default();
    let (end, first) = (reader.scalar(&last), reader.scalar(&sym(FIRST)));
    let fact = reader.scalar(&build::sub(sym(FIRST), sym(LIMIT)));
    let goal = first.minus(&end);
    prover.assume(&reader, fact);
    assert!(!prover.holds(&mut reader, &goal, &[], 0));
    assert!(prover.holds(&mut reader, &goal, &[], 1));
}
