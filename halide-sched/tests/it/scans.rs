//! Prefix scans in parts: `rfactor` of recurrences.

use crate::matrix::{check, random_image};
use crate::support::{hold_at, illegal, why_not_taken};
use expect_test::{Expect, expect};
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};

/// Images of `ty` that hold all that the scans below read.
fn sweep(pipeline: &Pipeline, schedules: &[&str], regions: &[&[(i32, i32)]]) {
    let images: Vec<_> = pipeline
        .images
        .iter()
        .map(|i| (i.name.as_str(), random_image(i.ty, &Region::of_spans(vec![(-60, 160); i.dims]), 5)))
        .collect();
    for schedule in schedules {
        for region in regions {
            check(pipeline, schedule, &images, &Region::of_spans(region));
        }
    }
}

/// `y[x] = in[x]`, then `y[r] += y[r - 1]` over `n` elements from 1.
fn cumsum(ty: ScalarType, n: i32) -> Pipeline {
    let input = ImageParam::new("in", ty, 1);
    let (x, mut y) = (vars!(x), Func::new("y"));
    y[x] = input[x];
    let r = RDom::named("r", [(1, n)]);
    let before = y[r.x - 1];
    y[r.x] += before;
    Pipeline::new([&y]).unwrap()
}

const PARTS: &str = "y.update(0): float(relaxed) split(r.x, ro, ri, 4) rfactor(ro, u)\n";

#[test]
fn sums_in_chunks() {
    let places = [
        "y.rfactor(u): compute_root()\n y.total(u): compute_root()\n y.carry(u): compute_root()",
        "y: split(x, xo, xi, 4) parallel(xo) vectorize(xi)\n y.rfactor(u): compute_at(y, xo) vectorize(x, 4)\n \
         y.total(u): compute_root() parallel(u)\n y.carry(u): compute_root()",
        "y: split(x, xo, xi, 8, GuardWithIf) vectorize(xi, 4)\n y.rfactor(u): compute_at(y, xo)\n \
         y.total(u): compute_at(y.carry(u), u) \n y.carry(u): compute_root()",
        "y.total(u): compute_root() vectorize(u, 4)\n y.total(u).update(0): reorder(u, ri) vectorize(u, 4)\n \
         y.rfactor(u): compute_root() parallel(u)\n y.rfactor(u).update(0): parallel(u)\n y.carry(u): compute_root()",
        "y.carry(u).update(0): split(ro, a, b, 2) rfactor(a, v)\n y.carry(u).rfactor(v): compute_root()\n \
         y.carry(u).total(v): compute_root()\n y.carry(u).carry(v): compute_root()\n y.total(u): compute_root()\n \
         y.rfactor(u): compute_root()\n y.carry(u): compute_root()",
        "y: vectorize(x, 4)\n y.total(u): compute_root()\n y.total(u).update(0): atomic() vectorize(ri)\n \
         y.rfactor(u): compute_root() vectorize(x, 4)\n y.rfactor(u).update(0): split(ri, a, b, 2) vectorize(b)\n \
         y.carry(u): compute_root()\n y.carry(u).update(0): vectorize(ro, 8)",
        "",
    ];
    for n in [0, 1, 2, 3, 4, 5, 7, 16, 37] {
        for ty in [I32, U8] {
            let schedules = places.map(|rest| format!("{PARTS}{rest}"));
            let schedules: Vec<&str> = schedules.iter().map(String::as_str).collect();
            sweep(&cumsum(ty, n), &schedules, &[&[(0, 38)], &[(0, 1)], &[(5, 3)], &[(-9, 60)]]);
        }
    }
}

