//! Schedules that nobody has to write.

use crate::error::Error;
use crate::pipeline::Pipeline;
#[cfg(feature = "cpu")]
use crate::used;
#[cfg(feature = "cpu")]
use crate::variant_code::Variant;
use halide_auto::tss::TssOptions;
pub use halide_auto::{
    Advice, Advised, Approximation, Auto, AutoError, AutoOptions, Change, EstimateError, Estimates, Group, Part, Parts,
    Priced, Tileable, Tiling,
};
use halide_auto::{CodeFacts, Priceable, auto_schedule};
#[cfg(feature = "cpu")]
use halide_ir::Program;
use halide_ir::machine::Machine;
use halide_ir::target::Target;
#[cfg(feature = "cpu")]
use halide_sched::lower::{LowerOptions, lower};
use halide_sched::plan::Plan;
use halide_sched::schedule::{Schedule, StageName};
#[cfg(feature = "cpu")]
use std::fmt::Display;

impl Pipeline {
    /// Chooses a schedule for the sizes that a pipeline will mostly have, without running anything. The schedule is
    /// legal and right at all sizes, keeps every bit of the result, and is text to look at and to go on from. Equal
    /// questions have equal answers.
    ///
    /// Places of Funcs, tiles, sliding windows, vectors, what is written out for registers and the order of loops are
    /// those of the least predicted time on a typical machine with the target's vectors. The compiler is asked what
    /// code it makes of the best schedules, and the search goes on where that is slow. Without the feature `cpu`
    /// nobody is asked, so answers may be others.
    ///
    /// ```
    /// use halide::prelude::*;
    /// let input = ImageParam::new("input", U16, 2);
    /// let (x, y) = vars!(x, y);
    /// let (mut across, mut down) = (Func::new("across"), Func::new("down"));
    /// across[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
    /// down[(x, y)] = (across[(x, y)] + across[(x, y + 1)] + across[(x, y + 2)]) / 3;
    /// let pipeline = Pipeline::new([&down])?;
    /// let auto = pipeline.auto_schedule(&Target::host(), &Estimates::new().output("down", [1600, 1200]))?;
    /// assert!(auto.refused.is_empty());
    /// let compiled = pipeline.compile(&auto.schedule, &Target::host())?;
    /// # let image = Buffer::<u16>::new([18, 10])?;
    /// let out: Buffer<u16> = compiled.inputs().image(&input, &image).realize([16, 8])?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// For a target with a GPU, kernels are chosen for what that is faster at. Its limits are those of the device; its
    /// speed is that of a typical card, unless [`AutoOptions::gpu`] says otherwise. Without the feature `gpu` no shader
    /// is made, so what these cannot compute is found when the schedule is compiled for a device.
    ///
    /// ```
    /// use halide::prelude::*;
    /// use halide::target::Gpu;
    /// let input = ImageParam::new("input", F32, 2);
    /// let (x, y) = vars!(x, y);
    /// let mut scaled = Func::new("scaled");
    /// scaled[(x, y)] = input[(x, y)] * 2f32;
    /// let pipeline = Pipeline::new([&scaled])?;
    /// let target = Target { gpu: Some(Gpu::LEAST), ..Target::host() };
    /// let auto = pipeline.auto_schedule(&target, &Estimates::new().output("scaled", [4096, 4096]))?;
    /// assert!(auto.has_kernels());
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Every mistake in the estimates; an algorithm that no schedule can lower. Pipelines with extern stages are
    /// refused.
    pub fn auto_schedule(&self, target: &Target, sizes: &Estimates) -> Result<Auto, Error> {
        self.auto_schedule_with(target, sizes, &AutoOptions::default())
    }

