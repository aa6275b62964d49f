//! Everything that can go wrong between an algorithm and its pixels, as one type for `?`.

use crate::fault::{CallFault, Defect};
#[cfg(feature = "cpu")]
pub use crate::object::problem::ObjectProblem;
use crate::program::error::ProgramErrors;
use crate::tune::error::DatabaseError;
#[cfg(feature = "cpu")]
pub use crate::used::NotEmitted;
use halide_auto::AutoError;
use halide_core::limits::OverCap;
#[cfg(feature = "cpu")]
use halide_sched::lower::Cause;
use std::fmt;
use std::time::Duration;

pub use halide_core::adjoint::{AdjointError, AdjointErrorKind, AdjointErrors};
pub use halide_core::buffer::BufferError;
pub use halide_core::error::{AlgorithmError, AlgorithmErrorKind, AlgorithmErrors, Location};
pub use halide_core::interp::RunError;
#[cfg(feature = "cpu")]
pub use halide_cpu::CpuError;
#[cfg(feature = "gpu")]
pub use halide_gpu::GpuError;
pub use halide_sched::lower::regions::query::QueryError;
pub use halide_sched::lower::storage::in_place::{InPlaceError, InPlaceProblem};
pub use halide_sched::lower::{Access, LowerError};
pub use halide_sched::plan::{Problem, ScheduleError};
pub use halide_sched::schedule::{ParseError, ParseErrors};

