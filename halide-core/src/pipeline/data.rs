//! The tables of a frozen algorithm.

use super::node::{Kind, Node};
use super::note::NoteDef;
use crate::externs::def::{ExternCallee, ExternDef};
use crate::ids::{ExprId, FuncId, IdVec, ImageId, NoteId, ParamId, RDomId, VarId};
use crate::location::Location;
use crate::promise::{CoordinatePromise, ValuePromise};
use crate::shape::rules::{AlignmentRule, Estimate, ShapeRule};
use crate::types::ScalarType;
use crate::value::Scalar;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A checked, frozen algorithm. Made by `Pipeline::new`.
///
/// ```
/// use halide_core::{Func, Pipeline, vars};
/// let x = vars!(x);
/// let (mut f, g) = (Func::new("f"), Func::new("g"));
/// f[x] = g[x] + 1;
/// let errors = Pipeline::new([&f]).unwrap_err().to_string();
/// assert!(errors.contains("`g` is read before it has a definition"));
/// ```
#[derive(Clone, Debug, Hash)]
pub struct Pipeline {
    pub(crate) data: Arc<PipelineData>,
}

impl std::ops::Deref for Pipeline {
    type Target = PipelineData;
    fn deref(&self) -> &PipelineData {
        &self.data
    }
}

impl AsRef<Pipeline> for Pipeline {
    fn as_ref(&self) -> &Pipeline {
        self
    }
}

impl Pipeline {
    /// Wraps data whose invariants (see the fields) the caller keeps: `Pipeline::new`, and graph rewrites in `plan`.
    pub fn from_data(data: PipelineData) -> Pipeline {
        Pipeline { data: Arc::new(data) }
    }
}

/// The tables of a frozen algorithm.
#[derive(Clone, Debug, Default, Hash)]
pub struct PipelineData {
    /// Every expression; the children of a node have smaller ids.
    pub exprs: IdVec<ExprId, Node>,
    /// Every reachable Func; names are unique (a repeated name got a suffix `$1`, `$2`, ...).
    pub funcs: IdVec<FuncId, FuncDef>,
    /// Every reachable input image; names are unique.
    pub images: IdVec<ImageId, ImageDef>,
    /// Every reachable scalar parameter; names are unique.
    pub params: IdVec<ParamId, ParamDef>,
    /// Names of pure variables. One id per (distinct) user variable.
    pub vars: IdVec<VarId, String>,
    /// Every reachable reduction domain.
    pub rdoms: IdVec<RDomId, RDomDef>,
    /// Every requirement and every line to print.
    pub notes: IdVec<NoteId, NoteDef>,
    /// The outputs in the order given.
    pub outputs: Vec<FuncId>,
    /// Every Func, producers before consumers; deterministic.
    pub order: Vec<FuncId>,
    /// The rules for the shapes of the caller's buffers; checked before a run.
    pub shapes: Vec<ShapeRule>,
    /// The rules for the addresses at which the caller's buffers begin; checked before a run.
    pub alignments: Vec<AlignmentRule>,
    /// Funcs whose values come from closures; their results stand among the images.
    pub externs: Vec<ExternDef>,
    /// Funcs whose values come from closures that are called in loops; their stages are not among the externs.
    pub callees: Vec<ExternCallee>,
    /// The shapes that the caller's buffers are expected to have.
    pub estimates: Vec<Estimate>,
}

impl PipelineData {
    /// Returns true if the algorithm asks for the position or the size of an image, as boundary conditions do.
    pub fn asks_for_shape(&self, image: ImageId) -> bool {
        self.exprs.iter().any(|node| matches!(node.kind, Kind::ImageDim { image: of, .. } if of == image))
    }

    /// Returns true if an output's first definition leaves some elements as its buffers hold them before the run.
    pub fn keeps(&self, func: FuncId) -> bool {
        let mut todo = self.funcs[func].stages.first().map_or(Vec::new(), |s| s.values.clone());
        let mut found = false;
        // `Before` stands alone, or in arms of choices.
        while let Some(e) = todo.pop() {
            match &self.exprs[e].kind {
                Kind::Before { .. } => found = true,
                Kind::Select(_, a, b) => todo.extend([*a, *b]),
                _ => {}
            }
        }
        found && self.outputs.contains(&func)
    }

    /// The number of sites that a definition stores to at once: the length of each [`Kind::Sites`] in it, 1 if there is
    /// none.
    pub fn sites(&self, stage: &StageDef) -> usize {
        let roots: Vec<ExprId> = stage.args.iter().chain(&stage.values).copied().collect();
        let count = |id: ExprId| match &self.exprs[id].kind {
            Kind::Sites(values) => Some(values.len()),
            _ => None,
        };
        self.reachable(&roots).into_iter().find_map(count).unwrap_or(1)
    }

    /// Returns true if an image stands for results of an extern stage, which no caller gives.
    pub fn is_result(&self, image: ImageId) -> bool {
        self.externs.iter().any(|stage| stage.images.contains(&Some(image)))
    }

