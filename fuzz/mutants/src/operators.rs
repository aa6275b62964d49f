//! The mistakes: by the shape of an expression and by the names of this compiler's constructors of loop IR.

use crate::place::{Finder, Form};
use syn::{BinOp, Expr, Lit, Member, Stmt};

/// Constructors of loop IR and methods, each with what is easily written in its place.
const SWAPS: [(&str, &str, &str); 20] = [
    ("min", "max", "min and max swapped"),
    ("max", "min", "min and max swapped"),
    ("lt", "le", "comparison off by one"),
    ("le", "lt", "comparison off by one"),
    ("gt", "ge", "comparison off by one"),
    ("ge", "gt", "comparison off by one"),
    ("add", "sub", "sum and difference swapped"),
    ("sub", "add", "sum and difference swapped"),
    ("and", "or", "conjunction and disjunction swapped"),
    ("or", "and", "conjunction and disjunction swapped"),
    ("any", "all", "any and all swapped"),
    ("all", "any", "any and all swapped"),
    ("first", "last", "first and last swapped"),
    ("last", "first", "first and last swapped"),
    ("is_some", "is_none", "condition negated"),
    ("is_none", "is_some", "condition negated"),
    ("union", "intersect", "union and intersection swapped"),
    ("intersect", "union", "union and intersection swapped"),
    ("div", "rem", "quotient and remainder swapped"),
    ("rem", "div", "quotient and remainder swapped"),
];

/// Methods that change a collection and give nothing back.
const CHANGES: [&str; 9] =
    ["push", "insert", "extend", "remove", "clear", "append", "retain", "push_front", "bind"];

/// Fields whose values are numbers of iterations or elements, or first ones.
const SIZES: [&str; 6] = ["extent", "min", "count", "size", "factor", "constant"];

/// Adds what can be wrong with an expression itself.
pub(crate) fn expression(found: &mut Finder<'_>, e: &Expr) {
    match e {
        Expr::Call(call) => constructor(found, e, call),
        Expr::MethodCall(call) => method(found, e, call),
        Expr::Path(path) => edge(found, e, path),
        Expr::If(branch) if !has_let(&branch.cond) => {
            let wrong = format!("!({})", found.source(&branch.cond));
            found.add(&*branch.cond, "condition negated", wrong, Form::Expr);
        }
        Expr::Binary(binary) if !has_let(e) => operator(found, e, binary),
        Expr::Range(range) => {
            if let (Some(end), true) = (&range.end, matches!(range.limits, syn::RangeLimits::HalfOpen(_))) {
                let wrong = format!("({}) - 1", found.source(&**end));
                found.add(&**end, "last iteration left out", wrong, Form::Expr);
            }
        }
        _ => {}
    }
}

/// Adds a statement that can be left out.
pub(crate) fn statement(found: &mut Finder<'_>, s: &Stmt) {
    let Stmt::Expr(Expr::MethodCall(call), Some(_)) = s else { return };
    let receiver = found.source(&*call.receiver);
    let told = ["errors", "notes", "reasons", "hints", "out"].contains(&receiver.as_str());
    if CHANGES.contains(&call.method.to_string().as_str()) && !told {
        found.add(s, "statement left out", String::new(), Form::Statement);
    }
}

/// Adds what can be wrong with a size that is a field.
pub(crate) fn field(found: &mut Finder<'_>, field: &syn::FieldValue) {
    let Member::Named(name) = &field.member else { return };
    let name = name.to_string();
    if !SIZES.contains(&name.as_str()) {
        return;
    }
    let by = if name.len() % 2 == 0 { 1 } else { -1 };
    let value = found.source(&field.expr);
    if value == "None" {
        return;
    }
    let wrong = format!("crate::off_by(({value}), {by})");
    match field.colon_token {
        Some(_) => found.add(&field.expr, "size off by one", wrong, Form::Expr),
        None => found.add(field, "size off by one", wrong, Form::Field),
    }
}

