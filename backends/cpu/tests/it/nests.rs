//! Loop nests with allocations inside: kernels of wide vectors are handed the memory, which is obtained once per call.

use crate::harness::*;
use halide_core::limits::Limits;
use halide_core::types::ScalarType::I32;
use halide_core::value::Scalar;
use halide_cpu::{CpuFault, Executable, RunArgs, RunStats, Tier};
use halide_ir::{BufId, Expr, ForKind, Memory, Program, Stmt, Sym, build};

const IN: BufId = BufId(0);
const OUT: BufId = BufId(1);
const LANES: u16 = 16;
const ROWS: i64 = 4;

fn alloc(buf: BufId, count: Expr, constant: Option<u64>, body: Stmt) -> Stmt {
    Stmt::Alloc { buf, count, constant, body: Box::new(body) }
}

/// For each vector of `from`, from the start: itself and `add` into `to`.
fn plus(p: &mut Program, from: (BufId, Expr), to: (BufId, Expr), vectors: Expr, add: i32) -> Stmt {
    serial(p, vectors, |x| {
        let at =
            |first: &Expr| dense(build::add(build::mul(x.clone(), build::int(i64::from(LANES))), first.clone()), LANES);
        let add = build::broadcast(build::constant(Scalar::from(add)), LANES);
        store(to.0, at(&to.1), build::add(build::load(from.0, I32, at(&from.1), None), add))
    })
}

/// `ROWS` rows of the output, each as long as the input, through two allocations whose sizes `count` makes of the
/// length and the number of the row; `around` goes around the first of them.
fn rows(count: impl Fn(Expr, Expr) -> (Expr, Option<u64>), around: impl Fn(Expr, Stmt) -> Stmt) -> Program {
    let mut p = program(&[I32], &[I32]);
    let (a, b, c) =
        (internal(&mut p, I32, Memory::Heap), internal(&mut p, I32, Memory::Heap), internal(&mut p, I32, Memory::Heap));
    let n = extent_of(IN);
    let vectors = build::div(n.clone(), build::int(i64::from(LANES)));
    let zero = || build::int(0);
    let first = plus(&mut p, (IN, zero()), (a, zero()), vectors.clone(), 1);
    let second = plus(&mut p, (a, zero()), (b, zero()), vectors.clone(), 10);
    let third = plus(&mut p, (b, zero()), (c, zero()), vectors.clone(), 100);
    let y = p.loops.push("y".into());
    let row = build::mul(build::loop_var(y), n.clone());
    let last = plus(&mut p, (c, zero()), (OUT, row), vectors, 1000);
    let size = |body_of: BufId, body: Stmt| {
        let (count, constant) = count(n.clone(), build::loop_var(y));
        alloc(body_of, count, constant, body)
    };
    // As `free_early` leaves it: the first of three ends before the last begins.
    let inner = build::block([second, Stmt::Free { buf: a }, size(c, build::block([third, last]))]);
    let body = size(a, build::block([first, size(b, inner)]));
    let body = around(build::loop_var(y), body);
    p.body = build::for_loop(y, ForKind::Serial, build::int(0), build::int(ROWS), body);
    p
}

fn run_rows(code: &Executable, n: i64, memory_cap: Option<u64>) -> Result<(Vec<i32>, RunStats), CpuFault> {
    let input = buffer(I32, &(0..n).map(|i| Scalar::from(i as i32)).collect::<Vec<_>>());
    let mut out = halide_core::buffer::AnyBuffer::new(I32, [n * ROWS]).unwrap();
    let raws = [input.raw(), out.view_mut().unwrap().raw_mut()];
    let limits = memory_cap.map(Limits::with_cap);
    let stats = code.run(&RunArgs { buffers: &raws, limits: limits.as_ref(), ..RunArgs::default() })?;
    Ok((values(&out).iter().map(|v| v.as_i128() as i32).collect(), stats))
}

fn expected(n: i64) -> Vec<i32> {
    (0..ROWS * n).map(|i| (i % n) as i32 + 1111).collect()
}

#[test]
fn memory_is_obtained_once_for_all_iterations() {
    for tier in wide_tiers() {
        let p = rows(|n, _| (n, None), |_, s| s);
        let (wide, narrow) = (compiled_for(tier, &p), compiled_for(Tier::Baseline, &p));
        assert_eq!((wide.refusals(), wide.stats().kernels), (&[][..], 1));
        for n in [0, 16, 48, 20_000 * 16] {
            let (out, stats) = run_rows(&wide, n, None).unwrap();
            let (same, per_row) = run_rows(&narrow, n, None).unwrap();
            assert_eq!((&out, &same), (&expected(n), &expected(n)), "{n}");
            // The third takes the place of the first.
            assert_eq!((stats.allocations, per_row.allocations), (2, 3 * ROWS as u64), "{n}");
            assert!(stats.peak_bytes <= per_row.peak_bytes, "{n}: {stats:?} {per_row:?}");
        }
    }
}

