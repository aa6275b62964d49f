//! Cases of Halide's own tests restated: windows and folds in unusual directions, steps and places, storage in another
//! order, aligned and bounded, and memory of the stack.

use crate::sliding::{around, slides};
use crate::support::{hold, hold_legal, why_not_taken};
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, IntoExpr, Pipeline, RDom, vars};

const ROWS: &str = "f: store_root() compute_at(g, y)";

/// Backwards, in steps, along two loops at once, and in a loop that runs where a guard says.
#[test]
fn windows_in_every_direction() {
    let p = around(|f, x, y| f[(x, 70 - y)] + f[(x, 73 - y)]);
    slides(&p, ROWS, "f", |w, h| (w * (h + 3), w * (h + 3).min(4)));
    let p = around(|f, x, y| f[(20 - x, y)] * f[(19 - x, y)]);
    slides(&p, "f: store_at(g, y) compute_at(g, x)", "f", |w, h| ((w + 1) * h, 2 * h));
    let p = around(|f, x, y| f[(x, 3 * y)] + f[(x, 3 * y + 4)]);
    slides(&p, ROWS, "f", |w, h| (w * (3 * h + 2), w * 5));
    let p = around(|f, x, y| f[(x, y)] + f[(x + 2, y + 2)]);
    let both = "g: split(y, yo, yi, 4, GuardWithIf)\n f: store_at(g, yo) compute_at(g, x)";
    hold(&p, &[both, "f: store_root() compute_at(g, x)", "f: store_at(g, y) compute_at(g, x) vectorize(x, 4)"]);
    let guarded = "g: split(y, yo, yi, 5, GuardWithIf) split(x, xo, xi, 4, GuardWithIf) reorder(xi, yi, xo, yo)";
    hold(
        &p,
        &[
            format!("{guarded}\n f: store_at(g, xo) compute_at(g, yi)"),
            format!("{guarded}\n f: store_at(g, yi) compute_at(g, xi)"),
            format!("{guarded}\n f: store_at(g, xo) compute_at(g, xi)"),
            format!("{guarded}\n f: store_at(g, yo) compute_at(g, xo)"),
        ],
    );
}

/// Windows of which only some iterations need anything, and consumers that need other scales of them.
#[test]
fn windows_with_gaps() {
    for (name, p) in [
        ("gap", around(|f, x, y| select((y % 3).eq(0), f[(x, y)], f[(x, y + 1)]))),
        ("middle", around(|f, x, y| select(y.gt(4) & y.lt(8), f[(x, y)] + f[(x, y + 2)], x - y))),
        ("scales", around(|f, x, y| f[(x, y / 2)] + f[(x, y / 2 + 1)] + f[(x, y)])),
        ("coarse", around(|f, x, y| f[(x, 2 * y)] + f[(x, y)])),
        ("clamped", around(|f, x, y| f[(x, clamp(y - 1, 0, 9))] + f[(x, clamp(y + 1, 0, 9))])),
        ("mirror", around(|f, x, y| f[(x, y)] + f[(x, 9 - y)])),
        ("modulo", around(|f, x, y| f[(x, y % 4)] + f[(x, (y + 1) % 4)])),
        ("both", around(|f, x, y| f[(x, x + y)] + f[(x, x + y + 1)])),
    ] {
        let schedules = [
            ROWS,
            "f: store_root() compute_at(g, x)",
            "f: store_at(g, y) compute_at(g, x)",
            "g: split(y, yo, yi, 3)\n f: store_at(g, yo) compute_at(g, yi)",
            "g: split(y, yo, yi, 4, GuardWithIf) unroll(yi)\n f: store_root() compute_at(g, yi)",
            "g: reorder(y, x)\n f: store_root() compute_at(g, x) vectorize(y, 4)",
            "g: vectorize(x, 4)\n f: store_at(g, y) compute_at(g, x) vectorize(x, 4)",
            "g: parallel(x) reorder(y, x)\n f: store_root() compute_at(g, y)",
        ];
        assert_eq!(hold_legal(&p, &schedules), schedules.len(), "{name}");
    }
}

