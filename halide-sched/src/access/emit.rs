//! Polynomials as index expressions: the checks that a program makes for itself.

use super::atoms::{Atom, Terms};
use super::mono::AtomId;
use super::poly::Poly;
use halide_ir::{Expr, build};

/// `p` as an expression; `None` if it depends on a lane, or on more than one alternative.
pub(crate) fn expression<'p>(terms: &Terms<'p>, p: &Poly<'p>) -> Option<Expr> {
    if p.is_broken() {
        return None;
    }
    let mut sum: Option<Expr> = None;
    for (mono, k) in p.terms() {
        let factors = mono.iter().map(|a| atom(terms, a)).collect::<Option<Vec<Expr>>>()?;
        let product = factors.into_iter().reduce(build::mul)?;
        sum = Some(match (sum, *k) {
            (None, 1) => product,
            (None, _) => build::mul(product, build::int(*k)),
            (Some(s), 1) => build::add(s, product),
            (Some(s), -1) => build::sub(s, product),
            (Some(s), k) if k < 0 => build::sub(s, build::mul(product, build::int(-k))),
            (Some(s), _) => build::add(s, build::mul(product, build::int(*k))),
        });
    }
    let constant = i64::try_from(p.constant_term()).ok()?;
    Some(match sum {
        Some(s) => build::offset(s, constant),
        None => build::int(constant),
    })
}

/// The condition that `p` is not negative where no guard is negative.
pub(crate) fn condition<'p>(terms: &Terms<'p>, p: &Poly<'p>, guards: &[Poly<'p>]) -> Option<Expr> {
    let mut cond = build::ge(expression(terms, p)?, build::int(0));
    for guard in guards {
        cond = build::or(cond, build::lt(expression(terms, guard)?, build::int(0)));
    }
    Some(cond)
}

/// Returns true if `p` can be an expression: then [`condition`] makes one of it.
pub(crate) fn is_expressible<'p>(terms: &Terms<'p>, p: &Poly<'p>) -> bool {
    let fits = |k: i128| i64::try_from(k).is_ok();
    let both = |a: &Poly<'p>, b: &Poly<'p>| is_expressible(terms, a) && is_expressible(terms, b);
    let is_atom = |id: AtomId| match terms.atom(id) {
        Atom::Sym(_) | Atom::Opaque(_, None, None) => true,
        Atom::Min(a, b) | Atom::Quotient(a, b) | Atom::Remainder(a, b) => both(a, b),
        Atom::Div(a, k) | Atom::Mod(a, k) => fits(*k) && is_expressible(terms, a),
        Atom::Lane(_) | Atom::Opaque(..) | Atom::Either(..) => false,
    };
    !p.is_broken() && p.atoms().iter().copied().all(is_atom)
}

fn atom<'p>(terms: &Terms<'p>, id: AtomId) -> Option<Expr> {
    match terms.atom(id) {
        Atom::Sym(s) => Some(build::sym(*s)),
        Atom::Opaque(e, None, None) => Some(e.clone()),
        Atom::Min(a, b) => Some(build::min(expression(terms, a)?, expression(terms, b)?)),
        Atom::Div(a, k) => Some(build::div(expression(terms, a)?, build::int(i64::try_from(*k).ok()?))),
        Atom::Mod(a, k) => Some(build::rem(expression(terms, a)?, build::int(i64::try_from(*k).ok()?))),
        Atom::Quotient(a, n) => Some(build::div(expression(terms, a)?, expression(terms, n)?)),
        Atom::Remainder(a, n) => Some(build::rem(expression(terms, a)?, expression(terms, n)?)),
        Atom::Lane(_) | Atom::Opaque(..) | Atom::Either(..) => None,
    }
}
