//! Boundary conditions as frozen text, and what can be wrong with them.

use expect_test::{Expect, expect};
use halide_core::boundary::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, vars};

fn check(f: &Func, expected: Expect) {
    let text = match Pipeline::new([f]) {
        Ok(pipeline) => pipeline.to_string(),
        Err(errors) => errors.0.iter().map(|e| format!("{}\n", e.kind.reason())).collect(),
    };
    expected.assert_eq(&text);
}

#[test]
fn the_inside_is_likely() {
    let input = ImageParam::new("input", U8, 1);
    check(
        &repeat_edge(&input),
        expect![[r#"
        image input(1): u8
        func repeat_edge_input(x): u8
          repeat_edge_input(x) = input(min(max(likely(x), input.min(0)), input.min(0) + input.extent(0) - 1))
        output repeat_edge_input
    "#]],
    );
    check(
        &repeat_image(&input),
        expect![[r#"
        image input(1): u8
        func repeat_image_input(x): u8
          repeat_image_input(x) = input(min(max(select(likely((x >= input.min(0)) & (x < input.min(0) + input.extent(0))), likely(x), (x - input.min(0)) % input.extent(0) + input.min(0)), input.min(0)), input.min(0) + input.extent(0) - 1))
        output repeat_image_input
    "#]],
    );
    check(
        &mirror_image(&input),
        expect![[r#"
        image input(1): u8
        func mirror_image_input(x): u8
          mirror_image_input(x) = input(min(max(select(likely((x >= input.min(0)) & (x < input.min(0) + input.extent(0))), likely(x), min((x - input.min(0)) % (input.extent(0) * 2), input.extent(0) * 2 - 1 - (x - input.min(0)) % (input.extent(0) * 2)) + input.min(0)), input.min(0)), input.min(0) + input.extent(0) - 1))
        output mirror_image_input
    "#]],
    );
    check(
        &mirror_interior(&input),
        expect![[r#"
        image input(1): u8
        func mirror_interior_input(x): u8
          mirror_interior_input(x) = input(min(max(select(likely((x >= input.min(0)) & (x < input.min(0) + input.extent(0))), likely(x), min((x - input.min(0)) % max(input.extent(0) * 2 - 2, 1), max(input.extent(0) * 2 - 2, 1) - (x - input.min(0)) % max(input.extent(0) * 2 - 2, 1)) + input.min(0)), input.min(0)), input.min(0) + input.extent(0) - 1))
        output mirror_interior_input
    "#]],
    );
    check(
        &constant_exterior(&input, 7),
        expect![[r#"
        image input(1): u8
        func constant_exterior_input(x): u8
          constant_exterior_input(x) = select(!likely((x >= input.min(0)) & (x < input.min(0) + input.extent(0))), 7u8, input(min(max(likely(x), input.min(0)), input.min(0) + input.extent(0) - 1)))
        output constant_exterior_input
    "#]],
    );
}

#[test]
fn dimensions_without_bounds_stay_as_they_are() {
    let (x, y, c) = vars!(x, y, c);
    let mut f = Func::new("f");
    f[(x, y, c)] = x + y * c;
    check(
        &repeat_edge_in(&f, &[bounds(0, 10), None, bounds(-1, 3)]),
        expect![[r#"
        func f(x, y, c): i32
          f(x, y, c) = x + y * c
        func repeat_edge_f(x, y, z): i32
          repeat_edge_f(x, y, z) = f(min(max(likely(x), 0), 0 + 10 - 1), y, min(max(likely(z), -1), -1 + 3 - 1))
        output repeat_edge_f
    "#]],
    );
    check(
        &constant_exterior_in(&f, 0, &[None, bounds(0, 4)]),
        expect![[r#"
        func f(x, y, c): i32
          f(x, y, c) = x + y * c
        func constant_exterior_f(x, y, z): i32
          constant_exterior_f(x, y, z) = select(!likely((y >= 0) & (y < 0 + 4)), 0, f(x, min(max(likely(y), 0), 0 + 4 - 1), z))
        output constant_exterior_f
    "#]],
    );
    check(
        &repeat_image_in(&f, &[]),
        expect![[r#"
        func f(x, y, c): i32
          f(x, y, c) = x + y * c
        func repeat_image_f(x, y, z): i32
          repeat_image_f(x, y, z) = f(x, y, z)
        output repeat_image_f
    "#]],
    );
}

#[test]
fn mistakes_are_at_the_call() {
    let input = ImageParam::new("input", U8, 1);
    let line = line!() + 1;
    let f = constant_exterior(&input, 300);
    let errors = Pipeline::new([&f]).unwrap_err();
    assert_eq!((errors.0.len(), errors.0[0].at.line), (1, line));
    check(
        &f,
        expect![[r#"
        the literal 300 meets u8, which cannot hold it
    "#]],
    );
    check(
        &repeat_edge_in(&input, &[bounds(0, 4), bounds(0, 4)]),
        expect![[r#"
        `input` has 1 dimension but bounds for 2 are given
    "#]],
    );
    check(
        &mirror_image_in(&input, &[bounds(0.5, 4)]),
        expect![[r#"
        the literal 0.5 is a float but meets i32
    "#]],
    );
    check(
        &mirror_image_in(&Func::new("nothing"), &[bounds(0, 4)]),
        expect![[r#"
        `nothing` is read before it has a definition
    "#]],
    );
}
