//! The operators that algorithms and loop IR share. Their exact meaning is in [`crate::value`], once.

/// One-operand operators. The result has the operand's type unless said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum UnOp {
    /// `-a`; wraps, also on unsigned integers.
    Neg,
    /// `!a`: logical on `Bool`, bitwise on integers.
    Not,
    /// `|a|`; a signed integer gives the unsigned type of its width.
    Abs,
    /// Number of one bits.
    Popcount,
    /// Number of leading zero bits; the width for 0.
    Clz,
    /// Number of trailing zero bits; the width for 0.
    Ctz,
    /// Round down.
    Floor,
    /// Round up.
    Ceil,
    /// Round to nearest, ties to even.
    Round,
    /// Round towards zero.
    Trunc,
    /// IEEE square root.
    Sqrt,
    /// `Bool`: is it a NaN.
    IsNan,
    /// `Bool`: is it an infinity.
    IsInf,
    /// `Bool`: is it neither NaN nor infinite.
    IsFinite,
}

impl UnOp {
    /// The spelling: `-`, `!`, or the function's name.
    pub fn name(self) -> &'static str {
        match self {
            UnOp::Neg => "-",
            UnOp::Not => "!",
            UnOp::Abs => "abs",
            UnOp::Popcount => "popcount",
            UnOp::Clz => "clz",
            UnOp::Ctz => "ctz",
            UnOp::Floor => "floor",
            UnOp::Ceil => "ceil",
            UnOp::Round => "round",
            UnOp::Trunc => "trunc",
            UnOp::Sqrt => "sqrt",
            UnOp::IsNan => "is_nan",
            UnOp::IsInf => "is_inf",
            UnOp::IsFinite => "is_finite",
        }
    }
}

/// Two-operand operators. Both operands have one type, which is the result's unless said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BinOp {
    /// Sum; integers wrap.
    Add,
    /// Difference; integers wrap.
    Sub,
    /// Product; integers wrap.
    Mul,
    /// Euclidean on integers (0 <= a % b < |b|), x / 0 = 0, MIN / -1 = MIN; IEEE on floats.
    Div,
    /// Euclidean remainder on integers, x % 0 = 0; `a - b * floor(a / b)` on floats.
    Mod,
    /// Quotient rounded to zero on integers; x / 0 = 0, MIN / -1 = MIN.
    DivToZero,
    /// Remainder of the quotient rounded to zero; x % 0 = 0.
    ModToZero,
    /// Smaller; a NaN loses.
    Min,
    /// Larger; a NaN loses.
    Max,
    /// Bitwise and; logical on `Bool`.
    BitAnd,
    /// Bitwise or; logical on `Bool`.
    BitOr,
    /// Bitwise exclusive or; logical on `Bool`.
    BitXor,
    /// Shift left. The amount has the signed integer type of the left operand's width; negative reverses; width or more
    /// gives 0.
    Shl,
    /// Shift right, arithmetic on signed. Amount as for `Shl`; width or more gives 0, or the sign.
    Shr,
    /// `|a - b|` exactly; signed integers give the unsigned type of their width.
    Absd,
    /// `Bool`: equal.
    Eq,
    /// `Bool`: not equal.
    Ne,
    /// `Bool`: less.
    Lt,
    /// `Bool`: less or equal.
    Le,
    /// `Bool`: greater.
    Gt,
    /// `Bool`: greater or equal.
    Ge,
}

impl BinOp {
    /// The spelling: a symbol between operands, or the function's name.
    pub fn name(self) -> &'static str {
        match self {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::Div => "/",
            BinOp::Mod => "%",
            BinOp::DivToZero => "div_round_to_zero",
            BinOp::ModToZero => "mod_round_to_zero",
            BinOp::Min => "min",
            BinOp::Max => "max",
            BinOp::BitAnd => "&",
            BinOp::BitOr => "|",
            BinOp::BitXor => "^",
            BinOp::Shl => "<<",
            BinOp::Shr => ">>",
            BinOp::Absd => "absd",
            BinOp::Eq => "==",
            BinOp::Ne => "!=",
            BinOp::Lt => "<",
            BinOp::Le => "<=",
            BinOp::Gt => ">",
            BinOp::Ge => ">=",
        }
    }
    /// Returns true if the result is `Bool` whatever the operands.
    pub fn is_comparison(self) -> bool {
        matches!(self, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge)
    }
}

/// The functions and their names, each once.
macro_rules! math_functions {
    ($($variant:ident $name:literal,)*) => {
        /// Transcendental functions of floats; one or two operands, all of the result's type.
        /// The `Fast` forms may be less exact but are as deterministic: every engine gives the same bits.
        ///
        /// `Fma` is `a * b + c`, rounded once. `MulAdd` is that where the machine does it in one instruction, and
        /// rounded twice where not: lowering makes it of products and sums in stages under `float(contract)` or
        /// `float(relaxed)`.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(missing_docs)] // The names are the documentation.
        pub enum MathFn {
            $($variant,)*
        }

        impl MathFn {
            /// Every function, in declaration order.
            pub const ALL: [MathFn; [$($name),*].len()] = [$(MathFn::$variant),*];
            /// The function's name.
            pub fn name(self) -> &'static str {
                match self {
                    $(MathFn::$variant => $name,)*
                }
            }
        }
    };
}

math_functions! {
    Exp "exp",
    Log "log",
    Pow "pow",
    Sin "sin",
    Cos "cos",
    Tan "tan",
    Asin "asin",
    Acos "acos",
    Atan "atan",
    Atan2 "atan2",
    Sinh "sinh",
    Cosh "cosh",
    Tanh "tanh",
    Asinh "asinh",
    Acosh "acosh",
    Atanh "atanh",
    Hypot "hypot",
    Erf "erf",
    FastExp "fast_exp",
    FastLog "fast_log",
    FastPow "fast_pow",
    FastSin "fast_sin",
    FastCos "fast_cos",
    FastInverse "fast_inverse",
    FastInverseSqrt "fast_inverse_sqrt",
    Fma "fma",
    MulAdd "mul_add",
}

impl MathFn {
    /// The number of operands: 1 to 3.
    pub fn arity(self) -> usize {
        match self {
            MathFn::Fma | MathFn::MulAdd => 3,
            MathFn::Pow | MathFn::Atan2 | MathFn::Hypot | MathFn::FastPow => 2,
            _ => 1,
        }
    }
}
