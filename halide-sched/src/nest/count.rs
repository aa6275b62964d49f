//! Counts of a loop nest: a walk that enters few iterations of each loop, between which counts grow evenly.

use super::formula::Env;
use super::range::Range;
use super::touched;
use super::tree::{Loop, Node, Realize};
use crate::tuning::{NEST_SAMPLES, NEST_STEPS, NEST_WHOLE};
use halide_ir::Program;
use halide_ir::visit::deep;
use std::collections::{BTreeSet, VecDeque};

/// The counts of a loop, an allocation or a definition.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    /// Entries of a loop, allocations, or points.
    pub(super) times: f64,
    /// Iterations of a loop, or elements.
    pub(super) amount: f64,
    pub(super) middle: Option<Middle>,
}

/// An iteration or an allocation in the middle of all loops around it, or in the last iteration of some of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Middle {
    /// Bytes that are touched or allocated.
    pub(super) bytes: f64,
    /// Bytes that all iterations touch, of a loop.
    pub(super) footprint: f64,
    /// Extents of an allocation.
    pub(super) extents: Vec<i64>,
}

/// The costs of a statement.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// One for each loop, allocation and definition, in their order.
    pub(super) rows: Vec<Row>,
    pub(super) work: f64,
    pub(super) span: f64,
    /// Bytes that are allocated at once, at most.
    pub(super) bytes: f64,
}

impl Counts {
    /// The costs of a statement that does not run.
    fn none(rows: usize) -> Counts {
        Counts { rows: vec![Row::default(); rows], ..Counts::default() }
    }

    /// The costs of this and then `next`, which has other rows.
    fn then(mut self, mut next: Counts) -> Counts {
        self.rows.append(&mut next.rows);
        let (work, span) = (self.work + next.work, self.span + next.span);
        Counts { rows: self.rows, work, span, bytes: self.bytes.max(next.bytes) }
    }

    /// The costs with those of an iteration that stands for `share` of them.
    fn add(&mut self, other: &Counts, share: f64) {
        for (own, row) in self.rows.iter_mut().zip(&other.rows) {
            own.times += row.times * share;
            own.amount += row.amount * share;
            own.middle = own.middle.take().or_else(|| row.middle.clone());
        }
        self.work += other.work * share;
        self.span += other.span * share;
        self.bytes = self.bytes.max(other.bytes);
    }

    /// Keeps what another iteration touches and allocates, where that is more.
    fn take_larger(&mut self, other: Counts) {
        for (own, row) in self.rows.iter_mut().zip(other.rows) {
            let bytes = |middle: &Option<Middle>| middle.as_ref().map_or(0.0, |m| m.bytes);
            if bytes(&row.middle) > bytes(&own.middle) {
                own.middle = row.middle;
            }
        }
    }

    /// Returns true if every count is what lies a part of the way from that of `from` to that of `to`.
    fn lies_between(&self, from: &Counts, to: &Counts, part: f64) -> bool {
        let lies = |own: f64, a: f64, b: f64| (own - (a + (b - a) * part)).abs() <= 1e-9 * own.abs().max(1.0);
        let mut rows = self.rows.iter().zip(from.rows.iter().zip(&to.rows));
        lies(self.work, from.work, to.work)
            && lies(self.span, from.span, to.span)
            && rows.all(|(own, (a, b))| lies(own.times, a.times, b.times) && lies(own.amount, a.amount, b.amount))
    }
}

/// A walk through a tree.
pub(super) struct Walk<'q> {
    program: &'q Program,
    /// The iterations that are left to be counted, beyond one of each loop.
    steps: i64,
    /// True if every iteration is counted.
    each: bool,
    guesses: BTreeSet<String>,
}

