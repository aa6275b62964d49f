//! Grids, blocks of several dimensions, phases, loops and conditions.

use crate::harness::*;
use crate::runner::runner;
use halide_core::types::ScalarType::*;
use halide_core::value::Scalar;
use halide_gpu::codegen::{Part, parts};
use halide_ir::{BufId, Expr, ForKind, KernelId, Program, Shared, Stmt, Sym, Type, Writes, build};

const OUT: BufId = BufId(0);

/// Runs a kernel and returns its one i32 output, which begins as -1. `None` without a device.
#[track_caller]
fn outcome(p: &mut Program, id: KernelId, grid: &[i64], given: &Given, count: usize) -> Option<Vec<i64>> {
    uses(p, id, OUT, true, Writes::Words);
    let code = compiled(p, id, &ALL);
    let result = run(runner()?, &code, grid, given, &[vec![Scalar::from(-1i32); count]]);
    Some(result[0].iter().map(|v| v.as_i64()).collect())
}

fn data(e: Expr) -> Expr {
    build::cast_data(I32, e)
}

/// A grid and blocks of three dimensions, at once and in parts.
#[test]
fn three_dimensions() {
    for most in [None, Some(2), Some(1)] {
        let mut p = program(&[], &[I32]);
        let blocks = [new_loop(&mut p, "bx"), new_loop(&mut p, "by"), new_loop(&mut p, "bz")];
        let id = kernel(&mut p, [4, 3, 2], |p, _| {
            let threads = [new_loop(p, "tx"), new_loop(p, "ty"), new_loop(p, "tz")];
            let all =
                [(blocks[2], 2), (threads[2], 2), (blocks[1], 3), (threads[1], 3), (blocks[0], 5), (threads[0], 4)];
            let at = all
                .into_iter()
                .fold(build::int(0), |at, (id, n)| build::add(build::mul(at, build::int(n)), build::loop_var(id)));
            let body = store(OUT, at.clone(), data(at));
            [4, 3, 2].into_iter().zip(threads).fold(body, |body, (n, id)| {
                build::for_loop(id, ForKind::GpuThreads, build::int(0), build::int(n), body)
            })
        });
        p.kernels[id].blocks = blocks.to_vec();
        let given = Given { most, ..Given::default() };
        let Some(found) = outcome(&mut p, id, &[5, 3, 2], &given, 720) else { return };
        assert_eq!(found, (0..720).collect::<Vec<i64>>(), "{most:?}");
    }
}

#[test]
fn parts_of_grids() {
    let all = |grid: &[i64], most| parts(grid, most).collect::<Vec<Part>>();
    assert_eq!(all(&[], 9), [Part { first: [0; 3], count: [1; 3] }]);
    assert_eq!(all(&[4, 0], 9), []);
    assert_eq!(all(&[4, -3], 9), []);
    assert_eq!(
        all(&[7, 2], 3),
        [
            Part { first: [0, 0, 0], count: [3, 2, 1] },
            Part { first: [3, 0, 0], count: [3, 2, 1] },
            Part { first: [6, 0, 0], count: [1, 2, 1] },
        ]
    );
    assert_eq!(all(&[70000, 1, 1], 65535).len(), 2);
}

/// A phase of fewer threads than the block has, in fewer dimensions, with a minimum, and of none.
#[test]
fn phases_smaller_than_the_block() {
    let mut p = program(&[], &[I32]);
    let n = Sym::Temp(0);
    let id = kernel(&mut p, [8, 2, 1], |p, block| {
        let (t, none) = (new_loop(p, "t"), new_loop(p, "none"));
        let at = build::add(build::mul(block.clone(), build::int(10)), build::loop_var(t));
        let old = build::load(OUT, I32, at.clone(), None);
        let body = store(OUT, at, build::add(old, data(build::offset(block, 2))));
        let some = build::for_loop(t, ForKind::GpuThreads, build::int(1), build::sym(n), body);
        let body = store(OUT, build::loop_var(none), data(build::int(99)));
        let empty = build::sub(build::sym(n), build::int(5));
        build::block([some, build::for_loop(none, ForKind::GpuThreads, build::int(0), empty, body)])
    });
    p.kernels[id].captures.push((n, Type::INDEX));
    let given = Given { scalars: vec![5], ..Given::default() };
    let Some(found) = outcome(&mut p, id, &[3], &given, 30) else { return };
    for (i, v) in found.into_iter().enumerate() {
        let (block, t) = (i / 10, i % 10);
        // Were it run by both rows of threads, or twice, it would be more.
        assert_eq!(v, if (1..6).contains(&t) { block as i64 + 1 } else { -1 }, "{i}");
    }
}

