//! NUM_VEC against counting one by one.

use crate::support::Random;
use halide_auto::tss::{Rows, num_vec, straddled};

/// The elements of whole aligned blocks within tiles, one by one.
fn counted(row: &Rows, j: u64) -> u64 {
    let (vf, mut all) = (i64::from(row.vf), 0);
    for i in 0..row.rows as i64 {
        let start = row.base + i * row.ld;
        for tile in (0..row.n).step_by(j as usize) {
            let (from, to) = (start + tile as i64, start + (tile + j).min(row.n) as i64);
            let blocks = (from..to).filter(|x| x.rem_euclid(vf) == 0 && x + vf <= to).count();
            all += blocks as u64 * vf as u64;
        }
    }
    all
}

/// The accesses that touch two lines, one by one.
fn counted_straddled(row: &Rows, line: u16, j: u64) -> u64 {
    let (vf, line, mut all) = (i64::from(row.vf.min(line)), i64::from(line), 0);
    for i in 0..row.rows as i64 {
        for tile in (0..row.n).step_by(j as usize) {
            let (from, to) = (tile as i64, (tile + j).min(row.n) as i64);
            for x in (from..to).step_by(vf as usize) {
                let (first, last) = (row.base + i * row.ld + x, row.base + i * row.ld + (x + vf).min(to) - 1);
                all += u64::from(first.div_euclid(line) != last.div_euclid(line));
            }
        }
    }
    all
}

#[test]
fn closed_form_is_what_counting_gives() {
    let mut random = Random::new(1);
    for n in 1..=64 {
        for vf in 2..=16 {
            for _ in 0..6 {
                let (rows, ld, base) = (random.from(0, 40), random.signed(80), random.signed(50));
                let (row, j) = (Rows { n, rows, ld, base, vf }, random.from(1, n + 3));
                assert_eq!(num_vec(&row, j), counted(&row, j), "{row:?} in tiles of {j}");
                let line = random.from(1, 20) as u16;
                assert_eq!(straddled(&row, line, j), counted_straddled(&row, line, j), "{row:?} by {line} in {j}");
            }
        }
    }
}

#[test]
fn every_tile_of_small_rows() {
    for n in 1..=24 {
        for vf in 1..=8 {
            for ld in [n as i64, 24, 0, -5] {
                for j in 1..=n {
                    let row = Rows { n, rows: 9, ld, base: -3, vf };
                    assert_eq!(num_vec(&row, j), counted(&row, j), "{row:?} in tiles of {j}");
                    assert_eq!(straddled(&row, 8, j), counted_straddled(&row, 8, j), "{row:?} in tiles of {j}");
                }
            }
        }
    }
}

/// The numbers of the paper, which hold for rows that begin aligned, and those of rows that do not.
#[test]
fn numbers_of_the_paper() {
    let padded = Rows { n: 13, rows: 13, ld: 16, base: 0, vf: 4 };
    let dense = Rows { ld: 13, ..padded };
    assert_eq!(num_vec(&padded, 6), 104, "8 a row: 4 + 4 + 0");
    assert_eq!(num_vec(&dense, 6), 80, "8, 4, 8, 4 by phase");
    let best: Vec<u64> = (1..=13).filter(|j| num_vec(&padded, *j) == 156).collect();
    assert_eq!(best, [4, 8, 12, 13]);
    assert_eq!((1..=13).map(|j| num_vec(&padded, j)).max(), Some(156));
    assert_eq!((num_vec(&dense, 13), num_vec(&dense, 12)), (132, 120));
}

#[test]
fn whole_rows_always_reach_the_most() {
    let mut random = Random::new(2);
    for _ in 0..2000 {
        let (n, rows) = (random.from(1, 200), random.from(1, 30));
        let row = Rows { n, rows, ld: random.signed(300), base: random.signed(300), vf: random.from(1, 16) as u16 };
        assert!(num_vec(&row, random.from(1, n)) <= num_vec(&row, n), "{row:?}");
        assert!(num_vec(&row, n) <= n * rows);
    }
}

#[test]
fn extremes_have_values() {
    let row = Rows { n: 100, rows: 10, ld: 100, base: 0, vf: 8 };
    assert_eq!(num_vec(&row, 0), 0, "tiles without elements");
    assert_eq!(num_vec(&Rows { vf: 0, ..row }, 10), 0, "vectors without elements");
    assert_eq!(num_vec(&Rows { n: 0, ..row }, 10), 0);
    assert_eq!(num_vec(&Rows { rows: 0, ..row }, 10), 0);
    assert_eq!(num_vec(&row, 7), 0, "tiles shorter than a vector");
    assert_eq!(num_vec(&row, u64::MAX), num_vec(&row, 100));
    assert_eq!(num_vec(&Rows { vf: 1, ..row }, 3), 1000, "vectors of one element reach all");
    assert_eq!([straddled(&row, 0, 5), straddled(&row, 8, 0), straddled(&Rows { vf: 0, ..row }, 8, 5)], [0; 3]);
    let huge = Rows { n: i64::MAX as u64, rows: 1, ld: i64::MIN, base: i64::MIN, vf: 8 };
    assert_eq!(num_vec(&huge, u64::MAX), i64::MAX as u64 - 7);
    assert_eq!(num_vec(&huge, 8), i64::MAX as u64 - 7);
    assert_eq!(num_vec(&Rows { rows: u64::MAX, n: u64::MAX, vf: 1, ..huge }, 1), u64::MAX, "saturates");
    for (j, base) in [(1, i64::MAX), (65_535, i64::MIN), (1 << 40, -1), (u64::MAX, 7)] {
        let most = Rows { n: u64::MAX, rows: u64::MAX, ld: i64::MAX, base, vf: u16::MAX };
        assert!(num_vec(&most, j) == 0 || num_vec(&most, j) == u64::MAX);
        straddled(&most, 4096, j);
    }
}
