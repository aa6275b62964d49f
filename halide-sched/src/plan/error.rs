//! The errors of a schedule: which directive, at which place, why, and how to mend it.

pub use crate::plan::monoid::MonoidReason;
pub use crate::plan::reasons::{OrderReason, Shared, StepReason};
use crate::plan::{Collision, Conflict};
use crate::schedule::{LoopKind, Schedule, Tail};
use halide_core::error::Location;
use halide_core::types::ScalarType;
use std::fmt;

/// One thing that is wrong with a schedule for a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleError {
    /// The number of the directive in the schedule, from 0; `None` if what is wrong is that one is missing.
    pub directive: Option<usize>,
    /// The place at which the directive was written.
    pub at: Option<Location>,
    /// The stage that the directive speaks of, as text.
    pub subject: String,
    /// The directive as text; empty if one is missing.
    pub text: String,
    /// The defect.
    pub problem: Problem,
}

/// The defects of a directive. Names are as the user wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The texts below say what each variant and field means.
pub enum Problem {
    UnknownFunc { name: String, near: Option<String> },
    BesideExtern { name: String },
    UnknownUpdate { func: String, updates: usize },
    UnknownSpecialization { index: usize, count: usize },
    WholeFunc { func: String },
    UnknownLoop { of: String, name: String, loops: Vec<String>, near: Option<String> },
    LoopReplaced { of: String, name: String, by: String },
    UnknownDim { func: String, name: String, dims: Vec<String>, near: Option<String> },
    NameTaken { of: String, name: String },
    EmptyName,
    Repeated { name: String },
    FuseWithItself { name: String },
    TooSmall { what: &'static str, value: i64, least: i64 },
    TooLarge { what: &'static str, value: i64, most: i64 },
    UnknownParam { name: String, near: Option<String> },
    ParamType { name: String, ty: ScalarType, needed: &'static str },
    UnknownBuffer { name: String, near: Option<String> },
    NoSuchDim { name: String, dim: usize, dims: usize },
    BadCondition { message: String },
    RepeatedCondition { condition: String },
    AfterFail,
    TailOfReduction { var: String, tail: Tail },
    ShiftOfUpdate { var: String },
    ShiftOfKept { var: String },
    RoundUpInside { var: String },
    PredicateLoadsInside { var: String },
    SplitOfPredicated { var: String, by: String },
    BlendBesideParallel { var: String, parallel: String, tail: Tail },
    OrderMatters { of: String, vars: Vec<String>, why: OrderReason, conflict: Option<Box<Conflict>> },
    Race { of: String, var: String, kind: LoopKind, why: Collision, conflict: Option<Box<Conflict>> },
    NotConstant { of: String, var: String, kind: LoopKind, extent: Option<i64> },
    ParallelInVector { outer: String, inner: String },
    NoGpu { var: String },
    ThreadsOutsideBlocks { var: String },
    ThreadsInThreads { of: String, outer: String, inner: String },
    KernelInKernel { outer: String, inner: String },
    ParallelInKernel { outer: String, inner: String },
    LoopBetweenBlocks { between: String, inner: String },
    BetweenBlocks { outer: String, inner: String },
    TooManyGpuLoops { kind: LoopKind, most: usize },
    KernelInParallel { outer: String, inner: String },
    MoreThanOneThread { of: String, var: String },
    SharedOutsideBlocks { func: String },
    SharedInThreads { func: String, var: String },
    HeapInKernel { func: String, var: String },
    CopyInKernel { func: String, var: String },
    NoGpuToCopy { func: String },
    NoSubgroups { var: String },
    LaneExtent { var: String, extent: i64, lanes: u32 },
    TwiceLanes { outer: String, inner: String },
    ThreadsInLanes { outer: String, inner: String },
    TooManyThreads { var: String, threads: i64, most: i64 },
    TooManyThreadsInAll { of: String, threads: i64, most: i64 },
    NothingToSchedule { func: String },
    OutputLevel { func: String },
    OutputStorage { func: String },
    SiteInline { func: String },
    SiteItself { func: String },
    SiteNotConsumer { func: String, site: String },
    SiteNotInVariant { site: String, var: String, variant: String },
    SiteOutside { func: String, consumer: String, site: String },
    StoreOfInline { func: String },
    NotAround { what: &'static str, outer: String, inner: &'static str, at: String },
    SharedByIterations { func: String, var: String, what: Shared },
    WrapsItself { func: String },
    CopyOfKept { func: String },
    NotACaller { func: String, consumer: String },
    NoCaller { func: String },
    WrappedTwice { func: String, consumer: String },
    TooManyCopies { func: String, most: usize },
    RfactorOfPure { func: String },
    WholeStage { of: String },
    RfactorLists { rvars: usize, vars: usize },
    NotReduction { of: String, name: String, loops: Vec<String>, near: Option<String> },
    RfactorAll { of: String },
    NotAssociative { of: String },
    SaidBeforeRfactor { verb: String },
    FactorBeforeRfactor { name: String },
    FuncTaken { name: String },
    WithItself { func: String },
    WithoutPlace { func: String },
    WithSpecialized { of: String },
    WithEachOther { of: String, host: String },
    WithOtherLoops { of: String, own: Vec<String>, host: String, theirs: Vec<String> },
    NotShared { name: String, loops: Vec<String>, near: Option<String> },
    WithElsewhere { of: String, at: String, host: String, host_at: String },
    WithDependent { consumer: String, producer: String },
    WithTangled { of: String, host: String },
    WithOrder { func: String },
    WithOtherCuts { of: String, own: &'static str, other: String, theirs: &'static str, var: String },
    UnknownSource { name: String, near: Option<String> },
    PrefetchNotRead { of: String, what: String },
    PrefetchFrom { at: String, from: String },
    EstimateDims { func: String, given: usize, dims: usize },
    MonoidOfPure { of: String },
    NoMonoid { of: String, why: MonoidReason },
    AtomicOfPure { of: String },
    AtomicReads { of: String },
    AtomicOrder { of: String, var: String, why: OrderReason },
    AtomicOnGpu { of: String, var: String, why: StepReason },
}

/// The errors found so far.
pub(super) struct Errors<'s> {
    schedule: &'s Schedule,
    list: Vec<ScheduleError>,
}

impl<'s> Errors<'s> {
    pub(super) fn new(schedule: &'s Schedule) -> Errors<'s> {
        Errors { schedule, list: Vec::new() }
    }

    /// Something is wrong with directive number `directive`.
    pub(super) fn report(&mut self, directive: usize, problem: Problem) {
        let d = &self.schedule.directives()[directive];
        self.list.push(ScheduleError {
            directive: Some(directive),
            at: d.at,
            subject: self.schedule.subject_text(&d.subject),
            text: d.verb.to_string(),
            problem,
        });
    }

    /// Something is wrong that no directive says.
    pub(super) fn report_missing(&mut self, func: &str, problem: Problem) {
        let subject = func.to_string();
        self.list.push(ScheduleError { directive: None, at: None, subject, text: String::new(), problem });
    }

    /// Keeps the value of a result, or reports its problem.
    pub(super) fn keep<T>(&mut self, directive: usize, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.report(directive, problem)).ok()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them, in the order of the directives.
    pub(super) fn into_list(mut self) -> Vec<ScheduleError> {
        self.list.sort_by_key(|e| e.directive.unwrap_or(usize::MAX));
        self.list.dedup();
        self.list
    }
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.at, self.directive) {
            (Some(at), _) => write!(f, "{at}: ")?,
            (None, Some(n)) => write!(f, "directive {}: ", n + 1)?,
            (None, None) => {}
        }
        write!(f, "{}", self.subject)?;
        if !self.text.is_empty() {
            write!(f, ": {}", self.text)?;
        }
        write!(f, "\n  {}", self.problem)?;
        self.help().iter().try_for_each(|help| write!(f, "\n  help: {help}"))
    }
}

impl std::error::Error for ScheduleError {}

impl ScheduleError {
    /// Returns a remedy, if one is known.
    pub fn help(&self) -> Option<String> {
        self.problem.help()
    }
}
