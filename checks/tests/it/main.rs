//! Each check for about a second, from fixed seeds. `HALIDE_FUZZ_CASES` and `HALIDE_FUZZ_SEED` make it a long run:
//! `HALIDE_FUZZ_CASES=100000 cargo test --release -p halide-checks random_schedules -- --nocapture`.

use halide_checks::case::Case;
use halide_checks::{algebra, image_input, runs, schedules, text};

#[test]
fn random_schedules() {
    runs::compare_engines("random schedules", 30, 50, Case::random);
}

#[test]
fn random_gpu_schedules() {
    runs::compare_engines("random schedules for a graphics processor", 60, 40, Case::random_gpu);
}

#[test]
fn changed_schedules() {
    runs::compare_engines("changed schedules", 60, 0, schedules::changed);
}

#[test]
fn any_numbers_in_schedules() {
    runs::each("any numbers", 200, schedules::any_numbers);
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
    for seed in [239, 3719] {
        let case = Case::random_gpu(seed);
        assert!(!case.schedule.directives().is_empty(), "{case}");
    }
}
