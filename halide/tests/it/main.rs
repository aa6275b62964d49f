//! Tests of the facade: engines agree, and the classic two-stage example computes and stores what it should. Also the
//! rules of the source tree (`tidy`).

mod classic_counts;
mod corners;
mod engines_agree;
mod floats;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "gpu")]
mod gpu_found;
#[cfg(feature = "gpu")]
mod gpu_lanes;
mod halves;
mod language;
mod large;
mod memory;
mod notes;
mod ragged;
mod tidy;
mod undef;
