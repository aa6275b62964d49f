//! A small run, step by step: of so large a part of the output that a page can show it, or else of a small image.

use super::super::args::CommonArgs;
use crate::app::App;
use crate::job::{Job, Source};
use halide::buffer::{Region, Span};
use halide::prelude::*;
use halide_report::model::{MOST_SPANS, span_count};
use halide_report::order::canvas::Fold;
use halide_report::order::error::OrderError;
use halide_report::order::replay::Replay;

/// Extents of the first two dimensions of the output that are tried, the smallest first. No canvas has more points than
/// the last.
const EXTENTS: [[i64; 2]; 6] = [[8, 8], [16, 12], [32, 16], [48, 32], [64, 48], [128, 32]];

/// Sizes of small images, for algorithms each of whose points needs much of an image, the smallest first.
const SIZES: [(i64, i64); 3] = [(16, 12), (32, 24), (64, 48)];

/// The extent of dimensions behind these.
const DEEP: i64 = 3;

/// The part of the spans of a page at which a run is small enough.
const STEPS: usize = 8 * MOST_SPANS;

/// The order in which a small part of the first output is computed, or all of it for a small image, and a line that
/// says which. Where either needs too much to show, that of the smallest part, without the Funcs that are too large.
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
    let mut largest = Err(OrderError::Empty);
    for most in EXTENTS {
        let next = part(job, compiled, most, |call, regions| Replay::of_call(call, regions, &folds)).map_err(told)?;
        if !replaces(&mut largest, next, "points of the output") {
            break;
        }
    }
    if largest.is_ok() {
        return largest.map_err(|why| why.to_string());
    }
    for (width, height) in SIZES {
        let source = Source::Random { seed: 0, width, height };
        let small = Job::within(app, source, &common.params, common.memory_cap).map_err(|why| why.to_string())?;
        let of = |call: &Call<'_>, regions: &[Region]| Replay::of_call(call, regions, &folds);
        let next = part(&small, compiled, [width, height], of).map_err(told)?;
        if !replaces(&mut largest, next, "points, all of a small output") {
            break;
        }
    }
    if largest.is_err() {
        let fits = |replay: &Replay| span_count(replay) <= MOST_SPANS;
        let of = |call: &Call<'_>, regions: &[Region]| Replay::of_what_fits(call, regions, &folds, fits);
        let rest = part(job, compiled, EXTENTS[0], of).map_err(told)?;
        let words = |(replay, points): (Replay, String)| {
            let left_out = format!("; left out, as too large to draw: {}", replay.left_out.join(", "));
            (replay, format!("{points} points of the output{left_out}"))
        };
        largest = rest.map(words);
    }
    largest.map_err(|why| why.to_string())
}

type Part = Result<(Replay, String), OrderError>;

/// Takes a part that can be shown, or the reason that there is none; false where no larger one is worth a try.
fn replaces(largest: &mut Part, next: Part, words: &str) -> bool {
    match next {
        Ok((replay, points)) => {
            let (is_new, fits) =
                (!matches!(largest, Ok((before, _)) if *before == replay), replay.steps.len() <= STEPS);
            if fits {
                *largest = Ok((replay, format!("{points} {words}")));
            }
            is_new && fits
        }
        Err(why) => {
            // A size that the schedule does not take is no reason against a larger one.
            let is_too_large = matches!(why, OrderError::TooManyEvents { .. } | OrderError::TooManyCells { .. });
            if largest.is_err() {
                *largest = Err(why);
            }
            !is_too_large
        }
    }
}

/// The order of a part of the first output, of at most these extents, with its extents.
fn part(
    job: &Job,
    compiled: &Compiled,
    most: [i64; 2],
    replay: impl FnOnce(&Call<'_>, &[Region]) -> Result<Replay, OrderError>,
) -> Result<Part, Error> {
    let Some(inputs) = job.runs.first() else { return Ok(Err(OrderError::Empty)) };
    let extent = |(dim, extent): (usize, &i64)| (*extent).min(most.get(dim).copied().unwrap_or(DEEP));
    let extents: Vec<i64> = job.extents.iter().enumerate().map(extent).collect();
    let region: Region = extents.iter().map(|extent| Span { min: 0, extent: *extent }).collect();
    let regions: Vec<Region> = job.outputs()?.iter().take(1).map(|_| region.clone()).collect();
    let size: Vec<String> = extents.iter().map(i64::to_string).collect();
    let replay = replay(&job.call(compiled, inputs, None), &regions);
    Ok(replay.map(|replay| (replay, size.join(" x "))))
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
