//! Decides `0 <= p`, first by definitions and ends of loops alone, then by linear arithmetic under all that is known.
//!
//! Most questions need no fact: a search replaces what was bound last by its definition or its ends, until a constant
//! is left. The others are refuted or not by [`follows`]. The answer *yes* is a proof. *No* means that no proof was
//! found within the effort: nothing follows.

use super::atoms::{Atom, Terms};
use super::conditions::split_minima;
use super::exact::Way;
use super::linear::follows;
use super::mono::AtomId;
use super::poly::Poly;
use super::read::Reader;
use super::samples::Samples;
use crate::tuning::{MOST_ARMS, MOST_CHOICES, MOST_INSIDES, MOST_PROVED_TERMS, MOST_STEPS, MOST_WAYS};
use halide_ir::hash::{Map, Set};

/// Answers questions under facts.
#[derive(Default)]
pub(crate) struct Prover<'p> {
    facts: Vec<Poly<'p>>,
    /// The first facts, [resolved](Reader::resolved).
    resolved: Vec<Poly<'p>>,
    /// A number for each fact that no other ever has.
    numbers: Vec<u32>,
    next: u32,
    /// The answers of each method, by polynomials without their constants and guards.
    known: [Map<(Poly<'p>, &'p [Poly<'p>]), Known>; 2],
    samples: Samples,
}

/// The answers for polynomials that differ by a constant.
#[derive(Default)]
struct Known {
    /// The least constant with which it was proved, and the facts at that time.
    holds: Option<(i128, Moment)>,
    /// The greatest constant with which no proof was found, and the facts at that time.
    open: Option<(i128, Moment)>,
}

/// A way to an answer.
#[derive(Clone, Copy)]
enum Method {
    /// A search without facts and guards.
    Search,
    /// Linear arithmetic with all of them.
    Linear,
}

/// The number of facts at some time, and that of the last of them.
type Moment = (usize, Option<u32>);

struct Search<'a, 'p> {
    steps: u32,
    /// The number of names inside of operations that may still be replaced.
    insides: u32,
    samples: &'a mut Samples,
    /// Polynomials that were looked at in vain.
    failed: Set<Poly<'p>>,
}

impl<'p> Prover<'p> {
    /// Takes for granted that `p` is at least 0, until [`Prover::forget`].
    pub(crate) fn assume(&mut self, reader: &Reader<'p>, p: Poly<'p>) {
        for fact in facts_of(&reader.terms, p) {
            self.facts.push(fact);
            self.numbers.push(self.next);
            self.next += 1;
        }
    }
    /// The number of facts.
    pub(crate) fn len(&self) -> usize {
        self.facts.len()
    }
    /// Forgets all but the first `len` facts.
    pub(crate) fn forget(&mut self, len: usize) {
        self.samples.forget(len);
        self.facts.truncate(len);
        self.resolved.truncate(len);
        self.numbers.truncate(len);
    }
    fn moment(&self, facts: usize) -> Moment {
        (facts, facts.checked_sub(1).map(|last| self.numbers[last]))
    }
    /// Returns true if all facts of `then` are among the first `facts`.
    fn includes(&self, (len, last): Moment, facts: usize) -> bool {
        len == 0 || len <= facts && Some(self.numbers[len - 1]) == last
    }
    /// True if `p` is certain to be at least 0 where all of `guards` and the first `facts` facts are.
    pub(crate) fn holds(&mut self, reader: &mut Reader<'p>, p: &Poly<'p>, guards: &[Poly<'p>], facts: usize) -> bool {
        self.decided(reader, p, &[], 0, Method::Search) || self.decided(reader, p, guards, facts, Method::Linear)
    }

    fn decided(
        &mut self,
        reader: &mut Reader<'p>,
        p: &Poly<'p>,
        guards: &[Poly<'p>],
        facts: usize,
        by: Method,
    ) -> bool {
        let constant = p.constant_term();
        if let Some(known) = self.known[by as usize].get(&(p.without_constant(), guards)) {
            if known.holds.is_some_and(|(least, then)| constant >= least && self.includes(then, facts)) {
                return true;
            }
            if known.open.is_some_and(|(most, then)| constant <= most && then == self.moment(facts)) {
                return false;
            }
        }
        let own: Vec<Poly<'p>> = guards.iter().flat_map(|g| facts_of(&reader.terms, *g)).collect();
        let mut at = self.samples.where_all(reader, &self.facts[..facts]);
        own.iter().for_each(|fact| at &= self.samples.holding(reader, fact));
        let is_refuted = at & self.samples.refuting(reader, p) != 0;
        let answer = !is_refuted
            && match by {
                Method::Search => Search::new(&mut self.samples).holds(reader, *p),
                Method::Linear => {
                    self.resolve(reader, facts);
                    follows(reader, p, &own, &self.resolved[..facts])
                }
            };
        let moment = self.moment(facts);
        let key = (p.without_constant(), reader.terms.list(guards));
        let known = self.known[by as usize].entry(key).or_default();
        *(if answer { &mut known.holds } else { &mut known.open }) = Some((constant, moment));
        answer
    }

    /// Resolves the first `facts` facts, once.
    fn resolve(&mut self, reader: &mut Reader<'p>, facts: usize) {
        while let Some(fact) = self.facts[..facts].get(self.resolved.len()) {
            self.resolved.push(reader.resolved(fact));
        }
    }
}

/// Returns what follows from `0 <= p`, as far as it can be used.
fn facts_of<'p>(terms: &Terms<'p>, p: Poly<'p>) -> Vec<Poly<'p>> {
    let either = |p: &Poly<'p>| p.atoms().iter().any(|a| matches!(terms.atom(*a), Atom::Either(..)));
    if either(&p) {
        return Vec::new();
    }
    let parts = split_minima(terms, p).into_iter().filter(|p| !either(p));
    parts.flat_map(|p| sharpened(terms, p)).collect()
}

/// Returns a fact `0 <= rest - k * min(a, b)` in terms of `a` alone where the same of `b` is false: then `a` is the
/// smaller.
fn sharpened<'p>(terms: &Terms<'p>, p: Poly<'p>) -> Vec<Poly<'p>> {
    let arm = p.atoms().iter().copied().find_map(|atom| {
        let Atom::Min(x, y) = terms.atom(atom) else { return None };
        let (k, rest) = p.linear_in(atom)?;
        let k = k.as_constant().filter(|k| *k < 0)?;
        let (with_x, with_y) = (rest.add_scaled(x, k), rest.add_scaled(y, k));
        let is_false = |p: &Poly<'p>| terms.span_of(p).1.is_some_and(|most| most < 0);
        match (is_false(&with_x), is_false(&with_y)) {
            (false, true) => Some(with_x),
            (true, false) => Some(with_y),
            _ => None,
        }
    });
    match arm {
        Some(arm) => facts_of(terms, arm),
        None => vec![p],
    }
}

/// Adds `rest + k * arm` to a list, with each arm of a minimum in `arm` for itself.
fn arms_of<'p>(terms: &Terms<'p>, arm: &Poly<'p>, rest: &Poly<'p>, k: i128, list: &mut Vec<Poly<'p>>) {
    let nested = arm.atoms().iter().copied().find_map(|atom| choice(terms, arm, atom, 1));
    match nested.filter(|_| list.len() < MOST_ARMS) {
        Some(inner) => inner.iter().for_each(|arm| arms_of(terms, arm, rest, k, list)),
        None => list.push(rest.add_scaled(arm, k)),
    }
}

/// The polynomial with each arm of a minimum that it has some multiple of.
fn arms<'p>(terms: &Terms<'p>, p: &Poly<'p>, atom: AtomId) -> Option<[Poly<'p>; 2]> {
    let Atom::Min(x, y) = terms.atom(atom) else { return None };
    let (k, rest) = p.linear_in(atom)?;
    let k = k.as_constant()?;
    Some([rest.add_scaled(x, k), rest.add_scaled(y, k)])
}

/// The same of a minimum with a coefficient of that sign.
fn choice<'p>(terms: &Terms<'p>, p: &Poly<'p>, atom: AtomId, sign: i128) -> Option<[Poly<'p>; 2]> {
    p.coefficient(atom).filter(|k| k.signum() == sign)?;
    arms(terms, p, atom)
}

/// Returns true if `p` is at least 0 by its interval with some arm of each minimum that is a choice.
fn is_clear<'p>(terms: &Terms<'p>, p: &Poly<'p>, left: &mut u32) -> bool {
    if terms.span_of(p).0.is_some_and(|low| low >= 0) {
        return true;
    }
    *left = left.saturating_sub(1);
    let arms = p.atoms().iter().copied().rev().find_map(|atom| choice(terms, p, atom, -1));
    *left > 0 && arms.is_some_and(|arms| arms.iter().any(|p| is_clear(terms, p, left)))
}

