//! Common subexpression elimination: computes common subexpressions once.
//!
//! Before: `Stage::Shaped`. After: the same; an expression that straight code evaluates more than once has a name.
//! Names that mean the same are joined, and names that nothing uses are gone.
//!
//! Neighbouring stores are looked at together: what several of them compute is named in front of all, unless it reads
//! what one of them writes. Stores under conditions are among them, as rows are that may be beyond the end: they share
//! what a store or a condition evaluates in any case, so that nothing is evaluated that was not before. Symbols,
//! constants, ramps, broadcasts and sums with a constant are not named: they cost nothing where they are used, and
//! addresses are recognised by them.
//!
//! Example:
//! ```text
//! out#b2[0] = in#b0[0] * in#b0[1] + 1u8
//! out#b2[1] = in#b0[0] * in#b0[1] - in#b0[2]
//! ```
//! becomes
//! ```text
//! let t4 = in#b0[0] * in#b0[1]
//! out#b2[0] = t4 + 1u8
//! out#b2[1] = t4 - in#b0[2]
//! ```
//! and
//! ```text
//! out#b2[0] = in#b0[0] * in#b0[1]
//! if out#b2.extent0 > 1 {
//!   out#b2[1] = in#b0[0] * in#b0[1] - in#b0[2] * in#b0[3]
//! }
//! if out#b2.extent0 > 2 {
//!   out#b2[2] = in#b0[0] * in#b0[1] + in#b0[2] * in#b0[3]
//! }
//! ```
//! becomes
//! ```text
//! let t4 = in#b0[0] * in#b0[1]
//! out#b2[0] = t4
//! if out#b2.extent0 > 1 {
//!   out#b2[1] = t4 - in#b0[2] * in#b0[3]
//! }
//! if out#b2.extent0 > 2 {
//!   out#b2[2] = t4 + in#b0[2] * in#b0[3]
//! }
//! ```

mod names;
mod run;

use crate::lower::walk;
use halide_ir::{Program, Stmt, build};
use run::Run;

/// Names what is computed more than once.
pub fn cse(program: Program) -> Program {
    walk::map_body(program, |body, program| statement(program, body))
}

fn statement(program: &mut Program, s: Stmt) -> Stmt {
    match s {
        Stmt::Block(list) => block(program, list),
        single => block(program, vec![single]),
    }
}

/// A list of statements: runs of stores are shared as one, others each on their own.
fn block(program: &mut Program, list: Vec<Stmt>) -> Stmt {
    let mut done = Vec::new();
    let mut run = Run::default();
    for s in list {
        let Some(refused) = run.push(s) else { continue };
        done.push(std::mem::take(&mut run).finish(program, statement));
        if let Some(alone) = run.push(refused) {
            done.push(around(program, alone));
        }
    }
    done.push(run.finish(program, statement));
    build::block(done)
}

/// A statement with others in it: its own expressions are shared among themselves.
fn around(program: &mut Program, s: Stmt) -> Stmt {
    if let Stmt::Let { bindings, body } = s {
        let bindings = run::share_bindings(program, bindings);
        return build::let_in(bindings, statement(program, *body));
    }
    let (bindings, s) = run::share_direct(program, s);
    build::let_in(bindings, walk::map_stmt(s, program, |_, e| e.clone(), statement))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::example::TABLES;

    /// A condition that reads memory does not name it for statements under it that come behind a store.
    #[test]
    fn memory_is_read_anew_behind_stores_under_a_condition() {
        let body = "out#b2[0] = in#b0[0]\nif out#b2[0] > 1u8 {\n  out#b2[0] = 5u8\n  out#b2[1] = out#b2[0] + 1u8\n}\n";
        let text = format!("program shaped{TABLES}body {{\n{body}}}");
        let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        let made = cse(program).to_string();
        assert!(made.contains("out#b2[1] = out#b2[0] + 1u8"), "{made}");
    }
}
