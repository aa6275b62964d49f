//! How long memory is held: from the first computation to the last use.

use crate::matrix::{TARGET, random_image};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, vars};
use halide_sched::ir::eval;
use halide_sched::lower::{LowerOptions, lower};

/// A chain of `n` pointwise stages of `f32`, each stored as a whole, on 160x100: bytes held at most.
fn peak_of_chain(n: usize, also: &str) -> u64 {
    let input = ImageParam::new("input", F32, 2);
    let (x, y) = vars!(x, y);
    let mut last = Func::new("s0");
    last[(x, y)] = input[(x, y)] * 0.5;
    let mut schedule = vec![also.to_string()];
    for i in 1..n {
        schedule.push(format!("s{}: compute_root()", i - 1));
        let mut next = Func::new(format!("s{i}"));
        next[(x, y)] = last[(x, y)] + 1.0;
        last = next;
    }
    let pipeline = Pipeline::new([&last]).unwrap();
    let plan = halide_sched::plan::resolve(&pipeline, &schedule.join("\n").parse().unwrap(), &TARGET).unwrap();
    let program = lower(&plan, &LowerOptions::default()).unwrap().program;
    let image = random_image(F32, &Region::of_extents([160, 100]), 5);
    let mut out = [AnyBuffer::new(F32, [160, 100]).unwrap()];
    eval::run(&program, &[], &[image], &mut out).unwrap_or_else(|e| panic!("{e}\n{program}")).peak_bytes
}

#[test]
fn a_chain_of_stages_holds_two_at_a_time() {
    let stage = 160 * 100 * 4;
    assert_eq!(peak_of_chain(2, ""), stage);
    for n in [3, 4, 8] {
        assert_eq!(peak_of_chain(n, ""), 2 * stage, "{n} stages");
    }
    assert_eq!(peak_of_chain(8, "s3: parallel(y)\n s5: vectorize(x, 8)"), 2 * stage);
}
