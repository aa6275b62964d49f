//! Updates that store elements anew, among them recurrences along one reduction variable.
//!
//! Where `y[r] = e` stores, values that were there before are lost, and have no derivative.
//!
//! `y[r] = y[r - 1] * c + e` stores every element once, from those before. So the derivative by an element is what the
//! loss and the element behind it say: `d_y[r - 1] += d_y[r] * c`, over `r` from the last to the first. When that is
//! done, `d_y[r]` is the derivative by each value stored.

use super::builder::Builder;
use super::domain::{Domain, LoopVar, Range, is_closed, reduction};
use super::linear::Linear;
use super::sweep::Adjoint;
use crate::ids::{ExprId, FuncId};
use crate::ops::BinOp;
use crate::pipeline::{Kind, StageDef};
use std::collections::{BTreeMap, BTreeSet};

/// The ranges of dimensions within which all elements are stored anew; the other dimensions are so everywhere.
pub(super) type Lost = Vec<(usize, ExprId, ExprId)>;

/// An update that stores each of its elements once.
pub(super) struct Scan {
    /// The element that it reads, if it is a recurrence.
    pub(super) carried: Option<Carried>,
    /// True if values that were there before are lost.
    pub(super) overwrites: bool,
}

/// An element that a recurrence has stored before and reads.
pub(super) struct Carried {
    /// Its coordinates.
    pub(super) read: Vec<ExprId>,
    /// The derivative of the loss by it, as far as it is read here.
    adjoint: Adjoint,
    /// The position in the domain of the variable that the recurrence runs along.
    along: usize,
}

/// Recognizes an update without predicate whose coordinates are variables of the Func, variables of its domain, each
/// once, and constants. It reads the element that it stores not at all or to add to it, and at most one other of its
/// Func: some constant number of steps back along one variable.
pub(super) fn scan(
    b: &Builder,
    func: FuncId,
    stage: &StageDef,
    domain: &Domain,
    seed: Adjoint,
    leaves: &[(ExprId, Adjoint)],
) -> Option<Scan> {
    let own_reads = leaves.iter().filter_map(|(e, adjoint)| match &b.data.exprs[*e].kind {
        Kind::Call { func: of, args, .. } if *of == func => Some((args, *adjoint)),
        _ => None,
    });
    let (old, other): (Vec<_>, Vec<_>) = own_reads.partition(|(args, _)| **args == stage.args);
    let overwrites = match old[..] {
        [] => true,
        [(_, adjoint)] if adjoint == seed => false,
        _ => return None,
    };
    if domain.predicate.is_some() || !stores_once(b, stage, domain) {
        return None;
    }
    let carried = match other[..] {
        [] if overwrites => None,
        [(read, adjoint)] => Some(Carried { read: read.clone(), adjoint, along: along(b, stage, domain, read)? }),
        _ => return None,
    };
    Some(Scan { carried, overwrites })
}

/// Returns true if an update stores to each element of a box once.
fn stores_once(b: &Builder, stage: &StageDef, domain: &Domain) -> bool {
    let mut used = BTreeSet::new();
    let is_part = |&e: &ExprId| {
        let at = Linear::new(b, domain, e);
        let is_plain = at.rest.iter().all(|(e, _)| is_closed(&b.data, *e));
        is_plain
            && match at.terms[..] {
                [] => true,
                [(var, 1 | -1)] => used.insert(var) && (!domain.vars[var].is_pure || domain.vars[var].node == e),
                _ => false,
            }
    };
    stage.args.iter().all(is_part) && used.len() == domain.vars.len()
}

/// The variable along which an element is read that was stored before; `None` if it was not.
fn along(b: &Builder, stage: &StageDef, domain: &Domain, read: &[ExprId]) -> Option<usize> {
    let mut along = None;
    for (&store, &load) in stage.args.iter().zip(read).filter(|(store, load)| store != load) {
        let (at, from) = (Linear::new(b, domain, store), Linear::new(b, domain, load));
        let [(var, factor)] = at.terms[..] else { return None };
        let (mut p, mut q) = (at.rest.clone(), from.rest.clone());
        p.sort();
        q.sort();
        let back = at.constant.checked_sub(from.constant)? * factor;
        if at.terms != from.terms || p != q || back <= 0 || domain.vars[var].is_pure || along.is_some() {
            return None;
        }
        along = Some(var);
    }
    along
}

impl Carried {
    /// Appends the recurrence the other way to the gradient's definitions.
    pub(super) fn reverse(&self, b: &mut Builder, gradient: FuncId, stage: &StageDef, domain: &Domain) {
        let vars: Vec<&LoopVar> = domain.vars.iter().filter(|v| !v.is_pure).collect();
        let Ok((rdom, nodes)) = reduction(b, &vars) else { return };
        let mut made = BTreeMap::new();
        for (var, node) in vars.iter().zip(nodes) {
            let is_along = var.node == domain.vars[self.along].node;
            let turned = match var.range.ends() {
                Some((first, last)) if is_along => {
                    let sum = b.add(first, last);
                    b.sub(sum, node)
                }
                _ => node,
            };
            made.insert(var.node, turned);
        }
        let carried = self.adjoint.expr(b);
        let value = b.replaced(carried, &mut made);
        let args: Vec<ExprId> = self.read.iter().map(|&e| b.replaced(e, &mut made)).collect();
        let old = b.call(gradient, 0, args.clone());
        let values = vec![b.binary(BinOp::Add, old, value)];
        b.data.funcs[gradient].stages.push(StageDef { args, values, rdom: Some(rdom), at: stage.at });
    }

    /// Widens the region by the elements that the recurrence stores and reads.
    pub(super) fn widen(&self, b: &mut Builder, stage: &StageDef, domain: &Domain, region: &mut [Range]) {
        for (dim, range) in region.iter_mut().enumerate() {
            for e in [stage.args[dim], self.read[dim]].into_iter().filter(|&e| !is_own(domain, e)) {
                let more = domain.range(b, e);
                *range = range.union(more, b);
            }
        }
    }
}

/// Returns true if a coordinate is a variable of the Func.
fn is_own(domain: &Domain, e: ExprId) -> bool {
    domain.vars.iter().any(|v| v.is_pure && v.node == e)
}

/// The elements that an update stores anew.
pub(super) fn lost(b: &mut Builder, stage: &StageDef, domain: &Domain) -> Lost {
    let mut lost = Vec::new();
    for (dim, &e) in stage.args.iter().enumerate().filter(|(_, e)| !is_own(domain, **e)) {
        if let Some((first, last)) = domain.range(b, e).ends() {
            lost.push((dim, first, last));
        }
    }
    lost
}
