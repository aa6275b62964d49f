//! The printer of algorithms: a frozen [`Pipeline`] as text that shows everything it means.
//!
//! ```text
//! image input(2): u16
//! rdom r: r.x from 0 for 256
//! func hist(i): u32
//!   hist(i) = 0u32
//!   hist(i32(input(r.x, 0))) = hist(i32(input(r.x, 0))) + 1u32
//! output hist
//! ```
//!
//! Constants carry their type unless they are `i32` or `bool`. Where a definition written out would be long, what it
//! uses more than once gets a name, so that text is never much longer than the pipeline.

use crate::ids::{ExprId, NoteId, RDomId};
use crate::ops::{BinOp, UnOp};
use crate::pipeline::{DimField, FuncDef, Kind, NoteKind, ParamDef, Piece, Pipeline, PipelineData, RDomDef, StageDef};
use crate::shape::{Law, ShapeRule};
use crate::tuning::PRINTED_WHOLE;
use crate::types::ScalarType;
use crate::value::Scalar;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&pipeline(self))
    }
}

/// All of `data`, one line per definition.
pub fn pipeline(data: &PipelineData) -> String {
    let mut out = String::new();
    for image in data.images.iter() {
        let range = image.values.range.map(|(min, max)| format!(" in {min} to {max}")).unwrap_or_default();
        let grows = image.values.grows.map(|dim| format!(" growing along {dim}")).unwrap_or_default();
        let distinct = if image.values.distinct { " distinct" } else { "" };
        let _ = write!(out, "image {}({}): {}{range}{grows}{distinct}", image.name, image.dims, image.ty);
        for promise in &image.coordinates {
            let _ = write!(out, " coordinates of {}.{}", data.images[promise.image].name, promise.dim);
        }
        let _ = writeln!(out);
    }
    for param in data.params.iter() {
        print_param(param, &mut out);
    }
    for rdom in data.rdoms.iter() {
        print_rdom(data, rdom, &mut out);
    }
    for &id in &data.order {
        print_func(data, &data.funcs[id], &mut out);
    }
    for &id in &data.outputs {
        let _ = writeln!(out, "output {}", data.funcs[id].name);
    }
    for rule in &data.shapes {
        print_rule(data, rule, &mut out);
    }
    for rule in &data.alignments {
        let _ = writeln!(out, "rule {}: begins at a multiple of {} bytes", rule.of.describe(data), rule.bytes);
    }
    out
}

/// One definition of a Func as text: the names of what it uses more than once come first, a line each.
pub fn definition(data: &PipelineData, func: &FuncDef, stage: &StageDef) -> String {
    let mut out = String::new();
    print_stage(data, func, stage, &mut out);
    out.lines().map(str::trim_start).collect::<Vec<_>>().join("\n")
}

/// One expression of `data` as text.
pub fn expr(data: &PipelineData, root: ExprId) -> String {
    let mut out = String::new();
    Printer { data, names: BTreeMap::new() }.print(root, &mut out);
    out
}

fn print_param(param: &ParamDef, out: &mut String) {
    let _ = write!(out, "param {}: {}", param.name, param.ty);
    if let Some(default) = param.default {
        let _ = write!(out, " = {default}");
    }
    match (param.min, param.max) {
        (Some(min), Some(max)) => drop(write!(out, " from {min} to {max}")),
        (Some(min), None) => drop(write!(out, " from {min}")),
        (None, Some(max)) => drop(write!(out, " to {max}")),
        (None, None) => {}
    }
    out.push('\n');
}

fn print_rule(data: &PipelineData, rule: &ShapeRule, out: &mut String) {
    let field = match rule.field {
        DimField::Min => "min",
        DimField::Extent => "extent",
        DimField::Stride => "stride",
    };
    let _ = write!(out, "rule {}: {field} of dimension {} is ", rule.of.describe(data), rule.dim);
    match rule.law {
        Law::MultipleOf(n) => drop(write!(out, "a multiple of {n}")),
        Law::Is(e) => Printer { data, names: BTreeMap::new() }.print(e, out),
    }
    out.push('\n');
}

fn print_rdom(data: &PipelineData, rdom: &RDomDef, out: &mut String) {
    let roots: Vec<ExprId> = rdom.dims.iter().flat_map(|d| [d.min, d.extent]).chain(rdom.predicate).collect();
    let printer = Printer::new(data, &roots, out);
    let _ = write!(out, "rdom {}: ", rdom.name);
    for (i, dim) in rdom.dims.iter().enumerate() {
        let _ = write!(out, "{}{} from ", if i == 0 { "" } else { ", " }, dim.name);
        printer.print(dim.min, out);
        out.push_str(" for ");
        printer.print(dim.extent, out);
    }
    if let Some(predicate) = rdom.predicate {
        out.push_str(" where ");
        printer.print(predicate, out);
    }
    out.push('\n');
}

