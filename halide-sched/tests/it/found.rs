//! Cases that the random schedules found, each with the mechanism that was wrong.

use crate::matrix::{check, check_outputs, random_image};
use halide_core::boundary::repeat_edge;
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};

/// A region that is computed where a guard skips every point of an iteration has a negative extent; storage must not.
#[test]
fn regions_of_skipped_iterations_are_empty() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut b, mut c) = (Func::new("b"), Func::new("c"));
    b[(x, y)] = input[(x, y)] + 1;
    c[(x, y)] = b[(x, y)] + b[(x + 1, y + 1)];
    let p = Pipeline::new([&c]).unwrap();
    for schedule in [
        "c: split(y, y, t, 8) reorder(x, y, t)\n b: compute_at(c, t)",
        "c: split(y, y, t, 8, GuardWithIf) reorder(x, y, t)\n b: compute_at(c, t) vectorize(x, 4)",
    ] {
        for (w, h) in [(1, 1), (3, 3), (5, 9), (8, 17)] {
            let input = random_image(I16, &Region::of_extents([40, 40]), 1);
            check(&p, schedule, &[("in", input)], &Region::of_extents([w, h]));
        }
    }
}

/// Storage that one variant keeps inside of a vector loop must not stand around that variant as well.
#[test]
fn variants_store_in_different_places() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let clamped = repeat_edge(&input);
    let (mut up, mut out) = (Func::new("up"), Func::new("out"));
    up[(x, y)] = clamped[(x / 2, y / 2)] * 3;
    out[(x, y)] = up[(x, y)] + up[(x + 1, y + 1)];
    let p = Pipeline::new([&out]).unwrap();
    let schedule = "out: vectorize(y, 16)\n out.specialize(in.extent(0) != 16): unroll(y$v, 2, GuardWithIf)\n \
                    up: compute_at(out, y$v) store_root()";
    for (w, h) in [(1, 1), (4, 16), (5, 20)] {
        for extent in [16, 7] {
            let input = random_image(I16, &Region::of_extents([extent, 9]), 1);
            check(&p, schedule, &[("in", input)], &Region::of_extents([w, h]));
        }
    }
}

/// Lanes that a guard masks off read nothing.
#[test]
fn masked_lanes_do_not_read() {
    let input = ImageParam::new("in", I16, 2);
    let i = vars!(i);
    let r = RDom::over(&input);
    let (mut hist, mut cdf) = (Func::new("hist"), Func::new("cdf"));
    hist[i] = 0u32.expr();
    hist[clamp(cast::<i32>(input[(r.x, r.y)]) % 16, 0, 15)] += 1;
    let s = RDom::named("s", [(1, 15)]);
    cdf[i] = hist[i];
    let before = cdf[s.x - 1];
    cdf[s.x] += before;
    let p = Pipeline::new([&cdf]).unwrap();
    let schedule = "hist: compute_root()\n cdf: split(i, t3, t4, 4, GuardWithIf) vectorize(t3, 2)";
    for n in [16, 17, 21] {
        let input = random_image(I16, &Region::of_extents([8, 9]), 1);
        check(&p, schedule, &[("in", input)], &Region::of_extents([n]));
    }
}

/// A last chunk that starts earlier needs a region of at least its length, also where it keeps what is there.
#[test]
fn blended_chunks_fit_their_storage() {
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = x + 3 * y;
    g[(x, y)] = f[(1, 1)] + f[(x, y)];
    let p = Pipeline::new([&g]).unwrap();
    for schedule in
        ["f: compute_at(g, x) split(x, x, t, 2, ShiftInwardsAndBlend)", "g: split(x, x, t, 4, ShiftInwardsAndBlend)"]
    {
        for w in [4, 7, 9] {
            check(&p, schedule, &[], &Region::of_extents([w, 2]));
        }
    }
}

