//! Pipelines that a device has made before, by what they were made of.

use crate::codegen::{KernelCode, Layout};
use crate::tuning::KEPT_PIPELINES;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use wgpu::{BindGroupLayout, ComputePipeline};

/// A kernel that a device can run.
pub(super) struct Pipeline {
    pub(super) pipeline: ComputePipeline,
    pub(super) bindings: BindGroupLayout,
}

/// The pipelines of a device, the longest unused first.
#[derive(Default)]
pub(super) struct Cache(Mutex<VecDeque<(PipelineKey, Arc<Pipeline>)>>);

/// All that a pipeline is made of: the whole shader, so that equal sources are equal pipelines.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct PipelineKey {
    spirv: Vec<u32>,
    layout: Layout,
}

impl PipelineKey {
    /// `None` for a shader that has no text to compare, which is then compiled each time.
    pub(super) fn of_code(code: &KernelCode) -> Option<PipelineKey> {
        Some(PipelineKey { spirv: code.spirv().ok()?, layout: code.layout.clone() })
    }
}

impl Cache {
    pub(super) fn find(&self, source: &PipelineKey) -> Option<Arc<Pipeline>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.iter().position(|(s, _)| s == source)?;
        let found = known.remove(at)?;
        let pipeline = found.1.clone();
        known.push_back(found);
        Some(pipeline)
    }
    pub(super) fn keep(&self, source: PipelineKey, pipeline: Arc<Pipeline>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.push_back((source, pipeline));
        if known.len() > KEPT_PIPELINES {
            known.pop_front();
        }
    }
}
