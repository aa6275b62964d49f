//! Tests by brute force over small boxes.

use super::*;

fn form(terms: &[(Unknown, i128)], constant: i128) -> Form {
    Form { terms: terms.iter().copied().filter(|(_, c)| *c != 0).collect(), constant }
}

#[test]
fn small_systems() {
    let mut s = System::default();
    s.zero(form(&[(0, 2), (1, -4)], 1));
    assert!(!s.may_hold(), "even is not odd");
    let mut s = System::default();
    s.at_least_zero(form(&[(0, 1)], -3));
    s.at_least_zero(form(&[(0, -1), (1, 1)], 0));
    s.at_least_zero(form(&[(1, -1)], 2));
    assert!(!s.may_hold(), "3 <= a <= b <= 2");
    let mut s = System::default();
    s.at_least_zero(form(&[(0, 2)], -1));
    s.at_least_zero(form(&[(0, -2)], 1));
    assert!(!s.may_hold(), "one half is no integer");
}

/// A system that some integers solve is never refuted.
#[test]
fn solutions_are_never_lost() {
    let mut state = 5u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) % n) as i128
    };
    let mut refuted = 0;
    for case in 0..3000 {
        let mut s = System::default();
        let mut random = |r: u64| {
            let terms: Vec<(Unknown, i128)> = (0..3).map(|u| (u, below(2 * r + 1) - r as i128)).collect();
            form(&terms, below(13) - 6)
        };
        for _ in 0..1 + case % 2 {
            s.zero(random(3));
        }
        for _ in 0..2 + case % 4 {
            s.at_least_zero(random(2));
        }
        let value = |f: &Form, at: [i128; 3]| f.constant + (0..3).map(|u| f.of_unknown(u) * at[u]).sum::<i128>();
        let range = || -5..=5;
        let all = range().flat_map(|a| range().flat_map(move |b| range().map(move |c| [a, b, c])));
        let solved = all
            .into_iter()
            .find(|&at| s.zero.iter().all(|f| value(f, at) == 0) && s.at_least_zero.iter().all(|f| value(f, at) >= 0));
        let may = s.clone().may_hold();
        assert!(may || solved.is_none(), "case {case}: {s:?} is solved by {solved:?}");
        refuted += !may as u32;
    }
    assert!(refuted > 300, "only {refuted}");
}
