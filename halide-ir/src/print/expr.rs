//! Expressions as text: infix with as few parentheses as the tree allows.

use super::Printer;
use crate::any_lane::as_any_lane;
use crate::expr::{Elem, Expr, ExprKind, Type};
use crate::tuning::{PRINTED_EACH_TIME, PRINTED_WHOLE};
use crate::typing::type_name;
use crate::visit::{for_each_child, for_each_node};
use crate::words::{BINARY_CALLS, COMPARISON, INFIX, INTRINSICS, MATH, PREFIX, UNARY_CALLS, word};
use halide_core::ops::{BinOp, UnOp};
use halide_core::value::Scalar;
use std::collections::HashMap;

impl Printer<'_> {
    /// A whole expression.
    pub(super) fn expr(&mut self, e: &Expr) {
        let parts = shared_parts(e);
        if parts.is_empty() {
            return self.node(e, 0);
        }
        self.push("with(");
        for (number, part) in parts.iter().enumerate() {
            self.push(&format!("${number} = "));
            self.node(part, 0);
            self.push(", ");
            self.locals.insert(part.id(), number);
        }
        self.node(e, 0);
        self.push(")");
        self.locals.clear();
    }

    /// A node whose surroundings bind with strength `outer`.
    fn node(&mut self, e: &Expr, outer: u8) {
        if let Some(number) = self.locals.get(&e.id()) {
            return self.push(&format!("${number}"));
        }
        if let Some(mask) = as_any_lane(e) {
            return self.call("any_lane", &[mask]);
        }
        match e.kind() {
            ExprKind::Const(v) => self.push(&scalar_text(*v)),
            ExprKind::Int(v) => self.push(&v.to_string()),
            ExprKind::Sym(s) => {
                let known = match s {
                    crate::Sym::Temp(n) => self.temps.get(n).copied().unwrap_or(Type::INDEX),
                    _ => Type::INDEX,
                };
                let text = self.sym(*s);
                self.push(&text);
                self.annotate(e.ty(), Some(known));
            }
            ExprKind::Param(id) => {
                let text = self.param(*id);
                self.push(&text);
                let known = self.program.and_then(|p| p.params.get(*id)).map(|(_, ty)| Type::data(*ty));
                self.annotate(e.ty(), known);
            }
            ExprKind::Unary(op, a) => self.unary(*op, a, outer),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, outer),
            ExprKind::Select(c, a, b) => self.call("select", &[c, a, b]),
            ExprKind::Cast(a) => self.call(&type_name(e.ty()), &[a]),
            ExprKind::SaturatingCast(a) => self.typed_call("saturating", e.ty(), a),
            ExprKind::Reinterpret(a) => self.typed_call("reinterpret", e.ty(), a),
            ExprKind::Math(f, args) => self.call(word(&MATH, f).unwrap_or("?"), &args.iter().collect::<Vec<_>>()),
            ExprKind::Intrinsic(op, args) => {
                self.call(word(&INTRINSICS, op).unwrap_or("?"), &args.iter().collect::<Vec<_>>())
            }
            ExprKind::Likely(a) => self.call("likely", &[a]),
            ExprKind::Read { buf, args } => {
                self.buffer_access(*buf, e.ty());
                self.call("", &args.iter().collect::<Vec<_>>());
            }
            ExprKind::Load { buf, index, mask } => {
                self.buffer_access(*buf, e.ty());
                self.linear(index, mask.as_ref());
            }
            ExprKind::Ramp { base, stride } => {
                self.push("ramp(");
                self.node(base, 0);
                self.push(", ");
                self.node(stride, 0);
                self.push(&format!(", {})", e.lanes()));
            }
            ExprKind::Broadcast(a) => self.call(&format!("x{}", e.lanes()), &[a]),
            ExprKind::Shuffle(vectors, lanes) => {
                self.push("shuffle(");
                self.list_of(&vectors.iter().collect::<Vec<_>>(), "[", "]");
                self.push(&format!(", {lanes:?})"));
            }
        }
    }

    fn unary(&mut self, op: UnOp, a: &Expr, outer: u8) {
        let prefix = match op {
            UnOp::Neg => "-",
            UnOp::Not => "!",
            _ => return self.call(word(&UNARY_CALLS, &op).unwrap_or("?"), &[a]),
        };
        // No parentheses in a row of signs: text is nested no deeper than the text that it was read from.
        self.parenthesised(outer > PREFIX, |p| {
            p.push(prefix);
            p.node(a, PREFIX);
        });
    }

    fn binary(&mut self, op: BinOp, a: &Expr, b: &Expr, outer: u8) {
        if let Some(name) = word(&BINARY_CALLS, &op) {
            return self.call(name, &[a, b]);
        }
        let Some((text, strength)) = infix(op, a) else { return self.call("?", &[a, b]) };
        // A row of operators is a tree that is deep on the left, so no recursion follows it.
        let mut row = vec![(text, strength, b, outer > strength)];
        let (mut first, mut outer) = (a, left_of(strength));
        while let ExprKind::Binary(op, a, b) = first.kind()
            && !self.locals.contains_key(&first.id())
            && let Some((text, strength)) = infix(*op, a)
        {
            row.push((text, strength, b, outer > strength));
            (first, outer) = (a, left_of(strength));
        }
        row.iter().filter(|(.., parentheses)| *parentheses).for_each(|_| self.push("("));
        self.node(first, outer);
        for (text, strength, right, parentheses) in row.into_iter().rev() {
            self.push(&format!(" {text} "));
            self.node(right, strength + 1);
            if parentheses {
                self.push(")");
            }
        }
    }

    fn parenthesised(&mut self, needed: bool, write: impl FnOnce(&mut Self)) {
        if needed {
            self.push("(");
        }
        write(self);
        if needed {
            self.push(")");
        }
    }

    pub(super) fn call(&mut self, name: &str, args: &[&Expr]) {
        self.push(name);
        self.list_of(args, "(", ")");
    }

    fn list_of(&mut self, args: &[&Expr], open: &str, close: &str) {
        self.push(open);
        for (i, a) in args.iter().enumerate() {
            if i > 0 {
                self.push(", ");
            }
            self.node(a, 0);
        }
        self.push(close);
    }

    fn typed_call(&mut self, name: &str, ty: Type, a: &Expr) {
        self.push(&format!("{name}({}, ", type_name(ty)));
        self.node(a, 0);
        self.push(")");
    }

    /// A buffer, and the type of its elements unless the table tells it.
    fn buffer_access(&mut self, buf: crate::BufId, ty: Type) {
        let text = self.buf(buf);
        self.push(&text);
        let known = self.program.and_then(|p| p.buffers.get(buf)).map(|b| Type::data(b.elem));
        self.annotate(ty.with_lanes(1), known);
    }

    fn linear(&mut self, index: &Expr, mask: Option<&Expr>) {
        self.push("[");
        self.node(index, 0);
        if let Some(m) = mask {
            self.push(" where ");
            self.node(m, 0);
        }
        self.push("]");
    }

    fn annotate(&mut self, ty: Type, known: Option<Type>) {
        if known != Some(ty) {
            self.push(&format!(":{}", type_name(ty)));
        }
    }
}

