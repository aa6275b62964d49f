//! An open device.

use super::cache::Cache;
use super::choice::{Choice, DeviceInfo, DeviceKind};
use super::health::Health;
use super::pool::Pool;
use super::scopes::Trouble;
use crate::codegen::Features;
use crate::error::GpuError;
use crate::tuning::LOST_POLLS;
use halide_ir::device::DeviceFault;
use halide_ir::machine::GpuSpeed;
use halide_ir::target;
use std::fmt;
use std::sync::Arc;
use wgpu::{Adapter, Backends, DeviceType, Instance, InstanceDescriptor, InstanceFlags, Limits, PollType};

/// An open device. Clones share it, and it may be used from many threads at once.
#[derive(Clone)]
pub struct Gpu(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) limits: Limits,
    pub(super) health: Arc<Health>,
    pub(super) pool: Arc<Pool>,
    pub(super) cache: Cache,
    info: DeviceInfo,
    features: Features,
    /// Nanoseconds per tick of its clock, if kernels can be timed.
    pub(super) tick: Option<f32>,
}

/// The devices of this machine, in the order in which [`Choice::Index`] counts them. In a browser the one that it
/// offers.
pub async fn list_devices_async() -> Vec<DeviceInfo> {
    adapters().await.iter().map(describe).collect()
}

impl Gpu {
    /// Opens a device with all that it offers: its own limits, and the types that it computes in.
    pub async fn open_async(choice: &Choice) -> Result<Gpu, GpuError> {
        let adapters = adapters().await;
        let infos: Vec<DeviceInfo> = adapters.iter().map(describe).collect();
        let Some(at) = choice.find(&infos) else {
            let found = infos.iter().map(ToString::to_string).collect();
            return Err(GpuError::NoDevice { wanted: choice.to_string(), found });
        };
        let (adapter, info) = (&adapters[at], infos[at].clone());
        let types = wgpu::Features::SHADER_F64 | wgpu::Features::SHADER_INT64;
        let wanted = types | wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::SUBGROUP;
        let has = adapter.features() & wanted;
        let limits = limits_of(adapter);
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("halide"),
            required_features: has,
            required_limits: limits.clone(),
            ..wgpu::DeviceDescriptor::default()
        };
        let opened = adapter.request_device(&descriptor).await;
        let (device, queue) = opened.map_err(|e| GpuError::Open { device: info.to_string(), reason: e.to_string() })?;
        let health = Arc::new(Health::default());
        let (told_lost, told_error) = (health.clone(), health.clone());
        device.set_device_lost_callback(move |reason, text| {
            told_lost.set_lost(if text.is_empty() { format!("{reason:?}").to_lowercase() } else { text });
        });
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| told_error.set_uncaught(error.to_string())));
        let tick = has.contains(wgpu::Features::TIMESTAMP_QUERY).then(|| queue.get_timestamp_period());
        let features = Features {
            int64: has.contains(wgpu::Features::SHADER_INT64),
            float64: has.contains(wgpu::Features::SHADER_F64),
            subgroup: subgroup(adapter).filter(|_| has.contains(wgpu::Features::SUBGROUP)),
        };
        let pool = Pool::new(device.clone(), health.clone(), limits.max_buffer_size);
        Ok(Gpu(Arc::new(Inner { device, queue, limits, health, pool, cache: Cache::default(), info, features, tick })))
    }

    /// Returns a description of the device for people.
    pub fn describe(&self) -> &DeviceInfo {
        &self.0.info
    }
    /// Returns the limits of the device, which schedules must keep.
    pub fn limits(&self) -> target::Gpu {
        let l = &self.0.limits;
        target::Gpu {
            most_threads: [
                l.max_compute_workgroup_size_x,
                l.max_compute_workgroup_size_y,
                l.max_compute_workgroup_size_z,
            ],
            most_threads_in_all: l.max_compute_invocations_per_workgroup,
            shared_bytes: l.max_compute_workgroup_storage_size,
            subgroup: self.0.features.subgroup,
            int64: self.0.features.int64,
            float64: self.0.features.float64,
        }
    }
    /// Returns the speed that is typical of devices of its kind: drivers do not tell it.
    pub fn speed(&self) -> GpuSpeed {
        match self.0.info.kind {
            DeviceKind::Discrete | DeviceKind::Virtual => GpuSpeed::DISCRETE,
            DeviceKind::Integrated | DeviceKind::Unknown => GpuSpeed::INTEGRATED,
            DeviceKind::Software => GpuSpeed::SOFTWARE,
        }
    }
    /// The types that its kernels may compute in beyond those that all devices have.
    pub fn features(&self) -> Features {
        self.0.features
    }
    /// The most bytes that kernels can be given of one buffer.
    pub fn most_buffer_bytes(&self) -> u64 {
        // Whole words, as all our bindings are.
        self.0.limits.max_storage_buffer_binding_size.min(self.0.limits.max_buffer_size) / 4 * 4
    }
    /// The most iterations of loops that a thread may run before the driver stops it without a word, if it does so:
    /// Mesa's llvmpipe, which has a counter for all loops of a shader.
    pub fn most_iterations(&self) -> Option<u64> {
        const LLVMPIPE: u64 = 65_535;
        self.0.info.name.starts_with("llvmpipe").then_some(LLVMPIPE)
    }
    /// Returns true if the device is gone; then nothing but opening it again helps.
    pub fn is_lost(&self) -> bool {
        self.0.health.is_lost()
    }
    /// Sets the most bytes of device memory that may be in use at once, counting what is kept for later; `None` leaves
    /// it to the driver.
    pub fn set_memory_cap(&self, bytes: Option<u64>) {
        self.0.pool.set_cap(bytes);
    }
    /// Returns the number of bytes of device and staging memory, in use and kept for later.
    pub fn memory_bytes(&self) -> u64 {
        self.0.pool.bytes()
    }
    /// Frees the memory that is kept for later runs.
    pub fn trim(&self) {
        self.0.pool.trim();
    }
    /// Tells futures of runs about what the device has finished. In a browser nobody needs to; elsewhere a program that
    /// awaits runs instead of blocking calls this now and then.
    pub fn poll(&self) {
        self.0.poll(PollType::Poll);
    }
    /// Destroys the device as if it had been removed, for tests of what happens then.
    pub fn lose(&self) {
        self.0.health.destroy(&self.0.device);
    }
}

