//! Image and array pipelines in Rust: algorithms and schedules as values, compiled in milliseconds.
//!
//! An *algorithm* says what each point of each stage is. A *schedule* says in which order, where and how wide points
//! are computed and stored. The compiler finds the regions that each loop needs of each stage, makes the loops, and
//! machine code of them. No schedule changes a value.
//!
//! # An algorithm
//!
//! [`Func`](prelude::Func)s are functions of integer coordinates ([`Var`](prelude::Var)s), made of expressions
//! ([`Expr`](prelude::Expr)s). [`Pipeline::new`] freezes what the outputs reach and checks all of it.
//!
//! ```
//! use halide::prelude::*;
//!
//! let input = ImageParam::new("input", U16, 2);
//! let (x, y) = vars!(x, y);
//! let (mut across, mut down) = (Func::new("across"), Func::new("down"));
//! across[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
//! down[(x, y)] = (across[(x, y)] + across[(x, y + 1)] + across[(x, y + 2)]) / 3;
//! let pipeline = Pipeline::new([&down])?;
//!
//! // A schedule is a value of its own: text, or calls of the same words.
//! let schedule: Schedule = "
//!     down: split(y, yo, yi, 32) parallel(yo) vectorize(x, 16)
//!     across: store_at(down, yo) compute_at(down, yi) vectorize(x, 16)".parse()?;
//! let mut same = Schedule::new();
//! same.func("down").split("y", "yo", "yi", 32).parallel("yo").vectorize("x", 16);
//! same.func("across").store_at("down", "yo").compute_at("down", "yi").vectorize("x", 16);
//! assert_eq!(schedule, same);
//!
//! // Compile once, run often: what is compiled is `Send + Sync` and cheap to clone.
//! let compiled = pipeline.compile(&schedule, &Target::host())?;
//! let image = Buffer::from_fn(&Region::of_extents([66, 50]), |at| (at[0] + at[1]) as u16)?;
//! let out: Buffer<u16> = compiled.inputs().image(&input, &image).realize([64, 48])?;
//! assert_eq!(out.get([10, 20]), Some(32));
//! # Ok::<(), Error>(())
//! ```
//!
//! [`Compiler`] has the settings beyond schedule and target: [`Engine`], shapes, GPU. [`Compiled::explain`] tells what
//! slid, folded and vectorized, and why the rest did not; [`Compiled::loops`] shows the loops.
//!
//! # Boundary conditions
//!
//! Outputs begin at coordinate 0 and have the extents that the call asks for. An input must hold all that is read of
//! it, or the run is refused; the functions of [`boundary`] put values around it.
//!
//! ```
//! use halide::prelude::*;
//! let input = ImageParam::new("input", I32, 1);
//! let x = Var::new("x");
//! let around = repeat_edge(&input);
//! let mut slope = Func::new("slope");
//! slope[x] = around[x + 1] - around[x - 1];
//! let compiled = Pipeline::new([&slope])?.compile(&Schedule::new(), &Target::host())?;
//! let row = Buffer::from_slice([4], &[0, 1, 4, 9])?;
//! assert_eq!(compiled.inputs().image(&input, row).realize::<i32>([4])?.to_vec(), [1, 4, 8, 5]);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Reductions
//!
//! A Func takes updates after its first definition; they run in the order of their reduction domain
//! ([`RDom`](prelude::RDom)), and may write anywhere. [`sum`](prelude::sum) and its kin are reductions without a Func
//! of their own.
//!
//! ```
//! use halide::prelude::*;
//! let input = ImageParam::new("input", U8, 1);
//! let (x, i) = vars!(x, i);
//! let r = RDom::over(&input);
//! let (mut histogram, mut cumulative) = (Func::new("histogram"), Func::new("cumulative"));
//! histogram[i] = 0.expr();
//! histogram[cast::<i32>(input[r.x])] += 1;
//! let bins = RDom::new([(0, 4)]);
//! cumulative[x] = sum(select(bins.x.le(x), histogram[bins.x], 0));
//! let compiled = Pipeline::new([&cumulative])?.compile(&"histogram: compute_root()".parse()?, &Target::host())?;
//! let values = Buffer::from_slice([6], &[3u8, 0, 1, 3, 3, 1])?;
//! assert_eq!(compiled.inputs().image(&input, values).realize::<i32>([4])?.to_vec(), [1, 3, 3, 6]);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Parameters and tuples
//!
//! A [`Param`](prelude::Param) is a scalar of each call. A Func may have several values, which outputs give as one
//! buffer each.
//!
//! ```
//! use halide::prelude::*;
//! let step = Param::<i32>::new("step").with_range(1, 100);
//! let x = Var::new("x");
//! let mut both = Func::new("both");
//! both[x] = tuple([x / step, x % step]);
//! let compiled = Pipeline::new([&both])?.compile(&Schedule::new(), &Target::host())?;
//! let out = compiled.inputs().param(&step, 3).realize_all(&[Region::of_extents([5])])?;
//! assert_eq!(out[0].typed::<i32>()?.to_vec(), [0, 0, 0, 1, 1]);
//! assert_eq!(out[1].typed::<i32>()?.to_vec(), [0, 1, 2, 0, 1]);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Errors
//!
//! Nothing panics. Building expressions never fails; [`Pipeline::new`] returns every mistake of an algorithm, and
//! compiling every reason against a schedule, each with its place and a remedy. A call that does not suit the code is
//! refused before anything is written; what only the run itself can find, such as a lack of memory, ends it midway, and
//! [`FaultKind`] says so. All of them are [`Error`]s.
//!
//! ```
//! use halide::prelude::*;
//! let (x, y) = vars!(x, y);
//! let mut f = Func::new("f");
//! f[(x, y)] = x + y;
//! let pipeline = Pipeline::new([&f])?;
//! let error = pipeline.compile(&"f: vectorize(z, 8) parallel(w)".parse()?, &Target::host()).unwrap_err();
//! let Error::Schedule(reasons) = &error else { panic!("{error}") };
//! assert_eq!(reasons.len(), 2);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Known sizes
//!
//! Code runs for every size. Where sizes are known, [`Compiler::shapes`] makes them constants of the code, and a
//! [`ShapeCache`] keeps such code for many sizes.
//!
//! # GPUs
//!
//! With feature `gpu`, loops that a schedule gives to `gpu_blocks` and `gpu_threads`, or to `gpu_tile`, run on a
//! Vulkan, Metal, DX12 or WebGPU device; buffers are copied as needed:
//!
//! ```text
//! let gpu = Gpu::open(&Choice::from_env())?;
//! let schedule = "down: gpu_tile(x, y, xo, yo, xi, yi, 16, 16)".parse()?;
//! let compiled = Compiler::new(&pipeline).schedule(&schedule).gpu(&gpu).compile()?;
//! ```
//!
//! The folder `examples` of the crate has programs that do all of this: `cargo run -p halide --example first`.

