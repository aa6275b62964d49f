//! Cases as users run them: through `compile`, with inputs no larger than is asked for, with outputs in the memory of
//! inputs, and with extern stages.

use crate::case::Case;
use crate::device::{self, OnDevice};
use crate::failure::{Failure, Outcome, compare, failure};
use crate::sizes::{Sizes, hull};
use halide::buffer::{BufferError, Span};
use halide::code_cache::CodeOrigin;
use halide::plan;
use halide::prelude::*;
use halide_core::ids::{FuncId, Id, ImageId};
use halide_core::interp::{self, Options, RunError};
use halide_core::pipeline::DimField;
use halide_core::shape::BufferOf;
use halide_sched::lower::storage::in_place::in_place as is_in_place;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most times that inputs are made larger for what inlining drops and the interpreter evaluates.
const MOST_ROUNDS: usize = 40;

/// The variant that serves the call is found on the way. Code is compiled for the first run, and written; the second
/// runs what is read.
pub(crate) fn check(case: &Case, inputs: &Sizes, expected: &[AnyBuffer]) -> Result<(), Failure> {
    let folder = Scratch::new();
    let cache = CodeCache::in_folder(&folder.0);
    let compiler = Compiler::new(&case.pipeline).schedule(&case.schedule).target(&case.target).code_cache(&cache);
    for threads in [1, 2] {
        let compiled = match compiler.compile() {
            Ok(compiled) => compiled,
            // What computes a memoized Func is a pipeline of its own, of which nothing was found out before.
            Err(Error::Schedule(_) | Error::Lower(_)) if case.memoizes() => return Ok(()),
            // What generators make of the loops of an instruction is theirs; a schedule that names one is told.
            Err(Error::NotEmitted(_)) => return Ok(()),
            Err(e) => return Err(failure("cpu refuses", e.to_string())),
        };
        let images = case.pipeline.images.iter().zip(&inputs.buffers);
        let call = with_params(case, compiled.inputs().threads(threads).print_to(|_| {}));
        let call = images.fold(call, |call, (i, buffer)| call.image_named(&i.name, buffer.clone()));
        let got = call.realize_all(&case.regions).map_err(|e| failure("cpu fault", e.to_string()))?;
        compare(&format!("facade, {threads} threads"), &got, expected)?;
        let is_read = |(_, origin): &(_, CodeOrigin)| matches!(origin, CodeOrigin::Read { .. });
        let origins = compiled.code_origins();
        if let Some((key, origin)) = origins.iter().find(|made| threads == 2 && !is_read(made)) {
            return Err(failure("code cache", format!("{key:?}: {origin}")));
        }
        if threads == 2 && case.seed.is_multiple_of(3) {
            interleaved(case, &compiled, inputs, expected)?;
        }
    }
    Ok(())
}

/// The same call with buffers in which the values of a pixel lie beside each other, where no rule says how they lie.
fn interleaved(case: &Case, compiled: &Compiled, inputs: &Sizes, expected: &[AnyBuffer]) -> Result<(), Failure> {
    let broken = |e: BufferError| failure("interleaved", e.to_string());
    let is_ruled = |of: BufferOf| case.pipeline.shapes.iter().any(|r| r.of == of && r.field == DimField::Stride);
    let turns = |buffer: &AnyBuffer| matches!(buffer.dims(), [_, .., last] if (2..16).contains(&last.extent));
    let mut turned = 0;
    let mut lie = |buffer: &AnyBuffer, of: BufferOf| {
        if !turns(buffer) || is_ruled(of) {
            return Ok(buffer.clone());
        }
        turned += 1;
        let mut made = AnyBuffer::interleaved(buffer.ty(), &buffer.region())?;
        made.view_mut()?.copy_from(buffer)?;
        Ok(made)
    };
    let mut call = with_params(case, compiled.inputs().threads(2).print_to(|_| {}));
    for ((id, image), buffer) in case.pipeline.images.enumerate().zip(&inputs.buffers) {
        call = call.image_named(&image.name, lie(buffer, BufferOf::Image(id)).map_err(broken)?);
    }
    let owners = case.pipeline.outputs.iter().flat_map(|f| vec![*f; case.pipeline.funcs[*f].types.len()]);
    let mut outputs = Vec::new();
    for (func, buffer) in owners.zip(expected) {
        let empty = AnyBuffer::with_region(buffer.ty(), &buffer.region()).map_err(broken)?;
        outputs.push(lie(&empty, BufferOf::Output(func)).map_err(broken)?);
    }
    // Outputs with rules for strides are laid out by `realize_all`.
    if turned == 0 || case.pipeline.outputs.iter().any(|func| is_ruled(BufferOf::Output(*func))) {
        return Ok(());
    }
    let mut views = outputs.iter_mut().map(AnyBuffer::view_mut).collect::<Result<Vec<_>, _>>().map_err(broken)?;
    let ran = call.realize_all_into(&mut views);
    drop(views);
    ran.map_err(|e| failure("interleaved buffers", e.to_string()))?;
    compare("interleaved buffers", &outputs, expected)
}

