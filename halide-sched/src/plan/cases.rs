//! Names of the cases of specialisations, for reports. The case that everything is in has no name.

/// Returns the case in which a condition holds, inside of another one.
pub(super) fn holds(outer: &str, condition: &str) -> String {
    if outer.is_empty() { format!("where {condition}") } else { format!("{outer} and {condition}") }
}

/// Returns the case in which no condition holds, inside of another one.
pub(super) fn otherwise(outer: &str) -> String {
    if outer.is_empty() { "otherwise".to_string() } else { format!("{outer}, otherwise") }
}
