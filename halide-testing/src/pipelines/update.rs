//! Random updates.

use super::constant::constant;
use super::draw::{Draw, Own, Scope};
use super::structure::{Structure, Update};
use halide_core::expr::*;
use halide_core::func::Func;
use halide_core::ops::BinOp;
use halide_core::rdom::RDom;
use halide_core::types::ScalarType::{self, *};

impl Draw {
    /// An update more of a Func of these variables and types.
    pub(super) fn update(&mut self, func: &mut Func, vars: &[Expr], types: &[ScalarType]) {
        let whole = Scope { vars: vars.to_vec(), rvars: Vec::new(), own: None };
        let kind = match self.options.structure {
            _ if self.options.exact => Update::Reduce,
            Some(Structure::Update(kind)) if !self.random.one_in(4) => kind,
            _ => match self.random.below(18) {
                0..=3 => Update::Reduce,
                4 if vars.len() > 1 => Update::Neighbours,
                4 | 5 => Update::Scan,
                6..=8 => Update::Scatter,
                9 | 10 => Update::SomePoints,
                11..=14 => Update::EveryPoint,
                15 => Update::OwnElements,
                _ => Update::OwnPredicate,
            },
        };
        match kind {
            Update::EveryPoint => self.every_point(func, vars, types),
            Update::Reduce => self.reduce(func, whole, types),
            Update::Neighbours if vars.len() > 1 => self.neighbours(func, vars, types),
            Update::Scan | Update::Neighbours => self.scan(func, vars, types),
            Update::Scatter => self.scatter(func, vars, types),
            Update::SomePoints => self.some_points(func, vars, types),
            Update::OwnPredicate => self.own_update(func, vars, types, true),
            Update::OwnElements => self.own_update(func, vars, types, false),
        }
    }

    /// `f[x, y] = e`.
    fn every_point(&mut self, func: &mut Func, vars: &[Expr], types: &[ScalarType]) {
        let value = self.new_values(func, types, vars, vars.to_vec(), Vec::new());
        func[vars] = value;
    }

    /// `f[x, y] = f[x, y] op e(x, y, r)`.
    fn reduce(&mut self, func: &mut Func, scope: Scope<'_>, types: &[ScalarType]) {
        let domain = self.domain(&scope);
        let rvars: Vec<Expr> = (0..domain.dims()).map(|d| domain.dim(d).expr()).collect();
        let inner = Scope { vars: scope.vars.clone(), rvars, own: None };
        let old = func.read(&scope.vars);
        let mut values = Vec::new();
        for (element, &ty) in types.iter().enumerate() {
            let e = self.value(ty, &inner, 1);
            let op = match ty {
                Bool => self.random.pick(&[BinOp::BitXor, BinOp::BitOr, BinOp::BitAnd]),
                _ => self.random.pick(&[
                    BinOp::Add,
                    BinOp::Add,
                    BinOp::Add,
                    BinOp::Mul,
                    BinOp::Min,
                    BinOp::Max,
                    BinOp::Sub,
                ]),
            };
            values.push(dynamic::binary(op, old.at(element), e));
        }
        // Without its own variable a domain means nothing; what does not use it is an update of every point.
        func[&scope.vars] = tuple(values);
    }

    /// `f[r, y] = f[r - 1, y] op e`: each value depends on the one before, mostly by an operation that associates; up
    /// or down, and what is new may read the element that is stored to.
    fn scan(&mut self, func: &mut Func, vars: &[Expr], types: &[ScalarType]) {
        let along = self.random.below(vars.len());
        let pure: Vec<Expr> = vars.iter().enumerate().filter(|(d, _)| *d != along).map(|(_, v)| *v).collect();
        let domain = self.domain(&Scope { vars: pure.clone(), rvars: Vec::new(), own: None });
        let r = domain.x.expr();
        let at = |c: Expr| -> Vec<Expr> {
            let mut coords = vars.to_vec();
            coords[along] = c;
            coords
        };
        let falls = self.random.one_in(4);
        let place = if falls { self.random.between(-2, 6) as i32 - r } else { r };
        let back = match self.random.below(8) {
            0 => place + if falls { 2 } else { -2 },
            1 => place + if falls { -1 } else { 1 },
            _ => place + if falls { 1 } else { -1 },
        };
        let (here, before) = (at(place), func.read(at(back)));
        let own = self.random.one_in(3).then(|| func.read(at(place)));
        let scope = Scope { vars: pure, rvars: vec![r], own: None };
        let mut values = Vec::new();
        for (element, &ty) in types.iter().enumerate() {
            let (e, old) = (self.value(ty, &scope, 1), before.at(element));
            let e = own.map_or(e, |own| own.at(element));
            let op = match ty {
                Bool => self.random.pick(&[BinOp::Ne, BinOp::BitAnd, BinOp::BitOr, BinOp::BitXor]),
                _ if ty.is_float() => self.random.pick(&[BinOp::Add, BinOp::Min, BinOp::Max]),
                _ => self.random.pick(&[BinOp::Add, BinOp::Add, BinOp::Mul, BinOp::Min, BinOp::Max, BinOp::BitXor]),
            };
            values.push(match self.random.below(6) {
                0 if ty.is_float() => old * constant(&mut self.random, ty) + e,
                1 => dynamic::binary(op, e, old),
                _ => dynamic::binary(op, old, e),
            });
        }
        func[here] = tuple(values);
    }

