//! Memory layout: coordinates become element offsets.
//!
//! Before: `Stage::Bounded`; storage is `Realize`, accesses are `Read` and `Provide`. After: `Stage::Flat`; storage is
//! `Alloc`, accesses are `Load` and `Store`. The minimum, extent and stride of every dimension of an allocation are
//! bound to its `Sym::Buffer` symbols (where a Func is stored at several places: those of the first; symbols are bound
//! once).
//!
//! The offset of `(c_0, c_1, ...)` is the sum of `(c_d - min_d) * stride_d`; a folded dimension contributes `(c_d %
//! fold_d) * stride_d`. Strides grow in the order of `BufferInfo::order`, and the first is the literal 1. Rows of
//! allocations of two and more dimensions are padded to whole cache lines, so that a row that starts aligned stays so
//! in all its neighbours, and never lie a multiple of a page apart, where all of them would compete for the same cache
//! sets. Storage inside of a kernel is not padded: its memory is small, and there are no cache lines.
//!
//! Storage that registers could hold, and that of kernels, is accessed by offsets of loop variables alone, where the
//! names in its coordinates and in its minimum come down to that: once its loops are unrolled, every access then is at
//! a constant.
//!
//! Example:
//! ```text
//! realize g#f2 [-1 extent 100] [0 extent 3] {
//!   for x#L0 from 0 extent 9 {
//!     provide g#f2(x#L0, 2): g#b4 = image#b3(x#L0, 1)
//!   }
//! }
//! ```
//! becomes
//! ```text
//! let g#b4.min0 = -1
//! let g#b4.extent0 = 100
//! let g#b4.min1 = 0
//! let g#b4.extent1 = 3
//! let g#b4.stride0 = 1
//! let g#b4.stride1 = 128
//! alloc g#b4[384] at_most 384 {
//!   for x#L0 from 0 extent 9 {
//!     g#b4[256 + (x#L0 + 1)] = image#b3[(1 - image#b3.min1) * image#b3.stride1 + (x#L0 - image#b3.min0)]
//!   }
//! }
//! ```

use crate::lower::loops::copy::fresh_temp;
use crate::lower::walk;
use crate::tuning::{
    ALIGNED_LINE_BYTES, MOST_ALLOCATION_BYTES, MOST_ALLOCATION_EXTENT, MOST_ELEMENT_NAMES, PAGE_BYTES, REGISTER_BYTES,
    STACK_BYTES,
};
use halide_core::ids::FuncId;
use halide_core::types::ScalarType;
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{self, Memo};
use halide_ir::{
    BufId, BufferInfo, CallArg, DimField, Expr, ExprKind, Fault, ForKind, Memory, Program, Stage, Stmt, Sym, build,
};
use halide_solve::simplify::{Facts, simplify};

/// Replaces multi-dimensional storage and accesses by linear ones.
pub fn flatten_storage(program: Program) -> Program {
    let mut program = walk::map_body(program, |body, program| {
        let mut cx = Flatten {
            program,
            places: Map::default(),
            extents: Map::default(),
            named: Set::default(),
            tiny: Set::default(),
            definitions: Map::default(),
            facts: Facts::new(),
            in_kernel: false,
        };
        statement(&mut cx, body)
    });
    program.stage = Stage::Flat;
    program
}

struct Flatten<'p> {
    program: &'p mut Program,
    /// For the allocations around: minimum and stride of each dimension, a constant or a symbol.
    places: Map<BufId, Vec<(Expr, Expr)>>,
    /// For the allocations around: the extent of each dimension.
    extents: Map<BufId, Vec<Expr>>,
    /// Buffers whose `Sym::Buffer` symbols are bound already.
    named: Set<BufId>,
    /// Buffers that registers could hold, or threads of a GPU.
    tiny: Set<BufId>,
    /// The definitions of symbols.
    definitions: Map<Sym, Expr>,
    /// Nothing in particular, remembered between simplifications.
    facts: Facts,
    /// True inside of loops over GPU blocks.
    in_kernel: bool,
}