/// A Func that is called, but only in an argument that an inlined Func ignores, has no region: it is not computed.
#[test]
fn what_nobody_reads_is_not_computed() {
    let input = ImageParam::new("in", I16, 1);
    let (x, y) = vars!(x, y);
    let (mut deep, mut unread, mut ignores, mut out) =
        (Func::new("deep"), Func::new("unread"), Func::new("ignores"), Func::new("out"));
    ignores[(x, y)] = x * 2;
    deep[x] = input[x + 100];
    // Nor is what it would ask of inlined Funcs checked.
    unread[x] = deep[x] + cast::<i16>(ignores[(x * 2, x)]);
    unread[x] += 1;
    out[x] = ignores[(x, cast::<i32>(unread[x]))];
    let p = Pipeline::new([&out]).unwrap();
    // The interpreter still evaluates the argument.
    let image = random_image(I16, &Region::of_extents([120]), 1);
    for schedule in [
        "",
        "deep: compute_root()\n unread: compute_root()",
        "unread: compute_at(out, x)\n deep: compute_at(unread, x)",
    ] {
        check(&p, schedule, &[("in", image.clone())], &Region::of_extents([9]));
    }
}

/// A window that is only known to be at most as long as the range of i32 is no constant window.
#[test]
fn the_range_of_coordinates_is_no_window() {
    let input = ImageParam::new("in", U8, 1);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = input[x] + 1;
    g[(x, y)] = f[x - 2] + f[x - 1];
    let p = Pipeline::new([&g]).unwrap();
    let schedule = "g: split(x, x, xi, 5, GuardWithIf) reorder(x, y, xi)\n f: compute_at(g, y) store_root()";
    for w in [1, 7, 14] {
        let input = random_image(U8, &Region::of_spans([(-9, 40)]), 1);
        check(&p, schedule, &[("in", input)], &Region::of_extents([w, 2]));
    }
}

/// A region that is computed per iteration is as long as its promise from where it begins there, also in the last
/// iteration.
#[test]
fn promised_extents_count_from_each_iteration() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 2;
    g[(x, y)] = f[(x, y)] + 1;
    let p = Pipeline::new([&g]).unwrap();
    for schedule in [
        "f: compute_at(g, y) align_extent(y, 2)",
        "f: compute_at(g, y) store_root() align_extent(y, 3)",
        "f: compute_at(g, y) bound_extent(y, 4)",
        "f: compute_at(g, y) store_root() bound_extent(y, 4)",
        "f: compute_at(g, x) align_bounds(x, 4, 1) align_bounds(y, 3)",
    ] {
        for h in [1, 2, 3, 4] {
            let input = random_image(I16, &Region::of_spans([(-8, 30), (-8, 30)]), 1);
            check(&p, schedule, &[("in", input)], &Region::of_extents([5, h]));
        }
    }
}

/// A condition on a vector that has a name in a loop's body must not leave the body with that name.
#[test]
fn conditions_on_named_vectors_stay_or_are_expanded() {
    let input = ImageParam::new("in", F64, 3);
    let (x, y, z) = vars!(x, y, z);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y, z)] = input[(1, 1, max(likely(z), input.dim(2).min()))];
    g[(x, y, z)] = f[(1, y, max(likely(z), 1))];
    let p = Pipeline::new([&g]).unwrap();
    let schedule = "g: split(z, t1, t2, 2)\n g.specialize(g.extent(2) >= 4): vectorize(t2)\n f: compute_at(g, x)";
    for depth in [1, 4, 9] {
        let input = random_image(F64, &Region::of_spans([(0, 4), (0, 4), (-3, 20)]), 1);
        check(&p, schedule, &[("in", input)], &Region::of_extents([3, 2, depth]));
    }
}

/// Elements that an update writes along the dimension that moves are live as long as the Func is.
#[test]
fn an_update_along_the_moving_dimension_keeps_all_of_it() {
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    let r = RDom::new([(0, 5)]);
    f[(x, y)] = x + 10 * y;
    f[(x, r.x)] += r.x;
    g[(x, y)] = f[(x, y)] + f[(x, y + 2)];
    let p = Pipeline::new([&g]).unwrap();
    for h in [1, 3, 9] {
        check(&p, "f: store_root() compute_at(g, y)", &[], &Region::of_extents([3, h]));
    }
}

/// Storage per outer iteration is as large as the largest that inner iterations need, not as the range of coordinates.
#[test]
fn hoisted_storage_is_as_large_as_needed() {
    let (x, y, z) = vars!(x, y, z);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y, z)] = x + y + z;
    g[(x, y)] = f[(1, 1, x + y)];
    let p = Pipeline::new([&g]).unwrap();
    let schedule = "g: split(y, t2, t3, 2) reorder(x, t2, t3)\n f: compute_at(g, t2) hoist_storage(g, t3)";
    for (w, h) in [(1, 1), (5, 4), (3, 7)] {
        check(&p, schedule, &[], &Region::of_extents([w, h]));
    }
}

