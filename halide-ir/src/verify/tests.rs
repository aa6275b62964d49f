use super::*;
use crate::build::*;
use crate::samples::*;
use crate::{BufferInfo, DimField, Edge, Expr, ExprKind, Fault, Scope};
use halide_core::ids::{ImageId, ParamId};
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;

#[track_caller]
fn passes(p: &Program) {
    if let Err(errors) = verify(p) {
        panic!("{p}\n{errors:#?}");
    }
}

/// Some error of the program contains `part`.
#[track_caller]
fn fails(p: &Program, part: &str) {
    match verify(p) {
        Ok(()) => panic!("passes:\n{p}"),
        Err(errors) => {
            let texts: Vec<String> = errors.iter().map(VerifyError::to_string).collect();
            assert!(texts.iter().any(|t| t.contains(part)), "no `{part}` in {texts:#?}");
        }
    }
}

fn l(i: u32) -> Expr {
    loop_var(LoopId(i))
}

fn u16c(v: i128) -> Expr {
    constant(Scalar::int(U16, v))
}

fn provide(func: u32, arg: Expr, value: Expr) -> Stmt {
    Stmt::Provide { func: FuncId(func), args: vec![arg], values: vec![(BufId(func), value)], mask: None }
}

fn store(buf: u32, index: Expr, value: Expr) -> Stmt {
    Stmt::Store { buf: BufId(buf), index, value, mask: None }
}

fn alloc(count: Expr, body: Stmt) -> Stmt {
    Stmt::Alloc { buf: BufId(1), count, constant: None, body: Box::new(body) }
}

fn realize(body: Stmt) -> Stmt {
    Stmt::Realize { func: FuncId(1), bounds: vec![(int(0), int(4))], when: None, body: Box::new(body) }
}

fn for_in(id: u32, kind: ForKind, body: Stmt) -> Stmt {
    for_loop(LoopId(id), kind, int(0), int(4), body)
}

/// A node that no smart constructor would make.
fn forged(kind: ExprKind, ty: Type) -> Expr {
    Expr::raw(kind, ty)
}

fn temp_of(n: u32, ty: ScalarType) -> Expr {
    typed_sym(Sym::Temp(n), Type::data(ty))
}

#[test]
fn conditions_are_of_serial_loops_and_see_no_iteration() {
    let of = |stage, kind, condition: Expr| {
        let (min, extent, body) = (int(0), int(4), store(0, int(0), u16c(1)));
        let l = crate::For { id: LoopId(0), kind, min, extent, condition: Some(condition), body };
        small(stage, Stmt::For(Box::new(l)))
    };
    let unset = || eq(load(BufId(0), U16, int(0), None), u16c(9));
    passes(&of(Stage::Shaped, ForKind::Serial, unset()));
    fails(&of(Stage::Flat, ForKind::Serial, unset()), "has a condition at Flat");
    fails(&of(Stage::Shaped, ForKind::Parallel, unset()), "is Parallel and has a condition");
    fails(&of(Stage::Shaped, ForKind::Serial, int(1)), "the condition of a loop is int");
    fails(&of(Stage::Shaped, ForKind::Serial, lt(l(0), int(3))), "an unbound symbol: l0#L0");
}

#[test]
fn good_programs_pass() {
    for p in [blur_bounded(false), blur_bounded(true), blur_shaped(false), blur_shaped(true), blur_final()] {
        passes(&p);
    }
    let mut nest = blur_bounded(false);
    nest.stage = Stage::Nest;
    passes(&nest);
}

