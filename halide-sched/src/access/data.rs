//! Intervals of integer data that become indices.

use super::floats::FloatSpan;
use super::poly::Span;
use super::read::{Definition, Reader};
use halide_core::ids::ParamId;
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_ir::hash::{Map, Set};
use halide_ir::visit::deep;
use halide_ir::{BufId, Elem, Expr, ExprKind};

/// The values that memory and parameters may hold.
#[derive(Default)]
pub(crate) struct Elements<'p> {
    /// The values that the program stores to each of its own buffers.
    stored: Map<BufId, Vec<&'p Expr>>,
    /// Buffers that closures write.
    unknown: Set<BufId>,
    /// The last binding before each allocation.
    levels: Map<BufId, u32>,
    /// Buffers whose elements are being looked at.
    open: Vec<BufId>,
    /// Intervals of the elements of buffers, as promised for inputs or found for others; `None` while one is looked
    /// for.
    known: Map<BufId, Option<Span>>,
    /// Buffers and their dimensions that elements of inputs are coordinates of.
    coordinates: Map<BufId, Vec<(BufId, u16)>>,
    params: Map<ParamId, Span>,
    float_params: Map<ParamId, FloatSpan>,
}

impl<'p> Elements<'p> {
    /// Records that the elements of an input, or a parameter, were checked to be within an interval.
    pub(crate) fn promise(&mut self, buf: BufId, span: Span) {
        self.known.insert(buf, Some(span));
    }
    /// Records that the elements of an input were checked to be coordinates of a dimension of the buffer `of`.
    pub(crate) fn promise_coordinates(&mut self, buf: BufId, of: BufId, dim: usize) {
        self.coordinates.entry(buf).or_default().push((of, dim as u16));
    }
    /// The dimensions that the elements of a buffer are coordinates of.
    pub(super) fn coordinates(&self, buf: BufId) -> &[(BufId, u16)] {
        self.coordinates.get(&buf).map_or(&[], Vec::as_slice)
    }
    /// Records the interval that a parameter was checked to be within.
    pub(crate) fn param(&mut self, param: ParamId, span: Span) {
        self.params.insert(param, span);
    }
    /// Records the interval that a float parameter was checked to be within.
    pub(crate) fn promise_float(&mut self, param: ParamId, span: FloatSpan) {
        self.float_params.insert(param, span);
    }
    /// The interval of a float parameter.
    pub(super) fn float_param(&self, param: ParamId) -> Option<FloatSpan> {
        self.float_params.get(&param).copied()
    }
    /// Records what a statement stores.
    pub(crate) fn store(&mut self, buf: BufId, value: &'p Expr) {
        self.stored.entry(buf).or_default().push(value);
    }
    /// Records that a buffer may come to hold anything.
    pub(crate) fn store_anything(&mut self, buf: BufId) {
        self.unknown.insert(buf);
    }
    /// Returns true if the program stores to a buffer.
    pub(super) fn is_stored(&self, buf: BufId) -> bool {
        self.stored.contains_key(&buf) || self.unknown.contains(&buf)
    }
    /// Records that an allocation begins behind binding `level`.
    pub(crate) fn allocate(&mut self, buf: BufId, level: u32) {
        // Copies of a loop allocate a buffer each: what one of them names, another may not know.
        self.levels.entry(buf).and_modify(|l| *l = 0).or_insert(level);
    }
    /// The last binding before an allocation; `None` for buffers of the caller, which hold what the program did not
    /// store.
    pub(super) fn level(&self, buf: BufId) -> Option<u32> {
        self.levels.get(&buf).copied()
    }
    /// The values that are stored to a buffer, until [`Elements::end`]; `None` while they are looked at, and of a
    /// buffer that may hold anything.
    pub(super) fn begin(&mut self, buf: BufId) -> Option<Vec<&'p Expr>> {
        if self.open.contains(&buf) || self.unknown.contains(&buf) {
            return None;
        }
        let values = self.stored.get(&buf)?.clone();
        self.open.push(buf);
        Some(values)
    }
    /// Ends what [`Elements::begin`] began.
    pub(super) fn end(&mut self, buf: BufId) {
        self.open.retain(|b| *b != buf);
    }
}

impl<'p> Reader<'p> {
    /// The interval of an integer, in any lane; unbounded for others.
    pub(super) fn range(&mut self, e: &Expr) -> Span {
        if let Some(known) = self.ranges.get(e) {
            return *known;
        }
        let found = deep(|| self.range_of(e));
        self.ranges.insert(e.clone(), found);
        found
    }

