//! The passes from `Bounded` to `Final` in a row on whole programs: every step leaves a program that `verify` accepts.

use super::trace::LoweringTrace;
use super::*;
use crate::ir::{ForKind, Program, Stmt, build, samples, verify, visit};

/// Vectorized loops get a constant extent.
fn by_eight(s: Stmt) -> Stmt {
    match s {
        Stmt::For(mut l) if l.kind == ForKind::Vectorized => {
            l.extent = build::int(8);
            Stmt::For(l)
        }
        other => visit::map_stmt(other, |e| e.clone(), by_eight),
    }
}

fn checked(program: Program, pass: &str) -> Program {
    if let Err(errors) = verify::verify(&program) {
        let list: Vec<String> = errors.iter().map(|e| e.to_string()).collect();
        panic!("after {pass}:\n{}\n{program}", list.join("\n"));
    }
    program
}

#[test]
fn every_pass_leaves_a_program_that_verifies() {
    let mut p = samples::blur_bounded(true);
    p.body = by_eight(p.body);
    let mut trace = LoweringTrace::new();
    let p = checked(instrument::instrument(p), "instrument");
    let p = checked(uniquify::uniquify(p), "uniquify");
    let p = checked(flatten_storage::flatten_storage(p), "flatten_storage");
    let p = checked(unroll::unroll(p, &mut trace), "unroll");
    let p = checked(vectorize::vectorize(p, &mut trace), "vectorize");
    let p = checked(interleave::interleave(p), "interleave");
    let p = checked(share::share(p), "share");
    let p = checked(outline_tasks::outline_tasks(p), "outline_tasks");
    assert_eq!(p.stage, crate::ir::Stage::Final);
    assert_eq!(trace.to_string(), ":\n  blur_y.x: vectorized by 8\n");
}
