//! Values of symbols, at which an inequality that is false has no proof.
//!
//! A search for a proof mostly ends in vain since what it looks at is not so. A few values of the symbols that the
//! caller gives tell: names follow from them by their definitions, loop variables lie in their ranges. A sample speaks
//! where all facts of a question hold at it, so what it refutes could not be derived from them.

use super::atoms::Atom;
use super::mono::AtomId;
use super::poly::{Poly, Span};
use super::read::Reader;
use crate::tuning::{NEAR_SAMPLES, SAME_SAMPLES, SAMPLES};
use halide_ir::hash::{Map, Spread};
use halide_ir::visit::deep;
use halide_ir::{DimField, Sym};
use std::hash::{BuildHasher, BuildHasherDefault};

/// Extents, by samples: of loops with tails, of one iteration, of many.
const EXTENTS: [i64; SAMPLES] = [37, 1000, 100_000, 131, 1, 513, 16, 2048];
/// The first coordinates of buffers, and numbers that nothing is known of.
const NUMBERS: [i64; SAMPLES] = [0, -5, 70_000, 3, 100, 0, -70_000, 1];
/// The value that is not known, or that there is none of.
const NONE: i64 = i64::MIN;

/// The values of something at each sample.
pub(super) type Values = [i64; SAMPLES];

/// A set of samples, a bit each.
pub(super) type Mask = u8;

/// Values of atoms.
#[derive(Default)]
pub(super) struct Samples {
    /// The values of all atoms that were met, by their numbers.
    known: Vec<Option<Values>>,
    /// Values that were chosen.
    chosen: Map<AtomId, Values>,
    /// The samples at which the first of all facts hold, by the number of these facts less 1.
    at: Vec<Mask>,
}

impl Samples {
    /// The samples at which all of `facts` hold; values that break one of them are mended where that is simple.
    pub(super) fn where_all<'p>(&mut self, reader: &mut Reader<'p>, facts: &[Poly<'p>]) -> Mask {
        while self.at.len() < facts.len() {
            let count = self.at.len();
            let before = count.checked_sub(1).map_or(Mask::MAX, |last| self.at[last]);
            let mut now = before & self.holding(reader, &facts[count]);
            if now != before && self.mend(reader, &facts[count], before & !now) {
                self.at.clear();
                for fact in &facts[..=count] {
                    now = self.at.last().copied().unwrap_or(Mask::MAX) & self.holding(reader, fact);
                    self.at.push(now);
                }
                continue;
            }
            self.at.push(now);
        }
        facts.len().checked_sub(1).map_or(Mask::MAX, |last| self.at[last])
    }

    /// Forgets all but the first `len` facts.
    pub(super) fn forget(&mut self, len: usize) {
        self.at.truncate(len);
    }

