//! Inputs and outputs of apps that do not say theirs: as types, dimensions and reads of the pipeline tell.

use crate::app::{App, Takes};
use crate::input::{Input, White};
use halide::input_requirements::InputNeed;
use halide::pipeline::ImageDef;
use halide::prelude::*;

/// The app with what it takes of an image, where the inputs of its pipeline say that.
pub(crate) fn with_takes(app: &App, pipeline: &Pipeline) -> App {
    let dims = pipeline.images.iter().map(|image| image.dims).max();
    let takes = match (app.takes, dims) {
        (Takes::AsRead, None) => Takes::Nothing,
        (Takes::AsRead, Some(0..=2)) => Takes::EachChannel,
        (Takes::AsRead, Some(_)) => Takes::Channels,
        (takes, _) => takes,
    };
    App { takes, ..*app }
}

/// Adds the extents of the output and the inputs that are not said, for an output or an image of this width, height
/// and number of channels. Beyond its edges an image goes on with the nearest pixel, unless the algorithm asks for its
/// size, as boundary conditions do: then the input is the image itself.
///
/// # Errors
/// Those of bounds inference.
pub(crate) fn complete(
    (inputs, extents): (&mut Vec<Input>, &mut Vec<i64>),
    pipeline: &Pipeline,
    params: &[(String, Scalar)],
    image: [i64; 3],
) -> Result<(), Error> {
    let dims = pipeline.funcs[pipeline.outputs[0]].args.len();
    if extents.is_empty() {
        *extents = image.into_iter().chain(std::iter::repeat(1)).take(dims).collect();
    }
    let is_lacking = |def: &ImageDef| inputs.iter().all(|input| input.name != def.name);
    let lacking: Vec<_> = pipeline.images.enumerate().filter(|(_, def)| is_lacking(def)).collect();
    if lacking.is_empty() {
        return Ok(());
    }
    let read = reads(pipeline, params, &Region::of_extents(extents.as_slice()))?;
    for (id, def) in lacking {
        let whole = || image.into_iter().take(def.dims).map(|extent| (0, extent)).collect();
        let read = read.iter().find(|need| need.name == def.name).filter(|_| !pipeline.asks_for_shape(id));
        let region = read.map(|need| need.region.spans().iter().map(|span| (span.min, span.extent)).collect());
        let white = if def.ty.is_float() { White::At(1) } else { White::AsStored };
        let pixels = Input::pixels(&def.name, def.ty, &[], white);
        inputs.push(Input { region: region.unwrap_or_else(whole), ..pixels });
    }
    Ok(())
}

/// The inputs that an output over `region` is computed from.
fn reads(pipeline: &Pipeline, params: &[(String, Scalar)], region: &Region) -> Result<Vec<InputNeed>, Error> {
    // Bounds inference is quick where nothing is inline.
    let root = Schedule::all_at_root(pipeline);
    let compiled = Compiler::new(pipeline).engine(Engine::Interp).schedule(&root).compile()?;
    let call = params.iter().fold(compiled.inputs(), |call, (name, value)| call.param_named(name, *value));
    call.infer_input_bounds(std::slice::from_ref(region))
}
