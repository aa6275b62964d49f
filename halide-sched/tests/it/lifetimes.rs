//! The time that memory is held: from the first computation to the last use.

use crate::matrix::{TARGET, check, random_image};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, vars};
use halide_ir::eval;
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

#[test]
fn specialised_consumers_fold_alike() {
    let input = ImageParam::new("in", F32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 0.5;
    g[(x, y)] = f[(x, y)] + f[(x, y + 2)];
    let pipeline = Pipeline::new([&g]).unwrap();
    let lowered = |variant: &str| {
        let schedule = format!(
            "f: store_root() compute_at(g, y)\n g: specialize(g.extent(0) >= 8)\n \
             g.specialize(g.extent(0) >= 8): {variant}"
        );
        for (w, h) in [(3, 5), (8, 4), (9, 1), (17, 12)] {
            let image = random_image(F32, &Region::of_spans([(-9, w + 60), (-6, h + 60)]), 5);
            check(&pipeline, &schedule, &[("in", image)], &Region::of_extents([w, h]));
        }
        let plan = halide_sched::plan::resolve(&pipeline, &schedule.parse().unwrap(), &TARGET).unwrap();
        let lowered = lower(&plan, &LowerOptions::default()).unwrap();
        let fold = lowered.program.buffers.iter().find(|b| b.name == "f").expect("f is stored").fold.clone();
        let pass = lowered.trace.passes.iter().find(|p| p.name == "fold_storage").expect("it ran");
        (fold, pass.decisions.iter().map(|d| d.to_string()).collect::<Vec<_>>().join("\n"))
    };
    let wide = "f along g.y (where g.extent(0) >= 8): keeps 3 of `y`";
    let keeps = "f along g.y (otherwise): keeps 3 of `y`".to_string();
    assert_eq!(lowered("vectorize(x, 4)"), (vec![None, Some(3)], format!("{wide}\n{keeps}")));
    // Where rows run in parallel, each has storage of its own, of no more than the window.
    assert_eq!(lowered("parallel(y)"), (vec![None, Some(3)], keeps.clone()));
    let (fold, said) = lowered("reorder(y, x) split(y, yo, y, 2, GuardWithIf) reorder(y, x, yo)");
    assert_eq!(fold, [None, Some(4)], "{said}");
    let (fold, said) = lowered("split(y, yo, y, 8) parallel(yo)");
    assert_eq!(fold, [None, Some(3)], "{said}");
    let (fold, said) = lowered("reorder(y, x)");
    assert_eq!(fold, [None, None], "{said}");
    assert!(
        said.contains("f along g.y (otherwise): not folded, because another variant of its consumer needs all of it"),
        "{said}"
    );
}
