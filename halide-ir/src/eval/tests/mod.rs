use super::*;
use crate::build::*;
use crate::samples::*;
use crate::*;
use halide_core::buffer::Region;
use halide_core::ids::{FuncId, ParamId};
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType::{self, *};

mod calls;
mod conditions;
mod order;

fn buffer(spans: &[(i64, i64)], f: impl Fn(i64, i64) -> i64) -> AnyBuffer {
    let mut b = AnyBuffer::with_region(U16, &Region::of_spans(spans)).unwrap();
    for at in b.coords() {
        let y = at.get(1).copied().unwrap_or(0);
        b.set(&at, Scalar::int(U16, f(at[0] as i64, y as i64) as i128)).unwrap();
    }
    b
}

/// A well mixed value per point.
fn noise(x: i64, y: i64) -> i64 {
    (x.wrapping_mul(7919) ^ y.wrapping_mul(104_729)).wrapping_mul(31) & 0xffff
}

fn blur_x(x: i64, y: i64) -> i64 {
    ((noise(x, y) + noise(x + 1, y) + noise(x + 2, y)) & 0xffff) / 3
}

fn blur_y(x: i64, y: i64) -> i64 {
    ((blur_x(x, y) + blur_x(x, y + 1) + blur_x(x, y + 2)) & 0xffff) / 3
}

/// Runs a blur over an output region with just the input that it needs.
fn run_blur(p: &Program, spans: [(i64, i64); 2]) -> Result<EvalStats, EvalError> {
    let input = buffer(&spans.map(|(min, extent)| (min, extent + 2)), noise);
    let mut outputs = [buffer(&spans, |_, _| 9)];
    let stats = run(p, &[], &[input], &mut outputs)?;
    assert_eq!(outputs[0], buffer(&spans, blur_y));
    Ok(stats)
}

#[test]
fn blur_at_every_stage() {
    let programs = [blur_bounded(false), blur_bounded(true), blur_shaped(false), blur_shaped(true), blur_final()];
    for (i, p) in programs.iter().enumerate() {
        for spans in [[(0, 1), (0, 1)], [(-3, 7), (5, 4)], [(2, 17), (-9, 3)], [(0, 8), (0, 2)]] {
            let stats = run_blur(p, spans).unwrap_or_else(|e| panic!("program {i}, {spans:?}: {e}"));
            let points = (spans[0].1 * spans[1].1) as u64;
            assert_eq!(stats.buffers[BufId(2)], BufferStats { stores: points, ..BufferStats::default() });
        }
    }
}

#[test]
fn counts_of_a_sliding_window() {
    let stats = run_blur(&blur_bounded(true), [(0, 10), (0, 20)]).unwrap();
    let expected = BufferStats { stores: 10 * 22, allocations: 1, peak_elements: 30, unwritten: 0 };
    assert_eq!(stats.buffers[BufId(1)], expected);
    assert_eq!((stats.counters, stats.peak_bytes), (vec![220], 60));
    let stats = run_blur(&blur_final(), [(0, 10), (0, 20)]).unwrap();
    assert_eq!((stats.buffers[BufId(1)].allocations, stats.buffers[BufId(1)].peak_elements), (20, 48));
}

#[test]
fn empty_outputs_do_nothing() {
    let stats = run_blur(&blur_bounded(true), [(0, 0), (0, 3)]).unwrap();
    assert_eq!(stats.buffers[BufId(2)].stores, 0);
}

#[test]
fn a_fold_that_is_too_small_is_found() {
    let mut p = blur_bounded(true);
    p.buffers[BufId(1)].fold = vec![None, Some(2)];
    let e = run_blur(&p, [(0, 4), (0, 4)]).unwrap_err();
    assert_eq!(e.check(), Some(Check::Uninitialised));
    assert!(e.to_string().contains("`blur_x`(0, 0), whose place in the fold holds [2]"), "{e}");
}

