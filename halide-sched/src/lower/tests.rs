//! Passes from `Bounded` to `Final`, each alone, on random programs: it keeps what a run gives, and `verify` accepts
//! what it makes. Left out are `vectorize`, which is for loops whose iterations may run together, and `offload` and
//! `place_copies`, which are for loops over blocks: random programs have neither.

use super::*;
use crate::lower::trace::LoweringTrace;
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::ids::Id;
use halide_core::limits::Limits;
use halide_core::ops::BinOp;
use halide_core::pipeline::DimField;
use halide_core::types::ScalarType::{Bool, F32, U8, U16};
use halide_core::value::Scalar;
use halide_ir::eval::{self, Check, EvalError};
use halide_ir::{
    BufId, BufferRole, Elem, Expr, ExprKind, ForKind, LoopInfo, Partition, PrefetchRequest, Program, Stage, Stmt, Sym,
    build, verify, visit,
};
use halide_solve::simplify::Facts;
use halide_testing::programs::{self, Random};
use std::cell::Cell;

/// The results of a run: the outputs and the counters.
type Outcome = Result<(Vec<AnyBuffer>, Vec<i64>), EvalError>;

fn run(program: &Program) -> Outcome {
    let buffer = |ty, extents: &[i64]| {
        let mut made = AnyBuffer::with_region(ty, &Region::of_extents(extents)).unwrap();
        for (i, at) in made.region().coords().enumerate() {
            made.set(&at, halide_core::value::cast(ty, Scalar::from(i as i32 * 37 % 101))).unwrap();
        }
        made
    };
    let mut outputs = [buffer(U16, &[4, 4]), buffer(F32, &[4])];
    let params = [Scalar::from(-3i32), Scalar::from(2.5f32)];
    let limits = Limits::with_cap(64 << 20);
    let options = eval::Options { limits: Some(&limits), ..Default::default() };
    let stats = eval::run_with(program, &params, &[buffer(U8, &[4, 4])], &mut outputs, &options)?;
    Ok((outputs.to_vec(), stats.counters))
}

fn verified(program: &Program, what: &str) {
    if let Err(errors) = verify::verify(program) {
        let list: Vec<String> = errors.iter().map(|e| e.to_string()).collect();
        panic!("{what}\n{}\n{program}", list.join("\n"));
    }
}

/// Holds `pass` to its promise on random programs of `stage`; how many of them ran to their end is the result.
fn check(stage: Stage, seeds: u64, pass: impl Fn(Program) -> Program) -> u32 {
    check_but(&[], stage, seeds, pass)
}

/// Does as [`check`] for a pass that is given what plans rule out, and may then make programs that fail `other` checks.
fn check_but(other: &[Check], stage: Stage, seeds: u64, pass: impl Fn(Program) -> Program) -> u32 {
    let made = |seed| programs::program(&mut Random::new(seed), stage, 2 + (seed % 24) as u32);
    check_on(made, other, seeds, pass)
}

/// Does as [`check_but`] on the programs that `made` gives for seeds.
pub(super) fn check_on(
    made: impl Fn(u64) -> Program,
    other: &[Check],
    seeds: u64,
    pass: impl Fn(Program) -> Program,
) -> u32 {
    let mut good = 0;
    for seed in 0..seeds {
        let before = made(seed);
        verified(&before, &format!("seed {seed}, before"));
        let after = pass(before.clone());
        verified(&after, &format!("seed {seed}, after\n{before}"));
        let Ok((outputs, counters)) = run(&before) else { continue };
        let (new_outputs, new_counters) = match run(&after) {
            Ok(outcome) => outcome,
            // Passes order sums anew and compute some values early; the random program's are of any size.
            Err(EvalError::Failed { check: Check::IndexOverflow, .. }) => continue,
            Err(EvalError::Failed { check, .. }) if other.contains(&check) => continue,
            Err(e) => panic!("seed {seed}: {e}\nbefore {before}\nafter {after}"),
        };
        for (old, new) in outputs.iter().zip(&new_outputs) {
            if let Some((at, a, b)) = old.first_difference(new) {
                panic!("seed {seed}: {a} became {b} at {at:?}\nbefore {before}\nafter {after}");
            }
        }
        // `instrument` adds counters of its own behind these.
        assert_eq!(counters, new_counters[..counters.len()], "seed {seed}\nbefore {before}\nafter {after}");
        good += 1;
    }
    good
}

