//! Operations that a schedule vouches for (`monoid`): what is new in each step is found, and random values try to
//! refute the laws.

use super::find::{Fold, Old, Parts};
use super::pattern::{Law, Term};
use crate::schedule::Identity;
use crate::tuning::{LAW_DRAWS, MOST_LAW_NODES};
use halide_core::ids::{ExprId, FuncId};
use halide_core::pipeline::{Kind, PipelineData, StageDef};
use halide_core::types::ScalarType;
use halide_core::value::Scalar;

/// A reason for which an update is not the operation that a schedule vouches for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MonoidReason {
    /// There is another number of elements.
    Elements {
        /// The number of values that an element of the Func has.
        values: usize,
        /// The number of values that the identity has.
        given: usize,
    },
    /// It reads other elements than the one that it stores, or old values say where.
    Reads,
    /// The form of the update shows no way to combine two partial results.
    Parts,
    /// A law does not hold for some values.
    Refuted {
        /// The law that is broken, as the predicate of a sentence.
        law: &'static str,
        /// For what values.
        example: String,
    },
}

/// Returns the fold of an update, if it is an associative operation with this identity as far as random values can
/// tell.
pub(crate) fn declared(
    pipeline: &PipelineData,
    func: FuncId,
    stage: &StageDef,
    identity: &[Identity],
    commutes: bool,
) -> Result<Fold, MonoidReason> {
    let types: Vec<ScalarType> = stage.values.iter().map(|v| pipeline.exprs[*v].ty).collect();
    if identity.len() != types.len() {
        return Err(MonoidReason::Elements { values: types.len(), given: identity.len() });
    }
    let old = Old::of(pipeline, func, stage, None);
    let predicate = stage.rdom.and_then(|r| pipeline.rdoms[r].predicate);
    if pipeline.sites(stage) > 1 || stage.args.iter().copied().chain(predicate).any(|e| old.reads(e)) {
        return Err(MonoidReason::Reads);
    }
    let mut reader = Reader { old: &old, pipeline, values: types.len(), news: Vec::new(), nodes: 0 };
    let step = stage.values.iter().map(|v| reader.term(*v)).collect::<Result<Vec<Term>, MonoidReason>>()?;
    let news: Vec<ScalarType> = reader.news.iter().map(|e| pipeline.exprs[*e].ty).collect();
    let identity: Vec<Scalar> = identity.iter().zip(&types).map(|(i, ty)| scalar(*i, *ty)).collect();
    let mut refuted = None;
    for order in orders(&news, &types) {
        let step: Vec<Term> = step.iter().map(|t| t.with_news(&order)).collect();
        let claim = Claim { step: &step, types: &types, identity: &identity };
        match claim.identity() {
            None => {
                claim.laws(commutes)?;
                let rounds = types.iter().any(|ty| ty.is_float());
                let associative = if rounds { Law::ButForRounding } else { Law::Exactly };
                let any_order = if commutes { associative } else { Law::No };
                let mut news = vec![None; types.len()];
                order.iter().zip(&reader.news).for_each(|(&element, &new)| news[element] = Some(new));
                let parts = Parts { merge: step, identity, news, neutral: true };
                return Ok(Fold { parts: Some(parts), associative, any_order });
            }
            Some(example) => refuted = refuted.or(Some(example)),
        }
    }
    match refuted {
        Some(example) => {
            Err(MonoidReason::Refuted { law: "does not leave values as they are under the identity", example })
        }
        None => Err(MonoidReason::Parts),
    }
}

fn scalar(identity: Identity, ty: ScalarType) -> Scalar {
    match identity {
        Identity::Const(value) => Scalar::int(ty, value.into()),
        Identity::Lowest => Scalar::lowest(ty),
        Identity::Highest => Scalar::highest(ty),
    }
}

/// Every way in which what is new can be the elements of a partial result: for each, the number of its element.
fn orders(news: &[ScalarType], types: &[ScalarType]) -> Vec<Vec<usize>> {
    if news.len() != types.len() {
        return Vec::new();
    }
    let mut all = vec![Vec::new()];
    for ty in news {
        let longer = |order: Vec<usize>| {
            let free = (0..types.len()).filter(|i| types[*i] == *ty && !order.contains(i)).collect::<Vec<usize>>();
            free.into_iter().map(move |i| order.iter().copied().chain([i]).collect::<Vec<usize>>())
        };
        all = all.into_iter().flat_map(longer).collect();
        // Enough for tuples of six elements of one type.
        all.truncate(720);
    }
    all
}

/// Reads a step as terms; what does not depend on the old value is new, numbered as it is found.
struct Reader<'r, 'p> {
    old: &'r Old<'p>,
    pipeline: &'p PipelineData,
    values: usize,
    news: Vec<ExprId>,
    nodes: usize,
}

