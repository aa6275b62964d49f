//! Rules about code and memory: narrow vectors, allocations of tasks, copies to a device, wide values.

use super::edits::Edits;
use super::finding::{Finding, Step};
use super::rule::Rule;
use super::scene::{Scene, Stored};
use halide_core::ids::{ExprId, FuncId};
use halide_core::pipeline::{Kind, Pipeline};
use halide_ir::ForKind;
use halide_sched::plan::Level;
use halide_sched::schedule::{Site, Verb};
use std::collections::BTreeMap;

/// The bytes up to which memory is taken from a stack, as lowering has it.
const STACK_BYTES: f64 = 8192.0;

/// Finds what is slow in code and memory.
pub(super) fn find(edits: &Edits<'_>) -> Vec<Finding> {
    let mut found = narrow(edits);
    found.extend(edits.scene.stores.iter().filter_map(|store| heap(edits, store)));
    found.extend(turns(edits.scene));
    found.extend(wider(edits.scene));
    found
}

fn finding(rule: Rule, (func, at_loop): (Option<&str>, Option<&str>), work: f64, value: f64, text: String) -> Finding {
    Finding {
        rule,
        func: func.map(str::to_string),
        at_loop: at_loop.map(str::to_string),
        value,
        threshold: rule.threshold(),
        work,
        share: None,
        funcs: func.map(str::to_string).into_iter().collect(),
        text,
        edit: None,
    }
}

/// Vectorized loops for which the code generator of wide vectors made no code.
fn narrow(edits: &Edits<'_>) -> Vec<Finding> {
    let scene = edits.scene;
    let mut found: Vec<Finding> = Vec::new();
    for (name, why) in edits.call.compiled().refusals() {
        let here = || scene.definitions.iter().filter(|d| d.around.iter().any(|around| around.name == name));
        let Some(definition) = here().find(|d| d.is_in(|kind| kind == ForKind::Vectorized)) else { continue };
        if found.iter().any(|other| other.at_loop.as_ref() == Some(&name)) {
            continue;
        }
        let bits = scene.plan.target.vector_bits;
        let text = format!("vectors of `{name}` have 128 of {bits} bits: {why}; avoid that in the loop");
        let about = (Some(definition.func.as_str()), Some(name.as_str()));
        found.push(finding(Rule::NarrowVectors, about, scene.part(here()), Rule::NarrowVectors.threshold(), text));
    }
    found
}

/// Memory that a task of a parallel loop obtains again and again.
fn heap(edits: &Edits<'_>, store: &Stored) -> Option<Finding> {
    let scene = edits.scene;
    let task = store.around.iter().rfind(|around| around.kind == ForKind::Parallel)?;
    let each = store.allocations / task.iterations.max(1.0);
    if store.bytes <= STACK_BYTES || each < Rule::HeapInParallel.threshold() {
        return None;
    }
    let host = scene.inside(task).find(|d| d.is_plain && d.own().any(|own| own.id == task.id));
    let edit = host.and_then(|host| {
        let var = host.own().find(|own| own.id == task.id)?.var.clone()?;
        let site = Site { func: host.func.clone(), stage: host.of.1, var };
        let subject = halide_sched::schedule::Subject::func(store.name.as_str());
        edits.legal(vec![Step::Add(subject, Verb::HoistStorage(site))])
    });
    let text = format!(
        "a task of `{}` obtains {:.1} KiB for `{}` {each:.0} times; hoist its storage to that loop",
        task.name,
        store.bytes / 1024.0,
        store.name
    );
    let own = scene.definitions.iter().filter(|d| d.func == store.name);
    let about = (Some(store.name.as_str()), Some(task.name.as_str()));
    Some(Finding { edit, ..finding(Rule::HeapInParallel, about, scene.part(own), each, text) })
}

/// Funcs outside of all loops that host and device compute in turns.
fn turns(scene: &Scene<'_>) -> Option<Finding> {
    let root = |func: &FuncId| scene.plan.funcs[*func].compute == Level::Root;
    let on_device = |func: FuncId| {
        let stages = &scene.plan.funcs[func].stages;
        stages.iter().any(|stage| stage.loops.iter().any(|l| l.kind.is_gpu()))
    };
    let order = scene.plan.pipeline.order.iter().copied().filter(root);
    let sides: Vec<(FuncId, bool)> = order.map(|func| (func, on_device(func))).collect();
    let changes: Vec<&[(FuncId, bool)]> = sides.windows(2).filter(|pair| pair[0].1 != pair[1].1).collect();
    let number = changes.len() as f64;
    if number < Rule::DeviceInTurns.threshold() {
        return None;
    }
    let name = |func: FuncId| scene.plan.pipeline.funcs[func].name.as_str();
    let between = changes.iter().find(|pair| pair[0].1).map_or("", |pair| name(pair[1].0));
    let text = format!(
        "work goes {number} times from host to device or back, and values are copied; give `{between}` to the device"
    );
    Some(finding(Rule::DeviceInTurns, (Some(between), None), 1.0, number, text))
}

/// Stored values of which every read takes a narrower type.
fn wider(scene: &Scene<'_>) -> Vec<Finding> {
    let pipeline = &scene.plan.pipeline;
    let mut found = Vec::new();
    for (func, bytes) in narrowed(pipeline) {
        let def = &pipeline.funcs[func];
        let is_stored = scene.plan.funcs[func].compute != Level::Inline && !pipeline.outputs.contains(&func);
        let own = def.types.iter().map(|ty| ty.bytes()).max().unwrap_or(0);
        let ratio = own as f64 / bytes.max(1) as f64;
        if !is_stored || ratio < Rule::StoredWider.threshold() {
            continue;
        }
        let text = format!(
            "`{}` is stored in {own} bytes, and every read makes {bytes} of them; cast to that type in its definition",
            def.name
        );
        let part = scene.part(scene.definitions.iter().filter(|d| d.func == def.name));
        found.push(finding(Rule::StoredWider, (Some(def.name.as_str()), None), part, ratio, text));
    }
    found
}

/// The Funcs that are read by casts only, each with the most bytes of what these make.
fn narrowed(pipeline: &Pipeline) -> BTreeMap<FuncId, usize> {
    let mut read: BTreeMap<ExprId, FuncId> = BTreeMap::new();
    let mut bytes: BTreeMap<FuncId, usize> = BTreeMap::new();
    for (id, node) in pipeline.exprs.enumerate() {
        if let Kind::Call { func, .. } = &node.kind {
            read.insert(id, *func);
        }
        let is_cast = matches!(node.kind, Kind::Cast(_) | Kind::SaturatingCast(_));
        for child in node.kind.children() {
            let Some(func) = read.get(&child) else { continue };
            let made = if is_cast { node.ty.bytes() } else { pipeline.exprs[child].ty.bytes() };
            let most = bytes.entry(*func).or_default();
            *most = made.max(*most);
        }
    }
    // A value that is one read alone.
    for func in pipeline.funcs.iter() {
        for value in func.stages.iter().flat_map(|stage| stage.values.iter().chain(&stage.args)) {
            if let Some(of) = read.get(value) {
                bytes.insert(*of, usize::MAX);
            }
        }
    }
    bytes.retain(|_, bytes| *bytes != usize::MAX);
    bytes
}
