//! From a kernel of the loop IR to a naga module.
