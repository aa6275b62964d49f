//! The match of a definition with the meaning of an instruction, under one map of axes to loops.
//!
//! Both are followed from the stored value down, through Funcs that are inlined. Operations must be the same; where one
//! commutes, its operands may change places. An image of the meaning stands for whatever the definition reads at its
//! place: each access is a matrix, a row for each coordinate and a column for each axis, and both must have the same
//! rows that are not zero. What else a coordinate depends on does not change in the loops of the instruction. This is
//! the check of one mapping of the matcher of *ISA Mapper: A Compute and Hardware Agnostic Deep Learning Compiler*
//! (section 4); the search for mappings is not here.

use crate::plan::affine::{Affine, Atom, affine};
use crate::plan::diagnostics::Problem;
use crate::plan::types::Source;
use crate::schedule::{AxisVar, Form, Instruction};
use halide_core::ids::{ExprId, FuncId, ImageId};
use halide_core::ops::BinOp;
use halide_core::pipeline::{Kind, PipelineData};
use halide_core::print;
use halide_core::types::ScalarType;
use halide_ir::visit::deep;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A variable, and the distance that one step along an axis makes in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Multiple {
    pub(super) atom: Atom,
    pub(super) by: i128,
}

/// The axes of an instruction in terms of the variables of a definition, with their names there.
pub(super) struct Axes {
    pub(super) all: Vec<Multiple>,
    pub(super) names: Vec<String>,
}

impl Axes {
    /// The axes in terms of the meaning's own variables.
    pub(super) fn of_form(form: &Form) -> Axes {
        let atom = |var: &AxisVar| match var {
            AxisVar::Pure(var) => Atom::Var(*var),
            AxisVar::Reduction(rdom, dim) => Atom::RVar(*rdom, *dim),
        };
        let all = form.vars.iter().map(|var| Multiple { atom: atom(var), by: 1 }).collect();
        Axes { all, names: Vec::new() }
    }
    /// The row of a coordinate: its change by one step along each axis.
    pub(super) fn row(&self, coordinate: &Affine) -> Vec<i128> {
        let step = |axis: &Multiple| {
            let factor = coordinate.terms.get(&axis.atom).copied().unwrap_or(0);
            factor.checked_mul(axis.by).unwrap_or(i128::MAX)
        };
        self.all.iter().map(step).collect()
    }
}

/// A definition: of the meaning, or of the stage that uses it.
pub(super) struct Side<'a> {
    pub(super) pipeline: &'a PipelineData,
    pub(super) func: FuncId,
    pub(super) stage: usize,
    pub(super) is_inline: &'a dyn Fn(FuncId) -> bool,
}

/// An expression where the variables of inlined Funcs have values.
#[derive(Clone)]
struct Node {
    e: ExprId,
    known: Rc<BTreeMap<Atom, Option<Affine>>>,
}

/// The access that an image of the meaning stands for.
#[derive(Clone, PartialEq)]
pub(super) struct Operand {
    pub(super) source: Source,
    pub(super) element: u8,
    /// Its coordinates.
    pub(super) at: Vec<Affine>,
    /// The coordinates of the image in the meaning.
    pub(super) meant: Vec<Affine>,
}

/// The accesses that images of the meaning stand for.
pub(super) type Operands = BTreeMap<ImageId, Operand>;

/// Matches a definition with the meaning of an instruction.
pub(super) fn match_meaning(
    instruction: &Instruction,
    meaning: &Side<'_>,
    own: &Side<'_>,
    meant: &Axes,
    axes: &Axes,
) -> Result<Operands, Problem> {
    let (matched, met) = (Cell::new(0), Cell::new(0));
    match_all(&Matching { instruction, meaning, own, meant, axes, swaps: None, matched, met, tells: true })
}

/// Matches them where the operands of operations that commute change places as the bits of `swaps` say, in the order in
/// which the meaning is followed. Returns how many leaves were matched, too. A difference is only put in words if the
/// match `tells` it: a search asks for one of many.
pub(super) fn match_in_order(
    instruction: &Instruction,
    (meaning, own): (&Side<'_>, &Side<'_>),
    (meant, axes): (&Axes, &Axes),
    (swaps, tells): (u32, bool),
) -> (Result<Operands, Problem>, usize) {
    let (matched, met) = (Cell::new(0), Cell::new(0));
    let matching = Matching { instruction, meaning, own, meant, axes, swaps: Some(swaps), matched, met, tells };
    (match_all(&matching), matching.matched.get())
}

