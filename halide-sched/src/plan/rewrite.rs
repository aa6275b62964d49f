//! Directives that change the graph: wrappers (`in`) and copies (`clone_in`) of Funcs for some of their consumers, and
//! reductions in parts (`rfactor`).

use super::diagnostics::{Errors, JoinReason, Problem};
use super::graph::{Callee, Detours, Graph, Stage};
use super::rewritten::Rewritten;
use super::rfactor::{self, rfactor};
use crate::schedule::{Directive, Schedule, Scope, Verb, made_names};
use halide_core::error::Location;
use halide_core::ids::{FuncId, ImageId};
use halide_core::pipeline::Pipeline;
use halide_ir::target::Target;
use std::collections::{BTreeMap, BTreeSet};

/// Follows the directives that change the graph.
pub(super) fn rewrite(pipeline: &Pipeline, schedule: &Schedule, target: &Target, errors: &mut Errors<'_>) -> Rewritten {
    let mut pending: Vec<usize> =
        (0..schedule.len()).filter(|&n| schedule.directives()[n].verb.scope() == Scope::Graph).collect();
    if pending.is_empty() {
        let (pipeline, not_made, spent) = (pipeline.clone(), BTreeSet::new(), BTreeSet::new());
        return Rewritten { pipeline, not_made, spent, joined: BTreeMap::new() };
    }
    let mut not_made = BTreeSet::new();
    let (graph, wrappers, spent) = (Graph::new(pipeline), BTreeMap::new(), BTreeSet::new());
    let (images, joined) = (BTreeMap::new(), BTreeMap::new());
    let mut rewriter = Rewriter { schedule, target, graph, images, wrappers, spent, joined, errors };
    while !pending.is_empty() {
        let number = pending.remove(next(schedule, &pending));
        let directive = &schedule.directives()[number];
        if let Err(problem) = rewriter.apply(number, directive) {
            rewriter.errors.report(number, problem);
            not_made.extend(made_names(directive));
        }
    }
    Rewritten { pipeline: rewriter.graph.finish(), not_made, spent: rewriter.spent, joined: rewriter.joined }
}

/// The position of the next directive to follow: in order, but after those that make the Funcs that it speaks of, and
/// the wrapper for all other consumers after those for single ones, and tuples in one buffer last: what is made of a
/// Func has the elements that it had.
fn next(schedule: &Schedule, pending: &[usize]) -> usize {
    let directives: Vec<&Directive> = pending.iter().map(|&n| &schedule.directives()[n]).collect();
    let made: Vec<Vec<String>> = directives.iter().map(|d| made_names(d)).collect();
    let speaks_of = |d: &Directive, name: &str| d.subject.func == name || consumers(d).iter().any(|c| c == name);
    let makes_for =
        |maker: usize, user: usize| maker != user && made[maker].iter().any(|name| speaks_of(directives[user], name));
    let all = || 0..directives.len();
    let depends = |user: usize, on: usize| {
        let (mut todo, mut seen) = (vec![user], BTreeSet::from([user]));
        while let Some(user) = todo.pop() {
            todo.extend(all().filter(|&maker| makes_for(maker, user) && seen.insert(maker)));
        }
        seen.contains(&on)
    };
    let waits = |n: usize| {
        let joins = |n: usize| matches!(directives[n].verb, Verb::TupleStorage { .. });
        let is_single = |other: usize| {
            let same = directives[other].subject.func == directives[n].subject.func;
            same && !is_global(directives[other]) && !joins(other)
        };
        if joins(n) && all().any(|other| !joins(other)) {
            return true;
        }
        let is_last = is_global(directives[n]);
        all().any(|maker| makes_for(maker, n)) || is_last && all().any(|other| is_single(other) && !depends(other, n))
    };
    all().find(|&n| !waits(n)).unwrap_or(0)
}

/// The Funcs that a wrapper or a copy is for.
fn consumers(directive: &Directive) -> &[String] {
    match &directive.verb {
        Verb::In { consumers } | Verb::CloneIn { consumers } => consumers,
        _ => &[],
    }
}

fn is_global(directive: &Directive) -> bool {
    matches!(&directive.verb, Verb::In { consumers } if consumers.is_empty())
}

struct Rewriter<'e, 's> {
    schedule: &'e Schedule,
    target: &'e Target,
    graph: Graph,
    spent: BTreeSet<usize>,
    joined: BTreeMap<FuncId, i64>,
    /// The Funcs that stand for images.
    images: BTreeMap<ImageId, FuncId>,
    /// The wrappers and copies of each Func, with the consumers that they are for.
    wrappers: BTreeMap<FuncId, Vec<(FuncId, BTreeSet<FuncId>)>>,
    errors: &'e mut Errors<'s>,
}

impl Rewriter<'_, '_> {
    fn find(&self, name: &str) -> Result<FuncId, Problem> {
        let data = self.graph.data();
        let found = data.funcs.enumerate().find(|(_, f)| f.name == name).map(|(id, _)| id);
        found.ok_or_else(|| {
            let near = crate::schedule::closest(name, data.funcs.iter().map(|f| f.name.as_str()));
            Problem::UnknownFunc { name: name.to_string(), near: near.map(str::to_string) }
        })
    }

