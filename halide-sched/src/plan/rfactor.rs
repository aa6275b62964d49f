//! `rfactor`: does a reduction in parts, each for itself, and puts the parts together.
//!
//! An update `f[..] = op(f[..], e)` whose operation is associative becomes two Funcs. The *intermediate* one has the
//! dimensions of `f` and one more for each reduction variable that is factored out; it begins with the identity of
//! `op`, and its update folds `e` over the reduction variables that are left. The update of `f` then folds the parts:
//! over the factored variables, at every point of `f`.
//!
//! The loops over the update's reduction variables may be split, fused and renamed before, so that a part of one can be
//! factored out; those directives are spent here. Where a split does not divide, the intermediate update has a
//! condition.
//!
//! The intermediate Func of `f.update(k): rfactor(r, u)` is called `f.rfactor(u)`.
//!
//! An update that is a recurrence along `r` is a scan, which `scan` does in parts.

use super::convert;
use super::diagnostics::{OrderReason, Problem, ScanReason};
use super::draft::{float_mode, said_monoid};
use super::facts::said_names;
use super::graph::Graph;
use super::monoid::{self, Fold, Law, Parts};
use super::rdomain::{Domain, Leaf};
use super::recurrence::recurrence;
use super::scan::{self, Scan};
use crate::schedule::{
    Amount, Directive, FloatMode, Schedule, Tail, Verb, carry_name, closest, rfactor_name, total_name,
};
use halide_core::ids::{ExprId, FuncId, RDomId, VarId};
use halide_core::ops::BinOp;
use halide_core::pipeline::{FuncDef, Kind, RVarDef, StageDef};
use halide_core::types::ScalarType;
use halide_ir::target::Target;
use std::collections::{BTreeMap, BTreeSet};

/// One `rfactor` directive and what it is about.
pub(super) struct Request<'s> {
    pub(super) schedule: &'s Schedule,
    pub(super) target: &'s Target,
    /// The number of the directive.
    pub(super) number: usize,
    pub(super) rvars: &'s [String],
    pub(super) vars: &'s [String],
}

/// Changes the graph, and adds to `spent` the directives that have been followed thereby. Returns directives of the
/// update that it leaves without an update to speak of.
pub(super) fn rfactor(
    request: &Request<'_>,
    graph: &mut Graph,
    func: FuncId,
    spent: &mut BTreeSet<usize>,
) -> Result<Vec<usize>, Problem> {
    let directive = &request.schedule.directives()[request.number];
    let (subject, of) = (&directive.subject, request.schedule.subject_text(&directive.subject));
    if !subject.specializations.is_empty() {
        return Err(Problem::WholeStage { of });
    }
    let updates = graph.data().funcs[func].stages.len() - 1;
    let stage = subject.stage;
    if stage == 0 {
        return Err(Problem::RfactorOfPure { func: subject.func.clone() });
    }
    if stage > updates {
        return Err(Problem::UnknownUpdate { func: subject.func.clone(), updates });
    }
    let update = graph.data().funcs[func].stages[stage].clone();
    let Some(rdom) = update.rdom else { return Err(Problem::RfactorOfPure { func: of }) };
    let names = said_names(graph.data(), func, stage);
    let mut domain = Domain::new(&names);
    let before = shape(request, graph, func, &names.pure, &mut domain)?;
    let factored = choose(request, graph, func, &of, &domain)?;
    if let Some(recurrence) = recurrence(graph.data(), func, &update) {
        let made = Scan::new(graph, func, stage, recurrence).map_err(|why| Problem::NotAScan { of: of.clone(), why });
        in_chunks(request, graph, func, made?, &domain, &factored)?;
        spent.extend(before);
        return Ok(of_no_update(request, spent));
    }
    let declared = said_monoid(request.schedule, subject);
    let (fold, parts) = match folded(request, graph, func, &update)? {
        Some(found) => found,
        None => return Err(Problem::NotAssociative { of }),
    };
    let in_order = domain.are_outermost(&factored);
    let law = if in_order { fold.associative } else { fold.any_order };
    check_law(request, law, declared.is_some())?;
    let name = rfactor_name(&subject.func, request.vars);
    check_free(graph, &name)?;
    Factoring { func, stage, update, rdom, domain, factored, parts }.apply(graph, name, request.vars, directive);
    spent.extend(before);
    Ok(Vec::new())
}

