//! Prices of states that are written by hand.

use super::Pricer;
use crate::boxes::of_roots;
use crate::dag::{Box as Spans, Dag, Known};
use crate::state::{Choice, Place, Shape, State};
use crate::tuning::FORWARDING_STALL;
use halide_core::buffer::Region;
use halide_core::expr::{Expr, exp, max};
use halide_core::ids::{FuncId, IdVec};
use halide_core::types::F32;
use halide_core::{Func, ImageParam, IntoExpr, Pipeline, Var, boundary, vars};
use halide_ir::machine::Machine;
use halide_ir::target::{Arch, Budget, Target};
use std::rc::Rc;

const SIZE: i64 = 1024;
const LANES: i64 = 8;

pub(crate) const TARGET: Target = Target {
    arch: Arch::X86_64,
    vector_bits: 256,
    features: None,
    threads: 1,
    cache_bytes: 1 << 20,
    gpu: None,
    budget: Budget::DEFAULT,
};

/// `out` reads three neighbours of each point of `inner`.
pub(crate) fn pipeline(inner: impl FnOnce(&ImageParam, Var, Var) -> Expr) -> Pipeline {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", F32, 2);
    let (mut before, mut out) = (Func::new("inner"), Func::new("out"));
    before[(x, y)] = inner(&input, x, y);
    out[(x, y)] = before[(x, y)] + before[(x + 1, y)] + before[(x + 2, y)];
    Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"))
}

/// Prices an output of 1024 x 1024 points by `price`, which gets the state in which both stages are at the root, and
/// the ids of `inner` and `out`.
pub(crate) fn priced<R>(pipeline: &Pipeline, price: impl FnOnce(&mut Pricer<'_>, State, [FuncId; 2]) -> R) -> R {
    let params = IdVec::new();
    let images = pipeline.images.ids().map(|_| Region::of_extents([SIZE, SIZE])).collect();
    let known = Known { params: &params, images: &images };
    let dag = Dag::new(pipeline, &known, &|_| Spans::new(), false);
    let id = |name: &str| {
        pipeline.funcs.ids().find(|id| pipeline.funcs[*id].name == name).unwrap_or_else(|| panic!("{name}"))
    };
    let [inner, out] = ["inner", "out"].map(id);
    let region = Spans::from_slice(&[(0, SIZE - 1), (0, SIZE - 1)]);
    let roots = of_roots(&dag, &[(out, region)]);
    let choice = |id: FuncId| {
        let shape = Shape::first(&dag, (id, 0), &roots[&id], &TARGET);
        let is_inline = id != inner && id != out;
        Rc::new(Choice { place: if is_inline { Place::Inline } else { Place::Root }, shapes: vec![shape] })
    };
    let state = State { choices: pipeline.funcs.ids().map(choice).collect() };
    let machine = Machine::typical(&TARGET);
    let mut pricer = Pricer::new(&dag, &machine, 1, &roots);
    price(&mut pricer, state, [inner, out])
}

/// The state in which `inner` is computed inside of so many loops of `out`, all that it has there written out or not.
pub(crate) fn inside(
    state: &State,
    [inner, out]: [FuncId; 2],
    depth: usize,
    columns: i64,
    is_written_out: bool,
) -> State {
    let mut next = state.clone();
    let host = next.choice_mut(out);
    host.shapes[0].tile[0] = columns;
    let member = next.choice_mut(inner);
    member.place = Place::At { host: (out, 0), depth, slides: false };
    if is_written_out {
        member.shapes[0].regs[0] = (columns + 2 + LANES - 1) / LANES;
    }
    next
}

#[test]
fn slow_code_is_that_of_all_in_its_loop() {
    let heavy = pipeline(|input, x, y| (0..6).fold(input[(x, y)].expr(), |value, _| exp(value)));
    priced(&heavy, |pricer, first, [inner, out]| {
        let innermost = pricer.dag.funcs[out].stages[0].vars.len() + 1;
        let state = inside(&first, [inner, out], innermost, LANES, true);
        let elsewhere = inside(&first, [inner, out], 1, LANES, true);
        let cycles =
            |pricer: &mut Pricer<'_>| [&state, &elsewhere].map(|state| pricer.root_cost(state, (out, 0)).cycles);
        let before = cycles(pricer);
        pricer.note_slow(&first, &state, vec![(out, 0)]);
        let after = cycles(pricer);
        // A wait for what was just stored is as long in slow code.
        let waits = (SIZE * SIZE / LANES) as f64 * FORWARDING_STALL;
        assert!(after[0] - waits > 2.5 * (before[0] - waits), "{before:?} {after:?}");
        assert_eq!(after[1], before[1]);
    });
}

#[test]
fn registers_hold_no_vectors_that_are_read_at_other_places() {
    let of = |at: [i32; 2]| {
        let (x, y) = vars!(x, y);
        let input = ImageParam::new("input", F32, 2);
        let (mut inner, mut out) = (Func::new("inner"), Func::new("out"));
        inner[(x, y)] = input[(x, y)] * 3.0f32;
        out[(x, y)] = inner[(x + at[0], y)] + inner[(x + at[1], y)];
        Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"))
    };
    let cycles = |at: [i32; 2]| {
        priced(&of(at), |pricer, first, funcs| {
            let innermost = pricer.dag.funcs[funcs[1]].stages[0].vars.len() + 1;
            pricer.root_cost(&inside(&first, funcs, innermost, LANES, true), (funcs[1], 0)).cycles
        })
    };
    let waits = (SIZE * SIZE / LANES) as f64 * FORWARDING_STALL;
    assert!(cycles([0, 1]) > cycles([0, LANES as i32]) + waits);
}

#[test]
fn limits_of_floats_are_dearer_where_both_may_be_nan() {
    let cycles = |limit: &dyn Fn(Expr, Expr) -> Expr| {
        let of = pipeline(|input, x, y| {
            (0..12).fold(input[(x, y)].expr(), |value, _| limit(value, input[(x, y)].expr()) * 2.0f32)
        });
        priced(&of, |pricer, state, funcs| pricer.root_cost(&state, (funcs[0], 0)).cycles)
    };
    let free = cycles(&|a, b| max(a, b));
    let known = cycles(&|a, b| max(a, max(b, 0.5f32)));
    assert!(free > 1.5 * known, "{free} {known}");
}

#[test]
fn clamps_that_no_loop_is_cut_for_are_gathers() {
    let plain = pipeline(|input, x, y| input[(x, y)].expr());
    let clamped = pipeline(|input, x, y| boundary::repeat_edge(input)[(x, y)].expr());
    let price = |pipeline: &Pipeline, is_written_out: bool| {
        priced(pipeline, |pricer, first, funcs| {
            let state = inside(&first, funcs, 1, 4 * LANES, is_written_out);
            pricer.root_cost(&state, (funcs[1], 0)).cycles
        })
    };
    let of = |is_written_out| price(&clamped, is_written_out) / price(&plain, is_written_out);
    assert!(of(true) > 1.5, "{}", of(true));
    assert!(of(false) < 1.2, "{}", of(false));
}
