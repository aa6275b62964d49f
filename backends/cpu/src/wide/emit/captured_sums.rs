//! Sums around a kernel that captured names stand for.

use super::super::machine::CapturedSum;
use crate::shared::linear::{Linear, Sums};
use crate::tuning::{ADDRESS_TERMS, CAPTURED_DEPTH};
use halide_ir::hash::Map;
use halide_ir::{Expr, ExprKind, Sym, Type, build};

/// The sums of names, in terms of numbered expressions around the kernel. Each name is read once.
pub(super) struct CapturedSums<'a> {
    definitions: &'a Sums,
    /// The numbers of expressions that are no sums.
    numbers: Map<Expr, usize>,
    known: Map<Sym, CapturedSum>,
}

impl<'a> CapturedSums<'a> {
    pub(super) fn new(definitions: &'a Sums) -> CapturedSums<'a> {
        CapturedSums { definitions, numbers: Map::default(), known: Map::default() }
    }
    /// The sum that a name stands for.
    pub(super) fn of(&mut self, symbol: Sym) -> CapturedSum {
        self.within(symbol, CAPTURED_DEPTH)
    }
    /// The same, through so many names at most.
    fn within(&mut self, symbol: Sym, depth: usize) -> CapturedSum {
        if let Some(known) = self.known.get(&symbol) {
            return known.clone();
        }
        let definition = self.definitions.get(&symbol).filter(|_| depth > 0);
        let opened = definition.and_then(|e| self.opened(&Linear::of_index(e, &Sums::default()), depth - 1));
        let sum = opened.unwrap_or_else(|| {
            let number = self.number(&build::typed_sym(symbol, Type::INDEX));
            CapturedSum { terms: vec![(number, 1)], constant: 0 }
        });
        self.known.insert(symbol, sum.clone());
        sum
    }
    /// A sum with the sums of its names in their place; `None` if it has too many terms.
    fn opened(&mut self, linear: &Linear, depth: usize) -> Option<CapturedSum> {
        let mut made = CapturedSum { terms: Vec::new(), constant: linear.constant };
        for (e, factor) in &linear.terms {
            let part = match e.kind() {
                ExprKind::Sym(s) => self.within(*s, depth),
                _ => CapturedSum { terms: vec![(self.number(e), 1)], constant: 0 },
            };
            made.constant = made.constant.wrapping_add(part.constant.wrapping_mul(*factor));
            for (number, times) in part.terms {
                let times = times.wrapping_mul(*factor);
                match made.terms.iter_mut().find(|(known, _)| *known == number) {
                    Some((_, sum)) => *sum = sum.wrapping_add(times),
                    None => made.terms.push((number, times)),
                }
            }
        }
        (made.terms.len() <= ADDRESS_TERMS).then_some(made)
    }
    fn number(&mut self, e: &Expr) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(e.clone()).or_insert(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each name is twice the one before and what that was made of: opened name by name, there would be no end.
    #[test]
    fn names_of_names_are_read_once() {
        let name = |i: u32| build::typed_sym(Sym::Temp(i), Type::INDEX);
        let mut definitions = Sums::default();
        for i in 2..40 {
            definitions.insert(Sym::Temp(i), build::add(name(i - 1), build::add(name(i - 2), build::int(1))));
        }
        let mut sums = CapturedSums::new(&definitions);
        let of = |sums: &mut CapturedSums<'_>, i| {
            let mut sum = sums.of(Sym::Temp(i));
            sum.terms.sort();
            (sum.terms.into_iter().map(|(_, times)| times).collect::<Vec<_>>(), sum.constant)
        };
        assert_eq!(of(&mut sums, 2).0, [1, 1]);
        let (terms, constant) = of(&mut sums, 39);
        assert_eq!(terms.iter().sum::<i64>(), 102_334_155);
        assert_eq!(constant, 102_334_154);
    }
}
