//! The builder and the text form say the same, and every schedule survives being printed and read.

mod errors;
mod hostile;
mod language;
mod listing;
mod number;
mod random;

use super::*;
use halide_core::pipeline::DimField;

/// Reads `text`, compares with `built`, and checks the canonical text.
fn check(built: &Schedule, text: &str, canonical: &str) {
    let parsed: Schedule = text.parse().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(parsed, *built);
    assert_eq!(built.to_string(), canonical);
    assert_eq!(canonical.parse::<Schedule>().as_ref(), Ok(built), "{canonical}");
}

#[test]
fn the_schedule_of_the_tour() {
    let mut fast = Schedule::new();
    let (x, y, yo, yi) = ("x", "y", "yo", "yi");
    fast.func("blur_y").split(y, yo, yi, 32).parallel(yo).vectorize(x, 16);
    fast.func("blur_x").store_at("blur_y", yo).compute_at("blur_y", yi).vectorize(x, 16);
    let text = "blur_y: split(y, yo, yi, 32) parallel(yo) vectorize(x, 16)
                blur_x: store_at(blur_y, yo) compute_at(blur_y, yi) vectorize(x, 16)";
    let canonical = "blur_y: split(y, yo, yi, 32) parallel(yo) vectorize(x, 16)\n\
                     blur_x: store_at(blur_y, yo) compute_at(blur_y, yi) vectorize(x, 16)";
    check(&fast, text, canonical);
}

#[test]
fn every_update_at_once() {
    let mut s = Schedule::new();
    s.func("f")
        .compute_root()
        .updates()
        .vectorize("x", 8)
        .specialize(Condition::Param("fast".to_string()))
        .parallel("y");
    s.func("f").updates().unroll("x", 2).update(1).serial("x");
    let text = "f: compute_root()\n\
        f.updates(): vectorize(x, 8)\n\
        f.updates().specialize(fast): parallel(y)\n\
        f.updates(): unroll(x, 2)\n\
        f.update(1): serial(x)";
    check(&s, text, text);
}

#[test]
fn every_loop_word() {
    let mut s = Schedule::new();
    s.func("f")
        .split_tail("x", "xo", "xi", "n", Tail::GuardWithIf)
        .tile_tail(["y", "z"], ["yo", "zo"], ["yi", "zi"], [8, 4], Tail::RoundUp)
        .fuse("yo", "zo", "t")
        .rename("t", "tile")
        .reorder(("xi", String::from("xo"), &"tile"))
        .serial("xo")
        .parallel("tile")
        .parallel_chunks("yi", 2)
        .parallel_tail("zi", 2, Tail::Predicate)
        .vectorize("xi", Amount::Natural)
        .vectorize_tail("xi", 4, Tail::PredicateLoads)
        .vectorize_all("xi")
        .unroll("zi", 3)
        .unroll_tail("zi", 3, Tail::ShiftInwardsAndBlend)
        .unroll_all("zi")
        .gpu_blocks(["yo", "xo"])
        .gpu_threads("zi")
        .gpu_tile(["x"], ["bx"], ["tx"], [64])
        .gpu_lanes("tx")
        .gpu_single_thread()
        .never_partition("xo")
        .always_partition("xo")
        .auto_partition("xo")
        .float(FloatMode::Relaxed);
    let canonical = "f: split(x, xo, xi, n, GuardWithIf) split(y, yo, yi, 8, RoundUp) split(z, zo, zi, 4, RoundUp) \
        reorder(yi, zi, yo, zo) fuse(yo, zo, t) rename(t, tile) reorder(xi, xo, tile) serial(xo) parallel(tile) \
        parallel(yi, 2) parallel(zi, 2, Predicate) vectorize(xi, natural) vectorize(xi, 4, PredicateLoads) \
        vectorize(xi) unroll(zi, 3) unroll(zi, 3, ShiftInwardsAndBlend) unroll(zi) \
        gpu_blocks(yo) gpu_blocks(xo) gpu_threads(zi) split(x, bx, tx, 64) reorder(tx, bx) gpu_blocks(bx) \
        gpu_threads(tx) gpu_lanes(tx) gpu_single_thread() never_partition(xo) \
        always_partition(xo) auto_partition(xo) float(relaxed)";
    let text = "f: # all of it
        split(x, xo, xi, n, GuardWithIf) tile([y, z], [yo, zo], [yi, zi], [8, 4], RoundUp)
        fuse(yo, zo, t) rename(t, tile) reorder([xi, xo, tile]) serial(xo) parallel(tile, ) parallel(yi, 2)";
    assert!(text.parse::<Schedule>().is_err(), "no comma without an argument");
    check(
        &s,
        &canonical.replace(
            "split(y, yo, yi, 8, RoundUp) split(z, zo, zi, 4, RoundUp) reorder(yi, zi, yo, zo)",
            "tile(y, z, yo, zo, yi, zi, 8, 4, RoundUp)",
        ),
        canonical,
    );
}

