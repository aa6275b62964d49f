//! Many threads change the same elements, in one step each: nothing is lost, in the device's memory and in that of a
//! block.

use crate::harness::*;
use crate::runner::runner;
use expect_test::expect;
use halide_core::ids::FuncId;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::{self, Scalar};
use halide_gpu::codegen::{compile, range};
use halide_ir::{BufId, BufferRole, Expr, Intrinsic, KernelId, Program, Shared, Stmt, Sym, Writes, build, intrinsic};

const IN: BufId = BufId(0);
const OUT: BufId = BufId(1);
const THREADS: i64 = 32;
const BLOCKS: i64 = 4;
/// Elements that threads change. They share words if they are small.
const PLACES: i64 = 3;
const TYPES: [ScalarType; 10] = [Bool, I8, U8, I16, U16, I32, U32, F16, BF16, F32];

/// The memory that threads change.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Memory {
    Device,
    Block,
}

type New<'a> = &'a dyn Fn(Expr, Expr) -> Expr;
type When<'a> = &'a dyn Fn(Expr) -> Expr;

/// `change[i % 3] = new(change[i % 3], in[i])` of every `i`, `lanes` of them in each thread, where `when(in[i])`.
fn steps(ty: ScalarType, lanes: u16, memory: Memory, new: New, when: Option<When>) -> (Program, KernelId) {
    let mut p = program(&[ty], &[ty]);
    let tmp = add_buffer(&mut p, "tmp", ty, BufferRole::Internal);
    let (change, first) = if memory == Memory::Device { (OUT, 1) } else { (tmp, 0) };
    let id = kernel(&mut p, [THREADS as u32, 1, 1], |p, block| {
        let step = phase(p, build::int(THREADS), |t| {
            let thread = build::add(build::mul(block.clone(), build::int(THREADS)), t);
            let i = dense(build::mul(thread, build::int(lanes.into())), lanes);
            let all = |v| build::broadcast(build::int(v), lanes);
            let at = build::add(build::rem(i.clone(), all(PLACES)), all(first));
            let given = build::load(IN, ty, i, None);
            let mask = when.map(|when| when(given.clone()));
            let made = new(build::load(change, ty, at.clone(), None), given);
            // As lowering does it: what is stored has a name.
            let name = Sym::Temp(0);
            let value = build::typed_sym(name, made.ty());
            let body = build::let_in(vec![(name, made)], Stmt::Store { buf: change, index: at, value, mask });
            Stmt::Atomic { func: FuncId(0), body: Box::new(body) }
        });
        if memory == Memory::Device {
            return step;
        }
        let begin = phase(p, build::int(PLACES), |t| store(tmp, t, build::constant(start(ty))));
        let end = phase(p, build::int(PLACES), |t| {
            let to = build::offset(build::add(build::mul(block, build::int(PLACES)), t.clone()), 1);
            store(OUT, to, build::load(tmp, ty, t, None))
        });
        let body = build::block([begin, Stmt::Barrier, step, Stmt::Barrier, end]);
        Stmt::Alloc { buf: tmp, count: build::int(PLACES), constant: Some(PLACES as u64), body: Box::new(body) }
    });
    uses(&mut p, id, IN, true, Writes::None);
    uses(&mut p, id, OUT, memory == Memory::Device, Writes::Pieces);
    if memory == Memory::Block {
        p.kernels[id].shared.push(Shared { buf: tmp, first_word: 2, words: PLACES as u32 });
        p.kernels[id].shared_words = 2 + PLACES as u32;
    }
    (p, id)
}

/// Returns the initial value of the elements.
fn start(ty: ScalarType) -> Scalar {
    Scalar::int(ty, if ty == Bool { 1 } else { 5 })
}

/// Small numbers, whose sums and products are exact in every type.
fn inputs(ty: ScalarType, count: i64) -> Vec<Scalar> {
    let mut random = SplitMix(3);
    let small = |bits: u64| if ty.is_float() { i128::from(bits % 2) + 1 } else { i128::from(bits % 7) };
    (0..count).map(|_| Scalar::int(ty, small(random.next() >> 8))).collect()
}

/// Runs it and compares with one step after the other.
#[track_caller]
fn check(
    what: &str,
    ty: ScalarType,
    new: New,
    when: Option<When>,
    serial: &dyn Fn(Scalar, Scalar) -> Scalar,
    on: &dyn Fn(Scalar) -> bool,
) {
    for (memory, lanes) in [(Memory::Device, 1), (Memory::Block, 1), (Memory::Device, 4), (Memory::Block, 3)] {
        let (p, id) = steps(ty, lanes, memory, new, when);
        let code = compiled(&p, id, &ALL);
        assert!(range::fits(&p, &p.kernels[id], &[], &[0, 0], &[BLOCKS]));
        let Some(runner) = runner() else { continue };
        let lanes = i64::from(lanes);
        let given = inputs(ty, BLOCKS * THREADS * lanes);
        let mut expected = vec![start(ty); 16];
        for (i, &v) in given.iter().enumerate().filter(|(_, v)| on(**v)) {
            let (i, each) = (i as i64, if memory == Memory::Block { THREADS * lanes } else { i64::MAX });
            let place = &mut expected[(1 + i / each * PLACES + i % PLACES) as usize];
            *place = serial(*place, v);
        }
        let got = run(runner, &code, &[BLOCKS], &Given::default(), &[given, vec![start(ty); 16]]);
        assert_eq!(got[1], expected, "{what} of {ty} x{lanes} in {memory:?}");
    }
}

