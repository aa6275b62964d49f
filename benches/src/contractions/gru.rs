//! A layer of gated recurrent units as a program: *Learning Phrase Representations using RNN Encoder-Decoder for
//! Statistical Machine Translation* (Cho et al.), with the reset gate behind the product as frameworks have it.
//!
//! Channels are in blocks of 16 that lie behind each other, and three gates behind each other along blocks: reset,
//! update, new. The products of all inputs are one contraction before the loop.

use super::case::around_zero;
use halide::prelude::*;
use halide_apps::input::{Input, White};
use serde_json::{Value, json};
use std::array;

/// Channels that lie behind each other in memory.
const BLOCK: i64 = 16;
/// The steps of a sequence.
pub(super) const STEPS: i64 = 128;

/// A layer with as many channels in as out.
#[derive(Clone, Copy, Debug)]
pub struct Gru {
    /// The channels.
    pub hidden: i64,
    /// The number of sequences at once.
    pub batch: i64,
}

/// The program of a layer with the schedules of its steps.
pub struct GruProgram {
    /// The program.
    pub program: Program,
    /// The stages that instructions compute, and the schedules of the steps, as text.
    pub told: String,
}

impl Gru {
    /// The sizes that are measured.
    pub fn all() -> Vec<Gru> {
        let of = |hidden| [1, 2, 4, 32].map(|batch| Gru { hidden, batch });
        [512, 1024, 1536, 2048, 2560, 2816].into_iter().flat_map(of).collect()
    }

    /// Its name.
    pub fn name(&self) -> String {
        format!("gru_{}_{}", self.hidden, self.batch)
    }

    /// The multiplications and additions of its products.
    pub fn operations(&self) -> i64 {
        2 * 2 * 3 * self.hidden * self.hidden * self.batch * STEPS
    }

    /// The number of blocks of channels.
    fn blocks(&self) -> i64 {
        self.hidden / BLOCK
    }

