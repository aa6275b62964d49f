//! A program: the method of conjugate gradients as four pipelines on buffers that stay, for Poisson's equation.

use halide::prelude::*;
use std::time::Instant;

/// An image of the solver: two dimensions of f64, or one value.
fn image(name: &str) -> ImageParam {
    ImageParam::new(name, F64, if matches!(name, "rz" | "first") { 0 } else { 2 })
}

/// The sum of the products of two images.
fn dot(name: &str, a: &dyn Fn(Expr, Expr) -> Expr, b: &dyn Fn(Expr, Expr) -> Expr, over: &ImageParam) -> Func {
    let r = RDom::over(over);
    let mut sum = Func::new(name);
    sum[()] += a(r.x.expr(), r.y.expr()) * b(r.x.expr(), r.y.expr());
    sum
}

/// `x = 0`, `r = d = b`, and the square of their length.
fn start() -> Result<Pipeline, Error> {
    let ((x, y), b) = (vars!(x, y), image("b"));
    let read = |x: Expr, y: Expr| b[(x, y)];
    let (mut x0, mut r, mut d) = (Func::new("x"), Func::new("r"), Func::new("d"));
    x0[(x, y)] = 0.0f64.expr();
    r[(x, y)] = b[(x, y)];
    d[(x, y)] = b[(x, y)];
    let (rz, mut first, mut go) = (dot("rz", &read, &read, &b), Func::new("first"), Func::new("go"));
    first[()] = rz[()];
    go[()] = rz[()].gt(0.0f64);
    Ok(Pipeline::new([&x0, &r, &d, &rz, &first, &go])?)
}

/// `q`: the five-point operator of `d`, with zeros around the grid.
fn multiply() -> Result<Pipeline, Error> {
    let ((x, y), mut q) = (vars!(x, y), Func::new("q"));
    let d = constant_exterior(&image("d"), 0.0f64);
    q[(x, y)] = 4.0f64 * d[(x, y)] - d[(x - 1, y)] - d[(x + 1, y)] - d[(x, y - 1)] - d[(x, y + 1)];
    Ok(Pipeline::new([&q])?)
}

/// The step along `d`, the new residual and its length, the next direction, and the answer whether to go on.
fn advance() -> Result<Pipeline, Error> {
    let ((x, y), rz, first) = (vars!(x, y), image("rz"), image("first"));
    let [at, r, d, q] = ["x", "r", "d", "q"].map(image);
    let curvature = dot("curvature", &|x, y| d[(x, y)], &|x, y| q[(x, y)], &d);
    let length = rz[()] / curvature[()];
    let (mut next, mut residual) = (Func::new("x"), Func::new("r"));
    next[(x, y)] = at[(x, y)] + length * d[(x, y)];
    residual[(x, y)] = r[(x, y)] - length * q[(x, y)];
    let after = dot("rz", &|x, y| residual[(x, y)], &|x, y| residual[(x, y)], &r);
    let (mut direction, mut go) = (Func::new("d"), Func::new("go"));
    direction[(x, y)] = residual[(x, y)] + after[()] / rz[()] * d[(x, y)];
    go[()] = after[()].gt(1e-16f64 * first[()]);
    Ok(Pipeline::new([&next, &residual, &after, &direction, &go])?)
}

fn main() -> Result<(), Error> {
    let (multiply, advance) = (multiply()?, advance()?);
    let rows: Schedule = "q: vectorize(x, natural) parallel(y)".parse()?;
    let sums: Schedule = "
        curvature: compute_root()
        curvature.update(0): float(relaxed) atomic() split(r.x, o, i, 16) vectorize(i)
        r: compute_root() vectorize(x, natural)
        rz: compute_root()
        rz.update(0): float(relaxed) atomic() split(r.x, o, i, 16) vectorize(i)
        x: vectorize(x, natural)
        d: vectorize(x, natural)"
        .parse()?;

    let mut cg = Program::new("cg");
    cg.input("b", F64, 2).state_like("x", "b").state_like("r", "b").state_like("d", "b").state_like("q", "b");
    cg.scalar("rz", F64).scalar("first", F64).scalar("go", Bool);
    cg.run(&start()?, &"rz: compute_root()".parse()?);
    cg.repeat_while("go", 10_000, |cg| cg.run(&multiply, &rows).run(&advance, &sums));
    let solver = cg.compile(&Target::host())?;
    print!("{}", solver.explain());

    // A charge and its opposite.
    let charge = |at: &[i32]| match at {
        [63, 127] => 1.0,
        [191, 127] => -1.0,
        _ => 0.0,
    };
    let b = Buffer::from_fn(&Region::of_extents([255, 255]), charge)?;
    let begun = Instant::now();
    let done = solver.inputs().image_named("b", b).run()?;
    let (x, stats) = (done.state::<f64>("x")?, done.stats());
    println!("{} steps in {:.1} ms: {stats:?}", stats.steps, begun.elapsed().as_secs_f64() * 1e3);
    let (high, low) = (x.get([63, 127]).unwrap_or(0.0), x.get([191, 127]).unwrap_or(0.0));
    println!("potential {high:.6} and {low:.6}");
    assert!(high > 0.5 && (high + low).abs() < 1e-6);
    Ok(())
}
