//! The changes that lead from one schedule to another, and the schedules between the two.
//!
//! Both are merged into one list, in which each directive is of both, or of one of the two by a change. A set of
//! changes is then a schedule: the list without what its changes take away, and without what the others would bring.
//! With none it is the first schedule, with all of them the second.

use halide::prelude::*;
use halide::schedule::{Directive, Scope, Subject, Verb};
use std::collections::BTreeSet;
use std::mem::discriminant;

/// The most directives of a schedule that is compared: the time grows with the square.
pub(crate) const MOST: usize = 2000;

/// The numbers of changes.
pub(crate) type Set = BTreeSet<usize>;

/// A directive that goes, one that comes, or one that has other arguments or another position.
pub(crate) struct Change {
    pub(crate) before: Option<Directive>,
    pub(crate) after: Option<Directive>,
}

impl Change {
    /// The directive that is there in the end, or was there.
    pub(crate) fn directive(&self) -> Option<&Directive> {
        self.after.as_ref().or(self.before.as_ref())
    }

    /// The Func that it speaks of.
    pub(crate) fn func(&self) -> &str {
        self.directive().map_or("", |directive| &directive.subject.func)
    }

    /// The change in the language of schedules.
    pub(crate) fn text(&self) -> String {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) if is_same(before, after) => format!("{}, moved", shown(after)),
            (Some(before), Some(after)) => format!("{} -> {}", shown(before), shown(after)),
            (Some(before), None) => format!("without {}", shown(before)),
            (None, Some(after)) => shown(after),
            (None, None) => String::new(),
        }
    }

    /// The file and line of the directive.
    pub(crate) fn place(&self) -> String {
        place(self.directive())
    }
}

/// The file and line of a directive; empty where it has none.
pub(crate) fn place(directive: Option<&Directive>) -> String {
    directive.and_then(|directive| directive.at).map_or(String::new(), |at| format!("{}:{}", at.file, at.line))
}

/// A directive as a schedule by itself.
pub(crate) fn shown(directive: &Directive) -> String {
    Schedule::from(vec![directive.clone()]).to_string()
}

/// A directive of the merged list.
enum Item {
    /// A directive of both schedules, with the place of each.
    Both(Directive, Directive),
    Before(Directive, usize),
    After(Directive, usize),
}

/// All changes between two schedules.
pub(crate) struct Changes {
    items: Vec<Item>,
    pub(crate) all: Vec<Change>,
}

impl Changes {
    /// The changes from `before` to `after`.
    pub(crate) fn new(before: &Schedule, after: &Schedule) -> Changes {
        let [before, after] = by_func(before.directives(), after.directives());
        let mut changes = Changes { items: Vec::new(), all: Vec::new() };
        let (mut i, mut j) = (0, 0);
        let common = common(&before, &after);
        for (next_i, next_j) in common.into_iter().chain([(before.len(), after.len())]) {
            for directive in &before[i..next_i] {
                changes.items.push(Item::Before(directive.clone(), changes.all.len()));
                changes.all.push(Change { before: Some(directive.clone()), after: None });
            }
            for directive in &after[j..next_j] {
                changes.items.push(Item::After(directive.clone(), changes.all.len()));
                changes.all.push(Change { before: None, after: Some(directive.clone()) });
            }
            let both = before.get(next_i).zip(after.get(next_j));
            changes.items.extend(both.map(|(before, after)| Item::Both(before.clone(), after.clone())));
            (i, j) = (next_i + 1, next_j + 1);
        }
        changes.pair();
        changes
    }

    /// The schedule after a set of changes.
    pub(crate) fn schedule(&self, set: &Set) -> Schedule {
        let is_last = set.len() == self.all.len();
        let kept = self.items.iter().filter_map(|item| match item {
            Item::Both(before, after) => Some(if is_last { after } else { before }),
            Item::Before(directive, change) => (!set.contains(change)).then_some(directive),
            Item::After(directive, change) => set.contains(change).then_some(directive),
        });
        Schedule::from(kept.cloned().collect::<Vec<_>>())
    }

