//! The condition under which somebody needs the values of each Func.

use super::condition::Condition;
use super::uniform::Uniform;
use super::units::{funcs_read, has_effects, is_kernel, is_unit, reads_of, splits_of};
use halide_core::ids::FuncId;
use halide_ir::hash::{Map, Set};
use halide_ir::visit;
use halide_ir::{BufId, Expr, Program, Stmt};
use std::collections::BTreeMap;

/// The reads and productions of the Funcs that a program stores.
pub(super) struct Survey<'p> {
    uniform: &'p Uniform,
    /// The Func of each buffer that is stored.
    owner: Map<BufId, FuncId>,
    /// Reads outside of a Func's own definitions: the condition there, and the production around.
    reads: BTreeMap<FuncId, Vec<(Condition, Option<usize>)>>,
    /// Productions: the Func and the one around.
    productions: Vec<(FuncId, Option<usize>)>,
    /// Funcs that are stored to in a production of another one, with all productions around, inside out.
    guests: Vec<(FuncId, Vec<FuncId>)>,
    /// The reasons that stages are computed even if nobody needs them.
    kept: BTreeMap<FuncId, &'static str>,
}

/// The context of a statement: its condition, the production around, and whether a kernel runs it.
#[derive(Clone)]
struct Here {
    path: Condition,
    production: Option<usize>,
    in_kernel: bool,
}

impl<'p> Survey<'p> {
    /// Looks through a program.
    pub(super) fn new(program: &Program, uniform: &'p Uniform) -> Survey<'p> {
        let mut owner = Map::default();
        owners(program, &program.body, &mut owner);
        let (productions, guests) = (Vec::new(), Vec::new());
        let (reads, kept) = (BTreeMap::new(), BTreeMap::new());
        let mut made = Survey { uniform, owner, reads, productions, guests, kept };
        let root = Here { path: Condition::always(), production: None, in_kernel: false };
        made.statement(&program.body, &root);
        made.stores(&program.body, &mut Vec::new());
        made.keep_around_others();
        made
    }

    /// Keeps stages inside of whose computation another one is computed that is read, or given, outside of it.
    fn keep_around_others(&mut self) {
        let mut found = Vec::new();
        let produced = self.productions.iter().map(|(func, around)| (*func, self.around(*around).collect()));
        for (func, around) in produced.chain(self.guests.iter().cloned()) {
            for outer in around.into_iter().filter(|outer| *outer != func) {
                let is_given = !self.owner.values().any(|f| *f == func);
                let inside = |(_, place): &(Condition, Option<usize>)| self.around(*place).any(|f| f == outer);
                if is_given || !self.reads.get(&func).into_iter().flatten().all(inside) {
                    found.push(outer);
                }
            }
        }
        found.into_iter().for_each(|func| self.keep(func, "others are computed with it that are read outside"));
    }

    /// The Funcs of a production and of those around it, inside out.
    fn around(&self, production: Option<usize>) -> impl Iterator<Item = FuncId> {
        std::iter::successors(production, |p| self.productions[*p].1).map(|p| self.productions[p].0)
    }

    /// The Func of each buffer that is stored.
    pub(super) fn owner(&self) -> &Map<BufId, FuncId> {
        &self.owner
    }

    /// Returns the reason that a stage is computed even if nobody needs it.
    pub(super) fn kept(&self, func: FuncId) -> Option<&'static str> {
        self.kept.get(&func).copied()
    }

    /// The conditions under which the Funcs are needed.
    pub(super) fn needs(&self) -> BTreeMap<FuncId, Condition> {
        let mut known = BTreeMap::new();
        let funcs: Set<FuncId> = self.owner.values().copied().collect();
        for func in funcs {
            self.need(func, &mut known);
        }
        known
    }

    /// The condition under which the reads of `func` are come to, whether it is computed whoever needs it or not.
    pub(super) fn asked(&self, func: FuncId, known: &mut BTreeMap<FuncId, Condition>) -> Condition {
        let mut all = Condition::never();
        for (when, production) in self.reads.get(&func).into_iter().flatten() {
            let mut when = when.clone();
            let mut around = *production;
            while let Some((outer, next)) = around.map(|p| self.productions[p]) {
                when = when.and(&visit::deep(|| self.need(outer, known)));
                around = next;
            }
            all = all.or(&when);
            if all.is_always() {
                break;
            }
        }
        all
    }

    fn need(&self, func: FuncId, known: &mut BTreeMap<FuncId, Condition>) -> Condition {
        if let Some(need) = known.get(&func) {
            return need.clone();
        }
        // Also what is asked for on the way: Funcs that need each other are computed together, which is always.
        known.insert(func, Condition::always());
        let is_stored = self.owner.values().any(|f| *f == func);
        if !is_stored || self.kept.contains_key(&func) {
            return Condition::always();
        }
        let need = self.asked(func, known);
        known.insert(func, need.clone());
        need
    }

