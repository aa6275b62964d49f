//! The choice of an instruction, a tile and an order for each stage that an instruction computes.

use super::approach::{Answer, Approach, Choice, ChoiceKind};
use super::contraction::Contraction;
use super::emit::Chosen;
use super::home::{Home, home};
use super::mapped::{Mapped, MappedStage};
use super::memory::Order;
use super::needle::Needle;
use super::order::orders;
use super::tile::{Tile, tiles};
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
use halide_sched::plan::{Mapping, Plan, mappings, resolve};
use halide_sched::schedule::{Amount, FloatMode, Instruction, InstructionSet, Schedule};
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
    let given = question.question.schedule.with_instructions(question.set);
    let (given, stored) = with_operands(question, given);
    // Sums that nothing is said of are outside of all loops until their places are chosen.
    let at_root = completed(&given, question.question.pipeline, false).with_instructions(question.set);
    let asked = Priceable { schedule: &at_root, ..question.question };
    with_state(&asked, &mut nothing_known, |plan, search, candidate, _| {
        let mut mapper = Mapper {
            question,
            plan,
            pricer: &search.pricer,
            state: &candidate.state,
            approach,
            inspect,
            mapped: Mapped { schedule: given.clone(), stages: Vec::new(), decisions: Vec::new(), rest: Vec::new() },
            attempts: Vec::new(),
            scheduled: Vec::new(),
        };
        for &func in &plan.pipeline.order {
            for stage in 1..plan.pipeline.funcs[func].stages.len() {
                mapper.stage((func, stage))?;
            }
        }
        if mapper.mapped.stages.is_empty() {
            return Err(AutoError::NothingMaps { attempts: mapper.attempts });
        }
        mapper.finish(&stored);
        Ok(mapper.mapped)
    })
}

