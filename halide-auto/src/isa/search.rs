//! The choice of an instruction, a tile and an order for each stage that an instruction computes.

use super::approach::{Answer, Approach, Choice, ChoiceKind};
use super::contraction::Contraction;
use super::home::{Home, home};
use super::mapped::Mapped;
use super::matches::Matches;
use super::needle::Needle;
use super::order::orders;
use super::tile::{Tile, tiles};
use super::ways::{Candidate, Way};
use crate::attempt::{Attempt, Unsuited, WhyNot};
use crate::chosen::{CodeFacts, Inspect};
use crate::cost::Pricer;
use crate::costs::Costs;
use crate::error::AutoError;
use crate::kept::{completed, told};
use crate::price::{Priceable, with_state};
use crate::state::{Place, State};
use halide_core::ids::FuncId;
use halide_core::pipeline::Pipeline;
use halide_sched::plan::{Mapping, Plan, resolve};
use halide_sched::schedule::{Amount, FloatMode, InstructionSet, Schedule};
use std::collections::BTreeSet;

/// A question for instructions.
#[derive(Clone, Copy, Debug)]
pub struct Mappable<'q> {
    /// The pipeline, its sizes, the machine, and directives that stay as they are.
    pub question: Priceable<'q>,
    /// The instructions.
    pub set: &'q InstructionSet,
    /// The costs of instructions.
    pub costs: &'q Costs,
    /// The most that may become of floats.
    pub floats: FloatMode,
}

/// Chooses instructions for the stages of a pipeline that are sums of products, and loops for these instructions: tiles
/// that stay in registers, the order of the loops around them, and copies of operands. Nothing is run. `inspect` tells
/// what the compiler makes of a schedule; another tile is taken where it refuses one.
///
/// # Errors
/// [`AutoError::NothingMaps`] with all attempts; costs of instructions that there are not; and what
/// [`price`](crate::price()) refuses.
pub fn map(
    question: &Mappable<'_>,
    approach: &mut dyn Approach,
    inspect: &mut Inspect<'_>,
) -> Result<Mapped, AutoError> {
    question.costs.check(question.set).map_err(AutoError::Costs)?;
    let whole = question.question.pipeline;
    let matches = Matches::new(whole, question.set);
    let given = question.question.schedule.with_instructions(question.set);
    let (given, stored) = with_operands(whole, &matches, given);
    // Sums that nothing is said of are outside of all loops until their places are chosen.
    let at_root = completed(&given, whole, false).with_instructions(question.set);
    let asked = Priceable { schedule: &at_root, ..question.question };
    with_state(&asked, &mut nothing_known, |plan, search, candidate, _| {
        // Directives that make Funcs change what definitions read.
        let is_same = plan.pipeline.funcs.len() == whole.funcs.len();
        let matches = if is_same { matches } else { Matches::new(&plan.pipeline, question.set) };
        let mut mapper = Mapper {
            question,
            plan,
            pricer: &search.pricer,
            state: &candidate.state,
            given: &given,
            approach,
            inspect,
            candidates: Vec::new(),
            decisions: Vec::new(),
            attempts: Vec::new(),
            told: BTreeSet::new(),
        };
        for &func in &plan.pipeline.order {
            for stage in 1..plan.pipeline.funcs[func].stages.len() {
                mapper.candidate((func, stage), &matches);
            }
        }
        (0..mapper.candidates.len()).for_each(|n| mapper.choose(n));
        while let Some((n, error)) = mapper.refusal() {
            mapper.refuse(n, &error);
            mapper.choose_again(n);
        }
        mapper.finish(&stored)
    })
}

