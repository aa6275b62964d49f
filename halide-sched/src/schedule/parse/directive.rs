//! One directive: its word and its arguments.

use super::super::directive::*;
use super::super::gpu::gpu_loops;
use super::super::tiling::Tiling;
use super::condition::condition;
use super::text::Text;
use super::{ParseError, hints};
use halide_core::error::Location;
use halide_ir::spelling::closest;

/// Every word that begins a directive.
pub(super) const WORDS: [&str; 50] = [
    "split",
    "fuse",
    "rename",
    "reorder",
    "tile",
    "serial",
    "parallel",
    "vectorize",
    "unroll",
    "gpu_blocks",
    "gpu_threads",
    "gpu_tile",
    "gpu_single_thread",
    "gpu_lanes",
    "partition",
    "auto_partition",
    "never_partition",
    "always_partition",
    "compute_root",
    "compute_at",
    "compute_inline",
    "compute_with",
    "store_root",
    "store_at",
    "hoist_storage_root",
    "hoist_storage",
    "reorder_storage",
    "align_storage",
    "fold_storage",
    "bound_storage",
    "store_in",
    "set_estimate",
    "set_estimates",
    "prefetch",
    "stream_stores",
    "monoid",
    "copy_to_device",
    "copy_to_host",
    "bound",
    "bound_extent",
    "align_bounds",
    "align_extent",
    "in",
    "clone_in",
    "rfactor",
    "specialize",
    "specialize_fail",
    "float",
    "allow_race_conditions",
    "atomic",
];

/// Returns true if `word` is a directive without arguments, whose parentheses may be left out.
pub(super) fn takes_nothing(word: &str) -> bool {
    word == "atomic" || nullary(word).is_some()
}

/// The arguments of the directive `word`, which stands at `at`. More than one verb only for `tile` and what
/// marks several loops.
pub(super) fn directive(text: &mut Text<'_>, word: &str, at: Location) -> Result<Vec<Verb>, ParseError> {
    if let Some(verb) = nullary(word) {
        if text.take("(") {
            text.expect(")")?;
        }
        return Ok(vec![verb]);
    }
    if word == "atomic" {
        return Ok(vec![atomic(text)?]);
    }
    text.expect("(")?;
    let verb = match word {
        "tile" => return Ok(tiling(text)?.verbs()),
        "gpu_tile" => return Ok(tiling(text)?.gpu_verbs()),
        "gpu_blocks" => return Ok(gpu_loops(LoopKind::GpuBlocks, text.names()?)),
        "gpu_threads" => return Ok(gpu_loops(LoopKind::GpuThreads, text.names()?)),
        "gpu_lanes" => return Ok(gpu_loops(LoopKind::GpuLanes, text.names()?)),
        "rfactor" => return Ok(vec![rfactor(text)?]),
        "reorder" => return Ok(vec![Verb::Reorder(text.names()?)]),
        "reorder_storage" => return Ok(vec![Verb::ReorderStorage(text.names()?)]),
        "in" => return Ok(vec![Verb::In { consumers: text.funcs()? }]),
        "clone_in" => return Ok(vec![Verb::CloneIn { consumers: text.funcs()? }]),
        "compute_at" => Verb::ComputeAt(site(text)?),
        "compute_with" => compute_with(text)?,
        "set_estimate" => hints::set_estimate(text)?,
        "set_estimates" => hints::set_estimates(text)?,
        "prefetch" => hints::prefetch(text)?,
        "monoid" => hints::monoid(text)?,
        "store_at" => Verb::StoreAt(site(text)?),
        "hoist_storage" => Verb::HoistStorage(site(text)?),
        "specialize" => Verb::Specialize(condition(text)?),
        "specialize_fail" => Verb::SpecializeFail(text.string("the message in quotes")?),
        "float" => Verb::Float(one_of(text, "strict, contract or relaxed", FLOAT_MODES, FloatMode::word)?),
        "store_in" => {
            Verb::StoreIn(one_of(text, "Auto, Heap, Stack, Register, Shared or Global", MEMORIES, memory_word)?)
        }
        "serial" | "parallel" | "vectorize" | "unroll" => mark(text, word)?,
        _ => match loop_directive(text, word)? {
            Some(verb) => verb,
            None => return Err(unknown(word, at)),
        },
    };
    text.expect(")")?;
    Ok(vec![verb])
}

fn nullary(word: &str) -> Option<Verb> {
    Some(match word {
        "compute_root" => Verb::ComputeRoot,
        "compute_inline" => Verb::ComputeInline,
        "store_root" => Verb::StoreRoot,
        "hoist_storage_root" => Verb::HoistStorageRoot,
        "gpu_single_thread" => Verb::GpuSingleThread,
        "copy_to_device" => Verb::Copy { to_device: true },
        "copy_to_host" => Verb::Copy { to_device: false },
        "stream_stores" => Verb::StreamStores,
        "allow_race_conditions" => Verb::AllowRaceConditions,
        _ => return None,
    })
}

