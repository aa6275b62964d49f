//! Choices of tiles.

use crate::support::{matmul, server, variables};
use halide_auto::tss::{Array, Fidelity, FitRule, Nest, Subscript, Tiles, TssOptions, assess, rules, select};
use halide_core::types::ScalarType::F64;

const CORRECTED: TssOptions = TssOptions {
    fidelity: Fidelity::Corrected,
    fit: FitRule::ThisLevel,
    lanes: None,
    operations: 1.0,
    block: None,
    tilings: 20_000,
};
const PAPER: TssOptions = TssOptions { fidelity: Fidelity::Paper, ..CORRECTED };

fn choice(nest: &Nest, threads: u32, options: &TssOptions) -> Tiles {
    select(nest, &server(), threads, options).unwrap()
}

#[test]
fn the_paper_leaves_rows_whole() {
    for n in [799, 1199, 1599, 2399, 3199] {
        let tiles = choice(&matmul(n, n as i64), 1, &PAPER);
        assert_eq!((tiles.sizes[2], tiles.dominating), (n, Some(1)));
        assert_eq!((tiles.ties, tiles.level), (vec![n], 1), "no rows of this length fit the first cache");
    }
}

/// Rows that begin aligned: several sizes reach the most elements, and the longest is taken.
#[test]
fn ties_are_reported() {
    let options = TssOptions { lanes: Some(4), ..PAPER };
    let padded = choice(&matmul(13, 16), 1, &options);
    assert_eq!((padded.sizes[2], padded.num_vec, padded.ties), (13, 156, vec![4, 8, 12, 13]));
    let dense = choice(&matmul(13, 13), 1, &options);
    assert_eq!((dense.sizes[2], dense.num_vec, dense.ties), (13, 132, vec![13]));
    assert!((dense.efficiency - 132.0 / 169.0).abs() < 1e-12);
}

/// All sizes that the paper's rule allows, one by one.
#[test]
fn the_paper_takes_the_most_reuse() {
    for (n, fit) in [(64, FitRule::ThisLevel), (120, FitRule::ThisLevel), (120, FitRule::NextLevel)] {
        let (nest, options) = (matmul(n, n as i64), TssOptions { fit, ..PAPER });
        let tiles = choice(&nest, 1, &options);
        let mut best = (usize::MAX, 0);
        for i in 1..=n {
            for k in (8..=n).step_by(8) {
                let other = assess(&nest, &server(), 1, &options, &[i, k, n]).unwrap();
                if other.tasks > 2 && (other.level < best.0 || other.level == best.0 && other.reuse > best.1) {
                    best = (other.level, other.reuse);
                }
            }
        }
        assert_eq!((tiles.level, tiles.reuse), best, "{n} {fit:?}: {:?}", tiles.sizes);
    }
}

/// All sizes of a small nest, one by one.
#[test]
fn no_candidate_is_cheaper() {
    for (n, ld) in [(96, 96), (101, 101), (101, 104)] {
        let nest = matmul(n, ld);
        let tiles = choice(&nest, 1, &CORRECTED);
        let mut least = f64::INFINITY;
        for sizes in rules::candidates(&nest, &server(), 1, &CORRECTED, usize::MAX).unwrap() {
            let other = assess(&nest, &server(), 1, &CORRECTED, &sizes).unwrap();
            if other.level < 3 && other.tasks > 2 {
                least = least.min(other.cycles);
            }
        }
        assert!(tiles.cycles <= least * 1.001, "{n} {ld}: {:?} {} {least}", tiles.sizes, tiles.cycles);
    }
}

