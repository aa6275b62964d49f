//! From a shader to something that a device can run: the only unsafe code of the runtime.
//!
//! **Checks in shaders.** wgpu can add three kinds. Of bounds: kept. What the code generator emits is proven to be
//! inside, but a load may be done before the condition that guards it, and drivers may do so too; it must not fault. On
//! Vulkan with `robustBufferAccess2`, Metal and D3D12 this costs nothing or little for buffers. Of loops that never
//! end: left out, since they put a counter into every loop, and ours count up to an extent. Of divisions: kept, since
//! the code generator counts on the meaning that they give to a division by zero.

#![allow(unsafe_code)]

use super::cache::{Pipeline, PipelineKey};
use super::clock::Moment;
use super::gpu::Gpu;
use super::scopes::caught;
use crate::codegen::KernelCode;
use crate::error::{GpuError, Limit};
use halide_ir::device::DeviceFault;
use std::borrow::Cow;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;
use wgpu::{
    BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType, BufferBindingType, ComputePipelineDescriptor,
    PipelineCompilationOptions, PipelineLayoutDescriptor, ShaderModuleDescriptor, ShaderRuntimeChecks, ShaderSource,
    ShaderStages,
};

/// A pipeline for a kernel, and how long it took to get it: the driver compiles it, after a check that the device has
/// enough of everything for it, unless it has before.
pub(super) async fn compile(
    gpu: &Gpu,
    code: &KernelCode,
    shared_words: u32,
) -> Result<(Arc<Pipeline>, Duration), GpuError> {
    check_limits(gpu, code, shared_words)?;
    let started = Moment::now();
    let source = PipelineKey::of_code(code);
    if let Some(known) = source.as_ref().and_then(|source| gpu.0.cache.find(source)) {
        gpu.0.check()?;
        return Ok((known, started.elapsed()));
    }
    let pipeline = Arc::new(create(gpu, code).await?);
    gpu.0.check()?;
    if let Some(source) = source {
        gpu.0.cache.keep(source, pipeline.clone());
    }
    Ok((pipeline, started.elapsed()))
}

async fn create(gpu: &Gpu, code: &KernelCode) -> Result<Pipeline, GpuError> {
    let device = &gpu.0.device;
    let made = caught(device, || {
        let descriptor = ShaderModuleDescriptor {
            label: Some(&code.name),
            source: ShaderSource::Naga(Cow::Owned(code.module.clone())),
        };
        let checks = ShaderRuntimeChecks { force_loop_bounding: false, ..ShaderRuntimeChecks::checked() };
        // SAFETY: the only check that is left out is that loops end, and the code generator makes loops of `For`s only,
        // which count from 0 to an extent that is known before they start.
        let module = unsafe { device.create_shader_module_trusted(descriptor, checks) };
        let bindings = device
            .create_bind_group_layout(&BindGroupLayoutDescriptor { label: Some(&code.name), entries: &entries(code) });
        let layout = device.create_pipeline_layout(&PipelineLayoutDescriptor {
            label: Some(&code.name),
            bind_group_layouts: &[Some(&bindings)],
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&ComputePipelineDescriptor {
            label: Some(&code.name),
            layout: Some(&layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: PipelineCompilationOptions {
                constants: &[],
                // Every element is written before it is read, as the checks of the loop IR say.
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        });
        (pipeline, bindings)
    });
    let (pipeline, bindings) = made.await.map_err(|trouble| match gpu.0.fault(trouble) {
        DeviceFault::Refused { reason } => GpuError::Refused { kernel: code.name.clone(), reason },
        other => GpuError::Fault(other),
    })?;
    Ok(Pipeline { pipeline, bindings })
}

fn check_limits(gpu: &Gpu, code: &KernelCode, shared_words: u32) -> Result<(), GpuError> {
    let (has, limits) = (gpu.limits(), &gpu.0.limits);
    let check = |what: Limit, needed: u64, most: u32| {
        let most = u64::from(most);
        if needed <= most {
            return Ok(());
        }
        Err(GpuError::Limit { kernel: code.name.clone(), what, needed, most })
    };
    let buffers = code.layout.bindings.len() as u64 + 1;
    check(
        Limit::Buffers,
        buffers,
        limits.max_storage_buffers_per_shader_stage.min(limits.max_bindings_per_bind_group),
    )?;
    for (dim, (&needed, most)) in code.workgroup.iter().zip(has.most_threads).enumerate() {
        check(Limit::Threads(dim as u8), needed.into(), most)?;
    }
    check(Limit::ThreadsInAll, code.workgroup.iter().map(|&n| u64::from(n)).product(), has.most_threads_in_all)?;
    check(Limit::SharedBytes, u64::from(shared_words) * 4, has.shared_bytes)
}

/// The scalars, whose place in their buffer is told with each dispatch, and the kernel's buffers.
fn entries(code: &KernelCode) -> Vec<BindGroupLayoutEntry> {
    let entry = |binding: usize, read_only: bool, dynamic: bool, least: u64| BindGroupLayoutEntry {
        binding: binding as u32,
        visibility: ShaderStages::COMPUTE,
        ty: BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only },
            has_dynamic_offset: dynamic,
            min_binding_size: NonZeroU64::new(least),
        },
        count: None,
    };
    let scalars = entry(0, true, true, u64::from(code.layout.words) * 4);
    let buffers = code.layout.bindings.iter().enumerate().map(|(i, b)| entry(1 + i, !b.written, false, 4));
    std::iter::once(scalars).chain(buffers).collect()
}
