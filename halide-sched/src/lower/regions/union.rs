//! Regions as boxes, and their unions.

use halide_core::ops::BinOp;
use halide_ir::{Expr, build};
use halide_solve::simplify::{Facts, extreme_of_many, is_long_extreme, simplify};

/// A box: first and last coordinate per dimension.
pub(crate) type Region = Vec<(Expr, Expr)>;

/// The smallest box that holds both.
pub(crate) fn union(facts: &Facts, a: Region, b: Region) -> Region {
    a.into_iter()
        .zip(b)
        .map(|((a_min, a_max), (b_min, b_max))| {
            (simplify(&build::min(a_min, b_min), facts), simplify(&build::max(a_max, b_max), facts))
        })
        .collect()
}

/// The union of any number of boxes, added one by one. Two are joined as they come; what becomes a minimum of many is
/// put aside and joined in the end, since adding to it would take all of it apart each time.
#[derive(Default)]
pub(crate) struct Union {
    dims: Option<Vec<(Ends, Ends)>>,
}

/// One edge of a union: what is put aside, and what grows.
struct Ends {
    op: BinOp,
    aside: Vec<Expr>,
    open: Expr,
}

impl Ends {
    fn add(&mut self, facts: &Facts, next: Expr) {
        let both = simplify(&build::binary(self.op, self.open.clone(), next.clone()), facts);
        self.open = match is_long_extreme(self.op, &both) {
            true => {
                self.aside.push(std::mem::replace(&mut self.open, next.clone()));
                next
            }
            false => both,
        };
    }
    fn finish(mut self, facts: &Facts) -> Expr {
        if self.aside.is_empty() {
            return self.open;
        }
        self.aside.push(self.open);
        extreme_of_many(self.op, &self.aside, facts)
    }
}

impl Union {
    /// With one box more.
    pub(crate) fn add(&mut self, facts: &Facts, region: Region) {
        let ends = |op, open| Ends { op, aside: Vec::new(), open };
        let Some(dims) = &mut self.dims else {
            self.dims = Some(region.into_iter().map(|(a, b)| (ends(BinOp::Min, a), ends(BinOp::Max, b))).collect());
            return;
        };
        for ((min, max), (a, b)) in dims.iter_mut().zip(region) {
            min.add(facts, a);
            max.add(facts, b);
        }
    }
    /// The smallest box that holds all; `None` of none.
    pub(crate) fn region(self, facts: &Facts) -> Option<Region> {
        Some(self.dims?.into_iter().map(|(a, b)| (a.finish(facts), b.finish(facts))).collect())
    }
}
