//! Slots whose contents are on a device: a step that kernels compute leaves them there for the next one, and they are
//! copied when host code or the caller asks for them.

use super::bind::BoundStep;
use crate::compiled::Compiled;
use crate::error::Error;
use crate::run_options::How;
use halide_core::buffer::AnyBuffer;

/// The contents of a slot on a device. Builds without devices have none.
#[derive(Clone)]
pub(crate) struct Resident {
    #[cfg(all(feature = "cpu", feature = "gpu"))]
    buffer: halide_gpu::runtime::DeviceBuffer,
    #[cfg(not(all(feature = "cpu", feature = "gpu")))]
    none: std::convert::Infallible,
}

impl Resident {
    /// Copies the contents to the host, once for all clones; also says if that was done now.
    pub(crate) fn to_host(&self) -> Result<(AnyBuffer, bool), Error> {
        #[cfg(all(feature = "cpu", feature = "gpu"))]
        {
            let is_new = !self.buffer.has_host_copy();
            Ok((self.buffer.to_host()?, is_new))
        }
        #[cfg(not(all(feature = "cpu", feature = "gpu")))]
        match self.none {}
    }
}

impl std::fmt::Debug for Resident {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Resident")
    }
}

/// Returns true if a step may read and leave slots on a device. Where something is checked of the values of an input,
/// or may be asked of the interpreter, they are needed on the host.
pub(super) fn may_reside(bound: &BoundStep, compiled: &Compiled) -> bool {
    #[cfg(all(feature = "cpu", feature = "gpu"))]
    {
        use crate::engine::Machine;
        let machine = compiled.parts.variants.as_ref().map(|variants| variants.machine());
        let pipeline = compiled.pipeline();
        matches!(machine, Some(Machine::Gpu(_)))
            && compiled.parts.whole.is_none()
            && pipeline.notes.is_empty()
            && pipeline.shapes.is_empty()
            && pipeline.alignments.is_empty()
            && pipeline.images.iter().all(|image| !image.is_promised())
            && bound.outputs.iter().all(|output| !output.keeps)
    }
    #[cfg(not(all(feature = "cpu", feature = "gpu")))]
    {
        let _ = (bound, compiled);
        false
    }
}

/// The outputs of a step that stayed on the device.
#[derive(Default)]
pub(crate) struct Taken {
    #[cfg(all(feature = "cpu", feature = "gpu"))]
    residents: Option<crate::residents::Residents>,
}

impl Taken {
    /// Takes them when the step has run: each with its number.
    pub(crate) fn take(self) -> Vec<(usize, Resident)> {
        #[cfg(all(feature = "cpu", feature = "gpu"))]
        {
            let all = self.residents.map_or_else(Vec::new, |residents| residents.take());
            all.into_iter().map(|(number, buffer)| (number, Resident { buffer })).collect()
        }
        #[cfg(not(all(feature = "cpu", feature = "gpu")))]
        Vec::new()
    }
}

/// The options of a step that may read `inputs` on the device and leave outputs there.
pub(crate) fn with_residents(how: &How, inputs: Vec<(String, Resident)>) -> (How, Taken) {
    #[cfg(all(feature = "cpu", feature = "gpu"))]
    {
        let inputs = inputs.into_iter().map(|(name, resident)| (name, resident.buffer)).collect();
        let residents = Some(crate::residents::Residents::new(inputs));
        (How { residents: residents.clone(), ..how.clone() }, Taken { residents })
    }
    #[cfg(not(all(feature = "cpu", feature = "gpu")))]
    {
        let _ = inputs;
        (how.clone(), Taken::default())
    }
}
