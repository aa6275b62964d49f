//! Random graphs of Funcs that schedules have much to say about: stages that only one arm of a choice needs, Funcs that
//! do not read each other, chains of stencils.

use super::draw::{Draw, Readable, Scope, Source};
use halide_core::expr::*;
use halide_core::func::Func;
use halide_core::types::ScalarType::{self, *};
use halide_core::var::Var;

impl Draw {
    /// A Func of these variables, with one value.
    fn defined(
        &mut self,
        name: &str,
        vars: &[Expr],
        ty: ScalarType,
        value: impl FnOnce(&mut Draw, &Scope<'_>) -> Expr,
    ) {
        let mut func = Func::new(name);
        (self.deepest, self.weight) = (0, 0);
        let scope = Scope { vars: vars.to_vec(), rvars: Vec::new(), own: None };
        func[vars] = value(self, &scope);
        if self.random.one_in(6) {
            self.update(&mut func, vars, &[ty]);
        }
        let (doublings, weight) = (self.deepest, self.weight);
        self.sources.push(Source { what: Readable::Func(func), types: vec![ty], dims: vars.len(), doublings, weight });
    }

    fn variables(&mut self) -> Vec<Expr> {
        let dims = self.random.pick(&[1, 2, 2, 2, 3]);
        ["x", "y", "z"][..dims].iter().map(|n| Var::new(n).expr()).collect()
    }

    /// Two to four Funcs, some of which read one that nobody else reads, and one more that reads one or another of them
    /// as parameters say, sometimes only where coordinates say so too.
    pub(super) fn arms(&mut self, name: &str) {
        let vars = self.variables();
        let mut arms = Vec::new();
        for arm in 0..2 + self.random.below(3) {
            let (ty, deeper) = (self.any_type(), self.random.one_in(3));
            if deeper {
                self.defined(&format!("{name}deep{arm}"), &vars, ty, |draw, scope| draw.value(ty, scope, 1));
            }
            let before = self.sources.len() - usize::from(deeper);
            self.defined(&format!("{name}arm{arm}"), &vars, ty, |draw, scope| {
                let value = draw.value(ty, scope, 1);
                match deeper.then(|| cast_to(ty, draw.neighbour(before, scope))) {
                    Some(more) if ty == Bool => value.ne(more),
                    Some(more) => value + more,
                    None => value,
                }
            });
            arms.push(self.sources.len() - 1);
        }
        let ty = self.any_type();
        self.defined(name, &vars, ty, |draw, scope| {
            let mut value = cast_to(ty, draw.read_of(arms[0], scope));
            for &arm in &arms[1..] {
                let other = cast_to(ty, draw.read_of(arm, scope));
                let mut condition = draw.condition_on_parameters();
                if draw.random.one_in(6) {
                    condition = condition.and(scope.vars[0].lt(draw.random.between(-2, 9) as i32));
                }
                value = if draw.random.one_in(2) {
                    select(condition, value, other)
                } else {
                    select(condition, other, value)
                };
            }
            value
        });
    }

    /// A condition that is the same at all points.
    pub(super) fn condition_on_parameters(&mut self) -> Expr {
        let flag = self.flag.expr();
        let limit = self.random.between(0, 2) as i32;
        let condition = match self.random.below(6) {
            0 => flag,
            1 => !flag,
            2 => self.count.expr().eq(limit),
            3 => self.count.expr().ne(limit),
            4 => self.offset.expr().ge(limit),
            _ => self.offset.expr().lt(limit),
        };
        match self.random.below(5) {
            0 => condition.and(flag),
            1 => condition.or(self.count.expr().gt(limit)),
            _ => condition,
        }
    }

    /// Three or four Funcs that do not read each other, and one that reads them all.
    pub(super) fn siblings(&mut self, name: &str) {
        let vars = self.variables();
        let first = self.sources.len();
        self.visible = Some(first);
        for sibling in 0..3 + self.random.below(2) {
            let ty = self.any_type();
            self.defined(&format!("{name}part{sibling}"), &vars, ty, |draw, scope| draw.value(ty, scope, 1));
        }
        self.visible = None;
        let (ty, last) = (self.random.pick(&[U8, I16, I32, U32, F32]), self.sources.len());
        self.defined(name, &vars, ty, |draw, scope| {
            let mut value = cast_to(ty, draw.read_of(first, scope));
            for sibling in first + 1..last {
                value += cast_to(ty, draw.read_of(sibling, scope));
            }
            value
        });
    }

    /// Two or three Funcs, each of which reads a few neighbours in the one before.
    pub(super) fn stencils(&mut self, name: &str) {
        let vars = self.variables();
        let ty = self.any_type();
        self.defined(&format!("{name}start"), &vars, ty, |draw, scope| draw.value(ty, scope, 1));
        for step in 0..1 + self.random.below(2) {
            let ty = self.random.pick(&[U8, I16, I32, U32, F32]);
            let before = self.sources.len() - 1;
            self.defined(&format!("{name}step{step}"), &vars, ty, |draw, scope| {
                let mut value = cast_to(ty, draw.neighbour(before, scope));
                for _ in 0..1 + draw.random.below(3) {
                    value += cast_to(ty, draw.neighbour(before, scope));
                }
                value
            });
        }
    }

    /// A read of a source of the same dimensions, a few points away.
    fn neighbour(&mut self, source: usize, scope: &Scope<'_>) -> Expr {
        let mut coords = Vec::new();
        for &var in &scope.vars {
            coords.push(match self.random.below(4) {
                0 => var,
                _ => var + self.random.between(-2, 2) as i32,
            });
        }
        self.deepest = self.deepest.max(self.sources[source].doublings);
        self.weight += self.sources[source].weight;
        self.sources[source].read(&coords, 0)
    }
}
