//! Runs in a process of its own, by the protocol of `benches/peers`.

use crate::rounds::milliseconds;
use serde_json::json;
use std::io::BufRead;
use std::time::Instant;

/// Reads numbers of runs, a line each, and prints the milliseconds of each run as a JSON list.
///
/// # Errors
/// The first of a run, a line that is no number, or an input that cannot be read.
pub fn serve(run: &mut dyn FnMut() -> Result<(), String>) -> Result<(), String> {
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let runs = line.trim().parse::<usize>().map_err(|error| error.to_string())?;
        let mut times = Vec::new();
        for _ in 0..runs {
            let begin = Instant::now();
            run()?;
            times.push(milliseconds(begin.elapsed()));
        }
        println!("{}", json!(times));
    }
    Ok(())
}
