//! Frozen pipelines as text.

use expect_test::{Expect, expect};
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Param, Pipeline, RDom, vars};

fn check(outputs: &[&Func], expected: Expect) {
    match Pipeline::new(outputs.iter().copied()) {
        Ok(pipeline) => expected.assert_eq(&pipeline.to_string()),
        Err(errors) => panic!("{errors}"),
    }
}

#[test]
fn everything_that_means_something_is_shown() {
    let input = ImageParam::new("input", U16, 2);
    let gain = Param::<f32>::new("gain").with_default(1.5).with_range(0.0, 4.0);
    let (x, y) = vars!(x, y);
    let mut scaled = Func::new("scaled");
    scaled[(x, y)] = saturating_cast::<u8>(input[(x, y)] * gain);
    let mut hist = Func::new("hist");
    hist[x] = 0u32.expr();
    let r = RDom::over(&input);
    r.where_(r.x.lt(r.y));
    hist[scaled[(r.x, r.y)]] += 1;
    let mut both = Func::new("both");
    both[(x, y)] = tuple([scaled[(x, y)].cast(I32), hist[x].cast(I32)]);
    let mut out = Func::new("out");
    out[(x, y)] = both[(x, y)].at(1) - clamp(both[(x, y)].at(0), -3, 7);
    check(
        &[&out, &hist],
        expect![[r#"
            image input(2): u16
            param gain: f32 = 1.5 from 0.0 to 4.0
            rdom r: r.x from input.min(0) for input.extent(0), r.y from input.min(1) for input.extent(1) where r.x < r.y
            func scaled(x, y): u8
              scaled(x, y) = saturating_u8(f32(input(x, y)) * gain)
            func hist(x): u32
              hist(x) = 0u32
              hist(i32(scaled(r.x, r.y))) = hist(i32(scaled(r.x, r.y))) + 1u32
            func both(x, y): (i32, i32)
              both(x, y) = (i32(scaled(x, y)), i32(hist(x)))
            func out(x, y): i32
              out(x, y) = both(x, y).1 - min(max(both(x, y).0, -3), 7)
            output out
            output hist
        "#]],
    );
}

#[test]
fn parentheses_stand_where_they_are_needed() {
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = tuple([
        x - (y - 1),
        x - y - 1,
        (x + y) * 3,
        x + y * 3,
        -(x * y),
        -x * y,
        !(x & y) | 1,
        select(x.lt(y).eq(y.lt(3)), x % 2, (x << 1) + 1),
    ]);
    check(
        &[&f],
        expect![[r#"
            func f(x, y): (i32, i32, i32, i32, i32, i32, i32, i32)
              f(x, y) = (x - (y - 1), x - y - 1, (x + y) * 3, x + y * 3, -(x * y), -x * y, !(x & y) | 1, select((x < y) == (y < 3), x % 2, (x << 1) + 1))
            output f
        "#]],
    );
}

#[test]
fn shared_and_deep_expressions_print_in_reasonable_space() {
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = (0..60).fold(x + 0, |e, k| e * e + k);
    let text = Pipeline::new([&f]).unwrap().to_string();
    assert!(text.len() < 4_000, "{text}");
    let mut g = Func::new("g");
    g[x] = (0..50_000).fold(x + 0, |e, k| e + k);
    assert!(Pipeline::new([&g]).unwrap().to_string().ends_with("+ 49999\noutput g\n"));
}
