//! A match over all element types.

/// Evaluates `$body` with `$t` as the Rust type of the scalar type `$ty`.
macro_rules! with_element {
    ($ty:expr, $t:ident => $body:expr) => {
        match $ty {
            $crate::types::ScalarType::Bool => {
                type $t = bool;
                $body
            }
            $crate::types::ScalarType::I8 => {
                type $t = i8;
                $body
            }
            $crate::types::ScalarType::I16 => {
                type $t = i16;
                $body
            }
            $crate::types::ScalarType::I32 => {
                type $t = i32;
                $body
            }
            $crate::types::ScalarType::I64 => {
                type $t = i64;
                $body
            }
            $crate::types::ScalarType::U8 => {
                type $t = u8;
                $body
            }
            $crate::types::ScalarType::U16 => {
                type $t = u16;
                $body
            }
            $crate::types::ScalarType::U32 => {
                type $t = u32;
                $body
            }
            $crate::types::ScalarType::U64 => {
                type $t = u64;
                $body
            }
            $crate::types::ScalarType::F16 => {
                type $t = $crate::value::f16;
                $body
            }
            $crate::types::ScalarType::BF16 => {
                type $t = $crate::value::bf16;
                $body
            }
            $crate::types::ScalarType::F32 => {
                type $t = f32;
                $body
            }
            $crate::types::ScalarType::F64 => {
                type $t = f64;
                $body
            }
        }
    };
}
pub(super) use with_element;
