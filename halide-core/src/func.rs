//! Funcs: pure functions of integer coordinates, with updates.

pub(crate) use crate::graph::func::{Def, FuncBody, Written};

use crate::arena::{self, Expr, Kind, Ty};
use crate::error::Location;
use crate::expr::{Coords, IntoExpr, check_coords};
use crate::graph::func::FuncHandle;
use crate::shape::OutputShape;
use crate::var::Var;
use elsa::FrozenVec;
use std::fmt;
use std::ops::{Index, IndexMut};
use std::rc::Rc;

/// A Func under definition. Reading `f[(x, y)]` is a call, writing it is a definition; `+=` and friends are updates.
///
/// The first definition is pure and has distinct variables on the left; further ones are updates, run in order. A Func
/// that another Func has read takes no further definitions.
///
/// An assignment takes an [`Expr`]; [`Func::define`] takes literals, variables and parameters as they are:
/// ```
/// use halide_core::{Func, IntoExpr, RDom, vars};
/// let (bin, channel) = vars!(bin, channel);
/// let r = RDom::new([(0, 100)]);
/// let mut hist = Func::new("hist");
/// hist.define((bin, channel), 0u32); // or `hist[(bin, channel)] = 0u32.into()`
/// hist[(r.x % 4, 1)] += 1;
/// halide_core::Pipeline::new([&hist]).unwrap();
/// ```
///
/// Rust borrows the left side of `+=` before it looks at the right side, so `f[(x, 1)] += f[(x, 0)]` does not compile.
/// Read first, or assign:
/// ```
/// use halide_core::{Func, vars};
/// let (x, y) = vars!(x, y);
/// let mut f = Func::new("f");
/// f[(x, y)] = x + y;
/// let row = f[(x, 0)];
/// f[(x, 1)] += row;
/// f[(x, 2)] = f[(x, 2)] + f[(x, 1)];
/// halide_core::Pipeline::new([&f]).unwrap();
/// ```
pub struct Func {
    handle: Rc<FuncHandle>,
    /// The left side last written, until what was assigned to it is collected.
    slot: Option<LeftSide>,
    calls: FrozenVec<Box<Expr>>,
}

struct LeftSide {
    args: Vec<Expr>,
    value: Expr,
}

impl Written {
    pub(crate) fn now(at: Location) -> Written {
        Written { at, born: arena::now() }
    }
}

impl FuncBody {
    /// A Func that no user's handle names, with its pure definition.
    pub(crate) fn anonymous(name: &str, args: Vec<Expr>, value: Expr, at: Location) -> Rc<FuncBody> {
        let body = FuncBody::new(name.into(), at);
        body.define(args, value, at);
        Rc::new(body)
    }
    /// Adds a definition.
    pub(crate) fn define(&self, args: Vec<Expr>, value: Expr, at: Location) {
        self.defs.borrow_mut().push(Def { args, value, written: Written::now(at) });
    }
    /// The type of its values, once there is a definition.
    pub(crate) fn ty(&self) -> Ty {
        self.defs.borrow().first().map_or(Ty::None, |d| arena::ty(d.value))
    }
}

