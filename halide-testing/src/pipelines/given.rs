//! Random demands on what the caller gives: rules for the shapes of inputs and outputs, promises of the elements of
//! inputs, rows whose offsets are such elements, and an output that may be in an input's memory.

use super::constant::constant;
use super::draw::{Draw, Readable, Scope, Source};
use super::random::Random;
use halide_core::expr::*;
use halide_core::func::Func;
use halide_core::ops::BinOp;
use halide_core::param::{ImageParam, Param};
use halide_core::rdom::RDom;
use halide_core::shape::ShapeDim;
use halide_core::types::ScalarType::{self, *};
use halide_core::var::Var;

impl Draw {
    /// Rules for an input, and promises of its elements.
    pub(super) fn input_rules(&mut self, image: &ImageParam) {
        // Interleaved: the last dimension is the dense one.
        let interleaved = image.dims() > 1 && self.random.one_in(12);
        if interleaved {
            image.dim(image.dims() - 1).set_stride(1).set_bounds(-4, 8);
            image.dim(0).set_stride(8);
        }
        for d in (0..image.dims()).filter(|_| !interleaved) {
            let dim = image.dim(d);
            match self.random.below(12) {
                0 => drop(dim.set_min(self.random.between(-24, -8) as i32)),
                1 => drop(dim.set_min_multiple_of(self.random.pick(&[2, 3, 4, 8]))),
                2 | 3 => drop(dim.set_extent_multiple_of(self.random.pick(&[2, 5, 16]))),
                4 => drop(dim.set_min(-16).set_extent_multiple_of(self.random.pick(&[8, 16]))),
                5 => drop(dim.set_bounds(-12, self.random.pick(&[32, 48]))),
                6 if d > 0 => drop(dim.set_stride_multiple_of(self.random.pick(&[2, 16]))),
                7 if d > 0 => drop(dim.set_min(image.dim(0).min())),
                8 => drop(dim.set_min(self.offset - 9)),
                9 => drop(dim.set_estimate(0, 16)),
                _ => {}
            }
        }
        if self.random.one_in(6) {
            image.set_host_alignment(self.random.pick(&[4, 64]));
        }
        if image.ty().is_int() && self.random.one_in(3) {
            let low = if image.ty().is_signed_int() { self.random.between(-9, 3) } else { self.random.between(0, 3) };
            image.promise_values(low, low + self.random.between(0, 12));
        }
        if image.ty().is_int() && self.random.one_in(6) {
            image.promise_growing(self.random.below(image.dims()));
        }
    }

    /// `f[x] = 0`, `f[x] += e(r)` for `r` from the offset of row `x` to that of the next, which are elements of an
    /// input that grows.
    pub(super) fn ragged(&mut self, name: &str) {
        self.domains += 1;
        let offsets = ImageParam::new(&format!("offsets{}", self.domains), self.random.pick(&[I32, I32, I16, U8]), 1);
        let low = self.random.between(0, 2) as i32;
        let count = self.random.between(1, 14) as i32;
        offsets.promise_values(low.into(), i64::from(low + count));
        if !self.random.one_in(4) {
            offsets.promise_growing(0);
        }
        let x = Var::new("x").expr();
        let r = RDom::named(&format!("r{}", self.domains), [(low, count)]);
        let row = |x: Expr| cast::<i32>(offsets.read([x]));
        r.where_(r.x.ge(row(x)) & r.x.lt(row(x + 1)));
        let ty = self.any_type();
        let mut func = Func::new(name);
        (self.deepest, self.weight) = (0, 0);
        func[[x]] = constant(&mut self.random, ty);
        let scope = Scope { vars: Vec::new(), rvars: vec![r.x.expr()], own: None };
        let value = self.value(ty, &scope, 1);
        let old = func.read([x]);
        func[[x]] = match ty {
            Bool => old.ne(value),
            _ if self.random.one_in(3) => max(old, value),
            _ => old + value,
        };
        let (doublings, weight) = (self.deepest, self.weight);
        self.sources.push(Source { what: Readable::Func(func), types: vec![ty], dims: 1, doublings, weight });
    }

    /// A Func that may take the place of an input: it reads that at its own coordinates only.
    pub(super) fn in_place(&mut self, name: &str) {
        let (ty, dims) = (self.any_type(), 1 + self.random.below(2));
        let image = ImageParam::new("own", ty, dims);
        let vars: Vec<Expr> = ["x", "y"][..dims].iter().map(|n| Var::new(n).expr()).collect();
        let mut func = Func::new(name);
        (self.deepest, self.weight) = (0, 0);
        let own = image.read(&vars);
        let scope = Scope { vars: vars.clone(), rvars: Vec::new(), own: None };
        func[&vars] = match (self.random.below(4), ty) {
            (0 | 1, _) => own,
            (2, _) => {
                let (condition, other) = (self.condition(&scope, 1), self.value(ty, &scope, 1));
                select(condition, own, other)
            }
            (_, Bool) => own.ne(self.value(ty, &scope, 1)),
            _ => {
                let other = self.value(ty, &scope, 1);
                dynamic::binary(self.random.pick(&[BinOp::Add, BinOp::Max, BinOp::Mul]), own, other)
            }
        };
        for _ in 0..self.random.below(3) {
            self.update(&mut func, &vars, &[ty]);
        }
        let (doublings, weight) = (self.deepest, self.weight);
        self.sources.push(Source { what: Readable::Func(func), types: vec![ty], dims, doublings, weight });
    }

    /// A first definition that leaves some elements, or all, as an output's buffer holds them.
    pub(super) fn kept(&mut self, types: &[ScalarType], scope: &Scope<'_>) -> Expr {
        let mut values = Vec::new();
        for &ty in types {
            let undef = dynamic::undef_of(ty);
            values.push(match self.random.below(3) {
                0 => undef,
                1 => {
                    let (condition, value) = (self.condition(scope, 1), self.value(ty, scope, 1));
                    select(condition, value, undef)
                }
                _ => self.value(ty, scope, 1),
            });
        }
        tuple(values)
    }

    /// A coordinate of which it is promised that it is `low` to `high`, checked or not.
    pub(super) fn promised(&mut self, data: Expr, low: i32, high: i32) -> Expr {
        let data = cast_to(I32, data);
        if self.random.one_in(2) {
            return promise_clamped_unchecked(data, low, high);
        }
        let slack = self.random.between(0, 2) as i32;
        promise_clamped(clamp(data, low, high), low - slack, high + slack)
    }
}

/// Rules for the buffers of an output, which may use the parameter.
pub(super) fn output_rules(random: &mut Random, offset: Param<i32>, func: &Func) {
    for d in 0..func.dims().unwrap_or(0) {
        let dim: ShapeDim = func.output().dim(d);
        match random.below(12) {
            0 => drop(dim.set_min(random.between(-2, 3) as i32)),
            1 => drop(dim.set_min_multiple_of(random.pick(&[2, 4]))),
            2 | 3 => drop(dim.set_extent_multiple_of(random.pick(&[2, 3, 8]))),
            4 => drop(dim.set_bounds(0, random.pick(&[5, 16]))),
            5 if d > 0 => drop(dim.set_stride_multiple_of(random.pick(&[2, 16]))),
            6 => drop(dim.set_extent(offset + 6)),
            _ => {}
        }
    }
    if random.one_in(6) {
        func.output().set_host_alignment(random.pick(&[4, 32]));
    }
}
