//! The reasons that there is no gradient.

use crate::error::debug_is_display;
use crate::location::Location;
use crate::tuning::MAX_DIMS;
use crate::types::ScalarType;
use std::fmt;

/// One reason that there is no gradient: the place, the reason, and what to write instead.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AdjointError {
    /// The place in the source: of the definition, or of the call that asks for gradients.
    pub at: Location,
    /// The reason.
    pub kind: AdjointErrorKind,
}

/// The kinds of reasons that there is no gradient.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // `Display` says what each one means, with its fields.
pub enum AdjointErrorKind {
    /// There is no such Func.
    UnknownFunc { func: String, known: Vec<String> },
    /// There is no such image or parameter.
    UnknownInput { input: String, known: Vec<String> },
    /// Gradients by nothing.
    NoInputs,
    /// An input is named twice.
    Repeated { input: String },
    /// An input is no float.
    InputType { input: String, ty: ScalarType },
    /// The loss is no float.
    LossType { loss: String, ty: ScalarType },
    /// The loss is a tuple.
    LossElements { loss: String, elements: usize },
    /// The loss has dimensions, and no region is given.
    LossDims { loss: String, dims: usize },
    /// A region has another number of dimensions than its Func.
    RegionDims { func: String, dims: usize, given: usize },
    /// An update is neither a sum nor a recurrence.
    NotASum { func: String, update: usize },
    /// An update stores to several sites.
    Sites { func: String },
    /// An operation has no derivative.
    NotSmooth { func: String, operation: &'static str },
    /// Nothing bounds the points at which a Func is needed.
    Unbounded { func: String, var: String, read: String },
    /// A sum over the variables of a definition would have too many dimensions.
    TooManyDims { func: String, read: String, dims: usize },
    /// A value that gradients need comes from an extern stage.
    Extern { stage: String },
    /// A value that gradients need is what a buffer holds before the run.
    Undef { func: String },
}

impl AdjointErrorKind {
    /// One sentence: the subject and its defect.
    pub fn reason(&self) -> String {
        use AdjointErrorKind::*;
        match self {
            UnknownFunc { func, known } => format!("the pipeline has no Func `{func}`; it has {}", list(known)),
            UnknownInput { input, known } => {
                format!("the pipeline has no image or parameter `{input}`; it has {}", list(known))
            }
            NoInputs => "gradients by no input are asked for".into(),
            Repeated { input } => format!("the gradient by `{input}` is asked for twice"),
            InputType { input, ty } => format!("`{input}` is {ty}, and a loss has no gradient by integers"),
            LossType { loss, ty } => format!("the loss `{loss}` is {ty}, which is no float"),
            LossElements { loss, elements } => format!("the loss `{loss}` is a tuple of {elements} elements"),
            LossDims { loss, dims } => {
                format!("the loss `{loss}` has {}, so it is not one number", count(*dims, "dimension"))
            }
            RegionDims { func, dims, given } => {
                format!("`{func}` has {} but a region of {given} is given", count(*dims, "dimension"))
            }
            NotASum { func, update } => format!(
                "update {update} of `{func}` is neither a sum, nor stores each element once, from at most one that it \
                 has stored before"
            ),
            Sites { func } => format!("an update of `{func}` stores to several sites at once"),
            NotSmooth { func, operation } => format!("`{operation}` in a definition of `{func}` has no derivative"),
            Unbounded { func, var, read } => format!(
                "the gradient by `{read}` is a sum over `{var}` of `{func}`, and nothing known before the run bounds it"
            ),
            TooManyDims { func, read, dims } => format!(
                "the gradient by `{read}` is a sum over {} of `{func}`; at most {MAX_DIMS} are possible",
                count(*dims, "variable")
            ),
            Extern { stage } => format!("gradients need values of the extern stage `{stage}`"),
            Undef { func } => format!("gradients need `{func}`, which leaves elements as its buffer holds them"),
        }
    }

    /// The remedy.
    pub fn help(&self) -> String {
        use AdjointErrorKind::*;
        match self {
            UnknownFunc { .. } => "name a Func of the pipeline, as `Func::new` does".into(),
            UnknownInput { .. } => "name an image or a parameter that the outputs depend on".into(),
            NoInputs => "name at least one image or parameter".into(),
            Repeated { .. } => "name each input once".into(),
            InputType { input, .. } => format!("make `{input}` an input of floats, and cast what is stored in it"),
            LossType { .. } => "cast its value to f32 or f64".into(),
            LossElements { .. } => "name a Func of one element: define one of `.at(i)` of the tuple".into(),
            LossDims { loss, .. } => format!(
                "sum it in a Func without dimensions, `total[()] += {loss}[(r.x, ..)]`; or give its region to \
                 `adjoints_over`, and the loss is the sum of its elements"
            ),
            RegionDims { .. } => "give `(min, extent)` for each dimension".into(),
            NotASum { func, .. } => format!(
                "write `{func}[..] += e`, where `e` does not read `{func}`; or as the last update a recurrence along \
                 one variable, such as `{func}[r] = {func}[r - 1] * c + e`; or a Func of its own for each step"
            ),
            Sites { .. } => "write one update for each site".into(),
            NotSmooth { .. } => "keep it out of what depends on the inputs, or write the value by arithmetic".into(),
            Unbounded { func, .. } => {
                format!("clamp the coordinates at which `{func}` is read, or give its region to `adjoints_over`")
            }
            TooManyDims { .. } => "write the definition with fewer variables, in several Funcs".into(),
            Extern { .. } => "give its results as an image of their own, of another pipeline".into(),
            Undef { .. } => "give all elements a value in the first definition".into(),
        }
    }
}

impl fmt::Display for AdjointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n  help: {}", self.at, self.kind.reason(), self.kind.help())
    }
}

impl std::error::Error for AdjointError {}

/// Every reason that there is no gradient, sorted by place; never empty.
#[derive(Clone, PartialEq, Eq)]
pub struct AdjointErrors(pub Vec<AdjointError>);

impl fmt::Display for AdjointErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            let separator = if i == 0 { "" } else { "\n" };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for AdjointErrors {}

debug_is_display!(AdjointError, AdjointErrors);

/// `1 dimension`, `2 dimensions`.
fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Names between backticks.
fn list(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        names => format!("`{}`", names.join("`, `")),
    }
}
