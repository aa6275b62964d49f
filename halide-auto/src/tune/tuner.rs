//! The search: asked for schedules to try, told how they did.

use crate::tune::credit::Credit;
use crate::tune::edit::Draft;
use crate::tune::moves::change;
use crate::tune::outcome::{Candidate, CandidateId, MoveKind, Origin, Outcome, TellError};
use crate::tune::random::Random;
use crate::tune::scene::Scene;
use crate::tuning::{LEAST_BETTER, MOST_AGAIN, MOST_PARENTS, PROPOSALS};
use halide_core::pipeline::Pipeline;
use halide_ir::target::Target;
use halide_sched::schedule::Schedule;
use std::collections::BTreeSet;

/// The options of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TuneOptions {
    /// The seed of random choices: equal seeds and equal results give equal candidates.
    pub seed: u64,
}

impl TuneOptions {
    /// The defaults, with this seed.
    pub fn with_seed(seed: u64) -> TuneOptions {
        TuneOptions { seed }
    }
}

/// A stochastic search for a fast schedule, which knows no time but what it is told. See [`tune`](crate::tune).
#[derive(Clone, Debug)]
pub struct Tuner {
    pipeline: Pipeline,
    target: Target,
    random: Random,
    credit: Credit,
    /// All candidates that were asked for or recalled, by their numbers.
    rows: Vec<Row>,
    /// The texts of all schedules that were proposed.
    seen: BTreeSet<String>,
    /// Schedules that are asked for next, last one first.
    queue: Vec<(Schedule, Origin)>,
    /// Proposals so far, which take turns.
    turn: usize,
}

#[derive(Clone, Debug)]
struct Row {
    schedule: Schedule,
    origin: Origin,
    outcome: Option<Outcome>,
    /// The loops, once it was a parent; `None` in it if it is not legal any more.
    scene: Option<Option<Scene>>,
}

impl Row {
    fn time(&self) -> Option<f64> {
        match self.outcome {
            Some(Outcome::Measured { time }) => Some(time),
            _ => None,
        }
    }
}

impl Tuner {
    /// A search that begins with `starts`, each with a label, in this order. Starts that are not legal are left out.
    pub fn new(
        pipeline: &Pipeline,
        target: &Target,
        starts: impl IntoIterator<Item = (String, Schedule)>,
        options: TuneOptions,
    ) -> Tuner {
        let mut tuner = Tuner {
            pipeline: pipeline.clone(),
            target: *target,
            random: Random::new(options.seed),
            credit: Credit::default(),
            rows: Vec::new(),
            seen: BTreeSet::new(),
            queue: Vec::new(),
            turn: 0,
        };
        for (label, schedule) in starts {
            let schedule = schedule.for_pipeline(pipeline);
            if tuner.is_new_and_legal(&schedule) {
                tuner.queue.insert(0, (schedule, Origin::Start(label)));
            }
        }
        tuner
    }

    /// Takes in what an earlier search found: no schedule of it is asked for again, but for the best ones, which follow
    /// the starts.
    pub fn recall(&mut self, found: impl IntoIterator<Item = (Schedule, Outcome)>) {
        let mut times = Vec::new();
        for (schedule, outcome) in found {
            // What is asked for anyway is measured now.
            if !self.is_new_and_legal(&schedule) {
                continue;
            }
            if let Outcome::Measured { time } = outcome {
                times.push((time, schedule.clone()));
            }
            // A search that goes on does not begin with the proposals of the one before.
            self.random.below(1);
        }
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        times.truncate(MOST_AGAIN);
        let again = times.into_iter().rev().map(|(_, schedule)| (schedule, Origin::Recalled));
        self.queue.splice(0..0, again);
    }

    /// Returns up to `count` legal schedules to try, none of which was given before: fewer if no more are found.
    pub fn ask(&mut self, count: usize) -> Vec<Candidate> {
        let mut asked = Vec::new();
        while asked.len() < count {
            let Some((schedule, origin)) = self.queue.pop().or_else(|| self.propose()) else { break };
            let id = CandidateId(self.rows.len());
            let row = Row { schedule: schedule.clone(), origin: origin.clone(), outcome: None, scene: None };
            self.rows.push(row);
            asked.push(Candidate { id, schedule, origin });
        }
        asked
    }

