//! Files that commands write: schedules, with comments that say for what, and machines.

use super::failure::Failure;
use crate::files;
use crate::place::Place;
use halide::tune::TuneKey;
use std::io;
use std::path::Path;

/// The place of a file, which is tried out before any work is done.
pub(crate) fn place(path: &Path) -> Result<Place, Failure> {
    let failed = |error: io::Error| Failure(format!("{}: {error}", files::shown(path)));
    let place = Place::new(path).map_err(|(_, error)| failed(error))?;
    place.try_out().map_err(failed)?;
    Ok(place)
}

/// The place of a file in a folder of outputs, which is made if it is not there.
pub(crate) fn place_in_folder(path: &Path) -> Result<Place, Failure> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let failed = |error: io::Error| Failure(format!("{}: {error}", files::shown(folder)));
    std::fs::create_dir_all(folder).map_err(failed)?;
    place(path)
}

/// The comments that a schedule file begins with: who made it, what it is for, and its times.
pub(crate) fn header(first: &str, key: &TuneKey, times: &str) -> String {
    let TuneKey { pipeline, shapes, target, machine, threads, .. } = key;
    format!(
        "# {first}\n# pipeline {pipeline}\n# sizes {shapes}\n# target {target}, threads {threads}, machine {machine}\n\
         # {times}\n"
    )
}

/// Writes a file.
pub(crate) fn write(place: &Place, content: &(impl AsRef<[u8]> + ?Sized)) -> Result<(), Failure> {
    let written = place.write(|sink| sink.write_all(content.as_ref()));
    written.map_err(|error: io::Error| Failure(format!("{}: {error}", files::shown(place.path()))))
}
