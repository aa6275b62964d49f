//! Tiles as directives.

use super::contraction::{Contraction, Operand};
use super::home::Home;
use super::memory::{Copied, Order};
use super::needle::Needle;
use crate::dag::pieces;
use crate::emit::{Definition, Fresh};
use crate::tuning::{TASKS_PER_THREAD, WRITTEN_OUT};
use halide_sched::schedule::{Amount, FloatMode, Schedule, StageSchedule};

/// A choice that becomes directives.
pub(super) struct Chosen<'c> {
    pub(super) contraction: &'c Contraction,
    pub(super) needle: &'c Needle,
    pub(super) sizes: &'c [i64],
    pub(super) order: &'c Order,
    pub(super) home: &'c Home,
    /// The number of threads that share loops.
    pub(super) threads: u32,
    /// True if it makes the tiles of the Func that reads it; false where another stage does.
    pub(super) leads: bool,
    /// True if it is alone in these tiles. Registers do not hold several sums until they are read, so that nothing is
    /// gained by writing out what reads them.
    pub(super) is_alone: bool,
}

/// The parts of a loop: over tiles, and in a tile.
struct Parts {
    over: Option<String>,
    within: Option<String>,
}

/// The parts of loops of these names: those of which a tile has several iterations are split.
fn parts(names: &[Option<String>], sizes: &[i64], taken: &[String]) -> Vec<Parts> {
    let mut fresh = Fresh::new(taken);
    let part = |(name, size): (&Option<String>, &i64)| match name {
        Some(name) if *size > 1 => Parts { over: Some(fresh.name(name, "o")), within: Some(fresh.name(name, "i")) },
        name => Parts { over: name.clone(), within: None },
    };
    names.iter().zip(sizes).map(part).collect()
}

