//! Prefetching: asks for what later iterations read to be brought into caches.
//!
//! Before and after: `Stage::Bounded`, every symbol bound once. Where a schedule asks for it (`prefetch`), the body of
//! a loop begins with prefetches of the box that it reads of a buffer, `offset` iterations of a loop later, which is
//! that loop or one around it: one for each cache line along the dimension whose elements lie side by side.
//!
//! Where the box moves with a loop by a constant along one dimension, what the iteration before asked for is left out.
//! Minima and maxima that hold the last iterations back, or the first, are taken to be what they are in all others.
//!
//! Example, of `image` in loop `x`, 1 iteration of `y` later:
//! ```text
//! for y#L1 from 0 extent 8 {
//!   for x#L0 from 0 extent 4 {
//!     for xi#L2 from 0 extent 32 {
//!       provide result#f3(x#L0 * 32 + xi#L2, y#L1): result#b5 = image#b3(x#L0 * 32 + xi#L2, y#L1) + image#b3(x#L0 * 32 + xi#L2 + 2, y#L1 + 1)
//!     }
//!   }
//! }
//! ```
//! becomes
//! ```text
//! for y#L1 from 0 extent 8 {
//!   for x#L0 from 0 extent 4 {
//!     if image#b3.min0 <= x#L0 * 32 + 2 && x#L0 * 32 + 34 <= image#b3.min0 + image#b3.extent0 && (image#b3.min1 <= y#L1 + 2 && y#L1 + 3 <= image#b3.min1 + image#b3.extent1) {
//!       prefetch far image#b3(x#L0 * 32 + 2, y#L1 + 2)
//!     }
//!     for xi#L2 from 0 extent 32 {
//!       provide result#f3(x#L0 * 32 + xi#L2, y#L1): result#b5 = image#b3(x#L0 * 32 + xi#L2, y#L1) + image#b3(x#L0 * 32 + xi#L2 + 2, y#L1 + 1)
//!     }
//!   }
//! }
//! ```

mod found;

use crate::lower::trace::LoweringTrace;
use crate::lower::walk;
use crate::tuning::{LINE_BYTES, MOST_NEAR, MOST_PREFETCHES, MOST_WRITTEN_OUT};
use found::Search;
use halide_core::ids::FuncId;
use halide_ir::hash::Map;
use halide_ir::visit;
use halide_ir::{
    BufId, BufferInfo, BufferRole, Cache, DimField, Expr, For, ForKind, LoopId, PrefetchBound, PrefetchRequest,
    Program, Stmt, Sym, build,
};
use halide_solve::simplify::{Facts, simplify};

/// Puts prefetches into the loops that ask for some. `facts` holds what is known of arguments.
pub fn inject_prefetches(program: Program, facts: &Facts, trace: &mut LoweringTrace) -> Program {
    if program.loops.iter().all(|l| l.prefetches.is_empty()) {
        return program;
    }
    walk::map_body(program, |body, program| {
        let (around, realized) = (Vec::new(), Map::default());
        let mut cx = Inject { program, facts: facts.clone(), trace, around, realized, on_device: false };
        statement(&mut cx, body)
    })
}

/// Something bound around a statement.
enum Around {
    Name(Sym, Expr),
    Loop(LoopId),
}

struct Inject<'p> {
    program: &'p mut Program,
    facts: Facts,
    trace: &'p mut LoweringTrace,
    /// The names and loops around, outermost first.
    around: Vec<Around>,
    /// First coordinate and extent of what is stored around.
    realized: Map<FuncId, Vec<(Expr, Expr)>>,
    /// True if a GPU runs this.
    on_device: bool,
}

fn statement(cx: &mut Inject<'_>, s: Stmt) -> Stmt {
    let depth = cx.around.len();
    let device = cx.on_device;
    let s = match s {
        Stmt::For(l) => {
            cx.around.push(Around::Loop(l.id));
            cx.on_device |= l.kind.is_gpu();
            Stmt::For(with_prefetches(cx, l))
        }
        Stmt::Let { bindings, body } => {
            cx.around.extend(bindings.iter().map(|(s, e)| Around::Name(*s, e.clone())));
            Stmt::Let { bindings, body }
        }
        Stmt::Realize { func, bounds, when, body } => {
            cx.realized.insert(func, bounds.clone());
            Stmt::Realize { func, bounds, when, body }
        }
        other => other,
    };
    let made = walk::map_stmt_under(s, cx, |cx| &mut cx.facts, |_, e| e.clone(), statement);
    cx.around.truncate(depth);
    cx.on_device = device;
    made
}

