//! The reasons that a pipeline could not be run.

use super::broken_promise::BrokenPromise;
use super::broken_rule::BrokenRule;
use crate::buffer::BufferError;
use crate::error::Location;
use crate::externs::fault::ExternFault;
use crate::ids::{FuncId, NoteId};
use crate::limits::{OverCap, Stop};
use crate::pipeline::PipelineData;
use crate::types::ScalarType;
use crate::value::Scalar;
use std::fmt;

/// A reason that a run ended without a result.
///
/// Mistakes in what was given (names, types, shapes, values that rules and promises are about) are found before
/// anything is written. Parts of the outputs may have been written by the time of the others: a requirement on values
/// that does not hold, a lack of memory, the end of the run's time.
#[derive(Clone, PartialEq)]
pub enum RunError {
    /// An input image was not given.
    MissingImage {
        /// Its name.
        image: String,
    },
    /// A parameter without a default was not given.
    MissingParam {
        /// Its name.
        param: String,
    },
    /// An image was given that the pipeline does not read.
    UnknownImage {
        /// The name given.
        image: String,
        /// The images there are.
        known: Vec<String>,
    },
    /// A parameter was given that the pipeline does not read.
    UnknownParam {
        /// The name given.
        param: String,
        /// The parameters there are.
        known: Vec<String>,
    },
    /// An image of another element type.
    ImageType {
        /// The image.
        image: String,
        /// The type that the pipeline reads.
        expected: ScalarType,
        /// The type that was given.
        found: ScalarType,
    },
    /// An image with another number of dimensions.
    ImageDims {
        /// The image.
        image: String,
        /// The number that the pipeline reads.
        expected: usize,
        /// The number that was given.
        found: usize,
    },
    /// A parameter of another type.
    ParamType {
        /// The parameter.
        param: String,
        /// Its type.
        expected: ScalarType,
        /// The type that was given.
        found: ScalarType,
    },
    /// A parameter outside its declared range.
    ParamRange {
        /// The parameter.
        param: String,
        /// The value that was given.
        value: Scalar,
        /// The smallest legal value.
        min: Option<Scalar>,
        /// The largest legal value.
        max: Option<Scalar>,
    },
    /// A number of regions that is not the number of outputs.
    OutputCount {
        /// The number of outputs.
        expected: usize,
        /// The number of regions given.
        found: usize,
    },
    /// Elements of an input that are not as the pipeline promises.
    Promise(BrokenPromise),
    /// A number of buffers that is not the number of elements of the outputs.
    OutputBuffers {
        /// The number of elements.
        expected: usize,
        /// The number of buffers given.
        found: usize,
    },
    /// A region of another number of dimensions than the output has.
    OutputDims {
        /// The output.
        func: String,
        /// Its dimensions.
        expected: usize,
        /// The number of dimensions of the region.
        found: usize,
    },
    /// An input that is to be in the memory of an output buffer that there is not.
    NoBuffer {
        /// The input.
        image: String,
        /// The number of the buffer.
        buffer: usize,
        /// The number of buffers that there are.
        buffers: usize,
    },
    /// An extern stage failed.
    Extern {
        /// Its name.
        stage: String,
        /// The place in the source where it was made.
        at: Location,
        /// The way in which it failed.
        fault: ExternFault,
    },
    /// Buffers that break the pipeline's rules for their shapes: all rules that are broken.
    Rules(Vec<BrokenRule>),
    /// A region that cannot be an output's, or memory for it that cannot be had.
    Output {
        /// The output.
        func: String,
        /// The defect of the region, or the lack of memory.
        error: BufferError,
    },
    /// A region that cannot be an input image's.
    Image {
        /// The image.
        image: String,
        /// The defect of the region.
        error: BufferError,
    },
    /// A pixel outside an input image.
    ReadOutside {
        /// The Func whose definition reads.
        func: String,
        /// The image read.
        image: String,
        /// The dimension in which the coordinate is outside.
        dim: usize,
        /// The coordinate.
        at: i64,
        /// The first coordinate there is.
        min: i64,
        /// The number of coordinates there are.
        extent: i64,
    },
    /// A coordinate that is not an i32.
    CoordinateOverflow {
        /// The Func whose definition computes it.
        func: String,
        /// The stage: 0 is the pure definition.
        stage: usize,
        /// The Func accessed there.
        of: String,
        /// The dimension of the coordinate.
        dim: usize,
        /// The coordinate.
        at: i64,
    },
    /// Index arithmetic beyond 64 bits, or a reduction domain with points that are not i32.
    IndexOverflow {
        /// The Func whose definition computes it.
        func: String,
        /// The stage: 0 is the pure definition.
        stage: usize,
    },
    /// A requirement of a definition that does not hold. Parts of the outputs may have been written, unless the
    /// requirement is of nothing but parameters and shapes.
    Require {
        /// The place in the source where the requirement was written.
        place: Location,
        /// The Func whose definition requires it.
        func: String,
        /// The stage: 0 is the pure definition.
        stage: usize,
        /// The variables of the definition with their values.
        at: Vec<(String, i32)>,
        /// The message of the requirement, with the values.
        message: String,
    },
    /// A lack of memory for intermediate values.
    OutOfMemory {
        /// The Func whose values they are.
        func: String,
    },
    /// Memory that would exceed the run's cap.
    OverCap {
        /// The Func whose values it is for.
        func: String,
        /// The bytes that they need, and the cap.
        over: OverCap,
    },
    /// The run was ended early: see [`Limits::stop`](crate::limits::Limits::stop).
    Stopped(Stop),
    /// A frozen pipeline that breaks the rules of its form; `Pipeline::new` makes none.
    Malformed {
        /// The Func.
        func: String,
        /// The stage: 0 is the pure definition.
        stage: usize,
        /// The rule that is broken.
        reason: String,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::MissingImage { image } => {
                write!(f, "input image `{image}` was not given; bind a buffer to it")
            }
            RunError::MissingParam { param } => {
                write!(f, "parameter `{param}` was not given and has no default; give it a value")
            }
            RunError::UnknownImage { image, known } => {
                write!(f, "the pipeline reads no image `{image}`; {}", there_is("images", known))
            }
            RunError::UnknownParam { param, known } => {
                write!(f, "the pipeline reads no parameter `{param}`; {}", there_is("parameters", known))
            }
            RunError::ImageType { image, expected, found } => {
                write!(
                    f,
                    "input image `{image}` is of {expected}, but the buffer given is of {found}; convert the buffer"
                )
            }
            RunError::ImageDims { image, expected, found } => write!(
                f,
                "input image `{image}` has {expected} dimensions, but the buffer given has {found}; slice or embed \
                 the buffer"
            ),
            RunError::ParamType { param, expected, found } => {
                write!(f, "parameter `{param}` is of {expected}, but {found} was given; convert the value")
            }
            RunError::ParamRange { param, value, min, max } => {
                write!(f, "parameter `{param}` is {value}; give {}", legal_values(*min, *max))
            }
            RunError::OutputCount { expected, found } => {
                write!(
                    f,
                    "the pipeline has {expected} outputs, but {found} regions were given; give one per output Func"
                )
            }
            RunError::Promise(broken) => write!(f, "{broken}"),
            RunError::OutputBuffers { expected, found } => write!(
                f,
                "the pipeline's outputs have {expected} elements in all, but {found} buffers were given; give one \
                 per element"
            ),
            RunError::OutputDims { func, expected, found } => write!(
                f,
                "output `{func}` has {expected} dimensions, but the region given for it has {found}; give one span \
                 per dimension"
            ),
            RunError::NoBuffer { image, buffers: 0, .. } => write!(
                f,
                "`{image}` is to be in the memory of an output, but no buffer was given for one; call \
                 `realize_into` or `realize_all_into`"
            ),
            RunError::NoBuffer { image, buffer, buffers } => write!(
                f,
                "`{image}` is to be in the memory of output buffer {buffer}, but there are {buffers}; use a smaller \
                 number: they are counted from 0"
            ),
            RunError::Extern { stage, at, fault } => write!(f, "extern stage `{stage}` at {at}: {fault}"),
            RunError::Rules(broken) => f.write_str(&lines(broken)),
            RunError::Output { func, error } => write!(f, "output `{func}`: {error}"),
            RunError::Image { image, error } => write!(f, "input image `{image}`: {error}"),
            RunError::ReadOutside { func, image, dim, at, min, extent } => write!(
                f,
                "`{func}` reads `{image}` at coordinate {at} of dimension {dim}, but it has {extent} coordinates \
                 from {min}; make the image larger, the output smaller, or put a boundary condition around the image"
            ),
            RunError::CoordinateOverflow { func, stage, of, dim, at } => write!(
                f,
                "{} accesses `{of}` at coordinate {at} of dimension {dim}, which leaves the range of i32; compute a \
                 smaller output or check the parameters",
                place(func, *stage)
            ),
            RunError::IndexOverflow { func, stage } => write!(
                f,
                "{} computes a coordinate outside i32; keep index arithmetic small, or do it in data of a wider type",
                place(func, *stage)
            ),
            RunError::Require { place: written, func, stage, at, message } => {
                let message = if message.is_empty() { String::new() } else { format!(": {message}") };
                write!(f, "{written}: {}{}: requirement failed{message}", place(func, *stage), coordinates(at))
            }
            RunError::OutOfMemory { func } => {
                write!(f, "the system has no memory for values of `{func}`; ask for a smaller output")
            }
            RunError::OverCap { func, over } => {
                write!(f, "`{func}` {over}; compute a smaller output, or raise the cap")
            }
            RunError::Stopped(stop) => write!(f, "{stop}"),
            RunError::Malformed { func, stage, reason } => {
                write!(f, "{}: {reason}; this pipeline was not made by Pipeline::new", place(func, *stage))
            }
        }
    }
}

