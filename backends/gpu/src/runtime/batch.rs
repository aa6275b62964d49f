//! The work of a run as a list of commands, and its encoding for the device.
//!
//! Recording is cheap and cannot fail; a whole batch is encoded inside one set of error scopes.

use super::gpu::Gpu;
use super::pool::{Slab, Use};
use super::program::Compute;
use super::scopes::{Trouble, caught};
use super::timing::Timing;
use halide_ir::KernelId;
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::Arc;
use wgpu::{BindGroup, BindGroupDescriptor, BindGroupEntry, BindingResource, BufferBinding, Device, SubmissionIndex};

/// Something to be done by the device, after everything before it.
pub(super) enum Command {
    /// Copies whole words.
    Copy { from: Arc<Slab>, from_at: u64, to: Arc<Slab>, to_at: u64, bytes: u64 },
    /// Runs a kernel.
    Dispatch {
        kernel: KernelId,
        compute: Arc<Compute>,
        /// The byte at which its scalars are among those of the batch.
        scalars_at: u32,
        /// Its buffers and how many bytes of each it may access.
        buffers: Arc<[(Arc<Slab>, u64)]>,
        groups: [u32; 3],
    },
}

/// Commands that were not yet handed to the device.
pub(super) struct Batch {
    commands: Vec<Command>,
    /// The scalars of all dispatches.
    scalars: Vec<u32>,
    /// The alignment of the scalars of a dispatch, in words.
    align: usize,
    /// Bytes of staging memory that the commands copy from.
    pub(super) staged: u64,
}

impl Batch {
    pub(super) fn new(gpu: &Gpu) -> Batch {
        let align = gpu.0.limits.min_storage_buffer_offset_alignment as usize / 4;
        Batch { commands: Vec::new(), scalars: Vec::new(), align: align.max(1), staged: 0 }
    }
    pub(super) fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }
    pub(super) fn len(&self) -> usize {
        self.commands.len()
    }
    pub(super) fn copy(&mut self, from: Arc<Slab>, from_at: u64, to: Arc<Slab>, to_at: u64, bytes: u64) {
        if bytes > 0 {
            self.commands.push(Command::Copy { from, from_at, to, to_at, bytes });
        }
    }
    pub(super) fn dispatch(
        &mut self,
        kernel: KernelId,
        compute: Arc<Compute>,
        scalars: &[u32],
        buffers: Arc<[(Arc<Slab>, u64)]>,
        groups: [u32; 3],
    ) {
        let scalars_at = (self.scalars.len() * 4) as u32;
        self.scalars.extend(scalars);
        self.scalars.resize(self.scalars.len().next_multiple_of(self.align), 0);
        self.commands.push(Command::Dispatch { kernel, compute, scalars_at, buffers, groups });
    }

    /// Hands everything to the device; the batch is empty then. What the commands use is kept by wgpu from here on.
    pub(super) async fn submit(&mut self, gpu: &Gpu, timing: Option<&mut Timing>) -> Result<SubmissionIndex, Trouble> {
        let inner = &gpu.0;
        let commands = std::mem::take(&mut self.commands);
        let words = std::mem::take(&mut self.scalars);
        self.staged = 0;
        let scalars = match words.len() {
            0 => None,
            n => Some(inner.pool.take(Use::Kernels, n as u64 * 4).await?),
        };
        let done = caught(&inner.device, || {
            if let Some(slab) = &scalars {
                let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
                inner.queue.write_buffer(&slab.buffer, 0, &bytes);
            }
            let buffer = encode(gpu, &commands, scalars.as_ref(), timing);
            inner.queue.submit([buffer])
        });
        done.await
    }
}

/// A kernel with its bindings: the addresses of its pipeline and of slabs, which the commands keep alive, and the bytes
/// of each.
type Bound = (*const Compute, Vec<(*const Slab, u64)>);

fn encode(
    gpu: &Gpu,
    commands: &[Command],
    scalars: Option<&Slab>,
    mut timing: Option<&mut Timing>,
) -> wgpu::CommandBuffer {
    let device = &gpu.0.device;
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("halide") });
    let mut pass: Option<wgpu::ComputePass<'static>> = None;
    let mut groups: HashMap<Bound, BindGroup> = HashMap::new();
    for command in commands {
        match command {
            Command::Copy { from, from_at, to, to_at, bytes } => {
                pass = None;
                encoder.copy_buffer_to_buffer(&from.buffer, *from_at, &to.buffer, *to_at, *bytes);
            }
            Command::Dispatch { kernel, compute, scalars_at, buffers, groups: blocks } => {
                let Some(scalars) = scalars else { continue };
                let bound = buffers.iter().map(|(slab, bytes)| (Arc::as_ptr(slab), *bytes)).collect();
                let group = groups.entry((Arc::as_ptr(compute), bound));
                let group = group.or_insert_with(|| bind(device, compute, scalars, buffers));
                // Times are those of passes, so what is timed has one of its own.
                let timed = timing.as_mut().and_then(|t| t.next(*kernel));
                if timed.is_some() {
                    pass = None;
                }
                let pass = pass.get_or_insert_with(|| {
                    let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes: timed };
                    encoder.begin_compute_pass(&descriptor).forget_lifetime()
                });
                pass.set_pipeline(&compute.pipeline.pipeline);
                pass.set_bind_group(0, &*group, &[*scalars_at]);
                pass.dispatch_workgroups(blocks[0], blocks[1], blocks[2]);
            }
        }
    }
    drop(pass);
    if let Some(timing) = timing {
        timing.resolve(&mut encoder);
    }
    encoder.finish()
}

/// The bindings of a dispatch: the scalars, whose place comes with it, and the buffers.
fn bind(device: &Device, compute: &Compute, scalars: &Slab, buffers: &[(Arc<Slab>, u64)]) -> BindGroup {
    let entry = |binding: usize, buffer, bytes: u64| BindGroupEntry {
        binding: binding as u32,
        resource: BindingResource::Buffer(BufferBinding { buffer, offset: 0, size: NonZeroU64::new(bytes) }),
    };
    let first = entry(0, &scalars.buffer, u64::from(compute.layout.words) * 4);
    let rest = buffers.iter().enumerate().map(|(i, (slab, bytes))| entry(1 + i, &slab.buffer, *bytes));
    let entries: Vec<BindGroupEntry<'_>> = std::iter::once(first).chain(rest).collect();
    device.create_bind_group(&BindGroupDescriptor {
        label: None,
        layout: &compute.pipeline.bindings,
        entries: &entries,
    })
}