/// Loops of block code around phases that hand values to each other, in shared memory.
#[test]
fn loops_around_phases() {
    let mut p = program(&[], &[I32]);
    let sums = internal(&mut p, I32);
    let id = kernel(&mut p, [16, 1, 1], |p, block| {
        let start = phase(p, build::int(16), |t| store(sums, t.clone(), data(build::add(t, block.clone()))));
        let round = new_loop(p, "round");
        let half = build::div(build::int(16), build::loop_var(round));
        // Each thread adds its right neighbour's: after rounds 1 to 3 a value holds a window of 4.
        let held = internal(p, I32);
        let (a, b) = (new_loop(p, "a"), new_loop(p, "b"));
        let (ta, tb) = (build::loop_var(a), build::loop_var(b));
        let next = build::load(sums, I32, build::rem(build::offset(ta.clone(), 1), build::int(16)), None);
        let own = build::load(sums, I32, ta.clone(), None);
        let sum = build::for_loop(
            a,
            ForKind::GpuThreads,
            build::int(0),
            build::int(16),
            store(held, ta, build::add(own, next)),
        );
        let copy = store(sums, tb.clone(), build::load(held, I32, tb, None));
        let copy = build::for_loop(b, ForKind::GpuThreads, build::int(0), build::int(16), copy);
        let enough = build::ge(half, build::int(5));
        let body = build::if_else(enough, build::block([Stmt::Barrier, sum, Stmt::Barrier, copy]), build::nothing());
        let rounds = build::for_loop(round, ForKind::Serial, build::int(1), build::int(9), body);
        let end = phase(p, build::int(16), |t| {
            let at = build::add(build::mul(block, build::int(16)), t.clone());
            store(OUT, at, build::load(sums, I32, t, None))
        });
        let inner = build::block([start, rounds, Stmt::Barrier, end]);
        let alloc = |buf, body| Stmt::Alloc { buf, count: build::int(16), constant: Some(16), body: Box::new(body) };
        alloc(sums, alloc(held, inner))
    });
    let held = BufId(2);
    p.kernels[id].shared =
        vec![Shared { buf: sums, first_word: 0, words: 16 }, Shared { buf: held, first_word: 16, words: 16 }];
    p.kernels[id].shared_words = 32;
    let Some(found) = outcome(&mut p, id, &[2], &Given::default(), 32) else { return };
    for block in 0..2i64 {
        let mut values: Vec<i64> = (0..16).map(|t| t + block).collect();
        for _ in 0..3 {
            values = (0..16).map(|t| values[t] + values[(t + 1) % 16]).collect();
        }
        assert_eq!(found[block as usize * 16..][..16], values);
    }
}

/// Loops and conditions of a thread: nested, empty, of one iteration, with bounds of their own.
#[test]
fn loops_of_a_thread() {
    let mut p = program(&[], &[I32]);
    let id = kernel(&mut p, [8, 1, 1], |p, _| {
        let (i, j, once, never) = (new_loop(p, "i"), new_loop(p, "j"), new_loop(p, "once"), new_loop(p, "never"));
        phase(p, build::int(8), |t| {
            let (vi, vj) = (build::loop_var(i), build::loop_var(j));
            let add = |e: Expr| store(OUT, t.clone(), build::add(build::load(OUT, I32, t.clone(), None), data(e)));
            let odd = build::eq(build::rem(vj.clone(), build::int(2)), build::int(1));
            let inner = build::if_else(odd, add(build::mul(vi.clone(), vj.clone())), add(build::int(1000)));
            let serial = |id, min, extent, body| build::for_loop(id, ForKind::Serial, min, extent, body);
            let inner = serial(j, vi.clone(), build::sub(t.clone(), build::int(2)), inner);
            let outer = serial(i, build::int(-2), build::sub(build::int(6), t.clone()), inner);
            let single = serial(once, build::int(7), build::int(1), add(build::loop_var(once)));
            let none = serial(never, t.clone(), build::sub(build::int(0), t.clone()), add(build::int(500)));
            build::block([outer, single, none])
        })
    });
    let Some(found) = outcome(&mut p, id, &[1], &Given::default(), 8) else { return };
    for t in 0..8i64 {
        let mut expected = -1;
        for i in -2..-2 + (6 - t).max(0) {
            for j in i..i + (t - 2).max(0) {
                expected += if j.rem_euclid(2) == 1 { i * j } else { 1000 };
            }
        }
        assert_eq!(found[t as usize], expected + 7, "{t}");
    }
}