    fn statement(&mut self, s: &Stmt, here: &Here) {
        let own = self.own(here);
        let mut found = Vec::new();
        if is_unit(s) && !here.in_kernel {
            let splits = splits_of(s, self.uniform, &self.owner);
            in_unit(s, &here.path, self.uniform, &mut |e, path| {
                let read = reads_of(e, &splits, self.uniform, &self.owner).into_iter();
                found.extend(read.map(|(f, when)| (f, path.and(&when))));
            });
            found.into_iter().filter(|(f, _)| Some(*f) != own).for_each(|(f, when)| self.add(f, when, here));
            return;
        }
        visit::for_each_expr(s, |e| {
            found.extend(funcs_read(e, &self.owner).into_iter().map(|f| (f, here.path.clone())))
        });
        if let Stmt::Call { args, .. } = s {
            found.extend(args.iter().filter_map(|arg| Some((*self.owner.get(&arg.buf)?, here.path.clone()))));
        }
        found.into_iter().filter(|(f, _)| Some(*f) != own).for_each(|(f, when)| self.add(f, when, here));
        self.nested(s, here);
    }

    fn nested(&mut self, s: &Stmt, here: &Here) {
        let mut inside = here.clone();
        inside.in_kernel |= is_kernel(s);
        match s {
            Stmt::If { cond, then, otherwise } => {
                for (value, arm) in [(true, then), (false, otherwise)] {
                    inside.path = here.path.and(&self.uniform.condition(cond, value));
                    visit::deep(|| self.statement(arm, &inside));
                }
            }
            Stmt::Produce { func, body } => {
                self.productions.push((*func, here.production));
                inside.production = Some(self.productions.len() - 1);
                if here.in_kernel {
                    self.keep(*func, "it is computed inside of a kernel");
                }
                if has_effects(body) {
                    self.keep(*func, "its computation has requirements or prints");
                }
                visit::deep(|| self.statement(body, &inside));
            }
            _ => visit::for_each_stmt(s, |inner| self.statement(inner, &inside)),
        }
    }

    /// Keeps stages that share a production; `around` are the Funcs of those around, outside in.
    fn stores(&mut self, s: &Stmt, around: &mut Vec<FuncId>) {
        match s {
            Stmt::Provide { func, .. } if around.last() != Some(func) => {
                self.keep(*func, "it is computed with others");
                around.last().into_iter().for_each(|other| self.keep(*other, "it is computed with others"));
                self.guests.push((*func, around.iter().rev().copied().collect()));
            }
            Stmt::Produce { func, body } => {
                around.push(*func);
                visit::deep(|| self.stores(body, around));
                around.pop();
            }
            _ => visit::for_each_stmt(s, |inner| self.stores(inner, around)),
        }
    }

    fn keep(&mut self, func: FuncId, why: &'static str) {
        self.kept.entry(func).or_insert(why);
    }

    /// The Func whose definitions are at hand.
    fn own(&self, here: &Here) -> Option<FuncId> {
        here.production.map(|p| self.productions[p].0)
    }

    fn add(&mut self, func: FuncId, when: Condition, here: &Here) {
        let list = self.reads.entry(func).or_default();
        let new = (when, here.production);
        if !list.contains(&new) {
            list.push(new);
        }
    }
}

fn owners(program: &Program, s: &Stmt, owner: &mut Map<BufId, FuncId>) {
    if let Stmt::Realize { func, .. } = s {
        owner.extend(program.func_buffers[*func].iter().map(|b| (*b, *func)));
    }
    visit::for_each_stmt(s, |inner| owners(program, inner, owner));
}

/// Calls `f` on all expressions of a unit with the conditions of the branches around.
fn in_unit(s: &Stmt, path: &Condition, uniform: &Uniform, f: &mut dyn FnMut(&Expr, &Condition)) {
    visit::for_each_expr(s, |e| f(e, path));
    match s {
        Stmt::If { cond, then, otherwise } => {
            for (value, arm) in [(true, then), (false, otherwise)] {
                let path = path.and(&uniform.condition(cond, value));
                visit::deep(|| in_unit(arm, &path, uniform, f));
            }
        }
        _ => visit::for_each_stmt(s, |inner| in_unit(inner, path, uniform, f)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::skip_stages;
    use crate::lower::trace::LoweringTrace;
    use halide_ir::Program;
    use halide_solve::simplify::Facts;

    /// Productions around a store to an output are kept, however deep it lies: `f` and `g` are read by nobody.
    #[test]
    fn productions_around_stores_of_others_are_kept() {
        let text = "program bounded
buffer out#b0: u8 dims 1 output 0
buffer f#b1: u8 dims 1 internal
buffer g#b2: u8 dims 1 internal
func f0 = (b0)
func f1 = (b1)
func f2 = (b2)
body {
  realize f#f1 [0 extent 4] {
    realize g#f2 [0 extent 4] {
      produce f#f1 {
        produce g#f2 {
          provide out#f0(0): out#b0 = 1u8
        }
      }
    }
  }
}
";
        let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}"));
        let after = skip_stages(program.clone(), &Facts::new(), &mut LoweringTrace::new());
        assert!(after.to_string().contains("provide out#f0(0): out#b0 = 1u8"), "{after}");
    }
}
