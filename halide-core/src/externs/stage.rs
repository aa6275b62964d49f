//! Extern stages under construction.

use super::call::{ExternCall, ExternFns, ExternNeeds, ExternQuery, ExternResult};
use super::ends::{Boxes, RegionEnds};
use crate::arena::Expr;
use crate::buffer::Region;
use crate::error::Location;
use crate::expr::IntoExpr;
use crate::func::Func;
use crate::graph::image::{OpenExtern, OpenInput};
use crate::param::{ImageParam, Param, ParamData};
use crate::types::ScalarType;
use crate::value::{Element, Scalar};
use crate::var::Var;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// An extern stage under construction.
#[derive(Clone)]
pub struct Extern {
    name: String,
    types: Vec<ScalarType>,
    dims: usize,
    inputs: Vec<OpenInput>,
    params: Vec<Rc<ParamData>>,
    needs: ExternNeeds,
    at: Location,
}

impl Extern {
    /// A stage called `name` with one type per element of its values, and `dims` dimensions, at most 8.
    #[track_caller]
    pub fn new(name: &str, types: impl Into<Vec<ScalarType>>, dims: usize) -> Extern {
        let at = Location::caller();
        let (inputs, params, needs) = (Vec::new(), Vec::new(), ExternNeeds::Same);
        Extern { name: name.into(), types: types.into(), dims, inputs, params, needs, at }
    }
    /// Another input: a Func. One that is a tuple gives a buffer for each element.
    pub fn input(mut self, func: &Func) -> Extern {
        self.inputs.push(OpenInput::Func(func.body()));
        self
    }
    /// Another input: an image.
    pub fn image(mut self, image: &ImageParam) -> Extern {
        self.inputs.push(OpenInput::Image(image.shared_body()));
        self
    }
    /// A parameter that the closures may ask for.
    pub fn param<T: Element>(mut self, param: &Param<T>) -> Extern
    where
        Scalar: From<T>,
        Param<T>: IntoExpr,
    {
        self.params.push(param.data());
        self
    }
    /// Sets the closure that gives the regions that are needed: one per input, in order. Without it and without
    /// [`Extern::needs_box`], each input is needed over the region that is asked for, and must have as many dimensions.
    ///
    /// Such a stage is called once per run: what one iteration of a loop needs is no number when code is made.
    pub fn needs(
        mut self,
        needs: impl Fn(&ExternQuery<'_>) -> ExternResult<Vec<Region>> + Send + Sync + 'static,
    ) -> Extern {
        self.needs = ExternNeeds::Asked(Arc::new(needs));
        self
    }
    /// Says the regions that are needed by the ends of the region that is asked for: for each input, in order, the
    /// first and the last coordinate of each dimension. The closure is called once, now.
    ///
    /// ```
    /// use halide_core::externs::Extern;
    /// use halide_core::{ImageParam, types::U8};
    /// let input = ImageParam::new("input", U8, 2);
    /// let stage = Extern::new("median", [U8], 2)
    ///     .image(&input)
    ///     .needs_box(|region| vec![vec![(region.min(0) - 2, region.max(0) + 2), region.ends(1)]]);
    /// # let _ = stage.compute(|_| Ok(()));
    /// ```
    pub fn needs_box(mut self, needs: impl FnOnce(&RegionEnds) -> Boxes) -> Extern {
        self.needs = ExternNeeds::Boxes(needs(&RegionEnds::default()));
        self
    }
    /// Sets the closure that computes a region, and makes the Func. What the closure leaves unwritten is zero.
    pub fn compute(self, compute: impl Fn(&mut ExternCall<'_>) -> ExternResult<()> + Send + Sync + 'static) -> Func {
        let Extern { name, types, dims, inputs, params, needs, at } = self;
        let fns = ExternFns { needs, compute: Arc::new(compute) };
        let stage = Rc::new(OpenExtern { name: name.clone(), types, dims, inputs, params, fns, at });
        let vars: Vec<Expr> = (0..dims).map(|d| Var::new(dim_name(d)).expr()).collect();
        let element = |element: usize| ImageParam::of_extern(&stage, element).read_at(vars.clone(), at);
        let values: Vec<Expr> = (0..stage.types.len()).map(element).collect();
        Func::defined(&name, vars.clone(), crate::expr::tuple(values), at)
    }
}

/// `x`, `y`, `z`, `w`, then numbers.
fn dim_name(dim: usize) -> String {
    ["x", "y", "z", "w"].get(dim).map_or_else(|| format!("d{dim}"), |name| name.to_string())
}

impl fmt::Debug for Extern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extern({} at {})", self.name, self.at)
    }
}