/// An error of an algorithm, a schedule or a run.
///
/// The text names each problem with its place, the reason, and what would do. It contains the text of
/// [`source`](std::error::Error::source), which is the error of the layer below, if there is one: print one of them.
///
/// ```
/// use halide::prelude::*;
/// let x = Var::new("x");
/// let input = ImageParam::new("input", U8, 1);
/// let mut f = Func::new("f");
/// f[x] = input[x + 1];
/// let compiled = Pipeline::new([&f])?.compile(&Schedule::new(), &Target::host())?;
///
/// let error = compiled.inputs().realize::<u8>([4]).unwrap_err();
/// assert_eq!(error.to_string(), "input image `input` was not given; bind a buffer to it");
/// let small = compiled.inputs().image(&input, Buffer::<u8>::new([4])?);
/// match small.realize::<u8>([4]).unwrap_err() {
///     Error::Fault(fault) => assert_eq!(fault.kind(), FaultKind::InputTooSmall),
///     other => panic!("{other}"),
/// }
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum Error {
    /// The algorithm has mistakes: all of them.
    Algorithm(AlgorithmErrors),
    /// A loss has no gradient: all reasons.
    Adjoint(AdjointErrors),
    /// The text of a schedule cannot be read.
    Parse(ParseErrors),
    /// The schedule does not suit the pipeline: all reasons.
    Schedule(Vec<ScheduleError>),
    /// The schedule is legal, but cannot be lowered: all reasons.
    Lower(Vec<LowerError>),
    /// No schedule can be chosen: the sizes that it is for have mistakes, or the pipeline has extern stages.
    Auto(AutoError),
    /// The lowered program could not be made into machine code.
    #[cfg(feature = "cpu")]
    Cpu(CpuError),
    /// The lowered program would become more code than the target's budget allows, or need more stack.
    #[cfg(feature = "cpu")]
    CodeTooLarge {
        /// The measure that is exceeded.
        error: CpuError,
        /// The directives that multiply code the most.
        causes: Vec<Cause>,
    },
    /// A stage uses an instruction that its code does not have.
    #[cfg(feature = "cpu")]
    NotEmitted(Box<NotEmitted>),
    /// Code could not be handed to profilers as the environment asks for.
    #[cfg(feature = "cpu")]
    Perf {
        /// The problem and a remedy.
        problem: String,
    },
    /// The pipeline cannot be compiled into an object for linking.
    #[cfg(feature = "cpu")]
    Object(ObjectProblem),
    /// There is no such GPU, or it cannot run the pipeline.
    #[cfg(feature = "gpu")]
    Gpu(GpuError),
    /// The schedule gives work to a GPU, and the pipeline was to be compiled for this CPU alone.
    #[cfg(feature = "cpu")]
    NoDevice {
        /// The first kernel, which is named by its Func.
        kernel: String,
    },
    /// A page in a browser cannot wait for its GPU.
    #[cfg(feature = "gpu")]
    CannotWait,
    /// The run would have had more memory than it may: see [`Call::memory_cap`](crate::call::Call::memory_cap). Outputs
    /// may have been written, unless that was known before it started.
    Memory {
        /// The Func or output whose values it is for.
        func: String,
        /// The bytes that they need, and the cap.
        over: OverCap,
    },
    /// The run was cancelled by a [`Cancel`](crate::limits::Cancel). What outputs hold is not specified.
    Cancelled,
    /// The run was not done in its time: see [`Call::give_up_after`](crate::call::Call::give_up_after). What outputs
    /// hold is not specified.
    GaveUp {
        /// The time that it had.
        after: Duration,
    },
    /// There is no thread to watch the time of a run. Nothing was written.
    NoWatch {
        /// The reason that the system gives.
        why: String,
    },
    /// The receiver of the lines that a pipeline prints panicked. Outputs may have been written.
    Print {
        /// The text of the panic.
        panic: String,
    },
    /// A call does not suit the compiled pipeline, or a run of it cannot go on. [`FaultKind`](crate::fault::FaultKind)
    /// says of which kinds outputs may have been written.
    Fault(CallFault),
    /// A mistake of halide's own.
    Internal(Defect),
    /// A program has mistakes, all of them; or a step of a run of it failed.
    Program(ProgramErrors),
    /// A call gave wrong inputs or asked for an impossible output.
    Run(RunError),
    /// The requirements of a call on its inputs cannot be determined.
    Query(QueryError),
    /// An output cannot be computed in the memory of an input. Nothing was written.
    InPlace(InPlaceError),
    /// A database of measured schedules cannot be used.
    Database(DatabaseError),
    /// A Func that the pipeline does not have.
    NoFunc {
        /// The name asked for.
        func: String,
        /// The Funcs there are.
        known: Vec<String>,
    },
    /// A Func without a region, since it is substituted where it is used.
    InlineFunc {
        /// Its name.
        func: String,
    },
    /// A buffer is no image.
    #[cfg(feature = "image")]
    Image(crate::image::ImageError),
    /// A buffer could not be made or viewed.
    Buffer(BufferError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Algorithm(errors) => errors.fmt(f),
            Error::Adjoint(errors) => errors.fmt(f),
            Error::Parse(errors) => errors.fmt(f),
            Error::Schedule(errors) => lines(f, errors),
            Error::Lower(errors) => lines(f, errors),
            #[cfg(feature = "cpu")]
            Error::Cpu(error) => error.fmt(f),
            #[cfg(feature = "cpu")]
            Error::Object(problem) => problem.fmt(f),
            #[cfg(feature = "cpu")]
            Error::NotEmitted(missing) => missing.fmt(f),
            #[cfg(feature = "cpu")]
            Error::CodeTooLarge { error, causes } => {
                error.fmt(f)?;
                causes.iter().try_for_each(|cause| write!(f, "\n  {cause}"))?;
                f.write_str("\n  help: unroll or vectorize by less, or allow more by the target's budget")
            }
            #[cfg(feature = "cpu")]
            Error::NoDevice { kernel } => {
                let help = match cfg!(feature = "gpu") {
                    true => "leave out Engine::Cpu and compile with Compiler::gpu(&gpu), or ask for Engine::Gpu",
                    false => "build halide with feature `gpu`, and compile with Compiler::gpu(&gpu)",
                };
                let asked = "machine code for this CPU alone was asked for";
                write!(f, "the schedule gives `{kernel}` to a GPU, and {asked}\n  help: {help}")
            }
            #[cfg(feature = "cpu")]
            Error::Perf { problem } => f.write_str(problem),
            #[cfg(feature = "gpu")]
            Error::Gpu(error) => match error.hint() {
                Some(hint) => write!(f, "{error}\n  help: {hint}"),
                None => error.fmt(f),
            },
            #[cfg(feature = "gpu")]
            Error::CannotWait => f.write_str(
                "a page in a browser cannot wait for its GPU\n  \
                 help: compile with Compiler::compile_async, which a ShapeCache does not, and run with \
                 Call::realize_all_async",
            ),
            Error::Memory { func, over } => {
                let cap = if over.of_machine { "set another cap with" } else { "raise the cap:" };
                write!(
                    f,
                    "`{func}` {over}\n  help: compute a smaller output, store it at an inner loop, or {cap} \
                     Call::memory_cap"
                )
            }
            Error::Cancelled => f.write_str("the run was cancelled; what its outputs hold is not specified"),
            Error::GaveUp { .. } | Error::NoWatch { .. } => self.time(f),
            Error::Print { panic } => write!(f, "the receiver of the lines that the pipeline prints panicked: {panic}"),
            Error::Fault(fault) => fault.fmt(f),
            Error::Internal(defect) => write!(f, "{defect}\nthis is a mistake of halide's own; please report it"),
            Error::NoFunc { func, known } => {
                write!(f, "the pipeline has no Func `{func}`; its Funcs are {}", known.join(", "))
            }
            Error::InlineFunc { func } => write!(
                f,
                "`{func}` has no region: the schedule leaves it inline, so it is substituted where it is used; ask for a \
                 Func that is computed"
            ),
            Error::Program(errors) => errors.fmt(f),
            Error::Run(error) => error.fmt(f),
            Error::InPlace(error) => error.fmt(f),
            Error::Auto(error) => error.fmt(f),
            Error::Database(error) => error.fmt(f),
            Error::Query(error) => error.fmt(f),
            #[cfg(feature = "image")]
            Error::Image(error) => error.fmt(f),
            Error::Buffer(error) => error.fmt(f),
        }
    }
}

