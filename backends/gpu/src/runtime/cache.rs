//! Pipelines that a device has made before, by what they were made of.

use crate::codegen::{KernelCode, Layout};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use wgpu::{BindGroupLayout, ComputePipeline};

/// The most pipelines that are kept, also when no program has them any more.
const MOST: usize = 128;

/// A kernel that a device can run.
pub(super) struct Pipeline {
    pub(super) pipeline: ComputePipeline,
    pub(super) bindings: BindGroupLayout,
}

/// The pipelines of a device, the longest unused first.
#[derive(Default)]
pub(super) struct Cache(Mutex<VecDeque<(Source, Arc<Pipeline>)>>);

/// All that a pipeline is made of: the whole shader, so that equal sources are equal pipelines.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Source {
    spirv: Vec<u32>,
    layout: Layout,
}

impl Source {
    /// `None` for a shader that has no text to compare, which is then compiled each time.
    pub(super) fn of(code: &KernelCode) -> Option<Source> {
        Some(Source { spirv: code.spirv().ok()?, layout: code.layout.clone() })
    }
}

impl Cache {
    pub(super) fn find(&self, source: &Source) -> Option<Arc<Pipeline>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.iter().position(|(s, _)| s == source)?;
        let found = known.remove(at)?;
        let pipeline = found.1.clone();
        known.push_back(found);
        Some(pipeline)
    }
    pub(super) fn keep(&self, source: Source, pipeline: Arc<Pipeline>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.push_back((source, pipeline));
        if known.len() > MOST {
            known.pop_front();
        }
    }
}
