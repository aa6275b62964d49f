//! Boundary conditions: Funcs that are defined everywhere from sources that are not.
//!
//! Each marks the inside as `likely`, so that loop partitioning can give the steady state of a loop plain accesses. What
//! is read always lies inside the bounds, whatever the coordinate; bounds of extent 1 and coordinates many extents away
//! are fine.

use crate::arena::Expr;
use crate::expr::{ExprMethods, IntoExpr, clamp, likely, max, min, select};
use crate::func::Func;
use crate::param::ImageParam;
use crate::var::Var;

/// What a boundary condition is put around.
pub trait BoundarySource {
    /// Its name.
    fn source_name(&self) -> String;
    /// The number of its dimensions, if it has a definition.
    fn source_dims(&self) -> usize;
    /// Its value at the given coordinates.
    fn source_read(&self, coords: &[Expr]) -> Expr;
}

impl BoundarySource for ImageParam {
    fn source_name(&self) -> String {
        self.name().into()
    }
    fn source_dims(&self) -> usize {
        self.dims()
    }
    #[track_caller]
    fn source_read(&self, coords: &[Expr]) -> Expr {
        self.read(coords)
    }
}

impl BoundarySource for Func {
    fn source_name(&self) -> String {
        self.name().into()
    }
    fn source_dims(&self) -> usize {
        self.dims().unwrap_or(0)
    }
    #[track_caller]
    fn source_read(&self, coords: &[Expr]) -> Expr {
        self.read(coords)
    }
}

/// First coordinate and extent of a dimension; `None` leaves the dimension as it is.
pub type DimBounds = Option<(Expr, Expr)>;

/// The bounds of all dimensions of an image.
#[track_caller]
pub fn bounds_of(image: &ImageParam) -> Vec<DimBounds> {
    let mut bounds = Vec::new();
    for d in 0..image.dims() {
        bounds.push(Some((image.dim(d).min(), image.dim(d).extent())));
    }
    bounds
}

/// The value of the nearest point inside.
#[track_caller]
pub fn repeat_edge(image: &ImageParam) -> Func {
    repeat_edge_in(image, &bounds_of(image))
}

/// The image tiled over the plane.
#[track_caller]
pub fn repeat_image(image: &ImageParam) -> Func {
    repeat_image_in(image, &bounds_of(image))
}

/// The image mirrored at its edges, the edge itself repeated: `cba abc cba`.
#[track_caller]
pub fn mirror_image(image: &ImageParam) -> Func {
    mirror_image_in(image, &bounds_of(image))
}

/// The image mirrored at its edge pixels, which are not repeated: `cb abc ba`.
#[track_caller]
pub fn mirror_interior(image: &ImageParam) -> Func {
    mirror_interior_in(image, &bounds_of(image))
}

/// `value` outside.
#[track_caller]
pub fn constant_exterior(image: &ImageParam, value: impl IntoExpr) -> Func {
    constant_exterior_in(image, value, &bounds_of(image))
}

/// As [`repeat_edge`], of any source with bounds per dimension; dimensions beyond the list have none.
#[track_caller]
pub fn repeat_edge_in(source: &impl BoundarySource, bounds: &[DimBounds]) -> Func {
    remap("repeat_edge", source, bounds, |x, _, _| likely(x))
}

/// As [`repeat_image`], of any source with bounds per dimension.
#[track_caller]
pub fn repeat_image_in(source: &impl BoundarySource, bounds: &[DimBounds]) -> Func {
    remap("repeat_image", source, bounds, |x, first, extent| {
        select(is_inside(x, first, extent), likely(x), (x - first) % extent + first)
    })
}

/// As [`mirror_image`], of any source with bounds per dimension.
#[track_caller]
pub fn mirror_image_in(source: &impl BoundarySource, bounds: &[DimBounds]) -> Func {
    remap("mirror_image", source, bounds, |x, first, extent| {
        let phase = (x - first) % (extent * 2);
        select(is_inside(x, first, extent), likely(x), min(phase, extent * 2 - 1 - phase) + first)
    })
}

/// As [`mirror_interior`], of any source with bounds per dimension.
#[track_caller]
pub fn mirror_interior_in(source: &impl BoundarySource, bounds: &[DimBounds]) -> Func {
    remap("mirror_interior", source, bounds, |x, first, extent| {
        // A single pixel has no interior to mirror: period 1, so every coordinate is the pixel.
        let period = max(extent * 2 - 2, 1);
        let phase = (x - first) % period;
        select(is_inside(x, first, extent), likely(x), min(phase, period - phase) + first)
    })
}

/// As [`constant_exterior`], of any source with bounds per dimension.
#[track_caller]
pub fn constant_exterior_in(source: &impl BoundarySource, value: impl IntoExpr, bounds: &[DimBounds]) -> Func {
    let value = value.expr();
    let vars = variables(source.source_dims());
    let mut coords = Vec::new();
    let mut outside: Option<Expr> = None;
    for (d, x) in vars.iter().enumerate() {
        let x = x.expr();
        match bounds.get(d).copied().flatten() {
            Some((first, extent)) => {
                let here = !is_inside(x, first, extent);
                outside = Some(outside.map_or(here, |o| o.or(here)));
                coords.push(inside(x, first, extent));
            }
            None => coords.push(x),
        }
    }
    let mut f = Func::new(format!("constant_exterior_{}", source.source_name()));
    let read = source.source_read(&coords);
    f[&vars[..]] = match outside {
        Some(outside) => select(outside, value, read),
        None => read,
    };
    f
}

/// The coordinate clamped into the bounds, the unclamped one likely.
#[track_caller]
fn inside(x: Expr, first: Expr, extent: Expr) -> Expr {
    clamp(likely(x), first, first + extent - 1)
}

#[track_caller]
fn is_inside(x: Expr, first: Expr, extent: Expr) -> Expr {
    likely(x.ge(first).and(x.lt(first + extent)))
}

fn variables(dims: usize) -> Vec<Var> {
    ["x", "y", "z", "w", "v4", "v5", "v6", "v7"].iter().take(dims).map(Var::new).collect()
}

/// A Func that reads `source` at coordinates moved by `place(x, first, extent)` and clamped into the bounds; the clamp
/// changes nothing that `place` already put inside, but shows bounds inference that all reads are.
#[track_caller]
fn remap(
    name: &str,
    source: &impl BoundarySource,
    bounds: &[DimBounds],
    place: impl Fn(Expr, Expr, Expr) -> Expr,
) -> Func {
    let vars = variables(source.source_dims());
    let mut coords = Vec::new();
    for (d, x) in vars.iter().enumerate() {
        coords.push(match bounds.get(d).copied().flatten() {
            Some((first, extent)) => clamp(place(x.expr(), first, extent), first, first + extent - 1),
            None => x.expr(),
        });
    }
    let mut f = Func::new(format!("{name}_{}", source.source_name()));
    f[&vars[..]] = source.source_read(&coords);
    f
}
