//! Arguments that several commands have.

use clap::ValueEnum;
use halide::Tier;
use halide::features::CpuFeatures;
use halide::schedule::Amount;
use std::path::PathBuf;
use std::time::Duration;

/// The numbers of schedules.
#[derive(Debug, clap::Args)]
pub(crate) struct NumberArgs {
    /// Another number for a `let` of the schedule, such as tile=64; may be repeated
    #[arg(long, value_name = "NAME=NUMBER", value_parser = name_and_number)]
    pub(crate) set: Vec<(String, Amount)>,
}

/// The options that commands that take an app share.
#[derive(Debug, clap::Args)]
pub(crate) struct CommonArgs {
    /// The number of threads that parallel loops may use; all cores by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// The vector instructions that machine code may use: baseline (128 bits), avx2 or avx512; the widest of this
    /// machine by default
    #[arg(long, value_name = "NAME", value_parser = tier)]
    pub(crate) target: Option<Tier>,
    /// The extensions that machine code may use, such as avx2,fma,f16c,bmi2: no others, and the widest vectors that
    /// they are enough for; all of this machine by default
    #[arg(long, value_name = "LIST", value_parser = CpuFeatures::parse, conflicts_with = "target")]
    pub(crate) cpu_features: Option<CpuFeatures>,
    /// A parameter or a setting of the app; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub(crate) params: Vec<(String, String)>,
    /// The output size of a synthetic input [default with --random: what the schedule estimates, else that of benches]
    #[arg(long, value_name = "WxH", value_parser = size, allow_hyphen_values = true)]
    pub(crate) size: Option<(i64, i64)>,
    /// The most memory for images, inputs, outputs and what runs store, such as 512M or 4G; by default what this
    /// machine has available
    #[arg(long, value_name = "BYTES", value_parser = crate::memory::parse)]
    pub(crate) memory_cap: Option<u64>,
    /// Keep machine code for the CPU in this folder, and run what is there already without compiling it
    #[arg(long, value_name = "DIR")]
    pub(crate) code_cache: Option<PathBuf>,
    /// Run on random values from SEED instead of an image [default with --size: 0]
    #[arg(long, value_name = "SEED")]
    pub(crate) random: Option<u64>,
}

impl CommonArgs {
    /// Returns true if the input is synthetic.
    pub(crate) fn is_synthetic(&self) -> bool {
        self.size.is_some() || self.random.is_some()
    }

    /// The size and seed of a synthetic input, if one is asked for. Where no size is, it is the one that is
    /// `estimated`, or the `usual` one.
    pub(crate) fn synthetic(&self, estimated: Option<(i64, i64)>, usual: (i64, i64)) -> Option<((i64, i64), u64)> {
        let size = self.size.or(estimated).unwrap_or(usual);
        self.is_synthetic().then(|| (size, self.random.unwrap_or(0)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    /// Machine code for this CPU
    Cpu,
    /// Machine code for this CPU, and kernels on a GPU for what the schedule gives to it
    Gpu,
    /// The reference interpreter: slow, and right by definition
    Interp,
    /// The lowered loops, evaluated with every access checked: slow, finds the pass that went wrong
    Eval,
}

pub(super) fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err("expected NAME=VALUE".to_string()),
    }
}

fn name_and_number(text: &str) -> Result<(String, Amount), String> {
    let expected = || "expected NAME=NUMBER, for example tile=64, or NAME=natural".to_string();
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(expected)?;
    let number = match value {
        "natural" => Amount::Natural,
        digits => Amount::Const(digits.parse().map_err(|_| expected())?),
    };
    Ok((name.to_string(), number))
}

fn size(text: &str) -> Result<(i64, i64), String> {
    let number = |t: &str| t.parse::<i64>().map_err(|_| "expected WxH, for example 1536x1024".to_string());
    let (width, height) = text.split_once(['x', 'X']).ok_or("expected WxH, for example 1536x1024")?;
    Ok((number(width)?, number(height)?))
}

/// A time with its unit.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let expected = || "expected a time with its unit, for example 500ms, 60s or 5m".to_string();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(expected)?;
    let (number, unit) = text.split_at(digits);
    let seconds = match unit {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        _ => return Err(expected()),
    };
    let number: f64 = number.parse().map_err(|_| expected())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| expected())
}

fn tier(name: &str) -> Result<Tier, String> {
    let names = || Tier::ALL.map(Tier::name).join(", ");
    Tier::named(name).ok_or_else(|| format!("there are {}", names()))
}