/// Pieces of the nest's memory are told apart by buffers where their sizes are values of different names.
#[test]
fn sizes_of_two_names_share_memory() {
    let mut p = program(&[I32], &[I32]);
    let (small, large) = (internal(&mut p, I32, Memory::Heap), internal(&mut p, I32, Memory::Heap));
    let n = extent_of(IN);
    let vectors = build::div(n.clone(), build::int(i64::from(LANES)));
    let y = p.loops.push("y".into());
    let row = build::mul(build::loop_var(y), n.clone());
    let (mut names, mut pairs) = (Vec::new(), Vec::new());
    for name in [Sym::Temp(0), Sym::Temp(1)] {
        names.push((name, n.clone()));
        let zero = || build::int(0);
        let first = plus(&mut p, (IN, zero()), (small, zero()), vectors.clone(), 1);
        let second = plus(&mut p, (small, zero()), (large, zero()), vectors.clone(), 10);
        let third = plus(&mut p, (large, zero()), (OUT, row.clone()), vectors.clone(), 1100);
        let size = build::mul(build::sym(name), build::int(64));
        let inner = alloc(large, size, None, build::block([second, third]));
        pairs.push(alloc(small, build::sym(name), None, build::block([first, inner])));
    }
    let rows = build::for_loop(y, ForKind::Serial, build::int(0), build::int(ROWS), build::block(pairs));
    p.body = build::let_in(names, rows);
    for tier in wide_tiers() {
        let code = compiled_for(tier, &p);
        assert_eq!((code.refusals(), code.stats().kernels), (&[][..], 1));
        let (out, stats) = run_rows(&code, 160, None).unwrap();
        assert_eq!((out, stats.allocations), (expected(160), 2));
        assert!(stats.peak_bytes < 4 * 160 * 66, "{stats:?}");
    }
}

#[test]
fn too_little_memory_is_an_error() {
    for tier in wide_tiers() {
        let code = compiled_for(tier, &rows(|n, _| (n, None), |_, s| s));
        let n = 16_000;
        let bytes = 4 * n as u64;
        let over = |cap| match run_rows(&code, n, Some(cap)) {
            Err(CpuFault::OverCap { buf, over }) => (buf, over.bytes, over.held),
            other => panic!("{other:?}"),
        };
        // There is slack behind every allocation.
        assert_eq!(over(1000), (BufId(2), bytes + 64, 0));
        let one = bytes + 1000;
        assert_eq!(over(one), (BufId(3), bytes + 64, bytes + 64));
        assert_eq!(run_rows(&code, n, Some(2 * one)).unwrap().0, expected(n));
        assert_eq!(run_rows(&code, n, None).unwrap().0, expected(n), "memory was given back");
    }
}

#[test]
fn sizes_that_are_known_inside_only() {
    for tier in wide_tiers() {
        let by_row = |n: Expr, y: Expr| build::add(n, y);
        let weekday = |y: Expr| build::rem(y, build::int(7));
        let why = "tmp2 is on the heap, and how large it is only known inside";
        let cases: [(&str, Program, Option<&str>); 5] = [
            ("by the row", rows(|n, y| (by_row(n, y), None), |_, s| s), Some(why)),
            ("by the row, within limits", rows(|n, y| (by_row(n, y), Some(1000)), |_, s| s), None),
            ("by the row, within far limits", rows(|n, y| (by_row(n, y), Some(1 << 30)), |_, s| s), Some(why)),
            // Where it is not asked whether the row is there, the length may mean nothing.
            (
                "in some rows",
                rows(
                    |n, _| (n, None),
                    |y, s| build::if_else(build::ge(weekday(y), build::int(0)), s, build::nothing()),
                ),
                Some(why),
            ),
            (
                "from a row on",
                rows(|n, _| (n, None), |y, s| build::if_else(build::ge(y, build::int(0)), s, build::nothing())),
                None,
            ),
        ];
        for (name, p, refused) in cases {
            let code = compiled_for(tier, &p);
            let reasons: Vec<&str> = code.refusals().iter().map(|(_, why)| &why[..]).collect();
            assert_eq!(reasons, Vec::from_iter(refused), "{name}");
            assert_eq!(run_rows(&code, 160, None).unwrap().0, expected(160), "{name}");
        }
    }
}

/// The same behind a condition that holds in no iteration.
#[test]
fn what_no_iteration_asks_for_takes_no_memory() {
    for tier in wide_tiers() {
        let huge = |_, _| (build::int(1 << 50), None);
        let from =
            |first: i64| rows(huge, move |y, s| build::if_else(build::ge(y, build::int(first)), s, build::nothing()));
        let code = compiled_for(tier, &from(ROWS));
        assert_eq!((code.refusals(), code.stats().kernels), (&[][..], 1));
        assert_eq!(run_rows(&code, 16, None).unwrap().0, vec![0; 64]);
        let code = compiled_for(tier, &from(ROWS - 1));
        assert!(matches!(run_rows(&code, 16, None), Err(CpuFault::OutOfMemory { .. })));
    }
}

/// A size that is absurd where the allocation never comes about, as a loop around it does not run.
#[test]
fn what_never_comes_about_takes_no_memory() {
    for tier in wide_tiers() {
        let huge = |n: Expr, _| (build::select(build::lt(n.clone(), build::int(32)), build::int(1 << 50), n), None);
        let mut p = rows(huge, |_, s| s);
        let inner = p.loops.push("inner".into());
        let Stmt::For(mut y) = std::mem::replace(&mut p.body, build::nothing()) else { panic!("a loop") };
        let runs = build::div(extent_of(IN), build::int(32));
        let runs = build::binary(halide_core::ops::BinOp::Min, runs, build::int(1));
        y.body = build::for_loop(inner, ForKind::Serial, build::int(0), runs, y.body);
        p.body = Stmt::For(y);
        let code = compiled_for(tier, &p);
        assert_eq!((code.refusals(), code.stats().kernels), (&[][..], 1));
        assert_eq!(run_rows(&code, 64, None).unwrap().0, expected(64));
        let (out, stats) = run_rows(&code, 16, None).unwrap();
        assert_eq!((out, stats.peak_bytes < 1000), (vec![0; 64], true));
    }
}
