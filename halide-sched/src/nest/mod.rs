//! Costs of a loop nest at given sizes, found without running anything: how often each loop runs and what its
//! iterations touch, how much is stored and computed, and how much of that may run at once.
//!
//! A [`NestQuery`] takes the last program whose loops and definitions are those of the schedule, before storage is
//! flattened and loops are unrolled, and puts sizes in for its symbols. A loop whose bounds and conditions are the same
//! in all iterations is entered once. Of others, as of those whose first window is wider or whose last chunk is cut
//! short, as many iterations are counted as tell where the costs change. Coordinates within a loop are ranges, so what
//! is touched is a box for each buffer.
//!
//! A price of a schedule is held against this: it says what lowering makes of the schedule, whatever a model says.

mod count;
mod exact;
mod formula;
mod numbers;
mod operation;
pub mod range;
mod steps;
mod text;
mod touched;
mod tree;
mod work;

use crate::lower::storage::split_storage::{Splits, splits};
use crate::lower::{LowerError, LowerOptions, lower_to_hoisted};
use crate::plan::Plan;
pub use crate::tuning::SETTLED_ITERATIONS;
use count::{Row, Walk};
use formula::{Env, Symbols};
use halide_core::buffer::{Dim, Region};
use halide_core::ids::{FuncId, IdVec, ImageId, ParamId};
use halide_core::pipeline::PipelineData;
use halide_core::shape::dense_strides;
use halide_core::value::Scalar;
use halide_ir::{BufId, BufferRole, DimField, ForKind, LoopId, Program, Sym};
pub use operation::Operation;
use range::Range;
use std::collections::BTreeSet;
pub use steps::AccessCost;
use tree::{Node, Tree};
pub use work::{FuncWork, StrideClass, Traffic, Work};

/// The loop nest of a plan, ready to be asked for its costs.
pub struct NestQuery {
    program: Program,
    symbols: Symbols,
    tree: Tree,
    /// The storage that is in blocks: the program speaks of coordinates of Funcs.
    splits: Splits,
}

/// The sizes of a run.
#[derive(Clone, Copy, Debug)]
pub struct Sizes<'a> {
    /// The dimensions of each input image.
    pub images: &'a IdVec<ImageId, Vec<Dim>>,
    /// The dimensions of each output buffer: of each tuple element of each output Func.
    pub outputs: &'a [Vec<Dim>],
    /// The values of parameters.
    pub params: &'a IdVec<ParamId, Scalar>,
}

/// The costs of a loop nest. Counts are of a whole run and may be fractions, where some iterations stand for others.
#[derive(Clone, Debug, PartialEq)]
pub struct Nest {
    /// The loops, allocations and definitions outside of all loops.
    pub body: Vec<Item>,
    /// Operations on data, each element of a vector for itself.
    pub work: f64,
    /// Operations on data one after the other, if everything that may run at once does.
    pub span: f64,
    /// Bytes that are allocated at once, at most, by one thread.
    pub peak_bytes: f64,
    /// Bytes of inputs and outputs that are touched.
    pub argument_bytes: f64,
    /// Descriptions of what depends on data, and of how it was counted.
    pub guesses: Vec<String>,
}

/// A part of a loop nest.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A loop.
    Loop(LoopCost),
    /// Memory of a Func.
    Store(StoreCost),
    /// A definition.
    Points(PointsCost),
}

/// The costs of a loop.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopCost {
    /// Its identity.
    pub id: LoopId,
    /// Its name.
    pub name: String,
    /// The definition whose loop it is: the Func, and 0 or the number of its update counted from 1.
    pub definition: Option<(FuncId, usize)>,
    /// The way in which iterations run.
    pub kind: ForKind,
    /// The number of times that it is entered.
    pub entries: f64,
    /// The number of iterations, of all entries together.
    pub iterations: f64,
    /// Distinct bytes that an iteration in the middle touches, of all buffers together.
    pub touched: f64,
    /// Distinct bytes that all iterations of an entry in the middle touch.
    pub footprint: f64,
    /// The parts of its body.
    pub body: Vec<Item>,
}

/// The costs of the memory of a Func in one place.
#[derive(Clone, Debug, PartialEq)]
pub struct StoreCost {
    /// The Func.
    pub func: FuncId,
    /// Its name.
    pub name: String,
    /// The number of allocations.
    pub allocations: f64,
    /// Elements of all allocations together, of one tuple element.
    pub elements: f64,
    /// Extents in memory of an allocation in the middle, with the factor of a dimension that is folded in its place.
    pub extents: Vec<i64>,
    /// Dimensions that are folded.
    pub folded: Vec<bool>,
    /// Bytes of an allocation in the middle, of all tuple elements together.
    pub bytes: f64,
    /// The parts of its body.
    pub body: Vec<Item>,
}

