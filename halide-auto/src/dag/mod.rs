//! The pipeline as numbers, at the sizes of the estimates: definitions with their variables, what they read and write,
//! and what a point costs.

mod coordinates;
mod ends;
mod work;

pub(crate) use coordinates::Known;
pub(crate) use work::Work;

use coordinates::{Coordinates, Variable};
use halide_core::ids::{ExprId, FuncId, IdVec, ImageId};
use halide_core::pipeline::{Kind, Pipeline};
use halide_sched::nest::range::Range;
use halide_sched::plan::{VarOrigin, possible};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use work::CallSite;

/// The first and the last value of each dimension or variable.
pub(crate) type Box = SmallVec<[(i64, i64); 4]>;

/// The number of values of a dimension.
pub(crate) fn extent(span: (i64, i64)) -> i64 {
    span.1.saturating_sub(span.0).saturating_add(1).max(0)
}

/// The number of pieces of a size that cover a length.
pub(crate) fn pieces(length: i64, size: i64) -> i64 {
    let size = size.max(1);
    length.saturating_add(size - 1) / size
}

/// The number of points.
pub(crate) fn volume(spans: &[(i64, i64)]) -> f64 {
    spans.iter().map(|span| extent(*span) as f64).product()
}

/// The pipeline as numbers.
pub(crate) struct Dag<'p> {
    pub(crate) pipeline: &'p Pipeline,
    pub(crate) funcs: IdVec<FuncId, FuncNode>,
    /// The regions of inputs.
    pub(crate) images: IdVec<ImageId, Box>,
    /// The position of each Func among all, producers first.
    pub(crate) rank: IdVec<FuncId, usize>,
    /// The definitions that were asked for what they read: the effort of a search.
    pub(crate) asked: Cell<u64>,
    /// Memory for values of coordinates.
    scratch: RefCell<Vec<Vec<Range>>>,
}

/// A Func.
pub(crate) struct FuncNode {
    pub(crate) stages: Vec<StageNode>,
    /// Bytes of a point, all tuple elements together.
    pub(crate) bytes: f64,
    /// The widest and the narrowest type of tuple elements, in bytes.
    pub(crate) widths: (i64, i64),
    /// The definitions that read it, but for its own.
    pub(crate) readers: Vec<(FuncId, usize)>,
    /// The region that is assumed of it where coordinates tell none.
    pub(crate) assumed: Box,
    pub(crate) is_output: bool,
    pub(crate) is_pure: bool,
    /// True if data decide about a coordinate of a read or a store of it.
    pub(crate) is_indexed: bool,
}

/// A definition.
pub(crate) struct StageNode {
    pub(crate) vars: Vec<StageVar>,
    /// Coordinates of what it stores, by their places.
    pub(crate) writes: Vec<usize>,
    pub(crate) reads: Vec<Read>,
    /// The buffers that it reads, with the places of different coordinates of each dimension.
    sources: Vec<(Source, Vec<Vec<usize>>)>,
    pub(crate) work: Work,
    pub(crate) calls: Vec<CallSite>,
    /// True if reductions may come in any order.
    pub(crate) any_order: bool,
    coordinates: Coordinates,
    /// The place of the condition of its reduction domain.
    predicate: Option<usize>,
    /// The Funcs that it reads or stores at coordinates about which data decide.
    pub(crate) indexed: Vec<FuncId>,
}

/// A variable of a definition.
#[derive(Clone, Debug)]
pub(crate) struct StageVar {
    pub(crate) name: String,
    /// The dimension that it is, if it is pure.
    pub(crate) dim: Option<usize>,
    /// Its values, if it is of a reduction; those that it is taken to have, if data end its loop.
    pub(crate) values: (i64, i64),
    /// The number of its values, if the algorithm makes that a constant.
    pub(crate) extent: Option<i64>,
    pub(crate) tells_apart: bool,
}

/// A buffer that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    Func(FuncId),
    Image(ImageId),
}

impl Source {
    fn func(self) -> Option<FuncId> {
        match self {
            Source::Func(func) => Some(func),
            Source::Image(_) => None,
        }
    }
}

