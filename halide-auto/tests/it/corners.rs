//! Nests and machines that are small, huge or wrong.

use crate::support::{matmul, server, variables};
use halide_auto::tss::{Array, Fidelity, FitRule, Loop, Nest, Subscript, TssError, TssOptions, assess, rules, select};
use halide_core::types::ScalarType::{F32, F64, U8};
use halide_ir::machine::Machine;

fn refused(nest: &Nest) -> String {
    select(nest, &server(), 1, &TssOptions::default()).unwrap_err().to_string()
}

fn all_options() -> Vec<TssOptions> {
    let mut all = Vec::new();
    for fidelity in [Fidelity::Paper, Fidelity::Corrected] {
        for fit in [FitRule::ThisLevel, FitRule::NextLevel] {
            all.push(TssOptions { fidelity, fit, tilings: 300, ..TssOptions::default() });
        }
    }
    all
}

#[test]
fn nests_that_are_wrong() {
    let [i, j] = variables();
    let nest = |loops: Vec<Loop>, arrays: Vec<Array>| Nest { loops, arrays, slants: Vec::new() };
    let (one, two) = (Loop::parallel("i", 10), Loop::independent("j", 10));
    assert_eq!(refused(&Nest::default()), "the nest has no loops; give at least the one that vectors go along");
    assert_eq!(
        refused(&nest(vec![one.clone(), Loop::independent("j", 0)], vec![Array::write("out", F64, 10, &[&i, &j])])),
        "loop `j` has no iterations; tile nests in which every loop has some"
    );
    let slanted = Nest { slants: vec![(0, 1)], ..nest(vec![one.clone()], vec![Array::write("out", F64, 10, &[&i])]) };
    assert_eq!(
        refused(&slanted),
        "a slant is of one loop, or of one that a nest of 1 loops has not; name two loops that it has"
    );
    assert_eq!(
        refused(&nest(vec![one.clone()], vec![Array::write("out", F64, 10, &[&j])])),
        "a subscript of `out` uses loop 1 of a nest of 1; number loops from 0, the outermost"
    );
    assert_eq!(
        refused(&nest(vec![one.clone()], vec![Array::write("out", F64, 10, &[&i]).at(&[&[0], &[0, 1]])])),
        "a reference to `out` has 2 offsets for 1 subscripts; give at most one for each"
    );
    assert_eq!(
        refused(&nest(vec![one.clone(), Loop::reduction("k", 10)], vec![Array::update("out", F64, 10, &[&i])])),
        "iterations of the innermost loop `k` depend on each other; move a loop inside whose iterations do not"
    );
    assert_eq!(
        refused(&nest(vec![one.clone(), two.clone()], vec![Array::write("out", F64, 77, &[&j, &i])])),
        "stores to `out` are 77 elements apart along the innermost loop `j`; move a loop inside along which they are \
         neighbours"
    );
    assert_eq!(
        refused(&nest(vec![one, two], vec![Array::read("in", F64, 77, &[&j, &i])])),
        "no array has neighbouring elements along the innermost loop `j`; move a loop inside along which one has"
    );
}

#[test]
fn questions_that_are_wrong() {
    let (nest, machine, options) = (matmul(100, 100), server(), TssOptions::default());
    let with = |machine: &Machine| select(&nest, machine, 1, &options).unwrap_err().to_string();
    assert_eq!(
        with(&Machine { caches: Vec::new(), ..machine.clone() }),
        "the machine has no caches to choose tiles for; list at least one"
    );
    let mut other = machine.clone();
    other.caches[1].line = 0;
    assert_eq!(with(&other), "a cache has lines of 0 bytes; give a length from 1 to 4096");
    other.caches[1].line = u32::MAX;
    assert_eq!(with(&other), "a cache has lines of 4294967295 bytes; give a length from 1 to 4096");
    other = machine.clone();
    other.caches.truncate(1);
    other.caches[0].bytes = 100;
    assert_eq!(
        with(&other),
        "the smallest tile holds 640 bytes, too many for every cache: a thread has at most 100; read fewer arrays in \
         one nest"
    );
    let paper = TssOptions { fidelity: Fidelity::Paper, ..options };
    let huge = select(&matmul(10_000_000, 10_000_000), &machine, 1, &paper).unwrap_err();
    assert_eq!(
        huge.to_string(),
        "the smallest tile holds 720000064 bytes, too many for every cache: a thread has at most 12582912; choose by \
         `Fidelity::Corrected`, which cuts rows"
    );
    let no_lanes = TssOptions { lanes: Some(0), ..options };
    assert_eq!(select(&nest, &machine, 1, &no_lanes), Err(TssError::NoLanes));
    assert_eq!(
        assess(&nest, &machine, 1, &options, &[1, 2]).unwrap_err().to_string(),
        "2 sizes are given for a nest of 3 loops; give one for each, outermost first"
    );
}

