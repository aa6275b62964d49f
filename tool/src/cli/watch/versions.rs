//! The versions of a watched schedule that stay of interest: the first, the best, the newest, and those whose code is
//! kept.

use super::changes::changes;
use super::kept::{Kept, Version};
use super::row::Standing;
use super::series::{Ran, Series};
use halide::prelude::*;

/// The best version.
pub(super) struct Best {
    pub(super) number: u64,
    pub(super) ran: Ran,
    /// The text of the file.
    pub(super) text: String,
}

/// The versions that stay of interest, by the numbers of their rows.
#[derive(Default)]
pub(super) struct Versions {
    kept: Kept,
    /// The first version that ran.
    first: Option<(u64, Ran)>,
    pub(super) best: Option<Best>,
    /// The newest version that ran.
    newest: Option<(u64, Schedule)>,
}

impl Versions {
    /// The version with this schedule, if its code is kept. That of the best and the first is never given up.
    pub(super) fn known(&mut self, text: &str) -> Option<Version> {
        let (best, first) = (self.best.as_ref().map(|best| &best.ran), self.first.as_ref().map(|(_, ran)| ran));
        let pinned = || [best, first].into_iter().flatten().find(|ran| ran.version.text == text);
        self.kept.get(text).or_else(|| pinned().map(|ran| ran.version.clone()))
    }

    /// Keeps the code of a version that ran.
    pub(super) fn keep(&mut self, version: &Version) {
        self.kept.keep(version);
    }

    /// The number of the version whose code is the newest that runs.
    pub(super) fn goes_on(&self) -> Option<u64> {
        self.newest.as_ref().map(|(number, _)| *number)
    }

    /// The measurement of a version beside the best and the first, and what one run says of it.
    pub(super) fn series(&self, ran: &Ran) -> (Series, Standing) {
        let best = self.best.as_ref().map(|best| &best.ran);
        let series = Series::new(ran, best, self.first.as_ref().map(|(_, ran)| ran));
        let standing = match (series.standing(), best) {
            // From single runs of different moments.
            (Standing::Open(_), Some(best)) => Standing::Open(ran.ms / best.ms - 1.0),
            (standing, _) => standing,
        };
        (series, standing)
    }

    /// Makes a version the newest that ran.
    pub(super) fn set_newest(&mut self, number: u64, schedule: &Schedule) {
        self.newest = Some((number, schedule.clone()));
    }

    /// Makes a version the best, and the first if there is none.
    pub(super) fn set_best(&mut self, best: Best) {
        self.first.get_or_insert((best.number, best.ran.clone()));
        self.best = Some(best);
    }

    /// The changes since the newest version, or since the schedule that the program before ran last; words for a
    /// version without one or without directives.
    pub(super) fn changes(&self, schedule: &Schedule, text: &str, handed: Option<&str>) -> Vec<String> {
        if schedule.is_empty() {
            let nothing = if text.trim().is_empty() { "the file is empty" } else { "no directives" };
            return vec![format!("{nothing}: the default schedule")];
        }
        let handed = || handed.and_then(|text| Schedule::parse(text, "").ok());
        match self.newest.as_ref().map(|(_, before)| before.clone()).or_else(handed) {
            Some(before) => changes(&before, schedule),
            None => {
                let count = schedule.len();
                vec![format!("the first version, {count} directive{}", if count == 1 { "" } else { "s" })]
            }
        }
    }

    /// The end of a line about a watch: the best version and its time.
    pub(super) fn words(&self) -> String {
        match (&self.best, &self.first) {
            (Some(best), Some((first, _))) if best.number == *first => {
                format!("; the first version, {first}, is the best: {:.3} ms", best.ran.ms)
            }
            (Some(best), _) => format!("; the best is {}: {:.3} ms", best.number, best.ran.ms),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(versions: &Versions, text: &str, handed: Option<&str>) -> Vec<String> {
        versions.changes(&text.parse().unwrap(), text, handed)
    }

    #[test]
    fn the_first_version_of_a_program_is_compared_with_the_last_before_it() {
        let mut versions = Versions::default();
        assert_eq!(changed(&versions, "f: parallel(y)", None), ["the first version, 1 directive"]);
        let handed = Some("f: parallel(y)");
        assert_eq!(changed(&versions, "f: parallel(y)", handed), [""; 0]);
        assert_eq!(changed(&versions, "g: compute_root()", handed), ["without f: parallel(y)", "g: compute_root()"]);
        assert_eq!(changed(&versions, "g: compute_root()", Some("f: (")), ["the first version, 1 directive"]);
        assert_eq!(changed(&versions, " ", handed), ["the file is empty: the default schedule"]);
        versions.set_newest(2, &"g: compute_root()".parse().unwrap());
        assert_eq!((changed(&versions, "g: compute_root()", handed), versions.goes_on()), (Vec::new(), Some(2)));
    }

    #[test]
    fn the_code_of_the_best_and_the_first_stays() -> Result<(), Box<dyn std::error::Error>> {
        let x = Var::new("x");
        let mut ramp = Func::new("ramp");
        ramp[x] = x + 1;
        let compiled = Pipeline::new([&ramp])?.compile(&Schedule::new(), &Target::host())?;
        let version = |text: &str| {
            let (schedule, compiled) = (Schedule::new(), compiled.clone());
            Version { text: text.to_string(), schedule, compiled, compile_ms: 1.0 }
        };
        let best = |number: u64, text: &str| {
            let ran = Ran { version: version(text), ms: 1.0 };
            Best { number, ran, text: format!("# {text}") }
        };
        let mut versions = Versions::default();
        assert_eq!(versions.words(), "");
        versions.set_best(best(1, "first"));
        assert_eq!(versions.words(), "; the first version, 1, is the best: 1.000 ms");
        versions.set_best(best(2, "best"));
        assert_eq!(versions.words(), "; the best is 2: 1.000 ms");
        (0..40).for_each(|n| versions.keep(&version(&n.to_string())));
        let there = ["first", "best", "0", "39"].map(|text| versions.known(text).is_some());
        assert_eq!(there, [true, true, false, true]);
        Ok(())
    }
}