/// The fold that an update is, as the schedule vouches or as it is known to be.
fn folded(
    request: &Request<'_>,
    graph: &Graph,
    func: FuncId,
    update: &StageDef,
) -> Result<Option<(Fold, Parts)>, Problem> {
    let subject = &request.schedule.directives()[request.number].subject;
    let fold = match said_monoid(request.schedule, subject) {
        Some((identity, commutes)) => {
            let made = monoid::declared(graph.data(), func, update, identity, commutes);
            let of = request.schedule.subject_text(subject);
            Some(made.map_err(|why| Problem::NoMonoid { of, why })?)
        }
        None => monoid::fold(graph.data(), func, update),
    };
    Ok(fold.and_then(|f| f.parts.clone().map(|p| (f, p))))
}

/// Checks that what a law says of parts is enough.
fn check_law(request: &Request<'_>, law: Law, declared: bool) -> Result<(), Problem> {
    let subject = &request.schedule.directives()[request.number].subject;
    let relaxed = float_mode(request.schedule, subject, request.schedule.len()) == FloatMode::Relaxed;
    let why = match law {
        Law::Exactly => return Ok(()),
        Law::ButForRounding if relaxed => return Ok(()),
        Law::ButForRounding => OrderReason::Floats,
        Law::No if declared => OrderReason::NotCommutative,
        Law::No => OrderReason::InOrder,
    };
    let (of, vars) = (request.schedule.subject_text(subject), request.rvars.to_vec());
    Err(Problem::OrderMatters { of, vars, why, conflict: None })
}

fn check_free(graph: &Graph, name: &str) -> Result<(), Problem> {
    match graph.data().funcs.iter().any(|f| f.name == name) {
        true => Err(Problem::FuncTaken { name: name.to_string() }),
        false => Ok(()),
    }
}

/// Does a scan in chunks of the variable that is factored out.
fn in_chunks(
    request: &Request<'_>,
    graph: &mut Graph,
    func: FuncId,
    scan: Scan,
    domain: &Domain,
    factored: &[usize],
) -> Result<(), Problem> {
    let directive = &request.schedule.directives()[request.number];
    let of = request.schedule.subject_text(&directive.subject);
    let not = |why: ScanReason| Problem::NotAScan { of: of.clone(), why };
    let along = || {
        not(ScanReason::Chunks(said_names(graph.data(), func, directive.subject.stage).reduction[scan.rvar()].clone()))
    };
    let [leaf] = factored[..] else { return Err(along()) };
    let chunks = domain.chunks(leaf).filter(|c| c.root == scan.rvar()).ok_or_else(along)?;
    let declared = said_monoid(request.schedule, &directive.subject).is_some();
    let found = folded(request, graph, func, scan.step())?.ok_or_else(|| not(ScanReason::Operation))?;
    let (fold, parts) = found;
    check_law(request, fold.associative, declared)?;
    if !parts.neutral {
        return Err(not(ScanReason::Identity));
    }
    let var = &request.vars[0];
    let subject = &directive.subject.func;
    let name = rfactor_name(subject, request.vars);
    for name in [&name, &total_name(subject, var), &carry_name(subject, var)] {
        check_free(graph, name)?;
    }
    let at = directive.at.unwrap_or(scan.step().at);
    scan::in_chunks(&scan, graph, &parts, &chunks, (&name, var), at);
    Ok(())
}

