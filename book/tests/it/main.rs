//! Tests of the book's pages: schedules, links, pictures. Rust blocks are tests of the library, and command lines those
//! of `halide-apps`.

mod links;
#[path = "../../../halide/tests/it/page.rs"]
mod page;
mod pages;
mod pictures;
#[path = "../../../halide/tests/it/schedule_blocks.rs"]
mod schedule_blocks;
mod schedules;
mod start;
