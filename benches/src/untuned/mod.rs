//! Pipelines that nobody tuned: short programs in styles that no app has, under schedules that take a minute to write.
//! `benches/peers/untuned.py` has the same algorithms under the same schedules in Halide.

mod case;
mod filters;
mod grids;
mod pixels;
#[cfg(test)]
mod tests;
mod transforms;

use halide_apps::app::App;

/// The pipelines.
pub const UNTUNED: &[App] = &[
    filters::DILATED,
    filters::BINOMIAL,
    filters::HEAT,
    pixels::OVER,
    pixels::BLEND,
    pixels::COLORS,
    transforms::MATRICES,
    transforms::COSINES,
    transforms::HADAMARD,
    grids::FLOW,
    grids::GRADIENTS,
];
