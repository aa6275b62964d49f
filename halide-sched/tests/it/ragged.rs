//! Rows of different lengths, one after the other: where each begins is data.

use crate::counts::count;
use crate::matrix::{check, random_image};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::value::Scalar;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};

/// Offsets of rows with these lengths, from `first` on.
fn offsets(first: i32, lengths: &[i32]) -> AnyBuffer {
    let mut image = AnyBuffer::with_region(I32, &Region::of_spans([(0, lengths.len() as i32 + 1)])).unwrap();
    let mut at = first;
    image.set([0], Scalar::from(at)).unwrap();
    for (i, n) in lengths.iter().enumerate() {
        at += n;
        image.set([i as i32 + 1], Scalar::from(at)).unwrap();
    }
    image
}

const ROWS: [&[i32]; 7] =
    [&[1], &[0], &[3, 0, 2], &[0, 0, 5, 1], &[4, 4, 4, 4, 4, 4, 4, 4], &[9, 0, 0, 1, 2, 0, 17, 3, 1], &[0, 0, 0, 0, 0]];

struct Sparse {
    offsets: ImageParam,
    columns: ImageParam,
    values: ImageParam,
    vector: ImageParam,
}

impl Sparse {
    fn new() -> Sparse {
        let offsets = ImageParam::new("offsets", I32, 1);
        let columns = ImageParam::new("columns", U8, 1);
        let (values, vector) = (ImageParam::new("values", I32, 1), ImageParam::new("vector", I32, 1));
        offsets.promise_growing(0);
        offsets.promise_values(0, i32::MAX.into());
        Sparse { offsets, columns, values, vector }
    }

    /// `y(row) += values(k) * vector(columns(k))` for the elements `k` of the row.
    fn product(&self, prepared: bool) -> Pipeline {
        let (row, k) = vars!(row, k);
        let (mut weighted, mut y) = (Func::new("weighted"), Func::new("y"));
        weighted[k] = self.values[k] * self.vector[cast::<i32>(self.columns[k])];
        y[row] = 0.expr();
        let r = RDom::named("r", [(self.values.dim(0).min(), self.values.dim(0).extent())]);
        r.where_(r.x.ge(self.offsets[row]) & r.x.lt(self.offsets[row + 1]));
        if prepared {
            y[row] += weighted[r.x];
        } else {
            y[row] += self.values[r.x] * self.vector[cast::<i32>(self.columns[r.x])];
        }
        Pipeline::new([&y]).unwrap()
    }
}

fn images(lengths: &[i32], first: i32) -> Vec<(&'static str, AnyBuffer)> {
    let n = (lengths.iter().sum::<i32>() + first).max(1);
    vec![
        ("offsets", offsets(first, lengths)),
        ("columns", random_image(U8, &Region::of_spans([(0, n)]), 1)),
        ("values", random_image(I32, &Region::of_spans([(0, n)]), 2)),
        ("vector", random_image(I32, &Region::of_spans([(0, 256)]), 3)),
    ]
}

#[test]
fn sparse_matrix_times_vector() {
    let p = Sparse::new().product(false);
    for lengths in ROWS {
        let region = Region::of_spans([(0, lengths.len() as i32)]);
        let all = lengths.iter().sum::<i32>() as u64;
        for first in [0, 2] {
            let images = images(lengths, first);
            for schedule in [
                "",
                "y.update(0): parallel(row)",
                "y.update(0): split(r.x, ro, ri, 4)",
                "y.update(0): split(r.x, ro, ri, 4) unroll(ri)",
                "y.update(0): split(r.x, ro, ri, 4) atomic() vectorize(ri)",
                "y.update(0): split(row, ro, ri, 4) reorder(ri, r.x, ro) vectorize(ri)",
            ] {
                check(&p, schedule, &images, &region);
            }
            let counts = count(&p, "", &images, &region, true);
            if all > 1 && lengths.len() > 1 {
                assert_eq!(counts.iterations("y.update(0).r.x"), all, "{}", counts.text());
            }
        }
    }
}

