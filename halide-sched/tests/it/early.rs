//! Loops that start early so that windows fill bit by bit: what is computed and kept, and where a loop stays as it was.

use crate::matrix::TARGET;
use crate::matrix::{check, random_image};
use crate::sliding::{images, slides};
use expect_test::{Expect, expect};
use halide_core::buffer::Region;
use halide_core::types::*;
use halide_core::{Expr, Func, ImageParam, Pipeline, Var, vars};
use halide_sched::lower::{LowerOptions, lower};
use halide_sched::plan::resolve;
use halide_sched::schedule::Schedule;

/// Checks the decisions of the passes on windows.
#[track_caller]
fn says(p: &Pipeline, schedule: &str, expected: Expect) {
    let schedule: Schedule = schedule.parse().unwrap();
    let plan = resolve(p, &schedule, &TARGET).unwrap_or_else(|e| panic!("{e:?}"));
    let lowered = lower(&plan, &LowerOptions::default()).unwrap_or_else(|e| panic!("{e:?}"));
    let passes = lowered.trace.passes.iter().filter(|p| ["start_early", "fold_storage"].contains(&p.name));
    let text: Vec<String> = passes.flat_map(|p| &p.decisions).map(|d| d.to_string()).collect();
    expected.assert_eq(&text.join("\n"));
}

/// `h` of `g` of `f` of the input.
fn chain(of_f: impl Fn(&Func, Var, Var) -> Expr, of_g: impl Fn(&Func, &Func, Var, Var) -> Expr) -> Pipeline {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g, mut h) = (Func::new("f"), Func::new("g"), Func::new("h"));
    f[(x, y)] = input[(x, y)] * 3 + y;
    g[(x, y)] = of_f(&f, x, y);
    h[(x, y)] = of_g(&g, &f, x, y);
    Pipeline::new([&h]).unwrap()
}

const BOTH: &str = "f: store_root() compute_at(h, y)\n g: store_root() compute_at(h, y)";