/// Directives with pure Funcs outside of all loops that contractions read as operands, and their names: an instruction
/// reads them from memory.
fn with_operands(pipeline: &Pipeline, matches: &Matches, mut given: Schedule) -> (Schedule, Vec<String>) {
    let said: BTreeSet<String> = given.directives().iter().map(|d| d.subject.func.clone()).collect();
    let is_free = |name: &str| {
        let func = pipeline.funcs.enumerate().find(|(_, func)| func.name == name);
        func.is_some_and(|(id, func)| func.is_pure() && !pipeline.outputs.contains(&id)) && !said.contains(name)
    };
    let mut stored: Vec<String> = Vec::new();
    for operand in matches.operands().filter(|operand| is_free(operand)) {
        if stored.iter().all(|other| other != operand) {
            given.func(operand).compute_root();
            stored.push(operand.to_string());
        }
    }
    (given, stored)
}

/// The word of a compiler that is not asked.
fn nothing_known(_: &Plan) -> Result<Option<CodeFacts>, AutoError> {
    Ok(None)
}

struct Mapper<'m, 'q> {
    question: &'m Mappable<'q>,
    plan: &'m Plan,
    pricer: &'m Pricer<'m>,
    state: &'m State,
    given: &'m Schedule,
    approach: &'m mut dyn Approach,
    inspect: &'m mut Inspect<'q>,
    /// The stages that instructions compute, producers first.
    candidates: Vec<Candidate>,
    decisions: Vec<usize>,
    attempts: Vec<Attempt>,
    /// The attempts as text.
    told: BTreeSet<String>,
}

impl Mapper<'_, '_> {
    /// Finds the ways of one definition.
    fn candidate(&mut self, of: (FuncId, usize), matches: &Matches) {
        let pipeline = &self.plan.pipeline;
        let name = &pipeline.funcs[of.0].name;
        let spelled = format!("{name}.update({})", of.1 - 1);
        if told(self.question.question.schedule).contains(name.as_str()) {
            return;
        }
        let Ok(Some(contraction)) = Contraction::of(self.pricer, self.state, of) else {
            self.attempts.push(Attempt { stage: spelled, instruction: String::new(), why: WhyNot::NoSum });
            return;
        };
        let home = match pipeline.funcs[of.0].stages.len() {
            2 => home(self.pricer, self.state, of.0),
            _ => Home::Own { is_output: self.pricer.dag.funcs[of.0].is_output },
        };
        let (ways, passed_over) = self.ways(&contraction, of, matches, (&spelled, matches!(home, Home::Own { .. })));
        let (refused, chosen) = (BTreeSet::new(), None);
        let candidate = Candidate { spelled, contraction, home, ways, passed_over, refused, chosen, is_apart: false };
        self.candidates.push(candidate);
    }

    /// The mappings of all instructions with their tiles, and those that are not taken.
    fn ways(
        &mut self,
        contraction: &Contraction,
        of: (FuncId, usize),
        matches: &Matches,
        (spelled, is_own): (&str, bool),
    ) -> (Vec<Way>, Vec<(Mapping, Unsuited)>) {
        let Mappable { question, set, costs, floats } = *self.question;
        let (mut ways, mut passed_over) = (Vec::new(), Vec::new());
        let ty = self.plan.pipeline.funcs[of.0].types[0];
        let lanes = question.target.natural_lanes(ty);
        for matched in matches.of(&contraction.of.0, of.1) {
            let name = &matched.instruction;
            let Some(instruction) = set.find(name) else { continue };
            let found = match &matched.found {
                Ok(found) => found,
                Err(error) => {
                    self.attempt(spelled, name, WhyNot::Differs(error.clone()));
                    continue;
                }
            };
            let cycles = costs.of(name, question.machine);
            for mapping in found {
                let way = match instruction.float_mode() > floats {
                    true => Err(Unsuited::Floats),
                    false => Needle::new(contraction, instruction, mapping, lanes, cycles)
                        .and_then(|needle| self.way(contraction, needle, is_own)),
                };
                match way {
                    Ok(way) => ways.push(way),
                    Err(why) => {
                        self.attempt(spelled, name, WhyNot::Unsuited(why));
                        passed_over.push((mapping.clone(), why));
                    }
                }
            }
        }
        (ways, passed_over)
    }

