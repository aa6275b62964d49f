//! Costs of loop nests: what a nest says that a run computes and stores is what the run counts.

use crate::case::Case;
use crate::class::refused_by_lowering;
use crate::engines::{self, Settled};
use crate::failure::{Failure, Outcome, failure};
use crate::sizes::Sizes;
use halide::lower::counting::lower_counting;
use halide::lower::{Counted, LowerOptions, Lowered, lower};
use halide::plan;
use halide_core::buffer::{AnyBuffer, Dim};
use halide_core::ids::{IdVec, ImageId, ParamId};
use halide_core::value::Scalar;
use halide_ir::{Program, eval};
use halide_sched::nest::{self, Nest, NestQuery, Work};
use std::collections::BTreeSet;

/// The largest part by which counts may be off where some iterations stand for others.
const MOST_OFF: f64 = 0.25;

/// Smaller counts may be off by as much as this one.
const LEAST: f64 = 10.0;

/// Holds the counts of a program that does nothing but count against those of one that computes.
fn counts_alone(
    plan: &plan::Plan,
    options: &LowerOptions,
    (params, images, outputs): (&[Scalar], &[AnyBuffer], &mut [AnyBuffer]),
    (program, counters): (&Program, &[i64]),
) -> Result<(), Failure> {
    let counting = lower_counting(plan, options).map_err(|e| failure("counting", format!("{e:?}")))?;
    if !counting.alone {
        return Ok(());
    }
    let stats = eval::run(&counting.program, params, images, outputs);
    let stats = stats.map_err(|e| failure("counting", format!("{e}\n{}", counting.program)))?;
    for (name, alone) in counting.program.counters.iter().zip(&stats.counters) {
        let at = program.counters.iter().position(|c| c == name);
        let whole = at.map_or(0, |at| counters[at]);
        if *alone != whole {
            let text = format!("{name}: {alone} alone, {whole} with all of the work");
            return Err(failure("counting", format!("{text}\n{}\n{program}", counting.program)));
        }
    }
    Ok(())
}

/// Holds the work of a nest, which is found without a run, against what a run counts: points, bytes and operations of
/// each Func, and the bytes that it reads of each buffer.
fn same_work(work: &Work, program: &Program, counters: &[i64]) -> Result<(), Failure> {
    let value = |name: &str| program.counters.iter().position(|c| c == name).map_or(0, |at| counters[at] as u64);
    for func in program.func_names.iter() {
        let own = work.funcs.iter().find(|w| w.name == *func).cloned().unwrap_or_default();
        let bytes = |is_store: bool| own.traffic.iter().filter(|(t, _)| t.is_store == is_store).map(|(_, n)| n).sum();
        let said = [own.points, bytes(false), bytes(true), own.operations.values().sum()];
        let whats = [Counted::Points, Counted::Loaded, Counted::Stored, Counted::Operations];
        let counted = whats.map(|what| value(&what.counter(func)));
        if said != counted {
            let text = format!("`{func}` has {counted:?} points, bytes read and stored, operations; its work {said:?}");
            return Err(failure("work", format!("{text}\n{work}\n{program}")));
        }
        let buffers: BTreeSet<&String> = own.traffic.keys().filter(|t| !t.is_store).map(|t| &t.buffer).collect();
        for buffer in buffers {
            let reads = own.traffic.iter().filter(|(t, _)| !t.is_store && t.buffer == *buffer);
            let (said, name) = (reads.map(|(_, n)| n).sum::<u64>(), Counted::Loaded.counter(func));
            let counted = value(&format!("{name} from {buffer}"));
            if said != counted {
                let text = format!("`{func}` reads {counted} bytes from `{buffer}`; its work says {said}");
                return Err(failure("work", format!("{text}\n{work}\n{program}")));
            }
        }
    }
    Ok(())
}

