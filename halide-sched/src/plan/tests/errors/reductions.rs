//! Reductions whose order, steps or extents a schedule cannot have.

use super::{TARGET, check, parse};
use crate::plan::resolve;
use crate::plan::tests::samples::{blur, updates};
use expect_test::expect;
use halide_core::expr::*;
use halide_core::pipeline::Pipeline;
use halide_core::types::{I32, I64};
use halide_core::{Func, ImageParam, RDom, vars};
use halide_ir::target::Target;

/// The place and value of the least pixel of each row, the first of several.
fn least() -> Pipeline {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let _ = x;
    let r = RDom::named("r", [(0, 20)]);
    let mut f = Func::new("f");
    f[y] = (0, i32::MAX).into();
    let better = input[(r.x, y)].lt(f[y].at(1));
    f[y] = (select(better, r.x, f[y].at(0)), select(better, input[(r.x, y)], f[y].at(1))).into();
    Pipeline::new([&f]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_first_of_several() {
    let p = least();
    check(
        &p,
        "f.update(0): split(r.x, a, b, 4) reorder(a, b)",
        expect![[r#"
        test:1:34: f.update(0): reorder(a, b)
          this changes the order of the reduction over `b`, `a`, but the update of `f.update(0)` takes the first of several that are as good, and two iterations would change places: both store to `f(y)`, at halide-sched/src/plan/tests/errors/reductions.rs:22:6
          help: keep the reduction variables in their order"#]],
    );
    check(
        &p,
        "f.update(0): atomic() parallel(r.x)",
        expect![[r#"
        test:1:23: f.update(0): parallel(r.x)
          the iterations of `r.x` would come in any order, but the update of `f.update(0)` takes the first of several that are as good
          help: say atomic(any_order) if that may be"#]],
    );
    check(
        &p,
        "f.update(0): split(r.x, a, b, 4) rfactor(b, u)",
        expect![[r#"
        test:1:34: f.update(0): rfactor(b, u)
          this changes the order of the reduction over `b`, but the update of `f.update(0)` takes the first of several that are as good
          help: keep the reduction variables in their order"#]],
    );
    assert!(resolve(&p, &parse("f.update(0): split(r.x, a, b, 4) rfactor(a, u)"), &TARGET).is_ok());
    assert!(resolve(&p, &parse("f.update(0): atomic(any_order) parallel(r.x)"), &TARGET).is_ok());
}

#[test]
fn steps_of_a_graphics_processor() {
    check(
        &updates(I64),
        "f.update(0): atomic() gpu_blocks(r.x)",
        expect![[r#"
            test:1:23: f.update(0): gpu_blocks(r.x)
              iterations of `r.x` may change the same element of `f.update(0)`, which a GPU cannot do in one step: the element is i64, of more than 32 bits
              help: do it in parts with rfactor"#]],
    );
    check(
        &least(),
        "f.update(0): atomic(any_order) gpu_blocks(r.x)",
        expect![[r#"
            test:1:32: f.update(0): gpu_blocks(r.x)
              iterations of `r.x` may change the same element of `f.update(0)`, which a GPU cannot do in one step: the element has 2 values
              help: do it in parts with rfactor"#]],
    );
    check(
        &updates(I64),
        "f.update(0): atomic() allow_race_conditions() gpu_blocks(r.x)",
        expect![[r#"
            test:1:47: f.update(0): gpu_blocks(r.x)
              iterations of `r.x` may change the same element of `f.update(0)`, which a GPU cannot do in one step: the element is i64, of more than 32 bits
              help: do it in parts with rfactor"#]],
    );
}

#[test]
fn domains_of_no_iterations() {
    let x = vars!(x);
    let r = RDom::named("r", [(0, 0), (0, -3)]);
    let mut f = Func::new("f");
    f[x] = 0.expr();
    f[x] += r.x + r.y;
    let p = Pipeline::new([&f]).unwrap_or_else(|e| panic!("{e}"));
    check(
        &p,
        "f.update(0): atomic() vectorize(r.x) unroll(r.y)",
        expect![[r#"
        test:1:23: f.update(0): vectorize(r.x)
          loop `r.x` of `f.update(0)` cannot be vectorized: its extent is 0
        test:1:38: f.update(0): unroll(r.y)
          loop `r.y` of `f.update(0)` cannot be unrolled: its extent is -3"#]],
    );
}

#[test]
fn kernels_of_too_many_loops() {
    let blocks =
        "blur_y: split(x, a, b, 8) split(a, c, d, 8) split(y, e, f, 8) split(e, g, h, 8) reorder(b, f, d, c, h, g)";
    check(
        &blur(),
        &format!("{blocks} gpu_blocks(g, h, c, d)"),
        expect![[r#"
        test:1:107: blur_y: gpu_blocks(d)
          a kernel has at most 3 loops over blocks
          help: fuse two of them, or leave one serial"#]],
    );
    let threads =
        "blur_y: split(x, a, b, 16) split(b, c, d, 4) split(y, e, f, 4) split(f, g, h, 2) reorder(c, d, g, h, a, e)";
    check(
        &blur(),
        &format!("{threads} gpu_blocks(a, e) gpu_threads(c, d, g, h)"),
        expect![[r#"
        test:1:125: blur_y: gpu_threads(c)
          a block has at most 3 loops over threads
          help: fuse two of them, or leave one serial"#]],
    );
    let errors = resolve(
        &blur(),
        &parse("blur_x: compute_root() copy_to_device() copy_to_host()"),
        &Target { gpu: None, ..TARGET },
    )
    .expect_err("the target has no GPU");
    let text: Vec<String> = errors.iter().map(|e| e.to_string()).collect();
    expect![[r#"
        test:1:24: blur_x: copy_to_device()
          this and one more directive are for a GPU, and the target has none
          help: open a device with Gpu::open and compile with Compiler::gpu, which feature `gpu` of `halide` brings"#]]
    .assert_eq(&text.join("\n"));
}

/// A first definition that leaves elements as they are reads them: no two tasks may compute the same one.
#[test]
fn points_that_keep_what_they_hold() {
    let (x, mut f) = (vars!(x), Func::new("f"));
    f[x] = select((x % 2).eq(0), 1, undef::<i32>());
    let p = Pipeline::new([&f]).unwrap_or_else(|e| panic!("{e}"));
    check(
        &p,
        "f: split(x, xo, xi, 4, ShiftInwards) parallel(xo)",
        expect![[r#"
        test:1:4: f: split(x, xo, xi, 4, ShiftInwards)
          ShiftInwards computes points of `x` twice, and one that keeps an old value (`undef`) may read what is new
          help: use GuardWithIf, or leave the tail out"#]],
    );
}
