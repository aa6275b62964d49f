//! Programs written by hand at every stage, for the tests of this module.

use super::build::*;
use super::*;
use halide_core::ids::{FuncId, IdVec, ImageId};
use halide_core::types::ScalarType::{self, U16};
use halide_core::value::Scalar;

/// The tables of the two-stage blur: `input` b0, `blur_x` b1 of f0, `blur_y` b2 of f1; loops by name.
pub(crate) fn blur_tables(stage: Stage, loops: &[&str]) -> Program {
    let buffer = |name: &str, role| BufferInfo {
        name: name.to_string(),
        elem: U16,
        dims: 2,
        role,
        order: vec![0, 1],
        align: vec![1, 1],
        fold: vec![None, None],
        unit_stride: (role != BufferRole::Internal).then_some(0),
        memory: Memory::Auto,
        keeps: false,
        stream: Stream::Never,
        side: Side::Host,
    };
    Program {
        buffers: [
            buffer("input", BufferRole::Input(ImageId(0))),
            buffer("blur_x", BufferRole::Internal),
            buffer("blur_y", BufferRole::Output(0)),
        ]
        .into_iter()
        .collect(),
        image_buffers: [BufId(0)].into_iter().collect(),
        func_buffers: [vec![BufId(1)], vec![BufId(2)]].into_iter().collect(),
        loops: loops.iter().map(|name| name.to_string().into()).collect(),
        faults: [Fault::InputTooSmall { buf: BufId(0), dim: 0 }, Fault::InputTooSmall { buf: BufId(0), dim: 1 }]
            .into_iter()
            .collect(),
        counters: vec!["points of blur_x".to_string()],
        ..Program::empty(stage)
    }
}

/// A property of a buffer.
pub(crate) fn dim(buf: u32, dim: u16, field: DimField) -> Expr {
    sym(Sym::Buffer { buf: BufId(buf), dim, field })
}

/// A temporary of scalar Index.
pub(crate) fn temp(n: u32) -> Expr {
    sym(Sym::Temp(n))
}

/// (a + b + c) / 3 in u16.
pub(crate) fn third(parts: [Expr; 3]) -> Expr {
    let [a, b, c] = parts;
    let lanes = a.lanes();
    div(add(add(a, b), c), broadcast(constant(Scalar::int(U16, 3)), lanes))
}

/// The input covers the output and a border of two: asserted in both dimensions.
fn checks() -> Vec<Stmt> {
    (0..2)
        .map(|d| {
            let (min, extent) = (dim(2, d, DimField::Min), dim(2, d, DimField::Extent));
            let (have_min, have_extent) = (dim(0, d, DimField::Min), dim(0, d, DimField::Extent));
            let need_max = offset(add(min.clone(), extent), 1);
            let have_max = offset(add(have_min.clone(), have_extent), -1);
            let cond = and(le(have_min.clone(), min.clone()), le(need_max.clone(), have_max.clone()));
            Stmt::Assert { cond, fault: FaultId(d as u32), args: vec![min, need_max, have_min, have_max] }
        })
        .collect()
}

/// Blur at `Bounded`: `blur_x` stored at the root in three folded rows (or all, without `fold`) and computed at each
/// row of `blur_y`, one new row per iteration.
pub(crate) fn blur_bounded(fold: bool) -> Program {
    let mut p = blur_tables(Stage::Bounded, &["blur_y.y", "blur_x.y", "blur_x.x", "blur_y.x"]);
    p.next_temp = 1;
    if fold {
        p.buffers[BufId(1)].fold = vec![None, Some(3)];
    }
    let var = |i| loop_var(LoopId(i));
    let (min_x, extent_x) = (dim(2, 0, DimField::Min), dim(2, 0, DimField::Extent));
    let (min_y, extent_y) = (dim(2, 1, DimField::Min), dim(2, 1, DimField::Extent));
    let reads = |f: &dyn Fn(i64) -> Expr| third([f(0), f(1), f(2)]);
    let value = reads(&|k| read(BufId(0), U16, vec![offset(var(2), k), var(1)]));
    let provide_x =
        Stmt::Provide { func: FuncId(0), args: vec![var(2), var(1)], values: vec![(BufId(1), value)], mask: None };
    let point = block([provide_x, Stmt::Count { counter: 0, amount: int(1) }]);
    let rows = for_loop(LoopId(2), ForKind::Serial, min_x.clone(), extent_x.clone(), point);
    let first = select(eq(var(0), min_y.clone()), var(0), offset(var(0), 2));
    let new_rows = for_loop(LoopId(1), ForKind::Serial, temp(0), sub(offset(var(0), 3), temp(0)), rows);
    let produce_x = Stmt::Produce { func: FuncId(0), body: Box::new(let_in(vec![(Sym::Temp(0), first)], new_rows)) };
    let value = reads(&|k| read(BufId(1), U16, vec![var(3), offset(var(0), k)]));
    let provide_y =
        Stmt::Provide { func: FuncId(1), args: vec![var(3), var(0)], values: vec![(BufId(2), value)], mask: None };
    let columns = for_loop(LoopId(3), ForKind::Vectorized, min_x.clone(), extent_x.clone(), provide_y);
    let produce_y = Stmt::Produce { func: FuncId(1), body: Box::new(columns) };
    let outer = for_loop(LoopId(0), ForKind::Serial, min_y.clone(), extent_y.clone(), block([produce_x, produce_y]));
    let bounds = vec![(min_x, extent_x), (min_y, offset(extent_y, 2))];
    let realize = Stmt::Realize { func: FuncId(0), bounds, when: None, body: Box::new(outer) };
    p.body = block(checks().into_iter().chain([realize]));
    p
}