#[test]
fn a_failed_assert_is_a_fault_and_writes_nothing() {
    let p = blur_bounded(false);
    let input = buffer(&[(0, 5), (0, 6)], noise);
    let mut outputs = [buffer(&[(0, 4), (0, 4)], |_, _| 9)];
    let e = run(&p, &[], &[input], &mut outputs).unwrap_err();
    assert_eq!(e, EvalError::Fault { fault: FaultId(0), args: vec![0, 5, 0, 4], garbage: false });
    assert!(
        e.message(&p).starts_with("input `input` is too small in dimension 0: 0 to 5 is read"),
        "{}",
        e.message(&p)
    );
    assert_eq!(outputs[0], buffer(&[(0, 4), (0, 4)], |_, _| 9));
}

#[test]
fn arguments_must_fit_the_tables() {
    let p = blur_bounded(false);
    let good = buffer(&[(0, 6), (0, 6)], noise);
    let mut out = [buffer(&[(0, 4), (0, 4)], |_, _| 0)];
    let mut fails = |params: &[Scalar], images: &[AnyBuffer], part: &str| {
        let e = run(&p, params, images, &mut out).unwrap_err();
        assert!(matches!(&e, EvalError::Arguments(m) if m.contains(part)), "{e}");
    };
    fails(&[], &[], "no buffer is given for input `input`");
    fails(&[], &[buffer(&[(0, 6)], noise)], "is u16 in 2 dimensions, and u16 in 1");
    fails(&[], &[AnyBuffer::new(U8, [6, 6]).unwrap()], "and u8 in 2");
    fails(&[Scalar::int(I32, 1)], &[good], "parameters of types [I32] for []");
    let mut nest = blur_bounded(false);
    nest.stage = Stage::Nest;
    assert!(matches!(run(&nest, &[], &[], &mut []), Err(EvalError::Arguments(_))));
}

/// A requirement of an element that nobody wrote fails by garbage only, whatever is in memory; one of an element that
/// was written fails by its value; any other assertion of garbage is a mistake of the program.
#[test]
fn a_requirement_of_an_element_that_was_never_written_fails_by_garbage() {
    let run_checked = |fault: Fault, written: i64| {
        let is_small = le(get(int(3)), u16c(7));
        let check = Stmt::Assert { cond: is_small, fault: FaultId(0), args: vec![] };
        let body = realize(2, 3, vec![put(1, int(written), u16c(9)), check, put(0, int(0), u16c(1))]);
        let mut p = small(Stage::Bounded, body);
        p.faults = [fault].into_iter().collect();
        let mut outputs = [buffer(&[(0, 8)], |_, _| 9)];
        run(&p, &[Scalar::int(I32, 5)], &[], &mut outputs).unwrap_err()
    };
    let require = || Fault::Require { what: "small".into() };
    let fault = |garbage| EvalError::Fault { fault: FaultId(0), args: vec![], garbage };
    assert_eq!(run_checked(require(), 2), fault(true));
    assert_eq!(run_checked(require(), 3), fault(false));
    assert_eq!(run_checked(Fault::NotThisVariant, 2).check(), Some(Check::Uninitialised));
    assert_eq!(run_checked(Fault::NotThisVariant, 3), fault(false));
}

fn l(i: u32) -> Expr {
    loop_var(LoopId(i))
}

fn u16c(v: i64) -> Expr {
    constant(Scalar::int(U16, v as i128))
}

fn put(func: u32, at: Expr, value: Expr) -> Stmt {
    Stmt::Provide { func: FuncId(func), args: vec![at], values: vec![(BufId(func), value)], mask: None }
}

fn store(buf: u32, index: Expr, value: Expr) -> Stmt {
    Stmt::Store { buf: BufId(buf), index, value, mask: None }
}

fn masked_store(buf: u32, index: Expr, value: Expr, mask: Expr) -> Stmt {
    Stmt::Store { buf: BufId(buf), index, value, mask: Some(mask) }
}

fn get(at: Expr) -> Expr {
    read(BufId(1), U16, vec![at])
}

fn realize(min: i64, extent: i64, body: Vec<Stmt>) -> Stmt {
    let bounds = vec![(int(min), int(extent))];
    Stmt::Realize { func: FuncId(1), bounds, when: None, body: Box::new(block(body)) }
}

