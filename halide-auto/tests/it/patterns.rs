//! Reuse distances: the paper's product of matrices, and nests of other patterns of reuse.

use crate::support::{matmul, variables};
use halide_auto::tss::{Array, Loop, Nest, Subscript, acc, footprint, reuse, reuse_count};
use halide_core::types::ScalarType::{F32, F64};

/// The rows of the ACC matrix as text, a digit for each loop.
fn patterns(nest: &Nest) -> Vec<String> {
    let row = |row: Vec<bool>| row.into_iter().map(|carries| if carries { '1' } else { '0' }).collect();
    acc(nest).into_iter().map(row).collect()
}

#[test]
fn product_of_matrices() {
    let nest = matmul(100, 100);
    assert_eq!(patterns(&nest), ["001", "100", "010"]);
    let found = reuse(&nest, &[10, 20, 30]);
    assert_eq!(found.distances, [Some(2), Some(649), Some(60)]);
    assert_eq!((found.distance, found.dominating), (649, Some(1)), "K + J + KJ - 1 of `b`");
    assert_eq!((found.working_set, found.count), (1100, 5400));
    assert_eq!((found.distance_bytes, found.working_bytes), (8 * 649, 8 * 1100));
}

#[test]
fn matrix_times_vector() {
    let [j, i] = variables();
    let nest = Nest {
        loops: vec![Loop::reduction("j", 50), Loop::parallel("i", 60)],
        arrays: vec![
            Array::read("a", F64, 60, &[&j, &i]),
            Array::read("x", F64, 50, &[&j]),
            Array::update("y", F64, 60, &[&i]),
        ],
        ..Nest::default()
    };
    assert_eq!(patterns(&nest), ["00", "01", "10"]);
    let found = reuse(&nest, &[7, 11]);
    assert_eq!(found.distances, [None, Some(2), Some(22)]);
    assert_eq!((found.dominating, found.working_set, found.count), (Some(2), 77 + 7 + 11, 11 * 6));
}

#[test]
fn stencil_of_three_dimensions() {
    let [z, y, x] = variables();
    let star: [&[i64]; 7] = [&[0, 0, 0], &[-1, 0, 0], &[1, 0, 0], &[0, -1, 0], &[0, 1, 0], &[0, 0, -1], &[0, 0, 1]];
    let nest = Nest {
        loops: vec![Loop::parallel("z", 64), Loop::independent("y", 64), Loop::independent("x", 64)],
        arrays: vec![Array::read("in", F32, 66, &[&z, &y, &x]).at(&star), Array::write("out", F32, 64, &[&z, &y, &x])],
        ..Nest::default()
    };
    assert_eq!(patterns(&nest), ["000", "000"], "reuse is between references, not along a loop");
    let found = reuse(&nest, &[4, 8, 16]);
    assert_eq!((found.distances, found.dominating, found.distance), (vec![None, None], None, 0));
    assert_eq!((found.working_set, found.count), (6 * 10 * 18 + 4 * 8 * 16, 0));
    assert_eq!(footprint(&nest.arrays[0], &[1, 1, 1]), 7, "a star is less than its box");
}

#[test]
fn convolution() {
    let [co, y, ci, r, s, x] = variables();
    let (rows, columns) = (y.clone().plus(3, 1), x.clone().plus(4, 1));
    let nest = Nest {
        loops: vec![
            Loop::parallel("co", 64),
            Loop::independent("y", 56),
            Loop::reduction("ci", 64),
            Loop::reduction("r", 3),
            Loop::reduction("s", 3),
            Loop::independent("x", 56),
        ],
        arrays: vec![
            Array::update("out", F32, 56, &[&co, &y, &x]),
            Array::read("in", F32, 58, &[&ci, &rows, &columns]),
            Array::read("w", F32, 3, &[&co, &ci, &r, &s]),
        ],
        ..Nest::default()
    };
    assert_eq!(patterns(&nest), ["001110", "100000", "010001"]);
    let found = reuse(&nest, &[2, 4, 8, 3, 3, 16]);
    let out = 16 + 3 * 18 + 9 - 1;
    let input = 4 * 16 + 8 * 6 * 18 + 8 * 9 - 1;
    let weights = 16 + 8 * 3 * 18 + 8 * 9 - 1;
    assert_eq!(found.distances, [Some(out), Some(input), Some(weights)]);
    assert_eq!((found.dominating, found.count), (Some(1), 8 * 6 * 18), "one of two uses is another one");
    assert_eq!(found.working_set, 2 * 4 * 16 + 8 * 6 * 18 + 2 * 8 * 9);
}

