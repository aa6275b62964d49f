//! Findings: for each rule a schedule that has it, and one that has not; edits that are legal and leave every bit.

use halide::findings::{Finding, RULES, Rule};
use halide::prelude::*;
use halide::target::Gpu;

const SIZE: [i64; 2] = [640, 480];

fn target(threads: u32) -> Target {
    Target { threads, ..Target::host() }
}

fn blur() -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut blur_x, mut blur_y) = (Func::new("blur_x"), Func::new("blur_y"));
    blur_x[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
    blur_y[(x, y)] = (blur_x[(x, y)] + blur_x[(x, y + 1)] + blur_x[(x, y + 2)]) / 3;
    Pipeline::new([&blur_y]).unwrap()
}

fn compiled(pipeline: &Pipeline, schedule: &str, threads: u32) -> Compiled {
    let schedule: Schedule = schedule.parse().unwrap();
    Compiler::new(pipeline).engine(crate::CPU).schedule(&schedule).target(&target(threads)).compile().unwrap()
}

/// The findings of a schedule, with every edit compiled.
fn found(pipeline: &Pipeline, schedule: &str, threads: u32, size: &[i64]) -> Vec<Finding> {
    let compiled = compiled(pipeline, schedule, threads);
    let found = compiled.inputs().findings(&[Region::of_extents(size)]).unwrap();
    for edit in found.iter().filter_map(|finding| finding.edit.as_ref()) {
        assert_eq!(edit.schedule.to_string().parse::<Schedule>().unwrap(), edit.schedule, "text is what it says");
        pipeline.compile(&edit.schedule, &target(threads)).unwrap();
        assert_ne!(&edit.schedule, compiled.schedule());
    }
    found
}

fn has(found: &[Finding], rule: Rule) -> Option<&Finding> {
    found.iter().find(|finding| finding.rule == rule)
}

/// The finding of `bad`, which `good` has not.
fn only(pipeline: &Pipeline, rule: Rule, bad: &str, good: &str) -> Finding {
    let (bad, good) = (found(pipeline, bad, 8, &SIZE), found(pipeline, good, 8, &SIZE));
    assert!(has(&good, rule).is_none(), "{good:#?}");
    has(&bad, rule).unwrap_or_else(|| panic!("no {rule} in {bad:#?}")).clone()
}

/// The schedule after the edit of a finding.
fn mended(finding: &Finding) -> String {
    finding.edit.as_ref().unwrap_or_else(|| panic!("no edit: {finding}")).schedule.to_string()
}

#[test]
fn every_rule_has_a_name_and_a_threshold() {
    for row in RULES {
        assert_eq!((row.rule.row(), row.rule.name()), (row, row.name));
        assert!(row.threshold > 0.0 && !row.unit.is_empty(), "{row:?}");
    }
    let names: std::collections::BTreeSet<&str> = RULES.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), RULES.len());
}

#[test]
fn nothing_parallel() {
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = sin(cast::<f32>(x * y)) * cos(cast::<f32>(x + y)) + cast::<f32>(y);
    let pipeline = Pipeline::new([&f]).unwrap();
    let finding = only(&pipeline, Rule::NothingParallel, "f: unroll(x, 2)", "f: parallel(y)");
    assert_eq!(mended(&finding), "f: unroll(x, 2) parallel(y, 2)");
    assert_eq!((finding.func.as_deref(), finding.at_loop.as_deref()), (Some("f"), Some("f.y")));
    assert_eq!((finding.value, finding.threshold, finding.share), (0.0, 1.0, None));
    // Nothing to share: one thread, or little work.
    assert!(has(&found(&pipeline, "f: unroll(x, 2)", 1, &SIZE), Rule::NothingParallel).is_none());
    assert!(has(&found(&pipeline, "", 8, &[16, 16]), Rule::NothingParallel).is_none());
    // A loop that is long enough becomes the outermost one.
    let short = found(&pipeline, "", 8, &[100_000, 3]);
    let finding = has(&short, Rule::NothingParallel).unwrap();
    assert!(mended(finding).starts_with("f: reorder(y, x) parallel(x"), "{finding}");
}

