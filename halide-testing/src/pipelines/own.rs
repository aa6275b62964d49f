//! Random updates that read the Func itself: in the predicates of their domains, and elements of a tuple each other.

use super::constant::constant;
use super::draw::{Draw, Own, Scope};
use super::value::operate;
use halide_core::expr::*;
use halide_core::func::Func;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::{self, *};

impl Draw {
    /// `f[x, r] = {f[x, r].at(1) + e, f[x, r].at(0)}`, with `predicate` only where `f[x, r]` is this or that.
    pub(super) fn own_update(&mut self, func: &mut Func, vars: &[Expr], types: &[ScalarType], predicate: bool) {
        let kinds: Vec<usize> = vars.iter().map(|_| self.random.below(7).saturating_sub(1)).collect();
        let pure: Vec<Expr> = vars.iter().zip(&kinds).filter(|(_, k)| **k < 4).map(|(v, _)| *v).collect();
        let domain = self.domain(&Scope { vars: pure.clone(), rvars: Vec::new(), own: None });
        let rvars: Vec<Expr> = (0..domain.dims()).map(|d| domain.dim(d).expr()).collect();
        let mut lhs = Vec::new();
        for (&own, kind) in vars.iter().zip(&kinds) {
            lhs.push(match kind {
                0..=3 => own,
                4 => (self.random.between(-1, 3) as i32).expr(),
                _ => {
                    let r = self.random.pick(&rvars);
                    self.random.pick(&[r, r, r + 1])
                }
            });
        }
        let fixed = lhs.iter().map(|c| pure.iter().any(|v| v.is_node(*c)).then_some(*c)).collect();
        let scope = Scope { vars: pure, rvars: rvars.clone(), own: Some(Own { func, types, fixed }) };
        let old = func.read(&lhs);
        for _ in 0..usize::from(predicate) * (1 + self.random.below(2)) {
            let condition = self.own_condition(&scope, old, types);
            domain.where_(condition);
        }
        let mut values = Vec::new();
        for (element, &ty) in types.iter().enumerate() {
            let other = cast_to(ty, old.at((element + self.random.below(2)) % types.len()));
            let value = self.value(ty, &scope, 1);
            let value = match (self.random.below(4), ty) {
                (0, _) => value,
                (1, _) => other,
                (_, Bool) => other.ne(value),
                _ => other + value,
            };
            // A domain means nothing to what does not use it.
            let r = self.random.pick(&rvars);
            values.push(match ty {
                _ if element > 0 => value,
                Bool => value.ne(r.eq(1)),
                _ => value + cast_to(ty, r),
            });
        }
        func[lhs] = tuple(values);
    }

    /// A condition on what the Func holds, here or in another place.
    fn own_condition(&mut self, scope: &Scope<'_>, old: Expr, types: &[ScalarType]) -> Expr {
        let element = self.random.below(types.len());
        let ty = types[element];
        let held = if self.random.one_in(4) { self.own_value(ty, scope) } else { old.at(element) };
        let condition = match ty {
            Bool => held,
            _ if ty.is_int() && self.random.one_in(3) => (held % 2).eq(0),
            _ => {
                let op = self.random.pick(&[BinOp::Lt, BinOp::Le, BinOp::Gt, BinOp::Ne]);
                operate(op, held, constant(&mut self.random, ty))
            }
        };
        match self.random.below(4) {
            0 => !condition,
            1 => {
                let other = self.condition(scope, 0);
                if self.random.one_in(2) { condition.and(other) } else { condition.or(other) }
            }
            _ => condition,
        }
    }
}