    /// The names and extents of the inputs.
    fn inputs(&self) -> [(&'static str, Vec<i64>); 5] {
        let blocks = self.blocks();
        let matrix = vec![BLOCK, BLOCK, blocks, 3 * blocks];
        [
            ("x", vec![BLOCK, blocks, self.batch, STEPS]),
            ("input_weights", matrix.clone()),
            ("weights", matrix),
            ("input_bias", vec![BLOCK, 3 * blocks]),
            ("bias", vec![BLOCK, 3 * blocks]),
        ]
    }

    /// Random numbers for the inputs, by their names: weights are as a net has them before it is trained.
    ///
    /// # Errors
    /// Too large a layer.
    pub fn data(&self) -> Result<Vec<(String, Buffer<f32>)>, Error> {
        let of = |(name, extents): (&str, Vec<i64>)| {
            let largest = if name == "x" { 1.0 } else { (self.hidden as f32).sqrt().recip() };
            Ok((name.to_string(), around_zero(&Input::pixels(name, F32, &extents, White::At(1)), largest)?))
        };
        self.inputs().into_iter().map(of).collect()
    }

    /// Its name, kind, sizes and operations as JSON.
    pub fn json(&self) -> Value {
        let sizes = json!({ "hidden": self.hidden, "batch": self.batch });
        json!({ "name": self.name(), "kind": "gru", "sizes": sizes, "operations": self.operations() })
    }

    /// The extents of what is left: the channels of each sequence.
    pub fn state(&self) -> Vec<i64> {
        vec![BLOCK, self.blocks(), self.batch]
    }

    /// The products of the inputs of all steps, and their biases.
    fn products(&self) -> Result<Pipeline, AlgorithmErrors> {
        let (c, o, b, t) = vars!(c, o, b, t);
        let [x, weights, bias] = [("x", 4), ("input_weights", 4), ("input_bias", 2)].map(image);
        let r = RDom::named("r", [(0, BLOCK as i32), (0, self.blocks() as i32)]);
        let (mut sums, mut gates) = (Func::new("sums"), Func::new("gates"));
        sums[(c, o, b, t)] += weights[(c, r.x, r.y, o)] * x[(r.x, r.y, b, t)];
        gates[(c, o, b, t)] = sums[(c, o, b, t)] + bias[(c, o)];
        Pipeline::new([&gates])
    }

    /// The state before the first step.
    fn start(&self) -> Result<Pipeline, AlgorithmErrors> {
        let (c, o, b) = vars!(c, o, b);
        let (mut h, mut t) = (Func::new("h"), Func::new("t"));
        h[(c, o, b)] = 0.0f32.expr();
        t[()] = 0.expr();
        Pipeline::new([&h, &t])
    }

    /// The state behind a step, of that before it.
    fn step(&self) -> Result<Pipeline, AlgorithmErrors> {
        let (c, o, b) = vars!(c, o, b);
        let [gates, h, weights, bias] = [("gates", 4), ("h", 3), ("weights", 4), ("bias", 2)].map(image);
        let t = ImageParam::new("t", I32, 0);
        let blocks = self.blocks() as i32;
        let r = RDom::named("r", [(0, BLOCK as i32), (0, blocks)]);
        let [reset, update, new]: [Func; 3] = array::from_fn(|gate| {
            let mut sum = Func::new(["reset", "update", "new"][gate]);
            sum[(c, o, b)] = bias[(c, o + gate as i32 * blocks)].expr();
            sum[(c, o, b)] += weights[(c, r.x, r.y, o + gate as i32 * blocks)] * h[(r.x, r.y, b)];
            sum
        });
        let now = clamp(t[()], 0, STEPS as i32 - 1);
        let of_input = |gate: i32| gates[(c, o + gate * blocks, b, now)].expr();
        let open = |sum: Expr| 1.0f32 / (1.0f32 + exp(-sum));
        let kept = open(of_input(1) + update[(c, o, b)]);
        let turned = tanh(of_input(2) + open(of_input(0) + reset[(c, o, b)]) * new[(c, o, b)]);
        let (mut next, mut after) = (Func::new("h"), Func::new("t"));
        next[(c, o, b)] = turned + kept * (h[(c, o, b)] - turned);
        after[()] = t[()] + 1;
        Pipeline::new([&next, &after])
    }

    /// The pipelines of the steps: the products of all inputs, the state before the first step, and that behind one.
    ///
    /// # Errors
    /// None for these sizes.
    pub fn steps(&self) -> Result<[Pipeline; 3], AlgorithmErrors> {
        Ok([self.products()?, self.start()?, self.step()?])
    }

    /// The program, with schedules of instructions for a target.
    ///
    /// # Errors
    /// What nothing maps to, or is refused.
    pub fn program(&self, target: &Target) -> Result<GruProgram, Error> {
        let [products, start, step] = self.steps()?;
        let gates = vec![BLOCK, 3 * self.blocks(), self.batch, STEPS];
        let inputs = self.inputs();
        let known = || inputs.iter().map(|(name, extents)| (*name, extents.clone()));
        let slots: Vec<_> = known().chain([("gates", gates.clone()), ("h", self.state())]).collect();
        let sizes = |pipeline: &Pipeline, output: &str, extents: Vec<i64>| {
            let reads = |name: &str| pipeline.images.iter().any(|image| image.name == name);
            let read = slots.iter().filter(|(name, _)| reads(name));
            read.fold(Estimates::new().output(output, extents), |all, (name, extents)| all.input(name, extents))
        };
        let of_inputs = products.auto_isa(target, &sizes(&products, "gates", gates.clone()))?;
        let of_state = step.auto_isa(target, &sizes(&step, "h", self.state()))?;
        let mut program = Program::new(self.name());
        for (name, extents) in self.inputs() {
            program.input(name, F32, extents.len());
        }
        program.state("gates", F32, Region::of_extents(gates)).state("h", F32, Region::of_extents(self.state()));
        program.scalar("t", I32);
        program.run(&products, &of_inputs.schedule).run(&start, &Schedule::new());
        program.repeat(STEPS as u64, |it| it.run(&step, &of_state.schedule));
        let stages = of_inputs.stages.iter().chain(&of_state.stages).map(|stage| format!("{stage}\n"));
        let told = stages.collect::<String>() + &format!("{}\n{}", of_inputs.schedule, of_state.schedule);
        Ok(GruProgram { program, told })
    }
}

fn image((name, dims): (&str, usize)) -> ImageParam {
    ImageParam::new(name, F32, dims)
}
