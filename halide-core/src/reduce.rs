//! Inline reductions: `sum(f[x + r.x])` and its kin, as Funcs without a name of the user's.
//!
//! Each becomes a Func over the free variables of its operand, with the identity of the reduction as its pure
//! definition and one update over the domain; the expression is a call of that Func. It accumulates in the operand's
//! type, so a sum of `u8` wraps like any other `u8` arithmetic: cast the operand to accumulate wider.

use crate::arena::{self, Expr, Kind, Ty};
use crate::error::{AlgorithmErrorKind, Location};
use crate::expr::{IntoExpr, as_type, binary, select_at, tuple_at};
use crate::func::{self, FuncBody};
use crate::names::Name;
use crate::ops::BinOp;
use crate::rdom::{RDom, RDomBody};
use crate::types::ScalarType;
use crate::value::Scalar;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident, $over:ident, $fold:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// The domain is the only one whose variables `e` uses.
        #[track_caller]
        pub fn $name(e: impl IntoExpr) -> Expr {
            reduce(Fold::$fold, None, e.expr(), Location::caller())
        }
        #[doc = concat!("[`", stringify!($name), "`] over `domain`; variables of other domains in `e` are free.")]
        #[track_caller]
        pub fn $over(domain: &RDom, e: impl IntoExpr) -> Expr {
            reduce(Fold::$fold, Some(domain), e.expr(), Location::caller())
        }
    )*};
}

reductions! {
    /// The sum of `e` over its reduction domain; 0 if that is empty.
    sum, sum_over, Sum;
    /// The sum of the integers `e` over its reduction domain, which stays at an end of the type once it gets there from
    /// below or above; 0 if that is empty.
    saturating_sum, saturating_sum_over, SaturatingSum;
    /// The product of `e` over its reduction domain; 1 if that is empty.
    product, product_over, Product;
    /// The smallest `e` over its reduction domain; the largest value of the type (floats: infinity) if that is empty.
    minimum, minimum_over, Minimum;
    /// The largest `e` over its reduction domain; the smallest value of the type (floats: -infinity) if that is empty.
    maximum, maximum_over, Maximum;
    /// The point with the smallest `e`: a tuple of the coordinates of the first such point of the domain, and the
    /// value. No NaN is smallest; without any point, or where all are NaN, the domain's first coordinates and what
    /// [`minimum`] gives.
    argmin, argmin_over, ArgMin;
    /// The point with the largest `e`: a tuple of the coordinates of the first such point of the domain, and the value.
    /// No NaN is largest; without any point, or where all are NaN, the domain's first coordinates and what [`maximum`]
    /// gives.
    argmax, argmax_over, ArgMax;
}

#[derive(Clone, Copy)]
enum Fold {
    Sum,
    SaturatingSum,
    Product,
    Minimum,
    Maximum,
    ArgMin,
    ArgMax,
}

impl Fold {
    fn name(self) -> &'static str {
        match self {
            Fold::Sum => "sum",
            Fold::SaturatingSum => "saturating_sum",
            Fold::Product => "product",
            Fold::Minimum => "minimum",
            Fold::Maximum => "maximum",
            Fold::ArgMin => "argmin",
            Fold::ArgMax => "argmax",
        }
    }

    fn identity(self, ty: ScalarType) -> Scalar {
        match self {
            Fold::Sum | Fold::SaturatingSum => Scalar::zero(ty),
            Fold::Product => Scalar::int(ty, 1),
            Fold::Minimum | Fold::ArgMin => Scalar::highest(ty),
            Fold::Maximum | Fold::ArgMax => Scalar::lowest(ty),
        }
    }
}