/// A variant of the consumer that computes all at once, in a loop that runs once, does not fold by as much as
/// coordinates reach.
#[test]
fn what_is_computed_at_once_is_no_length_of_a_fold() {
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = x * 3;
    g[(x, y)] = f[y] + x;
    let p = Pipeline::new([&g]).unwrap();
    let schedule = "g: split(x, x, t1, 2) split(t1, t1, t2, 2)
        g.specialize(g.extent(0) >= 4): reorder(t2, x, y, t1)
        f: store_root() compute_at(g, t1)";
    for (w, h) in [(1, 1), (5, 4), (8, 7)] {
        check(&p, schedule, &[], &Region::of_extents([w, h]));
    }
}

/// A coordinate that may wrap is one value in each iteration, as it is over all of them: no iteration computes more
/// than the whole run was checked for. (Seed 50089 of random_schedules.)
#[test]
fn coordinates_that_wrap_are_one_value_in_an_iteration() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    let r = RDom::named("r", [(0, 3)]);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = input[x] * 2;
    g[x] = 0.expr();
    g[x] += f[cast::<i32>(cast::<u8>(r.x))] + f[cast::<i32>(cast::<u8>(r.x) * 128u8) / 128];
    let p = Pipeline::new([&g]).unwrap();
    for schedule in ["f: compute_at(g.update(0), r.x)", "f: compute_at(g.update(0), x)", "f: compute_root()"] {
        let input = random_image(I32, &Region::of_extents([3]), 1);
        check(&p, schedule, &[("in", input)], &Region::of_extents([5]));
    }
}

/// No iteration computes more of a Func than the whole run was checked for, also where constants that hold for any
/// coordinate say less than the ends of the domain. (Seed 510011 of random_schedules.)
#[test]
fn iterations_compute_parts_of_the_whole() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    let r = RDom::named("r", [(-1, 4)]);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = input[x] * 2;
    g[x] = 0.expr();
    g[x] += f[min(r.x, 5) + max(r.x, -2) - r.x];
    let p = Pipeline::new([&g]).unwrap();
    for schedule in [
        "f: compute_at(g.update(0), r.x)",
        "g.update(0): split(r.x, ro, ri, 2)\n f: compute_at(g.update(0), ro)",
        "f: compute_at(g.update(0), x)",
    ] {
        let input = random_image(I32, &Region::of_spans([(-1, 4)]), 1);
        check(&p, schedule, &[("in", input)], &Region::of_extents([5]));
    }
}

/// The same, where a constant is one of two ends. (Seed 600063 of random_gpu_schedules.)
#[test]
fn iterations_compute_parts_of_the_whole_with_others() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    let r = RDom::named("r", [(1, 2), (2, 4)]);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = input[x] * 2;
    g[x] = 0.expr();
    g[x] += f[r.y] + f[min(r.x, 5) + max(r.x, -2) - r.x];
    let p = Pipeline::new([&g]).unwrap();
    for schedule in
        ["f: compute_at(g.update(0), ri)", "f: compute_at(g.update(0), ro)", "f: compute_at(g.update(0), r.y)"]
    {
        let schedule = format!("g.update(0): split(r.x, ro, ri, 3)\n {schedule}");
        let input = random_image(I32, &Region::of_spans([(1, 5)]), 1);
        check(&p, &schedule, &[("in", input)], &Region::of_extents([5]));
    }
}

/// Threads are not at one place of a phase: what one stores last has no place in common with what another stores first,
/// also where nobody reads that. (Seed 540169 of random_gpu_schedules.)
#[test]
fn what_a_phase_stores_is_apart() {
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = (cast::<u8>(x), cast::<u64>(x + y), cast::<u16>(y)).into();
    g[x] = cast::<i16>(1);
    g[x] += cast::<i16>(f[(x, -1)].at(1));
    let p = Pipeline::new([&g]).unwrap();
    for schedule in [
        "g.update(0): split(x, xo, xi, 2) gpu_threads(xi) gpu_blocks(xo)\n f: compute_at(g.update(0), xo)",
        "g.update(0): split(x, xo, xi, 4) gpu_threads(xi) gpu_blocks(xo)\n f: compute_at(g.update(0), xo) gpu_threads(y)",
    ] {
        for w in [1, 3, 9] {
            check(&p, schedule, &[], &Region::of_extents([w]));
        }
    }
}

