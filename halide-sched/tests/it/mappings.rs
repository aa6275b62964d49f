//! Counts and forms of the mappings of instructions to contractions: those of *ISA Mapper*, and what else may be.

use halide_core::expr::{Expr, IntoExpr, undef};
use halide_core::types::F32;
use halide_core::{Func, ImageParam, Pipeline, RDom, Var};
use halide_sched::plan::{MapError, mappings};
use halide_sched::schedule::{Extents, Instruction, InstructionSet, LoopKind};

fn image(name: &str, dims: usize) -> ImageParam {
    ImageParam::new(name, F32, dims)
}

/// A product of matrices, of a matrix and a vector, and of vectors.
fn contractions() -> InstructionSet {
    let ((j, i), k) = ((Var::new("j"), Var::new("i")), RDom::named("k", [(0, 4)]));
    let instruction = |name: &str, mut c: Func, at: &[Expr], value: Expr, axes: &[&str]| {
        c[at] = undef::<f32>();
        let before = c.read(at);
        c[at] = before + value;
        axes.iter().fold(Instruction::new(name, &Pipeline::new([&c]).unwrap()), |made, axis| {
            made.axis(*axis, Extents::Any, LoopKind::Serial)
        })
    };
    let (matrix, other, vector) = (image("a", 2), image("b", 2), image("x", 1));
    let of_matrices = matrix[(k.x, i)] * other[(j, k.x)];
    let all = [
        instruction("matmul", Func::new("c"), &[j.expr(), i.expr()], of_matrices, &["j", "i", "k.x"]),
        instruction("gemv", Func::new("c"), &[i.expr()], matrix[(k.x, i)] * vector[k.x], &["i", "k.x"]),
        instruction("dot", Func::new("c"), &[], image("y", 1)[k.x] * vector[k.x], &["k.x"]),
    ];
    all.into_iter().fold(InstructionSet::new(), |set, made| set.with(made).unwrap())
}

/// A stage that adds products to what there is.
fn stage(at: &[Expr], value: Expr) -> Pipeline {
    let mut out = Func::new("out");
    out[at] += value;
    Pipeline::new([&out]).unwrap()
}

fn texts(pipeline: &Pipeline, instruction: &str) -> Result<Vec<String>, MapError> {
    let found = mappings(pipeline, ("out", 1), &contractions(), instruction)?;
    Ok(found.iter().map(|mapping| mapping.to_string()).collect())
}

fn counts(pipeline: &Pipeline) -> [usize; 3] {
    ["matmul", "gemv", "dot"].map(|name| texts(pipeline, name).map_or(0, |found| found.len()))
}

fn vars() -> [Expr; 3] {
    ["x", "y", "n"].map(|name| Var::new(name).expr())
}

#[test]
fn contractions_have_the_mappings_of_the_paper() {
    let [x, y, n] = vars();
    let r = RDom::named("r", [(0, 8)]);
    let two = RDom::named("r", [(0, 3), (0, 8)]);
    let (a, b, w) = (image("A", 2), image("B", 2), image("W", 3));
    assert_eq!(counts(&stage(&[x, y], a.read([r.x.expr(), y]) * b.read([x, r.x.expr()]))), [2, 2, 2]);
    assert_eq!(counts(&stage(&[x, y], a.read([y, r.x.expr()]) * b.read([x, r.x.expr()]))), [2, 2, 2]);
    let row = stage(&[x, n], a.read([x + two.x, two.y.expr()]) * w.read([two.x.expr(), two.y.expr(), n]));
    assert_eq!(counts(&row), [2, 3, 4]);
    let pointwise = stage(&[x, y, n], image("T", 3).read([x, y, r.x.expr()]) * b.read([r.x.expr(), n]));
    assert_eq!(counts(&pointwise), [6, 4, 2]);
    let vector = stage(&[x], a.read([r.x.expr(), x]) * image("v", 1).read([r.x.expr()]));
    assert_eq!(counts(&vector), [0, 1, 2]);
}

#[test]
fn mappings_are_in_one_order_and_say_what_stands_for_what() {
    let [x, y, n] = vars();
    let r = RDom::named("r", [(0, 8)]);
    let pointwise = stage(&[x, y, n], image("T", 3).read([x, y, r.x.expr()]) * image("P", 2).read([r.x.expr(), n]));
    let found = texts(&pointwise, "matmul").unwrap();
    assert_eq!(
        found,
        [
            "matmul: j <- x, i <- n, k.x <- r.x; a <- P, b <- T",
            "matmul: j <- y, i <- n, k.x <- r.x; a <- P, b <- T",
            "matmul: j <- n, i <- x, k.x <- r.x; a <- T, b <- P",
            "matmul: j <- n, i <- y, k.x <- r.x; a <- T, b <- P",
            "matmul: j <- n, i <- (x, y), k.x <- r.x; a <- T, b <- P",
            "matmul: j <- (x, y), i <- n, k.x <- r.x; a <- P, b <- T",
        ]
    );
}

