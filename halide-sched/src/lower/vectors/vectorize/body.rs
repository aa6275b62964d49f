//! One loop body for all lanes at once.

use super::combine;
use super::mask;
use super::scan;
use super::vary::Varying;
use crate::lower::loops::copy::fresh_temp;
use crate::lower::vectors::lanes::{self, Shape};
use crate::lower::vectors::some_lane::some_lane;
use halide_core::ops::BinOp;
use halide_ir::hash::Map;
use halide_ir::visit::{self, Memo};
use halide_ir::{BufId, Expr, ExprKind, For, PrintId, Program, Stmt, Sym, Type, build};
use std::collections::BTreeSet;

/// The body of `l` with `lanes` iterations side by side, or why that cannot be.
pub(super) fn widen(l: &For, lanes: u16, program: &mut Program) -> Result<Stmt, String> {
    let variable = build::ramp(l.min.clone(), build::int(1), lanes);
    let info = program.loops.get(l.id);
    let (scans, relaxed) = info.map_or((BTreeSet::new(), false), |info| (info.scans.clone(), info.is_relaxed));
    let mut cx = Widen {
        program,
        relaxed,
        scans,
        lanes,
        varying: Varying::of(l),
        values: [(Sym::Loop(l.id), variable)].into_iter().collect(),
        mask: None,
        memo: Memo::new(),
        failed: None,
    };
    let body = statement(&mut cx, &l.body);
    match cx.failed {
        Some(because) => Err(because),
        None => Ok(body),
    }
}

pub(super) struct Widen<'p> {
    pub(super) program: &'p mut Program,
    pub(super) lanes: u16,
    /// True if float operations may be reordered.
    pub(super) relaxed: bool,
    /// Buffers in which lanes follow each other along a scan.
    scans: BTreeSet<BufId>,
    pub(super) varying: Varying,
    /// The vectors that stand for varying symbols.
    pub(super) values: Map<Sym, Expr>,
    /// The mask of the lanes that run the statement at hand.
    pub(super) mask: Option<Expr>,
    /// Widened expressions; valid for the mask at hand.
    memo: Memo,
    /// The reason that the loop cannot become vectors.
    failed: Option<String>,
}

impl Widen<'_> {
    pub(super) fn fail(&mut self, because: impl Into<String>) {
        self.failed.get_or_insert(because.into());
    }

    /// Runs `f` for the lanes that `cond` and the mask so far allow.
    fn masked<T>(&mut self, cond: Expr, f: impl FnOnce(&mut Self) -> T) -> T {
        let both = match &self.mask {
            Some(outer) => build::and(outer.clone(), cond),
            None => cond,
        };
        let outer = (self.mask.replace(both), std::mem::take(&mut self.memo));
        let result = f(self);
        (self.mask, self.memo) = outer;
        result
    }

    /// `e` where lanes run, `otherwise` elsewhere.
    fn where_running(&self, e: Expr, otherwise: Expr) -> Expr {
        match &self.mask {
            Some(mask) => build::select(mask.clone(), e, otherwise),
            None => e,
        }
    }

    /// The largest of the non-negative sizes `e` of all lanes that run.
    fn most_running(&self, e: Expr) -> Expr {
        match e.lanes() {
            1 => e,
            _ => lanes::reduce(BinOp::Max, &self.where_running(e, build::int(0))),
        }
    }

    /// Scalar: whether any lane runs. `None`: all do.
    fn any_running(&self) -> Option<Expr> {
        self.mask.as_ref().map(some_lane)
    }

    /// The offset of each lane's own element `index`.
    fn per_lane(&self, index: Expr) -> Expr {
        let lane = build::ramp(build::int(0), build::int(1), self.lanes);
        let first = lanes::binary(BinOp::Mul, index, build::int(i64::from(self.lanes)));
        lanes::binary(BinOp::Add, first, lane)
    }
}

