//! Layered drawings of graphs of Funcs and images: layers by longest paths, places by barycentres, a box around each
//! loop nest that computes several. All arithmetic is deterministic, so equal graphs give equal drawings.
//!
//! ```
//! use halide_report::graph::{EdgeSpec, NodeKind, NodeSpec, layout};
//! let (image, func) = (NodeKind::Image, NodeKind::Func);
//! let nodes = [("input", image), ("blur_x", func), ("blur_y", func)].map(|(name, kind)| NodeSpec::new(name, kind));
//! let graph = layout(&nodes, &[EdgeSpec::new(0, 1), EdgeSpec::new(1, 2)]);
//! assert!(graph.nodes[1].y < graph.nodes[2].y && graph.nodes[1].x == graph.nodes[0].x);
//! ```

mod coordinates;
mod layers;
mod nests;
mod ordering;
#[cfg(test)]
mod tests;

use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Sizes in pixels of the page: a character of a name, the space around it, the bounds of a node's width, its height.
const CHARACTER: f64 = 7.0;
const AROUND_NAME: f64 = 30.0;
const WIDTHS: (f64, f64) = (76.0, 190.0);
const HEIGHT: f64 = 40.0;
/// Space between nodes of a layer, between layers, and what a passing edge takes of a layer.
const GAP: f64 = 18.0;
const BETWEEN_LAYERS: f64 = 44.0;
const LANE: f64 = 14.0;
/// An edge over more layers runs outside of the drawing, for each layer that it passes costs a place.
const MOST_PASSED: usize = 24;
/// Weight of the wish of an edge's bend to be straight, against that of a node.
const STRAIGHT: f64 = 6.0;

/// A kind of node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// An input.
    Image,
    /// A Func.
    Func,
}

/// A node that is to be placed.
#[derive(Clone, PartialEq, Debug)]
pub struct NodeSpec {
    /// The name.
    pub name: String,
    /// Image or Func.
    pub kind: NodeKind,
    /// True for outputs of the pipeline.
    pub is_output: bool,
    /// True for Funcs that have no loops of their own.
    pub is_inline: bool,
    /// The number of the loop nest that it is computed in; a nest of several nodes has rows of its own, and a box.
    pub nest: Option<usize>,
}

impl NodeSpec {
    /// A node that is no output, has loops and is in no nest of others.
    pub fn new(name: &str, kind: NodeKind) -> NodeSpec {
        NodeSpec { name: name.to_string(), kind, is_output: false, is_inline: false, nest: None }
    }
}

/// An edge from a producer to its consumer, by indices of nodes.
#[derive(Clone, PartialEq, Debug)]
pub struct EdgeSpec {
    /// The producer.
    pub from: usize,
    /// The consumer.
    pub to: usize,
    /// Bytes that the consumer loads.
    pub bytes: Option<u64>,
    /// Loads of each value.
    pub times: Option<f64>,
}

impl EdgeSpec {
    /// An edge without numbers.
    pub fn new(from: usize, to: usize) -> EdgeSpec {
        EdgeSpec { from, to, bytes: None, times: None }
    }
}

/// A placed node: its left upper corner and its size.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// The node as it was given.
    pub spec: NodeSpec,
    /// The left side.
    pub x: f64,
    /// The upper side.
    pub y: f64,
    /// The width.
    pub w: f64,
    /// The height.
    pub h: f64,
}

/// A placed edge.
#[derive(Clone, PartialEq, Debug)]
pub struct Edge {
    /// The edge as it was given.
    pub spec: EdgeSpec,
    /// Points from the producer down to the consumer.
    pub points: Vec<(f64, f64)>,
}

/// A drawing: all in pixels from (0, 0) on.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Graph {
    /// The width of all.
    pub width: f64,
    /// The height of all.
    pub height: f64,
    /// The nodes, in the order in which they were given.
    pub nodes: Vec<Node>,
    /// The edges, likewise, without those that were left out.
    pub edges: Vec<Edge>,
    /// Boxes around the nodes of nests, by the numbers of these.
    pub nests: Vec<Nest>,
}

/// A box around the nodes of a loop nest.
#[derive(Clone, PartialEq, Debug)]
pub struct Nest {
    /// The number of the nest.
    pub number: usize,
    /// The left side.
    pub x: f64,
    /// The upper side.
    pub y: f64,
    /// The width.
    pub w: f64,
    /// The height.
    pub h: f64,
}

impl Graph {
    /// The drawing as the report's data has it.
    pub fn to_json(&self) -> Value {
        let node = |node: &Node| {
            let kind = if node.spec.kind == NodeKind::Image { "image" } else { "func" };
            json!({"name": node.spec.name, "kind": kind, "output": node.spec.is_output, "inline": node.spec.is_inline,
                "x": node.x, "y": node.y, "w": node.w, "h": node.h})
        };
        let edge = |edge: &Edge| {
            let points: Vec<[f64; 2]> = edge.points.iter().map(|(x, y)| [*x, *y]).collect();
            let mut row = json!({"from": edge.spec.from, "to": edge.spec.to, "points": points});
            if let Some(bytes) = edge.spec.bytes {
                row["bytes"] = bytes.into();
            }
            if let Some(times) = edge.spec.times {
                row["times"] = times.into();
            }
            row
        };
        let nest = |nest: &Nest| json!({"x": nest.x, "y": nest.y, "w": nest.w, "h": nest.h});
        json!({"width": self.width, "height": self.height, "nodes": self.nodes.iter().map(node).collect::<Vec<_>>(),
            "edges": self.edges.iter().map(edge).collect::<Vec<_>>(),
            "nests": self.nests.iter().map(nest).collect::<Vec<_>>()})
    }
}

