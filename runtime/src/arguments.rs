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

#[cfg(test)]
mod tests {
    use crate::arguments::*;
    use halide_core::buffer::Region;
    use halide_core::pipeline::{ImageDef, ParamDef};
    use halide_core::promise::ValuePromise;
    use halide_core::types::{I32, U8};

    fn interface() -> PipelineData {
        let at = halide_core::error::Location::in_text("", 0, 0);
        let param = |name: &str| ParamDef { name: name.into(), ty: I32, default: None, min: None, max: None, at };
        let (values, coordinates) = (ValuePromise::default(), Vec::new());
        let image = ImageDef { name: "image".into(), ty: U8, dims: 1, values, coordinates, at };
        PipelineData {
            params: ["a", "b"].map(param).into_iter().collect(),
            images: [image].into_iter().collect(),
            ..PipelineData::default()
        }
    }

    fn buffer(extent: i64) -> AnyBuffer {
        AnyBuffer::with_region(U8, &Region::of_extents([extent])).unwrap()
    }

    fn refused(all: Vec<Argument>) -> String {
        sort(&interface(), all).err().map_or(String::new(), |error| error.to_string())
    }

    #[test]
    fn arguments_without_names_are_those_of_the_pipeline_in_order() {
        let param = |name: Option<&str>, value: i32| Argument::Param(name.map(String::from), value.into());
        let all = vec![Argument::Output(buffer(3)), param(None, 1), Argument::Image(None, buffer(4)), param(None, 2)];
        let (inputs, outputs) = sort(&interface(), all).unwrap();
        assert_eq!((inputs.get_param("a"), inputs.get_param("b")), (Some(1.into()), Some(2.into())));
        assert_eq!((inputs.get("image").map(|i| i.len()), outputs.len()), (Some(4), 1));
        let many = vec![param(None, 1), param(None, 2), param(None, 3)];
        assert_eq!(refused(many), "argument 2 is one more parameter than the 2 of the pipeline; leave it out");
        let twice = vec![param(None, 1), param(Some("a"), 2)];
        assert_eq!(refused(twice), "argument 1 gives `a` a second time; leave one of them out");
    }

    #[test]
    fn outputs_have_memory_of_their_own() {
        let (one, other) = (buffer(100), buffer(100));
        let part = |from: i64| one.crop(&Region::of_spans([(from, 50)])).unwrap();
        let refused_for = |image: AnyBuffer, outputs: Vec<AnyBuffer>| {
            let outputs = outputs.into_iter().map(Argument::Output);
            refused([Argument::Image(None, image)].into_iter().chain(outputs).collect())
        };
        assert_eq!(refused_for(part(0), vec![part(50), other.clone()]), "");
        let remedy = "give it memory of its own";
        let found = refused_for(part(0), vec![other.clone(), part(49)]);
        assert_eq!(found, format!("output 1 has memory in common with image `image`; {remedy}"));
        let found = refused_for(other, vec![part(0), part(50), part(20)]);
        assert_eq!(found, format!("output 2 has memory in common with output 0; {remedy}"));
    }
}
