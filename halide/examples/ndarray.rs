//! Arrays of the crate `ndarray` in and out.
//!
//! The first dimension of a buffer is innermost in memory; of an array in standard layout, the last axis is. So an
//! array of `(rows, columns)` is a buffer of `[columns, rows]`, read as `f[(column, row)]`.

use halide::prelude::*;
use ndarray::{Array2, ArrayView2};

/// A buffer with the elements of an array.
fn buffer_of(array: ArrayView2<'_, f32>) -> Result<Buffer<f32>, Error> {
    let (rows, columns) = array.dim();
    let array = array.as_standard_layout();
    let elements: Vec<f32> = array.iter().copied().collect();
    Ok(Buffer::from_slice([columns, rows], array.as_slice().unwrap_or(&elements))?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
    let (column, row) = vars!(column, row);
    let k = RDom::new([(0.expr(), a.width())]);
    let mut product = Func::new("product");
    product[(column, row)] = 0.0f32.expr();
    product[(column, row)] += a[(k.x, row)] * b[(column, k.x)];
    let schedule = "
        product: vectorize(column, natural)
        product.update(0): reorder(column, r.x, row) vectorize(column, natural)";
    let compiled = Pipeline::new([&product])?.compile(&schedule.parse()?, &Target::host())?;

    let left = Array2::from_shape_fn((30, 40), |(i, j)| ((i + 2 * j) % 7) as f32);
    let right = Array2::from_shape_fn((40, 50), |(i, j)| ((3 * i + j) % 5) as f32);
    let call = compiled.inputs().image(&a, buffer_of(left.view())?).image(&b, buffer_of(right.view())?);
    let out: Buffer<f32> = call.realize([50, 30])?;
    let ours = Array2::from_shape_vec((30, 50), out.to_vec())?;
    println!("equal to ndarray's product: {}", ours == left.dot(&right));
    Ok(())
}
