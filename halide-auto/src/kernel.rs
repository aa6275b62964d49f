//! The innermost part of a definition's loops: what is written out and computed in vectors, as instructions.
//!
//! An element that several of the written out iterations read is loaded once; a value that does not depend on a
//! variable is computed once for all of its iterations; and what stays the same from one iteration of the innermost
//! loop to the next one is computed outside of it.

use crate::dag::{Box, Dag, Source, Work, extent};
use crate::state::Shape;
use crate::tuning::{
    GATHERED_LANE, GATHERED_LOADS, LATENCY, LONGEST_SHUFFLE, MOST_POINTS, MOST_VISITS, MOST_WRITTEN, PROMOTED_BYTES,
    SCATTERED_LANE, TOO_LONG,
};
use halide_core::ids::FuncId;
use halide_ir::machine::Vector;
use halide_ir::visit::deep;
use std::collections::BTreeMap;

/// The instructions of an iteration of the innermost loop.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kernel {
    pub(crate) loads: f64,
    pub(crate) stores: f64,
    /// Arithmetic, conversions and shuffles.
    pub(crate) arithmetic: f64,
    /// Cycles that a sum waits for the one before it.
    pub(crate) latency: f64,
    /// Instructions that are written out before any is found to be another one's.
    pub(crate) written: f64,
}

impl Kernel {
    /// Cycles of an iteration.
    pub(crate) fn cycles(&self, vector: &Vector) -> f64 {
        let ports = (self.loads / vector.loads).max(self.stores / vector.stores);
        let arithmetic = self.arithmetic / (2.0 * vector.fmas);
        let issue = (self.loads + self.stores + self.arithmetic) / vector.issue;
        let cycles = ports.max(arithmetic).max(issue).max(self.latency);
        if self.written > MOST_WRITTEN { cycles * TOO_LONG } else { cycles }
    }
}

/// A question for a kernel.
pub(crate) struct Question<'q> {
    pub(crate) of: (FuncId, usize),
    pub(crate) shape: &'q Shape,
    /// Values of variables of an iteration in the middle, the first one of each.
    pub(crate) at: &'q [i64],
    /// The variable of the innermost loop that has more than one iteration, with its step and its iterations.
    pub(crate) innermost: Option<(usize, i64, f64)>,
    pub(crate) is_inlined: &'q dyn Fn(FuncId) -> bool,
    /// Funcs whose values are in registers.
    pub(crate) is_resident: &'q dyn Fn(FuncId) -> bool,
    /// The operations of the definition with what is substituted in it.
    pub(crate) work: &'q Work,
}

/// An element, or a vector of them, that is read.
struct Element {
    source: Source,
    at: Box,
}

/// The way in which lanes of a vector lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lanes {
    /// All are one element.
    Same,
    /// Neighbours at a distance, in elements.
    Strided(i64),
    /// Fewer elements than lanes.
    Repeated,
    /// Anywhere.
    Scattered,
}

/// Answers a question.
pub(crate) fn kernel(dag: &Dag<'_>, q: &Question<'_>, vector: &Vector) -> Kernel {
    let (along, lanes) = q.shape.vector.map_or((None, 1), |(var, lanes)| (Some(var), lanes));
    let whole = |bytes: f64| (lanes as f64 * bytes * 8.0 / f64::from(vector.bits)).ceil().max(1.0);
    let regs = &q.shape.regs;
    let rest = q.innermost.map_or(1.0, |(_, _, trip)| trip.max(1.0));
    let mut made = Kernel::default();
    let copies: f64 = regs.iter().map(|r| *r as f64).product();
    for ((mask, bytes), weight) in q.work {
        let has = |var: usize| mask >> var & 1 == 1;
        let times: f64 = (0..regs.len()).filter(|var| has(*var)).map(|var| regs[var] as f64).product();
        let wide = if along.is_some_and(has) { whole(f64::from(*bytes)) } else { 1.0 };
        let hoisted = if q.innermost.is_none_or(|(var, ..)| has(var)) { 1.0 } else { rest };
        made.arithmetic += weight * times * wide / hoisted;
        made.written += weight * copies * wide;
    }
    let points = register_points(q.shape, q.at);
    let share = copies / points.len().max(1) as f64;
    add_reads(dag, q, &points, share, &whole, &mut made);
    add_own(dag, q, &points, share, &whole, &mut made, vector);
    made
}

