//! Answers of the simplex method against all small integers.

use super::simplex::{Answer, Bound, Simplex};
use halide_testing::programs::Random;

/// The greatest magnitude of a variable.
const MOST: i64 = 3;
const VARIABLES: usize = 3;

/// A form over the variables, with the bounds of its value.
struct Band {
    factors: [i64; VARIABLES],
    low: i64,
    high: i64,
}

fn band(random: &mut Random) -> Band {
    let factors = std::array::from_fn(|_| [0, 1, -1, 2, -3][random.below(5)]);
    let low = random.below(12) as i64 - 6;
    Band { factors, low, high: low + random.below(4) as i64 }
}

/// Enters a band; false if it contradicts what is there.
fn enter(simplex: &mut Simplex, band: &Band) -> bool {
    let terms: Vec<_> = (0..VARIABLES).zip(band.factors).filter(|(_, k)| *k != 0).collect();
    let var = simplex.form(&terms).unwrap();
    [(true, band.low), (false, band.high)]
        .into_iter()
        .all(|(is_lower, value)| simplex.bound(Bound { var, is_lower, value }) == Answer::Feasible)
}

fn has_integers(bands: &[Band]) -> bool {
    let side = (2 * MOST + 1) as usize;
    (0..side.pow(VARIABLES as u32)).any(|n| {
        let at: [i64; VARIABLES] = std::array::from_fn(|i| (n / side.pow(i as u32) % side) as i64 - MOST);
        bands.iter().all(|band| {
            let sum: i64 = band.factors.iter().zip(at).map(|(k, v)| k * v).sum();
            (band.low..=band.high).contains(&sum)
        })
    })
}

/// Systems without a rational solution have no integer one; a solution obeys all bounds, also after others were taken
/// back.
#[test]
fn answers_are_those_of_all_integers() {
    let (mut infeasible, mut feasible) = (0, 0);
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let mut simplex = Simplex::default();
        simplex.allow(1000);
        for _ in 0..VARIABLES {
            let var = simplex.variable();
            for (is_lower, value) in [(true, -MOST), (false, MOST)] {
                assert_eq!(simplex.bound(Bound { var, is_lower, value }), Answer::Feasible);
            }
        }
        let bands: Vec<Band> = (0..1 + random.below(4)).map(|_| band(&mut random)).collect();
        let (first, rest) = bands.split_at(random.below(bands.len()));
        let mut open = first.iter().all(|band| enter(&mut simplex, band)) && simplex.check() == Answer::Feasible;
        if open {
            let begun = simplex.begin();
            let others: Vec<Band> = (0..random.below(3)).map(|_| band(&mut random)).collect();
            let _ = others.iter().all(|band| enter(&mut simplex, band)) && simplex.check() == Answer::Feasible;
            simplex.undo(begun);
            open = rest.iter().all(|band| enter(&mut simplex, band));
        }
        let answer = if open { simplex.check() } else { Answer::Infeasible(0) };
        match answer {
            Answer::Infeasible(levels) => {
                assert_eq!(levels, 0, "seed {seed}");
                assert!(!has_integers(&bands), "seed {seed}");
                infeasible += 1;
            }
            Answer::Feasible => {
                assert!(simplex.obeys_all(), "seed {seed}");
                feasible += 1;
            }
            Answer::Unknown => panic!("seed {seed}: no answer"),
        }
    }
    assert!(infeasible > 500 && feasible > 500, "{infeasible} infeasible, {feasible} feasible");
}

/// Numbers beyond what is computed with end in no answer, never in a wrong one.
#[test]
fn large_numbers_have_no_answer() {
    let mut simplex = Simplex::default();
    simplex.allow(1000);
    let (x, y) = (simplex.variable(), simplex.variable());
    let huge = i64::MAX - 1;
    let first = simplex.form(&[(x, huge), (y, 3)]).unwrap();
    let second = simplex.form(&[(x, 5), (y, huge)]).unwrap();
    for (var, value) in [(first, 7), (second, 11), (x, 1), (y, 1)] {
        simplex.bound(Bound { var, is_lower: var == first || var == second, value });
    }
    assert_eq!(simplex.check(), Answer::Unknown);
}
