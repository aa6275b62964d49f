//! Regions and strides that a call needs of its inputs, found without running anything.
//!
//! The bounds that lowering infers are expressions of the outputs' regions, of parameters, and of the inputs' own
//! regions where an algorithm mentions them (boundary conditions do), and of values of inputs where what is read
//! depends on data (rows of different lengths). A [`ShapeQuery`] computes them for given outputs. Where inputs have no
//! region yet, it looks for regions that need no more than themselves: first from inputs without ends, which finds what
//! a boundary condition would have to make up otherwise; then, where that has no end, from inputs of one point.

use crate::lower::error::LowerError;
use crate::lower::nests::build_nests;
use crate::lower::nests::ctx::Ctx;
use crate::lower::options::LowerOptions;
use crate::lower::regions::facts;
use crate::lower::regions::infer_bounds;
use crate::lower::regions::rules::Rule;
use crate::lower::regions::value_bounds;
use crate::plan::Plan;
use crate::tuning::QUERY_ROUNDS;
use halide_core::buffer::{AnyBuffer, Dim, Region, Span};
use halide_core::error::Location;
use halide_core::ids::{FuncId, Id, IdVec, ImageId, ParamId};
use halide_core::shape::dense_strides;
use halide_core::value::Scalar;
use halide_ir::visit::{Memo, any_node, map_children};
use halide_ir::{BufId, DimField, Expr, ExprKind, Sym, build};
use halide_solve::bounds::{Interval, interval_of};
use halide_solve::simplify::{Facts, Range, simplify};
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// The inferred bounds of one plan, ready to be asked.
pub struct ShapeQuery {
    /// Bounds that are constant over a run, in an order in which each sees those before it.
    defs: Vec<(Sym, Expr)>,
    /// First and last coordinate read of each image that is read.
    images: BTreeMap<ImageId, Vec<(Expr, Expr)>>,
    /// Names and numbers of dimensions of all images.
    names: IdVec<ImageId, (String, usize)>,
    rules: Vec<Rule>,
    image_buffers: IdVec<ImageId, BufId>,
    outputs: Vec<Vec<BufId>>,
    /// The ranges that elements of images are promised to be in.
    promised: Vec<(BufId, (i64, i64))>,
}

/// The region and the strides that one input needs for a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The region that it must have, at least.
    pub region: Region,
    /// Strides in elements that suit the algorithm's rules: dense ones where there is no rule.
    pub strides: Vec<i64>,
}

/// A reason that there is no answer.
#[derive(Clone, PartialEq, Eq)]
pub enum QueryError {
    /// The regions of inputs that an input of some size needs are never its own.
    NoEnd {
        /// The inputs concerned.
        images: Vec<String>,
    },
    /// A rule of the algorithm gives an input a region that does not hold what is read.
    Rule {
        /// Name of the input.
        image: String,
        /// Index of the dimension.
        dim: usize,
        /// First and last coordinate that are read.
        needed: (i64, i64),
        /// First and last coordinate that there are by the rule.
        ruled: (i64, i64),
        /// Location of the rule.
        at: Location,
    },
    /// A bound depends on something that is not known before a run.
    NotKnown {
        /// The input concerned.
        image: String,
    },
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryError::NoEnd { images } => write!(
                f,
                "what is read of `{}` depends on its own region and never settles; give a buffer for it, or a rule for its region",
                images.join("`, `")
            ),
            QueryError::Rule { image, dim, needed, ruled, at } => write!(
                f,
                "input `{image}` is read from {} to {} in dimension {dim}, but by the rule at {at} it has {} to {} only; ask for \
                 a smaller output, or change the rule",
                needed.0, needed.1, ruled.0, ruled.1
            ),
            QueryError::NotKnown { image } => {
                write!(f, "what is read of `{image}` depends on data; give a buffer for it")
            }
        }
    }
}

halide_core::debug_is_display!(QueryError);

impl std::error::Error for QueryError {}