impl Chosen<'_> {
    /// Adds the directives, and returns the name of the innermost loop around tiles, in which their terms are added.
    pub(super) fn emit(&self, schedule: &mut Schedule) -> Option<String> {
        let contraction = self.contraction;
        let names: Vec<Option<String>> = contraction.loops.iter().map(|l| Some(l.name.clone())).collect();
        let taken: Vec<String> = names.iter().flatten().cloned().collect();
        let mut cut = self.sizes.to_vec();
        if let Some((of, length)) = self.order.block {
            cut[of] = length;
        }
        let own = parts(&names, &cut, &taken);
        let (func, number) = (&contraction.of.0, contraction.of.1.saturating_sub(1));
        let (host, loops): (Definition, Vec<String>) = match self.home {
            Home::Own { .. } => {
                let loops = self.order.loops.iter().filter_map(|of| own[*of].over.clone()).collect();
                (Definition(func.clone(), contraction.of.1), loops)
            }
            Home::Reader { func: reader, vars, taken, operations } => {
                // Its loops are those of the contraction's dimensions, by other names.
                let theirs: Vec<Option<String>> =
                    contraction.loops.iter().map(|l| l.dim.and_then(|dim| vars.get(dim)).cloned()).collect();
                let parts = parts(&theirs, self.sizes, taken);
                let loops: Vec<String> = self.order.loops.iter().filter_map(|of| parts[*of].over.clone()).collect();
                if self.leads {
                    let stage = split(schedule.func(reader.as_str()), &theirs, &parts, self.sizes);
                    let within = self.within(&parts);
                    let stage = reordered(stage, within.iter().cloned().chain(loops.clone()));
                    let stage = match self.is_alone && *operations <= WRITTEN_OUT {
                        true => self.written_out(stage, &parts),
                        false => self.in_vectors(stage, &parts),
                    };
                    self.tasks(stage, &loops);
                }
                let f = schedule.func(func.as_str());
                let f = match loops.first() {
                    Some(innermost) => f.compute_at(reader.as_str(), innermost.as_str()),
                    None => f.compute_root(),
                };
                self.whole(f);
                (Definition(reader.clone(), 0), loops)
            }
        };
        if let Home::Own { is_output } = self.home {
            let f = schedule.func(func.as_str());
            // An output is at the root without a word.
            let f = if *is_output { f } else { f.compute_root() };
            drop(f.vectorize(contraction.loops[self.needle.vector].name.as_str(), Amount::Natural));
        }
        let stage = schedule.func(func.as_str()).update(number);
        let stage = match self.needle.float {
            FloatMode::Strict => stage,
            mode => stage.float(mode),
        };
        let stage = split(stage, &names, &own, &cut);
        let sums = |of: &usize| contraction.loops[*of].dim.is_none();
        let is_block = |of: usize| self.order.block.is_some_and(|(block, _)| block == of);
        let serial = |of: usize| if is_block(of) { own[of].within.clone() } else { own[of].over.clone() };
        let reductions: Vec<String> = (0..own.len()).rev().filter(sums).filter_map(serial).collect();
        let innermost = reductions.first().cloned();
        let within: Vec<String> = self.within(&own);
        let over = self.order.loops.iter().filter_map(|of| own[*of].over.clone());
        let stage = reordered(stage, within.into_iter().chain(reductions).chain(over));
        let axes = self.needle.mapping.axes.iter().zip(&self.needle.axes).filter_map(|((axis, _), of)| {
            own[*of].within.clone().or_else(|| own[*of].over.clone()).map(|name| (axis.clone(), name))
        });
        let axes: Vec<(String, String)> = axes.collect();
        let stage = self.repeated(&own).fold(stage, |stage, name| stage.unroll_all(name));
        let stage = stage.use_(self.needle.mapping.instruction.as_str(), axes);
        if matches!(self.home, Home::Own { .. }) {
            self.tasks(stage, &loops);
        }
        for copy in &self.order.copies {
            self.copy(schedule, copy, &host, &loops);
        }
        innermost
    }

    /// The loops in a tile, the innermost one first: axes that are inside of lanes, vectors, and repetitions.
    fn within(&self, parts: &[Parts]) -> Vec<String> {
        let place = |of: &usize| match *of {
            of if self.needle.is_inside(of) => 0,
            of if of == self.needle.vector => 1,
            _ => 2,
        };
        let mut all: Vec<usize> =
            (0..parts.len()).filter(|of| parts[*of].within.is_some() && self.is_tiled(*of)).collect();
        all.sort_by_key(place);
        all.into_iter().filter_map(|of| parts[of].within.clone()).collect()
    }

    /// Returns true for a loop of which a tile has several iterations.
    fn is_tiled(&self, of: usize) -> bool {
        self.sizes[of] > 1
    }

    /// The loops in a tile that are no axes.
    fn repeated<'p>(&'p self, parts: &'p [Parts]) -> impl Iterator<Item = String> + 'p {
        let is_axis = |of: usize| self.needle.axes.contains(&of);
        (0..parts.len()).filter(move |of| !is_axis(*of) && self.is_tiled(*of)).filter_map(|of| parts[of].within.clone())
    }

    /// Runs a tile of the result in vectors.
    fn in_vectors<'s>(&self, stage: StageSchedule<'s>, parts: &[Parts]) -> StageSchedule<'s> {
        let lanes = Amount::Const(self.needle.lanes);
        let vector = parts[self.needle.vector].within.iter();
        vector.fold(stage, |stage, name| stage.vectorize(name.as_str(), lanes.clone()))
    }

    /// Runs the loops of a tile of the result in vectors, and writes out the rest.
    fn written_out<'s>(&self, stage: StageSchedule<'s>, parts: &[Parts]) -> StageSchedule<'s> {
        let has_several = self.sizes[self.needle.vector] > self.needle.lanes;
        let vectors = parts[self.needle.vector].within.iter().filter(|_| has_several);
        let stage = self.in_vectors(stage, parts);
        let stage = vectors.fold(stage, |stage, name| stage.unroll_all(name.as_str()));
        let is_result = |of: &usize| self.contraction.loops[*of].dim.is_some() && *of != self.needle.vector;
        let rest = (0..parts.len()).filter(is_result).filter_map(|of| parts[of].within.clone());
        rest.fold(stage, |stage, name| stage.unroll_all(name))
    }

    /// Runs the first definition of the contraction's Func in vectors, in each tile.
    fn whole(&self, stage: StageSchedule<'_>) {
        let contraction = self.contraction;
        let name = contraction.loops[self.needle.vector].name.as_str();
        let stage = stage.vectorize(name, Amount::Const(self.needle.lanes));
        let has_several = self.sizes[self.needle.vector] > self.needle.lanes;
        let stage = if has_several { stage.unroll_all(name) } else { stage };
        let rest =
            |of: &usize| *of != self.needle.vector && contraction.loops[*of].dim.is_some() && self.sizes[*of] > 1;
        let rest = (0..contraction.loops.len()).filter(rest).map(|of| contraction.loops[of].name.clone());
        drop(rest.fold(stage, |stage, name| stage.unroll_all(name)));
    }

    /// Lets threads share the outermost loops of the result, as many as make several tasks for each.
    fn tasks(&self, stage: StageSchedule<'_>, loops: &[String]) {
        let (mut stage, mut tasks) = (stage, 1);
        let named = self.order.loops.iter().zip(loops).rev();
        for (of, name) in named.filter(|(of, _)| self.contraction.loops[**of].dim.is_some()) {
            if self.threads <= 1 || tasks >= TASKS_PER_THREAD * i64::from(self.threads) {
                break;
            }
            tasks *= pieces(self.contraction.loops[*of].trips, self.sizes[*of]);
            stage = stage.parallel(name.as_str());
        }
    }

    /// Copies an operand for the tiles that read it.
    fn copy(&self, schedule: &mut Schedule, copy: &Copied, host: &Definition, loops: &[String]) {
        let operand = &self.contraction.operands[copy.operand];
        let f = schedule.func(operand.name.as_str()).in_([self.contraction.of.0.as_str()]);
        let f = match loops.get(copy.inside) {
            Some(level) => f.compute_at(host.clone(), level.as_str()),
            None => f.compute_root(),
        };
        let dims = &operand.dims;
        let dense = operand.strides.iter().position(|stride| *stride == 1).unwrap_or(0);
        match self.interleaved(operand, copy) {
            Some((size, lanes)) => interleave(f, dims, (copy.dense, size), (lanes, self.needle.lanes)),
            None => {
                let mut order = dims.clone();
                let first = order.remove(copy.dense);
                order.insert(0, first);
                let f = if copy.dense == 0 { f } else { f.reorder_storage(order) };
                drop(f.vectorize(dims[dense].as_str(), Amount::Natural));
            }
        }
    }

    /// The elements that a lane reads behind each other, and the dimension of lanes, where these are two.
    fn interleaved(&self, operand: &Operand, copy: &Copied) -> Option<(i64, usize)> {
        let is_inner = |of: &usize| self.needle.is_inside(*of) && operand.dim(*of) == Some(copy.dense);
        let inner = (0..self.sizes.len()).find(is_inner)?;
        let lanes = operand.dim(self.needle.vector)?;
        (self.contraction.loops[inner].trips > self.sizes[inner]).then_some((self.sizes[inner], lanes))
    }
}

