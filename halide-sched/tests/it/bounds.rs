//! Cases of Halide's own tests restated: regions of chains and pyramids, of what casts bound, alignment and room, and
//! domains that end where another Func says. Sizes go from one to three times the factors.

use crate::counts::count;
use crate::matrix::{check, random_image};
use crate::support::{fault, lowered, stencil};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Expr, Func, ImageParam, Pipeline, RDom, vars};

fn image(ty: ScalarType, spans: &[(i64, i64)]) -> AnyBuffer {
    random_image(ty, &Region::of_spans(spans), 23)
}

/// Points and elements of a Func in the variant whose tails are guards.
fn sizes(p: &Pipeline, schedule: &str, images: &[(&str, AnyBuffer)], region: &Region, func: &str) -> (i64, i64) {
    let counts = count(p, schedule, images, region, true);
    (counts.points(func), counts.elements(func))
}

/// Each stage of a chain computes the box that those behind it need.
#[test]
fn boxes_of_a_chain() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g, mut h) = (Func::new("f"), Func::new("g"), Func::new("h"));
    f[(x, y)] = input[(x, y)] * 5 + cast::<i16>(x);
    g[(x, y)] = f[(x - 3, y)] - f[(x + 1, y + 2)];
    h[(x, y)] = g[(x, y - 1)] + g[(x + 2, y + 1)] * 3;
    let p = Pipeline::new([&h]).unwrap();
    let roots = [
        "f: compute_root()\n g: compute_root()",
        "f: compute_root() vectorize(x, 4, GuardWithIf)\n g: compute_root() split(y, yo, yi, 3, GuardWithIf) parallel(yo)\n h: vectorize(x, 4, GuardWithIf)",
    ];
    let others = [
        "g: compute_at(h, y)\n f: compute_at(g, x)",
        "h: tile(x, y, xo, yo, xi, yi, 4, 3)\n g: compute_at(h, xo) vectorize(x, 4)\n f: compute_at(h, xo)",
        "h: gpu_tile(x, y, xo, yo, xi, yi, 4, 3)\n g: compute_at(h, xo) gpu_threads(x, y)\n f: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 4, 3)",
        "h: gpu_tile(x, y, xo, yo, xi, yi, 4, 3)\n g: compute_at(h, xi)\n f: compute_at(h, xo) gpu_threads(x, y)",
    ];
    for (w, h) in [(1, 1), (2, 3), (4, 3), (5, 7), (8, 6), (11, 8), (12, 9)] {
        let region = Region::of_spans([(-7, w), (3, h)]);
        let images = [("in", image(I16, &[(-40, 90), (-40, 90)]))];
        for schedule in roots {
            check(&p, schedule, &images, &region);
            let of = |func| sizes(&p, schedule, &images, &region, func);
            assert_eq!(of("g"), ((w + 2) * (h + 2), (w + 2) * (h + 2)), "{schedule} {w} {h}");
            assert_eq!(of("f"), ((w + 6) * (h + 4), (w + 6) * (h + 4)), "{schedule} {w} {h}");
        }
        for schedule in others {
            check(&p, schedule, &images, &region);
        }
        if (w % 4, h % 3) == (0, 0) {
            let tiles = w * h / 12;
            let of = |func| sizes(&p, others[1], &images, &region, func);
            assert_eq!(of("g"), (tiles * 30, tiles * 30), "{w} {h}");
            assert_eq!(of("f"), (tiles * 70, tiles * 70), "{w} {h}");
        }
    }
}

/// `levels` halvings of a row, each level doubled again and taken from the one before, then all of them added up from
/// the coarsest, chosen by data: the Funcs by name, and what each reads of which others in terms of a coordinate.
fn laplacian(levels: usize) -> Pipeline {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let level = |name: &str, j: usize| Func::new(format!("{name}{j}"));
    let mut down = vec![level("down", 0)];
    down[0][(x, y)] = cast::<i32>(input[(x, y)]);
    for j in 1..levels {
        let (mut next, before) = (level("down", j), &down[j - 1]);
        next[(x, y)] =
            before[(2 * x - 1, y)] + before[(2 * x, y)] * 3 + before[(2 * x + 1, y)] * 3 + before[(2 * x + 2, y)];
        down.push(next);
    }
    let doubled = |f: &Func, name: Func| {
        let mut up = name;
        up[(x, y)] = f[(x / 2, y)] + f[((x + 1) / 2, y)];
        up
    };
    let mut out = level("out", levels - 1);
    out[(x, y)] = down[levels - 1][(x, y)];
    for j in (0..levels - 1).rev() {
        let (up, fine) = (doubled(&down[j + 1], level("up", j)), doubled(&out, level("fine", j)));
        let mut next = level("out", j);
        let detail = down[j][(x, y)] - up[(x, y)];
        next[(x, y)] = fine[(x, y)] + detail * (detail % 4);
        out = next;
    }
    Pipeline::new([&out]).unwrap()
}

