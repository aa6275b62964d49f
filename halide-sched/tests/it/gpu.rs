//! Kernels for a GPU, as the evaluator runs them: every schedule gives what the interpreter gives.

use crate::matrix::{TARGET, check, random_image};
use crate::support::{count_stmts, lowered, stencil, sweep};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};
use halide_ir::eval::{self, Check};
use halide_ir::verify::verify;
use halide_ir::{ForKind, Kernel, Program, Residency, Side, Stmt, Writes, visit};

fn barriers(p: &Program) -> usize {
    p.kernels.iter().map(|k| count_stmts(&k.body, &|s| matches!(s, Stmt::Barrier))).sum()
}

const SIZES: [(i32, i32); 8] = [(1, 1), (2, 5), (4, 4), (7, 3), (8, 12), (13, 8), (24, 9), (31, 17)];

#[test]
fn where_the_producer_is_computed() {
    let tile = "g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";
    let places = [
        "f: compute_root()",
        "f: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 4, 4)",
        "f: compute_root() vectorize(x, 4)",
        "f: compute_at(g, xo)",
        "f: compute_at(g, xo) split(x, xo, xi, 4, RoundUp) gpu_threads(xi)",
        "f: compute_at(g, xo) split(x, xo, xi, 4) split(y, yo, yi, 2) reorder(xi, yi, xo, yo) gpu_threads(xi, yi)",
        "f: compute_at(g, xo) split(x, xo, xi, 16, GuardWithIf) split(y, yo, yi, 8, GuardWithIf) gpu_threads(xi, yi) \
         reorder(xi, yi, xo, yo)",
        "f: compute_at(g, yi)",
        "f: compute_at(g, xi)",
        "f: compute_at(g, xi) store_in(Register)",
    ];
    let places = places.into_iter().chain([
        "f: compute_at(g, xo) gpu_threads(x, y)",
        "f: compute_at(g, xo) gpu_threads(x)",
        "f: compute_at(g, xo) store_in(Shared)",
        "f: compute_at(g, xo) store_in(Global)",
        "f: compute_at(g, xo) store_in(Global) gpu_threads(x, y)",
        "f: compute_at(g, yi) store_in(Global)",
        "f: compute_at(g, xi) store_in(Global)",
        "f: compute_at(g, xi) store_in(Stack)",
        "f: store_at(g, xo) compute_at(g, yi)",
        "f: compute_root() gpu_single_thread()",
        "f: compute_root() copy_to_device()",
        "f: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 4, 4) copy_to_host()",
    ]);
    let schedules: Vec<String> = places.map(|p| format!("{tile}\n {p}")).collect();
    sweep(&stencil(), &schedules.iter().map(String::as_str).collect::<Vec<_>>(), &SIZES);
}

#[test]
fn tails_of_every_kind() {
    let mut schedules = Vec::new();
    for tail in ["Auto", "GuardWithIf", "Predicate"] {
        schedules.push(format!("g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4, {tail})"));
    }
    let tile = "g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";
    for tail in ["Auto", "GuardWithIf", "RoundUp", "ShiftInwards", "PredicateStores"] {
        let root = format!("f: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 8, 4, {tail})");
        let inside = format!("f: compute_at(g, xo) split(x, xo, xi, 4, {tail}) gpu_threads(xi, y)");
        schedules.push(format!("{tile}\n {root}"));
        schedules.push(format!("{tile}\n {inside}"));
    }
    schedules.push(format!("{tile} vectorize(xi, 2)\n f: compute_at(g, xo) vectorize(x, 4) gpu_threads(x)"));
    sweep(&stencil(), &schedules.iter().map(String::as_str).collect::<Vec<_>>(), &SIZES);
}

/// Runs one pipeline of input `in` under schedules, at every size, on coordinates that may be negative.
fn sweep_any(pipeline: &Pipeline, schedules: &[&str], dims: usize) {
    for schedule in schedules {
        for (w, h) in [(1, 1), (3, 7), (8, 4), (17, 5), (30, 13)] {
            let spans = [(-13, w), (-7, h), (3, 5)];
            let input = random_image(U8, &Region::of_spans([(-20, w + 60), (-20, h + 60)]), 7);
            check(pipeline, schedule, &[("in", input)], &Region::of_spans(&spans[..dims]));
        }
    }
}