#[test]
fn every_word_of_a_func() {
    let mut s = Schedule::new();
    s.func("f")
        .compute_root()
        .compute_inline()
        .compute_at(update("g", 1), "r.x")
        .store_root()
        .store_at("g", "y")
        .hoist_storage_root()
        .hoist_storage("g", "y")
        .reorder_storage(["y", "x"])
        .split_storage("c", "co", "ci", 16)
        .align_storage("x", 64)
        .fold_storage("y", 4)
        .fold_storage_backward("y", 8)
        .store_in(Memory::Stack)
        .store_in(Memory::Shared)
        .copy_to_device()
        .copy_to_host()
        .bound("x", -2, "w")
        .bound_extent("y", 3)
        .align_bounds("x", 4, 1)
        .align_extent("y", 2)
        .update(0)
        .serial("r.y")
        .allow_race_conditions()
        .atomic()
        .atomic_in_any_order();
    let canonical = "f: compute_root() compute_inline() compute_at(g.update(1), r.x) store_root() store_at(g, y) \
        hoist_storage_root() hoist_storage(g, y) reorder_storage(y, x) split_storage(c, co, ci, 16) align_storage(x, 64) fold_storage(y, 4) \
        fold_storage(y, 8, backward) store_in(Stack) store_in(Shared) copy_to_device() copy_to_host() bound(x, -2, w) bound_extent(y, 3) align_bounds(x, 4, 1) \
        align_extent(y, 2)\nf.update(0): serial(r.y) allow_race_conditions() atomic() atomic(any_order)";
    check(&s, &canonical.replace("()", ""), canonical);
}

#[test]
fn wrappers_are_made_by_speaking_of_them() {
    let mut s = Schedule::new();
    s.func("g").in_("f").compute_at("f", "x");
    s.func("g").in_(["f"]).vectorize("x", 8);
    s.func("g").in_all().compute_root();
    s.func("g").clone_in(["h", "my func"]).compute_root().in_("h").compute_root();
    s.func("k").in_("f");
    let canonical = "g.in(f): compute_at(f, x) vectorize(x, 8)\n\
        g.in(): compute_root()\n\
        g.clone_in(h, \"my func\"): compute_root()\n\
        g.clone_in(h, \"my func\").in(h): compute_root()\n\
        k: in(f)";
    check(&s, canonical, canonical);
    assert_eq!(s.directives().iter().filter(|d| matches!(d.verb, Verb::In { .. })).count(), 4);
}

#[test]
fn parts_of_reductions_have_names() {
    let mut s = Schedule::new();
    s.func("f").update(0).split("r.x", "ro", "ri", 8).rfactor("ri", "u").compute_root().update(0).vectorize("u", 8);
    s.func("f").update(0).rfactor("ri", "u").update(0).rfactor(["ro"], ["v"]).in_("g").compute_at("g", "x");
    s.func("my f").update(1).rfactor(["r", "s"], ["a b", "c"]).store_root();
    let canonical = "f.update(0): split(r.x, ro, ri, 8) rfactor(ri, u)\n\
        f.rfactor(u): compute_root()\n\
        f.rfactor(u).update(0): vectorize(u, 8) rfactor(ro, v)\n\
        f.rfactor(u).rfactor(v).in(g): compute_at(g, x)\n\
        \"my f\".update(1): rfactor([r, s], [\"a b\", c])\n\
        \"my f\".rfactor(\"a b\", c): store_root()";
    check(&s, canonical, canonical);
}

#[test]
fn specialisations_are_opened_by_speaking_of_them() {
    let mut s = Schedule::new();
    s.func("f").split("x", "xo", "xi", 8).specialize("p > 3 && in.extent(0) >= 128").vectorize_all("xi");
    s.func("f").specialize("fast").specialize("q % 2 == 0").parallel("y");
    s.func("f").specialize("p > 3 && in.extent(0) >= 128").parallel("y");
    s.func("f").update(0).specialize("fast");
    s.func("f").specialize_fail("no \"such\" case\n");
    let canonical = "f: split(x, xo, xi, 8)\n\
        f.specialize(p > 3 && in.extent(0) >= 128): vectorize(xi)\n\
        f.specialize(fast).specialize(q % 2 == 0): parallel(y)\n\
        f.specialize(p > 3 && in.extent(0) >= 128): parallel(y)\n\
        f.update(0): specialize(fast)\n\
        f: specialize_fail(\"no \\\"such\\\" case\\n\")";
    check(&s, canonical, canonical);
    assert_eq!(s.directives().iter().filter(|d| matches!(d.verb, Verb::Specialize(_))).count(), 4);
}

