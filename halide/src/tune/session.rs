//! A tuning that runs: candidates are compiled, checked, and timed beside the best one.

use super::batch::compile;
use super::bench::Bench;
use super::course::Course;
use super::database::{Database, Replay};
use super::duel::{Duel, ROUNDS};
use super::event::{Ended, Event, TuneReport, Tuned, Verdict};
use super::fingerprint::{TuneKey, fingerprint};
use super::prepare::{Checked, bound, independent};
use super::pruned::pruned;
use super::record::Record;
use super::reference::Reference;
use super::trial::{Anchor, Trial, outcome};
use crate::compiled::Compiled;
use crate::error::Error;
use crate::pipeline::Pipeline;
use halide_auto::tune::{Candidate, CandidateId, Origin, Outcome, TuneOptions, Tuner};
use halide_core::buffer::Region;
use halide_core::interp::Inputs;
use halide_ir::target::Target;
use halide_sched::schedule::Schedule;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// The candidates that are compiled at once, before the first of them is run.
const BATCH: usize = 8;

/// Times of picks that are not measured again.
const SHORT: Duration = Duration::from_millis(50);

/// The settings of a tuning.
pub(super) struct Setup<'p> {
    pub(super) pipeline: &'p Pipeline,
    pub(super) target: Target,
    pub(super) regions: Vec<Region>,
    pub(super) key: TuneKey,
    pub(super) budget: Duration,
    pub(super) begun: Instant,
    pub(super) seed: u64,
    pub(super) memory_cap: Option<u64>,
}

/// A tuning that runs.
pub(super) struct Session<'p> {
    setup: Setup<'p>,
    tuner: Tuner,
    bench: Bench,
    reference: Reference,
    anchor: Anchor,
    pick_time: Duration,
    database: Option<Database>,
    /// The records of the database before this.
    recalled: usize,
    course: Course,
    verdicts: [usize; Verdict::ALL.len()],
    wrong: Vec<(Schedule, String)>,
    notes: Vec<String>,
    /// Numbers of the candidates that the search began with.
    starts: Vec<CandidateId>,
    /// Fingerprints of the programs of all candidates.
    programs: BTreeSet<String>,
}