    /// The samples at which `0 <= p` is known to hold.
    pub(super) fn holding<'p>(&mut self, reader: &mut Reader<'p>, p: &Poly<'p>) -> Mask {
        self.those(reader, p, |value| value >= 0)
    }

    /// The samples at which `0 <= p` is known to be false.
    pub(super) fn refuting<'p>(&mut self, reader: &mut Reader<'p>, p: &Poly<'p>) -> Mask {
        self.those(reader, p, |value| value < 0 && value != NONE)
    }

    /// The value of a scalar at each sample.
    #[cfg(test)]
    pub(super) fn values_of<'p>(&mut self, reader: &mut Reader<'p>, e: &halide_ir::Expr) -> Values {
        let p = reader.scalar(e);
        self.values(reader, &p)
    }

    fn those<'p>(&mut self, reader: &mut Reader<'p>, p: &Poly<'p>, has: impl Fn(i64) -> bool) -> Mask {
        let values = self.values(reader, p);
        values.iter().rev().fold(0, |mask, value| mask << 1 | Mask::from(has(*value)))
    }

    /// Gives symbols of `fact` other values at samples of `wrong`, such that it holds. Returns false if nothing was
    /// changed.
    fn mend<'p>(&mut self, reader: &mut Reader<'p>, fact: &Poly<'p>, wrong: Mask) -> bool {
        let values = self.values(reader, fact);
        let mut changed = false;
        for &atom in fact.atoms() {
            let Some(k) = fact.coefficient(atom).and_then(|k| i64::try_from(k).ok()) else { continue };
            let span = reader.terms.span(atom);
            let Some(own) = self.chosen.get_mut(&atom) else { continue };
            for s in (0..SAMPLES).filter(|s| wrong >> s & 1 == 1 && values[*s] < 0 && values[*s] != NONE) {
                let steps = values[s].checked_neg().map(|lack| (lack - 1).div_euclid(k.abs()) + 1);
                let value = steps.and_then(|steps| own[s].checked_add(steps.checked_mul(k.signum())?));
                if let Some(value) = value.filter(|v| is_inside(span, *v)) {
                    (own[s], changed) = (value, true);
                }
            }
            if changed {
                self.known.clear();
                return true;
            }
        }
        false
    }

    fn values<'p>(&mut self, reader: &mut Reader<'p>, p: &Poly<'p>) -> Values {
        let Ok(constant) = i64::try_from(p.constant_term()) else { return [NONE; SAMPLES] };
        let mut sum = if p.is_broken() { [NONE; SAMPLES] } else { [constant; SAMPLES] };
        for (mono, k) in p.terms() {
            let mut product = [*k; SAMPLES];
            for atom in mono.iter() {
                let values = self.atom(reader, atom);
                combine(&mut product, &values, i64::checked_mul);
            }
            combine(&mut sum, &product, i64::checked_add);
        }
        sum
    }

    fn atom<'p>(&mut self, reader: &mut Reader<'p>, atom: AtomId) -> Values {
        let at = atom.0 as usize;
        if let Some(Some(known)) = self.known.get(at) {
            return *known;
        }
        let mut made = deep(|| self.make(reader, atom));
        let span = reader.terms.span(atom);
        made.iter_mut().filter(|v| !is_inside(span, **v)).for_each(|v| *v = NONE);
        if self.known.len() <= at {
            self.known.resize(at + 1, None);
        }
        self.known[at] = Some(made);
        made
    }

    fn make<'p>(&mut self, reader: &mut Reader<'p>, atom: AtomId) -> Values {
        let mut of_two = |reader: &mut Reader<'p>, x: &Poly<'p>, y: &Poly<'p>, f: fn(i64, i64) -> Option<i64>| {
            let mut values = self.values(reader, x);
            combine(&mut values, &self.values(reader, y), f);
            values
        };
        match reader.terms.atom(atom).clone() {
            Atom::Min(x, y) => of_two(reader, &x, &y, |x, y| Some(x.min(y))),
            Atom::Div(x, k) => of_two(reader, &x, &Poly::constant(k), quotient),
            Atom::Mod(x, k) => of_two(reader, &x, &Poly::constant(k), remainder),
            Atom::Quotient(x, n) => of_two(reader, &x, &n, quotient),
            Atom::Remainder(x, n) => of_two(reader, &x, &n, remainder),
            Atom::Either(list, _) => {
                let picked = spread(atom) as usize;
                let all: Vec<Values> = list.iter().map(|p| self.values(reader, p)).collect();
                std::array::from_fn(|s| all[(picked + s) % all.len()][s])
            }
            Atom::Sym(s) => {
                if let Some(value) = reader.value_of(atom) {
                    return self.values(reader, &value);
                }
                if let Some((low, high)) = reader.loop_of(atom) {
                    let (low, high) = (self.values(reader, &low), self.values(reader, &high));
                    return between(atom, &low, &high);
                }
                self.choose(reader, atom, Some(s))
            }
            Atom::Opaque(e, None, None) => match reader.beside(&e) {
                Some((base, low, _)) => self.values(reader, &base.offset(low)),
                None => self.choose(reader, atom, None),
            },
            Atom::Lane(_) | Atom::Opaque(..) => self.choose(reader, atom, None),
        }
    }

    /// Values of what nothing defines.
    fn choose<'p>(&mut self, reader: &Reader<'p>, atom: AtomId, s: Option<Sym>) -> Values {
        let span = reader.terms.span(atom);
        *self.chosen.entry(atom).or_insert_with(|| {
            let turned = |list: &Values| {
                let turn = spread(atom) as usize;
                std::array::from_fn(|s| list[if s < SAME_SAMPLES { s } else { (s + turn) % SAMPLES }])
            };
            match (s, span) {
                (Some(Sym::Buffer { field: DimField::Extent, .. }), _) => turned(&EXTENTS),
                (Some(Sym::Buffer { field: DimField::Min, .. }), _) => turned(&NUMBERS),
                (Some(Sym::Buffer { field: DimField::Stride, dim, .. }), _) => {
                    [(spread(atom) as i64 % 1000 + 5000).checked_pow(dim.into()).unwrap_or(NONE); SAMPLES]
                }
                (_, (Some(low), Some(high))) if high - low <= NEAR_SAMPLES => {
                    let end = |end: i128| [i64::try_from(end).unwrap_or(NONE); SAMPLES];
                    between(atom, &end(low), &end(high))
                }
                (_, (low, high)) => turned(&NUMBERS).map(|v| {
                    let v = low.map_or(i128::from(v), |low| low.max(v.into()));
                    i64::try_from(high.map_or(v, |high| high.min(v))).unwrap_or(NONE)
                }),
            }
        })
    }
}

fn is_inside((low, high): Span, value: i64) -> bool {
    low.is_none_or(|low| low <= value.into()) && high.is_none_or(|high| i128::from(value) <= high)
}

fn combine(a: &mut Values, b: &Values, f: impl Fn(i64, i64) -> Option<i64>) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = match (*a, *b) {
            (NONE, _) | (_, NONE) => NONE,
            (x, y) => f(x, y).unwrap_or(NONE),
        };
    }
}

fn quotient(x: i64, n: i64) -> Option<i64> {
    x.checked_div_euclid(n).filter(|_| n > 0)
}

fn remainder(x: i64, n: i64) -> Option<i64> {
    x.checked_rem_euclid(n).filter(|_| n > 0)
}

/// A number that differs between atoms.
fn spread(atom: AtomId) -> u32 {
    BuildHasherDefault::<Spread>::default().hash_one(atom.0) as u32 >> 8
}

/// Values from `low` to `high`: the ends, the middle, and for each atom others of these.
fn between(atom: AtomId, low: &Values, high: &Values) -> Values {
    std::array::from_fn(|s| {
        let (low, high) = (low[s], high[s]);
        if low == NONE || high < low {
            return NONE;
        }
        let way = if s < 3 { s as u32 } else { spread(atom) >> (2 * s) & 3 };
        match way {
            0 => low,
            1 => high,
            2 => low + high.checked_sub(low).unwrap_or(0) / 2,
            _ => (low + 1).min(high),
        }
    })
}
