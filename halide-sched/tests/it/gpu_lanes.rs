//! Loops over lanes of a subgroup, and what lanes hold in registers for each other.

use crate::matrix::{check, random_image};
use crate::support::{count_stmts, lowered, refused, sweep};
use expect_test::expect;
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};
use halide_ir::eval::{self, Check};
use halide_ir::verify::verify;
use halide_ir::{Program, Stmt, build, visit};

const SIZES: [(i32, i32); 7] = [(1, 1), (2, 5), (7, 3), (8, 12), (13, 8), (24, 9), (31, 17)];

/// `f` reads the input twice, `g` reads `f` three times.
fn stencil() -> Pipeline {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 3 - input[(x + 1, y)] + cast::<i16>(x + 7 * y);
    g[(x, y)] = f[(x - 1, y)] + f[(x, y)] + f[(x + 1, y)] * 5;
    Pipeline::new([&g]).unwrap()
}

const ROWS: &str = "g: split(x, xo, xi, 8) reorder(xi, y, xo) gpu_blocks(y, xo) gpu_lanes(xi)";
const TILES: &str = "g: tile(x, y, xo, yo, xi, yi, 8, 4) gpu_blocks(xo, yo) gpu_threads(yi) gpu_lanes(xi)";

#[test]
fn lanes_hold_what_they_compute() {
    let list = [
        ROWS.to_string(),
        format!("{ROWS}\n f: compute_at(g, y) split(x, x, xi, 8, RoundUp) gpu_lanes(xi) store_in(Register)"),
        format!("{ROWS}\n f: compute_at(g, y) split(x, x, xi, 8, GuardWithIf) gpu_lanes(xi) store_in(Register)"),
        format!("{ROWS}\n f: compute_at(g, y) split(x, x, xi, 8) gpu_lanes(xi)"),
        format!("{TILES}\n f: compute_at(g, yi) split(x, x, xi, 8, RoundUp) gpu_lanes(xi) store_in(Register)"),
        format!("{TILES}\n f: compute_at(g, yi) split(x, x, xi, 8) gpu_lanes(xi)"),
        format!("{TILES}\n f: compute_at(g, xo) split(x, x, xi, 8) gpu_threads(y) gpu_lanes(xi) reorder(xi, x, y)"),
        format!("{TILES}\n f: compute_at(g, xi)"),
        "g: split(x, xo, xi, 8, GuardWithIf) gpu_blocks(y, xo) reorder(xi, y, xo) gpu_lanes(xi)\n \
         f: compute_at(g, y) split(x, x, xi, 8, RoundUp) gpu_lanes(xi) store_in(Register)"
            .to_string(),
        // Four points side by side in each lane.
        "g: split(x, xo, xi, 32) split(xi, l, v, 4) reorder(v, l, y, xo) gpu_blocks(y, xo) gpu_lanes(l) vectorize(v)\n \
         f: compute_at(g, y) split(x, x, xi, 32, RoundUp) split(xi, l, v, 4) gpu_lanes(l) vectorize(v) store_in(Register)"
            .to_string(),
        // Several rows of a block, one after the other: nothing but registers.
        "g: tile(x, y, xo, yo, xi, yi, 4, 4) gpu_blocks(xo, yo) gpu_lanes(xi)\n \
         f: compute_at(g, yi) split(x, x, xi, 4, RoundUp) gpu_lanes(xi) store_in(Register)"
            .to_string(),
    ];
    sweep(&stencil(), &list.iter().map(String::as_str).collect::<Vec<_>>(), &SIZES);
    // (The barriers are for memory: rows that are shared, and lines of a tile that moves inwards.)
    for (at, held, barriers) in [(1, 1, 0), (2, 1, 0), (3, 0, 2), (4, 1, 0), (9, 1, 0), (10, 1, 1)] {
        let p = lowered(&stencil(), &list[at]);
        let [kernel] = &p.kernels.iter().collect::<Vec<_>>()[..] else { panic!("one kernel: {p}") };
        assert_eq!(kernel.lanes.as_ref().map(Vec::len), Some(held), "{p}");
        assert_eq!(count_stmts(&kernel.body, &|s| matches!(s, Stmt::Barrier)), barriers, "{p}");
        assert_eq!(kernel.shared_words == 0, held == 1, "{p}");
    }
}

/// A butterfly: each lane adds what the lane across has, three times.
#[test]
fn sums_over_a_subgroup() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let mut stages = vec![Func::new("s0")];
    stages[0][(x, y)] = cast::<i32>(input[(x, y)]);
    for k in 0..3 {
        let mut next = Func::new(format!("s{}", k + 1));
        let before = &stages[k];
        let across = x + select(((x / (1 << k)) % 2).eq(0), 1 << k, -(1 << k));
        next[(x, y)] = before[(x, y)] + before[(clamp(across, x / 8 * 8, x / 8 * 8 + 7), y)];
        stages.push(next);
    }
    let mut out = Func::new("out");
    out[(x, y)] = stages[3][(x, y)];
    let p = Pipeline::new([&out]).unwrap();
    let mut schedule =
        "out: align_bounds(x, 8, 0) split(x, xo, xi, 8) gpu_blocks(y, xo) reorder(xi, y, xo) gpu_lanes(xi)".to_string();
    for k in 0..4 {
        schedule +=
            &format!("\n s{k}: compute_at(out, y) split(x, x, xi, 8, RoundUp) gpu_lanes(xi) store_in(Register)");
    }
    for (w, h) in [(8, 1), (16, 3), (24, 5)] {
        let input = random_image(I16, &Region::of_spans([(-40, w + 90), (-6, h + 60)]), 5);
        check(&p, &schedule, &[("in", input)], &Region::of_spans([(0, w), (2, h)]));
    }
}