fn statement(cx: &mut Flatten<'_>, s: Stmt) -> Stmt {
    match s {
        Stmt::Realize { func, bounds, when, body } => realize(cx, func, bounds, when, *body),
        Stmt::Provide { args, values, mask, .. } => provide(cx, args, values, mask),
        Stmt::Call { callee, args } => {
            let args = args.iter().map(|arg| handed(cx, arg)).collect();
            Stmt::Call { callee, args }
        }
        Stmt::Prefetch { buf, at, cache } => {
            let at: Vec<Expr> = at.iter().map(|a| expression(cx, a)).collect();
            Stmt::Prefetch { buf, at: vec![offset(cx, buf, &at)], cache }
        }
        Stmt::Let { bindings, body } => {
            let define = |(s, e): (Sym, Expr)| {
                let value = expression(cx, &e);
                cx.definitions.insert(s, value.clone());
                (s, value)
            };
            let bindings = bindings.into_iter().map(define).collect();
            build::let_in(bindings, statement(cx, *body))
        }
        Stmt::For(l) if l.kind == ForKind::GpuBlocks => {
            let around = std::mem::replace(&mut cx.in_kernel, true);
            let made = walk::map_stmt(Stmt::For(l), cx, expression, statement);
            cx.in_kernel = around;
            made
        }
        other => walk::map_stmt(other, cx, expression, statement),
    }
}

/// A box that a closure is handed, with the memory that it is part of.
fn handed(cx: &mut Flatten<'_>, arg: &CallArg) -> CallArg {
    let arg = arg.map(&mut |e| expression(cx, e));
    let given = |dim| build::sym(Sym::Buffer { buf: arg.buf, dim: dim as u16, field: DimField::Extent });
    let of_caller = || (0..cx.program.buffers[arg.buf].dims).map(given).collect();
    let extents = cx.extents.get(&arg.buf).cloned().unwrap_or_else(of_caller);
    let memory = extents.into_iter().enumerate().map(|(d, extent)| {
        let (min, stride) = place(cx, arg.buf, d);
        [min, extent, stride]
    });
    CallArg { memory: memory.collect(), ..arg }
}

/// Reads become loads.
fn expression(cx: &mut Flatten<'_>, e: &Expr) -> Expr {
    Memo::new().rewrite(e, |e, done| match e.kind() {
        ExprKind::Read { buf, args } => {
            let args: Vec<Expr> = args.iter().map(done).collect();
            build::load(*buf, cx.program.buffers[*buf].elem, offset(cx, *buf, &args), None)
        }
        _ => visit::map_children(e, done),
    })
}

/// The element offset of `args`: the dimension with the largest stride first, so that the fastest one is added last.
fn offset(cx: &Flatten<'_>, buf: BufId, args: &[Expr]) -> Expr {
    let info = &cx.program.buffers[buf];
    let mut sum = build::int(0);
    for &d in info.order.iter().rev() {
        let (min, stride) = place(cx, buf, d);
        let from_zero = match info.fold[d] {
            Some(factor) => build::rem(args[d].clone(), build::int(factor)),
            None => {
                let distance = build::sub(args[d].clone(), min);
                match cx.tiny.contains(&buf) {
                    true => of_loops_only(cx, &distance).unwrap_or(distance),
                    false => distance,
                }
            }
        };
        sum = build::add(sum, build::mul(from_zero, stride));
    }
    sum
}

/// `e` in terms of loop variables and constants, if that is what its names come down to.
fn of_loops_only(cx: &Flatten<'_>, e: &Expr) -> Option<Expr> {
    let other = |n: &Expr| match n.kind() {
        ExprKind::Sym(s) => !matches!(s, Sym::Loop(_)),
        ExprKind::Param(_) | ExprKind::Load { .. } | ExprKind::Read { .. } => true,
        _ => false,
    };
    let mut e = simplify(e, &cx.facts);
    for _ in 0..MOST_ELEMENT_NAMES {
        if !visit::any_node(&e, other) {
            return Some(e);
        }
        // One level at a time: what two sides have in common cancels before it becomes large.
        e = simplify(&visit::substitute(&e, &|s| cx.definitions.get(&s).cloned()), &cx.facts);
    }
    None
}

