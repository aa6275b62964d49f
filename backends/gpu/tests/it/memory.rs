//! Loads and stores of every element type: packed, unaligned, masked, in pieces, in shared memory and in registers.

use crate::harness::*;
use crate::runner::runner;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;
use halide_gpu::codegen::Options;
use halide_ir::{BufId, Expr, KernelId, Program, Shared, Stmt, Sym, Type, Writes, build};

const IN: BufId = BufId(0);
const OUT: BufId = BufId(1);
/// Elements of buffers.
const COUNT: usize = 256;

/// A kernel from one buffer to another of one type; `body` gets the number of the block and the position of the thread.
fn copier(ty: ScalarType, threads: u32, writes: Writes, body: impl FnOnce(Expr, Expr) -> Stmt) -> (Program, KernelId) {
    let mut p = program(&[ty], &[ty]);
    let id = kernel(&mut p, [threads, 1, 1], |p, block| phase(p, build::int(threads.into()), |t| body(block, t)));
    uses(&mut p, id, IN, true, Writes::None);
    uses(&mut p, id, OUT, false, writes);
    (p, id)
}

/// Runs it on random input, output of all `fill`; gives both, or `None` without a device.
#[track_caller]
fn outcome(p: &Program, id: KernelId, blocks: i64, given: &Given, fill: u64) -> Option<(Vec<Scalar>, Vec<Scalar>)> {
    let code = compiled(p, id, &ALL);
    let runner = runner()?;
    let ty = p.buffers[IN].elem;
    if !is_for(runner, p, id) {
        return None;
    }
    let mut r = SplitMix(7);
    let input: Vec<Scalar> = (0..COUNT).map(|_| random(ty, &mut r)).collect();
    let output = vec![Scalar::from_bits(ty, fill); COUNT];
    let result = run(runner, &code, &[blocks], given, &[input.clone(), output]);
    Some((input, result[1].clone()))
}

/// The bits of elements: copies keep them, those of NaNs too.
fn bits(all: &[Scalar]) -> Vec<u64> {
    all.iter().map(|v| v.bits()).collect()
}

fn small(ty: &ScalarType) -> bool {
    ty.bytes() < 4
}

/// `base + lanes` of a thread with every remainder of `base`, known to the compiler and not.
#[test]
fn dense_loads_at_every_remainder() {
    for ty in ScalarType::ALL {
        for lanes in [1u16, 2, 3, 4, 5, 8, 16] {
            for rest in 0..4i64 {
                for known in [true, false] {
                    let (mut p, id) = copier(ty, 4, Writes::Pieces, |block, t| {
                        let chunk = build::add(build::mul(block, build::int(4)), t);
                        let at = build::mul(chunk, build::int(i64::from(lanes.next_multiple_of(4))));
                        let rest = if known { build::int(rest) } else { build::sym(Sym::Temp(0)) };
                        let from = dense(build::add(at.clone(), rest), lanes);
                        store(OUT, dense(at, lanes), build::load(IN, ty, from, None))
                    });
                    p.kernels[id].captures.push((Sym::Temp(0), Type::INDEX));
                    let given = Given { scalars: vec![rest as u64], ..Given::default() };
                    let Some((input, output)) = outcome(&p, id, 2, &given, 0) else { continue };
                    for chunk in 0..8 {
                        let at = chunk * usize::from(lanes).next_multiple_of(4);
                        let from = at + rest as usize;
                        let lanes = usize::from(lanes);
                        let context = format!("{ty} x{lanes} at {rest}, known: {known}");
                        assert_eq!(bits(&output[at..at + lanes]), bits(&input[from..from + lanes]), "{context}");
                    }
                }
            }
        }
    }
}

