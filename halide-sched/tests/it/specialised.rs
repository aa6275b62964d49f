//! Specialisations: nested, of updates, and runs that end where none applies.

use crate::matrix::{TARGET, check, random_image};
use crate::support::fault;
use expect_test::expect;
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, IntoExpr, Param, Pipeline, RDom, vars};
use halide_ir::Stmt;
use halide_sched::lower::{LowerOptions, lower_to_bounded};
use halide_sched::plan::resolve;

/// A producer, a consumer with an update over a domain, and one that uses the producer in one arm only.
fn pipeline() -> Pipeline {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut p, mut f, mut out) = (Func::new("p"), Func::new("f"), Func::new("out"));
    p[(x, y)] = input[(x, y)] * 5 + 1;
    let r = RDom::named("r", [(0, 5)]);
    f[(x, y)] = p[(x, y)] ^ 3;
    f[(x, y)] += p[(x + r.x, y)] * cast::<i16>(r.x + 1);
    out[(x, y)] = f[(x, y)] - f[(x, y + 1)];
    Pipeline::new([&out]).unwrap()
}

#[test]
fn nested_and_of_updates() {
    let p = pipeline();
    let schedules = [
        "f: compute_root()\n f.update(0): specialize(out.extent(0) >= 8)\n f.update(0).specialize(out.extent(0) >= 8): vectorize(x, 8) specialize(out.extent(1) % 2 == 0)\n \
         f.update(0).specialize(out.extent(0) >= 8).specialize(out.extent(1) % 2 == 0): reorder(x, y, r.x) unroll(r.x)",
        "f: compute_root() specialize(in.extent(0) > 20)\n f.specialize(in.extent(0) > 20): vectorize(x, 4) unroll(y, 2)\n f.update(0): specialize(in.extent(0) > 20)\n \
         f.update(0).specialize(in.extent(0) > 20): vectorize(x, 4)\n p: compute_at(f, y) clone_in(f)",
        "f: compute_root()\n f.update(0): atomic() specialize(out.extent(0) >= 4)\n f.update(0).specialize(out.extent(0) >= 4): parallel(r.x)\n p: compute_root()",
        "out: specialize(out.extent(0) < 4) specialize(out.extent(0) < 8) specialize(out.extent(0) < 8 && out.extent(1) > 3)\n \
         out.specialize(1): split(x, xo, xi, 4) vectorize(xi)\n out: split(x, xo, xi, 8) vectorize(xi)\n f: compute_at(out, y)",
        "out: specialize(out.stride(0) == 1)\n out.specialize(out.stride(0) == 1): vectorize(x, 4) specialize(out.extent(1) > 4) specialize_fail(\"short\")\n f: compute_root()",
    ];
    for (i, schedule) in schedules.iter().enumerate() {
        for (w, h) in [(1, 1), (4, 4), (7, 6), (9, 5), (16, 8)] {
            let input = random_image(I16, &Region::of_spans([(-9, w + 60), (-6, h + 60)]), 5);
            if i < 4 || h > 4 {
                check(&p, schedule, &[("in", input)], &Region::of_spans([(-1, w), (2, h)]));
            }
        }
    }
}

