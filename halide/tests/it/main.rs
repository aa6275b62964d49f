//! Tests of the facade: engines agree, and the classic two-stage example computes and stores what it should.

mod classic_counts;
mod engines_agree;
