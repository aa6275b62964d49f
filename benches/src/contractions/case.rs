//! The algorithm, the inputs and the output of a contraction.

use super::block;
use halide::prelude::*;
use halide_apps::input::{Input, White};
use serde_json::{Value, json};

/// Channels that lie behind each other in memory.
const BLOCK: i64 = 16;

/// A contraction of one shape.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Its shape.
    pub shape: Shape,
}

/// The extents of a contraction.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A product of matrices of f32.
    Product {
        /// The columns of the result, which lie behind each other.
        columns: i64,
        /// Its rows.
        rows: i64,
        /// The length of its sums.
        sums: i64,
    },
    /// A product of rows of u8 by columns of i8.
    Bytes {
        /// The columns of the result, which lie behind each other.
        columns: i64,
        /// Its rows.
        rows: i64,
        /// The length of its sums.
        sums: i64,
    },
    /// A convolution of images of f32 whose channels are in blocks of 16.
    Layer {
        /// The channels that come in.
        from: i64,
        /// The channels that go out.
        to: i64,
        /// The width and height of the input without borders.
        size: i64,
        /// The width and height of the filter.
        taps: i64,
        /// The distance between filtered pixels.
        stride: i64,
        /// The number of images.
        images: i64,
    },
    /// A block of a transformer.
    Block {
        /// The number of tokens.
        tokens: i64,
        /// The channels of a token.
        channels: i64,
    },
}

impl Case {
    /// The algorithm.
    ///
    /// # Errors
    /// None for these shapes.
    pub fn pipeline(&self) -> Result<Pipeline, AlgorithmErrors> {
        match self.shape {
            Shape::Product { .. } => product(),
            Shape::Bytes { sums, .. } => bytes(sums),
            Shape::Layer { taps, stride, .. } => layer(taps, stride),
            Shape::Block { tokens, channels } => block::pipeline(tokens, channels),
        }
    }
    /// The inputs.
    pub fn inputs(&self) -> Vec<Input> {
        let floats = |name, extents: &[i64]| Input::pixels(name, F32, extents, White::At(1));
        match self.shape {
            Shape::Product { columns, rows, sums } => vec![floats("a", &[sums, rows]), floats("b", &[columns, sums])],
            Shape::Bytes { columns, rows, sums } => vec![
                Input::pixels("a", U8, &[sums, rows], White::At(255)),
                Input::pixels("b", I8, &[columns, sums], White::At(127)),
            ],
            Shape::Layer { from, to, size, taps, images, .. } => {
                let padded = size + taps - 1;
                vec![
                    floats("input", &[BLOCK, padded, padded, from / BLOCK, images]),
                    floats("filter", &[BLOCK, BLOCK, taps, taps, from / BLOCK, to / BLOCK]),
                ]
            }
            Shape::Block { tokens, channels } => block::inputs(tokens, channels),
        }
    }
    /// Random numbers for the inputs, by their names.
    ///
    /// # Errors
    /// Too large a case.
    pub fn data(&self) -> Result<Vec<(String, AnyBuffer)>, Error> {
        let of = |input: &Input| {
            let numbers = match self.shape {
                Shape::Block { .. } => around_zero(input, block::largest(input))?.into_any(),
                _ => input.random(1)?,
            };
            Ok((input.name.clone(), numbers))
        };
        self.inputs().iter().map(of).collect()
    }
    /// The extents of the output.
    pub fn output(&self) -> Vec<i64> {
        match self.shape {
            Shape::Product { columns, rows, .. } | Shape::Bytes { columns, rows, .. } => vec![columns, rows],
            Shape::Layer { to, size, stride, images, .. } => {
                let size = (size + stride - 1) / stride;
                vec![BLOCK, size, size, to / BLOCK, images]
            }
            Shape::Block { tokens, channels } => vec![channels, tokens],
        }
    }
    /// Its name, kind, extents and operations as JSON.
    pub fn json(&self) -> Value {
        let (kind, sizes) = match self.shape {
            Shape::Product { columns, rows, sums } => ("gemm", json!({ "m": columns, "n": rows, "k": sums })),
            Shape::Bytes { columns, rows, sums } => ("int8", json!({ "m": columns, "n": rows, "k": sums })),
            Shape::Layer { from, to, size, taps, stride, images } => {
                let sizes =
                    json!({ "from": from, "to": to, "size": size, "taps": taps, "stride": stride, "images": images });
                ("layer", sizes)
            }
            Shape::Block { tokens, channels } => ("block", json!({ "tokens": tokens, "channels": channels })),
        };
        json!({ "name": self.name, "kind": kind, "sizes": sizes, "operations": self.operations() })
    }
    /// The number of multiplications and additions.
    pub fn operations(&self) -> i64 {
        let each = match self.shape {
            Shape::Product { sums, .. } | Shape::Bytes { sums, .. } => sums,
            Shape::Layer { from, taps, .. } => from * taps * taps,
            Shape::Block { tokens, channels } => return block::operations(tokens, channels),
        };
        2 * each * self.output().iter().product::<i64>()
    }
}