#[test]
fn conditions_keep_their_shape() {
    for text in [
        "p > 3",
        "!fast",
        "!(p == 3)",
        "!(!fast)",
        "a && b && c",
        "a && (b && c)",
        "a || b && c",
        "(a || b) && c",
        "p + 1 * 2 - q < in.min(1) / 3",
        "(p + 1) * 2 - (q - 3) != -4",
        "p * (q * 2) == p % 7",
        "f.in(g).extent(0) >= 1",
        "\"my param\" == 1",
        "invalid(\"because\")",
    ] {
        let condition: Condition = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(condition.to_string().parse(), Ok(condition.clone()), "{text}");
    }
    let shown = |text: &str| text.parse::<Condition>().map(|c| c.to_string());
    assert_eq!(shown("((p)+(1))>(3)"), Ok("p + 1 > 3".to_string()));
    assert_eq!(shown("(a || (b && (!c)))"), Ok("a || b && !c".to_string()));
}

#[test]
fn a_text_that_is_no_condition_is_kept_for_later() {
    let mut s = Schedule::new();
    s.func("f").specialize("p >").vectorize("x", 8);
    let Verb::Specialize(Condition::Invalid(message)) = &s.directives()[0].verb else { panic!("{s}") };
    assert_eq!(
        message,
        "`p >`: condition:1:4: expected a parameter, a number or a dimension such as `in.extent(0)`, found the end"
    );
    check(&s, &s.to_string(), &s.to_string());
}

#[test]
fn places_are_not_part_of_equality() {
    let mut a = Schedule::new();
    a.func("f").parallel("y");
    let b: Schedule = "\n\n  f:\n parallel(y)".parse().expect("a schedule");
    assert_eq!(a, b);
    assert_ne!(a.directives()[0].at, b.directives()[0].at);
    assert_eq!(b.directives()[0].at.map(|at| (at.line, at.column)), Some((4, 2)));
    assert!(a.directives()[0].at.is_some_and(|at| at.file.ends_with("mod.rs")));
    let hash = |s: &Schedule| {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        s.hash(&mut hasher);
        hasher.finish()
    };
    assert_eq!(hash(&a), hash(&b));
    assert_ne!(a, Schedule::new());
}

#[test]
fn schedules_can_be_joined() {
    let mut a: Schedule = "f: parallel(y)".parse().expect("a schedule");
    let b: Schedule = "f: vectorize(x, 8) g: compute_root()".parse().expect("a schedule");
    a.append(&b);
    assert_eq!(a.to_string(), "f: parallel(y) vectorize(x, 8)\ng: compute_root()");
    assert_eq!(Schedule::from(a.directives().to_vec()), a);
    assert_eq!((a.len(), a.is_empty(), Schedule::default().is_empty()), (3, false, true));
}

#[test]
fn only_float_modes_reassociate() {
    let reassociates = |text: &str| text.parse::<Schedule>().map(|s| s.reassociates());
    assert_eq!(reassociates("f: parallel(y) float(strict)"), Ok(false));
    assert_eq!(reassociates("f.update(0): parallel(y) float(contract)"), Ok(true));
    assert_eq!(reassociates("f: float(relaxed)"), Ok(true));
}

#[test]
fn dims_of_buffers() {
    let c: Condition = "in.stride(2) == 1".parse().expect("a condition");
    let term = Term::Dim("in".to_string(), DimField::Stride, 2);
    assert_eq!(c, Condition::Compare(CompareOp::Eq, term, Term::Const(1)));
}

#[test]
fn words_about_what_is_computed_together_and_hints() {
    let mut s = Schedule::new();
    s.func("g")
        .compute_with("f", "y")
        .compute_with_aligned(update("f", 1), "y", Align::AlignEnd)
        .compute_with_each("f", "x", [("x", Align::AlignStart), ("y", Align::NoAlign)])
        .set_estimate("x", 0, 1920)
        .set_estimates([(0, 1920), (-4, 1080)])
        .bound_storage("x", 64)
        .prefetch("in", "x", "y", 2, PrefetchBound::Clamp)
        .prefetch("in", "y", "y", 1, PrefetchBound::GuardWithIf)
        .stream_stores()
        .never_unroll();
    s.func("g").update(0).monoid([Identity::Lowest], false).monoid([1, 0], true);
    let canonical = "g: compute_with(f, y) compute_with(f.update(1), y, AlignEnd) \
        compute_with(f, x, [x, AlignStart], [y, NoAlign]) set_estimate(x, 0, 1920) \
        set_estimates([0, 1920], [-4, 1080]) bound_storage(x, 64) prefetch(in, x, y, 2, Clamp) prefetch(in, y, y, 1) \
        stream_stores() never_unroll()\ng.update(0): monoid(lowest) monoid([1, 0], commutative)";
    check(&s, &canonical.replace("prefetch(in, y, y, 1)", "prefetch(in, y, y)"), canonical);
}
