//! What the caller of a pipeline gives: scalar parameters and input images.

use crate::arena::{self, Expr, Kind, Ty};
use crate::error::{AlgorithmErrorKind, Location};
use crate::expr::{Coords, IntoExpr};
use crate::names::Name;
use crate::pipeline::DimField;
use crate::promise::ValuePromise;
use crate::types::ScalarType;
use crate::value::{Element, Scalar};
use elsa::FrozenVec;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Index;
use std::rc::Rc;

/// A scalar parameter of Rust type `T`. A long name is forgotten as that of a [`Var`](crate::Var) is.
#[derive(Clone, Copy)]
pub struct Param<T> {
    name: Name,
    default: Option<T>,
    range: (Option<T>, Option<T>),
    at: Location,
    here: PhantomData<*const ()>,
}

/// A parameter without its Rust type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ParamData {
    pub(crate) name: Rc<str>,
    pub(crate) ty: ScalarType,
    pub(crate) default: Option<Scalar>,
    pub(crate) min: Option<Scalar>,
    pub(crate) max: Option<Scalar>,
    pub(crate) at: Location,
}

impl<T: Element> Param<T>
where
    Scalar: From<T>,
{
    /// A parameter called `name`, by which the caller gives it.
    #[track_caller]
    pub fn new(name: &str) -> Param<T> {
        Param {
            name: arena::intern(name),
            default: None,
            range: (None, None),
            at: Location::caller(),
            here: PhantomData,
        }
    }
    /// The same with a value for callers that give none.
    pub fn with_default(self, value: T) -> Param<T> {
        Param { default: Some(value), ..self }
    }
    /// The same with the smallest and largest legal value: a fact for bounds, and a check when the pipeline runs.
    pub fn with_range(self, min: T, max: T) -> Param<T> {
        Param { range: (Some(min), Some(max)), ..self }
    }
    /// Its name.
    pub fn name(self) -> String {
        arena::name_of(self.name).to_string()
    }
}

impl<T: Element> IntoExpr for Param<T>
where
    Scalar: From<T>,
{
    #[track_caller]
    fn expr(self) -> Expr {
        let scalar = |v: Option<T>| v.map(Scalar::from);
        if !arena::touch(self.name) {
            return arena::poison(AlgorithmErrorKind::Stale, Location::caller());
        }
        let data = ParamData {
            name: arena::name_of(self.name),
            ty: T::TYPE,
            default: scalar(self.default),
            min: scalar(self.range.0),
            max: scalar(self.range.1),
            at: self.at,
        };
        arena::add(Kind::Param(Rc::new(data)), Ty::One(T::TYPE), Location::caller())
    }
}

/// An input image: read like a Func, given by the caller.
#[derive(Clone)]
pub struct ImageParam {
    body: Rc<ImageBody>,
    calls: Rc<FrozenVec<Box<Expr>>>,
}

pub(crate) struct ImageBody {
    pub(crate) name: String,
    pub(crate) ty: ScalarType,
    pub(crate) dims: usize,
    pub(crate) at: Location,
    pub(crate) promise: Cell<ValuePromise>,
}

/// One dimension of an input image.
#[derive(Clone)]
pub struct ImageDim {
    body: Rc<ImageBody>,
    dim: usize,
}

impl ImageParam {
    /// An image of `ty` with `dims` dimensions, called `name`, by which the caller gives it.
    #[track_caller]
    pub fn new(name: &str, ty: ScalarType, dims: usize) -> ImageParam {
        let (at, promise) = (Location::caller(), Cell::default());
        let body = Rc::new(ImageBody { name: name.into(), ty, dims, at, promise });
        ImageParam { body, calls: Rc::default() }
    }
    /// Its name.
    pub fn name(&self) -> &str {
        &self.body.name
    }
    /// Its element type.
    pub fn ty(&self) -> ScalarType {
        self.body.ty
    }
    /// Its number of dimensions.
    pub fn dims(&self) -> usize {
        self.body.dims
    }
    /// Its dimension `d`.
    pub fn dim(&self, d: usize) -> ImageDim {
        ImageDim { body: self.body.clone(), dim: d }
    }
    /// Promises that every element of this integer image is in `min ..= max`: what is read at such a coordinate is then
    /// no more than that. Every run checks it before it begins, and is an error where it does not hold.
    pub fn promise_values(&self, min: i64, max: i64) {
        let more = ValuePromise { range: Some((min, max)), grows: None };
        self.body.promise.set(self.body.promise.get().and(more));
    }
    /// Promises that no element of this integer image is less than the one before it along dimension `dim`, as offsets of
    /// ragged rows are: what rows `a` to `b` need is then between the offset of `a` and that of `b`. Every run checks it
    /// before it begins, and is an error where it does not hold.
    pub fn promise_growing(&self, dim: usize) {
        let more = ValuePromise { range: None, grows: Some(dim) };
        self.body.promise.set(self.body.promise.get().and(more));
    }
    /// The extent of dimension 0.
    #[track_caller]
    pub fn width(&self) -> Expr {
        self.dim(0).extent()
    }
    /// The extent of dimension 1.
    #[track_caller]
    pub fn height(&self) -> Expr {
        self.dim(1).extent()
    }
    /// The extent of dimension 2.
    #[track_caller]
    pub fn channels(&self) -> Expr {
        self.dim(2).extent()
    }
    /// The pixel at the given coordinates.
    #[track_caller]
    pub fn read(&self, coords: impl Coords) -> Expr {
        let at = Location::caller();
        self.read_at(coords.coords(), at)
    }
    pub(crate) fn read_at(&self, args: Vec<Expr>, at: Location) -> Expr {
        match crate::expr::check_coords(&self.body.name, self.body.dims, &args, at) {
            Ok(args) => arena::add(Kind::Image(self.body.clone(), args), Ty::One(self.body.ty), at),
            Err(poison) => poison,
        }
    }
}

impl ImageDim {
    /// The first coordinate.
    #[track_caller]
    pub fn min(&self) -> Expr {
        self.min_at(Location::caller())
    }
    /// The number of coordinates.
    #[track_caller]
    pub fn extent(&self) -> Expr {
        self.extent_at(Location::caller())
    }
    pub(crate) fn min_at(&self, at: Location) -> Expr {
        self.field(DimField::Min, at)
    }
    pub(crate) fn extent_at(&self, at: Location) -> Expr {
        self.field(DimField::Extent, at)
    }
    /// The last coordinate.
    #[track_caller]
    pub fn max(&self) -> Expr {
        self.min() + self.extent() - 1
    }
    /// The distance in elements between neighbours.
    #[track_caller]
    pub fn stride(&self) -> Expr {
        self.field(DimField::Stride, Location::caller())
    }
    fn field(&self, field: DimField, at: Location) -> Expr {
        if self.dim >= self.body.dims {
            let (image, dims) = (self.body.name.clone(), self.body.dims);
            return arena::poison(AlgorithmErrorKind::NoSuchDim { image, dim: self.dim, dims }, at);
        }
        arena::add(Kind::ImageDim(self.body.clone(), self.dim as u8, field), Ty::One(ScalarType::I32), at)
    }
}

impl<C: Coords> Index<C> for ImageParam {
    type Output = Expr;
    #[track_caller]
    fn index(&self, coords: C) -> &Expr {
        let read = self.read(coords);
        self.calls.push_get(Box::new(read))
    }
}

impl<T> fmt::Debug for Param<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Param({} at {})", arena::name_of(self.name), self.at)
    }
}

impl fmt::Debug for ImageParam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ImageParam({} at {})", self.name(), self.body.at)
    }
}
