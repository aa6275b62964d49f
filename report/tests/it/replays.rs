//! Counts, orders and ends of storage of runs.

use halide::prelude::*;
use halide_report::order::canvas::{Fold, Place, Step};
use halide_report::order::error::OrderError;
use halide_report::order::replay::Replay;

/// A blur of three across and three down of `f(x, y) = x + y`, and its result.
pub(crate) fn replay(schedule: &str, extents: [i64; 2], folds: &[Fold]) -> (Replay, Buffer<i32>) {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("in", I32, 2);
    let (mut across, mut down) = (Func::new("across"), Func::new("down"));
    across[(x, y)] = input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)];
    down[(x, y)] = across[(x, y)] + across[(x, y + 1)] + across[(x, y + 2)];
    let compiled =
        Pipeline::new([&down]).expect("it is right").compile(&schedule.parse().expect("a schedule"), &Target::host());
    let compiled = compiled.unwrap_or_else(|error| panic!("{error}"));
    let region = Region::of_extents(extents.map(|n| n + 2));
    let image = Buffer::from_fn(&region, |at| at[0] * at[1]).expect("an image");
    let call = compiled.inputs().image(&input, &image);
    let out = call.realize(extents).expect("it runs");
    let replay = Replay::of_call(&call, &[Region::of_extents(extents)], folds);
    (replay.unwrap_or_else(|error| panic!("{error}")), out)
}

fn stores(replay: &Replay, name: &str) -> u64 {
    replay.canvas(name).map_or(0, |canvas| canvas.stores())
}

#[test]
fn stores_and_loads_are_counted() {
    let (inline, _) = replay("", [4, 4], &[]);
    let names: Vec<&str> = inline.canvases.iter().map(|canvas| canvas.name.as_str()).collect();
    assert_eq!(names, ["in", "down"]);
    assert_eq!((stores(&inline, "down"), inline.canvas("in").map(|c| c.loads())), (16, Some(16 * 9)));
    let (root, _) = replay("across: compute_root()", [4, 4], &[]);
    assert_eq!((stores(&root, "across"), stores(&root, "down")), (4 * 6, 16));
    let (tiles, _) = replay("down: tile(x, y, xo, yo, xi, yi, 2, 2)\n across: compute_at(down, xo)", [4, 4], &[]);
    assert_eq!(stores(&tiles, "across"), 4 * (2 * 4));
    let across = tiles.canvas("across").expect("it is computed");
    assert_eq!((across.cell(0, 0).map(|c| c.stores), across.cell(0, 2).map(|c| c.stores)), (Some(1), Some(2)));
    assert_eq!((across.cell(4, 0), across.cell(0, -1)), (None, None));
    assert_eq!((across.cell(i64::MIN, 0), across.cell(0, i64::MAX)), (None, None));
}

/// The last value of each point, by replaying stores, is what the run gives.
#[test]
fn the_order_is_that_of_the_schedule() {
    let (sliding, out) = replay("across: store_root() compute_at(down, y)", [3, 2], &[]);
    assert_eq!(out.len(), stores(&sliding, "down"));
    let order: Vec<&str> = sliding.steps.iter().filter_map(|step| step.store).map(|p| name(&sliding, p)).collect();
    let expected = [vec!["across"; 9], vec!["down"; 3], vec!["across"; 3], vec!["down"; 3]].concat();
    assert_eq!(order, expected);
    let down = sliding.canvas("down").expect("it is an output");
    let steps: Vec<Option<u32>> = down.cells.iter().map(|cell| cell.first).collect();
    assert_eq!(steps, [9, 10, 11, 15, 16, 17].map(Some));
}

fn name(replay: &Replay, place: Place) -> &str {
    &replay.canvases[place.canvas].name
}

fn ended(step: &Step) -> usize {
    step.ended.len()
}

#[test]
fn storage_ends() {
    let (rows, _) = replay("across: compute_at(down, y)", [3, 2], &[]);
    let ends: Vec<usize> = rows.steps.iter().map(ended).filter(|n| *n > 0).collect();
    assert_eq!(ends, [9, 9], "the three rows of each iteration");
    let fold = Fold { func: "across".into(), dim: 1, factor: 3 };
    let (folded, _) = replay("across: store_root() compute_at(down, y)", [3, 4], &[fold]);
    let ends: Vec<usize> = folded.steps.iter().map(ended).filter(|n| *n > 0).collect();
    assert_eq!(
        ends,
        [vec![1; 9], vec![9]].concat(),
        "each store of row 3 and on takes the place of one of row 0 and on"
    );
}

