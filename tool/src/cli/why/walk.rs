//! The walk from one schedule to another: one change after the other, in an order in which each schedule is legal, and
//! changes that are legal only together at once.

use super::super::changes::{Changes, Set};
use super::untried::Untried;
use std::collections::BTreeSet;

/// The steps of the walk, each a set of changes. `legal` says why the schedule after a set of changes cannot be
/// compiled; the one after all of them can. Where it has no more time to say so, each change that is left is a step.
pub(super) fn steps(changes: &Changes, mut legal: impl FnMut(&Set) -> Result<(), Untried>) -> Vec<Set> {
    let (mut done, mut left, mut steps) = (Set::new(), changes.units(), Vec::new());
    while !left.is_empty() {
        let single = left.iter().position(|unit| legal(&(&done | unit)).is_ok());
        let next: Set = &done | &left[0];
        if single.is_none() && legal(&next).is_err_and(|why| why == Untried::NoTime) {
            steps.append(&mut left);
            break;
        }
        let taken = match single {
            Some(at) => BTreeSet::from([at]),
            None => smallest(changes, &done, &left, &mut legal),
        };
        let step: Set = taken.iter().flat_map(|&at| left[at].iter().copied()).collect();
        let mut number = 0;
        left.retain(|_| {
            number += 1;
            !taken.contains(&(number - 1))
        });
        done.extend(&step);
        steps.push(step);
    }
    steps
}

/// The fewest of the units that are legal together: the best of the groups that grow from each.
fn smallest(
    changes: &Changes,
    done: &Set,
    left: &[Set],
    legal: &mut impl FnMut(&Set) -> Result<(), Untried>,
) -> BTreeSet<usize> {
    let mut best: BTreeSet<usize> = (0..left.len()).collect();
    for seed in 0..left.len() {
        let group = shrunk(done, left, grown(changes, done, left, seed, legal), legal);
        if group.len() < best.len() {
            best = group;
        }
        if best.len() == 2 {
            break;
        }
    }
    best
}

/// A legal group with `seed`: as long as there is an error, the unit whose words are most of it joins, one of the same
/// Func first.
fn grown(
    changes: &Changes,
    done: &Set,
    left: &[Set],
    seed: usize,
    legal: &mut impl FnMut(&Set) -> Result<(), Untried>,
) -> BTreeSet<usize> {
    let mut group = BTreeSet::from([seed]);
    let func = |unit: &Set| unit.first().map(|&change| changes.all[change].func());
    while let Err(error) = legal(&united(done, left, &group)) {
        let named = words(&error.to_string());
        let score = |at: &usize| {
            let text = |&change: &usize| changes.all[change].text();
            let shared = left[*at].iter().flat_map(|change| words(&text(change))).filter(|word| named.contains(word));
            (shared.count() + 2 * usize::from(func(&left[*at]) == func(&left[seed])), std::cmp::Reverse(*at))
        };
        match (0..left.len()).filter(|at| !group.contains(at)).max_by_key(score) {
            Some(next) => group.insert(next),
            None => break,
        };
    }
    group
}

/// The group without units that it is legal without.
fn shrunk(
    done: &Set,
    left: &[Set],
    mut group: BTreeSet<usize>,
    legal: &mut impl FnMut(&Set) -> Result<(), Untried>,
) -> BTreeSet<usize> {
    for at in group.clone() {
        let mut fewer = group.clone();
        fewer.remove(&at);
        if !fewer.is_empty() && legal(&united(done, left, &fewer)).is_ok() {
            group = fewer;
        }
    }
    group
}

fn united(done: &Set, left: &[Set], group: &BTreeSet<usize>) -> Set {
    group.iter().fold(done.clone(), |all, &at| &all | &left[at])
}

/// The names in a text.
fn words(text: &str) -> BTreeSet<String> {
    let (mut all, mut word) = (BTreeSet::new(), String::new());
    for letter in text.chars().chain([' ']) {
        if letter.is_alphanumeric() || letter == '_' {
            word.push(letter);
        } else if !word.is_empty() {
            all.insert(std::mem::take(&mut word));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide::prelude::*;

    /// The steps with the numbers of their changes, where the schedule must keep a rule.
    fn walk(before: &str, after: &str, rule: impl Fn(&str) -> bool) -> Vec<Vec<usize>> {
        let [before, after] = [before, after].map(|text| text.parse::<Schedule>().unwrap());
        let changes = Changes::new(&before, &after);
        let legal = |set: &Set| match rule(&changes.schedule(set).to_string()) {
            true => Ok(()),
            false => Err(Untried::Refused("`f` has no loop `yo`".to_string())),
        };
        steps(&changes, legal).into_iter().map(|step| step.into_iter().collect()).collect()
    }

    #[test]
    fn steps_are_taken_in_a_legal_order() {
        let after = "f: parallel(yo) unroll(x) split(y, yo, yi, 8)";
        assert_eq!(walk("", after, |_| true), [[0], [1], [2]]);
        let needs_split = |text: &str| !text.contains("parallel") || text.contains("split");
        assert_eq!(walk("", after, needs_split), [[1], [2], [0]]);
    }

    #[test]
    fn changes_that_are_legal_only_together_are_one_step() {
        let after = "f: parallel(yo)\ng: compute_root()\nf: split(y, yo, yi, 8)";
        let together = |text: &str| text.contains("parallel") == text.contains("split");
        assert_eq!(walk("", after, together), [vec![2], vec![0, 1]]);
        let all =
            |text: &str| text.is_empty() || text.contains("parallel") && text.contains("split") && text.contains("g:");
        assert_eq!(walk("", after, all), [[0, 1, 2]]);
        assert!(walk("", "", |_| true).is_empty());
    }

    #[test]
    fn changes_that_are_left_without_time_are_steps() {
        let after: Schedule = "f: parallel(y) unroll(x)".parse().unwrap();
        let changes = Changes::new(&Schedule::new(), &after);
        assert_eq!(steps(&changes, |_| Err(Untried::NoTime)), [Set::from([0]), Set::from([1])]);
    }
}
