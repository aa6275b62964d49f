//! Algorithms of a class: a stage whose read has a coordinate of its kind, what it reads, and what reads it.

use super::coordinates::{Operands, Scope, coordinate};
use crate::coverage::Product;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// An algorithm, with the loops that its schedule may speak of.
pub(super) struct Algorithm {
    pub(super) pipeline: Pipeline,
    /// The stage of `s` that is of the class.
    pub(super) stage: Loops,
    /// The stage that reads `s`; `None` if `s` is the output.
    pub(super) host: Option<Loops>,
    /// Funcs that `s` reads, each with true if it may be inlined.
    pub(super) sources: Vec<(String, bool)>,
    /// True if a Func `f` reads the host.
    pub(super) has_reader: bool,
    /// True if the stage reads its own Func.
    pub(super) reads_itself: bool,
}

/// A stage and its loops before any directive, innermost first.
pub(super) struct Loops {
    /// Its name in schedules.
    pub(super) name: String,
    pub(super) vars: Vec<String>,
    /// The loops of its reduction domain.
    pub(super) rvars: Vec<String>,
}

impl Loops {
    fn new(func: &'static str, number: usize, vars: &[Expr], names: &[&str], rdom: Option<&RDom>) -> Loops {
        let name = if number == 0 { func.to_string() } else { format!("{func}.update({})", number - 1) };
        let vars = names[..vars.len()].iter().map(|name| name.to_string()).collect();
        let rvars = rdom.map_or(Vec::new(), |r| (0..r.dims()).map(|d| r.dim(d).name()).collect());
        Loops { name, vars, rvars }
    }
}

const NAMES: [&str; 3] = ["x", "y", "z"];

const TYPES: [ScalarType; 10] = [I32, I32, U8, I16, F32, U16, I64, I8, U32, F64];

/// Something that `s` reads.
enum Source {
    Image(ImageParam),
    Func(Func, usize),
}

impl Source {
    fn dims(&self) -> usize {
        match self {
            Source::Image(image) => image.dims(),
            Source::Func(_, dims) => *dims,
        }
    }

    fn read(&self, at: &[Expr]) -> Expr {
        match self {
            Source::Image(image) => image.read(at),
            Source::Func(func, _) => func.read(at),
        }
    }
}

/// The operands of a stage, while it is drawn.
struct Draw<'r> {
    random: &'r mut Random,
    part: &'static str,
    operands: Operands,
    source: Source,
    ty: ScalarType,
}

/// Draws an algorithm of a class.
///
/// # Panics
/// Where it has mistakes.
pub(super) fn draw(random: &mut Random, class: &Product) -> Algorithm {
    let of_reduction = class.part == "reduction variable";
    let is_update = of_reduction || random.one_in(3);
    let least = if class.part == "several variables" { 2 } else { 1 };
    let dims = random.pick(&[1, 2, 2, 2, 3]).max(least);
    let (operands, image) = (Operands::new(random), ImageParam::new("in", random.pick(&TYPES), 1 + random.below(2)));
    let mut sources = Vec::new();
    let source = match random.below(3) {
        0 => Source::Image(image),
        _ => producer(random, image, &mut sources),
    };
    if class.part == "reduction" {
        sources.push(("sums".to_string(), false));
    }
    let ty = random.pick(&TYPES);
    let mut draw = Draw { random, part: class.part, operands, source, ty };
    let vars: Vec<Expr> = NAMES[..dims].iter().map(|name| var(name)).collect();
    let mut s = Func::new("s");
    let (stage, reads_itself) = match is_update {
        true => draw.update(&mut s, &vars, of_reduction),
        false => {
            s[&vars] = draw.value(&Scope { vars: vars.clone(), rvars: Vec::new() });
            let stage = Loops::new("s", 0, &vars, &NAMES, None);
            if draw.random.one_in(6) {
                s[&vars] = s.read(&vars) + cast_to(ty, 1);
            }
            (stage, false)
        }
    };
    let random = draw.random;
    if class.place == "root" && random.one_in(3) {
        let pipeline = Pipeline::new([&s]).unwrap_or_else(|e| panic!("{class}: {e}"));
        return Algorithm { pipeline, stage, host: None, sources, has_reader: false, reads_itself };
    }
    let (c, host) = consumer(random, &s, dims, ty);
    // Its loops may hold those of the host, which is one definition then.
    let has_reader = host.name == "c" && random.one_in(6);
    let output = if has_reader { func("f", &vars, c.read(&vars) + c.read(&vars)) } else { c };
    let pipeline = Pipeline::new([&output]).unwrap_or_else(|e| panic!("{class}: {e}"));
    Algorithm { pipeline, stage, host: Some(host), sources, has_reader, reads_itself }
}

/// A Func between the input and the stage.
fn producer(random: &mut Random, image: ImageParam, sources: &mut Vec<(String, bool)>) -> Source {
    let dims = 1 + random.below(2);
    let vars: Vec<Expr> = ["u", "v"][..dims].iter().map(|name| var(name)).collect();
    let ty = random.pick(&TYPES);
    let at: Vec<Expr> = (0..image.dims()).map(|d| vars[d.min(dims - 1)] + random.between(-1, 1) as i32).collect();
    let mut p = func("p", &vars, cast_to(ty, image.read(&at)) + cast_to(ty, vars[0] * 3));
    let is_pure = !random.one_in(5);
    if !is_pure {
        p[&vars] = p.read(&vars) * cast_to(ty, 3) - cast_to(ty, vars[dims - 1]);
    }
    sources.push(("p".to_string(), is_pure));
    Source::Func(p, dims)
}