/// Lanes that follow each other along a scan: every operator, tails, masks, strides that fall, loops around and inside.
#[test]
fn lanes_of_a_scan() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    type Step = fn(Expr, Expr) -> Expr;
    let steps: [Step; 8] = [
        |old, new| old + new,
        |old, new| new - 3 + old - 5,
        |old, new| new * old,
        min,
        |old, new| max(new, old),
        |old, new| old & new,
        |old, new| new | old,
        |old, new| old ^ new,
    ];
    let schedules = [
        "y.update(0): vectorize(r.x, 4)",
        "y.update(0): vectorize(r.x, 8, GuardWithIf)",
        "y.update(0): split(r.x, ro, ri, 8) split(ri, a, b, 4) vectorize(b) unroll(a)",
        "y.update(0): split(r.x, ro, ri, 6) vectorize(ri)",
        "y.update(0): vectorize(r.x, 16, Predicate)",
    ];
    for (i, step) in steps.into_iter().enumerate() {
        let r = RDom::named("r", [(1, 29 + i as i32 % 4)]);
        let (mut up, mut down) = (Func::new("y"), Func::new("y"));
        up[x] = input[x] + 1;
        let own = if i % 2 == 0 { up[r.x] } else { input[r.x + 2] * 3 };
        up[r.x] = step(up[r.x - 1], own);
        down[x] = input[x];
        down[40 - r.x] = step(down[41 - r.x], down[40 - r.x]);
        for y in [up, down] {
            sweep(&Pipeline::new([&y]).unwrap(), &schedules, &[&[(0, 41)], &[(-3, 50)]]);
        }
    }

    let input = ImageParam::new("in", I32, 2);
    let ((x, y), mut f) = (vars!(x, y), Func::new("y"));
    f[(x, y)] = input[(x, y)];
    let r = RDom::named("r", [(1, 13), (0, 5)]);
    f[(r.y, r.x)] = f[(r.y, r.x - 1)] + input[(r.x, r.y)];
    let schedules = [
        "y.update(0): vectorize(r.x, 4)",
        "y.update(0): vectorize(r.x, 8) parallel(r.y)",
        "y.update(0): split(r.x, ro, ri, 4) reorder(ri, r.y, ro) vectorize(ri)",
    ];
    sweep(&Pipeline::new([&f]).unwrap(), &schedules, &[&[(0, 5), (0, 14)], &[(-1, 9), (-2, 20)]]);
}

/// Two scans over domains that differ, computed together: lanes that one of them has not come first, too.
#[test]
fn lanes_beside_another_stage() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    let (mut a, mut b) = (Func::new("a"), Func::new("b"));
    a[x] = input[x];
    b[x] = input[x] * 3;
    let (r, s) = (RDom::named("r", [(1, 8)]), RDom::named("s", [(4, 5)]));
    a[r.x] = a[r.x - 1] + a[r.x];
    b[s.x] = max(b[s.x - 1], input[s.x + 1]);
    let p = Pipeline::new([&a, &b]).unwrap();
    let mut legal = 0;
    for (one, other) in [("a", "b"), ("b", "a")] {
        let var = |f: &str| if f == "a" { "r.x" } else { "s.x" };
        for align in ["", ", AlignStart", ", AlignEnd", ", NoAlign"] {
            for kind in ["vectorize(t)", "split(t, to, t, 4) vectorize(t)"] {
                let of = |f: &str| format!("{f}.update(0): rename({}, t) {kind}", var(f));
                let schedule = format!("{}\n{} compute_with({one}.update(0), t{align})", of(one), of(other));
                if why_not_taken(&p, &schedule).is_none() {
                    hold_at(&p, &[schedule], &[&[(0, 30)], &[(-3, 40)]]);
                    legal += 1;
                }
            }
        }
    }
    assert!(legal > 0);
}

/// An element whose place an iteration changes: the next one has another.
#[test]
fn places_that_iterations_change() {
    let input = ImageParam::new("in", I32, 1);
    let (x, mut f) = (vars!(x), Func::new("f"));
    f[x] = x * 3;
    let r = RDom::named("r", [(0, 29)]);
    let at = clamp(f[0] % 5, 0, 4);
    f[at] += r.x + input[r.x] % 4;
    sweep(&Pipeline::new([&f]).unwrap(), &["", "f.update(0): unroll(r.x, 2)"], &[&[(0, 5)]]);
}

