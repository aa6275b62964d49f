//! Checks written into a program.

use super::question::{IndexQuestion, Place, Question};
use crate::lower::walk;
use halide_ir::hash::Map;
use halide_ir::{BufId, BufferRole, DimField, Expr, Fault, FaultId, Program, Stmt, Sym, build};

/// The program with its questions at their places.
pub(super) fn insert(program: Program, questions: Map<Place, Vec<Question>>) -> Program {
    if questions.is_empty() {
        return program;
    }
    walk::map_body(program, |body, program| {
        let mut cx = Insert { program, questions, next: 0, unproved: None };
        cx.stmt(body)
    })
}

struct Insert<'p> {
    program: &'p mut Program,
    questions: Map<Place, Vec<Question>>,
    next: u32,
    /// The fault of questions that may ask too much.
    unproved: Option<FaultId>,
}

impl Insert<'_> {
    fn stmt(&mut self, s: Stmt) -> Stmt {
        let number = self.next;
        self.next += 1;
        let mut list = self.checks(number, 0);
        let s = halide_ir::visit::deep(|| match s {
            Stmt::Let { bindings, body } => self.names(bindings, *body, number),
            other => walk::map_stmt(other, self, |_, e| e.clone(), |cx, inner| cx.stmt(inner)),
        });
        if list.is_empty() {
            return s;
        }
        list.push(s);
        build::block(list)
    }

    fn names(&mut self, bindings: Vec<(Sym, Expr)>, body: Stmt, number: u32) -> Stmt {
        let mut parts = vec![(Vec::new(), Vec::new())];
        for (i, binding) in bindings.into_iter().enumerate() {
            if let Some((names, _)) = parts.last_mut() {
                names.push(binding);
            }
            let checks = self.checks(number, i as u32 + 1);
            if !checks.is_empty() {
                if let Some((_, own)) = parts.last_mut() {
                    *own = checks;
                }
                parts.push((Vec::new(), Vec::new()));
            }
        }
        let mut made = self.stmt(body);
        for (names, mut checks) in parts.into_iter().rev() {
            checks.push(made);
            made = build::let_in(names, build::block(checks));
        }
        made
    }

    fn checks(&mut self, statement: u32, bindings: u32) -> Vec<Stmt> {
        let Some(questions) = self.questions.remove(&(0, statement, bindings)) else { return Vec::new() };
        let mut list = Vec::new();
        let mut all: Option<Expr> = None;
        for question in questions {
            match question {
                Question::Inequality(cond) => all = Some(all.map_or(cond.clone(), |a| build::and(a, cond))),
                Question::Index(question) => list.push(self.index(question)),
            }
        }
        if let Some(cond) = all {
            let fault = *self.unproved.get_or_insert_with(|| self.program.faults.push(Fault::Unproved));
            list.push(Stmt::Assert { cond, fault, args: Vec::new() });
        }
        list
    }

    /// An assertion that every lane of `index` that the mask leaves is inside of `buf`.
    fn index(&mut self, question: IndexQuestion) -> Stmt {
        let IndexQuestion { buf, index, mask, count, innermost } = question;
        let (first, last) = self.limits(buf, count);
        let lane = |e: &Expr, lane: u16| build::shuffle(vec![e.clone()], vec![lane]);
        let (mut cond, mut low, mut high) = (build::boolean(true), None, None);
        for i in 0..index.lanes() {
            let at = if index.lanes() == 1 { index.clone() } else { lane(&index, i) };
            let mut inside = build::and(build::ge(at.clone(), first.clone()), build::le(at.clone(), last.clone()));
            if let Some(mask) = &mask {
                let on = if mask.lanes() == 1 { mask.clone() } else { lane(mask, i) };
                inside = build::or(build::not(on), inside);
            }
            cond = build::and(cond, inside);
            low = Some(low.map_or(at.clone(), |l| build::min(l, at.clone())));
            high = Some(high.map_or(at.clone(), |h| build::max(h, at.clone())));
        }
        let at = innermost.map_or(String::new(), |l| self.program.loops[l].name.clone());
        let args = [low, high].into_iter().flatten().chain([first, last]).collect();
        let fault = self.program.faults.push(Fault::Access { buf, at });
        Stmt::Assert { cond, fault, args }
    }

    /// The first and the last element of `buf`, from the one that its index 0 is.
    fn limits(&self, buf: BufId, count: Option<Expr>) -> (Expr, Expr) {
        let info = &self.program.buffers[buf];
        if let (BufferRole::Internal, Some(count)) = (info.role, count) {
            return (build::int(0), build::offset(count, -1));
        }
        let (mut first, mut last) = (build::int(0), build::int(0));
        for dim in 0..info.dims {
            let field = |field| build::sym(Sym::Buffer { buf, dim: dim as u16, field });
            let span = build::mul(build::offset(field(DimField::Extent), -1), field(DimField::Stride));
            first = build::add(first, build::min(span.clone(), build::int(0)));
            last = build::add(last, build::max(span, build::int(0)));
        }
        (first, last)
    }
}