fn alloc(count: i64, body: Vec<Stmt>) -> Stmt {
    Stmt::Alloc { buf: BufId(1), count: int(count), constant: Some(8), body: Box::new(block(body)) }
}

fn for_in(id: u32, kind: ForKind, extent: i64, body: Stmt) -> Stmt {
    for_loop(LoopId(id), kind, int(0), int(extent), body)
}

/// Runs a body over an output of 8 elements from 0 with parameter p0 = 5; the output after.
fn run_small(stage: Stage, body: Stmt) -> Result<Vec<i64>, EvalError> {
    let p = small(stage, body);
    crate::verify::verify(&p).unwrap_or_else(|e| panic!("{p}\n{e:#?}"));
    let mut outputs = [buffer(&[(0, 8)], |_, _| 9)];
    let result = run(&p, &[Scalar::int(I32, 5)], &[], &mut outputs);
    let values: Vec<i64> = outputs[0].coords().map(|at| outputs[0].get(at).unwrap().as_i64()).collect();
    if result.is_err() {
        assert_eq!(values, [9; 8], "a failed run writes nothing");
    }
    result.map(|_| values)
}

/// The run fails by `check` with a text that contains `part`.
#[track_caller]
fn fails(stage: Stage, body: Stmt, check: Check, part: &str) {
    let e = run_small(stage, body).unwrap_err();
    assert_eq!(e.check(), Some(check), "{e}");
    assert!(e.to_string().contains(part), "{e}");
}

/// The first element of the output after storing `value` there.
#[track_caller]
fn value_is(value: Expr, expected: i64) {
    let text = value.to_string();
    let got =
        run_small(Stage::Bounded, put(0, int(0), cast_data(U16, value))).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(got[0], expected & 0xffff, "{text}");
}

#[test]
fn accesses_stay_inside() {
    use Check::*;
    fails(
        Stage::Bounded,
        put(0, int(8), u16c(1)),
        WriteOutside,
        "`out`(8) is outside in dimension 0, which has 0 to 7",
    );
    fails(Stage::Bounded, put(0, int(-1), u16c(1)), WriteOutside, "`out`(-1)");
    fails(Stage::Bounded, put(0, int(i64::MIN), u16c(1)), WriteOutside, "outside");
    fails(Stage::Flat, store(0, int(8), u16c(1)), WriteOutside, "`out`[8] is outside [0] to [7]");
    fails(Stage::Flat, store(0, int(-1), u16c(1)), WriteOutside, "`out`[-1]");
    let read_at = |at| realize(2, 3, vec![put(1, int(2), u16c(1)), put(0, int(0), get(int(at)))]);
    assert_eq!(run_small(Stage::Bounded, read_at(2)).unwrap()[0], 1);
    fails(Stage::Bounded, read_at(1), ReadOutside, "`tmp`(1) is outside in dimension 0, which has 2 to 4");
    fails(Stage::Bounded, read_at(5), ReadOutside, "`tmp`(5)");
    let load_at = |at| alloc(3, vec![store(1, int(0), u16c(1)), store(0, int(0), load(BufId(1), U16, int(at), None))]);
    fails(Stage::Flat, load_at(3), ReadOutside, "`tmp`[3] is outside [0] to [2]");
    fails(Stage::Flat, load_at(i64::MAX), ReadOutside, "outside");
    fails(Stage::Bounded, realize(0, -5, vec![put(1, int(0), u16c(1))]), WriteOutside, "which has nothing");
    let freed = Stmt::Free { buf: BufId(1) };
    let stores = || store(1, int(0), u16c(1));
    assert!(run_small(Stage::Shaped, alloc(3, vec![stores(), freed])).is_ok());
    // An arm that is not taken is evaluated too.
    let arm = select(lt(to_index(param(ParamId(0), I32)), int(6)), u16c(1), get(int(5)));
    fails(Stage::Bounded, realize(0, 3, vec![put(0, int(0), arm)]), ReadOutside, "`tmp`(5)");
}

