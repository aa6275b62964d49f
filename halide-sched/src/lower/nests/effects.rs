//! Effects: the requirements and prints of a definition, as statements before its store. Used by `ctx`, `build_nests`
//! and `check_arguments`.
//!
//! Expressions of loop IR have no effects, so requirements and lines to print leave the values they stand in. Each
//! comes with the condition under which the interpreter evaluates it: the arms of `select` around it that are chosen.
//! Calls of inlined Funcs bring what those say.
//!
//! A requirement of nothing but parameters and shapes is checked once at the start; every other one at each point that
//! is computed. More points are computed than are needed, so a check that fails may be a false alarm: who runs the
//! program asks the interpreter then (`Fault::Require`), and goes on with a variant that checks nothing if it was one.

use crate::lower::nests::ctx::Ctx;
use crate::lower::nests::translate::{Env, Translator};
use crate::plan::{Level, reachable};
use halide_core::ids::{ExprId, FuncId, IdVec, NoteId};
use halide_core::pipeline::{Kind, NoteDef, NoteKind, PipelineData, StageDef, note_text};
use halide_ir::{Expr, ExprKind, Fault, FaultId, PrintId, Program, Stmt, Sym, build, visit};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A requirement or a line to print, over the placeholders of a definition.
#[derive(Clone, PartialEq)]
pub(crate) struct Told {
    /// The kind: a requirement or a line to print.
    pub(crate) kind: NoteKind,
    /// The note of the pipeline.
    note: NoteId,
    /// Scalar `Bool`: whether it is evaluated.
    reached: Expr,
    /// Scalar `Bool`: its condition.
    condition: Expr,
    /// The values that it shows.
    parts: Vec<Expr>,
    /// True if it is evaluated only where the domain's predicate holds.
    pub(crate) guarded: bool,
}

impl Told {
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &Expr> {
        [&self.reached, &self.condition].into_iter().chain(&self.parts)
    }

    pub(crate) fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        [&mut self.reached, &mut self.condition].into_iter().chain(&mut self.parts)
    }

    /// Returns true if `reached` and `condition` are made of nothing but parameters and shapes.
    pub(crate) fn is_uniform(&self) -> bool {
        let varies = |n: &Expr| matches!(n.kind(), ExprKind::Sym(Sym::Temp(_)) | ExprKind::Read { .. });
        ![&self.reached, &self.condition].into_iter().any(|e| visit::any_node(e, varies))
    }
}

/// Adds to `all` what the definition `def` says at a site.
pub(crate) fn of_stage(translator: &mut Translator<'_>, def: &StageDef, env: &mut Env, all: &mut Vec<Told>) {
    let pipeline = &translator.plan.pipeline;
    if pipeline.notes.is_empty() {
        return;
    }
    let rdom = def.rdom.map(|r| &pipeline.rdoms[r]);
    let ranges = rdom.iter().flat_map(|r| &r.dims).flat_map(|d| [d.min, d.extent]);
    let always: Vec<ExprId> = ranges.chain(rdom.and_then(|r| r.predicate)).collect();
    let guarded: Vec<ExprId> = def.args.iter().chain(&def.values).copied().collect();
    for (roots, guarded) in [(always, false), (guarded, true)] {
        for told in of(translator, &roots, env) {
            let told = Told { guarded, ..told };
            let same = |t: &Told| {
                let said = (t.note, t.guarded, &t.condition, &t.parts, &t.reached);
                said == (told.note, told.guarded, &told.condition, &told.parts, &told.reached)
            };
            // What does not depend on the site is said once.
            if !all.iter().any(same) {
                all.push(told);
            }
        }
    }
}

/// Returns the effects of `roots`, in the order in which they are evaluated.
fn of(translator: &mut Translator<'_>, roots: &[ExprId], env: &mut Env) -> Vec<Told> {
    let plan = translator.plan;
    let exprs = &plan.pipeline.exprs;
    let nodes = reachable(&plan.pipeline, roots);
    let mut reached: BTreeMap<ExprId, Expr> = roots.iter().map(|&r| (r, build::boolean(true))).collect();
    // Operands come before what uses them.
    for &e in nodes.iter().rev() {
        let Some(here) = reached.get(&e).cloned() else { continue };
        let mut reach = |e: ExprId, when: Expr| {
            let before = reached.remove(&e);
            reached.insert(e, before.map_or(when.clone(), |before| either(before, when)));
        };
        match &exprs[e].kind {
            Kind::Select(c, a, b) => {
                let holds = translator.data(*c, env);
                reach(*c, here.clone());
                reach(*a, build::and(here.clone(), holds.clone()));
                reach(*b, build::and(here, build::not(holds)));
            }
            Kind::Note { note, condition, value, parts } => {
                let holds = translator.data(*condition, env);
                let requires = plan.pipeline.notes[*note].kind == NoteKind::Require;
                let told = if requires { build::not(holds.clone()) } else { holds.clone() };
                reach(*condition, here.clone());
                reach(*value, if requires { build::and(here.clone(), holds) } else { here.clone() });
                parts.iter().for_each(|p| reach(*p, build::and(here.clone(), told.clone())));
            }
            kind => kind.children().into_iter().for_each(|c| reach(c, here.clone())),
        }
    }
    let mut all: Vec<Told> = Vec::new();
    for &e in &nodes {
        let here = &reached[&e];
        match &exprs[e].kind {
            Kind::Note { note, condition, parts, .. } => {
                let kind = plan.pipeline.notes[*note].kind;
                let (condition, parts) =
                    (translator.data(*condition, env), parts.iter().map(|p| translator.data(*p, env)).collect());
                add(&mut all, Told { kind, note: *note, reached: here.clone(), condition, parts, guarded: true });
            }
            Kind::Call { func, args, .. } if plan.funcs[*func].compute == Level::Inline => {
                let args: Vec<Expr> = args.iter().map(|a| translator.index(*a, env)).collect();
                let args = translator.simple_args(&args);
                for told in of_inlined(translator, *func, args, env.innermost()).iter() {
                    add(&mut all, Told { reached: build::and(here.clone(), told.reached.clone()), ..told.clone() });
                }
            }
            _ => {}
        }
    }
    all
}

