//! `halide auto`: a schedule that is chosen, the predicted time of any, and steps that would make it faster. Nothing is
//! run.

use super::args::{Allow, AutoArgs};
use super::common;
use super::failure::Failure;
use super::output;
use super::terminal::{busy, note, say};
use super::tool::Tool;
use crate::app::App;
use crate::files;
use crate::job::Job;
use crate::place::Place;
use halide::auto::{Advice, Advised, Auto, Group, Parts, Priced};
use halide::machine::Machine;
use halide::prelude::*;
use halide::schedule::FloatMode;
use halide::target::Gpu;
use serde_json::{Value, json};
use std::fmt::Write;

/// The steps that are shown at most.
const STEPS: usize = 5;

/// Prints or writes what was asked for.
pub(crate) fn auto(tool: &Tool, args: &AutoArgs) -> Result<(), Failure> {
    let app = common::find_app(tool, &args.app)?;
    if args.file.is_some() && args.common.is_synthetic() {
        super::args::usage_error("with --random or --size there is no image to read");
    }
    let named = args.price.as_deref().or(args.advise.as_deref()).or(args.keep.as_deref());
    let named = common::named_schedule(app, named, &args.numbers.set)?;
    let (keep, schedule) = if args.keep.is_some() { (named, None) } else { (None, named) };
    let output = args.output.as_deref().map(output::place).transpose()?;
    let machine = match &args.machine {
        Some(path) => common::read_machine(path)?,
        None => Machine::typical(&common::target(&args.common)),
    };
    let job = common::job(tool, app, &args.common, args.file.as_deref(), schedule.as_ref())?;
    let asked = Asked { args, app, job: &job, machine, output, keep: keep.unwrap_or_default() };
    match (&schedule, args.advise.is_some()) {
        (None, _) => asked.choose(),
        (Some(schedule), false) => asked.price(schedule),
        (Some(schedule), true) => asked.advise(schedule),
    }
}

/// The command line, with the job that it names.
struct Asked<'a> {
    args: &'a AutoArgs,
    app: &'static App,
    job: &'a Job,
    machine: Machine,
    output: Option<Place>,
    /// The directives that stay as they are.
    keep: Schedule,
}

impl Asked<'_> {
    /// A schedule that is chosen.
    fn choose(&self) -> Result<(), Failure> {
        let options = AutoOptions::default().floats(self.args.allow.map_or(FloatMode::Strict, Allow::floats));
        let mut options = options.keep(&self.keep).machine(&self.machine);
        let mut target = self.target();
        if let Some(kind) = self.args.gpu {
            target.gpu = Some(Gpu::LEAST);
            options = options.gpu(kind.speed());
        }
        let chosen = busy("choosing a schedule", || self.job.auto_schedule(&target, &options))?;
        let [ms, at_root] = [chosen.predicted_ns, chosen.breadth_first_ns].map(|ns| ns / 1e6);
        let times = format!("predicted {ms:.3} ms, and {at_root:.3} ms with every Func at the root");
        let text = self.file("Chosen", &chosen.schedule, &times, &chosen.groups)?;
        chosen.refused.iter().for_each(|line| note(format!("refused: {line}")));
        if let Some(place) = &self.output {
            output::write(place, &text)?;
        }
        match (&self.output, self.args.json) {
            (_, true) => say(self.json(&self.json_of_chosen(&chosen))),
            (Some(place), false) => say(format!("{}: {times}\nwrote {}", self.app.name, files::shown(place.path()))),
            (None, false) => say(text.trim_end()),
        }
    }

    /// The predicted time of a schedule.
    fn price(&self, schedule: &Schedule) -> Result<(), Failure> {
        let priced = self.job.price(&self.machine, schedule, &self.target())?;
        if self.args.json {
            return say(self.json(&self.json_of_priced(&priced)));
        }
        say(self.title(&priced))?;
        if self.args.explain {
            explained(&priced.groups).iter().try_for_each(say)?;
        }
        Ok(())
    }

    /// Steps that would make a schedule faster.
    fn advise(&self, schedule: &Schedule) -> Result<(), Failure> {
        let advise = || self.job.advise(&self.machine, schedule, &self.target(), STEPS);
        let Advised { priced, steps: advice } = busy("pricing steps", advise)?;
        if let (Some(place), Some(best)) = (&self.output, advice.first()) {
            let times = format!("predicted {:.3} ms, and {:.3} ms before", best.after_ns / 1e6, best.before_ns / 1e6);
            output::write(place, &self.file("Advised", &best.schedule, &times, &[])?)?;
        }
        if self.args.json {
            let mut value = self.json_of_priced(&priced);
            value["advice"] = advice.iter().map(json_of_step).collect();
            return say(self.json(&value));
        }
        say(self.title(&priced))?;
        advice.iter().try_for_each(|step| say(step_text(step)))?;
        match (&self.output, advice.is_empty()) {
            (_, true) => say("no single step is predicted to make it faster"),
            (Some(place), false) => say(format!("wrote {}", files::shown(place.path()))),
            (None, false) => Ok(()),
        }
    }

    fn target(&self) -> Target {
        common::target(&self.args.common)
    }

    /// A schedule file; with `--explain`, the groups are comments.
    fn file(&self, made: &str, schedule: &Schedule, times: &str, groups: &[Group]) -> Result<String, Failure> {
        let key = self.job.tuner(&self.target()).key()?;
        let first = format!("{made} for {} by halide {}.", self.app.name, key.halide);
        let mut text = output::header(&first, &key, times);
        let groups = if self.args.explain { explained(groups) } else { Vec::new() };
        groups.iter().try_for_each(|line| writeln!(text, "# {line}"))?;
        writeln!(text, "{schedule}")?;
        Ok(text)
    }

    /// The first lines about a schedule: its time, and what the price does not know.
    fn title(&self, priced: &Priced) -> String {
        let (width, height) = self.job.size;
        let name = self.named();
        let ms = priced.predicted_ns / 1e6;
        let mut text = format!("{} with schedule `{name}`, {width}x{height}: predicted {ms:.3} ms", self.app.name);
        for some in priced.approximations.chunk_by(|a, b| a.part == b.part) {
            let names = some.iter().map(|a| format!("`{}`", a.of)).collect::<Vec<String>>().join(", ");
            text += &format!("\nnote: {}: {names}", some[0].part);
        }
        for name in &priced.slow {
            text += &format!("\nnote: `{name}` has no code with vectors of full width, and is priced so");
        }
        text
    }

    /// The name of the schedule that was given.
    fn named(&self) -> &str {
        self.args.price.as_deref().or(self.args.advise.as_deref()).unwrap_or("auto")
    }

    /// The object with what all commands say.
    fn json(&self, own: &Value) -> Value {
        let (width, height) = self.job.size;
        let threads = common::threads(&self.args.common);
        let mut all = json!({"app": self.app.name, "size": [width, height], "threads": threads});
        if let (Value::Object(all), Value::Object(own)) = (&mut all, own) {
            all.extend(own.clone());
        }
        all
    }

    fn json_of_chosen(&self, chosen: &Auto) -> Value {
        json!({
            "predicted_ms": chosen.predicted_ns / 1e6,
            "at_root_ms": chosen.breadth_first_ns / 1e6,
            "priced": chosen.priced,
            "groups": json_of_groups(&chosen.groups),
            "refused": chosen.refused,
            "schedule": chosen.schedule.to_string(),
            "output": self.output.as_ref().map(|place| place.path().display().to_string()),
        })
    }

    fn json_of_priced(&self, priced: &Priced) -> Value {
        json!({
            "schedule": self.named(),
            "predicted_ms": priced.predicted_ns / 1e6,
            "groups": json_of_groups(&priced.groups),
            "approximations": priced.approximations.iter().map(|a| a.to_string()).collect::<Vec<String>>(),
            "slow": priced.slow,
        })
    }
}

