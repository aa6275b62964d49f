//! Prefetches of what later iterations read: for which boxes, and that results stay what they are.

use crate::matrix::{TARGET, check_on, random_image};
use crate::support::parsed;
use expect_test::{Expect, expect};
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, vars};
use halide_ir::target::Target;
use halide_sched::lower::{LowerOptions, Lowered, lower};
use halide_sched::plan::resolve;

/// Only wide vectors come with prefetches.
const WIDE: Target = Target { vector_bits: 512, ..TARGET };

fn lowered(p: &Pipeline, schedule: &str) -> Lowered {
    let plan = resolve(p, &parsed(schedule), &WIDE).unwrap_or_else(|e| panic!("{schedule}\n{e:?}"));
    lower(&plan, &LowerOptions::default()).unwrap_or_else(|e| panic!("{schedule}\n{e:?}"))
}

/// Checks the decisions of lowering on prefetches, and those that it makes.
fn told(p: &Pipeline, schedule: &str, expected: Expect) {
    let made = lowered(p, schedule);
    let decisions = made.trace.passes.iter().flat_map(|p| &p.decisions).map(|d| d.to_string());
    let said: Vec<String> = decisions.filter(|d| d.contains("prefetching")).collect();
    let text = made.program.to_string();
    let code: Vec<&str> = text.lines().map(str::trim).filter(|l| l.starts_with("prefetch ")).collect();
    expected.assert_eq(&[said, code.into_iter().map(str::to_string).collect()].concat().join("\n"));
}

/// A blur in two directions: `x3(x, y)` of `in`, `y3(x, y)` of `x3`.
fn blur() -> Pipeline {
    let input = ImageParam::new("in", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut x3, mut y3) = (Func::new("x3"), Func::new("y3"));
    x3[(x, y)] = input[(x, y)] + input[(x + 2, y)];
    y3[(x, y)] = x3[(x, y)] + x3[(x, y + 2)];
    Pipeline::new([&y3]).unwrap()
}

/// Tiles of one vector by eight lines, as the blur of the apps.
const TILES: &str = "y3: tile(x, y, xo, yo, xi, yi, 32, 8) vectorize(xi) unroll(yi)";