    /// The set of all changes.
    pub(crate) fn every(&self) -> Set {
        (0..self.all.len()).collect()
    }

    /// The changes that can be made one by one: each, but all of a Func together where its specialisations change,
    /// since directives know these by their number.
    pub(crate) fn units(&self) -> Vec<Set> {
        let opens = |change: &Change| {
            let both = [&change.before, &change.after];
            both.into_iter().flatten().any(|directive| matches!(directive.verb, Verb::Specialize(_)))
        };
        let whole: BTreeSet<&str> = self.all.iter().filter(|change| opens(change)).map(Change::func).collect();
        let mut units: Vec<Set> = Vec::new();
        for (number, change) in self.all.iter().enumerate() {
            let is_whole = whole.contains(change.func());
            let same = |unit: &&mut Set| {
                is_whole && unit.first().is_some_and(|first| self.all[*first].func() == change.func())
            };
            match units.iter_mut().find(same) {
                Some(unit) => {
                    unit.insert(number);
                }
                None => units.push(Set::from([number])),
            }
        }
        units
    }

    /// Makes one change of a directive that goes and one that comes in its place: the same one elsewhere, or one of the
    /// same stage and word, the most alike first.
    fn pair(&mut self) {
        let mut partner: Vec<usize> = (0..self.all.len()).collect();
        let mut pairs = Vec::new();
        for (i, gone) in self.all.iter().enumerate() {
            for (j, new) in self.all.iter().enumerate() {
                if let (Some(before), Some(after)) = (&gone.before, &new.after)
                    && let Some(alike) = alike(before, after)
                {
                    pairs.push((std::cmp::Reverse(alike), i, j));
                }
            }
        }
        pairs.sort();
        let mut is_taken = vec![false; self.all.len()];
        for (_, i, j) in pairs {
            if !is_taken[i] && !is_taken[j] {
                (is_taken[i], is_taken[j]) = (true, true);
                self.all[i].after = self.all[j].after.take();
                partner[j] = i;
            }
        }
        self.renumber(&partner);
    }

    /// Leaves out changes that have become a part of their partner.
    fn renumber(&mut self, partner: &[usize]) {
        let kept: Vec<usize> = (0..partner.len()).filter(|&change| partner[change] == change).collect();
        for item in &mut self.items {
            if let Item::Before(_, change) | Item::After(_, change) = item {
                *change = kept.partition_point(|&other| other < partner[*change]);
            }
        }
        let mut number = 0;
        self.all.retain(|_| {
            number += 1;
            partner[number - 1] == number - 1
        });
    }
}

/// The likeness of two directives one of which takes the place of the other: the letters that their texts begin with
/// alike, most for equal ones; `None` for directives of other stages or words.
fn alike(before: &Directive, after: &Directive) -> Option<usize> {
    if is_same(before, after) {
        return Some(usize::MAX);
    }
    let is_change = before.subject == after.subject && slot(&before.verb) == slot(&after.verb);
    is_change.then(|| {
        let (before, after) = (before.verb.to_string(), after.verb.to_string());
        before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count()
    })
}

/// The question that a directive answers: its word, but one for all words that place computation, and one for storage.
fn slot(verb: &Verb) -> (std::mem::Discriminant<Verb>, &'static str) {
    let first = match verb {
        Verb::ComputeRoot | Verb::Memoize | Verb::ComputeAt(_) | Verb::ComputeInline => &Verb::ComputeRoot,
        Verb::StoreRoot | Verb::StoreAt(_) => &Verb::StoreRoot,
        Verb::HoistStorageRoot | Verb::HoistStorage(_) => &Verb::HoistStorageRoot,
        other => other,
    };
    (discriminant(first), first.word())
}

fn is_same(a: &Directive, b: &Directive) -> bool {
    a.subject == b.subject && a.verb == b.verb
}