/// Reversed, spread, gathered, and from the buffer's first element being somewhere in its memory.
#[test]
fn other_loads() {
    for ty in ScalarType::ALL {
        let shapes: [fn(Expr) -> Expr; 4] = [
            |at| build::ramp(build::offset(at, 7), build::int(-1), 8),
            |at| build::ramp(at, build::int(3), 8),
            |at| {
                build::rem(
                    build::mul(dense(at, 8), build::broadcast(build::int(5), 8)),
                    build::broadcast(build::int(11), 8),
                )
            },
            |at| build::shuffle(vec![dense(at.clone(), 4), build::broadcast(at, 2)], vec![5, 3, 2, 1, 0, 4, 4, 1]),
        ];
        let meanings: [fn(i64, i64) -> i64; 4] = [
            |at, lane| at + 7 - lane,
            |at, lane| at + 3 * lane,
            |at, lane| (at + lane) * 5 % 11,
            |at, lane| at + [0, 3, 2, 1, 0, 0, 0, 1][lane as usize],
        ];
        for (shape, meaning) in shapes.into_iter().zip(meanings) {
            let (p, id) = copier(ty, 2, Writes::Words, |block, t| {
                let at = build::mul(build::add(build::mul(block, build::int(2)), t), build::int(8));
                store(OUT, dense(at.clone(), 8), build::load(IN, ty, shape(at), None))
            });
            let given = Given { offsets: vec![8, 16], ..Given::default() };
            let Some((input, output)) = outcome(&p, id, 2, &given, 0) else { continue };
            for i in 0..32i64 {
                let from = 8 + meaning(i / 8 * 8, i % 8);
                assert_eq!(output[16 + i as usize].bits(), input[from as usize].bits(), "{ty} {i}");
            }
        }
    }
}

/// Lanes that are off read nothing (their index is far outside), give 0, and store nothing.
#[test]
fn masks() {
    for ty in ScalarType::ALL {
        let (p, id) = copier(ty, 4, Writes::Pieces, |_, t| {
            let at = dense(build::mul(t.clone(), build::int(8)), 8);
            let even = build::eq(
                build::rem(at.clone(), build::broadcast(build::int(2), 8)),
                build::broadcast(build::int(0), 8),
            );
            let far = build::select(even.clone(), at.clone(), build::broadcast(build::int(1 << 30), 8));
            let value = build::load(IN, ty, far, Some(even));
            let third = build::ne(
                build::rem(at.clone(), build::broadcast(build::int(3), 8)),
                build::broadcast(build::int(0), 8),
            );
            Stmt::Store { buf: OUT, index: at, value, mask: Some(third) }
        });
        let fill = 0x0101_0101_0101_0101;
        let Some((input, output)) = outcome(&p, id, 1, &Given::default(), fill) else { continue };
        for i in 0..32 {
            let loaded = if i % 2 == 0 { input[i].bits() } else { 0 };
            let expected = if i % 3 != 0 { loaded } else { Scalar::from_bits(ty, fill).bits() };
            assert_eq!(output[i].bits(), expected, "{ty} {i}");
        }
        assert!(output[32..].iter().all(|v| v.bits() == Scalar::from_bits(ty, fill).bits()), "{ty}");
    }
}

/// Each thread stores every fourth element, so that all of a word are stored by different threads.
#[test]
fn pieces_of_words_by_many_threads() {
    for ty in ScalarType::ALL {
        let (p, id) = copier(ty, 64, Writes::Pieces, |block, t| {
            let at = build::add(build::mul(block, build::int(64)), t);
            store(OUT, at.clone(), build::load(IN, ty, at, None))
        });
        let Some((input, output)) = outcome(&p, id, 4, &Given::default(), u64::MAX) else { continue };
        assert_eq!(bits(&output), bits(&input), "{ty}");
    }
}

/// Whole words, under a condition for all lanes and under one for each word.
#[test]
fn whole_words() {
    for ty in ScalarType::ALL.iter().copied().filter(small) {
        let per = 4 / ty.bytes() as i64;
        for by_word in [false, true] {
            let (p, id) = copier(ty, 4, Writes::Words, |_, t| {
                let at = build::mul(t.clone(), build::int(8));
                let word = |i: i64| build::div(build::offset(at.clone(), i), build::int(per));
                let odd = |e: Expr| build::eq(build::rem(e, build::int(2)), build::int(1));
                let mask = match by_word {
                    true => {
                        let words = (0..8 / per).map(|i| odd(word(i * per))).collect();
                        build::shuffle(words, (0..8).map(|i| (i / per) as u16).collect())
                    }
                    false => build::broadcast(odd(t), 8),
                };
                let value = build::load(IN, ty, dense(at.clone(), 8), None);
                Stmt::Store { buf: OUT, index: dense(at, 8), value, mask: Some(mask) }
            });
            let Some((input, output)) = outcome(&p, id, 1, &Given::default(), 0) else { continue };
            for i in 0..32 {
                let on = if by_word { i / per as usize % 2 == 1 } else { i / 8 % 2 == 1 };
                assert_eq!(output[i].bits(), if on { input[i].bits() } else { 0 }, "{ty} {i} {by_word}");
            }
        }
    }
}

