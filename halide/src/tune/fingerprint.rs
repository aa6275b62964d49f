//! Short names of long texts, equal wherever they are computed.

use crate::machine_file;
use halide_auto::Complete;
use halide_core::pipeline::Pipeline;
use halide_ir::machine::Machine;
use halide_ir::target::Target;
use std::fmt::Write;

/// The circumstances in which a schedule was measured: times of others say nothing about these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuneKey {
    /// The fingerprint of the algorithm's text, in 16 digits.
    pub pipeline: String,
    /// The sizes of outputs, and of inputs that were said, and the values of parameters.
    pub shapes: String,
    /// The instructions that code may use.
    pub target: String,
    /// The fingerprint of the machine that this runs on.
    pub machine: String,
    /// The number of threads.
    pub threads: u32,
    /// The version of halide.
    pub halide: String,
}

impl TuneKey {
    pub(super) fn new(pipeline: &Pipeline, target: &Target, sizes: &Complete) -> TuneKey {
        let machine = machine_file::write(&Machine::host()).unwrap_or_default();
        TuneKey {
            pipeline: fingerprint(&pipeline.to_string()),
            shapes: shapes(pipeline, sizes),
            target: target_text(target),
            machine: fingerprint(&machine),
            threads: target.threads,
            halide: env!("CARGO_PKG_VERSION").to_string(),
        }
    }
}

/// Returns the hash FNV-1a of a text in 16 digits, the same on every machine: of an algorithm's text, say, to find out
/// that it has changed.
///
/// ```
/// use halide::prelude::*;
/// use halide::tune::fingerprint;
/// let ramp = |step: i32| {
///     let x = Var::new("x");
///     let mut ramp = Func::new("ramp");
///     ramp[x] = x * step;
///     Pipeline::new([&ramp])
/// };
/// let of = |step| Ok::<String, Error>(fingerprint(&ramp(step)?.to_string()));
/// assert_eq!(of(2)?, of(2)?);
/// assert_ne!(of(2)?, of(3)?);
/// # Ok::<(), Error>(())
/// ```
pub fn fingerprint(text: &str) -> String {
    let hash = text
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3));
    format!("{hash:016x}")
}

fn shapes(pipeline: &Pipeline, sizes: &Complete) -> String {
    let mut parts = Vec::new();
    for (id, region) in pipeline.outputs.iter().zip(&sizes.regions) {
        parts.push(format!("{}{region}", pipeline.funcs[*id].name));
    }
    for (id, region) in sizes.images.enumerate() {
        if let Some(region) = region {
            parts.push(format!("{}{region}", pipeline.images[id].name));
        }
    }
    for (id, value) in sizes.params.enumerate() {
        parts.push(format!("{}={value}", pipeline.params[id].name));
    }
    parts.join(" ")
}

fn target_text(target: &Target) -> String {
    let mut text = format!("{:?} {} bits", target.arch, target.vector_bits).to_lowercase();
    if let Some(features) = &target.features {
        let _ = write!(text, " {features}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::fingerprint;

    #[test]
    fn fingerprints_are_fnv_1a() {
        // From the page of its authors.
        assert_eq!(fingerprint(""), "cbf29ce484222325");
        assert_eq!(fingerprint("foobar"), "85944171f73967e8");
    }
}