fn print_func(data: &PipelineData, func: &FuncDef, out: &mut String) {
    let args: Vec<&str> = func.args.iter().map(|&v| data.vars[v].as_str()).collect();
    let types: Vec<&str> = func.types.iter().map(|t| t.name()).collect();
    let ty = if let [one] = types[..] { one.to_string() } else { format!("({})", types.join(", ")) };
    let _ = writeln!(out, "func {}({}): {ty}", func.name, args.join(", "));
    for stage in &func.stages {
        print_stage(data, func, stage, out);
    }
}

fn print_stage(data: &PipelineData, func: &FuncDef, stage: &StageDef, out: &mut String) {
    let roots: Vec<ExprId> = stage.args.iter().chain(&stage.values).copied().collect();
    let printer = Printer::new(data, &roots, out);
    let _ = write!(out, "  {}(", func.name);
    printer.list(&stage.args, out);
    out.push_str(") = ");
    if let [value] = stage.values[..] {
        printer.print(value, out);
    } else {
        out.push('(');
        printer.list(&stage.values, out);
        out.push(')');
    }
    out.push('\n');
}

struct Printer<'p> {
    data: &'p PipelineData,
    /// The expressions that have a name, with the number in it.
    names: BTreeMap<ExprId, usize>,
}

/// A part that is left to print; a stack of these stands for recursion, as expressions may be deep.
enum PrintTask {
    Text(&'static str),
    Owned(String),
    /// An expression within operators that bind as tightly as the number.
    Expr(ExprId, u8),
}

impl<'p> Printer<'p> {
    /// A printer for `roots`, having written the lines that define the names it uses.
    fn new(data: &'p PipelineData, roots: &[ExprId], out: &mut String) -> Printer<'p> {
        let mut printer = Printer { data, names: BTreeMap::new() };
        for id in shared(data, roots) {
            let name = printer.names.len();
            let _ = write!(out, "  let t{name} = ");
            printer.print(id, out);
            out.push('\n');
            printer.names.insert(id, name);
        }
        printer
    }

    fn list(&self, items: &[ExprId], out: &mut String) {
        for (i, &item) in items.iter().enumerate() {
            out.push_str(if i == 0 { "" } else { ", " });
            self.print(item, out);
        }
    }

    fn print(&self, root: ExprId, out: &mut String) {
        let mut todo = vec![PrintTask::Expr(root, 0)];
        while let Some(task) = todo.pop() {
            match task {
                PrintTask::Text(text) => out.push_str(text),
                PrintTask::Owned(text) => out.push_str(&text),
                PrintTask::Expr(id, outer) => match self.names.get(&id) {
                    Some(name) => drop(write!(out, "t{name}")),
                    None => {
                        let mut parts = self.parts(id, outer);
                        parts.reverse();
                        todo.append(&mut parts);
                    }
                },
            }
        }
    }

    /// The parts of a node, in reading order.
    fn parts(&self, id: ExprId, outer: u8) -> Vec<PrintTask> {
        let node = &self.data.exprs[id];
        let owned = |text: String| vec![PrintTask::Owned(text)];
        match &node.kind {
            Kind::Const(value) => owned(constant(*value)),
            Kind::Var(v) => owned(self.data.vars[*v].clone()),
            Kind::RVar { rdom, dim } => owned(self.rvar(*rdom, *dim)),
            Kind::Param(p) => owned(self.data.params[*p].name.clone()),
            Kind::ImageDim { image, dim, field } => {
                owned(format!("{}.{}({dim})", self.data.images[*image].name, field_name(*field)))
            }
            Kind::Unary(op, a) => match op {
                UnOp::Neg | UnOp::Not => prefix(op.name(), *a, outer),
                _ => call(op.name().into(), &[*a]),
            },
            Kind::Binary(op, a, b) => match level(*op) {
                Some(level) => infix(op.name(), level, *a, *b, outer),
                None => call(op.name().into(), &[*a, *b]),
            },
            Kind::Select(c, a, b) => call("select".into(), &[*c, *a, *b]),
            Kind::Cast(a) => call(node.ty.name().into(), &[*a]),
            Kind::SaturatingCast(a) => call(format!("saturating_{}", node.ty), &[*a]),
            Kind::Reinterpret(a) => call(format!("bits_{}", node.ty), &[*a]),
            Kind::Math(function, args) => call(function.name().into(), args),
            Kind::Sites(values) => call("sites".into(), values),
            Kind::Call { func, element, args } => {
                let func = &self.data.funcs[*func];
                let mut parts = call(func.name.clone(), args);
                if func.types.len() > 1 {
                    parts.push(PrintTask::Owned(format!(".{element}")));
                }
                parts
            }
            Kind::Image { image, args } => call(self.data.images[*image].name.clone(), args),
            Kind::Likely(a) => call("likely".into(), &[*a]),
            Kind::LikelyIfInnermost(a) => call("likely_if_innermost".into(), &[*a]),
            Kind::Strict(a) => call("strict_float".into(), &[*a]),
            Kind::Before { element } => owned(format!("before.{element}")),
            Kind::Note { note, condition, value, parts } => self.note(*note, *condition, *value, parts),
        }
    }

    /// `require(condition, value, "text", part)`.
    fn note(&self, note: NoteId, condition: ExprId, value: ExprId, parts: &[ExprId]) -> Vec<PrintTask> {
        let def = &self.data.notes[note];
        let name = match def.kind {
            NoteKind::Require => "require",
            NoteKind::Print => "print_when",
        };
        let mut tasks = call(name.into(), &[condition, value]);
        tasks.pop();
        let mut parts = parts.iter();
        for piece in &def.text {
            tasks.push(PrintTask::Text(", "));
            tasks.extend(match piece {
                Piece::Text(text) => Some(PrintTask::Owned(format!("{text:?}"))),
                Piece::Value => parts.next().map(|&part| PrintTask::Expr(part, 0)),
            });
        }
        tasks.push(PrintTask::Text(")"));
        tasks
    }

    fn rvar(&self, rdom: RDomId, dim: u8) -> String {
        let rdom = &self.data.rdoms[rdom];
        rdom.dims.get(dim as usize).map_or_else(|| format!("{}.?", rdom.name), |d| d.name.clone())
    }
}

/// The precedence of `-` and `!` before an operand: higher than that of any operator between two.
const PREFIX: u8 = 9;

/// The precedence of comparisons, which do not associate.
const COMPARISON: u8 = 2;

fn infix(symbol: &'static str, level: u8, a: ExprId, b: ExprId, outer: u8) -> Vec<PrintTask> {
    let left = if level == COMPARISON { level + 1 } else { level };
    let parts = vec![
        PrintTask::Expr(a, left),
        PrintTask::Text(" "),
        PrintTask::Text(symbol),
        PrintTask::Text(" "),
        PrintTask::Expr(b, level + 1),
    ];
    enclosed(parts, level < outer)
}

/// The parts, in parentheses if need be.
fn enclosed(mut parts: Vec<PrintTask>, needed: bool) -> Vec<PrintTask> {
    if needed {
        parts.insert(0, PrintTask::Text("("));
        parts.push(PrintTask::Text(")"));
    }
    parts
}

fn prefix(symbol: &'static str, a: ExprId, outer: u8) -> Vec<PrintTask> {
    enclosed(vec![PrintTask::Text(symbol), PrintTask::Expr(a, PREFIX)], PREFIX < outer)
}

fn call(name: String, args: &[ExprId]) -> Vec<PrintTask> {
    let mut parts = vec![PrintTask::Owned(name), PrintTask::Text("(")];
    for (i, &a) in args.iter().enumerate() {
        if i > 0 {
            parts.push(PrintTask::Text(", "));
        }
        parts.push(PrintTask::Expr(a, 0));
    }
    parts.push(PrintTask::Text(")"));
    parts
}

/// A constant; a negative one needs no parentheses, as the sign of a number binds tighter than any operator.
fn constant(value: Scalar) -> String {
    match value.ty() {
        ScalarType::I32 | ScalarType::Bool => value.to_string(),
        ty if ty.is_float() && !value.as_f64().is_finite() => format!("{ty}({value})"),
        ty => format!("{value}{ty}"),
    }
}

/// The expressions below `roots` that need a name, children first: none if the text is short without.
fn shared(data: &PipelineData, roots: &[ExprId]) -> Vec<ExprId> {
    let mut uses: BTreeMap<ExprId, u32> = BTreeMap::new();
    let mut todo = roots.to_vec();
    while let Some(id) = todo.pop() {
        let count = uses.entry(id).or_insert(0);
        *count += 1;
        if *count == 1 {
            todo.extend(data.exprs[id].kind.children());
        }
    }
    let mut sizes: BTreeMap<ExprId, u64> = BTreeMap::new();
    for &id in uses.keys() {
        let below = data.exprs[id].kind.children().into_iter().fold(0u64, |n, c| n.saturating_add(sizes[&c]));
        sizes.insert(id, below.saturating_add(1));
    }
    let total = roots.iter().fold(0u64, |n, r| n.saturating_add(sizes[r]));
    if total <= PRINTED_WHOLE {
        return Vec::new();
    }
    uses.into_iter().filter(|(id, n)| *n > 1 && sizes[id] > 3).map(|(id, _)| id).collect()
}

/// The precedence of an operator that stands between its operands; all but comparisons associate to the left.
fn level(op: BinOp) -> Option<u8> {
    Some(match op {
        BinOp::Mul | BinOp::Div | BinOp::Mod => 8,
        BinOp::Add | BinOp::Sub => 7,
        BinOp::Shl | BinOp::Shr => 6,
        BinOp::BitAnd => 5,
        BinOp::BitXor => 4,
        BinOp::BitOr => 3,
        BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => COMPARISON,
        BinOp::DivToZero | BinOp::ModToZero | BinOp::Min | BinOp::Max | BinOp::Absd => return None,
    })
}

fn field_name(field: DimField) -> &'static str {
    match field {
        DimField::Min => "min",
        DimField::Extent => "extent",
        DimField::Stride => "stride",
    }
}
