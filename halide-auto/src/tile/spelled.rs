//! Names of definitions in messages.

/// A definition as schedules say it.
pub(super) fn spelled((func, stage): &(String, usize)) -> String {
    match stage.checked_sub(1) {
        None => func.clone(),
        Some(k) => format!("{func}.update({k})"),
    }
}
