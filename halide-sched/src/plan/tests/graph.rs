//! Wrappers, copies, and Funcs with updates that are left inline: the pipeline that a plan works on.

use super::samples::{inline_sums, pyramid};
use super::{TARGET, parse};
use crate::plan::{Plan, resolve};
use expect_test::{Expect, expect};
use halide_core::expr::ExprMethods;
use halide_core::types::U8;
use halide_core::{Func, ImageParam, IntoExpr, Pipeline, RDom, vars};

fn planned(pipeline: &Pipeline, schedule: &str) -> Plan {
    resolve(pipeline, &parse(schedule), &TARGET)
        .unwrap_or_else(|e| panic!("{}", e.iter().map(|e| format!("{e}\n")).collect::<String>()))
}

fn check(pipeline: &Pipeline, schedule: &str, expected: Expect) {
    let before = pipeline.to_string();
    let plan = planned(pipeline, schedule);
    expected.assert_eq(&format!("{}{}", plan.pipeline, super::show::plan(&plan)));
    assert_eq!(pipeline.to_string(), before, "the user's pipeline is untouched");
}

/// Asserts the invariants of every plan.
fn invariants(plan: &Plan) {
    let p = &plan.pipeline;
    assert_eq!(plan.funcs.len(), p.funcs.len());
    for (id, node) in p.exprs.enumerate() {
        for child in crate::plan::expressions::children(&node.kind) {
            assert!(child < id, "children stand before their node");
        }
    }
    let mut names: Vec<&str> = p.funcs.iter().map(|f| f.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), p.funcs.len(), "names are unique");
}

