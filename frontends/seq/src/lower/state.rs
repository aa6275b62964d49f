//! The state of lowering, and values of a proc as expressions of a pipeline.
//!
//! Inside of maps, values are expressions of *coordinates*: one variable for each map around, by its depth. A sequence
//! is a domain and a function from a position to an element (a *pull array*), so primitives that work element by
//! element compose these functions, and nothing is stored.

use super::images::Images;
use super::size::Size;
use super::stage::{Check, Stage};
use crate::ast::Name;
use crate::fault::{Fault, FaultKind};
use crate::signature::Signature;
use crate::span::Span;
use halide::prelude::{Expr, ExprMethods, Func, Var};
use halide_core::types::ScalarType::{self, Bool, I32};
use std::collections::HashSet;
use std::rc::Rc;

pub(crate) type Result<T> = std::result::Result<T, Fault>;

/// Names of the coordinates of maps, by depth.
pub(crate) const COORDINATES: [&str; 8] = ["i", "j", "k", "l", "m", "n", "o", "p"];

/// The word of schedules that gives names to numbers.
const NUMBERS: &str = "let";

/// The Funcs, names and checks made so far.
pub(crate) struct Lower {
    pub(crate) inputs: Images,
    pub(crate) vars: Vec<Expr>,
    /// The number of maps around.
    pub(crate) depth: usize,
    /// Conditions that hold where the code at hand counts.
    pub(crate) guards: Vec<Leaf>,
    /// The number of calls around.
    pub(crate) calls: usize,
    /// The number of operators of reductions around, which cannot hold sequences.
    pub(crate) operators: usize,
    /// Names of inputs and Funcs.
    pub(crate) names: HashSet<String>,
    /// The name of the value that is computed, for Funcs.
    pub(crate) hint: Option<Name>,
    pub(crate) filters: usize,
    /// The call of the def of the prelude whose primitives are lowered.
    pub(crate) prelude: Option<Span>,
    pub(crate) stages: Vec<Stage>,
    pub(crate) checks: Vec<Check>,
    pub(crate) outputs: Vec<(Rc<Func>, Vec<Size>)>,
}

