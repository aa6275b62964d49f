//! Outputs that may be computed in the memory of an input, or not: what a record of answers asks.

use crate::case::TARGET;
use crate::funcs::{func, var};
use crate::legal::{LEGAL, legal, without_lines};
use halide::plan;
use halide::prelude::*;
use halide_core::ids::Id;
use halide_sched::lower::storage::in_place::{InPlaceProof, in_place};
use halide_testing::pipelines::Random;

/// A pipeline whose output reads an input at its own points, elsewhere, or by way of other stages.
fn draw(random: &mut Random) -> (Vec<Func>, Vec<String>) {
    let ty = random.pick(&[I32, I32, I32, U8]);
    let (own, other) = (ImageParam::new("own", ty, 2), ImageParam::new("other", I32, 2));
    let (x, y) = (var("x"), var("y"));
    let w = |e: Expr| cast_to(I32, e);
    let g = func("g", &[x, y], w(own.read([x, y])) * 2);
    let near = func("near", &[x, y], w(own.read([x + 1, y])) + other.read([x, y]));
    let mut value = match random.below(9) {
        0 | 1 => own.read([x, y]),
        2 => w(own.read([x, y])) + 1,
        3 => w(own.read([x + 1, y])),
        4 => w(own.read([x, y])) + g.read([x, y]),
        5 => near.read([x, y]) * 3,
        6 => select(x.lt(3), w(own.read([x, y])), other.read([x, y])),
        7 => w(own.read([y, x])),
        _ => other.read([x, y]) - w(own.read([x, y])),
    };
    if random.one_in(4) {
        value = require(x.lt(1000), value, "x is small");
    }
    let tuples = random.one_in(6);
    let mut f = func("f", &[x, y], if tuples { tuple([value, other.read([x, y])]) } else { value });
    if !tuples && ty == I32 && random.one_in(3) {
        f[[x, y]] = f.read([x, y]) + if random.one_in(2) { other.read([x, y]) } else { own.read([x, y]) };
    }
    let lines = [
        "f: vectorize(x, 4)",
        "f: split(x, xo, xi, 4, ShiftInwards)",
        "f: split(x, xo, xi, 4, GuardWithIf)",
        "f: parallel(y)",
        "g: compute_root()",
        "near: compute_root()",
        "near: compute_at(f, y)",
    ];
    (vec![f], lines.iter().filter(|_| random.one_in(3)).map(|line| line.to_string()).collect())
}

/// The schedule of a seed with the answer for each input in whose memory the output could be.
pub(crate) fn answers(seed: u64) -> Vec<(String, String)> {
    let (outputs, lines) = draw(&mut Random::new(seed));
    let pipeline = Pipeline::new(outputs.iter().collect::<Vec<&Func>>());
    let pipeline = pipeline.unwrap_or_else(|e| panic!("a pipeline has mistakes: {e}"));
    let schedule = legal(&pipeline, &TARGET, &lines).0;
    let Ok(plan) = plan::resolve(&pipeline, &schedule, &TARGET) else { return Vec::new() };
    let output = pipeline.outputs[0];
    let mut said = Vec::new();
    for image in pipeline.images.ids() {
        for element in 0..pipeline.funcs[output].types.len() {
            let answer = match in_place(&plan, image, output, element) {
                Ok(InPlaceProof { is_copy, needs_exact_tails }) => {
                    let copies = if is_copy { ", and copies nothing" } else { "" };
                    let tails = if needs_exact_tails { ", with exact tails" } else { "" };
                    format!("{LEGAL}{copies}{tails}")
                }
                Err(e) => without_lines(&format!("{:?}", e.problem)),
            };
            let name = &pipeline.images[image].name;
            let text = format!("# {name} {} {element} {}", image.index(), schedule.to_string().replace('\n', " ; "));
            said.push((text.trim().to_string(), answer));
        }
    }
    said
}