/// A stage with updates, of which each lane changes what it holds.
#[test]
fn updates_of_what_lanes_hold() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 3)]);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)];
    f[(x, y)] += input[(x + r.x, y)] * cast::<i16>(r.x);
    g[(x, y)] = f[(x, y)] - f[(x + 1, y)];
    let p = Pipeline::new([&g]).unwrap();
    let split = "split(x, x, xi, 8, GuardWithIf)";
    sweep(
        &p,
        &[
            &format!(
                "{ROWS}\n f: compute_at(g, y) {split} gpu_lanes(xi) store_in(Register)\n \
                 f.update(0): {split} reorder(xi, r.x, x) gpu_lanes(xi)"
            ),
            &format!(
                "{ROWS}\n f: compute_at(g, y) {split} gpu_lanes(xi) store_in(Register)\n \
                 f.update(0): {split} reorder(r.x, xi, x) gpu_lanes(xi)"
            ),
        ],
        &SIZES,
    );
}

#[test]
fn what_lanes_cannot_hold() {
    let p = stencil();
    let errors = [
        format!("{TILES}\n f: compute_at(g, xo) split(x, x, xi, 8, RoundUp) gpu_lanes(xi) reorder(xi, x, y) store_in(Register)"),
        format!("{ROWS}\n f: compute_at(g, y) split(x, xi, x, 2, RoundUp) split(xi, xo, xi, 4, RoundUp) gpu_lanes(xi) store_in(Register)"),
        format!("{ROWS}\n f: compute_at(g, y) split(x, x, xi, 3, RoundUp) gpu_threads(xi) store_in(Register)"),
        format!("{ROWS}\n f: compute_at(g, y) split(x, x, xi, 16) gpu_threads(xi)"),
    ]
    .map(|schedule| refused(&p, &schedule))
    .join("\n");
    expect![[r#"
        test:1:37: the kernel of `g`: lanes of one subgroup would hold `f`, and those of others need it too
          help: compute `f` inside of the other loops over threads, or use `store_in(Shared)`
        test:1:43: the kernel of `g`: `g.xi` runs over 8 lanes of a subgroup, and another loop of the kernel over 4
          help: give all loops over lanes of a kernel the same extent
        test:1:43: the kernel of `g`: which lane of a subgroup computes an element of `f` is not known, so they cannot hold it
          help: split a loop of `f` by the number of lanes, give the inner part to gpu_lanes and let nothing but what one lane does be inside of it; or use `store_in(Shared)`
        test:1:43: the kernel of `g`: a stage in a block has 16 threads in the dimension of which 8 lanes are a subgroup
          help: give its innermost loop over threads to gpu_lanes, split by as many"#]].assert_eq(&errors);
}

/// The evaluator and `verify` find what would go wrong on a device.
#[test]
fn broken_lanes_are_found() {
    let p = stencil();
    let schedule = format!("{ROWS}\n f: compute_at(g, y) split(x, x, xi, 8, RoundUp) gpu_lanes(xi) store_in(Register)");
    let good = lowered(&p, &schedule);
    let input = random_image(I16, &Region::of_spans([(-19, 90), (-6, 60)]), 5);
    let fails = |program: &Program| {
        let mut outputs = [AnyBuffer::with_region(I16, &Region::of_spans([(-1, 20), (2, 3)])).unwrap()];
        eval::run(program, &[], std::slice::from_ref(&input), &mut outputs).err().and_then(|e| e.check())
    };
    assert_eq!(fails(&good), None);
    let id = good.kernels.ids().next().expect("there is one");
    // Held in runs of two, the elements are not their lanes'.
    let mut other = good.clone();
    other.kernels[id].lanes.as_mut().unwrap()[0].run = 2;
    assert_eq!(fails(&other), Some(Check::Race));
    // Loads under a condition that differs from lane to lane.
    let mut apart = good.clone();
    fn guard(s: Stmt, threads: &std::cell::Cell<usize>) -> Stmt {
        match s {
            Stmt::For(mut l) if l.kind.is_gpu_threads() => {
                let own = threads.replace(threads.get() + 1);
                l.body = match own {
                    0 => l.body,
                    _ => build::if_else(build::lt(build::loop_var(l.id), build::int(5)), l.body, build::nothing()),
                };
                Stmt::For(l)
            }
            other => visit::map_stmt(other, |e| e.clone(), |s| guard(s, threads)),
        }
    }
    let body = apart.kernels[id].body.clone();
    apart.kernels[id].body = guard(body, &std::cell::Cell::new(0));
    let errors = verify(&apart).expect_err("lanes are apart");
    let text = format!("{errors:?}");
    assert!(text.contains("is loaded where lanes are apart"), "{text}");
    assert!(verify(&good).is_ok());
}