/// A load that picks every other element reads none between them where another task stores those: the evaluator calls
/// that a race. (Seed 600044 of random_schedules.)
#[test]
fn tasks_read_nothing_of_others() {
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = cast::<u16>(1);
    f[x] += cast::<u16>(1);
    let p = Pipeline::new([&f]).unwrap();
    for tasks in ["parallel(x$v)", "gpu_blocks(x$v)"] {
        let schedule = format!("f.update(0): vectorize(x, 2) reorder(x, x$v) vectorize(x, 4) {tasks}");
        for w in [1, 15, 16, 31] {
            check(&p, &schedule, &[], &Region::of_extents([w]));
        }
    }
}

/// The same, where more is added to a constant. (Seed 695105 of random_schedules.)
#[test]
fn iterations_compute_parts_of_the_whole_with_sums() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = input[x];
    g[x] = f[x] + f[cast::<i32>(cast::<i8>(x))];
    g.output().dim(0).set_min(0).set_extent(5);
    let p = Pipeline::new([&g]).unwrap();
    for schedule in ["g: vectorize(x, 2)\n f: compute_at(g, x)", "g: split(x, xo, xi, 3)\n f: compute_at(g, xo)"] {
        let input = random_image(I32, &Region::of_extents([5]), 1);
        check(&p, schedule, &[("in", input)], &Region::of_extents([5]));
    }
}

/// Elements of few lanes that are far apart are loaded with what lies between them, and with nothing beyond the last
/// one. (Seed 750088 of changed_schedules.)
#[test]
fn dense_loads_end_with_what_is_read() {
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = cast::<i16>(1);
    f[x] = min(f[x], cast::<i16>(2));
    let p = Pipeline::new([&f]).unwrap();
    for (factor, lanes) in [(4, 2), (3, 2), (2, 2), (4, 3), (4, 4)] {
        let vectors = format!("split(x, t5, t6, 5) vectorize(t6, {lanes})");
        let schedule = format!("f.update(0): unroll(x, {factor}) reorder(x, x$u) {vectors}");
        for w in [1, 4, 5, 6, 19, 20, 21, 43] {
            check(&p, &schedule, &[], &Region::of_extents([w]));
        }
    }
}

/// The whole run knows of a rule that a first coordinate is 0, so that its part of a remainder ends sooner than what
/// holds for any iteration. (Seed 2105238 of random_schedules.)
#[test]
fn iterations_compute_no_more_than_a_whole_that_rules_bound() {
    let input = ImageParam::new("in", U8, 1);
    let x = vars!(x);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = input[x] + 1;
    g[x] = f[(x * 2) % 16] + f[x % 16 + 1] + f[20 - x % 8];
    g.output().dim(0).set_min(0);
    let p = Pipeline::new([&g]).unwrap();
    for schedule in ["f: compute_at(g, x)", "g: split(x, xo, xi, 4)\n f: compute_at(g, xo)", "f: compute_root()"] {
        for w in [1, 2, 7, 8, 9, 17] {
            let input = random_image(U8, &Region::of_spans([(0, 22)]), 1);
            check(&p, schedule, &[("in", input)], &Region::of_extents([w]));
        }
    }
    let mut h = Func::new("h");
    h[x] = f[x % 8];
    h.output().dim(0).set_min(0);
    let p = Pipeline::new([&h]).unwrap();
    for (w, schedule) in [(1, "f: compute_at(h, x)"), (3, "h: split(x, xo, xi, 2)\n f: compute_at(h, xo)")] {
        let input = random_image(U8, &Region::of_extents([w]), 1);
        check(&p, schedule, &[("in", input)], &Region::of_extents([w]));
    }
}

