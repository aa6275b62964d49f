//! A program of `Stage::Bounded` as a tree that is quickly asked: statements that cost something, with formulas in
//! place of expressions.

use super::formula::{Formula, Symbols};
use super::operation::Operation;
use crate::tuning::SETTLED_ITERATIONS;
use halide_core::ids::FuncId;
use halide_core::types::ScalarType;
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{any_node, deep, for_each_node, for_each_stmt};
use halide_ir::{BufId, Expr, ExprKind, For, ForKind, LoopId, Program, Stmt, Sym, build};
use halide_solve::simplify::{Facts, simplify};
use std::collections::{BTreeMap, BTreeSet};

/// A program as a tree.
pub(super) struct Tree {
    pub(super) body: Node,
}

/// A statement. Loops, allocations and definitions have rows of counts, in the order in which they are written.
pub(super) enum Node {
    Block(Vec<Node>),
    Let { bindings: Vec<(usize, Formula)>, reads: Vec<Access>, body: Box<Node> },
    If { cond: Formula, reads: Vec<Access>, then: Box<Node>, otherwise: Box<Node> },
    For(Box<Loop>),
    Realize(Box<Realize>),
    Provide(Box<Provide>),
}

/// A loop.
pub(super) struct Loop {
    pub(super) id: LoopId,
    pub(super) kind: ForKind,
    /// The number of its variable.
    pub(super) var: usize,
    pub(super) min: Formula,
    pub(super) extent: Formula,
    /// The last value, simplified, so that ends that move together do not count as apart.
    pub(super) last: Formula,
    /// The loops on a path through it whose iterations differ in what they cost, if this one's do.
    pub(super) differing: Option<u32>,
    /// The number of rows of the body.
    pub(super) rows: usize,
    pub(super) body: Node,
}

/// Memory of a Func.
pub(super) struct Realize {
    pub(super) func: FuncId,
    pub(super) bufs: Vec<BufId>,
    /// First coordinate and extent of each dimension.
    pub(super) bounds: Vec<(Formula, Formula)>,
    pub(super) fold: Vec<Option<i64>>,
    pub(super) when: Option<Formula>,
    pub(super) body: Node,
}

/// A definition at a point.
pub(super) struct Provide {
    pub(super) func: FuncId,
    pub(super) mask: Option<Formula>,
    pub(super) stores: Vec<Access>,
    pub(super) reads: Vec<Access>,
    pub(super) operations: u32,
    /// Operations by class and type, also those of coordinates and of the mask.
    pub(super) classes: BTreeMap<(Operation, ScalarType), u64>,
}

/// An element of a buffer.
pub(super) struct Access {
    pub(super) buf: BufId,
    pub(super) args: Vec<Formula>,
}

impl Tree {
    /// The tree of a program.
    pub(super) fn new(program: &Program, symbols: &mut Symbols) -> Tree {
        let mut maker = Maker { program, symbols, facts: Facts::default() };
        let mut body = maker.stmt(&program.body);
        let deciding = deciding(&body);
        mark(&mut body, &deciding, 0);
        Tree { body }
    }
}

impl Node {
    /// The number of rows of counts.
    pub(super) fn rows(&self) -> usize {
        deep(|| match self {
            Node::Block(all) => all.iter().map(Node::rows).sum(),
            Node::Let { body, .. } => body.rows(),
            Node::If { then, otherwise, .. } => then.rows() + otherwise.rows(),
            Node::For(l) => 1 + l.rows,
            Node::Realize(r) => 1 + r.body.rows(),
            Node::Provide(_) => 1,
        })
    }

    /// The number of definitions.
    pub(super) fn definitions(&self) -> usize {
        deep(|| match self {
            Node::Block(all) => all.iter().map(Node::definitions).sum(),
            Node::Let { body, .. } => body.definitions(),
            Node::If { then, otherwise, .. } => then.definitions() + otherwise.definitions(),
            Node::For(l) => l.body.definitions(),
            Node::Realize(r) => r.body.definitions(),
            Node::Provide(_) => 1,
        })
    }
}

struct Maker<'p> {
    program: &'p Program,
    symbols: &'p mut Symbols,
    facts: Facts,
}

