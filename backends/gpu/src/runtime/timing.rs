//! Times of kernels on the device's own clock.

use super::gpu::Gpu;
use super::pool::{Slab, Use};
use super::scopes::{Trouble, caught};
use super::wait::Mapping;
use crate::tuning::TIMED_KERNELS;
use halide_core::ids::IdVec;
use halide_ir::device::DeviceFault;
use halide_ir::{Kernel, KernelId};
use std::sync::Arc;
use std::time::Duration;
use wgpu::{CommandEncoder, ComputePassTimestampWrites, QuerySet, QuerySetDescriptor, QueryType};

/// The times of one submission.
pub(super) struct Timing {
    queries: QuerySet,
    resolved: Slab,
    copied: Slab,
    kernels: Vec<KernelId>,
}

impl Timing {
    pub(super) async fn new(gpu: &Gpu) -> Result<Timing, Trouble> {
        let inner = &gpu.0;
        let bytes = u64::from(TIMED_KERNELS) * 16;
        let (resolved, copied) =
            (inner.pool.take(Use::Times, bytes).await?, inner.pool.take(Use::Download, bytes).await?);
        let made = caught(&inner.device, || {
            inner.device.create_query_set(&QuerySetDescriptor {
                label: None,
                ty: QueryType::Timestamp,
                count: 2 * TIMED_KERNELS,
            })
        });
        Ok(Timing { queries: made.await?, resolved, copied, kernels: Vec::new() })
    }
    /// Reserves the places for the times of the next kernel's pass; `None` if no place is left.
    pub(super) fn next(&mut self, kernel: KernelId) -> Option<ComputePassTimestampWrites<'_>> {
        let at = self.kernels.len() as u32;
        if at == TIMED_KERNELS {
            return None;
        }
        self.kernels.push(kernel);
        Some(ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(2 * at),
            end_of_pass_write_index: Some(2 * at + 1),
        })
    }
    /// Copies the times to where the host can read them.
    pub(super) fn resolve(&self, encoder: &mut CommandEncoder) {
        let count = 2 * self.kernels.len() as u32;
        if count > 0 {
            encoder.resolve_query_set(&self.queries, 0..count, &self.resolved.buffer, 0);
            encoder.copy_buffer_to_buffer(&self.resolved.buffer, 0, &self.copied.buffer, 0, u64::from(count) * 8);
        }
    }
    /// Adds up the times per kernel, in the order of their first runs.
    pub(super) async fn read(
        self,
        gpu: &Gpu,
        kernels: &IdVec<KernelId, Kernel>,
        sums: &mut Vec<(String, Duration)>,
    ) -> Result<(), DeviceFault> {
        let tick = f64::from(gpu.0.tick.unwrap_or(1.0));
        let Timing { copied, kernels: ran, .. } = self;
        let mapping = Mapping::ask(&gpu.0, Arc::new(copied));
        mapping
            .read(&gpu.0, |bytes| {
                for (id, times) in ran.iter().zip(bytes.as_chunks::<16>().0) {
                    let (start, end) = times.split_at(8);
                    let ticks = |b: &[u8]| b.iter().rev().fold(0u64, |t, b| t << 8 | u64::from(*b));
                    let took = Duration::from_nanos((ticks(end).saturating_sub(ticks(start)) as f64 * tick) as u64);
                    let name = &kernels[*id].name;
                    match sums.iter_mut().find(|(known, _)| known == name) {
                        Some((_, sum)) => *sum += took,
                        None => sums.push((name.clone(), took)),
                    }
                }
            })
            .await
    }
}
