//! From Funcs under construction to a frozen `Pipeline`, or every mistake at once.

mod definition;
mod expression;

use crate::arena::{self, Expr, Kind};
use crate::error::{AlgorithmError, AlgorithmErrorKind, AlgorithmErrors, Location};
use crate::func::{Func, FuncBody};
use crate::ids::{FuncId, ImageId, RDomId, VarId};
use crate::pipeline::{FuncDef, Node, Pipeline, PipelineData};
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
        let order = freezer.discover(&bodies);
        for (i, body) in order.iter().enumerate() {
            freezer.funcs.insert(address(body), FuncId(i as u32));
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
        if freezer.errors.is_empty() {
            return Ok(Pipeline::from_data(freezer.data));
        }
        Err(AlgorithmErrors(freezer.errors.into_iter().collect()))
    }
}

/// The tables while they grow.
#[derive(Default)]
struct Freezer {
    data: PipelineData,
    errors: BTreeSet<AlgorithmError>,
    funcs: HashMap<usize, FuncId>,
    images: HashMap<usize, ImageId>,
    rdoms: HashMap<usize, RDomId>,
    vars: HashMap<u32, VarId>,
    nodes: HashMap<Node, crate::ids::ExprId>,
}

/// The identity of something shared.
fn address<T>(shared: &Rc<T>) -> usize {
    Rc::as_ptr(shared) as usize
}

impl Freezer {
    fn mistake(&mut self, at: Location, kind: AlgorithmErrorKind) {
        self.errors.insert(AlgorithmError { at, kind });
    }

    /// Every Func that `outputs` reach, producers first. Walks with a stack of its own: graphs may be deep.
    fn discover(&mut self, outputs: &[Rc<FuncBody>]) -> Vec<Rc<FuncBody>> {
        let mut order: Vec<Rc<FuncBody>> = Vec::new();
        let mut done: HashSet<usize> = HashSet::new();
        for output in outputs {
            // A Func on the stack with the producers that are still to be visited.
            let mut stack = vec![(output.clone(), producers(output))];
            if done.contains(&address(output)) {
                continue;
            }
            while let Some((body, todo)) = stack.last_mut() {
                let body = body.clone();
                let Some(next) = todo.pop() else {
                    stack.pop();
                    if done.insert(address(&body)) {
                        order.push(body);
                    }
                    continue;
                };
                if done.contains(&address(&next)) {
                    continue;
                }
                if let Some(start) = stack.iter().position(|(b, _)| Rc::ptr_eq(b, &next)) {
                    let mut funcs: Vec<String> = stack[start..].iter().map(|(b, _)| b.name.clone()).collect();
                    funcs.push(next.name.clone());
                    self.mistake(next.at, AlgorithmErrorKind::Cycle { funcs });
                    continue;
                }
                if next.open.get() {
                    self.mistake(next.at, AlgorithmErrorKind::UsedBeforeDefined { func: next.name.clone() });
                }
                let todo = producers(&next);
                stack.push((next, todo));
            }
        }
        order
    }

    /// Gives Funcs, images and domains unique names: a repeated one gets `$1`, `$2`, ...
    fn name_everything(&mut self) {
        let mut taken = HashSet::new();
        let data = &mut self.data;
        data.funcs.iter_mut().for_each(|f: &mut FuncDef| make_unique(&mut f.name, &mut taken));
        let mut taken = HashSet::new();
        data.images.iter_mut().for_each(|i| make_unique(&mut i.name, &mut taken));
        let mut taken = HashSet::new();
        for r in data.rdoms.iter_mut() {
            let old = r.name.clone();
            make_unique(&mut r.name, &mut taken);
            for d in &mut r.dims {
                d.name = format!("{}{}", r.name, &d.name[old.len()..]);
            }
        }
    }
}

fn make_unique(name: &mut String, taken: &mut HashSet<String>) {
    let base = name.clone();
    let mut n = 0;
    while !taken.insert(name.clone()) {
        n += 1;
        *name = format!("{base}${n}");
    }
}

/// The Funcs that a Func's definitions call, itself left out; the last is to be visited first.
fn producers(body: &Rc<FuncBody>) -> Vec<Rc<FuncBody>> {
    let mut roots = Vec::new();
    body.exprs(&mut roots);
    let mut seen = HashSet::new();
    let mut found: Vec<Rc<FuncBody>> = Vec::new();
    arena::walk(&roots, |_, kind, more| match kind {
        Kind::Call(callee, _) if !Rc::ptr_eq(callee, body) && seen.insert(address(callee)) => {
            found.push(callee.clone())
        }
        Kind::RVar(domain, _) => domain.exprs(more),
        _ => {}
    });
    found.reverse();
    found
}

/// What a definition may use besides its own left side.
struct Scope<'d> {
    body: &'d Rc<FuncBody>,
    /// The Func's variable for each user's variable that stands alone on the left side.
    rename: HashMap<u32, VarId>,
    /// What the old value of an undefined Func reads.
    own_args: Vec<Expr>,
}