/// Lanes where they follow no scan: another order of loops, a condition of the domain, an operation of several values.
#[test]
fn lanes_that_are_refused() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let mut rows = Func::new("y");
    rows[(x, y)] = input[(x, y)];
    let r = RDom::named("r", [(1, 13), (0, 5)]);
    rows[(r.x, 0)] = rows[(r.x - 1, 0)] + input[(r.x, r.y)];
    let p = Pipeline::new([&rows]).unwrap();
    sweep(&p, &["y.update(0): vectorize(r.x, 4)"], &[&[(0, 14), (0, 2)]]);
    let text = illegal(&p, "y.update(0): split(r.x, ro, ri, 4) reorder(r.y, ri, ro) vectorize(ri)");
    assert!(text.contains("`ri` cannot be vectorized") || text.contains("changes the order"), "{text}");

    let mut masked = Func::new("y");
    masked[(x, y)] = input[(x, y)];
    let r = RDom::named("r", [(1, 13)]);
    r.where_(input[(r.x, 0)].gt(0));
    masked[(r.x, 0)] = masked[(r.x - 1, 0)] + 1;
    let text = illegal(&Pipeline::new([&masked]).unwrap(), "y.update(0): vectorize(r.x, 4)");
    assert!(text.contains("cannot be vectorized"), "{text}");
    let text = illegal(&cumsum(F32, 20), "y.update(0): vectorize(r.x, 4)");
    assert!(text.contains("cannot be vectorized"), "{text}");
}

/// New values that are none of the first definition, a coordinate that falls, a domain that begins elsewhere.
#[test]
fn steps_that_bring_other_values() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    for (min, n) in [(3, 13), (-4, 6), (0, 0), (0, 1)] {
        let mut ups = Func::new("y");
        let r = RDom::named("r", [(min, n)]);
        ups[x] = input[x] * 2;
        ups[r.x + 3] = ups[r.x + 2] + input[r.x] - ups[r.x + 3] * 7;
        let mut downs = Func::new("y");
        downs[x] = input[x] - 1;
        downs[5 - r.x] = max(input[r.x + 1], downs[6 - r.x]);
        for y in [ups, downs] {
            let p = Pipeline::new([&y]).unwrap();
            sweep(&p, &[PARTS, &format!("{PARTS}y.rfactor(u): compute_root()")], &[&[(-8, 33)], &[(2, 1)]]);
        }
    }
}

