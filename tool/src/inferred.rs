//! Inputs and outputs of apps that do not say theirs: as types, dimensions and reads of the pipeline tell.

use crate::app::{App, Takes};
use crate::estimate::Layout;
use crate::input::{Input, White};
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

/// Adds the extents of the output and the inputs that a layout lacks, for an output or an image of `size`. Beyond its
/// edges an image goes on with the nearest pixel, unless the algorithm asks for its size, as boundary conditions do:
/// then the input is the image itself.
///
/// # Errors
/// Those of bounds inference.
pub(crate) fn complete(
    layout: &mut Layout,
    pipeline: &Pipeline,
    params: &[(String, Scalar)],
    (width, height): (i64, i64),
) -> Result<(), Error> {
    let extents = [width, height, CHANNELS];
    let output = &pipeline.funcs[pipeline.outputs[0]];
    if layout.extents.is_empty() && !output.args.is_empty() {
        layout.extents = extents.into_iter().chain(std::iter::repeat(1)).take(output.args.len()).collect();
    }
    let has = |image: &ImageDef| layout.inputs.iter().any(|input| input.name == image.name);
    if pipeline.images.iter().all(has) {
        return Ok(());
    }
    // Bounds inference is quick where nothing is inline.
    let root = Schedule::all_at_root(pipeline);
    let compiled = Compiler::new(pipeline).engine(Engine::Interp).schedule(&root).compile()?;
    let call = params.iter().fold(compiled.inputs(), |call, (name, value)| call.param_named(name, *value));
    let needs = call.infer_input_bounds(&[Region::of_extents(&layout.extents)])?;
    let lacking: Vec<Input> = pipeline
        .images
        .enumerate()
        .filter(|(_, image)| !has(image))
        .map(|(id, image)| {
            let need = needs.iter().find(|need| need.name == image.name);
            let read = need.map(|need| need.region.spans().iter().map(|span| (span.min, span.extent)).collect());
            let whole = || extents.iter().take(image.dims).map(|&extent| (0, extent)).collect();
            let region = if pipeline.asks_for_shape(id) { whole() } else { read.unwrap_or_else(whole) };
            let white = if image.ty.is_float() { White::At(1) } else { White::AsStored };
            Input { region, ..Input::pixels(&image.name, image.ty, &[], white) }
        })
        .collect();
    layout.inputs.extend(lacking);
    Ok(())
}

/// The channels of random images.
const CHANNELS: i64 = 3;
