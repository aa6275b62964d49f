//! Strided loads as dense loads and shuffles.

use super::MOST_STRIDE;
use super::tile_loads::Columns;
use crate::lower::code::polynomial::{Factors, Sum, sum_of};
use crate::lower::vectors::lanes::{self, Shape};
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{self, Memo};
use halide_ir::{BufId, Expr, ExprKind, Stmt, build};

/// The elements that straight code reads with a stride. Loads that differ by a constant offset have one entry.
pub(super) struct Reads<'a> {
    spans: Map<Family, (i64, i64)>,
    /// Columns: loads of lanes that are further apart.
    columns: Columns,
    /// The buffers whose elements others may store meanwhile.
    shared: &'a Set<BufId>,
    /// The strides of buffers that no dense access goes across.
    rows: &'a Map<BufId, Vec<i64>>,
}

/// Loads that differ by a constant offset: what is equal in all of them.
#[derive(PartialEq, Eq, Hash)]
struct Family {
    buf: BufId,
    stride: i64,
    lanes: u16,
    /// The base without its constant.
    base: Vec<(Factors, i64)>,
}

/// A load of every `stride`-th element.
struct Strided {
    family: Family,
    /// The scalar base, and its constant part.
    base: Sum,
    elem: ScalarType,
}

impl<'a> Reads<'a> {
    /// Collects the strided reads of the straight code of `s`, while others may store to `shared`.
    pub(super) fn of(s: &Stmt, shared: &'a Set<BufId>, rows: &'a Map<BufId, Vec<i64>>) -> Reads<'a> {
        let mut reads = Reads { spans: Map::default(), columns: Columns::default(), shared, rows };
        reads.collect(s);
        reads
    }

    pub(super) fn shared(&self) -> &'a Set<BufId> {
        self.shared
    }

    pub(super) fn rows(&self) -> &'a Map<BufId, Vec<i64>> {
        self.rows
    }

    fn collect(&mut self, s: &Stmt) {
        match s {
            // Its condition is asked only where it has an iteration to run.
            Stmt::For(l) => [&l.min, &l.extent].into_iter().for_each(|e| self.note(e)),
            _ => visit::for_each_expr(s, |e| self.note(e)),
        }
        if !matches!(s, Stmt::For(_) | Stmt::If { .. } | Stmt::Alloc { .. }) {
            visit::for_each_stmt(s, |inner| self.collect(inner));
        }
    }

    fn note(&mut self, e: &Expr) {
        visit::for_each_node(e, &mut |n| {
            if let Some(Strided { family, base, .. }) = strided(n) {
                let span = self.spans.entry(family).or_insert((base.constant, base.constant));
                *span = (span.0.min(base.constant), span.1.max(base.constant));
            }
            self.columns.add(n);
        });
    }

    /// `e` with its strided loads made dense.
    pub(super) fn dense(&self, e: &Expr) -> Expr {
        Memo::new().rewrite(e, |n, done| {
            let n = visit::map_children(n, done);
            if let Some(load) = strided(&n) {
                return self.dense_load(&load).unwrap_or(n);
            }
            self.columns.of_tile(&n, self.rows).or_else(|| repeated(&n)).unwrap_or(n)
        })
    }

    /// The dense loads start at multiples of a vector from the first element that is read, so that loads of neighbours
    /// meet in the same ones; those that would go beyond the last element read step back so that they end with it.
    fn dense_load(&self, load: &Strided) -> Option<Expr> {
        if self.shared.contains(&load.family.buf) {
            return None;
        }
        let (first, last) = *self.spans.get(&load.family)?;
        let (stride, n) = (load.family.stride, i64::from(load.family.lanes));
        let own = load.base.constant;
        let start = first + (own - first) / stride * stride;
        let end = last + (n - 1) * stride + 1;
        let rest = sum_of(load.base.terms());
        let mut firsts: Vec<i64> = Vec::new();
        let lanes = (0..n).map(|i| own + i * stride).map(|element| {
            let at = (start + (element - start) / n * n).min(end - n);
            if firsts.last() != Some(&at) {
                firsts.push(at);
            }
            ((firsts.len() as i64 - 1) * n + element - at) as u16
        });
        let lanes = lanes.collect();
        let vectors = firsts.iter().map(|at| {
            let index = build::ramp(build::offset(rest.clone(), *at), build::int(1), load.family.lanes);
            build::load(load.family.buf, load.elem, index, None)
        });
        Some(build::shuffle(vectors.collect(), lanes))
    }
}

