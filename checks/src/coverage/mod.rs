//! Classes of structures that cases have, and how often each was drawn: what fuzzing does not draw it does not find.
//!
//! A class is read off a case as it was drawn, not off what it was drawn for. [`Coverage::missing`] lists those of a
//! fixed list that were never drawn; a test draws until there are none, and long runs print what is left.

mod class;
mod coordinates;
mod graphs;
mod loops;
mod products;

use crate::case::Case;
use class::Class;
use halide::plan;
pub use products::Product;
use std::collections::BTreeMap;

/// Classes by table, with how often each was drawn.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    counts: BTreeMap<Class, u64>,
}

impl Coverage {
    /// Counts the classes of a case.
    pub fn add(&mut self, case: &Case) {
        let case = case.main_part();
        let Ok(plan) = plan::resolve(&case.pipeline, &case.schedule, &case.target) else { return };
        let mut found = Vec::new();
        loops::classes(&case, &plan, &mut found);
        coordinates::classes(&plan, &mut found);
        graphs::classes(&case, &plan, &mut found);
        products::classes(&case, &plan, &mut found);
        found.sort();
        found.dedup();
        for class in found {
            *self.counts.entry(class).or_default() += 1;
        }
    }

    /// Returns true if a case of this class was drawn.
    pub fn has(&self, product: &Product) -> bool {
        self.count(&product.class()) > 0
    }

    /// The number of cases of a class.
    fn count(&self, class: &Class) -> u64 {
        self.counts.get(class).copied().unwrap_or(0)
    }

    /// The listed classes that were never drawn, as text.
    pub fn missing(&self) -> Vec<String> {
        let never = listed().into_iter().filter(|class| self.count(class) == 0);
        never.map(|(table, class)| format!("{table}: {class}")).collect()
    }

    /// The number of classes of a table that were drawn, and that it lists.
    pub fn drawn(&self, table: &str) -> (usize, usize) {
        let all: Vec<Class> = listed().into_iter().filter(|class| class.0 == table).collect();
        (all.iter().filter(|class| self.count(class) > 0).count(), all.len())
    }

    /// For each product of tables how many of its classes were drawn, and `shown` of those that were not.
    pub fn products(&self, shown: usize) -> String {
        let mut tables: BTreeMap<&str, (usize, Vec<String>)> = BTreeMap::new();
        for class in products::listed() {
            let (drawn, never) = tables.entry(class.0).or_default();
            match self.count(&class) {
                0 => never.push(class.1),
                _ => *drawn += 1,
            }
        }
        let mut text = String::new();
        for (table, (drawn, never)) in tables {
            let some: Vec<&String> = never.iter().step_by((never.len() / shown.max(1)).max(1)).take(shown).collect();
            text += &format!("{table}: {drawn} of {} drawn; never, among others, {some:?}\n", drawn + never.len());
        }
        text
    }

    /// For each table how many of its classes were drawn, which is the rarest, and which never were.
    pub fn report(&self) -> String {
        let mut tables: BTreeMap<&str, Vec<(u64, String)>> = BTreeMap::new();
        for class in listed() {
            tables.entry(class.0).or_default().push((self.count(&class), class.1));
        }
        let mut text = String::new();
        for (table, mut classes) in tables {
            classes.sort();
            let never: Vec<&str> = classes.iter().filter(|(n, _)| *n == 0).map(|(_, class)| class.as_str()).collect();
            let rarest =
                classes.iter().find(|(n, _)| *n > 0).map_or(String::new(), |(n, class)| format!("{class}: {n}"));
            let drawn = classes.len() - never.len();
            text += &format!("{table}: {drawn} of {} drawn, the rarest {rarest}; never {never:?}\n", classes.len());
        }
        text
    }
}

/// Every class that can be drawn.
fn listed() -> Vec<Class> {
    let mut all = Vec::new();
    loops::listed(&mut all);
    coordinates::listed(&mut all);
    graphs::listed(&mut all);
    all
}
