//! The book: every Rust block of its pages is a test of this crate. `tests/it` holds schedules, links and pictures,
//! and `apps/tests/it/book.rs` the command lines.

pub mod algorithms;
pub mod pictures;

/// The pages, whose blocks are tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("introduction.md")]
    mod introduction {}
    #[doc = include_str!("picture.md")]
    mod picture {}
    #[doc = include_str!("language.md")]
    mod language {}
    #[doc = include_str!("schedule.md")]
    mod schedule {}
    #[doc = include_str!("bounds.md")]
    mod bounds {}
    #[doc = include_str!("tiles.md")]
    mod tiles {}
    #[doc = include_str!("vectors.md")]
    mod vectors {}
    #[doc = include_str!("instructions.md")]
    mod instructions {}
    #[doc = include_str!("threads.md")]
    mod threads {}
    #[doc = include_str!("reductions.md")]
    mod reductions {}
    #[doc = include_str!("gpu.md")]
    mod gpu {}
    #[doc = include_str!("programs.md")]
    mod programs {}
    #[doc = include_str!("gradients.md")]
    mod gradients {}
    #[doc = include_str!("sequences.md")]
    mod sequences {}
    #[doc = include_str!("slow.md")]
    mod slow {}
    #[doc = include_str!("correctness.md")]
    mod correctness {}
    #[doc = include_str!("coming_from.md")]
    mod coming_from {}
    #[doc = include_str!("cookbook.md")]
    mod cookbook {}
    #[doc = include_str!("cookbook_geometry.md")]
    mod cookbook_geometry {}
    #[doc = include_str!("cookbook_filters.md")]
    mod cookbook_filters {}
    #[doc = include_str!("cookbook_statistics.md")]
    mod cookbook_statistics {}
    #[doc = include_str!("cookbook_colour.md")]
    mod cookbook_colour {}
    #[doc = include_str!("cookbook_structure.md")]
    mod cookbook_structure {}
    #[doc = include_str!("directives.md")]
    mod directives {}
    #[doc = include_str!("directives_more.md")]
    mod directives_more {}
    #[doc = include_str!("reference.md")]
    mod reference {}
}
