//! Loops over blocks and threads that make no kernel.

use super::check_blur;
use crate::plan::resolve;
use crate::plan::tests::samples::blur;
use crate::plan::tests::{TARGET, parse};
use expect_test::expect;
use halide_ir::target::Target;

#[test]
fn kernels_in_kernels() {
    check_blur(
        "blur_y: gpu_threads(x)",
        expect![[r#"
            test:1:9: blur_y: gpu_threads(x)
              loop `x` of `blur_y` cannot be run as threads of a block: its extent is not a constant
              help: split it by a constant factor first, as gpu_tile does, or promise it with bound_extent
            test:1:9: blur_y: gpu_threads(x)
              `x` runs over threads, and no loop over blocks is around it
              help: give an outer loop to gpu_blocks"#]],
    );
    check_blur(
        "blur_y: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\nblur_x: compute_at(blur_y, xo) gpu_tile(x, y, xo, yo, xi, yi, 8, 4)",
        expect![[r#"
            test:2:32: blur_x: gpu_blocks(xo)
              `xo` runs over blocks inside of `yo`, and a kernel cannot start another
            test:2:32: blur_x: gpu_blocks(yo)
              `yo` runs over blocks inside of `yo`, and a kernel cannot start another"#]],
    );
    check_blur(
        "blur_y: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\nblur_x: compute_at(blur_y, xi) split(x, xo, xi, 2) gpu_threads(xi) parallel(y)",
        expect![[r#"
            test:2:52: blur_x: gpu_threads(xi)
              `xi` runs over threads, and `blur_x` is computed inside of `yi`, which does too
              help: compute it at the loop over blocks, or leave its loops serial
            test:2:68: blur_x: parallel(y)
              `y` is parallel inside of `yo`, which runs on the GPU
              help: use gpu_threads, or leave it serial"#]],
    );
}

#[test]
fn grids_and_blocks() {
    check_blur(
        "blur_y: split(x, xo, xi, 512) gpu_blocks(y, xo) gpu_threads(xi)\nblur_x: compute_at(blur_y, y)",
        expect![[r#"
            test:1:49: blur_y: gpu_threads(xi)
              `xi` has 512 threads, where the target allows 256 in this dimension
              help: split by smaller factors
            test:1:49: blur_y: gpu_threads(xi)
              a block of `blur_y` has 512 threads in all, where the target allows 256
              help: split by smaller factors
            test:2:9: blur_x: compute_at(blur_y, y)
              `y` runs over blocks and so does `xo` inside of it; nothing can stand between them
              help: place it at `xo`"#]],
    );
    check_blur(
        "blur_y: tile(x, y, xo, yo, xi, yi, 32, 32) gpu_blocks(xo, yo) gpu_threads(xi, yi)",
        expect![[r#"
            test:1:63: blur_y: gpu_threads(xi)
              a block of `blur_y` has 1024 threads in all, where the target allows 256
              help: split by smaller factors"#]],
    );
    check_blur(
        "blur_y: split(x, xo, xi, 8) reorder(xi, y, xo) split(y, yo, yi, 2) gpu_blocks(yi, xo)",
        expect![[r#"
            test:1:68: blur_y: gpu_blocks(yi)
              `yo` stands between loops over blocks, of which `yi` is the inner one
              help: reorder the loops over blocks next to each other"#]],
    );
    check_blur(
        "blur_y: gpu_blocks(y) gpu_threads(x)",
        expect![[r#"
            test:1:23: blur_y: gpu_threads(x)
              loop `x` of `blur_y` cannot be run as threads of a block: its extent is not a constant
              help: split it by a constant factor first, as gpu_tile does, or promise it with bound_extent"#]],
    );
}

#[test]
fn memory_and_copies() {
    let tile = "blur_y: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";
    let mut texts = Vec::new();
    for rest in [
        "blur_x: compute_root() store_in(Shared)",
        "blur_x: compute_at(blur_y, xi) store_in(Shared)",
        "blur_x: compute_at(blur_y, xo) store_in(Heap) copy_to_host()",
        "blur_x: copy_to_device()",
    ] {
        let errors = resolve(&blur(), &parse(&format!("{tile}\n{rest}")), &TARGET).unwrap_err();
        texts.extend(errors.iter().map(|e| e.to_string()));
    }
    expect![[r#"
        test:2:24: blur_x: store_in(Shared)
          `blur_x` is not computed inside of a loop over blocks, so no threads could share it
          help: compute it at a loop over blocks of a consumer
        test:2:32: blur_x: store_in(Shared)
          `blur_x` is computed inside of `yi`, which runs over threads, so each has its own
          help: compute it at the loop over blocks, or leave store_in out
        test:2:32: blur_x: store_in(Heap)
          `blur_x` is computed inside of `yo`, which runs over blocks, where there is no heap
          help: use store_in(Global), which is the device's memory
        test:2:47: blur_x: copy_to_host()
          `blur_x` is computed inside of `yo`, which runs over blocks, so the host never has it
          help: leave the copy out, or compute it at the root
        test:2:9: blur_x: copy_to_device()
          `blur_x` is computed inline, so it has no loops and no storage of its own
          help: give `blur_x` a place with compute_root() or compute_at(...)"#]]
    .assert_eq(&texts.join("\n"));
    for fine in [
        "blur_x: compute_at(blur_y, xo) store_in(Shared)",
        "blur_x: compute_at(blur_y, xo) store_in(Global)",
        "blur_x: compute_at(blur_y, xi) store_in(Register)",
        "blur_x: compute_at(blur_y, xo) gpu_threads(x, y)",
        "blur_x: compute_root() copy_to_device() copy_to_host() gpu_single_thread()",
    ] {
        let plan = resolve(&blur(), &parse(&format!("{tile}\n{fine}")), &TARGET);
        assert!(plan.is_ok(), "{fine}: {:?}", plan.err());
    }
}

#[test]
fn kernels_on_the_host_and_on_one_thread() {
    check_blur(
        "blur_y: tile(x, y, xo, yo, xi, yi, 8, 8) parallel(yo) gpu_blocks(xo) gpu_threads(xi)",
        expect![[r#"
            test:1:55: blur_y: gpu_blocks(xo)
              `xo` runs over blocks inside of parallel `yo`; a kernel is started by one thread
              help: leave `yo` serial, or make it another loop over blocks: a kernel is parallel already"#]],
    );
    check_blur(
        "blur_y: gpu_single_thread() gpu_blocks(y) gpu_lanes(x) reorder(x, y) parallel(y)",
        expect![[r#"
            test:1:43: blur_y: gpu_lanes(x)
              loop `x` of `blur_y` cannot be run as lanes of a subgroup: its extent is not a constant
              help: split it by a constant factor first, as gpu_tile does, or promise it with bound_extent
            test:1:43: blur_y: gpu_lanes(x)
              `x` of `blur_y` runs at once, where gpu_single_thread makes a kernel of one thread
              help: leave it serial, or use gpu_blocks and gpu_threads alone
            test:1:70: blur_y: parallel(y)
              `y` is parallel inside of `gpu_single_thread`, which runs on the GPU
              help: use gpu_threads, or leave it serial"#]],
    );
    check_blur(
        "blur_y: gpu_single_thread() gpu_lanes(z) split(gpu_single_thread, a, b, 2)",
        expect![[r#"
        test:1:29: blur_y: gpu_lanes(z)
          `blur_y` has no loop `z`; its loops, outermost first: `y`, `x`
        test:1:42: blur_y: split(gpu_single_thread, a, b, 2)
          `blur_y` has no loop `gpu_single_thread`; its loops, outermost first: `y`, `x`"#]],
    );
}

/// A Func in the loops of a specialised stage stands in the loops of all its variants.
#[test]
fn variants_of_what_is_around() {
    check_blur(
        "blur_y: specialize(input.extent(0) >= 64) parallel(y)\n blur_x: compute_at(blur_y, x) gpu_blocks(y)",
        expect![[r#"
            test:2:32: blur_x: gpu_blocks(y)
              `y` runs over blocks inside of parallel `y`; a kernel is started by one thread
              help: leave `y` serial, or make it another loop over blocks: a kernel is parallel already"#]],
    );
    check_blur(
        "blur_y: specialize(input.extent(0) >= 64) gpu_blocks(y)\n \
         blur_x: compute_at(blur_y, y) split(x, xo, xi, 8) gpu_threads(xi) store_in(Shared)",
        expect![[r#"
            test:2:52: blur_x: gpu_threads(xi)
              `xi` runs over threads, and no loop over blocks is around it
              help: give an outer loop to gpu_blocks
            test:2:68: blur_x: store_in(Shared)
              `blur_x` is not computed inside of a loop over blocks, so no threads could share it
              help: compute it at a loop over blocks of a consumer"#]],
    );
}

#[test]
fn targets_without_a_gpu() {
    let schedule = parse("blur_y: gpu_tile(x, y, xo, yo, xi, yi, 8, 8)");
    let errors = resolve(&blur(), &schedule, &Target { gpu: None, ..TARGET }).unwrap_err();
    let text: String = errors.iter().map(|e| format!("{e}\n")).collect();
    expect![[r#"
        test:1:9: blur_y: gpu_blocks(xo)
          this and 3 more directives are for a GPU, and the target has none
          help: open a device with Gpu::open and compile with Compiler::gpu, which feature `gpu` of `halide` brings
    "#]]
    .assert_eq(&text);
}

/// Lanes are the innermost threads, and parts of the subgroups that the target has.
#[test]
fn lanes_of_subgroups() {
    let rows = "blur_y: split(x, xo, xi, 8) reorder(xi, y, xo) gpu_blocks(y, xo) gpu_lanes(xi)";
    check_blur(
        "blur_y: split(x, xo, xi, 12) split(xi, xj, xk, 3) gpu_blocks(y, xo) gpu_lanes(xj, xk)",
        expect![[r#"
            test:1:69: blur_y: gpu_lanes(xk)
              `xk` runs over lanes of a subgroup inside of `xj`, which does too
              help: give the innermost loop over threads to gpu_lanes, and the others to gpu_threads
            test:1:69: blur_y: gpu_lanes(xk)
              `xk` has 3 iterations, and a subgroup of 32 lanes cannot be divided into such parts
              help: split by 32, or by a power of two that is less"#]],
    );
    check_blur(
        "blur_y: split(x, xo, xi, 8) gpu_blocks(y) gpu_lanes(xo) gpu_threads(xi)",
        expect![[r#"
        test:1:43: blur_y: gpu_lanes(xo)
          loop `xo` of `blur_y` cannot be run as lanes of a subgroup: its extent is not a constant
          help: split it by a constant factor first, as gpu_tile does, or promise it with bound_extent
        test:1:57: blur_y: gpu_threads(xi)
          `xi` runs over threads inside of `xo`, whose iterations are lanes of a subgroup
          help: give the innermost loop over threads to gpu_lanes, and the others to gpu_threads"#]],
    );
    check_blur(
        "blur_y: split(x, xo, xi, 8) split(y, yo, yi, 4) reorder(yi, xi, xo, yo) gpu_blocks(yo, xo) gpu_lanes(xi) gpu_threads(yi)",
        expect![[r#"
            test:1:106: blur_y: gpu_threads(yi)
              `yi` runs over threads inside of `xi`, whose iterations are lanes of a subgroup
              help: give the innermost loop over threads to gpu_lanes, and the others to gpu_threads"#]],
    );
    check_blur(
        &format!("{rows}\nblur_x: compute_at(blur_y, xi) split(x, xo, xi, 64) gpu_lanes(xi)"),
        expect![[r#"
            test:2:53: blur_x: gpu_lanes(xi)
              `xi` runs over lanes of a subgroup inside of `xi`, which does too
              help: give the innermost loop over threads to gpu_lanes, and the others to gpu_threads
            test:2:53: blur_x: gpu_lanes(xi)
              `xi` has 64 iterations, and a subgroup of 32 lanes cannot be divided into such parts
              help: split by 32, or by a power of two that is less"#]],
    );
    let target = Target { gpu: TARGET.gpu.map(|gpu| halide_ir::target::Gpu { subgroup: None, ..gpu }), ..TARGET };
    let errors = resolve(&blur(), &parse(rows), &target).expect_err("there are no subgroups");
    expect![[r#"
        test:1:66: blur_y: gpu_lanes(xi)
          `xi` runs over lanes of a subgroup, and the target's GPU has no subgroups of one known size (feature `subgroups`)
          help: use gpu_threads, and store_in(Shared) for what threads exchange"#]].assert_eq(&errors[0].to_string());
}