    /// Tells the result of a candidate. True if it is the best one so far.
    ///
    /// # Errors
    /// A candidate that was never asked for, or was told of before; a time that is none.
    pub fn tell(&mut self, id: CandidateId, outcome: Outcome) -> Result<bool, TellError> {
        let best = self.best().map(|(_, _, time)| time);
        let row = self.rows.get(id.0).ok_or(TellError::Unknown { id })?;
        if row.outcome.is_some() {
            return Err(TellError::Twice { id });
        }
        let time = match outcome {
            Outcome::Measured { time } if !(time.is_finite() && time > 0.0) => return Err(TellError::Time { time }),
            Outcome::Measured { time } => Some(time),
            _ => None,
        };
        if let Origin::Changed { parent, by } = &row.origin {
            let before = self.rows[parent.0].time();
            let is_better = time.zip(before).is_some_and(|(now, before)| now < before * (1.0 - LEAST_BETTER));
            self.credit.count(by, is_better);
        }
        self.rows[id.0].outcome = Some(outcome);
        Ok(time.is_some_and(|time| best.is_none_or(|best| time < best)))
    }

    /// The best candidate that was measured: its number, its schedule, its time.
    pub fn best(&self) -> Option<(CandidateId, &Schedule, f64)> {
        let id = *self.ranked().first()?;
        let row = &self.rows[id];
        Some((CandidateId(id), &row.schedule, row.time()?))
    }

    /// The time of a candidate that was measured.
    pub fn time(&self, id: CandidateId) -> Option<f64> {
        self.rows.get(id.0)?.time()
    }

    /// The schedule of a candidate.
    pub fn schedule(&self, id: CandidateId) -> Option<&Schedule> {
        self.rows.get(id.0).map(|row| &row.schedule)
    }

    /// The number of candidates that were asked for.
    pub fn asked(&self) -> usize {
        self.rows.len()
    }

    /// Candidates that were measured, fastest first; of equal ones, the earlier first.
    fn ranked(&self) -> Vec<usize> {
        let mut ranked: Vec<(f64, usize)> =
            self.rows.iter().enumerate().filter_map(|(i, row)| Some((row.time()?, i))).collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        ranked.into_iter().map(|(_, i)| i).collect()
    }

    /// Returns true if the schedule was not there before and is legal; it has been there from now on.
    fn is_new_and_legal(&mut self, schedule: &Schedule) -> bool {
        self.seen.insert(schedule.to_string())
            && halide_sched::plan::resolve(&self.pipeline, schedule, &self.target).is_ok()
    }

    /// A new schedule that is made of the best ones.
    fn propose(&mut self) -> Option<(Schedule, Origin)> {
        let mut parents = self.ranked();
        parents.truncate(MOST_PARENTS);
        for &parent in &parents {
            if self.rows[parent].scene.is_none() {
                let scene = Scene::new(&self.pipeline, &self.rows[parent].schedule, &self.target);
                self.rows[parent].scene = Some(scene);
            }
        }
        self.turn += 1;
        for _ in 0..PROPOSALS {
            let Some((schedule, origin)) = self.changed(&parents) else { continue };
            if self.is_new_and_legal(&schedule) {
                return Some((schedule, origin));
            }
        }
        None
    }

    /// A schedule with changes, legal or not. Of eight turns, two cross parents, one changes a number of the best, and
    /// one goes further.
    fn changed(&mut self, parents: &[usize]) -> Option<(Schedule, Origin)> {
        let weights: Vec<f64> = (0..parents.len()).map(|rank| 0.75f64.powi(rank as i32)).collect();
        let random = &mut self.random;
        let (parent, kinds) = match self.turn % 8 {
            3 | 7 if parents.len() > 1 => (*random.pick(parents)?, vec![MoveKind::Cross]),
            5 => (*parents.first()?, vec![MoveKind::Number]),
            turn => {
                let count = if turn == 1 { 2 + random.below(3) } else { 1 + usize::from(random.percent(25)) };
                let kinds = (0..count).map(|_| self.credit.choose(random)).collect();
                (parents[random.weighted(&weights)?], kinds)
            }
        };
        let other = &self.rows[*random.pick(parents)?].schedule;
        let row = &self.rows[parent];
        let mut draft = Draft::new(&row.schedule);
        for (i, kind) in kinds.iter().enumerate() {
            let scene = match i {
                0 => row.scene.clone()??,
                _ => Scene::new(&self.pipeline, &draft.clone().schedule(), &self.target)?,
            };
            change(*kind, &mut draft, &scene, other, random)?;
        }
        let origin = Origin::Changed { parent: CandidateId(parent), by: kinds };
        Some((draft.schedule(), origin))
    }
}
