//! Random pipelines under random legal schedules: machine code gives what the interpreter gives.
//!
//! `HALIDE_FUZZ_SEED` and `HALIDE_FUZZ_CASES` set the first seed and the number of cases for long runs.

use crate::engines_agree::noise;
use halide::prelude::*;
use halide_core::arbitrary::{PipelineOptions, random_pipeline};
use halide_sched::auto::random::{RandomOptions, random_schedule};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn is_refusal(text: &str) -> bool {
    text.contains("does not suit the schedule") || text.contains("that nothing bounds") || text.contains("is too small")
}

/// Runs one case: whether it could be compared, or what failed.
fn case(seed: u64) -> Result<bool, String> {
    let pipeline = random_pipeline(seed, PipelineOptions { stages: 4, exact: seed.is_multiple_of(2) });
    let schedule = random_schedule(&pipeline, &Target::host(), seed, RandomOptions::default());
    let (w, h) = (1 + (seed % 19) as i32, 1 + (seed / 19 % 7) as i32);
    let spans: Vec<Region> = pipeline
        .outputs
        .iter()
        .map(|&f| {
            Region::of_spans(
                (0..pipeline.funcs[f].dims()).map(|d| (d as i32 - 1, [w, h, 2][d.min(2)])).collect::<Vec<_>>(),
            )
        })
        .collect();
    let run = |engine| {
        let compiled = pipeline.compile_on(engine, &schedule, &Target::host())?;
        let images = pipeline.images.enumerate().map(|(id, i)| {
            let wide = Region::of_spans(vec![(-40, 120); i.dims]);
            (i.name.clone(), noise(i.ty, &wide, seed + u64::from(id.0)))
        });
        let call = images.fold(compiled.inputs(), |call, (name, image)| call.image_named(&name, image));
        call.realize_all(&spans)
    };
    let Ok(expected) = run(Engine::Interp) else { return Ok(false) };
    // An output that the pipeline itself reads elsewhere, or a coordinate that nothing bounds, is refused, and that is right.
    let got = match run(Engine::Cpu) {
        Ok(got) => got,
        Err(e) if is_refusal(&e.to_string()) => return Ok(false),
        Err(e) => return Err(e.to_string()),
    };
    for (got, want) in got.iter().zip(&expected) {
        if let Some(at) = got.first_difference(want) {
            return Err(format!("{at:?}"));
        }
    }
    Ok(true)
}

#[test]
fn random_pipelines_under_random_schedules() {
    let mut ran = 0;
    let cases = number("HALIDE_FUZZ_CASES", 40);
    let first = number("HALIDE_FUZZ_SEED", 0);
    for seed in first..first + cases {
        let result = std::panic::catch_unwind(|| case(seed)).unwrap_or_else(|_| Err("panic".into()));
        ran += u64::from(result == Ok(true));
        if let Err(what) = result {
            let pipeline = random_pipeline(seed, PipelineOptions { stages: 4, exact: seed.is_multiple_of(2) });
            let schedule = random_schedule(&pipeline, &Target::host(), seed, RandomOptions::default());
            panic!("seed {seed}: {what}\n{pipeline}\n{schedule}");
        }
    }
    assert!(ran * 5 > cases, "only {ran} of {cases} cases could be compared");
    println!("{ran} of {cases} cases compared");
}