impl<'q> Walk<'q> {
    pub(super) fn new(program: &'q Program, each: bool) -> Walk<'q> {
        Walk { program, steps: NEST_STEPS, each, guesses: BTreeSet::new() }
    }

    /// Descriptions of what depends on data.
    pub(super) fn guesses(self) -> Vec<String> {
        self.guesses.into_iter().collect()
    }

    /// Counts a statement, which is the one in the middle if all loops around it are in their middle iteration.
    pub(super) fn node(&mut self, node: &Node, env: &mut Env<'_>, is_middle: bool) -> Counts {
        deep(|| match node {
            Node::Block(all) => all.iter().fold(Counts::default(), |sum, n| sum.then(self.node(n, env, is_middle))),
            Node::Let { bindings, body, .. } => {
                for (symbol, value) in bindings {
                    env.symbols[*symbol] = value.range(env);
                }
                self.node(body, env, is_middle)
            }
            Node::If { cond, then, otherwise, .. } => {
                let holds = cond.value(env);
                if holds.is_none() {
                    self.guesses.insert("a condition depends on data, and was taken to hold".to_string());
                }
                match holds {
                    Some(0) => Counts::none(then.rows()).then(self.node(otherwise, env, is_middle)),
                    _ => self.node(then, env, is_middle).then(Counts::none(otherwise.rows())),
                }
            }
            Node::For(l) => self.for_loop(l, env, is_middle),
            Node::Realize(r) => self.realize(r, env, is_middle),
            Node::Provide(p) => {
                if p.mask.as_ref().is_some_and(|mask| mask.value(env) == Some(0)) {
                    return Counts::none(1);
                }
                // A copy is something to do, too.
                let work = f64::from(p.operations.max(1));
                Counts { rows: vec![Row { times: 1.0, ..Row::default() }], work, span: work, bytes: 0.0 }
            }
        })
    }

    fn for_loop(&mut self, l: &Loop, env: &mut Env<'_>, is_middle: bool) -> Counts {
        let (first, extent) = (l.min.value(env), l.extent.value(env));
        if first.is_none() || extent.is_none() {
            let name = &self.program.loops[l.id].name;
            self.guesses.insert(format!("the bounds of `{name}` depend on data, and one iteration was counted"));
        }
        let (first, extent) = (first.unwrap_or(0), extent.unwrap_or(1).max(0));
        let own = Row { times: 1.0, amount: extent as f64, middle: None };
        let mut all = Counts { rows: vec![own], ..Counts::default() };
        if extent == 0 {
            return all.then(Counts::none(l.rows));
        }
        let mut most_span: f64 = 0.0;
        let mut count = |walk: &mut Self, env: &mut Env<'_>, at: i64, is_middle: bool| {
            walk.steps -= 1;
            env.symbols[l.var] = Range::point(first.saturating_add(at));
            let counts = walk.node(&l.body, env, is_middle);
            most_span = most_span.max(counts.span);
            counts
        };
        let mut body = Counts::none(l.rows);
        let mut middle = count(self, env, extent / 2, is_middle);
        if is_middle {
            let bytes = touched::bytes(self.program, &l.body, env);
            let footprint = touched::loop_bytes(self.program, l, env);
            all.rows[0].middle = Some(Middle { bytes, footprint, extents: Vec::new() });
        }
        if is_middle && l.differing.is_some() && extent > 1 && self.steps > 0 {
            // Windows that begin late touch nothing in the middle.
            let last = count(self, env, extent - 1, true);
            middle.take_larger(last);
            let bytes = touched::bytes(self.program, &l.body, env);
            let known = all.rows[0].middle.get_or_insert_default();
            known.bytes = known.bytes.max(bytes);
        }
        match l.differing {
            Some(_) if self.each => {
                body.add(&middle, 0.0);
                (0..extent).for_each(|at| body.add(&count(self, env, at, false), 1.0));
            }
            Some(nested) if self.steps > 0 => {
                body.add(&middle, 0.0);
                sum_iterations(extent, nested, &mut body, |at| count(self, env, at, false));
            }
            _ => body.add(&middle, extent as f64),
        }
        if l.kind.is_concurrent() {
            body.span = most_span;
        }
        all.then(body)
    }

    fn realize(&mut self, r: &Realize, env: &mut Env<'_>, is_middle: bool) -> Counts {
        let exists = r.when.as_ref().is_none_or(|when| when.value(env) != Some(0));
        let mut extents = Vec::with_capacity(r.bounds.len());
        for ((_, extent), fold) in r.bounds.iter().zip(&r.fold) {
            let known = extent.value(env);
            if known.is_none() && fold.is_none() {
                let name = self.program.func_name(r.func);
                self.guesses.insert(format!("the extents of `{name}` depend on data, and one element was counted"));
            }
            extents.push(fold.or(known).unwrap_or(1).max(0));
        }
        let elements: f64 = extents.iter().map(|e| *e as f64).product();
        let element: usize = r.bufs.iter().map(|buf| self.program.buffers[*buf].elem.bytes()).sum();
        let bytes = elements * element as f64;
        let middle = is_middle.then_some(Middle { bytes, footprint: bytes, extents });
        let own = match exists {
            true => Counts { rows: vec![Row { times: 1.0, amount: elements, middle }], bytes, ..Counts::default() },
            false => Counts::none(1),
        };
        let body = self.node(&r.body, env, is_middle);
        let bytes = own.bytes + body.bytes;
        Counts { bytes, ..own.then(body) }
    }
}