impl Func {
    /// A Func without a definition, called `name` in schedules and messages.
    ///
    /// Of several Funcs of a pipeline with one name, producers first, the first keeps it, and the others are `name$1`,
    /// `name$2` and so on, in texts as in schedules. A schedule that is given a handle takes the name alone, and so
    /// speaks of the first one.
    #[track_caller]
    pub fn new(name: impl Into<String>) -> Func {
        let (name, at) = (name.into(), Location::caller());
        Func::from_body(Rc::new(FuncBody::new(name, at)))
    }
    /// A Func with its pure definition.
    pub(crate) fn defined(name: &str, args: Vec<Expr>, value: Expr, at: Location) -> Func {
        Func::from_body(FuncBody::anonymous(name, args, value, at))
    }
    fn from_body(body: Rc<FuncBody>) -> Func {
        let handle = Rc::new(FuncHandle { body });
        arena::register_func(&handle);
        Func { handle, slot: None, calls: FrozenVec::new() }
    }
    /// Its name.
    pub fn name(&self) -> &str {
        &self.handle.body.name
    }
    /// The number of dimensions; `None` before the first definition.
    pub fn dims(&self) -> Option<usize> {
        self.collect();
        self.handle.body.dims()
    }
    /// Its variables, first dimension first; empty before the first definition.
    pub fn args(&self) -> Vec<Var> {
        self.collect();
        let defs = self.handle.body.defs.borrow();
        defs.first().map_or(Vec::new(), |d| d.args.iter().filter_map(|&a| Var::from_expr(a)).collect())
    }
    /// The caller's buffer for this Func where it is an output, to say what it is to be like.
    pub fn output(&self) -> OutputShape {
        OutputShape::of_func(self.body())
    }
    /// The number of updates.
    pub fn updates(&self) -> usize {
        self.collect();
        self.handle.body.defs.borrow().len().saturating_sub(1)
    }
    /// The value at the given coordinates; the same as `f[coords]`.
    #[track_caller]
    pub fn read(&self, coords: impl Coords) -> Expr {
        let at = Location::caller();
        self.collect();
        call(&self.handle.body, coords.coords(), at)
    }
    /// Adds a definition, the pure one first and then updates; the same as `f[coords] = value`, of anything that can
    /// stand in an expression.
    #[track_caller]
    pub fn define(&mut self, coords: impl Coords, value: impl IntoExpr) {
        let at = Location::caller();
        self.collect();
        self.handle.body.define(coords.coords(), value.expr(), at);
    }
    /// The body, with all definitions that users gave so far.
    pub(crate) fn body(&self) -> Rc<FuncBody> {
        self.collect();
        self.handle.body.clone()
    }

    /// Moves what was assigned to the open left side into the definitions.
    fn collect(&self) {
        let body = &self.handle.body;
        if let (Some(written), Some(slot)) = (body.open.take(), &self.slot) {
            body.defs.borrow_mut().push(Def { args: slot.args.clone(), value: slot.value, written });
        }
    }
}

/// A call of `body`.
pub(crate) fn call(body: &Rc<FuncBody>, args: Vec<Expr>, at: Location) -> Expr {
    let defs = body.defs.borrow().len();
    let Some(dims) = body.dims() else {
        // The body stays known: a Func that reads itself so has another remedy than one that reads another Func.
        return arena::poisoned(at, &[arena::add(Kind::Undefined(body.clone()), Ty::None, at)]);
    };
    match (check_coords(&body.name, dims, &args, at), body.ty()) {
        (Ok(args), Ty::None) => {
            let value = body.defs.borrow()[0].value;
            arena::poisoned(at, &[&args[..], &[value]].concat())
        }
        (Ok(args), ty) => arena::add(Kind::Call(body.clone(), args, defs), ty, at),
        (Err(poison), Ty::None) => {
            let value = body.defs.borrow()[0].value;
            arena::poisoned(at, &[poison, value])
        }
        (Err(poison), _) => poison,
    }
}

impl Drop for Func {
    fn drop(&mut self) {
        self.collect();
    }
}

impl<C: Coords> Index<C> for Func {
    type Output = Expr;
    #[track_caller]
    fn index(&self, coords: C) -> &Expr {
        let read = self.read(coords);
        self.calls.push_get(Box::new(read))
    }
}

impl<C: Coords> IndexMut<C> for Func {
    #[track_caller]
    fn index_mut(&mut self, coords: C) -> &mut Expr {
        let at = Location::caller();
        self.collect();
        let body = &self.handle.body;
        let args = coords.coords();
        // The old value, so that `+=` means what it says.
        let value = match body.dims() {
            Some(_) => call(body, args.clone(), at),
            None => arena::add(Kind::Undefined(body.clone()), Ty::None, at),
        };
        body.open.set(Some(Written::now(at)));
        &mut self.slot.insert(LeftSide { args, value }).value
    }
}

impl fmt::Debug for Func {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Func({} at {})", self.name(), self.handle.body.at)
    }
}
