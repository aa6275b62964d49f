//! The graph of Funcs and images: who reads whom, how much, and in which loop nests.

use super::traffic;
use crate::graph::{EdgeSpec, NodeKind, NodeSpec, layout};
use halide::counts::FuncCounts;
use halide::inspect::{DefinitionRow, Inspection};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A node for each image and Func, and an edge for each pair of which one reads the other, with the bytes that are read
/// and how often each value is. Funcs that are computed in the loops of others are in a nest with these.
pub(super) fn graph(
    inspection: &Inspection,
    counts: Option<&[FuncCounts]>,
    image_bytes: &BTreeMap<String, u64>,
) -> Value {
    let images = inspection.images.iter().map(|image| NodeSpec::new(&image.name, NodeKind::Image));
    let nests = nests(inspection);
    let funcs = firsts(inspection).map(|row| NodeSpec {
        is_output: row.is_output,
        is_inline: row.compute == "inline",
        nest: nests.get(row.func.as_str()).copied(),
        ..NodeSpec::new(&row.func, NodeKind::Func)
    });
    let nodes: Vec<NodeSpec> = images.chain(funcs).collect();
    let numbers: BTreeMap<(bool, &str), usize> =
        nodes.iter().zip(0..).map(|(node, n)| ((node.kind == NodeKind::Image, node.name.as_str()), n)).collect();
    let reads = reads(inspection, &numbers);
    let bytes = counts.map(|counts| traffic::traffic(&nodes, &numbers, &reads, counts)).unwrap_or_default();
    let size = |from: usize| {
        let name = nodes[from].name.as_str();
        match nodes[from].kind {
            NodeKind::Image => image_bytes.get(name).copied(),
            NodeKind::Func => {
                let points = counts?.iter().find(|of| of.func == name)?.points;
                let row = firsts(inspection).find(|row| row.func == name)?;
                Some(points * row.types.iter().map(|ty| ty.bytes() as u64).sum::<u64>())
            }
        }
    };
    let edge = |((from, to), distinct): (&(usize, usize), &usize)| {
        let bytes = bytes.get(&(*from, *to)).copied();
        let counted = bytes.zip(size(*from).filter(|size| *size > 0)).map(|(bytes, size)| bytes as f64 / size as f64);
        // Without counts, the reads of a definition.
        let times = if counts.is_some() { counted } else { Some(*distinct as f64) };
        EdgeSpec { bytes, times, ..EdgeSpec::new(*from, *to) }
    };
    let edges: Vec<EdgeSpec> = reads.iter().map(edge).collect();
    let graph = layout(&nodes, &edges);
    let mut data = graph.to_json();
    let leader = |number: usize| inspection.definitions.get(number).map(|row| row.func.as_str());
    for (at, nest) in graph.nests.iter().enumerate() {
        data["nests"][at]["name"] = leader(nest.number).into();
    }
    data
}

/// The first definitions of Funcs.
fn firsts(inspection: &Inspection) -> impl Iterator<Item = &DefinitionRow> {
    inspection.definitions.iter().filter(|row| row.update == 0)
}

/// The reads of each pair of nodes, each distinct one once. A Func that reads itself is no pair.
fn reads(inspection: &Inspection, numbers: &BTreeMap<(bool, &str), usize>) -> BTreeMap<(usize, usize), usize> {
    let mut reads = BTreeMap::new();
    for row in &inspection.definitions {
        let Some(to) = numbers.get(&(false, row.func.as_str())) else { continue };
        for read in &row.reads {
            if let Some(from) = numbers.get(&(read.is_image, read.of.as_str())).filter(|from| *from != to) {
                *reads.entry((*from, *to)).or_default() += 1;
            }
        }
    }
    reads
}