/// Steps of a merge that a predicate leaves nothing to do compute what they would need, so storage around them has room
/// for that. (Seed 2400201 of random_schedules.)
#[test]
fn storage_around_parts_of_reductions() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    for (extent, limit) in [(1, 9), (3, 9), (4, 9), (4, 1), (1, -9)] {
        let r = RDom::named("r", [(-1, extent)]);
        r.where_(r.x.lt(limit));
        let (mut f, mut g) = (Func::new("f"), Func::new("g"));
        f[x] = input[x] * 3;
        g[x] = x + 0;
        g[x] += f[r.x] + f[r.x + x];
        let p = Pipeline::new([&g]).unwrap();
        for place in
            ["compute_at(g.update(0), ri) store_at(g.update(0), x)", "compute_at(g.update(0), ri) store_root()"]
        {
            let schedule = format!("g.update(0): split(r.x, ro, ri, 2) rfactor(ri, part)\n f: {place}");
            for w in [1, 4] {
                let input = random_image(I32, &Region::of_spans([(-8, 24)]), 1);
                check(&p, &schedule, &[("in", input)], &Region::of_extents([w]));
            }
        }
    }
}

/// A window that slides in a loop that runs for two Funcs begins where its own consumer does, which may be later than
/// the loop. (Seed 50180 of reversed_orders.)
#[test]
fn windows_in_loops_that_begin_for_others() {
    let (x, y) = vars!(x, y);
    let (mut f, mut first, mut second, mut g) =
        (Func::new("f"), Func::new("first"), Func::new("second"), Func::new("g"));
    f[(x, y)] = x + 10 * y;
    first[(x, y)] = f[(x, y)] + f[(x, y + 1)] * 3;
    second[(x, y)] = x - y;
    g[(x, y)] = first[(x, y)] + second[(x, y)];
    let p = Pipeline::new([&g, &second]).unwrap();
    for align in ["AlignEnd", "AlignStart", "NoAlign"] {
        for place in ["x", "y"] {
            let schedule = format!(
                "first: compute_root()\n f: compute_at(first, {place}) store_root()\n second: compute_with(first, y, {align})"
            );
            for rows in [(0, 3), (-4, 7), (0, 9)] {
                let regions = [Region::of_extents([4, 3]), Region::of_spans([(0, 4), rows])];
                check_outputs(&p, &schedule, &[], &regions);
            }
        }
    }
}

/// Storage of what a leader computes stays around the leader's loops, also where a member's own loop runs at once.
#[test]
fn storage_of_a_leader_is_not_in_loops_of_members() {
    let (x, y, z) = vars!(x, y, z);
    let (mut p, mut a, mut b, mut g) = (Func::new("p"), Func::new("a"), Func::new("b"), Func::new("g"));
    p[x] = x * 3;
    a[(x, y, z)] = x + y * 5 + z * 7;
    b[(x, y, z)] = p[x] + y - z;
    g[(x, y, z)] = a[(x, y, z)] + b[(x, y, z)];
    let pipeline = Pipeline::new([&g]).unwrap();
    for (kind, align) in
        [("vectorize(z, 2)", "AlignEnd"), ("parallel(y)", "AlignStart"), ("vectorize(x, 4)", "NoAlign")]
    {
        let schedule = format!(
            "b: compute_root()\n p: compute_at(b, y) store_root()\n a: compute_root() {kind} compute_with(b, z, {align})"
        );
        for extents in [[2, 2, 2], [5, 3, 4], [1, 1, 1]] {
            check(&pipeline, &schedule, &[], &Region::of_extents(extents));
        }
    }
}

/// Live elements in an iteration of a loop are those of all loops inside of it, also where one of these has bounds that
/// another one moves: the window is as long as the piece, which is gone through again for each column. (Number 668 of
/// `slides`.)
#[test]
fn windows_over_loops_whose_bounds_loops_move() {
    let (x, y) = vars!(x, y);
    let (mut h, mut g, mut f) = (Func::new("h"), Func::new("g"), Func::new("f"));
    h[(x, y)] = x + 10 * y;
    g[(x, y)] = h[(x, y)] + h[(1, y)];
    f[(x, y)] = g[(x, y)] + 0;
    let p = Pipeline::new([&f]).unwrap();
    for factor in [2, 3] {
        let schedule = format!(
            "f: split(y, yo, y, {factor}) reorder(y, x)\n g: compute_at(f, y)\n h: compute_at(g, y) store_root()"
        );
        for (w, rows) in [(2, 2), (3, 5), (1, 1), (4, 7)] {
            check(&p, &schedule, &[], &Region::of_extents([w, rows]));
        }
    }
}

