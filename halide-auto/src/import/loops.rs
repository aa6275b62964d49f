//! The loops of a definition as a schedule has them, as those that are priced.

use super::approximation::{Approximation, Part};
use super::digits::{Digit, digits};
use super::subject::Subject;
use crate::state::Shape;
use halide_core::ids::{IdVec, ParamId};
use halide_core::value::Scalar;
use halide_ir::ForKind;
use halide_sched::plan::StageVar as PlanVar;
use halide_sched::plan::{LoopLabel, StagePlan};
use std::collections::{BTreeMap, BTreeSet};

/// The loops of a definition.
pub(super) struct Loops {
    pub(super) shape: Shape,
    /// The loops around what is placed at a label.
    pub(super) depths: BTreeMap<LoopLabel, usize>,
    /// The variables of the loops, outermost first, where loops of a schedule are priced.
    pub(super) vars: Vec<Option<PlanVar>>,
    /// The loops around the iterations of parallel ones, these included.
    pub(super) parallel: BTreeSet<usize>,
    /// The variable of the innermost loop that is neither a vector nor written out.
    pub(super) innermost: Option<PlanVar>,
}

/// A loop over a digit that is neither a vector nor written out.
#[derive(Clone, Copy)]
struct Serial {
    digit: Digit,
    /// The loop that it is all of, or the innermost part of.
    of: Option<PlanVar>,
    is_parallel: bool,
}

/// Reads the loops of a stage over a domain. `is_used` tells labels at which something is placed.
pub(super) fn loops(
    stage: &StagePlan,
    subject: &Subject<'_>,
    domain: &[(i64, i64)],
    params: &IdVec<ParamId, Scalar>,
    is_used: &dyn Fn(LoopLabel) -> bool,
    notes: &mut Vec<Approximation>,
) -> Option<Loops> {
    let vars = subject.vars;
    let of_vars = digits(stage, vars, domain, params);
    let mut shape = Shape {
        vector: None,
        order: Vec::new(),
        tile: vec![0; vars.len()],
        regs: vec![1; vars.len()],
        fixed: 0,
        shared: 0,
    };
    let mut serial: Vec<Serial> = Vec::new();
    // The serial loops around each loop.
    let mut around: Vec<(PlanVar, usize)> = Vec::new();
    let (mut is_unrolled, mut innermost) = (false, None);
    for of in &stage.loops {
        let own = &of_vars[of.var];
        match of.kind {
            ForKind::Serial | ForKind::Parallel => {
                if is_unrolled && own.iter().any(|d| d.count > 1) {
                    notes.push(subject.note(Part::InsideUnrolled));
                }
                innermost = Some(of.var);
                let last = own.len().saturating_sub(1);
                let is_parallel = of.kind == ForKind::Parallel;
                let of = |n: usize| Some(of.var).filter(|_| n == last);
                serial.extend(own.iter().enumerate().map(|(n, d)| Serial { digit: *d, of: of(n), is_parallel }));
            }
            ForKind::Vectorized => {
                for digit in own.iter().rev().filter(|d| d.count > 1) {
                    if shape.vector.is_none() {
                        shape.vector = Some((digit.var, digit.count));
                        if digit.step > 1 {
                            notes.push(subject.note(Part::LanesApart));
                        }
                    } else {
                        shape.regs[digit.var] *= digit.count;
                    }
                }
            }
            ForKind::Unrolled => {
                own.iter().for_each(|d| shape.regs[d.var] *= d.count);
                is_unrolled |= own.iter().any(|d| d.count > 1);
            }
            ForKind::GpuBlocks | ForKind::GpuThreads | ForKind::GpuLanes => return None,
        }
        around.push((of.var, serial.len()));
    }
    let is_placed = |s: &Serial| s.of.is_some_and(|var| is_used(stage.labels[var]));
    let kept = few(&mut serial, &is_placed, subject, notes);
    let places = arrange(&mut shape, &serial, &kept, subject, notes);
    let depth = |loops: usize| (0..loops).filter_map(|n| places[n]).map(|at| at + 1).max().unwrap_or(0);
    let depths = around.iter().map(|(var, loops)| (stage.labels[*var], depth(*loops))).collect();
    let is_parallel = |n: &usize| serial[*n].is_parallel;
    let parallel: BTreeSet<usize> =
        (0..serial.len()).filter(is_parallel).filter_map(|n| places[n]).map(|at| at + 1).collect();
    shape.shared = parallel.iter().filter(|depth| **depth <= 32).fold(0, |all, depth| all | 1 << (depth - 1));
    let mut own = vec![None; shape.depth()];
    for (s, place) in serial.iter().zip(&places) {
        if let Some(slot) = place.and_then(|at| own.get_mut(at)) {
            *slot = s.of;
        }
    }
    Some(Loops { shape, depths, vars: own, parallel, innermost })
}