fn unknown(word: &str, at: Location) -> ParseError {
    let help = closest(word, WORDS).map(|near| format!("did you mean `{near}`?"));
    ParseError { at, message: format!("expected a directive, found `{word}`"), help }
}

/// A directive whose arguments are names and numbers, up to `)`.
fn loop_directive(text: &mut Text<'_>, word: &str) -> Result<Option<Verb>, ParseError> {
    Ok(Some(match word {
        "split" => Verb::Split {
            var: var(text)?,
            outer: next_var(text)?,
            inner: next_var(text)?,
            factor: next_amount(text)?,
            tail: optional_tail(text)?,
        },
        "fuse" => Verb::Fuse { inner: var(text)?, outer: next_var(text)?, fused: next_var(text)? },
        "rename" => Verb::Rename { from: var(text)?, to: next_var(text)? },
        "partition" => {
            let var = var(text)?;
            text.expect(",")?;
            Verb::Partition { var, how: one_of(text, "Auto, Never or Always", PARTITIONS, partition_word)? }
        }
        "auto_partition" => Verb::Partition { var: var(text)?, how: Partition::Auto },
        "never_partition" => Verb::Partition { var: var(text)?, how: Partition::Never },
        "always_partition" => Verb::Partition { var: var(text)?, how: Partition::Always },
        "align_storage" => Verb::AlignStorage { var: var(text)?, multiple: next_integer(text)? },
        "bound_storage" => Verb::BoundStorage { var: var(text)?, extent: next_integer(text)? },
        "fold_storage" => {
            let (var, factor) = (var(text)?, next_integer(text)?);
            let backward = text.take(",");
            if backward && text.word("`backward`")? != "backward" {
                return Err(text.expected("`backward` before this"));
            }
            Verb::FoldStorage { var, factor, forward: !backward }
        }
        "bound" => Verb::Bound { var: var(text)?, min: next_amount(text)?, extent: next_amount(text)? },
        "bound_extent" => Verb::BoundExtent { var: var(text)?, extent: next_amount(text)? },
        "align_bounds" => {
            let (var, modulus) = (var(text)?, next_integer(text)?);
            let remainder = if text.sees(",") { next_integer(text)? } else { 0 };
            Verb::AlignBounds { var, modulus, remainder }
        }
        "align_extent" => Verb::AlignExtent { var: var(text)?, modulus: next_integer(text)? },
        _ => return Ok(None),
    }))
}

fn mark(text: &mut Text<'_>, word: &str) -> Result<Verb, ParseError> {
    let kind = match word {
        "serial" => LoopKind::Serial,
        "parallel" => LoopKind::Parallel,
        "vectorize" => LoopKind::Vectorized,
        _ => LoopKind::Unrolled,
    };
    let var = var(text)?;
    let factor = if text.sees(",") { Some(next_amount(text)?) } else { None };
    let tail = if factor.is_some() { optional_tail(text)? } else { Tail::Auto };
    Ok(Verb::Mark { kind, var, factor, tail })
}

/// `tile([x, y], [xo, yo], [xi, yi], [32, 8], TAIL)`, or all of it without brackets.
/// As many dimensions as Funcs have.
const MOST_TILED: usize = 8;

fn tiling(text: &mut Text<'_>) -> Result<Tiling, ParseError> {
    if text.take("[") {
        let vars = text.items("]", var)?;
        let outer = bracketed(text, var)?;
        let inner = bracketed(text, var)?;
        let factors = bracketed(text, amount)?;
        let tail = optional_tail(text)?;
        text.expect(")")?;
        return Ok(Tiling { vars, outer, inner, factors, tail });
    }
    // Each dimension takes three names and a factor; a tail may follow.
    let dims = (text.items_ahead() / 4).clamp(1, MOST_TILED);
    let mut names = vec![var(text)?];
    let mut factors = Vec::new();
    while names.len() < 3 * dims {
        names.push(next_var(text)?);
    }
    while factors.len() < dims {
        factors.push(next_amount(text)?);
    }
    let tail = optional_tail(text)?;
    text.expect(")")?;
    let inner = names.split_off(2 * dims);
    let outer = names.split_off(dims);
    Ok(Tiling { vars: names, outer, inner, factors, tail })
}

/// `atomic`, `atomic()` or `atomic(any_order)`.
fn atomic(text: &mut Text<'_>) -> Result<Verb, ParseError> {
    if !text.take("(") || text.take(")") {
        return Ok(Verb::Atomic { any_order: false });
    }
    one_of(text, "`any_order` or `)`", [()], |()| "any_order")?;
    text.expect(")")?;
    Ok(Verb::Atomic { any_order: true })
}

/// `f, x`, then an alignment for all loops, then `[loop, alignment]` for some of them.
fn compute_with(text: &mut Text<'_>) -> Result<Verb, ParseError> {
    let site = site(text)?;
    let (mut align, mut each) = (Align::default(), Vec::new());
    while text.take(",") {
        if text.take("[") {
            let var = var(text)?;
            text.expect(",")?;
            each.push((var, alignment(text)?));
            text.expect("]")?;
        } else if each.is_empty() {
            align = alignment(text)?;
        } else {
            return Err(text.expected("`[`"));
        }
    }
    Ok(Verb::ComputeWith { site, align, each })
}