/// The directives Func by Func, whose order does not matter unless a directive makes a Func; then as they are.
fn by_func(before: &[Directive], after: &[Directive]) -> [Vec<Directive>; 2] {
    let mut lists = [before.to_vec(), after.to_vec()];
    let all = || before.iter().chain(after);
    if all().any(|directive| directive.verb.scope() == Scope::Graph) {
        return lists;
    }
    let mut funcs: Vec<&str> = Vec::new();
    for Subject { func, .. } in all().map(|directive| &directive.subject) {
        if !funcs.contains(&func.as_str()) {
            funcs.push(func);
        }
    }
    for list in &mut lists {
        list.sort_by_key(|directive| funcs.iter().position(|func| *func == directive.subject.func));
    }
    lists
}

/// The positions of a longest list of directives that both have in this order.
fn common(before: &[Directive], after: &[Directive]) -> Vec<(usize, usize)> {
    let mut longest = vec![vec![0u32; after.len() + 1]; before.len() + 1];
    for i in (0..before.len()).rev() {
        for j in (0..after.len()).rev() {
            longest[i][j] = match is_same(&before[i], &after[j]) {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut both) = (0, 0, Vec::new());
    while i < before.len() && j < after.len() {
        if is_same(&before[i], &after[j]) {
            both.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if longest[i + 1][j] >= longest[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(before: &str, after: &str) -> Vec<String> {
        let [before, after] = [before, after].map(|text| text.parse::<Schedule>().unwrap());
        let changes = Changes::new(&before, &after);
        assert_eq!(
            changes.schedule(&Set::new()).to_string(),
            Changes::new(&before, &before).schedule(&Set::new()).to_string()
        );
        assert_eq!(changes.schedule(&changes.every()).len(), after.len());
        changes.all.iter().map(Change::text).collect()
    }

    #[test]
    fn changes_are_directives_with_what_they_replace() {
        assert_eq!(between("f: parallel(y)", "f: parallel(y)"), [""; 0]);
        assert_eq!(between("f: parallel(x)", "f: parallel(y)"), ["f: parallel(x) -> f: parallel(y)"]);
        assert_eq!(between("g: compute_root()", "g: compute_at(f, y)"), ["g: compute_root() -> g: compute_at(f, y)"]);
        let moved = between("f: unroll(x) parallel(y)", "f: parallel(y) unroll(x)");
        assert_eq!(moved.len(), 1, "{moved:?}");
        assert!(moved[0].ends_with(", moved"), "{moved:?}");
        // The order of Funcs is none of schedules.
        assert_eq!(between("f: parallel(y)\ng: compute_root()", "g: compute_root()\nf: parallel(y)"), [""; 0]);
        let tiles = between("f: tile(x, y, xo, yo, xi, yi, 8, 16)", "f: tile(x, y, xo, yo, xi, yi, 8, 32)");
        assert_eq!(tiles, ["f: split(y, yo, yi, 16) -> f: split(y, yo, yi, 32)"]);
        assert_eq!(between("f: parallel(y)", "f: vectorize(x, 8)"), ["without f: parallel(y)", "f: vectorize(x, 8)"]);
    }

    #[test]
    fn a_set_of_changes_is_a_schedule() {
        let before: Schedule = "f: parallel(x) unroll(y)".parse().unwrap();
        let after: Schedule = "f: parallel(y) unroll(y) vectorize(x, 8)".parse().unwrap();
        let changes = Changes::new(&before, &after);
        let of = |set: &[usize]| changes.schedule(&set.iter().copied().collect()).to_string();
        assert_eq!(of(&[]), before.to_string());
        assert_eq!(of(&[0, 1]), after.to_string());
        assert_eq!(
            (of(&[0]), of(&[1])),
            ("f: parallel(y) unroll(y)".to_string(), "f: parallel(x) unroll(y) vectorize(x, 8)".to_string())
        );
    }

    #[test]
    fn changes_of_a_func_whose_specialisations_change_are_one() {
        let before: Schedule = "f: vectorize(x, 8)\ng: compute_root()".parse().unwrap();
        let after: Schedule = "f: specialize(f.x.extent >= 8) parallel(y)".parse().unwrap();
        let changes = Changes::new(&before, &after);
        let sizes: Vec<usize> = changes.units().iter().map(Set::len).collect();
        assert_eq!((changes.all.len(), sizes), (4, vec![3, 1]));
    }
}