fn match_all(matching: &Matching<'_>) -> Result<Operands, Problem> {
    let Matching { instruction, meaning, own, .. } = *matching;
    let [stored, theirs] = [meaning, own].map(|side| &side.pipeline.funcs[side.func].stages[side.stage]);
    let mut operands = Operands::new();
    if theirs.values.len() != 1 {
        let found = format!("`{}` stores {} values", own.pipeline.funcs[own.func].name, theirs.values.len());
        return Err(Problem::InstructionMeaning {
            instruction: instruction.name().to_string(),
            wanted: "a definition of one value".to_string(),
            found,
        });
    }
    let [wanted, found] = [(meaning, &stored.args), (own, &theirs.args)].map(|(side, args)| side.coordinates(args));
    matching.rows(&|| "its result".to_string(), &wanted, &found, &|| print_coordinates(own, &theirs.args))?;
    // What comes to the values came further.
    matching.one_more();
    let root = |e: ExprId| Node { e, known: Rc::default() };
    matching.values(root(stored.values[0]), root(theirs.values[0]), &mut operands)?;
    Ok(operands)
}

struct Matching<'a> {
    instruction: &'a Instruction,
    meaning: &'a Side<'a>,
    own: &'a Side<'a>,
    meant: &'a Axes,
    axes: &'a Axes,
    /// The operations that commute whose operands change places, a bit for each; all ways are tried without it.
    swaps: Option<u32>,
    /// The leaves that were matched so far, on the way that is tried.
    matched: Cell<usize>,
    /// The operations that commute so far.
    met: Cell<u32>,
    /// True if differences are put in words.
    tells: bool,
}

impl Side<'_> {
    fn kind(&self, node: &Node) -> &Kind {
        &self.pipeline.exprs[node.e].kind
    }
    fn ty(&self, node: &Node) -> ScalarType {
        self.pipeline.exprs[node.e].ty
    }
    /// The affine forms of coordinates; `None` for one that has none.
    fn coordinates(&self, args: &[ExprId]) -> Vec<Option<Affine>> {
        args.iter().map(|arg| affine(self.pipeline, *arg)).collect()
    }
    fn coordinates_in(&self, args: &[ExprId], node: &Node) -> Vec<Option<Affine>> {
        self.coordinates(args).into_iter().map(|form| form?.with(&node.known)).collect()
    }
    /// The operation that gives a node's value: behind marks, and behind reads of inlined Funcs.
    fn behind(&self, mut node: Node) -> Node {
        loop {
            match self.kind(&node) {
                Kind::Likely(a) | Kind::LikelyIfInnermost(a) => node.e = *a,
                Kind::Call { func, element, args } if (self.is_inline)(*func) => {
                    let def = &self.pipeline.funcs[*func];
                    let values = self.coordinates_in(args, &node);
                    let known = def.args.iter().map(|var| Atom::Var(*var)).zip(values).collect();
                    node = Node { e: def.stages[0].values[usize::from(*element)], known: Rc::new(known) };
                }
                _ => return node,
            }
        }
    }
    /// The value of an integer constant.
    fn number(&self, e: ExprId) -> Option<i128> {
        match self.pipeline.exprs[e].kind {
            Kind::Const(value) if value.ty().is_int() => Some(value.as_i128()),
            _ => None,
        }
    }
    /// Returns true if an integer constant is 2 to a power, so that its quotients are shifts.
    fn is_power(&self, e: ExprId, power: Option<i128>) -> bool {
        let value = power.and_then(|power| 1i128.checked_shl(u32::try_from(power).ok()?));
        value.is_some() && self.number(e) == value
    }
    /// The node whose conversion is that of `node`: one that loses nothing on the way makes no difference.
    fn before_widening(&self, node: Node) -> Node {
        let mut node = self.behind(node);
        while let Kind::Cast(a) = self.kind(&node) {
            let inner = self.behind(node.at(*a));
            if !widens(self.ty(&inner), self.ty(&node)) {
                break;
            }
            node = inner;
        }
        node
    }
}

/// Returns true if every value of an integer type is one of another.
fn widens(from: ScalarType, to: ScalarType) -> bool {
    let integers = !from.is_float() && !to.is_float();
    let room = to.bits() > from.bits() && (to.is_signed_int() || !from.is_signed_int());
    integers && (from == to || room)
}

