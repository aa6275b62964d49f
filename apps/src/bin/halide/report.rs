//! `--print` and `--explain`: what was compiled, as text.

use crate::Failure;
use crate::args::Print;
use halide::prelude::*;

/// The texts asked for.
pub(crate) fn describe(
    compiled: &Compiled,
    schedule: &Schedule,
    print: Option<Print>,
    explain: bool,
) -> Result<String, Failure> {
    let _ = (compiled, explain);
    match print {
        Some(Print::Schedule) | None => Ok(schedule.to_string()),
    }
}
