//! Inputs that the caller gives to a pipeline: scalar parameters and images.

pub(crate) use crate::graph::image::ImageBody;
pub(crate) use crate::graph::param::ParamData;

use crate::arena::{self, Expr, Kind, Ty};
use crate::error::{AlgorithmErrorKind, Location};
use crate::expr::{Coords, IntoExpr, binary};
use crate::graph::image::{ImageHandle, OpenExtern};
use crate::layout::{Layout, Part, Place};
use crate::names::Name;
use crate::ops::BinOp;
use crate::pipeline::DimField;
use crate::promise::ValuePromise;
use crate::shape::{OpenShape, ShapeDim};
use crate::types::ScalarType;
use crate::value::{Element, Scalar};
use elsa::FrozenVec;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Index;
use std::rc::Rc;

/// A scalar parameter of Rust type `T`. A long name is forgotten as that of a [`Var`](crate::Var) is.
///
/// ```
/// use halide_core::buffer::Region;
/// use halide_core::interp::{Inputs, run};
/// use halide_core::{Func, Param, Pipeline, Var};
/// let gain = Param::<i32>::new("gain").with_default(2).with_range(0, 10);
/// let x = Var::new("x");
/// let mut f = Func::new("f");
/// f[x] = x * gain;
/// let (pipeline, region) = (Pipeline::new([&f])?, [Region::of_extents([3])]);
/// assert_eq!(run(&pipeline, &Inputs::new(), &region)?[0].typed::<i32>()?.to_vec(), [0, 2, 4]);
/// assert_eq!(run(&pipeline, &Inputs::new().param("gain", 5), &region)?[0].typed::<i32>()?.to_vec(), [0, 5, 10]);
/// assert!(run(&pipeline, &Inputs::new().param("gain", 11), &region).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Param<T> {
    name: Name,
    default: Option<T>,
    range: (Option<T>, Option<T>),
    at: Location,
    here: PhantomData<*const ()>,
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
    /// The parameter without its Rust type.
    pub(crate) fn data(self) -> Rc<ParamData> {
        let scalar = |v: Option<T>| v.map(Scalar::from);
        Rc::new(ParamData {
            name: arena::name_of(self.name),
            ty: T::TYPE,
            default: scalar(self.default),
            min: scalar(self.range.0),
            max: scalar(self.range.1),
            at: self.at,
        })
    }
    /// Its name.
    pub fn name(self) -> String {
        arena::name_of(self.name).to_string()
    }
}

impl<T: Element> From<Param<T>> for Expr
where
    Scalar: From<T>,
{
    #[track_caller]
    fn from(param: Param<T>) -> Expr {
        param.expr()
    }
}

impl<T: Element> IntoExpr for Param<T>
where
    Scalar: From<T>,
{
    #[track_caller]
    fn expr(self) -> Expr {
        if !arena::touch(self.name) {
            return arena::poison(AlgorithmErrorKind::Stale, Location::caller());
        }
        arena::add(Kind::Param(self.data()), Ty::One(T::TYPE), Location::caller())
    }
}

/// An input image: read like a Func, given by the caller.
///
/// ```
/// use halide_core::buffer::{Buffer, Region};
/// use halide_core::interp::{Inputs, run};
/// use halide_core::{Func, ImageParam, Pipeline, types::U8, vars};
/// let input = ImageParam::new("input", U8, 2);
/// let (x, y) = vars!(x, y);
/// let mut flipped = Func::new("flipped");
/// flipped[(x, y)] = input[(input.width() - 1 - x, y)];
/// let inputs = Inputs::new().image("input", Buffer::from_slice([3, 1], &[1u8, 2, 3])?);
/// let pipeline = Pipeline::new([&flipped])?;
/// let out = run(&pipeline, &inputs, &[Region::of_extents([3, 1])])?;
/// assert_eq!(out[0].typed::<u8>()?.to_vec(), [3, 2, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ImageParam {
    handle: Rc<ImageHandle>,
    /// The layout of the array in the image, where the array is what is read.
    layout: Option<Rc<Layout>>,
    calls: Rc<FrozenVec<Box<Expr>>>,
}

