//! A lower bound of the cycles that an iteration of a loop takes, by the throughput of ports alone.
//!
//! Work that may go to some ports only takes at least its cycles divided by the number of these ports, for every set of
//! ports; the front end is one more resource. Neither latencies nor caches nor how well a scheduler fills ports are
//! looked at, so a loop whose iterations wait for each other is slower. Where a loop has branches, an iteration takes
//! one way through it: the cheapest and the dearest way are bounds, each by the resource that limits it.

use super::cores::Core;
use super::flow::{Block, Flow};
use super::loops::{self, Loop};
use super::operation::{Kind, Operation, Reader};
use iced_x86::{Instruction, Mnemonic};
use std::collections::{BTreeMap, BTreeSet};

/// The most sets of ports that are looked at; loops of real code have fewer than 100.
const MOST_SETS: usize = 4096;

/// Cycles of an iteration, and the resource that they are the time of.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The cycles.
    pub cycles: f64,
    /// The resource: `issue`, or ports.
    pub by: String,
}

/// The bounds of a loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// No iteration takes fewer cycles.
    pub least: Limit,
    /// The iteration that runs the most expensive blocks takes no fewer cycles.
    pub most: Limit,
}

/// The work of a block: places at the front end, and cycles by set of ports.
#[derive(Default)]
struct Work {
    issue: f64,
    ports: BTreeMap<u16, f64>,
}

/// The bounds of a loop on a core; `None` if the core does not have its instructions.
pub fn bound(core: &Core, flow: &Flow, l: &Loop) -> Option<Bound> {
    let mut reader = Reader::default();
    let mut work = BTreeMap::new();
    for &block in &l.blocks {
        work.insert(block, block_work(core, &flow.blocks[block], &mut reader)?);
    }
    let mut issue = paths(flow, l, |block| work.get(&block).map_or(0.0, |w| w.issue / core.issue));
    issue.iter_mut().for_each(|cycles| *cycles = round(*cycles));
    let [mut least, mut most] = issue.map(|cycles| Limit { cycles, by: "issue".to_string() });
    for set in sets(&work) {
        let width = f64::from(set.count_ones());
        let within = |w: &Work| w.ports.iter().filter(|(ports, _)| *ports & !set == 0).map(|(_, c)| c).sum::<f64>();
        let [low, high] = paths(flow, l, |block| work.get(&block).map_or(0.0, within) / width).map(round);
        for (limit, cycles) in [(&mut least, low), (&mut most, high)] {
            if cycles > limit.cycles {
                *limit = Limit { cycles, by: core.label(set) };
            }
        }
    }
    Some(Bound { least, most })
}

/// Without the noise of sums in another order.
fn round(cycles: f64) -> f64 {
    (cycles * 1e6).round() / 1e6
}

/// The sets of ports that something is limited to, and the unions of such sets, the smallest first.
fn sets(work: &BTreeMap<usize, Work>) -> Vec<u16> {
    let single: BTreeSet<u16> = work.values().flat_map(|w| w.ports.keys().copied()).collect();
    let mut all = single.clone();
    for set in single {
        if all.len() < MOST_SETS {
            all.extend(all.clone().into_iter().map(|other| other | set));
        }
    }
    let mut all: Vec<u16> = all.into_iter().collect();
    all.sort_by_key(|set| (set.count_ones(), *set));
    all
}

/// The work of a block.
fn block_work(core: &Core, block: &Block, reader: &mut Reader) -> Option<Work> {
    let mut work = Work::default();
    for (i, instruction) in block.instructions.iter().enumerate() {
        let operation = reader.read(instruction);
        if operation.bits > core.bits {
            return None;
        }
        let mut charge = |kind, bits, times: f64| {
            for (ports, cycles) in core.costs(kind, bits) {
                *work.ports.entry(ports).or_default() += cycles * times;
            }
        };
        charge_memory(&operation, &mut charge);
        if block.instructions.get(i + 1).is_some_and(|next| is_fused(instruction, next)) {
            continue;
        }
        charge(operation.kind, operation.bits, 1.0);
        work.issue += 1.0;
    }
    Some(work)
}

/// Charges the operand in memory: a load for each lane of a gather, else one.
fn charge_memory(operation: &Operation, charge: &mut impl FnMut(Kind, usize, f64)) {
    let Some(access) = operation.access else { return };
    let [load, store] = match operation.is_lanes {
        true => [Kind::VectorLoad, Kind::VectorStore],
        false => [Kind::Load, Kind::Store],
    };
    let (bits, times) = (8 * access.bytes, access.lanes as f64);
    if access.reads {
        charge(load, bits, times);
    }
    if access.writes {
        charge(store, bits, times);
    }
}

/// Returns true if a core starts the two as one: a comparison and the jump that asks for it.
fn is_fused(first: &Instruction, second: &Instruction) -> bool {
    use Mnemonic::{Add, And, Cmp, Dec, Inc, Sub, Test};
    second.is_jcc_short_or_near() && matches!(first.mnemonic(), Add | And | Cmp | Dec | Inc | Sub | Test)
}

/// The costs of the cheapest and of the dearest way of an iteration through a loop without loops in it.
fn paths(flow: &Flow, l: &Loop, cost: impl Fn(usize) -> f64) -> [f64; 2] {
    let order = loops::order(flow, l.head, |block| l.blocks.contains(&block));
    let places: BTreeMap<usize, usize> = order.iter().copied().zip(0..).collect();
    let mut ways: Vec<Option<[f64; 2]>> = vec![None; order.len()];
    let join = |old: Option<[f64; 2]>, [low, high]: [f64; 2]| match old {
        None => Some([low, high]),
        Some([least, most]) => Some([least.min(low), most.max(high)]),
    };
    let mut whole = None;
    ways[0] = Some([0.0; 2]);
    for (place, &block) in order.iter().enumerate() {
        let Some(before) = ways[place] else { continue };
        let after = before.map(|c| c + cost(block));
        for next in flow.blocks[block].next.iter().filter_map(|next| places.get(next).copied()) {
            if next == 0 {
                whole = join(whole, after);
            } else if next > place {
                ways[next] = join(ways[next], after);
            }
        }
    }
    whole.unwrap_or_default()
}
