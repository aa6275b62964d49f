//! Ends of data that becomes an index, as expressions: what a coordinate that is read or computed can be at most.
//!
//! Operators of floats round, and rounding is monotonic: where an operator rises with its operand, its value at the
//! operand's end bounds all others. That holds for numbers; so that no NaN comes up on the way, factors and results
//! must be finite, which is asked along with the access. `min` and `max` give their other operand for a NaN.

use super::atoms::Atom;
use super::poly::Poly;
use super::read::{Definition, Reader};
use crate::tuning::{MOST_NAMES, MOST_STORES};
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_ir::visit::{any_node, deep, substitute};
use halide_ir::{BufId, Elem, Expr, ExprKind, Sym, build};

/// Scalars between which all values are; `None` is not known.
#[derive(Clone, Default)]
struct Ends {
    low: Option<Expr>,
    high: Option<Expr>,
}

/// Conditions under which ends are ends: `Bool` scalars.
type Asked = Vec<Expr>;

impl<'p> Reader<'p> {
    /// `p` with data from memory replaced by the ends that make it least, and inequalities that these ends need.
    pub(super) fn without_memory(&mut self, p: &Poly<'p>) -> Option<(Poly<'p>, Vec<Poly<'p>>)> {
        let (mut p, mut needs) = (*p, Vec::new());
        for &atom in p.atoms() {
            if !self.is_in_memory(atom) {
                continue;
            }
            let Atom::Opaque(e, ..) = self.terms.atom(atom).clone() else { return None };
            let (factor, rest) = p.linear_in(atom)?;
            let up = match self.terms.span_of(&factor) {
                (Some(low), _) if low >= 0 => false,
                (_, Some(high)) if high <= 0 => true,
                _ => return None,
            };
            let ExprKind::Cast(data) = e.kind() else { return None };
            let mut asked = Asked::new();
            let end = match self.coordinate_ends(data) {
                Some((low, high)) => {
                    if up {
                        high
                    } else {
                        low
                    }
                }
                None => {
                    let ends = self.ends(data, &mut asked);
                    build::to_index(if up { ends.high } else { ends.low }?)
                }
            };
            p = rest.add_scaled(&factor.times(&self.scalar(&end)), 1);
            for cond in asked {
                let answer = build::select(cond, build::int(0), build::int(-1));
                needs.push(self.scalar_opaque(&answer));
            }
        }
        Some((p, needs))
    }

    /// The first and the last coordinate that data can be which is, through names and exact conversions, an element of
    /// an input with promised coordinates.
    fn coordinate_ends(&mut self, data: &Expr) -> Option<(Expr, Expr)> {
        match data.kind() {
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => self.coordinate_ends(a),
            ExprKind::Cast(a) if a.ty().scalar().is_some_and(|ty| ty.is_int()) && self.stays(data) => {
                deep(|| self.coordinate_ends(a))
            }
            ExprKind::Sym(s) => match self.defs.get(*s).cloned() {
                Some(Definition::Let(value)) => deep(|| self.coordinate_ends(&value)),
                _ => None,
            },
            ExprKind::Load { buf, .. } => {
                let coordinates = self.elements.coordinates(*buf).iter();
                let ends = coordinates.map(|(of, dim)| build::coordinates(*of, usize::from(*dim)));
                ends.reduce(|a, b| (build::max(a.0, b.0), build::min(a.1, b.1)))
            }
            _ => None,
        }
    }

    /// True if an atom is data that is read somewhere.
    fn is_in_memory(&mut self, atom: super::mono::AtomId) -> bool {
        match self.terms.atom(atom) {
            Atom::Opaque(e, vector, _) => {
                let e = e.clone();
                vector.is_some() || self.reads(&e)
            }
            _ => false,
        }
    }

    fn ends(&mut self, e: &Expr, asked: &mut Asked) -> Ends {
        let Elem::Data(ty) = e.ty().elem else { return Ends::default() };
        // A scalar that does not depend on memory is its own end.
        if e.lanes() == 1 && !self.reads(e) {
            return Ends { low: Some(e.clone()), high: Some(e.clone()) };
        }
        let found = deep(|| self.ends_of(e, asked));
        if ty.is_float() || found.low.is_some() && found.high.is_some() {
            return found;
        }
        let (low, high) = self.range(e);
        let constant = |v: Option<i128>| v.map(|v| build::constant(halide_core::value::Scalar::int(ty, v)));
        Ends { low: found.low.or(constant(low)), high: found.high.or(constant(high)) }
    }