/// A folder that goes with its case.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Scratch(std::env::temp_dir().join(format!("halide-check-{}-{number}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that stays is in the way of nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn with_params<'c>(case: &Case, call: Call<'c>) -> Call<'c> {
    case.pipeline.params.iter().fold(call, |call, p| call.param_named(&p.name, case.param(p)))
}

/// Each output in the memory of each input that it may be in: what a copy would give, and nothing beside it is written.
pub(crate) fn in_place(case: &Case, inputs: &Sizes) -> Result<(), Failure> {
    let Ok(plan) = plan::resolve(&case.pipeline, &case.schedule, &case.target) else { return Ok(()) };
    let mut buffers: Vec<(FuncId, usize, &Region)> = Vec::new();
    for (func, region) in case.pipeline.outputs.iter().zip(&case.regions) {
        buffers.extend((0..case.pipeline.funcs[*func].types.len()).map(|element| (*func, element, region)));
    }
    let mut compiled = None;
    for image in case.pipeline.images.ids() {
        for (buffer, (func, element, region)) in buffers.iter().enumerate() {
            if is_in_place(&plan, image, *func, *element).is_err() {
                continue;
            }
            let made = case.pipeline.compile(&case.schedule, &case.target);
            if matches!(made, Err(Error::NotEmitted(_))) || made.is_err() && case.memoizes() {
                return Ok(());
            }
            let compiled = match &compiled {
                Some(made) => made,
                None => compiled.insert(made.map_err(|e| failure("cpu refuses", e.to_string()))?),
            };
            shared(case, inputs, compiled, (image, buffer, region), &buffers)?;
        }
    }
    Ok(())
}

/// One input in the memory of one output.
fn shared(
    case: &Case,
    inputs: &Sizes,
    compiled: &Compiled,
    (image, buffer, region): (ImageId, usize, &Region),
    buffers: &[(FuncId, usize, &Region)],
) -> Result<(), Failure> {
    let broken = |e: BufferError| failure("in place", e.to_string());
    let def = &case.pipeline.images[image];
    let mut own = AnyBuffer::with_region(def.ty, region).map_err(broken)?;
    case.fill(def, &mut own, &|of| Some(if of == image { region.clone() } else { inputs.region(of) }))
        .map_err(|e| failure("in place", e))?;
    let mut before = Vec::new();
    for (n, (func, element, region)) in buffers.iter().enumerate() {
        let ty = case.pipeline.funcs[*func].types[*element];
        before.push(match n == buffer {
            true => own.compact().map_err(broken)?,
            false => AnyBuffer::with_region(ty, region).map_err(broken)?,
        });
    }
    let mut memory = before.iter().map(AnyBuffer::compact).collect::<Result<Vec<_>, _>>().map_err(broken)?;
    let mut views = memory.iter_mut().map(AnyBuffer::view_mut).collect::<Result<Vec<_>, _>>().map_err(broken)?;
    let others = case.pipeline.images.enumerate().filter(|(id, _)| *id != image);
    let call = with_params(case, compiled.inputs().threads(2).print_to(|_| {}));
    let call = others.fold(call, |call, (id, i)| call.image_named(&i.name, inputs.buffers[id.index()].clone()));
    let ran = call.in_place_named(&def.name, buffer).realize_all_into(&mut views);
    drop(views);
    match ran {
        Ok(_) => {}
        // The input is no larger than the output, or not as its rules say.
        Err(Error::Fault(_) | Error::Run(_) | Error::InPlace(_)) => return Ok(()),
        Err(e) => return Err(failure("in place", e.to_string())),
    }
    let given = inputs.given(case).image(&def.name, own);
    let options = Options { before: Some(&before), ..Options::default() };
    match interp::run_with(&case.pipeline, &given, &case.regions, &options) {
        Ok(expected) => compare(&format!("`{}` in place of buffer {buffer}", def.name), &memory, &expected),
        // What inlining drops, the interpreter evaluates.
        Err(RunError::ReadOutside { .. }) => Ok(()),
        Err(e) => Err(failure("in place, interpreter", e.to_string())),
    }
}

