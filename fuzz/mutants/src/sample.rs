//! A choice of places that is the same every time: every file has some, and every sort of mistake of it.

use crate::place::Place;
use std::collections::BTreeMap;

/// A name of a place that does not depend on what else is chosen.
pub(crate) fn key(file: &str, place: &Place) -> String {
    format!("{file}:{}:{}:{}", place.range.start, place.range.end, hash(&place.wrong) % 1000)
}

/// Chooses `count` places that do not overlap, in the order of each file.
pub(crate) fn choose(all: &BTreeMap<String, (String, Vec<Place>)>, count: usize) -> BTreeMap<String, Vec<Place>> {
    let mut left: BTreeMap<&str, Vec<&Place>> = BTreeMap::new();
    for (name, (_, places)) in all {
        let mut places: Vec<&Place> = places.iter().collect();
        places.sort_by_key(|p| hash(&key(name, p)));
        left.insert(name, places);
    }
    let mut chosen: BTreeMap<String, Vec<Place>> = BTreeMap::new();
    let (mut total, mut sorts) = (0, BTreeMap::new());
    // In turns; a long file has more turns than a short one.
    for turn in 1.. {
        let before = total;
        for (name, places) in &mut left {
            let most = 1 + all[*name].1.len() / 40;
            let own = chosen.entry(name.to_string()).or_default();
            if own.len() >= turn * most {
                continue;
            }
            for _ in 0..most {
                let Some(place) = next(places, own, &sorts).filter(|_| total < count) else { break };
                *sorts.entry(place.operator).or_default() += 1;
                own.push(place);
                total += 1;
            }
        }
        if total == before {
            break;
        }
    }
    chosen.values_mut().for_each(|own| own.sort_by_key(|p| p.range.start));
    chosen
}

/// The next place that overlaps none, of the sorts of mistakes that this file, and then all of them, have fewest of.
fn next(places: &mut Vec<&Place>, own: &[Place], sorts: &BTreeMap<&str, usize>) -> Option<Place> {
    places.retain(|p| own.iter().all(|o| p.range.end <= o.range.start || o.range.end <= p.range.start));
    let often = |p: &&Place| own.iter().filter(|o| o.operator == p.operator).count();
    let best = places.iter().enumerate().min_by_key(|(at, p)| (often(p), sorts.get(p.operator), *at)).map(|(at, _)| at)?;
    Some(places.remove(best).clone())
}

/// FNV-1a with a last mix: close texts are far apart.
fn hash(text: &str) -> u64 {
    let h = text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    (h ^ (h >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}