#[test]
fn operators_of_every_type() {
    let ops = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Min, BinOp::Max, BinOp::BitAnd, BinOp::BitOr, BinOp::BitXor];
    for ty in TYPES {
        for op in ops {
            let bits = matches!(op, BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor);
            // Sums of so many are not exact in 8 bits of a number.
            let inexact = ty == BF16 && matches!(op, BinOp::Add | BinOp::Sub);
            if inexact || ty.is_float() && bits || ty == Bool && !bits {
                continue;
            }
            let straight: New = &|old, new| build::binary(op, old, new);
            check(&format!("{op:?}"), ty, straight, None, &|old, new| value::binary(op, old, new), &|_| true);
            if op != BinOp::Sub {
                let turned: New = &|old, new| build::binary(op, new, old);
                let meaning = |old, new| value::binary(op, new, old);
                check(&format!("{op:?} turned"), ty, turned, None, &meaning, &|_| true);
            }
        }
    }
}

/// Anything else of one element: a new value is tried until nobody came between.
#[test]
fn other_values_of_one_element() {
    for ty in [I8, U8, I16, U16, I32, U32] {
        let saturating: New = &|old, new| build::intrinsic(Intrinsic::SaturatingAdd, vec![old, new]);
        let meaning = |old, new| intrinsic::apply(Intrinsic::SaturatingAdd, old, new);
        check("a saturating sum", ty, saturating, None, &meaning, &|_| true);
    }
    for ty in [I8, U16, I32, U32, F32] {
        let larger: New = &|old, new| build::select(build::lt(old.clone(), new.clone()), new, old);
        let meaning = |old, new| value::select(value::binary(BinOp::Lt, old, new), new, old);
        check("a selection", ty, larger, None, &meaning, &|_| true);
    }
}

#[test]
fn steps_of_some_lanes() {
    for ty in [U8, I16, U32, F32] {
        let one = Scalar::int(ty, 1);
        let when = |v: Expr| {
            let lanes = v.lanes();
            build::ne(v, build::broadcast(build::constant(one), lanes))
        };
        let on = |v: Scalar| value::binary(BinOp::Ne, v, one).as_bool();
        let sum: New = &|old, new| build::add(old, new);
        check("a sum of some", ty, sum, Some(&when), &|old, new| value::binary(BinOp::Add, old, new), &on);
    }
}

/// A sum of bytes: the word of the element, tried until nobody came between.
#[test]
fn the_loop() {
    let (p, id) = steps(U8, 1, Memory::Device, &|old, new| build::add(old, new), None);
    let text = compiled(&p, id, &ALL).wgsl().unwrap();
    let body = &text[text.find("loop").unwrap()..];
    expect![[r#"
        loop {
                let _e64 = atomicLoad((&out0_[(_e45 >> 2u)]));
                let old = ((_e64 >> _e50) & 255u);
                let _e74 = ((((old + ((_e60 >> ((_e54 & 3u) << 3u)) & 255u)) & 255u) << _e50) | (_e64 & ((255u << _e50) ^ 4294967295u)));
                if (_e74 == _e64) {
                    break;
                }
                let _e76 = atomicCompareExchangeWeak((&out0_[(_e45 >> 2u)]), _e64, _e74);
                if _e76.exchanged {
                    break;
                }
            }
        }
    "#]].assert_eq(body);
    let (p, id) = steps(U32, 1, Memory::Device, &|old, new| build::max(old, new), None);
    let text = compiled(&p, id, &ALL).wgsl().unwrap();
    assert!(text.contains("atomicMax(") && !text.contains("loop"), "{text}");
}

#[test]
fn steps_that_are_refused() {
    let refused = |(p, id): (Program, KernelId)| {
        let error = compile(&p, id, &ALL).expect_err("it is refused");
        format!("{error}\n  help: {}\n", error.hint().unwrap_or("none"))
    };
    let sum: New = &|old, new| build::add(old, new);
    let mut all = refused(steps(I64, 1, Memory::Device, sum, None));
    all += &refused(steps(F64, 1, Memory::Block, sum, None));
    let several = |body: &dyn Fn(Expr) -> Vec<Stmt>| {
        let mut p = program(&[I32], &[I32]);
        let id = kernel(&mut p, [1, 1, 1], |p, _| {
            phase(p, build::int(1), |t| Stmt::Atomic { func: FuncId(0), body: Box::new(build::block(body(t))) })
        });
        uses(&mut p, id, OUT, true, Writes::Pieces);
        (p, id)
    };
    let load = |at: Expr| build::load(OUT, I32, at, None);
    all += &refused(several(&|t| vec![store(OUT, t.clone(), load(t.clone())), store(OUT, t.clone(), load(t))]));
    all += &refused(several(&|t| vec![store(OUT, t.clone(), load(build::offset(t, 1)))]));
    let mut words = steps(I32, 1, Memory::Device, sum, None);
    words.0.kernels[words.1].buffers[1].writes = Writes::Words;
    all += &refused(words);
    expect![[r#"
        kernel `test` has an atomic step on elements of i64, which have two words, which GPUs do not have
          help: do the reduction in parts, by rfactor
        kernel `test` has an atomic step on elements of f64, which have two words, which GPUs do not have
          help: do the reduction in parts, by rfactor
        kernel `test` has an atomic step that stores several values at once, which GPUs do not have
          help: do the reduction in parts, by rfactor
        kernel `test` has an atomic step that reads other elements than the one that it stores, which GPUs do not have
          help: do the reduction in parts, by rfactor
        kernel `test` is malformed (a bug in halide): b1 is not listed as changed in atomic steps
          help: none
    "#]]
    .assert_eq(&all);
}
