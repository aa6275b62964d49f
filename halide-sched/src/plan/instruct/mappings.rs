//! Search for the ways in which an instruction computes a stage: the deterministic matcher of *ISA Mapper: A Compute
//! and Hardware Agnostic Deep Learning Compiler* (section 4).
//!
//! A mapping gives each axis of the instruction a variable of the stage, each variable once, and says what stands for
//! each operand. Several variables may be one axis where they are contiguous in every access: dimensions beside each
//! other, so that their loops can run as one. All mappings are found, in one fixed order: assignments in the order of
//! the variables, and for each of them the operands of operations that commute in either place.

use super::meaning::{Axes, Multiple, Operands, Side, commutes, match_in_order};
use crate::plan::affine::{Affine, Atom, affine, constant};
use crate::plan::diagnostics::Problem;
use crate::plan::expressions::reachable;
use crate::plan::types::Source;
use crate::schedule::{Axis, AxisVar, Extents, Form, Instruction, InstructionSet};
use crate::tuning::{MOST_ASSIGNMENTS, MOST_SWAPS};
use halide_core::ids::{ExprId, FuncId};
use halide_core::pipeline::{Kind, Pipeline, PipelineData};
use std::collections::BTreeSet;
use std::fmt;

/// A way in which an instruction computes a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The instruction.
    pub instruction: String,
    /// The axes, each with the variables of the stage that it is, innermost first: several are loops that run as one.
    pub axes: Vec<(String, Vec<String>)>,
    /// The images of the meaning, each with the image or Func that the stage reads for it.
    pub operands: Vec<(String, String)>,
}

/// A stage that an instruction does not compute, or that is not there.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapError {
    /// The pipeline has no such stage.
    NoStage {
        /// The Func.
        func: String,
        /// The number of the definition, from 0.
        stage: usize,
    },
    /// The set has no such instruction.
    NoInstruction {
        /// Its name.
        instruction: String,
    },
    /// There are more assignments of variables than are tried.
    TooMany {
        /// The instruction.
        instruction: String,
    },
    /// No assignment of variables fits.
    Nothing {
        /// The instruction.
        instruction: String,
        /// The number of assignments that were tried.
        tried: usize,
        /// The first difference of the one that came furthest.
        furthest: Option<Box<Problem>>,
    },
}

/// Returns all mappings of an instruction of a set to definition `stage` of a Func, 0 for the first one. Funcs that it
/// reads are operands, or if nothing fits then, those without updates are looked through.
///
/// ```
/// use halide_core::{Func, ImageParam, Pipeline, RDom, types::F32, vars};
/// use halide_sched::plan::mappings;
/// use halide_sched::schedule::InstructionSet;
/// let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
/// let ((x, y), r, mut out) = (vars!(x, y), RDom::named("r", [(0, 64)]), Func::new("out"));
/// out[(x, y)] += a[(r.x, y)] * b[(x, r.x)];
/// let found = mappings(&Pipeline::new([&out])?, ("out", 1), &InstructionSet::built_in(), "fma_f32").unwrap();
/// assert_eq!(found[0].to_string(), "fma_f32: j <- x; a <- a, b <- b");
/// # Ok::<(), halide_core::error::AlgorithmErrors>(())
/// ```
///
/// # Errors
/// There is no such stage or instruction; nothing maps, and the first difference of what came furthest.
pub fn mappings(
    pipeline: &Pipeline,
    (func, stage): (&str, usize),
    set: &InstructionSet,
    instruction: &str,
) -> Result<Vec<Mapping>, MapError> {
    let data: &PipelineData = pipeline;
    let found = data.funcs.enumerate().find(|(_, def)| def.name == func && stage < def.stages.len());
    let (id, _) = found.ok_or_else(|| MapError::NoStage { func: func.to_string(), stage })?;
    let missing = || MapError::NoInstruction { instruction: instruction.to_string() };
    let (known, forms) = set.known(instruction).ok_or_else(missing)?;
    let own = |other: FuncId| other == id;
    let operands = Search { data, at: (id, stage), instruction: known, forms, is_inline: &|_| false };
    let first = operands.all();
    let through = Search { is_inline: &|other| !own(other) && data.funcs[other].is_pure(), ..operands };
    first.or_else(|first| through.all().map_err(|_| first))
}

