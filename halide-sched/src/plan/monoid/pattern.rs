//! The table of known operations.

use halide_core::ids::ExprId;
use halide_core::ops::{BinOp, UnOp};
use halide_core::pipeline::Kind;
use halide_core::types::ScalarType;
use halide_core::value::{self, Scalar};

/// A value in terms of what an element holds and what is new. Numbers count the elements of a tuple.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Term {
    Old(usize),
    New(usize),
    Const(Scalar),
    Unary(UnOp, Box<Term>),
    Binary(BinOp, Box<Term>, Box<Term>),
    Select(Box<Term>, Box<Term>, Box<Term>),
    Cast(ScalarType, Box<Term>),
    SaturatingCast(ScalarType, Box<Term>),
}

/// The degrees to which a law holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Law {
    No,
    /// But for how floats round, and the signs of zeros.
    ButForRounding,
    Exactly,
}

/// An operation on one element or on several at once.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// The values that an update stores, as terms.
    pub(super) step: Vec<Term>,
    /// The terms that combine two partial results; the same as `step` unless that says less.
    pub(super) merge: Vec<Term>,
    /// The initial values of a partial result.
    pub(super) identity: Vec<Scalar>,
    /// Associativity: the new values may be combined in parts that follow each other.
    pub(super) associative: Law,
    /// Commutativity: the new values may come in any order.
    pub(super) commutative: Law,
    /// True if the identity leaves every element as it is, not only those that a fold from it makes.
    pub(super) neutral: bool,
}

fn old(i: usize) -> Term {
    Term::Old(i)
}
fn new(i: usize) -> Term {
    Term::New(i)
}
fn binary(op: BinOp, a: Term, b: Term) -> Term {
    Term::Binary(op, Box::new(a), Box::new(b))
}
fn select(c: Term, a: Term, b: Term) -> Term {
    Term::Select(Box::new(c), Box::new(a), Box::new(b))
}
fn not(a: Term) -> Term {
    Term::Unary(UnOp::Not, Box::new(a))
}

/// The element is left as it is.
pub(super) fn unchanged(ty: ScalarType) -> Pattern {
    let (step, identity) = (vec![old(0)], vec![Scalar::zero(ty)]);
    Pattern {
        merge: step.clone(),
        step,
        identity,
        associative: Law::Exactly,
        commutative: Law::Exactly,
        neutral: false,
    }
}

/// An operator of two operands that is associative and commutative, but for the rounding of floats.
pub(super) fn operator(op: BinOp, ty: ScalarType) -> Option<Pattern> {
    let identity = value::identity(op, ty)?;
    let float = ty.is_float();
    let rounds = float && matches!(op, BinOp::Add | BinOp::Mul);
    let sides = float && matches!(op, BinOp::Min | BinOp::Max);
    let law = |inexact: bool| if inexact { Law::ButForRounding } else { Law::Exactly };
    let step = vec![binary(op, old(0), new(0))];
    Some(Pattern {
        merge: step.clone(),
        step,
        identity: vec![identity],
        associative: law(rounds),
        commutative: law(rounds || sides),
        neutral: true,
    })
}

/// Every pattern for elements of these types but for plain operators.
pub(super) fn patterns(types: &[ScalarType]) -> Vec<Pattern> {
    let mut all = Vec::new();
    if let &[ty] = types {
        all.extend(saturating_add(ty));
        all.extend(chosen_extreme(ty));
    }
    if let &[a, b] = types
        && a == b
    {
        all.extend(complex_product(a));
    }
    if types.len() > 1 {
        for key in 0..types.len() {
            for better in [BinOp::Lt, BinOp::Gt] {
                all.extend(located(types, key, better));
                for flag in (0..types.len()).filter(|&f| f != key && types[f] == ScalarType::Bool) {
                    all.push(located_with_flag(types, key, flag, better));
                }
            }
        }
    }
    all
}

fn exact(step: Vec<Term>, identity: Vec<Scalar>, commutative: Law) -> Pattern {
    let neutral = commutative == Law::Exactly;
    Pattern { merge: step.clone(), step, identity, associative: Law::Exactly, commutative, neutral }
}

