//! The innermost part of a definition's loops: what is written out and computed in vectors, as instructions.
//!
//! An element that several of the written out iterations read is loaded once; a value that does not depend on a
//! variable is computed once for all of its iterations; and what stays the same from one iteration of the innermost
//! loop to the next one is computed outside of it.

use crate::dag::{Box, Dag, Source, Work, extent};
use crate::lanes::Lanes;
use crate::state::Shape;
use crate::tuning::{
    GATHERED_LANE, GATHERED_LOADS, LATENCY, MOST_POINTS, MOST_VISITS, MOST_WRITTEN, PROMOTED_BYTES, SCATTERED_LANE,
    SERIAL_LANES, TOO_LONG,
};
use halide_core::ids::FuncId;
use halide_ir::machine::Vector;
use halide_ir::visit::deep;
use std::collections::BTreeMap;

/// Iterations over which a coordinate is taken to go on evenly, and as many times that: beyond the end of any image.
const NEAR: i64 = 64;
const FAR: i64 = 1 << 20;

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
    /// The variables, a bit each, that are constants in all that is written out.
    pub(crate) constants: u32,
    /// True if a loop along vectors can be cut where clamps of coordinates begin, so that most of it has none.
    pub(crate) is_cut: bool,
    /// True if an operation on a vector is one for each lane.
    pub(crate) lanes_apart: bool,
}

/// An element, or a vector of them, that is read.
pub(crate) struct Element {
    pub(crate) source: Source,
    pub(crate) at: Box,
}

/// Answers a question. Vectors that are stored where data say, to be read again, become one element after the other.
pub(crate) fn kernel(dag: &Dag<'_>, q: &Question<'_>, vector: &Vector) -> Kernel {
    let lanes = q.shape.vector.map_or(1, |(_, lanes)| lanes);
    if lanes == 1 || !is_serial(dag, q) {
        return of_vectors(dag, q, vector);
    }
    let shape = Shape { vector: None, ..q.shape.clone() };
    let one = of_vectors(dag, &Question { shape: &shape, ..*q }, vector);
    let all = |of_one: f64| of_one * lanes as f64 * SERIAL_LANES;
    Kernel { loads: all(one.loads), stores: all(one.stores), arithmetic: all(one.arithmetic), ..one }
}

/// Returns true if data decide about what a definition stores, and it reads its own Func.
fn is_serial(dag: &Dag<'_>, q: &Question<'_>) -> bool {
    let point: Box = q.at.iter().map(|v| (*v, *v)).collect();
    let (reads, stored) = dag.own_reads(q.of, &point);
    !reads.is_empty() && stored.iter().any(|span| extent(*span) > 1)
}