/// An element that a definition reads.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) of: Source,
    /// Its coordinates, by their places.
    args: Vec<usize>,
}

impl<'p> Dag<'p> {
    /// The numbers of a pipeline. `assumed` tells regions of Funcs that coordinates may leave open.
    pub(crate) fn new(
        pipeline: &'p Pipeline,
        known: &Known<'_>,
        assumed: &dyn Fn(FuncId) -> Box,
        contracts: bool,
    ) -> Dag<'p> {
        let mut funcs: IdVec<FuncId, FuncNode> = IdVec::new();
        for (id, def) in pipeline.funcs.enumerate() {
            let stages = (0..def.stages.len()).map(|n| stage_node(pipeline, (id, n), known, contracts)).collect();
            let widths = def.types.iter().map(|ty| ty.bytes() as i64);
            funcs.push(FuncNode {
                stages,
                bytes: widths.clone().sum::<i64>() as f64,
                widths: (widths.clone().max().unwrap_or(1), widths.min().unwrap_or(1)),
                readers: Vec::new(),
                assumed: assumed(id),
                is_output: pipeline.outputs.contains(&id),
                is_pure: def.is_pure(),
                is_indexed: false,
            });
        }
        let indexed: Vec<FuncId> = funcs.iter().flat_map(|f| &f.stages).flat_map(|s| &s.indexed).copied().collect();
        indexed.into_iter().for_each(|id| funcs[id].is_indexed = true);
        for &id in &pipeline.order {
            for n in 0..funcs[id].stages.len() {
                let sources = funcs[id].stages[n].sources.iter();
                let read: Vec<FuncId> = sources.filter_map(|(of, _)| of.func()).filter(|of| *of != id).collect();
                read.into_iter().for_each(|of| funcs[of].readers.push((id, n)));
            }
        }
        let images = known.images.iter().map(|r| r.spans().iter().map(|s| (s.min, s.min + s.extent - 1)).collect());
        let mut rank: IdVec<FuncId, usize> = pipeline.funcs.iter().map(|_| 0).collect();
        pipeline.order.iter().enumerate().for_each(|(n, id)| rank[*id] = n);
        let (asked, scratch) = (Cell::new(0), RefCell::default());
        Dag { pipeline, funcs, images: images.collect(), rank, asked, scratch }
    }

    /// The values of a definition's variables, where it computes `region`.
    pub(crate) fn domain(&self, (func, stage): (FuncId, usize), region: &[(i64, i64)]) -> Box {
        let value = |v: &StageVar| v.dim.map_or(v.values, |d| region.get(d).copied().unwrap_or((0, 0)));
        self.funcs[func].stages[stage].vars.iter().map(value).collect()
    }

    /// Calls `f` with everything that a definition reads but its own Func, where its variables have these values.
    pub(crate) fn reads(&self, (func, stage): (FuncId, usize), domain: &[(i64, i64)], f: &mut dyn FnMut(Source, Box)) {
        let node = &self.funcs[func].stages[stage];
        self.with_values(node, domain, |values| {
            for read in node.reads.iter().filter(|read| read.of != Source::Func(func)) {
                f(read.of, self.region_of(read.of, &read.args, values));
            }
        });
    }

    /// Calls `f` with the region of each buffer but its own that a definition reads, where its variables have these
    /// values.
    pub(crate) fn regions(
        &self,
        (func, stage): (FuncId, usize),
        domain: &[(i64, i64)],
        f: &mut dyn FnMut(Source, Box),
    ) {
        let node = &self.funcs[func].stages[stage];
        self.with_values(node, domain, |values| {
            for (of, dims) in node.sources.iter().filter(|(of, _)| *of != Source::Func(func)) {
                let whole = self.whole(*of);
                let span = |(d, places): (usize, &Vec<usize>)| {
                    let spans = places.iter().map(|place| known_span(values, *place, whole.get(d).copied()));
                    spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0, 0))
                };
                f(*of, dims.iter().enumerate().map(span).collect());
            }
        });
    }

    /// The elements that a definition reads and those of its own Func that it stores, at one point each.
    pub(crate) fn own_reads(&self, (func, stage): (FuncId, usize), domain: &[(i64, i64)]) -> (Vec<Box>, Box) {
        let node = &self.funcs[func].stages[stage];
        self.with_values(node, domain, |values| {
            let own = node.reads.iter().filter(|read| read.of == Source::Func(func));
            let reads = own.map(|read| self.region_of(read.of, &read.args, values)).collect();
            (reads, self.region_of(Source::Func(func), &node.writes, values))
        })
    }

    /// Returns true if a definition computes a point, as far as coordinates decide about it.
    pub(crate) fn runs(&self, (func, stage): (FuncId, usize), point: &[i64]) -> bool {
        let node = &self.funcs[func].stages[stage];
        let domain: Box = point.iter().map(|v| (*v, *v)).collect();
        let holds = |place: usize| self.with_values(node, &domain, |values| values[place].value());
        node.predicate.is_none_or(|place| holds(place) != Some(0))
    }

    /// Calls `f` with the values of a definition's coordinates, where its variables have these.
    fn with_values<R>(&self, node: &StageNode, domain: &[(i64, i64)], f: impl FnOnce(&[Range]) -> R) -> R {
        self.asked.set(self.asked.get() + 1);
        let mut values = self.scratch.borrow_mut().pop().unwrap_or_default();
        node.coordinates.ranges(domain, &mut values);
        let result = f(&values);
        self.scratch.borrow_mut().push(values);
        result
    }

    fn region_of(&self, of: Source, places: &[usize], values: &[Range]) -> Box {
        let whole = self.whole(of);
        places.iter().enumerate().map(|(d, place)| known_span(values, *place, whole.get(d).copied())).collect()
    }

    /// The region that is assumed of a buffer.
    pub(crate) fn whole(&self, of: Source) -> &Box {
        match of {
            Source::Func(func) => &self.funcs[func].assumed,
            Source::Image(image) => &self.images[image],
        }
    }

    /// Bytes of an element of a buffer.
    pub(crate) fn bytes(&self, of: Source) -> f64 {
        match of {
            Source::Func(func) => self.funcs[func].bytes,
            Source::Image(image) => self.pipeline.images[image].ty.bytes() as f64,
        }
    }
}

