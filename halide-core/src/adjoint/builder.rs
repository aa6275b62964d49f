//! The tables of a pipeline while gradients are added to them, and constructors of expressions that fold constants.

use crate::ids::{ExprId, FuncId, RDomId, VarId};
use crate::ops::{BinOp, UnOp};
use crate::pipeline::{Kind, Node, PipelineData, RDomDef, RVarDef};
use crate::types::ScalarType;
use crate::value::Scalar;
use std::collections::{BTreeMap, HashMap};

/// A dimension of a reduction domain that is to be added.
pub(super) struct Dim {
    /// Its name behind that of the domain.
    pub(super) name: String,
    /// The name by which schedules call it.
    pub(super) said: String,
    pub(super) min: ExprId,
    pub(super) extent: ExprId,
}

/// A pipeline that grows. Expressions are hash-consed; operands stand before what uses them.
pub(super) struct Builder {
    pub(super) data: PipelineData,
    known: HashMap<Node, ExprId>,
}

impl Builder {
    pub(super) fn new(data: PipelineData) -> Builder {
        let known = data.exprs.enumerate().map(|(id, node)| (node.clone(), id)).collect();
        Builder { data, known }
    }

    /// The id of an equal node, made if there is none.
    pub(super) fn node(&mut self, kind: Kind, ty: ScalarType) -> ExprId {
        let node = Node { kind, ty };
        if let Some(&known) = self.known.get(&node) {
            return known;
        }
        let id = self.data.exprs.push(node.clone());
        self.known.insert(node, id);
        id
    }

    pub(super) fn ty(&self, e: ExprId) -> ScalarType {
        self.data.exprs[e].ty
    }

    pub(super) fn constant(&mut self, value: Scalar) -> ExprId {
        self.node(Kind::Const(value), value.ty())
    }

    /// A float constant of type `ty`.
    pub(super) fn float(&mut self, ty: ScalarType, value: f64) -> ExprId {
        self.constant(Scalar::float(ty, value))
    }

    pub(super) fn int(&mut self, value: i64) -> ExprId {
        self.constant(Scalar::int(ScalarType::I32, value as i128))
    }

