//! Reasons that several mistakes share.

use halide_core::error::Location;
use halide_core::types::ScalarType;

/// A reason for which the order of a reduction cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderReason {
    /// The result depends on the order.
    NotCommutative,
    /// Only parts that follow each other may be combined: the first of several that are as good counts.
    InOrder,
    /// It is a float sum or the like, whose rounding depends on the order.
    Floats,
}

impl OrderReason {
    /// Returns the reason as the predicate of a sentence about the update.
    pub(crate) fn text(self) -> &'static str {
        match self {
            OrderReason::NotCommutative => "is no associative and commutative operation on the old value alone",
            OrderReason::InOrder => "takes the first of several that are as good",
            OrderReason::Floats => "rounds differently in another order",
        }
    }
}

/// A reason for which a stage cannot be computed with a stage of a Func that it needs values of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TogetherReason {
    /// It does not come behind the last stage of this Func in the same loops.
    Before(String),
    /// It needs them by way of this Func, which is computed by itself.
    Between(String),
    /// Iterations that run together have different values of the loops' variables.
    Aligned,
    /// Its loops and coordinates are beyond what can be told.
    Beyond,
    /// The last pieces of a loop that this one is a part of may begin earlier.
    Shifts {
        /// The stage.
        of: String,
        /// Its loop.
        var: String,
    },
    /// It may read an element before another iteration stores it.
    Early {
        /// The element that is read, as it is written.
        read: String,
        /// The element that is stored, as it is written.
        store: String,
        /// The place of the read.
        at: Location,
    },
}

impl TogetherReason {
    /// Returns the reason as a main clause.
    pub(crate) fn text(&self) -> String {
        match self {
            TogetherReason::Before(producer) => format!("it would not come behind the last stage of `{producer}`"),
            TogetherReason::Between(func) => {
                format!("they come by way of `{func}`, which is computed by itself")
            }
            TogetherReason::Aligned => "their loops run together at different values of their variables".to_string(),
            TogetherReason::Beyond => "their loops are too many, or of forms that cannot be compared".to_string(),
            TogetherReason::Shifts { of, var } => {
                format!("`{var}` of `{of}` is a part of a loop whose last piece may begin earlier, to fit")
            }
            TogetherReason::Early { read, store, at } => format!(
                "an iteration of the loops that run as one may load `{read}` before another one stores it to \
                 `{store}`, at {at}"
            ),
        }
    }

    /// Returns the way out of it.
    pub(crate) fn remedy(&self) -> String {
        match self {
            TogetherReason::Before(producer) => {
                format!(
                    "compute its stages that need `{producer}` with the last stage of `{producer}`, or none of them"
                )
            }
            TogetherReason::Between(func) => {
                format!("inline `{func}`, or compute it at the root, and its consumers apart")
            }
            TogetherReason::Aligned => "say NoAlign of all loops that run as one".to_string(),
            TogetherReason::Beyond => "compute them one after the other".to_string(),
            TogetherReason::Shifts { of, .. } => format!("give the split of `{of}` the tail GuardWithIf"),
            TogetherReason::Early { .. } => {
                "let fewer loops run as one, from the outermost, none of them parallel; or compute them one after the \
                 other"
                    .to_string()
            }
        }
    }
}

/// A reason for which a recurrence cannot be done in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScanReason {
    /// The Func has other updates.
    Updates,
    /// The domain has a condition.
    Condition,
    /// The first definition is what an output holds.
    Kept,
    /// Other coordinates than that of the scan are of no simple form.
    Coordinates,
    /// A number of where it begins needs more than 32 bits.
    Large,
    /// The step is no known operation.
    Operation,
    /// The identity of the operation changes some elements.
    Identity,
    /// It is not the chunks of the variable with this name that are factored out.
    Chunks(String),
}

impl ScanReason {
    /// Returns the reason as a clause about the update.
    pub(crate) fn text(&self) -> String {
        let text = match self {
            ScanReason::Updates => "its Func has other updates than some of single elements before it",
            ScanReason::Condition => "its domain has a condition, where such a chain breaks",
            ScanReason::Kept => "its Func begins with what its output holds (`undef`), which its parts have not",
            ScanReason::Coordinates => {
                "another coordinate is neither a dimension of the Func nor a reduction variable plus a constant, \
                 each of them once"
            }
            ScanReason::Large => "where it begins is beyond 32 bits",
            ScanReason::Operation => "combines it with new values by no operation that is known to be associative",
            ScanReason::Identity => "its operation has no identity that leaves every element as it is",
            ScanReason::Chunks(var) => {
                return format!("only chunks of `{var}`, along which it goes, can be scanned for themselves");
            }
        };
        text.to_string()
    }