/// Storage inside of a loop along which a consumer's window slides has room for tails: what is asked for there begins
/// later than in the whole window, so a piece reaches further. (Found by `folds`.)
#[test]
fn storage_in_loops_along_which_consumers_slide_has_room_for_tails() {
    let (x, y) = vars!(x, y);
    let (mut h, mut g, mut f) = (Func::new("h"), Func::new("g"), Func::new("f"));
    h[(x, y)] = x + 10 * y;
    g[(x, y)] = h[(1, y)] + x;
    f[(x, y)] = g[(1, y)] + g[(1, 1)];
    let p = Pipeline::new([&f]).unwrap();
    for factor in [2, 3, 5] {
        let schedule = format!(
            "f: split(y, yo, yi, 1) reorder(yi, x, yo)\n g: compute_at(f, x) store_root()\n \
             h: store_at(f, yo) compute_at(f, x) split(y, y, t, {factor})"
        );
        for (w, rows) in [(1, 3), (3, 5), (2, 9)] {
            check(&p, &schedule, &[], &Region::of_extents([w, rows]));
        }
    }
}

/// A window that moves towards lower coordinates is computed whole in the first proper iteration of a loop, so nothing
/// that it is computed for begins before that. (Found by `folds`.)
#[test]
fn loops_do_not_start_early_around_windows_that_move_down() {
    let (x, y) = vars!(x, y);
    let (mut h, mut g, mut f) = (Func::new("h"), Func::new("g"), Func::new("f"));
    h[(x, y)] = x + 10 * y;
    g[(x, y)] = h[(-x, 1)] + h[(1, y)];
    f[(x, y)] = g[(x, 1)] + g[(x + 2, 1)];
    let p = Pipeline::new([&f]).unwrap();
    for g in ["unroll(x, 2)", "", "vectorize(x, 4)"] {
        let schedule =
            format!("f: reorder(y, x)\n g: store_root() compute_at(f, x) {g}\n h: store_root() compute_at(g, x)");
        for (w, rows) in [(1, 1), (2, 3), (7, 2)] {
            check(&p, &schedule, &[], &Region::of_extents([w, rows]));
        }
    }
}

/// Live elements in an iteration of a loop are those of the early iterations of loops inside of it, too. (Found by
/// `folds`.)
#[test]
fn windows_over_loops_that_start_early() {
    let (x, y) = vars!(x, y);
    let (mut h, mut g, mut f) = (Func::new("h"), Func::new("g"), Func::new("f"));
    h[(x, y)] = x + 10 * y;
    g[(x, y)] = h[(x, y)] - h[(x, 1)];
    f[(x, y)] = g[(x, y)] - g[(x + 2, y)];
    let p = Pipeline::new([&f]).unwrap();
    for (factor, piece) in [(1, " unroll(y, 2)"), (1, ""), (2, " unroll(y, 2)")] {
        let schedule = format!(
            "f: split(x, xo, xi, {factor}) reorder(xi, y, xo)\n g: store_at(f, y) compute_at(f, xi){piece}\n \
             h: store_root() compute_at(g, x)"
        );
        for (w, rows) in [(2, 2), (3, 5), (8, 7)] {
            check(&p, &schedule, &[], &Region::of_spans([(0, w), (3, rows)]));
        }
    }
}

/// A window slides along a loop only where loops inside go over what they did in the iteration before: here `g.z` is at
/// another coordinate in each, at which nothing was computed. (Seed 770017275 of `random_schedules`.)
#[test]
fn windows_do_not_slide_past_values_that_loops_inside_reach_first() {
    let (x, y, z) = vars!(x, y, z);
    let (mut h, mut g, mut f) = (Func::new("h"), Func::new("g"), Func::new("f"));
    h[(x, y, z)] = x + 10 * y + 100 * z;
    g[(x, y, z)] = h[(1, y, z)] + h[(x, y, z)];
    f[(x, y)] = g[(x, 1, x)];
    let p = Pipeline::new([&f]).unwrap();
    for schedule in [
        "f: split(x, t1, t2, 2) reorder(y, t1, t2)\n g: compute_at(f, y) unroll(x, 2)\n h: compute_at(g, x$u) store_root()",
        "g: compute_at(f, x)\n h: compute_at(g, x) store_root()",
        "f: split(x, t1, t2, 3)\n g: compute_at(f, t1)\n h: compute_at(g, y) store_root()",
    ] {
        for region in [Region::of_extents([3, 2]), Region::of_spans([(-4, 9), (0, 3)])] {
            check(&p, schedule, &[], &region);
        }
    }
}

