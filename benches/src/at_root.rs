//! The schedule that takes no thought: every Func at the root, in vectors along its first dimension, and in parallel
//! along its last.

use halide::plan::resolve;
use halide::prelude::*;

/// Every Func at the root, each of its definitions in vectors and in parallel where that is legal.
pub fn schedule(pipeline: &Pipeline, target: &Target) -> Schedule {
    let mut all = Schedule::new();
    for id in &pipeline.order {
        let func = &pipeline.funcs[*id];
        all.func(func.name.as_str()).compute_root();
        let bytes = func.types.iter().map(|ty| ty.bytes()).max().unwrap_or(1);
        let lanes = i64::from(target.vector_bits) / 8 / bytes as i64;
        let (first, last) = (func.args.first(), func.args.get(1..).and_then(<[_]>::last));
        for stage in 0..func.stages.len() {
            for (var, is_vector) in [(first, true), (last, false)] {
                let Some(var) = var.map(|var| pipeline.vars[*var].as_str()) else { continue };
                let mut more = all.clone();
                let of = more.func(func.name.as_str());
                let of = if stage == 0 { of } else { of.update(stage - 1) };
                drop(if is_vector { of.vectorize(var, lanes) } else { of.parallel(var) });
                if resolve(pipeline, &more, target).is_ok() {
                    all = more;
                }
            }
        }
    }
    all
}