/// Strides that are no multiples of a word: the other code stores pieces.
#[test]
fn strides_of_the_caller() {
    let stride = Sym::Buffer { buf: OUT, dim: 0, field: halide_ir::DimField::Stride };
    let (mut p, id) = copier(U8, 4, Writes::Words, |block, t| {
        let row = build::mul(block, build::sym(stride));
        let at = build::mul(t, build::int(4));
        let value = build::load(IN, U8, dense(build::add(row.clone(), at.clone()), 4), None);
        store(OUT, dense(build::add(row, at), 4), value)
    });
    p.kernels[id].captures.push((stride, Type::INDEX));
    p.kernels[id].buffers[1].word_strides.push(stride);
    for (stride, pieces) in [(20u64, false), (20, true), (17, true)] {
        let options = Options { pieces, ..ALL };
        let code = compiled(&p, id, &options);
        assert_eq!(code.layout.bindings[1].atomic, pieces);
        assert!(code.layout.serves(&[stride]));
        let Some(runner) = runner() else { continue };
        let input: Vec<Scalar> = (0..=255u8).map(Scalar::from).collect();
        let given = Given { scalars: vec![stride], ..Given::default() };
        let result = run(runner, &code, &[5], &given, &[input, vec![Scalar::zero(U8); 256]]);
        for i in 0..5 * stride {
            let expected = if i % stride < 16 { i } else { 0 };
            assert_eq!(result[1][i as usize].bits(), expected, "{stride} {i}");
        }
    }
    assert!(!compiled(&p, id, &ALL).layout.serves(&[17]));
}

/// Through the memory of the block, reversed: every type, at places that do not begin it.
#[test]
fn shared_memory() {
    for ty in ScalarType::ALL {
        let mut p = program(&[ty], &[ty]);
        let tile = internal(&mut p, ty);
        let id = kernel(&mut p, [32, 1, 1], |p, block| {
            let at = |t: Expr| build::add(build::mul(block.clone(), build::int(32)), t);
            let fill = phase(p, build::int(32), |t| store(tile, t.clone(), build::load(IN, ty, at(t), None)));
            let drain = phase(p, build::int(32), |t| {
                store(OUT, at(t.clone()), build::load(tile, ty, build::sub(build::int(31), t), None))
            });
            let body = Box::new(build::block([fill, Stmt::Barrier, drain]));
            Stmt::Alloc { buf: tile, count: build::int(32), constant: Some(32), body }
        });
        uses(&mut p, id, IN, true, Writes::None);
        uses(&mut p, id, OUT, false, if ty.bytes() < 4 { Writes::Pieces } else { Writes::Words });
        let words = 32 * (ty.bytes() as u32).div_ceil(4);
        p.kernels[id].shared.push(Shared { buf: tile, first_word: 5, words });
        p.kernels[id].shared_words = 5 + words;
        let Some((input, output)) = outcome(&p, id, 4, &Given::default(), 0) else { continue };
        for i in 0..128 {
            assert_eq!(output[i].bits(), input[i / 32 * 32 + 31 - i % 32].bits(), "{ty} {i}");
        }
    }
}

