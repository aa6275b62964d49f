//! Inspections of apps: every Func is in every view, and instructions know whose they are.

use halide::prelude::*;
use halide_apps::app::{APPS, Edges};
use std::collections::BTreeSet;

/// Instructions in loops that belong to no definition: checks and copies of memory between definitions.
const NOBODYS: f64 = 0.02;

/// Funcs all of whose work has a name in the code of another one, since both compute the same.
const IN_OTHERS: [(&str, &str); 1] = [("harris", "slope_y")];

#[cfg(target_arch = "x86_64")]
#[test]
fn instructions_in_loops_are_of_definitions() {
    let mut without = Vec::new();
    for app in APPS {
        let pipeline = app.default_pipeline(Edges::Inside).unwrap();
        let best = app.best(false, Target::host().vector_bits);
        let schedule = Schedule::parse(best.text, best.file).unwrap();
        let inspection = pipeline.compile(&schedule, &Target::host()).unwrap().inspect().unwrap();
        let (mut in_loops, mut nobodys) = (0, 0);
        let mut with_code = BTreeSet::new();
        for line in inspection.code.iter().flat_map(|unit| &unit.lines) {
            with_code.extend(line.definition.map(|id| inspection.definitions[id.0].func.clone()));
            in_loops += usize::from(line.within.is_some());
            nobodys += usize::from(line.within.is_some() && line.definition.is_none());
        }
        let share = nobodys as f64 / f64::from(in_loops.max(1) as u32);
        assert!(share <= NOBODYS, "{}: {nobodys} of {in_loops} instructions in loops are of no definition", app.name);
        let of_nest: BTreeSet<_> = inspection.nest.iter().filter_map(|row| row.definition).collect();
        for (n, row) in inspection.definitions.iter().enumerate().filter(|(_, row)| row.compute != "inline") {
            let id = halide::inspect::DefinitionId(n);
            assert!(of_nest.contains(&id), "{}: {} is in no line of the nest", app.name, row.func);
            // A first definition by `undef` is no code; its updates are.
            if row.update == 0 && !with_code.contains(&row.func) {
                without.push((app.name, row.func.clone()));
            }
        }
    }
    let known: Vec<(&str, String)> = IN_OTHERS.iter().map(|(app, func)| (*app, func.to_string())).collect();
    // Other processors have other schedules and other code.
    without.retain(|found| !known.contains(found));
    assert!(without.is_empty(), "no instruction is of {without:?}");
}