/// The loop with the prefetches that are asked for in its body.
fn with_prefetches(cx: &mut Inject<'_>, mut l: Box<For>) -> Box<For> {
    let name = cx.program.loops[l.id].with_case();
    let asked = cx.program.loops[l.id].prefetches.clone();
    let mut made = Vec::new();
    cx.facts.push_scope();
    cx.facts.bind_loop(l.id, &l.min, &l.extent);
    for asked in &asked {
        for &buf in &asked.bufs {
            let what = format!("prefetching `{}`", cx.program.buffers[buf].name);
            match prefetches(cx, &l, asked, buf) {
                Ok((stmt, lines)) => {
                    let (offset, from) = (asked.offset, &cx.program.loops[asked.from]);
                    let iterations = if offset == 1 { "iteration" } else { "iterations" };
                    cx.trace.did(&name, format!("{what} {offset} {iterations} of {from} ahead, {lines}"));
                    made.push(stmt);
                }
                Err(because) => cx.trace.did_not(&name, what, because),
            }
        }
    }
    cx.facts.pop_scope();
    l.body = build::block(made.into_iter().chain([l.body]));
    l
}

/// The prefetches of one buffer at the start of a loop's body, with a word on how many they are; or why there are none.
fn prefetches(
    cx: &mut Inject<'_>,
    l: &For,
    asked: &PrefetchRequest,
    buf: BufId,
) -> Result<(Stmt, String), &'static str> {
    if cx.on_device {
        return Err("a GPU runs the loop");
    }
    if l.kind == ForKind::Vectorized {
        return Err("its iterations are lanes");
    }
    let is_from = |a: &Around| matches!(a, Around::Loop(id) if cx.program.origin(*id) == asked.from);
    let Some(place) = cx.around.iter().rposition(is_from) else { return Err("its loops were taken apart") };
    let Around::Loop(from) = cx.around[place] else { return Err("its loops were taken apart") };
    let dense = match cx.program.buffers[buf].role {
        BufferRole::Internal => cx.program.buffers[buf].order.first().copied(),
        _ => cx.program.buffers[buf].unit_stride,
    };
    let Some(dense) = dense else { return Err("none of its dimensions is known to be dense") };

    let mut search = Search::new(buf, [from, l.id], &cx.facts);
    for a in &cx.around[place..] {
        if let Around::Name(s, value) = a {
            search.bind(*s, value);
        }
    }
    search.statement(&l.body, &cx.program.func_buffers)?;
    let now = search.found()?;
    let ahead = part_ahead(&now, from, l.id, asked.offset, &cx.facts);
    let (ahead, guard) = bounded(cx, buf, asked.bound, ahead);
    let lines = Lines::of(&cx.program.buffers[buf], dense, &ahead, &cx.facts);
    let cache = match lines.total {
        _ if lines.least > MOST_PREFETCHES => return Err("it is more than a cache holds"),
        Some(n) if n <= MOST_NEAR && from == l.id => Cache::First,
        _ => Cache::Second,
    };
    let told = match lines.total {
        Some(1) => "1 cache line each time".to_string(),
        Some(n) => format!("{n} cache lines each time"),
        None => "as many cache lines as there are".to_string(),
    };
    let stmt = loops_over(cx, l.id, buf, cache, &ahead, &lines);
    Ok((build::if_else(guard, stmt, build::nothing()), told))
}

/// Returns the part of a box that is new `offset` iterations of `from` later: without the parts that the iterations of
/// `from` and `at` before ask for.
fn part_ahead(now: &[(Expr, Expr)], from: LoopId, at: LoopId, offset: i64, facts: &Facts) -> Vec<(Expr, Expr)> {
    let later = |e: &Expr, l: LoopId, by: i64| {
        let to = |s: Sym| (s == Sym::Loop(l)).then(|| build::offset(build::loop_var(l), by));
        simplify(&visit::substitute(e, &to), facts)
    };
    let step = |e: &Expr, l: LoopId| build::as_int(&simplify(&build::sub(later(e, l, 1), e.clone()), facts));
    let ahead = now.iter().map(|(low, high)| (later(low, from, offset), later(high, from, offset)));
    let mut ahead: Vec<(Expr, Expr)> = ahead.collect();
    let loops = if from == at { vec![from] } else { vec![from, at] };
    for l in loops {
        let moves = |(low, high): &(Expr, Expr)| [low, high].iter().any(|e| visit::uses(e, Sym::Loop(l)));
        let mut moving = now.iter().enumerate().filter(|(_, ends)| moves(ends));
        // What moves along two dimensions at once leaves no box.
        let (Some((d, (low, high))), None) = (moving.next(), moving.next()) else { continue };
        let Some(step) = step(low, l).filter(|s| step(high, l) == Some(*s)) else { continue };
        let (low, high) = ahead[d].clone();
        let (new_low, new_high) = match step > 0 {
            true => (build::max(low, build::offset(high.clone(), 1i64.saturating_sub(step))), high),
            false => (low.clone(), build::min(high, build::offset(low, (-1i64).saturating_sub(step)))),
        };
        ahead[d] = (simplify(&new_low, facts), simplify(&new_high, facts));
    }
    ahead
}

