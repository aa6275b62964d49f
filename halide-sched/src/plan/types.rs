//! The tables of a plan.

use super::options::StageOptions;
use crate::schedule::{Align, FloatMode, Partition, PrefetchBound};
use halide_core::declare_ids;
use halide_core::error::Location;
use halide_core::externs::ExternDef;
use halide_core::ids::{ExprId, FuncId, IdVec, ImageId, RDomId};
use halide_core::pipeline::Pipeline;
use halide_ir::target::Target;
use halide_solve::bounds::Interval;
use std::collections::{BTreeMap, BTreeSet};

declare_ids! {
    /// A variable (dimension, split part, fused loop) of one stage variant.
    StageVar, "d";
    /// A name of loops, [`Plan::labels`]. A level means the loop of its label in each variant of a stage, and in each
    /// stage whose loops run as one.
    LoopLabel, "l";
}

/// Every loop, level and storage decision for every Func of a pipeline.
#[derive(Clone, Debug, Hash)]
pub struct Plan {
    /// The pipeline after `in_`, `clone_in` and `rfactor`, and with one copy per consumer of each Func that has updates
    /// but is left inline. The user's is untouched.
    pub pipeline: Pipeline,
    /// One row per Func of `pipeline`.
    pub funcs: IdVec<FuncId, FuncPlan>,
    /// Funcs with stages whose outer loops run as one. Those of a group stand next to each other in the pipeline's
    /// order.
    pub groups: Vec<Vec<FuncId>>,
    /// The names of loops.
    pub labels: IdVec<LoopLabel, String>,
    /// The machine that code is compiled for.
    pub target: Target,
    /// The integers that images hold where another plan computed them.
    pub held: HeldValues,
    /// The closures that code calls: those of extern stages in loops, then those of instructions.
    pub callees: Vec<ExternDef>,
}

/// The integers that images hold, with ends that are made of constants, parameters and the shapes of images
/// ([`image_buffer`](super::image_buffer)). Elements that nobody needs may be any.
pub type HeldValues = BTreeMap<ImageId, Interval>;

/// The decisions for one Func.
#[derive(Clone, Debug, Hash)]
pub struct FuncPlan {
    /// The place at which its values are computed. `Inline` only for Funcs without updates.
    pub compute: Level,
    /// The place at which its values are kept; the same as or outside of `compute`.
    pub store: Level,
    /// The place at which its memory is allocated; the same as or outside of `store`.
    pub hoist: Level,
    /// Dimensions of the storage from smallest stride to largest; a dimension of the Func that is split has two.
    pub storage: Vec<StorageDim>,
    /// The number of copies of the storage, where a schedule says that.
    pub ring: Option<i64>,
    /// True if it is computed for the next iteration while this one runs.
    pub is_async: bool,
    /// The kind of memory.
    pub memory: halide_ir::Memory,
    /// The memories, of host or device, to which its values are copied as soon as they are computed.
    pub copies: BTreeSet<halide_ir::Residency>,
    /// Constraints on the computed region, by dimension.
    pub bounds: Vec<BoundConstraint>,
    /// The number of coordinates that there is room for, by dimension, where a schedule says that.
    pub room: Vec<Option<Room>>,
    /// The first coordinate and the extent that are likely to be asked for, by dimension.
    pub estimates: Vec<Option<(i64, i64)>>,
    /// One row per definition.
    pub stages: Vec<StagePlan>,
}

/// A place in the loop nest. Its loop is a label, or while a schedule is resolved, a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Level<L = LoopLabel> {
    /// Substituted into each consumer.
    Inline,
    /// Outside of all loops.
    Root,
    /// Inside the loop `label` of a stage of another Func; where loops of several stages run as one, it is that of the
    /// stage that the others are computed with. In each variant (specialisation) of that stage there is such a loop,
    /// and the thing is placed in each.
    At {
        /// The Func whose loop it is.
        func: FuncId,
        /// The stage of that Func.
        stage: usize,
        /// The loop.
        label: L,
    },
}

impl<L> Level<L> {
    /// Returns the level with what `f` makes of its loop.
    pub(super) fn map<M>(self, f: impl FnOnce(L) -> M) -> Level<M> {
        match self {
            Level::Inline => Level::Inline,
            Level::Root => Level::Root,
            Level::At { func, stage, label } => Level::At { func, stage, label: f(label) },
        }
    }
}

/// A dimension of storage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StorageDim {
    /// Its name: that of the Func's dimension, or of a part of it.
    pub name: String,
    /// The dimension of the Func.
    pub dim: usize,
    /// The part of the dimension's coordinates that it counts.
    pub part: StoragePart,
    /// Its extent in memory is rounded up to a multiple of this; 1 is as it is.
    pub align: i64,
    /// The circular factor asked for: (factor, coordinates grow).
    pub fold: Option<(i64, bool)>,
    /// The place of the directive that asked for alignment or folding.
    pub at: Option<Location>,
}

