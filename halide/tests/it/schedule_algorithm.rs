//! The algorithm of `docs/schedule.md`, which shows the text below this line.

use halide::prelude::*;

pub(crate) fn algorithm() -> Result<Pipeline, Error> {
    let input = ImageParam::new("input", U8, 2);
    let (rows, absolute) = (Param::<i32>::new("rows").with_range(1, 64), Param::<bool>::new("absolute"));
    let (x, y, i) = vars!(x, y, i);
    let mut bright = Func::new("bright");
    bright[(x, y)] = cast::<i32>(input[(x, y)]) * 2;

    // A blur: sums of three neighbours in a row, and means of three of these in a column.
    let (mut blur_x, mut blur_y) = (Func::new("blur_x"), Func::new("blur_y"));
    blur_x[(x, y)] = bright[(x, y)] + bright[(x + 1, y)] + bright[(x + 2, y)];
    blur_y[(x, y)] = (blur_x[(x, y)] + blur_x[(x, y + 1)] + blur_x[(x, y + 2)]) / 9;

    let mut edges = Func::new("edges");
    let step = bright[(x + 1, y)] - bright[(x, y)];
    edges[(x, y)] = select(absolute, abs(step), step);

    // A histogram of the first `rows` rows, and then its running sum: two updates.
    let mut hist = Func::new("hist");
    let (r, s) = (RDom::named("r", [(0.expr(), 16.expr()), (0.expr(), rows.expr())]), RDom::named("s", [(1, 15)]));
    hist[i] = 0.expr();
    hist[bright[(r.x, r.y)] / 32] += 1;
    hist[s.x] = hist[s.x] + hist[s.x - 1];

    // Means of floats, which round differently in another order.
    let mut mean = Func::new("mean");
    let k = RDom::named("k", [(0, 16)]);
    mean[y] = 0.0.expr();
    mean[y] += cast::<f32>(bright[(k.x, y)]) / 16.0;
    Ok(Pipeline::new([&blur_y, &edges, &hist, &mean])?)
}
