//! Moves checks out of a kernel, which cannot stop the run, to the host in front of it.

use super::error::KernelProblem;
use crate::ir::hash::{Map, Set};
use crate::ir::visit::{self, deep};
use crate::ir::{Expr, ExprKind, LoopId, Program, Stmt, Sym, build};

/// What was taken out of a kernel.
#[derive(Default)]
pub(super) struct Taken {
    /// Checks, with the conditions around them.
    pub(super) checks: Vec<Stmt>,
    /// Whether it counted something, which it does not any more.
    pub(super) counted: bool,
}

struct Take<'p> {
    program: &'p Program,
    /// What names of the kernel mean to the host; those that mean nothing to it are missing.
    values: Map<Sym, Expr>,
    inside: Set<Sym>,
    conditions: Vec<Expr>,
    taken: Taken,
}

/// `body` without checks and counts. `blocks` are the loops around it that are part of the kernel.
pub(super) fn take(program: &Program, blocks: &[LoopId], body: Stmt) -> Result<(Stmt, Taken), KernelProblem> {
    let inside = blocks.iter().map(|l| Sym::Loop(*l)).collect();
    let mut take = Take { program, values: Map::default(), inside, conditions: Vec::new(), taken: Taken::default() };
    let body = take.stmt(body)?;
    Ok((body, take.taken))
}

impl Take<'_> {
    /// `e` as the host can compute it.
    fn outside(&self, e: &Expr) -> Option<Expr> {
        let e = visit::substitute(e, &|s| self.values.get(&s).cloned());
        let known = !visit::any_node(&e, |n| match n.kind() {
            ExprKind::Sym(s) => self.inside.contains(s),
            ExprKind::Load { .. } => true,
            _ => false,
        });
        known.then_some(e)
    }

    fn stmt(&mut self, s: Stmt) -> Result<Stmt, KernelProblem> {
        deep(|| self.one(s))
    }

    fn one(&mut self, s: Stmt) -> Result<Stmt, KernelProblem> {
        Ok(match s {
            Stmt::Assert { cond, fault, args } => {
                let known = self.outside(&cond);
                let args = args.iter().map(|a| self.outside(a)).collect::<Option<Vec<Expr>>>();
                let around = self.conditions.iter().map(|c| self.outside(c)).collect::<Option<Vec<Expr>>>();
                let (Some(cond), Some(args), Some(around)) = (known, args, around) else {
                    return Err(KernelProblem::Check { what: self.program.faults[fault].message(self.program, &[]) });
                };
                let check = Stmt::Assert { cond, fault, args };
                let check = around.into_iter().rev().fold(check, |s, cond| build::if_else(cond, s, build::nothing()));
                self.taken.checks.push(check);
                build::nothing()
            }
            Stmt::Count { .. } => {
                self.taken.counted = true;
                build::nothing()
            }
            Stmt::Let { bindings, body } => {
                for (s, value) in &bindings {
                    match self.outside(value) {
                        Some(value) => _ = self.values.insert(*s, value),
                        None => _ = self.inside.insert(*s),
                    }
                }
                build::let_in(bindings, self.stmt(*body)?)
            }
            Stmt::For(mut l) => {
                self.inside.insert(Sym::Loop(l.id));
                l.body = self.stmt(l.body)?;
                Stmt::For(l)
            }
            Stmt::If { cond, then, otherwise } => {
                let opposite = build::not(cond.clone());
                let then = self.side(cond.clone(), *then)?;
                let otherwise = self.side(opposite, *otherwise)?;
                build::if_else(cond, then, otherwise)
            }
            Stmt::Block(list) => build::block(list.into_iter().map(|s| self.stmt(s)).collect::<Result<Vec<_>, _>>()?),
            Stmt::Produce { func, body } => Stmt::Produce { func, body: Box::new(self.stmt(*body)?) },
            Stmt::Alloc { buf, count, constant, body } => {
                Stmt::Alloc { buf, count, constant, body: Box::new(self.stmt(*body)?) }
            }
            other => other,
        })
    }

    fn side(&mut self, cond: Expr, s: Stmt) -> Result<Stmt, KernelProblem> {
        self.conditions.push(cond);
        let made = self.stmt(s);
        self.conditions.pop();
        made
    }
}
