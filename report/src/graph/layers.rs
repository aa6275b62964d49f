//! Layers of a graph: longest paths, with a bound on the nodes in a layer.

/// The most nodes in one layer: more would make a drawing that has to be scrolled sideways.
const MOST_IN_A_LAYER: usize = 10;

/// Returns the layer of each node: each edge leads to a later layer. Edges that would close a cycle are ignored.
pub(super) fn layers(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let order = topological(count, edges);
    let mut into: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); count];
    let rank = ranks(&order);
    for &(from, to) in edges.iter().filter(|(from, to)| rank[*from] < rank[*to]) {
        into[to].push(from);
        out[from].push(to);
    }
    let mut layer = vec![0; count];
    let mut filled: Vec<usize> = Vec::new();
    // Sources wait for the layers of their readers.
    for &node in order.iter().filter(|node| !into[**node].is_empty()) {
        let first = into[node].iter().map(|from| layer[*from] + 1).max().unwrap_or(0);
        layer[node] = free_from(&mut filled, first);
    }
    place_sources(&order, &into, &out, &mut layer, filled);
    compact(&mut layer);
    layer
}

/// Puts each source into the last layer before its readers that has room, and above all others where none has.
fn place_sources(order: &[usize], into: &[Vec<usize>], out: &[Vec<usize>], layer: &mut [usize], filled: Vec<usize>) {
    let sources: Vec<usize> = order.iter().copied().filter(|node| into[*node].is_empty()).collect();
    // Room for all of them above the first layer; empty layers go away later.
    let above = sources.len() / MOST_IN_A_LAYER + 1;
    let mut filled: Vec<usize> = std::iter::repeat_n(0, above).chain(filled).collect();
    for node in order {
        layer[*node] += above;
    }
    for node in sources {
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
