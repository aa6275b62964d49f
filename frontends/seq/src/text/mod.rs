//! Procs as text: an indented language with defs, lambdas and comprehensions.

mod expressions;
mod lex;
mod parse;

pub(crate) use parse::parse;
