//! Random Funcs.

use super::constant::constant;
use super::draw::{Draw, Readable, Scope, Source};
use super::structure::{Structure, Update};
use halide_core::boundary;
use halide_core::expr::{self, Expr, IntoExpr};
use halide_core::func::Func;
use halide_core::rdom::RDom;
use halide_core::types::ScalarType;
use halide_core::var::Var;

impl Draw {
    /// A Func more to read.
    pub(super) fn stage(&mut self, name: &str) {
        let updates = matches!(self.options.structure, Some(Structure::Update(_)));
        if !self.options.exact && self.random.one_in(12) && self.bounded_func() {
            return;
        }
        if self.options.given {
            match self.random.below(8) {
                0 => return self.external(name),
                1 if !self.options.exact => return self.ragged(name),
                _ => {}
            }
        }
        let dims = [1, 2, 2, 2, 3][self.random.below(5)];
        let mut names = ["x", "y", "z"][..dims].to_vec();
        if self.random.one_in(6) {
            self.random.shuffle(&mut names);
        }
        let vars: Vec<Expr> = names.iter().map(|n| Var::new(n).expr()).collect();
        let own = matches!(self.options.structure, Some(Structure::Update(Update::OwnPredicate | Update::OwnElements)));
        let several = if own { !self.random.one_in(4) } else { self.random.one_in(if updates { 2 } else { 5 }) };
        let elements = if several { 2 + self.random.below(2) } else { 1 };
        let types: Vec<ScalarType> = (0..elements).map(|_| self.any_type()).collect();
        let mut func = Func::new(name);
        (self.deepest, self.weight) = (0, 0);
        let scope = Scope { vars: vars.clone(), rvars: Vec::new(), own: None };
        let kept = self.options.given && !self.options.exact && self.random.one_in(8);
        let start = if kept { self.kept(&types, &scope) } else { self.values(&types, &scope) };
        func[&vars] = start;
        if kept || updates || self.random.one_in(3) {
            for _ in 0..1 + self.random.below(3) {
                self.update(&mut func, &vars, &types);
            }
        }
        let (doublings, weight) = (self.deepest, self.weight);
        self.sources.push(Source { what: Readable::Func(func), types, dims, doublings, weight });
    }

    /// A value of several elements.
    pub(super) fn values(&mut self, types: &[ScalarType], scope: &Scope<'_>) -> Expr {
        let depth = 1 + self.random.below(3);
        let mut values = Vec::new();
        for &ty in types {
            values.push(self.value(ty, scope, depth));
        }
        expr::tuple(values)
    }

    /// A boundary condition around the last Func, if it has one value.
    fn bounded_func(&mut self) -> bool {
        let Some(Source { what: Readable::Func(func), types, dims, doublings, weight }) = self.sources.last() else {
            return false;
        };
        let (&[ty], dims, doublings, weight) = (&types[..], *dims, *doublings, *weight) else { return false };
        let (outside, mut bounds) = (constant(&mut self.random, ty), Vec::new());
        for _ in 0..dims {
            let (first, extent) = (self.random.between(-2, 1) as i32, self.random.between(1, 8) as i32);
            bounds.push((!self.random.one_in(4)).then(|| (first.expr(), extent.expr())));
        }
        let bounded = match self.random.below(5) {
            0 => boundary::repeat_edge_in(func, &bounds),
            1 => boundary::repeat_image_in(func, &bounds),
            2 => boundary::mirror_image_in(func, &bounds),
            3 => boundary::mirror_interior_in(func, &bounds),
            _ => boundary::constant_exterior_in(func, outside, &bounds),
        };
        self.sources.push(Source { what: Readable::Func(bounded), types: vec![ty], dims, doublings, weight });
        true
    }

    /// A reduction domain of one or two small dimensions.
    pub(super) fn domain(&mut self, scope: &Scope<'_>) -> RDom {
        self.domains += 1;
        let name = format!("r{}", self.domains);
        let mut ranges: Vec<(Expr, Expr)> = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let first = (self.random.between(-1, 2) as i32).expr();
            let least = i64::from(self.options.exact);
            let extent = match self.random.below(6) {
                0 if !self.options.exact => self.count.expr(),
                _ => (self.random.between(least, 4) as i32).expr(),
            };
            ranges.push((first, extent));
        }
        let domain = RDom::named(&name, ranges);
        if !self.options.exact && self.random.one_in(3) {
            let rvars = (0..domain.dims()).map(|d| domain.dim(d).expr()).collect();
            let inner = Scope { vars: scope.vars.clone(), rvars, own: None };
            let condition = self.condition(&inner, 1);
            domain.where_(condition);
        }
        domain
    }
}