#[test]
fn channels_have_canvases_of_their_own() {
    let (x, y, c) = vars!(x, y, c);
    let mut f = Func::new("f");
    f[(x, y, c)] = x + y + c;
    let compiled = Pipeline::new([&f]).expect("right").compile(&Schedule::new(), &Target::host()).expect("legal");
    let replay = Replay::of_call(&compiled.inputs(), &[Region::of_extents([2, 2, 2])], &[]).expect("small");
    let names: Vec<&str> = replay.canvases.iter().map(|canvas| canvas.name.as_str()).collect();
    assert_eq!(names, ["f(_, _, 0)", "f(_, _, 1)"]);
}

/// A tenth of each dimension of a Func of many points: what it is made of is left out.
#[test]
fn a_replay_leaves_out_what_is_too_large() {
    let (x, y) = vars!(x, y);
    let (mut fine, mut coarse) = (Func::new("fine"), Func::new("coarse"));
    fine[(x, y)] = x + y;
    coarse[(x, y)] = fine[(10 * x, 10 * y)] + fine[(10 * x + 1, 10 * y)];
    let schedule = "fine: compute_root() parallel(y)\n coarse: parallel(y)".parse().expect("a schedule");
    let compiled = Pipeline::new([&coarse]).expect("right").compile(&schedule, &Target::host()).expect("legal");
    let region = [Region::of_extents([9, 8])];
    let whole = Replay::of_call(&compiled.inputs(), &region, &[]);
    assert!(matches!(whole, Err(OrderError::TooManyCells { .. })));
    let all = |_: &Replay| true;
    let rest = Replay::of_what_fits(&compiled.inputs(), &region, &[], all).expect("small");
    assert_eq!(rest.left_out, ["fine"]);
    let names: Vec<&str> = rest.canvases.iter().map(|canvas| canvas.name.as_str()).collect();
    assert_eq!((&names[..], rest.steps.len()), (&["coarse"][..], 72));
    assert_eq!((&rest.loops[..], rest.tasks), (&["coarse.y".to_string(), "coarse.x".to_string()][..], 8));
    let small = [Region::of_extents([3, 3])];
    let whole = Replay::of_call(&compiled.inputs(), &small, &[]).expect("small");
    assert_eq!(Replay::of_what_fits(&compiled.inputs(), &small, &[], all).ok(), Some(whole), "all of it fits");
    let few = Replay::of_what_fits(&compiled.inputs(), &small, &[], |replay| replay.steps.len() < 20).expect("small");
    assert_eq!((&few.left_out[..], few.steps.len()), (&["fine".to_string()][..], 9), "the largest goes first");
    let least = Replay::of_what_fits(&compiled.inputs(), &small, &[], |_| false).expect("small");
    assert_eq!(least, few, "one stays");
    let (input, mut larger) = (ImageParam::new("in", I32, 2), Func::new("larger"));
    larger[(x, y)] = input[(x / 2, y)] + 1;
    let compiled_of_image = Pipeline::new([&larger]).expect("right").compile(&Schedule::new(), &Target::host());
    let compiled_of_image = compiled_of_image.expect("legal");
    let call = compiled_of_image.inputs().image(&input, Buffer::<i32>::new([4, 4]).expect("small"));
    let alone = Replay::of_what_fits(&call, &[Region::of_extents([8, 4])], &[], |_| false).expect("small");
    assert_eq!((&alone.left_out[..], alone.steps.len()), (&["in".to_string()][..], 32), "a Func stays, not an image");
    let all_large = Replay::of_what_fits(&compiled.inputs(), &[Region::of_extents([70, 70])], &[], all);
    assert!(matches!(all_large, Err(OrderError::Empty)));
}

#[test]
fn runs_that_cannot_be_drawn_are_refused() {
    let x = Var::new("x");
    let mut f = Func::new("f");
    f[x] = x + 1;
    let compiled = Pipeline::new([&f]).expect("right").compile(&Schedule::new(), &Target::host()).expect("legal");
    let of = |extent: i64| Replay::of_call(&compiled.inputs(), &[Region::of_extents([extent])], &[]);
    assert_eq!(of(4096).map(|replay| replay.steps.len()).ok(), Some(4096));
    let error = of(4097).expect_err("too wide");
    assert_eq!(error.to_string(), "`f` has 4097 points to draw, where 4096 fit; trace a smaller region");
    assert!(matches!(of(0), Err(OrderError::Empty)));
    let (image, mut g) = (ImageParam::new("in", U8, 1), Func::new("g"));
    g[x] = image[x];
    let compiled = Pipeline::new([&g]).expect("right").compile(&Schedule::new(), &Target::host()).expect("legal");
    let error = Replay::of_call(&compiled.inputs(), &[Region::of_extents([4])], &[]).expect_err("no image");
    assert!(std::error::Error::source(&error).is_some() && error.to_string().starts_with("the traced run failed"));
}