    fn range_of(&mut self, e: &Expr) -> Span {
        let Elem::Data(ty) = e.ty().elem else { return (None, None) };
        let whole = match ty {
            ScalarType::Bool => (Some(0), Some(1)),
            _ => (ty.int_min(), ty.int_max()),
        };
        let found = match e.kind() {
            ExprKind::Const(v) if !v.ty().is_float() => (Some(v.as_i128()), Some(v.as_i128())),
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => self.range(a),
            ExprKind::Cast(a) if a.ty().is_index() => {
                let (_, value) = self.lane(a);
                self.terms.span_of(&value)
            }
            ExprKind::Cast(a) | ExprKind::SaturatingCast(a) if a.ty().scalar().is_some_and(|t| !t.is_float()) => {
                self.range(a)
            }
            ExprKind::Cast(a) if a.ty().scalar().is_some_and(ScalarType::is_float) => {
                let ends = self.float_range(a);
                (ends.map(|(low, _)| low.trunc() as i128), ends.map(|(_, high)| high.trunc() as i128))
            }
            ExprKind::Unary(UnOp::Neg, a) => {
                let (low, high) = self.range(a);
                (high.map(|v| -v), low.map(|v| -v))
            }
            ExprKind::Binary(op, a, b) if !op.is_comparison() => self.range_of_binary(*op, a, b),
            ExprKind::Select(_, a, b) => hull(self.range(a), self.range(b)),
            ExprKind::Load { buf, .. } => self.range_in(*buf, whole),
            ExprKind::Param(p) => self.elements.params.get(p).copied().unwrap_or(whole),
            ExprKind::Sym(s) => match self.defs.get(*s).cloned() {
                Some(Definition::Let(value)) => self.range(&value),
                _ => whole,
            },
            ExprKind::Shuffle(vectors, _) => {
                let spans: Vec<Span> = vectors.iter().map(|v| self.range(v)).collect();
                spans.into_iter().reduce(hull).unwrap_or(whole)
            }
            _ => whole,
        };
        // A value that could leave the type wraps, and is anything.
        let inside =
            found.0.zip(whole.0).is_some_and(|(f, w)| f >= w) && found.1.zip(whole.1).is_some_and(|(f, w)| f <= w);
        if inside { found } else { whole }
    }

    /// Returns true if an integer operation gives what it would without the limits of its type.
    pub(super) fn stays(&mut self, e: &Expr) -> bool {
        let Elem::Data(ty) = e.ty().elem else { return false };
        let found = match e.kind() {
            ExprKind::Unary(UnOp::Neg, a) => {
                let (low, high) = self.range(a);
                (high.map(|v| -v), low.map(|v| -v))
            }
            ExprKind::Binary(op, a, b) => self.range_of_binary(*op, a, b),
            ExprKind::Cast(a) => self.range(a),
            _ => return false,
        };
        let (Some(least), Some(most)) = (ty.int_min(), ty.int_max()) else { return false };
        found.0.is_some_and(|low| low >= least) && found.1.is_some_and(|high| high <= most)
    }

    fn range_of_binary(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Span {
        let ((Some(x0), Some(x1)), (Some(y0), Some(y1))) = (self.range(a), self.range(b)) else {
            return (None, None);
        };
        let some = |low: i128, high: i128| (Some(low), Some(high));
        match op {
            BinOp::Add => (x0.checked_add(y0), x1.checked_add(y1)),
            BinOp::Sub => (x0.checked_sub(y1), x1.checked_sub(y0)),
            BinOp::Mul => {
                let corners = [(x0, y0), (x0, y1), (x1, y0), (x1, y1)].map(|(x, y)| x.checked_mul(y));
                match corners.into_iter().collect::<Option<Vec<i128>>>() {
                    Some(c) => (c.iter().copied().min(), c.iter().copied().max()),
                    None => (None, None),
                }
            }
            BinOp::Min => some(x0.min(y0), x1.min(y1)),
            BinOp::Max => some(x0.max(y0), x1.max(y1)),
            BinOp::Div if y0 == y1 && y0 > 0 => some(x0.div_euclid(y0), x1.div_euclid(y0)),
            // The remainder of zero is zero.
            BinOp::Mod if y0 >= 0 => some(0, (y1 - 1).max(0)),
            BinOp::BitAnd if y0 >= 0 => some(0, y1),
            BinOp::BitAnd if x0 >= 0 => some(0, x1),
            BinOp::Shr if y0 == y1 && (0..64).contains(&y0) => some(x0 >> y0, x1 >> y0),
            _ => (None, None),
        }
    }

    /// The interval of the elements of a buffer: of all that is ever stored there.
    fn range_in(&mut self, buf: BufId, whole: Span) -> Span {
        match self.elements.known.get(&buf) {
            Some(Some(span)) => return *span,
            // It depends on itself.
            Some(None) => return whole,
            None => {}
        }
        // Outputs may hold what the caller put there.
        let Some(values) = self.elements.level(buf).and(self.elements.stored.get(&buf).cloned()) else { return whole };
        self.elements.known.insert(buf, None);
        let spans: Vec<Span> = values.into_iter().map(|v| self.range(v)).collect();
        let found = spans.into_iter().reduce(hull).unwrap_or(whole);
        self.elements.known.insert(buf, Some(found));
        found
    }
}

fn hull(a: Span, b: Span) -> Span {
    (a.0.zip(b.0).map(|(x, y)| x.min(y)), a.1.zip(b.1).map(|(x, y)| x.max(y)))
}