#[test]
fn updates_and_reductions() {
    let input = ImageParam::new("in", U8, 2);
    let (x, y) = vars!(x, y);
    let (mut h, mut out) = (Func::new("h"), Func::new("out"));
    let r = RDom::new([(0, 5)]);
    h[(x, y)] = cast::<u16>(1);
    h[(x, y)] += cast::<u16>(input[(x + r.x, y)]);
    h[(x, y)] = h[(x, y)] * 2 + cast::<u16>(x);
    out[(x, y)] = h[(x, y)] + h[(x, y + 1)];
    let p = Pipeline::new([&out]).unwrap();
    let tile = "gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";
    let all = format!("out: {tile}\n h: compute_root() {tile}\n h.update(0): {tile}\n h.update(1): {tile}");
    let outside = format!(
        "out: {tile}\n h: compute_root() {tile}\n h.update(0): {tile} reorder(xi, yi, r.x, xo, yo)\n h.update(1): {tile}"
    );
    let some = format!("out: {tile}\n h: compute_root() {tile}\n h.update(1): {tile}");
    let host_last = format!("h: compute_root()\n h.update(0): {tile}\n out: vectorize(x, 4)");
    let shared = format!(
        "out: {tile}\n h: compute_at(out, xo) gpu_threads(x, y)\n h.update(0): gpu_threads(x, y)\n h.update(1): gpu_threads(x)"
    );
    let reduced_outside = format!(
        "out: {tile}\n h: compute_at(out, xo) gpu_threads(x, y)\n h.update(0): reorder(x, y, r.x) gpu_threads(x, y)"
    );
    let own = format!("out: {tile}\n h: compute_at(out, xi)");
    let rows = format!("out: {tile}\n h: compute_at(out, yi)");
    let list = [all, outside, some, host_last, shared, reduced_outside, own, rows];
    sweep_any(&p, &list.iter().map(String::as_str).collect::<Vec<_>>(), 2);
}

#[test]
fn scatters_and_scans_on_one_thread() {
    let input = ImageParam::new("in", U8, 2);
    let (x, y, i) = vars!(x, y, i);
    let (mut hist, mut scan, mut out) = (Func::new("hist"), Func::new("scan"), Func::new("out"));
    let r = RDom::new([(-5, 9), (-3, 7)]);
    hist[i] = cast::<u32>(0);
    hist[input[(r.x, r.y)]] += cast::<u32>(1);
    let s = RDom::new([(1, 255)]);
    scan[i] = hist[i];
    scan[s.x] = scan[s.x - 1] + hist[s.x];
    out[(x, y)] = scan[input[(x, y)]] + cast::<u32>(x);
    let p = Pipeline::new([&out]).unwrap();
    let tile = "out: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";
    let all = format!(
        "{tile}\n hist: compute_root() split(i, io, ii, 32) gpu_blocks(io) gpu_threads(ii)\n \
         hist.update(0): gpu_single_thread()\n scan: compute_root() gpu_single_thread()\n scan.update(0): gpu_single_thread()"
    );
    let mixed = format!("{tile}\n hist: compute_root()\n scan: compute_root()\n scan.update(0): gpu_single_thread()");
    sweep_any(&p, &[&all, &mixed], 2);
    assert_eq!(lowered(&p, &all).kernels.len(), 5);
}

#[test]
fn tuples_and_chains_of_kernels() {
    let input = ImageParam::new("in", U8, 2);
    let (x, y) = vars!(x, y);
    let (mut a, mut b, mut c, mut out) = (Func::new("a"), Func::new("b"), Func::new("c"), Func::new("out"));
    a[(x, y)] = (cast::<u16>(input[(x, y)]), cast::<u16>(input[(x + 1, y)]) * 3).into();
    b[(x, y)] = a[(x, y)].at(0) + a[(x, y + 1)].at(1);
    c[(x, y)] = b[(x - 1, y)] + b[(x + 2, y)];
    out[(x, y)] = c[(x, y)] + c[(x, y - 1)] + b[(x, y)];
    let p = Pipeline::new([&out]).unwrap();
    let tile = "gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";
    let list = [
        format!("a: compute_root() {tile}\n b: compute_root() {tile}\n c: compute_root() {tile}\n out: {tile}"),
        format!(
            "a: compute_root() {tile}\n b: compute_root() vectorize(x, 8)\n c: compute_root() {tile}\n out: {tile}"
        ),
        format!("b: compute_root()\n c: compute_at(out, xo) gpu_threads(x, y)\n out: {tile}"),
        format!(
            "a: compute_at(out, xo) gpu_threads(x, y)\n b: compute_at(out, xo) gpu_threads(x, y)\n \
             c: compute_at(out, xo) gpu_threads(x, y)\n out: {tile}"
        ),
        format!(
            "a: compute_at(b, xo) gpu_threads(x)\n b: compute_root() {tile}\n c: compute_at(out, xi)\n out: {tile}"
        ),
        format!("b: compute_root() {tile}\n c: compute_root() parallel(y)\n out: parallel(y) vectorize(x, 4)"),
    ];
    sweep_any(&p, &list.iter().map(String::as_str).collect::<Vec<_>>(), 2);
}

