//! The arguments of C programs, once their structures are read: which is which.

use crate::error::CallError;
use halide_core::buffer::{AnyBuffer, AnyBufferMut};
use halide_core::interp::Inputs;
use halide_core::pipeline::PipelineData;
use halide_core::value::Scalar;

/// An argument that was read.
pub(crate) enum Argument {
    /// A parameter, with its name if it has one.
    Param(Option<String>, Scalar),
    /// An image, with its name if it has one.
    Image(Option<String>, AnyBuffer),
    /// The next output.
    Output(AnyBuffer),
}

/// The inputs by name, and the buffers of the outputs in order. Arguments without a name are those of the pipeline in
/// its order.
pub(crate) fn sort(interface: &PipelineData, all: Vec<Argument>) -> Result<(Inputs, Vec<AnyBuffer>), CallError> {
    let mut params = interface.params.iter().map(|def| def.name.clone());
    let mut images = interface.images.iter().map(|def| def.name.clone());
    let (mut inputs, mut outputs) = (Inputs::new(), Vec::new());
    for (i, argument) in all.into_iter().enumerate() {
        let named = |name: Option<String>, next: Option<String>, kind: &str, most: usize| {
            let problem = || format!("is one more {kind} than the {most} of the pipeline; leave it out");
            let problem = || CallError::Argument { argument: format!("argument {i}"), problem: problem() };
            name.or(next).ok_or_else(problem)
        };
        match argument {
            Argument::Param(name, value) => {
                let next = if name.is_none() { params.next() } else { None };
                let name = named(name, next, "parameter", interface.params.iter().len())?;
                if inputs.get_param(&name).is_some() {
                    return Err(twice(i, &name));
                }
                inputs = inputs.param(name, value);
            }
            Argument::Image(name, buffer) => {
                let next = if name.is_none() { images.next() } else { None };
                let name = named(name, next, "image", interface.images.iter().len())?;
                if inputs.get(&name).is_some() {
                    return Err(twice(i, &name));
                }
                inputs = inputs.image(name, buffer);
            }
            Argument::Output(buffer) => outputs.push(buffer),
        }
    }
    check_overlaps(&inputs, &outputs)?;
    Ok((inputs, outputs))
}

/// Mutable views of buffers that nobody else has.
pub(crate) fn views(outputs: &mut [AnyBuffer]) -> Result<Vec<AnyBufferMut<'_>>, CallError> {
    let error = |i: usize| move |error| CallError::Buffer { argument: format!("output {i}"), error };
    outputs.iter_mut().enumerate().map(|(i, buffer)| buffer.view_mut().map_err(error(i))).collect()
}

fn twice(i: usize, name: &str) -> CallError {
    let problem = format!("gives `{name}` a second time; leave one of them out");
    CallError::Argument { argument: format!("argument {i}"), problem }
}

/// Checks that no output has bytes in common with another buffer, from its first element to its last.
fn check_overlaps(inputs: &Inputs, outputs: &[AnyBuffer]) -> Result<(), CallError> {
    let range = |buffer: &AnyBuffer| {
        let memory = buffer.memory();
        let start = memory.bytes.as_ptr() as usize;
        start + memory.used.start..start + memory.used.end
    };
    for (i, output) in outputs.iter().enumerate() {
        let own = range(output);
        let meets = |other: &AnyBuffer| {
            let other = range(other);
            own.start < other.end && other.start < own.end
        };
        let image =
            inputs.image_names().find(|name| inputs.get(name).is_some_and(meets)).map(|n| format!("image `{n}`"));
        let earlier = outputs[..i].iter().position(meets).map(|other| format!("output {other}"));
        if let Some(other) = image.or(earlier) {
            let problem = format!("has memory in common with {other}; give it memory of its own");
            return Err(CallError::Argument { argument: format!("output {i}"), problem });
        }
    }
    Ok(())
}
