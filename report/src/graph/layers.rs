//! Layers of a graph: longest paths, with a bound on the nodes in a layer. A loop nest of several nodes has layers of
//! its own.

use std::collections::BTreeMap;

/// The most nodes in one layer: more would make a drawing that has to be scrolled sideways.
const MOST_IN_A_LAYER: usize = 10;

/// Returns the layer of each node: each edge leads to a later layer. Edges that would close a cycle are ignored. Nodes
/// of one nest, by its number, have their layers to themselves, one after the other.
pub(super) fn layers(nests: &[Option<usize>], edges: &[(usize, usize)]) -> Vec<usize> {
    let (units, unit) = units(nests);
    let between: Vec<(usize, usize)> =
        edges.iter().map(|(from, to)| (unit[*from], unit[*to])).filter(|(from, to)| from != to).collect();
    let inner: Vec<Vec<usize>> = units.iter().map(|members| inner_layers(members, edges)).collect();
    let deep: Vec<usize> = inner.iter().map(|layers| layers.iter().max().map_or(1, |last| last + 1)).collect();
    let is_nest = |at: usize| units[at].len() > 1;
    let order = topological(units.len(), &between);
    let mut into: Vec<Vec<usize>> = vec![Vec::new(); units.len()];
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); units.len()];
    let rank = ranks(&order);
    for &(from, to) in between.iter().filter(|(from, to)| rank[*from] < rank[*to]) {
        into[to].push(from);
        out[from].push(to);
    }
    let mut layer = vec![0; units.len()];
    let mut filled: Vec<usize> = Vec::new();
    // Sources wait for the layers of their readers.
    let (sources, others): (Vec<usize>, Vec<usize>) =
        order.iter().copied().partition(|at| into[*at].is_empty() && !is_nest(*at));
    for at in others {
        let first = into[at].iter().map(|from| layer[*from] + deep[*from]).max().unwrap_or(0);
        layer[at] = if is_nest(at) { take_layers(&mut filled, first, deep[at]) } else { free_from(&mut filled, first) };
    }
    place_sources(&sources, &out, &mut layer, filled);
    let mut layer: Vec<usize> = unit.iter().map(|at| layer[*at]).collect();
    for (members, inner) in units.iter().zip(&inner) {
        members.iter().zip(inner).for_each(|(node, below)| layer[*node] += below);
    }
    compact(&mut layer);
    layer
}

/// The units that have places of their own, each with its nodes: nests, and nodes outside of these. Also returns the
/// unit of each node.
fn units(nests: &[Option<usize>]) -> (Vec<Vec<usize>>, Vec<usize>) {
    let mut known: BTreeMap<usize, usize> = BTreeMap::new();
    let (mut units, mut unit) = (Vec::new(), Vec::new());
    for (node, nest) in nests.iter().enumerate() {
        let next = units.len();
        let at = nest.map_or(next, |nest| *known.entry(nest).or_insert(next));
        if at == next {
            units.push(Vec::new());
        }
        units[at].push(node);
        unit.push(at);
    }
    (units, unit)
}

/// The layers of the nodes of a unit, as if there were no others.
fn inner_layers(members: &[usize], edges: &[(usize, usize)]) -> Vec<usize> {
    if members.len() == 1 {
        return vec![0];
    }
    let place = |node: &usize| members.binary_search(node).ok();
    let within: Vec<(usize, usize)> = edges.iter().filter_map(|(from, to)| Some((place(from)?, place(to)?))).collect();
    layers(&vec![None; members.len()], &within)
}

/// Returns the first of some layers from `first` on that are empty, and takes all of their places.
fn take_layers(filled: &mut Vec<usize>, first: usize, count: usize) -> usize {
    let is_empty = |at: usize| (at..at + count).all(|at| filled.get(at).is_none_or(|n| *n == 0));
    let begin = (first..).find(|at| is_empty(*at)).unwrap_or(first);
    filled.resize(filled.len().max(begin + count), 0);
    filled[begin..begin + count].fill(MOST_IN_A_LAYER);
    begin
}

/// Puts each source into the last layer before its readers that has room, and above all others where none has.
fn place_sources(sources: &[usize], out: &[Vec<usize>], layer: &mut [usize], filled: Vec<usize>) {
    // Room for all of them above the first layer; empty layers go away later.
    let above = sources.len() / MOST_IN_A_LAYER + 1;
    let mut filled: Vec<usize> = std::iter::repeat_n(0, above).chain(filled).collect();
    layer.iter_mut().for_each(|layer| *layer += above);
    for &node in sources {
        let reader = out[node].iter().map(|to| layer[*to]).min().unwrap_or(above + 1);
        let last = reader.saturating_sub(1);
        let free = (0..=last).rev().find(|at| filled.get(*at).is_none_or(|n| *n < MOST_IN_A_LAYER)).unwrap_or(0);
        if filled.len() <= free {
            filled.resize(free + 1, 0);
        }
        filled[free] += 1;
        layer[node] = free;
    }
}

/// Returns the first layer from `first` on that has room, and takes a place in it.
fn free_from(filled: &mut Vec<usize>, first: usize) -> usize {
    let free = (first..).find(|at| filled.get(*at).is_none_or(|n| *n < MOST_IN_A_LAYER)).unwrap_or(first);
    if filled.len() <= free {
        filled.resize(free + 1, 0);
    }
    filled[free] += 1;
    free
}

/// Numbers the layers that have nodes from 0 on.
fn compact(layer: &mut [usize]) {
    let mut used: Vec<usize> = layer.to_vec();
    used.sort_unstable();
    used.dedup();
    for at in layer.iter_mut() {
        *at = used.binary_search(at).unwrap_or(0);
    }
}

/// Returns the place of each node in an order.
pub(super) fn ranks(order: &[usize]) -> Vec<usize> {
    let mut rank = vec![0; order.len()];
    for (at, node) in order.iter().enumerate() {
        rank[*node] = at;
    }
    rank
}

/// Returns all nodes, each after those that lead to it; where a cycle leaves none, the first that remains goes next.
pub(super) fn topological(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut open = vec![0usize; count];
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &(from, to) in edges {
        open[to] += 1;
        out[from].push(to);
    }
    let mut is_done = vec![false; count];
    let mut ready: std::collections::VecDeque<usize> = (0..count).filter(|node| open[*node] == 0).collect();
    let (mut order, mut next) = (Vec::with_capacity(count), 0);
    while order.len() < count {
        let node = match ready.pop_front() {
            Some(node) => node,
            None => {
                while is_done[next] {
                    next += 1;
                }
                next
            }
        };
        if std::mem::replace(&mut is_done[node], true) {
            continue;
        }
        order.push(node);
        for &to in &out[node] {
            open[to] = open[to].saturating_sub(1);
            if open[to] == 0 && !is_done[to] {
                ready.push_back(to);
            }
        }
    }
    order
}
