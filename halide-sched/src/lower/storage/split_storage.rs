//! Blocked storage: dimensions of Funcs that schedules split become two dimensions of their buffers.
//!
//! Before and after: `Stage::Bounded`. Where the storage of a Func is split along `c` by `n`, its buffers have `c / n`,
//! the number of the block, in the place of `c`, and `c % n` behind all other dimensions; accesses and realizations say
//! both. Blocks are counted from coordinate 0, not from where the storage begins, so that accesses at a multiple of `n`
//! begin a block wherever that is; the first and the last block are stored as a whole.
//!
//! The order of the buffers' dimensions and what is aligned are those of the plan. All that speaks of the Func's own
//! coordinates, as counts and traces do, stands before this pass, and all that speaks of memory behind it.
//!
//! Example, of `g` split along its dimension 0 by 8:
//! ```text
//! realize g#f2 [-1 extent 100] [0 extent 3] {
//!   for x#L0 from 0 extent 9 {
//!     provide g#f2(x#L0, 2): g#b4 = image#b3(x#L0, 1)
//!   }
//! }
//! ```
//! becomes
//! ```text
//! realize g#f2 [-1 extent 14] [0 extent 3] [0 extent 8] {
//!   for x#L0 from 0 extent 9 {
//!     provide g#f2(x#L0 / 8, 2, x#L0 % 8): g#b4 = image#b3(x#L0, 1)
//!   }
//! }
//! ```

use crate::lower::trace::LoweringTrace;
use crate::lower::walk;
use crate::plan::{Plan, StorageDim, StoragePart};
use halide_core::ids::FuncId;
use halide_core::types::ScalarType;
use halide_ir::hash::Map;
use halide_ir::visit::{self, Memo};
use halide_ir::{BufId, Expr, ExprKind, Program, Stmt, build};
use halide_solve::simplify::{Facts, simplify};
use std::collections::BTreeMap;

/// The storage of the Funcs that have a dimension that is split.
pub type Splits = BTreeMap<FuncId, Vec<StorageDim>>;

/// Returns the storage of the Funcs of a plan that have a dimension that is split.
pub fn splits(plan: &Plan) -> Splits {
    let is_split = |storage: &[StorageDim]| storage.iter().any(|s| s.part != StoragePart::Whole);
    plan.funcs.enumerate().filter(|(_, f)| is_split(&f.storage)).map(|(id, f)| (id, f.storage.clone())).collect()
}

/// Splits dimensions of buffers, and the coordinates of what accesses them. `facts` holds what is known of arguments.
pub fn split_storage(program: Program, splits: &Splits, facts: &Facts, trace: &mut LoweringTrace) -> Program {
    if splits.is_empty() {
        return program;
    }
    walk::map_body(program, |body, program| {
        let mut buffers = Map::default();
        for (&func, storage) in splits {
            for &buf in &program.func_buffers[func] {
                let info = &mut program.buffers[buf];
                for (dim, factor) in factors(storage) {
                    let mut parts: Vec<&StorageDim> = storage.iter().filter(|s| s.dim == dim).collect();
                    parts.sort_by_key(|s| matches!(s.part, StoragePart::Inner(_)));
                    let names: Vec<String> = parts.iter().map(|s| format!("`{}`", s.name)).collect();
                    let names = names.join(" and ");
                    trace.did(info.name.clone(), format!("stored in blocks of {factor}, as {names}"));
                }
                let dims = info.dims;
                let place = |s: &StorageDim| match s.part {
                    StoragePart::Whole | StoragePart::Outer(_) => s.dim,
                    StoragePart::Inner(_) => dims + factors(storage).take_while(|(dim, _)| *dim != s.dim).count(),
                };
                // Copies of the storage are behind all that it speaks of.
                let spoken_of: Vec<usize> = storage.iter().map(place).collect();
                let unspoken = (0..dims).filter(|d| storage.iter().all(|s| s.dim != *d));
                info.order = spoken_of.iter().copied().chain(unspoken).collect();
                info.dims = info.order.len();
                info.align = vec![1; info.dims];
                storage.iter().for_each(|s| info.align[place(s)] = s.align);
                info.fold.resize(info.dims, None);
                buffers.insert(buf, (info.elem, storage));
            }
        }
        statement(&mut Split { splits, buffers, facts: facts.clone() }, body)
    })
}

