//! Loops that end once their elements are settled, on every engine.

use halide::prelude::*;
use std::time::Duration;

/// The steps in which numbers become 1, over a domain of `extent` steps.
fn collatz(extent: i32) -> Pipeline {
    let x = vars!(x);
    let (mut z, mut out) = (Func::new("z"), Func::new("out"));
    z[x] = tuple([cast::<i32>(abs(x - 9)) + 1, 0.expr()]);
    let r = RDom::named("r", [(0, extent)]);
    r.where_(z[x].at(0).ne(1));
    let n = z[x].at(0);
    z[x] = tuple([select((n % 2).eq(0), n / 2, 3 * n + 1), r.x + 1]);
    out[x] = z[x].at(1);
    Pipeline::new([&out]).unwrap()
}

fn steps(x: i32) -> i32 {
    let (mut n, mut steps) = ((x - 9).abs() + 1, 0);
    while n != 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

fn run(engine: Engine, target: &Target, p: &Pipeline, schedule: &str) -> Vec<i32> {
    let schedule: Schedule = schedule.parse().unwrap_or_else(|e| panic!("{schedule}: {e:?}"));
    let compiled = Compiler::new(p).engine(engine).target(target).schedule(&schedule).compile().unwrap();
    compiled.inputs().realize::<i32>([61]).unwrap_or_else(|e| panic!("{engine:?} {schedule}: {e}")).to_vec()
}

fn expected() -> Vec<i32> {
    (0..61).map(steps).collect()
}

#[test]
fn domains_without_bounds_end() {
    let p = collatz(i32::MAX);
    let (host, expected) = (Target::host(), expected());
    for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
        assert_eq!(run(engine, &host, &p, "z: compute_root()"), expected, "{engine:?}");
        assert_eq!(run(engine, &host, &p, ""), expected, "{engine:?}");
        for lanes in 1..=16 {
            let schedule = format!(
                "out: split(x, xo, xi, 32) parallel(xo) vectorize(xi, {lanes})\n z: compute_at(out, xo)\n\
                 z.update(0): vectorize(x, {lanes})"
            );
            assert_eq!(run(engine, &host, &p, &schedule), expected, "{engine:?} {lanes}");
        }
        for tier in halide::Tier::ALL.into_iter().filter(|t| t.vector_bits() <= host.vector_bits) {
            let target = Target { vector_bits: tier.vector_bits(), ..host };
            for unrolled in ["", "split(r.x, ro, ri, 3) unroll(ri)", "split(r.x, ro, ri, 5)"] {
                let schedule = format!("z: compute_root() vectorize(x, 16)\n z.update(0): vectorize(x, 16) {unrolled}");
                assert_eq!(run(engine, &target, &p, &schedule), expected, "{engine:?} {tier:?} {unrolled}");
            }
        }
    }
}

/// A loop that ends does so where its iterations compute what they read in memory further out, too, and none of these
/// runs ahead of it.
#[test]
fn loops_end_whose_iterations_compute_what_they_read() {
    let (x, t) = vars!(x, t);
    let (mut z, mut step, mut out) = (Func::new("z"), Func::new("step"), Func::new("out"));
    step[(x, t)] = (x + t) % 3 + 1;
    z[x] = tuple([cast::<i32>(abs(x - 9)) * 5 + 1, 0.expr()]);
    let r = RDom::named("r", [(0, i32::MAX)]);
    r.where_(z[x].at(0).gt(0));
    z[x] = tuple([z[x].at(0) - step[(x, r.x)], r.x + 1]);
    out[x] = z[x].at(1);
    let p = Pipeline::new([&out]).unwrap();
    let steps = |x: i32| {
        let (mut left, mut steps) = ((x - 9).abs() * 5 + 1, 0);
        while left > 0 {
            left -= (x + steps).rem_euclid(3) + 1;
            steps += 1;
        }
        steps
    };
    let expected: Vec<i32> = (0..21).map(steps).collect();
    let (lanes, inside) =
        ("z.update(0): split(x, xo, xi, 4) reorder(xi, r.x, xo) vectorize(xi)", "z.update(0): reorder(x, r.x)");
    for (loops, hoisted) in [
        ("", ""),
        ("", "hoist_storage(z.update(0), x)"),
        ("", "hoist_storage(z.update(0), x) ring_buffer(2)"),
        ("", "hoist_storage(z.update(0), x) ring_buffer(2) async()"),
        ("", "hoist_storage_root() ring_buffer(3) async()"),
        (lanes, "hoist_storage(z.update(0), xo)"),
        (lanes, "hoist_storage(z.update(0), xo) ring_buffer(2) async() vectorize(x, 4)"),
        (inside, "hoist_storage_root()"),
        (inside, "hoist_storage_root() ring_buffer(2) async()"),
    ] {
        let schedule = format!("z: compute_root()\n {loops}\n step: compute_at(z.update(0), r.x) {hoisted}");
        for engine in [Engine::Eval, crate::CPU] {
            let compiler = Compiler::new(&p).engine(engine).schedule(&schedule.parse().unwrap());
            let compiled = compiler.compile().unwrap_or_else(|e| panic!("{engine:?} {schedule}: {e}"));
            let call = compiled.inputs().give_up_after(Duration::from_secs(20));
            let got = call.realize::<i32>([21]).unwrap_or_else(|e| panic!("{engine:?} {schedule}: {e}"));
            assert_eq!(got.to_vec(), expected, "{engine:?} {schedule}");
        }
        let text = Compiler::new(&p).schedule(&schedule.parse().unwrap()).compile().unwrap().explain().unwrap();
        let said = text.contains("it ends by what its iterations store, so none is known to be the next one");
        assert_eq!(said, hoisted.contains("async"), "{schedule}: {text}");
    }
}

/// Drivers end threads that run for long, so devices need an extent that one thread may run.
#[cfg(feature = "gpu")]
#[test]
fn threads_of_devices_end() {
    let (p, expected) = (collatz(1 << 10), expected());
    let schedules = [
        "out: gpu_tile(x, xo, xi, 8)",
        "z: compute_root() gpu_tile(x, xo, xi, 8)\n z.update(0): gpu_tile(x, xo, xi, 8)",
        "out: gpu_tile(x, xo, xi, 8)\n z: compute_at(out, xi) store_in(Register)",
        "out: split(x, xw, xv, 4) vectorize(xv) gpu_tile(xw, xo, xi, 4)\n z: compute_at(out, xi) vectorize(x, 4)\n\
         z.update(0): vectorize(x, 4)",
    ];
    assert_eq!(run(Engine::Interp, &Target::host(), &p, ""), expected);
    crate::gpu::agree(&p, &schedules, &[], &[Region::of_extents([61]), Region::of_spans([(-5, 7)])]);
}

/// The report of decisions says which loops end.
#[test]
fn ends_are_explained() {
    let compiled = collatz(i32::MAX).compile(&"z: compute_root()".parse().unwrap(), &Target::host()).unwrap();
    let text = compiled.explain().unwrap();
    assert!(text.contains("ends as soon as no later iteration stores anything"), "{text}");
}
