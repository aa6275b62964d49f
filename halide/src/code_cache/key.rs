//! The key of code: a hash of all that it depends on.

use super::build::Build;
use super::origin::CacheProblem;
use crate::variant_key::VariantKey;
use halide_cpu::{CpuOptions, machine_text};
use halide_sched::plan::Plan;
use sha2::{Digest, Sha256};
use std::fmt;
use std::hash::{Hash, Hasher};

/// A variant as a cache knows it.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) plan: &'a Plan,
    /// The schedule of the whole pipeline.
    pub(crate) schedule: &'a str,
    pub(crate) variant: VariantKey,
    pub(crate) options: &'a CpuOptions,
}

/// A hash of what code depends on.
///
/// Lowering is a function of a plan and the options of a variant, and generating code one of the lowered program and
/// the machine. So the key is of the plan with its pipeline and target, of the variant, of the options and the machine,
/// and of the build, since another one may compile otherwise. Index expressions of a plan stand in it with hashes of
/// their own, which are short; the schedule's text says them in full.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key([u8; 32]);

impl Key {
    pub(super) fn new(build: &Build, subject: Subject<'_>) -> Result<Key, CacheProblem> {
        let Subject { plan, schedule, variant, options } = subject;
        let machine = machine_text(options).map_err(|error| CacheProblem::Link { error })?;
        let mut hash = Stream(Sha256::new());
        (build, machine, variant, schedule, plan).hash(&mut hash);
        Ok(Key(hash.0.finalize().into()))
    }
    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Hands what is hashed to a digest.
struct Stream(Sha256);

impl Hasher for Stream {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    /// Nobody asks: the digest is the answer.
    fn finish(&self) -> u64 {
        0
    }
}