struct Search<'a> {
    data: &'a PipelineData,
    at: (FuncId, usize),
    instruction: &'a Instruction,
    forms: &'a [Form],
    is_inline: &'a dyn Fn(FuncId) -> bool,
}

/// A variable of a stage, or several whose loops can run as one.
#[derive(Clone)]
struct Candidate {
    /// Innermost first.
    vars: Vec<Atom>,
    /// The number of values, where that is a constant.
    extent: Option<i64>,
}

/// The search of one instruction, as far as it went.
#[derive(Default)]
struct Found<'f> {
    mappings: Vec<Mapping>,
    tried: usize,
    /// The leaves of the match that came furthest, with what it is one of.
    furthest: Option<(usize, Tried<'f>)>,
}

/// A form of a meaning with an assignment and an order of operands.
struct Tried<'f> {
    form: &'f Form,
    chosen: Vec<Candidate>,
    swaps: u32,
}

impl Search<'_> {
    fn all(&self) -> Result<Vec<Mapping>, MapError> {
        let candidates = self.candidates();
        let mut found = Found::default();
        for form in self.forms {
            self.assign(form, &candidates, &mut Vec::new(), &mut found);
            if found.tried > MOST_ASSIGNMENTS {
                return Err(MapError::TooMany { instruction: self.instruction.name().to_string() });
            }
            if !found.mappings.is_empty() {
                return Ok(found.mappings);
            }
        }
        let told = |(_, tried): (usize, Tried<'_>)| {
            self.matched(tried.form, &tried.chosen, (tried.swaps, true)).0.err().map(Box::new)
        };
        let furthest = found.furthest.and_then(told);
        Err(MapError::Nothing { instruction: self.instruction.name().to_string(), tried: found.tried, furthest })
    }

    /// Goes on with the next axis, whatever may still be one.
    fn assign<'f>(&self, form: &'f Form, candidates: &[Candidate], chosen: &mut Vec<Candidate>, found: &mut Found<'f>) {
        let Some(axis) = self.instruction.axes().get(chosen.len()) else { return self.matches(form, chosen, found) };
        for candidate in candidates {
            if found.tried > MOST_ASSIGNMENTS {
                return;
            }
            // What the result moves along is a variable of the Func, and nothing else is.
            let is_pure = matches!(form.vars.get(chosen.len()), Some(AxisVar::Pure(_)));
            if is_pure != matches!(candidate.vars[0], Atom::Var(_)) {
                continue;
            }
            let is_taken = chosen.iter().any(|other| other.vars.iter().any(|var| candidate.vars.contains(var)));
            if is_taken || !divides(axis, candidate) {
                continue;
            }
            chosen.push(candidate.clone());
            self.assign(form, candidates, chosen, found);
            chosen.pop();
        }
    }

    /// Adds the mappings of an assignment: one for each way in which operands stand.
    fn matches<'f>(&self, form: &'f Form, chosen: &[Candidate], found: &mut Found<'f>) {
        found.tried += 1;
        let mut different: Vec<Operands> = Vec::new();
        for swaps in 0..1u32 << commuting(form) {
            match self.matched(form, chosen, (swaps, false)) {
                (Ok(operands), _) if different.contains(&operands) => {}
                (Ok(operands), _) => {
                    found.mappings.push(self.mapping(form, chosen, &operands));
                    different.push(operands);
                }
                (Err(_), matched) => {
                    if found.furthest.as_ref().is_none_or(|(most, _)| matched > *most) {
                        found.furthest = Some((matched, Tried { form, chosen: chosen.to_vec(), swaps }));
                    }
                }
            }
        }
    }

    /// Matches one assignment and order of operands, and counts the leaves that match.
    fn matched(&self, form: &Form, chosen: &[Candidate], how: (u32, bool)) -> (Result<Operands, Problem>, usize) {
        let multiple = |candidate: &Candidate| Multiple { atom: candidate.vars[0], by: 1 };
        let names = chosen.iter().map(|candidate| self.name(candidate.vars[0])).collect();
        let axes = Axes { all: chosen.iter().map(multiple).collect(), names };
        let inner = |other: FuncId| other != form.func;
        let meaning = Side { pipeline: &form.pipeline, func: form.func, stage: form.stage, is_inline: &inner };
        let own = Side { pipeline: self.data, func: self.at.0, stage: self.at.1, is_inline: self.is_inline };
        match_in_order(self.instruction, (&meaning, &own), (&Axes::of_form(form), &axes), how)
    }

    fn mapping(&self, form: &Form, chosen: &[Candidate], operands: &Operands) -> Mapping {
        let names = |candidate: &Candidate| candidate.vars.iter().map(|var| self.name(*var)).collect();
        let axes = self.instruction.axes().iter().zip(chosen).map(|(axis, of)| (axis.name.clone(), names(of)));
        let source = |source: Source| match source {
            Source::Func(func) => self.data.funcs[func].name.clone(),
            Source::Image(image) => self.data.images[image].name.clone(),
        };
        let operands = operands.iter().map(|(image, operand)| {
            let name = form.pipeline.images[*image].name.clone();
            (name, source(operand.source))
        });
        let instruction = self.instruction.name().to_string();
        Mapping { instruction, axes: axes.collect(), operands: operands.collect() }
    }

    /// The variables of the stage, then those that can be one loop.
    fn candidates(&self) -> Vec<Candidate> {
        let (func, stage) = self.at;
        let def = &self.data.funcs[func];
        let mut all: Vec<Candidate> = Vec::new();
        all.extend(def.args.iter().map(|var| Candidate { vars: vec![Atom::Var(*var)], extent: None }));
        let pure = all.len();
        if let Some(rdom) = def.stages[stage].rdom {
            let dims = self.data.rdoms[rdom].dims.iter().zip(0..);
            all.extend(dims.map(|(dim, n)| Candidate {
                vars: vec![Atom::RVar(rdom, n)],
                extent: constant(self.data, dim.extent),
            }));
        }
        let accesses = self.accesses();
        let (mut joined, singles) = (Vec::new(), all.len());
        for range in [0..pure, pure..singles] {
            let mut runs: Vec<Candidate> = all[range.clone()].to_vec();
            while let Some(run) = runs.pop() {
                for next in &all[range.clone()] {
                    let vars: Vec<Atom> = run.vars.iter().chain(&next.vars).copied().collect();
                    let is_read = accesses.iter().any(|at| at.iter().any(|form| moves(form, &next.vars[0])));
                    let is_new = is_read && !run.vars.contains(&next.vars[0]);
                    if is_new && accesses.iter().all(|at| lie_beside(at, &vars)) {
                        let extent = run.extent.zip(next.extent).and_then(|(a, b)| a.checked_mul(b));
                        joined.push(Candidate { vars: vars.clone(), extent });
                        runs.push(Candidate { vars, extent });
                    }
                }
            }
        }
        all.extend(joined);
        all
    }

    /// The coordinates of what the stage stores and reads; `None` for one that is no sum of multiples of variables.
    fn accesses(&self) -> Vec<Vec<Option<Affine>>> {
        let stage = &self.data.funcs[self.at.0].stages[self.at.1];
        let forms = |args: &[ExprId]| args.iter().map(|arg| affine(self.data, *arg)).collect::<Vec<_>>();
        let mut all = vec![forms(&stage.args)];
        for e in reachable(self.data, &stage.values) {
            if let Kind::Image { args, .. } | Kind::Call { args, .. } = &self.data.exprs[e].kind {
                all.push(forms(args));
            }
        }
        all
    }

    fn name(&self, atom: Atom) -> String {
        match atom {
            Atom::Var(var) => self.data.vars[var].clone(),
            Atom::RVar(rdom, dim) => self.data.rdoms[rdom].dims[usize::from(dim)].said.clone(),
            Atom::Uniform(_) => String::new(),
        }
    }
}

