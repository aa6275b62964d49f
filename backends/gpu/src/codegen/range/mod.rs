//! The check that the coordinates of one dispatch fit the 32 bits that kernels compute them in.
//!
//! Index arithmetic is exact in 64 bits in loop IR; kernels compute it in 32, which is right if every value on the way
//! fits. What depends on the arguments is known only when a kernel is dispatched: then intervals of all Index values
//! are computed from those of the block numbers, positions of threads and loop variables, and from the scalars
//! themselves. Values of data that become coordinates are followed as far as their operators bound them. The answer may
//! be no without need, never yes without right.

mod floats;

use crate::tuning::RANGE_LOOKS;
use halide_backend::{FloatRange, Interval};
use halide_core::ids::ParamId;
use halide_core::ops::UnOp;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::hash::Map;
use halide_ir::{BufId, Elem, Expr, ExprKind, For, ForKind, Kernel, Program, Stmt, Sym, Type, build, visit};

/// The range of i32, in which kernels compute Index values.
const WORD: Interval = Interval { low: i32::MIN as i128, high: i32::MAX as i128 };

/// Returns true if every Index value that `kernel` may compute for these arguments is within i32, so that its 32-bit
/// arithmetic is exact. `scalars`, `offsets` and `grid` are those of the dispatch, see [`super::Layout::pack`].
pub fn fits(program: &Program, kernel: &Kernel, scalars: &[u64], offsets: &[i64], grid: &[i64]) -> bool {
    look(program, kernel, scalars, offsets, grid, u64::MAX).0
}

/// Returns the answer of [`fits`] and the most iterations of serial loops that one thread runs, inner loops counted
/// each time.
///
/// Ends of loops that depend on the number of a block in several ways, as those of the parts of a loop do that was cut
/// at the borders of an image, are known too loosely from the numbers of all blocks at once. So where coordinates do
/// not fit, or there are more iterations than `most`, blocks are looked at in halves, down to single ones.
pub fn look(
    program: &Program,
    kernel: &Kernel,
    scalars: &[u64],
    offsets: &[i64],
    grid: &[i64],
    most: u64,
) -> (bool, u64) {
    if kernel.blocks.iter().zip(grid).any(|(_, &blocks)| blocks <= 0) {
        return (true, 0);
    }
    let dispatch = Dispatch { program, kernel, scalars, offsets };
    let whole: Vec<Interval> =
        grid.iter().take(kernel.blocks.len()).map(|&blocks| Interval::new(0, i128::from(blocks) - 1)).collect();
    let (mut fits, mut iterations) = (true, 0);
    let mut left = vec![whole];
    for looked_at in 0.. {
        let Some(blocks) = left.pop() else { break };
        let found = dispatch.look(&blocks);
        if (found.0 && found.1 <= most) || looked_at >= RANGE_LOOKS {
            (fits, iterations) = (fits && found.0, iterations.max(found.1));
            continue;
        }
        match halves(&blocks) {
            Some(parts) => left.extend(parts),
            None => return found,
        }
    }
    (fits, iterations)
}

/// Two halves of a set of blocks; `None` of a single one.
fn halves(blocks: &[Interval]) -> Option<[Vec<Interval>; 2]> {
    let (widest, all) = blocks.iter().enumerate().max_by_key(|(_, i)| i.high - i.low)?;
    let middle = all.low + (all.high - all.low) / 2;
    let part = |low, high| {
        let mut part = blocks.to_vec();
        part[widest] = Interval::new(low, high);
        part
    };
    (all.low < all.high).then(|| [part(all.low, middle), part(middle + 1, all.high)])
}

/// The start of a kernel.
struct Dispatch<'a> {
    program: &'a Program,
    kernel: &'a Kernel,
    scalars: &'a [u64],
    offsets: &'a [i64],
}

impl Dispatch<'_> {
    /// Returns true if coordinates in these blocks fit, and the most iterations that a thread of them runs.
    fn look(&self, blocks: &[Interval]) -> (bool, u64) {
        let Dispatch { program, kernel, scalars, offsets } = *self;
        let mut walk = Walk {
            program,
            threads: kernel.threads,
            symbols: Map::default(),
            params: Map::default(),
            first: Map::default(),
            known: Map::default(),
            floats: floats::Known::default(),
            fits: true,
            iterations: 0,
        };
        for (id, &numbers) in kernel.blocks.iter().zip(blocks) {
            walk.index(numbers);
            walk.symbols.insert(Sym::Loop(*id), numbers);
        }
        for ((symbol, ty), &bits) in kernel.captures.iter().zip(scalars) {
            let value = walk.scalar(ty.elem, bits);
            walk.symbols.insert(*symbol, value);
            if let Elem::Data(ty) = ty.elem {
                walk.floats.bind(*symbol, ty, bits);
            }
        }
        for (id, &bits) in kernel.params.iter().zip(scalars.iter().skip(kernel.captures.len())) {
            let ty = program.params.get(*id).map_or(ScalarType::I64, |(_, ty)| *ty);
            let value = walk.scalar(Elem::Data(ty), bits);
            walk.params.insert(*id, value);
            walk.floats.give(*id, ty, bits);
        }
        let given = kernel.buffers.iter().map(|b| b.buf).zip(offsets.iter().map(|&o| i128::from(o)));
        let shared = kernel.shared.iter().map(|row| (row.buf, i128::from(row.first_word)));
        walk.first.extend(given.chain(shared));
        walk.stmt(&kernel.body);
        (walk.fits, u64::try_from(walk.iterations).unwrap_or(u64::MAX))
    }
}

