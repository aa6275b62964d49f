//! Steps in memory: how far apart the elements are that neighbouring iterations of a loop access.

use super::formula::Env;
use super::range::Range;
use super::tree::{Access, Loop, Node, Provide, Realize, Tree};
use crate::lower::storage::split_storage::Splits;
use crate::plan::StoragePart;
use halide_core::ids::FuncId;
use halide_ir::visit::deep;
use halide_ir::{BufId, LoopId, Program};
use std::collections::BTreeMap;

/// An element that a definition stores or reads at each of its points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessCost {
    /// The name of the Func or image.
    pub name: String,
    /// True if it is stored to.
    pub is_store: bool,
    /// The bytes of an element.
    pub bytes: i64,
    /// The loops of the definition around it that have more than one iteration, outermost first, each with the bytes
    /// between the elements of neighbouring iterations in the middle; `None` where data decide.
    pub steps: Vec<(LoopId, Option<i64>)>,
}

/// Returns the accesses of each definition, in the order in which definitions are written. `given` tells the strides of
/// inputs and outputs in elements.
pub(super) fn accesses(
    (program, splits): (&Program, &Splits),
    tree: &Tree,
    env: &mut Env<'_>,
    given: &dyn Fn(BufId) -> Option<Vec<i64>>,
) -> Vec<Vec<AccessCost>> {
    let mut walk = Walk { program, splits, given, strides: BTreeMap::new(), found: Vec::new() };
    walk.node(&tree.body, env, Steps::Taken);
    walk.found.into_iter().map(|found| found.costs).collect()
}

/// The steps of loops: taken, or not while the addresses of one iteration of a loop around are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Steps {
    Taken,
    Left,
}

/// The accesses of a definition.
struct Found {
    func: FuncId,
    costs: Vec<AccessCost>,
    /// The address of each in bytes; `None` where data decide.
    addresses: Vec<Option<i64>>,
}

struct Walk<'w> {
    program: &'w Program,
    splits: &'w Splits,
    given: &'w dyn Fn(BufId) -> Option<Vec<i64>>,
    /// The dimensions of what is allocated, or parts of them, each with its stride in elements.
    strides: BTreeMap<BufId, Vec<(usize, StoragePart, i64)>>,
    found: Vec<Found>,
}

