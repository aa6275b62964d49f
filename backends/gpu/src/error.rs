//! Errors of the GPU backend: when kernels are made, when a device is opened, and when it runs them.

use halide_core::types::ScalarType;
use halide_ir::BufId;
use halide_ir::device::DeviceFault;
use std::fmt;

/// A reason that there is no kernel, no device or no result.
#[derive(Clone, PartialEq, Eq)]
pub enum GpuError {
    /// The kernel computes in a type that the device lacks.
    Feature {
        /// The kernel, which is named by its Func.
        kernel: String,
        /// The type.
        ty: ScalarType,
        /// The missing feature.
        feature: Feature,
    },
    /// Threads of the kernel are to be lanes of a subgroup, and the device has no such subgroups.
    Subgroups {
        /// The kernel, which is named by its Func.
        kernel: String,
        /// The number of lanes that the kernel needs.
        lanes: u32,
        /// The number of lanes of the device's subgroups, if that is always the same.
        has: Option<u32>,
    },
    /// No device of this backend can do what the kernel does.
    Unsupported {
        /// The kernel, which is named by its Func.
        kernel: String,
        /// The unsupported operation: `exp of f64`.
        what: String,
        /// The alternative that the message proposes.
        hint: &'static str,
    },
    /// The kernel is not in the form that this backend takes: a bug of whoever made it.
    Malformed {
        /// The kernel, which is named by its Func.
        kernel: String,
        /// The defect.
        what: String,
    },
    /// The shader that was made is not valid: a bug of the code generator.
    Invalid {
        /// The kernel, which is named by its Func.
        kernel: String,
        /// The message of naga.
        reason: String,
    },
    /// A kernel uses more of something than the device has for one kernel.
    Limit {
        /// The kernel, which is named by its Func.
        kernel: String,
        /// The limited resource.
        what: Limit,
        /// The amount that the kernel needs.
        needed: u64,
        /// The most that the device has.
        most: u64,
    },
    /// The driver refused a kernel: a mistake of ours or of the driver.
    Refused {
        /// The kernel, which is named by its Func.
        kernel: String,
        /// The message of the driver.
        reason: String,
    },
    /// There is no such device.
    NoDevice {
        /// The requested device.
        wanted: String,
        /// The devices that there are.
        found: Vec<String>,
    },
    /// A device is there but cannot be used.
    Open {
        /// The device.
        device: String,
        /// The message of its driver.
        reason: String,
    },
    /// A run was given something else than its program takes, or was asked for something that it does not have.
    Argument {
        /// The buffer.
        buf: BufId,
        /// The problem with the buffer.
        reason: String,
    },
    /// A run ended without a result, or memory could not be copied.
    Fault(DeviceFault),
    /// The host has no memory for a result.
    HostMemory {
        /// The size of the result in bytes.
        bytes: u64,
    },
}

/// The resources of which a device has a limited amount for one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    /// Buffers that it uses, and one for its scalars.
    Buffers,
    /// Threads of a block in the given dimension.
    Threads(u8),
    /// Threads of a block in all.
    ThreadsInAll,
    /// Bytes of memory that the threads of a block share.
    SharedBytes,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Buffers => write!(f, "buffers"),
            Limit::Threads(dim) => write!(f, "threads of a block in dimension {dim}"),
            Limit::ThreadsInAll => write!(f, "threads of a block"),
            Limit::SharedBytes => write!(f, "bytes that the threads of a block share"),
        }
    }
}

/// The optional features of a device that a kernel may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// 64-bit integers in shaders.
    Int64,
    /// 64-bit floats in shaders.
    Float64,
}

impl Feature {
    /// Returns its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Feature::Int64 => "64-bit integers in shaders",
            Feature::Float64 => "64-bit floats in shaders",
        }
    }
}

