//! Writes what compiling comes to into a folder, and compares two folders: the proof that a change to the compiler
//! changes no code but what it says.
//!
//! ```text
//! cargo run -p halide-benches --bin code -- dump /tmp/before
//! cargo run -p halide-benches --bin code -- dump /tmp/after
//! cargo run -p halide-benches --bin code -- compare /tmp/before /tmp/after
//! ```
//!
//! Cases are all apps under all of their schedules, with edges inside and repeated, for every width of vectors that
//! this machine runs; and random pipelines, which use the directives that no app uses. Each case has three files:
//! decisions of passes (`.trace`), the lowered program (`.ir`), and machine code and shaders as text (`.code`). Both
//! variants of the code are in them: the main one, and the one with exact tails.

use clap::{Parser, Subcommand};
use halide::Tier;
use halide::prelude::*;
use halide::schedule::Schedule;
use halide_apps::app::{APPS, Edges};
use halide_benches::untuned::UNTUNED;
use halide_checks::case::Case;
use halide_cpu::CpuOptions;
use halide_gpu::codegen::{Features, Options as ShaderOptions};
use halide_ir::Program;
use halide_ir::target::Gpu;
use halide_sched::lower::{Accesses, LowerOptions, lower};
use halide_sched::plan::{Plan, resolve};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Lanes of a subgroup of the GPU that is compiled for. None is opened.
const SUBGROUP: u32 = 32;
/// The number of differing lines that are shown of a file.
const MOST_LINES: usize = 3;

/// Dumps what compiling comes to, and compares two dumps.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes decisions, programs and code of all cases into a new folder
    Dump {
        folder: PathBuf,
        /// Only cases whose name has this in it
        #[arg(long)]
        only: Option<String>,
        /// The number of random pipelines
        #[arg(long, default_value_t = 300)]
        random: u64,
    },
    /// Lists the files that differ between two folders
    Compare { before: PathBuf, after: PathBuf },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Dump { folder, only, random } => dump(&folder, only.as_deref(), random).map(|()| true),
        Command::Compare { before, after } => compare(&before, &after),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// A pipeline under a schedule for a machine.
struct Dumped {
    name: String,
    pipeline: Pipeline,
    schedule: Schedule,
    target: Target,
}

/// The machine that code is dumped for, but for the extensions of its processor: those are of this one.
fn target(tier: Tier) -> Target {
    let gpu = Some(Gpu { subgroup: Some(SUBGROUP), ..Gpu::LEAST });
    Target { vector_bits: tier.vector_bits(), threads: 8, cache_bytes: 1 << 20, gpu, ..Target::host() }
}

fn dump(folder: &Path, only: Option<&str>, random: u64) -> Result<(), String> {
    let begin = Instant::now();
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(format!("{} is not empty; dump into a new folder", folder.display()));
    }
    let mut count = 0;
    for tier in Tier::ALL {
        if !tier.available() {
            println!("skipped: this machine has no {}", tier.name());
            continue;
        }
        let cases = apps(tier)?.into_iter().chain((0..random).flat_map(|seed| random_case(tier, seed)));
        for case in cases.filter(|c| only.is_none_or(|part| c.name.contains(part))) {
            write_case(folder, &case)?;
            count += 1;
        }
    }
    println!("{count} cases in {:.0} s", begin.elapsed().as_secs_f64());
    Ok(())
}

/// All apps under all of their schedules, and the pipelines that nobody tuned.
fn apps(tier: Tier) -> Result<Vec<Dumped>, String> {
    let mut all = Vec::new();
    for app in APPS.iter().chain(UNTUNED) {
        for (edges, word) in [(Edges::Inside, "inside"), (Edges::Repeat, "repeat")] {
            let pipeline = app.default_pipeline(edges).map_err(|e| e.to_string())?;
            for named in app.schedules {
                let schedule = named.parse().map_err(|e| e.to_string())?;
                let name = format!("{}.{}.{word}.{}", app.name, named.name, tier.name());
                all.push(Dumped { name, pipeline: pipeline.clone(), schedule, target: target(tier) });
            }
        }
    }
    Ok(all)
}

/// A random pipeline under a random schedule, for one tier by turns; every third has kernels.
fn random_case(tier: Tier, seed: u64) -> Option<Dumped> {
    let turn = Tier::ALL[seed as usize % Tier::ALL.len()];
    if turn != tier {
        return None;
    }
    let drawn = if seed / 3 % 3 == 2 { Case::gpu_of_seed(seed, None) } else { Case::of_seed(seed, None) };
    let target = Target { vector_bits: tier.vector_bits(), ..drawn.target };
    let name = format!("random{seed:04}.{}", tier.name());
    Some(Dumped { name, pipeline: drawn.pipeline, schedule: drawn.schedule, target })
}