    fn ends_of(&mut self, e: &Expr, asked: &mut Asked) -> Ends {
        let point = |e: &Expr| Ends { low: Some(e.clone()), high: Some(e.clone()) };
        match e.kind() {
            ExprKind::Const(_) | ExprKind::Param(_) => point(e),
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => self.ends(a, asked),
            ExprKind::Sym(s) => match self.defs.get(*s).cloned() {
                Some(Definition::Let(value)) if e.lanes() > 1 || self.reads(&value) => self.ends(&value, asked),
                Some(Definition::Let(_)) => point(e),
                _ => Ends::default(),
            },
            ExprKind::Load { buf, .. } => self.ends_in(*buf, asked),
            ExprKind::Cast(a) => self.ends_of_cast(e, a, asked),
            ExprKind::Unary(UnOp::Floor | UnOp::Ceil | UnOp::Round | UnOp::Trunc, a) => {
                let ExprKind::Unary(op, _) = e.kind() else { return Ends::default() };
                let ends = self.ends(a, asked);
                Ends { low: ends.low.map(|e| build::unary(*op, e)), high: ends.high.map(|e| build::unary(*op, e)) }
            }
            ExprKind::Binary(op @ (BinOp::Min | BinOp::Max), a, b) => {
                let (a, b) = (self.ends(a, asked), self.ends(b, asked));
                clamped(*op, a, b)
            }
            ExprKind::Binary(op, a, b) if e.ty().scalar().is_some_and(ScalarType::is_float) => {
                let (a, b) = (self.ends(a, asked), self.ends(b, asked));
                self.arithmetic(*op, a, b, asked).unwrap_or_default()
            }
            ExprKind::Select(_, a, b) => {
                let (a, b) = (self.ends(a, asked), self.ends(b, asked));
                Ends { low: both(BinOp::Min, a.low, b.low), high: both(BinOp::Max, a.high, b.high) }
            }
            _ => Ends::default(),
        }
    }

    fn ends_of_cast(&mut self, e: &Expr, a: &Expr, asked: &mut Asked) -> Ends {
        let (Some(from), Some(to)) = (a.ty().scalar(), e.ty().scalar()) else { return Ends::default() };
        let ends = self.ends(a, asked);
        if from.is_float() && !to.is_float() {
            // A NaN would be 0.
            self.ask_finite([&ends.low, &ends.high].into_iter().flatten(), asked);
        } else if !from.is_float() && !to.is_float() {
            let ((low, high), least, most) = (self.range(a), to.int_min(), to.int_max());
            if low.zip(least).is_none_or(|(l, m)| l < m) || high.zip(most).is_none_or(|(h, m)| h > m) {
                return Ends::default();
            }
        }
        // Without both ends, a NaN is not ruled out.
        match (ends.low, ends.high) {
            (Some(low), Some(high)) => {
                Ends { low: Some(build::cast_data(to, low)), high: Some(build::cast_data(to, high)) }
            }
            _ => Ends::default(),
        }
    }

    /// The ends of everything that the program stores to a buffer of its own, in terms of what is known around it.
    fn ends_in(&mut self, buf: BufId, asked: &mut Asked) -> Ends {
        let Some(level) = self.elements.level(buf) else { return Ends::default() };
        let Some(values) = self.elements.begin(buf).filter(|v| v.len() <= MOST_STORES) else { return Ends::default() };
        let mut all: Option<Ends> = None;
        for value in values {
            let ends = self.ends(value, asked);
            all = Some(match all {
                None => ends,
                Some(a) => Ends { low: both(BinOp::Min, a.low, ends.low), high: both(BinOp::Max, a.high, ends.high) },
            });
        }
        self.elements.end(buf);
        let Ends { low, high } = all.unwrap_or_default();
        for cond in asked.iter_mut() {
            let Some(outside) = self.at_level(cond, level) else { return Ends::default() };
            *cond = outside;
        }
        let outside = |end: Option<Expr>| end.and_then(|e| self.at_level(&e, level));
        Ends { low: outside(low), high: outside(high) }
    }

    /// `e` in terms of what is bound at `level` or before; `None` if it depends on a loop or on memory behind that.
    fn at_level(&self, e: &Expr, level: u32) -> Option<Expr> {
        let value = |s: Sym| match self.defs.get(s) {
            Some(Definition::Let(value)) if self.defs.level(s) > level => Some(value.clone()),
            _ => None,
        };
        let mut e = e.clone();
        for _ in 0..MOST_NAMES {
            match self.level_of_expr(&e) {
                known if known <= level => return Some(e),
                Reader::IN_MEMORY => return None,
                _ => {
                    let by_values = substitute(&e, &value);
                    if by_values == e {
                        return None;
                    }
                    e = by_values;
                }
            }
        }
        None
    }

