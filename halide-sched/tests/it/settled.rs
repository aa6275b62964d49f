//! Loops that end once their elements are settled.

use crate::support::{count_stmts, hold, hold_legal, lowered, lowered_whole, planned};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::interp::{Inputs, run};
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};
use halide_ir::{Program, Stmt, eval};
use halide_sched::lower::{Counted, LowerOptions, Outcome, lower};

/// The steps that each number takes to become 1.
fn collatz(extent: i32) -> Pipeline {
    let x = vars!(x);
    let mut z = Func::new("z");
    z[x] = tuple([abs(x + 1), 0.expr()]);
    let r = RDom::named("r", [(0, extent)]);
    r.where_(z[x].at(0).gt(1));
    let n = z[x].at(0);
    z[x] = tuple([select((n % 2).eq(0), n / 2, 3 * n + 1), r.x + 1]);
    let mut out = Func::new("out");
    out[x] = z[x].at(1);
    Pipeline::new([&out]).unwrap()
}

fn steps(of: i64) -> u64 {
    let (mut n, mut steps) = ((of + 1).abs(), 0);
    while n > 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

/// Counts loops with conditions.
fn ending(program: &Program) -> usize {
    count_stmts(&program.body, &|s| matches!(s, Stmt::For(l) if l.condition.is_some()))
}

/// Runs a finished program of one output of integers; the values, and the iterations of the loops of a name.
fn ran(program: &Program, region: &Region, name: &str) -> (Vec<i32>, u64) {
    let mut outputs = [AnyBuffer::with_region(I32, region).unwrap()];
    let stats = eval::run(program, &[], &[], &mut outputs).unwrap_or_else(|e| panic!("{e}\n{program}"));
    let named = program.loops.enumerate().filter(|(_, l)| l.name == name);
    (outputs[0].typed::<i32>().unwrap().to_vec(), named.map(|(id, _)| stats.iterations[id]).sum())
}

const NUMBERS: (i64, i64) = (-7, 43);

#[test]
fn the_interpreter_ends_each_element_by_itself() {
    let region = Region::of_spans([NUMBERS]);
    let out = run(&collatz(i32::MAX), &Inputs::new(), &[region]).unwrap();
    let expected: Vec<i32> = (NUMBERS.0..NUMBERS.0 + NUMBERS.1).map(|x| steps(x) as i32).collect();
    assert_eq!(out[0].typed::<i32>().unwrap().to_vec(), expected);
}

/// A serial loop runs as often as its element needs, one around lanes as often as the slowest of them.
#[test]
fn iterations_are_those_of_the_slowest_lane() {
    let p = collatz(i32::MAX);
    let (first, extent) = NUMBERS;
    let region = Region::of_spans([NUMBERS]);
    let values: Vec<i32> = (first..first + extent).map(|x| steps(x) as i32).collect();
    for lanes in 1..=16 {
        let vectorized = if lanes > 1 { format!("vectorize(x, {lanes})") } else { String::new() };
        let program = lowered(&p, &format!("z: compute_root()\nz.update(0): {vectorized}"));
        let (got, iterations) = ran(&program, &region, "z.update(0).r.x");
        assert_eq!(got, values, "{lanes} lanes\n{program}");
        let needed: u64 = values.chunks(lanes).map(|lanes| *lanes.iter().max().unwrap() as u64).sum();
        assert_eq!(iterations, needed, "{lanes} lanes\n{program}");
    }
}

/// Parts of a loop end as well: inner ones in the middle, and those around them behind.
#[test]
fn parts_of_a_loop_end() {
    let p = collatz(i32::MAX);
    let region = Region::of_spans([NUMBERS]);
    let needed = |part: u64| (NUMBERS.0..NUMBERS.0 + NUMBERS.1).map(|x| steps(x).div_ceil(part)).sum::<u64>();
    let values: Vec<i32> = (NUMBERS.0..NUMBERS.0 + NUMBERS.1).map(|x| steps(x) as i32).collect();
    for factor in [2u64, 3, 5, 8] {
        let program = lowered(&p, &format!("z: compute_root()\nz.update(0): split(r.x, ro, ri, {factor})"));
        assert_eq!(ran(&program, &region, "z.update(0).ro"), (values.clone(), needed(factor)), "{program}");
        assert_eq!(ran(&program, &region, "z.update(0).ri").1, needed(1), "{program}");
        let unrolled = format!("z: compute_root()\nz.update(0): split(r.x, ro, ri, {factor}) unroll(ri)");
        let program = lowered(&p, &unrolled);
        assert_eq!(ran(&program, &region, "z.update(0).ro"), (values.clone(), needed(factor)), "{program}");
    }
}

/// A program that counts ends as well, and counts what is stored.
#[test]
fn counts_are_of_what_is_stored() {
    let region = Region::of_spans([NUMBERS]);
    let expected: u64 = (NUMBERS.0..NUMBERS.0 + NUMBERS.1).map(|x| steps(x) + 1).sum();
    for lanes in [1, 4, 7, 16] {
        let vectorized = if lanes > 1 { format!("vectorize(x, {lanes})") } else { String::new() };
        let plan = planned(&collatz(i32::MAX), &format!("z: compute_root()\nz.update(0): {vectorized}"));
        let options = LowerOptions { count: true, exact_tails: true, ..Default::default() };
        let lowered = lower(&plan, &options).unwrap();
        let mut outputs = [AnyBuffer::with_region(I32, &region).unwrap()];
        let stats = eval::run(&lowered.program, &[], &[], &mut outputs).unwrap();
        let of = lowered
            .counters
            .iter()
            .position(|c| c.what == Counted::Points && c.from.is_none() && plan.pipeline.funcs[c.func].name == "z");
        assert_eq!(stats.counters[of.unwrap()] as u64, expected, "{lanes}\n{}", lowered.program);
    }
}

#[test]
fn it_is_told() {
    let lowered = lowered_whole(&collatz(1000), "z: compute_root()");
    let pass = lowered.trace.passes.iter().find(|p| p.name == "stop_early").unwrap();
    assert_eq!(pass.decisions.len(), 1, "{:?}", pass.decisions);
    assert_eq!(pass.decisions[0].subject, "z.update(0).r.x");
    assert!(matches!(&pass.decisions[0].outcome, Outcome::Did(what) if what.starts_with("ends as soon as")));
}

/// A loop around one over all elements ends behind the first iteration that stores nothing: as often as the slowest
/// element needs, and once more. So do those around chunks of no constant number, where tails have masks.
#[test]
fn loops_around_all_elements_end() {
    let region = Region::of_spans([NUMBERS]);
    let values: Vec<i32> = (NUMBERS.0..NUMBERS.0 + NUMBERS.1).map(|x| steps(x) as i32).collect();
    let slowest = *values.iter().max().unwrap() as u64;
    for order in [
        "reorder(x, r.x)",
        "reorder(x, r.x) vectorize(x, 4)",
        "reorder(x, r.x) vectorize(x, 8, GuardWithIf)",
        "split(x, xo, xi, 3) reorder(xi, xo, r.x) unroll(xi)",
    ] {
        let program = lowered(&collatz(i32::MAX), &format!("z: compute_root()\nz.update(0): {order}"));
        assert_eq!(ran(&program, &region, "z.update(0).r.x"), (values.clone(), slowest + 1), "{order}\n{program}");
        // One that has less to do than its elements need.
        let (got, iterations) =
            ran(&lowered(&collatz(9), &format!("z: compute_root()\nz.update(0): {order}")), &region, "z.update(0).r.x");
        assert_eq!((got, iterations), (values.iter().map(|n| (*n).min(9)).collect(), 9), "{order}");
    }
}

/// Loops with others inside whose iterations run at once do not end, and loops whose conditions change with them; the
/// trace says so.
#[test]
fn others_run_to_their_ends() {
    let p = collatz(60);
    let parallel = "z: compute_root()\nz.update(0): reorder(x, r.x) parallel(x)";
    assert_eq!(ending(&lowered(&p, parallel)), 0);
    let trace = lowered_whole(&p, parallel).trace;
    let pass = trace.passes.iter().find(|p| p.name == "stop_early").unwrap();
    assert!(matches!(&pass.decisions[0].outcome, Outcome::DidNot { because, .. } if because.contains("a loop inside")));
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = x.expr();
    let r = RDom::named("r", [(0, 20)]);
    r.where_(f[x].lt(r.x * 2));
    f[x] += r.x;
    let p = Pipeline::new([&f]).unwrap();
    assert_eq!(ending(&lowered(&p, "")), 0);
    hold(&p, &["", "f.update(0): vectorize(x, 4)"]);
}

#[test]
fn schedules_keep_their_values() {
    let schedules = [
        "",
        "z: compute_root()",
        "z: compute_root()\nz.update(0): vectorize(x, 4)",
        "z: compute_root()\nz.update(0): vectorize(x, 4, GuardWithIf)",
        "z: compute_root()\nz.update(0): vectorize(x, 5) split(r.x, ro, ri, 7)",
        "z: compute_root()\nz.update(0): split(r.x, ro, ri, 7) unroll(ri) vectorize(x, 8)",
        "z: compute_root()\nz.update(0): split(r.x, ro, ri, 4) reorder(ri, x, ro) vectorize(x, 4)",
        "z: compute_root()\nz.update(0): split(x, xo, xi, 8) reorder(xi, r.x, xo) vectorize(xi, 4) parallel(xo)",
        "z: compute_root()\nz.update(0): split(x, xo, xi, 8) reorder(xi, r.x, xo) vectorize(xi, 4) unroll(xi)",
        "out: vectorize(x, 4)\nz: compute_at(out, x) vectorize(x)\nz.update(0): vectorize(x)",
        "out: split(x, xo, xi, 16) parallel(xo) vectorize(xi, 8)\nz: compute_at(out, xo) vectorize(x, 8)\n\
         z.update(0): vectorize(x, 8, GuardWithIf)",
        "out: split(x, xo, xi, 8)\nz: compute_at(out, xo) store_root()\nz.update(0): unroll(x, 2)",
        "z: compute_root()\nz.update(0): reorder(x, r.x)",
        "z: compute_root()\nz.update(0): reorder(x, r.x) vectorize(x, 4, GuardWithIf)",
        "z: compute_root()\nz.update(0): split(r.x, ro, ri, 7) reorder(x, ri, ro) vectorize(x, 4)",
        "z: compute_root()\nz.update(0): specialize(out.extent(0) > 9) vectorize(x, 4)",
        "out: gpu_tile(x, xo, xi, 8)",
        "z: compute_root() gpu_tile(x, xo, xi, 8)\nz.update(0): gpu_tile(x, xo, xi, 8)",
    ];
    assert!(hold_legal(&collatz(40), &schedules) > 12);
    // Few of them settle.
    hold_legal(&collatz(3), &schedules);
    hold_legal(&collatz(1), &schedules);
}

/// Newton's method on each element of an image, two terms, more than one update, and two reduction variables.
#[test]
fn other_predicates_keep_their_values() {
    let input = ImageParam::new("in", F32, 2);
    let (x, y) = vars!(x, y);
    let (mut root, mut f) = (Func::new("root"), Func::new("f"));
    let square = abs(input[(x, y)]) * 10.0f32 + 1.0f32;
    root[(x, y)] = square;
    let r = RDom::named("r", [(3, 30)]);
    r.where_(abs(root[(x, y)] * root[(x, y)] - square).gt(0.5f32));
    r.where_(input[(x, y)].gt(-0.5f32) | r.x.expr().lt(9));
    root[(x, y)] = (root[(x, y)] + square / root[(x, y)]) / 2.0f32 + cast::<f32>(r.x * 0);
    f[(x, y)] = cast::<i32>(root[(x, y)] * 100.0f32);
    let s = RDom::named("s", [(-2, 6), (1, 9)]);
    s.where_(f[(x, y)].gt(90));
    f[(x, y)] -= s.x * 7 + s.y + 11;
    let t = RDom::named("t", [(0, 25)]);
    t.where_((f[(x, y)] % 16).ne(0));
    t.where_(x.expr().lt(5));
    f[(x, y)] += 1 + t.x * 0;
    let p = Pipeline::new([&f]).unwrap();
    let schedules = [
        "",
        "root: compute_root()\nroot.update(0): vectorize(x, 4)\nf.update(0): vectorize(x, 8)\n\
         f.update(1): vectorize(x, 4)",
        "root: compute_root()\nroot.update(0): split(r.x, ro, ri, 4) unroll(ri) vectorize(x, 4)",
        "f.update(0): fuse(s.x, s.y, t) vectorize(x, 4) parallel(y)",
        "f.update(0): reorder(s.y, s.x) vectorize(x, 4) unroll(s.y, 3)\nf.update(1): unroll(t.x, 4) vectorize(y, 2)",
        "f.update(0): reorder(s.x, x, s.y, y) vectorize(x, 4)",
        "f: tile(x, y, xo, yo, xi, yi, 8, 4) parallel(yo)\nroot: compute_at(f, xo)\nroot.update(0): vectorize(x, 8)",
        "f: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n\
         f.update(0): gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n\
         f.update(1): gpu_tile(x, y, xo, yo, xi, yi, 8, 4)",
    ];
    assert!(hold_legal(&p, &schedules) > 6);
    let of = |schedule: &str| ending(&lowered(&p, schedule));
    assert!(of("root: compute_root()") >= 3);
    assert!(of(schedules[1]) >= 3);
}

/// All elements of a tuple are of the state before the update, also where one of them decides if there is one, and
/// other conditions decide with it.
#[test]
fn elements_of_tuples_keep_their_values() {
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = tuple([cast::<u16>(y + 2), cast::<f32>(x), x * y]);
    let r = RDom::named("r", [(2, 5)]);
    r.where_(r.x.eq(x) | r.x.eq(y));
    r.where_(f[(x, y)].at(0).lt(3));
    let [count, sum, last] = [0, 1, 2].map(|i| f[(x, y)].at(i));
    f[(x, y)] = tuple([count + 1, sum + cast::<f32>(last), last - r.x]);
    let p = Pipeline::new([&f]).unwrap();
    let schedules = [
        "",
        "f.update(0): vectorize(x, 2)",
        "f.update(0): vectorize(x, 4, GuardWithIf)",
        "f.update(0): vectorize(y, 4) split(r.x, ro, ri, 2) unroll(ri)",
        "f.update(0): vectorize(x, 4, PredicateStores) parallel(y)",
        "f.update(0): reorder(x, y, r.x) vectorize(x, 8)",
        "f: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\nf.update(0): gpu_tile(x, y, xo, yo, xi, yi, 8, 4)",
    ];
    assert!(hold_legal(&p, &schedules) > 5);
}

/// An element that several iterations of other loops share, and threads that may race for it.
#[test]
fn shared_elements_keep_their_values() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = 0.expr();
    let r = RDom::named("r", [(0, 40), (0, 3)]);
    r.where_(f[0].lt(100));
    f[0] += cast::<i32>(abs(input[r.x]) % 7u32) + r.y;
    let mut out = Func::new("out");
    out[x] = f[0] + x;
    let p = Pipeline::new([&out]).unwrap();
    let schedules = ["f: compute_root()", "", "f: compute_root()\nf.update(0): split(r.x, o, i, 6) unroll(i)"];
    hold(&p, &schedules);
    assert_eq!(ending(&lowered(&p, schedules[0])), 2);
    let mut g = Func::new("g");
    g[x] = 0.expr();
    let r = RDom::named("r", [(0, 40), (0, 3)]);
    r.where_(g[r.y].lt(1));
    g[r.y] = 1.expr() + r.x * 0;
    let mut out = Func::new("out");
    out[x] = g[0] + g[1] + g[2] + x;
    let p = Pipeline::new([&out]).unwrap();
    let racing = "g: compute_root()\ng.update(0): allow_race_conditions() reorder(r.x, r.y) parallel(r.y)";
    assert_eq!(ending(&lowered(&p, racing)), 0);
    assert_eq!(ending(&lowered(&p, "g: compute_root()\ng.update(0): reorder(r.x, r.y)")), 1);
    hold(&p, &[racing, "g: compute_root()\ng.update(0): reorder(r.x, r.y) parallel(r.y)"]);
}
