//! Boundary conditions: Funcs that are defined everywhere from sources that are not.
//!
//! Each marks the inside as `likely`, so that loop partitioning can give the steady state of a loop plain accesses.
//! What is read always lies inside the bounds, whatever the coordinate; bounds of extent 1 and coordinates many extents
//! away are fine.
//!
//! ```
//! use halide_core::boundary::{constant_exterior, mirror_image, mirror_interior, repeat_edge, repeat_image};
//! use halide_core::interp::{Inputs, run};
//! use halide_core::{Func, ImageParam, Pipeline, buffer::{Buffer, Region}, types::I32};
//! let input = ImageParam::new("input", I32, 1);
//! let around = |f: &Func| -> Result<Vec<i32>, Box<dyn std::error::Error>> {
//!     let inputs = Inputs::new().image("input", Buffer::from_slice([3], &[1, 2, 3])?);
//!     let pipeline = Pipeline::new([f])?;
//!     let out = run(&pipeline, &inputs, &[Region::of_spans([(-2, 7)])])?;
//!     Ok(out[0].typed::<i32>()?.to_vec())
//! };
//! assert_eq!(around(&constant_exterior(&input, 0))?, [0, 0, 1, 2, 3, 0, 0]);
//! assert_eq!(around(&repeat_edge(&input))?, [1, 1, 1, 2, 3, 3, 3]);
//! assert_eq!(around(&repeat_image(&input))?, [2, 3, 1, 2, 3, 1, 2]);
//! assert_eq!(around(&mirror_image(&input))?, [2, 1, 1, 2, 3, 3, 2]);
//! assert_eq!(around(&mirror_interior(&input))?, [3, 2, 1, 2, 3, 2, 1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::arena::{self, Expr};
use crate::error::{AlgorithmErrorKind, Location};
use crate::expr::{IntoExpr, binary, likely_at, select_at, unary};
use crate::func::{self, Func};
use crate::ops::{BinOp, UnOp};
use crate::param::ImageParam;
use crate::var::Var;

/// A Func or image that a boundary condition is put around.
pub trait BoundarySource {
    /// Its name.
    fn source_name(&self) -> String;
    /// The number of its dimensions, if it has a definition.
    fn source_dims(&self) -> Option<usize>;
    /// Its value at the given coordinates, read at a place in the source.
    fn source_read(&self, coords: Vec<Expr>, at: Location) -> Expr;
}

impl BoundarySource for ImageParam {
    fn source_name(&self) -> String {
        self.name().into()
    }
    fn source_dims(&self) -> Option<usize> {
        Some(self.read_dims())
    }
    fn source_read(&self, coords: Vec<Expr>, at: Location) -> Expr {
        self.read_at(coords, at)
    }
}

impl BoundarySource for Func {
    fn source_name(&self) -> String {
        self.name().into()
    }
    fn source_dims(&self) -> Option<usize> {
        self.dims()
    }
    fn source_read(&self, coords: Vec<Expr>, at: Location) -> Expr {
        func::call(&self.body(), coords, at)
    }
}

/// First coordinate and extent of a dimension; `None` leaves the dimension as it is.
pub type DimBounds = Option<(Expr, Expr)>;

/// The coordinates of one dimension from `min` on, `extent` of them.
#[track_caller]
pub fn bounds(min: impl IntoExpr, extent: impl IntoExpr) -> DimBounds {
    Some((min.expr(), extent.expr()))
}

/// The bounds of all dimensions of an image.
#[track_caller]
pub fn bounds_of(image: &ImageParam) -> Vec<DimBounds> {
    let at = Location::caller();
    image.read_bounds(at).into_iter().map(Some).collect()
}

