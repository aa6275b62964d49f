//! The exact texts of what lowering refuses although the schedule was legal, and of what ends a run.

use crate::support::{fault, refused, stencil};
use expect_test::{Expect, expect};
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Param, Pipeline, RDom, vars};

/// Checks a refusal, with lines from `start` on in place of those of this file.
fn check_from(start: u32, pipeline: &Pipeline, schedule: &str, expected: Expect) {
    let mut text = refused(pipeline, schedule);
    for line in (start..start + 60).rev() {
        text = text.replace(&format!("halide-sched/tests/it/refused.rs:{line}:"), &format!("+{}:", line - start));
    }
    expected.assert_eq(&text);
}

fn check(pipeline: &Pipeline, schedule: &str, expected: Expect) {
    expected.assert_eq(&refused(pipeline, schedule));
}

#[test]
fn folds() {
    let p = stencil();
    check(
        &p,
        "f: store_root() compute_at(g, y)\n f: fold_storage(y, 1)",
        expect![[r#"
        test:2:5: `f: fold_storage(y, 1)` cannot be: 2 coordinates of `y` are alive at once
          help: fold by 2 or more, or leave the factor to the compiler"#]],
    );
    check(
        &p,
        "f: compute_root() fold_storage(y, 4)",
        expect![[r#"
        test:1:19: `f: fold_storage(y, 4)` cannot be: what is alive of `f` does not move along `y` inside a constant window
          help: store it outside of a serial loop over `y` and compute it inside, and do not vectorize along `y`"#]],
    );
    check(
        &p,
        "f: store_root() compute_at(g, y) fold_storage(x, 4)",
        expect![[r#"
        test:1:34: `f: fold_storage(x, 4)` cannot be: what is alive of `f` does not move along `x` inside a constant window
          help: store it outside of a serial loop over `x` and compute it inside, and do not vectorize along `x`"#]],
    );
    check(
        &p,
        "g: vectorize(x, 4)\n f: store_at(g, y) compute_at(g, x) fold_storage(x, 8)",
        expect![[r#"
        test:2:37: `f: fold_storage(x, 8)` cannot be: what is alive of `f` does not move along `x` inside a constant window
          help: store it outside of a serial loop over `x` and compute it inside, and do not vectorize along `x`"#]],
    );
}

#[test]
fn copies_of_loops() {
    let p = stencil();
    check(
        &p,
        "f: compute_at(g, y) vectorize(x) unroll(y)",
        expect![[r#"
        test:1:21: `f.x` cannot be vectorized: it may run 4294967298 times
          help: say vectorize with a factor, or promise the extent with bound_extent"#]],
    );
    check(
        &p,
        "f: compute_at(g, y) unroll(x)",
        expect![[r#"
        test:1:21: `f.x` cannot be unrolled: it may run 4294967298 times
          help: say unroll with a factor, or promise the extent with bound_extent"#]],
    );
    check(
        &p,
        "g: always_partition(y)\n f: compute_root() always_partition(x) vectorize(x, 8)",
        expect![[r#"
        test:1:4: `g.y` cannot be cut into prologue, steady state and epilogue: nothing in it is different at its ends
          help: leave always_partition out, or say auto_partition"#]],
    );
}

/// A pointwise output `g` of `f`, in blocks of 8 by 4 threads.
const TILES: &str = "g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";

#[test]
fn threads_of_a_block() {
    let p = stencil();
    check(
        &p,
        "g: gpu_blocks(y)\n f: compute_at(g, y) gpu_threads(x) store_in(Global)",
        expect![[r#"
        test:1:4: the kernel of `g`: the number of threads of `f.x` has no constant bound
          help: split the loop by a constant and run the inner part on threads, or bound its extent"#]],
    );
    check(
        &p,
        "g: gpu_blocks(y)\n f: compute_at(g, y) gpu_threads(x)",
        expect![[r#"
        test:1:4: the kernel of `g`: the size of `f`, which the threads of a block share, has no constant bound
          help: split the loops of its consumers by constants, or keep it in the device's memory with `f: store_in(Global)`"#]],
    );
    let wide = "g: gpu_tile(x, y, xo, yo, xi, yi, 64, 4)\n f: compute_at(g, xo) split(x, x, xi, 4) split(y, y, yi, 64) reorder(xi, yi, x, y) gpu_threads(xi, yi)";
    check(
        &p,
        wide,
        expect![[r#"
        test:1:4: the kernel of `g`: the stages in a block need 64 x 64 x 1 threads together, and a block may have 256 x 256 x 64, 256 in all
          help: give the stages of a block loops over threads of like extents, or smaller ones"#]],
    );
}

#[test]
fn memory_of_blocks_and_threads() {
    let p = stencil();
    check(
        &p,
        &format!("{TILES}\n f: compute_at(g, xo) store_in(Register)"),
        expect![[r#"
        test:1:4: the kernel of `g`: the threads of a block share `f`, which registers and stacks cannot be
          help: compute `f` inside of the loops over threads, or leave `store_in` out"#]],
    );
    check(
        &p,
        &format!("{TILES}\n f: compute_at(g, xo) store_in(Stack)"),
        expect![[r#"
        test:1:4: the kernel of `g`: the threads of a block share `f`, which registers and stacks cannot be
          help: compute `f` inside of the loops over threads, or leave `store_in` out"#]],
    );
    check(
        &p,
        "g: gpu_blocks(y)\n f: compute_at(g, y) store_in(Shared)",
        expect![[r#"
        test:1:4: the kernel of `g`: the size of `f`, which the threads of a block share, has no constant bound
          help: split the loops of its consumers by constants, or keep it in the device's memory with `f: store_in(Global)`"#]],
    );
    let large = "g: split(x, xo, xi, 64) split(xi, xio, xii, 4) split(y, yo, yi, 128) \
                 reorder(xii, xio, yi, xo, yo) gpu_blocks(xo, yo) gpu_threads(xio)\n f: compute_at(g, xo)";
    check(
        &p,
        large,
        expect![[r#"
        test:1:100: the kernel of `g`: the threads of a block share 34056 bytes, and there are 16384: `f` 34056 (elements of less than 4 bytes take 4)
          help: compute smaller tiles in a block, or keep one of these in the device's memory with `store_in(Global)`"#]],
    );
}

/// Storage of a block in the device's memory has a size that is known before the block runs.
#[test]
fn sizes_that_are_data_of_the_block() {
    let (input, steps) = (ImageParam::new("in", I16, 1), ImageParam::new("steps", I32, 1));
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = input[x] * 2;
    g[(x, y)] = f[x * steps[y]] + f[x];
    let p = Pipeline::new([&g]).unwrap();
    check(
        &p,
        "g: gpu_blocks(y) split(x, xo, xi, 8) gpu_threads(xi)\n f: compute_at(g, xi) store_in(Register)",
        expect![[r#"
            test:1:4: the kernel of `g`: the size of `f`, which each thread holds, has no constant bound
              help: split the loops of its consumers by constants, or keep it in the device's memory with `f: store_in(Global)`"#]],
    );
    check(
        &p,
        "g: gpu_blocks(y) split(x, xo, xi, 8) gpu_threads(xi)\n f: compute_at(g, xo) store_in(Global)",
        expect![[r#"
            test:1:4: the kernel of `g`: the size of `f` differs from block to block, and has no constant bound
              help: split the loops of its consumers by constants, or compute it at the root"#]],
    );
}

/// A quotient by a parameter that nothing bounds may be anywhere.
#[test]
fn coordinates_without_bounds() {
    let (input, n) = (ImageParam::new("in", I16, 1), Param::<i32>::new("n"));
    let x = vars!(x);
    let mut g = Func::new("g");
    let s = line!();
    g[x] = input[x.expr() / n.expr()];
    let p = Pipeline::new([&g]).unwrap();
    check_from(
        s,
        &p,
        "",
        expect![[r#"
            +1:6: `g` reads `in` at `x / int(n)` in dimension 0, which nothing bounds
              help: write `clamp(x / int(n), lo, hi)`, read `in` through a boundary condition such as repeat_edge, or give its value a type or a range that bounds it, such as u8 or Param::with_range"#]],
    );
}

/// Quotients by a parameter as coordinates: of an image, of a Func, and of what an update stores.
#[test]
fn unbounded_coordinates_are_told_how_to_bound_each_use() {
    let lut = ImageParam::new("lut", U8, 1);
    let (x, n) = (vars!(x), Param::<i32>::new("n"));
    let (mut table, mut looked, mut hist) = (Func::new("table"), Func::new("looked"), Func::new("hist"));
    let s = line!();
    table[x] = x * 2;
    looked[x] = cast::<i32>(lut[x / n]) + table[(x + 1) / n + 3];
    let r = RDom::named("r", [(0, 100)]);
    hist.define(x, 0);
    hist[r.x / n] += 1;
    let p = Pipeline::new([&looked, &hist]).unwrap();
    check_from(
        s,
        &p,
        "table: compute_root() hist: compute_root()",
        expect![[r#"
        +5:9: `hist` stores to `hist` at `r.x / int(n)` in dimension 0, which nothing bounds
          help: write `clamp(r.x / int(n), lo, hi)`, or give its value a type or a range that bounds it, such as u8 or Param::with_range
        +2:11: `looked` reads `table` at `(x + 1) / int(n) + 3` in dimension 0, which nothing bounds
          help: write `clamp((x + 1) / int(n) + 3, lo, hi)`, or give its value a type or a range that bounds it, such as u8 or Param::with_range
        +2:11: `looked` reads `lut` at `x / int(n)` in dimension 0, which nothing bounds
          help: write `clamp(x / int(n), lo, hi)`, read `lut` through a boundary condition such as repeat_edge, or give its value a type or a range that bounds it, such as u8 or Param::with_range"#]],
    );
}

/// A sum over the part of a row that is left of the point.
fn triangle() -> Pipeline {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 64)]);
    r.where_(r.x.le(x));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] + 1;
    g[(x, y)] = cast::<i16>(0);
    g[(x, y)] += f[(r.x, y)];
    Pipeline::new([&g]).unwrap()
}

#[test]
fn loops_between_threads() {
    let p = triangle();
    let text = "g.update(0): tile(x, y, xo, yo, xi, yi, 8, 4) reorder(yi, r.x, xi, xo, yo) gpu_blocks(xo, yo) gpu_threads(xi, yi)";
    check(
        &p,
        text,
        expect![[r#"
        test:1:76: the kernel of `g`: the loop `g.update(0).r.x` stands between loops over threads, and its range depends on the thread
          help: move the loops over threads next to each other with `reorder`, or compute what it holds at another level"#]],
    );
}

#[test]
fn lanes_of_subgroups() {
    let p = stencil();
    let rows = "g: split(x, xo, xi, 8) reorder(xi, y, xo) gpu_blocks(y, xo) gpu_lanes(xi)";
    let tiles = "g: tile(x, y, xo, yo, xi, yi, 8, 4) gpu_blocks(xo, yo) gpu_threads(yi) gpu_lanes(xi)";
    let list = [
        format!(
            "{rows}\n f: compute_at(g, y) split(x, xi, x, 2, RoundUp) split(xi, xo, xi, 4, RoundUp) gpu_lanes(xi) store_in(Register)"
        ),
        format!("{rows}\n f: compute_at(g, y) split(x, x, xi, 3, RoundUp) gpu_threads(xi) store_in(Register)"),
        format!("{rows}\n f: compute_at(g, y) split(x, x, xi, 16) gpu_threads(xi)"),
        format!(
            "{tiles}\n f: compute_at(g, xo) split(x, x, xi, 8, RoundUp) gpu_lanes(xi) reorder(xi, x, y) store_in(Register)"
        ),
        "g: split(x, xo, xi, 1024) split(xi, xm, xi, 8) reorder(xi, xm, y, xo) gpu_blocks(y, xo) gpu_lanes(xi)\n \
         f: compute_at(g, y) split(x, x, xi, 8, RoundUp) gpu_lanes(xi) store_in(Register)"
            .to_string(),
    ];
    let texts: Vec<String> = list.iter().map(|schedule| refused(&p, schedule)).collect();
    expect![[r#"
        test:1:43: the kernel of `g`: `g.xi` runs over 8 lanes of a subgroup, and another loop of the kernel over 4
          help: give all loops over lanes of a kernel the same extent
        test:1:43: the kernel of `g`: which lane of a subgroup computes an element of `f` is not known, so they cannot hold it
          help: split a loop of `f` by the number of lanes, give the inner part to gpu_lanes and let nothing but what one lane does be inside of it; or use `store_in(Shared)`
        test:1:43: the kernel of `g`: a stage in a block has 16 threads in the dimension of which 8 lanes are a subgroup
          help: give its innermost loop over threads to gpu_lanes, split by as many
        test:1:37: the kernel of `g`: lanes of one subgroup would hold `f`, and those of others need it too
          help: compute `f` inside of the other loops over threads, or use `store_in(Shared)`
        test:1:71: the kernel of `g`: each lane would hold 258 elements of `f`, and it may hold 64
          help: compute smaller tiles, or use `store_in(Shared)`"#]].assert_eq(&texts.join("\n"));
    let text = "g.update(0): split(x, xo, xi, 8) reorder(r.x, xi, y, xo) gpu_blocks(y, xo) gpu_lanes(xi)\n \
                f: compute_at(g.update(0), y) split(x, x, xi, 8, RoundUp) gpu_lanes(xi) store_in(Register)";
    check(
        &triangle(),
        text,
        expect![[r#"
        test:1:58: the kernel of `g`: lanes hold `f`, and it is needed in a loop or an atomic step that differs from lane to lane
          help: make the loop's range the same for all lanes, or use `store_in(Shared)`"#]],
    );
}

#[test]
fn what_kernels_cannot_say_or_keep() {
    let s = line!();
    let (x, input) = (vars!(x), ImageParam::new("input", U8, 1));
    let (mut said, mut checked, mut kept) = (Func::new("said"), Func::new("checked"), Func::new("kept"));
    said[x] = print(input[x], ());
    checked[x] = require(input[x].lt(9), input[x], ("a pixel is", input[x]));
    kept[x] = undef::<u8>();
    kept[x] += input[x];
    let of = |f: &Func| Pipeline::new([f]).unwrap();
    check_from(
        s,
        &of(&said),
        "said: gpu_tile(x, xo, xi, 8)",
        expect![[r#"
        test:1:7: the kernel of `said`: a kernel cannot print
          help: compute what prints outside of kernels, or leave `print` out"#]],
    );
    check_from(
        s,
        &of(&checked),
        "checked: gpu_tile(x, xo, xi, 8)",
        expect![[r#"
        test:1:10: the kernel of `checked`: a check that needs values of the kernel cannot stop the run: requirement failed: +4:18: a pixel is ?
          help: use constants where the schedule promises something inside of the kernel"#]],
    );
    check_from(
        s,
        &of(&kept),
        "kept.update(0): gpu_tile(x, xo, xi, 8)",
        expect![[r#"
        test:1:17: the kernel of `kept`: a kernel writes `kept`, whose first definition leaves what the caller's buffer holds (`undef`)
          help: define all of `kept`, or compute it outside of kernels"#]],
    );
}

#[test]
fn runs_that_end() {
    let p = stencil();
    let region = |w, h| Region::of_spans([(0, w), (0, h)]);
    let ends = |schedule: &str, w, h| fault(&p, schedule, &region(w, h)).unwrap_or_default();
    let texts = [
        ends("f: compute_root() bound(x, -1, 9)", 9, 3),
        ends("f: compute_root() bound_extent(y, 4)", 9, 4),
        ends("g: align_bounds(x, 4, 1)", 9, 4),
        ends("g: align_extent(y, 3)", 9, 4),
        ends("f: compute_root() bound_storage(y, 4)", 9, 4),
        ends("g: bound(x, 0, 8) unroll(x)", 9, 4),
        ends("g: specialize(g.extent(0) == 8) specialize_fail(\"eight wide\")", 9, 4),
        ends("", 200, 4),
    ];
    expect![[r#"
        the schedule promises what does not hold: dimension 0 of `f` is not inside its bound: the schedule promises a fixed region at test:1:19 (here -1, 9, -1, 7); drop the promise or change the call
        the schedule promises what does not hold: dimension 1 of `f` is not inside its bound: the schedule promises a fixed region at test:1:19 (here 0, 4, 0, 3); drop the promise or change the call
        output `g` does not suit the schedule in dimension 0: -3 to 8 is needed, but it has 0 to 8, and the schedule promises multiples of 4 at test:1:4; choose another output size or another schedule
        output `g` does not suit the schedule in dimension 1: 0 to 5 is needed, but it has 0 to 3, and the schedule promises multiples of 3 at test:1:4; choose another output size or another schedule
        the schedule promises what does not hold: test:1:19: storage of `f` has room for 4 coordinates of `y`, and more are needed (here 5); drop the promise or change the call
        output `g` does not suit the schedule in dimension 0: 0 to 7 is needed, but it has 0 to 8, and the schedule promises a fixed region at test:1:4; choose another output size or another schedule
        the schedule promises what does not hold: test:1:33: `g` runs only where g.extent(0) == 8: eight wide; drop the promise or change the call
        input `in` is too small in dimension 0: -1 to 201 is read, but it has -30 to 59; give a larger image, a smaller output, or a boundary condition"#]].assert_eq(&texts.join("\n"));
}
