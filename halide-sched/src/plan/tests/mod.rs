//! Plans of small pipelines as text, and the text of every error.

mod errors;
mod graph;
mod samples;
mod show;
mod updates;

use crate::plan::resolve;
use crate::schedule::Schedule;
use expect_test::{Expect, expect};
use halide_core::pipeline::Pipeline;
use halide_core::types::{F32, I32};
use halide_ir::target::{Arch, Budget, Gpu, Target};

const TARGET: Target = Target {
    arch: Arch::X86_64,
    vector_bits: 128,
    features: None,
    threads: 4,
    cache_bytes: 1 << 20,
    gpu: Some(GPU),
    budget: Budget::DEFAULT,
};

const GPU: Gpu = Gpu { subgroup: Some(32), ..Gpu::LEAST };

fn parse(text: &str) -> Schedule {
    Schedule::parse(text, "test").unwrap_or_else(|e| panic!("{e}"))
}

/// The plan of a schedule, or its errors.
fn outcome(pipeline: &Pipeline, schedule: &Schedule) -> String {
    match resolve(pipeline, schedule, &TARGET) {
        Ok(plan) => show::plan(&plan),
        Err(errors) => errors.iter().map(|e| format!("{e}\n")).collect(),
    }
}

fn check(pipeline: &Pipeline, schedule: &str, expected: Expect) {
    expected.assert_eq(&outcome(pipeline, &parse(schedule)));
}