/// Returns the box to prefetch, treated at the ends of its source as `bound` says, and the condition of the prefetch.
fn bounded(cx: &Inject<'_>, buf: BufId, bound: PrefetchBound, ahead: Vec<(Expr, Expr)>) -> (Vec<(Expr, Expr)>, Expr) {
    let info = &cx.program.buffers[buf];
    let field = |d: usize, field| build::sym(Sym::Buffer { buf, dim: d as u16, field });
    let owner = cx.program.func_buffers.enumerate().find(|(_, bufs)| bufs.contains(&buf)).map(|(func, _)| func);
    let stored = owner.filter(|_| info.role == BufferRole::Internal).and_then(|func| cx.realized.get(&func));
    let ends = |d: usize| match stored {
        Some(bounds) => bounds[d].clone(),
        None => (field(d, DimField::Min), field(d, DimField::Extent)),
    };
    let mut guard = build::boolean(true);
    let mut made = Vec::with_capacity(ahead.len());
    for (d, (low, high)) in ahead.into_iter().enumerate() {
        let (first, extent) = ends(d);
        let last = build::offset(build::add(first.clone(), extent), -1);
        made.push(match bound {
            // A circular buffer has a place for every coordinate.
            _ if info.fold[d].is_some() => (low, high),
            PrefetchBound::NonFaulting => (low, high),
            PrefetchBound::Clamp => {
                let inside = (build::max(low, first), build::min(high, last));
                (simplify(&inside.0, &cx.facts), simplify(&inside.1, &cx.facts))
            }
            PrefetchBound::GuardWithIf => {
                let inside = build::and(build::ge(low.clone(), first), build::le(high.clone(), last));
                guard = build::and(guard, inside);
                (low, high)
            }
        });
    }
    (made, simplify(&guard, &cx.facts))
}

/// The cache lines of a box.
struct Lines {
    /// The number of prefetches, by dimension.
    counts: Vec<Expr>,
    /// The distance in coordinates from one prefetch to the next, by dimension.
    steps: Vec<i64>,
    /// The number of all prefetches, if that is a constant.
    total: Option<i64>,
    /// The least number of prefetches, if there are any: the product of the constant counts.
    least: i64,
}

impl Lines {
    fn of(info: &BufferInfo, dense: usize, ahead: &[(Expr, Expr)], facts: &Facts) -> Lines {
        let per_line = (LINE_BYTES / info.elem.bytes() as i64).max(1);
        let steps: Vec<i64> = (0..ahead.len()).map(|d| if d == dense { per_line } else { 1 }).collect();
        let count = |((low, high), step): (&(Expr, Expr), &i64)| {
            let extent = build::offset(build::sub(high.clone(), low.clone()), *step);
            simplify(&build::div(extent, build::int(*step)), facts)
        };
        let counts: Vec<Expr> = ahead.iter().zip(&steps).map(count).collect();
        let constants: Vec<i64> = counts.iter().filter_map(build::as_int).map(|n| n.max(0)).collect();
        let least = constants.iter().fold(1i64, |n, c| n.saturating_mul(*c));
        let total = (constants.len() == counts.len()).then_some(least);
        Lines { counts, steps, total, least }
    }
}

/// A prefetch for each cache line of a box.
fn loops_over(
    cx: &mut Inject<'_>,
    at: LoopId,
    buf: BufId,
    cache: Cache,
    ahead: &[(Expr, Expr)],
    lines: &Lines,
) -> Stmt {
    let kind = match lines.total {
        Some(n) if n <= MOST_WRITTEN_OUT => ForKind::Unrolled,
        _ => ForKind::Serial,
    };
    let mut places: Vec<Expr> = ahead.iter().map(|(low, _)| low.clone()).collect();
    let mut loops = Vec::new();
    let order = cx.program.buffers[buf].order.clone();
    for d in order.into_iter().filter(|d| build::as_int(&lines.counts[*d]) != Some(1)) {
        let name = format!("{}.ahead", cx.program.loops[at]);
        let id = cx.program.loops.push(name.into());
        let further = build::mul(build::loop_var(id), build::int(lines.steps[d]));
        places[d] = build::add(places[d].clone(), further);
        loops.push((id, lines.counts[d].clone()));
    }
    let one = Stmt::Prefetch { buf, at: places, cache };
    loops.into_iter().fold(one, |s, (id, count)| build::for_loop(id, kind, build::int(0), count, s))
}
