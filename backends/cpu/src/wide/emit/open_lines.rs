//! Write combining: the lines that a loop fills in parts, and the rows that it fills in turns.
//!
//! A non-temporal store of a part of a line waits in one of a few buffers of the core until the line is full. Where
//! more lines are open at once than there are such buffers, each part goes to memory by itself, which takes several
//! times as long as a store through the caches. Rows that are whole pages apart leave early even where each of their
//! lines is filled at once, unless several lines follow each other before it is the turn of another row.
//!
//! Before: `for x { out[x*8 .. x*8+8] = a; out[x*8+stride .. x*8+stride+8] = b }`, in vectors of 32 bytes
//! After: 2 lines, one for each row, until the next iteration fills it; 2 rows in turns
//! Example: `rows_of_half_lines_are_open_at_once` in this file.

use super::levels::stored;
use crate::shared::linear::{Linear, Sums};
use crate::tuning::{LINE_BYTES, LINES_OF_TURN};
use halide_core::ops::{BinOp, UnOp};
use halide_ir::hash::Map;
use halide_ir::visit::{deep, for_each_child, for_each_stmt};
use halide_ir::{BufId, Expr, ExprKind, For, LoopId, Program, Stmt, Stream, Sym, build};

/// The stores of a loop to a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Open {
    /// The lines that are open at once.
    pub(super) lines: u64,
    /// The rows that take turns after fewer than [`LINES_OF_TURN`] lines.
    pub(super) rows: u64,
}

/// The lines of buffers that the loops of a kernel have open at once.
pub(super) struct OpenLines(Map<(LoopId, BufId), Open>);

impl OpenLines {
    /// Counts the lines of a nest that is stored by registers of so many bytes.
    pub(super) fn new(program: &Program, nest: &For, register_bytes: usize) -> OpenLines {
        if !stored(&[&nest.body]).iter().any(|buf| program.buffers[*buf].stream == Stream::IfLarge) {
            return OpenLines(Map::default());
        }
        let mut walk =
            Walk { program, register_bytes, sums: Sums::default(), loops: Vec::new(), by_loop: Map::default() };
        walk.enter(nest);
        OpenLines(walk.by_loop)
    }
    /// The lines of a buffer that are open at once where it is stored directly in a loop, and its rows.
    pub(super) fn of(&self, inner: LoopId, buf: BufId) -> Open {
        self.0.get(&(inner, buf)).copied().unwrap_or_default()
    }
}

/// A loop around the place where a walk is.
struct Around {
    id: LoopId,
    trip: Option<u64>,
    /// The dense stores directly in it.
    stores: Vec<(BufId, Expr, u16)>,
}

/// Stores whose indices differ by constants.
struct Row {
    /// The index of one of them.
    index: Expr,
    /// The first element of each, and the one behind its last one.
    pieces: Vec<(i64, i64)>,
}

struct Walk<'p> {
    program: &'p Program,
    register_bytes: usize,
    /// The definitions of names inside of the nest.
    sums: Sums,
    loops: Vec<Around>,
    by_loop: Map<(LoopId, BufId), Open>,
}