/// Folds by what the schedule says, of chains, with an update and a tuple.
#[test]
fn folds_of_what_is_alive() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 2)]);
    let (mut a, mut b, mut f, mut g) = (Func::new("a"), Func::new("b"), Func::new("f"), Func::new("g"));
    a[(x, y)] = (input[(x, y)], cast::<u8>(x + y)).into();
    b[(x, y)] = a[(x, y)].at(0) - cast::<i32>(a[(x, y + 1)].at(1));
    b[(x, y)] += a[(x + r.x, y)].at(0);
    f[(x, y)] = b[(x, y - 1)] + b[(x, y + 2)];
    g[(x, y)] = f[(x, y)] * f[(x, y + 3)];
    let p = Pipeline::new([&g]).unwrap();
    let mut schedules = Vec::new();
    for (fa, fb, ff) in [
        ("", "", ""),
        ("fold_storage(y, 2)", "fold_storage(y, 8)", "fold_storage(y, 5)"),
        ("fold_storage(y, 16)", "", "fold_storage(y, 4)"),
    ] {
        for out in ["", "g: vectorize(x, 4)", "g: reorder(y, x) parallel(x)", "g: unroll(y, 3)"] {
            schedules.push(format!(
                "{out}\n a: store_root() compute_at(g, y) {fa}\n b: store_root() compute_at(g, y) {fb}\n \
                 f: store_root() compute_at(g, y) {ff}"
            ));
        }
    }
    // Rows unrolled by three need more than two of the folds hold, and columns at once may share no fold and no update.
    let taken: Vec<String> = schedules.into_iter().filter(|s| why_not_taken(&p, s).is_none()).collect();
    assert_eq!(taken.len(), 7);
    hold(&p, &taken);
}

/// Storage in another order of dimensions, padded, and of extents with room to spare.
#[test]
fn storage_in_another_order() {
    let input = ImageParam::new("in", U16, 3);
    let (x, y, c) = vars!(x, y, c);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y, c)] = input[(x, y, c)] + cast::<u16>(c);
    g[(x, y, c)] = f[(y - 2, x, c)] ^ f[(x, y + 1, c + 1)];
    let p = Pipeline::new([&g]).unwrap();
    let mut schedules = Vec::new();
    for order in ["x, y, c", "c, x, y", "y, x, c", "c, y, x"] {
        for more in ["", "align_storage(x, 8)", "align_storage(c, 4) align_storage(y, 16)"] {
            let store = format!("reorder_storage({order}) {more}");
            schedules.push(format!("f: compute_root() {store} vectorize(x, 4)"));
            schedules.push(format!("g: reorder(c, x, y)\n f: compute_at(g, x) {store} unroll(c, 2)"));
            schedules.push(format!("f: store_root() compute_at(g, c) {store} vectorize(y, 4)\n g: vectorize(x, 8)"));
        }
    }
    hold(&p, &schedules);
}

/// Bounds and alignments that are said in any order, and lanes that are wider than what is left.
#[test]
fn bounds_and_alignments_in_any_order() {
    let input = ImageParam::new("in", U8, 3);
    let (x, y, c) = vars!(x, y, c);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y, c)] = input[(x, y, c)] * 2 + cast::<u8>(c);
    g[(x, y, c)] = f[(x, y, c)] - f[(x + 1, y, 3)];
    let p = Pipeline::new([&g]).unwrap();
    let words = ["bound(c, -2, 8)", "align_bounds(x, 4, 1)", "align_extent(y, 2)", "align_bounds(y, 3)"];
    let mut schedules = Vec::new();
    for turn in 0..words.len() {
        let said: Vec<&str> = (0..words.len()).map(|i| words[(i + turn) % words.len()]).collect();
        for place in [
            "compute_root() unroll(c)",
            "compute_at(g, x)",
            "compute_at(g, y) reorder(c, x, y) unroll(c) vectorize(x, 4)",
        ] {
            schedules.push(format!("g: reorder(c, x, y)\n f: {place} {}", said.join(" ")));
            schedules.push(format!("g: reorder(c, x, y)\n f: {} {place}", said.join(" ")));
        }
    }
    hold(&p, &schedules);
    // The bound of the inner region is the one that counts, though the outer one asks for less.
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y, c)] = x * 2 + y - c;
    g[(x, y, c)] = f[(x, y, c)] + f[(x, y, 3)] * f[(x, y, 0)];
    let p = Pipeline::new([&g]).unwrap();
    hold(
        &p,
        &[
            "g: tile(x, y, xo, yo, xi, yi, 8, 4)\n f: compute_at(g, xo) bound(c, -2, 8) unroll(c)",
            "g: tile(x, y, xo, yo, xi, yi, 8, 4)\n f: compute_at(g, c) bound(c, -2, 8) unroll(c) vectorize(x, 4)",
            "f: compute_root() bound(c, -2, 8) vectorize(c)",
        ],
    );
}

