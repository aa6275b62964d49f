//! An instruction as its user writes it.

use super::tile::{Tile, TileFn};
use crate::schedule::values::{FloatMode, LoopKind};
use halide_core::externs::ExternResult;
use halide_core::pipeline::Pipeline;
use std::fmt;

/// The numbers of values that an axis of an instruction may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extents {
    /// This many.
    Exactly(i64),
    /// At most this many, and at least one.
    UpTo(i64),
    /// A multiple of this many, at least once.
    Multiple(i64),
    /// Any constant number.
    Any,
}

impl Extents {
    /// Returns true if an axis may have so many values.
    pub fn allow(self, extent: i64) -> bool {
        match self {
            Extents::Exactly(n) => extent == n,
            Extents::UpTo(n) => (1..=n).contains(&extent),
            Extents::Multiple(n) => n > 0 && extent > 0 && extent % n == 0,
            Extents::Any => extent > 0,
        }
    }
}

impl fmt::Display for Extents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extents::Exactly(n) => write!(f, "{n}"),
            Extents::UpTo(n) => write!(f, "at most {n}"),
            Extents::Multiple(n) => write!(f, "a multiple of {n}"),
            Extents::Any => write!(f, "a constant"),
        }
    }
}

/// An axis of an instruction: a variable of its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The name of the variable in the meaning.
    pub name: String,
    /// The numbers of values that the loop over it may have.
    pub extents: Extents,
    /// The way in which that loop runs.
    pub runs: LoopKind,
}

/// An instruction. Settings consume it and give it back; [`InstructionSet::with`](super::InstructionSet::with) checks
/// it.
#[derive(Clone, Debug)]
pub struct Instruction {
    pub(super) name: String,
    /// The ways of writing the meaning, of which the first one is shown.
    pub(super) meanings: Vec<Pipeline>,
    pub(super) axes: Vec<Axis>,
    /// Operands and axes: neighbours along the axis are neighbours in memory.
    pub(super) dense: Vec<(String, String)>,
    pub(super) float: FloatMode,
    pub(super) emits: Option<String>,
    pub(super) call: Option<TileFn>,
}

impl Instruction {
    /// Returns an instruction of this meaning, without axes.
    pub fn new(name: impl Into<String>, meaning: &impl AsRef<Pipeline>) -> Instruction {
        let (axes, dense, float, emits) = (Vec::new(), Vec::new(), FloatMode::Strict, None);
        let meanings = vec![meaning.as_ref().clone()];
        Instruction { name: name.into(), meanings, axes, dense, float, emits, call: None }
    }
    /// Adds another way of writing the meaning, with the same variables and images: a stage that is either of them
    /// fits.
    pub fn or(mut self, meaning: &impl AsRef<Pipeline>) -> Instruction {
        self.meanings.push(meaning.as_ref().clone());
        self
    }
    /// Adds an axis: a variable of the meaning, as schedules of the meaning would call its loop.
    pub fn axis(mut self, name: impl Into<String>, extents: Extents, runs: LoopKind) -> Instruction {
        self.axes.push(Axis { name: name.into(), extents, runs });
        self
    }
    /// Asks for neighbours of `operand`, an image of the meaning, along `axis` to be neighbours in memory.
    pub fn dense(mut self, operand: impl Into<String>, axis: impl Into<String>) -> Instruction {
        self.dense.push((operand.into(), axis.into()));
        self
    }
    /// Says how floats of the stage must be treated for the instruction to give the same: more exact stages refuse it.
    pub fn float(mut self, mode: FloatMode) -> Instruction {
        self.float = mode;
        self
    }
    /// Says how the machine instruction begins that must be in the code of the loops, as assemblers write it: where it
    /// is not, compiling is an error.
    pub fn emits(mut self, mnemonic: impl Into<String>) -> Instruction {
        self.emits = Some(mnemonic.into());
        self
    }
    /// Says that a closure computes a tile of the meaning: it is called in place of the loops of the axes, which are
    /// serial. It may run in several threads at once.
    ///
    /// ```
    /// use halide_core::{Func, ImageParam, Pipeline, Var, types::I32};
    /// use halide_sched::schedule::{Extents, Instruction, LoopKind};
    /// let (a, j, mut c) = (ImageParam::new("a", I32, 1), Var::new("j"), Func::new("c"));
    /// c[j] = a[j] * 3;
    /// let triple = Instruction::new("triple", &Pipeline::new([&c])?)
    ///     .axis("j", Extents::UpTo(64), LoopKind::Serial)
    ///     .calls(|tile| {
    ///         for at in tile.result().coords() {
    ///             let a = tile.operand("a")?.get(&at).ok_or("not in the tile")?.as_i64();
    ///             tile.result_mut().set(&at, (3 * a as i32).into())?;
    ///         }
    ///         Ok(())
    ///     });
    /// assert!(triple.is_call());
    /// # Ok::<(), halide_core::error::AlgorithmErrors>(())
    /// ```
    pub fn calls(mut self, f: impl Fn(&mut Tile<'_>) -> ExternResult<()> + Send + Sync + 'static) -> Instruction {
        self.call = Some(TileFn::new(f));
        self
    }
    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Returns the pipelines that say what it computes, each in a way of its own.
    pub fn meanings(&self) -> &[Pipeline] {
        &self.meanings
    }
    /// Returns its axes.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }
    /// Returns the operands whose neighbours along an axis are neighbours in memory, each with the axis.
    pub fn dense_operands(&self) -> &[(String, String)] {
        &self.dense
    }
    /// Returns the treatment of floats that it needs.
    pub fn float_mode(&self) -> FloatMode {
        self.float
    }
    /// Returns true if a closure computes it.
    pub fn is_call(&self) -> bool {
        self.call.is_some()
    }
    /// Returns the beginning of the machine instruction that must be in the code, if there is one.
    pub fn mnemonic(&self) -> Option<&str> {
        self.emits.as_deref()
    }
    /// The closure that computes it, if one does.
    pub(crate) fn call(&self) -> Option<&TileFn> {
        self.call.as_ref()
    }
}