pub(super) const SEEDS: u64 = 1000;

/// Runs a pass, and counts in `made` if it changed the program.
fn counted(made: &Cell<u32>, program: Program, pass: impl Fn(Program) -> Program) -> Program {
    let after = pass(program.clone());
    made.set(made.get() + u32::from(after.to_string() != program.to_string()));
    after
}

#[test]
fn uniquify_keeps_meaning() {
    assert!(check(Stage::Bounded, SEEDS, loops::uniquify::uniquify) > SEEDS as u32 / 3);
}

#[test]
fn skip_stages_keeps_meaning() {
    let pass = |p| loops::skip_stages::skip_stages(p, &Facts::new(), &mut LoweringTrace::new());
    assert!(check(Stage::Bounded, SEEDS, |p| pass(loops::uniquify::uniquify(p))) > SEEDS as u32 / 3);
}

#[test]
fn hoist_storage_keeps_meaning() {
    let made = Cell::new(0);
    let hoist = |p| storage::hoist_storage::hoist_storage(p, &Facts::new(), &mut LoweringTrace::new());
    let pass = |p: Program| {
        let mut p = loops::uniquify::uniquify(p);
        p.hoisted = p.func_buffers.ids().collect();
        counted(&made, p, hoist)
    };
    // Iterations that run at once then share storage.
    assert!(check_but(&[Check::Race], Stage::Bounded, SEEDS, pass) > SEEDS as u32 / 3);
    assert!(made.get() > 100, "{}", made.get());
}

#[test]
fn ring_buffer_keeps_meaning() {
    let made = Cell::new(0);
    let pass = |p: Program| {
        let own = |func: &halide_core::ids::FuncId| {
            p.func_buffers[*func].iter().all(|b| p.buffers[*b].role == BufferRole::Internal)
        };
        let rings = p.func_buffers.ids().filter(own).map(|func| (func, 2)).collect();
        counted(&made, loops::uniquify::uniquify(p), |p| storage::ring_buffer::ring_buffer(p, &rings))
    };
    assert!(check(Stage::Bounded, SEEDS, pass) > SEEDS as u32 / 3);
    assert!(made.get() > 100, "{}", made.get());
}

#[test]
fn fork_producers_keeps_meaning() {
    let made = Cell::new(0);
    let pass = |p: Program| {
        let funcs = p.func_buffers.ids().collect();
        let asked = loops::fork_producers::Asked { funcs, ..Default::default() };
        let fork = |p| loops::fork_producers::fork_producers(p, &asked, &Facts::new(), &mut LoweringTrace::new());
        counted(&made, loops::uniquify::uniquify(p), fork)
    };
    assert!(check(Stage::Bounded, SEEDS, pass) > SEEDS as u32 / 3);
}

#[test]
fn fork_siblings_keeps_meaning() {
    let made = Cell::new(0);
    let pass = |p: Program| {
        let asked = p.func_buffers.ids().collect();
        let fork = |p| loops::fork_siblings::fork_siblings(p, &asked, &mut LoweringTrace::new());
        counted(&made, loops::uniquify::uniquify(p), fork)
    };
    assert!(check(Stage::Bounded, SEEDS, pass) > SEEDS as u32 / 3);
}

#[test]
fn instrument_keeps_meaning() {
    let made = Cell::new(0);
    let pass = |p: Program| counted(&made, p, |p| loops::instrument::instrument(p).0);
    // Masks of elements that nobody wrote are counted.
    assert!(check_but(&[Check::Uninitialised], Stage::Bounded, SEEDS, pass) > SEEDS as u32 / 3);
    assert!(made.get() > 100, "{}", made.get());
}

#[test]
fn sum_counts_keeps_meaning() {
    let made = Cell::new(0);
    let pass = |p: Program| counted(&made, p, loops::sum_counts::sum_counts);
    assert!(check_but(&[Check::Uninitialised], Stage::Bounded, SEEDS, pass) > SEEDS as u32 / 3);
    assert!(made.get() > 100, "{}", made.get());
}

