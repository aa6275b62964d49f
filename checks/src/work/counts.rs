//! Counts of the work of a case: what the evaluator does, and what programs are made of.

use crate::case::Case;
use crate::engines::{Evaluated, Ran, evaluate};
use crate::failure::Failure;
use crate::proofs::Share;
use crate::sizes::Sizes;
use halide::ir::{BufferRole, Elem, Expr, ExprKind, Program, Stmt, build, visit};
use halide::lower::{LowerOptions, Lowered, LoweringTrace, Snapshots, lower};
use halide::plan;
use halide_sched::lower::checks::check_accesses::check_accesses;
use halide_sched::lower::checks::trust::trust;

/// The counts of one run, in the order of [`NAMES`].
pub(super) type Counts = [u64; NAMES.len()];

/// Names of the counts: the work of a variant, what its program is made of, for the main one checks of accesses and
/// unproved orders, and the work of lowering.
pub(super) const NAMES: [&str; 20] = [
    "points",
    "iterations",
    "operations",
    "bytes",
    "code",
    "inputs",
    "asserts",
    "bits",
    "apart",
    "barriers",
    "shared",
    "checks",
    "unproved",
    "unfolded",
    "open",
    "guards",
    "allocations",
    "strides",
    "effort",
    "proving",
];

/// Names of the counts of what lowering looks at.
pub(super) const OF_LOWERING: [&str; 2] = ["effort", "proving"];

/// Rounds of giving a program larger inputs.
const MOST_ROUNDS: usize = 100;

/// Counts of what is proved: checks of accesses, unproved buffers and loops, allocations that are not circular,
/// accesses without a proof, and expressions that proofs of accesses looked at.
type Proofs = [u64; 5];

/// Lowers a case in both variants and counts what the evaluator does; or says why it is refused.
pub(super) fn measure(case: Case) -> Result<Result<[Option<Counts>; 2], String>, Failure> {
    // Inputs as large as the main variant reads them, so that it runs.
    let mut case = Case { roomy: true, ..case.main_part() };
    let Ok(plan) = plan::resolve(&case.pipeline, &case.schedule, &case.target) else {
        return Ok(Err("illegal schedule".into()));
    };
    let (mut programs, mut proofs, mut efforts) = (Vec::new(), [0; 5], Vec::new());
    for exact in [true, false] {
        let options = LowerOptions {
            exact_tails: exact,
            snapshots: if !exact { Snapshots::All } else { Snapshots::None },
            ..LowerOptions::default()
        };
        let Ok(Lowered { program, trace, .. }) = lower(&plan, &options) else { return Ok(Err("lowering".into())) };
        programs.push((exact, program));
        efforts.push(trace.visits);
        let whole = trace.passes.into_iter().rev().find(|p| p.name == "place_copies").and_then(|p| p.after);
        if let Some(whole) = whole {
            proofs = proved(&case, &whole);
        }
    }
    let mut inputs = Sizes::new(&case);
    for _ in 0..MOST_ROUNDS {
        match evaluate(&case, &plan.pipeline.outputs, &programs, &inputs)? {
            Evaluated::Done(ran) => {
                let mut counts = [None, None];
                for (n, ran) in ran {
                    let proofs = if n == 1 { proofs } else { [0; 5] };
                    counts[n] = counts_of(&programs[n].1, &ran, &inputs, proofs, efforts[n]);
                }
                return Ok(Ok(counts));
            }
            Evaluated::Regions(regions) => case.regions = regions,
            Evaluated::Grow(image, dim, span) if inputs.grow(image, dim, span) => {}
            Evaluated::Obey(image, rule) if inputs.obey(image, rule) => {}
            Evaluated::Grow(..) => return Ok(Err("large input".into())),
            Evaluated::Obey(..) => return Ok(Err("rules at odds".into())),
            Evaluated::Refused(why) => return Ok(Err(why)),
        }
    }
    Ok(Err("large input".into()))
}