#[test]
fn grids_of_one_to_three_dimensions() {
    let input = ImageParam::new("in", U8, 2);
    let (x, y, z) = vars!(x, y, z);
    let (mut line, mut volume) = (Func::new("line"), Func::new("volume"));
    line[x] = input[(x, 0)] + 1;
    volume[(x, y, z)] = input[(x + z, y)] + cast::<u8>(z);
    let list = [
        "line: split(x, xo, xi, 8) gpu_blocks(xo) gpu_threads(xi)",
        "line: gpu_blocks(x)",
        "line: gpu_single_thread()",
        "line: split(x, xo, xi, 8) gpu_blocks(xo) vectorize(xi)",
    ];
    sweep_any(&Pipeline::new([&line]).unwrap(), &list, 1);
    let list = [
        "volume: gpu_tile([x, y, z], [xo, yo, zo], [xi, yi, zi], [4, 2, 2])",
        "volume: gpu_blocks(x, y, z)",
        "volume: gpu_blocks(z, y) split(x, xo, xi, 8) gpu_threads(xi)",
        "volume: tile(x, y, xo, yo, xi, yi, 8, 4) reorder(xi, yi, z, xo, yo) gpu_blocks(xo, yo) gpu_threads(xi, yi)",
        "volume: tile(x, y, xo, yo, xi, yi, 8, 4) reorder(z, xi, yi, xo, yo) gpu_blocks(xo, yo) gpu_threads(xi, yi)",
    ];
    sweep_any(&Pipeline::new([&volume]).unwrap(), &list, 3);
}

/// A barrier between what writes a tile and what reads it, and none where threads keep to themselves.
#[test]
fn barriers_where_they_are_needed() {
    let tile = "g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";
    let of = |rest: &str| barriers(&lowered(&stencil(), &format!("{tile}\n {rest}")));
    assert_eq!(of(""), 0);
    assert_eq!(of("f: compute_at(g, xi)"), 0);
    assert_eq!(of("f: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 4, 4)"), 0);
    assert_eq!(of("f: compute_at(g, xo)"), 1);
    assert_eq!(of("f: compute_at(g, yi)"), 1);
    // Each thread fills its own columns, row by row and part by part.
    assert_eq!(of("f: compute_at(g, xo) gpu_threads(x)"), 1);
    assert_eq!(of("f: compute_at(g, xo) split(x, xo, xi, 4, RoundUp) gpu_threads(xi)"), 1);
    let sums = |update: &str| {
        let input = ImageParam::new("in", U8, 2);
        let (x, y) = vars!(x, y);
        let (mut h, mut out) = (Func::new("h"), Func::new("out"));
        let r = RDom::new([(0, 5)]);
        h[(x, y)] = cast::<u16>(1);
        h[(x, y)] += cast::<u16>(input[(x + r.x, y)]);
        out[(x, y)] = h[(x, y)] + h[(x, y + 1)];
        let p = Pipeline::new([&out]).unwrap();
        let tile = "out: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";
        barriers(&lowered(&p, &format!("{tile}\n h: compute_at(out, xo) gpu_threads(x, y)\n h.update(0): {update}")))
    };
    // A thread sums up what it began; where rows become columns, threads meet.
    assert_eq!(sums("reorder(x, y, r.x) gpu_threads(x, y)"), 1);
    assert_eq!(sums("gpu_threads(x, y)"), 1);
    assert_eq!(sums("reorder(r.x, y, x) gpu_threads(y, x)"), 2);
}

