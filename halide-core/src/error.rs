//! The mistakes that an algorithm can have.

use crate::types::ScalarType;
use std::fmt;

pub use crate::location::Location;

/// One mistake in an algorithm: what is wrong, where, and what would do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AlgorithmError {
    /// The place of the mistake in the source.
    pub at: Location,
    /// The mistake.
    pub kind: AlgorithmErrorKind,
}

/// The kinds of mistakes in an algorithm.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // `Display` says what each one means, with its fields.
pub enum AlgorithmErrorKind {
    LiteralRange { literal: String, ty: ScalarType },
    LiteralFloat { literal: String, ty: ScalarType },
    BoolMix { operator: &'static str, other: ScalarType },
    SignMix { operator: &'static str, left: ScalarType, right: ScalarType },
    WrongOperand { operator: &'static str, ty: ScalarType, wants: &'static str },
    NotAScalar { operator: String, elements: usize },
    NoElement { element: usize, elements: usize },
    ReinterpretWidth { from: ScalarType, to: ScalarType },
    Stale,
    UndefinedFunc { func: String },
    UndefinedOutput { func: String },
    DefinedAfterRead { func: String, reader: String },
    Cycle { funcs: Vec<String> },
    Unassigned { func: String },
    WrongArity { callee: String, dims: usize, given: usize },
    CoordinateType { callee: String, dim: usize, ty: ScalarType },
    TooManyDims { name: String, dims: usize },
    NoSuchDim { image: String, dim: usize, dims: usize },
    NotAVar { func: String, dim: usize },
    RepeatedVar { func: String, var: String },
    FreeVars { func: String, vars: Vec<String>, args: Vec<String> },
    RVarInPure { func: String, rvar: String },
    TwoRDoms { func: String, first: String, second: String },
    UpdateType { func: String, element: usize, wants: ScalarType, given: ScalarType },
    UpdateElements { func: String, wants: usize, given: usize },
    ImpureSelfRead { func: String, var: String },
    DomainDims { rdom: String, dims: usize },
    NoSuchRVar { rdom: String, dim: usize, dims: usize },
    DomainAsValue { rdom: String, dims: usize },
    DomainBound { rdom: String, what: String },
    WhereAfterUse { rdom: String, func: String },
    ParamRange { param: String, what: String },
    ParamConflict { param: String },
    ImageConflict { image: String },
    NoRDom { reduction: &'static str },
    ManyRDoms { reduction: &'static str, first: String, second: String },
    Promise { image: String, what: String },
    BoundaryDims { name: String, dims: usize, given: usize },
    UndefInside,
    NoSites { function: &'static str },
    SiteCounts { func: String, first: usize, second: usize },
    SitesOutsideUpdate { func: String },
    NoteOfSites { func: String },
    ShapeValue { of: String, what: String },
    ShapeDim { of: String, dim: usize, dims: usize },
    ShapeMultiple { of: String, multiple: i64 },
    ShapeConflict { of: String, dim: usize, field: &'static str },
    HostAlignment { of: String, bytes: u64 },
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
            LiteralRange { literal, ty } => format!("the literal {literal} meets {ty}, which cannot hold it"),
            LiteralFloat { literal, ty } => format!("the literal {literal} is a float but meets {ty}"),
            BoolMix { operator, other } => format!("`{operator}` of a bool and a number, of type {other}"),
            SignMix { operator, left, right } => {
                format!("`{operator}` of {left} and {right}: one is signed, the other is not")
            }
            WrongOperand { operator, ty, wants } => format!("`{operator}` of {ty}: it takes {wants}"),
            NotAScalar { operator, elements } => format!("`{operator}` of a tuple of {elements} elements"),
            NoElement { element, elements } => {
                format!("element {element} of a value that has {}", count(*elements, "element"))
            }
            ReinterpretWidth { from, to } => format!("reinterpreting {from} as {to}, which is of another width"),
            Stale => "an expression is used that was made so long ago, and by no Func since, that it is gone".into(),
            UndefinedFunc { func } => format!("`{func}` is read before it has a definition"),
            UndefinedOutput { func } => format!("the output `{func}` has no definition"),
            DefinedAfterRead { func, reader } => {
                format!("`{func}` gets another definition after `{reader}` has read it")
            }
            Cycle { funcs } => format!("Funcs need each other: `{}`", funcs.join("` reads `")),
            Unassigned { func } => format!("a left side of `{func}` is written but nothing assigned to it"),
            WrongArity { callee, dims, given } => {
                format!("`{callee}` has {} but {} given", count(*dims, "dimension"), are(*given, "coordinate"))
            }
            CoordinateType { callee, dim, ty } => format!("coordinate {dim} of `{callee}` is {ty}, not an integer"),
            TooManyDims { name, dims } => format!("`{name}` has {dims} dimensions; at most 8 are possible"),
            NoSuchDim { image, dim, dims } => {
                format!("dimension {dim} of `{image}`, which has {}", count(*dims, "dimension"))
            }
            NotAVar { func, dim } => format!("coordinate {dim} of the first definition of `{func}` is not a variable"),
            RepeatedVar { func, var } => {
                format!("`{var}` stands twice on the left of the first definition of `{func}`")
            }
            FreeVars { func, vars, .. } => {
                let are = if vars.len() == 1 { "is" } else { "are" };
                format!("a definition of `{func}` uses `{}`, which {are} not on its left side", vars.join("`, `"))
            }
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
                format!("an update of `{func}` stores {} where it has {wants}", count(*given, "element"))
            }
            ImpureSelfRead { func, var } => {
                format!(
                    "an update of `{func}` for every `{var}` reads `{func}` elsewhere than at that `{var}`, so its order would matter"
                )
            }
            DomainDims { rdom, dims } => format!("the domain `{rdom}` has {dims} dimensions; 1 to 8 are possible"),
            NoSuchRVar { rdom, dim, dims } => {
                format!("dimension {dim} of the domain `{rdom}`, which has {}", count(*dims, "dimension"))
            }
            DomainAsValue { rdom, dims } => {
                format!("the domain `{rdom}` stands for one variable but has {}", count(*dims, "dimension"))
            }
            DomainBound { rdom, what } => format!("a bound of the domain `{rdom}` {what}"),
            WhereAfterUse { rdom, func } => format!("the domain `{rdom}` is restricted after `{func}` has used it"),
            ParamRange { param, what } => format!("the parameter `{param}`: {what}"),
            ParamConflict { param } => format!("two parameters are called `{param}` and differ"),
            ImageConflict { image } => format!("two input images are called `{image}` and differ"),
            NoRDom { reduction } => format!("`{reduction}` of an expression without a reduction variable"),
            ManyRDoms { reduction, first, second } => {
                format!("`{reduction}` of an expression with variables of two domains, `{first}` and `{second}`")
            }
            Promise { image, what } => format!("what is promised of the elements of `{image}` cannot be: {what}"),
            BoundaryDims { name, dims, given } => {
                format!("`{name}` has {} but bounds for {given} are given", count(*dims, "dimension"))
            }
            UndefInside => "`undef` is used as a value: it says that nothing is stored".into(),
            NoSites { function } => format!("`{function}` of no values"),
            SiteCounts { func, first, second } => {
                format!("an update of `{func}` is of {} and of {second}", count(*first, "site"))
            }
            SitesOutsideUpdate { func } => {
                format!("`scatter` or `gather` in the first definition of `{func}`, or in the predicate of a domain")
            }
            NoteOfSites { func } => format!("an update of `{func}` of several sites requires or prints something"),
            ShapeValue { of, what } => format!("a rule for the buffer of `{of}` {what}"),
            ShapeDim { of, dim, dims } => {
                format!("a rule for dimension {dim} of the buffer of `{of}`, which has {}", count(*dims, "dimension"))
            }
            ShapeMultiple { of, multiple } => {
                format!("a rule asks for multiples of {multiple} of the buffer of `{of}`; 1 to 2147483647 are possible")
            }
            ShapeConflict { of, dim, field } => {
                format!("two rules for the {field} of dimension {dim} of the buffer of `{of}` can never both hold")
            }
            HostAlignment { of, bytes } => {
                format!("the host alignment of `{of}` is {bytes} bytes; powers of two up to 1048576 are possible")
            }
            NoOutputs => "a pipeline needs at least one output".into(),
        }
    }

    /// The remedy, if there is one to suggest.
    pub fn hint(&self) -> Option<String> {
        use AlgorithmErrorKind::*;
        Some(match self {
            LiteralRange { .. } => "a literal takes the type of what it meets: cast that to a wider type".into(),
            LiteralFloat { .. } => "a literal takes the type of what it meets: cast that to a float type".into(),
            BoolMix { .. } => "cast the bool, or compare the number".into(),
            SignMix { .. } => "cast one of them".into(),
            NotAScalar { .. } => "take one element with `.at(i)`".into(),
            Stale => "make it anew, or keep the Func or RDom that it belongs to".into(),
            UndefinedFunc { func } => format!("define it first: `{func}[(x, y)] = ...`"),
            DefinedAfterRead { func, .. } => format!("write all definitions of `{func}` before others read it"),
            Cycle { .. } => "make it one Func with an update over an RDom".into(),
            CoordinateType { .. } => "cast it to i32".into(),
            NotAVar { .. } | RepeatedVar { .. } => "define it for all coordinates first, then update".into(),
            FreeVars { args, .. } if args.is_empty() => "no variable stands alone on its left side".into(),
            FreeVars { args, .. } => format!("on its left side: {}", args.join(", ")),
            RVarInPure { .. } => "define it without, then add an update; or use `sum` and its like".into(),
            TwoRDoms { .. } => "make one RDom with all the dimensions".into(),
            UpdateType { wants, .. } => format!("cast the value to {wants}"),
            ImpureSelfRead { .. } => "use an RDom for that dimension: it runs in order".into(),
            DomainAsValue { rdom, .. } => format!("name one: `{rdom}.x`"),
            DomainBound { .. } => {
                "bounds are integers made of constants, parameters and image dimensions; `where_` takes bools of anything".into()
            }
            ShapeValue { .. } => "rules are integers made of constants, parameters and image dimensions".into(),
            WhereAfterUse { rdom, .. } => format!("call `{rdom}.where_(...)` right after `RDom::new`"),
            NoRDom { .. } => "use a variable of an RDom in it".into(),
            ManyRDoms { reduction, first, .. } => format!("say which one: `{reduction}_over(&{first}, ...)`"),
            SiteCounts { .. } => "repeat the last value where there are too few".into(),
            SitesOutsideUpdate { .. } => "let them stand in an update: on its left side and in its value".into(),
            NoteOfSites { .. } => "require or print it in another Func that this one reads".into(),
            UndefInside => "let it be the whole value of a definition, or what a `select` there gives".into(),
            ParamConflict { .. } | ImageConflict { .. } => "inputs are given by name: use one handle, or another name".into(),
            _ => return None,
        })
    }
}

/// `1 dimension`, `2 dimensions`.
fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// `1 coordinate is`, `2 coordinates are`.
fn are(n: usize, what: &str) -> String {
    format!("{} {}", count(n, what), if n == 1 { "is" } else { "are" })
}
