//! The table of diagnostics: the fields of each, its message (subject and defect), and its remedy.

use crate::externs::end_mistake::EndMistake;
use crate::layout::error::LayoutError;
use crate::tuning::{MAX_ALIGNMENT, MAX_DIMS};
use crate::types::ScalarType;

macro_rules! diagnostics {
    ($($kind:ident $({ $($field:ident: $ty:ty),* })? => $reason:expr, help: $help:expr;)*) => {
        /// The kinds of mistakes in an algorithm.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs)] // `Display` says what each one means, with its fields.
        pub enum AlgorithmErrorKind {
            $($kind $({ $($field: $ty),* })?,)*
        }

        // A text uses the fields that it needs; the others are named and dropped.
        impl AlgorithmErrorKind {
            /// One sentence: the subject and its defect.
            pub fn reason(&self) -> String {
                match self {
                    $(AlgorithmErrorKind::$kind $({ $($field),* })? => { $($(let _ = $field;)*)? $reason.into() })*
                }
            }
            /// The remedy.
            pub fn help(&self) -> String {
                match self {
                    $(AlgorithmErrorKind::$kind $({ $($field),* })? => { $($(let _ = $field;)*)? $help.into() })*
                }
            }
        }
    };
}

diagnostics! {
    LiteralRange { literal: String, ty: ScalarType } =>
        format!("the literal {literal} meets {ty}, which cannot hold it"),
        help: "cast what it meets to a type that holds it: a literal takes that type";
    LiteralFloat { literal: String, ty: ScalarType } =>
        format!("the literal {literal} is a float but meets {ty}"),
        help: "cast what it meets to a float type: a literal takes that type";
    BoolMix { operator: &'static str, other: ScalarType } =>
        format!("the operands of `{operator}` are a bool and a number of type {other}"),
        help: "cast the bool, or compare the number";
    SignMix { operator: &'static str, left: ScalarType, right: ScalarType } =>
        format!("the operands of `{operator}` are {left} and {right}: one is signed, the other is not"),
        help: "cast one of them";
    WrongOperand { operator: &'static str, ty: ScalarType, wants: &'static str } =>
        format!("`{operator}` takes {wants}, not {ty}"),
        help: "cast the operand to a type that it takes";
    ConcatBits { operands: usize, bits: u32 } =>
        match bits {
            0 => "`concat_bits` has no operands".to_string(),
            _ => format!("`concat_bits` has {} of {bits} bits, not 16, 32 or 64 bits in all", count(*operands, "operand")),
        },
        help: match bits {
            64.. => "cast the operands to a narrower type",
            32 => "give 2 operands",
            16 => "give 2 or 4 operands",
            _ => "give 2, 4 or 8 operands",
        };
    NotAScalar { operator: String, elements: usize } =>
        format!("`{operator}` takes a scalar, not a tuple of {elements} elements"),
        help: "take one element with `.at(i)`";
    NoElement { element: usize, elements: usize } =>
        format!("a value of {} has no element {element}", count(*elements, "element")),
        help: match elements {
            0 => "give at least one element",
            _ => "use a smaller index: elements are counted from 0",
        };
    ReinterpretWidth { from: ScalarType, to: ScalarType } =>
        format!("{from} cannot be reinterpreted as {to}, which is of another width"),
        help: format!("cast it, or reinterpret it as a type of {} bits", from.bits());
    Stale =>
        "an expression is used after it was freed: it is old, and no Func or RDom holds it",
        help: "make it anew, or keep the Func or RDom that it belongs to";
    UndefinedFunc { func: String } =>
        format!("`{func}` is read before it has a definition"),
        help: format!("define it first: `{func}[(x, y)] = ...`");
    ReadsItself { func: String, args: Vec<String> } =>
        format!("the first definition of `{func}` reads `{func}` itself, which has no values yet"),
        help: recurrence(func, args);
    UndefinedOutput { func: String } =>
        format!("the output `{func}` has no definition"),
        help: format!("define it first: `{func}[(x, y)] = ...`");
    DefinedAfterRead { func: String, reader: String } =>
        format!("`{func}` gets another definition after `{reader}` has read it"),
        help: format!("write all definitions of `{func}` before others read it");
    Cycle { funcs: Vec<String> } =>
        format!("Funcs depend on each other: `{}`", funcs.join("` reads `")),
        help: "make it one Func with an update over an RDom";
    Unassigned { func: String } =>
        format!("a left side of `{func}` has no value"),
        help: "assign a value to it";
    WrongArity { callee: String, dims: usize, given: usize } =>
        format!("`{callee}` has {} but {} given", count(*dims, "dimension"), are(*given, "coordinate")),
        help: "give one coordinate for each dimension";
    CoordinateType { callee: String, dim: usize, ty: ScalarType } =>
        format!("coordinate {dim} of `{callee}` is {ty}, not an integer"),
        help: "cast it to i32";
    TooManyDims { name: String, dims: usize } =>
        format!("`{name}` has {dims} dimensions; at most {MAX_DIMS} are possible"),
        help: "use fewer dimensions, or several Funcs or images";
    ImageLayout { image: String, error: LayoutError } =>
        format!("`{image}` has no layout: {}", error.reason()),
        help: error.help();
    NoSuchDim { image: String, dim: usize, dims: usize } =>
        format!("`{image}` has no dimension {dim}: it has {}", count(*dims, "dimension")),
        help: "use a smaller number: dimensions are counted from 0";
    NotAVar { func: String, dim: usize } =>
        format!("coordinate {dim} of the first definition of `{func}` is not a variable"),
        help: "define it for all coordinates first, then update it";
    RepeatedVar { func: String, var: String } =>
        format!("`{var}` stands twice on the left side of the first definition of `{func}`"),
        help: "define it for all coordinates first, then update it";
    FreeVars { func: String, vars: Vec<String>, args: Vec<String> } =>
        {
            let are = if vars.len() == 1 { "is" } else { "are" };
            format!("a definition of `{func}` uses `{}`, which {are} not on its left side", vars.join("`, `"))
        },
        help: match args.is_empty() {
            true => "put each variable alone on the left side, in a dimension of its own".to_string(),
            false => format!("use the variables of its left side: {}", args.join(", ")),
        };
    RVarInPure { func: String, rvar: String } =>
        format!("the first definition of `{func}` uses the reduction variable `{rvar}`"),
        help: "define it without, then add an update; or use `sum` and its like";
    TwoRDoms { func: String, first: String, second: String } =>
        format!("an update of `{func}` uses variables of two domains, `{first}` and `{second}`"),
        help: "make one RDom with all the dimensions";
    UpdateType { func: String, element: usize, wants: ScalarType, given: ScalarType } =>
        format!("an update of `{func}` stores {given} where element {element} is {wants}"),
        help: format!("cast the value to {wants}");
    UpdateElements { func: String, wants: usize, given: usize } =>
        format!("an update of `{func}` stores {} where it has {wants}", count(*given, "element")),
        help: "store one value for each element";
    ImpureSelfRead { func: String, var: String } =>
        format!(
            "an update of `{func}` reads `{func}` at another `{var}` than it writes, so the order of `{var}` would \
             matter"
        ),
        help: "use an RDom for that dimension: it runs in order";
    DomainDims { rdom: String, dims: usize } =>
        format!("the domain `{rdom}` has {dims} dimensions; 1 to {MAX_DIMS} are possible"),
        help: "use another number of dimensions";
    NoSuchRVar { rdom: String, dim: usize, dims: usize } =>
        format!("the domain `{rdom}` has no dimension {dim}: it has {}", count(*dims, "dimension")),
        help: "use a smaller number, counted from 0, or give the domain another dimension";
    DomainAsValue { rdom: String, dims: usize } =>
        format!("the domain `{rdom}` is used as one variable but has {}", count(*dims, "dimension")),
        help: format!("name one: `{rdom}.x`");
    DomainBound { rdom: String, what: String } =>
        format!("a bound of the domain `{rdom}` {what}"),
        help: "use integers made of constants, parameters and image dimensions; or `where_`, which takes any bool";
    WhereAfterUse { rdom: String, func: String } =>
        format!("the domain `{rdom}` is restricted after `{func}` has used it"),
        help: format!("call `{rdom}.where_(...)` right after `RDom::new`");
    ParamRange { param: String, what: String } =>
        format!("the parameter `{param}` has {what}"),
        help: "change the range or the default";
    ParamConflict { param: String } =>
        format!("two parameters are called `{param}` and differ"),
        help: "use one handle, or another name: inputs are given by name";
    ImageConflict { image: String } =>
        format!("two input images are called `{image}` and differ"),
        help: "use one handle, or another name: inputs are given by name";
    NoRDom { reduction: &'static str } =>
        format!("the expression of `{reduction}` has no reduction variable"),
        help: "use a variable of an RDom in it";
    ManyRDoms { reduction: &'static str, first: String, second: String } =>
        format!("the expression of `{reduction}` has variables of two domains, `{first}` and `{second}`"),
        help: format!("name the domain: `{reduction}_over(&{first}, ...)`");
    Promise { image: String, what: String } =>
        format!("a promise about the elements of `{image}` cannot hold: {what}"),
        help: "change the promise, or drop it";
    BoundaryDims { name: String, dims: usize, given: usize } =>
        format!("`{name}` has {} but bounds for {given} are given", count(*dims, "dimension")),
        help: "give bounds for no more dimensions than there are";
    UndefInside =>
        "`undef` is used as an operand, and has no value",
        help: "let it be the whole value of a definition, or what a `select` there gives";
    NoSites { function: &'static str } =>
        format!("`{function}` has no values"),
        help: "give a value for each site";
    SiteCounts { func: String, first: usize, second: usize } =>
        format!("an update of `{func}` has {} at one place and {second} at another", count(*first, "site")),
        help: "repeat the last value where there are too few";
    SitesOutsideUpdate { func: String } =>
        format!("`scatter` or `gather` stands in the first definition of `{func}`, or in the predicate of a domain"),
        help: "let them stand in an update: on its left side and in its value";
    ExternBoxes { stage: String, boxes: usize, inputs: usize } =>
        format!("`needs_box` of extern stage `{stage}` gives {} for {}", boxes_of(*boxes), count(*inputs, "input")),
        help: "give one box for each input, in their order";
    ExternBoxDims { stage: String, input: String, dims: usize, given: usize } =>
        format!(
            "`needs_box` of extern stage `{stage}` gives the ends of {} for `{input}`, which has {dims}",
            count(*given, "dimension")
        ),
        help: "give the first and the last coordinate of each dimension";
    ExternEnd { stage: String, input: String, dim: usize, mistake: EndMistake } =>
        format!("`needs_box` of extern stage `{stage}`, for dimension {dim} of `{input}`, speaks of {mistake}"),
        help: "use the stage's own dimensions and integer parameters, which are counted from 0, and short sums";
    NoteOfSites { func: String } =>
        format!("an update of `{func}` of several sites requires or prints something"),
        help: "require or print it in another Func that this one reads";
    ShapeValue { of: String, what: String } =>
        format!("a rule for the buffer of `{of}` {what}"),
        help: "use integers made of constants, parameters and image dimensions";
    ShapeDim { of: String, dim: usize, dims: usize } =>
        format!("a rule is for dimension {dim} of the buffer of `{of}`, which has {}", count(*dims, "dimension")),
        help: "use a smaller number: dimensions are counted from 0";
    ShapeMultiple { of: String, multiple: i64 } =>
        format!("a rule for the buffer of `{of}` asks for multiples of {multiple}; 1 to {} are possible", i32::MAX),
        help: "use another multiple, or drop the rule";
    ShapeConflict { of: String, dim: usize, field: &'static str } =>
        format!("two rules for the {field} of dimension {dim} of the buffer of `{of}` can never both hold"),
        help: "change one of them, or drop it";
    HostAlignment { of: String, bytes: u64 } =>
        format!("the host alignment of `{of}` is {bytes} bytes; powers of two up to {MAX_ALIGNMENT} are possible"),
        help: "use another alignment, or drop the rule";
    NoOutputs =>
        "the pipeline has no outputs",
        help: "give at least one Func";
}

/// The two definitions of a Func that reads what it has computed: the pure one, and an update along the first variable.
fn recurrence(func: &str, args: &[String]) -> String {
    let site = |first: &str| {
        let rest = args.iter().skip(1).map(String::as_str);
        let coords = std::iter::once(first).chain(rest).collect::<Vec<&str>>().join(", ");
        if args.len() > 1 { format!("{func}[({coords})]") } else { format!("{func}[{coords}]") }
    };
    let Some(first) = args.first() else { return format!("define it first, then update it: `{func}[()] = ...`") };
    let (pure, update, read) = (site(first), site("r.x"), site("r.x - 1"));
    format!(
        "write a pure definition first, then an update over `let r = RDom::new([(1, n)])`, which runs in order:\n    \
         {pure} = ...;\n    {update} = ... {read} ...;"
    )
}

/// `1 box`, `2 boxes`.
fn boxes_of(n: usize) -> String {
    if n == 1 { "1 box".to_string() } else { format!("{n} boxes") }
}

/// `1 dimension`, `2 dimensions`.
fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// `1 coordinate is`, `2 coordinates are`.
fn are(n: usize, what: &str) -> String {
    format!("{} {}", count(n, what), if n == 1 { "is" } else { "are" })
}