/// Minimum and stride of a dimension.
fn place(cx: &Flatten<'_>, buf: BufId, d: usize) -> (Expr, Expr) {
    if let Some(dims) = cx.places.get(&buf) {
        return dims[d].clone();
    }
    let field = |field| build::sym(Sym::Buffer { buf, dim: d as u16, field });
    let dense = cx.program.buffers[buf].unit_stride == Some(d);
    (field(DimField::Min), if dense { build::int(1) } else { field(DimField::Stride) })
}

/// Storage of every tuple element around `body`.
fn realize(cx: &mut Flatten<'_>, func: FuncId, bounds: Vec<(Expr, Expr)>, when: Option<Expr>, body: Stmt) -> Stmt {
    let bounds: Vec<(Expr, Expr)> = bounds.iter().map(|(m, e)| (expression(cx, m), expression(cx, e))).collect();
    let buffers = cx.program.func_buffers[func].clone();
    let layouts: Vec<Layout> = buffers.iter().map(|&buf| layout(cx, buf, &bounds)).collect();
    if let Some(when) = &when {
        // Elsewhere there is no memory.
        for buf in &buffers {
            let extents = cx.extents.get_mut(buf).into_iter().flatten();
            extents.for_each(|e| *e = build::select(when.clone(), e.clone(), build::int(0)));
        }
    }
    let mut result = statement(cx, body);
    for layout in layouts.into_iter().rev() {
        cx.places.remove(&layout.buf);
        cx.extents.remove(&layout.buf);
        result = allocate(cx, layout, when.as_ref(), result);
    }
    result
}

/// One allocation.
struct Layout {
    buf: BufId,
    /// Names of minima and extents.
    bounds: Vec<(Sym, Expr)>,
    /// Names of strides that are not constants.
    strides: Vec<(Sym, Expr)>,
    /// Elements in all.
    count: Expr,
    /// Scalar `Bool`: true if that many can be allocated.
    fits: Expr,
}

/// Lays out `buf` and records its place.
fn layout(cx: &mut Flatten<'_>, buf: BufId, bounds: &[(Expr, Expr)]) -> Layout {
    let info = cx.program.buffers[buf].clone();
    let first = cx.named.insert(buf);
    let mut name = |d: usize, field, value: Expr, names: &mut Vec<(Sym, Expr)>| {
        let s = if first { Sym::Buffer { buf, dim: d as u16, field } } else { fresh_temp(cx.program) };
        names.push((s, value.clone()));
        cx.definitions.insert(s, value.clone());
        if build::as_int(&value).is_some() { value } else { build::sym(s) }
    };
    let mut named_bounds = Vec::new();
    let mut dims = Vec::new();
    let mut extents = Vec::new();
    for (d, (min, extent)) in bounds.iter().enumerate() {
        dims.push((name(d, DimField::Min, min.clone(), &mut named_bounds), build::int(1)));
        extents.push(name(d, DimField::Extent, extent.clone(), &mut named_bounds));
    }
    let mut strides = Vec::new();
    let mut step = build::int(1);
    let limit = MOST_ALLOCATION_BYTES / info.elem.bytes() as i64;
    let float = |e: Expr| build::cast_data(ScalarType::F64, e);
    let mut size = float(build::int(1));
    let mut most = 1i64;
    for (place, &d) in info.order.iter().enumerate() {
        dims[d].1 = name(d, DimField::Stride, step, &mut strides);
        let extent = info.fold[d].map_or(extents[d].clone(), build::int);
        let padded = pad(&info, d, place == 0 && info.dims > 1 && !cx.in_kernel, extent);
        most = most.saturating_mul(build::as_int(&padded).unwrap_or(MOST_ALLOCATION_EXTENT).max(1));
        size = build::mul(size, float(padded.clone()));
        step = build::mul(dims[d].1.clone(), padded);
    }
    // In floats, the product cannot overflow.
    let fits = if most <= limit { build::boolean(true) } else { build::le(size, float(build::int(limit))) };
    cx.places.insert(buf, dims);
    cx.extents.insert(buf, extents);
    let most = if cx.in_kernel { i64::MAX } else { REGISTER_BYTES / info.elem.bytes() as i64 };
    if build::as_int(&step).is_some_and(|n| n <= most) {
        cx.tiny.insert(buf);
    } else {
        cx.tiny.remove(&buf);
    }
    Layout { buf, bounds: named_bounds, strides, count: step, fits }
}

