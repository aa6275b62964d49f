//! The page in Chromium: what it shows, how fast, by pointer and by keys, in the dark, without a program, and served.

mod chromium;
mod live;
mod opened;
pub(crate) mod samples;
mod used;
