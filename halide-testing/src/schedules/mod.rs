//! Schedules that nobody wrote.

pub mod aim;
pub mod arms;
mod by_row;
mod cases;
mod chains;
mod instructions;
mod kernels;
mod loops;
mod place;
pub mod random;
mod rewrites;
mod storage;
#[cfg(test)]
mod tests;
mod together;
mod unchecked_assertions;