#[test]
fn masked_lanes_touch_nothing() {
    let lanes = ramp(int(6), int(1), 4);
    let mask = lt(lanes.clone(), broadcast(int(8), 4));
    let value = add(load(BufId(0), U16, lanes.clone(), Some(mask.clone())), broadcast(u16c(1), 4));
    let fill = for_in(0, ForKind::Serial, 8, store(0, l(0), cast_data(U16, l(0))));
    let body = block([fill.clone(), masked_store(0, lanes.clone(), value.clone(), mask.clone())]);
    assert_eq!(run_small(Stage::Shaped, body).unwrap(), [0, 1, 2, 3, 4, 5, 7, 8]);
    // A masked-off lane is 0.
    let total = shuffle(vec![value], vec![3]);
    assert_eq!(run_small(Stage::Shaped, block([fill, store(0, int(0), total)])).unwrap()[0], 1);
    fails(Stage::Shaped, store(0, lanes.clone(), broadcast(u16c(1), 4)), Check::WriteOutside, "`out`[8]");
    fails(
        Stage::Shaped,
        store(0, int(0), shuffle(vec![load(BufId(0), U16, lanes, None)], vec![0])),
        Check::ReadOutside,
        "[8]",
    );
}

#[test]
fn holes_may_be_computed_with_but_not_observed() {
    let hole = || get(int(1));
    let with = |s: Stmt| realize(0, 8, vec![put(1, int(0), u16c(3)), s]);
    let unread = "`tmp`(1), which was never written";
    let observed = |s: Stmt, part: &str| fails(Stage::Bounded, with(s), Check::Uninitialised, part);
    observed(put(0, int(0), hole()), &format!("`out`(0) depends on {unread}"));
    observed(put(0, int(4), add(hole(), u16c(1))), "`out`(4) depends on");
    let one = put(0, int(0), u16c(1));
    let if_hole = Stmt::If { cond: eq(hole(), u16c(1)), then: Box::new(one.clone()), otherwise: Box::new(nothing()) };
    observed(if_hole, "a condition depends on");
    observed(put(0, to_index(hole()), u16c(1)), "a coordinate stored to depends on");
    observed(for_loop(LoopId(0), ForKind::Serial, to_index(hole()), int(1), one.clone()), "the min of a loop");
    observed(for_loop(LoopId(0), ForKind::Serial, int(0), to_index(hole()), one.clone()), "the extent of a loop");
    observed(Stmt::Count { counter: 0, amount: to_index(hole()) }, "the amount of a count");
    let assert = Stmt::Assert { cond: ne(hole(), u16c(0)), fault: FaultId(1), args: vec![] };
    observed(assert, "an asserted condition");
    let provide = |mask| Stmt::Provide {
        func: FuncId(0),
        args: vec![int(0)],
        values: vec![(BufId(0), u16c(1))],
        mask: Some(mask),
    };
    observed(provide(eq(hole(), u16c(1))), "a mask of a store");
    // A hole is not clean when it was stored and loaded, or bound, or captured.
    let through = block([put(1, int(2), hole()), put(0, int(0), get(int(2)))]);
    observed(through, unread);
    let bound = Stmt::Let {
        bindings: vec![(Sym::Temp(0), hole())],
        body: Box::new(put(0, int(0), typed_sym(Sym::Temp(0), Type::data(U16)))),
    };
    observed(bound.clone(), unread);
    // It is harmless where it is thrown away, and its register is clean in the next iteration.
    let good = |s: Stmt, expected: i64| assert_eq!(run_small(Stage::Bounded, with(s)).unwrap()[0], expected);
    let yes = || lt(to_index(param(ParamId(0), I32)), int(6));
    good(put(0, int(0), select(yes(), u16c(7), hole())), 7);
    good(put(0, int(0), select(not(yes()), hole(), u16c(7))), 7);
    good(block([put(0, int(0), hole()), put(0, int(0), u16c(2))]), 2);
    good(put(0, int(0), cast_data(U16, or(yes(), eq(hole(), u16c(0))))), 1);
    good(put(0, int(0), cast_data(U16, and(not(yes()), eq(hole(), u16c(0))))), 0);
    good(put(0, int(0), select(yes(), u16c(4), get(min(max(to_index(hole()), int(0)), int(7))))), 4);
    let t = typed_sym(Sym::Temp(0), Type::data(U16));
    let late = for_in(
        0,
        ForKind::Serial,
        2,
        block([
            Stmt::Let { bindings: vec![(Sym::Temp(0), get(l(0)))], body: Box::new(put(0, l(0), t)) },
            put(1, int(1), u16c(5)),
        ]),
    );
    assert_eq!(run_small(Stage::Bounded, with(late)).unwrap()[..2], [3, 5]);
    // An address from a hole is checked with a value that is unlikely to be inside.
    fails(Stage::Bounded, with(put(0, int(0), get(to_index(hole())))), Check::ReadOutside, "`tmp`(42405)");
}