/// Single elements that are set before, in front of the scan and elsewhere, where the output is left as it is.
#[test]
fn scans_that_begin_with_single_elements() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    let mut y = Func::new("y");
    let r = RDom::named("r", [(3, 21)]);
    y[x] = undef::<i32>();
    y[-1] = input[5];
    y[2] = input[2] * 3;
    y[r.x] = y[r.x - 1] + input[r.x];
    let p = Pipeline::new([&y]).unwrap();
    let parts = PARTS.replace("update(0)", "update(2)");
    sweep(&p, &[&parts, "y.update(2): vectorize(r.x, 8)"], &[&[(-1, 29)], &[(-5, 40)]]);

    let mut y = Func::new("y");
    y[x] = undef::<i32>();
    y[1] = input[5];
    y[r.x] = y[r.x - 1] + input[r.x];
    check_refusal(
        &Pipeline::new([&y]).unwrap(),
        &PARTS.replace("update(0)", "update(1)"),
        expect![[r#"
        test:1:51: y.update(1): rfactor(ro, u)
          `y.update(1)` reads the element before the one that it stores to, and its Func begins with what its output holds (`undef`), which its parts have not"#]],
    );
}

/// Rows and columns, with the other coordinate a dimension or a variable of the domain; tuples by a known operation,
/// and by one that the schedule vouches for, whose operands do not commute.
#[test]
fn scans_of_images_and_of_tuples() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let mut rows = Func::new("y");
    rows[(x, y)] = input[(x, y)];
    let r = RDom::named("r", [(1, 13)]);
    rows[(r.x, y)] = rows[(r.x - 1, y)] + rows[(r.x, y)];
    let mut columns = Func::new("y");
    columns[(x, y)] = input[(x, y)];
    let r = RDom::named("r", [(1, 13), (-2, 6)]);
    columns[(1 - r.y, r.x)] = min(columns[(1 - r.y, r.x - 1)], input[(r.x, r.y)]);
    for f in [rows, columns] {
        let p = Pipeline::new([&f]).unwrap();
        let at = "y: reorder(y, x)\n y.rfactor(u): compute_at(y, x)\n y.carry(u): compute_root()";
        sweep(&p, &[PARTS, &format!("{PARTS}{at}")], &[&[(0, 14), (0, 14)], &[(-3, 9), (2, 5)], &[(3, 1), (13, 4)]]);
    }

    let input = ImageParam::new("in", I32, 1);
    let mut product = Func::new("y");
    product[x] = tuple([input[x], input[x + 1]]);
    let r = RDom::named("r", [(1, 13)]);
    let (re, im) = (product[r.x - 1].at(0), product[r.x - 1].at(1));
    let (c, d) = (input[r.x] + 1, input[r.x * 2]);
    product[r.x] = tuple([re * c - im * d, re * d + im * c]);
    sweep(&Pipeline::new([&product]).unwrap(), &[PARTS], &[&[(0, 14)], &[(-3, 30)]]);

    // The first column of a product of matrices [[a, b], [0, 1]]: `f = a * f + b`.
    let mut linear = Func::new("y");
    linear[x] = tuple([0.expr(), input[x]]);
    let (a, b) = (linear[r.x - 1].at(0), linear[r.x - 1].at(1));
    let (c, d) = (input[r.x], input[r.x + 1]);
    linear[r.x] = tuple([a * c, b * c + d]);
    let p = Pipeline::new([&linear]).unwrap();
    sweep(&p, &[&format!("y.update(0): monoid([1, 0])\n {PARTS}")], &[&[(0, 14)], &[(-3, 30)]]);
}

/// A domain of a size that a run gives, and the scan between other Funcs, also in tiles of the one that uses it.
#[test]
fn between_other_funcs() {
    let input = ImageParam::new("in", I32, 1);
    let (x, mut a, mut y, mut b) = (vars!(x), Func::new("a"), Func::new("y"), Func::new("b"));
    a[x] = input[x] + input[x + 1];
    y[x] = a[x];
    let r = RDom::named("r", [(input.dim(0).min() + 63, input.width() - 140)]);
    let before = y[r.x - 1];
    y[r.x] += before;
    b[x] = y[x + 2] - y[x - 1];
    let p = Pipeline::new([&b]).unwrap();
    let schedules = [
        "",
        "y: compute_root() vectorize(x, 4)\n y.rfactor(u): compute_at(y, x)",
        "b: split(x, xo, xi, 8) vectorize(xi) parallel(xo)\n y: compute_at(b, xo) vectorize(x, 4)\n \
         y.rfactor(u): compute_at(b, xo) vectorize(x, 4)\n y.carry(u): compute_root()\n a: compute_root()",
    ];
    let schedules = schedules.map(|rest| format!("{PARTS}{rest}"));
    let schedules: Vec<&str> = schedules.iter().map(String::as_str).collect();
    sweep(&p, &schedules, &[&[(0, 30)], &[(-9, 40)], &[(7, 1)]]);
}

fn check_refusal(pipeline: &Pipeline, schedule: &str, expected: Expect) {
    expected.assert_eq(&illegal(pipeline, schedule));
}

