//! Stack: what compiled code needs of it, on threads that have less.

use crate::harness::*;
use halide_core::types::ScalarType::I32;
use halide_core::value::Scalar;
use halide_cpu::{CpuError, CpuOptions, Executable, FunctionCode, RunArgs, RunStats, Tier, compile};
use halide_ir::target::Budget;
use halide_ir::{BufId, Fault, FaultId, LoopId, Memory, Program, Stmt, Sym, Type, build};

/// Elements of an allocation that is as large as may be on the stack.
const PIECE: i64 = 2048;
const PIECES: usize = 7;
/// The depth of the nest of parallel loops of two iterations.
const LEVELS: u32 = 8;

/// Parallel loops in each other, each of which keeps `PIECES` allocations on the stack and asserts, after the loops
/// inside, that they hold what it stored. The innermost one says at its number that it has run.
fn nested(p: &mut Program, outer: Vec<LoopId>) -> Stmt {
    if outer.len() == LEVELS as usize {
        let number = outer
            .iter()
            .enumerate()
            .fold(build::int(0), |sum, (i, l)| build::add(sum, build::mul(build::loop_var(*l), build::int(1 << i))));
        return store(BufId(0), number, build::constant(Scalar::from(1i32)));
    }
    let captures: Vec<(Sym, Type)> = outer.iter().map(|l| (Sym::Loop(*l), Type::INDEX)).collect();
    task(p, build::int(0), build::int(2), captures, vec![], |p, id| {
        let all: Vec<BufId> = (0..PIECES).map(|_| internal(p, I32, Memory::Stack)).collect();
        let inner = nested(p, outer.iter().copied().chain([id]).collect());
        let value = |i: usize, k| build::cast_data(I32, build::add(k, build::offset(build::loop_var(id), i as i64)));
        let filled = |(i, buf): (usize, &BufId)| (i, *buf);
        let mut list: Vec<Stmt> = Vec::new();
        for (i, buf) in all.iter().enumerate().map(filled) {
            list.push(serial(p, build::int(PIECE), |k| store(buf, k.clone(), value(i, k))));
        }
        list.push(inner);
        for (i, buf) in all.iter().enumerate().map(filled) {
            list.push(serial(p, build::int(PIECE), |k| {
                let cond = build::eq(build::load(buf, I32, k.clone(), None), value(i, k));
                Stmt::Assert { cond, fault: FaultId(0), args: vec![] }
            }));
        }
        all.iter().fold(build::block(list), |body, buf| {
            let (count, constant) = (build::int(PIECE), Some(PIECE as u64));
            Stmt::Alloc { buf: *buf, count, constant, body: Box::new(body) }
        })
    })
}

fn deep_program() -> Program {
    let mut p = program(&[], &[I32]);
    p.faults.push(Fault::NotThisVariant);
    p.body = nested(&mut p, Vec::new());
    p
}

fn check(e: &Executable, threads: Option<usize>, pool: Option<&rayon::ThreadPool>) -> RunStats {
    let mut out = halide_core::buffer::AnyBuffer::new(I32, [1 << LEVELS]).unwrap();
    let raw = [out.view_mut().unwrap().raw_mut()];
    let stats = e.run(&RunArgs { buffers: &raw, threads, pool, ..RunArgs::default() }).unwrap();
    assert!(values(&out).iter().all(|v| v.as_i64() == 1));
    stats
}

/// `f` on a thread with so much stack.
fn on_thread<T: Send>(bytes: usize, f: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(bytes).spawn_scoped(scope, f).unwrap();
        thread.join().unwrap()
    })
}

#[test]
fn code_runs_on_threads_with_less_stack_than_it_needs() {
    let e = compiled(&deep_program());
    let need = u64::from(LEVELS) * PIECES as u64 * 4 * PIECE as u64;
    assert!((need..need + need / 8).contains(&e.stats().stack), "{:?}", e.stats());
    for kib in [64, 256, 512] {
        let stats = on_thread(kib << 10, || check(&e, Some(1), None));
        // The system may hand out the larger stack of a thread that has ended.
        assert!(stats.peak_bytes == 0 || stats.peak_bytes >= need, "a stack is memory of the run: {stats:?}");
    }
    assert_eq!(on_thread(8 << 20, || check(&e, Some(1), None)).peak_bytes, 0, "there was enough");
}