fn constructor(found: &mut Finder<'_>, e: &Expr, call: &syn::ExprCall) {
    let Expr::Path(path) = &*call.func else { return };
    let Some(name) = path.path.segments.last().map(|s| s.ident.to_string()) else { return };
    let args: Vec<String> = call.args.iter().map(|a| found.source(a)).collect();
    let built = path.path.segments.iter().any(|s| s.ident == "build");
    let swap = SWAPS.iter().find(|(from, ..)| *from == name);
    match (name.as_str(), args.as_slice()) {
        ("and", [a, b]) if built => {
            found.add(e, "guard dropped", format!("{{ let _ = {b}; {a} }}"), Form::Expr);
            found.add(e, "guard dropped", format!("{{ let _ = {a}; {b} }}"), Form::Expr);
        }
        ("if_else", [cond, ..]) => {
            let wrong = format!("{{ let _ = {cond}; halide_ir::build::boolean(true) }}");
            found.add(&call.args[0], "guard dropped", wrong, Form::Expr);
        }
        ("select", [cond, ..]) if built => {
            let wrong = format!("halide_ir::build::not({cond})");
            found.add(&call.args[0], "arms swapped", wrong, Form::Expr);
        }
        ("offset", [_, by]) => {
            found.add(&call.args[1], "off by one", format!("({by}) + 1"), Form::Expr);
            found.add(&call.args[1], "off by one", format!("({by}) - 1"), Form::Expr);
        }
        ("extent_between", [..]) | ("for_loop", [..]) if args.len() > 1 => {
            let last = if name == "for_loop" { 3 } else { 1 };
            let wrong = format!("crate::off_by(({}), -1)", args[last]);
            found.add(&call.args[last], "size off by one", wrong, Form::Expr);
        }
        ("int", [value]) if built => {
            found.add(&call.args[0], "off by one", format!("({value}) + 1"), Form::Expr);
        }
        ("map_or", _) => {}
        (_, [_, _]) if built || name.len() == 3 => {
            if let Some((_, to, operator)) = swap {
                let func = found.source(&*call.func);
                let func = format!("{}{to}", &func[..func.len() - name.len()]);
                found.add(e, operator, format!("{func}({})", args.join(", ")), Form::Expr);
            }
        }
        _ => {}
    }
}

fn method(found: &mut Finder<'_>, e: &Expr, call: &syn::ExprMethodCall) {
    let name = call.method.to_string();
    let (receiver, args) = (found.source(&*call.receiver), &call.args);
    if matches!(name.as_str(), "take" | "skip") && args.len() == 1 {
        let wrong = format!("({}) + 1", found.source(&args[0]));
        found.add(&args[0], "off by one", wrong, Form::Expr);
    }
    let Some((_, to, operator)) = SWAPS.iter().find(|(from, ..)| *from == name) else { return };
    let args: Vec<String> = args.iter().map(|a| found.source(a)).collect();
    found.add(e, operator, format!("{receiver}.{to}({})", args.join(", ")), Form::Expr);
}

/// The one end of a region for the other one, one direction of monotony for the other one.
fn edge(found: &mut Finder<'_>, e: &Expr, path: &syn::ExprPath) {
    let names: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let wrong = match names.as_slice() {
        [.., "Edge", "Min"] => "halide_ir::Edge::Max",
        [.., "Edge", "Max"] => "halide_ir::Edge::Min",
        ["BinOp", "Min"] => "BinOp::Max",
        ["BinOp", "Max"] => "BinOp::Min",
        ["BinOp", "Lt"] => "BinOp::Le",
        ["BinOp", "Le"] => "BinOp::Lt",
        ["BinOp", "Add"] => "BinOp::Sub",
        ["BinOp", "Sub"] => "BinOp::Add",
        ["Monotone", "Increasing"] => "Monotone::Decreasing",
        ["Monotone", "Decreasing"] => "Monotone::Increasing",
        _ => return,
    };
    found.add(e, "the other end", wrong.to_string(), Form::Expr);
}

fn operator(found: &mut Finder<'_>, e: &Expr, binary: &syn::ExprBinary) {
    let (left, right) = (found.source(&*binary.left), found.source(&*binary.right));
    let (sign, sort) = match binary.op {
        BinOp::And(_) => ("||", "conjunction and disjunction swapped"),
        BinOp::Or(_) => ("&&", "conjunction and disjunction swapped"),
        BinOp::Lt(_) => ("<=", "comparison off by one"),
        BinOp::Le(_) => ("<", "comparison off by one"),
        BinOp::Gt(_) => (">=", "comparison off by one"),
        BinOp::Ge(_) => (">", "comparison off by one"),
        BinOp::Eq(_) => ("!=", "condition negated"),
        BinOp::Ne(_) => ("==", "condition negated"),
        BinOp::Add(_) => ("-", "sum and difference swapped"),
        BinOp::Sub(_) => ("+", "sum and difference swapped"),
        _ => return,
    };
    // What compares or adds first must go on doing so.
    found.add(e, sort, format!("({left}) {sign} ({right})"), Form::Expr);
    if let (BinOp::Add(_) | BinOp::Sub(_), Expr::Lit(lit)) = (&binary.op, &*binary.right)
        && let Lit::Int(_) = lit.lit
    {
        found.add(&*binary.right, "off by one", format!("{right} + 1"), Form::Expr);
    }
}

/// Returns true if a condition binds names, which its parts cannot be without.
fn has_let(e: &Expr) -> bool {
    match e {
        Expr::Let(_) => true,
        Expr::Binary(b) => has_let(&b.left) || has_let(&b.right),
        Expr::Paren(p) => has_let(&p.expr),
        _ => false,
    }
}
