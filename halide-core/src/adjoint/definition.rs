//! One definition of a Func: from the gradients by what it stores to what each of its reads adds to other gradients.

use super::activity::Target;
use super::assemble::Contribution;
use super::builder::Builder;
use super::domain::{Domain, LoopVar, Range};
use super::error::AdjointErrorKind;
use super::scan::{self, Lost, Scan};
use super::sweep::{Adjoint, NotSmooth, sweep};
use super::walk::Walk;
use crate::ids::{ExprId, FuncId};
use crate::ops::{BinOp, UnOp};
use crate::pipeline::{Kind, StageDef};
use crate::types::ScalarType;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

impl Walk {
    /// Finds what one definition reads, given the gradients by the Func's elements; that of the loss is 1. Elements
    /// that are `lost` later have none.
    pub(super) fn stage(
        &mut self,
        func: FuncId,
        number: usize,
        region: &mut [Range],
        gradients: &BTreeMap<u8, Option<FuncId>>,
        lost: &mut Vec<Lost>,
    ) {
        let def = &self.b.data.funcs[func];
        let (name, stage, is_last) = (def.name.clone(), def.stages[number].clone(), number + 1 == def.stages.len());
        if self.has_sites(&stage) {
            return self.refuse(stage.at, AdjointErrorKind::Sites { func: name });
        }
        let seeds = self.seeds(func, &stage, gradients, lost);
        let roots: Vec<_> = seeds.iter().map(|(&e, &seed)| (stage.values[usize::from(e)], seed)).collect();
        let mut leaves = match sweep(&mut self.b, &self.activity, &roots) {
            Ok(leaves) => leaves,
            Err(NotSmooth(e)) => {
                let operation = operation(&self.b.data.exprs[e].kind);
                return self.refuse(stage.at, AdjointErrorKind::NotSmooth { func: name, operation });
            }
        };
        let mut domain = self.domain(func, &stage, number, region);
        if number > 0 && !is_sum(&self.b, func, &stage, &domain, &seeds, &leaves) {
            let Some(scan) = self.scan(func, &stage, &domain, &seeds, &leaves, is_last) else {
                return self.refuse(stage.at, AdjointErrorKind::NotASum { func: name, update: number });
            };
            if let Some(carried) = scan.carried
                && let Some(gradient) = gradients.values().copied().flatten().next()
            {
                carried.widen(&mut self.b, &stage, &domain, region);
                domain = self.domain(func, &stage, number, region);
                carried.reverse(&mut self.b, gradient, &stage, &domain);
            }
            if scan.overwrites {
                lost.push(scan::lost(&mut self.b, &stage, &domain));
            }
        }
        leaves.retain(|(e, _)| !matches!(self.b.data.exprs[*e].kind, Kind::Call { func: of, .. } if of == func));
        let domain = Rc::new(domain);
        let may_fade = number == 0 && func != self.request.loss && !self.request.regions.contains_key(&func);
        for (e, adjoint) in leaves {
            let node = self.b.data.exprs[e].kind.clone();
            let Some(target) = Target::of(&node) else { continue };
            let coordinates = match node {
                Kind::Call { args, .. } | Kind::Image { args, .. } => args,
                _ => Vec::new(),
            };
            let fades = may_fade && fades(&self.b, adjoint, &seeds);
            let (domain, at) = (domain.clone(), stage.at);
            let contribution = Contribution { domain, coordinates, adjoint, fades, func, at };
            self.contributions.entry(target).or_default().push(contribution);
        }
    }

    /// An update that stores its elements anew; `None` if it does something else. A recurrence must be the last one.
    fn scan(
        &self,
        func: FuncId,
        stage: &StageDef,
        domain: &Domain,
        seeds: &BTreeMap<u8, Adjoint>,
        leaves: &[(ExprId, Adjoint)],
        is_last: bool,
    ) -> Option<Scan> {
        let [seed] = seeds.values().copied().collect::<Vec<_>>()[..] else { return None };
        let scan = scan::scan(&self.b, func, stage, domain, seed, leaves)?;
        let read = scan.carried.as_ref().map(|carried| &carried.read);
        let may_carry = read.is_none() || (is_last && func != self.request.loss);
        (may_carry && reads_only(&self.b, func, domain, leaves, read)).then_some(scan)
    }

    /// The adjoints of the values that a definition stores.
    fn seeds(
        &mut self,
        func: FuncId,
        stage: &StageDef,
        gradients: &BTreeMap<u8, Option<FuncId>>,
        lost: &[Lost],
    ) -> BTreeMap<u8, Adjoint> {
        let mut is_lost: Option<ExprId> = None;
        for ranges in lost {
            let mut inside = None;
            for &(dim, first, last) in ranges {
                let from = self.b.binary(BinOp::Ge, stage.args[dim], first);
                let to = self.b.binary(BinOp::Le, stage.args[dim], last);
                let both = self.b.and(Some(from), Some(to));
                inside = self.b.and(inside, both);
            }
            is_lost = match (is_lost, inside) {
                (Some(p), Some(q)) => Some(self.b.binary(BinOp::BitOr, p, q)),
                (p, q) => p.or(q),
            };
        }
        let guard = is_lost.map(|lost| self.b.unary(UnOp::Not, lost));
        let mut seeds = BTreeMap::new();
        for (&element, gradient) in gradients {
            let ty = self.b.data.funcs[func].types[usize::from(element)];
            let value = match gradient {
                Some(gradient) => self.b.call(*gradient, 0, stage.args.clone()),
                None => self.b.float(ty, 1.0),
            };
            seeds.insert(element, Adjoint { guard, value });
        }
        seeds
    }

