//! Loads and stores of every shape; nothing outside of what they cover is touched.

#[cfg(target_os = "linux")]
use crate::guarded::Guarded;
use crate::harness::*;
use halide_core::types::ScalarType::*;
use halide_core::value::Scalar;
use halide_cpu::RunArgs;
use halide_ir::{BufId, Expr, Memory, Stmt, build};

const IN: BufId = BufId(0);
const OUT: BufId = BufId(1);

/// Copies `lanes` elements with stride `step` from guarded memory to guarded memory: input and output end at a page
/// that faults, then start behind one.
#[cfg(target_os = "linux")]
#[test]
fn nothing_beyond_the_ends_is_touched() {
    let (from, to) = (Guarded::new(), Guarded::new());
    for ty in [U8, U16, F32, F64, Bool] {
        for lanes in [2u16, 3, 5, 7, 8, 9, 11, 15, 16, 17, 31, 33, 64] {
            for (step, other) in [(1i64, 1i64), (2, 1), (3, 1), (4, 1), (-1, 1), (-2, 3), (1, 2), (7, -1), (0, 1)] {
                let n = lanes as usize;
                let span = |s: i64| (n - 1) * s.unsigned_abs() as usize + 1;
                let index = |s: i64| {
                    let base = if s < 0 { span(s) as i64 - 1 } else { 0 };
                    build::ramp(build::int(base), build::int(s), lanes)
                };
                let mut p = program(&[ty], &[ty]);
                let body = store(OUT, index(other), build::load(IN, ty, index(step), None));
                p.body = twice(&mut p, body);
                let (all, size) = (compiled_everywhere(&p), ty.bytes());
                let source = ascending(ty, span(step));
                let (input, output) = (bytes_of(&source), span(other) * size);
                let ends = [(from.end(input.len()), to.end(output)), (from.start(), to.start())];
                for (e, (a, b)) in all.iter().flat_map(|e| ends.map(|ends| (e, ends))) {
                    from.fill(a, &input);
                    to.fill(b, &vec![0xcd; output]);
                    let buffers = [raw(a, ty, span(step)), raw(b, ty, span(other))];
                    e.run(&RunArgs { buffers: &buffers, ..RunArgs::default() }).unwrap();
                    let mut expected = vec![0xcd; output];
                    let at = |s: i64, i: usize| {
                        (if s < 0 { span(s) as i64 - 1 + s * i as i64 } else { s * i as i64 }) as usize
                    };
                    for i in 0..n {
                        let v = bytes_of(&source[at(step, i)..=at(step, i)]);
                        expected[at(other, i) * size..][..size].copy_from_slice(&v);
                    }
                    assert_eq!(to.read(b, output), expected, "{ty} x{lanes} from {step} to {other}");
                }
            }
        }
    }
}

/// A masked copy whose masked-off lanes lie in pages that fault.
#[cfg(target_os = "linux")]
#[test]
fn masked_lanes_are_not_touched() {
    let (from, to) = (Guarded::new(), Guarded::new());
    for ty in [U8, U16, U32, F64, Bool] {
        for lanes in LANES {
            for step in [1i64, 2, 0] {
                for live in [0, 1, lanes as usize / 2, lanes as usize] {
                    let live = live.min(lanes as usize);
                    let mut p = program(&[ty], &[ty]);
                    let index = build::ramp(build::int(0), build::int(step), lanes);
                    let count = extent_of(OUT);
                    let dense = dense(build::int(0), lanes);
                    let mask = build::lt(dense.clone(), build::broadcast(count, lanes));
                    let value = build::load(IN, ty, index, Some(mask.clone()));
                    let body = Stmt::Store { buf: OUT, index: dense, value, mask: Some(mask) };
                    p.body = twice(&mut p, body);
                    let span = if live == 0 { 0 } else { (live - 1) * step as usize + 1 };
                    let source = ascending(ty, span);
                    let input = bytes_of(&source);
                    let (a, b) = (from.end(input.len()), to.end(live * ty.bytes()));
                    from.fill(a, &input);
                    let expected: Vec<Scalar> = (0..live).map(|i| source[i * step as usize]).collect();
                    for e in compiled_everywhere(&p) {
                        to.fill(b, &vec![0xcd; live * ty.bytes()]);
                        let buffers = [raw(a, ty, span), raw(b, ty, live)];
                        e.run(&RunArgs { buffers: &buffers, ..RunArgs::default() }).unwrap();
                        let stored = to.read(b, live * ty.bytes());
                        assert_eq!(stored, bytes_of(&expected), "{ty} x{lanes} step {step}: {live}");
                    }
                }
            }
        }
    }
}