fn of_vectors(dag: &Dag<'_>, q: &Question<'_>, vector: &Vector) -> Kernel {
    let (along, lanes) = q.shape.vector.map_or((None, 1), |(var, lanes)| (Some(var), lanes));
    let whole = |bytes: f64| (lanes as f64 * bytes * 8.0 / f64::from(vector.bits)).ceil().max(1.0);
    let regs = &q.shape.regs;
    let rest = q.innermost.map_or(1.0, |(_, _, trip)| trip.max(1.0));
    let mut made = Kernel::default();
    let copies: f64 = regs.iter().map(|r| *r as f64).product();
    for ((mask, bytes), weight) in q.work {
        let has = |var: usize| mask >> var & 1 == 1;
        if *mask != 0 && mask & !q.constants == 0 {
            continue;
        }
        let times: f64 = (0..regs.len()).filter(|var| has(*var)).map(|var| regs[var] as f64).product();
        let wide = match along.is_some_and(has) {
            true if q.lanes_apart => lanes as f64,
            true => whole(f64::from(*bytes)),
            false => 1.0,
        };
        let hoisted = if q.innermost.is_none_or(|(var, ..)| has(var)) { 1.0 } else { rest };
        made.arithmetic += weight * times * wide / hoisted;
        made.written += weight * copies * wide;
    }
    let points = register_points(q.shape, q.at);
    let share = copies / points.len().max(1) as f64;
    add_reads(dag, q, &points, share, &whole, &mut made, vector);
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
    vector: &Vector,
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
    let is_clamped = match along.filter(|_| !q.is_cut) {
        Some(along) => clamped(dag, q, first, along, &here, &mut visits),
        None => Vec::new(),
    };
    let is_hoisted: Vec<bool> = here.iter().zip(&next).map(|(a, b)| a.at == b.at).collect();
    let mut distinct: BTreeMap<(Source, i64), (Lanes, bool)> = BTreeMap::new();
    let mut seen = 0;
    for point in points {
        if visits > MOST_VISITS {
            break;
        }
        seen += 1;
        let all = visited(dag, q, point, &mut visits);
        let others = along.map(|along| {
            let mut at_lane = |lane: i64| visited(dag, q, &moved(point, Some(along), lane), &mut visits);
            (at_lane(lanes / 2), at_lane(lanes - 1))
        });
        for (n, element) in all.into_iter().enumerate() {
            let flat = |at: &Box| flat(dag, element.source, at);
            let is_data = element.at.iter().any(|span| extent(*span) > 1);
            let lane = |all: &[Element]| all.get(n).map_or(0, |of_lane| flat(&of_lane.at));
            let way = match &others {
                _ if is_data || is_clamped.get(n) == Some(&true) => Lanes::Scattered,
                None => Lanes::Same,
                Some((middle, last)) => Lanes::of([flat(&element.at), lane(middle), lane(last)], lanes),
            };
            let hoisted = is_hoisted.get(n).copied().unwrap_or(false) && way != Lanes::Scattered;
            // Elements that data decide about are not the same because their ranges are.
            let place = if is_data { (seen << 20) + n as i64 } else { flat(&element.at) };
            distinct.insert((element.source, place), (way, hoisted));
        }
    }
    let (share, crosses) = (share * points.len() as f64 / (seen.max(1) as f64), vector.bits >= 512);
    let rest = q.innermost.map_or(1.0, |(_, _, trip)| trip.max(1.0));
    let mut windows: BTreeMap<(Source, Lanes, bool, i64), f64> = BTreeMap::new();
    for ((source, place), (way, hoisted)) in distinct {
        let (loads, shuffles) = way.loads(1.0, whole(dag.bytes(source)), lanes as f64, crosses);
        made.written += share * (loads + shuffles);
        *windows.entry((source, way, hoisted, way.window(place))).or_default() += 1.0;
    }
    for ((source, way, hoisted, _), count) in windows {
        let (loads, shuffles) = way.loads(count, whole(dag.bytes(source)), lanes as f64, crosses);
        let is_whole = matches!(way, Lanes::Same | Lanes::Strided(1));
        if is_whole && matches!(source, Source::Func(func) if (q.is_resident)(func)) {
            continue;
        }
        let times = share / if hoisted { rest } else { 1.0 };
        made.loads += times * loads;
        made.arithmetic += times * shuffles;
    }
}

/// Tells of each element that is read whether its coordinate along vectors ends somewhere, as those of clamps do.
fn clamped(
    dag: &Dag<'_>,
    q: &Question<'_>,
    first: &[i64],
    along: usize,
    here: &[Element],
    visits: &mut usize,
) -> Vec<bool> {
    let mut moved_by = |by: i64| {
        let mut point = first.to_vec();
        point[along] += by;
        visited(dag, q, &point, visits)
    };
    let (near, far) = (moved_by(NEAR), moved_by(NEAR * FAR));
    let moved = |element: &Element, to: &Element| {
        flat(dag, element.source, &to.at).wrapping_sub(flat(dag, element.source, &element.at))
    };
    let each = here.iter().zip(near.iter().zip(&far));
    each.map(|(element, (near, far))| moved(element, far) != moved(element, near).wrapping_mul(FAR)).collect()
}

/// The position of an element in memory, where rows are as long as the buffer is wide.
fn flat(dag: &Dag<'_>, source: Source, at: &[(i64, i64)]) -> i64 {
    let whole = dag.whole(source);
    let (mut flat, mut stride) = (0i64, 1i64);
    for (d, span) in at.iter().enumerate() {
        flat = flat.wrapping_add(span.0.wrapping_mul(stride));
        stride = stride.wrapping_mul(whole.get(d).map_or(1, |span| extent(*span).max(1)));
    }
    flat
}