impl ShapeQuery {
    /// Infers the bounds of `plan`.
    ///
    /// # Errors
    /// What lowering refuses.
    pub fn new(plan: &Plan, options: &LowerOptions) -> Result<ShapeQuery, Vec<LowerError>> {
        let mut ctx = Ctx::new(plan, options);
        let known = facts::of_program(&ctx.program, &plan.pipeline, options);
        let values = value_bounds::value_bounds(&mut ctx, &known);
        build_nests::build_nests(&mut ctx);
        let mut facts = facts::of_arguments(&ctx);
        let regions = infer_bounds::find_regions(&ctx, &values, &mut facts)?;
        let of = |func: &FuncId| ctx.program.func_buffers[*func].clone();
        let outputs = plan.pipeline.outputs.iter().map(of).collect();
        let names = plan.pipeline.images.iter().map(|i| (i.name.clone(), i.dims)).collect();
        let defs = regions.defs.get(&halide_ir::Scope::Root).cloned().unwrap_or_default();
        let image_buffers = ctx.program.image_buffers.clone();
        let images = plan.pipeline.images.enumerate();
        let promised = images.filter_map(|(id, def)| Some((image_buffers[id], def.promised_range()?))).collect();
        Ok(ShapeQuery { defs, images: regions.images, names, rules: ctx.rules, image_buffers, outputs, promised })
    }

    /// Returns the needs of each input for outputs over `regions`, one per output Func. Inputs in `given` are as they
    /// are, with the values that they have; their needs are returned all the same, or their own regions and strides
    /// where the needs depend on data that is not given.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub fn needs(
        &self,
        regions: &[Region],
        given: &IdVec<ImageId, Option<AnyBuffer>>,
        params: &IdVec<ParamId, Scalar>,
    ) -> Result<IdVec<ImageId, Need>, QueryError> {
        let mut first_error = None;
        for seed in [Span { min: i32::MIN.into(), extent: 1 << 32 }, Span { min: 0, extent: 1 }] {
            match self.settle(seed, regions, given, params) {
                Ok(needs) => return Ok(needs),
                Err(error) => drop(first_error.replace(error)),
            }
        }
        Err(first_error.unwrap_or(QueryError::NoEnd { images: Vec::new() }))
    }

    /// Asks until the regions of inputs that are not given stay as they are.
    fn settle(
        &self,
        seed: Span,
        regions: &[Region],
        given: &IdVec<ImageId, Option<AnyBuffer>>,
        params: &IdVec<ParamId, Scalar>,
    ) -> Result<IdVec<ImageId, Need>, QueryError> {
        let dense = |dims: usize| {
            let spans = vec![seed; dims];
            spans.iter().map(|s| Dim { min: s.min, extent: s.extent, stride: 1 }).collect::<Vec<Dim>>()
        };
        let of = |id: ImageId| given[id].as_ref().map(|image| image.dims().to_vec());
        let start = |(id, (_, dims)): (ImageId, &(String, usize))| of(id).unwrap_or_else(|| dense(*dims));
        let mut guess: IdVec<ImageId, Vec<Dim>> = self.names.enumerate().map(start).collect();
        for _ in 0..QUERY_ROUNDS {
            let (env, ends) = (self.environment(regions, &guess), HashMap::new());
            let round = Round { query: self, env, ends, given, params };
            let (needs, broken) = round.needs()?;
            let mut next = guess.clone();
            for (id, dims) in given.enumerate().filter(|(_, g)| g.is_none()).map(|(id, _)| (id, self.names[id].1)) {
                let need = &needs[id];
                next[id] = (0..dims)
                    .map(|d| Dim {
                        min: need.region.spans()[d].min,
                        extent: need.region.spans()[d].extent,
                        stride: need.strides[d],
                    })
                    .collect();
            }
            if next == guess {
                let endless = |n: &Need| n.region.spans().iter().any(|s| s.extent >= 1 << 32);
                let without_end = needs.enumerate().filter(|(id, n)| given[*id].is_none() && endless(n));
                let images: Vec<String> = without_end.map(|(id, _)| self.names[id].0.clone()).collect();
                return match broken {
                    _ if !images.is_empty() => Err(QueryError::NoEnd { images }),
                    Some(broken) => Err(broken),
                    None => Ok(needs),
                };
            }
            guess = next;
        }
        let images = given.enumerate().filter(|(_, g)| g.is_none()).map(|(id, _)| self.names[id].0.clone()).collect();
        Err(QueryError::NoEnd { images })
    }

    /// The value of every property of the caller's buffers, and of everything that is constant over the run.
    fn environment(&self, regions: &[Region], images: &IdVec<ImageId, Vec<Dim>>) -> HashMap<Sym, i64> {
        let mut env = HashMap::new();
        let mut bind = |buf: BufId, dim: usize, d: Dim| {
            let sym = |field| Sym::Buffer { buf, dim: dim as u16, field };
            env.insert(sym(DimField::Min), d.min);
            env.insert(sym(DimField::Extent), d.extent);
            env.insert(sym(DimField::Stride), d.stride);
        };
        for (id, dims) in images.enumerate() {
            dims.iter().enumerate().for_each(|(d, dim)| bind(self.image_buffers[id], d, *dim));
        }
        for (bufs, region) in self.outputs.iter().zip(regions) {
            let strides = dense_strides(region.spans(), &|_| None, &|_| 1);
            for (d, (span, stride)) in region.spans().iter().zip(strides).enumerate() {
                bufs.iter().for_each(|&buf| bind(buf, d, Dim { min: span.min, extent: span.extent, stride }));
            }
        }
        env
    }
}