impl<'a, 'p> Search<'a, 'p> {
    fn new(samples: &'a mut Samples) -> Search<'a, 'p> {
        Search { steps: MOST_STEPS, insides: MOST_INSIDES, samples, failed: Set::default() }
    }

    fn holds(&mut self, reader: &mut Reader<'p>, p: Poly<'p>) -> bool {
        if p.is_broken() || p.len() > MOST_PROVED_TERMS || self.steps == 0 || self.failed.contains(&p) {
            return false;
        }
        self.steps -= 1;
        if let (Some(low), _) = reader.terms.span_of(&p)
            && low >= 0
        {
            return true;
        }
        if self.samples.refuting(reader, &p) != 0 {
            return false;
        }
        // What was bound last; of what depends on it, operations before the symbol itself.
        let Some(last) = self.next(reader, &p) else { return false };
        let is_given = reader.terms.level(last) == 0 && matches!(reader.terms.atom(last), Atom::Sym(_));
        let leaf = if is_given { None } else { reader.terms.bound_at(reader.terms.level(last)) };
        let leaf = leaf.filter(|leaf| *leaf != last);
        let end = leaf.and_then(|leaf| self.at_end(reader, &p, leaf));
        let found = match end {
            Some(p) => self.holds(reader, p),
            None => self.by_atom(reader, &p, last) || leaf.is_some_and(|leaf| self.inside(reader, &p, leaf)),
        };
        if !found {
            self.failed.insert(p);
        }
        found
    }

