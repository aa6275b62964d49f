//! The plain schedules compute what a schedule computes that keeps every stage at the root.

use super::UNTUNED;
use crate::graphs;
use halide::prelude::*;
use halide_apps::job::{Difference, Job, Source};

#[test]
fn plain_schedules_give_the_same_values() {
    // Blocks of 8 x 8 and vectors of 16 blocks fit; the last vectors of the others do not.
    let (width, height) = (136, 16);
    for app in UNTUNED {
        let job = Job::new(app, Source::Random { seed: 7, width, height }, &[]).unwrap();
        let plain = app.schedules[0].parse().unwrap();
        let root = graphs::schedule(&job.pipeline, "compute_root()").unwrap();
        let results = [&plain, &root].map(|schedule| {
            let compiled =
                job.pipeline.compile(schedule, &Target::host()).unwrap_or_else(|e| panic!("{}: {e}", app.name));
            let mut outputs = job.outputs().unwrap();
            job.run(&compiled, Some(2), &mut outputs).unwrap_or_else(|e| panic!("{}: {e}", app.name));
            outputs
        });
        let mut difference = Difference::default();
        results[1].iter().zip(&results[0]).for_each(|(a, b)| difference.add(a, b));
        assert!(difference.is_allowed(plain.reassociates()), "{}: {difference:?}", app.name);
    }
}

/// Chosen schedules ask for no more of the inputs than there is at the sizes that they are for, so main variants serve
/// these.
#[test]
fn chosen_schedules_serve_their_sizes() {
    let (width, height) = (256, 96);
    for (app, threads) in UNTUNED.iter().flat_map(|app| [(app, 1), (app, 2)]) {
        let job = Job::new(app, Source::Random { seed: 7, width, height }, &[]).unwrap();
        let target = Target { threads, ..Target::host() };
        let auto = job.pipeline.auto_schedule(&target, &job.estimates()).unwrap();
        let compiled = job.pipeline.compile(&auto.schedule, &target).unwrap();
        let mut outputs = job.outputs().unwrap();
        job.run(&compiled, Some(2), &mut outputs).unwrap_or_else(|e| panic!("{}: {e}", app.name));
        assert_eq!(
            compiled.variants().len(),
            1,
            "{} on {threads} threads:\n{}\n{:?}",
            app.name,
            auto.schedule,
            compiled.variants()
        );
    }
}