/// A scan begins at a number of 32 bits, or cannot be done in parts.
#[test]
fn scans_that_begin_too_far() {
    let (x, input) = (vars!(x), ImageParam::new("in", I32, 1));
    let (mut y, schedule) = (Func::new("y"), PARTS.replace("r.x", "s.x"));
    y[x] = input[x];
    let s = RDom::named("s", [(i32::MIN, 5)]);
    y[-1 - s.x] = y[-s.x] + input[0];
    check_refusal(
        &Pipeline::new([&y]).unwrap(),
        &schedule,
        expect![[r#"
        test:1:51: y.update(0): rfactor(ro, u)
          `y.update(0)` reads the element before the one that it stores to, and where it begins is beyond 32 bits"#]],
    );
}

#[test]
fn what_is_refused() {
    let floats = cumsum(F32, 20);
    check_refusal(
        &floats,
        "y.update(0): split(r.x, ro, ri, 4) rfactor(ro, u)",
        expect![[r#"
        test:1:36: y.update(0): rfactor(ro, u)
          this changes the order of the reduction over `ro`, but the update of `y.update(0)` rounds differently in another order
          help: say float(relaxed) if that may be"#]],
    );
    check_refusal(
        &floats,
        "y.update(0): float(relaxed) split(r.x, ro, ri, 4) rfactor(ri, u)",
        expect![[r#"
        test:1:51: y.update(0): rfactor(ri, u)
          `y.update(0)` reads the element before the one that it stores to, and only chunks of `r.x`, along which it goes, can be scanned for themselves
          help: say `split(r.x, ro, ri, 1024) rfactor(ro, u)`"#]],
    );
    let more = format!("{PARTS}y.update(0): unroll(ri)");
    check_refusal(
        &floats,
        &more,
        expect![[r#"
        test:2:14: y.update(0): unroll(ri)
          `y.update(0)` is left no more: `rfactor` did its scan in parts, and `y` is pure now
          help: say it of `y`, or of the Funcs of the parts"#]],
    );
    check_refusal(
        &floats,
        &format!("{PARTS}y.total(v): compute_root()"),
        expect![[r#"
        test:2:13: y.total(v): compute_root()
          the pipeline has no Func `y.total(v)`
          help: did you mean `y.total(u)`?"#]],
    );

    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    let refused = |make: &dyn Fn(&mut Func, &RDom), expected: Expect| {
        let (mut y, r) = (Func::new("y"), RDom::named("r", [(1, 20)]));
        y[x] = input[x];
        make(&mut y, &r);
        check_refusal(&Pipeline::new([&y]).unwrap(), PARTS, expected);
    };
    refused(
        &|y, r| y[r.x] = y[r.x - 1] * 3 + input[r.x],
        expect![[r#"
        test:1:51: y.update(0): rfactor(ro, u)
          `y.update(0)` reads the element before the one that it stores to, and combines it with new values by no operation that is known to be associative
          help: vouch for the operation with `monoid`; say `f[r] = a * f[r - 1] + b` of pairs of such factors and sums"#]],
    );
    refused(
        &|y, r| y[r.x] = y[r.x - 1],
        expect![[r#"
        test:1:51: y.update(0): rfactor(ro, u)
          `y.update(0)` reads the element before the one that it stores to, and its operation has no identity that leaves every element as it is"#]],
    );
    refused(
        &|y, r| y[r.x] = y[r.x + 1] + input[r.x],
        expect![[r#"
        test:1:51: y.update(0): rfactor(ro, u)
          the update of `y.update(0)` is not known to be an associative operation on the old value alone"#]],
    );
    refused(
        &|y, r| y[r.x] = y[r.x - 1] + y[r.x - 2],
        expect![[r#"
        test:1:51: y.update(0): rfactor(ro, u)
          the update of `y.update(0)` is not known to be an associative operation on the old value alone"#]],
    );
    let twice = |y: &mut Func, r: &RDom| {
        y[r.x] = y[r.x - 1] + input[r.x];
        y[x] *= 2;
    };
    refused(
        &twice,
        expect![[r#"
            test:1:51: y.update(0): rfactor(ro, u)
              `y.update(0)` reads the element before the one that it stores to, and its Func has other updates than some of single elements before it
              help: give the scan a Func of its own"#]],
    );
    let chosen = |y: &mut Func, r: &RDom| {
        r.where_(input[r.x].gt(0));
        y[r.x] = y[r.x - 1] + input[r.x];
    };
    refused(
        &chosen,
        expect![[r#"
        test:1:51: y.update(0): rfactor(ro, u)
          `y.update(0)` reads the element before the one that it stores to, and its domain has a condition, where such a chain breaks
          help: choose what is new by the condition instead: `select(condition, value, identity)`"#]],
    );
}