#[test]
fn tables_are_consistent() {
    let broken = |f: &dyn Fn(&mut BufferInfo)| {
        let mut p = blur_bounded(false);
        f(&mut p.buffers[BufId(1)]);
        p
    };
    let output = blur_bounded(false).buffers[BufId(2)].name.clone();
    fails(&broken(&|b| b.name = output.clone()), &format!("two buffers are named `{output}`"));
    passes(&broken(&|b| b.name = "input".into()));
    fails(&broken(&|b| b.order = vec![1, 1]), "blur_x#b1 has an order");
    fails(&broken(&|b| b.align = vec![0, 1]), "bad alignments");
    fails(&broken(&|b| b.fold = vec![None]), "bad folds");
    fails(&broken(&|b| b.unit_stride = Some(2)), "unit stride");
    fails(&broken(&|b| b.role = BufferRole::Output(0)), "of another buffer");
    let mut p = blur_bounded(true);
    p.buffers[BufId(2)].fold = vec![Some(2), None];
    fails(&p, "a fold but is the caller's");
    let mut p = blur_bounded(true);
    p.image_buffers[ImageId(0)] = BufId(1);
    fails(&p, "i0 is in b1");
    let mut p = blur_bounded(true);
    p.func_buffers[FuncId(0)] = vec![BufId(9)];
    fails(&p, "b9 of f0 is not in the table");
    let mut p = blur_bounded(true);
    p.faults.push(Fault::Stride { buf: BufId(0), dim: 2 });
    fails(&p, "fault2 speaks of dimension 2 of b0");
}

#[test]
fn types_are_checked_again() {
    let index = Type::INDEX;
    let (a, b) = (u16c(1), constant(Scalar::int(U8, 1)));
    let cases = [
        (forged(ExprKind::Binary(BinOp::Add, a.clone(), b.clone()), Type::data(U16)), "Add of u16 and u8"),
        (forged(ExprKind::Binary(BinOp::Shl, a.clone(), b.clone()), Type::data(U16)), "Shl of u16 and u8"),
        (forged(ExprKind::Binary(BinOp::BitAnd, int(1), int(2)), index), "BitAnd of int and int"),
        (forged(ExprKind::Binary(BinOp::Lt, a.clone(), a.clone()), Type::data(U16)), "u16 where bool is right"),
        (forged(ExprKind::Unary(UnOp::Sqrt, a.clone()), Type::data(U16)), "Sqrt of u16"),
        (forged(ExprKind::Unary(UnOp::Abs, int(1)), index), "Abs of int"),
        (forged(ExprKind::Select(a.clone(), a.clone(), a.clone()), Type::data(U16)), "select of u16, u16 and u16"),
        (forged(ExprKind::Cast(cast_data(F32, l(0))), index), "a cast of f32 to int"),
        (forged(ExprKind::Reinterpret(a.clone()), Type::data(F32)), "u16 reinterpreted as f32"),
        (forged(ExprKind::SaturatingCast(int(1)), Type::data(U8)), "a saturating cast of int to u8"),
        (
            forged(ExprKind::Math(halide_core::ops::MathFn::Exp, [a.clone()].into()), Type::data(U16)),
            "function of floats",
        ),
        (forged(ExprKind::Math(halide_core::ops::MathFn::Pow, [a.clone()].into()), Type::data(U16)), "1 operands"),
        (
            forged(ExprKind::Intrinsic(super::super::Intrinsic::MulHigh, [a.clone(), b].into()), Type::data(U16)),
            "u16 and u8",
        ),
        (forged(ExprKind::Shuffle([].into(), [].into()), Type::data(U16)), "a shuffle of nothing"),
        (forged(ExprKind::Shuffle([a.clone()].into(), [1].into()), Type::data(U16)), "lane 1 of a shuffle of 1 lanes"),
        (forged(ExprKind::Ramp { base: a, stride: int(1) }, index.with_lanes(4)), "a ramp of u16 by int"),
        (forged(ExprKind::Int(1), Type::data(U16)), "u16 where int is right"),
    ];
    for (e, part) in cases {
        let value = Stmt::Let { bindings: vec![(Sym::Temp(0), e)], body: Box::new(store(0, int(0), u16c(1))) };
        fails(&small(Stage::Shaped, for_in(0, ForKind::Serial, value)), part);
    }
}

