//! Footprints: the boxes of buffers that a statement touches.

use super::formula::Env;
use super::range::Range;
use super::tree::{Access, Loop, Node, Tree};
use halide_ir::visit::deep;
use halide_ir::{BufId, BufferRole, Program};
use std::collections::BTreeMap;

/// First and last coordinate of each dimension of what is touched of a buffer, and the extents that there are at most.
#[derive(Default)]
struct Touched {
    boxes: BTreeMap<BufId, Vec<(i64, i64)>>,
    most: BTreeMap<BufId, Vec<i64>>,
}

/// The distinct bytes that a statement touches. Loops inside of it run over all their iterations.
pub(super) fn bytes(program: &Program, node: &Node, env: &mut Env<'_>) -> f64 {
    sum(program, &touched(node, env), |_| true)
}

/// The distinct bytes that all iterations of a loop touch.
pub(super) fn loop_bytes(program: &Program, l: &Loop, env: &mut Env<'_>) -> f64 {
    let mut all = Touched::default();
    go_loop(l, env, &mut all);
    sum(program, &all, |_| true)
}

/// The distinct bytes of inputs and outputs that a program touches.
pub(super) fn arguments(program: &Program, tree: &Tree, env: &mut Env<'_>) -> f64 {
    sum(program, &touched(&tree.body, env), |role| role != BufferRole::Internal)
}

fn sum(program: &Program, touched: &Touched, counts: impl Fn(BufferRole) -> bool) -> f64 {
    let of = |(buf, span): (&BufId, &Vec<(i64, i64)>)| {
        let info = &program.buffers[*buf];
        if !counts(info.role) {
            return 0.0;
        }
        let most = touched.most.get(buf);
        let extent = |(d, (first, last)): (usize, &(i64, i64))| {
            let extent = last.saturating_sub(*first).saturating_add(1).max(0);
            most.and_then(|most| most.get(d)).map_or(extent, |most| extent.min(*most)) as f64
        };
        span.iter().enumerate().map(extent).product::<f64>() * info.elem.bytes() as f64
    };
    touched.boxes.iter().fold(0.0, |all, one| all + of(one))
}

fn touched(node: &Node, env: &mut Env<'_>) -> Touched {
    let mut all = Touched::default();
    go(node, env, &mut all);
    all
}

fn go(node: &Node, env: &mut Env<'_>, all: &mut Touched) {
    deep(|| match node {
        Node::Block(list) => list.iter().for_each(|n| go(n, env, all)),
        Node::Let { bindings, reads, body } => {
            for (symbol, value) in bindings {
                env.symbols[*symbol] = value.range(env);
            }
            reads.iter().for_each(|read| add(read, env, all));
            go(body, env, all);
        }
        Node::If { cond, reads, then, otherwise } => {
            reads.iter().for_each(|read| add(read, env, all));
            let holds = cond.value(env);
            if holds != Some(0) {
                go(then, env, all);
            }
            if holds.is_none_or(|holds| holds == 0) {
                go(otherwise, env, all);
            }
        }
        Node::For(l) => go_loop(l, env, all),
        Node::Realize(r) => {
            let extents = r.bounds.iter().zip(&r.fold).map(|((_, extent), fold)| {
                let most = extent.range(env).ends().map_or(i64::MAX, |(_, most)| most.max(0));
                fold.map_or(most, |fold| fold.min(most))
            });
            let extents: Vec<i64> = extents.collect();
            all.most.extend(r.bufs.iter().map(|buf| (*buf, extents.clone())));
            go(&r.body, env, all);
        }
        Node::Provide(p) => p.stores.iter().chain(&p.reads).for_each(|access| add(access, env, all)),
    });
}

fn go_loop(l: &Loop, env: &mut Env<'_>, all: &mut Touched) {
    let (first, last) = (l.min.range(env), l.last.range(env));
    let values = match (first.ends(), last.ends()) {
        (Some((first, _)), Some((_, last))) if first <= last => Range::Int(first, last),
        (Some(_), Some(_)) => return,
        _ => Range::Any,
    };
    env.symbols[l.var] = values;
    go(&l.body, env, all);
}

/// Adds an access. Of a coordinate that nothing is known of, one element is counted.
fn add(access: &Access, env: &mut Env<'_>, all: &mut Touched) {
    let spans = access.args.iter().map(|arg| arg.range(env).ends().unwrap_or((0, 0)));
    let spans: Vec<(i64, i64)> = spans.collect();
    match all.boxes.get_mut(&access.buf) {
        Some(known) => {
            for (known, span) in known.iter_mut().zip(spans) {
                *known = (known.0.min(span.0), known.1.max(span.1));
            }
        }
        None => drop(all.boxes.insert(access.buf, spans)),
    }
}