/// Adds the counts of all iterations of a loop that is one of so many nested ones whose iterations differ. Windows are
/// wider in the first iterations, chunks are cut short in the last one, and triangles grow from one to the next: where
/// counts grow evenly, the ends stand for all between, and other stretches are halved, long ones first. Those that are
/// left when enough are counted are added by Simpson's rule.
fn sum_iterations(extent: i64, nested: u32, sum: &mut Counts, mut count: impl FnMut(i64) -> Counts) {
    let depth = nested.clamp(1, 4) as usize - 1;
    let (most, whole) = (NEST_SAMPLES[depth], NEST_WHOLE[depth]);
    if extent <= whole {
        (0..extent).for_each(|at| sum.add(&count(at), 1.0));
        return;
    }
    // What runs in a part of the loop only is seen if it is a quarter, wherever it is.
    let mut stretches = VecDeque::new();
    for part in 0..4 {
        let (from, to) = (extent * part / 4, extent * (part + 1) / 4 - 1);
        stretches.push_back((from, to, count(from), count(to)));
    }
    let mut counted = 8;
    while let Some((from, to, first, end)) = stretches.pop_front() {
        let number = (to - from + 1) as f64;
        if to - from < 2 {
            sum.add(&first, 1.0);
            sum.add(&end, number - 1.0);
            continue;
        }
        let part = |at: i64| (at - from) as f64 / (to - from) as f64;
        let half = from + (to - from) / 2;
        let middle = count(half);
        counted += 1;
        let is_even = middle.lies_between(&first, &end, part(half)) && {
            counted += 2;
            // Places that no power of two divides.
            let mut others = [from + (to - from) / 3, (from + (to - from) * 5 / 8) | 1].into_iter();
            others.all(|at| at > to || count(at).lies_between(&first, &end, part(at)))
        };
        if is_even {
            sum.add(&first, number / 2.0);
            sum.add(&end, number / 2.0);
        } else if counted >= most {
            sum.add(&first, number / 6.0);
            sum.add(&middle, number * 4.0 / 6.0);
            sum.add(&end, number / 6.0);
        } else {
            counted += 1;
            let next = count(half + 1);
            stretches.push_back((from, half, first, middle));
            stretches.push_back((half + 1, to, next, end));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of a count over all iterations, and how many of them were counted.
    fn summed(extent: i64, f: impl Fn(i64) -> f64) -> (f64, i64) {
        let (mut sum, mut counted) = (Counts::none(1), 0);
        sum_iterations(extent, 2, &mut sum, |at| {
            counted += 1;
            Counts { rows: vec![Row { times: f(at), ..Row::default() }], work: f(at), ..Counts::default() }
        });
        assert_eq!(sum.rows[0].times, sum.work);
        (sum.work, counted)
    }

    #[test]
    fn few_iterations_tell_what_all_count() {
        for extent in [1, 2, 3, 4, 7, 64, 1000, 100_003] {
            let exact = |f: &dyn Fn(i64) -> f64| {
                let (sum, counted) = summed(extent, f);
                let expected: f64 = (0..extent).map(f).sum();
                assert!((sum - expected).abs() <= 1e-6 * expected, "{extent}: {sum} is not {expected}");
                assert!(counted <= NEST_SAMPLES[1], "{extent}: {counted} iterations counted");
            };
            exact(&|_| 5.0);
            exact(&|at| at as f64);
            exact(&|at| if at == 0 { 9.0 } else { 1.0 });
            exact(&|at| if at == extent - 1 { 3.0 } else { 8.0 });
            exact(&|at| if at < 6 { 0.0 } else { 1.0 });
            exact(&|at| if at == 0 { 9.0 } else { (extent - at) as f64 });
            exact(&|at| if (extent * 3 / 8..extent * 5 / 8).contains(&at) { 2.0 } else { 0.0 });
        }
        let (sum, counted) = summed(1000, |at| (at * at) as f64);
        assert!((sum / 332_833_500.0 - 1.0).abs() < 1e-3 && counted <= 2 * NEST_SAMPLES[1], "{sum} of {counted}");
    }
}
