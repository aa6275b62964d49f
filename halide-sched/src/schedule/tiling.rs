//! Words that stand for several directives: `tile`, `gpu_tile`, and marks of several loops.

use super::arguments::{Argument, Draws, Reader, Written, amount, loop_name};
use super::directive::Verb;
use super::error::ParseError;
use super::values::{Amount, LoopKind, Tail};
use crate::tuning::MOST_TILED;
use std::fmt;

/// A mark of a loop.
pub(super) fn mark(kind: LoopKind, var: String) -> Verb {
    Verb::Mark { kind, var, factor: None, tail: Tail::Auto }
}

/// A mark of a part of a loop.
pub(super) fn mark_part(kind: LoopKind, var: String, factor: Amount, tail: Tail) -> Verb {
    Verb::Mark { kind, var, factor: Some(factor), tail }
}

/// Marks of several loops.
pub(super) fn marks(kind: LoopKind, vars: Vec<String>) -> Vec<Verb> {
    vars.into_iter().map(|var| mark(kind, var)).collect()
}

/// Loops to be split, innermost first, and into what. Lists of different lengths leave names out, which is reported
/// when the schedule is resolved.
pub(super) struct Tiling {
    pub(super) vars: Vec<String>,
    pub(super) outer: Vec<String>,
    pub(super) inner: Vec<String>,
    pub(super) factors: Vec<Amount>,
    pub(super) tail: Tail,
}

impl Tiling {
    /// A split per dimension, and all inner loops inside all outer ones.
    pub(super) fn verbs(self) -> Vec<Verb> {
        let Tiling { vars, outer, inner, factors, tail } = self;
        let count = vars.len().max(outer.len()).max(inner.len()).max(factors.len());
        let at = |list: &[String], i: usize| list.get(i).cloned().unwrap_or_default();
        let splits = (0..count).map(|i| Verb::Split {
            var: at(&vars, i),
            outer: at(&outer, i),
            inner: at(&inner, i),
            factor: factors.get(i).cloned().unwrap_or(Amount::Const(0)),
            tail,
        });
        splits.chain([Verb::Reorder(inner.iter().chain(&outer).cloned().collect())]).collect()
    }

    /// The same, with tiles as blocks and points as threads.
    pub(super) fn gpu_verbs(self) -> Vec<Verb> {
        let blocks = marks(LoopKind::GpuBlocks, self.outer.clone());
        let threads = marks(LoopKind::GpuThreads, self.inner.clone());
        self.verbs().into_iter().chain(blocks).chain(threads).collect()
    }
}

impl Argument for Tiling {
    type Value = Tiling;
    const KIND: &'static str = "[vars], [outer], [inner], [factors][, tail strategy]";
    /// Reads `[x, y], [xo, yo], [xi, yi], [32, 8], TAIL`, or all of it without brackets.
    fn read(args: &mut Reader<'_, '_>) -> Result<Tiling, ParseError> {
        let text = args.required()?;
        if text.take("[") {
            let vars = text.items("]", loop_name)?;
            let outer = args.bracketed(loop_name)?;
            let inner = args.bracketed(loop_name)?;
            let factors = args.bracketed(amount)?;
            let tail = <Tail as Argument>::read(args)?;
            return Ok(Tiling { vars, outer, inner, factors, tail });
        }
        // Each dimension takes three names and a factor; a tail may follow.
        let dims = (text.items_ahead() / 4).clamp(1, MOST_TILED);
        let mut names = vec![loop_name(text)?];
        let mut factors = Vec::new();
        while names.len() < 3 * dims {
            names.push(loop_name(args.required()?)?);
        }
        while factors.len() < dims {
            factors.push(amount(args.required()?)?);
        }
        let tail = <Tail as Argument>::read(args)?;
        let inner = names.split_off(2 * dims);
        let outer = names.split_off(dims);
        Ok(Tiling { vars: names, outer, inner, factors, tail })
    }
    /// Writes nothing: what it stands for is written.
    fn write(_: &Tiling, _: &mut Written<'_, '_>) -> fmt::Result {
        Ok(())
    }
    fn draw(from: &mut dyn Draws) -> Tiling {
        let dims = 1 + from.below(3);
        let mut names = |make: fn(&mut dyn Draws) -> String| (0..dims).map(|_| make(from)).collect();
        let (vars, outer, inner) = (names(|d| d.loop_name()), names(|d| d.new_name()), names(|d| d.new_name()));
        let factors = (0..dims).map(|_| from.amount()).collect();
        Tiling { vars, outer, inner, factors, tail: <Tail as Argument>::draw(from) }
    }
}