#[test]
fn few_tasks_and_short_tasks() {
    let (few, good) = ("parallel(yo) vectorize(x, natural)", "parallel(yo) vectorize(x, natural)");
    let bad = format!("blur_y: split(y, yo, yi, 240) {few}\nblur_x: compute_at(blur_y, yi) vectorize(x, natural)");
    let good = format!("blur_y: split(y, yo, yi, 16) {good}\nblur_x: compute_at(blur_y, yi) vectorize(x, natural)");
    let finding = only(&blur(), Rule::FewTasks, &bad, &good);
    assert_eq!(finding.value, 0.25, "2 tasks for 8 threads");
    assert!(mended(&finding).contains("split(y, yo, yi, 8)"), "{finding}");
    let tall = |schedule: &str| found(&blur(), schedule, 2, &[64, 20_000]);
    let short = tall("blur_y: parallel(y) vectorize(x, natural)");
    let finding = has(&short, Rule::ShortTasks).unwrap_or_else(|| panic!("{short:#?}"));
    assert!(finding.value < 1.0, "{finding}");
    assert!(mended(finding).contains("parallel(y, "), "{finding}");
    assert!(has(&tall(&mended(finding)), Rule::ShortTasks).is_none_or(|left| left.value > 10.0 * finding.value));
}

#[test]
fn recompute_with_the_loop_to_blame() {
    let deep = "blur_x: compute_at(blur_y, x)\nblur_y: parallel(y)";
    let finding = only(&blur(), Rule::Recompute, deep, "blur_x: compute_root()");
    assert!((finding.value - 2.99).abs() < 0.02, "{finding}");
    assert_eq!((finding.func.as_deref(), finding.at_loop.as_deref()), (Some("blur_x"), Some("blur_y.x")));
    let after = found(&blur(), &mended(&finding), 8, &SIZE);
    assert!(has(&after, Rule::Recompute).is_none(), "{after:#?}");
    // Substituted three times.
    let finding = only(&blur(), Rule::Recompute, "", "blur_x: compute_root()");
    assert!(finding.text.contains("at each of 3 reads"), "{finding}");
    assert!(mended(&finding).contains("blur_x: compute_"), "{finding}");
}

#[test]
fn values_that_leave_the_caches() {
    let big = |schedule: &str| found(&blur(), schedule, 8, &[4096, 4096]);
    let root = big("blur_x: compute_root() parallel(y, 32) vectorize(x, natural)\nblur_y: parallel(y, 32)");
    let finding = has(&root, Rule::StoredFarOut).unwrap_or_else(|| panic!("{root:#?}"));
    assert!(finding.value > 1.0 && finding.text.contains("MiB"), "{finding}");
    assert_eq!(
        mended(finding),
        "blur_x: compute_at(blur_y, y) vectorize(x, natural)\nblur_y: parallel(y, 32)",
        "what is in a shared loop shares none itself"
    );
    assert!(has(&big(&mended(finding)), Rule::StoredFarOut).is_none());
    // Small enough for the caches.
    let small = found(&blur(), "blur_x: compute_root()", 8, &[64, 64]);
    assert!(has(&small, Rule::StoredFarOut).is_none(), "{small:#?}");
}

#[test]
fn no_vectors_and_vectors_across_rows() {
    let finding = only(&blur(), Rule::NoVectors, "blur_y: parallel(y)", "blur_y: parallel(y) vectorize(x, natural)");
    assert_eq!(mended(&finding), "blur_y: parallel(y) vectorize(x, natural)");
    let good = "blur_y: parallel(y) vectorize(x, 16)";
    let finding = only(&blur(), Rule::VectorsAcrossRows, "blur_y: vectorize(y, 16)", good);
    assert!(finding.value >= 640.0 * 2.0, "{finding}");
    assert_eq!(mended(&finding), "blur_y: vectorize(x, natural)");
    // A split by hand, with the mark on its inner loop.
    let by_hand = "blur_y: split(y, yo, yi, 16) reorder(yi, x, yo) vectorize(yi)";
    let finding = only(&blur(), Rule::VectorsAcrossRows, by_hand, good);
    assert!(mended(&finding).contains("vectorize(x, natural)"), "{finding}");
    assert!(!mended(&finding).contains("vectorize(yi)"), "{finding}");
}

fn colours() -> Pipeline {
    let input = ImageParam::new("input", U8, 3);
    let (x, y, c) = vars!(x, y, c);
    let mut bright = Func::new("bright");
    bright[(x, y, c)] = saturating_cast::<u8>(cast::<u16>(input[(x, y, c)]) * 2);
    Pipeline::new([&bright]).unwrap()
}

