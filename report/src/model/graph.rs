//! The graph of Funcs and images: who reads whom.

use crate::graph::{EdgeSpec, NodeKind, NodeSpec, layout};
use halide::counts::FuncCounts;
use halide::inspect::Inspection;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A node for each image and Func, and an edge for each pair of which one reads the other. An edge has the bytes that
/// are read where all that its consumer reads is of one producer: counts do not tell producers apart.
pub(super) fn graph(inspection: &Inspection, counts: Option<&[FuncCounts]>) -> Value {
    let images = inspection.images.iter().map(|image| NodeSpec {
        name: image.name.clone(),
        kind: NodeKind::Image,
        is_output: false,
        is_inline: false,
    });
    let funcs = inspection.definitions.iter().filter(|row| row.update == 0).map(|row| NodeSpec {
        name: row.func.clone(),
        kind: NodeKind::Func,
        is_output: row.is_output,
        is_inline: row.compute == "inline",
    });
    let nodes: Vec<NodeSpec> = images.chain(funcs).collect();
    let numbers: BTreeMap<(bool, &str), usize> =
        nodes.iter().zip(0..).map(|(node, n)| ((node.kind == NodeKind::Image, node.name.as_str()), n)).collect();
    let mut reads: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for row in &inspection.definitions {
        let Some(to) = numbers.get(&(false, row.func.as_str())) else { continue };
        for read in &row.reads {
            if let Some(from) = numbers.get(&(read.is_image, read.of.as_str())).filter(|from| *from != to) {
                *reads.entry((*from, *to)).or_default() += 1;
            }
        }
    }
    let loaded = |to: usize| {
        let producers: BTreeSet<usize> = reads.keys().filter(|(_, of)| *of == to).map(|(from, _)| *from).collect();
        let counts = counts?.iter().find(|of| of.func == nodes[to].name)?;
        (producers.len() == 1).then_some(counts.loaded)
    };
    let edge = |((from, to), times): (&(usize, usize), &usize)| EdgeSpec {
        bytes: loaded(*to),
        times: Some(*times as f64),
        ..EdgeSpec::new(*from, *to)
    };
    let edges: Vec<EdgeSpec> = reads.iter().map(edge).collect();
    layout(&nodes, &edges).to_json()
}