    /// The polynomial with a loop variable that operations are made of at the end where it is least.
    fn at_end(&mut self, reader: &mut Reader<'p>, p: &Poly<'p>, leaf: AtomId) -> Option<Poly<'p>> {
        let (low, high) = reader.loop_of(leaf)?;
        let end = match reader.direction(p, leaf)? {
            Way::Down => high,
            _ => low,
        };
        Some(reader.terms.replaced(p, leaf, &end, &mut Map::default()))
    }

    /// Replaces a name that operations are made of.
    fn inside(&mut self, reader: &mut Reader<'p>, p: &Poly<'p>, leaf: AtomId) -> bool {
        let Some(value) = reader.value_of(leaf) else { return false };
        let Some(left) = self.insides.checked_sub(1) else { return false };
        self.insides = left;
        let value = reader.expanded(&value);
        let p = reader.terms.replaced(p, leaf, &value, &mut Map::default());
        self.holds(reader, p)
    }

    /// The atom to replace: what was bound last, and of that what loses nothing before what is a choice.
    fn next(&self, reader: &Reader<'p>, p: &Poly<'p>) -> Option<AtomId> {
        let atoms = p.atoms();
        let level = atoms.iter().map(|a| reader.terms.level(*a)).max()?;
        let of_level = atoms.iter().copied().filter(|a| reader.terms.level(*a) == level);
        of_level.max_by_key(|a| {
            let is_split = match reader.terms.atom(*a) {
                Atom::Min(..) => p.coefficient(*a).is_some_and(|k| k > 0),
                Atom::Either(..) => true,
                _ => false,
            };
            (is_split, a.0)
        })
    }

    /// Replaces `atom`.
    fn by_atom(&mut self, reader: &mut Reader<'p>, p: &Poly<'p>, atom: AtomId) -> bool {
        let linear = p.linear_in(atom);
        let number = linear.as_ref().and_then(|(k, rest)| Some((k.as_constant()?, *rest)));
        match (reader.terms.atom(atom).clone(), number) {
            (Atom::Min(x, y), Some((k, rest))) if k < 0 => {
                let mut arms = Vec::new();
                arms_of(&reader.terms, &x, &rest, k, &mut arms);
                arms_of(&reader.terms, &y, &rest, k, &mut arms);
                // Most end with the arm that cancels all.
                let mut left = MOST_CHOICES;
                if arms.iter().any(|p| is_clear(&reader.terms, p, &mut left)) {
                    return true;
                }
                self.any(reader, arms)
            }
            (Atom::Min(x, y), _) => {
                self.holds(reader, p.substituted(atom, &x)) && self.holds(reader, p.substituted(atom, &y))
            }
            (Atom::Either(list, _), _) => list.iter().all(|x| self.holds(reader, p.substituted(atom, x))),
            (Atom::Div(x, by), Some((k, rest))) => {
                // A quotient never falls with what is divided, so it is the smaller of two quotients.
                let of_arms =
                    x.atoms().iter().copied().find_map(|m| Some((x.coefficient(m)? < 0, arms(&reader.terms, &x, m)?)));
                if let Some((is_greater, arms)) = of_arms {
                    let list: Vec<Poly<'p>> = arms.map(|x| rest.add_scaled(&reader.terms.div(x, by), k)).into();
                    return match is_greater == (k < 0) {
                        true => list.into_iter().all(|p| self.holds(reader, p)),
                        false => self.any(reader, list),
                    };
                }
                // by * q is at most x, and at least x - by + 1; by more if x is known by a finer quotient.
                let x = match self.finer(reader, p, &x, by) {
                    Some((finer, step)) if k > 0 => reader.terms.poly(finer).scaled(step).offset(step - by),
                    _ if k < 0 => x,
                    _ => x.offset(1 - by),
                };
                self.holds(reader, rest.scaled(by).add_scaled(&x, k))
            }
            (Atom::Mod(x, by), Some((k, rest))) => {
                let end = if k < 0 { by - 1 } else { 0 };
                if self.holds(reader, rest.add_scaled(&Poly::constant(end), k)) {
                    return true;
                }
                // x - by * (x / by), where that cancels something.
                let quotient = reader.terms.div(x, by);
                let cancels = quotient.atoms().iter().any(|a| p.has(*a));
                cancels && self.holds(reader, rest.add_scaled(&x.add_scaled(&quotient, -by), k))
            }
            (Atom::Quotient(x, n), Some((k, rest))) => {
                let x = if k < 0 { x } else { x.minus(&n).offset(1) };
                self.holds(reader, rest.times(&n).add_scaled(&x, k))
            }
            (Atom::Remainder(x, n), Some((k, rest))) => {
                let end = if k < 0 { n.offset(-1) } else { Poly::default() };
                if self.holds(reader, rest.add_scaled(&end, k)) {
                    return true;
                }
                let quotient = reader.terms.quotient(x, n);
                let cancels = quotient.atoms().iter().any(|a| p.has(*a));
                cancels && self.holds(reader, rest.add_scaled(&x.minus(&quotient.times(&n)), k))
            }
            (Atom::Sym(_), _) => match reader.value_of(atom) {
                Some(value) => {
                    let value = reader.expanded(&value);
                    self.holds(reader, p.substituted(atom, &value))
                }
                None => linear.is_some_and(|(k, rest)| self.by_range(reader, atom, k, rest)),
            },
            (Atom::Lane(_) | Atom::Opaque(..), Some((k, rest))) => {
                let span = reader.terms.span(atom);
                let end = if k < 0 { span.1 } else { span.0 };
                end.is_some_and(|end| self.holds(reader, rest.add_scaled(&Poly::constant(end), k)))
            }
            _ => false,
        }
    }

    /// A quotient of `x` in `p` by a divisor of `by`, with that.
    fn finer(&self, reader: &Reader<'p>, p: &Poly<'p>, x: &Poly<'p>, by: i128) -> Option<(AtomId, i128)> {
        p.atoms().iter().copied().find_map(|atom| match reader.terms.atom(atom) {
            Atom::Div(same, step) if same == x && *step < by && by % step == 0 => Some((atom, *step)),
            _ => None,
        })
    }

    /// Replaces a loop variable with coefficient `k` by the end of its range, or another symbol by that of its
    /// interval.
    fn by_range(&mut self, reader: &mut Reader<'p>, atom: AtomId, k: Poly<'p>, rest: Poly<'p>) -> bool {
        let Some((low, high)) = reader.loop_of(atom) else {
            let span = reader.terms.span(atom);
            let up = k.as_constant().map(|k| k < 0);
            let end = up.and_then(|up| if up { span.1 } else { span.0 });
            return end.is_some_and(|end| self.holds(reader, rest.add_scaled(&k, end)));
        };
        let rises = match k.as_constant() {
            Some(k) => Some(k >= 0),
            None if self.holds(reader, k) => Some(true),
            None => self.holds(reader, k.scaled(-1)).then_some(false),
        };
        let end = match rises {
            Some(true) => low,
            Some(false) => high,
            None => return false,
        };
        self.holds(reader, rest.add_scaled(&k.times(&end), 1))
    }

    /// Returns true if one of `list` is at least 0. Where fewer symbols are left, less is to be replaced.
    fn any(&mut self, reader: &mut Reader<'p>, mut list: Vec<Poly<'p>>) -> bool {
        list.sort_by_cached_key(|p| (p.len(), reader.terms.leaves(p)));
        list.truncate(MOST_WAYS);
        list.into_iter().any(|p| self.holds(reader, p))
    }
}