/// The symbol and the strength of an operator that is written between operands like `a`.
fn infix(op: BinOp, a: &Expr) -> Option<(&'static str, u8)> {
    let logical = a.ty().is_bool();
    let mut rows = INFIX.iter().filter(|(text, ..)| logical || !matches!(*text, "&&" | "||"));
    rows.find(|(_, o, _)| *o == op).map(|(text, _, strength)| (*text, *strength))
}

/// The strength that surrounds the left operand: comparisons do not stand in a row.
fn left_of(strength: u8) -> u8 {
    if strength == COMPARISON { strength + 1 } else { strength }
}

/// A constant with its type; a float that is not finite as its bits.
fn scalar_text(v: Scalar) -> String {
    let ty = v.ty();
    match Type::data(ty).elem {
        Elem::Data(t) if t.is_float() && !v.as_f64().is_finite() => format!("bits({ty}, {:#x})", v.bits()),
        _ if Type::data(ty).is_bool() => v.to_string(),
        _ => format!("{v}{ty}"),
    }
}

/// The nodes to be named, each before those that use it; none where the text stays short without names.
fn shared_parts(e: &Expr) -> Vec<Expr> {
    let mut sizes: HashMap<usize, u64> = HashMap::new();
    let mut uses: HashMap<usize, u32> = HashMap::new();
    let mut order = Vec::new();
    for_each_node(e, &mut |n| {
        let mut size = 1u64;
        for_each_child(n, |c| {
            size = size.saturating_add(sizes[&c.id()]);
            *uses.entry(c.id()).or_default() += 1;
        });
        sizes.insert(n.id(), size);
        order.push(n.clone());
    });
    if sizes[&e.id()] <= PRINTED_WHOLE {
        return Vec::new();
    }
    order.retain(|n| uses.get(&n.id()).is_some_and(|&u| u > 1) && sizes[&n.id()] >= PRINTED_EACH_TIME);
    order
}
