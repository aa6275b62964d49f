//! Finds the Funcs that the outputs reach, producers first, and checks that each was complete when others read it.

use super::Freezer;
use super::address::address;
use crate::arena::{self, Kind};
use crate::error::{AlgorithmErrorKind, Location};
use crate::externs::OpenInput;
use crate::func::FuncBody;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

impl Freezer {
    /// Every Func that `outputs` reach, producers first. Walks with a stack of its own: graphs may be deep.
    pub(super) fn discover(&mut self, outputs: &[Rc<FuncBody>]) -> Vec<Rc<FuncBody>> {
        let mut walk = Walk::default();
        for output in outputs {
            walk.enter(output.clone());
            while let Some((body, todo)) = walk.stack.last_mut() {
                match todo.pop() {
                    Some(next) => walk.enter(next),
                    None => {
                        let body = body.clone();
                        walk.leave(body);
                    }
                }
            }
        }
        // A cycle always contains a Func that was defined further after it was read: the cycle says more.
        let mistakes = if walk.cycles.is_empty() { walk.late } else { walk.cycles };
        for (at, kind) in mistakes {
            self.mistake(at, kind);
        }
        walk.order
    }
}

#[derive(Default)]
struct Walk {
    /// A Func on the way down, with the producers that are still to be visited, the next one last.
    stack: Vec<(Rc<FuncBody>, Vec<Rc<FuncBody>>)>,
    /// The index of a Func on the stack; `None` once it is done.
    place: HashMap<usize, Option<usize>>,
    order: Vec<Rc<FuncBody>>,
    cycles: Vec<(Location, AlgorithmErrorKind)>,
    late: Vec<(Location, AlgorithmErrorKind)>,
}

impl Walk {
    fn enter(&mut self, body: Rc<FuncBody>) {
        match self.place.get(&address(&body)) {
            Some(None) => {}
            Some(&Some(start)) => {
                let mut funcs: Vec<String> = self.stack[start..].iter().map(|(b, _)| b.name.clone()).collect();
                funcs.push(body.name.clone());
                self.cycles.push((body.at, AlgorithmErrorKind::Cycle { funcs }));
            }
            None => {
                self.place.insert(address(&body), Some(self.stack.len()));
                let todo = self.producers(&body);
                self.stack.push((body, todo));
            }
        }
    }

    fn leave(&mut self, body: Rc<FuncBody>) {
        self.stack.pop();
        self.place.insert(address(&body), None);
        self.order.push(body);
    }

    /// The Funcs that the definitions of `reader` call, itself left out; the last is to be visited first.
    fn producers(&mut self, reader: &Rc<FuncBody>) -> Vec<Rc<FuncBody>> {
        let mut roots = Vec::new();
        reader.exprs(&mut roots);
        let mut seen = HashSet::new();
        let mut found: Vec<Rc<FuncBody>> = Vec::new();
        arena::walk(&roots, |_, kind, more| match kind {
            Kind::Call(callee, _, defs) if !Rc::ptr_eq(callee, reader) => {
                if seen.insert(address(callee)) {
                    found.push(callee.clone());
                }
                let next = callee.defs.borrow().get(*defs).map(|d| d.written);
                if let Some(written) = next.or(callee.open.get()) {
                    let (func, reader) = (callee.name.clone(), reader.name.clone());
                    self.late.push((written.at, AlgorithmErrorKind::DefinedAfterRead { func, reader }));
                }
            }
            Kind::Image(image, _) => {
                let inputs = image.external.iter().flat_map(|(stage, _)| &stage.inputs);
                for input in inputs {
                    if let OpenInput::Func(body) = input
                        && seen.insert(address(body))
                    {
                        found.push(body.clone());
                    }
                }
            }
            Kind::RVar(domain, _) => domain.exprs(more),
            _ => {}
        });
        found.reverse();
        found
    }
}
