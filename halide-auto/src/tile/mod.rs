//! Tiles for one definition of a pipeline, with sizes by VEC-TSS.
//!
//! 1. `bind` reads the loops of a definition and the arrays that a point of it accesses: a [`Nest`].
//! 2. [`tss`](crate::tss) chooses sizes, or a caller does.
//! 3. `directives` cuts the loops: tasks over the tiles of parallel loops, the other tiles, then what is in a tile,
//!    with vectors in the innermost loop. Where sums can stay in registers, `block` says what is written out of a tile,
//!    and loops of reductions go around that.

pub(crate) mod bind;
mod block;
mod directives;
mod spelled;

use crate::chosen::CodeFacts;
use crate::error::AutoError;
use crate::legal::lowers;
use crate::price::{Priceable, with_state};
use crate::state::Place;
use crate::tss::{Block, Nest, Tiles, TssError, TssOptions, assess, select};
use bind::bind;
use block::block;
use directives::{Cut, directives};
use halide_core::ids::FuncId;
use halide_core::pipeline::Pipeline;
use halide_ir::ForKind;
use halide_ir::spelling::closest;
use halide_sched::plan::{LoopPlan, Plan};
use halide_sched::schedule::{Schedule, StageName};
use spelled::spelled;

/// A definition whose loops can be cut in tiles.
#[derive(Clone, Debug)]
pub struct Tileable<'q> {
    question: Priceable<'q>,
    of: (String, usize),
    nest: Nest,
    /// The names of the loops' variables, as schedules say them.
    vars: Vec<String>,
    /// All names of the definition's variables.
    taken: Vec<String>,
    /// The vector instructions of arithmetic for each vector of points.
    operations: f64,
    block: Option<Block>,
    lanes: i64,
    is_at_root: bool,
}

/// Tiles for a definition, and the schedule with them.
#[derive(Clone, Debug)]
pub struct Tiling {
    /// The sizes, and what is predicted of them.
    pub tiles: Tiles,
    /// The nest that they are of.
    pub nest: Nest,
    /// The schedule that was given, with the loops of the definition in tiles.
    pub schedule: Schedule,
}

/// Reads the loop nest of a definition, where all other Funcs are scheduled as given. Loops are, from the outermost one
/// on, those whose iterations never touch an element of the Func that others do; then those of reductions; and last the
/// loop along rows of the Func.
///
/// Arrays are the Func itself, and the inputs and the Funcs that a point reads where these are not substituted.
/// Coordinates are taken to go on as they do in the middle of all loops; a slope that is no whole number, as of
/// `x / 2`, counts as the next larger one.
///
/// # Errors
/// [`AutoError::Tiles`] with a definition that there is not, one whose loops directives have changed, and accesses
/// about whose coordinates data decide; and what [`price`](crate::price()) refuses.
pub fn tileable<'q>(question: &Priceable<'q>, stage: impl StageName) -> Result<Tileable<'q>, AutoError> {
    let of = stage.stage_name();
    with_state(question, &mut nothing_known, |plan, search, candidate, _| {
        let id = found(&plan.pipeline, &of).map_err(AutoError::Tiles)?;
        if candidate.state.place(id.0) == Place::Inline {
            return Err(AutoError::Tiles(TssError::Inlined { func: of.0.clone() }));
        }
        if has_loops(plan, id) {
            return Err(AutoError::Tiles(TssError::HasLoops { definition: spelled(&of) }));
        }
        let bound = bind(&search.pricer, &candidate.state, id).map_err(AutoError::Tiles)?;
        let dag = search.pricer.dag;
        let all = &dag.funcs[id.0].stages[id.1].vars;
        let types = plan.pipeline.funcs[id.0].types.iter();
        Ok(Tileable {
            question: *question,
            of: of.clone(),
            block: block(&bound.nest, question.machine),
            nest: bound.nest,
            vars: bound.vars.iter().map(|var| all[*var].name.clone()).collect(),
            taken: all.iter().map(|var| var.name.clone()).collect(),
            operations: bound.operations,
            lanes: types.map(|ty| question.target.natural_lanes(*ty)).min().unwrap_or(1),
            is_at_root: candidate.state.place(id.0) == Place::Root,
        })
    })
}

