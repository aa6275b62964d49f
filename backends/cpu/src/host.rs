//! The machine this process runs on, as a Cranelift instruction set.

use crate::error::CpuError;
use crate::options::CpuOptions;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use halide_ir::features::{CpuFeature, CpuFeatures};

/// Extensions that Cranelift uses, and its flags for them.
#[cfg(target_arch = "x86_64")]
const FLAGS: [(CpuFeature, &str); 11] = [
    (CpuFeature::Popcnt, "has_popcnt"),
    (CpuFeature::Lzcnt, "has_lzcnt"),
    (CpuFeature::Bmi1, "has_bmi1"),
    (CpuFeature::Bmi2, "has_bmi2"),
    (CpuFeature::Avx, "has_avx"),
    (CpuFeature::Avx2, "has_avx2"),
    (CpuFeature::Fma, "has_fma"),
    (CpuFeature::Avx512f, "has_avx512f"),
    (CpuFeature::Avx512dq, "has_avx512dq"),
    (CpuFeature::Avx512vl, "has_avx512vl"),
    (CpuFeature::Avx512vbmi, "has_avx512vbmi"),
];

/// The work that Cranelift puts into a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Effort {
    /// It optimises, and tries again and again until little is spilled, in time that grows faster than the code.
    Full,
    /// It optimises, and assigns registers in one pass: for what is
    /// [`ONE_PASS_INSTRUCTIONS`](crate::tuning::ONE_PASS_INSTRUCTIONS).
    OnePass,
    /// It does neither: for what only leads to kernels and tasks.
    Little,
}

impl Effort {
    /// Cranelift's flags for it.
    fn flags(self) -> [(&'static str, &'static str); 2] {
        let (level, algorithm) = match self {
            Effort::Full => ("speed", "backtracking"),
            Effort::OnePass => ("speed", "single_pass"),
            Effort::Little => ("none", "single_pass"),
        };
        [("opt_level", level), ("regalloc_algorithm", algorithm)]
    }
}

/// All that code depends on beside its program, as text: the options, the extensions of this machine, and what
/// Cranelift makes of both.
pub fn machine_text(options: &CpuOptions) -> Result<String, CpuError> {
    let isa = host_isa(options.features, Effort::Full)?;
    let (settings, flags) = (isa.flags(), isa.isa_flags());
    let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
    Ok(format!("{} {options:?} {} {settings} {}", isa.triple(), CpuFeatures::host(), flags.join(" ")))
}

/// The code generator for this machine, of whose extensions it uses these, or all. The verifier is a check on
/// ourselves, so it runs in debug builds.
pub(crate) fn host_isa(features: Option<CpuFeatures>, effort: Effort) -> Result<OwnedTargetIsa, CpuError> {
    let host = |why: &dyn std::fmt::Display| CpuError::Host(why.to_string());
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    let general = [
        ("enable_verifier", verify),
        ("is_pic", "false"),
        // Runtime functions may be anywhere in the address space.
        ("use_colocated_libcalls", "false"),
        // Loop heads of small kernels profit from functions that start on a fetch boundary.
        ("log2_min_function_alignment", "5"),
        // No frame steps over a guard page: each page is touched on entry, in order. Pages of 4 KiB are the smallest
        // there are.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("probestack_size_log2", "12"),
        ("unwind_info", "false"),
    ];
    for (name, value) in general.into_iter().chain(effort.flags()) {
        flags.set(name, value).map_err(|e| host(&e))?;
    }
    let mut builder = cranelift_native::builder().map_err(|e| host(&e))?;
    #[cfg(target_arch = "x86_64")]
    if features.is_some() {
        // An extension of which there is no feature.
        builder.set("has_avx512bitalg", "false").map_err(|e| host(&e))?;
    }
    #[cfg(target_arch = "x86_64")]
    for (_, flag) in FLAGS.iter().filter(|(feature, _)| features.is_some_and(|f| !f.has(*feature))) {
        builder.set(flag, "false").map_err(|e| host(&e))?;
    }
    let isa = builder.finish(settings::Flags::new(flags)).map_err(|e| host(&e))?;
    #[cfg(target_arch = "x86_64")]
    if !std::is_x86_feature_detected!("sse4.1") {
        return Err(CpuError::Host("x86-64 without SSE4.1".into()));
    }
    Ok(isa)
}