/// A pipeline with extern stages, with inputs that are as large as it says that it needs.
pub(crate) fn with_externs(case: &Case) -> Result<Outcome, Failure> {
    let compile = |engine, schedule: &Schedule| match (engine, device::gpu()) {
        (Engine::Gpu, Some(gpu)) => {
            Compiler::new(&case.pipeline).gpu(gpu).schedule(schedule).target(&case.target).compile()
        }
        _ => Compiler::new(&case.pipeline).engine(engine).schedule(schedule).target(&case.target).compile(),
    };
    let reference = match compile(Engine::Interp, &Schedule::new()) {
        Ok(reference) => reference,
        // An input of a stage keeps what its buffer holds.
        Err(Error::Run(RunError::Extern { .. })) => return Ok(Outcome::Refused("kept values for a stage".into())),
        Err(e) => return Err(failure("interpreter", e.to_string())),
    };
    let mut needed: Vec<(String, Region)> = Vec::new();
    let engines: &[Engine] = match case.target.gpu.map(|_| device::gpu()) {
        None => &[Engine::Cpu, Engine::Eval],
        Some(Some(_)) => &[Engine::Eval, Engine::Gpu],
        Some(None) => &[Engine::Eval],
    };
    for &engine in engines {
        let compiled = match compile(engine, &case.schedule) {
            Ok(compiled) => compiled,
            Err(error) if engine == Engine::Gpu => return device_refuses(&error, "device refuses"),
            // The inputs of a stage are pipelines of their own, of which nothing was found out before.
            Err(Error::Lower(_) | Error::Schedule(_)) => {
                return Ok(Outcome::Refused("inputs of an extern stage".into()));
            }
            Err(Error::NotEmitted(_)) => return Ok(Outcome::Refused("an instruction that is not emitted".into())),
            Err(e) => return Err(failure("cpu refuses", e.to_string())),
        };
        if needed.is_empty() {
            let call = with_params(case, compiled.inputs());
            let needs = match call.infer_input_bounds(&case.regions) {
                Ok(needs) => needs,
                Err(Error::Query(_) | Error::Run(_)) => return Ok(Outcome::Refused("needs of data".into())),
                Err(e) => return Err(failure("needs", e.to_string())),
            };
            needed = needs.into_iter().map(|n| (n.name, at_least_one(&n.region))).collect();
        }
        let mut rounds = 0;
        let (given, expected) = loop {
            rounds += 1;
            let Some(given) = images(case, &needed)? else { return Ok(Outcome::Refused("large input".into())) };
            match realize(case, &reference, &given) {
                Ok(expected) => break (given, expected),
                Err(Error::Run(RunError::ReadOutside { image, dim, at, .. })) if rounds < MOST_ROUNDS => {
                    let Some((_, region)) = needed.iter_mut().find(|(name, _)| *name == image) else {
                        return Ok(Outcome::Refused("results of an extern stage".into()));
                    };
                    *region = hull(region, dim, Span { min: at, extent: 1 });
                }
                Err(Error::Run(_) | Error::Fault(_)) => return Ok(Outcome::Refused("extern stage".into())),
                Err(e) => return Err(failure("interpreter", e.to_string())),
            }
        };
        let got = match realize(case, &compiled, &given) {
            Ok(got) => got,
            Err(error) if engine == Engine::Gpu => return device_refuses(&error, "device fault with extern stages"),
            // What updates read and write of an output is found of their whole domains, also of empty ones.
            Err(Error::Fault(fault))
                if fault.to_string().contains("the pipeline itself reads or writes more of it") =>
            {
                return Ok(Outcome::Refused("output shape".into()));
            }
            // What a schedule promises of shapes may not hold of what a stage is given, as elsewhere.
            Err(Error::Fault(fault)) if fault.kind() == FaultKind::Promise => {
                return Ok(Outcome::Refused("promise".into()));
            }
            Err(error) => return Err(failure("fault with extern stages", error.to_string())),
        };
        compare(&format!("extern stages on {engine:?}"), &got, &expected)?;
    }
    Ok(Outcome::Compared)
}

/// Returns a refusal, not a failure, for an error about something that devices need not be able to do.
fn device_refuses(error: &Error, kind: &str) -> Result<Outcome, Failure> {
    match device::refused(error) {
        Some(OnDevice::Refused(why)) => Ok(Outcome::Refused(why)),
        _ => Err(failure(kind, error.to_string())),
    }
}

fn realize(case: &Case, compiled: &Compiled, given: &[(String, AnyBuffer)]) -> Result<Vec<AnyBuffer>, Error> {
    let call = with_params(case, compiled.inputs().threads(2).print_to(|_| {}));
    given.iter().fold(call, |call, (name, image)| call.image_named(name, image.clone())).realize_all(&case.regions)
}

/// An image that nobody reads is there all the same.
fn at_least_one(region: &Region) -> Region {
    region.spans().iter().map(|s| Span { min: s.min, extent: s.extent.max(1) }).collect()
}

/// Images of these regions; `None` where that is too much.
fn images(case: &Case, regions: &[(String, Region)]) -> Result<Option<Vec<(String, AnyBuffer)>>, Failure> {
    let mut all = Vec::new();
    for (name, region) in regions {
        if region.points().is_none_or(|n| n > crate::sizes::MOST_ELEMENTS) {
            return Ok(None);
        }
        let Some(def) = case.pipeline.images.iter().find(|i| i.name == *name) else { continue };
        let made = AnyBuffer::with_region(def.ty, region).map_err(|e| e.to_string());
        let mut image = made.map_err(|e| failure("an input", e))?;
        let region_of = |of: ImageId| {
            let name = &case.pipeline.images[of].name;
            regions.iter().find(|(other, _)| other == name).map(|(_, region)| region.clone())
        };
        case.fill(def, &mut image, &region_of).map_err(|e| failure("an input", e))?;
        all.push((name.clone(), image));
    }
    Ok(Some(all))
}