/// The extent in memory of dimension `d`; rows are padded unless the user says how.
fn pad(info: &BufferInfo, d: usize, row_of_many: bool, extent: Expr) -> Expr {
    let unit = ALIGNED_LINE_BYTES / info.elem.bytes() as i64;
    if info.align[d] > 1 || !row_of_many {
        return round_up(extent, info.align[d].max(1));
    }
    if build::as_int(&extent).is_some_and(|n| n <= unit) {
        return extent;
    }
    let row = round_up(extent, unit);
    let page = PAGE_BYTES / info.elem.bytes() as i64;
    let conflict = build::eq(build::rem(row.clone(), build::int(page)), build::int(0));
    build::add(row, build::select(conflict, build::int(unit), build::int(0)))
}

fn round_up(e: Expr, multiple: i64) -> Expr {
    if multiple == 1 {
        return e;
    }
    build::mul(build::div(build::offset(e, multiple - 1), build::int(multiple)), build::int(multiple))
}

/// The allocation with the names of its properties and the check of its size.
fn allocate(cx: &mut Flatten<'_>, layout: Layout, when: Option<&Expr>, body: Stmt) -> Stmt {
    let Layout { buf, bounds, strides, count, fits } = layout;
    let constant = build::as_int(&count).map(|n| n.max(0) as u64);
    let info = &cx.program.buffers[buf];
    let stack_bytes = if matches!(info.memory, Memory::Heap | Memory::Global) { 0 } else { STACK_BYTES };
    let bytes = info.elem.bytes() as u64;
    // What may be on the stack takes no memory from anybody, and is accessed at constants only if its size is one.
    let on_heap = constant.is_none_or(|n| n.saturating_mul(bytes) > stack_bytes);
    let (count, fits) = match when {
        Some(when) if on_heap => {
            let needed = build::select(when.clone(), count, build::int(0));
            (needed, build::or(build::not(when.clone()), fits))
        }
        _ => (count, fits),
    };
    let alloc = build::let_in(strides, Stmt::Alloc { buf, count, constant, body: Box::new(body) });
    if build::as_bool(&fits) == Some(true) {
        return build::let_in(bounds, alloc);
    }
    let fault = cx.program.faults.push(Fault::OutOfMemory { buf });
    let check = Stmt::Assert { cond: fits, fault, args: vec![build::int(MOST_ALLOCATION_BYTES)] };
    build::let_in(bounds, build::block([check, alloc]))
}

/// One store per tuple element. What a store reads is evaluated before anything is stored.
fn provide(cx: &mut Flatten<'_>, args: Vec<Expr>, values: Vec<(BufId, Expr)>, mask: Option<Expr>) -> Stmt {
    let mut bindings = Vec::new();
    let several = values.len() > 1;
    let args: Vec<Expr> = args
        .iter()
        .map(|a| {
            let a = expression(cx, a);
            if several { name_if_loading(cx, a, &mut bindings) } else { a }
        })
        .collect();
    let mask = mask.map(|m| {
        let m = expression(cx, &m);
        if several { name_if_loading(cx, m, &mut bindings) } else { m }
    });
    let values: Vec<(BufId, Expr)> = values
        .iter()
        .map(|(buf, v)| {
            let v = expression(cx, v);
            (*buf, if several { name_if_loading(cx, v, &mut bindings) } else { v })
        })
        .collect();
    let stores = values.into_iter().map(|(buf, value)| Stmt::Store {
        buf,
        index: offset(cx, buf, &args),
        value,
        mask: mask.clone(),
    });
    build::let_in(bindings, build::block(stores.collect::<Vec<_>>()))
}

/// A symbol for `e` if it reads memory, else `e`.
fn name_if_loading(cx: &mut Flatten<'_>, e: Expr, bindings: &mut Vec<(Sym, Expr)>) -> Expr {
    if !visit::any_node(&e, |n| matches!(n.kind(), ExprKind::Load { .. })) {
        return e;
    }
    let temp = fresh_temp(cx.program);
    let ty = e.ty();
    bindings.push((temp, e));
    build::typed_sym(temp, ty)
}