impl Maker<'_> {
    fn formula(&mut self, e: &Expr) -> Formula {
        Formula::new(e, self.symbols)
    }

    fn stmt(&mut self, s: &Stmt) -> Node {
        deep(|| match s {
            Stmt::Block(all) => Node::Block(all.iter().map(|s| self.stmt(s)).collect()),
            Stmt::Let { bindings, body } => {
                let reads = self.reads(bindings.iter().map(|(_, value)| value));
                let bindings = bindings.iter().map(|(s, value)| (self.symbols.number(*s), self.formula(value)));
                let bindings = bindings.collect();
                Node::Let { bindings, reads, body: Box::new(self.stmt(body)) }
            }
            Stmt::For(l) => self.for_loop(l),
            Stmt::If { cond, then, otherwise } => Node::If {
                reads: self.reads([cond]),
                cond: self.formula(cond),
                then: Box::new(self.stmt(then)),
                otherwise: Box::new(self.stmt(otherwise)),
            },
            Stmt::Produce { body, .. } | Stmt::Atomic { body, .. } => self.stmt(body),
            Stmt::Realize { func, bounds, when, body } => self.realize(*func, bounds, when.as_ref(), body),
            Stmt::Provide { func, args, values, mask } => self.provide(*func, args, values, mask.as_ref()),
            // Those of later stages, and what costs nothing.
            Stmt::Assert { .. } | Stmt::Print { .. } | Stmt::Prefetch { .. } | Stmt::Count { .. } => {
                Node::Block(vec![])
            }
            // Nothing is known of what a closure does; the copies around it are loops.
            Stmt::Call { .. } => Node::Block(vec![]),
            Stmt::Alloc { .. } | Stmt::Free { .. } | Stmt::Store { .. } | Stmt::Launch { .. } => Node::Block(vec![]),
            Stmt::Dispatch { .. } | Stmt::Reside { .. } | Stmt::Barrier => Node::Block(vec![]),
        })
    }

    fn for_loop(&mut self, l: &For) -> Node {
        let extent = match ends_early(&l.body) {
            true => build::min(l.extent.clone(), build::int(SETTLED_ITERATIONS)),
            false => l.extent.clone(),
        };
        let last = build::offset(build::add(l.min.clone(), extent.clone()), -1);
        let last = simplify(&last, &self.facts);
        let body = self.stmt(&l.body);
        Node::For(Box::new(Loop {
            id: l.id,
            kind: l.kind,
            var: self.symbols.number(Sym::Loop(l.id)),
            min: self.formula(&l.min),
            extent: self.formula(&extent),
            last: self.formula(&last),
            differing: None,
            rows: body.rows(),
            body,
        }))
    }

    fn realize(&mut self, func: FuncId, bounds: &[(Expr, Expr)], when: Option<&Expr>, body: &Stmt) -> Node {
        let bufs = self.program.func_buffers[func].clone();
        let fold = bufs.first().map_or_else(Vec::new, |buf| self.program.buffers[*buf].fold.clone());
        Node::Realize(Box::new(Realize {
            func,
            bufs,
            bounds: bounds.iter().map(|(min, extent)| (self.formula(min), self.formula(extent))).collect(),
            fold,
            when: when.map(|when| self.formula(when)),
            body: self.stmt(body),
        }))
    }

    fn provide(&mut self, func: FuncId, args: &[Expr], values: &[(BufId, Expr)], mask: Option<&Expr>) -> Node {
        let reads = self.reads(values.iter().map(|(_, value)| value).chain(args).chain(mask));
        let coordinates: Vec<Formula> = args.iter().map(|arg| self.formula(arg)).collect();
        let stores = values.iter().map(|(buf, _)| Access { buf: *buf, args: coordinates.clone() }).collect();
        let (mut seen, mut classes) = (Set::default(), BTreeMap::new());
        let mut operations = 0;
        let all = values.iter().map(|(_, value)| (value, 1)).chain(args.iter().chain(mask).map(|e| (e, 0)));
        for (value, share) in all {
            for_each_node(value, &mut |n| {
                if let Some(class) = Operation::class(n).filter(|_| seen.insert(n.clone())) {
                    operations += share;
                    *classes.entry(class).or_default() += 1;
                }
            });
        }
        Node::Provide(Box::new(Provide {
            func,
            mask: mask.map(|mask| self.formula(mask)),
            stores,
            reads,
            operations,
            classes,
        }))
    }

    /// The distinct elements that expressions read.
    fn reads<'e>(&mut self, all: impl IntoIterator<Item = &'e Expr>) -> Vec<Access> {
        let mut found: Map<Expr, (BufId, Vec<Expr>)> = Map::default();
        let mut order = Vec::new();
        for e in all {
            for_each_node(e, &mut |n| {
                if let ExprKind::Read { buf, args } = n.kind()
                    && found.insert(n.clone(), (*buf, args.to_vec())).is_none()
                {
                    order.push(n.clone());
                }
            });
        }
        let access = |n: &Expr| {
            let (buf, args) = &found[n];
            Access { buf: *buf, args: args.iter().map(|arg| self.formula(arg)).collect() }
        };
        order.iter().map(access).collect()
    }
}