#[test]
fn statements_take_the_right_types() {
    let shaped = |s| small(Stage::Shaped, s);
    let vector = ramp(int(0), int(1), 4);
    let yes = lt(vector.clone(), broadcast(int(2), 4));
    let then = Box::new(store(0, int(0), u16c(1)));
    let if_of = |cond: Expr| Stmt::If { cond, then: then.clone(), otherwise: Box::new(nothing()) };
    fails(&shaped(if_of(yes.clone())), "a condition is boolx4 instead of bool");
    fails(&shaped(if_of(int(1))), "a condition is int");
    let loop_of = |min, extent| for_loop(LoopId(0), ForKind::Serial, min, extent, store(0, int(0), u16c(1)));
    fails(&shaped(loop_of(vector.clone(), int(1))), "the min of a loop is intx4");
    fails(&shaped(loop_of(int(0), u16c(3))), "the extent of a loop is u16");
    fails(&shaped(store(0, vector.clone(), u16c(1))), "a stored value is u16 instead of u16x4");
    fails(&shaped(store(0, int(0), constant(Scalar::int(U8, 1)))), "a stored value is u8 instead of u16");
    let masked = |mask| Stmt::Store { buf: BufId(0), index: int(0), value: u16c(1), mask: Some(mask) };
    fails(&shaped(masked(yes)), "a mask is boolx4 instead of bool");
    let bindings = vec![(Sym::Temp(0), int(3))];
    passes(&shaped(Stmt::Let { bindings, body: Box::new(masked(eq(temp(0), int(1)))) }));
    fails(&shaped(alloc(u16c(1), nothing())), "the size of an allocation is u16");
    let bounded = Stmt::Alloc { buf: BufId(1), count: int(9), constant: Some(8), body: Box::new(nothing()) };
    fails(&shaped(bounded), "tmp#b1 has 9 elements, bounded by Some(8)");
    fails(&shaped(alloc(int(-1), nothing())), "has -1 elements");
    fails(&shaped(Stmt::Count { counter: 1, amount: int(1) }), "counter 1 is not in the table");
    fails(&shaped(Stmt::Count { counter: 0, amount: u16c(1) }), "the amount of a count is u16");
    let assert = |cond, fault, args| Stmt::Assert { cond, fault: FaultId(fault), args };
    fails(&shaped(assert(int(1), 0, vec![])), "an asserted condition is int");
    fails(&shaped(assert(boolean(true), 7, vec![])), "fault7 is not in the table");
    fails(&shaped(assert(boolean(true), 1, vec![int(1)])), "fault1 takes 0 arguments and gets 1");
    fails(&shaped(assert(boolean(true), 0, vec![u16c(1)])), "an argument of a fault is u16");
    fails(&shaped(Stmt::Block(vec![nothing(), nothing()])), "a block directly in a block");
    let index_let = Stmt::Let { bindings: vec![(bound_sym(), u16c(1))], body: Box::new(store(0, int(0), u16c(1))) };
    fails(&shaped(index_let), "is bound to u16");
}

fn bound_sym() -> Sym {
    Sym::Bound { func: FuncId(1), stage: 0, dim: 0, edge: Edge::Min, at: Scope::Root }
}