/// First and last coordinate that each level needs, by following the definitions by hand.
fn laplacian_extents(levels: usize, first: i64, last: i64) -> Vec<(i64, i64)> {
    let halves = |(a, b): (i64, i64)| (a.div_euclid(2), (b + 1).div_euclid(2));
    // `out` of each level, which reads `out` and `down` of the next one at half the coordinates, and `down` at its own.
    let mut outs = vec![(first, last)];
    for j in 1..levels {
        outs.push(halves(outs[j - 1]));
    }
    let mut downs = outs.clone();
    for j in (0..levels - 1).rev() {
        let (a, b) = downs[j + 1];
        downs[j] = (downs[j].0.min(2 * a - 1), downs[j].1.max(2 * b + 2));
    }
    downs
}

#[test]
fn pyramids_compute_no_more_than_they_need() {
    for levels in [2, 3, 5] {
        let p = laplacian(levels);
        let names: Vec<String> = p.funcs.iter().map(|f| f.name.clone()).filter(|n| *n != "out0").collect();
        let roots: String = names.iter().map(|n| format!("{n}: compute_root()\n")).collect();
        let vectors: String = names.iter().map(|n| format!("{n}: compute_root() vectorize(x, 4)\n")).collect();
        for (w, h) in [(1, 1), (4, 2), (7, 1), (12, 3)] {
            let region = Region::of_spans([(-5, w), (2, h)]);
            let images = [("in", image(I16, &[(-200, 420), (0, 9)]))];
            check(&p, &roots, &images, &region);
            check(&p, &vectors, &images, &region);
            for (j, (first, last)) in laplacian_extents(levels, -5, w - 6).into_iter().enumerate() {
                let n = (last - first + 1) * h;
                assert_eq!(
                    sizes(&p, &roots, &images, &region, &format!("down{j}")),
                    (n, n),
                    "level {j} of {levels}, {w}"
                );
            }
        }
    }
    // The text of a level does not grow with the number of levels.
    let length = |levels| {
        let p = laplacian(levels);
        let names = p.funcs.iter().map(|f| f.name.clone()).filter(|n| *n != "out0");
        lowered(&p, &names.map(|n| format!("{n}: compute_root()\n")).collect::<String>()).to_string().len()
    };
    let (four, eight) = (length(4), length(8));
    assert!(eight < 3 * four, "{four} {eight}");
}

/// The values that a cast can give bound the values that a coordinate can have.
#[test]
fn casts_bound_coordinates() {
    type Index = fn(Expr) -> Expr;
    let cases: [(ScalarType, Index, i64); 9] = [
        (I32, |e| cast::<u8>(e), 256),
        (I32, |e| cast::<i8>(e), 256),
        (U16, |e| cast::<i8>(e), 256),
        (I16, |e| cast::<u8>(e) / 3, 86),
        (F32, |e| cast::<u8>(e * 300.0), 256),
        (I32, |e| cast::<i32>(cast::<u8>(e)) * 2 + cast::<i32>(cast::<i8>(e)), 766),
        (U8, |e| cast::<i32>(cast::<i8>(e)), 256),
        (I32, |e| saturating_cast::<i8>(e), 256),
        (I32, |e| cast::<u8>(min(cast::<u16>(e), 40)), 41),
    ];
    for (ty, index, elements) in cases {
        let (x, i, input) = (vars!(x), vars!(i), ImageParam::new("in", ty, 1));
        let (mut table, mut at, mut out) = (Func::new("table"), Func::new("at"), Func::new("out"));
        table[i] = i * 3 - 7;
        at[x] = index(input[x]);
        out[x] = table[at[x]] + table[at[x + 1]];
        let p = Pipeline::new([&out]).unwrap();
        let images = [("in", image(ty, &[(-9, 60)]))];
        for n in [1, 4, 7, 12] {
            let region = Region::of_spans([(-3, n)]);
            for schedule in [
                "table: compute_root()",
                "table: compute_root() vectorize(i, 4)\n out: vectorize(x, 4)",
                "table: compute_root()\n at: compute_root()",
                "table: compute_root()\n at: store_root() compute_at(out, xi)\n out: split(x, xo, xi, 4, GuardWithIf)",
            ] {
                check(&p, schedule, &images, &region);
                assert_eq!(sizes(&p, schedule, &images, &region, "table"), (elements, elements), "{ty} {schedule}");
            }
        }
    }
}

