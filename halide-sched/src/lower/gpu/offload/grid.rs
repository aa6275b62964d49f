//! Takes the loops over blocks off a kernel: what the host computes for it, and what each block does.

use super::error::KernelProblem;
use crate::lower::loops::copy::fresh_temp;
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{self, Memo};
use halide_ir::{Expr, ExprKind, For, ForKind, LoopId, Program, Stmt, Sym, build};
use halide_solve::bounds::{Interval, interval_of};
use halide_solve::simplify::Facts;

/// The most loops over blocks of a kernel.
const DIMENSIONS: usize = 3;

/// Blocks, and what each one does.
pub(super) struct Grid {
    /// The loops over blocks, outermost first; each counts from 0.
    pub(super) loops: Vec<LoopId>,
    /// The number of blocks in each of these dimensions: values of the host.
    pub(super) extents: Vec<Expr>,
    /// Bindings that the host makes first.
    pub(super) outside: Vec<(Sym, Expr)>,
    /// The body that each block runs.
    pub(super) body: Stmt,
}

/// A name or condition that stands between loops over blocks and depends on the block.
enum Between {
    Let(Sym, Expr),
    If(Expr),
}

struct Taking<'p> {
    program: &'p mut Program,
    grid: Grid,
    between: Vec<Between>,
    /// Symbols whose values depend on the block.
    vary: Set<Sym>,
    /// Variables of loops that do not start at 0, by block number.
    moved: Map<Sym, Expr>,
}

/// The blocks of the nest `l`. `facts` are those of the host at this place.
pub(super) fn take(program: &mut Program, l: For, facts: &Facts) -> Result<Grid, KernelProblem> {
    let grid = Grid { loops: Vec::new(), extents: Vec::new(), outside: Vec::new(), body: build::nothing() };
    let mut taking = Taking { program, grid, between: Vec::new(), vary: Set::default(), moved: Map::default() };
    let mut next = l;
    loop {
        let inside = taking.one(next, facts)?;
        let more = taking.grid.loops.len() < DIMENSIONS && leads_to_blocks(&inside);
        match taking.peel(inside, more) {
            Stmt::For(l) if more && l.kind == ForKind::GpuBlocks => next = *l,
            rest => {
                let mut body = taking.moved_in(rest);
                for b in taking.between.into_iter().rev() {
                    body = match b {
                        Between::Let(s, value) => build::let_in(vec![(s, value)], body),
                        Between::If(cond) => build::if_else(cond, body, build::nothing()),
                    };
                }
                return Ok(Grid { body, ..taking.grid });
            }
        }
    }
}

/// Returns true if `s` is a loop over blocks, with or without names and conditions around it.
fn leads_to_blocks(s: &Stmt) -> bool {
    match s {
        Stmt::For(l) => l.kind == ForKind::GpuBlocks,
        Stmt::Let { body, .. } => leads_to_blocks(body),
        Stmt::If { then, otherwise, .. } => build::is_nothing(otherwise) && leads_to_blocks(then),
        _ => false,
    }
}

impl Taking<'_> {
    /// Returns true if the host cannot or should not compute `e`.
    fn is_inside(&self, e: &Expr) -> bool {
        visit::any_node(e, |n| match n.kind() {
            ExprKind::Sym(s) => self.vary.contains(s),
            ExprKind::Load { .. } => true,
            _ => false,
        })
    }

    fn by_number(&self, e: &Expr) -> Expr {
        if self.moved.is_empty() { e.clone() } else { visit::substitute(e, &|s| self.moved.get(&s).cloned()) }
    }

    fn moved_in(&self, s: Stmt) -> Stmt {
        if self.moved.is_empty() {
            return s;
        }
        let mut memo = Memo::new();
        visit::map_exprs(s, &mut |e| visit::substitute_with(e, &|s| self.moved.get(&s).cloned(), &mut memo))
    }

    /// Takes one loop; what is inside of it is the result.
    fn one(&mut self, l: For, facts: &Facts) -> Result<Stmt, KernelProblem> {
        let For { id, min, extent, body, .. } = l;
        let (min, extent) = (self.by_number(&min), self.by_number(&extent));
        let extent = if self.is_inside(&extent) {
            let most = self.most(&extent, facts).filter(|most| !self.is_inside(most));
            let most = most.ok_or_else(|| KernelProblem::BlockExtent { var: self.program.loops[id].name.clone() })?;
            self.between.push(Between::If(build::lt(build::loop_var(id), extent)));
            most
        } else {
            extent
        };
        if build::as_int(&min) != Some(0) {
            let start = match min.kind() {
                ExprKind::Int(_) => min,
                ExprKind::Sym(s) if !self.vary.contains(s) => min,
                _ => {
                    let name = fresh_temp(self.program);
                    self.bind(name, min);
                    build::sym(name)
                }
            };
            self.moved.insert(Sym::Loop(id), build::add(build::loop_var(id), start));
        }
        self.vary.insert(Sym::Loop(id));
        self.grid.loops.push(id);
        self.grid.extents.push(extent);
        Ok(body)
    }

    fn bind(&mut self, s: Sym, value: Expr) {
        if self.is_inside(&value) {
            self.vary.insert(s);
            self.between.push(Between::Let(s, value));
        } else {
            self.grid.outside.push((s, value));
        }
    }

    /// An upper bound of `e` over all blocks.
    fn most(&self, e: &Expr, facts: &Facts) -> Option<Expr> {
        let named: Map<Sym, &Expr> = self
            .between
            .iter()
            .filter_map(|b| match b {
                Between::Let(s, value) => Some((*s, value)),
                Between::If(_) => None,
            })
            .collect();
        let mut whole = e.clone();
        // A value uses only names bound before it, so that as many rounds as there are names see through all.
        for _ in 0..named.len() {
            whole = visit::substitute(&whole, &|s| named.get(&s).map(|e| (*e).clone()));
        }
        let number = |s: Sym| {
            let at = self.grid.loops.iter().position(|l| Sym::Loop(*l) == s)?;
            Some(Interval::new(build::int(0), build::offset(self.grid.extents[at].clone(), -1)))
        };
        interval_of(&whole, &number, facts).max
    }

    /// Binds the names on top of `s`, and where a loop over blocks follows, also takes conditions off.
    fn peel(&mut self, mut s: Stmt, to_blocks: bool) -> Stmt {
        loop {
            s = match s {
                Stmt::Let { bindings, body } => {
                    for (name, value) in bindings {
                        let value = self.by_number(&value);
                        self.bind(name, value);
                    }
                    *body
                }
                Stmt::If { cond, then, .. } if to_blocks => {
                    let cond = self.by_number(&cond);
                    self.between.push(Between::If(cond));
                    *then
                }
                other => return other,
            }
        }
    }
}