/// Unsigned sums that stop at the largest value. (Signed ones are not associative.)
fn saturating_add(ty: ScalarType) -> Option<Pattern> {
    if !ty.is_unsigned_int() {
        return None;
    }
    let step = if ty.bits() < 64 {
        let wide = ScalarType::unsigned(2 * ty.bits());
        let widened = |t| Term::Cast(wide, Box::new(t));
        Term::SaturatingCast(ty, Box::new(binary(BinOp::Add, widened(old(0)), widened(new(0)))))
    } else {
        let sum = binary(BinOp::Add, old(0), new(0));
        select(binary(BinOp::Lt, sum.clone(), old(0)), Term::Const(Scalar::highest(ty)), sum)
    };
    Some(exact(vec![step], vec![Scalar::zero(ty)], Law::Exactly))
}

/// Minima and maxima of integers that are written as a choice.
fn chosen_extreme(ty: ScalarType) -> Vec<Pattern> {
    if ty.is_float() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (op, better) in [(BinOp::Min, [BinOp::Lt, BinOp::Le]), (BinOp::Max, [BinOp::Gt, BinOp::Ge])] {
        for better in better {
            let merge = vec![binary(op, old(0), new(0))];
            let identity = vec![if op == BinOp::Min { Scalar::highest(ty) } else { Scalar::lowest(ty) }];
            let takes_new = select(binary(better, new(0), old(0)), new(0), old(0));
            let keeps_old = select(binary(better, old(0), new(0)), old(0), new(0));
            for step in [takes_new, keeps_old] {
                let (merge, identity) = (merge.clone(), identity.clone());
                let (associative, commutative) = (Law::Exactly, Law::Exactly);
                all.push(Pattern { step: vec![step], merge, identity, associative, commutative, neutral: true });
            }
        }
    }
    all
}

/// `(a + bi)(c + di)`.
fn complex_product(ty: ScalarType) -> Option<Pattern> {
    if ty == ScalarType::Bool {
        return None;
    }
    let product = |i, j| binary(BinOp::Mul, old(i), new(j));
    let re = binary(BinOp::Sub, product(0, 0), product(1, 1));
    let im = binary(BinOp::Add, product(0, 1), product(1, 0));
    let law = if ty.is_float() { Law::ButForRounding } else { Law::Exactly };
    let (step, identity) = (vec![re, im], vec![Scalar::int(ty, 1), Scalar::zero(ty)]);
    Some(Pattern { merge: step.clone(), step, identity, associative: law, commutative: law, neutral: true })
}

/// Patterns of argmin and argmax: element `key` is compared, and the others go with it. The first that is best counts,
/// or with `<=` the last.
fn located(types: &[ScalarType], key: usize, better: BinOp) -> Vec<Pattern> {
    let worst = if better == BinOp::Lt { Scalar::highest(types[key]) } else { Scalar::lowest(types[key]) };
    let identity: Vec<Scalar> =
        types.iter().enumerate().map(|(i, &ty)| if i == key { worst } else { Scalar::zero(ty) }).collect();
    let (or_as_good, extreme) = if better == BinOp::Lt { (BinOp::Le, BinOp::Min) } else { (BinOp::Ge, BinOp::Max) };
    let mut all = Vec::new();
    for (takes_new, better) in [(true, better), (false, or_as_good)] {
        let choice = |i: usize| match takes_new {
            true => select(binary(better, new(key), old(key)), new(i), old(i)),
            false => select(binary(better, old(key), new(key)), old(i), new(i)),
        };
        let step: Vec<Term> = (0..types.len()).map(choice).collect();
        if takes_new {
            all.push(exact(step.clone(), identity.clone(), Law::No));
        }
        if !types[key].is_float() {
            let mut as_extreme = step.clone();
            as_extreme[key] = binary(extreme, old(key), new(key));
            // The old element is kept where it is as good as the new one, which is what the first form says too.
            let merge = all[0].step.clone();
            for step in [step, as_extreme] {
                let (merge, identity) = (merge.clone(), identity.clone());
                let (associative, commutative) = (Law::Exactly, Law::No);
                all.push(Pattern { step, merge, identity, associative, commutative, neutral: false });
            }
        }
    }
    all
}

