//! Pipelines that nobody wrote, for tests and fuzzing; and how to make a pipeline that fails a test smaller.
//!
//! A pipeline belongs to its seed: the same on every machine. It has no mistakes, its coordinates stay small, and every
//! coordinate that depends on data is bounded, so that lowering accepts it under every legal schedule; unless its
//! coordinates may reach far. What each pipeline is to have can be asked for ([`Structure`]).

mod constant;
mod coordinate;
mod draw;
mod external;
mod far;
mod given;
mod graph;
mod options;
mod own;
mod random;
mod shrink;
mod stage;
mod structure;
#[cfg(test)]
mod tests;
mod update;
mod value;

pub use options::PipelineOptions;
pub use random::Random;
pub use shrink::smaller;
pub use structure::{Coordinate, Structure, Update};

use draw::{Draw, Source};
use halide_core::func::Func;
use halide_core::pipeline::Pipeline;

/// The pipeline that belongs to `seed`.
pub fn random_pipeline(seed: u64, options: PipelineOptions) -> Pipeline {
    let mut draw = Draw::new(Random::new(seed), options);
    let most = 1 + draw.random.below(options.stages);
    let stages = 1 + draw.random.below(most);
    // What is asked for comes first, in the middle or last.
    let special = draw.random.below(stages + 1);
    for number in 0..stages {
        if number == special {
            draw.graph("g");
        }
        draw.stage(&format!("f{number}"));
    }
    if special == stages {
        draw.graph("g");
    }
    if options.given && draw.random.one_in(3) {
        draw.in_place("result");
    }
    let funcs: Vec<&Func> = draw.sources.iter().filter_map(Source::func).collect();
    let mut outputs: Vec<&Func> = funcs.last().copied().into_iter().collect();
    // Siblings are often outputs, which stay where they are.
    let most = if options.structure == Some(Structure::Siblings) { 3 } else { 8 };
    // Sometimes what nothing reads is an output too, or anything.
    for func in &funcs[..funcs.len().saturating_sub(1)] {
        // The graph that was asked for is there, whoever reads it.
        if draw.random.one_in(most) || func.name() == "g" {
            outputs.push(func);
        }
    }
    if options.given {
        outputs.iter().for_each(|func| given::output_rules(&mut draw.random, draw.offset, func));
    }
    match Pipeline::new(outputs) {
        Ok(pipeline) => pipeline,
        Err(mistakes) => panic!("the pipeline of seed {seed} has mistakes, which is a bug here:\n{mistakes}"),
    }
}