/// A thread that waits for others takes up other work: of the same run and of other runs.
#[test]
fn workers_with_little_stack_take_up_work_on_top_of_work() {
    let e = compiled(&deep_program());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).stack_size(256 << 10).build().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..3).for_each(|_| _ = check(&e, None, Some(&pool))));
        }
    });
}

#[test]
fn code_that_needs_more_stack_than_the_budget_is_refused() {
    let p = deep_program();
    let with = |stack_bytes| CpuOptions { budget: Budget { stack_bytes, ..Budget::DEFAULT }, ..CpuOptions::default() };
    let need = compiled(&p).stats().stack;
    assert!(compile(&p, &with(need)).is_ok());
    let Err(error) = compile(&p, &with(need - 1)) else { panic!("it was compiled") };
    let CpuError::Stack { function, frame, bytes, most } = &error else { panic!("{error}") };
    assert!(function.starts_with("task") && *frame > 50_000, "{error}");
    assert_eq!((*bytes, *most), (need, need - 1));
}

/// Large allocations in a kernel of wide vectors: a sum of neighbours through memory of its own.
fn kernel() -> Program {
    let mut p = program(&[I32], &[I32]);
    let tmp = internal(&mut p, I32, Memory::Stack);
    let n = 4 * PIECE;
    let at = |k: &halide_ir::Expr, plus: i64| dense(build::offset(build::mul(k.clone(), build::int(16)), plus), 16);
    let fill =
        serial(&mut p, build::int(n / 16), |k| store(tmp, at(&k, 0), build::load(BufId(0), I32, at(&k, 0), None)));
    let add = serial(&mut p, build::int(n / 16 - 1), |k| {
        let load = |plus| build::load(tmp, I32, at(&k, plus), None);
        store(BufId(1), at(&k, 0), build::add(load(0), load(1)))
    });
    let body = build::block([fill, add]);
    let (count, constant) = (build::int(n), Some(n as u64));
    let body = Stmt::Alloc { buf: tmp, count, constant, body: Box::new(body) };
    p.body = serial(&mut p, build::int(2), |_| body);
    p
}

#[test]
fn frames_of_many_pages_are_touched_page_by_page_on_entry() {
    let narrow = compiled_for(Tier::Baseline, &deep_program());
    let touches = |f: &FunctionCode| f.lines.iter().any(|line| line.text == "mov dword ptr [rsp],0");
    let loops = narrow.functions().iter().filter(|f| touches(f)).count();
    assert!(!cfg!(target_arch = "x86_64") || loops == LEVELS as usize, "a function per level: {loops}");
    for tier in wide_tiers() {
        let e = compiled_for(tier, &kernel());
        assert_eq!((e.refusals(), e.stats().kernels), (&[][..], 1));
        let lines: Vec<&str> = e.functions().iter().flat_map(|f| &f.lines).map(|line| line.text.as_str()).collect();
        let probe = lines.windows(2).position(|l| l == ["sub rsp,1000h", "mov dword ptr [rsp],0"]);
        let after = &lines[probe.unwrap_or_else(|| panic!("no probe in {lines:#?}")) + 2..];
        assert!(after[0] == "cmp rsp,r11" && after[1].starts_with("jne"), "{after:#?}");
        let n = 4 * PIECE;
        let input: Vec<Scalar> = (0..n).map(|i| Scalar::from(i as i32)).collect();
        let run = || run(&e, &[], &[buffer(I32, &input)], &[(I32, n as usize)]).unwrap();
        let (outs, _) = on_thread(32 << 10, run);
        assert!((0..n - 16).all(|i| outs[0][i as usize].as_i64() == 2 * i + 1));
    }
}
