//! Kernels of blocks of one to three dimensions, with stages in shared memory, in loops between blocks and threads, and
//! in registers of lanes.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// Two stencils and a consumer of three dimensions, the consumer in blocks.
pub(super) fn tiles(random: &mut Random) -> Drawn {
    let ty = random.pick(&[I32, U8, F32, I16]);
    let image = ImageParam::new("in", ty, 2);
    let vars = [var("x"), var("y"), var("z")];
    let [x, y, z] = vars;
    let h = func("h", &vars, image.read([x + z, y]) + cast_to(ty, z));
    let near = |random: &mut Random, of: &Func| {
        let mut at = |v: Expr| v + random.between(-1, 1) as i32;
        of.read([at(x), at(y), at(z)])
    };
    let value = near(random, &h) + near(random, &h);
    let mut g = func("g", &vars, value);
    if random.one_in(3) {
        let r = RDom::named("r", [(0, random.between(1, 4) as i32)]);
        g[vars] = g.read(vars) + h.read([x, y, z]) * cast_to(ty, r.x.expr());
    }
    // A plane that the threads of all planes read.
    let k = func("k", &[x, y], image.read([x + 1, y]) + cast_to(ty, y));
    let mut value = near(random, &g) + near(random, &g);
    if random.one_in(3) {
        value += k.read([x, y]) + if random.one_in(2) { k.read([x, y]) } else { k.read([x + 1, y]) };
    }
    let mut f = func("f", &vars, value);
    match random.below(5) {
        0 => f[vars] = f.read(vars) + near(random, &g),
        1 => {
            let s = RDom::named("s", [(0, random.between(1, 4) as i32)]);
            f[vars] = f.read(vars) + g.read([x + s.x, y, z]) * cast_to(ty, s.x + 1);
        }
        _ => {}
    }
    let lines = if random.one_in(3) { of_lanes(random) } else { of_threads(random) };
    Drawn::new(f, lines)
}

fn tail(random: &mut Random) -> &'static str {
    random.pick(&["", ", GuardWithIf", ", GuardWithIf", ", GuardWithIf", ", RoundUp"])
}

/// Blocks of threads in up to three dimensions; the rest in loops around, between or inside.
fn of_threads(random: &mut Random) -> Vec<String> {
    let names = ["x", "y", "z"];
    let dims = 1 + random.below(3);
    let (mut splits, mut threads, mut blocks) = (String::new(), Vec::new(), Vec::new());
    for name in &names[..dims] {
        let factor = random.pick(&[1, 2, 3, 4, 8, 8, 16]);
        splits += &format!(" split({name}, {name}o, {name}i, {factor}{})", tail(random));
        threads.push(format!("{name}i"));
        blocks.push(format!("{name}o"));
    }
    let rest: Vec<String> = names[dims..].iter().map(|n| n.to_string()).collect();
    // What is not tiled is one more loop over blocks, a loop inside of the threads, or one between.
    let place = random.below(3);
    let order = match place {
        0 => [threads.clone(), blocks.clone(), rest.clone()].concat(),
        1 => [rest.clone(), threads.clone(), blocks.clone()].concat(),
        _ => [threads.clone(), rest.clone(), blocks.clone()].concat(),
    };
    let mut loops = format!("f:{splits} reorder({})", order.join(", "));
    if place == 0 {
        blocks.extend(rest.clone());
    }
    let mut more = String::new();
    if random.one_in(3) {
        // A guard between two loops over blocks.
        let last = blocks.pop().unwrap_or_default();
        more = format!(" split({last}, {last}a, {last}b, {}, GuardWithIf)", random.pick(&[2, 3]));
        blocks.extend([format!("{last}b"), format!("{last}a")]);
    }
    blocks.truncate(3);
    loops += &format!("{more} gpu_blocks({}) gpu_threads({})", blocks.join(", "), threads.join(", "));
    let mut lines = vec![loops.clone(), loops.replace("f:", "f.update(0):"), "g: compute_root()".into()];
    let place = blocks[0].clone();
    lines.extend(producers(random, &place));
    lines
}

/// Draws lines of a schedule: the places of the producers, and their loops that are threads.
fn producers(random: &mut Random, place: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let threads = ["x, y, z", "x, y", "x", "y", "x, z"];
    lines.push(format!("g: compute_at(f, {place})"));
    lines.push(format!("k: compute_at(f, {place}) gpu_threads(x, y)"));
    let own = random.pick(&threads);
    lines.push(format!("g: gpu_threads({own})"));
    lines.push(format!("g.update(0): gpu_threads({own})"));
    let at = random.pick(&["g, z", "g, y", "g, z", "f"]);
    lines.push(match at {
        "f" => format!("h: compute_at(f, {place})"),
        at => format!("h: compute_at({at})"),
    });
    lines.push(format!("h: gpu_threads({})", random.pick(&threads)));
    for name in ["g", "h"] {
        let memory = random.pick(&["Shared", "Shared", "Global", "Register", "Stack"]);
        if random.one_in(2) {
            lines.push(format!("{name}: store_in({memory})"));
        }
    }
    lines
}

/// Rows of lanes, perhaps with threads beside them; producers in registers of lanes.
fn of_lanes(random: &mut Random) -> Vec<String> {
    let tail = random.pick(&[", RoundUp", ", GuardWithIf", ""]);
    let rows = random.one_in(2);
    let loops = match rows {
        true => "tile(x, y, xo, yo, xi, yi, 8, 4) gpu_blocks(xo, yo) gpu_threads(yi) gpu_lanes(xi)",
        false => "split(x, xo, xi, 8) reorder(xi, y, xo) gpu_blocks(y, xo) gpu_lanes(xi)",
    };
    let place = random.pick(if rows { &["xo", "yi"] } else { &["y", "xo"] });
    let memory = random.pick(&["store_in(Register)", "store_in(Register)", "store_in(Shared)"]);
    let mut lines = vec![
        format!("f: {loops}"),
        format!("f.update(0): {loops}"),
        "g: compute_root()".to_string(),
        format!("g: compute_at(f, {place})"),
        format!("g: split(x, x, xi, 8{tail}) gpu_lanes(xi) {memory}"),
        format!("g.update(0): split(x, x, xi, 8, GuardWithIf) gpu_lanes(xi)"),
    ];
    if random.one_in(2) {
        lines.push("g: gpu_threads(y)".into());
        lines.push("g.update(0): gpu_threads(y)".into());
    }
    if random.one_in(3) {
        lines.push(format!("h: compute_at(f, {place}) split(x, x, xi, 8{tail}) gpu_lanes(xi) store_in(Register)"));
    }
    lines
}