crate::error::debug_is_display!(RunError);

impl std::error::Error for RunError {}

/// Converts to an error of a run.
impl From<BrokenPromise> for RunError {
    fn from(broken: BrokenPromise) -> RunError {
        RunError::Promise(broken)
    }
}

/// The failure of a requirement in a definition.
pub(super) fn required(
    p: &PipelineData,
    (func, stage): (FuncId, usize),
    note: NoteId,
    at: Vec<(String, i32)>,
    message: String,
) -> RunError {
    let func = p.funcs[func].name.clone();
    RunError::Require { place: p.notes[note].at, func, stage, at, message }
}

fn there_is(things: &str, known: &[String]) -> String {
    if known.is_empty() { format!("it has no {things}") } else { format!("its {things} are {}", known.join(", ")) }
}

fn place(func: &str, stage: usize) -> String {
    if stage == 0 { format!("`{func}`") } else { format!("update {} of `{func}`", stage - 1) }
}

fn legal_values(min: Option<Scalar>, max: Option<Scalar>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("a value from {min} to {max}"),
        (Some(min), None) => format!("{min} or more"),
        (None, Some(max)) => format!("{max} or less"),
        (None, None) => "another value".to_string(),
    }
}

/// ` at x = 3, y = 4`; empty if there are no variables.
fn coordinates(at: &[(String, i32)]) -> String {
    let at: Vec<String> = at.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if at.is_empty() { String::new() } else { format!(" at {}", at.join(", ")) }
}

fn lines(broken: &[BrokenRule]) -> String {
    broken.iter().map(|b| b.to_string()).collect::<Vec<_>>().join("\n")
}
