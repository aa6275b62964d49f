//! Gradients: the strength and the width of an unsharp mask are fitted to a picture that somebody sharpened.

use halide::prelude::*;

/// The mask, with its two parameters, and the mean square of its difference to a target.
fn pipelines() -> Result<(Pipeline, Pipeline), Error> {
    let (input, target) = (ImageParam::new("input", F32, 2), ImageParam::new("target", F32, 2));
    let (sigma, amount) = (Param::<f32>::new("sigma"), Param::<f32>::new("amount"));
    let (x, y, i) = vars!(x, y, i);

    let (mut bell, mut weights) = (Func::new("bell"), Func::new("weights"));
    let (all, k) = (RDom::named("all", [(-4, 9)]), RDom::named("k", [(-4, 9)]));
    let distance = cast::<f32>(i);
    bell[i] = exp(-distance * distance / (2.0 * sigma * sigma));
    weights[i] = bell[i] / sum(bell[all.x]);

    let inside = repeat_edge(&input);
    let (mut down, mut blur, mut sharp) = (Func::new("down"), Func::new("blur"), Func::new("sharp"));
    down[(x, y)] += weights[k.x] * inside[(x, y + k.x)];
    blur[(x, y)] += weights[k.x] * down[(x + k.x, y)];
    sharp[(x, y)] = inside[(x, y)] + amount * (inside[(x, y)] - blur[(x, y)]);

    let (pixels, mut loss) = (RDom::over(&target), Func::new("loss"));
    let difference = sharp[(pixels.x, pixels.y)] - target[(pixels.x, pixels.y)];
    loss[()] += difference * difference / cast::<f32>(target.width() * target.height());
    Ok((Pipeline::new([&sharp])?, Pipeline::new([&loss])?))
}

/// The Funcs that are computed once; sums over the picture stand at the root as well.
const FORWARD: &str = "weights: compute_root()
    down: compute_root() vectorize(x, natural)
    down.update(0): reorder(x, k.x, y) vectorize(x, natural)
    blur: compute_root() vectorize(x, natural)
    blur.update(0): reorder(x, k.x, y) vectorize(x, natural)";

fn main() -> Result<(), Error> {
    let (mask, loss) = pipelines()?;
    let gradients = loss.adjoints("loss", &["sigma", "amount"])?;
    let forward: Schedule = FORWARD.parse()?;
    let backward = format!("{FORWARD}\n d_sharp: compute_root()\n d_blur: compute_root()\n d_down: compute_root()");
    let mask = mask.compile(&forward, &Target::host())?;
    let loss = loss.compile(&forward, &Target::host())?;
    let gradients = gradients.compile(&backward.parse()?, &Target::host())?;

    // A picture with edges, and what a mask with other parameters makes of it.
    let size = [96, 64];
    let stripes = |at: &[i32]| ((at[0] / 7 + at[1] / 5) % 3) as f32 / 2.0 + (at[0] % 5) as f32 / 20.0;
    let picture = Buffer::from_fn(&Region::of_extents(size), |at| stripes(at))?;
    let wanted = [1.7f32, 0.8];
    let target: Buffer<f32> = with(mask.inputs().image_named("input", &picture), wanted).realize(size)?;

    // Steps of Adam: gradients divided by their running sizes.
    let (mut found, mut mean, mut square) = ([1.0f32, 0.3], [0f32; 2], [0f32; 2]);
    let point = Region::of_extents([0i32; 0]);
    for step in 1..=400 {
        let call = gradients.inputs().image_named("input", &picture).image_named("target", &target);
        let slopes = with(call, found).realize_all(&[point.clone(), point.clone()])?;
        for n in 0..2 {
            let slope = slopes[n].get([0i32; 0]).map_or(0.0, |v| v.as_f64() as f32);
            mean[n] += 0.1 * (slope - mean[n]);
            square[n] += 0.01 * (slope * slope - square[n]);
            let (mean, square) = (mean[n] / (1.0 - 0.9f32.powi(step)), square[n] / (1.0 - 0.99f32.powi(step)));
            found[n] -= 0.02 * mean / (square.sqrt() + 1e-8);
        }
        if step % 100 == 0 {
            let call = loss.inputs().image_named("input", &picture).image_named("target", &target);
            let loss: Buffer<f32> = with(call, found).realize([0i32; 0])?;
            println!("step {step}: sigma {:.3}, amount {:.3}, loss {:.2e}", found[0], found[1], loss.to_vec()[0]);
        }
    }
    assert!((0..2).all(|n| (found[n] - wanted[n]).abs() < 0.02), "{found:?}");
    Ok(())
}

/// A call with both parameters.
fn with(call: Call<'_>, [sigma, amount]: [f32; 2]) -> Call<'_> {
    call.param_named("sigma", sigma).param_named("amount", amount)
}
