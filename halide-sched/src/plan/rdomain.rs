//! The reduction loops of an update while directives before `rfactor` split, fuse and rename them: the algebra of their
//! variables as expressions of the algorithm.

use super::affine::constant;
use super::facts::SaidNames;
use super::graph::Graph;
use halide_core::ids::{ExprId, RDomId};
use halide_core::ops::BinOp;
use halide_core::pipeline::Kind;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;

/// The variables of a domain and what they were replaced by.
pub(super) struct Domain {
    /// The first ones are those of the domain.
    variables: Vec<Variable>,
    /// The number of variables of the domain.
    dims: usize,
    /// The variables that are loops, innermost first.
    loops: Vec<usize>,
}

struct Variable {
    name: String,
    made: Made,
    replaced: Option<Replaced>,
}

/// The origin of a variable.
#[derive(Clone, Copy)]
enum Made {
    Root,
    /// The outer part of another one in chunks of this size.
    Outer(usize, i64),
    /// The inner part.
    Inner(i64),
    Fused {
        inner: usize,
        outer: usize,
    },
}

/// By what a variable is replaced.
#[derive(Clone, Copy)]
enum Replaced {
    Split {
        outer: usize,
        inner: usize,
        factor: i64,
    },
    /// It is the inner or outer part of the fused variable.
    Fused {
        fused: usize,
        inner: usize,
        is_inner: bool,
    },
}

/// A loop.
pub(super) struct Leaf {
    pub(super) name: String,
    pub(super) min: ExprId,
    pub(super) extent: ExprId,
}

/// A variable of a domain in chunks.
pub(super) struct Chunks {
    /// Its number.
    pub(super) root: usize,
    /// The size of a chunk.
    pub(super) factor: i64,
    /// The name of the loop over a chunk.
    pub(super) inner: String,
    /// The name of the loop over the chunks.
    pub(super) outer: String,
}

impl Domain {
    pub(super) fn new(names: &SaidNames) -> Domain {
        let root = |name: &String| Variable { name: name.clone(), made: Made::Root, replaced: None };
        let dims = names.reduction.len();
        Domain { variables: names.reduction.iter().map(root).collect(), dims, loops: (0..dims).collect() }
    }

    /// The names of the loops, innermost first.
    pub(super) fn names(&self) -> Vec<&str> {
        self.loops.iter().map(|&v| self.variables[v].name.as_str()).collect()
    }

    /// The number of the loop called `name`, from the innermost.
    pub(super) fn leaf(&self, name: &str) -> Option<usize> {
        self.loops.iter().position(|&v| self.variables[v].name == name)
    }

    /// The chunks of a variable of the domain that loop number `leaf` counts, if it does; all else is as it was.
    pub(super) fn chunks(&self, leaf: usize) -> Option<Chunks> {
        let outer = self.loops[leaf];
        let Made::Outer(root, factor) = self.variables[outer].made else { return None };
        let Some(Replaced::Split { inner, .. }) = self.variables[root].replaced else { return None };
        let is_all = root < self.dims && self.loops.contains(&inner) && self.loops.len() == self.dims + 1;
        let name = |v: usize| self.variables[v].name.clone();
        is_all.then(|| Chunks { root, factor, inner: name(inner), outer: name(outer) })
    }

    /// Returns true if the loops with these numbers stand outside of all others.
    pub(super) fn are_outermost(&self, leaves: &[usize]) -> bool {
        let left = (0..self.loops.len()).filter(|l| !leaves.contains(l)).max();
        left.is_none_or(|left| leaves.iter().all(|&l| l > left))
    }

    fn push(&mut self, name: &str, made: Made) -> usize {
        self.variables.push(Variable { name: name.to_string(), made, replaced: None });
        self.variables.len() - 1
    }

    /// Replaces the loop `var`, which is one.
    pub(super) fn split(&mut self, var: &str, outer: &str, inner: &str, factor: i64) {
        let Some(at) = self.leaf(var) else { return };
        let old = self.loops[at];
        let (outer, inner) = (self.push(outer, Made::Outer(old, factor)), self.push(inner, Made::Inner(factor)));
        self.variables[old].replaced = Some(Replaced::Split { outer, inner, factor });
        self.loops.splice(at..=at, [inner, outer]);
    }

    /// Replaces two loops, which are two; not if that changes the order of iterations.
    pub(super) fn fuse(&mut self, inner: &str, outer: &str, fused: &str) -> bool {
        let (Some(i), Some(o)) = (self.leaf(inner), self.leaf(outer)) else { return false };
        if o != i + 1 {
            return false;
        }
        let (inner, outer) = (self.loops[i], self.loops[o]);
        let fused = self.push(fused, Made::Fused { inner, outer });
        self.variables[inner].replaced = Some(Replaced::Fused { fused, inner, is_inner: true });
        self.variables[outer].replaced = Some(Replaced::Fused { fused, inner, is_inner: false });
        self.loops.splice(i..=o, [fused]);
        true
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) {
        if let Some(at) = self.leaf(from) {
            self.variables[self.loops[at]].name = to.to_string();
        }
    }

