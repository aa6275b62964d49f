//! The measured figures of this machine, kept in the user's cache folder so that only the first report measures.
//!
//! A file is for a processor, what it declares, its vectors and a number of threads: its name is a hash of these. It is
//! what `halide machine --measure -o` writes. One that cannot be read is measured again; where none can be written, the
//! figures are for this process alone.

use super::failure::Failure;
use super::machine::measured;
use super::output;
use super::terminal::note;
use crate::files;
use crate::processor;
use etcetera::BaseStrategy;
use halide::machine::{Declared, Machine};
use halide::machine_file;
use halide::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// The machine of a target: as it was measured before, or is now.
pub(crate) fn kept_machine(target: &Target) -> Result<Machine, Failure> {
    let declared = Declared::host(target).machine;
    let folder = etcetera::choose_base_strategy().ok().map(|base| base.cache_dir().join("halide"));
    kept_in(folder.as_deref(), target, &declared, || Ok(measured(&declared, target)?.machine))
}

/// The machine as a file in `folder` has it, or as `measure` finds it, which is then kept there.
fn kept_in(
    folder: Option<&Path>,
    target: &Target,
    declared: &Machine,
    measure: impl FnOnce() -> Result<Machine, Failure>,
) -> Result<Machine, Failure> {
    let path = folder.map(|folder| path(folder, target, declared)).transpose()?;
    if let Some(kept) = path.as_deref().and_then(read) {
        return Ok(kept);
    }
    let machine = measure()?;
    if let Some(path) = path {
        let text = machine_file::write(&machine)?;
        match output::place_in_folder(&path).and_then(|place| output::write(&place, &text)) {
            Ok(()) => note(format!("measured this machine; its figures are kept in {}", files::shown(&path))),
            Err(Failure(why)) => note(format!("the figures of this machine are not kept: {why}")),
        }
    }
    Ok(machine)
}

fn read(path: &Path) -> Option<Machine> {
    machine_file::read(&std::fs::read(path).ok()?).ok()
}

/// The file of a machine: other declarations, vectors or threads have another name.
fn path(folder: &Path, target: &Target, declared: &Machine) -> Result<PathBuf, Failure> {
    let mut hasher = DefaultHasher::new();
    (processor::model(), machine_file::write(declared)?, target.threads, target.vector_bits).hash(&mut hasher);
    Ok(folder.join(format!("machine-{:016x}.json", hasher.finish())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_measured_once() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let place = folder.path().join("deep").join("halide");
        let (target, declared) = (Target { threads: 1, ..Target::host() }, Machine::host());
        let found = Machine { ghz: 1.25, ..declared.clone() };
        let kept = |target: &Target, folder: &Path| {
            let mut times = 0;
            let measure = || {
                times += 1;
                Ok(found.clone())
            };
            let machine = kept_in(Some(folder), target, &declared, measure).map_err(|Failure(text)| text);
            (machine, times)
        };
        assert_eq!(kept(&target, &place), (Ok(found.clone()), 1), "nothing is kept yet");
        assert_eq!(kept(&target, &place), (Ok(found.clone()), 0));
        let two = Target { threads: 2, ..target };
        assert_eq!(kept(&two, &place), (Ok(found.clone()), 1), "other threads");
        let file = path(&place, &target, &declared).map_err(|Failure(text)| text)?;
        std::fs::write(&file, "{")?;
        assert_eq!(kept(&target, &place), (Ok(found.clone()), 1), "a file that is cut");
        assert_eq!(kept(&target, &place), (Ok(found.clone()), 0), "it was replaced");
        let taken = folder.path().join("a_file");
        std::fs::write(&taken, "")?;
        assert_eq!(kept(&target, &taken), (Ok(found.clone()), 1), "no folder can be made there");
        Ok(())
    }
}
