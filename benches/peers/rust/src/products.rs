//! Products of square matrices, row by row in memory.

use crate::{Job, Kernel, noise};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

macro_rules! products {
    ($ty:ty, $faer:ident, $gemm:ident, $other:ident, $kernel:path) => {
        pub(crate) fn $faer(job: Job) -> Kernel {
            let (n, (a, b, mut c)) = (job.width, matrices::<$ty>(job.width));
            let par = if job.threads > 1 { Par::rayon(job.threads) } else { Par::Seq };
            Box::new(move || {
                let (a, b) = (MatRef::from_row_major_slice(&a, n, n), MatRef::from_row_major_slice(&b, n, n));
                matmul(MatMut::from_row_major_slice_mut(&mut c, n, n), Accum::Replace, a, b, 1.0, par);
            })
        }
        pub(crate) fn $gemm(job: Job) -> Kernel {
            let (n, (a, b, mut c)) = (job.width, matrices::<$ty>(job.width));
            let par = if job.threads > 1 { ::gemm::Parallelism::Rayon(job.threads) } else { ::gemm::Parallelism::None };
            Box::new(move || {
                let (row, column) = (n as isize, 1);
                // SAFETY: all three are n times n elements, row by row.
                unsafe {
                    let (to, a, b) = (c.as_mut_ptr(), a.as_ptr(), b.as_ptr());
                    ::gemm::gemm(
                        n, n, n, to, column, row, false, a, column, row, b, column, row, 0.0, 1.0, false, false, false,
                        par,
                    );
                }
            })
        }
        pub(crate) fn $other(job: Job) -> Kernel {
            let (n, (a, b, mut c)) = (job.width, matrices::<$ty>(job.width));
            Box::new(move || {
                let row = n as isize;
                // SAFETY: all three are n times n elements, row by row.
                unsafe { $kernel(n, n, n, 1.0, a.as_ptr(), row, 1, b.as_ptr(), row, 1, 0.0, c.as_mut_ptr(), row, 1) }
            })
        }
    };
}

products!(f32, faer, gemm, matrixmultiply, ::matrixmultiply::sgemm);
products!(f64, faer_f64, gemm_f64, matrixmultiply_f64, ::matrixmultiply::dgemm);

/// Two random matrices and one for their product.
fn matrices<T: From<f32> + Copy>(n: usize) -> (Vec<T>, Vec<T>, Vec<T>) {
    let random = |seed| noise(n * n, seed).map(|v| T::from(v as f32)).collect::<Vec<T>>();
    (random(1), random(2), vec![T::from(0.0); n * n])
}
