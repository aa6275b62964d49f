//! Schedules that nobody wrote.

mod cases;
mod kernels;
pub mod random;
mod rewrites;
mod storage;
#[cfg(test)]
mod tests;
mod together;
mod vouched;