/// The part of the coordinate `c` of a Func's dimension that a dimension of its storage counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoragePart {
    /// `c`.
    Whole,
    /// The number of the block, `c / n`, rounded down.
    Outer(i64),
    /// The place within its block, `c % n`, never negative.
    Inner(i64),
}

/// Room in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Room {
    /// For so many coordinates of a dimension.
    pub extent: i64,
    /// The place of the directive.
    pub at: Option<Location>,
}

/// Constraints on the region of one dimension.
#[derive(Clone, Debug, PartialEq, Eq, Default, Hash)]
pub struct BoundConstraint {
    /// The promised first coordinate and extent (`bound`); the extent alone (`bound_extent`). Scalar Index expressions.
    pub min: Option<halide_ir::Expr>,
    /// The promised extent.
    pub extent: Option<halide_ir::Expr>,
    /// `min % modulus == remainder`, and the extent a multiple of the modulus (`align_bounds`).
    pub align: Option<(i64, i64)>,
    /// The extent is a multiple of this (`align_extent`).
    pub align_extent: Option<i64>,
    /// The place at which the constraint was written.
    pub at: Option<Location>,
}

/// Constants of the region of one dimension of an output, which hold in a specialisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct KnownSpan {
    /// The first coordinate.
    pub min: Option<i64>,
    /// The number of coordinates, at least 1.
    pub extent: Option<i64>,
}

/// The loops of one definition, for the general case and each specialisation.
#[derive(Clone, Debug, Hash)]
pub struct StagePlan {
    /// Specialisations in the order in which they are tested.
    pub variants: Vec<(halide_ir::Expr, StagePlan)>,
    /// The message that ends the run if no specialisation applies; `None`: the loops below run.
    pub fail: Option<(String, Option<Location>)>,
    /// Every variable that the directives made or that the definition has.
    pub vars: IdVec<StageVar, StageVarInfo>,
    /// The label of the loop over each variable.
    pub labels: IdVec<StageVar, LoopLabel>,
    /// Splits and fusions in the order they were made.
    pub transforms: Vec<Transform>,
    /// The loops, outermost first. Together they are the leaves of the transforms.
    pub loops: Vec<LoopPlan>,
    /// The rewrites that are allowed for its floats.
    pub float: FloatMode,
    /// True if an iteration must change an element in one step, because others that run at the same time may change it.
    pub atomic: bool,
    /// The stage whose outer loops run as one with those of this one.
    pub with: Option<With>,
    /// The properties of variables that must agree for it to find what it needs of stages that it is computed with.
    pub agreements: Vec<Agreement>,
    /// The Funcs that it needs values of and that are computed together with its own.
    pub needs: Vec<FuncId>,
    /// The values to be brought into caches ahead of their use.
    pub prefetches: Vec<Prefetch>,
    /// Settings that change none of its loops.
    pub options: StageOptions,
    /// The instructions that its innermost loops compute.
    pub uses: Vec<Used>,
    /// Constants of the region of an output by the conditions of a specialisation, dimension by dimension.
    pub known: Vec<KnownSpan>,
    /// The case of specialisations in which it runs, for reports: `where f.extent(0) > 99`, or `otherwise`; empty if
    /// there are none.
    pub case: String,
}

/// The Func or image that values are read from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// A Func; lowering asks of those only that are not inlined.
    Func(FuncId),
    /// An input image.
    Image(ImageId),
}

/// A prefetch: values that a later iteration reads are brought into caches before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Prefetch {
    /// The Func or image that is read.
    pub what: Source,
    /// The loop in whose iterations that is done.
    pub at: StageVar,
    /// The loop whose later iteration reads.
    pub from: StageVar,
    /// The number of iterations between the prefetch and the read.
    pub offset: i64,
    /// The treatment of coordinates beyond the bounds of the source.
    pub bound: PrefetchBound,
}

/// An instruction that the innermost loops of a stage compute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Used {
    /// Its name.
    pub instruction: String,
    /// The loop of each of its axes.
    pub vars: Vec<StageVar>,
    /// The beginning of the machine instruction that must be in the code.
    pub emits: Option<String>,
    /// The call that stands in place of its loops, if a closure computes it.
    pub call: Option<InstructionCall>,
    /// The place of the directive.
    pub at: Option<Location>,
}

/// A call of a closure in place of the innermost loops of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InstructionCall {
    /// The number of the closure among those of the plan.
    pub callee: usize,
    /// True if it changes what the elements hold.
    pub updates: bool,
    /// The box of the stage's own Func that it writes.
    pub result: Vec<BoxDim>,
    /// The boxes that it reads: of an element of a Func or an image.
    pub operands: Vec<(Source, u8, Vec<BoxDim>)>,
}

/// The coordinates of a box in one dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BoxDim {
    /// The first one, where the variables have their values of the first iteration of all axes: multiples of these, and
    /// a number.
    pub terms: Vec<(BoxTerm, i64)>,
    /// The number.
    pub offset: i64,
    /// The number of coordinates.
    pub extent: i64,
}

