//! Counts of a replay against those of the counted run, which are made without one; tasks and loops of steps.

use crate::replays::replay;
use halide::counts::FuncCounts;
use halide::prelude::*;
use halide_report::order::canvas::Canvas;
use halide_report::order::replay::Replay;
use halide_report::order::reuse::Reuse;
use std::collections::BTreeMap;

/// Schedules of a chain of three, each for an output of 8 by 8.
const SCHEDULES: [&str; 6] = [
    "",
    "across: compute_root()\n far: compute_root()",
    "down: tile(x, y, xo, yo, xi, yi, 4, 4)\n across: compute_at(down, xo)\n far: compute_at(down, yo)",
    "across: store_root() compute_at(down, y)\n far: compute_root()",
    "down: split(y, yo, yi, 4) parallel(yo) vectorize(x, 8)\n across: compute_at(down, yo) vectorize(x, 4)",
    "down: split(y, yo, yi, 2) parallel(yo)\n far: compute_at(across, y)\n across: compute_at(down, yo)",
];

/// A replay of a run, and the counts of the same run.
fn both(schedule: &str) -> (Replay, Vec<FuncCounts>) {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("in", U16, 2);
    let (mut far, mut across, mut down) = (Func::new("far"), Func::new("across"), Func::new("down"));
    far[(x, y)] = cast::<u32>(input[(x, y)]) * 3;
    across[(x, y)] = far[(x, y)] + far[(x + 2, y)];
    down[(x, y)] = across[(x, y)] + across[(x, y + 1)] + cast::<u32>(input[(x, y)]);
    let compiled = Pipeline::new([&down]).expect("it is right");
    let compiled = compiled.compile(&schedule.parse().expect("a schedule"), &Target::host());
    let compiled = compiled.unwrap_or_else(|error| panic!("{schedule}: {error}"));
    let image = Buffer::from_fn(&Region::of_extents([10, 9]), |at| (at[0] * at[1]) as u16).expect("an image");
    let mut out = Buffer::<u32>::new([8, 8]).expect("an output");
    let call = || compiled.inputs().image(&input, &image);
    let stats = call().count().realize_into(out.view_mut().expect("its own")).expect("it runs");
    let replay = Replay::of_call(&call(), &[Region::of_extents([8, 8])], &[]).expect("small");
    (replay, stats.counts.expect("asked for"))
}

#[test]
fn points_and_bytes_are_those_of_the_counted_run() {
    let bytes = BTreeMap::from([("in", 2), ("far", 4), ("across", 4), ("down", 4)]);
    for schedule in SCHEDULES {
        let (replay, counts) = both(schedule);
        for of in &counts {
            let stores = replay.canvas(&of.func).map_or(0, Canvas::stores);
            assert_eq!(stores, of.points, "points of {}, {schedule}", of.func);
            assert_eq!(stores * 4, of.stored, "bytes of {}, {schedule}", of.func);
            assert_eq!(of.sources.iter().map(|source| source.loaded).sum::<u64>(), of.loaded, "{schedule}");
        }
        for canvas in &replay.canvases {
            let sources = counts.iter().flat_map(|of| &of.sources).filter(|source| source.of == canvas.name);
            let loaded: u64 = sources.map(|source| source.loaded).sum();
            let (loads, size) = (canvas.loads(), bytes[canvas.name.as_str()]);
            assert_eq!(loads * size, loaded, "reads of {}, {schedule}", canvas.name);
        }
    }
}

#[test]
fn touches_are_first_ones_and_uses_again() {
    for schedule in SCHEDULES {
        let (replay, _) = both(schedule);
        let reuse = Reuse::of(&replay);
        let touches: u64 = replay.canvases.iter().map(|canvas| canvas.loads() + canvas.stores()).sum();
        let cells = replay.canvases.iter().flat_map(|canvas| &canvas.cells);
        let touched = cells.filter(|cell| cell.loads + cell.stores > 0).count() as u64;
        assert_eq!((reuse.first, reuse.first + reuse.count()), (touched, touches), "{schedule}");
        for (canvas, largest) in replay.canvases.iter().zip(&reuse.largest) {
            for (cell, largest) in canvas.cells.iter().zip(largest) {
                assert_eq!(largest.is_some(), cell.loads + cell.stores > 1, "{}, {schedule}", canvas.name);
            }
        }
        assert!(reuse.within(1.0) < Some(touched as u32), "{schedule}");
    }
}

/// Points of a tile are used sooner than points that are computed for the whole image.
#[test]
fn tiles_bring_uses_together() {
    let (root, tiles) = (both(SCHEDULES[1]).0, both(SCHEDULES[2]).0);
    let half = |replay: &Replay| Reuse::of(replay).within(0.5);
    assert!(half(&tiles) < half(&root), "{:?} of tiles, {:?} at the root", half(&tiles), half(&root));
}

#[test]
fn tasks_are_iterations_of_the_outermost_parallel_loop() {
    let (plain, _) = replay("across: compute_at(down, y)", [4, 6], &[]);
    assert!(plain.tasks == 0 && plain.steps.iter().all(|step| step.task == 0));
    let schedule = "down: split(y, yo, yi, 2) parallel(yo)\n across: compute_at(down, yo) parallel(y)";
    let (tasks, _) = replay(schedule, [4, 6], &[]);
    assert_eq!(tasks.tasks, 3);
    let stores = |task: u32| tasks.steps.iter().filter(|step| step.task == task && step.store.is_some()).count();
    assert_eq!([0, 1, 2, 3, 4].map(stores), [0, 24, 24, 24, 0], "4 rows of across and 2 of down each");
    assert!(tasks.steps.is_sorted_by_key(|step| step.task));
    let root = "across: compute_root()\n down: parallel(y)";
    let (replay, _) = replay(root, [4, 6], &[]);
    assert_eq!((replay.tasks, replay.steps.iter().filter(|step| step.task == 0).count()), (6, 4 * 8));
}

#[test]
fn steps_know_their_loops() {
    let (replay, _) = replay("down: split(y, yo, yi, 2)\n across: compute_at(down, yo)", [3, 4], &[]);
    let name = |number: Option<usize>| number.map(|number| replay.loops[number].as_str());
    let rows: Vec<(Option<&str>, Option<&str>)> =
        replay.steps.iter().map(|step| (name(step.within), name(step.fresh))).collect();
    assert_eq!(rows[0], (Some("across.x"), Some("down.yo")));
    assert_eq!(rows[1], (Some("across.x"), Some("across.x")));
    assert_eq!(rows[3], (Some("across.x"), Some("across.y")));
    assert_eq!(rows[12], (Some("down.x"), Some("down.yi")), "behind four rows of three");
    assert_eq!(rows[18], (Some("across.x"), Some("down.yo")));
    let begun = rows.iter().filter(|(_, fresh)| *fresh == Some("down.yo")).count();
    assert_eq!((rows.len(), begun), (2 * (12 + 6), 2));
}
