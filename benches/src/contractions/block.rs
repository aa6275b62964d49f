//! A block of a transformer: attention of several heads and two layers behind it, each added to what it reads and
//! brought to mean 0 and variance 1, as *Attention Is All You Need* (Vaswani et al.) has it.

use halide::prelude::*;
use halide_apps::input::{Input, White};

/// The channels of a head.
const HEAD: i64 = 64;
/// The numbers for each channel in the layer between, over those of the block.
const WIDER: i64 = 4;
/// Added to a variance before its root divides.
const EPSILON: f32 = 1e-5;

/// The inputs of a block of some channels for a number of tokens.
pub(super) fn inputs(tokens: i64, channels: i64) -> Vec<Input> {
    let weights = |name: &str, extents: &[i64]| Input::pixels(name, F32, extents, White::At(1));
    let between = WIDER * channels;
    let mut all = vec![weights("input", &[channels, tokens])];
    for name in ["query", "key", "value", "merge"] {
        all.push(weights(&format!("{name}_weights"), &[channels, channels]));
        all.push(weights(&format!("{name}_bias"), &[channels]));
    }
    all.push(weights("widen_weights", &[between, channels]));
    all.push(weights("widen_bias", &[between]));
    all.push(weights("narrow_weights", &[channels, between]));
    all.push(weights("narrow_bias", &[channels]));
    all
}

/// The largest number of an input: those of weights are as a net has them before it is trained.
pub(super) fn largest(input: &Input) -> f32 {
    match input.region.get(1) {
        Some((_, sums)) if input.name.ends_with("weights") => (*sums as f32).sqrt().recip(),
        _ => 1.0,
    }
}

/// The multiplications and additions of its products.
pub(super) fn operations(tokens: i64, channels: i64) -> i64 {
    2 * tokens * channels * (4 * channels + 2 * tokens + 2 * WIDER * channels)
}

/// A matrix of weights, and what is added to its products.
struct Weights {
    matrix: ImageParam,
    bias: ImageParam,
}

impl Weights {
    fn new(name: &str) -> Weights {
        let named = |what: &str, dims| ImageParam::new(&format!("{name}_{what}"), F32, dims);
        Weights { matrix: named("weights", 2), bias: named("bias", 1) }
    }
}

/// Sums over the channels `k` of a token: `of(k, t)` times the weights, and the bias.
fn linear(name: &str, k: &RDom, of: impl Fn(Expr, Expr) -> Expr) -> Func {
    let weights = Weights::new(name);
    let ((j, t), mut out) = (vars!(j, t), Func::new(name));
    out[(j, t)] = weights.bias[j].expr();
    out[(j, t)] += weights.matrix[(j, k.x)] * of(k.x.expr(), t.expr());
    out
}

/// Each token's numbers with mean 0 and variance 1.
fn normal(name: &str, of: &Func, channels: i64) -> Func {
    let (j, t) = vars!(j, t);
    let k = RDom::new([(0, channels as i32)]);
    let named = |what: &str| Func::new(format!("{name}_{what}"));
    let (mut sum, mut square, mut out) = (named("sum"), named("square"), Func::new(name));
    sum[t] += of[(k.x, t)].expr();
    let mean = |t: Expr| sum[t] / channels as f32;
    let from_mean = |j: Expr, t: Expr| of[(j, t)] - mean(t);
    let apart = from_mean(k.x.expr(), t.expr());
    square[t] += apart * apart;
    out[(j, t)] = from_mean(j.expr(), t.expr()) / sqrt(square[t] / channels as f32 + EPSILON);
    out
}

/// The algorithm.
pub(super) fn pipeline(tokens: i64, channels: i64) -> Result<Pipeline, AlgorithmErrors> {
    let (d, s, t, h) = vars!(d, s, t, h);
    let input = ImageParam::new("input", F32, 2);
    let all = RDom::named("k", [(0, channels as i32)]);
    let of_input = |name: &str| linear(name, &all, |k, t| input[(k, t)].expr());
    let (query, key, value) = (of_input("query"), of_input("key"), of_input("value"));

    let (heads, head) = (channels / HEAD, HEAD as i32);
    let within = RDom::named("c", [(0, head)]);
    let (mut score, mut most) = (Func::new("score"), Func::new("most"));
    // Tokens come first: what is summed over all others, is so for many tokens at once.
    score[(t, s, h)] += query[(h * head + within.x, t)] * key[(h * head + within.x, s)];
    let others = RDom::named("o", [(0, tokens as i32)]);
    most[(t, h)] = f32::MIN.expr();
    most[(t, h)] = max(most[(t, h)], score[(t, others.x, h)]);
    let (mut weight, mut total, mut mixed) = (Func::new("weight"), Func::new("total"), Func::new("mixed"));
    weight[(t, s, h)] = exp((score[(t, s, h)] - most[(t, h)]) / (HEAD as f32).sqrt());
    total[(t, h)] += weight[(t, others.x, h)].expr();
    mixed[(d, t, h)] += weight[(t, others.x, h)] * value[(h * head + d, others.x)];
    let mut attended = Func::new("attended");
    attended[(d, t, h)] = mixed[(d, t, h)] / total[(t, h)];

    let merge = Weights::new("merge");
    let joined = RDom::named("m", [(0, head), (0, heads as i32)]);
    let (j, mut merged) = (Var::new("j"), Func::new("merged"));
    merged[(j, t)] = input[(j, t)] + merge.bias[j];
    merged[(j, t)] += merge.matrix[(j, joined.x + joined.y * head)] * attended[(joined.x, t, joined.y)];
    let first = normal("first", &merged, channels);

    let wide = linear("widen", &all, |k, t| first[(k, t)].expr());
    let mut cut = Func::new("cut");
    cut[(j, t)] = max(wide[(j, t)], 0.0);
    let between = RDom::named("b", [(0, (WIDER * channels) as i32)]);
    let narrow = linear("narrow", &between, |k, t| cut[(k, t)].expr());
    let mut added = Func::new("added");
    added[(j, t)] = narrow[(j, t)] + first[(j, t)];
    let out = normal("out", &added, channels);
    Pipeline::new([&out])
}