impl ImageHandle {
    pub(crate) fn new(body: ImageBody) -> Rc<ImageHandle> {
        let handle = Rc::new(ImageHandle { body: Rc::new(body) });
        arena::register_image(&handle);
        handle
    }
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
        let (at, promise, shape) = (Location::caller(), Cell::default(), OpenShape::default());
        let (name, coordinates, external) = (name.into(), RefCell::default(), None);
        let handle = ImageHandle::new(ImageBody { name, ty, dims, at, promise, coordinates, shape, external });
        ImageParam { handle, layout: None, calls: Rc::default() }
    }
    /// An image of `ty` in which an array lies in a layout: it is read at the coordinates of the array, and given as a
    /// buffer of the layout's parts, such as [`Layout::pack`] makes.
    ///
    /// Each read is rewritten: of a dimension `c` in blocks of 16 it is at `c / 16` and `c % 16`. These vanish where a
    /// loop over `c` is split by 16 and starts at a multiple of 16, so that vectors within blocks are dense.
    /// [`ImageParam::dim`] and all that follows from it speak of the buffer. Boundary conditions are of the array,
    /// which ends with its last block where it has blocks.
    ///
    /// ```
    /// use halide_core::buffer::{Buffer, Region};
    /// use halide_core::interp::{Inputs, run};
    /// use halide_core::{Func, ImageParam, Layout, Pipeline, types::I32, vars};
    /// let layout = Layout::of(["x", "c"]).split("c", 4).order(["c.i", "x", "c.o"]);
    /// let input = ImageParam::with_layout("input", I32, &layout);
    /// let ((x, c), mut f) = (vars!(x, c), Func::new("f"));
    /// f[(x, c)] = input[(x, c)] * 2;
    /// let array = Buffer::from_fn(&Region::of_extents([3, 6]), |at| at[0] + 10 * at[1])?;
    /// let inputs = Inputs::new().image("input", layout.pack(&array)?);
    /// let pipeline = Pipeline::new([&f])?;
    /// let out = run(&pipeline, &inputs, &[array.region()])?;
    /// assert_eq!(out[0].typed::<i32>()?.get([2, 5]), Some(104));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn with_layout(name: &str, ty: ScalarType, layout: &Layout) -> ImageParam {
        let dims = layout.parts().map_or(0, |parts| parts.len());
        ImageParam { layout: Some(Rc::new(layout.clone())), ..ImageParam::new(name, ty, dims) }
    }
    /// Makes the image that stands for an element of the results of an extern stage.
    pub(crate) fn of_extern(stage: &Rc<OpenExtern>, element: usize) -> ImageParam {
        let number = if stage.types.len() > 1 { format!(".{element}") } else { String::new() };
        let (name, at, shape) = (format!("{}$result{number}", stage.name), stage.at, OpenShape::default());
        let (ty, dims, external) = (stage.types[element], stage.dims, Some((stage.clone(), element)));
        let (promise, coordinates) = (Cell::default(), RefCell::default());
        let handle = ImageHandle::new(ImageBody { name, ty, dims, at, promise, coordinates, shape, external });
        ImageParam { handle, layout: None, calls: Rc::default() }
    }
    pub(crate) fn shared_body(&self) -> Rc<ImageBody> {
        self.body().clone()
    }
    /// Its name.
    pub fn name(&self) -> &str {
        &self.body().name
    }
    fn body(&self) -> &Rc<ImageBody> {
        &self.handle.body
    }
    /// Its element type.
    pub fn ty(&self) -> ScalarType {
        self.body().ty
    }
    /// The number of dimensions of the buffer that the caller gives.
    pub fn dims(&self) -> usize {
        self.body().dims
    }
    /// Its dimension `d`.
    pub fn dim(&self, d: usize) -> ImageDim {
        ImageDim { body: self.body().clone(), dim: d }
    }
    /// Demands that the first element is at an address that is a multiple of `bytes`, a power of two.
    #[track_caller]
    pub fn set_host_alignment(&self, bytes: u64) {
        self.body().shape.alignments.borrow_mut().push((bytes, Location::caller()));
    }
    /// Promises that every element of this integer image is in `min ..= max`: what is read at such a coordinate is then
    /// no more than that. A run checks it before it begins, unless it was found to hold since the memory was last
    /// written, and is an error where it does not hold.
    pub fn promise_values(&self, min: i64, max: i64) {
        let more = ValuePromise { range: Some((min, max)), ..ValuePromise::default() };
        self.body().promise.set(self.body().promise.get().and(more));
    }
    /// Promises that no element of this integer image is less than the one before it along dimension `dim`, as offsets
    /// of ragged rows are: what rows `a` to `b` need is then between the offset of `a` and that of `b`. Every run
    /// checks it before it begins, and is an error where it does not hold.
    pub fn promise_growing(&self, dim: usize) {
        let more = ValuePromise { grows: Some(dim), ..ValuePromise::default() };
        self.body().promise.set(self.body().promise.get().and(more));
    }
    /// Promises that no two elements of this integer image are equal: what is stored at such coordinates is stored to
    /// different elements, so that iterations may run at once without races. Runs check it as of
    /// [`ImageParam::promise_values`].
    ///
    /// ```
    /// use halide_core::expr::*;
    /// use halide_core::types::*;
    /// use halide_core::{Func, ImageParam, Pipeline, RDom, vars};
    ///
    /// let (values, order) = (ImageParam::new("values", F32, 1), ImageParam::new("order", I32, 1));
    /// order.promise_values(0, 999);
    /// order.promise_distinct();
    /// let (x, mut f) = (vars!(x), Func::new("f"));
    /// f[x] = 0.0f32.expr();
    /// let r = RDom::named("r", [(0, 1000)]);
    /// f[order[r.x]] = values[r.x]; // A schedule may say `f.update(0): parallel(r.x)`.
    /// Pipeline::new([&f])?;
    /// # Ok::<(), halide_core::error::AlgorithmErrors>(())
    /// ```
    pub fn promise_distinct(&self) {
        let more = ValuePromise { distinct: true, ..ValuePromise::default() };
        self.body().promise.set(self.body().promise.get().and(more));
    }
    /// Promises that every element of this integer image is a coordinate of dimension `dim` of the buffer of `of`, as
    /// indices of sparse matrices are: reads of `of` at these elements stay inside of it, whatever its size, and cost
    /// no clamp. Runs check it as of [`ImageParam::promise_values`]. Pipelines that do not read `of` ignore it.
    ///
    /// ```
    /// use halide_core::buffer::{Buffer, Region};
    /// use halide_core::interp::{Inputs, run};
    /// use halide_core::types::*;
    /// use halide_core::{Func, ImageParam, Pipeline, vars};
    ///
    /// let (table, index) = (ImageParam::new("table", I32, 1), ImageParam::new("index", I32, 1));
    /// index.promise_coordinates(&table, 0);
    /// let (x, mut f) = (vars!(x), Func::new("f"));
    /// f[x] = table[index[x]];
    /// let inputs = Inputs::new().image("table", Buffer::from_slice([3], &[10, 11, 12])?);
    /// let given = |index: &[i32]| Some(inputs.clone().image("index", Buffer::from_slice([2], index).ok()?));
    /// let (pipeline, region) = (Pipeline::new([&f])?, Region::of_extents([2]));
    /// assert!(run(&pipeline, &given(&[2, 0]).unwrap_or_default(), &[region.clone()]).is_ok());
    /// assert!(run(&pipeline, &given(&[2, 3]).unwrap_or_default(), &[region]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn promise_coordinates(&self, of: &ImageParam, dim: usize) {
        let promise = (of.name().to_string(), dim);
        let mut all = self.body().coordinates.borrow_mut();
        if !all.contains(&promise) {
            all.push(promise);
        }
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
        let body = self.body();
        let args = match crate::expr::check_coords(&body.name, self.read_dims(), &args, at) {
            Ok(args) => args,
            Err(poison) => return poison,
        };
        let args = match self.parts() {
            Ok(None) => args,
            Ok(Some(parts)) => parts.iter().map(|part| of_part(args[part.dim], part.place, at)).collect(),
            Err(poison) => return poison,
        };
        arena::add(Kind::Image(body.clone(), args), Ty::One(body.ty), at)
    }
    /// The parts of the layout, if there is one; or the poisoned node that says what is wrong with it.
    fn parts(&self) -> Result<Option<Vec<Part>>, Expr> {
        let Some(layout) = &self.layout else { return Ok(None) };
        let (image, at) = (self.name().to_string(), self.body().at);
        layout.parts().map(Some).map_err(|error| arena::poison(AlgorithmErrorKind::ImageLayout { image, error }, at))
    }
    /// The number of coordinates of a read.
    pub(crate) fn read_dims(&self) -> usize {
        self.layout.as_ref().map_or(self.dims(), |layout| layout.dims().len())
    }
    /// The first coordinate and the extent of each dimension that is read; of one in blocks, those of all its blocks.
    pub(crate) fn read_bounds(&self, at: Location) -> Vec<(Expr, Expr)> {
        let ends = |d: usize| (self.dim(d).min_at(at), self.dim(d).extent_at(at));
        let parts = match self.parts() {
            Ok(None) => return (0..self.dims()).map(ends).collect(),
            Ok(Some(parts)) => parts,
            Err(poison) => return vec![(poison, poison); self.read_dims()],
        };
        let mut bounds: Vec<(usize, (Expr, Expr))> = Vec::new();
        for (place, part) in parts.iter().enumerate() {
            let (min, extent) = ends(place);
            let times = |e: Expr, n: i64| binary(BinOp::Mul, e, (n as i32).expr(), at);
            match part.place {
                Place::Whole => bounds.push((part.dim, (min, extent))),
                Place::Outer(n) => bounds.push((part.dim, (times(min, n), times(extent, n)))),
                Place::Inner(_) => {}
            }
        }
        bounds.sort_by_key(|(dim, _)| *dim);
        bounds.into_iter().map(|(_, ends)| ends).collect()
    }
}

