//! Places in the user's source, and what can be wrong with an algorithm.

use crate::types::ScalarType;
use std::fmt;

/// A place in the user's source: where an expression, definition or directive was written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// The file as the compiler names it, or a name for text that was parsed.
    pub file: &'static str,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

impl Location {
    /// The caller's place; meaningful in functions marked `#[track_caller]`.
    #[track_caller]
    pub fn caller() -> Location {
        std::panic::Location::caller().into()
    }
}

impl From<&'static std::panic::Location<'static>> for Location {
    fn from(at: &'static std::panic::Location<'static>) -> Location {
        Location { file: at.file(), line: at.line(), column: at.column() }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One mistake in an algorithm: what is wrong, where, and what would do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AlgorithmError {
    /// Where it was written.
    pub at: Location,
    /// What is wrong.
    pub kind: AlgorithmErrorKind,
}

/// What can be wrong with an algorithm.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // `Display` says what each one means, with its fields.
pub enum AlgorithmErrorKind {
    LiteralRange { literal: String, ty: ScalarType },
    LiteralFraction { literal: String, ty: ScalarType },
    BoolMix { operator: &'static str, other: ScalarType },
    SignMix { operator: &'static str, left: ScalarType, right: ScalarType },
    WrongOperand { operator: String, ty: ScalarType, wants: &'static str },
    NotAScalar { operator: String, elements: usize },
    NoElement { element: usize, elements: usize },
    SelectArms { left: ScalarType, right: ScalarType },
    ReinterpretWidth { from: ScalarType, to: ScalarType },
    Stale,
    UndefinedFunc { func: String },
    WrongArity { callee: String, dims: usize, given: usize },
    CoordinateType { callee: String, dim: usize, ty: ScalarType },
    NoSuchRVar { rdom: String, dim: usize, dims: usize },
    TooManyDims { name: String, dims: usize },
    PureArgs { func: String },
    FreeVar { func: String, var: String },
    RVarInPure { func: String, rvar: String },
    TwoRDoms { func: String, first: String, second: String },
    UpdateType { func: String, element: usize, wants: ScalarType, given: ScalarType },
    UpdateElements { func: String, wants: usize, given: usize },
    ImpureSelfRead { func: String, var: String },
    Cycle { funcs: Vec<String> },
    UsedBeforeDefined { func: String },
    Unassigned { func: String },
    RDomBound { rdom: String, what: String },
    WhereAfterUse { rdom: String },
    ParamRange { param: String, what: String },
    ParamConflict { param: String },
    NoRDom { reduction: &'static str },
    ManyRDoms { reduction: &'static str, first: String, second: String },
    BoundaryDims { name: String, dims: usize, given: usize },
    NoOutputs,
}

impl fmt::Display for AlgorithmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.kind.reason())?;
        match self.kind.hint() {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for AlgorithmError {}

/// Every mistake of an algorithm, sorted by place; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlgorithmErrors(pub Vec<AlgorithmError>);

impl fmt::Display for AlgorithmErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            let separator = if i == 0 { "" } else { "\n" };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for AlgorithmErrors {}

impl AlgorithmErrorKind {
    /// One sentence: what is wrong.
    pub fn reason(&self) -> String {
        use AlgorithmErrorKind::*;
        match self {
            LiteralRange { literal, ty } => format!("the literal {literal} does not fit the other operand's type {ty}"),
            LiteralFraction { literal, ty } => {
                format!("the literal {literal} has a fraction but the other operand is {ty}")
            }
            BoolMix { operator, other } => format!("`{operator}` of bool and {other}"),
            SignMix { operator, left, right } => {
                format!("`{operator}` of {left} and {right}: one is signed, one is not")
            }
            WrongOperand { operator, ty, wants } => format!("`{operator}` of {ty}: it takes {wants}"),
            NotAScalar { operator, elements } => format!("`{operator}` of a tuple of {elements} elements"),
            NoElement { element, elements } => format!("element {element} of a value that has {elements}"),
            SelectArms { left, right } => format!("select between bool and another type: {left} and {right}"),
            ReinterpretWidth { from, to } => format!("reinterpret {from} as {to}: they differ in width"),
            Stale => "this expression is older than the Funcs that it was made for and is gone".into(),
            UndefinedFunc { func } => format!("`{func}` is read but never defined"),
            WrongArity { callee, dims, given } => {
                format!("`{callee}` has {dims} dimensions but {given} coordinates are given")
            }
            CoordinateType { callee, dim, ty } => format!("coordinate {dim} of `{callee}` is {ty}"),
            NoSuchRVar { rdom, dim, dims } => format!("dimension {dim} of `{rdom}`, which has {dims}"),
            TooManyDims { name, dims } => format!("`{name}` has {dims} dimensions; at most 8 are possible"),
            PureArgs { func } => {
                format!("the first definition of `{func}` must have distinct variables as coordinates")
            }
            FreeVar { func, var } => format!("`{var}` is used in a definition of `{func}` but is not on its left side"),
            RVarInPure { func, rvar } => {
                format!("the first definition of `{func}` uses the reduction variable `{rvar}`")
            }
            TwoRDoms { func, first, second } => {
                format!("an update of `{func}` uses variables of two domains, `{first}` and `{second}`")
            }
            UpdateType { func, element, wants, given } => {
                format!("an update of `{func}` stores {given} where element {element} is {wants}")
            }
            UpdateElements { func, wants, given } => {
                format!("an update of `{func}` stores {given} values where it has {wants}")
            }
            ImpureSelfRead { func, var } => {
                format!(
                    "an update of `{func}` over all `{var}` reads `{func}` at another `{var}`, so its order would matter"
                )
            }
            Cycle { funcs } => format!("these Funcs need each other: {}", funcs.join(" -> ")),
            UsedBeforeDefined { func } => format!("`{func}` got another definition after it was read by another Func"),
            Unassigned { func } => format!("a left side of `{func}` was written but nothing assigned to it"),
            RDomBound { rdom, what } => format!("a bound of `{rdom}` {what}"),
            WhereAfterUse { rdom } => format!("`where_` on `{rdom}` after a definition used it"),
            ParamRange { param, what } => format!("`{param}`: {what}"),
            ParamConflict { param } => format!("two parameters are called `{param}` and differ"),
            ManyRDoms { reduction, first, second } => {
                format!("`{reduction}` of an expression with variables of two domains, `{first}` and `{second}`")
            }
            NoRDom { reduction } => format!("`{reduction}` of an expression without a reduction variable"),
            BoundaryDims { name, dims, given } => {
                format!("`{name}` has {dims} dimensions but bounds for {given} are given")
            }
            NoOutputs => "a pipeline needs at least one output".into(),
        }
    }

    /// What would do, where there is one thing to say.
    pub fn hint(&self) -> Option<String> {
        use AlgorithmErrorKind::*;
        Some(match self {
            LiteralRange { .. } => "cast the other operand to a wider type first".into(),
            LiteralFraction { .. } => "cast the other operand to f32 first".into(),
            BoolMix { .. } | SelectArms { .. } => "cast the bool, or compare the other operand".into(),
            SignMix { .. } => "cast one of them".into(),
            NotAScalar { .. } => "take one element with `.at(i)`".into(),
            Stale => "make expressions next to the Funcs that use them".into(),
            UndefinedFunc { func } => format!("write `{func}[(x, y)] = ...` before it is read"),
            CoordinateType { .. } => "cast it to i32".into(),
            PureArgs { .. } => "define it for all coordinates first, then update".into(),
            RVarInPure { func, .. } => format!("define `{func}` without it, then add an update, or use `sum`"),
            TwoRDoms { .. } => "make one RDom with all the dimensions".into(),
            UpdateType { wants, .. } => format!("cast the value to {wants}"),
            ImpureSelfRead { .. } => "use an RDom for that dimension: it runs in order".into(),
            UsedBeforeDefined { .. } => "write all its definitions first".into(),
            WhereAfterUse { .. } => "call `where_` right after `RDom::new`".into(),
            ManyRDoms { reduction, first, .. } => format!("say which one: `{reduction}_over(&{first}, ...)`"),
            NoRDom { .. } => "use an RDom's variable in the expression".into(),
            _ => return None,
        })
    }
}