/// The costs of a definition in one place.
#[derive(Clone, Debug, PartialEq)]
pub struct PointsCost {
    /// The Func.
    pub func: FuncId,
    /// Its name.
    pub name: String,
    /// The number of points that are computed. A point that is computed twice counts twice.
    pub points: f64,
    /// Operations on data of one point.
    pub operations: u32,
    /// Elements that one point reads.
    pub reads: u32,
    /// The elements that one point stores and reads, each with its steps in memory.
    pub accesses: Vec<AccessCost>,
}

/// Returns the dimensions of a buffer over `region` with these strides.
pub fn dims(region: &Region, strides: &[i64]) -> Vec<Dim> {
    let spans = region.spans().iter().zip(strides);
    spans.map(|(span, stride)| Dim { min: span.min, extent: span.extent, stride: *stride }).collect()
}

/// Returns the dimensions of a dense buffer over `region`.
pub fn dense_dims(region: &Region) -> Vec<Dim> {
    dims(region, &dense_strides(region.spans(), &|_| None, &|_| 1))
}

/// Returns the dimensions of dense output buffers over regions, one per output Func of `pipeline`. An output that is
/// listed twice has its buffers once.
pub fn output_dims(pipeline: &PipelineData, regions: &[Region]) -> Vec<Vec<Dim>> {
    let mut listed = BTreeSet::new();
    let outputs = pipeline.outputs.iter().zip(regions).filter(|(func, _)| listed.insert(**func));
    outputs.flat_map(|(func, region)| pipeline.funcs[*func].types.iter().map(|_| dense_dims(region))).collect()
}

impl NestQuery {
    /// Infers the bounds of the loops of `plan`.
    ///
    /// # Errors
    /// What lowering refuses.
    pub fn new(plan: &Plan, options: &LowerOptions) -> Result<NestQuery, Vec<LowerError>> {
        let program = lower_to_hoisted(plan, options)?.0.program;
        let mut symbols = Symbols::default();
        let tree = Tree::new(&program, &mut symbols);
        Ok(NestQuery { program, symbols, tree, splits: splits(plan) })
    }

    /// Returns the costs at `sizes`.
    pub fn at(&self, sizes: &Sizes<'_>) -> Nest {
        self.counted(sizes, false)
    }

    /// Returns the costs at small `sizes` with every iteration counted: as long as a run takes, and exact but for what
    /// [`Nest::guesses`] says.
    pub fn at_each_iteration(&self, sizes: &Sizes<'_>) -> Nest {
        self.counted(sizes, true)
    }

    /// Returns the work at `sizes`, exactly but for what [`Work::unknown`] says. Boxes are multiplied out; of loops
    /// whose ends or conditions change all along another one, such as those of a triangle, each iteration is counted.
    pub fn work(&self, sizes: &Sizes<'_>) -> Work {
        let mut env = self.env(sizes);
        let accesses = self.accesses(sizes, &mut env);
        work::work(&self.program, &self.tree, &mut self.env(sizes), &accesses)
    }

