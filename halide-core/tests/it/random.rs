//! Random numbers: the same where they should be, different where not, and spread evenly.

use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::interp::{Inputs, run};
use halide_core::types::ScalarType::{self, *};
use halide_core::{Expr, Func, ImageParam, Param, Pipeline, RDom, vars};
use std::collections::BTreeSet;

const SIZE: i64 = 64;

/// The bits of `f` over a square.
fn grid(f: &Func, inputs: &Inputs) -> Vec<u64> {
    let pipeline = Pipeline::new([f]).unwrap_or_else(|e| panic!("{e}"));
    let out = run(&pipeline, inputs, &[Region::of_extents([SIZE, SIZE])]).unwrap().remove(0);
    out.coords().map(|at| out.get(at).unwrap().bits()).collect()
}

fn noise(name: &str, make: impl Fn() -> Expr) -> Func {
    let (x, y) = vars!(x, y);
    let mut f = Func::new(name);
    f[(x, y)] = make();
    f
}

fn bits(name: &str, seed: i32) -> Vec<u64> {
    grid(&noise(name, || random_u32(seed)), &Inputs::new())
}

#[test]
fn the_same_program_finds_the_same_numbers() {
    assert_eq!(bits("f", 1), bits("f", 1));
    let chosen = Param::<i32>::new("seed");
    let with = |seed: i32| grid(&noise("f", || random_u32(chosen)), &Inputs::new().param("seed", seed));
    assert_eq!(with(1), bits("f", 1));
    assert_eq!(with(-5), bits("f", -5));
}

#[test]
fn coordinates_seeds_funcs_and_places_tell_numbers_apart() {
    let (x, y) = vars!(x, y);
    let twice = || {
        let mut f = Func::new("f");
        f[(x, y)] = cast::<u64>(random_u32(1)) * 4_294_967_296u64 + cast::<u64>(random_u32(1));
        grid(&f, &Inputs::new())
    };
    let pairs = twice();
    let mut all: Vec<u64> = pairs.iter().flat_map(|v| [v >> 32, v & 0xffff_ffff]).collect();
    for (name, seed) in [("f", 2), ("f", 3), ("g", 1), ("g", 2)] {
        all.extend(bits(name, seed));
    }
    // Of n numbers below 2^32, n^2 / 2^33 pairs are expected to be equal: here less than one.
    let different: BTreeSet<u64> = all.iter().copied().collect();
    assert!(all.len() - different.len() <= 4, "{} of {}", different.len(), all.len());
    // One handle is one place.
    let mut same = Func::new("f");
    let number = random_u32(1);
    same[(x, y)] = number - number;
    assert!(grid(&same, &Inputs::new()).iter().all(|v| *v == 0));
}

#[test]
fn every_bit_is_as_often_set_as_not_and_neighbours_are_unlike() {
    let values = bits("f", 9);
    let n = values.len() as f64;
    // Five standard deviations of a fair coin.
    let far = 2.5 * n.sqrt();
    for bit in 0..32 {
        let set = values.iter().filter(|v| *v >> bit & 1 == 1).count() as f64;
        assert!((set - n / 2.0).abs() < far, "bit {bit} is set {set} times of {n}");
        let changes = values.windows(2).filter(|w| (w[0] ^ w[1]) >> bit & 1 == 1).count() as f64;
        assert!((changes - n / 2.0).abs() < far, "bit {bit} changes {changes} times of {n}");
    }
}

#[test]
fn floats_are_in_the_unit_interval() {
    let values = grid(&noise("f", || random_f32(3)), &Inputs::new());
    let values: Vec<f64> = values.into_iter().map(|v| f64::from(f32::from_bits(v as u32))).collect();
    assert!(values.iter().all(|v| (0.0..1.0).contains(v)));
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    assert!((mean - 0.5).abs() < 0.02, "{mean}");
    let signed = grid(&noise("f", || random_i32(3)), &Inputs::new());
    assert!(signed.iter().any(|v| (*v as u32 as i32) < 0) && signed.iter().any(|v| (*v as u32 as i32) > 0));
}

#[test]
fn reductions_draw_anew_in_every_step() {
    let (x, y) = vars!(x, y);
    let mut inside = Func::new("inside");
    let r = RDom::named("r", [(0, 200)]);
    inside[(x, y)] = 0.expr();
    let (u, v) = (random_f32(1), random_f32(1));
    let drawn = select((u * u + v * v + 0.0 * cast::<f32>(r.x)).lt(1.0), 1, 0);
    inside[(x, y)] += drawn;
    let hits: u64 = grid(&inside, &Inputs::new()).iter().sum();
    let pi = 4.0 * hits as f64 / (200 * SIZE * SIZE) as f64;
    assert!((pi - std::f64::consts::PI).abs() < 0.01, "{pi}");
    // Also where the domain's predicate is random.
    let mut kept = Func::new("kept");
    let half = RDom::named("half", [(0, 200)]);
    half.where_(random_f32(1).lt(0.5));
    kept[(x, y)] = 0.expr();
    kept[(x, y)] += select(half.x.expr().ge(0), 1, 0);
    let share = grid(&kept, &Inputs::new()).iter().sum::<u64>() as f64 / (200 * SIZE * SIZE) as f64;
    assert!((share - 0.5).abs() < 0.01, "{share}");
}

#[test]
fn seeds_are_integers_and_bounds_are_not_random() {
    let text = |f: &Func| Pipeline::new([f]).unwrap_err().to_string();
    let i = vars!(i);
    let image = |ty: ScalarType| ImageParam::new("a", ty, 1);
    let mut f = Func::new("f");
    f[i] = random_u32(image(F32)[i]);
    assert!(text(&f).contains("`random_u32` takes an integer seed, not f32"), "{}", text(&f));
    let mut g = Func::new("g");
    let r = RDom::named("r", [(0.expr(), random_i32(1))]);
    g[i] = 0.expr();
    g[i] += r.x.expr();
    assert!(text(&g).contains("is random"), "{}", text(&g));
}