/// The documentation of a condition: what it makes of a row of three elements, two more on both sides.
macro_rules! example {
    ($call:expr, $row:expr) => {
        concat!(
            "```\nuse halide_core::boundary::*;\nuse halide_core::buffer::{Buffer, Region};\n",
            "use halide_core::interp::{Inputs, run};\nuse halide_core::{ImageParam, Pipeline, types::I32};\n",
            "let input = ImageParam::new(\"input\", I32, 1);\nlet around = ",
            $call,
            ";\nlet row = Inputs::new().image(\"input\", Buffer::from_slice([3], &[1, 2, 3])?);\n",
            "let pipeline = Pipeline::new([&around])?;\n",
            "let out = run(&pipeline, &row, &[Region::of_spans([(-2, 7)])])?;\n",
            "assert_eq!(out[0].typed::<i32>()?.to_vec(), ",
            $row,
            ");\n# Ok::<(), Box<dyn std::error::Error>>(())\n```"
        )
    };
}

macro_rules! conditions {
    ($($(#[$doc:meta])* $name:ident, $name_in:ident, $place:ident, $row:literal;)*) => {$(
        $(#[$doc])*
        ///
        #[doc = example!(concat!(stringify!($name), "(&input)"), $row)]
        #[track_caller]
        pub fn $name(image: &ImageParam) -> Func {
            remap(stringify!($name), image, &bounds_of(image), Location::caller(), $place)
        }
        #[doc = concat!("The same as [`", stringify!($name), "`], of any source with bounds per dimension;")]
        /// dimensions beyond the list have none.
        #[track_caller]
        pub fn $name_in(source: &impl BoundarySource, bounds: &[DimBounds]) -> Func {
            remap(stringify!($name), source, bounds, Location::caller(), $place)
        }
    )*};
}

conditions! {
    /// The value of the nearest point inside.
    repeat_edge, repeat_edge_in, nearest, "[1, 1, 1, 2, 3, 3, 3]";
    /// The image tiled over the plane.
    repeat_image, repeat_image_in, tiled, "[2, 3, 1, 2, 3, 1, 2]";
    /// The image mirrored at its edges, the edge itself repeated: `cba abc cba`.
    mirror_image, mirror_image_in, mirrored, "[2, 1, 1, 2, 3, 3, 2]";
    /// The image mirrored at its edge pixels, which are not repeated: `cb abc ba`.
    mirror_interior, mirror_interior_in, mirrored_inside, "[3, 2, 1, 2, 3, 2, 1]";
}

/// The image with `value` outside.
///
#[doc = example!("constant_exterior(&input, 0)", "[0, 0, 1, 2, 3, 0, 0]")]
#[track_caller]
pub fn constant_exterior(image: &ImageParam, value: impl IntoExpr) -> Func {
    around(image, value.expr(), &bounds_of(image), Location::caller())
}

/// The same as [`constant_exterior`], of any source with bounds per dimension; dimensions beyond the list have none.
#[track_caller]
pub fn constant_exterior_in(source: &impl BoundarySource, value: impl IntoExpr, bounds: &[DimBounds]) -> Func {
    around(source, value.expr(), bounds, Location::caller())
}

/// A coordinate with the first one inside and the extent.
#[derive(Clone, Copy)]
struct BoundedCoordinate {
    x: Expr,
    first: Expr,
    extent: Expr,
    at: Location,
}

impl BoundedCoordinate {
    fn op(self, op: BinOp, a: Expr, b: impl IntoExpr) -> Expr {
        binary(op, a, b.expr(), self.at)
    }
    fn end(self) -> Expr {
        self.op(BinOp::Add, self.first, self.extent)
    }
    fn is_inside(self) -> Expr {
        let (from, below) = (self.op(BinOp::Ge, self.x, self.first), self.op(BinOp::Lt, self.x, self.end()));
        likely_at(self.op(BinOp::BitAnd, from, below), self.at)
    }
    /// `x` clamped into the bounds.
    fn clamp(self, x: Expr) -> Expr {
        self.op(BinOp::Min, self.op(BinOp::Max, x, self.first), self.op(BinOp::Sub, self.end(), 1))
    }
    /// The coordinate as it is inside, `outside` from the first one elsewhere.
    fn unless_inside(self, outside: Expr) -> Expr {
        let moved = self.op(BinOp::Add, outside, self.first);
        select_at(self.is_inside(), likely_at(self.x, self.at), moved, self.at)
    }
    fn offset(self) -> Expr {
        self.op(BinOp::Sub, self.x, self.first)
    }
}

fn nearest(p: BoundedCoordinate) -> Expr {
    likely_at(p.x, p.at)
}

fn tiled(p: BoundedCoordinate) -> Expr {
    p.unless_inside(p.op(BinOp::Mod, p.offset(), p.extent))
}

fn mirrored(p: BoundedCoordinate) -> Expr {
    let period = p.op(BinOp::Mul, p.extent, 2);
    let phase = p.op(BinOp::Mod, p.offset(), period);
    let back = p.op(BinOp::Sub, p.op(BinOp::Sub, period, 1), phase);
    p.unless_inside(p.op(BinOp::Min, phase, back))
}

fn mirrored_inside(p: BoundedCoordinate) -> Expr {
    // A single pixel has no interior to mirror: period 1, so every coordinate is the pixel.
    let period = p.op(BinOp::Max, p.op(BinOp::Sub, p.op(BinOp::Mul, p.extent, 2), 2), 1);
    let phase = p.op(BinOp::Mod, p.offset(), period);
    p.unless_inside(p.op(BinOp::Min, phase, p.op(BinOp::Sub, period, phase)))
}

/// The variables of a condition's Func, and for each the coordinate with its bounds.
fn places(source: &impl BoundarySource, bounds: &[DimBounds], at: Location) -> Vec<(Expr, Option<BoundedCoordinate>)> {
    let names = ["x", "y", "z", "w", "v4", "v5", "v6", "v7"];
    let vars = names.iter().take(source.source_dims().unwrap_or(0)).map(|name| Var::new(name).expr_at(at));
    let place = |(d, x): (usize, Expr)| {
        (x, bounds.get(d).copied().flatten().map(|(first, extent)| BoundedCoordinate { x, first, extent, at }))
    };
    vars.enumerate().map(place).collect()
}

/// A Func that reads `source` at coordinates moved by `place` and clamped into the bounds; the clamp changes nothing
/// that `place` already put inside, but shows bounds inference that all reads are.
fn remap(
    name: &str,
    source: &impl BoundarySource,
    bounds: &[DimBounds],
    at: Location,
    place: fn(BoundedCoordinate) -> Expr,
) -> Func {
    let places = places(source, bounds, at);
    let coords = places.iter().map(|&(x, p)| p.map_or(x, |p| p.clamp(place(p)))).collect();
    let value = source.source_read(coords, at);
    condition(name, source, bounds, places, value, at)
}

fn around(source: &impl BoundarySource, value: Expr, bounds: &[DimBounds], at: Location) -> Func {
    let places = places(source, bounds, at);
    let coords = places.iter().map(|&(x, p)| p.map_or(x, |p| p.clamp(likely_at(x, at)))).collect();
    let outside = places.iter().filter_map(|(_, p)| p.map(|p| unary(UnOp::Not, p.is_inside(), at)));
    let read = source.source_read(coords, at);
    let value = match outside.reduce(|a, b| binary(BinOp::BitOr, a, b, at)) {
        Some(outside) => select_at(outside, value, read, at),
        None => read,
    };
    condition("constant_exterior", source, bounds, places, value, at)
}

fn condition(
    name: &str,
    source: &impl BoundarySource,
    bounds: &[DimBounds],
    places: Vec<(Expr, Option<BoundedCoordinate>)>,
    value: Expr,
    at: Location,
) -> Func {
    let value = match (source.source_dims(), bounds.len()) {
        (Some(dims), given) if given > dims => {
            let kind = AlgorithmErrorKind::BoundaryDims { name: source.source_name(), dims, given };
            arena::poisoned(at, &[arena::poison(kind, at), value])
        }
        _ => value,
    };
    let args = places.into_iter().map(|(x, _)| x).collect();
    Func::defined(&format!("{name}_{}", source.source_name()), args, value, at)
}
