//! The queries for the costs and the work of a call's loop nest.

use crate::call::Call;
use crate::compiled::Compiled;
use crate::error::Error;
use halide_core::buffer::{Dim, Region};
use halide_core::ids::{IdVec, ImageId};
use halide_sched::lower::LowerOptions;
pub use halide_sched::nest::{AccessCost, Item, LoopCost, Nest, PointsCost, StoreCost};
pub use halide_sched::nest::{FuncWork, Operation, StrideClass, Traffic, Work};
use halide_sched::nest::{NestQuery, Sizes, dims, output_dims};
use halide_sched::plan::{self, Level, Plan};
use halide_sched::schedule::{FloatMode, Schedule};
use std::collections::BTreeSet;
use std::fmt::Write;

impl Call<'_> {
    /// Returns what the loops of this call cost for outputs over these regions, one per output Func: how often each
    /// runs, what an iteration touches, what is stored and computed. Nothing is run. Inputs count as large as they were
    /// given, or as large as [`Call::infer_input_bounds`] says. What extern stages compute is not counted.
    ///
    /// ```
    /// use halide::prelude::*;
    /// let (x, y) = vars!(x, y);
    /// let (mut g, mut f) = (Func::new("g"), Func::new("f"));
    /// g[(x, y)] = x * y;
    /// f[(x, y)] = g[(x, y)] + g[(x, y + 1)];
    /// let schedule = "f: split(y, yo, yi, 8) g: compute_at(f, yo)".parse()?;
    /// let compiled = Pipeline::new([&f])?.compile(&schedule, &Target::host())?;
    /// let nest = compiled.inputs().nest(&[Region::of_extents([100, 64])])?;
    /// // 9 lines for every 8.
    /// assert_eq!(nest.points("g"), 100.0 * 72.0);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Call::infer_input_bounds`], and a schedule that cannot be lowered.
    pub fn nest(&self, regions: &[Region]) -> Result<Nest, Error> {
        self.nest_of(self.compiled().plan(), regions)
    }

    /// Returns the work of this call for outputs over these regions, one per output Func: operations by class and type,
    /// and bytes read and stored of each buffer by stride class. Nothing is run. The counts are exact: loops with the
    /// same work in all iterations are multiplied out, others summed up. What depends on data, or differs in a million
    /// iterations, is listed in [`Work::unknown`] and not counted; [`Call::count`] runs a call for that. The work of
    /// extern stages is not counted.
    ///
    /// ```
    /// use halide::nest::{Operation, StrideClass};
    /// use halide::prelude::*;
    /// let image = ImageParam::new("image", F32, 2);
    /// let (x, y) = vars!(x, y);
    /// let (mut f, r) = (Func::new("f"), RDom::new([(0, 8), (0, 8)]));
    /// r.where_(r.x.le(r.y));
    /// f[(x, y)] = Expr::from(0.0f32);
    /// f[(x, y)] += image[(r.x, y)] * 2.0f32;
    /// let compiled = Pipeline::new([&f])?.compile(&Schedule::new(), &Target::host())?;
    /// let work = compiled.inputs().work(&[Region::of_extents([10, 4])])?;
    /// // A triangle has 36 points.
    /// assert_eq!(work.operations(Operation::Multiply, F32), 36 * 40);
    /// assert_eq!(work.bytes_read("image"), 36 * 40 * 4);
    /// assert_eq!(work.bytes(|t| t.buffer == "image" && t.stride == StrideClass::Broadcast), 0);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Call::nest`].
    pub fn work(&self, regions: &[Region]) -> Result<Work, Error> {
        self.at_sizes(self.compiled().plan(), regions, NestQuery::work)
    }

    /// Explains [`Call::nest`]: a line for each loop, allocation and definition, totals, and for each Func how many
    /// times its points are computed, in comparison with all Funcs at the root.
    ///
    /// # Errors
    /// As of [`Call::nest`].
    pub fn explain_nest(&self, regions: &[Region]) -> Result<String, Error> {
        let nest = self.nest(regions)?;
        let mut text = nest.to_string();
        let compiled: &Compiled = self.compiled();
        if let Some(plan) = at_the_root(compiled) {
            let least = self.nest_of(&plan, regions)?;
            let names: BTreeSet<&str> = compiled.pipeline().funcs.iter().map(|f| f.name.as_str()).collect();
            for name in names {
                let (points, least) = (nest.points(name), least.points(name));
                if points > least * 1.005 && least > 0.0 {
                    writeln!(text, "recompute: {name} {:.2} times", points / least).unwrap_or_default();
                }
            }
            let factor = nest.work / least.work.max(1.0);
            writeln!(text, "work in comparison with all of them at the root: {factor:.2}").unwrap_or_default();
        }
        Ok(text)
    }

    pub(crate) fn nest_of(&self, plan: &Plan, regions: &[Region]) -> Result<Nest, Error> {
        self.at_sizes(plan, regions, NestQuery::at)
    }

    /// Asks the loop nest of a plan about the sizes of this call.
    fn at_sizes<T>(
        &self,
        plan: &Plan,
        regions: &[Region],
        ask: impl FnOnce(&NestQuery, &Sizes<'_>) -> T,
    ) -> Result<T, Error> {
        self.check_regions(regions)?;
        let compiled: &Compiled = self.compiled();
        let pipeline = compiled.pipeline();
        let inputs = compiled.named(self.given())?.restricted(pipeline);
        let bound = inputs.bind_partly(pipeline)?;
        let needs = compiled.needs_of_images(&inputs, regions)?;
        let images = bound.images.iter().zip(needs).map(|(given, need)| match given {
            Some(buffer) => buffer.dims().to_vec(),
            None => dims(&need.roomy, &need.strides),
        });
        let images: IdVec<ImageId, Vec<Dim>> = images.collect();
        let query = NestQuery::new(plan, &LowerOptions::default()).map_err(Error::Lower)?;
        let outputs = output_dims(pipeline, regions);
        Ok(ask(&query, &Sizes { images: &images, outputs: &outputs, params: &bound.params }))
    }
}

/// The plan that computes every Func at the root which this one does not inline.
pub(crate) fn at_the_root(compiled: &Compiled) -> Option<Plan> {
    let (plan, pipeline) = (compiled.plan(), compiled.pipeline());
    let own: BTreeSet<&str> = pipeline.funcs.iter().map(|f| f.name.as_str()).collect();
    let mut schedule = Schedule::new();
    for (id, func) in plan.funcs.enumerate() {
        let name = plan.pipeline.funcs[id].name.as_str();
        if func.compute != Level::Inline && own.contains(name) {
            schedule.func(name).compute_root();
            // Rewrites that are allowed change how many operations there are.
            for (n, stage) in func.stages.iter().enumerate().filter(|(_, stage)| stage.float != FloatMode::Strict) {
                match n.checked_sub(1) {
                    Some(update) => schedule.func(name).update(update).float(stage.float),
                    None => schedule.func(name).float(stage.float),
                };
            }
        }
    }
    plan::resolve(pipeline, &schedule, &plan.target).ok()
}
