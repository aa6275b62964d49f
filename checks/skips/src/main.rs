//! Prints a ledger of skips. Fails where a test skipped what this machine could run, or said no known reason.

use halide_skips::{Ledger, Machine};
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: halide-skips LEDGER");
        return ExitCode::FAILURE;
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("the ledger {} cannot be read: {error}", path.display());
            return ExitCode::FAILURE;
        }
    };
    let judged = Ledger::read(&text).judge(&Machine::here());
    print!("{}", judged.text);
    for unknown in &judged.unknown {
        eprintln!("warning: {unknown}");
    }
    if judged.wrong.is_empty() {
        println!("nothing was skipped that this machine is known to run");
        return ExitCode::SUCCESS;
    }
    for wrong in &judged.wrong {
        eprintln!("error: {wrong}");
    }
    eprintln!("error: these skips hide tests that could run here");
    ExitCode::FAILURE
}