/// A separable convolution that is not factored has a product more.
#[test]
fn what_does_not_map_says_the_operation_that_differs() {
    let [x, y, n] = vars();
    let r = RDom::named("r", [(0, 3), (0, 3), (0, 8)]);
    let (rx, ry, c) = (r.x.expr(), r.y.expr(), r.z.expr());
    let read = image("I", 3).read([x + rx, y + ry, c]) * image("D", 3).read([rx, ry, c]);
    let unfactored = stage(&[x, y, n], read * image("P", 2).read([c, n]));
    let error = texts(&unfactored, "matmul").unwrap_err().to_string();
    assert!(error.contains("instruction `matmul` computes the stage in none of"), "{error}");
    assert!(
        error.contains("computes a value to read as `b`, and the definition has") || error.contains("`a`"),
        "{error}"
    );
    let error = mappings(&unfactored, ("out", 2), &contractions(), "dot").unwrap_err().to_string();
    assert_eq!(error, "the pipeline has no stage `out.update(1)`");
    let error = mappings(&unfactored, ("out", 1), &contractions(), "fma").unwrap_err().to_string();
    assert_eq!(error, "there is no instruction `fma`");
}

/// Exact extents divide the number of values, where that is known; Funcs are operands, or else looked through.
#[test]
fn extents_and_funcs_decide_of_mappings() {
    let [x, ..] = vars();
    let built_in = InstructionSet::built_in();
    let dot = |taps: i32| {
        let (r, mut out) = (RDom::named("r", [(0, taps)]), Func::new("out"));
        let (a, b) = (ImageParam::new("a", halide_core::types::U8, 1), ImageParam::new("b", halide_core::types::I8, 2));
        let wide = |e: Expr| halide_core::expr::cast::<i32>(e);
        out[x] += wide(a[r.x]) * wide(b[(r.x.expr(), x)]);
        mappings(&Pipeline::new([&out]).unwrap(), ("out", 1), &built_in, "dot_u8i8_4").map(|found| found.len())
    };
    assert_eq!(dot(8), Ok(1));
    assert!(dot(6).is_err());
    let (a, r) = (image("A", 2), RDom::named("r", [(0, 8)]));
    let (mut scaled, mut out) = (Func::new("scaled"), Func::new("out"));
    scaled[(Var::new("u"), Var::new("v"))] = a[(Var::new("u"), Var::new("v"))] * 2.0f32;
    out[x] += scaled.read([r.x.expr(), x]) * image("v", 1).read([r.x.expr()]);
    let pipeline = Pipeline::new([&out]).unwrap();
    assert_eq!(texts(&pipeline, "gemv").unwrap(), ["gemv: i <- x, k.x <- r.x; a <- scaled, x <- v"]);
}

/// Domains with many dimensions that nothing reads, and instructions with as many axes, end in good time.
#[test]
fn many_variables_are_too_many_and_do_not_hang() {
    let r = RDom::named("r", [(0, 2); 8]);
    let mut out = Func::new("out");
    let read: Expr = (0..8).fold(0.expr(), |sum, dim| sum + r.dim(dim));
    out[Var::new("x")] += image("v", 1).read([read]);
    let mut c = Func::new("c");
    let k = RDom::named("k", [(0, 2); 7]);
    let read: Expr = (0..7).fold(0.expr(), |sum, dim| sum + k.dim(dim) * 3);
    c[Var::new("i")] = undef::<f32>();
    c[Var::new("i")] += image("a", 1).read([read]);
    let wide = Instruction::new("wide", &Pipeline::new([&c]).unwrap()).axis("i", Extents::Any, LoopKind::Serial);
    let wide = (0..7).fold(wide, |wide, dim| wide.axis(k.dim(dim).name(), Extents::Any, LoopKind::Serial));
    let set = InstructionSet::new().with(wide).unwrap();
    let error = mappings(&Pipeline::new([&out]).unwrap(), ("out", 1), &set, "wide").unwrap_err().to_string();
    assert!(error.contains("instruction `wide` has more than 5000 assignments"), "{error}");
}