impl Walk<'_> {
    fn enter(&mut self, l: &For) {
        let trip = build::as_int(&l.extent);
        if trip == Some(1) {
            self.sums.insert(Sym::Loop(l.id), l.min.clone());
            return self.stmt(&l.body);
        }
        let trip = trip.map(|n| n.max(0).unsigned_abs());
        self.loops.push(Around { id: l.id, trip, stores: Vec::new() });
        self.stmt(&l.body);
        self.count();
        self.loops.pop();
    }
    fn stmt(&mut self, s: &Stmt) {
        match s {
            Stmt::For(l) => self.enter(l),
            Stmt::Let { bindings, body } => {
                let names = bindings.iter().filter(|(_, value)| value.ty().is_index());
                self.sums.extend(names.map(|(name, value)| (*name, value.clone())));
                self.stmt(body);
            }
            Stmt::Store { buf, index, value, mask: None } => {
                let (info, lanes) = (&self.program.buffers[*buf], value.lanes());
                let bytes = usize::from(lanes) * info.elem.bytes();
                let is_whole = bytes.is_multiple_of(self.register_bytes);
                if is_whole
                    && info.stream == Stream::IfLarge
                    && let Some(around) = self.loops.last_mut()
                {
                    around.stores.push((*buf, index.clone(), lanes));
                }
            }
            _ => for_each_stmt(s, |inner| self.stmt(inner)),
        }
    }
    /// Counts the lines that the innermost loop has open.
    fn count(&mut self) {
        let Some(inner) = self.loops.last() else { return };
        // Stores to one row, which differ by constants.
        let mut rows: Map<(BufId, Vec<(Expr, i64)>), Row> = Map::default();
        for (buf, index, lanes) in &inner.stores {
            let Linear { constant, step, terms, steps, vectors } = Linear::of_index(index, &self.sums);
            if *lanes > 1 && (step != 1 || !steps.is_empty() || !vectors.is_empty()) {
                continue;
            }
            let row = rows.entry((*buf, terms)).or_insert_with(|| Row { index: index.clone(), pieces: Vec::new() });
            row.pieces.push((constant, constant.wrapping_add(i64::from(*lanes))));
        }
        let mut found: Map<BufId, Open> = Map::default();
        for ((buf, _), Row { index, mut pieces }) in rows {
            pieces.sort_unstable();
            let mut runs: Vec<(i64, i64)> = Vec::new();
            for (first, end) in pieces {
                match runs.last_mut() {
                    Some((_, last)) if first <= *last => *last = end.max(*last),
                    _ => runs.push((first, end)),
                }
            }
            let bytes = self.program.buffers[buf].elem.bytes() as u64;
            for length in runs.into_iter().map(|(first, end)| end.wrapping_sub(first).unsigned_abs()) {
                let all = length.saturating_mul(bytes);
                if all >= LINES_OF_TURN * LINE_BYTES {
                    continue;
                }
                let (open, rows) = (found.entry(buf).or_default(), self.open(&index, length));
                open.rows = open.rows.saturating_add(rows);
                if all < LINE_BYTES {
                    open.lines = open.lines.saturating_add(rows);
                }
            }
        }
        let inner = inner.id;
        self.by_loop.extend(found.into_iter().map(|(buf, open)| ((inner, buf), open)));
    }
    /// The rows in which a run of so many elements is stored until an iteration of some loop around it goes on with the
    /// first of them.
    fn open(&self, index: &Expr, length: u64) -> u64 {
        let mut rows = 1u64;
        for around in self.loops.iter().rev() {
            match self.rate(index, around.id, &mut Map::default()) {
                Some(0) => {}
                Some(rate) if rate.unsigned_abs() <= length => break,
                _ => rows = rows.saturating_mul(around.trip.unwrap_or(u64::MAX)),
            }
        }
        rows
    }
    /// The difference of an index from one iteration of a loop to the next, if it is a constant; of a choice, the
    /// larger one.
    fn rate(&self, e: &Expr, l: LoopId, memo: &mut Map<Expr, Option<i64>>) -> Option<i64> {
        if let Some(known) = memo.get(e) {
            return *known;
        }
        let made = deep(|| self.rate_of(e, l, memo));
        memo.insert(e.clone(), made);
        made
    }
    fn rate_of(&self, e: &Expr, l: LoopId, memo: &mut Map<Expr, Option<i64>>) -> Option<i64> {
        match e.kind() {
            ExprKind::Sym(Sym::Loop(id)) if *id == l => Some(1),
            ExprKind::Sym(name) => self.sums.get(name).map_or(Some(0), |value| self.rate(value, l, memo)),
            ExprKind::Likely(a) | ExprKind::Broadcast(a) | ExprKind::Ramp { base: a, .. } => self.rate(a, l, memo),
            ExprKind::Unary(UnOp::Neg, a) => self.rate(a, l, memo)?.checked_neg(),
            ExprKind::Binary(BinOp::Add, a, b) => self.rate(a, l, memo)?.checked_add(self.rate(b, l, memo)?),
            ExprKind::Binary(BinOp::Sub, a, b) => self.rate(a, l, memo)?.checked_sub(self.rate(b, l, memo)?),
            ExprKind::Binary(BinOp::Mul, a, b) => match (self.rate(a, l, memo)?, self.rate(b, l, memo)?) {
                (0, 0) => Some(0),
                (rate, 0) => rate.checked_mul(build::as_int(b)?),
                (0, rate) => rate.checked_mul(build::as_int(a)?),
                _ => None,
            },
            ExprKind::Binary(BinOp::Min | BinOp::Max, a, b) | ExprKind::Select(_, a, b) => {
                let (a, b) = (self.rate(a, l, memo)?, self.rate(b, l, memo)?);
                Some(if a.unsigned_abs() >= b.unsigned_abs() { a } else { b })
            }
            _ => {
                let mut parts = Vec::new();
                for_each_child(e, |child| parts.push(child.clone()));
                parts.iter().all(|part| self.rate(part, l, memo) == Some(0)).then_some(0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_core::types::ScalarType;
    use halide_core::value::Scalar;
    use halide_ir::{BufferInfo, BufferRole, DimField, ForKind, Memory, Side, Stage};

    /// The lines that `for a { for b { stores } }` has open and the rows, where the loops have so many iterations, and
    /// `stores` makes indices of vectors of eight lanes of a and b.
    fn open(trips: [Option<i64>; 2], stores: impl Fn(Expr, Expr) -> Vec<Expr>) -> [u64; 2] {
        let mut p = Program::empty(Stage::Flat);
        let out = p.buffers.push(BufferInfo {
            name: "out".to_string(),
            elem: ScalarType::F32,
            dims: 2,
            role: BufferRole::Output(0),
            order: vec![0, 1],
            align: vec![1, 1],
            fold: vec![None, None],
            unit_stride: Some(0),
            memory: Memory::Auto,
            keeps: false,
            stream: Stream::IfLarge,
            side: Side::Host,
        });
        let [a, b] = ["a", "b"].map(|name| p.loops.push(name.to_string().into()));
        let value = build::broadcast(build::constant(Scalar::from(1.0f32)), 8);
        let store = |first: Expr| {
            let index = build::ramp(first, build::int(1), 8);
            Stmt::Store { buf: out, index, value: value.clone(), mask: None }
        };
        let all = stores(build::loop_var(a), build::loop_var(b)).into_iter().map(store);
        let mut body = build::block(all.collect::<Vec<_>>());
        for (n, id) in [b, a].into_iter().enumerate() {
            let trip = trips[1 - n].map_or(field(n as u16, DimField::Extent), build::int);
            body = build::for_loop(id, ForKind::Serial, build::int(0), trip, body);
        }
        let Stmt::For(nest) = &body else { return [0; 2] };
        let Open { lines, rows } = OpenLines::new(&p, nest, 32).of(if trips[1] == Some(1) { a } else { b }, out);
        [lines, rows]
    }
    fn field(dim: u16, field: DimField) -> Expr {
        build::sym(Sym::Buffer { buf: BufId(0), dim, field })
    }
    /// The first element of a vector of a row.
    fn at(row: Expr, vector: Expr) -> Expr {
        build::add(build::mul(row, field(1, DimField::Stride)), build::mul(vector, build::int(8)))
    }

    #[test]
    fn rows_of_half_lines_are_open_at_once() {
        let rows = |count: i64| {
            move |y: Expr, x: Expr| (0..count).map(|n| at(build::offset(y.clone(), n), x.clone())).collect()
        };
        assert_eq!(open([None, None], rows(1)), [1; 2]);
        assert_eq!(open([None, None], rows(10)), [10; 2]);
        assert_eq!(open([None, Some(1)], rows(3)), [u64::MAX; 2], "the loop over rows is the only one");
    }
    #[test]
    fn lines_that_an_iteration_fills_are_not_open() {
        let vectors = |rows: i64, count: i64| {
            move |y: Expr, x: Expr| {
                let first = |row| at(build::offset(y.clone(), row), build::mul(x.clone(), build::int(count)));
                (0..rows)
                    .flat_map(|row| (0..count).map(move |n| (row, n)))
                    .map(|(row, n)| build::offset(first(row), 8 * n))
                    .collect()
            }
        };
        assert_eq!(open([None, None], vectors(1, 2)), [0, 1]);
        assert_eq!(open([None, None], vectors(3, 2)), [0, 3]);
        assert_eq!(open([None, None], vectors(3, 8)), [0, 0], "whole turns");
    }
    #[test]
    fn loops_over_rows_open_a_line_each() {
        let planes = |x: Expr, c: Expr| vec![at(c, x)];
        assert_eq!(open([None, Some(3)], planes), [3; 2]);
        assert_eq!(open([None, None], planes), [u64::MAX; 2]);
        // The edge of a clamped row goes on as its middle does.
        let clamped = |y: Expr, x: Expr| {
            let last = build::offset(field(0, DimField::Extent), -8);
            let first = build::binary(BinOp::Min, build::mul(x, build::int(8)), last);
            vec![build::add(at(y, build::int(0)), first)]
        };
        assert_eq!(open([None, None], clamped), [1; 2]);
    }
}
