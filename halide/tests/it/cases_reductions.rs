//! Restated cases of reductions and updates: recurrences, scatters, domains with predicates, tuples.

use crate::cases::{Case, planes, rows};
use crate::engines_agree::noise;
use halide::prelude::*;

fn bytes(region: &Region) -> Buffer<u8> {
    noise(U8, region, 21).typed().unwrap()
}

/// A recurrence of order three, of wrapping integers, that begins at a later coordinate than the output does.
#[test]
fn a_linear_recurrence_of_order_three() {
    let (x, n) = (vars!(x), Param::<i32>::new("n").with_range(0, 90));
    let r = RDom::named("r", [(0.expr(), n.expr())]);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = cast::<i32>(x) + 2;
    let at = r.x + 3;
    f[at] = f[at - 1] * 3 - f[at - 2] + f[at - 3] * f[at - 3];
    g[x] = f[x + 1] - f[x];
    for terms in [0usize, 1, 17, 90] {
        let mut list: Vec<i32> = (0..140).map(|i| i + 2).collect();
        for i in 3..3 + terms {
            let square = list[i - 3].wrapping_mul(list[i - 3]);
            list[i] = list[i - 1].wrapping_mul(3).wrapping_sub(list[i - 2]).wrapping_add(square);
        }
        let case = Case::new([&g]).param(n, terms as i32);
        let value = |x: i64| if x < 0 { x as i32 + 2 } else { list[x as usize] };
        let schedules = [
            "f: compute_root()",
            "f: compute_root() vectorize(x, 8)\n f.update(0): unroll(r.x, 4)\n g: vectorize(x, 4)",
            "f: compute_at(g, xo)\n g: split(x, xo, xi, 5) parallel(xo)",
        ];
        case.holds(&schedules, &rows(), |at| [value(at[0] + 1).wrapping_sub(value(at[0])) as i64]);
    }
}

/// Cellular automaton on a torus: a chain of Funcs, one per generation, around an image that repeats.
#[test]
fn generations_of_a_cellular_automaton() {
    let (x, y, input) = (vars!(x), vars!(y), ImageParam::new("input", U8, 2));
    let around = repeat_image(&input);
    let mut last = Func::new("gen0");
    last[(x, y)] = around[(x, y)] & 1;
    for i in 1..4 {
        let mut next = Func::new(format!("gen{i}"));
        let near = RDom::named("near", [(-1, 3), (-1, 3)]);
        let all = sum_over(&near, last[(x + near.x, y + near.y)]);
        next[(x, y)] = select(all.eq(3).or(all.eq(4).and(last[(x, y)].eq(1))), 1u8, 0u8);
        last = next;
    }
    let size = Region::of_extents([19, 7]);
    let cells = bytes(&size);
    let mut board: Vec<Vec<bool>> =
        (0..7).map(|y| (0..19).map(|x| cells.get([x, y]).unwrap() & 1 == 1).collect()).collect();
    for _ in 1..4 {
        let near = |x: usize, y: usize| {
            let at = |dx: usize, dy: usize| board[(y + dy + 6) % 7][(x + dx + 18) % 19] as usize;
            (0..9).map(|i| at(i % 3, i / 3)).sum::<usize>()
        };
        let alive = |x, y| near(x, y) == 3 || (near(x, y) == 4 && board[y][x]);
        board = (0..7).map(|y| (0..19).map(|x| alive(x, y)).collect()).collect();
    }
    let schedules = [
        "gen0: compute_root()\n gen1: compute_root()\n gen2: compute_root()\n gen3: vectorize(x, 8)",
        "gen3: tile(x, y, xo, yo, xi, yi, 8, 4) parallel(yo)\n gen2: compute_at(gen3, xo) vectorize(x, 4)\n gen1: compute_at(gen3, xo)",
        "gen2: store_root() compute_at(gen3, y) vectorize(x, 16)\n gen1: store_root() compute_at(gen3, y)",
    ];
    let alive = |at: &[i64]| [board[at[1].rem_euclid(7) as usize][at[0].rem_euclid(19) as usize] as i64];
    Case::new([&last]).image(&input, cells).holds(&schedules, &planes(), alive);
}

