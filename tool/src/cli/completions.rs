//! `completions`: what a shell needs to complete the command line.

use super::args::Cli;
use super::failure::Failure;
use super::tool::Tool;
use clap::CommandFactory;
use clap_complete::{Shell, generate};
use std::io::{self, Write};

/// Prints the script for a shell.
pub(crate) fn completions(tool: &Tool, shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), tool.name, &mut script);
    match io::stdout().write_all(&script) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure(format!("stdout: {error}"))),
        _ => Ok(()),
    }
}
