//! Ranges of floats that become coordinates.

use halide_backend::FloatRange;
use halide_core::ids::ParamId;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::hash::Map;
use halide_ir::{Expr, Sym};

/// Ranges of floats that are known.
#[derive(Default)]
pub(super) struct Known {
    pub(super) symbols: Map<Sym, FloatRange>,
    pub(super) params: Map<ParamId, FloatRange>,
    /// Each symbol is bound once in a program, so an expression means the same everywhere.
    pub(super) made: Map<Expr, FloatRange>,
}

impl Known {
    /// Binds a symbol to a scalar of a dispatch.
    pub(super) fn bind(&mut self, symbol: Sym, ty: ScalarType, bits: u64) {
        if ty.is_float() {
            self.symbols.insert(symbol, FloatRange::point(Scalar::from_bits(ty, bits).as_f64()));
        }
    }

    /// Gives a parameter its value.
    pub(super) fn give(&mut self, id: ParamId, ty: ScalarType, bits: u64) {
        if ty.is_float() {
            self.params.insert(id, FloatRange::point(Scalar::from_bits(ty, bits).as_f64()));
        }
    }
}