    /// Chooses a schedule as [`Pipeline::auto_schedule`] does, with more freedom.
    ///
    /// ```
    /// use halide::prelude::*;
    /// use halide::schedule::FloatMode;
    /// let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
    /// let (x, y) = vars!(x, y);
    /// let k = RDom::named("k", [(0, 256)]);
    /// let (mut product, mut out) = (Func::new("product"), Func::new("out"));
    /// product[(x, y)] = 0f32.expr();
    /// product[(x, y)] += a[(k.x, y)] * b[(x, k.x)];
    /// out[(x, y)] = product[(x, y)];
    /// let pipeline = Pipeline::new([&out])?;
    /// let (sizes, options) = (Estimates::new().output("out", [256, 256]), AutoOptions::default());
    /// let fused = options.clone().floats(FloatMode::Contract);
    /// let exact = pipeline.auto_schedule_with(&Target::host(), &sizes, &options)?;
    /// let fused = pipeline.auto_schedule_with(&Target::host(), &sizes, &fused)?;
    /// assert!(fused.predicted_ns < exact.predicted_ns);
    ///
    /// // The rest is scheduled around directives that are given.
    /// let given: Schedule = "out: split(y, band, row, 16)".parse()?;
    /// let around = pipeline.auto_schedule_with(&Target::host(), &sizes, &options.keep(&given))?;
    /// assert!(around.schedule.to_string().contains("out: split(y, band, row, 16)\n"));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Every mistake in the estimates and in directives that are given; an algorithm that no schedule can lower.
    /// Pipelines with extern stages are refused.
    pub fn auto_schedule_with(&self, target: &Target, sizes: &Estimates, options: &AutoOptions) -> Result<Auto, Error> {
        auto_schedule(self, target, sizes, options, &mut |plan| code_facts(plan)).map_err(Error::from)
    }

    /// Predicts the time of any schedule for the host, without running anything, by the model that
    /// [`Pipeline::auto_schedule`] chooses by; the compiler is asked what code it makes of it.
    ///
    /// ```
    /// use halide::prelude::*;
    /// let (x, y) = vars!(x, y);
    /// let (mut g, mut f) = (Func::new("g"), Func::new("f"));
    /// g[(x, y)] = x * y;
    /// f[(x, y)] = g[(x, y)] + g[(x, y + 1)];
    /// let pipeline = Pipeline::new([&f])?;
    /// let sizes = Estimates::new().output("f", [1000, 1000]);
    /// let by_rows: Schedule = "f: vectorize(x, natural) g: store_root() compute_at(f, y) vectorize(x, natural)".parse()?;
    /// let (rows, points) = (pipeline.price(&by_rows, &Target::host(), &sizes)?, Schedule::new());
    /// assert!(rows.predicted_ns < pipeline.price(&points, &Target::host(), &sizes)?.predicted_ns);
    /// assert!(rows.approximations.is_empty());
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Every mistake in the schedule or the estimates, and what the compiler refuses. Pipelines with extern stages, and
    /// schedules with kernels.
    pub fn price(&self, schedule: &Schedule, target: &Target, sizes: &Estimates) -> Result<Priced, Error> {
        self.price_on(&Machine::typical(target), schedule, target, sizes)
    }

    /// Predicts the time of a schedule as [`Pipeline::price`] does, on a machine of which speeds are known.
    ///
    /// # Errors
    /// The same as of [`Pipeline::price`].
    pub fn price_on(
        &self,
        machine: &Machine,
        schedule: &Schedule,
        target: &Target,
        sizes: &Estimates,
    ) -> Result<Priced, Error> {
        let question = Priceable { pipeline: self, schedule, target, machine, sizes };
        halide_auto::price(&question, &mut |plan| code_facts(plan)).map_err(Error::from)
    }

    /// Prices a schedule, with at most `count` single steps from it that are predicted to make it faster, the best
    /// first: a Func at another place, other loops of a definition, or a loop that threads share. Each comes with the
    /// schedule after it. Nothing is run.
    ///
    /// ```
    /// use halide::prelude::*;
    /// let (x, y) = vars!(x, y);
    /// let mut f = Func::new("f");
    /// f[(x, y)] = x * y;
    /// let pipeline = Pipeline::new([&f])?;
    /// let sizes = Estimates::new().output("f", [1000, 1000]);
    /// let advised = pipeline.advise(&Schedule::new(), &Target::host(), &sizes, 3)?;
    /// let best = &advised.steps[0];
    /// assert!(best.changes[0].func == "f" && best.after_ns < best.before_ns);
    /// let compiled = pipeline.compile(&best.schedule, &Target::host())?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Pipeline::price`].
    pub fn advise(
        &self,
        schedule: &Schedule,
        target: &Target,
        sizes: &Estimates,
        count: usize,
    ) -> Result<Advised, Error> {
        self.advise_on(&Machine::typical(target), schedule, target, sizes, count)
    }

    /// Advises as [`Pipeline::advise`] does, on a machine of which speeds are known.
    ///
    /// # Errors
    /// The same as of [`Pipeline::price`].
    pub fn advise_on(
        &self,
        machine: &Machine,
        schedule: &Schedule,
        target: &Target,
        sizes: &Estimates,
        count: usize,
    ) -> Result<Advised, Error> {
        let question = Priceable { pipeline: self, schedule, target, machine, sizes };
        halide_auto::advise(&question, count, &mut |plan| code_facts(plan)).map_err(Error::from)
    }