/// Programs that break a rule of kernels, each in one way.
#[test]
fn rules_of_kernels() {
    let good = lowered(&stencil(), "g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n f: compute_at(g, xo)");
    let says = |change: &dyn Fn(&mut Program)| {
        let mut p = good.clone();
        change(&mut p);
        verify(&p).err().map(|errors| errors.iter().map(|e| format!("{e}\n")).collect::<String>())
    };
    let kernel = |change: &'static dyn Fn(&mut Kernel)| {
        move |p: &mut Program| {
            let id = p.kernels.ids().next().unwrap();
            change(&mut p.kernels[id]);
        }
    };
    assert_eq!(says(&|_| ()), None);
    let expect = [
        (says(&kernel(&|k| _ = k.captures.pop())), "an unbound symbol"),
        (says(&kernel(&|k| _ = k.buffers.pop())), "used in another way than is listed"),
        (says(&kernel(&|k| k.buffers[0].reads = false)), "used in another way than is listed"),
        (says(&kernel(&|k| k.shared.clear())), "has no place in shared memory"),
        (says(&kernel(&|k| k.shared_words = 3)), "beyond the 3 shared words"),
        (says(&kernel(&|k| _ = k.blocks.pop())), "an unbound symbol"),
        (
            says(&kernel(&|k| k.body = in_phases(k.body.clone(), &|s| Stmt::Block(vec![s, Stmt::Barrier])))),
            "a Barrier in a phase",
        ),
        (says(&kernel(&|k| k.body = bare(k.body.clone()))), "a Store outside of phases"),
        (says(&|p| p.body = Stmt::Barrier), "a Barrier in host code"),
        (
            says(&|p| p.buffers.ids().collect::<Vec<_>>().into_iter().for_each(|b| p.buffers[b].side = Side::Host)),
            "is the host's",
        ),
    ];
    for (said, part) in expect {
        assert!(said.as_ref().is_some_and(|text| text.contains(part)), "{said:?} says nothing of {part}");
    }
}

/// `s` with `f` applied to each store.
fn in_phases(s: Stmt, f: &dyn Fn(Stmt) -> Stmt) -> Stmt {
    match s {
        Stmt::Store { .. } => f(s),
        other => visit::map_stmt(other, |e| e.clone(), |inner| in_phases(inner, f)),
    }
}

/// `s` with serial loops for those over threads.
fn bare(s: Stmt) -> Stmt {
    match visit::map_stmt(s, |e| e.clone(), bare) {
        Stmt::For(mut l) => {
            l.kind = ForKind::Serial;
            Stmt::For(l)
        }
        other => other,
    }
}

#[test]
fn sides_of_buffers() {
    let tile = "g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";
    let of = |rest: &str| {
        let p = lowered(&stencil(), &format!("{tile}\n {rest}"));
        let side = |name: &str| p.buffers.iter().find(|b| b.name == name).map(|b| b.side);
        let resides = count_stmts(&p.body, &|s| matches!(s, Stmt::Reside { .. }));
        (side("in"), side("f"), side("g"), resides)
    };
    let (host, both, device) = (Some(Side::Host), Some(Side::Both), Some(Side::Device));
    assert_eq!(of("f: compute_root()"), (host, both, both, 1));
    assert_eq!(of("f: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 4, 4)"), (both, device, both, 0));
}

#[test]
fn whole_words_where_lanes_and_strides_allow() {
    let input = ImageParam::new("in", U8, 2);
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = input[(x, y)] + 1;
    let p = Pipeline::new([&f]).unwrap();
    let writes = |schedule: &str| lowered(&p, schedule).kernels.iter().next().unwrap().buffers[1].clone();
    let words = writes("f: split(x, xo, xi, 32, RoundUp) vectorize(xi, 4) gpu_blocks(xo, y) gpu_threads(xi)");
    assert_eq!((words.writes, words.word_strides.len()), (Writes::Words, 1));
    let few = writes("f: split(x, xo, xi, 32, RoundUp) vectorize(xi, 2) gpu_blocks(xo, y) gpu_threads(xi)");
    assert_eq!((few.writes, few.word_strides.len()), (Writes::Pieces, 0));
    let shifted = writes("f: split(x, xo, xi, 32) vectorize(xi, 4) gpu_blocks(xo, y) gpu_threads(xi)");
    assert_eq!(shifted.writes, Writes::Pieces);
}

/// `s` without the statements that `drop` is for.
fn without(s: Stmt, drop: &dyn Fn(&Stmt) -> bool) -> Stmt {
    if drop(&s) {
        return Stmt::Block(Vec::new());
    }
    visit::map_stmt(s, |e| e.clone(), |inner| without(inner, drop))
}

