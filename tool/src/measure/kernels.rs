//! The pipelines that measure a machine, each with a schedule that keeps one of its units busy and no other.
//!
//! Rows are of 32-bit integers, one row for each thread. Parameters say how often a pass over a row is repeated.

use halide::prelude::*;

/// Pairs of operations that wait for each other in one iteration of the chain: so many that the iteration's own work,
/// such as a way through memory, is a small part.
const PAIRS: i32 = 64;
/// Products and sums that wait for each other in one iteration, for the same reason.
const FMAS_DEEP: i32 = 8;

/// The pipelines, compiled.
pub(super) struct Kernels {
    /// Adds up `blocks` blocks of a row, `repeats` times: loads.
    pub(super) sum: Compiled,
    /// Copies a row `repeats` times: loads and stores.
    pub(super) copy: Compiled,
    /// Copies a row once, through the caches.
    pub(super) copy_once: Compiled,
    /// Fills a row `repeats` times: stores.
    pub(super) fill: Compiled,
    /// Fills a row once, past the caches.
    pub(super) stream: Compiled,
    /// Sums of the halves of a row, stored past the caches: two loads for each store.
    pub(super) triad: Compiled,
    /// Operations that wait for each other, one cycle each.
    pub(super) chain: Compiled,
    /// Fused products and sums in registers.
    pub(super) fmas: Compiled,
    /// A load and two operations for each vector.
    pub(super) mixed: Compiled,
}

/// Numbers of elements that the pipelines work on at once.
pub(super) struct Widths {
    /// A block of sums, and the unit of the length of rows.
    pub(super) block: i64,
    /// A row of products and sums.
    pub(super) fmas: i64,
}

impl Widths {
    /// Vectors that a loop works on at once: so many that none waits for another, and few enough for the registers of
    /// every machine beside what else a loop holds.
    const AT_ONCE: i64 = 8;
    /// The same for products and sums, whose results come after four cycles or five.
    const FMAS_AT_ONCE: i64 = 12;

    pub(super) fn of(target: &Target) -> Widths {
        let lanes = target.natural_lanes(I32);
        Widths { block: Widths::AT_ONCE * lanes, fmas: Widths::FMAS_AT_ONCE * lanes }
    }
}

/// The operations of one pass of the chain.
pub(super) const CHAIN_OPERATIONS: f64 = 2.0 * PAIRS as f64 + 1.0;
/// The products and sums of one pass of that pipeline.
pub(super) const FMAS: f64 = (Widths::FMAS_AT_ONCE * FMAS_DEEP as i64) as f64;
/// The instructions for each vector of the mixed pipeline.
pub(super) const MIXED_INSTRUCTIONS: f64 = 3.0;

impl Kernels {
    pub(super) fn new(target: &Target) -> Result<Kernels, halide::Error> {
        let widths = Widths::of(target);
        let one = |update: &dyn Fn(Expr, Expr) -> Expr| in_registers(target, widths.block, update);
        Ok(Kernels {
            sum: one(&|sum, value| sum + value)?,
            mixed: one(&|mixed, value| (mixed ^ value) + value)?,
            copy: repeated(target, widths.block, true)?,
            fill: repeated(target, widths.block, false)?,
            copy_once: once(target, true)?,
            stream: once(target, false)?,
            triad: triad(target)?,
            chain: chain(target)?,
            fmas: fmas(target, widths.fmas)?,
        })
    }
}

fn compile(func: &Func, schedule: &str, target: &Target) -> Result<Compiled, halide::Error> {
    Pipeline::new([func])?.compile(&schedule.parse()?, target)
}

/// A loop over the elements of a row, whose results stay in registers.
fn in_registers(target: &Target, width: i64, update: &dyn Fn(Expr, Expr) -> Expr) -> Result<Compiled, halide::Error> {
    let (x, p) = vars!(x, p);
    let data = ImageParam::new("data", I32, 2);
    let (blocks, repeats) = (Param::<i32>::new("blocks"), Param::<i32>::new("repeats"));
    let r = RDom::named("r", [(0.expr(), blocks.expr()), (0.expr(), repeats.expr())]);
    let (mut inner, mut out) = (Func::new("inner"), Func::new("out"));
    inner[(x, p)] = 0.expr();
    let value = data[(x + r.x * width as i32, p)].expr();
    let updated = update(inner[(x, p)].expr(), value);
    inner[(x, p)] = updated;
    out[(x, p)] = inner[(x, p)].expr();
    let schedule = format!(
        "out: split(x, xo, xi, {width}) reorder(xi, xo, p) vectorize(xi, natural) unroll(xi) parallel(p)
         inner: compute_at(out, xo) vectorize(x, natural) unroll(x)
         inner.update(0): reorder(x, r.x, r.y) vectorize(x, natural) unroll(x)"
    );
    compile(&out, &schedule, target)
}

