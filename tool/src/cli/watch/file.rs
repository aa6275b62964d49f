//! Files that a watch writes when it is told to: the watched one, and a report.

use super::super::failure::Failure;
use super::super::output;
use crate::files::shown;
use crate::place::Place;
use halide_report::html::html;
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};

/// Writes a schedule file, whole or not at all.
///
/// # Errors
/// The reason that it was not written, with its name.
pub(super) fn write(path: &Path, text: &str) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", shown(path));
    let place = Place::new(path).map_err(|(_, error)| failed(error))?;
    place.write(|sink| sink.write_all(text.as_bytes())).map_err(failed)
}

/// Writes a report to the folder of outputs; says where it is, or why it is not there.
pub(super) fn write_report(app: &str, mut data: Value) -> String {
    if let Some(data) = data.as_object_mut() {
        // Nobody serves it.
        data.remove("live");
    }
    let path = PathBuf::from("out").join(format!("{app}.html"));
    let written = output::place_in_folder(&path).and_then(|place| output::write(&place, &html(&data)));
    match written {
        Ok(()) => format!("the report is in {}", shown(&path)),
        Err(Failure(text)) => text,
    }
}
