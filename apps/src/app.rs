//! The list of apps.

use crate::filters::*;

pub use halide_tool::app::*;

/// Every app.
pub const APPS: &[App] = &[
    local_laplacian::APP,
    blur::APP,
    unsharp::APP,
    harris::APP,
    hist::APP,
    box_filter::APP,
    cumsum::APP,
    max_filter::APP,
    stencil_chain::APP,
    iir_blur::APP,
    bilateral_grid::APP,
    interpolate::APP,
    matmul::APP,
    conv_layer::APP,
    features::APP,
    resize::APP,
    camera_pipe::APP,
    nl_means::APP,
    lens_blur::APP,
    mandelbrot::APP,
    collatz::APP,
    cg_step::APP,
];

/// The app called `name`.
pub fn find(name: &str) -> Option<&'static App> {
    APPS.iter().find(|app| app.name == name)
}
