//! Coordinates of each kind, made of what a definition may use.

use halide::prelude::*;
use halide_testing::pipelines::Random;

/// The operands of coordinates: sources of elements, and parameters.
pub(super) struct Operands {
    bytes: ImageParam,
    words: ImageParam,
    sums: Func,
    offset: Expr,
    flag: Expr,
    real: Expr,
}

impl Operands {
    /// Draws the types of elements and the Func whose elements are reductions.
    pub(super) fn new(random: &mut Random) -> Operands {
        let bytes = ImageParam::new("bytes", random.pick(&[U8, U8, I8, I16, U16]), 1);
        let words = ImageParam::new("words", random.pick(&[I32, I32, U32, I64, U64]), 1);
        let k = Var::new("k").expr();
        let domain = RDom::named("q", [(random.between(-1, 1) as i32, random.between(1, 4) as i32)]);
        let ty = random.pick(&[I32, U8, I16]);
        let mut sums = Func::new("sums");
        sums[[k]] = cast_to(ty, random.between(0, 3) as i32);
        sums[[k]] = sums.read([k]) + cast_to(ty, bytes.read([k + domain.x.expr()]));
        let range = (random.between(-2, 0) as i32, random.between(1, 3) as i32);
        let offset = Param::<i32>::new("offset").with_range(range.0, range.1).expr();
        let flag = Param::<bool>::new("flag").expr();
        let real = Param::<f32>::new("real").with_range(0.5, 1.5).expr();
        Operands { bytes, words, sums, offset, flag, real }
    }

    fn byte(&self, at: Expr) -> Expr {
        cast::<i32>(self.bytes.read([at]))
    }

    fn word(&self, at: Expr) -> Expr {
        cast::<i32>(self.words.read([at]))
    }
}

/// The variables that a coordinate may use.
pub(super) struct Scope {
    pub(super) vars: Vec<Expr>,
    pub(super) rvars: Vec<Expr>,
}

impl Scope {
    /// A variable, mostly the one of dimension `d`; those of reductions where there are no others.
    pub(super) fn variable(&self, random: &mut Random, d: usize) -> Expr {
        match self.vars.get(d) {
            Some(&own) if !random.one_in(5) => own,
            _ if self.vars.is_empty() => random.pick(&self.rvars),
            _ => random.pick(&self.vars),
        }
    }
}

/// A coordinate that has the part of this name in the table of kinds of coordinates.
///
/// # Panics
/// Where there is no such part.
pub(super) fn coordinate(random: &mut Random, part: &str, operands: &Operands, scope: &Scope, d: usize) -> Expr {
    let x = scope.variable(random, d);
    let c = random.between(-2, 2) as i32;
    let at = x + c;
    match part {
        "variable" => [x, at, c - x][random.below(3)],
        "constant" => c.expr(),
        "product with a constant" => x * random.pick(&[2, 3, -1, -2]) + c,
        "quotient by a constant" => {
            let k = random.between(2, 5) as i32;
            [at / k, x % k, at / k * 2][random.below(3)]
        }
        "quotient by anything" => {
            let divisor = random.pick(&[operands.offset, operands.offset + 3, operands.byte(x)]);
            let quotient = if random.one_in(2) { at / divisor } else { at % divisor };
            near(random, quotient)
        }
        "smaller or larger one" => {
            [clamp(at, -1, 6), min(x, 5), max(at, 1), min(x, 4) + max(x, c) - x][random.below(4)]
        }
        "choice" => {
            let condition = random.pick(&[x.gt(c + 2), operands.flag, operands.byte(x).gt(3), (x % 2).eq(0)]);
            select(condition, at, random.pick(&[x - 1, c.expr(), -x]))
        }
        "parameter" => random.pick(&[x + operands.offset, operands.offset, x * 2 - operands.offset]),
        "reduction variable" => {
            let r = random.pick(&scope.rvars);
            random.pick(&[x + r, x - r, r + c, x + r * 2])
        }
        "several variables" => {
            let (a, b) = (scope.vars[0], scope.vars[1 + random.below(scope.vars.len() - 1)]);
            random.pick(&[a + b, a - b + c, b * 2 + a, a + b / 2, max(a, b), clamp(b - a, -3, 5)])
        }
        "narrow integer" => {
            let ty = random.pick(&[U8, U8, I8, I16]);
            cast::<i32>(cast_to(ty, random.pick(&[at, x * 3 + c, 9 - x])))
        }
        "float" | "float of a narrow integer" => {
            let whole = match part {
                "float" => at,
                _ => random.pick(&[cast_to(U8, at), operands.bytes.read([x]), cast_to(I8, x)]),
            };
            through_float(random, operands, whole)
        }
        "element" => {
            let element = operands.byte(at);
            let moved = if random.one_in(3) { element + x } else { element };
            near(random, moved)
        }
        "element of 32 bits or more" => {
            let element = operands.word(at);
            near(random, element)
        }
        "product of elements" => {
            let other = random.pick(&[operands.byte(x), operands.word(x), operands.byte(at + 1)]);
            near(random, operands.byte(at) * other)
        }
        "shift" => {
            let amount = random.pick(&[1.expr(), 2.expr(), clamp(operands.byte(x), 0, 2)]);
            if random.one_in(2) { at >> amount } else { near(random, at << amount) }
        }
        "reduction" => {
            let sum = cast::<i32>(operands.sums.read([at]));
            near(random, sum)
        }
        "hint" => [likely(at), likely_if_innermost(at), likely(clamp(at, 0, 5))][random.below(3)],
        _ => panic!("`{part}` is no part of a coordinate"),
    }
}

/// A value as an integer again, after some arithmetic of floats.
fn through_float(random: &mut Random, operands: &Operands, whole: Expr) -> Expr {
    let ty = random.pick(&[F32, F32, F64]);
    let float = cast_to(ty, whole);
    let quarters = cast_to(ty, random.between(1, 7) as f32 / 4.0f32);
    let value = match random.below(5) {
        0 => float * quarters,
        1 => float / quarters,
        2 => floor(float * quarters),
        3 => float * cast_to(ty, operands.real),
        _ => float - quarters,
    };
    cast::<i32>(value)
}

/// The coordinate, kept within a few points.
fn near(random: &mut Random, coordinate: Expr) -> Expr {
    let low = random.between(-2, 1) as i32;
    match random.below(3) {
        0 => coordinate % random.between(1, 6) as i32,
        _ => clamp(coordinate, low, low + random.between(0, 7) as i32),
    }
}
