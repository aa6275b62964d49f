//! A small run, step by step: of so large a part of the output that a page can show it, or else of a small image.

use super::super::args::CommonArgs;
use crate::app::App;
use crate::job::{Job, Source};
use halide::buffer::{Region, Span};
use halide::prelude::*;
use halide_report::model::MOST_SPANS;
use halide_report::order::canvas::Fold;
use halide_report::order::error::OrderError;
use halide_report::order::replay::Replay;

/// Extents of the first two dimensions of the output that are tried, the largest first.
const EXTENTS: [[i64; 2]; 8] = [[512, 128], [256, 64], [128, 64], [64, 48], [48, 32], [32, 16], [16, 12], [8, 8]];

/// Sizes of small images, for algorithms each of whose points needs much of an image.
const SIZES: [(i64, i64); 3] = [(64, 48), (32, 24), (16, 12)];

/// The extent of dimensions behind these.
const DEEP: i64 = 3;

/// The part of the spans of a page at which a run is small enough.
const STEPS: usize = 8 * MOST_SPANS;

/// The order in which a small part of the first output is computed, or all of it for a small image, and a line that
/// says which.
///
/// # Errors
/// The reason that there is none: even the smallest is too much to show, or none can be run.
pub(super) fn traced(
    (app, job): (&'static App, &Job),
    compiled: &Compiled,
    common: &CommonArgs,
) -> Result<(Replay, String), String> {
    let told = |error: Error| error.to_string();
    let folds = folds(compiled).map_err(told)?;
    let mut why = match part(job, compiled, &folds, &EXTENTS).map_err(told)? {
        Ok((replay, points)) => return Ok((replay, format!("{points} points of the output"))),
        Err(why) => why,
    };
    for (width, height) in SIZES {
        let source = Source::Random { seed: 0, width, height };
        let Ok(small) = Job::within(app, source, &common.params, common.memory_cap) else { continue };
        why = match part(&small, compiled, &folds, &EXTENTS[..1]).map_err(told)? {
            Ok((replay, points)) => return Ok((replay, format!("{points} points, all of a small output"))),
            Err(why) => why,
        };
    }
    Err(why.to_string())
}

/// The largest part of the first output that can be shown, of these extents; or why the smallest cannot.
fn part(
    job: &Job,
    compiled: &Compiled,
    folds: &[Fold],
    most: &[[i64; 2]],
) -> Result<Result<(Replay, String), OrderError>, Error> {
    let mut last = Err(OrderError::Empty);
    let Some(inputs) = job.runs.first() else { return Ok(last) };
    for most in most {
        let extent = |(dim, extent): (usize, &i64)| (*extent).min(most.get(dim).copied().unwrap_or(DEEP));
        let extents: Vec<i64> = job.extents.iter().enumerate().map(extent).collect();
        let region: Region = extents.iter().map(|extent| Span { min: 0, extent: *extent }).collect();
        let regions: Vec<Region> = job.outputs()?.iter().take(1).map(|_| region.clone()).collect();
        let size: Vec<String> = extents.iter().map(i64::to_string).collect();
        last = Replay::of_call(&job.call(compiled, inputs, None), &regions, folds)
            .map(|replay| (replay, size.join(" x ")));
        let is_too_large = match &last {
            Ok((replay, _)) => replay.steps.len() > STEPS,
            Err(error) => matches!(error, OrderError::TooManyEvents { .. } | OrderError::TooManyCells { .. }),
        };
        if !is_too_large {
            break;
        }
    }
    Ok(last)
}

/// The folded dimensions of Funcs.
fn folds(compiled: &Compiled) -> Result<Vec<Fold>, Error> {
    let rows = compiled.storage()?.into_iter();
    let fold = |row: halide::Stored| {
        let (dim, factor) = *row.folds.first()?;
        Some(Fold { func: row.name, dim, factor })
    };
    Ok(rows.filter_map(fold).collect())
}
