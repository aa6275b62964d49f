//! Profiles with the names and places of a plan.

use super::{Activity, ActivityTime, MemoryEvent, Profile, Span};
use halide_core::error::Location;
use halide_cpu as cpu;
use halide_ir::Program;
use halide_sched::plan::Plan;

impl Profile {
    /// The profile of one run of a program of this plan.
    pub(crate) fn of_run(plan: &Plan, program: &Program, run: cpu::RunProfile) -> Profile {
        let activity = |of: cpu::Activity| named(program, of);
        let row = |sampled: &cpu::Sampled| ActivityTime {
            activity: activity(sampled.activity),
            at: place(plan, sampled.activity),
            threads: sampled.threads,
            samples: sampled.samples,
        };
        let span = |span: &cpu::Span| Span {
            thread: span.thread,
            activity: activity(span.activity),
            begin: span.begin,
            end: span.end,
        };
        let event = |event: &cpu::MemoryEvent| MemoryEvent {
            at: event.at,
            func: event.buf.and_then(|buf| program.buffers.get(buf)).map(|info| info.name.clone()),
            bytes: event.bytes,
            live: event.live,
        };
        let mut rows: Vec<ActivityTime> = run.activities.iter().map(row).collect();
        rows.sort_by(|a, b| b.threads.cmp(&a.threads).then_with(|| a.activity.cmp(&b.activity)));
        Profile {
            runs: run.runs,
            wall: run.wall,
            samples: run.samples,
            rows,
            timeline: run.timeline.iter().map(span).collect(),
            memory: run.memory.iter().map(event).collect(),
            cut: run.cut,
        }
    }
}

fn named(program: &Program, activity: cpu::Activity) -> Activity {
    match activity {
        cpu::Activity::Computes(func, stage) => {
            let func = program.func_name(func).to_string();
            Activity::Computes { func, update: stage.checked_sub(1) }
        }
        cpu::Activity::Outside => Activity::Outside,
        cpu::Activity::Allocates => Activity::Allocates,
        cpu::Activity::Frees => Activity::Frees,
        cpu::Activity::Locks => Activity::Locks,
        cpu::Activity::Waits => Activity::Waits,
        cpu::Activity::Device => Activity::Device,
        cpu::Activity::Copies => Activity::Copies,
        cpu::Activity::Prints => Activity::Prints,
    }
}

/// The place of a definition; of one that a directive made, that of the Func.
fn place(plan: &Plan, activity: cpu::Activity) -> Option<Location> {
    let cpu::Activity::Computes(func, stage) = activity else { return None };
    let def = plan.pipeline.funcs.get(func)?;
    Some(def.stages.get(stage).map_or(def.at, |stage| stage.at))
}