/// `a || b`, where often one is known to hold.
fn either(a: Expr, b: Expr) -> Expr {
    match (build::as_bool(&a), build::as_bool(&b)) {
        (Some(true), _) | (_, Some(false)) => a,
        (_, Some(true)) | (Some(false), _) => b,
        _ if a == b => a,
        _ => build::or(a, b),
    }
}

/// The same said once is enough: in a chain of stencils one point is reached over many paths.
fn add(all: &mut Vec<Told>, new: Told) {
    let same = |t: &&mut Told| t.note == new.note && t.condition == new.condition && t.parts == new.parts;
    match all.iter_mut().find(same) {
        Some(known) => known.reached = either(known.reached.clone(), new.reached),
        None => all.push(new),
    }
}

/// Returns the effects of a call of an inlined Func. All its values are evaluated together.
fn of_inlined(translator: &mut Translator<'_>, func: FuncId, args: Vec<Expr>, innermost: &[Sym]) -> Rc<Vec<Told>> {
    let key = (func, args);
    if let Some(known) = translator.noted.get(&key) {
        return known.clone();
    }
    let plan = translator.plan;
    let def = &plan.pipeline.funcs[func];
    let vars = def.args.iter().copied().zip(key.1.iter().cloned()).collect();
    let mut env = Env::inlined(vars, innermost.to_vec(), plan.funcs[func].stages[0].float);
    let made = visit::deep(|| Rc::new(of(translator, &def.stages[0].values, &mut env)));
    translator.noted.insert(key, made.clone());
    made
}

/// The row of each note in the program's tables.
#[derive(Clone, Copy)]
pub(crate) enum Row {
    /// The row of a requirement.
    Fault(FaultId),
    /// The row of a line to print.
    Line(PrintId),
}

/// Gives every note its row.
pub(crate) fn rows(pipeline: &PipelineData, program: &mut Program) -> IdVec<NoteId, Row> {
    let row = |note: &NoteDef| match note.kind {
        NoteKind::Require => {
            let text = note_text(&note.text, &[]);
            let what = if text.is_empty() { note.at.to_string() } else { format!("{}: {text}", note.at) };
            Row::Fault(program.faults.push(Fault::Require { what }))
        }
        NoteKind::Print => Row::Line(program.prints.push(note.text.clone())),
    };
    pipeline.notes.iter().map(row).collect()
}

/// The statement of a note; `put` gives placeholders their values.
pub(crate) fn stmt(ctx: &Ctx<'_>, told: &Told, put: &mut dyn FnMut(&Expr) -> Expr) -> Option<Stmt> {
    let (reached, condition) = (put(&told.reached), put(&told.condition));
    match ctx.notes[told.note] {
        Row::Fault(_) if ctx.options.unchecked => None,
        Row::Fault(fault) => {
            Some(Stmt::Assert { cond: build::or(build::not(reached), condition), fault, args: Vec::new() })
        }
        Row::Line(line) => {
            let args = told.parts.iter().map(put).collect();
            Some(Stmt::Print { line, when: build::and(reached, condition), args })
        }
    }
}

/// The requirements that can be checked before anything is done.
pub(crate) fn at_start(ctx: &Ctx<'_>) -> Vec<Stmt> {
    let mut all: Vec<Stmt> = Vec::new();
    let templates = ctx.templates.iter().filter(|((func, _), _)| ctx.used.contains(func));
    let told = templates.flat_map(|(_, t)| &t.told);
    for told in told.filter(|t| t.kind == NoteKind::Require && t.is_uniform()) {
        let check = stmt(ctx, told, &mut Expr::clone);
        all.extend(check.filter(|check| !all.contains(check)));
    }
    all
}