/// The sum of what the lanes that run count.
fn count(cx: &mut Widen<'_>, counter: u32, amount: &Expr) -> Stmt {
    let amount = expression(cx, amount);
    let amount = build::broadcast(cx.where_running(amount, build::int(0)), cx.lanes);
    let amount = match lanes::uniform(&amount) {
        Some(each) => build::mul(each, build::int(i64::from(cx.lanes))),
        None => lanes::reduce(BinOp::Add, &amount),
    };
    let count = Stmt::Count { counter, amount };
    // A count of nothing is an effect all the same, which a loop that could end would go on for.
    match cx.mask.as_ref().filter(|mask| visit::any_node(mask, depends_on_data)) {
        Some(mask) => build::if_else(some_lane(mask), count, build::nothing()),
        None => count,
    }
}

/// Returns true for a load, and for a name that may be of one.
fn depends_on_data(n: &Expr) -> bool {
    match n.kind() {
        ExprKind::Load { .. } => true,
        ExprKind::Sym(_) => !n.ty().is_index(),
        _ => false,
    }
}

/// `e` for all lanes; what does not vary stays scalar.
pub(super) fn expression(cx: &mut Widen<'_>, e: &Expr) -> Expr {
    let mut memo = std::mem::take(&mut cx.memo);
    let made = memo.rewrite(e, |e, done| node(cx, e, done));
    cx.memo = memo;
    made
}

fn node(cx: &mut Widen<'_>, e: &Expr, done: &dyn Fn(&Expr) -> Expr) -> Expr {
    if let ExprKind::Sym(s) = e.kind() {
        return cx.values.get(s).cloned().unwrap_or_else(|| e.clone());
    }
    let varies = cx.varying.expr(e);
    match e.kind() {
        _ if !varies && cx.mask.is_none() => e.clone(),
        ExprKind::Load { buf, index, mask } => {
            let (index, mask) = (done(index), mask.as_ref().map(done));
            load(cx, *buf, e.ty(), index, mask)
        }
        ExprKind::Ramp { .. } | ExprKind::Broadcast(_) | ExprKind::Shuffle(..) if varies => {
            cx.fail("there are vectors inside already");
            e.clone()
        }
        _ => lanes::map_children(e, done),
    }
}

fn load(cx: &Widen<'_>, buf: BufId, ty: Type, mut index: Expr, own: Option<Expr>) -> Expr {
    let elem = ty.scalar().expect("loads are of data");
    if cx.varying.per_lane.contains(&buf) {
        index = cx.per_lane(index);
    }
    // A guarded load may be outside of the buffer where the guard is false. One value for all lanes is needed if any
    // runs.
    let scalar = index.lanes() == 1 && own.as_ref().is_none_or(|m| m.lanes() == 1);
    let guard = if scalar { cx.any_running() } else { cx.mask.clone() };
    build::load(buf, elem, index, both(guard, own))
}

