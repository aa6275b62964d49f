//! The two sides of products that are added at once.

use super::small::{Product, Small};
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;
use halide_ir::{BufId, Expr, ExprKind};

/// The operands of products, side by side: of those that follow the first one, each is taken the way round that is like
/// it.
pub(super) fn sides(products: &[Product]) -> [Vec<Small>; 2] {
    let mut made = [Vec::new(), Vec::new()];
    for p in products {
        let [mut a, mut b] = p.sides.clone();
        if let Some(first) = made[0].first()
            && !alike(first, &a)
            && alike(first, &b)
        {
            std::mem::swap(&mut a, &mut b);
        }
        made[0].push(a);
        made[1].push(b);
    }
    made
}

/// Returns true if operands are of one kind: of one type, and of the same buffer if they are loaded.
fn alike(a: &Small, b: &Small) -> bool {
    fn source(e: &Expr) -> Option<BufId> {
        match e.kind() {
            ExprKind::Load { buf, .. } => Some(*buf),
            ExprKind::Broadcast(one) => source(one),
            ExprKind::Shuffle(vectors, _) => source(vectors.first()?),
            _ => None,
        }
    }
    match (a, b) {
        (Small::Constant(_), Small::Constant(_)) => true,
        (Small::Lanes(a), Small::Lanes(b)) => {
            let spread = |e: &Expr| matches!(e.kind(), ExprKind::Broadcast(_));
            a.ty() == b.ty() && spread(a) == spread(b) && source(a) == source(b)
        }
        _ => false,
    }
}

/// The one type of all lanes that are no constants, which holds the constants.
pub(super) fn common(side: &[Small]) -> Option<ScalarType> {
    let mut found = None;
    for s in side {
        if let Small::Lanes(e) = s {
            let ty = e.ty().scalar();
            if found.is_some() && found != ty {
                return None;
            }
            found = ty;
        }
    }
    found.filter(|ty| constants_fit(side, *ty))
}
fn constants_fit(side: &[Small], ty: ScalarType) -> bool {
    let fits = |v: i64| Scalar::int(ty, i128::from(v)).as_i128() == i128::from(v);
    side.iter().all(|s| if let Small::Constant(v) = s { fits(*v) } else { true })
}
/// The types of sides of bytes: constants are of the sign that the other side lacks, if they can be.
pub(super) fn types(a: &[Small], b: &[Small]) -> (ScalarType, ScalarType) {
    let all_constant = |side: &[Small]| side.iter().all(|s| matches!(s, Small::Constant(_)));
    let other = |ty: ScalarType, side: &[Small]| {
        let (first, second) = if ty == U8 { (I8, U8) } else { (U8, I8) };
        if constants_fit(side, first) { first } else { second }
    };
    let of = |side: &[Small]| common(side).unwrap_or(I8);
    match (all_constant(a), all_constant(b)) {
        (true, false) => (other(of(b), a), of(b)),
        (false, true) => (of(a), other(of(a), b)),
        _ => (of(a), of(b)),
    }
}

/// Returns true if the operands of a product have at most so many bits.
pub(super) fn has_bits(product: &Product, bits: u32) -> bool {
    product.sides.iter().all(|side| match side {
        Small::Lanes(e) => e.ty().scalar().is_some_and(|ty| ty.bits() <= bits),
        Small::Constant(v) => bits > 8 || (-128..256).contains(v),
    })
}

/// Returns true if each side of products has one type of so many bits. Sides of bytes may lie in 16 bits together,
/// whatever their signs.
pub(super) fn fits(products: &[Product], bits: u32) -> bool {
    bits > 8
        || sides(products).iter().all(|side| match common(side) {
            Some(ty) => ty.bits() == bits,
            None => {
                let all_constant = side.iter().all(|s| matches!(s, Small::Constant(_)));
                all_constant && (constants_fit(side, I8) || constants_fit(side, U8))
            }
        })
}
