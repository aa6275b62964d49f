//! Side-by-side runs against Halide are in `benches/peers` (Python). This crate holds no Rust bench yet.