fn statement(cx: &mut Widen<'_>, s: &Stmt) -> Stmt {
    if cx.failed.is_some() {
        return build::nothing();
    }
    match s {
        Stmt::Block(list) => build::block(list.iter().map(|s| statement(cx, s)).collect::<Vec<_>>()),
        Stmt::Let { bindings, body } => {
            let mut made = Vec::with_capacity(bindings.len());
            for (s, e) in bindings {
                bind(cx, *s, e, &mut made);
            }
            build::let_in(made, statement(cx, body))
        }
        Stmt::For(l) => inner_loop(cx, l),
        Stmt::If { cond, then, otherwise } => {
            let again = mask::is_asked_after_a_change(cond, [&**then, &**otherwise]);
            let cond = expression(cx, cond);
            if cond.lanes() == 1 {
                return build::if_else(cond, statement(cx, then), statement(cx, otherwise));
            }
            let mut made = Vec::new();
            let cond = if again { name(cx, cond, &mut made) } else { cond };
            let opposite = build::not(without_likely(&cond));
            let then = cx.masked(cond, |cx| statement(cx, then));
            let otherwise = cx.masked(opposite, |cx| statement(cx, otherwise));
            build::let_in(made, build::block([then, otherwise]))
        }
        Stmt::Assert { cond, fault, args } => {
            let args: Vec<Expr> = args.iter().map(|a| expression(cx, a)).collect();
            if args.iter().any(|a| a.lanes() > 1) {
                cx.fail("it checks something else in every lane");
            }
            let cond = expression(cx, cond);
            let idle = cx.mask.as_ref().map_or(build::boolean(false), |m| build::not(without_likely(m)));
            let cond = lanes::reduce_if_vector(BinOp::BitAnd, &build::or(cond, idle));
            Stmt::Assert { cond, fault: *fault, args }
        }
        Stmt::Print { line, when, args } => print(cx, *line, when, args),
        Stmt::Atomic { func, body } => combine::atomic(cx, *func, body),
        Stmt::Produce { func, body } => Stmt::Produce { func: *func, body: Box::new(statement(cx, body)) },
        Stmt::Alloc { buf, count, constant, body } => {
            let count = expression(cx, count);
            let count = cx.most_running(count);
            let copies = if cx.varying.per_lane.contains(buf) { i64::from(cx.lanes) } else { 1 };
            let count = build::mul(count, build::int(copies));
            let constant = constant.map(|n| n * copies as u64);
            Stmt::Alloc { buf: *buf, count, constant, body: Box::new(statement(cx, body)) }
        }
        Stmt::Store { buf, index, value, mask } => store(cx, *buf, index, value, mask.as_ref()),
        Stmt::Count { counter, amount } => count(cx, *counter, amount),
        // All lanes ask for their own; those of the first are the nearest to be needed, and mostly in the same line.
        Stmt::Prefetch { buf, at, cache } => {
            let first = |e: &Expr| {
                let e = expression(cx, e);
                if e.lanes() == 1 { e } else { lanes::lane(&e, 0) }
            };
            Stmt::Prefetch { buf: *buf, at: at.iter().map(first).collect(), cache: *cache }
        }
        // A plan with such a loop is refused.
        Stmt::Call { .. } => {
            cx.fail("it calls a closure");
            s.clone()
        }
        Stmt::Realize { .. }
        | Stmt::Provide { .. }
        | Stmt::Free { .. }
        | Stmt::Launch { .. }
        | Stmt::Dispatch { .. }
        | Stmt::Reside { .. }
        | Stmt::Barrier => {
            cx.fail("it holds a statement of another stage");
            s.clone()
        }
    }
}

/// A line for each lane, in order.
fn print(cx: &mut Widen<'_>, line: PrintId, when: &Expr, args: &[Expr]) -> Stmt {
    let (when, args) = (expression(cx, when), args.iter().map(|a| expression(cx, a)).collect::<Vec<_>>());
    let when = both(cx.mask.clone(), Some(when)).expect("a condition");
    let line = |i| {
        let one = |e: &Expr| if e.lanes() == 1 { e.clone() } else { lanes::lane(e, i) };
        Stmt::Print { line, when: one(&without_likely(&when)), args: args.iter().map(one).collect() }
    };
    build::block((0..cx.lanes).map(line).collect::<Vec<_>>())
}

/// Names the widened value of `e`; a ramp is named by its base, so that it can still be seen to be one.
fn bind(cx: &mut Widen<'_>, s: Sym, e: &Expr, made: &mut Vec<(Sym, Expr)>) {
    let value = expression(cx, e);
    let standing_for = match lanes::shape(&value) {
        Shape::Uniform(scalar) => {
            made.push((s, scalar));
            return;
        }
        Shape::Ramp(base, stride) if build::as_int(&stride).is_some() => {
            let base = match base.kind() {
                ExprKind::Sym(_) | ExprKind::Int(_) => base,
                _ => name(cx, base, made),
            };
            build::ramp(base, stride, cx.lanes)
        }
        _ => name(cx, value, made),
    };
    cx.values.insert(s, standing_for);
}