/// A Func that reads a few neighbours of `s`, in a pure definition or in an update over a domain.
fn consumer(random: &mut Random, s: &Func, dims: usize, ty: ScalarType) -> (Func, Loops) {
    let vars: Vec<Expr> = NAMES[..dims].iter().map(|name| var(name)).collect();
    let domain = RDom::named("w", [(random.between(-1, 1) as i32, random.between(1, 4) as i32)]);
    let mut near = |x: &Expr| match random.below(8) {
        0 => *x * 2,
        1 => 4 - *x,
        2 => *x / 2,
        3..=5 => *x,
        _ => *x + random.between(-2, 2) as i32,
    };
    let mut read = |more: Expr| {
        let mut at: Vec<Expr> = vars.iter().map(&mut near).collect();
        let last = at.len() - 1;
        at[last] += more;
        s.read(&at)
    };
    let (first, second) = (read(0.expr()), read(1.expr()));
    let over = read(domain.x.expr());
    let ty = if random.one_in(2) { ty } else { random.pick(&TYPES) };
    if random.one_in(5) {
        let mut c = func("c", &vars, cast_to(ty, vars[0]));
        c[&vars] = c.read(&vars) + cast_to(ty, over);
        return (c, Loops::new("c", 1, &vars, &NAMES, Some(&domain)));
    }
    let value = if random.one_in(3) { first } else { first - second };
    let c = func("c", &vars, cast_to(ty, value) + cast_to(ty, vars[dims - 1]));
    (c, Loops::new("c", 0, &vars, &NAMES, None))
}

impl Draw<'_> {
    /// A read of the source with a coordinate of the part in one of its dimensions.
    fn read(&mut self, scope: &Scope) -> Expr {
        let dims = self.source.dims();
        let aimed = self.random.below(dims);
        let mut at = Vec::new();
        for d in 0..dims {
            at.push(match d == aimed {
                true => coordinate(self.random, self.part, &self.operands, scope, d),
                false => scope.variable(self.random, d) + self.random.between(-1, 1) as i32,
            });
        }
        self.source.read(&at)
    }

    /// A value of one or two reads and other operands.
    fn value(&mut self, scope: &Scope) -> Expr {
        let ty = self.ty;
        let first = cast_to(ty, self.read(scope));
        let other = match self.random.below(5) {
            0 | 1 => cast_to(ty, self.read(scope)),
            2 => cast_to(ty, scope.variable(self.random, 0)),
            _ => cast_to(ty, self.random.between(1, 5) as i32),
        };
        match self.random.below(6) {
            0 => first,
            1 => first * other,
            2 => max(first, other),
            3 => first - other,
            4 => select(first.gt(other), first, other + cast_to(ty, 1)),
            _ => first + other,
        }
    }

    /// A term that every variable of the domain is in: one that is nowhere has no loop.
    fn term(&mut self, scope: &Scope) -> Expr {
        let sum = scope.rvars[1..].iter().fold(scope.rvars[0], |sum, r| sum + *r);
        if self.random.one_in(2) {
            return cast_to(self.ty, sum);
        }
        let mut at: Vec<Expr> = (0..self.source.dims()).map(|d| scope.variable(self.random, d)).collect();
        at[0] += sum;
        cast_to(self.ty, self.source.read(&at))
    }

    /// An update of every point, of sums over a domain, or of points along it.
    fn update(&mut self, s: &mut Func, vars: &[Expr], of_reduction: bool) -> (Loops, bool) {
        let ty = self.ty;
        s[vars] = cast_to(ty, vars[0] + self.random.between(-2, 3) as i32);
        if !of_reduction && self.random.one_in(2) {
            let scope = Scope { vars: vars.to_vec(), rvars: Vec::new() };
            let value = self.value(&scope);
            let reads_itself = self.random.one_in(2);
            s[vars] = if reads_itself { s.read(vars) + value } else { value };
            return (Loops::new("s", 1, vars, &NAMES, None), reads_itself);
        }
        let range = |random: &mut Random| (random.between(-1, 1) as i32, random.between(1, 5) as i32);
        let ranges: Vec<(i32, i32)> = (0..1 + self.random.below(2)).map(|_| range(self.random)).collect();
        let domain = RDom::named("r", ranges);
        let rvars: Vec<Expr> = (0..domain.dims()).map(|d| domain.dim(d).expr()).collect();
        let along = of_reduction && self.random.one_in(4);
        let (mut at, kept) = (vars.to_vec(), if along { &vars[1..] } else { vars });
        if along {
            at[0] = rvars[0];
        }
        if self.random.one_in(5) {
            let sum = kept.first().map_or(rvars[0], |x| rvars[0] + *x);
            domain.where_(sum.gt(self.random.between(-1, 2) as i32));
        }
        let scope = Scope { vars: kept.to_vec(), rvars: rvars.clone() };
        let value = self.value(&scope) + self.term(&scope);
        let before = match along && self.random.one_in(2) {
            true => s.read([&[rvars[0] - 1][..], kept].concat()),
            false => s.read(&at),
        };
        let reads_itself = !self.random.one_in(4);
        let value = match self.random.below(3) {
            _ if !reads_itself => value,
            0 => max(before, value),
            _ => before + value,
        };
        s[&at] = value;
        let names = if along { &NAMES[1..] } else { &NAMES };
        (Loops::new("s", 1, kept, names, Some(&domain)), reads_itself)
    }
}
