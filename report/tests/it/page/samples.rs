//! Reports to look at: those made by hand in `tests/samples`, and large ones made here.

use halide_report::graph::{EdgeSpec, NodeKind, NodeSpec, layout};
use serde_json::{Value, json};

/// The samples made by hand, by their names.
pub(crate) const SAMPLES: [(&str, &str); 6] = [
    ("blur", include_str!("../../samples/blur.json")),
    ("compare", include_str!("../../samples/compare.json")),
    ("hostile", include_str!("../../samples/hostile.json")),
    ("fault", include_str!("../../samples/fault.json")),
    ("empty", include_str!("../../samples/empty.json")),
    ("points", include_str!("../../samples/points.json")),
];

/// A sample by its name.
pub(crate) fn sample(name: &str) -> Value {
    let text = SAMPLES.iter().find(|(known, _)| *known == name).expect("the sample is known").1;
    serde_json::from_str(text).expect("a sample is JSON")
}

/// A chain of definitions, each computed at the root.
pub(crate) fn chain(count: usize) -> Value {
    let name = |i: usize| format!("stage_{i}");
    let node = |i| NodeSpec { is_output: i + 1 == count, ..NodeSpec::new(&name(i), NodeKind::Func) };
    let nodes: Vec<NodeSpec> = (0..count).map(node).collect();
    let edges: Vec<EdgeSpec> = (1..count).map(|to| EdgeSpec::new(to - 1, to)).collect();
    let definitions: Vec<Value> = (0..count)
        .map(|i| {
            let text = format!("{}(x, y) = {}(x, y) + {}(x + 1, y)", name(i), name(i.max(1) - 1), name(i.max(1) - 1));
            json!({"func": name(i), "update": 0, "text": text, "type": "f32", "dims": ["x", "y"],
                "compute": "at the root", "is_output": i + 1 == count, "inlined_into": [], "reads": []})
        })
        .collect();
    let loops: Vec<Value> = (0..count)
        .flat_map(|i| {
            let row =
                |dim: &str, kind: &str| json!({"name": format!("{}.{dim}", name(i)), "kind": kind, "definition": i});
            [row("y", "parallel"), row("x", "vectorized")]
        })
        .collect();
    let nest: Vec<Value> = (0..count)
        .flat_map(|i| {
            let text = |dim: &str| format!("{}.{dim} in 0..100", name(i));
            [
                json!([0, "compute", name(i), i, -1]),
                json!([1, "loop", text("y"), i, 2 * i]),
                json!([2, "loop", text("x"), i, 2 * i + 1]),
            ]
        })
        .collect();
    let rows: Vec<Value> = (0..count)
        .map(
            |i| json!({"activity": name(i), "func": name(i), "update": 0, "share": 1.0 / count as f64, "self_ms": 0.1}),
        )
        .collect();
    json!({"version": 1, "made_by": "a test", "title": "chain", "facts": [["stages", count.to_string()]],
        "definitions": definitions, "graph": layout(&nodes, &edges).to_json(), "loops": loops, "nest": nest,
        "profile": {"rows": rows, "counts": []}, "code": code(40_000, count)})
}

/// Code of so many lines, which belong to the definitions of a chain in turn.
fn code(lines: usize, count: usize) -> Value {
    let text: String =
        (0..lines).map(|i| format!("  vpaddw zmm{}, zmm{}, [rsp+{i}]\n", i % 32, (i + 7) % 32)).collect();
    let kinds = ["body", "address", "check", "move"];
    let run = |i: usize| json!([8, i % count, 2 * (i % count) + 1, kinds[i % kinds.len()]]);
    let map: Vec<Value> = (0..lines / 8).map(run).collect();
    json!([{"name": "pipeline", "language": "asm", "text": text, "map": map}])
}

/// A report with so many rows in its nest, and 40,000 lines of code.
pub(crate) fn large(rows: usize) -> Value {
    let count = 40;
    let mut data = chain(count);
    let nest: Vec<Value> = (0..rows)
        .map(|i| {
            let definition = (i / 12) % count;
            let text = format!("stage_{definition}.{} in 0..100", if i % 2 == 0 { "y" } else { "x" });
            json!([i % 12, "loop", text, definition, 2 * definition + i % 2])
        })
        .collect();
    data["nest"] = nest.into();
    data["title"] = "large".into();
    data
}

/// An order of evaluation of four points of `blur_x` by two tasks, of which one is computed twice.
pub(crate) fn small_order() -> Value {
    let canvas = json!({"name": "blur_x", "kind": "func", "min": [0, 0], "extent": [4, 1], "reuse": "bd.."});
    let spans = [
        json!([0, 0, 0, 0, 2, 1, -1, -1]),
        json!([0, 2, 1, 0, 1, 1, -1, -1]),
        json!([0, 1, 0, 0, 2, 1, -1, -1]),
        json!([0, 0, 2, 0, 2, 2, -1, -1]),
    ];
    let reuse = json!({"first": 4, "again": 3, "half": 1, "most": 5});
    json!({"schematic": "4 points", "canvases": [canvas], "spans": spans, "tasks": 2, "reuse": reuse})
}
