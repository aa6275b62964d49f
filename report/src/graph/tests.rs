//! Laws of drawings: nothing overlaps, edges go down, equal graphs give equal drawings, long chains take no time.

use super::*;

fn func(name: &str) -> NodeSpec {
    NodeSpec::new(name, NodeKind::Func)
}

/// A small generator, so that graphs are the same in each run.
fn random(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 33) as usize
}

fn random_graph(seed: u64) -> (Vec<NodeSpec>, Vec<EdgeSpec>) {
    let mut seed = seed + 1;
    let count = 1 + random(&mut seed) % 60;
    let nodes = (0..count).map(|i| func(&"n".repeat(1 + i % 30))).collect();
    let edges = (1..count)
        .flat_map(|to| {
            (0..1 + random(&mut seed) % 3).map(|_| EdgeSpec::new(random(&mut seed) % to, to)).collect::<Vec<_>>()
        })
        .collect();
    (nodes, edges)
}

#[track_caller]
fn check(graph: &Graph) {
    for (i, a) in graph.nodes.iter().enumerate() {
        assert!(a.x >= -0.1 && a.y >= 0.0 && a.x + a.w <= graph.width + 0.1 && a.y + a.h <= graph.height);
        for b in &graph.nodes[..i] {
            let apart = a.x + a.w <= b.x + 0.2 || b.x + b.w <= a.x + 0.2 || a.y + a.h <= b.y || b.y + b.h <= a.y;
            assert!(apart, "{} is over {}", a.spec.name, b.spec.name);
        }
    }
    for edge in &graph.edges {
        assert!(edge.points.windows(2).all(|pair| pair[0].1 <= pair[1].1), "an edge goes up: {:?}", edge.points);
        let (from, to) = (&graph.nodes[edge.spec.from], &graph.nodes[edge.spec.to]);
        assert_eq!(edge.points.first().map(|point| point.1), Some(from.y + from.h));
        assert_eq!(edge.points.last().map(|point| point.1), Some(to.y));
    }
}

#[test]
fn random_graphs_have_no_overlaps_and_edges_go_down() {
    for seed in 0..80 {
        let (nodes, edges) = random_graph(seed);
        let graph = layout(&nodes, &edges);
        check(&graph);
        assert_eq!(graph, layout(&nodes, &edges));
        assert_eq!((graph.nodes.len(), graph.edges.len()), (nodes.len(), edges.len()));
    }
}

/// Nodes of a nest follow each other, so that nothing outside is between them.
#[test]
fn nests_have_rows_and_boxes_of_their_own() {
    for seed in 0..80 {
        let (mut nodes, edges) = random_graph(seed);
        let size = 1 + seed as usize % 5;
        nodes.iter_mut().enumerate().for_each(|(at, node)| node.nest = (at % 3 > 0).then_some(at / size));
        // With nodes outside among them, a nest and such a node may read each other.
        let is_closed = size == 1 || nodes.iter().all(|node| node.nest.is_some());
        let graph = layout(&nodes, &edges);
        if is_closed {
            check(&graph);
        }
        for nest in &graph.nests {
            for node in &graph.nodes {
                let is_beside = node.y + node.h <= nest.y || nest.y + nest.h <= node.y;
                let is_inside = nest.x <= node.x && node.x + node.w <= nest.x + nest.w && !is_beside;
                let is_member = node.spec.nest == Some(nest.number);
                assert!(if is_member { is_inside } else { is_beside }, "{}: {nest:?}", node.spec.name);
            }
        }
    }
}

#[test]
fn nests_of_a_chain_are_boxes_below_each_other() {
    let mut nodes: Vec<NodeSpec> = (0..9).map(|i| func(&format!("f{i}"))).collect();
    nodes.iter_mut().enumerate().for_each(|(at, node)| node.nest = [None, Some(7), Some(3)][at / 3]);
    let edges: Vec<EdgeSpec> = (1..9).map(|to| EdgeSpec::new(to - 1, to)).collect();
    let graph = layout(&nodes, &edges);
    check(&graph);
    assert_eq!(graph.nests.iter().map(|nest| nest.number).collect::<Vec<_>>(), [3, 7]);
    assert!(graph.nests[1].y + graph.nests[1].h < graph.nests[0].y);
    // A nest of one node is no box.
    nodes.iter_mut().for_each(|node| node.nest = None);
    nodes[4].nest = Some(7);
    assert_eq!(layout(&nodes, &edges).nests, []);
}

#[test]
fn chains_are_straight_and_their_skips_run_beside_them() {
    let nodes: Vec<NodeSpec> = (0..500).map(|i| func(&format!("stage{i}"))).collect();
    let mut edges: Vec<EdgeSpec> = (1..500).map(|to| EdgeSpec::new(to - 1, to)).collect();
    let graph = layout(&nodes, &edges);
    check(&graph);
    assert!(graph.width < 200.0, "{}", graph.width);
    // Each also reads the first.
    edges.extend((2..500).map(|to| EdgeSpec::new(0, to)));
    let graph = layout(&nodes, &edges);
    check(&graph);
    assert!(graph.width < 1200.0, "{}", graph.width);
}

#[test]
fn wide_layers_are_broken() {
    let nodes: Vec<NodeSpec> = (0..80).map(|i| func(&format!("f{i}"))).collect();
    let edges: Vec<EdgeSpec> = (0..79).map(|from| EdgeSpec::new(from, 79)).collect();
    let graph = layout(&nodes, &edges);
    check(&graph);
    assert!(graph.width < 2600.0, "{}", graph.width);
    let fan: Vec<EdgeSpec> = (1..80).map(|to| EdgeSpec::new(0, to)).collect();
    check(&layout(&nodes, &fan));
}

#[test]
fn sources_stand_near_their_readers() {
    let nodes: Vec<NodeSpec> = ["a", "b", "c", "table"].map(func).into();
    let graph = layout(&nodes, &[EdgeSpec::new(0, 1), EdgeSpec::new(1, 2), EdgeSpec::new(3, 2)]);
    check(&graph);
    assert_eq!(graph.nodes[3].y, graph.nodes[1].y);
}

#[test]
fn odd_graphs_are_drawn() {
    assert_eq!(layout(&[], &[EdgeSpec::new(0, 1)]), Graph::default());
    let two = [func("a"), func("")];
    let graph = layout(&two, &[EdgeSpec::new(0, 0), EdgeSpec::new(0, 7), EdgeSpec::new(0, 1), EdgeSpec::new(1, 0)]);
    assert_eq!(graph.edges.len(), 2);
    assert_eq!(layout(&two[..1], &[]).nodes.len(), 1);
}

#[test]
fn crossings_are_counted_and_removed() {
    let mut layers = [vec![0, 1], vec![2, 3]];
    let links = [vec![(0, 3), (1, 2)]];
    assert_eq!(ordering::crossings(&layers, 4, &links), 1);
    ordering::order(&mut layers, 4, &links);
    assert_eq!(ordering::crossings(&layers, 4, &links), 0);
}