#[test]
fn nothing_said() {
    check(
        &samples::blur(),
        "",
        expect![[r#"
        blur_x: inline
        blur_y: root
          0: serial y, serial x
    "#]],
    );
    check(
        &samples::histogram(),
        "",
        expect![[r#"
        hist: at cdf.0.i
          0: serial i
          1: serial r.y, serial r.x
        cdf: at out.0.x
          0: serial i
          1: serial s.x
        out: root
          0: serial y, serial x
    "#]],
    );
    check(
        &samples::inline_sums(),
        "a: compute_root() b: compute_root()",
        expect![[r#"
        sum: at a.0.x
          0: serial y, serial x
          1: serial y, serial x, serial r.y, serial r.x
        sum$1: at b.0.x
          0: serial y, serial x
          1: serial y, serial x, serial r.y, serial r.x
        sum$2: at b.1.x
          0: serial y, serial x
          1: serial y, serial x, serial r.y, serial r.x
        half: inline
        half$1: inline
        a: root
          0: serial y, serial x
        b: root
          0: serial y, serial x
          1: serial y, serial x
        out: root
          0: serial y, serial x
    "#]],
    );
}

#[test]
fn blur_in_strips() {
    let text = "blur_y: split(y, yo, yi, 32) parallel(yo) vectorize(x, 16)
                blur_x: store_at(blur_y, yo) compute_at(blur_y, yi) vectorize(x, 16)";
    check(
        &samples::blur(),
        text,
        expect![[r#"
        blur_x: at blur_y.0.yi, stored at blur_y.0.yo
          0: serial y, serial x, vectorized x$v; x$whole = x * 16 + x$v AutoShift
        blur_y: root
          0: parallel yo, serial yi, serial x, vectorized x$v; y = yo * 32 + yi AutoShift; x$whole = x * 16 + x$v AutoShift
    "#]],
    );
}

#[test]
fn blur_in_tiles() {
    let text = "blur_y: tile(x, y, x, y, xi, yi, 64, 32) fuse(x, y, t) parallel(t) vectorize(xi, natural) unroll(yi, 2)
                blur_x: compute_at(blur_y, t) vectorize(x, 16, RoundUp) align_storage(x, 8)";
    check(
        &samples::blur(),
        text,
        expect![[r#"
        blur_x: at blur_y.0.t, storage of 0: align 8, fold None
          0: serial y, serial x, vectorized x$v; x$whole = x * 16 + x$v RoundUp
        blur_y: root
          0: parallel t, serial yi, unrolled yi$u, serial xi, vectorized xi$v; x$whole = x * 64 + xi$whole AutoShift; y$whole = y * 32 + yi$whole AutoShift; t = y x x; xi$whole = xi * 8 + xi$v RoundUp; yi$whole = yi * 2 + yi$u RoundUp
    "#]],
    );
}

#[test]
fn a_pyramid_in_strips() {
    let text = "out: split(y, yo, yi, 16) parallel(yo) vectorize(x, natural)
                down: compute_at(out, yi) store_at(out, yo) fold_storage(y, 4) unroll(x, 3) rename(y, row)
                base: compute_at(down, row) store_root() hoist_storage_root() reorder_storage(y, x) store_in(Heap)
                base.clone_in(out): compute_at(out, x) bound_extent(x, 4) vectorize(x)";
    check(
        &samples::pyramid(),
        text,
        expect![[r#"
            base: at down.0.row, stored root, storage order [1, 0]
              0: serial y, serial x
            base.clone_in(out): at out.0.x, bound 0 extent 4
              0: serial y, vectorized x
            down: at out.0.yi, stored at out.0.yo, storage of 1: align 1, fold Some((4, true))
              0: serial row, serial x, unrolled x$u; x$whole = x * 3 + x$u AutoShift
            up: inline
            out: root
              0: parallel yo, serial yi, serial x, vectorized x$v; y = yo * 16 + yi AutoShift; x$whole = x * 4 + x$v AutoShift
        "#]],
    );
}

#[test]
fn loops_of_updates() {
    let text = "f.update(0): split(r.x, rxo, rxi, 4) reorder(x, y, rxi, rxo, r.y) vectorize(x, 8) parallel(y)
                f.update(1): parallel(x) unroll(r.x, 3)
                f.update(2): vectorize(r.x, 4) fuse(y, r.y, t)
                f.update(3): reorder(r.y, r.x) parallel(y, 2) fuse(r.x, r.y, all) unroll(all, 2)";
    check(
        &samples::updates(I32),
        text,
        expect![[r#"
        f: root
          0: serial y, serial x
          1: serial r.y, serial rxo, serial rxi, parallel y, serial x, vectorized x$v; r.x = rxo * 4 + rxi RoundUp; x$whole = x * 8 + x$v GuardWithIf
          2: parallel x, serial r.y, serial r.x, unrolled r.x$u; r.x$whole = r.x * 3 + r.x$u GuardWithIf
          3: serial t, serial r.x, vectorized r.x$v; r.x$whole = r.x * 4 + r.x$v RoundUp; t = r.y x y
          4: parallel y, serial y$p, serial all, unrolled all$u; y$whole = y * 2 + y$p GuardWithIf; all$whole = r.y x r.x; all$whole = all * 2 + all$u GuardWithIf
    "#]],
    );
    check(
        &samples::updates(F32),
        text,
        expect![[r#"
            test:4:30: f.update(3): reorder(r.y, r.x)
              this changes the order of the reduction over `r.x`, `r.y`, but the update of `f.update(3)` rounds differently in another order, and two iterations would change places: both store to `f(r.x + r.y, y)`, at sample:1:1
              help: say float(relaxed) if that may be
            test:4:63: f.update(3): fuse(r.x, r.y, all)
              this changes the order of the reduction over `r.x`, `r.y`, but the update of `f.update(3)` rounds differently in another order
              help: say float(relaxed) if that may be
        "#]],
    );
    let relaxed = "f.update(3): float(relaxed)
                   f.update(3).specialize(p > 8): reorder(r.y, r.x)";
    check(
        &samples::updates(F32),
        relaxed,
        expect![[r#"
        f: root
          0: serial y, serial x
          1: serial y, serial x, serial r.y, serial r.x
          2: serial x, serial r.y, serial r.x
          3: serial y, serial r.y, serial r.x
          4.0 if Binary(Gt, Cast(Param(p0)), Int(8)):
          4.0: serial y, serial r.x, serial r.y; float Relaxed
          4: serial y, serial r.y, serial r.x; float Relaxed
    "#]],
    );
}
