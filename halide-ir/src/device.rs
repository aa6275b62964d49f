//! The requests of host code to an accelerator: one of the two places where a lower layer calls a higher one.
//!
//! A [`Device`] serves one run of one program. Each buffer that kernels use has a copy on the device, made when it is
//! first needed there, and the device knows which copy is the newest; host code says what it does by `Stmt::Reside`.
//! Inputs and outputs are introduced by whoever starts the run; allocations by [`Device::begin`].

use crate::buffer_info::Residency;
use crate::program::Program;
use crate::sym::{BufId, KernelId};
use std::fmt;

/// An accelerator during one run.
pub trait Device: Send {
    /// An allocation of `bytes` begins (again, in a loop): neither copy holds anything.
    fn begin(&mut self, buf: BufId, bytes: u64) -> Result<(), DeviceFault>;
    /// An allocation ends. Kernels that were dispatched may still use it.
    fn end(&mut self, buf: BufId);
    /// Runs `kernel` over `grid` blocks (one extent per block loop, innermost first; an extent <= 0 is no block), after
    /// everything dispatched before. `scalars` are the bits of its captures and then of its parameters, 64 bits each
    /// (an Index is an i64; other values are zero-extended). `memory` is the host's copy of each of its buffers, in
    /// order; empty for inputs, which whoever started the run has given, and for what is on the device only. Returns at
    /// once.
    fn dispatch(
        &mut self,
        kernel: KernelId,
        grid: &[i64],
        scalars: &[u64],
        memory: &[&[u8]],
    ) -> Result<(), DeviceFault>;
    /// Makes `what` so for a buffer whose copy on the host is `memory` (empty as for `dispatch`). `OnHost` waits for
    /// the kernels that write it.
    fn reside(&mut self, buf: BufId, what: Residency, memory: &mut [u8]) -> Result<(), DeviceFault>;
}

/// A reason for which a device ended a run.
#[derive(Clone, PartialEq, Eq)]
pub enum DeviceFault {
    /// The device is gone: it was reset or removed, or its driver gave up. What was on it is lost.
    Lost {
        /// The driver's message.
        reason: String,
    },
    /// The device has no memory left for a buffer.
    OutOfMemory {
        /// The buffer.
        buf: BufId,
        /// The number of bytes that it needs.
        bytes: u64,
    },
    /// A buffer is larger than what kernels can be given.
    BufferTooLarge {
        /// The buffer.
        buf: BufId,
        /// The number of bytes that it needs.
        bytes: u64,
        /// The most that a buffer may have.
        most: u64,
    },
    /// A kernel would need more blocks than the device can number.
    TooManyBlocks {
        /// The kernel.
        kernel: KernelId,
        /// The number of blocks in all.
        blocks: u64,
        /// The most there may be.
        most: u64,
    },
    /// For arguments of this size, coordinates in a kernel would leave the 32 bits that it computes them in.
    IndexTooLarge {
        /// The kernel.
        kernel: KernelId,
    },
    /// One thread of a kernel would run more iterations of its loops than the driver lets it: it would be stopped, and
    /// its results would be wrong.
    TooManyIterations {
        /// The kernel.
        kernel: KernelId,
        /// The number of iterations that one thread would run.
        iterations: u64,
        /// The most the driver allows.
        most: u64,
    },
    /// The driver refused what we asked: a mistake of ours or of the driver.
    Refused {
        /// The driver's message.
        reason: String,
    },
}

impl DeviceFault {
    /// The text with the names that `program` gives to buffers and kernels.
    pub fn message(&self, program: &Program) -> String {
        let buffer = |buf: &BufId| program.buffers.get(*buf).map_or(format!("{buf:?}"), |b| format!("`{}`", b.name));
        let kernel =
            |k: &KernelId| program.kernels.get(*k).map_or(format!("{k:?}"), |k| format!("kernel `{}`", k.name));
        self.text(&buffer, &kernel)
    }

    fn text(&self, buffer: &dyn Fn(&BufId) -> String, kernel: &dyn Fn(&KernelId) -> String) -> String {
        match self {
            DeviceFault::Lost { reason } => format!("the device was lost: {reason}"),
            DeviceFault::OutOfMemory { buf, bytes } => {
                format!("the device has no memory left for {}, which needs {bytes} bytes", buffer(buf))
            }
            DeviceFault::BufferTooLarge { buf, bytes, most } => {
                let name = buffer(buf);
                format!("{name} needs {bytes} bytes, and the device's kernels can use {most} of one buffer")
            }
            DeviceFault::TooManyBlocks { kernel: k, blocks, most } => {
                format!("{} needs {blocks} blocks, and the device can run {most}", kernel(k))
            }
            DeviceFault::IndexTooLarge { kernel: k } => {
                let name = kernel(k);
                format!("{name} computes coordinates in 32 bits, which are too few for buffers of this size")
            }
            DeviceFault::TooManyIterations { kernel: k, iterations, most } => {
                let name = kernel(k);
                format!(
                    "a thread of {name} may run {iterations} iterations of its loops, and the driver stops it after {most}"
                )
            }
            DeviceFault::Refused { reason } => format!("the device refused: {reason}"),
        }
    }
}

impl fmt::Display for DeviceFault {
    /// The message with numbers instead of names, for those who have no program at hand.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&|buf| format!("{buf:?}"), &|kernel| format!("{kernel:?}")))
    }
}

halide_core::debug_is_display!(DeviceFault);

impl std::error::Error for DeviceFault {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::blur_bounded;
    use expect_test::expect;

    #[test]
    fn every_fault_names_what_is_wrong() {
        let program = blur_bounded(false);
        let (buf, kernel, reason) = (BufId(0), KernelId(3), "R".to_string());
        let faults = [
            DeviceFault::Lost { reason: reason.clone() },
            DeviceFault::OutOfMemory { buf, bytes: 4096 },
            DeviceFault::BufferTooLarge { buf, bytes: 4096, most: 1024 },
            DeviceFault::TooManyBlocks { kernel, blocks: 70_000, most: 65_535 },
            DeviceFault::IndexTooLarge { kernel },
            DeviceFault::TooManyIterations { kernel, iterations: 70_000, most: 65_535 },
            DeviceFault::Refused { reason },
        ];
        let texts: Vec<String> = faults.iter().map(|f| f.message(&program)).collect();
        expect![[r#"
            the device was lost: R
            the device has no memory left for `input`, which needs 4096 bytes
            `input` needs 4096 bytes, and the device's kernels can use 1024 of one buffer
            kernel3 needs 70000 blocks, and the device can run 65535
            kernel3 computes coordinates in 32 bits, which are too few for buffers of this size
            a thread of kernel3 may run 70000 iterations of its loops, and the driver stops it after 65535
            the device refused: R"#]]
        .assert_eq(&texts.join("\n"));
        assert_eq!(faults[1].to_string(), "the device has no memory left for b0, which needs 4096 bytes");
    }
}
