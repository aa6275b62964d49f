//! Directives of every update of a Func.

use super::{outcome, parse, samples};
use crate::plan::resolve;
use halide_core::pipeline::Pipeline;
use halide_core::types::I32;
use halide_core::{Func, ImageParam, RDom, vars};

/// A Func with two updates over the same domain.
fn two_updates() -> Pipeline {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", I32, 2);
    let mut f = Func::new("f");
    f[(x, y)] = input[(x, y)] * 2;
    let r = RDom::named("r", [(0, 8)]);
    f[(x, y)] += input[(x + r.x, y)];
    f[(x, y)] += input[(x, y + r.x)];
    Pipeline::new([&f]).unwrap_or_else(|e| panic!("{e}"))
}

fn same(pipeline: &Pipeline, of_all: &str, one_by_one: &str) {
    let (all, one) = (outcome(pipeline, &parse(of_all)), outcome(pipeline, &parse(one_by_one)));
    assert_eq!(all, one);
    assert!(!all.contains("test:"), "{all}");
}

#[test]
fn each_update_gets_the_directives() {
    same(
        &two_updates(),
        "f.updates(): vectorize(x, 4) parallel(y)",
        "f.update(0): vectorize(x, 4) parallel(y)\nf.update(1): vectorize(x, 4) parallel(y)",
    );
}

/// The number of a specialisation differs where one update has others of its own before it.
#[test]
fn specialisations_of_every_update_follow_those_of_one() {
    same(
        &two_updates(),
        "f.update(1).specialize(input.extent(0) > 9): serial(x)
         f.updates().specialize(input.extent(0) > 5): vectorize(x, 4)
         f.updates().specialize(input.extent(0) > 3): unroll(x, 2)
         f.updates().specialize(input.extent(0) > 5).specialize(input.extent(1) > 5): parallel(y)",
        "f.update(1).specialize(input.extent(0) > 9): serial(x)
         f.update(0).specialize(input.extent(0) > 5): vectorize(x, 4)
         f.update(1).specialize(input.extent(0) > 5): vectorize(x, 4)
         f.update(0).specialize(input.extent(0) > 3): unroll(x, 2)
         f.update(1).specialize(input.extent(0) > 3): unroll(x, 2)
         f.update(0).specialize(input.extent(0) > 5).specialize(input.extent(1) > 5): parallel(y)
         f.update(1).specialize(input.extent(0) > 5).specialize(input.extent(1) > 5): parallel(y)",
    );
}

#[test]
fn funcs_that_directives_make_have_updates_too() {
    same(
        &samples::histogram(),
        "hist.clone_in(cdf): compute_root()\nhist.clone_in(cdf).updates(): reorder(r.y, r.x)",
        "hist.clone_in(cdf): compute_root()\nhist.clone_in(cdf).update(0): reorder(r.y, r.x)",
    );
}

#[test]
fn a_func_without_updates_is_refused() {
    let errors =
        resolve(&samples::blur(), &parse("blur_y: parallel(y)\nblur_y.updates(): parallel(y)"), &super::TARGET);
    let errors = errors.expect_err("there is no update");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].directive, Some(1));
    assert!(errors[0].to_string().contains("`blur_y` has no updates"), "{}", errors[0]);
}