    fn way(&self, contraction: &Contraction, needle: Needle, is_own: bool) -> Result<Way, Unsuited> {
        let Priceable { machine, target, .. } = self.question.question;
        let tiles = tiles(contraction, &needle, machine);
        if tiles.is_empty() {
            return Err(Unsuited::Registers);
        }
        let with_orders = |tile: Tile| {
            let orders = orders(contraction, &needle, &tile, (machine, target.threads), is_own);
            (!orders.is_empty()).then_some((tile, orders))
        };
        let tiles: Vec<_> = tiles.into_iter().filter_map(with_orders).collect();
        if tiles.is_empty() { Err(Unsuited::Layout) } else { Ok(Way { needle, tiles }) }
    }

    /// Notes a reason, once.
    fn attempt(&mut self, stage: &str, instruction: &str, why: WhyNot) {
        let attempt = Attempt { stage: stage.to_string(), instruction: instruction.to_string(), why };
        if self.told.insert(attempt.to_string()) {
            self.attempts.push(attempt);
        }
    }

    /// The first of the stages in the tiles of a Func, of those before `n`.
    fn leader(&self, n: usize) -> Option<&Candidate> {
        let reader = self.candidates[n].reader()?;
        self.candidates[..n].iter().find(|other| other.chosen.is_some() && other.reader() == Some(reader))
    }

    /// Returns true if no other chosen stage is in the tiles of the same Func.
    fn is_alone(&self, n: usize) -> bool {
        let mut chosen = self.candidates.iter().enumerate().filter(|(_, other)| other.chosen.is_some());
        let reader = self.candidates[n].reader();
        reader.is_none() || chosen.all(|(m, other)| m == n || other.reader() != reader)
    }

    /// Chooses for a stage, until a choice is legal beside those before. What is left is in loops of its own where its
    /// reader has tiles that do not suit it.
    fn choose(&mut self, n: usize) {
        loop {
            let frame = self.leader(n).and_then(Candidate::frame);
            let mut left = self.candidates[n].left(frame.as_ref());
            if left.is_empty() && frame.is_some() {
                self.candidates[n].is_apart = true;
                left = self.candidates[n].left(None);
            }
            if left.is_empty() {
                return;
            }
            let stage = self.candidates[n].spelled.clone();
            let answers = self.candidates[n].mappings(&left);
            let (way, tiles) = &left[self.ask(ChoiceKind::Mapping, &stage, &answers)];
            let answers = self.candidates[n].tiles(*way, tiles);
            let (tile, orders) = &tiles[self.ask(ChoiceKind::Tile, &stage, &answers)];
            let answers = self.candidates[n].orders(*way, *tile, orders);
            let order = orders[self.ask(ChoiceKind::Order, &stage, &answers)];
            self.candidates[n].chosen = Some((*way, *tile, order));
            let Priceable { pipeline, target, .. } = self.question.question;
            match resolve(pipeline, &self.schedule(n + 1).0, target) {
                Ok(_) => return,
                Err(error) => self.refuse(n, &AutoError::Schedule(error)),
            }
        }
    }

    fn ask(&mut self, kind: ChoiceKind, stage: &str, answers: &[Answer]) -> usize {
        let choice = Choice { kind, stage, answers };
        let answer = self.approach.choose(&choice).min(answers.len().saturating_sub(1));
        self.decisions.push(answer);
        answer
    }

    /// Takes back what is chosen for a stage.
    fn refuse(&mut self, n: usize, error: &AutoError) {
        let candidate = &mut self.candidates[n];
        let Some((way, tile, _)) = candidate.chosen.take() else { return };
        candidate.refused.insert((way, tile));
        let (stage, instruction) = (candidate.spelled.clone(), candidate.ways[way].needle.mapping.instruction.clone());
        self.attempt(&stage, &instruction, WhyNot::Refused(error.to_string()));
    }

    /// Chooses anew for a stage, and for those after it in the tiles of the same Func.
    fn choose_again(&mut self, n: usize) {
        let func = |candidate: &Candidate| match &candidate.home {
            Home::Reader { func, .. } => Some(func.clone()),
            Home::Own { .. } => None,
        };
        let own = func(&self.candidates[n]);
        let others = (n + 1..self.candidates.len()).filter(|m| own.is_some() && func(&self.candidates[*m]) == own);
        let again: Vec<usize> = std::iter::once(n).chain(others).collect();
        for m in &again {
            (self.candidates[*m].chosen, self.candidates[*m].is_apart) = (None, false);
        }
        again.into_iter().for_each(|m| self.choose(m));
    }