/// Returns true if loops over a variable can have the extent of an axis: guards do not stand inside of instructions, so
/// a constant number of values must be a multiple of an exact extent.
fn divides(axis: &Axis, candidate: &Candidate) -> bool {
    match (axis.extents, candidate.extent) {
        (Extents::Exactly(n), Some(extent)) => n > 0 && extent > 0 && extent % n == 0,
        _ => true,
    }
}

/// Returns true if a coordinate may move along a variable.
fn moves(form: &Option<Affine>, var: &Atom) -> bool {
    form.as_ref().is_none_or(|form| form.terms.contains_key(var))
}

/// Returns true if an access moves along none of these variables, or along each of them alone in dimensions beside each
/// other, in this order.
fn lie_beside(coordinates: &[Option<Affine>], vars: &[Atom]) -> bool {
    let dims = |var: &Atom| (0..coordinates.len()).filter(|dim| moves(&coordinates[*dim], var)).collect::<Vec<_>>();
    let of: Vec<Vec<usize>> = vars.iter().map(dims).collect();
    if of.iter().all(Vec::is_empty) {
        return true;
    }
    let alone = |(dims, var): (&Vec<usize>, &Atom)| match dims[..] {
        [dim] => coordinates[dim] == Some(Affine::of(*var)),
        _ => false,
    };
    of.iter().zip(vars).all(alone) && of.windows(2).all(|pair| pair[1][0] == pair[0][0] + 1)
}