/// Coordinates that rise and are clamped, under the mask of the end of a row: only what the first lanes read is
/// touched.
#[cfg(target_os = "linux")]
#[test]
fn clamped_rows_that_end_are_not_touched_beyond() {
    /// Elements of a buffer whose extent no code generator knows.
    const KNOWN: usize = 7;
    let (from, to) = (Guarded::new(), Guarded::new());
    let (out, other) = (BufId(2), vec![0u8; KNOWN]);
    for (ty, lanes) in [U8, I16, F32, F64].into_iter().flat_map(|ty| LANES.map(|lanes| (ty, lanes))) {
        let n = i64::from(lanes);
        for (step, first) in [(1i64, -n / 2), (1, 0), (1, 3), (2, -3), (2, 0), (1, -2 * n), (1, 2 * n), (3, -1)] {
            // Below the last lane's coordinate, at it, and beyond all.
            for most in [n / 3, n - 1, 1 << 20] {
                let at = |lane: i64| (first + step * lane).min(most).max(0) as usize;
                let mut p = program(&[ty, U8], &[ty]);
                let base = build::add(extent_of(BufId(1)), build::int(first - KNOWN as i64));
                let whole = |value: i64| build::broadcast(build::int(value), lanes);
                let ramp = build::ramp(base, build::int(step), lanes);
                let index = build::max(build::min(ramp, whole(most)), whole(0));
                let dense = dense(build::int(0), lanes);
                let mask = match first % 2 {
                    0 => build::lt(dense.clone(), build::broadcast(extent_of(out), lanes)),
                    _ => build::le(dense.clone(), build::broadcast(build::sub(extent_of(out), build::int(1)), lanes)),
                };
                let value = build::load(IN, ty, index, Some(mask.clone()));
                let body = Stmt::Store { buf: out, index: dense, value, mask: Some(mask) };
                p.body = twice(&mut p, body);
                let all = compiled_everywhere(&p);
                for live in [0, 1, 2, n / 2, n - 1, n].into_iter().filter(|live| (0..=n).contains(live)) {
                    let span = if live == 0 { 0 } else { at(live - 1) + 1 };
                    let source = ascending(ty, span);
                    let (input, size) = (bytes_of(&source), live as usize * ty.bytes());
                    let (a, b) = (from.end(input.len()), to.end(size));
                    from.fill(a, &input);
                    let expected: Vec<Scalar> = (0..live).map(|lane| source[at(lane)]).collect();
                    for e in &all {
                        to.fill(b, &vec![0xcd; size]);
                        let unknown = raw(other.as_ptr().cast_mut(), U8, KNOWN);
                        let buffers = [raw(a, ty, span), unknown, raw(b, ty, live as usize)];
                        e.run(&RunArgs { buffers: &buffers, ..RunArgs::default() }).unwrap();
                        let context = format!("{ty} x{lanes} from {first} by {step} to {most}: {live}");
                        assert_eq!(to.read(b, size), bytes_of(&expected), "{context}");
                    }
                }
            }
        }
    }
}

