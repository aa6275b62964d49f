//! Loop nests as scheduled: statements, the algebra of split variables, and what holds of a definition.

pub(crate) mod build_nests;
pub(crate) mod call;
pub(crate) mod compute_with;
pub(crate) mod ctx;
pub(crate) mod cut;
pub(crate) mod effects;
pub(crate) mod guards;
pub(crate) mod handed;
pub(crate) mod hints;
pub(crate) mod instruction_call;
pub(crate) mod likely_if_innermost;
pub(crate) mod reached_factors;
pub(crate) mod translate;
pub(crate) mod vars;
