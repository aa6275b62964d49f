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

use super::convert;
use super::diagnostics::{OrderReason, Problem};
use super::draft::{float_mode, said_monoid};
use super::facts::said_names;
use super::graph::Graph;
use super::monoid::{self, Law, Parts};
use super::rdomain::{Domain, Leaf};
use crate::schedule::{Amount, Directive, FloatMode, Schedule, Verb, closest, rfactor_name};
use halide_core::ids::{ExprId, FuncId, RDomId, VarId};
use halide_core::ops::BinOp;
use halide_core::pipeline::{FuncDef, Kind, RDomDef, RVarDef, StageDef};
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

/// Changes the graph, and adds to `spent` the directives that have been followed thereby.
pub(super) fn rfactor(
    request: &Request<'_>,
    graph: &mut Graph,
    func: FuncId,
    spent: &mut BTreeSet<usize>,
) -> Result<(), Problem> {
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
    let declared = said_monoid(request.schedule, subject);
    let fold = match declared {
        Some((identity, commutes)) => {
            let made = monoid::declared(graph.data(), func, &update, identity, commutes);
            Some(made.map_err(|why| Problem::NoMonoid { of: of.clone(), why })?)
        }
        None => monoid::fold(graph.data(), func, &update),
    };
    let Some((fold, parts)) = fold.and_then(|f| f.parts.clone().map(|p| (f, p))) else {
        return Err(Problem::NotAssociative { of });
    };
    let in_order = domain.are_outermost(&factored);
    let law = if in_order { fold.associative } else { fold.any_order };
    let relaxed = float_mode(request.schedule, subject, request.schedule.len()) == FloatMode::Relaxed;
    let why = match law {
        Law::Exactly => None,
        Law::ButForRounding if relaxed => None,
        Law::ButForRounding => Some(OrderReason::Floats),
        Law::No if declared.is_some() => Some(OrderReason::NotCommutative),
        Law::No => Some(OrderReason::InOrder),
    };
    if let Some(why) = why {
        return Err(Problem::OrderMatters { of, vars: request.rvars.to_vec(), why, conflict: None });
    }
    let name = rfactor_name(&subject.func, request.vars);
    if graph.data().funcs.iter().any(|f| f.name == name) {
        return Err(Problem::FuncTaken { name });
    }
    Factoring { func, stage, update, rdom, domain, factored, parts }.apply(graph, name, request.vars, directive);
    spent.extend(before);
    Ok(())
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
            Verb::Split { var, outer, inner, .. } if is_reduction(var) => taken(&[outer, inner], &[var]),
            Verb::Rename { from, to } if is_reduction(from) => taken(&[to], &[from]),
            Verb::Fuse { inner, outer, fused } => match (is_reduction(inner), is_reduction(outer)) {
                (true, true) => taken(&[fused], &[inner, outer]),
                (false, false) => continue,
                _ => Some(Problem::SaidBeforeRfactor { verb: verb.to_string() }),
            },
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

impl Graph {
    /// A new domain, named after `like`.
    fn add_rdom(&mut self, like: RDomId, dims: Vec<RVarDef>, predicate: Option<ExprId>) -> RDomId {
        let name = self.data().rdoms[like].name.clone();
        let taken = |name: &str| self.data().rdoms.iter().any(|r| r.name == name);
        let name = (1..).map(|n| format!("{name}${n}")).find(|n| !taken(n)).expect("some number is unused");
        self.push_rdom(RDomDef { name, dims, predicate })
    }
}
