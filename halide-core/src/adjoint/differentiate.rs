//! The walk over the Funcs of a pipeline, from the loss back to the inputs.

use super::FuncRegion;
use super::activity::{Activity, Target};
use super::assemble::{Contribution, Gradient, assemble};
use super::builder::Builder;
use super::domain::{Domain, LoopVar, NoReduction, Range};
use super::error::{AdjointError, AdjointErrorKind, AdjointErrors};
use super::request::Request;
use super::sweep::{Adjoint, NotSmooth, sweep};
use crate::compact::compact;
use crate::ids::{ExprId, FuncId};
use crate::location::Location;
use crate::ops::{BinOp, UnOp};
use crate::pipeline::{Kind, Pipeline, PipelineData, StageDef};
use crate::shape::rules::BufferOf;
use crate::types::ScalarType;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The pipeline of the derivatives of `loss` by the inputs `by`.
pub(super) fn adjoints(
    pipeline: &Pipeline,
    loss: &str,
    by: &[&str],
    regions: &[FuncRegion<'_>],
    at: Location,
) -> Result<Pipeline, AdjointErrors> {
    let request = Request::new(pipeline, loss, by, regions, at)?;
    let activity = Activity::new(pipeline, request.by.iter().copied());
    let builder = Builder::new(PipelineData::clone(pipeline));
    let (contributions, errors) = (BTreeMap::new(), BTreeSet::new());
    let mut walk = Walk { b: builder, activity, request, contributions, errors };
    for &func in pipeline.order.iter().rev() {
        walk.differentiate(func);
    }
    let outputs: Vec<FuncId> = walk.request.by.clone().into_iter().filter_map(|input| walk.output(input, at)).collect();
    if walk.errors.is_empty() {
        finish(walk.b.data, outputs)
    } else {
        Err(AdjointErrors(walk.errors.into_iter().collect()))
    }
}

/// The tables with other outputs, without what these do not need.
fn finish(mut data: PipelineData, outputs: Vec<FuncId>) -> Result<Pipeline, AdjointErrors> {
    let is_image = |of: BufferOf| matches!(of, BufferOf::Image(_));
    data.shapes.retain(|rule| is_image(rule.of));
    data.alignments.retain(|rule| is_image(rule.of));
    data.estimates.retain(|estimate| is_image(estimate.of));
    data.outputs = outputs;
    let compacted = compact(&data, None);
    let mut errors = BTreeSet::new();
    for stage in &data.externs {
        let results = stage.images.iter().flatten().map(|&image| &data.images[image].name);
        if results.clone().any(|name| compacted.images.iter().any(|image| image.name == *name)) {
            let kind = AdjointErrorKind::Extern { stage: stage.name.clone() };
            errors.insert(AdjointError { at: stage.at, kind });
        }
    }
    for def in compacted.funcs.iter() {
        let first = &def.stages[0];
        let nodes = compacted.reachable(&first.values);
        if nodes.iter().any(|&e| matches!(compacted.exprs[e].kind, Kind::Before { .. })) {
            errors.insert(AdjointError { at: first.at, kind: AdjointErrorKind::Undef { func: def.name.clone() } });
        }
    }
    if errors.is_empty() {
        Ok(Pipeline::from_data(compacted))
    } else {
        Err(AdjointErrors(errors.into_iter().collect()))
    }
}

struct Walk {
    b: Builder,
    activity: Activity,
    request: Request,
    /// The reads met so far whose gradients are not summed up yet.
    contributions: BTreeMap<Target, Vec<Contribution>>,
    errors: BTreeSet<AdjointError>,
}

impl Walk {
    fn refuse(&mut self, at: Location, kind: AdjointErrorKind) {
        self.errors.insert(AdjointError { at, kind });
    }

    /// Makes the gradients by the elements of a Func, all of whose readers are done, and finds what its definitions
    /// read.
    fn differentiate(&mut self, func: FuncId) {
        let def = self.b.data.funcs[func].clone();
        let elements = (0..def.types.len()).map(|e| Target::Func(func, e as u8));
        let is_loss = func == self.request.loss;
        let live = |t: &Target| self.activity.contains(*t) && (is_loss || self.contributions.contains_key(t));
        let live: Vec<Target> = elements.filter(live).collect();
        if live.is_empty() {
            return;
        }
        let region = self.region(func, &live);
        let mut gradients: BTreeMap<u8, Option<FuncId>> = BTreeMap::new();
        for &target in &live {
            let Target::Func(_, element) = target else { continue };
            let gradient = match is_loss {
                true => Some(None),
                false => self.gradient(target, def.at).map(Some),
            };
            let Some(gradient) = gradient else { return };
            gradients.insert(element, gradient);
        }
        for number in 0..def.stages.len() {
            self.stage(func, number, &region, &gradients);
        }
    }

    /// The box of the points of a Func that the loss reads.
    fn region(&mut self, func: FuncId, live: &[Target]) -> Vec<Range> {
        let dims = self.b.data.funcs[func].dims();
        if let Some(given) = self.request.regions.get(&func) {
            let ends = |&(min, extent): &(i32, i32)| (i64::from(min), i64::from(min) + i64::from(extent) - 1);
            let ends: Vec<(i64, i64)> = given.iter().map(ends).collect();
            return ends.into_iter().map(|(first, last)| Range::new(self.b.int(first), self.b.int(last))).collect();
        }
        let mut region: Vec<Option<Range>> = vec![None; dims];
        for target in live {
            for contribution in self.contributions.get(target).into_iter().flatten() {
                for (range, &e) in region.iter_mut().zip(&contribution.coordinates) {
                    let more = contribution.domain.range(&mut self.b, e);
                    *range = Some(range.map_or(more, |known| known.union(more, &mut self.b)));
                }
            }
        }
        region.into_iter().map(|range| range.unwrap_or(Range::UNBOUNDED)).collect()
    }

    /// Sums up the gradient by `target`; `None` if that is refused.
    fn gradient(&mut self, target: Target, at: Location) -> Option<FuncId> {
        let contributions = self.contributions.remove(&target).unwrap_or_default();
        let data = &self.b.data;
        let (read, args, ty) = match target {
            Target::Func(func, element) => {
                let def = &data.funcs[func];
                let several = def.types.len() > 1;
                let name = if several { format!("{}_{element}", def.name) } else { def.name.clone() };
                (name, def.args.clone(), def.types[usize::from(element)])
            }
            Target::Image(image) => {
                let def = data.images[image].clone();
                let names = ["x", "y", "z", "w", "v4", "v5", "v6", "v7"];
                let args = names.iter().take(def.dims).map(|name| self.b.var(name)).collect();
                (def.name, args, def.ty)
            }
            Target::Param(param) => (data.params[param].name.clone(), Vec::new(), data.params[param].ty),
        };
        let name = self.b.unused_name(&format!("d_{read}"));
        match assemble(&mut self.b, Gradient { name, args, ty, at }, &contributions) {
            Ok(func) => Some(func),
            Err((number, why)) => {
                let Contribution { domain, func, at, .. } = &contributions[number];
                let func = self.b.data.funcs[*func].name.clone();
                let kind = match why {
                    NoReduction::TooMany(dims) => AdjointErrorKind::TooManyDims { func, read, dims },
                    NoReduction::Unbounded(v) => {
                        let var = match self.b.data.exprs[domain.vars[v].node].kind {
                            Kind::Var(var) => self.b.data.vars[var].clone(),
                            _ => domain.vars[v].name.clone(),
                        };
                        AdjointErrorKind::Unbounded { func, var, read }
                    }
                };
                self.refuse(*at, kind);
                None
            }
        }
    }

    /// The output for one input, whose readers are all done.
    fn output(&mut self, input: Target, at: Location) -> Option<FuncId> {
        let data = &self.b.data;
        let at = match input {
            Target::Image(image) => data.images[image].at,
            Target::Param(param) => data.params[param].at,
            Target::Func(..) => at,
        };
        self.gradient(input, at)
    }

    /// Finds what one definition reads, given the gradients by the Func's elements; that of the loss is 1.
    fn stage(&mut self, func: FuncId, number: usize, region: &[Range], gradients: &BTreeMap<u8, Option<FuncId>>) {
        let data = &self.b.data;
        let (name, stage) = (data.funcs[func].name.clone(), data.funcs[func].stages[number].clone());
        if data.sites(&stage) > 1 || self.has_sites(&stage) {
            return self.refuse(stage.at, AdjointErrorKind::Sites { func: name });
        }
        let mut seeds = BTreeMap::new();
        for (&element, gradient) in gradients {
            let ty = self.b.data.funcs[func].types[usize::from(element)];
            let seed = match gradient {
                Some(gradient) => self.b.call(*gradient, 0, stage.args.clone()),
                None => self.b.float(ty, 1.0),
            };
            seeds.insert(element, seed);
        }
        let roots: Vec<_> = seeds.iter().map(|(&e, &seed)| (stage.values[usize::from(e)], seed)).collect();
        let mut leaves = match sweep(&mut self.b, &self.activity, &roots) {
            Ok(leaves) => leaves,
            Err(NotSmooth(e)) => {
                let operation = operation(&self.b.data.exprs[e].kind);
                return self.refuse(stage.at, AdjointErrorKind::NotSmooth { func: name, operation });
            }
        };
        if number > 0 && !self.take_sums(func, &stage, &seeds, &mut leaves) {
            return self.refuse(stage.at, AdjointErrorKind::NotASum { func: name, update: number });
        }
        let domain = Rc::new(self.domain(func, &stage, number, region));
        let is_given = self.request.regions.contains_key(&func);
        for (e, adjoint) in leaves {
            let node = self.b.data.exprs[e].kind.clone();
            let Some(target) = Target::of(&node) else { continue };
            let coordinates = match node {
                Kind::Call { args, .. } | Kind::Image { args, .. } => args,
                _ => Vec::new(),
            };
            let fades = number == 0 && !is_given && func != self.request.loss && fades(&self.b, adjoint, &seeds);
            let (domain, at) = (domain.clone(), stage.at);
            let contribution = Contribution { domain, coordinates, adjoint, fades, func, at };
            self.contributions.entry(target).or_default().push(contribution);
        }
    }

    fn has_sites(&self, stage: &StageDef) -> bool {
        let roots: Vec<ExprId> = stage.args.iter().chain(&stage.values).copied().collect();
        let nodes = self.b.data.reachable(&roots);
        nodes.iter().any(|&e| matches!(self.b.data.exprs[e].kind, Kind::Sites(_)))
    }

    /// Takes from `leaves` the reads of the Func itself; returns true if an update adds to each element that it stores,
    /// and reads no other one.
    fn take_sums(
        &self,
        func: FuncId,
        stage: &StageDef,
        seeds: &BTreeMap<u8, ExprId>,
        leaves: &mut Vec<(ExprId, Adjoint)>,
    ) -> bool {
        let mut added = BTreeSet::new();
        let mut is_sum = true;
        leaves.retain(|(e, adjoint)| match &self.b.data.exprs[*e].kind {
            Kind::Call { func: of, element, args } if *of == func => {
                let is_old = *args == stage.args && adjoint.guard.is_none();
                is_sum &= is_old && seeds.get(element) == Some(&adjoint.value) && added.insert(*element);
                false
            }
            _ => true,
        });
        is_sum && added.len() == seeds.len()
    }

    /// The points at which a definition is computed.
    fn domain(&mut self, func: FuncId, stage: &StageDef, number: usize, region: &[Range]) -> Domain {
        let args = self.b.data.funcs[func].args.clone();
        let nodes = self.b.coordinates(&args);
        let mut vars = Vec::new();
        for (dim, &node) in nodes.iter().enumerate().filter(|(dim, node)| number == 0 || stage.args[*dim] == **node) {
            let name = format!("r.{}", self.b.data.vars[args[dim]]);
            vars.push(LoopVar { node, name, range: region[dim], is_pure: true });
        }
        let Some(rdom) = stage.rdom else { return Domain { vars, predicate: None } };
        let def = self.b.data.rdoms[rdom].clone();
        for (dim, rvar) in def.dims.into_iter().enumerate() {
            let node = self.b.node(Kind::RVar { rdom, dim: dim as u8 }, ScalarType::I32);
            let end = self.b.add(rvar.min, rvar.extent);
            let range = Range::new(rvar.min, self.b.offset(end, -1));
            vars.push(LoopVar { node, name: rvar.said, range, is_pure: false });
        }
        Domain { vars, predicate: def.predicate }
    }
}

/// Returns true if an adjoint is zero wherever the gradients `seeds` are, which are zero outside of the Func's region:
/// it is made of them and of what is finite and reads nothing.
fn fades(b: &Builder, adjoint: Adjoint, seeds: &BTreeMap<u8, ExprId>) -> bool {
    let is_seed =
        |e: ExprId| seeds.values().any(|&seed| seed == e && matches!(b.data.exprs[e].kind, Kind::Call { .. }));
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
        Kind::Sites(_) => "gather",
        _ => "this operation",
    }
}
