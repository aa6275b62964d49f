//! Exact numbers of points of a loop nest, without a run.
//!
//! The body of a loop is counted once for a whole stretch of iterations, with the loop's variable as a range: where
//! every condition and extent has one value for all of them, they cost the same. Other stretches are halved. So boxes
//! are multiplied out, tails cost a few steps more, and of a triangle the iterations of its outer loops are counted.

use super::formula::Env;
use super::range::Range;
use super::tree::{Loop, Node};
use crate::tuning::EXACT_STEPS;
use halide_ir::Program;
use halide_ir::visit::deep;
use std::collections::BTreeSet;

/// A walk through a tree.
pub(super) struct Exact<'q> {
    program: &'q Program,
    /// Descriptions of what is not counted.
    unknown: BTreeSet<String>,
    /// The steps that may still be taken.
    left: u64,
}

/// The points of each definition of a statement, in their order; `None` where the iterations that the variables of the
/// loops around stand for differ.
type Points = Option<Vec<u64>>;

impl<'q> Exact<'q> {
    /// Counts the points of each definition of a tree. Also returns descriptions of what is not counted: it depends on
    /// data, or its iterations differ in too many ways.
    pub(super) fn points(program: &'q Program, node: &Node, env: &mut Env<'_>) -> (Vec<u64>, Vec<String>) {
        let mut walk = Exact { program, unknown: BTreeSet::new(), left: EXACT_STEPS };
        let points = walk.node(node, env, true).unwrap_or_else(|| none(node));
        (points, walk.unknown.into_iter().collect())
    }

    /// Counts a statement. `known` says that every variable of a loop around that matters has one value.
    fn node(&mut self, node: &Node, env: &mut Env<'_>, known: bool) -> Points {
        deep(|| match node {
            Node::Block(all) => {
                let mut points = Vec::new();
                for n in all {
                    points.extend(self.node(n, env, known)?);
                }
                Some(points)
            }
            Node::Let { bindings, body, .. } => {
                for (symbol, value) in bindings {
                    env.symbols[*symbol] = value.range(env);
                }
                self.node(body, env, known)
            }
            Node::If { cond, then, otherwise, .. } => {
                let mut arms = [none(then), none(otherwise)];
                match cond.value(env) {
                    Some(0) => arms[1] = self.node(otherwise, env, known)?,
                    Some(_) => arms[0] = self.node(then, env, known)?,
                    None => self.depends(known, || "a condition depends on data".to_string())?,
                }
                Some(arms.concat())
            }
            Node::For(l) => self.for_loop(l, env, known),
            Node::Realize(r) => self.node(&r.body, env, known),
            Node::Provide(p) => match p.mask.as_ref().map(|mask| mask.value(env)) {
                None => Some(vec![1]),
                Some(Some(stores)) => Some(vec![u64::from(stores != 0)]),
                Some(None) => {
                    let name = self.program.func_name(p.func);
                    self.depends(known, || format!("stores to `{name}` depend on data"))?;
                    Some(vec![0])
                }
            },
        })
    }

    fn for_loop(&mut self, l: &Loop, env: &mut Env<'_>, known: bool) -> Points {
        let name = &self.program.loops[l.id].name;
        let (first, extent) = (l.min.range(env), l.extent.value(env));
        let Some(extent) = extent.map(|extent| extent.max(0)) else {
            self.depends(known, || format!("the bounds of `{name}` depend on data"))?;
            return Some(none(&l.body));
        };
        if extent == 0 {
            return Some(none(&l.body));
        }
        if l.differing.is_none() {
            env.symbols[l.var] = first.value().map_or(Range::Any, Range::point);
            return Some(times(self.node(&l.body, env, known)?, extent));
        }
        match first.ends() {
            Some((first, last)) if first == last => {
                self.stretch(l, env, (first, first.saturating_add(extent - 1)), known)
            }
            Some((first, last)) => {
                env.symbols[l.var] = Range::Int(first, last.saturating_add(extent - 1));
                Some(times(self.node(&l.body, env, false)?, extent))
            }
            None => {
                self.depends(known, || format!("the bounds of `{name}` depend on data"))?;
                Some(none(&l.body))
            }
        }
    }

    /// Counts iterations of a loop, from its first value to its last one.
    fn stretch(&mut self, l: &Loop, env: &mut Env<'_>, (first, last): (i64, i64), known: bool) -> Points {
        let Some(left) = self.left.checked_sub(1) else {
            let name = &self.program.loops[l.id].name;
            self.unknown.insert(format!("the iterations of `{name}` differ in more than {EXACT_STEPS} ways"));
            return Some(none(&l.body));
        };
        self.left = left;
        env.symbols[l.var] = Range::Int(first, last);
        let is_one = first == last;
        match self.node(&l.body, env, known && is_one) {
            Some(points) => Some(times(points, last - first + 1)),
            None if is_one => None,
            None => {
                let half = first + (last - first) / 2;
                let before = self.stretch(l, env, (first, half), known)?;
                let after = self.stretch(l, env, (half + 1, last), known)?;
                Some(before.into_iter().zip(after).map(|(a, b)| a.saturating_add(b)).collect())
            }
        }
    }

    /// Notes what depends on data, if it is not the range of a loop's variable that hides its value.
    fn depends(&mut self, known: bool, what: impl FnOnce() -> String) -> Option<()> {
        known.then(|| {
            self.unknown.insert(what());
        })
    }
}

fn times(points: Vec<u64>, iterations: i64) -> Vec<u64> {
    points.into_iter().map(|n| n.saturating_mul(iterations.unsigned_abs())).collect()
}

/// The points of a statement that does not run.
fn none(node: &Node) -> Vec<u64> {
    vec![0; node.definitions()]
}