#[test]
fn symbols_are_bound() {
    let put = |e: Expr| provide(0, e, u16c(1));
    fails(&small(Stage::Bounded, put(temp(3))), "an unbound symbol: t3");
    fails(&small(Stage::Bounded, put(l(0))), "an unbound symbol: l0#L0");
    fails(&small(Stage::Nest, put(l(0))), "an unbound symbol: l0#L0");
    let b = sym(bound_sym());
    passes(&small(Stage::Nest, put(b.clone())));
    fails(&small(Stage::Bounded, put(b.clone())), "an unbound symbol: tmp#f1.s0.d0.min@root");
    passes(&small(Stage::Bounded, Stmt::Let { bindings: vec![(bound_sym(), int(1))], body: Box::new(put(b)) }));
    let extent = |buf| Sym::Buffer { buf: BufId(buf), dim: 0, field: DimField::Extent };
    passes(&small(Stage::Bounded, put(sym(extent(0)))));
    fails(&small(Stage::Bounded, put(sym(extent(1)))), "an unbound symbol: tmp#b1.extent0");
    fails(&small(Stage::Bounded, put(sym(extent(9)))), "b9.extent0 is not in the tables");
    let rebind = Stmt::Let { bindings: vec![(extent(0), int(1))], body: Box::new(put(int(0))) };
    fails(&small(Stage::Bounded, rebind), "belongs to the caller and is bound");
    let wrong = typed_sym(Sym::Temp(0), Type::data(U16));
    let typed = Stmt::Let { bindings: vec![(Sym::Temp(0), int(1))], body: Box::new(provide(0, int(0), wrong)) };
    fails(&small(Stage::Bounded, typed), "u16 that is bound to int");
    fails(&small(Stage::Bounded, put(to_index(param(ParamId(1), I32)))), "a parameter that the table does not have");
    fails(&small(Stage::Bounded, put(to_index(param(ParamId(0), I16)))), "a parameter that the table does not have");
    passes(&small(Stage::Bounded, put(to_index(param(ParamId(0), I32)))));
    fails(&small(Stage::Bounded, put(temp(99))), "t99 is not in the tables");
    // The scope of a symbol ends with its statement, also for a node that was found good inside.
    let e = offset(l(0), 1);
    let after = block([for_in(0, ForKind::Serial, put(e.clone())), put(e)]);
    fails(&small(Stage::Bounded, after), "an unbound symbol: l0#L0");
}

#[test]
fn symbols_are_bound_once_from_flat_on() {
    let two = |stage| {
        let one = |v| Stmt::Let { bindings: vec![(Sym::Temp(0), int(v))], body: Box::new(store(0, temp(0), u16c(1))) };
        small(stage, block([one(1), one(2)]))
    };
    fails(&two(Stage::Flat), "t0 is bound twice");
    let mut twice = blur_bounded(false);
    twice.body = block([twice.body.clone(), twice.body]);
    fails(&twice, "two loops are blur_y.y#L0");
    let shadow = Stmt::Let {
        bindings: vec![(Sym::Temp(0), int(1)), (Sym::Temp(0), offset(temp(0), 1))],
        body: Box::new(provide(0, temp(0), u16c(1))),
    };
    passes(&small(Stage::Bounded, shadow));
}

#[test]
fn stages_have_their_nodes() {
    let read1 = read(BufId(1), U16, vec![int(0)]);
    let load1 = load(BufId(1), U16, int(0), None);
    fails(&small(Stage::Flat, provide(0, int(0), u16c(1))), "a Provide at Flat");
    fails(&small(Stage::Flat, realize(store(0, int(0), u16c(1)))), "a Realize at Flat");
    fails(&small(Stage::Flat, store(0, int(0), read1)), "a Read at Flat");
    fails(&small(Stage::Bounded, provide(0, int(0), load1)), "Load at Bounded");
    fails(&small(Stage::Bounded, store(0, int(0), u16c(1))), "Store at Bounded");
    fails(&small(Stage::Bounded, alloc(int(1), provide(0, int(0), u16c(1)))), "Alloc at Bounded");
    let lanes = ramp(int(0), int(1), 4);
    fails(&small(Stage::Flat, store(0, lanes.clone(), broadcast(u16c(1), 4))), "4 lanes at Flat");
    passes(&small(Stage::Shaped, store(0, lanes, broadcast(u16c(1), 4))));
    for (kind, stage) in
        [(ForKind::Vectorized, Stage::Shaped), (ForKind::Unrolled, Stage::Shaped), (ForKind::Parallel, Stage::Final)]
    {
        fails(&small(stage, for_in(0, kind, store(0, l(0), u16c(1)))), &format!("l0#L0 is {kind:?} at {stage:?}"));
    }
    passes(&small(Stage::Shaped, for_in(0, ForKind::Parallel, store(0, l(0), u16c(1)))));
    passes(&small(Stage::Flat, for_in(0, ForKind::Vectorized, store(0, l(0), u16c(1)))));
}