/// The inverse of a permutation that an image holds, by a scatter; where nothing maps to, the first definition stays.
#[test]
fn the_inverse_of_a_table() {
    let (x, input) = (vars!(x), ImageParam::new("input", U8, 1));
    let r = RDom::over(&input);
    let mut inverse = Func::new("inverse");
    inverse[x] = -1.expr();
    inverse[clamp(cast::<i32>(input[r.x]) / 3, -6, 15)] = r.x.expr();
    let table = bytes(&Region::of_spans([(-4, 30)]));
    let last =
        |at: i64| table.iter().filter(|(_, v)| (i64::from(*v) / 3).min(15) == at).map(|(c, _)| c[0] as i64).last();
    let schedules = ["", "inverse: vectorize(x, 8)\n inverse.update(0): unroll(r.x, 3)", "inverse: parallel(x)"];
    let regions = [Region::of_spans([(-6, 22)]), Region::of_spans([(-6, 35)])];
    let case = Case::new([&inverse]).image(&input, table.clone());
    case.holds(&schedules, &regions, |at| [last(at[0]).unwrap_or(-1)]);
}

/// Newton's iteration of a cube root: steps along a domain, each on what the one before left.
#[test]
fn newtons_iteration() {
    let (x, t) = (vars!(x), RDom::named("t", [(0, 12)]));
    let (mut root, mut whole) = (Func::new("root"), Func::new("whole"));
    let goal = cast::<f64>(x * x + 1);
    root[x] = goal;
    root[x] = select(t.x.ge(0), (root[x] * 2.0 + goal / (root[x] * root[x])) / 3.0, 0.0);
    whole[x] = root[x];
    let cube = |x: i64| {
        let goal = (x * x + 1) as f64;
        let step = |v: f64| (v * 2.0 + goal / (v * v)) / 3.0;
        (0..12).fold(goal, |v, _| step(v)).to_bits() as i64
    };
    let schedules = [
        "root: compute_root()",
        "root: compute_root() vectorize(x, 4)\n root.update(0): vectorize(x, 4) unroll(t.x, 5)",
        "root: compute_at(whole, x)\n whole: parallel(x)",
    ];
    Case::new([&whole]).holds(&schedules, &rows(), |at| [cube(at[0])]);
}

/// Compaction of the elements that a condition takes: ranks by a running sum, then a scatter to ranks.
#[test]
fn compaction_of_a_stream() {
    let (x, input) = (vars!(x), ImageParam::new("input", U8, 1));
    let n = 41;
    let (r, s) = (RDom::named("r", [(1, n - 1)]), RDom::named("s", [(0, n)]));
    let (mut rank, mut packed) = (Func::new("rank"), Func::new("packed"));
    let taken = |i: Expr| input[i].gt(90);
    rank[x] = select(taken(x.expr()), 1, 0);
    rank[r.x] = rank[r.x - 1] + select(taken(r.x.expr()), 1, 0);
    packed[x] = 0u8.expr();
    s.where_(taken(s.x.expr()));
    packed[clamp(rank[s.x] - 1, 0, n - 1)] = input[s.x];
    let data = bytes(&Region::of_extents([n]));
    let list: Vec<u8> = data.to_vec().into_iter().filter(|v| *v > 90).collect();
    let schedules = [
        "rank: compute_root()",
        "rank: compute_root() vectorize(x, 8)\n rank.update(0): unroll(r.x, 2)\n packed: vectorize(x, 16)",
    ];
    let case = Case::new([&packed]).image(&input, data);
    let regions = [Region::of_extents([n]), Region::of_spans([(-3, n + 9)])];
    case.holds(&schedules, &regions, |at| [list.get(at[0] as usize).map_or(0, |v| i64::from(*v))]);
}

