//! The loop nest of a definition, read from its coordinates at points in the middle.

use super::spelled::spelled;
use crate::cost::Pricer;
use crate::dag::{Box as Spans, Dag, Source, StageVar, Work, extent};
use crate::kernel::{Element, elements};
use crate::state::State;
use crate::substitution::with_inlined;
use crate::tss::{AccessKind, Array, Loop, LoopKind, Nest, Subscript, TssError};
use crate::tuning::{LINE, PAGE, SLANT_STEPS, SLOPE_STEPS};
use halide_core::ids::FuncId;
use halide_core::types::ScalarType;
use halide_ir::machine::Machine;
use std::collections::BTreeMap;

/// The nest of a definition.
pub(crate) struct Bound {
    pub(crate) nest: Nest,
    /// The variable of each loop.
    pub(crate) vars: Vec<usize>,
    /// The vector instructions of arithmetic for each vector of points.
    pub(super) operations: f64,
}

/// Reads the nest of a definition, in the regions that its Func is computed in.
pub(crate) fn bind(pricer: &Pricer<'_>, state: &State, of: (FuncId, usize)) -> Result<Bound, TssError> {
    let dag = pricer.dag;
    let region = pricer.region(state, of.0, 0).unwrap_or_default();
    let domain = dag.domain(of, &region);
    let points = Points::new(dag, of, state, &domain, &|_| true)?;
    let (vars, along) = order(dag, of, &points);
    let stage = &dag.funcs[of.0].stages[of.1];
    let loops = loops(&stage.vars, &vars, &domain, along, stage.any_order);
    let arrays = arrays(dag, &points, &vars);
    let work = with_inlined(dag, stage, &|func| state.is_inlined(func), &mut BTreeMap::new());
    let slants = slants(dag, of, &points, &vars, &domain);
    let nest = Nest { loops, arrays, slants };
    let operations = operations(&work, along, pricer.machine, nest.widest());
    Ok(Bound { nest, vars, operations })
}

/// Reads how a definition accesses one buffer alone, whatever the others are indexed by: the array, and the variable of
/// each loop.
pub(crate) fn bind_reads(
    pricer: &Pricer<'_>,
    state: &State,
    of: (FuncId, usize),
    read: FuncId,
) -> Result<(Vec<Array>, Vec<usize>), TssError> {
    let dag = pricer.dag;
    let region = pricer.region(state, of.0, 0).unwrap_or_default();
    let points = Points::new(dag, of, state, &dag.domain(of, &region), &|source| source == Source::Func(read))?;
    let (vars, _) = order(dag, of, &points);
    Ok((arrays(dag, &points, &vars), vars))
}

/// An access of an element, with the elements that its coordinates go on by, for each variable.
struct Access {
    source: Source,
    at: Vec<i64>,
    slopes: Vec<Vec<i64>>,
}

/// The accesses of a point in the middle.
struct Points {
    middle: Vec<i64>,
    first: Vec<i64>,
    store: Access,
    reads: Vec<Access>,
    own_reads: Vec<Access>,
}

impl Points {
    /// Reads the accesses of the buffers that are `wanted`.
    fn new(
        dag: &Dag<'_>,
        of: (FuncId, usize),
        state: &State,
        domain: &Spans,
        wanted: &dyn Fn(Source) -> bool,
    ) -> Result<Points, TssError> {
        let middle: Vec<i64> = domain.iter().map(|span| span.0.saturating_add(extent(*span) / 2)).collect();
        let here = Seen::at(dag, of, state, &middle);
        let moved: Vec<(i64, Seen)> = (0..middle.len())
            .map(|var| {
                let by = (extent(domain[var]) / 4).clamp(1, SLOPE_STEPS);
                let mut point = middle.clone();
                point[var] = point[var].saturating_add(by);
                (by, Seen::at(dag, of, state, &point))
            })
            .collect();
        let name = |source: Source| match source {
            Source::Func(func) => dag.pipeline.funcs[func].name.clone(),
            Source::Image(image) => dag.pipeline.images[image].name.clone(),
        };
        let access = |source: Source, at: &Spans, moved: &[(i64, Option<&Spans>)]| {
            if at.iter().any(|span| extent(*span) > 1) {
                let definition = spelled(&(dag.pipeline.funcs[of.0].name.clone(), of.1));
                return Err(TssError::DataIndexed { definition, array: name(source) });
            }
            let slope = |by: i64, from: i64, to: i64| {
                let way = to.saturating_sub(from);
                // Away from 0: what is touched is never more than is counted.
                way.signum() * (way.saturating_abs().saturating_add(by - 1) / by)
            };
            let slopes = moved.iter().map(|(by, to)| {
                let ends = at
                    .iter()
                    .enumerate()
                    .map(|(d, from)| (from.0, to.and_then(|to| to.get(d)).map_or(from.0, |to| to.0)));
                ends.map(|(from, to)| slope(*by, from, to)).collect()
            });
            Ok(Access { source, at: at.iter().map(|span| span.0).collect(), slopes: slopes.collect() })
        };
        let own = Source::Func(of.0);
        let each = |list: fn(&Seen, usize) -> Option<&Spans>, n: usize| -> Vec<(i64, Option<&Spans>)> {
            moved.iter().map(|(by, seen)| (*by, list(seen, n))).collect()
        };
        let store = access(own, &here.store, &each(|seen, _| Some(&seen.store), 0))?;
        let reads = here.reads.iter().enumerate().filter(|(_, e)| wanted(e.source));
        let reads = reads.map(|(n, e)| access(e.source, &e.at, &each(|seen, n| Some(&seen.reads.get(n)?.at), n)));
        let own_reads = here.own_reads.iter().enumerate();
        let own_reads = own_reads.map(|(n, at)| access(own, at, &each(|seen, n| seen.own_reads.get(n), n)));
        Ok(Points {
            store,
            reads: reads.collect::<Result<_, _>>()?,
            own_reads: own_reads.collect::<Result<_, _>>()?,
            first: domain.iter().map(|span| span.0).collect(),
            middle,
        })
    }
}

