//! The two 16-bit floats. They convert exactly to f32 and round to nearest even once on the way back.

use std::cmp::Ordering;
use std::fmt;

/// The layout of a 16-bit float: a sign, an exponent, `mantissa` stored bits.
struct Format {
    mantissa: u32,
    /// The exponent of the last bit of a subnormal number.
    min_exponent: i32,
    /// The bits of infinity.
    infinity: u16,
}

const BINARY16: Format = Format { mantissa: 10, min_exponent: -24, infinity: 0x7c00 };
const BFLOAT16: Format = Format { mantissa: 7, min_exponent: -133, infinity: 0x7f80 };

macro_rules! half_float {
    ($(#[$doc:meta])* $name:ident, $format:expr) => {
        $(#[$doc])*
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name(u16);

        impl $name {
            /// The float with these bits.
            pub const fn from_bits(bits: u16) -> $name {
                $name(bits)
            }
            /// Its bits.
            pub const fn to_bits(self) -> u16 {
                self.0
            }
            /// Rounds to nearest even; too large gives infinity.
            pub fn from_f32(value: f32) -> $name {
                $name(narrow(&$format, value as f64))
            }
            /// Rounds to nearest even, once; too large gives infinity.
            pub fn from_f64(value: f64) -> $name {
                $name(narrow(&$format, value))
            }
            /// Its value, exactly.
            pub fn to_f32(self) -> f32 {
                widen(&$format, self.0) as f32
            }
            /// Its value, exactly.
            pub fn to_f64(self) -> f64 {
                widen(&$format, self.0)
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &$name) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &$name) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.to_f32().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }
    };
}

half_float! {
    /// IEEE binary16. Comparison is IEEE's.
    f16, BINARY16
}
half_float! {
    /// bfloat16: the upper half of an f32. Comparison is IEEE's.
    bf16, BFLOAT16
}

/// Rounds an f64 to nearest even, directly, so that there is no second rounding.
fn narrow(format: &Format, value: f64) -> u16 {
    let sign = (value.is_sign_negative() as u16) << 15;
    if value.is_nan() {
        return sign | format.infinity | (1 << (format.mantissa - 1));
    }
    let bits = value.abs().to_bits();
    let (field, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    if field == 0x7ff {
        return sign | format.infinity;
    }
    // The value is `significand * 2^exponent`; an f64 subnormal is far below half of the smallest result.
    let significand = if field == 0 { 0 } else { fraction | (1 << 52) };
    let exponent = field - 1075;
    let last = (exponent + 52 - format.mantissa as i32).max(format.min_exponent);
    let shift = (last - exponent).min(60) as u32;
    let (kept, rest, half) = (significand >> shift, significand & ((1 << shift) - 1), 1u64 << (shift - 1));
    let rounded = kept + (rest > half || (rest == half && kept & 1 == 1)) as u64;
    // The hidden bit of `rounded` adds one to the exponent field, and so does a carry out of it.
    let encoded = (((last - format.min_exponent) as u64) << format.mantissa) + rounded;
    sign | encoded.min(format.infinity as u64) as u16
}

/// The exact value.
fn widen(format: &Format, bits: u16) -> f64 {
    let magnitude = bits & 0x7fff;
    let (field, fraction) = ((magnitude >> format.mantissa) as i32, magnitude & ((1 << format.mantissa) - 1));
    let value = if magnitude > format.infinity {
        f64::NAN
    } else if magnitude == format.infinity {
        f64::INFINITY
    } else if field == 0 {
        fraction as f64 * power_of_two(format.min_exponent)
    } else {
        (fraction | (1 << format.mantissa)) as f64 * power_of_two(field - 1 + format.min_exponent)
    };
    if bits & 0x8000 != 0 { -value } else { value }
}

/// 2^exponent for the exponents of normal f64 values.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
