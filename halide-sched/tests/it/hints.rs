//! Room for a constant number of coordinates, loops with a constant bound, vectors in vectors, operations that the
//! schedule vouches for, and hints.

use crate::matrix::{Random, check, random_image};
use crate::support::{fault, illegal, lowered_whole, planned, refused, stencil, sweep};
use expect_test::expect;
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};
use std::collections::BTreeSet;

const SIZES: [(i32, i32); 5] = [(1, 1), (2, 5), (7, 3), (8, 12), (13, 8)];

#[test]
fn room_for_a_constant_number_of_coordinates() {
    let p = stencil();
    sweep(
        &p,
        &[
            "f: compute_root() bound_storage(x, 15)",
            "f: compute_at(g, y) bound_storage(x, 20) bound_storage(y, 2)",
            "f: store_root() compute_at(g, y) bound_storage(x, 15) bound_storage(y, 2)",
            "g: split(x, xo, xi, 4) reorder(xi, y, xo)\n f: compute_at(g, xo) bound_storage(x, 6) vectorize(x, 4)",
        ],
        &SIZES,
    );
    let small = "f: compute_root() bound_storage(y, 4)";
    assert_eq!(fault(&p, small, &Region::of_spans([(0, 9), (0, 3)])), None);
    expect!["the schedule promises what does not hold: test:1:19: storage of `f` has room for 4 coordinates of `y`, and more are needed (here 5); drop the promise or change the call"].assert_eq(&fault(&p, small, &Region::of_spans([(0, 9), (0, 4)])).unwrap());
    let folded = "f: store_root() compute_at(g, y) bound_storage(y, 1)";
    expect!["the schedule promises what does not hold: test:1:34: storage of `f` has room for 1 coordinates of `y`, and more are needed (here 2); drop the promise or change the call"].assert_eq(&fault(&p, folded, &Region::of_spans([(0, 9), (0, 4)])).unwrap());
}