halide_core::debug_is_display!(Error);

impl std::error::Error for Error {
    /// The error of the layer below: of several, the first.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Algorithm(errors) => Some(errors),
            Error::Adjoint(errors) => Some(errors),
            Error::Parse(errors) => Some(errors),
            Error::Schedule(errors) => errors.first().map(|error| error as _),
            Error::Lower(errors) => errors.first().map(|error| error as _),
            #[cfg(feature = "cpu")]
            Error::Cpu(error) | Error::CodeTooLarge { error, .. } => Some(error),
            #[cfg(feature = "cpu")]
            Error::Object(problem) => Some(problem),
            #[cfg(feature = "gpu")]
            Error::Gpu(error) => Some(error),
            Error::Memory { over, .. } => Some(over),
            Error::Fault(fault) => Some(fault),
            Error::Internal(defect) => Some(defect),
            Error::Program(errors) => Some(errors),
            Error::Run(error) => Some(error),
            Error::Auto(error) => Some(error),
            Error::Database(error) => Some(error),
            Error::Query(error) => Some(error),
            Error::InPlace(error) => Some(error),
            #[cfg(feature = "image")]
            Error::Image(error) => Some(error),
            Error::Buffer(error) => Some(error),
            #[cfg(feature = "cpu")]
            Error::NoDevice { .. } | Error::Perf { .. } | Error::NotEmitted(_) => None,
            #[cfg(feature = "gpu")]
            Error::CannotWait => None,
            Error::Cancelled
            | Error::GaveUp { .. }
            | Error::NoWatch { .. }
            | Error::Print { .. }
            | Error::NoFunc { .. }
            | Error::InlineFunc { .. } => None,
        }
    }
}

#[cfg(feature = "cpu")]
impl Error {
    /// The error of a program that directives made large: if that is why, they are named.
    pub(crate) fn caused_by(self, causes: &[Cause]) -> Error {
        match self {
            Error::Cpu(error) if error.is_of_budget() => Error::CodeTooLarge { error, causes: causes.to_vec() },
            other => other,
        }
    }
}

impl Error {
    /// Writes an error about the time of a run.
    fn time(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::GaveUp { after } => write!(
                f,
                "the run was given up after {} ms; what its outputs hold is not specified; compute a smaller output, or give \
                 it more time with Call::give_up_after",
                after.as_millis()
            ),
            Error::NoWatch { why } => write!(
                f,
                "no thread could be started to watch the time of the run: {why}; run without Call::give_up_after, or \
                 with Call::cancel_with"
            ),
            _ => Ok(()),
        }
    }
}

fn lines<E: fmt::Display>(f: &mut fmt::Formatter<'_>, errors: &[E]) -> fmt::Result {
    for (i, error) in errors.iter().enumerate() {
        let line = if i == 0 { "" } else { "\n" };
        write!(f, "{line}{error}")?;
    }
    Ok(())
}

macro_rules! from {
    ($($ty:ty: $variant:ident;)*) => {$(
        impl From<$ty> for Error {
            fn from(error: $ty) -> Error {
                Error::$variant(error)
            }
        }
    )*};
}

impl From<AutoError> for Error {
    fn from(error: AutoError) -> Error {
        match error {
            AutoError::Schedule(errors) => Error::Schedule(errors),
            AutoError::Lower(errors) => Error::Lower(errors),
            AutoError::Query(error) => Error::Query(error),
            error => Error::Auto(error),
        }
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Error {
        match error {
            RunError::OverCap { func, over } => Error::Memory { func, over },
            error => Error::Run(error),
        }
    }
}

from! {
    AlgorithmErrors: Algorithm;
    AdjointErrors: Adjoint;
    ParseErrors: Parse;
    BufferError: Buffer;
    InPlaceError: InPlace;
    ProgramErrors: Program;
}

#[cfg(feature = "image")]
from! {
    crate::image::ImageError: Image;
}

#[cfg(feature = "gpu")]
from! {
    GpuError: Gpu;
}