fn alignment(text: &mut Text<'_>) -> Result<Align, ParseError> {
    let word = |align| match align {
        Align::NoAlign => "NoAlign",
        Align::AlignStart => "AlignStart",
        Align::AlignEnd => "AlignEnd",
    };
    one_of(text, "NoAlign, AlignStart or AlignEnd", [Align::NoAlign, Align::AlignStart, Align::AlignEnd], word)
}

/// `rfactor([r, s], [u, v])`, or of one each without brackets.
fn rfactor(text: &mut Text<'_>) -> Result<Verb, ParseError> {
    let (rvars, vars) = if text.take("[") {
        (text.items("]", var)?, bracketed(text, var)?)
    } else {
        (vec![var(text)?], vec![next_var(text)?])
    };
    text.expect(")")?;
    Ok(Verb::Rfactor { rvars, vars })
}

fn bracketed<T>(
    text: &mut Text<'_>,
    item: impl Fn(&mut Text<'_>) -> Result<T, ParseError>,
) -> Result<Vec<T>, ParseError> {
    text.expect(",")?;
    text.expect("[")?;
    text.items("]", item)
}

fn site(text: &mut Text<'_>) -> Result<Site, ParseError> {
    let func = text.func("the name of a Func")?.name;
    let mut stage = 0;
    if text.take(".update(") {
        stage = text.count("the number of an update")?.saturating_add(1);
        text.expect(")")?;
    }
    Ok(Site { func, stage, var: next_var(text)? })
}

pub(super) fn var(text: &mut Text<'_>) -> Result<String, ParseError> {
    text.name("the name of a loop")
}

pub(super) fn next_var(text: &mut Text<'_>) -> Result<String, ParseError> {
    text.expect(",")?;
    var(text)
}

pub(super) fn next_integer(text: &mut Text<'_>) -> Result<i64, ParseError> {
    text.expect(",")?;
    text.integer("a number")
}

fn next_amount(text: &mut Text<'_>) -> Result<Amount, ParseError> {
    text.expect(",")?;
    amount(text)
}

fn amount(text: &mut Text<'_>) -> Result<Amount, ParseError> {
    let what = "a number, a parameter or `natural`";
    if text.peek_integer() {
        return text.integer(what).map(Amount::Const);
    }
    let quoted = text.sees("\"");
    let name = text.name(what)?;
    Ok(if name == "natural" && !quoted { Amount::Natural } else { Amount::Param(name) })
}

fn optional_tail(text: &mut Text<'_>) -> Result<Tail, ParseError> {
    if text.take(",") { one_of(text, "a tail strategy", Tail::ALL, tail_word) } else { Ok(Tail::Auto) }
}

/// One of the words that `word` gives for `choices`.
pub(super) fn one_of<T: Copy, const N: usize>(
    text: &mut Text<'_>,
    what: &str,
    choices: [T; N],
    word: impl Fn(T) -> &'static str,
) -> Result<T, ParseError> {
    let mut error = text.expected(what);
    let found = text.word(what)?;
    choices.into_iter().find(|c| word(*c) == found).ok_or_else(|| {
        error.help = closest(found, choices.into_iter().map(&word)).map(|near| format!("did you mean `{near}`?"));
        error
    })
}

const FLOAT_MODES: [FloatMode; 3] = [FloatMode::Strict, FloatMode::Contract, FloatMode::Relaxed];
const MEMORIES: [Memory; 6] =
    [Memory::Auto, Memory::Heap, Memory::Stack, Memory::Register, Memory::Shared, Memory::Global];
const PARTITIONS: [Partition; 3] = [Partition::Auto, Partition::Never, Partition::Always];

fn memory_word(memory: Memory) -> &'static str {
    match memory {
        Memory::Auto => "Auto",
        Memory::Heap => "Heap",
        Memory::Stack => "Stack",
        Memory::Register => "Register",
        Memory::Shared => "Shared",
        Memory::Global => "Global",
    }
}

fn partition_word(partition: Partition) -> &'static str {
    match partition {
        Partition::Auto => "Auto",
        Partition::Never => "Never",
        Partition::Always => "Always",
    }
}

fn tail_word(tail: Tail) -> &'static str {
    match tail {
        Tail::Auto => "Auto",
        Tail::RoundUp => "RoundUp",
        Tail::GuardWithIf => "GuardWithIf",
        Tail::Predicate => "Predicate",
        Tail::PredicateLoads => "PredicateLoads",
        Tail::PredicateStores => "PredicateStores",
        Tail::ShiftInwards => "ShiftInwards",
        Tail::ShiftInwardsAndBlend => "ShiftInwardsAndBlend",
        Tail::RoundUpAndBlend => "RoundUpAndBlend",
    }
}