#[test]
fn split_functions_keeps_meaning() {
    let made = Cell::new(0);
    let limits = || code::split_functions::Limits { long: 12, part: 5 };
    let split = |p| code::split_functions::split_beyond(p, limits(), &mut LoweringTrace::new());
    // Tasks as they are made: these capture no vectors of truths.
    let pass = |p| counted(&made, code::outline_tasks::outline_tasks(p), split);
    assert!(check(Stage::Shaped, SEEDS, pass) > SEEDS as u32 / 3);
    assert!(made.get() > 100, "{}", made.get());
}

#[test]
fn bound_small_allocations_keeps_meaning() {
    let pass =
        |p| storage::bound_small_allocations::bound_small_allocations(p, &Facts::new(), &mut LoweringTrace::new());
    assert!(check(Stage::Bounded, SEEDS, pass) > SEEDS as u32 / 3);
    assert!(check(Stage::Flat, SEEDS, pass) > SEEDS as u32 / 3);
}

#[test]
fn inject_prefetches_keeps_meaning() {
    use halide_ir::PrefetchBound::*;
    let asking = |mut p: Program| {
        let bufs: Vec<_> = p.buffers.ids().collect();
        let ids: Vec<_> = p.loops.ids().collect();
        for (i, &at) in ids.iter().enumerate() {
            let bound = [GuardWithIf, Clamp, NonFaulting][i % 3];
            let from = |from| PrefetchRequest { bufs: bufs.clone(), from, offset: i as i64 % 4 - 1, bound };
            p.loops[at].prefetches = vec![from(ids[i * 7 % ids.len()]), from(at)];
        }
        p
    };
    let made = Cell::new(0);
    let pass = |p: Program| {
        let mut trace = LoweringTrace::new();
        let p = loops::inject_prefetches::inject_prefetches(asking(p), &Facts::new(), &mut trace);
        let did = |d: &&Decision| matches!(d.outcome, trace::Outcome::Did(_));
        made.set(made.get() + trace.passes.iter().flat_map(|p| &p.decisions).filter(did).count());
        p
    };
    assert!(check(Stage::Bounded, SEEDS, pass) > SEEDS as u32 / 3);
    assert!(made.get() > 100, "{}", made.get());
}

#[test]
fn bound_loops_keeps_meaning() {
    let pass =
        |p: Program| loops::bound_loops::bound_loops(p.clone(), &Facts::new(), &mut LoweringTrace::new()).unwrap_or(p);
    assert!(check(Stage::Bounded, SEEDS, pass) > SEEDS as u32 / 3);
}

#[test]
fn split_storage_keeps_meaning() {
    use crate::plan::{StorageDim, StoragePart};
    let made = Cell::new(0);
    let pass = |p: Program| {
        let p = loops::uniquify::uniquify(p);
        let internal = |bufs: &[BufId]| bufs.iter().all(|b| p.buffers[*b].role == BufferRole::Internal);
        let mut splits = storage::split_storage::Splits::new();
        for (func, bufs) in p.func_buffers.enumerate().filter(|(_, bufs)| !bufs.is_empty() && internal(bufs)) {
            let info = &p.buffers[bufs[0]];
            let of = |dim| {
                let row = |part| StorageDim { name: String::new(), dim, part, align: 1, fold: None, at: None };
                match (func.0 as i64 + dim as i64) % 5 {
                    _ if info.fold[dim].is_some() => vec![row(StoragePart::Whole)],
                    4 => vec![row(StoragePart::Whole)],
                    n => vec![row(StoragePart::Outer(n + 1)), row(StoragePart::Inner(n + 1))],
                }
            };
            splits.insert(func, (0..info.dims).rev().flat_map(of).collect());
        }
        counted(&made, p, |p| {
            storage::split_storage::split_storage(p, &splits, &Facts::new(), &mut LoweringTrace::new())
        })
    };
    assert!(check(Stage::Bounded, SEEDS, pass) > SEEDS as u32 / 3);
    assert!(made.get() > 100, "{}", made.get());
}

#[test]
fn flatten_storage_keeps_meaning() {
    let pass = |p| storage::flatten_storage::flatten_storage(loops::uniquify::uniquify(p));
    assert!(check(Stage::Bounded, SEEDS, pass) > SEEDS as u32 / 3);
}

#[test]
fn unroll_keeps_meaning() {
    assert!(check(Stage::Flat, SEEDS, |p| loops::unroll::unroll(p, &mut LoweringTrace::new())) > SEEDS as u32 / 3);
}