    fn has_sites(&self, stage: &StageDef) -> bool {
        let roots: Vec<ExprId> = stage.args.iter().chain(&stage.values).copied().collect();
        let nodes = self.b.data.reachable(&roots);
        nodes.iter().any(|&e| matches!(self.b.data.exprs[e].kind, Kind::Sites(_)))
    }

    /// The points at which a definition is computed.
    fn domain(&mut self, func: FuncId, stage: &StageDef, number: usize, region: &[Range]) -> Domain {
        let args = self.b.data.funcs[func].args.clone();
        let nodes = self.b.coordinates(&args);
        let mut vars = Vec::new();
        for (dim, &node) in nodes.iter().enumerate().filter(|(dim, node)| number == 0 || stage.args[*dim] == **node) {
            let own_name = self.b.data.vars[args[dim]].clone();
            let name = format!("r.{own_name}");
            vars.push(LoopVar { node, name, own_name, range: region[dim], is_pure: true });
        }
        let Some(rdom) = stage.rdom else { return Domain { vars, predicate: None } };
        let def = self.b.data.rdoms[rdom].clone();
        for (dim, rvar) in def.dims.into_iter().enumerate() {
            let node = self.b.node(Kind::RVar { rdom, dim: dim as u8 }, ScalarType::I32);
            let end = self.b.add(rvar.min, rvar.extent);
            let range = Range::new(rvar.min, self.b.offset(end, -1));
            let (name, own_name) = (rvar.said.clone(), rvar.said);
            vars.push(LoopVar { node, name, own_name, range, is_pure: false });
        }
        Domain { vars, predicate: def.predicate }
    }
}

/// Returns true if an update adds to each element that it stores, and reads no other one of its Func.
fn is_sum(
    b: &Builder,
    func: FuncId,
    stage: &StageDef,
    domain: &Domain,
    seeds: &BTreeMap<u8, Adjoint>,
    leaves: &[(ExprId, Adjoint)],
) -> bool {
    let mut added = BTreeSet::new();
    let is_sum = leaves.iter().all(|(e, adjoint)| match &b.data.exprs[*e].kind {
        Kind::Call { func: of, element, args } if *of == func => {
            *args == stage.args && seeds.get(element) == Some(adjoint) && added.insert(*element)
        }
        _ => true,
    });
    is_sum && added.len() == seeds.len() && reads_only(b, func, domain, leaves, None)
}

/// Returns true if the coordinates, conditions and factors of what an update reads use no element of its own Func, but
/// for the one at `read`: others may be stored anew later.
fn reads_only(
    b: &Builder,
    func: FuncId,
    domain: &Domain,
    leaves: &[(ExprId, Adjoint)],
    read: Option<&Vec<ExprId>>,
) -> bool {
    let mut roots: Vec<ExprId> = domain.predicate.into_iter().collect();
    for (e, adjoint) in leaves {
        roots.push(adjoint.value);
        roots.extend(adjoint.guard);
        match &b.data.exprs[*e].kind {
            Kind::Call { args, .. } | Kind::Image { args, .. } => roots.extend(args),
            _ => {}
        }
    }
    b.data.reachable(&roots).into_iter().all(|e| match &b.data.exprs[e].kind {
        Kind::Call { func: of, args, .. } => *of != func || Some(args) == read,
        _ => true,
    })
}

/// Returns true if an adjoint is zero wherever the gradients `seeds` are, which are zero outside of the Func's region:
/// it is made of them and of what is finite and reads nothing.
fn fades(b: &Builder, adjoint: Adjoint, seeds: &BTreeMap<u8, Adjoint>) -> bool {
    let is_seed = |e: ExprId| seeds.values().any(|seed| seed.value == e);
    let roots: Vec<ExprId> = [adjoint.value].into_iter().chain(adjoint.guard).collect();
    b.data.reachable(&roots).into_iter().all(|e| match &b.data.exprs[e].kind {
        Kind::Call { .. } => is_seed(e),
        Kind::Image { .. } => false,
        // Conditions and coordinates are finite.
        _ if !b.ty(e).is_float() => true,
        Kind::Const(value) => value.as_f64().is_finite(),
        Kind::Unary(UnOp::Neg, _) | Kind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, ..) => true,
        Kind::Select(..) | Kind::Strict(_) | Kind::Likely(_) => true,
        Kind::Cast(a) => b.ty(*a).is_float(),
        _ => false,
    })
}

/// The name of an operation without a derivative.
fn operation(kind: &Kind) -> &'static str {
    match kind {
        Kind::Reinterpret(_) => "reinterpret",
        Kind::Cast(_) | Kind::SaturatingCast(_) => "cast",
        _ => "this operation",
    }
}
