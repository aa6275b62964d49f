//! Each check for about a second, from fixed seeds. `HALIDE_FUZZ_CASES` and `HALIDE_FUZZ_SEED` make it a long run:
//! `HALIDE_FUZZ_CASES=100000 cargo test --release -p halide-checks random_schedules -- --nocapture`.

use halide::schedule::Verb;
use halide_checks::case::Case;
use halide_checks::coverage::Coverage;
use halide_checks::failure::{Failure, Outcome};
use halide_checks::runs::Seeds;
use halide_checks::{
    algebra, auto, budgets, classes, contractions, edges, empties, externs, families, findings, image_input,
    instruction_calls, ladder, nests, order, proofs, refusals, runs, schedules, stacks, steps, text, trust, words,
    work,
};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// Records the tests that this build leaves out.
#[test]
fn tests_that_are_not_compiled() {
    if !cfg!(target_os = "linux") {
        halide_skips::skip(halide_skips::Need::System("linux"), "machine code between guard pages, of tests/fenced");
    }
}

#[test]
fn random_schedules() {
    runs::compare_engines("random schedules", 30, 50, Case::random);
}

#[test]
fn random_gpu_schedules() {
    runs::compare_engines("random schedules for a GPU", 60, 40, Case::random_gpu);
}

#[test]
fn changed_schedules() {
    runs::compare_engines("changed schedules", 60, 15, schedules::changed);
}

#[test]
fn all_checks_in_turn() {
    ladder::in_turn(8);
}

/// Most accesses of most random pipelines are proved, so few checks remain in what users run.
#[test]
fn accesses_of_random_pipelines() {
    let (sum, cases, shares) = (Cell::new(proofs::Share::default()), Cell::new(0), Cell::new(0.0));
    runs::each("accesses of random pipelines", 100, |number| {
        if let Some(share) = proofs::Share::of(Case::random(number)) {
            sum.set(sum.get().and(share));
            cases.set(cases.get() + 1);
            shares.set(shares.get() + share.proved as f64 / share.all as f64);
        }
        Ok(())
    });
    let (proofs::Share { proved, all }, mean) = (sum.get(), shares.get() / f64::from(cases.get()));
    println!("{proved} of {all} accesses of {} pipelines are proved; mean of shares {mean:.3}", cases.get());
    assert!(cases.get() > 50 && mean > 0.8, "of {} pipelines, the mean share is {mean:.3}", cases.get());
}

/// Code of large factors runs on threads with little stack, and is not refused throughout.
#[test]
fn code_on_small_stacks() {
    let compared = Cell::new(0);
    let cases = 24;
    runs::each("code on small stacks", cases, |number| {
        let outcome = stacks::check(&stacks::case(number)).map_err(|f| format!("{}: {}", f.kind, f.text))?;
        compared.set(compared.get() + u64::from(outcome == Outcome::Compared));
        Ok(())
    });
    println!("{} cases compared", compared.get());
    assert!(compared.get() * 4 >= cases, "only {} of {cases} cases could be compared", compared.get());
}

/// Families of pipelines that are written for one part of the compiler each.
#[test]
fn families_of_pipelines() {
    let failed = failures(30 * families::COUNT, 40, families::name, families::check);
    if let Some((number, kind, _)) = failed.first() {
        println!("{}", families::report(*number, kind));
    }
    assert!(failed.is_empty(), "{failed:?}");
}

/// Every class of two directives, tail, place and kind of coordinate is served or known to be illegal. Classes at equal
/// distances are drawn; a long run over as many numbers as there are classes has them all.
#[test]
fn classes_of_products() {
    classes::run(100);
}

