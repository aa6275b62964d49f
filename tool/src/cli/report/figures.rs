//! The figures of the machine that rooflines are drawn by.

use super::super::args::{Backend, CommonArgs};
use super::super::common;
use super::super::failure::Failure;
use super::super::kept_machine::kept_machine;
use crate::files;
use halide::machine::{Declared, Machine};
use std::path::Path;

/// A machine, and the source of its figures.
pub(crate) struct Figures {
    pub(super) machine: Machine,
    pub(super) source: String,
}

/// The figures for runs whose time is that of this machine's cores: those of a file, or measured ones.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn figures(common: &CommonArgs, backend: Backend, file: Option<&Path>) -> Result<Option<Figures>, Failure> {
    if backend != Backend::Cpu {
        return Ok(None);
    }
    let target = common::target(common);
    let (machine, source) = match file {
        Some(path) => (common::read_machine(path)?, format!("figures of {}", files::shown(path))),
        None => match kept_machine(&target) {
            Ok(machine) => (machine, "measured figures".to_string()),
            Err(Failure(why)) => (Declared::host(&target).machine, format!("typical figures, not measured: {why}")),
        },
    };
    Ok(Some(Figures { machine, source }))
}
