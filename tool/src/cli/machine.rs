//! `halide machine`: the sizes and speeds of this machine, as it declares them or as they are measured.

use super::args::MachineArgs;
use super::failure::Failure;
use super::output;
use super::terminal::{progress, say};
use crate::files;
use crate::measure::{self, Bandwidth, Measured};
use halide::limits::available_memory;
use halide::machine::{Cache, Declared, Machine, Origin};
use halide::machine_file;
use halide::prelude::*;
use serde_json::{Value, json};

/// Prints the machine, and writes it to a file.
pub(crate) fn machine(args: &MachineArgs) -> Result<(), Failure> {
    let place = args.output.as_deref().map(output::place).transpose()?;
    let target = Target::host();
    let declared = Declared::host(&target);
    let measured = if args.measure { Some(measured(&declared.machine, &target)?) } else { None };
    let machine = measured.as_ref().map_or(&declared.machine, |measured| &measured.machine);
    let text = machine_file::write(machine)?;
    if let Some(place) = &place {
        output::write(place, &text)?;
    }
    let report = Report { machine, caches: &declared.caches, measured: measured.as_ref() };
    if args.json {
        return say(report.json(&text)?);
    }
    say(report.table().trim_end())?;
    match &place {
        Some(place) => say(format!("wrote {}", files::shown(place.path()))),
        None => Ok(()),
    }
}

/// Measures this machine, with a bar on a terminal.
pub(super) fn measured(declared: &Machine, target: &Target) -> Result<Measured, Failure> {
    let bar = progress(u64::from(measure::ROUNDS), "measuring");
    bar.tick();
    // Rows that are read and rows that are written; the rest is for others.
    let bytes = available_memory().map_or(measure::MOST_BYTES, |bytes| bytes / 4);
    let measured = measure::measure(declared, target, bytes, || bar.inc(1))?;
    bar.finish_and_clear();
    Ok(measured)
}

/// A machine with the sources of its figures.
struct Report<'a> {
    machine: &'a Machine,
    caches: &'a [Origin],
    measured: Option<&'a Measured>,
}

/// A line of the table: figure, value, source.
type Row = (String, String, &'static str);

impl Report<'_> {
    /// The source of speeds that can be measured.
    fn speeds(&self) -> &'static str {
        if self.measured.is_some() { "measured" } else { source(Origin::Typical) }
    }

    fn rows(&self) -> Vec<Row> {
        let Machine { cores, ghz, caches, memory, vector } = self.machine;
        let row = |figure: &str, value: String, source| (figure.to_string(), value, source);
        let (speeds, typical) = (self.speeds(), source(Origin::Typical));
        let per_cycle = [
            ("loads", vector.loads),
            ("stores", vector.stores),
            ("fused products and sums", vector.fmas),
            ("instructions", vector.issue),
        ];
        let mut rows = vec![
            row("cores", cores.to_string(), source(Origin::System)),
            row("clock", format!("{ghz:.2} GHz"), speeds),
            row("vector registers", format!("{} of {} bits", vector.registers, vector.bits), of_vectors()),
        ];
        rows.extend(per_cycle.map(|(what, rate)| row(&format!("{what} per cycle"), format!("{rate:.2}"), speeds)));
        for (level, (cache, origin)) in (1..).zip(caches.iter().zip(self.caches)) {
            let figure = |what: &str| format!("cache {level} {what}");
            rows.push((figure("size"), size_of(cache), source(*origin)));
            rows.push((figure("bandwidth"), format!("{:.1} bytes per cycle", cache.bytes_per_cycle), speeds));
            rows.push((figure("latency"), format!("{} cycles", cache.latency), typical));
        }
        let rates = |rates: &[(u32, f64)]| {
            let texts = rates.iter().map(|(threads, rate)| format!("{rate:.1} on {}", threads_of(*threads)));
            format!("{} bytes per ns", texts.collect::<Vec<_>>().join(", "))
        };
        rows.push(row("memory bandwidth", rates(&memory.bytes_per_ns), speeds));
        rows.push(row("stores past caches", rates(&memory.streamed_bytes_per_ns), speeds));
        rows.push(row("both at once", rates(&memory.mixed_bytes_per_ns), speeds));
        rows.push(row("memory latency", format!("{} ns", memory.latency_ns), typical));
        rows
    }

    fn table(&self) -> String {
        let mut text = aligned(&self.rows());
        if let Some(measured) = self.measured {
            text += "\nbytes per ns by the bytes of each thread, all threads together\n";
            text += &aligned(&by_size(&measured.bandwidths));
        }
        text
    }

    /// The machine as its file has it, and the sources.
    fn json(&self, file: &str) -> Result<Value, Failure> {
        let machine: Value = serde_json::from_str(file)?;
        let caches: Vec<&str> = self.caches.iter().map(|origin| source(*origin)).collect();
        let row = |b: &Bandwidth| json!({"threads": b.threads, "bytes": b.bytes, "sum": b.sum, "copy": b.copy});
        let bandwidths = self.measured.map(|m| m.bandwidths.iter().map(row).collect::<Vec<Value>>());
        Ok(json!({
            "machine": machine,
            "sources": {
                "cores": source(Origin::System),
                "vectors": of_vectors(),
                "caches": caches,
                "speeds": self.speeds(),
                "latencies": source(Origin::Typical),
            },
            "bandwidths": bandwidths,
        }))
    }
}

/// The word for an origin.
fn source(origin: Origin) -> &'static str {
    match origin {
        Origin::Processor => "processor",
        Origin::System => "system",
        Origin::Typical => "typical",
    }
}

/// The source of the width of vectors: extensions of x86-64 are asked for, others have one width.
fn of_vectors() -> &'static str {
    source(if cfg!(target_arch = "x86_64") { Origin::Processor } else { Origin::Typical })
}

fn threads_of(count: u32) -> String {
    if count == 1 { "1 thread".to_string() } else { format!("{count} threads") }
}

/// A number of bytes in the largest unit of which it has a whole number.
fn bytes(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} bytes"),
    }
}

fn size_of(cache: &Cache) -> String {
    let users = if cache.shared_by == 1 { "one core".to_string() } else { format!("{} cores", cache.shared_by) };
    let holds = if cache.unified { "data and code" } else { "data" };
    format!("{} of {users}, {holds}, {} ways, lines of {} bytes", bytes(cache.bytes), cache.ways, cache.line)
}

/// The rows of bandwidths, by number of threads.
fn by_size(bandwidths: &[Bandwidth]) -> Vec<Row> {
    let row = |b: &Bandwidth| {
        let what = format!("{} on {}", bytes(b.bytes), threads_of(b.threads));
        (what, format!("sum {:.1}, copy {:.1}", b.sum, b.copy), "measured")
    };
    bandwidths.iter().map(row).collect()
}

/// Rows as lines, with columns below each other.
fn aligned(rows: &[Row]) -> String {
    let width = |of: &dyn Fn(&Row) -> usize| rows.iter().map(of).max().unwrap_or(0);
    let (first, second) = (width(&|row| row.0.chars().count()), width(&|row| row.1.chars().count()));
    let line = |(figure, value, source): &Row| format!("{figure:first$}  {value:second$}  {source}\n");
    rows.iter().map(line).collect()
}