impl<'p> Session<'p> {
    /// Compiles and runs the pick, and checks its output.
    pub(super) fn new(
        setup: Setup<'p>,
        (given, said): (Inputs, Vec<(String, Region)>),
        pick: Schedule,
        starts: &[Schedule],
        (database, replay): (Option<Database>, Replay),
    ) -> Result<Session<'p>, Error> {
        let Replay { records, mut notes } = replay;
        let compiled = setup.pipeline.compile(&pick, &setup.target)?;
        let inputs = bound(&compiled, given, &said, (&setup.regions, setup.seed))?;
        let mut bench = Bench::new(&compiled, inputs, &setup.regions, setup.memory_cap)?;
        let mut pick_time = bench.sample(&compiled)?;
        if pick_time < SHORT {
            pick_time = pick_time.min(bench.sample(&compiled)?).min(bench.sample(&compiled)?);
        }
        bench.choose_runs(pick_time);
        bench.first(&compiled, Duration::MAX)?;
        let mut reference = Reference::new(setup.pipeline, bench.outputs())?;
        let patience = (setup.budget / 10).max(Duration::from_millis(100));
        match independent(setup.pipeline, &setup.target, (&mut bench, &mut reference), (&setup.regions, patience))? {
            Checked::Whole => {}
            Checked::Note(note) => notes.push(note),
            Checked::Differs(at) => {
                let schedule = pick.to_string();
                return Err(Error::Internal(crate::Defect::Differs { at, schedule, seed: setup.seed }));
            }
        }
        let labels = (1..).map(|n| format!("start {n}"));
        let all = std::iter::once(("pick".to_string(), pick)).chain(labels.zip(starts.iter().cloned()));
        let mut tuner = Tuner::new(setup.pipeline, &setup.target, all, TuneOptions::with_seed(setup.seed));
        let recalled = records.len();
        tuner.recall(records.into_iter().map(|record| {
            let outcome = match (record.verdict, record.time) {
                (Verdict::Measured, Some(time)) => Outcome::Measured { time },
                (verdict, _) => outcome(verdict),
            };
            (record.schedule, outcome)
        }));
        let programs = compiled.main_text().iter().map(|text| fingerprint(text)).collect();
        let anchor = Anchor { compiled, time: 1.0, run: pick_time };
        let course = Course::new(setup.begun, setup.budget);
        Ok(Session {
            setup,
            tuner,
            bench,
            reference,
            anchor,
            pick_time,
            database,
            recalled,
            course,
            verdicts: [0; Verdict::ALL.len()],
            wrong: Vec::new(),
            notes,
            starts: Vec::new(),
            programs,
        })
    }

    /// Searches to the end.
    pub(super) fn run(mut self, mut watch: impl FnMut(Event<'_>) -> ControlFlow<()>) -> Result<Tuned, Error> {
        // The pick is the unit of times, and was run already.
        for candidate in self.tuner.ask(1) {
            self.starts.push(candidate.id);
            self.tell(candidate.id, Outcome::Measured { time: 1.0 });
        }
        let started = Event::Started { pick: self.pick_time, recalled: self.recalled, notes: &self.notes };
        let mut ended = if watch(started).is_break() { Some(Ended::Stopped) } else { None };
        while ended.is_none() {
            ended = self.batch(&mut watch)?;
        }
        let ended = ended.unwrap_or(Ended::Stopped);
        let (schedule, pick, duel, ratio) = self.result(ended == Ended::Stopped)?;
        let schedule = match schedule == pick {
            true => schedule,
            false => pruned(self.setup.pipeline, &self.setup.target, schedule, self.setup.begun + self.setup.budget),
        };
        // It ends anyway.
        let _ = watch(Event::Ended { ended });
        let report = TuneReport {
            key: self.setup.key,
            seed: self.setup.seed,
            pick,
            duel,
            ratio,
            pick_time: Some(self.pick_time),
            tried: self.verdicts.iter().sum(),
            verdicts: self.verdicts,
            wrong: self.wrong,
            notes: self.notes,
            elapsed: self.setup.begun.elapsed(),
        };
        Ok(Tuned { schedule, report, ended })
    }

    /// Asks for some candidates and tries them; the reason if it was the last batch.
    fn batch(&mut self, watch: &mut impl FnMut(Event<'_>) -> ControlFlow<()>) -> Result<Option<Ended>, Error> {
        let candidates = self.tuner.ask(BATCH);
        if candidates.is_empty() {
            return Ok(Some(Ended::Exhausted));
        }
        let compiled = compile(self.setup.pipeline, &self.setup.target, &candidates);
        for (candidate, (compiled, compiling)) in candidates.into_iter().zip(compiled) {
            if matches!(candidate.origin, Origin::Start(_)) {
                self.starts.push(candidate.id);
            }
            // There is no duel while nothing is better.
            let duel = if self.anchor.time < 1.0 {
                (self.anchor.run + self.pick_time) * ROUNDS as u32
            } else {
                Duration::ZERO
            };
            if let Some(ended) = self.course.ended(duel) {
                return Ok(Some(ended));
            }
            let schedule = candidate.schedule.clone();
            let (verdict, better) = self.try_out(candidate, compiled, compiling)?;
            let mut flow = watch(Event::Measured {
                tried: self.verdicts.iter().sum(),
                schedule: &schedule,
                verdict,
                best: self.anchor.time,
                elapsed: self.setup.begun.elapsed(),
            });
            if better {
                let event = Event::Better { schedule: &schedule, ratio: self.anchor.time };
                flow = if watch(event).is_break() { ControlFlow::Break(()) } else { flow };
            }
            self.course.tried(self.anchor.time);
            if flow.is_break() {
                return Ok(Some(Ended::Stopped));
            }
        }
        Ok(None)
    }

    /// Tries one candidate, and keeps what came of it. True if it is the best one now.
    fn try_out(
        &mut self,
        candidate: Candidate,
        compiled: Result<Compiled, Error>,
        compiling: Duration,
    ) -> Result<(Verdict, bool), Error> {
        let Candidate { id, schedule, .. } = candidate;
        let loose = schedule.reassociates();
        let mut trial = match &compiled {
            Err(error) => Trial::refused(error),
            Ok(compiled) if !self.is_new(compiled) => Trial::same(),
            Ok(compiled) => Trial::new(&mut self.bench, &self.reference, &self.anchor, (compiled, compiling), loose)?,
        };
        if let (Verdict::Measured, true, Ok(compiled)) = (trial.verdict, trial.ratio() < 1.0, &compiled) {
            trial.confirm(&mut self.bench, &self.reference, &self.anchor, (compiled, loose))?;
        }
        let outcome = trial.outcome(self.anchor.time);
        let time = match outcome {
            Outcome::Measured { time } => Some(time),
            _ => None,
        };
        let is_best = self.tell(id, outcome);
        if let Some(row) = Verdict::ALL.iter().position(|v| *v == trial.verdict) {
            self.verdicts[row] += 1;
        }
        if let Some(at) = &trial.wrong {
            self.wrong.push((schedule.clone(), at.clone()));
        }
        if let (true, Ok(compiled), Some(time)) = (is_best, compiled, time) {
            let run = trial.pairs.iter().map(|pair| pair.0).fold(f64::INFINITY, f64::min);
            self.anchor = Anchor { compiled, time, run: Duration::from_nanos(run as u64) };
        }
        if let Some(database) = &mut self.database {
            let (key, seed, verdict, n) = (self.setup.key.clone(), self.setup.seed, trial.verdict, id.0);
            let record = Record { key, schedule, pairs: trial.pairs, time, verdict, seed, n };
            database.append(&record).map_err(Error::Database)?;
        }
        Ok((trial.verdict, is_best))
    }

    /// Returns true if no candidate before had this program.
    fn is_new(&mut self, compiled: &Compiled) -> bool {
        compiled.main_text().is_none_or(|text| self.programs.insert(fingerprint(&text)))
    }

    fn tell(&mut self, id: CandidateId, outcome: Outcome) -> bool {
        // Each candidate is told of once, with a time above 0; if not, it is not the best one.
        self.tuner.tell(id, outcome).unwrap_or(false)
    }

    /// The result, the pick, the last duel, and the time of the result in units of that of the pick. The pick is the
    /// fastest schedule that the search began with.
    fn result(&mut self, stopped: bool) -> Result<(Schedule, Schedule, Option<Duel>, f64), Error> {
        let time = |id: &CandidateId| self.tuner.time(*id).unwrap_or(f64::INFINITY);
        let pick = self.starts.iter().copied().min_by(|a, b| time(a).total_cmp(&time(b))).unwrap_or(CandidateId(0));
        let pick_time = time(&pick);
        let of_pick = self.tuner.schedule(pick).cloned().unwrap_or_default();
        self.pick_time = self.pick_time.mul_f64(pick_time.min(1.0));
        let Some((best, schedule, best_time)) = self.tuner.best().map(|(id, s, t)| (id, s.clone(), t)) else {
            return Ok((of_pick.clone(), of_pick, None, 1.0));
        };
        if best == pick {
            return Ok((schedule, of_pick, None, 1.0));
        }
        if stopped {
            return Ok((schedule, of_pick, None, best_time / pick_time));
        }
        let against = self.setup.pipeline.compile(&of_pick, &self.setup.target)?;
        // Its first run at this size is not timed.
        self.bench.first(&against, Duration::MAX)?;
        let duel = Duel::new(&mut self.bench, &against, &self.anchor.compiled)?;
        if duel.is_won() {
            let ratio = duel.best.as_secs_f64() / duel.pick.as_secs_f64();
            return Ok((schedule, of_pick, Some(duel), ratio));
        }
        Ok((of_pick.clone(), of_pick, Some(duel), 1.0))
    }
}