/// Chooses tiles for a definition by [`select`], with its operations and a block that suits it in place of those of the
/// options. Nothing is run.
///
/// # Errors
/// Those of [`tileable`] and of [`select`], and what the compiler has against the schedule.
pub fn tile(question: &Priceable<'_>, stage: impl StageName, options: &TssOptions) -> Result<Tiling, AutoError> {
    tileable(question, stage)?.tile(options)
}

impl Tileable<'_> {
    /// Returns the loops and the arrays.
    pub fn nest(&self) -> &Nest {
        &self.nest
    }

    /// Returns the part of a tile that is written out: where sums can stay in registers, what has the fewest loads.
    pub fn block(&self) -> Option<Block> {
        self.block
    }

    /// Sets the part of a tile that is written out; `None` for rows of vectors, as in the paper.
    pub fn with_block(mut self, block: Option<Block>) -> Self {
        self.block = block;
        self
    }

    /// Returns options with the operations and the block of the definition.
    pub fn options(&self, options: &TssOptions) -> TssOptions {
        TssOptions { operations: self.operations, block: self.block, ..*options }
    }

    /// Chooses sizes.
    ///
    /// # Errors
    /// Those of [`select`], and what the compiler has against the schedule.
    pub fn tile(&self, options: &TssOptions) -> Result<Tiling, AutoError> {
        let Priceable { machine, target, .. } = self.question;
        let options = self.options(options);
        let tiles = select(&self.nest, machine, target.threads, &options).map_err(AutoError::Tiles)?;
        self.tiling(tiles)
    }

    /// Cuts loops by given sizes, one for each loop of the nest, which are brought into what the loop allows.
    ///
    /// # Errors
    /// Those of [`assess`], and what the compiler has against the schedule.
    pub fn with_sizes(&self, sizes: &[u64], options: &TssOptions) -> Result<Tiling, AutoError> {
        let Priceable { machine, target, .. } = self.question;
        let options = self.options(options);
        let tiles = assess(&self.nest, machine, target.threads, &options, sizes).map_err(AutoError::Tiles)?;
        self.tiling(tiles)
    }

    fn tiling(&self, tiles: Tiles) -> Result<Tiling, AutoError> {
        let Priceable { pipeline, schedule, target, .. } = self.question;
        let mut schedule = schedule.clone();
        let cut = Cut {
            of: &self.of,
            loops: &self.nest.loops,
            vars: &self.vars,
            taken: &self.taken,
            sizes: &tiles.sizes,
            lanes: self.lanes,
            block: self.block,
            has_tasks: target.threads > 1 && self.is_at_root,
        };
        directives(&mut schedule, &cut);
        lowers(pipeline, &schedule, target)?;
        Ok(Tiling { tiles, nest: self.nest.clone(), schedule })
    }
}

/// The word of a compiler that is not asked.
fn nothing_known(_: &Plan) -> Result<Option<CodeFacts>, AutoError> {
    Ok(None)
}

/// Finds a definition by its name.
fn found(pipeline: &Pipeline, (func, stage): &(String, usize)) -> Result<(FuncId, usize), TssError> {
    let mut names = pipeline.order.iter().map(|id| (*id, pipeline.funcs[*id].name.as_str()));
    let Some((id, _)) = names.clone().find(|(_, name)| name == func) else {
        let near = closest(func, names.by_ref().map(|(_, name)| name)).map(str::to_string);
        return Err(TssError::UnknownFunc { func: func.clone(), near });
    };
    let stages = pipeline.funcs[id].stages.len();
    if *stage >= stages {
        return Err(TssError::UnknownStage { func: func.clone(), stage: *stage, updates: stages - 1 });
    }
    Ok((id, *stage))
}

/// Returns true if directives have changed the loops of a definition.
fn has_loops(plan: &Plan, (func, stage): (FuncId, usize)) -> bool {
    let stage = &plan.funcs[func].stages[stage];
    let is_changed = |l: &LoopPlan| l.kind != ForKind::Serial;
    let is_cut = !stage.transforms.is_empty() || !stage.variants.is_empty() || stage.with.is_some();
    is_cut || stage.loops.iter().any(is_changed)
}
