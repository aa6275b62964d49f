//! A contraction as numbers: its loops, and the distance in memory that each operand moves in an iteration of each.

use crate::cost::Pricer;
use crate::dag::{Source, extent};
use crate::state::State;
use crate::tile::bind::{Bound, bind};
use crate::tss::{AccessKind, Array, TssError};
use halide_core::ids::FuncId;

/// A definition that adds to what it stores, over loops of which an instruction may be some.
#[derive(Clone, Debug)]
pub(super) struct Contraction {
    /// The name of the Func and the number of the definition.
    pub(super) of: (String, usize),
    /// The loops: those of the Func's dimensions, and those of reductions.
    pub(super) loops: Vec<LoopOf>,
    /// The operand that it stores, and then those that it reads.
    pub(super) operands: Vec<Operand>,
}

/// A loop of a contraction.
#[derive(Clone, Debug)]
pub(super) struct LoopOf {
    /// The variable.
    pub(super) name: String,
    /// The number of its values, at least 1.
    pub(super) trips: i64,
    /// The dimension of the Func that it is; `None` for one of a reduction.
    pub(super) dim: Option<usize>,
}

/// An image or Func that a contraction accesses.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) name: String,
    /// The names of its dimensions, as directives for a copy of it say them.
    pub(super) dims: Vec<String>,
    /// The bytes of an element.
    pub(super) bytes: i64,
    /// The coordinates that an iteration of each loop moves by: a row for each dimension, the first one first.
    pub(super) rows: Vec<Vec<i64>>,
    /// The elements in memory from one coordinate of each dimension to the next.
    pub(super) strides: Vec<i64>,
}

impl Operand {
    /// The elements in memory that an iteration of a loop moves by.
    pub(super) fn step(&self, of: usize) -> i64 {
        let moved = self.rows.iter().zip(&self.strides).map(|(row, stride)| row[of].saturating_mul(*stride));
        moved.fold(0, i64::saturating_add)
    }
    /// Returns true if it is elsewhere in the next iteration of a loop.
    pub(super) fn moves(&self, of: usize) -> bool {
        self.rows.iter().any(|row| row[of] != 0)
    }
    /// The one dimension that an iteration of a loop moves by a coordinate.
    pub(super) fn dim(&self, of: usize) -> Option<usize> {
        let dim = self.rows.iter().position(|row| row[of] != 0)?;
        let is_alone = self.rows.iter().filter(|row| row[of] != 0).count() == 1;
        (is_alone && self.rows[dim][of] == 1).then_some(dim)
    }
}

impl Contraction {
    /// Reads a definition; `None` for one that is no sum of what it reads: one that stores at other places than it
    /// adds to, one with several references to a buffer, or one without a reduction.
    pub(super) fn of(
        pricer: &Pricer<'_>,
        state: &State,
        (func, stage): (FuncId, usize),
    ) -> Result<Option<Contraction>, TssError> {
        let dag = pricer.dag;
        let Bound { nest, vars, .. } = bind(pricer, state, (func, stage))?;
        let all = &dag.funcs[func].stages[stage].vars;
        let loops: Vec<LoopOf> =
            nest.loops.iter().zip(&vars).map(|(l, var)| loop_of(&l.name, l.trips, all[*var].dim)).collect();
        let updates = nest.arrays.first().is_some_and(|array| array.access == AccessKind::Update);
        let is_single = nest.arrays.iter().all(|array| array.references() == 1);
        let has_sums = loops.iter().any(|l| l.dim.is_none() && l.trips > 1);
        if !updates || !is_single || !has_sums || !nest.slants.is_empty() {
            return Ok(None);
        }
        let operands = nest.arrays.iter().map(|array| operand(pricer, array, loops.len())).collect::<Option<Vec<_>>>();
        let of = (dag.pipeline.funcs[func].name.clone(), stage);
        let distinct = |operands: &Vec<Operand>| {
            operands.iter().enumerate().all(|(n, a)| operands[..n].iter().all(|b| a.name != b.name))
        };
        Ok(operands.filter(distinct).map(|operands| Contraction { of, loops, operands }))
    }

    /// The operand that it stores.
    pub(super) fn result(&self) -> &Operand {
        &self.operands[0]
    }
    /// The operands that it reads.
    pub(super) fn read(&self) -> &[Operand] {
        &self.operands[1..]
    }
    /// The loop of a variable.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.loops.iter().position(|l| l.name == name)
    }
}

fn loop_of(name: &str, trips: u64, dim: Option<usize>) -> LoopOf {
    LoopOf { name: name.to_string(), trips: i64::try_from(trips).unwrap_or(i64::MAX).max(1), dim }
}

/// An array as an operand; `None` for an element of a tuple.
fn operand(pricer: &Pricer<'_>, array: &Array, loops: usize) -> Option<Operand> {
    let pipeline = pricer.dag.pipeline;
    let image = pipeline.images.enumerate().find(|(_, image)| image.name == array.name);
    let func = || pipeline.funcs.enumerate().find(|(_, func)| func.name == array.name);
    let source = image.map(|(id, _)| Source::Image(id)).or_else(|| func().map(|(id, _)| Source::Func(id)))?;
    let dims: Vec<String> = match source {
        Source::Image(image) => (0..pipeline.images[image].dims).map(|dim| format!("_{dim}")).collect(),
        Source::Func(func) => pipeline.funcs[func].args.iter().map(|var| pipeline.vars[*var].clone()).collect(),
    };
    let mut stride = 1i64;
    let strides = pricer.dag.whole(source).iter().map(|span| {
        let own = stride;
        stride = stride.saturating_mul(extent(*span).max(1));
        own
    });
    let row = |subscript: &crate::tss::Subscript| (0..loops).map(|of| subscript.factor(of)).collect::<Vec<i64>>();
    // Subscripts begin with the last dimension.
    let rows: Vec<Vec<i64>> = array.subscripts.iter().rev().map(row).collect();
    let strides: Vec<i64> = strides.take(rows.len()).collect();
    let bytes = array.element.bytes() as i64;
    Some(Operand { name: array.name.clone(), dims, bytes, rows, strides })
}
