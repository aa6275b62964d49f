//! The loops that the generator of wide vectors leaves to Cranelift. The tests of every operator, which run for every
//! family of vector instructions, check that its results are right.

use crate::harness::*;
use expect_test::expect;
use halide_core::ops::{BinOp, MathFn, UnOp};
use halide_core::types::ScalarType;
use halide_core::value::{self, Scalar};
use halide_cpu::Tier;
use halide_ir::{BufId, Cache, DimField, Expr, ForKind, Intrinsic, Stmt, Stream, Sym, build};
use std::collections::BTreeMap;

/// A function that applies an operator to two operands; `None` if their type has no such operator.
type Make = Box<dyn Fn(&Expr, &Expr) -> Option<Expr>>;

/// The operators of a type, by name.
fn all_operators(ty: ScalarType) -> Vec<(String, Make)> {
    let mut cases: Vec<(String, Make)> = Vec::new();
    let mut add = |name: String, make: Make| cases.push((name, make));
    use BinOp::*;
    for op in [Add, Sub, Mul, Div, Mod, Min, Max, BitAnd, BitXor, Absd, Eq, Ne, Lt, Le, Gt, Ge] {
        let fits = value::binary_type(op, ty).is_some();
        add(format!("{op:?}"), Box::new(move |a, b| fits.then(|| build::binary(op, a.clone(), b.clone()))));
    }
    for n in [3, 8] {
        let fits = ty.is_int();
        let divisor = move |lanes| build::broadcast(build::constant(Scalar::int(ty, n)), lanes);
        add(format!("Div {n}"), Box::new(move |a, _| fits.then(|| build::binary(Div, a.clone(), divisor(a.lanes())))));
    }
    use UnOp::*;
    for op in [Neg, Not, Abs, Popcount, Clz, Ctz, Floor, Round, Sqrt, IsNan] {
        let fits = value::unary_type(op, ty).is_some();
        add(format!("{op:?}"), Box::new(move |a, _| fits.then(|| build::unary(op, a.clone()))));
    }
    for to in ScalarType::ALL.into_iter().filter(|to| *to != ty) {
        add(format!("to {to}"), Box::new(move |a, _| Some(build::cast_data(to, a.clone()))));
    }
    use Intrinsic::*;
    for op in [SaturatingAdd, SaturatingSub, HalvingAdd, RoundingHalvingAdd, MulHigh, MulRounded] {
        let fits = if op == MulRounded { ty == ScalarType::I16 } else { ty.is_int() };
        let make = move |a: &Expr, b: &Expr| build::intrinsic(op, vec![a.clone(), b.clone()]);
        add(format!("{op:?}"), Box::new(move |a, b| fits.then(|| make(a, b))));
    }
    for f in [MathFn::Exp, MathFn::Sin] {
        let fits = ty.is_float();
        add(format!("{f:?}"), Box::new(move |a, _| fits.then(|| build::math(f, vec![a.clone()]))));
    }
    cases
}

/// Lists the operators and types that are refused, by reasons, and counts the loops that are not.
fn refused(tier: Tier) -> String {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut kernels = 0;
    for ty in ScalarType::ALL {
        let operand = |buf, index: &Expr| build::load(BufId(buf), ty, index.clone(), None);
        let first = dense(build::int(0), 16);
        let (a, b) = (operand(0, &first), operand(1, &first));
        let cases: Vec<_> = all_operators(ty).into_iter().filter(|(_, make)| make(&a, &b).is_some()).collect();
        let outputs: Vec<ScalarType> = cases.iter().filter_map(|(_, make)| make(&a, &b)?.ty().scalar()).collect();
        let mut p = program(&[ty, ty], &outputs);
        let loops = cases.iter().enumerate().filter_map(|(i, (name, make))| {
            let id = p.loops.push(format!("{name} {ty}").into());
            let index = dense(build::mul(build::loop_var(id), build::int(16)), 16);
            let value = make(&operand(0, &index), &operand(1, &index))?;
            let body = store(BufId(2 + i as u32), index, value);
            Some(build::for_loop(id, ForKind::Serial, build::int(0), build::int(4), body))
        });
        p.body = build::block(loops.collect::<Vec<_>>());
        let code = compiled_for(tier, &p);
        kernels += code.stats().kernels;
        for (name, why) in code.refusals() {
            found.entry(why.clone()).or_default().push(name.clone());
        }
    }
    let text: String = found.iter().map(|(why, names)| format!("{why}: {}\n", names.join(", "))).collect();
    format!("{text}{kernels} loops are kernels\n")
}