#[test]
fn sizes_are_brought_into_range() {
    let nest = matmul(100, 100);
    let tiles = assess(&nest, &server(), 0, &TssOptions::default(), &[0, u64::MAX, 7]).unwrap();
    assert_eq!((tiles.sizes, tiles.tasks), (vec![1, 100, 7], 100));
}

/// One element, primes, less than a vector, and as long as can be.
#[test]
fn loops_of_all_lengths() {
    let machine = server();
    for n in [1, 2, 3, 7, 8, 9, 13, 61, 127, 1 << 20, (1 << 31) - 1, i64::MAX as u64, u64::MAX] {
        for ld in [0, 1, i64::try_from(n).unwrap_or(i64::MAX), i64::MIN, -7] {
            let mut nest = matmul(n, ld);
            nest.arrays[1].base = i64::MIN;
            nest.arrays[2].base = -3;
            for options in all_options() {
                for threads in [0, 1, 64, u32::MAX] {
                    let found = select(&nest, &machine, threads, &options);
                    match &found {
                        Ok(tiles) => assert!(tiles.sizes.iter().all(|size| (1..=n).contains(size))),
                        Err(TssError::NothingFits { .. }) => assert!(n > 100 || threads > 2, "{n} {options:?}"),
                        Err(error) => panic!("{error}"),
                    }
                }
            }
            rules::sica(&nest, &machine, 1, &TssOptions::default()).unwrap();
            rules::tts(&nest, &machine, 1, &TssOptions::default()).unwrap();
        }
    }
}

#[test]
fn one_loop_and_twenty() {
    let [x] = variables();
    let copy = Nest {
        loops: vec![Loop::parallel("x", 1 << 30)],
        arrays: vec![Array::read("in", U8, 1, &[&x]), Array::write("out", F32, 1, &[&x])],
        ..Nest::default()
    };
    for options in all_options().into_iter().filter(|o| o.fidelity == Fidelity::Corrected) {
        let tiles = select(&copy, &server(), 4, &options).unwrap();
        assert!(tiles.tasks > 8 && tiles.dominating.is_none());
    }
    let all: Vec<Subscript> = (0..20).map(Subscript::of_loop).collect();
    let some: Vec<&Subscript> = all.iter().skip(10).collect();
    let deep = Nest {
        loops: (0..20).map(|index| Loop::parallel(&format!("l{index}"), 9)).collect(),
        arrays: vec![Array::write("out", F32, 9, &some)],
        ..Nest::default()
    };
    let paper = TssOptions { fidelity: Fidelity::Paper, ..TssOptions::default() };
    assert!(matches!(select(&deep, &server(), 1, &paper), Err(TssError::NothingFits { .. })), "whole lines of all");
    assert!(select(&deep, &server(), 1, &TssOptions::default()).is_ok());
    let flat = Array::write("out", F32, 9, &[&all[18], &all[19]]);
    let tiles = select(&Nest { arrays: vec![flat], ..deep }, &server(), 1, &TssOptions::default()).unwrap();
    assert_eq!(tiles.sizes.len(), 20);
}

/// Speeds that are no numbers make prices, not faults.
#[test]
fn machines_without_speed() {
    for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut machine = server();
        machine.ghz = speed;
        machine.vector.loads = speed;
        machine.vector.stores = speed;
        machine.vector.fmas = speed;
        machine.vector.bits = 0;
        machine.memory.bytes_per_ns = vec![(1, speed)];
        machine.caches.iter_mut().for_each(|cache| {
            cache.bytes_per_cycle = speed;
            cache.ways = 0;
            cache.shared_by = 0;
        });
        let options = TssOptions { operations: speed, tilings: 100, ..TssOptions::default() };
        assert!(select(&matmul(200, 200), &machine, 2, &options).is_ok(), "{speed}");
        machine.memory.bytes_per_ns.clear();
        assert!(select(&matmul(200, 200), &machine, 2, &options).is_ok(), "{speed}");
    }
}