#[test]
fn interleave_keeps_meaning() {
    assert!(check(Stage::Shaped, SEEDS, vectors::interleave::interleave) > SEEDS as u32 / 3);
}

#[test]
fn partition_loops_keeps_meaning() {
    for how in [Partition::Always, Partition::Auto] {
        let pass = |mut p: Program| {
            p.loops.iter_mut().for_each(|l| l.partition = how);
            loops::partition_loops::partition_loops(p, &Facts::new(), u64::MAX, &mut LoweringTrace::new()).program
        };
        assert!(check(Stage::Shaped, SEEDS, pass) > SEEDS as u32 / 3);
    }
}

#[test]
fn loop_trimming_keeps_meaning() {
    let pass = |p| loops::loop_trimming::loop_trimming(p, &Facts::new(), &mut LoweringTrace::new());
    assert!(check(Stage::Shaped, SEEDS, pass) > SEEDS as u32 / 3);
}

#[test]
fn stop_early_keeps_meaning() {
    let pass = |p| loops::stop_early::stop_early(p, &Default::default(), &mut LoweringTrace::new());
    assert!(check(Stage::Shaped, SEEDS, pass) > SEEDS as u32 / 3);
}

#[test]
fn licm_keeps_meaning() {
    assert!(check(Stage::Shaped, SEEDS, code::licm::licm) > SEEDS as u32 / 3);
}

#[test]
fn register_promotion_keeps_meaning() {
    let made = Cell::new(0);
    let pass = |p: Program| {
        let before = p.buffers.len();
        let p = code::register_promotion::register_promotion(p);
        made.set(made.get() + p.buffers.len() - before);
        p
    };
    check(Stage::Shaped, SEEDS, pass);
    assert!(made.get() > 100, "{} registers", made.get());
}

#[test]
fn scalar_replacement_keeps_meaning() {
    let made = Cell::new(0);
    let pass = |p: Program| {
        let before = p.buffers.len();
        let p = code::scalar_replacement::scalar_replacement(p);
        made.set(made.get() + p.buffers.len() - before);
        p
    };
    let recurring = |seed| {
        let p = programs::program(&mut Random::new(seed), Stage::Shaped, 2 + (seed % 24) as u32);
        let body = recurring(p.body.clone());
        Program { body, ..p }
    };
    check_on(recurring, &[], SEEDS, pass);
    assert!(made.get() > SEEDS as usize / 30, "{} registers", made.get());
}

/// Statements in which loops of one store read what the iteration before stored, from the second iteration on.
fn recurring(s: Stmt) -> Stmt {
    let s = visit::map_stmt(s, Expr::clone, recurring);
    let Stmt::For(l) = &s else { return s };
    let Stmt::Store { buf, index, value, mask: None } = &l.body else { return s };
    let (Some(ty), false) =
        (value.ty().scalar(), visit::any_node(index, |n| matches!(n.kind(), ExprKind::Load { .. })))
    else {
        return s;
    };
    let earlier = build::offset(build::loop_var(l.id), -1);
    let before = visit::substitute(index, &|sym| (sym == Sym::Loop(l.id)).then(|| earlier.clone()));
    let last = crate::lower::vectors::lanes::lane(&before, before.lanes() - 1);
    let old = build::broadcast(build::load(*buf, ty, last, None), value.lanes());
    let op = if ty == Bool { BinOp::BitXor } else { BinOp::Add };
    let body =
        Stmt::Store { buf: *buf, index: index.clone(), value: build::binary(op, old, value.clone()), mask: None };
    let (min, extent) = (build::offset(l.min.clone(), 1), build::offset(l.extent.clone(), -1));
    build::for_loop(l.id, l.kind, min, extent, body)
}

#[test]
fn privatize_keeps_meaning() {
    let made = Cell::new(0);
    let pass = |p: Program| {
        let before = p.buffers.len();
        let p = vectors::privatize::privatize(p, &mut LoweringTrace::new());
        made.set(made.get() + p.buffers.len() - before);
        p
    };
    let reducing = |seed| {
        let mut p = programs::program(&mut Random::new(seed), Stage::Flat, 2 + (seed % 24) as u32);
        let body = std::mem::replace(&mut p.body, build::nothing());
        let body = reducing(body, &mut p, seed);
        Program { body, ..p }
    };
    assert!(check_on(reducing, &[], SEEDS, pass) > SEEDS as u32 / 3);
    assert!(made.get() > SEEDS as usize / 4, "{} partial results", made.get());
}