    /// The directives of the first so many stages, and the innermost loop around the tiles of each.
    fn schedule(&self, count: usize) -> (Schedule, Vec<(usize, String)>) {
        let (mut schedule, mut innermost) = (self.given.clone(), Vec::new());
        for (n, candidate) in self.candidates[..count].iter().enumerate() {
            let (threads, place) =
                (self.question.question.target.threads, (self.leader(n).is_none(), self.is_alone(n)));
            let Some(chosen) = candidate.directives(threads, place) else { continue };
            if let Some(name) = chosen.emit(&mut schedule) {
                innermost.push((n, format!("{}.{name}", candidate.spelled)));
            }
        }
        (schedule, innermost)
    }

    /// The loops of the first so many stages for which the compiler makes no code with wide vectors.
    fn inspected(&mut self, count: usize) -> Result<Option<usize>, AutoError> {
        let Priceable { pipeline, target, .. } = self.question.question;
        let (schedule, innermost) = self.schedule(count);
        let plan = resolve(pipeline, &schedule, target).map_err(AutoError::Schedule)?;
        let facts = (self.inspect)(&plan)?.unwrap_or_default();
        Ok(innermost.iter().find(|(_, name)| facts.refused.contains(name)).map(|(n, _)| *n))
    }

    /// The first stage that the compiler refuses as it is chosen, and why. It is asked for all stages at once, and for
    /// fewer only where it refuses these.
    fn refusal(&mut self) -> Option<(usize, AutoError)> {
        let chosen: Vec<usize> = (0..self.candidates.len()).filter(|n| self.candidates[*n].chosen.is_some()).collect();
        let last = *chosen.last()?;
        match self.inspected(last + 1) {
            Ok(None) => None,
            Ok(Some(n)) => {
                let name = self.schedule(n + 1).1.pop().map_or_else(String::new, |(_, name)| name);
                let reason = format!("there is no code with wide vectors for loop `{name}`");
                Some((n, AutoError::Code { reason }))
            }
            Err(error) => {
                let first = chosen.iter().find_map(|n| self.inspected(n + 1).err().map(|error| (*n, error)));
                Some(first.unwrap_or((last, error)))
            }
        }
    }

    /// The answer. Operands that have no loops otherwise run in vectors, and the Funcs outside of all loops that are
    /// left are told.
    fn finish(self, stored: &[String]) -> Result<Mapped, AutoError> {
        let (mut schedule, _) = self.schedule(self.candidates.len());
        let stages: Vec<_> = self.candidates.iter().filter_map(Candidate::described).collect();
        if stages.is_empty() {
            return Err(AutoError::NothingMaps { attempts: self.attempts });
        }
        let chosen = self.candidates.iter().filter(|candidate| candidate.chosen.is_some());
        let scheduled: BTreeSet<&str> =
            chosen.flat_map(|c| std::iter::once(c.contraction.of.0.as_str()).chain(c.reader())).collect();
        let pipeline = &self.plan.pipeline;
        let mut rest = Vec::new();
        for &id in &pipeline.order {
            let func = &pipeline.funcs[id];
            if scheduled.contains(func.name.as_str()) || self.state.place(id) != Place::Root {
                continue;
            }
            if !stored.contains(&func.name) {
                rest.push(func.name.clone());
                continue;
            }
            let names: Vec<&str> = func.args.iter().map(|var| pipeline.vars[*var].as_str()).collect();
            let [first, .., last] = names[..] else { continue };
            let stage = schedule.func(func.name.as_str()).vectorize(first, Amount::Natural);
            if self.question.question.target.threads > 1 {
                drop(stage.parallel(last));
            }
        }
        Ok(Mapped { schedule, stages, decisions: self.decisions, rest })
    }
}