/// Reductions that read reductions, each with updates of its own.
#[test]
fn a_chain_of_reductions() {
    let (x, y, input) = (vars!(x), vars!(y), ImageParam::new("input", U8, 2));
    let inside = repeat_edge(&input);
    let (mut row, mut most, mut out) = (Func::new("row"), Func::new("most"), Func::new("out"));
    let (a, b) = (RDom::named("a", [(-2, 5)]), RDom::named("b", [(-1, 3)]));
    row[(x, y)] = 7u32.expr();
    row[(x, y)] += cast::<u32>(inside[(x + a.x, y)]);
    row[(x, y)] ^= 5u32.expr();
    most[(x, y)] = 0u32.expr();
    most[(x, y)] = max(most[(x, y)], row[(x, y + b.x)]);
    out[(x, y)] = most[(x, y)] * 2 - row[(x, y)];
    let image = bytes(&Region::of_extents([12, 6]));
    let at = |x: i64, y: i64| u32::from(image.get([x.clamp(0, 11) as i32, y.clamp(0, 5) as i32]).unwrap());
    let sum = |x: i64, y: i64| (7 + (-2..3).map(|d| at(x + d, y)).sum::<u32>()) ^ 5;
    let expected = |p: &[i64]| {
        let most = (-1..2).map(|d| sum(p[0], p[1] + d)).max().unwrap();
        [i64::from((most * 2).wrapping_sub(sum(p[0], p[1])))]
    };
    let schedules = [
        "row: compute_root()\n most: compute_root()",
        "row: compute_at(out, y) vectorize(x, 8)\n row.update(0): reorder(x, a.x, y) vectorize(x, 8)\n most: compute_at(out, x)",
        "out: tile(x, y, xo, yo, xi, yi, 4, 4) vectorize(xi)\n most: compute_at(out, xo)\n row: compute_at(out, xo) vectorize(y, 2)",
        "row: store_root() compute_at(out, y)\n row.update(0): unroll(a.x)\n most: compute_at(out, y) vectorize(x, 4)",
    ];
    Case::new([&out]).image(&input, image.clone()).holds(&schedules, &planes(), expected);
}

/// Predicates that read the Func that their update changes: elsewhere, at its own point, at points of other parity.
#[test]
fn predicates_that_read_the_func_they_guard() {
    let x = vars!(x);
    let build = |guard: fn(&Func, &RDom) -> Expr, place: fn(&RDom) -> Expr| {
        let r = RDom::named("r", [(1, 11)]);
        let mut f = Func::new("f");
        f[x] = select((x % 3).eq(0), 4, 5);
        r.where_(guard(&f, &r).eq(4));
        f[place(&r)] = 9.expr();
        f
    };
    let first = |x: i64| if x.rem_euclid(3) == 0 { 4 } else { 5 };
    let regions = [Region::of_extents([24]), Region::of_spans([(-5, 40)])];
    let schedules = ["", "f.update(0): parallel(r.x)", "f: vectorize(x, 8)\n f.update(0): vectorize(r.x, 4)"];
    let f = build(|f, _| f[0], |r| r.x.expr());
    let inside = |x: i64| (1..12).contains(&x);
    Case::new([&f]).holds(&schedules, &regions, |at| [if inside(at[0]) { 9 } else { first(at[0]) }]);
    let f = build(|f, r| f[r.x], |r| r.x.expr());
    let own = |x: i64| if inside(x) && first(x) == 4 { 9 } else { first(x) };
    Case::new([&f]).holds(&schedules, &regions, |at| [own(at[0])]);
    let f = build(|f, r| f[2 * r.x], |r| 2 * r.x + 1);
    let odd = |x: i64| if x % 2 == 1 && inside(x / 2) && first(x - 1) == 4 { 9 } else { first(x) };
    Case::new([&f]).holds(&schedules, &regions, |at| [odd(at[0])]);
}