#[test]
fn buffers_are_allocated_around_their_uses() {
    let load1 = load(BufId(1), U16, int(0), None);
    let read1 = read(BufId(1), U16, vec![int(0)]);
    fails(&small(Stage::Flat, store(0, int(0), load1.clone())), "tmp#b1 is used outside its allocation");
    fails(&small(Stage::Bounded, provide(1, int(0), u16c(1))), "tmp#b1 is used outside its allocation");
    passes(&small(Stage::Bounded, realize(block([provide(1, int(0), u16c(1)), provide(0, int(0), read1)]))));
    let inside = alloc(int(4), store(0, int(0), load1.clone()));
    passes(&small(Stage::Flat, block([inside.clone(), inside.clone()])));
    fails(&small(Stage::Flat, block([inside.clone(), store(0, int(0), load1)])), "outside its allocation");
    fails(&small(Stage::Flat, alloc(int(4), inside)), "allocated inside its own allocation");
    let own = Stmt::Alloc { buf: BufId(0), count: int(1), constant: None, body: Box::new(store(0, int(0), u16c(1))) };
    fails(&small(Stage::Flat, own), "out#b0 is the caller's and is allocated");
    let mut p = blur_shaped(false);
    p.body = store(0, int(0), u16c(1));
    fails(&p, "input#b0 is an input and is written");
    fails(&small(Stage::Flat, store(7, int(0), u16c(1))), "b7 is not in the table");
    fails(&small(Stage::Flat, store(0, int(0), load(BufId(0), U8, int(0), None))), "u8 from a buffer of another type");
}

#[test]
fn nothing_uses_what_was_freed() {
    let copy = || store(0, int(0), load(BufId(1), U16, int(0), None));
    let free = || Stmt::Free { buf: BufId(1) };
    let around = |list: Vec<Stmt>| small(Stage::Shaped, alloc(int(4), block(list)));
    passes(&around(vec![copy(), free(), store(0, int(1), u16c(1))]));
    let shared = copy();
    fails(&around(vec![shared.clone(), free(), shared]), "tmp#b1 is used outside its allocation");
    fails(&around(vec![free(), free()]), "tmp#b1 is used outside its allocation");
    let in_loop = for_in(0, ForKind::Serial, block([copy(), free()]));
    fails(&around(vec![in_loop]), "tmp#b1 is freed where it is not allocated");
    let branch = Stmt::If { cond: boolean(true), then: Box::new(free()), otherwise: Box::new(nothing()) };
    fails(&around(vec![branch]), "tmp#b1 is freed where it is not allocated");
    fails(&small(Stage::Flat, alloc(int(4), block([copy(), free()]))), "a Free at Flat");
}

#[test]
fn prefetches_name_places() {
    let ask = |buf, at: Vec<Expr>| Stmt::Prefetch { buf: BufId(buf), at, cache: crate::Cache::First };
    passes(&small(Stage::Bounded, ask(0, vec![int(1 << 40)])));
    passes(&small(Stage::Flat, alloc(int(4), ask(1, vec![int(-1)]))));
    fails(&small(Stage::Flat, ask(0, vec![int(0), int(0)])), "a prefetch of out#b0 at 2 places");
    fails(&small(Stage::Bounded, ask(0, vec![])), "a prefetch of out#b0 at 0 places");
    fails(&small(Stage::Flat, ask(0, vec![u16c(0)])), "a place to prefetch is u16");
    fails(&small(Stage::Flat, ask(1, vec![int(0)])), "tmp#b1 is used outside its allocation");
    fails(&small(Stage::Flat, ask(7, vec![int(0)])), "b7 is not in the table");
}

