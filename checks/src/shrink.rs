//! The smallest case that still fails alike: fewer directives, smaller pipelines, smaller regions.

use crate::case::Case;
use halide::buffer::Span;
use halide::prelude::*;
use halide::schedule::{Amount, Directive, Tail, Verb};
use halide_testing::pipelines::smaller;
use std::time::{Duration, Instant};

/// Makes `case` smaller while `fails` says that it still does, until no step is left or the time is over.
pub fn smallest(case: &Case, limit: Duration, fails: impl Fn(&Case) -> bool) -> Case {
    let start = Instant::now();
    let mut best = case.clone();
    // Steps of one kind rarely open the way for steps before them, so all are gone through until nothing helps.
    loop {
        let before = best.to_string();
        for steps in [fewer_directives, smaller_pipelines, plainer_directives, smaller_regions] {
            while let Some(next) = steps(&best).find(|c| start.elapsed() < limit && fails(c)) {
                best = next;
            }
        }
        if best.to_string() == before || start.elapsed() >= limit {
            return best;
        }
    }
}

type Steps = Box<dyn Iterator<Item = Case>>;

fn with_directives(case: &Case, directives: Vec<Directive>) -> Case {
    Case { schedule: Schedule::from(directives), ..case.clone() }
}

/// Without one half of the directives, a quarter, ... one of them.
fn fewer_directives(case: &Case) -> Steps {
    let (case, all) = (case.clone(), case.schedule.directives().to_vec());
    let sizes = std::iter::successors(Some(all.len().div_ceil(2)), |&n| (n > 1).then_some(n.div_ceil(2)));
    let cuts: Vec<(usize, usize)> = sizes
        .flat_map(|n| (0..all.len()).step_by(n.max(1)).map(move |at| (at, n)))
        .filter(|_| !all.is_empty())
        .collect();
    Box::new(cuts.into_iter().map(move |(at, n)| {
        let kept = all.iter().enumerate().filter(|(i, _)| !(at..at + n).contains(i)).map(|(_, d)| d.clone());
        with_directives(&case, kept.collect())
    }))
}

/// With a tail that says nothing, or a factor that is smaller.
fn plainer_directives(case: &Case) -> Steps {
    let (case, all) = (case.clone(), case.schedule.directives().to_vec());
    let mut lists = Vec::new();
    for (i, d) in all.iter().enumerate() {
        for verb in plainer(&d.verb) {
            let mut list = all.clone();
            list[i].verb = verb;
            lists.push(list);
        }
    }
    Box::new(lists.into_iter().map(move |list| with_directives(&case, list)))
}

fn plainer(verb: &Verb) -> Vec<Verb> {
    let mut all = Vec::new();
    let mut change = |f: &dyn Fn(&mut Amount, &mut Tail)| {
        let mut verb = verb.clone();
        match &mut verb {
            Verb::Split { factor, tail, .. } | Verb::Mark { factor: Some(factor), tail, .. } => f(factor, tail),
            _ => {}
        }
        all.push(verb);
    };
    change(&|_, tail| *tail = Tail::Auto);
    change(&|factor, _| {
        if let Amount::Const(n @ 3..) = factor {
            *n -= 1;
        }
    });
    change(&|factor, _| {
        if *factor == Amount::Natural {
            *factor = Amount::Const(16);
        }
    });
    all.retain(|v| v != verb);
    all
}

/// Every step that `halide_testing::pipelines` knows; regions of outputs that are left stay.
fn smaller_pipelines(case: &Case) -> Steps {
    let case = case.clone();
    Box::new(smaller(&case.pipeline.clone()).map(move |pipeline| {
        let region = |name: &str| {
            let all = case.pipeline.outputs.iter().zip(&case.regions);
            all.clone().find(|(f, _)| case.pipeline.funcs[**f].name == *name).map(|(_, r)| r.clone())
        };
        let regions = pipeline.outputs.iter().filter_map(|&f| region(&pipeline.funcs[f].name)).collect();
        Case { pipeline: pipeline.into(), regions, ..case.clone() }
    }))
}

/// With one extent smaller, or one region that begins at zero.
fn smaller_regions(case: &Case) -> Steps {
    let mut cases = Vec::new();
    for (i, region) in case.regions.iter().enumerate() {
        for (dim, &Span { min, extent }) in region.spans().iter().enumerate() {
            let tries = [(min, 1), (min, extent / 2), (min, extent - 1), (0, extent)];
            for (min, smaller) in tries.into_iter().filter(|&t| t.1 >= 1 && t != (min, extent)) {
                let mut spans = region.spans().to_vec();
                spans[dim] = Span { min, extent: smaller };
                let mut case = case.clone();
                case.regions[i] = Region::new(spans);
                cases.push(case);
            }
        }
    }
    if case.roomy {
        cases.push(Case { roomy: false, ..case.clone() });
    }
    Box::new(cases.into_iter())
}