/// Places the nodes in layers, producers above their consumers. Edges from a node to itself and those that name no node
/// are left out; of a cycle, one edge points up.
pub fn layout(nodes: &[NodeSpec], edges: &[EdgeSpec]) -> Graph {
    if nodes.is_empty() {
        return Graph::default();
    }
    let is_drawn = |edge: &&EdgeSpec| edge.from != edge.to && edge.from.max(edge.to) < nodes.len();
    let edges: Vec<EdgeSpec> = edges.iter().filter(is_drawn).cloned().collect();
    let pairs: Vec<(usize, usize)> = edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let nests: Vec<Option<usize>> = nodes.iter().map(|node| node.nest).collect();
    let layer = layers::layers(&nests, &pairs);
    let mut sketch = Sketch::new(nodes, &layer);
    let mut lanes = BTreeMap::new();
    let routes: Vec<Vec<usize>> = pairs.iter().map(|pair| sketch.route(*pair, &layer, &mut lanes)).collect();
    ordering::order(&mut sketch.layers, sketch.width.len(), &sketch.links);
    let mut x = coordinates::centres(&sketch.layers, &sketch.width, &sketch.weight, &sketch.links);
    let left = x.iter().zip(&sketch.width).map(|(x, w)| x - (w - GAP).max(0.0) / 2.0).fold(f64::INFINITY, f64::min);
    x.iter_mut().for_each(|x| *x = rounded(*x - left));
    draw(nodes, edges, &layer, &sketch, &routes, &x)
}

/// Members through which edges pass, by their producer and the layer.
type Lanes = BTreeMap<(usize, usize), usize>;

/// Layers of members: nodes, and the places where edges pass a layer.
struct Sketch {
    layers: Vec<Vec<usize>>,
    /// Pairs of members, from each layer to the next.
    links: Vec<Vec<(usize, usize)>>,
    width: Vec<f64>,
    weight: Vec<f64>,
}

impl Sketch {
    fn new(nodes: &[NodeSpec], layer: &[usize]) -> Sketch {
        let count = layer.iter().max().map_or(0, |last| last + 1);
        let mut layers = vec![Vec::new(); count];
        for (node, at) in layer.iter().enumerate() {
            layers[*at].push(node);
        }
        let width = nodes.iter().map(|node| width_of(&node.name) + GAP).collect();
        Sketch { layers, links: vec![Vec::new(); count.saturating_sub(1)], width, weight: vec![1.0; nodes.len()] }
    }

    /// Adds the members through which an edge passes, and returns them; none for an edge that runs outside. Edges of
    /// one producer share a lane as far as they go together.
    fn route(&mut self, (from, to): (usize, usize), layer: &[usize], lanes: &mut Lanes) -> Vec<usize> {
        let (top, bottom) = (layer[from], layer[to]);
        if bottom <= top || bottom - top > MOST_PASSED {
            return Vec::new();
        }
        let mut members = Vec::new();
        let mut before = from;
        for at in top + 1..bottom {
            let member = *lanes.entry((from, at)).or_insert_with(|| {
                let member = self.width.len();
                self.width.push(LANE);
                self.weight.push(STRAIGHT);
                self.layers[at].push(member);
                self.links[at - 1].push((before, member));
                member
            });
            members.push(member);
            before = member;
        }
        self.links[bottom - 1].push((before, to));
        members
    }
}

/// Draws what is placed: `x` has the centre of each member.
fn draw(
    specs: &[NodeSpec],
    edges: Vec<EdgeSpec>,
    layer: &[usize],
    sketch: &Sketch,
    routes: &[Vec<usize>],
    x: &[f64],
) -> Graph {
    let top = |layer: usize| layer as f64 * (HEIGHT + BETWEEN_LAYERS);
    let mut width: f64 = x.iter().zip(&sketch.width).map(|(x, w)| x + (w - GAP).max(0.0) / 2.0).fold(0.0, f64::max);
    let inner = width;
    let node = |(at, spec): (usize, &NodeSpec)| {
        let w = sketch.width[at] - GAP;
        Node { spec: spec.clone(), x: x[at] - w / 2.0, y: top(layer[at]), w, h: HEIGHT }
    };
    let nodes: Vec<Node> = specs.iter().enumerate().map(node).collect();
    let mut placed = Vec::with_capacity(edges.len());
    for (spec, route) in edges.into_iter().zip(routes) {
        let (from, to) = (layer[spec.from], layer[spec.to]);
        let mut points = vec![(x[spec.from], top(from) + HEIGHT)];
        if route.is_empty() && to > from + 1 {
            let lane = inner + GAP;
            width = lane + GAP;
            points.extend([(lane, top(from + 1)), (lane, top(to) - BETWEEN_LAYERS)]);
        }
        for (at, member) in (from + 1..).zip(route) {
            points.extend([(x[*member], top(at)), (x[*member], top(at) + HEIGHT)]);
        }
        points.push((x[spec.to], top(to)));
        placed.push(Edge { spec, points });
    }
    let height = top(sketch.layers.len().saturating_sub(1)) + HEIGHT;
    let sides = |node: &Node| Some((node.spec.nest?, [node.x, node.y, node.x + node.w, node.y + node.h]));
    let nest =
        |(number, [x, y, right, bottom]): (usize, nests::Sides)| Nest { number, x, y, w: right - x, h: bottom - y };
    let nests = nests::boxes(nodes.iter().filter_map(sides)).into_iter().map(nest).collect();
    Graph { width, height, nodes, edges: placed, nests }
}

fn width_of(name: &str) -> f64 {
    let width = name.chars().count() as f64 * CHARACTER + AROUND_NAME;
    width.clamp(WIDTHS.0, WIDTHS.1).round()
}

fn rounded(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
}
