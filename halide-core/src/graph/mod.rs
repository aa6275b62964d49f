//! The algorithm under construction: the nodes of the arena, and the shared bodies of Funcs, images and domains that
//! nodes point to. Data only; what makes and checks it is beside the types that users hold.

pub(crate) mod expr;
pub(crate) mod func;
pub(crate) mod image;
pub(crate) mod node;
pub(crate) mod param;
pub(crate) mod rdom;
pub(crate) mod shape;