/// The loops that are priced: of neighbours over one variable between which nothing is placed, one; at most two over
/// each variable; and those of one iteration only where something is placed in them. For each that is not, nothing.
fn few(
    serial: &mut [Serial],
    is_placed: &dyn Fn(&Serial) -> bool,
    subject: &Subject<'_>,
    notes: &mut Vec<Approximation>,
) -> Vec<bool> {
    let mut kept: Vec<bool> = serial.iter().map(|s| s.digit.count > 1 || is_placed(s)).collect();
    let next = |kept: &[bool], n: usize| (n + 1..kept.len()).find(|m| kept[*m]);
    for n in 0..serial.len() {
        let follows = |m: &usize| serial[*m].digit.var == serial[n].digit.var;
        if let Some(inner) = next(&kept, n).filter(follows).filter(|_| kept[n] && !is_placed(&serial[n])) {
            kept[n] = false;
            serial[inner].is_parallel |= serial[n].is_parallel;
        }
    }
    for n in 0..subject.vars.len() {
        let own: Vec<usize> = (0..serial.len()).filter(|m| kept[*m] && serial[*m].digit.var == n).collect();
        if own.len() > 2 {
            notes.push(subject.note(Part::Tiles));
            own.iter().rev().skip(2).for_each(|m| kept[*m] = false);
        }
    }
    kept
}

/// Puts loops where prices have them: those over tiles around all others. Returns the place of each that is kept.
fn arrange(
    shape: &mut Shape,
    serial: &[Serial],
    kept: &[bool],
    subject: &Subject<'_>,
    notes: &mut Vec<Approximation>,
) -> Vec<Option<usize>> {
    let own = |var: usize| (0..serial.len()).filter(move |n| kept[*n] && serial[*n].digit.var == var);
    let vars = 0..shape.tile.len();
    // The loops over tiles, and those over points, outermost first.
    let is_outer = |n: &usize| kept[*n] && own(serial[*n].digit.var).next_back() != Some(*n);
    let last_tile = (0..serial.len()).rev().find(is_outer);
    let is_alone = |n: &usize| kept[*n] && own(serial[*n].digit.var).count() == 1;
    let is_tile = |n: &usize| is_outer(n) || is_alone(n) && last_tile.is_some_and(|last| *n < last);
    let tiles: Vec<usize> = (0..serial.len()).filter(is_tile).collect();
    let points: Vec<usize> = (0..serial.len()).filter(|n| kept[*n] && !is_tile(n)).collect();
    tiles.iter().for_each(|n| shape.tile[serial[*n].digit.var] = serial[*n].digit.step);
    let mut order: Vec<usize> = points.iter().map(|n| serial[*n].digit.var).collect();
    // A loop that is outside of those over tiles has one iteration in a tile.
    for (at, n) in tiles.iter().enumerate().rev().filter(|(_, n)| is_alone(n)) {
        let inner =
            tiles[at + 1..].iter().map(|m| serial[*m].digit.var).find_map(|v| order.iter().position(|o| *o == v));
        order.insert(inner.unwrap_or(0), serial[*n].digit.var);
    }
    let of_tiles: Vec<usize> = tiles.iter().map(|n| serial[*n].digit.var).collect();
    let tiled: Vec<usize> = order.iter().copied().filter(|var| shape.tile[*var] > 0).collect();
    if tiled != of_tiles {
        notes.push(subject.note(Part::TileOrder));
    }
    // What is all written out has a loop of one iteration inside of all others.
    order.extend(vars.filter(|var| own(*var).next().is_none()));
    let place = |n: usize| {
        let is = |v: &usize| *v == serial[n].digit.var;
        match is_tile(&n) {
            true => tiled.iter().position(is),
            false => order.iter().position(is).map(|at| tiled.len() + at),
        }
    };
    let places = (0..serial.len()).map(|n| place(n).filter(|_| kept[n])).collect();
    shape.order = order.into_iter().rev().collect();
    places
}