#[test]
fn corrected_choices_beat_other_rules_by_their_own_measure() {
    let machine = server();
    for n in [799, 1199, 1599, 2399, 3199, 4096] {
        let nest = matmul(n, n as i64);
        for threads in [1, 2] {
            let tiles = choice(&nest, threads, &CORRECTED);
            let others = [
                rules::untiled(&nest),
                rules::cube(&nest, 32),
                rules::sica(&nest, &machine, threads, &CORRECTED).unwrap(),
                rules::tts(&nest, &machine, threads, &CORRECTED).unwrap(),
                choice(&nest, threads, &PAPER).sizes,
            ];
            for sizes in others {
                let other = assess(&nest, &machine, threads, &CORRECTED, &sizes).unwrap();
                assert!(tiles.cycles <= other.cycles, "{n}, {threads}: {:?}, not {sizes:?}", tiles.sizes);
            }
            assert!(tiles.tasks > 2 * u64::from(threads));
            assert!(tiles.sizes[1].is_multiple_of(8));
            assert!(tiles.sizes[2] < n && tiles.sizes[2].is_multiple_of(8));
        }
    }
}

/// The working set may be in the next cache by the other reading, so that tiles of the paper grow.
#[test]
fn fit_rules_differ() {
    let nest = matmul(400, 400);
    let by = |fit| choice(&nest, 1, &TssOptions { fit, ..PAPER });
    let (this, next) = (by(FitRule::ThisLevel), by(FitRule::NextLevel));
    assert!(next.reuse > this.reuse, "{this:?}\n{next:?}");
    assert!(next.level <= this.level && next.working_set > this.working_set);
}

#[test]
fn equal_questions_have_equal_answers() {
    let nest = matmul(1199, 1199);
    for options in [PAPER, CORRECTED] {
        assert_eq!(choice(&nest, 2, &options), choice(&nest, 2, &options));
    }
}

/// Fewer tilings to begin with cost little: the search goes on from the best.
#[test]
fn few_tilings_are_enough() {
    let nest = matmul(1599, 1599);
    let best = choice(&nest, 1, &CORRECTED).cycles;
    for (tilings, most) in [(2000, 1.02), (200, 1.1), (1, 1.6), (0, 1.6)] {
        let tiles = choice(&nest, 1, &TssOptions { tilings, ..CORRECTED });
        assert!(tiles.cycles <= most * best, "{tilings}: {:?} {} {best}", tiles.sizes, tiles.cycles);
    }
}

#[test]
fn arrays_that_are_given_twice_are_reported() {
    let mut nest = matmul(100, 100);
    assert!(!choice(&nest, 1, &CORRECTED).is_upper_bound);
    nest.arrays[1].name = "a".to_string();
    assert!(choice(&nest, 1, &CORRECTED).is_upper_bound);
}
/// The other kinds of nests among the paper's kernels: one array that is read at two places, or also written.
#[test]
fn kernels_with_shared_arrays() {
    let (n, machine) = (1599, server());
    let [i, k, j] = variables();
    let read = |name: &str, subscripts: &[&Subscript]| Array::read(name, F64, n, subscripts);
    let update = |name: &str| Array::update(name, F64, n, &[&i, &j]);
    let kernels = [
        ("dsyrk, covcol", vec![update("c"), read("a", &[&k, &i]), read("a", &[&k, &j])]),
        ("lu", vec![update("a"), read("a", &[&i, &k]), read("a", &[&k, &j])]),
        ("trisolv, tmm", vec![update("x"), read("l", &[&i, &k]), read("x", &[&k, &j])]),
        (
            "dsyr2k",
            vec![update("c"), read("a", &[&k, &i]), read("b", &[&k, &j]), read("b", &[&k, &i]), read("a", &[&k, &j])],
        ),
    ];
    for (name, arrays) in kernels {
        let nest = Nest { arrays, ..matmul(1599, n) };
        let tiles = choice(&nest, 2, &CORRECTED);
        let cube = assess(&nest, &machine, 2, &CORRECTED, &rules::cube(&nest, 32)).unwrap();
        assert!(tiles.cycles < cube.cycles && tiles.is_upper_bound, "{name}: {tiles:?}");
        assert!((8..1599).contains(&tiles.sizes[2]) && tiles.tasks > 4, "{name}: {tiles:?}");
        let paper = choice(&nest, 2, &PAPER);
        assert!(paper.sizes[2] == 1599 && paper.sizes[1].is_multiple_of(8), "{name}: {paper:?}");
    }
}
