//! Multiplies a sparse matrix in a process of its own: reads numbers of runs, a line each, and prints the milliseconds
//! of each run as a JSON list; the protocol of `benches/peers`.

use clap::{Parser, ValueEnum};
use halide_benches::serve::serve;
use halide_benches::sparse::{Matrix, SHAPES};
use halide_seq::{Data, Nest, Place, Proc};
use serde_json::json;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// The ways to multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum How {
    /// Rows on cores, one element after the other
    Scalar,
    /// Rows on cores, elements in lanes
    Vector,
    /// A loop in Rust
    Loop,
}

/// Times one product.
#[derive(Debug, Parser)]
struct Options {
    /// The matrix
    #[arg(required_unless_present = "list")]
    matrix: Option<String>,
    /// Print the matrices as JSON, and nothing else
    #[arg(long)]
    list: bool,
    /// Write the matrix to a file, and nothing else
    #[arg(long)]
    write: Option<PathBuf>,
    /// The way to multiply
    #[arg(long, value_enum, default_value_t = How::Scalar)]
    how: How,
    /// The number of threads
    #[arg(long, default_value_t = 1)]
    threads: u32,
}

const SPMV: &str = "
def spmv_csr(vals, cols, x):
    def spvv(Ai, j):
        z = gather(x, j)
        return sum(map(lambda Aij, xj: Aij * xj, Ai, z))
    return map(spvv, vals, cols)";

fn main() -> Result<(), String> {
    let options = Options::parse();
    if options.list {
        let row = |shape: &halide_benches::sparse::Shape| json!({"name": shape.name, "elements": shape.elements});
        println!("{}", json!(SHAPES.iter().map(row).collect::<Vec<_>>()));
        return Ok(());
    }
    let name = options.matrix.as_deref().unwrap_or_default();
    let shape = SHAPES.iter().find(|shape| shape.name == name);
    let matrix = shape.ok_or_else(|| format!("there is no matrix {name}; --list has all"))?.matrix();
    if let Some(path) = &options.write {
        let mut file = BufWriter::new(File::create(path).map_err(text)?);
        return matrix.write(&mut file).and_then(|()| file.flush()).map_err(text);
    }
    let mut out = vec![0.0; matrix.offsets.len() - 1];
    if options.how == How::Loop {
        return serve(&mut || {
            matrix.product(&mut out);
            Ok(())
        });
    }
    let (proc, arguments) = (of(options.how)?, arguments(&matrix).map_err(text)?);
    let place = Place::cpu(options.threads);
    let found = place.call(&proc, arguments.clone()).and_then(|y| y.to_vec::<f64>()).map_err(text)?;
    matrix.product(&mut out);
    let worst = found.iter().zip(&out).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    if worst > 1e-9 {
        return Err(format!("a row differs by {worst}"));
    }
    serve(&mut || place.call(&proc, arguments.clone()).map(drop).map_err(text))
}

/// The proc with the nest of a way.
fn of(how: How) -> Result<Proc, String> {
    let proc = Proc::parse(SPMV).map_err(text)?;
    Ok(match how {
        How::Vector => proc.nest([Nest::Core, Nest::Simd]).relaxed(),
        How::Scalar | How::Loop => proc.nest([Nest::Core, Nest::Seq]),
    })
}

fn arguments(matrix: &Matrix) -> Result<[Data; 3], halide_seq::Error> {
    let vals = Data::rows(Data::values(&matrix.values)?, &matrix.offsets)?;
    let cols = Data::rows(Data::values(&matrix.columns)?, &matrix.offsets)?;
    Ok([vals, cols, Data::values(&matrix.vector)?])
}

fn text(error: impl Display) -> String {
    error.to_string()
}