    /// Asks that ends are finite, where that is not known.
    fn ask_finite<'e>(&mut self, ends: impl Iterator<Item = &'e Expr>, asked: &mut Asked) {
        for end in ends {
            let cond = build::unary(UnOp::IsFinite, end.clone());
            if self.float_range(end).is_none() && !asked.contains(&cond) {
                asked.push(cond);
            }
        }
    }

    /// Sums, differences and products of floats.
    fn arithmetic(&mut self, op: BinOp, a: Ends, b: Ends, asked: &mut Asked) -> Option<Ends> {
        let (a0, a1, b0, b1) = (a.low?, a.high?, b.low?, b.high?);
        let make = |x: &Expr, y: &Expr| build::binary(op, x.clone(), y.clone());
        match op {
            BinOp::Add => Some(Ends { low: Some(make(&a0, &b0)), high: Some(make(&a1, &b1)) }),
            BinOp::Sub => Some(Ends { low: Some(make(&a0, &b1)), high: Some(make(&a1, &b0)) }),
            BinOp::Mul => {
                self.ask_finite([&a0, &a1, &b0, &b1].into_iter(), asked);
                let mut is_positive = |low: &Expr| self.float_range(low).is_some_and(|(least, _)| least >= 0.0);
                let (lows, highs) = match (is_positive(&a0), is_positive(&b0)) {
                    (true, true) => (vec![(&a0, &b0)], vec![(&a1, &b1)]),
                    (false, true) => (vec![(&a0, &b0), (&a0, &b1)], vec![(&a1, &b0), (&a1, &b1)]),
                    (true, false) => (vec![(&a0, &b0), (&a1, &b0)], vec![(&a0, &b1), (&a1, &b1)]),
                    (false, false) => {
                        let all = vec![(&a0, &b0), (&a0, &b1), (&a1, &b0), (&a1, &b1)];
                        (all.clone(), all)
                    }
                };
                let (low, high) = (extreme(BinOp::Min, &lows), extreme(BinOp::Max, &highs));
                Some(Ends { low, high })
            }
            _ => None,
        }
    }

    /// True if a value depends on memory, also by names.
    pub(super) fn reads(&mut self, e: &Expr) -> bool {
        any_node(e, |n| match n.kind() {
            ExprKind::Load { .. } => true,
            ExprKind::Sym(s) => self.name_reads(*s),
            _ => false,
        })
    }

    fn name_reads(&mut self, s: halide_ir::Sym) -> bool {
        if let Some(known) = self.reading.get(&s) {
            return *known;
        }
        let found = match self.defs.get(s).cloned() {
            Some(Definition::Let(value)) => deep(|| self.reads(&value)),
            _ => false,
        };
        self.reading.insert(s, found);
        found
    }
}

fn both(op: BinOp, a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    Some(build::binary(op, a?, b?))
}

/// Either operand bounds the smaller from above and the larger from below, the more so the one that is known.
fn clamped(op: BinOp, a: Ends, b: Ends) -> Ends {
    let any = |a: Option<Expr>, b: Option<Expr>| match (a, b) {
        (Some(a), Some(b)) => Some(extreme_of(op, a, b)),
        (a, b) => a.or(b),
    };
    let both = |a: Option<Expr>, b: Option<Expr>| Some(extreme_of(op, a?, b?));
    match op {
        BinOp::Min => Ends { low: both(a.low, b.low), high: any(a.high, b.high) },
        _ => Ends { low: any(a.low, b.low), high: both(a.high, b.high) },
    }
}

/// The smaller or the larger of two; the ends of an integer type decide it.
fn extreme_of(op: BinOp, a: Expr, b: Expr) -> Expr {
    let ends = a.ty().scalar().map(|ty| (ty.int_min(), ty.int_max()));
    let (own, other) = match (op, ends) {
        (BinOp::Min, Some((low, high))) => (low, high),
        (BinOp::Max, Some((low, high))) => (high, low),
        _ => (None, None),
    };
    let is = |e: &Expr, end: Option<i128>| end.is_some() && build::as_const(e).map(|c| c.as_i128()) == end;
    match () {
        () if is(&a, own) || is(&b, other) => a,
        () if is(&b, own) || is(&a, other) => b,
        () => build::binary(op, a, b),
    }
}

/// The least or the greatest of products of finite floats.
fn extreme(op: BinOp, factors: &[(&Expr, &Expr)]) -> Option<Expr> {
    let mut products: Vec<Expr> = Vec::new();
    for (x, y) in factors {
        let product = product(x, y);
        if !products.contains(&product) {
            products.push(product);
        }
    }
    products.into_iter().reduce(|a, b| build::binary(op, a, b))
}

/// The product of two finite floats.
fn product(x: &Expr, y: &Expr) -> Expr {
    let is = |e: &Expr, v: f64| build::as_const(e).is_some_and(|c| c.as_f64() == v);
    match () {
        () if is(x, 0.0) || is(y, 1.0) => x.clone(),
        () if is(y, 0.0) || is(x, 1.0) => y.clone(),
        () => build::binary(BinOp::Mul, x.clone(), y.clone()),
    }
}
