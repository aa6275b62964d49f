//! Why a kernel could not be compiled.

use halide_core::types::ScalarType;
use std::fmt;

/// Why there is no shader for a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GpuError {
    /// The kernel computes in a type that the device lacks.
    Feature {
        /// The kernel, which is named by its Func.
        kernel: String,
        /// The type.
        ty: ScalarType,
        /// What the device would need.
        feature: Feature,
    },
    /// No device of this backend can do what the kernel does.
    Unsupported {
        /// The kernel, which is named by its Func.
        kernel: String,
        /// What it does: `exp of f64`.
        what: String,
        /// What to do instead.
        hint: &'static str,
    },
    /// The kernel is not in the form that this backend takes: a bug of whoever made it.
    Malformed {
        /// The kernel, which is named by its Func.
        kernel: String,
        /// What is wrong.
        what: String,
    },
    /// The shader that was made is not valid: a bug of the code generator.
    Invalid {
        /// The kernel, which is named by its Func.
        kernel: String,
        /// What naga says.
        reason: String,
    },
}

/// What a device may be able to do and a kernel may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// 64-bit integers in shaders.
    Int64,
    /// 64-bit floats in shaders.
    Float64,
}

impl Feature {
    /// What it is called in messages.
    pub fn name(self) -> &'static str {
        match self {
            Feature::Int64 => "64-bit integers in shaders",
            Feature::Float64 => "64-bit floats in shaders",
        }
    }
}

impl GpuError {
    /// What the user can do about it; `None` for bugs of ours.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            GpuError::Feature { .. } => {
                Some("cast to a narrower type, schedule the Func for the CPU, or use another device")
            }
            GpuError::Unsupported { hint, .. } => Some(hint),
            GpuError::Malformed { .. } | GpuError::Invalid { .. } => None,
        }
    }
}

impl fmt::Display for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GpuError::Feature { kernel, ty, feature } => {
                write!(f, "kernel `{kernel}` computes in {ty}, and the device lacks {}", feature.name())
            }
            GpuError::Unsupported { kernel, what, .. } => {
                write!(f, "kernel `{kernel}` has {what}, which graphics processors do not have")
            }
            GpuError::Malformed { kernel, what } => {
                write!(f, "kernel `{kernel}` is malformed (a bug in halide): {what}")
            }
            GpuError::Invalid { kernel, reason } => {
                write!(f, "the shader of kernel `{kernel}` is not valid (a bug in halide): {reason}")
            }
        }
    }
}

impl std::error::Error for GpuError {}