impl Matching<'_> {
    /// Matches the values of two expressions.
    fn values(&self, wanted: Node, found: Node, operands: &mut Operands) -> Result<(), Problem> {
        deep(|| self.values_here(wanted, found, operands))
    }

    fn values_here(&self, wanted: Node, found: Node, operands: &mut Operands) -> Result<(), Problem> {
        let (wanted, found) = (self.meaning.behind(wanted), self.own.behind(found));
        let same_type = self.meaning.ty(&wanted) == self.own.ty(&found);
        match (self.meaning.kind(&wanted), self.own.kind(&found)) {
            (Kind::Image { image, args }, _) if same_type => self.operand(*image, args, &found, operands),
            (Kind::Call { .. }, Kind::Call { func, args, .. }) if *func == self.own.func => {
                let stored = &self.own.pipeline.funcs[*func].stages[self.own.stage].args;
                if self.own.coordinates_in(args, &found) != self.own.coordinates(stored) {
                    return Err(self.differ(&wanted, &found));
                }
                self.one_more();
                Ok(())
            }
            (Kind::Const(a), Kind::Const(b)) if a == b => {
                self.one_more();
                Ok(())
            }
            (Kind::Binary(op, a, b), Kind::Binary(other, c, d))
                if op == other && same_type && commutes(*op) && self.swaps.is_some() =>
            {
                let n = self.met.replace(self.met.get() + 1);
                let swapped = self.swaps.is_some_and(|swaps| swaps >> n & 1 == 1);
                let pairs = if swapped { [(*a, *d), (*b, *c)] } else { [(*a, *c), (*b, *d)] };
                self.pairs(&wanted, &found, pairs, operands)
            }
            (Kind::Binary(op, a, b), Kind::Binary(other, c, d)) if op == other && same_type => {
                let begun = (operands.clone(), self.matched.get());
                let Err(first) = self.pairs(&wanted, &found, [(*a, *c), (*b, *d)], operands) else { return Ok(()) };
                if !commutes(*op) {
                    return Err(first);
                }
                let came = self.matched.replace(begun.1);
                *operands = begun.0;
                let second = self.pairs(&wanted, &found, [(*a, *d), (*b, *c)], operands);
                // The way that came further says what is missing.
                second.map_err(|second| if self.matched.get() > came { second } else { first })
            }
            (Kind::Binary(BinOp::Shr, a, by), Kind::Binary(BinOp::Div, b, divisor)) if same_type => {
                if self.own.is_power(*divisor, self.meaning.number(*by)) {
                    return self.pairs(&wanted, &found, [(*a, *b)], operands);
                }
                Err(self.differ(&wanted, &found))
            }
            (Kind::Cast(a), Kind::Cast(b)) if same_type => {
                let wanted = self.meaning.before_widening(wanted.at(*a));
                self.values(wanted, self.own.before_widening(found.at(*b)), operands)
            }
            (a, b) if same_type && same_head(a, b) => {
                self.pairs(&wanted, &found, a.children().into_iter().zip(b.children()), operands)
            }
            _ => Err(self.differ(&wanted, &found)),
        }
    }
    /// Matches operands of two nodes.
    fn pairs(
        &self,
        wanted: &Node,
        found: &Node,
        pairs: impl IntoIterator<Item = (ExprId, ExprId)>,
        operands: &mut Operands,
    ) -> Result<(), Problem> {
        pairs.into_iter().try_for_each(|(a, b)| self.values(wanted.at(a), found.at(b), operands))
    }
    fn one_more(&self) {
        self.matched.set(self.matched.get() + 1);
    }

    /// Takes what the definition reads as an operand.
    fn operand(&self, image: ImageId, args: &[ExprId], found: &Node, operands: &mut Operands) -> Result<(), Problem> {
        let name = &self.meaning.pipeline.images[image].name;
        let (source, element, coordinates) = match self.own.kind(found) {
            Kind::Image { image, args } => (Source::Image(*image), 0, args),
            Kind::Call { func, element, args } if *func != self.own.func => (Source::Func(*func), *element, args),
            _ => {
                let found = || format!("`{}`", print::expr(self.own.pipeline, found.e));
                return Err(self.meaning_differs(&|| format!("a value to read as `{name}`"), &found));
            }
        };
        let at = self.own.coordinates_in(coordinates, found);
        let text = || print::expr(self.own.pipeline, found.e);
        let meant = self.meaning.coordinates(args);
        self.rows(&|| format!("operand `{name}`"), &meant, &at, &text)?;
        let [at, meant] = [at, meant].map(|forms| forms.into_iter().flatten().collect());
        let operand = Operand { source, element, at, meant };
        match operands.get(&image) {
            Some(other) if *other != operand => {
                let beside = || format!("`{}` beside another value", text());
                Err(self.meaning_differs(&|| format!("`{name}` twice"), &beside))
            }
            _ => {
                operands.insert(image, operand);
                self.one_more();
                Ok(())
            }
        }
    }

    /// Matches the rows of two accesses that are not zero, in whatever order.
    fn rows(
        &self,
        what: &dyn Fn() -> String,
        wanted: &[Option<Affine>],
        found: &[Option<Affine>],
        text: &dyn Fn() -> String,
    ) -> Result<(), Problem> {
        let error = |wanted: &dyn Fn() -> String, found: &dyn Fn() -> String| Problem::InstructionAccess {
            instruction: self.told(&|| self.instruction.name().to_string()),
            what: self.told(what),
            wanted: self.told(wanted),
            found: self.told(found),
        };
        let rows = |axes: &Axes, forms: &[Option<Affine>]| {
            let rows = forms.iter().map(|form| Some(axes.row(form.as_ref()?)));
            let mut rows: Vec<Vec<i128>> = rows.collect::<Option<_>>()?;
            rows.retain(|row| row.iter().any(|step| *step != 0));
            Some(rows)
        };
        let sorted = |rows: &Vec<Vec<i128>>| {
            let mut rows = rows.clone();
            rows.sort();
            rows
        };
        let own_names: Vec<&str> = self.axes.names.iter().map(String::as_str).collect();
        let names: Vec<&str> = self.instruction.axes().iter().map(|axis| axis.name.as_str()).collect();
        match (rows(self.meant, wanted), rows(self.axes, found)) {
            (Some(a), Some(b)) if sorted(&a) == sorted(&b) => Ok(()),
            (Some(a), Some(b)) => {
                let found = || format!("{} in `{}`", steps(&b, &own_names), text());
                Err(error(&|| steps(&a, &names), &found))
            }
            (Some(a), None) => {
                let no_sum = || format!("`{}`, of which a coordinate is no sum of multiples of loops", text());
                Err(error(&|| steps(&a, &names), &no_sum))
            }
            (None, _) => Err(error(&|| "coordinates that are sums of multiples of axes".to_string(), text)),
        }
    }

    fn differ(&self, wanted: &Node, found: &Node) -> Problem {
        let wanted = || format!("`{}`", print::expr(self.meaning.pipeline, wanted.e));
        self.meaning_differs(&wanted, &|| format!("`{}`", print::expr(self.own.pipeline, found.e)))
    }
    fn meaning_differs(&self, wanted: &dyn Fn() -> String, found: &dyn Fn() -> String) -> Problem {
        let instruction = self.told(&|| self.instruction.name().to_string());
        Problem::InstructionMeaning { instruction, wanted: self.told(wanted), found: self.told(found) }
    }
    /// Puts a part of a difference in words, if somebody asked.
    fn told(&self, words: &dyn Fn() -> String) -> String {
        if self.tells { words() } else { String::new() }
    }
}

