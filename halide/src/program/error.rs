//! Mistakes of programs.

use halide_core::buffer::BufferError;
use halide_core::error::Location;
use halide_core::types::ScalarType;
use std::fmt;
use std::sync::Arc;

/// One mistake of a program: the place, the step, the reason, and a remedy.
#[derive(Clone)]
pub struct ProgramError {
    /// The place in the source: of the declaration, the step, the loop or the question.
    pub at: Location,
    /// The outputs of the step that it is about, if it is about one.
    pub step: Option<String>,
    /// The mistake.
    pub kind: ProgramErrorKind,
}

/// The kinds of mistakes of programs.
#[derive(Clone)]
#[non_exhaustive]
#[allow(missing_docs)] // `Display` says what each one means, with its fields.
pub enum ProgramErrorKind {
    /// Two slots of one name.
    RepeatedSlot { slot: String },
    /// The region of a slot is not possible.
    Region { slot: String, error: BufferError },
    /// There is no slot of this name.
    UnknownSlot { slot: String, known: Vec<String> },
    /// A pair of [`Program::run_on`](super::Program::run_on) names nothing of the pipeline.
    UnknownName { name: String, known: Vec<String> },
    /// A slot has another type than the image or the output.
    Type { slot: String, found: ScalarType, name: String, expected: ScalarType },
    /// A slot has another number of dimensions than the image or the output.
    Dims { slot: String, found: usize, name: String, expected: usize },
    /// Two outputs of a step write one slot.
    WrittenTwice { slot: String },
    /// A slot may be read before it is written.
    ReadBeforeWritten { slot: String },
    /// The condition of a loop is no scalar of type `Bool`.
    Condition { slot: String, ty: ScalarType, dims: usize },
    /// A parameter of a step has the name of a slot.
    SlotAsParam { param: String, ty: ScalarType },
    /// Two steps take parameters of one name and of different types.
    ParamTypes { param: String, first: ScalarType, second: ScalarType },
    /// No step reads a slot whose region is what steps read.
    NoReader { slot: String },
    /// The region of a slot is what steps need whose outputs are over its region.
    CircularRegion { slot: String },
    /// The extent of a slot is a slot that is no integer without dimensions.
    ExtentSlot { of: String, slot: String, ty: ScalarType, dims: usize },
    /// The extent of a slot is a number that no extent can be.
    Extent { of: String, slot: String, value: i128 },
    /// An output keeps elements of a slot whose size is data.
    KeepsAndChanges { slot: String },
    /// A part of a loop that runs in one iteration stands in no loop.
    NoLoop { word: &'static str },
    /// A part is for the last iteration of a loop that does not know it.
    LastOfWhile,
    /// An output keeps elements of a slot that the step also reads as an image, and cannot be computed in place.
    KeepsAndReads { slot: String, why: String },
    /// A parameter that no step and no loop takes.
    UnknownParam { param: String, known: Vec<String> },
    /// The number of iterations was not given, or is no integer.
    NoTimes { param: String },
    /// The number of iterations is negative.
    NegativeTimes { param: String, times: i64 },
    /// A loop has run as often as it may, and its condition still holds.
    Endless { slot: String, most: u64 },
    /// A step could not be compiled, or its run failed: in these iterations of the loops around it, the outermost
    /// first, counted from 0. The error is an [`Error`](crate::Error), to be had by `downcast_ref`.
    Failed { iterations: Vec<u64>, error: Arc<dyn std::error::Error + Send + Sync> },
    /// Asked for a slot that no step has written.
    Unwritten { slot: String },
}

impl ProgramErrorKind {
    /// One sentence: the subject and its defect.
    pub fn reason(&self) -> String {
        use ProgramErrorKind::*;
        match self {
            RepeatedSlot { slot } => format!("slot `{slot}` is declared twice"),
            Region { slot, error } => format!("slot `{slot}` cannot have its region: {error}"),
            UnknownSlot { slot, known } => format!("the program has no slot `{slot}`; it has {}", list(known)),
            UnknownName { name, known } => {
                format!("the pipeline has no image and no output `{name}`; it has {}", list(known))
            }
            Type { slot, found, name, expected } => {
                format!("slot `{slot}` holds {found}, and {name} of the pipeline is {expected}")
            }
            Dims { slot, found, name, expected } => {
                format!("slot `{slot}` has {}, and {name} of the pipeline has {expected}", dimensions(*found))
            }
            WrittenTwice { slot } => format!("two outputs write slot `{slot}`"),
            ReadBeforeWritten { slot } => format!("slot `{slot}` is read before a step is sure to have written it"),
            Condition { slot, ty, dims } => {
                format!("the condition `{slot}` of a loop holds {ty} and has {}", dimensions(*dims))
            }
            SlotAsParam { param, .. } => format!("parameter `{param}` has the name of a slot, and does not read it"),
            ParamTypes { param, first, second } => {
                format!("parameter `{param}` is {first} in one step and {second} in another")
            }
            NoReader { slot } => format!("slot `{slot}` is as large as what steps read of it, and no step reads it"),
            CircularRegion { slot } => {
                format!("the region of slot `{slot}` is what steps need to compute that same region")
            }
            ExtentSlot { of, slot, ty, dims } => {
                format!("the extent `{slot}` of slot `{of}` holds {ty} and has {}", dimensions(*dims))
            }
            Extent { of, slot, value } => format!("the extent `{slot}` of slot `{of}` is {value}"),
            KeepsAndChanges { slot } => {
                format!("an output keeps elements of slot `{slot}`, whose size may be another than before")
            }
            NoLoop { word } => format!("`{word}` stands in no loop"),
            LastOfWhile => "`last` stands in a loop that runs while a slot says so".to_string(),
            KeepsAndReads { slot, why } => {
                format!("an output keeps elements of slot `{slot}`, which the step also reads as an image: {why}")
            }
            UnknownParam { param, known } => {
                format!("no step and no loop takes a parameter `{param}`; there are {}", list(known))
            }
            NoTimes { param } => format!("the number of iterations `{param}` was not given as an integer"),
            NegativeTimes { param, times } => format!("the number of iterations `{param}` is {times}"),
            Endless { slot, most } => {
                format!("`{slot}` still holds after {most} iterations, the most that are allowed")
            }
            Failed { iterations, error } => match &iterations[..] {
                [] => error.to_string(),
                [one] => format!("in iteration {one}: {error}"),
                all => {
                    let all: Vec<String> = all.iter().map(u64::to_string).collect();
                    format!("in iteration {} of loop in loop: {error}", all.join(", "))
                }
            },
            Unwritten { slot } => format!("slot `{slot}` was written by no step"),
        }
    }