#[test]
fn wrappers() {
    let text = "base.in(out): compute_at(out, y)
                base.in(): compute_root() base: compute_root() reorder_storage(y, x)";
    check(
        &pyramid(),
        text,
        expect![[r#"
        image input(2): f32
        func base(x, y): f32
          base(x, y) = input(x, y)
        func base.in(out)(x, y): f32
          base.in(out)(x, y) = base(x, y)
        func base.in()(x, y): f32
          base.in()(x, y) = base(x, y)
        func down(x, y): f32
          down(x, y) = base.in()(x * 2, y * 2) + base.in()(x * 2 + 1, y * 2 + 1)
        func up(x, y): f32
          up(x, y) = down(x / 2, y / 2)
        func out(x, y): f32
          out(x, y) = base.in(out)(x, y) - up(x, y)
        output out
        base: root, storage order [1, 0]
          0: serial y, serial x
        base.in(out): at out.0.y
          0: serial y, serial x
        base.in(): root
          0: serial y, serial x
        down: inline
        up: inline
        out: root
          0: serial y, serial x
    "#]],
    );
    // The order in which they are said does not matter.
    let text = "base.in(): compute_root() base.in(out): compute_at(out, y)";
    let plan = planned(&pyramid(), text);
    assert!(plan.pipeline.to_string().contains("out(x, y) = base.in(out)(x, y) - up(x, y)"), "{}", plan.pipeline);
    invariants(&plan);
}

/// An input image is wrapped like a Func; what reads it elsewhere goes on to do so.
#[test]
fn wrappers_of_images() {
    check(
        &pyramid(),
        "input.in(base): compute_root() base: compute_root()",
        expect![[r#"
        image input(2): f32
        func input$image(_0, _1): f32
          input$image(_0, _1) = input(_0, _1)
        func input.in(base)(_0, _1): f32
          input.in(base)(_0, _1) = input$image(_0, _1)
        func base(x, y): f32
          base(x, y) = input.in(base)(x, y)
        func down(x, y): f32
          down(x, y) = base(x * 2, y * 2) + base(x * 2 + 1, y * 2 + 1)
        func up(x, y): f32
          up(x, y) = down(x / 2, y / 2)
        func out(x, y): f32
          out(x, y) = base(x, y) - up(x, y)
        output out
        input$image: inline
        input.in(base): root
          0: serial _1, serial _0
        base: root
          0: serial y, serial x
        down: inline
        up: inline
        out: root
          0: serial y, serial x
    "#]],
    );
    let input = ImageParam::new("in", U8, 1);
    let (x, mut f, mut g) = (halide_core::Var::new("x"), Func::new("f"), Func::new("g"));
    f[x] = input[x] + 1;
    g[x] = f[x] + input[x + 1];
    let p = Pipeline::new([&g]).unwrap();
    check(
        &p,
        "in.in(f): compute_root() in.in(): compute_at(g, x) f: compute_root()",
        expect![[r#"
        image in(1): u8
        func in$image(_0): u8
          in$image(_0) = in(_0)
        func in.in(f)(_0): u8
          in.in(f)(_0) = in$image(_0)
        func in.in()(_0): u8
          in.in()(_0) = in$image(_0)
        func f(x): u8
          f(x) = in.in(f)(x) + 1u8
        func g(x): u8
          g(x) = f(x) + in.in()(x + 1)
        output g
        in$image: inline
        in.in(f): root
          0: serial _0
        in.in(): at g.0.x
          0: serial _0
        f: root
          0: serial x
        g: root
          0: serial x
    "#]],
    );
    for schedule in ["in.in(f): compute_at(g, x)", "in.clone_in(g): compute_root()", "in.in(f, g): compute_root()"] {
        invariants(&planned(&p, schedule));
    }
}

#[test]
fn wrappers_of_wrappers_and_for_several() {
    let text =
        "base.in(out, down): compute_root() base.in(out, down).in(down): compute_at(down, x) down: compute_root()";
    check(
        &pyramid(),
        text,
        expect![[r#"
        image input(2): f32
        func base(x, y): f32
          base(x, y) = input(x, y)
        func base.in(out, down)(x, y): f32
          base.in(out, down)(x, y) = base(x, y)
        func base.in(out, down).in(down)(x, y): f32
          base.in(out, down).in(down)(x, y) = base.in(out, down)(x, y)
        func down(x, y): f32
          down(x, y) = base.in(out, down).in(down)(x * 2, y * 2) + base.in(out, down).in(down)(x * 2 + 1, y * 2 + 1)
        func up(x, y): f32
          up(x, y) = down(x / 2, y / 2)
        func out(x, y): f32
          out(x, y) = base.in(out, down)(x, y) - up(x, y)
        output out
        base: inline
        base.in(out, down): root
          0: serial y, serial x
        base.in(out, down).in(down): at down.0.x
          0: serial y, serial x
        down: root
          0: serial y, serial x
        up: inline
        out: root
          0: serial y, serial x
    "#]],
    );
}

#[test]
fn copies_of_funcs_with_updates() {
    let (x, y) = vars!(x, y);
    let image = ImageParam::new("image", U8, 2);
    let r = RDom::named("r", [(0, 8), (0, 8)]);
    let mut limit = Func::new("limit");
    limit[x] = x % 7;
    let mut scan = Func::new("scan");
    scan[(x, y)] = image[(x, y)].expr();
    r.where_((r.x + r.y).lt(limit[r.y]));
    scan[(x, r.x)] = scan[(x, r.x)] + scan[(x, r.x - 1)];
    let mut other = Func::new("other");
    other[(x, y)] = limit[x] + y;
    other[(x, r.y)] += r.x;
    let mut out = Func::new("out");
    out[(x, y)] = scan[(x, y)] + other[(y, x)] + scan[(y, x)];
    let pipeline = Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"));
    let text = "scan.clone_in(out): compute_root() other: compute_root()
                limit.in(scan.clone_in(out)): compute_root() limit: compute_root()";
    check(
        &pipeline,
        text,
        expect![[r#"
        image image(2): u8
        rdom r: r.x from 0 for 8, r.y from 0 for 8 where r.x + r.y < limit(r.y)
        rdom r$1: r.x from 0 for 8, r.y from 0 for 8 where r.x + r.y < limit.in(scan.clone_in(out))(r.y)
        func limit(x): i32
          limit(x) = x % 7
        func limit.in(scan.clone_in(out))(x): i32
          limit.in(scan.clone_in(out))(x) = limit(x)
        func scan.clone_in(out)(x, y): u8
          scan.clone_in(out)(x, y) = image(x, y)
          scan.clone_in(out)(x, r.x) = scan.clone_in(out)(x, r.x) + scan.clone_in(out)(x, r.x - 1)
        func other(x, y): i32
          other(x, y) = limit(x) + y
          other(x, r.y) = other(x, r.y) + r.x
        func out(x, y): i32
          out(x, y) = i32(scan.clone_in(out)(x, y)) + other(y, x) + i32(scan.clone_in(out)(y, x))
        output out
        limit: root
          0: serial x
        limit.in(scan.clone_in(out)): root
          0: serial x
        scan.clone_in(out): root
          0: serial y, serial x
          1: serial x, serial r.y, serial r.x
        other: root
          0: serial y, serial x
          1: serial x, serial r.y, serial r.x
        out: root
          0: serial y, serial x
    "#]],
    );
    invariants(&planned(&pipeline, text));
}

#[test]
fn tuples_are_wrapped_whole() {
    let x = vars!(x);
    let mut pair = Func::new("pair");
    pair[x] = halide_core::expr::tuple([x + 1, x * 2]);
    let mut out = Func::new("out");
    out[x] = pair.read(x).at(0) + pair.read(x + 1).at(1);
    let pipeline = Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"));
    check(
        &pipeline,
        "pair.in(out): compute_root()",
        expect![[r#"
        func pair(x): (i32, i32)
          pair(x) = (x + 1, x * 2)
        func pair.in(out)(x): (i32, i32)
          pair.in(out)(x) = (pair(x).0, pair(x).1)
        func out(x): i32
          out(x) = pair.in(out)(x).0 + pair.in(out)(x + 1).1
        output out
        pair: inline
        pair.in(out): root
          0: serial x
        out: root
          0: serial x
    "#]],
    );
}

#[test]
fn each_use_has_its_own_copy() {
    let text = "a: compute_root() vectorize(x, 4) b: compute_root() b.update(0): reorder(y, x)
                sum.update(0): unroll(r.x) reorder(r.x, r.y, x, y)";
    check(
        &inline_sums(),
        text,
        expect![[r#"
        image input(2): i32
        rdom r: r.x from 0 for 3, r.y from 0 for 3
        func sum(x, y): i32
          sum(x, y) = 0
          sum(x, y) = sum(x, y) + input(x + r.x, y + r.y)
        func sum$1(x, y): i32
          sum$1(x, y) = 0
          sum$1(x, y) = sum$1(x, y) + input(x + r.x, y + r.y)
        func sum$2(x, y): i32
          sum$2(x, y) = 0
          sum$2(x, y) = sum$2(x, y) + input(x + r.x, y + r.y)
        func half(x, y): i32
          half(x, y) = sum(x, y) / 3
        func half$1(x, y): i32
          half$1(x, y) = sum$2(x, y) / 3
        func a(x, y): i32
          a(x, y) = half(x, y)
        func b(x, y): i32
          b(x, y) = sum$1(x, y)
          b(x, y) = b(x, y) + half$1(y, x)
        func out(x, y): i32
          out(x, y) = a(x, y) + b(x, y)
        output out
        sum: at a.0.x$v
          0: serial y, serial x
          1: serial y, serial x, serial r.y, unrolled r.x
        sum$1: at b.0.x
          0: serial y, serial x
          1: serial y, serial x, serial r.y, unrolled r.x
        sum$2: at b.1.y
          0: serial y, serial x
          1: serial y, serial x, serial r.y, unrolled r.x
        half: inline
        half$1: inline
        a: root
          0: serial y, serial x, vectorized x$v; x$whole = x * 4 + x$v AutoShift
        b: root
          0: serial y, serial x
          1: serial x, serial y
        out: root
          0: serial y, serial x
    "#]],
    );
    invariants(&planned(&inline_sums(), text));
}

#[test]
fn a_specialised_user_has_one_place_for_all_variants() {
    let text = "a: compute_root() b: compute_root() a.specialize(input.extent(0) > 8): vectorize(x, 8)
                b.specialize(input.extent(0) > 9): rename(x, k) b: specialize_fail(\"small\")
                b.update(0).specialize(input.extent(1) == 3): fuse(x, y, t)";
    let plan = planned(&inline_sums(), text);
    expect![[r#"
        sum: at a.0.x
          0: serial y, serial x
          1: serial y, serial x, serial r.y, serial r.x
        sum$1: at b.0.k
          0: serial y, serial x
          1: serial y, serial x, serial r.y, serial r.x
        sum$2: root
          0: serial y, serial x
          1: serial y, serial x, serial r.y, serial r.x
        half: inline
        half$1: inline
        a: root
          0.0 if Binary(Gt, Sym(Buffer { buf: b0, dim: 0, field: Extent }), Int(8)):
          0.0: serial y, serial x, vectorized x$v; x$whole = x * 8 + x$v AutoShift
          0: serial y, serial x
        b: root
          0.0 if Binary(Gt, Sym(Buffer { buf: b0, dim: 0, field: Extent }), Int(9)):
          0.0: serial y, serial k
          0: serial y, serial x; fail "`b` runs only where input.extent(0) > 9: small"
          1.0 if Binary(Eq, Sym(Buffer { buf: b0, dim: 1, field: Extent }), Int(3)):
          1.0: serial t; t = y x x
          1: serial y, serial x
        out: root
          0: serial y, serial x
    "#]]
    .assert_eq(&super::show::plan(&plan));
}

#[test]
fn copies_have_a_limit() {
    let x = vars!(x);
    let mut funcs: Vec<Func> = Vec::new();
    for i in 0..14 {
        let mut f = Func::new(format!("f{i}"));
        let before = |f: &[Func]| f.last().map_or(x + 0, |f| f.read(x));
        f[x] = before(&funcs);
        f[x] += before(&funcs);
        funcs.push(f);
    }
    let pipeline = Pipeline::new([funcs.last().expect("a Func")]).unwrap_or_else(|e| panic!("{e}"));
    let errors = resolve(&pipeline, &parse(""), &TARGET).expect_err("too many");
    let text: Vec<String> = errors.iter().map(|e| e.to_string()).collect();
    expect![[r#"
        f4
          `f4` has updates and is left inline; that would make more than 1000 copies in all
          help: say `f4: compute_root()`, or give it a compute_at(...)"#]]
    .assert_eq(&text.join("\n"));
    invariants(&planned(&pipeline, "f7: compute_root()"));
}

#[test]
fn long_chains_resolve_quickly() {
    let x = vars!(x);
    let image = ImageParam::new("image", U8, 1);
    let mut last = Func::new("f0");
    last[x] = image[x].expr();
    let mut text = String::new();
    for i in 1..1500 {
        let mut f = Func::new(format!("f{i}"));
        f[x] = last[x - 1] + last[x + 1];
        text += &format!("f{i}: split(x, xo, xi, 64) vectorize(xi, 8) parallel(xo)\n");
        if i % 3 > 0 && i < 1499 {
            text += "compute_root() ";
        } else if i < 1499 {
            text += &format!("compute_at(f{}, xo) ", i + 1);
        }
        last = f;
    }
    let pipeline = Pipeline::new([&last]).unwrap_or_else(|e| panic!("{e}"));
    let start = std::time::Instant::now();
    let plan = planned(&pipeline, &text);
    assert_eq!(plan.funcs.len(), 1500);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    planned(&pipeline, "");
}