/// Returns true if a body stores only where a condition on what it stored before holds: such loops end.
fn ends_early(s: &Stmt) -> bool {
    match s {
        Stmt::If { cond, then, otherwise } if build::is_nothing(otherwise) => {
            let mut stored = Vec::new();
            stores(then, &mut stored);
            any_node(cond, |n| matches!(n.kind(), ExprKind::Read { buf, .. } if stored.contains(buf)))
        }
        Stmt::Let { body, .. } => ends_early(body),
        Stmt::Block(all) => !all.is_empty() && all.iter().all(ends_early),
        Stmt::For(l) => ends_early(&l.body),
        _ => false,
    }
}

fn stores(s: &Stmt, found: &mut Vec<BufId>) {
    if let Stmt::Provide { values, .. } = s {
        found.extend(values.iter().map(|(buf, _)| *buf));
    }
    for_each_stmt(s, |inner| stores(inner, found));
}

/// The numbers of the symbols that decide about how often something runs or how large it is, by way of others too.
fn deciding(body: &Node) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        add_deciding(body, &mut found);
        if found.len() == before {
            return found;
        }
    }
}

fn add_deciding(node: &Node, found: &mut BTreeSet<usize>) {
    deep(|| match node {
        Node::Block(all) => all.iter().for_each(|n| add_deciding(n, found)),
        Node::Let { bindings, body, .. } => {
            add_deciding(body, found);
            for (symbol, value) in bindings.iter().rev() {
                if found.contains(symbol) {
                    found.extend(value.symbols());
                }
            }
        }
        Node::If { cond, then, otherwise, .. } => {
            found.extend(cond.symbols());
            add_deciding(then, found);
            add_deciding(otherwise, found);
        }
        Node::For(l) => {
            add_deciding(&l.body, found);
            found.extend(l.extent.symbols());
            if found.contains(&l.var) {
                found.extend(l.min.symbols());
            }
        }
        Node::Realize(r) => {
            found.extend(r.bounds.iter().flat_map(|(_, extent)| extent.symbols()));
            found.extend(r.when.iter().flat_map(Formula::symbols));
            add_deciding(&r.body, found);
        }
        Node::Provide(p) => found.extend(p.mask.iter().flat_map(Formula::symbols)),
    });
}

/// Notes in loops whose iterations differ how many such loops nest there; returns the most from here inwards.
fn mark(node: &mut Node, deciding: &BTreeSet<usize>, around: u32) -> u32 {
    deep(|| match node {
        Node::Block(all) => all.iter_mut().map(|n| mark(n, deciding, around)).max().unwrap_or(0),
        Node::Let { body, .. } => mark(body, deciding, around),
        Node::If { then, otherwise, .. } => mark(then, deciding, around).max(mark(otherwise, deciding, around)),
        Node::For(l) => {
            let own = u32::from(deciding.contains(&l.var));
            let inner = mark(&mut l.body, deciding, around + own);
            l.differing = (own == 1).then_some(around + own + inner);
            own + inner
        }
        Node::Realize(r) => mark(&mut r.body, deciding, around),
        Node::Provide(_) => 0,
    })
}
