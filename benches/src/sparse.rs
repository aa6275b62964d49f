//! Sparse matrices in compressed rows, with the rows, the elements and the law of row lengths of the matrices that Bell
//! and Garland measured (*Implementing Sparse Matrix-Vector Multiplication on Throughput-Oriented Processors*, 2009).

use std::io::{self, Write};

/// The law of columns and row lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Rows of about one length, with columns near the diagonal.
    Band,
    /// Few long rows and many short ones, with columns anywhere.
    Power,
    /// Rows of about one length, with columns anywhere.
    Uniform,
}

/// The sizes of a matrix.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The name of the matrix that it is like.
    pub name: &'static str,
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// The number of elements, about.
    pub elements: usize,
    /// The law by which they are spread.
    pub law: Law,
}

const fn shape(name: &'static str, rows: usize, columns: usize, elements: usize, law: Law) -> Shape {
    Shape { name, rows, columns, elements, law }
}

/// All of them.
pub const SHAPES: [Shape; 14] = [
    shape("dense", 2_000, 2_000, 4_000_000, Law::Band),
    shape("protein", 36_417, 36_417, 4_340_000, Law::Band),
    shape("spheres", 83_334, 83_334, 6_010_000, Law::Band),
    shape("cantilever", 62_451, 62_451, 4_010_000, Law::Band),
    shape("wind", 217_918, 217_918, 11_600_000, Law::Band),
    shape("harbor", 46_835, 46_835, 2_370_000, Law::Band),
    shape("qcd", 49_152, 49_152, 1_920_000, Law::Band),
    shape("ship", 140_874, 140_874, 7_810_000, Law::Band),
    shape("economics", 206_500, 206_500, 1_270_000, Law::Band),
    shape("epidemiology", 525_825, 525_825, 2_100_000, Law::Band),
    shape("accelerator", 121_192, 121_192, 2_620_000, Law::Band),
    shape("circuit", 170_998, 170_998, 960_000, Law::Band),
    shape("web", 1_000_005, 1_000_005, 3_100_000, Law::Power),
    shape("lp", 4_284, 1_092_610, 11_300_000, Law::Uniform),
];

/// A matrix in compressed rows, and a vector.
pub struct Matrix {
    /// The beginning of each row, and the end of the last one.
    pub offsets: Vec<i32>,
    /// The column of each element.
    pub columns: Vec<i32>,
    /// The elements.
    pub values: Vec<f64>,
    /// The vector, with an element for each column.
    pub vector: Vec<f64>,
}

/// Numbers from a seed (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * n as u128) >> 64) as usize
    }

    fn unit(&mut self) -> f64 {
        self.below(1 << 30) as f64 / f64::from(1 << 30)
    }
}

impl Shape {
    /// The matrix with random elements; the same in each run.
    pub fn matrix(&self) -> Matrix {
        let mut numbers = Numbers(self.rows as u64);
        let mean = self.elements as f64 / self.rows as f64;
        let mut offsets = vec![0];
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for row in 0..self.rows {
            let length = match self.law {
                // Lengths l with a density of l to the power of -2.2, whose mean is right but for the cut at the end.
                Law::Power => (mean * 0.19 * (1.0 - numbers.unit()).powf(-1.0 / 1.2)).min(4096.0),
                Law::Band | Law::Uniform => mean * (0.9 + 0.2 * numbers.unit()),
            };
            let length = (length.round() as usize).clamp(1, self.columns);
            let around = (4 * length).min(self.columns);
            let first = (row * self.columns / self.rows).saturating_sub(around / 2).min(self.columns - around);
            let mut of_row: Vec<i32> = (0..length)
                .map(|_| match self.law {
                    Law::Band => first + numbers.below(around),
                    Law::Power | Law::Uniform => numbers.below(self.columns),
                } as i32)
                .collect();
            of_row.sort_unstable();
            columns.extend(of_row);
            values.extend((0..length).map(|_| numbers.unit() - 0.5));
            offsets.push(columns.len() as i32);
        }
        let vector = (0..self.columns).map(|_| numbers.unit() - 0.5).collect();
        Matrix { offsets, columns, values, vector }
    }
}

impl Matrix {
    /// Writes offsets, columns, values and the vector, each as its number of elements and these, in little endian.
    ///
    /// # Errors
    /// Those of the file.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        for ints in [&self.offsets, &self.columns] {
            to.write_all(&(ints.len() as u64).to_le_bytes())?;
            ints.iter().try_for_each(|value| to.write_all(&value.to_le_bytes()))?;
        }
        for reals in [&self.values, &self.vector] {
            to.write_all(&(reals.len() as u64).to_le_bytes())?;
            reals.iter().try_for_each(|value| to.write_all(&value.to_le_bytes()))?;
        }
        Ok(())
    }

    /// The product with the vector, by a plain loop.
    pub fn product(&self, out: &mut [f64]) {
        for (sum, row) in out.iter_mut().zip(self.offsets.windows(2)) {
            let range = row[0] as usize..row[1] as usize;
            let pairs = self.columns[range.clone()].iter().zip(&self.values[range]);
            *sum = pairs.fold(0.0, |sum, (column, value)| sum + value * self.vector[*column as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_have_about_the_elements_that_they_say() {
        for shape in SHAPES.iter().filter(|shape| shape.elements < 3_200_000) {
            let matrix = shape.matrix();
            let share = matrix.values.len() as f64 / shape.elements as f64;
            assert!((0.75..1.25).contains(&share), "{}: {share}", shape.name);
            assert_eq!(matrix.offsets.len(), shape.rows + 1);
            assert!(matrix.columns.iter().all(|column| (*column as usize) < shape.columns));
        }
    }
}