fn counts_of(program: &Program, ran: &Ran, inputs: &Sizes, proofs: Proofs, effort: u64) -> Option<Counts> {
    let stats = ran.stats.as_ref()?;
    let points = program.buffers.ids().map(|id| stats.buffers[id].stores).sum();
    let elements = inputs.buffers.iter().filter_map(|b| b.region().points()).sum();
    let iterations = stats.iterations.iter().sum();
    let Text { asserts, bits, apart, barriers, guards, allocations } = Text::of(program);
    let [checks, unproved, unfolded, open, proving] = proofs;
    Some([
        points,
        iterations,
        stats.operations,
        stats.peak_bytes,
        stats.code,
        elements,
        asserts,
        bits,
        apart,
        barriers,
        program.kernels.iter().map(|kernel| u64::from(kernel.shared_words)).sum(),
        checks,
        unproved,
        unfolded,
        open,
        guards,
        allocations,
        program.kernels.iter().flat_map(|kernel| &kernel.buffers).map(|b| b.word_strides.len() as u64).sum(),
        effort,
        proving,
    ])
}

/// Counts of the contents of a program's text.
#[derive(Default)]
struct Text {
    asserts: u64,
    /// Bits that vectors have after each operation: of narrow types fewer.
    bits: u64,
    /// Lanes that are loaded or stored at places of their own.
    apart: u64,
    barriers: u64,
    /// Branches, and masks of stores.
    guards: u64,
    allocations: u64,
}

impl Text {
    fn of(program: &Program) -> Text {
        let mut text = Text::default();
        text.statement(&program.body);
        program.tasks.iter().for_each(|task| text.statement(&task.body));
        program.kernels.iter().for_each(|kernel| text.statement(&kernel.body));
        text
    }

    fn statement(&mut self, s: &Stmt) {
        match s {
            Stmt::Assert { .. } => self.asserts += 1,
            Stmt::Barrier => self.barriers += 1,
            Stmt::Store { index, mask, .. } => {
                self.apart += lanes_apart(index);
                self.guards += u64::from(mask.is_some());
            }
            Stmt::If { .. } => self.guards += 1,
            Stmt::Alloc { .. } => self.allocations += 1,
            _ => {}
        }
        visit::for_each_expr(s, |e| visit::for_each_node(e, &mut |node| self.node(node)));
        visit::for_each_stmt(s, |inner| self.statement(inner));
    }

    fn node(&mut self, e: &Expr) {
        if let ExprKind::Load { index, .. } = e.kind() {
            self.apart += lanes_apart(index);
        }
        let operation = matches!(
            e.kind(),
            ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Select(..)
                | ExprKind::Cast(_)
                | ExprKind::SaturatingCast(_)
                | ExprKind::Intrinsic(..)
        );
        if operation && e.lanes() > 1 {
            let bits = match e.ty().elem {
                Elem::Index => 64,
                Elem::Data(ty) => ty.bits().into(),
            };
            self.bits += u64::from(e.lanes()) * bits;
        }
    }
}

/// The lanes of an index that are not beside each other.
fn lanes_apart(index: &Expr) -> u64 {
    match index.kind() {
        _ if index.lanes() == 1 => 0,
        ExprKind::Ramp { stride, .. } if build::as_int(stride) == Some(1) => 0,
        _ => index.lanes().into(),
    }
}

/// Returns the counts of what is proved of a program whose accesses are not checked yet.
fn proved(case: &Case, whole: &Program) -> Proofs {
    let mut trace = LoweringTrace::new();
    let checked = check_accesses(whole.clone(), Some(&case.pipeline), false, &mut trace);
    let checks = Text::of(&checked).asserts;
    let trust = trust(whole);
    let open = |proved: &&bool| !**proved;
    let unproved = trust.initialised.values().filter(open).count() + trust.independent.values().filter(open).count();
    let own = whole.buffers.iter().filter(|b| b.role == BufferRole::Internal).count();
    let open_accesses = Share::of_trace(&trace).map_or(0, |share| share.all - share.proved);
    [checks, unproved as u64, own.saturating_sub(trust.folds) as u64, open_accesses as u64, trace.visits]
}