/// The values of a coordinate, or all that there are if nothing is known of it.
fn known_span(values: &[Range], place: usize, whole: Option<(i64, i64)>) -> (i64, i64) {
    match (values.get(place).and_then(|v| v.ends()), whole) {
        (Some((first, last)), Some(whole)) if last.saturating_sub(first) > whole.1.saturating_sub(whole.0) => whole,
        (Some(known), _) => known,
        (None, whole) => whole.unwrap_or((0, 0)),
    }
}

/// Reads of different elements.
fn distinct(all: impl Iterator<Item = Read>) -> Vec<Read> {
    let mut reads: Vec<Read> = Vec::new();
    for read in all {
        if !reads.iter().any(|r| r.of == read.of && r.args == read.args) {
            reads.push(read);
        }
    }
    reads
}

/// The buffers that are read, with the places of different coordinates of each dimension.
fn sources(reads: &[Read]) -> Vec<(Source, Vec<Vec<usize>>)> {
    let mut found: BTreeMap<Source, Vec<Vec<usize>>> = BTreeMap::new();
    for read in reads {
        let dims = found.entry(read.of).or_insert_with(|| vec![Vec::new(); read.args.len()]);
        for (places, place) in dims.iter_mut().zip(&read.args) {
            if !places.contains(place) {
                places.push(*place);
            }
        }
    }
    found.into_iter().collect()
}