#[test]
fn outputs_are_holes_until_written() {
    let body = put(0, int(0), add(read(BufId(0), U16, vec![int(1)]), u16c(1)));
    fails(Stage::Bounded, body, Check::Uninitialised, "`out`(1), which was never written");
    let p = small(Stage::Bounded, put(0, int(0), u16c(1)));
    let stats = run(&p, &[Scalar::int(I32, 5)], &[], &mut [buffer(&[(0, 8)], |_, _| 9)]).unwrap();
    assert_eq!(stats.buffers[BufId(0)].unwritten, 7);
}

#[test]
fn index_arithmetic_is_exact_and_checked() {
    let big = |v| add(mul(to_index(param(ParamId(0), I32)), int(0)), int(v));
    let p = to_index(param(ParamId(0), I32));
    for (e, part) in [
        (add(p.clone(), int(i64::MAX)), "Add of 5 and 9223372036854775807"),
        (sub(int(i64::MIN), p.clone()), "Sub of"),
        (mul(p.clone(), int(i64::MAX / 4)), "Mul of"),
        (div(sub(int(i64::MIN + 5), p.clone()), int(-1)), "Div of"),
        (unary(UnOp::Neg, sub(int(i64::MIN + 5), p.clone())), "leaves 64 bits"),
    ] {
        fails(Stage::Bounded, put(0, min(e, int(0)), u16c(1)), Check::IndexOverflow, part);
    }
    let wide = cast_data(U64, param(ParamId(0), I32));
    let huge = to_index(sub(wide, constant(Scalar::int(U64, 6))));
    fails(Stage::Bounded, put(0, min(huge, int(0)), u16c(1)), Check::IndexOverflow, "no 64-bit index");
    for (a, b) in [(7, 2), (-7, 2), (7, -2), (-7, -2), (5, 0)] {
        value_is(div(add(p.clone(), int(a - 5)), int(b)), if b == 0 { 0 } else { a.div_euclid(b) });
        value_is(rem(add(p.clone(), int(a - 5)), int(b)), if b == 0 { 0 } else { a.rem_euclid(b) });
    }
    value_is(big(3), 3);
}

#[test]
fn every_kind_of_expression() {
    let p = || param(ParamId(0), I32);
    value_is(p(), 5);
    value_is(likely(p()), 5);
    value_is(unary(UnOp::Neg, p()), -5);
    value_is(unary(UnOp::Abs, sub(constant(Scalar::int(I32, 0)), p())), 5);
    value_is(binary(BinOp::Shl, p(), constant(Scalar::int(I32, 2))), 20);
    value_is(binary(BinOp::Absd, p(), constant(Scalar::int(I32, 9))), 4);
    value_is(saturating_cast(U8, mul(p(), constant(Scalar::int(I32, 100)))), 255);
    value_is(reinterpret(U32, unary(UnOp::Neg, p())), 0xfffb);
    let f = || cast_data(F32, p());
    value_is(div(f(), constant(Scalar::float(F32, 2.0))), 2);
    value_is(math(halide_core::ops::MathFn::Pow, vec![f(), constant(Scalar::float(F32, 2.0))]), 25);
    value_is(unary(UnOp::IsNan, f()), 0);
    value_is(select(gt(p(), constant(Scalar::int(I32, 4))), u16c(1), u16c(2)), 1);
    let u8s = || cast_data(U8, p());
    value_is(intrinsic(Intrinsic::WideningMul, vec![u8s(), constant(Scalar::int(U8, 200))]), 1000);
    value_is(intrinsic(Intrinsic::RoundingHalvingAdd, vec![u8s(), constant(Scalar::int(U8, 2))]), 4);
    let lanes = add(ramp(to_index(p()), int(-2), 3), broadcast(to_index(p()), 3));
    let picked = shuffle(vec![lanes.clone(), lanes], vec![2, 3]);
    let body = store(0, ramp(int(0), int(7), 2), cast_data(U16, picked));
    let got = run_small(Stage::Shaped, body).unwrap();
    assert_eq!((got[0], got[7]), (6, 10));
}