/// The first lanes of what is written out; of many, as many as are enough to see what they share.
fn register_points(shape: &Shape, at: &[i64]) -> Vec<Vec<i64>> {
    let mut points = vec![at.to_vec()];
    for (var, &regs) in shape.regs.iter().enumerate() {
        let lanes = shape.vector.filter(|(v, _)| *v == var).map_or(1, |(_, lanes)| lanes);
        let most = (MOST_POINTS / points.len().max(1)).max(1) as i64;
        let next = |point: &Vec<i64>, r: i64| {
            let mut point = point.clone();
            point[var] += r * lanes;
            point
        };
        points = points.iter().flat_map(|point| (0..regs.min(most)).map(move |r| next(point, r))).collect();
    }
    points
}

fn add_reads(
    dag: &Dag<'_>,
    q: &Question<'_>,
    points: &[Vec<i64>],
    share: f64,
    whole: &dyn Fn(f64) -> f64,
    made: &mut Kernel,
) {
    let (along, lanes) = q.shape.vector.map_or((None, 1), |(var, lanes)| (Some(var), lanes));
    let Some(first) = points.first() else { return };
    let moved = |point: &[i64], var: Option<usize>, by: i64| {
        let mut point = point.to_vec();
        var.into_iter().for_each(|var| point[var] += by);
        point
    };
    let mut visits = 0;
    let here = visited(dag, q, first, &mut visits);
    let next = match q.innermost {
        Some((var, step, _)) => visited(dag, q, &moved(first, Some(var), step), &mut visits),
        None => Vec::new(),
    };
    let is_hoisted: Vec<bool> = here.iter().zip(&next).map(|(a, b)| a.at == b.at).collect();
    let mut distinct: BTreeMap<(Source, Box), (Lanes, bool)> = BTreeMap::new();
    let mut seen = 0;
    for point in points {
        if visits > MOST_VISITS {
            break;
        }
        seen += 1;
        let last = visited(dag, q, &moved(point, along, lanes - 1), &mut visits);
        let all = visited(dag, q, point, &mut visits);
        for (n, (element, last)) in all.into_iter().zip(last).enumerate() {
            let way = if along.is_none() { Lanes::Same } else { lanes_of(&element.at, &last.at, lanes) };
            let way = if element.at.iter().any(|span| extent(*span) > 1) { Lanes::Scattered } else { way };
            let hoisted = is_hoisted.get(n).copied().unwrap_or(false) && way != Lanes::Scattered;
            // Elements that data decide about are not the same because their ranges are.
            let key = if way == Lanes::Scattered { Box::from_slice(&[(seen, n as i64)]) } else { element.at };
            distinct.insert((element.source, key), (way, hoisted));
        }
    }
    let share = share * points.len() as f64 / (seen.max(1) as f64);
    let rest = q.innermost.map_or(1.0, |(_, _, trip)| trip.max(1.0));
    for ((source, _), (way, hoisted)) in distinct {
        let (loads, shuffles) = cost(way, whole(dag.bytes(source)), lanes as f64);
        made.written += share * (loads + shuffles);
        if matches!(source, Source::Func(func) if (q.is_resident)(func)) {
            continue;
        }
        let times = share / if hoisted { rest } else { 1.0 };
        made.loads += times * loads;
        made.arithmetic += times * shuffles;
    }
}

/// Loads and shuffles of a vector.
fn cost(way: Lanes, registers: f64, lanes: f64) -> (f64, f64) {
    match way {
        Lanes::Same => (1.0, 0.0),
        Lanes::Strided(1) => (registers, 0.0),
        Lanes::Strided(by) if by.abs() <= LONGEST_SHUFFLE => {
            let by = by.unsigned_abs() as f64;
            (registers * by, registers * by)
        }
        Lanes::Repeated => (registers, registers),
        Lanes::Strided(_) | Lanes::Scattered => (lanes * GATHERED_LOADS, lanes * GATHERED_LANE),
    }
}