impl Inner {
    /// An error if the driver has said anything since the last check. Calls on a lost device seem to succeed, so this
    /// is asked before and after each.
    pub(super) fn check(&self) -> Result<(), DeviceFault> {
        self.health.check().map_err(|fault| self.lost_or(fault))
    }
    /// Returns the fault for a failed call that is not for a buffer of the program.
    pub(super) fn fault(&self, trouble: Trouble) -> DeviceFault {
        self.lost_or(DeviceFault::Refused {
            reason: match trouble {
                Trouble::OutOfMemory => "there is no memory for commands and their results".to_string(),
                Trouble::Refused(reason) => reason,
            },
        })
    }
    /// `fault`, unless the device is gone, of which all other failures are consequences. A device says that it is gone
    /// only when it is polled and nothing is left to do, and until then that things are not valid; another thread that
    /// polls may be about to hear of it.
    pub(super) fn lost_or(&self, fault: DeviceFault) -> DeviceFault {
        for _ in 0..LOST_POLLS {
            if self.health.is_lost() {
                break;
            }
            self.poll(PollType::Wait { submission_index: None, timeout: None });
            #[cfg(not(target_arch = "wasm32"))]
            super::health::let_others_go_on();
        }
        match self.health.check() {
            Err(lost @ DeviceFault::Lost { .. }) => lost,
            _ => fault,
        }
    }
    /// See [`health::poll`](super::health::poll).
    pub(super) fn poll(&self, how: PollType) {
        super::health::poll(&self.device, &self.health, how);
    }
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.info)
    }
}

async fn adapters() -> Vec<Adapter> {
    let flags = InstanceFlags::from_build_config() - InstanceFlags::VALIDATION_INDIRECT_CALL;
    let instance = Instance::new(InstanceDescriptor {
        backends: Backends::PRIMARY,
        flags,
        ..InstanceDescriptor::new_without_display_handle()
    });
    instance.enumerate_adapters(Backends::PRIMARY).await
}

/// Returns the number of lanes of the subgroups, if that is always the same.
fn subgroup(adapter: &Adapter) -> Option<u32> {
    let info = adapter.get_info();
    let size = info.subgroup_min_size;
    (size == info.subgroup_max_size && size.is_power_of_two()).then_some(size)
}

fn describe(adapter: &Adapter) -> DeviceInfo {
    let info = adapter.get_info();
    DeviceInfo {
        name: info.name,
        backend: info.backend.to_str().to_string(),
        kind: match info.device_type {
            DeviceType::DiscreteGpu => DeviceKind::Discrete,
            DeviceType::IntegratedGpu => DeviceKind::Integrated,
            DeviceType::VirtualGpu => DeviceKind::Virtual,
            DeviceType::Other => DeviceKind::Unknown,
            DeviceType::Cpu => DeviceKind::Software,
        },
        driver: [info.driver, info.driver_info].iter().filter(|t| !t.is_empty()).cloned().collect::<Vec<_>>().join(" "),
    }
}

/// The adapter's own limits for computing, and what every device has for the rest.
fn limits_of(adapter: &Adapter) -> Limits {
    let own = adapter.limits();
    Limits {
        max_bindings_per_bind_group: own.max_bindings_per_bind_group,
        max_storage_buffers_per_shader_stage: own.max_storage_buffers_per_shader_stage,
        max_storage_buffer_binding_size: own.max_storage_buffer_binding_size,
        max_buffer_size: own.max_buffer_size,
        min_storage_buffer_offset_alignment: own.min_storage_buffer_offset_alignment,
        max_buffers_and_acceleration_structures_per_shader_stage: own
            .max_buffers_and_acceleration_structures_per_shader_stage,
        max_compute_workgroup_storage_size: own.max_compute_workgroup_storage_size,
        max_compute_invocations_per_workgroup: own.max_compute_invocations_per_workgroup,
        max_compute_workgroup_size_x: own.max_compute_workgroup_size_x,
        max_compute_workgroup_size_y: own.max_compute_workgroup_size_y,
        max_compute_workgroup_size_z: own.max_compute_workgroup_size_z,
        max_compute_workgroups_per_dimension: own.max_compute_workgroups_per_dimension,
        ..Limits::default().or_worse_values_from(&own)
    }
}