impl Reader<'_, '_> {
    fn term(&mut self, e: ExprId) -> Result<Term, MonoidReason> {
        self.nodes += 1;
        if self.nodes > MOST_LAW_NODES {
            return Err(MonoidReason::Parts);
        }
        let node = &self.pipeline.exprs[e];
        if let Some(element) = (0..self.values).find(|i| self.old.is_old(e, *i)) {
            return Ok(Term::Old(element));
        }
        if !self.old.reads(e) {
            if let Kind::Const(c) = node.kind {
                return Ok(Term::Const(c));
            }
            let known = self.news.iter().position(|n| *n == e);
            return Ok(Term::New(known.unwrap_or_else(|| {
                self.news.push(e);
                self.news.len() - 1
            })));
        }
        let mut of = |e: ExprId| self.term(e).map(Box::new);
        Ok(match &node.kind {
            Kind::Unary(op, a) => Term::Unary(*op, of(*a)?),
            Kind::Binary(op, a, b) => Term::Binary(*op, of(*a)?, of(*b)?),
            Kind::Select(c, a, b) => Term::Select(of(*c)?, of(*a)?, of(*b)?),
            Kind::Cast(a) => Term::Cast(node.ty, of(*a)?),
            Kind::SaturatingCast(a) => Term::SaturatingCast(node.ty, of(*a)?),
            Kind::Call { func, .. } if self.old.is_of(*func) => return Err(MonoidReason::Reads),
            _ => return Err(MonoidReason::Parts),
        })
    }
}

/// The operation and the identity that a schedule vouches for.
struct Claim<'c> {
    step: &'c [Term],
    types: &'c [ScalarType],
    identity: &'c [Scalar],
}

impl Claim<'_> {
    fn combine(&self, a: &[Scalar], b: &[Scalar]) -> Vec<Scalar> {
        self.step.iter().map(|t| t.value(a, b)).collect()
    }

    fn draw(&self, random: &mut Random) -> Vec<Scalar> {
        self.types.iter().map(|ty| random.value(*ty)).collect()
    }

    /// A value that the identity does not leave as it is, on one side or the other.
    fn identity(&self) -> Option<String> {
        (0..LAW_DRAWS).find_map(|seed| {
            let a = self.draw(&mut Random(seed));
            let kept = close(&self.combine(self.identity, &a), &a) && close(&self.combine(&a, self.identity), &a);
            (!kept).then(|| format!("a = {}", text(&a)))
        })
    }

    fn laws(&self, commutes: bool) -> Result<(), MonoidReason> {
        for seed in 0..LAW_DRAWS {
            let mut random = Random(seed ^ 0x5151);
            let (a, b, c) = (self.draw(&mut random), self.draw(&mut random), self.draw(&mut random));
            let left = self.combine(&self.combine(&a, &b), &c);
            if !close(&left, &self.combine(&a, &self.combine(&b, &c))) {
                let example = format!("a = {}, b = {}, c = {}", text(&a), text(&b), text(&c));
                return Err(MonoidReason::Refuted {
                    law: "is not associative: (a op b) op c is not a op (b op c)",
                    example,
                });
            }
            if commutes && !close(&self.combine(&a, &b), &self.combine(&b, &a)) {
                let example = format!("a = {}, b = {}", text(&a), text(&b));
                return Err(MonoidReason::Refuted { law: "is not commutative: a op b is not b op a", example });
            }
        }
        Ok(())
    }
}

fn text(values: &[Scalar]) -> String {
    let list: Vec<String> = values.iter().map(|v| v.to_string()).collect();
    if let [one] = &list[..] { one.clone() } else { format!("({})", list.join(", ")) }
}

/// Returns true if values are the same but for rounding.
fn close(a: &[Scalar], b: &[Scalar]) -> bool {
    a.iter().zip(b).all(|(a, b)| {
        let (x, y) = (a.as_f64(), b.as_f64());
        let tolerance = if a.ty().bits() == 16 { 0.1 } else { 1e-4 };
        let near = a.ty().is_float() && (x - y).abs() <= tolerance * x.abs().max(y.abs()).max(1.0);
        a.same(*b) || near
    })
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Often one of few values, so that there are ties, or an end of the type; all bits of other integers are random.
    /// Floats are of a size at which they do not overflow.
    fn value(&mut self, ty: ScalarType) -> Scalar {
        let (kind, bits) = (self.next() % 8, self.next());
        match kind {
            _ if ty.is_float() => Scalar::float(ty, f64::from(bits as i8) / 16.0),
            0 | 1 => Scalar::int(ty, i128::from(bits % 4)),
            2 if bits.is_multiple_of(2) => Scalar::lowest(ty),
            2 => Scalar::highest(ty),
            _ => Scalar::from_bits(ty, bits),
        }
    }
}