/// Statements in which each store of integers is followed by loops around lanes that fold values into its element, some
/// of them under a condition, and some twice.
fn reducing(s: Stmt, p: &mut Program, seed: u64) -> Stmt {
    let s = walk::map_stmt(s, p, |_, e| e.clone(), |p, s| reducing(s, p, seed));
    let Stmt::Store { buf, index, value, mask: None } = &s else { return s };
    let loads = |e: &Expr| visit::any_node(e, |n| matches!(n.kind(), ExprKind::Load { .. }));
    let Some(ty) = value.ty().scalar().filter(|ty| ty.is_int() && index.lanes() == 1 && !loads(index)) else {
        return s;
    };
    let (outer, lanes) = (p.loops.push(LoopInfo::new("outer")), p.loops.push(LoopInfo::new("lanes")));
    let mut random = Random::new(seed ^ u64::from(outer.index() as u32));
    let old = build::load(*buf, ty, index.clone(), None);
    let new =
        build::cast_data(ty, build::add(build::loop_var(lanes), build::mul(build::loop_var(outer), build::int(3))));
    let op = [BinOp::Add, BinOp::Mul, BinOp::Min, BinOp::Max, BinOp::BitXor, BinOp::Sub][random.below(6)];
    let both = if op != BinOp::Sub && random.below(2) == 0 { [new, old] } else { [old, new] };
    let [a, b] = both;
    let one = Stmt::Store { buf: *buf, index: index.clone(), value: build::binary(op, a, b), mask: None };
    let some = build::lt(build::loop_var(lanes), build::int(random.between(0, 5)));
    let one = if random.below(2) == 0 { build::if_else(some, one, build::nothing()) } else { one };
    let over = |id, extent| build::for_loop(id, ForKind::Vectorized, build::int(0), build::int(extent), one.clone());
    let body = over(lanes, random.between(2, 5));
    let extent = build::int(random.between(-1, 4));
    build::block([s, build::for_loop(outer, ForKind::Serial, build::int(0), extent, body)])
}

#[test]
fn cse_keeps_meaning() {
    let shared = Cell::new(0);
    let pass = |p: Program| {
        let body = again_under_conditions(p.body.clone());
        let made = code::cse::cse(Program { body, ..p });
        shared.set(shared.get() + u32::from(shares_under_conditions(&made.body)));
        made
    };
    assert!(check(Stage::Shaped, SEEDS, pass) > SEEDS as u32 / 3);
    assert!(shared.get() > SEEDS as u32 / 4, "{}", shared.get());
}

/// Statements with each store that may be made twice made twice more, under conditions.
fn again_under_conditions(s: Stmt) -> Stmt {
    let s = visit::map_stmt(s, Expr::clone, again_under_conditions);
    let Stmt::Store { buf, index, value, mask } = &s else { return s };
    let reads_own = |n: &Expr| matches!(n.kind(), ExprKind::Load { buf: of, .. } if of == buf);
    if [index, value].into_iter().chain(mask).any(|e| visit::any_node(e, reads_own)) {
        return s;
    }
    let extent = build::sym(Sym::Buffer { buf: Id::new(0), dim: 0, field: DimField::Extent });
    let when = |least| build::if_else(build::ge(extent.clone(), build::int(least)), s.clone(), build::block([]));
    let again = [s.clone(), when(2), when(5)];
    build::block(again)
}

/// Conditions that read what statements under them change.
#[test]
fn cse_keeps_meaning_of_conditions_that_stop_to_hold() {
    let drawn = Cell::new(0);
    let made = |seed| {
        let made = programs::program(&mut Random::new(seed), Stage::Shaped, 2 + (seed % 24) as u32);
        counted(&drawn, made, |p| Program { body: back_and_forth(p.body.clone()), ..p })
    };
    let other = [Check::Race, Check::Uninitialised];
    assert!(check_on(made, &other, SEEDS, code::cse::cse) > SEEDS as u32 / 4);
    assert!(drawn.get() > SEEDS as u32 / 4, "{}", drawn.get());
}

