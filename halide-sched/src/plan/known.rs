//! Constants that the condition of a specialisation gives the region of an output.

use super::types::KnownSpan;
use crate::schedule::{CompareOp, Condition, Term};
use halide_core::pipeline::DimField;

/// Notes which dimensions of the output `func` have a constant first coordinate or extent where `condition` holds.
///
/// - Before: `out.extent(0) == 4 && 0 == out.min(0) && p > 2`, and nothing is known.
/// - After: dimension 0 begins at 0 and has 4 coordinates.
pub(super) fn learn(condition: &Condition, func: &str, known: &mut [KnownSpan]) {
    match condition {
        Condition::And(a, b) => {
            learn(a, func, known);
            learn(b, func, known);
        }
        Condition::Compare(CompareOp::Eq, Term::Dim(name, field, dim), Term::Const(value))
        | Condition::Compare(CompareOp::Eq, Term::Const(value), Term::Dim(name, field, dim))
            if name == func =>
        {
            // No buffer has other coordinates than 32 bits hold, and arithmetic with others would overflow.
            let is_coordinate = i32::try_from(*value).is_ok();
            match (known.get_mut(*dim).filter(|_| is_coordinate), field) {
                (Some(span), DimField::Min) => span.min = Some(*value),
                (Some(span), DimField::Extent) if *value >= 1 => span.extent = Some(*value),
                _ => {}
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(condition: &str) -> Vec<KnownSpan> {
        let text = format!("out: specialize({condition})");
        let schedule: crate::schedule::Schedule = text.parse().expect("a schedule");
        let crate::schedule::Verb::Specialize(condition) = &schedule.directives()[0].verb else { panic!("{text}") };
        let mut known = vec![KnownSpan::default(); 2];
        learn(condition, "out", &mut known);
        known
    }

    #[test]
    fn equalities_of_own_dimensions_are_known() {
        let span = |min, extent| KnownSpan { min, extent };
        assert_eq!(known("out.extent(0) == 4 && 0 == out.min(0) && p > 2"), [span(Some(0), Some(4)), span(None, None)]);
        assert_eq!(known("out.extent(1) == 3"), [span(None, None), span(None, Some(3))]);
        let nothing = [span(None, None); 2];
        for condition in [
            "out.extent(0) == 4 || out.min(0) == 0",
            "!(out.extent(0) == 4)",
            "out.extent(0) >= 4",
            "out.extent(0) == p",
            "out.extent(0) == 0",
            "out.extent(2) == 4",
            "out.extent(0) == 9223372036854775807 && out.min(0) == -9223372036854775807",
            "in.extent(0) == 4",
            "out.stride(0) == 1",
        ] {
            assert_eq!(known(condition), nothing, "{condition}");
        }
    }
}
