//! The order of evaluation: a run traced, replayed step by step, and drawn as grids of cells.
//!
//! [`replay`] makes a value of a trace: for each Func and image a [`canvas`] of points, with the times that each was
//! computed and loaded, and the steps of the run. [`picture`] draws it as one picture, [`animation`] as a GIF in which
//! fresh stores glow and fade, loads flash, and storage that was given back goes grey. Vectors and threads are drawn
//! point by point in the order of one thread, as the trace tells them. [`reuse`] tells how many other points are
//! touched between two uses of one.

pub mod animation;
pub mod canvas;
pub mod colour;
pub mod error;
mod extent;
mod font;
mod layout;
pub mod picture;
pub mod raster;
mod recorder;
pub mod replay;
pub mod reuse;
