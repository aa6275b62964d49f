//! An instruction in a contraction: the loops that are its axes, and what it costs.

use super::contraction::Contraction;
use crate::attempt::Unsuited;
use halide_sched::plan::Mapping;
use halide_sched::schedule::{Extents, Instruction, LoopKind};

/// A mapping with its loops.
#[derive(Clone, Debug)]
pub(super) struct Needle {
    pub(super) mapping: Mapping,
    /// The loop of each axis.
    pub(super) axes: Vec<usize>,
    /// The loop that runs in vectors.
    pub(super) vector: usize,
    /// The results of a vector.
    pub(super) lanes: i64,
    /// The registers of a vector.
    pub(super) registers: f64,
    /// Loops of a given number of iterations.
    pub(super) fixed: Vec<(usize, i64)>,
    /// Operands that must be dense, each with the loop along which.
    pub(super) dense: Vec<(String, usize)>,
    /// Cycles of one instruction on a vector.
    pub(super) cycles: f64,
    /// The treatment of floats that it needs.
    pub(super) float: halide_sched::schedule::FloatMode,
}

impl Needle {
    /// Finds the loops of a mapping. `lanes` is the number of results of the target's vectors.
    pub(super) fn new(
        contraction: &Contraction,
        instruction: &Instruction,
        mapping: &Mapping,
        lanes: i64,
        cycles: f64,
    ) -> Result<Needle, Unsuited> {
        if instruction.is_call() {
            return Err(Unsuited::Called);
        }
        let mut axes = Vec::new();
        for (_, vars) in &mapping.axes {
            let [var] = &vars[..] else { return Err(Unsuited::Joined) };
            axes.push(contraction.find(var).ok_or(Unsuited::Joined)?);
        }
        let own = || instruction.axes().iter().zip(&axes);
        let vectors: Vec<_> = own().filter(|(axis, _)| axis.runs == LoopKind::Vectorized).collect();
        let [(along, vector)] = vectors[..] else { return Err(Unsuited::Vectors) };
        let result = contraction.result();
        if result.dim(*vector).is_none_or(|dim| result.strides[dim] != 1) {
            return Err(Unsuited::Scattered);
        }
        let trips = contraction.loops[*vector].trips;
        let unit = match along.extents {
            Extents::Multiple(n) => n.max(1),
            Extents::Exactly(n) if n > 0 => n,
            Extents::UpTo(_) | Extents::Any | Extents::Exactly(_) => 1,
        };
        // Rows that are shorter than a vector have shorter ones; an instruction of more lanes is several.
        let natural = lanes;
        let lanes = natural.max(unit).min(trips) / unit * unit;
        if lanes < 1 || !along.extents.allow(lanes) {
            return Err(Unsuited::Short);
        }
        let mut fixed = Vec::new();
        for (axis, of) in own().filter(|(axis, _)| axis.runs != LoopKind::Vectorized) {
            let trips = contraction.loops[*of].trips;
            let size = match axis.extents {
                Extents::Exactly(n) | Extents::Multiple(n) => n,
                Extents::UpTo(n) => n.min(trips),
                Extents::Any => trips,
            };
            if size < 1 || trips % size != 0 {
                return Err(Unsuited::Short);
            }
            fixed.push((*of, size));
        }
        if let Extents::Exactly(n) = along.extents {
            fixed.push((*vector, n));
        }
        let dense = instruction.dense_operands().iter().filter_map(|(image, axis)| {
            let (_, operand) = mapping.operands.iter().find(|(name, _)| name == image)?;
            let at = instruction.axes().iter().position(|a| a.name == *axis)?;
            Some((operand.clone(), axes[at]))
        });
        let (dense, vector) = (dense.collect(), *vector);
        let (mapping, float) = (mapping.clone(), instruction.float_mode());
        let registers = (lanes as f64 / natural.max(1) as f64).max(1.0);
        Ok(Needle { mapping, vector, lanes, registers, fixed, dense, cycles, float, axes })
    }

    /// The iterations of a loop that one instruction is.
    pub(super) fn lanes_along(&self, of: usize) -> i64 {
        if of == self.vector { self.lanes } else { 1 }
    }
    /// Returns true for a loop of which one instruction is several iterations in each lane.
    pub(super) fn is_inside(&self, of: usize) -> bool {
        of != self.vector && self.fixed.iter().any(|(fixed, _)| *fixed == of)
    }
}