    /// Returns a remedy, if one is known.
    pub(crate) fn help(&self) -> Option<String> {
        let text = match self {
            ScanReason::Updates => "give the scan a Func of its own",
            ScanReason::Condition => {
                "choose what is new by the condition instead: `select(condition, value, identity)`"
            }
            ScanReason::Operation => {
                "vouch for the operation with `monoid`; say `f[r] = a * f[r - 1] + b` of pairs of such factors and sums"
            }
            ScanReason::Chunks(var) => return Some(format!("say `split({var}, ro, ri, 1024) rfactor(ro, u)`")),
            ScanReason::Kept | ScanReason::Coordinates | ScanReason::Large | ScanReason::Identity => return None,
        };
        Some(text.to_string())
    }
}

/// A reason for which a GPU cannot change an element in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepReason {
    /// It has so many values.
    Tuple(usize),
    /// It is larger than a word.
    Wide(ScalarType),
}

impl StepReason {
    /// Returns the reason as a clause about the element.
    pub(crate) fn text(self) -> String {
        match self {
            StepReason::Tuple(values) => format!("the element has {values} values"),
            StepReason::Wide(ty) => format!("the element is {ty}, of more than 32 bits"),
        }
    }
}

/// The kinds of memory that the iterations of a parallel or vectorized loop would share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    /// Values that updates change.
    Updates,
    /// A circular buffer.
    Fold,
    /// Memory that each iteration uses for values of its own.
    Memory,
}

/// The reason that the elements of a Func cannot lie in one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinReason {
    /// It is no tuple.
    OneElement,
    /// Its elements have several types.
    Types,
    /// It has updates.
    Updates,
    /// It is an output.
    Output,
}

impl JoinReason {
    /// The reason as text.
    pub fn text(self) -> &'static str {
        match self {
            JoinReason::OneElement => "it has one element",
            JoinReason::Types => "they are of several types",
            JoinReason::Updates => "it has updates",
            JoinReason::Output => "it is an output, whose memory the caller gives",
        }
    }
    /// The remedy.
    pub fn remedy(self, func: &str) -> String {
        match self {
            JoinReason::OneElement => "say it of a tuple".into(),
            JoinReason::Types => "convert them to one type, or leave them apart".into(),
            JoinReason::Updates => format!("say it of a wrapper, such as {func}.in(...)"),
            JoinReason::Output => "give the output that dimension in the algorithm".into(),
        }
    }
}

/// A reason for which the loops of an instruction cannot be a call of the closure that computes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallObstacle {
    /// The stage uses other instructions, too.
    Others,
    /// Its elements are changed in one step.
    Atomic,
    /// Its loops run for another stage as well.
    Together,
    /// It prints or requires something at its points.
    Tells,
    /// A Func has its place in one of the loops.
    Inside {
        /// The Func.
        func: String,
        /// The loop.
        var: String,
    },
    /// Values are prefetched in one of the loops, or for one.
    Prefetch {
        /// The Func or image.
        what: String,
    },
    /// A loop around it runs in lanes, or on a device.
    Around {
        /// The loop.
        var: String,
    },
    /// The memory of a Func has no boxes of its coordinates.
    Stored {
        /// The Func.
        func: String,
        /// The way in which it is stored.
        how: &'static str,
    },
    /// Coordinates are too large.
    Large,
}

impl CallObstacle {
    /// Returns the reason as a main clause, and the remedy.
    pub(crate) fn text(&self) -> (String, &'static str) {
        let (why, remedy) = match self {
            CallObstacle::Others => ("the stage uses others, too", "use one"),
            CallObstacle::Atomic => ("the stage is atomic", "leave out atomic()"),
            CallObstacle::Together => ("the stage is computed with another one", "leave out compute_with(...)"),
            CallObstacle::Tells => {
                ("the stage prints or requires something at its points", "leave that out, or the instruction")
            }
            CallObstacle::Inside { func, var } => {
                let why = format!("`{func}` has its place in the loop `{var}` of it");
                return (why, "choose a loop around the instruction");
            }
            CallObstacle::Prefetch { what } => {
                return (
                    format!("`{what}` is prefetched in a loop of it"),
                    "prefetch in a loop around the instruction",
                );
            }
            CallObstacle::Around { var } => {
                let why = format!("the loop `{var}` around it runs in lanes or on a device");
                return (why, "let that loop be serial or parallel");
            }
            CallObstacle::Stored { func, how } => {
                return (format!("`{func}` is stored {how}"), "leave that out, or read a copy made by in()");
            }
            CallObstacle::Large => ("its coordinates are beyond 64 bits", "use smaller factors"),
        };
        (why.to_string(), remedy)
    }
}