impl Node {
    /// An operand of this node.
    fn at(&self, e: ExprId) -> Node {
        Node { e, known: self.known.clone() }
    }
}

/// The steps of coordinates along axes as text: `j: (0, 1), k: (1, 0)`.
fn steps(rows: &[Vec<i128>], axes: &[&str]) -> String {
    let axis = |(n, name): (usize, &&str)| {
        let steps: Vec<String> = rows.iter().map(|row| row[n].to_string()).collect();
        match &steps[..] {
            [] => format!("none along {name}"),
            [one] => format!("{one} along {name}"),
            _ => format!("({}) along {name}", steps.join(", ")),
        }
    };
    axes.iter().enumerate().map(axis).collect::<Vec<_>>().join(", ")
}

fn print_coordinates(side: &Side<'_>, args: &[ExprId]) -> String {
    let args: Vec<String> = args.iter().map(|arg| print::expr(side.pipeline, *arg)).collect();
    format!("{}({})", side.pipeline.funcs[side.func].name, args.join(", "))
}

/// Returns true for operations whose operands may change places.
pub(super) fn commutes(op: BinOp) -> bool {
    use BinOp::*;
    matches!(op, Add | Mul | Min | Max | BitAnd | BitOr | BitXor | Eq | Ne)
}

/// Returns true if two operations with operands are the same.
fn same_head(a: &Kind, b: &Kind) -> bool {
    match (a, b) {
        (Kind::Unary(op, _), Kind::Unary(other, _)) => op == other,
        (Kind::Math(f, _), Kind::Math(g, _)) => f == g,
        (Kind::Select(..), Kind::Select(..)) => true,
        (Kind::SaturatingCast(_), Kind::SaturatingCast(_)) | (Kind::Reinterpret(_), Kind::Reinterpret(_)) => true,
        (Kind::Strict(_), Kind::Strict(_)) => true,
        _ => false,
    }
}