/// The other directives of updates that are left no more: those of how the scan computes are spent, others are
/// returned.
fn of_no_update(request: &Request<'_>, spent: &mut BTreeSet<usize>) -> Vec<usize> {
    let all = request.schedule.directives();
    let mine = &all[request.number].subject;
    let same = |d: &Directive| d.subject.func == mine.func && d.subject.stage > 0;
    let mut left: Vec<usize> = (0..all.len()).filter(|n| same(&all[*n]) && !spent.contains(n)).collect();
    spent.extend(&left);
    left.retain(|n| *n != request.number && !matches!(all[*n].verb, Verb::Float(_) | Verb::Monoid { .. }));
    left
}

/// Follows the directives before this one that shape the reduction loops; gives their numbers.
fn shape(
    request: &Request<'_>,
    graph: &mut Graph,
    func: FuncId,
    pure: &[String],
    domain: &mut Domain,
) -> Result<Vec<usize>, Problem> {
    let mine = &request.schedule.directives()[request.number].subject;
    let same = |d: &&(usize, &Directive)| d.1.subject == *mine;
    let before: Vec<(usize, &Directive)> =
        request.schedule.directives()[..request.number].iter().enumerate().filter(|d| same(&d)).collect();
    let start = before.iter().rposition(|(_, d)| matches!(d.verb, Verb::Rfactor { .. })).map_or(0, |p| p + 1);
    let mut spent = Vec::new();
    for &(number, directive) in &before[start..] {
        let verb = &directive.verb;
        let is_reduction = |name: &String| domain.leaf(name).is_some();
        let taken = |new: &[&String], given_up: &[&String]| {
            let known = |n: &String| pure.contains(n) || domain.leaf(n).is_some();
            let bad = new.iter().find(|n| known(n) && !given_up.contains(n));
            bad.map(|n| Problem::NameTaken { of: request.schedule.subject_text(mine), name: (*n).clone() })
        };
        let problem = match verb {
            Verb::Split { var, tail: Tail::Balanced, .. } if is_reduction(var) => {
                Some(Problem::SaidBeforeRfactor { verb: verb.to_string() })
            }
            Verb::Split { var, outer, inner, .. } if is_reduction(var) => taken(&[outer, inner], &[var]),
            Verb::Rename { from, to } if is_reduction(from) => taken(&[to], &[from]),
            Verb::Fuse { inner, outer, fused } => match (is_reduction(inner), is_reduction(outer)) {
                (true, true) => taken(&[fused], &[inner, outer]),
                (false, false) => continue,
                _ => Some(Problem::SaidBeforeRfactor { verb: verb.to_string() }),
            },
            Verb::Skew { var, along, .. } if is_reduction(var) || is_reduction(along) => {
                Some(Problem::SaidBeforeRfactor { verb: verb.to_string() })
            }
            Verb::Use { axes, .. } if axes.iter().any(|(_, var)| is_reduction(var)) => {
                Some(Problem::SaidBeforeRfactor { verb: verb.to_string() })
            }
            Verb::Reorder(vars) if vars.iter().any(is_reduction) => {
                Some(Problem::SaidBeforeRfactor { verb: verb.to_string() })
            }
            Verb::Mark { var, .. } | Verb::Partition { var, .. } if is_reduction(var) => {
                Some(Problem::SaidBeforeRfactor { verb: verb.to_string() })
            }
            _ => continue,
        };
        if let Some(problem) = problem {
            return Err(problem);
        }
        match verb {
            Verb::Split { var, outer, inner, factor, .. } => {
                domain.split(var, outer, inner, constant_factor(request, graph, func, factor)?);
            }
            Verb::Fuse { inner, outer, .. } if inner == outer => {
                return Err(Problem::FuseWithItself { name: inner.clone() });
            }
            Verb::Fuse { inner, outer, fused } => {
                let are_neighbours = domain.fuse(inner, outer, fused).then_some(());
                are_neighbours.ok_or_else(|| Problem::SaidBeforeRfactor { verb: verb.to_string() })?;
            }
            Verb::Rename { from, to } => domain.rename(from, to),
            _ => {}
        }
        spent.push(number);
    }
    Ok(spent)
}

