//! A sparse matrix times a vector: one proc, two nests, and the pipeline and schedule behind each.

use halide_seq::{Data, Error, Nest, Place, Proc};
use std::time::Instant;

/// A band matrix with rows of 40 to 59 elements: values, columns, and offsets of rows.
fn matrix(rows: i32) -> (Vec<f64>, Vec<i32>, Vec<i32>) {
    let (mut values, mut columns, mut offsets) = (Vec::new(), Vec::new(), vec![0]);
    for row in 0..rows {
        for k in 0..40 + row * 7 % 20 {
            columns.push((row + k * 13 - 300).clamp(0, rows - 1));
            values.push(f64::from((row * 31 + k * 17) % 101) / 101.0);
        }
        offsets.push(values.len() as i32);
    }
    (values, columns, offsets)
}

fn main() -> Result<(), Error> {
    let spmv = Proc::parse(
        "
        def spmv_csr(vals, cols, x):
            def spvv(Ai, j):
                z = gather(x, j)
                return sum(map(lambda Aij, xj: Aij * xj, Ai, z))
            return map(spvv, vals, cols)",
    )?;
    println!("spmv_csr: {}\n", spmv.scheme());
    let (values, columns, offsets) = matrix(50_000);
    let vals = Data::rows(Data::values(&values)?, &offsets)?;
    let cols = Data::rows(Data::values(&columns)?, &offsets)?;
    let x = Data::values(&vec![0.5f64; offsets.len() - 1])?;
    let place = Place::cpu(std::thread::available_parallelism().map_or(1, |n| n.get() as u32));
    // Rows on cores, one element after the other; and rows on cores, elements in lanes, which sums in another order.
    for (name, proc) in [("scalar", spmv.clone()), ("vector", spmv.nest([Nest::Core, Nest::Simd]).relaxed())] {
        let arguments = [vals.clone(), cols.clone(), x.clone()];
        println!("{}", place.report(&proc, arguments.clone())?);
        place.call(&proc, arguments.clone())?;
        let start = Instant::now();
        let y = place.call(&proc, arguments)?.to_vec::<f64>()?;
        let time = start.elapsed();
        println!("{name}: {} elements in {:.2} ms, y[7] = {}\n", values.len(), time.as_secs_f64() * 1e3, y[7]);
    }
    Ok(())
}