/// The nest of each Func that is in one: the number of the first definition of the Func at the root whose loops it is
/// computed in, or is itself. What is inlined is in the nest that all of its consumers are in.
fn nests(inspection: &Inspection) -> BTreeMap<&str, usize> {
    let rows = &inspection.definitions;
    let mut nests: BTreeMap<&str, usize> = BTreeMap::new();
    // Consumers come behind producers, so their nests are known first from the end.
    for (own, row) in rows.iter().enumerate().rev().filter(|(_, row)| row.update == 0) {
        let nest_of = |id: usize| rows.get(id).and_then(|row| nests.get(row.func.as_str())).copied();
        let nest = match row.computed_in {
            Some(at) => nest_of(at.0),
            None if row.compute == "inline" => {
                let mut consumers = row.inlined_into.iter().map(|id| nest_of(id.0));
                let nest = consumers.next().flatten();
                nest.filter(|nest| consumers.all(|other| other == Some(*nest)))
            }
            None => Some(own),
        };
        nests.extend(nest.map(|nest| (row.func.as_str(), nest)));
    }
    // What is only inlined makes no nest of others.
    let inside = rows.iter().filter(|row| row.computed_in.is_some());
    let shared: BTreeSet<usize> = inside.filter_map(|row| nests.get(row.func.as_str()).copied()).collect();
    nests.retain(|_, nest| shared.contains(nest));
    nests
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide::prelude::*;

    /// The data of the graph of a run of `out` with this schedule, for 100 points.
    fn data(schedule: &str) -> Result<Value, Error> {
        let input = ImageParam::new("input", U16, 1);
        let x = Var::new("x");
        let (mut near, mut inlined, mut far, mut out) =
            (Func::new("near"), Func::new("inlined"), Func::new("far"), Func::new("out"));
        near[x] = input[x] * 3;
        inlined[x] = near[x] + near[x + 1];
        far[x] = cast::<u32>(inlined[x]) + 1;
        out[x] = far[x] + far[x + 1] + cast::<u32>(near[x]);
        let compiled = Pipeline::new([&out])?.compile(&schedule.parse()?, &Target::host())?;
        let image = Buffer::<u16>::new([102])?;
        let mut to = Buffer::<u32>::new([100])?;
        let stats = compiled.inputs().image(&input, &image).count().realize_into(to.view_mut()?)?;
        let counts = stats.counts.unwrap_or_default();
        Ok(graph(&compiled.inspect()?, Some(&counts), &BTreeMap::from([("input".to_string(), 204)])))
    }

    /// Bytes and times of the edge between two nodes.
    fn edge(data: &Value, from: &str, to: &str) -> (Option<u64>, Option<f64>) {
        let at = |name: &str| data["nodes"].as_array()?.iter().position(|node| node["name"] == name);
        let number = |value: &Value| value.as_u64().map(|n| n as usize);
        let is_it = |edge: &&Value| (at(from), at(to)) == (number(&edge["from"]), number(&edge["to"]));
        let edge = data["edges"].as_array().and_then(|edges| edges.iter().find(is_it));
        edge.map_or((None, None), |edge| (edge["bytes"].as_u64(), edge["times"].as_f64()))
    }

    #[test]
    fn edges_have_the_bytes_and_the_reads_of_a_run() -> Result<(), Error> {
        let data = data("near: compute_root() far: compute_root()")?;
        assert_eq!(edge(&data, "input", "near"), (Some(204), Some(1.0)));
        assert_eq!(edge(&data, "near", "out"), (Some(200), Some(200.0 / 204.0)));
        assert_eq!(edge(&data, "near", "inlined"), (Some(404), Some(404.0 / 204.0)), "far reads for what is inlined");
        assert_eq!(edge(&data, "inlined", "far"), (None, None), "nothing is in memory");
        assert_eq!(edge(&data, "far", "out"), (Some(800), Some(800.0 / 404.0)));
        assert_eq!(data["nests"], serde_json::json!([]));
        Ok(())
    }

    #[test]
    fn nests_have_what_is_computed_in_their_loops() -> Result<(), Error> {
        let schedule = "out: split(x, xo, xi, 10) far: compute_at(out, xo) near: compute_root()";
        let data = data(schedule)?;
        let nests = data["nests"].as_array().map_or(0, Vec::len);
        assert_eq!((nests, &data["nests"][0]["name"]), (1, &Value::from("out")));
        let top = data["nests"][0]["y"].as_f64();
        let is_inside = |name: &str| {
            let nodes = data["nodes"].as_array().into_iter().flatten();
            nodes.filter(|node| node["name"] == name).any(|node| node["y"].as_f64() > top)
        };
        assert_eq!(["input", "near", "inlined", "far", "out"].map(is_inside), [false, false, true, true, true]);
        Ok(())
    }

    #[test]
    fn without_counts_edges_have_the_reads_of_definitions() -> Result<(), Error> {
        let x = Var::new("x");
        let (mut f, mut g) = (Func::new("f"), Func::new("g"));
        f[x] = x * 2;
        g[x] = f[x] + f[x + 1];
        let compiled = Pipeline::new([&g])?.compile(&"f: compute_root()".parse()?, &Target::host())?;
        let data = graph(&compiled.inspect()?, None, &BTreeMap::new());
        assert_eq!(edge(&data, "f", "g"), (None, Some(2.0)));
        Ok(())
    }
}