/// One round of questions.
struct Round<'q> {
    query: &'q ShapeQuery,
    env: HashMap<Sym, i64>,
    /// The first and the last value of bounds that depend on inputs without dimensions that are not given.
    ends: HashMap<Sym, (i64, i64)>,
    given: &'q IdVec<ImageId, Option<AnyBuffer>>,
    params: &'q IdVec<ParamId, Scalar>,
}

impl Round<'_> {
    /// Returns the needs of inputs by now, and the error of a rule that forbids them.
    fn needs(mut self) -> Result<(IdVec<ImageId, Need>, Option<QueryError>), QueryError> {
        for (s, value) in &self.query.defs {
            // What is not known is missed only if somebody asks for it.
            if let Some(value) = self.value(value) {
                self.env.insert(*s, value);
            } else if let Some(ends) = self.ends(value) {
                self.ends.insert(*s, ends);
            }
        }
        let (mut needs, mut broken) = (IdVec::new(), None);
        for id in self.query.names.ids() {
            needs.push(match (self.need(id, &mut broken), &self.given[id]) {
                (Err(QueryError::NotKnown { .. }), Some(image)) => {
                    Need { region: image.region(), strides: image.dims().iter().map(|d| d.stride).collect() }
                }
                (need, _) => need?,
            });
        }
        Ok((needs, broken))
    }

    fn value(&self, e: &Expr) -> Option<i64> {
        build::as_int(&simplify(&self.closed(e), &Facts::new()))
    }

    /// `e` with what is known in the place of its symbols.
    fn closed(&self, e: &Expr) -> Expr {
        Memo::new().rewrite(e, |n, done| match n.kind() {
            ExprKind::Sym(s) => self.env.get(s).map_or_else(|| n.clone(), |v| build::int(*v)),
            ExprKind::Param(p) if p.index() < self.params.len() => build::constant(self.params[*p]),
            ExprKind::Read { buf, args } => self.read(*buf, args, done).unwrap_or_else(|| n.clone()),
            _ => map_children(n, done),
        })
    }

    /// The first and the last value, for all values that inputs without dimensions may have that are not given.
    fn ends(&self, e: &Expr) -> Option<(i64, i64)> {
        let closed = self.closed(e);
        let depends = |n: &Expr| matches!(n.kind(), ExprKind::Read { args, .. } if !args.is_empty());
        if any_node(&closed, depends) {
            return None;
        }
        let mut facts = Facts::new();
        for (buf, (min, max)) in &self.query.promised {
            facts.assume_elements(*buf, Range::new(Some((*min).into()), Some((*max).into())));
        }
        let env = |s: Sym| self.ends.get(&s).map(|(min, max)| Interval::new(build::int(*min), build::int(*max)));
        let Interval { min, max } = interval_of(&closed, &env, &facts);
        min.and_then(|e| build::as_int(&e)).zip(max.and_then(|e| build::as_int(&e)))
    }

    /// The value of an input that is given, at known coordinates; `done` has these as they are by now.
    fn read(&self, buf: BufId, args: &[Expr], done: &dyn Fn(&Expr) -> Expr) -> Option<Expr> {
        let (image, _) = self.query.image_buffers.enumerate().find(|(_, b)| **b == buf)?;
        let at = |arg: &Expr| build::as_int(&simplify(&done(arg), &Facts::new()));
        let at = args.iter().map(at).collect::<Option<Vec<i64>>>()?;
        Some(build::constant(self.given[image].as_ref()?.get(at)?))
    }

    fn need(&self, image: ImageId, broken: &mut Option<QueryError>) -> Result<Need, QueryError> {
        let query = self.query;
        let (name, dims) = query.names[image].clone();
        let not_known = || QueryError::NotKnown { image: name.clone() };
        let mut spans = Vec::new();
        for dim in 0..dims {
            let read = match query.images.get(&image) {
                None => None,
                Some(region) => {
                    let (min, max) = &region[dim];
                    let first = self.value(min).or_else(|| Some(self.ends(min)?.0));
                    let last = self.value(max).or_else(|| Some(self.ends(max)?.1));
                    Some(first.zip(last).ok_or_else(not_known)?)
                }
            };
            spans.push(self.ruled_span(image, dim, read, broken));
        }
        let fixed = |dim: usize| {
            self.rules(image, dim, DimField::Stride).find(|r| !r.multiple).and_then(|r| self.value(&r.value))
        };
        let multiple = |dim: usize| self.multiple(image, dim, DimField::Stride);
        let strides = dense_strides(&spans, &fixed, &multiple);
        Ok(Need { region: Region::new(spans), strides })
    }

    /// Returns the span that is read of a dimension, or one point if nothing is, adjusted to the rules.
    fn ruled_span(
        &self,
        image: ImageId,
        dim: usize,
        read: Option<(i64, i64)>,
        broken: &mut Option<QueryError>,
    ) -> Span {
        let (first, last) = read.unwrap_or((0, 0));
        let (mut min, mut end) = (first, last.max(first) + 1);
        let step = self.multiple(image, dim, DimField::Min);
        min = min.div_euclid(step) * step;
        let mut by = None;
        if let Some(rule) = self.rules(image, dim, DimField::Min).find(|r| !r.multiple) {
            min = self.value(&rule.value).unwrap_or(min);
            by = rule.at;
        }
        let step = self.multiple(image, dim, DimField::Extent);
        end = min + (end - min + step - 1).div_euclid(step) * step;
        if let Some(rule) = self.rules(image, dim, DimField::Extent).find(|r| !r.multiple) {
            end = self.value(&rule.value).map_or(end, |extent| min + extent);
            by = rule.at;
        }
        if let Some(at) = by.filter(|_| read.is_some() && (first < min || last >= end)) {
            let image = self.query.names[image].0.clone();
            *broken = Some(QueryError::Rule { image, dim, needed: (first, last), ruled: (min, end - 1), at });
        }
        Span { min, extent: end - min }
    }

    fn rules(&self, image: ImageId, dim: usize, field: DimField) -> impl Iterator<Item = &Rule> {
        let property = (self.query.image_buffers[image], dim, field);
        self.query.rules.iter().filter(move |r| r.property == property)
    }

    /// A number that every multiple rule for a property has as its multiple: the largest one of the rules.
    fn multiple(&self, image: ImageId, dim: usize, field: DimField) -> i64 {
        let multiples = self.rules(image, dim, field).filter(|r| r.multiple);
        multiples.filter_map(|r| build::as_int(&r.value)).fold(1, i64::max)
    }
}