/// The elements that a point reads of what is stored.
fn visited(dag: &Dag<'_>, q: &Question<'_>, point: &[i64], visits: &mut usize) -> Vec<Element> {
    elements(dag, q.of, point, q.is_inlined, visits)
}

/// The elements that a point of a definition reads of what is not substituted in it.
pub(crate) fn elements(
    dag: &Dag<'_>,
    of: (FuncId, usize),
    point: &[i64],
    is_inlined: &dyn Fn(FuncId) -> bool,
    visits: &mut usize,
) -> Vec<Element> {
    let domain: Box = point.iter().map(|v| (*v, *v)).collect();
    let mut found = Vec::new();
    visit(dag, is_inlined, of, &domain, &mut found, visits);
    found
}

fn visit(
    dag: &Dag<'_>,
    is_inlined: &dyn Fn(FuncId) -> bool,
    of: (FuncId, usize),
    domain: &[(i64, i64)],
    found: &mut Vec<Element>,
    visits: &mut usize,
) {
    dag.reads(of, domain, &mut |source, at| {
        *visits += 1;
        match source {
            Source::Func(func) if is_inlined(func) => {
                if *visits <= 2 * MOST_VISITS {
                    let domain = dag.domain((func, 0), &at);
                    deep(|| visit(dag, is_inlined, (func, 0), &domain, found, visits));
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
    let is_data = stored.iter().any(|span| extent(*span) > 1);
    let place = |at: &Box| flat(dag, Source::Func(q.of.0), at);
    let of_lane = |lane: i64| along.map_or(place(&stored), |var| place(&of_point(&moved(var, lane)).1));
    let way = match along {
        _ if is_data => Lanes::Scattered,
        Some(_) => Lanes::of([of_lane(0), of_lane(lanes / 2), of_lane(lanes - 1)], lanes),
        None => Lanes::Same,
    };
    // Rows beyond the end must not be added to: where there may be some, each row asks.
    let known = q.shape.fixed | q.constants;
    let is_whole = (0..q.shape.regs.len()).all(|n| q.shape.regs[n] == 1 || along == Some(n) || known >> n & 1 == 1);
    let mut distinct: Vec<Box> = points.iter().map(|point| of_point(point).1).collect();
    distinct.sort();
    distinct.dedup();
    let places = distinct.len() as f64 * share;
    let registers = whole(dag.funcs[q.of.0].bytes);
    let kept = places * registers;
    let fits = kept * f64::from(vector.bits) / 8.0 <= PROMOTED_BYTES && kept + 4.0 <= f64::from(vector.registers);
    let is_kept = is_whole
        && fits
        && matches!(way, Lanes::Same | Lanes::Strided(1))
        && q.innermost.is_some_and(|(var, step, _)| of_point(&moved(var, step)).1 == stored);
    let rest = q.innermost.map_or(1.0, |(_, _, trip)| trip.max(1.0));
    if is_kept {
        made.loads += kept / rest;
        made.stores += kept / rest;
        let terms = points.len() as f64 / distinct.len().max(1) as f64;
        made.latency = if reads.is_empty() { 0.0 } else { LATENCY * terms };
        return;
    }
    let is_resident = (q.is_resident)(q.of.0);
    if is_resident {
        return;
    }
    if is_data {
        // Each lane finds its own address, and may wait for the store of the one before it.
        let all = points.len() as f64 * share * lanes as f64;
        made.stores += all;
        made.arithmetic += (GATHERED_LANE + SCATTERED_LANE) * all;
        made.loads += all * GATHERED_LOADS * reads.len() as f64;
        return;
    }
    let (mut windows, crosses): (BTreeMap<i64, f64>, bool) = (BTreeMap::new(), vector.bits >= 512);
    distinct.iter().for_each(|at| *windows.entry(way.window(place(at))).or_default() += 1.0);
    for count in windows.into_values() {
        let (stores, shuffles) = way.stores(count, registers, lanes as f64, crosses);
        let (loads, parts) = way.loads(count, registers, lanes as f64, crosses);
        made.stores += stores * share;
        made.arithmetic += (shuffles + parts * reads.len() as f64) * share;
        made.loads += loads * share * reads.len() as f64;
    }
}