/// Regions of an iteration lie within what is stored, and within what the run asks for, also where a coordinate's
/// interval is decided outside of a loop and not inside: a byte that is one value, a choice over a domain, a choice by
/// a parameter. (Seeds 770014963, 770018236 and 770034388 of `random_schedules`, and the family `decisions`.)
#[test]
fn regions_of_iterations_lie_within_those_outside() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(-1, 2)]);
    let (mut h, mut byte, mut sum) = (Func::new("h"), Func::new("f"), Func::new("g"));
    let (mut choice, mut out) = (Func::new("f"), Func::new("out"));
    h[(x, y)] = input[(x, y)] + x;
    byte[(x, y)] = h[(x, cast_to(I32, cast_to(U8, y + 2)))] + y;
    sum[(x, y)] = x - y;
    sum[(x, y)] += h[(x + x / 2, select(r.x.eq(7), y + 1, y - 1))];
    choice[(x, y)] = sum[(select(y.gt(9), x + 1, x - 1), y)];
    out[(x, y)] = choice[(x, clamp(y, 1, 2))] + y;
    let (image, region) = (random_image(I32, &Region::of_spans([(-9, 90), (-9, 300)]), 1), Region::of_extents([4, 3]));
    let p = Pipeline::new([&byte]).unwrap();
    for schedule in [
        "f: split(y, yo, t, 1, Predicate) split(t, t2, t3, 8) split(t2, t5, t6, 4) reorder(x, t3, t6, t5, yo)\n \
         h: compute_at(f, t5) store_at(f, yo)",
        "h: compute_at(f, x) store_root()",
        "f: split(y, yo, yi, 2)\n h: compute_at(f, yo) vectorize(y, 4)",
    ] {
        check(&p, schedule, &[("in", image.clone())], &region);
    }
    let p = Pipeline::new([&out]).unwrap();
    for schedule in [
        "f: compute_root()\n g: compute_at(f, x)\n h: compute_at(g.update(0), r.x) store_root()",
        "f: compute_root()\n g: compute_root()\n h: compute_at(g.update(0), r.x)",
        "f: compute_at(out, y)\n g: compute_at(f, y) store_root()\n h: compute_at(g.update(0), x) store_at(f, y)",
        "f: compute_root() vectorize(y, 8, GuardWithIf) reorder(y, x, y$v)\n g: compute_at(f, y)\n h: compute_root()",
    ] {
        check(&p, schedule, &[("in", image.clone())], &region);
    }
}

/// A definition that grows over points that are finished is mended in the next iteration of a loop inside only where
/// that one goes over the same part of the window: here the diagonal `g(y, y)` makes the window begin elsewhere. (Found
/// by `decisions`.)
#[test]
fn windows_do_not_slide_where_tails_spoil_what_loops_inside_do_not_mend() {
    let (x, y) = vars!(x, y);
    let (mut g, mut f) = (Func::new("g"), Func::new("f"));
    g[(x, y)] = x + 10 * y;
    g[(x, y)] = g[(x, y)] * 2 + 1;
    f[(x, y)] = g[(x, y)] - g[(y, y)];
    let p = Pipeline::new([&f]).unwrap();
    for tail in ["unroll(y, 2, ShiftInwards)", "vectorize(y, 4)", "split(y, y, t, 3, RoundUp)", ""] {
        let schedule = format!("f: reorder(y, x)\n g: store_root() compute_at(f, y) {tail}");
        for spans in [[(3, 4), (0, 6)], [(0, 7), (2, 9)], [(-3, 1), (-5, 2)]] {
            check(&p, &schedule, &[], &Region::of_spans(spans));
        }
    }
}