/// Captures and parameters of every type reach the kernel with their bits.
#[test]
fn scalars_of_every_type() {
    for ty in halide_core::types::ScalarType::ALL {
        let mut p = program(&[], &[ty, ty, I32]);
        let param = p.params.push(("p".to_string(), ty));
        let (data_sym, index_sym) = (Sym::Temp(0), Sym::Temp(1));
        let id = kernel(&mut p, [1, 1, 1], |p, block| {
            phase(p, build::int(1), |_| {
                let capture = build::typed_sym(data_sym, Type::data(ty));
                build::block([
                    store(BufId(0), block.clone(), capture),
                    store(BufId(1), block.clone(), build::param(param, ty)),
                    store(BufId(2), block, data(build::sym(index_sym))),
                ])
            })
        });
        p.kernels[id].captures = vec![(data_sym, Type::data(ty)), (index_sym, Type::INDEX)];
        p.kernels[id].params = vec![param];
        for buf in 0..3 {
            let small = ty.bytes() < 4 && buf < 2;
            uses(&mut p, id, BufId(buf), false, if small { Writes::Pieces } else { Writes::Words });
        }
        let code = compiled(&p, id, &ALL);
        let Some(runner) = runner() else { return };
        if !is_for(runner, &p, id) {
            continue;
        }
        for v in edges(ty) {
            let given = Given { scalars: vec![v.bits(), -77i64 as u64, v.bits()], ..Given::default() };
            let memory = [vec![Scalar::zero(ty)], vec![Scalar::zero(ty)], vec![Scalar::from(0i32)]];
            let found = run(runner, &code, &[1], &given, &memory);
            assert_eq!([found[0][0].bits(), found[1][0].bits()], [v.bits(); 2], "{v:?}");
            assert_eq!(found[2][0].as_i64(), -77);
        }
    }
}

/// An expression as deep as a long pipeline makes them.
#[test]
fn deep_expressions() {
    let mut p = program(&[], &[I32]);
    let id = kernel(&mut p, [1, 1, 1], |p, block| {
        phase(p, build::int(1), |t| {
            let start = data(build::add(block.clone(), t));
            let step = |e: Expr, i: i32| {
                build::binary(
                    halide_core::ops::BinOp::BitXor,
                    build::add(e.clone(), build::constant(Scalar::from(i))),
                    e,
                )
            };
            store(OUT, block, (0..3000).fold(start, step))
        })
    });
    let Some(found) = outcome(&mut p, id, &[1], &Given::default(), 1) else { return };
    let expected = (0..3000).fold(0i32, |v, i| v.wrapping_add(i) ^ v);
    assert_eq!(found, [i64::from(expected)]);
}

/// Threads leave a loop when their elements are settled, each by itself, as vectors when their slowest lane is.
#[test]
fn loops_that_end() {
    for lanes in [1u16, 2, 4] {
        let threads = 13;
        let mut p = program(&[], &[I32]);
        let id = kernel(&mut p, [threads, 1, 1], |p, _| {
            let turn = new_loop(p, "turn");
            phase(p, build::int(i64::from(threads)), |t| {
                let first = build::mul(t.clone(), build::int(i64::from(lanes) + 1));
                let at = if lanes == 1 { first.clone() } else { dense(first.clone(), lanes) };
                let turns = build::offset(first, i64::from(lanes));
                let constant = |n: i32| build::broadcast(build::constant(Scalar::from(n)), lanes);
                let starts = match lanes {
                    1 => data(t.clone()),
                    _ => build::cast_data(I32, dense(t, lanes)),
                };
                let old = build::load(OUT, I32, at.clone(), None);
                let left = build::binary(halide_core::ops::BinOp::Gt, old.clone(), constant(0));
                let less = build::select(left.clone(), build::add(old.clone(), constant(-1)), old);
                let more = build::add(build::load(OUT, I32, turns.clone(), None), build::constant(Scalar::from(1i32)));
                let body = build::block([store(OUT, at.clone(), less), store(OUT, turns.clone(), more)]);
                let condition = Some(halide_ir::any_lane::any_lane(&left));
                let (min, extent) = (build::int(-5), build::int(1000));
                let l = halide_ir::For { id: turn, kind: ForKind::Serial, min, extent, condition, body };
                let zero = store(OUT, turns, build::constant(Scalar::from(0i32)));
                build::block([store(OUT, at, starts), zero, build::loop_of(l)])
            })
        });
        let count = threads as usize * (lanes as usize + 1);
        let Some(found) = outcome(&mut p, id, &[1], &Given::default(), count) else { return };
        let mut expected = Vec::new();
        for t in 0..i64::from(threads) {
            expected.resize(expected.len() + lanes as usize, 0);
            expected.push(t + i64::from(lanes) - 1);
        }
        assert_eq!(found, expected, "{lanes} lanes");
    }
}