/// A value that a coordinate of a box is a multiple of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoxTerm {
    /// The variable of a dimension of the Func.
    Pure(usize),
    /// The variable of a dimension of the reduction domain.
    Reduction(usize),
    /// An expression that is constant for the whole run.
    Uniform(ExprId),
}

/// A link between two stages: the outer loops of a stage run as one with those of its leader, which comes first in each
/// iteration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct With {
    /// The other one.
    pub leader: (FuncId, usize),
    /// For each loop that runs as one, outermost first: which iterations come together.
    pub align: Vec<Align>,
}

/// Two variables of stages that are computed together that must be alike for one stage to find what it needs of the
/// other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Agreement {
    /// The stage whose values are needed.
    pub of: (FuncId, usize),
    /// Its variable.
    pub theirs: StageVar,
    /// The variable of the stage that needs them.
    pub own: StageVar,
    /// The property that both variables have in common.
    pub on: Property,
}

/// A property of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Property {
    /// The first value.
    First,
    /// The number of values.
    Count,
}

/// A variable of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StageVarInfo {
    /// Its name; unique in the stage.
    pub name: String,
    /// Its origin in the definition or the transforms.
    pub origin: VarOrigin,
    /// True if it is, or is made of, a reduction variable.
    pub reduction: bool,
}

/// The kinds of stage variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VarOrigin {
    /// The Func's dimension `dim`; ranges over the stage's region.
    Pure {
        /// The index of the dimension.
        dim: usize,
    },
    /// Dimension `dim` of a reduction domain; ranges over the domain.
    Reduction {
        /// The domain.
        rdom: RDomId,
        /// The index of the dimension in the domain.
        dim: usize,
    },
    /// Made by a transform; ranges from 0.
    Derived,
    /// The one block of a stage that is a single thread: it is 0.
    One,
}

/// A change of loop variables.
#[derive(Clone, Debug, Hash)]
pub enum Transform {
    /// `var = outer * factor + inner + (its minimum)`, with `inner` in `0..factor`.
    Split {
        /// The variable replaced.
        var: StageVar,
        /// Counts chunks from 0.
        outer: StageVar,
        /// Counts inside a chunk from 0.
        inner: StageVar,
        /// Scalar Index: constant or a parameter; at least 1 (checked at run time if a parameter).
        factor: halide_ir::Expr,
        /// The treatment of the last chunk if the factor does not divide the extent.
        tail: PlanTail,
        /// The place at which the split was written.
        at: Option<Location>,
    },
    /// `var = start(outer) + inner + (its minimum)`, in `count` chunks of sizes that differ by one at most. Number
    /// `outer` starts at `outer * (extent / count) + min(outer, extent % count)`.
    Balance {
        /// The variable replaced.
        var: StageVar,
        /// Counts chunks from 0.
        outer: StageVar,
        /// Counts inside a chunk from 0.
        inner: StageVar,
        /// The number of chunks. Scalar Index: constant or a parameter; at least 1 (checked at run time if a
        /// parameter).
        count: halide_ir::Expr,
        /// The place at which it was written.
        at: Option<Location>,
    },
    /// `skewed = var + by * along`, counted from the least such sum, 0. The loop over `along` stays.
    Skew {
        /// The variable replaced.
        var: StageVar,
        /// Not 0.
        by: i64,
        /// The variable whose multiples are added.
        along: StageVar,
        /// The new loop.
        skewed: StageVar,
    },
    /// `fused = outer * extent(inner) + inner`, from 0.
    Fuse {
        /// Runs fastest.
        inner: StageVar,
        /// Runs slowest.
        outer: StageVar,
        /// The new loop.
        fused: StageVar,
    },
}

/// The tail strategy of a split after `Auto` is resolved.
///
/// `AutoShift` is what `Auto` becomes on a split of a pure definition: compiled as `ShiftInwards` in the main variant
/// of the code, and as `GuardWithIf` in the variant for small shapes, which is compiled when first needed. A type of
/// its own beside [`Tail`](crate::schedule::Tail), so that lowering meets no `Auto` and schedules cannot say
/// `AutoShift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // As `schedule::Tail`.
pub enum PlanTail {
    AutoShift,
    RoundUp,
    GuardWithIf,
    Predicate,
    PredicateLoads,
    PredicateStores,
    ShiftInwards,
    ShiftInwardsAndBlend,
    RoundUpAndBlend,
}

/// One loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoopPlan {
    /// The variable that it runs over.
    pub var: StageVar,
    /// The way in which its iterations run.
    pub kind: halide_ir::ForKind,
    /// The choice of loop partitioning: a cut into prologue, steady state and epilogue.
    pub partition: Partition,
    /// True if its iterations carry on a scan, one element each.
    pub is_scan: bool,
    /// The place of the directive that chose its kind or partition.
    pub at: Option<Location>,
}