    /// The Func that is called `name`, or that stands for the input image called so.
    fn wrapped(&mut self, name: &str, at: Option<Location>) -> Result<FuncId, Problem> {
        let images = &self.graph.data().images;
        let image = images.enumerate().find(|(_, i)| i.name == name).map(|(id, _)| id);
        let func = self.find(name);
        let (Some(image), Err(_)) = (image, &func) else { return func };
        if let Some(known) = self.images.get(&image) {
            return Ok(*known);
        }
        let none = || Problem::NoCaller { func: name.to_string() };
        let made = self.graph.add_image(image, at).ok_or_else(none)?;
        self.images.insert(image, made);
        Ok(made)
    }

    fn apply(&mut self, number: usize, directive: &Directive) -> Result<(), Problem> {
        let subject = &directive.subject;
        if let Verb::Rfactor { rvars, vars } = &directive.verb {
            let func = self.find(&subject.func)?;
            let request = rfactor::Request { schedule: self.schedule, target: self.target, number, rvars, vars };
            let behind = rfactor(&request, &mut self.graph, func, &mut self.spent)?;
            let of = self.schedule.subject_text(subject);
            for number in behind {
                self.errors.report(number, Problem::ScanIsPure { of: of.clone(), func: subject.func.clone() });
            }
            return Ok(());
        }
        if subject.stage > 0 || !subject.specializations.is_empty() {
            return Err(Problem::WholeFunc { func: subject.func.clone() });
        }
        if let Verb::TupleStorage { dim } = &directive.verb {
            return self.join_elements(&subject.func, dim);
        }
        let base = self.wrapped(&subject.func, directive.at)?;
        self.check_called(base)?;
        if matches!(directive.verb, Verb::CloneIn { .. }) && self.graph.data().keeps(base) {
            return Err(Problem::CopyOfKept { func: subject.func.clone() });
        }
        let (Verb::In { consumers } | Verb::CloneIn { consumers }) = &directive.verb else { return Ok(()) };
        let callers = self.callers(base, &subject.func, consumers)?;
        let name = made_names(directive).into_iter().next().unwrap_or_default();
        let made = match &directive.verb {
            Verb::CloneIn { .. } => self.graph.add_copy(base, &name, &Detours::new()),
            _ => self.graph.add_wrapper(base, &name, directive.at),
        };
        for &stage in &callers {
            self.graph.redirect(stage, &Detours::from([(Callee::Func(base), made.into())]));
        }
        let funcs = callers.into_iter().map(|(f, _)| f).collect();
        self.wrappers.entry(base).or_default().push((made, funcs));
        Ok(())
    }

    /// Stores the elements of a tuple along a dimension.
    fn join_elements(&mut self, name: &str, dim: &str) -> Result<(), Problem> {
        let func = self.find(name)?;
        self.check_called(func)?;
        let data = self.graph.data();
        let def = &data.funcs[func];
        let why = match &def.types[..] {
            _ if data.outputs.contains(&func) => Some(JoinReason::Output),
            [_] => Some(JoinReason::OneElement),
            types if types.iter().any(|ty| *ty != types[0]) => Some(JoinReason::Types),
            _ if def.stages.len() > 1 => Some(JoinReason::Updates),
            _ => None,
        };
        if let Some(why) = why {
            return Err(Problem::TupleStorage { func: name.to_string(), why });
        }
        if def.args.iter().any(|&var| data.vars[var] == *dim) {
            return Err(Problem::DimTaken { func: name.to_string(), name: dim.to_string() });
        }
        self.joined.insert(func, def.types.len() as i64);
        self.graph.join_elements(func, dim);
        Ok(())
    }

    /// Refuses wrappers and copies of what calls of closures are made of.
    fn check_called(&self, base: FuncId) -> Result<(), Problem> {
        let data = self.graph.data();
        let func = || data.funcs[base].name.clone();
        match data.callees.iter().find(|callee| callee.func == base || callee.inputs.contains(&base)) {
            None => Ok(()),
            Some(callee) if callee.func == base => Err(Problem::CalleeValues { func: func() }),
            Some(_) => Err(Problem::CalleeInput { func: func() }),
        }
    }

    /// The stages whose calls of `base` are to go to the new Func.
    fn callers(&self, base: FuncId, base_name: &str, consumers: &[String]) -> Result<Vec<Stage>, Problem> {
        let wrappers = self.wrappers.get(&base).map_or(&[][..], Vec::as_slice);
        let all = self.graph.callers(base);
        if consumers.is_empty() {
            // Copies call what the Func calls, never the Func; so only its wrappers are to be left alone here.
            let others = all.iter().filter(|(f, _)| wrappers.iter().all(|(wrapper, _)| wrapper != f));
            let callers: Vec<Stage> = others.copied().collect();
            let none = Problem::NoCaller { func: base_name.to_string() };
            return if callers.is_empty() { Err(none) } else { Ok(callers) };
        }
        let mut callers = Vec::new();
        for (i, consumer) in consumers.iter().enumerate() {
            let (func, consumer) = (base_name.to_string(), consumer.clone());
            let id = self.find(&consumer)?;
            if id == base {
                return Err(Problem::WrapsItself { func });
            }
            if consumers[..i].contains(&consumer) {
                return Err(Problem::Repeated { name: consumer });
            }
            let before = callers.len();
            callers.extend(all.iter().filter(|(f, _)| *f == id).copied());
            if callers.len() == before {
                let wrapped = wrappers.iter().any(|(_, funcs)| funcs.contains(&id));
                let twice = Problem::WrappedTwice { func: func.clone(), consumer: consumer.clone() };
                return Err(if wrapped { twice } else { Problem::NotACaller { func, consumer } });
            }
        }
        Ok(callers)
    }
}