#[test]
fn windows_of_a_chain_are_as_long_as_what_reads_them() {
    let p = chain(|f, x, y| f[(x, y - 2)] + f[(x, y + 2)], |g, _, x, y| g[(x, y - 1)] + g[(x, y + 1)]);
    says(
        &p,
        BOTH,
        expect![[r#"
        g along h.y: starts 2 iterations early
        f along h.y: starts 6 iterations early
        f along h.y: keeps 5 of `y`
        g along h.y: keeps 3 of `y`"#]],
    );
    slides(&p, BOTH, "f", |w, n| (w * (n + 6), w * 5));
    slides(&p, BOTH, "g", |w, n| (w * (n + 2), w * 3));
    // A fold that the whole footprint would not fit.
    let folded =
        "f: store_root() compute_at(h, y) fold_storage(y, 6)\n g: store_root() compute_at(h, y) fold_storage(y, 4)";
    slides(&p, folded, "f", |w, n| (w * (n + 6), w * 6));
    let strips = "h: split(y, yo, yi, 4, GuardWithIf) parallel(yo)
        f: store_at(h, yo) compute_at(h, yi)\n g: store_at(h, yo) compute_at(h, yi)";
    slides(&p, strips, "f", |w, n| {
        let rows = |s: i64| (n - 4 * s).min(4) + 6;
        let strips = (n + 3) / 4;
        ((0..strips).map(|s| w * rows(s)).sum(), (0..strips).map(|s| w * rows(s).min(5)).sum())
    });
}

#[test]
fn several_readers_and_other_scales() {
    let p = chain(|f, x, y| f[(x, y + 1)], |g, f, x, y| g[(x, y)] + g[(x, y + 2)] + f[(x, y - 5)]);
    slides(&p, BOTH, "f", |w, n| (w * (n + 8), w * 9));
    // Two lines per iteration, of which each needs two; and one for every two lines.
    let down = chain(|f, x, y| f[(x, y)] + f[(x, y + 1)], |g, _, x, y| g[(x, y * 2 - 1)] + g[(x, y * 2 + 2)]);
    slides(&down, BOTH, "g", |w, n| (w * (2 * n + 2), w * 4));
    slides(&down, BOTH, "f", |w, n| (w * (2 * n + 3), w * 3));
    let up = chain(|f, x, y| f[(x, y / 2 - 1)] + f[(x, y / 2 + 1)], |g, _, x, y| g[(x, y - 1)] + g[(x, y + 1)]);
    says(
        &up,
        BOTH,
        expect![[r#"
        g along h.y: starts 2 iterations early
        f along h.y: starts 8 iterations early
        f along h.y: keeps 3 of `y`
        g along h.y: keeps 3 of `y`"#]],
    );
    for (w, n) in [(1, 1), (5, 7), (8, 2)] {
        for first in [-3, -2, 5] {
            check(&up, BOTH, &images(&up), &Region::of_spans([(-3, w), (first, n)]));
        }
    }
}

#[test]
fn loops_that_start_where_they_did() {
    let p = chain(|f, x, y| f[(x, y - 1)] + f[(x, y + 1)], |g, _, x, y| g[(x, y - 1)] + g[(x, y + 1)]);
    // What is kept of `f` is of no use where it is computed anew for each line of `g`.
    says(
        &p,
        "f: compute_at(h, y)\n g: store_root() compute_at(h, y)",
        expect![[r#"
        g along h.y: not started early, because it reads `f`, which does not
        g along h.y: keeps 3 of `y`"#]],
    );
    says(
        &p,
        "f: compute_at(g, y)\n g: store_root() compute_at(h, y)",
        expect![[r#"
        g along h.y: starts 2 iterations early
        g along h.y: keeps 3 of `y`"#]],
    );
    says(
        &p,
        "f: store_root() compute_at(h, y)\n g: compute_at(h, y)",
        expect![[r#"
        f along h.y: starts 4 iterations early
        f along h.y: keeps 5 of `y`"#]],
    );
    says(
        &p,
        "f: store_root() compute_at(h, y) split(y, yo, yi, 2)\n g: store_root() compute_at(h, y)",
        expect![[r#"
        f along h.y: not started early, because the dimension that moves is split
        g along h.y: not started early, because it reads `f`, which does not
        f along h.y: keeps 5 of `y`
        g along h.y: keeps 3 of `y`"#]],
    );
    says(
        &p,
        "h: split(y, yo, yi, 4)\n f: store_root() compute_at(h, yi)\n g: compute_at(h, yi)",
        expect![[r#"
        f along h.yo: not started early, because there is another loop around it or between its storage and the loop
        f along h.yi: not started early, because there is another loop around it or between its storage and the loop
        f along h.yo: keeps 8 of `y`"#]],
    );
    says(
        &p,
        "h: unroll(y, 2)\n f: compute_root()\n g: store_root() compute_at(h, y)",
        expect![[r#"
        g along h.y: starts 1 iterations early
        g along h.y: keeps 4 of `y`"#]],
    );
    let upwards = chain(|f, x, y| f[(x, -y)] + f[(x, 2 - y)], |g, _, x, y| g[(x, y)]);
    says(
        &upwards,
        "f: store_root() compute_at(h, y)\n g: compute_at(h, y)",
        expect![[r#"
        f along h.y: not started early, because its window moves towards lower coordinates
        f along h.y: keeps 3 of `y`"#]],
    );
}

/// A loop that starts early computes nothing whose storage begins later.
#[test]
fn chains_of_split_stages_start_early_inside_of_their_storage() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    let [mut f, mut g, mut h] = ["f", "g", "h"].map(Func::new);
    f[x] = input[x] * 3;
    g[x] = f[x] + f[x + 1];
    h[x] = g[x + 2] + g[x];
    let pipeline = Pipeline::new([&h]).unwrap();
    for store in ["x", "t7"] {
        for split in ["split(x, t15, t16, 2)", "split(x, t15, t16, 3, GuardWithIf)"] {
            let schedule = format!(
                "h: split(x,x,t6,2) split(t6,t7,t8,3)\n g: compute_at(h,t7) store_at(h,x) {split}\n \
                 f: compute_at(g,t15) store_at(h,{store})"
            );
            for width in 1..10 {
                let image = random_image(I32, &Region::of_spans([(-8, width + 40)]), 1);
                check(&pipeline, &schedule, &[("in", image)], &Region::of_extents([width]));
            }
        }
    }
}