/// A factor that the algorithm can be written with.
fn constant_factor(request: &Request<'_>, graph: &Graph, func: FuncId, factor: &Amount) -> Result<i64, Problem> {
    if let Amount::Param(name) = factor {
        return Err(Problem::FactorBeforeRfactor { name: name.clone() });
    }
    let types = &graph.data().funcs[func].types;
    let natural = types.iter().map(|t| request.target.natural_lanes(*t)).min();
    let value = match factor {
        Amount::Const(value) => *value,
        _ => natural.unwrap_or(1),
    };
    convert::in_range("factor", 1, value)
}

/// The leaves that are factored out, in the order of the directive.
fn choose(
    request: &Request<'_>,
    graph: &Graph,
    func: FuncId,
    of: &str,
    domain: &Domain,
) -> Result<Vec<usize>, Problem> {
    let (rvars, vars) = (request.rvars, request.vars);
    if rvars.is_empty() || rvars.len() != vars.len() {
        return Err(Problem::RfactorLists { rvars: rvars.len(), vars: vars.len() });
    }
    let mut factored = Vec::new();
    for name in rvars {
        let Some(leaf) = domain.leaf(name) else {
            let loops: Vec<String> = domain.names().iter().rev().map(|n| n.to_string()).collect();
            let near = closest(name, loops.iter().map(String::as_str)).map(str::to_string);
            return Err(Problem::NotReduction { of: of.to_string(), name: name.clone(), loops, near });
        };
        if factored.contains(&leaf) {
            return Err(Problem::Repeated { name: name.clone() });
        }
        factored.push(leaf);
    }
    let data = graph.data();
    for (i, name) in vars.iter().enumerate() {
        if name.is_empty() {
            return Err(Problem::EmptyName);
        }
        if vars[..i].contains(name) {
            return Err(Problem::Repeated { name: name.clone() });
        }
        let is_dim = data.funcs[func].args.iter().any(|&v| data.vars[v] == *name);
        let stays = domain.leaf(name).is_some_and(|l| !factored.contains(&l));
        if is_dim || stays {
            return Err(Problem::NameTaken { of: of.to_string(), name: name.clone() });
        }
    }
    if factored.len() == domain.names().len() {
        return Err(Problem::RfactorAll { of: of.to_string() });
    }
    Ok(factored)
}

/// Everything that has been checked.
struct Factoring {
    func: FuncId,
    stage: usize,
    update: StageDef,
    rdom: RDomId,
    domain: Domain,
    factored: Vec<usize>,
    parts: Parts,
}

