//! Wrappers of wrappers, and copies with wrappers, in whatever order they are asked for.

use crate::matrix::{check, random_image};
use halide_core::buffer::Region;
use halide_core::types::*;
use halide_core::{Func, ImageParam, IntoExpr, Pipeline, RDom, vars};

/// `f` of an image, read by `g` and `h`.
fn two_readers() -> Pipeline {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g, mut h) = (Func::new("f"), Func::new("g"), Func::new("h"));
    f[(x, y)] = input[(x, y)] * 3;
    g[(x, y)] = f[(x, y)] + f[(x + 1, y + 2)];
    h[(x, y)] = g[(x, y)] - f[(x, y + 1)];
    Pipeline::new([&h]).unwrap()
}

/// Checks the directives in every order, with what else is said of the Funcs behind them. (As a subject, the name of a
/// wrapper makes it.)
fn check_in_any_order(p: &Pipeline, directives: &[&str], rest: &str) {
    let image = random_image(I16, &Region::of_extents([16, 16]), 1);
    for order in orders(directives.len()) {
        let lines: Vec<&str> = order.iter().map(|&i| directives[i]).collect();
        let schedule = format!("{}\n{rest}", lines.join("\n"));
        check(p, &schedule, &[("in", image.clone())], &Region::of_extents([5, 6]));
    }
}

fn orders(n: usize) -> Vec<Vec<usize>> {
    let Some(last) = n.checked_sub(1) else { return vec![Vec::new()] };
    let with_last = |order: Vec<usize>| {
        (0..=last).map(move |at| [&order[..at], &[last], &order[at..]].concat()).collect::<Vec<_>>()
    };
    orders(last).into_iter().flat_map(with_last).collect()
}

/// A wrapper of `f` for a wrapper of `f` is called by what was made before it.
#[test]
fn a_wrapper_can_have_a_wrapper_of_the_same_func() {
    let p = two_readers();
    for rest in ["", "f.in(f.in(g)): compute_at(f.in(g), y)\n f.in(g): compute_root()", "f.in(f.in(g)): compute_root()"]
    {
        check_in_any_order(&p, &["f: in(g)", "f: in(f.in(g))"], rest);
        check_in_any_order(&p, &["f: in(g)", "f: in(f.in(g))", "f: in(f.in(f.in(g)))"], rest);
        check_in_any_order(&p, &["f: in(g)", "f: in(f.in(g))", "f: in(h)"], rest);
    }
}

/// The wrapper for all consumers, and a wrapper between it and its Func.
#[test]
fn the_wrapper_for_all_can_have_a_wrapper() {
    let p = two_readers();
    let inside = "f.in(): compute_root()\n f.in(f.in()): compute_at(f.in(), y)\n f: compute_at(f.in(), y)";
    check_in_any_order(&p, &["f: in()", "f: in(f.in())"], inside);
    for rest in ["", "f.in(): compute_root()\n f.in(f.in()): compute_at(f.in(), y)\n f: compute_root()"] {
        check_in_any_order(&p, &["f: in()", "f: in(f.in())"], rest);
        check_in_any_order(&p, &["f: in()", "f: in(f.in())", "f: in(g)"], rest);
        check_in_any_order(&p, &["f.in(): in(h)", "f: in(f.in())"], rest);
        check_in_any_order(&p, &["f.in(): in()", "f: in(f.in())", "f: in(g)"], rest);
    }
}

/// Wrappers of images, of copies, for copies, and of what `rfactor` makes.
#[test]
fn rewrites_wait_for_what_they_speak_of() {
    let p = two_readers();
    for rest in ["", "f: compute_root()"] {
        check_in_any_order(&p, &["in: in(f)", "in: in(in.in(f))"], rest);
        check_in_any_order(&p, &["in: in()", "in: in(in.in())", "f: in(g)"], rest);
        check_in_any_order(&p, &["in: in(f.clone_in(g))", "f.clone_in(g): in(g)"], rest);
        check_in_any_order(&p, &["f: clone_in(g)", "in: in(f.clone_in(g))", "in: in(in.in(f.clone_in(g)))"], rest);
        check_in_any_order(&p, &["f.in(g): in(g)", "f: in(f.in(g))"], rest);
        check_in_any_order(&p, &["f: clone_in(f.in(g))", "f.in(g): clone_in(g)"], rest);
    }
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 4)]);
    let (mut f, mut sum, mut out) = (Func::new("f"), Func::new("sum"), Func::new("out"));
    f[(x, y)] = input[(x, y)] * 3;
    sum[y] = 0i16.expr();
    sum[y] += f[(r.x, y)];
    out[(x, y)] = sum[y] + f[(x, y)];
    let p = Pipeline::new([&out]).unwrap();
    let rfactor = "sum.update(0): split(r.x, ro, ri, 2) rfactor(ri, u)";
    let rest = "sum.rfactor(u): compute_root()\n sum: compute_root()\n f: compute_root()";
    check_in_any_order(&p, &[rfactor, "f: in(sum.rfactor(u))", "sum.rfactor(u): in(sum)"], rest);
    check_in_any_order(&p, &[rfactor, "f: in(sum.rfactor(u))", "f: in(f.in(sum.rfactor(u)))", "f: in()"], rest);
}