/// The dimensions of a Func that are split, in order, and their factors.
fn factors(storage: &[StorageDim]) -> impl Iterator<Item = (usize, i64)> {
    let mut split: Vec<(usize, i64)> = storage
        .iter()
        .filter_map(|s| match s.part {
            StoragePart::Inner(factor) => Some((s.dim, factor)),
            StoragePart::Whole | StoragePart::Outer(_) => None,
        })
        .collect();
    split.sort_unstable();
    split.into_iter()
}

struct Split<'s> {
    splits: &'s Splits,
    /// The buffers of these Funcs: elements and storage.
    buffers: Map<BufId, (ScalarType, &'s Vec<StorageDim>)>,
    /// The facts that hold at a statement.
    facts: Facts,
}

fn statement(cx: &mut Split<'_>, s: Stmt) -> Stmt {
    // Before anything is mapped: a branch that is always taken comes back as what stands in it.
    match s {
        Stmt::Realize { func, bounds, when, body } if let Some(storage) = cx.splits.get(&func) => {
            let bounds = bounds.iter().map(|(min, extent)| (expression(cx, min), expression(cx, extent))).collect();
            let (bounds, when) = (region(storage, bounds), when.map(|when| expression(cx, &when)));
            Stmt::Realize { func, bounds, when, body: Box::new(statement(cx, *body)) }
        }
        Stmt::Provide { func, args, values, mask } if let Some(storage) = cx.splits.get(&func) => {
            let args = args.iter().map(|e| expression(cx, e)).collect();
            let values = values.iter().map(|(buf, value)| (*buf, expression(cx, value))).collect();
            let mask = mask.map(|mask| expression(cx, &mask));
            Stmt::Provide { func, args: coordinates(storage, args, &cx.facts), values, mask }
        }
        Stmt::Prefetch { buf, at, cache } if let Some(&(_, storage)) = cx.buffers.get(&buf) => {
            let at = at.iter().map(|e| expression(cx, e)).collect();
            Stmt::Prefetch { buf, at: coordinates(storage, at, &cx.facts), cache }
        }
        other => walk::map_stmt_under(other, cx, |cx| &mut cx.facts, |cx, e| expression(cx, e), statement),
    }
}

fn expression(cx: &Split<'_>, e: &Expr) -> Expr {
    Memo::new().rewrite(e, |e, done| match e.kind() {
        ExprKind::Read { buf, args } if let Some((elem, storage)) = cx.buffers.get(buf) => {
            build::read(*buf, *elem, coordinates(storage, args.iter().map(done).collect(), &cx.facts))
        }
        _ => visit::map_children(e, done),
    })
}

/// The coordinates of an element in the buffer from those in the Func. Division and remainder vanish here where loops
/// are split alike: later passes tell by coordinates that lanes are neighbours, and change different elements.
fn coordinates(storage: &[StorageDim], mut args: Vec<Expr>, facts: &Facts) -> Vec<Expr> {
    for (dim, factor) in factors(storage) {
        let (whole, factor) = (args[dim].clone(), build::int(factor));
        args[dim] = simplify(&build::div(whole.clone(), factor.clone()), facts);
        args.push(simplify(&build::rem(whole, factor), facts));
    }
    args
}

/// The region of the buffer that holds a region of the Func.
fn region(storage: &[StorageDim], mut bounds: Vec<(Expr, Expr)>) -> Vec<(Expr, Expr)> {
    for (dim, factor) in factors(storage) {
        let (min, extent) = bounds[dim].clone();
        let block = |e: Expr| build::div(e, build::int(factor));
        let first = block(min.clone());
        let last = block(build::offset(build::add(min, extent), -1));
        let count = build::offset(build::sub(last, first.clone()), 1);
        bounds[dim] = (first, count);
        bounds.push((build::int(0), build::int(factor)));
    }
    bounds
}