/// Statements with each store of an integer followed by two more of the same element, under a condition that reads it
/// and perhaps holds before the first of them alone.
fn back_and_forth(s: Stmt) -> Stmt {
    let s = visit::map_stmt(s, Expr::clone, back_and_forth);
    let Stmt::Store { buf, index, value, mask: None } = &s else { return s };
    let ty = match value.ty().elem {
        Elem::Data(ty) if ty.is_int() && value.lanes() == 1 => ty,
        _ => return s,
    };
    let constant = |value: i32| build::constant(halide_core::value::cast(ty, Scalar::from(value)));
    let load = build::load(*buf, ty, index.clone(), None);
    let store = |value| Stmt::Store { buf: *buf, index: index.clone(), value, mask: None };
    let next = build::binary(BinOp::Add, load.clone(), constant(1));
    let holds = build::binary(BinOp::Lt, load.clone(), constant(40));
    let twice = build::binary(BinOp::Mul, next.clone(), constant(40));
    let under = build::block([store(twice), store(build::binary(BinOp::Add, next, load))]);
    build::block([s.clone(), build::if_else(holds, under, build::block([]))])
}

/// True if names are bound for a list of statements, and one under a condition uses them.
fn shares_under_conditions(s: &Stmt) -> bool {
    if let Stmt::Let { bindings, body } = s
        && let Stmt::Block(list) = &**body
        && list.iter().any(|s| matches!(s, Stmt::Store { .. }))
    {
        let is_bound = |e: &Expr| matches!(e.kind(), ExprKind::Sym(s) if bindings.iter().any(|(bound, _)| bound == s));
        let mut found = false;
        for inner in list.iter().filter(|s| matches!(s, Stmt::If { .. })).flat_map(visit::nested) {
            visit::for_each_expr_deep(inner, &mut |e| found = found || visit::any_node(e, is_bound));
        }
        if found {
            return true;
        }
    }
    visit::nested(s).any(shares_under_conditions)
}

#[test]
fn join_sums_keeps_meaning() {
    let made = Cell::new(0);
    let pass = |p: Program| counted(&made, p, vectors::join_sums::join_sums);
    assert!(check(Stage::Shaped, SEEDS, pass) > SEEDS as u32 / 3);
    assert!(made.get() > 0, "no sum was joined");
}

#[test]
fn find_intrinsics_keeps_meaning() {
    assert!(
        check(Stage::Shaped, SEEDS, |p| vectors::find_intrinsics::find_intrinsics(p, &Facts::new())) > SEEDS as u32 / 3
    );
}

#[test]
fn last_use_keeps_meaning() {
    assert!(check(Stage::Final, SEEDS, storage::last_use::last_use) > SEEDS as u32 / 3);
}

#[test]
fn outline_tasks_keeps_meaning() {
    assert!(check(Stage::Shaped, SEEDS, code::outline_tasks::outline_tasks) > SEEDS as u32 / 3);
}

#[test]
fn check_accesses_keeps_meaning() {
    let exact = |p| checks::check_accesses::check_accesses(p, None, true, &mut LoweringTrace::new());
    assert!(check(Stage::Shaped, SEEDS, exact) > SEEDS as u32 / 3);
}

/// Broken programs end with a fault before an access outside of a buffer, whichever way they are checked.
#[test]
fn check_accesses_leaves_no_access_outside() {
    let outside = |e: &EvalError| matches!(e.check(), Some(Check::ReadOutside | Check::WriteOutside));
    let (mut wrong, mut stopped) = (0, 0);
    for seed in 0..4 * SEEDS {
        let mut random = Random::new(seed);
        let size = 2 + (seed % 24) as u32;
        let before = match seed % 4 {
            0 => Some(programs::wild(&mut random, Stage::Shaped, size)),
            _ => programs::mutant(&programs::program(&mut random, Stage::Shaped, size), &mut random),
        };
        let Some(before) = before.filter(|p| verify::verify(p).is_ok()) else { continue };
        let broken = run(&before).is_err_and(|e| outside(&e));
        wrong += u32::from(broken);
        for exact in [false, true] {
            let after = checks::check_accesses::check_accesses(before.clone(), None, exact, &mut LoweringTrace::new());
            verified(&after, &format!("seed {seed}, exact {exact}\n{before}"));
            match run(&after) {
                Err(e) if outside(&e) => panic!("seed {seed}, exact {exact}: {e}\nbefore {before}\nafter {after}"),
                Err(EvalError::Fault { fault, .. }) if broken => {
                    let ours =
                        matches!(after.faults[fault], halide_ir::Fault::Unproved | halide_ir::Fault::Access { .. });
                    stopped += u32::from(ours);
                }
                _ => {}
            }
        }
    }
    assert!(wrong > SEEDS as u32 / 10 && stopped > wrong, "{wrong} programs are wrong, {stopped} runs were ended");
}

