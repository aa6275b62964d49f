//! Remainders of Index values modulo 4, as far as they are known: the position of a small element in its word.

use halide_core::ops::BinOp;
use halide_ir::hash::Map;
use halide_ir::{Expr, ExprKind, Sym, visit};

/// The value is `rest` modulo `modulus`, which is 1, 2 or 4.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Residue {
    modulus: u32,
    rest: u32,
}

impl Residue {
    /// Nothing is known.
    pub(super) const ANY: Residue = Residue { modulus: 1, rest: 0 };

    fn new(modulus: u32, rest: u32) -> Residue {
        Residue { modulus, rest: rest % modulus }
    }
    /// A multiple of 1, 2 or 4.
    pub(super) fn multiple_of(modulus: u32) -> Residue {
        Residue::new(modulus, 0)
    }
    fn of_value(value: i64) -> Residue {
        Residue::new(4, value.rem_euclid(4) as u32)
    }
    /// The remainder modulo `n` (1, 2 or 4), if it is known.
    pub(super) fn modulo(self, n: u32) -> Option<u32> {
        self.modulus.is_multiple_of(n).then_some(self.rest % n)
    }
    fn add(self, other: Residue) -> Residue {
        Residue::new(self.modulus.min(other.modulus), self.rest + other.rest)
    }
    fn negate(self) -> Residue {
        Residue::new(self.modulus, self.modulus - self.rest)
    }
    /// (m k + r)(n l + s) = m n k l + m s k + n r l + r s.
    fn mul(self, other: Residue) -> Residue {
        let power = |n: u32| 1 << n.trailing_zeros().min(2);
        let terms = [self.modulus * other.modulus, self.modulus * other.rest, other.modulus * self.rest];
        let modulus = terms.into_iter().map(power).min().unwrap_or(1);
        Residue::new(modulus, self.rest * other.rest)
    }
    /// Either of two values.
    fn or(self, other: Residue) -> Residue {
        let both = self.modulus.min(other.modulus);
        let agreed = [4, 2, 1].into_iter().find(|&n| n <= both && self.rest % n == other.rest % n);
        Residue::new(agreed.unwrap_or(1), self.rest)
    }
}

/// The residue of a scalar Index expression, from those of symbols.
pub(super) fn residue(e: &Expr, symbols: &Map<Sym, Residue>) -> Residue {
    let of = |e: &Expr| visit::deep(|| residue(e, symbols));
    match e.kind() {
        ExprKind::Int(v) => Residue::of_value(*v),
        ExprKind::Sym(s) => symbols.get(s).copied().unwrap_or(Residue::ANY),
        ExprKind::Likely(a) | ExprKind::Broadcast(a) => of(a),
        ExprKind::Binary(BinOp::Add, a, b) => of(a).add(of(b)),
        ExprKind::Binary(BinOp::Sub, a, b) => of(a).add(of(b).negate()),
        ExprKind::Binary(BinOp::Mul, a, b) => of(a).mul(of(b)),
        ExprKind::Binary(BinOp::Min | BinOp::Max, a, b) | ExprKind::Select(_, a, b) => of(a).or(of(b)),
        _ => Residue::ANY,
    }
}