/// Returns the check that fails when the evaluator runs the stencil after `change` broke its program.
fn broken(schedule: &str, change: impl Fn(&mut Program)) -> Option<Check> {
    let mut program = lowered(&stencil(), schedule);
    change(&mut program);
    let input = random_image(I16, &Region::of_spans([(-20, 90), (-20, 90)]), 5);
    let mut outputs = [AnyBuffer::with_region(I16, &Region::of_spans([(-1, 20), (2, 12)])).unwrap()];
    eval::run(&program, &[], &[input], &mut outputs).err().and_then(|e| e.check())
}

#[test]
fn the_evaluator_finds_missing_barriers_and_copies() {
    let no_barriers = |p: &mut Program| {
        let ids: Vec<_> = p.kernels.ids().collect();
        for id in ids {
            let body = p.kernels[id].body.clone();
            p.kernels[id].body = without(body, &|s| matches!(s, Stmt::Barrier));
        }
    };
    let no_copies = |what: Residency| {
        move |p: &mut Program| {
            p.body = without(p.body.clone(), &|s| matches!(s, Stmt::Reside { what: w, .. } if *w == what));
        }
    };
    let tile = "g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";
    let in_tile = format!("{tile}\n f: compute_at(g, xo)");
    assert_eq!(broken(&in_tile, |_| ()), None);
    assert_eq!(broken(&in_tile, no_barriers), Some(Check::Race));
    let host_first = format!("{tile}\n f: compute_root()");
    assert_eq!(broken(&host_first, |_| ()), None);
    assert_eq!(broken(&host_first, no_copies(Residency::ChangedOnHost)), Some(Check::Copies));
    let device_first = "g: vectorize(x, 4)\n f: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";
    assert_eq!(broken(device_first, |_| ()), None);
    assert_eq!(broken(device_first, no_copies(Residency::OnHost)), Some(Check::Copies));
}

/// Random schedules drew this: cutting a loop over blocks would make several of one kernel.
#[test]
fn loops_over_blocks_are_not_cut() {
    let schedule = "g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4, GuardWithIf) always_partition(xo) always_partition(xi)";
    sweep(&stencil(), &[schedule], &SIZES);
    assert_eq!(lowered(&stencil(), schedule).kernels.len(), 1);
}

/// Counts the buffers of kernels that are read and written in pieces, and the atomic steps.
fn steps(p: &Program) -> (usize, usize) {
    let pieces = p.kernels.iter().flat_map(|k| &k.buffers).filter(|b| b.reads && b.writes == Writes::Pieces).count();
    (pieces, p.kernels.iter().map(|k| count_stmts(&k.body, &|s| matches!(s, Stmt::Atomic { .. }))).sum())
}

#[test]
fn histograms_by_atomic_steps() {
    for ty in [U8, I16, U32, F32] {
        let input = ImageParam::new("in", U8, 2);
        let (i, x, y) = vars!(i, x, y);
        let r = RDom::named("r", [(-3, 21), (2, 10)]);
        let (mut hist, mut out) = (Func::new("hist"), Func::new("out"));
        hist[i] = cast_to(ty, 0);
        hist[cast::<i32>(input[(r.x, r.y)] % 8)] += cast_to(ty, 1);
        out[(x, y)] = hist[abs(x + 3 * y) % 8];
        let p = Pipeline::new([&out]).unwrap();
        let tile = "out: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";
        let relaxed = if ty == F32 { "float(relaxed) " } else { "" };
        let first = format!("{tile}\n hist: compute_root() gpu_tile(i, io, ii, 4)\n hist.update(0): {relaxed}atomic()");
        let inside = format!("{tile}\n hist: compute_at(out, xo)\n hist.update(0): {relaxed}atomic()");
        let list = [
            format!("{first} gpu_tile(r.x, r.y, xo, yo, xi, yi, 8, 4)"),
            format!("{first} gpu_blocks(r.y) gpu_threads(r.x)"),
            format!("{first} split(r.x, a, b, 4) vectorize(b) gpu_blocks(r.y) gpu_threads(a)"),
            format!("hist: compute_root()\n hist.update(0): {relaxed}atomic() gpu_blocks(r.y) gpu_threads(r.x)"),
            format!("{inside} gpu_threads(r.x, r.y)"),
            format!("{inside} gpu_threads(r.x)"),
        ];
        sweep_any(&p, &list.iter().map(String::as_str).collect::<Vec<_>>(), 2);
        assert_eq!(steps(&lowered(&p, &list[1])), (1, 1));
        // Lanes are steps of their own.
        assert_eq!(steps(&lowered(&p, &list[2])).0, 1);
        assert!(steps(&lowered(&p, &list[2])).1 >= 4);
        // The memory of a block is no buffer of the kernel's.
        assert_eq!(steps(&lowered(&p, &list[4])), (0, 1));
    }
}