impl Walk<'_> {
    /// Adds the accesses of a statement, with every loop in its middle iteration.
    fn node(&mut self, node: &Node, env: &mut Env<'_>, steps: Steps) {
        deep(|| match node {
            Node::Block(all) => all.iter().for_each(|n| self.node(n, env, steps)),
            Node::Let { bindings, body, .. } => {
                for (symbol, value) in bindings {
                    env.symbols[*symbol] = value.range(env);
                }
                self.node(body, env, steps);
            }
            Node::If { then, otherwise, .. } => {
                self.node(then, env, steps);
                self.node(otherwise, env, steps);
            }
            Node::For(l) => self.for_loop(l, env, steps),
            Node::Realize(r) => {
                self.lay_out(r, env);
                self.node(&r.body, env, steps);
            }
            Node::Provide(p) => self.provide(p, env),
        });
    }

    fn for_loop(&mut self, l: &Loop, env: &mut Env<'_>, steps: Steps) {
        let (first, extent) = (l.min.value(env), l.extent.value(env).unwrap_or(1));
        let middle = first.map(|first| self.middle(first, extent));
        let own = self.program.loops[l.id].definition.map(|(func, _)| func);
        let begin = self.found.len();
        let mut before = Vec::new();
        if let (Some(middle), true, Steps::Taken) = (middle, extent > 1, steps) {
            env.symbols[l.var] = Range::point(middle - 1);
            self.node(&l.body, env, Steps::Left);
            before = self.found.split_off(begin);
        }
        env.symbols[l.var] = middle.map_or(Range::Any, Range::point);
        self.node(&l.body, env, steps);
        for (found, before) in self.found[begin..].iter_mut().zip(before).filter(|(found, _)| Some(found.func) == own) {
            let addresses = found.addresses.iter().zip(before.addresses);
            for (cost, (now, before)) in found.costs.iter_mut().zip(addresses) {
                let step = now.zip(before).and_then(|(now, before)| now.checked_sub(before));
                cost.steps.insert(0, (l.id, step));
            }
        }
    }

    /// An iteration in the middle of a loop. Most neighbours lie within blocks of storage, where there are any, so one
    /// is taken that is in the middle of four.
    fn middle(&self, first: i64, extent: i64) -> i64 {
        let middle = first.saturating_add(extent / 2);
        let within = (middle & !3) + 2;
        let is_there = within > first && within < first.saturating_add(extent);
        if self.splits.is_empty() || !is_there { middle } else { within }
    }

    /// Notes the strides of an allocation.
    fn lay_out(&mut self, r: &Realize, env: &mut Env<'_>) {
        let extents = r.bounds.iter().zip(&r.fold).map(|((_, extent), fold)| {
            let known = extent.value(env).unwrap_or(1);
            fold.unwrap_or(known).max(1)
        });
        let extents: Vec<i64> = extents.collect();
        for buf in &r.bufs {
            let mut next: i64 = 1;
            let mut add = |dim: usize, part, extent: i64, align: i64| {
                let stride = next;
                next = next.saturating_mul(extent.saturating_add(align - 1) / align * align);
                (dim, part, stride)
            };
            let strides = match self.splits.get(&r.func) {
                Some(storage) => storage
                    .iter()
                    .map(|s| match s.part {
                        StoragePart::Whole => add(s.dim, s.part, extents[s.dim], s.align),
                        // As many blocks as there are if one begins at the first coordinate.
                        StoragePart::Outer(n) => add(s.dim, s.part, extents[s.dim].saturating_add(n - 1) / n, s.align),
                        StoragePart::Inner(n) => add(s.dim, s.part, n, s.align),
                    })
                    .collect(),
                None => {
                    let info = &self.program.buffers[*buf];
                    let align = |dim: usize| info.align.get(dim).copied().unwrap_or(1).max(1);
                    info.order.iter().map(|&d| add(d, StoragePart::Whole, extents[d], align(d))).collect()
                }
            };
            self.strides.insert(*buf, strides);
        }
    }

    fn provide(&mut self, p: &Provide, env: &mut Env<'_>) {
        let mut found = Found { func: p.func, costs: Vec::new(), addresses: Vec::new() };
        let all = p.stores.iter().map(|access| (access, true)).chain(p.reads.iter().map(|access| (access, false)));
        for (access, is_store) in all {
            let info = &self.program.buffers[access.buf];
            let bytes = info.elem.bytes() as i64;
            found.costs.push(AccessCost { name: info.name.clone(), is_store, bytes, steps: Vec::new() });
            found.addresses.push(self.address(access, bytes, env));
        }
        self.found.push(found);
    }

    fn address(&self, access: &Access, bytes: i64, env: &mut Env<'_>) -> Option<i64> {
        let strides = match self.strides.get(&access.buf) {
            Some(strides) => strides.clone(),
            None => {
                let given = (self.given)(access.buf)?.into_iter().enumerate();
                given.map(|(dim, stride)| (dim, StoragePart::Whole, stride)).collect()
            }
        };
        let mut address: i64 = 0;
        for (dim, part, stride) in strides {
            let coordinate = access.args.get(dim)?.value(env)?;
            let along = match part {
                StoragePart::Whole => coordinate,
                StoragePart::Outer(n) => coordinate.div_euclid(n),
                StoragePart::Inner(n) => coordinate.rem_euclid(n),
            };
            address = address.checked_add(along.checked_mul(stride)?.checked_mul(bytes)?)?;
        }
        Some(address)
    }
}