#[test]
fn allocations_keep_their_promises() {
    let fill = store(1, int(0), u16c(1));
    fails(
        Stage::Flat,
        alloc_of(add(to_index(param(ParamId(0), I32)), int(4)), fill.clone()),
        Check::Allocation,
        "9 elements",
    );
    fails(Stage::Flat, alloc_of(sub(int(4), to_index(param(ParamId(0), I32))), fill), Check::Allocation, "-1 elements");
    let huge = realize(0, i64::MAX, vec![put(0, int(0), u16c(1))]);
    let error = run_small(Stage::Bounded, huge).unwrap_err();
    assert_eq!(error, EvalError::TooLarge { buf: BufId(1), elements: i64::MAX as usize });
}

fn alloc_of(count: Expr, body: Stmt) -> Stmt {
    Stmt::Alloc { buf: BufId(1), count, constant: Some(8), body: Box::new(body) }
}

#[test]
fn allocations_are_fresh_each_time() {
    let body = block([
        Stmt::If { cond: eq(l(0), int(0)), then: Box::new(store(1, int(0), u16c(4))), otherwise: Box::new(nothing()) },
        store(0, l(0), load(BufId(1), U16, int(0), None)),
    ]);
    fails(Stage::Flat, for_in(0, ForKind::Serial, 2, alloc(1, vec![body])), Check::Uninitialised, "`out`(1)");
}

