//! Findings: their numbers are numbers, equal questions have equal answers, and no edit changes a value.

use crate::case::Case;
use crate::engines;
use crate::facade::with_params;
use crate::failure::{Failure, Outcome, failure};
use halide::buffer::Span;
use halide::findings::Finding;
use halide::prelude::*;

/// The factor by which regions are larger where rules look at them: small ones are not worth a finding.
const LARGER: i64 = 50;

/// The edits that are checked of a case.
const MOST: usize = 3;

/// Finds what the schedule of a case does that costs time at large sizes, and checks edits at the sizes of the case.
pub fn check(case: &Case) -> Result<Outcome, Failure> {
    let case = case.main_part();
    let compiler = Compiler::new(&case.pipeline).engine(Engine::Eval).schedule(&case.schedule).target(&case.target);
    let Ok(compiled) = compiler.compile() else { return Ok(Outcome::Refused("compiling".into())) };
    let larger = |span: &Span| Span { extent: span.extent.saturating_mul(LARGER), ..*span };
    let regions: Vec<Region> =
        case.regions.iter().map(|region| region.spans().iter().map(larger).collect::<Region>()).collect();
    let call = with_params(&case, compiled.inputs());
    let found = match call.findings(&regions) {
        Ok(found) => found,
        // Inputs whose sizes are data, and regions that leave 32 bits.
        Err(Error::Query(_) | Error::Run(_) | Error::Fault(_)) => {
            return Ok(Outcome::Refused("sizes of inputs".into()));
        }
        Err(error) => return Err(failure("no findings", format!("{error}\n{case}"))),
    };
    let numbers = |finding: &Finding| [finding.value, finding.threshold, finding.work];
    if let Some(odd) = found.iter().find(|f| !numbers(f).iter().all(|n| n.is_finite() && *n >= 0.0)) {
        return Err(failure("no number", format!("{odd:?}\n{case}")));
    }
    let again = call.findings(&regions).map_err(|error| failure("no findings", error.to_string()))?;
    let text = |found: &[Finding]| found.iter().map(|finding| format!("{finding}\n")).collect::<String>();
    if text(&found) != text(&again) {
        return Err(failure("other findings", format!("{}\n{}\n{case}", text(&found), text(&again))));
    }
    let all: Vec<&Finding> = found.iter().collect();
    let together = call.together(&regions, &all).map_err(|error| failure("no edit", error.to_string()))?;
    let edits = found.iter().filter_map(|finding| finding.edit.clone()).take(MOST).chain(together);
    let mut outcome = Outcome::Refused("nothing to mend".into());
    for edit in edits {
        outcome = engines::check_lowering(&Case { schedule: edit.schedule, ..case.clone() })?;
    }
    Ok(outcome)
}