impl GpuError {
    /// Returns advice for the user; `None` for bugs of ours.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            GpuError::Feature { .. } => {
                Some("cast to a narrower type, schedule the Func for the CPU, or use another device")
            }
            GpuError::Subgroups { .. } => Some("use gpu_threads, and store_in(Shared) for what threads exchange"),
            GpuError::Unsupported { hint, .. } => Some(hint),
            GpuError::Limit { what: Limit::Buffers, .. } => {
                Some("compute some of the Funcs that this kernel reads inside of it, so that it reads fewer")
            }
            GpuError::Limit { .. } => Some("use smaller tiles"),
            GpuError::NoDevice { found, .. } if found.is_empty() => {
                Some("install a Vulkan driver (one in software: mesa-vulkan-drivers), or schedule for the CPU")
            }
            GpuError::NoDevice { .. } => Some("name one by a part of its name, or by its number in `halide list`"),
            GpuError::Fault(fault) => match fault {
                DeviceFault::Lost { .. } => Some("open the device again"),
                DeviceFault::OutOfMemory { .. }
                | DeviceFault::BufferTooLarge { .. }
                | DeviceFault::TooManyBlocks { .. }
                | DeviceFault::IndexTooLarge { .. } => Some("compute the result in parts, or on the CPU"),
                DeviceFault::TooManyIterations { .. } => {
                    Some("give more of its loops to gpu_blocks and gpu_threads, or use another device")
                }
                DeviceFault::Refused { .. } => None,
            },
            GpuError::Malformed { .. }
            | GpuError::Invalid { .. }
            | GpuError::Refused { .. }
            | GpuError::Open { .. }
            | GpuError::Argument { .. }
            | GpuError::HostMemory { .. } => None,
        }
    }
}

impl fmt::Display for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GpuError::Feature { kernel, ty, feature } => {
                write!(f, "kernel `{kernel}` computes in {ty}, and the device lacks {}", feature.name())
            }
            GpuError::Subgroups { kernel, lanes, has: Some(has) } => {
                write!(
                    f,
                    "kernel `{kernel}` needs subgroups of {lanes} lanes or a multiple, and the device's have {has}"
                )
            }
            GpuError::Subgroups { kernel, .. } => {
                write!(f, "kernel `{kernel}` has lanes, and the device lacks subgroups of one known size")
            }
            GpuError::Unsupported { kernel, what, .. } => {
                write!(f, "kernel `{kernel}` has {what}, which GPUs do not have")
            }
            GpuError::Malformed { kernel, what } => {
                write!(f, "kernel `{kernel}` is malformed (a bug in halide): {what}")
            }
            GpuError::Invalid { kernel, reason } => {
                write!(f, "the shader of kernel `{kernel}` is not valid (a bug in halide): {reason}")
            }
            GpuError::Limit { kernel, what, needed, most } => {
                write!(f, "kernel `{kernel}` needs {needed} {what}, and the device has {most}")
            }
            GpuError::Refused { kernel, reason } => write!(f, "the driver refused kernel `{kernel}`: {reason}"),
            GpuError::NoDevice { wanted, found } if found.is_empty() => {
                write!(f, "{wanted} was asked for, and no driver of a GPU was found")
            }
            GpuError::NoDevice { wanted, found } => {
                write!(f, "{wanted} was asked for, and there is only {}", found.join(", "))
            }
            GpuError::Open { device, reason } => write!(f, "{device} cannot be used: {reason}"),
            GpuError::Argument { buf, reason } => write!(f, "{buf:?} cannot be used so: {reason}"),
            GpuError::Fault(fault) => fault.fmt(f),
            GpuError::HostMemory { bytes } => write!(f, "the host has no memory for {bytes} bytes of results"),
        }
    }
}

halide_core::debug_is_display!(GpuError);

impl std::error::Error for GpuError {}

impl From<DeviceFault> for GpuError {
    fn from(fault: DeviceFault) -> GpuError {
        GpuError::Fault(fault)
    }
}
