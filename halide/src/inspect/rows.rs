//! Rows of an inspection.

use halide_core::error::Location;
use halide_core::types::ScalarType;
use halide_ir::ForKind;

/// The number of a definition: its place in [`Inspection::definitions`](super::Inspection::definitions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefinitionId(pub usize);

/// The number of a loop: its place in [`Inspection::loops`](super::Inspection::loops).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NestLoopId(pub usize);

/// A definition of a Func of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionRow {
    /// The Func; the name of one that a directive made is as the schedule says it.
    pub func: String,
    /// 0 for its first definition, or the number of its update counted from 1.
    pub update: usize,
    /// The definition as text; the names of what it uses more than once come first, a line each.
    pub text: String,
    /// Its place in the source.
    pub at: Location,
    /// The types of its values: one for each element of a tuple.
    pub types: Vec<ScalarType>,
    /// The variables of the Func.
    pub dims: Vec<String>,
    /// The place where it is computed: `inline`, `at the root` or `at blur_y.xo`.
    pub compute: String,
    /// The definition in whose loops it is computed; `None` at the root and inline.
    pub computed_in: Option<DefinitionId>,
    /// The place where its values are kept, in the same words.
    pub store: String,
    /// True if its Func is an output.
    pub is_output: bool,
    /// The definitions that it is substituted into, if it is computed inline.
    pub inlined_into: Vec<DefinitionId>,
    /// The reads of Funcs and images, each distinct one once.
    pub reads: Vec<ReadRow>,
}

/// A read of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRow {
    /// The Func or the image that is read.
    pub of: String,
    /// True if it is an image.
    pub is_image: bool,
    /// The read as text: `blur_x(x, y + 2)`.
    pub text: String,
}

/// An input image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRow {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub ty: String,
    /// The number of its dimensions.
    pub dims: usize,
}

/// A loop of the nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopRow {
    /// Its name, with the case of specialisations in which it runs: `blur_y.yi`.
    pub name: String,
    /// The way in which its iterations run.
    pub kind: ForKind,
    /// The definition whose loop it is; `None` if it is nobody's.
    pub definition: Option<DefinitionId>,
    /// The number of its iterations, if that is a constant.
    pub extent: Option<i64>,
    /// The loop around it.
    pub parent: Option<NestLoopId>,
    /// The place of the directive that chose its kind or policy.
    pub directive: Option<Location>,
}

/// The kind of a line of the loop nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NestKind {
    /// A loop.
    Loop,
    /// The code that computes a Func.
    Compute,
    /// The place where a Func is stored.
    Store,
    /// A condition, or the alternative to it.
    If,
    /// A value that is stored.
    Define,
    /// An atomic step.
    Atomic,
}

/// A line of the loop nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestRow {
    /// The number of lines that it is inside of.
    pub depth: usize,
    /// Its kind.
    pub kind: NestKind,
    /// The line: `parallel blur_y.yo in 0..150:`.
    pub text: String,
    /// The definition that it belongs to.
    pub definition: Option<DefinitionId>,
    /// The loop that it is, or the innermost one around it.
    pub within: Option<NestLoopId>,
}

/// A decision of a pass or of a code generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionRow {
    /// The pass, or the subject of a code generator's decision: `vectors of 512 bits`.
    pub pass: String,
    /// True if something was done, false if not.
    pub did: bool,
    /// The decision as a line: `blur_y.x: vectorized by 32`.
    pub text: String,
    /// The number of copies of code that it was made for.
    pub copies: usize,
}

/// The language of a piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Instructions of the processor.
    Machine,
    /// The shading language of WebGPU.
    Wgsl,
}

/// The purpose of a line of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Computes values, or moves them between registers and memory as the program says.
    Body,
    /// Computes an address.
    Address,
    /// Checks a condition without which the run ends.
    Check,
    /// Begins or ends a function.
    Frame,
    /// Moves a value for which there was no register, or from one register to another.
    Move,
}

impl Purpose {
    /// Returns its word: `body`, `address`, `check`, `frame` or `move`.
    pub fn word(self) -> &'static str {
        match self {
            Purpose::Body => "body",
            Purpose::Address => "address",
            Purpose::Check => "check",
            Purpose::Frame => "frame",
            Purpose::Move => "move",
        }
    }
}

/// A function of machine code, or a kernel for a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeUnit {
    /// The loop that it is made of, or `pipeline`.
    pub name: String,
    /// Its language.
    pub language: Language,
    /// Its lines.
    pub lines: Vec<CodeRow>,
}

/// A line of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeRow {
    /// Its text.
    pub text: String,
    /// The definition whose work it does; `None` outside of all definitions.
    pub definition: Option<DefinitionId>,
    /// The innermost loop of the nest around it; `None` outside of all loops.
    pub within: Option<NestLoopId>,
    /// Its purpose; `None` of lines that are no instructions.
    pub purpose: Option<Purpose>,
}

/// The decisions about one subject: true if something was done, and a line.
pub(super) type Decided = (String, Vec<(bool, String)>);
