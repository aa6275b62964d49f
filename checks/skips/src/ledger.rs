//! Reading and judging the ledger.

use crate::{Has, Machine, Need};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// One line of the ledger.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Entry {
    /// The text of the [`Need`].
    pub need: String,
    /// The package of the test.
    pub package: String,
    /// The name of the test.
    pub test: String,
    /// The words of the test.
    pub why: String,
}

/// All that tests left out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ledger {
    /// The lines, sorted, each once.
    pub entries: BTreeSet<Entry>,
    /// Lines that [`skip`](crate::skip) did not write.
    pub strange: Vec<String>,
}

/// A ledger held against the facts about a machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Judged {
    /// The ledger for people, sorted and counted.
    pub text: String,
    /// The reasons that do not hold here, and those that are none.
    pub wrong: Vec<String>,
    /// The reasons of which the system does not tell if they hold here.
    pub unknown: Vec<String>,
}

impl Ledger {
    /// Reads the text of a ledger.
    pub fn read(text: &str) -> Ledger {
        let mut ledger = Ledger::default();
        for line in text.lines() {
            match entry(line) {
                Some(entry) => drop(ledger.entries.insert(entry)),
                None => ledger.strange.push(line.to_string()),
            }
        }
        ledger
    }

    /// Holds every reason against a machine.
    pub fn judge(&self, machine: &Machine) -> Judged {
        let mut judged = Judged::default();
        judged.wrong.extend(self.strange.iter().map(|line| format!("`{line}` is no line of a ledger")));
        let mut needs: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
        for entry in &self.entries {
            needs.entry(&entry.need).or_default().push(entry);
        }
        for (need, entries) in needs {
            let has = Need::parse(need).map_or(Has::NoReason, |need| machine.has(need));
            let answer = match &has {
                Has::No(what) => format!("lacking here: {what}"),
                Has::NotKnown => "the system does not tell if it is here".to_string(),
                Has::Yes(how) => format!("PRESENT HERE: {how}"),
                Has::NoReason => "NOT IN THE LIST OF REASONS (checks/skips/src/machine.rs)".to_string(),
            };
            match has {
                Has::Yes(_) | Has::NoReason => judged.wrong.push(format!("{need}: {answer}")),
                Has::NotKnown => judged.unknown.push(format!("{need}: {answer}")),
                Has::No(_) => {}
            }
            describe(&mut judged.text, need, &answer, &entries);
        }
        judged
    }
}

/// Writes what one need kept from running: the number of tests, the reasons and the names.
fn describe(text: &mut String, need: &str, answer: &str, entries: &[&Entry]) {
    let mut tests: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for entry in entries {
        tests.entry(&entry.package).or_default().insert(&entry.test);
    }
    let count: usize = tests.values().map(BTreeSet::len).sum();
    let _ = writeln!(text, "{count:5} tests need {need}; {answer}");
    let reasons: BTreeSet<&str> = entries.iter().map(|e| e.why.as_str()).filter(|why| !why.is_empty()).collect();
    for why in reasons {
        let _ = writeln!(text, "        {why}");
    }
    for (package, names) in tests {
        let names: Vec<&str> = names.into_iter().collect();
        let _ = writeln!(text, "        {package}, {}: {}", names.len(), names.join(" "));
    }
}

fn entry(line: &str) -> Option<Entry> {
    let mut fields = line.split('\t');
    let (place, need, why) = (fields.next()?, fields.next()?, fields.next()?);
    let (package, test) = place.split_once(' ')?;
    let [need, package, test, why] = [need, package, test, why].map(str::to_string);
    fields.next().is_none().then_some(Entry { need, package, test, why })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "halide-cpu b\tsystem luck\t\nhalide-cpu a\tfeature gpu\tnot built\n\
                        halide-cpu c\tfeature gpu\tnot built\nhalide-cpu a\tfeature gpu\tnot built\n";

    #[test]
    fn skips_are_counted_once_and_sorted() {
        let judged = Ledger::read(TEXT).judge(&Machine::default());
        let expected = "    2 tests need feature gpu; PRESENT HERE: the feature gpu can be turned on\n        not built\n        \
                        halide-cpu, 2: a c\n    \
                        1 tests need system luck; NOT IN THE LIST OF REASONS (checks/skips/src/machine.rs)\n        \
                        halide-cpu, 1: b\n";
        assert_eq!(judged.text, expected);
        assert_eq!(judged.wrong.len(), 2, "{:?}", judged.wrong);
    }

    #[test]
    fn what_a_machine_lacks_is_no_mistake() {
        let judged = Ledger::read("halide-gpu a\tdevice\tnone\n").judge(&Machine::default());
        assert_eq!(judged.wrong, [""; 0]);
        assert!(judged.text.contains("1 tests need device; lacking here: no Vulkan driver is installed"));
    }

    #[test]
    fn what_a_system_does_not_tell_is_a_warning() {
        let judged = Ledger::read("halide-cpu a\tcpu avx2\t\n").judge(&Machine::default());
        assert_eq!(judged.wrong, [""; 0]);
        assert_eq!(judged.unknown, ["cpu avx2: the system does not tell if it is here"]);
    }

    #[test]
    fn lines_of_another_kind_are_mistakes() {
        let judged = Ledger::read("halide-gpu a\tdevice\nnothing\n").judge(&Machine::default());
        assert_eq!(judged.wrong.len(), 2, "{:?}", judged.wrong);
    }
}