/// The elements that a point accesses.
struct Seen {
    store: Spans,
    reads: Vec<Element>,
    own_reads: Vec<Spans>,
}

impl Seen {
    fn at(dag: &Dag<'_>, of: (FuncId, usize), state: &State, point: &[i64]) -> Seen {
        let domain: Spans = point.iter().map(|v| (*v, *v)).collect();
        let (own_reads, store) = dag.own_reads(of, &domain);
        let reads = elements(dag, of, point, &|func| state.is_inlined(func), &mut 0);
        Seen { store, reads, own_reads }
    }
}

/// The variables of the loops, outermost first, and that of the last one: the one along rows of what is stored.
fn order(dag: &Dag<'_>, of: (FuncId, usize), points: &Points) -> (Vec<usize>, Option<usize>) {
    let vars = &dag.funcs[of.0].stages[of.1].vars;
    let slopes = &points.store.slopes;
    let in_row = |var: usize| slopes[var].iter().skip(1).all(|slope| *slope == 0);
    let is_along = |var: &usize| slopes[*var].first().is_some_and(|step| *step != 0) && in_row(*var);
    // Without one, the reason is told of the first loop that could be.
    let along = (0..vars.len()).find(is_along).or_else(|| (0..vars.len()).find(|var| vars[*var].tells_apart));
    let along = along.or_else(|| (0..vars.len()).next());
    let rest = (0..vars.len()).rev().filter(|var| Some(*var) != along);
    let (apart, reductions): (Vec<usize>, Vec<usize>) = rest.partition(|var| vars[*var].tells_apart);
    // Pure dimensions come first.
    let (pure, scattered): (Vec<usize>, Vec<usize>) = apart.into_iter().partition(|var| vars[*var].dim.is_some());
    ([pure, scattered, reductions].into_iter().flatten().chain(along).collect(), along)
}

fn loops(vars: &[StageVar], order: &[usize], domain: &Spans, along: Option<usize>, any_order: bool) -> Vec<Loop> {
    let is_shared = order.iter().any(|var| vars[*var].tells_apart && Some(*var) != along);
    let mut has_cut = false;
    let mut kind = |var: usize| match vars[var].tells_apart {
        true if Some(var) != along || !is_shared => LoopKind::Parallel,
        true => LoopKind::Independent,
        // Tiles of the outermost one of some loops in order are still in order.
        false if any_order || !std::mem::replace(&mut has_cut, true) => LoopKind::Reduction,
        false => LoopKind::Ordered,
    };
    let made = |var: &usize| Loop {
        name: vars[*var].name.clone(),
        trips: extent(domain[*var]).unsigned_abs(),
        kind: kind(*var),
    };
    order.iter().map(made).collect()
}

/// The pairs of loops that a condition couples: of points all over both, it holds for about half, and for a different
/// number from one iteration of either loop to another.
fn slants(dag: &Dag<'_>, of: (FuncId, usize), points: &Points, vars: &[usize], domain: &Spans) -> Vec<(usize, usize)> {
    let place =
        |var: usize, n: i64| domain[var].0.saturating_add((extent(domain[var]) - 1).saturating_mul(n) / SLANT_STEPS);
    let is_slanted = |a: usize, b: usize| {
        let runs = |i: i64, j: i64| {
            let mut point = points.middle.clone();
            (point[a], point[b]) = (place(a, i), place(b, j));
            dag.runs(of, &point)
        };
        let in_row = |i: i64| (0..=SLANT_STEPS).filter(|j| runs(i, *j)).count();
        let in_column = |j: i64| (0..=SLANT_STEPS).filter(|i| runs(*i, j)).count();
        let all: usize = (0..=SLANT_STEPS).map(in_row).sum();
        let share = all as f64 / ((SLANT_STEPS + 1) * (SLANT_STEPS + 1)) as f64;
        (0.3..0.7).contains(&share) && in_row(0) != in_row(SLANT_STEPS) && in_column(0) != in_column(SLANT_STEPS)
    };
    let pairs = (0..vars.len()).flat_map(|a| (a + 1..vars.len()).map(move |b| (a, b)));
    pairs.filter(|(a, b)| is_slanted(vars[*a], vars[*b])).collect()
}