/// Directives with pure Funcs outside of all loops that contractions read as operands, and their names: an instruction
/// reads them from memory.
fn with_operands(question: &Mappable<'_>, mut given: Schedule) -> (Schedule, Vec<String>) {
    let Mappable { set, question, .. } = question;
    let (pipeline, mut stored) = (question.pipeline, Vec::new());
    let said: BTreeSet<String> = given.directives().iter().map(|d| d.subject.func.clone()).collect();
    let is_free = |name: &String| {
        let func = pipeline.funcs.enumerate().find(|(_, func)| func.name == *name);
        func.is_some_and(|(id, func)| func.is_pure() && !pipeline.outputs.contains(&id)) && !said.contains(name)
    };
    for func in pipeline.order.iter().map(|id| &pipeline.funcs[*id]) {
        for stage in 1..func.stages.len() {
            let sums = set.names().filter(|name| set.find(name).is_some_and(adds));
            let found = sums.filter_map(|name| mappings(pipeline, (&func.name, stage), set, name).ok());
            for (_, operand) in found.flatten().flat_map(|mapping| mapping.operands) {
                if is_free(&operand) && !stored.contains(&operand) {
                    given.func(operand.as_str()).compute_root();
                    stored.push(operand);
                }
            }
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
    approach: &'m mut dyn Approach,
    inspect: &'m mut Inspect<'q>,
    mapped: Mapped,
    attempts: Vec<Attempt>,
    /// The Funcs that have loops now.
    scheduled: Vec<String>,
}

/// A mapping with its tiles, each with its orders.
struct Way {
    needle: Needle,
    tiles: Vec<(Tile, Vec<Order>)>,
}

impl Way {
    fn cycles(&self) -> f64 {
        self.tiles.iter().flat_map(|(_, orders)| orders).map(|order| order.total).fold(f64::INFINITY, f64::min)
    }
}

impl Mapper<'_, '_> {
    /// Chooses for one definition, if an instruction computes it.
    fn stage(&mut self, of: (FuncId, usize)) -> Result<(), AutoError> {
        let pipeline = &self.plan.pipeline;
        let name = pipeline.funcs[of.0].name.clone();
        let spelled = format!("{name}.update({})", of.1 - 1);
        if told(self.question.question.schedule).contains(name.as_str()) {
            return Ok(());
        }
        let contraction = match Contraction::of(self.pricer, self.state, of) {
            Ok(Some(contraction)) => contraction,
            Ok(None) | Err(_) => {
                self.attempts.push(Attempt { stage: spelled, instruction: String::new(), why: WhyNot::NoSum });
                return Ok(());
            }
        };
        let home = match pipeline.funcs[of.0].stages.len() {
            2 => home(self.pricer, self.state, of.0),
            _ => Home::Own { is_output: self.pricer.dag.funcs[of.0].is_output },
        };
        let is_own = matches!(home, Home::Own { .. });
        let (mut options, mut passed_over) = self.options(&contraction, of, &spelled, is_own);
        while !options.is_empty() {
            let (at, number, order) = self.decide(&contraction, &spelled, &options);
            let option = &options[at];
            let (tile, order) = (&option.tiles[number].0, &option.tiles[number].1[order]);
            let mut schedule = self.mapped.schedule.clone();
            let threads = self.question.question.target.threads;
            let needle = &option.needle;
            let chosen = Chosen { contraction: &contraction, needle, sizes: &tile.sizes, order, home: &home, threads };
            let innermost = chosen.emit(&mut schedule).map(|name| format!("{spelled}.{name}"));
            match self.compiles(&schedule, innermost.as_deref()) {
                Ok(()) => {
                    let choices = options.len() + passed_over.len();
                    let stage = described(&contraction, needle, tile, order, (spelled, choices), passed_over);
                    self.mapped.stages.push(stage);
                    self.mapped.schedule = schedule;
                    self.scheduled.push(contraction.of.0.clone());
                    if let Home::Reader { func, .. } = &home {
                        self.scheduled.push(func.clone());
                    }
                    return Ok(());
                }
                Err(error) => {
                    let instruction = needle.mapping.instruction.clone();
                    self.attempt(&spelled, &instruction, WhyNot::Refused(error.to_string()));
                    let left = &mut options[at].tiles;
                    left.remove(number);
                    if left.is_empty() {
                        passed_over.push((options.remove(at).needle.mapping, Unsuited::Refused));
                    }
                }
            }
        }
        Ok(())
    }

    /// Asks the compiler for a schedule: it makes code of it, with wide vectors in the innermost loop.
    fn compiles(&mut self, schedule: &Schedule, innermost: Option<&str>) -> Result<(), AutoError> {
        let Priceable { pipeline, target, .. } = self.question.question;
        let plan = resolve(pipeline, schedule, target).map_err(AutoError::Schedule)?;
        let facts = (self.inspect)(&plan)?.unwrap_or_default();
        match innermost.filter(|name| facts.refused.iter().any(|refused| refused == name)) {
            None => Ok(()),
            Some(name) => {
                Err(AutoError::Code { reason: format!("there is no code with wide vectors for loop `{name}`") })
            }
        }
    }

    /// Runs operands in vectors that have no loops otherwise, and notes the Funcs outside of all loops that are left.
    fn finish(&mut self, stored: &[String]) {
        let pipeline = &self.plan.pipeline;
        for &id in &pipeline.order {
            let func = &pipeline.funcs[id];
            if self.scheduled.contains(&func.name) || self.state.place(id) != Place::Root {
                continue;
            }
            if !stored.contains(&func.name) {
                self.mapped.rest.push(func.name.clone());
                continue;
            }
            let names: Vec<&str> = func.args.iter().map(|var| pipeline.vars[*var].as_str()).collect();
            let [first, .., last] = names[..] else { continue };
            let stage = self.mapped.schedule.func(func.name.as_str()).vectorize(first, Amount::Natural);
            if self.question.question.target.threads > 1 {
                drop(stage.parallel(last));
            }
        }
    }

    /// The mappings of all instructions with their tiles, and those that are not taken.
    fn options(
        &mut self,
        contraction: &Contraction,
        of: (FuncId, usize),
        spelled: &str,
        is_own: bool,
    ) -> (Vec<Way>, Vec<(Mapping, Unsuited)>) {
        let Mappable { question, set, costs, floats } = *self.question;
        let (mut options, mut passed_over) = (Vec::new(), Vec::new());
        let ty = self.plan.pipeline.funcs[of.0].types[0];
        let lanes = question.target.natural_lanes(ty);
        let sums = set.names().filter_map(|name| set.find(name)).filter(|instruction| adds(instruction));
        for instruction in sums {
            let name = instruction.name();
            let found = match mappings(&self.plan.pipeline, (&contraction.of.0, of.1), set, name) {
                Ok(found) => found,
                Err(error) => {
                    self.attempt(spelled, name, WhyNot::Differs(error));
                    continue;
                }
            };
            let cycles = costs.of(name, question.machine);
            for mapping in found {
                let option = match instruction.float_mode() > floats {
                    true => Err(Unsuited::Floats),
                    false => Needle::new(contraction, instruction, &mapping, lanes, cycles)
                        .and_then(|needle| self.option(contraction, needle, is_own)),
                };
                match option {
                    Ok(option) => options.push(option),
                    Err(why) => {
                        self.attempt(spelled, name, WhyNot::Unsuited(why));
                        passed_over.push((mapping, why));
                    }
                }
            }
        }
        (options, passed_over)
    }

    /// Notes a reason, once.
    fn attempt(&mut self, stage: &str, instruction: &str, why: WhyNot) {
        let attempt = Attempt { stage: stage.to_string(), instruction: instruction.to_string(), why };
        let text = attempt.to_string();
        if self.attempts.iter().all(|other| other.to_string() != text) {
            self.attempts.push(attempt);
        }
    }

    fn option(&self, contraction: &Contraction, needle: Needle, is_own: bool) -> Result<Way, Unsuited> {
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

    /// Asks for the mapping, the tile and the order.
    fn decide(&mut self, contraction: &Contraction, stage: &str, options: &[Way]) -> (usize, usize, usize) {
        let answer = |text: String, cycles: f64| Answer { text, cycles };
        let answers = options.iter().map(|option| answer(option.needle.mapping.to_string(), option.cycles()));
        let at = self.ask(ChoiceKind::Mapping, stage, answers.collect());
        let all = &options[at].tiles;
        let answers = all.iter().map(|(tile, orders)| {
            let best = orders.iter().map(|order| order.total).fold(f64::INFINITY, f64::min);
            let sizes = named(contraction, &tile.sizes).map(|(name, size)| format!("{name} {size}"));
            answer(sizes.collect::<Vec<_>>().join(" x "), best)
        });
        let tile = self.ask(ChoiceKind::Tile, stage, answers.collect());
        let answers = all[tile].1.iter().map(|order| {
            let loops = order.loops.iter().rev().map(|of| contraction.loops[*of].name.as_str());
            let copies = order.copies.iter().map(|copy| contraction.operands[copy.operand].name.as_str());
            let (loops, copies) = (loops.collect::<Vec<_>>(), copies.collect::<Vec<_>>());
            answer(format!("{}; copies of {}", loops.join(" "), copies.join(", ")), order.total)
        });
        let order = self.ask(ChoiceKind::Order, stage, answers.collect());
        (at, tile, order)
    }

    fn ask(&mut self, kind: ChoiceKind, stage: &str, answers: Vec<Answer>) -> usize {
        let choice = Choice { kind, stage, answers: &answers };
        let answer = self.approach.choose(&choice).min(answers.len().saturating_sub(1));
        self.mapped.decisions.push(answer);
        answer
    }
}

/// Returns true for an instruction that adds to its result.
fn adds(instruction: &Instruction) -> bool {
    let stages = |meaning: &Pipeline| meaning.outputs.first().map_or(0, |id| meaning.funcs[*id].stages.len());
    instruction.meanings().iter().any(|meaning| stages(meaning) > 1)
}

/// The loops of which a tile has several iterations.
fn named<'c>(contraction: &'c Contraction, sizes: &'c [i64]) -> impl Iterator<Item = (&'c str, i64)> {
    let all = contraction.loops.iter().zip(sizes).filter(|(_, size)| **size > 1);
    all.map(|(l, size)| (l.name.as_str(), *size))
}

fn described(
    contraction: &Contraction,
    needle: &Needle,
    tile: &Tile,
    order: &Order,
    (stage, choices): (String, usize),
    passed_over: Vec<(Mapping, Unsuited)>,
) -> MappedStage {
    let copies = order.copies.iter().map(|copy| contraction.operands[copy.operand].name.clone());
    MappedStage {
        stage,
        mapping: needle.mapping.clone(),
        choices,
        tile: named(contraction, &tile.sizes).map(|(name, size)| (name.to_string(), size)).collect(),
        copies: copies.collect(),
        cycles: order.total,
        passed_over,
    }
}