impl Lower {
    /// Nothing is made yet.
    pub(crate) fn new(inputs: Images, signature: &Signature) -> Lower {
        let buffers = signature.buffers.iter().map(|(name, ..)| name.clone());
        Lower {
            inputs,
            vars: COORDINATES.iter().map(|name| Var::new(name).expr()).collect(),
            depth: 0,
            guards: Vec::new(),
            calls: 0,
            operators: 0,
            names: buffers.chain(signature.scalars.iter().map(|(name, _)| name.clone())).collect(),
            hint: None,
            filters: 0,
            prelude: None,
            stages: Vec::new(),
            checks: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// A fault at `span`.
    pub(crate) fn fault<T>(&self, span: Span, kind: FaultKind) -> Result<T> {
        Err(Fault::new(span, kind))
    }

    pub(crate) fn unsupported<T>(&self, span: Span, what: &'static str) -> Result<T> {
        self.fault(span, FaultKind::Unsupported(what))
    }

    pub(crate) fn confuse<T>(&self, span: Span) -> Result<T> {
        self.fault(span, FaultKind::Confused)
    }

    /// A name that no other Func has: the hint's, if schedules can say it, or `name`; with a number if need be.
    pub(crate) fn fresh_name(&mut self, name: &str) -> String {
        let hint = self.hint.take().filter(|hint| hint.is_ascii() && **hint != *NUMBERS);
        let name = hint.map_or_else(|| name.to_string(), |hint| hint.to_string());
        let mut unique = name.clone();
        let mut number = 1;
        while !self.names.insert(unique.clone()) {
            number += 1;
            unique = format!("{name}_{number}");
        }
        unique
    }

    /// A Func cannot be defined in the operator of a reduction.
    pub(crate) fn check_no_operator(&self, span: Span) -> Result<()> {
        if self.operators == 0 { Ok(()) } else { self.unsupported(span, "a sequence in the operator of a reduction") }
    }

    /// Calls `inner` with one more map around, at the new position in `domain`.
    pub(crate) fn under<T>(
        &mut self,
        domain: &Domain,
        span: Span,
        inner: impl FnOnce(&mut Lower, Leaf) -> Result<T>,
    ) -> Result<T> {
        if self.depth == COORDINATES.len() {
            return self.unsupported(span, "a map in eight others");
        }
        let (position, around) = (self.coordinate(self.depth), self.guards.len());
        self.depth += 1;
        if let Domain::Counted { count, .. } = domain {
            // There is storage for more than count.
            let inside = position.expr.lt(count.expr);
            self.guards.push(Leaf::computed(inside, Bool, &[&position, count]));
        }
        let result = inner(self, position);
        self.guards.truncate(around);
        self.depth -= 1;
        result
    }

    /// The variable of a depth as a value.
    pub(crate) fn coordinate(&self, depth: usize) -> Leaf {
        let at: At = Rc::new(move |coordinates: &[Expr]| coordinates[depth]);
        let ty = I32;
        let depths = Depths::one(depth);
        Leaf { coordinate: Some(depth), weight: 0, ..Leaf::stored(at, &self.vars, ty, depths) }
    }
}

/// The depths of the maps around that a value depends on, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Depths(u16);

impl Depths {
    pub(crate) const NONE: Depths = Depths(0);
    /// The variable of a reduction domain, which is no coordinate of a Func.
    const REDUCTION: usize = 15;

    pub(crate) fn one(depth: usize) -> Depths {
        Depths(1 << depth)
    }

    pub(crate) fn with(self, other: Depths) -> Depths {
        Depths(self.0 | other.0)
    }

    pub(crate) fn without(self, depth: usize) -> Depths {
        Depths(self.0 & !(1 << depth))
    }

    /// Without the position in a reduction domain: the depths that a Func of it has variables for.
    pub(crate) fn coordinates(self) -> Depths {
        self.without(Depths::REDUCTION)
    }

    pub(crate) fn has(self, depth: usize) -> bool {
        self.0 >> depth & 1 == 1
    }

    /// The depths, innermost first: the order of dimensions.
    pub(crate) fn dims(self) -> Vec<usize> {
        (0..Depths::REDUCTION).rev().filter(|&depth| self.has(depth)).collect()
    }
}

/// A function from coordinates, one for each depth, to a value.
pub(crate) type At = Rc<dyn Fn(&[Expr]) -> Expr>;

/// A scalar.
#[derive(Clone)]
pub(crate) struct Leaf {
    pub(crate) expr: Expr,
    pub(crate) ty: ScalarType,
    pub(crate) depths: Depths,
    /// The value at other coordinates; `None` of what is computed here and has no Func.
    pub(crate) at: Option<At>,
    /// The same as a length, where that is known before a run.
    pub(crate) size: Option<Size>,
    /// The domain whose number of positions it is.
    pub(crate) counts: Option<Rc<Domain>>,
    /// Operations that each use repeats.
    pub(crate) weight: usize,
    /// The variable of this depth itself.
    pub(crate) coordinate: Option<usize>,
    /// The input buffer that is read at exactly one position.
    pub(crate) input: Option<usize>,
}

impl Leaf {
    /// A value that is the same everywhere.
    pub(crate) fn constant(expr: Expr, ty: ScalarType, size: Option<Size>) -> Leaf {
        let at: At = Rc::new(move |_: &[Expr]| expr);
        Leaf {
            expr,
            ty,
            depths: Depths::NONE,
            at: Some(at),
            size,
            counts: None,
            weight: 0,
            coordinate: None,
            input: None,
        }
    }

    /// A value that is computed here.
    pub(crate) fn computed(expr: Expr, ty: ScalarType, of: &[&Leaf]) -> Leaf {
        let depths = of.iter().fold(Depths::NONE, |all, leaf| all.with(leaf.depths));
        let weight = of.iter().fold(1usize, |sum, leaf| sum.saturating_add(leaf.weight));
        Leaf { expr, ty, depths, at: None, size: None, counts: None, weight, coordinate: None, input: None }
    }

    /// The position in a reduction domain.
    pub(crate) fn reduction(variable: Expr) -> Leaf {
        let depths = Depths::one(Depths::REDUCTION);
        Leaf { depths, weight: 0, ..Leaf::computed(variable, ScalarType::I32, &[]) }
    }

    /// Returns true if the position in a reduction domain is a part of it.
    pub(crate) fn is_reduced(&self) -> bool {
        self.depths.has(Depths::REDUCTION)
    }

    /// A value that a Func or a buffer holds.
    pub(crate) fn stored(at: At, here: &[Expr], ty: ScalarType, depths: Depths) -> Leaf {
        let expr = at(here);
        Leaf { expr, ty, depths, at: Some(at), size: None, counts: None, weight: 1, coordinate: None, input: None }
    }
}

/// A value.
#[derive(Clone)]
pub(crate) enum Sym {
    Scalar(Leaf),
    Tuple(Vec<Sym>),
    Seq(Rc<Pull>),
}

/// A function from a position to an element.
pub(crate) type Element = Rc<dyn Fn(&mut Lower, &Leaf) -> Result<Sym>>;

/// A sequence.
#[derive(Clone)]
pub(crate) struct Pull {
    pub(crate) domain: Domain,
    /// The depths of its elements, without their position, and of its domain.
    pub(crate) depths: Depths,
    pub(crate) element: Element,
}

/// The positions of a sequence.
#[derive(Clone)]
pub(crate) enum Domain {
    /// From 0 on, as many as is known before a run.
    Flat(Size),
    /// From 0 on; storage is for as many as the size says, and the scalar is how many there are. The number tells
    /// filters from each other.
    Counted { capacity: Size, count: Leaf, filter: usize },
    /// Row number `row` of the descriptor: positions among the elements of all rows.
    Rows { descriptor: usize, row: Leaf },
}

impl Domain {
    pub(crate) fn depths(&self) -> Depths {
        match self {
            Domain::Flat(_) => Depths::NONE,
            Domain::Counted { count, .. } => count.depths,
            Domain::Rows { row, .. } => row.depths,
        }
    }

    /// Returns true if both have the same positions, as far as is known before a run.
    pub(crate) fn same(&self, other: &Domain) -> bool {
        match (self, other) {
            (Domain::Flat(a), Domain::Flat(b)) => a == b,
            (Domain::Counted { filter: a, .. }, Domain::Counted { filter: b, .. }) => a == b,
            (Domain::Rows { descriptor: a, row: x }, Domain::Rows { descriptor: b, row: y }) => {
                a == b && x.coordinate.is_some() && x.coordinate == y.coordinate
            }
            _ => false,
        }
    }
}

impl Sym {
    /// Its scalars, from left to right; `None` if there is a sequence in it.
    pub(crate) fn leaves(&self) -> Option<Vec<Leaf>> {
        match self {
            Sym::Scalar(leaf) => Some(vec![leaf.clone()]),
            Sym::Tuple(parts) => {
                let parts: Option<Vec<_>> = parts.iter().map(Sym::leaves).collect();
                Some(parts?.concat())
            }
            Sym::Seq(_) => None,
        }
    }

    /// The value with its scalars replaced, from left to right.
    pub(crate) fn with_leaves(&self, leaves: &mut impl Iterator<Item = Leaf>) -> Sym {
        match self {
            Sym::Scalar(leaf) => Sym::Scalar(leaves.next().unwrap_or_else(|| leaf.clone())),
            Sym::Tuple(parts) => Sym::Tuple(parts.iter().map(|part| part.with_leaves(leaves)).collect()),
            Sym::Seq(pull) => Sym::Seq(pull.clone()),
        }
    }
}