    /// The loops, innermost first.
    pub(super) fn leaves(&self, graph: &mut Graph, rdom: RDomId) -> Vec<Leaf> {
        let mut leaf = |&v: &usize| {
            let name = self.variables[v].name.clone();
            Leaf { name, min: self.min(v, graph, rdom), extent: self.extent(v, graph, rdom) }
        };
        self.loops.iter().map(&mut leaf).collect()
    }

    /// The values of the domain's variables where the loops have the values `leaves`, and the condition, if there is
    /// one, that these are values of the domain.
    pub(super) fn roots(&self, graph: &mut Graph, rdom: RDomId, leaves: &[ExprId]) -> (Vec<ExprId>, Option<ExprId>) {
        let roots = (0..self.dims).map(|v| self.value(v, graph, rdom, leaves)).collect();
        let mut guard = None;
        for v in 0..self.variables.len() {
            if !self.is_guarded(v, graph, rdom) {
                continue;
            }
            let extent = self.extent(v, graph, rdom);
            let from_zero = self.counted(v, graph, rdom, leaves);
            let from_zero = graph.node(Kind::Likely(from_zero), ScalarType::I32);
            let inside = graph.node(Kind::Binary(BinOp::Lt, from_zero, extent), ScalarType::Bool);
            guard = Some(match guard {
                Some(guard) => graph.node(Kind::Binary(BinOp::BitAnd, guard, inside), ScalarType::Bool),
                None => inside,
            });
        }
        (roots, guard)
    }

    /// Returns true if `v` is split by a factor that may not divide it.
    fn is_guarded(&self, v: usize, graph: &mut Graph, rdom: RDomId) -> bool {
        let Some(Replaced::Split { factor, .. }) = self.variables[v].replaced else { return false };
        let extent = self.extent(v, graph, rdom);
        constant(graph.data(), extent).is_none_or(|n| n % factor != 0)
    }

    fn min(&self, v: usize, graph: &mut Graph, rdom: RDomId) -> ExprId {
        match self.variables[v].made {
            Made::Root => graph.data().rdoms[rdom].dims[v].min,
            _ => graph.int(0),
        }
    }

    fn extent(&self, v: usize, graph: &mut Graph, rdom: RDomId) -> ExprId {
        match self.variables[v].made {
            Made::Root => graph.data().rdoms[rdom].dims[v].extent,
            Made::Inner(factor) => graph.int(factor),
            Made::Outer(whole, factor) => {
                let extent = self.extent(whole, graph, rdom);
                let (factor, up) = (graph.int(factor), graph.int(factor - 1));
                let rounded = graph.index(BinOp::Add, extent, up);
                graph.index(BinOp::Div, rounded, factor)
            }
            Made::Fused { inner, outer } => {
                let (inner, outer) = (self.extent(inner, graph, rdom), self.extent(outer, graph, rdom));
                graph.index(BinOp::Mul, inner, outer)
            }
        }
    }

    fn value(&self, v: usize, graph: &mut Graph, rdom: RDomId, leaves: &[ExprId]) -> ExprId {
        match self.loops.iter().position(|&l| l == v) {
            Some(leaf) => leaves[leaf],
            None => {
                let mut from_zero = self.counted(v, graph, rdom, leaves);
                if self.is_guarded(v, graph, rdom) {
                    // Nothing beyond the domain is asked for, also where the condition that says so does not hold.
                    let (extent, one) = (self.extent(v, graph, rdom), graph.int(1));
                    let last = graph.index(BinOp::Sub, extent, one);
                    from_zero = graph.node(Kind::Likely(from_zero), ScalarType::I32);
                    from_zero = graph.index(BinOp::Min, from_zero, last);
                }
                let min = self.min(v, graph, rdom);
                graph.index(BinOp::Add, from_zero, min)
            }
        }
    }

    /// The value of a variable that is no loop, counted from its first one.
    fn counted(&self, v: usize, graph: &mut Graph, rdom: RDomId, leaves: &[ExprId]) -> ExprId {
        match self.variables[v].replaced {
            None => unreachable!("it was replaced"),
            Some(Replaced::Split { outer, inner, factor }) => {
                let chunk = self.value(outer, graph, rdom, leaves);
                let factor = graph.int(factor);
                let first = graph.index(BinOp::Mul, chunk, factor);
                let inner = self.value(inner, graph, rdom, leaves);
                graph.index(BinOp::Add, first, inner)
            }
            Some(Replaced::Fused { fused, inner, is_inner }) => {
                let all = self.value(fused, graph, rdom, leaves);
                let extent = self.extent(inner, graph, rdom);
                graph.index(if is_inner { BinOp::Mod } else { BinOp::Div }, all, extent)
            }
        }
    }
}

impl Graph {
    pub(super) fn int(&mut self, value: i64) -> ExprId {
        self.node(Kind::Const(Scalar::int(ScalarType::I32, value.into())), ScalarType::I32)
    }

    /// A node of index arithmetic, or its constant.
    pub(super) fn index(&mut self, op: BinOp, a: ExprId, b: ExprId) -> ExprId {
        let e = self.node(Kind::Binary(op, a, b), ScalarType::I32);
        let value = constant(self.data(), e).filter(|v| i32::try_from(*v).is_ok());
        match (value, op, constant(self.data(), b)) {
            (Some(value), ..) => self.int(value),
            (None, BinOp::Add, Some(0)) => a,
            _ => e,
        }
    }
}