#[test]
fn runs_that_end_where_no_specialisation_applies() {
    let p = pipeline();
    let schedule = "out: specialize(out.extent(0) == 8) specialize(out.extent(1) > 100) specialize_fail(\"eight wide, please\")\n f: compute_root()";
    assert_eq!(fault(&p, schedule, &Region::of_spans([(0, 8), (0, 3)])), None);
    expect![[r#"the schedule promises what does not hold: test:1:69: `out` runs only where out.extent(0) == 8, or out.extent(1) > 100: eight wide, please; drop the promise or change the call"#]]
    .assert_eq(&fault(&p, schedule, &Region::of_spans([(0, 9), (0, 3)])).unwrap());
    let schedule = "f: compute_root()\n f.update(0): specialize(in.extent(0) < 4) specialize_fail(\"a narrow image\")";
    expect![[r#"the schedule promises what does not hold: test:2:44: `f.update(0)` runs only where in.extent(0) < 4: a narrow image; drop the promise or change the call"#]]
        .assert_eq(&fault(&p, schedule, &Region::of_spans([(0, 9), (0, 3)])).unwrap());
}

/// The vector stores of a specialisation are there, and the scalar ones of the general case.
#[test]
fn each_variant_has_its_own_loops() {
    let p = pipeline();
    let schedule =
        "out: specialize(out.extent(0) >= 8)\n out.specialize(out.extent(0) >= 8): vectorize(x, 8)\n f: compute_root()";
    let plan = resolve(&p, &schedule.parse().unwrap(), &TARGET).unwrap_or_else(|e| panic!("{e:?}"));
    let program = lower_to_bounded(&plan, &LowerOptions::default()).unwrap().program;
    let loops: Vec<&str> = program.loops.iter().map(|l| l.name.as_str()).filter(|l| l.starts_with("out.")).collect();
    assert_eq!(loops, ["out.y", "out.x", "out.x$v", "out.y", "out.x"]);
    assert!(matches!(program.body, Stmt::Block(_) | Stmt::Let { .. } | Stmt::If { .. }));
}

/// Each variant's loops are cut as it says, also where they have the same names.
#[test]
fn variants_are_cut_as_each_says() {
    let (input, x) = (ImageParam::new("in", I16, 1), vars!(x));
    let mut f = halide_core::Func::new("f");
    f[x] = input[clamp(x, 2, 30)];
    let p = Pipeline::new([&f]).unwrap();
    let often = |schedule: &str| {
        let lowered = crate::support::lowered_whole(&p, schedule);
        let pass = lowered.trace.passes.iter().find(|p| p.name == "partition_loops").unwrap();
        pass.decisions.iter().filter(|d| d.subject.starts_with("f.x (") && d.to_string().contains(": cut into")).count()
    };
    let special = "f: specialize(f.extent(0) > 9)";
    assert_eq!(often(special), 2);
    assert_eq!(often(&format!("{special}\n f.specialize(f.extent(0) > 9): never_partition(x)")), 1);
    assert_eq!(often(&format!("{special}\n f: never_partition(x)")), 1);
    assert_eq!(
        often(&format!("{special}\n f: always_partition(x)\n f.specialize(f.extent(0) > 9): never_partition(x)")),
        1
    );
    assert_eq!(
        often(&format!("{special}\n f: never_partition(x)\n f.specialize(f.extent(0) > 9): always_partition(x)")),
        1
    );
}

/// The condition of a specialisation on a parameter decides the same comparisons in the algorithm, either way, and what
/// was refuted alone is refuted together with anything else.
#[test]
fn conditions_of_parameters_decide_comparisons_of_the_algorithm() {
    let (input, x) = (ImageParam::new("in", I16, 1), vars!(x));
    let (n, b) = (Param::<i32>::new("n"), Param::<bool>::new("b"));
    let text = |cond: Expr, schedule: &str| {
        let mut f = Func::new("f");
        f[x] = select(cond, input[x] * 2, input[x] + 3) + select(b, cast::<i16>(1), cast::<i16>(2));
        crate::support::lowered(&Pipeline::new([&f]).unwrap(), schedule).to_string()
    };
    let selects = |cond: Expr, schedule: &str| text(cond, schedule).matches("select(").count();
    // One is that of `b`, in each of the two variants.
    assert_eq!(selects(n.expr().eq(4), "f: specialize(n == 4)"), 2);
    assert_eq!(selects(n.expr().ne(4), "f: specialize(n == 4)"), 2);
    assert_eq!(selects(n.expr().gt(4), "f: specialize(n > 4)"), 2);
    assert_eq!(selects(n.expr().le(4), "f: specialize(n > 4)"), 2);
    assert_eq!(selects(n.expr().ge(3), "f: specialize(n > 4)"), 3);
    // Where the parameter has one value, arithmetic of it has one too, and wraps as it does in a run.
    for cond in [(n.expr() * 2).eq(8), (n.expr() * 2 - 3).lt(6), (n.expr() % 3).eq(1), (n.expr() * 1_000_000_000).lt(0)]
    {
        assert_eq!(selects(cond, "f: specialize(n == 4)"), 3);
    }
    assert_eq!(selects(n.expr().eq(4) & b, "f: specialize(n == 4)"), 3);
    let both = text(n.expr().eq(4), "f: specialize(n == 4) specialize(n == 4 && b)");
    let one = text(n.expr().eq(4), "f: specialize(n == 4)");
    assert_eq!(both.matches("for f.x").count(), one.matches("for f.x").count(), "{both}");
}

/// The number of loops `x` of `f` that are cut, of those of a stage that reads a clamped row.
fn cuts(p: &Pipeline, schedule: &str) -> usize {
    let lowered = crate::support::lowered_whole(p, schedule);
    let pass = lowered.trace.passes.iter().find(|p| p.name == "partition_loops").unwrap();
    pass.decisions.iter().filter(|d| d.subject.starts_with("f.x (") && d.to_string().contains(": cut into")).count()
}

/// Copies of a loop that a pass made before loops are cut are cut as their own variant says, whatever others say of
/// their loops of the same name.
#[test]
fn never_partition_holds_for_copies_where_variants_disagree() {
    let (input, (x, y)) = (ImageParam::new("in", I16, 2), vars!(x, y));
    let mut f = halide_core::Func::new("f");
    f[(x, y)] = input[(clamp(x, 2, 30), y)];
    let p = Pipeline::new([&f]).unwrap();
    let special = "f: unroll(y, 2) specialize(f.extent(0) > 9)";
    assert_eq!(cuts(&p, special), 4);
    assert_eq!(cuts(&p, &format!("{special}\n f.specialize(f.extent(0) > 9): never_partition(x)")), 2);
    assert_eq!(cuts(&p, &format!("{special} never_partition(x)")), 2);
    let both = format!("{special} always_partition(x)\n f.specialize(f.extent(0) > 9): never_partition(x)");
    assert_eq!(cuts(&p, &both), 2);
}

/// A loop that must be cut and has nothing to cut is refused, though a loop of its name in another variant is cut.
#[test]
fn always_partition_is_refused_where_one_variant_cannot_have_it() {
    let (input, (x, y)) = (ImageParam::new("in", I16, 2), vars!(x, y));
    let mut f = halide_core::Func::new("f");
    f[(x, y)] = input[(x, y)] + 1;
    let p = Pipeline::new([&f]).unwrap();
    let general = "f: unroll(y, 2) specialize(f.extent(0) > 9) split(x, x, xi, 8, GuardWithIf) always_partition(x)";
    let both = format!("{general}\n f.specialize(f.extent(0) > 9): always_partition(x)");
    expect![[r#"
        test:2:33: `f.x` cannot be cut into prologue, steady state and epilogue: nothing in it is different at its ends
          help: leave always_partition out, or say auto_partition"#]]
    .assert_eq(&crate::support::refused(&p, &both));
    assert!(cuts(&p, general) >= 2);
}

/// A variant that never runs has no loop that could be cut, so nothing is missing there.
#[test]
fn always_partition_is_not_missed_in_variants_that_never_run() {
    let (input, (x, y)) = (ImageParam::new("in", I16, 2), vars!(x, y));
    let mut f = halide_core::Func::new("f");
    f[(x, y)] = input[(clamp(x, 2, 30), y)];
    let p = Pipeline::new([&f]).unwrap();
    let cut = "always_partition(x)\n f.specialize(f.extent(0) > 99): always_partition(x)";
    assert_eq!(cuts(&p, &format!("f: specialize(f.extent(0) > 99) {cut}")), 2);
    assert_eq!(cuts(&p, &format!("f: bound(x, 0, 40) specialize(f.extent(0) > 99) {cut}")), 1);
    assert_eq!(cuts(&p, &format!("f: bound(x, 0, 140) specialize(f.extent(0) > 99) {cut}")), 1);
    // Copies that unrolling makes count as their loop.
    assert_eq!(cuts(&p, &format!("f: unroll(y, 2) bound(x, 0, 40) specialize(f.extent(0) > 99) {cut}")), 2);
}

#[test]
fn conditions_make_extents_of_outputs_constant() {
    // Channels are innermost; an even and an odd one differ, and the sum of all goes to each.
    let input = ImageParam::new("in", I16, 2);
    let (c, x) = vars!(c, x);
    let (mut p, mut out) = (Func::new("p"), Func::new("out"));
    let r = RDom::named("r", [(0, 3)]);
    p[(c, x)] = select((c % 2).eq(0), input[(c, x)] * 3, input[(c + 1, x)] + 7);
    out[(c, x)] = p[(c, x)] + p[(c + 1, x)];
    out[(c, x)] += input[(c + r.x, x)];
    let pipeline = Pipeline::new([&out]).unwrap();
    let here = "out.extent(0) == 4 && out.min(0) == 0";
    let schedules = [
        format!(
            "p: compute_at(out, x)\n out: specialize({here})\n out.specialize({here}): unroll(c)\n \
             out.update(0): specialize({here})\n out.update(0).specialize({here}): reorder(c, r.x, x) vectorize(c, 4)"
        ),
        format!(
            "p: compute_root()\n out: split(c, c, ci, 4) split(x, x, xi, 8) reorder(xi, ci, x, c) vectorize(xi) \
             unroll(ci) specialize({here})\n out.update(0): unroll(c, 4) specialize({here})"
        ),
        "p: compute_root()\n out: specialize(out.extent(0) == 4)\n out.specialize(out.extent(0) == 4): reorder(c, x) \
         unroll(c) specialize(out.extent(1) == 6 && 2 == out.min(1))\n \
         out.specialize(out.extent(0) == 4).specialize(out.extent(1) == 6 && 2 == out.min(1)): vectorize(x)"
            .to_string(),
    ];
    for schedule in &schedules {
        for (c, x) in [((0, 4), (2, 6)), ((0, 4), (-1, 13)), ((1, 4), (2, 6)), ((0, 5), (0, 9)), ((0, 3), (2, 6))] {
            let input = random_image(I16, &Region::of_spans([(-4, 30), (-9, 60)]), 5);
            check(&pipeline, schedule, &[("in", input)], &Region::of_spans([c, x]));
        }
    }
    let wrong = |schedule: &str| match resolve(&pipeline, &schedule.parse().unwrap(), &TARGET) {
        Ok(_) => panic!("{schedule}"),
        Err(errors) => errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    };
    // Elsewhere nothing is known of it, nor of another dimension.
    expect![[r#"
        schedule:2:57: out: unroll(c)
          loop `c` of `out` cannot be unrolled: its extent is not a constant
          help: split by a factor, as in `unroll(c, 8)`, or promise it with bound_extent"#]]
    .assert_eq(&wrong(&format!("p: compute_root()\n out: specialize({here}) unroll(c)")));
    expect![[r#"
        schedule:3:57: out.specialize(out.extent(0) == 4 && out.min(0) == 0): unroll(x)
          loop `x` of `out.specialize(out.extent(0) == 4 && out.min(0) == 0)` cannot be unrolled: its extent is not a constant
          help: split by a factor, as in `unroll(x, 8)`, or promise it with bound_extent"#]]
        .assert_eq(&wrong(&format!("p: compute_root()\n out: specialize({here})\n out.specialize({here}): unroll(x)")));
}

#[test]
fn extents_are_constant_where_an_output_is_outside_of_loops() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut a, mut b) = (Func::new("a"), Func::new("b"));
    a[(x, y)] = input[(x, y)] * 3;
    b[(x, y)] = a[(x, y)] + a[(x, y)];
    let pipeline = Pipeline::new([&a, &b]).unwrap();
    let here = "a.extent(0) == 4 && a.min(0) == 0";
    for place in ["compute_root()", "compute_at(b, y)"] {
        let text = format!("a: {place} specialize({here})\n a.specialize({here}): unroll(x)");
        // In loops of another output its region is one of these: a reason is enough.
        let Ok(plan) = resolve(&pipeline, &text.parse().unwrap(), &TARGET) else {
            assert_eq!(place, "compute_at(b, y)");
            continue;
        };
        assert_eq!(place, "compute_root()");
        lower_to_bounded(&plan, &LowerOptions::default()).unwrap();
    }
}
