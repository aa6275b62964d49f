use super::*;
use halide_core::ids::ExprId;
use halide_core::ops::{BinOp, MathFn, UnOp};
use halide_core::pipeline::{Kind, Node, PipelineData};
use halide_core::shape::{BufferOf, Law};
use halide_core::types::ScalarType::{self, *};
use std::collections::{BTreeMap, BTreeSet};

fn draw(seed: u64) -> Pipeline {
    random_pipeline(seed, PipelineOptions { exact: seed.is_multiple_of(3), ..Default::default() })
}

#[test]
fn pipelines_belong_to_their_seed() {
    for seed in 0..50 {
        assert_eq!(draw(seed).to_string(), draw(seed).to_string());
    }
}

/// Returns the features of a pipeline, in words.
fn features(p: &PipelineData) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut note = |word: String| {
        found.insert(word);
    };
    for node in p.exprs.iter() {
        note(format!("{} values", node.ty));
        if let Kind::Math(function, _) = &node.kind {
            note(format!("Math {function:?}"));
        }
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
        let dims: BTreeSet<usize> = p.outputs.iter().map(|f| p.funcs[*f].dims()).collect();
        note(format!("outputs of {} sizes", dims.len()));
    }
    for n in p.notes.iter() {
        note(format!("{:?}", n.kind));
    }
    for rule in &p.shapes {
        let of = if matches!(rule.of, BufferOf::Image(_)) { "input" } else { "output" };
        let multiple = if matches!(rule.law, Law::MultipleOf(_)) { "multiple" } else { "fixed" };
        note(format!("{multiple} {:?} of {of}", rule.field));
    }
    for rule in &p.alignments {
        note(format!("alignment of {}", if matches!(rule.of, BufferOf::Image(_)) { "input" } else { "output" }));
    }
    for image in p.images.iter() {
        if image.values.range.is_some() {
            note("promised values".into());
        }
        if image.values.grows.is_some() {
            note("promised growth".into());
        }
    }
    for stage in &p.externs {
        note(format!("extern stage of {} elements", stage.types.len()));
        note(format!("extern stage of {} inputs", stage.inputs.len()));
        note(format!("extern stage with {} parameters", stage.params.len()));
        if !stage.funcs().is_empty() {
            note("extern stage that reads a Func".into());
        }
    }
    if p.outputs.iter().any(|f| p.keeps(*f)) {
        note("an output that keeps what its buffer holds".into());
    }
    found
}

/// Every feature of the language that docs/features.md lists is drawn in 2000 pipelines, most of them often.
#[test]
fn every_feature_is_drawn() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..2000 {
        let options = PipelineOptions { exact: seed % 3 == 0, given: seed % 2 == 0, ..Default::default() };
        for word in features(&random_pipeline(seed, options)) {
            *counts.entry(word).or_default() += 1;
        }
    }
    let wanted = [
        "fixed Min of input",
        "fixed Extent of input",
        "fixed Stride of input",
        "multiple Min of input",
        "multiple Extent of input",
        "multiple Stride of input",
        "fixed Min of output",
        "fixed Extent of output",
        "multiple Min of output",
        "multiple Extent of output",
        "multiple Stride of output",
        "alignment of input",
        "alignment of output",
        "promised values",
        "promised growth",
        "extern stage of 1 elements",
        "extern stage of 2 elements",
        "extern stage of 1 inputs",
        "extern stage of 2 inputs",
        "extern stage with 1 parameters",
        "extern stage that reads a Func",
        "an output that keeps what its buffer holds",
        "outputs of 2 sizes",
        "Require",
        "Print",
        "Note",
        "Before",
        "Strict",
        "LikelyIfInnermost",
        "Select",
        "Reinterpret",
        "SaturatingCast",
    ];
    let missing: Vec<&str> = wanted.into_iter().filter(|w| counts.get(*w).copied().unwrap_or(0) < 5).collect();
    assert!(missing.is_empty(), "{missing:?} are rare among {counts:?}");
    let binary = {
        use BinOp::*;
        [
            Add, Sub, Mul, Div, Mod, DivToZero, ModToZero, Min, Max, BitAnd, BitOr, BitXor, Shl, Shr, Absd, Eq, Ne, Lt,
            Le, Gt, Ge,
        ]
    };
    let unary = {
        use UnOp::*;
        [Neg, Not, Abs, Popcount, Clz, Ctz, Floor, Ceil, Round, Trunc, Sqrt, IsNan, IsInf, IsFinite]
    };
    let functions = MathFn::ALL.into_iter().filter(|f| *f != MathFn::MulAdd).map(|f| format!("Math {f:?}"));
    let operators = binary.iter().map(|op| format!("{op:?}")).chain(unary.iter().map(|op| format!("{op:?}")));
    let types = ScalarType::ALL.into_iter().map(|ty| format!("{ty} values"));
    for word in operators.chain(functions).chain(types) {
        assert!(counts.contains_key(&word), "{word} is not among {counts:?}");
    }
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