/// Writes the three files of a case.
fn write_case(folder: &Path, case: &Dumped) -> Result<(), String> {
    let [mut trace, mut ir, mut code] = [const { String::new() }; 3];
    match resolve(&case.pipeline, &case.schedule, &case.target) {
        Ok(plan) => {
            for exact_tails in [false, true] {
                let head = format!("== {}\n", if exact_tails { "exact tails" } else { "main" });
                [&mut trace, &mut ir, &mut code].into_iter().for_each(|text| text.push_str(&head));
                variant(&plan, exact_tails, [&mut trace, &mut ir, &mut code]);
            }
        }
        Err(errors) => errors.iter().for_each(|e| trace += &format!("{e}\n")),
    }
    for (extension, text) in [("trace", trace), ("ir", ir), ("code", code)] {
        let path = folder.join(format!("{}.{extension}", case.name));
        fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// Adds a variant of a plan to the texts of a case. What is refused is text as well.
fn variant(plan: &Plan, exact_tails: bool, [trace, ir, code]: [&mut String; 3]) {
    let options = LowerOptions { exact_tails, accesses: Accesses::BeforeLoops, ..LowerOptions::default() };
    match lower(plan, &options) {
        Ok(lowered) => {
            *trace += &lowered.trace.to_string();
            *ir += &lowered.program.to_string();
            machine_code(plan, &lowered.program, code);
            shaders(&lowered.program, code);
        }
        Err(errors) => errors.iter().for_each(|e| *trace += &format!("{e}\n")),
    }
}

fn machine_code(plan: &Plan, program: &Program, code: &mut String) {
    let options = CpuOptions { keep_text: true, ..CpuOptions::for_target(&plan.target) };
    match halide_cpu::compile(program, &options) {
        Ok(made) => {
            let stats = made.stats();
            *code += &format!("{} bytes, {} kernels, {} of stack\n", stats.bytes, stats.kernels, stats.stack);
            made.refusals().iter().for_each(|(name, why)| *code += &format!("refused {name}: {why}\n"));
            *code += &made.asm().unwrap_or_default();
        }
        Err(error) => *code += &format!("{error}\n"),
    }
}

fn shaders(program: &Program, code: &mut String) {
    let features = Features { int64: true, float64: true, subgroup: Some(SUBGROUP) };
    for (id, kernel) in program.kernels.enumerate() {
        let made = halide_gpu::codegen::compile(program, id, &ShaderOptions { features, pieces: false });
        let text = made.and_then(|shader| shader.spirv_text()).unwrap_or_else(|e| e.to_string());
        *code += &format!("kernel {} {:?}\n{text}\n", kernel.name, kernel.threads);
    }
}

/// Lists what differs; true if nothing does.
fn compare(before: &Path, after: &Path) -> Result<bool, String> {
    let names = |folder: &Path| -> Result<BTreeSet<String>, String> {
        let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(entries.filter_map(|e| Some(e.ok()?.file_name().to_string_lossy().into_owned())).collect())
    };
    let (old, new) = (names(before)?, names(after)?);
    let read = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).map_err(|e| format!("{name}: {e}"));
    let mut report = String::new();
    let mut differing = 0;
    for name in old.union(&new) {
        let text = match (old.contains(name), new.contains(name)) {
            (true, true) => difference(&read(before, name)?, &read(after, name)?),
            (true, false) => Some("  is only in the first folder\n".to_string()),
            _ => Some("  is only in the second folder\n".to_string()),
        };
        if let Some(text) = text {
            differing += 1;
            // Writing to a String does not fail.
            let _ = write!(report, "{name}\n{text}");
        }
    }
    println!("{report}{differing} of {} files differ", old.union(&new).count());
    Ok(differing == 0)
}

/// The first lines that differ.
fn difference(before: &str, after: &str) -> Option<String> {
    if before == after {
        return None;
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let line = |all: &[&str], i: usize| all.get(i).map_or("(end)".to_string(), |l| l.to_string());
    let differing = (0..old.len().max(new.len())).filter(|i| old.get(*i) != new.get(*i));
    let shown = differing.take(MOST_LINES);
    Some(shown.map(|i| format!("  {}\n  - {}\n  + {}\n", i + 1, line(&old, i), line(&new, i))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_shown_by_line() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(difference("a\nb\n", "a\nc\nd\n").unwrap(), "  2\n  - b\n  + c\n  3\n  - (end)\n  + d\n");
    }

    /// Dumps of one case are one text, so folders can be compared.
    #[test]
    fn dumps_are_deterministic() {
        let dumps = [(); 2].map(|()| {
            let case = random_case(Tier::Baseline, 0).unwrap();
            let plan = resolve(&case.pipeline, &case.schedule, &case.target).unwrap();
            let [mut trace, mut ir, mut code] = [const { String::new() }; 3];
            variant(&plan, true, [&mut trace, &mut ir, &mut code]);
            assert!(ir.contains("body") && code.contains("bytes"));
            [trace, ir, code]
        });
        assert_eq!(dumps[0], dumps[1]);
    }
}
