//! Memoized Funcs in compiled pipelines: computed before a run by a pipeline of their own, whose values are kept with
//! the memory of an image that they were computed of. What reads the Func reads images that stand for its elements, as
//! it does results of extern stages.

pub use crate::compiled::MemoUse;
use crate::compiled::{Compiled, Feeder, MemoFeeder};
use crate::error::Error;
use crate::input_requirements::{InputNeed, Spans};
use crate::memo_table::{MemoImage, MemoKey, MemoRegions, MemoTable};
use crate::memory::dense_bytes;
use crate::program::resident::with_residents;
use crate::run_options::How;
use halide_core::buffer::{AnyBuffer, AnyBufferMut};
use halide_core::interp::Inputs;
use halide_sched::lower::regions::held_values::held_values;
use halide_sched::lower::storage::in_place::InPlaceProblem;
use halide_sched::plan::HeldValues;
use std::sync::Arc;

impl Compiled {
    /// The use of each memoized Func so far, by all clones together.
    ///
    /// ```
    /// use halide::prelude::*;
    /// let (weights, input) = (ImageParam::new("weights", F32, 1), ImageParam::new("input", F32, 1));
    /// let (x, r) = (Var::new("x"), RDom::named("r", [(0, 4)]));
    /// let (mut packed, mut f) = (Func::new("packed"), Func::new("f"));
    /// packed[x] = exp(weights[x]);
    /// f[x] += packed[r.x] * input[x + r.x];
    /// let compiled = Pipeline::new([&f])?.compile(&"packed: memoize()".parse()?, &Target::host())?;
    /// let zeros = Buffer::<f32>::new([4])?;
    /// for n in 0..3 {
    ///     let row = Buffer::from_fn(&Region::of_extents([8]), |at| (at[0] + n) as f32)?;
    ///     compiled.inputs().image(&weights, &zeros).image(&input, row).realize::<f32>([5])?;
    /// }
    /// let used = &compiled.memoized()[0];
    /// assert_eq!((used.func.as_str(), used.computed, used.reused), ("packed", 1, 2));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn memoized(&self) -> Vec<MemoUse> {
        self.feeders().iter().flat_map(|feeder| feeder.memoized()).collect()
    }
}

impl MemoFeeder {
    /// The regions that are read, as `needs` say; `None` where nobody reads it.
    fn regions(&self, needs: &[InputNeed]) -> Option<MemoRegions> {
        let own = needs.iter().filter(|need| self.gives(&need.name));
        let regions = |need: &InputNeed| {
            let (computed, read) = (need.region.clone(), need.region.around(&need.roomy));
            MemoRegions { computed, read }
        };
        own.map(regions).reduce(|a, b| a.around(&b))
    }
    /// Computes the values of a region, in buffers over what is read. Where kernels compute all of a buffer, the
    /// device's copy is kept with it, so that kernels that read it need none.
    fn compute(&self, regions: &MemoRegions, inputs: &Inputs, how: &How) -> Result<Vec<AnyBuffer>, Error> {
        let mut values = Vec::new();
        for &ty in self.producer.outputs().iter().flat_map(|func| &func.types) {
            how.charge(dense_bytes(ty, &regions.read), &self.func)?;
            values.push(AnyBuffer::with_region(ty, &regions.read)?);
        }
        let mut views: Vec<AnyBufferMut<'_>> = Vec::new();
        for value in &mut values {
            views.push(value.view_mut()?.crop(&regions.computed)?);
        }
        let (own, taken) = with_residents(&how.unobserved(), Vec::new());
        self.producer.inputs().with_given(inputs).within(&own).realize_all_into(&mut views)?;
        drop(views);
        for (number, resident) in taken.take() {
            // The memory that it replaces is there until then.
            let _both = how.hold(values[number].memory().used.len() as u64, &self.func)?;
            (values[number], _) = resident.to_host()?;
        }
        Ok(values)
    }
}

impl Feeder for MemoFeeder {
    fn gives(&self, name: &str) -> bool {
        self.results.iter().any(|own| own == name)
    }
    fn feed(&self, inputs: &Inputs, needs: &[InputNeed], how: &How) -> Result<Vec<(String, AnyBuffer)>, Error> {
        let Some(regions) = self.regions(needs) else {
            return Ok(Vec::new());
        };
        let bound = inputs.restricted(&self.cone).bind(&self.cone)?;
        let images = bound.images.iter().map(MemoImage::new).collect();
        let owner = Arc::downgrade(&self.producer.parts.identity);
        let key = MemoKey { owner, params: bound.params.iter().copied().collect(), images };
        let host: Option<Arc<MemoTable>> = bound.images.iter().next().map(|host| host.companion_or(MemoTable::default));
        let table = host.as_deref().unwrap_or(&self.own);
        let found = table.find(&key, &regions);
        self.counts.count(found.is_ok());
        let values = match found {
            Ok(values) => values,
            Err(known) => {
                let regions = known.map_or(regions.clone(), |known| known.around(&regions));
                let values = self.compute(&regions, inputs, how)?;
                table.keep(key, regions, values.clone());
                values
            }
        };
        Ok(self.results.iter().cloned().zip(values).collect())
    }
    fn needs(&self, inputs: &Inputs, needs: &[InputNeed], all: &mut Spans) -> Result<(), Error> {
        let Some(MemoRegions { computed, .. }) = self.regions(needs) else { return Ok(()) };
        let needed = self.producer.inputs().with_given(inputs).infer_input_bounds(&[computed])?;
        needed.into_iter().for_each(|need| all.add(need));
        Ok(())
    }
    fn held_values(&self, reader: &mut halide_core::Pipeline) -> HeldValues {
        held_values(reader, &self.producer.parts.plan, &self.results)
    }
    fn in_place_problem(&self) -> InPlaceProblem {
        InPlaceProblem::Memoized { func: self.func.clone() }
    }
    fn memoized(&self) -> Vec<MemoUse> {
        let (computed, reused) = self.counts.get();
        let own = MemoUse { func: self.func.clone(), computed, reused };
        std::iter::once(own).chain(self.producer.memoized()).collect()
    }
}