/// As [`located`], with an element that says whether anything was found: the first that is as good as the beginning
/// counts as found.
fn located_with_flag(types: &[ScalarType], key: usize, flag: usize, better: BinOp) -> Pattern {
    let worst = if better == BinOp::Lt { Scalar::highest(types[key]) } else { Scalar::lowest(types[key]) };
    let identity = types.iter().enumerate().map(|(i, &ty)| if i == key { worst } else { Scalar::zero(ty) }).collect();
    let as_good = binary(BinOp::BitAnd, binary(BinOp::Eq, new(key), old(key)), not(old(flag)));
    let wins = binary(BinOp::BitOr, binary(better, new(key), old(key)), as_good);
    let whole = |wins: &Term| -> Vec<Term> {
        let element = |i: usize| match i == flag {
            true => binary(BinOp::BitOr, old(flag), wins.clone()),
            false => select(wins.clone(), new(i), old(i)),
        };
        (0..types.len()).map(element).collect()
    };
    let step = whole(&wins);
    let merge = whole(&binary(BinOp::BitAnd, new(flag), wins));
    Pattern { step, merge, identity, associative: Law::Exactly, commutative: Law::No, neutral: false }
}

impl Term {
    /// Its value for given elements.
    pub(super) fn value(&self, olds: &[Scalar], news: &[Scalar]) -> Scalar {
        let of = |t: &Term| t.value(olds, news);
        match self {
            Term::Old(i) => olds[*i],
            Term::New(i) => news[*i],
            Term::Const(c) => *c,
            Term::Unary(op, a) => value::unary(*op, of(a)),
            Term::Binary(op, a, b) => value::binary(*op, of(a), of(b)),
            Term::Select(c, a, b) => value::select(of(c), of(a), of(b)),
            Term::Cast(ty, a) => value::cast(*ty, of(a)),
            Term::SaturatingCast(ty, a) => value::saturating_cast(*ty, of(a)),
        }
    }

    /// The term with what is new numbered as `to` says.
    pub(super) fn with_news(&self, to: &[usize]) -> Term {
        let of = |t: &Term| Box::new(t.with_news(to));
        match self {
            Term::New(i) => Term::New(to[*i]),
            Term::Old(_) | Term::Const(_) => self.clone(),
            Term::Unary(op, a) => Term::Unary(*op, of(a)),
            Term::Binary(op, a, b) => Term::Binary(*op, of(a), of(b)),
            Term::Select(c, a, b) => Term::Select(of(c), of(a), of(b)),
            Term::Cast(ty, a) => Term::Cast(*ty, of(a)),
            Term::SaturatingCast(ty, a) => Term::SaturatingCast(*ty, of(a)),
        }
    }

    /// Its value for elements numbered as `to` says.
    pub(super) fn renumbered(&self, to: &[usize]) -> Term {
        let of = |t: &Term| Box::new(t.renumbered(to));
        match self {
            Term::Old(i) => Term::Old(to[*i]),
            Term::New(i) => Term::New(to[*i]),
            Term::Const(c) => Term::Const(*c),
            Term::Unary(op, a) => Term::Unary(*op, of(a)),
            Term::Binary(op, a, b) => Term::Binary(*op, of(a), of(b)),
            Term::Select(c, a, b) => Term::Select(of(c), of(a), of(b)),
            Term::Cast(ty, a) => Term::Cast(*ty, of(a)),
            Term::SaturatingCast(ty, a) => Term::SaturatingCast(*ty, of(a)),
        }
    }

    /// Its value as an expression of an algorithm, with its type. `make` adds a node.
    pub(crate) fn build(
        &self,
        olds: &[(ExprId, ScalarType)],
        news: &[(ExprId, ScalarType)],
        make: &mut dyn FnMut(Kind, ScalarType) -> ExprId,
    ) -> (ExprId, ScalarType) {
        let mut of = |t: &Term| t.build(olds, news, make);
        let (kind, ty) = match self {
            Term::Old(i) => return olds[*i],
            Term::New(i) => return news[*i],
            Term::Const(c) => (Kind::Const(*c), c.ty()),
            Term::Unary(op, a) => {
                let (a, ty) = of(a);
                (Kind::Unary(*op, a), value::unary_type(*op, ty).unwrap_or(ty))
            }
            Term::Binary(op, a, b) => {
                let ((a, ty), (b, _)) = (of(a), of(b));
                (Kind::Binary(*op, a, b), value::binary_type(*op, ty).unwrap_or(ty))
            }
            Term::Select(c, a, b) => {
                let ((c, _), (a, ty), (b, _)) = (of(c), of(a), of(b));
                (Kind::Select(c, a, b), ty)
            }
            Term::Cast(ty, a) => (Kind::Cast(of(a).0), *ty),
            Term::SaturatingCast(ty, a) => (Kind::SaturatingCast(of(a).0), *ty),
        };
        (make(kind, ty), ty)
    }
}
