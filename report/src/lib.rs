//! Reports of runs: one page that shows what a schedule did ([`html`]), drawings of graphs ([`graph`]), and pictures of
//! the order in which a schedule computes and loads points ([`order`]).
//!
//! ```
//! use halide::prelude::*;
//! use halide_report::order::{picture, replay::Replay};
//! let (x, y) = vars!(x, y);
//! let (mut f, mut g) = (Func::new("f"), Func::new("g"));
//! f[(x, y)] = x * y;
//! g[(x, y)] = f[(x, y)] + f[(x, y + 1)];
//! let compiled = Pipeline::new([&g])?.compile(&"f: store_root() compute_at(g, y)".parse()?, &Target::host())?;
//! let replay = Replay::of_call(&compiled.inputs(), &[Region::of_extents([8, 6])], &[])?;
//! assert_eq!(replay.canvas("f").map(|canvas| canvas.stores()), Some(8 * 7));
//! let png = picture::png(&picture::draw(&replay))?;
//! assert!(png.starts_with(b"\x89PNG"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod graph;
pub mod html;
pub mod model;
pub mod order;
