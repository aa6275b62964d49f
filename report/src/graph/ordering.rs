//! Orders within layers, with few crossings: sweeps by barycentres, of which the best is kept.

/// The sweeps down and up. More change little.
const SWEEPS: usize = 10;

/// Orders the members of each layer. `links` leads from each layer to the next: pairs of members.
pub(super) fn order(layers: &mut [Vec<usize>], count: usize, links: &[Vec<(usize, usize)>]) {
    let mut best = layers.to_vec();
    let mut least = crossings(layers, count, links);
    for sweep in 0..SWEEPS {
        if least == 0 {
            break;
        }
        let is_down = sweep % 2 == 0;
        for step in 1..layers.len() {
            let at = if is_down { step } else { layers.len() - 1 - step };
            let (other, between) = if is_down { (at - 1, at - 1) } else { (at + 1, at) };
            let place = places(&layers[other], count);
            let mut pull = vec![(0.0, 0usize); count];
            for &(from, to) in &links[between] {
                let (here, there) = if is_down { (to, from) } else { (from, to) };
                pull[here].0 += place[there] as f64;
                pull[here].1 += 1;
            }
            sort(&mut layers[at], &pull);
        }
        let now = crossings(layers, count, links);
        if now < least {
            (least, best) = (now, layers.to_vec());
        }
    }
    layers.clone_from_slice(&best);
}

/// Sorts a layer by the mean places of neighbours; members without neighbours keep their places.
fn sort(layer: &mut [usize], pull: &[(f64, usize)]) {
    let mut keyed: Vec<(f64, usize, usize)> = layer
        .iter()
        .enumerate()
        .map(|(at, member)| match pull[*member] {
            (_, 0) => (at as f64, at, *member),
            (sum, many) => (sum / many as f64, at, *member),
        })
        .collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for (slot, (_, _, member)) in layer.iter_mut().zip(keyed) {
        *slot = member;
    }
}

fn places(layer: &[usize], count: usize) -> Vec<usize> {
    let mut place = vec![0; count];
    for (at, member) in layer.iter().enumerate() {
        place[*member] = at;
    }
    place
}

/// Counts the pairs of links that cross, by a tree of counts over places.
pub(super) fn crossings(layers: &[Vec<usize>], count: usize, links: &[Vec<(usize, usize)>]) -> usize {
    let mut sum = 0;
    for (at, between) in links.iter().enumerate() {
        let (above, below) = (places(&layers[at], count), places(&layers[at + 1], count));
        let mut ends: Vec<(usize, usize)> = between.iter().map(|(from, to)| (above[*from], below[*to])).collect();
        ends.sort_unstable();
        let mut tree = vec![0usize; layers[at + 1].len() + 1];
        for (seen, (_, to)) in ends.iter().enumerate() {
            let mut not_beyond = 0;
            let mut i = to + 1;
            while i > 0 {
                not_beyond += tree[i];
                i &= i - 1;
            }
            sum += seen - not_beyond;
            let mut i = to + 1;
            while i < tree.len() {
                tree[i] += 1;
                i += i & i.wrapping_neg();
            }
        }
    }
    sum
}