    /// The remedy; `None` where the reason has one.
    pub fn help(&self) -> Option<String> {
        use ProgramErrorKind::*;
        Some(match self {
            RepeatedSlot { .. } => "give each slot a name of its own".into(),
            Region { .. } => "declare it over another region".into(),
            UnknownSlot { slot, .. } => {
                format!("declare it first, or map `{slot}` to another slot with `run_on`")
            }
            UnknownName { .. } => "give pairs of a name in the pipeline and a slot".into(),
            Type { expected, .. } => format!("declare the slot as {expected}, or cast in the pipeline"),
            Dims { expected, .. } => format!("declare the slot with {}", dimensions(*expected)),
            WrittenTwice { .. } => "map one of them to another slot with `run_on`".into(),
            ReadBeforeWritten { slot } => format!(
                "write `{slot}` in a step before, outside of loops that may have no iteration; or declare it as an input"
            ),
            Condition { slot, .. } => format!("declare it by `scalar(\"{slot}\", Bool)`"),
            SlotAsParam { param, ty } => {
                format!("read the slot as an image without dimensions: `ImageParam::new(\"{param}\", {ty:?}, 0)`")
            }
            ParamTypes { .. } => "give one of them another name".into(),
            NoReader { .. } => "declare it by `state` or `state_like`".into(),
            CircularRegion { .. } => "declare it by `state` or `state_like`".into(),
            ExtentSlot { slot, .. } => format!("declare it by `scalar(\"{slot}\", I32)`"),
            Extent { slot, .. } => format!("let `{slot}` hold 0 to {}", i32::MAX),
            KeepsAndChanges { .. } => "write all elements, without `undef`".into(),
            NoLoop { .. } => "add its steps as they are".into(),
            LastOfWhile => "put its steps behind the loop".into(),
            KeepsAndReads { .. } => "read the slot through another step, or leave out `undef`".into(),
            UnknownParam { .. } => "give parameters of steps and of `repeat_param` only".into(),
            NoTimes { param } => format!("give it: `.param_named(\"{param}\", 10)`"),
            NegativeTimes { .. } => "give 0 or more".into(),
            Endless { .. } => "allow more iterations, or let the condition become false".into(),
            Failed { .. } => return None,
            Unwritten { .. } => "ask for an input or for what a step writes".into(),
        })
    }
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.at)?;
        if let Some(step) = &self.step {
            write!(f, "step `{step}`: ")?;
        }
        f.write_str(&self.kind.reason())?;
        self.kind.help().map_or(Ok(()), |help| write!(f, "\n  help: {help}"))
    }
}

impl std::error::Error for ProgramError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ProgramErrorKind::Failed { error, .. } => Some(&**error),
            ProgramErrorKind::Region { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// Every mistake of a program, or the step of a run that failed; never empty.
#[derive(Clone)]
pub struct ProgramErrors(pub Vec<ProgramError>);

impl ProgramErrors {
    /// The only mistake.
    pub(super) fn one(at: Location, step: Option<String>, kind: ProgramErrorKind) -> ProgramErrors {
        ProgramErrors(vec![ProgramError { at, step, kind }])
    }
}

impl fmt::Display for ProgramErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            let separator = if i == 0 { "" } else { "\n" };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ProgramErrors {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.first().and_then(std::error::Error::source)
    }
}

halide_core::debug_is_display!(ProgramError, ProgramErrors);

impl fmt::Debug for ProgramErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason())
    }
}

fn dimensions(n: usize) -> String {
    format!("{n} dimension{}", if n == 1 { "" } else { "s" })
}

/// Names between backticks.
fn list(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        names => format!("`{}`", names.join("`, `")),
    }
}