    /// The value of a constant, if `e` is one.
    pub(super) fn value(&self, e: ExprId) -> Option<Scalar> {
        match self.data.exprs[e].kind {
            Kind::Const(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn int_value(&self, e: ExprId) -> Option<i64> {
        self.value(e).filter(|v| v.ty().is_int()).map(Scalar::as_i64)
    }

    pub(super) fn unary(&mut self, op: UnOp, a: ExprId) -> ExprId {
        let ty = self.ty(a);
        self.node(Kind::Unary(op, a), ty)
    }

    /// An operator whose result has the type of `a`, or `Bool` if it compares.
    pub(super) fn binary(&mut self, op: BinOp, a: ExprId, b: ExprId) -> ExprId {
        let ty = if op.is_comparison() { ScalarType::Bool } else { self.ty(a) };
        self.node(Kind::Binary(op, a, b), ty)
    }

    pub(super) fn select(&mut self, condition: ExprId, a: ExprId, b: ExprId) -> ExprId {
        let ty = self.ty(a);
        if a == b { a } else { self.node(Kind::Select(condition, a, b), ty) }
    }

    /// Both conditions; one that is absent always holds.
    pub(super) fn and(&mut self, a: Option<ExprId>, b: Option<ExprId>) -> Option<ExprId> {
        match (a, b) {
            (Some(a), Some(b)) if a != b => Some(self.binary(BinOp::BitAnd, a, b)),
            (a, b) => a.or(b),
        }
    }

    /// `a * b` of floats; a factor of one is left out.
    pub(super) fn times(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let is_one = |e: ExprId| self.value(e).is_some_and(|v| v.ty().is_float() && v.as_f64() == 1.0);
        match (is_one(a), is_one(b)) {
            (true, _) => b,
            (_, true) => a,
            _ => self.binary(BinOp::Mul, a, b),
        }
    }

    /// The base and the constant that a coordinate is the sum of.
    fn base(&self, e: ExprId) -> (Option<ExprId>, i64) {
        if let Some(value) = self.int_value(e) {
            return (None, value);
        }
        match self.data.exprs[e].kind {
            Kind::Binary(BinOp::Add, a, b) => match (self.int_value(a), self.int_value(b)) {
                (_, Some(c)) => (Some(a), c),
                (Some(c), _) => (Some(b), c),
                _ => (Some(e), 0),
            },
            Kind::Binary(BinOp::Sub, a, b) => match self.int_value(b) {
                Some(c) => (Some(a), -c),
                None => (Some(e), 0),
            },
            _ => (Some(e), 0),
        }
    }

    /// The coordinate `e + by`.
    pub(super) fn offset(&mut self, e: ExprId, by: i64) -> ExprId {
        if by == 0 {
            return e;
        }
        let (base, constant) = self.base(e);
        let fits = |c: i64| i32::try_from(c).is_ok() && i32::try_from(-c).is_ok();
        match (base, constant + by) {
            (None, sum) if fits(sum) => self.int(sum),
            (Some(base), 0) => base,
            (Some(base), sum) if sum > 0 && fits(sum) => {
                let sum = self.int(sum);
                self.binary(BinOp::Add, base, sum)
            }
            (Some(base), sum) if fits(sum) => {
                let sum = self.int(-sum);
                self.binary(BinOp::Sub, base, sum)
            }
            _ => {
                let by = self.int(by);
                self.binary(BinOp::Add, e, by)
            }
        }
    }

    /// The coordinate `a + b`.
    pub(super) fn add(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.base(a), self.base(b)) {
            (_, (None, c)) => self.offset(a, c),
            ((None, c), _) => self.offset(b, c),
            ((Some(a), m), (Some(b), n)) => {
                let sum = self.binary(BinOp::Add, a, b);
                self.offset(sum, m + n)
            }
        }
    }

    /// The coordinate `a - b`.
    pub(super) fn sub(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.base(a), self.base(b)) {
            (_, (None, c)) => self.offset(a, -c),
            ((Some(x), m), (Some(y), n)) if x == y => self.int(m - n),
            ((None, m), (Some(b), n)) => {
                let m = self.int(m - n);
                self.binary(BinOp::Sub, m, b)
            }
            ((Some(a), m), (Some(b), n)) => {
                let difference = self.binary(BinOp::Sub, a, b);
                self.offset(difference, m - n)
            }
        }
    }

    /// The coordinate `a * factor`.
    pub(super) fn scale(&mut self, a: ExprId, factor: i64) -> ExprId {
        match (factor, self.int_value(a)) {
            (1, _) => a,
            (_, Some(value)) => self.int(value.saturating_mul(factor)),
            (-1, _) => {
                let zero = self.int(0);
                self.sub(zero, a)
            }
            _ => {
                let factor = self.int(factor);
                self.binary(BinOp::Mul, a, factor)
            }
        }
    }

    /// The smaller (`Min`) or larger (`Max`) of two coordinates. Ends of one base are compared now.
    pub(super) fn extremum(&mut self, op: BinOp, a: ExprId, b: ExprId) -> ExprId {
        let ((x, m), (y, n)) = (self.base(a), self.base(b));
        if x == y {
            let first = if op == BinOp::Min { m <= n } else { m >= n };
            return if first { a } else { b };
        }
        // A new end next to one that is an operand already changes that operand.
        if let Kind::Binary(same, c, d) = self.data.exprs[a].kind
            && same == op
            && [c, d].iter().any(|&e| self.base(e).0 == y)
        {
            let (keep, change) = if self.base(d).0 == y { (c, d) } else { (d, c) };
            let changed = self.extremum(op, change, b);
            return self.binary(op, keep, changed);
        }
        self.binary(op, a, b)
    }

    /// `e` with nodes replaced; `made` holds what is known to become what.
    pub(super) fn replaced(&mut self, e: ExprId, made: &mut BTreeMap<ExprId, ExprId>) -> ExprId {
        for old in self.data.reachable(&[e]) {
            if made.contains_key(&old) {
                continue;
            }
            let Node { kind, ty } = self.data.exprs[old].clone();
            let new = match kind.children().iter().all(|c| made[c] == *c) {
                true => old,
                false => self.node(kind.with_children(|c| made[&c]), ty),
            };
            made.insert(old, new);
        }
        made[&e]
    }

    /// The variables of a Func or gradient as expressions.
    pub(super) fn coordinates(&mut self, vars: &[VarId]) -> Vec<ExprId> {
        vars.iter().map(|&v| self.node(Kind::Var(v), ScalarType::I32)).collect()
    }

    /// The pure variable called `name`.
    pub(super) fn var(&mut self, name: &str) -> VarId {
        let known = self.data.vars.enumerate().find(|(_, n)| *n == name).map(|(id, _)| id);
        known.unwrap_or_else(|| self.data.vars.push(name.to_string()))
    }

    /// `name`, or `name` with a number where a Func or an image has it.
    pub(super) fn unused_name(&self, name: &str) -> String {
        let data = &self.data;
        let taken = |n: &str| data.funcs.iter().any(|f| f.name == n) || data.images.iter().any(|i| i.name == n);
        let numbered = (1..).map(|n| format!("{name}${n}"));
        std::iter::once(name.to_string()).chain(numbered).find(|n| !taken(n)).expect("some number is unused")
    }

    /// Adds a domain of the given dimensions.
    pub(super) fn rdom(&mut self, dims: Vec<Dim>) -> RDomId {
        let taken = |name: &str| self.data.rdoms.iter().any(|r| r.name == name);
        let name = (1..).map(|n| format!("r${n}")).find(|n| !taken(n)).expect("some number is unused");
        let of = |dim: Dim| {
            let Dim { name: own, said, min, extent } = dim;
            RVarDef { name: format!("{name}.{own}"), said, min, extent }
        };
        let dims = dims.into_iter().map(of).collect();
        self.data.rdoms.push(RDomDef { name, dims, predicate: None })
    }

    /// The value of element `element` of a Func at `args`.
    pub(super) fn call(&mut self, func: FuncId, element: u8, args: Vec<ExprId>) -> ExprId {
        let ty = self.data.funcs[func].types[usize::from(element)];
        self.node(Kind::Call { func, element, args }, ty)
    }
}