/// Runs at the edges of what is allowed are refused if they must be, and not otherwise.
#[test]
fn edges_of_what_is_allowed() {
    let failed = failures(200 * edges::COUNT, 20, edges::name, edges::check);
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Code that schedules multiply is refused before there is more of it than the budget allows.
#[test]
fn budgets_of_code() {
    let failed = failures(120, 5, |_| "budgets", budgets::check);
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Inputs of extern stages are pipelines of their own, and give what the interpreter does.
#[test]
fn inputs_of_extern_stages() {
    let failed = failures(40, 90, |_| "externs", externs::check);
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Closures that interpret the meanings of instructions give what the loops would.
#[test]
fn instructions_of_closures() {
    let failed = failures(120, 70, |_| "instruction calls", instruction_calls::check);
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Schedules from instructions give what the interpreter does, whatever is chosen.
#[test]
fn schedules_from_instructions() {
    let failed = failures(240, 25, |_| "contractions", contractions::check);
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Programs of steps on slots give what the interpreter does, a step at a time.
#[test]
fn programs_of_steps() {
    let failed = failures(60, 60, |_| "steps", steps::check);
    assert!(failed.is_empty(), "{failed:#?}");
}

/// A schedule is chosen for every pipeline, and changes no value.
#[test]
fn schedules_that_are_chosen() {
    let failed = failures(60, 30, |_| "auto", |number| auto::check(&Case::random(number)));
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Findings of every schedule have numbers, and their edits change no value.
#[test]
fn edits_of_findings() {
    let failed = failures(50, 20, |_| "findings", |number| findings::check(&Case::random(number)));
    assert!(failed.is_empty(), "{failed:#?}");
}

/// A schedule with kernels is chosen for every pipeline that a GPU can compute, and changes no value.
#[test]
fn schedules_with_kernels_that_are_chosen() {
    let failed = failures(30, 30, |_| "auto kernels", |number| auto::check_kernels(&Case::random_gpu(number)));
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Points, elements and allocations of loop nests at given sizes are those that runs count; where few iterations stand
/// for all, they are near in nearly all cases.
#[test]
fn costs_of_loop_nests() {
    let (near, off) = (Cell::new(0u64), RefCell::new(Vec::new()));
    runs::each("costs of loop nests", 300, |number| {
        let case = Case::random(number);
        match nests::check(&case).map_err(|f| format!("{}: {}", f.kind, f.text))? {
            (Outcome::Compared, true) => near.set(near.get() + 1),
            (Outcome::Compared, false) => off.borrow_mut().push(number),
            _ => {}
        }
        Ok(())
    });
    let (near, off) = (near.get(), off.into_inner());
    println!("{near} cases near, {off:?} are not");
    assert!(near >= 100 && off.len() as u64 * 50 <= near, "{near} cases near, {off:?} are not");
}

/// The numbers of cases that fail, with the kinds and texts of their failures. Of the cases of each name, at least
/// `share` percent must be compared, where there are enough to tell.
fn failures(
    cases: u64,
    share: u64,
    name: fn(u64) -> &'static str,
    check: fn(u64) -> Result<Outcome, Failure>,
) -> Vec<(u64, String, String)> {
    let Seeds { first, count, .. } = Seeds::of_run(cases);
    let (mut tally, mut failed): (BTreeMap<_, u64>, _) = (BTreeMap::new(), Vec::new());
    let show = std::env::var_os("HALIDE_FUZZ_SHOW").is_some();
    let step = runs::number("HALIDE_FUZZ_STEP").unwrap_or(1).max(1);
    for number in (first..first + count).step_by(step as usize) {
        let name = name(number);
        if show {
            println!("{name} {number}");
        }
        let word = match runs::caught(|| check(number)).and_then(|result| result) {
            Ok(Outcome::Refused(why)) => format!("refused: {why}"),
            Ok(_) => "compared".to_string(),
            Err(f) => {
                let text: String = f.text.lines().take(60).collect::<Vec<_>>().join("\n");
                failed.push((number, format!("{name}: {}", f.kind), text));
                "failed".to_string()
            }
        };
        *tally.entry((name, word)).or_insert(0) += 1;
    }
    println!("{tally:?}");
    let names: BTreeSet<&str> = tally.keys().map(|(name, _)| *name).collect();
    for name in names {
        let all: u64 = tally.iter().filter(|((n, _), _)| *n == name).map(|(_, count)| count).sum();
        let compared = tally.get(&(name, "compared".to_string())).copied().unwrap_or(0);
        let failed = tally.get(&(name, "failed".to_string())).copied().unwrap_or(0);
        assert!(all < 10 || failed > 0 || compared * 100 >= share * all, "{name}: only {compared} of {all} compared");
    }
    failed
}

/// No recorded case takes more work than it did.
#[test]
fn recorded_work() {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        work::update([200, 50, 18]);
        // Words are of cases of the record of work.
        return words::update();
    }
    let failed: Vec<String> = work::records()
        .iter()
        .filter_map(|record| record.check().err())
        .map(|f| format!("{}: {}", f.kind, f.text))
        .collect();
    assert!(failed.is_empty(), "{} cases (`UPDATE_EXPECT=1` counts again):\n{}", failed.len(), failed.join("\n"));
}

/// Decisions of passes are explained as they were; `recorded_work` writes the record.
#[test]
fn recorded_words() {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return;
    }
    let failed: Vec<String> = words::check().into_iter().map(|f| format!("{}: {}", f.kind, f.text)).collect();
    assert!(failed.is_empty(), "{} cases (`UPDATE_EXPECT=1` asks again):\n{}", failed.len(), failed.join("\n"));
}

/// Recorded schedules are legal or not as they were, for the same reasons.
#[test]
fn recorded_refusals() {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return refusals::update([160, 60, 480, 60, 60]);
    }
    let failed: Vec<String> = refusals::records().iter().filter_map(|r| r.check().err()).map(|f| f.text).collect();
    assert!(failed.is_empty(), "{} cases (`UPDATE_EXPECT=1` asks again):\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn any_numbers_in_schedules() {
    runs::each("any numbers", 200, schedules::any_numbers);
}

/// Programs in which the evaluator finds no race give the same in another order.
#[test]
fn reversed_orders() {
    let tally = Cell::new(order::Tally::default());
    runs::each("reversed orders", 60, |seed| {
        let more = order::check(&Case::random(seed)).map_err(|f| format!("{}: {}", f.kind, f.text))?;
        tally.set(tally.get() + more);
        Ok(())
    });
    let order::Tally { agree, race } = tally.get();
    println!("{agree} programs gave the same in both orders, {race} have races");
    assert!(agree > 40 && race > 5, "{agree} agree, {race} race");
}

/// Calls with empty buffers give the interpreter's values, or errors.
#[test]
fn empty_buffers() {
    let tally = Cell::new(empties::Tally::default());
    runs::each("empty buffers", 60, |seed| {
        let more = empties::check(&Case::random(seed)).map_err(|f| format!("{}: {}", f.kind, f.text))?;
        tally.set(tally.get() + more);
        Ok(())
    });
    let empties::Tally { agree, refused } = tally.get();
    println!("{agree} runs gave the interpreter's values, {refused} were refused");
    assert!(agree > 20 && refused > 20, "{agree} agree, {refused} refused");
}

/// Proofs that replace trust in lowering are never found to be wrong by the evaluator.
#[test]
fn proofs_of_order() {
    let tally = Cell::new(trust::Tally::default());
    runs::each("proofs of order", 60, |seed| {
        let more = trust::check(&Case::random(seed)).map_err(|f| format!("{}: {}", f.kind, f.text))?;
        tally.set(tally.get() + more);
        Ok(())
    });
    let trust::Tally { proved, open, wrong } = tally.get();
    println!("{proved} buffers and loops are proved, {open} are not, {wrong} runs were wrong");
    assert!(proved > 200 && wrong > 5, "{proved} proved, {open} open, {wrong} wrong");
}

#[test]
fn simplified_expressions() {
    runs::each("simplified expressions", 1500, algebra::expression);
}

#[test]
fn simplified_programs() {
    runs::each("simplified programs", 1000, algebra::program);
}

#[test]
fn text_of_schedules() {
    runs::each("text of schedules", 200, |seed| text::schedule(&text::random_schedule_text(seed)));
}

#[test]
fn text_of_ir() {
    runs::each("text of loop IR", 600, |seed| text::ir(&text::random_ir_text(seed)));
}

#[test]
fn image_files() {
    runs::each("image files", 2000, |seed| image_input::decode(&image_input::random_file(seed)));
}

/// Reductions done in parts number Funcs anew, while the schedule that asks for more of them is drawn.
#[test]
fn schedules_that_do_several_reductions_in_parts() {
    let parts = |case: &Case| {
        let verbs = case.schedule.directives().iter().map(|d| &d.verb);
        verbs.filter(|verb| matches!(verb, Verb::Rfactor { .. })).count()
    };
    let several = (0..400).filter(|seed| parts(&Case::random_gpu(*seed)) > 1).count();
    assert!(several > 2, "{several}");
}

/// Cases are drawn and not run, so that this takes seconds. A seed means the same case everywhere. Long runs
/// (`HALIDE_FUZZ_CASES`) ask for every class, of some thousand cases.
#[test]
fn every_class_of_structures_is_drawn() {
    let Seeds { first, count, long } = Seeds::of_run(480);
    let mut coverage = Coverage::default();
    (first..first + count).for_each(|seed| coverage.add(&Case::random(seed)));
    println!("{}{}", coverage.report(), coverage.products(if long { 60 } else { 0 }));
    // What takes some thousand cases: large tables, and classes that few cases of one theme have.
    let large = [
        "triples of directives",
        "directives with tails before others",
        "pairs of directives by place",
        "coordinates by place of what is read",
        "groups",
        "wrappers",
    ];
    for table in large.into_iter().filter(|_| !long) {
        let (drawn, of) = coverage.drawn(table);
        assert!(drawn * 2 >= of, "only {drawn} of {of} {table}");
    }
    let missing = coverage.missing();
    let missing: Vec<&String> =
        missing.iter().filter(|class| long || !large.iter().any(|table| class.starts_with(table))).collect();
    assert!(missing.is_empty(), "never drawn: {missing:?}");
}
