use super::*;
use crate::pipeline::{Kind, PipelineData};
use std::collections::BTreeSet;

fn draw(seed: u64) -> Pipeline {
    random_pipeline(seed, PipelineOptions { exact: seed.is_multiple_of(3), ..Default::default() })
}

#[test]
fn pipelines_belong_to_their_seed() {
    for seed in 0..50 {
        assert_eq!(draw(seed).to_string(), draw(seed).to_string());
    }
}

/// What a pipeline has, in words.
fn features(p: &PipelineData) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut note = |word: String| {
        found.insert(word);
    };
    for node in p.exprs.iter() {
        note(format!("{} values", node.ty));
        note(match &node.kind {
            Kind::Binary(op, ..) => format!("{op:?}"),
            Kind::Unary(op, _) => format!("{op:?}"),
            other => format!("{other:?}").split(['(', ' ', '{']).next().unwrap_or_default().to_string(),
        });
    }
    for f in p.funcs.iter() {
        note(format!("{} dimensions", f.dims()));
        note(format!("{} elements", f.types.len()));
        for s in &f.stages[1..] {
            let plain = s.args.iter().filter(|a| matches!(p.exprs[**a].kind, Kind::Var(_))).count();
            note(format!("update of {plain} plain variables, {} domain", if s.rdom.is_some() { "a" } else { "no" }));
        }
    }
    if p.rdoms.iter().any(|r| r.predicate.is_some()) {
        note("a predicate".into());
    }
    if p.outputs.len() > 1 {
        note("several outputs".into());
    }
    found
}

#[test]
fn everything_is_drawn() {
    let found: BTreeSet<String> = (0..400).flat_map(|seed| features(&draw(seed))).collect();
    let wanted = [
        "bf16 values",
        "f16 values",
        "f64 values",
        "u64 values",
        "bool values",
        "Select",
        "Image",
        "ImageDim",
        "Likely",
        "SaturatingCast",
        "Math",
        "Param",
        "RVar",
        "Absd",
        "Div",
        "ModToZero",
        "Shl",
        "Popcount",
        "3 dimensions",
        "3 elements",
        "update of 0 plain variables, a domain",
        "update of 2 plain variables, no domain",
        "a predicate",
        "several outputs",
    ];
    for word in wanted {
        assert!(found.contains(word), "{word} is not among {found:?}");
    }
}

#[test]
fn steps_make_pipelines_smaller() {
    for seed in 0..30 {
        let p = draw(seed);
        let (mut pipeline, mut steps) = (p.clone(), 0);
        // Whatever is dropped, something is left that prints, and it ends.
        while let Some(next) = smaller(&pipeline).next() {
            assert_ne!(next.to_string(), pipeline.to_string());
            pipeline = next;
            steps += 1;
            assert!(steps < 10_000, "seed {seed}");
        }
        assert_eq!(pipeline.outputs.len(), 1);
    }
}