#[test]
fn innermost_loops_across_rows() {
    let size = [640, 480, 3];
    let across = found(&colours(), "bright: reorder(c, x, y) vectorize(x, 16)", 1, &size);
    let finding = has(&across, Rule::InnerAcrossRows).unwrap_or_else(|| panic!("{across:#?}"));
    assert_eq!((finding.at_loop.as_deref(), finding.value), (Some("bright.c"), 640.0 * 480.0));
    let after = found(&colours(), &mended(finding), 1, &size);
    assert!(has(&after, Rule::InnerAcrossRows).is_none(), "{after:#?}");
    let along = found(&colours(), "bright: reorder(x, c, y) vectorize(x, 16)", 1, &size);
    assert!(has(&along, Rule::InnerAcrossRows).is_none(), "{along:#?}");
    // Written out, it is no loop.
    let unrolled = found(&colours(), "bright: bound(c, 0, 3) reorder(c, x, y) unroll(c) vectorize(x, 16)", 1, &size);
    assert!(has(&unrolled, Rule::InnerAcrossRows).is_none(), "{unrolled:#?}");
}

#[test]
fn gathers() {
    let (input, table) = (ImageParam::new("input", U8, 2), ImageParam::new("table", U8, 1));
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = table[cast::<i32>(input[(x, y)])];
    let finding = only(&Pipeline::new([&f]).unwrap(), Rule::Gathers, "f: vectorize(x, 16)", "f: unroll(x, 2)");
    assert!(finding.text.contains("`table`") && finding.edit.is_none(), "{finding}");
}

#[test]
fn memory_of_tasks() {
    let tiles = |store: &str| {
        format!(
            "blur_y: tile(x, y, xo, yo, xi, yi, 32, 240) parallel(yo) vectorize(xi, natural)\n\
             blur_x: compute_at(blur_y, xo) vectorize(x, natural) {store}"
        )
    };
    let finding = only(&blur(), Rule::HeapInParallel, &tiles(""), &tiles("hoist_storage(blur_y, yo)"));
    assert_eq!(finding.value, 20.0, "a task has 20 tiles");
    assert_eq!(mended(&finding), tiles("hoist_storage(blur_y, yo)").parse::<Schedule>().unwrap().to_string());
}

#[test]
fn values_that_are_stored_wider_than_they_are_read() {
    let input = ImageParam::new("input", U8, 2);
    let (x, y) = vars!(x, y);
    let wide = |narrows: bool| {
        let (mut sum, mut out) = (Func::new("sum"), Func::new("out"));
        sum[(x, y)] = cast::<i32>(input[(x, y)]) + 1;
        out[(x, y)] = if narrows { cast::<u8>(sum[(x, y)]) } else { cast::<u8>(sum[(x, y)] / 2) };
        Pipeline::new([&out]).unwrap()
    };
    let of = |pipeline: &Pipeline| {
        let found = found(pipeline, "sum: compute_root() vectorize(x, 8)", 1, &SIZE);
        has(&found, Rule::StoredWider).cloned()
    };
    let finding = of(&wide(true)).unwrap();
    assert_eq!((finding.value, finding.func.as_deref()), (4.0, Some("sum")));
    assert!(of(&wide(false)).is_none());
}

/// A code generator without wide vectors has none that are too narrow.
#[cfg(feature = "cpu")]
#[test]
fn vectors_of_128_bits() {
    if halide::Tier::host() == halide::Tier::Baseline {
        return halide_skips::skip(halide_skips::Need::Cpu("avx2"), "refusals of wide vectors");
    }
    let input = ImageParam::new("input", I32, 2);
    let (x, y) = vars!(x, y);
    let made = |mirrors: bool| {
        let mut f = Func::new("f");
        // Coordinates are divided by the size of the image, lane by lane.
        f[(x, y)] = if mirrors { mirror_interior(&input)[(x + 1, y)] * 2 } else { input[(x + 1, y)] * 2 };
        Pipeline::new([&f]).unwrap()
    };
    let of = |pipeline: &Pipeline| {
        let found = found(pipeline, "f: vectorize(x, natural)", 1, &SIZE);
        has(&found, Rule::NarrowVectors).cloned()
    };
    let finding = of(&made(true)).unwrap();
    assert!(finding.text.contains("128 of"), "{finding}");
    assert!(of(&made(false)).is_none());
}

