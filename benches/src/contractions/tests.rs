//! Nets compute what their definitions in plain loops of f64 do.

use super::gru::STEPS;
use super::{Case, Gru, Shape};
use crate::at_root;
use halide::prelude::*;
use halide_skips::{Need, skip};

/// The numbers of an input.
struct Numbers(Buffer<f32>);

impl Numbers {
    fn at(&self, at: &[usize]) -> f64 {
        let at: Vec<i32> = at.iter().map(|n| *n as i32).collect();
        f64::from(self.0.get(&at[..]).unwrap())
    }
}

/// The channel with a number, in blocks of 16.
fn blocked(n: usize) -> [usize; 2] {
    [n % 16, n / 16]
}

fn difference(found: impl IntoIterator<Item = f32>, wanted: &[f64]) -> f64 {
    let apart = found.into_iter().zip(wanted).map(|(a, b)| (f64::from(a) - b).abs());
    apart.fold(0.0, |most, one| if one > most || one.is_nan() { one } else { most })
}

#[test]
fn gated_recurrent_units_are_as_defined() {
    let layer = Gru { hidden: 32, batch: 3 };
    let data = layer.data().unwrap();
    let [x, input_weights, weights, input_bias, bias] = [0, 1, 2, 3, 4].map(|n| Numbers(data[n].1.clone()));
    let mut h = vec![vec![0f64; 32]; 3];
    for t in 0..STEPS as usize {
        for (b, h) in h.iter_mut().enumerate() {
            let sum = |gate: usize, j: usize, of_input: bool| {
                let [c, o] = blocked(gate * 32 + j);
                let (matrix, bias) = if of_input { (&input_weights, &input_bias) } else { (&weights, &bias) };
                let channel = |k: usize| if of_input { x.at(&[k % 16, k / 16, b, t]) } else { h[k] };
                bias.at(&[c, o]) + (0..32).map(|k| matrix.at(&[c, k % 16, k / 16, o]) * channel(k)).sum::<f64>()
            };
            let open = |x: f64| 1.0 / (1.0 + (-x).exp());
            let next = |j: usize| {
                let [reset, update] = [0, 1].map(|gate| open(sum(gate, j, true) + sum(gate, j, false)));
                let new = (sum(2, j, true) + reset * sum(2, j, false)).tanh();
                (1.0 - update) * new + update * h[j]
            };
            *h = (0..32).map(next).collect();
        }
    }
    for threads in [1, 2] {
        let made = match layer.program(&Target { threads, ..Target::host() }) {
            Ok(made) => made,
            Err(error) if error.to_string().contains("its code has no `v") => {
                return skip(Need::Cpu("fma"), "gated recurrent units");
            }
            Err(error) => panic!("{error}"),
        };
        let compiled = made.program.compile(&Target::host()).unwrap();
        let call = data.iter().fold(compiled.inputs(), |call, (name, numbers)| call.image_named(name, numbers));
        let found: Buffer<f32> = call.threads(2).run().unwrap().state("h").unwrap();
        let apart = difference(found.to_vec(), &h.concat());
        assert!(apart < 1e-5, "{apart} on {threads} threads");
    }
}

/// The channels of a token by a matrix of weights, and a bias.
fn linear(of: &[Vec<f64>], matrix: &Numbers, bias: &Numbers, count: usize) -> Vec<Vec<f64>> {
    let sum = |row: &Vec<f64>, j: usize| {
        bias.at(&[j]) + row.iter().enumerate().map(|(k, v)| v * matrix.at(&[j, k])).sum::<f64>()
    };
    of.iter().map(|row| (0..count).map(|j| sum(row, j)).collect()).collect()
}

/// Two rows of tokens added, and brought to mean 0 and variance 1.
fn normal(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let of = |(a, b): (&Vec<f64>, &Vec<f64>)| {
        let added: Vec<f64> = a.iter().zip(b).map(|(a, b)| a + b).collect();
        let mean = added.iter().sum::<f64>() / added.len() as f64;
        let variance = added.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / added.len() as f64;
        added.iter().map(|v| (v - mean) / (variance + 1e-5).sqrt()).collect()
    };
    a.iter().zip(b).map(of).collect()
}

#[test]
fn blocks_of_a_transformer_are_as_defined() {
    let (tokens, channels) = (11, 128);
    let case = Case { name: "block".into(), shape: Shape::Block { tokens, channels } };
    let (tokens, channels) = (tokens as usize, channels as usize);
    let data = case.data().unwrap();
    let numbers = |name: &str| {
        let (_, numbers) = data.iter().find(|(own, _)| own == name).unwrap();
        Numbers(numbers.clone().try_into().unwrap())
    };
    let layer = |name: &str, of: &[Vec<f64>], count: usize| {
        linear(of, &numbers(&format!("{name}_weights")), &numbers(&format!("{name}_bias")), count)
    };
    let input = numbers("input");
    let input: Vec<Vec<f64>> = (0..tokens).map(|t| (0..channels).map(|c| input.at(&[c, t])).collect()).collect();
    let [query, key, value] = ["query", "key", "value"].map(|name| layer(name, &input, channels));
    let mixed = |t: usize, c: usize| {
        let head = c / 64 * 64..(c / 64 + 1) * 64;
        let score = |s: usize| head.clone().map(|c| query[t][c] * key[s][c]).sum::<f64>() / 8.0;
        let weights: Vec<f64> = (0..tokens).map(|s| score(s).exp()).collect();
        weights.iter().zip(&value).map(|(w, v)| w * v[c]).sum::<f64>() / weights.iter().sum::<f64>()
    };
    let mixed: Vec<Vec<f64>> = (0..tokens).map(|t| (0..channels).map(|c| mixed(t, c)).collect()).collect();
    let first = normal(&input, &layer("merge", &mixed, channels));
    let mut between = layer("widen", &first, 4 * channels);
    between.iter_mut().flatten().for_each(|v| *v = v.max(0.0));
    let wanted = normal(&first, &layer("narrow", &between, channels)).concat();

    let (pipeline, target) = (case.pipeline().unwrap(), Target::host());
    let sizes = Estimates::new().output("out", case.output());
    let sizes = case.inputs().iter().fold(sizes, |sizes, input| {
        sizes.input(&input.name, input.region.iter().map(|(_, extent)| *extent).collect::<Vec<_>>())
    });
    let mut schedules = vec![at_root::schedule(&pipeline, &target)];
    schedules.extend(pipeline.auto_isa(&target, &sizes).ok().map(|mapped| mapped.schedule));
    for schedule in schedules {
        let compiled = pipeline.compile(&schedule, &target).unwrap();
        let call = data.iter().fold(compiled.inputs(), |call, (name, numbers)| call.image_named(name, numbers));
        let found: Buffer<f32> = call.realize(case.output()).unwrap();
        let apart = difference(found.to_vec(), &wanted);
        assert!(apart < 1e-4, "{apart}\n{schedule}");
    }
}
