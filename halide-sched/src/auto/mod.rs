//! Schedules that nobody wrote.

pub mod random;
mod rewrites;
#[cfg(test)]
mod tests;
mod together;