#[test]
fn parallel_iterations_leave_each_other_alone() {
    let prefix = |kind| {
        let sum = add(get(l(0)), get(offset(l(0), 1)));
        let go = for_in(0, kind, 7, put(1, offset(l(0), 1), sum));
        let copy = for_in(1, kind, 8, put(0, l(1), get(l(1))));
        let fill = for_in(2, kind, 8, put(1, l(2), cast_data(U16, l(2))));
        realize(0, 8, vec![fill, go, copy])
    };
    assert_eq!(run_small(Stage::Bounded, prefix(ForKind::Serial)).unwrap(), [0, 1, 3, 6, 10, 15, 21, 28]);
    fails(Stage::Bounded, prefix(ForKind::Parallel), Check::Race, "one iteration reads `tmp`(1)");
    // A write after another iteration's read.
    let shift = for_in(0, ForKind::Parallel, 7, put(1, l(0), get(offset(l(0), 1))));
    let differ = for_in(2, ForKind::Serial, 8, put(1, l(2), cast_data(U16, l(2))));
    fails(Stage::Bounded, realize(0, 8, vec![differ, shift]), Check::Race, "one iteration writes `tmp`(1)");
    // Overlapping writes of one value are the tail of a shifted tile.
    let same = for_in(0, ForKind::Parallel, 7, block([put(0, l(0), l16(0)), put(0, offset(l(0), 1), l16(1))]));
    assert_eq!(run_small(Stage::Bounded, same).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
    let other = for_in(0, ForKind::Parallel, 2, put(0, int(0), cast_data(U16, l(0))));
    fails(Stage::Bounded, other, Check::Race, "one iteration writes `out`(0)");
    // Storage inside an iteration is its own; a nested loop is concurrent with its siblings only.
    let inner = for_in(1, ForKind::Parallel, 2, put(1, l(1), u16c(1)));
    let own = realize(0, 2, vec![inner, put(0, l(0), get(int(1)))]);
    assert_eq!(run_small(Stage::Bounded, for_in(0, ForKind::Parallel, 8, own)).unwrap(), [1; 8]);
}

/// `L0 + k` as u16.
fn l16(k: i64) -> Expr {
    cast_data(U16, offset(l(0), k))
}

#[test]
fn errors_say_where() {
    let body = for_in(
        3,
        ForKind::Serial,
        8,
        Stmt::Produce { func: FuncId(1), body: Box::new(put(0, add(l(3), int(4)), u16c(1))) },
    );
    let e = run_small(Stage::Bounded, body).unwrap_err();
    assert!(e.to_string().ends_with("(in l3#L3 = 4, tmp#f1)"), "{e}");
}

#[test]
fn strides_of_the_caller_are_used() {
    // Columns lie next to each other: a transposed view, and a view with gaps between rows.
    let tall = buffer(&[(0, 12), (0, 9)], |x, y| noise(y, x)).transpose(&[1, 0]).unwrap();
    let wide = buffer(&[(0, 20), (0, 12)], noise).crop(&Region::of_spans([(0, 9), (0, 12)])).unwrap();
    for input in [tall, wide.clone()] {
        let mut outputs = [buffer(&[(0, 7), (0, 10)], |_, _| 0)];
        run(&blur_bounded(true), &[], &[input], &mut outputs).unwrap();
        assert_eq!(outputs[0], buffer(&[(0, 7), (0, 10)], blur_y));
    }
    // Linear code may not step into the gaps.
    let p = small(Stage::Flat, store(0, int(9), u16c(1)));
    let mut p2 = p.clone();
    p2.buffers[BufId(0)].dims = 2;
    p2.buffers[BufId(0)].order = vec![0, 1];
    p2.buffers[BufId(0)].align = vec![1, 1];
    p2.buffers[BufId(0)].fold = vec![None, None];
    let e = run(&p2, &[Scalar::int(I32, 0)], &[], &mut [wide]).unwrap_err();
    assert_eq!(e.check(), Some(Check::BetweenRows));
    assert!(e.to_string().contains("`out`[9] is between the rows"), "{e}");
}

#[test]
fn types_keep_their_bits() {
    for ty in ScalarType::ALL {
        let mut p = small(Stage::Bounded, nothing());
        p.buffers[BufId(0)].elem = ty;
        let value = Scalar::highest(ty);
        p.body = put(0, int(0), constant(value));
        let mut outputs = [AnyBuffer::new(ty, [8]).unwrap()];
        run(&p, &[Scalar::int(I32, 0)], &[], &mut outputs).unwrap();
        assert_eq!(outputs[0].get([0]), Some(value));
        assert_eq!(outputs[0].get([1]), Some(Scalar::zero(ty)));
    }
}

#[test]
fn malformed_programs_are_refused() {
    let p = small(Stage::Bounded, put(0, temp(3), u16c(1)));
    let e = run(&p, &[Scalar::int(I32, 0)], &[], &mut [buffer(&[(0, 8)], |_, _| 0)]).unwrap_err();
    assert_eq!((e.check(), e.to_string()), (Some(Check::Malformed), "Malformed: t3 is not bound".to_string()));
    let p = small(Stage::Flat, store(1, int(0), u16c(1)));
    let e = run(&p, &[Scalar::int(I32, 0)], &[], &mut [buffer(&[(0, 8)], |_, _| 0)]).unwrap_err();
    assert_eq!(e.check(), Some(Check::Malformed));
}

#[test]
fn a_larger_blur_is_quick() {
    let start = std::time::Instant::now();
    run_blur(&blur_bounded(true), [(0, 256), (0, 256)]).unwrap();
    run_blur(&blur_final(), [(0, 256), (0, 256)]).unwrap();
    let took = start.elapsed();
    assert!(took.as_secs() < 5, "{took:?}");
}