    /// `f[r.x, r.y] = f[r.x - 1, r.y] + f[r.x, r.y + 1] * 3`, perhaps in a triangle only: some orders of the two loops
    /// keep what depends on what, some do not.
    fn neighbours(&mut self, func: &mut Func, vars: &[Expr], types: &[ScalarType]) {
        self.domains += 1;
        let first = self.random.between(-1, 2) as i32;
        let ranges = [(first, self.random.between(2, 5) as i32), (first, self.random.between(2, 5) as i32)];
        let r = RDom::named(&format!("r{}", self.domains), ranges);
        let (a, b) = (r.x.expr(), r.y.expr());
        match self.random.below(4) {
            0 => r.where_(a.le(b)),
            1 => r.where_(a.gt(b)),
            2 => r.where_((a + b).lt(first * 2 + 4)),
            _ => {}
        }
        let along = self.random.below(vars.len() - 1);
        let at = |x: Expr, y: Expr| -> Vec<Expr> {
            let mut coords = vars.to_vec();
            (coords[along], coords[along + 1]) = (x, y);
            coords
        };
        let mut steps = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            steps.push((self.random.between(-1, 1) as i32, self.random.between(-1, 1) as i32));
        }
        // A row or column that a step leaves alone is read by all of its points.
        let pivot = self.random.one_in(3).then(|| at(b, b));
        let mut values = Vec::new();
        for (element, &ty) in types.iter().enumerate() {
            let mut all = func.read(at(a, b)).at(element);
            let places = steps.iter().map(|(x, y)| at(a + *x, b + *y)).chain(pivot.clone());
            for place in places {
                let other = func.read(place).at(element);
                all = match ty {
                    Bool => all.ne(other),
                    _ => all * constant(&mut self.random, ty) + other,
                };
            }
            values.push(all);
        }
        func[at(a, b)] = tuple(values);
    }

    /// `f[data, y] = e`.
    fn scatter(&mut self, func: &mut Func, vars: &[Expr], types: &[ScalarType]) {
        let along = self.random.below(vars.len());
        let pure: Vec<Expr> = vars.iter().enumerate().filter(|(d, _)| *d != along).map(|(_, v)| *v).collect();
        let mut scope = Scope { vars: pure.clone(), rvars: Vec::new(), own: None };
        if !self.random.one_in(4) {
            let domain = self.domain(&scope);
            scope.rvars = (0..domain.dims()).map(|d| domain.dim(d).expr()).collect();
        }
        let mut lhs = vars.to_vec();
        lhs[along] = self.data_coordinate(&scope, vars.len() == 1);
        let value = self.new_values(func, types, &lhs, scope.vars, scope.rvars);
        func[lhs] = value;
    }

    /// Constant coordinates and coordinates of the domain, in any dimensions.
    fn some_points(&mut self, func: &mut Func, vars: &[Expr], types: &[ScalarType]) {
        let kinds: Vec<usize> = vars.iter().map(|_| self.random.below(4)).collect();
        let pure: Vec<Expr> = vars.iter().zip(&kinds).filter(|(_, k)| **k < 2).map(|(v, _)| *v).collect();
        let mut scope = Scope { vars: pure, rvars: Vec::new(), own: None };
        if kinds.contains(&3) || self.random.one_in(3) {
            let domain = self.domain(&scope);
            scope.rvars = (0..domain.dims()).map(|d| domain.dim(d).expr()).collect();
        }
        let mut lhs = Vec::new();
        for (&own, kind) in vars.iter().zip(&kinds) {
            lhs.push(match kind {
                0 | 1 => own,
                2 => (self.random.between(-1, 3) as i32).expr(),
                _ => {
                    let r = self.random.pick(&scope.rvars);
                    self.random.pick(&[r, r, r + 1, r * 2, 3 - r])
                }
            });
        }
        let value = self.new_values(func, types, &lhs, scope.vars, scope.rvars);
        func[lhs] = value;
    }

    /// New values for the points `lhs`, which may use the old ones.
    fn new_values(
        &mut self,
        func: &Func,
        types: &[ScalarType],
        lhs: &[Expr],
        vars: Vec<Expr>,
        rvars: Vec<Expr>,
    ) -> Expr {
        // In a dimension that stands alone on the left the Func may be read only there.
        let fixed = lhs.iter().map(|c| vars.iter().any(|v| v.is_node(*c)).then_some(*c)).collect();
        let scope = Scope { vars, rvars, own: Some(Own { func, types, fixed }) };
        let old = func.read(lhs);
        let accumulate = self.random.one_in(2);
        let mut values = Vec::new();
        for (element, &ty) in types.iter().enumerate() {
            let e = self.value(ty, &scope, 2);
            values.push(match ty {
                _ if !accumulate => e,
                Bool => old.at(element).ne(e),
                _ => old.at(element) + e,
            });
            if self.random.one_in(10) {
                // Some points, or all, stay as they are.
                let undef = dynamic::undef_of(ty);
                let all = types.len() > 1 && self.random.one_in(2);
                values[element] = if all { undef } else { select(self.condition(&scope, 1), values[element], undef) };
            }
        }
        tuple(values)
    }
}