/// Asserts that `check_accesses` does not take `b1[difference + 7]`, of eight elements, for proved behind `names`.
fn is_asked(names: &str, difference: &str) {
    let text = format!("alloc b1[8] {{ {names} b1[{difference} + 7] = 1u16 }}");
    let program = halide_testing::programs::around(Stage::Shaped, text.parse().unwrap());
    for exact in [false, true] {
        let after = checks::check_accesses::check_accesses(program.clone(), None, exact, &mut LoweringTrace::new());
        let asked = |text: &str| text.matches("assert").count();
        assert!(asked(&after.to_string()) > asked(&text), "{after}");
    }
}

/// Two choices with the same arms are not the same: their difference may be anything.
#[test]
fn choices_with_the_same_arms_are_not_taken_for_equal() {
    let (first, second) = ("select(int(p0:i32) < 3, 0, 5)", "select(int(p0:i32) < 9, 0, 5)");
    is_asked("", &format!("({first} - {second})"));
    for difference in ["t0 - t1", "t1 - t0"] {
        is_asked(&format!("let t0 = {first} let t1 = {second}"), difference);
    }
    let picked = "shuffle([shuffle([t0:intx4], [0, 3]) - shuffle([t0:intx4], [3, 0])], [1])";
    is_asked("let t0 = ramp(0, 5, 4)", picked);
}

/// A name keeps the value that was read from memory, even if another value is there later.
#[test]
fn names_of_memory_are_not_taken_for_what_is_there_later() {
    for read in ["int(b1:u16[0])", "select(b1:u16[0] < 3u16, 0, 5)", "select(int(b1:u16[0]) < 3, 0, 5)"] {
        let before = format!("let t0 = {read} b1[0] = 7u16");
        for difference in [format!("{read} - t0"), format!("t0 - {read}")] {
            is_asked(&before, &difference);
        }
        for difference in ["t0 - t1", "t1 - t0"] {
            is_asked(&format!("{before} let t1 = {read}"), difference);
        }
    }
}

/// A condition on what is in memory says nothing once that has changed.
#[test]
fn conditions_on_memory_do_not_outlive_it() {
    is_asked("if int(b1:u16[0]) <= 0 { b1[0] = 7u16 b1[int(b1:u16[0]) + 7] = 1u16 }", "0");
    is_asked("let t0 = int(b1:u16[0]) <= 0 b1[0] = 7u16 if t0:bool { b1[int(b1:u16[0]) + 7] = 1u16 }", "0");
    is_asked("assert int(b1:u16[0]) <= 0 else fault0() b1[0] = 7u16", "int(b1:u16[0])");
}

/// An expression that stands at two places is asked at both, if what it reads may have changed in between.
#[test]
fn shared_expressions_are_asked_again_behind_stores() {
    use halide_ir::{BufId, Stmt, build};
    let (out, table) = (BufId(0), BufId(1));
    let at = build::to_index(build::load(table, U16, build::int(0), None));
    let shared = build::load(table, U16, at, None);
    let store = |buf, index, value| Stmt::Store { buf, index: build::int(index), value, mask: None };
    let number = |n: u16| build::constant(Scalar::from(n));
    let body = build::block([
        store(table, 0, number(3)),
        store(out, 0, shared.clone()),
        store(table, 0, number(700)),
        store(out, 1, shared),
    ]);
    let body = Stmt::Alloc { buf: table, count: build::int(8), constant: Some(8), body: Box::new(body) };
    let program = halide_testing::programs::around(Stage::Shaped, body);
    for exact in [false, true] {
        let after = checks::check_accesses::check_accesses(program.clone(), None, exact, &mut LoweringTrace::new());
        let mut outputs = [AnyBuffer::with_region(U16, &Region::of_extents([4])).unwrap()];
        let end = eval::run_with(&after, &[Scalar::from(0i32)], &[], &mut outputs, &eval::Options::default());
        assert!(matches!(end, Err(EvalError::Fault { .. })), "exact {exact}: {end:?}\n{after}");
    }
}