struct Walk<'a> {
    program: &'a Program,
    threads: [u32; 3],
    symbols: Map<Sym, Interval>,
    params: Map<ParamId, Interval>,
    /// The offset of each buffer, which is added to the numbers of its elements.
    first: Map<BufId, i128>,
    /// Each symbol is bound once in a program, so an expression means the same everywhere.
    known: Map<Expr, Interval>,
    floats: floats::Known,
    fits: bool,
    /// The iterations of the serial loops so far, within one iteration of those around.
    iterations: i128,
}

impl Walk<'_> {
    /// The value of a scalar of the dispatch.
    fn scalar(&mut self, elem: Elem, bits: u64) -> Interval {
        match elem {
            Elem::Index => {
                let value = Interval::point(i128::from(bits as i64));
                self.index(value);
                value
            }
            Elem::Data(ty) if ty.is_float() => Interval::of_type(ty),
            Elem::Data(ty) => Interval::point(Scalar::from_bits(ty, bits).as_i128()),
        }
    }
    /// Notes that an Index value is computed.
    fn index(&mut self, values: Interval) {
        self.fits &= values.within(WORD);
    }

    fn stmt(&mut self, s: &Stmt) {
        match s {
            Stmt::For(l) => return self.for_loop(l),
            Stmt::Let { bindings, .. } => {
                for (symbol, value) in bindings {
                    let values = self.eval(value);
                    self.symbols.insert(*symbol, values);
                    if value.ty().scalar().is_some_and(|ty| ty.is_float()) {
                        let floats = self.float(value);
                        self.floats.symbols.insert(*symbol, floats);
                    }
                }
            }
            Stmt::Store { buf, index, .. } => {
                let index = self.eval(index);
                self.address(*buf, index);
                visit::for_each_expr(s, |e| _ = self.eval(e));
            }
            _ => visit::for_each_expr(s, |e| _ = self.eval(e)),
        }
        visit::for_each_stmt(s, |inner| self.stmt(inner));
    }
    fn for_loop(&mut self, l: &For) {
        let (min, extent) = (self.eval(&l.min), self.eval(&l.extent));
        let mut count = extent.high;
        if l.kind == ForKind::GpuThreads {
            count = count.min(self.threads.iter().copied().max().unwrap_or(1).into());
        }
        if count <= 0 {
            return;
        }
        let values = min.sum(Interval::new(0, count - 1));
        self.index(values);
        if l.kind == ForKind::Serial {
            // Where the loop ends.
            self.index(min.sum(extent));
        }
        self.symbols.insert(Sym::Loop(l.id), values);
        l.condition.iter().for_each(|e| _ = self.eval(e));
        let before = std::mem::take(&mut self.iterations);
        visit::deep(|| self.stmt(&l.body));
        let each = if l.kind == ForKind::Serial { self.iterations.saturating_add(1) } else { self.iterations };
        let times = if l.kind == ForKind::Serial { count } else { 1 };
        self.iterations = before.saturating_add(each.saturating_mul(times));
    }
    /// Notes that elements of a buffer are accessed. Those of 64 bits have two words each.
    fn address(&mut self, buf: BufId, index: Interval) {
        let wide = self.program.buffers.get(buf).is_some_and(|b| b.elem.bytes() == 8);
        let first = Interval::point(self.first.get(&buf).copied().unwrap_or(0));
        let element = index.sum(first);
        self.index(element);
        if wide {
            self.index(element.sum(element).sum(Interval::point(1)));
            self.index(index.sum(index).sum(first).sum(Interval::point(1)));
        }
    }

    /// The values of all lanes of an expression.
    fn eval(&mut self, e: &Expr) -> Interval {
        if let Some(&known) = self.known.get(e) {
            return known;
        }
        let made = visit::deep(|| self.compute(e));
        let made = match e.ty().elem {
            Elem::Index => {
                self.index(made);
                made
            }
            // Arithmetic on data wraps: then it can be anything.
            Elem::Data(ty) if made.within(Interval::of_type(ty)) => made,
            Elem::Data(ty) => Interval::of_type(ty),
        };
        self.known.insert(e.clone(), made);
        made
    }
    fn compute(&mut self, e: &Expr) -> Interval {
        let any = anything(e.ty());
        match e.kind() {
            ExprKind::Int(v) => Interval::point((*v).into()),
            ExprKind::Const(c) if c.ty().is_float() => any,
            ExprKind::Const(c) => Interval::point(c.as_i128()),
            ExprKind::Sym(s) => self.symbols.get(s).copied().unwrap_or(any),
            ExprKind::Param(id) => self.params.get(id).copied().unwrap_or(any),
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => self.eval(a),
            ExprKind::Unary(UnOp::Neg, a) => self.eval(a).negated(),
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.eval(a), self.eval(b));
                match a.ty().scalar() {
                    _ if op.is_comparison() => any,
                    Some(ty) if ty.is_float() => any,
                    _ => Interval::binary(*op, x, y).unwrap_or(any),
                }
            }
            ExprKind::Select(c, a, b) => {
                self.eval(c);
                self.eval(a).hull(self.eval(b))
            }
            ExprKind::Cast(a) => {
                let values = self.eval(a);
                match (a.ty().scalar(), e.ty().scalar()) {
                    (Some(from), Some(to)) if from.is_float() && !to.is_float() => self.float(a).to_integers(to),
                    (Some(from), _) if from.is_float() => any,
                    _ => values,
                }
            }
            ExprKind::SaturatingCast(a) => {
                let values = self.eval(a);
                match (a.ty().scalar(), e.ty().scalar()) {
                    (Some(from), Some(to)) if from.is_float() && !to.is_float() => self.float(a).to_integers(to),
                    (Some(from), _) if from.is_float() => any,
                    _ => values.clamp(any),
                }
            }
            ExprKind::Load { buf, index, mask } => {
                mask.iter().for_each(|m| _ = self.eval(m));
                let index = self.eval(index);
                self.address(*buf, index);
                any
            }
            ExprKind::Ramp { base, stride } => self.ramp(base, stride, e.lanes()),
            ExprKind::Shuffle(vectors, _) => {
                let all: Vec<Interval> = vectors.iter().map(|v| self.eval(v)).collect();
                all.into_iter().reduce(Interval::hull).unwrap_or(any)
            }
            _ => {
                visit::for_each_child(e, |c| _ = self.eval(c));
                any
            }
        }
    }
    fn ramp(&mut self, base: &Expr, stride: &Expr, lanes: u16) -> Interval {
        let (first, step) = (self.eval(base), self.eval(stride));
        let last = Interval::point(i128::from(lanes) - 1);
        let distance = step.product(last);
        if build::as_int(stride).is_none() {
            self.index(distance);
        }
        first.hull(first.sum(distance))
    }
    /// The floats that all lanes of an expression of floats may be.
    fn float(&mut self, e: &Expr) -> FloatRange {
        if let Some(&known) = self.floats.made.get(e) {
            return known;
        }
        let made = visit::deep(|| self.floats_of(e));
        self.floats.made.insert(e.clone(), made);
        made
    }

    fn floats_of(&mut self, e: &Expr) -> FloatRange {
        let any = FloatRange::ANYTHING;
        let Some(ty) = e.ty().scalar() else { return any };
        match e.kind() {
            ExprKind::Const(c) => FloatRange::point(c.as_f64()),
            ExprKind::Sym(s) => self.floats.symbols.get(s).copied().unwrap_or(any),
            ExprKind::Param(id) => self.floats.params.get(id).copied().unwrap_or(any),
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => self.float(a),
            ExprKind::Unary(op, a) => FloatRange::unary(*op, self.float(a), ty),
            ExprKind::Binary(op, a, b) => FloatRange::binary(*op, self.float(a), self.float(b), ty),
            ExprKind::Select(_, a, b) => self.float(a).hull(self.float(b)),
            ExprKind::Cast(a) => match a.ty().scalar() {
                Some(from) if from.is_float() => self.float(a).rounded(ty),
                _ => FloatRange::of_integers(self.eval(a), ty),
            },
            ExprKind::Shuffle(vectors, _) => {
                let all: Vec<FloatRange> = vectors.iter().map(|v| self.float(v)).collect();
                all.into_iter().reduce(FloatRange::hull).unwrap_or(any)
            }
            _ => any,
        }
    }
}

/// All values of a type; of an Index, more than fit.
fn anything(ty: Type) -> Interval {
    match ty.elem {
        Elem::Index => Interval { low: i64::MIN.into(), high: i64::MAX.into() },
        Elem::Data(ty) => Interval::of_type(ty),
    }
}
