//! Calls with empty inputs or outputs: a value is the interpreter's, and everything else is an error of the caller.

use crate::case::Case;
use crate::facade::with_params;
use crate::failure::{Failure, compare, failure};
use halide::buffer::Span;
use halide::prelude::*;
use halide_core::ids::Id;
use halide_core::interp::{self, Inputs};
use halide_testing::pipelines::Random;
use std::ops::Add;

/// The runs of a check, by their outcome.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// They gave what the interpreter gave.
    pub agree: u32,
    /// They were an error of the caller.
    pub refused: u32,
}

impl Add for Tally {
    type Output = Tally;

    fn add(self, other: Tally) -> Tally {
        Tally { agree: self.agree + other.agree, refused: self.refused + other.refused }
    }
}

/// The region with one dimension without coordinates, if it has any dimension.
fn emptied(region: &Region, random: &mut Random) -> Region {
    let mut spans = region.spans().to_vec();
    if !spans.is_empty() {
        let dim = random.below(spans.len());
        spans[dim] = Span { extent: 0, ..spans[dim] };
    }
    Region::new(spans)
}

/// Runs a case with some of its images and outputs empty.
///
/// # Errors
/// Another value than the interpreter's, or a defect.
pub fn check(case: &Case) -> Result<Tally, Failure> {
    if !case.pipeline.callees.is_empty() || !case.pipeline.externs.is_empty() || case.memoizes() {
        return Ok(Tally::default());
    }
    let mut random = Random::new(case.seed ^ 0xe39);
    let regions: Vec<Region> = (case.pipeline.images.iter())
        .map(|image| {
            // Large enough for most of what is read of the others.
            let (min, extent) =
                [(-64, 256), (-64, 256), (-32, 96), (-8, 24)].get(image.dims).copied().unwrap_or((-2, 9));
            let region = Region::new(vec![Span { min, extent }; image.dims]);
            if random.one_in(3) { emptied(&region, &mut random) } else { region }
        })
        .collect();
    let mut case = case.clone();
    for region in &mut case.regions {
        if random.one_in(3) {
            *region = emptied(region, &mut random);
        }
    }
    let mut images = Vec::new();
    for (id, def) in case.pipeline.images.enumerate() {
        let broken = |e: String| failure("empty image", e);
        let mut image = AnyBuffer::with_region(def.ty, &regions[id.index()]).map_err(|e| broken(e.to_string()))?;
        case.fill(def, &mut image, &|of| regions.get(of.index()).cloned()).map_err(broken)?;
        images.push((def.name.clone(), image));
    }
    let inputs = images.iter().fold(Inputs::new(), |all, (name, image)| all.image(name, image.clone()));
    let inputs = case.pipeline.params.iter().fold(inputs, |all, p| all.param(&p.name, case.param(p)));
    let expected = interp::run(&case.pipeline, &inputs, &case.regions);
    let mut tally = Tally::default();
    for engine in [Engine::Eval, Engine::Cpu] {
        let compiler = Compiler::new(&case.pipeline).engine(engine).schedule(&case.schedule).target(&case.target);
        // What is refused for its schedule is refused with elements, too.
        let Ok(compiled) = compiler.compile() else { return Ok(tally) };
        let call = with_params(&case, compiled.inputs().threads(2).print_to(|_| {}));
        let call = images.iter().fold(call, |call, (name, image)| call.image_named(name, image.clone()));
        match (call.realize_all(&case.regions), &expected) {
            (Ok(got), Ok(expected)) => {
                compare(&format!("{engine:?} with empty buffers"), &got, expected)?;
                tally.agree += 1;
            }
            // What nothing needs is not evaluated, except by the interpreter.
            (Ok(_), Err(_)) => {}
            (Err(Error::Internal(defect)), _) => return Err(failure("empty buffers", defect.to_string())),
            (Err(_), _) => tally.refused += 1,
        }
    }
    Ok(tally)
}
