//! Reduction domains: boxes of integer points that updates and inline reductions run over, in order.

pub(crate) use crate::graph::rdom::RDomBody;
pub use crate::graph::rdom::RVar;

use crate::arena::{self, Expr, Kind, Ty};
use crate::error::{AlgorithmErrorKind, Location};
use crate::expr::{IntoExpr, binary, scalar};
use crate::func::Written;
use crate::graph::rdom::RDomHandle;
use crate::ops::BinOp;
use crate::param::ImageParam;
use crate::tuning::MAX_DIMS;
use crate::types::ScalarType;
use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

/// A reduction domain of 1 to 8 dimensions, run lexicographically with the first dimension innermost.
///
/// ```
/// use halide_core::buffer::Region;
/// use halide_core::interp::{Inputs, run};
/// use halide_core::{Func, IntoExpr, Pipeline, RDom, Var};
/// let x = Var::new("x");
/// let mut fibonacci = Func::new("fibonacci");
/// fibonacci[x] = 1.expr();
/// // Runs after the first definition, for 2, 3, ..., 7 in this order.
/// let r = RDom::new([(2, 6)]);
/// fibonacci[r.x] = fibonacci[r.x - 1] + fibonacci[r.x - 2];
/// let pipeline = Pipeline::new([&fibonacci])?;
/// let out = run(&pipeline, &Inputs::new(), &[Region::of_extents([8])])?;
/// assert_eq!(out[0].typed::<i32>()?.to_vec(), [1, 1, 2, 3, 5, 8, 13, 21]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RDom {
    /// Dimension 0, innermost.
    pub x: RVar,
    /// Dimension 1; a mistake to use if there is none.
    pub y: RVar,
    /// Dimension 2; a mistake to use if there is none.
    pub z: RVar,
    /// Dimension 3; a mistake to use if there is none.
    pub w: RVar,
    handle: Rc<RDomHandle>,
}

impl RDom {
    /// The domain of `min .. min + extent` per dimension, first dimension innermost: `RDom::new([(0, 3), (-1, 5)])`.
    #[track_caller]
    pub fn new<A: IntoExpr, B: IntoExpr>(ranges: impl IntoIterator<Item = (A, B)>) -> RDom {
        RDom::named("r", ranges)
    }

    /// A domain with a name, by which schedules call its variables: `name.x`, `name.y`, `name.z`, `name.w`, `name.4`...
    #[track_caller]
    pub fn named<A: IntoExpr, B: IntoExpr>(name: &str, ranges: impl IntoIterator<Item = (A, B)>) -> RDom {
        let at = Location::caller();
        let mut dims = Vec::new();
        for (d, (min, extent)) in ranges.into_iter().enumerate() {
            dims.push((format!("{name}.{}", dim_name(d)), min.expr(), extent.expr()));
        }
        RDom::build(name, dims, at)
    }

    /// The domain of all coordinates of an image.
    #[track_caller]
    pub fn over(image: &ImageParam) -> RDom {
        let at = Location::caller();
        let dims = (0..image.dims())
            .map(|d| (format!("r.{}", dim_name(d)), image.dim(d).min_at(at), image.dim(d).extent_at(at)))
            .collect();
        RDom::build("r", dims, at)
    }

    fn build(name: &str, dims: Vec<(String, Expr, Expr)>, at: Location) -> RDom {
        let count = dims.len();
        let (predicate, restricted) = (Cell::new(None), Cell::new(None));
        let body = Rc::new(RDomBody { name: name.into(), dims, predicate, restricted, original: None, at });
        let var = |d| {
            let kind = if count == 0 || count > MAX_DIMS {
                AlgorithmErrorKind::DomainDims { rdom: name.into(), dims: count }
            } else if d >= count {
                AlgorithmErrorKind::NoSuchRVar { rdom: name.into(), dim: d, dims: count }
            } else {
                return arena::add(Kind::RVar(body.clone(), d as u8), Ty::One(ScalarType::I32), at);
            };
            arena::poison(kind, at)
        };
        let vars: Vec<RVar> = (0..count.max(4)).map(|d| RVar { expr: var(d) }).collect();
        let (x, y, z, w) = (vars[0], vars[1], vars[2], vars[3]);
        let handle = Rc::new(RDomHandle { body, vars });
        arena::register_rdom(&handle);
        RDom { x, y, z, w, handle }
    }

    pub(crate) fn body(&self) -> &Rc<RDomBody> {
        &self.handle.body
    }
    /// The name.
    pub fn name(&self) -> &str {
        &self.handle.body.name
    }
    /// The number of dimensions.
    pub fn dims(&self) -> usize {
        self.handle.body.dims.len()
    }
    /// The variable of dimension `d`; a mistake to use if there is none.
    #[track_caller]
    pub fn dim(&self, d: usize) -> RVar {
        let at = Location::caller();
        if d < self.dims() {
            return self.handle.vars[d];
        }
        let kind = AlgorithmErrorKind::NoSuchRVar { rdom: self.name().into(), dim: d, dims: self.dims() };
        RVar { expr: arena::poison(kind, at) }
    }
    /// Restricts the domain to points where `condition` holds: elsewhere nothing is stored. Several restrictions all
    /// hold. To be called before the domain is used.
    #[track_caller]
    pub fn where_(&self, condition: impl IntoExpr) {
        let (at, new) = (Location::caller(), condition.expr());
        let new = match scalar(new, "where_", at) {
            Ok(ScalarType::Bool) => new,
            Ok(ty) => {
                let (operator, wants) = ("where_", "a bool");
                arena::poison(AlgorithmErrorKind::WrongOperand { operator, ty, wants }, at)
            }
            Err(poison) => poison,
        };
        let body = &self.handle.body;
        let all = match body.predicate.get() {
            Some(old) => binary(BinOp::BitAnd, old, new, at),
            None => new,
        };
        body.predicate.set(Some(all));
        body.restricted.set(Some(Written::now(at)));
    }
}

impl fmt::Debug for RDom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RDom({} at {})", self.name(), self.handle.body.at)
    }
}

fn dim_name(d: usize) -> String {
    match d {
        0 => "x".into(),
        1 => "y".into(),
        2 => "z".into(),
        3 => "w".into(),
        _ => d.to_string(),
    }
}

impl RVar {
    /// Its name: `r.x`.
    pub fn name(self) -> String {
        match arena::node(self.expr).kind {
            Kind::RVar(body, d) => body.dims[d as usize].0.clone(),
            _ => "?".into(),
        }
    }
}

impl fmt::Debug for RVar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RVar({})", self.name())
    }
}

impl From<RVar> for Expr {
    fn from(var: RVar) -> Expr {
        var.expr
    }
}

impl From<&RDom> for Expr {
    #[track_caller]
    fn from(domain: &RDom) -> Expr {
        domain.expr()
    }
}

impl IntoExpr for RVar {
    #[track_caller]
    fn expr(self) -> Expr {
        self.expr
    }
}

impl IntoExpr for &RDom {
    /// The variable of a domain of one dimension.
    #[track_caller]
    fn expr(self) -> Expr {
        let at = Location::caller();
        match self.dims() {
            1 => self.x.expr,
            dims => arena::poison(AlgorithmErrorKind::DomainAsValue { rdom: self.name().into(), dims }, at),
        }
    }
}