#[test]
fn gathers_and_scatters() {
    let mut r = SplitMix(20);
    for ty in [Bool, I8, U16, F16, F32, I64] {
        for lanes in LANES {
            let n = 64;
            let mut p = program(&[ty, I32, U8], &[ty, ty, ty]);
            let (table, places, masks) = (BufId(0), BufId(1), BufId(2));
            let all = dense(build::int(0), lanes);
            let place = build::load(places, I32, all.clone(), None);
            let mask = build::ne(
                build::load(masks, U8, all.clone(), None),
                build::broadcast(build::constant(Scalar::from(0u8)), lanes),
            );
            // Index arithmetic around the gathered coordinate: offset, scaled, clamped.
            let index = build::to_index(place.clone());
            let clamp = |e: Expr| {
                let (low, high) = (build::broadcast(build::int(0), lanes), build::broadcast(build::int(n - 1), lanes));
                build::max(build::min(e, high), low)
            };
            let far = clamp(build::sub(build::mul(index.clone(), build::broadcast(build::int(2), lanes)), all.clone()));
            let body = build::block([
                store(BufId(3), all.clone(), build::load(table, ty, index.clone(), None)),
                Stmt::Store {
                    buf: BufId(4),
                    index: index.clone(),
                    value: build::load(table, ty, all.clone(), None),
                    mask: Some(mask.clone()),
                },
                store(BufId(5), all.clone(), build::load(table, ty, far, Some(mask))),
            ]);
            p.body = twice(&mut p, body);
            let source = ascending(ty, n as usize);
            let mut order: Vec<i64> = (0..n).collect();
            for i in (1..order.len()).rev() {
                order.swap(i, r.next() as usize % (i + 1));
            }
            let places: Vec<Scalar> = order.iter().map(|v| Scalar::from(*v as i32)).collect();
            let masks: Vec<Scalar> = (0..n).map(|_| Scalar::from((r.next() % 2) as u8)).collect();
            let inputs = [buffer(ty, &source), buffer(I32, &places), buffer(U8, &masks)];
            let (out, _) = run_everywhere(&p, &[], &inputs, &[(ty, n as usize); 3]).unwrap();
            for i in 0..lanes as usize {
                let at = order[i] as usize;
                let live = masks[i].as_bool();
                assert_eq!(out[0][i], source[at], "gather {ty} x{lanes}");
                assert_eq!(out[1][at], if live { source[i] } else { Scalar::zero(ty) }, "scatter {ty} x{lanes}");
                let far = (2 * order[i] - i as i64).clamp(0, n - 1) as usize;
                assert_eq!(out[2][i], if live { source[far] } else { Scalar::zero(ty) }, "masked gather {ty} x{lanes}");
            }
        }
    }
}

#[test]
fn strides_known_at_run_time() {
    let mut p = program(&[I32, I32], &[I32]);
    let stride = build::to_index(build::load(BufId(1), I32, build::int(0), None));
    let index = build::ramp(build::int(4), stride.clone(), 8);
    let back = build::ramp(build::int(14), build::mul(stride, build::int(-2)), 8);
    p.body = build::block([
        store(BufId(2), dense(build::int(0), 8), build::load(IN, I32, index.clone(), None)),
        store(BufId(2), back, build::load(IN, I32, index, None)),
    ]);
    let source = ascending(I32, 64);
    let inputs = [buffer(I32, &source), buffer(I32, &[Scalar::from(1i32)])];
    let (out, _) = run_everywhere(&p, &[], &inputs, &[(I32, 16)]).unwrap();
    let numbers: Vec<i64> = out[0].iter().map(|v| v.as_i64()).collect();
    assert_eq!(numbers, [12, 6, 11, 8, 10, 10, 9, 12, 8, 0, 7, 0, 6, 0, 5, 0]);
}

#[test]
fn shuffles() {
    let mut r = SplitMix(21);
    for ty in [Bool, U8, I16, F32, F64] {
        for lanes in [1u16, 2, 3, 5, 8, 16, 17, 32] {
            for out_lanes in [1u16, 2, 4, 7, 16, 33] {
                let picks: Vec<u16> = (0..out_lanes).map(|_| (r.next() % u64::from(3 * lanes)) as u16).collect();
                let mut p = program(&[ty], &[ty]);
                let load = |k: i64| build::load(IN, ty, dense(build::int(k * i64::from(lanes)), lanes), None);
                let value = build::shuffle(vec![load(0), load(1), load(2)], picks.clone());
                let body = store(OUT, dense(build::int(0), out_lanes), value);
                p.body = twice(&mut p, body);
                let source = ascending(ty, 3 * lanes as usize);
                let (out, _) = run_everywhere(&p, &[], &[buffer(ty, &source)], &[(ty, out_lanes as usize)]).unwrap();
                let expected: Vec<Scalar> = picks.iter().map(|k| source[*k as usize]).collect();
                assert_eq!(out[0], expected, "{ty} {picks:?} of 3 x{lanes}");
            }
        }
    }
}

