//! Conversion of Funcs under construction to a frozen `Pipeline`, or to every mistake at once.

mod address;
mod definition;
mod discover;
mod domain;
mod expression;
mod externs;
mod inputs;
mod note;
mod places;
mod random;
mod shapes;
mod sites;
mod undef;
mod variables;

use crate::arena::Expr;
use crate::error::{AlgorithmError, AlgorithmErrorKind, AlgorithmErrors, Location};
use crate::func::{Func, FuncBody, Written};
use crate::ids::{ExprId, FuncId, Id, IdVec, ImageId, NoteId, RDomId, VarId};
use crate::names::Name;
use crate::param::ImageBody;
use crate::pipeline::{FuncDef, Node, Pipeline, PipelineData};
use crate::rdom::RDomBody;
use address::address;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

impl Pipeline {
    /// Freezes and checks everything that `outputs` reach.
    ///
    /// # Errors
    /// Every mistake found, sorted by place: those recorded while expressions were built and those of definitions.
    #[track_caller]
    pub fn new<'f>(outputs: impl IntoIterator<Item = &'f Func>) -> Result<Pipeline, AlgorithmErrors> {
        let bodies: Vec<Rc<FuncBody>> = outputs.into_iter().map(Func::body).collect();
        let mut freezer = Freezer::default();
        if bodies.is_empty() {
            freezer.mistake(Location::caller(), AlgorithmErrorKind::NoOutputs);
        }
        freezer.outputs = bodies.iter().map(address).collect();
        let order = freezer.discover(&bodies);
        for (i, body) in order.iter().enumerate() {
            freezer.funcs.insert(address(body), FuncId::new(i));
        }
        for body in &order {
            let def = freezer.define(body);
            freezer.data.funcs.push(def);
        }
        freezer.name_everything();
        freezer.data.order = freezer.data.funcs.ids().collect();
        for body in &bodies {
            let id = freezer.funcs[&address(body)];
            if !freezer.data.outputs.contains(&id) {
                freezer.data.outputs.push(id);
            }
        }
        freezer.freeze_externs();
        freezer.freeze_shapes(&bodies);
        freezer.freeze_coordinates();
        if freezer.errors.is_empty() {
            return Ok(Pipeline::from_data(freezer.data));
        }
        Err(AlgorithmErrors(freezer.errors.into_iter().collect()))
    }
}

/// The tables while they grow. Shared parts of Funcs under construction are known by their addresses; whatever is
/// frozen is alive meanwhile.
#[derive(Default)]
struct Freezer {
    data: PipelineData,
    errors: BTreeSet<AlgorithmError>,
    funcs: HashMap<usize, FuncId>,
    images: HashMap<String, ImageId>,
    notes: HashMap<usize, NoteId>,
    /// The addresses of outputs.
    outputs: HashSet<usize>,
    /// Every handle of an image met so far: each may have rules of its own.
    image_bodies: Vec<(ImageId, Rc<ImageBody>)>,
    /// A domain whose predicate uses pure variables is another one where these mean others.
    rdoms: HashMap<(usize, Vec<VarId>), RDomId>,
    rdom_bodies: IdVec<RDomId, Rc<RDomBody>>,
    vars: HashMap<Name, VarId>,
    nodes: HashMap<Node, ExprId>,
    random: places::Places,
}

/// The definition that is being frozen.
struct DefinitionScope<'d> {
    body: &'d Rc<FuncBody>,
    written: Written,
    /// The Func's variable for each user's variable that stands alone on the left side.
    rename: HashMap<Name, VarId>,
    /// The left side.
    args: &'d [Expr],
    /// The variables that the definition runs over, if it uses random numbers.
    coordinates: Vec<Expr>,
}

impl Freezer {
    fn mistake(&mut self, at: Location, kind: AlgorithmErrorKind) {
        self.errors.insert(AlgorithmError { at, kind });
    }

    /// Gives Funcs and domains unique names: a repeated one gets `$1`, `$2`, ...
    fn name_everything(&mut self) {
        let mut names = UniqueNames::default();
        self.data.funcs.iter_mut().for_each(|f: &mut FuncDef| names.make_unique(&mut f.name));
        let mut names = UniqueNames::default();
        for r in self.data.rdoms.iter_mut() {
            let old = r.name.len();
            names.make_unique(&mut r.name);
            r.dims.iter_mut().for_each(|d| d.name.replace_range(..old, &r.name));
        }
    }
}

/// The names taken, each with the last number that was put after it.
#[derive(Default)]
struct UniqueNames {
    taken: HashMap<String, u32>,
}

impl UniqueNames {
    fn make_unique(&mut self, name: &mut String) {
        let base = name.clone();
        while self.taken.contains_key(name) {
            let n = self.taken.entry(base.clone()).or_insert(0);
            *n += 1;
            *name = format!("{base}${n}");
        }
        self.taken.insert(name.clone(), 0);
    }
}
