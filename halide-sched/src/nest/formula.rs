//! Expressions as lists of steps, to be asked for their ranges again and again.

use super::range::{self, Range};
use halide_core::ids::{IdVec, ParamId};
use halide_core::ops::{BinOp, UnOp};
use halide_core::value::Scalar;
use halide_ir::hash::Map;
use halide_ir::visit::for_each_node;
use halide_ir::{Elem, Expr, ExprKind, Sym, Type};

/// Numbers of symbols, in the order in which they were met.
#[derive(Default)]
pub(super) struct Symbols(Map<Sym, usize>);

impl Symbols {
    /// The number of a symbol.
    pub(super) fn number(&mut self, s: Sym) -> usize {
        let next = self.0.len();
        *self.0.entry(s).or_insert(next)
    }

    /// The symbols with their numbers.
    pub(super) fn all(&self) -> impl Iterator<Item = (Sym, usize)> {
        self.0.iter().map(|(s, n)| (*s, *n))
    }
}

/// The values of symbols and parameters.
pub(super) struct Env<'q> {
    /// Ranges of symbols, by their numbers.
    pub(super) symbols: Vec<Range>,
    /// Values of parameters.
    pub(super) params: &'q IdVec<ParamId, Scalar>,
    /// Ranges of the steps of the formula that is asked.
    pub(super) steps: Vec<Range>,
}

/// An expression: distinct nodes, operands first.
#[derive(Clone, Debug)]
pub(super) struct Formula(Vec<Step>);

#[derive(Clone, Debug)]
enum Step {
    Known(Range),
    Symbol(usize),
    Param(ParamId, Elem),
    Unary(UnOp, usize, Type),
    Binary(BinOp, [usize; 2], Type, Type),
    Select([usize; 3]),
    Cast(usize, Elem, bool),
    Same(usize),
    Ramp([usize; 2], i64),
}

impl Formula {
    /// The steps of an expression.
    pub(super) fn new(e: &Expr, symbols: &mut Symbols) -> Formula {
        let (mut steps, mut at) = (Vec::new(), Map::default());
        for_each_node(e, &mut |n| {
            let step = step(n, symbols, &|child: &Expr| at[child]);
            at.insert(n.clone(), steps.len());
            steps.push(step);
        });
        Formula(steps)
    }

    /// The symbols that it is made of, by their numbers.
    pub(super) fn symbols(&self) -> impl Iterator<Item = usize> {
        self.0.iter().filter_map(|step| match step {
            Step::Symbol(n) => Some(*n),
            _ => None,
        })
    }

    /// The values that it may have.
    pub(super) fn range(&self, env: &mut Env<'_>) -> Range {
        let mut done = std::mem::take(&mut env.steps);
        done.clear();
        for step in &self.0 {
            let made = match step {
                Step::Known(range) => *range,
                Step::Symbol(n) => env.symbols[*n],
                Step::Param(param, elem) => {
                    env.params.get(*param).map_or(Range::of_type(*elem), |v| Range::of_scalar(*v))
                }
                Step::Unary(op, a, ty) => range::unary(*op, done[*a], *ty),
                Step::Binary(op, [a, b], of, ty) => range::binary(*op, done[*a], done[*b], *of, *ty),
                Step::Select([c, a, b]) => match done[*c].value() {
                    Some(holds) => done[if holds == 0 { *b } else { *a }],
                    None => done[*a].or(done[*b]),
                },
                Step::Cast(a, elem, saturating) => done[*a].cast(*elem, *saturating),
                Step::Same(a) => done[*a],
                Step::Ramp([base, stride], steps) => {
                    let along =
                        range::binary(BinOp::Mul, done[*stride], Range::point(*steps), Type::INDEX, Type::INDEX);
                    done[*base].or(range::binary(BinOp::Add, done[*base], along, Type::INDEX, Type::INDEX))
                }
            };
            done.push(made);
        }
        let result = done.last().copied().unwrap_or(Range::Any);
        env.steps = done;
        result
    }

    /// The number that it is, if it is one.
    pub(super) fn value(&self, env: &mut Env<'_>) -> Option<i64> {
        self.range(env).value()
    }
}

fn step(n: &Expr, symbols: &mut Symbols, at: &dyn Fn(&Expr) -> usize) -> Step {
    let elem = n.ty().elem;
    match n.kind() {
        ExprKind::Const(value) => Step::Known(Range::of_scalar(*value)),
        ExprKind::Int(value) => Step::Known(Range::point(*value)),
        ExprKind::Sym(s) => Step::Symbol(symbols.number(*s)),
        ExprKind::Param(param) => Step::Param(*param, elem),
        ExprKind::Unary(op, a) => Step::Unary(*op, at(a), n.ty()),
        ExprKind::Binary(op, a, b) => Step::Binary(*op, [at(a), at(b)], a.ty(), n.ty()),
        ExprKind::Select(c, a, b) => Step::Select([at(c), at(a), at(b)]),
        ExprKind::Cast(a) => Step::Cast(at(a), elem, false),
        ExprKind::SaturatingCast(a) => Step::Cast(at(a), elem, true),
        ExprKind::Likely(a) | ExprKind::Broadcast(a) => Step::Same(at(a)),
        ExprKind::Ramp { base, stride } => Step::Ramp([at(base), at(stride)], i64::from(n.ty().lanes) - 1),
        ExprKind::Reinterpret(_) | ExprKind::Math(..) | ExprKind::Intrinsic(..) => Step::Known(Range::of_type(elem)),
        ExprKind::Read { .. } | ExprKind::Load { .. } | ExprKind::Shuffle(..) => Step::Known(Range::of_type(elem)),
    }
}
