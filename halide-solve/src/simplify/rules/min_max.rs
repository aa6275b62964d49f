//! Minima and maxima of integers. Those of floats depend on the order of NaNs and zeros, and stay.

use super::*;

pub(super) const RULES: &[Rule] = rules! {
    Int "min of x that is smaller": (x min y) => x if |m| below(m.x(), m.y());
    Int "max of y that is larger": (x max y) => y if |m| below(m.x(), m.y());
    Int "(x min c) min d": ((x min c) min d) => (x min (c min d));
    Int "(x max c) max d": ((x max c) max d) => (x max (c max d));
    Int "(x max c) min d, crossed": ((x max c) min d) => d if |m| m.c() >= m.d();
    Int "(x min c) max d, crossed": ((x min c) max d) => d if |m| m.c() <= m.d();
    Int "max outside of min": ((x max c) min d) => ((x min d) max c) if |m| m.c() < m.d();
    Int "x min (x max y)": (x min (x max y)) => x;
    Int "x max (x min y)": (x max (x min y)) => x;
    Int "x min (x min y)": (x min (x min y)) => (x min y);
    Int "x max (x max y)": (x max (x max y)) => (x max y);
    Int "(x min y) max (x min z)": ((x min y) max (x min z)) => (x min (y max z));
    Int "(x max y) min (x max z)": ((x max y) min (x max z)) => (x max (y min z));
    Int "(x min y) min (x min z)": ((x min y) min (x min z)) => ((x min y) min z);
    Int "(x max y) max (x max z)": ((x max y) max (x max z)) => ((x max y) max z);
    Int "(x min c) min y": ((x min c) min y) => ((x min y) min c) if |m| as_const(&name(m, 1)).is_none();
    Int "(x max c) max y": ((x max c) max y) => ((x max y) max c) if |m| as_const(&name(m, 1)).is_none();
};

/// Returns true if every value of `a` is at most every value of `b`.
fn below(a: Range, b: Range) -> bool {
    matches!((a.max(), b.min()), (Some(most), Some(least)) if most <= least)
}

fn name(m: &Match, i: usize) -> Expr {
    m.any[i].cloned().expect("the left side has the name")
}
