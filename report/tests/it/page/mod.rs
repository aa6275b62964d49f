//! The page in Chromium: what it shows, how fast, by pointer and by keys, in the dark and without a program.

mod chromium;
mod opened;
pub(crate) mod samples;
mod used;