/// Evaluates a case with counters, and holds what its nest says against them: with each iteration counted they are
/// equal. So is its work. Also says if they are near where few iterations stand for all.
pub fn check(case: &Case) -> Result<(Outcome, bool), Failure> {
    let mut case = case.main_part();
    let Ok(plan) = plan::resolve(&case.pipeline, &case.schedule, &case.target) else {
        return Ok((Outcome::Refused("illegal schedule".into()), true));
    };
    let options = LowerOptions { exact_tails: true, count: true, ..LowerOptions::default() };
    let program = match lower(&plan, &options) {
        Ok(Lowered { program, .. }) => program,
        Err(errors) => return refused_by_lowering(&errors).map(|outcome| (outcome, true)),
    };
    let query = NestQuery::new(&plan, &options).map_err(|e| failure("nest query", format!("{e:?}")))?;
    let mut inputs = Sizes::new(&case);
    let programs = [(true, program)];
    let outputs = match engines::settled(&mut case, &plan, &programs, &mut inputs) {
        Ok(Settled::Values(outputs, _)) => outputs,
        Ok(Settled::Refused(why)) => return Ok((Outcome::Refused(why), true)),
        // Elements are counted before memory for them is asked for.
        Err(f) if f.kind == "evaluator IndexOverflow" => {
            return Ok((Outcome::Refused("large region".into()), true));
        }
        Err(f) => return Err(f),
    };
    let [(_, program)] = programs;
    let Some((ran, stats)) = outputs.first().and_then(|(_, ran)| Some((ran, ran.stats.as_ref()?))) else {
        return Ok((Outcome::Refused("no counts".into()), true));
    };
    let images: IdVec<ImageId, Vec<Dim>> = inputs.buffers.iter().map(|b| b.dims().to_vec()).collect();
    let outputs: Vec<Vec<Dim>> = ran.outputs.iter().map(|b| b.dims().to_vec()).collect();
    let params: IdVec<ParamId, Scalar> = case.pipeline.params.iter().map(|p| case.param(p)).collect();
    let sizes = nest::Sizes { images: &images, outputs: &outputs, params: &params };
    let images_given: Vec<AnyBuffer> = inputs.buffers.to_vec();
    let params_given: Vec<Scalar> = params.iter().copied().collect();
    let mut unwritten: Vec<AnyBuffer> = ran.outputs.to_vec();
    counts_alone(&plan, &options, (&params_given, &images_given, &mut unwritten), (&program, &stats.counters))?;
    let (each, few) = (query.at_each_iteration(&sizes), query.at(&sizes));
    if !each.guesses.is_empty() {
        return Ok((Outcome::Refused("depends on data".into()), true));
    }
    let work = query.work(&sizes);
    if !work.unknown.is_empty() {
        return Err(failure("work", format!("nothing depends on data, but {work}\n{case}\n{each}\n{program}")));
    }
    same_work(&work, &program, &stats.counters).map_err(|f| failure("work", format!("{}\n{case}", f.text)))?;
    let mut is_near = true;
    for func in program.func_names.iter() {
        let counted = [Counted::Points, Counted::Elements, Counted::Allocations].map(|what| {
            let name = what.counter(func);
            let at = program.counters.iter().position(|c| *c == name);
            at.map_or(0.0, |at| stats.counters[at] as f64)
        });
        let said = |nest: &Nest| {
            let (allocations, elements) = nest.stored(func);
            [nest.points(func), elements, allocations]
        };
        let exact = said(&each);
        if exact != counted {
            let text = format!("`{func}` has {counted:?} points, elements and allocations; its nest says {exact:?}");
            return Err(failure("nest", format!("{text}\n{case}\n{each}\n{program}")));
        }
        let mut pairs = said(&few).into_iter().zip(counted);
        is_near &= pairs.all(|(near, counted)| (near - counted).abs() <= MOST_OFF * counted.max(LEAST));
    }
    Ok((Outcome::Compared, is_near))
}
