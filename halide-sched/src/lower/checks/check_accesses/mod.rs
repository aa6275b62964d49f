//! Bounds checks and their elimination: proves that every access is inside of its buffer, and checks at run time what
//! it cannot prove.
//!
//! Before and after: `Stage::Shaped`, symbols bound once. No later pass changes an index. What is not proved is asked
//! in front of the outermost loop where the question can be put (see `crate::access`). A question that asks more than
//! its accesses need may be answered with no for a program that is right, so its fault,
//! [`Unproved`](halide_ir::Fault::Unproved), only says that another variant is to be run. That variant
//! ([`Accesses::InPlace`](crate::lower::Accesses)) tests every access that is not proved directly before it, and ends
//! the run with [`Access`](halide_ir::Fault::Access): a defect of this compiler, which then touches no memory. The
//! trace counts what was proved, and names what is checked in innermost loops.
//!
//! An inequality that is not decided becomes an assertion at the outermost place where it is *exact*: it holds if and
//! only if the accesses stay inside. Inequalities that differ only in their constants are one group, decided once where
//! its frame ends (`groups`). One that is exact in the innermost loop only is asked outside of all loops nevertheless,
//! where it may ask too much: the run then ends with `Fault::Unproved`, and the variant that checks in place runs,
//! several times as long. That variant is used from the start where a run cannot be made twice (prints, outputs in the
//! memory of inputs). Mutants of random programs hold the pass to its promise, in the evaluator and as machine code
//! between guard pages (`checks/src/accesses`). `LowerOptions` trusts lowering by default, for passes and tests that
//! look at programs.
//!
//! A kernel of a GPU cannot end a run; what is neither proved nor checked on the host is listed.
//!
//! Example:
//! ```text
//! let t0 = out#b2.min0
//! for x#L0 from 0 extent out#b2.extent0 {
//!   out#b2[x#L0] = in#b0[x#L0 + (t0 - in#b0.min0)]
//! }
//! ```
//! becomes
//! ```text
//! assert out#b2.min0 - in#b0.min0 >= 0 && out#b2.extent0 * -1 - out#b2.min0 + in#b0.min0 + in#b0.extent0 >= 0 else fault1()
//! let t0 = out#b2.min0
//! for x#L0 from 0 extent out#b2.extent0 {
//!   out#b2[x#L0] = in#b0[x#L0 + (t0 - in#b0.min0)]
//! }
//! ```

mod certain;
mod groups;
mod insert;
mod question;
mod refine;
mod tally;
mod walk;

use crate::access::{Definition, Definitions, Elements, Reader, Sums};
use crate::lower::trace::LoweringTrace;
use halide_core::pipeline::Pipeline;
use halide_ir::{Expr, KernelId, Program, Stmt, Sym, build, visit};

/// Proves accesses, and checks others: before the loops around them, or with `exact` where they stand.
pub fn check_accesses(
    program: Program,
    promises: Option<&Pipeline>,
    exact: bool,
    trace: &mut LoweringTrace,
) -> Program {
    let mut found = Found::default();
    if let Some(pipeline) = promises {
        found.promised(&program, pipeline);
    }
    found.collect(&program, &program.body);
    let Found { defs, elements } = found;
    let sums = Sums::default();
    let mut reader = Reader::new(defs, elements, &sums);
    refine::refine(&mut reader, &program);
    let outcome = walk::Walk::new(&program, reader, exact).run();
    outcome.tally.report(&program, trace);
    trace.visits += outcome.visits;
    let questions = outcome.questions;
    insert::insert(program, questions)
}

/// Facts of a program that are gathered before its accesses are looked at.
#[derive(Default)]
pub(crate) struct Found<'p> {
    defs: Definitions,
    elements: Elements<'p>,
}

impl<'p> Found<'p> {
    /// Enters the promises that callers are held to whenever they give an input or a parameter.
    fn promised(&mut self, program: &Program, pipeline: &Pipeline) {
        for (image, def) in pipeline.images.enumerate() {
            let buf = program.image_buffers[image];
            if let Some((min, max)) = def.promised_range() {
                self.elements.promise(buf, (Some(min.into()), Some(max.into())));
            }
            for promise in &def.coordinates {
                self.elements.promise_coordinates(buf, program.image_buffers[promise.image], promise.dim);
            }
        }
        for (id, param) in pipeline.params.enumerate() {
            if let (Some(min), Some(max), true) = (param.min, param.max, param.ty.is_int()) {
                self.elements.param(id, (Some(min.as_i128()), Some(max.as_i128())));
            }
            if let (Some(min), Some(max), true) = (param.min, param.max, param.ty.is_float()) {
                self.elements.promise_float(id, (min.as_f64(), max.as_f64()));
            }
        }
    }

    pub(crate) fn collect(&mut self, program: &'p Program, s: &'p Stmt) {
        match s {
            Stmt::Let { bindings, .. } => {
                bindings.iter().for_each(|(sym, e)| self.defs.bind(*sym, Definition::Let(e.clone())));
            }
            Stmt::For(l) => self.defs.bind(Sym::Loop(l.id), Definition::Loop(l.min.clone(), l.extent.clone())),
            Stmt::Alloc { buf, .. } => self.elements.allocate(*buf, self.defs.len()),
            Stmt::Store { buf, value, .. } => self.elements.store(*buf, value),
            Stmt::Call { args, .. } => args.iter().for_each(|arg| self.elements.store_anything(arg.buf)),
            Stmt::Dispatch { kernel, grid } => self.kernel(program, *kernel, grid),
            _ => {}
        }
        visit::nested(s).for_each(|inner| visit::deep(|| self.collect(program, inner)));
    }

    /// The bindings, and what is stored.
    pub(crate) fn into_parts(self) -> (Definitions, Elements<'p>) {
        (self.defs, self.elements)
    }

    fn kernel(&mut self, program: &'p Program, kernel: KernelId, grid: &[Expr]) {
        let kernel = &program.kernels[kernel];
        for (id, blocks) in kernel.blocks.iter().zip(grid) {
            self.defs.bind(Sym::Loop(*id), Definition::Loop(build::int(0), blocks.clone()));
        }
        self.collect(program, &kernel.body);
    }
}
