//! The coordinates of a buffer that a statement accesses, as they are known in front of it.

use crate::lower::outer_scope_values::SeenFrom;
use halide_ir::visit::{self, deep};
use halide_ir::{BufId, Expr, ExprKind, Stmt, build};
use halide_solve::bounds::Interval;
use halide_solve::simplify::{BoundQuery, Facts, simplify};

/// Returns true if no element of a buffer that `writer` writes is one that `reader` accesses, and if both together are
/// inside of what a folded dimension keeps (`fold`, per dimension).
pub(super) fn are_apart(writer: &Stmt, reader: &Stmt, buf: BufId, fold: &[Option<i64>], facts: &Facts) -> bool {
    let written = Search::of(buf, true, writer, facts);
    let read = Search::of(buf, false, reader, facts);
    let less = |a: &Option<Expr>, b: &Option<Expr>, by: i64| match (a, b) {
        (Some(a), Some(b)) => BoundQuery::difference(a, b, facts).is_at_most(by),
        _ => false,
    };
    let is_apart = |dim: usize, w: &Interval, r: &Interval| {
        let fold = fold.get(dim).copied().flatten();
        let within = |last, first| fold.is_none_or(|fold| less(last, first, fold - 1));
        (less(&r.max, &w.min, -1) && within(&w.max, &r.min)) || (less(&w.max, &r.min, -1) && within(&r.max, &w.min))
    };
    let pairs = |dim: usize| written.iter().all(|w| read.iter().all(|r| is_apart(dim, &w[dim], &r[dim])));
    let dims = written.first().map_or(0, Vec::len);
    written.is_empty() || read.is_empty() || (0..dims).any(pairs)
}

/// A walk over a statement.
struct Search<'a> {
    buf: BufId,
    /// True for what is stored, false for what is accessed in any way.
    stores: bool,
    facts: &'a Facts,
    seen: SeenFrom,
    found: Vec<Vec<Interval>>,
}

impl Search<'_> {
    fn of(buf: BufId, stores: bool, s: &Stmt, facts: &Facts) -> Vec<Vec<Interval>> {
        let mut search = Search { buf, stores, facts, seen: SeenFrom::default(), found: Vec::new() };
        search.statement(s);
        search.found
    }

    fn statement(&mut self, s: &Stmt) {
        if !self.stores {
            visit::for_each_expr(s, |e| {
                visit::for_each_node(e, &mut |n| match n.kind() {
                    ExprKind::Read { buf, args } if *buf == self.buf => self.add(args),
                    _ => {}
                })
            });
        }
        match s {
            Stmt::Provide { args, values, .. } if values.iter().any(|(buf, _)| *buf == self.buf) => self.add(args),
            // A closure may do either with what it is handed.
            Stmt::Call { args, .. } => {
                let last = |(min, extent): &(Expr, Expr)| build::offset(build::add(min.clone(), extent.clone()), -1);
                for arg in args {
                    if arg.buf == self.buf {
                        self.add_box(arg.bounds.iter().map(|bound| (bound.0.clone(), last(bound))));
                    }
                }
            }
            Stmt::Let { bindings, .. } => {
                bindings
                    .iter()
                    .for_each(|(s, value)| self.seen.bind_let(*s, &visit::without_likely(value), self.facts));
            }
            Stmt::For(l) => {
                let [min, extent] = [&l.min, &l.extent].map(visit::without_likely);
                self.seen.bind_loop(l.id, &min, &extent, self.facts);
            }
            _ => {}
        }
        visit::nested(s).for_each(|inner| deep(|| self.statement(inner)));
    }

    fn add(&mut self, args: &[Expr]) {
        self.add_box(args.iter().map(|e| (e.clone(), e.clone())));
    }

    /// Adds what lies between the first and the last coordinate of each dimension.
    fn add_box(&mut self, ends: impl Iterator<Item = (Expr, Expr)>) {
        let range = |e: &Expr| {
            let e = simplify(&self.seen.expanded(&visit::without_likely(e), self.facts), self.facts);
            self.seen.within(&e, self.facts)
        };
        let found = ends.map(|(first, last)| match first == last {
            true => range(&first),
            false => Interval { min: range(&first).min, max: range(&last).max },
        });
        let found = found.collect();
        if !self.found.contains(&found) {
            self.found.push(found);
        }
    }
}