    /// Returns the reads of Funcs and images in a definition, each distinct one once, in order of ids.
    pub fn reads(&self, stage: &StageDef) -> Vec<ExprId> {
        let roots: Vec<ExprId> = stage.args.iter().chain(&stage.values).copied().collect();
        let is_read = |id: &ExprId| matches!(self.exprs[*id].kind, Kind::Call { .. } | Kind::Image { .. });
        self.reachable(&roots).into_iter().filter(is_read).collect()
    }

    /// Returns every node below `roots`, each once, in order of ids.
    pub(crate) fn reachable(&self, roots: &[ExprId]) -> Vec<ExprId> {
        let mut wanted = BTreeSet::new();
        let mut todo = roots.to_vec();
        while let Some(id) = todo.pop() {
            if wanted.insert(id) {
                todo.extend(self.exprs[id].kind.children());
            }
        }
        wanted.into_iter().collect()
    }
}

/// A Func: a pure definition (stage 0) and updates (stages 1..).
#[derive(Clone, Debug, Hash)]
pub struct FuncDef {
    /// Unique name.
    pub name: String,
    /// The name that the user gave it, which other Funcs may have, too.
    pub said: String,
    /// The pure variables, first dimension first; distinct.
    pub args: Vec<VarId>,
    /// One type per tuple element; at least one.
    pub types: Vec<ScalarType>,
    /// Stage 0 is the pure definition.
    pub stages: Vec<StageDef>,
    /// The place in the source where it was made.
    pub at: Location,
}

impl FuncDef {
    /// The name of the image that stands for an element in a part without the Func:
    /// [`Pipeline::part_without`].
    pub fn cut_image(&self, element: usize) -> String {
        match self.types.len() {
            1 => format!("{}$kept", self.name),
            _ => format!("{}$kept.{element}", self.name),
        }
    }
    /// The number of dimensions.
    pub fn dims(&self) -> usize {
        self.args.len()
    }
    /// Returns true if there are no updates.
    pub fn is_pure(&self) -> bool {
        self.stages.len() == 1
    }
}

/// One definition. All values are computed before any is stored; those of several sites are stored in the order of the
/// sites.
#[derive(Clone, Debug, Hash)]
pub struct StageDef {
    /// Left-hand side coordinates. In stage 0 they are the Func's variables. In an update, a coordinate that is the
    /// Func's own variable of that position makes that dimension *pure* in this stage.
    pub args: Vec<ExprId>,
    /// One value per tuple element, of the Func's types.
    pub values: Vec<ExprId>,
    /// The reduction domain iterated, if any; its predicate guards the whole store.
    pub rdom: Option<RDomId>,
    /// The place in the source where it was written.
    pub at: Location,
}

/// A reduction domain, iterated lexicographically, dimension 0 innermost.
#[derive(Clone, Debug, Hash)]
pub struct RDomDef {
    /// Unique name.
    pub name: String,
    /// Innermost first. An extent <= 0 means no iterations.
    pub dims: Vec<RVarDef>,
    /// `Bool` over RVars (and pure variables, Funcs...): where false, nothing is stored.
    pub predicate: Option<ExprId>,
}

/// One dimension of a reduction domain.
#[derive(Clone, Debug, Hash)]
pub struct RVarDef {
    /// Unique name: `r$1.x`, if there are several domains called `r`.
    pub name: String,
    /// The name that schedules use: `r.x` or the name given.
    pub said: String,
    /// First value; index arithmetic over parameters, image dimensions and constants.
    pub min: ExprId,
    /// Number of values.
    pub extent: ExprId,
}

/// A scalar parameter.
#[derive(Clone, Debug, Hash)]
pub struct ParamDef {
    /// Unique name.
    pub name: String,
    /// Its type.
    pub ty: ScalarType,
    /// Used when a call gives none.
    pub default: Option<Scalar>,
    /// Smallest legal value; a fact for lowering and a check at run time.
    pub min: Option<Scalar>,
    /// Largest legal value.
    pub max: Option<Scalar>,
    /// The place in the source where it was made.
    pub at: Location,
}

/// An input image.
#[derive(Clone, Debug, Hash)]
pub struct ImageDef {
    /// Unique name.
    pub name: String,
    /// Element type.
    pub ty: ScalarType,
    /// Number of dimensions.
    pub dims: usize,
    /// The promises about its elements.
    pub values: ValuePromise,
    /// The dimensions of images that its elements are promised to be coordinates of.
    pub coordinates: Vec<CoordinatePromise>,
    /// The place in the source where it was made.
    pub at: Location,
}

impl ImageDef {
    /// Returns true if something is promised of its elements.
    pub fn is_promised(&self) -> bool {
        !self.values.is_nothing() || !self.coordinates.is_empty()
    }
    /// The smallest and the largest element, as far as that is promised: coordinates are `i32`.
    pub fn promised_range(&self) -> Option<(i64, i64)> {
        let of_coordinates = (i64::from(i32::MIN), i64::from(i32::MAX));
        match (self.values.range, self.coordinates.is_empty()) {
            (range, true) => range,
            (None, false) => Some(of_coordinates),
            // Runs whose elements are in no such range end.
            (Some((min, max)), false) if max < of_coordinates.0 || min > of_coordinates.1 => Some((min, max)),
            (Some((min, max)), false) => Some((min.max(of_coordinates.0), max.min(of_coordinates.1))),
        }
    }
}
