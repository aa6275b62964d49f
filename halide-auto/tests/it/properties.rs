//! Rules that hold for the choices of random nests.

use crate::support::{Random, random_nest, server};
use halide_auto::tss::{Block, Fidelity, FitRule, LoopKind, Nest, Tiles, TssError, TssOptions, reuse, select};

/// True of the loops in the middle whose tiles are whole lines.
fn has_whole_lines(nest: &Nest, options: &TssOptions, index: usize) -> bool {
    let is_along_rows = nest.arrays.iter().any(|array| array.step(index).is_some_and(|step| step != 0));
    index > 0 && index + 1 < nest.loops.len() && (is_along_rows || options.fidelity == Fidelity::Paper)
}

/// The tasks that tiles of the smallest sizes make.
fn most_tasks(nest: &Nest, options: &TssOptions, in_line: u64) -> u64 {
    let last = nest.loops.len() - 1;
    let tasks = |(index, l): (usize, &halide_auto::tss::Loop)| {
        let smallest = match index {
            _ if has_whole_lines(nest, options, index) || index == last => in_line.min(l.trips),
            _ => 1,
        };
        if l.kind == LoopKind::Parallel { l.trips.div_ceil(smallest) } else { 1 }
    };
    nest.loops.iter().enumerate().map(tasks).product()
}

fn check(nest: &Nest, threads: u32, options: &TssOptions, tiles: &Tiles) {
    let (machine, last) = (server(), nest.loops.len() - 1);
    let in_line = 64 / nest.widest();
    let text = format!("{nest:?} {threads} {options:?} {tiles:?}");
    let found = reuse(nest, &tiles.sizes);
    assert!(found.distance_bytes < machine.caches[tiles.level].usable(threads), "{text}");
    let behind = tiles.level + usize::from(options.fit == FitRule::NextLevel);
    let usable = machine.caches.get(behind).map_or(u64::MAX, |c| c.usable(threads));
    assert!(found.working_bytes <= usable, "{text}");
    let is_alone = threads == 1 && options.fidelity == Fidelity::Corrected;
    let least = if is_alone { 1 } else { 2 * u64::from(threads) + 1 };
    assert!(tiles.tasks >= most_tasks(nest, options, in_line).min(least), "{text}");
    for (index, (l, size)) in nest.loops.iter().zip(&tiles.sizes).enumerate() {
        assert!((1..=l.trips).contains(size), "{text}");
        let is_whole_lines = size.is_multiple_of(in_line) || *size == l.trips;
        assert!(is_whole_lines || index != last && !has_whole_lines(nest, options, index), "{text}");
    }
    assert!(tiles.cycles.is_finite() && tiles.cycles > 0.0, "{text}");
    assert!((0.0..=1.0).contains(&tiles.efficiency), "{text}");
    assert!(tiles.ties.contains(&tiles.sizes[last]), "{text}");
    assert_eq!(tiles.rd.len(), nest.arrays.len());
    assert_eq!(tiles.rd.iter().flatten().max(), tiles.dominating.map(|d| tiles.rd[d].as_ref().unwrap()), "{text}");
}

#[test]
fn choices_fit_are_enough_tasks_and_whole_lines() {
    let mut random = Random::new(3);
    let mut chosen = 0;
    for _ in 0..400 {
        let nest = random_nest(&mut random);
        let threads = random.one_of(&[1, 2, 8]);
        let options = TssOptions {
            fidelity: random.one_of(&[Fidelity::Paper, Fidelity::Corrected]),
            fit: random.one_of(&[FitRule::ThisLevel, FitRule::NextLevel]),
            tilings: 500,
            ..TssOptions::default()
        };
        match select(&nest, &server(), threads, &options) {
            Ok(tiles) => {
                check(&nest, threads, &options, &tiles);
                chosen += 1;
            }
            Err(error) => {
                assert!(matches!(error, TssError::NothingFits { .. }), "{nest:?}: {error}");
                let is_paper = options.fidelity == Fidelity::Paper;
                assert!(is_paper, "a nest without tiles: {nest:?} {error}");
            }
        }
    }
    assert!(chosen > 380, "only {chosen} nests have tiles");
}

#[test]
fn choices_with_blocks_are_whole_blocks() {
    let mut random = Random::new(7);
    for _ in 0..300 {
        let nest = random_nest(&mut random);
        let last = nest.loops.len() - 1;
        let along = (last > 0).then(|| random.from(0, last as u64 - 1) as usize);
        let block = Block { along, rows: random.from(1, 8), vectors: random.from(1, 8) };
        let options = TssOptions { block: Some(block), lanes: Some(4), tilings: 300, ..TssOptions::default() };
        let threads = random.one_of(&[1, 2]);
        let tiles = select(&nest, &server(), threads, &options).unwrap_or_else(|e| panic!("{nest:?} {block:?}: {e}"));
        let text = format!("{nest:?} {block:?} {tiles:?}");
        assert!(tiles.cycles.is_finite() && tiles.cycles > 0.0, "{text}");
        let is_whole = |index: usize, part: u64| {
            let (size, trips) = (tiles.sizes[index], nest.loops[index].trips);
            size.is_multiple_of(part) || size == trips
        };
        assert!(is_whole(last, 4 * block.vectors), "{text}");
        let is_reduction = |index: usize| nest.loops[index].kind == LoopKind::Reduction;
        assert!(along.is_none_or(|along| is_reduction(along) || is_whole(along, block.rows)), "{text}");
    }
}

/// Nests and blocks that do not go together.
#[test]
fn blocks_are_along_a_loop_outside_of_the_last_one() {
    let nest = random_nest(&mut Random::new(1));
    let last = nest.loops.len() - 1;
    for along in [last, last + 1, usize::MAX] {
        let options =
            TssOptions { block: Some(Block { along: Some(along), rows: 4, vectors: 1 }), ..TssOptions::default() };
        let text = select(&nest, &server(), 1, &options).unwrap_err().to_string();
        let loops = nest.loops.len();
        let expected = format!(
            "a block is along a loop that is none outside of the last one of {loops}; name one that is, or none"
        );
        assert_eq!(text, expected);
    }
}