/// All iterations change one element, which others then read.
#[test]
fn sums_by_atomic_steps_meet_barriers() {
    let input = ImageParam::new("in", I32, 1);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 8)]);
    let (mut sum, mut out) = (Func::new("sum"), Func::new("out"));
    sum[y] = 0.expr();
    sum[y] = max(sum[y], input[r.x + y] % 100);
    sum[y] += input[r.x + y] * 3;
    out[(x, y)] = sum[y] + x;
    let p = Pipeline::new([&out]).unwrap();
    let schedule = "out: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n sum: compute_at(out, xo) gpu_threads(y)\n \
                    sum.update(0): atomic() gpu_threads(y, r.x)\n sum.update(1): atomic() gpu_threads(r.x, y)";
    let input = random_image(I32, &Region::of_spans([(-20, 90)]), 5);
    for (w, h) in SIZES {
        check(&p, schedule, &[("in", input.clone())], &Region::of_spans([(-1, w), (2, h)]));
    }
    // The evaluator finds each of the barriers missing, and steps that are none.
    let fails = |change: &dyn Fn(Stmt) -> Stmt| {
        let mut program = lowered(&p, schedule);
        let ids: Vec<_> = program.kernels.ids().collect();
        for id in ids {
            let body = program.kernels[id].body.clone();
            program.kernels[id].body = change(body);
        }
        let mut outputs = [AnyBuffer::with_region(I32, &Region::of_spans([(-1, 20), (2, 12)])).unwrap()];
        eval::run(&program, &[], std::slice::from_ref(&input), &mut outputs).err().and_then(|e| e.check())
    };
    assert_eq!(fails(&|s| s), None);
    assert_eq!(barriers(&lowered(&p, schedule)), 3);
    // (The one between the two kinds of steps keeps their order, of which it knows nothing.)
    for which in [0, 2] {
        let seen = std::cell::Cell::new(0);
        let drop = |s: &Stmt| matches!(s, Stmt::Barrier) && seen.replace(seen.get() + 1) == which;
        assert_eq!(fails(&|s| without(s, &drop)), Some(Check::Race), "{which}");
    }
    fn plain(s: Stmt) -> Stmt {
        match s {
            Stmt::Atomic { body, .. } => *body,
            other => visit::map_stmt(other, |e| e.clone(), plain),
        }
    }
    assert_eq!(fails(&plain), Some(Check::Race));
}

#[test]
fn steps_that_a_kernel_cannot_take() {
    let (x, i) = vars!(x, i);
    let r = RDom::named("r", [(0, 8)]);
    let (mut pair, mut wide, mut out) = (Func::new("pair"), Func::new("wide"), Func::new("out"));
    pair[i] = (0, 1).into();
    let old = pair[r.x % 2];
    pair[r.x % 2] = (old.at(0) + r.x, old.at(1) + 1).into();
    wide[i] = cast::<i64>(0);
    wide[r.x % 2] += cast::<i64>(1);
    out[x] = cast::<i64>(pair[x % 2].at(0)) + wide[x % 2];
    let p = Pipeline::new([&out]).unwrap();
    let schedule = "pair: compute_root()\n pair.update(0): atomic(any_order) gpu_blocks(r.x)\n \
                    wide: compute_root()\n wide.update(0): atomic() allow_race_conditions() gpu_blocks(r.x)";
    let errors = halide_sched::plan::resolve(&p, &schedule.parse().unwrap(), &TARGET).expect_err("it is refused");
    let text: String = errors.iter().map(|e| format!("{e}\n")).collect();
    assert!(text.contains("`pair.update(0)`, which a GPU cannot do in one step: the element has 2 values"), "{text}");
    let wide = "`wide.update(0)`, which a GPU cannot do in one step: the element is i64, of more than 32 bits";
    assert!(text.contains(wide), "{text}");
    assert!(text.contains("do it in parts with rfactor"), "{text}");
}