/// Random numbers for an input of f32, from `-largest` to `largest`.
pub(super) fn around_zero(input: &Input, largest: f32) -> Result<Buffer<f32>, Error> {
    let (numbers, extents): (Buffer<f32>, Vec<i64>) =
        (input.random(1)?.try_into()?, input.region.iter().map(|(_, extent)| *extent).collect());
    let value = |at: &[i32]| (2.0 * numbers.get(at).unwrap_or(0.0) - 1.0) * largest;
    Ok(Buffer::from_fn(&Region::of_extents(extents), value)?)
}

/// Row y of `a` by column x of `b`.
fn product() -> Result<Pipeline, AlgorithmErrors> {
    let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
    let ((x, y), k, mut c) = (vars!(x, y), RDom::named("k", [(0.expr(), a.width())]), Func::new("c"));
    c[(x, y)] += a[(k.x, y)] * b[(x, k.x)];
    Pipeline::new([&c])
}

/// Row y of `a` by column x of `b`, of bytes.
fn bytes(sums: i64) -> Result<Pipeline, AlgorithmErrors> {
    let (a, b) = (ImageParam::new("a", U8, 2), ImageParam::new("b", I8, 2));
    // Four at a time without a rest: the instruction has no part of it.
    let ((x, y), k, mut c) = (vars!(x, y), RDom::named("k", [(0, sums)]), Func::new("c"));
    c[(x, y)] += cast::<i32>(a[(k.x, y)]) * cast::<i32>(b[(x, k.x)]);
    Pipeline::new([&c])
}

/// A convolution. The dimensions of `input` are channel of a block, x, y, block and image; those of `filter` output
/// channel, input channel, x, y, and the blocks of both.
fn layer(taps: i64, stride: i64) -> Result<Pipeline, AlgorithmErrors> {
    let (c, x, y, b, n) = vars!(c, x, y, b, n);
    let (input, filter) = (ImageParam::new("input", F32, 5), ImageParam::new("filter", F32, 6));
    let blocks = input.dim(3).extent();
    let taps = taps as i32;
    let r =
        RDom::named("r", [(0.expr(), 16.expr()), (0.expr(), taps.expr()), (0.expr(), taps.expr()), (0.expr(), blocks)]);
    let stride = stride as i32;
    let (mut conv, mut out) = (Func::new("conv"), Func::new("out"));
    conv[(c, x, y, b, n)] +=
        filter[(c, r.x, r.y, r.z, r.w, b)] * input[(r.x, x * stride + r.y, y * stride + r.z, r.w, n)];
    // What is read once is computed in its tiles, so that no sum is stored before it is whole.
    out[(c, x, y, b, n)] = conv[(c, x, y, b, n)];
    Pipeline::new([&out])
}