/// The same for each: what one family has no instruction for is made of others.
#[test]
fn what_wide_vectors_do_not_do() {
    let expected = expect![[r#"
        Exp of f64: Exp f64
        Sin of f64: Sin f64
        486 loops are kernels
    "#]];
    wide_tiers().into_iter().for_each(|tier| expected.assert_eq(&refused(tier)));
}

/// Stores past the caches need addresses that are multiples of a register, and are ordinary ones elsewhere.
#[test]
fn stores_past_the_caches() {
    const LANES: u16 = 16;
    const LARGE: i64 = 16 << 20;
    // Bytes of the output, and whether what is stored to it passes the caches by.
    for (stream, elements) in [(Stream::Always, 1000), (Stream::IfLarge, 1000), (Stream::IfLarge, LARGE / 4 + 64)] {
        for first in [0, 1, 16] {
            let mut p = program(&[ScalarType::I32], &[ScalarType::I32]);
            p.buffers[BufId(1)].stream = stream;
            let chunks = (elements - first) / i64::from(LANES);
            p.body = serial(&mut p, build::int(chunks), |i| {
                let at = dense(build::add(build::mul(i, build::int(i64::from(LANES))), build::int(first)), LANES);
                let value = build::load(BufId(0), ScalarType::I32, at.clone(), None);
                let one = build::broadcast(build::constant(Scalar::from(1i32)), LANES);
                store(BufId(1), at, build::binary(BinOp::Add, value, one))
            });
            let input: Vec<Scalar> = (0..elements).map(|i| Scalar::from(i as i32)).collect();
            let input = buffer(ScalarType::I32, &input);
            for tier in wide_tiers() {
                let code = compiled_for(tier, &p);
                assert!(code.asm().unwrap_or_default().contains("vmovntdq"), "{}", code.asm().unwrap_or_default());
                let inputs = std::slice::from_ref(&input);
                let (out, _) = run(&code, &[], inputs, &[(ScalarType::I32, elements as usize)]).unwrap();
                for (i, v) in (0..elements).zip(&out[0]) {
                    let stored = (first..first + chunks * i64::from(LANES)).contains(&i);
                    let expected = Scalar::from(if stored { i as i32 + 1 } else { 0 });
                    assert_eq!(*v, expected, "{tier:?} {stream:?} {first} at {i}");
                }
            }
        }
    }
}

/// Half lines of a few rows are combined in time to pass the caches; those of many rows are not.
#[test]
fn half_lines_of_many_rows_stay_in_the_caches() {
    const LANES: i64 = 8;
    const ROW: i64 = 1000;
    for (rows, passes) in [(1, true), (6, true), (7, false), (10, false)] {
        let mut p = program(&[ScalarType::I32], &[ScalarType::I32]);
        p.buffers[BufId(1)].stream = Stream::IfLarge;
        p.body = serial(&mut p, build::int(ROW / LANES), |i| {
            let first = build::mul(i, build::int(LANES));
            let value = build::load(BufId(0), ScalarType::I32, dense(first.clone(), LANES as u16), None);
            let row =
                |n: i64| store(BufId(1), dense(build::offset(first.clone(), n * ROW), LANES as u16), value.clone());
            build::block((0..rows).map(row).collect::<Vec<_>>())
        });
        let code = compiled_for(Tier::Avx2, &p);
        let text = code.asm().unwrap_or_default();
        assert_eq!(text.contains("vmovntdq"), passes, "{rows} rows: {text}");
    }
}

/// Rows that take turns by less than four lines ask whether they are whole pages apart, also if each line is full.
#[test]
fn rows_in_short_turns_ask_for_their_distance() {
    const LANES: i64 = 8;
    for (rows, vectors, asks) in [(1, 2, false), (3, 1, true), (3, 2, true), (3, 4, true), (3, 8, false)] {
        let mut p = program(&[ScalarType::I32], &[ScalarType::I32]);
        let out = &mut p.buffers[BufId(1)];
        out.stream = Stream::IfLarge;
        (out.dims, out.order, out.align, out.fold) = (2, vec![0, 1], vec![1, 1], vec![None, None]);
        let stride = build::sym(Sym::Buffer { buf: BufId(1), dim: 1, field: DimField::Stride });
        p.body = serial(&mut p, build::int(64), |i| {
            let first = build::mul(i, build::int(LANES * vectors));
            let value = build::load(BufId(0), ScalarType::I32, dense(build::int(0), LANES as u16), None);
            let at = |row: i64, n: i64| {
                build::add(build::mul(stride.clone(), build::int(row)), build::offset(first.clone(), n * LANES))
            };
            let all = (0..rows).flat_map(|row| (0..vectors).map(move |n| (row, n)));
            let all = all.map(|(row, n)| store(BufId(1), dense(at(row, n), LANES as u16), value.clone()));
            build::block(all.collect::<Vec<_>>())
        });
        let code = compiled_for(Tier::Avx2, &p);
        let text = code.asm().unwrap_or_default();
        assert!(text.contains("vmovntdq"), "{text}");
        assert_eq!(text.contains(",0FFFh"), asks, "{rows} rows, {vectors} vectors: {text}");
    }
}

/// Short loops do several iterations at a time, and what is left over one by one; none where the loop says so.
#[test]
fn short_loops_are_unrolled() {
    // Vectors of 32 bytes: a core stores two of them a cycle.
    const LANES: i64 = 8;
    for (count, never_unroll) in (0..14).flat_map(|n| [(n, false), (n, true)]) {
        // A copy of rows whose sum is kept, too: registers go from one copy of the body to the next.
        let mut p = program(&[ScalarType::I32], &[ScalarType::I32, ScalarType::I32]);
        let sum = internal(&mut p, ScalarType::I32, halide_ir::Memory::Register);
        let whole = dense(build::int(0), LANES as u16);
        let kept = |at| build::load(sum, ScalarType::I32, at, None);
        let zero = build::broadcast(build::constant(Scalar::from(0i32)), LANES as u16);
        let extent = build::sub(extent_of(BufId(1)), build::int(LANES));
        let chunks = build::binary(BinOp::Div, extent, build::int(LANES));
        let rows = serial(&mut p, chunks, |i| {
            let at = dense(build::mul(i, build::int(LANES)), LANES as u16);
            let value = build::load(BufId(0), ScalarType::I32, at.clone(), None);
            build::block([
                store(BufId(1), at, value.clone()),
                store(sum, whole.clone(), build::binary(BinOp::Add, kept(whole.clone()), value)),
            ])
        });
        p.loops.iter_mut().for_each(|l| l.never_unroll = never_unroll);
        let body = serial(&mut p, build::int(1), |_| {
            let start = store(sum, whole.clone(), zero.clone());
            let end = store(BufId(2), whole.clone(), kept(whole.clone()));
            let body = build::block([start, rows.clone(), end]);
            Stmt::Alloc { buf: sum, count: build::int(LANES), constant: Some(LANES as u64), body: Box::new(body) }
        });
        p.body = body;
        let elements = (count + 1) * LANES;
        let input: Vec<Scalar> = (0..elements).map(|i| Scalar::from(i as i32)).collect();
        for tier in wide_tiers() {
            let code = compiled_for(tier, &p);
            assert_eq!(!code.unrolled().is_empty(), !never_unroll, "{tier:?}: {}", code.asm().unwrap_or_default());
            let outputs = [(ScalarType::I32, elements as usize), (ScalarType::I32, LANES as usize)];
            let (out, _) = run(&code, &[], &[buffer(ScalarType::I32, &input)], &outputs).unwrap();
            for i in 0..elements {
                let copied = Scalar::from(if i < count * LANES { i as i32 } else { 0 });
                assert_eq!(out[0][i as usize], copied, "{tier:?}: {count} at {i}");
            }
            for i in 0..LANES {
                let total: i64 = (0..count).map(|row| row * LANES + i).sum();
                assert_eq!(out[1][i as usize], Scalar::from(total as i32), "{tier:?}: {count} in lane {i}");
            }
        }
    }
}

/// Prefetches do nothing, wherever they point: in kernels, as kernels of their own, and not at all without wide
/// vectors.
#[test]
fn prefetches() {
    const LANES: u16 = 16;
    let at = |e: Expr| build::add(build::mul(e, build::int(1 << 40)), build::int(-7));
    for alone in [false, true] {
        let mut p = program(&[ScalarType::I32], &[ScalarType::I32]);
        let small = internal(&mut p, ScalarType::I32, halide_ir::Memory::Register);
        p.body = serial(&mut p, build::int(4), |i| {
            let index = if alone { i.clone() } else { dense(build::mul(i.clone(), build::int(LANES.into())), LANES) };
            let value = build::load(BufId(0), ScalarType::I32, index.clone(), None);
            let ask = |buf, at, cache| Stmt::Prefetch { buf, at: vec![at], cache };
            let all = [
                ask(BufId(0), build::offset(i.clone(), 1), Cache::First),
                ask(BufId(1), at(i.clone()), Cache::Second),
                ask(small, i, Cache::First),
                store(small, build::broadcast(build::int(0), index.lanes()), value.clone()),
                store(BufId(1), index, value),
            ];
            let body = Box::new(build::block(all));
            Stmt::Alloc { buf: small, count: build::int(1), constant: Some(1), body }
        });
        let input: Vec<Scalar> = (0..64).map(Scalar::from).collect();
        let input = buffer(ScalarType::I32, &input);
        for tier in tiers() {
            let code = compiled_for(tier, &p);
            let asm = code.asm().unwrap_or_default();
            let (near, far) = (asm.matches("prefetcht0").count(), asm.matches("prefetcht1").count());
            let expected = if tier == Tier::Baseline { (0, 0) } else { (1, 1) };
            assert_eq!((near, far), expected, "{tier:?} alone {alone}\n{asm}");
            let (out, _) = run(&code, &[], std::slice::from_ref(&input), &[(ScalarType::I32, 64)]).unwrap();
            let stored = if alone { 4 } else { 64 };
            for (i, v) in out[0].iter().enumerate() {
                assert_eq!(*v, Scalar::from(if i < stored { i as i32 } else { 0 }), "{tier:?} alone {alone} at {i}");
            }
        }
    }
}

/// Products and sums that are one instruction, with the sum in a register that changes, and in memory.
#[test]
fn sums_of_products_in_registers() {
    const K: i64 = 37;
    let mut random = SplitMix(5);
    for ty in [ScalarType::F32, ScalarType::F64] {
        for lanes in [1, 5, 16, 24] {
            let mut p = program(&[ty, ty], &[ty]);
            let acc = internal(&mut p, ty, halide_ir::Memory::Auto);
            let at = |first: Expr| if lanes == 1 { first } else { dense(first, lanes) };
            let zero = build::broadcast(build::constant(Scalar::float(ty, 0.0)), lanes);
            let zero = if lanes == 1 { build::constant(Scalar::float(ty, 0.0)) } else { zero };
            let accumulate = serial(&mut p, build::int(K), |k| {
                let a = build::load(BufId(0), ty, k.clone(), None);
                let a = if lanes == 1 { a } else { build::broadcast(a, lanes) };
                let b = build::load(BufId(1), ty, at(build::mul(k, build::int(i64::from(lanes)))), None);
                let old = build::load(acc, ty, at(build::int(0)), None);
                store(acc, at(build::int(0)), build::math(MathFn::MulAdd, vec![a, b, old]))
            });
            let result = build::load(acc, ty, at(build::int(0)), None);
            let last = build::load(BufId(1), ty, at(build::int(0)), None);
            let three = build::math(MathFn::Fma, vec![result.clone(), result, last]);
            let body = build::block([
                store(acc, at(build::int(0)), zero),
                accumulate,
                store(BufId(2), at(build::int(0)), three),
            ]);
            p.body = serial(&mut p, build::int(2), |_| halide_ir::Stmt::Alloc {
                buf: acc,
                count: build::int(i64::from(lanes)),
                constant: Some(u64::from(lanes)),
                body: Box::new(body),
            });
            let mut numbers = |n: i64| -> Vec<Scalar> {
                (0..n).map(|_| Scalar::float(ty, (random.next() % 1000) as f64 / 7.0 - 50.0)).collect()
            };
            let (a, b) = (numbers(K), numbers(K * i64::from(lanes)));
            let want: Vec<Scalar> = (0..lanes as usize)
                .map(|lane| {
                    let zero = Scalar::float(ty, 0.0);
                    let sum = (0..K as usize)
                        .fold(zero, |sum, k| value::math(MathFn::Fma, &[a[k], b[k * lanes as usize + lane], sum]));
                    value::math(MathFn::Fma, &[sum, sum, b[lane]])
                })
                .collect();
            for tier in tiers() {
                let code = compiled_for(tier, &p);
                let inputs = [buffer(ty, &a), buffer(ty, &b)];
                let (out, _) = run(&code, &[], &inputs, &[(ty, lanes as usize)]).unwrap();
                assert_eq!(out[0], want, "{tier:?} {ty} {lanes} lanes {}", code.asm().unwrap_or_default());
                if lanes > 1 && tier > Tier::Baseline {
                    assert!(
                        code.asm().unwrap_or_default().contains("vfmadd231p")
                            && code.asm().unwrap_or_default().contains("vfmadd213p"),
                        "{}",
                        code.asm().unwrap_or_default()
                    );
                }
            }
        }
    }
}

/// Indices divided by constants: loops over storage that is folded, say.
#[test]
fn quotients_of_scalar_indices() {
    for d in [2i64, 3, 5, 6, 7, 10, 125, 641, 1 << 20, 1_000_000_007, i64::from(i32::MAX)] {
        let edges = [0, 1, d - 1, d, d + 1, 2 * d - 1, 1 << 31, (1 << 31) - 1, 1 << 47, (1 << 62) - 1, i64::MAX];
        let numbers: Vec<i64> = edges.iter().flat_map(|&v| [v, -v, -1 - v]).collect();
        let mut p = program(&[ScalarType::I64], &[ScalarType::I64; 2]);
        p.body = serial(&mut p, build::int(numbers.len() as i64), |i| {
            let x = build::to_index(build::load(BufId(0), ScalarType::I64, i.clone(), None));
            let at = dense(build::mul(i, build::int(2)), 2);
            let results = [(BufId(1), BinOp::Div), (BufId(2), BinOp::Mod)].map(|(buf, op)| {
                let made = build::cast_data(ScalarType::I64, build::binary(op, x.clone(), build::int(d)));
                store(buf, at.clone(), build::broadcast(made, 2))
            });
            build::block(results)
        });
        let input: Vec<Scalar> = numbers.iter().map(|&v| Scalar::from(v)).collect();
        let outputs = [(ScalarType::I64, 2 * numbers.len()); 2];
        for tier in wide_tiers() {
            let code = compiled_for(tier, &p);
            assert_eq!(code.refusals(), []);
            let (out, _) = run(&code, &[], &[buffer(ScalarType::I64, &input)], &outputs).unwrap();
            for (i, &v) in numbers.iter().enumerate() {
                let got = [out[0][2 * i], out[0][2 * i + 1], out[1][2 * i]].map(|s| s.as_i128() as i64);
                assert_eq!(got, [v.div_euclid(d), v.div_euclid(d), v.rem_euclid(d)], "{tier:?} {v} by {d}");
            }
        }
    }
}

/// Loads within limits, as at the borders of images, at every distance from them.
#[test]
fn coordinates_within_limits() {
    const EXTENT: i64 = 90;
    let mut places: Vec<[i64; 3]> = Vec::new();
    for (low, high) in [(0, EXTENT - 1), (0, 0), (EXTENT - 1, EXTENT - 1), (30, 37), (10, 60)] {
        places.extend((-140..140).step_by(3).map(|first| [first, low, high]));
        places.extend([[-(1 << 40), low, high], [1 << 40, low, high]]);
    }
    let numbers: Vec<Scalar> = places.iter().flatten().map(|&v| Scalar::from(v)).collect();
    for ty in [ScalarType::U8, ScalarType::U16, ScalarType::I32, ScalarType::F64] {
        let element = |i: i64| Scalar::int(ScalarType::I32, i128::from(i % 119));
        let image: Vec<Scalar> = (0..EXTENT).map(|i| value::cast(ty, element(i))).collect();
        for lanes in [4u16, 7, 16, 17, 32, 64] {
            for stride in [1i64, 2] {
                let mut p = program(&[ty, ScalarType::I64], &[ty]);
                let named = halide_ir::Sym::Temp(0);
                p.next_temp = 1;
                p.body = serial(&mut p, build::int(places.len() as i64), |i| {
                    let at = |k: i64| build::add(build::mul(i.clone(), build::int(3)), build::int(k));
                    let number = |k: i64| build::to_index(build::load(BufId(1), ScalarType::I64, at(k), None));
                    let limit = |k: i64| build::broadcast(number(k), lanes);
                    // 5 less and 5 more: what is added between the limits.
                    let five = build::broadcast(build::int(5), lanes);
                    let ramp = build::ramp(number(0), build::int(stride), lanes);
                    let low = build::sub(build::binary(BinOp::Max, ramp, limit(1)), five.clone());
                    let within = build::binary(BinOp::Min, low, build::sub(limit(2), five.clone()));
                    let index = build::add(build::typed_sym(named, within.ty()), five);
                    let value = build::load(BufId(0), ty, index, None);
                    let to = dense(build::mul(i, build::int(i64::from(lanes))), lanes);
                    let body = Box::new(store(BufId(2), to, value));
                    halide_ir::Stmt::Let { bindings: vec![(named, within)], body }
                });
                let n = places.len() * usize::from(lanes);
                let inputs = [buffer(ty, &image), buffer(ScalarType::I64, &numbers)];
                for tier in wide_tiers() {
                    let code = compiled_for(tier, &p);
                    let asm = code.asm().unwrap_or_default();
                    let gathers = lanes as usize * ty.bytes() <= 16 || (tier == Tier::Avx2 && ty != ScalarType::I32);
                    assert!(gathers || !(asm.contains("vpgather") || asm.contains("vpinsr")), "{ty} {lanes} {asm}");
                    let (out, _) = run(&code, &[], &inputs, &[(ty, n)]).unwrap();
                    for (k, got) in out[0].iter().enumerate() {
                        let lane = (k % usize::from(lanes)) as i64;
                        let [first, low, high] = places[k / usize::from(lanes)];
                        let at = (first + lane * stride).max(low).min(high);
                        let what = format!("{tier:?} {ty} {lanes} lanes {stride} apart: {first} in {low}..{high}");
                        assert_eq!(*got, image[at as usize], "{what}");
                    }
                }
            }
        }
    }
}