#[test]
fn lanes_and_copies_of_what_has_a_constant_bound() {
    let p = stencil();
    sweep(
        &p,
        &[
            "g: split(x, xo, xi, 4, GuardWithIf) reorder(xi, y, xo)\n f: compute_at(g, xo) vectorize(x)",
            "g: split(x, xo, xi, 4, GuardWithIf) reorder(xi, y, xo)\n f: compute_at(g, xo) unroll(x)",
            "g: split(y, yo, yi, 3, GuardWithIf)\n f: compute_at(g, yo) unroll(y) vectorize(x, 4)",
            "g: split(x, xo, xi, 4)\n f: compute_at(g, xo) vectorize(x)",
            "f: compute_at(g, x) unroll(x) unroll(y)",
        ],
        &SIZES,
    );
    expect![[r#"
        test:1:21: `f.x` cannot be vectorized: it may run 4294967298 times
          help: say vectorize with a factor, or promise the extent with bound_extent"#]]
    .assert_eq(&refused(&p, "f: compute_at(g, y) vectorize(x) unroll(y)"));
    expect![[r#"
        test:1:4: `g.y` cannot be cut into prologue, steady state and epilogue: nothing in it is different at its ends
          help: leave always_partition out, or say auto_partition"#]]
    .assert_eq(&refused(&p, "g: always_partition(y)\n f: compute_root() always_partition(x) vectorize(x, 8)"));
}

#[test]
fn vectors_in_vectors() {
    let p = stencil();
    sweep(
        &p,
        &[
            "g: vectorize(x, 4) vectorize(y, 2)",
            "g: split(y, yo, yi, 2) vectorize(yi) vectorize(x, 4)",
            "g: split(y, yo, yi, 2) reorder(x, yi, yo) vectorize(x, 4) vectorize(yi)",
            "g: split(x, xo, xi, 8) split(xi, xm, xl, 4) split(y, yo, yi, 2) reorder(xl, xm, yi, xo, yo) vectorize(xl) unroll(xm) vectorize(yi)",
            "g: vectorize(x, 4)\n f: compute_at(g, x$v) vectorize(x) vectorize(y)",
            "g: vectorize(x, 4)\n f: compute_at(g, x) vectorize(x, 2)",
        ],
        &SIZES,
    );
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    let r = RDom::named("r", [(0, 4), (0, 3)]);
    f[(x, y)] = cast::<i16>(0);
    f[(x, y)] += input[(x + r.x, y + r.y)];
    let p = Pipeline::new([&f]).unwrap();
    sweep(
        &p,
        &[
            "f.update(0): atomic() vectorize(r.x) vectorize(r.y)",
            "f.update(0): atomic() reorder(r.x, x, r.y, y) vectorize(r.x) vectorize(x, 4)",
        ],
        &SIZES,
    );
}

/// Composition of the maps `v -> a * v + b`, which is associative and does not commute.
fn affine_maps() -> Pipeline {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    let r = RDom::named("r", [(0, 11)]);
    let (a, b) = (input[(x + r.x, y)], input[(x, y + r.x)]);
    f[(x, y)] = (cast::<i16>(1), cast::<i16>(0)).into();
    let (c, d) = (f[(x, y)].at(0), f[(x, y)].at(1));
    f[(x, y)] = (c * a, d * a + b).into();
    Pipeline::new([&f]).unwrap()
}

#[test]
fn operations_that_the_schedule_vouches_for() {
    let p = affine_maps();
    let schedules = [
        "f.update(0): monoid([1, 0]) split(r.x, ro, ri, 4) rfactor(ro, u)",
        "f.update(0): monoid([1, 0]) split(r.x, ro, ri, 4) rfactor(ro, u)\n f.rfactor(u): compute_root() parallel(u)\n f.rfactor(u).update(0): parallel(u)",
    ];
    sweep(&p, &schedules, &SIZES);
    let errors = illegal(&p, "f.update(0): monoid([1, 0]) split(r.x, ro, ri, 4) rfactor(ri, u)");
    expect![[r#"
        test:1:51: f.update(0): rfactor(ri, u)
          this changes the order of the reduction over `ri`, but the update of `f.update(0)` is no associative and commutative operation on the old value alone
          help: keep the reduction variables in their order"#]].assert_eq(&errors);
    let errors = illegal(&p, "f.update(0): monoid([1, 0], commutative)");
    expect![[r#"
        test:1:14: f.update(0): monoid([1, 0], commutative)
          the update of `f.update(0)` is not commutative: a op b is not b op a, for a = (0, 0), b = (23729, 2)"#]]
    .assert_eq(&errors);
}

/// Multiplication modulo a prime, which the table of operations does not hold.
#[test]
fn an_operation_modulo_a_number_commutes() {
    let input = ImageParam::new("in", U8, 1);
    let i = vars!(i);
    let mut f = Func::new("f");
    let r = RDom::named("r", [(0, 40)]);
    let e = cast::<u16>(input[r.x]) % 241;
    f[i] = cast::<u16>(1);
    f[i] = f[i] * e % 241;
    let p = Pipeline::new([&f]).unwrap();
    // Partial results stay below 241, which the identity and random values do not know.
    let errors = illegal(&p, "f.update(0): monoid(1, commutative)");
    expect![[r#"
        test:1:14: f.update(0): monoid(1, commutative)
          the update of `f.update(0)` does not leave values as they are under the identity, for a = 26100"#]]
    .assert_eq(&errors);
    let mut f = Func::new("f");
    f[i] = cast::<u8>(0);
    f[i] = f[i] * 2 + input[r.x] - f[i];
    let p = Pipeline::new([&f]).unwrap();
    for schedule in [
        "f.update(0): monoid(0, commutative) atomic() parallel(r.x)",
        "f.update(0): monoid(0, commutative) split(r.x, ro, ri, 8) reorder(ro, ri) parallel(i)",
        "f.update(0): monoid(0, commutative) split(r.x, ro, ri, 8) rfactor(ri, u)\n f.rfactor(u): compute_root() vectorize(u, 8)\n f.rfactor(u).update(0): vectorize(u, 8)",
    ] {
        let mut random = Random(7);
        for n in [1, 5, 9] {
            let input = random_image(U8, &Region::of_spans([(0, 40)]), random.next());
            check(&p, schedule, &[("in", input)], &Region::of_spans([(0, n)]));
        }
    }
}

#[test]
fn hints_change_nothing_and_are_explained() {
    let p = stencil();
    let schedule = "f: compute_root() prefetch(in, x, y, 2) stream_stores() set_estimates([0, 64], [0, 48])\n\
                    g: prefetch(f, y, y, 1, Clamp) set_estimate(x, 0, 64)";
    sweep(&p, &[schedule], &SIZES);
    let plan = planned(&p, schedule);
    assert_eq!(plan.funcs.iter().map(|f| f.estimates.iter().flatten().count()).sum::<usize>(), 3);
    let trace = lowered_whole(&p, schedule).trace;
    let pass = trace.passes.iter().find(|p| p.name == "build_nests").unwrap();
    let text: Vec<String> = pass.decisions.iter().map(|d| d.to_string()).collect();
    expect![[r#"
        f: not stored past the caches, because only kernels of vectors of 256 bits and more have stores that do
        g: not prefetching `f`, because only kernels of vectors of 256 bits and more have instructions that do
        f: not prefetching `in`, because only kernels of vectors of 256 bits and more have instructions that do"#]]
    .assert_eq(&text.join("\n"));
}

/// All loops of a stage say that they are not to be unrolled, those of what runs with it too.
#[test]
fn loops_stay_rolled_where_a_schedule_says_so() {
    let p = stencil();
    let rolled = |schedule: &str| {
        let program = lowered_whole(&p, schedule).program;
        program.loops.iter().filter(|l| l.never_unroll).map(|l| l.name.clone()).collect::<BTreeSet<_>>()
    };
    assert_eq!(rolled("f: compute_root()"), BTreeSet::new());
    let names = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<BTreeSet<_>>();
    assert_eq!(rolled("f: compute_root()\n g: never_unroll()"), names(&["g.x", "g.y"]));
    let variant = "f: compute_root()\n g.specialize(g.extent(0) > 9): split(x, x, xi, 4) never_unroll()";
    assert_eq!(rolled(variant), names(&["g.x", "g.xi", "g.y"]));
    let (x, y) = vars!(x, y);
    let (mut a, mut b, mut sum) = (Func::new("a"), Func::new("b"), Func::new("sum"));
    a[(x, y)] = x + y;
    b[(x, y)] = x - y;
    sum[(x, y)] = a[(x, y)] * b[(x, y)];
    let group = Pipeline::new([&sum]).unwrap();
    let together = "a: compute_root()\n b: compute_root() compute_with(a, y) never_unroll()";
    let program = lowered_whole(&group, together).program;
    let never = program.loops.iter().filter(|l| l.never_unroll).map(|l| l.name.clone()).collect::<BTreeSet<_>>();
    assert_eq!(never, names(&["a.y", "b.x"]));
    sweep(&p, &["f: compute_root() never_unroll() vectorize(x, 8)\n g: vectorize(x, 8) never_unroll()"], &SIZES);
}

/// An output that nothing reads is stored past the caches if it is large, unless its schedule says no.
#[test]
fn stores_go_through_the_caches_where_a_schedule_says_so() {
    let p = stencil();
    let stored = |schedule: &str| {
        let lowered = lowered_whole(&p, schedule);
        let output = lowered.program.buffers.iter().find(|b| b.name == "g").unwrap();
        let build = lowered.trace.passes.iter().find(|p| p.name == "build_nests").unwrap();
        (output.stream, build.decisions.iter().map(|d| d.to_string()).collect::<Vec<_>>())
    };
    assert_eq!(stored("").0, halide_ir::Stream::IfLarge);
    let (stream, said) = stored("g: stream_stores() cache_stores()");
    assert_eq!(
        (stream, &said[..]),
        (halide_ir::Stream::Never, &["g: all stores go through the caches".to_string()][..])
    );
    assert_eq!(stored("g: cache_stores() stream_stores()").0, halide_ir::Stream::Always);
    sweep(&p, &["g: cache_stores() vectorize(x, 8)"], &SIZES);
}

/// Also negative values of 64 bits, and large ones, are tried. (Seed 805039 of random_gpu_schedules.)
#[test]
fn identities_of_wide_integers_are_refuted() {
    for (ty, smallest) in [(I64, true), (U64, false), (I32, true), (I8, true)] {
        let input = ImageParam::new("in", ty, 1);
        let i = vars!(i);
        let mut f = Func::new("f");
        let r = RDom::named("r", [(0, 40)]);
        f[i] = cast_to(ty, 1);
        f[i] = if smallest { max(f[i], input[r.x]) } else { min(f[i], input[r.x]) };
        let p = Pipeline::new([&f]).unwrap();
        let wrong = if smallest { "0" } else { "1000000000" };
        let errors = illegal(&p, &format!("f.update(0): monoid({wrong}, commutative)"));
        assert!(errors.contains("does not leave values as they are under the identity"), "{ty}: {errors}");
    }
}