/// Shuffles of transposes: loads from several places put together, lanes that take turns in chunks, and chunks.
#[test]
fn shuffles_of_tiles() {
    let at = |start: u16, lanes: u16, ty| build::load(IN, ty, dense(build::int(start.into()), lanes), None);
    for ty in [U8, I16, F16, F32, I64, F64] {
        let mut cases: Vec<(Vec<u16>, Expr)> = Vec::new();
        for (lanes, count) in
            [(1, 4), (2, 2), (2, 8), (4, 2), (4, 3), (4, 8), (8, 4), (8, 7), (16, 2), (16, 4), (32, 2)]
        {
            let starts: Vec<u16> = (0..count).map(|i| (i * 37 + 3) % 61).collect();
            let loads = starts.iter().map(|s| at(*s, lanes, ty)).collect();
            let all = starts.iter().flat_map(|s| *s..s + lanes).collect();
            cases.push((all, build::shuffle(loads, (0..lanes * count).collect())));
        }
        for (lanes, block) in [(2, 2), (4, 2), (4, 4), (8, 4), (8, 8), (12, 4), (16, 8), (16, 16), (32, 8), (64, 16)] {
            for first in [0, 1, block / 4, block / 2] {
                let pick = |i: u16| i / block * block + first + i % block / 2 + i % 2 * lanes;
                let picks: Vec<u16> = (0..lanes).map(pick).collect();
                if picks.iter().any(|p| *p >= 2 * lanes) {
                    continue;
                }
                let source = |p: &u16| if *p < lanes { *p + 5 } else { *p - lanes + 90 };
                let value = build::shuffle(vec![at(5, lanes, ty), at(90, lanes, ty)], picks.clone());
                cases.push((picks.iter().map(source).collect(), value));
            }
        }
        for (lanes, chunk) in [(8, 2), (8, 4), (16, 4), (16, 8), (32, 8), (32, 16), (64, 16), (64, 32)] {
            for first in [0, 1, chunk, lanes - chunk] {
                let value = build::shuffle(vec![at(9, lanes, ty)], (first..first + chunk).collect());
                cases.push(((first + 9..first + 9 + chunk).collect(), value));
            }
        }
        let source = ascending(ty, 160);
        for (expected, value) in cases {
            let mut p = program(&[ty], &[ty]);
            let body = store(OUT, dense(build::int(0), value.lanes()), value.clone());
            p.body = twice(&mut p, body);
            let (out, _) = run_everywhere(&p, &[], &[buffer(ty, &source)], &[(ty, expected.len())]).unwrap();
            let expected: Vec<Scalar> = expected.iter().map(|k| source[usize::from(*k)]).collect();
            assert_eq!(out[0], expected, "{ty} {value:?}");
        }
    }
}

/// A sum kept in an allocation, wherever that lives.
#[test]
fn allocations_in_every_place() {
    for ty in [U8, U16, F32, I64] {
        for lanes in LANES {
            for memory in [Memory::Auto, Memory::Heap, Memory::Stack, Memory::Register] {
                for constant in [None, Some(u64::from(lanes))] {
                    let mut p = program(&[ty], &[ty]);
                    let sum = internal(&mut p, ty, memory);
                    let all = dense(build::int(0), lanes);
                    let load = |b: BufId| build::load(b, ty, dense(build::int(0), lanes), None);
                    let zero = build::broadcast(build::constant(Scalar::zero(ty)), lanes);
                    let add = serial(&mut p, build::int(5), |k| {
                        let next = build::load(IN, ty, dense(build::mul(k, build::int(i64::from(lanes))), lanes), None);
                        store(sum, all.clone(), build::add(load(sum), next))
                    });
                    let body = build::block([store(sum, all.clone(), zero), add, store(OUT, all.clone(), load(sum))]);
                    p.body =
                        Stmt::Alloc { buf: sum, count: build::int(i64::from(lanes)), constant, body: Box::new(body) };
                    let source = ascending(ty, 5 * lanes as usize);
                    let (out, stats) =
                        run_everywhere(&p, &[], &[buffer(ty, &source)], &[(ty, lanes as usize)]).unwrap();
                    for i in 0..lanes as usize {
                        let sum = (0..5).fold(Scalar::zero(ty), |s, k| {
                            halide_core::value::binary(halide_core::ops::BinOp::Add, s, source[k * lanes as usize + i])
                        });
                        assert_eq!(out[0][i], sum, "{ty} x{lanes} {memory:?} {constant:?}");
                    }
                    let heap = constant.is_none() || memory == Memory::Heap;
                    assert_eq!(stats.allocations, u64::from(heap), "{ty} x{lanes} {memory:?} {constant:?}");
                }
            }
        }
    }
}

