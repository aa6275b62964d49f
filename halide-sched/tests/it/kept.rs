//! Stages that are computed with a stage of a Func that they need values of (`compute_with`).

use crate::matrix::{TARGET, check, check_outputs, random_image};
use crate::support::{illegal, why_not_taken};
use expect_test::{Expect, expect};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};
use halide_ir::eval;
use halide_sched::lower::{LowerOptions, lower};
use halide_sched::plan::resolve;
use halide_sched::schedule::Schedule;

/// `p` is needed at one element, by `same`; at earlier rows and other columns, by `above`; and at later rows, by
/// `below`.
fn stencils() -> Pipeline {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut p, mut halved, mut same, mut above, mut below) =
        (Func::new("p"), Func::new("halved"), Func::new("same"), Func::new("above"), Func::new("below"));
    p[(x, y)] = input[(x, y)] * 3 + cast::<i16>(x + y * 5);
    halved[(x, y)] = p[(x, y)] / 2;
    same[(x, y)] = halved[(x, y)] + 1;
    above[(x, y)] = p[(x - 1, y - 2)] + halved[(x + 3, y)];
    below[(x, y)] = p[(x, y)] - p[(x, y + 1)];
    Pipeline::new([&same, &above, &below]).unwrap()
}

fn run_stencils(schedule: &str) {
    let p = stencils();
    let spans = [
        [[(0, 9), (0, 7)]; 3],
        [[(0, 1), (0, 1)]; 3],
        [[(-9, 40), (-4, 20)], [(3, 4), (0, 3)], [(0, 2), (0, 4)]],
        [[(0, 3), (0, 3)], [(-1, 17), (-3, 9)], [(0, 13), (-5, 4)]],
    ];
    let input = random_image(I16, &Region::of_spans([(-60, 160), (-60, 160)]), 5);
    for spans in spans {
        let schedule = format!("p: compute_root() compute_root() {schedule}");
        check_outputs(&p, &schedule, &[("in", input.clone())], &spans.map(Region::of_spans));
    }
}

#[test]
fn values_of_earlier_iterations() {
    for schedule in [
        "same: compute_with(p, x)",
        "same: compute_with(p, y) above: compute_with(p, y)",
        "same: compute_with(p, x) above: compute_with(same, y)",
        "p: parallel(y)\n same: parallel(y) compute_with(p, x)",
        "p: vectorize(x, 4)\n same: vectorize(x, 4) compute_with(p, y)\n above: vectorize(x, 8) compute_with(p, y)",
        "p: compute_root() unroll(y, 3, GuardWithIf)\n below: compute_with(same, x)",
        "p: compute_root() reorder(y, x)\n same: reorder(y, x) compute_with(p, y)",
    ] {
        run_stencils(schedule);
    }
}

/// `p` and two stages that read it, `b` where earlier rows are stored, too.
fn rows(first: i32) -> Pipeline {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut p, mut a, mut b) = (Func::new("p"), Func::new("a"), Func::new("b"));
    p[(x, y)] = input[(x, y)] * 3 + cast::<i16>(x + y * 5);
    a[(x, y)] = p[(x, y)] + 1;
    b[(x, y)] = p[(x, y + first)] - p[(x, y)];
    Pipeline::new([&a, &b]).unwrap()
}

/// Loops that are parts of others go over the same coordinates if the whole ones begin at the same.
#[test]
fn parts_of_loops() {
    let input = random_image(I16, &Region::of_spans([(-60, 160), (-60, 160)]), 5);
    for schedule in [
        "p: compute_root() split(y, yo, yi, 4) parallel(yo)\n \
         a: split(y, yo, yi, 4, GuardWithIf) parallel(yo) compute_with(p, yo)",
        "p: compute_root() split(y, yo, yi, 4)\n b: split(y, yo, yi, 4) compute_with(p, yo)",
        "p: compute_root() split(y, yo, yi, 4, RoundUp)\n a: split(y, yo, yi, 4) compute_with(p, yi)",
        "p: compute_root() vectorize(x, 4, GuardWithIf)\n a: vectorize(x, 4, GuardWithIf) compute_with(p, x$v)",
        "p: compute_root() tile(x, y, xo, yo, xi, yi, 4, 2) fuse(xo, yo, t) parallel(t)\n \
         a: tile(x, y, xo, yo, xi, yi, 4, 2, GuardWithIf) fuse(xo, yo, t) parallel(t) compute_with(p, t)\n \
         b: tile(x, y, xo, yo, xi, yi, 4, 2, GuardWithIf) fuse(xo, yo, t) parallel(t) compute_with(a, t)",
    ] {
        for (w, h) in [(4, 4), (8, 8), (9, 7), (17, 12)] {
            let spans = [[(-2, w), (3, h)]; 2].map(Region::of_spans);
            check_outputs(&rows(0), schedule, &[("in", input.clone())], &spans);
        }
    }
}