/// Stores `size` elements of dimension `dense` for each place of dimension `lanes` behind each other, and copies as
/// many of them at once.
fn interleave(f: StageSchedule<'_>, dims: &[String], (dense, size): (usize, i64), (lanes, count): (usize, i64)) {
    let (first, lane) = (dims[dense].as_str(), dims[lanes].as_str());
    let (outer, inner) = (format!("{first}o"), format!("{first}i"));
    let rest = |dim: &&String| **dim != dims[dense] && **dim != dims[lanes];
    let rest: Vec<&str> = dims.iter().filter(rest).map(String::as_str).collect();
    let order = || [inner.as_str(), lane, outer.as_str()].into_iter().chain(rest.iter().copied());
    let f = f.split_storage(first, outer.as_str(), inner.as_str(), size).reorder_storage(order().collect::<Vec<_>>());
    let f = f.split(first, outer.as_str(), inner.as_str(), size).reorder(order().collect::<Vec<_>>());
    drop(f.vectorize(lane, Amount::Const(count)).unroll_all(inner.as_str()));
}

/// Splits the loops that tiles have several iterations of.
fn split<'s>(stage: StageSchedule<'s>, names: &[Option<String>], parts: &[Parts], sizes: &[i64]) -> StageSchedule<'s> {
    let all = names.iter().zip(parts).zip(sizes);
    all.fold(stage, |stage, ((name, part), size)| match (name, &part.over, &part.within) {
        (Some(name), Some(over), Some(within)) => stage.split(name.as_str(), over.as_str(), within.as_str(), *size),
        _ => stage,
    })
}

fn reordered(stage: StageSchedule<'_>, order: impl Iterator<Item = String>) -> StageSchedule<'_> {
    let order: Vec<String> = order.collect();
    if order.len() > 1 { stage.reorder(order) } else { stage }
}