#[test]
fn only_what_is_new_is_asked_for() {
    let at = |directives: &str| format!("{TILES} {directives}\n x3: compute_at(y3, xo) vectorize(x, 32)");
    // The tile below: eight lines of ten are new, and of each line one vector.
    told(
        &blur(),
        &at("prefetch(in, xo, yo, 1, NonFaulting)"),
        expect![[r#"
            y3.xo: prefetching `in` 1 iteration of y3.yo ahead, 8 cache lines each time
            prefetch far in#b0(t6 + t51 + 2)
            prefetch far in#b0(t8 + t51 + 2)
            prefetch far in#b0(t10 + t51 + 2)
            prefetch far in#b0(t12 + t51 + 2)
            prefetch far in#b0(t14 + t51 + 2)
            prefetch far in#b0(t16 + t51 + 2)
            prefetch far in#b0(t18 + t51 + 2)
            prefetch far in#b0(t20 + t51 + 2)"#]],
    );
    // The tile to the right: all ten lines.
    told(
        &blur(),
        &at("prefetch(in, xo, xo, 2, NonFaulting)"),
        expect![[r#"
        y3.xo: prefetching `in` 2 iterations of y3.xo ahead, 10 cache lines each time
        prefetch near in#b0(t8 + t57 + 66)
        prefetch near in#b0(t10 + t57 + 66)
        prefetch near in#b0(t12 + t57 + 66)
        prefetch near in#b0(t14 + t57 + 66)
        prefetch near in#b0(t16 + t57 + 66)
        prefetch near in#b0(t18 + t57 + 66)
        prefetch near in#b0(t20 + t57 + 66)
        prefetch near in#b0(t22 + t57 + 66)
        prefetch near in#b0(t24 + t57 + 66)
        prefetch near in#b0(t26 + t57 + 66)"#]],
    );
    // Per line of tiles: more than is written out.
    told(
        &blur(),
        &at("prefetch(in, yo, yo, 1, NonFaulting)"),
        expect![[r#"
            y3.yo: prefetching `in` 1 iteration of y3.yo ahead, as many cache lines as there are
            prefetch far in#b0(t8 + y3.yo.ahead#L7 * 32 + -31)"#]],
    );
}

#[test]
fn ends_of_the_source() {
    let rows =
        |bound: &str| format!("x3: compute_root() vectorize(x, 8)\n y3: prefetch(x3, y, y, 1{bound}) vectorize(x, 8)");
    for (bound, expected) in [
        (
            "",
            expect![[r#"
                y3.y: prefetching `x3` 1 iteration of y3.y ahead, as many cache lines as there are
                prefetch far x3#b2(t20 + y3.y.ahead#L6 * 32)"#]],
        ),
        (
            ", Clamp",
            expect![[r#"
                y3.y: prefetching `x3` 1 iteration of y3.y ahead, as many cache lines as there are
                prefetch far x3#b2(t20 + y3.y.ahead#L6 * 32)"#]],
        ),
        (
            ", NonFaulting",
            expect![[r#"
                y3.y: prefetching `x3` 1 iteration of y3.y ahead, as many cache lines as there are
                prefetch far x3#b2(t20 + y3.y.ahead#L6 * 32 + -7)"#]],
        ),
    ] {
        told(&blur(), &rows(bound), expected);
    }
}

#[test]
fn what_is_not_prefetched_is_explained() {
    let vectors = "x3: compute_root()\n y3: vectorize(x, 8) prefetch(x3, x$v, y, 1)";
    told(&blur(), vectors, expect!["y3.x$v: not prefetching `x3`, because its iterations are lanes"]);
    let own = "x3: compute_at(y3, y)\n y3: prefetch(x3, y, y, 1)";
    told(&blur(), own, expect!["y3.y: not prefetching `x3`, because each iteration has storage of its own for it"]);
    let inline = "y3: prefetch(x3, y, y, 1)";
    told(&blur(), inline, expect!["y3.y: not prefetching `x3`, because nothing in the loop reads it"]);
    let taken_apart = "x3: compute_root()\n y3: prefetch(x3, y, y, 1) split(y, yo, yi, 4)";
    told(&blur(), taken_apart, expect!["y3: not prefetching `x3`, because a directive after it takes its loops apart"]);
    let device = "x3: compute_root()\n y3: gpu_tile(x, y, xo, yo, xi, yi, 8, 8) prefetch(x3, yi, yo, 1)";
    told(&blur(), device, expect!["y3.yi: not prefetching `x3`, because a GPU runs the loop"]);

    let huge = "x3: compute_root()\n y3: prefetch(x3, x, y, 65536, Clamp) prefetch(x3, y, y, -65536)";
    told(
        &blur(),
        huge,
        expect![[r#"
            y3.y: prefetching `x3` -65536 iterations of y3.y ahead, as many cache lines as there are
            y3.x: prefetching `x3` 65536 iterations of y3.y ahead, as many cache lines as there are
            prefetch far x3#b2(t12 + y3.y.ahead#L4 * 32)
            prefetch far x3#b2(t17)"#]],
    );

    let input = ImageParam::new("in", U8, 1);
    let table = ImageParam::new("table", I32, 1);
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = table[cast::<i32>(input[x]) * table[x]];
    let gather = Pipeline::new([&f]).unwrap();
    told(
        &gather,
        "f: prefetch(table, x, x, 1)",
        expect!["f.x: not prefetching `table`, because it is more than a cache holds"],
    );
}

#[test]
fn results_stay_what_they_are() {
    let schedules = [
        &format!("{TILES} prefetch(in, xo, yo, 1)\n x3: compute_at(y3, xo) vectorize(x, 32)"),
        &format!("{TILES} prefetch(in, xo, xo, 3, Clamp)\n x3: compute_at(y3, yo) vectorize(x, 32)"),
        "x3: compute_root() prefetch(in, x, y, 2)\n y3: prefetch(x3, x, x, -1, Clamp) prefetch(in, y, y, 9) parallel(y)",
        "x3: store_root() compute_at(y3, y) vectorize(x, 16)\n y3: vectorize(x, 16) prefetch(x3, y, y, 1) prefetch(in, y, y, 2, Clamp)",
        "y3: tile(x, y, xo, yo, xi, yi, 32, 8) prefetch(x3, yi, yi, 65536, NonFaulting)\n x3: compute_at(y3, xo)",
        "y3: tile(x, y, xo, yo, xi, yi, 32, 8) prefetch(x3, xi, yi, -65536, Clamp)\n x3: compute_at(y3, xo)",
        "x3: compute_root()\n y3: reorder(y, x) vectorize(x, 8) prefetch(x3, y, y, 1, NonFaulting)",
        "x3: compute_root()\n y3: split(x, xo, xi, 5) fuse(xo, y, t) prefetch(x3, t, t, 1) specialize(y3.extent(0) > 9)",
    ];
    for schedule in schedules {
        for (w, h) in [(1, 1), (2, 5), (31, 7), (33, 9), (70, 20)] {
            let input = random_image(U16, &Region::of_spans([(-19, w + 140), (-6, h + 60)]), 5);
            check_on(&WIDE, &blur(), schedule, &[("in", input)], &[Region::of_spans([(-1, w), (2, h)])]);
        }
    }
}

/// A variant that was opened before the directive does without, though its loops have the names of those that do not.
#[test]
fn variants_ask_each_for_themselves() {
    let special = "y3: tile(x, y, xo, yo, xi, yi, 32, 8) vectorize(xi) specialize(in.extent(0) > 64)";
    told(
        &blur(),
        &format!("{special} prefetch(in, xo, yo, 1, NonFaulting)\n x3: compute_at(y3, xo) vectorize(x, 32)"),
        expect![[r#"
            y3.xo (otherwise): prefetching `in` 1 iteration of y3.yo ahead, 8 cache lines each time
            prefetch far in#b0(t24 + t61 + 2)
            prefetch far in#b0(t26 + t61 + 2)
            prefetch far in#b0(t28 + t61 + 2)
            prefetch far in#b0(t30 + t61 + 2)
            prefetch far in#b0(t32 + t61 + 2)
            prefetch far in#b0(t34 + t61 + 2)
            prefetch far in#b0(t36 + t61 + 2)
            prefetch far in#b0(t38 + t61 + 2)"#]],
    );
}