/// Chains of ten stages in one tile, whose memory stands in for each other's.
#[test]
fn long_chains_in_tiles() {
    let input = ImageParam::new("in", U8, 1);
    let x = vars!(x);
    let mut stages: Vec<Func> = Vec::new();
    for i in 0..10 {
        let mut f = Func::new(format!("s{i}").as_str());
        f[x] = match stages.last() {
            None => input[x] + 1,
            Some(before) if i == 5 => before[x / 4] - before[x / 4 + 1],
            Some(before) => before[x - 1] + before[x + 1] * 3,
        };
        stages.push(f);
    }
    let p = Pipeline::new([&stages[9]]).unwrap();
    for (place, memory) in [
        ("compute_at(s9, xo)", "store_in(Stack)"),
        ("compute_at(s9, xo)", "store_in(Heap)"),
        ("compute_at(s9, xo)", "vectorize(x, 8)"),
        ("store_root() compute_at(s9, xo)", ""),
        ("store_root() compute_at(s9, xi)", ""),
        ("store_at(s9, xo) compute_at(s9, xi)", ""),
        ("compute_root()", "vectorize(x, 16, PredicateStores)"),
    ] {
        let each: String = (0..9).map(|i| format!("s{i}: {place} {memory}\n")).collect();
        hold(
            &p,
            &[
                format!("{each}s9: split(x, xo, xi, 8, GuardWithIf)"),
                format!("{each}s9: split(x, xo, xi, 5, GuardWithIf) unroll(xi)"),
            ],
        );
    }
}

/// One producer that pads what it computes, one that a consumer reads at both ends, in small loops of their own.
#[test]
fn producers_that_pad_their_region() {
    let x = vars!(x);
    let input = ImageParam::new("in", I32, 2);
    let r = RDom::named("r", [(17, 1)]);
    for update in [false, true] {
        let (mut f, mut g) = (Func::new("f"), Func::new("g"));
        f[x] = x * 5 + input[(x, 0)];
        if update {
            f[x] = r.x + x;
        }
        g[x] = f[x] + f[x + 1];
        let p = Pipeline::new([&g]).unwrap();
        for tail in ["RoundUp", "GuardWithIf", "ShiftInwards", "Auto"] {
            hold_legal(
                &p,
                &[
                    format!("f: store_root() compute_at(g, x) split(x, xo, xi, 8, {tail})"),
                    format!("f: compute_at(g, x) split(x, xo, xi, 8, {tail})"),
                    format!("g: split(x, xo, xi, 6)\n f: store_root() compute_at(g, xo) split(x, xo, xi, 4, {tail})"),
                    format!(
                        "g: split(x, xo, xi, 3, GuardWithIf)\n f: store_root() compute_at(g, xi) vectorize(x, 8, {tail})"
                    ),
                ],
            );
        }
    }
    let (mut a, mut b, mut c) = (Func::new("a"), Func::new("b"), Func::new("c"));
    a[x] = input[(x, 1)] * 7;
    b[x] = a[x] - 2;
    c[x] = b[x] + b[x + 1];
    let p = Pipeline::new([&c]).unwrap();
    for tail in ["RoundUp", "GuardWithIf", "ShiftInwards", "Auto"] {
        let (four, five) = (format!("split(x, xo, xi, 4, {tail})"), format!("split(x, xo, xi, 5, {tail})"));
        hold(
            &p,
            &[
                format!(
                    "c: split(x, xo, xi, 6)\n b: store_root() compute_at(c, xo) {five}\n a: compute_at(c, xo) {four}"
                ),
                format!(
                    "c: split(x, xo, xi, 6)\n b: compute_at(c, xo) {five}\n a: store_root() compute_at(c, xo) {four}"
                ),
            ],
        );
    }
    let y = vars!(y);
    let (mut a, mut b, mut c) = (Func::new("a"), Func::new("b"), Func::new("c"));
    a[(x, y)] = input[(x, y)] + 1;
    b[(x, y)] = select((x % 2).eq(0), a[(x, y)], a[(x + 1, y)]);
    c[(x, y)] = b[(x, y)] + 0.expr();
    let p = Pipeline::new([&c]).unwrap();
    let splits = "c: split(y, yo, yi, 8, GuardWithIf) reorder(yi, yo, x)";
    hold(
        &p,
        &[
            format!("a: compute_root()\n {splits}\n b: compute_at(c, yi)"),
            format!("a: compute_at(c, yo) reorder_storage(y, x)\n {splits}\n b: compute_at(c, yi)"),
            format!("a: store_at(c, x) compute_at(c, yi)\n {splits}\n b: compute_at(c, yi)"),
        ],
    );
}
