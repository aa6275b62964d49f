//! Reductions: a histogram, means of rows, and running sums down the columns.

use halide::prelude::*;

/// The pipeline.
pub fn algorithm() -> Result<Pipeline, Error> {
    let input = ImageParam::new("input", U8, 2);
    let (x, y, i) = vars!(x, y, i);

    // A histogram of 64 by 64 pixels in 16 bins: it stores where data says.
    let r = RDom::named("r", [(0, 64), (0, 64)]);
    let mut hist = Func::new("hist");
    hist[i] = 0.expr();
    hist[cast::<i32>(input[(r.x, r.y)] / 16)] += 1;

    // The mean of 64 floats of each row.
    let k = RDom::named("k", [(0, 64)]);
    let mut mean = Func::new("mean");
    mean[y] = 0.0.expr();
    mean[y] += cast::<f32>(input[(k.x, y)]) / 64.0;

    // Running sums of 32 rows: each adds the one above.
    let s = RDom::named("s", [(1, 31)]);
    let mut running = Func::new("running");
    running[(x, y)] = cast::<i32>(input[(x, y)]);
    running[(x, s.x)] = running[(x, s.x)] + running[(x, s.x - 1)];
    Ok(Pipeline::new([&hist, &mean, &running])?)
}
