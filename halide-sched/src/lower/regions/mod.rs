//! Bounds inference: the region of every Func at every loop, sliding windows, and what regions are made of.

pub(crate) mod as_written;
pub(crate) mod bound_expansion;
pub(crate) mod clamp_to_global_bounds;
pub(crate) mod constrain;
mod consumer_ranges;
pub mod explain_bounds;
pub(crate) mod facts;
pub mod held_values;
pub(crate) mod infer_bounds;
pub(crate) mod inlined_calls;
pub(crate) mod nested_regions;
pub(crate) mod predicate_constraints;
pub(crate) mod predicate_refinement;
pub mod query;
pub(crate) mod region_table;
pub(crate) mod rules;
pub(crate) mod slide_windows;
pub(crate) mod start_early;
pub(crate) mod union;
pub(crate) mod value_bounds;