/// Lanes of a row are masked at its ends, and no vector is computed of which no lane is in it.
#[test]
fn vectors_of_a_row() {
    let s = Sparse::new();
    let row = vars!(row);
    let mut y = Func::new("y");
    y[row] = 0.expr();
    let r = RDom::named("r", [(0, 64)]);
    r.where_(r.x.ge(s.offsets[row]) & r.x.lt(s.offsets[row + 1]));
    y[row] += s.values[r.x] * (r.x + 1);
    let p = Pipeline::new([&y]).unwrap();
    let schedule = "y.update(0): split(r.x, ro, ri, 4) atomic() vectorize(ri)";
    for lengths in ROWS {
        let region = Region::of_spans([(0, lengths.len() as i32)]);
        for first in [0, 2, 3] {
            let mut images = images(lengths, first);
            images.retain(|(name, _)| ["offsets", "values"].contains(name));
            check(&p, schedule, &images, &region);
            let (mut begin, mut vectors) = (first, 0);
            for length in lengths {
                let end = begin + length;
                // An empty row in the middle of a vector costs one.
                vectors += (end + 3) / 4 - begin / 4;
                begin = end;
            }
            let counts = count(&p, schedule, &images, &region, true);
            assert_eq!(counts.iterations("y.update(0).ro"), vectors as u64, "{}", counts.text());
        }
    }
}

/// Producers of a row are computed over as many points as the row is long.
#[test]
fn producers_of_ragged_rows() {
    let p = Sparse::new().product(true);
    for lengths in ROWS {
        let region = Region::of_spans([(0, lengths.len() as i32)]);
        let all = lengths.iter().sum::<i32>() as i64;
        let images = images(lengths, 3);
        for schedule in [
            "weighted: compute_root()",
            "weighted: compute_root() vectorize(k, 4, GuardWithIf)",
            "weighted: compute_at(y.update(0), row)\n y.update(0): reorder(r.x, row)",
            "weighted: compute_at(y.update(0), row) vectorize(k, 4, GuardWithIf)",
            "weighted: compute_at(y.update(0), row) vectorize(k, 8)",
            "weighted: compute_at(y.update(0), ro) vectorize(k, 4)\n y.update(0): split(row, ro, ri, 3) parallel(ro)",
            "weighted: store_root() compute_at(y.update(0), row)",
        ] {
            check(&p, schedule, &images, &region);
            if schedule.contains("Guard") || !schedule.contains("vectorize") {
                let counts = count(&p, schedule, &images, &region, true);
                assert_eq!(counts.points("weighted"), all, "{schedule} {lengths:?}\n{}", counts.text());
                if !schedule.contains("store_root") {
                    assert_eq!(counts.elements("weighted"), all, "{schedule} {lengths:?}\n{}", counts.text());
                }
            }
        }
    }
}

/// The other way to say it: elements are counted from where the row begins, up to the longest row.
#[test]
fn rows_counted_from_their_offset() {
    let s = Sparse::new();
    let row = vars!(row);
    let mut y = Func::new("y");
    y[row] = 0.expr();
    let r = RDom::named("r", [(0, 17)]);
    r.where_(r.x.lt(s.offsets[row + 1] - s.offsets[row]));
    y[row] += s.values[s.offsets[row] + r.x] * (r.x + 1);
    let p = Pipeline::new([&y]).unwrap();
    for lengths in ROWS {
        let region = Region::of_spans([(0, lengths.len() as i32)]);
        let all = lengths.iter().sum::<i32>() as u64;
        let mut images = images(lengths, 1);
        images.retain(|(name, _)| ["offsets", "values"].contains(name));
        for schedule in
            ["", "y.update(0): parallel(row)", "y.update(0): split(row, ro, ri, 4) reorder(ri, r.x, ro) vectorize(ri)"]
        {
            check(&p, schedule, &images, &region);
        }
        let counts = count(&p, "", &images, &region, true);
        if all > 1 && lengths.len() > 1 {
            assert_eq!(counts.iterations("y.update(0).r.x"), all, "{}", counts.text());
        }
    }
}