/// The lines that explain groups: their times, their Funcs, and the points that they compute.
pub(crate) fn explained(groups: &[Group]) -> Vec<String> {
    let mut lines = Vec::new();
    for group in groups {
        let members = group.members.iter().fold(String::new(), |all, name| all + " " + name);
        lines.push(format!("{:.3} ms for {} <-{members}", group.predicted_ns / 1e6, group.root));
        lines.push(format!("  {}", group.parts));
        lines.extend(group.points.iter().map(|(name, points)| format!("  {points:.0} points of {name}")));
    }
    lines
}

fn json_of_groups(groups: &[Group]) -> Value {
    let group = |g: &Group| {
        let Parts { instructions_ns, caches_ns, memory_ns, tasks_ns } = &g.parts;
        let ms = |ns: &f64| ns / 1e6;
        let caches: Vec<f64> = caches_ns.iter().map(ms).collect();
        let parts = json!({
            "instructions": ms(instructions_ns), "caches": caches, "memory": ms(memory_ns), "tasks": ms(tasks_ns),
        });
        let predicted_ms = g.predicted_ns / 1e6;
        json!({"root": g.root, "members": g.members, "points": g.points, "predicted_ms": predicted_ms, "parts_ms": parts})
    };
    groups.iter().map(group).collect()
}

/// A step as text: what it gains, and each Func after and before it.
fn step_text(step: &Advice) -> String {
    let gain = step.before_ns / step.after_ns;
    let mut text = format!("predicted {:.3} ms, {gain:.2} times as fast:", step.after_ns / 1e6);
    for change in &step.changes {
        let lines = |schedule: &Schedule| match schedule.is_empty() {
            true => format!("{}: (no directives)", change.func),
            false => schedule.to_string(),
        };
        for (sign, schedule) in [('-', &change.before), ('+', &change.after)] {
            lines(schedule).lines().for_each(|line| text += &format!("\n  {sign} {line}"));
        }
    }
    text
}

fn json_of_step(step: &Advice) -> Value {
    let change = |change: &halide::auto::Change| json!({"func": change.func, "before": change.before.to_string(), "after": change.after.to_string()});
    json!({
        "before_ms": step.before_ns / 1e6,
        "after_ms": step.after_ns / 1e6,
        "changes": step.changes.iter().map(change).collect::<Vec<Value>>(),
        "schedule": step.schedule.to_string(),
    })
}