fn lanes_of(first: &[(i64, i64)], last: &[(i64, i64)], lanes: i64) -> Lanes {
    let by = |d: usize| last[d].0 - first[d].0;
    let moves: Vec<usize> = (0..first.len().min(last.len())).filter(|d| by(*d) != 0).collect();
    match moves[..] {
        [] => Lanes::Same,
        [0] if lanes > 1 && by(0) % (lanes - 1) == 0 => Lanes::Strided(by(0) / (lanes - 1)),
        [0] if by(0).abs() < lanes => Lanes::Repeated,
        _ => Lanes::Scattered,
    }
}

/// The elements that a point reads of what is stored.
fn visited(dag: &Dag<'_>, q: &Question<'_>, point: &[i64], visits: &mut usize) -> Vec<Element> {
    let domain: Box = point.iter().map(|v| (*v, *v)).collect();
    let mut found = Vec::new();
    visit(dag, q, q.of, &domain, &mut found, visits);
    found
}

fn visit(
    dag: &Dag<'_>,
    q: &Question<'_>,
    of: (FuncId, usize),
    domain: &[(i64, i64)],
    found: &mut Vec<Element>,
    visits: &mut usize,
) {
    dag.reads(of, domain, &mut |source, at| {
        *visits += 1;
        match source {
            Source::Func(func) if (q.is_inlined)(func) => {
                if *visits <= 2 * MOST_VISITS {
                    let domain = dag.domain((func, 0), &at);
                    deep(|| visit(dag, q, (func, 0), &domain, found, visits));
                }
            }
            _ => found.push(Element { source, at }),
        }
    });
}

/// Adds what the definition does to its own Func. What an update adds to stays in registers while the innermost loop
/// goes on to other terms.
fn add_own(
    dag: &Dag<'_>,
    q: &Question<'_>,
    points: &[Vec<i64>],
    share: f64,
    whole: &dyn Fn(f64) -> f64,
    made: &mut Kernel,
    vector: &Vector,
) {
    let (along, lanes) = q.shape.vector.map_or((None, 1), |(var, lanes)| (Some(var), lanes));
    let Some(first) = points.first() else { return };
    let of_point = |point: &[i64]| dag.own_reads(q.of, &point.iter().map(|v| (*v, *v)).collect::<Box>());
    let moved = |var: usize, by: i64| {
        let mut point = first.clone();
        point[var] += by;
        point
    };
    let (reads, stored) = of_point(first);
    let way = match along {
        Some(var) => lanes_of(&stored, &of_point(&moved(var, lanes - 1)).1, lanes),
        None => Lanes::Same,
    };
    let is_data = stored.iter().any(|span| extent(*span) > 1);
    // Rows beyond the end must not be added to: where there may be some, each row asks.
    let is_whole =
        (0..q.shape.regs.len()).all(|n| q.shape.regs[n] == 1 || along == Some(n) || q.shape.fixed >> n & 1 == 1);
    let kept = points.len() as f64 * share * whole(dag.funcs[q.of.0].bytes);
    let fits = kept * f64::from(vector.bits) / 8.0 <= PROMOTED_BYTES && kept + 4.0 <= f64::from(vector.registers);
    let is_kept = is_whole
        && fits
        && !is_data
        && q.innermost.is_some_and(|(var, step, _)| of_point(&moved(var, step)).1 == stored);
    let rest = q.innermost.map_or(1.0, |(_, _, trip)| trip.max(1.0));
    let mut distinct: Vec<Box> = points.iter().map(|point| of_point(point).1).collect();
    distinct.sort();
    distinct.dedup();
    let places = distinct.len() as f64 * share;
    let registers = whole(dag.funcs[q.of.0].bytes);
    let (loads, shuffles) = cost(if is_data { Lanes::Scattered } else { way }, registers, lanes as f64);
    if is_kept {
        made.loads += loads * places / rest;
        made.stores += loads * places / rest;
        made.latency = if reads.is_empty() { 0.0 } else { LATENCY };
        return;
    }
    let is_resident = (q.is_resident)(q.of.0);
    if !is_resident {
        let times = if is_data { points.len() as f64 * share } else { places };
        made.stores += loads * times;
        made.arithmetic += shuffles * times;
        if is_data {
            // Each lane finds its own address, and may wait for the store of the one before it.
            made.arithmetic += SCATTERED_LANE * lanes as f64 * times;
        }
        made.loads += loads * times * reads.len() as f64;
    }
}