fn stage_node(pipeline: &Pipeline, (func, n): (FuncId, usize), known: &Known<'_>, contracts: bool) -> StageNode {
    let (def, stage) = (&pipeline.funcs[func], &pipeline.funcs[func].stages[n]);
    let possible = possible(pipeline, func, n);
    let domain = stage.rdom.map(|r| &pipeline.rdoms[r]);
    let variable = |origin: &VarOrigin| match origin {
        VarOrigin::Pure { dim } => def.args.get(*dim).map(|v| Variable::Pure(*v)),
        VarOrigin::Reduction { rdom, dim } => Some(Variable::Reduction(*rdom, *dim as u8)),
        _ => None,
    };
    let numbered = possible.vars.iter().enumerate().filter_map(|(n, v)| Some((variable(&v.origin)?, n)));
    let variables: BTreeMap<Variable, usize> = numbered.collect();
    let bounds: Vec<ExprId> = domain.into_iter().flat_map(|r| &r.dims).flat_map(|d| [d.min, d.extent]).collect();
    let values: Vec<ExprId> = stage.values.iter().copied().chain(domain.and_then(|r| r.predicate)).collect();
    let reached = halide_sched::plan::reachable(pipeline, &[&stage.args[..], &values, &bounds].concat());
    let elements = elements_of(pipeline, &reached);
    let own = (Source::Func(func), &stage.args);
    let by_data = elements.iter().chain([&own]).filter(|(_, args)| work::has_loads(pipeline, args));
    let indexed = by_data.filter_map(|(of, _)| of.func()).collect();
    let of_reads = elements.iter().flat_map(|(_, args)| args.iter().copied());
    let predicate = domain.and_then(|r| r.predicate);
    let roots: Vec<ExprId> = stage.args.iter().copied().chain(of_reads).chain(bounds).chain(predicate).collect();
    let coordinates = Coordinates::new(pipeline, &roots, known, &variables);
    let mut whole = Vec::new();
    coordinates.ranges(&[], &mut whole);
    let values_of = |origin: &VarOrigin| match origin {
        VarOrigin::Reduction { dim, .. } => {
            let of = |e: ExprId| whole.get(coordinates.place(e)).and_then(|r| r.ends());
            let bounds = domain.and_then(|r| r.dims.get(*dim)).map(|d| (of(d.min), of(d.extent)));
            match bounds {
                Some((Some((min, _)), Some((_, extent)))) => (min, min.saturating_add(extent).saturating_sub(1)),
                _ => (0, 0),
            }
        }
        _ => (0, 0),
    };
    let mut most = ends::most_iterations(pipeline, func, n);
    let vars = possible.vars.iter().map(|v| {
        let (first, last) = values_of(&v.origin);
        let last = last.min(first.saturating_add(most - 1));
        most = (most / extent((first, last)).max(1)).max(1);
        StageVar {
            name: v.name.clone(),
            dim: if let VarOrigin::Pure { dim } = v.origin { Some(dim) } else { None },
            values: (first, last),
            extent: v.extent,
            tells_apart: v.tells_apart,
        }
    });
    let mask = |kind: &Kind| {
        let variable = match kind {
            Kind::Var(v) => Variable::Pure(*v),
            Kind::RVar { rdom, dim } => Variable::Reduction(*rdom, *dim),
            _ => return 0,
        };
        variables.get(&variable).map_or(0, |n| 1u32.checked_shl(*n as u32).unwrap_or(0))
    };
    let costly: Vec<ExprId> = values.iter().chain(&stage.args).copied().collect();
    let (work, calls) = work::of_values(pipeline, &costly, contracts, &mask);
    let place = |e: &ExprId| coordinates.place(*e);
    let reads = distinct(elements.into_iter().map(|(of, args)| Read { of, args: args.iter().map(place).collect() }));
    let writes = stage.args.iter().map(place).collect();
    let sources = sources(&reads);
    StageNode {
        vars: vars.collect(),
        writes,
        reads,
        sources,
        work,
        calls,
        any_order: possible.order.is_ok(),
        predicate: predicate.map(|e| coordinates.place(e)),
        coordinates,
        indexed,
    }
}

/// The elements among expressions, with their coordinates.
fn elements_of<'p>(pipeline: &'p Pipeline, among: &BTreeSet<ExprId>) -> Vec<(Source, &'p Vec<ExprId>)> {
    let element = |e: &ExprId| match &pipeline.exprs[*e].kind {
        Kind::Call { func, args, .. } => Some((Source::Func(*func), args)),
        Kind::Image { image, args } => Some((Source::Image(*image), args)),
        _ => None,
    };
    among.iter().filter_map(element).collect()
}