/// The arrays: what is stored, then what is read.
fn arrays(dag: &Dag<'_>, points: &Points, vars: &[usize]) -> Vec<Array> {
    let store = &points.store;
    let updates = points.own_reads.iter().any(|read| read.at == store.at && read.slopes == store.slopes);
    let access = if updates { AccessKind::Update } else { AccessKind::Write };
    let mut made = of_source(dag, points, vars, access, &[store]);
    let mut groups: Vec<Vec<&Access>> = Vec::new();
    let is_stored = |read: &&Access| updates && read.source == store.source && read.at == store.at;
    for read in points.reads.iter().chain(points.own_reads.iter().filter(|read| !is_stored(read))) {
        let is_same = |other: &&Access| other.source == read.source && other.slopes == read.slopes;
        match groups.iter_mut().find(|group| group.first().is_some_and(is_same)) {
            Some(group) if group.iter().any(|other| other.at == read.at) => {}
            Some(group) => group.push(read),
            None => groups.push(vec![read]),
        }
    }
    for group in groups {
        made.extend(of_source(dag, points, vars, AccessKind::Read, &group));
    }
    made
}

/// The arrays of one buffer, one for each element of a tuple, accessed at places that are constants apart.
fn of_source(dag: &Dag<'_>, points: &Points, vars: &[usize], access: AccessKind, at: &[&Access]) -> Vec<Array> {
    let Some(main) = at.first() else { return Vec::new() };
    let (name, types): (&str, Vec<ScalarType>) = match main.source {
        Source::Func(func) => {
            let def = &dag.pipeline.funcs[func];
            (&def.name, def.types.clone())
        }
        Source::Image(image) => (&dag.pipeline.images[image].name, vec![dag.pipeline.images[image].ty]),
    };
    let dims = main.at.len();
    let subscript = |d: usize| {
        let factor = |(index, var): (usize, &usize)| Some((index, main.slopes[*var][d])).filter(|(_, f)| *f != 0);
        Subscript { terms: vars.iter().enumerate().filter_map(factor).collect() }
    };
    let offsets = at.iter().map(|a| (0..dims).rev().map(|d| a.at[d].saturating_sub(main.at[d])).collect());
    let (subscripts, offsets) = ((0..dims).rev().map(subscript).collect::<Vec<_>>(), offsets.collect::<Vec<_>>());
    let whole = dag.whole(main.source).first().copied().unwrap_or((0, 0));
    // The first element of a row that is accessed, by where loops begin.
    let moved = |var: usize| main.slopes[var].first().map_or(0, |slope| slope.saturating_mul(points.way(var)));
    let begin =
        (0..points.middle.len()).fold(main.at.first().copied().unwrap_or(0), |at, v| at.saturating_sub(moved(v)));
    let made = |(n, element): (usize, &ScalarType)| Array {
        name: if types.len() == 1 { name.to_string() } else { format!("{name}.{n}") },
        element: *element,
        access,
        ld: leading(dag, main.source, *element, dims),
        base: begin.saturating_sub(whole.0),
        subscripts: subscripts.clone(),
        offsets: offsets.clone(),
    };
    types.iter().enumerate().map(made).collect()
}

impl Points {
    /// The iterations of a variable from its first value to the one in the middle.
    fn way(&self, var: usize) -> i64 {
        self.middle[var].saturating_sub(self.first[var])
    }
}

/// The elements from a row of a buffer to the next. Rows of Funcs are whole lines and no whole pages, those of inputs
/// and outputs follow each other.
fn leading(dag: &Dag<'_>, source: Source, element: ScalarType, dims: usize) -> i64 {
    let row = dag.whole(source).first().map_or(1, |span| extent(*span).max(1));
    let Source::Func(func) = source else { return row };
    let (line, page) = (LINE as i64 / element.bytes() as i64, PAGE as i64 / element.bytes() as i64);
    if dims < 2 || dag.funcs[func].is_output || row <= line {
        return row;
    }
    let padded = row.saturating_add(line - 1) / line * line;
    if padded % page == 0 { padded.saturating_add(line) } else { padded }
}

/// The vector instructions of arithmetic for each vector of points, in units of those that a machine does `fmas` of at
/// once.
fn operations(work: &Work, along: Option<usize>, machine: &Machine, widest: u64) -> f64 {
    let lanes = f64::from(machine.vector.bits) / 8.0 / widest.max(1) as f64;
    let is_in_row = |mask: u32| along.is_some_and(|var| mask.checked_shr(var as u32).unwrap_or(0) & 1 == 1);
    let of = |((mask, bytes), weight): (&(u32, u8), &f64)| {
        let registers = (lanes * f64::from(*bytes) * 8.0 / f64::from(machine.vector.bits)).max(1.0);
        if is_in_row(*mask) { weight * registers } else { 0.0 }
    };
    // Additions and multiplications have twice the throughput in all.
    work.iter().map(of).sum::<f64>() / 2.0
}
