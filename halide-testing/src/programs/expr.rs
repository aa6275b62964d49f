//! Random expressions.

use super::vocabulary::{BufferWord, Random, Vocabulary};
use halide_core::ops::{BinOp, MathFn, UnOp};
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;
use halide_ir::build::*;
use halide_ir::{Elem, Expr, Intrinsic, Type};

/// A random expression of type `ty` with about `size` operations. Some parts are shared.
pub fn expr(random: &mut Random, words: &Vocabulary, ty: Type, size: u32) -> Expr {
    Gen { random, words, pool: Vec::new() }.any(ty, size)
}

/// Arithmetic that Index has.
const INDEX_OPS: [BinOp; 7] = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Div, BinOp::Mod, BinOp::Min, BinOp::Max];
const COMPARISONS: [BinOp; 6] = [BinOp::Eq, BinOp::Ne, BinOp::Lt, BinOp::Le, BinOp::Gt, BinOp::Ge];
const BITWISE: [BinOp; 3] = [BinOp::BitAnd, BinOp::BitOr, BinOp::BitXor];

struct Gen<'a> {
    random: &'a mut Random,
    words: &'a Vocabulary,
    /// Earlier expressions, to share.
    pool: Vec<Expr>,
}

impl Gen<'_> {
    fn any(&mut self, ty: Type, size: u32) -> Expr {
        if size > 0 && self.random.one_in(8) {
            let fitting: Vec<&Expr> = self.pool.iter().filter(|e| e.ty() == ty).collect();
            if !fitting.is_empty() {
                return (*self.random.pick(&fitting)).clone();
            }
        }
        let e = match ty.elem {
            _ if size == 0 => self.leaf(ty),
            _ if ty.lanes > 1 && self.random.one_in(4) => self.vector(ty, size - 1),
            _ if self.random.one_in(12) => likely(self.any(ty, size - 1)),
            _ if self.random.one_in(10) => {
                let part = size / 3;
                select(self.any(bools(ty), part), self.any(ty, part), self.any(ty, part))
            }
            Elem::Index => self.index(ty, size - 1),
            Elem::Data(Bool) => self.truth(ty, size - 1),
            Elem::Data(t) if t.is_float() => self.float(t, ty, size - 1),
            Elem::Data(t) => self.integer(t, ty, size - 1),
        };
        debug_assert_eq!(e.ty(), ty);
        if self.pool.len() < 50 {
            self.pool.push(e.clone());
        }
        e
    }

    fn leaf(&mut self, ty: Type) -> Expr {
        let fits = |t: Type| t == ty || t == ty.with_lanes(1);
        let symbols: Vec<_> = self.words.symbols.iter().filter(|(_, t)| fits(*t)).collect();
        let params: Vec<_> = self.words.params.iter().filter(|(_, t)| Some(*t) == ty.scalar()).collect();
        let e = match self.random.below(3) {
            0 | 1 if !symbols.is_empty() => {
                let (s, t) = **self.random.pick(&symbols);
                typed_sym(s, t)
            }
            2 if !params.is_empty() => {
                let (id, t) = **self.random.pick(&params);
                param(id, t)
            }
            _ => self.constant_of(ty.elem),
        };
        broadcast(e, ty.lanes)
    }

    fn constant_of(&mut self, elem: Elem) -> Expr {
        let r = &mut *self.random;
        match elem {
            Elem::Index => int(match r.below(12) {
                0 => r.between(-(1 << 31), 1 << 31),
                1 => 1 << r.below(16),
                _ => r.between(-6, 17),
            }),
            Elem::Data(t) => constant(match r.below(6) {
                0 => Scalar::from_bits(t, r.bits()),
                1 => Scalar::highest(t),
                2 => Scalar::lowest(t),
                3 if t.is_float() => {
                    *r.pick(&[Scalar::float(t, -0.0), Scalar::float(t, f64::NAN), Scalar::float(t, 0.5)])
                }
                _ => Scalar::int(t, r.between(-3, 9) as i128),
            }),
        }
    }

    /// Lanes made of other lanes.
    fn vector(&mut self, ty: Type, size: u32) -> Expr {
        match self.random.below(3) {
            0 if ty.is_index() => ramp(self.any(Type::INDEX, size / 2), self.any(Type::INDEX, size / 2), ty.lanes),
            1 => {
                let count = 1 + self.random.below(2);
                let mut vectors = Vec::new();
                for _ in 0..count {
                    let lanes = *self.random.pick(&[1, 2, ty.lanes]);
                    vectors.push(self.any(ty.with_lanes(lanes), size / count as u32));
                }
                let total: usize = vectors.iter().map(|v| v.lanes() as usize).sum();
                let lanes = (0..ty.lanes).map(|_| self.random.below(total) as u16).collect();
                shuffle(vectors, lanes)
            }
            _ => broadcast(self.any(ty.with_lanes(1), size), ty.lanes),
        }
    }

    fn pair(&mut self, op: BinOp, ty: Type, size: u32) -> Expr {
        binary(op, self.any(ty, size / 2), self.any(ty, size / 2))
    }

    fn index(&mut self, ty: Type, size: u32) -> Expr {
        match self.random.below(10) {
            0 => unary(UnOp::Neg, self.any(ty, size)),
            1 => {
                let t = *self.random.pick(&[I8, I16, I32, I64, U8, U16, U32]);
                to_index(self.any(ty.with_elem(Elem::Data(t)), size))
            }
            2 | 3 => {
                let op = *self.random.pick(&[BinOp::Mul, BinOp::Div, BinOp::Mod]);
                let factor = int(self.random.between(-4, 9));
                binary(op, self.any(ty, size), factor)
            }
            _ => {
                let op = *self.random.pick(&INDEX_OPS);
                self.pair(op, ty, size)
            }
        }
    }

    fn truth(&mut self, ty: Type, size: u32) -> Expr {
        let data = *self.random.pick(&ScalarType::ALL);
        let elem = if self.random.one_in(2) { Elem::Index } else { Elem::Data(data) };
        match self.random.below(9) {
            0 => not(self.any(ty, size)),
            1 | 2 => {
                let op = *self.random.pick(&BITWISE);
                self.pair(op, ty, size)
            }
            3 if data.is_float() => self.fraction_truth(data, ty, size),
            3 => cast_data(Bool, self.any(ty.with_elem(elem), size)),
            4 => {
                let t = *self.random.pick(&[F16, BF16, F32, F64]);
                let op = *self.random.pick(&[UnOp::IsNan, UnOp::IsInf, UnOp::IsFinite]);
                unary(op, self.any(ty.with_elem(Elem::Data(t)), size))
            }
            5 => self.element(Bool, ty, size),
            _ => {
                let op = *self.random.pick(&COMPARISONS);
                self.pair(op, ty.with_elem(elem), size)
            }
        }
    }

    /// Generates the truth of a float that is known to be near zero: it truncates to zero, and is true.
    fn fraction_truth(&mut self, t: ScalarType, ty: Type, size: u32) -> Expr {
        let mut limit = |low, high| constant(Scalar::float(t, self.random.between(low, high) as f64 / 4.0));
        let (low, high) = (limit(-6, 3), limit(-3, 6));
        cast_data(Bool, max(min(self.any(ty.with_elem(Elem::Data(t)), size), high), low))
    }

    /// Generates a conversion or an element of a buffer, which every data type has.
    fn converted(&mut self, t: ScalarType, ty: Type, size: u32) -> Expr {
        let other = *self.random.pick(&ScalarType::ALL);
        let from = ty.with_elem(Elem::Data(other));
        match self.random.below(5) {
            0 => cast_data(t, self.any(from, size)),
            1 => cast_data(t, self.any(ty.with_elem(Elem::Index), size)),
            2 => saturating_cast(t, self.any(from, size)),
            3 => {
                let same: Vec<_> = ScalarType::ALL.into_iter().filter(|u| u.bits() == t.bits()).collect();
                let other = *self.random.pick(&same);
                reinterpret(t, self.any(ty.with_elem(Elem::Data(other)), size))
            }
            _ => self.element(t, ty, size),
        }
    }

    fn float(&mut self, t: ScalarType, ty: Type, size: u32) -> Expr {
        use BinOp::*;
        match self.random.below(8) {
            0 | 1 => self.converted(t, ty, size),
            2 => {
                let f = *self.random.pick(&MathFn::ALL);
                let args = (0..f.arity()).map(|_| self.any(ty, size / 2)).collect();
                math(f, args)
            }
            3 => {
                let rounding = [UnOp::Floor, UnOp::Ceil, UnOp::Round, UnOp::Trunc, UnOp::Sqrt];
                unary(*self.random.pick(&rounding), self.any(ty, size))
            }
            4 => unary(*self.random.pick(&[UnOp::Neg, UnOp::Abs]), self.any(ty, size)),
            _ => {
                let op = *self.random.pick(&[Add, Sub, Mul, Div, Mod, Min, Max, Absd]);
                self.pair(op, ty, size)
            }
        }
    }

    fn integer(&mut self, t: ScalarType, ty: Type, size: u32) -> Expr {
        use BinOp::*;
        let signed = ty.with_elem(Elem::Data(ScalarType::signed(t.bits())));
        match self.random.below(12) {
            0..=2 => self.converted(t, ty, size),
            3 => {
                let op = *self.random.pick(&[Shl, Shr]);
                binary(op, self.any(ty, size / 2), self.any(signed, size / 2))
            }
            4 => unary(*self.random.pick(&[UnOp::Neg, UnOp::Not]), self.any(ty, size)),
            5 => unary(*self.random.pick(&[UnOp::Popcount, UnOp::Clz, UnOp::Ctz]), self.any(ty, size)),
            6 if t.is_unsigned_int() => unary(UnOp::Abs, self.any(signed, size)),
            7 if t.is_unsigned_int() => {
                let from = *self.random.pick(&[ty, signed]);
                self.pair(Absd, from, size)
            }
            8 if t.bits() > 8 => {
                let half = t.bits() / 2;
                let half = if t.is_signed_int() { ScalarType::signed(half) } else { ScalarType::unsigned(half) };
                self.idiom(Intrinsic::WideningMul, ty.with_elem(Elem::Data(half)), size)
            }
            9 => {
                use Intrinsic::*;
                let ops = [SaturatingAdd, SaturatingSub, HalvingAdd, RoundingHalvingAdd, MulHigh];
                let rounded = t == ScalarType::I16 && self.random.one_in(4);
                let op = if rounded { MulRounded } else { *self.random.pick(&ops) };
                self.idiom(op, ty, size)
            }
            10 if size > 3 && self.random.one_in(4) => {
                // Whether a product has to be clamped depends on what is known of the truth.
                let of = *self.random.pick(&[F16, BF16, F32, F64]);
                let truth = cast_data(I32, self.fraction_truth(of, ty, size - 3));
                saturating_cast(t, mul(truth, constant(Scalar::int(I32, self.random.between(-1000, 1000) as i128))))
            }
            _ => {
                let ops = [Add, Sub, Mul, Div, Mod, DivToZero, ModToZero, Min, Max, BitAnd, BitOr, BitXor];
                let op = *self.random.pick(&ops);
                self.pair(op, ty, size)
            }
        }
    }

    fn idiom(&mut self, op: Intrinsic, ty: Type, size: u32) -> Expr {
        intrinsic(op, vec![self.any(ty, size / 2), self.any(ty, size / 2)])
    }

    /// An element of a buffer of this type, if there is one.
    fn element(&mut self, t: ScalarType, ty: Type, size: u32) -> Expr {
        let fitting: Vec<BufferWord> = self.words.buffers.iter().copied().filter(|b| b.elem == t).collect();
        if fitting.is_empty() {
            return self.leaf(ty);
        }
        let word = *self.random.pick(&fitting);
        let index = ty.with_elem(Elem::Index);
        let inside = |g: &mut Self| {
            let e = g.any(index, size / 2);
            min(max(e, int(0)), int(word.extent - 1))
        };
        if self.words.linear {
            let at = inside(self);
            let mask = if self.random.one_in(3) { Some(self.any(bools(ty), size / 2)) } else { None };
            return load(word.buf, t, at, mask);
        }
        let args: Vec<Expr> = (0..word.dims).map(|_| inside(self)).collect();
        broadcast(read(word.buf, t, args), ty.lanes)
    }
}

/// `Bool` in the lanes of `ty`.
fn bools(ty: Type) -> Type {
    Type::BOOL.with_lanes(ty.lanes)
}