/// Rows that are written again and again, each time with other values.
fn repeated(target: &Target, width: i64, reads: bool) -> Result<Compiled, halide::Error> {
    let (x, p) = vars!(x, p);
    let data = ImageParam::new("data", I32, 2);
    let repeats = Param::<i32>::new("repeats");
    let r = RDom::named("r", [(0.expr(), repeats.expr())]);
    let mut out = Func::new("out");
    out[(x, p)] = 0.expr();
    let value = if reads { data[(x, p)] + r.x } else { r.x.expr() };
    out[(x, p)] = value;
    let schedule = format!(
        "out: vectorize(x, natural) parallel(p) cache_stores()
         out.update(0): split(x, xo, xi, {width}) reorder(xi, xo, r.x, p) vectorize(xi, natural) unroll(xi) parallel(p)
         out.update(0): cache_stores()"
    );
    compile(&out, &schedule, target)
}

/// Rows that are written once: copied through the caches, or filled past them.
fn once(target: &Target, copies: bool) -> Result<Compiled, halide::Error> {
    let (x, p) = vars!(x, p);
    let data = ImageParam::new("data", I32, 2);
    let value = Param::<i32>::new("value");
    let mut out = Func::new("out");
    out[(x, p)] = if copies { data[(x, p)].expr() } else { value.expr() };
    let stores = if copies { "cache_stores()" } else { "stream_stores()" };
    compile(&out, &format!("out: vectorize(x, natural) parallel(p) {stores}"), target)
}

/// Streams of two loads and one store, of which memory may move more than of either alone (McCalpin's triad).
fn triad(target: &Target) -> Result<Compiled, halide::Error> {
    let (x, p) = vars!(x, p);
    let data = ImageParam::new("data", I32, 2);
    let half = Param::<i32>::new("half");
    let mut out = Func::new("out");
    out[(x, p)] = data[(x, p)] + data[(x + half.expr(), p)] * 3;
    compile(&out, "out: vectorize(x, natural) parallel(p) stream_stores()", target)
}

/// Sums and differences of bits in turn, which nothing makes fewer: each is one cycle on every processor.
fn chain(target: &Target) -> Result<Compiled, halide::Error> {
    let (x, p) = vars!(x, p);
    let repeats = Param::<i32>::new("repeats");
    let r = RDom::named("r", [(0.expr(), repeats.expr())]);
    let mut out = Func::new("out");
    out[(x, p)] = 0.expr();
    let (mut value, step) = (out[(x, p)].expr(), 0x5DEE_CE66i32);
    for pair in 0..PAIRS {
        value = (value + step.wrapping_mul(2 * pair + 1)) ^ step.wrapping_mul(2 * pair + 3);
    }
    out[(x, p)] = value + r.x;
    compile(&out, "out.update(0): reorder(r.x, x, p)", target)
}

fn fmas(target: &Target, width: i64) -> Result<Compiled, halide::Error> {
    let (x, p) = vars!(x, p);
    let repeats = Param::<i32>::new("repeats");
    let (factor, term) = (Param::<f32>::new("factor"), Param::<f32>::new("term"));
    let r = RDom::named("r", [(0.expr(), repeats.expr())]);
    let (mut inner, mut out) = (Func::new("inner"), Func::new("out"));
    inner[(x, p)] = 0.0f32.expr();
    let mut value = inner[(x, p)].expr();
    for _ in 1..FMAS_DEEP {
        value = value * factor.expr() + term.expr();
    }
    // The iteration's number keeps the loop, and is made a vector once for all of these.
    inner[(x, p)] = value * factor.expr() + cast::<f32>(r.x);
    out[(x, p)] = cast::<i32>(inner[(x, p)].expr());
    let schedule = format!(
        "out: split(x, xo, xi, {width}) reorder(xi, xo, p) vectorize(xi, natural) unroll(xi) parallel(p)
         inner: compute_at(out, xo) vectorize(x, natural) unroll(x)
         inner.update(0): float(contract) reorder(x, r.x) vectorize(x, natural) unroll(x)"
    );
    compile(&out, &schedule, target)
}