/// The part of a coordinate that a dimension of the buffer counts.
fn of_part(coordinate: Expr, place: Place, at: Location) -> Expr {
    match place {
        Place::Whole => coordinate,
        Place::Outer(n) => binary(BinOp::Div, coordinate, (n as i32).expr(), at),
        Place::Inner(n) => binary(BinOp::Mod, coordinate, (n as i32).expr(), at),
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
    /// The handle by which rules are made: see [`ShapeDim`].
    fn shape(&self) -> ShapeDim {
        ShapeDim::of_image(self.body.clone(), self.dim)
    }
    /// See [`ShapeDim::set_min`]; as all methods of its kind it can be followed by others.
    #[track_caller]
    pub fn set_min(&self, min: impl IntoExpr) -> ShapeDim {
        self.shape().set_min(min)
    }
    /// See [`ShapeDim::set_extent`].
    #[track_caller]
    pub fn set_extent(&self, extent: impl IntoExpr) -> ShapeDim {
        self.shape().set_extent(extent)
    }
    /// See [`ShapeDim::set_stride`].
    #[track_caller]
    pub fn set_stride(&self, stride: impl IntoExpr) -> ShapeDim {
        self.shape().set_stride(stride)
    }
    /// See [`ShapeDim::set_bounds`].
    #[track_caller]
    pub fn set_bounds(&self, min: impl IntoExpr, extent: impl IntoExpr) -> ShapeDim {
        self.shape().set_bounds(min, extent)
    }
    /// See [`ShapeDim::set_min_multiple_of`].
    #[track_caller]
    pub fn set_min_multiple_of(&self, n: i64) -> ShapeDim {
        self.shape().set_min_multiple_of(n)
    }
    /// See [`ShapeDim::set_extent_multiple_of`].
    #[track_caller]
    pub fn set_extent_multiple_of(&self, n: i64) -> ShapeDim {
        self.shape().set_extent_multiple_of(n)
    }
    /// See [`ShapeDim::set_stride_multiple_of`].
    #[track_caller]
    pub fn set_stride_multiple_of(&self, n: i64) -> ShapeDim {
        self.shape().set_stride_multiple_of(n)
    }
    /// See [`ShapeDim::set_estimate`].
    #[track_caller]
    pub fn set_estimate(&self, min: i32, extent: i32) -> ShapeDim {
        self.shape().set_estimate(min, extent)
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
        write!(f, "ImageParam({} at {})", self.name(), self.body().at)
    }
}