/// Regions grow to multiples, from where a multiple begins.
#[test]
fn aligned_regions() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 3 + cast::<i16>(y);
    g[(x, y)] = f[(x - 1, y)] ^ f[(x + 1, y)];
    let p = Pipeline::new([&g]).unwrap();
    let images = [("in", image(I16, &[(-60, 150), (-9, 20)]))];
    for (n, first) in [(1i64, 0i64), (2, 5), (5, -4), (9, 1), (10, -13), (12, 7), (15, 2)] {
        let region = Region::of_spans([(first, n), (-1, 2)]);
        for (modulus, remainder) in [(5i64, 0), (5, 2), (4, -1), (3, 7)] {
            for more in ["", " vectorize(x, 5)", " split(x, xo, xi, 4) unroll(xi) parallel(y)"] {
                let schedule = format!("f: compute_root() align_bounds(x, {modulus}, {remainder}){more}");
                check(&p, &schedule, &images, &region);
                let (low, high) = (first - 1, first + n);
                let low = (low - remainder).div_euclid(modulus) * modulus + remainder;
                let wide = (high + 1 - low + modulus - 1) / modulus * modulus;
                assert_eq!(sizes(&p, &schedule, &images, &region, "f"), (2 * wide, 2 * wide), "{schedule} {first} {n}");
                let schedule = format!("f: compute_root() align_extent(x, {modulus}){more}");
                check(&p, &schedule, &images, &region);
                let wide = (n + 2 + modulus - 1) / modulus * modulus;
                assert_eq!(sizes(&p, &schedule, &images, &region, "f"), (2 * wide, 2 * wide), "{schedule} {first} {n}");
            }
        }
    }
    // An output is as large as the caller says.
    let at = |schedule: &str, first, n| fault(&p, schedule, &Region::of_spans([(first, n), (0, 2)])).is_none();
    assert!(at("g: align_bounds(x, 4, 1)", 5, 8) && !at("g: align_bounds(x, 4, 1)", 4, 8));
    assert!(
        !at("g: align_bounds(x, 4, 1)", 5, 9)
            && at("g: align_extent(x, 4)", 6, 8)
            && !at("g: align_extent(x, 4)", 6, 7)
    );
}

/// Storage takes the room that it is given, and a run ends where that is too little.
#[test]
fn room_for_so_many() {
    let p = stencil();
    let images = [("in", image(I16, &[(-30, 90), (-30, 90)]))];
    for (w, h) in [(1, 1), (4, 2), (7, 5), (12, 6)] {
        let region = Region::of_spans([(0, w), (0, h)]);
        let of = |schedule: &str| {
            check(&p, schedule, &images, &region);
            sizes(&p, schedule, &images, &region, "f").1
        };
        assert_eq!(of("f: compute_root() bound_storage(x, 14) bound_storage(y, 9)"), 14 * 9);
        assert_eq!(of("f: compute_root() bound_storage(x, 20)"), 20 * (h + 1));
        assert_eq!(of("f: compute_at(g, y) bound_storage(x, 17)"), h * 17 * 2);
        assert_eq!(of("f: store_root() compute_at(g, y) bound_storage(x, 14) bound_storage(y, 2)"), 28);
    }
    for (room, ends) in [(13, true), (14, false)] {
        let schedule = format!("f: compute_root() bound_storage(x, {room})");
        assert_eq!(fault(&p, &schedule, &Region::of_spans([(0, 12), (0, 3)])).is_some(), ends);
    }
}

/// The values of one Func say how far a reduction of another goes.
#[test]
fn domains_that_end_where_a_func_says() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 9)]);
    let (mut f, mut len, mut g) = (Func::new("f"), Func::new("len"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 2 + 1;
    len[y] = cast::<i32>(input[(0, y)]) % 9;
    r.where_(r.x.lt(len[y]));
    g[(x, y)] = cast::<i16>(0);
    g[(x, y)] += f[(x + r.x, y)] * cast::<i16>(r.x + 1);
    let p = Pipeline::new([&g]).unwrap();
    let schedules = [
        "",
        "f: compute_root()\n len: compute_root()",
        "f: compute_at(g.update(0), y)\n len: compute_root()\n g.update(0): vectorize(x, 4)",
        "len: compute_at(g.update(0), y)\n f: compute_at(g.update(0), x)",
        "len: compute_root() vectorize(y, 3)\n g.update(0): split(r.x, ro, ri, 4) unroll(ri) parallel(y)",
        "len: compute_root()\n g.update(0): atomic() vectorize(r.x, 3)",
        "len: compute_root()\n g.update(0): split(r.x, ro, ri, 3) rfactor(ri, u)\n g.rfactor(u): compute_at(g.update(0), y) vectorize(u)",
        "len: compute_root()\n g.update(0): gpu_tile(x, y, xo, yo, xi, yi, 4, 3)",
    ];
    for (w, h) in [(1, 1), (3, 3), (4, 2), (9, 7), (12, 9)] {
        let region = Region::of_spans([(-2, w), (1, h)]);
        let images = [("in", image(I16, &[(-30, 70), (-3, 20)]))];
        for schedule in schedules {
            check(&p, schedule, &images, &region);
        }
        // No iteration in which the domain has ended.
        let counts = count(&p, schedules[1], &images, &region, true);
        let rows = (1..1 + h).map(|y| images[0].1.get([0, y]).unwrap().as_i64().rem_euclid(9));
        assert_eq!(counts.iterations("g.update(0).r.x") as i64, w * rows.sum::<i64>(), "{}", counts.text());
    }
}
