//! Loop nests of linear algebra and statistics on which choices of tile sizes are compared: matrices of `n` rows and
//! columns, and a definition that dominates the time.
//!
//! After the programs that VEC-TSS (Chai, Liu, Qu, Wang, Wu; 2020) was measured on, which polyhedral compilers have as
//! examples.

use halide::prelude::*;

/// A loop nest.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Its name in the literature.
    pub name: &'static str,
    /// The type of its elements.
    pub ty: ScalarType,
    /// The products and sums of floats for matrices of `n` rows, over `n` to the third.
    pub operations: f64,
    /// Makes the pipeline for matrices of so many rows.
    pub make: fn(i64) -> Result<Made, AlgorithmErrors>,
}

/// A pipeline, and what is said of it before tiles are chosen.
pub struct Made {
    /// The algorithm. It has one output, of as many rows and columns as its inputs.
    pub pipeline: Pipeline,
    /// The Func whose first update takes the time.
    pub func: &'static str,
    /// The schedule of all else.
    pub given: &'static str,
}

/// All of them.
pub const KERNELS: &[Kernel] = &[
    Kernel { name: "matmul", ty: F64, operations: 2.0, make: matmul },
    Kernel { name: "dsyrk", ty: F64, operations: 1.0, make: dsyrk },
    Kernel { name: "dsyr2k", ty: F64, operations: 2.0, make: dsyr2k },
    Kernel { name: "lu", ty: F64, operations: 2.0 / 3.0, make: lu },
    Kernel { name: "trisolv", ty: F64, operations: 1.0, make: trisolv },
    Kernel { name: "tmm", ty: F32, operations: 1.0, make: tmm },
    Kernel { name: "corcol", ty: F32, operations: 1.0, make: corcol },
    Kernel { name: "covcol", ty: F32, operations: 1.0, make: covcol },
];

/// The schedule of a sum that begins with zeros.
const SUM: &str = "sum: vectorize(x, natural) parallel(y) sum.update(0): float(contract)";

/// Products of matrices.
fn matmul(n: i64) -> Result<Made, AlgorithmErrors> {
    let (a, b) = (ImageParam::new("a", F64, 2), ImageParam::new("b", F64, 2));
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, n)]);
    let mut sum = Func::new("sum");
    sum[(x, y)] = 0f64.expr();
    sum[(x, y)] += a[(r.x, y)] * b[(x, r.x)];
    Ok(Made { pipeline: Pipeline::new([&sum])?, func: "sum", given: SUM })
}

/// The upper triangle of a matrix times its transpose.
fn dsyrk(n: i64) -> Result<Made, AlgorithmErrors> {
    let a = ImageParam::new("a", F64, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, n)]);
    r.where_(ge(x, y));
    let mut sum = Func::new("sum");
    sum[(x, y)] = 0f64.expr();
    sum[(x, y)] += a[(y, r.x)] * a[(x, r.x)];
    Ok(Made { pipeline: Pipeline::new([&sum])?, func: "sum", given: SUM })
}

/// The upper triangle of products of two matrices with each other's transposes.
fn dsyr2k(n: i64) -> Result<Made, AlgorithmErrors> {
    let (a, b) = (ImageParam::new("a", F64, 2), ImageParam::new("b", F64, 2));
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, n)]);
    r.where_(ge(x, y));
    let mut sum = Func::new("sum");
    sum[(x, y)] = 0f64.expr();
    sum[(x, y)] += a[(y, r.x)] * b[(x, r.x)] + b[(y, r.x)] * a[(x, r.x)];
    Ok(Made { pipeline: Pipeline::new([&sum])?, func: "sum", given: SUM })
}

/// Elimination by rows without exchanges: what is below of the diagonal is left as it was when its row was done.
fn lu(n: i64) -> Result<Made, AlgorithmErrors> {
    let a = ImageParam::new("a", F64, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, n), (0, n), (0, n)]);
    let (j, i, k) = (r.x, r.y, r.z);
    r.where_(gt(i, k).and(gt(j, k)));
    let mut f = Func::new("rows");
    f[(x, y)] = a[(x, y)];
    f[(j, i)] = f[(j, i)] - f[(k, i)] / f[(k, k)] * f[(j, k)];
    Ok(Made { pipeline: Pipeline::new([&f])?, func: "rows", given: "rows: vectorize(x, natural)" })
}

/// The solution of a triangular system for many right hand sides.
fn trisolv(n: i64) -> Result<Made, AlgorithmErrors> {
    let (l, b) = (ImageParam::new("a", F64, 2), ImageParam::new("b", F64, 2));
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, n), (0, n)]);
    let (k, i) = (r.x, r.y);
    r.where_(lt(k, i));
    let mut f = Func::new("solution");
    f[(x, y)] = b[(x, y)];
    f[(x, i)] = f[(x, i)] - l[(k, i)] * f[(x, k)];
    let given = "solution: vectorize(x, natural) parallel(y) solution.update(0): float(contract)";
    Ok(Made { pipeline: Pipeline::new([&f])?, func: "solution", given })
}

/// Products of a triangular matrix with another one.
fn tmm(n: i64) -> Result<Made, AlgorithmErrors> {
    let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, n)]);
    r.where_(ge(r.x, y));
    let mut sum = Func::new("sum");
    sum[(x, y)] = 0f32.expr();
    sum[(x, y)] += a[(r.x, y)] * b[(x, r.x)];
    Ok(Made { pipeline: Pipeline::new([&sum])?, func: "sum", given: SUM })
}

/// Correlations of columns, each pair once.
fn corcol(n: i64) -> Result<Made, AlgorithmErrors> {
    let a = ImageParam::new("a", F32, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, n)]);
    r.where_(gt(x, y));
    let mut sum = Func::new("sum");
    sum[(x, y)] = select(eq(x, y), 1f32, 0f32);
    sum[(x, y)] += a[(y, r.x)] * a[(x, r.x)];
    Ok(Made { pipeline: Pipeline::new([&sum])?, func: "sum", given: SUM })
}

/// Covariances of columns, as a symmetric matrix.
fn covcol(n: i64) -> Result<Made, AlgorithmErrors> {
    let a = ImageParam::new("a", F32, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, n)]);
    r.where_(ge(x, y));
    let (mut sum, mut out) = (Func::new("sum"), Func::new("out"));
    sum[(x, y)] = 0f32.expr();
    sum[(x, y)] += a[(y, r.x)] * a[(x, r.x)];
    out[(x, y)] = select(ge(x, y), sum[(x, y)], sum[(y, x)]) / n as f32;
    let given = "sum: compute_root vectorize(x, natural) parallel(y) sum.update(0): float(contract) \
                 out: vectorize(x, natural) parallel(y)";
    Ok(Made { pipeline: Pipeline::new([&out])?, func: "sum", given })
}
