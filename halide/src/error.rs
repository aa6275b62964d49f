//! Everything that can go wrong between an algorithm and its pixels, as one type for `?`.

use halide_core::buffer::BufferError;
use halide_core::error::AlgorithmErrors;
use halide_core::interp::RunError;
use halide_sched::lower::LowerError;
use halide_sched::plan::ScheduleError;
use halide_sched::schedule::ParseErrors;
use std::fmt;

/// What went wrong. The text names each problem with its place, the reason, and what would do.
#[derive(Clone, Debug)]
pub enum Error {
    /// The algorithm has mistakes: all of them.
    Algorithm(AlgorithmErrors),
    /// The text of a schedule cannot be read.
    Parse(ParseErrors),
    /// The schedule does not suit the pipeline: all reasons.
    Schedule(Vec<ScheduleError>),
    /// The schedule is legal, but cannot be lowered: all reasons.
    Lower(Vec<LowerError>),
    /// The lowered program could not be made into machine code.
    #[cfg(feature = "cpu")]
    Cpu(halide_cpu::CpuError),
    /// There is no such graphics processor, or it cannot run the pipeline.
    #[cfg(feature = "gpu")]
    Gpu(halide_gpu::GpuError),
    /// The schedule gives work to a graphics processor, and the pipeline was to be compiled for this CPU alone.
    #[cfg(feature = "cpu")]
    NoDevice {
        /// The first kernel, which is named by its Func.
        kernel: String,
    },
    /// A page in a browser cannot wait for its graphics processor.
    #[cfg(feature = "gpu")]
    CannotWait,
    /// What receives the lines that a pipeline prints panicked, with this text. Outputs may have been written.
    Print(String),
    /// A call does not suit the compiled pipeline. Nothing was written.
    Fault(String),
    /// A mistake of halide's own.
    Internal(String),
    /// A call gave wrong inputs or asked for an impossible output.
    Run(RunError),
    /// What a call needs of its inputs cannot be said.
    Query(halide_sched::lower::query::QueryError),
    /// An output cannot be computed in the memory of an input. Nothing was written.
    InPlace(halide_sched::lower::in_place::InPlaceError),
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
            Error::Parse(errors) => errors.fmt(f),
            Error::Schedule(errors) => lines(f, errors),
            Error::Lower(errors) => lines(f, errors),
            #[cfg(feature = "cpu")]
            Error::Cpu(error) => error.fmt(f),
            #[cfg(feature = "cpu")]
            Error::NoDevice { kernel } => write!(
                f,
                "the schedule gives `{kernel}` to a graphics processor, and machine code for this CPU alone was asked for\n  \
                 help: compile with compile_for(&gpu, ...) or compile_on(Engine::Gpu, ...), which has it run there"
            ),
            #[cfg(feature = "gpu")]
            Error::Gpu(error) => match error.hint() {
                Some(hint) => write!(f, "{error}\n  hint: {hint}"),
                None => error.fmt(f),
            },
            #[cfg(feature = "gpu")]
            Error::CannotWait => f.write_str(
                "a page in a browser cannot wait for its graphics processor\n  \
                 help: compile with halide::gpu::compile_async(...), and run with Call::realize_all_async",
            ),
            Error::Print(text) => write!(f, "what receives the lines that the pipeline prints panicked: {text}"),
            Error::Fault(text) => f.write_str(text),
            Error::Internal(text) => write!(f, "{text}\nthis is a mistake of halide's own; please report it"),
            Error::NoFunc { func, known } => {
                write!(f, "the pipeline has no Func `{func}`; its Funcs are {}", known.join(", "))
            }
            Error::InlineFunc { func } => write!(
                f,
                "`{func}` has no region: the schedule leaves it inline, so it is substituted where it is used; ask for a Func \
                 that is computed"
            ),
            Error::Run(error) => error.fmt(f),
            Error::InPlace(error) => error.fmt(f),
            Error::Query(error) => error.fmt(f),
            #[cfg(feature = "image")]
            Error::Image(error) => error.fmt(f),
            Error::Buffer(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

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

from! {
    AlgorithmErrors: Algorithm;
    ParseErrors: Parse;
    RunError: Run;
    BufferError: Buffer;
    halide_sched::lower::in_place::InPlaceError: InPlace;
}

#[cfg(feature = "image")]
from! {
    crate::image::ImageError: Image;
}

#[cfg(feature = "gpu")]
from! {
    halide_gpu::GpuError: Gpu;
}
