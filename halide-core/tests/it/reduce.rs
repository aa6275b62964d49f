//! Inline reductions.

use expect_test::{Expect, expect};
use halide_core::expr::*;
use halide_core::reduce::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};

fn check(build: impl FnOnce() -> Func, expected: Expect) {
    let text = match Pipeline::new([&build()]) {
        Ok(pipeline) => pipeline.to_string(),
        Err(errors) => errors.0.iter().map(|e| format!("{}\n", e.kind.reason())).collect(),
    };
    expected.assert_eq(&text);
}

#[test]
fn a_sum_is_a_func_over_the_free_variables() {
    check(
        || {
            let input = ImageParam::new("input", U8, 2);
            let (x, y) = vars!(x, y);
            let r = RDom::new([(-1, 3), (-1, 3)]);
            let mut f = Func::new("f");
            f[(x, y)] = sum(input[(x + r.x, y + r.y)].cast(U16)) / 9;
            f
        },
        expect![[r#"
            image input(2): u8
            rdom r: r.x from -1 for 3, r.y from -1 for 3
            func sum(x, y): u16
              sum(x, y) = 0u16
              sum(x, y) = sum(x, y) + u16(input(x + r.x, y + r.y))
            func f(x, y): u16
              f(x, y) = sum(x, y) / 9u16
            output f
        "#]],
    );
}

#[test]
fn identities_are_those_of_the_operands_type() {
    check(
        || {
            let x = vars!(x);
            let r = RDom::new([(0, 4)]);
            let at = x + r.x;
            let mut f = Func::new("f");
            f[x] = tuple([
                product(at.cast(F32)),
                minimum(at.cast(I8)).cast(F32),
                maximum(at.cast(I8)).cast(F32),
                minimum(at.cast(F32)),
                maximum(at.cast(F32)),
            ]);
            f
        },
        expect![[r#"
            rdom r: r.x from 0 for 4
            func product(x): f32
              product(x) = 1.0f32
              product(x) = product(x) * f32(x + r.x)
            func minimum(x): i8
              minimum(x) = 127i8
              minimum(x) = min(minimum(x), i8(x + r.x))
            func maximum(x): i8
              maximum(x) = -128i8
              maximum(x) = max(maximum(x), i8(x + r.x))
            func minimum$1(x): f32
              minimum$1(x) = f32(inf)
              minimum$1(x) = min(minimum$1(x), f32(x + r.x))
            func maximum$1(x): f32
              maximum$1(x) = f32(-inf)
              maximum$1(x) = max(maximum$1(x), f32(x + r.x))
            func f(x): (f32, f32, f32, f32, f32)
              f(x) = (product(x), f32(minimum(x)), f32(maximum(x)), minimum$1(x), maximum$1(x))
            output f
        "#]],
    );
}

#[test]
fn arg_reductions_keep_the_first_coordinates() {
    check(
        || {
            let input = ImageParam::new("input", F32, 2);
            let y = vars!(y);
            let r = RDom::new([(0, 10)]);
            let mut f = Func::new("f");
            let best = argmax(input[(r.x, y)]);
            f[y] = tuple([best.at(0), argmin(input[(r.x, y)]).at(0)]);
            f
        },
        expect![[r#"
            image input(2): f32
            rdom r: r.x from 0 for 10
            func argmax(y): (i32, f32, bool)
              argmax(y) = (0, f32(-inf), false)
              argmax(y) = (select((input(r.x, y) > argmax(y).1) | (input(r.x, y) == argmax(y).1) & !argmax(y).2, r.x, argmax(y).0), select((input(r.x, y) > argmax(y).1) | (input(r.x, y) == argmax(y).1) & !argmax(y).2, input(r.x, y), argmax(y).1), argmax(y).2 | ((input(r.x, y) > argmax(y).1) | (input(r.x, y) == argmax(y).1) & !argmax(y).2))
            func argmin(y): (i32, f32, bool)
              argmin(y) = (0, f32(inf), false)
              argmin(y) = (select((input(r.x, y) < argmin(y).1) | (input(r.x, y) == argmin(y).1) & !argmin(y).2, r.x, argmin(y).0), select((input(r.x, y) < argmin(y).1) | (input(r.x, y) == argmin(y).1) & !argmin(y).2, input(r.x, y), argmin(y).1), argmin(y).2 | ((input(r.x, y) < argmin(y).1) | (input(r.x, y) == argmin(y).1) & !argmin(y).2))
            func f(y): (i32, i32)
              f(y) = (argmax(y).0, argmin(y).0)
            output f
        "#]],
    );
}

#[test]
fn inner_domains_are_told_from_outer_ones() {
    check(
        || {
            let input = ImageParam::new("input", I32, 2);
            let x = vars!(x);
            let (r, k) = (RDom::new([(0, 10)]), RDom::named("k", [(0, 3)]));
            k.where_((k.x + x).lt(9));
            let mut f = Func::new("f");
            f[x] = 0.expr();
            let taps = sum_over(&k, input[(r.x + k.x, x)]);
            f[x] += taps * maximum(input[(k.x, 0)]);
            f
        },
        expect![[r#"
            image input(2): i32
            rdom k: k.x from 0 for 3 where k.x + x < 9
            rdom r: r.x from 0 for 10
            func sum(r.x, x): i32
              sum(r.x, x) = 0
              sum(r.x, x) = sum(r.x, x) + input(r.x + k.x, x)
            func maximum(x): i32
              maximum(x) = -2147483648
              maximum(x) = max(maximum(x), input(k.x, 0))
            func f(x): i32
              f(x) = 0
              f(x) = f(x) + sum(r.x, x) * maximum(x)
            output f
        "#]],
    );
}

#[test]
fn mistakes_say_which_domain_is_missing() {
    check(
        || {
            let (x, r, s) = (vars!(x), RDom::new([(0, 3)]), RDom::named("s", [(0, 4)]));
            let mut f = Func::new("f");
            f[x] = sum(x + 1) + sum(r.x + s.x) + sum(r.x.lt(2)).cast(I32);
            f
        },
        expect![[r#"
            the expression of `sum` has no reduction variable
            the expression of `sum` has variables of two domains, `r` and `s`
            `+` takes numbers, not bool
        "#]],
    );
}

#[test]
fn reductions_without_free_variables_have_no_dimensions() {
    check(
        || {
            let input = ImageParam::new("input", U8, 1);
            let x = vars!(x);
            let r = RDom::over(&input);
            let mut f = Func::new("f");
            f[x] = sum(input[r.x]) + sum(input[r.x]);
            f
        },
        expect![[r#"
            image input(1): u8
            rdom r: r.x from input.min(0) for input.extent(0)
            func sum(): u8
              sum() = 0u8
              sum() = sum() + input(r.x)
            func sum$1(): u8
              sum$1() = 0u8
              sum$1() = sum$1() + input(r.x)
            func f(x): u8
              f(x) = sum() + sum$1()
            output f
        "#]],
    );
}
