//! Hints of schedules that change no loops: stores past the caches, and prefetches; and how often closures are called.
//! Part of `build_nests`.

use crate::lower::nests::ctx::{Ctx, Source};
use crate::lower::trace::LoweringTrace;
use halide_ir::{PrefetchRequest, Scope};

/// Says which of the schedule's hints no code comes of, and why.
pub(crate) fn explain_hints(ctx: &Ctx<'_>, trace: &mut LoweringTrace) {
    for inst in &ctx.instances {
        let name = ctx.stage_name(inst.func, inst.stage);
        let buffers = &ctx.program.func_buffers[inst.func];
        let streamed = buffers.iter().all(|b| ctx.program.buffers[*b].stream == halide_ir::Stream::Always);
        if inst.plan.options.stream_loads {
            let why = "processors have no such loads of ordinary memory";
            trace.did_not(name.clone(), "loading what it reads past the caches", why);
        }
        match inst.plan.options.stream {
            Some(true) => {}
            Some(false) => {
                trace.did(name, "all stores go through the caches");
                continue;
            }
            None => continue,
        }
        if ctx.plan.target.vector_bits < 256 {
            trace.did_not(
                name,
                "stored past the caches",
                "only kernels of vectors of 256 bits and more have stores that do",
            );
        } else if !streamed {
            trace.did_not(name, "stored past the caches", "other stages of the Func are stored without");
        } else {
            trace.did(name, "whole vectors of kernels at multiples of their size are stored past the caches");
        }
    }
}

/// Writes what the schedule wants to be brought into caches ahead of its use to the loops that ask for it.
pub(crate) fn prefetches(ctx: &mut Ctx<'_>, trace: &mut LoweringTrace) {
    let mut all = Vec::new();
    for inst in &ctx.instances {
        for p in &inst.plan.prefetches {
            let (bufs, what) = match p.what {
                Source::Func(f) => (ctx.program.func_buffers[f].clone(), &ctx.plan.pipeline.funcs[f].name),
                Source::Image(i) => (vec![ctx.program.image_buffers[i]], &ctx.plan.pipeline.images[i].name),
            };
            let mut did_not = |because| {
                trace.did_not(ctx.stage_name(inst.func, inst.stage), format!("prefetching `{what}`"), because);
            };
            let (Some(at), Some(&from)) = (inst.leaves.get(&p.at), inst.leaves.get(&p.from)) else {
                did_not("a directive after it takes its loops apart");
                continue;
            };
            if ctx.plan.target.vector_bits < 256 {
                did_not("only kernels of vectors of 256 bits and more have instructions that do");
                continue;
            }
            all.push((*at, PrefetchRequest { bufs, from, offset: p.offset, bound: p.bound }));
        }
    }
    for (at, request) in all {
        let info = &mut ctx.program.loops[at];
        // Stages whose loops run as one may ask for the same.
        if !info.prefetches.contains(&request) {
            info.prefetches.push(request);
        }
    }
}

/// Says how often closures are called.
pub(crate) fn explain_calls(ctx: &Ctx<'_>, trace: &mut LoweringTrace) {
    for callee in &ctx.plan.pipeline.callees {
        for scope in ctx.computed.get(&callee.func).into_iter().flatten() {
            let often = match scope {
                Scope::Root => "its closure is called once per run".to_string(),
                Scope::Body(l) => {
                    format!("its closure is called once per iteration of {}", ctx.program.loops[*l].with_case())
                }
            };
            trace.did(callee.stage.name.clone(), often);
        }
    }
}
