//! The outcome of a case, or its failure.

use halide::prelude::*;

/// The outcomes of a case that did not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All engines gave the same values; there were no kernels.
    Compared,
    /// All engines gave the same values, a GPU among them.
    ComparedOnDevice,
    /// It was refused, as it should be; in a word or two, why.
    Refused(String),
}

/// The failure of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// In a few words, the same for all cases that fail alike.
    pub kind: String,
    /// All of it.
    pub text: String,
}

/// The failure of a kind, which is the same for all that fail alike, with all of its text.
pub(crate) fn failure(kind: impl Into<String>, text: impl Into<String>) -> Failure {
    Failure { kind: kind.into(), text: text.into() }
}

/// Compares the outputs that `name` gave with those expected.
pub(crate) fn compare(name: &str, got: &[AnyBuffer], expected: &[AnyBuffer]) -> Result<(), Failure> {
    for (n, (got, want)) in got.iter().zip(expected).enumerate() {
        if let Some((at, a, b)) = got.first_difference(want) {
            return Err(failure(
                format!("wrong value: {name}"),
                format!("{name}: output {n} at {at:?} is {a}, not {b}"),
            ));
        }
    }
    Ok(())
}