/// The buffers that the body of a loop stores to and that outlive an iteration of it.
pub(super) fn stored_beyond(body: &Stmt) -> Set<BufId> {
    fn collect(s: &Stmt, stored: &mut Set<BufId>) {
        if let Stmt::Store { buf, .. } = s {
            stored.insert(*buf);
        }
        if let Stmt::Call { args, .. } = s {
            stored.extend(args.iter().map(|arg| arg.buf));
        }
        visit::for_each_stmt(s, |inner| collect(inner, stored));
        if let Stmt::Alloc { buf, .. } = s {
            stored.remove(buf);
        }
    }
    let mut stored = Set::default();
    collect(body, &mut stored);
    stored
}

fn strided(e: &Expr) -> Option<Strided> {
    let ExprKind::Load { buf, index, mask: None } = e.kind() else { return None };
    let Shape::Ramp(base, stride) = lanes::shape(index) else { return None };
    let stride = build::as_int(&stride).filter(|s| (2..=MOST_STRIDE).contains(s))?;
    let base = Sum::of(&base)?;
    let family = Family { buf: *buf, stride, lanes: e.lanes(), base: base.key() };
    Some(Strided { family, base, elem: e.ty().scalar()? })
}

/// A load at `u + (b + s * i) / k` as loads of every p-th lane, interleaved: lanes that are p apart, where p * s is a
/// multiple of k, are a constant number of elements apart.
fn repeated(e: &Expr) -> Option<Expr> {
    let ExprKind::Load { buf, index, mask: None } = e.kind() else { return None };
    let (quotient, rest) = one_quotient(index)?;
    let ExprKind::Binary(BinOp::Div, dividend, divisor) = quotient.kind() else { return None };
    let Shape::Ramp(base, step) = lanes::shape(dividend) else { return None };
    let (step, divisor) = (build::as_int(&step)?, build::as_int(divisor)?);
    let (n, elem) = (i64::from(e.lanes()), e.ty().scalar()?);
    if !(2..=MOST_STRIDE).contains(&divisor) {
        return None;
    }
    let period = (1..=divisor).find(|p| p * step % divisor == 0)?;
    if n % period != 0 || n == period {
        return None;
    }
    let parts = (0..period).map(|j| {
        let first = build::div(build::offset(base.clone(), j * step), build::int(divisor));
        let stride = build::int(period * step / divisor);
        let index = build::ramp(build::add(rest.clone(), first), stride, (n / period) as u16);
        build::load(*buf, elem, index, None)
    });
    let lanes = (0..n).map(|i| (i % period * (n / period) + i / period) as u16);
    Some(build::shuffle(parts.collect(), lanes.collect()))
}

/// `index` as a quotient and the scalar that is added to it, if it is of that form.
fn one_quotient(index: &Expr) -> Option<(Expr, Expr)> {
    match index.kind() {
        ExprKind::Binary(BinOp::Div, ..) if index.lanes() > 1 => Some((index.clone(), build::int(0))),
        ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
            if let Some(uniform) = lanes::uniform(b) {
                let (quotient, rest) = one_quotient(a)?;
                return Some((quotient, build::binary(*op, rest, uniform)));
            }
            let uniform = lanes::uniform(a).filter(|_| *op == BinOp::Add)?;
            let (quotient, rest) = one_quotient(b)?;
            Some((quotient, build::add(uniform, rest)))
        }
        _ => None,
    }
}