#[test]
fn two_statements() {
    let [i, j] = variables();
    let nest = Nest {
        loops: vec![Loop::parallel("i", 40), Loop::independent("j", 40)],
        arrays: vec![
            Array::write("p", F64, 40, &[&i, &j]),
            Array::read("a", F64, 40, &[&i, &j]),
            Array::read("s", F64, 40, &[&i]),
            Array::write("q", F64, 40, &[&i, &j]),
            Array::read("t", F64, 40, &[&j]),
        ],
        ..Nest::default()
    };
    assert_eq!(patterns(&nest), ["00", "00", "01", "00", "10"]);
    let found = reuse(&nest, &[5, 9]);
    assert_eq!(found.distances, [None, None, Some(4), None, Some(4 * 9)]);
    assert_eq!((found.dominating, found.count), (Some(4), 9 * 4));
}

#[test]
fn subscripts_of_all_kinds() {
    let [i, j] = variables();
    let count = |array: &Array| footprint(array, &[10, 20]);
    let zero = Subscript::default();
    assert_eq!(count(&Array::read("scalar", F64, 1, &[])), 1);
    assert_eq!(count(&Array::read("one", F64, 1, &[&zero])), 1);
    assert_eq!(count(&Array::read("diagonal", F64, 99, &[&i, &i])), 10);
    assert_eq!(count(&Array::read("sum", F64, 99, &[&i.clone().plus(1, 1)])), 29);
    assert_eq!(count(&Array::read("apart", F64, 99, &[&i.clone().plus(1, 100)])), 200);
    let even = Subscript::default().plus(1, 2);
    assert_eq!(count(&Array::read("even", F64, 99, &[&even])), 20);
    assert_eq!(count(&Array::read("pairs", F64, 99, &[&even]).at(&[&[0], &[1]])), 40);
    assert_eq!(count(&Array::read("same", F64, 99, &[&j]).at(&[&[3], &[3]])), 20);
    assert_eq!(count(&Array::read("far", F64, 99, &[&j]).at(&[&[i64::MIN], &[i64::MAX]])), 40);
    let back = Subscript::default().plus(1, -1);
    assert_eq!(count(&Array::read("back", F64, 99, &[&i, &back])), 200);
    assert_eq!(count(&Array::read("gone", F64, 99, &[&j.clone().plus(1, -1)])), 1, "factors of one loop add up");
}

#[test]
fn counts_saturate() {
    let nest = matmul(u64::MAX, i64::MAX);
    let found = reuse(&nest, &[u64::MAX; 3]);
    assert_eq!((found.distance, found.working_set, found.count), (u64::MAX - 1, u64::MAX, u64::MAX));
    let [i, j] = variables();
    let steep = i.plus(1, i64::MIN).plus(1, i64::MIN);
    let array = Array::read("steep", F64, 1, &[&steep, &j]);
    assert_eq!(footprint(&array, &[u64::MAX, 7]), u64::MAX);
    assert_eq!(reuse_count(&array, &[1, 7]), 0);
    assert_eq!(footprint(&array, &[0, 0]), 0, "no iterations touch nothing");
    assert_eq!(reuse(&nest, &[4]).working_set, 4 + 1 + 4, "loops without a size stand still");
}
