//! Gradients: a denoiser of three convolutions learns from one noisy picture and the clean one.

use halide::prelude::*;

/// The channels before, between and behind the layers.
const CHANNELS: [i32; 4] = [1, 6, 6, 1];
/// The width and the height of the picture.
const SIZE: [i32; 2] = [48, 40];

/// The picture without its noise, as the net finds it, and the mean square of what is left.
fn pipelines() -> Result<(Pipeline, Pipeline), Error> {
    let (noisy, clean) = (ImageParam::new("noisy", F32, 2), ImageParam::new("clean", F32, 2));
    let (x, y, c) = vars!(x, y, c);
    let (inside, mut below) = (repeat_edge(&noisy), Func::new("layer0"));
    below[(x, y, c)] = inside[(x, y)].expr();
    for (n, &channels) in CHANNELS[..3].iter().enumerate() {
        let w = ImageParam::new(&format!("w{n}"), F32, 4);
        let k = RDom::named("k", [(0, 3), (0, 3), (0, channels)]);
        let (mut sums, mut layer) = (Func::new(format!("sums{n}")), Func::new(format!("layer{}", n + 1)));
        sums[(x, y, c)] += w[(k.x, k.y, k.z, c)] * below[(x + k.x - 1, y + k.y - 1, k.z)];
        layer[(x, y, c)] = if n == 2 { sums[(x, y, c)].expr() } else { max(sums[(x, y, c)], 0.0) };
        below = layer;
    }
    // The net finds the noise, which is taken away.
    let (mut output, mut loss, r) = (Func::new("output"), Func::new("loss"), RDom::over(&clean));
    output[(x, y)] = inside[(x, y)] - below[(x, y, 0)];
    let error = output[(r.x, r.y)] - clean[(r.x, r.y)];
    loss[()] += error * error / cast::<f32>(clean.width() * clean.height());
    Ok((Pipeline::new([&output])?, Pipeline::new([&loss])?))
}

/// A schedule that computes every Func at the root in lanes along rows: for sums, whole rows for each tap of a filter,
/// and lanes of a reduction where one number is summed up of a whole picture.
fn schedule(pipeline: &Pipeline) -> Result<Schedule, Error> {
    let mut text = String::new();
    for (func, def) in pipeline.order.iter().map(|&func| (func, &pipeline.funcs[func])) {
        let is_output = pipeline.outputs.contains(&func);
        if !is_output {
            text += &format!("{}: compute_root() vectorize(x, natural)\n", def.name);
        }
        let Some(rdom) = def.stages.get(1).and_then(|update| update.rdom) else { continue };
        let taps: Vec<&str> = pipeline.rdoms[rdom].dims.iter().map(|dim| dim.said.as_str()).collect();
        text += &match is_output {
            true => format!("{}.update(0): float(relaxed) atomic() vectorize({}, natural)\n", def.name, taps[0]),
            false => {
                format!("{}.update(0): reorder(x, {}, y, c) vectorize(x, natural)\n", def.name, taps.join(", "))
            }
        };
    }
    Ok(text.parse()?)
}

/// The weights of one layer, and the running averages of their slopes.
struct Layer {
    name: String,
    region: Region,
    weights: Vec<f32>,
    mean: Vec<f32>,
    square: Vec<f32>,
}

impl Layer {
    fn new(n: usize) -> Layer {
        let extents = [3, 3, CHANNELS[n], CHANNELS[n + 1]];
        let size: usize = extents.iter().map(|&e| e as usize).product();
        let scale = 1.0 / (9.0 * CHANNELS[n] as f32).sqrt();
        let weights: Vec<f32> = (0..size).map(|i| scale * noise(i as u32 + 7919 * n as u32)).collect();
        let zeros = vec![0.0; size];
        let region = Region::of_extents(extents);
        Layer { name: format!("w{n}"), region, weights, mean: zeros.clone(), square: zeros }
    }

    /// One step of Adam against the slopes.
    fn step(&mut self, slopes: &[f32], number: i32) {
        let corrections = (1.0 - 0.9f32.powi(number), 1.0 - 0.99f32.powi(number));
        for (i, slope) in slopes.iter().enumerate() {
            self.mean[i] += 0.1 * (slope - self.mean[i]);
            self.square[i] += 0.01 * (slope * slope - self.square[i]);
            self.weights[i] -= 0.01 * self.mean[i] / corrections.0 / ((self.square[i] / corrections.1).sqrt() + 1e-8);
        }
    }
}

/// Numbers between -1 and 1 without a pattern.
fn noise(seed: u32) -> f32 {
    let mut bits = seed.wrapping_mul(0x9E37_79B9) ^ 0x85EB_CA6B;
    bits = (bits ^ (bits >> 15)).wrapping_mul(0x2C1B_3C6D);
    bits = (bits ^ (bits >> 12)).wrapping_mul(0x297A_2D39);
    (bits >> 8) as f32 / (1 << 23) as f32 - 1.0
}

/// A call with the weights of all layers.
fn with<'c>(call: Call<'c>, layers: &[Layer]) -> Result<Call<'c>, Error> {
    let extents = |layer: &Layer| layer.region.spans().iter().map(|s| s.extent).collect::<Vec<_>>();
    layers.iter().try_fold(call, |call, l| Ok(call.image_named(&l.name, Buffer::from_slice(extents(l), &l.weights)?)))
}

fn main() -> Result<(), Error> {
    let (output, loss) = pipelines()?;
    let gradients = loss.adjoints("loss", &["w0", "w1", "w2"])?;
    let [output, loss, gradients] = [&output, &loss, &gradients]
        .map(|pipeline| schedule(pipeline).and_then(|schedule| pipeline.compile(&schedule, &Target::host())));
    let (output, loss, gradients) = (output?, loss?, gradients?);

    let blocks = |at: &[i32]| ((at[0] / 9 + at[1] / 7) % 3) as f32 / 2.0;
    let clean = Buffer::from_fn(&Region::of_extents(SIZE), |at| blocks(at))?;
    let noisy =
        Buffer::from_fn(&Region::of_extents(SIZE), |at| blocks(at) + 0.3 * noise((at[0] * 977 + at[1]) as u32))?;
    let mut layers: Vec<Layer> = (0..3).map(Layer::new).collect();
    let regions: Vec<Region> = layers.iter().map(|l| l.region.clone()).collect();
    let mut losses = Vec::new();
    for number in 1..=300 {
        let call = gradients.inputs().image_named("noisy", &noisy).image_named("clean", &clean);
        let slopes = with(call, &layers)?.realize_all(&regions)?;
        for (layer, slopes) in layers.iter_mut().zip(&slopes) {
            layer.step(&slopes.typed::<f32>()?.to_vec(), number);
        }
        if number % 100 == 0 || number == 1 {
            let call = loss.inputs().image_named("noisy", &noisy).image_named("clean", &clean);
            losses.push(with(call, &layers)?.realize::<f32>([0i32; 0])?.to_vec()[0]);
            println!("step {number}: mean square of errors {:.5}", losses[losses.len() - 1]);
        }
    }
    let found: Buffer<f32> = with(output.inputs().image_named("noisy", &noisy), &layers)?.realize(SIZE)?;
    let mean = |picture: &Buffer<f32>| {
        let errors = picture.to_vec().into_iter().zip(clean.to_vec()).map(|(p, c)| (p - c) * (p - c));
        errors.sum::<f32>() / clean.to_vec().len() as f32
    };
    println!("noise {:.5}, left {:.5}", mean(&noisy), mean(&found));
    assert!(mean(&found) < mean(&noisy) / 3.0);
    Ok(())
}