    /// The values of symbols and parameters outside of all loops.
    fn env<'s>(&self, sizes: &Sizes<'s>) -> Env<'s> {
        Env {
            symbols: self.symbols.all().fold(Vec::new(), |mut all, (s, number)| {
                all.resize(all.len().max(number + 1), Range::Any);
                all[number] = self.given(s, sizes);
                all
            }),
            params: sizes.params,
            steps: Vec::new(),
        }
    }

    fn accesses(&self, sizes: &Sizes<'_>, env: &mut Env<'_>) -> Vec<Vec<AccessCost>> {
        let strides = |buf| self.dims(buf, sizes).map(|dims| dims.iter().map(|dim| dim.stride).collect());
        steps::accesses((&self.program, &self.splits), &self.tree, env, &strides)
    }

    fn counted(&self, sizes: &Sizes<'_>, each: bool) -> Nest {
        let mut env = self.env(sizes);
        let mut walk = Walk::new(&self.program, each);
        let counts = walk.node(&self.tree.body, &mut env, true);
        let argument_bytes = touched::arguments(&self.program, &self.tree, &mut env);
        let accesses = self.accesses(sizes, &mut env);
        let body = self.items(&self.tree.body, &mut counts.rows.into_iter(), &mut accesses.into_iter());
        let guesses = walk.guesses();
        Nest { body, work: counts.work, span: counts.span, peak_bytes: counts.bytes, argument_bytes, guesses }
    }

    /// The value of a symbol that the caller gives.
    fn given(&self, s: Sym, sizes: &Sizes<'_>) -> Range {
        let Sym::Buffer { buf, dim, field } = s else { return Range::Any };
        let dims = self.dims(buf, sizes).and_then(|dims| dims.get(usize::from(dim)));
        dims.map_or(Range::Any, |d| {
            Range::point(match field {
                DimField::Min => d.min,
                DimField::Extent => d.extent,
                DimField::Stride => d.stride,
            })
        })
    }

    fn dims<'s>(&self, buf: BufId, sizes: &Sizes<'s>) -> Option<&'s Vec<Dim>> {
        match self.program.buffers[buf].role {
            BufferRole::Input(image) => sizes.images.get(image),
            BufferRole::Output(position) => sizes.outputs.get(position as usize),
            BufferRole::Internal => None,
        }
    }

    /// The parts of a statement, with what was counted.
    fn items(
        &self,
        node: &Node,
        rows: &mut impl Iterator<Item = Row>,
        accesses: &mut impl Iterator<Item = Vec<AccessCost>>,
    ) -> Vec<Item> {
        let mut items = Vec::new();
        halide_ir::visit::deep(|| match node {
            Node::Block(all) => all.iter().for_each(|n| items.extend(self.items(n, rows, accesses))),
            Node::Let { body, .. } => items = self.items(body, rows, accesses),
            Node::If { then, otherwise, .. } => {
                items = self.items(then, rows, accesses);
                items.extend(self.items(otherwise, rows, accesses));
            }
            Node::For(l) => {
                let Row { times, amount, middle } = rows.next().unwrap_or_default();
                let middle = middle.unwrap_or_default();
                items.push(Item::Loop(LoopCost {
                    id: l.id,
                    name: self.program.loops[l.id].name.clone(),
                    definition: self.program.loops[l.id].definition,
                    kind: l.kind,
                    entries: times,
                    iterations: amount,
                    touched: middle.bytes,
                    footprint: middle.footprint,
                    body: self.items(&l.body, rows, accesses),
                }));
            }
            Node::Realize(r) => {
                let Row { times, amount, middle } = rows.next().unwrap_or_default();
                let middle = middle.unwrap_or_default();
                items.push(Item::Store(StoreCost {
                    func: r.func,
                    name: self.program.func_name(r.func).to_string(),
                    allocations: times,
                    elements: amount,
                    extents: middle.extents,
                    folded: r.fold.iter().map(Option::is_some).collect(),
                    bytes: middle.bytes,
                    body: self.items(&r.body, rows, accesses),
                }));
            }
            Node::Provide(p) => items.push(Item::Points(PointsCost {
                func: p.func,
                name: self.program.func_name(p.func).to_string(),
                points: rows.next().unwrap_or_default().times,
                operations: p.operations,
                reads: p.reads.len() as u32,
                accesses: accesses.next().unwrap_or_default(),
            })),
        });
        items
    }
}

impl Nest {
    /// Calls `f` on all of its parts, outer ones first.
    pub fn for_each(&self, f: &mut impl FnMut(&Item)) {
        fn go(items: &[Item], f: &mut dyn FnMut(&Item)) {
            for item in items {
                f(item);
                match item {
                    Item::Loop(LoopCost { body, .. }) | Item::Store(StoreCost { body, .. }) => go(body, f),
                    Item::Points(_) => {}
                }
            }
        }
        go(&self.body, f);
    }

    /// Returns the number of points that are computed of the Func called `name`, of all its definitions.
    pub fn points(&self, name: &str) -> f64 {
        let mut points = 0.0;
        self.for_each(&mut |item| match item {
            Item::Points(p) if p.name == name => points += p.points,
            _ => {}
        });
        points
    }

    /// Returns the number of allocations of the Func called `name`, and the elements of all of them together.
    pub fn stored(&self, name: &str) -> (f64, f64) {
        let (mut allocations, mut elements) = (0.0, 0.0);
        self.for_each(&mut |item| match item {
            Item::Store(s) if s.name == name => {
                allocations += s.allocations;
                elements += s.elements;
            }
            _ => {}
        });
        (allocations, elements)
    }
}