/// Blur at `Shaped`: each row of `blur_y` computes three rows of `blur_x` in vectors of 8, masked at the end of a row.
/// With `parallel`, rows run in parallel.
pub(crate) fn blur_shaped(parallel: bool) -> Program {
    let mut p = blur_tables(Stage::Shaped, &["blur_y.y", "blur_x.y", "blur_x.xo", "blur_y.xo"]);
    p.next_temp = 4;
    let kind = if parallel { ForKind::Parallel } else { ForKind::Serial };
    let body = for_loop(LoopId(0), kind, dim(2, 1, DimField::Min), dim(2, 1, DimField::Extent), row_of_blur());
    let vectors = div(offset(dim(2, 0, DimField::Extent), 7), int(8));
    p.body = block(checks().into_iter().chain([let_in(vec![(Sym::Temp(0), vectors)], body)]));
    p
}

/// Row `L0` of `blur_y` with its storage; `t0` is the number of vectors in a row.
fn row_of_blur() -> Stmt {
    let var = |i| loop_var(LoopId(i));
    let stride = |buf| Sym::Buffer { buf: BufId(buf), dim: 1, field: DimField::Stride };
    let lanes_of = |o: Expr| ramp(mul(o, int(8)), int(1), 8);
    let mask_of = |o: Expr| lt(lanes_of(o), broadcast(dim(2, 0, DimField::Extent), 8));
    // Element of `input` at (min of the output + lanes, row).
    let at_input = |row: Expr| {
        let x = sub(dim(2, 0, DimField::Min), dim(0, 0, DimField::Min));
        add(x, mul(sub(row, dim(0, 1, DimField::Min)), sym(stride(0))))
    };
    let row = add(var(0), var(1));
    let tap = |k| {
        let index = add(lanes_of(var(2)), broadcast(offset(temp(1), k), 8));
        load(BufId(0), U16, index, Some(mask_of(var(2))))
    };
    let store_x = Stmt::Store {
        buf: BufId(1),
        index: add(lanes_of(var(2)), broadcast(mul(var(1), sym(stride(1))), 8)),
        value: third([tap(0), tap(1), tap(2)]),
        mask: None,
    };
    let count = Stmt::Count { counter: 0, amount: int(8) };
    let vectors_x = for_loop(LoopId(2), ForKind::Serial, int(0), temp(0), block([store_x, count]));
    let rows_x =
        for_loop(LoopId(1), ForKind::Serial, int(0), int(3), let_in(vec![(Sym::Temp(1), at_input(row))], vectors_x));
    let tap = |k: i64| {
        let base = mul(int(k), sym(stride(1)));
        load(BufId(1), U16, add(lanes_of(var(3)), broadcast(base, 8)), None)
    };
    let start = mul(sub(var(0), dim(2, 1, DimField::Min)), sym(stride(2)));
    let store_y = Stmt::Store {
        buf: BufId(2),
        index: add(lanes_of(var(3)), broadcast(temp(2), 8)),
        value: third([tap(0), tap(1), tap(2)]),
        mask: Some(mask_of(var(3))),
    };
    let vectors_y = for_loop(LoopId(3), ForKind::Serial, int(0), temp(0), store_y);
    let vectors_y = let_in(vec![(Sym::Temp(2), start)], vectors_y);
    let produce = |func, body| Stmt::Produce { func: FuncId(func), body: Box::new(body) };
    let count = mul(int(3), sym(stride(1)));
    let body = Box::new(block([produce(0, rows_x), produce(1, vectors_y)]));
    let alloc = Stmt::Alloc { buf: BufId(1), count, constant: None, body };
    let_in(vec![(stride(1), mul(temp(0), int(8)))], alloc)
}

/// [`blur_shaped`] at `Final`: a task per row.
pub(crate) fn blur_final() -> Program {
    let mut p = blur_shaped(true);
    p.stage = Stage::Final;
    let captures = vec![(Sym::Temp(0), Type::INDEX)];
    let task = p.tasks.push(Task { id: LoopId(0), captures, buffers: vec![], body: row_of_blur() });
    let launch = Stmt::Launch { task, min: dim(2, 1, DimField::Min), extent: dim(2, 1, DimField::Extent) };
    let vectors = div(offset(dim(2, 0, DimField::Extent), 7), int(8));
    p.body = block(checks().into_iter().chain([let_in(vec![(Sym::Temp(0), vectors)], launch)]));
    p
}

/// A program with one output of u16 (b0 of f0, in one dimension), one internal buffer (b1 of f1, one dimension), and
/// the given body; loops are named `l0` to `l9`, temps go to 19, one counter, parameter p0 is an i32.
pub(crate) fn small(stage: Stage, body: Stmt) -> Program {
    let mut p = blur_tables(stage, &["l0", "l1", "l2", "l3", "l4", "l5", "l6", "l7", "l8", "l9"]);
    p.buffers = [BufferRole::Output(0), BufferRole::Internal]
        .into_iter()
        .zip(["out", "tmp"])
        .map(|(role, name)| BufferInfo {
            name: name.to_string(),
            elem: U16,
            dims: 1,
            role,
            order: vec![0],
            align: vec![1],
            fold: vec![None],
            unit_stride: None,
            memory: Memory::Auto,
            keeps: false,
            stream: Stream::Never,
            side: Side::Host,
        })
        .collect();
    p.image_buffers = IdVec::new();
    p.func_buffers = [vec![BufId(0)], vec![BufId(1)]].into_iter().collect();
    p.faults = [Fault::Promise { what: "a promise".to_string() }, Fault::NotThisVariant].into_iter().collect();
    p.params = [("limit".to_string(), ScalarType::I32)].into_iter().collect();
    p.next_temp = 20;
    p.body = body;
    p
}