    /// Cuts the loops of one definition in tiles, with the sizes that [`tss`](crate::tss) chooses by vectorisation
    /// efficiency and reuse distance; all else is as `schedule` says. Nothing is run.
    ///
    /// ```
    /// use halide::prelude::*;
    /// use halide::schedule::update;
    /// let (a, b) = (ImageParam::new("a", F64, 2), ImageParam::new("b", F64, 2));
    /// let (j, i) = vars!(j, i);
    /// let k = RDom::named("k", [(0, 1599)]);
    /// let mut c = Func::new("c");
    /// c[(j, i)] = 0f64.expr();
    /// c[(j, i)] += a[(k.x, i)] * b[(j, k.x)];
    /// let pipeline = Pipeline::new([&c])?;
    /// let sizes = Estimates::new().output("c", [1599, 1599]);
    /// let tiling = pipeline.tile(&Schedule::new(), update(&c, 0), &Target::host(), &sizes)?;
    /// assert!(tiling.schedule.to_string().starts_with("c.update(0): split(i, io, ii, "));
    /// assert!(tiling.tiles.sizes[2] < 1599, "rows of `b` are cut, so that tiles of it stay in a cache");
    /// let compiled = pipeline.compile(&tiling.schedule, &Target::host())?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Every mistake in the schedule or the estimates; definitions without a loop for vectors, with loops that
    /// directives have changed, or with accesses about which data decide.
    pub fn tile(
        &self,
        schedule: &Schedule,
        stage: impl StageName,
        target: &Target,
        sizes: &Estimates,
    ) -> Result<Tiling, Error> {
        let machine = Machine::typical(target);
        let tileable = self.tileable(&machine, schedule, stage, target, sizes)?;
        tileable.tile(&TssOptions::default()).map_err(Error::from)
    }

    /// Reads the loops of one definition and the arrays that its points access, to choose tiles with options for a
    /// machine of which caches are known, or to try sizes.
    ///
    /// # Errors
    /// The same as of [`Pipeline::tile`].
    pub fn tileable<'q>(
        &'q self,
        machine: &'q Machine,
        schedule: &'q Schedule,
        stage: impl StageName,
        target: &'q Target,
        sizes: &'q Estimates,
    ) -> Result<Tileable<'q>, Error> {
        let question = Priceable { pipeline: self, schedule, target, machine, sizes };
        halide_auto::tileable(&question, stage).map_err(Error::from)
    }
}

/// Facts about the code that is made of a plan.
#[cfg(feature = "cpu")]
pub(crate) fn code_facts(plan: &Plan) -> Result<Option<CodeFacts>, AutoError> {
    let lowered = lower(plan, &LowerOptions::default()).map_err(AutoError::Lower)?;
    let failed = |error: &dyn Display| AutoError::Code { reason: error.to_string() };
    let options = Variant::options(plan, false).map_err(|error| failed(&error))?;
    let code = halide_cpu::compile(&lowered.program, &options).map_err(|error| failed(&error))?;
    used::check(plan, &code).map_err(|error| failed(&error))?;
    shaders(&lowered.program, &plan.target)?;
    Ok(Some(CodeFacts { refused: code.refusals().iter().map(|(name, _)| name.clone()).collect() }))
}

/// Makes the shaders of a program's kernels for what the target's GPU computes in.
///
/// # Errors
/// A kernel that devices cannot run.
#[cfg(all(feature = "cpu", feature = "gpu"))]
fn shaders(program: &Program, target: &Target) -> Result<(), AutoError> {
    use halide_gpu::codegen::{Features, Options, compile};
    let features = target.gpu.map_or(Features::default(), |gpu| Features {
        int64: gpu.int64,
        float64: gpu.float64,
        subgroup: gpu.subgroup,
    });
    let options = Options { features, ..Options::default() };
    let mut all = program.kernels.ids().map(|id| compile(program, id, &options));
    all.try_for_each(|code| code.map(drop).map_err(|error| AutoError::Code { reason: error.to_string() }))
}

/// Shaders that nobody makes.
#[cfg(all(feature = "cpu", not(feature = "gpu")))]
fn shaders(_: &Program, _: &Target) -> Result<(), AutoError> {
    Ok(())
}

/// Facts that nobody tells.
#[cfg(not(feature = "cpu"))]
pub(crate) fn code_facts(_: &Plan) -> Result<Option<CodeFacts>, AutoError> {
    Ok(None)
}