mod aliases;
pub mod auto;
mod available_memory;
pub mod call;
pub mod check;
#[cfg(feature = "cpu")]
pub mod code_cache;
pub mod compiled;
pub mod compiler;
mod counted;
mod counting;
pub mod counts;
#[cfg(all(feature = "cpu", feature = "gpu"))]
mod device;
mod difference;
pub mod engine;
pub mod error;
#[cfg(feature = "gpu")]
mod evaluator_host;
mod extern_stages;
mod failure;
pub mod fault;
pub mod findings;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(feature = "image")]
pub mod image;
mod in_place;
mod input_bounds;
pub mod input_requirements;
pub mod inspect;
mod interleaved;
pub mod isa;

pub mod limits;
pub mod machine_file;
mod memo_table;
pub mod memoized;
mod memory;
pub mod nest;
#[cfg(feature = "cpu")]
pub mod object;
mod once_map;
#[cfg(feature = "cpu")]
mod perf;
pub mod pipeline;
pub mod prelude;
mod print_sink;
pub mod profile;
pub mod program;
mod reference;
#[cfg(all(feature = "cpu", feature = "gpu"))]
mod residents;
mod run;
mod run_options;
pub mod shape_cache;
pub mod shapes;
pub mod trace;
pub mod tune;
#[cfg(feature = "cpu")]
mod used;
mod variant_code;
mod variant_key;
mod variants;

pub use call::Call;
#[cfg(feature = "cpu")]
pub use code_cache::CodeCache;
pub use compiled::Compiled;
pub use compiler::Compiler;
pub use engine::Engine;
pub use error::Error;
pub use fault::{CallFault, Defect, FaultKind};
pub use halide_auto::tss;
pub use halide_core::{boundary, buffer, expr, externs, shape, types, value, vars};
#[cfg(feature = "cpu")]
pub use halide_cpu::Tier;
pub use halide_ir::{features, machine, target};
pub use halide_sched::schedule;
// For the apps, tests and checks of this workspace: no part of what users can rely on.
#[doc(hidden)]
pub use halide_core::debug_is_display;
#[doc(hidden)]
pub use halide_ir as ir;
#[doc(hidden)]
pub use halide_ir::spelling;
#[doc(hidden)]
pub use halide_sched::{lower, plan};
pub use inspect::{Inspection, Stored};
#[cfg(feature = "cpu")]
pub use object::ObjectCode;
pub use pipeline::Pipeline;
pub use program::Program;
pub use shape_cache::ShapeCache;
pub use shapes::Shapes;
pub use variant_key::VariantKey;

/// The Rust blocks of README.md, as tests.
#[cfg(all(doctest, feature = "cpu", feature = "gpu"))]
#[doc = include_str!("../../README.md")]
mod readme {}