fn name(cx: &mut Widen<'_>, value: Expr, made: &mut Vec<(Sym, Expr)>) -> Expr {
    let temp = fresh_temp(cx.program);
    let ty = value.ty();
    made.push((temp, value));
    build::typed_sym(temp, ty)
}

/// A loop inside the body. Where it starts at another place in every lane, it counts from 0; where it takes another
/// number of steps, it takes the most, and lanes that are done rest.
fn inner_loop(cx: &mut Widen<'_>, l: &For) -> Stmt {
    let mut made = Vec::new();
    let mut bound = |cx: &mut Widen<'_>, e: &Expr| {
        let wide = expression(cx, e);
        let again = wide.lanes() > 1 && mask::is_asked_after_a_change(e, [&l.body, &l.body]);
        if again { name(cx, wide, &mut made) } else { wide }
    };
    let (mut min, extent) = (bound(cx, &l.min), bound(cx, &l.extent));
    let var = build::loop_var(l.id);
    if min.lanes() > 1 {
        cx.values.insert(Sym::Loop(l.id), lanes::binary(BinOp::Add, min, var.clone()));
        min = build::int(0);
    }
    if extent.lanes() == 1 {
        let body = statement(cx, &l.body);
        return build::let_in(made, build::for_loop(l.id, l.kind, min, extent, body));
    }
    let most = cx.most_running(extent.clone());
    let runs = lanes::binary(BinOp::Lt, build::sub(var, min.clone()), extent);
    let body = cx.masked(runs, |cx| statement(cx, &l.body));
    build::let_in(made, build::for_loop(l.id, l.kind, min, most, body))
}

fn store(cx: &mut Widen<'_>, buf: BufId, old_index: &Expr, old_value: &Expr, mask: Option<&Expr>) -> Stmt {
    let (mut index, value) = (expression(cx, old_index), expression(cx, old_value));
    let own = mask.map(|m| expression(cx, m));
    if cx.varying.per_lane.contains(&buf) {
        index = cx.per_lane(index);
    }
    let carried = !cx.varying.inner.contains(&buf) && cx.varying.loaded.contains(&buf);
    let index_shape = lanes::shape(&index);
    if cx.scans.contains(&buf) {
        let (lanes, mask) = (cx.lanes, both(cx.mask.clone(), own));
        let made = scan::lanes_of_scan((buf, &index), old_value, lanes, mask, &mut |e| expression(cx, e));
        return made.unwrap_or_else(|because| {
            cx.fail(because);
            build::nothing()
        });
    }
    if carried
        && let Shape::Uniform(place) = &index_shape
        && let Some(made) = combine::into_one(cx, buf, (old_index, place), old_value, own.clone())
    {
        return made.stmt(|store| store);
    }
    if carried && !matches!(index_shape, Shape::Ramp(..)) {
        cx.fail("iterations may change what others read");
    }
    if let Shape::Uniform(place) = index_shape {
        let Some(value) = lanes::uniform(&value) else {
            cx.fail("its lanes store to one place");
            return build::nothing();
        };
        let mask = both(cx.mask.clone(), own).map(|m| lanes::reduce_if_vector(BinOp::BitOr, &m));
        return Stmt::Store { buf, index: place, value, mask };
    }
    let mask = both(cx.mask.clone(), own).map(|m| build::broadcast(m, cx.lanes));
    Stmt::Store { buf, index, value: build::broadcast(value, cx.lanes), mask }
}

pub(super) fn both(a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    match (a, b) {
        (Some(a), Some(b)) => Some(build::and(a, b)),
        (a, b) => a.or(b),
    }
}

/// `cond` without steady-state markers: its opposite is not likely.
fn without_likely(cond: &Expr) -> Expr {
    match cond.kind() {
        ExprKind::Likely(inner) => without_likely(inner),
        ExprKind::Binary(op @ (BinOp::BitAnd | BinOp::BitOr), a, b) => {
            build::binary(*op, without_likely(a), without_likely(b))
        }
        _ => cond.clone(),
    }
}