fn reduce(fold: Fold, domain: Option<&RDom>, e: Expr, at: Location) -> Expr {
    let ty = match crate::expr::scalar(e, fold.name(), at) {
        Ok(ty) => ty,
        Err(poison) => return poison,
    };
    if matches!(fold, Fold::SaturatingSum) && !ty.is_int() {
        let (operator, wants) = (fold.name(), "integers");
        return arena::poison(AlgorithmErrorKind::WrongOperand { operator, ty, wants }, at);
    }
    let e = as_type(e, ty, at);
    let domain = match domain {
        Some(domain) => domain.body().clone(),
        None => match the_domain(fold, e, at) {
            Ok(domain) => domain,
            Err(poison) => return poison,
        },
    };
    let free = free_variables(e, &domain);
    let (args, e, domain) = replace_free(e, &free, domain, at);
    let identity = arena::add(Kind::Const(fold.identity(ty)), Ty::One(ty), at);
    let body = match fold {
        Fold::Sum => accumulate(fold, |a, b| binary(BinOp::Add, a, b, at), identity, e, &args, at),
        Fold::SaturatingSum => accumulate(fold, |a, b| crate::expr::saturating_add(a, b), identity, e, &args, at),
        Fold::Product => accumulate(fold, |a, b| binary(BinOp::Mul, a, b, at), identity, e, &args, at),
        Fold::Minimum => accumulate(fold, |a, b| binary(BinOp::Min, a, b, at), identity, e, &args, at),
        Fold::Maximum => accumulate(fold, |a, b| binary(BinOp::Max, a, b, at), identity, e, &args, at),
        Fold::ArgMin => locate(fold, BinOp::Lt, identity, e, &domain, &args, at),
        Fold::ArgMax => locate(fold, BinOp::Gt, identity, e, &domain, &args, at),
    };
    let result = func::call(&body, free, at);
    match fold {
        // Without what `locate` remembers for itself.
        Fold::ArgMin | Fold::ArgMax if remembers(ty, &domain) => {
            let shown = (0..=domain.dims.len()).map(|i| crate::expr::element(result, i, at));
            tuple_at(shown.collect(), at)
        }
        _ => result,
    }
}

/// The one domain that `e` uses.
fn the_domain(fold: Fold, e: Expr, at: Location) -> Result<Rc<RDomBody>, Expr> {
    let mut found: Vec<Rc<RDomBody>> = Vec::new();
    arena::walk(&[e], |_, kind, _| {
        if let Kind::RVar(body, _) = kind
            && !found.iter().any(|f| Rc::ptr_eq(f, body))
        {
            found.push(body.clone());
        }
    });
    match &found[..] {
        [one] => Ok(one.clone()),
        [] => Err(arena::poison(AlgorithmErrorKind::NoRDom { reduction: fold.name() }, at)),
        [first, second, ..] => {
            let (first, second) = (first.name.clone(), second.name.clone());
            Err(arena::poison(AlgorithmErrorKind::ManyRDoms { reduction: fold.name(), first, second }, at))
        }
    }
}

