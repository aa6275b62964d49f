//! Coordinates across layers: each member near its neighbours, none over another.

/// The sweeps down and up.
const SWEEPS: usize = 12;

/// Returns the centre of each member. By member: `width` with the space around it; `weight`, its pull on neighbours.
pub(super) fn centres(layers: &[Vec<usize>], width: &[f64], weight: &[f64], links: &[Vec<(usize, usize)>]) -> Vec<f64> {
    let mut centre = vec![0.0; width.len()];
    for layer in layers {
        let offsets = offsets(layer, width);
        let middle = offsets.last().copied().unwrap_or(0.0) / 2.0;
        for (member, offset) in layer.iter().zip(&offsets) {
            centre[*member] = offset - middle;
        }
    }
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); width.len()];
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); width.len()];
    for &(from, to) in links.iter().flatten() {
        above[to].push(from);
        below[from].push(to);
    }
    for sweep in 0..SWEEPS {
        let is_last = sweep + 2 >= SWEEPS;
        for step in 0..layers.len() {
            let is_down = sweep % 2 == 0;
            let at = if is_down { step } else { layers.len() - 1 - step };
            let wishes: Vec<f64> = layers[at]
                .iter()
                .map(|member| {
                    let (first, second) = (&above[*member], &below[*member]);
                    let (near, far) = if is_down { (first, second) } else { (second, first) };
                    match (near.is_empty(), is_last) {
                        // The last sweeps balance what is above and below.
                        (_, true) => mean(near.iter().chain(far), &centre, weight),
                        (false, _) => mean(near.iter(), &centre, weight),
                        _ => None,
                    }
                    .unwrap_or(centre[*member])
                })
                .collect();
            let weights: Vec<f64> = layers[at].iter().map(|member| weight[*member]).collect();
            let placed = separated(&wishes, &weights, &offsets(&layers[at], width));
            for (member, x) in layers[at].iter().zip(placed) {
                centre[*member] = x;
            }
        }
    }
    centre
}

/// The least distances of the members of a layer from its first.
fn offsets(layer: &[usize], width: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let mut all = Vec::with_capacity(layer.len());
    for (at, member) in layer.iter().enumerate() {
        if let Some(before) = at.checked_sub(1).map(|before| layer[before]) {
            sum += (width[before] + width[*member]) / 2.0;
        }
        all.push(sum);
    }
    all
}

fn mean<'m>(of: impl Iterator<Item = &'m usize>, centre: &[f64], weight: &[f64]) -> Option<f64> {
    let (mut sum, mut all) = (0.0, 0.0);
    for &member in of {
        sum += centre[member] * weight[member];
        all += weight[member];
    }
    (all > 0.0).then(|| sum / all)
}

/// Moves members as little as possible (by weighted squares), so that each is at least its offset from the first: pools
/// of neighbours that press against each other share one place.
fn separated(wishes: &[f64], weights: &[f64], offsets: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for ((wish, weight), offset) in wishes.iter().zip(weights).zip(offsets) {
        let mut pool = (wish - offset, *weight, 1);
        while let Some(before) = pools.last().filter(|before| before.0 > pool.0).copied() {
            pools.pop();
            let all = before.1 + pool.1;
            pool = ((before.0 * before.1 + pool.0 * pool.1) / all, all, before.2 + pool.2);
        }
        pools.push(pool);
    }
    let places = pools.into_iter().flat_map(|(x, _, many)| std::iter::repeat_n(x, many));
    places.zip(offsets).map(|(x, offset)| x + offset).collect()
}