#[test]
fn provides_and_realizations_fit_their_func() {
    let values = |list: &[(u32, i128)]| list.iter().map(|&(b, v)| (BufId(b), u16c(v))).collect::<Vec<_>>();
    let put = |args: Vec<Expr>, list: &[(u32, i128)]| {
        small(Stage::Bounded, realize(Stmt::Provide { func: FuncId(0), args, values: values(list), mask: None }))
    };
    passes(&put(vec![int(0)], &[(0, 1)]));
    fails(&put(vec![int(0)], &[(1, 1)]), "tmp#b1 is not a buffer of out#f0");
    fails(&put(vec![int(0)], &[(0, 1), (0, 2)]), "out#b0 is stored twice at once");
    fails(&put(vec![int(0), int(1)], &[(0, 1)]), "out#b0 is stored at 2 coordinates");
    fails(&put(vec![u16c(0)], &[(0, 1)]), "a coordinate is u16");
    fails(&small(Stage::Bounded, provide(0, int(0), read(BufId(0), U16, vec![]))), "0 coordinates");
    let flat =
        Stmt::Realize { func: FuncId(1), bounds: vec![], when: None, body: Box::new(provide(0, int(0), u16c(1))) };
    fails(&small(Stage::Bounded, flat), "tmp#b1 is realized in 0 dimensions");
    let out = Stmt::Realize { func: FuncId(0), bounds: vec![(int(0), int(1))], when: None, body: Box::new(nothing()) };
    fails(&small(Stage::Bounded, out), "out#b0 is the caller's");
    let produce = Stmt::Produce { func: FuncId(9), body: Box::new(provide(0, int(0), u16c(1))) };
    fails(&small(Stage::Bounded, produce), "f9 is not in the table");
}

#[test]
fn tasks_capture_what_they_use() {
    let mut p = blur_final();
    p.tasks[TaskId(0)].captures.clear();
    fails(&p, "task0: an unbound symbol: t0");
    let mut p = blur_final();
    p.tasks[TaskId(0)].captures.push((Sym::Temp(3), Type::INDEX));
    fails(&p, "task0 captures t3 of int, which is not bound at its launch");
    let mut p = blur_final();
    p.tasks[TaskId(0)].captures[0].1 = Type::data(F32);
    fails(&p, "task0 captures t0 of f32, which is int at its launch");
    let mut p = blur_final();
    p.tasks[TaskId(0)].captures.push((Sym::Temp(0), Type::INDEX));
    fails(&p, "captures t0 twice");
    let mut p = blur_final();
    p.tasks[TaskId(0)].buffers.push(BufId(1));
    fails(&p, "blur_x#b1 is used outside its allocation");
    let mut p = blur_final();
    p.stage = Stage::Shaped;
    fails(&p, "task0 at Shaped");
    fails(&p, "a Launch at Shaped");
    let mut p = blur_final();
    let again = Stmt::Launch { task: TaskId(0), min: int(0), extent: int(1) };
    let body = std::mem::replace(&mut p.tasks[TaskId(0)].body, nothing());
    p.tasks[TaskId(0)].body = block([body, again]);
    fails(&p, "task0 launches itself");
    let mut p = blur_final();
    p.body = Stmt::Launch { task: TaskId(4), min: int(0), extent: int(1) };
    fails(&p, "task4 is not in the table");
}

#[test]
fn errors_name_their_place() {
    let inner = Stmt::Produce { func: FuncId(1), body: Box::new(provide(0, temp_of(5, I32), u16c(1))) };
    let p = small(Stage::Bounded, for_in(2, ForKind::Serial, inner));
    fails(&p, "l2#L2 > tmp#f1: ");
}

#[test]
fn shared_expressions_cost_once() {
    // 60 doublings: a walk of the tree would never end.
    let mut e = l(0);
    for _ in 0..60 {
        e = add(e.clone(), e);
    }
    let body: Vec<Stmt> =
        (1..10).map(|i| for_in(i, ForKind::Serial, provide(0, add(e.clone(), l(i)), u16c(1)))).collect();
    passes(&small(Stage::Bounded, for_in(0, ForKind::Serial, block(body))));
    let wide = block((0..20_000).map(|_| provide(0, e.clone(), u16c(1))));
    passes(&small(Stage::Bounded, for_in(0, ForKind::Serial, wide)));
}