/// Conjugate gradients: a product with a matrix that is kept, and a sum over it in the same pass.
fn step() -> Pipeline {
    let (matrix, d) = (ImageParam::new("matrix", I32, 2), ImageParam::new("d", I32, 1));
    let (x, mut q, mut dq) = (vars!(x), Func::new("q"), Func::new("dq"));
    q[x] = 0.expr();
    let k = RDom::named("k", [(0, 11)]);
    q[x] += matrix[(k.x, x)] * d[k.x];
    let r = RDom::named("r", [(0, 11)]);
    dq[()] = 0.expr();
    dq[()] += d[r.x] * q[r.x];
    Pipeline::new([&q, &dq]).unwrap()
}

#[test]
fn sums_over_what_is_kept() {
    let p = step();
    let matrix = random_image(I32, &Region::of_spans([(0, 11), (-9, 30)]), 5);
    let d = random_image(I32, &Region::of_spans([(0, 11)]), 7);
    for schedule in [
        "dq.update(0): rename(r.x, x) compute_with(q.update(0), x)",
        "q.update(0): reorder(k.x, x) parallel(x)\n dq.update(0): rename(r.x, x) atomic() parallel(x) \
         compute_with(q.update(0), x)",
        "q.update(0): split(x, xo, xi, 4) reorder(xi, k.x, xo) vectorize(xi)\n \
         dq.update(0): split(r.x, xo, ri, 4) atomic() vectorize(ri) compute_with(q.update(0), xo)",
    ] {
        for (min, n) in [(0, 11), (0, 20)] {
            let regions = [Region::of_spans([(min, n)]), Region::of_spans::<i32>([])];
            check_outputs(&p, schedule, &[("matrix", matrix.clone()), ("d", d.clone())], &regions);
        }
    }
}

/// A product with a matrix in rows that are shared by threads, and a part of the sum for each row.
#[test]
fn parts_of_sums_in_threads() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y, mut q, mut dq) = (vars!(x), vars!(y), Func::new("q"), Func::new("dq"));
    q[(x, y)] = input[(x, y)] * 4 - input[(x - 1, y)] - input[(x, y + 1)];
    let r = RDom::named("r", [(0, 7), (0, 5)]);
    dq[()] = 0.expr();
    dq[()] += input[(r.x, r.y)] * q[(r.x, r.y)];
    let p = Pipeline::new([&q, &dq]).unwrap();
    let input = random_image(I32, &Region::of_spans([(-9, 30), (-9, 30)]), 5);
    let schedule = "dq.update(0): rfactor(r.y, u)\n q: parallel(y) vectorize(x, 4)\n \
                    dq.rfactor(u): compute_root()\n \
                    dq.rfactor(u).update(0): rename(u, y) parallel(y) compute_with(q, y)";
    for (w, h) in [(7, 5), (12, 6)] {
        let regions = [Region::of_spans([(0, w), (0, h)]), Region::of_spans::<i32>([])];
        check_outputs(&p, schedule, &[("in", input.clone())], &regions);
    }
}

/// Halves of loops that begin at different values: a fault, and no wrong values.
#[test]
fn loops_that_begin_elsewhere() {
    let p = rows(-2);
    let schedule = "p: compute_root() split(y, yo, yi, 4)\n a: split(y, yo, yi, 4) compute_with(p, yo)";
    let schedule = schedule.parse::<Schedule>().unwrap();
    let plan = resolve(&p, &schedule, &TARGET).unwrap();
    let program = lower(&plan, &LowerOptions::default()).unwrap().program;
    let input = random_image(I16, &Region::of_spans([(-60, 160), (-60, 160)]), 5);
    let mut outputs = [(0, 9); 2].map(|span| AnyBuffer::with_region(I16, &Region::of_spans([span; 2])).unwrap());
    let error = eval::run(&program, &[], &[input], &mut outputs).unwrap_err();
    expect!["the schedule promises what does not hold: `y` of `a` begins where `y` of `p` does, in whose loops it runs (here -2, 0); drop the promise or change the call"].assert_eq(&error.message(&program));
}

/// A chain of stages, each in the loops of the one before it; all of them inside of a consumer's tile.
#[test]
fn chains_in_tiles() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut a, mut b, mut c, mut out) = (Func::new("a"), Func::new("b"), Func::new("c"), Func::new("out"));
    a[(x, y)] = input[(x, y)] ^ 3;
    b[(x, y)] = a[(x, y)] + a[(x, y - 1)];
    let r = RDom::named("r", [(-1, 3)]);
    c[(x, y)] = b[(x, y)];
    c[(x, y)] += b[(x + r.x, y)];
    out[(x, y)] = c[(x, y)] + c[(x + 1, y)] - a[(x, y)];
    let p = Pipeline::new([&out]).unwrap();
    let mut legal = 0;
    for place in ["compute_root()", "compute_at(out, yo)", "store_root() compute_at(out, yo)", "compute_at(out, x)"] {
        for with in [
            "b: compute_with(a, y)",
            "b: compute_with(a, y) c: compute_with(b, x)",
            "c: compute_with(b, y)",
            "b: compute_with(a, y) c: compute_with(b, x) c.update(0): reorder(r.x, x, y)",
            "c.update(0): compute_with(b, y)",
        ] {
            let schedule = format!("out: split(y, yo, yi, 3)\n a: {place} b: {place} c: {place}\n {with}");
            if why_not_taken(&p, &schedule).is_some() {
                continue;
            }
            legal += 1;
            for (w, h) in [(1, 1), (4, 5), (9, 7)] {
                let input = random_image(I16, &Region::of_spans([(-30, 90), (-30, 90)]), 5);
                check(&p, &schedule, &[("in", input)], &Region::of_spans([(-1, w), (2, h)]));
            }
        }
    }
    assert_eq!(legal, 16);
}