/// Storage of one thread: at constants, and at what it computes.
#[test]
fn storage_of_a_thread() {
    for ty in ScalarType::ALL {
        for computed in [false, true] {
            let mut p = program(&[ty], &[ty]);
            let own = internal(&mut p, ty);
            let id = kernel(&mut p, [4, 1, 1], |p, _| {
                phase(p, build::int(4), |t| {
                    let at = dense(build::mul(t.clone(), build::int(4)), 4);
                    let fill = store(own, dense(build::int(0), 4), build::load(IN, ty, at.clone(), None));
                    let back = build::ramp(build::int(3), build::int(-1), 4);
                    let turned = build::rem(
                        build::add(back.clone(), build::broadcast(t, 4)),
                        build::broadcast(build::int(4), 4),
                    );
                    let drain = store(OUT, at, build::load(own, ty, if computed { turned } else { back }, None));
                    let body = Box::new(build::block([fill, drain]));
                    Stmt::Alloc { buf: own, count: build::int(4), constant: Some(4), body }
                })
            });
            uses(&mut p, id, IN, true, Writes::None);
            uses(&mut p, id, OUT, false, Writes::Words);
            let Some((input, output)) = outcome(&p, id, 1, &Given::default(), 0) else { continue };
            for (i, found) in output[..16].iter().enumerate() {
                let turn = if computed { i / 4 } else { 0 };
                let from = i / 4 * 4 + (3 - i % 4 + turn) % 4;
                assert_eq!(found.bits(), input[from].bits(), "{ty} {i} {computed}");
            }
        }
    }
}

/// A thread that reads after it wrote gets what it wrote.
#[test]
fn loads_after_stores() {
    let mut p = program(&[I32], &[I32]);
    let id = kernel(&mut p, [8, 1, 1], |p, _| {
        let i = new_loop(p, "i");
        phase(p, build::int(8), |t| {
            let old = build::load(OUT, I32, t.clone(), None);
            let more = store(OUT, t.clone(), build::add(old, build::load(IN, I32, t.clone(), None)));
            build::for_loop(
                i,
                halide_ir::ForKind::Serial,
                build::int(0),
                build::int(3),
                build::block([more.clone(), more]),
            )
        })
    });
    uses(&mut p, id, IN, true, Writes::None);
    uses(&mut p, id, OUT, true, Writes::Words);
    let Some((input, output)) = outcome(&p, id, 1, &Given::default(), 1) else { return };
    for i in 0..8 {
        assert_eq!(output[i].as_i64() as i32, 1 + (input[i].as_i64() as i32).wrapping_mul(6));
    }
}

/// Runs of small elements that begin anywhere in a word, with a mask for each lane and without; between them nothing
/// changes.
#[test]
fn dense_stores_at_every_remainder() {
    for ty in ScalarType::ALL.into_iter().filter(small) {
        for lanes in [1u16, 2, 3, 4, 5, 8, 11] {
            for (rest, known, masked) in [0, 1, 2, 3].iter().flat_map(|&r| {
                [(true, false), (false, false), (true, true), (false, true)].map(|(known, masked)| (r, known, masked))
            }) {
                // Neighbours write to the same words.
                let step = if known { lanes.next_multiple_of(4).into() } else { i64::from(lanes) };
                let on = |e: Expr| {
                    build::ne(
                        build::rem(e, build::broadcast(build::int(3), lanes)),
                        build::broadcast(build::int(0), lanes),
                    )
                };
                let (mut p, id) = copier(ty, 4, Writes::Pieces, |_, t| {
                    let at = if known { build::int(rest) } else { build::sym(Sym::Temp(0)) };
                    let at = dense(build::add(build::mul(t, build::int(step)), at), lanes);
                    let value = build::load(IN, ty, at.clone(), None);
                    Stmt::Store { buf: OUT, index: at.clone(), value, mask: masked.then(|| on(at)) }
                });
                p.kernels[id].captures.push((Sym::Temp(0), Type::INDEX));
                let given = Given { scalars: vec![rest as u64], ..Given::default() };
                let Some((input, output)) = outcome(&p, id, 1, &given, 0x55) else { continue };
                let fill = Scalar::from_bits(ty, 0x55).bits();
                for (i, found) in (0i64..).zip(&output) {
                    let (run, lane) = ((i - rest).div_euclid(step), (i - rest).rem_euclid(step));
                    let stored = (0..4).contains(&run) && lane < lanes.into() && (!masked || i % 3 != 0);
                    let expected = if stored { input[i as usize].bits() } else { fill };
                    assert_eq!(
                        found.bits(),
                        expected,
                        "{ty} x{lanes} at {rest}, known: {known}, masked: {masked}: {i}"
                    );
                }
            }
        }
    }
}