/// No device is needed: the evaluator runs kernels.
#[test]
fn work_that_goes_to_the_device_and_back() {
    let input = ImageParam::new("input", F32, 2);
    let (x, y) = vars!(x, y);
    let mut stages: Vec<Func> = (0..4).map(|n| Func::new(format!("s{n}"))).collect();
    stages[0][(x, y)] = input[(x, y)] * 2f32;
    for n in 1..4 {
        let next = stages[n - 1][(x, y)] + 1f32;
        stages[n][(x, y)] = next;
    }
    let pipeline = Pipeline::new([&stages[3]]).unwrap();
    let turns = |on_device: [bool; 4]| {
        let mut text = String::new();
        for (n, on) in on_device.into_iter().enumerate() {
            let root = if n < 3 { "compute_root()" } else { "" };
            let tile = if on { "gpu_tile(x, y, xo, yo, xi, yi, 8, 8)" } else { "" };
            text += &if root.len() + tile.len() > 0 { format!("s{n}: {root} {tile}\n") } else { String::new() };
        }
        let target = Target { gpu: Some(Gpu::LEAST), ..target(1) };
        let schedule: Schedule = text.parse().unwrap();
        let compiler = Compiler::new(&pipeline).engine(Engine::Eval).schedule(&schedule).target(&target);
        let found = compiler.compile().unwrap().inputs().findings(&[Region::of_extents(SIZE)]).unwrap();
        has(&found, Rule::DeviceInTurns).cloned()
    };
    let finding = turns([true, false, true, false]).unwrap();
    assert_eq!((finding.value, finding.func.as_deref()), (3.0, Some("s1")));
    assert!(turns([true, true, true, true]).is_none() && turns([false, true, true, false]).is_none());
}

#[test]
fn edits_of_several_findings_are_one_and_leave_every_bit() {
    let pipeline = blur();
    let slow = compiled(&pipeline, "blur_x: compute_root()", 8);
    let region = [Region::of_extents(SIZE)];
    let image = Buffer::from_fn(&Region::of_extents([642, 482]), |at| (at[0] * 31 + at[1] * 17) as u16).unwrap();
    let call = slow.inputs().image_named("input", &image);
    let found = call.findings(&region).unwrap();
    assert_eq!(format!("{found:?}"), format!("{:?}", call.findings(&region).unwrap()), "equal questions");
    let all: Vec<&Finding> = found.iter().collect();
    let edit = call.together(&region, &all).unwrap().unwrap();
    let text = edit.schedule.to_string();
    assert_eq!(text.matches("vectorize(x, natural)").count(), 2, "{text}");
    let fast = pipeline.compile(&edit.schedule, &target(8)).unwrap();
    let same = fast.inputs().image_named("input", &image).realize::<u16>(SIZE).unwrap();
    assert_eq!(same.to_vec(), call.realize::<u16>(SIZE).unwrap().to_vec());
    assert!(call.together(&region, &[]).unwrap().is_none());
    assert!(call.findings(&[]).is_err());
}

#[cfg(feature = "cpu")]
#[test]
fn a_profile_tells_parts_of_the_time() {
    let pipeline = blur();
    let slow = compiled(&pipeline, "blur_x: compute_root()", 2);
    let image = Buffer::<u16>::new([642, 482]).unwrap();
    let mut out = Buffer::<u16>::new(SIZE).unwrap();
    let call = slow.inputs().image_named("input", &image);
    let stats = call.profile().realize_into(out.view_mut().unwrap()).unwrap();
    let call = slow.inputs().image_named("input", &image);
    let found = call.findings_of(&[Region::of_extents(SIZE)], &stats.profile.unwrap()).unwrap();
    assert!(!found.is_empty());
    assert!(found.iter().all(|finding| finding.share.is_some_and(|share| (0.0..=1.0).contains(&share))), "{found:#?}");
}

/// Sizes of nothing and of one point, and pipelines without loops.
#[test]
fn odd_sizes_have_findings_or_none() {
    for size in [[0, 0], [1, 1], [1, 480], [640, 1]] {
        for schedule in ["", "blur_x: compute_root()", "blur_y: vectorize(y, 16)"] {
            let found = found(&blur(), schedule, 8, &size);
            assert!(found.iter().all(|finding| finding.work.is_finite() && finding.value.is_finite()), "{found:#?}");
        }
    }
    let mut point = Func::new("point");
    point[()] = 1.expr();
    assert!(found(&Pipeline::new([&point]).unwrap(), "", 8, &[]).is_empty());
}