impl Factoring {
    fn apply(self, graph: &mut Graph, name: String, vars: &[String], directive: &Directive) {
        let at = directive.at.unwrap_or(self.update.at);
        let def = graph.data().funcs[self.func].clone();
        let leaves = self.domain.leaves(graph, self.rdom);
        let new_vars: Vec<VarId> = vars.iter().map(|v| graph.var(v)).collect();
        let var = |graph: &mut Graph, v: VarId| graph.node(Kind::Var(v), ScalarType::I32);
        let own: Vec<ExprId> = def.args.iter().map(|&v| var(graph, v)).collect();
        let more: Vec<ExprId> = new_vars.iter().map(|&v| var(graph, v)).collect();
        // The intermediate Func.
        let first = StageDef {
            args: own.iter().chain(&more).copied().collect(),
            values: self.parts.identity.iter().map(|c| graph.node(Kind::Const(*c), c.ty())).collect(),
            rdom: None,
            at,
        };
        let intermediate = graph.next_func();
        let partial = self.partial(graph, intermediate, &leaves, &more);
        let args = def.args.iter().chain(&new_vars).copied().collect();
        let stages = vec![first, partial];
        graph.add_ahead(
            self.func,
            FuncDef { said: name.clone(), name, args, types: def.types.clone(), stages, at: def.at },
        );
        // What is left of the update.
        let kept: Vec<usize> = (0..leaves.len()).filter(|l| self.factored.contains(l)).collect();
        let parts_domain = graph.add_rdom(self.rdom, rvars(&leaves, &kept), None);
        let place = |leaf: &usize| kept.iter().position(|k| k == leaf).expect("every factored leaf is kept") as u8;
        let mut coordinates = own.clone();
        for leaf in &self.factored {
            let kind = Kind::RVar { rdom: parts_domain, dim: place(leaf) };
            coordinates.push(graph.node(kind, ScalarType::I32));
        }
        let mut read = |func: FuncId, args: &[ExprId]| -> Vec<(ExprId, ScalarType)> {
            let call = |(i, &ty): (usize, &ScalarType)| {
                let kind = Kind::Call { func, element: i as u8, args: args.to_vec() };
                (graph.node(kind, ty), ty)
            };
            def.types.iter().enumerate().map(call).collect()
        };
        let (olds, news) = (read(self.func, &own), read(intermediate, &coordinates));
        let merged = self.parts.merge.iter().map(|t| t.build(&olds, &news, &mut |k, ty| graph.node(k, ty)).0);
        let values = merged.collect();
        let update = StageDef { args: own, values, rdom: Some(parts_domain), at: self.update.at };
        graph.replace((self.func, self.stage), update);
    }

    /// The update of the intermediate Func.
    fn partial(&self, graph: &mut Graph, intermediate: FuncId, leaves: &[Leaf], more: &[ExprId]) -> StageDef {
        let left: Vec<usize> = (0..leaves.len()).filter(|l| !self.factored.contains(l)).collect();
        let rdom = graph.add_rdom(self.rdom, rvars(leaves, &left), None);
        let mut values = vec![None; leaves.len()];
        for (&leaf, &e) in self.factored.iter().zip(more) {
            values[leaf] = Some(e);
        }
        for (dim, &leaf) in left.iter().enumerate() {
            values[leaf] = Some(graph.node(Kind::RVar { rdom, dim: dim as u8 }, ScalarType::I32));
        }
        let values: Vec<ExprId> = values.into_iter().flatten().collect();
        let (roots, mut guard) = self.domain.roots(graph, self.rdom, &values);
        let mut made = BTreeMap::new();
        let args: Vec<ExprId> =
            self.update.args.iter().map(|&e| graph.with_rvars(e, self.rdom, &roots, &mut made)).collect();
        if let Some(predicate) = graph.data().rdoms[self.rdom].predicate {
            let own = graph.with_rvars(predicate, self.rdom, &roots, &mut made);
            guard = Some(match guard {
                Some(guard) => graph.node(Kind::Binary(BinOp::BitAnd, guard, own), ScalarType::Bool),
                None => own,
            });
        }
        graph.set_predicate(rdom, guard);
        let place: Vec<ExprId> = args.iter().chain(more).copied().collect();
        for (element, &value) in self.update.values.iter().enumerate() {
            let ty = graph.data().exprs[value].ty;
            let old = Kind::Call { func: self.func, element: element as u8, args: self.update.args.clone() };
            let new = Kind::Call { func: intermediate, element: element as u8, args: place.clone() };
            let (old, new) = (graph.node(old, ty), graph.node(new, ty));
            made.insert(old, new);
        }
        let values = self.update.values.iter().map(|&e| graph.with_rvars(e, self.rdom, &roots, &mut made)).collect();
        StageDef { args: place, values, rdom: Some(rdom), at: self.update.at }
    }
}

/// The chosen leaves as dimensions of a domain.
fn rvars(leaves: &[Leaf], chosen: &[usize]) -> Vec<RVarDef> {
    let dim = |&l: &usize| {
        let Leaf { name, min, extent } = &leaves[l];
        RVarDef { name: name.clone(), said: name.clone(), min: *min, extent: *extent }
    };
    chosen.iter().map(dim).collect()
}
