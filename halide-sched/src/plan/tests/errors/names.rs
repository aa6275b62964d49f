//! Errors about names that do not exist and numbers that are out of range.

use super::{check, check_blur};
use crate::plan::resolve;
use crate::plan::tests::TARGET;
use crate::plan::tests::samples::{blur, updates};
use expect_test::expect;
use halide_core::types::I32;

#[test]
fn names() {
    let p = blur();
    check(
        &p,
        "blr_y: parallel(y) vectorize(x, 8)",
        expect![[r#"
        test:1:8: blr_y: parallel(y)
          the pipeline has no Func `blr_y`
          help: did you mean `blur_y`?"#]],
    );
    check(
        &p,
        "blur_y.update(0): parallel(y)",
        expect![[r#"
        test:1:19: blur_y.update(0): parallel(y)
          `blur_y` has no updates"#]],
    );
    check(
        &updates(I32),
        "f.update(7): parallel(y)",
        expect![[r#"
        test:1:14: f.update(7): parallel(y)
          `f` has 4 updates, numbers 0 to 3"#]],
    );
    check(
        &p,
        "blur_y.specialize(2): parallel(y)",
        expect![[r#"
        test:1:23: blur_y.specialize(2): parallel(y)
          there is no specialisation number 2; 0 have been opened before this"#]],
    );
    check(
        &p,
        "blur_y: split(y, yo, yi, 8) parallel(y0) parallel(y)",
        expect![[r#"
        test:1:29: blur_y: parallel(y0)
          `blur_y` has no loop `y0`; its loops, outermost first: `yo`, `yi`, `x`
          help: did you mean `yo`?
        test:1:42: blur_y: parallel(y)
          `blur_y` has no loop `y` any more, because of `split(y, yo, yi, 8)`"#]],
    );
    check(
        &p,
        "blur_y: split(z, zo, zi, 8) parallel(zo) rename(zi, k) unroll(k)",
        expect![[r#"
        test:1:9: blur_y: split(z, zo, zi, 8)
          `blur_y` has no loop `z`; its loops, outermost first: `y`, `x`"#]],
    );
    check(
        &p,
        "blur_y: bound(w, 0, 8) reorder_storage(y, yy)",
        expect![[r#"
        test:1:9: blur_y: bound(w, 0, 8)
          `blur_y` has no dimension `w`; its dimensions: `x`, `y`
        test:1:24: blur_y: reorder_storage(y, yy)
          `blur_y` has no dimension `yy`; its dimensions: `x`, `y`"#]],
    );
}

#[test]
fn names_that_are_taken() {
    let p = blur();
    check(
        &p,
        "blur_y: split(y, x, yi, 8)",
        expect![[r#"
        test:1:9: blur_y: split(y, x, yi, 8)
          `blur_y` has a variable `x` already
          help: choose another name"#]],
    );
    check(
        &p,
        "blur_y: split(y, a, a, 8) split(y, y, b, 8) rename(b, x) fuse(x, y, y) split(y, c, b, 2)",
        expect![[r#"
        test:1:9: blur_y: split(y, a, a, 8)
          `blur_y` has a variable `a` already
          help: choose another name
        test:1:45: blur_y: rename(b, x)
          `blur_y` has a variable `x` already
          help: choose another name
        test:1:72: blur_y: split(y, c, b, 2)
          `blur_y` has a variable `b` already
          help: choose another name"#]],
    );
    check(
        &p,
        "blur_y: reorder(x, y, x)",
        expect![[r#"
        test:1:9: blur_y: reorder(x, y, x)
          `x` is listed twice"#]],
    );
    check(
        &p,
        "blur_y: fuse(x, x, t)",
        expect![[r#"
        test:1:9: blur_y: fuse(x, x, t)
          `x` cannot be fused with itself"#]],
    );
    check(
        &p,
        "blur_y: tile([x, y], [xo, yo], [xi], [8, 8])",
        expect![[r#"
        test:1:9: blur_y: split(y, yo, "", 8)
          a loop needs a name; lists of different lengths leave some out"#]],
    );
    check(
        &p,
        "blur_x: compute_at(blury, y) store_at(blur_y.update(0), y)",
        expect![[r#"
        test:1:9: blur_x: compute_at(blury, y)
          the pipeline has no Func `blury`
          help: did you mean `blur_y`?
        test:1:30: blur_x: store_at(blur_y.update(0), y)
          `blur_y` has no updates"#]],
    );
    check(
        &updates(I32),
        "f.update(0): compute_root() store_in(Heap)",
        expect![[r#"
        test:1:14: f.update(0): compute_root()
          this is said of `f` as a whole, not of one of its stages
          help: write it under `f:`
        test:1:29: f.update(0): store_in(Heap)
          this is said of `f` as a whole, not of one of its stages
          help: write it under `f:`"#]],
    );
}

#[test]
fn numbers_and_conditions() {
    let p = blur();
    check(
        &p,
        "blur_y: split(x, xo, xi, 0) vectorize(x, -4) parallel(y, 3000000000)",
        expect![[r#"
        test:1:9: blur_y: split(x, xo, xi, 0)
          the factor must be at least 1, not 0
        test:1:29: blur_y: vectorize(x, -4)
          the factor must be at least 1, not -4
        test:1:46: blur_y: parallel(y, 3000000000)
          the factor must be at most 2147483647, not 3000000000"#]],
    );
    check(
        &p,
        "blur_y: bound(x, 0, 0) align_bounds(x, 0, 1) align_extent(y, -1) bound_extent(y, 0)",
        expect![[r#"
        test:1:9: blur_y: bound(x, 0, 0)
          the extent must be at least 1, not 0
        test:1:24: blur_y: align_bounds(x, 0, 1)
          the modulus must be at least 1, not 0
        test:1:46: blur_y: align_extent(y, -1)
          the modulus must be at least 1, not -1
        test:1:66: blur_y: bound_extent(y, 0)
          the extent must be at least 1, not 0"#]],
    );
    check(
        &p,
        "blur_x: compute_root() align_storage(x, 0) fold_storage(y, -3) align_storage(x, 5000000000)",
        expect![[r#"
            test:1:24: blur_x: align_storage(x, 0)
              the multiple must be at least 1, not 0
            test:1:44: blur_x: fold_storage(y, -3)
              the factor must be at least 1, not -3
            test:1:64: blur_x: align_storage(x, 5000000000)
              the multiple must be at most 2147483647, not 5000000000"#]],
    );
    check(
        &p,
        "blur_y: split(x, xo, xi, q) vectorize(y, gain) unroll(y, GuardWithIf)",
        expect![[r#"
        test:1:9: blur_y: split(x, xo, xi, q)
          the pipeline has no scalar parameter `q`
        test:1:29: blur_y: vectorize(y, gain)
          parameter `gain` is f32, where an integer is needed
        test:1:48: blur_y: unroll(y, GuardWithIf)
          the pipeline has no scalar parameter `GuardWithIf`
          help: write the factor before the tail strategy: `8, GuardWithIf`"#]],
    );
    check(
        &p,
        "blur_y: specialize(p2 > 3) specialize(p) specialize(fast > 1) specialize(gain == 1)",
        expect![[r#"
        test:1:9: blur_y: specialize(p2 > 3)
          the pipeline has no scalar parameter `p2`
        test:1:28: blur_y: specialize(p)
          parameter `p` is i32, where a bool is needed
        test:1:42: blur_y: specialize(fast > 1)
          parameter `fast` is bool, where an integer is needed
        test:1:63: blur_y: specialize(gain == 1)
          parameter `gain` is f32, where an integer is needed"#]],
    );
    check(
        &p,
        "blur_y: specialize(inptu.extent(0) > 3) specialize(input.min(2) == 0)",
        expect![[r#"
        test:1:9: blur_y: specialize(inptu.extent(0) > 3)
          the pipeline has no input image or output `inptu`
          help: did you mean `input`?
        test:1:41: blur_y: specialize(input.min(2) == 0)
          `input` has 2 dimensions, so none number 2"#]],
    );
    check(
        &p,
        "blur_y: specialize(blur_y.extent(0) > 3) specialize(blur_x.extent(0) > 3)",
        expect![[r#"
        test:1:42: blur_y: specialize(blur_x.extent(0) > 3)
          the pipeline has no input image or output `blur_x`
          help: did you mean `blur_y`?"#]],
    );
    check(
        &p,
        "blur_y: specialize(fast) specialize(p > 3) specialize(fast)",
        expect![[r#"
        test:1:44: blur_y: specialize(fast)
          there is a specialisation for `fast` before this one"#]],
    );
    check(
        &p,
        "blur_y: specialize_fail(\"no\") specialize(fast)",
        expect![[r#"
        test:1:31: blur_y: specialize(fast)
          nothing can be specialised after specialize_fail, which ends the run"#]],
    );
    check(
        &p,
        "blur_y: specialize(invalid(\"it is f32, not bool\"))",
        expect![[r#"
        test:1:9: blur_y: specialize(invalid("it is f32, not bool"))
          this is not a condition: it is f32, not bool"#]],
    );
}

#[test]
fn places() {
    let mut s = crate::schedule::Schedule::new();
    s.func("blur_y").parallel("z");
    let errors = resolve(&blur(), &s, &TARGET).expect_err("no loop");
    let at = errors[0].at.expect("a place");
    assert!(at.file.ends_with("names.rs") && at.column == 22, "{at}");
    let nowhere = crate::schedule::Directive { at: None, ..s.directives()[0].clone() };
    let errors = resolve(&blur(), &vec![nowhere].into(), &TARGET).expect_err("no loop");
    expect![[r#"
        directive 1: blur_y: parallel(z)
          `blur_y` has no loop `z`; its loops, outermost first: `y`, `x`"#]]
    .assert_eq(&errors[0].to_string());
}

#[test]
fn storage_in_blocks() {
    check_blur(
        "blur_x: compute_root() split_storage(z, zo, zi, 4) split_storage(x, xo, xi, 0)",
        expect![[r#"
        test:1:24: blur_x: split_storage(z, zo, zi, 4)
          `blur_x` has no dimension `z`; its dimensions: `x`, `y`
        test:1:52: blur_x: split_storage(x, xo, xi, 0)
          the factor must be at least 1, not 0"#]],
    );
    check_blur(
        "blur_x: compute_root() split_storage(x, y, xi, 4)",
        expect![[r#"
        test:1:24: blur_x: split_storage(x, y, xi, 4)
          the storage of `blur_x` has a dimension `y` already
          help: choose another name"#]],
    );
    check_blur(
        "blur_x: compute_root() split_storage(x, x, xi, 4)",
        expect![[r#"
        test:1:24: blur_x: split_storage(x, x, xi, 4)
          the storage of `blur_x` has a dimension `x` already
          help: choose another name"#]],
    );
    check_blur(
        "blur_x: compute_root() split_storage(x, i, i, 4)",
        expect![[r#"
        test:1:24: blur_x: split_storage(x, i, i, 4)
          `i` is listed twice"#]],
    );
    check_blur(
        "blur_x: compute_root() split_storage(x, xo, xi, 4) split_storage(x, a, b, 2)",
        expect![[r#"
            test:1:52: blur_x: split_storage(x, a, b, 2)
              the storage of `blur_x` along `x` is split into `xo`, `xi`
              help: speak of its parts in reorder_storage and align_storage; a dimension is split once"#]],
    );
    check_blur(
        "blur_x: compute_root() split_storage(x, xo, xi, 4) split_storage(xi, a, b, 2)",
        expect![[r#"
            test:1:52: blur_x: split_storage(xi, a, b, 2)
              the storage of `blur_x` along `x` is split into `xo`, `xi`
              help: speak of its parts in reorder_storage and align_storage; a dimension is split once"#]],
    );
    check_blur(
        "blur_x: compute_root() split_storage(x, xo, xi, 4) split_storage(y, xo, yi, 2)",
        expect![[r#"
        test:1:52: blur_x: split_storage(y, xo, yi, 2)
          the storage of `blur_x` has a dimension `xo` already
          help: choose another name"#]],
    );
    check_blur(
        "blur_x: compute_root() split_storage(x, xo, xi, 4) reorder_storage(y, x)",
        expect![[r#"
            test:1:52: blur_x: reorder_storage(y, x)
              the storage of `blur_x` along `x` is split into `xo`, `xi`
              help: speak of its parts in reorder_storage and align_storage; a dimension is split once"#]],
    );
    check_blur(
        "blur_x: compute_root() split_storage(x, xo, xi, 4) reorder_storage(xi, y, xi)",
        expect![[r#"
        test:1:52: blur_x: reorder_storage(xi, y, xi)
          `xi` is listed twice"#]],
    );
}

#[test]
fn parts_of_storage_in_blocks() {
    check_blur(
        "blur_x: compute_root() split_storage(x, xo, xi, 4) align_storage(x, 8) align_storage(k, 8)",
        expect![[r#"
            test:1:52: blur_x: align_storage(x, 8)
              the storage of `blur_x` along `x` is split into `xo`, `xi`
              help: speak of its parts in reorder_storage and align_storage; a dimension is split once
            test:1:72: blur_x: align_storage(k, 8)
              `blur_x` has no dimension `k`; its dimensions: `xi`, `xo`, `y`"#]],
    );
    check_blur(
        "blur_x: compute_root() align_storage(x, 8) split_storage(x, xo, xi, 4)",
        expect![[r#"
        test:1:44: blur_x: split_storage(x, xo, xi, 4)
          `x` is aligned as a whole before it is split
          help: align its parts behind the split, as in align_storage(xi, ...)"#]],
    );
    check_blur(
        "blur_x: compute_root() split_storage(x, xo, xi, 4) fold_storage(x, 8)",
        expect![[r#"
        test:1:52: blur_x: fold_storage(x, 8)
          the storage of `blur_x` along `x` is split, and blocks cannot be kept in a circle
          help: fold another dimension, or leave `x` whole"#]],
    );
    check_blur(
        "blur_x: compute_root() split_storage(x, xo, xi, 4) fold_storage(xo, 8)",
        expect![[r#"
        test:1:52: blur_x: fold_storage(xo, 8)
          the storage of `blur_x` along `x` is split, and blocks cannot be kept in a circle
          help: fold another dimension, or leave `x` whole"#]],
    );
    check_blur(
        "blur_x: compute_root() fold_storage(x, 8) split_storage(x, xo, xi, 4)",
        expect![[r#"
        test:1:43: blur_x: split_storage(x, xo, xi, 4)
          the storage of `blur_x` along `x` is split, and blocks cannot be kept in a circle
          help: fold another dimension, or leave `x` whole"#]],
    );
    check_blur(
        "blur_x: compute_root() split_storage(x, xo, xi, 4) bound_storage(xi, 8)",
        expect![[r#"
        test:1:52: blur_x: bound_storage(xi, 8)
          `blur_x` has no dimension `xi`; its dimensions: `x`, `y`"#]],
    );
    check_blur(
        "blur_y: split_storage(x, xo, xi, 4)",
        expect![[r#"
        test:1:9: blur_y: split_storage(x, xo, xi, 4)
          `blur_y` is an output, whose memory the caller gives"#]],
    );
    check_blur(
        "blur_x: split_storage(x, xo, xi, 4)",
        expect![[r#"
        test:1:9: blur_x: split_storage(x, xo, xi, 4)
          `blur_x` is computed inline, so it has no loops and no storage of its own
          help: give `blur_x` a place with compute_root() or compute_at(...)"#]],
    );
    check_blur(
        "in: split_storage(_0, xo, xi, 4)",
        expect![[r#"
        test:1:5: in: split_storage(_0, xo, xi, 4)
          the pipeline has no Func `in`"#]],
    );
}