/// The kinds of expressions that coordinates are made of, down to what they read.
fn kinds_in_coordinates(p: &PipelineData) -> BTreeSet<String> {
    let arguments = p.exprs.iter().filter_map(|node| match &node.kind {
        Kind::Call { args, .. } | Kind::Image { args, .. } => Some(args.clone()),
        _ => None,
    });
    let mut todo: Vec<_> = arguments.flatten().collect();
    let mut seen = BTreeSet::new();
    while let Some(e) = todo.pop() {
        if seen.insert(e) {
            todo.extend(p.exprs[e].kind.children());
        }
    }
    seen.into_iter()
        .flat_map(|e| {
            let node = &p.exprs[e];
            let word = match &node.kind {
                Kind::Binary(op, ..) => format!("{op:?}"),
                Kind::Unary(op, _) => format!("{op:?}"),
                other => format!("{other:?}").split(['(', ' ', '{']).next().unwrap_or_default().to_string(),
            };
            [word, format!("{} in a coordinate", node.ty)]
        })
        .collect()
}

#[test]
fn coordinates_are_made_of_every_kind_of_expression() {
    let mut found = BTreeSet::new();
    for seed in 0..400 {
        let kind = Coordinate::FAR[seed as usize % Coordinate::FAR.len()];
        let structure = Some(Structure::Coordinate(kind));
        let options = PipelineOptions { stages: 3, far: seed % 2 == 0, structure, ..Default::default() };
        found.extend(kinds_in_coordinates(&random_pipeline(seed, options)));
    }
    let plain = [
        "Const",
        "Var",
        "RVar",
        "Param",
        "ImageDim",
        "Select",
        "Cast",
        "SaturatingCast",
        "Reinterpret",
        "Math",
        "Call",
        "Image",
        "Note",
        "Likely",
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Mod",
        "DivToZero",
        "ModToZero",
        "Min",
        "Max",
        "BitAnd",
        "BitOr",
        "BitXor",
        "Shl",
        "Shr",
        "Eq",
        "Lt",
        "Neg",
        "Not",
        "Abs",
        "Floor",
        "Round",
        "Trunc",
    ];
    let types = ScalarType::ALL.into_iter().filter(|ty| *ty != BF16).map(|ty| format!("{ty} in a coordinate"));
    for word in plain.into_iter().map(str::to_string).chain(types) {
        assert!(found.contains(&word), "{word} is not among {found:?}");
    }
}

#[test]
fn updates_read_themselves_in_their_predicates() {
    let calls_itself = |p: &PipelineData| {
        p.funcs.enumerate().any(|(id, f)| {
            f.stages.iter().filter_map(|s| p.rdoms[s.rdom?].predicate).any(|predicate| {
                let (mut todo, mut found) = (vec![predicate], false);
                while let Some(e) = todo.pop() {
                    found |= matches!(&p.exprs[e].kind, Kind::Call { func, .. } if *func == id);
                    todo.extend(p.exprs[e].kind.children());
                }
                found
            })
        })
    };
    let structure = Some(Structure::Update(Update::OwnPredicate));
    let options = PipelineOptions { stages: 2, structure, ..Default::default() };
    let count = (0..100).filter(|seed| calls_itself(&random_pipeline(*seed, options))).count();
    assert!(count > 60, "{count} of 100");
}

fn has_parameter(p: &PipelineData, e: ExprId) -> bool {
    let kind = &p.exprs[e].kind;
    matches!(kind, Kind::Param(_)) || kind.children().into_iter().any(|child| has_parameter(p, child))
}

#[test]
fn arms_ask_parameters_and_siblings_do_not_read_each_other() {
    for seed in 0..60 {
        let draw = |structure| {
            random_pipeline(seed, PipelineOptions { stages: 1, structure: Some(structure), ..Default::default() })
        };
        let p = draw(Structure::Arms);
        let asks = |node: &Node| matches!(node.kind, Kind::Select(condition, ..) if has_parameter(&p, condition));
        assert!(p.exprs.iter().any(asks), "seed {seed}");
        let p = draw(Structure::Siblings);
        let parts: Vec<_> = p.funcs.enumerate().filter(|(_, f)| f.name.starts_with("gpart")).collect();
        assert!(parts.len() >= 3, "seed {seed}");
        for (id, f) in &parts {
            let mut todo: Vec<_> = f.stages.iter().flat_map(|s| s.values.clone()).collect();
            while let Some(e) = todo.pop() {
                let other = |func: &halide_core::ids::FuncId| parts.iter().any(|(part, _)| part == func && func != id);
                assert!(!matches!(&p.exprs[e].kind, Kind::Call { func, .. } if other(func)), "seed {seed}");
                todo.extend(p.exprs[e].kind.children());
            }
        }
    }
}