/// The number of operations of a meaning whose operands may change places: of values, not of coordinates.
fn commuting(form: &Form) -> u32 {
    let data: &PipelineData = &form.pipeline;
    let values = data.funcs.iter().flat_map(|def| def.stages.iter().flat_map(|stage| &stage.values)).copied();
    let (mut todo, mut seen, mut count) = (values.collect::<Vec<_>>(), BTreeSet::new(), 0u32);
    while let Some(e) = todo.pop() {
        let kind = &data.exprs[e].kind;
        if !seen.insert(e) || matches!(kind, Kind::Image { .. } | Kind::Call { .. }) {
            continue;
        }
        count += u32::from(matches!(kind, Kind::Binary(op, ..) if commutes(*op)));
        todo.extend(kind.children());
    }
    count.min(MOST_SWAPS)
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes = self.axes.iter().map(|(axis, vars)| match &vars[..] {
            [one] => format!("{axis} <- {one}"),
            several => format!("{axis} <- ({})", several.join(", ")),
        });
        let operands = self.operands.iter().map(|(name, read)| format!("{name} <- {read}"));
        let [axes, operands] = [axes.collect::<Vec<_>>(), operands.collect()].map(|all: Vec<String>| all.join(", "));
        write!(f, "{}: {axes}; {operands}", self.instruction)
    }
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapError::NoStage { func, stage: 0 } => write!(f, "the pipeline has no Func `{func}`"),
            MapError::NoStage { func, stage } => write!(f, "the pipeline has no stage `{func}.update({})`", stage - 1),
            MapError::NoInstruction { instruction } => write!(f, "there is no instruction `{instruction}`"),
            MapError::TooMany { instruction } => write!(
                f,
                "instruction `{instruction}` has more than {MOST_ASSIGNMENTS} assignments to the variables of the stage; \
                 give it fewer axes"
            ),
            MapError::Nothing { instruction, tried, furthest } => {
                let why =
                    furthest.as_ref().map_or_else(String::new, |why| format!("; the one that came furthest: {why}"));
                write!(f, "instruction `{instruction}` computes the stage in none of {tried} assignments{why}")
            }
        }
    }
}

halide_core::debug_is_display!(MapError);

impl std::error::Error for MapError {}
