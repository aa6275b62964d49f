//! The definition of a gradient, from what each read of the source adds to it.

use super::builder::Builder;
use super::domain::{Domain, NoReduction, reduction};
use super::invert::{Inverse, invert};
use super::sweep::Adjoint;
use crate::ids::{ExprId, FuncId, RDomId, VarId};
use crate::location::Location;
use crate::ops::BinOp;
use crate::pipeline::{FuncDef, Kind, StageDef};
use crate::types::ScalarType;
use std::collections::BTreeMap;
use std::rc::Rc;

/// One read of a source by a definition: at each point of `domain` the loss has the derivative `adjoint` by it.
pub(super) struct Contribution {
    /// The points of the reader.
    pub(super) domain: Rc<Domain>,
    /// The coordinates of the source that a point reads.
    pub(super) coordinates: Vec<ExprId>,
    pub(super) adjoint: Adjoint,
    /// True if the adjoint is zero, and may be evaluated, at all points outside of the domain.
    pub(super) fades: bool,
    /// The reader.
    pub(super) func: FuncId,
    /// The place of the definition.
    pub(super) at: Location,
}

/// The gradient by one source.
pub(super) struct Gradient {
    pub(super) name: String,
    /// The coordinates of the source.
    pub(super) args: Vec<VarId>,
    pub(super) ty: ScalarType,
    pub(super) at: Location,
    /// The first and last coordinates of the region that the caller gives.
    pub(super) given: Option<Vec<(ExprId, ExprId)>>,
}

/// A summand of a gradient: in the first definition, or in an update of its own.
enum Summand {
    Pure(ExprId),
    Update { args: Vec<ExprId>, value: ExprId, rdom: Option<RDomId> },
}

/// Defines a gradient as the sum of all contributions and adds it to the Funcs. An error says the contribution that
/// cannot be summed up.
pub(super) fn assemble(
    b: &mut Builder,
    gradient: Gradient,
    contributions: &[Contribution],
) -> Result<FuncId, (usize, NoReduction)> {
    let Gradient { name, args, ty, at, given } = gradient;
    let own = b.coordinates(&args);
    let (mut first, mut updates) = (None, Vec::new());
    for (number, contribution) in contributions.iter().enumerate() {
        match summand(b, contribution, &own, given.as_deref()).map_err(|why| (number, why))? {
            Summand::Pure(value) => {
                first = Some(first.map_or(value, |sum| b.binary(BinOp::Add, sum, value)));
            }
            Summand::Update { args, value, rdom } => updates.push((args, value, rdom, contribution.at)),
        }
    }
    let func = b.data.funcs.next_id();
    let first = first.unwrap_or_else(|| b.float(ty, 0.0));
    let mut stages = vec![StageDef { args: own, values: vec![first], rdom: None, at }];
    for (args, value, rdom, at) in updates {
        let old = b.node(Kind::Call { func, element: 0, args: args.clone() }, ty);
        stages.push(StageDef { args, values: vec![b.binary(BinOp::Add, old, value)], rdom, at });
    }
    b.data.order.push(func);
    Ok(b.data.funcs.push(FuncDef { said: name.clone(), name, args, types: vec![ty], stages, at }))
}

/// The gradient at `own` that one read adds: gathered where the read can be turned around, else scattered over all
/// points of the reader.
fn summand(
    b: &mut Builder,
    contribution: &Contribution,
    own: &[ExprId],
    given: Option<&[(ExprId, ExprId)]>,
) -> Result<Summand, NoReduction> {
    let domain = &contribution.domain;
    // A predicate guards what a point reads, and only domains have predicates.
    if domain.predicate.is_none()
        && let Some(inverse) = invert(b, domain, &contribution.coordinates, own)?
    {
        let value = gathered(b, contribution, &inverse)?;
        return Ok(match inverse.rdom {
            None => Summand::Pure(value),
            rdom => Summand::Update { args: own.to_vec(), value, rdom },
        });
    }
    scattered(b, contribution, given)
}

/// The adjoint at the point of the reader that reads a given point of the source.
fn gathered(b: &mut Builder, contribution: &Contribution, inverse: &Inverse) -> Result<ExprId, NoReduction> {
    let (mut inside, mut made) = (None, BTreeMap::new());
    for (v, var) in contribution.domain.vars.iter().enumerate() {
        let value = inverse.values[v];
        if !inverse.is_solved[v] || contribution.fades {
            made.insert(var.node, value);
            continue;
        }
        // Clamped, so that bounds inference sees that the guard holds; marked, so that steady states of loops lose it.
        let (first, last) = var.range.ends().ok_or(NoReduction::Unbounded(v))?;
        let (from, to) = (b.binary(BinOp::Ge, value, first), b.binary(BinOp::Le, value, last));
        let both = b.binary(BinOp::BitAnd, from, to);
        let likely = b.node(Kind::Likely(both), ScalarType::Bool);
        inside = b.and(inside, Some(likely));
        let value = b.node(Kind::Likely(value), ScalarType::I32);
        let from_first = b.binary(BinOp::Max, value, first);
        made.insert(var.node, b.binary(BinOp::Min, from_first, last));
    }
    let own = contribution.adjoint.guard.map(|guard| b.replaced(guard, &mut made));
    let value = b.replaced(contribution.adjoint.value, &mut made);
    let outer = b.and(inside, inverse.guard);
    let guard = b.and(outer, own);
    Ok(Adjoint { guard, value }.expr(b))
}

/// An update that adds the adjoint of each point of the reader to what the point reads. Points outside of a given
/// region are left out, so that data cannot ask for more.
fn scattered(
    b: &mut Builder,
    contribution: &Contribution,
    given: Option<&[(ExprId, ExprId)]>,
) -> Result<Summand, NoReduction> {
    let domain = &contribution.domain;
    let mut made = BTreeMap::new();
    let mut rdom = None;
    if !domain.vars.is_empty() {
        let (id, nodes) = reduction(b, &domain.vars.iter().collect::<Vec<_>>())?;
        made.extend(domain.vars.iter().zip(nodes).map(|(var, node)| (var.node, node)));
        b.data.rdoms[id].predicate = domain.predicate.map(|p| b.replaced(p, &mut made));
        rdom = Some(id);
    }
    let mut args: Vec<ExprId> = contribution.coordinates.iter().map(|&e| b.replaced(e, &mut made)).collect();
    let mut inside = None;
    for (e, &(first, last)) in args.iter_mut().zip(given.unwrap_or_default()) {
        let (from, to) = (b.binary(BinOp::Ge, *e, first), b.binary(BinOp::Le, *e, last));
        let both = b.and(Some(from), Some(to));
        inside = b.and(inside, both);
        let from_first = b.binary(BinOp::Max, *e, first);
        *e = b.binary(BinOp::Min, from_first, last);
    }
    let own = contribution.adjoint.guard.map(|guard| b.replaced(guard, &mut made));
    let value = b.replaced(contribution.adjoint.value, &mut made);
    let guard = b.and(inside, own);
    let value = Adjoint { guard, value }.expr(b);
    Ok(Summand::Update { args, value, rdom })
}