/// The pure variables, and the reduction variables of other domains, that `e` or the domain's predicate uses: each
/// once, in the order of first use.
fn free_variables(e: Expr, domain: &Rc<RDomBody>) -> Vec<Expr> {
    let mut free: Vec<(Variable, Expr)> = Vec::new();
    let roots: Vec<Expr> = [e].into_iter().chain(domain.predicate.get()).collect();
    arena::walk(&roots, |node, kind, _| {
        let variable = Variable::of(kind);
        if let Some(v) = variable
            && !v.is_of(domain)
            && !free.iter().any(|(f, _)| *f == v)
        {
            free.push((v, node));
        }
    });
    free.into_iter().map(|(_, e)| e).collect()
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Variable {
    Pure(Name),
    /// Identity of the domain, and dimension.
    Reduction(*const RDomBody, u8),
}

impl Variable {
    fn of(kind: &Kind) -> Option<Variable> {
        match kind {
            Kind::Var(name) => Some(Variable::Pure(*name)),
            Kind::RVar(body, dim) => Some(Variable::Reduction(Rc::as_ptr(body), *dim)),
            _ => None,
        }
    }
    fn is_of(self, domain: &Rc<RDomBody>) -> bool {
        matches!(self, Variable::Reduction(body, _) if body == Rc::as_ptr(domain))
    }
}

/// Pure variables to stand for `free` on the left side, and `e` and the domain in terms of them.
fn replace_free(e: Expr, free: &[Expr], domain: Rc<RDomBody>, at: Location) -> (Vec<Expr>, Expr, Rc<RDomBody>) {
    let mut names = HashSet::new();
    let mut replaced = HashMap::new();
    let mut args = Vec::new();
    for &f in free {
        match arena::node(f).kind {
            Kind::RVar(body, dim) => {
                // Another domain's variable is a point given from outside: a pure variable of its name here.
                let name = &body.dims[dim as usize].0;
                let mut id = arena::intern(name);
                while !names.insert(id) {
                    id = arena::intern(&format!("{}'", arena::name_of(id)));
                }
                let var = arena::add(Kind::Var(id), Ty::One(ScalarType::I32), at);
                replaced.insert(Variable::Reduction(Rc::as_ptr(&body), dim), var);
                args.push(var);
            }
            Kind::Var(name) => {
                names.insert(name);
                args.push(f);
            }
            _ => args.push(f),
        }
    }
    if replaced.is_empty() {
        return (args, e, domain);
    }
    let is_replaced = |predicate: &Expr| {
        let mut uses = false;
        arena::walk(&[*predicate], |_, kind, _| uses |= Variable::of(kind).is_some_and(|v| replaced.contains_key(&v)));
        uses
    };
    let domain = match domain.predicate.get().filter(is_replaced) {
        Some(predicate) => {
            let copy = Rc::new(RDomBody::copy_of(&domain));
            for dim in 0..domain.dims.len() as u8 {
                let own = arena::add(Kind::RVar(copy.clone(), dim), Ty::One(ScalarType::I32), at);
                replaced.insert(Variable::Reduction(Rc::as_ptr(&domain), dim), own);
            }
            copy.predicate.set(Some(substitute(predicate, &replaced)));
            copy
        }
        None => domain,
    };
    (args, substitute(e, &replaced), domain)
}

/// `e` with some variables replaced; shares what is unchanged. Uses a stack of its own: expressions may be deep.
fn substitute(root: Expr, replaced: &HashMap<Variable, Expr>) -> Expr {
    let mut done: HashMap<(u32, u32), Expr> = HashMap::new();
    let mut stack = vec![(root, false)];
    while let Some((e, ready)) = stack.pop() {
        if done.contains_key(&e.key()) {
            continue;
        }
        let node = arena::node(e);
        if !ready {
            stack.push((e, true));
            let mut below = Vec::new();
            arena::operands(&node.kind, &mut below);
            stack.extend(below.into_iter().map(|c| (c, false)));
            continue;
        }
        let changed = match Variable::of(&node.kind).and_then(|v| replaced.get(&v)) {
            Some(&var) => var,
            None => {
                let mut below = Vec::new();
                arena::operands(&node.kind, &mut below);
                if below.iter().all(|c| done[&c.key()].key() == c.key()) {
                    e
                } else {
                    let kind = arena::map_operands(node.kind, |c| done[&c.key()]);
                    arena::add(kind, node.ty, node.at)
                }
            }
        };
        done.insert(e.key(), changed);
    }
    done[&root.key()]
}

/// `f[args] = identity`, then `f[args] = op(f[args], e)`.
fn accumulate(
    fold: Fold,
    combine: impl Fn(Expr, Expr) -> Expr,
    identity: Expr,
    e: Expr,
    args: &[Expr],
    at: Location,
) -> Rc<FuncBody> {
    let body = FuncBody::anonymous(fold.name(), args.to_vec(), identity, at);
    let old = func::call(&body, args.to_vec(), at);
    body.define(args.to_vec(), combine(old, e), at);
    body
}

/// Returns true if [`locate`] has to remember that it found a point. Without that, a point is found by being better
/// than the identity; of integers, all that are not are equal to it, and the first of them is the domain's first point.
fn remembers(ty: ScalarType, domain: &RDomBody) -> bool {
    ty.is_float() || domain.predicate.get().is_some()
}

/// `f[args] = (first coordinates, identity)`, then `(r.x, ..., e)` wherever `e` is strictly better; and where it is the
/// first that is as good, if that has to be remembered, as one more element.
fn locate(
    fold: Fold,
    better: BinOp,
    identity: Expr,
    e: Expr,
    domain: &Rc<RDomBody>,
    args: &[Expr],
    at: Location,
) -> Rc<FuncBody> {
    let i32_value = |e| as_type(e, ScalarType::I32, at);
    let truth = |b: bool| arena::add(Kind::Const(Scalar::from(b)), Ty::One(ScalarType::Bool), at);
    let remember = matches!(arena::ty(e), Ty::One(ty) if remembers(ty, domain));
    let mut first: Vec<Expr> = domain.dims.iter().map(|(_, min, _)| i32_value(*min)).chain([identity]).collect();
    first.extend(remember.then(|| truth(false)));
    let body = FuncBody::anonymous(fold.name(), args.to_vec(), tuple_at(first, at), at);
    let old = func::call(&body, args.to_vec(), at);
    let count = domain.dims.len();
    let before = |i| crate::expr::element(old, i, at);
    let mut is_better = binary(better, e, before(count), at);
    if remember {
        let nothing_yet = !before(count + 1);
        let as_good = binary(BinOp::Eq, e, before(count), at);
        is_better = binary(BinOp::BitOr, is_better, binary(BinOp::BitAnd, as_good, nothing_yet, at), at);
    }
    let here = (0..count).map(|d| arena::add(Kind::RVar(domain.clone(), d as u8), Ty::One(ScalarType::I32), at));
    let new = here.chain([e]).enumerate().map(|(i, new)| select_at(is_better, new, before(i), at));
    let mut new: Vec<Expr> = new.collect();
    new.extend(remember.then(|| binary(BinOp::BitOr, before(count + 1), is_better, at)));
    body.define(args.to_vec(), tuple_at(new, at), at);
    body
}
