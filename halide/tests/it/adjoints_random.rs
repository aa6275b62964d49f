//! Gradients of random small pipelines against differences of the loss.

use crate::adjoints::{at_root, error, image};
use halide::prelude::*;

struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
    fn between(&mut self, first: i32, last: i32) -> i32 {
        first + self.below((last - first + 1) as u64) as i32
    }
    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// The position and size of an image.
type Spans = [(i32, i32); 2];

/// A Func or an image of two dimensions.
enum Source {
    Func(Func),
    /// With its position and size, which reads are clamped into.
    Image(ImageParam, [(i32, i32); 2]),
}

impl Source {
    fn read(&self, at: [Expr; 2]) -> Expr {
        match self {
            Source::Func(f) => f[(at[0], at[1])].expr(),
            Source::Image(i, spans) => {
                let inside = |d: usize| clamp(at[d], spans[d].0, spans[d].0 + spans[d].1 - 1);
                i[(inside(0), inside(1))].expr()
            }
        }
    }
}

/// A coordinate near the variables `u` and `v`.
fn coordinate(draw: &mut Draw, u: Expr, v: Expr) -> Expr {
    let (c, w) = (draw.between(-2, 2), draw.pick(&[u, u, u, v]));
    match draw.below(9) {
        0 => w * 2 + c,
        1 => (w + c) / 2,
        2 => -w + c,
        3 => u + v + c,
        4 => clamp(w, -1, 2),
        5 => c.expr(),
        6 => w % 3,
        _ => w + c,
    }
}

fn value(draw: &mut Draw, sources: &[Source], u: Expr, v: Expr) -> Expr {
    let mut read = || {
        let source = draw.below(sources.len() as u64) as usize;
        let at = [coordinate(draw, u, v), coordinate(draw, v, u)];
        sources[source].read(at)
    };
    let (a, b, c) = (read(), read(), read());
    match draw.below(10) {
        0 => a + b * 0.5 - c * 0.25,
        1 => a * b * 0.5 + c,
        2 => select((u + v).gt(1), a * 0.5, b - c),
        3 => select(a.gt(b), a * c, b),
        4 => max(a, b) + min(b, c * 0.5),
        5 => clamp(a, -0.5, 0.6) * b,
        6 => abs(a) - c * c * 0.3,
        7 => sin(a) * tanh(b) + c,
        8 => a / (b * b + 1.5),
        _ => exp(a * 0.2) * b,
    }
}

/// An update: a sum, with a predicate or without, or values stored anew.
fn update(draw: &mut Draw, f: &mut Func, r: &RDom, sources: &[Source], [x, y]: [Expr; 2]) {
    let kind = draw.below(4);
    if kind < 3 && draw.below(3) == 0 {
        r.where_(draw.pick(&[(r.x + r.y).lt(2), r.x.ne(r.y), r.x.expr().le(1)]));
    }
    match kind {
        0 => f[(x, y)] += value(draw, sources, x + r.x, y + r.y) * 0.3,
        1 => f[(r.x, y)] += value(draw, sources, r.x.expr(), y + r.y) * 0.3,
        2 => f[(r.x + r.y, r.x)] += value(draw, sources, r.y.expr(), r.x.expr()) * 0.3,
        _ => f[(r.y, 1 - r.x)] = value(draw, sources, r.y.expr(), r.x.expr()),
    }
}

/// A last update that reads what it has stored before.
fn recurrence(draw: &mut Draw, f: &mut Func, sources: &[Source], y: Expr) {
    let (from, size) = (draw.between(-2, 1), draw.between(0, 4));
    let more = |draw: &mut Draw, r: &RDom| value(draw, sources, r.x.expr(), y) * 0.3;
    let r = RDom::named("s", [(from, size)]);
    match draw.below(3) {
        0 => {
            let next = f[(r.x - 1, y)] * 0.5 + more(draw, &r);
            f[(r.x, y)] = next;
        }
        1 => {
            let next = f[(2 - r.x, y)] * more(draw, &r);
            f[(-r.x, y)] += next;
        }
        _ => {
            let next = sin(f[(r.x - 2, y)] * 2.0) - more(draw, &r);
            f[(r.x, y)] = next;
        }
    }
}

/// A pipeline with a loss, and the images that it reads.
fn pipeline(draw: &mut Draw) -> (Pipeline, Vec<(&'static str, Spans)>) {
    let (x, y) = vars!(x, y);
    let mut images = Vec::new();
    let mut sources = Vec::new();
    for name in &["p", "q"][..1 + draw.below(2) as usize] {
        let spans = [0, 1].map(|_| (draw.between(-3, 3), draw.pick(&[1, 1, 2, 3, 5])));
        images.push((*name, spans));
        sources.push(Source::Image(ImageParam::new(name, F64, 2), spans));
    }
    for n in 0..1 + draw.below(4) {
        let mut f = Func::new(format!("f{n}"));
        f[(x, y)] = value(draw, &sources, x.expr(), y.expr());
        for _ in 0..draw.pick(&[0, 0, 1, 2]) {
            let r = RDom::new([(draw.between(-1, 1), draw.between(0, 3)), (draw.between(-2, 0), draw.between(1, 2))]);
            update(draw, &mut f, &r, &sources, [x.expr(), y.expr()]);
        }
        if draw.below(3) == 0 {
            recurrence(draw, &mut f, &sources, y.expr());
        }
        sources.push(Source::Func(f));
    }
    let (mut loss, r) =
        (Func::new("loss"), RDom::named("l", [0, 1].map(|_| (draw.between(-2, 1), draw.pick(&[1, 2, 3])))));
    let last = sources.last().expect("there is a Func");
    let value = last.read([r.x.expr(), r.y.expr()]);
    loss[()] = cast::<f64>(0);
    loss[()] += value * value * 0.5 + value * cast::<f64>(r.x + r.y * 2 + 4);
    (Pipeline::new([&loss]).unwrap(), images)
}

#[test]
fn gradients_of_random_pipelines_are_slopes() {
    let cases = std::env::var("HALIDE_FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let mut worst = 0f64;
    for seed in 0..cases {
        let mut draw = Draw(seed * 7919 + 3);
        let (loss, images) = pipeline(&mut draw);
        let known = |name: &str| loss.images.iter().any(|i| i.name == name);
        let inputs = images.iter().filter(|(n, _)| known(n)).zip(17..);
        let inputs: Vec<_> = inputs.map(|((n, s), more)| image(n, s, seed * 31 + more)).collect();
        if inputs.is_empty() {
            continue;
        }
        let output = loss.funcs[loss.outputs[0]].name.clone();
        let names: Vec<&str> = images.iter().map(|(n, _)| *n).filter(|n| known(n)).collect();
        let gradients = loss.adjoints(&output, &names).unwrap_or_else(|e| panic!("{seed}: {e}\n{loss}"));
        println!("case {seed}");
        let root = at_root(&gradients);
        // Substituted into each other, many Funcs are long code.
        let schedules = [root.as_str(), ""];
        let found = error(&loss, if gradients.funcs.len() < 5 { &schedules } else { &schedules[..1] }, inputs, 1e-6);
        assert!(found < 1e-5, "case {seed}: {found}\n{loss}");
        worst = worst.max(found);
    }
    println!("largest error {worst}");
}