/// Pieces of one allocation that are accessed alone and together, under conditions and masks.
#[test]
fn register_allocations_with_several_pieces() {
    for (split, memory) in [(8u16, Memory::Auto), (4, Memory::Auto), (8, Memory::Heap)] {
        let mut p = program(&[I32, U8], &[I32]);
        let tmp = internal(&mut p, I32, memory);
        let rest = 16 - split;
        let at = |first: i64, n: u16| dense(build::int(first), n);
        let load = |b: BufId, first: i64, n: u16| build::load(b, I32, dense(build::int(first), n), None);
        let flag =
            |i: i64| build::ne(build::load(BufId(1), U8, build::int(i), None), build::constant(Scalar::from(0u8)));
        let mask = build::lt(load(IN, 16, rest), load(IN, 32, rest));
        let conditional = build::if_else(
            flag(0),
            store(tmp, at(0, split), load(IN, 20, split)),
            store(tmp, at(0, split), load(IN, 40, split)),
        );
        let masked =
            Stmt::Store { buf: tmp, index: at(i64::from(split), rest), value: load(IN, 1, rest), mask: Some(mask) };
        let body = build::block([
            store(tmp, at(0, 16), load(IN, 0, 16)),
            conditional,
            masked,
            store(BufId(2), at(0, 16), load(tmp, 0, 16)),
        ]);
        p.body = Stmt::Alloc { buf: tmp, count: build::int(16), constant: Some(16), body: Box::new(body) };
        let mut r = SplitMix(22);
        let source: Vec<Scalar> = (0..64).map(|_| Scalar::from((r.next() % 100) as i32)).collect();
        for taken in [0u8, 1] {
            let inputs = [buffer(I32, &source), buffer(U8, &[Scalar::from(taken)])];
            let (out, _) = run_everywhere(&p, &[], &inputs, &[(I32, 16)]).unwrap();
            for i in 0..16usize {
                let expected = if i < split as usize {
                    source[i + if taken == 1 { 20 } else { 40 }]
                } else {
                    let k = i - split as usize;
                    if source[16 + k].as_i64() < source[32 + k].as_i64() { source[1 + k] } else { source[i] }
                };
                assert_eq!(out[0][i], expected, "piece of {split}, lane {i}, {taken}");
            }
        }
    }
}

/// Stores between two equal loads change what the second one gives.
#[test]
fn loads_after_stores_are_not_reused() {
    let mut p = program(&[], &[I32, I32]);
    let (a, b) = (BufId(0), BufId(1));
    let load = |i: i64| build::load(a, I32, build::int(i), None);
    let one = || build::constant(Scalar::from(1i32));
    let vector = || build::load(a, I32, dense(build::int(0), 4), None);
    let bump = serial(&mut p, build::int(3), |_| store(a, build::int(0), build::add(load(0), one())));
    p.body = build::block([
        store(a, build::int(0), build::constant(Scalar::from(5i32))),
        store(b, build::int(0), build::add(load(0), one())),
        store(a, dense(build::int(0), 4), build::broadcast(build::constant(Scalar::from(7i32)), 4)),
        store(b, build::int(1), build::add(load(0), one())),
        store(a, build::int(2), build::constant(Scalar::from(9i32))),
        store(b, dense(build::int(2), 4), vector()),
        bump,
        store(b, build::int(6), build::add(load(0), one())),
    ]);
    let (out, _) = run_everywhere(&p, &[], &[], &[(I32, 4), (I32, 7)]).unwrap();
    let numbers: Vec<i64> = out[1].iter().map(|v| v.as_i64()).collect();
    assert_eq!(numbers, [6, 8, 7, 7, 9, 7, 11]);
}
