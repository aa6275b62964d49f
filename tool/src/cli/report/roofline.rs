//! The roofline of a run: how many operations each Func does for a byte that it must bring from memory, and how fast it
//! was, beside what the machine can do (Williams, Waterman, Patterson 2009).
//!
//! Bytes are those of the regions of producers that are stored at the root, and of images, each once, and of the Func's
//! own values if they are stored at the root: what is stored inside of loops is in caches. A Func that brings nothing
//! from memory has no point.

use super::figures::Figures;
use super::roofs::{Roofs, Unit};
use crate::processor::model;
use halide::counts::FuncCounts;
use halide::inspect::{DefinitionRow, Inspection};
use halide::profile::{Activity, Profile};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A run, as far as it is known.
pub(super) struct Run<'a> {
    pub(super) inspection: &'a Inspection,
    pub(super) profile: &'a Profile,
    pub(super) counts: &'a [FuncCounts],
    /// The bytes of each image.
    pub(super) images: &'a BTreeMap<String, u64>,
    /// The machine that the code is for.
    pub(super) figures: &'a Figures,
    pub(super) threads: u32,
}

/// The roofs of the machine, and the point of each Func.
pub(super) fn roofline(run: &Run<'_>) -> (Value, Value) {
    let points: Vec<Point> = run.counts.iter().filter_map(|counts| point(run, counts)).collect();
    let units: BTreeSet<Unit> = points.iter().map(|point| point.unit).collect();
    let roofs = Roofs::of(&run.figures.machine, run.threads, &units);
    let mut data = roofs.json();
    data["text"] = format!(
        "{}, {} threads, {}. A point above the roof of memory reads from caches what it is counted to read from memory.",
        model(),
        roofs.threads,
        run.figures.source
    )
    .into();
    let point = |point: &Point| {
        let Point { func, intensity, gops, unit } = point;
        json!({"func": func, "intensity": intensity, "gops": gops, "roof": roofs.nearest(*intensity, *unit)})
    };
    (data, points.iter().map(point).collect())
}

/// A Func under the roofs.
struct Point {
    func: String,
    /// Operations for a byte that crosses memory.
    intensity: f64,
    /// Operations a nanosecond, of all threads.
    gops: f64,
    /// The unit that does most of its operations, by the type of its values.
    unit: Unit,
}

/// The point of a Func; `None` if it brings nothing from memory, or was not seen at work.
fn point(run: &Run<'_>, counts: &FuncCounts) -> Option<Point> {
    let is_its = |activity: &Activity| matches!(activity, Activity::Computes { func, .. } if *func == counts.func);
    let rows = run.profile.rows.iter().filter(|row| is_its(&row.activity));
    let (seconds, threads) = rows.fold((0.0, 0.0f64), |(seconds, threads), row| {
        (seconds + run.profile.self_time(row).as_secs_f64(), threads.max(run.profile.threads(row)))
    });
    let bytes = memory_bytes(run, &counts.func)?;
    if seconds <= 0.0 || bytes == 0 || counts.operations == 0 {
        return None;
    }
    let types = definitions(run.inspection, &counts.func).flat_map(|row| &row.types);
    Some(Point {
        func: counts.func.clone(),
        intensity: counts.operations as f64 / bytes as f64,
        gops: counts.operations as f64 / seconds * threads.max(1.0) / 1e9,
        unit: types.map(|ty| Unit::of(*ty)).max()?,
    })
}

/// The bytes that a Func must bring from memory, and take there; `None` where they depend on data.
fn memory_bytes(run: &Run<'_>, func: &str) -> Option<u64> {
    let own = definitions(run.inspection, func).next()?;
    let mut bytes = if is_in_memory(own) { region_bytes(run, own)? } else { 0 };
    let mut seen = BTreeSet::new();
    let mut todo = vec![func.to_string()];
    while let Some(reader) = todo.pop() {
        for read in definitions(run.inspection, &reader).flat_map(|row| &row.reads) {
            if read.of == func || !seen.insert((read.is_image, read.of.clone())) {
                continue;
            }
            if read.is_image {
                bytes += run.images.get(&read.of).copied().unwrap_or(0);
                continue;
            }
            let Some(producer) = definitions(run.inspection, &read.of).next() else { continue };
            if producer.compute == "inline" {
                todo.push(read.of.clone());
            } else if is_in_memory(producer) {
                bytes += region_bytes(run, producer)?;
            }
        }
    }
    Some(bytes)
}

fn definitions<'a>(inspection: &'a Inspection, func: &'a str) -> impl Iterator<Item = &'a DefinitionRow> {
    inspection.definitions.iter().filter(move |row| row.func == func)
}

/// Returns true if the values of a Func are kept for the whole run.
fn is_in_memory(row: &DefinitionRow) -> bool {
    row.store == "at the root"
}

/// The bytes of the points that a run needs of a Func.
fn region_bytes(run: &Run<'_>, row: &DefinitionRow) -> Option<u64> {
    let counts = run.counts.iter().find(|counts| counts.func == row.func)?;
    let bytes: u64 = row.types.iter().map(|ty| ty.bytes() as u64).sum();
    Some(counts.needed? * bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide::machine::Machine;
    use halide::prelude::*;

    #[test]
    fn what_is_stored_at_the_root_crosses_memory() -> Result<(), Error> {
        let input = ImageParam::new("input", U16, 1);
        let x = Var::new("x");
        let (mut near, mut far, mut out) = (Func::new("near"), Func::new("far"), Func::new("out"));
        near[x] = input[x] * 3;
        far[x] = cast::<u32>(near[x]) + 1;
        out[x] = far[x] + far[x + 1] + cast::<u32>(near[x]);
        let schedule = "far: compute_root() near: compute_root() out: split(x, xo, xi, 8)".parse()?;
        let compiled = Pipeline::new([&out])?.compile(&schedule, &Target::host())?;
        let image = Buffer::<u16>::new([101])?;
        let mut to = Buffer::<u32>::new([100])?;
        let stats = compiled.inputs().image(&input, &image).count().realize_into(to.view_mut()?)?;
        let (inspection, counts) = (compiled.inspect()?, stats.counts.unwrap_or_default());
        let images = BTreeMap::from([("input".to_string(), 202)]);
        let profile = Profile::default();
        let run = Run {
            inspection: &inspection,
            profile: &profile,
            counts: &counts,
            images: &images,
            figures: &Figures { machine: Machine::host(), source: "typical figures".to_string() },
            threads: 1,
        };
        assert_eq!(memory_bytes(&run, "near"), Some(202 + 202), "its region of 101 and the image");
        assert_eq!(memory_bytes(&run, "far"), Some(404 + 202));
        assert_eq!(memory_bytes(&run, "out"), Some(400 + 404 + 202));
        Ok(())
    }
}