/// A definition without points that shares loops with another one needs nothing in their iterations: not the point
/// before its first one either, which its storage does not have. (Seed 71002724 of `random_schedules`.)
#[test]
fn definitions_without_points_need_nothing_in_loops_of_others() {
    let (x, y) = vars!(x, y);
    for extent in [0, 1, 3] {
        let r = RDom::named("r", [(2, extent), (1, 2)]);
        let (mut p, mut empty, mut sum) = (Func::new("p"), Func::new("empty"), Func::new("sum"));
        let (mut other, mut out) = (Func::new("other"), Func::new("out"));
        p[(x, y)] = x + 3 * y;
        empty[(x, y)] = y.expr();
        empty[(x, y)] += p[(x, y)];
        sum[()] = 5.expr();
        sum[()] += empty[(r.x, r.y)];
        other[(x, y)] = x.expr();
        other[(x, y)] += y;
        out[(x, y)] = sum[()] + other[(x, y)];
        let pipeline = Pipeline::new([&out]).unwrap();
        for align in ["AlignEnd", "AlignStart", "NoAlign"] {
            for store in [" store_root()", ""] {
                let schedule = format!(
                    "empty: compute_root()\n other: compute_root()\n sum: compute_root()\n \
                     empty.update(0): compute_with(other.update(0), x, {align})\n \
                     p: compute_at(other.update(0), x){store}"
                );
                for spans in [[(0, 1), (0, 1)], [(-4, 3), (2, 5)], [(1, 7), (0, 2)]] {
                    check(&pipeline, &schedule, &[], &Region::of_spans(spans));
                }
            }
        }
    }
}

/// A tail inside of a loop may be known to compute no more than the region only once the regions outside are known.
/// What it reads there is kept within what the run asks for. (`decisions`, seed 564.)
#[test]
fn tails_in_loops_read_no_more_than_the_run_asks_for() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut h, mut g, mut f) = (Func::new("h"), Func::new("g"), Func::new("f"));
    h[(x, y)] = input[(x, y)] + 0;
    g[(x, y)] = h[(1, y)] + x;
    f[(x, y)] = g[(y, cast_to(I32, cast_to(U8, y.expr())))];
    let p = Pipeline::new([&f]).unwrap();
    let image = random_image(I32, &Region::of_spans([(1, 1), (0, 256)]), 1);
    for tail in ["unroll(y, 2)", "vectorize(y, 4)", "split(y, y, t, 8, RoundUp)"] {
        let schedule = format!(
            "f: split(y, yo, yi, 2, Predicate) reorder(yi, x, yo)\n g: store_root() compute_at(f, yi) {tail}\n \
             h: compute_at(f, x)"
        );
        for spans in [[(0, 1), (0, 1)], [(0, 3), (-2, 5)], [(0, 2), (254, 4)]] {
            check(&p, &schedule, &[("in", image.clone())], &Region::of_spans(spans));
        }
    }
}

/// A vectorized stage in guarded chunks of its consumer begins at multiples of its vectors, which the run knows and an
/// iteration does not. What it reads, computed in a loop around, is no wider than what the run asks for.
#[test]
fn stages_around_guarded_chunks_read_no_more_than_the_run_asks_for() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut h, mut g, mut f) = (Func::new("h"), Func::new("g"), Func::new("f"));
    h[(x, y)] = input[(x, y)] * 2;
    g[(x, y)] = h[(x, y)] + x;
    f[(x, y)] = g[(x, y)] + y;
    let p = Pipeline::new([&f]).unwrap();
    for (width, asked) in [(1, 8), (8, 8), (9, 16), (10, 16), (15, 16), (17, 24)] {
        let image = random_image(I32, &Region::of_spans([(0, asked), (0, 3)]), 1);
        for chunk in ["8, GuardWithIf", "16, GuardWithIf", "16, Predicate"] {
            for level in ["yi", "xo", "yo"] {
                let schedule = format!(
                    "f: split(y, yo, yi, 2) split(x, xo, xi, {chunk}) reorder(xi, xo, yi, yo)\n \
                     g: compute_at(f, xo) vectorize(x, 8)\n h: compute_at(f, {level})"
                );
                check(&p, &schedule, &[("in", image.clone())], &Region::of_spans([(0, width), (0, 3)]));
            }
        }
    }
}