fn check_refusal(pipeline: &Pipeline, schedule: &str, expected: Expect) {
    expected.assert_eq(&illegal(pipeline, schedule));
}

#[test]
fn what_is_refused() {
    let p = stencils();
    check_refusal(
        &p,
        "p: compute_root()\n below: compute_with(p, y)",
        expect![[r#"
            test:2:9: below: compute_with(p, y)
              `below` needs values of `p`: an iteration of the loops that run as one may load `p(x, y + 1)` before another one stores it to `p(x, y)`, at halide-sched/tests/it/kept.rs:26:10
              help: let fewer loops run as one, from the outermost, none of them parallel; or compute them one after the other"#]],
    );
    check_refusal(
        &p,
        "p: compute_root()\n above: compute_with(p, x)",
        expect![[r#"
            test:2:9: above: compute_with(p, x)
              `above` needs values of `p`: an iteration of the loops that run as one may load `p(x, y)` before another one stores it to `p(x, y)`, at halide-sched/tests/it/kept.rs:23:11
              help: let fewer loops run as one, from the outermost, none of them parallel; or compute them one after the other"#]],
    );
    check_refusal(
        &p,
        "p: compute_root() parallel(y)\n above: parallel(y) compute_with(p, y)",
        expect![[r#"
            test:2:21: above: compute_with(p, y)
              `above` needs values of `p`: an iteration of the loops that run as one may load `p(x - 1, y - 2)` before another one stores it to `p(x, y)`, at halide-sched/tests/it/kept.rs:25:10
              help: let fewer loops run as one, from the outermost, none of them parallel; or compute them one after the other"#]],
    );
    check_refusal(
        &p,
        "p: compute_root() compute_with(same, y)",
        expect![[r#"
            test:1:19: p: compute_with(same, y)
              `same` needs values of `p`: it would not come behind the last stage of `p`
              help: compute its stages that need `p` with the last stage of `p`, or none of them"#]],
    );
    check_refusal(
        &p,
        "p: compute_root()\n same: compute_with(p, y, AlignStart)",
        expect![[r#"
            test:2:8: same: compute_with(p, y, AlignStart)
              `same` needs values of `p`: their loops run together at different values of their variables
              help: say NoAlign of all loops that run as one"#]],
    );
    check_refusal(
        &p,
        "p: compute_root() halved: compute_root()\n same: compute_with(p, y)",
        expect![[r#"
            test:2:8: same: compute_with(p, y)
              `same` needs values of `p`: they come by way of `halved`, which is computed by itself
              help: inline `halved`, or compute it at the root, and its consumers apart"#]],
    );
    check_refusal(
        &p,
        "p: compute_root() vectorize(x, 4)\n same: vectorize(x, 4) compute_with(p, x$v)",
        expect![[r#"
        test:2:24: same: compute_with(p, x$v)
          `same` needs values of `p`: `x$v` of `p` is a part of a loop whose last piece may begin earlier, to fit
          help: give the split of `p` the tail GuardWithIf"#]],
    );
    check_refusal(
        &p,
        "p: compute_root() split(y, yo, yi, 4) parallel(yo)\n same: split(y, yo, yi, 4) parallel(yo) compute_with(p, yo)",
        expect![[r#"
            test:2:41: same: compute_with(p, yo)
              `same` needs values of `p`: `yo` of `same` is a part of a loop whose last piece may begin earlier, to fit
              help: give the split of `same` the tail GuardWithIf"#]],
    );
    let p = step();
    check_refusal(
        &p,
        "q.update(0): reorder(x, k.x)\n dq.update(0): rename(r.x, k.x) compute_with(q.update(0), k.x)",
        expect![[r#"
            test:2:33: dq.update(0): compute_with(q.update(0), k.x)
              `dq` needs values of `q`: an iteration of the loops that run as one may load `q(r.x)` before another one stores it to `q(x)`, at halide-sched/tests/it/kept.rs:101:7
              help: let fewer loops run as one, from the outermost, none of them parallel; or compute them one after the other"#]],
    );
    check_refusal(
        &p,
        "dq.update(0): rename(r.x, x) compute_with(q, x)",
        expect![[r#"
            test:1:30: dq.update(0): compute_with(q, x)
              `dq` needs values of `q`: it would not come behind the last stage of `q`
              help: compute its stages that need `q` with the last stage of `q`, or none of them"#]],
    );
}
