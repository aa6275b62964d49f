//! Machines as files: JSON of one form, with every field of a [`Machine`] and no other.
//!
//! ```
//! use halide::machine::Machine;
//! use halide::machine_file;
//! let machine = Machine::host();
//! let text = machine_file::write(&machine)?;
//! assert_eq!(machine_file::read(text.as_bytes())?, machine);
//!
//! let torn = machine_file::read(&text.as_bytes()[..30]).unwrap_err();
//! assert!(torn.to_string().starts_with("line 3, column "), "{torn}");
//! # Ok::<(), machine_file::MachineFileError>(())
//! ```

mod error;
mod json;
mod limits;

pub use error::{FieldDefect, MachineFileError};

use halide_ir::machine::{Cache, Machine, Memory, Vector};
use json::{Reader, Value};
use std::fmt::Write;

/// The number of the form of files, which changes with their fields.
pub const VERSION: u32 = 2;

/// The field with the number of the form.
const MARK: &str = "halide_machine";

/// Returns the machine that a file holds.
///
/// # Errors
/// The bytes are no JSON, or a field is missing, unknown, there twice, of another kind, or outside of what machines
/// have. The error has the line, the field and a remedy.
pub fn read(bytes: &[u8]) -> Result<Machine, MachineFileError> {
    let reader = Reader::new(bytes)?;
    let file = reader.root()?;
    reader.version(&file, MARK, VERSION)?;
    let [_, cores, ghz, caches, memory, vector] =
        reader.object(&file, [MARK, "cores", "ghz", "caches", "memory", "vector"])?;
    Ok(Machine {
        cores: reader.whole(&cores, limits::THREADS)?,
        ghz: reader.number(&ghz, limits::GHZ)?,
        caches: reader.list(&caches, limits::CACHES)?.iter().map(|c| cache(&reader, c)).collect::<Result<_, _>>()?,
        memory: of_memory(&reader, &memory)?,
        vector: of_vector(&reader, &vector)?,
    })
}

fn cache(reader: &Reader<'_>, value: &Value<'_>) -> Result<Cache, MachineFileError> {
    let [bytes, line, ways, unified, shared_by, rate, latency] =
        reader.object(value, ["bytes", "line", "ways", "unified", "shared_by", "bytes_per_cycle", "latency"])?;
    let (size, length) = (reader.integer(&bytes, limits::BYTES)?, reader.power_of_two(&line, limits::LINE)?);
    Ok(Cache {
        bytes: size,
        line: length,
        ways: reader.whole(&ways, (1, (size / u64::from(length)).clamp(1, u64::from(u32::MAX))))?,
        unified: reader.truth(&unified)?,
        shared_by: reader.whole(&shared_by, limits::THREADS)?,
        bytes_per_cycle: reader.number(&rate, limits::PER_CYCLE)?,
        latency: reader.number(&latency, limits::LATENCY)?,
    })
}

fn of_memory(reader: &Reader<'_>, value: &Value<'_>) -> Result<Memory, MachineFileError> {
    let [both, streamed, mixed, latency] =
        reader.object(value, ["bytes_per_ns", "streamed_bytes_per_ns", "mixed_bytes_per_ns", "latency_ns"])?;
    Ok(Memory {
        bytes_per_ns: rates(reader, &both)?,
        streamed_bytes_per_ns: rates(reader, &streamed)?,
        mixed_bytes_per_ns: rates(reader, &mixed)?,
        latency_ns: reader.number(&latency, limits::LATENCY)?,
    })
}

/// A list of pairs of a number of threads and a rate, from few threads to many.
fn rates(reader: &Reader<'_>, value: &Value<'_>) -> Result<Vec<(u32, f64)>, MachineFileError> {
    let mut all = Vec::new();
    for pair in reader.list(value, limits::RATES)? {
        let [threads, rate] = reader.pair(&pair)?;
        let least = all.last().map_or(1, |(last, _)| u64::from(*last) + 1);
        let threads = reader.whole(&threads, (least, limits::THREADS.1))?;
        all.push((threads, reader.number(&rate, limits::PER_NS)?));
    }
    Ok(all)
}

fn of_vector(reader: &Reader<'_>, value: &Value<'_>) -> Result<Vector, MachineFileError> {
    let [bits, registers, loads, stores, issue, fmas] =
        reader.object(value, ["bits", "registers", "loads", "stores", "issue", "fmas"])?;
    Ok(Vector {
        bits: reader.power_of_two(&bits, limits::BITS)?,
        registers: reader.whole(&registers, limits::REGISTERS)?,
        loads: reader.number(&loads, limits::PER_CYCLE)?,
        stores: reader.number(&stores, limits::PER_CYCLE)?,
        issue: reader.number(&issue, limits::PER_CYCLE)?,
        fmas: reader.number(&fmas, limits::PER_CYCLE)?,
    })
}

/// Returns the text of a file that holds a machine. [`read`] gives the same machine back, to the last bit.
///
/// # Errors
/// A field is outside of what machines have, so that [`read`] would refuse it.
pub fn write(machine: &Machine) -> Result<String, MachineFileError> {
    let text = text(machine);
    read(text.as_bytes())?;
    Ok(text)
}

fn text(machine: &Machine) -> String {
    let Machine { cores, ghz, caches, memory, vector } = machine;
    let mut text = format!("{{\n  \"{MARK}\": {VERSION},\n  \"cores\": {cores},\n  \"ghz\": {},\n", number(*ghz));
    let rows: Vec<String> = caches.iter().map(|cache| format!("    {}", of_cache(cache))).collect();
    // Writing to a text does not fail.
    let _ = writeln!(text, "  \"caches\": [\n{}\n  ],", rows.join(",\n"));
    let pairs = |rates: &[(u32, f64)]| {
        let pairs: Vec<String> =
            rates.iter().map(|(threads, rate)| format!("[{threads}, {}]", number(*rate))).collect();
        pairs.join(", ")
    };
    let _ = writeln!(
        text,
        "  \"memory\": {{\n    \"bytes_per_ns\": [{}],\n    \"streamed_bytes_per_ns\": [{}],\n    \
         \"mixed_bytes_per_ns\": [{}],\n    \"latency_ns\": {}\n  }},",
        pairs(&memory.bytes_per_ns),
        pairs(&memory.streamed_bytes_per_ns),
        pairs(&memory.mixed_bytes_per_ns),
        number(memory.latency_ns)
    );
    let Vector { bits, registers, loads, stores, issue, fmas } = *vector;
    let [loads, stores, issue, fmas] = [loads, stores, issue, fmas].map(number);
    let _ = write!(
        text,
        "  \"vector\": {{\"bits\": {bits}, \"registers\": {registers}, \"loads\": {loads}, \"stores\": {stores}, \
         \"issue\": {issue}, \"fmas\": {fmas}}}\n}}\n"
    );
    text
}

fn of_cache(cache: &Cache) -> String {
    let Cache { bytes, line, ways, unified, shared_by, bytes_per_cycle, latency } = *cache;
    let [rate, latency] = [bytes_per_cycle, latency].map(number);
    format!(
        "{{\"bytes\": {bytes}, \"line\": {line}, \"ways\": {ways}, \"unified\": {unified}, \"shared_by\": {shared_by}, \
         \"bytes_per_cycle\": {rate}, \"latency\": {latency}}}"
    )
}

/// The shortest text that is read as this number. JSON has none for what is no number.
fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { "null".to_string() }
}

#[cfg(test)]
mod tests;
