//! Moves to the host what a kernel cannot do: checks, since it cannot stop the run, and storage in the device's memory,
//! which then has a part for each block, or for each thread if it was in a loop over threads.

use super::error::KernelProblem;
use super::phases::moved;
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{self, deep};
use halide_ir::{BufId, Expr, ExprKind, Fault, LoopId, Memory, Program, Stmt, Sym, build};
use halide_solve::simplify::{BoundQuery, Facts};

/// The checks and the storage that were taken out of a kernel.
#[derive(Default)]
pub(super) struct Taken {
    /// Checks, with the conditions around them.
    pub(super) checks: Vec<Stmt>,
    /// Storage with its number of elements, each buffer once.
    pub(super) storage: Vec<(BufId, Expr)>,
    /// True if the kernel counted something, which it does not any more.
    pub(super) counted: bool,
}

struct Take<'p> {
    program: &'p Program,
    facts: &'p mut Facts,
    /// The number of the block or thread that runs, counted from 0, and the number of all of them.
    place: Expr,
    places: Expr,
    /// The values of the kernel's names as the host can compute them; names without such a value are missing.
    values: Map<Sym, Expr>,
    inside: Set<Sym>,
    conditions: Vec<Expr>,
    /// The number of elements that each place has of a buffer, the number of places, and the first element of all
    /// these. A buffer has several rows if copies of code allocate it, as those of partitioned loops do.
    parts: Map<BufId, Vec<(Expr, Expr, Expr)>>,
    taken: Taken,
}

/// `body` without checks, counts and storage in the device's memory. `blocks` are the loops around it that are part of
/// the kernel, outermost first, with their extents.
pub(super) fn take(
    program: &Program,
    blocks: &[(LoopId, Expr)],
    body: Stmt,
    facts: &mut Facts,
) -> Result<(Stmt, Taken), KernelProblem> {
    let inside = blocks.iter().map(|(l, _)| Sym::Loop(*l)).collect();
    let (mut place, mut places) = (build::int(0), build::int(1));
    for (l, extent) in blocks {
        place = build::add(build::mul(place, extent.clone()), build::loop_var(*l));
        places = build::mul(places, build::max(extent.clone(), build::int(0)));
    }
    let (values, parts, conditions, taken) = (Map::default(), Map::default(), Vec::new(), Taken::default());
    let mut take = Take { program, facts, place, places, values, inside, conditions, parts, taken };
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
            // All storage of a kernel has a constant size, or the host allocates it.
            Stmt::Assert { fault, .. } if matches!(self.program.faults[fault], Fault::OutOfMemory { .. }) => {
                build::nothing()
            }
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
            Stmt::Print { .. } => return Err(KernelProblem::Prints),
            Stmt::Call { callee, .. } => {
                return Err(KernelProblem::Calls { stage: self.program.callees[callee].name.clone() });
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
                self.facts.push_scope();
                bindings.iter().for_each(|(s, e)| self.facts.bind_let(*s, e));
                let body = self.stmt(*body);
                self.facts.pop_scope();
                build::let_in(bindings, body?)
            }
            Stmt::For(mut l) => {
                self.inside.insert(Sym::Loop(l.id));
                let around = (self.place.clone(), self.places.clone());
                if l.kind.is_gpu_threads() {
                    let most = BoundQuery::difference(&l.extent, &build::int(0), self.facts).upper(i64::MAX);
                    let most =
                        most.ok_or_else(|| KernelProblem::ThreadExtent { var: self.program.loops[l.id].name.clone() })?;
                    let at = build::sub(build::loop_var(l.id), l.min.clone());
                    self.place = build::add(build::mul(self.place.clone(), build::int(most.max(1))), at);
                    self.places = build::mul(self.places.clone(), build::int(most.max(1)));
                }
                self.facts.push_scope();
                self.facts.bind_loop(l.id, &l.min, &l.extent);
                let body = self.stmt(l.body);
                self.facts.pop_scope();
                (self.place, self.places) = around;
                l.body = body?;
                Stmt::For(l)
            }
            Stmt::Alloc { buf, count, constant, body } if self.program.buffers[buf].memory == Memory::Global => {
                let own = constant.map(|n| build::int(n.min(i64::MAX as u64) as i64));
                let own = own.or_else(|| self.outside(&count));
                let own =
                    own.ok_or_else(|| KernelProblem::GlobalSize { func: self.program.buffers[buf].name.clone() })?;
                let body = self.stmt(*body)?;
                moved(body, buf, &self.part(buf, &own))
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

    /// The first element of the part of `buf` that belongs to the place at hand, which has `own` elements of it. Copies
    /// of code that divide it alike have one part in common, as they do not run at the same time; others have their
    /// own.
    fn part(&mut self, buf: BufId, own: &Expr) -> Expr {
        let within = build::mul(self.place.clone(), own.clone());
        let rows = self.parts.entry(buf).or_default();
        if let Some((.., first)) = rows.iter().find(|(n, places, _)| n == own && *places == self.places) {
            return build::add(first.clone(), within);
        }
        let count = build::mul(self.places.clone(), build::max(own.clone(), build::int(0)));
        let storage = &mut self.taken.storage;
        let first = match storage.iter_mut().find(|(known, _)| *known == buf) {
            Some((_, all)) => {
                let first = all.clone();
                *all = build::add(first.clone(), count);
                first
            }
            None => {
                storage.push((buf, count));
                build::int(0)
            }
        };
        rows.push((own.clone(), self.places.clone(), first.clone()));
        build::add(first, within)
    }

    fn side(&mut self, cond: Expr, s: Stmt) -> Result<Stmt, KernelProblem> {
        self.facts.push_scope();
        self.facts.learn(&cond);
        self.conditions.push(cond);
        let made = self.stmt(s);
        self.conditions.pop();
        self.facts.pop_scope();
        made
    }
}
