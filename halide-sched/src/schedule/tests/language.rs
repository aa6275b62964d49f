//! Handles of the algorithm language in the builder.

use super::super::*;
use halide_core::expr::{ExprMethods, cast, clamp, select};
use halide_core::types::U16;
use halide_core::{Func, ImageParam, IntoExpr, Param, RDom, vars};

#[test]
fn handles_stand_for_their_names() {
    let (x, y, yo, yi) = vars!(x, y, yo, yi);
    let mut f = Func::new("f");
    f[(x, y)] = x + y;
    let r = RDom::named("r", [(0, 4), (0, 5)]);
    f[(x, y)] += r.x * r.y;
    let n = Param::<i32>::new("n");
    let fast = Param::<bool>::new("fast");
    let mut s = Schedule::new();
    s.func(&f).split(y, yo, yi, n).reorder((x, yi, "yo")).specialize(fast).parallel(yo);
    s.func(&f).update(0).reorder((r.x, x, r.y)).unroll(r.x, 2).rename(&r, "k");
    s.func("g").compute_at(update(&f, 0), r.y).in_(&f).clone_in([&f]);
    let text = "f: split(y, yo, yi, n) reorder(x, yi, yo)\n\
        f.specialize(fast): parallel(yo)\n\
        f.update(0): reorder(r.x, x, r.y) unroll(r.x, 2) rename(r.x, k)\n\
        g: compute_at(f.update(0), r.y)\n\
        g.in(f): clone_in(f)";
    assert_eq!(s.to_string(), text);
}

#[test]
fn lists_of_names_of_any_kind() {
    let (x, y) = vars!(x, y);
    let (f, input) = (Func::new("f"), ImageParam::new("in", U16, 2));
    let (funcs, vars) = (vec![&f], vec![x, y]);
    let mut s = Schedule::new();
    s.func("g").reorder(vars.clone()).reorder(&vars[..]).reorder([y, x]).in_(funcs.clone()).clone_in(&funcs[..]);
    s.func(&input).in_(String::from("g")).compute_root();
    s.func("g").tile([x, y], ["xo", "yo"], ["xi", "yi"], [8, 4]).partition("xo", Partition::Never);
    let text = "g: reorder(x, y) reorder(x, y) reorder(y, x)\n\
        g.in(f): clone_in(f)\n\
        in.in(g): compute_root()\n\
        g: split(x, xo, xi, 8) split(y, yo, yi, 4) reorder(xi, yi, xo, yo) never_partition(xo)";
    assert_eq!(s.to_string(), text);
    assert_eq!(s.to_string().parse(), Ok(s));
}

#[test]
fn expressions_become_conditions() {
    let p = Param::<i32>::new("p").expr();
    let small = Param::<u8>::new("small").expr();
    let wide = Param::<i64>::new("wide").expr();
    let fast = Param::<bool>::new("fast").expr();
    let gain = Param::<f32>::new("gain").expr();
    let image = ImageParam::new("in", U16, 2);
    let x = vars!(x);
    let cases = [
        (p.gt(3), "p > 3"),
        (p.gt(3) & image.width().ge(128), "p > 3 && in.extent(0) >= 128"),
        (fast | !(image.dim(1).min() % 16).eq(0), "fast || !(in.min(1) % 16 == 0)"),
        ((p + small).lt(wide * 2 - 1), "p + small < wide * 2 - 1"),
        ((-p / 4).ne(image.dim(1).stride()), "(0 - p) / 4 != in.stride(1)"),
        (fast.eq(false), "!fast"),
        (true.expr(), "0 == 0"),
        (gain.gt(1.5), "invalid(\"only integers can be compared in it, not f32\")"),
        (p + 1, "invalid(\"it is i32, not bool\")"),
        (cast::<u8>(p).gt(3), WHAT_TERMS_ARE),
        (clamp(p, 0, 3).gt(3), WHAT_TERMS_ARE),
        (select(fast, p, 2).gt(1), WHAT_TERMS_ARE),
        (fast ^ fast, "invalid(\"BitXor of bools cannot stand in it\")"),
        (select(fast, fast, fast), "invalid(\"only comparisons, bool parameters, and, or and not can stand in it\")"),
    ];
    for (e, text) in cases {
        assert_eq!(Condition::from(e).to_string(), text);
    }
    let Condition::Invalid(message) = Condition::from(x.expr().gt(3)) else { panic!("x is no parameter") };
    expect_test::expect!["a definition of `condition` uses `x`, which is not on its left side"].assert_eq(&message);
    let mut deep = p.gt(0);
    for _ in 0..1000 {
        deep &= p.gt(1);
        deep = !deep;
    }
    assert_eq!(Condition::from(deep), Condition::Invalid("it nests too deep".to_string()));
}

const WHAT_TERMS_ARE: &str =
    "invalid(\"only integer parameters, dimensions of images, constants and + - * / % can be compared in it\")";

/// An expression whose parts are shared is no larger a condition than its operators, each counted as often as it is
/// used.
#[test]
fn shared_parts_of_a_condition_are_counted() {
    let mut c = Param::<bool>::new("fast").expr();
    for _ in 0..50 {
        c = c & !c;
    }
    assert_eq!(Condition::from(c), Condition::Invalid("it has more than 256 operators".to_string()));
}
