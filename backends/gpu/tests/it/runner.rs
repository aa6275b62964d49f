//! Runs one shader on whatever device there is, as simply as can be: the results of tests need a driver.

use halide_gpu::codegen::{Features, KernelCode, Part};
use halide_skips::{Need, skip};
use std::borrow::Cow;
use std::sync::{Mutex, OnceLock};

/// The device that tests run on.
pub(crate) struct Runner {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pub(crate) features: Features,
    /// One run at a time: on a machine without a GPU the driver takes all cores for itself. Shaders, which take most of
    /// the time, are compiled side by side.
    turn: Mutex<()>,
}

/// The device, or `None` where there is none, and the test skips what needs it.
pub(crate) fn runner() -> Option<&'static Runner> {
    static RUNNER: OnceLock<Result<Runner, String>> = OnceLock::new();
    let runner = RUNNER.get_or_init(|| pollster::block_on(open()));
    runner.as_ref().inspect_err(|why| skip(Need::Device, why)).ok()
}

async fn open() -> Result<Runner, String> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = instance.request_adapter(&wgpu::RequestAdapterOptions::default()).await.map_err(|e| e.to_string())?;
    let has = |f| adapter.features().contains(f);
    let features =
        Features { int64: has(wgpu::Features::SHADER_INT64), float64: has(wgpu::Features::SHADER_F64), subgroup: None };
    let wanted = wgpu::DeviceDescriptor {
        required_features: adapter.features() & (wgpu::Features::SHADER_INT64 | wgpu::Features::SHADER_F64),
        required_limits: adapter.limits(),
        ..wgpu::DeviceDescriptor::default()
    };
    let (device, queue) = adapter.request_device(&wanted).await.map_err(|e| e.to_string())?;
    Ok(Runner { device, queue, features, turn: Mutex::new(()) })
}

impl Runner {
    /// Runs the parts of a grid, each with its scalars, over buffers of the bytes of `memory`; gives what is in them
    /// then.
    pub(crate) fn run(&self, code: &KernelCode, parts: &[(Part, Vec<u32>)], memory: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(&code.name),
            source: wgpu::ShaderSource::Naga(Cow::Owned(code.module.clone())),
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(&code.name),
            layout: Some(&self.layout(code)),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let _turn = self.turn.lock().unwrap_or_else(|e| e.into_inner());
        let buffers: Vec<wgpu::Buffer> = memory.iter().map(|bytes| self.buffer(bytes)).collect();
        for (part, scalars) in parts {
            let words: Vec<u8> = scalars.iter().flat_map(|w| w.to_le_bytes()).collect();
            let scalars = self.buffer(&words);
            let entries: Vec<wgpu::BindGroupEntry<'_>> = (0..)
                .zip([&scalars].into_iter().chain(&buffers))
                .map(|(binding, b)| wgpu::BindGroupEntry { binding, resource: b.as_entire_binding() })
                .collect();
            let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.get_bind_group_layout(0),
                entries: &entries,
            });
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&pipeline);
                pass.set_bind_group(0, &group, &[]);
                pass.dispatch_workgroups(part.count[0], part.count[1], part.count[2]);
            }
            self.queue.submit([encoder.finish()]);
        }
        let results = buffers.iter().zip(memory).map(|(b, bytes)| self.read(b, bytes.len())).collect();
        if let Some(error) = pollster::block_on(scope.pop()) {
            panic!("{}: {error}", code.name);
        }
        results
    }

    fn layout(&self, code: &KernelCode) -> wgpu::PipelineLayout {
        let read_only = [true].into_iter().chain(code.layout.bindings.iter().map(|b| !b.written));
        let entries: Vec<wgpu::BindGroupLayoutEntry> = (0..)
            .zip(read_only)
            .map(|(binding, read_only)| wgpu::BindGroupLayoutEntry {
                binding,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Storage { read_only },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            })
            .collect();
        let group =
            self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&group)],
            immediate_size: 0,
        })
    }
    /// A buffer of these bytes, rounded up to a word.
    fn buffer(&self, bytes: &[u8]) -> wgpu::Buffer {
        let size = (bytes.len().max(1) as u64).next_multiple_of(4);
        let b = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut padded = bytes.to_vec();
        padded.resize(size as usize, 0);
        self.queue.write_buffer(&b, 0, &padded);
        b
    }
    fn read(&self, b: &wgpu::Buffer, len: usize) -> Vec<u8> {
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: b.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(b, 0, &staging, 0, b.size());
        self.queue.submit([encoder.finish()]);
        staging.map_async(wgpu::MapMode::Read, .., |r| r.expect("it can be mapped"));
        self.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device answers");
        let mut bytes = staging.get_mapped_range(..).expect("it is mapped").to_vec();
        bytes.truncate(len);
        bytes
    }
}
